/* test_provider.c - models of the host's own: in the process, polled, and over HTTP by the host's own codec. */
#include "loop/provider.h"
#include "record/event_json.h"

#include "agent/agent.h"
#include "agent/one_shot_run.h"
#include "persist/store.h"
#include "support/rig.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "loop/run.h"
#include "log/log_in.h"
#include "loop/loop_in.h"

/* A model that says a word a poll; what it does is scripted in its fields. */
typedef struct parrot {
    const char *const *words; /* NULL-ended */
    int opens, polls, closes, open_now;
    phi_status refuses; /* the next open */
    int fails_after;    /* polls, retryable; 0: never */
    bool says_stop;
    bool calls_tool; /* in its first answer, after its words */
    bool bad_ids;    /* two more calls, whose ids differ in a byte that is no UTF-8 */
    phi_agent frees;
    phi_runtime *steps; /* tried when it is closed; NULL: not */
    char asked[400];    /* the last message it saw, and what else it was told */
    char key[40];
    int at;
} parrot;

static phi_status parrot_open(void *user_data, const phi_model_request *request, void **call) {
    parrot *p = (parrot *)user_data;
    phi_status status = p->refuses;
    const phi_message *last = request->messages[request->message_count - 1];
    p->refuses = PHI_OK;
    if (status != PHI_OK) return status;
    p->opens++;
    p->open_now++;
    p->at = 0;
    (void)snprintf(p->asked, sizeof p->asked, "%d messages, %d tools, system \"%.*s\": %.*s",
                   (int)request->message_count, (int)request->tool_count,
                   (int)request->system_prompt.len, request->system_prompt.at,
                   (int)last->content[0].text.len, last->content[0].text.at);
    (void)snprintf(p->key, sizeof p->key, "%s",
                   request->model->api_key != NULL ? request->model->api_key : "");
    *call = p;
    return PHI_OK;
}

static phi_poll parrot_poll(void *user_data, void *call, phi_answer *answer) {
    parrot *p = (parrot *)user_data;
    phi_usage usage;
    CHECK(call == p);
    p->polls++;
    if (p->frees.rt != NULL) {
        phi_agent_free(p->frees);
        CHECK_EQ_INT(p->closes, 0); /* not while it polls */
        return PHI_POLL_AGAIN;
    }
    if (p->fails_after != 0 && p->at == p->fails_after) {
        p->fails_after = 0;
        phi_answer_fail(answer, PHI_FAILURE_SERVER, true, "the parrot coughs");
        return PHI_POLL_DONE;
    }
    if (p->words[p->at] != NULL) {
        phi_answer_text(answer, phi_str_of(p->words[p->at++]));
        return PHI_POLL_AGAIN;
    }
    memset(&usage, 0, sizeof usage);
    usage.input = 10;
    usage.output = 3;
    phi_answer_usage(answer, &usage);
    if (p->calls_tool && p->opens == 1) {
        phi_answer_call(answer, phi_str_of("c1"), phi_str_of("echo"));
        phi_answer_arguments(answer, phi_str_of("{\"say\":"), false);
        phi_answer_arguments(answer, phi_str_of("\"hello\"}"), true);
    }
    if (p->bad_ids && p->opens == 1) {
        phi_answer_call(answer, phi_str_of("c\xff"), phi_str_of("echo"));
        phi_answer_arguments(answer, phi_str_of(""), true);
        phi_answer_call(answer, phi_str_of("c\xfe"), phi_str_of("echo"));
        phi_answer_arguments(answer, phi_str_of(""), true);
    }
    if (p->says_stop) phi_answer_stop(answer, PHI_STOP_REASON_STOP);
    return PHI_POLL_DONE;
}

static void parrot_close(void *user_data, void *call) {
    parrot *p = (parrot *)user_data;
    CHECK(call == p);
    p->closes++;
    p->open_now--;
    if (p->steps == NULL) return;
    CHECK_EQ_INT(phi_step(p->steps, 0), PHI_MISUSE);
    phi_runtime_free(p->steps); /* refused, too */
}

static phi_provider parrot_provider(parrot *p) {
    phi_provider provider;
    memset(&provider, 0, sizeof provider);
    provider.protocol = "parrot";
    provider.user_data = p;
    provider.open = parrot_open;
    provider.poll = parrot_poll;
    provider.close = parrot_close;
    return provider;
}

static const char *const hello[] = {"Hel", "lo", " you", NULL};

static phi_agent_desc parrot_desc(void) {
    phi_agent_desc desc = rig_desc();
    memset(&desc.model, 0, sizeof desc.model);
    desc.model.protocol = "parrot";
    desc.model.id = "grey";
    desc.system_prompt = "Be a parrot.";
    return desc;
}

static void parrot_begin(parrot *p) {
    memset(p, 0, sizeof *p);
    p->words = hello;
}

TEST(a_model_in_the_process_is_polled_once_a_step_and_streams) {
    parrot p;
    rig *r = rig_new();
    phi_agent_desc desc = parrot_desc();
    phi_provider provider = parrot_provider(&p);
    phi_agent agent;
    parrot_begin(&p);
    CHECK_EQ_INT(phi_register_provider(rig_runtime(r), &provider), PHI_OK);
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "Who are you?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_INT(p.opens, 1);
    CHECK_EQ_INT(p.polls, 4);
    CHECK_EQ_INT(p.closes, 1);
    CHECK_EQ_STR(p.asked, "1 messages, 0 tools, system \"Be a parrot.\": Who are you?");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text, "Hello you");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->model, "grey");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->protocol, "parrot");
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->stop_reason,
                 PHI_STOP_REASON_STOP);
    CHECK_EQ_INT(phi_agent_get_info(agent).usage.total_tokens, 13);
    CHECK(strstr(rig_story(r), "TextDelta \"Hel\" of \"Hel\"\n"
                               "TextDelta \"lo\" of \"Hello\"\n"
                               "TextDelta \" you\" of \"Hello you\"\n") != NULL);
    CHECK_EQ_INT(rig_requests(r), 0); /* no transport was asked */
    rig_free(r);
}

static void look_at_snapshot(void *user_data, const phi_event *event) {
    phi_memory memory;
    phi_arena arena;
    phi_str json = phi_str_of("");
    if (event->kind != PHI_EV_AGENT_START) return;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_event_to_json(event, &arena, &json), PHI_OK);
    CHECK(strstr(json.at, "\"config_snapshot\":{\"model\":\"grey\"") != NULL);
    CHECK(strstr(json.at, "\"api\"") == NULL);
    CHECK(strstr(json.at, "parrot") == NULL);
    phi_arena_free(&arena);
    *(int *)user_data += 1;
}

TEST(its_protocol_is_not_written_where_the_original_would_refuse_it) {
    parrot p;
    rig *r = rig_new();
    phi_agent_desc desc = parrot_desc();
    phi_provider provider = parrot_provider(&p);
    int seen = 0;
    parrot_begin(&p);
    desc.ids.config_id = "c";
    desc.model.provider = "birds";
    CHECK_EQ_INT(phi_register_provider(rig_runtime(r), &provider), PHI_OK);
    rig_watch(r, look_at_snapshot, &seen);
    CHECK_EQ_INT(phi_prompt(rig_agent(r, &desc), "Who are you?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_INT(seen, 1);
    rig_free(r);
}

TEST(its_tool_calls_are_run_and_their_results_come_back) {
    parrot p;
    rig *r = rig_new();
    phi_agent_desc desc = parrot_desc();
    phi_provider provider = parrot_provider(&p);
    phi_tool echo = rig_echo();
    phi_agent agent;
    parrot_begin(&p);
    p.calls_tool = p.says_stop = true;
    desc.provider = &provider; /* not registered: the agent's own */
    desc.tools = &echo;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "Say hello."), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_INT(p.opens, 2);
    CHECK_EQ_INT(p.closes, 2);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->stop_reason,
                 PHI_STOP_REASON_TOOL_USE);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->tool_call_id, "c1");
    CHECK_EQ_STR(p.asked, "3 messages, 1 tools, system \"Be a parrot.\": {\"say\":\"hello\"}");
    rig_free(r);
}

TEST(ids_that_differ_in_no_utf_8_are_two_ids_in_the_log_and_in_its_file) {
    parrot p;
    rig *r = rig_new();
    phi_agent_desc desc = parrot_desc();
    phi_tool echo = rig_echo();
    phi_provider provider = parrot_provider(&p);
    phi_thread *again = phi_thread_new(rig_runtime(r), 0);
    phi_memory memory;
    phi_arena arena;
    phi_str text, first, second;
    phi_agent agent;
    size_t i;
    parrot_begin(&p);
    p.bad_ids = true;
    desc.tools = &echo;
    desc.tool_count = 1;
    CHECK_EQ_INT(phi_register_provider(rig_runtime(r), &provider), PHI_OK);
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "Say it"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 80), 0);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_thread_to_json(phi_agent_thread(agent), &arena, &text), PHI_OK);
    CHECK_EQ_INT(phi_thread_from_json(again, text, NULL), PHI_OK);
    phi_arena_free(&arena);
    REQUIRE(CHECK_EQ_INT(phi_thread_message_count(again), 5)); /* asked, calls, results, answer */
    first = phi_thread_message_at(again, 2)->tool_call_id;
    second = phi_thread_message_at(again, 3)->tool_call_id;
    CHECK(!phi_str_equal(first, second));
    for (i = 1; i < 4; i++)
        CHECK(phi_thread_message_at(phi_agent_thread(agent), i)->role ==
              phi_thread_message_at(again, i)->role);
    CHECK(phi_str_equal(first, phi_thread_message_at(phi_agent_thread(agent), 2)->tool_call_id));
    CHECK(phi_str_equal(second, phi_thread_message_at(phi_agent_thread(agent), 3)->tool_call_id));
    rig_free(r);
}

TEST(an_abort_closes_the_call_and_keeps_what_came) {
    parrot p;
    rig *r = rig_new();
    phi_agent_desc desc = parrot_desc();
    phi_provider provider = parrot_provider(&p);
    phi_agent agent;
    parrot_begin(&p);
    desc.provider = &provider;
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    rig_step(r);
    rig_step(r);
    CHECK_EQ_INT(p.open_now, 1);
    CHECK(phi_next_timeout(rig_runtime(r)) >= 0 && phi_next_timeout(rig_runtime(r)) <= 10);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_INT(p.closes, 1);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->stop_reason,
                 PHI_STOP_REASON_ABORTED);
    CHECK(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text.len > 0);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), -1);
    CHECK_EQ_INT(phi_prompt(agent, "Again"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_INT(p.closes, 2);
    rig_free(r);
}

TEST(an_agent_that_is_freed_has_its_call_closed_once_also_from_its_own_poll) {
    parrot p;
    rig *r = rig_new();
    phi_agent_desc desc = parrot_desc();
    phi_provider provider = parrot_provider(&p);
    phi_agent agent;
    parrot_begin(&p);
    desc.provider = &provider;
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    rig_step(r);
    phi_agent_free(agent);
    CHECK_EQ_INT(p.closes, 1);
    parrot_begin(&p);
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    p.frees = agent;
    rig_step(r);
    rig_step(r);
    CHECK_EQ_INT(p.closes, 1);
    CHECK(!phi_agent_alive(agent));
    parrot_begin(&p);
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    rig_step(r);
    rig_free(r); /* and with the runtime */
    CHECK_EQ_INT(p.closes, 1);
}

TEST(a_model_whose_agent_was_freed_from_its_poll_is_closed_inside_the_step) {
    parrot p;
    rig *r = rig_new();
    phi_agent_desc desc = parrot_desc();
    phi_provider provider;
    phi_agent agent;
    parrot_begin(&p);
    provider = parrot_provider(&p);
    desc.provider = &provider;
    agent = rig_agent(r, &desc);
    p.frees = agent;
    p.steps = rig_runtime(r);
    CHECK_EQ_INT(phi_prompt(agent, "hello"), PHI_OK);
    (void)rig_run(r, 10);
    CHECK_EQ_INT(p.closes, 1);
    p.steps = NULL;
    rig_free(r);
}

TEST(a_model_that_is_busy_or_fails_is_asked_again) {
    parrot p;
    rig *r = rig_new();
    phi_agent_desc desc = parrot_desc();
    phi_provider provider = parrot_provider(&p);
    phi_agent agent;
    parrot_begin(&p);
    desc.provider = &provider;
    desc.retry.disable = false;
    p.refuses = PHI_BUSY;
    p.fails_after = 2;
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 60000), 0);
    CHECK_EQ_INT(p.opens, 2);
    CHECK_EQ_INT(p.closes, 2);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text, "Hello you");
    rig_free(r);
}

TEST(a_model_that_refuses_ends_the_run) {
    parrot p;
    rig *r = rig_new();
    phi_agent_desc desc = parrot_desc();
    phi_provider provider = parrot_provider(&p);
    phi_agent agent;
    parrot_begin(&p);
    desc.provider = &provider;
    p.refuses = PHI_UNSUPPORTED;
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_INT(p.closes, 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->error_message,
              "API error: not built in, or not supported here");
    rig_free(r);
}

TEST(a_host_that_does_not_read_its_events_is_not_written_to) {
    parrot p;
    rig *r = rig_new();
    phi_agent_desc desc = parrot_desc();
    phi_provider provider = parrot_provider(&p);
    phi_agent agent;
    int i;
    parrot_begin(&p);
    desc.provider = &provider;
    desc.memory.event_queue_bytes = 1;
    agent = rig_agent(r, &desc);
    rig_silent(r, true);
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    for (i = 0; i < 20; i++) (void)phi_step(rig_runtime(r), 0);
    CHECK(p.polls <= 1);
    rig_silent(r, false);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text, "Hello you");
    rig_free(r);
}

TEST(a_key_that_the_host_gives_reaches_the_model) {
    parrot p;
    rig *r = rig_new();
    phi_agent_desc desc = parrot_desc();
    phi_provider provider = parrot_provider(&p);
    parrot_begin(&p);
    desc.provider = &provider;
    rig_hooks(r, &desc, PHI_HOOK_CREDENTIAL);
    rig_answers(r, PHI_HOOK_CREDENTIAL, PHI_ALLOW, "seed");
    CHECK_EQ_INT(phi_prompt(rig_agent(r, &desc), "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_STR(p.key, "seed");
    rig_free(r);
}

/* ---- over HTTP ---- */

/* "say: text" lines as events; "end" ends it. */
typedef struct lines_state {
    int events;
} lines_state;

static phi_status lines_encode(void *user_data, const phi_model_request *request, phi_arena *arena,
                               phi_http_request *out) {
    static const phi_model_header headers[] = {{"x-lines", "1"}};
    (void)arena;
    if (user_data != NULL) return *(const phi_status *)user_data;
    out->url = "http://lines.example/answer";
    out->headers = headers;
    out->header_count = 1;
    out->body = request->messages[request->message_count - 1]->content[0].text;
    return PHI_OK;
}

static void lines_event(void *user_data, void *decoder, phi_str name, phi_str data,
                        phi_answer *answer) {
    lines_state *state = (lines_state *)decoder;
    (void)user_data;
    state->events++;
    if (phi_str_equal(name, phi_str_of("say"))) phi_answer_text(answer, data);
    if (phi_str_equal(name, phi_str_of("think")))
        phi_answer_thinking(answer, data, phi_str_of(NULL));
    if (phi_str_equal(name, phi_str_of("sign")))
        phi_answer_thinking(answer, phi_str_of(NULL), data);
    if (phi_str_equal(name, phi_str_of("end"))) phi_answer_stop(answer, PHI_STOP_REASON_LENGTH);
    if (name.len == 0) phi_answer_text(answer, phi_str_of("<bare>"));
}

static void lines_end(void *user_data, void *decoder, phi_answer *answer) {
    (void)user_data;
    (void)answer;
    CHECK(((lines_state *)decoder)->events > 0);
}

static phi_provider lines_provider(phi_status *refuses) {
    phi_provider provider;
    memset(&provider, 0, sizeof provider);
    provider.protocol = "lines";
    provider.user_data = refuses;
    provider.encode = lines_encode;
    provider.decoder_bytes = sizeof(lines_state);
    provider.event = lines_event;
    provider.end = lines_end;
    return provider;
}

static phi_agent_desc lines_desc(const phi_provider *provider) {
    phi_agent_desc desc = parrot_desc();
    desc.model.protocol = "lines";
    desc.provider = provider;
    return desc;
}

#define SSE "content-type: text/event-stream\r\n"

TEST(a_signature_ends_its_block_of_thinking) {
    rig *r = rig_new();
    phi_provider provider = lines_provider(NULL);
    phi_agent_desc desc = lines_desc(&provider);
    phi_agent agent = rig_agent(r, &desc);
    rig_replies(r, 200, SSE,
                "event: think\ndata: one\n\nevent: sign\ndata: A\n\n"
                "event: think\ndata: two\n\nevent: sign\ndata: B\n\n"
                "event: say\ndata: done\n\nevent: end\ndata: x\n\n");
    CHECK_EQ_INT(phi_prompt(agent, "Think twice"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    const phi_message *answer = phi_thread_message_at(phi_agent_thread(agent), 1);
    CHECK_EQ_INT(answer->content_count, 3);
    CHECK_STR(answer->content[0].text, "one");
    CHECK_STR(answer->content[0].signature, "A");
    CHECK_STR(answer->content[1].text, "two");
    CHECK_STR(answer->content[1].signature, "B");
    CHECK_STR(answer->content[2].text, "done");
    rig_free(r);
}

TEST(a_protocol_of_the_hosts_own_is_spoken_over_http) {
    rig *r = rig_new();
    phi_provider provider = lines_provider(NULL);
    phi_agent_desc desc = lines_desc(&provider);
    phi_agent agent = rig_agent(r, &desc);
    const phi_message *answer;
    rig_replies(r, 200, SSE,
                "event: think\ndata: hm\n\nevent: say\ndata: One\n\n"
                "event: say\ndata:  two\n\nevent: end\ndata: x\n\n");
    rig_chunk(r, 3);
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    CHECK_EQ_STR(rig_request(r, 0), "Count");
    answer = phi_thread_message_at(phi_agent_thread(agent), 1);
    CHECK_EQ_INT(answer->content_count, 2);
    CHECK_STR(answer->content[0].text, "hm");
    CHECK_STR(answer->content[1].text, "One two");
    CHECK_EQ_INT(answer->stop_reason, PHI_STOP_REASON_LENGTH);
    rig_free(r);
}

TEST(a_stream_that_breaks_off_is_asked_for_again) {
    rig *r = rig_new();
    phi_provider provider = lines_provider(NULL);
    phi_agent_desc desc = lines_desc(&provider);
    phi_agent agent;
    desc.retry.disable = false;
    agent = rig_agent(r, &desc);
    rig_replies(r, 200, SSE, "event: say\ndata: One\n\n");
    rig_replies(r, 503, "", "busy");
    rig_replies(r, 200, SSE, "event: say\ndata: Two\n\nevent: end\ndata: x\n\n");
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 60000), 0);
    CHECK_EQ_INT(rig_requests(r), 3);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text, "Two");
    rig_free(r);
}

TEST(an_answer_that_is_no_stream_is_one_event) {
    rig *r = rig_new();
    phi_provider provider = lines_provider(NULL);
    phi_agent_desc desc = lines_desc(&provider);
    phi_agent agent = rig_agent(r, &desc);
    rig_replies(r, 200, "content-type: application/json\r\n", "{\"a\":1}");
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    /* it was not said to be whole, so it counts as cut */
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->stop_reason,
                 PHI_STOP_REASON_ERROR);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text, "<bare>");
    rig_free(r);
}

TEST(an_encoder_that_refuses_fails_the_call_before_anything_is_sent) {
    rig *r = rig_new();
    phi_status refuses = PHI_TOO_BIG;
    phi_provider provider = lines_provider(&refuses);
    phi_agent_desc desc = lines_desc(&provider);
    phi_agent agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_INT(rig_requests(r), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->error_message,
              "API error: the provider has refused the request: larger than a limit allows");
    rig_free(r);
}

/* ---- which there are ---- */

TEST(what_is_no_provider_is_refused_with_words) {
    rig *r = rig_new();
    parrot p;
    phi_provider provider = parrot_provider(&p), none;
    phi_agent_desc desc = parrot_desc();
    const char *words = NULL;
    memset(&none, 0, sizeof none);
    CHECK_EQ_INT(phi_register_provider(rig_runtime(r), &none), PHI_BAD_ARG);
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt == NULL);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(words,
                 "No provider registered for protocol: parrot "
                 "(presets bring theirs; or set phi_runtime_desc.codecs = PHI_ALL_PROTOCOLS)");
    provider.close = NULL;
    CHECK_EQ_INT(phi_register_provider(rig_runtime(r), &provider), PHI_BAD_ARG);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(words, "phi_register_provider: open, poll or close is missing");
    provider = parrot_provider(&p);
    provider.event = lines_event;
    desc.provider = &provider;
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt == NULL);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(words, "provider: expected open, poll and close, or encode, event and end");
    rig_free(r);
}

TEST(a_registered_name_of_ours_is_used_in_its_stead_and_the_latest_wins) {
    parrot first, second;
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_provider one = parrot_provider(&first), two = parrot_provider(&second);
    phi_agent before = rig_agent(r, &desc), after;
    parrot_begin(&first);
    parrot_begin(&second);
    one.protocol = two.protocol = "anthropic_messages";
    CHECK_EQ_INT(phi_register_provider(rig_runtime(r), &one), PHI_OK);
    CHECK_EQ_INT(phi_register_provider(rig_runtime(r), &two), PHI_OK);
    after = rig_agent(r, &desc);
    rig_says(r, "From the wire");
    CHECK_EQ_INT(phi_prompt(before, "Go"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(after, "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(before), 1)->content[0].text, "From the wire");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(after), 1)->content[0].text, "Hello you");
    CHECK_EQ_INT(first.opens, 0);
    CHECK_EQ_INT(second.opens, 1);
    rig_free(r);
}

/* ---- translation ---- */

static int translated;

static phi_status all_caps(void *user_data, const phi_model *target,
                           const phi_message *const *messages, size_t count, phi_arena *arena,
                           const phi_message *const **out, size_t *out_count) {
    phi_message *copy = phi_message_copy(messages[0], arena);
    const phi_message **list = (const phi_message **)phi_arena_alloc(arena, count * sizeof *list);
    size_t i;
    (void)user_data;
    translated++;
    if (count > 8) return PHI_TOO_BIG;
    if (copy == NULL || list == NULL) return PHI_NO_MEMORY;
    ((phi_content *)(uintptr_t)copy->content)[0].text = phi_str_of("TRANSLATED");
    for (i = 0; i < count; i++) list[i] = i == 0 ? copy : messages[i];
    return phi_translate(target, list, count, arena, out, out_count);
}

static phi_status as_phi_does(void *user_data, const phi_model *target,
                              const phi_message *const *messages, size_t count, phi_arena *arena,
                              const phi_message *const **out, size_t *out_count) {
    (void)user_data;
    return phi_translate(target, messages, count, arena, out, out_count);
}

TEST(a_host_may_translate_by_itself_and_the_history_stays_as_it_is) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    int i;
    desc.translate_fn = all_caps;
    translated = 0;
    agent = rig_agent(r, &desc);
    rig_says(r, "Yes");
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_INT(translated, 1);
    CHECK(strstr(rig_request(r, 0), "TRANSLATED") != NULL);
    CHECK(strstr(rig_request(r, 0), "\"Go\"") == NULL);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 0)->content[0].text, "Go");
    for (i = 0; i < 3; i++) {
        rig_says(r, "Yes");
        CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 50), 0);
    }
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent),
                                    phi_thread_message_count(phi_agent_thread(agent)) - 1)
                  ->error_message,
              "API error: the translation has failed: larger than a limit allows");
    rig_free(r);
}

/* ---- deltas and characters ---- */

static const char drops[] = "Gr\xC3\xBC\xC3\x9F"
                            "e, \xE4\xBD\xA0\xE5\xA5\xBD \xF0\x9F\x98\x80";

typedef struct drip {
    size_t at;
    bool ends_early; /* after the first byte of the last character */
    char heard[3][64];
    size_t len[3];
    int deltas[3], broken;
} drip;

static phi_status drip_open(void *user_data, const phi_model_request *request, void **call) {
    (void)request;
    *call = user_data;
    return PHI_OK;
}

/* A byte a poll: as thinking, as text, then as the arguments of a call. */
static phi_poll drip_poll(void *user_data, void *call, phi_answer *answer) {
    drip *d = (drip *)user_data;
    size_t len = sizeof drops - 1, i = d->at % len;
    phi_str byte = phi__str(drops + i, 1);
    (void)call;
    if (d->at == 2 * len) phi_answer_call(answer, phi_str_of("c1"), phi_str_of("echo"));
    if (d->at < len)
        phi_answer_thinking(answer, byte, phi_str_of(NULL));
    else if (d->at < 2 * len)
        phi_answer_text(answer, byte);
    else if (d->at < 3 * len && !(d->ends_early && d->at == 3 * len - 3))
        phi_answer_arguments(answer, byte, false);
    else
        return PHI_POLL_DONE;
    d->at++;
    return PHI_POLL_AGAIN;
}

static void drip_close(void *user_data, void *call) { (void)user_data, (void)call; }

static void drip_hear(void *user_data, const phi_event *event) {
    drip *d = (drip *)user_data;
    int kind = event->kind == PHI_EV_THINKING         ? 0
               : event->kind == PHI_EV_TEXT           ? 1
               : event->kind == PHI_EV_TOOL_ARGUMENTS ? 2
                                                      : -1;
    if (kind < 0) return;
    d->deltas[kind]++;
    d->broken += phi__utf8_valid(event->text) != event->text.len;
    d->broken += phi__utf8_valid(event->partial) != event->partial.len;
    if (!CHECK(d->len[kind] + event->text.len < sizeof d->heard[kind])) return;
    memcpy(d->heard[kind] + d->len[kind], event->text.at, event->text.len);
    d->len[kind] += event->text.len;
}

TEST(a_delta_never_ends_inside_a_character) {
    int cut;
    for (cut = 0; cut < 2; cut++) {
        drip d;
        rig *r = rig_new();
        phi_agent_desc desc = parrot_desc();
        phi_provider provider;
        memset(&provider, 0, sizeof provider);
        memset(&d, 0, sizeof d);
        d.ends_early = cut == 1;
        provider.protocol = "drip";
        provider.user_data = &d;
        provider.open = drip_open;
        provider.poll = drip_poll;
        provider.close = drip_close;
        desc.provider = &provider;
        desc.limits.max_turns = 1;
        rig_watch(r, drip_hear, &d);
        CHECK_EQ_INT(phi_prompt(rig_agent(r, &desc), "Go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 200), 0);
        CHECK_EQ_INT(d.broken, 0);
        CHECK_EQ_STR(d.heard[0], drops);
        CHECK_EQ_STR(d.heard[1], drops);
        CHECK_EQ_INT(d.deltas[0], 11); /* characters; of 20 bytes */
        CHECK_EQ_INT(d.deltas[1], 11);
        if (cut == 0)
            CHECK_EQ_STR(d.heard[2], drops);
        else /* a character that the end cut becomes U+FFFD, or is not shown */
            CHECK(memcmp(d.heard[2], drops, sizeof drops - 5) == 0);
        rig_free(r);
    }
}

/* Each line is a delta's text: its bytes and its escapes cut characters. */
TEST(a_delta_of_a_server_never_ends_inside_a_character) {
    static const char *const pieces[] = {"Gr\xC3",
                                         "\xBC\xC3",
                                         "\x9F"
                                         "e, \xE4\xBD",
                                         "\xA0\xE5\xA5\xBD ",
                                         "\\ud83d",
                                         "\\ude00"};
    char body[4096], line[400];
    size_t i;
    drip d;
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    memset(&d, 0, sizeof d);
    (void)snprintf(
        body, sizeof body, "%s",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
        "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n");
    for (i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        (void)snprintf(line, sizeof line,
                       "event: content_block_delta\ndata: {\"type\":\"content_block_delta\","
                       "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}\n\n",
                       pieces[i]);
        strcat(body, line);
    }
    strcat(body, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
    rig_replies(r, 200, "content-type: text/event-stream\r\n", body);
    rig_watch(r, drip_hear, &d);
    CHECK_EQ_INT(phi_prompt(rig_agent(r, &desc), "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    CHECK_EQ_INT(d.broken, 0);
    CHECK_EQ_STR(d.heard[1], drops);
    CHECK(d.deltas[1] >= 5);
    rig_free(r);
}

TEST(every_allocation_may_fail_and_calls_are_closed) {
    int n, once;
    bool done;
    for (once = 0; once < 2; once++)
        for (n = 0; n < 400; n++) {
            parrot p;
            rig *r;
            phi_agent_desc desc = parrot_desc();
            phi_provider provider = parrot_provider(&p);
            phi_tool echo = rig_echo();
            phi_agent agent;
            parrot_begin(&p);
            p.calls_tool = true;
            desc.tools = &echo;
            desc.tool_count = 1;
            desc.translate_fn = as_phi_does;
            r = rig_new();
            if (phi_register_provider(rig_runtime(r), &provider) != PHI_OK) CHECK(false);
            agent = rig_agent(r, &desc);
            if (once == 0)
                test_alloc_fail_at(n);
            else
                test_alloc_fail_from(n);
            if (phi_prompt(agent, "Go") == PHI_OK) CHECK_EQ_INT(rig_run(r, 100), 0);
            done = !test_alloc_tripped();
            test_alloc_fail_at(-1);
            CHECK_EQ_INT(p.opens, p.closes);
            if (done) CHECK_EQ_INT(p.opens, 2);
            rig_free(r);
            if (done) break;
        }
    CHECK(n > 10 && n < 400);
}

TEST_MAIN(TEST_ENTRY(a_model_in_the_process_is_polled_once_a_step_and_streams),
          TEST_ENTRY(a_signature_ends_its_block_of_thinking),
          TEST_ENTRY(its_protocol_is_not_written_where_the_original_would_refuse_it),
          TEST_ENTRY(its_tool_calls_are_run_and_their_results_come_back),
          TEST_ENTRY(ids_that_differ_in_no_utf_8_are_two_ids_in_the_log_and_in_its_file),
          TEST_ENTRY(an_abort_closes_the_call_and_keeps_what_came),
          TEST_ENTRY(an_agent_that_is_freed_has_its_call_closed_once_also_from_its_own_poll),
          TEST_ENTRY(a_model_whose_agent_was_freed_from_its_poll_is_closed_inside_the_step),
          TEST_ENTRY(a_model_that_is_busy_or_fails_is_asked_again),
          TEST_ENTRY(a_model_that_refuses_ends_the_run),
          TEST_ENTRY(a_host_that_does_not_read_its_events_is_not_written_to),
          TEST_ENTRY(a_key_that_the_host_gives_reaches_the_model),
          TEST_ENTRY(a_signature_ends_its_block_of_thinking),
          TEST_ENTRY(a_protocol_of_the_hosts_own_is_spoken_over_http),
          TEST_ENTRY(a_stream_that_breaks_off_is_asked_for_again),
          TEST_ENTRY(an_answer_that_is_no_stream_is_one_event),
          TEST_ENTRY(an_encoder_that_refuses_fails_the_call_before_anything_is_sent),
          TEST_ENTRY(what_is_no_provider_is_refused_with_words),
          TEST_ENTRY(a_registered_name_of_ours_is_used_in_its_stead_and_the_latest_wins),
          TEST_ENTRY(a_host_may_translate_by_itself_and_the_history_stays_as_it_is),
          TEST_ENTRY(a_delta_never_ends_inside_a_character),
          TEST_ENTRY(a_delta_of_a_server_never_ends_inside_a_character),
          TEST_ENTRY(every_allocation_may_fail_and_calls_are_closed))
