/* config_agents.c - makes the agents of a configuration: all of them, or none. */
#include "config/config_agents_in.h"

#include "agent/agent_in.h"
#include "agent/snapshot.h"
#include "loop/hook.h"
#include "loop/loop_in.h"
#include "model/model_in.h"
#include "persist/file_store.h"
#include "config/config_own_in.h"

#include <stdio.h>

/* ---- an agent under construction ---- */

/* Returns item i of a list, or NULL past its end. A text counts as a list with one item. The list's
   iterator is kept, so a walk takes time linear in the list. */
static const phi_json *phi__making_item(phi__cfg_making *making, const phi_json *list, size_t i) {
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

PHI__FN bool phi__making_used(phi__cfg_making *making, const char *key, const char *space,
                              const phi_json *section, size_t i, phi__cfg_used *out) {
    const phi_json *list = phi_json_get(making->node, key);
    if (list == NULL) list = phi_json_get(making->base, key);
    memset(out, 0, sizeof *out);
    if (list == NULL) {
        const phi_json *instances =
            phi_json_is(section, PHI_JSON_ARRAY) ? section : phi_json_get(section, "instances");
        out->node = out->from = making->is_child ? NULL : phi__making_item(making, instances, i);
        out->keep = true;
        return out->node != NULL;
    }
    const phi_json *item = phi__making_item(making, list, i);
    if (item == NULL) return false;
    out->from = item;
    out->keep = phi__refs_parse(phi_json_str(item, "")).keep;
    out->node = phi__refs_find(making->ground->config, space, phi_json_str(item, "").at);
    return true;
}

PHI__FN phi_status phi__making_tool(phi__cfg_making *making, const phi_tool *tool) {
    for (size_t i = 0; i < making->tool_count; i++)
        if (strcmp(making->tools[i].name, tool->name) == 0) return PHI_OK;
    phi_tool *tools = (phi_tool *)phi__arena_grow(
        making->ground->arena, making->tools, making->tool_count, &making->tool_cap, sizeof *tools);
    if (tools == NULL) return PHI_NO_MEMORY;
    making->tools = tools;
    tools[making->tool_count++] = *tool;
    return PHI_OK;
}

PHI__FN phi_status phi__making_source(phi__cfg_making *making, const phi_tool_source *source) {
    void *sources = phi__arena_grow(making->ground->arena, (void *)(uintptr_t)making->sources,
                                    making->source_count, &making->source_cap, sizeof source);
    if (sources == NULL) return PHI_NO_MEMORY;
    making->sources = (const phi_tool_source **)sources;
    making->sources[making->source_count++] = source;
    return PHI_OK;
}

PHI__FN bool phi__making_offer(phi__cfg_making *making, const char *name) {
    phi_json_iter it = phi_json_each(making->names);
    const phi_json *item;
    bool wanted = false;
    void *offered = phi__arena_grow(making->ground->arena, (void *)(uintptr_t)making->offered,
                                    making->offered_count, &making->offered_cap, sizeof name);
    if (offered != NULL) {
        making->offered = (const char **)offered;
        making->offered[making->offered_count++] = name;
    }
    for (size_t i = 0; (item = phi_json_next(&it)) != NULL; i++) {
        if (!phi__str_is(phi_json_str(item, ""), name)) continue;
        making->known[i] = wanted = true;
    }
    return wanted;
}

PHI__FN void phi__making_trust(phi__cfg_making *making) {
    size_t n = phi_json_count(making->names);
    for (size_t i = 0; i < n; i++) making->known[i] = true;
}

/* Appends a job: for an agent if depth is 0, else for a sub-agent. An agent's desc begins as the
   host's base desc merged with that desc's profile. Fails with PHI_NO_MEMORY, or with PHI_TOO_BIG
   if there are too many jobs or levels; the problem is then added at `from`. */
static phi_status phi__cfg_queue_add(phi__cfg_maker *maker, const phi_json *node,
                                     const phi_json *from, uint32_t depth, phi__cfg_job **out) {
    phi__cfg_job *job;
    *out = NULL;
    if (maker->job_count >= PHI__CFG_JOBS_MOST || depth > PHI__CFG_DEPTH_MOST) {
        phi__cfg_error(
            &maker->ground, from, PHI_TOO_BIG, NULL,
            "agents and their sub-agents: at most %d in all, and %d levels of sub-agents",
            PHI__CFG_JOBS_MOST, PHI__CFG_DEPTH_MOST);
        return PHI_TOO_BIG;
    }
    job = (phi__cfg_job *)phi__arena_zero(maker->ground.arena, sizeof *job);
    if (job == NULL) return PHI_NO_MEMORY;
    job->depth = depth;
    job->making.ground = &maker->ground;
    job->making.node = node;
    job->making.base = depth == 0 ? maker->whole.top.agent : NULL;
    job->making.is_child = depth > 0;
    job->making.desc = &job->desc;
    job->making.top = &job->desc;
    if (depth == 0 && maker->ground.desc.base != NULL)
        job->desc = phi__make_merge(maker->ground.desc.base);
    if (maker->last != NULL)
        maker->last->next = job;
    else
        maker->first = job;
    maker->last = job;
    maker->job_count++;
    *out = job;
    return PHI_OK;
}

/* ---- sub-agents of the file: tools of agents, with their own settings ---- */

/* Makes a sub-agent and the job that fills its settings. */
static phi_status phi__cfg_child_new(phi__cfg_maker *maker, const phi__cfg_used *used,
                                     const phi__cfg_job *caller, phi_subagent_desc **out) {
    phi_arena *arena = maker->ground.arena;
    phi_subagent_desc *sub = (phi_subagent_desc *)phi__arena_zero(arena, sizeof *sub);
    phi__cfg_job *job;
    phi_status status = PHI_NO_MEMORY;
    if (sub != NULL)
        status = phi__cfg_queue_add(maker, used->node, used->from, caller->depth + 1, &job);
    if (status != PHI_OK) return status;
    phi__cfg_sub_agent *child = &job->child;
    if (!phi__cfg_take(arena, used->node, phi__table_sub_agent(), child)) return PHI_NO_MEMORY;
    if (child->base_url != NULL && child->base_url[0] == '\0') child->base_url = NULL;
    if (child->model != NULL && child->model[0] == '\0') child->model = NULL;
    if (child->name == NULL) {
        phi_str id = phi__refs_parse(phi_str_of(child->id != NULL ? child->id : "")).name;
        if (!phi__arena_str(arena, id, &id)) return PHI_NO_MEMORY;
        child->name = id.at;
    }
    job->making.name = child->name;
    job->making.top = caller->making.top;
    job->making.has_own_key = caller->making.has_own_key;
    job->making.workspace = caller->making.workspace;
    job->making.place = caller->making.place;
    *sub = child->desc;
    sub->name = child->name;
    sub->description = child->description;
    sub->agent = &job->desc;
    *out = sub;
    return PHI_OK;
}

/* True if two callers give a sub-agent the same workspace, the same server for its key, and the
   same decision timeout. */
static bool phi__cfg_child_alike(const phi__cfg_making *a, const phi__cfg_making *b) {
    return a->has_own_key == b->has_own_key &&
           a->top->deadlines.decision_ms == b->top->deadlines.decision_ms &&
           strcmp(a->workspace, b->workspace) == 0 &&
           strcmp(a->top->workspace, b->top->workspace) == 0 &&
           phi__model_same_server(a->top->model.base_url, b->top->model.base_url);
}

/* Finds the sub-agent that an earlier reference with % made, or makes a new one. */
static phi_status phi__cfg_child_find(phi__cfg_maker *maker, const phi__cfg_used *used,
                                      const phi__cfg_job *caller, phi_subagent_desc **out) {
    phi__cfg_kept *kept = maker->kept;
    bool keep = phi__refs_parse(phi_json_str(used->from, "")).keep;
    while (keep && kept != NULL &&
           (kept->node != used->node || !phi__cfg_child_alike(kept->caller, &caller->making)))
        kept = kept->next;
    if (keep && kept != NULL) {
        *out = kept->sub;
        return PHI_OK;
    }
    phi_status status = phi__cfg_child_new(maker, used, caller, out);
    if (status != PHI_OK || !keep) return status;
    kept = (phi__cfg_kept *)phi_arena_alloc(maker->ground.arena, sizeof *kept);
    if (kept == NULL) return PHI_NO_MEMORY;
    kept->node = used->node;
    kept->caller = &caller->making;
    kept->sub = *out;
    kept->next = maker->kept;
    maker->kept = kept;
    return PHI_OK;
}

/* Fills all settings of a sub-agent except its model and prompt. */
static phi_status phi__cfg_child_settings(phi__cfg_maker *maker, phi__cfg_job *job) {
    const phi__cfg_sub_agent *child = &job->child;
    phi_agent_desc *desc = &job->desc;
    phi_status status = phi__settings_whole(maker, desc);
    desc->limits = child->limits;
    memset(&desc->budget, 0, sizeof desc->budget); /* the calling agent's budget pays */
    desc->deadlines.decision_ms = job->making.top->deadlines.decision_ms;
    desc->thinking = child->thinking;
    desc->max_tokens = child->max_tokens;
    desc->options.has_temperature = child->has_temperature;
    desc->options.temperature = child->temperature;
    if (child->compaction != NULL)
        phi__settings_compaction(maker, child->compaction, &desc->compaction);
    else
        desc->compaction.disable = true;
    job->making.profile.skills = child->skills.at;
    job->making.profile.skill_count = child->skills.count;
    if (status != PHI_OK || child->strategy == NULL) return status;
    return phi__cfg_strat_make(&maker->ground, child->strategy, &desc->provider);
}

/* Gives a sub-agent the host's hook at the points of its tools. If the sub-agent uses its caller's
   key, the hook also supplies that key. */
static void phi__cfg_child_hook(const phi__cfg_making *making, phi_agent_desc *desc) {
    const phi_agent_desc *base = making->ground->desc.base;
    uint32_t points = (uint32_t)PHI_HOOK_BEFORE_TOOL | (uint32_t)PHI_HOOK_AFTER_TOOL;
    if (!making->has_own_key) points |= (uint32_t)PHI_HOOK_CREDENTIAL;
    if (base == NULL || (base->hook_points & points) == 0) return;
    desc->hook_fn = base->hook_fn;
    desc->hook_points = base->hook_points & points;
    desc->user_data = base->user_data;
    desc->hook_user_data = base->hook_user_data;
}

/* Warns if a sub-agent at another server does not get its provider's key or headers. */
static void phi__cfg_child_withheld(phi__cfg_job *job, const phi_json *provider) {
    bool key =
        job->child.api_key == NULL && phi_json_str(phi_json_get(provider, "api_key"), "").len > 0;
    bool headers = phi_json_count(phi_json_get(provider, "headers")) > 0;
    if (!key && !headers) return;
    phi__cfg_warn(job->making.ground, job->making.node,
                  headers ? "sub_agents.instances.provider" : "sub_agents.instances.api_key",
                  "sub-agent \"%s\" talks to another server than its provider, whose %s%s%s it "
                  "does not get: %s",
                  job->making.name, key ? "api_key" : "", key && headers ? " and " : "",
                  headers ? "headers" : "",
                  headers ? "give it a provider of [[provider.instances]] with what it needs"
                          : "write its own api_key (\"\": it needs none)");
}

/* Checks a sub-agent without a provider. It must name both a model and that model's server, or
   neither. If it names neither, it uses its caller's model. */
static void phi__cfg_child_unplaced(const phi__cfg_job *job) {
    const phi__cfg_making *making = &job->making;
    const phi__cfg_sub_agent *child = &job->child;
    bool api = phi__fields_has(phi__table_sub_agent(), child, "api");
    if (child->model == NULL && (api || child->base_url != NULL || child->api_key != NULL))
        phi__cfg_error(making->ground, making->node, PHI_BAD_ARG, "sub_agents.instances.model",
                       "sub-agent \"%s\" has no model, and there is no [provider]: its %s would do "
                       "nothing; write model = \"...\", too",
                       making->name,
                       child->base_url != NULL ? "base_url"
                       : api                   ? "api"
                                               : "api_key");
    if (child->model != NULL && !api && child->base_url == NULL)
        phi__cfg_error(making->ground, phi_json_get(making->node, "model"), PHI_BAD_ARG,
                       "sub_agents.instances.model",
                       "sub-agent \"%s\": nothing says which server has its model: add a "
                       "[provider], or write its provider, api or base_url",
                       making->name);
}

/* Makes the sub-agent's model (default: the calling agent's). */
static phi_status phi__cfg_child_model(phi__cfg_maker *maker, phi__cfg_job *job) {
    phi__cfg_ground *ground = &maker->ground;
    const phi__cfg_sub_agent *child = &job->child;
    const phi_json *provider = phi__cfg_model_node(maker, child->provider);
    phi__cfg_making *making = &job->making;
    phi_model *model = &job->desc.model;
    bool same = true;
    phi_status status = PHI_OK;
    if (provider != NULL || child->model != NULL)
        status = phi__cfg_model_make(ground, provider, child, model, &same);
    if (status != PHI_OK) return status;
    if (provider == NULL) phi__cfg_child_unplaced(job);
    if (model->protocol != NULL)
        making->has_own_key = child->api_key != NULL || child->provider != NULL ||
                              !phi__model_same_server(model->base_url, making->top->model.base_url);
    phi__cfg_child_hook(making, &job->desc);
    if (!same) phi__cfg_child_withheld(job, provider);
    return PHI_OK;
}

/* Adds the job's sub-agents to its tools, and adds a job for each of them. Fails as
   phi__cfg_queue_add does. */
static phi_status phi__cfg_child_add(phi__cfg_maker *maker, phi__cfg_job *job) {
    phi__cfg_used used;
    phi_status status = PHI_OK;
    for (size_t i = 0; status == PHI_OK && phi__making_used(&job->making, "sub_agents", "sub_agent",
                                                            maker->whole.top.sub_agents, i, &used);
         i++) {
        phi_subagent_desc *sub;
        if (used.node == NULL) continue;
        status = phi__cfg_child_find(maker, &used, job, &sub);
        if (status != PHI_OK) return status;
        phi_tool tool = phi_subagent_tool(sub);
        (void)phi__making_offer(&job->making, tool.name);
        status = phi__making_tool(&job->making, &tool);
    }
    return status;
}

/* Fills the desc of a sub-agent's job. */
static phi_status phi__cfg_child_begin(phi__cfg_maker *maker, phi__cfg_job *job) {
    phi__cfg_ground *ground = &maker->ground;
    phi__cfg_making *making = &job->making;
    const phi__cfg_sub_agent *child = &job->child;
    const char *prompt = NULL;
    making->names = phi_json_get(making->node, "tools");
    making->known = (bool *)phi__arena_zero(ground->arena, phi_json_count(making->names) + 1);
    if (child->workspace != NULL && child->workspace[0] != '\0') {
        making->place = phi_json_get(making->node, "workspace");
        making->workspace = phi__cfg_join(ground->arena, ground->directory, child->workspace);
    }
    if (making->known == NULL || making->workspace == NULL) return PHI_NO_MEMORY;
    job->desc.workspace = making->workspace;
    phi_status status = phi__cfg_child_model(maker, job);
    if (status != PHI_OK) return status;
    status = phi__cfg_prompt_make(ground, phi_json_get(making->node, "system_prompt"),
                                  making->workspace, &prompt);
    job->desc.system_prompt = prompt;
    if (status == PHI_OK) status = phi__cfg_child_settings(maker, job);
    for (size_t i = 0; status == PHI_OK && i < ground->desc.tool_count; i++)
        if (phi__making_offer(making, ground->desc.tools[i].name))
            status = phi__making_tool(making, &ground->desc.tools[i]);
    return status == PHI_OK ? phi__cfg_child_add(maker, job) : status;
}

/* ---- where the threads of persistent agents are kept ---- */

enum { PHI__CFG_STORE_ID = 128 }; /* in bytes; from persist/store.h */

/* Joins a and b with "-" into an id that a store accepts. Other characters become "_". */
static const char *phi__cfg_store_id(phi_arena *arena, phi_str a, phi_str b) {
    size_t n = 0;
    char *id = phi__arena_bytes(arena, phi__add(phi__add(a.len, b.len), 3));
    if (id == NULL) return NULL;
    for (size_t i = 0; i < a.len && n < PHI__CFG_STORE_ID; i++) id[n++] = a.at[i];
    if (b.len > 0 && a.len > 0 && n < PHI__CFG_STORE_ID) id[n++] = '-';
    for (size_t i = 0; i < b.len && n < PHI__CFG_STORE_ID; i++) id[n++] = b.at[i];
    for (size_t i = 0; i < n; i++) {
        char c = id[i];
        bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '_' || c == '-' || (c == '.' && i > 0);
        if (!fits) id[i] = '_';
    }
    id[n] = '\0';
    return id;
}

/* Sets *fits to true if a store accepts the id unchanged. */
static phi_status phi__cfg_store_check(phi_arena *arena, phi_str id, bool *fits) {
    const char *folded = phi__cfg_store_id(arena, id, PHI__LIT(""));
    *fits = folded != NULL && id.len > 0 && phi__str_is(id, folded);
    return folded != NULL ? PHI_OK : PHI_NO_MEMORY;
}

/* Splits "dir/name.jsonl" into a directory and a name. Without that ending, the name is empty. */
static void phi__cfg_store_split(phi_str path, phi_str *directory, phi_str *name) {
    *directory = phi__path_directory(path);
    if (directory->len == 0) *directory = PHI__LIT(".");
    *name = phi__path_name(path);
    if (name->len > 6 && memcmp(name->at + name->len - 6, ".jsonl", 6) == 0)
        name->len -= 6;
    else
        name->len = 0;
}

static phi_status phi__cfg_store_open(phi__cfg_maker *maker, const phi_json *node,
                                      const char *field, const char *directory) {
    maker->is_kept = true;
    if (maker->ground.desc.check_only) return PHI_OK;
    phi_file_store_desc desc = PHI_ZERO;
    desc.directory = directory;
    desc.allocator = maker->ground.memory->allocator;
    desc.sync = maker->whole.session.sync;
    phi_status status = phi_file_store_open(&desc, &maker->store);
    if (status == PHI_OK || status == PHI_NO_MEMORY) return status;
    phi__cfg_error(&maker->ground, node, status, field, "%s: the directory \"%s\" %s", field,
                   directory,
                   status == PHI_UNSUPPORTED ? "cannot be used: files are left out of this program"
                                             : "is empty or too long");
    return PHI_OK;
}

/* Opens the directory of the host's session_file, and sets the thread. */
static phi_status phi__cfg_store_file(phi__cfg_maker *maker) {
    phi__cfg_ground *ground = &maker->ground;
    const char *file = ground->desc.session_file;
    phi_str directory, name;
    bool fits = false;
    phi__cfg_store_split(phi_str_of(file), &directory, &name);
    if (!phi__arena_str(ground->arena, name, &name) ||
        !phi__arena_str(ground->arena, directory, &directory))
        return PHI_NO_MEMORY;
    phi_status status = phi__cfg_store_check(ground->arena, name, &fits);
    maker->thread = name.at;
    if (status != PHI_OK || fits)
        return status == PHI_OK ? phi__cfg_store_open(maker, NULL, "session_file", directory.at)
                                : status;
    phi__cfg_error(ground, NULL, PHI_BAD_ARG, "session_file",
                   "session_file \"%s\": expected a name of letters, digits, \"-\", \"_\" and "
                   "\".\" that ends in \".jsonl\", as \"monday.jsonl\"",
                   file);
    return PHI_OK;
}

/* Sets and checks the thread id. `node` is its value in [session], or NULL if the id comes from the
   host's desc. */
static phi_status phi__cfg_store_thread(phi__cfg_maker *maker, const phi_json *node,
                                        const char *field, const char *thread) {
    phi__cfg_ground *ground = &maker->ground;
    bool fits = false;
    maker->thread = thread;
    phi_status status = phi__cfg_store_check(ground->arena, phi_str_of(maker->thread), &fits);
    if (status == PHI_OK && !fits)
        phi__cfg_error(ground, node, PHI_BAD_ARG, field,
                       "%s \"%s\": expected at most %d letters, digits, \"-\", \"_\" and \".\", "
                       "and no \".\" first",
                       field, thread, PHI__CFG_STORE_ID);
    return status;
}

/* Sets the thread id from the file, else from the base desc. */
static phi_status phi__cfg_store_which(phi__cfg_maker *maker, const phi_agent_desc *base) {
    const char *thread = maker->whole.session.thread;
    if (maker->whole.session.scope != 0 && thread != NULL && thread[0] != '\0')
        return phi__cfg_store_thread(maker, phi_json_get(maker->whole.top.session, "thread"),
                                     "session.thread", thread);
    if (base == NULL || base->thread_id == NULL) return PHI_OK;
    return phi__cfg_store_thread(maker, NULL, "base.thread_id", base->thread_id);
}

/* Reports two agents with the same thread. */
static void phi__cfg_store_once(phi__cfg_maker *maker, const phi__cfg_job *job) {
    for (const phi__cfg_job *other = maker->first; other != job; other = other->next) {
        if (strcmp(other->desc.thread_id, job->desc.thread_id) != 0) continue;
        phi__cfg_error(&maker->ground, job->making.node, PHI_BAD_ARG, "agent.instances.name",
                       "agents \"%s\" and \"%s\" would both keep the thread \"%s\": give them "
                       "names of letters, digits, \"-\" and \"_\" that differ",
                       other->making.name, job->making.name, job->desc.thread_id);
        return;
    }
}

static phi_status phi__cfg_store_begin(phi__cfg_maker *maker) {
    phi__cfg_ground *ground = &maker->ground;
    const phi__cfg_session *session = &maker->whole.session;
    const phi_agent_desc *base = ground->desc.base;
    const phi_store *store = ground->desc.store;
    if (ground->desc.session_file != NULL) return phi__cfg_store_file(maker);
    /* The host's thread is kept, whatever the file says. */
    if (session->scope == 0 && (base == NULL || base->thread_id == NULL)) return PHI_OK;
    phi_status status = phi__cfg_store_which(maker, base);
    if (status != PHI_OK) return status;
    if (store == NULL && base != NULL) store = base->store;
    if (session->scope != 0 && session->directory != NULL && session->directory[0] != '\0') {
        const char *path = phi__cfg_join(ground->arena, ground->directory, session->directory);
        return path != NULL
                   ? phi__cfg_store_open(maker, maker->whole.top.session, "session.directory", path)
                   : PHI_NO_MEMORY;
    }
    if (store != NULL) {
        maker->is_kept = maker->lent = true;
        maker->store = *store;
    } else if (session->scope == 0)
        phi__cfg_error(ground, NULL, PHI_BAD_ARG, "base.thread_id",
                       "base.thread_id is \"%s\", and there is no store: set phi_agents_desc.store",
                       base->thread_id);
    else
        phi__cfg_error(ground, maker->whole.top.session, PHI_BAD_ARG, "session.directory",
                       "session.scope \"persistent\" needs a place: write directory = "
                       "\"sessions\", or set phi_agents_desc.store");
    return PHI_OK;
}

/* Sets the store and the thread of an agent. Fails only with PHI_NO_MEMORY. */
static phi_status phi__cfg_store_use(phi__cfg_maker *maker, phi__cfg_job *job) {
    phi_arena *arena = maker->ground.arena;
    bool single =
        maker->first == NULL || maker->first->next == NULL || maker->first->next->depth > 0;
    phi_str thread = phi_str_of(maker->thread != NULL ? maker->thread : "");
    phi_str name = phi_str_of(job->making.name);
    bool first = maker->ground.desc.session_file != NULL && job == maker->first;
    if (!maker->is_kept || job->depth > 0) return PHI_OK;
    if (thread.len > 0 && (single || first)) name.len = 0;
    if (maker->store.append != NULL) job->desc.store = &maker->store;
    job->desc.thread_id = phi__cfg_store_id(arena, thread, name);
    if (job->desc.thread_id == NULL) return PHI_NO_MEMORY;
    phi__cfg_store_once(maker, job);
    return PHI_OK;
}

/* ---- the agents of a file: profile, workspace, prompt, model ---- */

/* Reads an agent's profile: [agent.profile], then the profile it refers to, then its own table. */
static phi_status phi__jobs_profile(phi__cfg_maker *maker, phi__cfg_job *job, phi__cfg_profile *out,
                                    const phi_json **prompt, const phi_json **place) {
    phi_arena *arena = maker->ground.arena;
    const phi_json *base = phi_json_get(job->making.base, "profile");
    const phi_json *own = phi_json_get(job->making.node, "profile"), *instance = NULL;
    if (job->taken.agent_profile != NULL)
        instance = phi__refs_find(maker->ground.config, "agent_profile", job->taken.agent_profile);
    const phi_json *nodes[] = {base, instance, own};
    for (size_t i = 0; i < PHI__COUNT(nodes); i++) {
        const phi_json *text = phi_json_get(nodes[i], "system_prompt");
        const phi_json *workspace = phi_json_get(nodes[i], "workspace");
        if (!phi__cfg_take(arena, nodes[i], phi__table_profile(), out)) return PHI_NO_MEMORY;
        if (phi_json_str(text, "").len > 0) *prompt = text;
        if (phi_json_is(workspace, PHI_JSON_STRING)) *place = workspace;
    }
    return PHI_OK;
}

static void phi__jobs_identity(phi__cfg_job *job, const phi__cfg_profile *taken) {
    phi_profile *profile = &job->making.profile;
    phi_agent_desc *desc = &job->desc;
    const phi__cfg_table *table = phi__table_profile();
    if (desc->profile != NULL) *profile = *desc->profile;
    /* The host's values are already in the desc, where the file's values replace them. */
    profile->system_prompt = profile->workspace = NULL;
    profile->thinking = PHI_THINKING_OFF;
    profile->max_tokens = 0;
    profile->has_temperature = false;
    profile->temperature = 0;
    if (taken->profile_id != NULL) profile->profile_id = taken->profile_id;
    if (taken->name != NULL) profile->name = taken->name;
    if (taken->description != NULL) profile->description = taken->description;
    if (taken->config_id != NULL) profile->config_id = taken->config_id;
    if (phi__fields_has(table, taken, "skills")) {
        profile->skills = taken->skills.at;
        profile->skill_count = taken->skills.count;
    }
    if (phi__fields_has(table, taken, "thinking_level")) desc->thinking = taken->thinking;
    if (taken->max_tokens > 0) desc->max_tokens = taken->max_tokens;
    if (taken->has_temperature) {
        desc->options.has_temperature = true;
        desc->options.temperature = taken->temperature;
    }
    if (taken->config_id != NULL) desc->ids.config_id = taken->config_id;
    desc->profile = profile;
}

/* Sets the workspace. *files is set to the directory where "file:" paths start: the workspace, or
   the file's directory if there is no workspace. */
static phi_status phi__jobs_workspace(phi__cfg_maker *maker, phi__cfg_job *job,
                                      const phi_json *of_profile, const char **files) {
    const phi__cfg_ground *ground = &maker->ground;
    const phi_json *places[] = {phi_json_get(job->making.node, "workspace"),
                                phi_json_get(job->making.base, "workspace"), of_profile,
                                phi_json_get(phi_config_tree(ground->config), "default_workspace")};
    phi_str name = PHI__LIT("");
    for (size_t i = 0; i < PHI__COUNT(places) && name.len == 0; i++) {
        name = phi_json_str(places[i], "");
        if (name.len > 0) job->making.place = places[i];
    }
    if (name.len == 0) {
        job->making.workspace = job->desc.workspace != NULL ? job->desc.workspace : ".";
        *files = job->desc.workspace != NULL ? job->desc.workspace : ground->directory;
    } else {
        job->making.workspace = phi__cfg_join(ground->arena, ground->directory, name.at);
        *files = job->making.workspace;
    }
    job->desc.workspace = job->making.workspace;
    return job->making.workspace != NULL ? PHI_OK : PHI_NO_MEMORY;
}

static phi_status phi__jobs_prompt(phi__cfg_maker *maker, phi__cfg_job *job,
                                   const phi_json *of_profile, const char *files) {
    const phi_json *node = phi_json_get(job->making.node, "system_prompt");
    const char *text = NULL;
    if (phi_json_str(node, "").len == 0) node = phi_json_get(job->making.base, "system_prompt");
    if (phi_json_str(node, "").len == 0) node = of_profile;
    phi_status status = phi__cfg_prompt_make(&maker->ground, node, files, &text);
    if (text != NULL) job->desc.system_prompt = text;
    return status;
}

static phi_status phi__jobs_model(phi__cfg_maker *maker, phi__cfg_job *job) {
    const phi_json *node = phi__cfg_model_node(maker, job->taken.provider);
    if (node == NULL && job->desc.model.protocol != NULL) return PHI_OK; /* the host's model */
    if (node == NULL) node = maker->whole.top.provider; /* where a warning points to */
    return phi__cfg_model_make(&maker->ground, node, NULL, &job->desc.model, NULL);
}

static bool phi__jobs_names(phi__cfg_maker *maker, phi__cfg_job *job) {
    const phi_json *names = phi_json_get(job->making.node, "tools");
    if (names == NULL) names = phi_json_get(job->making.base, "tools");
    if (names == NULL && job->depth == 0) names = phi_json_get(maker->whole.top.tools, "enabled");
    size_t n = phi_json_count(names);
    job->making.names = names;
    job->making.known = (bool *)phi__arena_zero(maker->ground.arena, n + 1);
    return job->making.known != NULL;
}

/* Adds the tools of the host: those of its base desc, and those that the file names. */
static phi_status phi__jobs_tools(phi__cfg_maker *maker, phi__cfg_job *job) {
    const phi_agents_desc *host = &maker->ground.desc;
    phi__cfg_making *making = &job->making;
    phi_status status = PHI_OK;
    for (size_t i = 0; status == PHI_OK && i < job->desc.tool_count && job->depth == 0; i++) {
        (void)phi__making_offer(making, job->desc.tools[i].name);
        status = phi__making_tool(making, &job->desc.tools[i]);
    }
    for (size_t i = 0; status == PHI_OK && i < host->tool_count; i++)
        if (phi__making_offer(making, host->tools[i].name))
            status = phi__making_tool(making, &host->tools[i]);
    for (size_t i = 0;
         status == PHI_OK && i < job->desc.tool_options.source_count && job->depth == 0; i++)
        status = phi__making_source(making, job->desc.tool_options.sources[i]);
    return status;
}

/* Adds a job for each agent of the file. Fails as phi__cfg_queue_add does. */
static phi_status phi__jobs_plan(phi__cfg_maker *maker) {
    const phi_json *instances = phi_json_get(maker->whole.top.agent, "instances"), *node;
    phi_json_iter it = phi_json_each(instances);
    phi__cfg_job *job;
    phi_status status;
    if (phi_json_count(instances) == 0) {
        status = phi__cfg_queue_add(maker, NULL, NULL, 0, &job);
        if (status != PHI_OK) return status;
        job->making.name = "default";
        return PHI_OK;
    }
    while ((node = phi_json_next(&it)) != NULL) {
        status = phi__cfg_queue_add(maker, node, node, 0, &job);
        if (status != PHI_OK) return status;
        job->making.name = phi_json_str(phi_json_get(node, "name"), "unnamed").at;
    }
    return PHI_OK;
}

/* Fills a job's desc, except for the parts of sections. Fails as phi__cfg_queue_add does. */
static phi_status phi__jobs_begin(phi__cfg_maker *maker, phi__cfg_job *job) {
    const phi_json *prompt = NULL, *place = NULL;
    const char *files = NULL;
    phi__cfg_profile profile = PHI_ZERO;
    if (job->depth > 0) return phi__cfg_child_begin(maker, job);
    phi__cfg_agent *a = &job->taken;
    phi__cfg_agent_begin(a, &job->desc);
    if (!phi__cfg_take(maker->ground.arena, job->making.base, phi__table_agent(), a) ||
        !phi__cfg_take(maker->ground.arena, job->making.node, phi__table_agent_instance(), a) ||
        !phi__jobs_names(maker, job))
        return PHI_NO_MEMORY;
    job->desc = a->desc;
    if (a->agent_id != NULL) job->desc.ids.agent_id = a->agent_id;
    if (a->session_id != NULL) job->desc.ids.session_id = a->session_id;
    job->desc.memory.limit_bytes = phi__cfg_take_size(a->memory_limit_bytes);
    job->desc.memory.event_queue_bytes = phi__cfg_take_size(a->event_queue_bytes);
    job->desc.memory.max_event_bytes = phi__cfg_take_size(a->max_event_bytes);
    job->desc.memory.max_response_bytes = phi__cfg_take_size(a->max_response_bytes);
    phi_status status = phi__jobs_profile(maker, job, &profile, &prompt, &place);
    if (status == PHI_OK) status = phi__jobs_workspace(maker, job, place, &files);
    if (status != PHI_OK) return status;
    phi__jobs_identity(job, &profile);
    const char *compaction = a->compaction != NULL ? a->compaction : profile.compaction;
    phi__settings_compaction(maker, compaction, &job->desc.compaction);
    status = phi__jobs_prompt(maker, job, prompt, files);
    if (status == PHI_OK) status = phi__jobs_model(maker, job);
    if (status == PHI_OK) status = phi__settings_agent(maker, job);
    if (status == PHI_OK) status = phi__jobs_tools(maker, job);
    return status == PHI_OK ? phi__cfg_child_add(maker, job) : status;
}

static void phi__jobs_no_tool(const phi__cfg_making *making, const phi_json *item, phi_str name) {
    const char *nearest = phi__cfg_nearest(name, making->offered, making->offered_count);
    char all[300] = "";
    size_t n = 0;
    if (nearest != NULL) {
        phi__cfg_error(making->ground, item, PHI_NOT_FOUND, NULL,
                       "\"%s\": there is no such tool; did you mean \"%s\"?", name.at, nearest);
        return;
    }
    for (size_t i = 0; i < making->offered_count && n < sizeof all; i++)
        n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", i == 0 ? "; there are " : ", ",
                              making->offered[i]);
    phi__cfg_error(making->ground, item, PHI_NOT_FOUND, NULL, "\"%s\": there is no such tool%s",
                   name.at, all);
}

/* Completes a job's lists of tools and sources. Reports each name that no tool has. */
static void phi__jobs_end(phi__cfg_job *job) {
    phi__cfg_making *making = &job->making;
    phi_json_iter it = phi_json_each(making->names);
    const phi_json *item;
    for (size_t i = 0; (item = phi_json_next(&it)) != NULL; i++) {
        phi_str name = phi_json_str(item, "");
        if (!making->known[i]) phi__jobs_no_tool(making, item, name);
    }
    job->desc.tools = making->tools;
    job->desc.tool_count = making->tool_count;
    job->desc.tool_options.sources = making->sources;
    job->desc.tool_options.source_count = making->source_count;
}

/* ---- all agents of a file ---- */

struct phi_agents {
    phi_memory memory;
    phi_arena arena;
    phi__cfg_maker maker;
    phi__cfg_probs problems;
    phi_status status; /* PHI_BUSY while agents are being made */
    const phi_config_section *const *sections;
    void **states;
    size_t section_count, begun; /* begun: number of sections begun */
    bool planned;
    phi__cfg_job **agents; /* the jobs whose agents exist */
    size_t agent_count;
};

static bool phi__agents_directory(phi_agents *a) {
    const char *path = phi__load_path(a->maker.ground.config);
    phi_str out = path != NULL ? phi__path_directory(phi_str_of(path)) : PHI__LIT("");
    if (out.len == 0) out = PHI__LIT(".");
    if (!phi__arena_str(&a->arena, out, &out)) return false;
    a->maker.ground.directory = out.at;
    return true;
}

/* Reads the parts of the file that hold for all agents. */
static bool phi__agents_whole(phi_agents *a) {
    phi__cfg_whole *w = &a->maker.whole;
    const phi_json *tree = phi_config_tree(a->maker.ground.config);
    phi_arena *arena = &a->arena;
    return phi__cfg_take(arena, tree, phi__table_top(), &w->top) &&
           phi__cfg_take(arena, w->top.tools, phi__table_tools(), &w->tools) &&
           phi__cfg_take(arena, w->top.session, phi__table_session(), &w->session);
}

/* Copies a block that the host may change before the first step. NULL: no memory. */
static void *phi__agents_keep(phi_agents *a, const void *block, size_t bytes) {
    void *copy = phi_arena_alloc(&a->arena, bytes);
    if (copy != NULL) memcpy(copy, block, bytes);
    return copy;
}

static bool phi__agents_copy(phi_agents *a, const phi_agents_desc *desc) {
    phi_agents_desc *own = &a->maker.ground.desc;
    phi_str file = PHI__LIT("");
    if (desc == NULL) return true;
    *own = *desc;
    if (desc->store != NULL) {
        own->store = (phi_store *)phi__agents_keep(a, desc->store, sizeof *desc->store);
        if (own->store == NULL) return false;
    }
    if (desc->tool_count > 0) {
        own->tools = (phi_tool *)phi__agents_keep(a, desc->tools,
                                                  phi__mul(desc->tool_count, sizeof *desc->tools));
        if (own->tools == NULL) return false;
    }
    if (desc->session_file == NULL) return true;
    if (!phi__arena_str(&a->arena, phi_str_of(desc->session_file), &file)) return false;
    own->session_file = file.at;
    return true;
}

static bool phi__agents_fill(phi_agents *a, const phi_agents_desc *desc) {
    phi__cfg_ground *ground = &a->maker.ground;
    if (!phi__agents_copy(a, desc)) return false;
    a->sections = ground->config->sections;
    while (a->sections[a->section_count] != NULL) a->section_count++;
    a->states = (void **)phi__arena_zero(&a->arena, (a->section_count + 1) * sizeof *a->states);
    return a->states != NULL && phi__agents_directory(a) && phi__agents_whole(a);
}

/* ---- the end ---- */

static void phi__agents_drop(phi_agents *a) {
    for (phi__cfg_job *job = a->maker.first; job != NULL; job = job->next)
        if (job->agent.rt != NULL) {
            phi_agent_free(job->agent);
            memset(&job->agent, 0, sizeof job->agent);
        }
    while (a->begun > 0) {
        const phi_config_section *section = a->sections[--a->begun];
        if (section->end != NULL) section->end(a->states[a->begun]);
    }
    phi__cfg_maker *maker = &a->maker;
    if (maker->store.append != NULL && !maker->lent) phi_file_store_close(&maker->store);
    memset(&maker->store, 0, sizeof maker->store);
    a->agent_count = 0;
}

/* ---- the steps ---- */

static phi_status phi__agents_begin(phi_agents *a) {
    const phi_json *tree = phi_config_tree(a->maker.ground.config);
    phi_status status = PHI_OK;
    while (status == PHI_OK && a->begun < a->section_count) {
        const phi_config_section *section = a->sections[a->begun];
        if (section->begin != NULL)
            status = section->begin(&a->maker.ground, phi_json_get(tree, section->name),
                                    &a->states[a->begun]);
        if (status == PHI_OK) a->begun++;
    }
    if (status == PHI_OK) status = phi__cfg_store_begin(&a->maker);
    if (status == PHI_OK) status = phi__jobs_plan(&a->maker);
    a->maker.at = a->maker.first;
    a->planned = status == PHI_OK;
    return status;
}

static phi_status phi__agents_job(phi_agents *a, phi__cfg_job *job) {
    phi_status status = PHI_OK;
    if (!job->begun) {
        job->begun = true;
        status = phi__jobs_begin(&a->maker, job);
        if (status == PHI_OK) status = phi__cfg_store_use(&a->maker, job);
    }
    while (status == PHI_OK && job->section < a->section_count) {
        const phi_config_section *section = a->sections[job->section];
        if (section->use != NULL) status = section->use(a->states[job->section], &job->making);
        if (status != PHI_OK) break;
        job->section++;
        job->making.at = 0;
        job->making.work = NULL;
    }
    if (status == PHI_OK) phi__jobs_end(job);
    return status;
}

/* Makes the agents, whose descs are complete. */
static phi_status phi__agents_make(phi_agents *a) {
    phi__cfg_ground *ground = &a->maker.ground;
    size_t n = 0;
    for (phi__cfg_job *job = a->maker.first; job != NULL; job = job->next)
        n += job->depth == 0 ? 1 : 0;
    a->agents = (phi__cfg_job **)phi_arena_alloc(&a->arena, phi__mul(n, sizeof *a->agents));
    if (a->agents == NULL) return PHI_NO_MEMORY;
    for (phi__cfg_job *job = a->maker.first; job != NULL && job->depth == 0; job = job->next) {
        const char *words = NULL;
        job->agent = phi_agent_new(ground->rt, &job->desc);
        if (job->agent.rt != NULL) {
            a->agents[a->agent_count++] = job;
            continue;
        }
        words = phi_last_error(ground->rt).message;
        phi_status status = phi_last_error(ground->rt).status;
        phi__cfg_error(ground, job->making.node, status, NULL, "agent \"%s\": %s", job->making.name,
                       words != NULL ? words : "");
        return status;
    }
    return PHI_OK;
}

/* Does the next bounded piece of work. PHI_BUSY: there is more. */
static phi_status phi__agents_advance(phi_agents *a) {
    phi_status status;
    if (!a->planned) {
        status = phi__agents_begin(a);
        return status == PHI_OK ? PHI_BUSY : status;
    }
    if (a->maker.at != NULL) {
        status = phi__agents_job(a, a->maker.at);
        if (status != PHI_OK) return status;
        a->maker.at = a->maker.at->next;
        return PHI_BUSY;
    }
    status = phi__prob_status(&a->problems); /* includes problems lost for lack of memory */
    if (status != PHI_OK) return status;
    return a->maker.ground.desc.check_only ? PHI_OK : phi__agents_make(a);
}

static phi_status phi__agents_misuse(const phi_agents *a, const char *what) {
    return phi__error(a->maker.ground.rt, PHI_MISUSE, "%s inside a callback", what);
}

/* ---- public ---- */

PHI_API phi_agents *phi_agents_from_config(phi_runtime *rt, const phi_config *config,
                                           const phi_agents_desc *desc) {
    phi_agents *a;
    if (rt == NULL || config == NULL) return NULL;
    a = (phi_agents *)phi__alloc(&rt->memory, sizeof *a);
    if (a == NULL) return NULL;
    phi_memory_init(&a->memory, &rt->memory.allocator, 0);
    a->memory.parent = &rt->memory;
    phi_arena_init(&a->arena, &a->memory, 0);
    a->maker.ground.rt = rt;
    a->maker.ground.config = config;
    a->maker.ground.memory = &a->memory;
    a->maker.ground.arena = &a->arena;
    a->maker.ground.problems = &a->problems;
    phi__prob_init(&a->problems, &a->memory, 0);
    a->status = phi__prob_status(&config->problems);
    if (a->status == PHI_OK) a->status = phi__agents_fill(a, desc) ? PHI_BUSY : PHI_NO_MEMORY;
    return a;
}

PHI_API void phi_agents_free(phi_agents *agents) {
    if (agents == NULL) return;
    phi_runtime *rt = agents->maker.ground.rt;
    if (rt->in_step) {
        (void)phi__agents_misuse(agents, "phi_agents_free");
        return;
    }
    phi__agents_drop(agents);
    phi__prob_free(&agents->problems);
    phi_arena_free(&agents->arena);
    phi__free(&rt->memory, agents, sizeof *agents);
}

PHI_API phi_status phi_agents_step(phi_agents *agents) {
    if (agents == NULL) return PHI_BAD_ARG;
    if (agents->status != PHI_BUSY) return agents->status;
    if (agents->maker.ground.rt->in_step) return phi__agents_misuse(agents, "phi_agents_step");
    phi_status status = phi__agents_advance(agents);
    agents->status = status;
    if (status != PHI_OK && status != PHI_BUSY) phi__agents_drop(agents);
    return status;
}

/* ---- reloading a changed file ---- */

static phi__cfg_job *phi__agents_job_of(const phi_agents *a, const char *name) {
    for (size_t i = 0; i < a->agent_count; i++)
        if (strcmp(a->agents[i]->making.name, name) == 0) return a->agents[i];
    return NULL;
}

static bool phi__agents_stored(const phi__cfg_job *job) {
    phi_agent_desc desc;
    return phi_agent_get_desc(job->agent, &desc) != PHI_OK || desc.store != NULL;
}

/* Makes the agent that replaces the agent of `job` and continues `old`. */
static phi_status phi__agents_successor(phi_runtime *rt, const phi__cfg_job *job, phi_agent old,
                                        phi_agent *out) {
    phi_arena scratch;
    phi_agent_desc desc;
    phi_str text = PHI__LIT("");
    phi_arena_init(&scratch, &rt->memory, 0);
    phi_status status = phi_agent_snapshot(old, &scratch, &text);
    if (status == PHI_OK) status = phi_agent_get_desc(job->agent, &desc);
    if (status == PHI_OK) {
        *out = phi_agent_restore(rt, &desc, text, PHI_RESTORE_RESUME);
        if (out->rt == NULL) status = phi_last_error(rt).status;
    }
    phi_arena_free(&scratch);
    return status;
}

/* For each agent of `to` that has a namesake in `from`, makes the agent that continues the
   namesake. made[i] then replaces to->agents[i]. */
static phi_status phi__agents_successors(phi_agents *to, const phi_agents *from, phi_agent *made) {
    phi_status status = PHI_OK;
    for (size_t i = 0; i < to->agent_count && status == PHI_OK; i++) {
        const phi__cfg_job *job = to->agents[i];
        const phi__cfg_job *old = phi__agents_job_of(from, job->making.name);
        if (old == NULL || !phi_agent_alive(old->agent) || phi__agents_stored(job)) continue;
        status = phi__agents_successor(to->maker.ground.rt, job, old->agent, &made[i]);
    }
    return status;
}

PHI_API phi_status phi_agents_reload(phi_agents *to, phi_agents *from) {
    phi_agent *made;
    if (to == NULL || from == NULL || to == from) return PHI_BAD_ARG;
    phi_runtime *rt = to->maker.ground.rt;
    if (rt != from->maker.ground.rt) return PHI_BAD_ARG;
    if (rt->in_step) return phi__agents_misuse(to, "phi_agents_reload");
    if (to->status != PHI_OK)
        return phi__error(rt, PHI_MISUSE, "phi_agents_reload: the new agents are not there yet");
    made = (phi_agent *)phi__alloc(&rt->memory, (to->agent_count + 1) * sizeof *made);
    if (made == NULL) return phi__error(rt, PHI_NO_MEMORY, "phi_agents_reload: out of memory");
    phi_status status = phi__agents_successors(to, from, made);
    for (size_t i = 0; i < to->agent_count; i++) {
        if (made[i].rt == NULL) continue;
        if (status == PHI_OK) {
            phi_agent_free(phi__agents_job_of(from, to->agents[i]->making.name)->agent);
            phi_agent_free(to->agents[i]->agent);
            to->agents[i]->agent = made[i];
        } else
            phi_agent_free(made[i]);
    }
    phi__free(&rt->memory, made, (to->agent_count + 1) * sizeof *made);
    return status;
}

PHI_API const phi_config_problem *phi_agents_problem_at(const phi_agents *agents, size_t index) {
    if (agents == NULL) return NULL;
    const phi__cfg_probs *of_file = &agents->maker.ground.config->problems;
    if (index < of_file->count) return phi__prob_get(of_file, index);
    return phi__prob_get(&agents->problems, index - of_file->count);
}

PHI_API const phi_named_agent *phi_agents_at(const phi_agents *agents, size_t index) {
    if (agents == NULL || index >= agents->agent_count) return NULL;
    phi__cfg_job *job = agents->agents[index];
    job->shown.name = phi_str_of(job->making.name);
    job->shown.agent = job->agent;
    return &job->shown;
}

PHI_API phi_agent phi_agents_get(const phi_agents *agents, const char *name) {
    phi_agent none = PHI_ZERO;
    for (size_t i = 0; agents != NULL && i < agents->agent_count; i++)
        if (name == NULL || strcmp(agents->agents[i]->making.name, name) == 0)
            return agents->agents[i]->agent;
    return none;
}

PHI_API phi_status phi_agents_model(phi_agents *agents, const char *name, phi_model *out) {
    if (agents == NULL || name == NULL || out == NULL ||
        phi__prob_error(&agents->maker.ground.config->problems) != NULL)
        return PHI_BAD_ARG;
    memset(out, 0, sizeof *out);
    phi__cfg_ground *ground = &agents->maker.ground;
    const phi_json *node = phi__refs_find(ground->config, "provider", name);
    return node != NULL ? phi__cfg_model_make(ground, node, NULL, out, NULL) : PHI_NOT_FOUND;
}
