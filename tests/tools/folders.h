/* folders.h - directories of skills that a test writes. */
#ifndef PHI_TESTS_SKILLS_FOLDERS_H
#define PHI_TESTS_SKILLS_FOLDERS_H

#include "tools/skills.h"
#include "support/test.h"
#include "tools/tools_in.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

/* A path below `dir`; valid for the next seven calls. */
static inline const char *folders_path(const char *dir, const char *name) {
    static char paths[8][1024];
    static unsigned next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

/* Writes a file, and the directories above it. */
static inline void folders_put(const char *dir, const char *name, const char *text, size_t n) {
    char path[1024];
    size_t i, begin = strlen(dir) + 1;
    FILE *f;
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    for (i = begin; path[i] != '\0'; i++) {
        if (path[i] != '/') continue;
        path[i] = '\0';
        CHECK(mkdir(path, 0777) == 0 || errno == EEXIST);
        path[i] = '/';
    }
    f = fopen(path, "wb");
    if (!CHECK(f != NULL)) return;
    CHECK(fwrite(text, 1, n, f) == n);
    (void)fclose(f);
}

static inline void folders_text(const char *dir, const char *name, const char *text) {
    folders_put(dir, name, text, strlen(text));
}

static inline phi_skills *folders_skills(void) {
    phi_skills_desc desc = PHI_ZERO;
    desc.allocator = test_allocator();
    return phi_skills_new(&desc);
}

static inline size_t folders_count(const phi_skills *skills) {
    size_t n = 0;
    while (phi_skills_at(skills, n) != NULL) n++;
    return n;
}

static inline const phi_skill *folders_find(const phi_skills *skills, const char *name) {
    const phi_skill *skill;
    size_t i;
    for (i = 0; (skill = phi_skills_at(skills, i)) != NULL; i++)
        if (strcmp(skill->name.at, name) == 0) break;
    return skill;
}

/* A whole directory, or the skill of a path that ends in "/SKILL.md". */
static inline phi_status folders_load(phi_skills *skills, const char *dir, const char *label) {
    return phi_skills_load(skills, dir, label, SIZE_MAX);
}

/* "SKILL.md:3: message" of each problem, a line each; "- " before those of skills that are loaded.
   In a static buffer. */
static inline const char *folders_problems(const phi_skills *skills) {
    static char out[8192];
    size_t n = 0, i;
    const phi_skill_problem *p;
    out[0] = '\0';
    for (i = 0; (p = phi_skills_problem_at(skills, i)) != NULL && n < sizeof out - 512; i++) {
        const char *leaf = strrchr(p->file.at, '/');
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%s", p->loaded ? "- " : "",
                              leaf != NULL ? leaf + 1 : p->file.at);
        if (p->line > 0) n += (size_t)snprintf(out + n, sizeof out - n, ":%u", (unsigned)p->line);
        n += (size_t)snprintf(out + n, sizeof out - n, ": %s\n", p->message.at);
    }
    return out;
}

#endif
