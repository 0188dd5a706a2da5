/* evaluate.c - starts evaluations, and takes each from its branches to its selection.

   After every change (a child's run is over, a child was freed, evaluate_fn's time has come) the
   same function looks at the whole evaluation and takes the next step. */
#include "evaluate/evaluate.h"

#include "evaluate/branches_in.h"
#include "evaluate/conclude_in.h"
#include "evaluate/evaluation_in.h"
#include "evaluate/judging_in.h"
#include "evaluate/saving_in.h"
#include "evaluate/select_in.h"
#include "persist/recall_in.h"

#include <stdio.h>

enum { PHI__EVALUATE_POLL_US = 10000 }; /* between two calls of evaluate_fn */

/* ---- the next step ---- */

/* evaluate_fn selects; false: the evaluation was freed in it, or it is not ready. */
static bool phi__evaluate_ask(phi__evaluation *e, size_t *selected) {
    phi__agent *agent = e->agent;
    phi_agent handle = agent->handle;
    phi_evaluation pub = e->pub;
    phi_usage usage;
    phi_status status;
    size_t chosen = 0;
    memset(&usage, 0, sizeof usage);
    status = e->evaluate_fn(e->user_data, &pub, &chosen, &usage);
    if (!phi_agent_alive(handle)) return false;
    if (status == PHI_BUSY && phi__io_counted_us(agent->rt->io) < e->deadline_us) {
        phi__evaluation_later(e, PHI__EVALUATE_POLL_US);
        return false;
    }
    *selected = phi__select_first(e->branches, e->pub.branch_count);
    if (status == PHI_OK) {
        *selected = phi__min(chosen, e->pub.branch_count - 1);
        e->pub.evaluation_usage = usage;
    }
    return true;
}

static void phi__evaluate_begin_custom(phi__evaluation *e) {
    phi__agent *agent = e->agent;
    uint32_t ms = agent->desc.deadlines.decision_ms;
    e->phase = PHI__EVALUATION_CUSTOM;
    agent->rt->active++; /* phi_step reports work, as of a run */
    e->deadline_us =
        ms == PHI_UNLIMITED ? UINT64_MAX : phi__io_counted_us(agent->rt->io) + (uint64_t)ms * 1000;
    phi__evaluation_later(e, 0);
}

/* All branches have ended. */
static void phi__evaluate_decide(phi__evaluation *e) {
    size_t count = e->pub.branch_count;
    phi__evaluation_sum(e);
    if (e->by == PHI_EVALUATE_CUSTOM)
        phi__evaluate_begin_custom(e);
    else if (e->by != PHI_EVALUATE_JUDGE)
        phi__conclude(e, PHI_OK, phi__select_by(e->by, e->branches, count));
    else if (phi__judging_candidates(e) < 2)
        phi__conclude(e, PHI_OK, phi__select_first(e->branches, count));
    else {
        phi_status status = phi__judging_begin(e);
        e->phase = PHI__EVALUATION_JUDGE;
        if (status == PHI_STALE) phi__conclude(e, PHI_OK, phi__select_first(e->branches, count));
        if (status == PHI_NO_MEMORY) phi__conclude(e, PHI_NO_MEMORY, 0);
    }
}

static void phi__evaluate_look(phi__evaluation *e) {
    size_t selected = 0;
    if (e->agent->slot == NULL || e->phase == PHI__EVALUATION_OVER || phi__evaluation_any_runs(e))
        return;
    if (phi__evaluation_aborted(e))
        phi__conclude(e, PHI_CANCELLED, 0);
    else if (e->lost)
        phi__conclude(e, PHI_NO_MEMORY, 0);
    else if (e->phase == PHI__EVALUATION_BRANCHES)
        phi__evaluate_decide(e);
    else if (e->phase == PHI__EVALUATION_JUDGE)
        phi__conclude(e, PHI_OK, phi__judging_selected(e));
    else if (phi__evaluate_ask(e, &selected))
        phi__conclude(e, PHI_OK, selected);
}

static void phi__evaluate_timer(phi__timer *timer) {
    phi__evaluate_look(PHI__OWNER(timer, phi__evaluation, timer));
}

static void phi__evaluate_over(phi__agent *child, phi_status status, const phi_failure *failure,
                               bool stopping) {
    phi__seat *seat = (phi__seat *)child->tree.watched;
    (void)failure;
    (void)stopping;
    phi__evaluation_outcome(seat, status);
    phi__evaluate_look(seat->of);
}

static void phi__evaluate_gone(phi__agent *child) {
    phi__evaluation_gone((phi__seat *)child->tree.watched);
}

static const phi__child_watch phi__evaluate_watch = {
    false, false, NULL, NULL, phi__evaluate_over, phi__evaluate_gone};

/* ---- with the agent ---- */

static void phi__evaluate_freed(phi__attached *attached) {
    phi__evaluation *e = PHI__OWNER(attached, phi__evaluation, attached);
    phi__agent *agent = e->agent;
    bool active = e->phase != PHI__EVALUATION_OVER;
    phi__evaluation_free(e);
    if (active) phi__events_unreserve(agent);
}

static void phi__evaluate_save(const phi__attached *attached, phi__buf *out, phi_arena *scratch) {
    phi__saving_put(PHI__OWNER(attached, const phi__evaluation, attached), out, scratch);
}

static const phi__attached_ops phi__evaluate_ops = {"phi.evaluation", phi__evaluate_save, NULL,
                                                    phi__evaluate_freed};

/* In place of the last one, whose children are gone from it. */
static void phi__evaluate_attach(phi__evaluation *e) {
    phi__agent *agent = e->agent;
    phi__evaluation_free(phi__evaluation_of(agent));
    phi__attached_saved_drop(agent, phi__evaluate_ops.name);
    phi__attached_add(agent, &e->attached, &phi__evaluate_ops);
    phi__find_hold(agent, "an evaluation is going on");
}

/* ---- checks ---- */

static phi_status phi__evaluate_check_config(phi_runtime *rt, const char *what,
                                             const phi_agent_desc *config) {
    if (config->store != NULL)
        return phi__error(rt, PHI_BAD_ARG, "phi_evaluate: %s.store: expected NULL", what);
    if (config->thread_id != NULL)
        return phi__error(rt, PHI_BAD_ARG, "phi_evaluate: %s.thread_id: expected NULL", what);
    return PHI_OK;
}

static phi_status phi__evaluate_check_way(phi_runtime *rt, const phi_evaluate_desc *desc) {
    if ((unsigned)desc->by > (unsigned)PHI_EVALUATE_CUSTOM)
        return phi__error(rt, PHI_BAD_ARG, "phi_evaluate: by is none of its values");
    if (desc->by == PHI_EVALUATE_TRANSPARENT && desc->config_count != 1)
        return phi__error(rt, PHI_BAD_ARG,
                          "phi_evaluate: config_count is %u: PHI_EVALUATE_TRANSPARENT expects 1",
                          (unsigned)desc->config_count);
    if (desc->by == PHI_EVALUATE_CUSTOM && desc->evaluate_fn == NULL)
        return phi__error(rt, PHI_BAD_ARG, "phi_evaluate: evaluate_fn is missing");
    if (desc->by != PHI_EVALUATE_JUDGE) return PHI_OK;
    return desc->judge == NULL ? phi__error(rt, PHI_BAD_ARG, "phi_evaluate: judge is missing")
                               : phi__evaluate_check_config(rt, "judge", desc->judge);
}

static phi_status phi__evaluate_check_desc(phi_runtime *rt, const phi_evaluate_desc *desc) {
    phi_status status = PHI_OK;
    char what[32];
    size_t i;
    if (desc == NULL) return phi__error(rt, PHI_BAD_ARG, "phi_evaluate: desc is NULL");
    if (desc->configs == NULL || desc->config_count == 0)
        return phi__error(rt, PHI_BAD_ARG, "phi_evaluate: configs: expected at least one");
    if (desc->config_count > PHI_EVALUATE_MOST)
        return phi__error(rt, PHI_BAD_ARG, "phi_evaluate: config_count is %u: expected at most %u",
                          (unsigned)desc->config_count, (unsigned)PHI_EVALUATE_MOST);
    for (i = 0; i < desc->config_count && status == PHI_OK; i++) {
        (void)snprintf(what, sizeof what, "configs[%u]", (unsigned)i);
        status = phi__evaluate_check_config(rt, what, &desc->configs[i]);
    }
    return status == PHI_OK ? phi__evaluate_check_way(rt, desc) : status;
}

/* The prompt as content; NULL: there is none. */
static phi_status phi__evaluate_check_prompt(phi__agent *agent, const phi_evaluate_desc *desc,
                                             phi_content *text, const phi_content **content,
                                             size_t *count) {
    *content = desc->content;
    *count = desc->content_count;
    if (desc->prompt != NULL && desc->content != NULL)
        return phi__error(agent->rt, PHI_BAD_ARG,
                          "phi_evaluate: prompt and content are both given");
    if (desc->prompt != NULL) {
        if (desc->prompt[0] == '\0')
            return phi__error(agent->rt, PHI_BAD_ARG, "phi_evaluate: the prompt is empty");
        *text = phi__input_text(phi_str_of(desc->prompt));
        *content = text;
        *count = 1;
    }
    if (*content != NULL) return phi__enqueue_check(agent->rt, "phi_evaluate", *content, *count);
    return phi__history_goes_on(agent->rt, agent->thread, "phi_evaluate");
}

/* ---- starting ---- */

static phi_status phi__evaluate_no_memory(phi__agent *agent) {
    return phi__error(agent->rt, PHI_NO_MEMORY, "phi_evaluate: out of memory");
}

static phi_status phi__evaluate_make_children(phi__evaluation *e, const phi_evaluate_desc *desc) {
    phi_status status = PHI_OK;
    size_t i;
    for (i = 0; i < desc->config_count && status == PHI_OK; i++)
        status = phi__branches_make(e, i, &desc->configs[i], &phi__evaluate_watch);
    if (status == PHI_OK && desc->by == PHI_EVALUATE_JUDGE)
        status = phi__branches_make(e, i, desc->judge, &phi__evaluate_watch);
    return status;
}

static phi_status phi__evaluate_start(phi__evaluation *e, const phi_content *content,
                                      size_t count) {
    phi__agent *agent = e->agent;
    char reason[160];
    size_t i;
    if (!phi__branches_name(e) || !phi__evaluation_payers(e)) return phi__evaluate_no_memory(agent);
    for (i = 0; i < e->pub.branch_count; i++)
        if (phi__branches_start(&e->seats[i], content, count) != PHI_OK)
            return phi__evaluate_no_memory(agent);
    if (!phi__branches_reserve(e, content, count, reason, sizeof reason))
        return phi__error(agent->rt, PHI_LIMIT, "phi_evaluate: %s", reason);
    return phi__branches_count(e) && phi__conclude_emit_start(e) ? PHI_OK
                                                                 : phi__evaluate_no_memory(agent);
}

/* The parts that a new evaluation and a restored one have in common. NULL: no memory. */
static phi__evaluation *phi__evaluate_new(phi__agent *agent, const phi_evaluate_desc *desc) {
    phi__evaluation *e = phi__evaluation_new(agent, desc->config_count);
    if (e == NULL) return NULL;
    e->by = desc->by;
    e->evaluate_fn = desc->evaluate_fn;
    e->user_data = desc->user_data;
    e->timer.fire = phi__evaluate_timer;
    if (phi__io_timer_set(agent->rt->io, &e->timer, UINT64_MAX) == PHI_OK) return e;
    phi__evaluation_free(e);
    return NULL;
}

static phi_status phi__evaluate_all(phi__agent *agent, const phi_evaluate_desc *desc,
                                    const phi_content *content, size_t count) {
    phi__evaluation *e;
    phi_status status;
    status = phi__recall_view(agent->thread, agent->thread->lanes.active, UINT64_MAX);
    if (status != PHI_OK)
        return phi__error(agent->rt, status, "phi_evaluate: the thread cannot be read: %s",
                          phi_status_text(status));
    if (!phi__thread_roll(agent->thread, NULL) ||
        !phi__append_answer_orphans(agent->thread, agent->desc.texts) ||
        !phi__events_reserve(agent))
        return phi__evaluate_no_memory(agent);
    phi__posts_read_aborts(agent->rt); /* they mean earlier work */
    e = phi__evaluate_new(agent, desc);
    status = e != NULL && phi__judging_query(e, content, count) ? PHI_OK
                                                                : phi__evaluate_no_memory(agent);
    if (status == PHI_OK) {
        e->continues = content == NULL;
        status = phi__evaluate_make_children(e, desc);
    }
    if (status == PHI_OK) status = phi__evaluate_start(e, content, count);
    if (status == PHI_OK) {
        phi__evaluate_attach(e);
        return PHI_OK;
    }
    phi__evaluation_free(e);
    phi__events_unreserve(agent);
    return status;
}

static phi_status phi__evaluate_resume(phi__agent *agent, const phi_evaluate_desc *desc) {
    phi__evaluation *e;
    phi_status status = phi__saving_waits(agent, desc->config_count);
    if (status != PHI_OK) return status;
    if (!phi__events_reserve(agent)) return phi__evaluate_no_memory(agent);
    e = phi__evaluate_new(agent, desc);
    status =
        e == NULL ? phi__evaluate_no_memory(agent) : phi__saving_get(e, desc, &phi__evaluate_watch);
    if (status == PHI_OK) {
        phi__evaluate_attach(e);
        phi__evaluation_later(e, 0);
        return PHI_OK;
    }
    phi__evaluation_free(e);
    phi__events_unreserve(agent);
    return status;
}

/* ---- public ---- */

PHI_API phi_status phi_evaluate(phi_agent handle, const phi_evaluate_desc *desc) {
    phi__agent *agent = phi__find_agent(handle);
    const phi_content *content = NULL;
    phi_content text;
    size_t count = 0;
    phi_status status;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return phi__error(handle.rt, PHI_STALE, "phi_evaluate: the agent is gone");
    status = phi__evaluate_check_desc(handle.rt, desc);
    if (status == PHI_OK) status = phi__agent_may_run(agent, "phi_evaluate");
    if (status == PHI_OK && desc->resume) return phi__evaluate_resume(agent, desc);
    if (status == PHI_OK) status = phi__evaluate_check_prompt(agent, desc, &text, &content, &count);
    return status == PHI_OK ? phi__evaluate_all(agent, desc, content, count) : status;
}

PHI_API phi_status phi_evaluation_result(phi_agent handle, phi_evaluation *out) {
    const phi__agent *agent = phi__find_agent(handle);
    const phi__evaluation *e = agent != NULL ? phi__evaluation_of(agent) : NULL;
    if (handle.rt == NULL || out == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    if (e == NULL) return PHI_NOT_FOUND;
    *out = e->pub;
    return PHI_OK;
}
