/* phi_shown.h - what phi.c shows of a run: its calls, its answer, and how it ended. */
#ifndef PHI_SHOWN_H
#define PHI_SHOWN_H

#include "phi_compact.h"

/* A call is one line, when it is over, or has its result without having run; in the chat its output follows. */
static inline void show_call(app *a, const phi_event *ev) {
    text words = {NULL, 0, 0};
    bool good = calls_end(a->calls, ev, &a->arena, 60, &words);
    bool mine = ev->kind == PHI_EV_TOOL_END && ev->agent.index == a->agent.index;
    bool tasks = good && mine && phi_str_is(ev->tool_name, todo_name);
    if (a->chat) subs_name(&a->subs, ev, a->agent, &words);
    if (tasks) todo_line(&a->todo, &words);
    if (words.len > 0) note_str(a, good ? STYLE_GOOD : STYLE_BAD, text_str(&words));
    if (tasks && a->chat)
        todo_show(&a->todo, &a->screen);
    else if (mine && a->chat && ev->message != NULL)
        folded_end(&a->folded, &a->screen, ev, text_str(&words),
                   phi_message_text(ev->message, "\n", &a->arena, NULL));
    free(words.at);
}

/* "Agent:" becomes "Agent (1234ms, $0.01):", where that row is still to be seen. */
static inline void show_time(app *a, const phi_event *ev) {
    char words[64], cost[32] = "";
    double dollars = phi_agent_get_info(a->agent).run_cost;
    if (dollars > 0) (void)snprintf(cost, sizeof cost, ", $%.4f", dollars);
    (void)snprintf(words, sizeof words, " (%dms%s)", (int)(ev->timestamp_ms - a->began_ms), cost);
    if (!screen_amend(&a->screen, words, a->below + 1)) note(a, STYLE_DIM, "%s", words + 1);
}

static inline void show_end(app *a, const phi_event *ev) {
    phi_status status = ev->status;
    bool refused = ev->failure != NULL && ev->failure->kind == PHI_FAILURE_CONTENT_FILTER;
    bool stopped = status == PHI_LIMIT || status == PHI_REJECTED || status == PHI_DENIED;
    a->code = status == PHI_OK          ? (a->cut ? STOPPED : 0)
              : status == PHI_CANCELLED ? INTERRUPTED
              : stopped || refused      ? STOPPED
                                        : FAILED;
    if (status == PHI_CANCELLED && (a->screen.gone == 0 || a->screen.gone == EINTR))
        note(a, STYLE_DIM, "(stopped)");
    a->stopped = status == PHI_CANCELLED;
    if (stopped && ev->text.len > 0)
        note(a, STYLE_BAD, "! %.*s", PHI_ARG(ev->text)); /* which limit */
    else if (stopped)
        note(a, STYLE_BAD, "! %s", phi_status_text(status));
    if (status == PHI_OK && a->cut)
        note(a, STYLE_BAD, "! the answer was cut off at its limit of tokens (max_tokens)");
    if (a->guess && ev->failure != NULL && ev->failure->kind == PHI_FAILURE_NETWORK)
        note(a, STYLE_BAD,
             "phi: no key is set, and no local server answers. Set a provider's variable "
             "(ANTHROPIC_API_KEY, "
             "OPENAI_API_KEY; phi models lists all), or start a server such as Ollama: ollama "
             "serve");
    screen_fresh(&a->screen);
    if (a->chat) show_time(a, ev);
}

static inline void show_compacted(app *a, const phi_event *ev) {
    text words = {NULL, 0, 0};
    style how = a->sums > 0 ? compact_end(a, ev, &words) : STYLE_END;
    if (how != STYLE_END) note_str(a, how, text_str(&words));
    free(words.at);
}

/* The run and its answer: those of sub-agents, whose events may come as well, are their callers'. */
static inline void show_run(app *a, const phi_event *ev) {
    if (ev->agent.index != a->agent.index || ev->agent.gen != a->agent.gen) return;
    prose_event(&a->screen, &a->markdown, ev->kind);
    switch (ev->kind) {
    case PHI_EV_REWRITE: show_compacted(a, ev); break;
    case PHI_EV_AGENT_START:
        a->began_ms = ev->timestamp_ms;
        a->cut = false;
        break;
    case PHI_EV_TEXT:
        if (!a->whole) prose_add(&a->screen, &a->markdown, ev->text);
        break;
    case PHI_EV_MESSAGE_END:
        if (ev->message->role != PHI_ROLE_ASSISTANT) break;
        a->cut = ev->message->stop_reason == PHI_STOP_REASON_LENGTH;
        if (a->whole) screen_answer(&a->screen, phi_message_text(ev->message, "", &a->arena, NULL));
        break;
    case PHI_EV_THINKING:
        if (a->chat) screen_put(&a->screen, STYLE_THOUGHT, ev->text);
        break;
    case PHI_EV_RETRACT: /* -q hides no doubt about what stands there */
        if (!a->whole)
            note(a, a->chat ? STYLE_DIM : STYLE_BAD, "(that was cut off, and is asked for again)");
        break;
    case PHI_EV_AGENT_END: show_end(a, ev); break;
    default: break;
    }
}

static inline void show(app *a, const phi_event *ev) {
    phi_arena_mark mark = phi_arena_save(&a->arena);
    text words = {NULL, 0, 0};
    style how = notes_add(&words, ev);
    int columns = a->chat ? a->screen.columns / 2 : 60;
    phi_role role = ev->kind == PHI_EV_MESSAGE_END ? ev->message->role : PHI_ROLE_USER;
    if (how == STYLE_END && a->chat) how = subs_event(&a->subs, ev, a->agent, &words);
    if (how != STYLE_END) note_str(a, how, text_str(&words));
    if (role == PHI_ROLE_ASSISTANT) calls_wanted(a->calls, ev, &a->arena, columns);
    if (role == PHI_ROLE_ASSISTANT && a->chat) folded_wanted(&a->folded, ev->message);
    if (ev->kind == PHI_EV_TOOL_START)
        calls_begin(a->calls, ev, ev->tool_call_id, ev->arguments, &a->arena, columns);
    if (ev->kind == PHI_EV_TOOL_END || role == PHI_ROLE_TOOL_RESULT) show_call(a, ev);
    live_event(&a->live, ev);
    show_run(a, ev);
    phi_arena_reset(&a->arena, mark);
    free(words.at);
}

#endif
