/* saving.c - an evaluation as a member of its agent's snapshot, and back.

   Each child is saved as an agent of its own is: a branch that has ended too, since its run is not
   in the agent's log yet. While evaluate_fn is called, the snapshot is one of branches that have
   all ended: it is called anew. */
#include "evaluate/saving_in.h"

#include "agent/snapshot.h"
#include "evaluate/branches_in.h"
#include "model/message_in.h"
#include "model/tokens.h"
#include "text/records_in.h"

/* ---- writing ---- */

static void phi__saving_child(const phi__seat *seat, phi__buf *out, phi_arena *scratch) {
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

static void phi__saving_branch(const phi__evaluation *e, size_t i, phi__buf *out,
                               phi_arena *scratch) {
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
    phi__saving_child(&e->seats[i], out, scratch);
    phi__buf_char(out, '}');
}

PHI__FN void phi__saving_put(const phi__evaluation *e, phi__buf *out, phi_arena *scratch) {
    const phi_thread *thread = e->agent->thread;
    size_t i;
    if (e->phase == PHI__EVALUATION_OVER) {
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
    for (i = 0; i < e->pub.branch_count; i++) phi__saving_branch(e, i, out, scratch);
    phi__buf_char(out, ']');
    phi__records_bool(out, "judging", e->phase == PHI__EVALUATION_JUDGE);
    phi__records_raw(out, "judge", "{");
    if (e->phase == PHI__EVALUATION_JUDGE)
        phi__saving_child(&e->seats[e->pub.branch_count], out, scratch);
    phi__buf_text(out, "}}");
}

/* ---- reading ---- */

static phi_status phi__saving_parse(phi__agent *agent, phi_arena *arena, phi_json **root) {
    phi_str text = phi__attached_saved(agent, "phi.evaluation");
    phi_status status = PHI_NOT_FOUND;
    if (text.len > 0) status = phi_json_parse(arena, text, 0, root, NULL);
    if (status == PHI_OK && !phi_json_is(*root, PHI_JSON_OBJECT)) status = PHI_NOT_FOUND;
    return status;
}

static phi_status phi__saving_check(phi__agent *agent, const phi_json *root, size_t branch_count) {
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

PHI__FN phi_status phi__saving_waits(phi__agent *agent, size_t branch_count) {
    phi_json *root = NULL;
    phi_arena arena;
    phi_status status;
    phi_arena_init(&arena, &agent->memory, 0);
    status = phi__saving_parse(agent, &arena, &root);
    if (status == PHI_OK)
        status = phi__saving_check(agent, root, branch_count);
    else
        status =
            phi__error(agent->rt, status, "phi_evaluate: %s",
                       status == PHI_NOT_FOUND ? "no evaluation waits" : phi_status_text(status));
    phi_arena_free(&arena);
    return status;
}

static phi_status phi__saving_restore(phi__seat *seat, const phi_json *node,
                                      const phi_agent_desc *config, const phi__child_watch *watch) {
    phi__evaluation *e = seat->of;
    phi_agent_desc d = phi__branches_desc(e, config, phi__evaluation_is_judge(seat));
    phi_status status = PHI_NO_MEMORY;
    phi_agent child;
    phi__buf text;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) return PHI_OK; /* the host had freed it */
    phi__buf_init(&text, &e->agent->memory);
    if (phi__json_write(&text, node, 0) == PHI_OK) {
        child = phi_agent_restore(e->agent->rt, &d, phi__buf_str(&text), PHI_RESTORE_RESUME);
        status = child.rt != NULL ? PHI_OK : phi__error_last(e->agent->rt, NULL);
    }
    phi__buf_free(&text);
    if (status != PHI_OK) return status;
    phi__evaluation_seat(seat, phi__find_agent(child), watch);
    seat->runs = seat->child->run != NULL;
    if (!phi__evaluation_is_judge(seat)) e->branches[seat->index].agent = child;
    return PHI_OK;
}

/* A branch without a run and without an outcome ended as its snapshot was restored: it counts as
   cancelled. */
static phi_status phi__saving_get_branch(phi__evaluation *e, size_t i, const phi_json *node,
                                         const phi_agent_desc *config,
                                         const phi__child_watch *watch) {
    phi_branch *branch = &e->branches[i];
    int64_t status = phi_json_int(phi_json_get(node, "status"), 1);
    phi_status restored;
    if (!phi__arena_str(&e->arena, phi__records_get_str(node, "loop_id"), &branch->loop_id) ||
        !phi__arena_str(&e->arena, phi__records_get_str(node, "text"), &branch->text))
        return PHI_NO_MEMORY;
    if (branch->loop_id.len == 0 || status > 0 || status < -100) return PHI_PARSE;
    branch->status = (phi_status)status;
    branch->usage = phi__message_read_get_usage(phi_json_get(node, "usage"));
    branch->cost = phi__records_get_double(node, "cost");
    branch->original_count = phi__records_get_size(node, "original_count");
    restored = phi__saving_restore(&e->seats[i], phi_json_get(node, "agent"), config, watch);
    if (restored == PHI_OK && !e->seats[i].runs && branch->status == PHI_BUSY)
        branch->status = PHI_CANCELLED;
    return restored;
}

/* The reservation for the judge's call is in the saved budget as a request; it is made anew, and
   where there is no room, the judge's own turn says so. */
static void phi__saving_hold(phi__evaluation *e, const phi_json *root) {
    phi_spending saved;
    char reason[160];
    memset(&saved, 0, sizeof saved);
    saved.requests = phi__records_get_u64(root, "held") > 0 ? 1 : 0;
    phi__limits_budget_give(e->agent, &saved);
    (void)phi__branches_hold(e, phi_tokens_of_text(NULL, e->pub.query), reason, sizeof reason);
}

static phi_status phi__saving_get_judge(phi__evaluation *e, const phi_json *root,
                                        const phi_evaluate_desc *desc,
                                        const phi__child_watch *watch) {
    size_t index = e->pub.branch_count;
    phi_status status;
    if (desc->by != PHI_EVALUATE_JUDGE) return PHI_OK;
    if (!phi__session_saw(&e->agent->rt->sessions, e->agent->line.session, e->judge_id))
        return PHI_NO_MEMORY;
    if (!phi__records_get_bool(root, "judging"))
        return phi__branches_make(e, index, desc->judge, watch);
    e->phase = PHI__EVALUATION_JUDGE;
    e->pub.judge_loop_id = e->judge_id;
    e->judge_status = PHI_CANCELLED; /* unless its run goes on */
    status = phi__saving_restore(
        &e->seats[index], phi_json_get(phi_json_get(root, "judge"), "agent"), desc->judge, watch);
    return status;
}

static phi_status phi__saving_read(phi__evaluation *e, const phi_json *root,
                                   const phi_evaluate_desc *desc, const phi__child_watch *watch) {
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
    while (status == PHI_OK && (node = phi_json_next(&each)) != NULL) {
        status = phi__saving_get_branch(e, i, node, &desc->configs[i], watch);
        i++;
    }
    if (status == PHI_OK) status = phi__saving_get_judge(e, root, desc, watch);
    if (status == PHI_OK && !phi__evaluation_payers(e)) status = PHI_NO_MEMORY;
    if (status == PHI_OK && e->phase == PHI__EVALUATION_BRANCHES) phi__saving_hold(e, root);
    return status;
}

PHI__FN phi_status phi__saving_get(phi__evaluation *e, const phi_evaluate_desc *desc,
                                   const phi__child_watch *watch) {
    phi__agent *agent = e->agent;
    phi_json *root = NULL;
    phi_arena arena;
    phi_status status;
    phi_arena_init(&arena, &agent->memory, 0);
    status = phi__saving_parse(agent, &arena, &root);
    if (status == PHI_OK) status = phi__saving_read(e, root, desc, watch);
    phi_arena_free(&arena);
    if (status == PHI_NO_MEMORY)
        return phi__error(agent->rt, status, "phi_evaluate: out of memory");
    if (status == PHI_PARSE)
        return phi__error(agent->rt, status, "phi_evaluate: the snapshot does not fit together");
    return status;
}
