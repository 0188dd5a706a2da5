/* ignored.c - the ignore files of the directories from the file system's root to a walk's place. */
#include "tools/ignored_in.h"
#include "system/system_in.h"

#ifndef PHI_NO_FILES

typedef enum phi__ignored_kind {
    PHI__IGNORED_RG,
    PHI__IGNORED_PLAIN,
    PHI__IGNORED_GIT,
    PHI__IGNORED_EXCLUDE
} phi__ignored_kind;

/* ---- reading ---- */

/* A file that is not there, or cannot be read, has no rules. */
static phi_status phi__ignored_read(phi__ignored *ignored, phi__ignored_level *level, size_t kind,
                                    int dir) {
    phi__file *file;
    phi__buf text;
    size_t got = 1;
    static const char *const names[PHI__IGNORED_KINDS] = {".rgignore", ".ignore", ".gitignore",
                                                          ".git/info/exclude"};
    phi_status status = phi__files_open_in(ignored->memory, dir, names[kind], &file, NULL);
    if (status != PHI_OK) return status == PHI_NO_MEMORY ? PHI_NO_MEMORY : PHI_OK;
    phi__buf_init(&text, ignored->memory);
    while (got > 0 && text.len < PHI__IGNORED_BYTES) {
        size_t room = phi__min(PHI__IGNORED_BYTES - text.len, 16384);
        char *to = phi__buf_reserve(&text, room);
        if (to == NULL || phi__files_read(file, to, room, &got, NULL) != PHI_OK) break;
        phi__buf_add_len(&text, got);
    }
    phi__files_close(file);
    /* A line that is cut would be another rule: "*.o" could become "*". */
    if (text.len >= PHI__IGNORED_BYTES)
        while (text.len > 0 && text.at[text.len - 1] != '\n') text.len--;
    ignored->spent += PHI__IGNORED_BYTE * text.len;
    status = text.failed ? PHI_NO_MEMORY : PHI_OK;
    if (status == PHI_OK && text.len > 0) {
        phi__ignore *rules = (phi__ignore *)phi__alloc(ignored->memory, sizeof *rules);
        level->files[kind] = rules;
        if (rules != NULL) {
            phi__ignore_init(rules, ignored->memory);
            status = phi__ignore_add(rules, phi__buf_str(&text));
            ignored->rules += rules->count;
        } else
            status = PHI_NO_MEMORY;
    }
    phi__buf_free(&text);
    return status;
}

static phi_status phi__ignored_fill(phi__ignored *ignored, phi__ignored_level *level, int dir) {
    phi_status status = PHI_OK;
    bool directory = false;
    level->git = phi__walk_has(dir, ".git", &directory);
    for (size_t kind = 0; kind < PHI__IGNORED_KINDS && status == PHI_OK; kind++)
        if (kind != PHI__IGNORED_EXCLUDE || directory)
            status = phi__ignored_read(ignored, level, kind, dir);
    return status;
}

/* ---- levels ---- */

static void phi__ignored_pop(phi__ignored *ignored) {
    phi__ignored_level *level = &ignored->levels[--ignored->count];
    for (size_t kind = 0; kind < PHI__IGNORED_KINDS; kind++) {
        phi__ignore *rules = level->files[kind];
        if (rules == NULL) continue;
        ignored->rules -= rules->count;
        phi__ignore_free(rules);
        phi__free(ignored->memory, rules, sizeof *rules);
    }
}

static phi__ignored_level *phi__ignored_push(phi__ignored *ignored, size_t from) {
    phi__ignored_level *levels = (phi__ignored_level *)phi__grow(
        ignored->memory, ignored->levels, &ignored->cap, ignored->count + 1, sizeof *levels);
    if (levels == NULL) return NULL;
    ignored->levels = levels;
    memset(&levels[ignored->count], 0, sizeof *levels);
    levels[ignored->count].from = from;
    return &levels[ignored->count++];
}

/* ---- for other files ---- */

PHI__FN void phi__ignored_init(phi__ignored *ignored, phi_memory *memory) {
    memset(ignored, 0, sizeof *ignored);
    ignored->memory = memory;
    phi__buf_init(&ignored->path, memory);
}

PHI__FN void phi__ignored_free(phi__ignored *ignored) {
    while (ignored->count > 0) phi__ignored_pop(ignored);
    phi__free(ignored->memory, ignored->levels, ignored->cap * sizeof *ignored->levels);
    ignored->levels = NULL;
    ignored->cap = 0;
    phi__buf_free(&ignored->path);
    ignored->asked.open = false;
}

PHI__FN phi_status phi__ignored_above(phi__ignored *ignored, const char *place) {
    if (ignored->path.len == 0) {
        phi__buf_text(&ignored->path, place);
        if (strcmp(place, "/") != 0) phi__buf_char(&ignored->path, '/');
        if (ignored->path.failed) return PHI_NO_MEMORY;
        ignored->root = ignored->path.len;
        return PHI_BUSY;
    }
    size_t len = strlen(place);
    size_t from = ignored->count > 0 ? ignored->levels[ignored->count - 1].from : 0;
    while (from < len && place[from] != '/') from++;
    if (from >= len || len == 1) return PHI_OK;
    phi__ignored_level *level = phi__ignored_push(ignored, from + 1);
    ignored->above = ignored->count;
    if (level == NULL) return PHI_NO_MEMORY;
    int dir = phi__walk_open_path(phi__str(place, phi__max(from, 1)));
    if (dir < 0) return PHI_BUSY;
    phi_status status = phi__ignored_fill(ignored, level, dir);
    phi__walk_close(dir);
    return status == PHI_OK ? PHI_BUSY : status;
}

PHI__FN phi_status phi__ignored_enter(phi__ignored *ignored, uint32_t depth, int dir,
                                      phi_str path) {
    while (ignored->count > ignored->above + depth) phi__ignored_pop(ignored);
    phi__ignored_level *level = phi__ignored_push(ignored, ignored->root + path.len);
    if (level == NULL) return PHI_NO_MEMORY;
    return dir >= 0 ? phi__ignored_fill(ignored, level, dir) : PHI_OK;
}

static phi_status phi__ignored_ask(phi__ignored *ignored, uint32_t depth, phi_str path) {
    phi__ignored_asked *asked = &ignored->asked;
    while (ignored->count > ignored->above + depth) phi__ignored_pop(ignored);
    memset(asked, 0, sizeof *asked);
    if (ignored->rules == 0) return PHI_OK;
    ignored->path.len = ignored->root;
    phi__buf_add_str(&ignored->path, path);
    if (ignored->path.failed) return PHI_NO_MEMORY;
    for (size_t i = 0; i < ignored->count; i++)
        asked->in_git = asked->in_git || ignored->levels[i].git;
    asked->level = ignored->count;
    asked->left = SIZE_MAX;
    asked->open = true;
    return PHI_OK;
}

/* Asks one kind of one level. False: the units are used up. */
static bool phi__ignored_ask_kind(phi__ignored *ignored, const phi__ignored_level *level,
                                  bool directory, size_t *units) {
    phi__ignored_asked *asked = &ignored->asked;
    const phi__ignore *rules = level->files[asked->kind];
    phi_str whole = phi__buf_str(&ignored->path);
    phi__ignore_said *said = &asked->said[asked->kind];
    if (rules == NULL || *said != PHI__IGNORE_NONE) return true;
    if (asked->kind >= PHI__IGNORED_GIT && (!asked->in_git || asked->past_git)) return true;
    if (asked->left > rules->count) asked->left = rules->count;
    whole = phi__str(whole.at + level->from, whole.len - level->from);
    *said = phi__ignore_says(rules, whole, directory, &asked->left, units);
    return *said != PHI__IGNORE_NONE || asked->left == 0;
}

PHI__FN phi_status phi__ignored_says(phi__ignored *ignored, uint32_t depth, phi_str path,
                                     bool directory, size_t *units, phi__ignore_said *out) {
    phi__ignored_asked *asked = &ignored->asked;
    *out = PHI__IGNORE_NONE;
    if (!asked->open) {
        phi_status status = phi__ignored_ask(ignored, depth, path);
        if (status != PHI_OK || !asked->open) return status;
    }
    for (; asked->level > 0; asked->level--) {
        const phi__ignored_level *level = &ignored->levels[asked->level - 1];
        for (; asked->kind < PHI__IGNORED_KINDS; asked->kind++) {
            if (!phi__ignored_ask_kind(ignored, level, directory, units)) return PHI_BUSY;
            asked->left = SIZE_MAX;
        }
        asked->kind = 0;
        asked->past_git = asked->past_git || level->git;
    }
    asked->open = false;
    for (size_t kind = 0; kind < PHI__IGNORED_KINDS && *out == PHI__IGNORE_NONE; kind++)
        *out = asked->said[kind];
    return PHI_OK;
}

#endif
