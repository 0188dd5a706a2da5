/* skills.c - skills: a model sees their names, and reads the instructions of the one that a task needs.

   Loads the skills of a directory, prints what is wrong with any of them and the system prompt that an
   agent gets, and lets a model in the process choose: it reads the skill whose description shares a
   word with the task. A real model reads them in the same way.
   usage: skills [directory] [task] */
#define PHI_IMPLEMENTATION
#include "phi_tools.h"

#include <stdio.h>
#include <string.h>

/* ---- a model in the process ---- */

typedef struct chooser {
    const phi_skills *skills;
    phi_str arguments; /* of its call */
    char text[600];
} chooser;

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* Whether two texts share a word of six letters or more. */
static bool share_a_word(phi_str a, phi_str b) {
    size_t i = 0, k, n;
    for (; i < a.len; i += n) {
        for (n = 0; i + n < a.len && is_letter(a.at[i + n]);) n++;
        for (k = 0; n >= 6 && k + n <= b.len; k++)
            if (memcmp(a.at + i, b.at + k, n) == 0) return true;
        if (n == 0) n = 1;
    }
    return false;
}

static phi_status chooser_open(void *user_data, const phi_model_request *request, void **call) {
    chooser *c = (chooser *)user_data;
    const phi_message *last = request->messages[request->message_count - 1];
    phi_str heard = last->content_count > 0 ? last->content[0].text : phi_str_of("");
    const phi_skill *skill;
    size_t i;
    c->text[0] = '\0';
    c->arguments = phi_str_of("");
    *call = c;
    if (last->role == PHI_ROLE_TOOL_RESULT) {
        (void)snprintf(c->text, sizeof c->text, "I follow:\n%.*s", PHI_ARG(heard));
        return PHI_OK;
    }
    for (i = 0; (skill = phi_skills_at(c->skills, i)) != NULL && c->arguments.len == 0; i++) {
        if (!share_a_word(skill->description, heard)) continue;
        (void)snprintf(c->text, sizeof c->text, "{\"name\":\"%s\"}", skill->name.at);
        c->arguments = phi_str_of(c->text);
    }
    if (c->arguments.len == 0) (void)snprintf(c->text, sizeof c->text, "No skill is about that.");
    return PHI_OK;
}

static phi_poll chooser_poll(void *user_data, void *call, phi_answer *answer) {
    chooser *c = (chooser *)call;
    (void)user_data;
    if (c->arguments.len > 0) {
        phi_answer_call(answer, phi_str_of(""), phi_str_of("read_skill"));
        phi_answer_arguments(answer, c->arguments, false);
    } else {
        phi_answer_text(answer, phi_str_of(c->text));
    }
    return PHI_POLL_DONE;
}

static void chooser_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

/* ---- the program ---- */

static void print_problems(const phi_skills *skills) {
    const phi_skill_problem *p;
    size_t i;
    for (i = 0; (p = phi_skills_problem_at(skills, i)) != NULL; i++)
        printf("%s %s:%u: %s\n", p->loaded ? "warning" : "left out", p->file.at, (unsigned)p->line,
               p->message.at);
}

static bool run(phi_runtime *rt, phi_agent agent, const char *task) {
    phi_event ev;
    int runs;
    if (phi_prompt(agent, task) != PHI_OK) return false;
    do {
        runs = phi_step(rt, -1);
        while (phi_next_event(rt, &ev)) {
            if (ev.kind == PHI_EV_TOOL_START)
                printf("[%.*s %.*s]\n", PHI_ARG(ev.tool_name), PHI_ARG(ev.arguments));
            if (ev.kind == PHI_EV_TEXT) printf("%.*s", PHI_ARG(ev.text));
        }
    } while (runs > 0);
    printf("\n");
    return true;
}

int main(int argc, char **argv) {
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_skills *skills = phi_skills_new(NULL);
    phi_agent_desc desc = PHI_ZERO;
    phi_provider model = PHI_ZERO;
    phi_arena arena;
    phi_tool tool;
    phi_str prompt;
    chooser mind;
    bool done = false;
    phi_arena_init(&arena, NULL, 0);
    if (rt == NULL ||
        phi_skills_load(skills, argc > 1 ? argv[1] : "examples/skills", NULL, SIZE_MAX) != PHI_OK)
        return 1;
    print_problems(skills);
    if (phi_skills_prompt(skills, PHI_SKILLS_READ_SKILL, "You help with a repository.", &arena,
                          &prompt) == PHI_OK &&
        phi_skills_tool(skills, &tool) == PHI_OK) {
        printf("%s\n\n", prompt.at);
        memset(&mind, 0, sizeof mind);
        mind.skills = skills;
        model.protocol = "chooser";
        model.user_data = &mind;
        model.open = chooser_open;
        model.poll = chooser_poll;
        model.close = chooser_close;
        desc.model.protocol = "chooser";
        desc.model.id = "chooser";
        desc.provider = &model;
        desc.system_prompt = prompt.at; /* copied */
        desc.tools = &tool;
        desc.tool_count = 1;
        done = run(rt, phi_agent_new(rt, &desc),
                   argc > 2 ? argv[2] : "These changes should be committed.");
    }
    phi_arena_free(&arena);
    phi_runtime_free(rt);
    phi_skills_free(skills); /* after the agents that use it */
    return done ? 0 : 1;
}
