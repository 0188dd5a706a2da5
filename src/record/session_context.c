/* session_context.c - compaction blocks of sessions: loads messages by them, and makes them.

   The way to a loop is a list of loops, the newest first; then the scope cuts it, and each loop
   left puts its messages into a list, which is counted first and filled then. */
#include "record/session_context_in.h"

#include "history/compact_in.h"
#include "persist/persist_in.h"

#include <stdio.h>

/* ---- turns ---- */

PHI__FN bool phi__session_context_same_turn(const phi_message *a, const phi_message *b) {
    return a->loop_id.len > 0 && phi_str_equal(a->loop_id, b->loop_id) &&
           a->turn_index == b->turn_index;
}

PHI__FN size_t phi__session_context_turn_at(const phi_message *messages, size_t count,
                                            uint64_t turn) {
    size_t i = 0;
    for (; i < count; i++)
        if ((i == 0 || !phi__session_context_same_turn(&messages[i - 1], &messages[i])) &&
            turn-- == 0)
            break;
    return i;
}

static size_t phi__session_context_turn_count(const phi_message *messages, size_t count) {
    size_t i, n = 0;
    for (i = 0; i < count; i++)
        n += i == 0 || !phi__session_context_same_turn(&messages[i - 1], &messages[i]);
    return n;
}

/* ---- the way to a loop ---- */

static size_t phi__session_context_find(const phi_session *session, phi_str loop_id) {
    size_t i = session->loop_count;
    while (i-- > 0)
        if (phi_str_equal(session->loops[i]->loop_id, loop_id)) return i;
    return SIZE_MAX;
}

/* The loop before a root; SIZE_MAX: none. */
static size_t phi__session_context_before(const phi_session *session, size_t at) {
    while (at-- > 0) {
        const phi_loop_group *group = session->loops[at]->group;
        if (group == NULL || group->is_selected || group->selected_loop_id.len == 0) return at;
    }
    return SIZE_MAX;
}

/* The loop that a loop continues; SIZE_MAX: it begins. */
static size_t phi__session_context_up(const phi_session *session, size_t at, uint32_t flags) {
    phi_str parent = session->loops[at]->parent_loop_id;
    size_t up = parent.len > 0 ? phi__session_context_find(session, parent) : SIZE_MAX;
    if (up == SIZE_MAX && (flags & PHI_SESSION_ROOTS_GO_ON) != 0)
        up = phi__session_context_before(session, at);
    return up;
}

static bool phi__session_context_counts(const phi_loop_record *loop) {
    return loop->message_count > 0 || loop->block != NULL;
}

static size_t phi__session_context_last(const phi_session *session) {
    size_t i = session->loop_count;
    while (i-- > 0)
        if (phi__session_context_counts(session->loops[i])) return i;
    return SIZE_MAX;
}

static uint64_t phi__session_context_tokens(const phi__session_context_way *way,
                                            const phi_loop_record *loop) {
    uint64_t sum = 0;
    size_t i;
    for (i = 0; i < loop->message_count; i++)
        sum += phi_tokens_of_message(way->counter, &loop->messages[i]);
    return sum;
}

/* Cuts off the loops beyond the scope. */
static void phi__session_context_scope(phi__session_context_way *way) {
    uint64_t tokens = 0;
    size_t i;
    for (i = 1; i < way->count; i++) {
        if (way->config.scope == PHI_COMPACTION_RUNS) {
            if (i > phi__compact_scope_runs(&way->config)) break;
            continue;
        }
        tokens += phi__session_context_tokens(way, way->loops[i]);
        if (tokens > way->config.scope_tokens) break;
    }
    way->all = way->count;
    way->count = phi__min(way->count, i);
}

PHI__FN void phi__session_context_begin(phi__session_context_way *way,
                                        const phi_compaction_config *config,
                                        const phi_token_counter *counter) {
    memset(way, 0, sizeof *way);
    way->config = phi__compact_config(config);
    way->counter = counter;
}

PHI__FN phi_status phi__session_context_find_way(const phi_session *session, phi_str loop_id,
                                                 uint32_t flags, phi_arena *scratch,
                                                 phi_arena *kept, phi__session_context_way *way) {
    size_t at = loop_id.len > 0 ? phi__session_context_find(session, loop_id)
                                : phi__session_context_last(session);
    size_t n = session->loop_count;
    bool *seen;
    if (at == SIZE_MAX) return loop_id.len > 0 ? PHI_NOT_FOUND : PHI_OK;
    seen = (bool *)phi__arena_zero(scratch, phi__mul(n, sizeof *seen));
    way->loops = (phi_loop_record **)phi_arena_alloc(scratch, phi__mul(n, sizeof *way->loops));
    if (seen == NULL || way->loops == NULL) return PHI_NO_MEMORY;
    for (; at != SIZE_MAX && !seen[at]; at = phi__session_context_up(session, at, flags)) {
        seen[at] = true;
        if (way->count == 0 || phi__session_context_counts(session->loops[at]))
            way->loops[way->count++] = session->loops[at];
    }
    phi__session_context_scope(way);
    return phi__session_pruned_find(way, scratch, kept);
}

PHI__FN bool phi__session_context_gone(const phi__session_context_way *way, size_t i, size_t at) {
    return way->marks != NULL && way->marks[i][at].gone;
}

PHI__FN bool phi__session_context_one_by_one(const phi_message *messages, size_t count,
                                             const phi_block_section *section) {
    size_t i;
    if (section->message_count != count) return false;
    for (i = 0; i < count; i++)
        if (messages[i].role != section->messages[i].role ||
            !phi__groups_same_ids(&messages[i], &section->messages[i]))
            return false;
    return true;
}

/* ---- blocks, applied ---- */

/* Counts where `at` is NULL. */
typedef struct phi__session_context_list {
    phi_message *at;
    size_t count;
} phi__session_context_list;

static void phi__session_context_put(phi__session_context_list *list, const phi_message *messages,
                                     size_t count) {
    if (list->at != NULL && count > 0)
        memcpy(list->at + list->count, messages, count * sizeof *messages);
    list->count += count;
}

/* Puts these messages in the place of those of loop i from `first` on, without those that prunes
   took. */
static void phi__session_context_put_shown(phi__session_context_list *list,
                                           const phi__session_context_way *way, size_t i,
                                           size_t first, const phi_message *messages,
                                           size_t count) {
    const phi__session_mark *marks = way->marks != NULL ? way->marks[i] + first : NULL;
    size_t at;
    if (marks == NULL) phi__session_context_put(list, messages, count);
    for (at = 0; at < count && marks != NULL; at++)
        if (!marks[at].gone)
            phi__session_context_put(list, &messages[at], 1);
        else if (marks[at].memo != NULL)
            phi__session_context_put(list, marks[at].memo, 1);
}

/* Turns of loop i from `from` up to one before `end`, of those there are. */
static void phi__session_context_put_turns(phi__session_context_list *list,
                                           const phi__session_context_way *way, size_t i,
                                           uint64_t from, uint64_t end) {
    const phi_loop_record *loop = way->loops[i];
    size_t first = phi__session_context_turn_at(loop->messages, loop->message_count, from);
    size_t last = phi__session_context_turn_at(loop->messages, loop->message_count, end);
    if (first < last)
        phi__session_context_put_shown(list, way, i, first, loop->messages + first, last - first);
}

static void phi__session_context_put_section(phi__session_context_list *list,
                                             const phi_block_section *section) {
    if (section->present) phi__session_context_put(list, section->messages, section->message_count);
}

static void phi__session_context_after(uint64_t *end, const phi_block_section *section) {
    if (section->present && section->from <= section->to && section->to >= *end)
        *end = (uint64_t)section->to + 1;
}

static void phi__session_context_before_it(uint64_t *end, const phi_block_section *section) {
    if (section->present && section->from < *end) *end = section->from;
}

PHI__FN phi__session_context_cuts phi__session_context_cut(const phi_compaction_block *block) {
    phi__session_context_cuts cuts;
    memset(&cuts, 0, sizeof cuts);
    if (block->keep_first.present) cuts.first = block->keep_first.from;
    phi__session_context_after(&cuts.first_end, &block->keep_first);
    phi__session_context_before_it(&cuts.first_end, &block->keep_compacted);
    phi__session_context_before_it(&cuts.first_end, &block->keep_recent);
    if (cuts.first > cuts.first_end) cuts.first = cuts.first_end;
    phi__session_context_after(&cuts.end, &block->keep_first);
    phi__session_context_after(&cuts.end, &block->keep_compacted);
    phi__session_context_after(&cuts.end, &block->keep_recent);
    cuts.recent = cuts.end;
    phi__session_context_before_it(&cuts.recent, &block->keep_recent);
    return cuts;
}

/* A section with the loop's own messages may be older than a prune. */
static void phi__session_context_put_recent(phi__session_context_list *list,
                                            const phi__session_context_way *way,
                                            const phi__session_context_cuts *cuts) {
    const phi_loop_record *loop = way->loops[0];
    const phi_block_section *section = &loop->block->keep_recent;
    const phi_message *m = loop->messages;
    size_t from = phi__session_context_turn_at(m, loop->message_count, cuts->recent);
    size_t end = phi__session_context_turn_at(m, loop->message_count, cuts->end);
    if (section->present && from < end &&
        phi__session_context_one_by_one(m + from, end - from, section))
        phi__session_context_put_shown(list, way, 0, from, section->messages, end - from);
    else
        phi__session_context_put_section(list, section);
}

static void phi__session_context_put_current(phi__session_context_list *list,
                                             const phi__session_context_way *way) {
    const phi_compaction_block *block = way->loops[0]->block;
    phi__session_context_cuts cuts = phi__session_context_cut(block);
    phi__session_context_put_turns(list, way, 0, cuts.first, cuts.first_end);
    phi__session_context_put_section(list, &block->keep_compacted);
    phi__session_context_put_recent(list, way, &cuts);
    phi__session_context_put_turns(list, way, 0, cuts.end, UINT64_MAX);
}

static void phi__session_context_put_all(phi__session_context_list *list,
                                         const phi__session_context_way *way) {
    size_t i;
    for (i = way->count; i-- > 0;) {
        const phi_loop_record *loop = way->loops[i];
        if (loop->block == NULL)
            phi__session_context_put_shown(list, way, i, 0, loop->messages, loop->message_count);
        else if (i == 0)
            phi__session_context_put_current(list, way);
        else
            phi__session_context_put_section(list, &loop->block->keep_compacted);
    }
}

PHI__FN phi_status phi__session_context_load(const phi__session_context_way *way, phi_arena *arena,
                                             const phi_message **out, size_t *count) {
    phi__session_context_list list = {NULL, 0};
    phi__session_context_put_all(&list, way);
    if (list.count == 0) return PHI_OK;
    list.at = (phi_message *)phi_arena_alloc(arena, phi__mul(list.count, sizeof *list.at));
    if (list.at == NULL) return PHI_NO_MEMORY;
    list.count = 0;
    phi__session_context_put_all(&list, way);
    *out = list.at;
    *count = list.count;
    return PHI_OK;
}

/* ---- blocks, made ---- */

/* A compaction under way. */
typedef struct phi__session_context_job {
    phi__session_box *box;
    const phi__session_context_way *way;
    const phi_session_compact_desc *desc;
    phi_arena *scratch;
    char *words;
    size_t words_size;
} phi__session_context_job;

/* A summary is planned for the messages as if they were an earlier run, with one more message as
   the current one. */
static phi_status phi__session_context_sum_up(const phi__session_context_job *job,
                                              const phi_message *messages, size_t count,
                                              phi_rewrite *plan) {
    phi_compaction_config config = job->way->config;
    phi_arena *scratch = job->scratch;
    phi_message *copies =
        (phi_message *)phi_arena_alloc(scratch, phi__mul(count + 1, sizeof *copies));
    phi_view_item *items =
        (phi_view_item *)phi__arena_zero(scratch, phi__mul(count + 1, sizeof *items));
    const phi_message *now = phi__compact_say(PHI__LIT("."), scratch);
    size_t i, turn = 0;
    if (copies == NULL || items == NULL || now == NULL) return PHI_NO_MEMORY;
    for (i = 0; i <= count; i++) {
        copies[i] = i < count ? messages[i] : *now;
        if (i > 0 && i < count && !phi__session_context_same_turn(&messages[i - 1], &messages[i]))
            turn++;
        copies[i].loop_id = i < count ? PHI__LIT("earlier") : PHI__LIT("now");
        copies[i].turn_index = (uint32_t)phi__min(turn, UINT32_MAX);
        items[i].message = &copies[i];
        items[i].from = items[i].to = i;
    }
    config.scope = PHI_COMPACTION_RUNS;
    config.scope_runs = 1;
    return phi__compact_rewrite(items, count + 1, &config, job->way->counter, scratch, plan);
}

static phi_status phi__session_context_compacted(const phi__session_context_job *job,
                                                 const phi_message *messages, size_t count,
                                                 phi_block_section *out) {
    phi_rewrite plan;
    phi_status status = phi__session_context_sum_up(job, messages, count, &plan);
    size_t i;
    if (status != PHI_OK) return status;
    out->present = true;
    if (plan.span_count > 0) {
        count = plan.spans[0].message_count;
        messages = plan.spans[0].messages;
    }
    for (i = 0; plan.span_count > 0 && i < count; i++) {
        phi_message *made = (phi_message *)(uintptr_t)&messages[i]; /* in the scratch arena */
        made->loop_id.len = 0;
        made->turn_index = 0;
    }
    out->message_count = count;
    return phi__session_keep_messages(job->box, messages, count, &out->messages) ? PHI_OK
                                                                                 : PHI_NO_MEMORY;
}

static phi_status phi__session_context_recent(const phi__session_context_job *job,
                                              const phi_message *messages, size_t count,
                                              phi_block_section *out) {
    phi_message *list = (phi_message *)phi_arena_alloc(job->scratch, phi__mul(count, sizeof *list));
    size_t i;
    if (list == NULL) return PHI_NO_MEMORY;
    for (i = 0; i < count; i++) {
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

/* Turns without an id part calls from results: a section that begins with a result begins with its
   call. */
static size_t phi__session_context_whole(const phi_loop_record *loop, size_t from, size_t turn) {
    size_t at = phi__session_context_turn_at(loop->messages, loop->message_count, turn);
    while (turn > from && at < loop->message_count &&
           loop->messages[at].role == PHI_ROLE_TOOL_RESULT) {
        turn--;
        at = phi__session_context_turn_at(loop->messages, loop->message_count, turn);
    }
    return turn;
}

static void phi__session_context_ends(phi_block_section *section, size_t from, size_t end) {
    section->present = true;
    section->from = (uint32_t)phi__min(from, UINT32_MAX);
    section->to = (uint32_t)phi__min(end - 1, UINT32_MAX);
}

/* Messages `from` up to one before `end` of the way's loop i, without those that prunes took; in
   the scratch arena. */
static phi_status phi__session_context_shown(const phi__session_context_job *job, size_t i,
                                             size_t from, size_t end,
                                             phi__session_context_list *list) {
    const phi_message *messages = job->way->loops[i]->messages + from;
    memset(list, 0, sizeof *list);
    phi__session_context_put_shown(list, job->way, i, from, messages, end - from);
    list->at = (phi_message *)phi_arena_alloc(job->scratch,
                                              phi__mul(phi__max(list->count, 1), sizeof *list->at));
    if (list->at == NULL) return PHI_NO_MEMORY;
    list->count = 0;
    phi__session_context_put_shown(list, job->way, i, from, messages, end - from);
    return PHI_OK;
}

static phi_status phi__session_context_make(const phi__session_context_job *job, size_t i,
                                            phi_compaction_block *out) {
    const phi_compaction_config *config = &job->way->config;
    const phi_loop_record *loop = job->way->loops[i];
    const phi_message *messages = loop->messages;
    phi__session_context_list shown;
    size_t turns = phi__session_context_turn_count(messages, loop->message_count), first = 0,
           recent = turns;
    size_t from, to;
    phi_status status = PHI_OK;
    if (i == 0) {
        first = phi__min(config->keep_first_turns, turns);
        first = phi__session_context_whole(loop, 0, first);
        recent = turns - phi__min(config->keep_recent_turns, turns - first);
        recent = phi__session_context_whole(loop, first, recent);
    }
    from = phi__session_context_turn_at(messages, loop->message_count, first);
    to = phi__session_context_turn_at(messages, loop->message_count, recent);
    if (first > 0) phi__session_context_ends(&out->keep_first, 0, first);
    if (first < recent) {
        phi__session_context_ends(&out->keep_compacted, first, recent);
        status = phi__session_context_shown(job, i, from, to, &shown);
        if (status == PHI_OK)
            status =
                phi__session_context_compacted(job, shown.at, shown.count, &out->keep_compacted);
    }
    if (status != PHI_OK || recent == turns) return status;
    phi__session_context_ends(&out->keep_recent, recent, turns);
    status = phi__session_context_shown(job, i, to, loop->message_count, &shown);
    return status == PHI_OK
               ? phi__session_context_recent(job, shown.at, shown.count, &out->keep_recent)
               : status;
}

/* ---- blocks, made by the host ---- */

static phi_status phi__session_context_refuse(const phi__session_context_job *job,
                                              const phi_loop_record *loop, const char *section,
                                              const char *why) {
    if (job->words != NULL && job->words_size > 0)
        (void)snprintf(job->words, job->words_size, "loop %.*s: %s: %s",
                       (int)phi__min(loop->loop_id.len, 128), loop->loop_id.at, section, why);
    return PHI_REFUSED;
}

/* A section of the host's, checked and copied; that of keep_first is turns alone. */
static phi_status phi__session_context_take(const phi__session_context_job *job,
                                            const phi_loop_record *loop, const char *name,
                                            phi_block_section *section, bool has_messages) {
    const phi_message *given = section->messages;
    size_t i, block;
    if (!section->present || !has_messages) section->message_count = 0;
    if (section->message_count == 0) section->messages = NULL;
    if (!section->present) return PHI_OK;
    if (section->from > section->to)
        return phi__session_context_refuse(job, loop, name, "its first turn is behind its last");
    if (section->message_count > 0 && given == NULL)
        return phi__session_context_refuse(job, loop, name, "messages is missing");
    for (i = 0; i < section->message_count; i++) {
        const char *fault = phi__check_message(&given[i], &block);
        if (fault != NULL) return phi__session_context_refuse(job, loop, name, fault);
    }
    return phi__session_keep_messages(job->box, given, section->message_count, &section->messages)
               ? PHI_OK
               : PHI_NO_MEMORY;
}

static phi_status phi__session_context_by_host(const phi__session_context_job *job,
                                               const phi_loop_record *loop, bool is_current,
                                               phi_compaction_block *block) {
    phi_block_request request;
    phi_compaction_block given = *block;
    phi_status status;
    if (job->desc->block_fn == NULL) return PHI_OK;
    memset(&request, 0, sizeof request);
    request.session = &job->box->pub;
    request.loop = loop;
    request.is_current = is_current;
    request.config = &job->way->config;
    request.arena = job->scratch;
    status = job->desc->block_fn(job->desc->user_data, &request, &given);
    if (status != PHI_OK) {
        (void)phi__session_context_refuse(job, loop, "the strategy failed",
                                          phi_status_text(status));
        return status;
    }
    status = phi__session_context_take(job, loop, "keep_first", &given.keep_first, false);
    if (status == PHI_OK)
        status =
            phi__session_context_take(job, loop, "keep_compacted", &given.keep_compacted, true);
    if (status == PHI_OK)
        status = phi__session_context_take(job, loop, "keep_recent", &given.keep_recent, true);
    if (status == PHI_OK && is_current && !given.keep_first.present &&
        given.keep_compacted.message_count + given.keep_recent.message_count == 0)
        return phi__session_context_refuse(job, loop, "the strategy", "its block shows nothing");
    if (status == PHI_OK) *block = given;
    return status;
}

static phi_status phi__session_context_make_all(const phi__session_context_job *job, size_t *made) {
    const phi__session_context_way *way = job->way;
    phi_compaction_block **blocks = (phi_compaction_block **)phi__arena_zero(
        job->scratch, phi__mul(phi__max(way->count, 1), sizeof *blocks));
    phi_status status = blocks != NULL ? PHI_OK : PHI_NO_MEMORY;
    size_t i;
    for (i = 0; i < way->count && status == PHI_OK; i++) {
        phi_loop_record *loop = way->loops[i];
        if (loop->message_count == 0 || (i > 0 && loop->block != NULL)) continue;
        blocks[i] = (phi_compaction_block *)phi__arena_zero(&job->box->arena, sizeof **blocks);
        if (blocks[i] == NULL) return PHI_NO_MEMORY;
        blocks[i]->created_ms = job->desc->at_ms;
        status = phi__session_context_make(job, i, blocks[i]);
        if (status == PHI_OK) status = phi__session_context_by_host(job, loop, i == 0, blocks[i]);
    }
    for (i = 0; i < way->count && status == PHI_OK; i++) {
        if (blocks[i] == NULL) continue;
        way->loops[i]->block = blocks[i];
        ++*made;
    }
    return status;
}

PHI__FN phi_status phi__session_context_compact(phi_session *session,
                                                const phi_session_compact_desc *desc, size_t *made,
                                                char *words, size_t words_size) {
    phi_session_compact_desc none;
    phi__session_context_way way;
    phi__session_context_job job;
    phi_arena scratch;
    phi_status status;
    size_t n = 0;
    memset(&none, 0, sizeof none);
    memset(&job, 0, sizeof job);
    job.desc = desc != NULL ? desc : &none;
    job.box = phi__session_of(session);
    job.way = &way;
    job.scratch = &scratch;
    job.words = words;
    job.words_size = words_size;
    phi__session_context_begin(&way, job.desc->config, job.desc->counter);
    phi_arena_init(&scratch, &job.box->memory, 0);
    status = phi__session_context_find_way(session, job.desc->loop_id, job.desc->flags, &scratch,
                                           &scratch, &way);
    if (status == PHI_OK) status = phi__session_context_make_all(&job, &n);
    phi_arena_free(&scratch);
    if (made != NULL) *made = n;
    return status;
}
