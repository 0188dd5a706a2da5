/* opaque.c - edits of JSON text that leave all other bytes alone. */
#include "wire/opaque_in.h"

#include "base/utf8_in.h"

PHI__FN bool phi__opaque_find(phi_str object, phi_str key, phi_str *value) {
    phi__json_cursor c;
    phi__json_text name;
    bool found = false;
    phi__json_cursor_init(&c, object);
    if (!phi__json_cursor_enter_object(&c)) return false;
    while (phi__json_cursor_next_key(&c, &name)) {
        if (phi__json_cursor_text_is(name, key))
            found = phi__json_cursor_take_raw(&c, value);
        else
            (void)phi__json_cursor_skip(&c);
    }
    return found && phi__json_cursor_done(&c);
}

PHI__FN bool phi__opaque_set(phi__buf *out, phi_str object, phi_str key, phi_str value) {
    phi_str old, inside;
    size_t head;
    object = phi__str_trim(object);
    if (object.len < 2 || object.at[0] != '{' || object.at[object.len - 1] != '}') return false;
    if (phi__opaque_find(object, key, &old)) {
        head = (size_t)(old.at - object.at);
        phi__buf_add(out, object.at, head);
        phi__buf_add_str(out, value);
        phi__buf_add(out, old.at + old.len, object.len - head - old.len);
        return true;
    }
    inside = phi__str_trim(phi__str(object.at + 1, object.len - 2));
    phi__buf_add(out, object.at, object.len - 1);
    if (inside.len > 0) phi__buf_char(out, ',');
    phi__buf_char(out, '"');
    phi__buf_add_str(out, key);
    phi__buf_text(out, "\":");
    phi__buf_add_str(out, value);
    phi__buf_char(out, '}');
    return true;
}

PHI__FN void phi__opaque_push(phi__buf *array, phi_str item) {
    phi_str inside;
    if (array->len < 2) {
        phi__buf_clear(array);
        phi__buf_char(array, '[');
    } else {
        inside = phi__str_trim(phi__str(array->at + 1, array->len - 2));
        array->len--; /* the bracket that closed it */
        if (inside.len > 0) phi__buf_char(array, ',');
    }
    phi__utf8_repair(array, item);
    phi__buf_char(array, ']');
}

static bool phi__opaque_knows(const char *const *known, phi__json_text key) {
    for (; *known != NULL; known++)
        if (phi__json_cursor_text_is(key, phi_str_of(*known))) return true;
    return false;
}

PHI__FN void phi__opaque_members(phi__buf *out, phi_str object, const char *const *known) {
    phi__json_cursor c;
    phi__json_text key;
    phi_str value;
    size_t from = out->len;
    phi__json_cursor_init(&c, object);
    if (!phi__json_cursor_enter_object(&c)) return;
    while (phi__json_cursor_next_key(&c, &key)) {
        if (phi__opaque_knows(known, key) || phi__json_cursor_peek(&c) == PHI_JSON_NULL) {
            (void)phi__json_cursor_skip(&c);
            continue;
        }
        if (!phi__json_cursor_take_raw(&c, &value)) return;
        phi__buf_text(out, out->len > from ? ",\"" : "\"");
        phi__utf8_repair(out, phi__str(key.at, key.len));
        phi__buf_text(out, "\":");
        phi__utf8_repair(out, value);
    }
}

PHI__FN void phi__opaque_rest(phi__buf *out, phi_str object, const char *const *known) {
    size_t from = out->len;
    phi__buf_char(out, '{');
    phi__opaque_members(out, object, known);
    if (out->len > from + 1)
        phi__buf_char(out, '}');
    else if (!out->failed)
        out->len = from;
}
