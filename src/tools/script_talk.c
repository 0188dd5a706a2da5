/* script_talk.c - the JSON that a script reads, and the answer that it writes. */
#include "tools/scripts_in.h"

#ifndef PHI_NO_PROCESS

#include "text/json_in.h"
#include "model/event_parts.h"

/* ---- the input ---- */

PHI__FN const char *phi__script_talk_name(phi_hook_point point) {
    switch (point) {
    case PHI_HOOK_BEFORE_LOOP: return "before_loop";
    case PHI_HOOK_BEFORE_TURN: return "before_turn";
    case PHI_HOOK_BEFORE_COMPACTION: return "before_compaction_start";
    case PHI_HOOK_AFTER_COMPACTION: return "after_compaction_end";
    case PHI_HOOK_BEFORE_TOOL: return "before_tool_execution";
    case PHI_HOOK_AFTER_TOOL: return "after_tool_execution";
    case PHI_HOOK_ON_ERROR: return "on_error";
    case PHI_HOOK_AFTER_TURN: return "after_turn";
    case PHI_HOOK_STEERING: return "steering";
    case PHI_HOOK_FOLLOW_UP: return "follow_up";
    case PHI_HOOK_AFTER_LOOP: return "after_loop";
    case PHI_HOOK_FILTER: return "filter";
    case PHI_HOOK_CREDENTIAL: return "credential";
    case PHI_HOOK_TRANSFORM_CONTEXT:
    case PHI_HOOK_CONVERT_TO_LLM:
    case PHI_HOOK_BEFORE_TOOL_UPDATE:
    case PHI_HOOK_AFTER_TOOL_UPDATE:
    case PHI_HOOK_QUESTION: break;
    }
    return NULL;
}

static void phi__script_talk_key(phi__buf *out, const char *key) {
    phi__buf_printf(out, ",\"%s\":", key);
}

static void phi__script_talk_text(phi__buf *out, const char *key, phi_str text) {
    phi__script_talk_key(out, key);
    phi__json_write_str(out, text);
}

static void phi__script_talk_number(phi__buf *out, const char *key, uint64_t n) {
    phi__script_talk_key(out, key);
    phi__buf_u64(out, n);
}

/* Loop ids are session.config.N. */
static uint64_t phi__script_talk_loop_index(phi_str loop_id) {
    size_t at = loop_id.len;
    uint64_t n = 0;
    while (at > 0 && loop_id.at[at - 1] != '.') at--;
    return phi__str_to_u64(phi__str(loop_id.at + at, loop_id.len - at), &n) ? n : 0;
}

/* As they are where they are JSON, else as a text. */
static void phi__script_talk_arguments(phi__buf *out, phi_str arguments) {
    phi_arena scratch;
    phi_json *root = NULL;
    phi_arena_init(&scratch, out->memory, 0);
    phi__script_talk_key(out, "arguments");
    if (phi_json_parse(&scratch, arguments, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8, &root,
                       NULL) != PHI_OK ||
        phi__json_write(out, root, 0) != PHI_OK)
        phi__json_write_str(out, arguments);
    phi_arena_free(&scratch);
}

/* The text blocks of a message, joined by line breaks. */
static void phi__script_talk_result(phi__buf *out, const phi_message *message) {
    phi__buf text;
    size_t i;
    if (message == NULL) return;
    phi__buf_init(&text, out->memory);
    for (i = 0; i < message->content_count; i++) {
        if (message->content[i].kind != PHI_CONTENT_TEXT) continue;
        if (text.len > 0) phi__buf_char(&text, '\n');
        phi__buf_add_str(&text, message->content[i].text);
    }
    phi__script_talk_text(out, "result", phi__buf_str(&text));
    out->failed = out->failed || text.failed;
    phi__buf_free(&text);
}

static void phi__script_talk_tool(phi__buf *out, const phi_hook *hook, phi_str arguments) {
    phi__script_talk_text(out, "tool_name", hook->tool_name);
    phi__script_talk_text(out, "tool_call_id", hook->tool_call_id);
    if (hook->point == PHI_HOOK_AFTER_TOOL) {
        phi__script_talk_key(out, "is_error");
        phi__json_write_bool(out, hook->is_error);
        phi__script_talk_result(out, hook->message);
    } else {
        phi__script_talk_arguments(out, arguments.len > 0 ? arguments : hook->arguments);
    }
}

static void phi__script_talk_compaction(phi__buf *out, const phi_hook *hook) {
    const phi_compaction *c = hook->compaction;
    if (c == NULL) return;
    if (hook->point == PHI_HOOK_BEFORE_COMPACTION) {
        phi__script_talk_number(out, "estimated_tokens", c->estimated_tokens);
        phi__script_talk_number(out, "message_count", c->message_count);
        return;
    }
    phi__script_talk_number(out, "messages_before", c->messages_before);
    phi__script_talk_number(out, "messages_after", c->messages_after);
    phi__script_talk_number(out, "tokens_before", c->tokens_before);
    phi__script_talk_number(out, "tokens_after", c->tokens_after);
}

PHI__FN void phi__script_talk_input(phi__buf *out, const phi_hook *hook, phi_str arguments) {
    phi__buf_text(out, "{\"hook\":\"");
    phi__buf_text(out, phi__script_talk_name(hook->point));
    phi__buf_char(out, '"');
    if (hook->point == PHI_HOOK_BEFORE_LOOP || hook->point == PHI_HOOK_BEFORE_TURN)
        phi__script_talk_number(out, "message_count", hook->message_count);
    if (hook->point == PHI_HOOK_BEFORE_LOOP)
        phi__script_talk_number(out, "loop_index", phi__script_talk_loop_index(hook->loop_id));
    if (hook->point == PHI_HOOK_BEFORE_TURN)
        phi__script_talk_number(out, "turn_index", hook->turn_index);
    if (hook->point == PHI_HOOK_BEFORE_TOOL || hook->point == PHI_HOOK_AFTER_TOOL)
        phi__script_talk_tool(out, hook, arguments);
    phi__script_talk_compaction(out, hook);
    if (hook->point == PHI_HOOK_ON_ERROR) phi__script_talk_text(out, "error", hook->text);
    if (hook->point == PHI_HOOK_FILTER) phi__script_talk_text(out, "text", hook->text);
    if (hook->point == PHI_HOOK_CREDENTIAL) {
        phi__script_talk_key(out, "refused");
        phi__json_write_bool(out, hook->is_error);
        phi__script_talk_text(out, "model", phi_str_of(hook->model->id));
        phi__script_talk_text(out, "provider", phi_str_of(hook->model->provider));
        phi__script_talk_text(out, "base_url", phi_str_of(hook->model->base_url));
    }
    phi__buf_text(out, "}\n");
}

/* ---- the answer ---- */

static phi__script_says phi__script_talk_broken(phi__buf *reply, const char *fault) {
    phi__buf_text(reply, "gave an answer that cannot be read: ");
    phi__buf_text(reply, fault);
    return reply->failed ? PHI__SCRIPT_LOST : PHI__SCRIPT_BROKEN;
}

/* A member that must be a text where it is there. */
static bool phi__script_talk_take(const phi_json *root, const char *key, phi_str *out) {
    const phi_json *node = phi_json_get(root, key);
    *out = phi_json_str(node, NULL);
    return node == NULL || phi_json_is(node, PHI_JSON_NULL) || phi_json_is(node, PHI_JSON_STRING);
}

static phi__script_says phi__script_talk_read(const phi_json *root, phi_hook_point point,
                                              phi__buf *reply) {
    const phi_json *allow = phi_json_get(root, "allow"), *arguments;
    bool is_reply =
        point == PHI_HOOK_STEERING || point == PHI_HOOK_FOLLOW_UP || point == PHI_HOOK_CREDENTIAL;
    phi_str text;
    if (allow != NULL && !phi_json_is(allow, PHI_JSON_BOOL))
        return phi__script_talk_broken(reply, "\"allow\" is neither true nor false");
    if (!phi_json_bool(allow, true)) {
        if (!phi__script_talk_take(root, "reason", &text))
            return phi__script_talk_broken(reply, "\"reason\" is no text");
        phi__buf_add_str(reply, text);
        return reply->failed ? PHI__SCRIPT_LOST : PHI__SCRIPT_DENIES;
    }
    arguments = phi_json_get(root, "arguments");
    if (point == PHI_HOOK_BEFORE_TOOL && arguments != NULL) {
        if (!phi_json_is(arguments, PHI_JSON_OBJECT))
            return phi__script_talk_broken(reply, "\"arguments\" is no object");
        return phi__json_write(reply, arguments, 0) != PHI_OK || reply->failed ? PHI__SCRIPT_LOST
                                                                               : PHI__SCRIPT_ALLOWS;
    }
    if (!phi__script_talk_take(root, is_reply ? "reply" : "warn", &text))
        return phi__script_talk_broken(reply,
                                       is_reply ? "\"reply\" is no text" : "\"warn\" is no text");
    if (!is_reply && point != PHI_HOOK_FILTER) return PHI__SCRIPT_ALLOWS;
    phi__buf_add_str(reply, text);
    if (reply->failed) return PHI__SCRIPT_LOST;
    return !is_reply && text.len > 0 ? PHI__SCRIPT_WARNS : PHI__SCRIPT_ALLOWS;
}

/* Whether "allow" stands in it, with `step` bytes a character. */
static bool phi__script_talk_hides(phi_str output, size_t step) {
    static const char word[] = "\"allow\"";
    size_t i, k, n = sizeof word - 1;
    for (i = 0; i + (n - 1) * step < output.len; i++) {
        for (k = 0; k < n && output.at[i + k * step] == word[k];) k++;
        if (k == n) return true;
    }
    return false;
}

PHI__FN phi__script_says phi__script_talk_answer(phi_memory *memory, phi_hook_point point,
                                                 phi_str output, phi__buf *reply) {
    phi_arena scratch;
    phi_json *root = NULL;
    phi_parse_error error;
    phi__script_says says;
    phi_status status;
    if (phi__str_starts(output, "\xEF\xBB\xBF")) output = phi__str(output.at + 3, output.len - 3);
    output = phi__str_trim(output);
    if (output.len == 0) return PHI__SCRIPT_ALLOWS;
    if (output.at[0] != '{') {
        /* a denial behind a line for people, or in UTF-16, must not pass */
        if (phi__script_talk_hides(output, 1) || phi__script_talk_hides(output, 2))
            return phi__script_talk_broken(reply,
                                           "\"allow\" stands in it, but it is no JSON object");
        phi__buf_text(reply, "its output is no JSON object and was ignored");
        return reply->failed ? PHI__SCRIPT_LOST : PHI__SCRIPT_CHATS;
    }
    phi_arena_init(&scratch, memory, 0);
    status = phi_json_parse(&scratch, output, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8, &root,
                            &error);
    if (status == PHI_OK)
        says = phi__script_talk_read(root, point, reply);
    else if (status == PHI_NO_MEMORY)
        says = PHI__SCRIPT_LOST;
    else {
        phi__buf_printf(reply, "gave an answer that cannot be read: line %u, column %u: %s",
                        (unsigned)error.line, (unsigned)error.column, error.message);
        says = reply->failed ? PHI__SCRIPT_LOST : PHI__SCRIPT_BROKEN;
    }
    phi_arena_free(&scratch);
    return says;
}

#endif
