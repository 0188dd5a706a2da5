/* test_cache_hits.c - what a fact that changes each turn costs: the bytes of requests, those that are
   new, and the cache hit rate that the mock reports (tests/mock/prefix_cache.py), beside the same
   conversation without facts, and beside one whose host writes the fact into the system prompt.

       make one T=tests/e2e/test_cache_hits.c      prints the tables; PHI_TURNS=1: a line each turn */
#include "e2e/e2e.h"
#include "features/caching.h"
#include "features/facts.h"
#include "codecs/presets.h"
#include "model/event_parts.h"
#include "model/model.h"
#include "text/json.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "model/message.h"
#include "agent/agent_info.h"
#include "text/json_in.h"
#include "support/set.h"

/* BOUND: percentage points of the hit rate that facts may cost. */
enum { TURNS = 30, PROMPT_BYTES = 6000, BOUND = 1 };

typedef enum means { NO_FACTS, FACTS, SYSTEM_PROMPT, MEANS } means;

static const char *const names[MEANS] = {"no facts", "a fact each turn", "in the system prompt"};

typedef struct wire {
    const char *name, *id, *base;
    phi_model (*model)(const char *id, const char *key);
} wire;

static phi_model bedrock(const char *id, const char *key) {
    return phi_model_bedrock("http://127.0.0.1", id, key);
}

static phi_model interactions(const char *id, const char *key) {
    phi_model model = phi_model_google(id, key);
    model.protocol = PHI_PROTOCOL_INTERACTIONS;
    return model;
}

static const wire wires[] = {
    {"Messages", "claude-opus-5-5", "", phi_model_anthropic},
    {"Bedrock", "us.anthropic.claude-opus-5-5-v1:0", "", bedrock},
    {"Chat", "gpt-4.1-mini", "/v1", phi_model_openai},
    {"Responses", "gpt-4.1-mini", "/v1", phi_model_openai_responses},
    {"Gemini", "gemini-3-pro-preview", "/v1beta", phi_model_google},
    {"Interactions", "gemini-3-pro-preview", "/v1beta", interactions},
};
enum { WIRES = sizeof wires / sizeof wires[0] };

/* Of one request, as the mock counts it: bytes of the body; bytes of tools, system prompt and
   messages, and those of the blocks at its beginning that the request before had, too; tokens. */
typedef struct figures {
    long request, context, shared, appended, read, written, input;
} figures;

static double rate(const figures *f) {
    long all = f->read + f->written + f->input;
    return all > 0 ? 100.0 * (double)f->read / (double)all : 0;
}

static void show(const char *turn, const figures *f) {
    printf("    %-6s %8ld %8ld %8ld %8ld %8.1f %%\n", turn, f->request, f->context, f->shared,
           f->context - f->shared, rate(f));
}

static void add(figures *sum, const figures *f) {
    sum->request += f->request;
    sum->context += f->context;
    sum->shared += f->shared;
    sum->appended += f->appended;
    sum->read += f->read;
    sum->written += f->written;
    sum->input += f->input;
}

/* Reads what the mock counted, prints it, and gives the sum of it. */
static bool counted(figures *sum) {
    char *text = mock_ask("GET", "/_cache"), turn[16];
    const char *at = text;
    bool every = getenv("PHI_TURNS") != NULL;
    int n = 0;
    memset(sum, 0, sizeof *sum);
    printf("    turn    request  context   shared      new      hits\n");
    while (at != NULL && (at = strstr(at, "{\"request\"")) != NULL) {
        figures f;
        if (!CHECK(
                sscanf(at,
                       "{\"request\": %ld, \"context\": %ld, \"shared\": %ld, \"appended\": %ld, "
                       "\"read\": %ld, \"written\": %ld, \"input\": %ld}",
                       &f.request, &f.context, &f.shared, &f.appended, &f.read, &f.written,
                       &f.input) == 7))
            break;
        at++;
        n++;
        (void)snprintf(turn, sizeof turn, "%d", n);
        if (every || n <= 2 || n % 10 == 0) show(turn, &f);
        add(sum, &f);
    }
    show("all", sum);
    free(text);
    return CHECK_EQ_INT(n, TURNS);
}

/* The world of a turn: the hour, as the host has it told. */
static void tell(phi_agent agent, means how, int turn, char *prompt, size_t size) {
    char hour[32];
    (void)snprintf(hour, sizeof hour, "day %d, %d o'clock", 1 + turn / 24, turn % 24);
    if (how == FACTS)
        CHECK_EQ_INT(phi_fact_set(phi_fact_agent(agent), "time", phi_str_of(hour), NULL), PHI_OK);
    if (how != SYSTEM_PROMPT) return;
    (void)snprintf(prompt + PROMPT_BYTES, size - PROMPT_BYTES, "\nIt is %s.", hour);
    CHECK_EQ_INT(set_system_prompt(agent, prompt), PHI_OK);
}

static void lived(const wire *w, means how, figures *sum) {
    static char prompt[PROMPT_BYTES + 64];
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "");
    crowd *c = crowd_new(NULL);
    phi_usage usage;
    char url[400], words[300];
    seen *s;
    int turn, i;
    memset(sum, 0, sizeof *sum);
    REQUIRE(c != NULL);
    e2e_forget();
    for (i = 0; i < PROMPT_BYTES; i++) prompt[i] = "You are a smith. "[i % 17];
    prompt[PROMPT_BYTES] = '\0';
    (void)snprintf(url, sizeof url, "%s%s", mock_url("/m/cache/s/hello"), w->base);
    desc.model = w->model(w->id, "a-key");
    desc.model.base_url = url;
    desc.system_prompt = prompt;
    s = crowd_add(c, &desc, w->name);
    REQUIRE(s != NULL);
    for (turn = 0; turn < TURNS; turn++) {
        tell(s->agent, how, turn, prompt, sizeof prompt);
        (void)snprintf(words, sizeof words, "%02d%0198d", turn, 0);
        if (!crowd_ask(s, words) || !CHECK_EQ_INT(s->status, PHI_OK)) {
            printf("  %s: %s\n", w->name, s->failure_text);
            break;
        }
    }
    printf("  %s, %s; bytes:\n", w->name, names[how]);
    if (counted(sum)) { /* what the host reads is what the mock said */
        usage = phi_agent_get_info(s->agent).usage;
        CHECK_EQ_INT(usage.cache_read, sum->read);
        CHECK_EQ_INT(usage.cache_write, sum->written);
        CHECK_EQ_INT(usage.input, sum->input);
        if (how != SYSTEM_PROMPT) CHECK_EQ_INT(phi_agent_get_info(s->agent).cache.misses, 0);
    }
    CHECK_EQ_INT(e2e_stat("refused"), 0);
    CHECK_EQ_INT(e2e_stat("thinking_dropped"), 0);
    crowd_free(c);
}

TEST(facts_that_change_each_turn_are_appended_and_the_cache_hits_stay) {
    size_t i;
    for (i = 0; i < WIRES; i++) {
        figures of[MEANS];
        int how;
        for (how = 0; how < MEANS; how++) lived(&wires[i], (means)how, &of[how]);
        /* Each request begins with all blocks of the one before it. */
        CHECK_EQ_INT(of[NO_FACTS].appended, TURNS);
        CHECK_EQ_INT(of[FACTS].appended, TURNS);
        if (!CHECK(rate(&of[FACTS]) > rate(&of[NO_FACTS]) - BOUND))
            printf("  %s: %.1f %% with facts, %.1f %% without\n", wires[i].name, rate(&of[FACTS]),
                   rate(&of[NO_FACTS]));
        /* What is said in place of it costs more: the mock's cache can be missed. */
        CHECK(rate(&of[SYSTEM_PROMPT]) < rate(&of[FACTS]) - BOUND);
    }
}

/* ---- what Anthropic says of a miss ---- */

/* Asks for the diagnostics against an earlier answer (NULL: for the first one); what came back. */
static phi_str diagnosed(seen *s, const char *previous) {
    char extra[200];
    phi_agent_desc change = PHI_ZERO;
    const phi_message *answer;
    (void)snprintf(extra, sizeof extra, "{\"diagnostics\":{\"previous_message_id\":%s%s%s}}",
                   previous != NULL ? "\"" : "", previous != NULL ? previous : "null",
                   previous != NULL ? "\"" : "");
    change.options.extra = extra;
    CHECK_EQ_INT(phi_agent_set(s->agent, &change, PHI_SET_OPTIONS), PHI_OK);
    CHECK(crowd_ask(s, "Well?"));
    if (!CHECK_EQ_INT(s->status, PHI_OK)) printf("  %s\n", s->failure_text);
    answer = phi_thread_message_at(phi_agent_thread(s->agent),
                                   phi_thread_message_count(phi_agent_thread(s->agent)) - 1);
    return answer != NULL ? answer->details : phi_str_of("");
}

/* The id in the details of an answer, for the next request. */
static void id_of(phi_str details, char *out, size_t size) {
    phi__json_found found;
    out[0] = '\0';
    if (CHECK_EQ_INT(phi__json_cursor_find(details, "id", &found), PHI_OK))
        (void)snprintf(out, size, "%.*s", (int)found.raw.len, found.raw.at);
    CHECK(strncmp(out, "msg_", 4) == 0);
}

static void expect_reason(phi_str details, const char *id, const char *want) {
    char text[300];
    (void)snprintf(text, sizeof text, "{\"id\":\"%s\",\"diagnostics\":%s}", id, want);
    CHECK_STR(details, text);
}

TEST(anthropics_cache_diagnostics_are_asked_for_by_extra_and_are_details_of_the_answer) {
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "/m/cache/s/hello");
    crowd *c = crowd_new(NULL);
    char first[64], second[64], third[64];
    phi_str details;
    seen *s;
    REQUIRE(c != NULL);
    e2e_forget();
    s = crowd_add(c, &desc, "diagnosed");
    REQUIRE(s != NULL);
    details = diagnosed(s, NULL);
    id_of(details, first, sizeof first);
    expect_reason(details, first, "null");
    details = diagnosed(s, first);
    id_of(details, second, sizeof second);
    expect_reason(details, second, "null"); /* appended to */
    CHECK_EQ_INT(set_system_prompt(s->agent, "You are a king."), PHI_OK);
    details = diagnosed(s, second);
    id_of(details, third, sizeof third);
    CHECK(phi__str_find(details, 0,
                        "{\"cache_miss_reason\":{\"type\":\"system_changed\","
                        "\"cache_missed_input_tokens\":") != SIZE_MAX);
    details = diagnosed(s, "msg_of_nobody");
    CHECK(phi__str_find(details, 0,
                        "{\"cache_miss_reason\":{\"type\":"
                        "\"previous_message_not_found\"}}") != SIZE_MAX);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s->agent)), 8);
    CHECK_EQ_INT(e2e_stat("refused"), 0); /* nothing of it is in a later request's messages */
    crowd_free(c);
}

MOCK_MAIN(
    e2e_options, TEST_ENTRY(facts_that_change_each_turn_are_appended_and_the_cache_hits_stay),
    TEST_ENTRY(anthropics_cache_diagnostics_are_asked_for_by_extra_and_are_details_of_the_answer))
