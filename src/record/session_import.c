/* session_import.c - puts a session into a thread: its messages as they were, what prunes took as a
   rewrite, and its blocks as another.

   The messages of the whole way are appended, those beyond the scope too; then each section becomes
   a span over the entries of its turns. Where spans cannot say it, since a section parts a call
   from its result, or has nothing to stand for, one span over all of it does. Loops that no message
   names, since they left none or are not on the way, come before them as a beginning and an end, so
   that their ids are not given again. */
#include "record/session_context_in.h"

#include "persist/persist_in.h"
#include "wire/hash_in.h"
#include "model/event_parts.h"

#include <stdio.h>

typedef struct phi__session_import {
    phi_message *messages; /* of all loops, the oldest first */
    size_t count;
    phi_span *spans;
    size_t span_count;
    uint64_t base; /* the entry of the first */
    bool unfit;    /* spans cannot describe the view */
    bool no_memory;
    const phi_session *session;
    phi_thread *thread;
    phi__session_context_way way;
    phi_arena scratch;
    char *words;
    size_t words_size;
} phi__session_import;

/* ---- spans ---- */

/* Whether a message has anything for a model: a rewrite holds no others. */
static bool phi__session_import_says(const phi_message *m) {
    return m->role != PHI_ROLE_EXTENSION && m->content_count > 0;
}

/* The messages with content; how many. */
static size_t phi__session_import_said(phi__session_import *s, const phi_message **messages,
                                       size_t count) {
    const phi_message *from = *messages;
    phi_message *said;
    size_t i, n = 0;
    for (i = 0; i < count; i++) n += phi__session_import_says(&from[i]);
    if (n == count) return n;
    said = (phi_message *)phi_arena_alloc(&s->scratch, phi__mul(phi__max(n, 1), sizeof *said));
    if (said == NULL) s->no_memory = true;
    *messages = said;
    if (said == NULL) return 0;
    for (i = n = 0; i < count; i++)
        if (phi__session_import_says(&from[i])) said[n++] = from[i];
    return n;
}

/* Messages `from` up to one before `end`. */
static void phi__session_import_span(phi__session_import *s, size_t from, size_t end,
                                     const phi_block_section *section) {
    const phi_message *messages = section != NULL ? section->messages : NULL;
    size_t n = section != NULL && section->present
                   ? phi__session_import_said(s, &messages, section->message_count)
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

static bool phi__session_import_same_block(const phi_content *a, const phi_content *b) {
    return a->kind == b->kind && phi_str_equal(a->text, b->text) && phi_str_equal(a->id, b->id) &&
           phi_str_equal(a->data, b->data) && phi_str_equal(a->arguments, b->arguments);
}

static bool phi__session_import_same(const phi_message *a, const phi_message *b) {
    size_t i;
    if (a->content_count != b->content_count) return false;
    for (i = 0; i < a->content_count; i++)
        if (!phi__session_import_same_block(&a->content[i], &b->content[i])) return false;
    return true;
}

/* Replaces only cut results. */
static void phi__session_import_recent(phi__session_import *s, size_t start, size_t from,
                                       size_t end, const phi_block_section *section) {
    size_t i;
    if (from >= end || !phi__session_context_one_by_one(s->messages + from, end - from, section)) {
        phi__session_import_span(s, from, end, section);
        if (from < end)
            s->spans[s->span_count - 1].summary = s->spans[s->span_count - 1].lines = false;
        return;
    }
    for (i = from; i < end; i++) {
        phi_span *span = &s->spans[s->span_count];
        if (phi__session_context_gone(&s->way, 0, i - start) ||
            phi__session_import_same(&s->messages[i], &section->messages[i - from]))
            continue;
        s->span_count++;
        span->from = span->to = s->base + i;
        span->messages = &section->messages[i - from];
        span->message_count = phi__session_import_says(span->messages) ? 1 : 0;
    }
}

static void phi__session_import_current(phi__session_import *s, const phi_loop_record *loop,
                                        size_t start) {
    phi__session_context_cuts cuts = phi__session_context_cut(loop->block);
    const phi_message *m = loop->messages;
    size_t n = loop->message_count;
    size_t recent = start + phi__session_context_turn_at(m, n, cuts.recent);
    size_t end = start + phi__session_context_turn_at(m, n, cuts.end);
    phi__session_import_span(s, start, start + phi__session_context_turn_at(m, n, cuts.first),
                             NULL);
    phi__session_import_span(s, start + phi__session_context_turn_at(m, n, cuts.first_end), recent,
                             &loop->block->keep_compacted);
    if (loop->block->keep_recent.present)
        phi__session_import_recent(s, start, recent, end, &loop->block->keep_recent);
}

/* ---- the way ---- */

static phi_status phi__session_import_gather(phi__session_import *s) {
    const phi__session_context_way *way = &s->way;
    size_t i, n = 0, most;
    for (i = 0; i < way->all; i++) n = phi__add(n, way->loops[i]->message_count);
    if (n == 0) return PHI_OK;
    most = phi__add(n, phi__mul(way->all, 2)); /* each message, and two more sections a loop */
    s->messages = (phi_message *)phi_arena_alloc(&s->scratch, phi__mul(n, sizeof *s->messages));
    s->spans = (phi_span *)phi__arena_zero(&s->scratch, phi__mul(most, sizeof *s->spans));
    if (s->messages == NULL || s->spans == NULL) return PHI_NO_MEMORY;
    for (i = way->all; i-- > 0; s->count += n) {
        n = way->loops[i]->message_count;
        if (n > 0) memcpy(s->messages + s->count, way->loops[i]->messages, n * sizeof *s->messages);
    }
    return PHI_OK;
}

static void phi__session_import_plan(phi__session_import *s) {
    const phi__session_context_way *way = &s->way;
    size_t i, start = 0, n;
    for (i = way->all; i-- > 0; start += n) {
        const phi_loop_record *loop = way->loops[i];
        n = loop->message_count;
        if (i >= way->count)
            phi__session_import_span(s, start, start + n, NULL);
        else if (loop->block != NULL && i > 0)
            phi__session_import_span(s, start, start + n, &loop->block->keep_compacted);
        else if (loop->block != NULL)
            phi__session_import_current(s, loop, start);
    }
}

static phi_status phi__session_import_fit(const phi__session_import *s, const phi_message *messages,
                                          size_t count) {
    size_t i, block;
    for (i = 0; i < count; i++) {
        const char *fault = phi__check_message(&messages[i], &block);
        if (fault == NULL) continue;
        if (s->words != NULL && s->words_size > 0)
            (void)snprintf(s->words, s->words_size, "message %lu: %s", (unsigned long)i, fault);
        return PHI_BAD_ARG;
    }
    return PHI_OK;
}

/* ---- loops that no message names ---- */

static uint64_t phi__session_import_hash(phi_str loop_id) {
    uint64_t hash = phi__hash(loop_id, 0);
    return hash != 0 ? hash : 1;
}

/* The loop ids that messages have. */
static bool phi__session_import_named(const phi__session_import *s, phi_memory *memory,
                                      phi__hashes *named) {
    const phi_message *before = NULL;
    size_t i;
    for (i = 0; i < s->count; before = &s->messages[i++]) {
        phi_str id = s->messages[i].loop_id;
        uint64_t hash;
        if (id.len == 0 || (before != NULL && phi_str_equal(before->loop_id, id))) continue;
        hash = phi__session_import_hash(id);
        if (phi__hashes_has(named, hash)) continue;
        if (!phi__hashes_room(memory, named, 1)) return false;
        phi__hashes_add(named, hash);
    }
    return true;
}

static bool phi__session_import_note(const phi_loop_record *loop, phi_thread *thread) {
    phi_loop_info info;
    phi_status status = PHI_OK;
    memset(&info, 0, sizeof info);
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
    return phi__append_note_run(thread, &info, loop->started_ms,
                                loop->has_ended ? loop->ended_ms : loop->started_ms, status);
}

static phi_status phi__session_import_runs(const phi__session_import *s) {
    phi_memory *memory = s->scratch.memory;
    phi__hashes named;
    size_t i;
    bool done;
    memset(&named, 0, sizeof named);
    done = phi__session_import_named(s, memory, &named);
    for (i = 0; done && i < s->session->loop_count; i++) {
        const phi_loop_record *loop = s->session->loops[i];
        if (loop->loop_id.len == 0 ||
            phi__hashes_has(&named, phi__session_import_hash(loop->loop_id)) ||
            phi__loops_has(s->thread, loop->loop_id))
            continue;
        done = phi__session_import_note(loop, s->thread);
    }
    phi__hashes_free(memory, &named);
    return done ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- prunes ---- */

/* A span for each row of messages that prunes took, with their memos in its place. */
static bool phi__session_import_pruned(phi__session_import *s, phi_rewrite *r) {
    phi_span *spans = (phi_span *)phi__arena_zero(&s->scratch, phi__mul(s->count, sizeof *spans));
    phi_message *memos =
        (phi_message *)phi_arena_alloc(&s->scratch, phi__mul(s->count, sizeof *memos));
    phi_span *span = NULL;
    size_t i, at = 0, j;
    if (spans == NULL || memos == NULL) return false;
    for (i = s->way.all; i-- > 0;)
        for (j = 0; j < s->way.loops[i]->message_count; j++, at++) {
            const phi__session_mark *mark = &s->way.marks[i][j];
            if (!mark->gone) {
                span = NULL;
                continue;
            }
            if (span == NULL) {
                span = &spans[r->span_count++];
                span->from = s->base + at;
                span->messages = memos;
            }
            span->to = s->base + at;
            if (mark->memo == NULL) continue;
            *memos++ = *mark->memo;
            span->message_count++;
        }
    for (i = 0; i < r->span_count; i++)
        if (spans[i].message_count == 0) spans[i].messages = NULL;
    r->spans = spans;
    return true;
}

static phi_status phi__session_import_prune(phi__session_import *s) {
    phi_rewrite r;
    phi_status status;
    memset(&r, 0, sizeof r);
    if (s->way.marks == NULL) return PHI_OK;
    if (!phi__session_import_pruned(s, &r)) return PHI_NO_MEMORY;
    if (r.span_count == 0) return PHI_OK;
    r.reason = PHI_REWRITE_PRUNE;
    status = phi_thread_rewrite(s->thread, &r, NULL, s->words, s->words_size);
    s->unfit = s->unfit || status == PHI_BAD_ARG;
    return status == PHI_BAD_ARG ? PHI_OK : status;
}

/* ---- the whole ---- */

static phi_status phi__session_import_rewrite(phi__session_import *s, const phi_message *shown,
                                              size_t count) {
    phi_rewrite r;
    phi_span whole;
    phi_status status = PHI_BAD_ARG;
    memset(&r, 0, sizeof r);
    memset(&whole, 0, sizeof whole);
    if (s->span_count == 0 && !s->unfit) return PHI_OK;
    r.reason = PHI_REWRITE_COMPACTION;
    r.spans = s->spans;
    r.span_count = s->span_count;
    if (!s->unfit) status = phi_thread_rewrite(s->thread, &r, NULL, s->words, s->words_size);
    if (status != PHI_BAD_ARG) return status;
    whole.from = s->base;
    whole.to = s->base + s->count - 1;
    whole.message_count = phi__session_import_said(s, &shown, count);
    whole.messages = shown;
    if (s->no_memory) return PHI_NO_MEMORY;
    r.spans = &whole;
    r.span_count = 1;
    return phi_thread_rewrite(s->thread, &r, NULL, s->words, s->words_size);
}

static phi_status phi__session_import_go(phi__session_import *s, phi_str loop_id, uint32_t flags) {
    const phi_message *shown = NULL;
    size_t count = 0;
    phi_status status = phi__session_context_find_way(s->session, loop_id, flags, &s->scratch,
                                                      &s->scratch, &s->way);
    if (status == PHI_OK) status = phi__session_import_gather(s);
    if (status == PHI_OK) status = phi__session_context_load(&s->way, &s->scratch, &shown, &count);
    if (status == PHI_OK) status = phi__session_import_fit(s, shown, count);
    if (status == PHI_OK) status = phi__session_import_fit(s, s->messages, s->count);
    if (status == PHI_OK && s->thread->user != NULL) status = PHI_BUSY;
    if (status == PHI_OK) status = phi__session_import_runs(s);
    if (status != PHI_OK || s->count + count == 0) return status;
    s->base = phi_thread_count(s->thread);
    if (s->count == 0) /* there is nothing but the block */
        return phi_thread_append(s->thread, shown, count, NULL);
    phi__session_import_plan(s);
    if (s->no_memory) return PHI_NO_MEMORY;
    status = phi_thread_append(s->thread, s->messages, s->count, NULL);
    if (status == PHI_OK) status = phi__session_import_prune(s);
    return status == PHI_OK ? phi__session_import_rewrite(s, shown, count) : status;
}

/* ---- public ---- */

PHI_API phi_status phi_session_to_thread(const phi_session *session, phi_str loop_id,
                                         uint32_t flags, const phi_compaction_config *config,
                                         const phi_token_counter *counter, phi_thread *thread,
                                         char *words, size_t words_size) {
    phi__session_import s;
    phi_memory memory;
    phi_status status;
    if (words != NULL && words_size > 0) words[0] = '\0';
    if (session == NULL || thread == NULL) return PHI_BAD_ARG;
    memset(&s, 0, sizeof s);
    s.session = session;
    s.thread = thread;
    s.words = words;
    s.words_size = words_size;
    phi__session_context_begin(&s.way, config, counter);
    phi_memory_init(&memory, &phi__session_of((phi_session *)(uintptr_t)session)->memory.allocator,
                    0);
    phi_arena_init(&s.scratch, &memory, 0);
    status = phi__session_import_go(&s, loop_id, flags);
    phi_arena_free(&s.scratch);
    if (status == PHI_OK && words != NULL && words_size > 0) words[0] = '\0';
    return status;
}
