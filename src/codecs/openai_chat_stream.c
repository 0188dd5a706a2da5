/* openai_chat_stream.c - answers of the OpenAI Chat Completions API: chunks to a message.

   A chunk is read in one pass without a tree into views of what matters, and then applied:
   reasoning before text, text before calls. Servers differ wherever the standard leaves room, so a
   field that is null, missing, repeated or of another type is read as it must have been meant.
   wire.md part 3. */
#include "codecs/openai_chat_in.h"

#include "codecs/kept_in.h"
#include "wire/classify_in.h"

/* The fields in which servers send reasoning, by preference; names as the message keeps them. */
static const char *const phi__openai_chat_reasoning_fields[] = {"reasoning_content", "reasoning",
                                                                "reasoning_text"};

/* The parts of a chunk, as they stand in its text; `at` NULL and length 0: absent, null or odd. */
typedef struct phi__openai_chat_chunk {
    phi__json_text id, model, finish;
    phi__json_text content, refusal, reasoning[3];
    phi_str parts; /* content as an array: raw JSON, as all that follow */
    phi_str details, blocks, calls, usage, error;
    phi_str annotations, sources, citations;
    phi_str others; /* the whole delta, if it has members that are not read */
} phi__openai_chat_chunk;

/* ---- reading a chunk ---- */

/* Chunks and calls are read without tables: a chunk comes with each few tokens, and names that are
   compared in place take a third of the instructions (make callgrind, bench_wire). */

static void phi__openai_chat_stream_take_error(phi__json_cursor *c, void *error) {
    (void)phi__classify_take_error(c, (phi_str *)error);
}

static const phi__json_member phi__openai_chat_groq_list[] = {
    PHI__MEMBER(phi__openai_chat_chunk, usage, "usage", PHI__MEMBER_SOME),
    PHI__MEMBER_TAKE(phi__openai_chat_chunk, error, "error", phi__openai_chat_stream_take_error)};
static const phi__json_members phi__openai_chat_groq_members = {
    phi__openai_chat_groq_list, PHI__COUNT(phi__openai_chat_groq_list)};

/* Raw JSON, unless it is null. */
static void phi__openai_chat_stream_raw(phi__json_cursor *c, phi_str *out) {
    if (phi__json_cursor_peek(c) == PHI_JSON_NULL)
        (void)phi__json_cursor_skip(c);
    else
        (void)phi__json_cursor_take_raw(c, out);
}

static void phi__openai_chat_stream_list(phi__json_cursor *c, phi_str *out) {
    if (phi__json_cursor_peek(c) == PHI_JSON_ARRAY)
        (void)phi__json_cursor_take_raw(c, out);
    else
        (void)phi__json_cursor_skip(c);
}

static void phi__openai_chat_stream_content(phi__json_cursor *c, phi__openai_chat_chunk *k) {
    if (phi__json_cursor_peek(c) == PHI_JSON_ARRAY)
        (void)phi__json_cursor_take_raw(c, &k->parts);
    else
        (void)phi__json_cursor_take_text(c, &k->content);
}

/* A member that is not read. */
static void phi__openai_chat_stream_other(phi__json_cursor *c, phi__openai_chat_chunk *k,
                                          phi__json_text key) {
    phi_str raw;
    if (phi__openai_chat_kept_wants(c, key, &raw)) k->others = raw;
}

static void phi__openai_chat_stream_delta(phi__json_cursor *c, phi__openai_chat_chunk *k) {
    const char *from = c->at;
    phi__json_text key;
    if (!phi__json_cursor_enter_object(c)) return;
    while (phi__json_cursor_next_key(c, &key)) {
        if (PHI__OPENAI_CHAT_IS(key, "content"))
            phi__openai_chat_stream_content(c, k);
        else if (PHI__OPENAI_CHAT_IS(key, "tool_calls"))
            phi__openai_chat_stream_raw(c, &k->calls);
        else if (PHI__OPENAI_CHAT_IS(key, "reasoning_content"))
            (void)phi__json_cursor_take_text(c, &k->reasoning[0]);
        else if (PHI__OPENAI_CHAT_IS(key, "reasoning"))
            (void)phi__json_cursor_take_text(c, &k->reasoning[1]);
        else if (PHI__OPENAI_CHAT_IS(key, "reasoning_text"))
            (void)phi__json_cursor_take_text(c, &k->reasoning[2]);
        else if (PHI__OPENAI_CHAT_IS(key, "reasoning_details"))
            phi__openai_chat_stream_raw(c, &k->details);
        else if (PHI__OPENAI_CHAT_IS(key, "thinking_blocks"))
            phi__openai_chat_stream_raw(c, &k->blocks);
        else if (PHI__OPENAI_CHAT_IS(key, "refusal"))
            (void)phi__json_cursor_take_text(c, &k->refusal);
        else if (PHI__OPENAI_CHAT_IS(key, "annotations"))
            phi__openai_chat_stream_list(c, &k->annotations);
        else
            phi__openai_chat_stream_other(c, k, key);
    }
    if (k->others.len > 0) k->others = phi__str(from, (size_t)(c->at - from));
}

/* A choice of a chunk, or of a whole answer, which has `message` instead of `delta`. */
static void phi__openai_chat_stream_choice(phi__json_cursor *c, phi__openai_chat_chunk *k) {
    phi__json_text key;
    if (!phi__json_cursor_enter_object(c)) return;
    while (phi__json_cursor_next_key(c, &key)) {
        if (PHI__OPENAI_CHAT_IS(key, "delta") || PHI__OPENAI_CHAT_IS(key, "message"))
            phi__openai_chat_stream_delta(c, k);
        else if (PHI__OPENAI_CHAT_IS(key, "finish_reason"))
            (void)phi__json_cursor_take_text(c, &k->finish);
        else if (PHI__OPENAI_CHAT_IS(key, "usage"))
            phi__openai_chat_stream_raw(c, &k->usage);
        else
            (void)phi__json_cursor_skip(c);
    }
}

/* Only the first choice: requests never ask for more. */
static void phi__openai_chat_stream_choices(phi__json_cursor *c, phi__openai_chat_chunk *k) {
    bool first = true;
    if (!phi__json_cursor_enter_array(c)) return;
    while (phi__json_cursor_next_item(c)) {
        if (first)
            phi__openai_chat_stream_choice(c, k);
        else
            (void)phi__json_cursor_skip(c);
        first = false;
    }
}

static bool phi__openai_chat_stream_read(phi__openai_chat_chunk *k, phi_str data) {
    phi__json_cursor c;
    phi__json_text key;
    memset(k, 0, sizeof *k);
    phi__json_cursor_init(&c, data);
    if (!phi__json_cursor_enter_object(&c)) return false;
    while (phi__json_cursor_next_key(&c, &key)) {
        if (PHI__OPENAI_CHAT_IS(key, "choices"))
            phi__openai_chat_stream_choices(&c, k);
        else if (PHI__OPENAI_CHAT_IS(key, "id"))
            (void)phi__json_cursor_take_text(&c, &k->id);
        else if (PHI__OPENAI_CHAT_IS(key, "model"))
            (void)phi__json_cursor_take_text(&c, &k->model);
        else if (PHI__OPENAI_CHAT_IS(key, "usage"))
            phi__openai_chat_stream_raw(&c, &k->usage);
        else if (PHI__OPENAI_CHAT_IS(key, "error"))
            (void)phi__classify_take_error(&c, &k->error);
        else if (PHI__OPENAI_CHAT_IS(key, "x_groq"))
            (void)phi__json_members_take(&c, &phi__openai_chat_groq_members, k);
        else if (PHI__OPENAI_CHAT_IS(key, "search_results")) /* Perplexity */
            phi__openai_chat_stream_list(&c, &k->sources);
        else if (PHI__OPENAI_CHAT_IS(key, "citations")) /* Perplexity, xAI: only addresses */
            phi__openai_chat_stream_list(&c, &k->citations);
        else
            (void)phi__json_cursor_skip(&c);
    }
    return phi__json_cursor_done(&c);
}

/* ---- usage ---- */

typedef struct phi__openai_chat_counts {
    uint64_t prompt, output, written, reasoning;
    uint64_t read, hit, top; /* from a cache: servers put it into one of three places */
} phi__openai_chat_counts;

static const phi__json_member phi__openai_chat_prompt_list[] = {
    PHI__MEMBER(phi__openai_chat_counts, read, "cached_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi__openai_chat_counts, written, "cache_write_tokens", PHI__MEMBER_U64)};
static const phi__json_members phi__openai_chat_prompt_members = {
    phi__openai_chat_prompt_list, PHI__COUNT(phi__openai_chat_prompt_list)};

static const phi__json_member phi__openai_chat_output_list[] = {
    PHI__MEMBER(phi__openai_chat_counts, reasoning, "reasoning_tokens", PHI__MEMBER_U64)};
static const phi__json_members phi__openai_chat_output_members = {
    phi__openai_chat_output_list, PHI__COUNT(phi__openai_chat_output_list)};

static const phi__json_member phi__openai_chat_usage_list[] = {
    PHI__MEMBER(phi__openai_chat_counts, prompt, "prompt_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi__openai_chat_counts, output, "completion_tokens", PHI__MEMBER_U64),
    PHI__MEMBER_INSIDE("prompt_tokens_details", &phi__openai_chat_prompt_members),
    PHI__MEMBER_INSIDE("completion_tokens_details", &phi__openai_chat_output_members),
    /* DeepSeek */
    PHI__MEMBER(phi__openai_chat_counts, hit, "prompt_cache_hit_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi__openai_chat_counts, top, "cached_tokens", PHI__MEMBER_U64)}; /* Moonshot */
static const phi__json_members phi__openai_chat_usage_members = {
    phi__openai_chat_usage_list, PHI__COUNT(phi__openai_chat_usage_list)};

/* The last usage counts. */
static void phi__openai_chat_stream_usage(phi__assembly *a, phi_str raw) {
    phi__json_cursor c;
    phi__openai_chat_counts n;
    phi__json_cursor_init(&c, raw);
    if (raw.len == 0 || phi__json_cursor_peek(&c) != PHI_JSON_OBJECT) return;
    memset(&n, 0, sizeof n);
    (void)phi__json_members_take(&c, &phi__openai_chat_usage_members, &n);
    if (n.read == 0) n.read = n.hit != 0 ? n.hit : n.top;
    a->usage.cache_read = n.read;
    a->usage.cache_write = n.written;
    a->usage.input = n.prompt - (n.read < n.prompt ? n.read : n.prompt);
    a->usage.input -= n.written < a->usage.input ? n.written : a->usage.input;
    a->usage.output = n.output;
    a->usage.reasoning = n.reasoning;
}

/* After the finish reason only usage is awaited. Some servers send zeros until they know it. */
static bool phi__openai_chat_stream_counted(const phi__assembly *a) {
    return a->usage.output > 0 || a->usage.input > 0;
}

/* ---- thinking and text ---- */

static void phi__openai_chat_stream_say(phi__openai_chat_state *st, phi__assembly *a,
                                        phi__json_text text) {
    if (text.len == 0) return;
    if (phi__openai_chat_splits(a))
        phi__openai_chat_text_add(&st->text, a, text);
    else
        phi__assembly_add_text(a, phi__openai_chat_kept_current(a, PHI_CONTENT_TEXT), text);
}

/* A part of the content; false: it is neither text nor thinking. */
static bool phi__openai_chat_stream_part(phi__openai_chat_state *st, phi__assembly *a,
                                         phi__json_cursor *c, phi__json_text *type, size_t *n) {
    phi__json_text key, text;
    bool known = false;
    while (phi__json_cursor_next_key(c, &key)) {
        if (PHI__OPENAI_CHAT_IS(key, "type"))
            (void)phi__json_cursor_take_text(c, type);
        else if (PHI__OPENAI_CHAT_IS(key, "thinking")) {
            known = true;
            phi__openai_chat_thinking_parts(a, c, n);
        } else if (!PHI__OPENAI_CHAT_IS(key, "text"))
            phi__json_cursor_skip(c);
        else if (phi__json_cursor_take_text(c, &text)) {
            known = true;
            phi__openai_chat_stream_say(st, a, text);
        }
    }
    return known;
}

/* Content as parts, as Mistral's models send it. */
static void phi__openai_chat_stream_parts_of(phi__openai_chat_state *st, phi__assembly *a,
                                             phi_str raw) {
    phi__json_cursor c;
    size_t n = 0;
    if (raw.len == 0) return;
    phi__json_cursor_init(&c, raw);
    if (!phi__json_cursor_enter_array(&c)) return;
    while (phi__json_cursor_next_item(&c) && phi__assembly_takes_more(a, &n)) {
        phi__json_text type = {NULL, 0, false};
        const char *from = c.at;
        if (!phi__json_cursor_enter_object(&c)) continue;
        if (!phi__openai_chat_stream_part(st, a, &c, &type, &n) && type.len > 0)
            phi__openai_chat_kept_part(a, type,
                                       phi__str_trim(phi__str(from, (size_t)(c.at - from))));
    }
}

/* ---- calls ---- */

typedef struct phi__openai_chat_call {
    phi__json_text id, name, arguments;
    phi_str object; /* arguments that are no text, as some servers send them */
    int64_t index;
    bool has_index, custom; /* custom: a call of a tool without a schema, which phi does not know */
} phi__openai_chat_call;

static void phi__openai_chat_stream_function(phi__json_cursor *c, phi__openai_chat_call *call) {
    phi__json_text key;
    if (!phi__json_cursor_enter_object(c)) return;
    while (phi__json_cursor_next_key(c, &key)) {
        if (PHI__OPENAI_CHAT_IS(key, "name"))
            (void)phi__json_cursor_take_text(c, &call->name);
        else if (!PHI__OPENAI_CHAT_IS(key, "arguments"))
            (void)phi__json_cursor_skip(c);
        else if (phi__json_cursor_peek(c) == PHI_JSON_OBJECT)
            (void)phi__json_cursor_take_raw(c, &call->object);
        else
            (void)phi__json_cursor_take_text(c, &call->arguments);
    }
}

static void phi__openai_chat_stream_read_call(phi__json_cursor *c, phi__openai_chat_call *call) {
    phi__json_text key;
    memset(call, 0, sizeof *call);
    if (!phi__json_cursor_enter_object(c)) return;
    while (phi__json_cursor_next_key(c, &key)) {
        if (PHI__OPENAI_CHAT_IS(key, "index"))
            call->has_index = phi__json_cursor_take_i64(c, &call->index);
        else if (PHI__OPENAI_CHAT_IS(key, "id"))
            (void)phi__json_cursor_take_text(c, &call->id);
        else if (PHI__OPENAI_CHAT_IS(key, "function"))
            phi__openai_chat_stream_function(c, call);
        else {
            call->custom = call->custom || PHI__OPENAI_CHAT_IS(key, "custom");
            (void)phi__json_cursor_skip(c);
        }
    }
    if (PHI__OPENAI_CHAT_IS(call->id, "null")) call->id.len = 0;
}

static bool phi__openai_chat_stream_same_id(const phi__draft *d, phi__json_text id) {
    return d->id.len == 0 || phi__json_cursor_text_is(id, phi__buf_str(&d->id));
}

/* True if a call without an index is that of the block. A call that was read out of text has no
   hash. */
static bool phi__openai_chat_stream_has_id(const phi__draft *d, phi__json_text id, uint64_t hash) {
    return d->item != 0 ? d->item == hash : phi__json_cursor_text_is(id, phi__buf_str(&d->id));
}

/* The call a delta belongs to: by its index, else by its id, else the last. Another id at a known
   index is another call. SIZE_MAX: a new one. */
static size_t phi__openai_chat_stream_find_call(const phi__assembly *a,
                                                const phi__openai_chat_call *call, uint64_t hash) {
    size_t i;
    for (i = a->count; i > 0; i--) {
        const phi__draft *d = &a->drafts[i - 1];
        if (d->kind != PHI_CONTENT_TOOL_CALL) continue;
        if (call->has_index) {
            if (d->key != call->index) continue;
            return call->id.len == 0 || phi__openai_chat_stream_same_id(d, call->id) ? i - 1
                                                                                     : SIZE_MAX;
        }
        if (call->id.len == 0 || phi__openai_chat_stream_has_id(d, call->id, hash)) return i - 1;
    }
    return SIZE_MAX;
}

static void phi__openai_chat_stream_call_delta(phi__assembly *a,
                                               const phi__openai_chat_call *call) {
    uint64_t hash = phi__assembly_hash(a, call->id);
    size_t block = phi__openai_chat_stream_find_call(a, call, hash);
    phi__draft *d;
    if (block == SIZE_MAX) {
        size_t last = phi__openai_chat_kept_last(a);
        if (last != SIZE_MAX && a->drafts[last].kind != PHI_CONTENT_TOOL_CALL)
            phi__assembly_close(a, last);
        block = phi__assembly_open(a, PHI_CONTENT_TOOL_CALL, call->has_index ? call->index : -1);
    }
    if (block == SIZE_MAX) return;
    d = &a->drafts[block];
    if (d->id.len == 0 && call->id.len > 0) {
        phi__assembly_put(a, &d->id, call->id);
        d->item = hash;
    }
    if (d->name.len == 0 && call->name.len > 0) phi__assembly_put(a, &d->name, call->name);
    if (call->object.len > 0)
        phi__assembly_add(a, block, call->object);
    else
        phi__assembly_add_text(a, block, call->arguments);
}

static void phi__openai_chat_stream_calls_of(phi__openai_chat_state *st, phi__assembly *a,
                                             phi_str raw) {
    phi__json_cursor c;
    phi__openai_chat_call call;
    size_t n = 0;
    phi__json_cursor_init(&c, raw);
    if (!phi__json_cursor_enter_array(&c)) return;
    while (phi__json_cursor_next_item(&c) && phi__assembly_takes_more(a, &n)) {
        const char *from = c.at;
        if (!st->text.structured && phi__openai_chat_splits(a))
            phi__openai_chat_text_end(&st->text, a, PHI__OPENAI_CHAT_CALLED);
        st->text.structured = true;
        if (phi__json_cursor_peek(&c) != PHI_JSON_OBJECT) {
            phi__json_cursor_skip(&c);
            continue;
        }
        phi__openai_chat_stream_read_call(&c, &call);
        if (call.custom)
            phi__openai_chat_kept_call(a, phi__str_trim(phi__str(from, (size_t)(c.at - from))),
                                       call.has_index, call.index, call.id.len > 0);
        else
            phi__openai_chat_stream_call_delta(a, &call);
    }
}

/* ---- the end ---- */

static void phi__openai_chat_stream_stop_word(phi__assembly *a, phi_str word) {
    static const struct phi__openai_chat_stop {
        const char *word;
        phi_stop_reason reason;
    } table[] = {{"stop", PHI_STOP_REASON_STOP},
                 {"end", PHI_STOP_REASON_STOP},
                 {"eos", PHI_STOP_REASON_STOP},
                 {"end_turn", PHI_STOP_REASON_STOP},
                 {"tool_calls", PHI_STOP_REASON_TOOL_USE},
                 {"function_call", PHI_STOP_REASON_TOOL_USE},
                 {"length", PHI_STOP_REASON_LENGTH},
                 {"model_length", PHI_STOP_REASON_LENGTH},
                 {"max_tokens", PHI_STOP_REASON_LENGTH}};
    size_t i;
    if (a->failure.kind != PHI_FAILURE_NONE) return;
    for (i = 0; i < PHI__COUNT(table); i++)
        if (phi__str_is(word, table[i].word)) {
            a->stop_reason = table[i].reason;
            return;
        }
    if (phi__str_is(word, "content_filter") || phi__str_is(word, "sensitive"))
        phi__classify_stop(a, PHI_FAILURE_CONTENT_FILTER, false, word);
    else if (phi__str_is(word, "model_context_window_exceeded"))
        phi__classify_stop(a, PHI_FAILURE_OVERFLOW, false, word);
    else if (phi__str_is(word, "abort"))
        phi__classify_stop(a, PHI_FAILURE_SERVER, false, word);
    else if (phi__str_is(word, "error") || phi__str_is(word, "network_error") ||
             phi__str_is(word, "insufficient_system_resource"))
        phi__classify_stop(a, PHI_FAILURE_SERVER, true, word);
    else
        phi__assembly_unknown_stop(a);
}

static void phi__openai_chat_stream_close_all(phi__assembly *a) {
    size_t i;
    for (i = 0; i < a->count; i++) phi__openai_chat_kept_close(a, i);
}

static phi__openai_chat_ending phi__openai_chat_stream_ending(const phi__assembly *a) {
    if (a->failure.kind != PHI_FAILURE_NONE) return PHI__OPENAI_CHAT_BROKEN;
    return a->stop_reason == PHI_STOP_REASON_LENGTH ? PHI__OPENAI_CHAT_CUT : PHI__OPENAI_CHAT_ENDED;
}

static void phi__openai_chat_stream_finish(phi__openai_chat_state *st, phi__assembly *a,
                                           phi__json_text finish, bool has_usage) {
    if (finish.at == NULL || st->finished) return;
    if (finish.len == 0) {
        st->finish_empty = true;
        return;
    }
    st->finished = a->terminal = true;
    phi__delta_cache_forget(&st->repeat);
    phi__assembly_put(a, &a->raw_stop_reason, finish);
    phi__openai_chat_stream_stop_word(a, phi__buf_str(&a->raw_stop_reason));
    a->last = has_usage && phi__openai_chat_stream_counted(a);
    if (phi__openai_chat_splits(a))
        phi__openai_chat_text_end(&st->text, a, phi__openai_chat_stream_ending(a));
    if (a->failure.kind == PHI_FAILURE_NONE)
        phi__openai_chat_stream_close_all(a);
    else
        a->awaits_usage = true; /* and calls were cut */
}

/* Annotations are new ones each time; a list of sources is the same one in each chunk. */
static void phi__openai_chat_stream_cite(phi__openai_chat_state *st, phi__assembly *a,
                                         const phi__openai_chat_chunk *k) {
    phi_str sources = k->sources.len > 2 ? k->sources : k->citations;
    if (k->annotations.len > 2) {
        st->annotated = true;
        phi__openai_chat_kept_annotations(a, k->annotations);
    } else if (sources.len > 2 && !st->annotated)
        phi__openai_chat_kept_sources(a, sources);
}

static void phi__openai_chat_stream_apply(phi__openai_chat_state *st, phi__assembly *a,
                                          const phi__openai_chat_chunk *k) {
    size_t i;
    bool spoken = false;
    if (a->response_id.len == 0 && k->id.len > 0) phi__assembly_put(a, &a->response_id, k->id);
    if (a->model.len == 0 && k->model.len > 0) phi__assembly_put(a, &a->model, k->model);
    if (!a->started) phi__assembly_start(a);
    for (i = 0; i < PHI__COUNT(phi__openai_chat_reasoning_fields) && !spoken; i++) {
        spoken = k->reasoning[i].len > 0; /* some send the same text in two fields */
        phi__openai_chat_thinking_add(a, k->reasoning[i], phi__openai_chat_reasoning_fields[i]);
    }
    if (k->details.len > 0)
        phi__openai_chat_thinking_details(st, a, k->details, "reasoning_details", spoken);
    else if (k->blocks.len > 0)
        phi__openai_chat_thinking_details(st, a, k->blocks, "thinking_blocks", spoken);
    if (k->parts.len > 0) phi__openai_chat_stream_parts_of(st, a, k->parts);
    if (k->content.len > 0) phi__openai_chat_stream_say(st, a, k->content);
    if (k->refusal.len > 0) phi__openai_chat_stream_say(st, a, k->refusal);
    if (k->calls.len > 0) phi__openai_chat_stream_calls_of(st, a, k->calls);
    if (k->others.len > 0) phi__openai_chat_kept_members(a, k->others);
    if (k->annotations.len + k->sources.len + k->citations.len > 0)
        phi__openai_chat_stream_cite(st, a, k);
    if (k->usage.len > 0) phi__openai_chat_stream_usage(a, k->usage);
    phi__openai_chat_stream_finish(st, a, k->finish, k->usage.len > 0);
}

/* Remembers a chunk that was text and nothing else. */
static void phi__openai_chat_stream_learn(phi__openai_chat_state *st, const phi__assembly *a,
                                          const phi__openai_chat_chunk *k, phi_str data) {
    const phi__json_text *said = &k->content;
    size_t i, spoken = 0;
    for (i = 0; i < PHI__COUNT(phi__openai_chat_reasoning_fields); i++)
        if (k->reasoning[i].len > 0) {
            spoken++;
            said = &k->reasoning[i];
        }
    phi__delta_cache_forget(&st->repeat);
    if (k->content.len > 0 && phi__openai_chat_splits(a)) return;
    if (spoken + (k->content.len > 0 ? 1u : 0u) != 1 || k->details.len > 0 || k->blocks.len > 0 ||
        k->parts.len > 0 || k->refusal.len > 0 || k->calls.len > 0 || k->usage.len > 0 ||
        k->finish.at != NULL || k->error.len > 0 || k->annotations.len > 2 || k->others.len > 0 ||
        a->count == 0)
        return;
    phi__delta_cache_learn(&st->repeat, a, data, *said, phi__openai_chat_kept_last(a));
}

/* An error may stand at the top or in x_groq; beside it there may be a status. */
static void phi__openai_chat_stream_error(phi__assembly *a, const phi__openai_chat_chunk *k,
                                          phi_str data) {
    bool top = phi__str_find(data, 0, "\"x_groq\"") == SIZE_MAX;
    if (top || k->error.at[0] != '{')
        phi__classify_event(a, data);
    else
        phi__classify_event(a, k->error);
}

/* ---- for the codec ---- */

/* Behind the reason to stop usage and citations count, and no trouble discards the answer. */
static void phi__openai_chat_stream_late(phi__openai_chat_state *st, phi__assembly *a,
                                         phi_str data) {
    phi__openai_chat_chunk k;
    if (data.at[0] != '{' || !phi__openai_chat_stream_read(&k, data)) return;
    if (phi__kept_text(a) != SIZE_MAX) phi__openai_chat_stream_cite(st, a, &k);
    if (k.usage.len == 0) return;
    phi__openai_chat_stream_usage(a, k.usage);
    a->last = phi__openai_chat_stream_counted(a);
}

PHI__FN void phi__openai_chat_stream_event(void *state, phi__assembly *a, phi_str name,
                                           phi_str data) {
    phi__openai_chat_state *st = (phi__openai_chat_state *)state;
    phi__openai_chat_chunk k;
    if (data.len == 0 || a->no_memory || st->done) return;
    if (st->finished && !phi__str_is(data, "[DONE]")) {
        phi__openai_chat_stream_late(st, a, data);
        return;
    }
    if (phi__str_is(name, "error")) {
        phi__classify_event(a, data);
        return;
    }
    if (phi__str_is(data, "[DONE]")) {
        st->done = a->last = true;
        return;
    }
    if (st->broken) {
        phi__classify_bad_event(a);
        return;
    }
    if (phi__delta_cache_add(&st->repeat, a, data)) return;
    if (data.at[0] != '{') return; /* words of a gateway: nothing of ours */
    st->heard = true;
    if (!phi__openai_chat_stream_read(&k, data)) {
        st->broken = true;
        return;
    }
    if (k.error.len > 0) phi__openai_chat_stream_error(a, &k, data);
    phi__openai_chat_stream_apply(st, a, &k);
    phi__openai_chat_stream_learn(st, a, &k, data);
}

PHI__FN void phi__openai_chat_stream_end(void *state, phi__assembly *a) {
    phi__openai_chat_state *st = (phi__openai_chat_state *)state;
    phi__openai_chat_thinking_end_details(st, a);
    if (st->finished || a->failure.kind != PHI_FAILURE_NONE) return;
    if (st->finish_empty && st->done && !st->broken) {
        a->terminal = true;
        a->stop_reason = PHI_STOP_REASON_STOP;
        if (phi__openai_chat_splits(a))
            phi__openai_chat_text_end(&st->text, a, PHI__OPENAI_CHAT_ENDED);
        phi__openai_chat_stream_close_all(a);
    } else {
        phi__classify_truncated(a, st->heard);
        if (phi__openai_chat_splits(a))
            phi__openai_chat_text_end(&st->text, a, PHI__OPENAI_CHAT_BROKEN);
    }
}

PHI__FN void phi__openai_chat_stream_whole(void *state, phi__assembly *a, phi_str body) {
    phi__openai_chat_state *st = (phi__openai_chat_state *)state;
    phi__openai_chat_chunk k;
    phi__json_found choices;
    body = phi__str_trim(body);
    if (!phi__openai_chat_stream_read(&k, body) || k.error.len > 0 ||
        phi__json_cursor_find(body, "choices[0]", &choices) != PHI_OK) {
        phi__classify_body(a, body);
        return;
    }
    st->heard = true;
    phi__openai_chat_stream_apply(st, a, &k);
    if (k.finish.at != NULL && k.finish.len == 0) st->done = true;
    phi__openai_chat_stream_end(state, a);
}
