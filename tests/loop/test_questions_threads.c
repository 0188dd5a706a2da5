/* test_questions_threads.c - questions that other threads answer, at the moment when they are
   withdrawn, are late, or lose their agent. Under the thread sanitizer. */
#include "loop/inner_in.h"
#include "support/heard.h"
#include "loop/inner_in.h"

#include <pthread.h>

enum { ROUNDS = 60, OPEN = 8, THREADS = 2 };

typedef struct race {
    rig *r;
    phi_agent agent;
    phi__question *open[OPEN];
    phi_ticket tickets[OPEN];
    int ticket_count;
    bool ended[OPEN];
    int decided, won;
} race;

typedef struct one {
    race *race;
    int i;
} one;

typedef struct decider {
    race *race;
    pthread_t thread;
    int won, n;
} decider;

static void decided(void *ctx, phi_verdict verdict, phi_str reply) {
    const one *o = (const one *)ctx;
    CHECK(!o->race->ended[o->i]);
    CHECK(verdict != PHI_ALLOW || reply.len == 0 || begins(reply.at, "answer "));
    o->race->ended[o->i] = true;
    o->race->decided++;
}

static phi_verdict wait_hook(void *user_data, phi_hook *hook) {
    race *x = (race *)user_data;
    if (hook->point != PHI_HOOK_QUESTION) return PHI_ALLOW;
    x->tickets[x->ticket_count++] = hook->ticket;
    hook->timeout_ms = 5;
    return PHI_WAIT;
}

static void *decide_all(void *arg) {
    decider *d = (decider *)arg;
    int i;
    for (i = 0; i < OPEN; i++) {
        phi_ticket ticket = d->race->tickets[d->n == 0 ? i : OPEN - 1 - i];
        if (phi_decide(ticket, PHI_ALLOW, i % 2 == 0 ? "answer of a thread" : NULL) == PHI_OK)
            d->won++;
    }
    return NULL;
}

static void open_all(race *x, one *ones) {
    phi__question_desc desc;
    int i;
    memset(&desc, 0, sizeof desc);
    desc.source = desc.kind = desc.text = desc.arguments = phi_str_of("x");
    desc.decided = decided;
    for (i = 0; i < OPEN; i++) {
        ones[i].race = x;
        ones[i].i = i;
        desc.ctx = &ones[i];
        REQUIRE(phi__question_open(x->agent, &desc, &x->open[i]) == PHI_OK);
    }
    (void)rig_step(x->r);
    REQUIRE(x->ticket_count == OPEN);
}

TEST(threads_answer_questions_that_end_meanwhile) {
    int round, i, t;
    for (round = 0; round < ROUNDS; round++) {
        race x;
        one ones[OPEN];
        decider deciders[THREADS];
        phi_agent_desc desc = rig_desc();
        memset(&x, 0, sizeof x);
        x.r = rig_new();
        rig_hooks(x.r, &desc, PHI_HOOK_QUESTION);
        rig_hook_with(x.r, wait_hook, &x);
        rig_silent(x.r, true);
        x.agent = rig_agent(x.r, &desc);
        open_all(&x, ones);
        for (t = 0; t < THREADS; t++) {
            memset(&deciders[t], 0, sizeof deciders[t]);
            deciders[t].race = &x;
            deciders[t].n = t;
            REQUIRE(pthread_create(&deciders[t].thread, NULL, decide_all, &deciders[t]) == 0);
        }
        for (i = 0; i < OPEN; i += 3) {
            if (!x.ended[i]) phi__question_close(x.open[i]);
            x.ended[i] = true;
            (void)phi_step(rig_runtime(x.r), 0);
        }
        if (round % 3 == 0) rig_pass_ms(x.r, 6);
        if (round % 3 == 1) phi_agent_free(x.agent);
        for (t = 0; t < THREADS; t++) pthread_join(deciders[t].thread, NULL);
        (void)rig_step(x.r);
        (void)rig_step(x.r);
        for (i = 0; i < OPEN; i++) CHECK(x.ended[i]);
        CHECK_EQ_INT(phi_pending(rig_runtime(x.r), NULL, 0), 0);
        CHECK(deciders[0].won + deciders[1].won <= OPEN);
        rig_free(x.r);
    }
}

TEST_MAIN(TEST_ENTRY(threads_answer_questions_that_end_meanwhile))
