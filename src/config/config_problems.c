/* config_problems.c - lists of problems. */
#include "base/words_in.h"
#include "config/config_own_in.h"

#define PHI__CONFIG_PROBLEMS ((size_t)1000)

void phi__config_problems_init(phi__config_problems *problems, phi_memory *memory, size_t most) {
    memset(problems, 0, sizeof *problems);
    phi_arena_init(&problems->arena, memory, 0);
    problems->most = most > 0 ? most : PHI__CONFIG_PROBLEMS;
}

void phi__config_problems_free(phi__config_problems *problems) {
    phi_memory *memory = problems->arena.memory;
    phi__free(memory, problems->at, problems->cap * sizeof *problems->at);
    phi_arena_free(&problems->arena);
    problems->at = NULL;
    problems->count = problems->cap = 0;
}

static phi_str phi__config_problems_copy(phi__config_problems *problems, phi_str text) {
    phi_str copy = PHI__LIT("");
    if (!phi__arena_str(&problems->arena, text, &copy)) problems->no_memory = true;
    return copy;
}

/* The line that people read. */
static phi_str phi__config_problems_line(phi__config_problems *problems,
                                         const phi_config_problem *p, const char *words) {
    phi_str line;
    phi__buf buf;
    phi__buf_init(&buf, problems->arena.memory);
    if (p->file.len > 0) {
        phi__buf_add_str(&buf, p->file);
        phi__buf_char(&buf, ':');
    }
    if (p->line > 0) phi__buf_printf(&buf, "%u:%u:", (unsigned)p->line, (unsigned)p->column);
    if (buf.len > 0) phi__buf_char(&buf, ' ');
    if (p->is_warning) phi__buf_text(&buf, "warning: ");
    phi__buf_text(&buf, words != NULL ? words : phi_status_text(p->status));
    if (buf.failed)
        problems->no_memory = true;
    else
        buf.len = phi__words_clean_line(buf.at, buf.len); /* keys of the file may be in it */
    line = phi__config_problems_copy(problems, buf.failed ? PHI__LIT("") : phi__buf_str(&buf));
    phi__buf_free(&buf);
    return line;
}

/* A value as it stands in the file, without quotes; empty for tables and arrays. */
static phi_str phi__config_problems_value(phi__config_problems *problems, const phi_config *config,
                                          const phi_json *node) {
    phi_str value = PHI__LIT("");
    if (node == NULL || phi_json_is(node, PHI_JSON_OBJECT) || phi_json_is(node, PHI_JSON_ARRAY))
        return value;
    if (config != NULL && phi__config_raws_find(config, node, &value))
        return phi__config_problems_copy(problems, value);
    if (phi_json_is(node, PHI_JSON_STRING))
        return phi__config_problems_copy(problems, phi__json_text_of(node));
    if (phi__config_raws_odd(node) != NULL)
        return phi__config_problems_copy(problems, phi_str_of(phi__config_raws_odd(node)));
    if (phi_json_write(&problems->arena, node, 0, &value) != PHI_OK) problems->no_memory = true;
    return value;
}

/* Several agents may find the same fault of the file. */
static bool phi__config_problems_again(const phi__config_problems *problems,
                                       const phi_config_problem *p, phi_str words) {
    size_t i;
    for (i = 0; i < problems->count; i++) {
        const phi_config_problem *is = &problems->at[i].is;
        size_t from = is->message.len - phi__min(words.len, is->message.len);
        if (is->line == p->line && is->column == p->column && is->is_warning == p->is_warning &&
            phi_str_equal(phi__str(is->message.at + from, is->message.len - from), words) &&
            (from == 0 || (from > 1 && is->message.at[from - 2] == ':')))
            return true;
    }
    return false;
}

static void phi__config_problems_put(phi__config_problems *problems, const phi_config *config,
                                     const phi_json *node, bool at_key, const char *field,
                                     const char *expected, const char *words,
                                     phi_config_problem *p) {
    phi__config_problem *at;
    if (config != NULL && node != NULL && at_key)
        (void)phi__marks_key(&config->marks, node, &p->line, &p->column);
    if (config != NULL && node != NULL && p->line == 0 &&
        !phi__marks_find(&config->marks, node, &p->line, &p->column))
        (void)phi__marks_key(&config->marks, node, &p->line, &p->column);
    if (words != NULL && phi__config_problems_again(problems, p, phi_str_of(words))) return;
    if (!p->is_warning) problems->errors++;
    if (problems->count >= problems->most) return;
    at = (phi__config_problem *)phi__grow(problems->arena.memory, problems->at, &problems->cap,
                                          problems->count + 1, sizeof *at);
    if (at == NULL) {
        problems->no_memory = true;
        return;
    }
    problems->at = at;
    at += problems->count;
    if (config != NULL) p->file = phi_str_of(config->path);
    p->field = phi__config_problems_copy(problems, phi_str_of(field));
    p->expected = phi__config_problems_copy(problems, phi_str_of(expected));
    if (p->value.len > 0)
        p->value = phi__config_problems_copy(problems, p->value);
    else
        p->value = at_key ? PHI__LIT("") : phi__config_problems_value(problems, config, node);
    p->message = phi__config_problems_line(problems, p, words);
    at->is = *p;
    at->order = problems->count++;
}

void phi__config_problems_add(phi__config_problems *problems, const phi_config *config,
                              const phi_json *node, bool is_warning, phi_status status,
                              const char *field, const char *expected, const char *words) {
    phi_config_problem p = PHI_ZERO;
    p.is_warning = is_warning;
    p.status = status;
    phi__config_problems_put(problems, config, node, false, field, expected, words, &p);
}

void phi__config_problems_add_key(phi__config_problems *problems, const phi_config *config,
                                  const phi_json *node, bool is_warning, phi_status status,
                                  const char *field, const char *words) {
    phi_config_problem p = PHI_ZERO;
    p.is_warning = is_warning;
    p.status = status;
    phi__config_problems_put(problems, config, node, true, field, NULL, words, &p);
}

void phi__config_problems_add_part(phi__config_problems *problems, const phi_config *config,
                                   const phi_json *node, bool is_warning, phi_status status,
                                   const char *field, phi_str value, const char *words) {
    phi_config_problem p = PHI_ZERO;
    p.is_warning = is_warning;
    p.status = status;
    p.value = value;
    phi__config_problems_put(problems, config, node, false, field, NULL, words, &p);
}

void phi__config_problems_add_at(phi__config_problems *problems, const phi_config *config,
                                 uint32_t line, uint32_t column, phi_status status,
                                 const char *words) {
    phi_config_problem p = PHI_ZERO;
    p.status = status;
    p.line = line;
    p.column = column;
    phi__config_problems_put(problems, config, NULL, false, NULL, NULL, words, &p);
}

/* ---- order ---- */

static bool phi__config_problems_before(const phi__config_problem *a,
                                        const phi__config_problem *b) {
    if ((a->is.line == 0) != (b->is.line == 0)) return b->is.line == 0;
    if (a->is.line != b->is.line) return a->is.line < b->is.line;
    if (a->is.column != b->is.column) return a->is.column < b->is.column;
    return a->order < b->order;
}

static void phi__config_problems_sift(phi__config_problem *at, size_t i, size_t count) {
    for (;;) {
        size_t child = 2 * i + 1;
        phi__config_problem swap;
        if (child >= count) return;
        if (child + 1 < count && phi__config_problems_before(&at[child], &at[child + 1])) child++;
        if (!phi__config_problems_before(&at[i], &at[child])) return;
        swap = at[i];
        at[i] = at[child];
        at[child] = swap;
        i = child;
    }
}

/* By a heap: qsort may take memory of its own. */
void phi__config_problems_sort(phi__config_problems *problems) {
    size_t i;
    for (i = problems->count / 2; i > 0; i--)
        phi__config_problems_sift(problems->at, i - 1, problems->count);
    for (i = problems->count; i > 1; i--) {
        phi__config_problem swap = problems->at[0];
        problems->at[0] = problems->at[i - 1];
        problems->at[i - 1] = swap;
        phi__config_problems_sift(problems->at, 0, i - 1);
    }
}

/* ---- looking ---- */

/* Problems without a place: no memory to note them, and more than are kept. */
static const phi_config_problem *phi__config_problems_fixed(bool no_memory) {
    static const char lack[] = "There was not enough memory to read the configuration",
                      more[] = "There are errors beyond the problems that are kept";
    static const phi_config_problem fixed[] = {
        {false, PHI_BAD_ARG, {"", 0}, 0, 0, {"", 0}, {"", 0}, {"", 0}, {more, sizeof more - 1}},
        {false, PHI_NO_MEMORY, {"", 0}, 0, 0, {"", 0}, {"", 0}, {"", 0}, {lack, sizeof lack - 1}}};
    return &fixed[no_memory ? 1 : 0];
}

const phi_config_problem *phi__config_problems_error(const phi__config_problems *problems) {
    size_t i;
    if (problems == NULL || problems->no_memory) return phi__config_problems_fixed(true);
    for (i = 0; i < problems->count; i++)
        if (!problems->at[i].is.is_warning) return &problems->at[i].is;
    return problems->errors > 0 ? phi__config_problems_fixed(false) : NULL;
}

phi_status phi__config_problems_status(const phi__config_problems *problems) {
    const phi_config_problem *error = phi__config_problems_error(problems);
    return error != NULL ? error->status : PHI_OK;
}

const phi_config_problem *phi__config_problems_get(const phi__config_problems *problems,
                                                   size_t index) {
    return index < problems->count ? &problems->at[index].is : NULL;
}
