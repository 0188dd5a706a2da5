/* test_tape_calls.c - runs whose calls of operations take random numbers, recorded and played. */
#include "openapi/opened.h"
#include "asked.h"

#include "record/replay.h"
#include "loop/events.h"

static const char document[] =
    "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"t\",\"version\":\"1\"},\"servers\":[{\"url\":"
    "\"https://h.example\"}],\"paths\":{\"/x\":{\"post\":{\"operationId\":\"up\",\"requestBody\":{"
    "\"content\":{\"multipart/form-data\":{\"schema\":{}}}}}}}}";

static char tape_text[1 << 17], stories[2][4000];
static size_t tape_len;
static int overloads; /* of the model, before it answers */

static phi_status tape_write(void *user_data, const char *bytes, size_t len) {
    (void)user_data;
    if (tape_len + len >= sizeof tape_text) return PHI_FULL;
    memcpy(tape_text + tape_len, bytes, len);
    tape_len += len;
    return PHI_OK;
}

/* Models are overloaded after the call; the server's answer goes to a file. */
static void answer(wires *w, size_t i) {
    static const char long_text[] = "0123456789 0123456789 0123456789 0123456789";
    asked *a = (asked *)w->user_data;
    if (strncmp(w->sent[i].text, "POST https://h.example", 22) == 0)
        wires_reply(w, i, 200, "Content-Type: text/plain\r\n", long_text);
    else if (strstr(w->sent[i].text, "tool_result") != NULL && overloads-- > 0)
        wires_reply(w, i, 529, "", "{}");
    else
        asked_answer(&a->w, i);
}

/* Times and texts of all events. */
static void tell(asked *a, phi_tape *tape, const char *dir, char *story, size_t size) {
    phi_openapi_desc desc = PHI_ZERO;
    phi_agent_desc agent = rig_desc();
    phi_runtime_desc runtime;
    phi_event event;
    int most = 3000, runs = 1;
    memset(&runtime, 0, sizeof runtime);
    memset(a, 0, sizeof *a);
    runtime.tape = tape;
    overloads = 3;
    desc.max_response_bytes = 10;
    desc.response_directory = dir;
    wires_init(&a->w);
    a->w.user_data = a;
    a->w.answer = answer;
    a->rt = wires_runtime(&a->w, &runtime);
    a->api = open_text(a->rt, &desc, phi_str_of(document));
    while (phi_openapi_step(a->api, NULL) == PHI_BUSY) continue;
    while (phi_openapi_select(a->api, NULL, &a->tools) == PHI_BUSY) continue;
    agent.tools = a->tools.tools;
    agent.tool_count = a->tools.count;
    agent.retry.disable = false;
    a->agent = phi_agent_new(a->rt, &agent);
    a->name[0] = "up";
    a->arguments[0] = "{\"body\":{\"a\":\"b\"}}";
    a->call_count = 1;
    CHECK_EQ_INT(phi_prompt(a->agent, "go"), PHI_OK);
    story[0] = '\0';
    while (most-- > 0 && runs > 0) {
        runs = phi_step(a->rt, 0);
        a->w.now_us += 20000;
        while (phi_next_event(a->rt, &event)) {
            size_t n = strlen(story);
            (void)snprintf(story + n, size - n, "%d %.*s\n", (int)event.kind, (int)event.text.len,
                           event.text.len > 0 ? event.text.at : "");
            asked_event(a, &event);
        }
    }
    CHECK_EQ_INT(runs, 0);
    if (CHECK_EQ_INT(a->results, 1))
        (void)snprintf(story + strlen(story), size - strlen(story), "%s", a->text[0]);
    asked_close(a);
}

TEST(a_call_that_takes_random_numbers_does_not_change_what_comes_behind) {
    phi_parse_error error;
    phi_tape_desc desc;
    phi_tape *tape;
    char dir[300];
    asked a;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    memset(&desc, 0, sizeof desc);
    desc.allocator = test_allocator();
    desc.write_fn = tape_write;
    tape_len = 0;
    tape = phi_tape_record(&desc);
    tell(&a, tape, dir, stories[0], sizeof stories[0]);
    CHECK_EQ_INT(phi_tape_end(tape, NULL), PHI_OK);
    phi_tape_free(tape);
    CHECK(strstr(stories[0], "whole answer, 43 bytes: ") != NULL);
    CHECK(strstr(stories[0], "\n\n0123456789\n... [truncated]") != NULL);
    memset(&desc, 0, sizeof desc);
    desc.allocator = test_allocator();
    tape = phi_tape_play(&desc, phi__str(tape_text, tape_len), &error);
    REQUIRE(tape != NULL);
    tell(&a, tape, dir, stories[1], sizeof stories[1]);
    CHECK_EQ_INT(phi_tape_end(tape, NULL), PHI_OK);
    phi_tape_free(tape);
    CHECK_EQ_STR(stories[1], stories[0]);
}

TEST_MAIN(TEST_ENTRY(a_call_that_takes_random_numbers_does_not_change_what_comes_behind))
