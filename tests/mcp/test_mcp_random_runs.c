/* test_mcp_random_runs.c - agents with the tools of a server that says anything, and a host that frees,
   aborts, closes and connects again at any moment, inside of callbacks too, by chance. Whatever happens:
   each call that was started has exactly one end, agents go on, and memory returns to its start.
   PHI_SEEDS says how many runs, PHI_SEED picks one. */
#include "mcp/gets.h"
#include "mcp/mcp_requests_in.h"
#include "mcp/tools.h"
#include "agent/agent_info.h"

enum { AGENTS = 2, STEPS = 60, OPEN = 64 };

typedef struct world {
    link_kit k; /* first: on_send gets it */
    uint32_t seed;
    phi_agent agents[AGENTS];
    const phi_tool_source *sources[1];
    char open[OPEN][40]; /* ids of calls that have begun and not ended */
    size_t starts, ends, runs;
    char id[32]; /* of the last call that the server got */
    bool inside, ending;
} world;

static size_t all_ends, all_runs;

static uint32_t dice(world *w, uint32_t sides) { return test_random(&w->seed) % sides; }

/* ---- the server ---- */

static void say(world *w, const char *text) {
    if (w->k.made == NULL || w->k.deed_count > LINK_SAYS - 16) return;
    link_says(&w->k, text);
}

static void reply(world *w, const char *id, const char *kind, const char *body) {
    char text[3000];
    (void)snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"%s\":%s}", id, kind, body);
    say(w, text);
}

static void list(world *w, const char *id) {
    static const char *const tools[] = {
        "{\"name\":\"a\"}",
        "{\"name\":\"a\",\"description\":\"another\",\"annotations\":{\"readOnlyHint\":true}}",
        "{\"name\":\"b\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"x\":{\"type\":"
        "\"string\"}}},\"outputSchema\":{\"type\":\"object\",\"required\":[\"y\"]}}",
        "{\"name\":\"b\",\"execution\":{\"taskSupport\":\"required\"}}",
        "{\"name\":\"\\u0000\\u001b[2J\\u202e\"}",
        "{\"name\":\"a/b\"}",
        "{\"name\":\"a.b\"}",
        "7",
        "{\"name\":\"deep\",\"inputSchema\":{\"type\":\"object\",\"$ref\":\"#\"}}"};
    static const char *const ends[] = {"]}", "]}", "],\"nextCursor\":\"1\"}",
                                       "],\"nextCursor\":\"2\",\"ttlMs\":-1}"};
    char text[2000] = "{\"tools\":[";
    uint32_t i, most = sizeof tools / sizeof tools[0];
    strcat(text, tools[dice(w, 6) / 5]);
    for (i = 2; i < most; i++) {
        if (dice(w, 3) == 0) continue;
        strcat(text, ",");
        strcat(text, tools[i]);
    }
    strcat(text, ends[dice(w, 4)]);
    switch (dice(w, 30)) {
    case 0: reply(w, id, "error", "{\"code\":-32603,\"message\":\"no\"}"); return;
    case 1: return;
    case 2: reply(w, id, "result", "[]"); return;
    default: reply(w, id, "result", text); return;
    }
}

static const char *question(world *w) {
    static const char *const all[] = {
        "\"method\":\"elicitation/create\",\"params\":{\"message\":\"Who?\",\"requestedSchema\":{"
        "\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"string\",\"default\":\"x\"}}}}",
        "\"method\":\"elicitation/create\",\"params\":{\"mode\":\"url\",\"message\":\"m\",\"url\":"
        "\"https://a.invalid/\",\"elicitationId\":\"e\"}",
        "\"method\":\"elicitation/create\",\"params\":{\"requestedSchema\":{\"$ref\":\"#\"}}",
        "\"method\":\"sampling/createMessage\",\"params\":{\"maxTokens\":9,\"messages\":[{\"role\":"
        "\"user\",\"content\":{\"type\":\"text\",\"text\":\"Hi\"}}]}",
        "\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[7]}",
        "\"method\":\"roots/list\"",
        "\"method\":\"ping\"",
        "\"method\":\"unknown/thing\",\"params\":[]"};
    return all[dice(w, sizeof all / sizeof all[0])];
}

static void asks(world *w) {
    char text[700];
    (void)snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%u,%s}", 1 + dice(w, 9),
                   question(w));
    say(w, text);
}

/* input_required, or a task, under that id */
static void wants(world *w, const char *id, bool task) {
    static const char *const states[] = {"working",   "working", "input_required", "completed",
                                         "completed", "failed",  "cancelled",      "odd"};
    static const char *const polls[] = {"-5", "1e300", "20", "null", "0"};
    char text[2600];
    size_t len = (size_t)snprintf(
        text, sizeof text,
        task ? "{\"resultType\":\"task\",\"task\":{\"taskId\":\"t\",\"status\":\"%s\","
               "\"pollInterval\":%s},\"taskId\":\"t\",\"status\":\"%s\",\"pollIntervalMs\":%s,"
               "\"result\":{\"content\":[]},\"statusMessage\":\"m\",\"inputRequests\":{"
             : "{\"resultType\":\"input_required\",\"requestState\":\"s\",\"inputRequests\":{",
        states[dice(w, 8)], polls[dice(w, 5)], states[dice(w, 8)], polls[dice(w, 5)]);
    uint32_t n = dice(w, 4), i;
    for (i = 0; i < n; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s\"k%u\":{%s}", i > 0 ? "," : "",
                                dice(w, 3), question(w));
    (void)snprintf(text + len, sizeof text - len, "}}");
    reply(w, id, "result", text);
}

static void notes(world *w) {
    static const char *const all[] = {
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":"
        "\"file:///a\"}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\","
        "\"data\":[1]}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{"
        "\"notifications\":{\"resourceSubscriptions\":[\"file:///a\"]}}}",
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1e400}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1e400,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":-1,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}",
        "garbage",
        "[]"};
    say(w, all[dice(w, sizeof all / sizeof all[0])]);
}

static void call(world *w, const char *id) {
    char text[300];
    uint32_t n;
    (void)snprintf(w->id, sizeof w->id, "%s", id);
    switch (dice(w, 16)) {
    case 0: reply(w, id, "error", "{\"code\":-32000,\"message\":\"no\",\"data\":{}}"); return;
    case 1: reply(w, id, "result", "{\"content\":7,\"isError\":true}"); return;
    case 2: reply(w, id, "result", "{\"structuredContent\":{\"y\":[]},\"content\":[]}"); return;
    case 3: reply(w, id, "result", "7"); return;
    case 4: return; /* silence */
    case 5:
    case 6: wants(w, id, false); return;
    case 7:
    case 8: wants(w, id, true); return;
    case 9: asks(w); return;
    case 10:
        (void)snprintf(text, sizeof text,
                       "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                       "\"progressToken\":%s,\"progress\":-1e308,\"total\":0}}",
                       id);
        for (n = 0; n < 5; n++) say(w, text);
        break;
    case 11:
        (void)snprintf(text, sizeof text,
                       "[{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}},{\"jsonrpc\":\"2.0\",\"id\":"
                       "%s,\"result\":{}}]",
                       id, id);
        say(w, text);
        return;
    default: break;
    }
    reply(w, id, "result", "{\"content\":[{\"type\":\"text\",\"text\":\"good\"}]}");
}

static void on_send(link_kit *k, const char *json) {
    world *w = (world *)(void *)k;
    phi__json_found id, method;
    char name[32];
    if (phi__json_cursor_find(phi_str_of(json), "method", &method) != PHI_OK) return;
    if (phi__json_cursor_find(phi_str_of(json), "id", &id) != PHI_OK) return;
    (void)snprintf(name, sizeof name, "%.*s", (int)id.raw.len, id.raw.at);
    if (phi__str_is(method.raw, "tools/list"))
        list(w, name);
    else if (phi__str_is(method.raw, "tools/call"))
        call(w, name);
    else if (phi__str_is(method.raw, "tasks/get"))
        wants(w, name, true);
    else if (dice(w, 3) > 0)
        reply(w, name, "result", "{\"resources\":[{\"uri\":\"file:///a\"}],\"content\":[]}");
}

/* ---- the host ---- */

static void agent_make(world *w, size_t i) {
    phi_agent_desc desc = rig_desc();
    if (w->k.mcp == NULL || w->ending) return;
    w->sources[0] = phi_mcp_tools(w->k.mcp);
    desc.tool_options.sources = w->sources;
    desc.tool_options.source_count = 1;
    desc.deadlines.decision_ms = 300;
    rig_hooks(w->k.rig, &desc, PHI_HOOK_QUESTION | PHI_HOOK_BEFORE_TOOL);
    w->agents[i] = phi_agent_new(w->k.rt, &desc);
}

static void on_list(void *user_data, const phi_mcp_got *got);

static void act(world *w) {
    phi_agent *agent = &w->agents[dice(w, AGENTS)];
    phi_mcp_tool tool;
    switch (dice(w, 24)) {
    case 0:
        if (agent->rt != NULL) phi_agent_free(*agent);
        agent->rt = NULL;
        return;
    case 1:
    case 2:
        if (agent->rt != NULL) (void)phi_abort(*agent);
        return;
    case 3: phi_mcp_close(w->k.mcp); return;
    case 4:
    case 5:
        if (w->k.mcp != NULL) (void)phi_mcp_reconnect(w->k.mcp);
        return;
    case 6:
        if (w->k.made != NULL)
            link_says(&w->k,
                      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
        return;
    case 7:
        if (mcp_tool_at(w->k.mcp, 0, &tool)) (void)phi_mcp_accept_tool(w->k.mcp, tool.name.at);
        return;
    case 8: (void)mcp_list_resources(w->k.mcp, on_list, w, NULL); return;
    case 9: (void)phi_mcp_watch(w->k.mcp, "file:///a", true, NULL, NULL); return;
    case 10: (void)phi_mcp_watch(w->k.mcp, "file:///a", false, NULL, NULL); return;
    case 11:
        if (w->k.made != NULL && w->k.deed_count < LINK_SAYS - 16)
            link_down(&w->k, PHI_NETWORK, dice(w, 8) == 0, "died");
        return;
    case 12: /* refused while agents have its tools */
        if (dice(w, 8) > 0 || w->k.mcp == NULL) return;
        if (link_freed(w->k.mcp)) w->k.mcp = NULL;
        return;
    case 13: w->k.full = dice(w, 3) == 0; return;
    default:
        if (w->k.full && w->k.made != NULL) link_room(&w->k);
        return;
    }
}

/* What a host does inside of a callback. */
static void inside(world *w) {
    if (w->inside || w->ending || dice(w, 4) > 0) return;
    w->inside = true;
    act(w);
    w->inside = false;
}

static void on_list(void *user_data, const phi_mcp_got *got) {
    (void)got;
    inside((world *)user_data);
}

static void on_event(void *user_data, const phi_mcp_event *e) {
    (void)e;
    inside((world *)user_data);
}

static phi_verdict on_hook(void *user_data, phi_hook *hook) {
    static const phi_verdict verdicts[] = {PHI_ALLOW, PHI_ALLOW, PHI_ALLOW, PHI_DENY, PHI_WAIT};
    world *w = (world *)user_data;
    inside(w);
    if (hook->point == PHI_HOOK_QUESTION && dice(w, 3) == 0) hook->reply = phi_str_of("{\"n\":7}");
    return verdicts[dice(w, 5)];
}

/* ---- one end for each call ---- */

static void key_of(const phi_event *e, char *key) {
    (void)snprintf(key, 40, "%u.%u %.*s", (unsigned)e->agent.index, (unsigned)e->agent.gen,
                   (int)phi__min(e->tool_call_id.len, 24), e->tool_call_id.at);
}

static void begins(world *w, const phi_event *e) {
    size_t i;
    for (i = 0; i < OPEN && w->open[i][0] != '\0'; i++) continue;
    if (!CHECK(i < OPEN)) return;
    key_of(e, w->open[i]);
    w->starts++;
}

static void finishes(world *w, const phi_event *e) {
    char key[40];
    size_t i;
    key_of(e, key);
    for (i = 0; i < OPEN && strcmp(w->open[i], key) != 0; i++) continue;
    if (!CHECK(i < OPEN)) {
        printf("  a second end of %s\n", key);
        return;
    }
    w->open[i][0] = '\0';
    w->ends++;
}

static void run_ends(world *w, const phi_event *e) {
    char key[40];
    size_t i, len = (size_t)snprintf(key, sizeof key, "%u.%u ", (unsigned)e->agent.index,
                                     (unsigned)e->agent.gen);
    for (i = 0; i < OPEN; i++)
        if (!CHECK(strncmp(w->open[i], key, len) != 0)) printf("  no end of %s\n", w->open[i]);
    w->runs++;
}

static void on_agent_event(void *user_data, const phi_event *e) {
    world *w = (world *)user_data;
    if (e->kind == PHI_EV_TOOL_START) begins(w, e);
    if (e->kind == PHI_EV_TOOL_END) finishes(w, e);
    if (e->kind == PHI_EV_AGENT_END) run_ends(w, e);
}

/* ---- a run ---- */

static void prompts(world *w) {
    static const char *const names[] = {"a", "a", "a", "b", "a_b", "deep", "none"};
    static const char *const arguments[] = {"{}",         "{\"x\":\"%u\"}", "{\"x\":\"%u\"}",
                                            "{\"z\":%u}", "{\"z\":%u}",     "{\"x\":1e400}"};
    char text[40];
    phi_agent *agent = &w->agents[dice(w, AGENTS)];
    uint32_t turns = 1 + dice(w, 3);
    if (agent->rt == NULL || !phi_agent_alive(*agent)) agent_make(w, (size_t)(agent - w->agents));
    if (agent->rt == NULL) return;
    while (turns-- > 0) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)snprintf(text, sizeof text, arguments[dice(w, 6)], (unsigned)dice(w, 100000));
#pragma GCC diagnostic pop
        rig_call(w->k.rig, "c", names[dice(w, 7)], text);
    }
    (void)phi_prompt(*agent, "go");
}

static bool connects(world *w) {
    static const phi__mcp_open_join joins[] = {phi__mtools_join, phi__offers_join, phi__asks_join};
    static const phi_mcp_root root = {"file:///a", "a"};
    phi_mcp_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.event_fn = on_event;
    desc.user_data = w;
    desc.answers = PHI_MCP_SAMPLING | PHI_MCP_FORMS | PHI_MCP_URLS;
    desc.roots = &root;
    desc.root_count = 1;
    desc.timeout_ms = 400;
    desc.max_timeout_ms = 900;
    desc.connect_timeout_ms = 1000;
    desc.restart_delay_ms = 10;
    desc.max_restarts = PHI_UNLIMITED;
    desc.hold_changed_tools = dice(w, 3) == 0;
    desc.log_level = "info";
    return link_connect(&w->k, &desc, joins, 3) == PHI_OK;
}

static void settle(world *w) {
    int i;
    w->ending = true;
    rig_drop_answers(w->k.rig);
    w->k.full = false;
    if (w->k.made != NULL && w->k.deed_count < LINK_SAYS - 16) link_room(&w->k);
    for (i = 0; i < 60; i++) { /* longer than all deadlines */
        rig_pass_ms(w->k.rig, 100);
        link_steps(&w->k, 3);
    }
    for (i = 0; i < AGENTS; i++) {
        if (w->agents[i].rt == NULL || !phi_agent_alive(w->agents[i])) continue;
        if (!CHECK(!phi_agent_get_info(w->agents[i]).running)) printf("  an agent hangs\n");
        phi_agent_free(w->agents[i]);
    }
    link_steps(&w->k, 2);
}

static void run(uint32_t seed, bool failing) {
    static const char *const eras[] = {"2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"};
    phi_runtime_desc desc;
    world w;
    int i, fail_at;
    memset(&w, 0, sizeof w);
    memset(&desc, 0, sizeof desc);
    w.seed = seed * 2654435761u + 1;
    link_begin(&w.k, &desc);
    link_answers(&w.k, eras[dice(&w, 4)],
                 "{\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":true},\"logging\":"
                 "{},\"tasks\":{\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}}");
    w.k.on_send = on_send;
    w.k.silent = true;
    rig_mock(w.k.rig);
    rig_watch(w.k.rig, on_agent_event, &w);
    rig_hook_with(w.k.rig, on_hook, &w);
    fail_at = failing ? (int)(200 + dice(&w, 4000)) : -1;
    if (CHECK(connects(&w))) {
        link_run(&w.k);
        if (failing) test_alloc_fail_at(fail_at);
        for (i = 0; i < STEPS; i++) {
            if (dice(&w, 3) == 0) prompts(&w);
            if (dice(&w, 3) == 0) act(&w);
            if (w.k.mcp != NULL && dice(&w, 2) == 0) (void)phi_mcp_reconnect(w.k.mcp);
            if (dice(&w, 3) == 0) notes(&w);
            if (dice(&w, 6) == 0) asks(&w);
            if (dice(&w, 4) == 0 && w.id[0] != '\0') call(&w, w.id);
            link_steps(&w.k, (int)dice(&w, 6));
            rig_pass_ms(w.k.rig, dice(&w, 60));
        }
        settle(&w);
        test_alloc_fail_at(-1);
    }
    if (getenv("V") != NULL)
        printf("%u ends %u runs %u\n%s", seed, (unsigned)w.ends, (unsigned)w.runs,
               getenv("PHI_SEED") != NULL ? rig_story(w.k.rig) : "");
    all_ends += w.ends;
    all_runs += w.runs;
    link_end(&w.k);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

static void runs(bool failing) {
    const char *chosen = getenv("PHI_SEED"), *more = getenv("PHI_SEEDS");
    uint32_t most = more != NULL ? (uint32_t)strtoul(more, NULL, 10) : 60;
    uint32_t seed = chosen != NULL ? (uint32_t)strtoul(chosen, NULL, 10) : 1;
    if (chosen != NULL) most = seed;
    for (; seed <= most; seed++) {
        run(seed, failing);
        if (test_failures() == 0) continue;
        printf("  seed %u\n", (unsigned)seed);
        return;
    }
}

TEST(each_call_ends_once_and_agents_go_on_whatever_server_and_host_do) {
    runs(false);
    CHECK(getenv("PHI_SEED") != NULL || (all_ends > 60 && all_runs > 60));
}

TEST(each_call_ends_once_also_when_memory_fails) { runs(true); }

TEST_MAIN(TEST_ENTRY(each_call_ends_once_and_agents_go_on_whatever_server_and_host_do),
          TEST_ENTRY(each_call_ends_once_also_when_memory_fails))
