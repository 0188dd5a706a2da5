/* phi_calls.h - a tool call in a line: its name, what it is about, how long it took, how it ended. Copy what you need
   of it. */
#ifndef PHI_CALLS_H
#define PHI_CALLS_H

#include "phi_tools.h"

#include "phi_text.h"

enum { CALLS_MOST = 32 };

/* A call that is wanted, or runs. */
typedef struct call_line {
    char id[96];    /* empty: unused */
    uint32_t agent; /* whose: another agent may have a call of that id */
    bool skipped;
    text argument;
    int64_t began_ms;
} call_line;

/* The argument whose value says enough; NULL: there is none. */
static inline phi_json *calls_known(const phi_json *json) {
    static const char *const names[] = {"command", "path", "pattern", "query", "url", "task", NULL};
    phi_json *found = NULL;
    int i;
    for (i = 0; names[i] != NULL && found == NULL; i++) found = phi_json_get(json, names[i]);
    return found;
}

/* What a person wants to know of a call's arguments: the command, the path... In the arena. */
static inline phi_str calls_argument(phi_arena *arena, phi_str arguments) {
    phi_json *json, *found;
    phi_json_iter it;
    if (phi_json_parse(arena, arguments, PHI_JSON_REPLACE_BAD_UTF8, &json, NULL) != PHI_OK)
        return arguments;
    found = calls_known(json);
    it = phi_json_each(json);
    if (!phi_json_is(found, PHI_JSON_STRING) && phi_json_count(json) == 1)
        found = phi_json_next(&it);
    return phi_json_is(found, PHI_JSON_STRING) ? phi_json_str(found, "") : arguments;
}

/* True when the argument is the only one, under a known name; or when it is the arguments themselves. */
static inline bool calls_is_whole(phi_arena *arena, phi_str arguments, phi_str argument) {
    phi_json *json;
    return phi_str_equal(argument, arguments) ||
           (phi_json_parse(arena, arguments, PHI_JSON_REPLACE_BAD_UTF8, &json, NULL) == PHI_OK &&
            phi_json_count(json) == 1 && calls_known(json) != NULL);
}

/* The call of that id; else one that is unused; NULL: there are too many. */
static inline call_line *calls_find(call_line *calls, phi_agent agent, phi_str id) {
    call_line *unused = NULL;
    size_t i;
    for (i = 0; i < CALLS_MOST; i++) {
        if (calls[i].id[0] == '\0')
            unused = &calls[i];
        else if (calls[i].agent == agent.index && phi_str_equal(phi_str_of(calls[i].id), id))
            return &calls[i];
    }
    return unused;
}

/* A call that the model wants, or PHI_EV_TOOL_START. One beyond CALLS_MOST, or of a longer id, is not recorded. */
static inline void calls_begin(call_line *calls, const phi_event *ev, phi_str id, phi_str arguments,
                               phi_arena *arena, int columns) {
    call_line *call = calls_find(calls, ev->agent, id);
    if (call == NULL || id.len >= sizeof call->id) return;
    call->agent = ev->agent.index;
    (void)snprintf(call->id, sizeof call->id, "%.*s", PHI_ARG(id));
    call->skipped = arguments.at == NULL;
    call->argument.len = 0;
    text_fit(&call->argument, calls_argument(arena, arguments), columns);
    call->began_ms = ev->timestamp_ms;
}

/* The calls of an answer: those that a hook denies never start. */
static inline void calls_wanted(call_line *calls, const phi_event *ev, phi_arena *arena,
                                int columns) {
    size_t i;
    for (i = 0; i < ev->message->content_count; i++) {
        const phi_content *c = &ev->message->content[i];
        if (c->kind == PHI_CONTENT_TOOL_CALL)
            calls_begin(calls, ev, c->id, c->arguments, arena, columns);
    }
}

/* The exit code with which the result of a command begins; 0: it has none, or the command did well. */
static inline int calls_exit_code(const phi_event *ev, phi_str result) {
    static const char begins[] = "Exit code: ";
    size_t i = sizeof begins - 1;
    int code = 0;
    if (!phi_str_is(ev->tool_name, "bash") || result.len < i || memcmp(result.at, begins, i) != 0)
        return 0;
    for (; i < result.len && result.at[i] >= '0' && result.at[i] <= '9' && code < 1000; i++)
        code = 10 * code + (result.at[i] - '0');
    return code;
}

/* PHI_EV_TOOL_END: "* bash echo one (12ms, ok)"; of a call that was not recorded: "* bash (ok)". The result of a call
   that never started: "* bash rm x (not run: denied...)"; nothing is added for others. Without a time of the event none is
   said. True: the call did well. */
static inline bool calls_end(call_line *calls, const phi_event *ev, phi_arena *arena, int columns,
                             text *out) {
    bool ended = ev->kind == PHI_EV_TOOL_END;
    call_line *call =
        calls_find(calls, ev->agent, ended ? ev->tool_call_id : ev->message->tool_call_id);
    bool recorded = call != NULL && call->id[0] != '\0';
    phi_str result = PHI_ZERO;
    int code;
    if (!ended && !recorded) return false;
    text_say(out, "* ");
    text_fit(out, ended ? ev->tool_name : ev->message->tool_name, 64);
    if (recorded && call->argument.len > 0) text_print(out, " %s", call->argument.at);
    text_say(out, " (");
    if (!ended)
        text_say(out, "not run: ");
    else if (recorded && call->skipped)
        text_say(out, "not run, ");
    else if (recorded && ev->timestamp_ms > 0)
        text_print(out, "%dms, ", (int)(ev->timestamp_ms - call->began_ms));
    if (recorded) call->id[0] = '\0';
    if (ev->message != NULL) result = phi_message_text(ev->message, " ", arena, NULL);
    code = ended && !ev->is_error ? calls_exit_code(ev, result) : 0;
    if (code != 0)
        text_print(out, "failed, exit code %d", code);
    else if (ended)
        text_say(out, ev->is_error ? "error: " : "ok");
    if (!ended || ev->is_error) text_fit(out, result, columns);
    text_say(out, ")");
    return ended && !ev->is_error && code == 0;
}

/* A rule in a line, with all of its conditions. */
static inline void calls_rule(text *out, const phi_permission_rule *rule) {
    const char *what = rule->command ? rule->command : rule->path ? rule->path : rule->host;
    const struct {
        const char *name, *value;
    } more[] = {{"path", rule->path},
                {"host", rule->host},
                {"with", rule->with},
                {"without", rule->without},
                {"piped", rule->piped},
                {"argument", rule->argument},
                {"matches", rule->matches},
                {"source", rule->source != NULL && *rule->source ? rule->source : NULL}};
    size_t i;
    text_print(out, "%s%s%s", rule->tool ? rule->tool : "*", what ? " " : "", what ? what : "");
    for (i = 0; i < sizeof more / sizeof *more; i++)
        if (more[i].value != NULL && more[i].value != what)
            text_print(out, ", %s: %s", more[i].name, more[i].value);
}

static inline void calls_free(call_line *calls) {
    size_t i;
    for (i = 0; i < CALLS_MOST; i++) free(calls[i].argument.at);
}

#endif
