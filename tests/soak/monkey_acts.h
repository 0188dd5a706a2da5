/* monkey_acts.h - all that the monkey does; each with whatever is at hand, good or bad. */
#ifndef PHI_TESTS_SOAK_MONKEY_ACTS_H
#define PHI_TESTS_SOAK_MONKEY_ACTS_H

#include "support/update.h"
#include "support/edits.h"
#include "soak/monkey_worlds.h"
#include "record/event_json.h"
#include "loop/events.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "features/context_edits.h"
#include "log/revert.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "support/set.h"
#include "support/freed.h"
#include "support/thread_text.h"

/* ---- answers of the script ---- */

static void script_calls(monkey *m) {
    static const char *const lines[] = {"slow {}",
                                        "polled {}",
                                        "alone {}",
                                        "telling {\"a\":[1,2,{\"b\":\"c\"}],\"d\":true}",
                                        "telling {\"a\":tru",
                                        "again {\"a\":1}",
                                        "nobody {}",
                                        "helper {\"task\":\"look for the fox\"}",
                                        "scout {\"task\":\"count the grapes\"}",
                                        "helper {\"task\":\"go on\",\"continue\":\"s1\"}",
                                        "open {}",
                                        "prun {\"tokens\":40}",
                                        "prun_with_memo {\"tokens\":30,\"memo\":\"grapes\"}",
                                        "slow {\"grapes\":\"many of them and all of them sour\"}"};
    char text[5][128];
    const char *calls[5];
    uint32_t n = 1 + pick(m, 5), i;
    for (i = 0; i < n; i++) {
        unsigned id = (unsigned)(once_in(m, 10) ? pick(m, m->ids + 1) : m->ids++);
        if (once_in(m, 6))
            (void)snprintf(text[i], sizeof text[i],
                           "c%u revert_to_state {\"category\":\"failure\",\"step\":\"n%u\"}", id,
                           (unsigned)pick(m, 40));
        else
            (void)snprintf(text[i], sizeof text[i], "c%u %s", id,
                           lines[pick(m, PHI__COUNT(lines))]);
        calls[i] = text[i];
    }
    rig_calls(m->r, calls, n);
}

static void script_cut(monkey *m) {
    const char *body = rig_stream_of("an answer that is cut somewhere");
    char *half = mutate_copy(body, pick(m, (uint32_t)strlen(body)));
    switch (pick(m, 3)) {
    case 0: rig_breaks(m->r, half, PHI_NETWORK, "the line is dead"); break;
    case 1: rig_hangs(m->r, half); break;
    default: rig_replies(m->r, 200, "Content-Type: text/event-stream\r\n", half); break;
    }
    free(half);
}

static void script_thoughts(monkey *m) {
    static const char *const texts[] = {
        "{\"thoughts\":[\"a\",\"b\",\"c\"]}",
        "{\"scores\":{\"t1\":0.4,\"t2\":0.9,\"t3\":0.1}}",
        "{\"scores\":{\"t1\":1,\"t2\":1,\"t3\":1}}",
        "{\"thoughts\":[]}",
        "CONNECTION: [1] -> [2] : supports\nVOTE: [2]\nSCORE: 0.7\n1. one\n2. two",
        "{\"selected\":1,\"reason\":\"better\"}",
        "Response 2"};
    rig_says(m->r, texts[pick(m, PHI__COUNT(texts))]);
}

static void do_script(monkey *m) {
    switch (pick(m, 16)) {
    case 0: script_cut(m); break;
    case 1: rig_replies(m->r, 529, "Retry-After: 3\r\n", "{\"type\":\"error\"}"); break;
    case 2: rig_replies(m->r, 500, "", "oh dear"); break;
    case 3:
        rig_replies(m->r, 400, "Content-Type: application/json\r\n",
                    "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
                    "\"message\":\"prompt is too long: 200001 tokens > 200000 maximum\"}}");
        break;
    case 4: rig_refuses(m->r, PHI_NETWORK); break;
    case 5: rig_call(m->r, "r", "respond_json", "{\"a\":2}"); break;
    case 6:
    case 7: rig_says(m->r, "A fox saw grapes, and they hung high, and the story goes on."); break;
    case 8: rig_says(m->r, "{\"a\":1}"); break;
    case 9: script_thoughts(m); break;
    default: script_calls(m); break;
    }
}

/* ---- runs and what is said to them ---- */

static void do_prompt_with(monkey *m) {
    phi_prompt_desc asked;
    phi_policy policy;
    phi_content words[2];
    phi_response response;
    memset(&asked, 0, sizeof asked);
    memset(&policy, 0, sizeof policy);
    words[0] = any_block(m);
    words[1] = any_block(m);
    if (once_in(m, 2)) asked.text = any_text(m);
    if (once_in(m, 2)) {
        asked.content = words;
        asked.content_count = pick(m, 3);
    }
    policy.max_input_tokens = 80 + pick(m, 500);
    policy.keep_last_turns = pick(m, 3);
    policy.summaries = (phi_summaries)pick(m, 4);
    if (once_in(m, 3)) asked.policy = &policy;
    if (once_in(m, 8)) asked.thread_id = any_name(m, "t", m->names + 1);
    if (once_in(m, 8)) asked.new_thread = true;
    if (phi_prompt_with(any_agent(m), &asked, &response) == PHI_OK) keep_response(m, response);
}

static void do_run(monkey *m) {
    phi_agent a = any_agent(m);
    phi_content words[2];
    phi_response response;
    words[0] = any_block(m);
    words[1] = any_block(m);
    switch (pick(m, 9)) {
    case 0: (void)prompt_blocks(a, once_in(m, 9) ? NULL : words, pick(m, 3)); break;
    case 1: (void)phi_continue(a, (phi_continuation)pick(m, 8)); break;
    case 2: (void)phi_send(a, any_text(m)); break;
    case 3: (void)phi_compact(a); break;
    case 4:
        if (prompt_for(a, any_text(m), &response) == PHI_OK) keep_response(m, response);
        break;
    case 5: do_prompt_with(m); break;
    default: (void)phi_prompt(a, any_text(m)); break;
    }
}

static void do_talk(monkey *m) {
    phi_agent a = any_agent(m);
    phi_content words[2];
    words[0] = any_block(m);
    words[1] = any_block(m);
    switch (pick(m, 9)) {
    case 0:
    case 1: (void)phi_steer(a, any_text(m)); break;
    case 2:
    case 3: (void)phi_follow_up(a, any_text(m)); break;
    case 4: (void)phi_inject(a, any_text(m), any_text(m)); break;
    case 5:
    case 6: (void)enqueue_blocks(a, (phi_input)pick(m, 6), words, pick(m, 3), any_text(m)); break;
    case 7:
        if (once_in(m, 4)) (void)phi_queue_clear(a, (phi_input)pick(m, 6));
        break;
    default: break;
    }
}

static void do_end(monkey *m) {
    if (once_in(m, 2))
        (void)phi_abort(any_agent(m));
    else
        (void)phi_stop(any_agent(m));
}

static void do_decide(monkey *m) {
    phi_pending_item items[16];
    size_t n = phi__min(phi_pending(runtime(m), items, 16), 16);
    phi_ticket ticket = m->tickets[pick(m, KEPT)];
    if (n > 0 && !once_in(m, 3)) ticket = items[pick(m, (uint32_t)n)].ticket;
    if (phi_decide(ticket, (phi_verdict)pick(m, 5), any_text(m)) == PHI_OK)
        HOLDS(m, phi_decide(ticket, PHI_ALLOW, NULL) == PHI_STALE);
}

static void do_call(monkey *m) {
    phi_call call = any_call(m);
    char words[40];
    const char *text = any_text(m);
    switch (pick(m, 12)) {
    case 0: (void)give(m, call); break;
    case 1:
        if (once_in(m, 2))
            (void)give_by(m, call, phi_call_update);
        else
            (void)call_update(call, text);
        break;
    case 2: (void)phi_call_progress(call, text); break;
    case 3: {
        size_t n = pick(m, 300);
        char *state = (char *)phi_call_state(call, n);
        if (state != NULL && n > 0) (void)phi_call_state(call, 0);
        break;
    }
    case 4: (void)call_prune(call, pick(m, 100), any_str(m)); break;
    case 5:
        (void)call_revert(call, (phi_revert_category)pick(m, 6), pick(m, 80), any_str(m), words,
                          sizeof words);
        break;
    case 6:
        (void)phi_call_get_info(call).id;
        (void)phi_call_get_info(call).tool_name;
        (void)phi_call_get_info(call).agent;
        (void)phi_call_get_info(call).block_index;
        (void)phi_call_get_info(call).timeout_ms;
        break;
    case 7: (void)phi_call_result(call, NULL); break;
    default: (void)(once_in(m, 3) ? phi_call_fail(call, text) : phi_call_reply(call, text)); break;
    }
}

static void do_raise(monkey *m) {
    phi_raise by;
    memset(&by, 0, sizeof by);
    by.turns = pick(m, 4);
    by.tokens = pick(m, 500);
    by.requests = pick(m, 3);
    by.cost = once_in(m, 9) ? -1.0 : 0.5;
    (void)phi_budget_raise(any_agent(m), once_in(m, 20) ? NULL : &by);
}

/* ---- changing an agent ---- */

static void do_change(monkey *m) {
    phi_agent a = any_agent(m);
    phi_model model = phi_model_anthropic("another", "key");
    making with;
    phi_format format;
    bool rotated;
    memset(&format, 0, sizeof format);
    format.kind = (phi_format_kind)pick(m, 4);
    format.schema = "{\"type\":\"object\"}";
    if (once_in(m, 4)) model.protocol = once_in(m, 2) ? "mine" : "nothing";
    switch (pick(m, 11)) {
    case 0: (void)set_model(a, &model); break;
    case 1: {
        size_t n = make_tools(m, with.tools);
        (void)set_tools(a, with.tools, n);
        break;
    }
    case 2: (void)set_system_prompt(a, any_text(m)); break;
    case 3:
        if (once_in(m, 4) && set_format(a, &format) == PHI_OK) spoilt(m, a);
        break;
    case 4: (void)set_policy(a, once_in(m, 2) ? NULL : &m->policy); break;
    case 5: (void)set_repeat_limits(a, pick(m, 4), pick(m, 5)); break;
    case 6: (void)phi_agent_reset(a); break;
    case 7: (void)phi_agent_new_session(a, once_in(m, 2)); break;
    case 8: (void)phi_agent_rotate(a, pick(m, 100), &rotated); break;
    case 9:
        (void)phi_agent_use_thread(a, once_in(m, 2) ? NULL : any_name(m, "t", m->names + 1));
        break;
    default:
        if (once_in(m, 6)) phi_agent_free(a);
        break;
    }
}

static void do_history(monkey *m) {
    phi_agent a = any_agent(m);
    phi_content words = any_block(m);
    phi_message message;
    phi_parse_error error;
    phi_str json = phi_str_of("");
    memset(&message, 0, sizeof message);
    message.role = PHI_ROLE_USER;
    message.content = &words;
    message.content_count = 1;
    if (once_in(m, 12)) { /* a call without a result, a result without a call */
        message.role = (phi_role)pick(m, 5);
        message.tool_call_id = phi_str_of("c1");
        spoilt(m, a);
    }
    switch (pick(m, 6)) {
    case 0:
        (void)phi_thread_append(phi_agent_thread(a), once_in(m, 20) ? NULL : &message, 1, NULL);
        break;
    case 1: (void)phi_agent_replace_messages(a, &message, pick(m, 2)); break;
    case 2: (void)phi_agent_replace_messages(a, NULL, 0); break;
    case 3:
        /* What is saved has runs of which nothing was kept, too: their calls may have no result. */
        if (phi_agent_messages_to_json(a, &m->arena, &json) == PHI_OK &&
            phi_agent_messages_from_json(a, json, once_in(m, 2) ? NULL : &error) == PHI_OK)
            spoilt(m, a);
        break;
    case 4:
        if (phi_agent_messages_from_json(a, any_str(m), &error) == PHI_OK) spoilt(m, a);
        break;
    default: (void)phi_thread_message_at(phi_agent_thread(a), pick(m, 20)); break;
    }
}

static void do_free(monkey *m) { phi_agent_free(any_agent(m)); }

/* ---- logs ---- */

static void do_rewrite(monkey *m) {
    phi_agent a = any_agent(m);
    phi_thread *log = phi_agent_thread(a);
    const phi_view_item *items = NULL;
    phi_content words = any_block(m);
    phi_rewrite r;
    phi_span span;
    phi_message said;
    char id[16], undone[16], lane[16];
    size_t count = 0, i;
    memset(&r, 0, sizeof r);
    memset(&span, 0, sizeof span);
    memset(&said, 0, sizeof said);
    (void)snprintf(id, sizeof id, "h%u", (unsigned)(once_in(m, 6) ? m->ops : ++m->ops));
    (void)snprintf(undone, sizeof undone, "h%u", (unsigned)pick(m, m->ops + 1));
    (void)snprintf(lane, sizeof lane, "l%u", (unsigned)pick(m, LANES));
    (void)phi_thread_view(log, NULL, UINT64_MAX, &m->arena, &items, &count);
    said.role = PHI_ROLE_USER;
    said.content = &words;
    said.content_count = 1;
    if (!once_in(m, 5)) r.op_id = id;
    if (once_in(m, 4))
        r.revoke = undone;
    else if (count > 0) {
        i = pick(m, (uint32_t)count);
        span.from = items[i].from;
        span.to = items[phi__min(count - 1, i + pick(m, 4))].to;
        if (i == 0 || once_in(m, 2)) {
            span.messages = &said;
            span.message_count = 1;
            span.summary = once_in(m, 2);
        }
        r.spans = &span;
        r.span_count = 1;
        spoilt(m, a);
    }
    if (once_in(m, 5)) r.switch_to = lane;
    if (once_in(m, 6)) r.lane = lane;
    if (once_in(m, 8)) r.meta = any_text(m);
    if (once_in(m, 3))
        (void)phi_thread_rewrite(log, &r, NULL, id, sizeof id);
    else
        (void)phi_agent_rewrite(a, &r);
}

static phi_thread *any_thread(monkey *m) {
    return once_in(m, 3) ? m->threads[pick(m, THREADS)] : phi_agent_thread(any_agent(m));
}

static void do_thread(monkey *m) {
    phi_agent a = any_agent(m);
    phi_thread *log = once_in(m, 3) ? any_thread(m) : phi_agent_thread(a);
    phi_content words = any_block(m);
    const phi_view_item *items = NULL;
    phi_append append = PHI_ZERO;
    phi_message message;
    phi_entry entry;
    phi_str text;
    size_t count;
    uint64_t seq = pick(m, 60), at = once_in(m, 3) ? UINT64_MAX : pick(m, 60);
    char said[60], lane[16], parent[16];
    (void)snprintf(lane, sizeof lane, "l%u", (unsigned)pick(m, LANES));
    (void)snprintf(parent, sizeof parent, "l%u", (unsigned)pick(m, LANES));
    memset(&message, 0, sizeof message);
    message.role = PHI_ROLE_USER;
    message.content = &words;
    message.content_count = 1;
    switch (pick(m, 14)) {
    case 0: (void)phi_thread_fork_lane(log, lane, once_in(m, 2) ? NULL : parent, at); break;
    case 1: (void)phi_thread_switch(log, once_in(m, 9) ? NULL : lane); break;
    case 2: (void)phi_thread_switch(log, NULL); break;
    case 3: (void)phi_thread_note(log, any_text(m), any_str(m), &seq); break;
    case 4: (void)phi_thread_note(log, "mark", PHI__LIT("{\"a\":1}"), NULL); break;
    case 5: (void)phi_thread_view(log, NULL, at, &m->arena, &items, &count); break;
    case 6: (void)phi_thread_describe(log, NULL, &m->arena, &text, NULL); break;
    case 7: (void)phi_thread_to_json(log, &m->arena, &text); break;
    case 8: (void)phi_thread_entry(log, seq, &entry); break;
    case 9: (void)phi_thread_append(log, &message, 1, NULL); break;
    case 10:
        append.flags = pick(m, 3);
        append.has_expected = once_in(m, 2);
        append.expected = seq;
        (void)phi_thread_append(log, &message, 1, &append);
        break;
    case 11: (void)phi_thread_sync(log, said, sizeof said); break;
    case 12:
        if (log != NULL) (void)phi_thread_hash(log);
        break;
    default: (void)phi_summarize(a, seq, at); break;
    }
}

static void do_own_thread(monkey *m) {
    phi_thread **own = &m->threads[pick(m, THREADS)];
    phi_thread *log = phi_agent_thread(any_agent(m));
    phi_str text;
    char words[80];
    switch (pick(m, 8)) {
    case 0:
        if (*own == NULL) *own = phi_thread_new(runtime(m), once_in(m, 3) ? 9000 : 0);
        break;
    case 1:
        if (*own == NULL && log != NULL) *own = phi_thread_fork(log, pick(m, 60));
        break;
    case 2:
        if (thread_freed(*own) == PHI_OK) *own = NULL;
        break;
    case 3: /* an agent's own; one of phi_run goes over one of these */
        if (log != NULL && log != m->threads[0] && log != m->threads[1] && log != m->threads[2])
            HOLDS(m, thread_freed(log) == PHI_MISUSE);
        break;
    case 4:
        (void)phi_thread_attach(*own, &m->kept, any_name(m, "t", m->names + 1), NULL, words,
                                sizeof words);
        break;
    case 5: (void)phi_thread_attach(*own, NULL, NULL, NULL, NULL, 0); break;
    case 6:
        if (phi_thread_to_json(any_thread(m), &m->arena, &text) == PHI_OK)
            (void)thread_from_json(*own, text, words, sizeof words);
        break;
    default: (void)phi_thread_message_at(*own, pick(m, 9)); break;
    }
}

static void do_lend(monkey *m) {
    phi_content words = any_block(m);
    phi_message prompt;
    making with;
    phi_agent_desc desc = any_desc(m, &with);
    phi_run_desc run;
    memset(&prompt, 0, sizeof prompt);
    memset(&run, 0, sizeof run);
    prompt.role = PHI_ROLE_USER;
    prompt.content = &words;
    prompt.content_count = 1;
    run.agent = once_in(m, 30) ? NULL : &desc;
    run.thread = any_thread(m);
    if (!once_in(m, 20)) desc.store = NULL, desc.thread_id = NULL;
    if (!once_in(m, 4)) {
        run.prompts = &prompt;
        run.prompt_count = 1;
    }
    keep_agent(m, phi_run(runtime(m), &run));
}

/* ---- looking ---- */

static void do_look(monkey *m) {
    phi_agent a = any_agent(m);
    phi_agent_desc desc;
    phi_response_info info;
    phi_str text;
    phi_response response = m->responses[pick(m, KEPT)];
    switch (pick(m, 9)) {
    case 0: (void)phi_agent_explain(a, &m->arena, &text); break;
    case 1: (void)phi_agent_get_desc(a, &desc); break;
    case 2:
    case 3:
    case 4: (void)phi_agent_get_info(a); break;
    case 5: (void)response_get(response, &info); break;
    case 6: phi_response_free(response); break;
    case 7: (void)phi_response_get(response).done; break;
    default: (void)phi_next_timeout(runtime(m)); break;
    }
}

static void do_pop(monkey *m) {
    phi_event event;
    phi_str text;
    uint32_t n = pick(m, 30);
    while (n-- > 0 && phi_next_event(runtime(m), &event)) {
        HOLDS(m, phi_agent_alive(event.agent));
        if (once_in(m, 3)) (void)phi_event_to_json(&event, &m->arena, &text);
    }
}

static void do_register(monkey *m) {
    phi_provider p = own_provider(m);
    if (once_in(m, 20)) p.poll = NULL;
    (void)phi_register_provider(runtime(m), &p);
}

static void do_trouble(monkey *m) {
    if (m->calm) return;
    switch (pick(m, 4)) {
    case 0:
        store_mem_fail_at(m->store, (int)pick(m, 12), once_in(m, 2) ? PHI_IO : PHI_NO_MEMORY);
        break;
    case 1: store_mem_lie(m->store); break;
    case 2: store_mem_room(m->store, once_in(m, 2) ? SIZE_MAX : pick(m, 20000)); break;
    default: store_mem_fail_at(m->store, -1, PHI_IO); break;
    }
}

/* ---- what is not allowed in a callback ---- */

static void do_pump(monkey *m) {
    if (!inside(m)) return;
    HOLDS(m, phi_step(runtime(m), 0) == PHI_MISUSE);
    HOLDS(m, phi_runtime_close(runtime(m)) == PHI_MISUSE);
    phi_runtime_free(runtime(m));
}

/* ---- snapshots ---- */

static void do_save(monkey *m) {
    phi_agent a = any_agent(m);
    phi_str text = phi_str_of("");
    char **to = &m->saves[pick(m, SAVES)];
    phi_status status = phi_agent_snapshot(a, &m->arena, &text);
    if (inside(m)) HOLDS(m, status != PHI_OK);
    if (status != PHI_OK) return;
    free(*to);
    *to = mutate_copy(text.at, text.len);
}

static void load_one(monkey *m) {
    const char *from = m->saves[pick(m, SAVES)];
    making with;
    phi_agent_desc desc = any_desc(m, &with);
    uint32_t changes = once_in(m, 3) ? 0 : 1 + pick(m, 3), i;
    char *text;
    seat *s;
    phi_agent a;
    if (from == NULL) return;
    text = mutate_copy(from, strlen(from));
    for (i = 0; i < changes; i++) text = mutate(text, &m->state);
    s = inside(m) ? NULL : free_seat(m);
    if (!phi_agent_alive(desc.parent)) memset(&desc.parent, 0, sizeof desc.parent);
    a = phi_agent_restore(runtime(m), &desc, phi_str_of(text), (phi_restore_run)pick(m, 2));
    free(text);
    if (s == NULL)
        HOLDS(m, a.rt == NULL);
    else
        sit(m, s, a, desc.memory.limit_bytes != 0, true);
}

static void do_load(monkey *m) {
    uint32_t n = 1 + pick(m, 5);
    while (n-- > 0) load_one(m);
}

/* ---- all of it ---- */

typedef struct deed {
    const char *name;
    void (*done)(monkey *m);
    uint32_t weight;
} deed;

static const deed deeds[] = {
    {"run", do_run, 14},       {"talk", do_talk, 12},        {"end", do_end, 3},
    {"decide", do_decide, 6},  {"call", do_call, 12},        {"raise", do_raise, 2},
    {"change", do_change, 6},  {"history", do_history, 5},   {"free", do_free, 1},
    {"make", make_agent, 2},   {"rewrite", do_rewrite, 4},   {"thread", do_thread, 8},
    {"own", do_own_thread, 4}, {"lend", do_lend, 2},         {"look", do_look, 4},
    {"pop", do_pop, 5},        {"register", do_register, 1}, {"trouble", do_trouble, 2},
    {"pump", do_pump, 1},      {"save", do_save, 5},         {"load", do_load, 3},
    {"script", do_script, 3},  {"memory", disturb, 4},       {"fact", do_fact, 5},
    {"state", do_state, 3},    {"spawn", do_spawn, 4},       {"evaluate", do_evaluate, 3},
    {"think", do_think, 2},    {"hold", do_hold, 2},         {"elsewhere", do_elsewhere, 3},
    {"twin", do_twin, 3},      {"world", do_world, 4},       {"cast", do_cast, 2}};

/* Each round does some things more than others, and some not at all. */
static void weigh(monkey *m) {
    static const uint32_t times[] = {0, 0, 1, 1, 1, 2, 4, 8};
    size_t i;
    for (i = 0; i < PHI__COUNT(deeds); i++)
        m->weights[i] = deeds[i].weight * times[pick(m, PHI__COUNT(times))];
    m->weights[0] += deeds[0].weight; /* something runs */
}

static void act(monkey *m) {
    uint32_t total = 0, at;
    size_t i;
    for (i = 0; i < PHI__COUNT(deeds); i++) total += m->weights[i];
    at = pick(m, total);
    for (i = 0; at >= m->weights[i]; i++) at -= m->weights[i];
    if (m->trace) printf("%*s%s\n", (int)m->depth * 2, "", deeds[i].name);
    deeds[i].done(m);
    if (m->depth == 0) phi_arena_reset(&m->arena, m->empty);
}

#endif
