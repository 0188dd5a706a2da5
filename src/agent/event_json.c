/* event_json.c - events in the interchange format: behaviours A, "AgentEvent".

   Only what that format knows, in its words; what it does not know (a failure's kind and HTTP status)
   stands in the type Error, which is ours. */
#include "agent/agent_in.h"
#include "model/message_in.h"
#include "text/json_in.h"

#include <stdio.h>

typedef struct phi__event_writer {
    const phi_event *event;
    const phi__agent *agent;
    phi__buf out;
    phi_arena *scratch;
} phi__event_writer;

static void phi__ej_str(phi__event_writer *w, const char *key, phi_str value) {
    phi__json_put_key(&w->out, phi_str_of(key));
    phi__json_put_str(&w->out, value);
}

static void phi__ej_raw(phi__event_writer *w, const char *key, const char *json) {
    phi__json_put_key(&w->out, phi_str_of(key));
    phi__buf_text(&w->out, json);
}

static void phi__ej_u64(phi__event_writer *w, const char *key, uint64_t n) {
    phi__json_put_key(&w->out, phi_str_of(key));
    phi__json_put_u64(&w->out, n);
}

static void phi__ej_bool(phi__event_writer *w, const char *key, bool b) {
    phi__json_put_key(&w->out, phi_str_of(key));
    phi__json_put_bool(&w->out, b);
}

/* Days since 1970 as a date, by the rule of 400 years. */
static void phi__ej_date(int64_t days, int *year, int *month, int *day) {
    int64_t z = days + 719468, era, of_era, y, of_year, m;
    era = (z >= 0 ? z : z - 146096) / 146097;
    of_era = z - era * 146097;
    y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    of_year = of_era - (365 * y + y / 4 - y / 100);
    m = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * m + 2) / 5 + 1);
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year = (int)(y + era * 400 + (*month <= 2 ? 1 : 0));
}

/* RFC 3339, UTC, with three digits of fraction where there is one. */
static void phi__ej_time(phi__event_writer *w) {
    char text[80];
    int64_t ms = w->event->timestamp_ms, days = ms / 86400000, rest = ms % 86400000;
    int year, month, day, n, s;
    if (rest < 0) {
        rest += 86400000;
        days--;
    }
    phi__ej_date(days, &year, &month, &day);
    s = (int)(rest / 1000);
    n = snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d", year, month, day, s / 3600,
                 s / 60 % 60, s % 60);
    if (rest % 1000 != 0)
        n += snprintf(text + n, sizeof text - (size_t)n, ".%03d", (int)(rest % 1000));
    (void)snprintf(text + n, sizeof text - (size_t)n, "Z");
    phi__ej_str(w, "timestamp", phi_str_of(text));
}

static void phi__ej_message(phi__event_writer *w, const char *key, const phi_message *message,
                            bool bare) {
    phi_message copy;
    if (key != NULL)
        phi__json_put_key(&w->out, phi_str_of(key));
    else
        phi__json_put_comma(&w->out);
    if (message == NULL) {
        phi__buf_text(&w->out, "null");
        return;
    }
    copy = *message;
    if (bare) copy.loop_id = phi__str(NULL, 0);
    phi__message_put(&w->out, &copy, w->scratch);
}

static void phi__ej_usage(phi__event_writer *w) {
    phi_usage none;
    memset(&none, 0, sizeof none);
    phi__message_put_usage(&w->out, w->event->usage != NULL ? w->event->usage : &none);
}

/* ---- one function a type ---- */

static const char *phi__ej_thinking(phi_thinking level) {
    static const char *const words[] = {"off", "minimal", "low", "medium", "high"};
    return (size_t)level < PHI__COUNT(words) ? words[level] : words[0];
}

/* LoopConfigSnapshot: what the run was asked with. */
static void phi__ej_snapshot(phi__event_writer *w) {
    const phi_model *model = &w->agent->model;
    phi__json_put_key(&w->out, PHI__LIT("config_snapshot"));
    phi__buf_char(&w->out, '{');
    phi__ej_str(w, "model", phi_str_of(model->id));
    phi__ej_str(w, "provider", phi_str_of(model->provider));
    phi__ej_raw(w, "config_id", "null");
    phi__ej_str(w, "name", phi_str_of(model->name));
    phi__ej_str(w, "api", phi_str_of(model->protocol));
    phi__ej_str(w, "base_url", phi_str_of(model->base_url));
    phi__ej_bool(w, "reasoning", model->reasoning);
    phi__ej_u64(w, "context_window", model->context_window);
    phi__ej_u64(w, "max_tokens",
                w->agent->max_tokens != 0 ? w->agent->max_tokens : model->max_tokens);
    phi__ej_str(w, "thinking_level", phi_str_of(phi__ej_thinking(w->agent->thinking)));
    if (w->agent->temperature >= 0) {
        phi__json_put_key(&w->out, PHI__LIT("temperature"));
        phi__json_put_double(&w->out, w->agent->temperature);
    }
    phi__buf_char(&w->out, '}');
}

static void phi__ej_start(phi__event_writer *w) {
    phi__ej_str(w, "agent_id", w->agent->agent_id);
    phi__ej_str(w, "session_id", w->agent->session_id);
    phi__ej_str(w, "loop_id", w->event->loop_id);
    phi__ej_raw(w, "parent_loop_id", "null");
    phi__ej_str(w, "continuation_kind", PHI__LIT("Initial"));
    phi__ej_time(w);
    phi__ej_raw(w, "metadata", "null");
    phi__ej_snapshot(w);
}

static void phi__ej_end(phi__event_writer *w) {
    const phi__thread *thread = &w->agent->thread;
    size_t i, from = w->event->first_message;
    phi__ej_raw(w, "messages", "[");
    for (i = from; i < from + w->event->message_count && i < thread->message_count; i++)
        phi__ej_message(w, NULL, thread->messages[i]->message, false);
    phi__buf_char(&w->out, ']');
    phi__ej_usage(w);
    phi__ej_time(w);
    phi__ej_raw(w, "rejection", "null");
}

static void phi__ej_turn_start(phi__event_writer *w) {
    static const char *const words[] = {"", "User", "SubAgent", "Continuation", "Branch"};
    phi__ej_u64(w, "turn_index", w->event->turn_index);
    phi__ej_time(w);
    phi__ej_str(w, "triggered_by",
                phi_str_of(words[(size_t)w->event->trigger % PHI__COUNT(words)]));
}

/* Results stand behind their turn's answer; the search comes from the end, where they mostly are. */
static void phi__ej_turn_end(phi__event_writer *w) {
    const phi__thread *thread = &w->agent->thread;
    size_t at = thread->message_count;
    while (at > 0 && thread->messages[at - 1]->message != w->event->message) at--;
    phi__ej_message(w, "message", w->event->message, false);
    phi__ej_usage(w);
    phi__ej_time(w);
    phi__ej_raw(w, "tool_results", "[");
    for (; at > 0 && at < thread->message_count; at++) {
        if (thread->messages[at]->message->role != PHI_ROLE_TOOL_RESULT) break;
        phi__ej_message(w, NULL, thread->messages[at]->message, true);
    }
    phi__buf_char(&w->out, ']');
}

static void phi__ej_delta(phi__event_writer *w) {
    const char *kind = w->event->kind == PHI_EV_TEXT       ? "Text"
                       : w->event->kind == PHI_EV_THINKING ? "Thinking"
                                                           : "ToolCallDelta";
    phi__ej_message(w, "message", w->event->message, false);
    phi__json_put_key(&w->out, PHI__LIT("delta"));
    phi__buf_char(&w->out, '{');
    phi__ej_raw(w, kind, "{");
    phi__ej_str(w, "delta", w->event->text);
    phi__buf_text(&w->out, "}}");
}

static void phi__ej_tool(phi__event_writer *w) {
    phi__ej_str(w, "tool_call_id", w->event->tool_call_id);
    phi__ej_str(w, "tool_name", w->event->tool_name);
}

/* ToolResult: {"content":[..],"details":null}. */
static void phi__ej_result(phi__event_writer *w, const char *key, const phi_message *result) {
    phi__ej_raw(w, key, "{");
    phi__message_put_blocks(&w->out, result, w->scratch);
    phi__json_put_key(&w->out, PHI__LIT("details"));
    if (result->details.len > 0)
        phi__message_put_value(&w->out, result->details, w->scratch);
    else
        phi__buf_text(&w->out, "null");
    phi__buf_char(&w->out, '}');
}

static void phi__ej_update(phi__event_writer *w) {
    phi_content content;
    phi_message part;
    memset(&content, 0, sizeof content);
    memset(&part, 0, sizeof part);
    content.kind = PHI_CONTENT_TEXT;
    content.text = w->event->text;
    part.content = &content;
    part.content_count = 1;
    phi__ej_tool(w);
    phi__ej_result(w, "partial_result", &part);
}

static void phi__ej_tool_end(phi__event_writer *w) {
    phi__ej_tool(w);
    if (w->event->message != NULL) phi__ej_result(w, "result", w->event->message);
    phi__ej_bool(w, "is_error", w->event->is_error);
    phi__ej_raw(w, "child_loop_id", "null");
}

static void phi__ej_error(phi__event_writer *w) {
    const phi_failure *failure = w->event->failure;
    phi__ej_str(w, "kind", phi_str_of(phi_failure_kind_text(failure->kind)));
    phi__ej_str(w, "message", failure->message);
    phi__ej_u64(w, "http_status", (uint64_t)(failure->http_status > 0 ? failure->http_status : 0));
    phi__ej_bool(w, "retryable", failure->retryable);
    if (failure->has_retry_after) phi__ej_u64(w, "retry_after_ms", failure->retry_after_ms);
    phi__ej_time(w);
}

static const char *phi__ej_type(phi_event_kind kind) {
    if (kind == PHI_EV_TEXT || kind == PHI_EV_THINKING || kind == PHI_EV_TOOL_ARGUMENTS)
        return "MessageUpdate";
    return phi_event_name(kind);
}

static void phi__ej_body(phi__event_writer *w) {
    switch (w->event->kind) {
    case PHI_EV_AGENT_START: phi__ej_start(w); break;
    case PHI_EV_AGENT_END: phi__ej_end(w); break;
    case PHI_EV_TURN_START: phi__ej_turn_start(w); break;
    case PHI_EV_TURN_END: phi__ej_turn_end(w); break;
    case PHI_EV_MESSAGE_START:
    case PHI_EV_MESSAGE_END: phi__ej_message(w, "message", w->event->message, false); break;
    case PHI_EV_TEXT:
    case PHI_EV_THINKING:
    case PHI_EV_TOOL_ARGUMENTS: phi__ej_delta(w); break;
    case PHI_EV_TOOL_START:
        phi__ej_tool(w);
        phi__json_put_key(&w->out, PHI__LIT("args"));
        phi__message_put_value(&w->out, w->event->arguments, w->scratch);
        break;
    case PHI_EV_TOOL_UPDATE: phi__ej_update(w); break;
    case PHI_EV_TOOL_PROGRESS:
        phi__ej_tool(w);
        phi__ej_str(w, "text", w->event->text);
        break;
    case PHI_EV_TOOL_END: phi__ej_tool_end(w); break;
    case PHI_EV_ERROR: phi__ej_error(w); break;
    }
}

/* ---- public ---- */

PHI_API phi_status phi_event_to_json(const phi_event *event, phi_arena *arena, phi_str *out) {
    phi__event_writer w;
    phi__slot *slot;
    phi_status status = PHI_OK;
    if (event == NULL || arena == NULL || out == NULL || event->agent.rt == NULL)
        return PHI_BAD_ARG;
    slot = phi__slots_find(&event->agent.rt->agents, event->agent.index, event->agent.gen);
    if (slot == NULL) return PHI_STALE;
    w.event = event;
    w.agent = (const phi__agent *)slot->object;
    w.scratch = arena;
    phi__buf_init(&w.out, arena->memory);
    phi__buf_char(&w.out, '{');
    phi__ej_str(&w, "type", phi_str_of(phi__ej_type(event->kind)));
    if (event->kind != PHI_EV_AGENT_START) phi__ej_str(&w, "loop_id", event->loop_id);
    phi__ej_body(&w);
    phi__buf_char(&w.out, '}');
    if (w.out.failed || !phi__arena_str(arena, phi__buf_str(&w.out), out)) status = PHI_NO_MEMORY;
    phi__buf_free(&w.out);
    return status;
}
