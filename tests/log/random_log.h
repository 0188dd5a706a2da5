/* random_log.h - logs of any content, for properties: every kind of entry and every field, by chance.

   log_grow appends up to n things to a thread; the same state gives the same log. What is refused (a rewrite that
   cuts a group) is left out. */
#ifndef PHI_TESTS_THREAD_RANDOM_LOG_H
#define PHI_TESTS_THREAD_RANDOM_LOG_H

#include "support/test.h"
#include "persist/persist_in.h"
#include "model/event_parts.h"

typedef struct random_log {
    phi_thread *thread;
    uint32_t state;
    uint32_t calls, loops, ops; /* numbers for ids */
    bool failed;                /* memory ended */
} random_log;

static uint32_t log_below(random_log *g, uint32_t n) { return test_random(&g->state) % n; }
static bool log_chance(random_log *g, uint32_t percent) { return log_below(g, 100) < percent; }

static phi_str log_text(random_log *g) {
    static const char *const texts[] = {"hello",
                                        "",
                                        "two\nlines\r\n",
                                        "\"quoted\" \\ back",
                                        "gr\xc3\xbc\xc3\x9f dich",
                                        "\xf0\x9f\x90\xa7",
                                        "tab\tbell\a",
                                        "{\"a\":1}",
                                        "</script>",
                                        "0"};
    return phi_str_of(texts[log_below(g, (uint32_t)PHI__COUNT(texts))]);
}

/* Texts that are JSON, nearly JSON, or nothing. */
static phi_str log_json(random_log *g) {
    static const char *const texts[] = {"{}",
                                        "{\"a\":1}",
                                        "{ \"a\" : [1, 2.50, 1e3] }",
                                        "",
                                        "{\"half\":",
                                        "\"text\"",
                                        "null",
                                        "{\"u\":\"\\u00e9\\ud83d\\ude00\"}",
                                        "[[[[]]]]",
                                        "{\"k\":1,\"k\":2}"};
    return phi_str_of(texts[log_below(g, (uint32_t)PHI__COUNT(texts))]);
}

static phi_str log_valid_json(random_log *g) {
    static const char *const texts[] = {"{}", "null", "{ \"page\": 7 }", "[1,\n2]", "\"word\""};
    return phi_str_of(texts[log_below(g, (uint32_t)PHI__COUNT(texts))]);
}

static phi_str log_number(random_log *g, const char *prefix, uint32_t n) {
    char text[32];
    phi_str out = {"", 0};
    (void)snprintf(text, sizeof text, "%s%u", prefix, (unsigned)n);
    if (!phi__arena_str(phi__thread_room(g->thread), phi_str_of(text), &out)) g->failed = true;
    return out;
}

static phi_usage log_usage(random_log *g) {
    phi_usage usage;
    usage.input = log_below(g, 1000);
    usage.output = (uint64_t)log_below(g, 1000) << 34;
    usage.reasoning = log_below(g, 2);
    usage.cache_read = log_below(g, 100);
    usage.cache_write = log_below(g, 100);
    usage.total_tokens = log_below(g, 3000);
    return usage;
}

static phi_content log_block(random_log *g, phi_content_kind kind) {
    phi_content c;
    memset(&c, 0, sizeof c);
    c.kind = kind;
    if (kind == PHI_CONTENT_IMAGE) {
        c.data = phi_str_of("iVBORw0K");
        c.mime_type = phi_str_of("image/png");
        return c;
    }
    if (log_chance(g, 30)) c.signature = log_text(g);
    if (log_chance(g, 30)) c.replay = log_json(g);
    if (kind == PHI_CONTENT_TOOL_CALL) {
        c.id = log_number(g, "call_", g->calls++);
        c.name = phi_str_of("echo");
        c.arguments = log_json(g);
        c.incomplete = log_chance(g, 5);
        return c;
    }
    c.text = log_text(g);
    if (kind == PHI_CONTENT_TEXT && log_chance(g, 10)) c.name = phi_str_of("respond");
    if (kind == PHI_CONTENT_THINKING) c.redacted = log_chance(g, 20);
    return c;
}

static void log_append(random_log *g, const phi_message *m) {
    phi__entry e;
    size_t i;
    memset(&e, 0, sizeof e);
    e.kind = PHI_ENTRY_MESSAGE;
    e.message = phi__append_keep(g->thread, m);
    if (e.message == NULL) {
        g->failed = true;
        return;
    }
    for (i = 0; m->role == PHI_ROLE_ASSISTANT && i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_TOOL_CALL &&
            phi__append_claim_id(g->thread, m->content[i].id) == PHI_NO_MEMORY)
            g->failed = true;
    e.at_ms = (int64_t)test_random(&g->state) * 1000;
    e.loop_id = e.message->loop_id;
    e.turn_index = e.message->turn_index;
    if (log_chance(g, 10)) e.flags = PHI_ENTRY_DURABLE;
    if (!phi__append(g->thread, &e, 1)) g->failed = true;
}

static phi_message log_message(random_log *g, phi_role role, const phi_content *content,
                               size_t count) {
    phi_message m;
    memset(&m, 0, sizeof m);
    m.role = role;
    m.content = content;
    m.content_count = count;
    m.timestamp_ms = (int64_t)log_below(g, 3) * 1700000000123 - 5;
    if (log_chance(g, 70)) m.loop_id = log_number(g, "s.m.", g->loops);
    m.turn_index = log_below(g, 4);
    return m;
}

static void log_user(random_log *g) {
    phi_content content[2];
    phi_message m;
    content[0] = log_block(g, PHI_CONTENT_TEXT);
    content[1] = log_block(g, PHI_CONTENT_IMAGE);
    m = log_message(g, PHI_ROLE_USER, content, 1 + log_below(g, 2));
    log_append(g, &m);
}

static void log_result(random_log *g, const phi_content *call) {
    phi_content content = log_block(g, log_chance(g, 80) ? PHI_CONTENT_TEXT : PHI_CONTENT_IMAGE);
    phi_message m = log_message(g, PHI_ROLE_TOOL_RESULT, &content, log_below(g, 2));
    m.tool_call_id = call->id;
    m.tool_name = call->name;
    m.is_error = log_chance(g, 30);
    if (log_chance(g, 40)) m.details = log_json(g);
    log_append(g, &m);
}

/* An answer, and a result for each of its calls; at times not for the last. */
static void log_answer(random_log *g) {
    phi_content content[4];
    phi_message m;
    size_t n = 1 + log_below(g, 4), i;
    bool lost = log_chance(g, 5);
    for (i = 0; i < n; i++)
        content[i] = log_block(g, (phi_content_kind)(log_chance(g, 40)   ? 4
                                                     : log_chance(g, 50) ? 1
                                                                         : 3));
    m = log_message(g, PHI_ROLE_ASSISTANT, content, n);
    m.stop_reason = (phi_stop_reason)log_below(g, PHI_STOP_REASON_PAUSED + 1);
    if (log_chance(g, 30)) m.raw_stop_reason = phi_str_of("end_turn");
    m.model = phi_str_of("claude");
    m.provider = phi_str_of("anthropic");
    if (log_chance(g, 80)) m.protocol = phi_str_of("anthropic_messages");
    m.usage = log_usage(g);
    if (log_chance(g, 20)) m.error_message = log_text(g);
    log_append(g, &m);
    for (i = 0; i < n; i++)
        if (content[i].kind == PHI_CONTENT_TOOL_CALL && !(lost && i == n - 1))
            log_result(g, &content[i]);
}

static void log_extension(random_log *g) {
    phi_content content = log_block(g, PHI_CONTENT_TEXT);
    phi_message m = log_message(g, PHI_ROLE_EXTENSION, &content, log_below(g, 2));
    m.extension_kind = phi_str_of("bookmark");
    m.extension_data = log_json(g);
    log_append(g, &m);
}

/* ---- runs ---- */

static void log_mark(random_log *g, phi_entry_kind kind) {
    phi_thread *thread = g->thread;
    phi__entry e;
    phi_loop_info *info = (phi_loop_info *)phi__arena_zero(phi__thread_room(thread), sizeof *info);
    phi_usage *usage = (phi_usage *)phi__arena_zero(phi__thread_room(thread), sizeof *usage);
    phi_failure *failure =
        (phi_failure *)phi__arena_zero(phi__thread_room(thread), sizeof *failure);
    phi__child_run *spawn =
        (phi__child_run *)phi__arena_zero(phi__thread_room(thread), sizeof *spawn);
    if (info == NULL || usage == NULL || failure == NULL || spawn == NULL) {
        g->failed = true;
        return;
    }
    memset(&e, 0, sizeof e);
    e.kind = kind;
    e.at_ms = -5 + (int64_t)log_below(g, 10);
    if (kind == PHI_ENTRY_LOOP_START) g->loops++;
    e.loop_id = log_number(g, "s.m.", g->loops);
    e.turn_index = log_below(g, 3);
    *usage = log_usage(g);
    if (kind == PHI_ENTRY_TURN_START) e.trigger = (phi_trigger)log_below(g, 5);
    if ((kind == PHI_ENTRY_TURN_END || kind == PHI_ENTRY_LOOP_END) && log_chance(g, 80))
        e.usage = usage;
    if (kind == PHI_ENTRY_LOOP_START) {
        info->agent_id = phi_str_of("agent");
        info->session_id = phi_str_of("s");
        info->loop_id = log_chance(g, 90) ? e.loop_id : phi_str_of("other");
        info->continuation = (phi_continuation)log_below(g, 5);
        if (log_chance(g, 50)) info->parent_loop_id = phi_str_of("s.m.0");
        if (log_chance(g, 50)) info->tag = phi_str_of("2026-01-01T00:00:00Z");
        if (log_chance(g, 50)) info->metadata = log_json(g);
        if (log_chance(g, 50)) info->config = log_json(g);
        if (log_chance(g, 95)) e.of.loop = info;
    }
    if (kind == PHI_ENTRY_LOOP_END) {
        e.status = (phi_status) - (int)log_below(g, 20);
        e.keep = log_chance(g, 10) ? PHI_KEEP_NONE : PHI_KEEP_COMPLETE;
        failure->kind = (phi_failure_kind)log_below(g, 12);
        failure->http_status = (int)log_below(g, 600);
        failure->retryable = log_chance(g, 50);
        failure->has_retry_after = log_chance(g, 50);
        if (failure->has_retry_after) failure->retry_after_ms = log_below(g, 5000);
        failure->code = log_text(g);
        failure->message = log_text(g);
        failure->request_id = log_text(g);
        if (log_chance(g, 30)) e.of.failure = failure;
    }
    if (kind == PHI_ENTRY_SPAWN) {
        spawn->tool_call_id = phi_str_of("call_0");
        spawn->session_id = log_text(g);
        spawn->loop_id = log_text(g);
        e.of.spawn = spawn;
    }
    if (!phi__append(thread, &e, 1)) g->failed = true;
}

/* ---- rewrites and lanes ---- */

/* One that is there, or a new one. */
static const char *log_other_lane(random_log *g, char name[32]) {
    phi_thread *thread = g->thread;
    uint32_t lanes = (uint32_t)phi_thread_get_info(thread).lane_count, i = log_below(g, lanes + 1);
    phi_str s = phi_str_of(phi_thread_lane_at(thread, i));
    if (i == lanes && lanes < 6)
        (void)snprintf(name, 32, "way %u", (unsigned)lanes);
    else
        (void)snprintf(name, 32, "%.*s", s.len > 0 ? (int)s.len : 7, s.len > 0 ? s.at : "default");
    return name;
}

/* One span over some of what the active lane shows, by a summary or nothing. */
static void log_rewrite(random_log *g) {
    phi_thread *thread = g->thread;
    const phi__fold *fold = &thread->fold;
    phi_content content[2];
    phi_message messages[2];
    phi_rewrite r;
    phi_span spans[2];
    size_t at, end;
    phi_status status;
    char words[200], name[32];
    if (fold->count == 0) return;
    memset(&r, 0, sizeof r);
    memset(spans, 0, sizeof spans);
    at = log_below(g, (uint32_t)fold->count);
    end = at + log_below(g, 3);
    if (end >= fold->count) end = fold->count - 1;
    content[0] = log_block(g, PHI_CONTENT_TEXT);
    content[1] = log_block(g, PHI_CONTENT_TEXT);
    messages[0] = log_message(g, PHI_ROLE_USER, &content[0], 1);
    messages[1] = log_message(g, PHI_ROLE_ASSISTANT, &content[1], 1);
    spans[0].from = fold->items[at].from;
    spans[0].to = fold->items[end].to;
    spans[0].messages = messages;
    spans[0].message_count = log_below(g, 3);
    spans[0].summary = log_chance(g, 50);
    r.reason = (phi_rewrite_reason)log_below(g, 6);
    r.spans = spans;
    r.span_count = 1;
    if (log_chance(g, 50)) r.meta = "{\"removed\":3}";
    if (log_chance(g, 70)) r.op_id = log_number(g, "rewrite ", g->ops++).at;
    if (log_chance(g, 20)) r.switch_to = log_other_lane(g, name);
    if (r.switch_to != NULL && log_chance(g, 30)) r.span_count = 0;
    status = phi__edit_rewrite(thread, &r, phi_str_of("s.m.1"), log_below(g, 2), NULL, words,
                               sizeof words);
    if (status == PHI_NO_MEMORY) g->failed = true;
}

static void log_revoke(random_log *g) {
    phi_rewrite r;
    uint32_t back = log_below(g, 3);
    phi__op *op = g->thread->ops.last;
    phi_status status;
    while (op != NULL && back-- > 0) op = op->earlier;
    if (op == NULL) return;
    memset(&r, 0, sizeof r);
    r.revoke = op->rewrite.op_id;
    status = phi__edit_rewrite(g->thread, &r, phi_str_of(""), 0, NULL, NULL, 0);
    if (status == PHI_NO_MEMORY) g->failed = true;
}

static void log_lane(random_log *g) {
    phi_thread *thread = g->thread;
    phi_status status;
    char name[32];
    size_t lanes = phi_thread_get_info(thread).lane_count;
    uint32_t what = log_below(g, 3);
    if (what == 0 && lanes < 6) {
        (void)snprintf(name, sizeof name, "way %u", (unsigned)lanes);
        status = phi_thread_fork_lane(
            thread, name, NULL,
            log_below(g, 3) == 0 ? UINT64_MAX : log_below(g, (uint32_t)g->thread->log.count + 1));
    } else if (what == 1 && lanes < 6)
        status = phi_thread_switch(thread, NULL);
    else {
        phi_str s = phi_str_of(phi_thread_lane_at(thread, log_below(g, (uint32_t)lanes)));
        (void)snprintf(name, sizeof name, "%.*s", (int)s.len, s.at);
        status = phi_thread_switch(thread, name);
    }
    if (status == PHI_NO_MEMORY) g->failed = true;
}

static void log_step(random_log *g) {
    phi_thread *thread = g->thread;
    switch (log_below(g, 14)) {
    case 0:
    case 1:
    case 2: log_user(g); break;
    case 3:
    case 4:
    case 5: log_answer(g); break;
    case 6: log_extension(g); break;
    case 7: log_mark(g, PHI_ENTRY_LOOP_START); break;
    case 8: log_mark(g, PHI_ENTRY_LOOP_END); break;
    case 9: log_mark(g, log_chance(g, 50) ? PHI_ENTRY_TURN_START : PHI_ENTRY_TURN_END); break;
    case 10:
        if (log_chance(g, 50))
            log_mark(g, PHI_ENTRY_SPAWN);
        else if (phi_thread_note(thread, "mark", log_valid_json(g), NULL) == PHI_NO_MEMORY)
            g->failed = true;
        break;
    case 11: log_rewrite(g); break;
    case 12: log_revoke(g); break;
    default: log_lane(g);
    }
}

/* False: memory ended. */
static bool log_grow(random_log *g, size_t n) {
    for (; n > 0 && !g->failed; n--) log_step(g);
    return !g->failed;
}

#endif
