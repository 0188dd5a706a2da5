/* skills_list.c - the lists of a set of skills: by name, and of problems. */
#include "skills/skills_in.h"

#ifndef PHI_NO_FILES

#include "base/utf8_in.h"
#include "base/words_in.h"

enum { PHI__SKILLS_MOST = 1000, PHI__SKILLS_FILE_BYTES = 1048576, PHI__SKILLS_READ_BYTES = 262144 };

static int phi__skills_list_compare(phi_str a, phi_str b) {
    size_t n = phi__min(a.len, b.len);
    int order = n > 0 ? memcmp(a.at, b.at, n) : 0;
    if (order != 0) return order;
    return a.len < b.len ? -1 : a.len > b.len ? 1 : 0;
}

PHI__FN size_t phi__skills_list_place(const phi_skills *skills, phi_str name, bool *found) {
    size_t low = 0, high = skills->count;
    *found = false;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = phi__skills_list_compare(skills->list[mid]->name, name);
        if (order == 0) {
            *found = true;
            return mid;
        }
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

PHI__FN phi_status phi__skills_list_put(phi_skills *skills, phi_skill *skill) {
    bool found;
    size_t at = phi__skills_list_place(skills, skill->name, &found);
    phi_skill **list;
    if (found) {
        skills->list[at] = skill;
        return PHI_OK;
    }
    if (skills->count >= skills->desc.max_skills) return PHI_TOO_BIG;
    list = (phi_skill **)phi__grow(&skills->memory, (void *)skills->list, &skills->cap,
                                   skills->count + 1, sizeof *list);
    if (list == NULL) return PHI_NO_MEMORY;
    skills->list = list;
    memmove((void *)(list + at + 1), (void *)(list + at), (skills->count - at) * sizeof *list);
    list[at] = skill;
    skills->count++;
    return PHI_OK;
}

/* Names of files may be any bytes. */
static bool phi__skills_list_shown(phi_skills *skills, phi_str text, phi_str *out) {
    phi__buf shown;
    bool done;
    phi__buf_init(&shown, &skills->memory);
    phi__utf8_repair(&shown, text);
    if (shown.len > 0) shown.len = phi__words_clean_line(shown.at, shown.len);
    done = !shown.failed && phi__arena_str(&skills->arena, phi__buf_str(&shown), out);
    phi__buf_free(&shown);
    return done;
}

PHI__FN bool phi__skills_list_problem(phi_skills *skills, const phi_skill_problem *problem) {
    phi_skill_problem kept = *problem, *list;
    if (skills->problem_count >= PHI__SKILLS_PROBLEMS) return true;
    list = (phi_skill_problem *)phi__grow(&skills->memory, skills->problems, &skills->problem_cap,
                                          skills->problem_count + 1, sizeof *list);
    if (list == NULL) return false;
    skills->problems = list;
    if (!phi__skills_list_shown(skills, problem->file, &kept.file) ||
        !phi__skills_list_shown(skills, problem->message, &kept.message))
        return false;
    list[skills->problem_count++] = kept;
    return true;
}

PHI__FN const phi_skill *phi__skills_list_find(const phi_skills *skills, phi_str name) {
    bool found = false;
    size_t at = phi__skills_list_place(skills, name, &found);
    return found ? skills->list[at] : NULL;
}

/* ---- public ---- */

PHI_API phi_skills *phi_skills_new(const phi_skills_desc *desc) {
    phi_memory memory;
    phi_skills *skills;
    phi_memory_init(&memory, desc != NULL ? &desc->allocator : NULL,
                    desc != NULL ? desc->memory_limit_bytes : 0);
    skills = (phi_skills *)phi__alloc(&memory, sizeof *skills);
    if (skills == NULL) return NULL;
    skills->memory = memory;
    phi_arena_init(&skills->arena, &skills->memory, 0);
    if (desc != NULL) skills->desc = *desc;
    if (skills->desc.max_skills == 0) skills->desc.max_skills = PHI__SKILLS_MOST;
    if (skills->desc.max_file_bytes == 0) skills->desc.max_file_bytes = PHI__SKILLS_FILE_BYTES;
    if (skills->desc.max_read_bytes == 0) skills->desc.max_read_bytes = PHI__SKILLS_READ_BYTES;
    return skills;
}

PHI_API void phi_skills_free(phi_skills *skills) {
    phi_memory memory;
    if (skills == NULL) return;
    phi__walk_free(skills->load.walk);
    phi__free(&skills->memory, (void *)skills->list, skills->cap * sizeof *skills->list);
    phi__free(&skills->memory, skills->problems, skills->problem_cap * sizeof *skills->problems);
    phi_arena_free(&skills->arena);
    memory = skills->memory; /* its own block is counted in itself */
    phi__free(&memory, skills, sizeof *skills);
}

PHI_API const phi_skill *phi_skills_at(const phi_skills *skills, size_t index) {
    return skills != NULL && index < skills->count ? skills->list[index] : NULL;
}

PHI_API const phi_skill_problem *phi_skills_problem_at(const phi_skills *skills, size_t index) {
    return skills != NULL && index < skills->problem_count ? &skills->problems[index] : NULL;
}

#endif
