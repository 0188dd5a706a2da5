/* config_cycles.c - entities that refer to themselves over others. */
#include "config/config_own_in.h"

enum {
    PHI__CONFIG_ON_THE_WAY = 1,
    PHI__CONFIG_DONE = 2,
    PHI__CONFIG_CYCLE_SHOWN = 16 /* names of a cycle; the middle of a longer one is left out */
};

/* An entity on the way, and the next reference to follow. */
typedef struct phi__config_step {
    phi__config_entity *entity;
    size_t field;
    const phi_json *item;  /* of a list: the last one that was followed */
    const phi_json *place; /* of the reference that is followed */
} phi__config_step;

typedef struct phi__config_cycles {
    phi__config_walk walk;
    phi__config_step *way;
    size_t count, cap;
} phi__config_cycles;

/* The item after `item` (NULL: the first); NULL: none. */
static const phi_json *phi__config_cycles_item(const phi_json *list, const phi_json *item) {
    if (!phi_json_is(list, PHI_JSON_ARRAY) || phi_json_count(list) == 0 || item == list->v.last)
        return NULL;
    return item != NULL ? item->next : list->v.last->next;
}

/* The next entity that the step's one refers to; NULL: no more. */
static phi__config_entity *phi__config_cycles_next(const phi_config *config,
                                                   phi__config_step *step) {
    const phi__config_field *field;
    while ((field = phi__config_fields_at(step->entity->table, step->field)) != NULL) {
        const phi_json *value;
        bool is_list = field->kind == PHI__CONFIG_TEXTS;
        if ((field->flags & (PHI__CONFIG_REFERENCE | PHI__CONFIG_ONLY_REFERENCE)) == 0 ||
            (value = phi_json_get(step->entity->node, field->key)) == NULL) {
            step->field++;
            continue;
        }
        if (is_list) value = step->item = phi__config_cycles_item(value, step->item);
        if (!is_list || value == NULL) step->field++;
        step->place = value;
        if (phi_json_is(value, PHI_JSON_STRING)) {
            const phi__config_entity *to =
                phi__config_refs_entity(config, field->space, phi__json_text_of(value));
            if (to != NULL) return (phi__config_entity *)(uintptr_t)to;
        }
    }
    return NULL;
}

/* "writer -> critic -> writer" */
static void phi__config_cycles_say(phi__config_cycles *c, const phi__config_entity *to) {
    phi__buf *words = phi__config_path_words(&c->walk);
    size_t i = c->count, first;
    if (phi__config_path_full(&c->walk)) {
        phi__config_path_error(&c->walk, c->way[c->count - 1].place, NULL);
        return;
    }
    while (i > 0 && c->way[i - 1].entity != to) i--;
    phi__buf_add_str(words, c->way[c->count - 1].entity->path);
    phi__buf_printf(words, " leads back to itself: ");
    first = i = i > 0 ? i - 1 : 0;
    for (; i < c->count; i++) {
        if (i == first + PHI__CONFIG_CYCLE_SHOWN / 2 &&
            c->count > first + PHI__CONFIG_CYCLE_SHOWN) {
            phi__buf_text(words, "... -> ");
            i = c->count - PHI__CONFIG_CYCLE_SHOWN / 2;
        }
        phi__config_raws_name(c->way[i].entity->shown, words);
        phi__buf_text(words, " -> ");
    }
    phi__config_raws_name(to->shown, words);
    phi__buf_text(words, "; remove one of these references");
    c->walk.path.len = 0;
    phi__buf_add_str(&c->walk.path, c->way[c->count - 1].entity->path);
    phi__config_path_error(&c->walk, c->way[c->count - 1].place, NULL);
}

static bool phi__config_cycles_push(phi__config_cycles *c, phi__config_entity *entity) {
    phi__config_step *way = (phi__config_step *)phi__grow(&c->walk.config->memory, c->way, &c->cap,
                                                          c->count + 1, sizeof *way);
    if (way == NULL) {
        c->walk.config->problems.no_memory = true;
        return false;
    }
    c->way = way;
    memset(&way[c->count], 0, sizeof *way);
    way[c->count++].entity = entity;
    entity->visiting = PHI__CONFIG_ON_THE_WAY;
    return true;
}

static void phi__config_cycles_from(phi__config_cycles *c, phi__config_entity *entity) {
    if (entity->visiting != 0 || !phi__config_cycles_push(c, entity)) return;
    while (c->count > 0) {
        phi__config_entity *to = phi__config_cycles_next(c->walk.config, &c->way[c->count - 1]);
        if (to == NULL)
            c->way[--c->count].entity->visiting = PHI__CONFIG_DONE;
        else if (to->visiting == PHI__CONFIG_ON_THE_WAY)
            phi__config_cycles_say(c, to);
        else if (to->visiting == 0 && !phi__config_cycles_push(c, to))
            return;
    }
}

void phi__config_cycles_check(phi_config *config) {
    phi__config_cycles c = PHI_ZERO;
    phi__config_entity *entity;
    phi__config_path_begin(&c.walk, config);
    for (entity = config->first; entity != NULL; entity = entity->next)
        phi__config_cycles_from(&c, entity);
    phi__free(&config->memory, c.way, c.cap * sizeof *c.way);
    phi__config_path_end(&c.walk);
}
