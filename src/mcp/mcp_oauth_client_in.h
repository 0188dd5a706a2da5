/* mcp_oauth_client_in.h - tokens and registrations, in memory and as documents of the host's store.

   A grant is of one MCP server: document "mcp-oauth-token-" and a hash of its address. A
   registration is of one issuer: "mcp-oauth-client-" and a hash of that. Documents of version 1
   that name the right server or issuer count; all others are ignored. */
#ifndef PHI_MCP_MCP_OAUTH_CLIENT_IN_H
#define PHI_MCP_MCP_OAUTH_CLIENT_IN_H

#include "mcp/mcp_in.h"
#include "io/io_in.h"
#include "loop/loop_in.h"
#include "mcp/mcp_oauth.h"
#include "mcp/mcp_oauth_in.h"
#include "mcp/mcp_oauth_words_in.h"

enum {
    PHI__OAUTH_MESSAGE = 300,
    PHI__OAUTH_FETCH_MS = 30000,  /* of a request of ours */
    PHI__OAUTH_NONCE_BYTES = 512, /* bytes of a nonce; a longer one is left out */
    PHI__OAUTH_ANSWER = 65536,    /* bytes of a token or a registration */
    PHI__OAUTH_ROUNDS = 4,        /* authorizations of a person within... */
    PHI__OAUTH_ROUNDS_MS = 600000
};

typedef enum phi__oauth_step {
    PHI__OAUTH_IDLE,
    PHI__OAUTH_RENEW,    /* the refresh token is to be used */
    PHI__OAUTH_REFRESH,  /* ... was sent */
    PHI__OAUTH_BEGIN,    /* a person is needed */
    PHI__OAUTH_RESOURCE, /* its metadata was asked for */
    PHI__OAUTH_SERVER,   /* the authorization server's was */
    PHI__OAUTH_REGISTER, /* the registration was sent */
    PHI__OAUTH_PERSON,   /* the browser has the URL */
    PHI__OAUTH_ASSERT,   /* the host was asked for an assertion */
    PHI__OAUTH_EXCHANGE  /* the code or assertion was sent */
} phi__oauth_step;

/* A request, and its answer. */
typedef struct phi__oauth_sent {
    phi__fetch *fetch; /* NULL: none is under way */
    phi__buf answer;
    const char *what; /* for messages; static */
    int http_status;
    bool ended;
    phi_status status;
    char message[PHI__OAUTH_MESSAGE];
} phi__oauth_sent;

/* What the authorization under way has found out; all in its arena. */
typedef struct phi__oauth_found {
    phi__oauth_dare dare; /* the challenge that it began with */
    phi_str try_at[1 + PHI__OAUTH_KNOWN];
    size_t tries, tried;
    phi__oauth_resource resource;
    phi__oauth_server server;
    bool legacy;       /* no metadata about the resource */
    const char *fault; /* of an answer that was no metadata of a server; NULL: none */
} phi__oauth_found;

/* One authorization. */
typedef struct phi__oauth_ask {
    phi_str redirect, state, verifier, scope, resource, code;
    phi_str assertion; /* of the client, signed; kept to be hidden in messages */
} phi__oauth_ask;

/* A token, with its scopes, server and client; strings in its own arena. */
typedef struct phi__oauth_grant {
    phi_arena arena;
    phi_str bearer;           /* "Bearer ..." or "DPoP ..."; empty: none */
    phi_str refresh;          /* empty: none */
    phi_str spent[2];         /* the two, after they were refused: still hidden in messages */
    phi_str scope;            /* requested scopes, and granted ones besides */
    phi_str issuer, endpoint; /* of tokens */
    phi_str resource, client_id;
    uint32_t method;  /* of the client at the token endpoint */
    uint32_t kind;    /* phi_mcp_grant: who is authorized */
    bool dpop;        /* bound to the host's key */
    int64_t until_ms; /* Unix time; INT64_MAX: not known */
    int64_t renew_ms; /* from then on it is refreshed */
    int64_t since_ms; /* it was got; 0: before this process */
    bool refreshed;   /* by a refresh token */
} phi__oauth_grant;

/* What the program is to an authorization server. */
typedef struct phi__oauth_client {
    phi_str issuer;     /* that knows it; empty: there is no client */
    phi_str id, secret; /* secret: empty: none */
    phi_str redirect;   /* that it was registered with */
    phi_str scope;      /* the same */
    uint32_t method;    /* PHI__OAUTH_NONE, _BASIC, _POST or _KEY */
    int64_t until_ms;   /* of the secret; INT64_MAX: for ever */
    bool registered;    /* by us */
} phi__oauth_client;

struct phi__oauth {
    phi_runtime *rt;
    phi_memory *parent; /* that this struct is from */
    phi_memory memory;  /* wipes */
    const phi_mcp_oauth_desc *desc;
    const char *client_name;
    phi__oauth_listener listener;
    phi_arena base; /* of the strings of `url` and `resource` */
    phi__oauth_url url;
    phi_str resource; /* of the server, where no metadata names one */
    phi__oauth_step step;
    bool loaded;     /* the store was read */
    bool waiting;    /* `changed` is owed */
    bool unkept;     /* the store refused the token, and the host does not know it yet */
    bool renewing;   /* a refused token is behind the refresh: a person may be needed */
    bool registered; /* in this authorization: no second time */
    bool cancelled;  /* signed out */
    bool nonced;     /* the token endpoint's nonce was taken: no second time */
    bool calling, gone;
    bool signing, signs_out; /* a key of the host's signs; it has signed out meanwhile */
    phi__timer timer;
    uint64_t deadline_us;
    uint64_t retry_us;                  /* no refresh before */
    uint64_t rounds[PHI__OAUTH_ROUNDS]; /* when persons were asked, the latest first */
    phi_arena arena;                    /* of the authorization under way */
    phi__oauth_found found;
    phi__oauth_ask ask;
    phi__oauth_sent sent;
    phi__buf redirected; /* the redirect's query, or the assertion; empty: it has not come */
    phi__buf bound;      /* the issuer that gave the last token; signing out keeps it */
    phi__buf nonces[2];  /* for proofs: of the token endpoint, of the MCP server */
    phi__oauth_grant grant;
    phi_arena client_arena;
    phi__oauth_client client;
    struct phi__redirect *receiver; /* NULL: none */
    char message[PHI__OAUTH_MESSAGE];
};

/* Sets the message, one clean line, and returns the status. */
PHI__FN phi_status phi__oauth_fail(phi__oauth *o, phi_status status, const char *format, ...)
    PHI_PRINTF(3, 4);

/* The beginning of a server's text for a message, in the arena: secrets are hidden before it is
   cut, so that it does not end in a part of one. */
PHI__FN const char *phi__oauth_shown(phi__oauth *o, phi_str text, size_t most);

/* Requests; the step must be set. PHI_BUSY, or a failure. what: static. */
PHI__FN phi_status phi__oauth_get(phi__oauth *o, phi_str url, const char *what);

/* type: of the body. basic, proof: the values of Authorization and DPoP; empty: none. */
PHI__FN phi_status phi__oauth_post(phi__oauth *o, phi_str url, const char *type, phi_str basic,
                                   phi_str proof, phi_str body, const char *what);

/* The request has failed in the network: with its message. PHI_OK: there is an answer. */
PHI__FN phi_status phi__oauth_answered(phi__oauth *o);

/* Takes DPoP-Nonce out of an answer's headers. */
PHI__FN void phi__oauth_nonce(phi__buf *nonce, phi_str headers);

/* True: a person authorizes. */
PHI__FN bool phi__oauth_person(const phi__oauth *o);
PHI__FN void phi__oauth_wake(phi__oauth *o); /* the timer fires in the next step */

/* mcp_oauth_client.c: needs o->ask.redirect and o->ask.scope. PHI_OK: o->client is the client. */
PHI__FN phi_status phi__oac_choose(phi__oauth *o);
PHI__FN phi_status phi__oac_registered(phi__oauth *o); /* an answer has come */

/* The client of a grant, to refresh it. False: it is not known any more. */
PHI__FN bool phi__oac_recall(phi__oauth *o);

/* The server does not know it any more: forgotten, where it was registered by us. */
PHI__FN void phi__oac_forget(phi__oauth *o);

/* The port of the last registration at found.server.issuer; 0: none. */
PHI__FN uint16_t phi__oac_port(phi__oauth *o);

typedef struct phi__oauth_reply {
    phi_str token, refresh, scope; /* of a token endpoint */
    bool other_type;               /* a token that is no bearer token, nor... */
    bool dpop;                     /* ...bound to a key */
    int64_t lifetime_s;            /* INT64_MAX: not said */
    phi_str error, description;    /* of both; empty: none */
} phi__oauth_reply;

/* Appends the fields of private_key_jwt to a form. */
PHI__FN phi_status phi__sign_client(phi__oauth *o, phi__buf *form);

/* Appends a proof for a request. token: that the request carries; empty: none. */
PHI__FN phi_status phi__sign_proof(phi__oauth *o, phi_str method, phi_str url, phi_str token,
                                   phi__buf *out);

/* A new state and verifier of 32 random bytes each, in the arena. io NULL: of the system's random
   bytes. False: no memory. */
PHI__FN bool phi__form_secrets(phi__io *io, phi_arena *arena, phi__oauth_ask *ask);

/* The URL for the browser.. */
PHI__FN void phi__form_authorize(phi__buf *out, phi_str endpoint, const phi__oauth_client *client,
                                 const phi__oauth_ask *ask);

/* The bodies for the token endpoint, with the client's own fields. */
PHI__FN void phi__form_code(phi__buf *out, const phi__oauth_client *client,
                            const phi__oauth_ask *ask);

/* token: an assertion; empty: the client's own credentials. */
PHI__FN void phi__form_machine(phi__buf *out, const phi__oauth_client *client,
                               const phi__oauth_ask *ask, phi_str token);
PHI__FN void phi__form_refresh(phi__buf *out, const phi__oauth_client *client, phi_str refresh,
                               phi_str resource);

/* "Basic ...", or nothing where the client's method is another one. */
PHI__FN void phi__form_basic(phi__buf *out, const phi__oauth_client *client);

/* False: no memory. An answer that is no JSON has nothing. */
PHI__FN bool phi__form_reply(phi_arena *arena, phi_str text, phi__oauth_reply *out);

/* The client of a registration's answer; its id is empty where there is none. `client` holds the
   registration's own method. */
PHI__FN bool phi__form_client(phi_arena *arena, phi_str text, phi__oauth_client *client);
PHI__FN void phi__keep_init(phi__oauth_grant *grant, phi_memory *memory);
PHI__FN void phi__keep_clear(phi__oauth_grant *grant);

/* Takes over `from`, which is then empty. */
PHI__FN void phi__keep_move(phi__oauth_grant *to, phi__oauth_grant *from);

/* A token was refused, and is not used any more: it moves to its place in grant->spent. */
PHI__FN void phi__keep_spend(phi_str *token, phi_str *spent);

/* store NULL: PHI_NOT_FOUND, and saving does nothing. */
PHI__FN phi_status phi__keep_load(const phi_store *store, phi_str server, phi__oauth_grant *out);
PHI__FN phi_status phi__keep_save(const phi_store *store, phi_str server,
                                  const phi__oauth_grant *grant);
PHI__FN void phi__keep_drop(const phi_store *store, phi_str server);

#endif
