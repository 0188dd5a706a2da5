/* log_support.h - runs put into a thread by hand: a loop of turns, each a question, perhaps a call and its result, and an
   answer. */
#ifndef PHI_TESTS_SESSION_LOG_SUPPORT_H
#define PHI_TESTS_SESSION_LOG_SUPPORT_H

#include "support/test.h"
#include "log/compact.h"
#include "persist/persist_in.h"
#include "log/thread_in.h"

typedef struct run_log {
    phi_memory memory;
    phi_thread thread;
    unsigned loops, calls;
    int64_t now;
    char loop_id[16]; /* of the latest loop */
    uint32_t flags;   /* of messages to come */
    bool failed;
} run_log;

static inline void runs_open(run_log *l) {
    phi_allocator allocator = test_allocator();
    memset(l, 0, sizeof *l);
    phi_memory_init(&l->memory, &allocator, 0);
    phi__thread_init(&l->thread, &l->memory, NULL);
}

static inline void runs_close(run_log *l) { phi__journal_free_thread(&l->thread); }

static inline phi_thread *runs_thread(run_log *l) { return &l->thread; }

static inline void runs_put(run_log *l, phi__entry *e) {
    e->at_ms = ++l->now;
    if (!phi__arena_str(phi__thread_room(&l->thread), phi_str_of(l->loop_id), &e->loop_id) ||
        !phi__append(&l->thread, e, 1))
        l->failed = true;
}

static inline void runs_mark_of(run_log *l, phi_entry_kind kind, const phi_usage *usage) {
    phi__entry e;
    memset(&e, 0, sizeof e);
    e.kind = kind;
    if (usage != NULL) {
        phi_usage *copy = (phi_usage *)phi__arena_zero(phi__thread_room(&l->thread), sizeof *copy);
        if (copy != NULL) *copy = *usage;
        if (copy == NULL) l->failed = true;
        e.usage = copy;
    }
    runs_put(l, &e);
}

static inline void runs_begin(run_log *l) {
    (void)snprintf(l->loop_id, sizeof l->loop_id, "s.m.%u", ++l->loops);
    runs_mark_of(l, PHI_ENTRY_LOOP_START, NULL);
}

static inline void runs_say(run_log *l, phi_role role, unsigned turn, const phi_content *content,
                            phi_str call_id) {
    phi__entry e;
    phi_message m;
    memset(&m, 0, sizeof m);
    m.role = role;
    m.content = content;
    m.content_count = 1;
    m.loop_id = phi_str_of(l->loop_id);
    m.turn_index = turn;
    m.stop_reason = role == PHI_ROLE_ASSISTANT ? PHI_STOP_REASON_STOP : PHI_STOP_REASON_NONE;
    m.tool_call_id = call_id;
    if (call_id.len > 0) m.tool_name = phi_str_of("t");
    memset(&e, 0, sizeof e);
    e.kind = PHI_ENTRY_MESSAGE;
    e.flags = (uint8_t)l->flags;
    e.turn_index = turn;
    e.message = phi__append_keep(&l->thread, &m);
    if (e.message == NULL) l->failed = true;
    if (!l->failed) runs_put(l, &e);
}

static inline void runs_text(run_log *l, phi_role role, unsigned turn, const char *text) {
    phi_content c;
    memset(&c, 0, sizeof c);
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi_str_of(text);
    runs_say(l, role, turn, &c, phi_str_of(""));
}

static inline void runs_call(run_log *l, unsigned turn, const char *result) {
    phi_content c;
    char id[16];
    (void)snprintf(id, sizeof id, "c%u", ++l->calls);
    memset(&c, 0, sizeof c);
    c.kind = PHI_CONTENT_TOOL_CALL;
    c.id = phi_str_of(id);
    c.name = phi_str_of("t");
    c.arguments = phi_str_of("{}");
    runs_say(l, PHI_ROLE_ASSISTANT, turn, &c, phi_str_of(""));
    memset(&c, 0, sizeof c);
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi_str_of(result);
    runs_say(l, PHI_ROLE_TOOL_RESULT, turn, &c, phi_str_of(id));
}

/* "1.q0", "1.a0"... of the next loop. */
static inline void runs_run(run_log *l, unsigned turns) {
    char text[32];
    unsigned i;
    runs_begin(l);
    for (i = 0; i < turns; i++) {
        (void)snprintf(text, sizeof text, "%u.q%u", l->loops, i);
        runs_text(l, PHI_ROLE_USER, i, text);
        (void)snprintf(text, sizeof text, "%u.a%u", l->loops, i);
        runs_text(l, PHI_ROLE_ASSISTANT, i, text);
    }
    runs_mark_of(l, PHI_ENTRY_LOOP_END, NULL);
}

/* As the plan says, of the active lane. False: there was nothing to do. */
static inline bool runs_compact(run_log *l, const phi_compaction_config *config,
                                const char *op_id) {
    const phi_view_item *items = NULL;
    phi_arena arena;
    phi_rewrite plan;
    size_t count = 0;
    char words[200] = "";
    bool done = false;
    phi_arena_init(&arena, &l->memory, 0);
    if (phi_thread_view(runs_thread(l), NULL, UINT64_MAX, &arena, &items, &count) != PHI_OK ||
        phi__compact_rewrite(items, count, config, NULL, &arena, &plan) != PHI_OK)
        l->failed = true;
    else if (plan.span_count > 0) {
        plan.op_id = op_id;
        l->now++;
        if (phi_thread_rewrite(runs_thread(l), &plan, NULL, words, sizeof words) != PHI_OK) {
            printf("  %s\n", words);
            l->failed = true;
        } else
            done = true;
    }
    phi_arena_free(&arena);
    return done;
}

#endif
