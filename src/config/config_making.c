/* config_making.c - an agent under construction: the lists of tools, sources and names that
   sections fill. */
#include "config/config_section_in.h"
#include "loop/tool_source.h"

static bool phi__config_making_grow(phi__config_making *m, void **list, size_t *cap, size_t count,
                                    size_t size) {
    void *more;
    if (count < *cap) return true;
    more = phi_arena_alloc(m->ground->arena, phi__mul(phi__add(phi__mul(*cap, 2), 8), size));
    if (more == NULL) return false;
    if (count > 0) memcpy(more, *list, count * size);
    *list = more;
    *cap = *cap * 2 + 8;
    return true;
}

/* Item `i` of a list; a text alone is a list of one. The next item is where the last one ended, so
   that a walk takes a time linear in the list. */
static const phi_json *phi__config_making_item(phi__config_making *making, const phi_json *list,
                                               size_t i) {
    const phi_json *item = NULL;
    if (phi_json_is(list, PHI_JSON_STRING)) return i == 0 ? list : NULL;
    if (!phi_json_is(list, PHI_JSON_ARRAY)) return NULL;
    if (making->list != list || i < making->list_at) {
        making->list = list;
        making->items = phi_json_each(list);
        making->list_at = 0;
    }
    while (making->list_at <= i && (item = phi_json_next(&making->items)) != NULL)
        making->list_at++;
    return item;
}

/* ---- for other modules ---- */

PHI__FN bool phi__config_making_used(phi__config_making *making, const char *key, const char *space,
                                     const phi_json *section, size_t i, phi__config_used *out) {
    const phi_json *list = phi_json_get(making->node, key), *item;
    if (list == NULL) list = phi_json_get(making->base, key);
    memset(out, 0, sizeof *out);
    if (list == NULL) {
        const phi_json *instances =
            phi_json_is(section, PHI_JSON_ARRAY) ? section : phi_json_get(section, "instances");
        out->node = out->from =
            making->is_child ? NULL : phi__config_making_item(making, instances, i);
        out->keep = true;
        return out->node != NULL;
    }
    item = phi__config_making_item(making, list, i);
    if (item == NULL) return false;
    out->from = item;
    out->keep = phi__config_refs_parse(phi_json_str(item, "")).keep;
    out->node = phi__config_refs_find(making->ground->config, space, phi_json_str(item, "").at);
    return true;
}

PHI__FN phi_status phi__config_making_tool(phi__config_making *making, const phi_tool *tool) {
    size_t i;
    for (i = 0; i < making->tool_count; i++)
        if (strcmp(making->tools[i].name, tool->name) == 0) return PHI_OK;
    if (!phi__config_making_grow(making, (void **)(void *)&making->tools, &making->tool_cap,
                                 making->tool_count, sizeof *making->tools))
        return PHI_NO_MEMORY;
    making->tools[making->tool_count++] = *tool;
    return PHI_OK;
}

PHI__FN phi_status phi__config_making_source(phi__config_making *making,
                                             const phi_tool_source *source) {
    if (!phi__config_making_grow(making, (void **)(void *)&making->sources, &making->source_cap,
                                 making->source_count, sizeof(void *)))
        return PHI_NO_MEMORY;
    making->sources[making->source_count++] = source;
    return PHI_OK;
}

PHI__FN bool phi__config_making_offer(phi__config_making *making, const char *name) {
    phi_json_iter it = phi_json_each(making->names);
    const phi_json *item;
    bool wanted = false;
    size_t i;
    if (phi__config_making_grow(making, (void **)(void *)&making->offered, &making->offered_cap,
                                making->offered_count, sizeof(void *)))
        making->offered[making->offered_count++] = name;
    for (i = 0; (item = phi_json_next(&it)) != NULL; i++) {
        if (!phi__str_is(phi_json_str(item, ""), name)) continue;
        making->known[i] = wanted = true;
    }
    return wanted;
}

PHI__FN void phi__config_making_trust(phi__config_making *making) {
    size_t i, n = phi_json_count(making->names);
    for (i = 0; i < n; i++) making->known[i] = true;
}
