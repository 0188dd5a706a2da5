/* mcp_oauth_client_in.h - tokens and registrations, in memory and as documents of the host's store.

   Each MCP server has one grant; the id of its document is "mcp-oauth-token-" and a hash of the
   server's URL. Each issuer has one registration; its id is "mcp-oauth-client-" and a hash of the
   issuer. A document counts only if its version is 1 and it names the right server or issuer. */
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
    PHI__OAUTH_FETCH_MS = 30000,  /* timeout of a request */
    PHI__OAUTH_NONCE_BYTES = 512, /* max. bytes of a nonce; longer ones are ignored */
    PHI__OAUTH_ANSWER = 65536,    /* max. bytes of a token or a registration */
    PHI__OAUTH_ROUNDS = 4,        /* max. authorizations by a person within PHI__OAUTH_ROUNDS_MS */
    PHI__OAUTH_ROUNDS_MS = 600000
};

typedef enum phi__oauth_step {
    PHI__OAUTH_IDLE,
    PHI__OAUTH_RENEW,    /* send the refresh token */
    PHI__OAUTH_REFRESH,  /* the refresh token was sent */
    PHI__OAUTH_BEGIN,    /* a new authorization is needed */
    PHI__OAUTH_RESOURCE, /* the resource's metadata were requested */
    PHI__OAUTH_SERVER,   /* the authorization server's metadata were requested */
    PHI__OAUTH_REGISTER, /* the registration was sent */
    PHI__OAUTH_PERSON,   /* the browser has the URL */
    PHI__OAUTH_ASSERT,   /* the host was asked for an assertion */
    PHI__OAUTH_EXCHANGE  /* the code or assertion was sent */
} phi__oauth_step;

/* A request and its answer. */
typedef struct phi__oauth_sent {
    phi__fetch *fetch; /* NULL if no request is under way */
    phi__buf answer;
    const char *what; /* names the request in messages; static */
    int http_status;
    phi_status status;
    char message[PHI__OAUTH_MESSAGE];
} phi__oauth_sent;

/* Results of the authorization under way, in its arena. */
typedef struct phi__oauth_found {
    phi__oauth_dare dare; /* the challenge that started the authorization */
    phi_str try_at[1 + PHI__OAUTH_KNOWN];
    size_t tries, tried;
    phi__oauth_resource resource;
    phi__oauth_server server;
    bool legacy;       /* there are no metadata of the resource */
    const char *fault; /* fault of an answer that was not metadata of a server, or NULL */
} phi__oauth_found;

/* The values that one authorization sends. */
typedef struct phi__oauth_ask {
    phi_str redirect, state, verifier, scope, resource, code;
    phi_str assertion; /* the client's signed assertion, kept to hide it in messages */
} phi__oauth_ask;

/* A token with its scopes, server and client. The strings are in its own arena. */
typedef struct phi__oauth_grant {
    phi_arena arena;
    phi_str bearer;           /* "Bearer ..." or "DPoP ...", or empty */
    phi_str refresh;          /* refresh token, or empty */
    phi_str spent[2];         /* refused bearer and refresh token, still hidden in messages */
    phi_str scope;            /* requested and granted scopes */
    phi_str issuer, endpoint; /* authorization server and its token endpoint */
    phi_str resource, client_id;
    uint32_t method;  /* how the client authenticates */
    uint32_t kind;    /* a phi_mcp_grant: who is authorized */
    bool dpop;        /* bound to the host's key */
    int64_t until_ms; /* expiry, in Unix time; INT64_MAX: unknown */
    int64_t renew_ms; /* refresh from this time on */
    int64_t since_ms; /* time of receipt; 0: before this process began */
    bool refreshed;   /* got with a refresh token */
} phi__oauth_grant;

/* The program as a client of an authorization server. */
typedef struct phi__oauth_client {
    phi_str issuer;     /* the issuer that knows the client; empty: no client */
    phi_str id, secret; /* secret may be empty */
    phi_str redirect;   /* redirect URI of the registration */
    phi_str scope;      /* scopes of the registration */
    uint32_t method;    /* PHI__OAUTH_NONE, _BASIC, _POST or _KEY */
    int64_t until_ms;   /* expiry of the secret; INT64_MAX: never */
    bool registered;    /* registered by this library */
} phi__oauth_client;

struct phi__oauth {
    phi_runtime *rt;
    phi_memory *parent; /* memory of this struct */
    phi_memory memory;  /* wipes blocks before it frees them */
    const phi_mcp_oauth_desc *desc;
    const char *client_name;
    phi__oauth_listener listener;
    phi_arena base; /* strings of `url` and `resource` */
    phi__oauth_url url;
    phi_str resource; /* the resource to use if no metadata name one */
    phi__oauth_step step;
    bool loaded;     /* the store was read */
    bool waiting;    /* `changed` must be called */
    bool unkept;     /* the store refused the token; the host does not know yet */
    bool renewing;   /* a refused token is being refreshed; a new authorization may follow */
    bool registered; /* this authorization has already registered a client */
    bool cancelled;  /* the host has signed out */
    bool nonced;     /* the request was already repeated with a nonce */
    bool calling, gone;
    bool signing, signs_out; /* signing: the host's key signs now; signs_out: sign out afterwards */
    phi__timer timer;
    uint64_t deadline_us;
    uint64_t retry_us;                  /* no refresh before this time */
    uint64_t rounds[PHI__OAUTH_ROUNDS]; /* times when a person was asked, newest first */
    phi_arena arena;                    /* data of the authorization under way */
    phi__oauth_found found;
    phi__oauth_ask ask;
    phi__oauth_sent sent;
    phi__buf redirected; /* query of the redirect, or assertion; empty until received */
    phi__buf bound;      /* issuer of the last token; signing out keeps it */
    phi__buf nonces[2];  /* for proofs: nonces of the token endpoint and of the MCP server */
    phi__oauth_grant grant;
    phi_arena client_arena;
    phi__oauth_client client;
    struct phi__redirect *receiver; /* the loopback page, or NULL */
    char message[PHI__OAUTH_MESSAGE];
};

/* Sets o->message to one clean line, and returns the status. */
PHI__FN phi_status phi__oauth_fail(phi__oauth *o, phi_status status, const char *format, ...)
    PHI_PRINTF(3, 4);

/* Returns the first `most` bytes of a server's text for a message. Secrets are hidden before the
   cut, so no part of a secret is left. */
PHI__FN const char *phi__oauth_shown(phi__oauth *o, phi_str text, size_t most);

/* Sends a GET request; the step must be set. Returns PHI_BUSY or a failure. what: static, for
   messages. */
PHI__FN phi_status phi__oauth_get(phi__oauth *o, phi_str url, const char *what);

/* Sends a POST request. basic, proof: values of Authorization and DPoP; may be empty. */
PHI__FN phi_status phi__oauth_post(phi__oauth *o, phi_str url, const char *type, phi_str basic,
                                   phi_str proof, phi_str body, const char *what);

/* PHI_OK if the request got an answer. Otherwise the network failed, and o->message is set. */
PHI__FN phi_status phi__oauth_answered(phi__oauth *o);

/* Copies DPoP-Nonce from an answer's headers. */
PHI__FN void phi__oauth_nonce(phi__buf *nonce, phi_str headers);

/* True if a person authorizes. */
PHI__FN bool phi__oauth_person(const phi__oauth *o);
PHI__FN void phi__oauth_wake(phi__oauth *o); /* makes the timer fire in the next step */

/* Chooses or registers o->client. Needs o->ask.redirect and o->ask.scope. (mcp_oauth_client.c) */
PHI__FN phi_status phi__oac_choose(phi__oauth *o);
PHI__FN phi_status phi__oac_registered(phi__oauth *o); /* handles the answer to a registration */

/* Sets o->client to the client of the grant, to refresh the grant. False: the client is unknown. */
PHI__FN bool phi__oac_recall(phi__oauth *o);

/* Forgets a registered client, because the server does not know it any more. */
PHI__FN void phi__oac_forget(phi__oauth *o);

/* Returns the port of the last registration at found.server.issuer; 0: none. */
PHI__FN uint16_t phi__oac_port(phi__oauth *o);

typedef struct phi__oauth_reply {
    phi_str token, refresh, scope; /* from a token endpoint */
    bool other_type;               /* the token is neither a bearer token nor bound to a key */
    bool dpop;                     /* the token is bound to a key */
    int64_t lifetime_s;            /* INT64_MAX: unknown */
    phi_str error, description;    /* from a token endpoint or a registration; may be empty */
} phi__oauth_reply;

/* Appends the fields of private_key_jwt to a form. */
PHI__FN phi_status phi__sign_client(phi__oauth *o, phi__buf *form);

/* Appends the proof for a request. token: the token that the request carries, or empty. */
PHI__FN phi_status phi__sign_proof(phi__oauth *o, phi_str method, phi_str url, phi_str token,
                                   phi__buf *out);

/* Makes a state and a verifier of 32 random bytes each, in the arena. If io is NULL, the system's
   random bytes are used. False: no memory. */
PHI__FN bool phi__form_secrets(phi__io *io, phi_arena *arena, phi__oauth_ask *ask);

/* Writes the URL for the browser. */
PHI__FN void phi__form_authorize(phi__buf *out, phi_str endpoint, const phi__oauth_client *client,
                                 const phi__oauth_ask *ask);

/* These write forms for the token endpoint, with the client's own fields. */
PHI__FN void phi__form_code(phi__buf *out, const phi__oauth_client *client,
                            const phi__oauth_ask *ask);

/* Writes a form for the assertion `token`, or for client_credentials if `token` is empty. */
PHI__FN void phi__form_machine(phi__buf *out, const phi__oauth_client *client,
                               const phi__oauth_ask *ask, phi_str token);
PHI__FN void phi__form_refresh(phi__buf *out, const phi__oauth_client *client, phi_str refresh,
                               phi_str resource);

/* Appends "Basic ...", or nothing if the client uses another method. */
PHI__FN void phi__form_basic(phi__buf *out, const phi__oauth_client *client);

/* Reads an answer. If it is not JSON, all fields stay empty. False: no memory. */
PHI__FN bool phi__form_reply(phi_arena *arena, phi_str text, phi__oauth_reply *out);

/* Reads a client from the answer to a registration. If the answer has no client, the id is empty.
   `client` must hold the method that was asked for. False: no memory. */
PHI__FN bool phi__form_client(phi_arena *arena, phi_str text, phi__oauth_client *client);
PHI__FN void phi__keep_init(phi__oauth_grant *grant, phi_memory *memory);
PHI__FN void phi__keep_clear(phi__oauth_grant *grant);

/* Moves `from` to `to`, and empties `from`. */
PHI__FN void phi__keep_move(phi__oauth_grant *to, phi__oauth_grant *from);

/* Moves a refused token into grant->spent. */
PHI__FN void phi__keep_spend(phi_str *token, phi_str *spent);

/* If store is NULL, loading returns PHI_NOT_FOUND and saving does nothing. */
PHI__FN phi_status phi__keep_load(const phi_store *store, phi_str server, phi__oauth_grant *out);
PHI__FN phi_status phi__keep_save(const phi_store *store, phi_str server,
                                  const phi__oauth_grant *grant);
PHI__FN void phi__keep_drop(const phi_store *store, phi_str server);

#endif
