/* test_freed_inside.c - an agent that has everything is freed inside of each of its callbacks, one
   after another. */
#include "support/edits.h"
#include "support/rig.h"
#include "support/store_mem.h"
#include "features/context_edits.h"
#include "log/policy.h"
#include "loop/hook.h"

/* ---- the same log from any step on ---- */

#define LONG                                                                                       \
    "a long and winding list of all the houses in the village and of who lives in each of them"

/* ---- freed inside of each callback ---- */
typedef struct leaver {
    phi_agent agent;
    int at, n; /* leaves at the n-th call */
    bool open;
} leaver;

static void pass(leaver *l) {
    if (l->n++ == l->at) phi_agent_free(l->agent);
}

static phi_verdict leaving_hook(void *user_data, phi_hook *hook) {
    (void)hook;
    pass((leaver *)user_data);
    return PHI_ALLOW;
}

static phi_status leaving_start(void *user_data, const phi_compaction_request *request,
                                void **job) {
    leaver *l = (leaver *)user_data;
    (void)request;
    *job = l;
    l->open = true;
    pass(l);
    return PHI_OK;
}

static phi_status leaving_poll(void *user_data, void *job, phi_rewrite *out) {
    (void)job;
    (void)out;
    pass((leaver *)user_data);
    return PHI_BUSY;
}

static void leaving_end(void *user_data, void *job) {
    leaver *l = (leaver *)user_data;
    CHECK(l->open && job == l);
    l->open = false;
}

static void leaving_field(void *user_data, const phi_field *field) {
    (void)field;
    pass((leaver *)user_data);
}

static phi_flow leaving_tool(void *user_data, phi_call call, phi_str arguments) {
    (void)arguments;
    (void)call_prune(call, 10, PHI__LIT("memo"));
    pass((leaver *)user_data);
    return PHI_DONE;
}

static size_t leaving_count(void *user_data, phi_str text) {
    (void)user_data;
    return text.len / 4;
}

TEST(an_agent_is_freed_inside_of_any_callback) {
    leaver l;
    int at;
    for (at = 0; at < 400; at++) {
        rig *r = rig_new();
        store_mem *store = store_mem_new();
        phi_agent_desc desc = rig_desc();
        phi_policy policy = phi_policy_of(PHI_POLICY_SHORT_CONTEXT, NULL);
        phi_tool tool = PHI_ZERO;
        int i;
        memset(&l, 0, sizeof l);
        l.at = at;
        tool.name = "tool";
        tool.start = leaving_tool;
        tool.on_field = leaving_field;
        tool.user_data = &l;
        desc.tools = &tool;
        desc.tool_count = 1;
        desc.model.context_window = 300;
        desc.compaction.system_prompt_tokens = 20;
        desc.compactor.start = leaving_start;
        desc.compactor.poll = leaving_poll;
        desc.compactor.end = leaving_end;
        desc.compactor.user_data = &l;
        desc.hook_fn = leaving_hook;
        desc.hook_points = 0x1ffff;
        desc.user_data = &l;
        desc.policy = &policy;
        desc.token_counter.count_text = leaving_count;
        desc.store = store_mem_store(store);
        desc.options.capture_requests = true;
        l.agent = rig_agent(r, &desc);
        for (i = 0; i < 6; i++) rig_call(r, "c", "tool", "{\"a\":\"" LONG "\",\"b\":2}");
        rig_says(r, "Done.");
        CHECK_EQ_INT(phi_prompt(l.agent, LONG), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 200), 0);
        CHECK(!l.open || phi_agent_alive(l.agent));
        i = l.n;
        rig_free(r);
        CHECK(!l.open);
        store_mem_free(store);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
        if (i <= at) break; /* nobody was left to be freed */
    }
    CHECK(at > 40 && at < 400);
}

TEST_MAIN(TEST_ENTRY(an_agent_is_freed_inside_of_any_callback))
