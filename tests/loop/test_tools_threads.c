/* test_tools_threads.c - other threads finish and abort while calls are cancelled, time out, and go
   with their agents. Meant for the thread sanitizer. */
#include "support/rig.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "model/message.h"
#include "agent/agent_info.h"
#include "loop/loop_in.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { THREADS = 3, SLOTS = 64 };

/* What the pump shows to the threads: the newest calls. The words are atomic; a torn handle is only
   another stale one. */
typedef struct board {
    phi_runtime *rt;
    uint32_t index[SLOTS], gen[SLOTS];
    uint32_t agent_index, agent_gen;
    uint32_t next;
    int stop;
    uint32_t told[SLOTS]; /* by slot of the call table: gen whose finish said PHI_OK */
    size_t wins, cancels, wrong;
} board;

static phi_flow board_start(void *user_data, phi_call call, phi_str arguments) {
    board *b = (board *)user_data;
    uint32_t at = b->next++ % SLOTS;
    (void)arguments;
    PHI__STORE(&b->index[at], call.index);
    PHI__STORE(&b->gen[at], call.gen);
    return PHI_PENDING;
}

/* No call that was finished is told to cancel. */
static void board_cancel(void *user_data, phi_call call) {
    board *b = (board *)user_data;
    PHI__ADD(&b->cancels, 1);
    if (call.index < SLOTS && PHI__LOAD(&b->told[call.index]) == call.gen) PHI__ADD(&b->wrong, 1);
}

typedef struct worker {
    board *b;
    uint32_t seed;
} worker;

static void *board_work(void *arg) {
    worker *me = (worker *)arg;
    board *b = me->b;
    while (PHI__LOAD(&b->stop) == 0) {
        uint32_t at = test_random(&me->seed) % SLOTS;
        phi_call call;
        phi_agent agent;
        call.rt = b->rt;
        call.index = PHI__LOAD(&b->index[at]);
        call.gen = PHI__LOAD(&b->gen[at]);
        agent.rt = b->rt;
        agent.index = PHI__LOAD(&b->agent_index);
        agent.gen = PHI__LOAD(&b->agent_gen);
        if (test_random(&me->seed) % 40 == 0) (void)phi_abort(agent);
        if (test_random(&me->seed) % 8 != 0) {
            sched_yield();
            continue;
        }
        (void)phi_call_get_info(call).pending;
        (void)phi_agent_alive(agent);
        if (phi_call_reply(call, "from a thread") == PHI_OK) {
            PHI__ADD(&b->wins, 1);
            if (call.index < SLOTS) PHI__STORE(&b->told[call.index], call.gen);
        }
        phi_wake(b->rt);
    }
    return NULL;
}

static const char *const calls[] = {"c1 wait {}", "c2 wait {}", "c3 wait {}", "c4 wait {}"};

static bool whole(phi_agent agent) {
    size_t n = phi_thread_message_count(phi_agent_thread(agent)), i, k;
    for (i = 0; i < n; i++) {
        const phi_message *m = phi_thread_message_at(phi_agent_thread(agent), i);
        if (m->role != PHI_ROLE_ASSISTANT || m->stop_reason != PHI_STOP_REASON_TOOL_USE) continue;
        for (k = 0; k < m->content_count; k++) {
            const phi_message *result = phi_thread_message_at(phi_agent_thread(agent), i + 1 + k);
            if (result == NULL || !phi_str_equal(result->tool_call_id, m->content[k].id))
                return false;
        }
    }
    return true;
}

static bool more_rounds(board *b) {
    return PHI__LOAD(&b->wins) == 0 || PHI__LOAD(&b->cancels) == 0;
}

TEST(threads_finish_and_abort_while_calls_die_in_every_way) {
    rig *r = rig_new();
    static board b;
    static pthread_t threads[THREADS];
    static worker workers[THREADS];
    phi_tool tool;
    uint32_t seed = 7;
    int round, i;
    memset(&b, 0, sizeof b);
    memset(&tool, 0, sizeof tool);
    tool.name = "wait";
    tool.start = board_start;
    tool.cancel = board_cancel;
    tool.user_data = &b;
    tool.timeout_ms = 20;
    b.rt = rig_runtime(r);
    for (i = 0; i < THREADS; i++) {
        workers[i].b = &b;
        workers[i].seed = (uint32_t)i + 1;
        REQUIRE(pthread_create(&threads[i], NULL, board_work, &workers[i]) == 0);
    }
    /* More rounds where the threads have hardly begun, or where they finished every call before a step could end it: a busy
       machine, and valgrind, which lets one thread run at a time and long. */
    for (round = 0; round < 150 || (more_rounds(&b) && round < 1000); round++) {
        phi_agent_desc desc = rig_desc();
        phi_agent agent;
        int steps = (int)(test_random(&seed) % 60);
        if (round >= 150 && PHI__LOAD(&b.wins) == 0) (void)usleep(1000);
        desc.tools = &tool;
        desc.tool_count = 1;
        desc.tool_options.mode = (phi_tool_mode)(test_random(&seed) % 3);
        agent = rig_agent(r, &desc);
        REQUIRE(agent.rt != NULL);
        PHI__STORE(&b.agent_index, agent.index);
        PHI__STORE(&b.agent_gen, agent.gen);
        rig_calls(r, calls, 4);
        rig_says(r, "done");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        if (round % 3 == 0) {
            while (steps-- > 0) {
                (void)rig_run(r, 1);
                sched_yield();
            }
        } else {
            int most = 3000;
            while (rig_run(r, 1) > 0 && most-- > 0) sched_yield();
            CHECK(most > 0);
            CHECK(whole(agent));
        }
        phi_agent_free(agent);
        rig_forget(r);
    }
    PHI__STORE(&b.stop, 1);
    for (i = 0; i < THREADS; i++) (void)pthread_join(threads[i], NULL);
    CHECK_EQ_INT(b.wrong, 0);
    CHECK(b.wins > 0);
    CHECK(b.cancels > 0);
    rig_free(r);
}

static void *storm(void *arg) {
    phi_agent agent = *(phi_agent *)arg;
    int i;
    for (i = 0; i < 20000; i++) {
        if (phi_abort(agent) != PHI_OK) abort();
    }
    return NULL;
}

TEST(a_storm_of_aborts_is_accepted_to_the_last_one) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    pthread_t threads[THREADS];
    int i;
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    for (i = 0; i < THREADS; i++) REQUIRE(pthread_create(&threads[i], NULL, storm, &agent) == 0);
    for (i = 0; i < 200; i++) (void)rig_step(r);
    for (i = 0; i < THREADS; i++) (void)pthread_join(threads[i], NULL);
    for (i = 0; i < 40; i++) (void)rig_step(r);
    CHECK(!phi_agent_get_info(agent).running);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(threads_finish_and_abort_while_calls_die_in_every_way),
          TEST_ENTRY(a_storm_of_aborts_is_accepted_to_the_last_one))
