/* prog_trace.c - writes pages and spans of threads for make interop to open in a browser and to read with software that is not
   ours.

       prog_trace DIRECTORY

   story.html, policy.html (the same under a policy), story.json (spans), content.json (spans with messages), big.html (10,000 entries), hostile.html, odd.html
   (times, counts and names out of range, 1,000 lanes), and their spans. */
#include "trace/trace_hostile.h"
#include "trace/trace_scene.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "log/policy.h"

#include <stdio.h>
#include <time.h>

static int failures;

static void save(const phi_thread *thread, phi_trace_kind kind, const phi_trace_desc *desc,
                 const char *dir, const char *name) {
    char path[600], words[300];
    phi_status status;
    clock_t from = clock();
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    status = phi_trace_write(thread, kind, desc, path, words, sizeof words);
    if (status != PHI_OK) {
        printf("FAIL %s: %s\n", name, words);
        failures++;
    } else
        printf("%s written in %.0f ms of CPU\n", name,
               1e3 * (double)(clock() - from) / CLOCKS_PER_SEC);
}

int main(int argc, char **argv) {
    static scene story, helper, big, bad, odd;
    const phi_thread *children[1];
    phi_trace_desc desc;
    phi_model model;
    phi_policy policy = phi_policy_of(PHI_POLICY_DEFAULT, NULL);
    if (argc != 2) {
        fprintf(stderr, "prog_trace DIRECTORY\n");
        return 2;
    }
    memset(&desc, 0, sizeof desc);
    scene_story(&story, &helper);
    scene_many(&big, 10000);
    hostile_scene(&bad);
    odd_scene(&odd, 1000);
    if (story.failed || helper.failed || big.failed || bad.failed || odd.failed) return 1;
    model = phi_model_anthropic("claude-sonnet-4-5", "sk-ant-not-a-real-key");
    model.cost.input = 3;
    model.cost.output = 15;
    model.cost.cache_read = 0.3;
    model.cost.cache_write = 3.75;
    children[0] = &helper.thread;
    desc.title = "Mending the date tests";
    desc.children = children;
    desc.child_count = 1;
    desc.models = &model;
    desc.model_count = 1;
    save(&story.thread, PHI_TRACE_HTML, &desc, argv[1], "story.html");
    save(&story.thread, PHI_TRACE_OTEL, &desc, argv[1], "story.json");
    desc.with_content = true;
    save(&story.thread, PHI_TRACE_OTEL, &desc, argv[1], "content.json");
    policy.max_input_tokens = 158; /* 28 are of the system prompt */
    policy.no_reserve = true;
    policy.keep_no_turns = true;
    desc.policy = &policy;
    save(&story.thread, PHI_TRACE_HTML, &desc, argv[1], "policy.html");
    policy.max_input_tokens = 3000;
    desc.title = "Hostile";
    desc.child_count = 0;
    save(&bad.thread, PHI_TRACE_HTML, &desc, argv[1], "hostile.html");
    save(&bad.thread, PHI_TRACE_OTEL, &desc, argv[1], "hostile.json");
    desc.policy = NULL;
    desc.title = "Odd";
    save(&odd.thread, PHI_TRACE_HTML, &desc, argv[1], "odd.html");
    save(&odd.thread, PHI_TRACE_OTEL, &desc, argv[1], "odd.json");
    desc.title = "10,000 entries";
    save(&big.thread, PHI_TRACE_HTML, &desc, argv[1], "big.html");
    scene_close(&story);
    scene_close(&helper);
    scene_close(&big);
    scene_close(&bad);
    scene_close(&odd);
    return failures > 0;
}
