/* config_jobs.c - the agents of a file, each put together: profile, workspace, prompt, model. */
#include "config/config_agents_in.h"
#include "agent/profile.h"

#include <stdio.h>

/* Of what an agent's profile is made: [agent.profile], then the instance that it refers to, then
   its own. */
static phi_status phi__config_jobs_profile(phi__config_maker *maker, phi__config_job *job,
                                           phi__config_profile *out, const phi_json **prompt,
                                           const phi_json **place) {
    phi_arena *arena = maker->ground.arena;
    const phi_json *base = phi_json_get(job->making.base, "profile");
    const phi_json *own = phi_json_get(job->making.node, "profile"), *instance = NULL;
    const phi_json *nodes[3];
    size_t i;
    if (job->taken.agent_profile != NULL)
        instance =
            phi__config_refs_find(maker->ground.config, "agent_profile", job->taken.agent_profile);
    nodes[0] = base;
    nodes[1] = instance;
    nodes[2] = own;
    for (i = 0; i < 3; i++) {
        const phi_json *text = phi_json_get(nodes[i], "system_prompt");
        const phi_json *workspace = phi_json_get(nodes[i], "workspace");
        if (!phi__config_take(arena, nodes[i], phi__config_tables_profile(), out))
            return PHI_NO_MEMORY;
        if (phi_json_str(text, "").len > 0) *prompt = text;
        if (phi_json_is(workspace, PHI_JSON_STRING)) *place = workspace;
    }
    return PHI_OK;
}

/* The host's profile without the settings: the desc has them, where the file may change them. */
static void phi__config_jobs_host_profile(const phi_profile *host, phi_profile *out) {
    if (host == NULL) return;
    *out = *host;
    out->system_prompt = out->workspace = NULL;
    out->thinking = PHI_THINKING_OFF;
    out->max_tokens = 0;
    out->has_temperature = false;
    out->temperature = 0;
}

static void phi__config_jobs_identity(phi__config_job *job, const phi__config_profile *taken) {
    phi_profile *profile = &job->making.profile;
    phi_agent_desc *desc = &job->desc;
    const phi__config_table *table = phi__config_tables_profile();
    phi__config_jobs_host_profile(desc->profile, profile);
    if (taken->profile_id != NULL) profile->profile_id = taken->profile_id;
    if (taken->name != NULL) profile->name = taken->name;
    if (taken->description != NULL) profile->description = taken->description;
    if (taken->config_id != NULL) profile->config_id = taken->config_id;
    if (phi__config_fields_has(table, taken, "skills")) {
        profile->skills = taken->skills.at;
        profile->skill_count = taken->skills.count;
    }
    if (phi__config_fields_has(table, taken, "thinking_level")) desc->thinking = taken->thinking;
    if (taken->max_tokens > 0) desc->max_tokens = taken->max_tokens;
    if (phi__config_fields_has(table, taken, "temperature")) {
        desc->options.has_temperature = true;
        desc->options.temperature = taken->temperature;
    }
    if (taken->config_id != NULL) desc->ids.config_id = taken->config_id;
    desc->profile = profile;
}

/* *files: where "file:" starts: the workspace, or without one the file's directory. */
static phi_status phi__config_jobs_workspace(phi__config_maker *maker, phi__config_job *job,
                                             const phi_json *of_profile, const char **files) {
    const phi__config_ground *ground = &maker->ground;
    const phi_json *places[4];
    phi_str name = PHI__LIT("");
    size_t i;
    places[0] = phi_json_get(job->making.node, "workspace");
    places[1] = phi_json_get(job->making.base, "workspace");
    places[2] = of_profile;
    places[3] = phi_json_get(phi_config_tree(ground->config), "default_workspace");
    for (i = 0; i < PHI__COUNT(places) && name.len == 0; i++) {
        name = phi_json_str(places[i], "");
        if (name.len > 0) job->making.place = places[i];
    }
    if (name.len == 0) {
        job->making.workspace = job->desc.workspace != NULL ? job->desc.workspace : ".";
        *files = job->desc.workspace != NULL ? job->desc.workspace : ground->directory;
    } else {
        job->making.workspace = phi__config_place_join(ground->arena, ground->directory, name.at);
        *files = job->making.workspace;
    }
    job->desc.workspace = job->making.workspace;
    return job->making.workspace != NULL ? PHI_OK : PHI_NO_MEMORY;
}

static phi_status phi__config_jobs_prompt(phi__config_maker *maker, phi__config_job *job,
                                          const phi_json *of_profile, const char *files) {
    const phi_json *node = phi_json_get(job->making.node, "system_prompt");
    const char *text = NULL;
    phi_status status;
    if (phi_json_str(node, "").len == 0) node = phi_json_get(job->making.base, "system_prompt");
    if (phi_json_str(node, "").len == 0) node = of_profile;
    status = phi__config_prompt_make(&maker->ground, node, files, &text);
    if (text != NULL) job->desc.system_prompt = text;
    return status;
}

static const char *phi__config_jobs_compaction(const phi__config_job *job,
                                               const phi__config_profile *profile) {
    return job->taken.compaction != NULL ? job->taken.compaction : profile->compaction;
}

static phi_status phi__config_jobs_model(phi__config_maker *maker, phi__config_job *job) {
    const phi_json *node = phi__config_model_node(maker, job->taken.provider);
    if (node == NULL && job->desc.model.protocol != NULL) return PHI_OK; /* the host's */
    if (node == NULL) node = maker->whole.top.provider; /* for the place of a warning */
    return phi__config_model_make(&maker->ground, node, NULL, &job->desc.model, NULL);
}

static bool phi__config_jobs_names(phi__config_maker *maker, phi__config_job *job) {
    const phi_json *names = phi_json_get(job->making.node, "tools");
    size_t n;
    if (names == NULL) names = phi_json_get(job->making.base, "tools");
    if (names == NULL && job->depth == 0) names = phi_json_get(maker->whole.top.tools, "enabled");
    n = phi_json_count(names);
    job->making.names = names;
    job->making.known = (bool *)phi__arena_zero(maker->ground.arena, n + 1);
    return job->making.known != NULL;
}

/* Tools of the host: those that its base desc has, and those that the file names. */
static phi_status phi__config_jobs_tools(phi__config_maker *maker, phi__config_job *job) {
    const phi_agents_desc *host = &maker->ground.desc;
    phi__config_making *making = &job->making;
    phi_status status = PHI_OK;
    size_t i;
    for (i = 0; status == PHI_OK && i < job->desc.tool_count && job->depth == 0; i++) {
        (void)phi__config_making_offer(making, job->desc.tools[i].name);
        status = phi__config_making_tool(making, &job->desc.tools[i]);
    }
    for (i = 0; status == PHI_OK && i < host->tool_count; i++)
        if (phi__config_making_offer(making, host->tools[i].name))
            status = phi__config_making_tool(making, &host->tools[i]);
    for (i = 0; status == PHI_OK && i < job->desc.tool_options.source_count && job->depth == 0; i++)
        status = phi__config_making_source(making, job->desc.tool_options.sources[i]);
    return status;
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__config_jobs_plan(phi__config_maker *maker) {
    const phi_json *instances = phi_json_get(maker->whole.top.agent, "instances"), *node;
    phi_json_iter it = phi_json_each(instances);
    phi__config_job *job;
    phi_status status;
    if (phi_json_count(instances) == 0) {
        status = phi__config_queue_add(maker, NULL, NULL, 0, &job);
        if (status != PHI_OK) return status;
        job->making.name = "default";
        return PHI_OK;
    }
    while ((node = phi_json_next(&it)) != NULL) {
        status = phi__config_queue_add(maker, node, node, 0, &job);
        if (status != PHI_OK) return status;
        job->making.name = phi_json_str(phi_json_get(node, "name"), "unnamed").at;
    }
    return PHI_OK;
}

PHI__FN phi_status phi__config_jobs_begin(phi__config_maker *maker, phi__config_job *job) {
    phi__config_profile profile;
    const phi_json *prompt = NULL, *place = NULL;
    const char *files = NULL;
    phi_status status;
    memset(&profile, 0, sizeof profile);
    if (job->depth > 0) return phi__config_children_begin(maker, job);
    phi__config_settings_of(&job->desc, &job->taken);
    if (!phi__config_take(maker->ground.arena, job->making.base, phi__config_tables_agent(),
                          &job->taken) ||
        !phi__config_take(maker->ground.arena, job->making.node,
                          phi__config_tables_agent_instance(), &job->taken) ||
        !phi__config_jobs_names(maker, job))
        return PHI_NO_MEMORY;
    status = phi__config_jobs_profile(maker, job, &profile, &prompt, &place);
    if (status == PHI_OK) status = phi__config_jobs_workspace(maker, job, place, &files);
    if (status != PHI_OK) return status;
    phi__config_jobs_identity(job, &profile);
    phi__config_settings_compaction(maker, phi__config_jobs_compaction(job, &profile),
                                    &job->desc.compaction);
    status = phi__config_jobs_prompt(maker, job, prompt, files);
    if (status == PHI_OK) status = phi__config_jobs_model(maker, job);
    if (status == PHI_OK) status = phi__config_settings_agent(maker, job);
    if (status == PHI_OK) status = phi__config_jobs_tools(maker, job);
    return status == PHI_OK ? phi__config_children_add(maker, job) : status;
}

static void phi__config_jobs_no_tool(const phi__config_making *making, const phi_json *item,
                                     phi_str name) {
    const char *near = phi__config_words_nearest(name, making->offered, making->offered_count);
    char all[300] = "";
    size_t i, n = 0;
    if (near != NULL) {
        phi__config_words_error(making->ground, item, PHI_NOT_FOUND, NULL,
                                "\"%s\": there is no such tool; did you mean \"%s\"?", name.at,
                                near);
        return;
    }
    for (i = 0; i < making->offered_count && n < sizeof all; i++)
        n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", i == 0 ? "; there are " : ", ",
                              making->offered[i]);
    phi__config_words_error(making->ground, item, PHI_NOT_FOUND, NULL,
                            "\"%s\": there is no such tool%s", name.at, all);
}

PHI__FN phi_status phi__config_jobs_end(phi__config_job *job) {
    phi__config_making *making = &job->making;
    phi_json_iter it = phi_json_each(making->names);
    const phi_json *item;
    size_t i;
    for (i = 0; (item = phi_json_next(&it)) != NULL; i++) {
        phi_str name = phi_json_str(item, "");
        if (!making->known[i]) phi__config_jobs_no_tool(making, item, name);
    }
    job->desc.tools = making->tools;
    job->desc.tool_count = making->tool_count;
    job->desc.tool_options.sources = making->sources;
    job->desc.tool_options.source_count = making->source_count;
    return PHI_OK;
}
