/* test_hooks_threads.c - decisions, steering, injected messages and aborts that come from many
   threads while the run goes on, ends, and begins again. For the thread sanitizer. */
#include "loop/loop_in.h"
#include "support/heard.h"
#include "agent/agent_info.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 60 };

/* What the pump has told the threads: a ticket and an agent, under a lock. */
typedef struct board {
    pthread_mutex_t lock;
    phi_ticket ticket;
    phi_agent agent;
    int won, lost, full, round; /* won: in this round */
    bool over;
} board;

typedef struct worker {
    board *b;
    int i;
    size_t posted, refused;
} worker;

static void look(board *b, phi_ticket *ticket, phi_agent *agent, int *round, bool *over) {
    pthread_mutex_lock(&b->lock);
    *ticket = b->ticket;
    *agent = b->agent;
    *round = b->round;
    *over = b->over;
    pthread_mutex_unlock(&b->lock);
}

static void *decide_all(void *arg) {
    worker *w = (worker *)arg;
    phi_ticket ticket;
    phi_agent agent;
    int round;
    bool over = false;
    while (!over) {
        phi_status said;
        look(w->b, &ticket, &agent, &round, &over);
        if (ticket.rt == NULL) continue;
        said = phi_decide(ticket, w->i % 2 == 0 ? PHI_ALLOW : PHI_WARN, "a reason");
        pthread_mutex_lock(&w->b->lock);
        if (said == PHI_OK && w->b->round == round) w->b->won++;
        if (said == PHI_OK && w->b->round != round)
            w->b->lost = -1; /* a ticket of an earlier round */
        w->b->full += said == PHI_FULL;
        pthread_mutex_unlock(&w->b->lock);
    }
    return NULL;
}

static void begin(board *b, worker workers[THREADS], pthread_t threads[THREADS],
                  void *(*body)(void *)) {
    int i;
    memset(b, 0, sizeof *b);
    pthread_mutex_init(&b->lock, NULL);
    for (i = 0; i < THREADS; i++) {
        memset(&workers[i], 0, sizeof workers[i]);
        workers[i].b = b;
        workers[i].i = i;
        if (pthread_create(&threads[i], NULL, body, &workers[i]) != 0) abort();
    }
}

static void finish(board *b, pthread_t threads[THREADS]) {
    int i;
    pthread_mutex_lock(&b->lock);
    b->over = true;
    pthread_mutex_unlock(&b->lock);
    for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&b->lock);
}

static void show(board *b, phi_ticket ticket, phi_agent agent) {
    pthread_mutex_lock(&b->lock);
    b->ticket = ticket;
    b->agent = agent;
    b->round++;
    b->won = 0;
    pthread_mutex_unlock(&b->lock);
}

/* Hypothesis: two threads both win one ticket, or none does and the run hangs. */
TEST(of_many_threads_that_decide_one_ticket_exactly_one_wins) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent, nobody;
    phi_ticket none;
    board b;
    worker workers[THREADS];
    pthread_t threads[THREADS];
    int round, won;
    memset(&none, 0, sizeof none);
    memset(&nobody, 0, sizeof nobody);
    desc.deadlines.decision_ms = PHI_UNLIMITED;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TURN);
    agent = rig_agent(r, &desc);
    begin(&b, workers, threads, decide_all);
    for (round = 0; round < ROUNDS; round++) {
        int steps = 0;
        rig_answers(r, PHI_HOOK_BEFORE_TURN, PHI_WAIT, NULL);
        rig_says(r, "hello");
        if (!CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK)) break;
        CHECK_EQ_INT(rig_run(r, 3), 1);
        show(&b, rig_ticket(r, (size_t)round), agent);
        while (rig_run(r, 1) > 0 && steps++ < 2000000) {}
        /* Whoever won has said so before the ticket died, or is just about to. */
        do {
            pthread_mutex_lock(&b.lock);
            won = b.won;
            pthread_mutex_unlock(&b.lock);
        } while (won == 0);
        CHECK_EQ_INT(won, 1);
        show(&b, none, nobody);
        CHECK_EQ_INT(b.lost, 0);
    }
    finish(&b, threads);
    CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd ok"), ROUNDS);
    rig_free(r);
}

/* Hypothesis: a decision and its deadline both count, or a decision that was told PHI_OK does not. */
TEST(of_a_decision_and_its_deadline_exactly_one_counts) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent, nobody;
    phi_ticket none;
    board b;
    worker workers[THREADS];
    pthread_t threads[THREADS];
    int round, wins = 0;
    memset(&none, 0, sizeof none);
    memset(&nobody, 0, sizeof nobody);
    desc.deadlines.decision_ms = 3;
    rig_mock(r);
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TURN);
    agent = rig_agent(r, &desc);
    begin(&b, workers, threads, decide_all);
    for (round = 0; round < ROUNDS; round++) {
        int steps = 0;
        rig_answers(r, PHI_HOOK_BEFORE_TURN, PHI_WAIT, NULL);
        if (!CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK)) break;
        CHECK_EQ_INT(rig_step(r), 1);
        show(&b, rig_ticket(r, (size_t)round), agent);
        if (round % 3 == 0) CHECK_EQ_INT(phi_abort(agent), PHI_OK);
        /* A thread that has won the ticket may take its time to say what. */
        while (rig_run(r, 1) > 0 && steps++ < 2000000) {}
        CHECK_EQ_INT(phi_decide(rig_ticket(r, (size_t)round), PHI_ALLOW, NULL), PHI_STALE);
        pthread_mutex_lock(
            &b.lock); /* a winner may not have said so yet: it is one that is counted late */
        wins += b.won;
        pthread_mutex_unlock(&b.lock);
        show(&b, none, nobody);
    }
    finish(&b, threads);
    CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), ROUNDS);
    CHECK(wins <= ROUNDS);
    CHECK((int)count_of(rig_story(r), "AgentEnd ok") <= ROUNDS - ROUNDS / 3);
    rig_free(r);
}

static void *say_all(void *arg) {
    worker *w = (worker *)arg;
    phi_ticket ticket;
    phi_agent agent;
    int round, n = 0;
    bool over = false;
    while (!over) {
        phi_status said;
        look(w->b, &ticket, &agent, &round, &over);
        if (agent.rt == NULL || w->posted == 40) continue;
        n++;
        said = w->i == 0     ? phi_steer(agent, "left")
               : w->i == 1   ? phi_follow_up(agent, "more")
               : w->i == 2   ? phi_inject(agent, "news", "tag")
               : n % 64 == 0 ? phi_abort(agent)
                             : PHI_FULL;
        if (said == PHI_OK)
            w->posted++;
        else
            w->refused++;
        (void)phi_agent_alive(agent);
        phi_wake(agent.rt);
    }
    return NULL;
}

/* Hypothesis: what PHI_OK was said to is lost between the end of one run and the beginning of the next: each
   message must be in the history, in a queue, or reported. */
TEST(what_threads_say_at_the_end_of_a_run_is_never_lost) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent, nobody;
    phi_ticket none;
    board b;
    worker workers[THREADS];
    pthread_t threads[THREADS];
    size_t seen, dropped, left;
    int round;
    memset(&none, 0, sizeof none);
    memset(&nobody, 0, sizeof nobody);
    desc.input.queue_limit = 10;
    rig_mock(r);
    agent = rig_agent(r, &desc);
    begin(&b, workers, threads, say_all);
    show(&b, none, agent);
    for (round = 0; round < ROUNDS; round++) {
        if (phi_prompt(agent, "go") == PHI_OK) (void)rig_run(r, 3000);
        CHECK(!phi_agent_get_info(agent).running);
    }
    show(&b, none, nobody);
    finish(&b, threads);
    while (rig_run(r, 5) > 0 ||
           rig_runtime(r)->inbox.head != PHI__LOAD(&rig_runtime(r)->inbox.tail)) {}
    seen = count_of(rig_story(r), "MessageEnd user \"left\"") +
           count_of(rig_story(r), "MessageEnd user \"more\"") +
           count_of(rig_story(r), "MessageEnd user \"news\"");
    dropped = count_of(rig_story(r), "InputDropped");
    left = phi_agent_get_info(agent).queued;
    CHECK_EQ_INT(seen + dropped + left, workers[0].posted + workers[1].posted + workers[2].posted);
    CHECK_EQ_INT(phi_agent_get_info(agent).injected, 0);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(of_many_threads_that_decide_one_ticket_exactly_one_wins),
          TEST_ENTRY(of_a_decision_and_its_deadline_exactly_one_counts),
          TEST_ENTRY(what_threads_say_at_the_end_of_a_run_is_never_lost))
