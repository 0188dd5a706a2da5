/* skills.c - skills: the list, the rules for SKILL.md, the loader, the index in a system prompt,
   and the tool by which a model reads a skill. */
#include "base/base_in.h"
#include "formats/yaml.h"
#include "tools/job_in.h"
#include "tools/match_in.h"

#ifndef PHI_NO_FILES

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the list of skills, sorted by name, and the list of problems ---- */

enum {
    PHI__SKILLS_FRONT_BYTES = 65536, /* max. bytes of front matter, with its two lines "---" */
    PHI__SKILLS_PROBLEMS = 1000
};

enum { PHI__SKILLS_MOST = 1000, PHI__SKILLS_FILE_BYTES = 1048576, PHI__SKILLS_READ_BYTES = 262144 };

static size_t phi__skills_place(const phi_skills *skills, phi_str name, bool *found) {
    size_t low = 0, high = skills->count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        phi_str other = skills->list[mid]->name;
        size_t n = phi__min(other.len, name.len);
        int order = n > 0 ? memcmp(other.at, name.at, n) : 0;
        if (order < 0 || (order == 0 && other.len < name.len))
            low = mid + 1;
        else
            high = mid;
    }
    *found = low < skills->count && phi_str_equal(skills->list[low]->name, name);
    return low;
}

static phi_status phi__skills_put(phi_skills *skills, phi_skill *skill) {
    bool found;
    size_t at = phi__skills_place(skills, skill->name, &found);
    phi_skill **list;
    if (found) {
        skills->list[at] = skill;
        return PHI_OK;
    }
    if (skills->count >= skills->desc.max_skills) return PHI_TOO_BIG;
    list = (phi_skill **)phi__grow(&skills->memory, (void *)skills->list, &skills->cap,
                                   skills->count + 1, sizeof *list);
    if (list == NULL) return PHI_NO_MEMORY;
    skills->list = list;
    memmove((void *)(list + at + 1), (void *)(list + at), (skills->count - at) * sizeof *list);
    list[at] = skill;
    skills->count++;
    return PHI_OK;
}

static bool phi__skills_problem(phi_skills *skills, const phi_skill_problem *problem) {
    phi_skill_problem kept = *problem;
    phi_str *texts[2];
    bool good = true;
    if (skills->problem_count >= PHI__SKILLS_PROBLEMS) return true;
    void *list = phi__grow(&skills->memory, skills->problems, &skills->problem_cap,
                           skills->problem_count + 1, sizeof *skills->problems);
    if (list == NULL) return false;
    skills->problems = (phi_skill_problem *)list;
    texts[0] = &kept.file; /* names of files may hold any bytes */
    texts[1] = &kept.message;
    for (size_t i = 0; i < 2 && good; i++) {
        phi__buf shown;
        phi__buf_init(&shown, &skills->memory);
        phi__utf8_repair(&shown, *texts[i]);
        if (shown.len > 0) shown.len = phi__words_clean_line(shown.at, shown.len);
        good = !shown.failed && phi__arena_str(&skills->arena, phi__buf_str(&shown), texts[i]);
        phi__buf_free(&shown);
    }
    if (good) skills->problems[skills->problem_count++] = kept;
    return good;
}

PHI__FN const phi_skill *phi__skills_find(const phi_skills *skills, phi_str name) {
    bool found = false;
    size_t at = phi__skills_place(skills, name, &found);
    return found ? skills->list[at] : NULL;
}

/* ---- public ---- */

PHI_API phi_skills *phi_skills_new(const phi_skills_desc *desc) {
    phi_memory memory;
    phi_skills *skills;
    phi_memory_init(&memory, desc != NULL ? &desc->allocator : NULL,
                    desc != NULL ? desc->memory_limit_bytes : 0);
    skills = (phi_skills *)phi__alloc(&memory, sizeof *skills);
    if (skills == NULL) return NULL;
    skills->memory = memory;
    phi_arena_init(&skills->arena, &skills->memory, 0);
    if (desc != NULL) skills->desc = *desc;
    if (skills->desc.max_skills == 0) skills->desc.max_skills = PHI__SKILLS_MOST;
    if (skills->desc.max_file_bytes == 0) skills->desc.max_file_bytes = PHI__SKILLS_FILE_BYTES;
    if (skills->desc.max_read_bytes == 0) skills->desc.max_read_bytes = PHI__SKILLS_READ_BYTES;
    return skills;
}

PHI_API void phi_skills_free(phi_skills *skills) {
    if (skills == NULL) return;
    phi__walk_free(skills->load.walk);
    phi__free(&skills->memory, (void *)skills->list, skills->cap * sizeof *skills->list);
    phi__free(&skills->memory, skills->problems, skills->problem_cap * sizeof *skills->problems);
    phi_arena_free(&skills->arena);
    phi_memory memory = skills->memory; /* free through a copy, which lies outside of the block */
    phi__free(&memory, skills, sizeof *skills);
}

PHI_API const phi_skill *phi_skills_at(const phi_skills *skills, size_t index) {
    return skills != NULL && index < skills->count ? skills->list[index] : NULL;
}

PHI_API const phi_skill_problem *phi_skills_problem_at(const phi_skills *skills, size_t index) {
    return skills != NULL && index < skills->problem_count ? &skills->problems[index] : NULL;
}

/* ---- SKILL.md: its YAML, its body, and places in them ---- */

/* Offsets into the text of a SKILL.md. */
typedef struct phi__front_matter {
    size_t yaml_at, yaml_len; /* between the two lines "---" */
    size_t body_at;
    uint32_t first_line; /* number of the line at yaml_at */
    bool early;          /* the text begins with "---", not with blanks */
} phi__front_matter;

/* Returns the end of the line at `at`, after its line break. */
static size_t phi__front_next(phi_str text, size_t at) {
    const char *end =
        at < text.len ? (const char *)memchr(text.at + at, '\n', text.len - at) : NULL;
    return end != NULL ? (size_t)(end - text.at) + 1 : text.len;
}

static phi_str phi__front_line_at(phi_str text, size_t at) {
    size_t end = phi__front_next(text, at);
    if (end > at && text.at[end - 1] == '\n') end--;
    if (end > at && text.at[end - 1] == '\r') end--;
    return phi__str(text.at + at, end - at);
}

static size_t phi__front_indent(phi_str line) {
    size_t n = 0;
    while (n < line.len && line.at[n] == ' ') n++;
    return n;
}

static phi_status phi__front_split(phi_str text, phi__front_matter *out) {
    /* A byte order mark, blanks and line breaks may come before the first line "---". */
    size_t at = phi__str_starts(text, "\xEF\xBB\xBF") ? 3 : 0;
    memset(out, 0, sizeof *out);
    out->first_line = 1;
    for (; at < text.len && text.at[at] != '\0' && strchr(" \t\r\n", text.at[at]) != NULL; at++)
        if (text.at[at] == '\n') out->first_line++;
    out->early = at == 0;
    if (!phi__str_starts(phi__str_from(text, at), "---")) return PHI_NOT_FOUND;
    out->yaml_at = at + 3;
    for (size_t end = phi__front_next(text, at); end < text.len; end = phi__front_next(text, end)) {
        if (!phi__str_starts(phi__str_from(text, end), "---")) continue;
        out->yaml_len = end - out->yaml_at;
        out->body_at = phi__front_next(text, end);
        return PHI_OK;
    }
    return PHI_PARSE;
}

/* Returns the rest of a line after "key:", or a NULL string. The key may be in quotes. */
static phi_str phi__front_behind(phi_str line, const char *key) {
    size_t n = strlen(key), at = 0;
    char quote = line.len > 0 && (line.at[0] == '"' || line.at[0] == '\'') ? line.at[0] : '\0';
    if (quote != '\0') at++;
    if (line.len < at + n + 1 || memcmp(line.at + at, key, n) != 0) return phi__str(NULL, 0);
    at += n;
    if (quote != '\0' && line.at[at++] != quote) return phi__str(NULL, 0);
    while (at < line.len && line.at[at] == ' ') at++;
    if (at == line.len || line.at[at] != ':') return phi__str(NULL, 0);
    return phi__str_from(line, at + 1);
}

static uint32_t phi__front_line(phi_str yaml, const char *key) {
    uint32_t line = 1;
    for (size_t at = 0; at < yaml.len; at = phi__front_next(yaml, at), line++)
        if (phi__front_behind(phi__front_line_at(yaml, at), key).at != NULL) return line;
    return 0;
}

static phi_str phi__front_value(phi_str yaml, const char *key) {
    phi_str value = phi__str(NULL, 0);
    for (size_t at = 0; at < yaml.len && value.at == NULL; at = phi__front_next(yaml, at))
        value = phi__front_behind(phi__front_line_at(yaml, at), key);
    value = phi__str_trim(value);
    if (value.len >= 2 && (value.at[0] == '"' || value.at[0] == '\'') &&
        value.at[value.len - 1] == value.at[0])
        value = phi__str(value.at + 1, value.len - 2);
    return value;
}

/* Returns the offset of the value in a line, after any number of "- " and one "key: ". */
static size_t phi__front_value_at(phi_str line) {
    size_t at = phi__front_indent(line);
    while (at + 1 < line.len && line.at[at] == '-' && line.at[at + 1] == ' ') {
        at += 2;
        while (at < line.len && line.at[at] == ' ') at++;
    }
    if (at < line.len && (line.at[at] == '"' || line.at[at] == '\'' || line.at[at] == '#'))
        return line.at[at] == '#' ? line.len : at;
    for (size_t i = at; i + 1 < line.len; i++) {
        if (line.at[i] == ' ' && line.at[i + 1] == '#') return at;
        if (line.at[i] != ':' || line.at[i + 1] != ' ') continue;
        for (i++; i < line.len && line.at[i] == ' ';) i++;
        return i;
    }
    return at;
}

static const char *phi__front_fancy(phi_str yaml, uint32_t *line) {
    size_t block = SIZE_MAX; /* indentation of the line that begins a block scalar */
    *line = 0;
    for (size_t at = 0; at < yaml.len; at = phi__front_next(yaml, at)) {
        phi_str text = phi__front_line_at(yaml, at);
        size_t indent = phi__front_indent(text);
        ++*line;
        if (indent == text.len || (block != SIZE_MAX && indent > block)) continue;
        size_t value = phi__front_value_at(text);
        char first = value < text.len ? text.at[value] : '\0';
        block = first == '|' || first == '>' ? indent : SIZE_MAX;
        switch (first) {
        case '{': return "a mapping in braces";
        case '[': return "a list in brackets";
        case '&': return "an anchor";
        case '*': return "an alias";
        case '!': return "a tag";
        default: break;
        }
    }
    return NULL;
}

/* ---- the AgentSkills standard's rules for the fields of a SKILL.md ----

   Lengths are in characters. Letters beyond ASCII are allowed, as in the standard's validator. Only
   the most common alphabets with capitals are known here; other letters count as lower case. */

enum {
    PHI__SKILL_NAME = 64, /* in characters, like the two below; from the AgentSkills standard */
    PHI__SKILL_DESCRIPTION = 1024,
    PHI__SKILL_COMPATIBILITY = 500,
    PHI__SKILL_WORDS = 240
};

static bool phi__skill_capital(uint32_t c) {
    if (c < 0x80) return c >= 'A' && c <= 'Z';
    if (c >= 0xC0 && c <= 0xDE) return c != 0xD7;    /* Latin-1 */
    if (c >= 0x100 && c <= 0x137) return c % 2 == 0; /* Latin Extended-A */
    if (c >= 0x139 && c <= 0x148) return c % 2 == 1;
    if (c >= 0x14A && c <= 0x177) return c % 2 == 0;
    if (c >= 0x391 && c <= 0x3A9) return true; /* Greek */
    if (c >= 0x400 && c <= 0x42F) return true; /* Cyrillic */
    if (c >= 0x460 && c <= 0x481) return c % 2 == 0;
    return c >= 0x531 && c <= 0x556; /* Armenian */
}

/* True for letters and digits. Beyond ASCII, true for all but signs, punctuation and pictures. */
static bool phi__skill_letter(uint32_t c) {
    static const uint32_t others[][2] = {
        {0x80, 0xA9},     {0xAB, 0xB1},     {0xB4, 0xB4},       {0xB6, 0xB8},
        {0xBB, 0xBB},     {0xBF, 0xBF},     {0xD7, 0xD7},       {0xF7, 0xF7},
        {0x2000, 0x206F}, {0x20A0, 0x20CF}, {0x2190, 0x245F},   {0x2500, 0x2BFF},
        {0x2E00, 0x2E7F}, {0x3000, 0x3004}, {0x3008, 0x3020},   {0xD800, 0xF8FF},
        {0xFE00, 0xFE6F}, {0xFF01, 0xFF0F}, {0x1F000, 0x1FAFF}, {0xE0000, 0x10FFFF}};
    if (c < 0x80) return phi__is_alnum((char)c);
    for (size_t i = 0; i < PHI__COUNT(others); i++)
        if (c >= others[i][0] && c <= others[i][1]) return false;
    return true;
}

/* State of loading one skill. */
typedef struct phi__skill_file {
    phi_skills *skills;
    phi_str name, label;
    const char *dir;            /* as given by the caller; problems name this path */
    char base[PHI__PATH_BYTES]; /* resolved path of dir */
    phi__resolve place;         /* resolves base, then SKILL.md */
    const char *leaf;           /* "SKILL.md" or "skill.md"; NULL until it is found */
    phi__buf text;              /* the beginning of the file */
    phi_arena scratch;
    phi__front_matter front;
    phi_str yaml;
    bool fatal, no_memory;
} phi__skill_file;

static void phi__skill_report(phi__skill_file *file, uint32_t line, uint32_t column,
                              const char *message, bool fatal) {
    phi__buf path;
    phi_skill_problem problem = PHI_ZERO;
    phi__buf_init(&path, &file->skills->memory);
    phi__buf_text(&path, file->dir);
    if (file->leaf != NULL) phi__buf_char(&path, '/');
    if (file->leaf != NULL) phi__buf_text(&path, file->leaf);
    problem.file = phi__buf_str(&path);
    problem.line = line;
    problem.column = column;
    problem.message = phi_str_of(message);
    problem.loaded = !fatal;
    if (path.failed || !phi__skills_problem(file->skills, &problem)) file->no_memory = true;
    phi__buf_free(&path);
    file->fatal = file->fatal || fatal;
}

PHI_PRINTF(4, 5)
static void phi__skill_say(phi__skill_file *file, const char *key, bool fatal, const char *format,
                           ...) {
    char words[PHI__SKILL_WORDS];
    uint32_t line = phi__front_line(file->yaml, key);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(words, sizeof words, format, args);
    va_end(args);
    phi__skill_report(file, line > 0 ? line + file->front.first_line - 1 : 0, 0, words, fatal);
}

/* Sets *out to a required text. If it is missing or wrong, reports that and returns false. */
static bool phi__skill_required(phi__skill_file *file, const phi_json *root, const char *key,
                                phi_str *out) {
    const phi_json *node = phi_json_get(root, key);
    if (node == NULL) {
        phi__skill_say(file, key, true, "the field \"%s\" is missing", key);
        return false;
    }
    *out = phi__str_trim(phi_json_str(node, NULL));
    if (phi_json_is(node, PHI_JSON_STRING) && out->len > 0) return true;
    phi__skill_say(file, key, true, "%s: expected a text that is not empty", key);
    return false;
}

static void phi__skill_length_of(phi__skill_file *file, const char *key, phi_str text,
                                 size_t most) {
    size_t n = 0;
    for (size_t at = 0; at < text.len; n++) (void)phi__regex_next(text, &at);
    if (n > most)
        phi__skill_say(file, key, false, "%s: %llu characters, expected at most %llu", key,
                       (unsigned long long)n, (unsigned long long)most);
}

static void phi__skill_name_of(phi__skill_file *file, phi_str name) {
    bool wrong[4] = PHI_ZERO;
    static const char *const expected[] = {"lower case", "letters, digits and hyphens alone",
                                           "no hyphen at its beginning or end",
                                           "no two hyphens in a row"};
    int shown = (int)phi__min(name.len, 80);
    phi__skill_length_of(file, "name", name, PHI__SKILL_NAME);
    for (size_t at = 0; at < name.len;) {
        uint32_t c = phi__regex_next(name, &at);
        wrong[0] = wrong[0] || phi__skill_capital(c);
        wrong[1] = wrong[1] || (c != '-' && !phi__skill_letter(c));
    }
    wrong[2] = name.at[0] == '-' || name.at[name.len - 1] == '-';
    wrong[3] = phi__str_find(name, 0, "--") != SIZE_MAX;
    for (size_t i = 0; i < PHI__COUNT(expected); i++)
        if (wrong[i])
            phi__skill_say(file, "name", false, "name \"%.*s\": expected %s", shown, name.at,
                           expected[i]);
    if (!phi_str_equal(name, file->name))
        phi__skill_say(file, "name", false,
                       "name \"%.*s\": expected the name of its directory, \"%.*s\", which is used",
                       shown, name.at, (int)phi__min(file->name.len, 80), file->name.at);
}

/* Reports every field that breaks the standard. */
static void phi__skill_check(phi__skill_file *file, const phi_json *root) {
    static const char *const known[] = {"name",          "description", "license",
                                        "compatibility", "metadata",    "allowed-tools"};
    phi_json_iter it = phi_json_each(root);
    phi_str text;
    while (phi_json_next(&it) != NULL) {
        char key[64];
        size_t i = 0;
        while (i < PHI__COUNT(known) && !phi__str_is(it.key, known[i])) i++;
        if (i < PHI__COUNT(known)) continue;
        (void)snprintf(key, sizeof key, "%.*s", (int)phi__min(it.key.len, sizeof key - 1),
                       it.key.at);
        phi__skill_say(file, key, false,
                       "unknown field \"%s\": expected name, description, license, "
                       "compatibility, metadata or allowed-tools",
                       key);
    }
    if (phi__skill_required(file, root, "name", &text)) phi__skill_name_of(file, text);
    if (phi__skill_required(file, root, "description", &text))
        phi__skill_length_of(file, "description", text, PHI__SKILL_DESCRIPTION);
    const phi_json *node = phi_json_get(root, "compatibility");
    if (node == NULL) return;
    if (!phi_json_is(node, PHI_JSON_STRING))
        phi__skill_say(file, "compatibility", false, "compatibility: expected a text");
    else
        phi__skill_length_of(file, "compatibility", phi_json_str(node, NULL),
                             PHI__SKILL_COMPATIBILITY);
}

/* ---- loading one skill ---- */

enum { PHI__SKILL_SLICE = 8192 };

/* Finds SKILL.md, or skill.md, as the standard's validator does. PHI_NOT_FOUND: neither exists. */
static phi_status phi__skill_find(phi__skill_file *file) {
    static const char *const leaves[] = {"SKILL.md", "skill.md"};
    char path[PHI__PATH_BYTES];
    phi__file_info info;
    for (size_t i = 0; i < PHI__COUNT(leaves); i++) {
        int n = snprintf(path, sizeof path, "%s/%s", file->base, leaves[i]);
        if (n < 0 || (size_t)n >= sizeof path) return PHI_NOT_FOUND;
        if (phi__files_stat(path, PHI__LINKS_REFUSE, &info, NULL) == PHI_NOT_FOUND) continue;
        file->leaf = leaves[i];
        return PHI_OK;
    }
    return PHI_NOT_FOUND;
}

/* Reads up to the end of the front matter. */
static void phi__skill_slices(phi__skill_file *file, phi__file *from) {
    phi__words words;
    phi_status split = PHI_PARSE;
    bool more = true;
    size_t got = 1;
    while (more && got > 0 && file->text.len < PHI__SKILLS_FRONT_BYTES) {
        char *to = phi__buf_reserve(&file->text, PHI__SKILL_SLICE);
        if (to == NULL) {
            file->no_memory = true;
            return;
        }
        if (phi__files_read(from, to, PHI__SKILL_SLICE, &got, &words) != PHI_OK) {
            phi__skill_report(file, 0, 0, words.text, true);
            return;
        }
        phi__buf_add_len(&file->text, got);
        split = phi__front_split(phi__buf_str(&file->text), &file->front);
        more = split == PHI_PARSE || (split == PHI_NOT_FOUND && file->text.len < PHI__SKILL_SLICE);
    }
    if (split == PHI_NOT_FOUND)
        phi__skill_report(file, file->front.first_line, 1,
                          "no front matter: expected a line \"---\" at the beginning", true);
    else if (split == PHI_PARSE && got > 0)
        phi__skill_report(file, 0, 0, "the front matter is longer than 65,536 bytes", true);
    else if (split == PHI_PARSE)
        phi__skill_report(file, 0, 0, "no end of the front matter: expected a second line \"---\"",
                          true);
}

static void phi__skill_read(phi__skill_file *file) {
    phi__file_info info;
    phi__words words;
    phi__file *from = NULL;
    size_t units = SIZE_MAX, most = file->skills->desc.max_file_bytes;
    phi__resolve *place = &file->place;
    phi_status status = phi__path_resolve_begin(place, file->base, file->leaf, &words);
    if (status == PHI_OK) status = phi__path_resolve_advance(place, &units, &words);
    if (status == PHI_OK && !phi__path_inside(file->base, place->out)) { /* a link led outside */
        (void)snprintf(words.text, sizeof words.text, "it lies outside the directory of the skill");
        status = PHI_REFUSED;
    }
    if (status == PHI_OK) status = phi__files_stat(place->out, PHI__LINKS_REFUSE, &info, &words);
    if (status == PHI_OK && info.bytes > most) {
        (void)snprintf(words.text, sizeof words.text, "%llu bytes, expected at most %u",
                       (unsigned long long)info.bytes, (unsigned)most);
        status = PHI_TOO_BIG;
    }
    if (status == PHI_OK)
        status = phi__files_open_read(&file->skills->memory, place->out, PHI__LINKS_REFUSE, &from,
                                      &words);
    if (status == PHI_NO_MEMORY)
        file->no_memory = true;
    else if (status != PHI_OK)
        phi__skill_report(file, 0, 0, words.text, true);
    else
        phi__skill_slices(file, from);
    phi__files_close(from);
}

/* Reads name and description line by line, for front matter that is not valid YAML. Descriptions
   such as "Use when: ..." are common, but need quotes in YAML. NULL: no memory. */
static phi_json *phi__skill_by_line(phi__skill_file *file) {
    static const char *const keys[] = {"name", "description"};
    phi_json *root = phi_json_new_object(&file->scratch);
    for (size_t i = 0; i < PHI__COUNT(keys) && root != NULL; i++) {
        phi_str value = phi__front_value(file->yaml, keys[i]);
        if (value.at != NULL && phi_json_set(&file->scratch, root, keys[i],
                                             phi_json_new_str(&file->scratch, value)) != PHI_OK)
            return NULL;
    }
    return root;
}

/* Returns the front matter as an object. NULL: a problem was reported, or there is no memory. */
static phi_json *phi__skill_parse(phi__skill_file *file) {
    phi_json *root = NULL;
    phi_parse_error error;
    uint32_t line;
    phi_yaml_desc options = PHI_ZERO;
    options.flags = PHI_YAML_TEXTS;
    phi_status status = phi_yaml_parse(&file->scratch, file->yaml, &options, &root, &error);
    file->no_memory = file->no_memory || status == PHI_NO_MEMORY;
    if (status == PHI_OK && !phi_json_is(root, PHI_JSON_OBJECT)) {
        phi__skill_report(file, file->front.first_line, 0,
                          "the front matter is no mapping of fields", true);
        return NULL;
    }
    if (status == PHI_OK) {
        const char *fancy = phi__front_fancy(file->yaml, &line);
        if (fancy != NULL) {
            char words[96];
            (void)snprintf(words, sizeof words, "%s: expected plain YAML without it", fancy);
            phi__skill_report(file, line + file->front.first_line - 1, 0, words, false);
        }
    } else if (status != PHI_NO_MEMORY) {
        phi__skill_report(file, error.line + file->front.first_line - 1, error.column,
                          error.message, false);
        root = phi__skill_by_line(file);
        file->no_memory = file->no_memory || root == NULL;
    }
    return root;
}

static bool phi__skill_keep_text(phi__skill_file *file, const phi_json *node, phi_str *out) {
    phi_str text = phi_json_str(node, NULL);
    if (node != NULL && !phi_json_is(node, PHI_JSON_STRING) &&
        phi_json_write(&file->scratch, node, 0, &text) != PHI_OK)
        return false;
    return phi__arena_str(&file->skills->arena, phi__str_trim(text), out);
}

/* Keeps allowed-tools. The standard wants a text, but a list is common too. */
static bool phi__skill_keep_tools(phi__skill_file *file, const phi_json *node, phi_str *out) {
    phi_json_iter it = phi_json_each(node);
    phi__buf joined;
    if (!phi_json_is(node, PHI_JSON_ARRAY)) return phi__skill_keep_text(file, node, out);
    phi__buf_init(&joined, &file->skills->memory);
    while (phi_json_next(&it) != NULL) {
        if (joined.len > 0) phi__buf_char(&joined, ' ');
        phi__buf_add_str(&joined, phi_json_str(it.at, NULL));
    }
    bool kept = !joined.failed && phi__arena_str(&file->skills->arena, phi__buf_str(&joined), out);
    phi__buf_free(&joined);
    return kept;
}

static phi_status phi__skill_keep(phi__skill_file *file, const phi_json *root) {
    phi_arena *arena = &file->skills->arena;
    const phi_json *metadata = phi_json_get(root, "metadata");
    phi_json_iter it = phi_json_each(phi_json_is(metadata, PHI_JSON_OBJECT) ? metadata : NULL);
    phi_skill *skill = (phi_skill *)phi__arena_zero(arena, sizeof *skill);
    phi_skill_pair *pairs =
        (phi_skill_pair *)phi__arena_zero(arena, phi__mul(it.left + 1, sizeof *pairs));
    if (skill == NULL || pairs == NULL || !phi__arena_str(arena, file->name, &skill->name) ||
        !phi__skill_keep_text(file, phi_json_get(root, "description"), &skill->description) ||
        !phi__skill_keep_text(file, phi_json_get(root, "license"), &skill->license) ||
        !phi__skill_keep_text(file, phi_json_get(root, "compatibility"), &skill->compatibility) ||
        !phi__skill_keep_tools(file, phi_json_get(root, "allowed-tools"), &skill->allowed_tools) ||
        !phi__arena_str(arena, phi_str_of(file->base), &skill->base_dir) ||
        !phi__arena_str(arena, phi_str_of(file->place.out), &skill->file_path))
        return PHI_NO_MEMORY;
    while (phi_json_next(&it) != NULL) {
        phi_skill_pair *pair = &pairs[skill->metadata_count++];
        if (!phi__arena_str(arena, it.key, &pair->key) ||
            !phi__skill_keep_text(file, it.at, &pair->value))
            return PHI_NO_MEMORY;
    }
    if (skill->metadata_count > 0) skill->metadata = pairs;
    skill->source = file->label;
    return phi__skills_put(file->skills, skill);
}

static phi_status phi__skill_take(phi__skill_file *file) {
    phi_str text = phi__buf_str(&file->text);
    file->yaml = phi__str(text.at + file->front.yaml_at, file->front.yaml_len);
    if (phi__utf8_valid(phi__str(text.at, file->front.body_at)) < file->front.body_at) {
        phi__skill_report(file, 0, 0, "the front matter is not UTF-8", true);
        return PHI_PARSE;
    }
    if (!file->front.early)
        phi__skill_report(file, 1, 1, "expected \"---\" as the very first characters", false);
    phi_json *root = phi__skill_parse(file);
    if (root == NULL) return PHI_PARSE;
    phi__skill_check(file, root);
    return file->fatal ? PHI_PARSE : phi__skill_keep(file, root);
}

static phi_status phi__skill_go(phi__skill_file *file) {
    size_t units = SIZE_MAX;
    phi__file_info info;
    phi_str path = phi_str_of(file->dir);
    if (phi__path_resolve_begin(&file->place, NULL, file->dir, NULL) != PHI_OK ||
        phi__path_resolve_advance(&file->place, &units, NULL) != PHI_OK)
        return PHI_NOT_FOUND;
    memcpy(file->base, file->place.out, sizeof file->base);
    if (phi__files_stat(file->base, PHI__LINKS_REFUSE, &info, NULL) != PHI_OK ||
        info.kind != PHI__FILE_DIRECTORY || phi__skill_find(file) != PHI_OK)
        return PHI_NOT_FOUND;
    /* The name is the last part of the path. For "." and "..", it is the last part of the resolved
       path. */
    while (path.len > 1 && phi__path_is_slash(path.at[path.len - 1])) path.len--;
    file->name = phi__path_name(path);
    if (file->name.len == 0 || phi__str_is(file->name, ".") || phi__str_is(file->name, ".."))
        file->name = phi__glob_name(phi_str_of(file->base));
    if (phi__utf8_valid(file->name) != file->name.len) {
        phi__skill_report(file, 0, 0, "the name of the directory is not UTF-8", true);
        return PHI_PARSE;
    }
    phi__skill_read(file);
    return file->fatal || file->no_memory ? PHI_PARSE : phi__skill_take(file);
}

static phi_status phi__skill_load(phi_skills *skills, const char *dir, phi_str label) {
    phi__skill_file *file = (phi__skill_file *)phi__alloc(&skills->memory, sizeof *file);
    if (file == NULL) return PHI_NO_MEMORY;
    file->skills = skills;
    file->dir = dir;
    file->label = label;
    phi__buf_init(&file->text, &skills->memory);
    phi_arena_init(&file->scratch, &skills->memory, 0);
    phi_status status = phi__skill_go(file);
    if (file->no_memory) status = PHI_NO_MEMORY;
    phi_arena_free(&file->scratch);
    phi__buf_free(&file->text);
    phi__free(&skills->memory, file, sizeof *file);
    return status;
}

/* ---- loading whole directories of skills, at once or in slices ---- */

#define PHI__SKILLS_FILE "/SKILL.md"

static phi_status phi__skills_failed(phi_skills *skills, const char *dir, const char *message,
                                     phi_status status) {
    phi_skill_problem problem = PHI_ZERO;
    problem.file = phi_str_of(dir);
    problem.message = phi_str_of(message);
    return phi__skills_problem(skills, &problem) ? status : PHI_NO_MEMORY;
}

/* Loads the skill of one entry of the directory, if there is one. PHI_OK: go on. */
static phi_status phi__skills_entry(phi_skills *skills, const phi__walk_entry *entry) {
    char path[PHI__PATH_BYTES];
    char words[96];
    phi__walk_skip(skills->load.walk);
    if (entry->kind != PHI__FILE_DIRECTORY && entry->kind != PHI__FILE_LINK) return PHI_OK;
    int n = snprintf(path, sizeof path, "%s/%.*s", skills->load.dir.at, (int)entry->path.len,
                     entry->path.at);
    if (n < 0 || (size_t)n >= sizeof path) return PHI_OK; /* the path is too long */
    phi_status status = phi__skill_load(skills, path, skills->load.label);
    if (status == PHI_NO_MEMORY) return status;
    if (status != PHI_TOO_BIG) return PHI_OK;
    (void)snprintf(words, sizeof words, "more than %u skills: this one and others are not loaded",
                   (unsigned)skills->desc.max_skills);
    return phi__skills_failed(skills, path, words, PHI_TOO_BIG);
}

PHI__FN phi_status phi__skills_one(phi_skills *skills, const char *dir, const char *label) {
    phi_str kept;
    if (!phi__arena_str(&skills->arena, phi_str_of(label), &kept)) return PHI_NO_MEMORY;
    phi_status status = phi__skill_load(skills, dir, kept);
    if (status != PHI_NOT_FOUND) return status;
    return phi__skills_failed(skills, dir, "no SKILL.md here", PHI_NOT_FOUND);
}

static phi_status phi__skills_begin(phi_skills *skills, const char *dir, const char *label) {
    char own[32];
    phi__words words;
    if (label == NULL) {
        (void)snprintf(own, sizeof own, "dir:%u", (unsigned)skills->unlabelled++);
        label = own;
    }
    size_t end = sizeof PHI__SKILLS_FILE - 1, len = strlen(dir);
    if (len > end && strcmp(dir + len - end, PHI__SKILLS_FILE) == 0) { /* path of one skill */
        phi_str parent;
        if (!phi__arena_str(&skills->arena, phi__str(dir, len - end), &parent))
            return PHI_NO_MEMORY;
        return phi__skills_one(skills, parent.at, label);
    }
    if (!phi__arena_str(&skills->arena, phi_str_of(dir), &skills->load.dir) ||
        !phi__arena_str(&skills->arena, phi_str_of(label), &skills->load.label))
        return PHI_NO_MEMORY;
    phi_status status =
        phi__walk_new(&skills->memory, dir, PHI__LINKS_FOLLOW, &skills->load.walk, &words);
    if (status == PHI_OK || status == PHI_NO_MEMORY) return status;
    return phi__skills_failed(skills, dir, words.text, status);
}

static phi_status phi__skills_advance(phi_skills *skills, size_t units) {
    phi__walk_entry entry;
    phi_status status = PHI_OK;
    if (skills->load.walk == NULL) return PHI_OK; /* `dir` was a single skill, now loaded */
    if (units == 0) units = 1;
    while (units-- > 0) {
        status = phi__walk_next(skills->load.walk, &entry);
        if (status == PHI_BUSY) continue;
        if (status == PHI_OK) status = phi__skills_entry(skills, &entry);
        if (status == PHI_OK) continue;
        phi__walk_free(skills->load.walk);
        memset(&skills->load, 0, sizeof skills->load);
        return status == PHI_NOT_FOUND ? PHI_OK : status;
    }
    return PHI_BUSY;
}

/* ---- public ---- */

PHI_API phi_status phi_skills_load(phi_skills *skills, const char *dir, const char *label,
                                   size_t units) {
    phi_status status = PHI_OK;
    if (skills == NULL || dir == NULL || dir[0] == '\0') return PHI_BAD_ARG;
    if (skills->load.walk == NULL)
        status = phi__skills_begin(skills, dir, label);
    else if (!phi__str_is(skills->load.dir, dir))
        return PHI_MISUSE;
    return status == PHI_OK ? phi__skills_advance(skills, units) : status;
}

/* ---- the index of skills ---- */

enum { PHI__SKILLS_PROMPT_CHARACTERS = 1024 }; /* of each description; the AgentSkills limit */

static void phi__skills_field(phi__buf *out, const char *name, phi_str text) {
    phi__buf_printf(out, "    <%s>", name);
    size_t from = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char *entity = NULL;
        switch (text.at[i]) {
        case '&': entity = "&amp;"; break;
        case '<': entity = "&lt;"; break;
        case '>': entity = "&gt;"; break;
        case '"': entity = "&quot;"; break;
        case '\'': entity = "&apos;"; break;
        default: continue;
        }
        phi__buf_add(out, text.at + from, i - from);
        phi__buf_text(out, entity);
        from = i + 1;
    }
    phi__buf_add(out, text.at + from, text.len - from);
    phi__buf_printf(out, "</%s>\n", name);
}

/* ---- public ---- */

PHI_API phi_status phi_skills_prompt(const phi_skills *skills, phi_skills_hint hint,
                                     const char *base, phi_arena *arena, phi_str *out) {
    static const char what[] =
        "These skills hold instructions for particular tasks. Before a task that the description "
        "of a skill matches, read the ";
    phi__buf text;
    if (skills == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi__buf_init(&text, arena->memory);
    if (base != NULL) phi__buf_text(&text, base);
    if (skills->count > 0) {
        if (text.len > 0) phi__buf_text(&text, "\n\n");
        if (hint == PHI_SKILLS_READ_SKILL)
            phi__buf_printf(&text, "%sskill with read_skill and follow it.\n\n", what);
        if (hint == PHI_SKILLS_READ_FILE)
            phi__buf_printf(&text,
                            "%sfile at its location with read_file and follow it. Paths in it are "
                            "relative to the directory of that file, which it calls {baseDir}.\n\n",
                            what);
        phi__buf_text(&text, "<available_skills>\n");
        for (size_t i = 0; i < skills->count; i++) {
            phi_str description = skills->list[i]->description;
            size_t at = 0, n = 0;
            /* A description that breaks the standard's limit must not fill the prompt. */
            for (; at < description.len && n < PHI__SKILLS_PROMPT_CHARACTERS; n++)
                (void)phi__regex_next(description, &at);
            phi__buf_text(&text, "  <skill>\n");
            phi__skills_field(&text, "name", skills->list[i]->name);
            phi__skills_field(&text, "description", phi__str(description.at, at));
            phi__skills_field(&text, "location", skills->list[i]->file_path);
            phi__buf_text(&text, "  </skill>\n");
        }
        phi__buf_text(&text, "</available_skills>");
    }
    bool done = !text.failed && phi__arena_str(arena, phi__buf_str(&text), out);
    phi__buf_free(&text);
    return done ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- read_skill: the instructions of a skill, another file, or the names in a directory ----

   Each step reads one slice. Each call resolves the directory again, because skills can be moved or
   removed while the program runs. A filter keeps the lines asked for, up to a limit of bytes.
   SKILL.md is first read whole, because its front matter is left out and {baseDir} is replaced. */

enum {
    PHI__READ_SKILL_MS = 30000,
    PHI__READ_SKILL_NAMED = 20,   /* max. skills that an error names */
    PHI__READ_SKILL_ENTRIES = 200 /* max. entries of a directory that are shown */
};

typedef struct phi__read_skill {
    phi__job job;
    const phi_skills *skills;
    const phi_skill *skill;
    const char *path; /* the model's path or SKILL.md's, relative to the skill's directory */
    phi__resolve *place;
    bool instructions;
    bool based; /* the skill's directory is unchanged; `place` now resolves `path` */
    phi__file *from;
    char *slice;
    phi__buf whole; /* text of SKILL.md */
    /* state of the filter of lines */
    uint64_t first, limit, line; /* counted from 0 */
    bool in_line, cut, ended;    /* ended: the remaining lines are not wanted */
    uint64_t cut_line;           /* the line to continue at, counted from 0 */
    phi__buf out;
    /* state of listing a directory */
    phi__walk *walk;
    phi_str *names;
    size_t name_count, name_cap, name_all;
} phi__read_skill;

static void phi__read_skill_drop(phi__job *job) {
    phi__read_skill *read = (phi__read_skill *)(void *)job;
    phi__files_close(read->from);
    phi__walk_free(read->walk);
    phi__free(job->memory, read->names, read->name_cap * sizeof *read->names);
    phi__free(job->memory, read->slice, PHI__JOB_SLICE);
    phi__buf_free(&read->whole);
    phi__buf_free(&read->out);
    read->from = NULL;
    read->walk = NULL;
    read->names = NULL;
    read->slice = NULL;
}

static phi_flow phi__read_skill_fail(phi__read_skill *read, const char *words) {
    return phi__job_fail(&read->job, "Cannot read %s of the skill \"%s\": %s", read->path,
                         read->skill->name.at, words);
}

/* Ends the call with the text as its result, and frees the text. */
static phi_flow phi__read_skill_give(phi__read_skill *read, phi__buf *text, const char *kind) {
    phi__buf details;
    phi__buf_init(&details, read->job.memory);
    phi__buf_text(&details, "{\"skill\":");
    phi__json_write_str(&details, read->skill->name);
    phi__buf_printf(&details, ",\"%s\":", kind);
    phi__json_write_str(&details, phi_str_of(read->path));
    phi__buf_printf(&details, ",\"truncated\":%s}", read->cut ? "true" : "false");
    return phi__job_done_with(&read->job, text, &details);
}

static void phi__read_skill_lines(phi__read_skill *read, const char *at, size_t n) {
    while (n > 0 && !read->ended) {
        const char *newline = (const char *)memchr(at, '\n', n);
        size_t len = newline != NULL ? (size_t)(newline - at) + 1 : n;
        if (read->line >= read->first && read->line - read->first >= read->limit) {
            read->ended = true;
            return;
        }
        size_t room = read->skills->desc.max_read_bytes - read->out.len;
        if (read->line >= read->first) phi__buf_add(&read->out, at, phi__min(len, room));
        if (read->line >= read->first && len > room) {
            read->cut = read->ended = true;
            /* Cut back to the last whole line, so that the next read can continue there. A single
               line that is too long stays cut. */
            size_t end = read->out.len;
            while (end > 0 && read->out.at[end - 1] != '\n') end--;
            if (end > 0) read->out.len = end;
            read->cut_line = read->line + (end > 0 ? 0 : 1);
            return;
        }
        read->in_line = newline == NULL;
        if (newline != NULL) read->line++;
        at += len;
        n -= len;
    }
}

/* Finishes the call with the lines that were kept. */
static phi_flow phi__read_skill_done(phi__read_skill *read) {
    phi__buf text;
    uint64_t lines = read->line + (read->in_line ? 1 : 0);
    if (read->first > 0 && read->first >= lines && !read->ended) {
        char words[96];
        (void)snprintf(words, sizeof words, "it has %llu lines, offset was %llu",
                       (unsigned long long)lines, (unsigned long long)read->first + 1);
        return phi__read_skill_fail(read, words);
    }
    phi__buf_init(&text, read->job.memory);
    phi__utf8_repair(&text, phi__buf_str(&read->out));
    if (read->cut)
        phi__buf_printf(&text, "\n... (cut at %u bytes; continue with offset %llu)",
                        (unsigned)read->skills->desc.max_read_bytes,
                        (unsigned long long)read->cut_line + 1);
    text.failed = text.failed || read->out.failed;
    return phi__read_skill_give(read, &text, "file");
}

/* Passes the body, with {baseDir} replaced, through the filter of lines. */
static phi_flow phi__read_skill_body(phi__read_skill *read) {
    static const char mark[] = "{baseDir}";
    phi__front_matter front;
    phi_str text = phi__buf_str(&read->whole), base = read->skill->base_dir;
    size_t next;
    if (phi__front_split(text, &front) != PHI_OK)
        return phi__read_skill_fail(read, "it has changed since the skills were loaded, and has no "
                                          "front matter now");
    size_t at = front.body_at;
    while (at < text.len && (text.at[at] == '\n' || text.at[at] == '\r')) at++;
    while ((next = phi__str_find(text, at, mark)) != SIZE_MAX) {
        phi__read_skill_lines(read, text.at + at, next - at);
        phi__read_skill_lines(read, base.at, base.len);
        at = next + sizeof mark - 1;
    }
    phi__read_skill_lines(read, text.at + at, text.len - at);
    return phi__read_skill_done(read);
}

static phi_flow phi__read_skill_more(phi__job *job) {
    phi__read_skill *read = (phi__read_skill *)(void *)job;
    phi__words words;
    size_t got;
    if (phi__files_read(read->from, read->slice, PHI__JOB_SLICE, &got, &words) != PHI_OK)
        return phi__read_skill_fail(read, words.text);
    if (got > 0 && memchr(read->slice, 0, got) != NULL)
        return phi__read_skill_fail(read, "it is not a text");
    if (read->instructions) {
        phi__buf_add(&read->whole, read->slice, got);
        if (read->whole.failed) return phi__job_no_memory(job);
        if (read->whole.len > read->skills->desc.max_file_bytes)
            return phi__read_skill_fail(read, "it is too large now");
        return got > 0 ? PHI_PENDING : phi__read_skill_body(read);
    }
    phi__read_skill_lines(read, read->slice, got);
    if (read->out.failed) return phi__job_no_memory(job);
    return got > 0 && !read->ended ? PHI_PENDING : phi__read_skill_done(read);
}

static int phi__read_skill_order(const void *a, const void *b) {
    const phi_str *x = (const phi_str *)a, *y = (const phi_str *)b;
    return strcmp(x->at, y->at);
}

static phi_flow phi__read_skill_listed(phi__read_skill *read) {
    phi__buf text;
    if (read->name_count > 1)
        qsort(read->names, read->name_count, sizeof *read->names, phi__read_skill_order);
    phi__buf_init(&text, read->job.memory);
    for (size_t i = 0; i < read->name_count; i++) {
        if (i > 0) phi__buf_char(&text, '\n');
        phi__utf8_repair(&text, read->names[i]);
    }
    if (read->name_all == 0) phi__buf_text(&text, "(an empty directory)");
    read->cut = read->name_all > read->name_count;
    if (read->cut)
        phi__buf_printf(&text, "\n... (and %llu more)",
                        (unsigned long long)(read->name_all - read->name_count));
    return phi__read_skill_give(read, &text, "directory");
}

static phi_flow phi__read_skill_list(phi__job *job) {
    phi__read_skill *read = (phi__read_skill *)(void *)job;
    phi__walk_entry entry;
    int left = PHI__JOB_PATHS;
    while (left-- > 0) {
        phi_status status = phi__walk_next(read->walk, &entry);
        if (status == PHI_BUSY) continue;
        if (status == PHI_NOT_FOUND) return phi__read_skill_listed(read);
        if (status != PHI_OK) return phi__job_no_memory(job);
        phi__walk_skip(read->walk);
        if (read->name_all++ >= PHI__READ_SKILL_ENTRIES) continue;
        size_t n = entry.path.len;
        void *names = phi__grow(job->memory, read->names, &read->name_cap, read->name_count + 1,
                                sizeof *read->names);
        if (names != NULL) read->names = (phi_str *)names;
        char *copy = names != NULL ? phi__arena_bytes(&job->arena, n + 2) : NULL;
        if (copy == NULL) return phi__job_no_memory(job);
        memcpy(copy, entry.path.at, n);
        if (entry.kind == PHI__FILE_DIRECTORY) copy[n++] = '/';
        copy[n] = '\0';
        read->names[read->name_count++] = phi__str(copy, n);
    }
    return PHI_PENDING;
}

static phi_flow phi__read_skill_open(phi__read_skill *read) {
    phi__words words;
    phi__file_info info;
    phi_status status = phi__files_stat(read->place->out, PHI__LINKS_REFUSE, &info, &words);
    read->job.go = phi__read_skill_more;
    if (status == PHI_OK && info.kind == PHI__FILE_DIRECTORY) {
        read->job.go = phi__read_skill_list;
        status = phi__walk_new(read->job.memory, read->place->out, PHI__LINKS_REFUSE, &read->walk,
                               &words);
    } else if (status == PHI_OK) {
        status = phi__files_open_read(read->job.memory, read->place->out, PHI__LINKS_REFUSE,
                                      &read->from, &words);
        read->slice = (char *)phi__alloc(read->job.memory, PHI__JOB_SLICE);
        if (read->slice == NULL) status = PHI_NO_MEMORY;
    }
    if (status == PHI_NO_MEMORY) return phi__job_no_memory(&read->job);
    return status == PHI_OK ? PHI_PENDING : phi__read_skill_fail(read, words.text);
}

static phi_flow phi__read_skill_placed(phi__job *job) {
    phi__read_skill *read = (phi__read_skill *)(void *)job;
    const char *base = read->skill->base_dir.at;
    size_t units = PHI__JOB_PATHS;
    phi__words words;
    phi_status status = phi__path_resolve_advance(read->place, &units, &words);
    if (status == PHI_BUSY) return PHI_PENDING;
    if (status != PHI_OK) return phi__read_skill_fail(read, words.text);
    if (read->based) {
        if (phi__path_inside(base, read->place->out)) return phi__read_skill_open(read);
        return phi__read_skill_fail(read, "it lies outside the directory of the skill");
    }
    if (strcmp(read->place->out, base) != 0)
        return phi__read_skill_fail(read, "the directory of the skill has moved since the skills "
                                          "were loaded");
    if (phi__path_resolve_begin(read->place, base, read->path, &words) != PHI_OK)
        return phi__read_skill_fail(read, words.text);
    read->based = true;
    return phi__read_skill_placed(job);
}

static phi_flow phi__read_skill_unknown(phi__read_skill *read, const char *name) {
    phi__buf list;
    size_t i;
    phi__buf_init(&list, read->job.memory);
    for (i = 0; i < read->skills->count && i < PHI__READ_SKILL_NAMED; i++) {
        if (i > 0) phi__buf_text(&list, ", ");
        phi__buf_add_str(&list, read->skills->list[i]->name);
    }
    if (i < read->skills->count) phi__buf_text(&list, ", ...");
    if (i == 0) phi__buf_text(&list, "none");
    phi_flow flow = list.failed
                        ? phi__job_no_memory(&read->job)
                        : phi__job_fail(&read->job, "There is no skill \"%s\". Skills: %.*s", name,
                                        (int)list.len, list.at);
    phi__buf_free(&list);
    return flow;
}

static phi_flow phi__read_skill_go(phi__job *job) {
    phi__read_skill *read = (phi__read_skill *)(void *)job;
    const char *name;
    phi__words words;
    uint64_t first;
    read->skills = (const phi_skills *)job->user_data;
    phi__buf_init(&read->whole, job->memory);
    phi__buf_init(&read->out, job->memory);
    if (!phi__job_text(job, "name", true, &name) ||
        !phi__job_text(job, "file", false, &read->path) ||
        !phi__job_number(job, "offset", 1, &first) ||
        !phi__job_number(job, "limit", UINT64_MAX, &read->limit))
        return PHI_DONE;
    read->first = first > 0 ? first - 1 : 0;
    if (read->limit == 0) read->limit = UINT64_MAX;
    read->skill = phi__skills_find(read->skills, phi_str_of(name));
    if (read->skill == NULL) return phi__read_skill_unknown(read, name);
    read->instructions =
        read->path == NULL || read->path[0] == '\0' || strcmp(read->path, "SKILL.md") == 0;
    if (read->instructions) { /* relative to the skill's directory */
        read->path = read->skill->file_path.at + read->skill->base_dir.len;
        if (read->path[0] == '/') read->path++;
    }
    read->place = (phi__resolve *)phi_arena_alloc(&job->arena, sizeof *read->place);
    if (read->place == NULL) return phi__job_no_memory(job);
    if (phi__path_resolve_begin(read->place, NULL, read->skill->base_dir.at, &words) != PHI_OK)
        return phi__read_skill_fail(read, words.text);
    job->go = phi__read_skill_placed;
    return phi__read_skill_placed(job);
}

static phi_flow phi__read_skill_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__read_skill), false,
                          phi__read_skill_go, phi__read_skill_drop);
}

/* ---- public ---- */

PHI_API phi_status phi_skills_tool(phi_skills *skills, phi_tool *out) {
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{"
        "\"name\":{\"type\":\"string\",\"description\":\"Name of the skill\"},"
        "\"file\":{\"type\":\"string\",\"description\":\"A file or directory of the skill, such as "
        "references/forms.md (default: the skill's instructions)\"},"
        "\"offset\":{\"type\":\"integer\",\"minimum\":0,"
        "\"description\":\"First line to read, counted from 1 (default: 1)\"},"
        "\"limit\":{\"type\":\"integer\",\"minimum\":0,"
        "\"description\":\"How many lines to read (default: all)\"}},"
        "\"required\":[\"name\"]}";
    if (skills == NULL || out == NULL) return PHI_BAD_ARG;
    phi__job_tool(out, skills, "read_skill", "Read Skill",
                  "Read the instructions of a skill, or another file of it. Do so before a "
                  "task that the description of a skill matches.",
                  schema, phi__read_skill_start);
    out->step = phi__job_step;
    out->timeout_ms = PHI__READ_SKILL_MS;
    out->unlisted = true;
    return PHI_OK;
}

#endif
