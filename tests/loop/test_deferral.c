/* test_deferral.c - deferred tools: found, loaded and called, by phi's tools and by a provider's. */
#include "agent/agent_in.h"
#include "agent/one_shot_run.h"
#include "agent/snapshot.h"
#include "loop/inner_in.h"
#include "support/ask.h"
#include "support/set.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_history.h"
#include "loop/hook.h"
#include "loop/input.h"

#define ECHO_SCHEMA "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}"
#define INDEX                                                                                      \
    "More tools than those that are defined can be called. Find them by words with "               \
    "search_tools, and load one with load_tools before you call it. Their names:"

typedef struct set {
    rig *r;
    phi_tool tools[3];
    phi_agent_desc desc;
    phi_agent agent;
} set;

static phi_tool tool_of(const char *name, const char *description) {
    phi_tool tool = rig_echo();
    tool.name = name;
    tool.description = description;
    tool.schema = ECHO_SCHEMA;
    return tool;
}

/* look, and the deferred echo and sum. */
static void set_fill(set *s) {
    memset(s, 0, sizeof *s);
    s->tools[0] = tool_of("look", "Looks around");
    s->tools[1] = tool_of("echo", "Says it again");
    s->tools[2] = tool_of("sum", "Adds numbers to an invoice");
    s->tools[1].deferred = s->tools[2].deferred = true;
    s->desc = rig_desc();
    s->desc.system_prompt = "Be brief.";
    s->desc.tools = s->tools;
    s->desc.tool_count = 3;
    s->desc.cache.mode = PHI_CACHE_MANUAL;
}

static void set_begin(set *s) {
    set_fill(s);
    s->r = rig_new();
    s->agent = rig_agent(s->r, &s->desc);
}

static bool sent(const set *s, size_t request, const char *text) {
    const char *body = rig_request(s->r, request);
    return CHECK(body != NULL) && strstr(body, text) != NULL;
}

static phi_str result_at(const set *s, size_t message) {
    return phi_thread_message_at(phi_agent_thread(s->agent), message)->content[0].text;
}

#define DEFINED(name) "{\"name\":\"" name "\",\"description\":"

TEST(a_model_searches_loads_and_calls_a_deferred_tool) {
    set s;
    set_begin(&s);
    rig_call(s.r, "c1", "search_tools", "{\"query\":\"say again, please\"}");
    rig_call(s.r, "c2", "load_tools", "{\"names\":[\"echo\"]}");
    rig_call(s.r, "c3", "echo", "{\"n\":1}");
    rig_says(s.r, "done");
    ask(s.r, s.agent, "go");
    CHECK_EQ_INT((int)rig_requests(s.r), 4);
    CHECK(sent(&s, 0, "\"text\":\"Be brief.\\n\\n" INDEX " echo, sum\""));
    CHECK(sent(&s, 0, "\"tools\":[" DEFINED("look")));
    CHECK(sent(&s, 0, DEFINED("search_tools")));
    CHECK(sent(&s, 0, DEFINED("load_tools")));
    CHECK(!sent(&s, 0, DEFINED("echo")));
    CHECK(!sent(&s, 1, DEFINED("echo")));
    CHECK(!sent(&s, 2, DEFINED("sum")));
    CHECK(sent(&s, 2,
               "}}," DEFINED("echo") "\"Says it again\",\"input_schema\":" ECHO_SCHEMA
                                     "}],\"messages\":["));
    CHECK(sent(&s, 3, DEFINED("echo")));
    CHECK(sent(&s, 3, INDEX " echo, sum\""));
    CHECK_STR(result_at(&s, 2), "echo: Says it again");
    CHECK_STR(result_at(&s, 4), "echo: loaded.");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(s.agent), 4)->details,
              "{\"loaded\":[\"echo\"]}");
    CHECK_STR(result_at(&s, 6), "{\"n\":1}");
    CHECK_STR(result_at(&s, 7), "done");
    rig_free(s.r);
}

TEST(what_was_loaded_stays_loaded_in_the_order_of_loading) {
    set s;
    set_begin(&s);
    rig_call(s.r, "c1", "load_tools", "{\"names\":[\"sum\"]}");
    rig_says(s.r, "one");
    ask(s.r, s.agent, "go");
    rig_call(s.r, "c2", "load_tools", "{\"names\":[\"echo\",\"sum\",\"look\",\"none\"]}");
    rig_says(s.r, "two");
    ask(s.r, s.agent, "go on");
    CHECK(sent(&s, 3,
               "," DEFINED("sum") "\"Adds numbers to an invoice\",\"input_schema\":" ECHO_SCHEMA
                                  "}," DEFINED("echo")));
    CHECK_STR(result_at(&s, 6),
              "echo, sum, look: loaded. Not found: none. Find names with search_tools.");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(s.agent), 6)->details,
              "{\"loaded\":[\"echo\",\"sum\"]}");
    CHECK(!phi_thread_message_at(phi_agent_thread(s.agent), 6)->is_error);
    rig_free(s.r);
}

TEST(a_call_of_a_tool_that_is_not_loaded_says_how_to_load_it) {
    set s;
    set_begin(&s);
    rig_call(s.r, "c1", "echo", "{}");
    rig_says(s.r, "I see");
    ask(s.r, s.agent, "go");
    CHECK(phi_thread_message_at(phi_agent_thread(s.agent), 2)->is_error);
    CHECK_STR(result_at(&s, 2), "Tool echo is not loaded: load it by load_tools, then call it");
    rig_free(s.r);
}

static void answers(const char *call, const char *want, bool is_error) {
    set s;
    set_begin(&s);
    rig_calls(s.r, &call, 1);
    rig_says(s.r, "done");
    ask(s.r, s.agent, "go");
    CHECK_STR(result_at(&s, 2), want);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(s.agent), 2)->is_error, is_error);
    rig_free(s.r);
}

TEST(searches_and_loads_answer_what_makes_no_sense) {
    answers("c1 search_tools {\"query\":\"zebra\"}", "No tool has any of these words.", false);
    answers("c1 search_tools {\"query\":\" ,;\"}", "Invalid arguments: query: expected words",
            true);
    answers("c1 search_tools {\"query\":7}", "Invalid arguments: query: expected words", true);
    answers("c1 load_tools {\"names\":[]}", "Invalid arguments: names: expected 1 to 32 names",
            true);
    answers("c1 load_tools {\"names\":\"echo\"}",
            "Invalid arguments: names: expected 1 to 32 names", true);
    answers("c1 load_tools {\"names\":[7,\"nothing\"]}",
            "Not found: nothing. Find names with search_tools.", true);
    answers("c1 search_tools {\"query\":\"look\"}", "No tool has any of these words.", false);
    answers("c1 search_tools {\"query\":\"numbers echo\"}",
            "echo: Says it again\nsum: Adds numbers to an invoice", false);
}

TEST(a_search_reads_the_best_ten_of_five_hundred_tools) {
    static phi_tool tools[500];
    static char names[500][24];
    set s;
    size_t i;
    set_fill(&s);
    for (i = 0; i < 500; i++) {
        (void)snprintf(names[i], sizeof names[i], "%s_%03u", i % 50 == 7 ? "order" : "thing",
                       (unsigned)i);
        tools[i] = tool_of(names[i], i == 499 ? "Cancels an ORDER" : "Does a thing");
        tools[i].deferred = true;
    }
    s.desc.tools = tools;
    s.desc.tool_count = 500;
    s.r = rig_new();
    s.agent = rig_agent(s.r, &s.desc);
    rig_call(s.r, "c1", "search_tools", "{\"query\":\"order\"}");
    rig_says(s.r, "done");
    ask(s.r, s.agent, "go");
    CHECK_STR(result_at(&s, 2),
              "order_007: Does a thing\norder_057: Does a thing\norder_107: Does a thing\n"
              "order_157: Does a thing\norder_207: Does a thing\norder_257: Does a thing\n"
              "order_307: Does a thing\norder_357: Does a thing\norder_407: Does a thing\n"
              "order_457: Does a thing");
    CHECK(sent(&s, 0, "Their names: thing_000, thing_001"));
    CHECK(sent(&s, 0, "thing_499\""));
    CHECK(strlen(rig_request(s.r, 0)) < 9000);
    rig_free(s.r);
}

TEST(a_long_index_of_names_ends_with_a_count) {
    static phi_tool tools[500];
    static char names[500][64];
    set s;
    size_t i;
    set_fill(&s);
    for (i = 0; i < 500; i++) {
        (void)snprintf(names[i], sizeof names[i], "%050u", (unsigned)i);
        tools[i] = tool_of(names[i], "Does a thing");
        tools[i].deferred = true;
    }
    s.desc.tools = tools;
    s.desc.tool_count = 500;
    s.r = rig_new();
    s.agent = rig_agent(s.r, &s.desc);
    rig_says(s.r, "done");
    ask(s.r, s.agent, "go");
    CHECK(sent(&s, 0, "156 and 343 more\""));
    rig_free(s.r);
}

/* ---- which tools ---- */

TEST(tools_that_may_be_deferred_are_above_a_part_of_the_window) {
    uint32_t percent[] = {0, 9, 30, PHI_UNLIMITED};
    size_t i;
    for (i = 0; i < 4; i++) {
        set s;
        set_fill(&s);
        s.tools[1].deferred = s.tools[2].deferred = false;
        s.tools[1].may_defer = s.tools[2].may_defer = true;
        s.desc.model.context_window = 200; /* the two have 43 tokens */
        s.desc.tool_options.defer_percent = percent[i];
        s.r = rig_new();
        s.agent = rig_agent(s.r, &s.desc);
        rig_says(s.r, "done");
        ask(s.r, s.agent, "go");
        CHECK_EQ_INT(sent(&s, 0, DEFINED("echo")), i >= 2);
        CHECK_EQ_INT(sent(&s, 0, INDEX), i < 2);
        rig_free(s.r);
    }
}

TEST(names_of_phis_tools_are_refused_beside_deferred_ones) {
    static const char *const names[] = {"search_tools", "load_tools"};
    size_t i;
    for (i = 0; i < 2; i++) {
        const char *words = "";
        char want[120];
        set s;
        set_fill(&s);
        s.tools[0].name = names[i];
        s.r = rig_new();
        s.agent = rig_agent(s.r, &s.desc);
        CHECK(s.agent.rt == NULL);
        (void)snprintf(
            want, sizeof want,
            "tool \"%s\": the name is that of a tool of phi, which loads the deferred ones",
            names[i]);
        words = phi_last_error(rig_runtime(s.r)).message;
        CHECK_EQ_INT(phi_last_error(rig_runtime(s.r)).status, PHI_BAD_ARG);
        CHECK(strstr(words, want) != NULL);
        s.tools[1].deferred = s.tools[2].deferred = false;
        s.agent = rig_agent(s.r, &s.desc);
        CHECK(s.agent.rt != NULL);
        rig_free(s.r);
    }
}

TEST(a_tool_with_a_name_of_phis_keeps_others_from_being_deferred_by_their_number) {
    set s;
    set_fill(&s);
    s.tools[0].name = "load_tools";
    s.tools[1].deferred = s.tools[2].deferred = false;
    s.tools[1].may_defer = s.tools[2].may_defer = true;
    s.desc.model.context_window = 100;
    s.r = rig_new();
    s.agent = rig_agent(s.r, &s.desc);
    rig_call(s.r, "c1", "load_tools", "{\"n\":3}");
    rig_says(s.r, "done");
    ask(s.r, s.agent, "go");
    CHECK(sent(&s, 0, DEFINED("echo")));
    CHECK(!sent(&s, 0, INDEX));
    CHECK_STR(result_at(&s, 2), "{\"n\":3}");
    rig_free(s.r);
}

TEST(a_list_that_changes_keeps_what_is_loaded_and_is_still_there) {
    set s;
    set_begin(&s);
    rig_call(s.r, "c1", "load_tools", "{\"names\":[\"sum\",\"echo\"]}");
    rig_says(s.r, "one");
    ask(s.r, s.agent, "go");
    CHECK_EQ_INT(set_tools(s.agent, s.tools, 2), PHI_OK);
    rig_call(s.r, "c2", "sum", "{}");
    rig_says(s.r, "two");
    ask(s.r, s.agent, "go on");
    CHECK(sent(&s, 2, INDEX " echo\""));
    CHECK(!sent(&s, 2, DEFINED("sum")));
    CHECK(sent(&s, 2, DEFINED("echo")));
    CHECK_STR(result_at(&s, 6), "Tool sum not found");
    s.tools[1].deferred = s.tools[2].deferred = false;
    CHECK_EQ_INT(set_tools(s.agent, s.tools, 3), PHI_OK);
    rig_says(s.r, "three");
    ask(s.r, s.agent, "go on");
    CHECK(!sent(&s, 4, INDEX));
    CHECK(!sent(&s, 4, DEFINED("load_tools")));
    CHECK(sent(&s, 4, DEFINED("sum")));
    rig_free(s.r);
}

/* ---- what outlives what ---- */

TEST(what_was_loaded_outlives_a_snapshot) {
    set s;
    rig *other = rig_new();
    phi_arena arena;
    phi_memory memory;
    phi_allocator allocator = test_allocator();
    phi_str text;
    set_begin(&s);
    rig_call(s.r, "c1", "load_tools", "{\"names\":[\"sum\"]}");
    rig_says(s.r, "one");
    ask(s.r, s.agent, "go");
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    REQUIRE(phi_agent_snapshot(s.agent, &arena, &text) == PHI_OK);
    CHECK(strstr(text.at, "\"loaded_tools\":[\"sum\"]") != NULL);
    rig_free(s.r);
    s.r = other;
    s.agent = phi_agent_restore(rig_runtime(other), &s.desc, text, PHI_RESTORE_RESUME);
    phi_arena_free(&arena);
    rig_call(other, "c2", "sum", "{\"n\":2}");
    rig_says(other, "two");
    ask(other, s.agent, "go on");
    CHECK(sent(&s, 0, DEFINED("sum")));
    CHECK_STR(result_at(&s, 6), "{\"n\":2}");
    rig_free(other);
}

TEST(what_was_loaded_outlives_a_compaction) {
    set s;
    int i;
    set_fill(&s);
    s.desc.compaction.max_context_tokens = 4000;
    s.desc.compaction.keep_first_turns = 1;
    s.desc.compaction.keep_recent_turns = 1;
    s.r = rig_new();
    s.agent = rig_agent(s.r, &s.desc);
    rig_says(s.r, "zero");
    ask(s.r, s.agent, "begin");
    rig_call(s.r, "c1", "load_tools", "{\"names\":[\"sum\"]}");
    rig_says(s.r, "one");
    ask(s.r, s.agent, "go");
    for (i = 0; i < 4; i++) {
        rig_says(s.r, "more");
        ask(s.r, s.agent, "again");
    }
    CHECK_EQ_INT(phi_compact(s.agent), PHI_OK);
    (void)rig_run(s.r, 20);
    rig_says(s.r, "two");
    ask(s.r, s.agent, "go on");
    i = (int)rig_requests(s.r) - 1;
    CHECK(sent(&s, (size_t)i, DEFINED("sum")));
    CHECK(!sent(&s, (size_t)i, "\"name\":\"load_tools\",\"input\""));
    rig_free(s.r);
}

TEST(a_fork_has_loaded_what_its_messages_say) {
    set s;
    phi_thread *fork;
    phi_run_desc run;
    phi_content content;
    phi_message prompt;
    set_begin(&s);
    rig_call(s.r, "c1", "load_tools", "{\"names\":[\"sum\"]}");
    rig_says(s.r, "one");
    ask(s.r, s.agent, "go");
    fork = phi_thread_fork(phi_agent_thread(s.agent), UINT64_MAX);
    REQUIRE(fork != NULL);
    rig_says(s.r, "two");
    memset(&run, 0, sizeof run);
    memset(&content, 0, sizeof content);
    memset(&prompt, 0, sizeof prompt);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of("go on");
    prompt.role = PHI_ROLE_USER;
    prompt.content = &content;
    prompt.content_count = 1;
    run.agent = &s.desc;
    run.thread = fork;
    run.prompts = &prompt;
    run.prompt_count = 1;
    CHECK(phi_run(rig_runtime(s.r), &run).rt != NULL);
    CHECK_EQ_INT(rig_run(s.r, 20), 0);
    CHECK(sent(&s, 2, DEFINED("sum")));
    phi_thread_free(fork);
    rig_free(s.r);
}

TEST(a_new_session_has_loaded_nothing) {
    set s;
    set_begin(&s);
    rig_call(s.r, "c1", "load_tools", "{\"names\":[\"sum\"]}");
    rig_says(s.r, "one");
    ask(s.r, s.agent, "go");
    CHECK_EQ_INT(phi_agent_replace_messages(s.agent, NULL, 0), PHI_OK);
    rig_says(s.r, "two");
    ask(s.r, s.agent, "go on");
    CHECK(!sent(&s, 2, DEFINED("sum")));
    rig_free(s.r);
}

TEST(deferred_tools_survive_every_failed_allocation) {
    int n = 0;
    do {
        set s;
        set_fill(&s);
        test_alloc_fail_at(n);
        s.r = rig_new_with(NULL);
        if (s.r != NULL) {
            s.agent = rig_agent(s.r, &s.desc);
            rig_call(s.r, "c1", "search_tools", "{\"query\":\"numbers\"}");
            rig_call(s.r, "c2", "load_tools", "{\"names\":[\"sum\"]}");
            rig_call(s.r, "c3", "sum", "{\"n\":1}");
            rig_says(s.r, "done");
            if (s.agent.rt != NULL) (void)phi_prompt(s.agent, "go");
            CHECK_EQ_INT(rig_run(s.r, 80), 0);
            rig_free(s.r);
        }
        CHECK_EQ_INT((int)test_alloc_live_bytes(), 0);
    } while (test_alloc_tripped() && n++ < 5000);
    test_alloc_fail_at(-1);
    CHECK(n > 50);
}

/* ---- attacks ---- */

TEST(names_that_are_loaded_twice_or_are_none_do_no_harm) {
    static char many[400], huge[800];
    size_t i, n = 0;
    answers("c1 load_tools {\"names\":[\"echo\",\"echo\"]}", "echo, echo: loaded.", false);
    answers("c1 load_tools {\"names\":[\"\",null,{},[],\"Echo\",\"echo \"]}",
            "Not found: Echo, echo . Find names with search_tools.", true);
    answers("c1 load_tools {\"names\":[\"load_tools\",\"echo\"]}",
            "echo: loaded. Not found: load_tools. Find names with search_tools.", false);
    answers("c1 load_tools {}", "Invalid arguments: names: expected 1 to 32 names", true);
    n = (size_t)snprintf(many, sizeof many, "c1 load_tools {\"names\":[");
    for (i = 0; i < 33; i++)
        n += (size_t)snprintf(many + n, sizeof many - n, "%s\"echo\"", i > 0 ? "," : "");
    (void)snprintf(many + n, sizeof many - n, "]}");
    answers(many, "Invalid arguments: names: expected 1 to 32 names", true);
    n = (size_t)snprintf(huge, sizeof huge, "c1 load_tools {\"names\":[\"");
    memset(huge + n, 'x', 600);
    (void)snprintf(huge + n + 600, sizeof huge - n - 600, "\"]}");
    answers(
        huge,
        "Not found: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx. Find names with search_tools.",
        true);
}

TEST(a_snapshot_that_names_tools_twice_or_not_at_all_defines_each_once) {
    set s;
    phi_arena arena;
    phi_memory memory;
    phi_allocator allocator = test_allocator();
    phi_str text;
    phi__buf changed;
    size_t at;
    set_begin(&s);
    rig_call(s.r, "c1", "load_tools", "{\"names\":[\"sum\"]}");
    rig_says(s.r, "one");
    ask(s.r, s.agent, "go");
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    phi__buf_init(&changed, &memory);
    REQUIRE(phi_agent_snapshot(s.agent, &arena, &text) == PHI_OK);
    at = phi__str_find(text, 0, "\"loaded_tools\":[");
    REQUIRE(at != SIZE_MAX);
    at += strlen("\"loaded_tools\":[");
    phi__buf_add(&changed, text.at, at);
    phi__buf_text(&changed, "\"sum\",7,\"gone\",\"\",\"sum\",\"look\",");
    phi__buf_add(&changed, text.at + at, text.len - at);
    phi_agent_free(s.agent);
    s.agent =
        phi_agent_restore(rig_runtime(s.r), &s.desc, phi__buf_str(&changed), PHI_RESTORE_RESUME);
    phi__buf_free(&changed);
    phi_arena_free(&arena);
    rig_says(s.r, "two");
    ask(s.r, s.agent, "go on");
    CHECK(sent(&s, 2,
               "}}," DEFINED("sum") "\"Adds numbers to an invoice\",\"input_schema\":" ECHO_SCHEMA
                                    "}],\"messages\":["));
    CHECK(sent(&s, 2, "\"tools\":[" DEFINED("look")));
    rig_free(s.r);
}

TEST(thousands_of_deferred_tools_are_searched_in_steps_and_loaded) {
    enum { TOOLS = 4000 };
    static phi_tool tools[TOOLS];
    static char names[TOOLS][24];
    set s;
    size_t i;
    set_fill(&s);
    for (i = 0; i < TOOLS; i++) {
        (void)snprintf(names[i], sizeof names[i], "thing_%04u", (unsigned)i);
        tools[i] = tool_of(names[i], i == TOOLS - 1 ? "Cancels an order" : "Does a thing");
        tools[i].deferred = true;
    }
    s.desc.tools = tools;
    s.desc.tool_count = TOOLS;
    s.r = rig_new();
    s.agent = rig_agent(s.r, &s.desc);
    rig_call(s.r, "c1", "search_tools", "{\"query\":\"order nowhere\"}");
    rig_call(s.r, "c2", "load_tools", "{\"names\":[\"thing_3999\"]}");
    rig_call(s.r, "c3", "thing_3999", "{\"n\":1}");
    rig_says(s.r, "done");
    CHECK_EQ_INT(phi_prompt(s.agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 2000), 0);
    CHECK_STR(result_at(&s, 2), "thing_3999: Cancels an order");
    CHECK_STR(result_at(&s, 6), "{\"n\":1}");
    CHECK(sent(&s, 3, DEFINED("thing_3999")));
    CHECK(strlen(rig_request(s.r, 3)) < 12000);
    rig_free(s.r);
}

TEST(an_agent_loads_a_thousand_and_twenty_four_tools_at_most) {
    enum { TOOLS = 1056, CALLS = TOOLS / 32 };
    static phi_tool tools[TOOLS];
    static char names[TOOLS][24], list[32 * 24 + 32];
    char id[16];
    set s;
    size_t i, j, n;
    set_fill(&s);
    for (i = 0; i < TOOLS; i++) {
        (void)snprintf(names[i], sizeof names[i], "thing_%04u", (unsigned)i);
        tools[i] = tool_of(names[i], "Does a thing");
        tools[i].deferred = true;
    }
    s.desc.tools = tools;
    s.desc.tool_count = TOOLS;
    s.r = rig_new();
    s.agent = rig_agent(s.r, &s.desc);
    for (i = 0; i < CALLS; i++) {
        n = (size_t)snprintf(list, sizeof list, "{\"names\":[");
        for (j = 0; j < 32; j++)
            n += (size_t)snprintf(list + n, sizeof list - n, "%s\"%s\"", j > 0 ? "," : "",
                                  names[i * 32 + j]);
        (void)snprintf(list + n, sizeof list - n, "]}");
        (void)snprintf(id, sizeof id, "c%u", (unsigned)i);
        rig_call(s.r, id, "load_tools", list);
    }
    rig_says(s.r, "done");
    CHECK_EQ_INT(phi_prompt(s.agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 2000), 0);
    CHECK_STR(result_at(&s, 2 * CALLS), "No more than 1024 tools can be loaded.");
    CHECK(sent(&s, CALLS, DEFINED("thing_1023")));
    CHECK(!sent(&s, CALLS, DEFINED("thing_1024")));
    rig_free(s.r);
}

/* ---- by the provider ---- */

#define SEARCHED                                                                                   \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":"  \
    "\"message\",\"role\":\"assistant\",\"model\":\"claude-opus-4-5\",\"content\":[],\"usage\":{"  \
    "\"input_tokens\":9,\"output_tokens\":1}}}\n\n"                                                \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"             \
    "\"content_block\":{\"type\":\"server_tool_use\",\"id\":\"srvtoolu_1\",\"name\":"              \
    "\"tool_search_tool_bm25\",\"input\":{}}}\n\n"                                                 \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{"  \
    "\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"query\\\":\\\"invoice\\\"}\"}}\n\n"     \
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"           \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,"             \
    "\"content_block\":{\"type\":\"tool_search_tool_result\",\"tool_use_id\":\"srvtoolu_1\","      \
    "\"content\":{\"type\":\"tool_search_tool_search_result\",\"tool_references\":[{\"type\":"     \
    "\"tool_reference\",\"tool_name\":\"sum\"}]}}}\n\n"                                            \
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n"           \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,"             \
    "\"content_block\":{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"sum\",\"input\":{}}}\n\n"   \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{"  \
    "\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"n\\\":5}\"}}\n\n"                       \
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\n"           \
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"          \
    "\"tool_use\"},\"usage\":{\"output_tokens\":5}}\n\n"                                           \
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"

static void claude_begin(set *s) {
    set_fill(s);
    s->desc.model = phi_model_anthropic("claude-opus-4-5", "k");
    s->r = rig_new();
    s->agent = rig_agent(s->r, &s->desc);
}

#define FINDER "{\"type\":\"tool_search_tool_bm25_20251119\",\"name\":\"tool_search_tool_bm25\"}"
#define LATE(name, words)                                                                          \
    DEFINED(name) "\"" words "\",\"input_schema\":" ECHO_SCHEMA ",\"defer_loading\":true}"

TEST(claude_finds_deferred_tools_by_itself) {
    set s;
    claude_begin(&s);
    rig_replies(s.r, 200, SSE, SEARCHED);
    rig_says(s.r, "done");
    ask(s.r, s.agent, "go");
    CHECK(sent(&s, 0,
               "\"tools\":[" FINDER
               "," DEFINED("look") "\"Looks around\",\"input_schema\":" ECHO_SCHEMA "}," LATE(
                   "echo", "Says it again") "," LATE("sum", "Adds numbers to an invoice") "]"));
    CHECK(!sent(&s, 0, INDEX));
    CHECK(sent(&s, 1, "\"tool_references\":[{\"type\":\"tool_reference\",\"tool_name\":\"sum\"}]"));
    CHECK_STR(result_at(&s, 2), "{\"n\":5}");
    rig_free(s.r);
}

TEST(a_tool_that_claude_found_stays_when_it_is_gone) {
    set s;
    claude_begin(&s);
    rig_replies(s.r, 200, SSE, SEARCHED);
    rig_says(s.r, "done");
    ask(s.r, s.agent, "go");
    CHECK_EQ_INT(set_tools(s.agent, s.tools, 1), PHI_OK);
    rig_call(s.r, "c2", "sum", "{}");
    rig_says(s.r, "done");
    ask(s.r, s.agent, "go on");
    CHECK(sent(&s, 2, "\"tools\":[" FINDER "," DEFINED("look")));
    CHECK(sent(&s, 2,
               DEFINED("sum") "\"This tool is gone.\",\"input_schema\":{\"type\":\"object\"},"
                              "\"defer_loading\":true}]"));
    CHECK_STR(result_at(&s, 6), "Tool sum not found");
    rig_free(s.r);
}

TEST(a_tool_that_claude_found_stays_deferred_whatever_the_host_says_later) {
    set s;
    claude_begin(&s);
    rig_replies(s.r, 200, SSE, SEARCHED);
    rig_says(s.r, "done");
    ask(s.r, s.agent, "go");
    s.tools[1].deferred = s.tools[2].deferred = false;
    CHECK_EQ_INT(set_tools(s.agent, s.tools, 3), PHI_OK);
    rig_says(s.r, "done");
    ask(s.r, s.agent, "go on");
    CHECK(sent(&s, 2, "\"tools\":[" FINDER ","));
    CHECK(sent(&s, 2, DEFINED("echo") "\"Says it again\",\"input_schema\":" ECHO_SCHEMA "}"));
    CHECK(sent(&s, 2, LATE("sum", "Adds numbers to an invoice")));
    CHECK_EQ_INT(phi_agent_replace_messages(s.agent, NULL, 0), PHI_OK);
    rig_says(s.r, "done");
    ask(s.r, s.agent, "begin anew");
    CHECK(!sent(&s, 3, "defer_loading"));
    CHECK(!sent(&s, 3, FINDER));
    rig_free(s.r);
}

TEST(a_provider_that_searches_survives_every_failed_allocation) {
    int n = 0;
    do {
        set s;
        set_fill(&s);
        s.desc.model = phi_model_anthropic("claude-opus-4-5", "k");
        test_alloc_fail_at(n);
        s.r = rig_new_with(NULL);
        if (s.r != NULL) {
            s.agent = rig_agent(s.r, &s.desc);
            rig_replies(s.r, 200, SSE, SEARCHED);
            rig_says(s.r, "done");
            if (s.agent.rt != NULL) (void)phi_prompt(s.agent, "go");
            CHECK_EQ_INT(rig_run(s.r, 80), 0);
            s.tools[1].deferred = s.tools[2].deferred = false;
            if (s.agent.rt != NULL) (void)set_tools(s.agent, s.tools, 3);
            rig_says(s.r, "done");
            if (s.agent.rt != NULL) (void)phi_prompt(s.agent, "go on");
            CHECK_EQ_INT(rig_run(s.r, 80), 0);
            rig_free(s.r);
        }
        CHECK_EQ_INT((int)test_alloc_live_bytes(), 0);
    } while (test_alloc_tripped() && n++ < 5000);
    test_alloc_fail_at(-1);
    CHECK(n > 50);
}

TEST(a_deferred_tool_takes_no_cache_mark) {
    set s;
    set_fill(&s);
    s.desc.cache.mode = PHI_CACHE_AUTO;
    s.desc.model = phi_model_anthropic("claude-opus-4-5", "k");
    s.r = rig_new();
    s.agent = rig_agent(s.r, &s.desc);
    rig_says(s.r, "done");
    ask(s.r, s.agent, "go");
    CHECK(sent(&s, 0, "\"Looks around\",\"input_schema\":" ECHO_SCHEMA ",\"cache_control\":{"));
    CHECK(sent(&s, 0, LATE("sum", "Adds numbers to an invoice") "]"));
    rig_free(s.r);
}

TEST(what_phi_loaded_before_is_defined_for_claude_too) {
    set s;
    set_begin(&s);
    rig_call(s.r, "c1", "load_tools", "{\"names\":[\"sum\"]}");
    rig_says(s.r, "one");
    ask(s.r, s.agent, "go");
    s.desc.model = phi_model_anthropic("claude-opus-4-5", "k");
    CHECK_EQ_INT(set_model(s.agent, &s.desc.model), PHI_OK);
    rig_says(s.r, "two");
    ask(s.r, s.agent, "go on");
    CHECK(sent(&s, 2, LATE("echo", "Says it again")));
    CHECK(sent(&s, 2,
               DEFINED("sum") "\"Adds numbers to an invoice\",\"input_schema\":" ECHO_SCHEMA "}"));
    rig_free(s.r);
}

TEST_MAIN(TEST_ENTRY(a_model_searches_loads_and_calls_a_deferred_tool),
          TEST_ENTRY(what_was_loaded_stays_loaded_in_the_order_of_loading),
          TEST_ENTRY(a_call_of_a_tool_that_is_not_loaded_says_how_to_load_it),
          TEST_ENTRY(searches_and_loads_answer_what_makes_no_sense),
          TEST_ENTRY(a_search_reads_the_best_ten_of_five_hundred_tools),
          TEST_ENTRY(a_long_index_of_names_ends_with_a_count),
          TEST_ENTRY(tools_that_may_be_deferred_are_above_a_part_of_the_window),
          TEST_ENTRY(names_of_phis_tools_are_refused_beside_deferred_ones),
          TEST_ENTRY(a_tool_with_a_name_of_phis_keeps_others_from_being_deferred_by_their_number),
          TEST_ENTRY(a_list_that_changes_keeps_what_is_loaded_and_is_still_there),
          TEST_ENTRY(what_was_loaded_outlives_a_snapshot),
          TEST_ENTRY(what_was_loaded_outlives_a_compaction),
          TEST_ENTRY(a_fork_has_loaded_what_its_messages_say),
          TEST_ENTRY(a_new_session_has_loaded_nothing),
          TEST_ENTRY(deferred_tools_survive_every_failed_allocation),
          TEST_ENTRY(claude_finds_deferred_tools_by_itself),
          TEST_ENTRY(a_tool_that_claude_found_stays_when_it_is_gone),
          TEST_ENTRY(names_that_are_loaded_twice_or_are_none_do_no_harm),
          TEST_ENTRY(a_snapshot_that_names_tools_twice_or_not_at_all_defines_each_once),
          TEST_ENTRY(thousands_of_deferred_tools_are_searched_in_steps_and_loaded),
          TEST_ENTRY(an_agent_loads_a_thousand_and_twenty_four_tools_at_most),
          TEST_ENTRY(a_tool_that_claude_found_stays_deferred_whatever_the_host_says_later),
          TEST_ENTRY(a_provider_that_searches_survives_every_failed_allocation),
          TEST_ENTRY(a_deferred_tool_takes_no_cache_mark),
          TEST_ENTRY(what_phi_loaded_before_is_defined_for_claude_too))
