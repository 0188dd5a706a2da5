/* skill_file.c - loads one skill: finds SKILL.md, reads its front matter, checks and keeps it. */
#include "skills/skills_in.h"

#ifndef PHI_NO_FILES

#include "base/utf8_in.h"
#include "formats/yaml.h"

#include <stdio.h>

enum { PHI__SKILL_FILE_SLICE = 8192 };

/* A skill while it is loaded. */
typedef struct phi__skill_file {
    phi_skills *skills;
    phi_str name, label;
    const char *dir;            /* as given; problems name it */
    char base[PHI__PATH_BYTES]; /* resolved */
    phi__resolve place;         /* of the base, then of SKILL.md */
    const char *leaf;           /* "SKILL.md" */
    phi__buf text;              /* the beginning of the file */
    phi_arena scratch;
    phi__front_matter front;
    phi_str yaml;
    bool fatal, no_memory;
} phi__skill_file;

/* ---- problems ---- */

static void phi__skill_file_report(phi__skill_file *file, uint32_t line, uint32_t column,
                                   const char *message, bool fatal) {
    phi_skill_problem problem;
    phi__buf path;
    memset(&problem, 0, sizeof problem);
    phi__buf_init(&path, &file->skills->memory);
    phi__buf_text(&path, file->dir);
    if (file->leaf != NULL) phi__buf_char(&path, '/');
    if (file->leaf != NULL) phi__buf_text(&path, file->leaf);
    problem.file = phi__buf_str(&path);
    problem.line = line;
    problem.column = column;
    problem.message = phi_str_of(message);
    problem.loaded = !fatal;
    if (path.failed || !phi__skills_list_problem(file->skills, &problem)) file->no_memory = true;
    phi__buf_free(&path);
    file->fatal = file->fatal || fatal;
}

static void phi__skill_file_fault(void *ctx, const char *key, const char *message, bool fatal) {
    phi__skill_file *file = (phi__skill_file *)ctx;
    uint32_t line = phi__front_matter_line(file->yaml, key);
    phi__skill_file_report(file, line > 0 ? line + file->front.first_line - 1 : 0, 0, message,
                           fatal);
}

/* ---- the file ---- */

/* PHI_REFUSED: the path leads out of the directory, by a link. */
static phi_status phi__skill_file_resolve(const char *base, const char *path, phi__resolve *resolve,
                                          phi__words *words) {
    size_t units = SIZE_MAX;
    phi_status status = phi__path_resolve_begin(resolve, base, path, words);
    if (status == PHI_OK) status = phi__path_resolve_advance(resolve, &units, words);
    if (status != PHI_OK || phi__path_inside(base, resolve->out)) return status;
    (void)snprintf(words->text, sizeof words->text, "it lies outside the directory of the skill");
    return PHI_REFUSED;
}

/* The last part of a path; of "." and its like that of the resolved one. */
static phi_str phi__skill_file_name(const char *dir, const char *base) {
    phi_str path = phi_str_of(dir);
    size_t at;
    while (path.len > 1 && path.at[path.len - 1] == '/') path.len--;
    for (at = path.len; at > 0 && path.at[at - 1] != '/';) at--;
    path = phi__str(path.at + at, path.len - at);
    if (path.len > 0 && !phi__str_is(path, ".") && !phi__str_is(path, "..")) return path;
    path = phi_str_of(base);
    for (at = path.len; at > 0 && path.at[at - 1] != '/';) at--;
    return phi__str(path.at + at, path.len - at);
}

/* Finds SKILL.md, or skill.md as the standard's validator does. PHI_NOT_FOUND: neither. */
static phi_status phi__skill_file_find(phi__skill_file *file) {
    static const char *const leaves[] = {"SKILL.md", "skill.md"};
    char path[PHI__PATH_BYTES];
    phi__file_info info;
    size_t i;
    for (i = 0; i < PHI__COUNT(leaves); i++) {
        int n = snprintf(path, sizeof path, "%s/%s", file->base, leaves[i]);
        if (n < 0 || (size_t)n >= sizeof path) return PHI_NOT_FOUND;
        if (phi__files_stat(path, PHI__LINKS_REFUSE, &info, NULL) == PHI_NOT_FOUND) continue;
        file->leaf = leaves[i];
        return PHI_OK;
    }
    return PHI_NOT_FOUND;
}

/* Reads up to the end of the front matter. */
static void phi__skill_file_slices(phi__skill_file *file, phi__file *from) {
    phi__words words;
    phi_status split = PHI_PARSE;
    size_t got = 1;
    while (split == PHI_PARSE && got > 0 && file->text.len < PHI__SKILLS_FRONT_BYTES) {
        char *to = phi__buf_reserve(&file->text, PHI__SKILL_FILE_SLICE);
        if (to == NULL) {
            file->no_memory = true;
            return;
        }
        if (phi__files_read(from, to, PHI__SKILL_FILE_SLICE, &got, &words) != PHI_OK) {
            phi__skill_file_report(file, 0, 0, words.text, true);
            return;
        }
        phi__buf_add_len(&file->text, got);
        split = phi__front_matter_split(phi__buf_str(&file->text), &file->front);
        if (split == PHI_NOT_FOUND && file->text.len < PHI__SKILL_FILE_SLICE) split = PHI_PARSE;
    }
    split = phi__front_matter_split(phi__buf_str(&file->text), &file->front);
    if (split == PHI_NOT_FOUND)
        phi__skill_file_report(file, file->front.first_line, 1,
                               "no front matter: expected a line \"---\" at the beginning", true);
    else if (split == PHI_PARSE && got > 0)
        phi__skill_file_report(file, 0, 0, "the front matter is longer than 65,536 bytes", true);
    else if (split == PHI_PARSE)
        phi__skill_file_report(file, 0, 0,
                               "no end of the front matter: expected a second line \"---\"", true);
}

static void phi__skill_file_read(phi__skill_file *file) {
    phi__file_info info;
    phi__words words;
    phi__file *from = NULL;
    char size[96];
    phi_status status = phi__skill_file_resolve(file->base, file->leaf, &file->place, &words);
    if (status == PHI_OK)
        status = phi__files_stat(file->place.out, PHI__LINKS_REFUSE, &info, &words);
    if (status == PHI_OK && info.bytes > file->skills->desc.max_file_bytes) {
        (void)snprintf(size, sizeof size, "%llu bytes, expected at most %u",
                       (unsigned long long)info.bytes, (unsigned)file->skills->desc.max_file_bytes);
        phi__skill_file_report(file, 0, 0, size, true);
        return;
    }
    if (status == PHI_OK)
        status = phi__files_open_read(&file->skills->memory, file->place.out, PHI__LINKS_REFUSE,
                                      &from, &words);
    if (status == PHI_NO_MEMORY)
        file->no_memory = true;
    else if (status != PHI_OK)
        phi__skill_file_report(file, 0, 0, words.text, true);
    else
        phi__skill_file_slices(file, from);
    phi__files_close(from);
}

/* ---- its fields ---- */

/* Where the YAML is broken: the two fields that every skill has, line by line. Descriptions such as
   "Use when: ..." are not YAML without quotes, and common. NULL: no memory. */
static phi_json *phi__skill_file_by_line(phi__skill_file *file) {
    static const char *const keys[] = {"name", "description"};
    phi_json *root = phi_json_new_object(&file->scratch);
    size_t i;
    for (i = 0; i < PHI__COUNT(keys) && root != NULL; i++) {
        phi_str value = phi__front_matter_value(file->yaml, keys[i]);
        if (value.at != NULL && phi_json_set(&file->scratch, root, keys[i],
                                             phi_json_new_str(&file->scratch, value)) != PHI_OK)
            return NULL;
    }
    return root;
}

/* The front matter as an object; NULL: it has a problem, or there is no memory. */
static phi_json *phi__skill_file_parse(phi__skill_file *file) {
    phi_json *root = NULL;
    phi_parse_error error;
    const char *fancy;
    uint32_t line;
    phi_yaml_desc options;
    phi_status status;
    memset(&options, 0, sizeof options);
    options.flags = PHI_YAML_TEXTS;
    status = phi_yaml_parse(&file->scratch, file->yaml, &options, &root, &error);
    file->no_memory = file->no_memory || status == PHI_NO_MEMORY;
    if (status == PHI_OK && !phi_json_is(root, PHI_JSON_OBJECT)) {
        phi__skill_file_report(file, file->front.first_line, 0,
                               "the front matter is no mapping of fields", true);
        return NULL;
    }
    if (status == PHI_OK) {
        fancy = phi__front_matter_fancy(file->yaml, &line);
        if (fancy != NULL) {
            char words[96];
            (void)snprintf(words, sizeof words, "%s: expected plain YAML without it", fancy);
            phi__skill_file_report(file, line + file->front.first_line - 1, 0, words, false);
        }
    } else if (status != PHI_NO_MEMORY) {
        phi__skill_file_report(file, error.line + file->front.first_line - 1, error.column,
                               error.message, false);
        root = phi__skill_file_by_line(file);
        file->no_memory = file->no_memory || root == NULL;
    }
    return root;
}

static bool phi__skill_file_keep_text(phi__skill_file *file, const phi_json *node, phi_str *out) {
    phi_str text = phi_json_str(node, NULL);
    if (node != NULL && !phi_json_is(node, PHI_JSON_STRING) &&
        phi_json_write(&file->scratch, node, 0, &text) != PHI_OK)
        return false;
    return phi__arena_str(&file->skills->arena, phi__str_trim(text), out);
}

/* allowed-tools: a text, or, as many write it, a list. */
static bool phi__skill_file_keep_tools(phi__skill_file *file, const phi_json *node, phi_str *out) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *item;
    phi__buf joined;
    bool kept;
    if (!phi_json_is(node, PHI_JSON_ARRAY)) return phi__skill_file_keep_text(file, node, out);
    phi__buf_init(&joined, &file->skills->memory);
    while ((item = phi_json_next(&it)) != NULL) {
        if (joined.len > 0) phi__buf_char(&joined, ' ');
        phi__buf_add_str(&joined, phi_json_str(item, NULL));
    }
    kept = !joined.failed && phi__arena_str(&file->skills->arena, phi__buf_str(&joined), out);
    phi__buf_free(&joined);
    return kept;
}

static bool phi__skill_file_keep_pairs(phi__skill_file *file, const phi_json *node,
                                       phi_skill *skill) {
    size_t n = phi_json_is(node, PHI_JSON_OBJECT) ? phi_json_count(node) : 0;
    phi_json_iter it = phi_json_each(node);
    phi_skill_pair *pairs;
    const phi_json *value;
    if (n == 0) return true;
    pairs = (phi_skill_pair *)phi__arena_zero(&file->skills->arena, n * sizeof *pairs);
    if (pairs == NULL) return false;
    while ((value = phi_json_next(&it)) != NULL) {
        phi_skill_pair *pair = &pairs[skill->metadata_count++];
        if (!phi__arena_str(&file->skills->arena, it.key, &pair->key) ||
            !phi__skill_file_keep_text(file, value, &pair->value))
            return false;
    }
    skill->metadata = pairs;
    return true;
}

static phi_status phi__skill_file_keep(phi__skill_file *file, const phi_json *root) {
    phi_arena *arena = &file->skills->arena;
    phi_skill *skill = (phi_skill *)phi__arena_zero(arena, sizeof *skill);
    if (skill == NULL || !phi__arena_str(arena, file->name, &skill->name) ||
        !phi__skill_file_keep_text(file, phi_json_get(root, "description"), &skill->description) ||
        !phi__skill_file_keep_text(file, phi_json_get(root, "license"), &skill->license) ||
        !phi__skill_file_keep_text(file, phi_json_get(root, "compatibility"),
                                   &skill->compatibility) ||
        !phi__skill_file_keep_tools(file, phi_json_get(root, "allowed-tools"),
                                    &skill->allowed_tools) ||
        !phi__skill_file_keep_pairs(file, phi_json_get(root, "metadata"), skill) ||
        !phi__arena_str(arena, phi_str_of(file->base), &skill->base_dir) ||
        !phi__arena_str(arena, phi_str_of(file->place.out), &skill->file_path))
        return PHI_NO_MEMORY;
    skill->source = file->label;
    return phi__skills_list_put(file->skills, skill);
}

/* ---- one skill ---- */

static phi_status phi__skill_file_take(phi__skill_file *file) {
    phi__skill_rules rules;
    phi_str text = phi__buf_str(&file->text);
    size_t valid;
    phi_json *root;
    file->yaml = phi__str(text.at + file->front.yaml_at, file->front.yaml_len);
    valid = phi__utf8_valid(phi__str(text.at, file->front.body_at));
    if (valid < file->front.body_at) {
        phi__skill_file_report(file, 0, 0, "the front matter is not UTF-8", true);
        return PHI_PARSE;
    }
    if (!file->front.early)
        phi__skill_file_report(file, 1, 1, "expected \"---\" as the very first characters", false);
    root = phi__skill_file_parse(file);
    if (root == NULL) return PHI_PARSE;
    rules.root = root;
    rules.directory = file->name;
    rules.fault = phi__skill_file_fault;
    rules.ctx = file;
    phi__skill_rules_check(&rules);
    return file->fatal ? PHI_PARSE : phi__skill_file_keep(file, root);
}

static phi_status phi__skill_file_go(phi__skill_file *file) {
    size_t units = SIZE_MAX;
    phi__file_info info;
    if (phi__path_resolve_begin(&file->place, NULL, file->dir, NULL) != PHI_OK ||
        phi__path_resolve_advance(&file->place, &units, NULL) != PHI_OK)
        return PHI_NOT_FOUND;
    memcpy(file->base, file->place.out, sizeof file->base);
    if (phi__files_stat(file->base, PHI__LINKS_REFUSE, &info, NULL) != PHI_OK ||
        info.kind != PHI__FILE_DIRECTORY || phi__skill_file_find(file) != PHI_OK)
        return PHI_NOT_FOUND;
    file->name = phi__skill_file_name(file->dir, file->base);
    if (phi__utf8_valid(file->name) != file->name.len) {
        phi__skill_file_report(file, 0, 0, "the name of the directory is not UTF-8", true);
        return PHI_PARSE;
    }
    phi__skill_file_read(file);
    return file->fatal || file->no_memory ? PHI_PARSE : phi__skill_file_take(file);
}

PHI__FN phi_status phi__skill_file_load(phi_skills *skills, const char *dir, phi_str label) {
    phi__skill_file *file = (phi__skill_file *)phi__alloc(&skills->memory, sizeof *file);
    phi_status status;
    if (file == NULL) return PHI_NO_MEMORY;
    file->skills = skills;
    file->dir = dir;
    file->label = label;
    phi__buf_init(&file->text, &skills->memory);
    phi_arena_init(&file->scratch, &skills->memory, 0);
    status = phi__skill_file_go(file);
    if (file->no_memory) status = PHI_NO_MEMORY;
    phi_arena_free(&file->scratch);
    phi__buf_free(&file->text);
    phi__free(&skills->memory, file, sizeof *file);
    return status;
}

#endif
