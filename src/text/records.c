/* records.c - fields of a struct as members of a JSON object, by a table. */
#include "text/text_in.h"

/* ---- one member ---- */

PHI__FN void phi__records_str(phi__buf *out, const char *key, phi_str value) {
    phi__json_write_key(out, phi_str_of(key));
    phi__json_write_str(out, value);
}

PHI__FN void phi__records_raw(phi__buf *out, const char *key, const char *json) {
    phi__json_write_key(out, phi_str_of(key));
    phi__buf_text(out, json);
}

PHI__FN void phi__records_strs(phi__buf *out, const char *key, const phi_str *items, size_t count) {
    phi__records_raw(out, key, "[");
    for (size_t i = 0; i < count; i++) {
        phi__json_write_comma(out);
        phi__json_write_str(out, items[i]);
    }
    phi__buf_char(out, ']');
}

PHI__FN void phi__records_option(phi__buf *out, const char *key, phi_str value) {
    if (value.len > 0)
        phi__records_str(out, key, value);
    else
        phi__records_raw(out, key, "null");
}

PHI__FN void phi__records_some(phi__buf *out, const char *key, phi_str value) {
    if (value.len > 0) phi__records_str(out, key, value);
}

PHI__FN void phi__records_u64(phi__buf *out, const char *key, uint64_t n) {
    phi__json_write_key(out, phi_str_of(key));
    phi__json_number_put_u64(out, n);
}

PHI__FN void phi__records_i64(phi__buf *out, const char *key, int64_t n) {
    phi__json_write_key(out, phi_str_of(key));
    phi__json_number_put_i64(out, n);
}

PHI__FN void phi__records_double(phi__buf *out, const char *key, double d) {
    phi__json_write_key(out, phi_str_of(key));
    phi__json_number_put_double(out, d);
}

PHI__FN void phi__records_bool(phi__buf *out, const char *key, bool b) {
    phi__json_write_key(out, phi_str_of(key));
    phi__json_write_bool(out, b);
}

PHI__FN void phi__records_true(phi__buf *out, const char *key, bool b) {
    if (b) phi__records_raw(out, key, "true");
}

PHI__FN void phi__records_time(phi__buf *out, const char *key, int64_t ms) {
    char text[PHI__DATE_BYTES];
    phi__records_str(out, key, phi__str(text, phi__date_put(ms, text)));
}

PHI__FN uint64_t phi__records_get_u64(const phi_json *node, const char *key) {
    return phi__json_get_uint(phi_json_get(node, key), 0);
}

PHI__FN uint32_t phi__records_get_u32(const phi_json *node, const char *key) {
    uint64_t n = phi__records_get_u64(node, key);
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

PHI__FN size_t phi__records_get_size(const phi_json *node, const char *key) {
    uint64_t n = phi__records_get_u64(node, key);
    return n > SIZE_MAX ? SIZE_MAX : (size_t)n;
}

PHI__FN double phi__records_get_double(const phi_json *node, const char *key) {
    return phi_json_num(phi_json_get(node, key), 0);
}

PHI__FN bool phi__records_get_bool(const phi_json *node, const char *key) {
    return phi_json_bool(phi_json_get(node, key), false);
}

PHI__FN phi_str phi__records_get_str(const phi_json *node, const char *key) {
    return phi_json_str(phi_json_get(node, key), "");
}

PHI__FN int64_t phi__records_get_time(const phi_json *node, const char *key) {
    int64_t ms = 0;
    (void)phi__date_get(phi__records_get_str(node, key), &ms);
    return ms;
}

/* ---- integers of any size ---- */

static uint64_t phi__records_load(const void *at, size_t size) {
    uint64_t n64 = 0;
    uint32_t n32;
    uint16_t n16;
    uint8_t n8;
    switch (size) {
    case 1: memcpy(&n8, at, 1); return n8;
    case 2: memcpy(&n16, at, 2); return n16;
    case 4: memcpy(&n32, at, 4); return n32;
    default: memcpy(&n64, at, 8); return n64;
    }
}

static void phi__records_store(void *at, size_t size, uint64_t n) {
    uint32_t n32 = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
    uint16_t n16 = n > UINT16_MAX ? (uint16_t)UINT16_MAX : (uint16_t)n;
    uint8_t n8 = n > UINT8_MAX ? (uint8_t)UINT8_MAX : (uint8_t)n;
    switch (size) {
    case 1: memcpy(at, &n8, 1); break;
    case 2: memcpy(at, &n16, 2); break;
    case 4: memcpy(at, &n32, 4); break;
    default: memcpy(at, &n, 8); break;
    }
}

/* ---- tables ---- */

PHI__FN void phi__records_put(phi__buf *out, const phi__field *fields, size_t count,
                              const void *from) {
    for (size_t i = 0; i < count; i++) {
        const phi__field *field = &fields[i];
        const void *at = (const char *)from + field->offset;
        uint64_t n = 0;
        phi_str s;
        double d;
        if (field->kind == PHI__FIELD_STR) {
            memcpy(&s, at, sizeof s);
            if (s.len > 0 || field->rule == PHI__FIELD_ALWAYS)
                phi__records_str(out, field->key, s);
            else if (field->rule == PHI__FIELD_OPTION)
                phi__records_raw(out, field->key, "null");
            continue;
        }
        n = phi__records_load(at, field->size);
        if (n == 0 && field->rule != PHI__FIELD_ALWAYS) {
            if (field->rule == PHI__FIELD_OPTION) phi__records_raw(out, field->key, "null");
            continue;
        }
        switch (field->kind) {
        case PHI__FIELD_BOOL: phi__records_bool(out, field->key, n != 0); break;
        case PHI__FIELD_UINT: phi__records_u64(out, field->key, n); break;
        case PHI__FIELD_TIME: phi__records_time(out, field->key, (int64_t)n); break;
        default:
            memcpy(&d, at, sizeof d);
            phi__records_double(out, field->key, d);
            break;
        }
    }
}

PHI__FN bool phi__records_get(const phi_json *node, const phi__field *fields, size_t count,
                              void *to, phi_arena *arena) {
    bool good = true, b;
    for (size_t i = 0; i < count; i++) {
        const phi__field *field = &fields[i];
        void *at = (char *)to + field->offset;
        phi_str s;
        double d;
        switch (field->kind) {
        case PHI__FIELD_STR:
            s = phi__records_get_str(node, field->key);
            if (arena != NULL && s.len == 0) s = PHI__LIT(""); /* an empty string is not copied */
            if (arena != NULL && s.len > 0 && !phi__arena_str(arena, s, &s)) {
                s = phi__str(NULL, 0);
                good = false;
            }
            memcpy(at, &s, sizeof s);
            break;
        case PHI__FIELD_BOOL:
            b = phi__records_get_bool(node, field->key);
            memcpy(at, &b, sizeof b);
            break;
        case PHI__FIELD_UINT:
            phi__records_store(at, field->size, phi__records_get_u64(node, field->key));
            break;
        case PHI__FIELD_TIME:
            phi__records_store(at, field->size, (uint64_t)phi__records_get_time(node, field->key));
            break;
        default:
            d = phi__records_get_double(node, field->key);
            memcpy(at, &d, sizeof d);
            break;
        }
    }
    return good;
}
