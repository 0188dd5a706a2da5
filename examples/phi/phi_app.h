/* phi_app.h - what all of phi.c works on, and how it says something. */
#ifndef PHI_APP_H
#define PHI_APP_H

#include "phi_tools.h"

#include "phi_answer.h"
#include "phi_attach.h"
#include "phi_choice.h"
#include "phi_commands.h"
#include "phi_files.h"
#include "phi_folded.h"
#include "phi_kept.h"
#include "phi_notes.h"
#include "phi_options.h"
#include "phi_own.h"
#include "phi_prose.h"
#include "phi_sessions.h"
#include "phi_status.h"
#include "phi_subs.h"
#include "phi_todo.h"
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
    phi_tool tools[PHI_TOOL_COUNT + 2]; /* those of the set, todo_write and read_url */
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
    size_t sums;     /* so many messages are being summed up */
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
    markdown markdown; /* the answer's */
    int below;         /* lines below the transcript */
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
    folded folded; /* outputs of calls */
    todo todo;
    subs subs;
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
    prose_break(&a->screen, &a->markdown, false);
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

#endif
