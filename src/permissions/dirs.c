/* dirs.c - the directories that the commands of a line may run in, as cd changes them. */
#include "permissions/shell_in.h"

enum { PHI__DIRS_PATH_MOST = 4095 }; /* bytes */

/* Adds one that is not there yet. False: there are too many. */
static bool phi__dirs_add(phi__shell_dirs *dirs, const phi__shell_word *dir) {
    size_t i;
    for (i = 0; i < dirs->count; i++)
        if (phi_str_equal(dirs->at[i].text, dir->text)) return true;
    if (dirs->count == PHI__SHELL_DIRS_MOST) return false;
    dirs->at[dirs->count++] = *dir;
    return true;
}

static phi__shell_word phi__dirs_workspace(void) {
    phi__shell_word word;
    memset(&word, 0, sizeof word);
    word.text = phi__str("", 0);
    word.known = true;
    return word;
}

static bool phi__dirs_all(phi__shell_dirs *dirs, const phi__shell_dirs *more) {
    phi__shell_word workspace = phi__dirs_workspace();
    bool good = true;
    size_t i;
    if (more == NULL) return phi__dirs_add(dirs, &workspace);
    for (i = 0; i < more->count; i++) good = phi__dirs_add(dirs, &more->at[i]) && good;
    return good;
}

static bool phi__dirs_absolute(phi_str path) {
    return path.len > 0 && strchr("/~$", path.at[0]) != NULL && path.at[0] != '\0';
}

/* `to`, from `from`. False: no memory. */
static bool phi__dirs_join(phi_arena *arena, const phi__shell_word *from, const phi__shell_word *to,
                           phi__shell_word *out) {
    phi__buf text;
    bool good;
    *out = *to;
    if (from->text.len == 0 || phi__dirs_absolute(to->text)) return true;
    phi__buf_init(&text, arena->memory);
    phi__buf_add_str(&text, from->text);
    phi__buf_char(&text, '/');
    phi__buf_add_str(&text, to->text);
    good = !text.failed && phi__arena_str(arena, phi__buf_str(&text), &out->text);
    phi__buf_free(&text);
    out->known = from->known && to->known;
    return good;
}

PHI__FN const phi__shell_dirs *phi__dirs_both(phi_arena *arena, phi__shell *out,
                                              const phi__shell_dirs *one,
                                              const phi__shell_dirs *other) {
    phi__shell_dirs *all;
    if (one == other) return one;
    all = (phi__shell_dirs *)phi__arena_zero(arena, sizeof *all);
    if (all == NULL) return NULL;
    if (!phi__dirs_all(all, one) || !phi__dirs_all(all, other)) out->lost = true;
    return all;
}

PHI__FN const phi__shell_dirs *phi__dirs_go(phi_arena *arena, phi__shell *out,
                                            const phi__shell_dirs *from,
                                            const phi__shell_word *to) {
    phi__shell_word workspace = phi__dirs_workspace(), dir;
    phi__shell_dirs *all = (phi__shell_dirs *)phi__arena_zero(arena, sizeof *all);
    size_t i, n = from != NULL ? from->count : 1;
    if (all == NULL) return NULL;
    for (i = 0; i < n; i++) {
        if (!phi__dirs_join(arena, from != NULL ? &from->at[i] : &workspace, to, &dir)) return NULL;
        if (dir.text.len > PHI__DIRS_PATH_MOST || !phi__dirs_add(all, &dir)) out->lost = true;
    }
    out->visited = phi__dirs_both(arena, out, out->visited, all);
    return out->visited != NULL ? all : NULL;
}

static bool phi__dirs_is(const phi__shell_word *word, const char *const *texts) {
    for (; word->known && *texts != NULL; texts++)
        if (phi__str_is(word->text, *texts)) return true;
    return false;
}

/* The word of a cd that says where to. NULL: home, or back to where it was. */
static const phi__shell_word *phi__dirs_target(const phi__shell_command *c, bool *changes,
                                               bool *back) {
    static const char *const before[] = {"command", "builtin", "-p", "--", NULL};
    static const char *const names[] = {"cd", "pushd", "chdir", "popd", NULL};
    size_t i = 0;
    while (i < c->count && phi__dirs_is(&c->words[i], before)) i++;
    *changes = i < c->count && phi__dirs_is(&c->words[i], names);
    *back = *changes && phi__str_is(c->words[i].text, "popd");
    if (*changes && i + 1 == c->count && phi__str_is(c->words[i].text, "pushd")) *back = true;
    for (i++; *changes && i < c->count; i++) {
        phi_str text = c->words[i].text;
        if (phi__str_is(text, "-") || phi__str_starts(text, "+")) *back = true;
        if (text.len == 0 || (text.at[0] != '-' && text.at[0] != '+')) return &c->words[i];
    }
    return NULL;
}

PHI__FN void phi__dirs_after(phi__shell_parser *p, const phi__shell_command *command) {
    const phi__shell_word *to;
    phi__shell_word home = phi__dirs_workspace();
    bool changes, back;
    to = phi__dirs_target(command, &changes, &back);
    if (!changes) return;
    home.text = phi__str("~", 1);
    if (p->repeats > 0) p->out->lost = true;
    p->moves++;
    p->stay = p->dirs;
    if (back && p->out->visited == NULL) {
        p->out->lost = true;
        p->there = p->dirs;
        return;
    }
    p->there = back ? phi__dirs_both(p->arena, p->out, p->dirs, p->out->visited)
                    : phi__dirs_go(p->arena, p->out, p->dirs, to != NULL ? to : &home);
    if (p->there != NULL) p->dirs = phi__dirs_both(p->arena, p->out, p->stay, p->there);
    if (p->there == NULL || p->dirs == NULL) phi__shell_word_lost(p);
}
