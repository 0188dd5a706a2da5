/* conclude.c - the end of an evaluation, and the events around it.

   The runs are copied in the order of their configurations, whichever ended first, so that the log
   does not depend on the network. */
#include "evaluate/conclude_in.h"

#include "history/graft_in.h"
#include "loop/head_in.h"
#include "model/message_in.h"
#include "persist/recall_in.h"
#include "text/records_in.h"
#include "model/event_parts.h"

/* ---- events ---- */

/* Strings of events live as long as the thread. */
static bool phi__conclude_ids(const phi__evaluation *e, phi_arena *room, phi_parallel *out) {
    phi_str *ids = (phi_str *)phi_arena_alloc(room, e->pub.branch_count * sizeof *ids);
    size_t i;
    if (ids == NULL) return false;
    for (i = 0; i < e->pub.branch_count; i++)
        if (!phi__arena_str(room, e->branches[i].loop_id, &ids[i])) return false;
    out->loop_ids = ids;
    out->loop_count = e->pub.branch_count;
    return true;
}

static phi_parallel *phi__conclude_parallel(const phi__evaluation *e) {
    phi__agent *agent = e->agent;
    phi_arena *room;
    phi_parallel *out;
    if (!phi__thread_roll(agent->thread, NULL)) return NULL;
    room = phi__thread_room(agent->thread);
    out = (phi_parallel *)phi__arena_zero(room, sizeof *out);
    if (out == NULL || !phi__arena_str(room, agent->line.session->id, &out->session_id))
        return NULL;
    return out;
}

PHI__FN bool phi__conclude_emit_start(const phi__evaluation *e) {
    phi_parallel *parallel = phi__conclude_parallel(e);
    phi_event event;
    if (parallel == NULL || !phi__conclude_ids(e, phi__thread_room(e->agent->thread), parallel))
        return false;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_PARALLEL_START;
    event.parallel = parallel;
    return phi__events_emit(e->agent, &event, NULL, 0);
}

/* Without memory its figures are empty. */
static void phi__conclude_emit_end(const phi__evaluation *e) {
    static const phi_parallel nothing = {{"", 0}, NULL, 0, {"", 0}, 0, {0, 0, 0, 0, 0, 0}};
    phi_parallel *parallel = phi__conclude_parallel(e);
    phi_event event;
    memset(&event, 0, sizeof event);
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
}

/* ---- the log ---- */

static bool phi__conclude_lane_name(const char *prefix, phi_str loop_id, phi_arena *arena,
                                    phi_str *out) {
    size_t head = strlen(prefix), len = head + loop_id.len;
    char *to = (char *)phi_arena_alloc(arena, phi__add(len, 1));
    if (to == NULL) return false;
    memcpy(to, prefix, head);
    if (loop_id.len > 0) memcpy(to + head, loop_id.at, loop_id.len);
    to[len] = '\0';
    *out = phi__str(to, len);
    return true;
}

/* The lane of that name; where there is none it begins, as a fork of the one that was active when
   the evaluation began, or empty. */
static phi_status phi__conclude_lane(phi__evaluation *e, phi_str name, bool forks, uint32_t *lane) {
    phi_thread *thread = e->agent->thread;
    bool any = forks && e->entries > 0;
    *lane = phi__lane_find(thread, name);
    if (*lane != PHI__LANE_NONE) return PHI_OK;
    return phi__lane_new(thread, name, any ? e->lane : (uint32_t)PHI__LANE_NONE,
                         any ? e->entries - 1 : 0, lane);
}

/* A child that the host has freed left nothing to copy, and has no lane. */
static phi_status phi__conclude_copy_one(phi__evaluation *e, size_t i, const char *prefix,
                                         phi_str loop_id, phi_str *out) {
    const phi__agent *child = e->seats[i].child;
    phi_status status;
    phi_str name;
    uint32_t lane = 0;
    if (child == NULL) return PHI_OK;
    if (!phi__conclude_lane_name(prefix, loop_id, &e->arena, &name)) return PHI_NO_MEMORY;
    status = phi__conclude_lane(e, name, i < e->pub.branch_count, &lane);
    if (status == PHI_OK) status = phi__graft_run(e->agent->thread, lane, child->thread, loop_id);
    if (status == PHI_OK && out != NULL) *out = name;
    return status;
}

/* The judge's lane begins empty: it saw nothing of the thread. */
static phi_status phi__conclude_copy(phi__evaluation *e) {
    phi_status status = PHI_OK;
    size_t i;
    for (i = 0; i < e->pub.branch_count && status == PHI_OK; i++)
        status =
            phi__conclude_copy_one(e, i, "branch/", e->branches[i].loop_id, &e->branches[i].lane);
    if (status != PHI_OK || e->pub.judge_loop_id.len == 0) return status;
    return phi__conclude_copy_one(e, i, "~judge/", e->judge_id, NULL);
}

static void phi__conclude_put_list(phi__buf *out, const char *key, const phi__evaluation *e,
                                   bool lanes) {
    size_t i;
    phi__records_raw(out, key, "[");
    for (i = 0; i < e->pub.branch_count; i++) {
        phi__json_write_comma(out);
        phi__json_write_str(out, lanes ? e->branches[i].lane : e->branches[i].loop_id);
    }
    phi__buf_char(out, ']');
}

static phi_status phi__conclude_note(phi__evaluation *e, size_t selected) {
    phi__agent *agent = e->agent;
    phi_status status = PHI_NO_MEMORY;
    phi__buf note;
    phi__buf_init(&note, &agent->memory);
    phi__buf_char(&note, '{');
    phi__records_str(&note, "session_id", agent->line.session->id);
    phi__conclude_put_list(&note, "loop_ids", e, false);
    phi__conclude_put_list(&note, "lanes", e, true);
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

/* The parent of the next run is the selected one. */
static phi_status phi__conclude_select(phi__evaluation *e, size_t selected) {
    phi__agent *agent = e->agent;
    const phi_branch *branch = &e->branches[selected];
    phi_status status = PHI_OK;
    phi_str last;
    if (!phi__agent_take_own(agent, branch->loop_id.at, &last)) return PHI_NO_MEMORY;
    status = phi__conclude_note(e, selected);
    if (status == PHI_OK && branch->lane.len > 0)
        status = phi_thread_switch(agent->thread, branch->lane.at);
    /* if memory ends, the next request makes a new head */
    if (status == PHI_OK && e->seats[selected].child != NULL)
        (void)phi__head_copy(agent, e->seats[selected].child);
    if (status != PHI_OK) {
        phi__agent_take_disown(agent, &last);
        return status;
    }
    phi__line_take_last(agent, last);
    e->pub.selected = selected;
    return PHI_OK;
}

/* ---- public to the room ---- */

PHI__FN void phi__conclude(phi__evaluation *e, phi_status status, size_t selected) {
    phi__agent *agent = e->agent;
    phi_status copied = phi__conclude_copy(e);
    size_t i;
    if (status == PHI_OK) status = copied;
    if (status == PHI_OK) status = phi__conclude_select(e, selected);
    e->pub.status = status;
    phi__evaluation_sum(e);
    phi__limits_charge_runs(agent, &e->pub.total_usage, e->pub.total_cost);
    phi__line_count(agent, agent->line.loops + (uint32_t)e->pub.branch_count);
    phi__line_active(agent);
    phi__evaluation_give(e);
    phi__io_timer_clear(agent->rt->io, &e->timer);
    if (e->phase == PHI__EVALUATION_CUSTOM) agent->rt->active--;
    e->phase = PHI__EVALUATION_OVER;
    for (i = 0; i <= e->pub.branch_count; i++) phi__evaluation_unseat(&e->seats[i]);
    phi__find_hold(agent, NULL);
    phi__conclude_emit_end(e);
    phi__events_unreserve(agent);
}
