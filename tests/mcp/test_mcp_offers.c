/* Resources, prompts, completion and log messages of the mock server, as a host uses them. */
#include "mcp/gets.h"
#include "mcp/mock_agent.h"

typedef struct heard {
    mock_kit k; /* first */
    char text[8192];
    int times;
} heard;

static void hear(heard *h, const char *format, ...) PHI_PRINTF(2, 3);

#include <stdarg.h>

static void hear(heard *h, const char *format, ...) {
    size_t len = strlen(h->text);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(h->text + len, sizeof h->text - len, format, args);
    va_end(args);
}

#define S(s) (int)(s).len, (s).len > 0 ? (s).at : ""

static void on_resources(void *user_data, const phi_mcp_got *list) {
    heard *h = (heard *)user_data;
    size_t i;
    h->times++;
    hear(h, "%d %.*s:", (int)list->status, S(list->message));
    for (i = 0; i < list->count; i++)
        hear(h, " %.*s=%.*s(%.*s)", S(list->resources[i].uri), S(list->resources[i].name),
             S(list->resources[i].mime_type));
    hear(h, "%s\n", list->more ? " cut" : "");
}

static void on_reading(void *user_data, const phi_mcp_got *reading) {
    heard *h = (heard *)user_data;
    size_t i;
    h->times++;
    hear(h, "%d %d %.*s:", (int)reading->status, reading->code, S(reading->message));
    for (i = 0; i < reading->count; i++)
        hear(h, " %.*s %.*s text %u blob %u", S(reading->contents[i].uri),
             S(reading->contents[i].mime_type), (unsigned)reading->contents[i].text.len,
             (unsigned)reading->contents[i].blob.len);
    hear(h, "\n");
}

static void on_prompts(void *user_data, const phi_mcp_got *list) {
    heard *h = (heard *)user_data;
    size_t i, j;
    h->times++;
    hear(h, "%d:", (int)list->status);
    for (i = 0; i < list->count; i++) {
        hear(h, " %.*s(", S(list->prompts[i].name));
        for (j = 0; j < list->prompts[i].argument_count; j++)
            hear(h, "%.*s%s ", S(list->prompts[i].arguments[j].name),
                 list->prompts[i].arguments[j].required ? "!" : "");
        hear(h, ")");
    }
    hear(h, "\n");
}

static void on_prompted(void *user_data, const phi_mcp_got *prompt) {
    heard *h = (heard *)user_data;
    size_t i;
    h->times++;
    hear(h, "%d %d %.*s:", (int)prompt->status, prompt->code, S(prompt->description));
    for (i = 0; i < prompt->count; i++)
        hear(h, " %d %u %.*s", (int)prompt->messages[i].role,
             (unsigned)prompt->messages[i].content_count,
             S(prompt->messages[i].content[0].kind == PHI_CONTENT_TEXT
                   ? prompt->messages[i].content[0].text
                   : prompt->messages[i].content[0].mime_type));
    hear(h, "\n");
}

static void on_completion(void *user_data, const phi_mcp_got *completion) {
    heard *h = (heard *)user_data;
    size_t i;
    h->times++;
    hear(h, "%d:", (int)completion->status);
    for (i = 0; i < completion->count; i++) hear(h, " %.*s", S(completion->values[i]));
    hear(h, " of %u%s\n", (unsigned)completion->total, completion->more ? ", more" : "");
}

static void on_done(void *user_data, phi_status status, phi_str message) {
    heard *h = (heard *)user_data;
    h->times++;
    hear(h, "%d %.*s\n", (int)status, S(message));
}

static bool heard_it(mock_kit *k) { return ((heard *)(void *)k)->times > 0; }

static const char *wait_for(heard *h) {
    static char out[8192];
    h->times = 0;
    CHECK(mock_until(&h->k, heard_it));
    (void)snprintf(out, sizeof out, "%s", h->text);
    h->text[0] = '\0';
    return out;
}

static bool open_mock(heard *h, const char *era, const char *behaviour) {
    phi_mcp_desc desc;
    memset(&desc, 0, sizeof desc);
    memset(h, 0, sizeof *h);
    desc.log_level = "info";
    return mock_begin(&h->k, &desc, era, behaviour);
}

static const char *const both[] = {"2026-07-28", "2025-06-18"};

TEST(resources_and_templates_are_listed_page_by_page_and_read) {
    size_t i;
    for (i = 0; i < 2; i++) {
        heard h;
        if (open_mock(&h, both[i], "page=2")) {
            phi_mcp *mcp = h.k.mcp;
            CHECK_EQ_INT(mcp_list_resources(mcp, on_resources, &h, NULL), PHI_OK);
            CHECK_EQ_STR(
                wait_for(&h),
                "0 : file:///readme.md=readme.md(text/markdown) mock://ask=ask(text/plain) "
                "mock://clock=clock(text/plain) mock://long=long(text/plain) "
                "mock://picture=picture(image/png)\n");
            CHECK_EQ_INT(mcp_list_templates(mcp, on_resources, &h, NULL), PHI_OK);
            CHECK_EQ_STR(wait_for(&h), "0 : mock://item/{id}=item(application/json)\n");
            CHECK_EQ_INT(mcp_read_resource(mcp, "mock://clock", on_reading, &h, NULL), PHI_OK);
            CHECK_EQ_STR(wait_for(&h), "0 0 : mock://clock text/plain text 5 blob 0\n");
            CHECK_EQ_INT(mcp_read_resource(mcp, "mock://picture", on_reading, &h, NULL), PHI_OK);
            CHECK(strstr(wait_for(&h), "image/png text 0 blob ") != NULL);
            CHECK_EQ_INT(mcp_read_resource(mcp, "mock://no", on_reading, &h, NULL), PHI_OK);
            CHECK(strstr(wait_for(&h), i == 0 ? "-32602 " : "-32002 ") != NULL);
        }
        mock_end(&h.k);
    }
}

TEST(prompts_become_messages_and_arguments_are_completed) {
    static const phi_mcp_pair pairs[] = {{"name", "Ada"}, {"style", "\"loudly\""}};
    size_t i;
    for (i = 0; i < 2; i++) {
        heard h;
        if (open_mock(&h, both[i], NULL)) {
            phi_mcp *mcp = h.k.mcp;
            phi_mcp_get_desc desc;
            CHECK_EQ_INT(mcp_list_prompts(mcp, on_prompts, &h, NULL), PHI_OK);
            CHECK_EQ_STR(wait_for(&h), "0: greet(name! style ) picture() plain()\n");
            CHECK_EQ_INT(mcp_get_prompt(mcp, "greet", pairs, 2, on_prompted, &h, NULL), PHI_OK);
            CHECK_EQ_STR(wait_for(&h), "0 0 Greets somebody: 1 1 Say hello to Ada, \"loudly\".\n");
            CHECK_EQ_INT(mcp_get_prompt(mcp, "picture", NULL, 0, on_prompted, &h, NULL), PHI_OK);
            CHECK_EQ_STR(wait_for(&h), "0 0 Shows a picture: 1 1 image/png\n");
            CHECK_EQ_INT(mcp_get_prompt(mcp, "greet", NULL, 0, on_prompted, &h, NULL), PHI_OK);
            CHECK(strstr(wait_for(&h), "-32602 ") != NULL);
            memset(&desc, 0, sizeof desc);
            desc.name = "greet";
            desc.argument = "name";
            desc.value = "a";
            desc.arguments = &pairs[1];
            desc.argument_count = 1;
            CHECK_EQ_INT(mcp_complete(mcp, &desc, on_completion, &h, NULL), PHI_OK);
            CHECK_EQ_STR(wait_for(&h), "0: Ada Alan of 2\n");
            desc.uri = "mock://item/{id}";
            CHECK_EQ_INT(mcp_complete(mcp, &desc, on_completion, &h, NULL), PHI_BAD_ARG);
            desc.name = NULL;
            desc.argument = "id";
            desc.value = NULL;
            CHECK_EQ_INT(mcp_complete(mcp, &desc, on_completion, &h, NULL), PHI_OK);
            CHECK_EQ_STR(wait_for(&h), "0: Ada Alan Barbara of 8, more\n");
        }
        mock_end(&h.k);
    }
}

static bool updated(mock_kit *k) { return strstr(k->story, "updated mock://clock") != NULL; }

TEST(watched_resources_are_reported_when_they_change) {
    size_t i;
    for (i = 0; i < 2; i++) {
        heard h;
        if (open_mock(&h, both[i], NULL)) {
            phi_mcp *mcp = h.k.mcp;
            CHECK_EQ_INT(phi_mcp_watch(mcp, "mock://clock", false, NULL, NULL), PHI_NOT_FOUND);
            CHECK_EQ_INT(phi_mcp_watch(mcp, "mock://clock", true, on_done, &h), PHI_OK);
            CHECK_EQ_STR(wait_for(&h), "0 \n");
            CHECK_EQ_INT(phi_mcp_watch(mcp, "mock://clock", true, on_done, &h), PHI_OK);
            CHECK_EQ_INT(phi_mcp_watch(mcp, "mock://picture", true, on_done, &h), PHI_OK);
            CHECK_EQ_STR(wait_for(&h), "0 \n");
            mock_calls(&h.k, "touch", "{}", "touched");
            CHECK(mock_until(&h.k, updated));
            CHECK(strstr(h.k.story, "resources  \n") != NULL);
            CHECK(strstr(h.k.story, "prompts  \n") != NULL);
            CHECK_EQ_INT(phi_mcp_watch(mcp, "mock://clock", false, NULL, NULL), PHI_OK);
            CHECK_EQ_INT(phi_mcp_watch(mcp, "mock://clock", false, NULL, NULL), PHI_NOT_FOUND);
            CHECK_EQ_INT(mcp_read_resource(mcp, "mock://clock", on_reading, &h, NULL), PHI_OK);
            (void)wait_for(&h);
            h.k.story[0] = '\0';
            mock_calls(&h.k, "touch", "{}", "touched");
            CHECK_EQ_INT(mcp_read_resource(mcp, "mock://clock", on_reading, &h, NULL), PHI_OK);
            (void)wait_for(&h);
            CHECK(!updated(&h.k));
        }
        mock_end(&h.k);
    }
}

TEST(log_messages_from_the_level_on_are_events) {
    size_t i;
    for (i = 0; i < 2; i++) {
        heard h;
        if (open_mock(&h, both[i], NULL)) {
            mock_calls(&h.k, "logs", "{}", "logged");
            CHECK(strstr(h.k.story, "log warning {\"level\":\"warning\"") != NULL);
            CHECK(strstr(h.k.story, "log info ") != NULL);
            CHECK(strstr(h.k.story, "log debug ") == NULL);
        }
        mock_end(&h.k);
    }
}

static const char *error_of(const heard *h) { return phi_last_error(h->k.mcp->rt).message; }

TEST(operations_are_refused_with_words_and_can_be_stopped) {
    static const char *const gone[] = {"stop", "free"};
    uint64_t id = 0;
    size_t i;
    for (i = 0; i < 2; i++) {
        heard h;
        if (open_mock(&h, "2025-11-25", NULL)) {
            phi_mcp *mcp = h.k.mcp;
            mock_part(&h.k); /* so that no step comes before the connection is freed */
            CHECK_EQ_INT(mcp_read_resource(mcp, "", on_reading, &h, NULL), PHI_BAD_ARG);
            CHECK_EQ_STR(error_of(&h), "phi_mcp_get: uri, name or argument: missing");
            CHECK_EQ_INT(mcp_read_resource(mcp, "a", NULL, &h, NULL), PHI_BAD_ARG);
            CHECK_EQ_STR(error_of(&h), "phi_mcp_get: done_fn or arguments: missing");
            CHECK_EQ_INT(gets_one(mcp, (phi_mcp_what)0, on_reading, &h, NULL), PHI_BAD_ARG);
            CHECK_EQ_STR(error_of(&h), "phi_mcp_get: what: unknown");
            CHECK_EQ_INT(phi_mcp_watch(mcp, "", true, on_done, &h), PHI_BAD_ARG);
            CHECK_EQ_STR(error_of(&h), "phi_mcp_watch: uri is missing");
            CHECK_EQ_INT(phi_mcp_watch(mcp, "none", false, NULL, NULL), PHI_NOT_FOUND);
            CHECK_EQ_STR(error_of(&h), "phi_mcp_watch: no such thing");
            CHECK_EQ_INT(mcp_list_resources(NULL, on_resources, &h, NULL), PHI_BAD_ARG);
            CHECK_EQ_INT(mcp_list_resources(mcp, on_resources, &h, &id), PHI_OK);
            CHECK_EQ_INT(phi_mcp_watch(mcp, "mock://clock", true, on_done, &h), PHI_OK);
            if (gone[i][0] == 's') {
                phi_mcp_cancel(mcp, id);
                phi_mcp_cancel(mcp, id);
                CHECK_EQ_STR(wait_for(&h), "0 \n"); /* of the subscription alone */
                phi_mcp_close(mcp);
                CHECK_EQ_INT(mcp_list_prompts(mcp, on_prompts, &h, NULL), PHI_MISUSE);
            }
        }
        mock_end(&h.k);
        CHECK_EQ_STR(h.text, "");
    }
}

/* ---- a scripted server ---- */

#include "mcp/mcp_requests_in.h"
#include "mcp/link.h"

static void served(link_kit *k, const char *json) {
    phi__json_found id, method;
    char text[700];
    const char *result = "{}";
    if (phi__json_cursor_find(phi_str_of(json), "method", &method) != PHI_OK) return;
    if (phi__json_cursor_find(phi_str_of(json), "id", &id) != PHI_OK) return;
    if (phi__str_is(method.raw, "resources/list"))
        result = "{\"resources\":[{\"uri\":\"a\",\"name\":\"A\"},7,{}],\"nextCursor\":\"again\"}";
    if (phi__str_is(method.raw, "prompts/get"))
        result = "{\"messages\":[{\"role\":\"assistant\",\"content\":{\"type\":\"image\",\"data\":"
                 "\"AAAA\",\"mimeType\":\"image/png\"}},{\"role\":\"assistant\",\"content\":{"
                 "\"type\":\"audio\",\"data\":\"AAAA\",\"mimeType\":\"audio/wav\"}},"
                 "{\"content\":[{\"type\":\"text\",\"text\":"
                 "\"a\"},{\"type\":\"new\"}]},7]}";
    if (phi__str_is(method.raw, "prompts/list"))
        result = "{\"prompts\":[{\"name\":\"p\",\"arguments\":[{\"name\":\"x\"},7]},{\"name\":3}]}";
    (void)snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":%s}",
                   (int)id.raw.len, id.raw.at, result);
    link_says(k, text);
}

static bool scripted(heard *h, link_kit *k) {
    static const phi__mcp_open_join joins[] = {phi__offers_join};
    memset(h, 0, sizeof *h);
    link_begin(k, NULL);
    link_answers(k, "2025-11-25",
                 "{\"resources\":{\"subscribe\":true},\"prompts\":{},\"completions\":{}}");
    k->on_send = served;
    if (k->rig == NULL || link_connect(k, NULL, joins, 1) != PHI_OK) return false;
    link_run(k);
    return phi_mcp_get_info(k->mcp).state == PHI_MCP_READY;
}

TEST(lists_that_come_back_to_a_cursor_end_and_odd_items_are_left_out) {
    link_kit k;
    heard h;
    if (CHECK(scripted(&h, &k))) {
        CHECK_EQ_INT(mcp_list_resources(k.mcp, on_resources, &h, NULL), PHI_OK);
        link_run(&k);
        CHECK_EQ_STR(h.text, "0 : a=A() a=A() cut\n");
        h.text[0] = '\0';
        CHECK_EQ_INT(mcp_get_prompt(k.mcp, "p", NULL, 0, on_prompted, &h, NULL), PHI_OK);
        link_run(&k);
        CHECK_EQ_STR(h.text, "0 0 : 2 1 [image] 2 1 [audio] 1 2 a\n");
    }
    link_end(&k);
}

/* Each answer has 1,001 of everything. */
static void floods(link_kit *k, const char *json) {
    static char text[40000];
    phi__json_found id, method;
    size_t len;
    int i;
    if (phi__json_cursor_find(phi_str_of(json), "method", &method) != PHI_OK) return;
    if (phi__json_cursor_find(phi_str_of(json), "id", &id) != PHI_OK) return;
    len = (size_t)snprintf(
        text, 200, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":{%s[{}", (int)id.raw.len, id.raw.at,
        phi__str_is(method.raw, "resources/read") ? "\"contents\":"
                                                  : "\"prompts\":[{\"name\":\"p\",\"arguments\":");
    for (i = 0; i < 1000; i++) len += (size_t)snprintf(text + len, 20, ",{}");
    (void)snprintf(text + len, 20, "%s",
                   phi__str_is(method.raw, "resources/read") ? "]}}" : "]}]}}");
    link_says(k, text);
}

TEST(contents_and_arguments_without_end_take_no_memory) {
    link_kit k;
    heard h;
    if (CHECK(scripted(&h, &k))) {
        k.on_send = floods;
        CHECK_EQ_INT(mcp_read_resource(k.mcp, "a", on_reading, &h, NULL), PHI_OK);
        link_run(&k);
        CHECK(strstr(h.text, "more than 1,000 contents:\n") != NULL);
        h.text[0] = '\0';
        CHECK_EQ_INT(mcp_list_prompts(k.mcp, on_prompts, &h, NULL), PHI_OK);
        link_run(&k);
        CHECK_EQ_INT(strlen(h.text), strlen("0: p()\n") + 100);
    }
    link_end(&k);
}

TEST(operations_survive_every_failed_allocation) {
    int n = 0, refused = 0;
    bool tripped;
    do {
        link_kit k;
        heard h;
        test_alloc_fail_at(n++);
        if (scripted(&h, &k)) {
            if (mcp_list_resources(k.mcp, on_resources, &h, NULL) == PHI_NO_MEMORY) {
                CHECK_EQ_INT(phi_last_error(k.mcp->rt).status, PHI_NO_MEMORY);
                refused |= 1;
            }
            (void)mcp_list_prompts(k.mcp, on_prompts, &h, NULL);
            (void)mcp_get_prompt(k.mcp, "p", NULL, 0, on_prompted, &h, NULL);
            (void)mcp_read_resource(k.mcp, "a", on_reading, &h, NULL);
            if (phi_mcp_watch(k.mcp, "a", true, on_done, &h) == PHI_NO_MEMORY) {
                CHECK_EQ_INT(phi_last_error(k.mcp->rt).status, PHI_NO_MEMORY);
                refused |= 2;
            }
            link_run(&k);
        }
        tripped = test_alloc_tripped();
        link_end(&k);
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped && test_failures() == 0);
    CHECK(n > 50);
    CHECK_EQ_INT(refused, 3);
}

TEST(a_lost_connection_fails_operations_and_watches_again) {
    link_kit k;
    heard h;
    if (CHECK(scripted(&h, &k))) {
        CHECK_EQ_INT(phi_mcp_watch(k.mcp, "a", true, on_done, &h), PHI_OK);
        link_run(&k);
        CHECK_EQ_STR(h.text, "0 \n");
        h.text[0] = '\0';
        k.on_send = NULL;
        CHECK_EQ_INT(mcp_read_resource(k.mcp, "a", on_reading, &h, NULL), PHI_OK);
        link_run(&k);
        link_down(&k, PHI_NETWORK, false, "gone");
        link_run(&k);
        CHECK(strstr(h.text, "gone") != NULL);
        (void)link_sent(&k);
        link_pass(&k, 2000);
        CHECK(strstr(link_sent(&k), "resources/subscribe") != NULL);
    }
    link_end(&k);
}

TEST_MAIN(TEST_ENTRY(resources_and_templates_are_listed_page_by_page_and_read),
          TEST_ENTRY(prompts_become_messages_and_arguments_are_completed),
          TEST_ENTRY(watched_resources_are_reported_when_they_change),
          TEST_ENTRY(log_messages_from_the_level_on_are_events),
          TEST_ENTRY(operations_are_refused_with_words_and_can_be_stopped),
          TEST_ENTRY(lists_that_come_back_to_a_cursor_end_and_odd_items_are_left_out),
          TEST_ENTRY(contents_and_arguments_without_end_take_no_memory),
          TEST_ENTRY(operations_survive_every_failed_allocation),
          TEST_ENTRY(a_lost_connection_fails_operations_and_watches_again))
