/* config_put.c - a struct of a table, as the values of a file: the way back of config_take.c. */
#include "config/config_agents_in.h"

static uint64_t phi__config_put_unsigned(const phi__config_field *field, const char *at) {
    uint8_t small;
    uint32_t middle;
    uint64_t large;
    if (field->size == sizeof large) {
        memcpy(&large, at, sizeof large);
        return large;
    }
    if (field->size == sizeof middle) {
        memcpy(&middle, at, sizeof middle);
        return middle;
    }
    memcpy(&small, at, sizeof small);
    return small;
}

/* The largest value of the type: "unlimited", where the field has such a word. */
static bool phi__config_put_is_most(const phi__config_field *field, uint64_t value) {
    uint64_t most = field->size == sizeof(uint64_t) ? UINT64_MAX : UINT32_MAX;
    return (field->flags & PHI__CONFIG_NO_LIMIT) != 0 && value == most;
}

static phi_json *phi__config_put_choice(phi_arena *arena, const phi__config_field *field,
                                        const char *at, bool *skip) {
    const phi__config_choice *choice = field->choices;
    int value;
    memcpy(&value, at, sizeof value);
    while (choice->name[0] != '\0' && (choice->value != value || choice->alias)) choice++;
    *skip = choice->name[0] == '\0';
    return phi__json_edit_text(arena, choice->name);
}

PHI__FN phi_json *phi__config_put_text(phi_arena *arena, const char *text) {
    phi_str rest = phi_str_of(text), out;
    size_t found, at = 0, n = 0;
    char *copy = phi__arena_bytes(arena, phi__add(phi__add(rest.len, rest.len / 2), 1));
    if (copy == NULL) return NULL;
    while ((found = phi__str_find(rest, at, "${")) != SIZE_MAX) {
        memcpy(copy + n, rest.at + at, found - at);
        n += found - at;
        memcpy(copy + n, "$${", 3);
        n += 3;
        at = found + 2;
    }
    memcpy(copy + n, rest.at + at, rest.len - at);
    out = phi__str(copy, n + rest.len - at);
    return phi_json_new_str(arena, out);
}

/* The value of a field; *skip: it is the one that zero means, or no file says it. */
static phi_json *phi__config_put_value(phi_arena *arena, const phi__config_field *field,
                                       const char *at, bool has, bool *skip) {
    const char *text;
    double number;
    uint64_t value;
    bool flag;
    *skip = false;
    switch (field->kind) {
    case PHI__CONFIG_TEXT:
        memcpy(&text, at, sizeof text);
        *skip = text == NULL || text[0] == '\0';
        if (*skip) return NULL;
        if ((field->flags & PHI__CONFIG_SECRET) != 0)
            return phi__json_edit_text(arena, "${API_KEY}");
        return phi__config_put_text(arena, text);
    case PHI__CONFIG_BOOL:
        memcpy(&flag, at, sizeof flag);
        *skip = !flag && !has;
        return phi_json_new_bool(arena, flag);
    case PHI__CONFIG_NUMBER:
        memcpy(&number, at, sizeof number);
        *skip = !(number > 0) && !has;
        return phi_json_new_num(arena, number);
    case PHI__CONFIG_INTEGER:
    case PHI__CONFIG_SECONDS:
        value = phi__config_put_unsigned(field, at);
        *skip = value == 0 && !has;
        if (phi__config_put_is_most(field, value)) return phi__json_edit_text(arena, "unlimited");
        return field->kind == PHI__CONFIG_SECONDS ? phi_json_new_num(arena, (double)value / 1000)
                                                  : phi__json_edit_uint(arena, value);
    case PHI__CONFIG_CHOICE: return phi__config_put_choice(arena, field, at, skip);
    default: *skip = true; return NULL; /* the caller's */
    }
}

/* ---- for other modules ---- */

PHI__FN void phi__config_put_mark(const phi__config_table *table, void *taken, const char *key) {
    uint64_t set;
    size_t i;
    if (phi__config_fields_find(table, phi_str_of(key), &i) == NULL) return;
    memcpy(&set, taken, sizeof set);
    set |= (uint64_t)1 << i;
    memcpy(taken, &set, sizeof set);
}

PHI__FN bool phi__config_put_table(phi_arena *arena, const phi__config_table *table,
                                   const void *taken, phi_json *out) {
    const phi__config_field *field;
    size_t i;
    for (i = 0; (field = phi__config_fields_at(table, i)) != NULL; i++) {
        bool skip;
        bool has = phi__config_fields_has(table, taken, field->key);
        phi_json *value =
            phi__config_put_value(arena, field, (const char *)taken + field->offset, has, &skip);
        if (skip) continue;
        if (phi_json_set(arena, out, field->key, value) != PHI_OK) return false;
    }
    return true;
}

PHI__FN bool phi__config_put_bits(phi_arena *arena, const phi__config_choice *choices,
                                  uint32_t bits, const char *key, phi_json *out) {
    phi_json *list = phi_json_new_array(arena);
    if (bits == 0) return true;
    for (; choices->name[0] != '\0'; choices++)
        if (!choices->alias && (bits & (uint32_t)choices->value) != 0 &&
            phi_json_add(list, phi__json_edit_text(arena, choices->name)) != PHI_OK)
            return false;
    return phi_json_set(arena, out, key, list) == PHI_OK;
}
