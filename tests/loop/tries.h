/* tries.h - answers that fail, and what the host sees of the attempts that follow. */
#ifndef PHI_TESTS_LOOP_TRIES_H
#define PHI_TESTS_LOOP_TRIES_H

#include "support/heard.h"
#include "model/failure.h"

#define TOO_LONG                                                                                   \
    "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is "   \
    "too long: 9 tokens > 8 maximum\"}}"

#define OVERLOADED                                                                                 \
    "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"

#define SLOW_DOWN                                                                                  \
    "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}"

/* An answer that has begun: usage 10 and 1; then a block; then the text "Half". */
#define BEGUN                                                                                      \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\","       \
    "\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n"

#define BLOCK                                                                                      \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"             \
    "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"

#define HALF                                                                                       \
    BEGUN BLOCK "event: content_block_delta\ndata: "                                               \
                "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":"                         \
                "{\"type\":\"text_delta\",\"text\":\"Half\"}}\n\n"

/* What the host saw of one run. */
typedef struct tries {
    int retries;
    uint32_t delays[8], attempts[8], of[8];
    char lines[8][600]; /* RETRY's text */
    phi_failure_kind kinds[8];
    phi_failure failure; /* ERROR's; its strings are gone */
    phi_status status;   /* AGENT_END's */
    phi_usage usage;     /* AGENT_END's */
} tries;

static inline void hear(void *user_data, const phi_event *event) {
    tries *h = (tries *)user_data;
    int i = h->retries;
    if (event->kind == PHI_EV_RETRY && i < 8) {
        h->delays[i] = event->delay_ms;
        h->attempts[i] = event->attempt;
        h->of[i] = event->attempts;
        h->kinds[i] = event->failure->kind;
        (void)snprintf(h->lines[i], sizeof h->lines[i], "%.*s", (int)event->text.len,
                       event->text.at);
        h->retries++;
    }
    if (event->kind == PHI_EV_ERROR) h->failure = *event->failure;
    if (event->kind != PHI_EV_AGENT_END) return;
    h->status = event->status;
    h->usage = *event->usage;
}

static inline phi_agent_desc trying(void) {
    phi_agent_desc desc = rig_desc();
    desc.retry.disable = false;
    return desc;
}

/* A run of one prompt with what the rig was told to answer. */
static inline void run_heard(rig *r, phi_agent agent, tries *h) {
    memset(h, 0, sizeof *h);
    rig_watch(r, hear, h);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 600000), 0);
}

static inline phi_agent_desc patient(void) {
    phi_agent_desc desc = rig_desc();
    desc.retry.disable = false;
    desc.retry.initial_delay_ms = 100;
    return desc;
}

/* The beginning of an answer, as far as its first delta. */
static inline const char *half_stream(const char *text) {
    static char out[4000];
    char *end;
    (void)snprintf(out, sizeof out, "%s", rig_stream_of(text));
    end = strstr(out, "event: content_block_stop");
    if (end != NULL) *end = '\0';
    return out;
}

#endif
