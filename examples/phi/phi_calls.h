/* phi_calls.h - a tool call in a line: its name, what it is about, how long it took, how it ended. Copy what you need
   of it. */
#ifndef PHI_CALLS_H
#define PHI_CALLS_H

#include "phi_tools.h"

#include "phi_text.h"

enum { CALLS_MOST = 32 };

/* A call that runs. */
typedef struct call_line {
    char id[96]; /* empty: unused */
    bool skipped;
    text argument;
    int64_t began_ms;
} call_line;

/* What a person wants to know of a call's arguments: the command, the path... In the arena. */
static inline phi_str calls_argument(phi_arena *arena, phi_str arguments) {
    static const char *const names[] = {"command", "path", "pattern", "query", "url", "task", NULL};
    phi_json *json, *found = NULL;
    phi_json_iter it;
    int i;
    if (phi_json_parse(arena, arguments, PHI_JSON_REPLACE_BAD_UTF8, &json, NULL) != PHI_OK)
        return arguments;
    for (i = 0; names[i] != NULL && found == NULL; i++) found = phi_json_get(json, names[i]);
    it = phi_json_each(json);
    if (!phi_json_is_string(found) && phi_json_count(json) == 1) found = phi_json_next(&it);
    return phi_json_is_string(found) ? phi_json_str(found, "") : arguments;
}

/* The call of that id; else one that is unused; NULL: there are too many. */
static inline call_line *calls_find(call_line *calls, phi_str id) {
    call_line *unused = NULL;
    size_t i;
    for (i = 0; i < CALLS_MOST; i++) {
        if (calls[i].id[0] == '\0') unused = &calls[i];
        if (id.len > 0 && phi_str_equal(phi_str_of(calls[i].id), id)) return &calls[i];
    }
    return unused;
}

/* PHI_EV_TOOL_START. A call beyond CALLS_MOST, or of a longer id, is not recorded. */
static inline void calls_begin(call_line *calls, const phi_event *ev, phi_arena *arena,
                               int columns) {
    call_line *call = calls_find(calls, ev->tool_call_id);
    if (call == NULL || ev->tool_call_id.len >= sizeof call->id) return;
    (void)snprintf(call->id, sizeof call->id, "%.*s", (int)ev->tool_call_id.len,
                   ev->tool_call_id.at);
    call->skipped = ev->arguments.at == NULL;
    call->argument.len = 0;
    text_fit(&call->argument, calls_argument(arena, ev->arguments), columns);
    call->began_ms = ev->timestamp_ms;
}

/* PHI_EV_TOOL_END: "* bash echo one (12ms, ok)"; of a call that was not recorded: "* bash (ok)". */
static inline void calls_end(call_line *calls, const phi_event *ev, phi_arena *arena, int columns,
                             text *out) {
    call_line *call = calls_find(calls, ev->tool_call_id);
    phi_str result = PHI_ZERO;
    bool recorded = call != NULL && call->id[0] != '\0';
    text_say(out, "* ");
    text_fit(out, ev->tool_name, 64);
    if (recorded && call->argument.len > 0) text_print(out, " %s", call->argument.at);
    text_say(out, " (");
    if (recorded && call->skipped)
        text_say(out, "not run, ");
    else if (recorded)
        text_print(out, "%dms, ", (int)(ev->timestamp_ms - call->began_ms));
    if (recorded) call->id[0] = '\0';
    text_say(out, ev->is_error ? "error: " : "ok");
    if (ev->is_error && ev->message != NULL)
        result = phi_message_text(ev->message, " ", arena, NULL);
    text_fit(out, result, columns);
    text_say(out, ")");
}

/* Each line is marked, so that none looks like one of the program's own. */
static inline void calls_quote(text *out, phi_str words) {
    size_t i;
    text_say(out, "\n  | ");
    for (i = 0; i < words.len; i++) {
        text_add(out, words.at + i, 1);
        if (words.at[i] == '\n') text_say(out, "  | ");
    }
}

/* All that a person should see before saying yes. */
static inline void calls_question(text *out, const phi_pending_item *item, phi_arena *arena) {
    phi_str argument = calls_argument(arena, item->arguments);
    if (item->kind == PHI_WAITING_BUDGET) {
        text_print(out, "The run has paused: %.*s. Shall it go on, with as much again?",
                   (int)item->text.len, item->text.at);
        return;
    }
    text_fit(out, item->tool_name, 200);
    text_say(out, " wants to run:");
    calls_quote(out, argument);
    if (!phi_str_equal(argument, item->arguments) &&
        !phi_str_equal(item->tool_name, phi_str_of("bash")))
        calls_quote(out, item->arguments);
}

/* Whole, as it is a permission: what "always" would allow. */
static inline void calls_always(text *out, const phi_permission_rules *rules) {
    const phi_permission_rule *rule = rules->rules;
    size_t i;
    text_say(out, "\n  always would allow:");
    for (i = 0; i < rules->count; i++, rule++) {
        const char *what = rule->command ? rule->command : rule->path ? rule->path : rule->host;
        text one = {NULL, 0, 0};
        text_print(&one, "%s%s%s", rule->tool ? rule->tool : "*", what ? " " : "",
                   what ? what : "");
        calls_quote(out, text_str(&one));
        free(one.at);
    }
}

static inline void calls_free(call_line *calls) {
    size_t i;
    for (i = 0; i < CALLS_MOST; i++) free(calls[i].argument.at);
}

#endif
