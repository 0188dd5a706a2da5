/* config_agents.c - agents out of a configuration: all of them, or none. */
#include "config/config_agents_in.h"

#include "agent/snapshot.h"
#include "loop/loop_in.h"

struct phi_agents {
    phi_memory memory;
    phi_arena arena;
    phi__config_maker maker;
    phi__config_problems problems;
    phi_status status; /* PHI_BUSY: not done */
    const phi_config_section *const *sections;
    void **states;
    size_t section_count, begun; /* begun: of the sections */
    bool planned;
    phi__config_job **agents; /* those that are agents, once they exist */
    size_t agent_count;
};

static bool phi__config_agents_directory(phi_agents *a) {
    const char *path = phi__config_load_path(a->maker.ground.config);
    size_t at = path != NULL ? strlen(path) : 0;
    phi_str out = PHI__LIT(".");
    while (at > 0 && path[at - 1] != '/') at--;
    if (at > 0) out = phi__str(path, at > 1 ? at - 1 : 1);
    if (!phi__arena_str(&a->arena, out, &out)) return false;
    a->maker.ground.directory = out.at;
    return true;
}

/* What the file says once. */
static bool phi__config_agents_whole(phi_agents *a) {
    phi__config_whole *w = &a->maker.whole;
    const phi_json *tree = phi_config_tree(a->maker.ground.config);
    phi_arena *arena = &a->arena;
    return phi__config_take(arena, tree, phi__config_tables_top(), &w->top) &&
           phi__config_take(arena, w->top.tools, phi__config_tables_tools(), &w->tools) &&
           phi__config_take(arena, w->top.session, phi__config_tables_session(), &w->session);
}

/* A block of the host's, which it may change before the first step; NULL: no memory. */
static void *phi__config_agents_keep(phi_agents *a, const void *block, size_t bytes) {
    void *copy = phi_arena_alloc(&a->arena, bytes);
    if (copy != NULL) memcpy(copy, block, bytes);
    return copy;
}

static bool phi__config_agents_copy(phi_agents *a, const phi_agents_desc *desc) {
    phi_agents_desc *own = &a->maker.ground.desc;
    phi_str file = PHI__LIT("");
    if (desc == NULL) return true;
    *own = *desc;
    if (desc->store != NULL) {
        own->store = (phi_store *)phi__config_agents_keep(a, desc->store, sizeof *desc->store);
        if (own->store == NULL) return false;
    }
    if (desc->tool_count > 0) {
        own->tools = (phi_tool *)phi__config_agents_keep(
            a, desc->tools, phi__mul(desc->tool_count, sizeof *desc->tools));
        if (own->tools == NULL) return false;
    }
    if (desc->session_file == NULL) return true;
    if (!phi__arena_str(&a->arena, phi_str_of(desc->session_file), &file)) return false;
    own->session_file = file.at;
    return true;
}

static bool phi__config_agents_fill(phi_agents *a, const phi_agents_desc *desc) {
    phi__config_ground *ground = &a->maker.ground;
    if (!phi__config_agents_copy(a, desc)) return false;
    ground->check_only = ground->desc.check_only;
    a->sections = phi__config_load_sections(ground->config);
    while (a->sections != NULL && a->sections[a->section_count] != NULL) a->section_count++;
    a->states = (void **)phi__arena_zero(&a->arena, (a->section_count + 1) * sizeof *a->states);
    return a->states != NULL && phi__config_agents_directory(a) && phi__config_agents_whole(a);
}

/* ---- the end ---- */

static void phi__config_agents_drop(phi_agents *a) {
    phi__config_job *job;
    for (job = a->maker.first; job != NULL; job = job->next)
        if (job->agent.rt != NULL) {
            phi_agent_free(job->agent);
            memset(&job->agent, 0, sizeof job->agent);
        }
    while (a->begun > 0) {
        const phi_config_section *section = a->sections[--a->begun];
        if (section->end != NULL) section->end(a->states[a->begun]);
    }
    phi__config_store_end(&a->maker);
    a->agent_count = 0;
}

/* ---- the steps ---- */

static phi_status phi__config_agents_begin(phi_agents *a) {
    const phi_json *tree = phi_config_tree(a->maker.ground.config);
    phi_status status = PHI_OK;
    while (status == PHI_OK && a->begun < a->section_count) {
        const phi_config_section *section = a->sections[a->begun];
        if (section->begin != NULL)
            status = section->begin(&a->maker.ground, phi_json_get(tree, section->name),
                                    &a->states[a->begun]);
        if (status == PHI_OK) a->begun++;
    }
    if (status == PHI_OK) status = phi__config_store_begin(&a->maker);
    if (status == PHI_OK) status = phi__config_jobs_plan(&a->maker);
    a->maker.at = a->maker.first;
    a->planned = status == PHI_OK;
    return status;
}

static phi_status phi__config_agents_job(phi_agents *a, phi__config_job *job) {
    phi_status status = PHI_OK;
    if (!job->begun) {
        job->begun = true;
        status = phi__config_jobs_begin(&a->maker, job);
        if (status == PHI_OK) status = phi__config_store_use(&a->maker, job);
    }
    while (status == PHI_OK && job->section < a->section_count) {
        const phi_config_section *section = a->sections[job->section];
        if (section->use != NULL) status = section->use(a->states[job->section], &job->making);
        if (status != PHI_OK) break;
        job->section++;
        job->making.at = 0;
        job->making.work = NULL;
    }
    return status == PHI_OK ? phi__config_jobs_end(job) : status;
}

/* Makes the agents; every desc is complete. */
static phi_status phi__config_agents_make(phi_agents *a) {
    phi__config_ground *ground = &a->maker.ground;
    phi__config_job *job;
    size_t n = 0;
    for (job = a->maker.first; job != NULL; job = job->next) n += job->depth == 0 ? 1 : 0;
    a->agents = (phi__config_job **)phi_arena_alloc(&a->arena, phi__mul(n, sizeof *a->agents));
    if (a->agents == NULL) return PHI_NO_MEMORY;
    for (job = a->maker.first; job != NULL && job->depth == 0; job = job->next) {
        const char *words = NULL;
        phi_status status;
        job->agent = phi_agent_new(ground->rt, &job->desc);
        if (job->agent.rt != NULL) {
            a->agents[a->agent_count++] = job;
            continue;
        }
        words = phi_last_error(ground->rt).message;
        status = phi_last_error(ground->rt).status;
        phi__config_words_error(ground, job->making.node, status, NULL, "agent \"%s\": %s",
                                job->making.name, words != NULL ? words : "");
        return status;
    }
    return PHI_OK;
}

/* The next bounded piece. PHI_BUSY: there is more. */
static phi_status phi__config_agents_advance(phi_agents *a) {
    phi_status status;
    if (!a->planned) {
        status = phi__config_agents_begin(a);
        return status == PHI_OK ? PHI_BUSY : status;
    }
    if (a->maker.at != NULL) {
        status = phi__config_agents_job(a, a->maker.at);
        if (status != PHI_OK) return status;
        a->maker.at = a->maker.at->next;
        return PHI_BUSY;
    }
    status = phi__config_problems_status(&a->problems); /* also of one that had no memory */
    if (status != PHI_OK) return status;
    return a->maker.ground.check_only ? PHI_OK : phi__config_agents_make(a);
}

static phi_status phi__config_agents_misuse(const phi_agents *a, const char *what) {
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
    phi__config_problems_init(&a->problems, &a->memory, 0);
    a->status = phi__config_problems_status(phi__config_load_problems(config));
    if (a->status == PHI_OK)
        a->status = phi__config_agents_fill(a, desc) ? PHI_BUSY : PHI_NO_MEMORY;
    return a;
}

PHI_API void phi_agents_free(phi_agents *agents) {
    phi_runtime *rt;
    if (agents == NULL) return;
    rt = agents->maker.ground.rt;
    if (rt->in_step) {
        (void)phi__config_agents_misuse(agents, "phi_agents_free");
        return;
    }
    phi__config_agents_drop(agents);
    phi__config_problems_free(&agents->problems);
    phi_arena_free(&agents->arena);
    phi__free(&rt->memory, agents, sizeof *agents);
}

PHI_API phi_status phi_agents_step(phi_agents *agents) {
    phi_status status;
    if (agents == NULL) return PHI_BAD_ARG;
    if (agents->status != PHI_BUSY) return agents->status;
    if (agents->maker.ground.rt->in_step)
        return phi__config_agents_misuse(agents, "phi_agents_step");
    status = phi__config_agents_advance(agents);
    agents->status = status;
    if (status != PHI_OK && status != PHI_BUSY) phi__config_agents_drop(agents);
    return status;
}

/* ---- a file that was changed ---- */

static phi__config_job *phi__config_agents_job_of(const phi_agents *a, const char *name) {
    size_t i;
    for (i = 0; i < a->agent_count; i++)
        if (strcmp(a->agents[i]->making.name, name) == 0) return a->agents[i];
    return NULL;
}

static bool phi__config_agents_stored(const phi__config_job *job) {
    phi_agent_desc desc;
    return phi_agent_get_desc(job->agent, &desc) != PHI_OK || desc.store != NULL;
}

/* The agent that takes the place of `job`'s, with what `old` has. */
static phi_status phi__config_agents_successor(phi_runtime *rt, const phi__config_job *job,
                                               phi_agent old, phi_agent *out) {
    phi_arena scratch;
    phi_agent_desc desc;
    phi_str text = PHI__LIT("");
    phi_status status;
    phi_arena_init(&scratch, &rt->memory, 0);
    status = phi_agent_snapshot(old, &scratch, &text);
    if (status == PHI_OK) status = phi_agent_get_desc(job->agent, &desc);
    if (status == PHI_OK) {
        *out = phi_agent_restore(rt, &desc, text, PHI_RESTORE_RESUME);
        if (out->rt == NULL) status = phi_last_error(rt).status;
    }
    phi_arena_free(&scratch);
    return status;
}

/* The successors of all that have a namesake, in the order of to->agents. */
static phi_status phi__config_agents_successors(phi_agents *to, const phi_agents *from,
                                                phi_agent *made) {
    size_t i;
    phi_status status = PHI_OK;
    for (i = 0; i < to->agent_count && status == PHI_OK; i++) {
        const phi__config_job *job = to->agents[i];
        const phi__config_job *old = phi__config_agents_job_of(from, job->making.name);
        if (old == NULL || !phi_agent_alive(old->agent) || phi__config_agents_stored(job)) continue;
        status = phi__config_agents_successor(to->maker.ground.rt, job, old->agent, &made[i]);
    }
    return status;
}

PHI_API phi_status phi_agents_reload(phi_agents *to, phi_agents *from) {
    phi_runtime *rt;
    phi_agent *made;
    phi_status status;
    size_t i;
    if (to == NULL || from == NULL || to == from) return PHI_BAD_ARG;
    rt = to->maker.ground.rt;
    if (rt != from->maker.ground.rt) return PHI_BAD_ARG;
    if (rt->in_step) return phi__config_agents_misuse(to, "phi_agents_reload");
    if (to->status != PHI_OK)
        return phi__error(rt, PHI_MISUSE, "phi_agents_reload: the new agents are not there yet");
    made = (phi_agent *)phi__alloc(&rt->memory, (to->agent_count + 1) * sizeof *made);
    if (made == NULL) return phi__error(rt, PHI_NO_MEMORY, "phi_agents_reload: out of memory");
    status = phi__config_agents_successors(to, from, made);
    for (i = 0; i < to->agent_count; i++) {
        if (made[i].rt == NULL) continue;
        if (status == PHI_OK) {
            phi_agent_free(phi__config_agents_job_of(from, to->agents[i]->making.name)->agent);
            phi_agent_free(to->agents[i]->agent);
            to->agents[i]->agent = made[i];
        } else
            phi_agent_free(made[i]);
    }
    phi__free(&rt->memory, made, (to->agent_count + 1) * sizeof *made);
    return status;
}

PHI_API const phi_config_problem *phi_agents_problem_at(const phi_agents *agents, size_t index) {
    const phi__config_problems *of_file;
    if (agents == NULL) return NULL;
    of_file = phi__config_load_problems(agents->maker.ground.config);
    if (index < of_file->count) return phi__config_problems_get(of_file, index);
    return phi__config_problems_get(&agents->problems, index - of_file->count);
}

PHI_API const phi_named_agent *phi_agents_at(const phi_agents *agents, size_t index) {
    phi__config_job *job;
    if (agents == NULL || index >= agents->agent_count) return NULL;
    job = agents->agents[index];
    job->shown.name = phi_str_of(job->making.name);
    job->shown.agent = job->agent;
    return &job->shown;
}

PHI_API phi_agent phi_agents_get(const phi_agents *agents, const char *name) {
    phi_agent none = PHI_ZERO;
    size_t i;
    for (i = 0; agents != NULL && i < agents->agent_count; i++)
        if (name == NULL || strcmp(agents->agents[i]->making.name, name) == 0)
            return agents->agents[i]->agent;
    return none;
}

PHI_API phi_status phi_agents_model(phi_agents *agents, const char *name, phi_model *out) {
    phi__config_ground *ground;
    const phi_json *node;
    if (agents == NULL || name == NULL || out == NULL ||
        phi__config_problems_error(phi__config_load_problems(agents->maker.ground.config)) != NULL)
        return PHI_BAD_ARG;
    memset(out, 0, sizeof *out);
    ground = &agents->maker.ground;
    node = phi__config_refs_find(ground->config, "provider", name);
    return node != NULL ? phi__config_model_make(ground, node, NULL, out, NULL) : PHI_NOT_FOUND;
}
