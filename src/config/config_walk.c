/* config_walk.c - fields of tables, similar names, paths, problems, and texts as they are shown. */
#include "config/config_own_in.h"

#include "config/config_tables_in.h"
#include "formats/formats_in.h"
#include "wire/wire_in.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

const phi__cfg_field *phi__fields_at(const phi__cfg_table *table, size_t i) {
    if (table->base != NULL) {
        const phi__cfg_table *base = table->base();
        if (i < base->count) return &base->fields[i];
        i -= base->count;
    }
    return i < table->count ? &table->fields[i] : NULL;
}

const phi__cfg_field *phi__fields_find(const phi__cfg_table *table, phi_str key, size_t *index) {
    const phi__cfg_field *field;
    for (size_t i = 0; (field = phi__fields_at(table, i)) != NULL; i++) {
        if (!phi__str_is(key, field->key) &&
            (field->alias == NULL || !phi__str_is(key, field->alias)))
            continue;
        if (index != NULL) *index = i;
        return field;
    }
    return NULL;
}

bool phi__fields_has(const phi__cfg_table *table, const void *taken, const char *key) {
    uint64_t set;
    size_t i;
    PHI_ASSERT(!table->plain);
    if (phi__fields_find(table, phi_str_of(key), &i) == NULL) return false;
    memcpy(&set, taken, sizeof set);
    return (set >> i & 1) != 0;
}

double phi__fields_most(const phi__cfg_field *field) {
    if (field->kind == PHI__CFG_SECONDS) return 4294967.0;
    if (field->kind == PHI__CFG_NUMBER) return 1e300;
    return field->size >= 8 ? 9.2e18 : field->size == 4 ? 4294967295.0 : 65535.0;
}

enum { PHI__CFG_NAME_BYTES = 48 };

/* Writes a name in lower case without -, _ and blanks. Returns its length; 0: it is too long. */
static size_t phi__near_fold(phi_str name, char *out) {
    size_t n = 0;
    if (name.len > PHI__CFG_NAME_BYTES) return 0;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        if (c == '-' || c == '_' || c == ' ') continue;
        out[n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return n;
}

/* Returns the number of letters that are added, missing, wrong or swapped with a neighbour. */
static unsigned phi__near_edits(const char *a, size_t m, const char *b, size_t n) {
    unsigned rows[3][PHI__CFG_NAME_BYTES + 1];
    size_t j;
    for (j = 0; j <= n; j++) rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= m; i++) {
        const unsigned *last = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        unsigned *row = rows[i % 3];
        row[0] = (unsigned)i;
        for (j = 1; j <= n; j++) {
            unsigned best = last[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[m % 3][n];
}

unsigned phi__near_distance(phi_str a, phi_str b) {
    char x[PHI__CFG_NAME_BYTES], y[PHI__CFG_NAME_BYTES];
    size_t m = phi__near_fold(a, x), n = phi__near_fold(b, y);
    size_t shorter = phi__min(m, n);
    if (m == 0 || n == 0) return PHI__CFG_FAR + 1;
    if (phi__max(m, n) - shorter > PHI__CFG_FAR) /* an abbreviation: temp, max_tok */
        return shorter >= 4 && memcmp(x, y, shorter) == 0 ? PHI__CFG_FAR : PHI__CFG_FAR + 1;
    unsigned edits = phi__near_edits(x, m, y, n);
    if (edits > (shorter + 1) / 3 && !(shorter >= 4 && memcmp(x, y, shorter) == 0))
        return PHI__CFG_FAR + 1;
    return edits;
}

void phi__walk_begin(phi__cfg_walk *walk, phi_config *config) {
    memset(walk, 0, sizeof *walk);
    walk->config = config;
    phi__buf_init(&walk->path, &config->memory);
    phi__buf_init(&walk->words, &config->memory);
}

void phi__walk_end(phi__cfg_walk *walk) {
    if (walk->path.failed || walk->words.failed) walk->config->problems.no_memory = true;
    phi__buf_free(&walk->path);
    phi__buf_free(&walk->words);
}

size_t phi__walk_name(phi__cfg_walk *walk, phi_str name) {
    size_t len = walk->path.len;
    if (len > 0) phi__buf_char(&walk->path, '.');
    phi__buf_add_str(&walk->path, name);
    return len;
}

size_t phi__walk_index(phi__cfg_walk *walk, size_t index) {
    size_t len = walk->path.len;
    phi__buf_char(&walk->path, '[');
    phi__buf_u64(&walk->path, index);
    phi__buf_char(&walk->path, ']');
    return len;
}

void phi__walk_back(phi__cfg_walk *walk, size_t len) {
    if (walk->path.len > len) walk->path.len = len;
}

const char *phi__walk_text(phi__cfg_walk *walk) {
    size_t len = walk->path.len;
    phi__buf_char(&walk->path, '\0');
    if (walk->path.failed) return "";
    walk->path.len = len;
    return walk->path.at;
}

phi__buf *phi__walk_words(phi__cfg_walk *walk) {
    walk->words.len = 0;
    return &walk->words;
}

bool phi__walk_full(const phi__cfg_walk *walk) {
    return walk->config->problems.count >= walk->config->problems.most;
}

#define PHI__CFG_PROBLEMS ((size_t)1000)

void phi__prob_init(phi__cfg_probs *problems, phi_memory *memory, size_t most) {
    memset(problems, 0, sizeof *problems);
    phi_arena_init(&problems->arena, memory, 0);
    problems->most = most > 0 ? most : PHI__CFG_PROBLEMS;
}

void phi__prob_free(phi__cfg_probs *problems) {
    phi_memory *memory = problems->arena.memory;
    phi__free(memory, problems->at, problems->cap * sizeof *problems->at);
    phi_arena_free(&problems->arena);
    problems->at = NULL;
    problems->count = problems->cap = 0;
}

static phi_str phi__prob_copy(phi__cfg_probs *problems, phi_str text) {
    phi_str copy = PHI__LIT("");
    if (!phi__arena_str(&problems->arena, text, &copy)) problems->no_memory = true;
    return copy;
}

/* Returns the whole message in one line, for people. */
static phi_str phi__prob_line(phi__cfg_probs *problems, const phi_config_problem *p,
                              const char *words) {
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
        buf.len = phi__words_clean_line(buf.at, buf.len); /* buf may hold names of the file */
    phi_str line = phi__prob_copy(problems, buf.failed ? PHI__LIT("") : phi__buf_str(&buf));
    phi__buf_free(&buf);
    return line;
}

/* Returns the notation of a number that JSON cannot hold, such as "inf". NULL: JSON can hold it. */
static const char *phi__raws_odd(const phi_json *node) {
    double d = phi_json_num(node, 0);
    if (!phi_json_is(node, PHI_JSON_NUMBER) || (d >= -DBL_MAX && d <= DBL_MAX)) return NULL;
    return d > 0 ? "inf" : d < 0 ? "-inf" : "nan";
}

/* Returns a value as written in the file, without quotes. Empty for tables and arrays. */
static phi_str phi__prob_value(phi__cfg_probs *problems, const phi_config *config,
                               const phi_json *node) {
    phi_str value = PHI__LIT("");
    if (node == NULL || phi_json_is(node, PHI_JSON_OBJECT) || phi_json_is(node, PHI_JSON_ARRAY))
        return value;
    if (config != NULL && phi__raws_find(config, node, &value))
        return phi__prob_copy(problems, value);
    if (phi_json_is(node, PHI_JSON_STRING))
        return phi__prob_copy(problems, phi__json_text_of(node));
    if (phi__raws_odd(node) != NULL)
        return phi__prob_copy(problems, phi_str_of(phi__raws_odd(node)));
    if (phi_json_write(&problems->arena, node, 0, &value) != PHI_OK) problems->no_memory = true;
    return value;
}

/* True if the problem is in the list. Several agents may find the same fault of the file. */
static bool phi__prob_again(const phi__cfg_probs *problems, const phi_config_problem *p,
                            phi_str words) {
    for (size_t i = 0; i < problems->count; i++) {
        const phi_config_problem *is = &problems->at[i].is;
        size_t from = is->message.len - phi__min(words.len, is->message.len);
        if (is->line == p->line && is->column == p->column && is->is_warning == p->is_warning &&
            phi_str_equal(phi__str(is->message.at + from, is->message.len - from), words) &&
            (from == 0 || (from > 1 && is->message.at[from - 2] == ':')))
            return true;
    }
    return false;
}

static void phi__prob_put(phi__cfg_probs *problems, const phi_config *config, const phi_json *node,
                          bool at_key, const char *field, const char *expected, const char *words,
                          phi_config_problem *p) {
    phi__cfg_problem *at;
    if (config != NULL && node != NULL && at_key)
        (void)phi__marks_key(&config->marks, node, &p->line, &p->column);
    if (config != NULL && node != NULL && p->line == 0 &&
        !phi__marks_find(&config->marks, node, &p->line, &p->column))
        (void)phi__marks_key(&config->marks, node, &p->line, &p->column);
    if (words != NULL && phi__prob_again(problems, p, phi_str_of(words))) return;
    if (!p->is_warning) problems->errors++;
    if (problems->count >= problems->most) return;
    at = (phi__cfg_problem *)phi__grow(problems->arena.memory, problems->at, &problems->cap,
                                       problems->count + 1, sizeof *at);
    if (at == NULL) {
        problems->no_memory = true;
        return;
    }
    problems->at = at;
    at += problems->count;
    if (config != NULL) p->file = phi_str_of(config->path);
    p->field = phi__prob_copy(problems, phi_str_of(field));
    p->expected = phi__prob_copy(problems, phi_str_of(expected));
    if (p->value.len > 0)
        p->value = phi__prob_copy(problems, p->value);
    else
        p->value = at_key ? PHI__LIT("") : phi__prob_value(problems, config, node);
    p->message = phi__prob_line(problems, p, words);
    at->is = *p;
    at->order = problems->count++;
}

void phi__prob_add(phi__cfg_probs *problems, const phi_config *config, const phi_json *node,
                   bool is_warning, phi_status status, const char *field, const char *expected,
                   const char *words) {
    phi_config_problem p = PHI_ZERO;
    p.is_warning = is_warning;
    p.status = status;
    phi__prob_put(problems, config, node, false, field, expected, words, &p);
}

void phi__prob_add_at(phi__cfg_probs *problems, const phi_config *config, uint32_t line,
                      uint32_t column, phi_status status, const char *words) {
    phi_config_problem p = PHI_ZERO;
    p.status = status;
    p.line = line;
    p.column = column;
    phi__prob_put(problems, config, NULL, false, NULL, NULL, words, &p);
}

static void phi__walk_put(phi__cfg_walk *walk, const phi_json *node, bool is_warning, bool at_key,
                          const char *expected, phi_str value) {
    phi_config_problem p = PHI_ZERO;
    const char *field = phi__walk_text(walk);
    p.is_warning = is_warning;
    p.status = is_warning ? PHI_OK : PHI_BAD_ARG;
    p.value = value;
    phi__buf_char(&walk->words, '\0');
    phi__prob_put(&walk->config->problems, walk->config, node, at_key, field, expected,
                  walk->words.failed ? "" : walk->words.at, &p);
}

void phi__walk_error(phi__cfg_walk *walk, const phi_json *node, const char *expected) {
    phi__walk_put(walk, node, false, false, expected, PHI__LIT(""));
}

void phi__walk_error_key(phi__cfg_walk *walk, const phi_json *node) {
    phi__walk_put(walk, node, false, true, NULL, PHI__LIT(""));
}

void phi__walk_warning(phi__cfg_walk *walk, const phi_json *node, bool at_key) {
    phi__walk_put(walk, node, true, at_key, NULL, PHI__LIT(""));
}

void phi__walk_part(phi__cfg_walk *walk, const phi_json *node, bool is_warning, phi_str value) {
    phi__walk_put(walk, node, is_warning, false, NULL, value);
}

static bool phi__prob_after(const void *x, const void *y, const void *ctx) {
    const phi__cfg_problem *a = (const phi__cfg_problem *)x, *b = (const phi__cfg_problem *)y;
    (void)ctx;
    if ((a->is.line == 0) != (b->is.line == 0)) return a->is.line == 0;
    if (a->is.line != b->is.line) return a->is.line > b->is.line;
    if (a->is.column != b->is.column) return a->is.column > b->is.column;
    return a->order > b->order;
}

/* Not qsort, which may allocate memory. */
void phi__prob_sort(phi__cfg_probs *problems) {
    const phi__heap heap = {sizeof *problems->at, phi__prob_after, NULL};
    phi__heap_sort(&heap, problems->at, problems->count);
}

/* Returns a static error: no memory for problems, or more errors than are kept. */
static const phi_config_problem *phi__prob_fixed(bool no_memory) {
    static const char lack[] = "There was not enough memory to read the configuration",
                      more[] = "There are errors beyond the problems that are kept";
    static const phi_config_problem fixed[] = {
        {false, PHI_BAD_ARG, {"", 0}, 0, 0, {"", 0}, {"", 0}, {"", 0}, {more, sizeof more - 1}},
        {false, PHI_NO_MEMORY, {"", 0}, 0, 0, {"", 0}, {"", 0}, {"", 0}, {lack, sizeof lack - 1}}};
    return &fixed[no_memory ? 1 : 0];
}

const phi_config_problem *phi__prob_error(const phi__cfg_probs *problems) {
    if (problems == NULL || problems->no_memory) return phi__prob_fixed(true);
    for (size_t i = 0; i < problems->count; i++)
        if (!problems->at[i].is.is_warning) return &problems->at[i].is;
    return problems->errors > 0 ? phi__prob_fixed(false) : NULL;
}

phi_status phi__prob_status(const phi__cfg_probs *problems) {
    const phi_config_problem *error = phi__prob_error(problems);
    return error != NULL ? error->status : PHI_OK;
}

const phi_config_problem *phi__prob_get(const phi__cfg_probs *problems, size_t index) {
    return index < problems->count ? &problems->at[index].is : NULL;
}

enum {
    PHI__CFG_SHOWN = 80, /* max. bytes of a value in a message */
    PHI__CFG_MASKED = 4  /* least bytes of a masked value; shorter ones could be part of any word */
};

static uint64_t phi__raws_hash(const phi_json *node) {
    return phi__hash_mix((uint64_t)(uintptr_t)node);
}

static phi__cfg_raw *phi__raws_get(const phi_config *config, const phi_json *node) {
    size_t probe = 0;
    phi__cfg_raw *raw;
    while ((raw = (phi__cfg_raw *)phi__map_each(&config->raws, phi__raws_hash(node), &probe)) !=
           NULL)
        if (raw->node == node) return raw;
    return NULL;
}

bool phi__raws_find(const phi_config *config, const phi_json *node, phi_str *out) {
    const phi__cfg_raw *raw = phi__raws_get(config, node);
    if (raw == NULL) return false;
    *out = raw->text;
    return true;
}

PHI__FN bool phi__raws_add(phi_config *config, const phi_json *node, phi_str text) {
    phi__cfg_raw *raw;
    if (!phi__map_room(&config->raws)) return false;
    raw = (phi__cfg_raw *)phi__arena_zero(&config->arena, sizeof *raw);
    if (raw == NULL) return false;
    raw->node = node;
    raw->text = text;
    phi__map_add(&config->raws, phi__raws_hash(node), raw);
    return true;
}

bool phi__raws_hide(phi_config *config, const phi_json *node) {
    phi__cfg_raw *raw = phi__raws_get(config, node);
    if (raw == NULL && !phi__raws_add(config, node, PHI__LIT(""))) return false;
    raw = phi__raws_get(config, node);
    raw->text = PHI__LIT("****");
    return true;
}

PHI__FN void phi__raws_miss(const phi_config *config, const phi_json *node) {
    phi__cfg_raw *raw = phi__raws_get(config, node);
    if (raw != NULL) raw->is_missing = true;
}

bool phi__raws_is_missing(const phi_config *config, const phi_json *node) {
    const phi__cfg_raw *raw = phi__raws_get(config, node);
    return raw != NULL && raw->is_missing;
}

PHI__FN bool phi__raws_keep(phi_config *config, phi_str name, phi_str value) {
    uint64_t hash = phi__hash(name, 0);
    size_t probe = 0;
    phi__cfg_value *v;
    if (value.len < PHI__CFG_MASKED) return true;
    while ((v = (phi__cfg_value *)phi__map_each(&config->values, hash, &probe)) != NULL)
        if (phi_str_equal(v->name, name)) return true;
    v = (phi__cfg_value *)phi__arena_zero(&config->arena, sizeof *v);
    if (v == NULL || !phi__map_room(&config->values) ||
        !phi__arena_str(&config->arena, name, &v->name) ||
        !phi__arena_str(&config->arena, value, &v->value))
        return false;
    phi__map_add(&config->values, hash, v);
    v->next = config->all_values;
    config->all_values = v;
    return true;
}

/* Returns the number of bytes at the start of `text` and `value` that agree. A '?' in `text` agrees
   with a control code in `value`. */
static size_t phi__raws_common(phi_str text, phi_str value) {
    size_t n = 0;
    while (n < text.len && n < value.len &&
           (text.at[n] == value.at[n] || (text.at[n] == '?' && (unsigned char)value.at[n] < 0x20)))
        n++;
    return n;
}

/* Returns the value at the start of `text`, even if the end of `text` cuts the value. *len is set
   to the number of the value's bytes in `text`. */
static const phi__cfg_value *phi__raws_value(const phi_config *config, phi_str text, size_t *len) {
    const phi__cfg_value *found = NULL;
    *len = 0;
    for (const phi__cfg_value *v = config->all_values; v != NULL; v = v->next) {
        size_t n = phi__raws_common(text, v->value);
        bool cut = n >= PHI__CFG_MASKED &&
                   (n == text.len || phi__str_starts(phi__str(text.at + n, text.len - n), "..."));
        if (n <= *len || (n < v->value.len && !cut)) continue;
        *len = n;
        found = v;
    }
    return found;
}

void phi__raws_mask(const phi_config *config, phi_str text, phi__buf *out) {
    size_t i = 0, len;
    while (i < text.len) {
        const phi__cfg_value *v =
            phi__raws_value(config, phi__str(text.at + i, text.len - i), &len);
        if (v == NULL) {
            phi__buf_char(out, text.at[i++]);
            continue;
        }
        phi__buf_text(out, "${");
        phi__buf_add_str(out, v->name);
        phi__buf_char(out, '}');
        i += len;
    }
}

void phi__raws_name(phi_str text, phi__buf *out) {
    char line[PHI__CFG_SHOWN];
    size_t n = phi__min(text.len, sizeof line);
    if (n < text.len)
        while (n > 0 && ((unsigned char)text.at[n] & 0xc0) == 0x80) n--;
    if (n > 0) memcpy(line, text.at, n);
    phi__buf_add(out, line, phi__words_clean_line(line, n));
    if (n < text.len) phi__buf_text(out, "...");
}

static void phi__raws_quote(phi_str text, phi__buf *out) {
    phi__buf_char(out, '"');
    phi__raws_name(text, out);
    phi__buf_char(out, '"');
}

void phi__raws_show(const phi_config *config, const phi_json *node, phi__buf *out) {
    phi_str text;
    if (phi__raws_find(config, node, &text))
        phi__raws_quote(text, out);
    else if (phi_json_is(node, PHI_JSON_OBJECT))
        phi__buf_text(out, phi_json_count(node) == 0 ? "an empty table" : "a table");
    else if (phi_json_is(node, PHI_JSON_ARRAY))
        phi__buf_text(out, phi_json_count(node) == 0 ? "an empty array" : "an array");
    else if (phi_json_is(node, PHI_JSON_STRING))
        phi__raws_quote(phi__json_text_of(node), out);
    else if (phi__raws_odd(node) != NULL)
        phi__buf_text(out, phi__raws_odd(node));
    else
        (void)phi__json_write(out, node, 0);
}
