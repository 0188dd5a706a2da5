/* mcp_asked.c - the server's questions. */
#include "mcp/mcp_asked_in.h"

#include "loop/state_in.h"
#include "mcp/mcp_parts_in.h"
#include "mcp/mcp_post_in.h"
#include "mcp/mcp_requests_in.h"
#include "text/json_in.h"

#include <stdio.h>

/* ---- the list ---- */

static phi__mcp_ask *phi__mcp_asked_find(const phi_mcp *mcp, uint64_t ask) {
    phi__link *link;
    for (link = mcp->asks.open.first; link != NULL; link = link->next) {
        phi__mcp_ask *a = PHI__OWNER(link, phi__mcp_ask, link);
        if (a->ask == ask) return a;
    }
    return NULL;
}

static phi__mcp_ask *phi__mcp_asked_new(phi_mcp *mcp, phi_str id, phi__mcp_request *r) {
    phi__mcp_ask *a;
    if (mcp->asks.count >= PHI__MCP_ASKED_MOST) return NULL;
    a = (phi__mcp_ask *)phi__alloc(&mcp->memory, phi__add(sizeof *a, id.len));
    if (a == NULL) return NULL;
    a->ask = ++mcp->asks.next;
    a->request = r;
    if (r != NULL) a->agent = phi__mcp_requests_agent(r);
    a->id_len = id.len;
    if (id.len > 0) memcpy(a->id, id.at, id.len);
    phi__list_push(&mcp->asks.open, &a->link);
    mcp->asks.count++;
    return a;
}

static void phi__mcp_asked_free(phi_mcp *mcp, phi__mcp_ask *a) {
    phi__list_take(&mcp->asks.open, &a->link);
    mcp->asks.count--;
    phi__free(&mcp->memory, a, phi__add(sizeof *a, a->id_len));
}

/* No answer is wanted. */
static void phi__mcp_asked_unask(phi_mcp *mcp, phi__mcp_ask *a) {
    const phi__mcp_part *table = a->table;
    void *part = a->part;
    uint64_t ask = a->ask;
    phi__mcp_asked_free(mcp, a);
    if (table != NULL && table->unasked != NULL) table->unasked(mcp, part, ask);
}

/* Those of one request's input; NULL: all. */
static void phi__mcp_asked_unask_of(phi_mcp *mcp, const phi__mcp_request *r) {
    phi__link *link = mcp->asks.open.first;
    while (link != NULL) {
        phi__mcp_ask *a = PHI__OWNER(link, phi__mcp_ask, link);
        link = link->next;
        if (r != NULL && a->request == r && !a->input) {
            a->request = NULL;
            memset(&a->agent, 0, sizeof a->agent);
        }
        if (r != NULL && a->request != r) continue;
        phi__mcp_asked_unask(mcp, a);
        link = mcp->asks.open.first;
    }
}

PHI__FN void phi__mcp_asked_drop(phi_mcp *mcp) { phi__mcp_asked_unask_of(mcp, NULL); }

/* ---- asking a part ---- */

/* The part that takes the question, or none. It may answer at once, or free the connection. */
static bool phi__mcp_asked_part(phi_mcp *mcp, uint64_t ask, phi_str method,
                                const phi_json *params) {
    const phi__mcp_ask *asked = phi__mcp_asked_find(mcp, ask);
    phi_agent agent = asked->agent.rt != NULL ? asked->agent : mcp->desc.agent;
    phi_call call;
    size_t i;
    memset(&call, 0, sizeof call);
    if (asked->request != NULL) call = asked->request->desc.call;
    for (i = 0; i < mcp->part_count && !mcp->dead; i++) {
        const phi__mcp_joined *p = &mcp->parts[i];
        phi__mcp_ask *a = phi__mcp_asked_find(mcp, ask);
        if (p->table->asked == NULL || a == NULL) continue;
        a->table = p->table;
        a->part = p->part;
        if (p->table->asked(mcp, p->part, method, params, call, agent, ask)) return true;
        a = phi__mcp_asked_find(mcp, ask);
        if (a != NULL) a->table = NULL;
    }
    return mcp->dead;
}

/* ---- requests of the server's ---- */

static void phi__mcp_asked_reply(phi_mcp *mcp, phi_str id, phi_str result, int code,
                                 const char *message) {
    phi__buf json;
    phi__buf_init(&json, &mcp->memory);
    if (code == 0)
        phi__mcp_rpc_result(&json, id, result);
    else
        phi__mcp_rpc_error(&json, id, code, phi_str_of(message), phi__str("", 0));
    (void)phi__mcp_post_text(mcp, &json, phi__str("", 0), false);
}

PHI__FN bool phi__mcp_asked_request(phi_mcp *mcp, const phi__mcp_rpc *rpc, phi__mcp_request *from) {
    phi_str none = phi__str("", 0);
    phi_agent agent;
    phi__mcp_ask *a;
    uint64_t ask;
    memset(&agent, 0, sizeof agent);
    if (mcp->agreed.era != NULL && !mcp->agreed.era->asks)
        return phi__mcp_parts_warn(mcp, "a request of the server's, which this era does not have");
    if (phi__str_is(rpc->method, "ping")) {
        phi__mcp_asked_reply(mcp, rpc->id, none, 0, NULL);
        return true;
    }
    if (from == NULL) agent = phi__mcp_requests_calling(mcp, &from);
    a = phi__mcp_asked_new(mcp, rpc->id, from);
    if (a == NULL) {
        phi__mcp_asked_reply(mcp, rpc->id, none, PHI__MCP_RPC_INTERNAL, "Too many requests");
        return true;
    }
    if (from == NULL) a->agent = agent;
    ask = a->ask;
    if (phi__mcp_asked_part(mcp, ask, rpc->method, rpc->params)) return !mcp->dead;
    a = phi__mcp_asked_find(mcp, ask);
    if (a == NULL) return true;
    phi__mcp_asked_free(mcp, a);
    phi__mcp_asked_reply(mcp, rpc->id, none, PHI__MCP_RPC_NO_METHOD, "Method not found");
    return true;
}

PHI__FN void phi__mcp_asked_cancelled(phi_mcp *mcp, phi_str id) {
    phi__link *link;
    for (link = mcp->asks.open.first; link != NULL; link = link->next) {
        phi__mcp_ask *a = PHI__OWNER(link, phi__mcp_ask, link);
        if (a->input || !phi_str_equal(phi__str(a->id, a->id_len), id)) continue;
        phi__mcp_asked_unask(mcp, a);
        return;
    }
}

/* ---- input for a request ---- */

/* The timer brings what follows: `done` is not to be called inside of a part. */
static void phi__mcp_asked_due(phi__mcp_request *r) {
    r->input.due = true;
    if (r->input.busy) return;
    (void)phi__io_timer_set(r->mcp->rt->io, &r->timer, phi__io_now_us(r->mcp->rt->io));
}

static void phi__mcp_asked_refuse(phi__mcp_request *r, phi_status status, const char *message) {
    if (r->input.status == PHI_OK) {
        r->input.status = status;
        (void)snprintf(r->input.message, sizeof r->input.message, "%s", message);
    }
    phi__mcp_asked_due(r);
}

static void phi__mcp_asked_got(phi__mcp_request *r, const phi__mcp_ask *a, phi_str result, int code,
                               const char *message) {
    phi__buf *buf = &r->input.answers;
    if (code != 0) {
        phi__mcp_asked_refuse(r, PHI_REFUSED, message);
        return;
    }
    phi__json_write_key(buf, phi__str(a->id, a->id_len));
    phi__mcp_rpc_line(buf, result.len > 0 ? result : PHI__LIT("{}"));
    if (buf->failed) phi__mcp_asked_refuse(r, PHI_NO_MEMORY, "no memory");
    if (--r->input.pending == 0 && !r->input.busy) phi__mcp_asked_due(r);
}

/* False: the connection or the request is gone. */
static bool phi__mcp_asked_one(phi__mcp_request *r, phi_str key, const phi_json *question) {
    phi_str method = phi_json_str(phi_json_get(question, "method"), "");
    const phi_json *params = phi_json_get(question, "params");
    phi_mcp *mcp = r->mcp;
    phi__mcp_ask *a = phi__mcp_asked_new(mcp, key, r);
    char words[120];
    uint64_t ask, id = r->first_id;
    bool taken;
    if (a == NULL) {
        phi__mcp_asked_refuse(r, PHI_FULL, "the server asks for too much input at once");
        return true;
    }
    a->input = true;
    r->input.pending++;
    ask = a->ask;
    if (!phi_json_is(params, PHI_JSON_OBJECT)) params = NULL;
    taken = phi__mcp_asked_part(mcp, ask, method, params);
    if (mcp->dead || phi__mcp_requests_first(mcp, id) == NULL) return false;
    if (taken) return true;
    a = phi__mcp_asked_find(mcp, ask);
    if (a != NULL) phi__mcp_asked_free(mcp, a);
    (void)snprintf(words, sizeof words, "the server asks for %.*s, which is not offered",
                   (int)phi__min(method.len, 60), method.at);
    phi__mcp_asked_refuse(r, PHI_REFUSED, words);
    return true;
}

/* Keeps requestState as it came. False: no memory. */
static bool phi__mcp_asked_keep(phi__mcp_request *r, const phi_json *result) {
    const phi_json *state = phi_json_get(result, "requestState");
    phi__buf_clear(&r->input.state);
    phi__buf_clear(&r->input.answers);
    r->input.pending = 0;
    r->input.status = PHI_OK;
    r->input.due = false;
    if (state != NULL) (void)phi__json_write(&r->input.state, state, 0);
    return !r->input.state.failed;
}

PHI__FN bool phi__mcp_asked_input(phi__mcp_request *r, const phi_json *result) {
    const phi_json *questions = phi_json_get(result, "inputRequests"), *question;
    phi_mcp *mcp = r->mcp;
    phi_json_iter it;
    phi__mcp_requests_off(r);
    /* no deadline; it keeps its place, so that being due needs no memory */
    (void)phi__io_timer_set(mcp->rt->io, &r->timer, UINT64_MAX);
    if (r->input.rounds++ >= PHI__MCP_ASKED_ROUNDS) {
        phi__mcp_requests_fail(r, PHI_REFUSED, "the server asked for input more than 16 times");
        return !mcp->dead;
    }
    if (!phi__mcp_asked_keep(r, result)) {
        phi__mcp_requests_fail(r, PHI_NO_MEMORY, "no memory");
        return !mcp->dead;
    }
    r->input.busy = true;
    it = phi_json_each(phi_json_is(questions, PHI_JSON_OBJECT) ? questions : NULL);
    while (r->input.status == PHI_OK && (question = phi_json_next(&it)) != NULL)
        if (!phi__mcp_asked_one(r, it.key, question)) return !mcp->dead;
    r->input.busy = false;
    if (r->input.due || r->input.pending == 0) phi__mcp_asked_due(r);
    return true;
}

/* All input is there: the request once more, or its failure. */
static void phi__mcp_asked_repeat(phi__mcp_request *r) {
    phi_status status = r->input.status;
    phi__buf more;
    r->input.due = false;
    if (status != PHI_OK) {
        char words[sizeof r->input.message];
        memcpy(words, r->input.message, sizeof words);
        phi__mcp_requests_fail(r, status, words);
        return;
    }
    if (r->task != NULL) {
        r->mcp->requests.answered(r);
        return;
    }
    phi__buf_init(&more, &r->mcp->memory);
    if (r->input.answers.len > 0) {
        phi__buf_text(&more, "\"inputResponses\":{");
        phi__buf_add_str(&more, phi__buf_str(&r->input.answers));
        phi__buf_char(&more, '}');
    }
    if (r->input.state.len > 0) {
        phi__json_write_key(&more, PHI__LIT("requestState"));
        phi__buf_add_str(&more, phi__buf_str(&r->input.state));
    }
    status = more.failed ? PHI_NO_MEMORY : phi__mcp_requests_repeat(r, phi__buf_str(&more));
    phi__buf_free(&more);
    if (status != PHI_OK) phi__mcp_requests_fail(r, status, "the input could not be sent");
}

/* ---- points of the requests ---- */

/* Whether the question may be on behalf of r. One whose call is not known holds all of its agent's
   requests, and one of a task, its call's. */
static bool phi__mcp_asked_holds(const phi__mcp_ask *a, const phi__mcp_request *r) {
    phi_agent agent = phi__mcp_requests_agent(r);
    if (a->request == r) return true;
    if (a->input || a->agent.rt == NULL || agent.rt == NULL) return false;
    if (a->agent.index != agent.index || a->agent.gen != agent.gen) return false;
    return a->request == NULL || phi__mcp_requests_same_call(a->request->desc.call, r->desc.call);
}

static bool phi__mcp_asked_late(phi__mcp_request *r) {
    phi__link *link;
    if (r->input.due) {
        phi__mcp_asked_repeat(r);
        return true;
    }
    /* A person may be thinking about a question of this request's. */
    for (link = r->mcp->asks.open.first; link != NULL; link = link->next)
        if (phi__mcp_asked_holds(PHI__OWNER(link, phi__mcp_ask, link), r))
            return phi__mcp_requests_renew(r, false) == PHI_OK;
    return false;
}

static void phi__mcp_asked_gone(phi__mcp_request *r) { phi__mcp_asked_unask_of(r->mcp, r); }

PHI__FN void phi__mcp_asked_init(phi_mcp *mcp) {
    mcp->requests.late = phi__mcp_asked_late;
    mcp->requests.gone = phi__mcp_asked_gone;
}

PHI__FN void phi__mcp_asked_answer(phi_mcp *mcp, uint64_t ask, phi_str result, int code,
                                   const char *message) {
    phi__mcp_ask *a = phi__mcp_asked_find(mcp, ask);
    if (a == NULL) return;
    if (a->input)
        phi__mcp_asked_got(a->request, a, result, code, message != NULL ? message : "refused");
    else
        phi__mcp_asked_reply(mcp, phi__str(a->id, a->id_len), result, code,
                             message != NULL ? message : "Refused");
    phi__mcp_asked_free(mcp, a);
}
