/* config_entities.c - what references can mean: the instances of all sections that have an id. */
#include "config/config_own_in.h"
#include "config/config_section_in.h"

/* Fields of tables are at most so deep. */
enum { PHI__CONFIG_DEEPEST = 8 };

/* The name that an id declares; *qualified: the namespace in it, if it is another one. */
static phi_str phi__config_entities_name(const char *space, phi_str id, phi_str *qualified) {
    phi__config_ref ref = phi__config_refs_parse(id);
    *qualified = PHI__LIT("");
    if (ref.kind == PHI__CONFIG_REF_LITERAL) return id;
    if (ref.space.len == 0 || phi__str_is(ref.space, space)) return ref.name;
    *qualified = ref.space;
    return ref.name;
}

static void phi__config_entities_twice(phi__config_walk *walk, const phi__config_entity *other,
                                       const phi_json *id, const char *space, phi_str shown) {
    phi__buf *words = phi__config_path_words(walk);
    uint32_t line, column;
    phi__buf_printf(words, "There are two %ss named \"", space);
    phi__config_raws_name(shown, words);
    phi__buf_text(words, "\": ");
    phi__buf_add_str(words, other->path);
    if (phi__marks_find(&walk->config->marks, other->node, &line, &column) ||
        phi__marks_key(&walk->config->marks, other->node, &line, &column))
        phi__buf_printf(words, " in line %u", (unsigned)line);
    phi__buf_text(words, " has that name, too; give this one another");
    phi__config_path_error(walk, id, NULL);
}

static void phi__config_entities_add(phi__config_walk *walk, const phi__config_table *table,
                                     const phi__config_field *field, const phi_json *node,
                                     const phi_json *id) {
    phi_config *config = walk->config;
    phi_str qualified, name = phi__config_entities_name(
                           field->space, phi__str_trim(phi__json_text_of(id)), &qualified);
    const phi__config_entity *other = phi__config_names_find(config, field->space, name);
    phi__config_entity *entity;
    phi_str shown = name;
    if (name.len == 0) return; /* config_check.c reports it */
    (void)phi__config_raws_find(config, id, &shown);
    if (other != NULL) {
        size_t len = phi__config_path_name(walk, phi_str_of(field->key));
        phi__config_entities_twice(walk, other, id, field->space, shown);
        phi__config_path_back(walk, len);
        return;
    }
    entity = (phi__config_entity *)phi__arena_zero(&config->arena, sizeof *entity);
    if (entity == NULL ||
        !phi__arena_str(&config->arena, phi__buf_str(&walk->path), &entity->path)) {
        config->problems.no_memory = true;
        return;
    }
    entity->space = field->space;
    entity->name = name;
    entity->shown = shown;
    entity->node = node;
    entity->table = table;
    if (!phi__config_names_add(config, entity, true)) config->problems.no_memory = true;
}

/* One instance: by its id, else by its name. */
static void phi__config_entities_instance(phi__config_walk *walk, const phi__config_table *table,
                                          const phi_json *node) {
    static const uint16_t flags[] = {PHI__CONFIG_ID, PHI__CONFIG_NAME};
    const phi__config_field *field;
    size_t f, i;
    for (f = 0; f < PHI__COUNT(flags); f++)
        for (i = 0; (field = phi__config_fields_at(table, i)) != NULL; i++) {
            const phi_json *id;
            if ((field->flags & flags[f]) == 0) continue;
            id = phi_json_get(node, field->key);
            if (!phi_json_is(id, PHI_JSON_STRING)) continue;
            phi__config_entities_add(walk, table, field, node, id);
            return;
        }
}

static void phi__config_entities_table(phi__config_walk *walk, const phi__config_table *table,
                                       const phi_json *node, int depth);

static void phi__config_entities_field(phi__config_walk *walk, const phi__config_field *field,
                                       const phi_json *node, int depth) {
    size_t len = phi__config_path_name(walk, phi_str_of(field->key)), i = 0;
    if (field->kind == PHI__CONFIG_TABLE)
        phi__config_entities_table(walk, field->table(), node, depth + 1);
    else if (phi_json_is(node, PHI_JSON_ARRAY)) {
        phi_json_iter it = phi_json_each(node);
        const phi_json *child;
        while ((child = phi_json_next(&it)) != NULL) {
            size_t inner = phi__config_path_index(walk, i++);
            phi__config_entities_instance(walk, field->table(), child);
            phi__config_entities_table(walk, field->table(), child, depth + 1);
            phi__config_path_back(walk, inner);
        }
    }
    phi__config_path_back(walk, len);
}

static void phi__config_entities_table(phi__config_walk *walk, const phi__config_table *table,
                                       const phi_json *node, int depth) {
    const phi__config_field *field;
    size_t i;
    if (depth > PHI__CONFIG_DEEPEST || !phi_json_is(node, PHI_JSON_OBJECT)) return;
    for (i = 0; (field = phi__config_fields_at(table, i)) != NULL; i++) {
        const phi_json *child;
        if (field->kind != PHI__CONFIG_TABLE && field->kind != PHI__CONFIG_TABLES) continue;
        child = phi_json_get(node, field->key);
        if (child != NULL) phi__config_entities_field(walk, field, child, depth);
    }
}

static void phi__config_entities_aliases(phi_config *config) {
    phi_json_iter it = phi_json_each(phi_json_get(config->root, "models"));
    const phi_json *node;
    while ((node = phi_json_next(&it)) != NULL) {
        phi__config_entity *entity =
            (phi__config_entity *)phi__arena_zero(&config->arena, sizeof *entity);
        if (entity != NULL) {
            entity->space = "models";
            entity->name = entity->shown = it.key;
            entity->node = node;
        }
        if (entity == NULL || !phi__config_names_add(config, entity, false)) {
            config->problems.no_memory = true;
            return;
        }
    }
}

void phi__config_entities_collect(phi_config *config) {
    phi__config_walk walk;
    size_t i;
    config->provider = phi_json_get(config->root, "provider");
    phi__config_entities_aliases(config);
    phi__config_path_begin(&walk, config);
    phi__config_entities_table(&walk, phi__config_tables_top(), config->root, 0);
    for (i = 0; config->sections != NULL && config->sections[i] != NULL; i++) {
        const phi__config_field *field = config->sections[i]->field;
        const phi_json *node = phi_json_get(config->root, field->key);
        if (node != NULL && (field->kind == PHI__CONFIG_TABLE || field->kind == PHI__CONFIG_TABLES))
            phi__config_entities_field(&walk, field, node, 0);
    }
    phi__config_path_end(&walk);
}
