/* actors.h - models in the process for branches and judges: each says one text after some polls. */
#ifndef PHI_TESTS_EVALUATE_ACTORS_H
#define PHI_TESTS_EVALUATE_ACTORS_H

#include "orchestrate/evaluate.h"
#include "support/heard.h"
#include "support/rig.h"
#include "agent/agent_history.h"
#include "base/arena.h"
#include "log/thread.h"
#include "loop/provider.h"
#include "model/event.h"
#include "model/model.h"
#include "record/session.h"
#include "wire/writer.h"

enum { ACTORS = 6 };

typedef struct actor {
    const char *text; /* NULL: it fails */
    const char *tool; /* it calls, behind the text */
    int polls;        /* before it says it */
    bool hangs;
    uint64_t input, output; /* usage */
    phi_agent frees;        /* in its next poll */
    /* what happened */
    int left, opens, closes;
    char asked[2000]; /* text of the last message */
    size_t messages;  /* of the request */
    size_t tools;
    char system[400];
} actor;

static inline phi_status actor_open(void *user_data, const phi_model_request *request,
                                    void **call) {
    actor *a = (actor *)user_data;
    const phi_message *last = request->messages[request->message_count - 1];
    a->left = a->polls;
    a->opens++;
    a->messages = request->message_count;
    a->tools = request->tool_count;
    heard_copy(a->asked, sizeof a->asked, last->content[0].text);
    heard_copy(a->system, sizeof a->system, request->system_prompt);
    *call = a;
    return PHI_OK;
}

static inline phi_poll actor_poll(void *user_data, void *call, phi_answer *answer) {
    actor *a = (actor *)user_data;
    phi_usage usage;
    CHECK(call == a);
    if (a->frees.rt != NULL) {
        phi_agent_free(a->frees);
        return PHI_POLL_AGAIN;
    }
    if (a->hangs || a->left-- > 0) return PHI_POLL_AGAIN;
    memset(&usage, 0, sizeof usage);
    usage.input = a->input;
    usage.output = a->output;
    phi_answer_usage(answer, &usage);
    if (a->text == NULL) {
        phi_answer_fail(answer, PHI_FAILURE_INVALID_REQUEST, false, "no text");
        return PHI_POLL_DONE;
    }
    phi_answer_text(answer, phi_str_of(a->text));
    if (a->tool != NULL) {
        phi_answer_call(answer, phi_str_of("c1"), phi_str_of(a->tool));
        return PHI_POLL_DONE;
    }
    phi_answer_stop(answer, PHI_STOP_REASON_STOP);
    return PHI_POLL_DONE;
}

static inline void actor_close(void *user_data, void *call) {
    actor *a = (actor *)user_data;
    CHECK(call == a);
    a->closes++;
}

static inline phi_provider actor_provider(actor *a) {
    phi_provider p;
    memset(&p, 0, sizeof p);
    p.protocol = "actor";
    p.user_data = a;
    p.open = actor_open;
    p.poll = actor_poll;
    p.close = actor_close;
    return p;
}

/* A stage: a rig, an agent whose model is actor 0, and configurations of actors 1, 2... Actor 5 is
   the judge's. */
typedef struct stage {
    rig *r;
    actor actors[ACTORS];
    phi_provider providers[ACTORS];
    phi_agent_desc configs[ACTORS];
    phi_agent_desc own;
    phi_agent agent;
    phi_evaluate_desc desc;
} stage;

static inline phi_agent_desc actor_desc(stage *s, size_t i) {
    static const char *const ids[ACTORS] = {"own", "a", "b", "c", "d", "judge"};
    phi_agent_desc d;
    memset(&d, 0, sizeof d);
    s->providers[i] = actor_provider(&s->actors[i]);
    d.model.protocol = "actor";
    d.model.id = ids[i];
    d.model.provider = "play";
    d.provider = &s->providers[i];
    d.retry.disable = true;
    return d;
}

static inline void stage_set(stage *s, rig *r, size_t branches) {
    static const char *const texts[ACTORS] = {"own", "one", "two", "three", "four", "1"};
    size_t i;
    memset(s, 0, sizeof *s);
    s->r = r;
    for (i = 0; i < ACTORS; i++) {
        s->actors[i].text = texts[i];
        s->actors[i].input = 100;
        s->actors[i].output = 10 * (i + 1);
        s->configs[i] = actor_desc(s, i);
    }
    s->own = s->configs[0];
    s->own.ids.session_id = "s";
    s->own.ids.agent_id = "me";
    s->own.system_prompt = "Be brief.";
    s->desc.configs = &s->configs[1];
    s->desc.config_count = branches;
    s->desc.prompt = "Why?";
}

static inline bool stage_open(stage *s) {
    s->agent = phi_agent_new(rig_runtime(s->r), &s->own);
    return s->agent.rt != NULL;
}

static inline phi_evaluation stage_result(stage *s) {
    phi_evaluation out;
    memset(&out, 0, sizeof out);
    CHECK_EQ_INT(phi_evaluation_result(s->agent, &out), PHI_OK);
    return out;
}

static inline void stage_evaluate(stage *s) {
    CHECK_EQ_INT(phi_evaluate(s->agent, &s->desc), PHI_OK);
    CHECK_EQ_INT(rig_run(s->r, 200), 0);
}

/* The texts of a lane's view, joined by '|'; NULL: the active lane. Static. */
static inline const char *lane_texts(phi_agent agent, const char *lane) {
    static char out[1000];
    phi_memory memory;
    phi_arena arena;
    const phi_view_item *items = NULL;
    size_t count = 0, i, at = 0;
    out[0] = '\0';
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_thread_view(phi_agent_thread(agent), lane, UINT64_MAX, &arena, &items, &count),
                 PHI_OK);
    for (i = 0; i < count; i++) {
        phi_str text = items[i].message->content_count > 0 ? items[i].message->content[0].text
                                                           : phi_str_of("-");
        at += (size_t)snprintf(out + at, sizeof out - at, "%s%.*s", i > 0 ? "|" : "", (int)text.len,
                               text.len > 0 ? text.at : "");
    }
    phi_arena_free(&arena);
    return out;
}

#endif
