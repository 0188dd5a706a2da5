/* custom_strategy.c - a strategy of your own: the same prompt three times, and the answer that comes most often.

   The strategy is eighty lines, and a program that uses it follows. A machine gets events (the prompt, an answer, a
   failure, "stop") and adds commands (ask the model, be done). phi makes the calls, reserves and counts them, logs them
   on a lane of their own, and saves the machine with the agent. */
#define PHI_IMPLEMENTATION
#include "phi_tools.h"

#include <stdio.h>
#include <string.h>

enum { VOTES = 3 };

typedef struct majority {
    uint32_t count;
    phi_str said[VOTES];
} majority;

static phi_status majority_ask(const majority *p, phi_strategy_commands *out) {
    phi_strategy_command *command = phi_strategy_add(out, PHI_STRATEGY_ASK);
    command->call.id = p->count + 1;
    command->call.in_conversation = true; /* the prompt as the user wrote it */
    return PHI_OK;
}

static phi_status majority_keep(majority *p, phi_str text, phi_arena *arena) {
    char *copy = (char *)phi_arena_alloc(arena, text.len);
    if (copy == NULL) return PHI_NO_MEMORY;
    if (text.len > 0) memcpy(copy, text.at, text.len);
    p->said[p->count].at = copy;
    p->said[p->count++].len = text.len;
    return PHI_OK;
}

static void majority_best(const void *state, phi_strategy_best *out) {
    const majority *p = (const majority *)state;
    uint32_t i, j, votes, most = 0;
    memset(out, 0, sizeof *out);
    for (i = 0; i < p->count; i++) {
        for (j = votes = 0; j < p->count; j++) votes += phi_str_equal(p->said[i], p->said[j]);
        if (votes <= most) continue;
        most = votes;
        out->text = p->said[i];
    }
}

static phi_status majority_on(void *state, const phi_strategy_event *event,
                              const phi_strategy_env *env, phi_strategy_commands *out) {
    majority *p = (majority *)state;
    phi_strategy_command *end;
    phi_strategy_best best;
    if (event->kind == PHI_STRATEGY_BEGIN) return majority_ask(p, out);
    if (event->kind != PHI_STRATEGY_STOP && event->call_id != p->count + 1) return PHI_OK;
    if (event->kind == PHI_STRATEGY_ANSWER) {
        if (majority_keep(p, event->text, env->arena) != PHI_OK) return PHI_NO_MEMORY;
        if (p->count < VOTES && env->calls_left > 0) return majority_ask(p, out);
    }
    majority_best(p, &best); /* all have answered, or a call failed, or it is to end */
    end = phi_strategy_add(out, p->count > 0 ? PHI_STRATEGY_DONE : PHI_STRATEGY_FAIL);
    end->text = p->count > 0 ? best.text : phi_str_of("nobody answered");
    return PHI_OK;
}

static void majority_bill(const void *options, uint64_t prompt_tokens, uint64_t answer_tokens,
                          phi_strategy_bill *out) {
    (void)options;
    (void)prompt_tokens;
    (void)answer_tokens;
    memset(out, 0, sizeof *out);
    out->calls = out->in_conversation = VOTES;
}

static phi_json *majority_save(const void *state, phi_arena *arena) {
    const majority *p = (const majority *)state;
    phi_json *said = phi_json_new_array(arena);
    uint32_t i;
    for (i = 0; i < p->count; i++)
        if (phi_json_add(said, phi_json_new_str(arena, p->said[i])) != PHI_OK) return NULL;
    return said;
}

static phi_status majority_load(void *state, const phi_json *saved, const phi_strategy_env *env,
                                phi_strategy_commands *out) {
    phi_json_iter it = phi_json_each(saved);
    const phi_json *item;
    if (!phi_json_is(saved, PHI_JSON_ARRAY) || phi_json_count(saved) >= VOTES) return PHI_PARSE;
    while ((item = phi_json_next(&it)) != NULL)
        if (majority_keep((majority *)state, phi_json_str(item, ""), env->arena) != PHI_OK)
            return PHI_NO_MEMORY;
    return majority_ask((const majority *)state, out); /* the call that was under way */
}

/* ---- a program with it; the model is one that errs now and then ---- */

int main(void) {
    phi_strategy strategy = {"majority",    sizeof(majority), majority_bill, majority_on,
                             majority_best, majority_save,    majority_load, NULL};
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_strategy_desc how = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    phi_provider thinker;
    phi_mock *mock = phi_mock_new(rt); /* a model that errs once in three times */
    phi_event ev;
    int runs;
    if (mock == NULL) return 1;
    phi_mock_text(mock, "It is 54.");
    phi_mock_text(mock, "It is 56.");
    phi_mock_text(mock, "It is 56.");
    desc.model = mock->model; /* makes the calls */
    how.strategy = &strategy;
    thinker = phi_strategy_provider(&how);
    desc.provider = &thinker; /* makes the answer */
    if (phi_prompt(phi_agent_new(rt, &desc), "How much is 7 * 8?") != PHI_OK) return 1;
    do {
        runs = phi_step(rt, 0);
        while (phi_next_event(rt, &ev))
            if (ev.kind == PHI_EV_TEXT) printf("%.*s", PHI_ARG(ev.text));
    } while (runs > 0);
    printf("\n");
    phi_runtime_free(rt);
    return 0;
}
