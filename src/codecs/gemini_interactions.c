/* gemini_interactions.c - Google's Interactions API, also at Vertex AI.

   The server stores nothing: a request holds the whole history as a list of steps. A message is
   rendered to its steps once and kept. The model's own steps go back in their places. The server
   refuses a call that no signed thought precedes. It also refuses incomplete steps of hosted tools.
   Sources: Google's documentation and SDKs, November 2026. */
#include "codecs/gemini_in.h"
#include "codecs/openai_in.h"
#include "codecs/names_in.h"

/* The state of a stream's decoder. It starts as zeroed memory. */
typedef struct phi__interactions_state {
    bool finished; /* the answer has ended: ignore later events */
    int64_t index; /* index of the step that began last, for events without an index */
    uint64_t input, tools, cached, output, thoughts; /* tokens, as last reported */
    phi__decoding in;
} phi__interactions_state;

/* ---- steps of hosted tools ----

   A stream sends such a step in parts: a start, and deltas whose members replace those of the
   start. They are merged into one object, as in a whole answer. */

enum { PHI__INTERACTIONS_MEMBERS_MOST = 64 }; /* max. members of a step that comes in parts */

/* Reads arguments that are a piece of JSON in a string. False if they are no string. */
static bool phi__interactions_merge_piece(phi_str arguments, phi__json_text *piece) {
    if (arguments.len < 2 || arguments.at[0] != '"') return false;
    piece->at = arguments.at + 1;
    piece->len = arguments.len - 2;
    piece->escaped = memchr(piece->at, '\\', piece->len) != NULL;
    return true;
}

typedef struct phi__interactions_member {
    phi_str key, value; /* the key in its JSON form, without quotes */
} phi__interactions_member;

typedef struct phi__interactions_merging {
    phi__interactions_member list[PHI__INTERACTIONS_MEMBERS_MOST];
    size_t count;
    phi__buf arguments; /* the joined pieces of arguments */
    bool overfull;
} phi__interactions_merging;

static void phi__interactions_merge_set(phi__interactions_merging *m, phi_str key, phi_str value) {
    size_t i = 0;
    while (i < m->count && !phi_str_equal(m->list[i].key, key)) i++;
    if (i == PHI__INTERACTIONS_MEMBERS_MOST) {
        m->overfull = true;
        return;
    }
    m->list[i].key = key;
    m->list[i].value = value;
    if (i == m->count) m->count++;
}

/* Merges the members of a step's start or of a delta, except a delta's type. */
static void phi__interactions_merge_part(phi__interactions_merging *m, phi_str part, bool start) {
    phi__json_cursor c;
    phi__json_text key, piece;
    phi_str value;
    if (!phi__json_cursor_in_object(&c, part)) return;
    while (phi__json_cursor_next_key(&c, &key)) {
        if (!phi__json_cursor_take_raw(&c, &value)) return;
        if (!start && PHI__TEXT_IS(key, "type")) continue;
        if (!start && PHI__TEXT_IS(key, "arguments") &&
            phi__interactions_merge_piece(value, &piece))
            phi__json_cursor_unescape(&m->arguments, piece);
        else
            phi__interactions_merge_set(m, phi__str(key.at, key.len), value);
    }
}

static bool phi__interactions_merge_has(const phi__interactions_merging *m, const char *key) {
    for (size_t i = 0; i < m->count; i++)
        if (phi__str_is(m->list[i].key, key)) return true;
    return false;
}

/* Writes the merged object without an empty signature, and adds the type of a search, because
   streams leave it out. Without these changes the API would refuse the object. */
static void phi__interactions_merge_join(phi__buf *out, const phi__interactions_merging *m,
                                         bool search) {
    phi__buf_char(out, '{');
    for (size_t i = 0; i < m->count; i++) {
        if (phi__str_is(m->list[i].key, "signature") && phi__str_is(m->list[i].value, "\"\""))
            continue;
        phi__json_write_comma(out);
        phi__buf_wrap(out, "\"", m->list[i].key, "\":");
        phi__buf_add_str(out, m->list[i].value);
    }
    if (search && !phi__interactions_merge_has(m, "search_type"))
        phi__json_write_item(out, "\"search_type\":\"web_search\"");
    phi__buf_char(out, '}');
}

/* Merges a block's start and its deltas, which are in `replay`. A lone start stays unchanged. */
static void phi__interactions_merge(phi__assembly *a, size_t block) {
    phi__draft *d = &a->drafts[block];
    bool search = phi__str_is(phi__buf_str(&d->name), "google_search_call");
    phi__interactions_merging m;
    phi__json_cursor c;
    phi_json *root = NULL;
    phi_str part, first = {NULL, 0};
    size_t parts = 0;
    phi__buf out;
    m.count = 0;
    m.overfull = false;
    phi__buf_init(&m.arguments, a->memory);
    phi__buf_init(&out, a->memory);
    phi__json_cursor_init(&c, phi__buf_str(&d->replay));
    while (phi__json_cursor_peek(&c) == PHI_JSON_OBJECT && phi__json_cursor_take_raw(&c, &part)) {
        if (parts++ == 0) first = part;
        phi__interactions_merge_part(&m, part, parts == 1);
    }
    if (m.arguments.len > 0) {
        phi_status status =
            phi_json_parse(&a->scratch, phi__buf_str(&m.arguments), PHI_JSON_BORROW, &root, NULL);
        if (status == PHI_NO_MEMORY) a->no_memory = true;
        if (status == PHI_OK)
            phi__interactions_merge_set(&m, PHI__LIT("arguments"), phi__buf_str(&m.arguments));
    }
    if (m.overfull)
        phi__buf_add_str(&out, first);
    else if (parts > 1 || (search && !phi__interactions_merge_has(&m, "search_type")))
        phi__interactions_merge_join(&out, &m, search);
    if (m.arguments.failed || out.failed)
        a->no_memory = true;
    else if (out.len > 0)
        phi__assembly_set(a, &d->replay, phi__buf_str(&out));
    d->replay_open = false;
    phi__buf_free(&m.arguments);
    phi__buf_free(&out);
}

/* ---- answers: events to a message ----

   Each step of the answer becomes blocks: a thought becomes thinking, a function call a tool call,
   each text of the model's output a text. Any other step becomes an opaque block. */

/* The members of an event, as views of its text. An absent member has `at` NULL or length 0. */
typedef struct phi__interactions_event {
    phi__json_text type, status;
    int64_t index;
    phi_str step, delta, interaction, usage; /* raw JSON of an object */
    bool has_error;
} phi__interactions_event;

/* A step, a delta of a step, or an item of its content. */
typedef struct phi__interactions_step {
    phi__json_text type, id, name, signature, text, summary;
    phi_str arguments, content, summaries, annotations, error; /* raw JSON */
} phi__interactions_step;

/* The members of a whole interaction. */
typedef struct phi__interactions_answer {
    phi__json_text id, model, status;
    phi_str steps, usage, errors; /* raw JSON */
    bool has_error;
} phi__interactions_answer;

static const phi__json_member phi__interactions_metadata_members[] = {
    PHI__MEMBER(phi__interactions_event, usage, "total_usage", PHI__MEMBER_OBJECT),
    PHI__MEMBERS_END};

static const phi__json_member phi__interactions_event_members[] = {
    PHI__MEMBER(phi__interactions_event, index, "index", PHI__MEMBER_I64),
    PHI__MEMBER(phi__interactions_event, delta, "delta", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__interactions_event, type, "event_type", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_event, step, "step", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__interactions_event, interaction, "interaction", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__interactions_event, status, "status", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_event, usage, "usage", PHI__MEMBER_OBJECT),
    PHI__MEMBER_INSIDE("metadata", phi__interactions_metadata_members),
    PHI__MEMBER_TAKE(phi__interactions_event, has_error, "error", phi__classify_take_flag),
    PHI__MEMBERS_END};

/* Reads content: an array in a step, an object in the delta of a summary. */
static const phi__json_member phi__interactions_summary_members[] = {
    PHI__MEMBER(phi__interactions_step, summary, "text", PHI__MEMBER_TEXT), PHI__MEMBERS_END};

static void phi__interactions_take_content(phi__json_cursor *c, void *step) {
    phi__interactions_step *s = (phi__interactions_step *)step;
    if (phi__json_cursor_peek(c) == PHI_JSON_ARRAY)
        (void)phi__json_cursor_take_raw(c, &s->content);
    else
        (void)phi__json_members_take(c, phi__interactions_summary_members, s);
}

static const phi__json_member phi__interactions_step_members[] = {
    PHI__MEMBER(phi__interactions_step, type, "type", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_step, text, "text", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_step, id, "id", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_step, name, "name", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_step, signature, "signature", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_step, arguments, "arguments", PHI__MEMBER_SOME),
    PHI__MEMBER_TAKE_ALL("content", phi__interactions_take_content),
    PHI__MEMBER(phi__interactions_step, summaries, "summary", PHI__MEMBER_ARRAY),
    PHI__MEMBER(phi__interactions_step, annotations, "annotations", PHI__MEMBER_ARRAY),
    PHI__MEMBER(phi__interactions_step, error, "error", PHI__MEMBER_OBJECT),
    PHI__MEMBERS_END};

static const phi__json_member phi__interactions_answer_members[] = {
    PHI__MEMBER(phi__interactions_answer, id, "id", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_answer, status, "status", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_answer, model, "model", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__interactions_answer, steps, "steps", PHI__MEMBER_ARRAY),
    PHI__MEMBER(phi__interactions_answer, usage, "usage", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__interactions_answer, errors, "errors", PHI__MEMBER_ARRAY),
    PHI__MEMBER_TAKE(phi__interactions_answer, has_error, "error", phi__classify_take_flag),
    PHI__MEMBERS_END};

static void phi__interactions_read(phi__interactions_step *s, phi_str raw) {
    memset(s, 0, sizeof *s);
    (void)phi__json_members_read(raw, phi__interactions_step_members, s, NULL);
}

/* Counts are cumulative. An absent count does not change the earlier value. */
static const phi__json_member phi__interactions_usage_members[] = {
    PHI__MEMBER(phi__interactions_state, input, "total_input_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi__interactions_state, output, "total_output_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi__interactions_state, cached, "total_cached_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi__interactions_state, tools, "total_tool_use_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi__interactions_state, thoughts, "total_thought_tokens", PHI__MEMBER_U64),
    PHI__MEMBERS_END};

/* The wire's input includes tokens read from the cache. Its output excludes thoughts. */
static void phi__interactions_usage(phi__interactions_state *st, phi__assembly *a, phi_str raw) {
    if (raw.len == 0) return;
    (void)phi__json_members_read(raw, phi__interactions_usage_members, st, NULL);
    uint64_t input = st->input + st->tools;
    a->usage.input = st->cached < input ? input - st->cached : 0;
    a->usage.cache_read = st->cached;
    a->usage.output = st->output + st->thoughts;
    a->usage.reasoning = st->thoughts;
}

/* Returns the latest open block of a kind at the step's index; SIZE_MAX if there is none. */
static size_t phi__interactions_find(const phi__assembly *a, phi_content_kind kind, int64_t index) {
    for (size_t i = a->count; i > 0; i--) {
        const phi__draft *d = &a->drafts[i - 1];
        if (d->key == index && d->kind == kind && d->open) return i - 1;
    }
    return SIZE_MAX;
}

static size_t phi__interactions_open(phi__assembly *a, phi_content_kind kind, int64_t index) {
    size_t block = phi__interactions_find(a, kind, index);
    return block != SIZE_MAX ? block : phi__assembly_open(a, kind, index);
}

static void phi__interactions_annotate(phi__assembly *a, size_t block, phi_str array) {
    phi__json_cursor c;
    phi_str one;
    phi__json_cursor_init(&c, array);
    if (block == SIZE_MAX || array.len <= 2 || !phi__json_cursor_enter_array(&c)) return;
    while (phi__json_cursor_next_raw(&c, &one)) phi__assembly_cite(a, block, one);
}

/* Keeps an item of the model's output that is no text as an opaque step. */
static void phi__interactions_media_step(phi__assembly *a, phi__json_text type, phi_str raw,
                                         int64_t index) {
    phi__buf step, name;
    if (!phi__kept_is_object(a, raw)) return;
    phi__assembly_close(a, phi__interactions_find(a, PHI_CONTENT_TEXT, index));
    phi__buf_init(&step, a->memory);
    phi__buf_init(&name, a->memory);
    phi__buf_wrap(&step, "{\"type\":\"model_output\",\"content\":[", raw, "]}");
    phi__json_cursor_unescape(&name, type);
    if (step.failed || name.failed)
        a->no_memory = true;
    else
        (void)phi__assembly_opaque(a, phi__buf_str(&name), phi__buf_str(&step), index, false);
    phi__buf_free(&step);
    phi__buf_free(&name);
}

/* Reads an output's items. Each text becomes a block, because annotations count from its start. */
static void phi__interactions_content(phi__assembly *a, phi_str items, int64_t index, size_t *n) {
    phi__interactions_step item;
    phi__json_cursor c;
    phi_str raw;
    if (!phi__json_cursor_in_array(&c, items)) return;
    while (phi__json_cursor_next_item(&c) && phi__assembly_takes_more(a, n)) {
        if (!phi__json_cursor_take_raw(&c, &raw)) return;
        phi__interactions_read(&item, raw);
        if (PHI__TEXT_IS(item.type, "text")) {
            phi__assembly_close(a, phi__interactions_find(a, PHI_CONTENT_TEXT, index));
            if (item.text.len == 0) continue;
            size_t block = phi__assembly_open(a, PHI_CONTENT_TEXT, index);
            phi__assembly_add_text(a, block, item.text);
            phi__interactions_annotate(a, block, item.annotations);
        } else if (item.type.len > 0)
            phi__interactions_media_step(a, item.type, raw, index);
    }
}

/* Reads a whole thought, or the start of one. */
static void phi__interactions_thought(phi__assembly *a, const phi__interactions_step *s,
                                      int64_t index) {
    phi__interactions_step item;
    phi__json_cursor c;
    phi_str raw;
    bool any = false;
    if (s->summaries.len <= 2 && s->signature.len == 0) return; /* its deltas will open the block */
    size_t block = phi__interactions_open(a, PHI_CONTENT_THINKING, index);
    if (block == SIZE_MAX) return;
    phi__json_cursor_init(&c, s->summaries);
    if (s->summaries.len > 2 && phi__json_cursor_enter_array(&c))
        while (phi__json_cursor_next_raw(&c, &raw)) {
            phi__interactions_read(&item, raw);
            if (item.text.len == 0) continue;
            if (any) phi__assembly_add(a, block, PHI__LIT("\n\n"));
            phi__assembly_add_text(a, block, item.text);
            any = true;
        }
    if (s->signature.len > 0) phi__assembly_put(a, &a->drafts[block].signature, s->signature);
}

/* ---- calls ---- */

static void phi__interactions_call(phi__assembly *a, const phi__interactions_step *s,
                                   int64_t index) {
    size_t block = phi__assembly_open(a, PHI_CONTENT_TOOL_CALL, index);
    if (block == SIZE_MAX) return;
    phi__draft *d = &a->drafts[block];
    phi__assembly_put(a, &d->id, s->id);
    phi__assembly_put(a, &d->name, s->name);
    phi__assembly_put(a, &d->signature, s->signature);
    if (s->arguments.len > 2 && s->arguments.at[0] == '{')
        phi__assembly_wait(a, block, s->arguments);
}

/* Closes a block of any kind. */
static void phi__interactions_close(phi__assembly *a, size_t block) {
    phi__draft *d = &a->drafts[block];
    if (!d->open) return;
    if (d->kind == PHI_CONTENT_TOOL_CALL && d->replay_open) {
        phi__assembly_close_call(a, block, phi__buf_str(&d->replay));
        return;
    }
    if (d->kind == PHI_CONTENT_OPAQUE) phi__interactions_merge(a, block);
    phi__assembly_close(a, block);
}

/* Reads a whole step, or its start. A user's step repeats the request and is skipped. *n counts the
   items of all outputs of an event. */
static void phi__interactions_take_step(phi__assembly *a, phi_str raw, int64_t index, bool whole,
                                        size_t *n) {
    phi__interactions_step s;
    size_t before = a->count;
    phi_str type;
    phi__interactions_read(&s, raw);
    if (s.type.len == 0 || PHI__TEXT_IS(s.type, "user_input")) return;
    if (PHI__TEXT_IS(s.type, "model_output")) {
        phi__interactions_content(a, s.content, index, n);
        if (s.error.len > 2) phi__classify_event(a, s.error);
    } else if (PHI__TEXT_IS(s.type, "thought"))
        phi__interactions_thought(a, &s, index);
    else if (PHI__TEXT_IS(s.type, "function_call"))
        phi__interactions_call(a, &s, index);
    else if (!phi__json_cursor_unescape_arena(&a->scratch, s.type, &type))
        a->no_memory = true;
    else if (phi__kept_is_object(a, raw)) {
        size_t block = phi__assembly_opaque(a, type, raw, index, !whole);
        if (block != SIZE_MAX) a->drafts[block].replay_open = !whole;
    }
    for (size_t i = before; whole && i < a->count; i++) phi__interactions_close(a, i);
}

/* Reads a delta. Returns its block if the delta is only a piece of text, else SIZE_MAX. */
static size_t phi__interactions_delta(phi__assembly *a, phi_str raw, int64_t index,
                                      phi__json_text *text) {
    size_t block = phi__interactions_find(a, PHI_CONTENT_OPAQUE, index);
    phi__interactions_step s;
    phi__json_text piece;
    if (block != SIZE_MAX) {
        if (phi__kept_is_object(a, raw)) phi__assembly_wait(a, block, raw);
        return SIZE_MAX;
    }
    phi__interactions_read(&s, raw);
    *text = s.text;
    if (PHI__TEXT_IS(s.type, "text")) {
        if (s.text.len == 0) return SIZE_MAX;
        block = phi__interactions_open(a, PHI_CONTENT_TEXT, index);
        phi__assembly_add_text(a, block, s.text);
        return block;
    }
    if (PHI__TEXT_IS(s.type, "thought_summary")) {
        if (s.summary.len > 0)
            phi__assembly_add_text(a, phi__interactions_open(a, PHI_CONTENT_THINKING, index),
                                   s.summary);
    } else if (PHI__TEXT_IS(s.type, "arguments_delta")) {
        block = phi__interactions_find(a, PHI_CONTENT_TOOL_CALL, index);
        if (phi__interactions_merge_piece(s.arguments, &piece))
            phi__assembly_add_text(a, block, piece);
    } else if (PHI__TEXT_IS(s.type, "thought_signature"))
        phi__interactions_thought(a, &s, index);
    else if (PHI__TEXT_IS(s.type, "text_annotation_delta") ||
             PHI__TEXT_IS(s.type, "text_annotation")) {
        if (s.annotations.len > 2)
            phi__interactions_annotate(a, phi__interactions_open(a, PHI_CONTENT_TEXT, index),
                                       s.annotations);
    } else if (PHI__TEXT_IS(s.type, "image") || PHI__TEXT_IS(s.type, "audio") ||
               PHI__TEXT_IS(s.type, "video") || PHI__TEXT_IS(s.type, "document"))
        phi__interactions_media_step(a, s.type, raw, index);
    return SIZE_MAX;
}

static bool phi__interactions_read_answer(phi__interactions_answer *r, phi_str raw) {
    memset(r, 0, sizeof *r);
    return phi__json_members_read(raw, phi__interactions_answer_members, r, NULL);
}

static bool phi__interactions_goes_on(phi__json_text status) {
    return PHI__TEXT_IS(status, "in_progress") || PHI__TEXT_IS(status, "queued");
}

static const phi__stop_word phi__interactions_stop_words[] = {
    {"completed\0requires_action\0", PHI_STOP_REASON_STOP, PHI_FAILURE_NONE, false},
    {"incomplete\0budget_exceeded\0requires_continuation\0", PHI_STOP_REASON_LENGTH,
     PHI_FAILURE_NONE, false},
    {"failed\0", PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, true},
    {"cancelled\0", PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, false}};

/* Ends the answer by the status in a->raw_stop_reason. If it was cut, its calls stay open. */
static void phi__interactions_finish(phi__interactions_state *st, phi__assembly *a,
                                     phi_str errors) {
    const phi__json_text none = {NULL, 0, false};
    phi_str status = phi__buf_str(&a->raw_stop_reason);
    bool cut = phi__str_is(status, "incomplete") || phi__str_is(status, "budget_exceeded") ||
               phi__str_is(status, "requires_continuation");
    bool failed = phi__str_is(status, "failed") || phi__str_is(status, "cancelled");
    st->finished = a->terminal = a->last = true;
    for (size_t i = 0; i < a->count; i++)
        if (!((cut || failed) && a->drafts[i].kind == PHI_CONTENT_TOOL_CALL))
            phi__interactions_close(a, i);
    if (failed && errors.len > 2)
        phi__classify_event(a, errors);
    else if (status.len > 0)
        phi__classify_stop(a, phi__interactions_stop_words,
                           PHI__COUNT(phi__interactions_stop_words), none);
    else if (a->failure.kind == PHI_FAILURE_NONE)
        a->stop_reason = PHI_STOP_REASON_STOP;
}

/* Handles the terminal event or a whole answer. */
static void phi__interactions_completed(phi__interactions_state *st, phi__assembly *a,
                                        const phi__interactions_answer *r) {
    phi__assembly_begin(a, r->id, r->model);
    if (a->count == 0) {
        phi__json_cursor c;
        phi_str raw;
        size_t n = 0, items = 0;
        if (phi__json_cursor_in_array(&c, r->steps)) {
            for (int64_t index = 0;
                 phi__json_cursor_next_item(&c) && phi__assembly_takes_more(a, &n); index++)
                if (phi__json_cursor_take_raw(&c, &raw))
                    phi__interactions_take_step(a, raw, index, true, &items);
        }
    }
    phi__interactions_usage(st, a, r->usage);
    phi__assembly_put(a, &a->raw_stop_reason, r->status);
    phi__interactions_finish(st, a, r->errors);
}

/* Handles an event of the interaction itself: its start, its end, or a change of its status. */
static void phi__interactions_whole_event(phi__interactions_state *st, phi__assembly *a,
                                          const phi__interactions_event *ev, phi__json_text type) {
    phi__interactions_answer r;
    (void)phi__interactions_read_answer(&r,
                                        ev->interaction.len > 0 ? ev->interaction : PHI__LIT("{}"));
    if (PHI__TEXT_IS(type, "interaction.completed")) {
        phi__interactions_completed(st, a, &r);
        return;
    }
    phi__assembly_begin(a, r.id, r.model);
    /* Keep a final status, in case the stream ends without its last event. */
    phi__json_text status = ev->status.len > 0 ? ev->status : r.status;
    if (status.len == 0) return;
    if (phi__interactions_goes_on(status))
        phi__buf_clear(&a->raw_stop_reason);
    else
        phi__assembly_put(a, &a->raw_stop_reason, status);
}

static void phi__interactions_take(phi__interactions_state *st, phi__assembly *a,
                                   const phi__interactions_event *ev, phi__json_text type,
                                   phi_str data) {
    phi__json_text text = {NULL, 0, false};
    size_t block = SIZE_MAX, n = 0;
    int64_t index = ev->index >= 0 ? ev->index : st->index;
    if (PHI__TEXT_IS(type, "step.start")) {
        st->index = index;
        phi__interactions_take_step(a, ev->step, index, false, &n);
    } else if (PHI__TEXT_IS(type, "step.delta"))
        block = phi__interactions_delta(a, ev->delta, index, &text);
    else if (PHI__TEXT_IS(type, "step.stop")) {
        for (size_t i = 0; i < a->count; i++)
            if (a->drafts[i].key == index) phi__interactions_close(a, i);
    } else if (type.len > 12 && memcmp(type.at, "interaction.", 12) == 0)
        phi__interactions_whole_event(st, a, ev, type);
    phi__interactions_usage(st, a, ev->usage);
    if (block != SIZE_MAX && ev->type.len > 0 && ev->usage.len == 0)
        phi__delta_cache_learn(&st->in.repeat, a, data, text, block);
}

/* ---- for the codec ---- */

static void phi__interactions_stream_event(void *state, phi__assembly *a, phi_str name,
                                           phi_str data) {
    phi__interactions_state *st = (phi__interactions_state *)state;
    if (st->finished) return;
    if (!phi__decoding_takes(&st->in, a, phi__str("", 0), data, false)) return;
    phi__interactions_event ev = PHI_ZERO;
    ev.index = -1;
    if (!phi__json_members_read(data, phi__interactions_event_members, &ev, NULL)) {
        st->in.broken = true;
        return;
    }
    phi__json_text type = ev.type;
    if (type.len == 0) {
        type.at = name.at;
        type.len = name.len;
    }
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    if (PHI__TEXT_IS(type, "error") || (type.len == 0 && ev.has_error))
        phi__classify_event(a, data);
    else
        phi__interactions_take(st, a, &ev, type, data);
    phi_arena_reset(&a->scratch, mark);
}

static void phi__interactions_end(void *state, phi__assembly *a) {
    phi__interactions_state *st = (phi__interactions_state *)state;
    bool open = false;
    if (st->finished || a->failure.kind != PHI_FAILURE_NONE) return;
    for (size_t i = 0; i < a->count; i++) open = open || a->drafts[i].open;
    if (a->raw_stop_reason.len > 0 && !open)
        phi__interactions_finish(st, a, PHI__LIT(""));
    else
        phi__classify_truncated(a, st->in.heard);
}

static void phi__interactions_whole(void *state, phi__assembly *a, phi_str body) {
    phi__interactions_state *st = (phi__interactions_state *)state;
    phi__interactions_answer r;
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    bool good = phi__interactions_read_answer(&r, phi__str_trim(body)) && !r.has_error &&
                (r.status.len > 0 || r.steps.len > 0);
    st->in.heard = good;
    if (!good)
        phi__classify_body(a, body);
    else if (phi__interactions_goes_on(r.status))
        phi__classify_truncated(a, true);
    else
        phi__interactions_completed(st, a, &r);
    phi_arena_reset(&a->scratch, mark);
}

/* ---- requests ---- */

/* The settings that a message's rendering depends on, as bits of phi__rendered.form. */
#define PHI__INTERACTIONS_FORM 0xb0000000u
#define PHI__INTERACTIONS_ORIGIN 1u    /* the same model made the message: send signatures */
#define PHI__INTERACTIONS_NO_IMAGES 2u /* images are replaced by text */
#define PHI__INTERACTIONS_MEDIA 4u     /* the media that follow a result */
#define PHI__INTERACTIONS_THREE                                                                    \
    8u /* model 3 or later: signatures are checked, results may hold media */
#define PHI__INTERACTIONS_MEDIA_SHIFT 16 /* the PHI__MEDIA_ bits are shifted by this */

/* The revision of the protocol that introduced steps, sent as the SDKs do. */
#define PHI__INTERACTIONS_REVISION "2026-05-20"
/* A thought with the documented signature. It precedes calls that no Google model made. */
#define PHI__INTERACTIONS_UNSIGNED                                                                 \
    "{\"type\":\"thought\",\"signature\":\"skip_thought_signature_validator\"}"

/* ---- the user and tools ---- */

/* Writes an image, audio or document item. */
static void phi__interactions_block(phi__encoder *e, const phi_content *c) {
    phi_str type = c->mime_type.len > 0 ? c->mime_type : PHI__LIT("application/pdf");
    phi__buf *out = &e->scratch;
    phi__json_write_item(out, c->kind == PHI_CONTENT_IMAGE      ? "{\"type\":\"image\""
                              : c->kind == PHI_CONTENT_DOCUMENT ? "{\"type\":\"document\""
                                                                : "{\"type\":\"audio\"");
    phi__records_str(out, "mime_type", type);
    if (c->url.len > 0) {
        phi__records_str(out, "uri", c->url);
        phi__buf_char(out, '}');
        return;
    }
    phi__render_base64(e, ",\"data\":\"", c->data, "\"}");
}

/* Writes an opaque block byte for byte. */
static void phi__interactions_opaque(phi__encoder *e, const phi_content *c) {
    phi_arena_mark mark = phi_arena_save(e->arena);
    bool goes = phi__kept_is_of(c, e->codec->names, NULL) && phi__kept_tree(e, c->replay) != NULL;
    phi_arena_reset(e->arena, mark);
    if (!goes) return;
    phi__json_write_comma(&e->scratch);
    phi__buf_add_str(&e->scratch, c->replay);
}

/* Writes a user's message, with its opaque blocks, or nothing if no block can be sent. */
static void phi__interactions_user(phi__encoder *e, const phi_message *m) {
    phi__buf_text(&e->scratch, "{\"type\":\"user_input\",\"content\":[");
    size_t at = e->scratch.len;
    phi__render_parts(e, m, true, phi__render_said_part, phi__interactions_block,
                      phi__interactions_opaque);
    if (e->scratch.len > at)
        phi__buf_text(&e->scratch, "]}");
    else
        phi__buf_clear(&e->scratch);
}

/* Writes a result. Without media it is a string, which every model accepts. With media it is a
   list, which models since 3 accept. */
static void phi__interactions_result(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    bool media = phi__gemini_three(e) && phi__render_any(e, m, PHI__RENDER_BLOCK);
    phi__render_id(out, "{\"type\":\"function_result\",\"call_id\":", m->tool_call_id,
                   PHI__ID_ANTHROPIC);
    phi__gemini_name(out, ",\"name\":", phi__gemini_result_name(e, m));
    phi__buf_text(out, m->is_error ? ",\"is_error\":true,\"result\":" : ",\"result\":");
    phi__buf_text(out, media ? "[{\"type\":\"text\",\"text\":\"" : "\"");
    phi__gemini_result_text(e, m);
    phi__buf_text(out, media ? "\"}" : "\"");
    if (media) {
        phi__render_blocks(e, m, phi__interactions_block);
        phi__buf_char(out, ']');
    }
    phi__buf_char(out, '}');
}

/* Writes the steps of an answer. One signed thought is enough for all its calls. Thinking without a
   signature is left out, because it does not help the model. If the answer was cut, no step of
   hosted tools is sent, because the API refuses such a call without its result. */
static void phi__interactions_answer_steps(phi__encoder *e, const phi_message *m, bool same) {
    phi__buf *out = &e->scratch;
    bool is_signed = !phi__gemini_three(e);
    bool ended =
        m->stop_reason != PHI_STOP_REASON_ERROR && m->stop_reason != PHI_STOP_REASON_ABORTED;
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        bool own = same && c->signature.len > 0;
        if (c->kind == PHI_CONTENT_THINKING && own && !c->redacted) {
            phi__json_write_item(out, "{\"type\":\"thought\"");
            phi__records_str(out, "signature", c->signature);
            if (c->text.len > 0) {
                phi__buf_text(out, ",\"summary\":[{\"type\":\"text\"");
                phi__render_text_member(e, "text", c->text);
                phi__buf_text(out, "}]");
            }
            phi__buf_char(out, '}');
            is_signed = true;
        } else if (phi__codec_is_text(c)) {
            phi__json_write_item(out, "{\"type\":\"model_output\",\"content\":[{\"type\":\"text\"");
            phi__render_text_member(e, "text", c->text);
            if (same && c->citations.len > 2 && phi__render_goes(e, c->citations))
                phi__buf_wrap(out, ",\"annotations\":", c->citations, "");
            phi__buf_text(out, "}]}");
        } else if (c->kind == PHI_CONTENT_OPAQUE && ended)
            phi__interactions_opaque(e, c);
        else if (phi__codec_is_call(c)) {
            if (!is_signed && !own) phi__json_write_item(out, PHI__INTERACTIONS_UNSIGNED);
            phi__json_write_comma(out);
            phi__render_id(out, "{\"type\":\"function_call\",\"id\":", c->id, PHI__ID_ANTHROPIC);
            phi__gemini_name(out, ",\"name\":", c->name);
            phi__buf_wrap(out, ",\"arguments\":", phi__render_arguments(e, c->arguments), "");
            if (own) phi__records_str(out, "signature", c->signature);
            phi__buf_char(out, '}');
            is_signed = true;
        }
    }
}

/* Results of models before 3 hold no media: the media follow as a user's step. */
static uint32_t phi__interactions_form(const phi__encoder *e, size_t at, bool after) {
    const phi_message *m = e->spec->items[at].message;
    uint32_t form = PHI__INTERACTIONS_FORM;
    if (after && (phi__gemini_three(e) || !phi__render_any(e, m, PHI__RENDER_BLOCK))) return 0;
    if (after) form |= PHI__INTERACTIONS_MEDIA;
    if (m->role != PHI_ROLE_USER && phi__gemini_three(e)) form |= PHI__INTERACTIONS_THREE;
    if (m->role == PHI_ROLE_ASSISTANT)
        return phi__render_same_origin(e, at) ? form | PHI__INTERACTIONS_ORIGIN : form;
    if ((e->spec->model->quirks & PHI_QUIRK_NO_IMAGES) != 0) form |= PHI__INTERACTIONS_NO_IMAGES;
    return form | e->media << PHI__INTERACTIONS_MEDIA_SHIFT;
}

static void phi__interactions_render(phi__encoder *e, const phi_message *m, size_t at,
                                     uint32_t form) {
    (void)at;
    if ((form & PHI__INTERACTIONS_MEDIA) != 0) {
        phi__buf_text(&e->scratch, "{\"type\":\"user_input\",\"content\":[");
        phi__render_blocks(e, m, phi__interactions_block);
        phi__buf_text(&e->scratch, "]}");
    } else if (m->role == PHI_ROLE_USER)
        phi__interactions_user(e, m);
    else if (m->role == PHI_ROLE_TOOL_RESULT)
        phi__interactions_result(e, m);
    else
        phi__interactions_answer_steps(e, m, (form & PHI__INTERACTIONS_ORIGIN) != 0);
}

/* ---- around the messages ---- */

/* Models before 3.7 accept sampling settings, but models since 3 only while they do not think. */
static uint32_t phi__interactions_takes(const phi__request_spec *spec) {
    int version = phi__gemini_version(spec->model);
    bool thinks = spec->model->reasoning && spec->thinking != PHI_THINKING_OFF;
    uint32_t takes = PHI__TAKES_STOP | PHI__TAKES_SEED | PHI__TAKES_TIER;
    if (version < 37 && !(thinks && version >= 30))
        takes |= PHI__TAKES_TEMPERATURE | PHI__TAKES_TOP_P;
    return takes;
}

static phi_thinking phi__interactions_takes_level(const phi_model *model, phi_thinking wanted) {
    phi_thinking highest =
        phi__gemini_has(model, "gemini-4-hydrogen") ? PHI_THINKING_XHIGH : PHI_THINKING_HIGH;
    return (unsigned)wanted > (unsigned)highest ? highest : wanted;
}

/* Returns the API's level. There are no budgets, and thinking cannot be turned off: OFF becomes the
   lowest level. Pro 3.0 has two levels. Only Flash models 3.0 to 3.6 have "minimal". */
static const char *phi__interactions_level(const phi_model *model, phi_thinking level) {
    int version = phi__gemini_version(model);
    bool pro = phi__gemini_has(model, "pro");
    level = phi__interactions_takes_level(model, level);
    if (level == PHI_THINKING_XHIGH) return "xhigh";
    if (level <= PHI_THINKING_MINIMAL)
        return !pro && version >= 30 && version < 37 ? "minimal" : "low";
    if (level == PHI_THINKING_LOW) return "low";
    return level == PHI_THINKING_MEDIUM && !(pro && version == 30) ? "medium" : "high";
}

static void phi__interactions_head(phi__encoder *e) {
    phi_str id = phi__str_trim(phi_str_of(e->spec->model->id));
    phi__buf *out = &e->scratch;
    if (phi__str_starts(id, "models/")) id = phi__str_from(id, 7);
    phi__buf_clear(out);
    phi__buf_char(out, '{');
    phi__records_str(out, "model", id);
    phi__buf_text(out, ",\"stream\":true,\"store\":false");
    static const phi__takes_keys keys = {"temperature",    "top_p", NULL,
                                         "stop_sequences", "seed",  NULL};
    const phi__request_spec *spec = e->spec;
    const phi_model *model = spec->model;
    bool thinks = model->reasoning && spec->thinking != PHI_THINKING_OFF;
    uint32_t most = phi__takes_tokens(spec);
    phi__buf_text(out, ",\"generation_config\":{\"max_output_tokens\":");
    phi__buf_u64(out, most != 0 ? most : PHI__TAKES_TOKENS);
    phi__takes_put(e, &keys, phi__interactions_takes(spec));
    if (model->reasoning) {
        phi__buf_text(out, ",\"thinking_level\":\"");
        phi__buf_text(out, phi__interactions_level(model, spec->thinking));
        phi__buf_text(out, thinks ? "\",\"thinking_summaries\":\"auto\"" : "\"");
    }
    phi_tool_choice choice = e->spec->tool_choice;
    if (e->spec->tool_count != 0) {
        if (e->spec->respond_only)
            phi__buf_text(out, ",\"tool_choice\":{\"allowed_tools\":{\"mode\":\"any\",\"tools\":"
                               "[\"" PHI_RESPOND_TOOL "\"]}}");
        else
            phi__buf_text(out, choice == PHI_TOOL_CHOICE_NONE       ? ",\"tool_choice\":\"none\""
                               : choice == PHI_TOOL_CHOICE_REQUIRED ? ",\"tool_choice\":\"any\""
                                                                    : ",\"tool_choice\":\"auto\"");
    }
    phi__buf_char(out, '}');
    if (e->spec->options.service_tier != NULL)
        phi__records_str(out, "service_tier", phi_str_of(e->spec->options.service_tier));
    const phi_format *format = &e->spec->format;
    if (format->kind != PHI_FORMAT_TEXT) {
        phi__buf_text(out,
                      ",\"response_format\":{\"type\":\"text\",\"mime_type\":\"application/json\"");
        if (format->kind == PHI_FORMAT_JSON_SCHEMA) {
            phi__buf_text(out, ",\"schema\":");
            phi__encode_insert(e, phi_str_of(format->schema));
        }
        phi__buf_char(out, '}');
    }
    if (e->spec->tool_count != 0) {
        phi__buf_text(out, ",\"tools\":[");
        for (size_t i = 0; i < e->spec->tool_count; i++) {
            if (phi__takes_raw(e, i)) continue;
            phi__buf_text(out, "{\"type\":\"function\",");
            (void)phi__strict_put_tool(e, &e->spec->tools[i], ",\"parameters\":");
            phi__buf_char(out, '}');
        }
        phi__buf_char(out, ']');
    }
    if (!phi__render_blank(e->spec->system_prompt))
        phi__records_str(out, "system_instruction", e->spec->system_prompt);
    phi__buf_text(out, ",\"input\":[");
    phi__encode_scratch(e);
}

static void phi__interactions_tail(phi__encoder *e) { phi__encode_glue(e, "]}"); }

/* At Vertex AI the URL names a project, and the key is an OAuth token. */
static void phi__interactions_address(phi__encoder *e) {
    phi_str base = phi_str_of(e->spec->model->base_url);
    bool vertex = phi__str_find(base, 0, "/projects/") != SIZE_MAX;
    phi__encode_url(e, "/v1beta", true, "/interactions");
    phi__encode_header(e, "api-revision", PHI__LIT(PHI__INTERACTIONS_REVISION));
    phi__gemini_headers(e, vertex);
}

/* ---- the codec ---- */

/* Google's documentation does not list plain text as "document" content. Other families accept only
   text and images. */
static uint32_t phi__interactions_media(const phi_model *model) {
    if (phi__gemini_version(model) == 0) return 0;
    return PHI__MEDIA_PDF | PHI__MEDIA_URL | PHI__MEDIA_OFFICE | PHI__MEDIA_SOUND |
           PHI__MEDIA_MORE_SOUND;
}

/* clang-format off */
static const char *const phi__interactions_owned[] = {
    "model", "stream", "store", "input", "system_instruction", "tools", "response_format",
    "generation_config.max_output_tokens", "generation_config.tool_choice", NULL};

static const phi__codec_settings phi__interactions_settings = {
    phi__interactions_takes, phi__interactions_takes_level, phi__interactions_owned, NULL};

PHI__FN const phi__codec *phi__interactions_codec(void) {
    static const phi__codec_rules rules = {
        NULL, phi__gemini_strict_form, phi__strict_gemini, phi__gemini_format_way,
        PHI__SCHEMA_TRIED, NULL, NULL, NULL,
        PHI__RULE_HEIF | PHI__RULE_GIF | PHI__RULE_LETTER_FIRST | PHI__RULE_USER_FIRST |
            PHI__RULE_USER_LAST,
        phi__interactions_media, NULL, NULL, NULL, NULL, NULL, &phi__interactions_settings, NULL};
    static const phi__codec codec = {
        PHI__NAMES_INTERACTIONS, &rules, sizeof(phi__interactions_state), phi__interactions_head,
        phi__interactions_tail, phi__interactions_address, phi__interactions_form,
        phi__interactions_render, phi__encode_append, phi__interactions_stream_event,
        phi__interactions_end, phi__interactions_whole, NULL, NULL};
    return &codec;
}
/* clang-format on */
