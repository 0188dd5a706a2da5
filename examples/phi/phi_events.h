/* phi_events.h - the events of a run: shown to a person, or as lines of JSON. */
#ifndef PHI_EVENTS_H
#define PHI_EVENTS_H

#include "phi_shown.h"
#include "phi_servers.h"

static inline void show_line(app *a, phi_str json) {
    text safe = {NULL, 0, 0};
    if (!a->whole) text_escape(&safe, json);
    screen_write(&a->screen, a->whole ? json.at : safe.at, a->whole ? json.len : safe.len);
    free(safe.at);
}

/* The event's line; that of a run which did not end well also has its status and the reason. */
static inline void show_json_line(app *a, const phi_event *ev, phi_str json) {
    phi_str reason = phi_str_of("\"\"");
    text more = {NULL, 0, 0};
    bool bad = ev->kind == PHI_EV_AGENT_END && ev->status != PHI_OK;
    if (bad) {
        json.len--; /* the closing brace */
        text_print(&more, ",\"status\":%d", (int)ev->status);
        if (ev->text.len > 0) { /* an abort has none */
            (void)phi_json_write(&a->arena, phi_json_new_str(&a->arena, ev->text), 0, &reason);
            text_say(&more, ",\"reason\":");
            text_add(&more, reason.at, reason.len);
        }
        text_say(&more, "}");
    }
    show_line(a, json);
    if (more.len > 0) show_line(a, text_str(&more));
    screen_write(&a->screen, "\n", 1);
    free(more.at);
}

static inline void show_json(app *a, const phi_event *ev) {
    phi_arena_mark mark = phi_arena_save(&a->arena);
    phi_strategy_outcome end;
    phi_event brief = *ev;
    phi_str json;
    if (ev->kind == PHI_EV_TEXT || ev->kind == PHI_EV_THINKING || ev->kind == PHI_EV_TOOL_ARGUMENTS)
        brief.message = NULL; /* the answer so far, once more with each delta */
    if (ev->kind == PHI_EV_AGENT_START) a->cut = false;
    if (ev->kind == PHI_EV_MESSAGE_END && ev->message->role == PHI_ROLE_ASSISTANT)
        a->cut = ev->message->stop_reason == PHI_STOP_REASON_LENGTH;
    if (phi_event_to_json(&brief, &a->arena, &json) == PHI_OK) show_json_line(a, ev, json);
    if (ev->kind == PHI_EV_AGENT_END && phi_strategy_result(ev->agent, &a->arena, &end) == PHI_OK &&
        !end.running) {
        show_line(a, phi_str_of("{\"type\":\"StrategyResult\",\"result\":"));
        show_line(a, end.result);
        screen_write(&a->screen, "}\n", 2);
    }
    phi_arena_reset(&a->arena, mark);
}

/* True: the event is one of a line that the person runs in the shell. */
static inline bool show_shell(app *a, const phi_event *ev) {
    phi_arena_mark mark = phi_arena_save(&a->arena);
    text words = {NULL, 0, 0};
    bool taken = shell_event(&a->typing.shell, ev, &a->screen, &a->arena, &words);
    if (words.len > 0) note_str(a, STYLE_DIM, text_str(&words));
    phi_arena_reset(&a->arena, mark);
    free(words.at);
    return taken;
}

static inline void show_events(app *a) {
    phi_event ev;
    if (!a->o.json) servers_look(a);
    while (phi_next_event(a->rt, &ev)) {
        if (show_shell(a, &ev)) continue;
        if (a->o.json) show_json(a, &ev);
        if (a->o.json && ev.kind == PHI_EV_AGENT_END) show_run(a, &ev);
        if (!a->o.json) show(a, &ev);
    }
}

/* ---- questions ---- */

/* The whole of it, in the transcript. */
static inline void show_question(app *a) {
    text words = {NULL, 0, 0};
    style how = STYLE_ASK;
    size_t from, to;
    question_whole(&a->q, a->screen.columns, &words);
    if (!a->chat) note_str(a, STYLE_ASK, text_str(&words));
    if (a->chat) prose_break(&a->screen, &a->markdown, false);
    screen_fresh(&a->screen);
    for (from = 0; a->chat && from < words.len; from = to) {
        phi_str row = {words.at + from, 0};
        for (to = from; to < words.len && words.at[to] != '\n';) to++;
        if (to < words.len) to++;
        row.len = to - from;
        how = question_style(&a->q, row, how);
        screen_put(&a->screen, how, row);
    }
    screen_fresh(&a->screen);
    a->q.above = true;
    free(words.at);
}

/* The newest output that was not shown whole since. */
static inline void show_output(app *a) {
    const folded_output *o = folded_next(&a->folded);
    note_str(a, STYLE_DIM,
             o != NULL ? text_str(&o->head) : phi_str_of("(no other output is kept)"));
    if (o != NULL) folded_rows(&a->screen, o, FOLDED_ALL);
}

/* ---- what was said before ---- */

static inline void say_you(app *a, phi_str words) {
    prose_break(&a->screen, &a->markdown, false);
    screen_fresh(&a->screen);
    screen_say(&a->screen, STYLE_PLAIN, a->screen.kept.len > 0 ? "\n" : "");
    screen_say(&a->screen, STYLE_BOLD, "You: ");
    screen_put(&a->screen, STYLE_PLAIN, words);
    screen_say(&a->screen, STYLE_PLAIN, "\n");
}

static inline void say_agent(app *a) {
    screen_say(&a->screen, STYLE_BOLD, "\nAgent");
    a->screen.mark = a->screen.kept.len;
    screen_say(&a->screen, STYLE_BOLD, ": ");
}

/* A call of a message that is shown again, in its line: nobody knows how long it took. */
static inline void show_history_call(app *a, const phi_message *message) {
    phi_event ev = PHI_ZERO;
    text words = {NULL, 0, 0};
    bool good;
    ev.kind = PHI_EV_TOOL_END;
    ev.agent = a->agent;
    ev.message = message;
    ev.tool_name = message->tool_name;
    ev.tool_call_id = message->tool_call_id;
    ev.is_error = message->is_error;
    good = calls_end(a->calls, &ev, &a->arena, 60, &words);
    if (good && phi_str_is(ev.tool_name, todo_name)) { /* the result says more than the arguments */
        words.len = 0;
        text_print(&words, "* %s: ", todo_name);
        text_fit(&words, phi_message_text(message, " ", &a->arena, NULL), 80);
    }
    note_str(a, good ? STYLE_GOOD : STYLE_BAD, text_str(&words));
    free(words.at);
}

/* The end of a conversation that is continued. */
static inline void show_history(app *a) {
    const phi_thread *thread = phi_agent_thread(a->agent);
    size_t count = phi_thread_message_count(thread), i = count > 20 ? count - 20 : 0;
    if (i > 0) note(a, STYLE_DIM, "... %u earlier messages", (unsigned)i);
    for (; i < count; i++) {
        const phi_message *message = phi_thread_message_at(thread, i);
        phi_arena_mark mark = phi_arena_save(&a->arena);
        phi_event ev = PHI_ZERO;
        phi_str words = PHI_ZERO;
        if (message == NULL) continue;
        ev.agent = a->agent;
        ev.message = message;
        words = phi_message_text(message, "\n", &a->arena, NULL);
        if (message->role == PHI_ROLE_USER && !message->is_update) say_you(a, words);
        if (message->role == PHI_ROLE_ASSISTANT && words.len > 0) {
            say_agent(a);
            prose_add(&a->screen, &a->markdown, words);
            prose_break(&a->screen, &a->markdown, true);
            screen_fresh(&a->screen);
        }
        if (message->role == PHI_ROLE_ASSISTANT)
            calls_wanted(a->calls, &ev, &a->arena, a->screen.columns / 2);
        if (message->role == PHI_ROLE_TOOL_RESULT) show_history_call(a, message);
        if (message->stop_reason == PHI_STOP_REASON_ABORTED) note(a, STYLE_DIM, "(stopped)");
        phi_arena_reset(&a->arena, mark);
    }
    for (i = 0; i < CALLS_MOST; i++) a->calls[i].id[0] = '\0'; /* they ended without a result */
}

#endif
