/* test_scripts.c - hooks that are scripts: what they read, what they may say, and that nothing of them
   is left. */
#include "agent/snapshot.h"
#include "permissions/permissions.h"
#include "support/rig.h"
#include "tools/scripts_in.h"
#include "agent/agent_history.h"
#include "permissions/permissions_in.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct stage {
    rig *r;
    phi_scripts *scripts;
    phi_agent agent;
    phi_tool tool;
    char dir[512];
    phi_agent_desc desc;
} stage;

/* scripts: of a directory of their own. */
/* Scripts that run or wait for their start now. */
static size_t running(const phi_scripts *set) { return set != NULL ? set->job_count : 0; }

static bool stage_open(stage *s, const phi_script *scripts, size_t count,
                       const phi_scripts_desc *given) {
    phi_scripts_desc desc = PHI_ZERO;
    phi_parse_error error;
    if (given != NULL) desc = *given;
    desc.scripts = scripts;
    desc.count = count;
    desc.allocator = test_allocator();
    s->r = rig_new();
    s->tool = rig_echo();
    if (s->dir[0] == '\0' && !test_temp_dir(s->dir, sizeof s->dir)) return false;
    if (desc.workspace == NULL) desc.workspace = s->dir;
    s->scripts = phi_scripts_new(&desc, &error);
    if (!CHECK(s->scripts != NULL)) (void)printf("%s\n", error.message);
    if (s->desc.model.id == NULL) s->desc = rig_desc();
    s->desc.tools = &s->tool;
    s->desc.tool_count = 1;
    if (s->scripts == NULL || !CHECK_EQ_INT(phi_scripts_use(s->scripts, &s->desc), PHI_OK))
        return false;
    s->agent = rig_agent(s->r, &s->desc);
    return CHECK(phi_agent_alive(s->agent));
}

static void stage_close(stage *s) {
    rig_free(s->r);
    phi_scripts_free(s->scripts);
}

static phi_script script_of(uint32_t points, const char *command) {
    phi_script script = PHI_ZERO;
    script.points = points;
    script.command = command;
    script.shell = true;
    return script;
}

/* Real processes on a manual clock: steps until idle, or `most` ms. */
static int stage_run(stage *s, int most) {
    int runs;
    do {
        runs = rig_step(s->r);
        (void)usleep(1000);
        rig_pass_ms(s->r, 1);
    } while (runs > 0 && most-- > 0);
    return runs;
}

static void stage_prompt_call(stage *s, const char *arguments) {
    rig_call(s->r, "c1", "echo", arguments);
    rig_says(s->r, "done");
    CHECK_EQ_INT(phi_prompt(s->agent, "go"), PHI_OK);
    CHECK_EQ_INT(stage_run(s, 10000), 0);
}

static void check_result(stage *s, const char *want) {
    const phi_message *m = phi_thread_message_at(phi_agent_thread(s->agent), 2);
    if (CHECK(m != NULL && m->content_count > 0)) CHECK_STR(m->content[0].text, want);
}

static void check_written(const stage *s, const char *name, const char *want) {
    char path[1024], *text;
    (void)snprintf(path, sizeof path, "%s/%s", s->dir, name);
    text = test_read_file(path, NULL);
    if (CHECK(text != NULL)) CHECK_EQ_STR(text, want);
    free(text);
}

static void put(const stage *s, const char *name, const char *text) {
    char path[1024];
    FILE *f;
    (void)snprintf(path, sizeof path, "%s/%s", s->dir, name);
    f = fopen(path, "wb");
    if (!CHECK(f != NULL)) return;
    (void)fputs(text, f);
    (void)fclose(f);
}

TEST(a_script_reads_the_hook_as_json_at_every_point) {
    stage s;
    phi_script all;
    memset(&s, 0, sizeof s);
    all = script_of((uint32_t)PHI_HOOK_BEFORE_LOOP | PHI_HOOK_BEFORE_TURN | PHI_HOOK_BEFORE_TOOL |
                        PHI_HOOK_AFTER_TOOL | PHI_HOOK_AFTER_TURN | PHI_HOOK_AFTER_LOOP |
                        PHI_HOOK_FILTER | PHI_HOOK_FOLLOW_UP,
                    "cat >> seen");
    REQUIRE(stage_open(&s, &all, 1, NULL));
    stage_prompt_call(&s, "{\"a\":1}");
    check_result(&s, "{\"a\":1}");
    check_written(
        &s, "seen",
        "{\"hook\":\"before_loop\",\"message_count\":0,\"loop_index\":1}\n"
        "{\"hook\":\"filter\",\"text\":\"go\"}\n"
        "{\"hook\":\"before_turn\",\"message_count\":1,\"turn_index\":0}\n"
        "{\"hook\":\"before_tool_execution\",\"tool_name\":\"echo\",\"tool_call_id\":\"c1\","
        "\"arguments\":{\"a\":1}}\n"
        "{\"hook\":\"after_tool_execution\",\"tool_name\":\"echo\",\"tool_call_id\":\"c1\","
        "\"is_error\":false,\"result\":\"{\\\"a\\\":1}\"}\n"
        "{\"hook\":\"after_turn\"}\n"
        "{\"hook\":\"before_turn\",\"message_count\":3,\"turn_index\":1}\n"
        "{\"hook\":\"after_turn\"}\n{\"hook\":\"follow_up\"}\n{\"hook\":\"after_loop\"}\n");
    CHECK(strstr(rig_story(s.r), "Decision") == NULL);
    CHECK_EQ_INT(running(s.scripts), 0);
    stage_close(&s);
}

#define TOO_LONG                                                                                   \
    "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is "   \
    "too "                                                                                         \
    "long: 9999 tokens > 9000 maximum\"}}"

/* Three prompts with long answers, and a fourth that is too long for the model. */
static void prompt_too_long(stage *s) {
    char answer[4001];
    int i;
    memset(answer, 'x', sizeof answer - 1);
    answer[sizeof answer - 1] = '\0';
    for (i = 0; i < 3; i++) {
        rig_says(s->r, answer);
        CHECK_EQ_INT(phi_prompt(s->agent, "more"), PHI_OK);
        CHECK_EQ_INT(stage_run(s, 1000), 0);
    }
    rig_replies(s->r, 400, "Content-Type: application/json\r\n", TOO_LONG);
    rig_says(s->r, "fine");
    CHECK_EQ_INT(phi_prompt(s->agent, "go"), PHI_OK);
    CHECK_EQ_INT(stage_run(s, 10000), 0);
}

TEST(a_script_reads_the_numbers_of_a_compaction_and_may_deny_it) {
    unsigned estimated, count, before, after, tokens_before, tokens_after;
    char path[1024], *text;
    stage s;
    phi_script script;
    memset(&s, 0, sizeof s);
    script =
        script_of((uint32_t)PHI_HOOK_BEFORE_COMPACTION | PHI_HOOK_AFTER_COMPACTION, "cat >> seen");
    REQUIRE(stage_open(&s, &script, 1, NULL));
    prompt_too_long(&s);
    CHECK_EQ_INT(rig_requests(s.r), 5);
    (void)snprintf(path, sizeof path, "%s/seen", s.dir);
    text = test_read_file(path, NULL);
    REQUIRE(text != NULL);
    if (CHECK_EQ_INT(sscanf(text,
                            "{\"hook\":\"before_compaction_start\",\"estimated_tokens\":%u,"
                            "\"message_count\":%u}\n{\"hook\":\"after_compaction_end\","
                            "\"messages_before\":%u,\"messages_after\":%u,"
                            "\"tokens_before\":%u,\"tokens_after\":%u}",
                            &estimated, &count, &before, &after, &tokens_before, &tokens_after),
                     6)) {
        CHECK(estimated > 3000 && estimated == tokens_before && tokens_after < tokens_before);
        CHECK(count == 7 && before == 7 && after < 7);
    }
    free(text);
    stage_close(&s);
    script = script_of(PHI_HOOK_BEFORE_COMPACTION, "exit 1");
    memset(&s, 0, sizeof s);
    REQUIRE(stage_open(&s, &script, 1, NULL));
    prompt_too_long(&s);
    CHECK_EQ_INT(rig_requests(s.r), 4);
    CHECK(strstr(rig_story(s.r), "CompactionStarted") == NULL);
    stage_close(&s);
}

TEST(the_environment_has_the_facts_and_no_keys) {
    stage s;
    phi_script script = script_of(PHI_HOOK_BEFORE_TOOL,
                                  "echo \"$PHI_HOOK $PHI_SESSION_ID $PHI_AGENT_ID $PHI_TURN_INDEX "
                                  "$PHI_TOOL_NAME $PHI_TOOL_CALL_ID $MINE [$MY_API_KEY]\" > env");
    static const char *const env[] = {"MINE=yes", NULL};
    phi_scripts_desc desc = PHI_ZERO;
    memset(&s, 0, sizeof s);
    s.desc = rig_desc();
    s.desc.ids.session_id = "s1";
    s.desc.ids.agent_id = "a1";
    desc.env = env;
    CHECK(setenv("MY_API_KEY", "hush", 1) == 0);
    REQUIRE(stage_open(&s, &script, 1, &desc));
    stage_prompt_call(&s, "{}");
    check_written(&s, "env", "before_tool_execution s1 a1 0 echo c1 yes []\n");
    stage_close(&s);
    desc.keep_keys = true;
    s.desc = rig_desc();
    s.desc.ids.session_id = "s2";
    s.desc.ids.agent_id = "a2";
    REQUIRE(stage_open(&s, &script, 1, &desc));
    stage_prompt_call(&s, "{}");
    (void)unsetenv("MY_API_KEY");
    check_written(&s, "env", "before_tool_execution s2 a2 0 echo c1 yes [hush]\n");
    stage_close(&s);
}

/* The result of a call of "echo" after one script. */
static void check_tool(const char *command, const char *want) {
    stage s;
    phi_script script = script_of(PHI_HOOK_BEFORE_TOOL, command);
    memset(&s, 0, sizeof s);
    REQUIRE(stage_open(&s, &script, 1, NULL));
    stage_prompt_call(&s, "{\"a\":1}");
    check_result(&s, want);
    stage_close(&s);
}

TEST(a_script_allows_denies_or_changes_the_arguments) {
    check_tool("exit 0", "{\"a\":1}");
    check_tool("echo '{\"allow\":true}'", "{\"a\":1}");
    check_tool("echo '{}'", "{\"a\":1}");
    check_tool("echo '{\"allow\":false,\"reason\":\"not today\"}'", "not today");
    check_tool("echo '{\"allow\":false}'",
               "The hook script \"echo '{\"allow\":false}'\" denied it.");
    check_tool("echo ' {\"arguments\":{\"b\":[2]}} '", "{\"b\":[2]}");
    check_tool("exit 3", "The hook script \"exit 3\" exited with code 3.");
    check_tool("echo no way >&2; exit 2", "no way");
    check_tool("echo hello", "{\"a\":1}"); /* no answer: a warning */
    check_tool("printf '\\357\\273\\277{\"allow\":false,\"reason\":\"no\"}'", "no");
}

TEST(failures_deny_but_a_script_that_cannot_be_started_allows) {
    stage s;
    static const char *const none[] = {"/no/such/program", NULL};
    phi_script script = PHI_ZERO;
    check_tool("echo '{\"allow\":'",
               "The hook script \"echo '{\"allow\":'\" gave an answer that cannot be read: "
               "line 1, column 10: expected a value, found the end of the text.");
    check_tool("echo '{\"allow\":1}'",
               "The hook script \"echo '{\"allow\":1}'\" gave an answer that "
               "cannot be read: \"allow\" is neither true nor false.");
    check_tool(
        "echo hello; echo '{\"allow\":false}'",
        "The hook script \"echo hello; echo '{\"allow\":false}'\" gave an answer that cannot be "
        "read: \"allow\" stands in it, but it is no JSON object.");
#if defined(_WIN32) /* TerminateProcess gives a code */
    check_tool("kill -9 $$", "The hook script \"kill -9 $$\" exited with code 9.");
#else
    check_tool("kill -9 $$", "The hook script \"kill -9 $$\" was killed by signal 9.");
#endif
    check_tool("head -c 70000 /dev/zero",
               "The hook script \"head -c 70000 /dev/zero\" wrote more than 65536 bytes.");
    memset(&s, 0, sizeof s);
    script.points = PHI_HOOK_BEFORE_TOOL;
    script.argv = none;
    REQUIRE(stage_open(&s, &script, 1, NULL));
    stage_prompt_call(&s, "{\"a\":1}");
    check_result(&s, "{\"a\":1}");
    CHECK(strstr(rig_story(s.r), "The hook script \"/no/such/program\" at before_tool_execution: "
                                 "cannot be started: No such file or directory") != NULL);
    stage_close(&s);
    script.on_failure = PHI_SCRIPT_FAILURE_DENIES;
    memset(&s, 0, sizeof s);
    REQUIRE(stage_open(&s, &script, 1, NULL));
    stage_prompt_call(&s, "{\"a\":1}");
    check_result(&s, "The hook script \"/no/such/program\" cannot be started: No such file or "
                     "directory.");
    stage_close(&s);
#if defined(_WIN32)
    script = script_of(PHI_HOOK_BEFORE_TOOL, "head -c 70000 /dev/zero");
#else
    script = script_of(PHI_HOOK_BEFORE_TOOL, "kill -9 $$");
#endif
    script.on_failure = PHI_SCRIPT_FAILURE_ALLOWS;
    memset(&s, 0, sizeof s);
    REQUIRE(stage_open(&s, &script, 1, NULL));
    stage_prompt_call(&s, "{\"a\":1}");
    check_result(&s, "{\"a\":1}");
    stage_close(&s);
}

/* No process, or a dead one whose new parent has not looked yet. */
static bool is_gone(long pid) {
    char path[64], state = 'X';
    FILE *f;
#if defined(_WIN32) /* the shell's numbers are not those of Windows */
    (void)snprintf(path, sizeof path, "kill -0 %ld 2>/dev/null", pid);
    return system(path) != 0;
#endif
    if (kill((pid_t)pid, 0) != 0) return errno == ESRCH;
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    f = fopen(path, "r");
    if (f == NULL) return true;
    if (fscanf(f, "%*d %*s %c", &state) != 1) state = 'X';
    (void)fclose(f);
    return state == 'Z' || state == 'X';
}

static void check_gone(const stage *s) {
    char path[1024], *text;
    long pid = 0;
    int left = 2000;
    (void)snprintf(path, sizeof path, "%s/pid", s->dir);
    text = test_read_file(path, NULL);
    if (text != NULL) pid = atol(text);
    free(text);
    while (left-- > 0 && !is_gone(pid)) (void)usleep(1000);
    CHECK(pid > 1 && is_gone(pid));
}

static const char sleeper[] = "sleep 60 & echo $! > pid; wait";

/* Steps until the sleeper has written its child's number. */
static void wait_for_pid(stage *s) {
    char path[1024];
    int left = 5000;
    (void)snprintf(path, sizeof path, "%s/pid", s->dir);
    while (access(path, R_OK) != 0 && left-- > 0) (void)stage_run(s, 0);
    (void)usleep(20000);
}

static void stage_begin_call(stage *s) {
    rig_call(s->r, "c1", "echo", "{\"a\":1}");
    rig_says(s->r, "done");
    CHECK_EQ_INT(phi_prompt(s->agent, "go"), PHI_OK);
    wait_for_pid(s);
    CHECK_EQ_INT(running(s->scripts), 1);
}

TEST(a_script_that_takes_too_long_is_killed_with_all_it_started) {
    stage s;
    phi_script script = script_of(PHI_HOOK_BEFORE_TOOL, sleeper);
    script.timeout_ms = 5000;
    memset(&s, 0, sizeof s);
    REQUIRE(stage_open(&s, &script, 1, NULL));
    stage_begin_call(&s);
    rig_pass_stepping_ms(s.r, 5000);
    CHECK_EQ_INT(stage_run(&s, 5000), 0);
    check_gone(&s);
    check_result(&s, "The hook script \"sleep 60 & echo $! > pid; wait\" ran longer than 5000 ms.");
    stage_close(&s);
}

TEST(an_abort_kills_the_script) {
    stage s;
    phi_script script = script_of(PHI_HOOK_BEFORE_TOOL, sleeper);
    memset(&s, 0, sizeof s);
    REQUIRE(stage_open(&s, &script, 1, NULL));
    stage_begin_call(&s);
    CHECK_EQ_INT(phi_abort(s.agent), PHI_OK);
    CHECK_EQ_INT(stage_run(&s, 5000), 0);
    CHECK_EQ_INT(running(s.scripts), 0);
    check_gone(&s);
    check_result(&s, "Cancelled");
    stage_close(&s);
}

TEST(a_freed_agent_a_freed_set_and_a_freed_runtime_kill_the_script) {
    stage s;
    phi_script script = script_of(PHI_HOOK_BEFORE_TOOL, sleeper);
    int way;
    for (way = 0; way < 4; way++) {
        memset(&s, 0, sizeof s);
        REQUIRE(stage_open(&s, &script, 1, NULL));
        stage_begin_call(&s);
        if (way == 0) phi_agent_free(s.agent);
        if (way == 1) {
            phi_scripts_free(s.scripts);
            s.scripts = NULL;
        }
        if (way == 2)
            while (phi_runtime_close(rig_runtime(s.r)) == PHI_BUSY) (void)stage_run(&s, 0);
        CHECK_EQ_INT(running(s.scripts), way == 3 ? 1 : 0);
        rig_free(s.r);
        CHECK_EQ_INT(running(s.scripts), 0);
        check_gone(&s);
        phi_scripts_free(s.scripts);
    }
}

TEST(scripts_of_one_point_run_in_their_order_until_one_denies) {
    stage s;
    phi_script scripts[3];
    memset(&s, 0, sizeof s);
    scripts[0] = script_of(PHI_HOOK_BEFORE_TOOL, "cat >> a; echo '{\"arguments\":{\"b\":2}}'");
    scripts[1] = script_of(PHI_HOOK_BEFORE_TOOL, "cat >> a; exit 1");
    scripts[2] = script_of(PHI_HOOK_BEFORE_TOOL, "echo never >> a");
    REQUIRE(stage_open(&s, scripts, 3, NULL));
    stage_prompt_call(&s, "{\"a\":1}");
    check_written(&s, "a",
                  "{\"hook\":\"before_tool_execution\",\"tool_name\":\"echo\",\"tool_call_id\":"
                  "\"c1\",\"arguments\":{\"a\":1}}\n"
                  "{\"hook\":\"before_tool_execution\",\"tool_name\":\"echo\",\"tool_call_id\":"
                  "\"c1\",\"arguments\":{\"b\":2}}\n");
    check_result(&s, "The hook script \"cat >> a; exit 1\" exited with code 1.");
    stage_close(&s);
}

TEST(the_answer_of_a_script_is_not_taken_for_that_of_the_next) {
    stage s;
    phi_script scripts[2];
    memset(&s, 0, sizeof s);
    scripts[0] = script_of(PHI_HOOK_BEFORE_TOOL, "echo '{\"arguments\":{\"b\":2}}'");
    scripts[1] = script_of(PHI_HOOK_BEFORE_TOOL, "echo '{\"arguments\":{\"c\":3}}'");
    REQUIRE(stage_open(&s, scripts, 2, NULL));
    stage_prompt_call(&s, "{\"a\":1}");
    check_result(&s, "{\"c\":3}");
    stage_close(&s);
    memset(&s, 0, sizeof s);
    scripts[0] = script_of(PHI_HOOK_FILTER, "echo '{\"warn\":\"first\"}'");
    scripts[1] = script_of(PHI_HOOK_FILTER, "echo '{\"warn\":\"second\"}'");
    REQUIRE(stage_open(&s, scripts, 2, NULL));
    rig_says(s.r, "one");
    CHECK_EQ_INT(phi_prompt(s.agent, "go"), PHI_OK);
    CHECK_EQ_INT(stage_run(&s, 5000), 0);
    CHECK(strstr(rig_request(s.r, 0), "first\\nsecond") != NULL);
    stage_close(&s);
}

TEST(of_standard_error_a_quarter_of_the_outputs_limit_is_kept) {
    stage s;
    phi_script script = script_of(PHI_HOOK_BEFORE_TOOL, "printf %050d 0 >&2; exit 1");
    phi_scripts_desc desc = PHI_ZERO;
    memset(&s, 0, sizeof s);
    desc.max_output_bytes = 40;
    REQUIRE(stage_open(&s, &script, 1, &desc));
    stage_prompt_call(&s, "{}");
    check_result(&s, "0000000000");
    stage_close(&s);
}

TEST(a_script_may_be_for_one_tool_alone) {
    stage s;
    phi_script scripts[2];
    memset(&s, 0, sizeof s);
    scripts[0] = script_of((uint32_t)PHI_HOOK_BEFORE_TOOL | PHI_HOOK_BEFORE_TURN,
                           "echo $PHI_HOOK >> a; exit 0");
    scripts[0].tool = "other";
    REQUIRE(stage_open(&s, scripts, 1, NULL));
    stage_prompt_call(&s, "{\"a\":1}");
    check_written(&s, "a", "before_turn\nbefore_turn\n");
    check_result(&s, "{\"a\":1}");
    stage_close(&s);
}

/* The host's own hook, behind the scripts. */
typedef struct host {
    int calls;
    char arguments[64];
    phi_verdict verdict;
    phi_ticket ticket;
} host;

static phi_verdict host_hook(void *user_data, phi_hook *hook) {
    host *h = (host *)user_data;
    h->calls++;
    CHECK_EQ_INT(hook->round, 0);
    h->ticket = hook->ticket;
    (void)snprintf(h->arguments, sizeof h->arguments, "%.*s", (int)hook->arguments.len,
                   hook->arguments.at);
    return h->verdict;
}

TEST(scripts_leave_questions_from_outside_to_the_hosts_hook) {
    stage s;
    host h;
    phi_hook hook;
    phi_script script = script_of(PHI_HOOK_QUESTION, "true");
    phi_scripts_desc desc;
    int with;
    memset(&desc, 0, sizeof desc);
    desc.scripts = &script;
    desc.count = 1;
    CHECK(phi_scripts_new(&desc, NULL) == NULL);
    script = script_of(PHI_HOOK_BEFORE_TOOL, "true");
    for (with = 0; with < 2; with++) {
        memset(&s, 0, sizeof s);
        memset(&h, 0, sizeof h);
        s.desc = rig_desc();
        if (with == 1) {
            s.desc.hook_fn = host_hook;
            s.desc.hook_points = PHI_HOOK_QUESTION;
            s.desc.user_data = &h;
        }
        REQUIRE(stage_open(&s, &script, 1, NULL));
        memset(&hook, 0, sizeof hook);
        hook.point = PHI_HOOK_QUESTION;
        hook.agent = s.agent;
        CHECK_EQ_INT(s.desc.hook_fn(s.desc.hook_user_data, &hook),
                     with == 1 ? PHI_ALLOW : PHI_DENY);
        CHECK_EQ_INT(h.calls, with);
        stage_close(&s);
    }
}

TEST(the_hosts_hook_is_called_after_the_scripts_and_may_wait) {
    stage s;
    host h;
    phi_script script = script_of(PHI_HOOK_BEFORE_TOOL, "echo '{\"arguments\":{\"b\":2}}'");
    memset(&s, 0, sizeof s);
    memset(&h, 0, sizeof h);
    s.desc = rig_desc();
    s.desc.hook_fn = host_hook;
    s.desc.hook_points = (uint32_t)PHI_HOOK_BEFORE_TOOL | PHI_HOOK_AFTER_TOOL;
    s.desc.user_data = &h;
    h.verdict = PHI_WAIT;
    REQUIRE(stage_open(&s, &script, 1, NULL));
    rig_call(s.r, "c1", "echo", "{\"a\":1}");
    rig_says(s.r, "done");
    CHECK_EQ_INT(phi_prompt(s.agent, "go"), PHI_OK);
    while (h.calls == 0 && stage_run(&s, 0) > 0) continue;
    CHECK_EQ_STR(h.arguments, "{\"b\":2}");
    CHECK(strstr(rig_story(s.r), "Decision") != NULL);
    CHECK_EQ_INT(running(s.scripts), 0);
    h.verdict = PHI_ALLOW;
    CHECK_EQ_INT(phi_decide(h.ticket, PHI_ALLOW, NULL), PHI_OK);
    CHECK_EQ_INT(stage_run(&s, 5000), 0);
    CHECK_EQ_INT(h.calls, 2); /* AFTER_TOOL has no script */
    check_result(&s, "{\"b\":2}");
    stage_close(&s);
    memset(&s, 0, sizeof s);
    memset(&h, 0, sizeof h);
    script = script_of(PHI_HOOK_BEFORE_TOOL, "exit 1");
    s.desc = rig_desc();
    s.desc.hook_fn = host_hook;
    s.desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    s.desc.user_data = &h;
    REQUIRE(stage_open(&s, &script, 1, NULL));
    stage_prompt_call(&s, "{\"a\":1}");
    CHECK_EQ_INT(h.calls, 0); /* it was denied */
    stage_close(&s);
}

TEST(permissions_behind_scripts_decide_on_the_arguments_that_a_script_has_changed) {
    stage s;
    phi_permission_rule deny = PHI_ZERO;
    phi_permission_rules rules = PHI_ZERO;
    phi_permissions_desc how = PHI_ZERO;
    phi_permissions *permissions;
    phi_script script = script_of(PHI_HOOK_BEFORE_TOOL, "echo '{\"arguments\":{\"b\":2}}'");
    int i;
    deny.verdict = PHI_PERMISSION_DENY;
    deny.matches = "*\"b\":2*";
    deny.reason = "no b";
    rules.rules = &deny;
    rules.count = 1;
    rules.otherwise = PHI_PERMISSION_ALLOW;
    how.allocator = test_allocator();
    how.rules = &rules;
    how.powershell_tools = ""; /* the line is one of bash */
    permissions = phi_permissions_new(&how, NULL);
    REQUIRE(permissions != NULL);
    for (i = 0; i < 2; i++) {
        memset(&s, 0, sizeof s);
        s.desc = rig_desc();
        s.desc.hook_fn = phi_permissions_hook;
        s.desc.hook_points = PHI_HOOK_BEFORE_TOOL;
        s.desc.hook_user_data = permissions;
        if (i == 1) script = script_of(PHI_HOOK_BEFORE_TOOL, "exit 0");
        REQUIRE(stage_open(&s, &script, 1, NULL));
        stage_prompt_call(&s, "{\"a\":1}");
        check_result(&s, i == 0 ? "denied: echo: no b" : "{\"a\":1}");
        stage_close(&s);
    }
    phi_permissions_free(permissions);
}

TEST(a_denial_of_the_hosts_before_the_script_ends_counts_and_kills_it) {
    stage s;
    phi_pending_item item;
    phi_script script = script_of(PHI_HOOK_BEFORE_TOOL, sleeper);
    int with_text;
    for (with_text = 0; with_text < 2; with_text++) {
        memset(&s, 0, sizeof s);
        REQUIRE(stage_open(&s, &script, 1, NULL));
        stage_begin_call(&s);
        CHECK_EQ_INT(phi_pending(rig_runtime(s.r), &item, 1), 1);
        CHECK(item.quiet);
        CHECK_EQ_INT(phi_decide(item.ticket, PHI_DENY, with_text ? "not that" : NULL), PHI_OK);
        CHECK_EQ_INT(stage_run(&s, 5000), 0);
        check_gone(&s);
        check_result(&s, with_text ? "not that"
                                   : "Tool execution skipped by before_tool_execution hook.");
        stage_close(&s);
    }
}

TEST(nobody_allows_in_a_scripts_place) {
    stage s;
    phi_pending_item item;
    phi_script script = script_of(PHI_HOOK_BEFORE_TOOL,
                                  "touch here; until test -e go; do sleep 0.01; done; exit 1");
    memset(&s, 0, sizeof s);
    REQUIRE(stage_open(&s, &script, 1, NULL));
    rig_call(s.r, "c1", "echo", "{\"a\":1}");
    rig_says(s.r, "done");
    CHECK_EQ_INT(phi_prompt(s.agent, "go"), PHI_OK);
    while (phi_pending(rig_runtime(s.r), &item, 1) == 0 || item.kind != PHI_WAITING_DECISION)
        (void)stage_run(&s, 0);
    CHECK_EQ_INT(phi_decide(item.ticket, PHI_ALLOW, NULL), PHI_MISUSE);
    CHECK_EQ_INT(phi_decide(item.ticket, PHI_ALLOW, "with words"), PHI_MISUSE);
    CHECK_EQ_INT(phi_decide(item.ticket, PHI_WARN, NULL), PHI_MISUSE);
    CHECK_EQ_INT(running(s.scripts), 1);
    put(&s, "go", "");
    CHECK_EQ_INT(stage_run(&s, 10000), 0);
    check_result(
        &s, "The hook script \"touch here; until test -e go; do sleep 0.01; done; exit 1\" exited "
            "with code 1.");
    stage_close(&s);
}

TEST(a_scripts_denial_counts_whatever_the_person_behind_it_would_say) {
    stage s;
    host h;
    phi_script scripts[2];
    int i;
    for (i = 0; i < 2; i++) { /* the guard is the first script, or the last */
        memset(&s, 0, sizeof s);
        memset(&h, 0, sizeof h);
        scripts[i] = script_of(PHI_HOOK_BEFORE_TOOL, "sleep 0.05; exit 1");
        scripts[1 - i] = script_of(PHI_HOOK_BEFORE_TOOL, "exit 0");
        s.desc = rig_desc();
        s.desc.hook_fn = host_hook;
        s.desc.hook_points = PHI_HOOK_BEFORE_TOOL;
        s.desc.user_data = &h;
        REQUIRE(stage_open(&s, scripts, 2, NULL));
        stage_prompt_call(&s, "{\"a\":1}");
        CHECK_EQ_INT(h.calls, 0);
        check_result(&s, "The hook script \"sleep 0.05; exit 1\" exited with code 1.");
        stage_close(&s);
    }
}

TEST(points_of_a_run_can_be_denied_and_filled_by_scripts) {
    stage s;
    phi_script scripts[2];
    memset(&s, 0, sizeof s);
    scripts[0] = script_of(PHI_HOOK_BEFORE_TURN, "exit 1");
    REQUIRE(stage_open(&s, scripts, 1, NULL));
    CHECK_EQ_INT(phi_prompt(s.agent, "go"), PHI_OK);
    CHECK_EQ_INT(stage_run(&s, 5000), 0);
    CHECK_EQ_INT(rig_requests(s.r), 0);
    stage_close(&s);
    memset(&s, 0, sizeof s);
    scripts[0] = script_of(PHI_HOOK_FILTER, "echo '{\"warn\":\"mind the gap\"}'");
    scripts[1] = script_of(PHI_HOOK_FOLLOW_UP,
                           "test -e done || echo '{\"reply\":\"and now?\"}'; touch done");
    REQUIRE(stage_open(&s, scripts, 2, NULL));
    rig_says(s.r, "one");
    rig_says(s.r, "two");
    CHECK_EQ_INT(phi_prompt(s.agent, "go"), PHI_OK);
    CHECK_EQ_INT(stage_run(&s, 5000), 0);
    CHECK(strstr(rig_request(s.r, 0), "mind the gap") != NULL);
    CHECK(strstr(rig_request(s.r, 1), "and now?") != NULL);
    stage_close(&s);
    memset(&s, 0, sizeof s);
    scripts[0] = script_of(PHI_HOOK_CREDENTIAL, "echo '{\"reply\":\"sk-7\"}'");
    scripts[1] = script_of(PHI_HOOK_AFTER_TURN, "exit 7"); /* cannot deny: a warning */
    REQUIRE(stage_open(&s, scripts, 2, NULL));
    rig_says(s.r, "one");
    CHECK_EQ_INT(phi_prompt(s.agent, "go"), PHI_OK);
    CHECK_EQ_INT(stage_run(&s, 5000), 0);
    CHECK_EQ_STR(rig_key(s.r, 0), "sk-7");
    CHECK(strstr(rig_story(s.r), "at after_turn: exited with code 7") != NULL);
    stage_close(&s);
}

/* Its key is for one server; an earlier script's reply stays where a later one is for another. */
TEST(a_script_knows_the_key_of_its_server_alone) {
    static const struct {
        const char *server, *key;
    } rows[] = {{NULL, "sk-7"},
                {"https://api.anthropic.com", "sk-7"},
                {"https://api.anthropic.com/v1/", "sk-7"},
                {"https://api.anthropic.com:8443", "test-key"},
                {"http://api.anthropic.com", "test-key"},
                {"https://api.anthropic.com.elsewhere.example", "test-key"},
                {"", "test-key"}};
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        stage s;
        phi_script scripts[2];
        memset(&s, 0, sizeof s);
        scripts[0] = script_of(PHI_HOOK_CREDENTIAL, "cat > heard; echo '{\"reply\":\"sk-7\"}'");
        scripts[1] = script_of(PHI_HOOK_CREDENTIAL, "echo '{\"reply\":\"sk-8\"}'");
        scripts[0].server = rows[i].server;
        scripts[1].server = "https://elsewhere.example";
        s.desc = rig_desc();
        s.desc.model.base_url = "https://api.anthropic.com";
        REQUIRE(stage_open(&s, scripts, 2, NULL));
        rig_says(s.r, "one");
        CHECK_EQ_INT(phi_prompt(s.agent, "go"), PHI_OK);
        CHECK_EQ_INT(stage_run(&s, 5000), 0);
        CHECK_EQ_STR(rig_key(s.r, 0), rows[i].key);
        if (i == 0)
            check_written(
                &s, "heard",
                "{\"hook\":\"credential\",\"refused\":false,\"model\":\"test-model\","
                "\"provider\":\"anthropic\",\"base_url\":\"https://api.anthropic.com\"}\n");
        stage_close(&s);
    }
}

/* The hook behind a script hears the whole model, though the script's job keeps its address alone. */
static phi_verdict key_of_model(void *user_data, phi_hook *hook) {
    char *heard = (char *)user_data;
    if (CHECK(hook->model != NULL))
        (void)snprintf(heard, 100, "%s %s %s", hook->model->provider, hook->model->id,
                       hook->model->base_url);
    hook->reply = phi_str_of("sk-9");
    return PHI_ALLOW;
}

TEST(a_hook_behind_a_script_knows_the_model_of_the_key) {
    stage s;
    char heard[100] = "";
    phi_script script = script_of(PHI_HOOK_CREDENTIAL, "echo '{\"reply\":\"sk-7\"}'");
    memset(&s, 0, sizeof s);
    s.desc = rig_desc();
    s.desc.model.base_url = "https://api.anthropic.com";
    s.desc.hook_fn = key_of_model;
    s.desc.hook_points = (uint32_t)PHI_HOOK_CREDENTIAL;
    s.desc.hook_user_data = heard;
    REQUIRE(stage_open(&s, &script, 1, NULL));
    rig_says(s.r, "one");
    CHECK_EQ_INT(phi_prompt(s.agent, "go"), PHI_OK);
    CHECK_EQ_INT(stage_run(&s, 5000), 0);
    CHECK_EQ_STR(heard, "anthropic test-model https://api.anthropic.com");
    CHECK_EQ_STR(rig_key(s.r, 0), "sk-9");
    stage_close(&s);
}

TEST(commands_are_split_without_a_shell) {
    stage s;
    phi_script script = PHI_ZERO;
    memset(&s, 0, sizeof s);
    REQUIRE(test_temp_dir(s.dir, sizeof s.dir));
    put(&s, "show.sh", "for a in \"$@\"; do printf '[%s]\\n' \"$a\"; done > words\n");
    put(&s, "deny.py",
        "import json,sys\nh=json.load(sys.stdin)\n"
        "print(json.dumps({'allow':False,'reason':h['tool_name']+' '+sys.argv[1]}))\n");
    script.points = PHI_HOOK_BEFORE_TOOL;
    script.command = " ./show.sh a 'b  c' \"d\\\"e\\n\" $HOME;x f\\ g '' ";
    REQUIRE(stage_open(&s, &script, 1, NULL));
    stage_prompt_call(&s, "{\"a\":1}");
    check_written(&s, "words", "[a]\n[b  c]\n[d\"e\\n]\n[$HOME;x]\n[f g]\n[]\n");
    stage_close(&s);
    script.command = "./deny.py now";
    s.desc = rig_desc();
    REQUIRE(stage_open(&s, &script, 1, NULL));
    stage_prompt_call(&s, "{\"a\":1}");
    check_result(&s, "echo now");
    stage_close(&s);
    script.command = "python3 deny.py later";
    s.desc = rig_desc();
    REQUIRE(stage_open(&s, &script, 1, NULL));
    stage_prompt_call(&s, "{\"a\":1}");
    check_result(&s, "echo later");
    stage_close(&s);
}

static void check_refused(const phi_script *script, const char *want) {
    phi_scripts_desc desc = PHI_ZERO;
    phi_parse_error error;
    desc.scripts = script;
    desc.count = 1;
    desc.allocator = test_allocator();
    CHECK(phi_scripts_new(&desc, &error) == NULL);
    CHECK_EQ_STR(error.message, want);
    CHECK_EQ_INT(error.status, PHI_BAD_ARG);
}

TEST(faults_of_a_description_are_named) {
    static const char *const none[] = {NULL};
    phi_script script = PHI_ZERO;
    phi_scripts_desc desc = PHI_ZERO;
    phi_agent_desc agent = rig_desc();
    phi_scripts *scripts;
    phi_parse_error error;
    script.command = "x";
    check_refused(&script, "scripts[0]: points is 0x0: expected points of a run at which a script "
                           "can be called");
    script.points = PHI_HOOK_TRANSFORM_CONTEXT;
    check_refused(&script, "scripts[0]: points is 0x4: expected points of a run at which a script "
                           "can be called");
    script.points = PHI_HOOK_BEFORE_TURN;
    script.argv = none;
    check_refused(&script, "scripts[0]: expected either command or argv");
    script.command = NULL;
    check_refused(&script, "scripts[0]: argv is empty");
    script.argv = NULL;
    script.command = "  ";
    check_refused(&script, "scripts[0]: the command is empty");
    script.command = "a 'b";
    check_refused(&script, "scripts[0]: a quote is not closed");
    CHECK(phi_scripts_new(NULL, &error) == NULL);
    CHECK(phi_scripts_new(NULL, NULL) == NULL);
    scripts = phi_scripts_new(&desc, NULL); /* none: the hook stays the host's */
    CHECK_EQ_INT(phi_scripts_use(scripts, &agent), PHI_OK);
    CHECK(agent.hook_fn == NULL);
    CHECK_EQ_INT(phi_scripts_use(scripts, NULL), PHI_BAD_ARG);
    phi_scripts_free(scripts);
    phi_scripts_free(NULL);
}

TEST(many_calls_at_once_have_a_process_each_and_a_bounded_number_of_them) {
    static const char *const three[] = {"c1 echo {\"n\":1}", "c2 echo {\"n\":2}",
                                        "c3 echo {\"n\":3}", "c4 echo {\"n\":4}",
                                        "c5 echo {\"n\":5}"};
    stage s;
    phi_scripts_desc desc = PHI_ZERO;
    phi_script script = script_of(PHI_HOOK_BEFORE_TOOL, "echo + >> log; sleep 0.3; echo - >> log");
    char path[1024], *text;
    int deep = 0, most = 0;
    size_t i;
    desc.max_running = 2;
    memset(&s, 0, sizeof s);
    REQUIRE(stage_open(&s, &script, 1, &desc));
    rig_calls(s.r, three, 5);
    rig_says(s.r, "done");
    CHECK_EQ_INT(phi_prompt(s.agent, "go"), PHI_OK);
    CHECK_EQ_INT(stage_run(&s, 10000), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s.agent)), 8);
    (void)snprintf(path, sizeof path, "%s/log", s.dir);
    text = test_read_file(path, NULL);
    REQUIRE(CHECK(text != NULL));
    for (i = 0; text[i] != '\0'; i++) {
        if (text[i] == '+') deep++;
        if (text[i] == '-') deep--;
        if (deep > most) most = deep;
    }
    CHECK_EQ_INT(i, 20);
    CHECK_EQ_INT(most, 2);
    free(text);
    stage_close(&s);
}

static bool sweep_once(int n) {
    stage s;
    phi_status status;
    bool tripped;
    phi_scripts_desc desc = PHI_ZERO;
    phi_script scripts[2];
    phi_agent_desc agent = rig_desc();
    phi_scripts *set;
    int left = 20000;
    memset(&s, 0, sizeof s);
    scripts[0] = script_of((uint32_t)PHI_HOOK_BEFORE_TOOL | PHI_HOOK_AFTER_TURN,
                           "echo '{\"arguments\":{\"b\":2}}'");
    scripts[1] = script_of(PHI_HOOK_BEFORE_TOOL, "echo no >&2; exit 1");
    s.r = rig_new();
    s.tool = rig_echo();
    agent.tools = &s.tool;
    agent.tool_count = 1;
    desc.scripts = scripts;
    desc.count = 2;
    desc.allocator = test_allocator();
    set = phi_scripts_new(&desc, NULL);
    CHECK_EQ_INT(phi_scripts_use(set, &agent), PHI_OK);
    s.agent = rig_agent(s.r, &agent);
    rig_call(s.r, "c1", "echo", "{\"a\":1}");
    rig_says(s.r, "done");
    test_alloc_fail_at(n);
    status = phi_prompt(s.agent, "go");
    CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
    rig_silent(s.r, true);
    while (status == PHI_OK && rig_step(s.r) > 0 && left-- > 0) {
        (void)usleep(1000);
        rig_pass_ms(s.r, 1);
    }
    CHECK(left > 0);
    tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    CHECK_EQ_INT(running(set), 0);
    CHECK(phi_thread_message_count(phi_agent_thread(s.agent)) < 3 ||
          !phi_str_equal(phi_thread_message_at(phi_agent_thread(s.agent), 2)->content[0].text,
                         phi_str_of("{\"a\":1}")));
    rig_free(s.r);
    phi_scripts_free(set);
    return tripped;
}

TEST(each_failed_allocation_leaves_nothing_behind_and_never_allows) {
    int n = 0, set_n = 0;
    bool tripped;
    phi_scripts_desc desc = PHI_ZERO;
    phi_script script = script_of(PHI_HOOK_BEFORE_TOOL, "x");
    static const char *const env[] = {"A=b", NULL};
    while (sweep_once(n) && n < 1000) n++;
    CHECK(n > 50);
    desc.scripts = &script;
    desc.count = 1;
    desc.env = env;
    desc.workspace = "/";
    desc.allocator = test_allocator();
    do {
        test_alloc_fail_at(set_n++);
        phi_scripts_free(phi_scripts_new(&desc, NULL));
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped && set_n < 100);
}

TEST(a_restored_snapshot_runs_the_script_anew) {
    stage s;
    phi_script script = script_of(PHI_HOOK_BEFORE_TOOL,
                                  "if test -e pid; then echo '{\"arguments\":{\"b\":2}}'; else "
                                  "sleep 60 & echo $! > pid; wait; fi");
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_str saved;
    memset(&s, 0, sizeof s);
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    REQUIRE(stage_open(&s, &script, 1, NULL));
    stage_begin_call(&s);
    CHECK_EQ_INT(phi_agent_snapshot(s.agent, &arena, &saved), PHI_OK);
    phi_agent_free(s.agent);
    check_gone(&s);
    s.agent = phi_agent_restore(rig_runtime(s.r), &s.desc, saved, PHI_RESTORE_RESUME);
    REQUIRE(CHECK(phi_agent_alive(s.agent)));
    CHECK_EQ_INT(stage_run(&s, 5000), 0);
    check_result(&s, "{\"b\":2}");
    phi_arena_free(&arena);
    stage_close(&s);
}

static phi_verdict frees_its_agent(void *user_data, phi_hook *hook) {
    (void)user_data;
    phi_agent_free(hook->agent);
    return PHI_ALLOW;
}

TEST(the_hosts_hook_may_free_the_agent_after_the_script) {
    static const phi_hook_point points[] = {PHI_HOOK_BEFORE_LOOP, PHI_HOOK_BEFORE_TOOL,
                                            PHI_HOOK_AFTER_TOOL, PHI_HOOK_AFTER_TURN,
                                            PHI_HOOK_AFTER_LOOP};
    size_t i;
    for (i = 0; i < PHI__COUNT(points); i++) {
        stage s;
        phi_script script = script_of(points[i], "echo '{\"arguments\":{\"b\":2}}'");
        memset(&s, 0, sizeof s);
        s.desc = rig_desc();
        s.desc.hook_fn = frees_its_agent;
        s.desc.hook_points = points[i];
        REQUIRE(stage_open(&s, &script, 1, NULL));
        rig_call(s.r, "c1", "echo", "{\"a\":1}");
        rig_says(s.r, "done");
        CHECK_EQ_INT(phi_prompt(s.agent, "go"), PHI_OK);
        CHECK_EQ_INT(stage_run(&s, 5000), 0);
        CHECK(!phi_agent_alive(s.agent));
        stage_close(&s);
    }
}

TEST(an_answer_may_come_in_pieces_and_a_large_input_arrives_whole) {
    stage s;
    char *text = (char *)malloc(300001);
    phi_script script =
        script_of(PHI_HOOK_FILTER, "wc -c > size; for c in '{' '\"a' 'llow\":' 'fal' 'se}'; do "
                                   "printf %s \"$c\"; sleep 0.01; done");
    memset(&s, 0, sizeof s);
    REQUIRE(CHECK(text != NULL));
    REQUIRE(stage_open(&s, &script, 1, NULL));
    memset(text, 'x', 300000);
    text[300000] = '\0';
    CHECK_EQ_INT(phi_prompt(s.agent, text), PHI_OK);
    CHECK_EQ_INT(stage_run(&s, 5000), 0);
    CHECK_EQ_INT(rig_requests(s.r), 0);
    check_written(&s, "size", "300028\n");
    free(text);
    stage_close(&s);
}

TEST_MAIN(TEST_ENTRY(a_script_reads_the_numbers_of_a_compaction_and_may_deny_it),
          TEST_ENTRY(a_restored_snapshot_runs_the_script_anew),
          TEST_ENTRY(the_hosts_hook_may_free_the_agent_after_the_script),
          TEST_ENTRY(an_answer_may_come_in_pieces_and_a_large_input_arrives_whole),
          TEST_ENTRY(a_script_reads_the_hook_as_json_at_every_point),
          TEST_ENTRY(the_environment_has_the_facts_and_no_keys),
          TEST_ENTRY(a_script_allows_denies_or_changes_the_arguments),
          TEST_ENTRY(failures_deny_but_a_script_that_cannot_be_started_allows),
          TEST_ENTRY(a_script_that_takes_too_long_is_killed_with_all_it_started),
          TEST_ENTRY(an_abort_kills_the_script),
          TEST_ENTRY(a_freed_agent_a_freed_set_and_a_freed_runtime_kill_the_script),
          TEST_ENTRY(scripts_of_one_point_run_in_their_order_until_one_denies),
          TEST_ENTRY(a_script_may_be_for_one_tool_alone),
          TEST_ENTRY(the_answer_of_a_script_is_not_taken_for_that_of_the_next),
          TEST_ENTRY(of_standard_error_a_quarter_of_the_outputs_limit_is_kept),
          TEST_ENTRY(scripts_leave_questions_from_outside_to_the_hosts_hook),
          TEST_ENTRY(the_hosts_hook_is_called_after_the_scripts_and_may_wait),
          TEST_ENTRY(permissions_behind_scripts_decide_on_the_arguments_that_a_script_has_changed),
          TEST_ENTRY(a_denial_of_the_hosts_before_the_script_ends_counts_and_kills_it),
          TEST_ENTRY(nobody_allows_in_a_scripts_place),
          TEST_ENTRY(a_scripts_denial_counts_whatever_the_person_behind_it_would_say),
          TEST_ENTRY(points_of_a_run_can_be_denied_and_filled_by_scripts),
          TEST_ENTRY(a_hook_behind_a_script_knows_the_model_of_the_key),
          TEST_ENTRY(commands_are_split_without_a_shell),
          TEST_ENTRY(a_script_knows_the_key_of_its_server_alone),
          TEST_ENTRY(faults_of_a_description_are_named),
          TEST_ENTRY(many_calls_at_once_have_a_process_each_and_a_bounded_number_of_them),
          TEST_ENTRY(each_failed_allocation_leaves_nothing_behind_and_never_allows))
