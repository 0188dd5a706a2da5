/* session_context.c - loads the messages of a session through its compaction blocks, and makes such
   blocks.

   The way to a loop is the list of its ancestors, newest first. The scope then shortens this list.
   Each remaining loop adds its messages to a list, in two passes: the first counts them and the
   second copies them. */
#include "record/session_in.h"

#include "agent/agent.h"
#include "log/log_in.h"
#include "model/event_parts.h"
#include "persist/persist_in.h"
#include "record/event_json.h"
#include "wire/wire_in.h"

#include <stdio.h>

/* ---- messages that prunes removed from view (PrunApplied events) ---- */

/* A PrunApplied event names messages by their timestamps. If several messages have the same
   timestamp, each mention takes the oldest message not yet taken. A prune takes whole groups, so
   all messages of a group are removed together. */

/* An answer or a tool result. `next` and `answer` are indexes in the list plus 1; 0 if none. */
typedef struct phi__pruned_said {
    const phi_message *message;
    phi__session_mark *mark;
    size_t loop;   /* index of the loop in the way; older loops have higher indexes */
    size_t next;   /* next message with the same timestamp */
    size_t answer; /* for a result: the nearest answer that has its call */
} phi__pruned_said;

/* A timestamp, and the oldest message with this timestamp that is not taken. */
typedef struct phi__pruned_time {
    bool used;
    int64_t at_ms;
    size_t first;
} phi__pruned_time;

typedef struct phi__session_pruned {
    const phi__way_way *way;
    phi_arena *scratch;
    phi_arena *kept; /* arena for the memos of prunes */
    phi__pruned_said *said;
    size_t count;
    phi__pruned_time *times;
    size_t time_mask;
} phi__session_pruned;

static bool phi__pruned_any(const phi__way_way *way, size_t *messages) {
    bool any = false;
    size_t j;
    *messages = 0;
    for (size_t i = 0; i < way->all; i++) {
        *messages = phi__add(*messages, way->loops[i]->message_count);
        for (j = 0; j < way->loops[i]->event_count && !any; j++)
            any =
                phi__str_is(phi__session_event_type(way->loops[i]->events[j].json), "PrunApplied");
    }
    return any;
}

static phi__pruned_time *phi__pruned_at(phi__session_pruned *p, int64_t at_ms) {
    phi_str bytes = phi__str((const char *)(const void *)&at_ms, sizeof at_ms);
    size_t i = (size_t)phi__hash(bytes, 0) & p->time_mask;
    while (p->times[i].used && p->times[i].at_ms != at_ms) i = (i + 1) & p->time_mask;
    return &p->times[i];
}

/* Lists the answers and results of the way, oldest first. False: no memory. */
static bool phi__pruned_list(phi__session_pruned *p) {
    phi_memory *memory = p->scratch->memory;
    size_t j;
    for (size_t i = p->way->all; i-- > 0;)
        for (j = 0; j < p->way->loops[i]->message_count; j++) {
            const phi_message *message = &p->way->loops[i]->messages[j];
            phi__pruned_said *said = &p->said[p->count];
            if (message->role != PHI_ROLE_ASSISTANT && message->role != PHI_ROLE_TOOL_RESULT)
                continue;
            p->count++;
            said->message = message;
            said->mark = &p->way->marks[i][j];
            said->loop = i;
        }
    size_t *callers = phi__groups_find(memory, p->said, sizeof *p->said, p->count);
    if (callers == NULL) return false;
    for (size_t i = 0; i < p->count; i++)
        if (callers[i] != SIZE_MAX) p->said[i].answer = callers[i] + 1;
    phi__groups_free(memory, p->count, callers);
    return true;
}

/* Takes the oldest message of this time, in loop `loop` or an older one. SIZE_MAX if none. */
static size_t phi__pruned_take(phi__session_pruned *p, int64_t at_ms, size_t loop) {
    phi__pruned_time *time = phi__pruned_at(p, at_ms);
    size_t at = time->first;
    if (at == 0 || p->said[at - 1].loop < loop) return SIZE_MAX;
    time->first = p->said[at - 1].next;
    p->said[at - 1].mark->gone = true;
    return at - 1;
}

static phi_status phi__pruned_apply(phi__session_pruned *p, size_t loop, phi_str json) {
    phi_event event;
    size_t first = SIZE_MAX;
    if (!phi__str_is(phi__session_event_type(json), "PrunApplied")) return PHI_OK;
    phi_status status = phi_event_from_json(json, p->scratch, &event, NULL);
    if (status == PHI_NO_MEMORY) return status;
    if (status != PHI_OK || event.pruned == NULL) return PHI_OK;
    for (size_t i = 0; i < event.pruned->timestamp_count; i++)
        first = phi__min(first, phi__pruned_take(p, event.pruned->timestamps[i], loop));
    if (first == SIZE_MAX || event.pruned->memo.len == 0) return PHI_OK;
    p->said[first].mark->memo =
        phi__prune_memo(event.pruned->memo, p->said[first].message, p->way->config.texts, p->kept);
    return p->said[first].mark->memo != NULL ? PHI_OK : PHI_NO_MEMORY;
}

PHI__FN phi_status phi__pruned_find(phi__way_way *way, phi_arena *scratch, phi_arena *kept) {
    phi_status status = PHI_OK;
    size_t messages, j;
    if (!phi__pruned_any(way, &messages) || messages == 0) return PHI_OK;
    phi__session_pruned p = PHI_ZERO;
    p.scratch = scratch;
    p.kept = kept;
    size_t slots = 16, at = 0;
    while (slots / 2 < messages && slots < SIZE_MAX / 4) slots *= 2;
    phi__session_mark *marks =
        (phi__session_mark *)phi__arena_zero(p.scratch, phi__mul(messages, sizeof *marks));
    way->marks =
        (phi__session_mark **)phi__arena_zero(p.scratch, phi__mul(way->all, sizeof *way->marks));
    p.said = (phi__pruned_said *)phi__arena_zero(p.scratch, phi__mul(messages, sizeof *p.said));
    p.times = (phi__pruned_time *)phi__arena_zero(p.scratch, phi__mul(slots, sizeof *p.times));
    if (marks == NULL || way->marks == NULL || p.said == NULL || p.times == NULL)
        return PHI_NO_MEMORY;
    p.time_mask = slots - 1;
    p.way = way;
    for (size_t i = way->all; i-- > 0; at += way->loops[i]->message_count)
        way->marks[i] = marks + at;
    if (!phi__pruned_list(&p)) return PHI_NO_MEMORY;
    for (size_t i = p.count; i-- > 0;) {
        phi__pruned_time *time = phi__pruned_at(&p, p.said[i].message->timestamp_ms);
        p.said[i].next = time->first;
        time->used = true;
        time->at_ms = p.said[i].message->timestamp_ms;
        time->first = i + 1;
    }
    for (size_t i = way->all; i-- > 0 && status == PHI_OK;)
        for (j = 0; j < way->loops[i]->event_count && status == PHI_OK; j++)
            status = phi__pruned_apply(&p, i, way->loops[i]->events[j].json);
    /* If one message of a group was removed, removes the whole group. */
    for (size_t i = 0; i < p.count; i++)
        if (p.said[i].answer > 0 && p.said[i].mark->gone)
            p.said[p.said[i].answer - 1].mark->gone = true;
    for (size_t i = 0; i < p.count; i++)
        if (p.said[i].answer > 0 && p.said[p.said[i].answer - 1].mark->gone)
            p.said[i].mark->gone = true;
    return status;
}

/* The turns at which the parts of the current loop's block begin. Turns before `first` are dropped.
   Turns from `first` on stay as they are. The compacted turns begin at `first_end`, and the recent
   turns at `recent`. Turns from `end` on stay as they are. */
typedef struct phi__way_cuts {
    uint64_t first, first_end, recent, end;
} phi__way_cuts;

PHI__FN bool phi__way_same_turn(const phi_message *a, const phi_message *b) {
    return a->loop_id.len > 0 && phi_str_equal(a->loop_id, b->loop_id) &&
           a->turn_index == b->turn_index;
}

/* Returns the index of the turn's first message. Returns `count` if there is no such turn. */
static size_t phi__way_turn_at(const phi_message *messages, size_t count, uint64_t turn) {
    size_t i = 0;
    for (; i < count; i++)
        if ((i == 0 || !phi__way_same_turn(&messages[i - 1], &messages[i])) && turn-- == 0) break;
    return i;
}

PHI__FN size_t phi__way_turn_count(const phi_message *messages, size_t count) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += i == 0 || !phi__way_same_turn(&messages[i - 1], &messages[i]);
    return n;
}

/* ---- the way to a loop ---- */

/* Returns the loop that a root continues. SIZE_MAX if there is none. */
static size_t phi__way_before(const phi_session *session, size_t at) {
    while (at-- > 0) {
        const phi_loop_group *group = session->loops[at]->group;
        if (group == NULL || group->is_selected || group->selected_loop_id.len == 0) return at;
    }
    return SIZE_MAX;
}

/* Returns the loop that this loop continues. SIZE_MAX if there is none. */
static size_t phi__way_up(const phi_session *session, size_t at, uint32_t flags) {
    phi_str parent = session->loops[at]->parent_loop_id;
    size_t up = parent.len > 0 ? phi__session_place(session, parent) : SIZE_MAX;
    if (up == SIZE_MAX && (flags & PHI_SESSION_ROOTS_GO_ON) != 0) up = phi__way_before(session, at);
    return up;
}

static bool phi__way_counts(const phi_loop_record *loop) {
    return loop->message_count > 0 || loop->block != NULL;
}

static size_t phi__way_last(const phi_session *session) {
    size_t i = session->loop_count;
    while (i-- > 0)
        if (phi__way_counts(session->loops[i])) return i;
    return SIZE_MAX;
}

static uint64_t phi__way_tokens(const phi__way_way *way, const phi_loop_record *loop) {
    uint64_t sum = 0;
    for (size_t i = 0; i < loop->message_count; i++)
        sum += phi_tokens_of_message(way->counter, &loop->messages[i]);
    return sum;
}

PHI__FN void phi__way_begin(phi__way_way *way, const phi_compaction_config *config,
                            const phi_token_counter *counter) {
    memset(way, 0, sizeof *way);
    way->config = phi__compact_config(config);
    way->counter = counter;
}

PHI__FN phi_status phi__way_find_way(const phi_session *session, phi_str loop_id, uint32_t flags,
                                     phi_arena *scratch, phi_arena *kept, phi__way_way *way) {
    size_t at = loop_id.len > 0 ? phi__session_place(session, loop_id) : phi__way_last(session);
    size_t n = session->loop_count;
    if (at == SIZE_MAX) return loop_id.len > 0 ? PHI_NOT_FOUND : PHI_OK;
    bool *seen = (bool *)phi__arena_zero(scratch, phi__mul(n, sizeof *seen));
    way->loops = (phi_loop_record **)phi_arena_alloc(scratch, phi__mul(n, sizeof *way->loops));
    if (seen == NULL || way->loops == NULL) return PHI_NO_MEMORY;
    for (; at != SIZE_MAX && !seen[at]; at = phi__way_up(session, at, flags)) {
        seen[at] = true;
        if (way->count == 0 || phi__way_counts(session->loops[at]))
            way->loops[way->count++] = session->loops[at];
    }
    /* Ends the list where the scope ends. */
    uint64_t tokens = 0;
    size_t i;
    for (i = 1; i < way->count; i++) {
        if (way->config.scope == PHI_COMPACTION_RUNS) {
            if (i > way->config.scope_runs || way->config.scope_runs == PHI_COMPACTION_NO_RUNS)
                break;
            continue;
        }
        tokens += phi__way_tokens(way, way->loops[i]);
        if (tokens > way->config.scope_tokens) break;
    }
    way->all = way->count;
    way->count = phi__min(way->count, i);
    return phi__pruned_find(way, scratch, kept);
}

/* True if the section has the same messages in order, by role and ids. Their texts may differ. */
static bool phi__way_one_by_one(const phi_message *messages, size_t count,
                                const phi_block_section *section) {
    if (section->message_count != count) return false;
    for (size_t i = 0; i < count; i++)
        if (messages[i].role != section->messages[i].role ||
            !phi__groups_same_ids(&messages[i], &section->messages[i]))
            return false;
    return true;
}

/* A list of messages. If `at` is NULL, the functions below only count. */
typedef struct phi__way_list {
    phi_message *at;
    size_t count;
} phi__way_list;

static void phi__way_put(phi__way_list *list, const phi_message *messages, size_t count) {
    if (list->at != NULL && count > 0)
        memcpy(list->at + list->count, messages, count * sizeof *messages);
    list->count += count;
}

/* Appends `messages`, which replace loop i's messages from index `first` on. Leaves out pruned
   messages, or appends their memos. */
static void phi__way_put_shown(phi__way_list *list, const phi__way_way *way, size_t i, size_t first,
                               const phi_message *messages, size_t count) {
    const phi__session_mark *marks = way->marks != NULL ? way->marks[i] + first : NULL;
    if (marks == NULL) phi__way_put(list, messages, count);
    for (size_t at = 0; at < count && marks != NULL; at++)
        if (!marks[at].gone)
            phi__way_put(list, &messages[at], 1);
        else if (marks[at].memo != NULL)
            phi__way_put(list, marks[at].memo, 1);
}

/* Appends the turns of loop i from `from` to before `end`. */
static void phi__way_put_turns(phi__way_list *list, const phi__way_way *way, size_t i,
                               uint64_t from, uint64_t end) {
    const phi_loop_record *loop = way->loops[i];
    size_t first = phi__way_turn_at(loop->messages, loop->message_count, from);
    size_t last = phi__way_turn_at(loop->messages, loop->message_count, end);
    if (first < last) phi__way_put_shown(list, way, i, first, loop->messages + first, last - first);
}

static void phi__way_put_section(phi__way_list *list, const phi_block_section *section) {
    if (section->present) phi__way_put(list, section->messages, section->message_count);
}

static void phi__way_after(uint64_t *end, const phi_block_section *section) {
    if (section->present && section->from <= section->to && section->to >= *end)
        *end = (uint64_t)section->to + 1;
}

static void phi__way_before_it(uint64_t *end, const phi_block_section *section) {
    if (section->present && section->from < *end) *end = section->from;
}

static phi__way_cuts phi__way_cut(const phi_compaction_block *block) {
    phi__way_cuts cuts = PHI_ZERO;
    if (block->keep_first.present) cuts.first = block->keep_first.from;
    phi__way_after(&cuts.first_end, &block->keep_first);
    phi__way_before_it(&cuts.first_end, &block->keep_compacted);
    phi__way_before_it(&cuts.first_end, &block->keep_recent);
    if (cuts.first > cuts.first_end) cuts.first = cuts.first_end;
    phi__way_after(&cuts.end, &block->keep_first);
    phi__way_after(&cuts.end, &block->keep_compacted);
    phi__way_after(&cuts.end, &block->keep_recent);
    cuts.recent = cuts.end;
    phi__way_before_it(&cuts.recent, &block->keep_recent);
    return cuts;
}

static void phi__way_put_current(phi__way_list *list, const phi__way_way *way) {
    const phi_compaction_block *block = way->loops[0]->block;
    phi__way_cuts cuts = phi__way_cut(block);
    phi__way_put_turns(list, way, 0, cuts.first, cuts.first_end);
    phi__way_put_section(list, &block->keep_compacted);
    /* keep_recent may be older than a prune. The prune is applied to it if it has one message for
       each of the loop's messages in these turns. */
    const phi_loop_record *loop = way->loops[0];
    const phi_block_section *section = &loop->block->keep_recent;
    const phi_message *m = loop->messages;
    size_t from = phi__way_turn_at(m, loop->message_count, cuts.recent);
    size_t end = phi__way_turn_at(m, loop->message_count, cuts.end);
    if (section->present && from < end && phi__way_one_by_one(m + from, end - from, section))
        phi__way_put_shown(list, way, 0, from, section->messages, end - from);
    else
        phi__way_put_section(list, section);
    phi__way_put_turns(list, way, 0, cuts.end, UINT64_MAX);
}

static void phi__way_put_all(phi__way_list *list, const phi__way_way *way) {
    for (size_t i = way->count; i-- > 0;) {
        const phi_loop_record *loop = way->loops[i];
        if (loop->block == NULL)
            phi__way_put_shown(list, way, i, 0, loop->messages, loop->message_count);
        else if (i == 0)
            phi__way_put_current(list, way);
        else
            phi__way_put_section(list, &loop->block->keep_compacted);
    }
}

PHI__FN phi_status phi__way_load(const phi__way_way *way, phi_arena *arena, const phi_message **out,
                                 size_t *count) {
    phi__way_list list = {NULL, 0};
    phi__way_put_all(&list, way);
    if (list.count == 0) return PHI_OK;
    list.at = (phi_message *)phi_arena_alloc(arena, phi__mul(list.count, sizeof *list.at));
    if (list.at == NULL) return PHI_NO_MEMORY;
    list.count = 0;
    phi__way_put_all(&list, way);
    *out = list.at;
    *count = list.count;
    return PHI_OK;
}

/* ---- making blocks ---- */

/* The state of phi_session_compact. */
typedef struct phi__way_job {
    phi__session_box *box;
    const phi__way_way *way;
    const phi_session_compact_desc *desc;
    phi_arena *scratch;
    char *words;
    size_t words_size;
} phi__way_job;

/* Plans a summary as if the messages were an earlier run, followed by one more message. */
static phi_status phi__way_sum_up(const phi__way_job *job, const phi_message *messages,
                                  size_t count, phi_rewrite *plan) {
    phi_compaction_config config = job->way->config;
    phi_arena *scratch = job->scratch;
    phi_message *copies =
        (phi_message *)phi_arena_alloc(scratch, phi__mul(count + 1, sizeof *copies));
    phi_view_item *items =
        (phi_view_item *)phi__arena_zero(scratch, phi__mul(count + 1, sizeof *items));
    const phi_message *now = phi__compact_say(PHI__LIT("."), scratch);
    size_t turn = 0;
    if (copies == NULL || items == NULL || now == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; i <= count; i++) {
        copies[i] = i < count ? messages[i] : *now;
        if (i > 0 && i < count && !phi__way_same_turn(&messages[i - 1], &messages[i])) turn++;
        copies[i].loop_id = i < count ? PHI__LIT("earlier") : PHI__LIT("now");
        copies[i].turn_index = (uint32_t)phi__min(turn, UINT32_MAX);
        items[i].message = &copies[i];
        items[i].from = items[i].to = i;
    }
    config.scope = PHI_COMPACTION_RUNS;
    config.scope_runs = 1;
    return phi__compact_rewrite(items, count + 1, &config, job->way->counter, scratch, plan);
}

static phi_status phi__way_compacted(const phi__way_job *job, const phi_message *messages,
                                     size_t count, phi_block_section *out) {
    phi_rewrite plan;
    phi_status status = phi__way_sum_up(job, messages, count, &plan);
    if (status != PHI_OK) return status;
    out->present = true;
    if (plan.span_count > 0) {
        count = plan.spans[0].message_count;
        messages = plan.spans[0].messages;
    }
    for (size_t i = 0; plan.span_count > 0 && i < count; i++) {
        phi_message *made = (phi_message *)(uintptr_t)&messages[i]; /* in the scratch arena */
        made->loop_id.len = 0;
        made->turn_index = 0;
    }
    out->message_count = count;
    return phi__session_keep_messages(job->box, messages, count, &out->messages) ? PHI_OK
                                                                                 : PHI_NO_MEMORY;
}

static phi_status phi__way_recent(const phi__way_job *job, const phi_message *messages,
                                  size_t count, phi_block_section *out) {
    phi_message *list = (phi_message *)phi_arena_alloc(job->scratch, phi__mul(count, sizeof *list));
    if (list == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const phi_message *now = &messages[i];
        if (now->role == PHI_ROLE_TOOL_RESULT)
            now = phi__compact_cut(now, job->way->config.tool_output_max_lines,
                                   job->way->config.texts, job->scratch);
        if (now == NULL) return PHI_NO_MEMORY;
        list[i] = *now;
    }
    out->present = true;
    out->message_count = count;
    return phi__session_keep_messages(job->box, list, count, &out->messages) ? PHI_OK
                                                                             : PHI_NO_MEMORY;
}

/* If a section begins with a tool result, moves its first turn back to the turn with the call.
   Returns the new first turn. */
static size_t phi__way_whole(const phi_loop_record *loop, size_t from, size_t turn) {
    size_t at = phi__way_turn_at(loop->messages, loop->message_count, turn);
    while (turn > from && at < loop->message_count &&
           loop->messages[at].role == PHI_ROLE_TOOL_RESULT) {
        turn--;
        at = phi__way_turn_at(loop->messages, loop->message_count, turn);
    }
    return turn;
}

PHI__FN void phi__way_ends(phi_block_section *section, size_t from, size_t end) {
    section->present = true;
    section->from = (uint32_t)phi__min(from, UINT32_MAX);
    section->to = (uint32_t)phi__min(end - 1, UINT32_MAX);
}

/* Lists the messages of loop i from `from` to before `end`, without pruned ones, in scratch. */
static phi_status phi__way_shown(const phi__way_job *job, size_t i, size_t from, size_t end,
                                 phi__way_list *list) {
    const phi_message *messages = job->way->loops[i]->messages + from;
    list->count = 0;
    list->at = (phi_message *)phi_arena_alloc(job->scratch, phi__mul(end - from, sizeof *list->at));
    if (list->at == NULL) return PHI_NO_MEMORY;
    phi__way_put_shown(list, job->way, i, from, messages, end - from);
    return PHI_OK;
}

static phi_status phi__way_make(const phi__way_job *job, size_t i, phi_compaction_block *out) {
    const phi_compaction_config *config = &job->way->config;
    const phi_loop_record *loop = job->way->loops[i];
    const phi_message *messages = loop->messages;
    phi__way_list shown;
    size_t turns = phi__way_turn_count(messages, loop->message_count), first = 0, recent = turns;
    phi_status status = PHI_OK;
    if (i == 0) {
        first = phi__min(config->keep_first_turns, turns);
        first = phi__way_whole(loop, 0, first);
        recent = turns - phi__min(config->keep_recent_turns, turns - first);
        recent = phi__way_whole(loop, first, recent);
    }
    size_t from = phi__way_turn_at(messages, loop->message_count, first);
    size_t to = phi__way_turn_at(messages, loop->message_count, recent);
    if (first > 0) phi__way_ends(&out->keep_first, 0, first);
    if (first < recent) {
        phi__way_ends(&out->keep_compacted, first, recent);
        status = phi__way_shown(job, i, from, to, &shown);
        if (status == PHI_OK)
            status = phi__way_compacted(job, shown.at, shown.count, &out->keep_compacted);
    }
    if (status != PHI_OK || recent == turns) return status;
    phi__way_ends(&out->keep_recent, recent, turns);
    status = phi__way_shown(job, i, to, loop->message_count, &shown);
    return status == PHI_OK ? phi__way_recent(job, shown.at, shown.count, &out->keep_recent)
                            : status;
}

/* ---- the host's blocks ---- */

static phi_status phi__way_refuse(const phi__way_job *job, const phi_loop_record *loop,
                                  const char *section, const char *why) {
    if (job->words != NULL && job->words_size > 0)
        (void)snprintf(job->words, job->words_size, "loop %.*s: %s: %s",
                       (int)phi__min(loop->loop_id.len, 128), loop->loop_id.at, section, why);
    return PHI_REFUSED;
}

/* Checks and copies a section of the host's block. keep_first has turns but no messages. */
static phi_status phi__way_take(const phi__way_job *job, const phi_loop_record *loop,
                                const char *name, phi_block_section *section, bool has_messages) {
    const phi_message *given = section->messages;
    size_t block;
    if (!section->present || !has_messages) section->message_count = 0;
    if (section->message_count == 0) section->messages = NULL;
    if (!section->present) return PHI_OK;
    if (section->from > section->to)
        return phi__way_refuse(job, loop, name, "its first turn is behind its last");
    if (section->message_count > 0 && given == NULL)
        return phi__way_refuse(job, loop, name, "messages is missing");
    for (size_t i = 0; i < section->message_count; i++) {
        const char *fault = phi__check_message(&given[i], &block);
        if (fault != NULL) return phi__way_refuse(job, loop, name, fault);
    }
    return phi__session_keep_messages(job->box, given, section->message_count, &section->messages)
               ? PHI_OK
               : PHI_NO_MEMORY;
}

static phi_status phi__way_by_host(const phi__way_job *job, const phi_loop_record *loop,
                                   bool is_current, phi_compaction_block *block) {
    phi_compaction_block given = *block;
    if (job->desc->block_fn == NULL) return PHI_OK;
    phi_block_request request = PHI_ZERO;
    request.session = &job->box->pub;
    request.loop = loop;
    request.is_current = is_current;
    request.config = &job->way->config;
    request.arena = job->scratch;
    phi_status status = job->desc->block_fn(job->desc->user_data, &request, &given);
    if (status != PHI_OK) {
        (void)phi__way_refuse(job, loop, "the strategy failed", phi_status_text(status));
        return status;
    }
    status = phi__way_take(job, loop, "keep_first", &given.keep_first, false);
    if (status == PHI_OK)
        status = phi__way_take(job, loop, "keep_compacted", &given.keep_compacted, true);
    if (status == PHI_OK)
        status = phi__way_take(job, loop, "keep_recent", &given.keep_recent, true);
    if (status == PHI_OK && is_current && !given.keep_first.present &&
        given.keep_compacted.message_count + given.keep_recent.message_count == 0)
        return phi__way_refuse(job, loop, "the strategy", "its block shows nothing");
    if (status == PHI_OK) *block = given;
    return status;
}

static phi_status phi__way_make_all(const phi__way_job *job, size_t *made) {
    const phi__way_way *way = job->way;
    phi_compaction_block **blocks = (phi_compaction_block **)phi__arena_zero(
        job->scratch, phi__mul(phi__max(way->count, 1), sizeof *blocks));
    phi_status status = blocks != NULL ? PHI_OK : PHI_NO_MEMORY;
    for (size_t i = 0; i < way->count && status == PHI_OK; i++) {
        phi_loop_record *loop = way->loops[i];
        if (loop->message_count == 0 || (i > 0 && loop->block != NULL)) continue;
        blocks[i] = (phi_compaction_block *)phi__arena_zero(&job->box->arena, sizeof **blocks);
        if (blocks[i] == NULL) return PHI_NO_MEMORY;
        blocks[i]->created_ms = job->desc->at_ms;
        status = phi__way_make(job, i, blocks[i]);
        if (status == PHI_OK) status = phi__way_by_host(job, loop, i == 0, blocks[i]);
    }
    for (size_t i = 0; i < way->count && status == PHI_OK; i++) {
        if (blocks[i] == NULL) continue;
        way->loops[i]->block = blocks[i];
        ++*made;
    }
    return status;
}

PHI__FN phi_status phi__way_compact(phi_session *session, const phi_session_compact_desc *desc,
                                    size_t *made, char *words, size_t words_size) {
    phi__way_way way;
    phi_arena scratch;
    size_t n = 0;
    phi_session_compact_desc none = PHI_ZERO;
    phi__way_job job = PHI_ZERO;
    job.desc = desc != NULL ? desc : &none;
    job.box = phi__session_of(session);
    job.way = &way;
    job.scratch = &scratch;
    job.words = words;
    job.words_size = words_size;
    phi__way_begin(&way, job.desc->config, job.desc->counter);
    phi_arena_init(&scratch, &job.box->memory, 0);
    phi_status status =
        phi__way_find_way(session, job.desc->loop_id, job.desc->flags, &scratch, &scratch, &way);
    if (status == PHI_OK) status = phi__way_make_all(&job, &n);
    phi_arena_free(&scratch);
    if (made != NULL) *made = n;
    return status;
}

/* First, all messages of the way are appended, even those beyond the scope. Then each section
   becomes a span over the entries of its turns. Spans cannot express a section that separates a
   call from its result, or that has no entries. If there is such a section, one span replaces all
   messages. Loops that no message names are logged first, as a start and an end, so that their ids
   are not reused. */

typedef struct phi__session_import {
    phi_message *messages; /* messages of all loops, oldest first */
    size_t count;
    phi_span *spans;
    size_t span_count;
    uint64_t base; /* sequence number of the first message's entry */
    bool unfit;    /* spans cannot express the blocks */
    bool no_memory;
    const phi_session *session;
    phi_thread *thread;
    phi__way_way way;
    phi_arena scratch;
    char *words;
    size_t words_size;
} phi__session_import;

/* True if the message has content for a model. A rewrite may hold only such messages. */
static bool phi__import_says(const phi_message *m) {
    return m->role != PHI_ROLE_EXTENSION && m->content_count > 0;
}

/* Reduces the list to messages with content and returns their number. */
static size_t phi__import_said(phi__session_import *s, const phi_message **messages, size_t count) {
    const phi_message *from = *messages;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) n += phi__import_says(&from[i]);
    if (n == count) return n;
    phi_message *said =
        (phi_message *)phi_arena_alloc(&s->scratch, phi__mul(phi__max(n, 1), sizeof *said));
    if (said == NULL) s->no_memory = true;
    *messages = said;
    if (said == NULL) return 0;
    for (size_t i = n = 0; i < count; i++)
        if (phi__import_says(&from[i])) said[n++] = from[i];
    return n;
}

/* Adds a span for the messages `from` to before `end`, which the section replaces. */
static void phi__import_span(phi__session_import *s, size_t from, size_t end,
                             const phi_block_section *section) {
    const phi_message *messages = section != NULL ? section->messages : NULL;
    size_t n = section != NULL && section->present
                   ? phi__import_said(s, &messages, section->message_count)
                   : 0;
    phi_span *span = &s->spans[s->span_count];
    if (from >= end) {
        s->unfit = s->unfit || n > 0;
        return;
    }
    s->span_count++;
    span->from = s->base + from;
    span->to = s->base + end - 1;
    span->messages = n > 0 ? messages : NULL;
    span->message_count = n;
    span->summary = span->lines = n > 0;
}

static bool phi__import_same_block(const phi_content *a, const phi_content *b) {
    return a->kind == b->kind && phi_str_equal(a->text, b->text) && phi_str_equal(a->id, b->id) &&
           phi_str_equal(a->data, b->data) && phi_str_equal(a->arguments, b->arguments);
}

static bool phi__import_same(const phi_message *a, const phi_message *b) {
    if (a->content_count != b->content_count) return false;
    for (size_t i = 0; i < a->content_count; i++)
        if (!phi__import_same_block(&a->content[i], &b->content[i])) return false;
    return true;
}

/* Adds spans for keep_recent. If it has one message for each of the loop's messages, only the
   shortened results are replaced. */
static void phi__import_recent(phi__session_import *s, size_t start, size_t from, size_t end,
                               const phi_block_section *section) {
    if (from >= end || !phi__way_one_by_one(s->messages + from, end - from, section)) {
        phi__import_span(s, from, end, section);
        if (from < end)
            s->spans[s->span_count - 1].summary = s->spans[s->span_count - 1].lines = false;
        return;
    }
    for (size_t i = from; i < end; i++) {
        phi_span *span = &s->spans[s->span_count];
        /* Skips a message that a prune removed or the section did not change. */
        if ((s->way.marks != NULL && s->way.marks[0][(i - start)].gone) ||
            phi__import_same(&s->messages[i], &section->messages[i - from]))
            continue;
        s->span_count++;
        span->from = span->to = s->base + i;
        span->messages = &section->messages[i - from];
        span->message_count = phi__import_says(span->messages) ? 1 : 0;
    }
}

static void phi__import_current(phi__session_import *s, const phi_loop_record *loop, size_t start) {
    phi__way_cuts cuts = phi__way_cut(loop->block);
    const phi_message *m = loop->messages;
    size_t n = loop->message_count;
    size_t recent = start + phi__way_turn_at(m, n, cuts.recent);
    size_t end = start + phi__way_turn_at(m, n, cuts.end);
    phi__import_span(s, start, start + phi__way_turn_at(m, n, cuts.first), NULL);
    phi__import_span(s, start + phi__way_turn_at(m, n, cuts.first_end), recent,
                     &loop->block->keep_compacted);
    if (loop->block->keep_recent.present)
        phi__import_recent(s, start, recent, end, &loop->block->keep_recent);
}

static phi_status phi__import_gather(phi__session_import *s) {
    const phi__way_way *way = &s->way;
    size_t n = 0;
    for (size_t i = 0; i < way->all; i++) n = phi__add(n, way->loops[i]->message_count);
    if (n == 0) return PHI_OK;
    /* Room for one span for each message, plus two spans for other sections of each loop. */
    size_t most = phi__add(n, phi__mul(way->all, 2));
    s->messages = (phi_message *)phi_arena_alloc(&s->scratch, phi__mul(n, sizeof *s->messages));
    s->spans = (phi_span *)phi__arena_zero(&s->scratch, phi__mul(most, sizeof *s->spans));
    if (s->messages == NULL || s->spans == NULL) return PHI_NO_MEMORY;
    for (size_t i = way->all; i-- > 0; s->count += n) {
        n = way->loops[i]->message_count;
        if (n > 0) memcpy(s->messages + s->count, way->loops[i]->messages, n * sizeof *s->messages);
    }
    return PHI_OK;
}

static phi_status phi__import_fit(const phi__session_import *s, const phi_message *messages,
                                  size_t count) {
    size_t block;
    for (size_t i = 0; i < count; i++) {
        const char *fault = phi__check_message(&messages[i], &block);
        if (fault == NULL) continue;
        if (s->words != NULL && s->words_size > 0)
            (void)snprintf(s->words, s->words_size, "message %lu: %s", (unsigned long)i, fault);
        return PHI_BAD_ARG;
    }
    return PHI_OK;
}

/* ---- loops without messages ---- */

/* Returns the first message of this loop in the table. NULL if there is none. */
static const phi_message *phi__import_named(const phi__map *named, phi_str loop_id) {
    uint64_t hash = phi__hash(loop_id, 0);
    const phi_message *message;
    size_t probe = 0;
    while ((message = (const phi_message *)phi__map_each(named, hash, &probe)) != NULL)
        if (phi_str_equal(message->loop_id, loop_id)) break;
    return message;
}

/* Fills the table with the first message of each loop. False: no memory. */
static bool phi__import_names(const phi__session_import *s, phi__map *named) {
    for (size_t i = 0; i < s->count; i++) {
        phi_str id = s->messages[i].loop_id;
        if (id.len == 0 || (i > 0 && phi_str_equal(s->messages[i - 1].loop_id, id)) ||
            phi__import_named(named, id) != NULL)
            continue;
        if (!phi__map_room(named)) return false;
        phi__map_add(named, phi__hash(id, 0), &s->messages[i]);
    }
    return true;
}

static phi_status phi__import_runs(const phi__session_import *s) {
    phi__map named;
    phi__map_init(&named, s->scratch.memory);
    bool done = phi__import_names(s, &named);
    for (size_t i = 0; done && i < s->session->loop_count; i++) {
        const phi_loop_record *loop = s->session->loops[i];
        if (loop->loop_id.len == 0 || phi__import_named(&named, loop->loop_id) != NULL ||
            phi__loops_find(s->thread, loop->loop_id) != NULL)
            continue;
        phi_thread *thread = s->thread;
        phi_status status = PHI_OK;
        phi_loop_info info = PHI_ZERO;
        info.loop_id = loop->loop_id;
        info.session_id = loop->session_id;
        info.agent_id = loop->agent_id;
        info.parent_loop_id = loop->parent_loop_id;
        info.continuation = loop->continuation;
        info.tag = loop->tag;
        info.metadata = loop->metadata;
        if (loop->status == PHI_LOOP_REJECTED) status = PHI_REJECTED;
        if (loop->status != PHI_LOOP_REJECTED && loop->status != PHI_LOOP_COMPLETED)
            status = PHI_CANCELLED;
        done = phi__append_note_run(thread, &info, loop->started_ms,
                                    loop->has_ended ? loop->ended_ms : loop->started_ms, status);
    }
    phi__map_free(&named);
    return done ? PHI_OK : PHI_NO_MEMORY;
}

static phi_status phi__import_prune(phi__session_import *s) {
    phi_rewrite r = PHI_ZERO;
    if (s->way.marks == NULL) return PHI_OK;
    /* One span replaces each group of adjacent removed messages by their memos. */
    phi_span *spans = (phi_span *)phi__arena_zero(&s->scratch, phi__mul(s->count, sizeof *spans));
    phi_message *memos =
        (phi_message *)phi_arena_alloc(&s->scratch, phi__mul(s->count, sizeof *memos));
    phi_span *span = NULL;
    size_t at = 0, j;
    if (spans == NULL || memos == NULL) return PHI_NO_MEMORY;
    for (size_t i = s->way.all; i-- > 0;)
        for (j = 0; j < s->way.loops[i]->message_count; j++, at++) {
            const phi__session_mark *mark = &s->way.marks[i][j];
            if (!mark->gone) {
                span = NULL;
                continue;
            }
            if (span == NULL) {
                span = &spans[r.span_count++];
                span->from = s->base + at;
                span->messages = memos;
            }
            span->to = s->base + at;
            if (mark->memo == NULL) continue;
            *memos++ = *mark->memo;
            span->message_count++;
        }
    for (size_t i = 0; i < r.span_count; i++)
        if (spans[i].message_count == 0) spans[i].messages = NULL;
    r.spans = spans;
    if (r.span_count == 0) return PHI_OK;
    r.reason = PHI_REWRITE_PRUNE;
    phi_status status = phi_thread_rewrite(s->thread, &r, NULL, s->words, s->words_size);
    s->unfit = s->unfit || status == PHI_BAD_ARG;
    return status == PHI_BAD_ARG ? PHI_OK : status;
}

static phi_status phi__import_rewrite(phi__session_import *s, const phi_message *shown,
                                      size_t count) {
    phi_status status = PHI_BAD_ARG;
    phi_rewrite r = PHI_ZERO;
    phi_span whole = PHI_ZERO;
    if (s->span_count == 0 && !s->unfit) return PHI_OK;
    r.reason = PHI_REWRITE_COMPACTION;
    r.spans = s->spans;
    r.span_count = s->span_count;
    if (!s->unfit) status = phi_thread_rewrite(s->thread, &r, NULL, s->words, s->words_size);
    if (status != PHI_BAD_ARG) return status;
    whole.from = s->base;
    whole.to = s->base + s->count - 1;
    whole.message_count = phi__import_said(s, &shown, count);
    whole.messages = shown;
    if (s->no_memory) return PHI_NO_MEMORY;
    r.spans = &whole;
    r.span_count = 1;
    return phi_thread_rewrite(s->thread, &r, NULL, s->words, s->words_size);
}

static phi_status phi__import_go(phi__session_import *s, phi_str loop_id, uint32_t flags) {
    const phi_message *shown = NULL;
    size_t count = 0;
    phi_status status =
        phi__way_find_way(s->session, loop_id, flags, &s->scratch, &s->scratch, &s->way);
    if (status == PHI_OK) status = phi__import_gather(s);
    if (status == PHI_OK) status = phi__way_load(&s->way, &s->scratch, &shown, &count);
    if (status == PHI_OK) status = phi__import_fit(s, shown, count);
    if (status == PHI_OK) status = phi__import_fit(s, s->messages, s->count);
    if (status == PHI_OK && s->thread->user != NULL) status = PHI_BUSY;
    if (status == PHI_OK) status = phi__import_runs(s);
    if (status != PHI_OK || s->count + count == 0) return status;
    s->base = phi_thread_count(s->thread);
    if (s->count == 0) /* the way has a block but no messages */
        return phi_thread_append(s->thread, shown, count, NULL);
    const phi__way_way *way = &s->way;
    size_t start = 0, n;
    for (size_t i = way->all; i-- > 0; start += n) {
        const phi_loop_record *loop = way->loops[i];
        n = loop->message_count;
        if (i >= way->count)
            phi__import_span(s, start, start + n, NULL);
        else if (loop->block != NULL && i > 0)
            phi__import_span(s, start, start + n, &loop->block->keep_compacted);
        else if (loop->block != NULL)
            phi__import_current(s, loop, start);
    }
    if (s->no_memory) return PHI_NO_MEMORY;
    status = phi_thread_append(s->thread, s->messages, s->count, NULL);
    if (status == PHI_OK) status = phi__import_prune(s);
    return status == PHI_OK ? phi__import_rewrite(s, shown, count) : status;
}

/* ---- public ---- */

PHI_API phi_status phi_session_to_thread(const phi_session *session, phi_str loop_id,
                                         uint32_t flags, const phi_compaction_config *config,
                                         const phi_token_counter *counter, phi_thread *thread,
                                         char *words, size_t words_size) {
    phi_memory memory;
    if (words != NULL && words_size > 0) words[0] = '\0';
    if (session == NULL || thread == NULL) return PHI_BAD_ARG;
    phi__session_import s = PHI_ZERO;
    s.session = session;
    s.thread = thread;
    s.words = words;
    s.words_size = words_size;
    phi__way_begin(&s.way, config, counter);
    phi_memory_init(&memory, &phi__session_of((phi_session *)(uintptr_t)session)->memory.allocator,
                    0);
    phi_arena_init(&s.scratch, &memory, 0);
    phi_status status = phi__import_go(&s, loop_id, flags);
    phi_arena_free(&s.scratch);
    if (status == PHI_OK && words != NULL && words_size > 0) words[0] = '\0';
    return status;
}
