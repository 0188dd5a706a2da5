/* config_take.c - fills the struct of a table from a node that fits the table. */
#include "config/config_in.h"

/* A letter of a choice: case, and - or _, make no difference. */
static char phi__cfg_take_fold(char c) {
    if (c >= 'A' && c <= 'Z') return (char)(c - 'A' + 'a');
    return c == '-' ? '_' : c;
}

const phi__cfg_choice *phi__cfg_take_choice(const phi__cfg_choice *choices, phi_str name) {
    for (; choices->name[0] != '\0'; choices++) {
        size_t i, n = strlen(choices->name);
        for (i = 0; i < n && i < name.len; i++)
            if (phi__cfg_take_fold(choices->name[i]) != phi__cfg_take_fold(name.at[i])) break;
        if (i == n && i == name.len) return choices;
    }
    return NULL;
}

uint32_t phi__cfg_take_bits(const phi__cfg_texts *texts, const phi__cfg_choice *choices) {
    uint32_t bits = 0;
    for (size_t i = 0; i < texts->count; i++) {
        const phi__cfg_choice *choice = phi__cfg_take_choice(choices, phi_str_of(texts->at[i]));
        if (choice != NULL) bits |= (uint32_t)choice->value;
    }
    return bits;
}

size_t phi__cfg_take_size(uint64_t bytes) {
    size_t size = (size_t)bytes;
    return size == bytes ? size : SIZE_MAX;
}

static bool phi__cfg_take_integer(const phi__cfg_field *field, const phi_json *node, void *to) {
    uint64_t value;
    if (phi_json_is(node, PHI_JSON_STRING)) {
        if ((field->flags & PHI__NO_LIMIT) == 0) return false;
        value = UINT64_MAX;
    } else if (field->kind == PHI__CFG_SECONDS) {
        double ms = phi_json_num(node, -1) * 1000;
        if (!(ms >= 0 && ms < (double)UINT32_MAX)) return false;
        value = (uint64_t)(ms + 0.5);
    } else if (!phi_json_is(node, PHI_JSON_INTEGER))
        return false;
    else if (phi_json_num(node, 0) < 0)
        value = (uint64_t)phi_json_int(node, 0);
    else
        value = phi__json_get_uint(node, 0);
    uint8_t u8 = (uint8_t)value;
    uint16_t u16 = (uint16_t)value;
    uint32_t u32 = (uint32_t)value;
    switch (field->size) {
    case 1: memcpy(to, &u8, 1); break;
    case 2: memcpy(to, &u16, 2); break;
    case 4: memcpy(to, &u32, 4); break;
    default: memcpy(to, &value, 8); break;
    }
    return true;
}

static bool phi__cfg_take_enum(const phi__cfg_field *field, const phi_json *node, void *to) {
    const phi__cfg_choice *choice = phi__cfg_take_choice(field->choices, phi__json_text_of(node));
    if (choice == NULL) return false;
    memcpy(to, &choice->value, sizeof choice->value);
    return true;
}

/* *no_memory is set where there is none. */
static bool phi__cfg_take_texts(phi_arena *arena, const phi_json *node, void *to, bool *no_memory) {
    phi__cfg_texts list = PHI_ZERO;
    const char **texts;
    phi_json_iter it = phi_json_each(node);
    const phi_json *item;
    if (!phi_json_is(node, PHI_JSON_ARRAY)) return false;
    texts = (const char **)phi_arena_alloc(arena, (phi_json_count(node) + 1) * sizeof *texts);
    if (texts == NULL) {
        *no_memory = true;
        return false;
    }
    while ((item = phi_json_next(&it)) != NULL)
        if (phi_json_is(item, PHI_JSON_STRING)) texts[list.count++] = item->v.str;
    texts[list.count] = NULL;
    list.at = texts;
    memcpy(to, &list, sizeof list);
    return true;
}

/* True if the value was taken. */
static bool phi__cfg_take_field(phi_arena *arena, const phi__cfg_field *field, const phi_json *node,
                                void *to, bool *no_memory) {
    switch (field->kind) {
    case PHI__CFG_TEXT:
        if (!phi_json_is(node, PHI_JSON_STRING)) return false;
        memcpy(to, &node->v.str, sizeof node->v.str);
        return true;
    case PHI__CFG_BOOL: {
        bool value = phi_json_bool(node, false);
        if (!phi_json_is(node, PHI_JSON_BOOL)) return false;
        memcpy(to, &value, sizeof value);
        return true;
    }
    case PHI__CFG_INTEGER:
    case PHI__CFG_SECONDS: return phi__cfg_take_integer(field, node, to);
    case PHI__CFG_NUMBER: {
        double value = phi_json_num(node, 0);
        if (!phi_json_is(node, PHI_JSON_NUMBER)) return false;
        memcpy(to, &value, sizeof value);
        return true;
    }
    case PHI__CFG_CHOICE: return phi__cfg_take_enum(field, node, to);
    case PHI__CFG_TEXTS: return phi__cfg_take_texts(arena, node, to, no_memory);
    default: memcpy(to, &node, sizeof node); return true;
    }
}

bool phi__cfg_take(phi_arena *arena, const phi_json *node, const phi__cfg_table *table, void *out) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *child;
    uint64_t set;
    bool no_memory = false;
    memcpy(&set, out, sizeof set);
    if (!phi_json_is(node, PHI_JSON_OBJECT)) return true;
    while ((child = phi_json_next(&it)) != NULL && !no_memory) {
        size_t i;
        const phi__cfg_field *field = phi__fields_find(table, it.key, &i);
        if (field == NULL || phi_json_is(child, PHI_JSON_NULL)) continue;
        if (phi__cfg_take_field(arena, field, child, (char *)out + field->offset, &no_memory))
            set |= (uint64_t)1 << i;
    }
    memcpy(out, &set, sizeof set);
    return !no_memory;
}
