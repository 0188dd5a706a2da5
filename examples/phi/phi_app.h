/* phi_app.h - what all of phi.c works on, and what it shows of a run. */
#ifndef PHI_APP_H
#define PHI_APP_H

#include "phi_tools.h"

#include "phi_answer.h"
#include "phi_attach.h"
#include "phi_calls.h"
#include "phi_choice.h"
#include "phi_commands.h"
#include "phi_files.h"
#include "phi_kept.h"
#include "phi_notes.h"
#include "phi_options.h"
#include "phi_own.h"
#include "phi_sessions.h"
#include "phi_status.h"
#include "phi_trust.h"
#include "phi_typing.h"

enum { SERVERS_MOST = 32 };

typedef struct app {
    options o;
    phi_runtime *rt;
    phi_agent agent;
    phi_config *config;
    trust trust; /* of a configuration that was found */
    phi_agents *agents;
    size_t which; /* of the agents */
    phi_agent_desc desc;
    phi_toolset set;
    phi_permissions *permissions;
    phi_permissions *answers; /* of --allow: calls that it names are not asked about */
    kept always;              /* rules for this directory */
    own own;                  /* the user's own configuration */
    files_session session;
    sessions kept; /* conversations that no option names */
    files_tape tape;
    attachments attached; /* to the first prompt */
    phi_memory memory;
    phi_arena arena; /* of one event, or one question */
    const char *why; /* this model */
    bool compacts;   /* the run makes the view smaller, and has no answer */
    bool cut;        /* the newest answer ended at its limit of tokens */
    bool guess;      /* nobody named the model, and no key is set: a local server may be there */
    bool stopped;    /* the newest run was */
    bool chat, quit;
    bool acp;         /* a session of an editor: */
    text place;       /* its directory; empty: the working directory */
    text config_path; /* the phi.toml of its directory */
    text *said;       /* gets the notes; NULL: they are shown */
    bool whole; /* answers are shown when they are whole: what a pipe got cannot be taken back */
    screen screen;
    int below; /* lines below the transcript */
    call_line calls[CALLS_MOST];
    struct {
        uint32_t restarts;
        bool failed;
    } servers[SERVERS_MOST]; /* as they were last seen */
    bool servers_seen;
    int64_t began_ms; /* the run */
    int code;
    question q; /* its rules are in the arena */
    live live;
    key_reader keys;
    line_editor line;
    typing typing; /* what belongs to that line */
    typed typed;
} app;

/* ---- showing ---- */

/* A line about the run: in the chat a line of the transcript, else on stderr. */
static inline void note_str(app *a, style how, phi_str words) {
    text clean = {NULL, 0, 0};
    if (a->said != NULL) {
        text_note(a->said, words);
        text_say(a->said, "\n");
        return;
    }
    screen_fresh(&a->screen);
    if (how == STYLE_ASK) /* in rows already, and safe */
        text_add(&clean, words.at, words.len);
    else
        rows_note(&clean, words, a->chat || typed_is_terminal(2) ? a->screen.columns : 0);
    if (a->chat) {
        screen_put(&a->screen, how, text_str(&clean));
        screen_fresh(&a->screen);
    } else if (!a->o.quiet || how == STYLE_BAD || how == STYLE_ASK) {
        text_say(&clean, "\n");
        (void)fprintf(stderr, "%s%s", a->q.printed ? "\n" : "", clean.at);
        a->q.printed = false; /* again, below this */
    }
    free(clean.at);
}

PHI_PRINTF(3, 4) static inline void note(app *a, style how, const char *format, ...) {
    text words = {NULL, 0, 0};
    va_list list;
    va_start(list, format);
    text_vprint(&words, format, list);
    va_end(list);
    note_str(a, how, text_str(&words));
    free(words.at);
}

static inline int complain(app *a, const char *what, const char *words) {
    note(a, STYLE_BAD, "phi: %s%s%s", what, words != NULL ? ": " : "", words != NULL ? words : "");
    return UNUSABLE;
}

static inline const char *last_error(const app *a) { return phi_last_error(a->rt).message; }

/* A call is one line, when it is over, or has its result without having run. */
static inline void show_call(app *a, const phi_event *ev) {
    text words = {NULL, 0, 0};
    bool good = calls_end(a->calls, ev, &a->arena, 60, &words);
    if (words.len > 0) note_str(a, good ? STYLE_GOOD : STYLE_BAD, text_str(&words));
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
    if (a->chat && !a->compacts) show_time(a, ev);
    a->compacts = false;
}

/* The run and its answer: those of sub-agents, whose events may come as well, are their callers'. */
static inline void show_run(app *a, const phi_event *ev) {
    if (ev->agent.index != a->agent.index || ev->agent.gen != a->agent.gen) return;
    switch (ev->kind) {
    case PHI_EV_AGENT_START:
        a->began_ms = ev->timestamp_ms;
        a->cut = false;
        break;
    case PHI_EV_TEXT:
        if (!a->whole) screen_answer(&a->screen, ev->text);
        break;
    case PHI_EV_MESSAGE_END:
        if (ev->message->role == PHI_ROLE_ASSISTANT)
            a->cut = ev->message->stop_reason == PHI_STOP_REASON_LENGTH;
        if (a->whole && ev->message->role == PHI_ROLE_ASSISTANT)
            screen_answer(&a->screen, phi_message_text(ev->message, "", &a->arena, NULL));
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
    if (how != STYLE_END) note_str(a, how, text_str(&words));
    if (role == PHI_ROLE_ASSISTANT) calls_wanted(a->calls, ev, &a->arena, columns);
    if (ev->kind == PHI_EV_TOOL_START)
        calls_begin(a->calls, ev, ev->tool_call_id, ev->arguments, &a->arena, columns);
    if (ev->kind == PHI_EV_TOOL_END || role == PHI_ROLE_TOOL_RESULT) show_call(a, ev);
    live_event(&a->live, ev);
    show_run(a, ev);
    phi_arena_reset(&a->arena, mark);
    free(words.at);
}

#endif
