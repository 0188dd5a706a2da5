/* test_mcp_serve_ask.c - questions of our server to its clients in both eras, and what a client does
   with requestState. */
#include "mcp/served.h"

/* A tool that asks for a name, and one that asks twice. */
typedef struct asker {
    phi_call call;
    phi_mcp_incoming incoming;
    int calls, answers, rounds;
    phi_status status, ask_status;
    char message[200];
    bool free_server, without_memory;
    const char *params; /* NULL: of a person's name */
    int many;           /* questions at once, of these names; 0: one */
    const char *keys[4];
    served *s;
} asker;

static void ask_name(asker *a, const char *key);

static void on_name(void *user_data, phi_status status, const phi_json *result, phi_str message) {
    asker *a = (asker *)user_data;
    char text[200];
    a->answers++;
    a->status = status;
    (void)snprintf(a->message, sizeof a->message, "%.*s", (int)message.len,
                   message.len > 0 ? message.at : "");
    if (a->free_server) {
        phi_mcp_server_free(a->s->server);
        a->s->server = NULL;
        return;
    }
    if (a->rounds-- > 1) {
        ask_name(a, "again");
        return;
    }
    (void)snprintf(text, sizeof text, "Hello, %.*s!",
                   (int)phi_json_str(phi_json_path(result, "content.name"), "?").len,
                   phi_json_str(phi_json_path(result, "content.name"), "?").at);
    status = phi_call_reply(a->call, text);
    CHECK(status == PHI_OK || a->without_memory || a->many > 1);
}

static void ask_name(asker *a, const char *key) {
    phi_mcp_ask_desc ask;
    memset(&ask, 0, sizeof ask);
    ask.method = "elicitation/create";
    ask.params =
        a->params != NULL
            ? a->params
            : "{\"message\":\"What is your name?\",\n\"requestedSchema\":{\"type\":\"object\"}}";
    ask.key = key;
    ask.done_fn = on_name;
    ask.user_data = a;
    a->ask_status = phi_mcp_ask(a->incoming, &ask);
}

static phi_flow asker_start(void *user_data, phi_call call, phi_str arguments) {
    asker *a = (asker *)user_data;
    int i;
    (void)arguments;
    a->calls++;
    a->call = call;
    a->incoming = phi_mcp_incoming_of(call);
    if (a->many == 0) ask_name(a, "name");
    for (i = 0; i < a->many; i++) ask_name(a, a->keys[i]);
    if (a->many > 0 || a->ask_status == PHI_OK) return PHI_PENDING;
    CHECK(phi_call_fail(call, "nobody to ask") == PHI_OK || a->without_memory);
    return PHI_PENDING;
}

static void asking_server_with(served *s, asker *a, rig *r) {
    static phi_tool tool;
    phi_mcp_server_desc desc;
    memset(&desc, 0, sizeof desc);
    memset(&tool, 0, sizeof tool);
    memset(a, 0, sizeof *a);
    a->rounds = 1;
    a->s = s;
    tool.name = "greet";
    tool.start = asker_start;
    tool.user_data = a;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.ask_timeout_ms = 1000;
    served_open_with(s, &desc, r);
}

static void asking_server(served *s, asker *a) {
    asking_server_with(s, a, rig_new());
    CHECK(s->server != NULL);
}

#define ELICITS "{\"elicitation\":{}}"
#define GREET "\"name\":\"greet\",\"arguments\":{},"

/* The requestState of a line, in a static buffer. */
static const char *state_of(const char *line) {
    static char state[300];
    const char *at = strstr(line, "\"requestState\":\"");
    state[0] = '\0';
    if (at != NULL) (void)snprintf(state, sizeof state, "%s", at + 16);
    state[strcspn(state, "\"")] = '\0';
    return state;
}

static const char *repeat(int id, const char *key, const char *state) {
    char params[800];
    (void)snprintf(params, sizeof params,
                   GREET "\"inputResponses\":{\"%s\":{\"action\":\"accept\",\"content\":{\"name\":"
                         "\"Ada\"}}},\"requestState\":\"%s\",",
                   key, state);
    return modern(id, "tools/call", params, ELICITS);
}

TEST(a_session_is_asked_by_a_request) {
    served s;
    asker a;
    asking_server(&s, &a);
    served_begin(&s, "2025-06-18", ELICITS);
    CHECK(has(served_ask(&s, legacy(1, "tools/call", "{\"name\":\"greet\"}")),
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\",\"params\":{"
              "\"message\":\"What is your name?\","));
    served_say(&s, "{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}"); /* of nothing */
    CHECK(has(served_ask(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"accept\","
                             "\"content\":{\"name\":\"Ada\"}}}"),
              "\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"Hello, Ada!\"}]"));
    CHECK_EQ_INT(a.answers, 1);
    served_free(&s);
}

TEST(a_session_that_answers_with_an_error_is_a_refusal) {
    served s;
    asker a;
    asking_server(&s, &a);
    served_begin(&s, "2025-06-18", ELICITS);
    CHECK(has(served_ask(&s, legacy(1, "tools/call", "{\"name\":\"greet\"}")), "elicitation"));
    CHECK(has(served_ask(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,"
                             "\"message\":\"no person here\"}}"),
              "Hello, ?!"));
    CHECK_EQ_INT(a.status, PHI_REFUSED);
    CHECK_EQ_STR(a.message, "no person here");
    served_free(&s);
}

TEST(a_malformed_answer_of_a_session_ends_the_question) {
    static const char *const answers[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"no\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{\"code\":1}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"1\"}", "{\"id\":1,\"result\":{}}"};
    size_t i;
    for (i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        served s;
        asker a;
        asking_server(&s, &a);
        served_begin(&s, "2025-06-18", ELICITS);
        CHECK(has(served_ask(&s, legacy(1, "tools/call", "{\"name\":\"greet\"}")), "elicitation"));
        /* a malformed request of the same id is not meant */
        CHECK(has(served_ask(&s, "{\"id\":1,\"method\":\"ping\"}"), "-32600"));
        CHECK_EQ_INT(a.answers, 0);
        CHECK(has(served_ask(&s, answers[i]), "Not a message: "));
        CHECK(has(served_hear(&s), "Hello, ?!"));
        CHECK_EQ_INT(a.status, PHI_REFUSED);
        CHECK(has(a.message, "Not a message: "));
        served_free(&s);
    }
}

TEST(a_client_that_cannot_is_not_asked) {
    served s;
    asker a;
    asking_server(&s, &a);
    served_begin(&s, "2025-06-18", "{\"sampling\":{}}");
    CHECK(has(served_ask(&s, legacy(1, "tools/call", "{\"name\":\"greet\"}")), "nobody to ask"));
    CHECK_EQ_INT(a.ask_status, PHI_UNSUPPORTED);
    CHECK(has(served_ask(&s, modern(2, "tools/call", GREET, "{}")), "nobody to ask"));
    served_free(&s);
}

TEST(a_modern_client_repeats_its_request_with_the_answer) {
    served s;
    asker a;
    const char *line;
    asking_server(&s, &a);
    line = served_ask(&s, modern(1, "tools/call", GREET, ELICITS));
    CHECK(has(line, "\"id\":1,\"result\":{\"resultType\":\"input_required\",\"inputRequests\":{"
                    "\"name\":{\"method\":\"elicitation/create\",\"params\":{"));
    CHECK(has(served_ask(&s, repeat(2, "name", state_of(line))), "Hello, Ada!"));
    CHECK(has(s.line, "\"id\":2"));
    CHECK_EQ_INT(a.calls, 1);
    served_free(&s);
}

TEST(a_second_round_has_another_state_and_the_first_one_is_void) {
    served s;
    asker a;
    char first[300];
    asking_server(&s, &a);
    a.rounds = 2;
    (void)snprintf(first, sizeof first, "%s",
                   state_of(served_ask(&s, modern(1, "tools/call", GREET, ELICITS))));
    CHECK(has(served_ask(&s, repeat(2, "name", first)), "\"again\":{\"method\""));
    CHECK(strcmp(first, state_of(s.line)) != 0);
    CHECK(has(served_ask(&s, repeat(3, "name", first)), "-32602"));
    served_free(&s);
}

TEST(answers_that_come_with_the_first_request_are_taken) {
    served s;
    asker a;
    asking_server(&s, &a);
    CHECK(has(served_ask(&s, modern(1, "tools/call",
                                    GREET "\"inputResponses\":{\"name\":{\"action\":\"accept\","
                                          "\"content\":{\"name\":\"Bo\"}},\"more\":{}},",
                                    ELICITS)),
              "Hello, Bo!"));
    CHECK(has(served_ask(
                  &s, modern(2, "tools/call", GREET "\"inputResponses\":{\"other\":{}},", ELICITS)),
              "input_required"));
    served_free(&s);
}

TEST(answers_of_the_wrong_shape_are_refused) {
    served s;
    asker a;
    asking_server(&s, &a);
    CHECK(has(
        served_ask(&s, modern(1, "tools/call", GREET "\"inputResponses\":{\"name\":1},", ELICITS)),
        "-32602"));
    CHECK(has(served_ask(&s, modern(2, "tools/call", GREET "\"inputResponses\":null,", ELICITS)),
              "-32602"));
    CHECK_EQ_INT(a.calls, 0);
    served_free(&s);
}

TEST(a_state_that_was_tampered_with_is_refused) {
    served s;
    asker a;
    char state[300];
    size_t i;
    asking_server(&s, &a);
    (void)snprintf(state, sizeof state, "%s",
                   state_of(served_ask(&s, modern(1, "tools/call", GREET, ELICITS))));
    for (i = 0; i < strlen(state); i += 7) {
        char was = state[i];
        state[i] = was == '1' ? '2' : '1';
        CHECK(has(served_ask(&s, repeat(2, "name", state)), "-32602"));
        state[i] = was;
    }
    CHECK(has(served_ask(&s, repeat(3, "name", "")), "-32602"));
    CHECK(has(
        served_ask(&s, modern(4, "tools/call",
                              "\"name\":\"greet\",\"arguments\":{\"x\":1},\"inputResponses\":{},"
                              "\"requestState\":\"1.1.1.0\",",
                              ELICITS)),
        "-32602"));
    CHECK(has(served_ask(&s, repeat(5, "name", state)), "Hello, Ada!"));
    served_free(&s);
}

TEST(a_state_belongs_to_its_request_alone) {
    served s;
    asker a;
    char params[600];
    asking_server(&s, &a);
    (void)snprintf(params, sizeof params,
                   "\"name\":\"greet\",\"arguments\":{\"x\":1},\"inputResponses\":{},"
                   "\"requestState\":\"%s\",",
                   state_of(served_ask(&s, modern(1, "tools/call", GREET, ELICITS))));
    CHECK(has(served_ask(&s, modern(2, "tools/call", params, ELICITS)), "-32602"));
    served_free(&s);
}

static void pass(served *s, uint32_t ms) {
    rig_pass_ms(s->r, ms);
    (void)phi_step(rig_runtime(s->r), 0);
}

/* ms by which the deadline of a question may be early: how far steps move the clock */
#if defined(_WIN32)
enum { EARLY = 20 };
#else
enum { EARLY = 1 };
#endif

TEST(a_question_that_is_not_answered_in_time_ends) {
    int modern_era;
    for (modern_era = 0; modern_era < 2; modern_era++) {
        served s;
        asker a;
        asking_server(&s, &a);
        a.rounds = 2; /* the second question has a deadline of its own */
        if (modern_era)
            (void)served_ask(&s, modern(1, "tools/call", GREET, ELICITS));
        else {
            served_begin(&s, "2025-06-18", ELICITS);
            (void)served_ask(&s, legacy(1, "tools/call", "{\"name\":\"greet\"}"));
        }
        CHECK(has(s.line, "elicitation/create"));
        pass(&s, 1000 - EARLY);
        CHECK_EQ_INT(a.answers, 0);
        pass(&s, EARLY);
        CHECK_EQ_INT(a.answers, 1);
        CHECK_EQ_INT(a.status, PHI_TIMEOUT);
        CHECK_EQ_STR(a.message, modern_era ? "The client did not repeat its request in time"
                                           : "The client did not answer in time");
        CHECK_EQ_INT(a.ask_status, PHI_OK);
        pass(&s, 1000 - EARLY);
        CHECK_EQ_INT(a.answers, 1);
        pass(&s, EARLY);
        CHECK_EQ_INT(a.answers, 2);
        CHECK_EQ_INT(a.status, PHI_TIMEOUT);
        served_free(&s);
    }
}

TEST(questions_of_other_methods_or_of_ended_requests_are_refused) {
    static const char *const methods[] = {"ping", "sampling/createMessage", "roots/list"};
    phi_mcp_ask_desc ask;
    const char *message;
    served s;
    asker a;
    size_t i;
    asking_server(&s, &a);
    (void)served_ask(&s, modern(1, "tools/call", GREET, "{\"elicitation\":{},\"sampling\":{}}"));
    memset(&ask, 0, sizeof ask);
    for (i = 0; i < 3; i++) {
        ask.method = methods[i];
        CHECK_EQ_INT(phi_mcp_ask(a.incoming, &ask), i == 0   ? PHI_BAD_ARG
                                                    : i == 1 ? PHI_OK
                                                             : PHI_UNSUPPORTED);
        message = phi_last_error(rig_runtime(s.r)).message;
        if (i == 0)
            CHECK_EQ_STR(message, "phi_mcp_ask: method: expected elicitation/create, "
                                  "sampling/createMessage or roots/list");
    }
    CHECK_EQ_INT(phi_call_reply(a.call, "x"), PHI_OK);
    (void)served_hear(&s);
    ask.method = "elicitation/create";
    CHECK_EQ_INT(phi_mcp_ask(a.incoming, &ask), PHI_STALE);
    ask.method = NULL;
    CHECK_EQ_INT(phi_mcp_ask(a.incoming, &ask), PHI_BAD_ARG);
    served_free(&s);
}

TEST(a_question_larger_than_the_queue_is_refused) {
    static char params[40000];
    phi_mcp_server_desc desc = PHI_ZERO;
    phi_tool tool = PHI_ZERO;
    asker a = PHI_ZERO;
    served s;
    (void)snprintf(params, sizeof params, "{\"message\":\"%039000d\"}", 1);
    a.params = params;
    a.s = &s;
    tool.name = "greet";
    tool.start = asker_start;
    tool.user_data = &a;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.max_queue_bytes = 20000;
    served_open(&s, &desc);
    served_begin(&s, "2025-11-25", ELICITS);
    (void)served_ask(&s, legacy(1, "tools/call", "{\"name\":\"greet\"}"));
    CHECK_EQ_INT(a.calls, 1);
    CHECK_EQ_INT(a.ask_status, PHI_FULL);
    /* the connection goes on */
    CHECK(has(served_ask(&s, legacy(2, "ping", "{}")), "\"id\":2"));
    served_free(&s);
}

TEST(the_first_of_two_answers_may_end_the_call_or_the_server) {
    char params[900];
    served s;
    asker a;
    int freed;
    for (freed = 0; freed < 2; freed++) {
        asking_server(&s, &a);
        a.free_server = freed == 1;
        a.many = 2;
        a.keys[0] = "a";
        a.keys[1] = "b";
        (void)snprintf(params, sizeof params,
                       GREET "\"inputResponses\":{\"a\":{\"content\":{\"name\":\"Ada\"}},\"b\":{}},"
                             "\"requestState\":\"%s\",",
                       state_of(served_ask(&s, modern(1, "tools/call", GREET, ELICITS))));
        (void)served_ask(&s, modern(2, "tools/call", params, ELICITS));
        if (freed == 1) {
            CHECK(s.server == NULL);
            CHECK_EQ_INT(a.answers, 1);
        } else {
            CHECK(has(s.line, "Hello, Ada!"));
            CHECK_EQ_INT(a.answers, 2);
            CHECK(has(served_ask(&s, modern(3, "server/discover", "", "{}")), "\"id\":3"));
        }
        served_free(&s);
    }
}

TEST(the_server_may_be_freed_when_no_answer_comes) {
    int modern_era;
    for (modern_era = 0; modern_era < 2; modern_era++) {
        served s;
        asker a;
        asking_server(&s, &a);
        a.free_server = true;
        if (modern_era)
            (void)served_ask(&s, modern(1, "tools/call", GREET, ELICITS));
        else {
            served_begin(&s, "2025-06-18", ELICITS);
            (void)served_ask(&s, legacy(1, "tools/call", "{\"name\":\"greet\"}"));
        }
        pass(&s, 1000);
        CHECK_EQ_INT(a.answers, 1);
        CHECK(s.server == NULL);
        served_free(&s);
    }
}

TEST(questions_without_a_name_are_numbered) {
    served s;
    asker a;
    const char *line, *message;
    phi_memory memory;
    phi_arena arena;
    phi_json *root = NULL;
    asking_server(&s, &a);
    a.keys[0] = "2"; /* which the second question's number must not be */
    a.keys[1] = NULL;
    a.keys[2] = "2";
    a.many = 3;
    line = served_ask(&s, modern(1, "tools/call", GREET, ELICITS));
    CHECK(has(line, "\"2\":{"));
    CHECK(has(line, "\"3\":{"));
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_json_parse(&arena, phi_str_of(line), 0, &root, NULL), PHI_OK);
    CHECK_EQ_INT(phi_json_count(phi_json_path(root, "result.inputRequests")), 2);
    phi_arena_free(&arena);
    CHECK_EQ_INT(a.ask_status, PHI_BAD_ARG);
    message = phi_last_error(rig_runtime(s.r)).message;
    CHECK_EQ_STR(message, "phi_mcp_ask: key: a question of that name is open");
    served_free(&s);
}

TEST(questions_whose_parameters_are_no_object_are_refused) {
    static const char *const bad[] = {"[]", "1", "{", ""};
    size_t i;
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *message;
        served s;
        asker a;
        asking_server(&s, &a);
        a.params = bad[i];
        CHECK(has(served_ask(&s, modern(1, "tools/call", GREET, ELICITS)), "nobody to ask"));
        CHECK_EQ_INT(a.ask_status, PHI_BAD_ARG);
        message = phi_last_error(rig_runtime(s.r)).message;
        CHECK_EQ_STR(message, "phi_mcp_ask: params: expected a JSON object");
        served_free(&s);
    }
}

TEST(a_request_of_a_batch_asks_in_the_answer_of_the_batch) {
    served s;
    asker a;
    char line[1200], state[300];
    asking_server(&s, &a);
    (void)snprintf(line, sizeof line, "[%s]", modern(1, "tools/call", GREET, ELICITS));
    CHECK(has(served_ask(&s, line), "input_required"));
    CHECK_EQ_INT(s.line[0], '[');
    (void)snprintf(state, sizeof state, "%s", state_of(s.line));
    CHECK(has(served_ask(&s, repeat(2, "name", state)), "Hello, Ada!"));
    CHECK_EQ_INT(s.line[0], '{');
    served_free(&s);
}

TEST(the_server_may_be_freed_when_an_answer_comes) {
    int modern_era;
    for (modern_era = 0; modern_era < 2; modern_era++) {
        served s;
        asker a;
        asking_server(&s, &a);
        a.free_server = true;
        if (modern_era) {
            const char *line = served_ask(&s, modern(1, "tools/call", GREET, ELICITS));
            served_say(&s, repeat(2, "name", state_of(line)));
        } else {
            served_begin(&s, "2025-06-18", ELICITS);
            CHECK(has(served_ask(&s, legacy(1, "tools/call", "{\"name\":\"greet\"}")), "elicit"));
            served_say(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"
                           "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}");
        }
        CHECK_EQ_STR(served_hear(&s), "");
        CHECK_EQ_INT(a.answers, 1);
        CHECK(s.server == NULL);
        served_free(&s);
    }
}

/* A question in each era. Some answers are lost without memory; each line is tried once. Returns the
   greetings. */
static int questions(served *s) {
    const char *line = served_ask(s, modern(1, "tools/call", GREET, ELICITS));
    int greeted = 0;
    if (strstr(line, "requestState") != NULL)
        greeted += strstr(served_ask(s, repeat(2, "name", state_of(line))), "Hello, Ada!") != NULL;
    (void)served_ask(s,
                     legacy(3, "initialize",
                            "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":" ELICITS "}"));
    line = served_ask(s, legacy(4, "tools/call", "{\"name\":\"greet\"}"));
    if (strstr(line, "elicitation/create") == NULL) return greeted;
    line = strstr(line, "\"id\":");
    line = served_ask(s, line[5] == '1' ? "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":"
                                          "\"accept\",\"content\":{\"name\":\"Ada\"}}}"
                                        : "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"action\":"
                                          "\"accept\",\"content\":{\"name\":\"Ada\"}}}");
    return greeted + (strstr(line, "Hello, Ada!") != NULL);
}

TEST(every_failed_allocation_of_a_question_leaves_a_server_that_goes_on) {
    int n = 0, all = 0;
    bool tripped;
    served s;
    asker a;
    do {
        rig *r = rig_new();
        test_alloc_fail_at(n++);
        asking_server_with(&s, &a, r);
        a.without_memory = true;
        if (s.server != NULL) all += questions(&s) == 2;
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        while (s.server != NULL && served_hear(&s)[0] != '\0') continue;
        if (s.server != NULL && !phi_mcp_server_get_info(s.server).ended)
            CHECK(has(served_ask(&s, modern(77, "server/discover", "", "{}")), "\"id\":77"));
        served_free(&s);
    } while (tripped && n < 2000);
    CHECK(n > 40 && n < 2000 && all > 0);
}

TEST_MAIN(TEST_ENTRY(a_session_is_asked_by_a_request),
          TEST_ENTRY(a_session_that_answers_with_an_error_is_a_refusal),
          TEST_ENTRY(a_malformed_answer_of_a_session_ends_the_question),
          TEST_ENTRY(a_client_that_cannot_is_not_asked),
          TEST_ENTRY(a_modern_client_repeats_its_request_with_the_answer),
          TEST_ENTRY(a_second_round_has_another_state_and_the_first_one_is_void),
          TEST_ENTRY(answers_that_come_with_the_first_request_are_taken),
          TEST_ENTRY(answers_of_the_wrong_shape_are_refused),
          TEST_ENTRY(a_state_that_was_tampered_with_is_refused),
          TEST_ENTRY(a_state_belongs_to_its_request_alone),
          TEST_ENTRY(a_question_that_is_not_answered_in_time_ends),
          TEST_ENTRY(questions_of_other_methods_or_of_ended_requests_are_refused),
          TEST_ENTRY(a_question_larger_than_the_queue_is_refused),
          TEST_ENTRY(the_first_of_two_answers_may_end_the_call_or_the_server),
          TEST_ENTRY(the_server_may_be_freed_when_no_answer_comes),
          TEST_ENTRY(questions_without_a_name_are_numbered),
          TEST_ENTRY(questions_whose_parameters_are_no_object_are_refused),
          TEST_ENTRY(a_request_of_a_batch_asks_in_the_answer_of_the_batch),
          TEST_ENTRY(the_server_may_be_freed_when_an_answer_comes),
          TEST_ENTRY(every_failed_allocation_of_a_question_leaves_a_server_that_goes_on))
