/* compact_levels.c - the three levels over a plain list of messages; their texts are the original's
   (behaviours C 36).

   A group is an answer with all up to the last result of its calls, or any other message. */
#include "history/compact_in.h"

#include "base/utf8_in.h"
#include "history/history_in.h"
#include "model/texts_in.h"

typedef struct phi__compact_levels {
    phi_compaction_config config;
    const phi_token_counter *counter;
    phi_arena *arena;
    const phi_message **list;
    size_t count;
    size_t *callers; /* of each message that is a result: its answer; SIZE_MAX: none */
    size_t *ends;    /* of each message: the end of the group that begins with it */
    uint64_t budget;
    bool no_memory;
} phi__compact_levels;

static uint64_t phi__compact_levels_tokens(const phi__compact_levels *l, size_t from, size_t to) {
    uint64_t sum = 0;
    for (; from < to; from++) sum += phi_tokens_of_message(l->counter, l->list[from]);
    return sum;
}

static bool phi__compact_levels_fit(const phi__compact_levels *l) {
    return phi__compact_levels_tokens(l, 0, l->count) <= l->budget;
}

/* Finds the groups once more, after the list has changed. A group ends with the last result of its
   answer before the next answer. False: no memory. */
static bool phi__compact_levels_group(phi__compact_levels *l) {
    phi_memory *memory = l->arena->memory;
    size_t *callers = phi__groups_find(memory, l->list, sizeof *l->list, l->count);
    size_t answer = SIZE_MAX, i;
    if (callers == NULL) return false;
    for (i = 0; i < l->count; i++) {
        l->callers[i] = callers[i];
        l->ends[i] = i + 1;
        if (l->list[i]->role == PHI_ROLE_ASSISTANT)
            answer = i;
        else if (callers[i] != SIZE_MAX && callers[i] == answer)
            l->ends[answer] = i + 1;
    }
    phi__groups_free(memory, l->count, callers);
    return true;
}

static bool phi__compact_levels_cut_results(phi__compact_levels *l) {
    size_t i;
    for (i = 0; i < l->count; i++) {
        if (l->list[i]->role != PHI_ROLE_TOOL_RESULT) continue;
        l->list[i] = phi__compact_cut(l->list[i], l->config.tool_output_max_lines, l->config.texts,
                                      l->arena);
        if (l->list[i] == NULL) return false;
    }
    return true;
}

/* ---- a line for an answer ---- */

/* All its texts, each cut. */
static bool phi__compact_levels_body(const phi_message *answer, phi__buf *out, uint64_t *calls) {
    size_t i, texts = 0;
    *calls = 0;
    for (i = 0; i < answer->content_count; i++) {
        const phi_content *block = &answer->content[i];
        phi_str text = block->text;
        if (block->kind == PHI_CONTENT_TOOL_CALL) ++*calls;
        if (block->kind != PHI_CONTENT_TEXT || text.len == 0) continue;
        if (texts++ > 0) phi__buf_char(out, ' ');
        phi__buf_add(out, text.at, phi__utf8_cut(text, PHI__COMPACT_TEXT));
    }
    return texts > 0;
}

static bool phi__compact_levels_words(const phi__compact_levels *l, const phi_message *answer,
                                      phi_str *out) {
    phi__texts_args args;
    phi__buf body;
    bool any, done;
    memset(&args, 0, sizeof args);
    phi__buf_init(&body, l->arena->memory);
    any = phi__compact_levels_body(answer, &body, &args.n);
    args.text = phi__buf_str(&body);
    done = !body.failed && phi__texts_make(l->arena, l->config.texts,
                                           any           ? PHI_TEXT_SUMMARY
                                           : args.n == 0 ? PHI_TEXT_SUMMARY_ANSWER_EMPTY
                                                         : PHI_TEXT_SUMMARY_CALLS,
                                           &args, out);
    phi__buf_free(&body);
    return done;
}

static const phi_message *phi__compact_levels_sum_up(const phi__compact_levels *l,
                                                     const phi_message *answer) {
    phi_str words;
    return phi__compact_levels_words(l, answer, &words)
               ? phi__compact_say_at(words, answer, l->arena)
               : NULL;
}

/* The answers before the last ones; results whose call is not there any more go. */
static bool phi__compact_levels_sum_up_all(phi__compact_levels *l) {
    size_t recent = l->count - phi__min(l->config.keep_recent_messages, l->count);
    size_t i, n = 0, end;
    for (i = 0; i < recent; i = end) {
        const phi_message *m = l->list[i];
        end = i + 1;
        if (m->role == PHI_ROLE_TOOL_RESULT) continue;
        if (m->role == PHI_ROLE_ASSISTANT) {
            size_t j;
            end = l->ends[i];
            m = phi__compact_levels_sum_up(l, m);
            if (m == NULL) return false;
            l->list[n++] = m;
            for (j = i + 1; j < end; j++)
                if (l->list[j]->role != PHI_ROLE_TOOL_RESULT) l->list[n++] = l->list[j];
            continue;
        }
        l->list[n++] = m;
    }
    for (; i < l->count; i++) l->list[n++] = l->list[i];
    l->count = n;
    return true;
}

/* ---- the middle ---- */

static const phi_message *phi__compact_levels_marker(const phi__compact_levels *l, uint64_t gone,
                                                     phi_text which) {
    phi_str text;
    return phi__texts_make_n(l->arena, l->config.texts, which, gone, &text)
               ? phi__compact_say(text, l->arena)
               : NULL;
}

/* Tokens of the marker at the front. */
static uint64_t phi__compact_levels_marker_tokens(phi__compact_levels *l, uint64_t gone) {
    phi_arena_mark mark = phi_arena_save(l->arena);
    const phi_message *marker = phi__compact_levels_marker(l, gone, PHI_TEXT_REMOVED_OLDEST);
    uint64_t tokens = marker != NULL ? phi_tokens_of_message(l->counter, marker) : 0;
    if (marker == NULL) l->no_memory = true;
    phi_arena_reset(l->arena, mark);
    return tokens;
}

/* How many messages are gone when this one goes: a marker, of this call or of an earlier one, is
   none itself and stands for as many as it says. */
static uint64_t phi__compact_levels_stands_for(const phi__compact_levels *l,
                                               const phi_message *message) {
    const phi_texts *texts = l->config.texts;
    uint64_t n = 1;
    if (message->role != PHI_ROLE_USER || message->content_count != 1 ||
        message->content[0].kind != PHI_CONTENT_TEXT)
        return 1;
    return phi__texts_is(texts, PHI_TEXT_REMOVED, PHI_TEXT_COUNT, message->content[0].text, &n) ||
                   phi__texts_is(texts, PHI_TEXT_REMOVED_OLDEST, PHI_TEXT_COUNT,
                                 message->content[0].text, &n)
               ? n
               : 1;
}

static uint64_t phi__compact_levels_gone(const phi__compact_levels *l, size_t from, size_t to) {
    uint64_t sum = 0;
    for (; from < to; from++) sum += phi__compact_levels_stands_for(l, l->list[from]);
    return sum;
}

/* Where the last whole group ends that is within the first `most` messages; and where the first one
   begins that is within the last `most`. */
static size_t phi__compact_levels_head(const phi__compact_levels *l, size_t most) {
    size_t at = 0;
    while (at < l->count && l->ends[at] <= most) at = l->ends[at];
    return at;
}

static size_t phi__compact_levels_tail(const phi__compact_levels *l, size_t most) {
    size_t at = 0, from = l->count - phi__min(most, l->count);
    while (at < from) at = l->ends[at];
    return at;
}

static bool phi__compact_levels_cut_middle(phi__compact_levels *l, size_t head, size_t tail) {
    const phi_message *marker;
    if (head >= tail) return true;
    marker =
        phi__compact_levels_marker(l, phi__compact_levels_gone(l, head, tail), PHI_TEXT_REMOVED);
    if (marker == NULL) return false;
    l->list[head] = marker;
    memmove(l->list + head + 1, l->list + tail, (l->count - tail) * sizeof *l->list);
    l->count -= tail - head - 1;
    return true;
}

/* The list begins with a summary of all before it, which is cut last. */
static size_t phi__compact_levels_summary(const phi__compact_levels *l) {
    const phi_message *first = l->count > 0 ? l->list[0] : NULL;
    uint64_t n;
    return first != NULL && first->role == PHI_ROLE_USER && first->content_count == 1 &&
                   first->content[0].kind == PHI_CONTENT_TEXT &&
                   phi__texts_is(l->config.texts, PHI_TEXT_SUMMARY, PHI_TEXT_COUNT,
                                 first->content[0].text, &n)
               ? 1
               : 0;
}

/* The start of the newest groups that fit behind a marker; when not even the newest does, of the
   newest groups that fit alone. The first `kept` messages stay in any case. */
static size_t phi__compact_levels_newest_from(phi__compact_levels *l, const size_t *ends,
                                              size_t groups, size_t kept, bool *marked) {
    uint64_t tokens = phi__compact_levels_tokens(l, 0, kept);
    uint64_t gone = phi__compact_levels_gone(l, kept, l->count);
    size_t from = l->count;
    *marked = false;
    for (; groups > kept; groups--) {
        size_t begins = groups > 1 ? ends[groups - 2] : 0, end = ends[groups - 1];
        tokens += phi__compact_levels_tokens(l, begins, end);
        if (tokens > l->budget) break;
        gone -= phi__compact_levels_gone(l, begins, end);
        if (tokens + phi__compact_levels_marker_tokens(l, gone) <= l->budget)
            *marked = true;
        else if (*marked)
            break;
        from = begins;
    }
    return from;
}

/* `ends`: room for one more than there are messages. */
static bool phi__compact_levels_newest(phi__compact_levels *l, size_t *ends) {
    const phi_message *marker;
    size_t groups = 0, at, from, head, kept = phi__compact_levels_summary(l);
    bool marked;
    for (at = 0; at < l->count; at = ends[groups++]) ends[groups] = l->ends[at];
    from = phi__compact_levels_newest_from(l, ends, groups, kept, &marked);
    if (from == l->count && kept > 0) {
        kept = 0;
        from = phi__compact_levels_newest_from(l, ends, groups, kept, &marked);
    }
    if (from == kept) return true;
    marker = marked ? phi__compact_levels_marker(l, phi__compact_levels_gone(l, kept, from),
                                                 PHI_TEXT_REMOVED_OLDEST)
                    : NULL;
    if (marked && marker == NULL) return false;
    head = kept + (marked ? 1 : 0);
    memmove(l->list + head, l->list + from, (l->count - from) * sizeof *l->list);
    if (marked) l->list[kept] = marker;
    l->count -= from - head;
    return true;
}

/* Results without their call would be refused. */
static void phi__compact_levels_drop_orphans(phi__compact_levels *l) {
    size_t i, j, n = 0, end;
    for (i = 0; i < l->count; i = end) {
        end = l->ends[i];
        if (l->list[i]->role == PHI_ROLE_TOOL_RESULT) continue;
        for (j = i; j < end; j++)
            if (l->list[j]->role != PHI_ROLE_TOOL_RESULT || l->callers[j] == i)
                l->list[n++] = l->list[j];
    }
    l->count = n;
}

static phi_status phi__compact_levels_go(phi__compact_levels *l) {
    size_t head, tail, *ends;
    if (phi__compact_levels_fit(l)) return PHI_OK;
    if (!phi__compact_levels_cut_results(l)) return PHI_NO_MEMORY;
    if (phi__compact_levels_fit(l)) return PHI_OK;
    if (!phi__compact_levels_group(l) || !phi__compact_levels_sum_up_all(l) ||
        !phi__compact_levels_group(l))
        return PHI_NO_MEMORY;
    phi__compact_levels_drop_orphans(l);
    if (phi__compact_levels_fit(l)) return PHI_OK;
    if (!phi__compact_levels_group(l)) return PHI_NO_MEMORY;
    tail = phi__compact_levels_tail(l, l->config.keep_recent_messages);
    head = phi__compact_levels_head(l, l->config.keep_first_messages);
    if (!phi__compact_levels_cut_middle(l, phi__max(head, phi__compact_levels_summary(l)), tail))
        return PHI_NO_MEMORY;
    if (phi__compact_levels_fit(l)) return PHI_OK;
    ends = (size_t *)phi_arena_alloc(l->arena, phi__mul(phi__max(l->count, 1), sizeof *ends));
    if (ends == NULL || !phi__compact_levels_group(l)) return PHI_NO_MEMORY;
    return phi__compact_levels_newest(l, ends) && !l->no_memory ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- public ---- */

PHI_API phi_status phi_compact_messages(const phi_message *const *messages, size_t count,
                                        const phi_compaction_config *config,
                                        const phi_token_counter *counter, phi_arena *arena,
                                        const phi_message *const **out, size_t *out_count) {
    phi__compact_levels l;
    phi_status status;
    size_t i;
    if (arena == NULL || out == NULL || out_count == NULL || (messages == NULL && count > 0))
        return PHI_BAD_ARG;
    for (i = 0; i < count; i++)
        if (messages[i] == NULL) return PHI_BAD_ARG;
    memset(&l, 0, sizeof l);
    l.config = phi__compact_config(config);
    l.counter = counter;
    l.arena = arena;
    l.budget = l.config.max_context_tokens > l.config.system_prompt_tokens
                   ? l.config.max_context_tokens - l.config.system_prompt_tokens
                   : 0;
    l.list = (const phi_message **)phi_arena_alloc(
        arena, phi__mul(phi__add(count, 1), sizeof *l.list)); /* and a marker */
    l.callers = (size_t *)phi_arena_alloc(arena, phi__mul(phi__max(count, 1), sizeof *l.callers));
    l.ends = (size_t *)phi_arena_alloc(arena, phi__mul(phi__max(count, 1), sizeof *l.ends));
    if (l.list == NULL || l.callers == NULL || l.ends == NULL) return PHI_NO_MEMORY;
    l.count = count;
    if (count > 0) memcpy(l.list, messages, count * sizeof *l.list);
    status = phi__compact_levels_go(&l);
    if (status != PHI_OK) return status;
    *out = l.list;
    *out_count = l.count;
    return PHI_OK;
}
