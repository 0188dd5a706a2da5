/* branches.c - the agents of branches and judges. */
#include "evaluate/branches_in.h"

#include "evaluate/judge_in.h"
#include "history/tool_state_in.h"
#include "loop/head_in.h"
#include "model/tokens.h"
#include "persist/recall_in.h"
#include "agent/profile.h"

#include <stdio.h>

/* Tokens of the judge's prompt beside the texts in it, and of the system prompt of a judge that has
   none of its own. */
enum { PHI__BRANCHES_FRAME = 300 };

/* ---- making them ---- */

PHI__FN phi_agent_desc phi__branches_desc(const phi__evaluation *e, const phi_agent_desc *config,
                                          bool judge) {
    const phi__agent *agent = e->agent;
    phi_agent_desc d = *config;
    d.parent = agent->handle;
    d.ids.agent_id = agent->agent_id.at;
    d.ids.session_id = agent->line.session->id.at;
    /* its log is whole until its run is copied into the agent's */
    d.memory.at_limit = PHI_AT_MEMORY_LIMIT_STOP;
    if (judge) {
        d.tools = NULL;
        d.tool_options.sources = NULL;
        d.tool_count = d.tool_options.source_count = 0;
        d.options.disable_facts = true; /* it compares answers, and plays no part */
        if (d.system_prompt == NULL && (d.profile == NULL || d.profile->system_prompt == NULL))
            d.system_prompt = phi__texts_get(agent->desc.texts, PHI_TEXT_JUDGE);
        return d;
    }
    if (d.tools == NULL && d.tool_count == 0) {
        d.tools = agent->toolset.tools;
        d.tool_count = agent->toolset.own;
        if (d.tool_options.source_count == 0) {
            d.tool_options.sources = agent->desc.tool_options.sources;
            d.tool_options.source_count = agent->desc.tool_options.source_count;
        }
    }
    if (d.system_prompt == NULL && (d.profile == NULL || d.profile->system_prompt == NULL) &&
        agent->system_prompt.len > 0)
        d.system_prompt = agent->system_prompt.at;
    return d;
}

/* The error of phi_agent_new, with the configuration that it is about. */
static phi_status phi__branches_refuse(phi__evaluation *e, size_t index) {
    char words[320]; /* all that phi_last_error has */
    const char *last = "";
    phi_status status = phi__error_last(e->agent->rt, &last);
    (void)snprintf(words, sizeof words, "%s", last);
    if (index == e->pub.branch_count)
        return phi__error(e->agent->rt, status, "phi_evaluate: judge: %s", words);
    return phi__error(e->agent->rt, status, "phi_evaluate: configs[%u]: %s", (unsigned)index,
                      words);
}

PHI__FN phi_status phi__branches_make(phi__evaluation *e, size_t index,
                                      const phi_agent_desc *config, const phi__child_watch *watch) {
    bool judge = index == e->pub.branch_count;
    phi_agent_desc d = phi__branches_desc(e, config, judge);
    phi__agent *agent = e->agent, *child = phi__agent_make(agent->rt, &d, NULL);
    if (child == NULL) return phi__branches_refuse(e, index);
    phi__evaluation_seat(&e->seats[index], child, watch);
    if (judge) return PHI_OK;
    e->branches[index].agent = child->handle;
    e->branches[index].original_count = agent->thread->fold.count;
    if (phi__head_copy(child, agent) &&
        phi__tool_state_carry(child->thread, agent->thread, agent->thread->lanes.active,
                              UINT64_MAX) &&
        phi__rebase_take(child->thread, agent->thread, &agent->thread->fold, NULL))
        return PHI_OK;
    return phi__error(agent->rt, PHI_NO_MEMORY,
                      "phi_evaluate: configs[%u]: out of memory for a copy of the view",
                      (unsigned)index);
}

/* ---- loop ids ---- */

static phi_str phi__branches_segment(const phi__evaluation *e, size_t index) {
    const phi__agent *child = e->seats[index].child;
    return child != NULL ? child->line.segment : phi__str("", 0);
}

/* The first number that is free in all segments. */
static uint32_t phi__branches_first_number(phi__evaluation *e) {
    uint32_t most = 0;
    size_t i;
    for (i = 0; i <= e->pub.branch_count; i++) {
        uint32_t so_far;
        if (e->seats[i].child == NULL) continue;
        so_far = phi__session_count_so_far(e->agent->line.session, phi__branches_segment(e, i));
        if (so_far > most) most = so_far;
    }
    return most + 1;
}

/* "session.segment.N"; a host may have given an id of this form: then the next number. */
static bool phi__branches_name_one(phi__evaluation *e, size_t index, uint32_t *number) {
    phi__agent *agent = e->agent;
    phi__buf name;
    bool done;
    phi__buf_init(&name, &agent->memory);
    do {
        phi__buf_clear(&name);
        phi__buf_add_str(&name, agent->line.session->id);
        phi__buf_char(&name, '.');
        phi__buf_add_str(&name, phi__branches_segment(e, index));
        phi__buf_char(&name, '.');
        phi__buf_u64(&name, (*number)++);
    } while (!name.failed && phi__loops_has(agent->thread, phi__buf_str(&name)));
    done =
        !name.failed &&
        phi__arena_str(&e->arena, phi__buf_str(&name),
                       index == e->pub.branch_count ? &e->judge_id : &e->branches[index].loop_id);
    phi__buf_free(&name);
    return done;
}

PHI__FN bool phi__branches_name(phi__evaluation *e) {
    phi__agent *agent = e->agent;
    uint32_t number;
    size_t i;
    if (!phi__session_read(&agent->rt->sessions, agent->line.session, agent->thread)) return false;
    number = phi__branches_first_number(e);
    for (i = 0; i <= e->pub.branch_count; i++)
        if (e->seats[i].child != NULL && !phi__branches_name_one(e, i, &number)) return false;
    return true;
}

PHI__FN bool phi__branches_count(phi__evaluation *e) {
    phi__sessions *sessions = &e->agent->rt->sessions;
    size_t i;
    for (i = 0; i <= e->pub.branch_count; i++) {
        phi_str id = i < e->pub.branch_count ? e->branches[i].loop_id : e->judge_id;
        if (e->seats[i].child != NULL && !phi__session_saw(sessions, e->agent->line.session, id))
            return false;
    }
    return true;
}

/* ---- their runs ---- */

PHI__FN phi_status phi__branches_start(phi__seat *seat, const phi_content *content, size_t count) {
    const phi__evaluation *e = seat->of;
    bool judge = phi__evaluation_is_judge(seat);
    phi__run_order order;
    phi_status status;
    memset(&order, 0, sizeof order);
    order.continuation = content != NULL ? PHI_CONTINUATION_INITIAL : PHI_CONTINUATION_DEFAULT;
    order.loop_id = judge ? e->judge_id : e->branches[seat->index].loop_id;
    if (content == NULL) order.parent_loop_id = e->agent->line.last_loop_id;
    order.goes_on = true; /* aborts were read when the evaluation began: later ones mean it */
    status = phi__run_new_of(seat->child, order, content, count);
    seat->runs = status == PHI_OK;
    return status;
}

static uint64_t phi__branches_tokens(const phi__evaluation *e, const phi_content *content,
                                     size_t count) {
    const phi_token_counter *counter = phi__projection_counter(e->agent);
    phi_message message;
    memset(&message, 0, sizeof message);
    message.role = PHI_ROLE_USER;
    message.content = content;
    message.content_count = count;
    return content != NULL ? phi_tokens_of_message(counter, &message) : 0;
}

static uint64_t phi__branches_output(const phi__agent *child) {
    return child->desc.max_tokens != 0 ? child->desc.max_tokens : child->desc.model.max_tokens;
}

/* The judge sees the conversation, the query, and the largest answers that the branches may give;
   at most its window. */
PHI__FN bool phi__branches_hold(phi__evaluation *e, uint64_t prompt, char *reason, size_t size) {
    const phi__agent *judge = e->seats[e->pub.branch_count].child;
    const phi_cost *rates;
    uint64_t in = phi__projection_view_tokens(e->agent) + prompt + PHI__BRANCHES_FRAME, out, most;
    double rate;
    size_t i;
    if (judge == NULL || !phi__limits_budget_limited(e->agent)) return true;
    for (i = 0; i < e->pub.branch_count; i++)
        if (e->seats[i].child != NULL) in += phi__branches_output(e->seats[i].child);
    most = judge->desc.compaction.max_context_tokens;
    if (most != 0 && in > most) in = most;
    out = phi__branches_output(judge);
    rates = &judge->desc.model.cost;
    rate = rates->cache_write > rates->input ? rates->cache_write : rates->input;
    return phi__limits_budget_hold(e->agent, in + out,
                                   (double)in / 1e6 * rate + (double)out / 1e6 * rates->output,
                                   &e->held, reason, size);
}

PHI__FN bool phi__branches_reserve(phi__evaluation *e, const phi_content *content, size_t count,
                                   char *reason, size_t size) {
    uint64_t prompt = phi__branches_tokens(e, content, count);
    size_t i;
    for (i = 0; i < e->pub.branch_count; i++)
        if (!phi__reserve_call(e->seats[i].child->run, prompt, reason, size)) return false;
    return phi__branches_hold(e, prompt, reason, size);
}
