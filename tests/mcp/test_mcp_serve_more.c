/* test_mcp_serve_more.c - our server: resources, prompts, completion, what it tells unasked, hooks,
   agents as tools, clients that break rules, and memory that runs out. */
#include "mcp/answers.h"
#include "mcp/served.h"
#include "orchestrate/family.h"

/* ---- a server with some of everything ---- */

typedef struct world {
    served s;
    rig *r;
    phi_mcp_server_desc desc;
    phi_tool tools[3];
    phi_mcp_serve_tool infos[3];
    phi_mcp_incoming kept; /* of a read or get that answers later */
    int asked_hooks;
    phi_verdict verdict;
    phi_ticket ticket;
} world;

static void read_later(void *user_data, phi_mcp_incoming incoming, const char *uri) {
    CHECK_EQ_STR(uri, "note://later");
    ((world *)user_data)->kept = incoming;
}

static void read_note(void *user_data, phi_mcp_incoming incoming, const char *uri, phi_str values) {
    (void)user_data;
    (void)uri;
    CHECK_EQ_INT(answer_text(incoming, values), PHI_OK);
    CHECK_EQ_INT(answer_text(incoming, values), PHI_STALE);
}

static void get_later(void *user_data, phi_mcp_incoming incoming, phi_str arguments) {
    (void)arguments;
    ((world *)user_data)->kept = incoming;
}

static void complete(void *user_data, phi_mcp_incoming incoming,
                     const phi_mcp_serve_completion *what) {
    const char *const values[] = {"paris", "park"};
    (void)user_data;
    CHECK_EQ_STR(what->argument, "where");
    CHECK_EQ_INT(answer_values(incoming, values, 2, 7), PHI_OK);
}

static phi_verdict on_hook(void *user_data, phi_hook *hook) {
    world *w = (world *)user_data;
    w->asked_hooks++;
    w->ticket = hook->ticket;
    hook->reply = phi_str_of("not today");
    return w->verdict;
}

static void world_desc(world *w) {
    static phi_mcp_serve_resource resources[3];
    static phi_mcp_serve_template templates[1];
    static phi_mcp_serve_prompt prompts[2];
    static const phi_mcp_serve_argument arguments[] = {{"where", NULL, "A place", true},
                                                       {"when", NULL, NULL, false}};
    memset(&w->desc, 0, sizeof w->desc);
    resources[0].uri = "note://text";
    resources[0].text = "plain";
    resources[0].mime_type = "text/plain";
    resources[1].uri = "note://bytes";
    resources[1].bytes = "\x00\x01\xff";
    resources[1].byte_count = 3;
    resources[2].uri = "note://later";
    resources[2].read = read_later;
    resources[2].user_data = w;
    templates[0].uri = "note://{folder}/by/{name}";
    templates[0].read = read_note;
    prompts[0].name = "trip";
    prompts[0].text = "Go to {where} {when}{unknown}";
    prompts[0].arguments = arguments;
    prompts[0].argument_count = 2;
    prompts[1].name = "later";
    prompts[1].get = get_later;
    prompts[1].user_data = w;
    w->tools[0] = rig_echo();
    w->tools[1] = rig_wait(w->r);
    w->tools[2] = rig_echo();
    w->tools[2].name = "picky";
    w->infos[0].output_schema = "{\"type\":\"object\",\"required\":[\"n\"]}";
    w->infos[0].annotations = "{\"readOnlyHint\":true}";
    w->infos[0].title = "Echo";
    w->infos[2].needs = PHI_MCP_CAN_SAMPLE;
    w->desc.name = "world";
    w->desc.tools = w->tools;
    w->desc.tool_infos = w->infos;
    w->desc.tool_count = 3;
    w->desc.resources = resources;
    w->desc.resource_count = 3;
    w->desc.templates = templates;
    w->desc.template_count = 1;
    w->desc.prompts = prompts;
    w->desc.prompt_count = 2;
    w->desc.complete_fn = complete;
    w->desc.user_data = w;
}

static void world_begin(world *w) {
    memset(w, 0, sizeof *w);
    w->r = rig_new();
    world_desc(w);
}

static void world_open(world *w, const char *version) {
    served_open_with(&w->s, &w->desc, w->r);
    CHECK(w->s.server != NULL);
    if (version != NULL) served_begin(&w->s, version, "{}");
}

#define ASK(id, method, params) served_ask(&w.s, legacy(id, method, params))

/* ---- data ---- */

TEST(resources_are_listed_and_read) {
    world w;
    world_begin(&w);
    world_open(&w, "2025-11-25");
    CHECK(has(ASK(1, "resources/list", "{}"),
              "{\"uri\":\"note://text\",\"name\":\"note://text\",\"mimeType\":\"text/plain\"}"));
    CHECK(has(ASK(2, "resources/templates/list", "{}"),
              "{\"uriTemplate\":\"note://{folder}/by/{name}\""));
    CHECK(has(
        ASK(3, "resources/read", "{\"uri\":\"note://text\"}"),
        "\"contents\":[{\"uri\":\"note://text\",\"mimeType\":\"text/plain\",\"text\":\"plain\"}]"));
    CHECK(has(ASK(4, "resources/read", "{\"uri\":\"note://bytes\"}"),
              "\"contents\":[{\"uri\":\"note://bytes\",\"blob\":\"AAH/\"}]"));
    CHECK(has(ASK(5, "resources/read", "{\"uri\":\"note://a%20b/by/c\"}"),
              "\"text\":\"{\\\"folder\\\":\\\"a b\\\",\\\"name\\\":\\\"c\\\"}\""));
    CHECK(has(
        ASK(6, "resources/read", "{\"uri\":\"note://none\"}"),
        "{\"code\":-32002,\"message\":\"Resource not found\",\"data\":{\"uri\":\"note://none\"}}"));
    CHECK(has(ASK(7, "resources/read", "{}"), "-32002"));
    CHECK(has(ASK(8, "resources/read", "{\"uri\":\"note://a%2/by/c\"}"), "-32002"));
    CHECK(has(served_ask(&w.s, modern(9, "resources/read", "\"uri\":\"note://none\",", "{}")),
              "-32602"));
    CHECK(has(served_ask(&w.s, modern(9, "resources/read", "\"uri\":\"note://text\",", "{}")),
              "\"ttlMs\":0,\"cacheScope\":\"private\""));
    served_free(&w.s);
}

TEST(a_read_may_answer_later_and_once) {
    world w;
    world_begin(&w);
    world_open(&w, "2025-11-25");
    CHECK_EQ_STR(ASK(1, "resources/read", "{\"uri\":\"note://later\"}"), "");
    CHECK_EQ_INT(answer_values(w.kept, NULL, 0, 0), PHI_BAD_ARG);
    CHECK_EQ_INT(answer_json(w.kept, "[1]"), PHI_BAD_ARG);
    CHECK_EQ_INT(answer_bytes(w.kept, "x", 1, "image/png"), PHI_OK);
    CHECK(has(served_hear(&w.s), "\"id\":1,\"result\":{\"contents\":[{\"uri\":\"note://later\","
                                 "\"mimeType\":\"image/png\",\"blob\":\"eA==\"}]}"));
    CHECK_EQ_INT(answer_error(w.kept, "no"), PHI_STALE);
    CHECK_EQ_STR(ASK(2, "resources/read", "{\"uri\":\"note://later\"}"), "");
    CHECK_EQ_INT(answer_error(w.kept, "locked"), PHI_OK);
    CHECK(has(served_hear(&w.s), "\"error\":{\"code\":-32603,\"message\":\"locked\"}"));
    served_free(&w.s);
}

TEST(an_answer_without_memory_is_an_error_for_the_client) {
    static char json[20000] = "{\"contents\":[0"; /* more than the request's arena has room for */
    bool tripped;
    world w;
    int n = 0, refused = 0;
    for (size_t len = strlen(json); len + 10 < sizeof json; len += 2) memcpy(json + len, ",0", 3);
    memcpy(json + strlen(json), "]}", 3);
    do {
        world_begin(&w);
        world_open(&w, "2025-11-25");
        CHECK_EQ_STR(ASK(1, "resources/read", "{\"uri\":\"note://later\"}"), "");
        test_alloc_fail_at(n++);
        phi_status status = answer_json(w.kept, json);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        if (status == PHI_NO_MEMORY) {
            CHECK(has(served_hear(&w.s), "\"id\":1,\"error\":{\"code\":-32603,\"message\":"
                                         "\"Out of memory\"}"));
            refused++;
        }
        CHECK_EQ_INT(answer_json(w.kept, json), PHI_STALE);
        served_free(&w.s);
    } while (tripped && n < 100);
    CHECK(n > 1 && n < 100 && refused > 0);
}

TEST(prompts_are_filled_with_their_arguments) {
    world w;
    world_begin(&w);
    world_open(&w, "2025-11-25");
    CHECK(has(ASK(1, "prompts/list", "{}"),
              "\"arguments\":[{\"name\":\"where\",\"description\":\"A place\",\"required\":true}"));
    CHECK(has(ASK(2, "prompts/get", "{\"name\":\"trip\",\"arguments\":{\"where\":\"Rome\"}}"),
              "\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":"
              "\"Go to Rome {unknown}\"}}]"));
    CHECK(has(ASK(3, "prompts/get", "{\"name\":\"trip\"}"), "params.arguments.where: missing"));
    CHECK(has(ASK(4, "prompts/get", "{\"name\":\"trip\",\"arguments\":{\"where\":1}}"),
              "params.arguments.where: expected a string"));
    CHECK(has(ASK(5, "prompts/get", "{\"name\":\"no\"}"), "Unknown prompt: no"));
    CHECK_EQ_STR(ASK(6, "prompts/get", "{\"name\":\"later\"}"), "");
    CHECK_EQ_INT(answer_json(w.kept, "{\"messages\":[]}"), PHI_OK);
    CHECK(has(served_hear(&w.s), "\"id\":6,\"result\":{\"messages\":[]}"));
    served_free(&w.s);
}

/* A PDF, a text and an address as documents, and a sound. */
static void media_of(phi_content out[4]) {
    memset(out, 0, 4 * sizeof out[0]);
    out[0].kind = out[1].kind = out[2].kind = PHI_CONTENT_DOCUMENT;
    out[0].data = phi_str_of("JVBERi0=");
    out[0].mime_type = phi_str_of("application/pdf");
    out[0].name = phi_str_of("A b.pdf");
    out[1].text = phi_str_of("words");
    out[2].url = phi_str_of("https://a.example/c.pdf");
    out[3].kind = PHI_CONTENT_AUDIO;
    out[3].data = phi_str_of("UklGRg==");
    out[3].mime_type = phi_str_of("audio/wav");
}

static void check_media(const char *version, const char *sound) {
    phi_content content[4];
    phi_tool_result result = PHI_ZERO;
    phi_message message = PHI_ZERO;
    char want[200];
    world w;
    world_begin(&w);
    world_open(&w, version);
    media_of(content);
    result.content = content;
    result.content_count = 4;
    CHECK_EQ_STR(ASK(1, "tools/call", "{\"name\":\"wait\"}"), "");
    CHECK_EQ_INT(phi_call_result(rig_call_at(w.r, 0), &result), PHI_OK);
    CHECK(has(served_hear(&w.s),
              "\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":"
              "\"document:///A%20b.pdf\",\"mimeType\":\"application/pdf\",\"blob\":"
              "\"JVBERi0=\"}},{\"type\":\"resource\",\"resource\":{\"uri\":"
              "\"document:///document\",\"mimeType\":\"text/plain\",\"text\":\"words\"}},"
              "{\"type\":\"text\",\"text\":\"https://a.example/c.pdf\"},"));
    CHECK(has(w.s.line, sound));
    message.role = PHI_ROLE_USER;
    message.content = content;
    message.content_count = 4;
    CHECK_EQ_STR(ASK(2, "prompts/get", "{\"name\":\"later\"}"), "");
    CHECK_EQ_INT(answer_messages(w.kept, &message, 1), PHI_OK);
    (void)snprintf(want, sizeof want, "{\"role\":\"user\",\"content\":%s}]", sound);
    CHECK(has(served_hear(&w.s), want));
    served_free(&w.s);
}

TEST(documents_are_embedded_resources_and_audio_is_audio_where_the_era_has_it) {
    check_media("2025-11-25",
                "{\"type\":\"audio\",\"data\":\"UklGRg==\",\"mimeType\":\"audio/wav\"}");
    check_media("2024-11-05", "{\"type\":\"text\",\"text\":\"[audio]\"}");
}

TEST(arguments_are_completed) {
    world w;
    world_begin(&w);
    world_open(&w, "2025-11-25");
    CHECK(has(ASK(1, "completion/complete",
                  "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"trip\"},"
                  "\"argument\":{\"name\":\"where\",\"value\":\"pa\"}}"),
              "\"completion\":{\"values\":[\"paris\",\"park\"],\"total\":7,\"hasMore\":true}"));
    CHECK(has(ASK(2, "completion/complete", "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"x\"}}"),
              "-32602"));
    served_free(&w.s);
}

TEST(lists_come_in_pages) {
    world w;
    world_begin(&w);
    w.desc.page = 2;
    world_open(&w, "2025-11-25");
    CHECK(has(ASK(1, "tools/list", "{}"), "\"nextCursor\":\"2\""));
    CHECK(has(w.s.line, "\"title\":\"Echo\""));
    CHECK(has(ASK(2, "tools/list", "{\"cursor\":\"2\"}"), "\"tools\":[{\"name\":\"picky\""));
    CHECK(strstr(w.s.line, "nextCursor") == NULL);
    CHECK(has(ASK(3, "tools/list", "{\"cursor\":\"4\"}"), "-32602"));
    CHECK(has(ASK(4, "tools/list", "{\"cursor\":\"-1\"}"), "-32602"));
    CHECK(has(ASK(5, "tools/list", "{\"cursor\":2}"), "-32602"));
    served_free(&w.s);
}

/* ---- unasked ---- */

TEST(a_session_hears_of_changes_that_it_subscribed_to) {
    world w;
    world_begin(&w);
    w.desc.max_subscriptions = 1;
    world_open(&w, "2025-11-25");
    phi_mcp_server_updated(w.s.server, "note://text");
    CHECK(
        has(ASK(1, "resources/subscribe", "{\"uri\":\"note://text\"}"), "\"id\":1,\"result\":{}"));
    CHECK(
        has(ASK(2, "resources/subscribe", "{\"uri\":\"note://text\"}"), "\"id\":2,\"result\":{}"));
    CHECK(has(ASK(3, "resources/subscribe", "{\"uri\":\"note://bytes\"}"), "Too many"));
    CHECK(has(ASK(4, "resources/subscribe", "{\"uri\":\"x\"}"), "not found"));
    phi_mcp_server_updated(w.s.server, "note://text");
    CHECK_EQ_STR(served_hear(&w.s),
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{"
                 "\"uri\":\"note://text\"}}");
    CHECK(has(ASK(5, "resources/unsubscribe", "{\"uri\":\"note://text\"}"), "{}"));
    phi_mcp_server_updated(w.s.server, "note://text");
    CHECK_EQ_INT(serve_tools(w.s.server, w.tools, NULL, 1), PHI_OK);
    CHECK(has(served_hear(&w.s), "notifications/tools/list_changed"));
    CHECK_EQ_INT(serve_tools(w.s.server, w.tools, NULL, 0), PHI_OK);
    CHECK(has(served_hear(&w.s), "notifications/tools/list_changed"));
    CHECK(has(ASK(6, "tools/list", "{}"), "\"tools\":[]"));
    served_free(&w.s);
}

TEST(a_modern_stream_has_what_its_filter_asked_for) {
    world w;
    world_begin(&w);
    world_open(&w, NULL);
    CHECK_EQ_STR(served_ask(&w.s, modern(5, "subscriptions/listen",
                                         "\"notifications\":{\"promptsListChanged\":true,"
                                         "\"resourceSubscriptions\":[\"note://text\",\"x\"]},",
                                         "{}")),
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\","
                 "\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":5},"
                 "\"notifications\":{\"promptsListChanged\":true,\"resourceSubscriptions\":["
                 "\"note://text\"]}}}");
    CHECK_EQ_INT(serve_tools(w.s.server, w.tools, NULL, 1), PHI_OK);
    phi_mcp_server_updated(w.s.server, "note://bytes");
    phi_mcp_server_updated(w.s.server, "note://text");
    CHECK(has(served_hear(&w.s), "subscriptionId\":5},\"uri\":\"note://text\"}"));
    served_say(&w.s, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                     "\"requestId\":5}}");
    CHECK_EQ_STR(served_hear(&w.s), "");
    phi_mcp_server_updated(w.s.server, "note://text");
    CHECK_EQ_STR(served_hear(&w.s), "");
    served_free(&w.s);
}

TEST(log_messages_have_the_level_that_the_client_set) {
    world w;
    world_begin(&w);
    world_open(&w, "2025-11-25");
    CHECK(has(ASK(1, "logging/setLevel", "{\"level\":\"error\"}"), "{}"));
    CHECK(has(ASK(2, "logging/setLevel", "{\"level\":\"loud\"}"), "-32602"));
    (void)phi_mcp_server_log(w.s.server, NULL, "warning", NULL, "low");
    (void)phi_mcp_server_log(w.s.server, NULL, "error", "core", "{\"a\":\n1}");
    CHECK(has(served_hear(&w.s),
              "\"params\":{\"level\":\"error\",\"logger\":\"core\",\"data\":{\"a\":1}}}"));
    (void)phi_mcp_server_log(w.s.server, NULL, "alert", NULL, "just a text");
    CHECK(has(served_hear(&w.s), "\"data\":\"just a text\""));
    served_free(&w.s);
}

/* ---- calls ---- */

TEST(structured_content_fits_the_output_schema_or_the_call_fails) {
    world w;
    world_begin(&w);
    world_open(&w, "2025-11-25");
    CHECK(has(ASK(1, "tools/call", "{\"name\":\"echo\",\"arguments\":{\"n\":1}}"),
              "\"structuredContent\":{\"n\":1},\"isError\":false"));
    CHECK(has(ASK(2, "tools/call", "{\"name\":\"echo\",\"arguments\":{\"m\":1}}"),
              "\"isError\":true"));
    served_free(&w.s);
}

TEST(a_tool_that_needs_what_the_client_cannot_do_is_refused) {
    world w;
    world_begin(&w);
    world_open(&w, "2025-11-25");
    CHECK(has(ASK(1, "tools/call", "{\"name\":\"picky\"}"), "-32602"));
    CHECK(has(served_ask(&w.s, modern(2, "tools/call", "\"name\":\"picky\",", "{}")),
              "{\"code\":-32021,"));
    CHECK(has(w.s.line, "\"data\":{\"requiredCapabilities\":{\"sampling\":{}}}"));
    CHECK(has(served_ask(&w.s, modern(3, "tools/call", "\"name\":\"picky\",", "{\"sampling\":{}}")),
              "\"isError\":false"));
    served_free(&w.s);
}

TEST(hooks_decide_about_calls_of_clients) {
    world w;
    world_begin(&w);
    w.desc.hook_fn = on_hook;
    w.desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    w.verdict = PHI_DENY;
    world_open(&w, "2025-11-25");
    CHECK(has(ASK(1, "tools/call", "{\"name\":\"echo\",\"arguments\":{\"n\":1}}"), "not today"));
    CHECK(has(w.s.line, "\"isError\":true"));
    w.verdict = PHI_WAIT;
    CHECK_EQ_STR(ASK(2, "tools/call", "{\"name\":\"echo\",\"arguments\":{\"n\":1}}"), "");
    CHECK_EQ_INT(phi_decide(w.ticket, PHI_ALLOW, NULL), PHI_OK);
    CHECK(has(served_hear(&w.s), "\"id\":2,\"result\":{\"content\":[{\"type\":\"text\""));
    CHECK_EQ_INT(w.asked_hooks, 2);
    served_free(&w.s);
}

TEST(an_agent_can_be_a_tool) {
    rig *r = rig_new();
    served s;
    family f;
    phi_subagent_desc child;
    phi_agent_desc agent;
    phi_mcp_server_desc desc;
    phi_tool tool;
    memset(&f, 0, sizeof f);
    memset(&child, 0, sizeof child);
    memset(&agent, 0, sizeof agent);
    memset(&desc, 0, sizeof desc);
    family_begin(&f, r);
    agent = family_desc(&f, "worker");
    child.name = "worker";
    child.agent = &agent;
    tool = phi_subagent_tool(&child);
    desc.tools = &tool;
    desc.tool_count = 1;
    served_open_with(&s, &desc, r);
    served_begin(&s, "2025-11-25", "{}");
    served_say(&s, legacy(1, "tools/call",
                          "{\"name\":\"worker\",\"arguments\":{\"task\":\"dig\"},"
                          "\"_meta\":{\"progressToken\":7}}"));
    CHECK(has(served_hear(&s), "\"progressToken\":7,\"progress\":0.0,\"message\":\"Done: dig.\""));
    CHECK(has(served_hear(&s), "\"text\":\"Done: dig.\"}],\"isError\":false"));
    CHECK_EQ_INT(f.opens, 1);
    agent.model.protocol = NULL; /* the caller's model, which there is none of */
    agent.provider = NULL;
    CHECK(has(served_ask(&s, legacy(2, "tools/call",
                                    "{\"name\":\"worker\",\"arguments\":{\"task\":\"dig\"}}")),
              "\"isError\":true"));
    CHECK_EQ_STR(rig_story(r), "");
    served_free(&s);
}

/* ---- clients that break rules ---- */

TEST(a_batch_is_answered_by_one_array_where_the_era_has_that) {
    world w;
    static const char batch[] = "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},"
                                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"},7,"
                                "{\"jsonrpc\":\"2.0\",\"id\":\"w\",\"method\":\"tools/"
                                "call\",\"params\":{\"name\":\"wait\"}},"
                                "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"none\"}]";
    world_begin(&w);
    world_open(&w, "2025-03-26");
    CHECK_EQ_STR(served_ask(&w.s, batch), "");
    rig_finish(w.r, 0, "late");
    CHECK(has(served_hear(&w.s), "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}},"));
    CHECK(has(w.s.line, "\"code\":-32600"));
    CHECK(has(w.s.line,
              "{\"jsonrpc\":\"2.0\",\"id\":\"w\",\"result\":{\"content\":[{\"type\":\"text\","
              "\"text\":\"late\"}],\"isError\":false}}]"));
    CHECK(has(served_ask(&w.s, "[]"), "batch of 1 to 64"));
    served_free(&w.s);
    world_begin(&w);
    world_open(&w, "2025-06-18");
    CHECK(has(served_ask(&w.s, batch), "not a batch"));
    served_free(&w.s);
}

TEST(what_is_no_message_is_refused_with_words) {
    static const char *const lines[][2] = {
        {"nonsense", "-32700"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1", "-32700"},
        {"{}", "-32600"},
        {"null", "-32600"},
        {"7", "-32600"},
        {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", "-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", "Not a message: its id is null"},
        {"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}", "its id is neither"},
        {"{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}", "its id is neither"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", "-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", "-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1}", "-32600"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}", "-32601"},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", "\"id\":1.5,\"result\":{}"},
        {"\xff\xfe", "-32700"}};
    size_t i;
    world w;
    world_begin(&w);
    world_open(&w, "2025-11-25");
    for (i = 0; i < sizeof lines / sizeof lines[0]; i++)
        CHECK(has(served_ask(&w.s, lines[i][0]), lines[i][1]));
    served_say(&w.s, "\r\n\n   \n"); /* empty lines are none */
    CHECK(has(ASK(1, "ping", "{}"), "\"id\":1,\"result\":{}"));
    served_free(&w.s);
}

/* A call of `echo` of about that many bytes; the caller frees it. */
static char *long_call(int id, size_t bytes, const char *end) {
    char *line = (char *)malloc(bytes + 300);
    int n;
    CHECK(line != NULL);
    n = snprintf(line, 200,
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"echo\",\"arguments\":{\"text\":\"",
                 id);
    memset(line + n, 'x', bytes);
    (void)snprintf(line + n + bytes, 100, "%s", end);
    return line;
}

TEST(long_messages_are_read_in_slices_and_in_their_order) {
    char *one = long_call(1, 400000, "\"}}}"), *two = long_call(2, 300000, "\"}}}");
    char *broken = long_call(3, 200000, "\"}}");
    int steps = 0;
    world w;
    world_begin(&w);
    world_open(&w, "2025-11-25");
    served_say(&w.s, one);
    while (served_read(&w.s), w.s.len == w.s.at && steps < 100) {
        served_step(&w.s);
        steps++;
    }
    CHECK(steps >= 4 && steps < 100); /* 64 KiB each */
    CHECK(has(served_hear(&w.s), "\"id\":1,\"result\""));
    served_say(&w.s, two);
    served_say(&w.s, broken);
    served_say(&w.s, legacy(4, "ping", "{}"));
    CHECK(has(served_hear(&w.s), "\"id\":2,\"result\""));
    CHECK(has(served_hear(&w.s), "-32700"));
    CHECK(has(served_hear(&w.s), "\"id\":4,\"result\""));
    served_say(&w.s, two);
    served_close(&w.s.to); /* its end is seen behind the message */
    CHECK(has(served_hear(&w.s), "\"id\":2,\"result\""));
    CHECK_EQ_STR(served_hear(&w.s), "");
    CHECK(phi_mcp_server_get_info(w.s.server).ended);
    served_free(&w.s);
    free(one);
    free(two);
    free(broken);
}

TEST(a_server_may_be_freed_at_every_slice_of_a_message) {
    char *line = long_call(1, 300000, "\"}}}");
    int at, i;
    for (at = 0; at < 8; at++) {
        world w;
        world_begin(&w);
        world_open(&w, "2025-11-25");
        served_say(&w.s, line);
        served_say(&w.s, legacy(4, "ping", "{}"));
        for (i = 0; i < at; i++) served_step(&w.s);
        phi_mcp_server_free(w.s.server);
        w.s.server = NULL;
        served_step(&w.s);
        served_free(&w.s);
    }
    free(line);
}

TEST(every_failed_allocation_of_a_long_message_leaves_a_server_that_goes_on) {
    char *line = long_call(1, 200000, "\"}}}");
    int n = 0, answered = 0;
    bool tripped;
    do {
        world w;
        world_begin(&w);
        world_open(&w, "2025-11-25");
        test_alloc_fail_at(n++);
        served_say(&w.s, line);
        served_say(&w.s, legacy(4, "ping", "{}"));
        while (served_hear(&w.s)[0] != '\0')
            answered += strstr(w.s.line, "\"id\":1,\"result\"") != NULL;
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (!phi_mcp_server_get_info(w.s.server).ended)
            CHECK(has(ASK(77, "ping", "{}"), "\"id\":77"));
        served_free(&w.s);
    } while (tripped && n < 500);
    CHECK(n > 5 && n < 500 && answered > 0);
    free(line);
}

TEST(a_request_before_initialize_is_refused) {
    world w;
    world_begin(&w);
    world_open(&w, NULL);
    CHECK(has(ASK(1, "tools/list", "{}"), "initialize comes first"));
    CHECK(has(ASK(2, "ping", "{}"), "{}"));
    served_free(&w.s);
}

/* A line of `before`, n times `c`, and `after`. */
static char *long_line(const char *before, size_t n, char c, const char *after) {
    size_t head = strlen(before), tail = strlen(after);
    char *line = (char *)malloc(head + n + tail + 1);
    memcpy(line, before, head);
    memset(line + head, c, n);
    memcpy(line + head + n, after, tail + 1);
    return line;
}

TEST(what_is_too_long_or_too_deep_is_refused_and_leaves_nothing) {
    char *lines[4];
    size_t i, before;
    world w;
    world_begin(&w);
    world_open(&w, "2025-11-25");
    before = phi_memory_used(rig_runtime(w.r), NULL);
    lines[0] = long_line("{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":\"", 3000000, 'i', "\"}");
    lines[1] = long_line("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"", 5000000, 'm', "\"}");
    lines[2] = long_line("", 200000, '[', "");
    lines[3] =
        long_line("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"",
                  1000000, 'n', "\"}}");
    for (i = 0; i < 4; i++) {
        CHECK(has(served_ask(&w.s, lines[i]), "\"error\""));
        CHECK(strlen(w.s.line) < 1000);
        free(lines[i]);
    }
    CHECK(has(ASK(9, "ping", "{}"), "\"id\":9"));
    CHECK(phi_memory_used(rig_runtime(w.r), NULL) <= before + 70000); /* a kept line buffer */
    served_free(&w.s);
}

TEST(a_flood_of_calls_is_bounded) {
    char line[200];
    int i, refused = 0;
    world w;
    world_begin(&w);
    w.desc.max_calls = 4;
    world_open(&w, "2025-11-25");
    for (i = 0; i < 20; i++) {
        (void)snprintf(line, sizeof line,
                       "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{"
                       "\"name\":\"wait\"}}",
                       i);
        refused += strstr(served_ask(&w.s, line), "Too many") != NULL;
    }
    CHECK_EQ_INT(refused, 16);
    CHECK(has(ASK(1, "tools/call", "{\"name\":\"wait\"}"), "under way"));
    rig_finish(w.r, 2, "x");
    CHECK(has(served_hear(&w.s), "\"id\":2"));
    CHECK_EQ_STR(ASK(30, "tools/call", "{\"name\":\"wait\"}"), "");
    served_free(&w.s);
}

enum { CALLS = 1000 };

typedef struct many {
    phi_call calls[CALLS];
    size_t count;
} many;

static phi_flow many_start(void *user_data, phi_call call, phi_str arguments) {
    many *m = (many *)user_data;
    (void)arguments;
    if (m->count < CALLS) m->calls[m->count++] = call;
    return PHI_PENDING;
}

/* A thousand calls under way on one thread: what one costs, and that all of it comes back. */
TEST(a_thousand_calls_may_be_under_way) {
    static many m;
    char line[160];
    size_t before, during;
    int i, answered = 0;
    world w;
    world_begin(&w);
    memset(&m, 0, sizeof m);
    w.tools[1].start = many_start;
    w.tools[1].user_data = &m;
    w.desc.max_calls = CALLS;
    world_open(&w, "2025-11-25");
    before = phi_memory_used(rig_runtime(w.r), NULL);
    for (i = 0; i < CALLS; i++) {
        (void)snprintf(line, sizeof line,
                       "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{"
                       "\"name\":\"wait\"}}",
                       i);
        served_say(&w.s, line);
    }
    for (i = 0; i < 2000 && m.count < CALLS; i++) served_step(&w.s);
    CHECK_EQ_INT(m.count, CALLS);
    during = phi_memory_used(rig_runtime(w.r), NULL);
    CHECK((during - before) / CALLS < 20000); /* docs/mcp.md says 17 KB */
    for (i = 0; i < CALLS; i++) {
        CHECK_EQ_INT(phi_call_reply(m.calls[i], "x"), PHI_OK);
        answered += served_hear(&w.s)[0] != '\0';
    }
    CHECK_EQ_INT(answered, CALLS);
    CHECK(phi_memory_used(rig_runtime(w.r), NULL) <= before + 400000); /* tables stay */
    served_free(&w.s);
}

TEST(bytes_may_come_one_at_a_time) {
    const char *line = legacy(3, "tools/list", "{}");
    char kept[200];
    size_t i;
    world w;
    world_begin(&w);
    world_open(&w, "2025-11-25");
    (void)snprintf(kept, sizeof kept, "%s\n", line);
    for (i = 0; kept[i] != '\0'; i++) {
        CHECK(write(w.s.to, kept + i, 1) == 1);
        served_step(&w.s);
    }
    CHECK(has(served_hear(&w.s), "\"id\":3,\"result\":{\"tools\":["));
    served_free(&w.s);
}

TEST(a_desc_with_a_fault_is_refused_with_words) {
    world w;
    const char *why = "";
    world_begin(&w);
    w.desc.stdio = w.desc.http = true;
    CHECK(phi_mcp_serve(rig_runtime(w.r), &w.desc) == NULL);
    why = phi_last_error(rig_runtime(w.r)).message;
    CHECK_EQ_INT(phi_last_error(rig_runtime(w.r)).status, PHI_BAD_ARG);
    CHECK_EQ_STR(why, "phi_mcp_serve: expected either stdio or http");
    w.desc.http = false;
    w.desc.era = "2020";
    CHECK(phi_mcp_serve(rig_runtime(w.r), &w.desc) == NULL);
    w.desc.era = NULL;
    w.tools[0].schema = "{\"type\":\"object\",\"not\":{}}";
    CHECK(phi_mcp_serve(rig_runtime(w.r), &w.desc) == NULL);
    why = phi_last_error(rig_runtime(w.r)).message;
    CHECK_EQ_INT(phi_last_error(rig_runtime(w.r)).status, PHI_UNSUPPORTED);
    CHECK(strstr(why, "tool \"echo\": ") == why);
    w.tools[0] = rig_echo();
    w.tools[0].needs_approval = true;
    CHECK(phi_mcp_serve(rig_runtime(w.r), &w.desc) == NULL);
    why = phi_last_error(rig_runtime(w.r)).message;
    CHECK_EQ_INT(phi_last_error(rig_runtime(w.r)).status, PHI_BAD_ARG);
    CHECK_EQ_STR(why, "tool \"echo\": needs_approval, and nothing can approve: set hook_fn, and "
                      "PHI_HOOK_BEFORE_TOOL in hook_points");
    w.tools[0] = rig_echo();
    w.infos[0].output_schema = "[]";
    CHECK(phi_mcp_serve(rig_runtime(w.r), &w.desc) == NULL);
    why = phi_last_error(rig_runtime(w.r)).message;
    CHECK_EQ_INT(phi_last_error(rig_runtime(w.r)).status, PHI_BAD_ARG);
    CHECK_EQ_STR(why, "output_schema of \"echo\": expected a JSON object");
    rig_free(w.r);
}

/* ---- memory ---- */

static void scenario(world *w) {
    served_begin(&w->s, "2025-11-25", "{}");
    (void)served_ask(&w->s, legacy(1, "tools/call",
                                   "{\"name\":\"echo\",\"arguments\":{\"n\":1},"
                                   "\"_meta\":{\"progressToken\":1}}"));
    (void)served_ask(
        &w->s, legacy(2, "prompts/get", "{\"name\":\"trip\",\"arguments\":{\"where\":\"x\"}}"));
    (void)served_ask(&w->s, legacy(3, "resources/read", "{\"uri\":\"note://a/by/c\"}"));
    (void)served_ask(&w->s, legacy(4, "resources/subscribe", "{\"uri\":\"note://text\"}"));
    (void)served_ask(&w->s, modern(5, "tools/list", "", "{}"));
}

/* Some answers are lost without memory, or the connection is: each request is tried once. */
static int scenario_without_checks(world *w) {
    static const char *const lines[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-11-25\",\"capabilities\":{}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\","
        "\"arguments\":{\"n\":1},\"_meta\":{\"progressToken\":1}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"prompts/get\",\"params\":{\"name\":\"trip\","
        "\"arguments\":{\"where\":\"x\"}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"resources/read\",\"params\":{\"uri\":"
        "\"note://a/by/c\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"resources/subscribe\",\"params\":{\"uri\":"
        "\"note://text\"}}"};
    size_t i;
    int results = 0;
    for (i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        served_say(&w->s, lines[i]);
        while (served_hear(&w->s)[0] != '\0') results += strstr(w->s.line, "\"result\"") != NULL;
    }
    return results;
}

TEST(every_failed_allocation_leaves_a_server_that_can_be_freed) {
    int n = 0, served_all = 0;
    bool tripped;
    world w;
    world_begin(&w);
    world_open(&w, NULL);
    scenario(&w);
    served_free(&w.s);
    do {
        world_begin(&w);
        test_alloc_fail_at(n++);
        served_open_with(&w.s, &w.desc, w.r);
        if (w.s.server != NULL) served_all += scenario_without_checks(&w) == 5;
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (w.s.server != NULL && !phi_mcp_server_get_info(w.s.server).ended)
            CHECK(has(served_ask(&w.s, modern(77, "server/discover", "", "{}")), "\"id\":77"));
        served_free(&w.s);
    } while (tripped && n < 2000);
    CHECK(n > 60 && n < 2000 && served_all > 0);
}

TEST_MAIN(TEST_ENTRY(resources_are_listed_and_read), TEST_ENTRY(a_read_may_answer_later_and_once),
          TEST_ENTRY(an_answer_without_memory_is_an_error_for_the_client),
          TEST_ENTRY(prompts_are_filled_with_their_arguments), TEST_ENTRY(arguments_are_completed),
          TEST_ENTRY(lists_come_in_pages),
          TEST_ENTRY(a_session_hears_of_changes_that_it_subscribed_to),
          TEST_ENTRY(a_modern_stream_has_what_its_filter_asked_for),
          TEST_ENTRY(log_messages_have_the_level_that_the_client_set),
          TEST_ENTRY(structured_content_fits_the_output_schema_or_the_call_fails),
          TEST_ENTRY(a_tool_that_needs_what_the_client_cannot_do_is_refused),
          TEST_ENTRY(hooks_decide_about_calls_of_clients), TEST_ENTRY(an_agent_can_be_a_tool),
          TEST_ENTRY(a_batch_is_answered_by_one_array_where_the_era_has_that),
          TEST_ENTRY(what_is_no_message_is_refused_with_words),
          TEST_ENTRY(long_messages_are_read_in_slices_and_in_their_order),
          TEST_ENTRY(a_server_may_be_freed_at_every_slice_of_a_message),
          TEST_ENTRY(every_failed_allocation_of_a_long_message_leaves_a_server_that_goes_on),
          TEST_ENTRY(a_request_before_initialize_is_refused),
          TEST_ENTRY(what_is_too_long_or_too_deep_is_refused_and_leaves_nothing),
          TEST_ENTRY(a_flood_of_calls_is_bounded), TEST_ENTRY(a_thousand_calls_may_be_under_way),
          TEST_ENTRY(bytes_may_come_one_at_a_time),
          TEST_ENTRY(a_desc_with_a_fault_is_refused_with_words),
          TEST_ENTRY(every_failed_allocation_leaves_a_server_that_can_be_freed),
          TEST_ENTRY(documents_are_embedded_resources_and_audio_is_audio_where_the_era_has_it))
