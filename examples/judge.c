/* judge.c - one question, three ways to answer it at once, and a judge who reads them all.

   The branches differ in their system prompts; they could differ in models or temperatures. The conversation
   continues with the answer that the judge picks, and the others stay in the thread as lanes.
   usage: judge [question] */
#include "phi_tools.h"
#include "pick_model.h"

enum { WAYS = 3 };

static const char *const way_names[WAYS] = {"brief", "careful", "vivid"};

static phi_agent_desc describe(const char *system_prompt) {
    phi_agent_desc desc = PHI_ZERO;
    const char *why;
    desc.model = pick_model(&why);
    desc.system_prompt = system_prompt;
    desc.max_tokens = 1000;
    return desc;
}

static void print_text(phi_str text) {
    printf("%.*s\n", (int)text.len, text.len > 0 ? text.at : "");
}

/* Until nothing runs any more. Branches are told apart by their loop ids. */
static void run(phi_runtime *rt) {
    phi_event ev;
    int runs;
    do {
        runs = phi_step(rt, 100);
        while (phi_next_event(rt, &ev)) switch (ev.kind) {
            case PHI_EV_PARALLEL_START:
                printf("%u branches\n", (unsigned)ev.parallel->loop_count);
                break;
            case PHI_EV_ERROR:
                printf("! ");
                print_text(ev.text);
                break;
            case PHI_EV_TOOL_PROGRESS: print_text(ev.text); break;
            case PHI_EV_PARALLEL_END:
                printf("the judge used %u tokens\n",
                       (unsigned)ev.parallel->evaluation_usage.total_tokens);
                break;
            default: break;
            }
    } while (runs > 0);
}

static void show(phi_agent agent) {
    phi_evaluation e;
    size_t i;
    if (phi_evaluation_result(agent, &e) != PHI_OK) return;
    for (i = 0; i < e.branch_count; i++) {
        printf("\n-- %s, %s%s\n", way_names[i], phi_status_text(e.branches[i].status),
               i == e.selected ? ", selected" : "");
        print_text(e.branches[i].text);
    }
    printf("\n%u tokens in all\n", (unsigned)e.total_usage.total_tokens);
}

static int evaluate(phi_runtime *rt, const char *question) {
    phi_agent_desc configs[WAYS], judge = describe(NULL), own = describe("You are helpful.");
    phi_evaluate_desc desc = PHI_ZERO;
    phi_agent agent = phi_agent_new(rt, &own);
    const phi_message *last;
    configs[0] = describe("Answer in one sentence.");
    configs[1] = describe("Think step by step, and say how sure you are.");
    configs[2] = describe("Answer with a picture that a child understands.");
    judge.compaction.max_context_tokens = 50000; /* longer texts are cut for the judge alone */
    desc.configs = configs;
    desc.config_count = WAYS;
    desc.prompt = question;
    desc.by = PHI_EVALUATE_JUDGE;
    desc.judge = &judge;
    if (phi_evaluate(agent, &desc) != PHI_OK) {
        printf("! %s\n", phi_last_error(rt).message);
        return 1;
    }
    run(rt);
    show(agent);
    if (phi_prompt(agent, "The same in five words, please.") != PHI_OK) return 1;
    run(rt);
    printf("\nin five words: ");
    last = phi_thread_last(phi_agent_thread(agent), PHI_ROLE_ASSISTANT, true);
    if (last != NULL) print_text(last->content[0].text);
    return 0;
}

int main(int argc, char **argv) {
    phi_runtime *rt = phi_runtime_new(NULL);
    int code;
    if (rt == NULL) {
        printf("no runtime: out of memory, or libcurl cannot be used\n");
        return 1;
    }
    code = evaluate(rt, argc > 1 ? argv[1] : "Why is the sky blue?");
    phi_runtime_free(rt);
    return code;
}
