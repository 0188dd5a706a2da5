/* test_random.c - random runs of several agents: answers of every kind, tools and hooks of every temper,
   words in between, limits that pause, budgets of families, aborts, frees, resets, new models, broken
   streams, hosts that do not listen, and memory that fails. Each seed is one story; whatever happens in
   it, the promises of DESIGN part 1.5 hold. */
#include "loop/loop_in.h"
#include "loop/random_world.h"
#include "record/event_json.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "loop/run.h"

enum { STEPS = 150, SEEDS = 400, ANSWERS = 600, PATIENCE = 4000, AT_ONCE = 6 };

/* ---- what must be true ---- */

/* Messages [i, n): every call has one result, in call order. */
static bool log_is_whole(phi_agent agent, size_t i, size_t n) {
    size_t k;
    while (i < n) {
        const phi_message *m = phi_thread_message_at(phi_agent_thread(agent), i++);
        if (m == NULL || m->role == PHI_ROLE_TOOL_RESULT) return false; /* without its call */
        if (m->role != PHI_ROLE_ASSISTANT || m->stop_reason == PHI_STOP_REASON_ERROR ||
            m->stop_reason == PHI_STOP_REASON_ABORTED)
            continue;
        for (k = 0; k < m->content_count; k++) {
            const phi_message *result;
            if (m->content[k].kind != PHI_CONTENT_TOOL_CALL) continue;
            result = i < n ? phi_thread_message_at(phi_agent_thread(agent), i++) : NULL;
            if (result == NULL || result->role != PHI_ROLE_TOOL_RESULT ||
                !phi_str_equal(result->tool_call_id, m->content[k].id))
                return false;
        }
    }
    return true;
}

static void delta_fits(world *w, const seat *s, const phi_event *e) {
    HOLDS(w, s->answering == 1);
    HOLDS(w, e->text.len > 0);
    HOLDS(w, e->message != NULL);
    if (e->message == NULL || e->message->content_count == 0) return; /* lost for want of memory */
    HOLDS(w, e->partial.len >= e->text.len);
    if (w->failed) return;
    HOLDS(w, memcmp(e->partial.at + e->partial.len - e->text.len, e->text.at, e->text.len) == 0);
}

/* Outside of a run: its beginning, what was dropped, questions before and after it, and the end of one
   that a hook has refused, or that was aborted while one made up its mind. */
static bool fits_outside(const phi_event *e) {
    switch (e->kind) {
    case PHI_EV_AGENT_START:
    case PHI_EV_FORGOTTEN:
    case PHI_EV_INPUT_DROPPED: return true;
    case PHI_EV_DECISION:
        return e->point == PHI_HOOK_BEFORE_LOOP || e->point == PHI_HOOK_AFTER_LOOP;
    case PHI_EV_AGENT_END: return e->status == PHI_DENIED || e->status == PHI_CANCELLED;
    default: return false;
    }
}

static void heard_end(world *w, seat *s, const phi_event *e) {
    HOLDS(w, !s->in_turn);
    s->in_run = false;
    s->ended++;
    s->last = e->status;
    HOLDS(w, s->ended <= s->asked);
    if (e->status != PHI_NO_MEMORY) {
        HOLDS(w, s->answering == 0 && s->tools == 0);
        HOLDS(w, log_is_whole(e->agent, e->first_message, e->first_message + e->message_count));
    }
    s->answering = s->tools = 0;
}

static void heard_in_run(world *w, seat *s, const phi_event *e) {
    switch (e->kind) {
    case PHI_EV_TURN_START:
        HOLDS(w, !s->in_turn);
        s->in_turn = true;
        break;
    case PHI_EV_TURN_END:
        HOLDS(w, s->in_turn);
        s->in_turn = false;
        break;
    case PHI_EV_MESSAGE_START: HOLDS(w, s->answering++ == 0); break;
    case PHI_EV_MESSAGE_END:
    case PHI_EV_RETRACT: HOLDS(w, s->answering-- == 1); break;
    case PHI_EV_TEXT:
    case PHI_EV_THINKING:
    case PHI_EV_TOOL_ARGUMENTS: delta_fits(w, s, e); break;
    case PHI_EV_TOOL_START:
        s->tools++;
        HOLDS(w, s->in_turn && e->tool_call_id.len > 0);
        break;
    case PHI_EV_TOOL_END:
        HOLDS(w, s->tools-- > 0);
        HOLDS(w, e->call.rt != NULL && e->message != NULL);
        break;
    default: break;
    }
}

/* Every string of an event is there to be read, and its JSON is what was written of it. */
static void retold(world *w, const phi_event *e) {
    phi_memory memory;
    phi_arena arena;
    phi_event back;
    phi_str json;
    phi_parse_error error;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (phi_event_to_json(e, &arena, &json) == PHI_OK) {
        HOLDS(w, phi_event_from_json(json, &arena, &back, &error) == PHI_OK);
        HOLDS(w, back.kind == e->kind);
    } else
        HOLDS(w, test_alloc_tripped());
    phi_arena_free(&arena);
}

/* The number of a word that was said in between; WORDS: it is none. */
static uint32_t word_number(const world *w, phi_str text) {
    uint32_t n = text.len > 1 && text.at[0] == '#' ? 0 : WORDS;
    size_t i;
    for (i = 1; n < WORDS && i < text.len && text.at[i] >= '0' && text.at[i] <= '9'; i++)
        n = n * 10 + (uint32_t)(text.at[i] - '0');
    return n < w->word_count ? n : (uint32_t)WORDS;
}

/* What was said in between comes once, or is told as dropped once. */
static void heard_word(world *w, seat *s, const phi_event *e) {
    phi_str text = e->text;
    uint32_t n;
    if (e->kind == PHI_EV_INPUT_REJECTED) s->rejected++;
    if (e->kind == PHI_EV_INPUT_DROPPED) s->rejected += (uint32_t)e->message_count;
    if (e->kind != PHI_EV_INPUT_DROPPED &&
        (e->kind != PHI_EV_MESSAGE_START || e->message->role != PHI_ROLE_USER))
        return;
    if (e->kind == PHI_EV_MESSAGE_START && e->message->content_count > 0)
        text = e->message->content[0].text;
    n = word_number(w, text);
    if (n == WORDS) return;
    HOLDS(w, w->words[n].state == WORD_SAID);
    w->words[n].state = e->kind == PHI_EV_INPUT_DROPPED ? WORD_DROPPED : WORD_HEARD;
}

/* What was said to an agent and not heard of is still in a queue, or a filter has refused it. */
static void nothing_is_lost(world *w, const seat *s) {
    size_t open = 0;
    uint32_t i;
    if (w->starving || s->forgot) return;
    for (i = 0; i < w->word_count; i++)
        open += w->words[i].state == WORD_SAID && w->words[i].agent.index == s->agent.index &&
                w->words[i].agent.gen == s->agent.gen;
    HOLDS(w, open <= phi_agent_get_info(s->agent).queued + s->rejected);
}

static void heard(world *w, const phi_event *e) {
    size_t at = seat_of(w, e->agent);
    seat *s = at < SEATS ? &w->seats[at] : NULL;
    HOLDS(w, e->seq > w->seq);
    w->seq = e->seq;
    HOLDS(w, s != NULL && phi_agent_alive(e->agent));
    if (s == NULL) return;
    if (w->seq % 4 == 0) retold(w, e);
    heard_word(w, s, e);
    if (e->kind == PHI_EV_AGENT_START) {
        HOLDS(w, !s->in_run);
        s->in_run = true;
        return;
    }
    HOLDS(w, s->in_run || fits_outside(e));
    if (e->kind == PHI_EV_AGENT_END)
        heard_end(w, s, e);
    else
        heard_in_run(w, s, e);
}

static void listen(world *w) {
    phi_event event;
    while (phi_next_event(rig_runtime(w->r), &event)) heard(w, &event);
}

/* What is left of a budget is never less than nothing, as long as answers are as long as was said. */
static void nobody_overspends(world *w) {
    size_t i;
    for (i = 0; i < SEATS; i++) {
        const phi_budget *budget = &w->seats[i].budget;
        phi_spending seen = phi_agent_get_info(w->seats[i].agent).spending;
        HOLDS(w, budget->max_tokens == 0 || seen.tokens <= budget->max_tokens);
        HOLDS(w, budget->max_requests == 0 || seen.requests <= budget->max_requests);
        HOLDS(w, budget->max_cost <= 0 || seen.cost <= budget->max_cost + 1e-9);
    }
}

static void list_is_true(world *w) {
    phi_pending_item items[64];
    size_t n = phi_pending(rig_runtime(w->r), items, 64), i, k;
    for (i = 0; i < n && i < 64; i++) {
        const phi_pending_item *item = &items[i];
        HOLDS(w, phi_agent_get_info(item->agent).running);
        for (k = 0; k < i; k++)
            HOLDS(w, item->kind != PHI_WAITING_DECISION || items[k].kind != PHI_WAITING_DECISION ||
                         items[k].ticket.index != item->ticket.index);
        if (item->kind == PHI_WAITING_CALL)
            HOLDS(w, phi_call_get_info(item->call).tool_name.len > 0);
    }
}

/* Nothing is left when nothing runs. */
static void all_is_quiet(world *w) {
    const phi_runtime *rt = rig_runtime(w->r);
    size_t i;
    HOLDS(w, phi_pending(rig_runtime(w->r), NULL, 0) == 0);
    HOLDS(w, rt->tickets.in_use == 0);
    HOLDS(w, rt->calls.in_use == 0);
    HOLDS(w, rt->transfers.in_use == 0);
    HOLDS(w, rt->polls.count == 0 && rt->ready.first == NULL);
    HOLDS(w, phi_next_timeout(rt) == -1);
    HOLDS(w, rig_open_transfers(w->r) == 0);
    for (i = 0; i < SEATS; i++) {
        const seat *s = &w->seats[i];
        phi_spending seen = phi_agent_get_info(s->agent).spending;
        HOLDS(w, seen.reserved_tokens == 0 && seen.reserved_cost == 0.0);
        if (!phi_agent_alive(s->agent)) continue;
        HOLDS(w, !s->in_run && !s->in_turn && s->asked == s->ended);
        HOLDS(w, !phi_agent_get_info(s->agent).running);
        HOLDS(w, phi_response_get(s->response).done);
        HOLDS(w, phi_inject(s->agent, "too late", NULL) == PHI_MISUSE);
        nothing_is_lost(w, s);
    }
}

/* ---- one story ---- */

static void raise_budget(world *w, seat *s) {
    phi_raise by;
    memset(&by, 0, sizeof by);
    by.turns = pick(w, 3);
    by.tokens = pick(w, 300);
    by.duration_ms = pick(w, 30);
    by.cost = 0.01 * pick(w, 30);
    by.requests = pick(w, 3);
    if (phi_budget_raise(s->agent, &by) != PHI_OK) return;
    if (s->budget.max_tokens != 0) s->budget.max_tokens += by.tokens;
    if (s->budget.max_requests != 0) s->budget.max_requests += by.requests;
    if (s->budget.max_cost > 0) s->budget.max_cost += by.cost;
}

/* Memory that fails, hosts that do not listen, time that passes. */
static void trouble(world *w) {
    switch (pick(w, 7)) {
    case 0:
        if (w->starving) test_alloc_fail_at((int)pick(w, 60));
        break;
    case 1:
        if (w->starving && pick(w, 4) == 0) test_alloc_fail_from((int)pick(w, 30));
        break;
    case 2:
    case 3: test_alloc_fail_at(-1); break;
    case 4: w->deaf = pick(w, 3) == 0; break;
    case 5: rig_chunk(w->r, pick(w, 300)); break;
    default: rig_pass_ms(w->r, pick(w, 80)); break;
    }
}

static void act(world *w) {
    seat *s = &w->seats[pick(w, SEATS)];
    phi_response_info info;
    switch (pick(w, 24)) {
    case 0:
        if (pick(w, 2) == 0) end(w, s->agent);
        break;
    case 1:
        if (pick(w, 4) == 0) put_away(s);
        break;
    case 2:
    case 3: change(w, s); break;
    case 4:
    case 5:
    case 6:
    case 7: trouble(w); break;
    case 8:
    case 9: finish_some(w); break;
    case 10:
    case 11: talk(w, s->agent); break;
    case 12:
    case 13: decide(w); break;
    case 14: raise_budget(w, s); break;
    case 15: lend(w); break;
    case 16:
        if (response_get(s->response, &info) == PHI_OK)
            HOLDS(w, (info.state == PHI_RESPONSE_RUNNING) == !phi_response_get(s->response).done);
        if (pick(w, 3) == 0) phi_response_free(s->response);
        break;
    case 17: list_is_true(w); break;
    default: ask(w, s); break;
    }
}

static void reseat(world *w) {
    size_t i;
    for (i = 0; i < AGENTS; i++)
        if (!phi_agent_alive(w->seats[i].agent)) {
            test_alloc_fail_at(-1);
            sit(w, &w->seats[i]);
        }
}

static int step(world *w) {
    int runs;
    w->stepping = true;
    runs = rig_run(w->r, 1);
    w->stepping = false;
    return runs;
}

static void settle(world *w) {
    int i, most = AT_ONCE;
    test_alloc_fail_at(-1);
    rig_chunk(w->r, 0);
    w->calm = true;
    for (i = 0; i < SEATS; i++) (void)phi_abort(w->seats[i].agent);
    while (step(w) > 0 && most-- > 0) listen(w);
    HOLDS(w, most > 0);
    for (i = 0; i < 3; i++) { /* what was said at the very end is told as dropped */
        listen(w);
        (void)step(w);
    }
    all_is_quiet(w);
}

/* No word stands twice in a history. */
static void nothing_is_double(world *w, phi_agent agent) {
    static bool seen[WORDS];
    size_t i;
    memset(seen, 0, sizeof seen);
    for (i = 0; i < phi_thread_message_count(phi_agent_thread(agent)); i++) {
        const phi_message *m = phi_thread_message_at(phi_agent_thread(agent), i);
        uint32_t n = m->content_count > 0 ? word_number(w, m->content[0].text) : (uint32_t)WORDS;
        if (n == WORDS) continue;
        HOLDS(w, !seen[n]);
        seen[n] = true;
    }
}

/* Whatever it went through, it takes a prompt (a new history where a limit has filled the old one), and
   then its log is whole. */
static void goes_on(world *w, seat *s) {
    phi_raise by;
    phi_status status;
    int most = PATIENCE, tries;
    memset(&by, 0, sizeof by);
    by.tokens = by.requests = 1000000;
    by.cost = 1000000;
    for (tries = 0; tries < 2; tries++) {
        size_t i;
        for (i = 0; i < SEATS; i++) (void)phi_budget_raise(w->seats[i].agent, &by);
        (void)phi_queue_clear(s->agent, PHI_INPUT_NONE);
        s->forgot = true;
        rig_drop_answers(w->r);
        rig_says(w->r, "here");
        status = phi_prompt(s->agent, "are you there?");
        s->asked += status == PHI_OK ? 1 : 0;
        while (status == PHI_OK && step(w) > 0 && most-- > 0) listen(w);
        listen(w);
        if (status == PHI_OK) status = s->last;
        if (status != PHI_NO_MEMORY) break;
        HOLDS(w, s->limited);
        HOLDS(w, phi_agent_reset(s->agent) == PHI_OK);
        renewed(s, PHI_OK);
    }
    HOLDS(w, status == PHI_OK || (s->limited && status == PHI_NO_MEMORY));
    if (status == PHI_OK)
        HOLDS(w, phi_str_equal(
                     phi_thread_message_at(phi_agent_thread(s->agent),
                                           phi_thread_message_count(phi_agent_thread(s->agent)) - 1)
                         ->content[0]
                         .text,
                     PHI__LIT("here")));
    HOLDS(w, log_is_whole(s->agent, 0, phi_thread_message_count(phi_agent_thread(s->agent))));
    nothing_is_double(w, s->agent);
}

static void all_go_on(world *w) {
    phi_content content = text_block("and you?");
    phi_message prompt = user_message(&content);
    phi_agent_desc desc = rig_desc();
    phi_run_desc run;
    phi_event event;
    size_t i;
    for (i = 0; i < AGENTS; i++)
        if (phi_agent_alive(w->seats[i].agent)) goes_on(w, &w->seats[i]);
    if (w->thread == NULL) return;
    memset(&run, 0, sizeof run);
    run.agent = &desc;
    run.thread = w->thread;
    run.prompts = &prompt;
    run.prompt_count = 1;
    rig_drop_answers(w->r);
    rig_says(w->r, "here, too");
    if (phi_run(rig_runtime(w->r), &run).rt == NULL) return; /* the thread has a limit */
    (void)rig_run(w->r, 20);
    while (phi_next_event(rig_runtime(w->r), &event))
        if (event.kind == PHI_EV_AGENT_END && event.status != PHI_NO_MEMORY) {
            HOLDS(w, event.status == PHI_OK);
            HOLDS(w, log_is_whole(event.agent, 0,
                                  phi_thread_message_count(phi_agent_thread(event.agent))));
        }
}

static bool story(uint32_t seed) {
    static world w;
    int i;
    memset(&w, 0, sizeof w);
    w.state = seed;
    w.starving = pick(&w, 3) == 0;
    w.r = rig_new();
    if (!CHECK(w.r != NULL)) return false;
    rig_silent(w.r, true);
    for (i = 0; i < AGENTS; i++) sit(&w, &w.seats[i]);
    for (i = 0; i < ANSWERS; i++) answer(&w);
    for (i = 0; i < STEPS; i++) {
        uint32_t n = 1 + pick(&w, 4);
        while (n-- > 0) act(&w);
        (void)step(&w);
        if (!w.deaf) listen(&w);
        nobody_overspends(&w);
        reseat(&w);
    }
    if (pick(&w, 8) != 0) { /* else all is freed in mid-sentence */
        settle(&w);
        all_go_on(&w);
        settle(&w);
    }
    test_alloc_fail_at(-1);
    rig_free(w.r);
    HOLDS(&w, test_alloc_live_bytes() == 0);
    return !w.failed;
}

TEST(random_stories_keep_every_promise) {
    const char *chosen = getenv("PHI_SEED"); /* one story of a failure, alone */
    const char *more = getenv("PHI_SEEDS");  /* so many, for make soak */
    uint32_t seed, most = more != NULL ? (uint32_t)strtoul(more, NULL, 10) : (uint32_t)SEEDS;
    if (chosen != NULL) {
        (void)story((uint32_t)strtoul(chosen, NULL, 10));
        return;
    }
    for (seed = 1; seed <= most; seed++)
        if (!story(seed)) {
            printf("  seed %u\n", (unsigned)seed);
            return;
        }
}

TEST_MAIN(TEST_ENTRY(random_stories_keep_every_promise))
