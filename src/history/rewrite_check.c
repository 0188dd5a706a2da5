/* rewrite_check.c - checks whether a rewrite is valid. */
#include "history/rewrite_in.h"

#include "text/json.h"
#include "history/load_in.h"
#include "history/thread_in.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>

PHI__FN phi_status phi__rewrite_check_refuse(phi__rewriting *w, const char *format, ...) {
    va_list args;
    if (w->words_size == 0) return PHI_BAD_ARG;
    va_start(args, format);
    (void)vsnprintf(w->words, w->words_size, format, args);
    va_end(args);
    return PHI_BAD_ARG;
}

static phi_status phi__rewrite_check_messages(phi__rewriting *w, size_t at) {
    const phi_span *span = &w->given->spans[at];
    size_t i, block;
    if (span->message_count > 0 && span->messages == NULL)
        return phi__rewrite_check_refuse(w, "spans[%u].messages is missing", (unsigned)at);
    for (i = 0; i < span->message_count; i++) {
        const phi_message *m = &span->messages[i];
        const char *fault;
        if (m->role != PHI_ROLE_USER && m->role != PHI_ROLE_ASSISTANT &&
            m->role != PHI_ROLE_TOOL_RESULT)
            return phi__rewrite_check_refuse(w, "spans[%u].messages[%u]: no role a model has",
                                             (unsigned)at, (unsigned)i);
        if (m->content_count == 0 || m->content == NULL)
            return phi__rewrite_check_refuse(w, "spans[%u].messages[%u]: no content", (unsigned)at,
                                             (unsigned)i);
        fault = phi__check_message(m, &block);
        if (fault != NULL && block == SIZE_MAX)
            return phi__rewrite_check_refuse(w, "spans[%u].messages[%u]: %s", (unsigned)at,
                                             (unsigned)i, fault);
        if (fault != NULL)
            return phi__rewrite_check_refuse(w, "spans[%u].messages[%u].content[%u]: %s",
                                             (unsigned)at, (unsigned)i, (unsigned)block, fault);
    }
    return PHI_OK;
}

static phi_status phi__rewrite_check_spans(phi__rewriting *w) {
    const phi_rewrite *r = w->given;
    size_t i;
    for (i = 0; i < r->span_count; i++) {
        const phi_span *span = &r->spans[i];
        if (span->from > span->to || span->to > w->base)
            return phi__rewrite_check_refuse(
                w, "spans[%u]: %llu to %llu, expected up to base_seq %llu", (unsigned)i,
                (unsigned long long)span->from, (unsigned long long)span->to,
                (unsigned long long)w->base);
        if (span->from < w->thread->log.base)
            return phi__rewrite_check_refuse(
                w, "spans[%u]: entry %llu is forgotten, the first is %llu", (unsigned)i,
                (unsigned long long)span->from, (unsigned long long)w->thread->log.base);
        if (i > 0 && span->from <= r->spans[i - 1].to)
            return phi__rewrite_check_refuse(w, "spans[%u] begins inside the one before",
                                             (unsigned)i);
    }
    return PHI_OK;
}

/* The span an item goes with, or SIZE_MAX; cut: it lies across an end of one. Items and spans both
   ascend. */
static size_t phi__rewrite_check_span_of(const phi_rewrite *r, const phi__item *item, size_t *from,
                                         bool *cut) {
    const phi_span *span;
    while (*from < r->span_count && r->spans[*from].to < item->from) ++*from;
    if (*from == r->span_count || r->spans[*from].from > item->to) return SIZE_MAX;
    span = &r->spans[*from];
    *cut = item->from < span->from || item->to > span->to;
    return *from;
}

enum { PHI__REWRITE_STAYS, PHI__REWRITE_GOES, PHI__REWRITE_REPLACED };

/* The fate of an item: an item that a span of one message replaces keeps its place in its group. */
static int phi__rewrite_check_fate(const phi_rewrite *r, const phi__item *item, size_t span) {
    const phi_span *s;
    if (span == SIZE_MAX) return PHI__REWRITE_STAYS;
    s = &r->spans[span];
    return s->message_count == 1 && s->from == item->from && s->to == item->to &&
                   phi__groups_same_ids(item->message, &s->messages[0])
               ? PHI__REWRITE_REPLACED
               : PHI__REWRITE_GOES;
}

static phi_status phi__rewrite_check_fates(phi__rewriting *w, const size_t *callers,
                                           const uint8_t *durable, uint8_t *fates) {
    const phi__fold *fold = w->fold;
    size_t i, from = 0;
    for (i = 0; i < fold->count; i++) {
        const phi__item *item = &fold->items[i];
        bool cut = false;
        size_t span = phi__rewrite_check_span_of(w->given, item, &from, &cut);
        if (cut)
            return phi__rewrite_check_refuse(
                w, "spans[%u] cuts what stands for entries %llu to %llu", (unsigned)span,
                (unsigned long long)item->from, (unsigned long long)item->to);
        fates[i] = (uint8_t)(durable != NULL && durable[i] != 0
                                 ? PHI__REWRITE_STAYS
                                 : phi__rewrite_check_fate(w->given, item, span));
        if (callers[i] != SIZE_MAX &&
            (fates[callers[i]] == PHI__REWRITE_GOES) != (fates[i] == PHI__REWRITE_GOES))
            return phi__rewrite_check_refuse(
                w, "entry %llu is a result of the call in entry %llu: they go together",
                (unsigned long long)item->from, (unsigned long long)fold->items[callers[i]].from);
    }
    return PHI_OK;
}

/* The places in the view that the messages of spans get. */
typedef struct phi__rewrite_places {
    const size_t *callers;
    const uint8_t *fates;
    size_t span;  /* the next */
    size_t put;   /* the last span that puts messages behind `prior`; SIZE_MAX: none does */
    size_t prior; /* the item that stays and was seen last; SIZE_MAX: none was */
} phi__rewrite_places;

/* Whether the span, which begins with item `at` at the earliest, puts messages in front of it. As
   in a fold: a replaced item has its place, and where all that it holds stays, nothing is put. */
static bool phi__rewrite_check_puts(const phi__rewriting *w, const phi__rewrite_places *p,
                                    size_t at) {
    const phi_span *span = &w->given->spans[p->span];
    size_t i = at;
    if (span->message_count == 0) return false;
    while (i < w->fold->count && w->fold->items[i].from <= span->to &&
           p->fates[i] == PHI__REWRITE_STAYS)
        i++;
    if (i < w->fold->count && w->fold->items[i].from <= span->to)
        return p->fates[i] != PHI__REWRITE_REPLACED;
    return i == at; /* it holds notes alone */
}

/* The model loses a result if a message lies between it and its call. */
static phi_status phi__rewrite_check_parts(phi__rewriting *w, phi__rewrite_places *p) {
    const phi_rewrite *r = w->given;
    size_t i;
    for (i = 0; i < w->fold->count; i++) {
        const phi__item *item = &w->fold->items[i];
        size_t caller = p->callers[i];
        for (; p->span < r->span_count && r->spans[p->span].from <= item->from; p->span++)
            if (phi__rewrite_check_puts(w, p, i)) p->put = p->span;
        if (p->fates[i] == PHI__REWRITE_GOES || item->message->role == PHI_ROLE_EXTENSION) continue;
        if (caller != SIZE_MAX && p->put != SIZE_MAX && p->prior != SIZE_MAX &&
            (p->prior == caller || p->callers[p->prior] == caller))
            return phi__rewrite_check_refuse(
                w, "spans[%u] puts messages between entry %llu and its result in entry %llu",
                (unsigned)p->put, (unsigned long long)w->fold->items[caller].from,
                (unsigned long long)item->from);
        p->prior = i;
        p->put = SIZE_MAX;
    }
    return PHI_OK;
}

/* True if a result may follow messages that spans put. A log that is read is as it was written.
   What the walk of one span passed, no later span looks at. */
static bool phi__rewrite_check_may_part(const phi__rewriting *w) {
    const phi__fold *fold = w->fold;
    size_t i, at = 0;
    for (i = 0; i < w->given->span_count && w->thread->loading == NULL; i++) {
        if (w->given->spans[i].message_count == 0) continue;
        at = phi__max(at, phi__fold_find(fold, w->given->spans[i].from));
        while (at < fold->count && (fold->items[at].from <= w->given->spans[i].to ||
                                    fold->items[at].message->role == PHI_ROLE_EXTENSION))
            at++;
        if (at < fold->count && fold->items[at].message->role == PHI_ROLE_TOOL_RESULT) return true;
    }
    return false;
}

static phi_status phi__rewrite_check_places(phi__rewriting *w, const size_t *callers,
                                            const uint8_t *fates) {
    phi__rewrite_places p;
    memset(&p, 0, sizeof p);
    p.callers = callers;
    p.fates = fates;
    p.put = p.prior = SIZE_MAX;
    return w->thread->loading == NULL ? phi__rewrite_check_parts(w, &p) : PHI_OK;
}

static phi_status phi__rewrite_check_groups(phi__rewriting *w) {
    phi_memory *memory = w->thread->log.memory;
    const phi__fold *fold = w->fold;
    phi_status status = PHI_NO_MEMORY;
    uint8_t *durable = NULL, *fates;
    size_t *callers;
    if (w->given->span_count == 0 ||
        (phi__load_fits(fold, w->given) && !phi__rewrite_check_may_part(w)))
        return PHI_OK;
    fates = (uint8_t *)phi__alloc(memory, phi__max(fold->count, 1));
    callers = phi__groups_make(memory, fold);
    if (fates != NULL && callers != NULL &&
        (w->given->reason != PHI_REWRITE_COMPACTION || phi__groups_durable(memory, fold, &durable)))
        status = phi__rewrite_check_fates(w, callers, durable, fates);
    if (status == PHI_OK) status = phi__rewrite_check_places(w, callers, fates);
    phi__free(memory, durable, durable != NULL ? fold->count : 0);
    phi__groups_free(memory, fold->count, callers);
    phi__free(memory, fates, fates != NULL ? phi__max(fold->count, 1) : 0);
    return status;
}

/* Names of the rewrite's own, and of a lane that may begin with it. */
static phi_status phi__rewrite_check_names(phi__rewriting *w) {
    const phi_rewrite *r = w->given;
    if (r->op_id != NULL && !phi__check_id_fits(phi_str_of(r->op_id)))
        return phi__rewrite_check_refuse(w, "op_id is not UTF-8");
    if (r->switch_to == NULL) return PHI_OK;
    if (r->switch_to[0] == '\0') return phi__rewrite_check_refuse(w, "switch_to is empty");
    return phi__check_id_fits(phi_str_of(r->switch_to))
               ? PHI_OK
               : phi__rewrite_check_refuse(w, "switch_to is not UTF-8");
}

/* It is written to files that other programs read: text that is no JSON would spoil them. */
static phi_status phi__rewrite_check_meta(phi__rewriting *w) {
    phi_arena scratch;
    phi_json *root = NULL;
    phi_status status;
    if (w->given->meta == NULL) return PHI_OK;
    phi_arena_init(&scratch, w->thread->log.memory, 0);
    status = phi_json_parse(&scratch, phi_str_of(w->given->meta), PHI_JSON_BORROW, &root, NULL);
    phi_arena_free(&scratch);
    if (status == PHI_OK || status == PHI_NO_MEMORY) return status;
    return phi__rewrite_check_refuse(w, "meta is no JSON");
}

static phi_status phi__rewrite_check_form(phi__rewriting *w) {
    const phi_rewrite *r = w->given;
    size_t i;
    if ((unsigned)r->reason > (unsigned)PHI_REWRITE_SYSTEM)
        return phi__rewrite_check_refuse(w, "reason is none of its values");
    if (r->revoke != NULL && r->span_count > 0)
        return phi__rewrite_check_refuse(w, "revoke comes without spans");
    if (r->revoke != NULL && r->switch_to != NULL)
        return phi__rewrite_check_refuse(w, "revoke comes without switch_to");
    if (phi__rewrite_check_names(w) != PHI_OK) return PHI_BAD_ARG;
    if (r->span_count > 0 && r->spans == NULL)
        return phi__rewrite_check_refuse(w, "spans is missing");
    for (i = 0; i < r->span_count; i++) {
        phi_status status = phi__rewrite_check_messages(w, i);
        if (status != PHI_OK) return status;
    }
    if (w->given->written != NULL &&
        !(w->given->written->cost >= 0 && w->given->written->cost <= DBL_MAX))
        return phi__rewrite_check_refuse(w, "written.cost is no amount");
    return phi__rewrite_check_meta(w);
}

PHI__FN phi_status phi__rewrite_check(phi__rewriting *w) {
    phi_thread *thread = w->thread;
    const phi_rewrite *r = w->given;
    phi_status status = phi__rewrite_check_form(w);
    if (status != PHI_OK) return status;
    w->base = r->has_base || r->base_seq != 0 ? r->base_seq
              : thread->log.count > 0         ? (uint64_t)thread->log.count - 1
                                              : 0;
    if (w->base >= phi__max(thread->log.count, 1))
        return phi__rewrite_check_refuse(w, "base_seq is %llu, there are %llu entries",
                                         (unsigned long long)w->base,
                                         (unsigned long long)thread->log.count);
    if (thread->log.count == 0 && r->span_count > 0)
        return phi__rewrite_check_refuse(w, "there is nothing to rewrite");
    status = phi__rewrite_check_spans(w);
    if (status != PHI_OK || r->revoke != NULL || r->span_count == 0) return status;
    w->fold = &thread->fold;
    if (thread->loading != NULL) {
        status = phi__load_view(thread, w->lane, &w->fold);
        if (status != PHI_OK) return status;
    } else if (w->lane != thread->lanes.active) {
        status = phi__fold_lane(thread, w->lane, UINT64_MAX, &w->made);
        if (status != PHI_OK) return status;
        w->fold = &w->made;
    }
    status = phi__rewrite_check_groups(w);
    phi__fold_free(thread->log.memory, &w->made);
    return status;
}

PHI__FN phi__rewriting phi__rewrite_check_begin(phi_thread *thread, const phi_rewrite *rewrite,
                                                char *words, size_t words_size) {
    phi__rewriting w;
    memset(&w, 0, sizeof w);
    w.thread = thread;
    w.given = rewrite;
    w.lane = thread->lanes.active;
    w.words = words;
    w.words_size = words != NULL ? words_size : 0;
    if (w.words_size > 0) words[0] = '\0';
    return w;
}

PHI__FN bool phi__rewrite_check_named(const phi_rewrite *r) {
    return r->op_id != NULL && r->op_id[0] != '\0';
}

/* "op-" and a number: ids of this form are phi's to make. */
static bool phi__rewrite_check_is_made(const char *op_id) {
    if (strncmp(op_id, "op-", 3) != 0 || op_id[3] == '\0') return false;
    return op_id[3 + strspn(op_id + 3, "0123456789")] == '\0';
}

PHI__FN phi_status phi__rewrite_check_form_of(phi_thread *thread, const phi_rewrite *rewrite,
                                              char *words, size_t words_size) {
    phi__rewriting w = phi__rewrite_check_begin(thread, rewrite, words, words_size);
    return phi__rewrite_check_form(&w);
}

PHI__FN phi_status phi__rewrite_check_given(phi_thread *thread, const phi_rewrite *rewrite,
                                            char *words, size_t words_size) {
    phi__rewriting w = phi__rewrite_check_begin(thread, rewrite, words, words_size);
    if (!phi__rewrite_check_named(rewrite) || !phi__rewrite_check_is_made(rewrite->op_id))
        return PHI_OK;
    return phi__rewrite_check_refuse(&w, "op_id \"%.40s\": ids of the form op-NUMBER are phi's own",
                                     rewrite->op_id);
}

PHI__FN phi_status phi__rewrite_check_full(phi_thread *thread, const phi_rewrite *rewrite,
                                           char *words, size_t words_size) {
    phi__rewriting w = phi__rewrite_check_begin(thread, rewrite, words, words_size);
    return phi__rewrite_check(&w);
}
