/* config_take.c - reads choices, and fills the struct of a table from a node. */
#include "config/config_in.h"

#include <stdlib.h>

bool phi__choice_next(phi__cfg_choice *c) {
    const char *at = c->next;
    char before = c->name[0] != '\0' ? *at : '\0';
    if (before == ' ' || before == '|') at++;
    size_t n = strcspn(at, " |=");
    c->alias = before == '|';
    if (before == ' ') c->value++;
    PHI_ASSERT(n < sizeof c->name);
    memcpy(c->name, at, n);
    c->name[n] = '\0';
    if (at[n] == '=') c->value = (int)strtol(at + n + 1, NULL, 10);
    c->next = at + n + strcspn(at + n, " |");
    return n > 0;
}

/* Folds a letter of a choice: ignores case, and the difference of - and _. */
static char phi__choice_fold(char c) {
    if (c >= 'A' && c <= 'Z') return (char)(c - 'A' + 'a');
    return c == '-' ? '_' : c;
}

bool phi__choice_find(const char *choices, phi_str name, phi__cfg_choice *out) {
    phi__cfg_choice c = PHI_ZERO;
    c.next = choices;
    while (phi__choice_next(&c)) {
        size_t i = 0;
        while (i < name.len && c.name[i] != '\0' &&
               phi__choice_fold(c.name[i]) == phi__choice_fold(name.at[i]))
            i++;
        if (i < name.len || c.name[i] != '\0') continue;
        if (out != NULL) *out = c;
        return true;
    }
    return false;
}

bool phi__choice_of(const char *choices, int value, phi__cfg_choice *out) {
    memset(out, 0, sizeof *out);
    out->next = choices;
    while (phi__choice_next(out))
        if (out->value == value && !out->alias) return true;
    return false;
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

static bool phi__cfg_take_bits(const phi__cfg_field *field, const phi_json *node, void *to) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *item;
    phi__cfg_choice choice;
    uint64_t bits = 0;
    if (!phi_json_is(node, PHI_JSON_ARRAY)) return false;
    while ((item = phi_json_next(&it)) != NULL)
        if (phi__choice_find(field->choices, phi__json_text_of(item), &choice))
            bits |= (uint64_t)1 << choice.value;
    uint32_t half = (uint32_t)bits;
    memcpy(to, field->size == sizeof half ? (void *)&half : (void *)&bits, field->size);
    return true;
}

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

/* True if the value fitted the field and was stored. */
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
    case PHI__CFG_CHOICE: {
        phi__cfg_choice choice;
        if (!phi__choice_find(field->choices, phi__json_text_of(node), &choice)) return false;
        memcpy(to, &choice.value, sizeof choice.value);
        return true;
    }
    case PHI__CFG_BITS: return phi__cfg_take_bits(field, node, to);
    case PHI__CFG_TABLE:
        if ((field->flags & PHI__CFG_PART) == 0) {
            memcpy(to, &node, sizeof node);
            return true;
        }
        *no_memory = !phi__cfg_take(arena, node, field->table(), to);
        return phi_json_is(node, PHI_JSON_OBJECT);
    case PHI__CFG_TEXTS: return phi__cfg_take_texts(arena, node, to, no_memory);
    default: memcpy(to, &node, sizeof node); return true;
    }
}

/* Sets the twin of a field that was stored. */
static void phi__cfg_take_twin(const phi__cfg_field *field, char *out) {
    uint64_t value = 0;
    if ((field->flags & (PHI__CFG_HAS | PHI__CFG_NONE)) == 0) return;
    memcpy(&value, out + field->offset, field->size); /* 0 is 0 in every byte order */
    bool twin = (field->flags & PHI__CFG_HAS) != 0 || value == 0;
    memcpy(out + field->twin, &twin, sizeof twin);
}

bool phi__cfg_take(phi_arena *arena, const phi_json *node, const phi__cfg_table *table, void *out) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *child;
    uint64_t set = 0;
    bool no_memory = false;
    if (!table->plain) memcpy(&set, out, sizeof set);
    if (!phi_json_is(node, PHI_JSON_OBJECT)) return true;
    while ((child = phi_json_next(&it)) != NULL && !no_memory) {
        size_t i;
        const phi__cfg_field *field = phi__fields_find(table, it.key, &i);
        if (field == NULL || phi_json_is(child, PHI_JSON_NULL)) continue;
        if (!phi__cfg_take_field(arena, field, child, (char *)out + field->offset, &no_memory))
            continue;
        set |= (uint64_t)1 << i;
        phi__cfg_take_twin(field, (char *)out);
    }
    if (!table->plain) memcpy(out, &set, sizeof set);
    return !no_memory;
}
