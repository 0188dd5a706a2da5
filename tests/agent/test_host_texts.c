/* test_host_texts.c - what phi says to a model in the words of the host. */
#include "support/text_name.h"
#include "agent/snapshot.h"
#include "agent/summary.h"
#include "orchestrate/evaluate.h"
#include "features/facts.h"
#include "orchestrate/strategy.h"
#include "orchestrate/tot.h"
#include "orchestrate/subagents.h"
#include "support/context_tools.h"
#include "support/rig.h"
#include "tools/context_tools.h"
#include "agent/agent_history.h"
#include "agent/runtime.h"
#include "log/compact.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "model/event.h"
#include "model/texts.h"
#include "log/thread_in.h"

typedef struct world {
    rig *r;
    phi_texts texts;
    phi_agent_desc desc;
    phi_tool tools[8];
    phi_agent agent;
} world;

/* Each text is its name in angle brackets, and its holes. */
static phi_texts named(void) {
    static char room[PHI_TEXT_COUNT][80];
    phi_texts texts;
    int i;
    for (i = 0; i < (int)PHI_TEXT_COUNT; i++) {
        const char *own = phi_text_default((phi_text)i, NULL);
        (void)snprintf(room[i], sizeof room[i], "<%s%s%s%s%s>", text_name((phi_text)i),
                       strstr(own, "{n}") != NULL ? " {n}" : "",
                       strstr(own, "{name}") != NULL ? " {name}" : "",
                       strstr(own, "{most}") != NULL ? " {most}" : "",
                       strstr(own, "{text}") != NULL ? " {text}" : "");
        texts.at[i] = room[i];
    }
    return texts;
}

static void begin(world *w) {
    memset(w, 0, sizeof *w);
    w->r = rig_new();
    w->texts = named();
    w->desc = rig_desc();
    w->desc.texts = &w->texts;
    w->desc.tools = w->tools;
    w->tools[w->desc.tool_count++] = rig_echo();
}

static void make(world *w) {
    w->agent = rig_agent(w->r, &w->desc);
    memset(&w->texts, 0, sizeof w->texts); /* they were copied */
}

static void ask(world *w, const char *text) {
    CHECK_EQ_INT(phi_prompt(w->agent, text), PHI_OK);
    CHECK_EQ_INT(rig_run(w->r, 200), 0);
}

static void has(const char *text, const char *what) {
    if (!CHECK(text != NULL && strstr(text, what) != NULL))
        printf("no %s\nin\n%s\n", what, text != NULL ? text : "nothing");
}

static const char *last(world *w) { return rig_request(w->r, rig_requests(w->r) - 1); }

/* ---- facts, instructions ---- */

TEST(facts_are_told_in_the_hosts_words) {
    world w;
    begin(&w);
    make(&w);
    CHECK_EQ_INT(phi_fact_set(phi_fact_agent(w.agent), "sun", phi_str_of("up"), NULL), PHI_OK);
    rig_says(w.r, "Yes.");
    ask(&w, "Well?");
    has(last(&w), "<facts>\\nsun");
    CHECK_EQ_INT(phi_fact_set(phi_fact_agent(w.agent), "moon", phi_str_of("down"), NULL), PHI_OK);
    CHECK_EQ_INT(phi_fact_set(phi_fact_agent(w.agent), "sun", phi_str_of(NULL), NULL), PHI_OK);
    rig_says(w.r, "Yes.");
    ask(&w, "Well?");
    has(last(&w), "<facts_changed>\\nmoon");
    has(last(&w), "\\n<facts_gone>\\nsun");
    rig_free(w.r);
}

TEST(facts_that_are_left_out_are_counted_in_the_hosts_words) {
    world w;
    char value[4000];
    int i;
    begin(&w);
    make(&w);
    memset(value, 'x', sizeof value);
    for (i = 0; i < 20; i++) {
        char name[8], key[8];
        (void)snprintf(name, sizeof name, "g%d", i / 4);
        (void)snprintf(key, sizeof key, "k%d", i);
        CHECK_EQ_INT(phi_fact_join(w.agent, name, true), PHI_OK);
        CHECK_EQ_INT(phi_fact_set(phi_fact_group(w.agent.rt, name), key,
                                  phi__str(value, sizeof value), NULL),
                     PHI_OK);
    }
    rig_says(w.r, "Yes.");
    ask(&w, "Well?");
    has(last(&w), "\\n<facts_left_out ");
    CHECK(strstr(last(&w), "left out]") == NULL);
    rig_free(w.r);
}

/* ---- summaries and markers ---- */

static void talk(world *w, int from, int to) {
    for (; from < to; from++) {
        char text[80];
        (void)snprintf(text, sizeof text, "Answer %d, of some length, so that it counts a bit.",
                       from);
        rig_says(w->r, text);
        (void)snprintf(text, sizeof text, "Question %d, of some length, so that it counts.", from);
        ask(w, text);
    }
}

TEST(a_plan_writes_its_lines_in_the_hosts_words_and_takes_them_over) {
    world w;
    const char *body, *at;
    begin(&w);
    w.desc.compaction.scope_runs = PHI_COMPACTION_NO_RUNS;
    w.desc.compaction.max_summary_tokens = 60;
    make(&w);
    talk(&w, 0, 5);
    CHECK_EQ_INT(phi_compact(w.agent), PHI_OK);
    CHECK_EQ_INT(rig_run(w.r, 20), 0);
    talk(&w, 5, 12);
    CHECK_EQ_INT(phi_compact(w.agent), PHI_OK);
    CHECK_EQ_INT(rig_run(w.r, 20), 0);
    talk(&w, 12, 13);
    body = last(&w);
    CHECK(strstr(body, "[Summary]") == NULL && strstr(body, "[User]") == NULL);
    at = strstr(body, "<summary_left_out ");
    if (at != NULL) CHECK(strstr(at + 1, "<summary_left_out ") == NULL);
    rig_free(w.r);
}

/* The lines of a plan, without an agent. */
static phi_str plan_of(const phi_view_item *items, size_t count, const phi_texts *texts,
                       uint64_t most, phi_arena *arena) {
    phi_compaction_config config;
    phi_rewrite out;
    memset(&config, 0, sizeof config);
    config.texts = texts;
    config.keep_no_first = true;
    config.keep_recent_turns = 1;
    config.max_summary_tokens = most;
    CHECK_EQ_INT(phi__compact_rewrite(items, count, &config, NULL, arena, &out), PHI_OK);
    if (!CHECK(out.span_count > 0 && out.spans[0].message_count > 0)) return phi__str("", 0);
    return out.spans[0].messages[0].content[0].text;
}

TEST(each_kind_of_line_is_in_the_hosts_words) {
    enum { COUNT = 12 };
    phi_texts texts = named();
    phi_view_item items[COUNT];
    phi_message messages[COUNT];
    phi_content blocks[COUNT];
    phi_memory memory;
    phi_arena arena;
    phi_str text;
    uint64_t n = 0;
    size_t i;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    memset(items, 0, sizeof items);
    memset(messages, 0, sizeof messages);
    memset(blocks, 0, sizeof blocks);
    for (i = 0; i < COUNT; i++) {
        messages[i].role = i % 2 == 0 ? PHI_ROLE_USER : PHI_ROLE_ASSISTANT;
        messages[i].content = &blocks[i];
        messages[i].content_count = 1;
        blocks[i].kind = PHI_CONTENT_TEXT;
        blocks[i].text = phi_str_of("A text that is somewhat longer than its label is, so that a "
                                    "line of it saves something, which it does not do else.");
        items[i].message = &messages[i];
        items[i].from = items[i].to = i;
    }
    blocks[2].kind = PHI_CONTENT_IMAGE;
    blocks[2].text = phi__str(NULL, 0);
    blocks[3].text = phi__str(NULL, 0);
    blocks[5].kind = PHI_CONTENT_TOOL_CALL;
    blocks[5].text = phi__str(NULL, 0);
    blocks[5].id = PHI__LIT("c");
    messages[6].role = PHI_ROLE_TOOL_RESULT;
    messages[6].tool_call_id = PHI__LIT("c");
    text = plan_of(items, COUNT, &texts, 2000, &arena);
    has(text.at, "<summary_user A text that is somewhat");
    has(text.at, "<summary A text that is somewhat");
    has(text.at, "\n<summary_user_empty>");
    has(text.at, "\n<summary_answer_empty>");
    has(text.at, "\n<summary_calls 1>");
    text = plan_of(items, COUNT, &texts, 60, &arena);
    CHECK(phi__str_starts(text, "<summary_left_out "));
    /* a later plan counts on, in whatever language the first line is */
    for (i = 0; i < 2; i++) {
        char counted[100];
        phi_texts french;
        memset(&french, 0, sizeof french);
        french.at[PHI_TEXT_SUMMARY_LEFT_OUT] = "{n} lignes omises";
        (void)snprintf(counted, sizeof counted, "%s\n%s",
                       i == 0 ? "[... 100 earlier lines left out ...]" : "100 lignes omises",
                       "[User] Old");
        blocks[0].text = phi_str_of(counted);
        items[0].flags =
            (uint32_t)PHI_ITEM_SYNTHETIC | (uint32_t)PHI_ITEM_SUMMARY | (uint32_t)PHI_ITEM_LINES;
        text = plan_of(items, COUNT, &french, 40, &arena);
        (void)sscanf(text.at, "%llu", (unsigned long long *)&n);
        CHECK(n > 100 && n < 112);
        has(text.at, " lignes omises");
    }
    phi_arena_free(&arena);
}

TEST(a_list_of_the_hosts_is_cut_in_its_words_and_its_markers_count_on) {
    enum { COUNT = 20 };
    phi_texts texts = named();
    phi_message messages[COUNT];
    phi_content blocks[COUNT];
    const phi_message *list[COUNT];
    const phi_message *const *out;
    phi_compaction_config config;
    phi_memory memory;
    phi_arena arena;
    size_t i, count;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    memset(messages, 0, sizeof messages);
    memset(blocks, 0, sizeof blocks);
    memset(&config, 0, sizeof config);
    for (i = 0; i < COUNT; i++) {
        messages[i].role = PHI_ROLE_USER;
        messages[i].content = &blocks[i];
        messages[i].content_count = 1;
        blocks[i].kind = PHI_CONTENT_TEXT;
        blocks[i].text = phi_str_of("Forty bytes of text, that is ten tokens.");
        list[i] = &messages[i];
    }
    texts.at[PHI_TEXT_REMOVED] = "{n} fehlen";
    texts.at[PHI_TEXT_REMOVED_OLDEST] = "{n} alte fehlen";
    blocks[5].text = phi_str_of("100 fehlen");
    blocks[6].text = phi_str_of("[Context compacted: 1000 messages removed]");
    config.texts = &texts;
    config.system_prompt_tokens = 1;
    config.max_context_tokens = 250;
    CHECK_EQ_INT(phi_compact_messages(list, COUNT, &config, NULL, &arena, &out, &count), PHI_OK);
    REQUIRE(CHECK(count > 2));
    CHECK_STR(out[2]->content[0].text, "1106 fehlen");
    config.max_context_tokens = 60;
    CHECK_EQ_INT(phi_compact_messages(list, COUNT, &config, NULL, &arena, &out, &count), PHI_OK);
    CHECK_STR(out[0]->content[0].text, "1115 alte fehlen");
    phi_arena_free(&arena);
}

TEST(a_cut_after_a_refusal_is_marked_in_the_hosts_words) {
    static const char too_long[] =
        "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is "
        "too long: 210000 tokens > 200000 maximum\"}}";
    world w;
    begin(&w);
    w.desc.compaction.disable = true;
    make(&w);
    talk(&w, 0, 5);
    rig_replies(w.r, 400, "content-type: application/json", too_long);
    rig_says(w.r, "It fits.");
    ask(&w, "Last");
    has(last(&w), "<removed ");
    CHECK(strstr(last(&w), "Context compacted") == NULL);
    rig_free(w.r);
}

/* ---- prune, revert ---- */

TEST(a_memo_and_the_tag_of_a_revert_are_in_the_hosts_words) {
    world w;
    begin(&w);
    (void)tools_revert(w.tools + 1);
    (void)tools_prun(w.tools + 2);
    w.desc.tool_count = 4;
    make(&w);
    rig_call(w.r, "c1", "echo", "{\"at\":\"square\"}");
    rig_call(w.r, "c2", "echo", "{\"at\":\"cellar\"}");
    rig_call(w.r, "c3", "revert_to_state",
             "{\"category\":\"failure\",\"step\":\"n4\",\"summary\":\"leer\"}");
    rig_call(w.r, "c4", "revert_to_state", "{\"category\":\"tangent\",\"step\":\"n4\"}");
    rig_call(w.r, "c5", "echo", "{\"at\":\"a long list of all the houses in the village\"}");
    rig_call(w.r, "c6", "prun_with_memo", "{\"tokens\":60,\"memo\":\"nichts\"}");
    rig_says(w.r, "Well.");
    ask(&w, "Find the key.");
    has(rig_request(w.r, 3), "<reverted_summary 4 <revert_failure> leer>");
    has(rig_request(w.r, 4), "<reverted 4 <revert_tangent>>");
    has(last(&w), "<pruned nichts>");
    rig_free(w.r);
}

/* ---- results that phi gives ---- */

static phi_flow waits(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data, (void)call, (void)arguments;
    return PHI_PENDING;
}

static phi_flow gives_much(void *user_data, phi_call call, phi_str arguments) {
    static char text[500];
    phi_content content[2];
    phi_tool_result result;
    (void)user_data, (void)arguments;
    memset(content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    memset(text, 'x', sizeof text);
    content[0].kind = PHI_CONTENT_TEXT;
    content[0].text = phi__str(text, sizeof text);
    content[1].kind = PHI_CONTENT_IMAGE;
    content[1].mime_type = PHI__LIT("image/png");
    content[1].data = PHI__LIT("AAAAAAAAAAAAAAAA");
    result.content = content;
    result.content_count = 2;
    (void)phi_call_result(call, &result);
    return PHI_DONE;
}

static phi_tool tool_of(const char *name, phi_flow (*start)(void *, phi_call, phi_str)) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    tool.name = name;
    tool.start = start;
    return tool;
}

TEST(results_that_phi_gives_are_in_the_hosts_words) {
    world w;
    begin(&w);
    w.tools[1] = tool_of("waits", waits);
    w.tools[1].timeout_ms = 50;
    w.tools[2] = tool_of("much", gives_much);
    w.desc.tool_count = 3;
    w.desc.tool_options.max_result_bytes = 200;
    w.desc.tool_options.max_result_image_bytes = 10;
    w.desc.tool_options.repeat_warn_after = 2;
    w.desc.tool_options.repeat_stop_after = 3;
    make(&w);
    rig_call(w.r, "c1", "nothing", "{}");
    rig_call(w.r, "c2", "waits", "{}");
    rig_call(w.r, "c3", "much", "{}");
    rig_call(w.r, "c4", "echo", "{}");
    rig_call(w.r, "c5", "echo", "{}");
    rig_call(w.r, "c6", "echo", "{}");
    ask(&w, "Go");
    rig_says(w.r, "Well.");
    ask(&w, "And?");
    has(last(&w), "<result_no_tool nothing>");
    has(last(&w), "<result_timeout 50>");
    has(last(&w), "\\n<bytes_cut ");
    has(last(&w), "<image_cut 12 10>");
    has(last(&w), "<repeat_warning 2 echo>");
    has(last(&w), "<result_repeated 3 echo>");
    has(last(&w), "<stopped Repeated tool call (3/3)>");
    rig_free(w.r);
}

TEST(calls_that_are_denied_skipped_cancelled_or_lost_say_so_in_the_hosts_words) {
    static const char *const two[] = {"c1 echo {}", "c2 waits {}"};
    world w;
    begin(&w);
    w.tools[1] = tool_of("waits", waits);
    w.desc.tool_count = 2;
    w.desc.tool_options.mode = PHI_TOOLS_SEQUENTIAL;
    w.desc.deadlines.decision_ms = 40;
    rig_hooks(w.r, &w.desc, PHI_HOOK_BEFORE_TOOL);
    rig_answers(w.r, PHI_HOOK_BEFORE_TOOL, PHI_DENY, NULL);
    rig_answers(w.r, PHI_HOOK_BEFORE_TOOL, PHI_WAIT, NULL);
    make(&w);
    rig_calls(w.r, two, 2);
    rig_says(w.r, "Well.");
    CHECK_EQ_INT(phi_prompt(w.agent, "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(w.r, 1000), 0);
    has(last(&w), "<result_denied>");
    has(last(&w), "<result_undecided 40>");
    rig_answers(w.r, PHI_HOOK_BEFORE_TOOL, PHI_ALLOW, NULL);
    rig_call(w.r, "c3", "waits", "{}");
    CHECK_EQ_INT(phi_prompt(w.agent, "Again"), PHI_OK);
    (void)rig_run(w.r, 10);
    CHECK_EQ_INT(phi_abort(w.agent), PHI_OK);
    CHECK_EQ_INT(rig_run(w.r, 50), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(w.agent),
                                    phi_thread_message_count(phi_agent_thread(w.agent)) - 1)
                  ->content[0]
                  .text,
              "<result_cancelled>");
    rig_free(w.r);
}

static void append(world *w, phi_role role, phi_content_kind kind, const char *text) {
    phi_content block;
    phi_message message;
    memset(&block, 0, sizeof block);
    memset(&message, 0, sizeof message);
    block.kind = kind;
    if (kind == PHI_CONTENT_TEXT) block.text = phi_str_of(text);
    if (kind == PHI_CONTENT_IMAGE) {
        block.mime_type = PHI__LIT("image/png");
        block.data = phi_str_of(text);
    }
    if (kind == PHI_CONTENT_TOOL_CALL) {
        block.id = PHI__LIT("c1");
        block.name = phi_str_of(text);
        block.arguments = PHI__LIT("{}");
    }
    message.role = role;
    message.content = &block;
    message.content_count = 1;
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(w->agent), &message, 1, NULL), PHI_OK);
}

TEST(a_call_without_a_result_and_an_image_that_a_model_does_not_take_are_in_the_hosts_words) {
    world w;
    begin(&w);
    w.desc.model.quirks |= PHI_QUIRK_NO_IMAGES;
    make(&w);
    append(&w, PHI_ROLE_USER, PHI_CONTENT_IMAGE, "AAAA");
    append(&w, PHI_ROLE_ASSISTANT, PHI_CONTENT_TOOL_CALL, "echo");
    rig_says(w.r, "Well.");
    ask(&w, "And?");
    has(last(&w), "<image_omitted>");
    has(last(&w), "<result_lost>");
    rig_free(w.r);
}

/* ---- writers, judges, children ---- */

TEST(a_writer_of_summaries_is_asked_in_the_hosts_words_and_its_summary_is) {
    world w;
    begin(&w);
    w.desc.compaction.focus_message = "Names";
    make(&w);
    talk(&w, 0, 2);
    rig_says(w.r, "Two questions.");
    CHECK_EQ_INT(phi_summarize(w.agent, 0, phi_thread_count(phi_agent_thread(w.agent)) - 1),
                 PHI_OK);
    CHECK_EQ_INT(rig_run(w.r, 100), 0);
    has(last(&w), "<writer 1000>\\n\\n<writer_focus Names>");
    has(last(&w), "<writer_first ");
    has(last(&w), "<writer_user> Question 0");
    has(last(&w), "<writer_assistant> Answer 0");
    has(last(&w), "<writer_ask>");
    rig_says(w.r, "Well.");
    ask(&w, "And?");
    has(last(&w), "<summary Two questions.>");
    rig_free(w.r);
}

TEST(a_judge_is_asked_in_the_hosts_words) {
    world w;
    phi_evaluate_desc e;
    phi_agent_desc configs[2], judge;
    begin(&w);
    make(&w);
    talk(&w, 0, 1);
    configs[0] = configs[1] = judge = rig_desc();
    memset(&e, 0, sizeof e);
    e.configs = configs;
    e.config_count = 2;
    e.by = PHI_EVALUATE_JUDGE;
    e.judge = &judge;
    e.prompt = "Why?";
    rig_says(w.r, "One.");
    rig_says(w.r, "Two.");
    rig_says(w.r, "1");
    CHECK_EQ_INT(phi_evaluate(w.agent, &e), PHI_OK);
    CHECK_EQ_INT(rig_run(w.r, 200), 0);
    has(last(&w), "\"<judge>");
    has(last(&w), "<judge_context>\\n");
    has(last(&w), "<judge_query>\\nWhy?\\n\\n<judge_response 1>\\n");
    has(last(&w), "\\n\\n<judge_response 2>\\n");
    has(last(&w), "\\n\\n<judge_ask>");
    rig_free(w.r);
}

TEST(a_child_has_its_parents_texts_or_its_own) {
    int own;
    for (own = 0; own < 2; own++) {
        world w;
        phi_texts texts;
        static phi_agent_desc child;
        static phi_subagent_desc helper;
        memset(&texts, 0, sizeof texts);
        memset(&child, 0, sizeof child);
        memset(&helper, 0, sizeof helper);
        begin(&w);
        texts.at[PHI_TEXT_STOPPED] = "Its own.";
        if (own != 0) child.texts = &texts;
        child.limits.max_turns = 1;
        child.tools = w.tools;
        child.tool_count = 1;
        helper.name = "helper";
        helper.agent = &child;
        w.tools[1] = phi_subagent_tool(&helper);
        w.desc.tool_count = 2;
        make(&w);
        rig_call(w.r, "c1", "helper", "{\"task\":\"Help\"}");
        rig_call(w.r, "c2", "echo", "{}"); /* by the helper, which is stopped then */
        rig_says(w.r, "Well.");
        ask(&w, "Go");
        has(last(&w), own != 0 ? "(sub-agent produced no text output)" : "<subagent_empty>");
        rig_free(w.r);
    }
}

TEST(calls_of_a_strategy_have_the_agents_texts) {
    world w;
    phi_strategy_desc tot;
    phi_tot_options options;
    phi_provider provider;
    begin(&w);
    memset(&tot, 0, sizeof tot);
    memset(&options, 0, sizeof options);
    options.tools = true;
    tot.strategy = phi_strategy_tot();
    tot.options = &options;
    provider = phi_strategy_provider(&tot);
    w.desc.provider = &provider;
    make(&w);
    rig_call(w.r, "c1", "nothing", "{}");
    rig_says(w.r, "{\"thoughts\":[]}");
    ask(&w, "Go");
    has(last(&w), "<result_no_tool nothing>");
    rig_free(w.r);
}

/* ---- the agent ---- */

TEST(texts_are_changed_between_runs_and_read_back) {
    world w;
    phi_agent_desc to;
    phi_texts texts;
    const char *words = "";
    begin(&w);
    make(&w);
    memset(&to, 0, sizeof to);
    CHECK_EQ_INT(phi_agent_get_desc(w.agent, &to), PHI_OK);
    REQUIRE(CHECK(to.texts != NULL));
    CHECK_EQ_STR(to.texts->at[PHI_TEXT_FACTS], "<facts>");
    texts = named();
    texts.at[PHI_TEXT_FACTS] = "Heute:";
    to.texts = &texts;
    CHECK_EQ_INT(phi_agent_set(w.agent, &to, PHI_SET_TEXTS), PHI_OK);
    texts.at[PHI_TEXT_FACTS] = "Morgen:";
    CHECK_EQ_INT(phi_fact_set(phi_fact_agent(w.agent), "sun", phi_str_of("up"), NULL), PHI_OK);
    rig_says(w.r, "Yes.");
    ask(&w, "Well?");
    has(last(&w), "Heute:\\nsun: up");
    to.options.top_p = 0.5; /* they stay where something else is said */
    CHECK_EQ_INT(phi_agent_set(w.agent, &to, PHI_SET_OPTIONS | PHI_SET_COMPACTION), PHI_OK);
    CHECK_EQ_INT(phi_agent_get_desc(w.agent, &to), PHI_OK);
    CHECK_EQ_STR(to.texts->at[PHI_TEXT_FACTS], "Heute:");
    CHECK(to.compaction.texts == to.texts);
    texts.at[PHI_TEXT_SUMMARY] = "Kurz";
    to.texts = &texts;
    CHECK_EQ_INT(phi_agent_set(w.agent, &to, PHI_SET_TEXTS), PHI_BAD_ARG);
    words = phi_last_error(rig_runtime(w.r)).message;
    CHECK_EQ_STR(words, "texts.summary: {text} is missing");
    CHECK_EQ_INT(phi_agent_new(rig_runtime(w.r), &to).rt == NULL, 1);
    to.texts = NULL;
    CHECK_EQ_INT(phi_agent_set(w.agent, &to, PHI_SET_TEXTS), PHI_OK);
    CHECK_EQ_INT(phi_agent_get_desc(w.agent, &to), PHI_OK);
    CHECK(to.texts == NULL && to.compaction.texts == NULL);
    rig_call(w.r, "c1", "echo", "{}");
    CHECK_EQ_INT(phi_prompt(w.agent, "Go"), PHI_OK);
    (void)rig_step(w.r);
    CHECK_EQ_INT(phi_agent_set(w.agent, &to, PHI_SET_TEXTS), PHI_BUSY);
    rig_free(w.r);
}

/* What is in the log stays; the desc that restores it says what comes after. */
TEST(a_save_game_has_no_texts_and_goes_on_in_those_of_its_desc) {
    world w;
    phi_memory memory;
    phi_arena arena;
    phi_str saved;
    phi_texts french;
    phi_agent again;
    begin(&w);
    make(&w);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_fact_set(phi_fact_agent(w.agent), "sun", phi_str_of("up"), NULL), PHI_OK);
    rig_says(w.r, "Yes.");
    ask(&w, "Well?");
    CHECK_EQ_INT(phi_agent_snapshot(w.agent, &arena, &saved), PHI_OK);
    CHECK(phi__str_find(saved, 0, "facts_gone") == SIZE_MAX);
    phi_agent_free(w.agent);
    memset(&french, 0, sizeof french);
    french.at[PHI_TEXT_FACTS_CHANGED] = "[Change]";
    w.desc.texts = &french;
    again = phi_agent_restore(rig_runtime(w.r), &w.desc, saved, PHI_RESTORE_RESUME);
    REQUIRE(CHECK(again.rt != NULL));
    w.agent = again;
    CHECK_EQ_INT(phi_fact_set(phi_fact_agent(again), "sun", phi_str_of("down"), NULL), PHI_OK);
    rig_says(w.r, "Yes.");
    ask(&w, "Well?");
    has(last(&w), "<facts>\\nsun: up");
    has(last(&w), "[Change]\\nsun: down");
    phi_arena_free(&arena);
    rig_free(w.r);
}

/* Lines of failures go after a while, in whatever words they are. */
TEST(old_lines_of_reverts_go_in_whatever_words_they_are) {
    world w;
    int i;
    begin(&w);
    (void)tools_revert(w.tools + 1);
    w.desc.tool_count = 2;
    make(&w);
    for (i = 0; i < 8; i++) {
        char step[80];
        uint64_t n = phi_thread_count(phi_agent_thread(w.agent)) + 4;
        rig_call(w.r, "c1", "echo", "{}");
        rig_call(w.r, "c2", "echo", "{\"x\":1}");
        (void)snprintf(step, sizeof step, "{\"category\":\"failure\",\"step\":\"n%llu\"}",
                       (unsigned long long)n);
        rig_call(w.r, "c3", "revert_to_state", step);
        rig_says(w.r, "Well.");
        ask(&w, "Find the key.");
    }
    {
        const char *at = last(&w);
        int lines = 0;

        while ((at = strstr(at, "<reverted ")) != NULL) at++, lines++;
        CHECK(lines >= 3 && lines < 8);
    }
    rig_free(w.r);
}

static void each_text(void) {
    world w;
    phi_agent_desc to;
    begin(&w);
    if (w.r == NULL) return;
    w.agent = phi_agent_new(rig_runtime(w.r), &w.desc);
    if (w.agent.rt != NULL &&
        phi_fact_set(phi_fact_agent(w.agent), "a", phi_str_of("b"), NULL) == PHI_OK) {
        rig_call(w.r, "c1", "nothing", "{}");
        rig_says(w.r, "Yes.");
        (void)phi_prompt(w.agent, "Well?");
        (void)rig_run(w.r, 100);
        (void)phi_compact(w.agent);
        (void)rig_run(w.r, 20);
        if (phi_agent_get_desc(w.agent, &to) == PHI_OK) {
            to.texts = &w.texts;
            (void)phi_agent_set(w.agent, &to, PHI_SET_TEXTS);
        }
    }
    rig_free(w.r);
}

TEST(each_allocation_may_fail) {
    int n = 0;
    bool tripped = true;
    for (; tripped; n++) {
        test_alloc_fail_at(n);
        each_text();
        tripped = test_alloc_tripped();
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    }
    test_alloc_fail_at(-1);
}

TEST_MAIN(
    TEST_ENTRY(facts_are_told_in_the_hosts_words),
    TEST_ENTRY(facts_that_are_left_out_are_counted_in_the_hosts_words),
    TEST_ENTRY(a_plan_writes_its_lines_in_the_hosts_words_and_takes_them_over),
    TEST_ENTRY(each_kind_of_line_is_in_the_hosts_words),
    TEST_ENTRY(a_list_of_the_hosts_is_cut_in_its_words_and_its_markers_count_on),
    TEST_ENTRY(a_cut_after_a_refusal_is_marked_in_the_hosts_words),
    TEST_ENTRY(a_memo_and_the_tag_of_a_revert_are_in_the_hosts_words),
    TEST_ENTRY(results_that_phi_gives_are_in_the_hosts_words),
    TEST_ENTRY(calls_that_are_denied_skipped_cancelled_or_lost_say_so_in_the_hosts_words),
    TEST_ENTRY(
        a_call_without_a_result_and_an_image_that_a_model_does_not_take_are_in_the_hosts_words),
    TEST_ENTRY(a_writer_of_summaries_is_asked_in_the_hosts_words_and_its_summary_is),
    TEST_ENTRY(a_judge_is_asked_in_the_hosts_words),
    TEST_ENTRY(a_child_has_its_parents_texts_or_its_own),
    TEST_ENTRY(calls_of_a_strategy_have_the_agents_texts),
    TEST_ENTRY(texts_are_changed_between_runs_and_read_back),
    TEST_ENTRY(a_save_game_has_no_texts_and_goes_on_in_those_of_its_desc),
    TEST_ENTRY(old_lines_of_reverts_go_in_whatever_words_they_are),
    TEST_ENTRY(each_allocation_may_fail))
