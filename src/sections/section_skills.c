/* section_skills.c - skills of directories: their index in the prompt, and the tool read_skill. */
#include "sections/section_in.h"
#include "tools/tools_in.h"
#include "agent/profile.h"

#ifndef PHI_NO_FILES

typedef struct phi__cfg_skills {
    uint64_t set;
    phi__cfg_texts directories;
    uint32_t max_skills, max_file_bytes, max_read_bytes;
    bool no_index;
} phi__cfg_skills;

/* The skills of an agent that names some. */
typedef struct phi__sec_skills_part {
    struct phi__sec_skills_part *next;
    phi_skills *skills;
} phi__sec_skills_part;

typedef struct phi__sec_skill_state {
    phi__cfg_skills taken;
    const phi_json *node;
    phi_skills_desc desc;
    phi_skills *all; /* NULL: the file has no such section */
    phi__sec_skills_part *parts;
} phi__sec_skill_state;

static const phi__cfg_field phi__skills_rows[] = {
    PHI__C_PLAIN(
        skills, directories, TEXTS, PHI__CFG_PATH | PHI__REQUIRED, "[]",
        "Directories of skills, each NAME/SKILL.md; a later one replaces skills of the same name."),
    PHI__C_U32(skills, max_skills, "1000", "Skills at most."),
    PHI__C_U32(skills, max_file_bytes, "1048576", "Bytes of a SKILL.md; a longer one is left out."),
    PHI__C_U32(skills, max_read_bytes, "262144", "Bytes of one answer of read_skill."),
    PHI__C_FLAG(skills, no_index, "Leaves the list of skills out of the system prompt.")};

PHI__TABLE(skills, "skills", "Where skills are.")

static bool phi__sec_skill_is_listed(const phi_json *node, phi_str file) {
    phi_json_iter it = phi_json_each(phi_json_get(node, "directories"));
    const phi_json *item;
    while ((item = phi_json_next(&it)) != NULL)
        if (phi_str_equal(phi_json_str(item, ""), file)) return true;
    return false;
}

static phi_status phi__sec_skill_load(phi__cfg_ground *ground, phi__sec_skill_state *s) {
    const phi_json *list = phi_json_get(s->node, "directories");
    phi_status status = PHI_OK;
    s->all = phi_skills_new(&s->desc);
    if (s->all == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; status == PHI_OK && i < s->taken.directories.count; i++) {
        const char *dir =
            phi__cfg_join(ground->arena, ground->directory, s->taken.directories.at[i]);
        if (dir == NULL) return PHI_NO_MEMORY;
        status = phi_skills_load(s->all, dir, s->taken.directories.at[i], SIZE_MAX);
        if (status != PHI_NOT_FOUND && status != PHI_IO) continue;
        phi__cfg_error(
            ground, phi_json_at(list, i), status, "skills.directories",
            "skills.directories: \"%s\" is no directory that can be read; make it, correct the "
            "path, which is relative to the directory of this file, or remove it",
            dir);
        status = PHI_OK;
    }
    if (status == PHI_TOO_BIG)
        phi__cfg_error(ground, s->node, status, "skills.max_skills",
                       "skills: there are more than max_skills");
    return status == PHI_NO_MEMORY ? status : PHI_OK;
}

/* The skill most like `name`; NULL: none is. */
static const char *phi__sec_skill_near(phi_arena *arena, const phi_skills *skills, phi_str name) {
    size_t n = 0;
    const char **names;
    while (phi_skills_at(skills, n) != NULL) n++;
    names = (const char **)phi_arena_alloc(arena, (n + 1) * sizeof *names);
    if (names == NULL) return NULL;
    for (size_t i = 0; i < n; i++) names[i] = phi_skills_at(skills, i)->name.at;
    return phi__cfg_nearest(name, names, n);
}

/* The skills that an agent names, in a new list. */
static phi_status phi__sec_skill_pick(phi__sec_skill_state *s, phi__cfg_making *making,
                                      phi_skills **out) {
    phi__cfg_ground *ground = making->ground;
    phi__sec_skills_part *part =
        (phi__sec_skills_part *)phi_arena_alloc(ground->arena, sizeof(phi__sec_skills_part));
    phi_status status = PHI_OK;
    *out = part != NULL ? phi_skills_new(&s->desc) : NULL;
    if (*out == NULL) return PHI_NO_MEMORY;
    part->skills = *out;
    part->next = s->parts;
    s->parts = part;
    for (size_t i = 0; status == PHI_OK && i < making->profile.skill_count; i++) {
        phi_str name = phi_str_of(making->profile.skills[i]);
        const phi_skill *skill = phi__skills_find(s->all, name);
        if (skill != NULL) {
            status = phi__skills_one(*out, skill->base_dir.at, skill->source.at);
            continue;
        }
        const char *near = phi__sec_skill_near(ground->arena, s->all, name);
        phi__cfg_error(ground, s->node, PHI_NOT_FOUND, "agent.profile.skills",
                       "agent \"%s\": skills: there is no skill \"%s\" in skills.directories%s%s%s",
                       making->name, name.at, near != NULL ? "; did you mean \"" : "",
                       near != NULL ? near : "", near != NULL ? "\"?" : "");
    }
    return status == PHI_NO_MEMORY ? status : PHI_OK;
}

static phi_status phi__sec_skill_give(phi__sec_skill_state *s, phi__cfg_making *making,
                                      phi_skills *skills) {
    phi_tool tool;
    phi_str prompt;
    phi_status status;
    if (phi_skills_at(skills, 0) == NULL) return PHI_OK;
    if (!s->taken.no_index) {
        status = phi_skills_prompt(skills, PHI_SKILLS_READ_SKILL, making->desc->system_prompt,
                                   making->ground->arena, &prompt);
        if (status != PHI_OK) return status;
        making->desc->system_prompt = prompt.at;
    }
    status = phi_skills_tool(skills, &tool);
    (void)phi__making_offer(making, "read_skill");
    return status == PHI_OK ? phi__making_tool(making, &tool) : status;
}

/* Names of the host's own profile choose skills of the file where it has some; else the host loads
   them. */
static bool phi__sec_skill_are_hosts(const phi__cfg_making *making) {
    const phi_agent_desc *base = making->ground->desc.base;
    return base != NULL && base->profile != NULL && making->profile.skills == base->profile->skills;
}

PHI__FN phi_status phi__sec_skill_begin(phi__cfg_ground *ground, const phi_json *node,
                                        void **state) {
    phi__sec_skill_state *s = (phi__sec_skill_state *)phi__arena_zero(ground->arena, sizeof *s);
    *state = s;
    if (s == NULL || !phi__cfg_take(ground->arena, node, phi__table_skills(), &s->taken))
        return PHI_NO_MEMORY;
    s->node = node;
    s->desc.allocator = ground->memory->allocator;
    s->desc.max_skills = s->taken.max_skills;
    s->desc.max_file_bytes = s->taken.max_file_bytes;
    s->desc.max_read_bytes = s->taken.max_read_bytes;
    if (node == NULL) return PHI_OK;
    phi_status status = phi__sec_skill_load(ground, s);
    if (status == PHI_OK) {
        /* Problems of single skills are warnings: the others can be used. */
        const phi_skills *skills = s->all;
        const phi_skill_problem *p;
        for (size_t i = 0; (p = phi_skills_problem_at(skills, i)) != NULL; i++) {
            if (p->line == 0 && phi__sec_skill_is_listed(node, p->file))
                continue; /* said already */
            phi__cfg_warn(ground, node, "skills", "%s%s:%u: %s",
                          p->loaded ? "" : "this skill is left out: ", p->file.at,
                          (unsigned)p->line, p->message.at);
        }
    }
    if (status == PHI_NO_MEMORY) phi__sec_skill_end(s);
    return status;
}

PHI__FN phi_status phi__sec_skill_use(void *state, phi__cfg_making *making) {
    phi__sec_skill_state *s = (phi__sec_skill_state *)state;
    phi_skills *skills = s->all;
    phi_status status = PHI_OK;
    if (making->profile.skill_count > 0 && s->all == NULL && !phi__sec_skill_are_hosts(making)) {
        phi__cfg_error(making->ground, making->node, PHI_NOT_FOUND, "agent.profile.skills",
                       "agent \"%s\" names skills, but nothing says where they are: write [skills] "
                       "directories = [\"skills\"]",
                       making->name);
        return PHI_OK;
    }
    if (s->all == NULL || (making->is_child && making->profile.skill_count == 0)) return PHI_OK;
    if (making->profile.skill_count > 0) status = phi__sec_skill_pick(s, making, &skills);
    return status == PHI_OK ? phi__sec_skill_give(s, making, skills) : status;
}

PHI__FN void phi__sec_skill_end(void *state) {
    phi__sec_skill_state *s = (phi__sec_skill_state *)state;
    if (s == NULL) return;
    for (phi__sec_skills_part *part = s->parts; part != NULL; part = part->next)
        phi_skills_free(part->skills);
    phi_skills_free(s->all);
    s->parts = NULL;
    s->all = NULL;
}

#endif
