/* prog_skills.c - the verdict on each directory that is named on standard input, a line each: "good", or
   "bad" and the problems. */
#include "tools/skills.h"
#include "tools/tools_in.h"

#include <stdio.h>
#include <string.h>

int main(void) {
    char path[4096];
    while (fgets(path, sizeof path - sizeof "/SKILL.md", stdin) != NULL) {
        phi_skills *skills = phi_skills_new(NULL);
        const phi_skill_problem *problem;
        size_t i;
        memcpy(path + strcspn(path, "\n"), "/SKILL.md", sizeof "/SKILL.md");
        if (skills == NULL) return 1;
        (void)phi_skills_load(skills, path, NULL, SIZE_MAX);
        printf("%s", phi_skills_problem_at(skills, 0) == NULL ? "good" : "bad");
        for (i = 0; (problem = phi_skills_problem_at(skills, i)) != NULL; i++)
            printf(" | %u: %s", (unsigned)problem->line, problem->message.at);
        printf("\n");
        phi_skills_free(skills);
    }
    return 0;
}
