/* test_conversations.c - whole conversations over loopback HTTP, each in both protocols, and with a
   model that always thinks and checks the prefix of its thinking: the agent, the tools, the codecs
   and libcurl together, against a server that refuses what the real ones refuse. */
#include "e2e/e2e.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "agent/agent_info.h"
#include "support/set.h"

enum { CHECKING = E2E_WIRES, CAST }; /* behind those of both protocols */

static const char *cast_name(int w) { return w == CHECKING ? "checking" : e2e_name((e2e_wire)w); }

static phi_model cast_model(int w, const char *path) {
    phi_model model = e2e_model(w == CHECKING ? E2E_ANTHROPIC : (e2e_wire)w, path);
    if (w == CHECKING) model.id = "claude-opus-5-5";
    return model;
}

/* Agents of both protocols at one path of the mock, with the six built-in tools in a directory of
   their own. */
typedef struct pair {
    crowd *c;
    seen *s[CAST];
    phi_toolset set[CAST];
    char dir[CAST][700];
} pair;

static bool pair_open(pair *p, const char *path, phi_thinking thinking) {
    char dir[512], command[1600];
    int w;
    memset(p, 0, sizeof *p);
    if (!test_temp_dir(dir, sizeof dir)) return false;
    p->c = crowd_new(NULL);
    if (p->c == NULL) return false;
    for (w = 0; w < CAST; w++) {
        phi_tools_desc tools = PHI_ZERO;
        phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, path);
        desc.model = cast_model(w, path);
        (void)snprintf(p->dir[w], sizeof p->dir[w], "%s/%s", dir, cast_name(w));
        (void)snprintf(command, sizeof command,
                       "mkdir '%s' && cd '%s' && echo 'A small project.' > README.md && "
                       "echo 'int main;' > b.c",
                       p->dir[w], p->dir[w]);
        if (!CHECK(system(command) == 0)) return false;
        tools.workspace = p->dir[w];
        if (!CHECK_EQ_INT(phi_tools_init(&p->set[w], &tools), PHI_OK)) return false;
        desc.tools = p->set[w].tools;
        desc.tool_count = p->set[w].count;
        desc.thinking = thinking;
        p->s[w] = crowd_add(p->c, &desc, cast_name(w));
        if (p->s[w] == NULL) return false;
    }
    return true;
}

/* Prompts all, and waits for all. */
static bool pair_ask(pair *p, const char *text) {
    int w;
    for (w = 0; w < CAST; w++)
        if (!crowd_prompt(p->s[w], text)) return false;
    if (!crowd_run(p->c, 30)) return false;
    for (w = 0; w < CAST; w++) {
        if (!CHECK_EQ_INT(p->s[w]->status, PHI_OK)) printf("  %s\n", p->s[w]->failure_text);
        (void)CHECK(crowd_history_holds(p->s[w]));
    }
    return true;
}

TEST(an_answer_streams_in_deltas_and_counts_its_tokens) {
    pair p;
    int w;
    REQUIRE(pair_open(&p, "/s/hello", PHI_THINKING_OFF));
    REQUIRE(pair_ask(&p, "Hi"));
    for (w = 0; w < CAST; w++) {
        CHECK_EQ_STR(p.s[w]->text,
                     "Hello! I am a scripted model, and this answer came as a stream.");
        CHECK(p.s[w]->events[PHI_EV_TEXT] >= 5);
        CHECK_EQ_INT(p.s[w]->message_count, 2);
        CHECK(p.s[w]->usage.input > 10 && p.s[w]->usage.output > 10);
        CHECK_EQ_INT(phi_agent_get_info(p.s[w]->agent).usage.output, p.s[w]->usage.output);
    }
    crowd_free(p.c);
}

TEST(a_second_prompt_goes_on_with_the_conversation) {
    pair p;
    int w;
    char text[200];
    REQUIRE(pair_open(&p, "/s/chat", PHI_THINKING_OFF));
    REQUIRE(pair_ask(&p, "first"));
    REQUIRE(pair_ask(&p, "second"));
    REQUIRE(pair_ask(&p, "third"));
    for (w = 0; w < CAST; w++) {
        CHECK_EQ_STR(p.s[w]->text, "Tell me more about \"third\".");
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(p.s[w]->agent)), 6);
        crowd_message_text(p.s[w], 1, text, sizeof text);
        CHECK_EQ_STR(text + (w == CHECKING ? strlen("Let me see.") : 0),
                     "Hello! You said: \"first\". What shall we talk about?");
    }
    crowd_free(p.c);
}

TEST(a_directory_is_listed_and_a_file_read_and_told_of) {
    pair p;
    int w;
    REQUIRE(pair_open(&p, "/s/demo", PHI_THINKING_OFF));
    REQUIRE(pair_ask(&p, "What is in this directory?"));
    for (w = 0; w < CAST; w++) {
        CHECK(strstr(p.s[w]->text, "The directory holds:\n\nREADME.md\nb.c\n\n(2 files)") != NULL);
        CHECK(strstr(p.s[w]->text, "A small project.") != NULL);
        CHECK_EQ_INT(p.s[w]->message_count, 6);
        CHECK_EQ_INT(p.s[w]->events[PHI_EV_TURN_START], 3);
        CHECK_EQ_INT(p.s[w]->events[PHI_EV_TOOL_END], 2);
        CHECK(!p.s[w]->is_error);
    }
    crowd_free(p.c);
}

TEST(all_six_tools_work_in_one_conversation) {
    pair p;
    int w;
    REQUIRE(pair_open(&p, "/s/six", PHI_THINKING_OFF));
    REQUIRE(pair_ask(&p, "Use them all."));
    for (w = 0; w < CAST; w++) {
        CHECK_EQ_STR(p.s[w]->text, "Wrote 11 bytes to notes/a.txt\n"
                                   "Replaced 1 line with 1 line in notes/a.txt\n"
                                   "[2 lines]\n   1 | alpha\n   2 | gamma\n"
                                   "README.md\nb.c\nnotes/a.txt\n\n(3 files)\n"
                                   "notes/a.txt:2:gamma\n(1 matches)\n"
                                   "Exit code: 0\n2\n");
        CHECK_EQ_INT(p.s[w]->events[PHI_EV_TOOL_END], 6);
        CHECK(!p.s[w]->is_error);
    }
    crowd_free(p.c);
}

TEST(two_calls_of_a_turn_run_at_the_same_time) {
    pair p;
    int w;
    REQUIRE(pair_open(&p, "/s/meet", PHI_THINKING_OFF));
    REQUIRE(pair_ask(&p, "Meet."));
    for (w = 0; w < CAST; w++) {
        CHECK_EQ_STR(p.s[w]->text, "They wait for each other."
                                   "Exit code: 0\nfirst\n / Exit code: 0\nsecond\n");
        CHECK_EQ_INT(p.s[w]->most_at_once, 2);
    }
    crowd_free(p.c);
}

TEST(a_command_streams_its_output_while_it_runs) {
    pair p;
    int w;
    REQUIRE(pair_open(&p, "/s/talk", PHI_THINKING_OFF));
    REQUIRE(pair_ask(&p, "Talk."));
    for (w = 0; w < CAST; w++) {
        CHECK(p.s[w]->events[PHI_EV_TOOL_UPDATE] >= 2);
        CHECK_EQ_STR(p.s[w]->text, "Exit code: 0\nline 1\nline 2\nline 3\n");
    }
    crowd_free(p.c);
}

TEST(thinking_streams_and_goes_back_as_its_provider_wants_it) {
    pair p;
    crowd *c = crowd_new(NULL);
    phi_agent_desc desc = e2e_desc(E2E_CHAT, "/m/reasoning/s/thinking");
    seen *chat;
    phi_toolset set;
    REQUIRE(c != NULL && pair_open(&p, "/s/thinking", PHI_THINKING_LOW));
    REQUIRE(pair_ask(&p, "Think.") && pair_ask(&p, "Think again."));
    CHECK_EQ_STR(p.s[E2E_ANTHROPIC]->thinking,
                 "The user wants to know something. I should look first.Now I know.");
    CHECK(strstr(p.s[E2E_ANTHROPIC]->text, "Looking.Seen: README.md") != NULL);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(p.s[E2E_ANTHROPIC]->agent)), 8);
    desc.model = phi_model_local(mock_url("/m/reasoning/s/thinking"), "deepseek-local", "a-key");
    (void)phi_tools_init(&set, NULL);
    desc.tools = set.tools;
    desc.tool_count = set.count;
    chat = crowd_add(c, &desc, "local");
    REQUIRE(chat != NULL && crowd_ask(chat, "Think.") && crowd_ask(chat, "Think again."));
    CHECK_EQ_INT(chat->status, PHI_OK);
    CHECK_EQ_STR(chat->thinking,
                 "The user wants to know something. I should look first.Now I know.");
    crowd_free(c);
    crowd_free(p.c);
}

TEST(difficult_text_arrives_as_it_was_sent) {
    pair p;
    int w;
    REQUIRE(pair_open(&p, "/s/unicode", PHI_THINKING_OFF));
    REQUIRE(pair_ask(&p, "Gr\xc3\xbc\xc3\x9f mich, \xf0\x9f\x98\x80 \"\\\n\t\x7f"));
    for (w = 0; w < CAST; w++)
        CHECK_EQ_STR(p.s[w]->text,
                     "Gr\xc3\xbc\xc3\x9f"
                     "e, \xe4\xb8\x96\xe7\x95\x8c \xf0\x9f\x98\x80 "
                     "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7 "
                     "\xe2\x80\xa8 \"quoted\" \\ back\tslash\n\xe2\x9c\x93");
    crowd_free(p.c);
}

TEST(a_prompt_of_every_kind_of_text_comes_back_from_the_echo) {
    static const char text[] = "line\nline\r\n\ttab \"quote\" \\ / <html> & \xc3\xa9 "
                               "\xf0\x9f\x98\x80 \xe2\x80\xa8 end";
    pair p;
    int w;
    REQUIRE(pair_open(&p, "/s/echo", PHI_THINKING_OFF));
    REQUIRE(pair_ask(&p, text));
    for (w = 0; w < CAST; w++) CHECK_EQ_STR(p.s[w]->text, text);
    crowd_free(p.c);
}

TEST(big_arguments_are_written_to_the_last_byte) {
    pair p;
    int w;
    REQUIRE(pair_open(&p, "/s/bigargs-300000", PHI_THINKING_OFF));
    REQUIRE(pair_ask(&p, "Write much."));
    for (w = 0; w < CAST; w++) {
        char path[900], *text;
        size_t len = 0;
        (void)snprintf(path, sizeof path, "%s/big.txt", p.dir[w]);
        text = test_read_file(path, &len);
        CHECK_EQ_INT(len, 300000);
        CHECK(text != NULL && strncmp(text, "line with \"quotes\", a \\ and a tab\t\n", 35) == 0);
        free(text);
        CHECK_EQ_STR(p.s[w]->text, "Written: Wrote 300000 bytes to big.txt");
        CHECK(p.s[w]->argument_bytes > 300000);
        CHECK(p.s[w]->events[PHI_EV_TOOL_ARGUMENTS] > 100);
    }
    crowd_free(p.c);
}

TEST(a_large_prompt_is_sent_whole) {
    pair p;
    size_t n = 2000000;
    char *text = (char *)malloc(n + 1);
    int w;
    REQUIRE(text != NULL);
    memset(text, 'a', n);
    text[n] = '\0';
    memcpy(text + n - 8, "the end.", 8);
    REQUIRE(pair_open(&p, "/s/tail", PHI_THINKING_OFF));
    REQUIRE(pair_ask(&p, text));
    for (w = 0; w < CAST; w++) CHECK_EQ_STR(p.s[w]->text, "It ends with: the end.");
    free(text);
    crowd_free(p.c);
}

TEST(an_answer_cut_by_the_token_limit_says_so_and_one_without_content_is_kept) {
    pair p;
    int w;
    REQUIRE(pair_open(&p, "/s/length", PHI_THINKING_OFF));
    REQUIRE(pair_ask(&p, "Go on."));
    for (w = 0; w < CAST; w++)
        CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(p.s[w]->agent), 1)->stop_reason,
                     PHI_STOP_REASON_LENGTH);
    crowd_free(p.c);
    REQUIRE(pair_open(&p, "/s/empty", PHI_THINKING_OFF));
    REQUIRE(pair_ask(&p, "Say nothing."));
    REQUIRE(pair_ask(&p, "And again."));
    for (w = 0; w < CAST; w++) {
        CHECK_EQ_STR(p.s[w]->text, "");
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(p.s[w]->agent)), 4);
    }
    crowd_free(p.c);
}

TEST(the_model_is_switched_in_mid_conversation_with_calls_and_thinking_in_the_history) {
    pair p;
    int w, round;
    REQUIRE(pair_open(&p, "/s/thinking", PHI_THINKING_LOW));
    for (round = 0; round < 4; round++) {
        REQUIRE(pair_ask(&p, "Think."));
        for (w = 0; w < CAST; w++) {
            phi_model model = cast_model((w + round + 1) % CAST, "/s/thinking");
            CHECK(strstr(p.s[w]->text, "Looking.Seen: README.md") != NULL);
            CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(p.s[w]->agent)),
                         4 * (round + 1));
            REQUIRE(CHECK_EQ_INT(set_model(p.s[w]->agent, &model), PHI_OK));
        }
    }
    crowd_free(p.c);
}

TEST(a_model_is_not_switched_while_it_answers) {
    crowd *c = crowd_new(NULL);
    phi_agent_desc desc = e2e_desc(E2E_CHAT, "/s/slow-20");
    phi_model other = e2e_model(E2E_ANTHROPIC, "/s/hello");
    seen *s = c != NULL ? crowd_add(c, &desc, "agent") : NULL;
    REQUIRE(s != NULL && crowd_prompt(s, "Slowly."));
    (void)crowd_step(c, 10);
    CHECK_EQ_INT(set_model(s->agent, &other), PHI_BUSY);
    CHECK(crowd_run(c, 10));
    CHECK_EQ_STR(s->text, "one two three four five six seven eight nine ten");
    CHECK_EQ_INT(set_model(s->agent, &other), PHI_OK);
    CHECK(crowd_ask(s, "Now?"));
    CHECK_EQ_STR(s->text, "Hello! I am a scripted model, and this answer came as a stream.");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s->agent)), 4);
    crowd_free(c);
}

TEST(a_reset_agent_begins_a_conversation_of_its_own) {
    pair p;
    int w;
    REQUIRE(pair_open(&p, "/s/chat", PHI_THINKING_OFF));
    REQUIRE(pair_ask(&p, "first"));
    for (w = 0; w < CAST; w++) CHECK_EQ_INT(phi_agent_reset(p.s[w]->agent), PHI_OK);
    REQUIRE(pair_ask(&p, "anew"));
    for (w = 0; w < CAST; w++) {
        CHECK_EQ_STR(p.s[w]->text, "Hello! You said: \"anew\". What shall we talk about?");
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(p.s[w]->agent)), 2);
    }
    crowd_free(p.c);
}

/* The mock refuses sampling parameters by the later version, as the API does. */
TEST(each_version_of_anthropics_api_takes_an_agent_with_a_temperature_and_marks_of_an_hour) {
    static const char *const versions[] = {NULL, "2023-06-01", "2026-10-21"};
    size_t i;
    for (i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        crowd *c = crowd_new(NULL);
        phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "/s/hello");
        char version[16];
        seen *s;
        REQUIRE(c != NULL);
        if (versions[i] != NULL) {
            (void)snprintf(version, sizeof version, "%s", versions[i]);
            desc.model.api_version = version;
        }
        desc.options.has_temperature = true;
        desc.options.temperature = 0.5;
        desc.cache.one_hour = true;
        s = crowd_add(c, &desc, "claude");
        memset(version, 'x', sizeof version - 1); /* it was copied */
        REQUIRE(s != NULL && crowd_prompt(s, "Hi") && crowd_run(c, 30));
        if (!CHECK_EQ_INT(s->status, PHI_OK)) printf("  %s\n", s->failure_text);
        crowd_free(c);
    }
}

MOCK_MAIN(
    e2e_options,
    TEST_ENTRY(
        each_version_of_anthropics_api_takes_an_agent_with_a_temperature_and_marks_of_an_hour),
    TEST_ENTRY(an_answer_streams_in_deltas_and_counts_its_tokens),
    TEST_ENTRY(a_second_prompt_goes_on_with_the_conversation),
    TEST_ENTRY(a_directory_is_listed_and_a_file_read_and_told_of),
    TEST_ENTRY(all_six_tools_work_in_one_conversation),
    TEST_ENTRY(two_calls_of_a_turn_run_at_the_same_time),
    TEST_ENTRY(a_command_streams_its_output_while_it_runs),
    TEST_ENTRY(thinking_streams_and_goes_back_as_its_provider_wants_it),
    TEST_ENTRY(difficult_text_arrives_as_it_was_sent),
    TEST_ENTRY(a_prompt_of_every_kind_of_text_comes_back_from_the_echo),
    TEST_ENTRY(big_arguments_are_written_to_the_last_byte),
    TEST_ENTRY(a_large_prompt_is_sent_whole),
    TEST_ENTRY(an_answer_cut_by_the_token_limit_says_so_and_one_without_content_is_kept),
    TEST_ENTRY(the_model_is_switched_in_mid_conversation_with_calls_and_thinking_in_the_history),
    TEST_ENTRY(a_model_is_not_switched_while_it_answers),
    TEST_ENTRY(a_reset_agent_begins_a_conversation_of_its_own))
