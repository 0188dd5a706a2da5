/* phi_prompt.h - what a line of the chat may hold besides words: files that it names, a "!" before a line for the shell, a
   word to complete; and the lines of earlier runs. */
#ifndef PHI_PROMPT_H
#define PHI_PROMPT_H

#include "phi_back.h"
#include "phi_history.h"
#include "phi_slash.h"
#include "phi_steer.h"

enum { PROMPT_ASKED_BYTES = 4 << 20 }; /* beyond it no URL that is asked about counts as typed */

/* ---- files ---- */

/* True if the file is a document, image or sound by its first bytes; a text is none. */
static inline bool prompt_is_media(const char *path) {
    char part[64];
    FILE *file = places_open(path);
    text begins = {NULL, 0, 0};
    bool is;
    if (file == NULL) return false;
    text_add(&begins, part, fread(part, 1, sizeof part, file));
    (void)fclose(file);
    is = attach_type_of(&begins, path) != NULL;
    free(begins.at);
    return is;
}

/* Attaches what lines for the shell have printed since the last prompt, as a text. */
static inline bool prompt_attach_shell(app *a) {
    static const char begins[] = "The user has run these lines in the shell:\n\n";
    attachments *to = &a->attached;
    phi_content *c = &to->files[to->count];
    text *all = &to->bytes[to->count], *name = &to->names[to->count];
    if (a->typing.shell.kept.len == 0) return true;
    if (to->count == ATTACH_FILES) return false;
    to->count++;
    text_say(all, begins);
    text_add(all, a->typing.shell.kept.at, a->typing.shell.kept.len);
    text_say(name, "shell");
    c->kind = PHI_CONTENT_DOCUMENT;
    c->name = text_str(name);
    c->text = text_str(all);
    return true;
}

/* Attaches the files that the line names: any after an '@'; without it documents, images and sounds by a path. False: a
   note says why not, and none is attached. */
static inline bool prompt_attach(app *a, const char *line) {
    size_t count = a->attached.count, total = a->attached.total;
    text path = {NULL, 0, 0}, words = {NULL, 0, 0};
    words_word w = PHI_ZERO;
    bool taken = true;
    while (taken && words_next(line, &w)) {
        const char *one;
        if (!words_file(line, &w, &path) || (!w.at && !prompt_is_media(path.at))) continue;
        one = path.at;
        taken = a->attached.count < ATTACH_FILES &&
                attach_open(&a->attached, a->agent, &one, 1, &words);
        if (taken) note(a, STYLE_DIM, "(with %s)", path.at);
        if (taken) continue;
        note(a, STYLE_BAD, "! %s", words.len > 0 ? words.at : "at most 16 files");
        if (!w.at) note(a, STYLE_DIM, "(a path in `backquotes` is only words)");
    }
    if (taken && !prompt_attach_shell(a)) {
        note(a, STYLE_BAD, "! at most 16 files, one of them what the shell has printed");
        taken = false;
    }
    if (!taken) attach_cut(&a->attached, count, total);
    free(path.at);
    free(words.at);
    return taken;
}

/* A prompt was sent. */
static inline void prompt_sent(app *a, const char *words) {
    a->typing.shell.kept.len = 0;
    todo_clear(&a->todo);
    sessions_note(&a->kept, words);
}

/* A person asks this; what is piped in comes from elsewhere. */
static inline void prompt_asked(app *a, const char *words) {
    if ((a->acp || typed_is_terminal(0)) && a->typing.asked.len < PROMPT_ASKED_BYTES)
        text_print(&a->typing.asked, "%s\n", words);
}

/* ---- the shell ---- */

/* True if the line was one for the shell. */
static inline bool prompt_shell(app *a, const char *line) {
    const char *rest = line + (line[0] == '!' ? 1 : 0);
    phi_status status;
    if (line[0] != '!') return false;
    rest += strspn(rest, " \t\n");
    if (a->tape.tape != NULL) {
        note(a, STYLE_BAD, "! no line is run while a tape is recorded or played");
    } else if (*rest == '\0') {
        note(a, STYLE_DIM, "(a line after the ! runs in the shell)");
    } else if (phi_agent_get_info(a->agent).running || shell_runs(&a->typing.shell)) {
        note(a, STYLE_BAD, "! stop the run first");
        if (a->chat) line_set(&a->line, line);
    } else {
        if (a->chat) say_you(a, phi_str_of(line));
        status = shell_start(&a->typing.shell, a->rt, rest);
        if (status != PHI_OK) note(a, STYLE_BAD, "! %s", phi_status_text(status));
    }
    return true;
}

/* True while a line runs in the shell, as a prompt may be about it, and while the model sums up. */
static inline bool prompt_waits(app *a) {
    bool waits = shell_runs(&a->typing.shell);
    if (a->sums > 0)
        note(a, STYLE_DIM, "(the summary ends first, or Esc stops it)");
    else if (waits)
        note(a, STYLE_DIM, "(the line in the shell ends first, or Esc stops it)");
    return waits || a->sums > 0;
}

/* ---- completion ---- */

/* Tab: a command, or a file after '@'. */
static inline void prompt_tab(app *a) {
    const char *line = a->line.text.len > 0 ? a->line.text.at : "";
    size_t i, n = a->line.cursor;
    menu_clear(&a->typing.menu);
    if (line[0] == '/' && n == strcspn(line, " \n") && strchr(line + 1, '/') == NULL) {
        complete_begin(&a->typing.complete, 1);
        text_add(&a->typing.complete.word, line + 1, n - 1);
        for (i = 0; i < SLASH_COMMANDS; i++)
            if (strncmp(slash_commands[i].name, line + 1, n - 1) == 0)
                complete_found(&a->typing.complete, slash_commands[i].name);
        complete_end(&a->typing.complete, &a->line, &a->typing.menu);
    } else
        (void)complete_file(&a->typing.complete, &a->line);
}

/* ---- keys ---- */

/* True: the key was for the rows below the line. Any other key takes them away. */
static inline bool prompt_key(app *a, int key) {
    bool shown = a->typing.menu.count > 0, chooses = a->typing.menu.chooses, ends;
    bool burst = keys_now_ms() - a->typing.key_ms <= ANSWER_BURST_MS;
    a->typing.key_ms = keys_now_ms();
    if (burst && key == KEY_ENTER && a->line.text.len > 0 && a->line.text.at[0] == '!') {
        note(a, STYLE_DIM, "(Enter came with the line, as in a paste: press it again to run it)");
        return true;
    }
    ends = key == KEY_ESCAPE || key == KEY_CTRL('C');
    if (chooses && (key == KEY_UP || key == KEY_DOWN)) {
        int to = a->typing.menu.chosen + (key == KEY_UP ? -1 : 1);
        if (to >= 0 && to < a->typing.menu.count) a->typing.menu.chosen = to;
        return true;
    }
    if (chooses && key == KEY_ENTER) {
        back_choose(a);
        return true;
    }
    complete_stop(&a->typing.complete);
    menu_clear(&a->typing.menu);
    if (key == KEY_CTRL('I')) prompt_tab(a);
    if (key == KEY_CTRL('B') && !chooses) back_branches(a);
    return key == KEY_CTRL('I') || key == KEY_CTRL('B') || (shown && ends);
}

/* ---- lines of earlier runs ---- */

static inline bool prompt_keeps(const app *a) { return !a->o.forget && a->tape.tape == NULL; }

static inline void prompt_open(app *a) {
    if (!prompt_keeps(a)) return;
    if (a->kept.directory.len == 0) (void)sessions_open(&a->kept);
    if (a->kept.directory.len > 0) history_open(&a->line, a->kept.directory.at);
    a->line.at = a->line.count;
}

static inline void prompt_keep(app *a, const char *line) {
    if (prompt_keeps(a) && a->kept.directory.len > 0) history_add(a->kept.directory.at, line);
}

/* A line was typed: keeps it. True: it was one for the shell, or a command, and is done. */
static inline bool prompt_is_other(app *a, const char *line) {
    prompt_keep(a, line);
    return prompt_shell(a, line) || slash_line(a, line);
}

#endif
