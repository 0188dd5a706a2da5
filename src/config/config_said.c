/* config_said.c - options, extra and raw tools of an agent, and the extra of a provider. */
#include "config/config_agents_in.h"
#include "wire/extra_in.h"

PHI__FN const char *phi__config_said_text(phi_arena *arena, const phi_json *node) {
    phi_str text;
    if (phi_json_is(node, PHI_JSON_STRING)) return phi_json_str(node, "").at;
    return phi_json_write(arena, node, 0, &text) == PHI_OK ? text.at : NULL;
}

PHI__FN phi_status phi__config_said_object(phi__config_ground *ground, const phi_json *node,
                                           const char *field, const char **out) {
    char words[200];
    const char *text;
    phi_status status;
    if (node == NULL || phi_json_is(node, PHI_JSON_NULL)) return PHI_OK;
    if (!phi_json_is(node, PHI_JSON_STRING) && !phi_json_is(node, PHI_JSON_OBJECT)) {
        phi__config_words_error(ground, node, PHI_PARSE, field,
                                "%s: expected a table, or JSON as a text", field);
        return PHI_OK;
    }
    text = phi__config_said_text(ground->arena, node);
    if (text == NULL) return PHI_NO_MEMORY;
    status = phi__extra_check(NULL, ground->arena->memory, phi_str_of(text), words, sizeof words);
    if (status == PHI_NO_MEMORY) return status;
    if (status != PHI_OK)
        phi__config_words_error(ground, node, PHI_PARSE, field, "%s%s", field, words);
    else
        *out = text;
    return PHI_OK;
}

static phi_status phi__config_said_options(phi__config_ground *ground, const phi_json *node,
                                           phi_agent_desc *desc) {
    const phi__config_table *table = phi__config_tables_options();
    phi__config_options taken;
    if (node == NULL) return PHI_OK;
    memset(&taken, 0, sizeof taken);
    taken.options = desc->options;
    if (!phi__config_take(ground->arena, node, table, &taken)) return PHI_NO_MEMORY;
    desc->options = taken.options;
    if (phi__config_fields_has(table, &taken, "seed")) desc->options.has_seed = true;
    if (phi__config_fields_has(table, &taken, "stop")) {
        desc->options.stop = taken.stop.at;
        desc->options.stop_count = taken.stop.count;
    }
    return PHI_OK;
}

static phi_status phi__config_said_raws(phi__config_ground *ground, const phi_json *list,
                                        phi_agent_desc *desc) {
    phi_json_iter it = phi_json_each(list);
    const phi_json *node;
    phi_raw_tool *raws;
    phi_status status = PHI_OK;
    size_t n = 0;
    if (list == NULL) return PHI_OK;
    raws = (phi_raw_tool *)phi__arena_zero(
        ground->arena, phi__mul(phi__max(phi_json_count(list), 1), sizeof *raws));
    if (raws == NULL) return PHI_NO_MEMORY;
    while (status == PHI_OK && (node = phi_json_next(&it)) != NULL) {
        phi__config_raw_tool taken;
        memset(&taken, 0, sizeof taken);
        if (!phi__config_take(ground->arena, node, phi__config_tables_raw_tool(), &taken))
            return PHI_NO_MEMORY;
        raws[n].protocol = taken.protocol;
        status = phi__config_said_object(ground, taken.json, "agent.raw_tools.json", &raws[n].json);
        if (raws[n].protocol != NULL && raws[n].json != NULL) n++;
    }
    desc->tool_options.raw_tools = raws;
    desc->tool_options.raw_tool_count = n;
    return status;
}

PHI__FN phi_status phi__config_said_take(phi__config_ground *ground, const phi__config_agent *a,
                                         phi_agent_desc *desc) {
    phi_status status = phi__config_said_options(ground, a->options, desc);
    if (status == PHI_OK)
        status = phi__config_said_object(ground, a->extra, "agent.extra", &desc->options.extra);
    return status == PHI_OK ? phi__config_said_raws(ground, a->raw_tools, desc) : status;
}
