/* random_world.h - what the random stories are made of: agents of every kind, tools and hooks of every
   temper, answers whole, broken and refused. What happens in a story, and what must be true of it, is in
   test_random.c. */
#ifndef PHI_TESTS_LOOP_RANDOM_WORLD_H
#define PHI_TESTS_LOOP_RANDOM_WORLD_H

#include "support/update.h"
#include "agent/one_shot_run.h"
#include "agent/response.h"
#include "support/rig.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "loop/run.h"
#include "support/set.h"
#include "support/freed.h"

enum {
    AGENTS = 4,
    SEATS = AGENTS + 1,
    CALLS = 64,
    TICKETS = 32,
    WORDS = 4096,
    ANSWER_TOKENS = 200
};

enum { WORD_SAID = 1, WORD_HEARD, WORD_DROPPED };

typedef struct word {
    phi_agent agent;
    int state;
} word;

/* Who sits there, and what was heard of it. The last seat is for runs over a lent thread. */
typedef struct seat {
    phi_agent agent;
    bool in_run, in_turn, limited; /* limited: its memory */
    bool forgot;                   /* it was made to forget what was said to it */
    uint32_t rejected;             /* words that a filter refused, or that were only counted */
    uint32_t asked, ended;         /* runs that were begun; ends that were heard of */
    uint32_t answering, tools;     /* MESSAGE_START, TOOL_START without their ends */
    phi_status last;               /* of the last end */
    phi_budget budget;             /* as raised */
    phi_response response;
} seat;

typedef struct world {
    rig *r;
    uint32_t state, ids;
    seat seats[SEATS];
    phi_thread *thread;
    phi_call calls[CALLS];
    phi_ticket tickets[TICKETS];
    word words[WORDS];
    char word[64];
    uint32_t call_count, ticket_count, word_count;
    uint64_t seq;
    bool deaf, failed, stepping;
    bool calm;     /* whoever is asked says yes, at once */
    bool starving; /* memory fails now and then */
} world;

static uint32_t pick(world *w, uint32_t n) { return test_random(&w->state) % n; }

#define HOLDS(w, condition)                                                                        \
    do {                                                                                           \
        if (!CHECK(condition)) (w)->failed = true;                                                 \
    } while (0)

static phi_content text_block(const char *text) {
    phi_content content;
    memset(&content, 0, sizeof content);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(text);
    return content;
}

static phi_message user_message(const phi_content *content) {
    phi_message message;
    memset(&message, 0, sizeof message);
    message.role = PHI_ROLE_USER;
    message.content = content;
    message.content_count = 1;
    return message;
}

/* In test_random.c: pops what there is, and looks at it. */
static void listen(world *w);
static void nothing_is_lost(world *w, const seat *s);
static void meddle(world *w);

/* ---- what a host says, from outside and from its callbacks ---- */

/* With a policy of its own; of a thread none is in a store. */
static phi_status ask_with(world *w, seat *s) {
    phi_prompt_desc asked;
    phi_policy policy;
    phi_content words = text_block("tell me more");
    memset(&asked, 0, sizeof asked);
    memset(&policy, 0, sizeof policy);
    policy.max_input_tokens = 30 + pick(w, 200);
    policy.no_reserve = true;
    policy.keep_last_turns = pick(w, 3);
    policy.keep_no_turns = pick(w, 4) == 0;
    if (pick(w, 2) == 0) policy.include = pick(w, 16);
    asked.content = &words;
    asked.content_count = 1;
    asked.policy = &policy;
    asked.new_thread = pick(w, 12) == 0;
    return phi_prompt_with(s->agent, &asked, &s->response);
}

static void ask(world *w, seat *s) {
    phi_status status;
    switch (pick(w, 9)) {
    case 3:
    case 4: status = ask_with(w, s); break;
    case 0: status = phi_continue(s->agent, (phi_continuation)pick(w, 5)); break;
    case 1: status = phi_send(s->agent, "and then?"); break;
    case 2: status = prompt_for(s->agent, "tell me", &s->response); break;
    default: status = phi_prompt(s->agent, "go on"); break;
    }
    if (status == PHI_OK) s->asked++;
}

static size_t seat_of(const world *w, phi_agent agent) {
    size_t i = 0;
    while (i < SEATS &&
           (w->seats[i].agent.index != agent.index || w->seats[i].agent.gen != agent.gen))
        i++;
    return i;
}

/* A word that is known again when it is heard. */
static const char *next_word(world *w) {
    (void)snprintf(w->word, sizeof w->word, "#%u is a word in between", (unsigned)w->word_count);
    return w->word;
}

static void said(world *w, phi_agent agent, phi_status status) {
    if (status != PHI_OK) return;
    if (w->word_count == WORDS) abort();
    /* Between the two of a step, the end of a run over a lent thread is nobody's to hear. */
    if (w->stepping && seat_of(w, agent) == AGENTS) w->seats[AGENTS].forgot = true;
    w->words[w->word_count].agent = agent;
    w->words[w->word_count++].state = WORD_SAID;
}

static void talk(world *w, phi_agent agent) {
    phi_agent_desc desc;
    const char *text = next_word(w);
    phi_content content = text_block(text);
    size_t at = seat_of(w, agent);
    switch (pick(w, 10)) {
    case 0:
    case 1:
    case 2: said(w, agent, phi_steer(agent, text)); break;
    case 3: said(w, agent, phi_follow_up(agent, text)); break;
    case 4:
    case 5: said(w, agent, phi_inject(agent, text, "radio")); break;
    case 6:
        said(w, agent, enqueue_blocks(agent, (phi_input)pick(w, 5), &content, 1, "inside"));
        break;
    case 7:
        if (pick(w, 4) != 0) break;
        if (phi_queue_clear(agent, (phi_input)(pick(w, 4) + 1)) == PHI_OK && at < SEATS)
            w->seats[at].forgot = true;
        break;
    default:
        if (phi_agent_get_desc(agent, &desc) != PHI_OK) break;
        desc.input.steering_mode = (phi_queue_mode)pick(w, 2);
        desc.input.follow_up_mode = (phi_queue_mode)pick(w, 2);
        (void)phi_agent_set(agent, &desc, PHI_SET_QUEUES);
        break;
    }
}

static void decide(world *w) {
    static const char *const replies[] = {NULL, "because", "{\"decided\":true}"};
    phi_ticket ticket;
    if (w->ticket_count == 0) return;
    ticket = w->tickets[pick(w, w->ticket_count < TICKETS ? w->ticket_count : TICKETS)];
    if (phi_decide(ticket, (phi_verdict)pick(w, 4), replies[pick(w, 3)]) == PHI_OK)
        HOLDS(w, phi_decide(ticket, PHI_ALLOW, NULL) == PHI_STALE); /* nobody decides twice */
}

static void end(world *w, phi_agent agent) {
    if (pick(w, 2) == 0)
        (void)phi_abort(agent);
    else
        (void)phi_stop(agent);
}

/* Its events go with it. */
static void put_away(seat *s) {
    if (!phi_agent_alive(s->agent)) return;
    phi_agent_free(s->agent);
    s->ended = s->asked;
    s->forgot = true;
}

static void leave(world *w) { put_away(&w->seats[pick(w, SEATS)]); }

/* ---- hooks and filters ---- */

static void keep(world *w, phi_call call) { w->calls[w->call_count++ % CALLS] = call; }

static void change_list(phi_hook *hook) {
    static phi_content words;
    static phi_message own;
    static const phi_message *list[512];
    size_t i;
    if (hook->messages == NULL || hook->message_count == 0 || hook->message_count > 500) return;
    words = text_block("what the host knows");
    own = user_message(&words);
    list[0] = &own;
    for (i = 0; i < hook->message_count; i++) list[i + 1] = hook->messages[i];
    hook->messages = list;
    hook->message_count++;
}

static phi_verdict any_hook(void *user_data, phi_hook *hook) {
    world *w = (world *)user_data;
    HOLDS(w, phi_agent_alive(hook->agent));
    if (w->calm) return PHI_ALLOW;
    if (hook->call.rt != NULL && pick(w, 8) == 0) keep(w, hook->call); /* to be finished early */
    switch (pick(w, 24)) {
    case 0:
    case 1:
    case 2:
        hook->timeout_ms = 1 + pick(w, 60);
        w->tickets[w->ticket_count++ % TICKETS] = hook->ticket;
        return PHI_WAIT;
    case 3: hook->reply = PHI__LIT("no"); return PHI_DENY;
    case 4: hook->reply = PHI__LIT("mind the step"); return PHI_WARN;
    case 5:
        (void)phi_decide(hook->ticket, (phi_verdict)pick(w, 2), "{\"decided\":true}");
        return pick(w, 2) == 0 ? PHI_WAIT : PHI_ALLOW;
    case 6:
    case 7: talk(w, hook->agent); break;
    case 8: hook->reply = PHI__LIT("{\"changed\":1}"); break;
    case 9: end(w, hook->agent); break;
    case 10:
        if (pick(w, 6) == 0) leave(w);
        break;
    case 11: ask(w, &w->seats[pick(w, SEATS)]); break;
    case 12: decide(w); break;
    case 13: change_list(hook); break;
    case 14: meddle(w); break;
    default: break;
    }
    return PHI_ALLOW;
}

/* ---- tools ---- */

static phi_status give(world *w, phi_call call) {
    phi_content content = text_block("a result \xff of some length");
    phi_tool_result result;
    memset(&result, 0, sizeof result);
    result.content = &content;
    result.content_count = 1;
    result.is_error = pick(w, 4) == 0;
    return phi_call_result(call, &result);
}

static phi_flow any_start(void *user_data, phi_call call, phi_str arguments) {
    world *w = (world *)user_data;
    HOLDS(w, arguments.len > 0 && arguments.at[0] == '{');
    if (w->calm) return PHI_DONE;
    switch (pick(w, 11)) {
    case 0: (void)give(w, call); return PHI_DONE;
    case 1: return PHI_DONE;
    case 2: (void)phi_call_reply(call, "posted"); return PHI_DONE;
    case 3: (void)call_update(call, "part"); break;
    case 4:
        if (pick(w, 6) == 0) leave(w);
        break;
    case 5: (void)phi_call_state(call, pick(w, 200)); break;
    case 6: talk(w, phi_call_get_info(call).agent); break;
    case 7:
        if (pick(w, 4) == 0) end(w, phi_call_get_info(call).agent);
        break;
    case 8: ask(w, &w->seats[pick(w, SEATS)]); break;
    case 9:
        if (pick(w, 2) == 0) meddle(w);
        break;
    default: break;
    }
    keep(w, call);
    return PHI_PENDING;
}

static phi_flow any_step(void *user_data, phi_call call) {
    world *w = (world *)user_data;
    HOLDS(w, phi_call_get_info(call).agent.rt != NULL);
    switch (pick(w, 12)) {
    case 0: (void)give(w, call); return PHI_DONE;
    case 1: return PHI_DONE;
    case 2: (void)phi_call_reply(call, "walked"); return PHI_DONE;
    case 3: (void)phi_call_progress(call, "on the way"); break;
    case 4: talk(w, phi_call_get_info(call).agent); break;
    default: break;
    }
    return PHI_PENDING;
}

static void any_cancel(void *user_data, phi_call call) {
    world *w = (world *)user_data;
    HOLDS(w, !phi_call_get_info(call).pending);
    HOLDS(w, give(w, call) == PHI_STALE);
    if (pick(w, 20) == 0) leave(w);
}

static void make_tools(world *w, phi_tool tools[3]) {
    static const char *const names[] = {"slow", "alone", "polled"};
    size_t i;
    memset(tools, 0, 3 * sizeof *tools);
    for (i = 0; i < 3; i++) {
        tools[i].name = names[i];
        tools[i].start = any_start;
        tools[i].cancel = any_cancel;
        tools[i].user_data = w;
        tools[i].timeout_ms = 1 + pick(w, 60);
        tools[i].retries = pick(w, 3);
        tools[i].retry_delay_ms = pick(w, 20);
        tools[i].heartbeat_ms = pick(w, 30);
        tools[i].needs_approval = pick(w, 8) == 0;
        tools[i].may_repeat = pick(w, 2) == 0;
    }
    tools[1].not_concurrent = true;
    tools[2].step = any_step;
}

/* ---- agents ---- */

static void limit(world *w, phi_agent_desc *desc) {
    desc->limits.max_turns = 1 + pick(w, 8);
    desc->limits.pause = pick(w, 3) == 0;
    if (pick(w, 6) == 0) desc->limits.max_tokens = 10 + pick(w, 60);
    if (pick(w, 6) == 0) desc->limits.max_duration_ms = 1 + pick(w, 100);
    if (pick(w, 4) == 0) desc->budget.max_tokens = ANSWER_TOKENS + pick(w, 1000);
    if (pick(w, 6) == 0) desc->budget.max_requests = 1 + pick(w, 6);
    if (pick(w, 6) == 0) desc->budget.max_cost = 0.2 + 0.1 * pick(w, 8);
    desc->deadlines.decision_ms = 1 + pick(w, 80);
    desc->tool_options.repeat_warn_after = 1 + pick(w, 4);
    desc->tool_options.repeat_stop_after = 2 + pick(w, 6);
    desc->deadlines.first_event_ms = desc->deadlines.idle_ms = 1 + pick(w, 60);
    desc->retry.disable = pick(w, 2) == 0;
    desc->retry.initial_delay_ms = 1 + pick(w, 20);
    desc->retry.max_retries = 1 + pick(w, 3);
}

/* tools and filters must live until the desc has been taken. */
static phi_agent_desc any_desc(world *w, phi_tool tools[3], phi_filter filters[2]) {
    phi_agent_desc desc = rig_desc();
    seat *parent = &w->seats[pick(w, AGENTS)];
    size_t i;
    make_tools(w, tools);
    desc.tools = tools;
    desc.tool_count = 3;
    desc.tool_options.mode = (phi_tool_mode)pick(w, 3);
    desc.tool_options.batch = 1 + pick(w, 3);
    desc.max_tokens = ANSWER_TOKENS;
    desc.model.cost.input = desc.model.cost.output = 1000;
    desc.user_data = w;
    limit(w, &desc);
    if (pick(w, 3) != 0) {
        desc.hook_fn = any_hook;
        desc.hook_points = 1 | (test_random(&w->state) & test_random(&w->state) & 0xffff);
    }
    for (i = 0; i < 3 && (desc.hook_points & PHI_HOOK_BEFORE_TOOL) == 0; i++)
        tools[i].needs_approval = false; /* nothing could approve: refused */
    for (i = 0; i < 2; i++) {
        filters[i].fn = any_hook;
        filters[i].user_data = w;
    }
    desc.input.filters = filters;
    if (pick(w, 4) == 0) desc.input.filter_count = 1 + pick(w, 2);
    desc.input.steering_mode = (phi_queue_mode)pick(w, 2);
    desc.input.follow_up_mode = (phi_queue_mode)pick(w, 2);
    desc.input.queue_limit = 1 + pick(w, 4);
    if (pick(w, 3) == 0 && phi_agent_alive(parent->agent)) desc.parent = parent->agent;
    if (pick(w, 4) == 0) desc.ids.session_id = desc.ids.agent_id = NULL;
    if (pick(w, 3) == 0) desc.memory.event_queue_bytes = 400 + pick(w, 4000);
    if (w->starving && pick(w, 4) == 0) desc.memory.limit_bytes = 8000 + pick(w, 20000);
    return desc;
}

static void sit(world *w, seat *s) {
    phi_tool tools[3];
    phi_filter filters[2];
    phi_agent_desc desc = any_desc(w, tools, filters);
    memset(s, 0, sizeof *s);
    s->limited = desc.memory.limit_bytes != 0;
    s->budget = desc.budget;
    s->agent = rig_agent(w->r, &desc);
    HOLDS(w, s->agent.rt != NULL || s->limited || test_alloc_tripped());
}

/* A run over the thread that the host keeps itself. */
static void lend(world *w) {
    seat *s = &w->seats[AGENTS];
    phi_content content = text_block("over to you");
    phi_message prompt = user_message(&content);
    phi_tool tools[3];
    phi_filter filters[2];
    phi_agent_desc desc;
    phi_run_desc run;
    if (phi_agent_alive(s->agent)) return;
    HOLDS(w, s->asked == s->ended);
    nothing_is_lost(w, s);
    desc = any_desc(w, tools, filters);
    memset(&run, 0, sizeof run);
    if (w->thread == NULL) w->thread = phi_thread_new(rig_runtime(w->r), w->starving ? 9000 : 0);
    if (w->thread == NULL) return;
    run.agent = &desc;
    run.thread = w->thread;
    if (pick(w, 4) != 0) {
        run.prompts = &prompt;
        run.prompt_count = 1;
    }
    memset(s, 0, sizeof *s);
    s->limited = true;
    s->budget = desc.budget;
    s->agent = phi_run(rig_runtime(w->r), &run);
    if (s->agent.rt != NULL) s->asked = 1;
}

/* ---- what a host does, from outside and from its callbacks ---- */

/* A history that was made anew took its events with it. */
static void renewed(seat *s, phi_status status) {
    if (status != PHI_OK) return;
    s->ended = s->asked;
    s->forgot = true;
    s->in_run = s->in_turn = false;
    s->answering = s->tools = 0;
}

static void save_and_restore(seat *s) {
    phi_memory memory;
    phi_arena arena;
    phi_str json;
    phi_parse_error error;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (phi_agent_messages_to_json(s->agent, &arena, &json) == PHI_OK)
        renewed(s, phi_agent_messages_from_json(s->agent, json, &error));
    phi_arena_free(&arena);
}

static void change(world *w, seat *s) {
    phi_model model = phi_model_anthropic("another", "key");
    phi_content content = text_block("once upon a time");
    phi_message message = user_message(&content);
    phi_tool tools[3];
    bool rotated;
    switch (pick(w, 10)) {
    case 0: renewed(s, phi_agent_reset(s->agent)); break;
    case 1: (void)set_model(s->agent, &model); break;
    case 2:
        make_tools(w, tools);
        (void)set_tools(s->agent, tools, pick(w, 4));
        break;
    case 3: (void)set_system_prompt(s->agent, pick(w, 2) == 0 ? NULL : "Be."); break;
    case 4: (void)set_repeat_limits(s->agent, pick(w, 4), pick(w, 4)); break;
    case 5: renewed(s, phi_agent_new_session(s->agent, pick(w, 2) == 0)); break;
    case 6:
        if (phi_agent_rotate(s->agent, pick(w, 100), &rotated) == PHI_OK && rotated)
            renewed(s, PHI_OK);
        break;
    case 7: (void)phi_thread_append(phi_agent_thread(s->agent), &message, 1, NULL); break;
    case 8: save_and_restore(s); break;
    default:
        if (thread_freed(w->thread) == PHI_OK) {
            w->thread = NULL;
            renewed(&w->seats[AGENTS], PHI_OK);
        }
        break;
    }
}

static void finish_some(world *w) {
    phi_call call;
    if (w->call_count == 0) return;
    call = w->calls[pick(w, w->call_count < CALLS ? w->call_count : CALLS)];
    switch (pick(w, 4)) {
    case 0: (void)give(w, call); break;
    case 1: (void)call_update(call, "so far"); break;
    default:
        (void)(pick(w, 2) == 0 ? phi_call_fail(call, "from outside")
                               : phi_call_reply(call, "from outside"));
        break;
    }
}

static void meddle(world *w) {
    seat *s = &w->seats[pick(w, SEATS)];
    switch (pick(w, 5)) {
    case 0: change(w, s); break;
    case 1: lend(w); break;
    case 2: listen(w); break;
    case 3: finish_some(w); break;
    default:
        if (s != &w->seats[AGENTS] && !phi_agent_alive(s->agent)) sit(w, s);
        break;
    }
}

/* ---- answers ---- */

static void cut_answer(world *w, const char *body) {
    size_t n = strlen(body), at = pick(w, (uint32_t)n);
    char *half = (char *)malloc(n + 1);
    if (half == NULL) abort();
    memcpy(half, body, at);
    half[at] = '\0';
    switch (pick(w, 3)) {
    case 0: rig_breaks(w->r, half, PHI_NETWORK, "the line is dead"); break;
    case 1: rig_hangs(w->r, half); break;
    default: rig_replies(w->r, 200, "Content-Type: text/event-stream\r\n", half); break;
    }
    free(half);
}

static void answer_calls(world *w) {
    static const char *const lines[] = {"slow {}",          "alone {}",        "polled {}",
                                        "nobody {}",        "slow {oops",      "polled [1]",
                                        "polled {\"a\":1}", "slow {\"b\":[2]}"};
    char text[6][64];
    const char *calls[6];
    uint32_t n = 1 + pick(w, 5), i;
    for (i = 0; i < n; i++) {
        (void)snprintf(text[i], sizeof text[i], "c%u %s", (unsigned)w->ids++, lines[pick(w, 8)]);
        calls[i] = text[i];
    }
    rig_calls(w->r, calls, n);
}

static const char pausing[] =
    "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\n\n"
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"pause_turn\"}}\n\n"
    "data: {\"type\":\"message_stop\"}\n\n";
static const char overloaded[] =
    "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\n\n"
    "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Busy\"}}\n\n";
static const char calling[] =
    "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\n\n"
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\","
    "\"id\":\"cut\",\"name\":\"slow\",\"input\":{}}}\n\n"
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\","
    "\"partial_json\":\"{}\"}}\n\n"
    "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"}}\n\n"
    "data: {\"type\":\"message_stop\"}\n\n";

static void refuse(world *w) {
    switch (pick(w, 6)) {
    case 0: rig_replies(w->r, 529, "Retry-After: 3\r\n", "{\"type\":\"error\"}"); break;
    case 1: rig_replies(w->r, 429, "retry-after-ms: 7\r\n", "{\"type\":\"error\"}"); break;
    case 2: rig_replies(w->r, 500, "", "oh dear"); break;
    case 3: rig_replies(w->r, 401, "", "{\"error\":{\"message\":\"who are you?\"}}"); break;
    case 4: rig_refuses(w->r, PHI_NETWORK); break;
    default:
        rig_replies(w->r, 400, "Content-Type: application/json\r\n",
                    "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
                    "\"message\":\"prompt is too long: 200001 tokens > 200000 maximum\"}}");
        break;
    }
}

static void answer(world *w) {
    static const char stream[] = "Content-Type: text/event-stream\r\n";
    switch (pick(w, 14)) {
    case 0:
    case 1: rig_says(w->r, "some words, \xc3\xa9 and more of them"); break;
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
    case 7: answer_calls(w); break;
    case 8: cut_answer(w, rig_stream_of("an answer that is cut somewhere")); break;
    case 9: cut_answer(w, calling); break;
    case 10: rig_replies(w->r, 200, stream, pausing); break;
    case 11: rig_replies(w->r, 200, stream, overloaded); break;
    default: refuse(w); break;
    }
}

#endif
