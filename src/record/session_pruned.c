/* session_pruned.c - finds the messages of a session that its PrunApplied events took out of view.

   An event names messages by their timestamps. Several may have the same: each timestamp takes the
   oldest that is left. A prune takes whole groups, so the rest of a group goes along. */
#include "record/session_context_in.h"
#include "record/event_json.h"

#include "agent/agent.h"
#include "history/fold_in.h"
#include "history/prune_in.h"
#include "wire/hash_in.h"
#include "model/event_parts.h"

/* An answer or a result. `next` and `answer` are places in the list, plus 1; 0: none. */
typedef struct phi__session_pruned_said {
    const phi_message *message;
    phi__session_mark *mark;
    size_t loop;   /* its place in the way: older loops have higher ones */
    size_t next;   /* the next one of this timestamp */
    size_t answer; /* of a result: the nearest answer that made its call */
} phi__session_pruned_said;

/* A timestamp, and the oldest message with it that is left. */
typedef struct phi__session_pruned_time {
    bool used;
    int64_t at_ms;
    size_t first;
} phi__session_pruned_time;

typedef struct phi__session_pruned {
    const phi__session_context_way *way;
    phi_arena *scratch;
    phi_arena *kept; /* of memos */
    phi__session_pruned_said *said;
    size_t count;
    phi__session_pruned_time *times;
    size_t time_mask;
} phi__session_pruned;

static bool phi__session_pruned_is_prune(phi_str json) {
    phi__json_found type;
    return phi__json_cursor_find(json, "type", &type) == PHI_OK && type.type == PHI_JSON_STRING &&
           phi__str_is(type.raw, "PrunApplied");
}

static bool phi__session_pruned_any(const phi__session_context_way *way, size_t *messages) {
    bool any = false;
    size_t i, j;
    *messages = 0;
    for (i = 0; i < way->all; i++) {
        *messages = phi__add(*messages, way->loops[i]->message_count);
        for (j = 0; j < way->loops[i]->event_count && !any; j++)
            any = phi__session_pruned_is_prune(way->loops[i]->events[j].json);
    }
    return any;
}

/* ---- the messages ---- */

static phi__session_pruned_time *phi__session_pruned_at(phi__session_pruned *p, int64_t at_ms) {
    phi_str bytes = phi__str((const char *)(const void *)&at_ms, sizeof at_ms);
    size_t i = (size_t)phi__hash(bytes, 0) & p->time_mask;
    while (p->times[i].used && p->times[i].at_ms != at_ms) i = (i + 1) & p->time_mask;
    return &p->times[i];
}

static bool phi__session_pruned_begin(phi__session_pruned *p, phi__session_context_way *way,
                                      size_t messages) {
    size_t slots = 16, at = 0, i;
    phi__session_mark *marks;
    while (slots / 2 < messages && slots < SIZE_MAX / 4) slots *= 2;
    marks = (phi__session_mark *)phi__arena_zero(p->scratch, phi__mul(messages, sizeof *marks));
    way->marks =
        (phi__session_mark **)phi__arena_zero(p->scratch, phi__mul(way->all, sizeof *way->marks));
    p->said = (phi__session_pruned_said *)phi__arena_zero(p->scratch,
                                                          phi__mul(messages, sizeof *p->said));
    p->times =
        (phi__session_pruned_time *)phi__arena_zero(p->scratch, phi__mul(slots, sizeof *p->times));
    if (marks == NULL || way->marks == NULL || p->said == NULL || p->times == NULL) return false;
    p->time_mask = slots - 1;
    p->way = way;
    for (i = way->all; i-- > 0; at += way->loops[i]->message_count) way->marks[i] = marks + at;
    return true;
}

/* The answers and results of the way, the oldest first. False: no memory. */
static bool phi__session_pruned_list(phi__session_pruned *p) {
    phi_memory *memory = p->scratch->memory;
    size_t i, j, *callers;
    for (i = p->way->all; i-- > 0;)
        for (j = 0; j < p->way->loops[i]->message_count; j++) {
            const phi_message *message = &p->way->loops[i]->messages[j];
            phi__session_pruned_said *said = &p->said[p->count];
            if (message->role != PHI_ROLE_ASSISTANT && message->role != PHI_ROLE_TOOL_RESULT)
                continue;
            p->count++;
            said->message = message;
            said->mark = &p->way->marks[i][j];
            said->loop = i;
        }
    callers = phi__groups_find(memory, p->said, sizeof *p->said, p->count);
    if (callers == NULL) return false;
    for (i = 0; i < p->count; i++)
        if (callers[i] != SIZE_MAX) p->said[i].answer = callers[i] + 1;
    phi__groups_free(memory, p->count, callers);
    return true;
}

static void phi__session_pruned_index(phi__session_pruned *p) {
    size_t i;
    for (i = p->count; i-- > 0;) {
        phi__session_pruned_time *time =
            phi__session_pruned_at(p, p->said[i].message->timestamp_ms);
        p->said[i].next = time->first;
        time->used = true;
        time->at_ms = p->said[i].message->timestamp_ms;
        time->first = i + 1;
    }
}

/* ---- the events ---- */

/* The oldest message left of that time, of loop `loop` or an earlier one; SIZE_MAX: none. */
static size_t phi__session_pruned_take(phi__session_pruned *p, int64_t at_ms, size_t loop) {
    phi__session_pruned_time *time = phi__session_pruned_at(p, at_ms);
    size_t at = time->first;
    if (at == 0 || p->said[at - 1].loop < loop) return SIZE_MAX;
    time->first = p->said[at - 1].next;
    p->said[at - 1].mark->gone = true;
    return at - 1;
}

static phi_status phi__session_pruned_apply(phi__session_pruned *p, size_t loop, phi_str json) {
    phi_event event;
    phi_status status = phi_event_from_json(json, p->scratch, &event, NULL);
    size_t i, first = SIZE_MAX;
    if (status == PHI_NO_MEMORY) return status;
    if (status != PHI_OK || event.pruned == NULL) return PHI_OK;
    for (i = 0; i < event.pruned->timestamp_count; i++)
        first = phi__min(first, phi__session_pruned_take(p, event.pruned->timestamps[i], loop));
    if (first == SIZE_MAX || event.pruned->memo.len == 0) return PHI_OK;
    p->said[first].mark->memo =
        phi__prune_memo(event.pruned->memo, p->said[first].message, p->way->config.texts, p->kept);
    return p->said[first].mark->memo != NULL ? PHI_OK : PHI_NO_MEMORY;
}

/* If one message of a group is gone, all are. */
static void phi__session_pruned_join(phi__session_pruned *p) {
    size_t i;
    for (i = 0; i < p->count; i++)
        if (p->said[i].answer > 0 && p->said[i].mark->gone)
            p->said[p->said[i].answer - 1].mark->gone = true;
    for (i = 0; i < p->count; i++)
        if (p->said[i].answer > 0 && p->said[p->said[i].answer - 1].mark->gone)
            p->said[i].mark->gone = true;
}

PHI__FN phi_status phi__session_pruned_find(phi__session_context_way *way, phi_arena *scratch,
                                            phi_arena *kept) {
    phi__session_pruned p;
    phi_status status = PHI_OK;
    size_t messages, i, j;
    if (!phi__session_pruned_any(way, &messages) || messages == 0) return PHI_OK;
    memset(&p, 0, sizeof p);
    p.scratch = scratch;
    p.kept = kept;
    if (!phi__session_pruned_begin(&p, way, messages)) return PHI_NO_MEMORY;
    if (!phi__session_pruned_list(&p)) return PHI_NO_MEMORY;
    phi__session_pruned_index(&p);
    for (i = way->all; i-- > 0 && status == PHI_OK;)
        for (j = 0; j < way->loops[i]->event_count && status == PHI_OK; j++)
            if (phi__session_pruned_is_prune(way->loops[i]->events[j].json))
                status = phi__session_pruned_apply(&p, i, way->loops[i]->events[j].json);
    phi__session_pruned_join(&p);
    return status;
}
