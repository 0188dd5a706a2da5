/* prog_skills.c - the verdict on each directory that is named on standard input, a line each: "good", or
   "bad" and the problems. */
#include "skills/skills.h"

#include <stdio.h>
#include <string.h>

int main(void) {
    char dir[4096];
    while (fgets(dir, sizeof dir, stdin) != NULL) {
        phi_skills *skills = phi_skills_new(NULL);
        const phi_skill_problem *problem;
        size_t i;
        dir[strcspn(dir, "\n")] = '\0';
        if (skills == NULL) return 1;
        (void)phi_skills_load_one(skills, dir, NULL);
        printf("%s", phi_skills_problem_count(skills) == 0 ? "good" : "bad");
        for (i = 0; (problem = phi_skills_problem_at(skills, i)) != NULL; i++)
            printf(" | %u: %s", (unsigned)problem->line, problem->message.at);
        printf("\n");
        phi_skills_free(skills);
    }
    return 0;
}
