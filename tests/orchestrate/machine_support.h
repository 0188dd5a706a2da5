/* machine_support.h - drives a machine without a runtime: events by hand, commands as lines of text.

   With `reload` the machine is saved, thrown away with its memory and loaded after each event; a test
   that passes both ways shows that nothing was lost. */
#ifndef PHI_TESTS_STRATEGY_MACHINE_SUPPORT_H
#define PHI_TESTS_STRATEGY_MACHINE_SUPPORT_H

#include "base/base_in.h"
#include "orchestrate/machine.h"
#include "support/test.h"
#include "text/json_in.h"

typedef struct machine {
    const phi_strategy *strategy;
    phi_memory memory;
    phi_arena arena, scratch;
    phi_strategy_env env;
    void *state;
    phi__buf log;           /* commands, a line each */
    phi__buf ask;           /* the last call: system prompt, a blank line, prompt */
    phi__buf result;        /* JSON text of the end */
    uint32_t call_id;       /* of the last call */
    phi_strategy_call call; /* without its strings */
    phi_status status;      /* of the last event */
    bool reload, over;
    int asks;
} machine;

static inline void machine_put(phi__buf *out, phi_str text) {
    size_t i;
    for (i = 0; i < text.len; i++) phi__buf_char(out, text.at[i] == '\n' ? '|' : text.at[i]);
}

static inline void machine_ask(machine *m, const phi_strategy_call *call, bool again) {
    phi__buf text;
    phi__buf_init(&text, &m->memory);
    phi__buf_add_str(&text, call->system_prompt);
    phi__buf_text(&text, "\n\n");
    phi__buf_add_str(&text, call->prompt);
    if (again) { /* a loaded machine makes the same call again */
        CHECK_EQ_INT(call->id, m->call_id);
        CHECK(phi_str_equal(phi__buf_str(&text), phi__buf_str(&m->ask)));
        phi__buf_free(&text);
        return;
    }
    phi__buf_free(&m->ask);
    m->ask = text;
    m->call = *call;
    m->call_id = call->id;
    m->asks++;
    phi__buf_printf(&m->log, "ask %u%s: ", (unsigned)call->id, call->tools ? " with tools" : "");
    machine_put(&m->log, call->prompt.at != NULL ? call->prompt : PHI__LIT("(the prompt)"));
    phi__buf_char(&m->log, '\n');
}

static inline void machine_take(machine *m, const phi_strategy_commands *commands, bool again) {
    size_t i;
    for (i = 0; i < commands->count; i++) {
        const phi_strategy_command *c = &commands->at[i];
        CHECK(!m->over);
        if (c->kind == PHI_STRATEGY_ASK) machine_ask(m, &c->call, again);
        if (c->kind == PHI_STRATEGY_EMIT) {
            phi__buf_text(&m->log, "emit ");
            machine_put(&m->log, c->phase);
            phi__buf_char(&m->log, '\n');
        }
        if (c->kind != PHI_STRATEGY_DONE && c->kind != PHI_STRATEGY_FAIL) continue;
        m->over = true;
        phi__buf_text(&m->log, c->kind == PHI_STRATEGY_DONE ? "done: " : "fail: ");
        machine_put(&m->log, c->text);
        phi__buf_char(&m->log, '\n');
        phi__buf_clear(&m->result);
        phi__buf_add_str(&m->result, c->result);
    }
}

static inline void machine_reload(machine *m) {
    phi_strategy_commands commands;
    phi_memory aside;
    phi_arena saved;
    phi_json *json;
    commands.count = 0;
    phi_memory_init(&aside, NULL, 0);
    phi_arena_init(&saved, &aside, 0);
    json = m->strategy->save(m->state, &saved);
    if (CHECK(json != NULL)) {
        memset(m->state, 0, m->strategy->state_bytes);
        phi_arena_free(&m->arena);
        CHECK_EQ_INT(m->strategy->load(m->state, json, &m->env, &commands), PHI_OK);
        machine_take(m, &commands, true);
    }
    phi_arena_free(&saved);
}

static inline void machine_event(machine *m, const phi_strategy_event *event) {
    phi_strategy_commands commands;
    phi_strategy_best before, after;
    double was;
    bool was_unfinished;
    commands.count = 0;
    m->strategy->best(m->state, &before);
    was = before.has_score ? before.score : -1.0;
    was_unfinished = before.unfinished || before.text.len == 0;
    m->status = m->strategy->on(m->state, event, &m->env, &commands);
    if (m->status == PHI_OK) {
        m->strategy->best(m->state, &after);
        CHECK(!before.has_score || (after.has_score && (after.score >= was || was_unfinished)));
        CHECK(was_unfinished || !after.unfinished);
        machine_take(m, &commands, false);
    }
    phi_arena_free(&m->scratch);
    if (m->reload && m->status == PHI_OK) machine_reload(m);
    phi_arena_free(&m->scratch);
}

static inline void machine_new(machine *m, const phi_strategy *strategy, const void *options,
                               bool reload) {
    phi_allocator allocator = test_allocator();
    memset(m, 0, sizeof *m);
    m->strategy = strategy;
    m->reload = reload;
    phi_memory_init(&m->memory, &allocator, 0);
    phi_arena_init(&m->arena, &m->memory, 0);
    phi_arena_init(&m->scratch, &m->memory, 0);
    phi__buf_init(&m->log, &m->memory);
    phi__buf_init(&m->ask, &m->memory);
    phi__buf_init(&m->result, &m->memory);
    m->env.options = options;
    m->env.calls_left = PHI_UNLIMITED;
    m->env.arena = &m->arena;
    m->env.scratch = &m->scratch;
    m->state = phi__alloc(&m->memory, strategy->state_bytes);
}

static inline void machine_free(machine *m) {
    phi__free(&m->memory, m->state, m->strategy->state_bytes);
    phi__buf_free(&m->log);
    phi__buf_free(&m->ask);
    phi__buf_free(&m->result);
    phi_arena_free(&m->arena);
    phi_arena_free(&m->scratch);
}

static inline void machine_begin(machine *m, const char *prompt) {
    phi_strategy_event event;
    memset(&event, 0, sizeof event);
    event.kind = PHI_STRATEGY_BEGIN;
    event.text = phi_str_of(prompt);
    machine_event(m, &event);
}

/* Of 10 tokens in and 5 out. */
static inline void machine_answer_str(machine *m, uint32_t call_id, phi_str text) {
    phi_strategy_event event;
    memset(&event, 0, sizeof event);
    event.kind = PHI_STRATEGY_ANSWER;
    event.call_id = call_id;
    event.text = text;
    event.usage.input = 10;
    event.usage.output = 5;
    event.usage.total_tokens = 15;
    event.stop_reason = PHI_STOP_REASON_STOP;
    machine_event(m, &event);
}

static inline void machine_answer(machine *m, const char *text) {
    machine_answer_str(m, m->call_id, phi_str_of(text));
}

static inline void machine_fail(machine *m, phi_status status, const char *message,
                                const char *so_far) {
    phi_strategy_event event;
    memset(&event, 0, sizeof event);
    event.kind = PHI_STRATEGY_FAILED;
    event.call_id = m->call_id;
    event.text = phi_str_of(so_far);
    event.status = status;
    event.message = phi_str_of(message);
    machine_event(m, &event);
}

static inline void machine_stop(machine *m) {
    phi_strategy_event event;
    memset(&event, 0, sizeof event);
    event.kind = PHI_STRATEGY_STOP;
    machine_event(m, &event);
}

static inline const char *machine_text(phi__buf *buf) {
    phi__buf_char(buf, '\0');
    buf->len -= !buf->failed;
    return buf->failed ? "(no memory)" : buf->at;
}

/* A member of the result, as text; valid until the next call. */
static inline const char *machine_result(machine *m, const char *path) {
    static char out[2048];
    phi__json_found found;
    if (phi__json_cursor_find(phi__buf_str(&m->result), path, &found) != PHI_OK) return "(none)";
    (void)snprintf(out, sizeof out, "%.*s", (int)found.raw.len, found.raw.at);
    return out;
}

#endif
