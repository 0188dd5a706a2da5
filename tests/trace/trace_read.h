/* trace_read.h - traces as text and as trees, for tests that look into them. */
#ifndef PHI_TESTS_TRACE_TRACE_READ_H
#define PHI_TESTS_TRACE_TRACE_READ_H

#include "base/base_in.h"
#include "support/test.h"
#include "text/json.h"
#include "trace/trace.h"
#include "log/log_in.h"
#include "text/text_in.h"
#include "trace/trace_in.h"

/* Made of a thread; memory of its own. */
typedef struct traced {
    phi_memory memory;
    phi_arena arena;
    phi_status status;
    phi_str text;
    phi_str json;   /* of a page: its data */
    phi_json *root; /* NULL: it is no JSON */
} traced;

static inline phi_status trace_agent(phi_agent agent, phi_trace_kind kind, const char *path,
                                     char *words, size_t words_size) {
    phi_trace_desc desc = PHI_ZERO;
    desc.agent = agent;
    return phi_trace_write(NULL, kind, &desc, path, words, words_size);
}

static inline void traced_parse(traced *t) {
    static const char open[] = "id=\"data\">\n", close[] = "</script>";
    size_t at = phi__str_find(t->text, 0, open), end;
    t->json = t->text;
    if (at != SIZE_MAX) {
        at += sizeof open - 1;
        end = phi__str_find(t->text, at, close);
        t->json = phi__str(t->text.at + at, end != SIZE_MAX ? end - at : 0);
    }
    if (phi_json_parse(&t->arena, t->json, 0, &t->root, NULL) != PHI_OK) t->root = NULL;
}

static inline phi_status traced_take(void *user_data, const char *bytes, size_t len) {
    phi__buf *buf = (phi__buf *)user_data;
    phi__buf_add(buf, bytes, len);
    return buf->failed ? PHI_NO_MEMORY : PHI_OK;
}

/* A whole trace, at once. */
static inline phi_status trace_all(const phi_thread *thread, phi_trace_kind kind,
                                   const phi_trace_desc *desc, const phi_trace_sink *sink) {
    phi_trace *trace;
    phi_status status = phi_trace_begin(thread, kind, desc, sink, &trace);
    if (status != PHI_OK) return status;
    status = phi_trace_advance(trace, SIZE_MAX);
    while (status == PHI_BUSY) status = phi_trace_advance(trace, SIZE_MAX);
    phi_trace_end(trace);
    return status;
}

/* The same as text in the arena. */
static inline phi_status trace_text(const phi_thread *thread, phi_trace_kind kind,
                                    const phi_trace_desc *desc, phi_arena *arena, phi_str *out) {
    phi_trace_sink sink;
    phi__buf buf;
    phi_status status;
    phi__buf_init(&buf, arena->memory);
    sink.write = traced_take;
    sink.user_data = &buf;
    status = trace_all(thread, kind, desc, &sink);
    if (status == PHI_OK && !phi__arena_str(arena, phi__buf_str(&buf), out)) status = PHI_NO_MEMORY;
    phi__buf_free(&buf);
    return status;
}

static inline void traced_make(traced *t, const phi_thread *thread, phi_trace_kind kind,
                               const phi_trace_desc *desc) {
    memset(t, 0, sizeof *t);
    phi_memory_init(&t->memory, NULL, 0);
    phi_arena_init(&t->arena, &t->memory, 0);
    t->status = trace_text(thread, kind, desc, &t->arena, &t->text);
    if (CHECK_EQ_INT(t->status, PHI_OK)) traced_parse(t);
    CHECK(t->root != NULL);
}

static inline void traced_free(traced *t) { phi_arena_free(&t->arena); }

static inline bool traced_has(const traced *t, const char *text) {
    return phi__str_find(t->text, 0, text) != SIZE_MAX;
}

static inline size_t traced_count(const traced *t, const char *text) {
    size_t n = 0, at = 0;
    while ((at = phi__str_find(t->text, at, text)) != SIZE_MAX) {
        n++;
        at++;
    }
    return n;
}

static inline const phi_json *traced_entries(const traced *t, size_t thread) {
    return phi_json_get(phi_json_at(phi_json_get(t->root, "threads"), thread), "entries");
}

/* ---- spans ---- */

static inline const phi_json *traced_spans(const traced *t) {
    return phi_json_path(t->root, "resourceSpans[0].scopeSpans[0].spans");
}

/* The nth span of that name, from 0; NULL: there is none. */
static inline const phi_json *traced_span(const traced *t, const char *name, size_t nth) {
    phi_json_iter it = phi_json_each(traced_spans(t));
    const phi_json *span;
    while ((span = phi_json_next(&it)) != NULL)
        if (phi_str_equal(phi_json_str(phi_json_get(span, "name"), ""), phi_str_of(name)) &&
            nth-- == 0)
            return span;
    return NULL;
}

static inline phi_str traced_id(const phi_json *span, const char *key) {
    return phi_json_str(phi_json_get(span, key), "");
}

/* The value of an attribute, a string or a number as text; empty: it has none. */
static inline phi_str traced_attribute(const phi_json *span, const char *key) {
    phi_json_iter it = phi_json_each(phi_json_get(span, "attributes"));
    const phi_json *a;
    while ((a = phi_json_next(&it)) != NULL) {
        const phi_json *value = phi_json_get(a, "value");
        if (!phi_str_equal(phi_json_str(phi_json_get(a, "key"), ""), phi_str_of(key))) continue;
        if (phi_json_get(value, "arrayValue") != NULL)
            return phi_json_str(phi_json_path(value, "arrayValue.values[0].stringValue"), "");
        return phi_json_get(value, "intValue") != NULL
                   ? phi_json_str(phi_json_get(value, "intValue"), "")
                   : phi_json_str(phi_json_get(value, "stringValue"), "");
    }
    return phi_str_of("");
}

/* Every span has an id of its own, a time that does not run backwards, and a parent that is there and of the same trace. Returns
   how many have none. */
static inline size_t spans_hold(const traced *t) {
    phi_json_iter it = phi_json_each(traced_spans(t)), others;
    const phi_json *span, *other;
    size_t roots = 0;
    while ((span = phi_json_next(&it)) != NULL) {
        phi_str id = traced_id(span, "spanId"), parent = traced_id(span, "parentSpanId");
        phi_str from = traced_id(span, "startTimeUnixNano"),
                to = traced_id(span, "endTimeUnixNano");
        size_t same = 0, found = 0;
        CHECK_EQ_INT(traced_id(span, "traceId").len, 32);
        CHECK_EQ_INT(id.len, 16);
        CHECK(from.len < to.len || (from.len == to.len && memcmp(from.at, to.at, to.len) <= 0));
        others = phi_json_each(traced_spans(t));
        while ((other = phi_json_next(&others)) != NULL) {
            same += phi_str_equal(traced_id(other, "spanId"), id);
            found += phi_str_equal(traced_id(other, "spanId"), parent) &&
                     phi_str_equal(traced_id(other, "traceId"), traced_id(span, "traceId"));
        }
        CHECK_EQ_INT(same, 1);
        roots += parent.len == 0;
        if (parent.len > 0) CHECK_EQ_INT(found, 1);
    }
    return roots;
}

#endif
