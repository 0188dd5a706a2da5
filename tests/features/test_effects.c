/* test_effects.c - the tool state: what tools see of it, what their effects make of it, and what of
   it a log, a branch, a snapshot, a store and a tape have. */
#include "support/tool_state.h"
#include "features/effects.h"
#include "features/facts.h"
#include "record/event_json.h"

#include "agent/one_shot_run.h"
#include "agent/snapshot.h"
#include "log/thread_in.h"
#include "loop/inner_in.h"
#include "persist/introspect.h"
#include "record/replay.h"
#include "support/heard.h"
#include "support/store_mem.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"

enum { CALLS = 16 };

/* A tool whose arguments are {"fx":effects, "text":...}: it has the effects that it is called
   with. */
typedef struct bench {
    phi_call calls[CALLS];
    char seen[CALLS][200];  /* the state that the call was shown when it began */
    char args[CALLS][2000]; /* its arguments */
    size_t started;
    bool holds; /* calls wait for give_at */
    bool blind; /* they do not look at the state */
    bool resumes;
    int fails; /* so many results are errors first */
    phi_agent *frees;
} bench;

static phi_status give(const bench *b, phi_call call, const char *args, bool is_error) {
    phi_memory memory;
    phi_arena arena;
    phi_json *root = NULL;
    phi_content content;
    phi_tool_result result;
    phi_str fx = {NULL, 0};
    phi_status status;
    (void)b;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    CHECK_EQ_INT(phi_json_parse(&arena, phi_str_of(args), 0, &root, NULL), PHI_OK);
    if (phi_json_get(root, "fx") != NULL)
        CHECK_EQ_INT(phi_json_write(&arena, phi_json_get(root, "fx"), 0, &fx), PHI_OK);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of("ok");
    result.content = &content;
    result.content_count = 1;
    result.is_error = is_error;
    result.effects = fx.at;
    status = phi_call_result(call, &result);
    phi_arena_free(&arena);
    return status;
}

static phi_flow fx_start(void *user_data, phi_call call, phi_str arguments) {
    bench *b = (bench *)user_data;
    size_t i = b->started++ % CALLS;
    phi_str seen = b->blind ? phi_str_of("") : phi_call_tool_state(call);
    b->calls[i] = call;
    (void)snprintf(b->seen[i], sizeof b->seen[i], "%.*s", (int)seen.len,
                   seen.at != NULL ? seen.at : "");
    (void)snprintf(b->args[i], sizeof b->args[i], "%.*s", (int)arguments.len, arguments.at);
    if (b->holds) return PHI_PENDING;
    (void)give(b, call, b->args[i], b->fails > 0);
    if (b->fails > 0) b->fails--;
    if (b->frees != NULL) phi_agent_free(*b->frees);
    return PHI_DONE;
}

static phi_status give_at(bench *b, size_t i) { return give(b, b->calls[i], b->args[i], false); }

static phi_tool fx_tool(bench *b) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    memset(b, 0, sizeof *b);
    tool.name = "fx";
    tool.description = "Has effects";
    tool.start = fx_start;
    tool.resume = fx_start;
    tool.user_data = b;
    tool.may_repeat = true;
    return tool;
}

static phi_agent fx_agent(rig *r, const phi_tool *tool) {
    phi_agent_desc desc = rig_desc();
    return agent_with(r, &desc, tool);
}

static const char *state_of(phi_agent agent) {
    static char out[4000];
    heard_copy(out, sizeof out, tool_state(agent));
    return out;
}

static const char *lane_state(phi_agent agent, const char *lane, uint64_t seq) {
    static char out[4000];
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0};
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_thread_tool_state(phi_agent_thread(agent), lane, seq, &arena, &text), PHI_OK);
    heard_copy(out, sizeof out, text);
    phi_arena_free(&arena);
    return out;
}

/* One run with these calls, each "id fx {...}". */
static void run_calls(rig *r, phi_agent agent, const char *const *calls, size_t n) {
    rig_calls(r, calls, n);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
}

static void run_fx(rig *r, phi_agent agent, const char *effects) {
    char call[2000];
    const char *calls[1];
    static unsigned n;
    (void)snprintf(call, sizeof call, "c%u fx {\"fx\":%s}", n++, effects);
    calls[0] = call;
    run_calls(r, agent, calls, 1);
}

/* ---- what effects do ---- */

typedef struct row {
    const char *before, *effects, *after;
} row;

static const row rows[] = {
    {"{}", "[{\"op\":\"merge\",\"value\":{\"a\":1}}]", "{\"a\":1}"},
    {"{\"a\":{\"x\":1,\"y\":[1]},\"b\":2}",
     "[{\"op\":\"merge\",\"value\":{\"a\":{\"y\":[2],\"z\":null},\"c\":{}}}]",
     "{\"a\":{\"x\":1,\"y\":[2],\"z\":null},\"b\":2,\"c\":{}}"},
    {"{\"a\":1}", "[{\"op\":\"merge\",\"value\":{\"a\":{\"b\":1}}}]", "{\"a\":{\"b\":1}}"},
    {"{\"a\":1}", "[{\"op\":\"replace\",\"value\":{\"b\":2}}]", "{\"b\":2}"},
    {"{\"a\":1,\"b\":2,\"c\":3}", "[{\"op\":\"delete_keys\",\"keys\":[\"a\",\"c\",\"x\"]}]",
     "{\"b\":2}"},
    {"{}", "[{\"op\":\"set_path\",\"path\":\"/a/b/c\",\"value\":[1]}]",
     "{\"a\":{\"b\":{\"c\":[1]}}}"},
    {"{\"a\":[1,2,3]}", "[{\"op\":\"set_path\",\"path\":\"/a/1\",\"value\":9}]", "{\"a\":[1,9,3]}"},
    {"{\"a\":[1]}", "[{\"op\":\"set_path\",\"path\":\"/a/-\",\"value\":2}]", "{\"a\":[1,2]}"},
    {"{\"a\":[{\"b\":1}]}", "[{\"op\":\"set_path\",\"path\":\"/a/0/b\",\"value\":2}]",
     "{\"a\":[{\"b\":2}]}"},
    {"{\"a\":[[1]]}", "[{\"op\":\"set_path\",\"path\":\"/a/0/1\",\"value\":2}]", "{\"a\":[[1,2]]}"},
    {"{}", "[{\"op\":\"set_path\",\"path\":\"/a~1b/~0\",\"value\":true}]",
     "{\"a/b\":{\"~\":true}}"},
    {"{\"\":1}", "[{\"op\":\"set_path\",\"path\":\"/\",\"value\":2}]", "{\"\":2}"},
    {"{\"a\":{\"b\":1,\"c\":2}}", "[{\"op\":\"delete_path\",\"path\":\"/a/b\"}]",
     "{\"a\":{\"c\":2}}"},
    {"{\"a\":[1,2]}", "[{\"op\":\"delete_path\",\"path\":\"/a/0\"}]", "{\"a\":[2]}"},
    {"{\"a\":[1,2]}", "[{\"op\":\"delete_path\",\"path\":\"/a/7\"}]", "{\"a\":[1,2]}"},
    {"{\"a\":1}", "[{\"op\":\"delete_path\",\"path\":\"/a/b/c\"}]", "{\"a\":1}"},
    {"{\"a\":1}", "[]", "{\"a\":1}"},
    {"{\"n\":1}",
     "[{\"op\":\"merge\",\"value\":{\"n\":2}},{\"op\":\"delete_keys\",\"keys\":[\"n\"]},"
     "{\"op\":\"set_path\",\"path\":\"/m\",\"value\":3}]",
     "{\"m\":3}"},
    {"{\"a\":18446744073709551615,\"b\":-0.5,\"c\":\"\\u0001\\u20ac\"}",
     "[{\"op\":\"merge\",\"value\":{\"d\":1e300}}]",
     "{\"a\":18446744073709551615,\"b\":-0.5,\"c\":\"\\u0001\xe2\x82\xac\",\"d\":1e300}"},
};

TEST(each_effect_makes_of_the_state_what_its_row_says) {
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        rig *r = rig_new();
        bench b;
        phi_tool tool = fx_tool(&b);
        phi_agent agent = fx_agent(r, &tool);
        CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of(rows[i].before)), PHI_OK);
        run_fx(r, agent, rows[i].effects);
        if (!CHECK_EQ_STR(state_of(agent), rows[i].after)) printf("row %u\n", (unsigned)i);
        CHECK_EQ_STR(lane_state(agent, NULL, UINT64_MAX), rows[i].after);
        CHECK_EQ_INT(count_of(rig_story(r), "Warning"), 0);
        rig_free(r);
    }
}

static const row refused[] = {
    {"{\"a\":1}", "[{\"op\":\"set_path\",\"path\":\"/a/b\",\"value\":1}]",
     "Tool fx: effect \"set_path\" was not applied: the path leads through a value that has no "
     "members"},
    {"{\"a\":[1]}", "[{\"op\":\"set_path\",\"path\":\"/a/2\",\"value\":1}]",
     "Tool fx: effect \"set_path\" was not applied: the path names no item of an array"},
    {"{\"a\":[1]}", "[{\"op\":\"set_path\",\"path\":\"/a/01\",\"value\":1}]",
     "Tool fx: effect \"set_path\" was not applied: the path names no item of an array"},
    {"{}", "[{\"op\":\"merge\",\"value\":{\"long\":\"0123456789012345678901234567890123456789\"}}]",
     "Tool fx: effect \"merge\" was not applied: the state would be too large"},
};

TEST(an_effect_that_cannot_be_applied_changes_nothing_and_is_reported) {
    size_t i;
    for (i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        rig *r = rig_new();
        bench b;
        phi_tool tool = fx_tool(&b);
        phi_agent_desc desc = rig_desc();
        phi_agent agent;
        desc.tool_options.effects.max_state_bytes = 40;
        agent = agent_with(r, &desc, &tool);
        CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of(refused[i].before)), PHI_OK);
        (void)rig_step(r);
        rig_forget(r);
        run_fx(r, agent, refused[i].effects);
        CHECK_EQ_STR(state_of(agent), refused[i].before);
        if (!CHECK(strstr(rig_story(r), refused[i].after) != NULL)) printf("%s", rig_story(r));
        CHECK_EQ_INT(count_of(rig_story(r), "ToolState"), 0);
        rig_free(r);
    }
}

TEST(a_state_is_nested_no_deeper_than_it_can_be_read) {
    rig *r = rig_new();
    bench b;
    phi_tool tool = fx_tool(&b);
    phi_agent agent = fx_agent(r, &tool);
    char deep[1400];
    size_t n = 0, i;
    n += (size_t)snprintf(deep, sizeof deep, "{\"a\":");
    for (i = 0; i < 505; i++) deep[n++] = '[';
    for (i = 0; i < 505; i++) deep[n++] = ']';
    (void)snprintf(deep + n, sizeof deep - n, "}");
    CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of(deep)), PHI_OK);
    run_fx(r, agent,
           "[{\"op\":\"set_path\",\"path\":\"/b/0/0/0/0/0/0/0/0/0/0\",\"value\":1},"
           "{\"op\":\"replace\",\"value\":{\"ok\":1}}]");
    CHECK_EQ_STR(state_of(agent), "{\"ok\":1}");
    rig_free(r);
}

static const char *const faults[][2] = {
    {"{}", "phi_call_result: effects: expected an array of at most 64 effects"},
    {"[1", "phi_call_result: effects: expected JSON of at most 1 MiB"},
    {"", "phi_call_result: effects: expected JSON of at most 1 MiB"},
    {"[1]", "phi_call_result: effects: [0].op: expected merge, replace, delete_keys, set_path, "
            "delete_path or emit"},
    {"[{\"op\":\"spawn\"}]", "phi_call_result: effects: [0].op: expected merge, replace, "
                             "delete_keys, set_path, delete_path or emit"},
    {"[{\"op\":\"emit\",\"name\":\"x\"},{\"op\":\"merge\",\"value\":[]}]",
     "phi_call_result: effects: [1].value: expected an object"},
    {"[{\"op\":\"replace\"}]", "phi_call_result: effects: [0].value: expected an object"},
    {"[{\"op\":\"delete_keys\",\"keys\":[1]}]",
     "phi_call_result: effects: [0].keys: expected an array of strings"},
    {"[{\"op\":\"set_path\",\"path\":\"/a\"}]", "phi_call_result: effects: [0].value is missing"},
    {"[{\"op\":\"set_path\",\"path\":\"a\",\"value\":1}]",
     "phi_call_result: effects: [0].path: expected a JSON Pointer of 1 to 64 steps"},
    {"[{\"op\":\"delete_path\",\"path\":\"\"}]",
     "phi_call_result: effects: [0].path: expected a JSON Pointer of 1 to 64 steps"},
    {"[{\"op\":\"delete_path\",\"path\":\"/a~2\"}]",
     "phi_call_result: effects: [0].path: expected a JSON Pointer of 1 to 64 steps"},
    {"[{\"op\":\"emit\"}]", "phi_call_result: effects: [0].name: expected a string"}};

TEST(what_is_no_effect_is_refused_and_the_call_waits_on) {
    rig *r = rig_new();
    bench b;
    phi_tool tool = fx_tool(&b);
    phi_agent agent = fx_agent(r, &tool);
    phi_tool_result result;
    size_t i;
    b.holds = true;
    rig_call(r, "c1", "fx", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    memset(&result, 0, sizeof result);
    for (i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        result.effects = faults[i][0];
        CHECK_EQ_INT(phi_call_result(b.calls[0], &result), PHI_BAD_ARG);
        CHECK_EQ_STR(words_of(r), faults[i][1]);
    }
    CHECK(phi_call_get_info(b.calls[0]).pending);
    CHECK_EQ_INT(give_at(&b, 0), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(state_of(agent), "{}");
    rig_free(r);
}

TEST(a_policy_out_of_range_makes_no_agent) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    desc.tool_options.effects.max_state_bytes = 1024 * 1024 + 1;
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt == NULL);
    CHECK_EQ_STR(words_of(r),
                 "tool_options.effects.max_state_bytes is 1048577: expected at most 1048576");
    desc.tool_options.effects.max_state_bytes = 0;
    desc.tool_options.effects.mode = (phi_effect_mode)7;
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt == NULL);
    CHECK_EQ_STR(words_of(r), "tool_options.effects.mode is none of its values");
    rig_free(r);
}

/* ---- the host's own ---- */

TEST(a_host_sets_and_reads_the_state) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent = rig_agent(r, &desc), none;
    memset(&none, 0, sizeof none);
    CHECK_EQ_STR(state_of(agent), "{}");
    CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of(" { \"a\" : 1 } ")), PHI_OK);
    CHECK_EQ_STR(state_of(agent), "{\"a\":1}");
    CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of("[1]")), PHI_BAD_ARG);
    CHECK_EQ_STR(words_of(r),
                 "phi_agent_set_tool_state: expected a JSON object of at most 65536 bytes");
    CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of("{")), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of("")), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_set_tool_state(none, phi_str_of("{}")), PHI_BAD_ARG);
    CHECK_EQ_STR(state_of(agent), "{\"a\":1}");
    (void)rig_step(r);
    CHECK_EQ_STR(rig_story(r), "ToolState \"{\"a\":1}\"\n");
    phi_agent_free(agent);
    CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of("{}")), PHI_STALE);
    CHECK(tool_state(agent).at == NULL);
    rig_free(r);
}

/* ---- rounds ---- */

TEST(the_calls_of_a_round_see_one_state_and_the_next_round_their_effects) {
    static const char *const round[] = {"c1 fx {\"fx\":[{\"op\":\"merge\",\"value\":{\"a\":1}}]}",
                                        "c2 fx {\"fx\":[{\"op\":\"merge\",\"value\":{\"b\":2}}]}"};
    phi_tool_mode modes[] = {PHI_TOOLS_PARALLEL, PHI_TOOLS_SEQUENTIAL};
    size_t m;
    for (m = 0; m < 2; m++) {
        rig *r = rig_new();
        bench b;
        phi_tool tool = fx_tool(&b);
        phi_agent_desc desc = rig_desc();
        phi_agent agent;
        desc.tool_options.mode = modes[m];
        agent = agent_with(r, &desc, &tool);
        CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of("{\"z\":0}")), PHI_OK);
        rig_calls(r, round, 2);
        rig_call(r, "c3", "fx", "{}");
        rig_says(r, "done");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 60), 0);
        CHECK_EQ_STR(b.seen[0], "{\"z\":0}");
        CHECK_EQ_STR(b.seen[1], "{\"z\":0}");
        CHECK_EQ_STR(b.seen[2], "{\"z\":0,\"a\":1,\"b\":2}");
        CHECK_EQ_INT(count_of(rig_story(r), "ToolState"), 2); /* the host's, and one a round */
        CHECK(strstr(rig_story(r), "ToolState \"{\"z\":0,\"a\":1,\"b\":2}\"\nTurnEnd") != NULL);
        rig_free(r);
    }
}

TEST(a_tool_that_never_looks_at_the_state_changes_it) {
    rig *r = rig_new();
    bench b;
    phi_tool tool = fx_tool(&b);
    phi_agent agent = fx_agent(r, &tool);
    b.blind = true;
    run_fx(r, agent, "[{\"op\":\"merge\",\"value\":{\"a\":1}}]");
    CHECK_EQ_STR(state_of(agent), "{\"a\":1}");
    run_fx(r, agent, "[{\"op\":\"merge\",\"value\":{\"b\":2}}]");
    CHECK_EQ_STR(state_of(agent), "{\"a\":1,\"b\":2}");
    rig_free(r);
}

TEST(what_the_host_sets_during_a_round_is_seen_by_the_next) {
    rig *r = rig_new();
    bench b;
    phi_tool tool = fx_tool(&b);
    phi_agent agent = fx_agent(r, &tool);
    b.holds = true;
    rig_call(r, "c1", "fx", "{\"fx\":[{\"op\":\"merge\",\"value\":{\"a\":1}}]}");
    rig_call(r, "c2", "fx", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of("{\"host\":1}")), PHI_OK);
    CHECK_STR(phi_call_tool_state(b.calls[0]), "{}");
    CHECK_EQ_INT(give_at(&b, 0), PHI_OK);
    CHECK(phi_call_tool_state(b.calls[0]).at == NULL);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_STR(b.seen[1], "{\"host\":1,\"a\":1}");
    CHECK_EQ_INT(give_at(&b, 1), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    rig_free(r);
}

/* All that the log has of the state, and the messages' ids. */
static void notes_of(phi_agent agent, char *out, size_t size) {
    phi_thread *thread = phi_agent_thread(agent);
    uint64_t i;
    size_t n = 0;
    out[0] = '\0';
    for (i = 0; i < phi_thread_count(thread) && n < size; i++) {
        phi_entry e;
        CHECK_EQ_INT(phi_thread_entry(thread, i, &e), PHI_OK);
        if (e.kind == PHI_ENTRY_NOTE)
            n += (size_t)snprintf(out + n, size - n, "%u %.*s\n", (unsigned)i, (int)e.note.len,
                                  e.note.at);
        else if (e.kind == PHI_ENTRY_MESSAGE)
            n +=
                (size_t)snprintf(out + n, size - n, "%u message %.*s\n", (unsigned)i,
                                 (int)e.message->tool_call_id.len,
                                 e.message->tool_call_id.len > 0 ? e.message->tool_call_id.at : "");
    }
}

TEST(a_change_by_a_run_is_one_of_its_entries_and_the_hosts_is_not) {
    rig *r = rig_new();
    bench b;
    phi_tool tool = fx_tool(&b);
    phi_agent agent = fx_agent(r, &tool);
    phi_thread *thread = phi_agent_thread(agent);
    phi_entry e;
    uint64_t i;
    int notes = 0;
    CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of("{\"a\":0}")), PHI_OK);
    run_fx(r, agent, "[{\"op\":\"merge\",\"value\":{\"a\":1}}]");
    for (i = 0; i < phi_thread_count(thread); i++) {
        CHECK_EQ_INT(phi_thread_entry(thread, i, &e), PHI_OK);
        if (e.kind != PHI_ENTRY_NOTE) continue;
        CHECK_STR(e.note_kind, PHI_NOTE_STATE);
        CHECK(notes == 0 ? e.loop_id.len == 0
                         : phi_str_equal(e.loop_id, phi_agent_get_info(agent).loop_id));
        notes++;
    }
    CHECK_EQ_INT(notes, 2);
    rig_free(r);
}

static const char *const four[] = {
    "c1 fx {\"fx\":[{\"op\":\"set_path\",\"path\":\"/log/-\",\"value\":1}]}",
    "c2 fx {\"fx\":[{\"op\":\"set_path\",\"path\":\"/log/-\",\"value\":2},"
    "{\"op\":\"emit\",\"name\":\"bell\",\"value\":2}]}",
    "c3 fx {\"fx\":[{\"op\":\"merge\",\"value\":{\"last\":3}}]}",
    "c4 fx {\"fx\":[{\"op\":\"set_path\",\"path\":\"/log/-\",\"value\":4},"
    "{\"op\":\"merge\",\"value\":{\"last\":4}},{\"op\":\"emit\",\"name\":\"bell\",\"value\":4}]}"};

/* Invariant 14: whatever the order in which tools finish. */
TEST(state_and_log_do_not_depend_on_the_order_in_which_calls_finish) {
    char first[4000] = "", now[4000];
    int order;
    for (order = 0; order < 24; order++) {
        rig *r = rig_new();
        bench b;
        phi_tool tool = fx_tool(&b);
        phi_agent agent = fx_agent(r, &tool);
        size_t left[] = {0, 1, 2, 3}, n = 4;
        int rest = order;
        const char *bell;
        b.holds = true;
        CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of("{\"log\":[]}")), PHI_OK);
        rig_calls(r, four, 4);
        rig_says(r, "done");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 10), 1);
        for (; n > 0; n--) {
            size_t at = (size_t)rest % n, i;
            rest /= (int)n;
            CHECK_EQ_INT(give_at(&b, left[at]), PHI_OK);
            for (i = at; i + 1 < n; i++) left[i] = left[i + 1];
            (void)rig_step(r);
        }
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK_EQ_STR(state_of(agent), "{\"log\":[1,2,4],\"last\":4}");
        notes_of(agent, now, sizeof now);
        if (order == 0) memcpy(first, now, sizeof first);
        CHECK_EQ_STR(now, first);
        bell = strstr(rig_story(r), "Effect fx bell \"2\"");
        CHECK(bell != NULL && strstr(bell, "Effect fx bell \"4\"") != NULL);
        rig_free(r);
    }
}

/* ---- the policy ---- */

TEST(a_policy_denies_effects_and_says_so) {
    static const struct {
        phi_effect_policy policy;
        const char *after;
        size_t warnings;
    } cases[] = {
        {{PHI_EFFECTS_ALLOW_ALL, 0, 0, 0}, "{\"b\":1}", 0},
        {{PHI_EFFECTS_DENY_ALL, 0, 0, 0}, "{\"a\":0}", 2},
        {{PHI_EFFECTS_DENY_ALL, PHI_EFFECT_REPLACE, 0, 0}, "{\"a\":0}", 2},
        {{PHI_EFFECTS_ALLOW_LIST, PHI_EFFECT_REPLACE, 0, 0}, "{\"b\":1}", 1},
        {{PHI_EFFECTS_ALLOW_LIST, PHI_EFFECT_EMIT, 0, 0}, "{\"a\":0}", 1},
        {{PHI_EFFECTS_ALLOW_LIST, PHI_EFFECT_REPLACE | PHI_EFFECT_EMIT, PHI_EFFECT_REPLACE, 0},
         "{\"a\":0}",
         1},
        {{PHI_EFFECTS_ALLOW_ALL, 0, PHI_EFFECT_EMIT, 0}, "{\"b\":1}", 1},
    };
    size_t i;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rig *r = rig_new();
        bench b;
        phi_tool tool = fx_tool(&b);
        phi_agent_desc desc = rig_desc();
        phi_agent agent;
        char notes[2000];
        desc.tool_options.effects = cases[i].policy;
        agent = agent_with(r, &desc, &tool);
        CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of("{\"a\":0}")), PHI_OK);
        run_fx(r, agent,
               "[{\"op\":\"replace\",\"value\":{\"b\":1}},{\"op\":\"emit\",\"name\":\"x\"}]");
        CHECK_EQ_STR(state_of(agent), cases[i].after);
        CHECK_EQ_STR(lane_state(agent, NULL, UINT64_MAX), cases[i].after);
        CHECK_EQ_INT(count_of(rig_story(r), "the policy denies it"), cases[i].warnings);
        notes_of(agent, notes, sizeof notes);
        CHECK_EQ_INT(count_of(notes, "\"why\":\"the policy denies it\""), cases[i].warnings);
        rig_free(r);
    }
}

/* ---- whose effects count ---- */

TEST(a_cancelled_call_has_no_effects_and_the_others_of_its_round_have_theirs) {
    rig *r = rig_new();
    bench b;
    phi_tool tool = fx_tool(&b);
    phi_agent agent = fx_agent(r, &tool);
    b.holds = true;
    rig_calls(r, four, 4);
    CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of("{\"log\":[]}")), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(give_at(&b, 3), PHI_OK);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(give_at(&b, 0), PHI_OK); /* before the step that reads the abort */
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(state_of(agent), "{\"log\":[1,4],\"last\":4}");
    CHECK_EQ_INT(give_at(&b, 1), PHI_STALE);
    rig_free(r);
}

TEST(of_a_call_that_is_tried_again_the_last_effects_count) {
    rig *r = rig_new();
    bench b;
    phi_tool tool = fx_tool(&b);
    phi_agent agent;
    tool.retries = 2;
    agent = fx_agent(r, &tool);
    b.fails = 2;
    CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of("{\"log\":[]}")), PHI_OK);
    run_calls(r, agent, four, 1);
    CHECK_EQ_STR(state_of(agent), "{\"log\":[1]}");
    b.fails = 3; /* an error has effects, too */
    run_fx(r, agent, "[{\"op\":\"set_path\",\"path\":\"/log/-\",\"value\":2}]");
    CHECK_EQ_STR(state_of(agent), "{\"log\":[1,2]}");
    rig_free(r);
}

TEST(an_agent_freed_by_its_tool_takes_its_state_along) {
    rig *r = rig_new();
    bench b;
    phi_tool tool = fx_tool(&b);
    phi_agent agent = fx_agent(r, &tool);
    b.frees = &agent;
    rig_calls(r, four, 4);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    (void)rig_run(r, 20);
    CHECK(!phi_agent_alive(agent));
    rig_free(r);
}

static void over(phi__agent *child, phi_status status, const phi_failure *failure, bool stopping) {
    (void)child;
    (void)status;
    (void)failure;
    (void)stopping;
}

/* As strategies have: it does part of the work of the agent above it. */
TEST(a_hidden_agent_has_the_state_and_facts_of_the_one_above_it_and_both_policies) {
    static phi__child_watch hidden;
    rig *r = rig_new();
    bench b;
    phi_tool tool = fx_tool(&b);
    phi_agent_desc desc = rig_desc();
    phi_agent agent, child;
    hidden.hidden = true;
    hidden.over = over;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    desc.parent = agent;
    desc.tool_options.effects.deny = PHI_EFFECT_REPLACE;
    child = rig_agent(r, &desc);
    phi__find_agent(child)->tree.watch = &hidden;
    CHECK_EQ_INT(phi_fact_set(phi_fact_agent(agent), "k", phi_str_of("v"), NULL), PHI_OK);
    CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of("{\"a\":1}")), PHI_OK);
    (void)rig_step(r);
    rig_forget(r);
    run_fx(r, child,
           "[{\"op\":\"merge\",\"value\":{\"b\":2}},{\"op\":\"replace\",\"value\":{}},"
           "{\"op\":\"emit\",\"name\":\"bell\",\"value\":1}]");
    CHECK_EQ_STR(b.seen[0], "{\"a\":1}");
    CHECK_EQ_STR(state_of(agent), "{\"a\":1,\"b\":2}");
    CHECK_EQ_STR(state_of(child), "{}");
    CHECK_EQ_STR(lane_state(agent, NULL, UINT64_MAX), "{\"a\":1,\"b\":2}");
    CHECK_EQ_STR(rig_story(r), "Warning \"Tool fx: effect \"replace\" was not applied: the policy "
                               "denies it\"\nEffect fx bell \"1\"\n"
                               "ToolState \"{\"a\":1,\"b\":2}\"\n");
    CHECK(strstr(rig_request(r, rig_requests(r) - 1), "[What you know now]\\nk: v") != NULL);
    rig_free(r);
}

/* ---- branches ---- */

/* As an evaluation has it: a branch runs in a log of its own, and its copy is a lane. */
TEST(the_copy_of_a_run_on_a_lane_has_its_effects) {
    rig *r = rig_new();
    bench b;
    phi_tool tool = fx_tool(&b);
    phi_agent agent = fx_agent(r, &tool), branch = fx_agent(r, &tool);
    phi__agent *to = phi__find_agent(agent), *from = phi__find_agent(branch);
    uint32_t lane = 0;
    run_fx(r, agent, "[{\"op\":\"merge\",\"value\":{\"a\":{\"long\":\"0123456789\"}}}]");
    CHECK_EQ_INT(phi_agent_set_tool_state(branch, tool_state(agent)), PHI_OK);
    run_fx(r, branch, "[{\"op\":\"merge\",\"value\":{\"b\":2}}]");
    run_fx(r, agent, "[{\"op\":\"replace\",\"value\":{\"c\":3}}]");
    CHECK_EQ_INT(phi__graft_lane(to->thread, phi_str_of("way"), 12, &lane), PHI_OK);
    CHECK_EQ_INT(phi__graft_run(to->thread, lane, from->thread, phi_agent_get_info(branch).loop_id),
                 PHI_OK);
    CHECK_EQ_STR(state_of(agent), "{\"c\":3}");
    CHECK_EQ_STR(lane_state(agent, "way", UINT64_MAX), "{\"a\":{\"long\":\"0123456789\"},\"b\":2}");
    CHECK_EQ_INT(phi_thread_switch(phi_agent_thread(agent), "way"), PHI_OK);
    CHECK_EQ_STR(state_of(agent), "{\"a\":{\"long\":\"0123456789\"},\"b\":2}");
    rig_free(r);
}

TEST(a_branch_begins_with_the_state_at_its_fork) {
    rig *r = rig_new();
    bench b;
    phi_tool tool = fx_tool(&b);
    phi_agent agent = fx_agent(r, &tool);
    phi_thread *thread = phi_agent_thread(agent);
    uint64_t at;
    run_fx(r, agent, "[{\"op\":\"merge\",\"value\":{\"a\":1}}]");
    at = phi_thread_count(thread) - 1;
    run_fx(r, agent, "[{\"op\":\"merge\",\"value\":{\"a\":2}}]");
    CHECK_EQ_INT(phi_thread_fork_lane(thread, "other", NULL, at), PHI_OK);
    CHECK_EQ_STR(state_of(agent), "{\"a\":2}");
    CHECK_EQ_INT(phi_thread_switch(thread, "other"), PHI_OK);
    CHECK_EQ_STR(state_of(agent), "{\"a\":1}");
    run_fx(r, agent, "[{\"op\":\"merge\",\"value\":{\"b\":3}}]");
    CHECK_EQ_STR(state_of(agent), "{\"a\":1,\"b\":3}");
    CHECK_EQ_STR(b.seen[2], "{\"a\":1}");
    CHECK_EQ_INT(phi_thread_switch(thread, PHI_LANE_DEFAULT), PHI_OK);
    CHECK_EQ_STR(state_of(agent), "{\"a\":2}");
    CHECK_EQ_STR(lane_state(agent, "other", UINT64_MAX), "{\"a\":1,\"b\":3}");
    CHECK_EQ_STR(lane_state(agent, NULL, at), "{\"a\":1}");
    CHECK_EQ_STR(lane_state(agent, NULL, 0), "{}");
    CHECK_EQ_INT(phi_thread_switch(thread, NULL), PHI_OK);
    CHECK_EQ_STR(state_of(agent), "{}");
    rig_free(r);
}

TEST(a_run_of_which_nothing_is_kept_leaves_the_state_as_it_was) {
    rig *r = rig_new();
    bench b;
    phi_tool tool = fx_tool(&b);
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.keep = PHI_KEEP_NONE;
    agent = agent_with(r, &desc, &tool);
    run_fx(r, agent, "[{\"op\":\"merge\",\"value\":{\"a\":1}}]");
    CHECK_EQ_STR(state_of(agent), "{\"a\":1}");
    rig_call(r, "x1", "fx", "{\"fx\":[{\"op\":\"merge\",\"value\":{\"a\":2}}]}");
    rig_call(r, "x2", "fx", "{\"fx\":[{\"op\":\"merge\",\"value\":{\"a\":3}}]}");
    rig_replies(r, 400, HEARD_JSON, HEARD_BOOM);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(b.started, 3);
    CHECK_EQ_STR(state_of(agent), "{\"a\":1}");
    CHECK_EQ_STR(lane_state(agent, NULL, UINT64_MAX), "{\"a\":1}");
    run_fx(r, agent, "[{\"op\":\"merge\",\"value\":{\"b\":1}}]");
    CHECK_EQ_STR(lane_state(agent, NULL, UINT64_MAX), "{\"a\":1,\"b\":1}");
    rig_free(r);
}

TEST(a_session_or_thread_that_continues_another_has_its_state) {
    rig *r = rig_new();
    bench b;
    phi_tool tool = fx_tool(&b);
    phi_agent agent = fx_agent(r, &tool);
    phi_memory memory;
    phi_arena arena;
    phi_thread *fork;
    phi_str text = {NULL, 0};
    run_fx(r, agent, "[{\"op\":\"merge\",\"value\":{\"a\":1}}]");
    fork = phi_thread_fork(phi_agent_thread(agent), UINT64_MAX);
    REQUIRE(fork != NULL);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_thread_tool_state(fork, NULL, UINT64_MAX, &arena, &text), PHI_OK);
    CHECK_STR(text, "{\"a\":1}");
    CHECK_EQ_INT(phi_thread_tool_state(fork, "no", UINT64_MAX, &arena, &text), PHI_NOT_FOUND);
    phi_arena_free(&arena);
    phi_thread_free(fork);
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    CHECK_EQ_STR(state_of(agent), "{\"a\":1}");
    CHECK_EQ_INT(phi_agent_new_session(agent, true), PHI_OK);
    CHECK_EQ_STR(state_of(agent), "{}");
    rig_free(r);
}

/* ---- snapshots, stores and tapes ---- */

TEST(a_snapshot_in_the_midst_of_a_round_has_what_its_calls_saw_and_did) {
    rig *r = rig_new();
    bench b;
    phi_tool tool = fx_tool(&b);
    phi_agent_desc desc = rig_desc();
    phi_agent agent, again;
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0};
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    b.holds = true;
    CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of("{\"log\":[]}")), PHI_OK);
    rig_calls(r, four, 4);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(give_at(&b, 0), PHI_OK);
    CHECK_EQ_INT(give_at(&b, 3), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 1);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    phi_agent_free(agent);
    b.started = 0;
    again = phi_agent_restore(rig_runtime(r), &desc, text, PHI_RESTORE_RESUME);
    REQUIRE(again.rt != NULL);
    phi_arena_free(&arena);
    rig_drop_answers(r);
    rig_says(r, "done");
    CHECK_EQ_STR(state_of(again), "{\"log\":[1]}");
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_INT(b.started, 2);
    CHECK_EQ_STR(b.seen[0], "{\"log\":[]}");
    CHECK_EQ_INT(give_at(&b, 1), PHI_OK);
    CHECK_EQ_INT(give_at(&b, 0), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(state_of(again), "{\"log\":[1,2,4],\"last\":4}");
    rig_free(r);
}

/* The calls of a round that do not look at the state: cut with one result waiting for its turn. */
TEST(a_snapshot_has_the_effects_of_a_call_that_no_other_has_looked_for) {
    rig *r = rig_new();
    bench b;
    phi_tool tool = fx_tool(&b);
    phi_agent_desc desc = rig_desc();
    phi_agent agent, again;
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0};
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    b.holds = b.blind = true;
    CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of("{\"log\":[]}")), PHI_OK);
    rig_calls(r, four, 4);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(give_at(&b, 3), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 1);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    phi_agent_free(agent);
    b.started = 0;
    again = phi_agent_restore(rig_runtime(r), &desc, text, PHI_RESTORE_RESUME);
    REQUIRE(again.rt != NULL);
    phi_arena_free(&arena);
    rig_drop_answers(r);
    rig_says(r, "done");
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_INT(b.started, 3);
    CHECK_EQ_INT(give_at(&b, 0), PHI_OK);
    CHECK_EQ_INT(give_at(&b, 1), PHI_OK);
    CHECK_EQ_INT(give_at(&b, 2), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(state_of(again), "{\"log\":[1,2,4],\"last\":4}");
    rig_free(r);
}

/* What was read before the fault is given back: rig_free looks. */
TEST(a_spoilt_snapshot_of_a_round_is_refused_whole) {
    rig *r = rig_new();
    bench b;
    phi_tool tool = fx_tool(&b);
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0};
    char *spoilt, *at;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    b.holds = true;
    rig_calls(r, four, 4);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    phi_agent_free(agent);
    spoilt = (char *)phi_arena_alloc(&arena, text.len + 1);
    REQUIRE(spoilt != NULL);
    heard_copy(spoilt, text.len + 1, text);
    REQUIRE(strstr(spoilt, "\"tool_state\":") != NULL);
    at = strstr(spoilt, "\"reply\":");
    REQUIRE(at != NULL);
    memcpy(at, "\"no_re\":", 8);
    CHECK(phi_agent_restore(rig_runtime(r), &desc, phi_str_of(spoilt), PHI_RESTORE_RESUME).rt ==
          NULL);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(a_store_has_the_state_of_every_lane_also_of_entries_that_left_memory) {
    rig *r = rig_new();
    bench b;
    store_mem *store = store_mem_new();
    phi_tool tool = fx_tool(&b);
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_thread *thread;
    char effects[80];
    uint64_t at = 0;
    int i;
    desc.store = store_mem_store(store);
    desc.thread_id = "t";
    agent = agent_with(r, &desc, &tool);
    thread = phi_agent_thread(agent);
    for (i = 0; i < 40; i++) {
        (void)snprintf(effects, sizeof effects,
                       "[{\"op\":\"merge\",\"value\":{\"key%d\":\"value %d\"}}]", i % 30, i);
        run_fx(r, agent, effects);
        if (i == 19) at = phi_thread_count(thread) - 1;
        if (i == 20) CHECK_EQ_INT(phi_compact(agent), PHI_OK);
        if (i == 20) (void)rig_run(r, 20);
    }
    CHECK_EQ_INT(phi_thread_fork_lane(thread, "early", NULL, at), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(thread, "early"), PHI_OK);
    (void)rig_run(r, 5);
    CHECK(strstr(state_of(agent), "\"key19\":\"value 19\"}") != NULL);
    CHECK_EQ_INT(phi_thread_switch(thread, PHI_LANE_DEFAULT), PHI_OK);
    (void)rig_run(r, 5);
    CHECK(strstr(state_of(agent), "{\"key0\":\"value 30\"") != NULL);
    CHECK_EQ_STR(lane_state(agent, NULL, UINT64_MAX), state_of(agent));
    phi_agent_free(agent);
    agent = agent_with(r, &desc, &tool);
    CHECK(strstr(state_of(agent), "\"key29\":\"value 29\"}") != NULL);
    CHECK(strstr(lane_state(agent, "early", UINT64_MAX), "\"key19\":\"value 19\"}") != NULL);
    rig_free(r);
    store_mem_free(store);
}

TEST(notes_of_a_file_that_hold_anything_make_no_trouble) {
    static const char *const notes[] = {
        "1",
        "[]",
        "{\\\"state\\\":[]}",
        "{\\\"effects\\\":{\\\"a\\\":1}}",
        "{\\\"effects\\\":[1,{\\\"op\\\":\\\"set_path\\\"},"
        "{\\\"op\\\":\\\"merge\\\",\\\"value\\\":{\\\"good\\\":1}}]}",
        "{\\\"effects\\\":[{\\\"op\\\":\\\"set_path\\\",\\\"path\\\":\\\"/good/x\\\","
        "\\\"value\\\":1}]}"};
    rig *r = rig_new();
    store_mem *store = store_mem_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    char text[2000];
    size_t i, n = 0;
    for (i = 0; i < sizeof notes / sizeof notes[0]; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "{\"seq\":%u,\"at\":\"2026-01-01T00:00:00.000Z\",\"kind\":\"note\","
                              "\"name\":\"phi.state\",\"json\":\"%s\"}\n",
                              (unsigned)i, notes[i]);
    store_mem_set(store, "t", text, n);
    desc.store = store_mem_store(store);
    desc.thread_id = "t";
    agent = phi_agent_new(rig_runtime(r), &desc);
    if (agent.rt == NULL) printf("%s\n", words_of(r));
    REQUIRE(agent.rt != NULL);
    CHECK_EQ_STR(state_of(agent), "{\"good\":1}");
    rig_free(r);
    store_mem_free(store);
}

TEST(an_agent_at_its_memory_limit_keeps_its_state) {
    rig *r = rig_new();
    bench b;
    phi_tool tool = fx_tool(&b);
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    char effects[120];
    int i;
    desc.memory.limit_bytes = 100000;
    desc.memory.at_limit = PHI_AT_MEMORY_LIMIT_FORGET;
    agent = agent_with(r, &desc, &tool);
    for (i = 0; i < 150; i++) {
        (void)snprintf(effects, sizeof effects, "[{\"op\":\"merge\",\"value\":{\"k%d\":%d}}]",
                       i % 10, i);
        run_fx(r, agent, effects);
        if (i % 10 == 9) rig_rewind(r);
    }
    CHECK(phi_thread_get_info(phi_agent_thread(agent)).first > 0);
    CHECK_EQ_STR(state_of(agent), "{\"k0\":140,\"k1\":141,\"k2\":142,\"k3\":143,\"k4\":144,"
                                  "\"k5\":145,\"k6\":146,\"k7\":147,\"k8\":148,\"k9\":149}");
    CHECK_EQ_STR(lane_state(agent, NULL, UINT64_MAX), state_of(agent));
    rig_free(r);
}

typedef struct tape_text {
    char at[20000];
    size_t len;
} tape_text;

static phi_status write_tape(void *user_data, const char *bytes, size_t len) {
    tape_text *t = (tape_text *)user_data;
    if (!CHECK(t->len + len < sizeof t->at)) return PHI_FULL;
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    return PHI_OK;
}

/* The calls finish in an order of their own; 0: at once. */
static void taped_order(rig *r, bench *b, int order) {
    size_t left[] = {0, 1, 2, 3}, n = 4, i;
    for (; n > 0 && b->started > 0; n--) {
        size_t at = (size_t)order % n;
        CHECK_EQ_INT(give_at(b, left[at]), PHI_OK);
        for (i = at; i + 1 < n; i++) left[i] = left[i + 1];
        order /= (int)n;
        (void)rig_run(r, 1);
    }
}

static uint64_t taped_run(phi_tape *tape, bench *b, int order, char state[200]) {
    phi_runtime_desc of;
    phi_tool tool = fx_tool(b);
    phi_agent agent;
    uint64_t hash;
    rig *r;
    memset(&of, 0, sizeof of);
    of.tape = tape;
    r = rig_new_with(&of);
    agent = fx_agent(r, &tool);
    CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of("{\"log\":[]}")), PHI_OK);
    b->holds = order != 0;
    rig_calls(r, four, 4);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    (void)rig_run(r, 10);
    if (order != 0) taped_order(r, b, order);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    (void)snprintf(state, 200, "%s", state_of(agent));
    hash = phi_thread_hash(phi_agent_thread(agent));
    rig_free(r);
    return hash;
}

static void record_and_play(int order) {
    static tape_text text;
    phi_tape_desc desc;
    phi_tape *tape;
    bench b;
    char then[200], now[200];
    uint64_t hash;
    memset(&text, 0, sizeof text);
    memset(&desc, 0, sizeof desc);
    desc.write_fn = write_tape;
    desc.user_data = &text;
    tape = phi_tape_record(&desc);
    REQUIRE(tape != NULL);
    hash = taped_run(tape, &b, order, then);
    CHECK_EQ_INT(phi_tape_end(tape, NULL), PHI_OK);
    phi_tape_free(tape);
    CHECK_EQ_INT(b.started, 4);
    CHECK_EQ_STR(then, "{\"log\":[1,2,4],\"last\":4}");
    memset(&desc, 0, sizeof desc);
    tape = phi_tape_play(&desc, phi_str_of(text.at), NULL);
    REQUIRE(tape != NULL);
    CHECK_EQ_INT(taped_run(tape, &b, order, now), hash);
    CHECK_EQ_INT(b.started, 0);
    CHECK_EQ_STR(now, then);
    CHECK_EQ_INT(phi_tape_end(tape, NULL), PHI_OK);
    phi_tape_free(tape);
}

TEST(a_tape_has_the_effects_and_its_replay_the_state) {
    int order;
    for (order = 0; order < 24; order++) record_and_play(order);
}

TEST(events_of_the_state_go_into_json_and_back) {
    static const char *const texts[] = {"ToolState", "Effect"};
    phi_memory memory;
    phi_arena arena;
    phi_event event, back;
    phi_str json = {NULL, 0};
    size_t i;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    for (i = 0; i < 2; i++) {
        memset(&event, 0, sizeof event);
        event.kind = i == 0 ? PHI_EV_TOOL_STATE : PHI_EV_EFFECT;
        event.text = phi_str_of("{\"a\":[1]}");
        if (i == 1) event.source = phi_str_of("bell");
        if (i == 1) event.tool_name = phi_str_of("fx");
        CHECK_EQ_INT(phi_event_to_json(&event, &arena, &json), PHI_OK);
        CHECK_EQ_INT(phi_event_from_json(json, &arena, &back, NULL), PHI_OK);
        CHECK_EQ_INT(back.kind, event.kind);
        CHECK_EQ_STR(phi_event_name(back.kind), texts[i]);
        CHECK_STR(back.text, "{\"a\":[1]}");
        CHECK_STR(back.source, i == 1 ? "bell" : "");
    }
    phi_arena_free(&arena);
}

/* ---- memory ---- */

/* Each request for memory fails, one after another: a call has one result, and the state is that of
   the log. */
TEST(the_state_survives_every_failed_allocation) {
    bool tripped = true;
    int n;
    for (n = 0; tripped && n < 5000; n++) {
        rig *r = rig_new();
        bench b;
        phi_tool tool = fx_tool(&b);
        phi_agent_desc desc = rig_desc();
        phi_agent agent;
        char now[400];
        desc.keep = n % 2 == 0 ? PHI_KEEP_COMPLETE : PHI_KEEP_NONE;
        agent = agent_with(r, &desc, &tool);
        test_alloc_fail_at(n);
        (void)phi_agent_set_tool_state(agent, phi_str_of("{\"log\":[]}"));
        rig_calls(r, four, 4);
        rig_call(r, "c5", "fx", "{}");
        rig_says(r, "done");
        if (phi_prompt(agent, "go") == PHI_OK) CHECK_EQ_INT(rig_run(r, 100), 0);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        (void)snprintf(now, sizeof now, "%s", state_of(agent));
        if (!CHECK_EQ_STR(lane_state(agent, NULL, UINT64_MAX), now))
            printf("allocation %d\n%s", n, rig_story(r));
        rig_free(r);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) return;
    }
    CHECK(n > 50);
    CHECK(!tripped);
}

/* Also one that found no memory half way: what was read of it goes with it. */
TEST(a_snapshot_that_cannot_be_read_to_its_end_leaves_nothing_of_the_state) {
    rig *r = rig_new();
    bench b;
    phi_tool tool = fx_tool(&b);
    phi_agent_desc desc = rig_desc();
    phi_agent agent, again;
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0};
    int n = 0, tripped = 1;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    b.holds = true;
    rig_calls(r, four, 4);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    while (tripped) {
        test_alloc_fail_at(n++);
        again = phi_agent_restore(rig_runtime(r), &desc, text, PHI_RESTORE_RESUME);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (again.rt != NULL) phi_agent_free(again);
    }
    REQUIRE(strstr(text.at, "\"tool_state\":") != NULL);
    REQUIRE(strstr(text.at, "\"calls\":[{") != NULL);
    ((char *)(uintptr_t)strstr(text.at, "\"calls\":[{"))[1] = 'x';
    again = phi_agent_restore(rig_runtime(r), &desc, text, PHI_RESTORE_RESUME);
    CHECK(again.rt == NULL);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_PARSE);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(each_effect_makes_of_the_state_what_its_row_says),
          TEST_ENTRY(an_effect_that_cannot_be_applied_changes_nothing_and_is_reported),
          TEST_ENTRY(a_state_is_nested_no_deeper_than_it_can_be_read),
          TEST_ENTRY(what_is_no_effect_is_refused_and_the_call_waits_on),
          TEST_ENTRY(a_policy_out_of_range_makes_no_agent),
          TEST_ENTRY(a_host_sets_and_reads_the_state),
          TEST_ENTRY(the_calls_of_a_round_see_one_state_and_the_next_round_their_effects),
          TEST_ENTRY(a_tool_that_never_looks_at_the_state_changes_it),
          TEST_ENTRY(what_the_host_sets_during_a_round_is_seen_by_the_next),
          TEST_ENTRY(a_change_by_a_run_is_one_of_its_entries_and_the_hosts_is_not),
          TEST_ENTRY(state_and_log_do_not_depend_on_the_order_in_which_calls_finish),
          TEST_ENTRY(a_policy_denies_effects_and_says_so),
          TEST_ENTRY(a_cancelled_call_has_no_effects_and_the_others_of_its_round_have_theirs),
          TEST_ENTRY(of_a_call_that_is_tried_again_the_last_effects_count),
          TEST_ENTRY(an_agent_freed_by_its_tool_takes_its_state_along),
          TEST_ENTRY(a_hidden_agent_has_the_state_and_facts_of_the_one_above_it_and_both_policies),
          TEST_ENTRY(the_copy_of_a_run_on_a_lane_has_its_effects),
          TEST_ENTRY(a_branch_begins_with_the_state_at_its_fork),
          TEST_ENTRY(a_run_of_which_nothing_is_kept_leaves_the_state_as_it_was),
          TEST_ENTRY(a_session_or_thread_that_continues_another_has_its_state),
          TEST_ENTRY(a_snapshot_in_the_midst_of_a_round_has_what_its_calls_saw_and_did),
          TEST_ENTRY(a_snapshot_has_the_effects_of_a_call_that_no_other_has_looked_for),
          TEST_ENTRY(a_spoilt_snapshot_of_a_round_is_refused_whole),
          TEST_ENTRY(a_store_has_the_state_of_every_lane_also_of_entries_that_left_memory),
          TEST_ENTRY(notes_of_a_file_that_hold_anything_make_no_trouble),
          TEST_ENTRY(an_agent_at_its_memory_limit_keeps_its_state),
          TEST_ENTRY(a_tape_has_the_effects_and_its_replay_the_state),
          TEST_ENTRY(events_of_the_state_go_into_json_and_back),
          TEST_ENTRY(the_state_survives_every_failed_allocation),
          TEST_ENTRY(a_snapshot_that_cannot_be_read_to_its_end_leaves_nothing_of_the_state))
