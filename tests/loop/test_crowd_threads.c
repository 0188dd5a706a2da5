/* test_crowd_threads.c - the crowd again, with eight threads that finish its calls, steer it and abort some of
   it: each started call has one result, the first, and the next round takes no more memory. Meant for the
   thread sanitizer. */
#include "loop/crowd.h"
#include "agent/agent_history.h"
#include "loop/hook.h"
#include "loop/input.h"

#include <pthread.h>
#include <sched.h>

enum { ROUNDS = 3, THREADS = 8, PATIENCE = 1000000, DRAIN = 20, FEW = 200, SLACK = 8192 };

/* A call to finish, or, with a ticket, to decide about. */
typedef struct job {
    const member *m;
    phi_agent agent;
    phi_call handle;
    phi_ticket ticket;
    uint32_t call;
} job;

/* What is to be done, taken from anywhere in it. */
typedef struct board {
    pthread_mutex_t lock;
    job jobs[CROWD_MOST * CROWD_CALLS];
    uint32_t count, stop, go;
    uint32_t won, lost, decided, steered, aborted, wrong; /* atomic */
} board;

typedef struct worker {
    board *b;
    uint32_t seed;
} worker;

static void put(board *b, const job *j) {
    (void)pthread_mutex_lock(&b->lock);
    if (b->count == CROWD_MOST * CROWD_CALLS) abort();
    b->jobs[b->count++] = *j;
    (void)pthread_mutex_unlock(&b->lock);
}

static void post(void *user_data, member *m, uint32_t call) {
    job j;
    memset(&j, 0, sizeof j);
    j.m = m;
    j.agent = m->agent;
    j.handle = m->calls[call];
    j.call = call;
    put((board *)user_data, &j);
}

static phi_verdict ask(void *user_data, phi_hook *hook) {
    member *m = (member *)user_data;
    job j;
    memset(&j, 0, sizeof j);
    j.m = m;
    j.agent = hook->agent;
    j.ticket = hook->ticket;
    put((board *)m->crowd->user_data, &j);
    return PHI_WAIT;
}

static bool take(worker *me, job *out) {
    board *b = me->b;
    bool any;
    (void)pthread_mutex_lock(&b->lock);
    any = b->count > 0 && PHI__LOAD(&b->go) != 0;
    if (any) {
        uint32_t at = test_random(&me->seed) % b->count;
        *out = b->jobs[at];
        b->jobs[at] = b->jobs[--b->count];
    }
    (void)pthread_mutex_unlock(&b->lock);
    return any;
}

static void finish(board *b, const job *j) {
    char words[CROWD_TEXT];
    phi_status status;
    crowd_words(j->m, j->call, words);
    while ((status = phi_call_reply(j->handle, words)) == PHI_FULL) sched_yield();
    if (status == PHI_OK)
        PHI__ADD(&b->won, 1);
    else if (status == PHI_STALE)
        PHI__ADD(&b->lost, 1);
    else
        PHI__ADD(&b->wrong, 1);
    if (phi_call_reply(j->handle, "again") != PHI_STALE) PHI__ADD(&b->wrong, 1);
}

static void decide(board *b, const job *j, bool deny) {
    phi_status status;
    while ((status = phi_decide(j->ticket, deny ? PHI_DENY : PHI_ALLOW,
                                deny ? "Denied from a thread" : NULL)) == PHI_FULL)
        sched_yield();
    if (status == PHI_OK)
        PHI__ADD(&b->decided, 1);
    else if (status != PHI_STALE)
        PHI__ADD(&b->wrong, 1);
    if (phi_decide(j->ticket, PHI_ALLOW, NULL) != PHI_STALE) PHI__ADD(&b->wrong, 1);
}

static void *work(void *arg) {
    worker *me = (worker *)arg;
    board *b = me->b;
    job j;
    while (PHI__LOAD(&b->stop) == 0) {
        if (!take(me, &j)) {
            sched_yield();
            continue;
        }
        if (test_random(&me->seed) % 30 == 0 && phi_steer(j.agent, "by the way") == PHI_OK)
            PHI__ADD(&b->steered, 1);
        if (test_random(&me->seed) % 100 == 0 && phi_abort(j.agent) == PHI_OK)
            PHI__ADD(&b->aborted, 1);
        if (j.ticket.rt != NULL)
            decide(b, &j, test_random(&me->seed) % 4 == 0);
        else
            finish(b, &j);
        phi_wake(j.agent.rt);
    }
    return NULL;
}

/* Every answer with calls is followed by their ten results, in order. */
static void check_history(const member *m) {
    size_t n = phi_thread_message_count(phi_agent_thread(m->agent)), i, asked = 0;
    uint32_t call;
    CHECK_EQ_INT(m->ends, 1);
    CHECK(m->status == PHI_OK || m->status == PHI_CANCELLED);
    for (i = 0; i < n; i++) {
        const phi_message *message = phi_thread_message_at(phi_agent_thread(m->agent), i);
        if (message->stop_reason != PHI_STOP_REASON_TOOL_USE) continue;
        asked++;
        for (call = 0; call < CROWD_CALLS; call++) CHECK(crowd_result_is(m, i + 1 + call, call));
    }
    CHECK(asked <= 1);
    if (m->status == PHI_OK) CHECK_EQ_INT(asked, 1);
}

static void play(crowd *c, board *b) {
    uint32_t i, most = PATIENCE, cancelled = 0;
    c->started = 0;
    b->won = b->lost = 0;
    for (i = 0; i < c->size; i++) {
        member *m = &c->members[i];
        m->started = m->ends = m->cancelled = 0;
        CHECK_EQ_INT(phi_prompt(m->agent, "all of you, to work"), PHI_OK);
    }
    /* The first time they wait until all calls are open: no later round has more of them. */
    while (c->started < c->size * CROWD_CALLS && b->go == 0 && most-- > 0) (void)crowd_step(c, 0);
    PHI__STORE(&b->go, 1);
    while (crowd_step(c, 1) > 0 && most-- > 0) {}
    CHECK(most > 0);
    for (i = 0; i < c->size; i++) {
        check_history(&c->members[i]);
        cancelled += c->members[i].cancelled;
    }
    /* What is on the board still was cancelled: nobody can win it any more. */
    while (PHI__LOAD(&b->won) + PHI__LOAD(&b->lost) < c->started) sched_yield();
    CHECK_EQ_INT(b->won + cancelled, c->started);
    CHECK_EQ_INT(b->lost, cancelled);
    for (i = 0; i < DRAIN; i++) (void)crowd_step(c, 0); /* what they have said since */
    for (i = 0; i < c->size; i++) CHECK_EQ_INT(phi_agent_reset(c->members[i].agent), PHI_OK);
}

/* A crowd of that size, with the threads at work; what it takes after each round. */
static void all_work(uint32_t size, phi_hook_fn hook_fn, size_t used[ROUNDS], board *b) {
    static crowd c;
    pthread_t threads[THREADS];
    worker workers[THREADS];
    int round, i;
    memset(b, 0, sizeof *b);
    REQUIRE(pthread_mutex_init(&b->lock, NULL) == 0);
    if (!crowd_new(&c, size, hook_fn)) return;
    c.on_call = post;
    c.user_data = b;
    b->go = hook_fn != NULL ? 1 : 0;
    for (i = 0; i < THREADS; i++) {
        workers[i].b = b;
        workers[i].seed = (uint32_t)i + 1;
        REQUIRE(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
    }
    for (round = 0; round < ROUNDS; round++) {
        play(&c, b);
        used[round] = phi_memory_used(c.rt, NULL);
    }
    PHI__STORE(&b->stop, 1);
    for (i = 0; i < THREADS; i++) (void)pthread_join(threads[i], NULL);
    CHECK_EQ_INT(b->wrong, 0);
    CHECK(b->steered > 0);
    CHECK(b->aborted > 0);
    phi_runtime_free(c.rt);
    (void)pthread_mutex_destroy(&b->lock);
}

static board shared;

TEST(eight_threads_finish_steer_and_abort_a_thousand_agents) {
    size_t used[ROUNDS] = {0};
    all_work(CROWD_MOST, NULL, used, &shared);
    /* A table of timers is as large as the most that ran at once: that is chance. A leak of one byte a
       call would be ten thousand. */
    CHECK(used[2] <= used[1] + SLACK);
}

TEST(eight_threads_decide_which_calls_are_run) {
    size_t used[ROUNDS] = {0};
    all_work(FEW, ask, used, &shared);
    CHECK(shared.decided > FEW);
}

TEST_MAIN(TEST_ENTRY(eight_threads_finish_steer_and_abort_a_thousand_agents),
          TEST_ENTRY(eight_threads_decide_which_calls_are_run))
