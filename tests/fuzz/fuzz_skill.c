/* fuzz_skill.c - a SKILL.md of any bytes: it is loaded, or its problems are named; what is shown is
   UTF-8 and whole; never a byte left. And the same bytes as a command and as the answer of a script. */
#include "base/base_in.h"
#include "tools/tools_in.h"
#include "tools/scripts_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void check_text(phi_str text) {
    if (text.at[text.len] != '\0' || phi__utf8_valid(text) != text.len) abort();
}

static void check_set(const phi_skills *skills, phi_status status) {
    const phi_skill *skill = phi_skills_at(skills, 0);
    const phi_skill_problem *problem;
    size_t i, k, faults = 0;
    for (i = 0; (problem = phi_skills_problem_at(skills, i)) != NULL; i++) {
        check_text(problem->file);
        check_text(problem->message);
        if (problem->message.len == 0) abort();
        if (!problem->loaded) faults++;
    }
    if ((status == PHI_OK) != (skill != NULL) || (status == PHI_OK) != (faults == 0)) abort();
    if (skill == NULL) return;
    if (skill->description.len == 0 || skill->name.len == 0) abort();
    check_text(skill->description);
    check_text(skill->allowed_tools);
    for (k = 0; k < skill->metadata_count; k++) {
        check_text(skill->metadata[k].key);
        check_text(skill->metadata[k].value);
    }
}

/* Nothing of a description may end an element of the index. */
static void check_index(const phi_skills *skills, phi_arena *arena) {
    phi_str index;
    size_t at = 0, open = 0;
    if (phi_skills_prompt(skills, PHI_SKILLS_NO_HINT, NULL, arena, &index) != PHI_OK) abort();
    check_text(index);
    while ((at = phi__str_find(index, at, "<")) != SIZE_MAX) {
        open++;
        at++;
    }
    if (open != (phi_skills_at(skills, 0) == NULL ? 0u : 10u)) abort();
}

static void load(const char *dir) {
    phi_skills *skills = phi_skills_new(NULL);
    phi_memory memory;
    phi_arena arena;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    check_set(skills, phi__skills_one(skills, dir, "one"));
    check_index(skills, &arena);
    phi_arena_free(&arena);
    phi_skills_free(skills);
}

static void script(phi_str text) {
    static const phi_hook_point points[] = {PHI_HOOK_BEFORE_TOOL, PHI_HOOK_FILTER,
                                            PHI_HOOK_CREDENTIAL, PHI_HOOK_AFTER_LOOP};
    phi_memory memory;
    phi_arena arena;
    const char *const *words = NULL;
    const char *fault = NULL;
    phi_str command;
    size_t i;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (!phi__arena_str(&arena, text, &command)) abort();
    if (phi__split_command(&arena, command.at, &words, &fault) == PHI_OK) {
        if (words[0] == NULL || words[0][0] == '\0') abort();
    } else if (fault == NULL) {
        abort();
    }
    for (i = 0; i < PHI__COUNT(points); i++) {
        phi__buf reply;
        phi__buf_init(&reply, &memory);
        if (phi__talk_answer(&memory, points[i], text, &reply) == PHI__SCRIPT_LOST) abort();
        phi__buf_free(&reply);
    }
    phi_arena_free(&arena);
    if (memory.used_bytes != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char dir[64], path[80];
    FILE *f;
    if (dir[0] == '\0') {
        (void)snprintf(dir, sizeof dir, "%s/fuzz_skill_XXXXXX",
                       access("build", W_OK) == 0 ? "build" : "/tmp"); /* OSS-Fuzz has no build/ */
        if (mkdtemp(dir) == NULL) abort();
        (void)snprintf(path, sizeof path, "%s/SKILL.md", dir);
    }
    f = fopen(path, "wb");
    if (f == NULL || fwrite(data, 1, size, f) != size) abort();
    (void)fclose(f);
    load(dir);
    script(phi__str((const char *)data, size));
    return 0;
}
