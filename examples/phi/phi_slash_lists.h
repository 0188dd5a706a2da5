/* phi_slash_lists.h - the commands of the chat that show what there is: cost, tools, MCP servers, permissions. */
#ifndef PHI_SLASH_LISTS_H
#define PHI_SLASH_LISTS_H

#include "phi_apply.h"
#include "phi_servers.h"

/* The prices are those of the table. */
static inline bool slash_table_cost(const phi_model *model) {
    const price_row *row = prices_find(model);
    return row != NULL && memcmp(&row->cost, &model->cost, sizeof row->cost) == 0;
}

static inline void slash_cost(app *a, const char *rest) {
    phi_agent_info info = phi_agent_get_info(a->agent);
    phi_agent_desc desc = PHI_ZERO;
    phi_usage all = phi_thread_get_info(phi_agent_thread(a->agent)).usage;
    (void)rest;
    note(a, STYLE_DIM, "%llu tokens in, %llu read from the cache, %llu written to it, %llu out",
         (unsigned long long)all.input, (unsigned long long)all.cache_read,
         (unsigned long long)all.cache_write, (unsigned long long)all.output);
    (void)phi_agent_get_desc(a->agent, &desc);
    if (info.cost > 0 || desc.model.cost.input > 0 || desc.model.cost.output > 0)
        note(a, STYLE_DIM,
             "$%.4f since phi began, $%.4f for the last run; a million tokens: $%g in, $%g read "
             "from "
             "the cache, $%g written to it, $%g out%s",
             info.cost, info.run_cost, desc.model.cost.input, desc.model.cost.cache_read,
             desc.model.cost.cache_write, desc.model.cost.output,
             slash_table_cost(&desc.model) ? " (phi's table of " PRICES_DATE ")" : "");
    else
        note(a, STYLE_DIM, "no prices are known for %.*s", PHI_ARG(info.model_id));
}

static inline void slash_list_tools(app *a, const phi_tool *tools, size_t count) {
    size_t i;
    for (i = 0; i < count; i++) {
        text row = {NULL, 0, 0};
        const char *source = tools[i].source != NULL ? tools[i].source : "";
        text_fit(&row, phi_str_of(tools[i].name), 30);
        if (source[0] != '\0') text_print(&row, " (%s)", source);
        text_say(&row, ": ");
        text_fit(&row, phi_str_of(tools[i].description), 160);
        note_str(a, STYLE_DIM, text_str(&row));
        free(row.at);
    }
}

static inline void slash_tools(app *a, const char *rest) {
    phi_agent_desc desc;
    const phi_tool *tools;
    size_t count, i;
    (void)rest;
    if (phi_agent_get_desc(a->agent, &desc) != PHI_OK) return;
    slash_list_tools(a, desc.tools, desc.tool_count);
    for (i = 0; i < desc.tool_options.source_count; i++) {
        const phi_tool_source *from = desc.tool_options.sources[i];
        if (from->take(from->user_data, &tools, &count) != PHI_OK) continue;
        slash_list_tools(a, tools, count);
        if (from->release != NULL) from->release(from->user_data, tools);
    }
}

/* "forget 2" takes back the second answer "always". */
static inline void slash_forget(app *a, const char *number) {
    char *end;
    long n = strtol(number, &end, 10);
    if (n < 1 || n > 100000 || *end != '\0')
        note(a, STYLE_BAD, "! /permissions forget wants a number of the list");
    else if (kept_forget(&a->always, (int)n, &a->arena))
        note(a, STYLE_DIM,
             a->acp ? "(taken back; other sessions keep it until they end)" : "(taken back)");
    else
        note(a, STYLE_BAD, "! nothing was taken back: /permissions lists what is kept");
}

static inline void slash_permissions(app *a, const char *rest) {
    phi_permissions *permissions = apply_permissions(a);
    bool all = strcmp(rest, "rules") == 0;
    text answers = {NULL, 0, 0};
    phi_str json;
    if (strncmp(rest, "forget", 6) == 0 && (rest[6] == '\0' || rest[6] == ' ')) {
        slash_forget(a, rest + 6 + strspn(rest + 6, " "));
        return;
    }
    if (!all && kept_list(&a->always, &a->arena, &answers) > 0)
        note(a, STYLE_DIM,
             "answered with \"always\" in this directory (/permissions forget 1 takes back the "
             "first):\n%s",
             answers.at);
    if (permissions == NULL && a->config != NULL)
        note(a, STYLE_DIM, "(the rules of the file apply after its hook scripts)");
    else if (permissions == NULL || phi_permissions_to_json(phi_permissions_rules(permissions),
                                                            &a->arena, &json) != PHI_OK)
        note(a, STYLE_DIM, "(this agent has no rules)");
    else if (all)
        note_str(a, STYLE_DIM, json);
    else
        note(a, STYLE_DIM, "%u rules (/permissions rules shows them)",
             (unsigned)phi_permissions_rules(permissions)->count);
    free(answers.at);
}

static inline void slash_mcp(app *a, const char *rest) {
    (void)rest;
    servers_list(a);
}

#endif
