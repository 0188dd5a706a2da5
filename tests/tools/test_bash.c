/* test_bash.c - the tool that runs commands: its texts, its limits, its ends. */
#include "calls.h"
#include "loop/events.h"

#include <errno.h>
#include <signal.h>

TEST(output_is_given_behind_the_exit_code) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    check_call(&c, "bash", "{\"command\":\"echo hello\"}", false, "Exit code: 0\nhello\n",
               "{\"exit_code\":0,\"success\":true}");
    check_call(&c, "bash", "{\"command\":\"echo a; echo b >&2\"}", false,
               "Exit code: 0\nSTDOUT:\na\n\nSTDERR:\nb\n", NULL);
    check_call(&c, "bash", "{\"command\":\"true\"}", false, "Exit code: 0\n", NULL);
    calls_close(&c);
}

TEST(another_exit_code_is_a_result_and_no_error) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    check_call(&c, "bash", "{\"command\":\"exit 3\"}", false, "Exit code: 3\n",
               "{\"exit_code\":3,\"success\":false}");
#if defined(_WIN32) /* TerminateProcess gives a code */
    check_call(&c, "bash", "{\"command\":\"kill -9 $$\"}", false, "Exit code: 9\n",
               "{\"exit_code\":9,\"success\":false}");
#else
    check_call(&c, "bash", "{\"command\":\"kill -9 $$\"}", false, "Exit code: -1\n",
               "{\"exit_code\":-1,\"success\":false}");
#endif
    calls_close(&c);
}

TEST(commands_run_in_the_workspace) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_put(&c, "here.txt", "x");
    check_call(&c, "bash", "{\"command\":\"ls\"}", false, "Exit code: 0\nhere.txt\n", NULL);
    calls_close(&c);
}

TEST(keys_are_not_in_a_commands_environment_unless_the_host_lists_them) {
    static const char *const kept[] = {"PHI_TEST_TOKEN", NULL};
    static const char line[] =
        "{\"command\":\"echo a=$PHI_TEST_API_KEY b=$PHI_TEST_TOKEN c=$PHI_TEST_PLAIN\"}";
    phi_tools_desc desc = PHI_ZERO;
    calls c;
    CHECK_EQ_INT(setenv("PHI_TEST_API_KEY", "one", 1), 0);
    CHECK_EQ_INT(setenv("PHI_TEST_TOKEN", "two", 1), 0);
    CHECK_EQ_INT(setenv("PHI_TEST_PLAIN", "three", 1), 0);
    REQUIRE(calls_open(&c, NULL));
    check_call(&c, "bash", line, false, "Exit code: 0\na= b= c=three\n", NULL);
    calls_close(&c);
    desc.keep_keys = kept;
    REQUIRE(calls_open(&c, &desc));
    check_call(&c, "bash", line, false, "Exit code: 0\na= b=two c=three\n", NULL);
    calls_close(&c);
    (void)unsetenv("PHI_TEST_API_KEY");
    (void)unsetenv("PHI_TEST_TOKEN");
    (void)unsetenv("PHI_TEST_PLAIN");
}

TEST(git_takes_no_directory_that_only_looks_like_a_repository_for_one) {
    static const char line[] =
        "{\"command\":\"git config --get safe.bareRepository; git config --get phi.test\"}";
    calls c;
    REQUIRE(calls_open(&c, NULL));
    check_call(&c, "bash", line, false, "Exit code: 1\nexplicit\n", NULL);
    calls_close(&c);
    CHECK_EQ_INT(setenv("GIT_CONFIG_COUNT", "1", 1), 0);
    CHECK_EQ_INT(setenv("GIT_CONFIG_KEY_0", "phi.test", 1), 0);
    CHECK_EQ_INT(setenv("GIT_CONFIG_VALUE_0", "kept", 1), 0);
    REQUIRE(calls_open(&c, NULL));
    check_call(&c, "bash", line, false, "Exit code: 0\nexplicit\nkept\n", NULL);
    calls_close(&c);
    (void)unsetenv("GIT_CONFIG_COUNT");
    (void)unsetenv("GIT_CONFIG_KEY_0");
    (void)unsetenv("GIT_CONFIG_VALUE_0");
}

TEST(output_is_told_while_the_command_runs_at_most_once_a_step) {
    int told, left = 10000;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_begin(&c, "bash",
                "{\"command\":\"echo one; sleep 0.2; echo two >&2; sleep 0.2; echo three\"}");
    do {
        told = c.update_count;
        (void)calls_step(&c);
        CHECK(c.update_count - told <= 1);
    } while (!c.ended && left-- > 0);
    CHECK(c.update_count >= 2);
    CHECK_EQ_STR(c.updates, "one\ntwo\nthree\n");
    CHECK_EQ_STR(c.text, "Exit code: 0\nSTDOUT:\none\nthree\n\nSTDERR:\ntwo\n");
    while (calls_step(&c) > 0) continue;
    calls_close(&c);
}

TEST(a_character_that_comes_in_two_pieces_is_told_in_one) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    if (call(&c, "bash",
             "{\"command\":\"printf 'a\\\\xe2\\\\x82'; sleep 0.2; printf '\\\\xacz'; sleep 0.1;"
             " printf '\\\\xff'\"}"))
        CHECK_EQ_STR(c.text, "Exit code: 0\na\xe2\x82\xacz\xef\xbf\xbd");
    CHECK_EQ_STR(c.updates, "a\xe2\x82\xacz\xef\xbf\xbd");
    CHECK(c.update_count >= 2);
    /* Characters that break off, one after another, a byte at a time. */
    if (call(&c, "bash",
             "{\"command\":\"for b in xe2 x82 xe2 x82 xf0 x9f x98 xf0 x9f x98 x80 xe2; do"
             " printf '\\\\'$b; sleep 0.02; done\"}"))
        CHECK_EQ_STR(c.text, "Exit code: 0\n\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                             "\xf0\x9f\x98\x80\xef\xbf\xbd");
    calls_close(&c);
}

TEST(of_a_stream_over_its_limit_head_and_tail_stay_cut_between_characters) {
    phi_tools_desc desc = PHI_ZERO;
    calls c;
    desc.max_output_bytes = 10;
    REQUIRE(calls_open(&c, &desc));
    check_call(&c, "bash", "{\"command\":\"printf 1234567890\"}", false, "Exit code: 0\n1234567890",
               NULL);
    check_call(&c, "bash", "{\"command\":\"printf 12345678901\"}", false,
               "Exit code: 0\n12345\n[... 1 bytes left out ...]\n78901\n"
               "... (output truncated): 10 of 11 bytes were kept",
               NULL);
    check_call(&c, "bash",
               "{\"command\":\"printf '1234\xe2\x82\xac-\xe2\x82\xac"
               "5678'; printf abcdefghijk >&2\"}",
               false,
               "Exit code: 0\nSTDOUT:\n1234\n[... 7 bytes left out ...]\n5678\n"
               "... (output truncated): 8 of 15 bytes were kept\n"
               "STDERR:\nabcde\n[... 1 bytes left out ...]\nghijk\n"
               "... (output truncated): 10 of 11 bytes were kept",
               NULL);
    calls_close(&c);
}

TEST(the_tail_of_a_stream_is_the_last_that_came_wherever_it_was_split) {
    phi_tools_desc desc = PHI_ZERO;
    char want[200], command[200];
    int most, at;
    calls c;
    for (most = 1; most <= 6; most++) {
        desc.max_output_bytes = (uint32_t)most;
        REQUIRE(calls_open(&c, &desc));
        for (at = 1; at<12; at += most> 4 ? 1 : 4) {
            (void)snprintf(command, sizeof command,
                           "{\"command\":\"printf %.*s; sleep 0.01; printf %s\"}", at,
                           "abcdefghijkl", "abcdefghijkl" + at);
            (void)snprintf(want, sizeof want,
                           "Exit code: 0\n%.*s\n[... %d bytes left out ...]\n%s\n"
                           "... (output truncated): %d of 12 bytes were kept",
                           most - most / 2, "abcdefghijkl", 12 - most,
                           "abcdefghijkl" + 12 - most / 2, most);
            check_call(&c, "bash", command, false, want, NULL);
        }
        calls_close(&c);
    }
}

TEST(of_ten_megabytes_256_kib_are_kept_and_the_command_still_ends) {
    static const char last[] = "x\nthe end\n\n... (output truncated): 262144 of 10000009 bytes "
                               "were kept";
    phi_tools_desc desc = PHI_ZERO;
    calls c;
    desc.max_bash_result_bytes = PHI_UNLIMITED;
    REQUIRE(calls_open(&c, &desc));
    if (call(&c, "bash",
             "{\"command\":\"head -c 10000000 /dev/zero | tr '\\\\0' x; echo; echo the end;"
             " exit 4\"}")) {
        CHECK(strncmp(c.text, "Exit code: 4\nxxxx", 17) == 0);
        CHECK_EQ_INT(c.len, 13 + 262144 + 34 + 59);
        CHECK(strstr(c.text, "x\n[... 9737865 bytes left out ...]\nx") != NULL);
        REQUIRE(c.len >= sizeof last - 1);
        CHECK_EQ_STR(c.text + c.len - (sizeof last - 1), last);
        CHECK_EQ_INT(strlen(c.updates), 262144);
    }
    calls_close(&c);
}

TEST(the_model_gets_32_kib_of_a_command_by_default_head_and_tail) {
    phi_tools_desc desc = PHI_ZERO;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    if (call(&c, "bash", "{\"command\":\"head -c 32755 /dev/zero | tr '\\\\0' x\"}")) {
        CHECK_EQ_INT(c.len, 32768);
        CHECK(strstr(c.text, "left out") == NULL);
    }
    if (call(&c, "bash",
             "{\"command\":\"echo begin; head -c 100000 /dev/zero | tr '\\\\0' x;"
             " echo end\"}")) {
        CHECK(c.len <= 32768 && c.len > 32700);
        CHECK(strncmp(c.text, "Exit code: 0\nbegin\nxxx", 22) == 0);
        CHECK(strstr(c.text, "x\n[... 67288 bytes left out ...]\nx") != NULL);
        CHECK_EQ_STR(c.text + c.len - 5, "xend\n");
    }
    calls_close(&c);
    desc.max_bash_result_bytes = 100;
    REQUIRE(calls_open(&c, &desc));
    if (call(&c, "bash", "{\"command\":\"seq 1 1000000\"}")) {
        CHECK(c.len <= 100);
        CHECK(strncmp(c.text, "Exit code: 0\n1\n2\n", 17) == 0);
        CHECK_EQ_STR(c.text + c.len - 33, "262144 of 6888896 bytes were kept");
    }
    calls_close(&c);
}

TEST(a_cut_stream_survives_every_failed_allocation) {
    bool tripped = true;
    int n;
    for (n = 0; tripped && n < 1000; n++) {
        phi_tools_desc desc = PHI_ZERO;
        int left = 20000;
        calls c;
        desc.max_output_bytes = 3000;
        desc.max_bash_result_bytes = 2000;
        REQUIRE(calls_open(&c, &desc));
        calls_begin(&c, "bash", "{\"command\":\"seq 1 5000\"}");
        test_alloc_fail_at(n);
        while (calls_step(&c) > 0 && left-- > 0) continue;
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK(left > 0);
        if (!tripped) CHECK_EQ_STR(c.text + c.len - 33, "d): 3000 of 23893 bytes were kept");
        calls_close(&c);
    }
    printf("  %d allocations failed, one after another\n", n - 1);
    CHECK(!tripped);
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

TEST(a_command_that_takes_too_long_is_killed_with_all_it_started) {
    phi_tools_desc desc = PHI_ZERO;
    char *text;
    long pid = 0;
    int left = 2000;
    calls c;
    desc.bash_timeout_ms = 500;
    REQUIRE(calls_open(&c, &desc));
    check_call(&c, "bash", "{\"command\":\"sleep 60 & echo $! > pid; wait\"}", true,
               "Command timed out after 0.5s", "");
    text = test_read_file(calls_path(&c, "pid"), NULL);
    if (text != NULL) pid = atol(text);
    free(text);
    while (left-- > 0 && !is_gone(pid)) (void)usleep(1000);
    CHECK(pid > 1 && is_gone(pid));
    calls_close(&c);
    desc.bash_timeout_ms = 2000;
    REQUIRE(calls_open(&c, &desc));
    calls_begin(&c, "bash", "{\"command\":\"sleep 60\"}");
    calls_go_on(&c, 3);
    rig_pass_stepping_ms(c.r, 2000);
    while (calls_step(&c) > 0) continue;
    CHECK_EQ_STR(c.text, "Command timed out after 2s");
    calls_close(&c);
}

TEST(the_standard_deadline_is_two_minutes) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_begin(&c, "bash", "{\"command\":\"sleep 600\"}");
    calls_go_on(&c, 20);
    rig_pass_stepping_ms(c.r, 119000);
    (void)calls_step(&c);
    CHECK(!c.ended);
    rig_pass_stepping_ms(c.r, 1500);
    while (calls_step(&c) > 0) continue;
    CHECK_EQ_STR(c.text, "Command timed out after 120s");
    CHECK(c.is_error);
    calls_close(&c);
}

TEST(dangerous_commands_are_blocked) {
    static const char *const commands[] = {"sudo rm -rf / --no-preserve-root", "mkfs.ext4 /dev/sda",
                                           "dd if=/dev/zero of=/dev/sda", ":(){:|:&};:"};
    static const char *const patterns[] = {"rm -rf /", "mkfs", "dd if=", ":(){:|:&};:"};
    char arguments[200], want[200];
    size_t i;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    for (i = 0; i < 4; i++) {
        (void)snprintf(arguments, sizeof arguments, "{\"command\":\"%s\"}", commands[i]);
        (void)snprintf(want, sizeof want,
                       "Command blocked by safety policy: contains '%s'. This pattern is denied "
                       "for safety.",
                       patterns[i]);
        check_call(&c, "bash", arguments, true, want, "");
    }
    calls_close(&c);
}

/* A command that must not run, given to bash as JSON. */
static void check_denied(calls *c, const char *command, const char *pattern) {
    char arguments[300], want[200];
    (void)snprintf(arguments, sizeof arguments, "{\"command\":\"%s\"}", command);
    (void)snprintf(want, sizeof want,
                   "Command blocked by safety policy: contains '%s'. This pattern is denied "
                   "for safety.",
                   pattern);
    CHECK(call(c, "bash", arguments) && c->is_error);
    if (!CHECK_EQ_STR(c->text, want)) printf("  %s\n", command);
}

TEST(spellings_of_flags_quotes_and_blanks_do_not_pass_what_is_denied) {
    static const char *const removals[] = {"rm -fr /none/x",
                                           "rm -r -f /none/x",
                                           "rm -f -r /none/x",
                                           "rm  -rf  /none/x",
                                           "rm\\t-rf\\t/none/x",
                                           "rm -rf -- /none/x",
                                           "rm -r -f -- /none/x",
                                           "rm --recursive --force /none/x",
                                           "rm -Rf /none/x",
                                           "rm -rvf /none/x",
                                           "rm -vfr --one-file-system /none/x",
                                           "rm -rf '/none/x'",
                                           "'rm' -rf \\\"/none/x\\\"",
                                           "r\\\\m -rf /none/x",
                                           "rm \\\\\\n -rf /none/x",
                                           "/bin/rm -fr /none/x",
                                           "cd /tmp; rm -fr here /none/x",
                                           "true&&rm -fr /none/x",
                                           "(rm -fr /none/x)",
                                           "echo `rm -fr /none/x`",
                                           "rm -fr here; rm -fr /none/x",
                                           "rm /none/x -r -f"};
    size_t i;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    for (i = 0; i < sizeof removals / sizeof removals[0]; i++)
        check_denied(&c, removals[i], "rm -rf /");
    check_denied(&c, "dd  if=/dev/null of=x", "dd if=");
    check_denied(&c, "dd 'if=/dev/null' of=x", "dd if=");
    check_denied(&c, "mk'fs'.ext4 x", "mkfs");
    check_denied(&c, ":() { :|: & }; :", ":(){:|:&};:");
    calls_close(&c);
}

TEST(what_only_looks_like_a_denied_command_runs) {
    static const char *const commands[] = {"rm -rf none/x",       "rm -f /none/x",
                                           "rm -r none /none/y",  "rm -rf ./none/x",
                                           "echo farm -fr /",     "rm -fr none; ls /",
                                           "true rmdir -rf none", "rm -fr none | cat / || true"};
    char arguments[200];
    size_t i;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    for (i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        (void)snprintf(arguments, sizeof arguments, "{\"command\":\"%s\"}", commands[i]);
        CHECK(call(&c, "bash", arguments));
        if (!CHECK(strncmp(c.text, "Exit code: ", 11) == 0)) printf("  %s\n", commands[i]);
    }
    calls_close(&c);
}

TEST(deny_patterns_can_be_others_or_none) {
    static const char *const none[] = {NULL};
    static const char *const curl[] = {"curl", NULL};
    phi_tools_desc desc = PHI_ZERO;
    calls c;
    desc.deny_patterns = none;
    REQUIRE(calls_open(&c, &desc));
    check_call(&c, "bash", "{\"command\":\"echo mkfs\"}", false, "Exit code: 0\nmkfs\n", NULL);
    calls_close(&c);
    desc.deny_patterns = curl;
    REQUIRE(calls_open(&c, &desc));
    check_call(&c, "bash", "{\"command\":\"curl http://x\"}", true,
               "Command blocked by safety policy: contains 'curl'. This pattern is denied for "
               "safety.",
               "");
    calls_close(&c);
}

static bool confirms(void *user_data, const char *command) {
    (*(int *)user_data)++;
    return strcmp(command, "echo yes") == 0;
}

TEST(a_command_is_confirmed_when_the_host_wants_to_be_asked) {
    phi_tools_desc desc = PHI_ZERO;
    int asked = 0;
    calls c;
    desc.confirm_fn = confirms;
    desc.user_data = &asked;
    REQUIRE(calls_open(&c, &desc));
    check_call(&c, "bash", "{\"command\":\"echo yes\"}", false, "Exit code: 0\nyes\n", NULL);
    check_call(&c, "bash", "{\"command\":\"echo no\"}", true,
               "Command was not confirmed by the user.", "");
    check_call(&c, "bash", "{\"command\":\"mkfs\"}", true,
               "Command blocked by safety policy: contains 'mkfs'. This pattern is denied for "
               "safety.",
               "");
    CHECK_EQ_INT(asked, 2);
    calls_close(&c);
}

TEST(bad_arguments_are_told_in_words) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    check_call(&c, "bash", "{}", true, "Invalid arguments: missing 'command' parameter", "");
    check_call(&c, "bash", "{\"command\":7}", true,
               "Invalid arguments: missing 'command' parameter", "");
    check_call(&c, "bash", "{\"command\":\"a\\u0000b\"}", true,
               "Invalid arguments: 'command' must not contain a NUL character", "");
    calls_close(&c);
}

TEST(a_workspace_that_is_not_there_is_told) {
    phi_tools_desc desc = PHI_ZERO;
    calls c;
    desc.workspace = "/no/such/place";
    REQUIRE(calls_open(&c, &desc));
    check_call(&c, "bash", "{\"command\":\"ls\"}", true,
               "Failed to execute: No such file or directory", "");
    calls_close(&c);
}

TEST(cancelling_in_the_middle_kills_and_leaves_a_usable_agent) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_begin(&c, "bash", "{\"command\":\"echo begun; sleep 60\"}");
    while (c.update_count == 0 && c.steps < 5000) (void)calls_step(&c);
    CHECK_EQ_STR(c.updates, "begun\n");
    CHECK_EQ_INT(phi_abort(c.agent), PHI_OK);
    while (calls_step(&c) > 0) continue;
    CHECK_EQ_STR(c.text, "Cancelled");
    CHECK(c.is_error);
    rig_says(c.r, "unused");
    calls_close(&c);
}

TEST(finishing_the_call_from_outside_kills_the_command) {
    long pid;
    int left = 5000;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_begin(&c, "bash", "{\"command\":\"echo $$; exec sleep 60\"}");
    while (c.update_count == 0 && c.steps < 5000) (void)calls_step(&c);
    pid = strtol(c.updates, NULL, 10);
    CHECK_EQ_INT(phi_call_reply(c.call, "skipped"), PHI_OK);
    while (calls_step(&c) > 0) continue;
    CHECK_EQ_STR(c.text, "skipped");
    while (left-- > 0 && kill((pid_t)pid, 0) == 0) {
        (void)calls_step(&c);
        (void)usleep(1000);
    }
    CHECK(pid > 1 && kill((pid_t)pid, 0) != 0);
    calls_close(&c);
}

TEST(freeing_the_agent_in_the_middle_leaves_nothing) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_begin(&c, "bash", "{\"command\":\"sleep 60\"}");
    calls_go_on(&c, 30);
    phi_agent_free(c.agent);
    calls_go_on(&c, 60);
    calls_close(&c);
}

TEST(more_commands_than_a_step_may_start_wait_their_turn) {
    const char *six[6];
    char lines[6][80];
    size_t i;
    int left = 10000;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    for (i = 0; i < 6; i++) {
        (void)snprintf(lines[i], sizeof lines[i], "c%u bash {\"command\":\"echo %u\"}", (unsigned)i,
                       (unsigned)i);
        six[i] = lines[i];
    }
    rig_calls(c.r, six, 6);
    rig_says(c.r, "done");
    CHECK_EQ_INT(phi_prompt(c.agent, "go"), PHI_OK);
    while (calls_step(&c) > 0 && left-- > 0) continue;
    CHECK_EQ_INT(c.results, 6);
    CHECK(!c.is_error);
    calls_close(&c);
}

TEST(updates_wait_for_a_host_that_does_not_look_and_none_is_lost) {
    phi_event event;
    calls c;
    int i;
    phi_tools_desc desc = PHI_ZERO;
    desc.max_bash_result_bytes = PHI_UNLIMITED;
    REQUIRE(calls_open(&c, &desc));
    calls_begin(&c, "bash", "{\"command\":\"head -c 200000 /dev/zero | tr '\\\\0' y\"}");
    for (i = 0; i < 300; i++) { /* nobody pops an event */
        (void)rig_step(c.r);
        (void)usleep(1000);
        rig_pass_ms(c.r, 1);
    }
    while (phi_next_event(rig_runtime(c.r), &event)) calls_event(&c, &event);
    while (calls_step(&c) > 0) continue;
    CHECK_EQ_INT(c.results, 1);
    CHECK_EQ_INT(c.len, 13 + 200000);
    CHECK_EQ_INT(strlen(c.updates), 200000);
    calls_close(&c);
}

TEST_MAIN(TEST_ENTRY(output_is_given_behind_the_exit_code),
          TEST_ENTRY(another_exit_code_is_a_result_and_no_error),
          TEST_ENTRY(commands_run_in_the_workspace),
          TEST_ENTRY(keys_are_not_in_a_commands_environment_unless_the_host_lists_them),
          TEST_ENTRY(git_takes_no_directory_that_only_looks_like_a_repository_for_one),
          TEST_ENTRY(output_is_told_while_the_command_runs_at_most_once_a_step),
          TEST_ENTRY(a_character_that_comes_in_two_pieces_is_told_in_one),
          TEST_ENTRY(of_a_stream_over_its_limit_head_and_tail_stay_cut_between_characters),
          TEST_ENTRY(the_tail_of_a_stream_is_the_last_that_came_wherever_it_was_split),
          TEST_ENTRY(of_ten_megabytes_256_kib_are_kept_and_the_command_still_ends),
          TEST_ENTRY(the_model_gets_32_kib_of_a_command_by_default_head_and_tail),
          TEST_ENTRY(a_cut_stream_survives_every_failed_allocation),
          TEST_ENTRY(a_command_that_takes_too_long_is_killed_with_all_it_started),
          TEST_ENTRY(the_standard_deadline_is_two_minutes),
          TEST_ENTRY(dangerous_commands_are_blocked),
          TEST_ENTRY(spellings_of_flags_quotes_and_blanks_do_not_pass_what_is_denied),
          TEST_ENTRY(what_only_looks_like_a_denied_command_runs),
          TEST_ENTRY(deny_patterns_can_be_others_or_none),
          TEST_ENTRY(a_command_is_confirmed_when_the_host_wants_to_be_asked),
          TEST_ENTRY(bad_arguments_are_told_in_words),
          TEST_ENTRY(a_workspace_that_is_not_there_is_told),
          TEST_ENTRY(cancelling_in_the_middle_kills_and_leaves_a_usable_agent),
          TEST_ENTRY(finishing_the_call_from_outside_kills_the_command),
          TEST_ENTRY(freeing_the_agent_in_the_middle_leaves_nothing),
          TEST_ENTRY(more_commands_than_a_step_may_start_wait_their_turn),
          TEST_ENTRY(updates_wait_for_a_host_that_does_not_look_and_none_is_lost))
