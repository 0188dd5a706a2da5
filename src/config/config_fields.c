/* config_fields.c - looks into a table. */
#include "config/config_in.h"

const phi__config_field *phi__config_fields_at(const phi__config_table *table, size_t i) {
    if (table->base != NULL) {
        const phi__config_table *base = table->base();
        if (i < base->count) return &base->fields[i];
        i -= base->count;
    }
    return i < table->count ? &table->fields[i] : NULL;
}

const phi__config_field *phi__config_fields_find(const phi__config_table *table, phi_str key,
                                                 size_t *index) {
    const phi__config_field *field;
    size_t i;
    for (i = 0; (field = phi__config_fields_at(table, i)) != NULL; i++) {
        if (!phi__str_is(key, field->key) &&
            (field->alias == NULL || !phi__str_is(key, field->alias)))
            continue;
        if (index != NULL) *index = i;
        return field;
    }
    return NULL;
}

bool phi__config_fields_has(const phi__config_table *table, const void *taken, const char *key) {
    uint64_t set;
    size_t i;
    if (phi__config_fields_find(table, phi_str_of(key), &i) == NULL) return false;
    memcpy(&set, taken, sizeof set);
    return (set >> i & 1) != 0;
}
double phi__config_fields_most(const phi__config_field *field) {
    if (field->kind == PHI__CONFIG_SECONDS) return 4294967.0;
    if (field->kind == PHI__CONFIG_NUMBER) return 1e300;
    return field->size >= 8 ? 9.2e18 : field->size == 4 ? 4294967295.0 : 65535.0;
}
