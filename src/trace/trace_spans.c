/* trace_spans.c - the walk over entries that finds spans: a run from its beginning to its end, a
   model call from the turn's beginning to the answer, a tool call from the answer to its result.

   There are two walks. The first looks for the runs that were begun by a tool call, or stand inside
   of another run, so that a span of any thread knows the one above it. A span is written when its
   end is reached; runs that are under way are a list. */
#include "trace/trace_in.h"

enum { PHI__TRACE_SPANS_DEEP = 64 /* runs inside of runs; those below are in no span */ };

static const phi__entry *phi__trace_spans_at(const phi_trace *t, uint64_t seq) {
    return phi__thread_at(t->thread, seq);
}

static phi_str phi__trace_spans_loop(const phi_trace *t, const phi__trace_run *run) {
    return phi__trace_spans_at(t, run->start)->loop_id;
}

/* ---- runs ---- */

static phi__trace_run *phi__trace_spans_run(const phi_trace *t, phi_str loop_id) {
    phi__trace_run *run = t->spans.run;
    while (run != NULL && !phi_str_equal(phi__trace_spans_loop(t, run), loop_id)) run = run->outer;
    return run;
}

static void phi__trace_spans_pop(phi_trace *t) {
    phi__trace_run *run = t->spans.run;
    t->spans.run = run->outer;
    phi__free(t->memory, run->calls, run->call_cap * sizeof *run->calls);
    phi__free(t->memory, run, sizeof *run);
}

static void phi__trace_spans_calls_over(phi_trace *t, phi__trace_run *run) {
    size_t i;
    for (i = 0; i < run->call_count && !t->spans.linking; i++)
        if (!run->calls[i].done) phi__trace_span_of_call(t, run, &run->calls[i], NULL);
    run->call_count = 0;
}

/* Ends the innermost run; end NULL: it never ended. */
static void phi__trace_spans_over(phi_trace *t, const phi__entry *end) {
    phi__trace_run *run = t->spans.run;
    phi__trace_spans_calls_over(t, run);
    if (!t->spans.linking) {
        if (run->in_turn && run->chats == 0) phi__trace_span_of_chat(t, run, end);
        phi__trace_span_of_run(t, run, end);
    }
    phi__trace_spans_pop(t);
}

static void phi__trace_spans_begin(phi_trace *t, const phi__entry *e) {
    phi__trace_run *run, *r;
    phi__trace_name name;
    size_t deep = 0;
    /* a run that is no copy begins when none is under way: such runs died with their process */
    while ((e->flags & PHI_ENTRY_GRAFTED) == 0 && t->spans.run != NULL)
        phi__trace_spans_over(t, NULL);
    for (r = t->spans.run; r != NULL; r = r->outer) deep++;
    if (deep >= PHI__TRACE_SPANS_DEEP) return;
    run = (phi__trace_run *)phi__alloc(t->memory, sizeof *run);
    if (run == NULL) {
        t->text.failed = true;
        return;
    }
    memset(run, 0, sizeof *run);
    run->outer = t->spans.run;
    run->start = e->seq;
    run->input = e->seq + 1;
    run->start_ms = e->at_ms;
    run->prompt = phi__trace_prompt_at(t, e);
    t->spans.run = run;
    name = phi__trace_span_run(t, run);
    run->twin = phi__trace_link_twin(t, name.session, name.loop);
    if (!t->spans.linking || run->outer == NULL) return;
    name = phi__trace_span_run(t, run->outer);
    phi__trace_link_join(t, e->loop_id, &name, phi__str("", 0), phi__str("", 0));
}

/* ---- entries of a run ---- */

static void phi__trace_spans_turn(phi__trace_run *run, const phi__entry *e) {
    run->in_turn = true;
    run->chats = 0;
    run->turn = e->seq;
    run->turn_index = e->turn_index;
    run->turn_ms = e->at_ms;
}

static bool phi__trace_spans_call_room(phi_trace *t, phi__trace_run *run, size_t more) {
    void *grown;
    if (run->call_cap - run->call_count >= more) return true;
    grown = phi__grow(t->memory, run->calls, &run->call_cap, phi__add(run->call_count, more),
                      sizeof *run->calls);
    if (grown == NULL) return false;
    run->calls = (phi__trace_call *)grown;
    return true;
}

static void phi__trace_spans_answer(phi_trace *t, phi__trace_run *run, const phi__entry *e) {
    const phi_message *m = e->message;
    size_t i;
    phi__trace_spans_calls_over(t, run);
    if (!t->spans.linking) phi__trace_span_of_chat(t, run, e);
    run->chats++;
    run->input = e->seq + 1;
    if (!phi__trace_spans_call_room(t, run, m->content_count)) {
        t->text.failed = true;
        return;
    }
    for (i = 0; i < m->content_count && i < UINT32_MAX; i++) {
        phi__trace_call *call = &run->calls[run->call_count];
        if (m->content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
        memset(call, 0, sizeof *call);
        call->answer = e->seq;
        call->block = (uint32_t)i;
        run->call_count++;
    }
}

static const phi_content *phi__trace_spans_block(const phi_trace *t, const phi__trace_call *call) {
    return &phi__trace_spans_at(t, call->answer)->message->content[call->block];
}

static phi__trace_call *phi__trace_spans_call(phi_trace *t, phi__trace_run *run, phi_str id) {
    size_t i;
    for (i = 0; i < run->call_count; i++)
        if (!run->calls[i].done && phi_str_equal(phi__trace_spans_block(t, &run->calls[i])->id, id))
            return &run->calls[i];
    return NULL;
}

static void phi__trace_spans_result(phi_trace *t, phi__trace_run *run, const phi__entry *e) {
    phi__trace_call *call = phi__trace_spans_call(t, run, e->message->tool_call_id);
    if (call == NULL) return;
    call->done = true;
    if (!t->spans.linking) phi__trace_span_of_call(t, run, call, e);
}

static void phi__trace_spans_message(phi_trace *t, phi__trace_run *run, const phi__entry *e) {
    if (e->message->role == PHI_ROLE_ASSISTANT)
        phi__trace_spans_answer(t, run, e);
    else if (e->message->role == PHI_ROLE_TOOL_RESULT)
        phi__trace_spans_result(t, run, e);
}

static void phi__trace_spans_spawn(phi_trace *t, phi__trace_run *run, const phi__entry *e) {
    phi_str tool = {"", 0}, call = {"", 0}, id = e->of.spawn->tool_call_id;
    phi__trace_name above = phi__trace_span_run(t, run);
    char name[PHI__TRACE_SPAN_CALL];
    size_t i;
    if (!t->spans.linking) return;
    for (i = 0; i < run->call_count; i++) {
        const phi_content *c = phi__trace_spans_block(t, &run->calls[i]);
        if (run->calls[i].spawned || !phi_str_equal(c->id, id)) continue;
        run->calls[i].spawned = true;
        tool = c->name;
        call = phi__trace_span_call(run, &run->calls[i], name);
        break;
    }
    phi__trace_link_join(t, e->of.spawn->loop_id, &above, call, tool);
}

static void phi__trace_spans_end(phi_trace *t, const phi__trace_run *run, const phi__entry *e) {
    while (t->spans.run != run) phi__trace_spans_over(t, NULL);
    phi__trace_spans_over(t, e);
}

static void phi__trace_spans_of_run(phi_trace *t, phi__trace_run *run, const phi__entry *e) {
    switch ((int)e->kind) {
    case PHI_ENTRY_LOOP_END: phi__trace_spans_end(t, run, e); return;
    case PHI_ENTRY_TURN_START: phi__trace_spans_turn(run, e); return;
    case PHI_ENTRY_TURN_END:
        if (run->in_turn && run->chats == 0 && !t->spans.linking)
            phi__trace_span_of_chat(t, run, e);
        run->in_turn = false;
        return;
    case PHI_ENTRY_MESSAGE: phi__trace_spans_message(t, run, e); return;
    case PHI_ENTRY_SPAWN: phi__trace_spans_spawn(t, run, e); return;
    case PHI_ENTRY_REWRITE:
        if (!t->spans.linking) phi__trace_span_of_rewrite(t, run, e);
        return;
    default: return;
    }
}

PHI__FN void phi__trace_spans_entry(phi_trace *t, const phi__entry *e) {
    phi__trace_run *run;
    if (e->at_ms > t->spans.last_ms) t->spans.last_ms = e->at_ms;
    if (e->kind == PHI_ENTRY_LOOP_START) {
        phi__trace_spans_begin(t, e);
        return;
    }
    run = e->loop_id.len > 0 ? phi__trace_spans_run(t, e->loop_id) : NULL;
    if (run != NULL) phi__trace_spans_of_run(t, run, e);
}

PHI__FN void phi__trace_spans_thread_end(phi_trace *t) {
    while (t->spans.run != NULL) phi__trace_spans_over(t, NULL);
    t->spans.last_ms = 0;
}

PHI__FN void phi__trace_spans_free(phi_trace *t) {
    while (t->spans.run != NULL) phi__trace_spans_pop(t);
    phi__map_free(&t->spans.links);
    phi__map_free(&t->spans.twins);
}
