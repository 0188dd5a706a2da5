/* openai_chat.c - the OpenAI Chat Completions API, for all servers that speak it.

   Each message is rendered once and kept. Differences between servers are bits of the model's
   quirks. The bits that change a rendering are part of the form under which it is kept. */
#include "codecs/openai_chat_in.h"
#include "codecs/openai_in.h"
#include "codecs/names_in.h"

static inline bool phi__chat_splits(const phi__assembly *a) {
    return (a->quirks & (PHI_QUIRK_THINK_TAGS | PHI_QUIRK_TEXT_CALLS)) != 0;
}

/* ---- messages ----

   Opaque members are sent back if the server's documentation allows it: calls of custom tools to
   all servers, parts of the content to Mistral, annotations of files to OpenRouter. */

static phi__id_rule phi__chat_id_rule(const phi_model *model) {
    return (model->quirks & PHI_QUIRK_ID_9) != 0 ? PHI__ID_9 : PHI__ID_40;
}

/* Returns the items of an opaque block that consists of one list, or an empty text if the block has
   another form or is broken. `start` is the block's JSON before the items. Uses and resets
   e->arena. */
static phi_str phi__chat_opaque(phi__encoder *e, const phi_content *c, const char *start) {
    const phi_str none = {NULL, 0};
    phi_str json = c->replay;
    size_t n = strlen(start);
    if (!phi__kept_is_of(c, e->codec->names, NULL) || !phi__str_starts(json, start)) return none;
    if (json.len < n + 4 || memcmp(json.at + json.len - 2, "]}", 2) != 0) return none;
    if (!phi__render_goes(e, phi__str(json.at + n - 1, json.len - n))) return none;
    return phi__str(json.at + n, json.len - n - 2);
}

#define PHI__CHAT_CALLS "{\"tool_calls\":["
#define PHI__CHAT_PARTS "{\"content\":["

/* Writes the annotations of files that OpenRouter has read. OpenRouter asks to send them back, and
   then does not read the files again ("PDF Inputs", November 2026). */
static void phi__chat_put_annotations(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    bool open = false;
    if (!phi__str_is(phi_str_of(e->spec->model->provider), "openrouter") ||
        !phi__str_is(m->provider, "openrouter"))
        return;
    for (size_t i = 0; i < m->content_count; i++) {
        phi_str list = m->content[i].citations, one;
        phi__json_cursor c;
        if (phi__str_find(list, 0, "\"file\"") == SIZE_MAX || !phi__render_goes(e, list)) continue;
        if (!phi__json_cursor_in_array(&c, list)) continue;
        while (phi__json_cursor_next_raw(&c, &one)) {
            phi__json_found found;
            if (phi__json_cursor_find(one, "type", &found) != PHI_OK ||
                !phi__str_is(found.raw, "file"))
                continue;
            phi__buf_text(out, open ? "," : ",\"annotations\":[");
            phi__buf_add_str(out, one);
            open = true;
        }
    }
    if (open) phi__buf_char(out, ']');
}

/* Writes an image, audio or document part. */
static void phi__chat_block(phi__encoder *e, const phi_content *c) {
    phi__buf *out = &e->scratch;
    phi__json_write_comma(out);
    switch (c->kind) {
    case PHI_CONTENT_DOCUMENT:
        phi__buf_text(out, "{\"type\":\"file\",\"file\":{\"filename\":");
        phi__render_file_name(out, c);
        phi__buf_text(out, ",\"file_data\":");
        if (c->url.len > 0)
            phi__json_write_str(out, c->url);
        else
            phi__openai_data_url(e, c);
        break;
    case PHI_CONTENT_AUDIO:
        phi__render_base64(e, "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"", c->data,
                           "\"");
        phi__records_str(out, "format", phi_str_of(phi__render_ending(c->mime_type)));
        break;
    default:
        phi__buf_text(out, "{\"type\":\"image_url\",\"image_url\":{\"url\":");
        phi__openai_data_url(e, c);
        break;
    }
    phi__buf_text(out, "}}");
}

/* The place of a user's opaque block, which a host wrote. A block with a role, such as the result
   of a custom tool's call, is a separate message. Others are parts. Uses and resets e->arena. */
typedef enum phi__chat_place { PHI__CHAT_NONE, PHI__CHAT_MESSAGE, PHI__CHAT_PART } phi__chat_place;

static phi__chat_place phi__chat_user_block(phi__encoder *e, const phi_content *c) {
    phi__chat_place out = PHI__CHAT_NONE;
    phi_arena_mark mark = phi_arena_save(e->arena);
    if (!phi__kept_is_of(c, e->codec->names, NULL)) return out;
    const phi_json *root = phi__kept_tree(e, c->replay);
    if (phi_json_is(phi_json_get(root, "role"), PHI_JSON_STRING))
        out = PHI__CHAT_MESSAGE;
    else if (phi_json_is(phi_json_get(root, "type"), PHI_JSON_STRING))
        out = PHI__CHAT_PART;
    phi_arena_reset(e->arena, mark);
    return out;
}

static bool phi__chat_has_block(phi__encoder *e, const phi_message *m, phi__chat_place kind) {
    for (size_t i = 0; i < m->content_count; i++)
        if (phi__chat_user_block(e, &m->content[i]) == kind) return true;
    return false;
}

static void phi__chat_opaque_part(phi__encoder *e, const phi_content *c) {
    if (phi__chat_user_block(e, c) != PHI__CHAT_PART) return;
    phi__json_write_comma(&e->scratch);
    phi__buf_add_str(&e->scratch, c->replay);
}

/* ---- the assistant ---- */

static bool phi__chat_is_thinking(const phi_content *c) {
    return c->kind == PHI_CONTENT_THINKING && !c->redacted && !phi__render_blank(c->text);
}

/* Writes the content as parts, with thinking before the text, as Mistral requires. Returns false
   and writes nothing if there is neither thinking nor a kept part. */
static bool phi__chat_thinking_parts(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    bool any = false;
    for (size_t i = 0; i < m->content_count; i++)
        any = any || phi__chat_is_thinking(&m->content[i]) ||
              phi__chat_opaque(e, &m->content[i], PHI__CHAT_PARTS).len > 0;
    if (!any) return false;
    phi__buf_char(out, '[');
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (phi__chat_is_thinking(c)) {
            phi__json_write_item(out, "{\"type\":\"thinking\",\"thinking\":[");
            phi__render_text_part(e, c->text);
            phi__buf_text(out, "]}");
        } else if (phi__codec_is_text(c))
            phi__render_text_part(e, c->text);
        else {
            phi_str part = phi__chat_opaque(e, c, PHI__CHAT_PARTS);
            if (part.len > 0) phi__json_write_comma(out);
            phi__buf_add_str(out, part);
        }
    }
    phi__buf_char(out, ']');
    return true;
}

/* Writes reasoning_details or thinking_blocks unchanged, in place of the reasoning text. `start` is
   the beginning of the replay, from "{" up to the list's bracket. */
static bool phi__chat_put_details(phi__buf *out, const phi_message *m, const char *start) {
    size_t n = strlen(start);
    bool any = false;
    for (size_t i = 0; i < m->content_count; i++) {
        phi_str replay = m->content[i].replay;
        if (m->content[i].kind != PHI_CONTENT_THINKING || !phi__str_starts(replay, start)) continue;
        if (replay.len < n + 3 || replay.at[replay.len - 1] != '}') continue;
        phi__buf_char(out, ',');
        if (!any) phi__buf_text(out, start + 1);
        phi__buf_add(out, replay.at + n, replay.len - n - 2);
        any = true;
    }
    if (any) phi__buf_char(out, ']');
    return any;
}

#define PHI__CHAT_DETAILS "{\"reasoning_details\":["
#define PHI__CHAT_BLOCKS "{\"thinking_blocks\":["

/* The fields in which servers send reasoning, best first. A message keeps the name of its field. */
static const char *const phi__chat_reasoning_fields[] = {"reasoning_content", "reasoning",
                                                         "reasoning_text"};

/* Writes the reasoning text in the field in which it came. Signatures of Claude at LiteLLM are
   always sent back: without them the second request of a tool loop is refused. */
static void phi__chat_put_reasoning(phi__encoder *e, const phi_message *m, bool same) {
    const char *const *fields = phi__chat_reasoning_fields;
    phi__buf *out = &e->scratch;
    bool required = phi__chat_quirk(e, PHI_QUIRK_REASONING_REQUIRED) && phi__chat_thinking_on(e);
    bool any = false;
    size_t field = 0;
    if (same && phi__chat_put_details(out, m, PHI__CHAT_BLOCKS)) return;
    if (same && phi__chat_quirk(e, PHI_QUIRK_REPLAY_REASONING)) {
        if (phi__chat_put_details(out, m, PHI__CHAT_DETAILS)) return;
        for (size_t i = 0; i < m->content_count; i++) {
            const phi_content *c = &m->content[i];
            if (!phi__chat_is_thinking(c)) continue;
            if (any)
                phi__buf_text(out, "\\n");
            else {
                for (field = PHI__COUNT(phi__chat_reasoning_fields) - 1; field > 0; field--)
                    if (phi__str_is(c->signature, fields[field])) break;
                phi__records_raw(out, fields[field], "\"");
            }
            phi__render_text(e, c->text);
            any = true;
        }
        if (any) phi__buf_char(out, '"');
    }
    if (required && !any) phi__buf_text(out, ",\"reasoning_content\":\"\"");
}

static void phi__chat_assistant(phi__encoder *e, const phi_message *m, bool same) {
    phi__buf *out = &e->scratch;
    bool text = false, calls = false;
    for (size_t i = 0; i < m->content_count; i++) {
        text = text || phi__codec_is_text(&m->content[i]);
        calls = calls || phi__codec_is_call(&m->content[i]) ||
                phi__chat_opaque(e, &m->content[i], PHI__CHAT_CALLS).len > 0;
    }
    if (!text && !calls) return;
    phi__buf_text(out, "{\"role\":\"assistant\",\"content\":");
    if (same && phi__chat_quirk(e, PHI_QUIRK_THINKING_PARTS) && phi__chat_thinking_parts(e, m)) {
        /* the content is written */
    } else if (text) {
        phi__buf_char(out, '"');
        (void)phi__openai_join_text(e, m, false);
        phi__buf_char(out, '"');
    } else
        phi__buf_text(out, phi__chat_quirk(e, PHI_QUIRK_EMPTY_CONTENT) ? "\"\"" : "null");
    phi__chat_put_annotations(e, m);
    phi__chat_put_reasoning(e, m, same);
    bool open = false;
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        phi_str custom = phi__chat_opaque(e, c, PHI__CHAT_CALLS);
        if (!phi__codec_is_call(c) && custom.len == 0) continue;
        phi__buf_text(out, open ? "," : ",\"tool_calls\":[");
        open = true;
        phi__buf_add_str(out, custom);
        if (custom.len > 0) continue;
        phi__render_id(out, "{\"id\":", c->id, phi__chat_id_rule(e->spec->model));
        phi__render_name(out, ",\"type\":\"function\",\"function\":{\"name\":", c->name, 64);
        phi__render_text_member(e, "arguments", phi__render_arguments(e, c->arguments));
        phi__buf_text(out, "}}");
    }
    if (open) phi__buf_char(out, ']');
    phi__buf_char(out, '}');
}

/* ---- tool results ---- */

/* Writes a text such as "Image returned by tool x:", then the media of the result. */
static void phi__chat_result_media(phi__encoder *e, const phi_message *m) {
    const char *word = phi__render_media_word(e, m);
    phi__buf *out = &e->scratch;
    phi__buf_text(out, "{\"type\":\"text\",\"text\":\"");
    phi__buf_char(out, (char)(word[0] - 'a' + 'A'));
    phi__buf_text(out, word + 1);
    phi__buf_text(out, " returned by tool ");
    phi__json_write_part(out, m->tool_name);
    phi__buf_text(out, ":\"}");
    phi__render_blocks(e, m, phi__chat_block);
}

/* ---- answers: chunks to a message ----

   A chunk is read in one pass without a tree, into views of the parts that matter. Then it is
   applied: reasoning before text, text before calls. Servers differ in everything that the API
   leaves open, so a field that is null, missing, repeated or of another type is read as probably
   meant. */

/* The parts of a chunk, as views of its text. `at` NULL or length 0: absent, null or unusable. */
typedef struct phi__chat_chunk {
    phi__json_text id, model, finish;
    phi__json_text content, refusal, reasoning[3];
    phi_str parts; /* content as an array; raw JSON, like all strings below */
    phi_str details, blocks, calls, usage, error;
    phi_str annotations, sources, citations;
    phi_str others; /* the whole delta, if it has members that phi does not read */
} phi__chat_chunk;

/* ---- reading a chunk ---- */

/* Chunks and calls are read without tables. There is a chunk for every few tokens, and comparing
   names in place needs a third of the instructions (make callgrind, bench_wire). */

static void phi__chat_take_error(phi__json_cursor *c, void *error) {
    (void)phi__classify_take_error(c, (phi_str *)error);
}

static const phi__json_member phi__chat_groq_members[] = {
    PHI__MEMBER(phi__chat_chunk, usage, "usage", PHI__MEMBER_SOME),
    PHI__MEMBER_TAKE(phi__chat_chunk, error, "error", phi__chat_take_error), PHI__MEMBERS_END};

/* Reads raw JSON unless it is null. */
static void phi__chat_raw(phi__json_cursor *c, phi_str *out) {
    if (phi__json_cursor_peek(c) == PHI_JSON_NULL)
        (void)phi__json_cursor_skip(c);
    else
        (void)phi__json_cursor_take_raw(c, out);
}

static void phi__chat_list(phi__json_cursor *c, phi_str *out) {
    if (phi__json_cursor_peek(c) == PHI_JSON_ARRAY)
        (void)phi__json_cursor_take_raw(c, out);
    else
        (void)phi__json_cursor_skip(c);
}

static void phi__chat_delta(phi__json_cursor *c, phi__chat_chunk *k) {
    const char *from = c->at;
    phi__json_text key;
    if (!phi__json_cursor_enter_object(c)) return;
    while (phi__json_cursor_next_key(c, &key)) {
        if (PHI__TEXT_IS(key, "content")) {
            if (phi__json_cursor_peek(c) == PHI_JSON_ARRAY)
                (void)phi__json_cursor_take_raw(c, &k->parts);
            else
                (void)phi__json_cursor_take_text(c, &k->content);
        } else if (PHI__TEXT_IS(key, "tool_calls"))
            phi__chat_raw(c, &k->calls);
        else if (PHI__TEXT_IS(key, "reasoning_content"))
            (void)phi__json_cursor_take_text(c, &k->reasoning[0]);
        else if (PHI__TEXT_IS(key, "reasoning"))
            (void)phi__json_cursor_take_text(c, &k->reasoning[1]);
        else if (PHI__TEXT_IS(key, "reasoning_text"))
            (void)phi__json_cursor_take_text(c, &k->reasoning[2]);
        else if (PHI__TEXT_IS(key, "reasoning_details"))
            phi__chat_raw(c, &k->details);
        else if (PHI__TEXT_IS(key, "thinking_blocks"))
            phi__chat_raw(c, &k->blocks);
        else if (PHI__TEXT_IS(key, "refusal"))
            (void)phi__json_cursor_take_text(c, &k->refusal);
        else if (PHI__TEXT_IS(key, "annotations"))
            phi__chat_list(c, &k->annotations);
        else {
            /* Keep the delta if it has a member that phi does not read. */
            phi_str raw;
            if (phi__chat_kept_wants(c, key, &raw)) k->others = raw;
        }
    }
    if (k->others.len > 0) k->others = phi__str(from, (size_t)(c->at - from));
}

/* Reads the first choice. Requests never ask for more. */
static void phi__chat_choices(phi__json_cursor *c, phi__chat_chunk *k) {
    bool first = true;
    if (!phi__json_cursor_enter_array(c)) return;
    while (phi__json_cursor_next_item(c)) {
        if (first) {
            /* A chunk's choice has `delta`, a whole answer's choice has `message`. */
            phi__json_text key;
            if (phi__json_cursor_enter_object(c)) {
                while (phi__json_cursor_next_key(c, &key)) {
                    if (PHI__TEXT_IS(key, "delta") || PHI__TEXT_IS(key, "message"))
                        phi__chat_delta(c, k);
                    else if (PHI__TEXT_IS(key, "finish_reason"))
                        (void)phi__json_cursor_take_text(c, &k->finish);
                    else if (PHI__TEXT_IS(key, "usage"))
                        phi__chat_raw(c, &k->usage);
                    else
                        (void)phi__json_cursor_skip(c);
                }
            }
        } else
            (void)phi__json_cursor_skip(c);
        first = false;
    }
}

static bool phi__chat_stream_read(phi__chat_chunk *k, phi_str data) {
    phi__json_cursor c;
    phi__json_text key;
    memset(k, 0, sizeof *k);
    if (!phi__json_cursor_in_object(&c, data)) return false;
    while (phi__json_cursor_next_key(&c, &key)) {
        if (PHI__TEXT_IS(key, "choices"))
            phi__chat_choices(&c, k);
        else if (PHI__TEXT_IS(key, "id"))
            (void)phi__json_cursor_take_text(&c, &k->id);
        else if (PHI__TEXT_IS(key, "model"))
            (void)phi__json_cursor_take_text(&c, &k->model);
        else if (PHI__TEXT_IS(key, "usage"))
            phi__chat_raw(&c, &k->usage);
        else if (PHI__TEXT_IS(key, "error"))
            (void)phi__classify_take_error(&c, &k->error);
        else if (PHI__TEXT_IS(key, "x_groq"))
            (void)phi__json_members_take(&c, phi__chat_groq_members, k);
        else if (PHI__TEXT_IS(key, "search_results")) /* sent by Perplexity */
            phi__chat_list(&c, &k->sources);
        else if (PHI__TEXT_IS(key, "citations")) /* URLs sent by Perplexity and xAI */
            phi__chat_list(&c, &k->citations);
        else
            (void)phi__json_cursor_skip(&c);
    }
    return phi__json_cursor_done(&c);
}

/* ---- usage ---- */

typedef struct phi__chat_counts {
    uint64_t prompt, output, written, reasoning;
    uint64_t read, hit, top; /* tokens read from a cache; servers use one of three places */
} phi__chat_counts;

static const phi__json_member phi__chat_prompt_members[] = {
    PHI__MEMBER(phi__chat_counts, read, "cached_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi__chat_counts, written, "cache_write_tokens", PHI__MEMBER_U64),
    PHI__MEMBERS_END};

static const phi__json_member phi__chat_output_members[] = {
    PHI__MEMBER(phi__chat_counts, reasoning, "reasoning_tokens", PHI__MEMBER_U64),
    PHI__MEMBERS_END};

static const phi__json_member phi__chat_usage_members[] = {
    PHI__MEMBER(phi__chat_counts, prompt, "prompt_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi__chat_counts, output, "completion_tokens", PHI__MEMBER_U64),
    PHI__MEMBER_INSIDE("prompt_tokens_details", phi__chat_prompt_members),
    PHI__MEMBER_INSIDE("completion_tokens_details", phi__chat_output_members),
    /* sent by DeepSeek */
    PHI__MEMBER(phi__chat_counts, hit, "prompt_cache_hit_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi__chat_counts, top, "cached_tokens", PHI__MEMBER_U64), /* sent by Moonshot */
    PHI__MEMBERS_END};

/* Stores the usage. A later usage replaces an earlier one. */
static void phi__chat_usage(phi__assembly *a, phi_str raw) {
    phi__json_cursor c;
    phi__json_cursor_init(&c, raw);
    if (raw.len == 0 || phi__json_cursor_peek(&c) != PHI_JSON_OBJECT) return;
    phi__chat_counts n = PHI_ZERO;
    (void)phi__json_members_take(&c, phi__chat_usage_members, &n);
    if (n.read == 0) n.read = n.hit != 0 ? n.hit : n.top;
    a->usage.cache_read = n.read;
    a->usage.cache_write = n.written;
    a->usage.input = n.prompt - (n.read < n.prompt ? n.read : n.prompt);
    a->usage.input -= n.written < a->usage.input ? n.written : a->usage.input;
    a->usage.output = n.output;
    a->usage.reasoning = n.reasoning;
}

/* True if the usage is known. Some servers send zeros before. */
static bool phi__chat_counted(const phi__assembly *a) {
    return a->usage.output > 0 || a->usage.input > 0;
}

/* ---- thinking and text ---- */

static void phi__chat_say(phi__chat_state *st, phi__assembly *a, phi__json_text text) {
    if (text.len == 0) return;
    if (phi__chat_splits(a))
        phi__chat_text_add(&st->text, a, text);
    else
        phi__assembly_add_text(a, phi__chat_kept_current(a, PHI_CONTENT_TEXT), text);
}

/* Reads a part of the content. False if it is neither text nor thinking. */
static bool phi__chat_part(phi__chat_state *st, phi__assembly *a, phi__json_cursor *c,
                           phi__json_text *type, size_t *n) {
    phi__json_text key, text;
    bool known = false;
    while (phi__json_cursor_next_key(c, &key)) {
        if (PHI__TEXT_IS(key, "type"))
            (void)phi__json_cursor_take_text(c, type);
        else if (PHI__TEXT_IS(key, "thinking")) {
            known = true;
            phi__chat_thinking_list(a, c, n);
        } else if (!PHI__TEXT_IS(key, "text"))
            phi__json_cursor_skip(c);
        else if (phi__json_cursor_take_text(c, &text)) {
            known = true;
            phi__chat_say(st, a, text);
        }
    }
    return known;
}

/* ---- calls ---- */

typedef struct phi__chat_call {
    phi__json_text id, name, arguments;
    phi_str object; /* arguments as an object instead of a text, as some servers send them */
    int64_t index;
    bool has_index, custom; /* custom: call of a tool without a schema, unknown to phi */
} phi__chat_call;

static void phi__chat_function(phi__json_cursor *c, phi__chat_call *call) {
    phi__json_text key;
    if (!phi__json_cursor_enter_object(c)) return;
    while (phi__json_cursor_next_key(c, &key)) {
        if (PHI__TEXT_IS(key, "name"))
            (void)phi__json_cursor_take_text(c, &call->name);
        else if (!PHI__TEXT_IS(key, "arguments"))
            (void)phi__json_cursor_skip(c);
        else if (phi__json_cursor_peek(c) == PHI_JSON_OBJECT)
            (void)phi__json_cursor_take_raw(c, &call->object);
        else
            (void)phi__json_cursor_take_text(c, &call->arguments);
    }
}

static void phi__chat_read_call(phi__json_cursor *c, phi__chat_call *call) {
    phi__json_text key;
    memset(call, 0, sizeof *call);
    if (!phi__json_cursor_enter_object(c)) return;
    while (phi__json_cursor_next_key(c, &key)) {
        if (PHI__TEXT_IS(key, "index"))
            call->has_index = phi__json_cursor_take_i64(c, &call->index);
        else if (PHI__TEXT_IS(key, "id"))
            (void)phi__json_cursor_take_text(c, &call->id);
        else if (PHI__TEXT_IS(key, "function"))
            phi__chat_function(c, call);
        else {
            call->custom = call->custom || PHI__TEXT_IS(key, "custom");
            (void)phi__json_cursor_skip(c);
        }
    }
    if (PHI__TEXT_IS(call->id, "null")) call->id.len = 0;
}

/* Finds the call of a delta: by its index, else by its id, else the last call. Another id at a
   known index means a new call. A call that was read from text has no hash, so the id is compared.
   SIZE_MAX: a new call. */
static size_t phi__chat_find_call(const phi__assembly *a, const phi__chat_call *call,
                                  uint64_t hash) {
    for (size_t i = a->count; i > 0; i--) {
        const phi__draft *d = &a->drafts[i - 1];
        if (d->kind != PHI_CONTENT_TOOL_CALL || (call->has_index && d->key != call->index))
            continue;
        if (call->id.len == 0) return i - 1;
        bool same = phi__json_cursor_text_is(call->id, phi__buf_str(&d->id));
        if (call->has_index) return same || d->id.len == 0 ? i - 1 : SIZE_MAX;
        if (d->item != 0 ? d->item == hash : same) return i - 1;
    }
    return SIZE_MAX;
}

static void phi__chat_call_delta(phi__assembly *a, const phi__chat_call *call) {
    uint64_t hash = phi__assembly_hash(a, call->id);
    size_t block = phi__chat_find_call(a, call, hash);
    if (block == SIZE_MAX) {
        size_t last = phi__chat_kept_last(a);
        if (last != SIZE_MAX && a->drafts[last].kind != PHI_CONTENT_TOOL_CALL)
            phi__assembly_close(a, last);
        block = phi__assembly_open(a, PHI_CONTENT_TOOL_CALL, call->has_index ? call->index : -1);
    }
    if (block == SIZE_MAX) return;
    phi__draft *d = &a->drafts[block];
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

static const phi__stop_word phi__chat_stop_words[] = {
    {"stop\0end\0eos\0end_turn\0", PHI_STOP_REASON_STOP, PHI_FAILURE_NONE, false},
    {"tool_calls\0function_call\0", PHI_STOP_REASON_TOOL_USE, PHI_FAILURE_NONE, false},
    {"length\0model_length\0max_tokens\0", PHI_STOP_REASON_LENGTH, PHI_FAILURE_NONE, false},
    {"content_filter\0sensitive\0", PHI_STOP_REASON_GUARD_RAIL, PHI_FAILURE_CONTENT_FILTER, false},
    {"model_context_window_exceeded\0", PHI_STOP_REASON_ERROR, PHI_FAILURE_OVERFLOW, false},
    {"abort\0", PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, false},
    {"error\0network_error\0insufficient_system_resource\0", PHI_STOP_REASON_ERROR,
     PHI_FAILURE_SERVER, true}};

static void phi__chat_close_all(phi__assembly *a) {
    for (size_t i = 0; i < a->count; i++) phi__chat_kept_close(a, i);
}

static phi__chat_ending phi__chat_ending_of(const phi__assembly *a) {
    if (a->failure.kind != PHI_FAILURE_NONE) return PHI__CHAT_BROKEN;
    return a->stop_reason == PHI_STOP_REASON_LENGTH ? PHI__CHAT_CUT : PHI__CHAT_ENDED;
}

static void phi__chat_finish(phi__chat_state *st, phi__assembly *a, phi__json_text finish,
                             bool has_usage) {
    const phi__json_text none = {NULL, 0, false};
    if (finish.at == NULL || st->finished) return;
    if (finish.len == 0) {
        st->finish_empty = true;
        return;
    }
    st->finished = a->terminal = true;
    phi__delta_cache_forget(&st->in.repeat);
    phi__assembly_put(a, &a->raw_stop_reason, finish);
    phi__classify_stop(a, phi__chat_stop_words, PHI__COUNT(phi__chat_stop_words), none);
    a->last = has_usage && phi__chat_counted(a);
    if (phi__chat_splits(a)) phi__chat_text_end(&st->text, a, phi__chat_ending_of(a));
    if (a->failure.kind == PHI_FAILURE_NONE)
        phi__chat_close_all(a);
    else
        a->awaits_usage = true; /* the calls were cut, so they stay open */
}

/* Stores citations. Each chunk's annotations are new, but a list of sources repeats earlier
   ones. */
static void phi__chat_cite(phi__chat_state *st, phi__assembly *a, const phi__chat_chunk *k) {
    phi_str sources = k->sources.len > 2 ? k->sources : k->citations;
    if (k->annotations.len > 2) {
        st->annotated = true;
        phi__chat_kept_annotations(a, k->annotations);
    } else if (sources.len > 2 && !st->annotated)
        phi__chat_kept_sources(a, sources);
}

static void phi__chat_apply(phi__chat_state *st, phi__assembly *a, const phi__chat_chunk *k) {
    bool spoken = false;
    phi__assembly_begin(a, k->id, k->model);
    for (size_t i = 0; i < PHI__COUNT(phi__chat_reasoning_fields) && !spoken; i++) {
        spoken = k->reasoning[i].len > 0; /* some servers send the same text in two fields */
        phi__chat_thinking_add(a, k->reasoning[i], phi__chat_reasoning_fields[i]);
    }
    if (k->details.len > 0)
        phi__chat_thinking_details(st, a, k->details, "reasoning_details", spoken);
    else if (k->blocks.len > 0)
        phi__chat_thinking_details(st, a, k->blocks, "thinking_blocks", spoken);
    if (k->parts.len > 0) {
        /* The content is a list of parts, as Mistral's models send it. */
        phi__json_cursor c;
        size_t n = 0;
        if (phi__json_cursor_in_array(&c, k->parts)) {
            while (phi__json_cursor_next_item(&c) && phi__assembly_takes_more(a, &n)) {
                phi__json_text type = {NULL, 0, false};
                const char *from = c.at;
                if (!phi__json_cursor_enter_object(&c)) continue;
                if (!phi__chat_part(st, a, &c, &type, &n) && type.len > 0)
                    phi__chat_kept_part(a, type,
                                        phi__str_trim(phi__str(from, (size_t)(c.at - from))));
            }
        }
    }
    if (k->content.len > 0) phi__chat_say(st, a, k->content);
    if (k->refusal.len > 0) phi__chat_say(st, a, k->refusal);
    if (k->calls.len > 0) {
        phi__json_cursor c;
        phi__chat_call call;
        size_t n = 0;
        if (phi__json_cursor_in_array(&c, k->calls)) {
            while (phi__json_cursor_next_item(&c) && phi__assembly_takes_more(a, &n)) {
                const char *from = c.at;
                if (!st->text.structured && phi__chat_splits(a))
                    phi__chat_text_end(&st->text, a, PHI__CHAT_CALLED);
                st->text.structured = true;
                if (phi__json_cursor_peek(&c) != PHI_JSON_OBJECT) {
                    phi__json_cursor_skip(&c);
                    continue;
                }
                phi__chat_read_call(&c, &call);
                if (call.custom)
                    phi__chat_kept_call(a, phi__str_trim(phi__str(from, (size_t)(c.at - from))),
                                        call.has_index, call.index, call.id.len > 0);
                else
                    phi__chat_call_delta(a, &call);
            }
        }
    }
    if (k->others.len > 0) phi__chat_kept_members(a, k->others);
    if (k->annotations.len + k->sources.len + k->citations.len > 0) phi__chat_cite(st, a, k);
    if (k->usage.len > 0) phi__chat_usage(a, k->usage);
    phi__chat_finish(st, a, k->finish, k->usage.len > 0);
}

/* Stores the chunk in the delta cache if it only adds text. */
static void phi__chat_learn(phi__chat_state *st, const phi__assembly *a, const phi__chat_chunk *k,
                            phi_str data) {
    const phi__json_text *said = &k->content;
    size_t spoken = 0;
    for (size_t i = 0; i < PHI__COUNT(phi__chat_reasoning_fields); i++)
        if (k->reasoning[i].len > 0) {
            spoken++;
            said = &k->reasoning[i];
        }
    phi__delta_cache_forget(&st->in.repeat);
    if (k->content.len > 0 && phi__chat_splits(a)) return;
    if (spoken + (k->content.len > 0 ? 1u : 0u) != 1 || k->details.len > 0 || k->blocks.len > 0 ||
        k->parts.len > 0 || k->refusal.len > 0 || k->calls.len > 0 || k->usage.len > 0 ||
        k->finish.at != NULL || k->error.len > 0 || k->annotations.len > 2 || k->others.len > 0 ||
        a->count == 0)
        return;
    phi__delta_cache_learn(&st->in.repeat, a, data, *said, phi__chat_kept_last(a));
}

/* ---- for the codec ---- */

/* Reads a chunk after the stop reason. Only usage and citations count; errors are ignored. */
static void phi__chat_late(phi__chat_state *st, phi__assembly *a, phi_str data) {
    phi__chat_chunk k;
    if (data.at[0] != '{' || !phi__chat_stream_read(&k, data)) return;
    if (phi__kept_text(a) != SIZE_MAX) phi__chat_cite(st, a, &k);
    if (k.usage.len == 0) return;
    phi__chat_usage(a, k.usage);
    a->last = phi__chat_counted(a);
}

static void phi__chat_event(void *state, phi__assembly *a, phi_str name, phi_str data) {
    phi__chat_state *st = (phi__chat_state *)state;
    phi__chat_chunk k;
    if (data.len == 0 || a->no_memory || st->done) return;
    if (st->finished && !phi__str_is(data, "[DONE]")) {
        phi__chat_late(st, a, data);
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
    if (!phi__decoding_takes(&st->in, a, name, data, false)) return;
    if (!phi__chat_stream_read(&k, data)) {
        st->in.broken = true;
        return;
    }
    if (k.error.len > 0) {
        /* The error is in x_groq or at the top level, where a status may be next to it. */
        bool top = phi__str_find(data, 0, "\"x_groq\"") == SIZE_MAX;
        if (top || k.error.at[0] != '{')
            phi__classify_event(a, data);
        else
            phi__classify_event(a, k.error);
    }
    phi__chat_apply(st, a, &k);
    phi__chat_learn(st, a, &k, data);
}

static void phi__chat_end(void *state, phi__assembly *a) {
    phi__chat_state *st = (phi__chat_state *)state;
    phi__chat_thinking_end_details(st, a);
    if (st->finished || a->failure.kind != PHI_FAILURE_NONE) return;
    if (st->finish_empty && st->done && !st->in.broken) {
        a->terminal = true;
        a->stop_reason = PHI_STOP_REASON_STOP;
        if (phi__chat_splits(a)) phi__chat_text_end(&st->text, a, PHI__CHAT_ENDED);
        phi__chat_close_all(a);
    } else {
        phi__classify_truncated(a, st->in.heard);
        if (phi__chat_splits(a)) phi__chat_text_end(&st->text, a, PHI__CHAT_BROKEN);
    }
}

static void phi__chat_whole(void *state, phi__assembly *a, phi_str body) {
    phi__chat_state *st = (phi__chat_state *)state;
    phi__chat_chunk k;
    phi__json_found choices;
    body = phi__str_trim(body);
    if (!phi__chat_stream_read(&k, body) || k.error.len > 0 ||
        phi__json_cursor_find(body, "choices[0]", &choices) != PHI_OK) {
        phi__classify_body(a, body);
        return;
    }
    st->in.heard = true;
    phi__chat_apply(st, a, &k);
    if (k.finish.at != NULL && k.finish.len == 0) st->done = true;
    phi__chat_end(state, a);
}

/* ---- requests ---- */

/* The settings that a message's rendering depends on, as bits of phi__rendered.form. The form also
   has the bits of PHI__CHAT_FORM_QUIRKS. Its lowest bits are the PHI__MEDIA_ bits. */
enum {
    PHI__CHAT_FORM = 1 << 30,
    PHI__CHAT_ORIGIN = 1 << 29,   /* the same model made the message: send reasoning */
    PHI__CHAT_THINKING = 1 << 28, /* the request asks for thinking */
    PHI__CHAT_MEDIA = 1 << 27,    /* images, documents and audio of a tool result */
    PHI__CHAT_NO_GIF = 1 << 26    /* text replaces GIFs (Ollama) */
};

/* The quirks below PHI__CHAT_NO_GIF that change the rendering of a message. For a quirk above it,
   phi__chat_form must set a bit of the enum above. */
#define PHI__CHAT_FORM_QUIRKS                                                                      \
    (PHI_QUIRK_TOOL_NAME_IN_RESULT | PHI_QUIRK_REPLAY_REASONING | PHI_QUIRK_REASONING_REQUIRED |   \
     PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_ID_9 | PHI_QUIRK_THINKING_PARTS |                         \
     PHI_QUIRK_CACHE_CONTROL | PHI_QUIRK_NO_IMAGES)

typedef char phi__chat_quirks_fit[PHI__CHAT_FORM_QUIRKS < PHI__CHAT_NO_GIF ? 1 : -1];

#define PHI__CHAT_OBJECT_LINE "Answer with one JSON object and nothing else."
#define PHI__CHAT_MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"
#define PHI__CHAT_MARK_HOUR ",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}"

static const char *phi__chat_mark(const phi__encoder *e) {
    return e->spec->cache.one_hour ? PHI__CHAT_MARK_HOUR : PHI__CHAT_MARK;
}

/* True for a thinking Claude at LiteLLM. Anthropic then refuses temperatures and forced calls. */
static bool phi__chat_claude_thinks(const phi__request_spec *spec) {
    return phi__chat_thinking_wanted(spec) &&
           (spec->model->quirks & PHI_QUIRK_CACHE_CONTROL) != 0 &&
           phi__str_is(phi_str_of(spec->model->provider), "litellm");
}

/* Writes the comma before a message. Between a tool's message and a user's message, some servers
   require an assistant's message, which is then written first. */
static void phi__chat_before(phi__encoder *e, phi_role role) {
    if (e->open_role != (phi_role)0) phi__encode_glue(e, "]}");
    e->open_role = (phi_role)0;
    if (role == PHI_ROLE_USER && e->last_role == PHI_ROLE_TOOL_RESULT &&
        phi__chat_quirk(e, PHI_QUIRK_ASSISTANT_AFTER_TOOL))
        phi__encode_glue(e, ",{\"role\":\"assistant\",\"content\":\"I have the results.\"}");
    if (e->last_role != (phi_role)0) phi__encode_glue(e, ",");
    e->last_role = role;
}

/* Tool messages hold only text. Media of all results follow in one user message. */
static uint32_t phi__chat_form(const phi__encoder *e, size_t at, bool after) {
    const phi_message *m = e->spec->items[at].message;
    bool answer = m->role == PHI_ROLE_ASSISTANT;
    uint32_t form = PHI__CHAT_FORM | e->media;
    if (!phi__render_takes(e->codec, e->spec->model, PHI__LIT("image/gif")))
        form |= (uint32_t)PHI__CHAT_NO_GIF;
    if (after) return phi__render_any(e, m, PHI__RENDER_BLOCK) ? form | PHI__CHAT_MEDIA : 0;
    form |= (uint32_t)(e->spec->model->quirks & PHI__CHAT_FORM_QUIRKS);
    if (answer && phi__render_same_origin(e, at)) form |= PHI__CHAT_ORIGIN;
    if (answer && phi__chat_thinking_on(e)) form |= PHI__CHAT_THINKING;
    return form;
}

/* Writes a user's message, or nothing if no block can be sent. */
static void phi__chat_user(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    bool parts =
        phi__render_any(e, m, PHI__RENDER_BLOCK) || phi__chat_has_block(e, m, PHI__CHAT_PART);
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (phi__chat_user_block(e, c) != PHI__CHAT_MESSAGE) continue;
        phi__json_write_comma(out);
        phi__buf_add_str(out, c->replay);
    }
    if (!parts && !phi__openai_says(e, m)) return;
    phi__json_write_item(out, "{\"role\":\"user\",\"content\":");
    if (phi__chat_quirk(e, PHI_QUIRK_CACHE_CONTROL) || parts) {
        phi__buf_char(out, '[');
        phi__render_parts(e, m, true, phi__render_said_part, phi__chat_block,
                          phi__chat_opaque_part);
        phi__buf_text(out, "]}");
    } else {
        phi__buf_char(out, '"');
        (void)phi__openai_join_text(e, m, false);
        phi__buf_text(out, "\"}");
    }
}

static void phi__chat_result(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    phi__render_id(out, "{\"role\":\"tool\",\"tool_call_id\":", m->tool_call_id,
                   phi__chat_id_rule(e->spec->model));
    if (phi__chat_quirk(e, PHI_QUIRK_TOOL_NAME_IN_RESULT))
        phi__render_name(out, ",\"name\":", m->tool_name, 64);
    phi__buf_text(out, m->is_error ? ",\"content\":\"Error: " : ",\"content\":\"");
    if (phi__openai_join_text(e, m, false))
        phi__buf_text(out, "\"}");
    else if (phi__render_any(e, m, PHI__RENDER_BLOCK))
        phi__buf_wrap(out, "(see the ", phi_str_of(phi__render_media_word(e, m)), " below)\"}");
    else
        phi__buf_text(out, "(no output)\"}");
}

static void phi__chat_render(phi__encoder *e, const phi_message *m, size_t at, uint32_t form) {
    (void)at;
    if ((form & PHI__CHAT_MEDIA) != 0)
        phi__chat_result_media(e, m);
    else if (m->role == PHI_ROLE_USER)
        phi__chat_user(e, m);
    else if (m->role == PHI_ROLE_TOOL_RESULT)
        phi__chat_result(e, m);
    else
        phi__chat_assistant(e, m, (form & PHI__CHAT_ORIGIN) != 0);
}

static void phi__chat_append(phi__encoder *e, const phi_message *m, size_t at, uint32_t form,
                             phi_str json) {
    bool after = (form & PHI__CHAT_MEDIA) != 0;
    (void)at;
    if (json.len == 0) return;
    if (after && e->open_role != (phi_role)0)
        phi__encode_glue(e, ",");
    else
        phi__chat_before(e, after ? PHI_ROLE_USER : m->role);
    if (after && e->open_role == (phi_role)0) {
        phi__encode_glue(e, "{\"role\":\"user\",\"content\":[");
        e->open_role = PHI_ROLE_USER;
    }
    phi__encode_piece(e, json);
    /* the last part gets the mark; a message that a host wrote may have no part */
    if (m->role == PHI_ROLE_USER && e->count > 0 && phi__str_ends(json, "}]}"))
        e->mark_piece = e->count - 1;
}

/* ---- around the messages ---- */

/* Returns the tool_choice. If only one tool is offered, "required" means this tool: llama.cpp
   ignores a name, LM Studio refuses it with status 400. Qwen knows names but not "required". */
static const char *phi__chat_choice(const phi__encoder *e) {
    if (e->spec->tool_choice == PHI_TOOL_CHOICE_NONE) return "\"none\"";
    if (e->spec->tool_choice == PHI_TOOL_CHOICE_AUTO || phi__chat_claude_thinks(e->spec))
        return "\"auto\"";
    if (e->spec->respond_only && phi__str_is(phi_str_of(e->spec->model->provider), "qwen"))
        return "{\"type\":\"function\",\"function\":{\"name\":\"" PHI_RESPOND_TOOL "\"}}";
    return phi__chat_quirk(e, PHI_QUIRK_TOOL_CHOICE_ANY) ? "\"any\"" : "\"required\"";
}

static void phi__chat_put_format(phi__encoder *e) {
    const phi_format *format = &e->spec->format;
    phi__buf *out = &e->scratch;
    if (format->kind == PHI_FORMAT_TEXT) return;
    if (format->kind == PHI_FORMAT_JSON_OBJECT) {
        phi__buf_text(out, ",\"response_format\":{\"type\":\"json_object\"}");
        return;
    }
    phi__buf_text(out, ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{");
    phi__openai_put_schema(e);
    phi__buf_text(out, "}}");
}

/* True if the server documents top_k, which OpenAI's API does not have. */
static bool phi__chat_has_top_k(const phi_model *model) {
    static const char *const knows[] = {"openrouter", "together",  "fireworks", "qwen",
                                        "ollama",     "llama_cpp", "vllm",      "lm_studio",
                                        "litellm",    "local",     NULL};
    return phi__codec_among(phi_str_of(model->provider), knows);
}

/* OpenAI's reasoning models refuse sampling and stop texts. Other models with an effort do not. */
static uint32_t phi__chat_takes(const phi__request_spec *spec) {
    static const char *const parallel[] = {"o1", "o3",
                                           "o4"}; /* models that refuse parallel_tool_calls */
    const phi_model *model = spec->model;
    const uint32_t reasons = PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_DEVELOPER_ROLE;
    uint32_t takes = PHI__TAKES_ALL;
    if (phi__chat_claude_thinks(spec)) takes &= ~(uint32_t)PHI__TAKES_SAMPLING;
    if (model->reasoning && (model->quirks & reasons) == reasons)
        takes &= ~(uint32_t)PHI__TAKES_SAMPLING & ~(uint32_t)PHI__TAKES_STOP;
    if (!phi__chat_has_top_k(model)) takes &= ~(uint32_t)PHI__TAKES_TOP_K;
    for (size_t i = 0; i < PHI__COUNT(parallel); i++)
        if (phi__str_is(phi_str_of(model->provider), "openai") &&
            phi__str_starts(phi_str_of(model->id), parallel[i]))
            takes &= ~(uint32_t)PHI__TAKES_SERIAL;
    return takes;
}

static void phi__chat_head(phi__encoder *e) {
    static const phi__takes_keys keys = {"temperature", "top_p", "top_k",
                                         "stop",        "seed",  "service_tier"};
    static const phi__takes_keys mistral = {"temperature", "top_p",       "top_k",
                                            "stop",        "random_seed", "service_tier"};
    const phi__request_spec *spec = e->spec;
    uint32_t takes = phi__chat_takes(spec);
    phi__buf *out = &e->scratch;
    uint32_t most = phi__takes_tokens(spec);
    phi__buf_clear(out);
    phi__buf_char(out, '{');
    phi__records_str(out, "model", phi_str_of(spec->model->id));
    phi__buf_text(out, ",\"stream\":true");
    if (!phi__chat_quirk(e, PHI_QUIRK_NO_STREAM_USAGE))
        phi__buf_text(out, ",\"stream_options\":{\"include_usage\":true}");
    if (phi__chat_quirk(e, PHI_QUIRK_STORE_FALSE)) phi__buf_text(out, ",\"store\":false");
    if (most != 0) {
        phi__buf_text(out, phi__chat_quirk(e, PHI_QUIRK_MAX_COMPLETION_TOKENS)
                               ? ",\"max_completion_tokens\":"
                               : ",\"max_tokens\":");
        phi__buf_u64(out, most);
    }
    phi__takes_put(e, phi__str_is(phi_str_of(spec->model->provider), "mistral") ? &mistral : &keys,
                   takes);
    phi__chat_thinking_put(e);
    if (phi__chat_quirk(e, PHI_QUIRK_CACHE_KEY)) phi__openai_put_cache_key(e);
    phi__chat_put_format(e);
    bool strict;
    if (e->spec->tool_count != 0) {
        phi__buf_text(out, ",\"tool_choice\":");
        phi__buf_text(out, phi__chat_choice(e));
        if (phi__chat_quirk(e, PHI_QUIRK_TOOL_STREAM)) phi__buf_text(out, ",\"tool_stream\":true");
        /* OpenAI's oldest reasoning models refuse this member: see phi__chat_takes */
        if (phi__takes_serial(e->spec, takes)) phi__buf_text(out, ",\"parallel_tool_calls\":false");
        phi__buf_text(out, ",\"tools\":[");
        for (size_t i = 0; i < e->spec->tool_count; i++) {
            if (phi__takes_raw(e, i)) continue;
            phi__buf_text(out, "{\"type\":\"function\",\"function\":{");
            strict = phi__openai_put_tool(e, &e->spec->tools[i]);
            phi__buf_text(out, strict ? ",\"strict\":true}}" : "}}");
        }
        phi__buf_char(out, ']');
    }
    phi__buf_text(out, ",\"messages\":[");
    if (!phi__render_blank(e->spec->system_prompt)) {
        phi__buf_text(out, phi__chat_quirk(e, PHI_QUIRK_DEVELOPER_ROLE) && e->spec->model->reasoning
                               ? "{\"role\":\"developer\",\"content\":"
                               : "{\"role\":\"system\",\"content\":");
        if (phi__chat_quirk(e, PHI_QUIRK_CACHE_CONTROL) &&
            phi__codec_marks(e->spec, PHI__MARK_SYSTEM)) {
            phi__buf_text(out, "[{\"type\":\"text\"");
            phi__records_str(out, "text", e->spec->system_prompt);
            phi__buf_text(out, phi__chat_mark(e));
            phi__buf_text(out, "}]}");
        } else {
            phi__json_write_str(out, e->spec->system_prompt);
            phi__buf_char(out, '}');
        }
        e->last_role = PHI_ROLE_ASSISTANT; /* any role: the next message then starts with a comma */
    }
    phi__encode_scratch(e);
}

static void phi__chat_tail(phi__encoder *e) {
    if (e->open_role != (phi_role)0) phi__encode_glue(e, "]}");
    if (phi__chat_quirk(e, PHI_QUIRK_EMPTY_TOOLS) && e->spec->tool_count == 0 && e->had_calls)
        phi__encode_glue(e, "],\"tools\":[]}");
    else
        phi__encode_glue(e, "]}");
    if (phi__chat_quirk(e, PHI_QUIRK_CACHE_CONTROL) &&
        phi__codec_marks(e->spec, PHI__MARK_MESSAGES))
        phi__encode_mark(e, 3, phi__chat_mark(e)); /* inside the "}]}" of the last part */
}

static void phi__chat_address(phi__encoder *e) {
    phi__encode_url(e, "/v1", true, "/chat/completions");
    phi__encode_accept(e, "text/event-stream");
    phi__encode_key(e, NULL);
}

/* ---- abilities ---- */

static phi__strict_form phi__chat_strict_form(const phi_model *model) {
    return (model->quirks & PHI_QUIRK_STRICT_TOOLS) != 0 ? phi__openai_strict_form(model)
                                                         : PHI__STRICT_NONE;
}

static phi__format_way phi__chat_format_way(const phi__request_spec *spec) {
    uint64_t quirks = spec->model->quirks;
    if (spec->format.kind == PHI_FORMAT_JSON_SCHEMA && (quirks & PHI_QUIRK_NO_JSON_SCHEMA) != 0)
        return PHI__FORMAT_BY_TOOL;
    if (spec->tool_count > 0 && spec->tool_choice != PHI_TOOL_CHOICE_NONE &&
        (quirks & PHI_QUIRK_FORMAT_ALONE) != 0)
        return PHI__FORMAT_BY_TOOL;
    if ((quirks & PHI_QUIRK_ENABLE_THINKING) != 0 && phi__chat_thinking_wanted(spec))
        return PHI__FORMAT_BY_TOOL; /* Qwen refuses a format together with thinking */
    return PHI__FORMAT_NATIVE;
}

static bool phi__chat_unforced(const phi__request_spec *spec) {
    static const char *const auto_only[] = {"moonshot", "zai", NULL}; /* support only "auto" */
    return phi__codec_among(phi_str_of(spec->model->provider), auto_only) ||
           phi__chat_thinking_wanted(spec);
}

/* OpenAI requires the word JSON in a message. LM Studio supports only schemas. If a server refuses
   a format together with tools, and tools must not be called, the tools are left out. */
static phi_status phi__chat_format_fit(phi__request_spec *spec, phi_arena *arena) {
    if (spec->tool_choice == PHI_TOOL_CHOICE_NONE &&
        (spec->model->quirks & PHI_QUIRK_FORMAT_ALONE) != 0)
        spec->tool_count = 0;
    if (spec->format.kind != PHI_FORMAT_JSON_OBJECT) return PHI_OK;
    if (phi__str_is(phi_str_of(spec->model->provider), "lm_studio")) {
        spec->format.kind = PHI_FORMAT_JSON_SCHEMA;
        spec->format.schema = "{\"type\":\"object\"}";
    }
    return phi__format_say(spec, arena, PHI__CHAT_OBJECT_LINE) ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- the codec ---- */

/* Returns media by provider and model name, because servers refuse unknown parts. OpenAI,
   OpenRouter and LiteLLM accept PDFs, and OpenRouter also accepts them as URLs (announcement "Audio
   Inputs and PDF URLs for Apps"). Models with audio in their names accept audio, except at Mistral,
   whose form differs. */
static uint32_t phi__chat_media(const phi_model *model) {
    static const char *const hears[] = {"audio", "omni", "voxtral", "ultravox"};
    phi_str provider = phi_str_of(model->provider), id = phi_str_of(model->id);
    bool passes = phi__str_is(provider, "openrouter") || phi__str_is(provider, "litellm");
    bool sound = passes && phi__str_find_nocase(id, 0, "gemini") != SIZE_MAX;
    uint32_t media = passes || phi__str_is(provider, "openai") ? PHI__MEDIA_PDF : 0;
    if (phi__str_is(provider, "openrouter")) media |= PHI__MEDIA_URL;
    for (size_t i = 0; i < PHI__COUNT(hears); i++)
        if (phi__str_find_nocase(id, 0, hears[i]) != SIZE_MAX) sound = true;
    if (sound && !phi__str_is(provider, "mistral")) media |= PHI__MEDIA_SOUND;
    return media;
}

static phi_thinking phi__chat_level(const phi_model *model, phi_thinking wanted) {
    bool budget = (model->quirks & PHI_QUIRK_ENABLE_THINKING) != 0; /* Qwen: a budget in tokens */
    if (budget) return wanted == PHI_THINKING_MAX ? PHI_THINKING_XHIGH : wanted;
    return phi__openai_level(model, wanted, phi__str_is(phi_str_of(model->provider), "openai"));
}

/* clang-format off */
static const char *const phi__chat_owned[] = {
    "model", "stream", "max_tokens", "max_completion_tokens", "messages", "tools", "tool_choice",
    "response_format", "stream_options.include_usage", NULL};

static const phi__codec_settings phi__chat_settings = {phi__chat_takes, phi__chat_level,
                                                       phi__chat_owned, NULL};

static const phi__codec_rules phi__chat_rules = {
    phi__chat_id_rule, phi__chat_strict_form, NULL, phi__chat_format_way, PHI__SCHEMA_IF_STRICT,
    phi__chat_format_fit, phi__chat_unforced, NULL, 0, phi__chat_media, NULL, NULL, NULL, NULL,
    NULL, &phi__chat_settings, NULL};

PHI__FN const phi__codec *phi__chat_codec(void) {
    static const phi__codec codec = {
        PHI__NAMES_OPENAI_CHAT, &phi__chat_rules, sizeof(phi__chat_state), phi__chat_head,
        phi__chat_tail, phi__chat_address, phi__chat_form, phi__chat_render, phi__chat_append,
        phi__chat_event, phi__chat_end, phi__chat_whole, NULL, NULL};
    return &codec;
}
/* clang-format on */
