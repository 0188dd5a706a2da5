/* test_event.c - the id of a model call. */
#include "agent/agent.h"
#include "support/rig.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "model/message.h"

/* A model call is its run and its turn. */
static void id_of(phi_str loop_id, uint32_t turn_index, char out[200]) {
    (void)snprintf(out, 200, "%.*s/%u", (int)loop_id.len, loop_id.at, (unsigned)turn_index);
}

typedef struct ids {
    char first[200], last[200];
    size_t texts, others;
} ids;

static void watch(void *user_data, const phi_event *e) {
    ids *all = (ids *)user_data;
    char id[200];
    if (e->kind != PHI_EV_TEXT && e->kind != PHI_EV_TOOL_START) return;
    id_of(e->loop_id, e->turn_index, id);
    if (all->texts + all->others == 0) memcpy(all->first, id, sizeof id);
    memcpy(all->last, id, sizeof id);
    if (e->kind == PHI_EV_TEXT)
        all->texts++;
    else
        all->others++;
}

TEST(each_model_call_of_a_run_has_an_id_of_its_own_that_its_message_has_too) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool echo = rig_echo();
    phi_agent agent;
    ids all;
    char of_message[200];
    const phi_message *last;
    memset(&all, 0, sizeof all);
    desc.tools = &echo;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "done");
    rig_watch(r, watch, &all);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK(all.texts > 0 && all.others == 1);
    CHECK_EQ_STR(all.first, "session.anthropic.test-model.1/0");
    CHECK_EQ_STR(all.last, "session.anthropic.test-model.1/1");
    last = phi_thread_message_at(phi_agent_thread(agent),
                                 phi_thread_message_count(phi_agent_thread(agent)) - 1);
    id_of(last->loop_id, last->turn_index, of_message);
    CHECK_EQ_STR(of_message, all.last);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(each_model_call_of_a_run_has_an_id_of_its_own_that_its_message_has_too))
