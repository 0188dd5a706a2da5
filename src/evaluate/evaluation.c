/* evaluation.c - makes and frees evaluations, follows their children, and reads off outcomes. */
#include "evaluate/evaluation_in.h"

#include "base/arena_in.h"
#include "evaluate/judge_in.h"
#include "model/message_in.h"

/* ---- children ---- */

PHI__FN bool phi__evaluation_is_judge(const phi__seat *seat) {
    return seat->index == seat->of->pub.branch_count;
}

PHI__FN void phi__evaluation_seat(phi__seat *seat, phi__agent *child,
                                  const phi__child_watch *watch) {
    seat->child = child;
    child->tree.watch = watch;
    child->tree.watched = seat;
    child->tree.in_place = !phi__evaluation_is_judge(seat);
    phi__find_hold(child, "it is a branch of an evaluation");
}

static phi__agent *phi__evaluation_leave(phi__seat *seat) {
    phi__agent *child = seat->child;
    if (child == NULL) return NULL;
    seat->child = NULL;
    child->tree.watch = NULL;
    child->tree.watched = NULL;
    phi__find_hold(child, NULL);
    return child;
}

PHI__FN void phi__evaluation_gone(phi__seat *seat) {
    if (seat->runs) {
        phi__evaluation_outcome(seat, PHI_CANCELLED);
        phi__evaluation_later(seat->of, 0);
    }
    if (!phi__evaluation_is_judge(seat)) /* nothing of it can be copied any more */
        seat->of->branches[seat->index].status = PHI_CANCELLED;
    seat->child = NULL;
}

PHI__FN void phi__evaluation_unseat(phi__seat *seat) {
    phi__agent *child = phi__evaluation_leave(seat);
    if (child == NULL) return;
    phi__find_hold(child, "it was a branch of an evaluation that is over"); /* until it is freed */
    phi__one_shot_run_last(child);
}

/* ---- the evaluation ---- */

PHI__FN phi__evaluation *phi__evaluation_new(phi__agent *agent, size_t branch_count) {
    phi__evaluation *e = (phi__evaluation *)phi__alloc(&agent->memory, sizeof *e);
    size_t i;
    if (e == NULL) return NULL;
    e->agent = agent;
    phi_arena_init(&e->arena, &agent->memory, 512);
    e->branches = (phi_branch *)phi__arena_zero(&e->arena, branch_count * sizeof *e->branches);
    e->seats = (phi__seat *)phi__arena_zero(&e->arena, (branch_count + 1) * sizeof *e->seats);
    if (e->branches == NULL || e->seats == NULL) {
        phi_arena_free(&e->arena);
        phi__free(&agent->memory, e, sizeof *e);
        return NULL;
    }
    e->pub.status = PHI_BUSY;
    e->pub.branches = e->branches;
    e->pub.branch_count = branch_count;
    e->pub.selected = SIZE_MAX;
    e->judge_status = PHI_BUSY;
    e->aborts = agent->tree.aborts;
    e->lane = agent->thread->lanes.active;
    e->entries = agent->thread->log.count;
    for (i = 0; i <= branch_count; i++) {
        e->seats[i].of = e;
        e->seats[i].index = i;
        if (i < branch_count) e->branches[i].status = PHI_BUSY;
    }
    return e;
}

PHI__FN void phi__evaluation_free(phi__evaluation *e) {
    phi__agent *agent;
    size_t i;
    if (e == NULL) return;
    agent = e->agent;
    phi__attached_remove(&e->attached);
    if (e->phase == PHI__EVALUATION_CUSTOM) agent->rt->active--;
    phi__io_timer_clear(agent->rt->io, &e->timer);
    phi__evaluation_give(e);
    for (i = 0; i <= e->pub.branch_count; i++) {
        phi__agent *child = phi__evaluation_leave(&e->seats[i]);
        if (child != NULL) phi__agent_end_drop(child);
    }
    phi_arena_free(&e->arena);
    phi__free(&agent->memory, e, sizeof *e);
}

PHI__FN phi__evaluation *phi__evaluation_of(const phi__agent *agent) {
    phi__attached *attached = phi__attached_find(agent, "phi.evaluation");
    return attached != NULL ? PHI__OWNER(attached, phi__evaluation, attached) : NULL;
}

PHI__FN bool phi__evaluation_aborted(const phi__evaluation *e) {
    return e->agent->tree.aborts != e->aborts || e->agent->rt->closing;
}

PHI__FN bool phi__evaluation_any_runs(const phi__evaluation *e) {
    size_t i;
    for (i = 0; i <= e->pub.branch_count; i++)
        if (e->seats[i].runs) return true;
    return false;
}

PHI__FN void phi__evaluation_later(phi__evaluation *e, uint64_t after_us) {
    phi__io *io = e->agent->rt->io;
    (void)phi__io_timer_set(io, &e->timer, phi__io_now_us(io) + after_us); /* it has its place */
}

/* ---- the judge's reservation ---- */

/* By handle: an agent that is freed has left the tree before its evaluation hears of it. */
PHI__FN bool phi__evaluation_payers(phi__evaluation *e) {
    const phi__agent *agent;
    size_t n = 0;
    for (agent = e->agent; agent != NULL; agent = agent->tree.parent) n++;
    e->payers = (phi_agent *)phi_arena_alloc(&e->arena, n * sizeof *e->payers);
    if (e->payers == NULL) return false;
    for (agent = e->agent; agent != NULL; agent = agent->tree.parent)
        e->payers[e->payer_count++] = agent->handle;
    return true;
}

PHI__FN void phi__evaluation_give(phi__evaluation *e) {
    size_t i;
    for (i = 0; e->held.requests > 0 && i < e->payer_count; i++) {
        phi__agent *payer = phi__find_agent(e->payers[i]);
        if (payer != NULL) phi__limits_budget_give(payer, &e->held);
    }
    memset(&e->held, 0, sizeof e->held);
}

/* ---- outcomes ---- */

/* The last answer with text that the child's run has made. */
static bool phi__evaluation_text(const phi__agent *child, size_t from, phi_arena *arena,
                                 phi_str *out) {
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

static void phi__evaluation_judged(phi__evaluation *e, const phi__agent *judge, phi_status status) {
    phi_arena scratch;
    phi_str text = {"", 0};
    phi_arena_init(&scratch, &e->agent->memory, 0);
    e->judge_status = status;
    e->pub.evaluation_usage = judge->spent.run_usage;
    e->pub.evaluation_cost = judge->spent.run_cost;
    if (!phi__evaluation_text(judge, 0, &scratch, &text)) e->lost = true;
    e->verdict = phi__judge_verdict(text, e->candidates);
    phi_arena_free(&scratch);
}

PHI__FN void phi__evaluation_outcome(phi__seat *seat, phi_status status) {
    phi__evaluation *e = seat->of;
    const phi__agent *child = seat->child;
    phi_branch *branch;
    seat->runs = false;
    if (phi__evaluation_is_judge(seat)) {
        phi__evaluation_judged(e, child, status);
        return;
    }
    branch = &e->branches[seat->index];
    branch->status = status;
    branch->usage = child->spent.run_usage;
    branch->cost = child->spent.run_cost;
    if (!phi__evaluation_text(child, branch->original_count, &e->arena, &branch->text))
        e->lost = true;
}

PHI__FN void phi__evaluation_sum(phi__evaluation *e) {
    phi_evaluation *pub = &e->pub;
    size_t i;
    pub->total_usage = pub->evaluation_usage;
    pub->total_cost = pub->evaluation_cost;
    for (i = 0; i < pub->branch_count; i++) {
        phi__message_add_usage(&pub->total_usage, &e->branches[i].usage);
        pub->total_cost += e->branches[i].cost;
    }
}
