/* naming.c - names for operations. */
#include "openapi/naming_in.h"

#include "base/sha256_in.h"

/* "get_pets_petId" of GET /pets/{petId}. */
static void phi__naming_path(phi__tool_name *name, const phi_openapi_operation *op) {
    bool gap = true;
    size_t i;
    name->exact = false;
    for (i = 0; i < op->method.len; i++)
        phi__tool_name_put(name, (char)(op->method.at[i] | 0x20)); /* in lower case */
    for (i = 0; i < op->path.len; i++) {
        char c = op->path.at[i];
        if (!phi__tool_name_plain(c)) {
            gap = true;
            continue;
        }
        if (gap) phi__tool_name_put(name, '_');
        gap = false;
        phi__tool_name_put(name, c);
    }
}

static phi__tool_name phi__naming_of(const phi_openapi_operation *op, const char *prefix) {
    phi_str id = op->operation_id;
    phi__tool_name name;
    phi__tool_name_begin(&name, prefix, id.len > 0 ? id.at[0] : 'a');
    if (id.len > 0)
        phi__tool_name_text(&name, id);
    else
        phi__naming_path(&name, op);
    return name;
}

/* The name of one operation; a tail that is taken, which takes a document made for it, moves on. */
static bool phi__naming_one(phi__naming *n, phi__document *doc, phi__document_operation *op,
                            const char *prefix) {
    phi__tool_name name = phi__naming_of(&op->shown, prefix);
    unsigned char hash[PHI__SHA256_BYTES];
    phi__sha256 sha;
    phi_status status;
    phi__sha256_begin(&sha);
    phi__sha256_add(&sha, op->shown.method.at, op->shown.method.len);
    phi__sha256_add(&sha, " ", 1);
    phi__sha256_add(&sha, op->shown.path.at, op->shown.path.len);
    phi__sha256_end(&sha, hash);
    status = phi__tool_name_claim(&n->names, &name, hash);
    if (status == PHI_NO_MEMORY) return false;
    if (status != PHI_OK) op->skip = "its name is taken";
    return phi__arena_str(&doc->arena, phi__str(name.at, name.len), &op->shown.name);
}

static bool phi__naming_begin(phi__naming *n, const phi__document *doc) {
    if (n->begun) return true;
    n->begun = true;
    phi__tool_name_init(&n->names, doc->memory);
    return phi__tool_name_reserve(&n->names, doc->count);
}

PHI__FN phi_status phi__naming_advance(phi__naming *n, phi__document *doc, const char *prefix,
                                       bool skip_unnamed, size_t count) {
    if (!phi__naming_begin(n, doc)) return PHI_NO_MEMORY;
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

PHI__FN void phi__naming_end(phi__naming *n) {
    if (!n->begun) return;
    phi__tool_name_free(&n->names);
    n->begun = false;
}
