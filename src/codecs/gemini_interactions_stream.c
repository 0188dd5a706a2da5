/* gemini_interactions_stream.c - answers of Google's Interactions API: events to a message.

   The answer is a list of steps: a thought becomes thinking, a function call a tool call, and each
   text of the model's output a text. Any other step is kept as it came. A step of a hosted tool
   comes in parts: its start, and deltas whose members replace those of the start. Google's
   documentation and SDKs, November 2026. */
#include "codecs/gemini_interactions_in.h"

#include "codecs/kept_in.h"
#include "text/json_members_in.h"
#include "wire/classify_in.h"

/* The members that an event may have, as views of its text; `at` NULL and length 0: absent. */
typedef struct phi__interactions_event {
    phi__json_text type, status;
    int64_t index;
    phi_str step, delta, interaction, usage; /* raw JSON of an object */
    bool has_error;
} phi__interactions_event;

/* A step, a delta of one, or an item of its content. */
typedef struct phi__interactions_step {
    phi__json_text type, id, name, signature, text, summary;
    phi_str arguments, content, summaries, annotations, error; /* raw JSON */
} phi__interactions_step;

/* The interaction as a whole. */
typedef struct phi__interactions_answer {
    phi__json_text id, model, status;
    phi_str steps, usage, errors; /* raw JSON */
    bool has_error;
} phi__interactions_answer;

/* ---- reading ---- */

static const phi__json_member phi__interactions_metadata_list[] = {
    PHI__MEMBER(phi__interactions_event, usage, "total_usage", PHI__MEMBER_OBJECT)};
static const phi__json_members phi__interactions_metadata_members = {
    phi__interactions_metadata_list, PHI__COUNT(phi__interactions_metadata_list)};

static const phi__json_member phi__interactions_event_list[] = {
    PHI__MEMBER(phi__interactions_event, index, "index", PHI__MEMBER_I64),
    PHI__MEMBER(phi__interactions_event, delta, "delta", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__interactions_event, type, "event_type", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_event, step, "step", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__interactions_event, interaction, "interaction", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__interactions_event, status, "status", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_event, usage, "usage", PHI__MEMBER_OBJECT),
    PHI__MEMBER_INSIDE("metadata", &phi__interactions_metadata_members),
    PHI__MEMBER_TAKE(phi__interactions_event, has_error, "error", phi__classify_take_flag)};
static const phi__json_members phi__interactions_event_members = {
    phi__interactions_event_list, PHI__COUNT(phi__interactions_event_list)};

/* Content is an array in a step, and an object in the delta of a summary. */
static const phi__json_member phi__interactions_summary_list[] = {
    PHI__MEMBER(phi__interactions_step, summary, "text", PHI__MEMBER_TEXT)};
static const phi__json_members phi__interactions_summary_members = {
    phi__interactions_summary_list, PHI__COUNT(phi__interactions_summary_list)};

static void phi__interactions_stream_take_content(phi__json_cursor *c, void *step) {
    phi__interactions_step *s = (phi__interactions_step *)step;
    if (phi__json_cursor_peek(c) == PHI_JSON_ARRAY)
        (void)phi__json_cursor_take_raw(c, &s->content);
    else
        (void)phi__json_members_take(c, &phi__interactions_summary_members, s);
}

static const phi__json_member phi__interactions_step_list[] = {
    PHI__MEMBER(phi__interactions_step, type, "type", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_step, text, "text", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_step, id, "id", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_step, name, "name", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_step, signature, "signature", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_step, arguments, "arguments", PHI__MEMBER_SOME),
    PHI__MEMBER_TAKE_ALL("content", phi__interactions_stream_take_content),
    PHI__MEMBER(phi__interactions_step, summaries, "summary", PHI__MEMBER_ARRAY),
    PHI__MEMBER(phi__interactions_step, annotations, "annotations", PHI__MEMBER_ARRAY),
    PHI__MEMBER(phi__interactions_step, error, "error", PHI__MEMBER_OBJECT)};
static const phi__json_members phi__interactions_step_members = {
    phi__interactions_step_list, PHI__COUNT(phi__interactions_step_list)};

static const phi__json_member phi__interactions_answer_list[] = {
    PHI__MEMBER(phi__interactions_answer, id, "id", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_answer, status, "status", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_answer, model, "model", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_answer, steps, "steps", PHI__MEMBER_ARRAY),
    PHI__MEMBER(phi__interactions_answer, usage, "usage", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__interactions_answer, errors, "errors", PHI__MEMBER_ARRAY),
    PHI__MEMBER_TAKE(phi__interactions_answer, has_error, "error", phi__classify_take_flag)};
static const phi__json_members phi__interactions_answer_members = {
    phi__interactions_answer_list, PHI__COUNT(phi__interactions_answer_list)};

static void phi__interactions_stream_read(phi__interactions_step *s, phi_str raw) {
    memset(s, 0, sizeof *s);
    (void)phi__json_members_read(raw, &phi__interactions_step_members, s, NULL);
}

/* Counts are cumulative; absent counts leave earlier ones. */
static const phi__json_member phi__interactions_usage_list[] = {
    PHI__MEMBER(phi__interactions_state, input, "total_input_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi__interactions_state, output, "total_output_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi__interactions_state, cached, "total_cached_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi__interactions_state, tools, "total_tool_use_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi__interactions_state, thoughts, "total_thought_tokens", PHI__MEMBER_U64)};
static const phi__json_members phi__interactions_usage_members = {
    phi__interactions_usage_list, PHI__COUNT(phi__interactions_usage_list)};

/* The wire's input includes the tokens read from the cache; its output excludes thoughts. */
static void phi__interactions_stream_usage(phi__interactions_state *st, phi__assembly *a,
                                           phi_str raw) {
    uint64_t input;
    if (raw.len == 0) return;
    (void)phi__json_members_read(raw, &phi__interactions_usage_members, st, NULL);
    input = st->input + st->tools;
    a->usage.input = st->cached < input ? input - st->cached : 0;
    a->usage.cache_read = st->cached;
    a->usage.output = st->output + st->thoughts;
    a->usage.reasoning = st->thoughts;
}

/* ---- blocks ---- */

/* The latest open block of a kind that a step has; SIZE_MAX: none. */
static size_t phi__interactions_stream_find(const phi__assembly *a, phi_content_kind kind,
                                            int64_t index) {
    size_t i;
    for (i = a->count; i > 0; i--) {
        const phi__draft *d = &a->drafts[i - 1];
        if (d->key == index && d->kind == kind && d->open) return i - 1;
    }
    return SIZE_MAX;
}

static size_t phi__interactions_stream_block(phi__assembly *a, phi_content_kind kind,
                                             int64_t index) {
    size_t block = phi__interactions_stream_find(a, kind, index);
    return block != SIZE_MAX ? block : phi__assembly_open(a, kind, index);
}

static void phi__interactions_stream_annotate(phi__assembly *a, size_t block, phi_str array) {
    phi__json_cursor c;
    phi_str one;
    phi__json_cursor_init(&c, array);
    if (block == SIZE_MAX || array.len <= 2 || !phi__json_cursor_enter_array(&c)) return;
    while (phi__json_cursor_next_item(&c) && phi__json_cursor_take_raw(&c, &one))
        phi__assembly_cite(a, block, one);
}

/* Keeps an item of the model's output that is no text as an opaque step. */
static void phi__interactions_stream_media(phi__assembly *a, phi__json_text type, phi_str raw,
                                           int64_t index) {
    phi__buf step, name;
    if (!phi__kept_is_object(&a->scratch, raw, &a->no_memory)) return;
    phi__assembly_close(a, phi__interactions_stream_find(a, PHI_CONTENT_TEXT, index));
    phi__buf_init(&step, a->memory);
    phi__buf_init(&name, a->memory);
    phi__buf_text(&step, "{\"type\":\"model_output\",\"content\":[");
    phi__buf_add_str(&step, raw);
    phi__buf_text(&step, "]}");
    phi__json_cursor_unescape(&name, type);
    if (step.failed || name.failed)
        a->no_memory = true;
    else
        (void)phi__assembly_opaque(a, phi__buf_str(&name), phi__buf_str(&step), index, false);
    phi__buf_free(&step);
    phi__buf_free(&name);
}

/* The items of an output: each text is a block, as annotations count from its start. */
static void phi__interactions_stream_content(phi__assembly *a, phi_str items, int64_t index,
                                             size_t *n) {
    phi__interactions_step item;
    phi__json_cursor c;
    phi_str raw;
    if (items.len == 0) return;
    phi__json_cursor_init(&c, items);
    if (!phi__json_cursor_enter_array(&c)) return;
    while (phi__json_cursor_next_item(&c) && phi__assembly_takes_more(a, n)) {
        if (!phi__json_cursor_take_raw(&c, &raw)) return;
        phi__interactions_stream_read(&item, raw);
        if (PHI__INTERACTIONS_IS(item.type, "text")) {
            size_t block;
            phi__assembly_close(a, phi__interactions_stream_find(a, PHI_CONTENT_TEXT, index));
            if (item.text.len == 0) continue;
            block = phi__assembly_open(a, PHI_CONTENT_TEXT, index);
            phi__assembly_add_text(a, block, item.text);
            phi__interactions_stream_annotate(a, block, item.annotations);
        } else if (item.type.len > 0)
            phi__interactions_stream_media(a, item.type, raw, index);
    }
}

/* A whole thought, or the start of one. */
static void phi__interactions_stream_thought(phi__assembly *a, const phi__interactions_step *s,
                                             int64_t index) {
    phi__interactions_step item;
    phi__json_cursor c;
    size_t block;
    phi_str raw;
    bool any = false;
    if (s->summaries.len <= 2 && s->signature.len == 0) return; /* its deltas will open it */
    block = phi__interactions_stream_block(a, PHI_CONTENT_THINKING, index);
    if (block == SIZE_MAX) return;
    phi__json_cursor_init(&c, s->summaries);
    if (s->summaries.len > 2 && phi__json_cursor_enter_array(&c))
        while (phi__json_cursor_next_item(&c) && phi__json_cursor_take_raw(&c, &raw)) {
            phi__interactions_stream_read(&item, raw);
            if (item.text.len == 0) continue;
            if (any) phi__assembly_add(a, block, PHI__LIT("\n\n"));
            phi__assembly_add_text(a, block, item.text);
            any = true;
        }
    if (s->signature.len > 0) phi__assembly_put(a, &a->drafts[block].signature, s->signature);
}

/* ---- calls ---- */

static void phi__interactions_stream_call(phi__assembly *a, const phi__interactions_step *s,
                                          int64_t index) {
    size_t block = phi__assembly_open(a, PHI_CONTENT_TOOL_CALL, index);
    phi__draft *d;
    if (block == SIZE_MAX) return;
    d = &a->drafts[block];
    phi__assembly_put(a, &d->id, s->id);
    phi__assembly_put(a, &d->name, s->name);
    phi__assembly_put(a, &d->signature, s->signature);
    if (s->arguments.len > 2 && s->arguments.at[0] == '{')
        phi__assembly_wait(a, block, s->arguments);
}

/* The end of a block of any kind. */
static void phi__interactions_stream_close(phi__assembly *a, size_t block) {
    phi__draft *d = &a->drafts[block];
    if (!d->open) return;
    if (d->kind == PHI_CONTENT_TOOL_CALL && d->replay_open) {
        phi__assembly_close_call(a, block, phi__buf_str(&d->replay));
        return;
    }
    if (d->kind == PHI_CONTENT_OPAQUE) phi__interactions_merge(a, block);
    phi__assembly_close(a, block);
}

/* ---- steps ---- */

/* A step: all of it, or its start. That of the user is the request's own. *n counts the items of
   all outputs of an event. */
static void phi__interactions_stream_step(phi__assembly *a, phi_str raw, int64_t index, bool whole,
                                          size_t *n) {
    phi__interactions_step s;
    size_t i, before = a->count;
    phi_str type;
    phi__interactions_stream_read(&s, raw);
    if (s.type.len == 0 || PHI__INTERACTIONS_IS(s.type, "user_input")) return;
    if (PHI__INTERACTIONS_IS(s.type, "model_output")) {
        phi__interactions_stream_content(a, s.content, index, n);
        if (s.error.len > 2) phi__classify_event(a, s.error);
    } else if (PHI__INTERACTIONS_IS(s.type, "thought"))
        phi__interactions_stream_thought(a, &s, index);
    else if (PHI__INTERACTIONS_IS(s.type, "function_call"))
        phi__interactions_stream_call(a, &s, index);
    else if (!phi__json_cursor_unescape_arena(&a->scratch, s.type, &type))
        a->no_memory = true;
    else if (phi__kept_is_object(&a->scratch, raw, &a->no_memory)) {
        size_t block = phi__assembly_opaque(a, type, raw, index, !whole);
        if (block != SIZE_MAX) a->drafts[block].replay_open = !whole;
    }
    for (i = before; whole && i < a->count; i++) phi__interactions_stream_close(a, i);
}

static void phi__interactions_stream_steps(phi__assembly *a, phi_str steps) {
    phi__json_cursor c;
    phi_str raw;
    int64_t index;
    size_t n = 0, items = 0;
    if (steps.len == 0) return;
    phi__json_cursor_init(&c, steps);
    if (!phi__json_cursor_enter_array(&c)) return;
    for (index = 0; phi__json_cursor_next_item(&c) && phi__assembly_takes_more(a, &n); index++)
        if (phi__json_cursor_take_raw(&c, &raw))
            phi__interactions_stream_step(a, raw, index, true, &items);
}

/* Returns the block of a delta that is a piece of text and nothing else, else SIZE_MAX. */
static size_t phi__interactions_stream_delta(phi__assembly *a, phi_str raw, int64_t index,
                                             phi__json_text *text) {
    size_t block = phi__interactions_stream_find(a, PHI_CONTENT_OPAQUE, index);
    phi__interactions_step s;
    phi__json_text piece;
    if (block != SIZE_MAX) {
        if (phi__kept_is_object(&a->scratch, raw, &a->no_memory)) phi__assembly_wait(a, block, raw);
        return SIZE_MAX;
    }
    phi__interactions_stream_read(&s, raw);
    *text = s.text;
    if (PHI__INTERACTIONS_IS(s.type, "text")) {
        if (s.text.len == 0) return SIZE_MAX;
        block = phi__interactions_stream_block(a, PHI_CONTENT_TEXT, index);
        phi__assembly_add_text(a, block, s.text);
        return block;
    }
    if (PHI__INTERACTIONS_IS(s.type, "thought_summary")) {
        if (s.summary.len > 0)
            phi__assembly_add_text(
                a, phi__interactions_stream_block(a, PHI_CONTENT_THINKING, index), s.summary);
    } else if (PHI__INTERACTIONS_IS(s.type, "arguments_delta")) {
        block = phi__interactions_stream_find(a, PHI_CONTENT_TOOL_CALL, index);
        if (phi__interactions_merge_piece(s.arguments, &piece))
            phi__assembly_add_text(a, block, piece);
    } else if (PHI__INTERACTIONS_IS(s.type, "thought_signature"))
        phi__interactions_stream_thought(a, &s, index);
    else if (PHI__INTERACTIONS_IS(s.type, "text_annotation_delta") ||
             PHI__INTERACTIONS_IS(s.type, "text_annotation")) {
        if (s.annotations.len > 2)
            phi__interactions_stream_annotate(
                a, phi__interactions_stream_block(a, PHI_CONTENT_TEXT, index), s.annotations);
    } else if (PHI__INTERACTIONS_IS(s.type, "image") || PHI__INTERACTIONS_IS(s.type, "audio") ||
               PHI__INTERACTIONS_IS(s.type, "video") || PHI__INTERACTIONS_IS(s.type, "document"))
        phi__interactions_stream_media(a, s.type, raw, index);
    return SIZE_MAX;
}

/* ---- the end ---- */

static bool phi__interactions_stream_answer(phi__interactions_answer *r, phi_str raw) {
    memset(r, 0, sizeof *r);
    return phi__json_members_read(raw, &phi__interactions_answer_members, r, NULL);
}

static void phi__interactions_stream_begin(phi__assembly *a, const phi__interactions_answer *r) {
    if (a->response_id.len == 0 && r->id.len > 0) phi__assembly_put(a, &a->response_id, r->id);
    if (a->model.len == 0 && r->model.len > 0) phi__assembly_put(a, &a->model, r->model);
    phi__assembly_start(a);
}

static bool phi__interactions_stream_goes_on(phi_str status) {
    return phi__str_is(status, "in_progress") || phi__str_is(status, "queued");
}

/* By the status in a->raw_stop_reason. An answer that was cut keeps its calls open: they are
   incomplete. */
static void phi__interactions_stream_finish(phi__interactions_state *st, phi__assembly *a,
                                            phi_str errors) {
    phi_str status = phi__buf_str(&a->raw_stop_reason);
    bool cut = phi__str_is(status, "incomplete") || phi__str_is(status, "budget_exceeded") ||
               phi__str_is(status, "requires_continuation");
    bool failed = phi__str_is(status, "failed") || phi__str_is(status, "cancelled");
    size_t i;
    st->finished = a->terminal = a->last = true;
    for (i = 0; i < a->count; i++)
        if (!((cut || failed) && a->drafts[i].kind == PHI_CONTENT_TOOL_CALL))
            phi__interactions_stream_close(a, i);
    if (a->failure.kind != PHI_FAILURE_NONE) return;
    if (failed && errors.len > 2)
        phi__classify_event(a, errors);
    else if (failed)
        phi__classify_stop(a, PHI_FAILURE_SERVER, phi__str_is(status, "failed"), status);
    else if (cut)
        a->stop_reason = PHI_STOP_REASON_LENGTH;
    else if (status.len == 0 || phi__str_is(status, "completed") ||
             phi__str_is(status, "requires_action"))
        a->stop_reason = PHI_STOP_REASON_STOP;
    else
        phi__assembly_unknown_stop(a);
}

/* The terminal event, and a whole answer. */
static void phi__interactions_stream_completed(phi__interactions_state *st, phi__assembly *a,
                                               const phi__interactions_answer *r) {
    phi__interactions_stream_begin(a, r);
    if (a->count == 0) phi__interactions_stream_steps(a, r->steps);
    phi__interactions_stream_usage(st, a, r->usage);
    phi__assembly_put(a, &a->raw_stop_reason, r->status);
    phi__interactions_stream_finish(st, a, r->errors);
}

/* ---- events ---- */

/* A status that ends an answer counts where the stream then ends without its last event. */
static void phi__interactions_stream_status(phi__assembly *a, phi__json_text status) {
    phi_str word;
    if (status.len == 0) return;
    if (!phi__json_cursor_unescape_arena(&a->scratch, status, &word))
        a->no_memory = true;
    else if (phi__interactions_stream_goes_on(word))
        phi__buf_clear(&a->raw_stop_reason);
    else
        phi__assembly_set(a, &a->raw_stop_reason, word);
}

/* Events of the interaction itself: its start, its end, and its status in between. */
static void phi__interactions_stream_whole_event(phi__interactions_state *st, phi__assembly *a,
                                                 const phi__interactions_event *ev,
                                                 phi__json_text type) {
    phi__interactions_answer r;
    (void)phi__interactions_stream_answer(&r, ev->interaction.len > 0 ? ev->interaction
                                                                      : PHI__LIT("{}"));
    if (PHI__INTERACTIONS_IS(type, "interaction.completed")) {
        phi__interactions_stream_completed(st, a, &r);
        return;
    }
    phi__interactions_stream_begin(a, &r);
    phi__interactions_stream_status(a, ev->status.len > 0 ? ev->status : r.status);
}

static void phi__interactions_stream_take(phi__interactions_state *st, phi__assembly *a,
                                          const phi__interactions_event *ev, phi__json_text type,
                                          phi_str data) {
    phi__json_text text = {NULL, 0, false};
    size_t block = SIZE_MAX, i, n = 0;
    int64_t index = ev->index >= 0 ? ev->index : st->index;
    if (PHI__INTERACTIONS_IS(type, "step.start")) {
        st->index = index;
        phi__interactions_stream_step(a, ev->step, index, false, &n);
    } else if (PHI__INTERACTIONS_IS(type, "step.delta"))
        block = phi__interactions_stream_delta(a, ev->delta, index, &text);
    else if (PHI__INTERACTIONS_IS(type, "step.stop")) {
        for (i = 0; i < a->count; i++)
            if (a->drafts[i].key == index) phi__interactions_stream_close(a, i);
    } else if (type.len > 12 && memcmp(type.at, "interaction.", 12) == 0)
        phi__interactions_stream_whole_event(st, a, ev, type);
    phi__interactions_stream_usage(st, a, ev->usage);
    if (block != SIZE_MAX && ev->type.len > 0 && ev->usage.len == 0)
        phi__delta_cache_learn(&st->repeat, a, data, text, block);
}

/* ---- for the codec ---- */

PHI__FN void phi__interactions_stream_event(void *state, phi__assembly *a, phi_str name,
                                            phi_str data) {
    phi__interactions_state *st = (phi__interactions_state *)state;
    phi__interactions_event ev;
    phi__json_text type;
    phi_arena_mark mark;
    if (data.len == 0 || st->finished || a->no_memory) return;
    if (st->broken) {
        phi__classify_bad_event(a);
        return;
    }
    if (phi__delta_cache_add(&st->repeat, a, data)) return;
    if (data.at[0] != '{') return; /* [DONE], or words of a gateway */
    st->heard = true;
    phi__delta_cache_forget(&st->repeat);
    memset(&ev, 0, sizeof ev);
    ev.index = -1;
    if (!phi__json_members_read(data, &phi__interactions_event_members, &ev, NULL)) {
        st->broken = true;
        return;
    }
    type = ev.type;
    if (type.len == 0) {
        type.at = name.at;
        type.len = name.len;
    }
    mark = phi_arena_save(&a->scratch);
    if (PHI__INTERACTIONS_IS(type, "error") || (type.len == 0 && ev.has_error))
        phi__classify_event(a, data);
    else
        phi__interactions_stream_take(st, a, &ev, type, data);
    phi_arena_reset(&a->scratch, mark);
}

PHI__FN void phi__interactions_stream_end(void *state, phi__assembly *a) {
    phi__interactions_state *st = (phi__interactions_state *)state;
    bool open = false;
    size_t i;
    if (st->finished || a->failure.kind != PHI_FAILURE_NONE) return;
    for (i = 0; i < a->count; i++) open = open || a->drafts[i].open;
    if (a->raw_stop_reason.len > 0 && !open)
        phi__interactions_stream_finish(st, a, PHI__LIT(""));
    else
        phi__classify_truncated(a, st->heard);
}

PHI__FN void phi__interactions_stream_whole(void *state, phi__assembly *a, phi_str body) {
    phi__interactions_state *st = (phi__interactions_state *)state;
    phi__interactions_answer r;
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    bool good = phi__interactions_stream_answer(&r, phi__str_trim(body)) && !r.has_error &&
                (r.status.len > 0 || r.steps.len > 0);
    st->heard = good;
    if (!good)
        phi__classify_body(a, body);
    else if (PHI__INTERACTIONS_IS(r.status, "in_progress") ||
             PHI__INTERACTIONS_IS(r.status, "queued"))
        phi__classify_truncated(a, true);
    else
        phi__interactions_stream_completed(st, a, &r);
    phi_arena_reset(&a->scratch, mark);
}
