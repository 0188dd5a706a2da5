/* test_monkey.c - rounds of a monkey (monkey.h). After each, when memory is back and nobody meddles any more: what ran
   has ended, every agent that is left answers a prompt, each of its calls has one result, and all bytes, locks and
   calls of callbacks are given back.

   A round is its seed. PHI_SEED=n runs that one, with PHI_TRACE=1 it names what it does. PHI_MONKEY_MINUTES=60
   goes on for so long, from PHI_MONKEY_FROM (default: the clock); with PHI_MONKEY_STATE=file one that was
   ended goes on where it was. Rounds run in a child process: whatever it dies of, the seed is printed. */
#include "soak/monkey_acts.h"
#include "record/event_json.h"
#include "loop/events.h"
#include "agent/agent.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "model/event.h"
#include "support/set.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Seeds of rounds that failed once. They run first, always. After a change of the monkey they are other rounds, so a
   fault in phi needs a test of its own, too. */
static const uint32_t found[] = {1263, 1276, 2182, 4823, 6098, 50650, 1011123};

enum { ROUNDS = 100, STEPS = 90, PATIENCE = 4000, STUCK_SECONDS = 300 };

/* ---- what must be true ---- */

static bool is_asking(const phi_message *m) {
    return m->role == PHI_ROLE_ASSISTANT && m->stop_reason != PHI_STOP_REASON_ERROR &&
           m->stop_reason != PHI_STOP_REASON_ABORTED;
}

/* Of the results behind item i, up to the next message that is none, those for this call. */
static size_t results_of(const phi_view_item *items, size_t count, size_t i, phi_str id) {
    size_t n = 0;
    for (i++; i < count && items[i].message->role == PHI_ROLE_TOOL_RESULT; i++)
        n += phi_str_equal(items[i].message->tool_call_id, id);
    return n;
}

static void tell_items(const phi_view_item *items, size_t count) {
    size_t i;
    for (i = 0; i < count; i++)
        printf("  item %u: entries %u to %u, role %d, stop %d, loop %.*s, of call %.*s\n",
               (unsigned)i, (unsigned)items[i].from, (unsigned)items[i].to,
               (int)items[i].message->role, (int)items[i].message->stop_reason,
               (int)items[i].message->loop_id.len, items[i].message->loop_id.at,
               (int)items[i].message->tool_call_id.len, items[i].message->tool_call_id.at);
}

/* In what a model would be shown. Of an agent with a limit, what has left memory may not fit into it again. */
static bool every_call_has_one_result(monkey *m, const seat *s) {
    const phi_view_item *items = NULL;
    const phi_content *block;
    size_t count = 0, i, k;
    phi_status status =
        phi_thread_view(phi_agent_thread(s->agent), NULL, UINT64_MAX, &m->arena, &items, &count);
    if (status != PHI_OK) return s->limited;
    for (i = 0; i < count; i++)
        for (k = 0; is_asking(items[i].message) && k < items[i].message->content_count; k++) {
            block = &items[i].message->content[k];
            if (block->kind == PHI_CONTENT_TOOL_CALL &&
                results_of(items, count, i, block->id) != 1) {
                printf("  item %u of %u: call %.*s\n", (unsigned)i, (unsigned)count,
                       (int)block->id.len, block->id.at);
                if (m->trace) tell_items(items, count);
                return false;
            }
        }
    return true;
}

/* ---- a round ---- */

static void hear(monkey *m, phi_event *last_end, phi_agent of) {
    phi_event event;
    phi_str text;
    while (phi_next_event(runtime(m), &event)) {
        HOLDS(m, phi_agent_alive(event.agent));
        (void)phi_event_to_json(&event, &m->arena, &text);
        if (m->trace)
            printf("    %s %d %.*s\n", phi_event_name(event.kind), (int)event.status,
                   (int)event.text.len, event.text.len > 0 ? event.text.at : "");
        if (event.kind == PHI_EV_AGENT_END && last_end != NULL && event.agent.index == of.index)
            *last_end = event;
    }
    phi_arena_reset(&m->arena, m->empty);
}

static int step(monkey *m) {
    int runs;
    m->stepping = true;
    runs = phi_step(runtime(m), 0);
    m->stepping = false;
    HOLDS(m, runs >= 0);
    return runs;
}

static void raise_all(const phi_pending_item *item) {
    phi_raise by;
    memset(&by, 0, sizeof by);
    by.turns = 1000;
    by.tokens = by.requests = 1000000000;
    by.duration_ms = 1000000000;
    by.cost = 1000000;
    (void)phi_budget_raise(item->payer, &by);
    (void)phi_budget_raise(item->agent, &by);
}

static void answer_all(monkey *m) {
    phi_pending_item items[32];
    size_t n = phi__min(phi_pending(runtime(m), items, 32), 32), i;
    for (i = 0; i < n; i++)
        if (items[i].kind == PHI_WAITING_CALL)
            (void)phi_call_reply(items[i].call, "at last");
        else if (items[i].kind == PHI_WAITING_DECISION)
            (void)phi_decide(items[i].ticket, PHI_ALLOW, NULL);
        else if (items[i].kind == PHI_WAITING_BUDGET)
            raise_all(&items[i]);
}

/* What does not end. */
static void tell_pending(monkey *m) {
    static const char *const kinds[] = {"?", "decision", "call", "retry", "budget", "model"};
    phi_pending_item items[16];
    size_t n = phi__min(phi_pending(runtime(m), items, 16), 16), i;
    printf("  %d runs; next timeout %d\n", step(m), (int)phi_next_timeout(runtime(m)));
    for (i = 0; i < n; i++)
        printf("  waits: %s, agent %u.%u, tool %.*s\n",
               (unsigned)items[i].kind < 6 ? kinds[items[i].kind] : "?",
               (unsigned)items[i].agent.index, (unsigned)items[i].agent.gen,
               (int)items[i].tool_name.len,
               items[i].tool_name.len > 0 ? items[i].tool_name.at : "");
}

/* Nobody meddles any more, and there is memory: whatever runs comes to its end. */
static void settle(monkey *m) {
    int most = PATIENCE;
    memory_is_back(m);
    m->calm = true;
    world_give_up(m);
    let_go(m);
    rig_drop_answers(m->r);
    while (step(m) > 0 && most-- > 0) {
        hear(m, NULL, m->agents[0]);
        answer_all(m);
        rig_pass_ms(m->r, 100);
    }
    hear(m, NULL, m->agents[0]);
    HOLDS(m, most > 0);
    if (most <= 0) tell_pending(m);
}

/* Asked, and what came of it. */
static phi_status asked(monkey *m, phi_agent agent) {
    phi_event end;
    phi_status status;
    int most = PATIENCE, i;
    memset(&end, 0, sizeof end);
    end.status = PHI_BUSY; /* it has not ended */
    rig_drop_answers(m->r);
    for (i = 0; i < 8; i++) rig_says(m->r, "here"); /* summaries, too */
    status = phi_prompt(agent, "are you there?");
    if (status != PHI_OK) return status;
    while (step(m) > 0 && most-- > 0) {
        hear(m, &end, agent);
        answer_all(m);
        rig_pass_ms(m->r, most > PATIENCE - 200 ? 1 : 100);
    }
    hear(m, &end, agent);
    HOLDS(m, most > 0);
    return end.status;
}

static void tell_why(monkey *m, const seat *s, phi_status status) {
    const char *words = "";
    phi_agent_desc desc;
    words = phi_last_error(runtime(m)).message;
    printf("  status %d; last error: %s\n", (int)status, words);
    if (phi_agent_get_desc(s->agent, &desc) == PHI_OK)
        printf("  memory %u of %u, thread %s\n", (unsigned)phi_agent_get_info(s->agent).memory_used,
               (unsigned)desc.memory.limit_bytes, desc.thread_id != NULL ? desc.thread_id : "-");
}

static void goes_on(monkey *m, seat *s) {
    phi_status status;
    phi_raise by;
    memset(&by, 0, sizeof by);
    by.tokens = by.requests = 1000000000;
    by.cost = 1000000;
    (void)phi_budget_raise(s->agent, &by);
    (void)phi_queue_clear(s->agent, PHI_INPUT_NONE);
    (void)set_policy(s->agent, NULL);
    rig_chunk(m->r, 0);
    status = asked(m, s->agent);
    /* The agent of a phi_run that goes just now takes the run of an agent below it along. */
    if (status == PHI_CANCELLED) status = asked(m, s->agent);
    /* At its limit a new history makes it usable. */
    if (status != PHI_OK && (s->limited || m->poor || s->wild)) {
        HOLDS(m, phi_agent_replace_messages(s->agent, NULL, 0) == PHI_OK || m->poor || s->wild);
        status = asked(m, s->agent);
    }
    if (s->wild || m->poor) return;
    HOLDS(m, status == PHI_OK || status == PHI_LIMIT);
    if (status != PHI_OK && status != PHI_LIMIT) tell_why(m, s, status);
    HOLDS(m, every_call_has_one_result(m, s));
}

static bool any_runs(void *user_data, phi_str tool_name) {
    (void)user_data;
    return tool_name.len > 0;
}

/* Records the reel, or plays it. No clock but the manual one counts. */
static phi_tape *new_tape(monkey *m) {
    phi_tape_desc how;
    phi_parse_error error;
    uint32_t fails;
    memset(&how, 0, sizeof how);
    how.allocator = test_allocator();
    how.write_fn = any_write;
    how.runs_fn = any_runs;
    how.user_data = m;
    how.whole_bodies = once_in(m, 2);
    how.host_wait_ms = PHI_UNLIMITED;
    fails = pick(m, 800);
    if (m->playing) return phi_tape_play(&how, phi_str_of(m->reel->at), &error);
    m->reel->writes_left = fails < 200 ? fails : UINT32_MAX;
    return phi_tape_record(&how);
}

static void begin(monkey *m, uint32_t seed, reel *film, bool playing) {
    phi_runtime_desc desc;
    size_t i;
    memset(m, 0, sizeof *m);
    memset(&desc, 0, sizeof desc);
    m->reel = film;
    m->playing = playing;
    m->state = seed * 2654435761u + 1;
    m->trace = getenv("PHI_TRACE") != NULL;
    m->starving = !once_in(m, 3);
    m->strangers = !once_in(m, 3);
    m->seat_count = 1 + pick(m, SEATS);
    m->long_texts = 1 + pick(m, 6);
    weigh(m);
    if (once_in(m, 2)) desc.step_budget_bytes = 1 + pick(m, 400);
    if (once_in(m, 6)) desc.memory_limit_bytes = 100000 + pick(m, 300000);
    if (once_in(m, 6)) desc.inbox_bytes = 1 + pick(m, 3000);
    m->poor = desc.memory_limit_bytes != 0 || desc.inbox_bytes != 0;
    test_alloc_fail_at(-1);
    if (once_in(m, 6)) desc.tape = m->tape = new_tape(m);
    lend_store(m);
    m->r = rig_new_with(&desc);
    if (m->r == NULL) abort();
    rig_silent(m->r, true);
    rig_careless(m->r);
    if (once_in(m, 2)) rig_chunk(m->r, 1 + pick(m, 300));
    phi_memory_init(&m->memory, NULL, 0);
    phi_arena_init(&m->arena, &m->memory, 0);
    m->empty = phi_arena_save(&m->arena);
    phi_arena_init(&m->whole, &m->memory, 0);
    lend(m);
    lend_cast(m);
    do_register(m);
    for (i = 0; i < 40; i++) do_script(m);
    for (i = 0; i < m->seat_count; i++) make_agent(m);
}

static void end(monkey *m) {
    size_t i;
    memory_is_back(m);
    m->calm = true;
    world_give_up(m);
    for (i = 0; i < CASTS; i++) cast_end(m, i);
    rig_free(m->r);
    for (i = 0; i < SHOPS; i++) HOLDS(m, m->lent.shops[i].out == 0);
    if (m->tape != NULL) (void)phi_tape_end(m->tape, NULL);
    phi_tape_free(m->tape);
    HOLDS(m, m->open_calls == 0);
    HOLDS(m, test_alloc_live_bytes() == 0);
    store_mem_free(m->store);
    for (i = 0; i < SAVES; i++) free(m->saves[i]);
    free(m->world);
    phi_arena_free(&m->whole);
    phi_arena_free(&m->arena);
}

static bool live(uint32_t seed, reel *film, bool playing) {
    static monkey m;
    int i;
    int before = test_failures();
    begin(&m, seed, film, playing);
    for (i = 0; i < STEPS; i++) {
        uint32_t n = pick(&m, 6);
        disturb(&m);
        while (n-- > 0) act(&m);
        if (m.trace) printf("step %d\n", i);
        (void)step(&m);
        rig_pass_ms(m.r, pick(&m, 4));
        if (!once_in(&m, 3)) do_pop(&m);
    }
    if (!playing && !once_in(&m, 6)) { /* else all is freed in mid-sentence */
        settle(&m);
        for (i = 0; i < SEATS; i++)
            if (phi_agent_alive(m.seats[i].agent)) goes_on(&m, &m.seats[i]);
        settle(&m);
    }
    end(&m);
    return !m.failed && test_failures() == before;
}

/* A tape that lacks a line, has one twice, or ends early. */
static void spoil(reel *film, uint32_t *state) {
    size_t from = test_random(state) % film->len, to;
    uint32_t how = test_random(state) % 3;
    while (from > 0 && film->at[from - 1] != '\n') from--;
    for (to = from; film->at[to] != '\n' && film->at[to] != '\0'; to++) {}
    to += film->at[to] == '\n';
    if (how == 0) {
        film->at[film->len = from + (to - from) / 2] = '\0';
    } else if (how == 1) {
        memmove(film->at + from, film->at + to, film->len - to + 1);
        film->len -= to - from;
    } else {
        film->at = (char *)realloc(film->at, film->len + (to - from) + 1);
        if (film->at == NULL) abort();
        memmove(film->at + to, film->at + from, film->len - from + 1);
        film->len += to - from;
    }
}

/* Lived; and if it was recorded, played twice, unchanged and spoilt. The played lives need not be the
   recorded one: tools that are not called act less. */
static bool round_of(uint32_t seed) {
    reel film;
    uint32_t state = seed + 1;
    bool holds;
    memset(&film, 0, sizeof film);
    holds = live(seed, &film, false);
    if (holds && film.len > 0) holds = live(seed, &film, true);
    if (holds && film.len > 0) {
        spoil(&film, &state);
        holds = film.len == 0 || live(seed, &film, true);
    }
    free(film.at);
    return holds;
}

/* ---- rounds, in a child ---- */

static uint32_t number(const char *name, uint32_t fallback) {
    const char *text = getenv(name);
    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : fallback;
}

/* Where a long run is: the next seed, rounds so far and seconds; so that one that was ended goes on. */
typedef struct progress {
    const char *path; /* PHI_MONKEY_STATE; NULL: it is not kept */
    unsigned long seed, rounds, seconds;
} progress;

static void progress_read(progress *p) {
    FILE *file = p->path != NULL ? fopen(p->path, "r") : NULL;
    unsigned long seed, count, seconds;
    if (file == NULL) return;
    if (fscanf(file, "%lu %lu %lu", &seed, &count, &seconds) == 3) {
        p->seed = seed;
        p->rounds = count;
        p->seconds = seconds;
        printf("going on at seed %lu, after %lu rounds and %lu seconds\n", seed, count, seconds);
    }
    (void)fclose(file);
}

static void progress_write(const progress *p) {
    FILE *file = p->path != NULL ? fopen(p->path, "w") : NULL;
    if (file == NULL) return;
    (void)fprintf(file, "%lu %lu %lu\n", p->seed, p->rounds, p->seconds);
    (void)fclose(file);
}

static void must_hold(uint32_t seed, volatile uint32_t *at) {
    *at = seed;
    if (round_of(seed)) return;
    fflush(stdout);
    _exit(1);
}

static void rounds_for(uint32_t minutes, progress *p, volatile uint32_t *at) {
    time_t last = time(NULL), now;
    while (p->seconds < minutes * 60ul) {
        (void)alarm(STUCK_SECONDS);
        must_hold((uint32_t)p->seed, at);
        p->seed++;
        p->rounds++;
        now = time(NULL);
        if (now == last) continue;
        p->seconds += (unsigned long)(now - last);
        last = now;
        progress_write(p);
    }
    printf("%lu rounds in %lu seconds, up to seed %lu\n", p->rounds, p->seconds, p->seed);
    if (p->path != NULL) (void)remove(p->path);
}

static void rounds(volatile uint32_t *at) {
    uint32_t minutes = number("PHI_MONKEY_MINUTES", 0), i;
    progress p;
    memset(&p, 0, sizeof p);
    p.path = getenv("PHI_MONKEY_STATE");
    p.seed = number("PHI_MONKEY_FROM", minutes != 0 ? (uint32_t)time(NULL) : 1);
    for (i = 0; i < PHI__COUNT(found); i++) must_hold(found[i], at);
    if (minutes == 0) {
        for (i = 0; i < number("PHI_SEEDS", ROUNDS); i++) must_hold((uint32_t)p.seed + i, at);
    } else {
        progress_read(&p);
        rounds_for(minutes, &p, at);
    }
    fflush(stdout);
    _exit(0);
}

TEST(whatever_a_monkey_does_the_promises_hold) {
    volatile uint32_t *seed;
    int status = 0;
    pid_t child;
    if (getenv("PHI_SEED") != NULL) {
        CHECK(round_of(number("PHI_SEED", 1)));
        return;
    }
    seed = (volatile uint32_t *)mmap(NULL, sizeof *seed, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(seed != MAP_FAILED);
    fflush(stdout);
    child = fork();
    if (child == 0) rounds(seed);
    while (child > 0 && waitpid(child, &status, 0) < 0) {}
    if (!CHECK(child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0))
        printf("  PHI_SEED=%u build/asan/tests/soak/test_monkey runs that round again\n",
               (unsigned)*seed);
    (void)munmap((void *)(uintptr_t)seed, sizeof *seed);
}

TEST_MAIN(TEST_ENTRY(whatever_a_monkey_does_the_promises_hold))
