/* schema_ref.c - resolves "$ref" by walking the schema's tree. */
#include "wire/schema_ref_in.h"

PHI__FN bool phi__schema_ref_same_step(phi_str key, phi_str step) {
    size_t k = 0, i = 0;
    while (k < key.len && i < step.len) {
        char want = step.at[i++];
        if (want == '~' && i < step.len) want = step.at[i++] == '1' ? '/' : '~';
        if (key.at[k++] != want) return false;
    }
    return k == key.len && i == step.len;
}

PHI__FN const phi_json *phi__schema_ref_find(const phi_json *root, phi_str ref, size_t *looked) {
    const phi_json *at = root;
    size_t from = 1;
    if (ref.len == 0 || ref.at[0] != '#') return NULL;
    while (from < ref.len && at != NULL) {
        size_t end = phi__str_find(ref, from + 1, "/");
        const phi_json *found = NULL;
        phi_json_iter it = phi_json_each(at);
        if (ref.at[from] != '/' || !phi_json_is(at, PHI_JSON_OBJECT)) return NULL;
        if (end == SIZE_MAX) end = ref.len;
        *looked = phi__add(*looked, 1 + it.left);
        while (phi_json_next(&it) != NULL)
            if (phi__schema_ref_same_step(it.key, phi__str(ref.at + from + 1, end - from - 1)))
                found = it.at;
        at = found;
        from = end;
    }
    return at;
}
