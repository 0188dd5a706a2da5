/* phi_slash.h - the commands of the chat: a line that begins with "/" is one, and no model reads it. */
#ifndef PHI_SLASH_H
#define PHI_SLASH_H

#include "phi_slash_lists.h"
#include "phi_undo.h"

/* ---- the model ---- */

static inline void slash_model(app *a, const char *rest) {
    phi_agent_desc to = PHI_ZERO;
    const char *why = a->why, *wrong;
    text words = {NULL, 0, 0};
    phi_str id;
    if (rest[0] == '\0') {
        id = phi_agent_get_info(a->agent).model_id;
        note(a, STYLE_DIM, "%.*s (%s)", PHI_ARG(id), a->why);
        return;
    }
    if (phi_agent_get_info(a->agent).running) {
        note(a, STYLE_BAD, "! stop the run first (Esc)");
        if (a->chat && a->line.text.len == 0) {
            text_print(&words, "/model %s", rest);
            line_set(&a->line, words.at);
            free(words.at);
        }
        return;
    }
    wrong = choice_model(a->agents, rest, &why, &to.model, &words);
    if (wrong == NULL) (void)apply_model(a, &to.model);
    if (wrong == NULL && a->o.wants.max_cost > 0 && !prices_has(&to.model))
        wrong = "no prices are known for this model, and --max-cost needs them";
    /* a model that was guessed is tried once; one that is named gets its retries */
    if (wrong == NULL &&
        phi_agent_set(a->agent, &to, PHI_SET_MODEL | (a->guess ? PHI_SET_RETRY : 0)) != PHI_OK)
        wrong = last_error(a);
    if (wrong != NULL) note(a, STYLE_BAD, "! %s: %s", wrong, rest);
    free(words.at);
    if (wrong != NULL) return;
    a->why = why;
    a->guess = false;
    id = phi_agent_get_info(a->agent).model_id;
    note(a, STYLE_DIM, "(from now on %.*s, %s)", PHI_ARG(id), why);
}

static inline void slash_sessions(app *a, const char *rest) {
    text words = {NULL, 0, 0};
    (void)rest;
    sessions_list(&a->kept, &words);
    if (words.len > 0) text_remove(&words, words.len - 1, 1);
    note_str(a, STYLE_DIM, text_str(&words));
    free(words.at);
}

static inline void slash_quit(app *a, const char *rest) {
    (void)rest;
    a->quit = true;
}

static inline void slash_help(app *a, const char *rest);

static const struct {
    const char *name, *takes, *words;
    void (*run)(app *a, const char *rest);
} slash_commands[] = {
    {"help", "", "this list", slash_help},
    {"model", "[NAME]", "the model; another one, as -m takes it", slash_model},
    {"compact", "[FOCUS]", "the model sums up the conversation; FOCUS: what to keep",
     slash_compact},
    {"clear", "", "begins a fresh lane, as Ctrl+R does", slash_clear},
    {"undo", "", "takes the last prompt back, or the last /clear", slash_undo},
    {"branch", "[NAME]", "lists branches; goes to one, or begins it here", slash_branch},
    {"sessions", "", "the conversations of this directory", slash_sessions},
    {"cost", "", "tokens and dollars so far", slash_cost},
    {"tools", "", "the tools of the model, and whose they are", slash_tools},
    {"mcp", "", "the MCP servers: states, tools, last words", slash_mcp},
    {"permissions", "", "the rules for calls; forget N takes an \"always\" back",
     slash_permissions},
    {"quit", "", "ends the chat", slash_quit},
};
enum { SLASH_COMMANDS = sizeof slash_commands / sizeof *slash_commands };

static inline void slash_help(app *a, const char *rest) {
    size_t i;
    (void)rest;
    for (i = 0; i < SLASH_COMMANDS; i++)
        note(a, STYLE_DIM, "/%s %s%*s%s", slash_commands[i].name, slash_commands[i].takes,
             (int)(20 - strlen(slash_commands[i].name) - strlen(slash_commands[i].takes)), "",
             slash_commands[i].words);
    note(a, STYLE_DIM, "@PATH in a line attaches a file; a blank before the \"/\" sends the line");
    note(a, STYLE_DIM, "!LINE runs in the shell");
    note(a, STYLE_DIM, "Esc: stops the run | Alt+Enter: a line break | Tab: completes");
    note(a, STYLE_DIM, "Ctrl+O: whole outputs | Ctrl+R: a fresh lane | Ctrl+B: an earlier prompt");
}

/* True if the line was a command, known or not. A path, such as /etc/hosts, is none. */
static inline bool slash_line(app *a, const char *line) {
    size_t n, i;
    if (line[0] != '/') return false;
    n = strcspn(line + 1, " \n");
    if (n == 0 || memchr(line + 1, '/', n) != NULL) return false;
    for (i = 0; i < SLASH_COMMANDS; i++)
        if (strlen(slash_commands[i].name) == n &&
            memcmp(slash_commands[i].name, line + 1, n) == 0) {
            const char *rest = line + 1 + n;
            text words = {NULL, 0, 0};
            phi_arena_mark mark = phi_arena_save(&a->arena); /* a question may be in the arena */
            rest += strspn(rest, " \n");
            text_say(&words, rest);
            while (words.len > 0 && strchr(" \n", words.at[words.len - 1]) != NULL)
                text_remove(&words, words.len - 1, 1);
            slash_commands[i].run(a, words.at != NULL ? words.at : "");
            phi_arena_reset(&a->arena, mark);
            free(words.at);
            return true;
        }
    note(a, STYLE_BAD,
         "! there is no command /%.*s: /help lists them, and a blank before it sends the line",
         (int)(n < 40 ? n : 40), line + 1);
    return true;
}

#endif
