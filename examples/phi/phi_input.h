/* phi_input.h - what a line of the chat may hold besides words: files that it names, a "!" before a line for the shell, a
   word to complete; and the lines of earlier runs. */
#ifndef PHI_INPUT_H
#define PHI_INPUT_H

#include "phi_back.h"
#include "phi_history.h"
#include "phi_slash.h"

enum { INPUT_ASKED_BYTES = 4 << 20 }; /* beyond it no URL that is asked about counts as typed */

/* ---- files ---- */

/* True if the file is a document, image or sound by its first bytes; a text is none. */
static inline bool input_is_media(const char *path) {
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
static inline bool input_attach_shell(app *a) {
    static const char begins[] = "The user has run these lines in the shell:\n\n";
    attachments *to = &a->attached;
    phi_content *c = &to->files[to->count];
    text *all = &to->bytes[to->count], *name = &to->names[to->count];
    if (a->shell.kept.len == 0) return true;
    if (to->count == ATTACH_FILES) return false;
    to->count++;
    text_say(all, begins);
    text_add(all, a->shell.kept.at, a->shell.kept.len);
    text_say(name, "shell");
    c->kind = PHI_CONTENT_DOCUMENT;
    c->name = text_str(name);
    c->text = text_str(all);
    return true;
}

/* Attaches the files that the line names: any after an '@'; without it documents, images and sounds by a path. False: a
   note says why not, and none is attached. */
static inline bool input_attach(app *a, const char *line) {
    size_t count = a->attached.count, total = a->attached.total;
    text path = {NULL, 0, 0}, words = {NULL, 0, 0};
    words_word w = PHI_ZERO;
    bool taken = true;
    while (taken && words_next(line, &w)) {
        const char *one;
        if (!words_file(line, &w, &path) || (!w.at && !input_is_media(path.at))) continue;
        one = path.at;
        taken = a->attached.count < ATTACH_FILES &&
                attach_open(&a->attached, a->agent, &one, 1, &words);
        if (taken) note(a, STYLE_DIM, "(with %s)", path.at);
        if (taken) continue;
        note(a, STYLE_BAD, "! %s", words.len > 0 ? words.at : "at most 16 files");
        if (!w.at) note(a, STYLE_DIM, "(a path in `backquotes` is only words)");
    }
    if (taken && !input_attach_shell(a)) {
        note(a, STYLE_BAD, "! at most 16 files, one of them what the shell has printed");
        taken = false;
    }
    if (!taken) attach_cut(&a->attached, count, total);
    free(path.at);
    free(words.at);
    return taken;
}

/* A prompt was sent. */
static inline void input_sent(app *a, const char *words) {
    a->shell.kept.len = 0;
    sessions_note(&a->kept, words);
}

/* A person asks this; what is piped in comes from elsewhere. */
static inline void input_asked(app *a, const char *words) {
    if (typed_is_terminal(0) && a->asked.len < INPUT_ASKED_BYTES)
        text_print(&a->asked, "%s\n", words);
}

/* ---- the shell ---- */

/* True if the line was one for the shell. */
static inline bool input_shell(app *a, const char *line) {
    const char *rest = line + (line[0] == '!' ? 1 : 0);
    phi_status status;
    if (line[0] != '!') return false;
    rest += strspn(rest, " \t\n");
    if (a->tape.tape != NULL) {
        note(a, STYLE_BAD, "! no line is run while a tape is recorded or played");
    } else if (*rest == '\0') {
        note(a, STYLE_DIM, "(a line after the ! runs in the shell)");
    } else if (phi_agent_get_info(a->agent).running || shell_runs(&a->shell)) {
        note(a, STYLE_BAD, "! stop the run first");
        if (a->chat) line_set(&a->line, line);
    } else {
        if (a->chat) say_you(a, phi_str_of(line));
        status = shell_start(&a->shell, a->rt, rest);
        if (status != PHI_OK) note(a, STYLE_BAD, "! %s", phi_status_text(status));
    }
    return true;
}

/* ---- completion ---- */

/* Tab: a command, or a file after '@'. */
static inline void input_tab(app *a) {
    const char *line = a->line.text.len > 0 ? a->line.text.at : "";
    size_t i, n = a->line.cursor;
    menu_clear(&a->menu);
    if (line[0] == '/' && n == strcspn(line, " \n") && strchr(line + 1, '/') == NULL) {
        complete_begin(&a->complete, 1);
        text_add(&a->complete.word, line + 1, n - 1);
        for (i = 0; i < SLASH_COMMANDS; i++)
            if (strncmp(slash_commands[i].name, line + 1, n - 1) == 0)
                complete_found(&a->complete, slash_commands[i].name);
        complete_end(&a->complete, &a->line, &a->menu);
    } else
        (void)complete_file(&a->complete, &a->line);
}

/* ---- keys ---- */

/* True: the key was for the rows below the line. Any other key takes them away. */
static inline bool input_key(app *a, int key) {
    bool shown = a->menu.count > 0, chooses = a->menu.chooses, ends;
    bool burst = keys_now_ms() - a->key_ms <= ANSWER_BURST_MS;
    a->key_ms = keys_now_ms();
    if (burst && key == KEY_ENTER && a->line.text.len > 0 && a->line.text.at[0] == '!') {
        note(a, STYLE_DIM, "(Enter came with the line, as in a paste: press it again to run it)");
        return true;
    }
    ends = key == KEY_ESCAPE || key == KEY_CTRL('C');
    if (chooses && (key == KEY_UP || key == KEY_DOWN)) {
        int to = a->menu.chosen + (key == KEY_UP ? -1 : 1);
        if (to >= 0 && to < a->menu.count) a->menu.chosen = to;
        return true;
    }
    if (chooses && key == KEY_ENTER) {
        back_choose(a);
        return true;
    }
    complete_stop(&a->complete);
    menu_clear(&a->menu);
    if (key == KEY_CTRL('I')) input_tab(a);
    if (key == KEY_CTRL('B') && !chooses) back_branches(a);
    return key == KEY_CTRL('I') || key == KEY_CTRL('B') || (shown && ends);
}

/* ---- lines of earlier runs ---- */

static inline bool input_keeps(const app *a) { return !a->o.forget && a->tape.tape == NULL; }

static inline void input_open(app *a) {
    if (!input_keeps(a)) return;
    if (a->kept.directory.len == 0) (void)sessions_open(&a->kept);
    if (a->kept.directory.len > 0) history_open(&a->line, a->kept.directory.at);
    a->line.at = a->line.count;
}

static inline void input_keep(app *a, const char *line) {
    if (input_keeps(a) && a->kept.directory.len > 0) history_add(a->kept.directory.at, line);
}

#endif
