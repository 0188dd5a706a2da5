/* config_children.c - sub-agents of the file: tools of agents, with settings of their own. */
#include "config/config_agents_in.h"
#include "model/model_in.h"
#include "loop/hook.h"
#include "loop/provider.h"

/* A sub-agent with a job that fills its settings. */
static phi_status phi__config_children_new(phi__config_maker *maker, const phi__config_used *used,
                                           const phi__config_job *caller, phi_subagent_desc **out) {
    phi_arena *arena = maker->ground.arena;
    phi_subagent_desc *sub = (phi_subagent_desc *)phi__arena_zero(arena, sizeof *sub);
    phi__config_job *job;
    phi__config_sub_agent *child;
    phi_status status = PHI_NO_MEMORY;
    if (sub != NULL)
        status = phi__config_queue_add(maker, used->node, used->from, caller->depth + 1, &job);
    if (status != PHI_OK) return status;
    child = &job->child;
    if (!phi__config_take(arena, used->node, phi__config_tables_sub_agent(), child))
        return PHI_NO_MEMORY;
    if (child->base_url != NULL && child->base_url[0] == '\0') child->base_url = NULL;
    if (child->model != NULL && child->model[0] == '\0') child->model = NULL;
    if (child->name == NULL) {
        phi_str id = phi__config_refs_parse(phi_str_of(child->id != NULL ? child->id : "")).name;
        if (!phi__arena_str(arena, id, &id)) return PHI_NO_MEMORY;
        child->name = id.at;
    }
    job->making.name = child->name;
    job->making.top = caller->making.top;
    job->making.has_own_key = caller->making.has_own_key;
    job->making.workspace = caller->making.workspace;
    job->making.place = caller->making.place;
    sub->name = child->name;
    sub->description = child->description;
    sub->agent = &job->desc;
    sub->max_depth = child->max_depth;
    sub->keep = child->keep;
    sub->show_events = child->show_events;
    sub->timeout_ms = child->timeout_ms;
    *out = sub;
    return PHI_OK;
}

/* Whether two callers give a sub-agent the same: the workspace, the server of its key, the patience
   with people. */
static bool phi__config_children_alike(const phi__config_making *a, const phi__config_making *b) {
    return a->has_own_key == b->has_own_key &&
           a->top->deadlines.decision_ms == b->top->deadlines.decision_ms &&
           strcmp(a->workspace, b->workspace) == 0 &&
           strcmp(a->top->workspace, b->top->workspace) == 0 &&
           phi__model_same_server(a->top->model.base_url, b->top->model.base_url);
}

/* A reference with % finds the sub-agent that such a reference made before. */
static phi_status phi__config_children_find(phi__config_maker *maker, const phi__config_used *used,
                                            const phi__config_job *caller,
                                            phi_subagent_desc **out) {
    phi__config_kept *kept = maker->kept;
    bool keep = phi__config_refs_parse(phi_json_str(used->from, "")).keep;
    phi_status status;
    while (keep && kept != NULL &&
           (kept->node != used->node || !phi__config_children_alike(kept->caller, &caller->making)))
        kept = kept->next;
    if (keep && kept != NULL) {
        *out = kept->sub;
        return PHI_OK;
    }
    status = phi__config_children_new(maker, used, caller, out);
    if (status != PHI_OK || !keep) return status;
    kept = (phi__config_kept *)phi_arena_alloc(maker->ground.arena, sizeof *kept);
    if (kept == NULL) return PHI_NO_MEMORY;
    kept->node = used->node;
    kept->caller = &caller->making;
    kept->sub = *out;
    kept->next = maker->kept;
    maker->kept = kept;
    return PHI_OK;
}

static phi_status phi__config_children_one(phi__config_maker *maker, phi__config_job *job,
                                           const phi__config_used *used) {
    phi_subagent_desc *sub;
    phi_tool tool;
    phi_status status = phi__config_children_find(maker, used, job, &sub);
    if (status != PHI_OK) return status;
    tool = phi_subagent_tool(sub);
    (void)phi__config_making_offer(&job->making, tool.name);
    return phi__config_making_tool(&job->making, &tool);
}

/* The settings that a sub-agent has besides its model and prompt. */
static phi_status phi__config_children_settings(phi__config_maker *maker, phi__config_job *job) {
    const phi__config_sub_agent *child = &job->child;
    const phi__config_table *table = phi__config_tables_sub_agent();
    phi_agent_desc *desc = &job->desc;
    phi_provider *provider = NULL;
    phi_status status = phi__config_settings_whole(maker, desc);
    desc->limits = child->limits;
    memset(&desc->budget, 0, sizeof desc->budget); /* that of the agent that calls pays */
    desc->deadlines.decision_ms = job->making.top->deadlines.decision_ms;
    desc->thinking = child->thinking;
    desc->max_tokens = child->max_tokens;
    desc->options.has_temperature = phi__config_fields_has(table, child, "temperature");
    desc->options.temperature = child->temperature;
    if (child->compaction != NULL)
        phi__config_settings_compaction(maker, child->compaction, &desc->compaction);
    else
        desc->compaction.disable = true;
    job->making.profile.skills = child->skills.at;
    job->making.profile.skill_count = child->skills.count;
    if (status != PHI_OK || child->strategy == NULL) return status;
    status = phi__config_machine_make(&maker->ground, child->strategy, &provider);
    if (status == PHI_OK) desc->provider = provider;
    return status == PHI_UNSUPPORTED ? PHI_OK : status;
}

/* The host's hook guards the tools of sub-agents, too; and where it knows the key of an agent, it
   knows that of a sub-agent with the same key. */
static void phi__config_children_hook(const phi__config_making *making, phi_agent_desc *desc) {
    const phi_agent_desc *base = making->ground->desc.base;
    uint32_t points = (uint32_t)PHI_HOOK_BEFORE_TOOL | (uint32_t)PHI_HOOK_AFTER_TOOL;
    if (!making->has_own_key) points |= (uint32_t)PHI_HOOK_CREDENTIAL;
    if (base == NULL || (base->hook_points & points) == 0) return;
    desc->hook_fn = base->hook_fn;
    desc->hook_points = base->hook_points & points;
    desc->user_data = base->user_data;
    desc->hook_user_data = base->hook_user_data;
}

/* Warns of what a sub-agent at another server does not get of its provider. */
static void phi__config_children_withheld(phi__config_job *job, const phi_json *provider) {
    bool key =
        job->child.api_key == NULL && phi_json_str(phi_json_get(provider, "api_key"), "").len > 0;
    bool headers = phi_json_count(phi_json_get(provider, "headers")) > 0;
    if (!key && !headers) return;
    phi__config_words_warning(
        job->making.ground, job->making.node,
        headers ? "sub_agents.instances.provider" : "sub_agents.instances.api_key",
        "sub-agent \"%s\" talks to another server than its provider, whose %s%s%s it does not get: "
        "%s",
        job->making.name, key ? "api_key" : "", key && headers ? " and " : "",
        headers ? "headers" : "",
        headers ? "give it a provider of [[provider.instances]] with what it needs"
                : "write its own api_key (\"\": it needs none)");
}

/* A sub-agent of a file without [provider]: its model is that of the agent that calls it, unless it
   says where another one is. */
static void phi__config_children_unplaced(const phi__config_job *job) {
    const phi__config_making *making = &job->making;
    const phi__config_sub_agent *child = &job->child;
    bool api = phi__config_fields_has(phi__config_tables_sub_agent(), child, "api");
    if (child->model == NULL && (api || child->base_url != NULL || child->api_key != NULL))
        phi__config_words_error(making->ground, making->node, PHI_BAD_ARG,
                                "sub_agents.instances.model",
                                "sub-agent \"%s\" has no model, and there is no [provider]: its %s "
                                "would do nothing; write model = \"...\", too",
                                making->name,
                                child->base_url != NULL ? "base_url"
                                : api                   ? "api"
                                                        : "api_key");
    if (child->model != NULL && !api && child->base_url == NULL)
        phi__config_words_error(making->ground, phi_json_get(making->node, "model"), PHI_BAD_ARG,
                                "sub_agents.instances.model",
                                "sub-agent \"%s\": nothing says which server has its model: add "
                                "a [provider], or write its provider, api or base_url",
                                making->name);
}

/* Its model; without one of its own it is the calling agent's. */
static phi_status phi__config_children_model(phi__config_maker *maker, phi__config_job *job) {
    phi__config_ground *ground = &maker->ground;
    const phi__config_sub_agent *child = &job->child;
    const phi_json *provider = phi__config_model_node(maker, child->provider);
    phi__config_making *making = &job->making;
    phi_model *model = &job->desc.model;
    bool same = true;
    phi_status status = PHI_OK;
    if (provider != NULL || child->model != NULL)
        status = phi__config_model_make(ground, provider, child, model, &same);
    if (status != PHI_OK) return status;
    if (provider == NULL) phi__config_children_unplaced(job);
    if (model->protocol != NULL)
        making->has_own_key = child->api_key != NULL || child->provider != NULL ||
                              !phi__model_same_server(model->base_url, making->top->model.base_url);
    phi__config_children_hook(making, &job->desc);
    if (!same) phi__config_children_withheld(job, provider);
    return PHI_OK;
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__config_children_add(phi__config_maker *maker, phi__config_job *job) {
    phi__config_used used;
    phi_status status = PHI_OK;
    size_t i;
    for (i = 0; status == PHI_OK && phi__config_making_used(&job->making, "sub_agents", "sub_agent",
                                                            maker->whole.top.sub_agents, i, &used);
         i++)
        if (used.node != NULL) status = phi__config_children_one(maker, job, &used);
    return status;
}

PHI__FN phi_status phi__config_children_begin(phi__config_maker *maker, phi__config_job *job) {
    phi__config_ground *ground = &maker->ground;
    phi__config_making *making = &job->making;
    const phi__config_sub_agent *child = &job->child;
    const char *prompt = NULL;
    phi_status status;
    making->names = phi_json_get(making->node, "tools");
    making->known = (bool *)phi__arena_zero(ground->arena, phi_json_count(making->names) + 1);
    if (child->workspace != NULL && child->workspace[0] != '\0') {
        making->place = phi_json_get(making->node, "workspace");
        making->workspace =
            phi__config_place_join(ground->arena, ground->directory, child->workspace);
    }
    if (making->known == NULL || making->workspace == NULL) return PHI_NO_MEMORY;
    job->desc.workspace = making->workspace;
    status = phi__config_children_model(maker, job);
    if (status != PHI_OK) return status;
    status = phi__config_prompt_make(ground, phi_json_get(making->node, "system_prompt"),
                                     making->workspace, &prompt);
    job->desc.system_prompt = prompt;
    if (status == PHI_OK) status = phi__config_children_settings(maker, job);
    for (size_t i = 0; status == PHI_OK && i < ground->desc.tool_count; i++)
        if (phi__config_making_offer(making, ground->desc.tools[i].name))
            status = phi__config_making_tool(making, &ground->desc.tools[i]);
    return status == PHI_OK ? phi__config_children_add(maker, job) : status;
}
