/* openapi.c - the object of a document: creates the object, reads the document in slices (bytes, a
   tree, then parts and operations), and frees the object. */
#include "base/base_in.h"
#include "formats/formats_in.h"
#include "loop/loop_in.h"
#include "openapi/api_in.h"
#include "tools/tools_in.h"
#include "wire/wire_in.h"

#include <stdio.h>

/* ---- a document's parts ---- */

/* Parts are the entries of the components that requests need, and the path items. Each part is JSON
   text in one buffer. Callbacks, examples and extensions are not kept; responses are kept only if a
   reference may lead into them. A part is parsed when it is needed. The text does not change after
   the document is ready, so trees may borrow from it. */

enum {
    PHI__DOCUMENT_CHAIN = 32, /* max. references followed from one to the next */
    PHI__DOCUMENT_STEP = 1024 /* max. bytes of one step of a JSON Pointer */
};

typedef struct phi__document_parsed {
    struct phi__document_parsed *next;
    const phi__document_part *part;
    phi_json *root;
} phi__document_parsed;

static const char *const phi__document_sections[PHI__SECTION_COUNT] = {
    "schemas",   "parameters", "requestBodies", "headers", "securitySchemes",
    "pathItems", "paths",      "responses",     "",        ""};

static void phi__document_init(phi__document *doc, phi_memory *memory) {
    memset(doc, 0, sizeof *doc);
    doc->memory = memory;
    phi_arena_init(&doc->arena, memory, 0);
    phi__buf_init(&doc->text, memory);
    phi__map_init(&doc->parts, memory);
}

PHI__FN phi__document_part *phi__document_find(const phi__document *doc,
                                               phi__document_section section, phi_str name) {
    uint64_t hash = phi__hash(name, (uint64_t)section);
    size_t probe = 0;
    phi__document_part *part;
    while ((part = (phi__document_part *)phi__map_each(&doc->parts, hash, &probe)) != NULL)
        if (part->section == section && phi_str_equal(part->name, name)) return part;
    return NULL;
}

/* Adds a part without text, and copies its name. NULL if there is no memory. */
static phi__document_part *phi__document_add(phi__document *doc, phi__document_section section,
                                             phi_str name) {
    if (!phi__map_room(&doc->parts)) return NULL;
    phi__document_part *part = (phi__document_part *)phi__arena_zero(&doc->arena, sizeof *part);
    if (part == NULL || !phi__arena_str(&doc->arena, name, &part->name)) return NULL;
    part->section = section;
    phi__map_add(&doc->parts, phi__hash(name, (uint64_t)section), part);
    return part;
}

/* Decodes the next step of a JSON Pointer into `out` of `size` bytes, and advances *rest past it.
   False at the end of the pointer; if *rest is not empty then, the pointer is malformed. */
static bool phi__document_step(phi_str *rest, char *out, size_t size, phi_str *step) {
    size_t i = 1, n = 0;
    if (rest->len == 0 || rest->at[0] != '/') return false;
    for (; i < rest->len && rest->at[i] != '/'; i++) {
        char c = rest->at[i];
        uint32_t code =
            c == '%' ? phi__json_text_hex(rest->at + i + 1, rest->at + rest->len, 2) : UINT32_MAX;
        if (c == '~' && i + 1 < rest->len && (rest->at[i + 1] == '0' || rest->at[i + 1] == '1'))
            c = rest->at[++i] == '1' ? '/' : '~';
        else if (code != UINT32_MAX) {
            c = (char)(unsigned char)code;
            i += 2;
        }
        if (n == size) return false;
        out[n++] = c;
    }
    *rest = phi__str(rest->at + i, rest->len - i);
    *step = phi__str(out, n);
    return true;
}

/* Makes the name of the part that holds an operation's responses. Path and method are spelled as in
   the document. False if the name is too long. */
static bool phi__document_answers(phi_str path, phi_str method, char *out, size_t size,
                                  phi_str *name) {
    if (path.len >= size || method.len >= size - path.len) return false;
    memcpy(out, method.at, method.len);
    if (path.len > 0) memcpy(out + method.len, path.at, path.len);
    *name = phi__str(out, method.len + path.len);
    return true;
}

/* Finds the part of a pointer into an operation's responses, which are a separate part. Such a
   pointer has "/get/responses" after the path. */
static bool phi__document_in_answers(const phi__document *doc, phi_str path,
                                     phi__document_part **part, phi_str *rest) {
    char method[16], word[16], name[PHI__DOCUMENT_STEP + 16];
    phi_str after = *rest, step;
    if (!phi__document_step(&after, method, sizeof method, &step)) return false;
    phi_str key = step;
    if (!phi__document_step(&after, word, sizeof word, &step) || !phi__str_is(step, "responses") ||
        !phi__document_answers(path, key, name, sizeof name, &key))
        return false;
    *part = phi__document_find(doc, PHI__SECTION_ANSWERS, key);
    if (*part != NULL) *rest = after;
    return *part != NULL;
}

/* Splits "#/components/schemas/Pet/items" into its part and the pointer within the part. False if
   the part was not kept. *why is then text to append to the reference, such as " leads nowhere". */
static bool phi__document_locate(const phi__document *doc, phi_str ref, phi__document_part **part,
                                 phi_str *rest, const char **why) {
    char bytes[PHI__DOCUMENT_STEP];
    phi_str step;
    *why = " leads to another document, and such references are not followed";
    if (ref.len == 0 || ref.at[0] != '#') return false;
    *why = " is no JSON Pointer, and other references are not followed";
    *rest = phi__str(ref.at + 1, ref.len - 1);
    if (!phi__document_step(rest, bytes, sizeof bytes, &step)) return false;
    *why = " leads to a part that is not kept";
    unsigned i = PHI__SECTION_PATHS;
    if (phi__str_is(step, "components")) {
        if (!phi__document_step(rest, bytes, sizeof bytes, &step)) return false;
        for (i = 0; i <= PHI__SECTION_RESPONSES; i++)
            if (i != PHI__SECTION_PATHS && phi__str_is(step, phi__document_sections[i])) break;
        if (i > PHI__SECTION_RESPONSES) return false;
    } else if (!phi__str_is(step, "paths"))
        return false;
    if (!phi__document_step(rest, bytes, sizeof bytes, &step)) return false;
    *why = " leads nowhere";
    if (i == PHI__SECTION_PATHS && phi__document_in_answers(doc, step, part, rest)) return true;
    *part = phi__document_find(doc, (phi__document_section)i, step);
    return *part != NULL;
}

/* Returns the node that a pointer leads to; NULL if there is none. */
static const phi_json *phi__document_walk(const phi_json *node, phi_str rest) {
    char bytes[PHI__DOCUMENT_STEP];
    phi_str step;
    uint64_t index;
    while (node != NULL && phi__document_step(&rest, bytes, sizeof bytes, &step)) {
        if (!phi_json_is(node, PHI_JSON_ARRAY))
            node = phi__json_get_n(node, step);
        else if (!phi__str_to_u64(step, &index) || index >= phi_json_count(node))
            return NULL;
        else
            node = phi_json_at(node, (size_t)index);
    }
    return rest.len == 0 ? node : NULL;
}

/* ---- parts on demand ---- */

PHI__FN const phi_json *phi__document_tree(phi__document_view *view,
                                           const phi__document_part *part) {
    phi__document_parsed **bucket = &view->parsed[part->at % PHI__DOCUMENT_BUCKETS], *p;
    phi_str text = phi__str(view->doc->text.at + part->at, part->len);
    for (p = *bucket; p != NULL; p = p->next)
        if (p->part == part) return p->root;
    p = (phi__document_parsed *)phi_arena_alloc(view->arena, sizeof *p);
    if (p == NULL || phi_json_parse(view->arena, text, PHI_JSON_BORROW, &p->root, NULL) != PHI_OK) {
        view->no_memory = true;
        return NULL;
    }
    view->units += part->len;
    p->part = part;
    p->next = *bucket;
    *bucket = p;
    return p->root;
}

static const phi_json *phi__document_refuse(phi__document_view *view, phi_str ref,
                                            const char *why) {
    (void)snprintf(view->message, sizeof view->message, "\"$ref\" %.*s%s",
                   (int)phi__utf8_cut(ref, 140), ref.at, why);
    return NULL;
}

PHI__FN const phi_json *phi__document_target(phi__document_view *view, phi_str ref) {
    phi__document_part *part = NULL;
    phi_str rest = {NULL, 0};
    const char *why = NULL;
    if (!phi__document_locate(view->doc, ref, &part, &rest, &why))
        return phi__document_refuse(view, ref, why);
    const phi_json *node = phi__document_tree(view, part);
    if (view->no_memory) return NULL;
    node = phi__document_walk(node, rest);
    return node != NULL ? node : phi__document_refuse(view, ref, " leads nowhere");
}

PHI__FN const phi_json *phi__document_follow(phi__document_view *view, const phi_json *node) {
    phi_str ref = {NULL, 0};
    for (int links = 0; node != NULL && links < PHI__DOCUMENT_CHAIN; links++) {
        const phi_json *next = phi_json_get(node, "$ref");
        if (!phi_json_is(next, PHI_JSON_STRING)) return node;
        ref = phi__json_text_of(next);
        node = phi__document_target(view, ref);
    }
    return node == NULL ? NULL : phi__document_refuse(view, ref, " leads in a circle");
}

/* ---- tool names: "{prefix}__{operation id}" within the rules of every provider ---- */

/* A name depends on the document and prefix only. A name that is cut or taken gets a hash. */

/* The naming of a document's operations, in slices. Zeroed at first. */
typedef struct phi__naming {
    phi__tool_names names;
    size_t at; /* index of the next operation, first to count, then to name */
    bool begun, counted;
} phi__naming;

static phi__tool_name phi__naming_of(const phi_openapi_operation *op, const char *prefix) {
    phi_str id = op->operation_id;
    phi__tool_name name;
    phi__tool_name_begin(&name, prefix, id.len > 0 ? id.at[0] : 'a');
    if (id.len > 0)
        phi__tool_name_text(&name, id);
    else {
        /* GET /pets/{petId} becomes "get_pets_petId". */
        bool gap = true;
        name.exact = false;
        for (size_t i = 0; i < op->method.len; i++)
            phi__tool_name_put(&name, (char)(op->method.at[i] | 0x20)); /* in lower case */
        for (size_t i = 0; i < op->path.len; i++) {
            char c = op->path.at[i];
            if (!phi__tool_name_plain(c)) {
                gap = true;
                continue;
            }
            if (gap) phi__tool_name_put(&name, '_');
            gap = false;
            phi__tool_name_put(&name, c);
        }
    }
    return name;
}

/* Names one operation, or skips it if its name is taken even with a hash. False: no memory. */
static bool phi__naming_one(phi__naming *n, phi__document *doc, phi__document_operation *op,
                            const char *prefix) {
    phi__tool_name name = phi__naming_of(&op->shown, prefix);
    unsigned char hash[PHI__SHA256_BYTES];
    phi__sha256 sha;
    phi__sha256_begin(&sha);
    phi__sha256_add(&sha, op->shown.method.at, op->shown.method.len);
    phi__sha256_add(&sha, " ", 1);
    phi__sha256_add(&sha, op->shown.path.at, op->shown.path.len);
    phi__sha256_end(&sha, hash);
    phi_status status = phi__tool_name_claim(&n->names, &name, hash);
    if (status == PHI_NO_MEMORY) return false;
    if (status != PHI_OK) op->skip = "its name is taken";
    return phi__arena_str(&doc->arena, phi__str(name.at, name.len), &op->shown.name);
}

/* Names up to `count` operations. `prefix` may be NULL. If skip_unnamed is set, operations without
   an id are skipped. Returns PHI_OK, PHI_BUSY (call it again) or PHI_NO_MEMORY. */
static phi_status phi__naming_advance(phi__naming *n, phi__document *doc, const char *prefix,
                                      bool skip_unnamed, size_t count) {
    if (!n->begun) {
        n->begun = true;
        phi__tool_name_init(&n->names, doc->memory);
        if (!phi__tool_name_reserve(&n->names, doc->count)) return PHI_NO_MEMORY;
    }
    for (; count > 0 && n->at < doc->count; count--, n->at++) {
        phi__document_operation *op = &doc->operations[n->at];
        bool fine;
        if (!n->counted) {
            phi__tool_name name = phi__naming_of(&op->shown, prefix);
            fine = phi__tool_name_count(&n->names, &name);
        } else {
            if (skip_unnamed && op->shown.operation_id.len == 0 && op->skip == NULL)
                op->skip = "it has no operationId";
            fine = phi__naming_one(n, doc, op, prefix);
        }
        if (!fine) return PHI_NO_MEMORY;
    }
    if (n->at < doc->count) return PHI_BUSY;
    if (n->counted) return PHI_OK;
    n->counted = true;
    n->at = 0;
    return PHI_BUSY;
}

/* ---- reading in slices: bytes, then a tree, then the parts and operations that are kept ---- */

enum {
    PHI__READING_PIECE = 65536, /* max. bytes of a file that are read at a time */
    PHI__READING_ENTRY = 64,    /* units of work for an entry of any size */
    PHI__READING_NAMED = 256,   /* units of work for a name */
    PHI__READING_NAME = 1024,   /* max. bytes of a path with its method */
    PHI__READING_TAGS = 64,     /* max. tags of an operation */
    PHI__READING_DEPTH = 512    /* max. levels of nested values */
};

typedef enum phi__reading_state {
    PHI__READING_SOURCE, /* reads the bytes of a file */
    PHI__READING_PARSE,
    PHI__READING_PARTS,
    PHI__READING_OPERATIONS,
    PHI__READING_NAMES,
    PHI__READING_DONE
} phi__reading_state;

/* The responses of an operation, taken out of its path item. */
typedef struct phi__reading_answers {
    struct phi__reading_answers *next;
    phi_str path, method;
    phi_json *node;
} phi__reading_answers;

typedef struct phi__reading_walk {
    phi__reading_state state;
    phi__json_reader reader;
    phi__yaml_reader yaml;
    phi__document_section section;
    phi_json_iter it;
    bool entered; /* `it` is inside of the section */
    phi__json_writer writer;
    phi__document_part *part; /* the part being written; NULL: none */
    phi__reading_answers *answers;
    phi__naming naming;
    bool wants_answers; /* responses are kept, because a reference may lead into them */
} phi__reading_walk;

/* The HTTP methods: the keys in a path item, and the names shown to the host. */
static const struct {
    const char *key, *shown;
    bool read_only;
} phi__reading_methods[] = {{"get", "GET", true},      {"put", "PUT", false},
                            {"post", "POST", false},   {"delete", "DELETE", false},
                            {"head", "HEAD", true},    {"options", "OPTIONS", true},
                            {"patch", "PATCH", false}, {"trace", "TRACE", true}};

static void phi__reading_init(phi__reading *r, phi__document *doc, size_t max_bytes) {
    memset(r, 0, sizeof *r);
    r->doc = doc;
    r->max_bytes = max_bytes;
    r->status = PHI_BUSY;
    phi__buf_init(&r->source, doc->memory);
    phi_arena_init(&r->tree, doc->memory, 65536);
}

static phi_status phi__reading_fail(phi__reading *r, phi_status status, const char *words) {
    if (r->status != PHI_BUSY) return r->status;
    r->status = status;
    (void)snprintf(r->error.message, sizeof r->error.message, "%.*s",
                   (int)phi__utf8_cut(phi_str_of(words), sizeof r->error.message - 1), words);
    return status;
}

static phi_status phi__reading_no_memory(phi__reading *r) {
    return phi__reading_fail(r, PHI_NO_MEMORY, "no memory for the document");
}

static phi_status phi__reading_add(phi__reading *r, phi_str bytes) {
    char words[120];
    if (bytes.len > r->max_bytes - phi__min(r->source.len, r->max_bytes)) {
        (void)snprintf(words, sizeof words, "the document is larger than max_document_bytes, %llu",
                       (unsigned long long)r->max_bytes);
        return phi__reading_fail(r, PHI_TOO_BIG, words);
    }
    phi__buf_add_str(&r->source, bytes);
    return r->source.failed ? phi__reading_no_memory(r) : r->status;
}

/* ---- files ---- */

#ifndef PHI_NO_FILES
static phi_status phi__reading_open(phi__reading *r, const char *path) {
    phi__words words;
    phi_status status =
        phi__files_open_read(r->doc->memory, path, PHI__LINKS_FOLLOW, &r->file, &words);
    if (status == PHI_NO_MEMORY) return phi__reading_no_memory(r);
    return status == PHI_OK ? r->status : phi__reading_fail(r, status, words.text);
}

static size_t phi__reading_file(phi__reading *r) {
    phi__words words;
    size_t got = 0;
    char *room = phi__buf_reserve(&r->source, PHI__READING_PIECE);
    phi_status status = PHI_NO_MEMORY;
    if (room != NULL) status = phi__files_read(r->file, room, PHI__READING_PIECE, &got, &words);
    if (room == NULL)
        (void)phi__reading_no_memory(r);
    else if (status != PHI_OK)
        (void)phi__reading_fail(r, status, words.text);
    else
        phi__buf_add_len(&r->source, got);
    if (r->source.len > r->max_bytes) (void)phi__reading_add(r, PHI__LIT(" "));
    if (got == 0 || r->status != PHI_BUSY) {
        phi__files_close(r->file);
        r->file = NULL;
    }
    return got;
}
#else
static phi_status phi__reading_open(phi__reading *r, const char *path) {
    (void)path;
    return phi__reading_fail(r, PHI_UNSUPPORTED,
                             "files are left out of this program: PHI_NO_FILES");
}
#endif

/* ---- the tree ---- */

/* Refuses all versions but 3.0 and 3.1. */
static void phi__reading_check(phi__reading *r) {
    phi_str version = phi__records_get_str(r->root, "openapi");
    phi_str old = phi__records_get_str(r->root, "swagger");
    char words[140];
    if (!phi_json_is(r->root, PHI_JSON_OBJECT))
        (void)phi__reading_fail(r, PHI_UNSUPPORTED,
                                "this is no OpenAPI document: expected an object");
    else if (phi__str_starts(version, "3.0.") || phi__str_is(version, "3.0"))
        return;
    else if (phi__str_starts(version, "3.1.") || phi__str_is(version, "3.1"))
        r->doc->is_31 = true;
    else {
        if (version.len == 0) version = old;
        (void)snprintf(words, sizeof words,
                       version.len == 0 ? "this is no OpenAPI document: \"openapi\" is missing%.*s"
                                        : "OpenAPI version %.*s: expected 3.0 or 3.1",
                       (int)phi__utf8_cut(version, 20), version.at != NULL ? version.at : "");
        (void)phi__reading_fail(r, PHI_UNSUPPORTED, words);
    }
}

static size_t phi__reading_parse(phi__reading *r, phi__reading_walk *walk, size_t units) {
    phi_parse_error error;
    phi_status status;
    phi_str text = phi__buf_str(&r->source);
    size_t i = 0;
    if (phi__str_starts(text, "\xef\xbb\xbf")) text = phi__str_from(text, 3);
    while (i < text.len &&
           (text.at[i] == ' ' || text.at[i] == '\t' || text.at[i] == '\n' || text.at[i] == '\r'))
        i++;
    /* The first byte decides between JSON and YAML. */
    bool json = i < text.len && (text.at[i] == '{' || text.at[i] == '[');
    if (json) {
        if (walk->reader.arena == NULL)
            phi__json_read_begin(&walk->reader, &r->tree, text, PHI_JSON_BORROW,
                                 PHI__READING_DEPTH);
        status = phi__json_read_advance(&walk->reader, units);
        if (status == PHI_BUSY) return units;
        (void)phi__json_read_result(&walk->reader, &r->root, &error);
    } else {
        phi_yaml_desc options = PHI_ZERO;
        options.max_depth = PHI__READING_DEPTH;
        if (walk->yaml.arena == NULL) phi__yaml_read_begin(&walk->yaml, &r->tree, text, &options);
        status = phi__yaml_read_advance(&walk->yaml, units);
        if (status == PHI_BUSY) return units;
        (void)phi__yaml_read_result(&walk->yaml, &r->root, &error);
    }
    if (status == PHI_OK) {
        phi__reading_check(r);
        walk->state = PHI__READING_PARTS;
    } else if (status == PHI_NO_MEMORY) {
        (void)phi__reading_no_memory(r);
    } else {
        /* The message names the language, because the guess may be wrong. */
        r->status = status;
        r->error = error;
        (void)snprintf(r->error.message, sizeof r->error.message, "not valid %s: %.*s",
                       json ? "JSON" : "YAML", (int)sizeof error.message - 20, error.message);
    }
    return units;
}

/* ---- parts ---- */

static phi_json *phi__reading_section(const phi__reading *r, phi__document_section section) {
    /* "paths" is a member of the document; the other sections are in "components". */
    const char *name = phi__document_sections[section];
    if (section == PHI__SECTION_PATHS) return phi_json_get(r->root, name);
    return phi_json_get(phi_json_get(r->root, "components"), name);
}

/* Removes from a path item all that requests do not need. Keeps the responses of its operations in
   walk->answers. False if there is no memory. */
static bool phi__reading_prune(phi__reading *r, phi__reading_walk *walk, phi_str path,
                               phi_json *item) {
    for (size_t i = 0; i < PHI__COUNT(phi__reading_methods); i++) {
        phi_json *op = phi_json_get(item, phi__reading_methods[i].key);
        phi_json *answers = phi_json_remove(op, "responses");
        phi__reading_answers *kept;
        (void)phi_json_remove(op, "callbacks");
        if (answers == NULL || walk->section != PHI__SECTION_PATHS) continue;
        kept = (phi__reading_answers *)phi_arena_alloc(&r->tree, sizeof *kept);
        if (kept == NULL) return false;
        kept->path = path;
        kept->method = phi_str_of(phi__reading_methods[i].key);
        kept->node = answers;
        kept->next = walk->answers;
        walk->answers = kept;
    }
    return true;
}

static void phi__reading_begin_part(phi__reading *r, phi__reading_walk *walk, phi_str name,
                                    phi_json *node) {
    phi__document_part *part = phi__document_find(r->doc, walk->section, name);
    if (part == NULL) part = phi__document_add(r->doc, walk->section, name);
    if (part == NULL ||
        ((walk->section == PHI__SECTION_PATHS || walk->section == PHI__SECTION_ITEMS) &&
         !phi__reading_prune(r, walk, name, node))) {
        (void)phi__reading_no_memory(r);
        return;
    }
    part->at = r->doc->text.len; /* if several keys are equal, the last one counts */
    part->node = node;
    walk->part = part;
    phi__json_write_writer_begin(&walk->writer, &r->doc->text, node, 0);
}

static size_t phi__reading_parts(phi__reading *r, phi__reading_walk *walk, size_t units) {
    if (walk->part != NULL) {
        size_t before = r->doc->text.len;
        phi_status status = phi__json_write_writer_advance(&walk->writer, units);
        size_t written = r->doc->text.len - before;
        if (status == PHI_BUSY) return written;
        phi__json_write_writer_end(&walk->writer);
        if (status == PHI_NO_MEMORY || r->doc->text.failed)
            (void)phi__reading_no_memory(r);
        else if (status != PHI_OK)
            (void)phi__reading_fail(r, status, "the document is nested too deeply");
        walk->part->len = r->doc->text.len - walk->part->at;
        if (!walk->wants_answers && r->status == PHI_BUSY)
            walk->wants_answers =
                phi__str_find(phi__str(r->doc->text.at + walk->part->at, walk->part->len), 0,
                              "/responses/") != SIZE_MAX;
        walk->part = NULL;
        return written;
    }
    if (walk->section == PHI__SECTION_COUNT) {
        walk->state = PHI__READING_OPERATIONS;
        walk->it = phi_json_each(phi__reading_section(r, PHI__SECTION_PATHS));
        return 0;
    }
    if (walk->section == PHI__SECTION_RESPONSES && !walk->wants_answers)
        walk->section = PHI__SECTION_ROOT;
    if (walk->section == PHI__SECTION_ANSWERS) {
        /* Begins a part with the responses of one operation. */
        char bytes[PHI__READING_NAME];
        phi__reading_answers *one = walk->answers;
        phi_str name;
        if (one == NULL) {
            walk->section = PHI__SECTION_ROOT;
            return 0;
        }
        walk->answers = one->next;
        if (phi__document_answers(one->path, one->method, bytes, sizeof bytes, &name))
            phi__reading_begin_part(r, walk, name, one->node);
        return PHI__READING_ENTRY;
    }
    if (walk->section == PHI__SECTION_ROOT) {
        /* Begins the part with the servers and the security of the document. */
        static const char *const kept[] = {"servers", "security"};
        phi_json *node = phi_json_new_object(&r->tree);
        for (size_t i = 0; node != NULL && i < PHI__COUNT(kept); i++) {
            phi_json *value = phi_json_remove(r->root, kept[i]);
            if (value != NULL && phi_json_set(&r->tree, node, kept[i], value) != PHI_OK)
                node = NULL;
        }
        if (node == NULL)
            (void)phi__reading_no_memory(r);
        else
            phi__reading_begin_part(r, walk, PHI__LIT(""), node);
        walk->section = PHI__SECTION_COUNT;
        return PHI__READING_ENTRY;
    }
    if (!walk->entered) {
        phi_json *section = phi__reading_section(r, walk->section);
        walk->it = phi_json_each(phi_json_is(section, PHI_JSON_OBJECT) ? section : NULL);
        walk->entered = true;
    }
    if (phi_json_next(&walk->it) != NULL)
        phi__reading_begin_part(r, walk, walk->it.key, walk->it.at);
    else {
        walk->section = (phi__document_section)(walk->section + 1);
        walk->entered = false;
    }
    return PHI__READING_ENTRY;
}

/* ---- operations ---- */

static bool phi__reading_tags(phi__reading *r, phi__document_operation *op, const phi_json *tags) {
    phi_json_iter it = phi_json_each(phi_json_is(tags, PHI_JSON_ARRAY) ? tags : NULL);
    size_t count = phi__min(it.left, PHI__READING_TAGS);
    if (count == 0) return true;
    phi_str *list = (phi_str *)phi__arena_zero(&r->doc->arena, count * sizeof *list);
    if (list == NULL) return false;
    op->tags = list;
    while (op->tag_count < count && phi_json_next(&it) != NULL)
        if (!phi__arena_str(&r->doc->arena, phi__json_text_of(it.at), &list[op->tag_count++]))
            return false;
    return true;
}

static bool phi__reading_operation(phi__reading *r, phi_str path, size_t method,
                                   const phi_json *node, phi__document_part *item) {
    phi__document *doc = r->doc;
    void *grown =
        phi__grow(doc->memory, doc->operations, &doc->cap, doc->count + 1, sizeof *doc->operations);
    if (grown == NULL) return false;
    doc->operations = (phi__document_operation *)grown;
    phi__document_operation *op = &doc->operations[doc->count++];
    phi_openapi_operation *shown = &op->shown;
    memset(op, 0, sizeof *op);
    op->item = item;
    shown->path = path;
    shown->method = phi_str_of(phi__reading_methods[method].shown);
    shown->deprecated = phi__records_get_bool(node, "deprecated");
    shown->destructive = phi__str_is(shown->method, "DELETE");
    shown->read_only = phi__reading_methods[method].read_only;
    if (!phi_json_is(node, PHI_JSON_OBJECT))
        op->skip = "expected an object that describes the operation";
    return phi__arena_str(&r->doc->arena, phi__records_get_str(node, "operationId"),
                          &shown->operation_id) &&
           phi__reading_tags(r, op, phi_json_get(node, "tags"));
}

/* Returns the part that a path item's "$ref" leads to. NULL if none; *why has the reason. */
static phi__document_part *phi__reading_item_ref(phi__reading *r, phi_str ref, const char **why) {
    phi__document_part *part = NULL;
    phi_str rest;
    for (int links = 0; links < 8; links++) {
        if (!phi__document_locate(r->doc, ref, &part, &rest, why)) return NULL;
        *why = " leads to no path item";
        if (rest.len > 0 ||
            (part->section != PHI__SECTION_ITEMS && part->section != PHI__SECTION_PATHS))
            return NULL;
        const phi_json *next = phi_json_get(part->node, "$ref");
        if (!phi_json_is(next, PHI_JSON_STRING)) return part;
        ref = phi__json_text_of(next);
    }
    *why = " leads in a circle";
    return NULL;
}

/* Adds one skipped entry for all operations of a path item whose reference cannot be followed. */
static bool phi__reading_lost_item(phi__reading *r, phi_str path, phi_str ref, const char *why) {
    char words[240];
    phi_str text;
    if (!phi__reading_operation(r, path, 0, r->root, NULL)) return false;
    (void)snprintf(words, sizeof words, "the path item: \"$ref\" %.*s%s",
                   (int)phi__utf8_cut(ref, 120), ref.at, why);
    if (!phi__arena_str(&r->doc->arena, phi_str_of(words), &text)) return false;
    r->doc->operations[r->doc->count - 1].skip = text.at;
    return true;
}

static bool phi__reading_item(phi__reading *r, phi_str key, const phi_json *item) {
    phi__document_part *own = phi__document_find(r->doc, PHI__SECTION_PATHS, key), *other = NULL;
    const phi_json *ref = phi_json_get(item, "$ref"), *target = NULL;
    const char *why = NULL;
    bool fine = true;
    /* If several paths are equal, the last one counts. Keys without a slash are extensions. */
    if (own == NULL || key.len == 0 || key.at[0] != '/' || own->node != item) return true;
    if (phi_json_is(ref, PHI_JSON_STRING)) {
        other = phi__reading_item_ref(r, phi__json_text_of(ref), &why);
        if (other == NULL) return phi__reading_lost_item(r, own->name, phi__json_text_of(ref), why);
        target = other->node;
    }
    for (size_t i = 0; fine && i < PHI__COUNT(phi__reading_methods); i++) {
        const phi_json *node = phi_json_get(item, phi__reading_methods[i].key);
        if (node != NULL)
            fine = phi__reading_operation(r, own->name, i, node, own);
        else if ((node = phi_json_get(target, phi__reading_methods[i].key)) != NULL)
            fine = phi__reading_operation(r, own->name, i, node, other);
    }
    return fine;
}

static size_t phi__reading_more(phi__reading *r, phi__reading_walk *walk, size_t units) {
    phi__buf *text = &r->doc->text;
    void *exact;
    switch (walk->state) {
    case PHI__READING_SOURCE:
#ifndef PHI_NO_FILES
        if (r->file != NULL) return phi__reading_file(r);
#endif
        walk->state = PHI__READING_PARSE;
        return 0;
    case PHI__READING_PARSE: return phi__reading_parse(r, walk, units);
    case PHI__READING_PARTS: return phi__reading_parts(r, walk, units);
    case PHI__READING_OPERATIONS: {
        if (phi_json_next(&walk->it) == NULL) {
            walk->state = PHI__READING_NAMES;
            return 0;
        }
        if (!phi__reading_item(r, walk->it.key, walk->it.at)) (void)phi__reading_no_memory(r);
        return PHI__READING_ENTRY * 8;
    }
    case PHI__READING_NAMES: {
        size_t count = units / PHI__READING_NAMED + 1;
        phi_status status =
            phi__naming_advance(&walk->naming, r->doc, r->prefix, r->skip_unnamed, count);
        if (status == PHI_NO_MEMORY) (void)phi__reading_no_memory(r);
        if (status != PHI_BUSY) walk->state = PHI__READING_DONE;
        return units;
    }
    case PHI__READING_DONE:
    default:
        exact = phi__realloc(text->memory, text->at, text->cap, text->len);
        if (exact != NULL) {
            text->at = (char *)exact;
            text->cap = text->len;
        }
        if (r->status == PHI_BUSY) r->status = PHI_OK;
        return units;
    }
}

static phi_status phi__reading_advance(phi__reading *r, size_t units) {
    if (r->status == PHI_BUSY && r->walk == NULL) {
        r->walk = (phi__reading_walk *)phi__arena_zero(&r->tree, sizeof *r->walk);
        if (r->walk == NULL) return phi__reading_no_memory(r);
    }
    while (r->status == PHI_BUSY) {
        size_t took = phi__reading_more(r, r->walk, units);
        if (took >= units) break;
        units -= took;
    }
    return r->status;
}

static void phi__reading_end(phi__reading *r) {
    if (r->walk != NULL && r->walk->part != NULL) phi__json_write_writer_end(&r->walk->writer);
    if (r->walk != NULL && r->walk->naming.begun) phi__tool_name_free(&r->walk->naming.names);
    r->walk = NULL;
#ifndef PHI_NO_FILES
    phi__files_close(r->file);
    r->file = NULL;
#endif
    phi_arena_free(&r->tree);
    phi__buf_free(&r->source);
    r->root = NULL;
}

/* ---- settings: a copy with its defaults resolved ---- */

enum {
    PHI__SETTINGS_TIMEOUT_MS = 30000, /* defaults of phi_openapi_desc */
    PHI__SETTINGS_RESPONSE_BYTES = 65536,
    PHI__SETTINGS_DOCUMENT_BYTES = 67108864,
    PHI__SETTINGS_SCHEMA_BYTES = 65536
};

static bool phi__settings_line(const char *text) {
    return text == NULL || strpbrk(text, "\r\n") == NULL;
}

static bool phi__settings_pairs(const phi_openapi_pair *pairs, size_t count) {
    if (count > 0 && pairs == NULL) return false;
    for (size_t i = 0; i < count; i++)
        if (pairs[i].name == NULL || pairs[i].value == NULL || pairs[i].name[0] == '\0' ||
            !phi__settings_line(pairs[i].name) || !phi__settings_line(pairs[i].value))
            return false;
    return true;
}

/* Returns a static message about a fault of `desc`; NULL if there is none. */
static const char *phi__settings_refuse(const phi_openapi_desc *desc) {
    const phi_openapi_auth *auth = &desc->auth;
    if (!phi__settings_pairs(desc->headers, desc->header_count))
        return "headers: each needs a name and a value, without line breaks";
    for (size_t i = 0; i < desc->header_count; i++)
        if (strpbrk(desc->headers[i].name, ": \t") != NULL)
            return "headers: a name holds a colon or a blank";
    if (!phi__settings_pairs(auth->keys, auth->key_count))
        return "auth.keys: each needs a scheme's name and a value, without line breaks";
    if (!phi__settings_line(auth->bearer_token) || !phi__settings_line(auth->user) ||
        !phi__settings_line(auth->password) || !phi__settings_line(auth->client_id) ||
        !phi__settings_line(auth->client_secret))
        return "auth: a credential holds a line break";
    if (auth->user != NULL && strchr(auth->user, ':') != NULL)
        return "auth.user: it may not hold a colon";
    if (auth->client_secret != NULL && auth->client_id == NULL)
        return "auth.client_id is missing beside client_secret";
    return NULL;
}

/* ---- copies ---- */

static bool phi__settings_copy_pairs(phi_arena *arena, const phi_openapi_pair **pairs,
                                     size_t count) {
    if (count == 0) return true;
    phi_openapi_pair *copy =
        (phi_openapi_pair *)phi__arena_zero(arena, phi__mul(count, sizeof *copy));
    if (copy == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        copy[i] = (*pairs)[i];
        if (!phi__keep_text(arena, &copy[i].name) || !phi__keep_text(arena, &copy[i].value))
            return false;
    }
    *pairs = copy;
    return true;
}

/* ---- a document from its URL ---- */

enum {
    PHI__ADDRESS_REDIRECTS = 5,
    PHI__ADDRESS_MOST = 4096 /* bytes of an address */
};

static void phi__address_head(void *user_data, int http_status, phi_str headers) {
    phi_openapi *api = (phi_openapi *)user_data;
    phi_str location = phi__headers_value(headers, "location");
    api->address.http_status = http_status;
    api->address.location = phi__str(NULL, 0);
    bool redirect = http_status == 301 || http_status == 302 || http_status == 303 ||
                    http_status == 307 || http_status == 308;
    if (!redirect || location.len == 0) return;
    if (!phi__arena_str(&api->arena, location, &api->address.location))
        (void)phi__reading_fail(&api->reading, PHI_NO_MEMORY, "no memory for the document");
}

static size_t phi__address_body(void *user_data, phi_str bytes) {
    phi_openapi *api = (phi_openapi *)user_data;
    if (api->address.http_status / 100 == 2) (void)phi__reading_add(&api->reading, bytes);
    return bytes.len;
}

static bool phi__address_ask(phi_openapi *api, phi_str url, bool plain);

/* Requests the address in the Location header, which may be relative to the answer's address. */
static void phi__address_redirect(phi_openapi *api) {
    phi__url from, to;
    phi__buf url;
    phi__buf_init(&url, api->arena.memory);
    bool joined = phi__url_split(api->url, &from) &&
                  phi__url_resolve(&url, api->url, api->address.location) &&
                  url.len < PHI__ADDRESS_MOST && phi__url_split(phi__buf_str(&url), &to) &&
                  (to.secure || !from.secure);
    if (api->address.redirects++ == PHI__ADDRESS_REDIRECTS)
        (void)phi__reading_fail(&api->reading, PHI_REFUSED, "the document: too many redirects");
    else if (!joined)
        (void)phi__reading_fail(&api->reading, PHI_REFUSED,
                                "the document: a redirect to an address that is not followed");
    else if (!phi__address_ask(api, phi__buf_str(&url), true)) {
        phi_error error = phi_last_error(api->rt);
        (void)phi__reading_fail(&api->reading, error.status, error.message);
    }
    phi__buf_free(&url);
}

static void phi__address_end(void *user_data, phi_status status, const char *message) {
    phi_openapi *api = (phi_openapi *)user_data;
    char words[120];
    api->address.fetch = NULL;
    if (api->reading.status != PHI_BUSY) return;
    if (status != PHI_OK)
        (void)phi__reading_fail(&api->reading, status, message);
    else if (api->address.location.len > 0)
        phi__address_redirect(api);
    else if (api->address.http_status / 100 != 2) {
        (void)snprintf(words, sizeof words, "the document: HTTP status %d",
                       api->address.http_status);
        (void)phi__reading_fail(&api->reading, PHI_REFUSED, words);
    }
}

static bool phi__address_ask(phi_openapi *api, phi_str url, bool plain) {
    size_t count = plain ? 0 : api->desc.header_count;
    phi__header *headers =
        (phi__header *)phi__arena_zero(&api->arena, (count + 1) * sizeof *headers);
    phi__fetch_desc desc = PHI_ZERO;
    if (headers == NULL || !phi__arena_str(&api->arena, url, &api->url))
        return phi__error(api->rt, PHI_NO_MEMORY, "phi_openapi_new: no memory") == PHI_OK;
    headers[0].name = PHI__LIT("Accept");
    headers[0].value = PHI__LIT("application/json, application/yaml, */*;q=0.5");
    for (size_t i = 0; i < count; i++) {
        headers[i + 1].name = phi_str_of(api->desc.headers[i].name);
        headers[i + 1].value = phi_str_of(api->desc.headers[i].value);
    }
    desc.memory = &api->memory;
    desc.method = PHI__LIT("GET");
    desc.url = api->url;
    desc.headers = headers;
    desc.header_count = count + 1;
    desc.deadlines.total_ms = api->desc.timeout_ms;
    desc.max_bytes = api->desc.max_document_bytes;
    desc.on_head = phi__address_head;
    desc.on_body = phi__address_body;
    desc.on_end = phi__address_end;
    desc.user_data = api;
    return phi__fetch_open(api->rt, &desc, &api->address.fetch) == PHI_OK;
}

/* ---- the document's object ---- */

PHI__FN void phi__selection_free(phi_openapi *api, phi__selection *s) {
    phi_memory *memory = &api->memory;
    phi__selection **at = &api->selections;
    while (*at != NULL && *at != s) at = &(*at)->next;
    if (*at != NULL) *at = s->next;
    phi__free(memory, s->tools, s->tool_cap * sizeof *s->tools);
    phi__free(memory, s->operations, s->operation_cap * sizeof *s->operations);
    phi__free(memory, s->skipped, s->skip_cap * sizeof *s->skipped);
    phi_arena_free(&s->arena);
    phi__free(memory, s, sizeof *s);
}

static void phi__openapi_destroy(phi_openapi *api) {
    phi_memory *memory = &api->rt->memory;
    if (api->document != NULL) {
        phi__reading_end(&api->reading);
        phi__map_free(&api->document->parts);
        phi__buf_free(&api->document->text);
        phi__free(api->document->memory, api->document->operations,
                  phi__mul(api->document->cap, sizeof *api->document->operations));
        phi_arena_free(&api->document->arena);
        api->document->operations = NULL;
        api->document->count = api->document->cap = 0;
    }
    phi_arena_free(&api->arena);
    phi__free(memory, api, sizeof *api);
}

static bool phi__openapi_fill(phi_openapi *api, const phi_openapi_desc *desc) {
    phi__document *doc = (phi__document *)phi__arena_zero(&api->arena, sizeof *doc);
    if (doc == NULL) return false;
    /* Copies `desc` with all that it points to. NULL means defaults. */
    phi_openapi_desc *out = &api->desc;
    memset(out, 0, sizeof *out);
    if (desc != NULL) *out = *desc;
    if (out->name_prefix != NULL && out->name_prefix[0] == '\0') out->name_prefix = NULL;
    if (out->timeout_ms == 0) out->timeout_ms = PHI__SETTINGS_TIMEOUT_MS;
    if (out->max_response_bytes == 0) out->max_response_bytes = PHI__SETTINGS_RESPONSE_BYTES;
    if (out->max_document_bytes == 0) out->max_document_bytes = PHI__SETTINGS_DOCUMENT_BYTES;
    if (out->max_schema_bytes == 0) out->max_schema_bytes = PHI__SETTINGS_SCHEMA_BYTES;
    const char **const texts[] = {
        &out->base_url,       &out->response_directory, &out->name_prefix,
        &out->auth.user,      &out->auth.password,      &out->auth.bearer_token,
        &out->auth.client_id, &out->auth.client_secret, &out->auth.token_url};
    for (size_t i = 0; i < PHI__COUNT(texts); i++)
        if (!phi__keep_text(&api->arena, texts[i])) return false;
    if (!phi__settings_copy_pairs(&api->arena, &out->headers, out->header_count) ||
        !phi__settings_copy_pairs(&api->arena, &out->auth.keys, out->auth.key_count) ||
        !phi__keep_list(&api->arena, &out->upload_roots))
        return false;
    phi__document_init(doc, &api->memory);
    phi__reading_init(&api->reading, doc, api->desc.max_document_bytes);
    api->reading.prefix = api->desc.name_prefix;
    api->reading.skip_unnamed = api->desc.skip_unnamed;
    api->document = doc;
    return true;
}

/* ---- public ---- */

PHI_API phi_openapi *phi_openapi_new(phi_runtime *rt, const phi_openapi_desc *desc) {
    if (rt == NULL) return NULL;
    if (desc == NULL || (desc->text.at != NULL) + (desc->path != NULL) + (desc->url != NULL) != 1) {
        (void)phi__error(rt, PHI_BAD_ARG, "phi_openapi_new: expected one of text, path and url");
        return NULL;
    }
    const char *fault = phi__settings_refuse(desc);
    if (fault != NULL) {
        (void)phi__error(rt, PHI_BAD_ARG, "phi_openapi_new: %s", fault);
        return NULL;
    }
    phi_openapi *api = (phi_openapi *)phi__alloc(&rt->memory, sizeof *api);
    if (api != NULL) {
        api->rt = rt;
        api->step_bytes = rt->slice.budget_bytes;
        phi_memory_init(&api->memory, &rt->memory.allocator, 0);
        api->memory.parent = &rt->memory;
        phi_arena_init(&api->arena, &api->memory, 0);
    }
    if (api == NULL || !phi__openapi_fill(api, desc)) {
        if (api != NULL) phi__openapi_destroy(api);
        (void)phi__error(rt, PHI_NO_MEMORY, "phi_openapi_new: no memory");
        return NULL;
    }
    if (desc->path != NULL)
        (void)phi__reading_open(&api->reading, desc->path);
    else if (desc->url == NULL)
        (void)phi__reading_add(&api->reading, desc->text);
    else if (!phi__address_ask(api, phi_str_of(desc->url), false)) {
        phi__openapi_destroy(api);
        return NULL;
    }
    return api;
}

PHI_API phi_status phi_openapi_step(phi_openapi *api, phi_parse_error *error) {
    if (error != NULL) memset(error, 0, sizeof *error);
    if (api == NULL) return PHI_BAD_ARG;
    phi_status status = api->reading.status;
    if (status == PHI_BUSY && api->address.fetch == NULL) {
        status = phi__reading_advance(&api->reading, api->step_bytes);
        if (status != PHI_BUSY) phi__reading_end(&api->reading);
    }
    if (error != NULL) *error = api->reading.error;
    return status;
}

PHI_API void phi_openapi_free(phi_openapi *api) {
    if (api == NULL) return;
    if (api->calls_open > 0) {
        (void)phi__error(api->rt, PHI_MISUSE,
                         "phi_openapi_free: %u calls are under way: free or abort their agents",
                         (unsigned)api->calls_open);
        return;
    }
    phi__fetch_close(api->address.fetch);
    api->address.fetch = NULL;
    phi__opcall_free(api);
    while (api->selections != NULL) phi__selection_free(api, api->selections);
    phi__openapi_destroy(api);
}

PHI_API const phi_openapi_operation *phi_openapi_operation_at(const phi_openapi *api,
                                                              size_t index) {
    if (api == NULL || api->reading.status != PHI_OK || index >= api->document->count) return NULL;
    return &api->document->operations[index].shown;
}
