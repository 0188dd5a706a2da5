/* document.c - the parts of a document, and references between them. */
#include "openapi/document_in.h"

#include "base/utf8_in.h"
#include "wire/hash_in.h"

#include <stdio.h>

enum {
    PHI__DOCUMENT_CHAIN = 32, /* references that lead to references */
    PHI__DOCUMENT_STEP = 1024 /* bytes of a step of a pointer */
};

typedef struct phi__document_parsed {
    struct phi__document_parsed *next;
    const phi__document_part *part;
    phi_json *root;
} phi__document_parsed;

static const char *const phi__document_sections[PHI__SECTION_COUNT] = {
    "schemas",   "parameters", "requestBodies", "headers", "securitySchemes",
    "pathItems", "paths",      "responses",     "",        ""};

PHI__FN void phi__document_init(phi__document *doc, phi_memory *memory) {
    memset(doc, 0, sizeof *doc);
    doc->memory = memory;
    phi_arena_init(&doc->arena, memory, 0);
    phi__buf_init(&doc->text, memory);
    phi__map_init(&doc->parts, memory);
}

PHI__FN void phi__document_free(phi__document *doc) {
    phi__map_free(&doc->parts);
    phi__buf_free(&doc->text);
    phi__free(doc->memory, doc->operations, phi__mul(doc->cap, sizeof *doc->operations));
    phi_arena_free(&doc->arena);
    doc->operations = NULL;
    doc->count = doc->cap = 0;
}

PHI__FN const char *phi__document_section_name(phi__document_section section) {
    return phi__document_sections[section];
}

/* ---- parts ---- */

PHI__FN phi__document_part *phi__document_find(const phi__document *doc,
                                               phi__document_section section, phi_str name) {
    uint64_t hash = phi__hash(name, (uint64_t)section);
    size_t probe = 0;
    phi__document_part *part;
    while ((part = (phi__document_part *)phi__map_each(&doc->parts, hash, &probe)) != NULL)
        if (part->section == section && phi_str_equal(part->name, name)) return part;
    return NULL;
}

PHI__FN phi__document_part *phi__document_add(phi__document *doc, phi__document_section section,
                                              phi_str name) {
    phi__document_part *part;
    if (!phi__map_room(&doc->parts)) return NULL;
    part = (phi__document_part *)phi__arena_zero(&doc->arena, sizeof *part);
    if (part == NULL || !phi__arena_str(&doc->arena, name, &part->name)) return NULL;
    part->section = section;
    phi__map_add(&doc->parts, phi__hash(name, (uint64_t)section), part);
    return part;
}

PHI__FN phi__document_operation *phi__document_add_operation(phi__document *doc) {
    phi__document_operation *at;
    if (doc->count == doc->cap) {
        void *grown = phi__grow(doc->memory, doc->operations, &doc->cap, doc->count + 1,
                                sizeof *doc->operations);
        if (grown == NULL) return NULL;
        doc->operations = (phi__document_operation *)grown;
    }
    at = &doc->operations[doc->count++];
    memset(at, 0, sizeof *at);
    return at;
}

/* ---- pointers ---- */

static int phi__document_hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

PHI__FN bool phi__document_step(phi_str *rest, char *out, size_t size, phi_str *step) {
    size_t i = 1, n = 0;
    if (rest->len == 0 || rest->at[0] != '/') return false;
    for (; i < rest->len && rest->at[i] != '/'; i++) {
        char c = rest->at[i];
        if (c == '~' && i + 1 < rest->len && (rest->at[i + 1] == '0' || rest->at[i + 1] == '1'))
            c = rest->at[++i] == '1' ? '/' : '~';
        else if (c == '%' && i + 2 < rest->len && phi__document_hex(rest->at[i + 1]) >= 0 &&
                 phi__document_hex(rest->at[i + 2]) >= 0) {
            c = (char)(phi__document_hex(rest->at[i + 1]) * 16 +
                       phi__document_hex(rest->at[i + 2]));
            i += 2;
        }
        if (n == size) return false;
        out[n++] = c;
    }
    *rest = phi__str(rest->at + i, rest->len - i);
    *step = phi__str(out, n);
    return true;
}

PHI__FN bool phi__document_answers(phi_str path, phi_str method, char *out, size_t size,
                                   phi_str *name) {
    if (path.len >= size || method.len >= size - path.len) return false;
    memcpy(out, method.at, method.len);
    if (path.len > 0) memcpy(out + method.len, path.at, path.len);
    *name = phi__str(out, method.len + path.len);
    return true;
}

/* A pointer into the responses of an operation, which are a part of their own: "/get/responses"
   behind the path. */
static bool phi__document_in_answers(const phi__document *doc, phi_str path,
                                     phi__document_part **part, phi_str *rest) {
    char method[16], word[16], name[PHI__DOCUMENT_STEP + 16];
    phi_str after = *rest, step, key;
    if (!phi__document_step(&after, method, sizeof method, &step)) return false;
    key = step;
    if (!phi__document_step(&after, word, sizeof word, &step) || !phi__str_is(step, "responses") ||
        !phi__document_answers(path, key, name, sizeof name, &key))
        return false;
    *part = phi__document_find(doc, PHI__SECTION_ANSWERS, key);
    if (*part != NULL) *rest = after;
    return *part != NULL;
}

PHI__FN bool phi__document_locate(const phi__document *doc, phi_str ref, phi__document_part **part,
                                  phi_str *rest, const char **why) {
    char bytes[PHI__DOCUMENT_STEP];
    phi_str step;
    unsigned i;
    *why = " leads to another document, and such references are not followed";
    if (ref.len == 0 || ref.at[0] != '#') return false;
    *why = " is no JSON Pointer, and other references are not followed";
    *rest = phi__str(ref.at + 1, ref.len - 1);
    if (!phi__document_step(rest, bytes, sizeof bytes, &step)) return false;
    *why = " leads to a part that is not kept";
    i = PHI__SECTION_PATHS;
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

static const phi_json *phi__document_item(const phi_json *array, phi_str step) {
    uint64_t index;
    return phi__str_to_u64(step, &index) && index < phi_json_count(array)
               ? phi_json_at(array, (size_t)index)
               : NULL;
}

PHI__FN const phi_json *phi__document_walk(const phi_json *node, phi_str rest) {
    char bytes[PHI__DOCUMENT_STEP];
    phi_str step;
    while (node != NULL && phi__document_step(&rest, bytes, sizeof bytes, &step))
        node = phi_json_is(node, PHI_JSON_ARRAY) ? phi__document_item(node, step)
                                                 : phi__json_get_n(node, step);
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
    const phi_json *node;
    phi_str rest = {NULL, 0};
    const char *why = NULL;
    if (!phi__document_locate(view->doc, ref, &part, &rest, &why))
        return phi__document_refuse(view, ref, why);
    node = phi__document_tree(view, part);
    if (view->no_memory) return NULL;
    node = phi__document_walk(node, rest);
    return node != NULL ? node : phi__document_refuse(view, ref, " leads nowhere");
}

PHI__FN const phi_json *phi__document_follow(phi__document_view *view, const phi_json *node) {
    phi_str ref = {NULL, 0};
    int links;
    for (links = 0; node != NULL && links < PHI__DOCUMENT_CHAIN; links++) {
        const phi_json *next = phi_json_get(node, "$ref");
        if (!phi_json_is(next, PHI_JSON_STRING)) return node;
        ref = phi__json_text_of(next);
        node = phi__document_target(view, ref);
    }
    return node == NULL ? NULL : phi__document_refuse(view, ref, " leads in a circle");
}
