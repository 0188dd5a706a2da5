/* phi_acp_session.h - a session of an editor: its agent in a directory, its questions, and what its calls show. */
#ifndef PHI_ACP_SESSION_H
#define PHI_ACP_SESSION_H

#include "phi_acp_wire.h"
#include "phi_setup.h"

enum { ACP_SESSIONS = 64, ACP_SERVERS = 16, ACP_ASKS = 64 };

typedef enum acp_state {
    ACP_CONNECTING, /* MCP servers of the editor */
    ACP_MAKING,     /* the agents of a configuration */
    ACP_REPLAYING,
    ACP_READY
} acp_state;

/* A question that the editor shows. */
typedef struct acp_ask {
    uint64_t id; /* of the request; 0: unused */
    phi_ticket ticket;
    phi_permissions *permissions;
    text name, arguments, source; /* of the call */
    text call;                    /* its id */
    bool nested;                  /* a sub-agent's: nothing but the question shows it */
    bool seen;
} acp_ask;

/* A call that has not ended. */
typedef struct acp_open {
    struct acp_open *next;
    text id, diff; /* diff: JSON text of what it changes in a file; empty: nothing */
} acp_open;

typedef struct acp_session {
    struct acp_session *next;
    app a;
    text id;
    text asked;  /* JSON id of the request that made it, until it is answered; empty: none */
    text prompt; /* JSON id of the prompt that is answered now; empty: none */
    acp_state state;
    bool loads, replays;
    bool cancelled, paused;
    size_t replayed;
    const phi_tool_source *sources[ACP_SERVERS];
    phi_mcp *servers[ACP_SERVERS];
    size_t server_count;
    acp_ask asks[ACP_ASKS];
    acp_open *calls;
    uint64_t message; /* the number of the message that is streamed */
    text said;        /* what the command says about it */
    text prompts;     /* the system prompt, if no file has one */
} acp_session;

typedef struct acp {
    acp_wire wire;
    app *first; /* with the options of the command line */
    int (*permissions)(app *a);
    acp_session *sessions;
    unsigned count, made;
    uint64_t messages;
    bool ready; /* initialize was answered */
} acp;

/* For calls that the rules of a configuration ask about: the command line answers, or the editor. */
static inline phi_verdict acp_waits(void *user_data, phi_hook *hook) {
    return apply_answer((const app *)user_data, hook);
}

static inline acp_session *acp_find(const acp *p, phi_str id) {
    acp_session *s = p->sessions;
    while (s != NULL && !phi_str_equal(text_str(&s->id), id)) s = s->next;
    return s;
}

/* Whose tool it is: a server's name, or empty for one of the program's own. In the arena. */
static inline phi_str acp_source(acp_wire *w, const acp_session *s, phi_str name) {
    phi_agent_desc desc = PHI_ZERO;
    phi_str source = phi_str_of("");
    size_t count, i, k;
    (void)phi_agent_get_desc(s->a.agent, &desc);
    for (i = 0; i < desc.tool_options.source_count; i++) {
        const phi_tool_source *from = desc.tool_options.sources[i];
        const phi_tool *tools;
        if (from->take(from->user_data, &tools, &count) != PHI_OK) continue;
        for (k = 0; k < count; k++)
            if (phi_str_is(name, tools[k].name) && tools[k].source != NULL)
                source = phi_json_str(phi_json_new_str(&w->arena, phi_str_of(tools[k].source)), "");
        if (from->release != NULL) from->release(from->user_data, tools);
    }
    return source;
}

static inline void acp_session_free(acp_session *s) {
    app *a = &s->a;
    size_t i;
    phi_agent_free(a->agent);
    phi_agents_free(a->agents);
    for (i = 0; i < s->server_count; i++) phi_mcp_free(s->servers[i]);
    phi_config_free(a->config);
    phi_permissions_free(a->permissions);
    phi_permissions_free(a->answers);
    phi_file_store_close(&a->session.store);
    trust_free(&a->trust);
    own_free(&a->own);
    free(a->todo.words.at);
    sessions_free(&a->kept);
    typing_free(&a->typing);
    free(a->place.at), free(a->config_path.at);
    phi_arena_free(&a->arena);
    for (i = 0; i < ACP_ASKS; i++)
        free(s->asks[i].name.at), free(s->asks[i].arguments.at), free(s->asks[i].source.at),
            free(s->asks[i].call.at);
    while (s->calls != NULL) {
        acp_open *call = s->calls;
        s->calls = call->next;
        free(call->id.at), free(call->diff.at);
        free(call);
    }
    free(s->id.at), free(s->asked.at), free(s->prompt.at), free(s->said.at), free(s->prompts.at);
    free(s);
}

#endif
