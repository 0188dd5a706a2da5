/* revert.c - plans a revert: it takes out everything behind a step, or nothing. */
#include "history/revert_in.h"

#include "text/json_in.h"
#include "history/step_in.h"
#include "history/compact_in.h"
#include "history/history_in.h"
#include "model/texts_in.h"
#include "model/event_parts.h"

#include <stdio.h>

enum {
    PHI__REVERT_FRESH_TURNS = 5, /* a line of a failure or a tangent stays that long */
    PHI__REVERT_NEWEST = 3       /* ... and as long as it is one of so many of its category */
};

typedef struct phi__reverting {
    const phi_thread *thread;
    const phi_revert *revert;
    phi_arena *arena;
    size_t target, first; /* items: the step, and the first one taken out */
    phi_reverted *told;
} phi__reverting;

static bool phi__revert_text(phi_arena *arena, phi_str *out, const char *format, uint64_t n) {
    char text[64];
    (void)snprintf(text, sizeof text, format, (unsigned long long)n);
    return phi__arena_str(arena, phi_str_of(text), out);
}

/* ---- steps ---- */

PHI__FN size_t phi__revert_step_label(uint64_t seq, char out[PHI__STEP_BYTES]) {
    return (size_t)snprintf(out, PHI__STEP_BYTES, "[step n%llu]", (unsigned long long)seq);
}

PHI__FN bool phi__revert_step_number(phi_str name, uint64_t *seq) {
    size_t from = name.len > 0 && name.at[0] == 'n' ? 1 : 0;
    return name.len > from && phi__str_to_u64(phi__str(name.at + from, name.len - from), seq);
}

PHI__FN void phi__revert_step_put_all(phi__buf *out, const phi_str *names, size_t count) {
    uint64_t seq = 0;
    size_t i;
    phi__buf_char(out, '[');
    for (i = 0; i < count; i++) {
        if (!phi__revert_step_number(names[i], &seq)) continue;
        phi__json_write_comma(out);
        phi__json_number_put_u64(out, seq);
    }
    phi__buf_char(out, ']');
}

/* A label of another thread's numbers, as a restored history has, names nothing. */
static bool phi__revert_is_step(const phi__item *item) {
    const phi_message *m = item->message;
    char label[PHI__STEP_BYTES];
    const phi_content *last;
    if (m->role != PHI_ROLE_TOOL_RESULT || m->content_count == 0 ||
        (item->flags & PHI_ITEM_SYNTHETIC) != 0)
        return false;
    last = &m->content[m->content_count - 1];
    (void)phi__revert_step_label(item->from, label);
    return last->kind == PHI_CONTENT_TEXT && phi__str_is(last->text, label);
}

static bool phi__revert_find(phi__reverting *r) {
    const phi__fold *fold = &r->thread->fold;
    size_t i = fold->count;
    if (r->revert->end_seq != 0 && r->revert->step >= r->revert->end_seq) return false;
    while (i > 0 && fold->items[i - 1].to >= r->revert->step) {
        const phi__item *item = &fold->items[--i];
        if (item->from != r->revert->step || !phi__revert_is_step(item)) continue;
        r->target = i;
        for (r->first = i + 1; r->first < fold->count; r->first++)
            if (fold->items[r->first].message->role != PHI_ROLE_TOOL_RESULT) break;
        return r->first < fold->count;
    }
    return false;
}

/* Whether the log has a user's message behind the step, in view or not. */
static bool phi__revert_user_behind(const phi__reverting *r) {
    return r->thread->messages.last_user > 0 && r->thread->messages.last_user - 1 > r->revert->step;
}

/* ---- the report ---- */

static bool phi__revert_abandon(phi__reverting *r) {
    const phi__fold *fold = &r->thread->fold;
    phi_str *names =
        (phi_str *)phi_arena_alloc(r->arena, phi__mul(fold->count - r->first, sizeof *names));
    size_t i;
    if (names == NULL) return false;
    for (i = r->first; i < fold->count; i++) {
        if ((fold->items[i].flags & PHI_ITEM_SYNTHETIC) != 0) continue;
        if (!phi__revert_text(r->arena, &names[r->told->abandoned_count++], "n%llu",
                              fold->items[i].from))
            return false;
    }
    r->told->abandoned = names;
    return true;
}

static phi_text phi__revert_name(phi_revert_category category) {
    return (phi_text)(PHI_TEXT_REVERT_FAILURE + (category - PHI_REVERT_FAILURE));
}

static phi_message *phi__revert_tag(const phi__reverting *r) {
    const phi_texts *texts = r->revert->texts;
    phi__texts_args args;
    phi_str text;
    memset(&args, 0, sizeof args);
    args.n = r->revert->step;
    args.text = r->told->summary;
    args.name = phi_str_of(phi__texts_get(texts, phi__revert_name(r->revert->category)));
    return phi__texts_make(r->arena, texts,
                           args.text.len > 0 ? PHI_TEXT_REVERTED_SUMMARY : PHI_TEXT_REVERTED, &args,
                           &text)
               ? phi__compact_say_at(text, r->thread->fold.items[r->target].message, r->arena)
               : NULL;
}

/* As the event has it. */
static bool phi__revert_meta(const phi__reverting *r, const char **meta) {
    phi__buf out;
    phi_str kept;
    bool done;
    phi__buf_init(&out, r->arena->memory);
    phi__buf_text(&out, "{\"category\":");
    phi__json_write_str(&out, r->told->category);
    phi__buf_text(&out, ",\"target\":");
    phi__json_number_put_u64(&out, r->revert->step);
    phi__buf_text(&out, ",\"abandoned_node_ids\":");
    phi__revert_step_put_all(&out, r->told->abandoned, r->told->abandoned_count);
    phi__buf_text(&out, ",\"summary\":");
    if (r->told->summary.len > 0)
        phi__json_write_str(&out, r->told->summary);
    else
        phi__buf_text(&out, "null");
    phi__buf_char(&out, '}');
    done = !out.failed && phi__arena_str(r->arena, phi__buf_str(&out), &kept);
    phi__buf_free(&out);
    if (done) *meta = kept.at;
    return done;
}

/* ---- lines of earlier reverts ---- */

/* The category of the revert that left its line in this item; 0: none did, or the line is not alone
   in its place, as in a history that was carried over. */
static phi_revert_category phi__revert_category_of(const phi__reverting *r, size_t at) {
    const phi_texts *texts = r->revert->texts;
    const phi__fold *fold = &r->thread->fold;
    const phi__item *item = &fold->items[at];
    uint64_t step;
    int c;
    if ((item->flags & PHI_ITEM_SYNTHETIC) == 0 || item->message->content_count != 1 ||
        item->message->role != PHI_ROLE_USER ||
        (at > 0 && fold->items[at - 1].from == item->from) ||
        (at + 1 < fold->count && fold->items[at + 1].from == item->from))
        return (phi_revert_category)0;
    for (c = PHI_REVERT_FAILURE; c <= PHI_REVERT_STEP_SUMMARY; c++) {
        phi_text name = phi__revert_name((phi_revert_category)c);
        phi_str text = item->message->content[0].text;
        if (phi__texts_is(texts, PHI_TEXT_REVERTED, name, text, &step) ||
            phi__texts_is(texts, PHI_TEXT_REVERTED_SUMMARY, name, text, &step))
            return (phi_revert_category)c;
    }
    return (phi_revert_category)0;
}

/* Failures and tangents are of use for a while; completions and summaries stay. */
static bool phi__revert_ages(phi_revert_category category) {
    return category == PHI_REVERT_FAILURE || category == PHI_REVERT_TANGENT;
}

/* Writes a span that drops each old line, from `at` downwards. Returns the first one's index. */
static size_t phi__revert_drop_old(const phi__reverting *r, phi_span *spans, size_t at) {
    const phi__fold *fold = &r->thread->fold;
    size_t seen[PHI_REVERT_STEP_SUMMARY + 1] = {0}, turns = 0, i;
    seen[r->revert->category] = 1;
    for (i = fold->count; i > 0; i--) {
        phi_revert_category category;
        turns += fold->items[i - 1].message->role == PHI_ROLE_ASSISTANT;
        if (i - 1 >= r->first) continue;
        category = phi__revert_category_of(r, i - 1);
        if (!phi__revert_ages(category) || seen[category]++ < PHI__REVERT_NEWEST ||
            turns <= PHI__REVERT_FRESH_TURNS)
            continue;
        spans[--at].from = fold->items[i - 1].from;
        spans[at].to = fold->items[i - 1].to;
    }
    return at;
}

static size_t phi__revert_old_lines(const phi__reverting *r) {
    size_t n = 0, i;
    for (i = 0; i < r->first; i++) n += phi__revert_ages(phi__revert_category_of(r, i));
    return n;
}

static phi_status phi__revert_make(phi__reverting *r, phi_rewrite *out) {
    const phi__fold *fold = &r->thread->fold;
    size_t last = phi__revert_old_lines(r), first;
    phi_span *spans = (phi_span *)phi__arena_zero(r->arena, phi__mul(last + 1, sizeof *spans));
    const char *meta = NULL;
    if (spans == NULL || !phi__revert_abandon(r) || !phi__revert_meta(r, &meta))
        return PHI_NO_MEMORY;
    spans[last].from = fold->items[r->first].from;
    spans[last].to = fold->items[fold->count - 1].to;
    spans[last].messages = phi__revert_tag(r);
    spans[last].message_count = 1;
    if (spans[last].messages == NULL) return PHI_NO_MEMORY;
    first = phi__revert_drop_old(r, spans, last);
    out->meta = meta;
    out->spans = spans + first;
    out->span_count = last + 1 - first;
    r->told->applied = true;
    return PHI_OK;
}

static phi_status phi__revert_refuse(phi__reverting *r, const char *format) {
    return phi__revert_text(r->arena, &r->told->reason, format, r->revert->step) ? PHI_OK
                                                                                 : PHI_NO_MEMORY;
}

PHI__FN const char *phi__revert_word(phi_revert_category category) {
    switch (category) {
    case PHI_REVERT_FAILURE: return "failure";
    case PHI_REVERT_TANGENT: return "tangent";
    case PHI_REVERT_COMPLETION: return "completion";
    case PHI_REVERT_STEP_SUMMARY: return "step-summary";
    }
    return "";
}

PHI__FN phi_status phi__revert_plan(const phi_thread *thread, const phi_revert *revert,
                                    phi_arena *arena, phi_rewrite *out, phi_reverted *reverted) {
    phi__reverting r;
    if (thread == NULL || revert == NULL || arena == NULL || out == NULL || reverted == NULL ||
        *phi__revert_word(revert->category) == '\0')
        return PHI_BAD_ARG;
    memset(&r, 0, sizeof r);
    memset(out, 0, sizeof *out);
    memset(reverted, 0, sizeof *reverted);
    r.thread = thread;
    r.revert = revert;
    r.arena = arena;
    r.told = reverted;
    out->reason = PHI_REWRITE_REVERT;
    reverted->category = phi_str_of(phi__revert_word(revert->category));
    if (!phi__revert_text(arena, &reverted->target, "n%llu", revert->step) ||
        !phi__arena_str(arena, revert->summary, &reverted->summary))
        return PHI_NO_MEMORY;
    if (!phi__revert_find(&r)) return phi__revert_refuse(&r, "step n%llu was not found");
    if (phi__revert_user_behind(&r))
        return phi__revert_refuse(&r, "a user message stands behind step n%llu");
    return phi__revert_make(&r, out);
}
