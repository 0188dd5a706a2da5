/* evaluate.c - starts an evaluation, runs its branches and its judge, and selects a branch.

   An evaluation changes when the run of a child ends, a child is freed, or its timer fires. After
   each change phi__eval_look checks the whole evaluation and takes the next step. */
#include "orchestrate/evaluate_in.h"

#include "agent/agent_in.h"
#include "agent/profile.h"
#include "agent/snapshot.h"
#include "base/base_in.h"
#include "features/features_in.h"
#include "log/log_in.h"
#include "loop/loop_in.h"
#include "model/event_parts.h"
#include "model/model_in.h"
#include "model/tokens.h"
#include "persist/persist_in.h"
#include "text/text_in.h"

#include <stdio.h>

typedef struct phi__eval phi__eval;

/* The evaluation's record of one child agent. */
typedef struct phi__seat {
    phi__eval *of;
    size_t index;      /* the branch's index; for the judge, branch_count */
    phi_str *loop_id;  /* loop id of the branch or the judge */
    phi__agent *child; /* NULL: not made, or freed */
    bool runs;
} phi__seat;

typedef enum phi__eval_phase {
    PHI__EVAL_BRANCHES = 0,
    PHI__EVAL_JUDGE,
    PHI__EVAL_CUSTOM, /* evaluate_fn is being called */
    PHI__EVAL_OVER
} phi__eval_phase;

struct phi__eval {
    phi__attached attached;
    phi__agent *agent;
    phi_arena arena; /* holds the arrays of `pub`, and the seats */
    phi_evaluation pub;
    phi_branch *branches;
    phi__seat *seats; /* one for each branch, then one for the judge */
    phi__eval_phase phase;
    phi_evaluate_by by;
    phi_evaluate_fn evaluate_fn;
    void *user_data;
    phi_str judge_id;        /* loop id reserved for the judge */
    phi_status judge_status; /* status of the judge's run */
    size_t candidates;       /* branches that may win */
    size_t verdict;          /* the judge's choice, as an index among the candidates */
    phi_spending held;       /* reserved by each payer for the judge's call */
    phi_agent *payers;       /* the agent and all its ancestors */
    size_t payer_count;
    uint32_t aborts;      /* the agent's abort count when the evaluation began */
    bool continues;       /* no prompt: the branches continue the history */
    uint32_t lane;        /* active lane when the evaluation began; branches fork it */
    uint64_t entries;     /* entries in the log when it began; branches fork after them */
    bool lost;            /* memory ran out while an outcome was read */
    phi__timer timer;     /* calls phi__eval_look */
    uint64_t deadline_us; /* time by which evaluate_fn must have selected */
};

static void phi__eval_over(phi__agent *child, phi_status status, const phi_failure *failure,
                           bool stopping);
static void phi__eval_gone(phi__agent *child);

static const phi__child_watch phi__eval_watch = {false, false,          NULL,
                                                 NULL,  phi__eval_over, phi__eval_gone};

/* Ranks an outcome: 2 if the branch gave an answer, even if a limit ended its run; 1 if it
   succeeded without an answer; 0 if it failed. */
static int phi__select_rank(const phi_branch *branch) {
    if (branch->status != PHI_OK && branch->status != PHI_LIMIT) return 0;
    if (branch->text.len > 0) return 2;
    return branch->status == PHI_OK ? 1 : 0;
}

/* True if the branch may win, because no other branch has a higher rank. */
static bool phi__select_may_win(const phi_branch *branches, size_t count, size_t i) {
    int rank = phi__select_rank(&branches[i]);
    for (size_t k = 0; k < count; k++)
        if (phi__select_rank(&branches[k]) > rank) return false;
    return true;
}

PHI__FN size_t phi__select_first(const phi_branch *branches, size_t count) {
    size_t i = 0;
    while (i + 1 < count && !phi__select_may_win(branches, count, i)) i++;
    return i;
}

PHI__FN size_t phi__select_by(phi_evaluate_by by, const phi_branch *branches, size_t count) {
    size_t best = phi__select_first(branches, count);
    for (size_t i = best + 1; i < count; i++) {
        uint64_t tokens = branches[i].usage.total_tokens, least = branches[best].usage.total_tokens;
        if (!phi__select_may_win(branches, count, i)) continue;
        if ((by == PHI_EVALUATE_TOKEN_EFFICIENT && tokens < least) ||
            (by == PHI_EVALUATE_ELABORATE && tokens >= least))
            best = i;
    }
    return best;
}

/* ---- children ---- */

/* An evaluation stays attached to its agent until the agent is freed or the next evaluation begins.
   Each branch and the judge is a child agent with a seat. The children belong to the evaluation
   while it is active. After its end each child is freed once the host has popped its events. */

static bool phi__eval_is_judge(const phi__seat *seat) {
    return seat->index == seat->of->pub.branch_count;
}

/* Puts a child on its seat and watches it. */
static void phi__eval_seat(phi__seat *seat, phi__agent *child) {
    seat->child = child;
    child->tree.watch = &phi__eval_watch;
    child->tree.watched = seat;
    child->tree.in_place = !phi__eval_is_judge(seat);
    phi__find_hold(child, "it is a branch of an evaluation");
}

static phi__agent *phi__eval_leave(phi__seat *seat) {
    phi__agent *child = seat->child;
    if (child == NULL) return NULL;
    seat->child = NULL;
    child->tree.watch = NULL;
    child->tree.watched = NULL;
    phi__find_hold(child, NULL);
    return child;
}

static void phi__eval_give(phi__eval *e) {
    for (size_t i = 0; e->held.requests > 0 && i < e->payer_count; i++) {
        phi__agent *payer = phi__find_agent(e->payers[i]);
        if (payer != NULL) phi__budget_give(payer, &e->held);
    }
    memset(&e->held, 0, sizeof e->held);
}

/* Frees an evaluation and its remaining children. NULL is allowed. */
static void phi__eval_free(phi__eval *e) {
    if (e == NULL) return;
    phi__agent *agent = e->agent;
    phi__attached_remove(&e->attached);
    if (e->phase == PHI__EVAL_CUSTOM) agent->rt->active--;
    phi__io_timer_clear(agent->rt->io, &e->timer);
    phi__eval_give(e);
    for (size_t i = 0; e->seats != NULL && i <= e->pub.branch_count; i++) {
        phi__agent *child = phi__eval_leave(&e->seats[i]);
        if (child != NULL) phi__end_drop(child);
    }
    phi_arena_free(&e->arena);
    phi__free(&agent->memory, e, sizeof *e);
}

/* Returns the agent's evaluation. NULL if there is none. */
static phi__eval *phi__eval_of(const phi__agent *agent) {
    phi__attached *attached = phi__attached_find(agent, "phi.evaluation");
    return attached != NULL ? PHI__OWNER(attached, phi__eval, attached) : NULL;
}

/* Schedules phi__eval_look after `after_us`, in the next phi_step at the earliest. */
static void phi__eval_later(phi__eval *e, uint64_t after_us) {
    phi__io *io = e->agent->rt->io;
    /* Cannot fail: phi__eval_new has allocated the timer's slot. */
    (void)phi__io_timer_set(io, &e->timer, phi__io_now_us(io) + after_us);
}

/* Lists the agents whose budgets pay for a reservation: the agent and its ancestors. False: no
   memory. Stores handles, because a freed agent leaves the tree before its evaluation is freed. */
static bool phi__eval_payers(phi__eval *e) {
    size_t n = 0;
    for (const phi__agent *agent = e->agent; agent != NULL; agent = agent->tree.parent) n++;
    e->payers = (phi_agent *)phi_arena_alloc(&e->arena, n * sizeof *e->payers);
    if (e->payers == NULL) return false;
    for (const phi__agent *agent = e->agent; agent != NULL; agent = agent->tree.parent)
        e->payers[e->payer_count++] = agent->handle;
    return true;
}

/* Returns the last answer with text, in the child's messages from `from` on. False: no memory. */
static bool phi__eval_text(const phi__agent *child, size_t from, phi_arena *arena, phi_str *out) {
    const phi_thread *thread = child->thread;
    size_t i = thread->messages.count;
    bool failed = false;
    while (i-- > from) {
        const phi__entry *entry = phi__lane_message(thread, i);
        phi_arena_mark mark = phi_arena_save(arena);
        if (entry == NULL || entry->message->role != PHI_ROLE_ASSISTANT) continue;
        *out = phi_message_text(entry->message, "\n", arena, &failed);
        if (failed) return false;
        if (phi__str_trim(*out).len > 0) return true;
        phi_arena_reset(arena, mark);
        *out = phi__str("", 0);
    }
    return true;
}

/* Records the outcome of a child whose run has ended. */
static void phi__eval_outcome(phi__seat *seat, phi_status status) {
    phi__eval *e = seat->of;
    const phi__agent *child = seat->child;
    seat->runs = false;
    if (phi__eval_is_judge(seat)) {
        phi_str text = {"", 0};
        e->judge_status = status;
        e->pub.evaluation_usage = child->spent.run_usage;
        e->pub.evaluation_cost = child->spent.run_cost;
        if (!phi__eval_text(child, 0, &e->arena, &text)) e->lost = true;
        e->verdict = phi__judge_verdict(text, e->candidates);
        return;
    }
    phi_branch *branch = &e->branches[seat->index];
    branch->status = status;
    branch->usage = child->spent.run_usage;
    branch->cost = child->spent.run_cost;
    if (!phi__eval_text(child, branch->original_count, &e->arena, &branch->text)) e->lost = true;
}

/* Sums usage and cost of all branches and the evaluation. */
static void phi__eval_sum(phi__eval *e) {
    phi_evaluation *pub = &e->pub;
    pub->total_usage = pub->evaluation_usage;
    pub->total_cost = pub->evaluation_cost;
    for (size_t i = 0; i < pub->branch_count; i++) {
        phi__message_add_usage(&pub->total_usage, &e->branches[i].usage);
        pub->total_cost += e->branches[i].cost;
    }
}

/* Estimated tokens of the judge's fixed prompt text and default system prompt. */
enum { PHI__BRANCHES_FRAME = 300 };

/* Returns the desc of a child: the configuration with the evaluation's own settings. Its pointers
   belong to the configuration or the agent. */
static phi_agent_desc phi__eval_desc(const phi__eval *e, const phi_agent_desc *config, bool judge) {
    const phi__agent *agent = e->agent;
    phi_agent_desc d = *config;
    d.parent = agent->handle;
    d.ids.agent_id = agent->agent_id.at;
    d.ids.session_id = agent->line.session->id.at;
    /* the child's log must stay whole until it is copied into the agent's log */
    d.memory.at_limit = PHI_AT_MEMORY_LIMIT_STOP;
    if (judge) {
        d.tools = NULL;
        d.tool_options.sources = NULL;
        d.tool_count = d.tool_options.source_count = 0;
        d.options.disable_facts = true; /* the judge only compares answers */
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

/* Makes the child of a seat. A branch gets a copy of the agent's view, with a result for each call
   that lacks one. Sets phi_last_error. */
static phi_status phi__eval_make_child(phi__eval *e, size_t index, const phi_agent_desc *config) {
    bool judge = index == e->pub.branch_count;
    phi_agent_desc d = phi__eval_desc(e, config, judge);
    phi__agent *agent = e->agent, *child = phi__agent_make(agent->rt, &d, NULL);
    if (child == NULL) {
        /* Repeats the error of phi_agent_new and adds the configuration's index. */
        char words[320]; /* the size of phi_last_error's buffer */
        const char *last = "";
        phi_status status = phi__error_last(agent->rt, &last);
        (void)snprintf(words, sizeof words, "%s", last);
        if (judge) return phi__error(agent->rt, status, "phi_evaluate: judge: %s", words);
        return phi__error(agent->rt, status, "phi_evaluate: configs[%u]: %s", (unsigned)index,
                          words);
    }
    phi__eval_seat(&e->seats[index], child);
    if (judge) return PHI_OK;
    e->branches[index].agent = child->handle;
    child->thread->loops.restored = agent->thread->loops.restored;
    if (phi__head_copy(child, agent) &&
        phi__state_carry(child->thread, agent->thread, agent->thread->lanes.active, UINT64_MAX) &&
        phi__rebase_take(child->thread, agent->thread, &agent->thread->fold, NULL) &&
        phi__append_answer_orphans(child->thread, agent->desc.texts)) {
        e->branches[index].original_count = child->thread->fold.count;
        return PHI_OK;
    }
    return phi__error(agent->rt, PHI_NO_MEMORY,
                      "phi_evaluate: configs[%u]: out of memory for a copy of the view",
                      (unsigned)index);
}

/* ---- loop ids ---- */

/* Names the loops of all seats with a child: "session.segment.N". All loops share one count, which
   starts above every count used in their segments. Skips ids that a host has used. Makes room for
   phi__eval_count_loops. False: no memory. */
static bool phi__eval_name_loops(phi__eval *e) {
    const phi__agent *agent = e->agent;
    phi__session *session = agent->line.session;
    uint32_t most = 0;
    bool done = true;
    phi__buf name;
    if (!phi__session_read(&agent->rt->sessions, session, agent->thread)) return false;
    for (size_t i = 0; i <= e->pub.branch_count; i++) {
        const phi__agent *child = e->seats[i].child;
        if (child == NULL) continue;
        if (!phi__session_room(&agent->rt->sessions, session, child->line.segment)) return false;
        uint32_t so_far = phi__session_count_so_far(session, child->line.segment);
        if (so_far > most) most = so_far;
    }
    phi__buf_init(&name, &e->agent->memory);
    for (size_t i = 0; done && i <= e->pub.branch_count; i++) {
        if (e->seats[i].child == NULL) continue;
        do {
            phi__buf_clear(&name);
            phi__buf_add_str(&name, session->id);
            phi__buf_char(&name, '.');
            phi__buf_add_str(&name, e->seats[i].child->line.segment);
            phi__buf_char(&name, '.');
            phi__buf_u64(&name, ++most);
        } while (!name.failed && phi__loops_find(agent->thread, phi__buf_str(&name)) != NULL);
        done = !name.failed && phi__arena_str(&e->arena, phi__buf_str(&name), e->seats[i].loop_id);
    }
    phi__buf_free(&name);
    return done;
}

/* Marks the loop ids as used in the session. */
static void phi__eval_count_loops(phi__eval *e) {
    phi__sessions *sessions = &e->agent->rt->sessions;
    for (size_t i = 0; i <= e->pub.branch_count; i++)
        if (e->seats[i].child != NULL) /* cannot fail: phi__eval_name_loops has made room */
            (void)phi__session_saw(sessions, e->agent->line.session, *e->seats[i].loop_id);
}

/* Starts the run of a seat's child with the prompt, or from the end of its history if content is
   NULL. PHI_NO_MEMORY: nothing changed. */
static phi_status phi__eval_run(phi__seat *seat, const phi_content *content, size_t count) {
    const phi__eval *e = seat->of;
    phi__run_order order = PHI_ZERO;
    order.continuation = content != NULL ? PHI_CONTINUATION_INITIAL : PHI_CONTINUATION_DEFAULT;
    order.loop_id = *seat->loop_id;
    if (content == NULL) order.parent_loop_id = e->agent->line.last_loop_id;
    order.goes_on = true; /* phi_evaluate has read earlier aborts; later aborts are for this run */
    phi_status status = phi__run_new_of(seat->child, order, content, count);
    seat->runs = status == PHI_OK;
    return status;
}

static uint64_t phi__eval_output(const phi__agent *child) {
    return child->desc.max_tokens != 0 ? child->desc.max_tokens : child->desc.model.max_tokens;
}

/* Reserves the most that the judge's call may cost, for a conversation and query of `said` tokens.
   The judge reads these and the longest possible answers, up to its context window. False: a budget
   has no room, and `reason` names it. */
static bool phi__eval_hold(phi__eval *e, uint64_t said, char *reason, size_t size) {
    const phi__agent *judge = e->seats[e->pub.branch_count].child;
    uint64_t in = said + PHI__BRANCHES_FRAME;
    if (judge == NULL || !phi__budget_limited(e->agent)) return true;
    for (size_t i = 0; i < e->pub.branch_count; i++)
        if (e->seats[i].child != NULL) in += phi__eval_output(e->seats[i].child);
    uint64_t most = judge->desc.compaction.max_context_tokens;
    if (most != 0 && in > most) in = most;
    uint64_t out = phi__eval_output(judge);
    const phi_cost *rates = &judge->desc.model.cost;
    double rate = rates->cache_write > rates->input ? rates->cache_write : rates->input;
    return phi__budget_hold(e->agent, in + out,
                            (double)in / 1e6 * rate + (double)out / 1e6 * rates->output, &e->held,
                            reason, size);
}

/* ---- events and log ---- */

static phi_parallel *phi__eval_parallel(const phi__eval *e) {
    phi__agent *agent = e->agent;
    if (!phi__thread_roll(agent->thread, NULL)) return NULL;
    phi_arena *room = phi__thread_room(agent->thread);
    phi_parallel *out = (phi_parallel *)phi__arena_zero(room, sizeof *out);
    if (out == NULL || !phi__arena_str(room, agent->line.session->id, &out->session_id))
        return NULL;
    return out;
}

/* Emits PHI_EV_PARALLEL_START. False: no memory. */
static bool phi__eval_emit_start(const phi__eval *e) {
    phi_parallel *parallel = phi__eval_parallel(e);
    if (parallel == NULL) return false;
    /* Strings of events live as long as the thread. */
    phi_arena *room = phi__thread_room(e->agent->thread);
    phi_str *ids = (phi_str *)phi_arena_alloc(room, e->pub.branch_count * sizeof *ids);
    if (ids == NULL) return false;
    for (size_t i = 0; i < e->pub.branch_count; i++)
        if (!phi__arena_str(room, e->branches[i].loop_id, &ids[i])) return false;
    parallel->loop_ids = ids;
    parallel->loop_count = e->pub.branch_count;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_PARALLEL_START;
    event.parallel = parallel;
    return phi__events_emit(e->agent, &event);
}

/* Copies the run of a seat's child to its lane. If the lane is missing, makes it: a branch's lane
   forks the lane that was active when the evaluation began, and the judge's lane is empty, because
   the judge saw nothing of the thread. Does nothing if the host has freed the child. */
static phi_status phi__eval_copy_one(phi__eval *e, const phi__seat *seat) {
    phi_thread *thread = e->agent->thread;
    bool judge = phi__eval_is_judge(seat), forks = !judge && e->entries > 0;
    phi_status status = PHI_OK;
    phi__buf text;
    phi_str name;
    if (seat->child == NULL) return PHI_OK;
    phi__buf_init(&text, &e->agent->memory);
    phi__buf_wrap(&text, judge ? "~judge/" : "branch/", *seat->loop_id, "");
    bool made = !text.failed && phi__arena_str(&e->arena, phi__buf_str(&text), &name);
    phi__buf_free(&text);
    if (!made) return PHI_NO_MEMORY;
    uint32_t lane = phi__lane_find(thread, name);
    if (lane == PHI__LANE_NONE)
        status = phi__lane_new(thread, name, forks ? e->lane : (uint32_t)PHI__LANE_NONE,
                               forks ? e->entries - 1 : 0, &lane);
    if (status == PHI_OK)
        status = phi__graft_run(thread, lane, seat->child->thread, *seat->loop_id);
    if (status == PHI_OK && !judge) e->branches[seat->index].lane = name;
    return status;
}

static void phi__eval_put_list(phi__buf *out, const char *key, const phi__eval *e, bool lanes) {
    phi__records_raw(out, key, "[");
    for (size_t i = 0; i < e->pub.branch_count; i++) {
        phi__json_write_comma(out);
        phi__json_write_str(out, lanes ? e->branches[i].lane : e->branches[i].loop_id);
    }
    phi__buf_char(out, ']');
}

static phi_status phi__eval_note(phi__eval *e, size_t selected) {
    phi__agent *agent = e->agent;
    phi_status status = PHI_NO_MEMORY;
    phi__buf note;
    phi__buf_init(&note, &agent->memory);
    phi__buf_char(&note, '{');
    phi__records_str(&note, "session_id", agent->line.session->id);
    phi__eval_put_list(&note, "loop_ids", e, false);
    phi__eval_put_list(&note, "lanes", e, true);
    phi__records_str(&note, "selected_loop_id", e->branches[selected].loop_id);
    phi__records_u64(&note, "selected_index", selected);
    phi__json_write_key(&note, PHI__LIT("evaluation_usage"));
    phi__message_put_usage_value(&note, &e->pub.evaluation_usage);
    phi__buf_char(&note, '}');
    if (!note.failed)
        status = phi__note_add(agent->thread, PHI_NOTE_PARALLEL, phi__buf_str(&note), NULL);
    phi__buf_free(&note);
    return status;
}

/* Makes the selected branch the active lane, and its loop the parent of the next run. */
static phi_status phi__eval_select(phi__eval *e, size_t selected) {
    phi__agent *agent = e->agent;
    const phi_branch *branch = &e->branches[selected];
    phi_status status = PHI_OK;
    phi_str last;
    if (!phi__own(&agent->memory, phi_str_of(branch->loop_id.at), &last)) return PHI_NO_MEMORY;
    status = phi__eval_note(e, selected);
    if (status == PHI_OK && branch->lane.len > 0)
        status = phi_thread_switch(agent->thread, branch->lane.at);
    /* without memory, the next request makes a new head */
    if (status == PHI_OK && e->seats[selected].child != NULL)
        (void)phi__head_copy(agent, e->seats[selected].child);
    if (status != PHI_OK) {
        phi__disown(&agent->memory, &last);
        return status;
    }
    phi__line_take_last(agent, last);
    e->pub.selected = selected;
    return PHI_OK;
}

/* Ends an evaluation whose children have stopped. If status is PHI_OK, branch `selected` wins; else
   no branch wins. In both cases the runs of the branches are copied into the log in the order of
   their configurations, as far as memory allows. */
static void phi__eval_conclude(phi__eval *e, phi_status status, size_t selected) {
    phi__agent *agent = e->agent;
    size_t ran = e->pub.branch_count + (e->pub.judge_loop_id.len > 0 ? 1 : 0);
    phi_status copied = PHI_OK;
    for (size_t i = 0; i < ran && copied == PHI_OK; i++)
        copied = phi__eval_copy_one(e, &e->seats[i]);
    if (status == PHI_OK) status = copied;
    if (status == PHI_OK) status = phi__eval_select(e, selected);
    e->pub.status = status;
    phi__eval_sum(e);
    phi__charge_runs(agent, &e->pub.total_usage, e->pub.total_cost);
    phi__line_count(agent, agent->line.loops + (uint32_t)e->pub.branch_count);
    agent->line.last_active_us = phi__io_now_us(agent->rt->io);
    phi__eval_give(e);
    phi__io_timer_clear(agent->rt->io, &e->timer);
    if (e->phase == PHI__EVAL_CUSTOM) agent->rt->active--;
    e->phase = PHI__EVAL_OVER;
    for (size_t i = 0; i <= e->pub.branch_count; i++) {
        phi__agent *child = phi__eval_leave(&e->seats[i]);
        if (child == NULL) continue;
        phi__find_hold(child, "it was a branch of an evaluation that is over");
        phi__shot_last(child);
    }
    phi__find_hold(agent, NULL);
    /* Without memory, the event has empty figures. */
    static const phi_parallel nothing = {{"", 0}, NULL, 0, {"", 0}, 0, {0, 0, 0, 0, 0, 0}};
    phi_parallel *parallel = phi__eval_parallel(e);
    phi_event event = PHI_ZERO;
    if (parallel != NULL) {
        parallel->evaluation_usage = e->pub.evaluation_usage;
        if (e->pub.selected < e->pub.branch_count) {
            parallel->selected_index = e->pub.selected;
            if (!phi__arena_str(phi__thread_room(e->agent->thread),
                                e->branches[e->pub.selected].loop_id, &parallel->selected_loop_id))
                parallel->selected_loop_id = phi__str("", 0);
        }
    }
    event.kind = PHI_EV_PARALLEL_END;
    event.status = e->pub.status;
    event.parallel = parallel != NULL ? parallel : &nothing;
    (void)phi__events_emit_surely(e->agent, &event);
    phi__events_unreserve(agent);
}

/* ---- snapshots ---- */

/* A snapshot holds every child as an agent. This includes branches that have ended, because their
   runs are not yet in the agent's log. After a restore, a pending evaluate_fn is called again. */

static void phi__eval_save_child(const phi__seat *seat, phi__buf *out, phi_arena *scratch) {
    phi_arena_mark mark = phi_arena_save(scratch);
    phi_str text;
    phi__json_write_key(out, PHI__LIT("agent"));
    if (seat->child == NULL)
        phi__buf_text(out, "null");
    else if (phi_agent_snapshot(seat->child->handle, scratch, &text) == PHI_OK)
        phi__buf_add_str(out, text);
    else
        out->failed = true;
    phi_arena_reset(scratch, mark);
}

/* Writes the evaluation as a JSON object, or null if it is over. */
static void phi__eval_save(const phi__attached *attached, phi__buf *out, phi_arena *scratch) {
    const phi__eval *e = PHI__OWNER((uintptr_t)attached, const phi__eval, attached);
    const phi_thread *thread = e->agent->thread;
    if (e->phase == PHI__EVAL_OVER) {
        phi__buf_text(out, "null");
        return;
    }
    phi__buf_char(out, '{');
    phi__records_bool(out, "continues", e->continues);
    phi__records_str(out, "query", e->pub.query);
    phi__records_str(out, "judge_id", e->judge_id);
    phi__records_u64(out, "candidates", e->candidates);
    phi__records_u64(out, "held", e->held.requests);
    phi__records_str(out, "lane", phi__lane_name(thread, thread->lanes.active));
    phi__records_u64(out, "view", thread->fold.count);
    phi__records_str(out, "forks", phi__lane_name(thread, e->lane));
    phi__records_u64(out, "entries", e->entries);
    phi__records_raw(out, "branches", "[");
    for (size_t i = 0; i < e->pub.branch_count; i++) {
        const phi_branch *branch = &e->branches[i];
        phi__json_write_comma(out);
        phi__buf_char(out, '{');
        phi__records_str(out, "loop_id", branch->loop_id);
        phi__records_i64(out, "status", branch->status);
        phi__records_str(out, "text", branch->text);
        phi__json_write_key(out, PHI__LIT("usage"));
        phi__message_put_usage_value(out, &branch->usage);
        phi__records_double(out, "cost", branch->cost);
        phi__records_u64(out, "original_count", branch->original_count);
        phi__eval_save_child(&e->seats[i], out, scratch);
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, ']');
    phi__records_bool(out, "judging", e->phase == PHI__EVAL_JUDGE);
    phi__records_raw(out, "judge", "{");
    if (e->phase == PHI__EVAL_JUDGE)
        phi__eval_save_child(&e->seats[e->pub.branch_count], out, scratch);
    phi__buf_text(out, "}}");
}

/* ---- restoring ---- */

/* Returns PHI_OK if config_count and the agent's view are the same as in the snapshot. */
static phi_status phi__eval_save_check(phi__agent *agent, const phi_json *root,
                                       size_t branch_count) {
    const phi_thread *thread = agent->thread;
    size_t count = phi_json_count(phi_json_get(root, "branches"));
    if (count != branch_count)
        return phi__error(agent->rt, PHI_BAD_ARG, "phi_evaluate: config_count is %u: expected %u",
                          (unsigned)branch_count, (unsigned)count);
    if (phi__records_get_size(root, "view") == thread->fold.count &&
        phi_str_equal(phi__records_get_str(root, "lane"),
                      phi__lane_name(thread, thread->lanes.active)) &&
        phi__records_get_u64(root, "entries") <= thread->log.count &&
        phi__lane_find(thread, phi__records_get_str(root, "forks")) != PHI__LANE_NONE)
        return PHI_OK;
    return phi__error(agent->rt, PHI_MISUSE,
                      "phi_evaluate: the history has changed since the snapshot");
}

static phi_status phi__eval_save_restore(phi__seat *seat, const phi_json *node,
                                         const phi_agent_desc *config) {
    phi__eval *e = seat->of;
    phi_agent_desc d = phi__eval_desc(e, config, phi__eval_is_judge(seat));
    phi_status status = PHI_NO_MEMORY;
    phi_agent child;
    phi__buf text;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) return PHI_OK; /* the host had freed the child */
    phi__buf_init(&text, &e->agent->memory);
    if (phi__json_write(&text, node, 0) == PHI_OK) {
        child = phi_agent_restore(e->agent->rt, &d, phi__buf_str(&text), PHI_RESTORE_RESUME);
        status = child.rt != NULL ? PHI_OK : phi__error_last(e->agent->rt, NULL);
    }
    phi__buf_free(&text);
    if (status != PHI_OK) return status;
    phi__eval_seat(seat, phi__find_agent(child));
    seat->runs = seat->child->run != NULL;
    if (!phi__eval_is_judge(seat)) e->branches[seat->index].agent = child;
    return PHI_OK;
}

/* Restores a branch. A branch with neither a run nor an outcome counts as cancelled. */
static phi_status phi__eval_save_get_branch(phi__eval *e, size_t i, const phi_json *node,
                                            const phi_agent_desc *config) {
    phi_branch *branch = &e->branches[i];
    int64_t status = phi_json_int(phi_json_get(node, "status"), 1);
    if (!phi__arena_str(&e->arena, phi__records_get_str(node, "loop_id"), &branch->loop_id) ||
        !phi__arena_str(&e->arena, phi__records_get_str(node, "text"), &branch->text))
        return PHI_NO_MEMORY;
    if (branch->loop_id.len == 0 || status > 0 || status < -100) return PHI_PARSE;
    branch->status = (phi_status)status;
    branch->usage = phi__message_read_get_usage(phi_json_get(node, "usage"));
    branch->cost = phi__records_get_double(node, "cost");
    branch->original_count = phi__records_get_size(node, "original_count");
    phi_status restored = phi__eval_save_restore(&e->seats[i], phi_json_get(node, "agent"), config);
    if (restored == PHI_OK && !e->seats[i].runs && branch->status == PHI_BUSY)
        branch->status = PHI_CANCELLED;
    return restored;
}

static phi_status phi__eval_save_get_judge(phi__eval *e, const phi_json *root,
                                           const phi_evaluate_desc *desc) {
    size_t index = e->pub.branch_count;
    if (desc->by != PHI_EVALUATE_JUDGE) return PHI_OK;
    if (!phi__session_saw(&e->agent->rt->sessions, e->agent->line.session, e->judge_id))
        return PHI_NO_MEMORY;
    if (!phi__records_get_bool(root, "judging")) return phi__eval_make_child(e, index, desc->judge);
    e->phase = PHI__EVAL_JUDGE;
    e->pub.judge_loop_id = e->judge_id;
    e->judge_status = PHI_CANCELLED; /* kept if the judge's run does not continue */
    return phi__eval_save_restore(&e->seats[index], phi_json_path(root, "judge.agent"),
                                  desc->judge);
}

/* Fills a new evaluation from a snapshot and restores its children. Fails with PHI_PARSE,
   PHI_NO_MEMORY, or the error of making a child. */
static phi_status phi__eval_save_get(phi__eval *e, const phi_json *root,
                                     const phi_evaluate_desc *desc) {
    phi_json_iter each = phi_json_each(phi_json_get(root, "branches"));
    const phi_json *node;
    phi_status status = PHI_OK;
    size_t i = 0;
    e->continues = phi__records_get_bool(root, "continues");
    e->candidates = phi__records_get_size(root, "candidates");
    e->lane = phi__lane_find(e->agent->thread, phi__records_get_str(root, "forks"));
    e->entries = phi__records_get_u64(root, "entries");
    if (!phi__arena_str(&e->arena, phi__records_get_str(root, "query"), &e->pub.query) ||
        !phi__arena_str(&e->arena, phi__records_get_str(root, "judge_id"), &e->judge_id))
        return PHI_NO_MEMORY;
    for (; status == PHI_OK && (node = phi_json_next(&each)) != NULL; i++)
        status = phi__eval_save_get_branch(e, i, node, &desc->configs[i]);
    if (status == PHI_OK) status = phi__eval_save_get_judge(e, root, desc);
    if (status == PHI_OK && !phi__eval_payers(e)) status = PHI_NO_MEMORY;
    if (status == PHI_OK && e->phase == PHI__EVAL_BRANCHES) {
        /* The saved budget counts the reservation for the judge's call as a request. Releases that
           request, and reserves the call again. If there is no room, the judge's own turn reports
           the limit. */
        char reason[160];
        phi_spending saved = PHI_ZERO;
        saved.requests = phi__records_get_u64(root, "held") > 0 ? 1 : 0;
        phi__budget_give(e->agent, &saved);
        uint64_t said =
            phi__projection_view_tokens(e->agent) + phi_tokens_of_text(NULL, e->pub.query);
        (void)phi__eval_hold(e, said, reason, sizeof reason);
    }
    return status;
}

/* ---- the judge's prompt and verdict ---- */

enum {
    PHI__JUDGE_LINES = 80,  /* lines of a text that tier 0 keeps; conformance C-63 */
    PHI__JUDGE_LEAST = 200, /* fewest bytes of a text after tier 2 */
    PHI__JUDGE_TIERS = 3,
    PHI__JUDGE_TOKEN_BYTES = 4 /* estimated bytes a token; see model/tokens.h */
};

static bool phi__judge_blank(phi_str s) { return phi__str_trim(s).len == 0; }

static bool phi__judge_has_text(const phi_message *message) {
    for (size_t i = 0; i < message->content_count; i++)
        if (message->content[i].kind == PHI_CONTENT_TEXT &&
            !phi__judge_blank(message->content[i].text))
            return true;
    return false;
}

PHI__FN void phi__judge_transcribe(phi__buf *out, const phi_message *message) {
    bool first = true;
    if (message->role == PHI_ROLE_EXTENSION || !phi__judge_has_text(message)) return;
    if (out->len > 0) phi__buf_char(out, '\n');
    if (message->role == PHI_ROLE_USER)
        phi__buf_text(out, "User: ");
    else if (message->role == PHI_ROLE_ASSISTANT)
        phi__buf_text(out, "Assistant: ");
    else {
        phi__buf_text(out, "Tool [");
        phi__buf_add_str(out, message->tool_name);
        phi__buf_text(out, "]: ");
    }
    for (size_t i = 0; i < message->content_count; i++) {
        if (message->content[i].kind != PHI_CONTENT_TEXT) continue;
        if (!first) phi__buf_char(out, '\n');
        phi__buf_add_str(out, message->content[i].text);
        first = false;
    }
}

PHI__FN void phi__judge_prompt(phi__buf *out, const phi__judge_case *c) {
    phi__texts_args args = PHI_ZERO;
    if (!phi__judge_blank(c->context)) {
        phi__texts_put(out, c->texts, PHI_TEXT_JUDGE_CONTEXT, NULL);
        phi__buf_char(out, '\n');
        phi__buf_add_str(out, c->context);
        phi__buf_text(out, "\n\n");
    }
    phi__texts_put(out, c->texts, PHI_TEXT_JUDGE_QUERY, NULL);
    phi__buf_char(out, '\n');
    phi__buf_add_str(out, c->query);
    for (size_t i = 0; i < c->count; i++) {
        args.n = (uint64_t)i + 1;
        phi__buf_text(out, "\n\n");
        phi__texts_put(out, c->texts, PHI_TEXT_JUDGE_RESPONSE, &args);
        phi__buf_char(out, '\n');
        phi__buf_add_str(out, c->responses[i]);
    }
    phi__buf_text(out, "\n\n");
    phi__texts_put(out, c->texts, PHI_TEXT_JUDGE_ASK, NULL);
}

/* ---- fitting the prompt into the judge's window ---- */

/* Fitting has two passes, because the judge compares the responses and needs the conversation less.
   The first pass shortens only the context. The second shortens the responses and leaves the
   context at its shortest. Each pass has three tiers, and each tier shortens the text that the
   previous tier left, so a text never grows. */

static bool phi__judge_join(phi_str *s, size_t head, const char *between, size_t tail,
                            phi_arena *arena) {
    size_t middle = strlen(between), end = s->len - tail;
    char *to = phi__arena_bytes(arena, phi__add(head + middle, end));
    if (to == NULL) return false;
    memcpy(to, s->at, head);
    memcpy(to + head, between, middle);
    memcpy(to + head + middle, s->at + tail, end);
    *s = phi__str(to, head + middle + end);
    return true;
}

/* Shortens *s. Tier 0 keeps the last lines. Tier 1 keeps the first and the last paragraph, if there
   are others between them. Tier 2 keeps `most` bytes including the dots. False: no memory. */
static bool phi__judge_shorten(phi_str *s, int tier, size_t most, phi_arena *arena) {
    static const char between[] = "\n\n...\n\n", dots[] = "...";
    size_t at = s->len, lines = 0;
    if (tier == 0) {
        while (at > 0 && (s->at[at - 1] != '\n' || ++lines < PHI__JUDGE_LINES)) at--;
        *s = phi__str_from(*s, at);
        return true;
    }
    if (tier == 1) {
        size_t head = phi__str_find(*s, 0, "\n\n");
        while (at >= 2 && (s->at[at - 1] != '\n' || s->at[at - 2] != '\n')) at--;
        if (head == SIZE_MAX || at < 2 || head + sizeof between - 1 >= at) return true;
        return phi__judge_join(s, head, between, at, arena);
    }
    if (s->len <= most) return true;
    return phi__judge_join(s, phi__utf8_cut(*s, most - (sizeof dots - 1)), dots, s->len, arena);
}

static uint64_t phi__judge_tokens(const phi__judge_case *c, const phi_token_counter *counter) {
    uint64_t sum = 0;
    for (size_t i = 0; i < c->count; i++) sum += phi_tokens_of_text(counter, c->responses[i]);
    return sum;
}

/* Returns how many bytes each of n texts may have, if they share `tokens`. Rounds down to whole
   tokens, because texts are counted in tokens. */
static size_t phi__judge_share(uint64_t tokens, size_t n) {
    uint64_t bytes = tokens < SIZE_MAX / 8 ? tokens / n * PHI__JUDGE_TOKEN_BYTES : SIZE_MAX / 2;
    return phi__max((size_t)bytes, PHI__JUDGE_LEAST);
}

PHI__FN phi_status phi__judge_fit(phi__judge_case *c, uint64_t max_tokens,
                                  const phi_token_counter *counter, phi_arena *arena) {
    uint64_t budget = max_tokens / 5 * 4 + max_tokens % 5 * 4 / 5;
    uint64_t said = phi__judge_tokens(c, counter);
    size_t i;
    if (max_tokens == 0) return PHI_OK;
    uint64_t rest = budget > said ? budget - said : 0;
    for (int tier = 0; phi_tokens_of_text(counter, c->context) + said > budget; tier++) {
        if (tier == PHI__JUDGE_TIERS) break;
        if (!phi__judge_shorten(&c->context, tier, phi__judge_share(rest, 1), arena))
            return PHI_NO_MEMORY;
    }
    for (int tier = 0; phi_tokens_of_text(counter, c->context) + said > budget; tier++) {
        if (tier == PHI__JUDGE_TIERS) return PHI_LIMIT;
        for (i = 0; i < c->count; i++)
            if (!phi__judge_shorten(&c->responses[i], tier, phi__judge_share(budget, c->count),
                                    arena))
                return PHI_NO_MEMORY;
        said = phi__judge_tokens(c, counter);
    }
    return PHI_OK;
}

static bool phi__judge_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

PHI__FN size_t phi__judge_verdict(phi_str reply, size_t count) {
    size_t i = 0;
    while (i < reply.len) {
        uint64_t n = 0;
        for (; i < reply.len && !phi__judge_space(reply.at[i]); i++) {
            char c = reply.at[i];
            if (c >= '0' && c <= '9' && n < UINT32_MAX) n = n * 10 + (uint64_t)(c - '0');
        }
        if (n >= 1 && n <= count) return (size_t)n - 1;
        i++;
    }
    return 0;
}

/* ---- the judge's query ---- */

/* Returns the index of the last user message in the view, or count if there is none. That message
   is the query if the evaluation has no prompt. */
static size_t phi__eval_judge_query_at(const phi_view_item *items, size_t count) {
    size_t i = count;
    while (i > 0)
        if (items[--i].message->role == PHI_ROLE_USER) return i;
    return count;
}

/* Returns the agent's view as it was when the evaluation began. False: it cannot be read. */
static bool phi__eval_judge_view(const phi__eval *e, phi_arena *arena, const phi_view_item **items,
                                 size_t *count) {
    const phi_thread *thread = e->agent->thread;
    phi_str lane = phi__lane_name(thread, e->lane);
    *items = NULL;
    *count = 0;
    return e->entries == 0 ||
           phi_thread_view(thread, lane.at, e->entries - 1, arena, items, count) == PHI_OK;
}

static phi_message phi__eval_message(const phi_content *content, size_t count) {
    phi_message message = PHI_ZERO;
    message.role = PHI_ROLE_USER;
    message.content = content;
    message.content_count = count;
    return message;
}

/* Sets pub.query to the text of the prompt or the last user message in view. False: no memory. */
static bool phi__eval_judge_query(phi__eval *e, const phi_content *content, size_t count) {
    const phi_view_item *items;
    phi_arena arena;
    bool failed = false;
    phi_message message = phi__eval_message(content, count);
    phi_arena_init(&arena, &e->agent->memory, 0);
    if (content == NULL) {
        size_t view = 0;
        failed = !phi__eval_judge_view(e, &arena, &items, &view);
        size_t at = phi__eval_judge_query_at(items, view);
        if (at < view) message = *items[at].message;
    }
    if (!failed) e->pub.query = phi_message_text(&message, "\n", &e->arena, &failed);
    phi_arena_free(&arena);
    return !failed;
}

/* Counts the branches that may win. */
static size_t phi__eval_judge_candidates(const phi__eval *e) {
    size_t n = 0;
    for (size_t i = 0; i < e->pub.branch_count; i++)
        if (phi__select_may_win(e->branches, e->pub.branch_count, i)) n++;
    return n;
}

/* Returns the branch that the judge named, or the first that may win if the judge failed. */
static size_t phi__eval_judge_selected(const phi__eval *e) {
    size_t left = e->judge_status == PHI_OK ? e->verdict : 0;
    for (size_t i = 0; i < e->pub.branch_count; i++) {
        if (!phi__select_may_win(e->branches, e->pub.branch_count, i)) continue;
        if (left-- == 0) return i;
    }
    return phi__select_first(e->branches, e->pub.branch_count);
}

/* Warns that the judge's prompt exceeds its window (conformance C-63). */
static bool phi__eval_judge_warn(phi__eval *e) {
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_TOOL_PROGRESS;
    event.tool_call_id = PHI__LIT("judge-compaction");
    event.tool_name = PHI__LIT("LlmJudgeEvaluation");
    event.text = PHI__LIT("The texts to compare are longer than the judge's context, even when "
                          "they are cut");
    return phi__events_emit(e->agent, &event);
}

/* Writes the judge's prompt, fitted into its window. It has only texts: of the conversation, and of
   the branches that may win. False: no memory. */
static bool phi__eval_judge_prompt(phi__eval *e, phi__buf *out) {
    const phi__agent *judge = e->seats[e->pub.branch_count].child;
    size_t end, count = e->pub.branch_count;
    const phi_view_item *items;
    phi__buf transcript;
    phi_arena arena;
    phi__judge_case c = PHI_ZERO;
    phi_status status = PHI_NO_MEMORY;
    phi__buf_init(&transcript, &e->agent->memory);
    phi_arena_init(&arena, &e->agent->memory, 0);
    c.query = e->pub.query;
    c.texts = e->agent->desc.texts;
    c.responses = (phi_str *)phi_arena_alloc(&arena, count * sizeof *c.responses);
    if (c.responses != NULL && phi__eval_judge_view(e, &arena, &items, &end)) {
        for (size_t i = 0; i < count; i++)
            if (phi__select_may_win(e->branches, count, i))
                c.responses[c.count++] = e->branches[i].text;
        if (e->continues) end = phi__eval_judge_query_at(items, end);
        for (size_t i = 0; i < end; i++) phi__judge_transcribe(&transcript, items[i].message);
        c.context = phi__buf_str(&transcript);
        if (!transcript.failed)
            status = phi__judge_fit(&c, judge->desc.compaction.max_context_tokens,
                                    phi__projection_counter(judge), &arena);
    }
    if (status != PHI_NO_MEMORY) phi__judge_prompt(out, &c);
    phi_arena_free(&arena);
    phi__buf_free(&transcript);
    if (status == PHI_LIMIT && !phi__eval_judge_warn(e)) status = PHI_NO_MEMORY;
    return status != PHI_NO_MEMORY && !out->failed;
}

/* Starts the judge's run. PHI_NO_MEMORY or PHI_STALE (the judge was freed): it did not start. */
static phi_status phi__eval_judge_begin(phi__eval *e) {
    phi__seat *seat = &e->seats[e->pub.branch_count];
    phi_content content;
    phi_status status = PHI_NO_MEMORY;
    char reason[160];
    phi__buf prompt;
    if (seat->child == NULL) return PHI_STALE;
    e->candidates = phi__eval_judge_candidates(e);
    phi__buf_init(&prompt, &e->agent->memory);
    phi__eval_give(e);
    if (phi__eval_judge_prompt(e, &prompt)) {
        content = phi__input_text(phi__buf_str(&prompt));
        status = phi__eval_run(seat, &content, 1);
    }
    /* Reserve now, before another run uses the budget. The judge's turn reserves again. */
    if (status == PHI_OK)
        (void)phi__reserve_call(
            seat->child->run,
            phi_tokens_of_text(phi__projection_counter(seat->child), content.text), reason,
            sizeof reason);
    if (status == PHI_OK) e->pub.judge_loop_id = e->judge_id;
    phi__buf_free(&prompt);
    return status;
}

/* ---- steps ---- */

enum { PHI__EVAL_POLL_US = 10000 }; /* pause between two calls of evaluate_fn */

/* Calls evaluate_fn. False: it freed the agent, or it has not selected yet. */
static bool phi__eval_ask(phi__eval *e, size_t *selected) {
    phi__agent *agent = e->agent;
    phi_agent handle = agent->handle;
    phi_evaluation pub = e->pub;
    size_t chosen = 0;
    phi_usage usage = PHI_ZERO;
    phi_status status = e->evaluate_fn(e->user_data, &pub, &chosen, &usage);
    if (!phi_agent_alive(handle)) return false;
    if (status == PHI_BUSY && phi__io_counted_us(agent->rt->io) < e->deadline_us) {
        phi__eval_later(e, PHI__EVAL_POLL_US);
        return false;
    }
    *selected = phi__select_first(e->branches, e->pub.branch_count);
    if (status == PHI_OK) {
        *selected = phi__min(chosen, e->pub.branch_count - 1);
        e->pub.evaluation_usage = usage;
    }
    return true;
}

static void phi__eval_look(phi__eval *e) {
    size_t selected = 0;
    if (e->agent->slot == NULL || e->phase == PHI__EVAL_OVER) return;
    for (size_t i = 0; i <= e->pub.branch_count; i++)
        if (e->seats[i].runs) return;
    /* The agent or an ancestor was aborted after the start, or the runtime is closing. */
    if (e->agent->tree.aborts != e->aborts || e->agent->rt->closing)
        phi__eval_conclude(e, PHI_CANCELLED, 0);
    else if (e->lost)
        phi__eval_conclude(e, PHI_NO_MEMORY, 0);
    else if (e->phase == PHI__EVAL_BRANCHES) {
        size_t count = e->pub.branch_count;
        phi__eval_sum(e);
        if (e->by == PHI_EVALUATE_CUSTOM) {
            phi__agent *agent = e->agent;
            uint32_t ms = agent->desc.deadlines.decision_ms;
            e->phase = PHI__EVAL_CUSTOM;
            agent->rt->active++; /* so that phi_step reports work */
            e->deadline_us = ms == PHI_UNLIMITED
                                 ? UINT64_MAX
                                 : phi__io_counted_us(agent->rt->io) + (uint64_t)ms * 1000;
            phi__eval_later(e, 0);
        } else if (e->by != PHI_EVALUATE_JUDGE)
            phi__eval_conclude(e, PHI_OK, phi__select_by(e->by, e->branches, count));
        else if (phi__eval_judge_candidates(e) < 2)
            phi__eval_conclude(e, PHI_OK, phi__select_first(e->branches, count));
        else {
            phi_status status = phi__eval_judge_begin(e);
            e->phase = PHI__EVAL_JUDGE;
            if (status == PHI_STALE)
                phi__eval_conclude(e, PHI_OK, phi__select_first(e->branches, count));
            if (status == PHI_NO_MEMORY) phi__eval_conclude(e, PHI_NO_MEMORY, 0);
        }
    } else if (e->phase == PHI__EVAL_JUDGE)
        phi__eval_conclude(e, PHI_OK, phi__eval_judge_selected(e));
    else if (phi__eval_ask(e, &selected))
        phi__eval_conclude(e, PHI_OK, selected);
}

static void phi__eval_timer(phi__timer *timer) {
    phi__eval_look(PHI__OWNER(timer, phi__eval, timer));
}

static void phi__eval_over(phi__agent *child, phi_status status, const phi_failure *failure,
                           bool stopping) {
    phi__seat *seat = (phi__seat *)child->tree.watched;
    (void)failure;
    (void)stopping;
    phi__eval_outcome(seat, status);
    phi__eval_look(seat->of);
}

static void phi__eval_gone(phi__agent *child) {
    /* A branch that the host has freed counts as cancelled, even if its run had ended. */
    phi__seat *seat = (phi__seat *)child->tree.watched;
    if (seat->runs) {
        phi__eval_outcome(seat, PHI_CANCELLED);
        phi__eval_later(seat->of, 0);
    }
    if (!phi__eval_is_judge(seat)) /* a freed branch's run can no longer be copied */
        seat->of->branches[seat->index].status = PHI_CANCELLED;
    seat->child = NULL;
}

/* ---- attaching to the agent ---- */

static void phi__eval_freed(phi__attached *attached) {
    phi__eval *e = PHI__OWNER(attached, phi__eval, attached);
    phi__agent *agent = e->agent;
    bool active = e->phase != PHI__EVAL_OVER;
    phi__eval_free(e);
    if (active) phi__events_unreserve(agent);
}

static const phi__attached_ops phi__eval_ops = {"phi.evaluation", phi__eval_save, NULL,
                                                phi__eval_freed};

/* Attaches the evaluation to its agent and frees the previous one. */
static void phi__eval_attach(phi__eval *e) {
    phi__agent *agent = e->agent;
    phi__eval_free(phi__eval_of(agent));
    phi__attached_saved_drop(agent, phi__eval_ops.name);
    phi__attached_add(agent, &e->attached, &phi__eval_ops);
    phi__find_hold(agent, "an evaluation is going on");
}

/* ---- checks ---- */

static phi_status phi__eval_check_config(phi_runtime *rt, const char *what,
                                         const phi_agent_desc *config) {
    if (config->store != NULL)
        return phi__error(rt, PHI_BAD_ARG, "phi_evaluate: %s.store: expected NULL", what);
    if (config->thread_id != NULL)
        return phi__error(rt, PHI_BAD_ARG, "phi_evaluate: %s.thread_id: expected NULL", what);
    return PHI_OK;
}

static phi_status phi__eval_check_desc(phi_runtime *rt, const phi_evaluate_desc *desc) {
    phi_status status = PHI_OK;
    char what[32];
    if (desc == NULL) return phi__error(rt, PHI_BAD_ARG, "phi_evaluate: desc is NULL");
    if (desc->configs == NULL || desc->config_count == 0)
        return phi__error(rt, PHI_BAD_ARG, "phi_evaluate: configs: expected at least one");
    if (desc->config_count > PHI_EVALUATE_MOST)
        return phi__error(rt, PHI_BAD_ARG, "phi_evaluate: config_count is %u: expected at most %u",
                          (unsigned)desc->config_count, (unsigned)PHI_EVALUATE_MOST);
    for (size_t i = 0; i < desc->config_count && status == PHI_OK; i++) {
        (void)snprintf(what, sizeof what, "configs[%u]", (unsigned)i);
        status = phi__eval_check_config(rt, what, &desc->configs[i]);
    }
    if (status != PHI_OK) return status;
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
                               : phi__eval_check_config(rt, "judge", desc->judge);
}

/* Returns the prompt as content, or NULL if there is none. */
static phi_status phi__eval_check_prompt(phi__agent *agent, const phi_evaluate_desc *desc,
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

static phi_status phi__eval_no_memory(phi__agent *agent) {
    return phi__error(agent->rt, PHI_NO_MEMORY, "phi_evaluate: out of memory");
}

static phi_status phi__eval_start(phi__eval *e, const phi_content *content, size_t count) {
    phi__agent *agent = e->agent;
    phi_thread *thread = agent->thread;
    char reason[160];
    if (!phi__eval_name_loops(e) || !phi__eval_payers(e)) return phi__eval_no_memory(agent);
    for (size_t i = 0; i < e->pub.branch_count; i++)
        if (phi__eval_run(&e->seats[i], content, count) != PHI_OK)
            return phi__eval_no_memory(agent);
    /* Reserves the most that the first call of each branch, and the judge's call, may cost. */
    const phi_message message = phi__eval_message(content, count);
    const phi_token_counter *counter = phi__projection_counter(agent);
    uint64_t prompt = content != NULL ? phi_tokens_of_message(counter, &message) : 0;
    bool room = true;
    for (size_t i = 0; room && i < e->pub.branch_count; i++)
        room = phi__reserve_call(e->seats[i].child->run, prompt, reason, sizeof reason);
    /* A branch's copy of the view has the results that the log gets below. */
    uint64_t view = phi__fold_tokens(&e->seats[0].child->thread->fold, counter);
    if (!room || !phi__eval_hold(e, view + prompt, reason, sizeof reason))
        return phi__error(agent->rt, PHI_LIMIT, "phi_evaluate: %s", reason);
    /* The log changes last: it gets a result for each call that lacks one. */
    if (!phi__thread_roll(thread, NULL) || !phi__append_answer_orphans(thread, agent->desc.texts))
        return phi__eval_no_memory(agent);
    e->entries = thread->log.count;
    if (!phi__eval_emit_start(e)) return phi__eval_no_memory(agent);
    phi__eval_count_loops(e);
    return PHI_OK;
}

/* Makes an evaluation without children, not yet attached to the agent. NULL: no memory. */
static phi__eval *phi__eval_new(phi__agent *agent, const phi_evaluate_desc *desc) {
    size_t count = desc->config_count;
    phi__eval *e = (phi__eval *)phi__alloc(&agent->memory, sizeof *e);
    if (e == NULL) return NULL;
    e->agent = agent;
    phi_arena_init(&e->arena, &agent->memory, 512);
    e->branches = (phi_branch *)phi__arena_zero(&e->arena, count * sizeof *e->branches);
    e->seats = (phi__seat *)phi__arena_zero(&e->arena, (count + 1) * sizeof *e->seats);
    e->timer.fire = phi__eval_timer;
    if (e->branches == NULL || e->seats == NULL ||
        phi__io_timer_set(agent->rt->io, &e->timer, UINT64_MAX) != PHI_OK) {
        phi__eval_free(e);
        return NULL;
    }
    e->pub.status = PHI_BUSY;
    e->pub.branches = e->branches;
    e->pub.branch_count = count;
    e->pub.selected = SIZE_MAX;
    e->by = desc->by;
    e->evaluate_fn = desc->evaluate_fn;
    e->user_data = desc->user_data;
    e->judge_status = PHI_BUSY;
    e->aborts = agent->tree.aborts;
    e->lane = agent->thread->lanes.active;
    e->entries = agent->thread->log.count;
    for (size_t i = 0; i <= count; i++) {
        e->seats[i].of = e;
        e->seats[i].index = i;
        e->seats[i].loop_id = i < count ? &e->branches[i].loop_id : &e->judge_id;
        if (i < count) e->branches[i].status = PHI_BUSY;
    }
    return e;
}

static phi_status phi__eval_all(phi__agent *agent, const phi_evaluate_desc *desc,
                                const phi_content *content, size_t count) {
    phi_status status = phi__recall_view(agent->thread, agent->thread->lanes.active, UINT64_MAX);
    if (status != PHI_OK)
        return phi__error(agent->rt, status, "phi_evaluate: the thread cannot be read: %s",
                          phi_status_text(status));
    if (!phi__events_reserve(agent)) return phi__eval_no_memory(agent);
    phi__posts_read_aborts(agent->rt); /* earlier aborts do not concern this evaluation */
    phi__eval *e = phi__eval_new(agent, desc);
    status =
        e != NULL && phi__eval_judge_query(e, content, count) ? PHI_OK : phi__eval_no_memory(agent);
    if (status == PHI_OK) {
        e->continues = content == NULL;
        for (size_t i = 0; i < desc->config_count && status == PHI_OK; i++)
            status = phi__eval_make_child(e, i, &desc->configs[i]);
        if (status == PHI_OK && desc->by == PHI_EVALUATE_JUDGE)
            status = phi__eval_make_child(e, desc->config_count, desc->judge);
    }
    if (status == PHI_OK) status = phi__eval_start(e, content, count);
    if (status == PHI_OK) {
        phi__eval_attach(e);
        return PHI_OK;
    }
    phi__eval_free(e);
    phi__events_unreserve(agent);
    return status;
}

/* Continues the evaluation in the agent's snapshot. */
static phi_status phi__eval_resume(phi__agent *agent, const phi_evaluate_desc *desc) {
    phi_str saved = phi__attached_saved(agent, "phi.evaluation");
    phi__eval *e = NULL;
    phi_json *root = NULL;
    phi_status status = PHI_OK;
    phi_arena arena;
    bool reserved = false;
    phi_arena_init(&arena, &agent->memory, 0);
    if (saved.len > 0) status = phi_json_parse(&arena, saved, 0, &root, NULL);
    if (status != PHI_OK)
        (void)phi__error(agent->rt, status, "phi_evaluate: %s", phi_status_text(status));
    else if (!phi_json_is(root, PHI_JSON_OBJECT))
        status = phi__error(agent->rt, PHI_NOT_FOUND, "phi_evaluate: no evaluation waits");
    else
        status = phi__eval_save_check(agent, root, desc->config_count);
    if (status == PHI_OK) {
        reserved = phi__events_reserve(agent);
        if (reserved) e = phi__eval_new(agent, desc);
        status = e != NULL ? phi__eval_save_get(e, root, desc) : PHI_NO_MEMORY;
        if (status == PHI_NO_MEMORY) (void)phi__eval_no_memory(agent);
        if (status == PHI_PARSE)
            (void)phi__error(agent->rt, status, "phi_evaluate: the snapshot does not fit together");
    }
    phi_arena_free(&arena);
    if (status == PHI_OK) {
        phi__eval_attach(e);
        phi__eval_later(e, 0);
        return PHI_OK;
    }
    phi__eval_free(e);
    if (reserved) phi__events_unreserve(agent);
    return status;
}

/* ---- public ---- */

PHI_API phi_status phi_evaluate(phi_agent handle, const phi_evaluate_desc *desc) {
    phi__agent *agent = phi__find_agent(handle);
    const phi_content *content = NULL;
    phi_content text;
    size_t count = 0;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return phi__error(handle.rt, PHI_STALE, "phi_evaluate: the agent is gone");
    phi_status status = phi__eval_check_desc(handle.rt, desc);
    if (status == PHI_OK) status = phi__agent_may_run(agent, "phi_evaluate");
    if (status == PHI_OK && desc->resume) return phi__eval_resume(agent, desc);
    if (status == PHI_OK) status = phi__eval_check_prompt(agent, desc, &text, &content, &count);
    return status == PHI_OK ? phi__eval_all(agent, desc, content, count) : status;
}

PHI_API phi_status phi_evaluation_result(phi_agent handle, phi_evaluation *out) {
    const phi__agent *agent = phi__find_agent(handle);
    const phi__eval *e = agent != NULL ? phi__eval_of(agent) : NULL;
    if (handle.rt == NULL || out == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    if (e == NULL) return PHI_NOT_FOUND;
    *out = e->pub;
    return PHI_OK;
}
