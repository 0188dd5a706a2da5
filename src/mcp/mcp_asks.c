/* mcp_asks.c - answers the questions of a server: roots at once, forms and answers of a model by a
   question to the host of the agent. */
#include "mcp/mcp_asks.h"

#include "base/utf8_in.h"
#include "loop/find_in.h"
#include "loop/question_in.h"
#include "mcp/mcp_asks_in.h"
#include "mcp/mcp_core_in.h"
#include "mcp/mcp_forms_in.h"
#include "mcp/mcp_parts_in.h"
#include "mcp/mcp_rpc_in.h"
#include "mcp/mcp_sampling_in.h"
#include "text/json_in.h"

#include <stdio.h>

typedef enum phi__mcp_asks_kind {
    PHI__MCP_ASKS_FORM = 1,
    PHI__MCP_ASKS_URL,
    PHI__MCP_ASKS_SAMPLING
} phi__mcp_asks_kind;

enum {
    PHI__MCP_ASKS_REFUSED = -1,  /* code: the person does not want a model to answer */
    PHI__MCP_ASKS_SHOWN = 500,   /* bytes of a prompt that a person is shown */
    PHI__MCP_ASKS_FIELDS = 1000, /* of a form */
    PHI__MCP_ASKS_MEMORY = 4     /* times the bytes of the longest message, for all of them */
};

/* The part. */
typedef struct phi__mcp_asks_all {
    phi_mcp *mcp;
    phi__list open;
    size_t bytes;    /* of the params of all that are open */
    phi_arena arena; /* of roots, once they were set */
    const phi_mcp_root *roots;
    size_t root_count;
} phi__mcp_asks_all;

/* A question to a host, and then perhaps to a model. */
typedef struct phi__mcp_asks_one {
    phi__link link;
    phi__mcp_asks_all *of;
    uint64_t ask;
    phi__mcp_asks_kind kind;
    phi_agent agent;
    phi_arena arena;
    phi_json *params; /* of the server's request */
    size_t bytes;     /* of memory that they take */
    phi__question *question;
    phi__mcp_sampling sampling;
} phi__mcp_asks_one;

/* ---- its end ---- */

static void phi__mcp_asks_free(phi__mcp_asks_one *one) {
    phi_memory *memory = &one->of->mcp->memory;
    phi__question_close(one->question);
    phi__mcp_sampling_drop(&one->sampling);
    phi__list_take(&one->of->open, &one->link);
    one->of->bytes -= one->bytes;
    phi_arena_free(&one->arena);
    phi__free(memory, one, sizeof *one);
}

static void phi__mcp_asks_end(phi__mcp_asks_one *one, phi_str result, int code,
                              const char *message) {
    phi_mcp *mcp = one->of->mcp;
    uint64_t ask = one->ask;
    phi__mcp_asks_free(one);
    phi__mcp_session_answer(mcp, ask, result, code, message);
}

static void phi__mcp_asks_fail(phi__mcp_asks_one *one, int code, const char *message) {
    phi__mcp_asks_end(one, phi__str("", 0), code, message);
}

static void phi__mcp_asks_act(phi__mcp_asks_one *one, const char *action) {
    phi__mcp_asks_end(one, phi_str_of(action), 0, NULL);
}

static void phi__mcp_asks_cancel(phi__mcp_asks_one *one) {
    if (one->kind == PHI__MCP_ASKS_SAMPLING)
        phi__mcp_asks_fail(one, PHI__MCP_RPC_INTERNAL, "Nobody has decided");
    else
        phi__mcp_asks_act(one, "{\"action\":\"cancel\"}");
}

static void phi__mcp_asks_deny(phi__mcp_asks_one *one) {
    if (one->kind == PHI__MCP_ASKS_SAMPLING)
        phi__mcp_asks_fail(one, PHI__MCP_ASKS_REFUSED, "The user rejected the sampling request");
    else
        phi__mcp_asks_act(one, "{\"action\":\"decline\"}");
}

/* ---- forms ---- */

static void phi__mcp_asks_filled(phi__mcp_asks_one *one, phi_str values) {
    phi_mcp *mcp = one->of->mcp;
    phi_schema_error error;
    phi_status status;
    phi__buf out;
    error.message[0] = '\0';
    phi__buf_init(&out, &mcp->memory);
    phi__buf_text(&out, "{\"action\":\"accept\",\"content\":");
    status = phi__mcp_forms_fill(&one->arena, phi_json_get(one->params, "requestedSchema"), values,
                                 &out, &error);
    phi__buf_char(&out, '}');
    if (status == PHI_OK && !out.failed) {
        phi__mcp_asks_end(one, phi__buf_str(&out), 0, NULL);
    } else {
        phi__mcp_asks_cancel(one);
        (void)phi__mcp_parts_warn(mcp, "the reply to a form was not sent: %s",
                                  error.message[0] != '\0' ? error.message
                                                           : phi_status_text(status));
    }
    phi__buf_free(&out);
}

/* ---- answers of a model ---- */

static void phi__mcp_asks_sampled(void *ctx, phi_status status, phi_str result) {
    phi__mcp_asks_one *one = (phi__mcp_asks_one *)ctx;
    phi_mcp *mcp = one->of->mcp;
    char words[160];
    phi__mcp_core_enter(mcp);
    (void)snprintf(words, sizeof words, "%.*s",
                   (int)(status == PHI_OK ? 0 : phi__utf8_cut(result, 150)), result.at);
    phi__mcp_asks_end(one, result, status == PHI_OK ? 0 : PHI__MCP_RPC_INTERNAL, words);
    (void)phi__mcp_core_leave(mcp);
}

/* The host may have written other messages, or the answer. */
static void phi__mcp_asks_sample(phi__mcp_asks_one *one, phi__agent *agent, phi_str reply) {
    phi_mcp *mcp = one->of->mcp;
    phi_json *root = NULL, *messages = NULL;
    const char *words = "no memory";
    phi_status status = PHI_OK;
    phi__buf own;
    if (reply.len > 0 && phi_json_parse(&one->arena, reply, 0, &root, NULL) == PHI_OK)
        messages = phi_json_remove(root, "messages");
    phi__buf_init(&own, &mcp->memory);
    if (messages != NULL)
        status = phi_json_set(&one->arena, one->params, "messages", messages);
    else if (reply.len > 0) {
        if (phi__mcp_sampling_own(agent, &one->arena, reply, &own))
            phi__mcp_asks_end(one, phi__buf_str(&own), 0, NULL);
        else
            phi__mcp_asks_fail(one, PHI__MCP_RPC_INTERNAL, "no memory");
        phi__buf_free(&own);
        return;
    }
    if (status == PHI_OK)
        status = phi__mcp_sampling_start(&one->sampling, agent, one->params, &words);
    if (status != PHI_OK)
        phi__mcp_asks_fail(
            one, status == PHI_NO_MEMORY ? PHI__MCP_RPC_INTERNAL : PHI__MCP_RPC_BAD_PARAMS, words);
}

/* ---- the host's answer ---- */

static void phi__mcp_asks_decided(void *ctx, phi_verdict verdict, phi_str reply) {
    phi__mcp_asks_one *one = (phi__mcp_asks_one *)ctx;
    phi_mcp *mcp = one->of->mcp;
    phi__agent *agent = phi__find_agent(one->agent);
    phi__mcp_core_enter(mcp);
    one->question = NULL;
    if (verdict == PHI_WAIT || agent == NULL ||
        (verdict == PHI_DENY && phi__str_is(reply, "cancel") &&
         one->kind != PHI__MCP_ASKS_SAMPLING))
        phi__mcp_asks_cancel(one);
    else if (verdict == PHI_DENY)
        phi__mcp_asks_deny(one);
    else if (one->kind == PHI__MCP_ASKS_FORM)
        phi__mcp_asks_filled(one, reply);
    else if (one->kind == PHI__MCP_ASKS_URL)
        phi__mcp_asks_act(one, "{\"action\":\"accept\"}");
    else
        phi__mcp_asks_sample(one, agent, reply);
    (void)phi__mcp_core_leave(mcp);
}

/* What a person is shown of a request to a model: its last message. */
static phi_str phi__mcp_asks_prompt(const phi_json *params) {
    const phi_json *messages = phi_json_get(params, "messages"), *content;
    size_t n = phi_json_is(messages, PHI_JSON_ARRAY) ? phi_json_count(messages) : 0;
    phi_str text;
    if (n == 0) return phi__str("", 0);
    content = phi_json_get(phi_json_at(messages, n - 1), "content");
    if (phi_json_is(content, PHI_JSON_ARRAY)) content = phi_json_at(content, 0);
    text = phi_json_str(phi_json_get(content, "text"), "");
    return phi__str(text.at, phi__utf8_cut(text, PHI__MCP_ASKS_SHOWN));
}

/* The JSON that a host sees. */
static phi_status phi__mcp_asks_arguments(phi__mcp_asks_one *one, phi_str *out) {
    const phi_json *shown = one->params;
    phi_json *page;
    phi_status status = PHI_OK;
    if (one->kind == PHI__MCP_ASKS_FORM) shown = phi_json_get(one->params, "requestedSchema");
    if (one->kind == PHI__MCP_ASKS_URL) {
        static const char *const keys[] = {"url", "elicitationId"};
        size_t i;
        shown = page = phi_json_new_object(&one->arena);
        if (page == NULL) return PHI_NO_MEMORY;
        for (i = 0; i < PHI__COUNT(keys) && status == PHI_OK; i++)
            status = phi_json_set(
                &one->arena, page, keys[i],
                phi_json_new_str(&one->arena,
                                 phi_json_str(phi_json_get(one->params, keys[i]), "")));
    }
    return status == PHI_OK ? phi_json_write(&one->arena, shown, 0, out) : status;
}

static phi_status phi__mcp_asks_question(phi__mcp_asks_one *one, phi_call call) {
    static const char *const kinds[] = {"", "elicitation", "elicitation_url", "sampling"};
    phi__question_desc desc;
    phi_status status;
    memset(&desc, 0, sizeof desc);
    desc.call = call;
    desc.source = phi__mcp_session_name(one->of->mcp);
    desc.kind = phi_str_of(kinds[one->kind]);
    desc.text = one->kind == PHI__MCP_ASKS_SAMPLING
                    ? phi__mcp_asks_prompt(one->params)
                    : phi_json_str(phi_json_get(one->params, "message"), "");
    status = phi__mcp_asks_arguments(one, &desc.arguments);
    if (status != PHI_OK) return status;
    desc.decided = phi__mcp_asks_decided;
    desc.ctx = one;
    return phi__question_open(one->agent, &desc, &one->question);
}

/* ---- requests of the server ---- */

/* A page that a browser may open: http or https, without blanks and controls. */
static bool phi__mcp_asks_is_page(phi_str url) {
    size_t i;
    for (i = 0; i < url.len; i++)
        if ((unsigned char)url.at[i] <= ' ' || url.at[i] == 0x7f) return false;
    return phi__str_starts(url, "https://") || phi__str_starts(url, "http://");
}

static const char *phi__mcp_asks_form_fault(const phi_json *schema) {
    const phi_json *fields = phi_json_get(schema, "properties");
    if (!phi_json_is(schema, PHI_JSON_OBJECT)) return "requestedSchema: expected an object";
    return phi_json_is(fields, PHI_JSON_OBJECT) && phi_json_count(fields) > PHI__MCP_ASKS_FIELDS
               ? "requestedSchema: expected at most 1,000 properties"
               : NULL;
}

/* The fault of a request, or NULL; one that was not offered is at fault. */
static const char *phi__mcp_asks_fault(const phi_mcp *mcp, const phi_json *params,
                                       phi__mcp_asks_kind kind) {
    uint32_t answers = mcp->desc.answers;
    const phi__mcp_era *era = mcp->agreed.era;
    const phi_json *tools = phi_json_get(params, "tools");
    if (kind == PHI__MCP_ASKS_FORM) {
        if ((answers & PHI_MCP_FORMS) == 0) return "forms are not offered";
        return phi__mcp_asks_form_fault(phi_json_get(params, "requestedSchema"));
    }
    if (kind == PHI__MCP_ASKS_URL) {
        if ((answers & PHI_MCP_URLS) == 0 || (era != NULL && !era->urls))
            return "pages are not offered";
        return phi__mcp_asks_is_page(phi_json_str(phi_json_get(params, "url"), ""))
                   ? NULL
                   : "url: expected http:// or https://";
    }
    if (phi_json_is(tools, PHI_JSON_ARRAY) && phi_json_count(tools) > 0 && era != NULL &&
        !era->sampling_tools)
        return "tools are not offered";
    return phi_json_is(phi_json_get(params, "messages"), PHI_JSON_ARRAY)
               ? NULL
               : "messages: expected an array";
}

static phi__mcp_asks_one *phi__mcp_asks_new(phi__mcp_asks_all *all, const phi_json *params,
                                            phi__mcp_asks_kind kind, phi_agent agent,
                                            uint64_t ask) {
    phi_memory *memory = &all->mcp->memory;
    phi__mcp_asks_one *one = (phi__mcp_asks_one *)phi__alloc(memory, sizeof *one);
    const phi_json *tools = phi_json_get(params, "tools");
    size_t before = memory->used_bytes;
    if (one == NULL) return NULL;
    phi_arena_init(&one->arena, memory, 0);
    one->of = all;
    one->ask = ask;
    one->kind = kind;
    one->agent = agent;
    one->sampling.memory = memory;
    one->sampling.tools = phi_json_is(tools, PHI_JSON_ARRAY) && phi_json_count(tools) > 0;
    one->sampling.done = phi__mcp_asks_sampled;
    one->sampling.ctx = one;
    phi__list_push(&all->open, &one->link);
    one->params = phi_json_copy(&one->arena, params);
    one->bytes = memory->used_bytes - before;
    all->bytes += one->bytes;
    if (one->params != NULL) return one;
    phi__mcp_asks_free(one);
    return NULL;
}

static void phi__mcp_asks_begin(phi__mcp_asks_all *all, const phi_json *params,
                                phi__mcp_asks_kind kind, phi_call call, phi_agent agent,
                                uint64_t ask) {
    phi_str none = phi__str("", 0);
    const char *fault = phi__mcp_asks_fault(all->mcp, params, kind);
    phi__mcp_asks_one *one;
    phi_status status;
    if (fault != NULL) {
        phi__mcp_session_answer(all->mcp, ask, none, PHI__MCP_RPC_BAD_PARAMS, fault);
        return;
    }
    one = phi__mcp_asks_new(all, params, kind, agent, ask);
    if (one == NULL) {
        phi__mcp_session_answer(all->mcp, ask, none, PHI__MCP_RPC_INTERNAL, "no memory");
        return;
    }
    if (all->bytes > phi__mul(all->mcp->desc.max_message_bytes, PHI__MCP_ASKS_MEMORY)) {
        phi__mcp_asks_fail(one, PHI__MCP_RPC_INTERNAL, "too much is asked at once");
        return;
    }
    status = agent.rt != NULL ? phi__mcp_asks_question(one, call) : PHI_UNSUPPORTED;
    if (status == PHI_UNSUPPORTED)
        phi__mcp_asks_deny(one); /* there is nobody to ask */
    else if (status != PHI_OK)
        phi__mcp_asks_cancel(one);
}

/* ---- roots ---- */

static void phi__mcp_asks_roots(phi__mcp_asks_all *all, uint64_t ask) {
    phi__buf out;
    size_t i;
    phi__buf_init(&out, &all->mcp->memory);
    phi__buf_text(&out, "{\"roots\":[");
    for (i = 0; i < all->root_count; i++) {
        phi__json_write_comma(&out);
        phi__buf_text(&out, "{\"uri\":");
        phi__json_write_str(&out, phi_str_of(all->roots[i].uri));
        if (all->roots[i].name != NULL) {
            phi__json_write_key(&out, PHI__LIT("name"));
            phi__json_write_str(&out, phi_str_of(all->roots[i].name));
        }
        phi__buf_char(&out, '}');
    }
    phi__buf_text(&out, "]}");
    if (out.failed)
        phi__mcp_session_answer(all->mcp, ask, phi__str("", 0), PHI__MCP_RPC_INTERNAL, "no memory");
    else
        phi__mcp_session_answer(all->mcp, ask, phi__buf_str(&out), 0, NULL);
    phi__buf_free(&out);
}

/* ---- the part ---- */

static bool phi__mcp_asks_asked(phi_mcp *mcp, void *part, phi_str method, const phi_json *params,
                                phi_call call, phi_agent agent, uint64_t ask) {
    phi__mcp_asks_all *all = (phi__mcp_asks_all *)part;
    phi__mcp_asks_kind kind = PHI__MCP_ASKS_FORM;
    if (phi__str_is(method, "roots/list")) {
        if (mcp->desc.root_count == 0) return false;
        phi__mcp_asks_roots(all, ask);
        return true;
    }
    if (phi__str_is(method, "sampling/createMessage")) {
        if ((mcp->desc.answers & PHI_MCP_SAMPLING) == 0) return false;
        kind = PHI__MCP_ASKS_SAMPLING;
    } else if (!phi__str_is(method, "elicitation/create") ||
               (mcp->desc.answers & ((uint32_t)PHI_MCP_FORMS | PHI_MCP_URLS)) == 0)
        return false;
    else if (phi__str_is(phi_json_str(phi_json_get(params, "mode"), "form"), "url"))
        kind = PHI__MCP_ASKS_URL;
    phi__mcp_asks_begin(all, params, kind, call, agent, ask);
    return true;
}

static void phi__mcp_asks_unasked(phi_mcp *mcp, void *part, uint64_t ask) {
    phi__link *link = ((phi__mcp_asks_all *)part)->open.first;
    (void)mcp;
    for (; link != NULL; link = link->next) {
        phi__mcp_asks_one *one = PHI__OWNER(link, phi__mcp_asks_one, link);
        if (one->ask != ask) continue;
        phi__mcp_asks_free(one);
        return;
    }
}

/* The person has been to a page: nothing here waits for it. */
static bool phi__mcp_asks_notified(phi_mcp *mcp, void *part, phi_str method,
                                   const phi_json *params) {
    (void)mcp;
    (void)part;
    (void)params;
    return phi__str_is(method, "notifications/elicitation/complete");
}

/* {"a":{},"b":{}} of the flags that are set. NULL: no memory. */
static phi_json *phi__mcp_asks_object(phi_arena *arena, const char *a, bool has_a, const char *b,
                                      bool has_b) {
    phi_json *object = phi_json_new_object(arena);
    phi_status status = object != NULL ? PHI_OK : PHI_NO_MEMORY;
    if (status == PHI_OK && has_a)
        status = phi_json_set(arena, object, a, phi_json_new_object(arena));
    if (status == PHI_OK && has_b)
        status = phi_json_set(arena, object, b, phi_json_new_object(arena));
    return status == PHI_OK ? object : NULL;
}

static phi_status phi__mcp_asks_capabilities(phi_mcp *mcp, void *part, phi_json *into,
                                             phi_arena *arena) {
    const phi__mcp_era *era = mcp->agreed.era;
    uint32_t answers = mcp->desc.answers;
    bool forms = (answers & PHI_MCP_FORMS) != 0;
    bool pages = (answers & PHI_MCP_URLS) != 0 && (era == NULL || era->urls);
    phi_status status = PHI_OK;
    phi_json *roots;
    (void)part;
    if ((answers & PHI_MCP_SAMPLING) != 0)
        status = phi_json_set(
            arena, into, "sampling",
            phi__mcp_asks_object(arena, "tools", era == NULL || era->sampling_tools, "", false));
    if (status == PHI_OK && (forms || pages) && (era == NULL || era->forms))
        status = phi_json_set(
            arena, into, "elicitation",
            phi__mcp_asks_object(arena, "form", forms && (era == NULL || era->urls), "url", pages));
    if (status != PHI_OK || mcp->desc.root_count == 0) return status;
    roots = phi_json_new_object(arena);
    if (roots != NULL && (era == NULL || era->handshake))
        status = phi_json_set(arena, roots, "listChanged", phi_json_new_bool(arena, true));
    return status == PHI_OK ? phi_json_set(arena, into, "roots", roots) : status;
}

static void phi__mcp_asks_freed(phi_mcp *mcp, void *part) {
    phi__mcp_asks_all *all = (phi__mcp_asks_all *)part;
    while (all->open.first != NULL)
        phi__mcp_asks_free(PHI__OWNER(all->open.first, phi__mcp_asks_one, link));
    phi_arena_free(&all->arena);
    phi__free(&mcp->memory, all, sizeof *all);
}

static const phi__mcp_part *phi__mcp_asks_table(void) {
    static const phi__mcp_part table = {NULL,
                                        NULL,
                                        phi__mcp_asks_notified,
                                        phi__mcp_asks_asked,
                                        phi__mcp_asks_unasked,
                                        phi__mcp_asks_capabilities,
                                        NULL,
                                        phi__mcp_asks_freed};
    return &table;
}

PHI__FN phi_status phi__mcp_asks_join(phi_mcp *mcp) {
    phi__mcp_asks_all *all = (phi__mcp_asks_all *)phi__alloc(&mcp->memory, sizeof *all);
    if (all == NULL) return PHI_NO_MEMORY;
    all->mcp = mcp;
    all->roots = mcp->desc.roots;
    all->root_count = mcp->desc.root_count;
    phi_arena_init(&all->arena, &mcp->memory, 0);
    phi__mcp_session_join(mcp, phi__mcp_asks_table(), all);
    return PHI_OK;
}

/* ---- public ---- */

static phi_status phi__mcp_asks_copy(phi__mcp_asks_all *all, const phi_mcp_root *roots,
                                     size_t count) {
    phi_arena arena;
    phi_mcp_root *copy;
    phi_str uri, name;
    size_t i;
    phi_arena_init(&arena, &all->mcp->memory, 0);
    copy = (phi_mcp_root *)phi__arena_zero(&arena, phi__mul(phi__max(count, 1), sizeof *copy));
    for (i = 0; copy != NULL && i < count; i++) {
        if (!phi__arena_str(&arena, phi_str_of(roots[i].uri), &uri) ||
            !phi__arena_str(&arena, phi_str_of(roots[i].name), &name)) {
            copy = NULL;
            break;
        }
        copy[i].uri = uri.at;
        copy[i].name = roots[i].name != NULL ? name.at : NULL;
    }
    if (copy == NULL) {
        phi_arena_free(&arena);
        return PHI_NO_MEMORY;
    }
    phi_arena_free(&all->arena);
    all->arena = arena;
    all->roots = copy;
    all->root_count = count;
    return PHI_OK;
}

PHI_API phi_status phi_mcp_set_roots(phi_mcp *mcp, const phi_mcp_root *roots, size_t count) {
    phi__mcp_asks_all *all;
    phi_status status;
    size_t i;
    if (mcp == NULL) return PHI_BAD_ARG;
    if (mcp->desc.root_count == 0)
        return phi__error(mcp->rt, PHI_MISUSE, "phi_mcp_set_roots: the connection offers none");
    for (i = 0; i < count; i++)
        if (roots == NULL || roots[i].uri == NULL ||
            !phi__str_starts(phi_str_of(roots[i].uri), "file:"))
            return phi__error(mcp->rt, PHI_BAD_ARG,
                              "phi_mcp_set_roots: roots[%u].uri: expected file:", (unsigned)i);
    all = (phi__mcp_asks_all *)phi__mcp_session_part(mcp, phi__mcp_asks_table());
    status = phi__mcp_asks_copy(all, roots, count);
    if (status != PHI_OK) return phi__error(mcp->rt, status, "phi_mcp_set_roots: out of memory");
    if (mcp->agreed.era != NULL && mcp->agreed.era->handshake)
        (void)phi__mcp_session_notify(mcp, "notifications/roots/list_changed", phi__str("", 0));
    return PHI_OK;
}
