/* config_names.c - entities by their names. */
#include "config/config_own_in.h"
#include "wire/hash_in.h"

static uint64_t phi__config_names_hash(phi_str name) { return phi__hash(name, 0); }

const phi__config_entity *phi__config_names_find(const phi_config *config, const char *space,
                                                 phi_str name) {
    uint64_t hash = phi__config_names_hash(name);
    const phi__config_entity *entity;
    size_t probe = 0;
    while ((entity = (const phi__config_entity *)phi__map_each(&config->entities, hash, &probe)) !=
           NULL)
        if (phi_str_equal(entity->name, name) && strcmp(entity->space, space) == 0) return entity;
    return NULL;
}

const phi__config_entity *phi__config_names_each(const phi_config *config, phi_str name,
                                                 size_t *probe) {
    uint64_t hash = phi__config_names_hash(name);
    const phi__config_entity *entity;
    while ((entity = (const phi__config_entity *)phi__map_each(&config->entities, hash, probe)) !=
           NULL)
        if (phi_str_equal(entity->name, name) && strcmp(entity->space, "agent") != 0 &&
            strcmp(entity->space, "models") != 0)
            return entity;
    return NULL;
}

bool phi__config_names_add(phi_config *config, phi__config_entity *entity, bool listed) {
    if (!phi__map_room(&config->entities)) return false;
    phi__map_add(&config->entities, phi__config_names_hash(entity->name), entity);
    if (!listed) return true;
    if (config->last != NULL)
        config->last->next = entity;
    else
        config->first = entity;
    config->last = entity;
    return true;
}
