/* skills_load.c - loads whole directories of skills, at once or in slices, and single skills. */
#include "skills/skills_in.h"

#ifndef PHI_NO_FILES

#include <stdio.h>

#define PHI__SKILLS_FILE "/SKILL.md"

/* ---- loading ---- */

static void phi__skills_load_end(phi_skills *skills) {
    phi__walk_free(skills->load.walk);
    memset(&skills->load, 0, sizeof skills->load);
}

static phi_status phi__skills_load_failed(phi_skills *skills, const char *dir, const char *message,
                                          phi_status status) {
    phi_skill_problem problem;
    memset(&problem, 0, sizeof problem);
    problem.file = phi_str_of(dir);
    problem.message = phi_str_of(message);
    return phi__skills_list_problem(skills, &problem) ? status : PHI_NO_MEMORY;
}

/* One entry of the directory; PHI_OK: go on. */
static phi_status phi__skills_load_entry(phi_skills *skills, const phi__walk_entry *entry) {
    char path[PHI__PATH_BYTES];
    char words[96];
    phi_status status;
    int n;
    phi__walk_skip(skills->load.walk);
    if (entry->kind != PHI__FILE_DIRECTORY && entry->kind != PHI__FILE_LINK) return PHI_OK;
    n = snprintf(path, sizeof path, "%s/%.*s", skills->load.dir.at, (int)entry->path.len,
                 entry->path.at);
    if (n < 0 || (size_t)n >= sizeof path) return PHI_OK; /* too long for any file below it */
    status = phi__skill_file_load(skills, path, skills->load.label);
    if (status == PHI_NO_MEMORY) return status;
    if (status != PHI_TOO_BIG) return PHI_OK;
    (void)snprintf(words, sizeof words, "more than %u skills: this one and others are not loaded",
                   (unsigned)skills->desc.max_skills);
    return phi__skills_load_failed(skills, path, words, PHI_TOO_BIG);
}

PHI__FN phi_status phi__skills_load_one(phi_skills *skills, const char *dir, const char *label) {
    phi_status status;
    phi_str kept;
    if (!phi__arena_str(&skills->arena, phi_str_of(label), &kept)) return PHI_NO_MEMORY;
    status = phi__skill_file_load(skills, dir, kept);
    if (status != PHI_NOT_FOUND) return status;
    return phi__skills_load_failed(skills, dir, "no SKILL.md here", PHI_NOT_FOUND);
}

static bool phi__skills_load_is_file(phi_str path) {
    size_t n = sizeof PHI__SKILLS_FILE - 1;
    return path.len > n && phi__str_is(phi__str(path.at + path.len - n, n), PHI__SKILLS_FILE);
}

/* The skill of a path that ends in "/SKILL.md". */
static phi_status phi__skills_load_file(phi_skills *skills, phi_str path, const char *label) {
    phi_str dir;
    path.len -= sizeof PHI__SKILLS_FILE - 1;
    if (!phi__arena_str(&skills->arena, path, &dir)) return PHI_NO_MEMORY;
    return phi__skills_load_one(skills, dir.at, label);
}

static phi_status phi__skills_load_begin(phi_skills *skills, const char *dir, const char *label) {
    char own[32];
    phi__words words;
    phi_status status;
    if (label == NULL) {
        (void)snprintf(own, sizeof own, "dir:%u", (unsigned)skills->unlabelled++);
        label = own;
    }
    if (phi__skills_load_is_file(phi_str_of(dir)))
        return phi__skills_load_file(skills, phi_str_of(dir), label);
    if (!phi__arena_str(&skills->arena, phi_str_of(dir), &skills->load.dir) ||
        !phi__arena_str(&skills->arena, phi_str_of(label), &skills->load.label))
        return PHI_NO_MEMORY;
    status = phi__walk_new(&skills->memory, dir, PHI__LINKS_FOLLOW, &skills->load.walk, &words);
    if (status == PHI_OK || status == PHI_NO_MEMORY) return status;
    return phi__skills_load_failed(skills, dir, words.text, status);
}

static phi_status phi__skills_load_advance(phi_skills *skills, size_t units) {
    phi__walk_entry entry;
    phi_status status = PHI_OK;
    if (skills->load.walk == NULL) return PHI_OK; /* it was one skill */
    if (units == 0) units = 1;
    while (units-- > 0) {
        status = phi__walk_next(skills->load.walk, &entry);
        if (status == PHI_BUSY) continue;
        if (status == PHI_OK) status = phi__skills_load_entry(skills, &entry);
        if (status == PHI_OK) continue;
        phi__skills_load_end(skills);
        return status == PHI_NOT_FOUND ? PHI_OK : status;
    }
    return PHI_BUSY;
}

/* ---- public ---- */

PHI_API phi_status phi_skills_load(phi_skills *skills, const char *dir, const char *label,
                                   size_t units) {
    phi_status status = PHI_OK;
    if (skills == NULL || dir == NULL || dir[0] == '\0') return PHI_BAD_ARG;
    if (skills->load.walk == NULL)
        status = phi__skills_load_begin(skills, dir, label);
    else if (!phi__str_is(skills->load.dir, dir))
        return PHI_MISUSE;
    return status == PHI_OK ? phi__skills_load_advance(skills, units) : status;
}

#endif
