/* assembly_opaque.c - blocks that phi does not interpret: their JSON and changes of its members. */
#include "wire/assembly_in.h"

#include "wire/opaque_in.h"

PHI__FN size_t phi__assembly_opaque(phi__assembly *a, phi_str type, phi_str json, int64_t key,
                                    bool open) {
    size_t block = phi__assembly_open(a, PHI_CONTENT_OPAQUE, key);
    if (block == SIZE_MAX) return block;
    phi__assembly_set(a, &a->drafts[block].name, type);
    phi__assembly_set(a, &a->drafts[block].replay, json);
    if (!open) phi__assembly_close(a, block);
    return block;
}

/* The buffer's text with another value of a member. */
static void phi__assembly_opaque_put(phi__assembly *a, phi__buf *json, phi_str key, phi_str value) {
    phi__buf now;
    phi__buf_init(&now, a->memory);
    if (phi__opaque_set(&now, phi__buf_str(json), key, value))
        phi__assembly_set(a, json, phi__buf_str(&now));
    if (now.failed) a->no_memory = true;
    phi__buf_free(&now);
}

PHI__FN void phi__assembly_opaque_set(phi__assembly *a, size_t block, phi_str outer, phi_str key,
                                      phi_str value) {
    phi__buf *json = &a->drafts[block].replay, inner;
    phi_str inside;
    if (++a->drafts[block].edits > PHI__ASSEMBLY_EDITS_MOST) {
        a->drafts[block].incomplete = true;
        return;
    }
    if (outer.len == 0) {
        phi__assembly_opaque_put(a, json, key, value);
        return;
    }
    if (!phi__opaque_find(phi__buf_str(json), outer, &inside)) return;
    phi__buf_init(&inner, a->memory);
    if (phi__opaque_set(&inner, inside, key, value) && !inner.failed)
        phi__assembly_opaque_put(a, json, outer, phi__buf_str(&inner));
    if (inner.failed) a->no_memory = true;
    phi__buf_free(&inner);
}

PHI__FN void phi__assembly_opaque_close(phi__assembly *a, size_t block, phi_str outer, phi_str key,
                                        bool text) {
    phi__draft *d = &a->drafts[block];
    phi__buf value;
    if (!d->open) return;
    phi__assembly_flush(d);
    if (text) {
        phi__buf_init(&value, a->memory);
        phi__json_write_str(&value, phi__buf_str(&d->bytes));
        if (value.failed) a->no_memory = true;
        phi__assembly_opaque_set(a, block, outer, key, phi__buf_str(&value));
        phi__buf_free(&value);
    } else if (d->bytes.len > 0) {
        if (!phi__assembly_is_json(a, phi__buf_str(&d->bytes)))
            d->incomplete = true; /* it was cut; the start's JSON stays */
        else
            phi__assembly_opaque_set(a, block, outer, key, phi__buf_str(&d->bytes));
    }
    phi__buf_free(&d->bytes);
    phi__assembly_close(a, block);
}
