/* message.c - messages as data: copying, joining text, writing and reading their interchange
   JSON. */
#include "model/model_in.h"

#include "model/citations.h"
#include "text/text_in.h"

/* ---- reads the providers' forms of citations ---- */

typedef struct phi__citations {
    phi_arena *arena;
    phi_citation *out; /* NULL: citations are only counted */
    size_t count;
    bool no_memory;
} phi__citations;

/* The sources of Google's grounding metadata, as an array, so that each is found at once. */
typedef struct phi__citations_chunks {
    const phi_json **at;
    size_t count;
} phi__citations_chunks;

static void phi__citations_add(phi__citations *list, const phi_citation *c) {
    if (c->url.len == 0 && c->title.len == 0 && c->text.len == 0) return;
    if (list->out != NULL) list->out[list->count] = *c;
    list->count++;
}

/* Returns the first of these members that is a string. names ends with NULL. */
static phi_str phi__citations_str(const phi_json *node, const char *const *names) {
    for (; *names != NULL; names++) {
        const phi_json *member = phi_json_get(node, *names);
        if (phi_json_is(member, PHI_JSON_STRING)) return phi_json_str(member, "");
    }
    return phi__str("", 0);
}

static bool phi__citations_range(phi_citation *c, const phi_json *node, const char *start,
                                 const char *end) {
    const phi_json *from = phi_json_get(node, start), *to = phi_json_get(node, end);
    if (from == NULL && to == NULL) return false;
    c->start = (size_t)phi__json_get_uint(from, 0); /* Google omits a start of 0 */
    c->end = (size_t)phi__json_get_uint(to, c->start);
    c->has_range = true;
    return true;
}

/* Reads the range in a document. Anthropic has it in the citation itself, Bedrock in `location`. */
static void phi__citations_place(phi_citation *c, const phi_json *node) {
    static const char *const places[] = {"documentChar", "documentPage", "documentChunk",
                                         "searchResultLocation"};
    const phi_json *location = phi_json_get(node, "location");
    c->in_source = phi__citations_range(c, node, "start_char_index", "end_char_index") ||
                   phi__citations_range(c, node, "start_page_number", "end_page_number") ||
                   phi__citations_range(c, node, "start_block_index", "end_block_index");
    for (size_t i = 0; i < PHI__COUNT(places) && !c->in_source; i++)
        c->in_source = phi__citations_range(c, phi_json_get(location, places[i]), "start", "end");
}

/* Returns the text of the first part of Bedrock's sourceContent. */
static phi_str phi__citations_source_text(const phi_json *node) {
    phi_json_iter it = phi_json_each(phi_json_get(node, "sourceContent"));
    return phi_json_str(phi_json_get(phi_json_next(&it), "text"), "");
}

/* Reads a citation in any form except Google's groundings. */
static void phi__citations_plain(phi__citations *list, const phi_json *node) {
    static const char *const inside[] = {
        "url_citation", "file_citation", "document_citation", "web", "retrievedContext", "maps",
        "image",        "file"};
    static const char *const urls[] = {"url", "uri", "document_uri", "sourceUri", "source", NULL};
    static const char *const titles[] = {"title",     "document_title", "filename",
                                         "file_name", "name",           NULL};
    static const char *const texts[] = {"cited_text", "text", "content", NULL};
    static const char *const web[] = {"url", NULL};
    phi_citation c = PHI_ZERO;
    const phi_json *member;
    for (size_t i = 0; i < PHI__COUNT(inside); i++) {
        member = phi_json_get(node, inside[i]);
        if (!phi_json_is(member, PHI_JSON_OBJECT)) continue;
        node = member;
        break;
    }
    c.url = phi__citations_str(phi_json_get(phi_json_get(node, "location"), "web"), web);
    if (c.url.len == 0) c.url = phi__citations_str(node, urls);
    c.title = phi__citations_str(node, titles);
    c.text = phi__citations_str(node, texts);
    if (c.text.len == 0) c.text = phi__citations_source_text(node);
    phi__citations_place(&c, node);
    if (!c.in_source && !phi__citations_range(&c, node, "start_index", "end_index") &&
        !phi__citations_range(&c, node, "startIndex", "endIndex"))
        (void)phi__citations_range(&c, node, "index", "index");
    phi__citations_add(list, &c);
}

/* Reads one of Google's groundingSupports: a part of the answer, and the indices of its sources. */
static void phi__citations_support(phi__citations *list, const phi_json *support,
                                   const phi__citations_chunks *chunks) {
    static const char *const kinds[] = {"web", "retrievedContext", "maps", "image"};
    static const char *const urls[] = {"uri", "sourceUri", NULL};
    static const char *const titles[] = {"title", NULL};
    static const char *const texts[] = {"text", NULL};
    const phi_json *segment = phi_json_get(support, "segment"), *index;
    phi_json_iter it = phi_json_each(phi_json_get(support, "groundingChunkIndices"));
    while ((index = phi_json_next(&it)) != NULL) {
        uint64_t place = phi__json_get_uint(index, UINT64_MAX);
        const phi_json *chunk = place < chunks->count ? chunks->at[place] : NULL;
        phi_citation c = PHI_ZERO;
        for (size_t i = 0; i < PHI__COUNT(kinds); i++) {
            const phi_json *source = phi_json_get(chunk, kinds[i]);
            if (!phi_json_is(source, PHI_JSON_OBJECT)) continue;
            c.url = phi__citations_str(source, urls);
            c.title = phi__citations_str(source, titles);
            break;
        }
        c.text = phi__citations_str(segment, texts);
        (void)phi__citations_range(&c, segment, "startIndex", "endIndex");
        phi__citations_add(list, &c);
    }
}

static void phi__citations_each(phi__citations *list, const phi_json *array) {
    phi_json_iter it = phi_json_each(array);
    const phi_json *node;
    while ((node = phi_json_next(&it)) != NULL) phi__citations_plain(list, node);
}

static void phi__citations_supports(phi__citations *list, const phi_json *supports,
                                    const phi_json *chunks) {
    phi_arena_mark mark = phi_arena_save(list->arena);
    phi_json_iter it = phi_json_each(chunks);
    const phi_json *node;
    phi__citations_chunks table;
    if (phi_json_count(supports) == 0) return;
    table.count = 0;
    table.at = (const phi_json **)phi_arena_alloc(
        list->arena, phi__mul(phi__max(phi_json_count(chunks), 1), sizeof *table.at));
    if (table.at == NULL) {
        list->no_memory = true;
        return;
    }
    while ((node = phi_json_next(&it)) != NULL) table.at[table.count++] = node;
    it = phi_json_each(supports);
    while ((node = phi_json_next(&it)) != NULL) phi__citations_support(list, node, &table);
    phi_arena_reset(list->arena, mark);
}

/* Reads Google's metadata of a candidate. False: the node is not such metadata. */
static bool phi__citations_google(phi__citations *list, const phi_json *node) {
    static const char *const lists[] = {"citationSources", "citations"};
    const phi_json *grounding = phi_json_get(node, "groundingMetadata");
    const phi_json *metadata = phi_json_get(node, "citationMetadata");
    size_t before = list->count;
    bool is = grounding != NULL || metadata != NULL;
    if (grounding == NULL) grounding = node;
    if (metadata == NULL) metadata = node;
    const phi_json *chunks = phi_json_get(grounding, "groundingChunks");
    const phi_json *supports = phi_json_get(grounding, "groundingSupports");
    is = is || phi_json_is(chunks, PHI_JSON_ARRAY) || phi_json_is(supports, PHI_JSON_ARRAY);
    phi__citations_supports(list, supports, chunks);
    /* without supports: all are sources of the whole answer */
    if (list->count == before) phi__citations_each(list, chunks);
    for (size_t i = 0; i < PHI__COUNT(lists); i++) {
        const phi_json *sources = phi_json_get(metadata, lists[i]);
        is = is || phi_json_is(sources, PHI_JSON_ARRAY);
        phi__citations_each(list, sources);
    }
    return is;
}

static void phi__citations_read(phi__citations *list, const phi_json *root) {
    phi_json_iter it = phi_json_each(root);
    const phi_json *node;
    list->count = 0;
    while ((node = phi_json_next(&it)) != NULL)
        if (phi_json_is(node, PHI_JSON_OBJECT) && !phi__citations_google(list, node))
            phi__citations_plain(list, node);
}

/* ---- public ---- */

PHI_API phi_status phi_citations(const phi_content *content, phi_arena *arena,
                                 const phi_citation **out, size_t *count) {
    phi__citations list = PHI_ZERO;
    phi_json *root = NULL;
    if (content == NULL || arena == NULL || out == NULL || count == NULL) return PHI_BAD_ARG;
    *out = NULL;
    *count = 0;
    if (content->citations.len == 0) return PHI_OK;
    phi_arena_mark mark = phi_arena_save(arena);
    phi_status status =
        phi_json_parse(arena, content->citations, PHI_JSON_REPLACE_BAD_UTF8, &root, NULL);
    if (status == PHI_OK && !phi_json_is(root, PHI_JSON_ARRAY)) status = PHI_PARSE;
    if (status == PHI_OK) {
        list.arena = arena;
        phi__citations_read(&list, root);
        list.out = (phi_citation *)phi_arena_alloc(
            arena, phi__mul(phi__max(list.count, 1), sizeof *list.out));
        if (list.out != NULL) phi__citations_read(&list, root);
        if (list.out == NULL || list.no_memory) status = PHI_NO_MEMORY;
    }
    if (status != PHI_OK) {
        phi_arena_reset(arena, mark);
        return status == PHI_NO_MEMORY ? status : PHI_PARSE;
    }
    *out = list.out;
    *count = list.count;
    return PHI_OK;
}

/* ---- JSON of messages and their parts, for phi's own writers and readers ----

   `scratch` is for checking text that should be JSON. Its memory is released before return. */

/* Returns the word for a role in the interchange JSON; NULL for an unknown number. Static. */
static const char *phi__message_role_word(size_t role) {
    static const char *const words[] = {"", "user", "assistant", "toolResult", "extension"};
    return role < PHI__COUNT(words) ? words[role] : NULL;
}

/* ---- copying ---- */

/* Copies the strings at these offsets of a struct. Most of these strings are empty. */
static bool phi__message_copy_at(phi_arena *arena, void *to, const uint16_t *places, size_t count) {
    for (size_t i = 0; i < count; i++) {
        phi_str *text = (phi_str *)(void *)((char *)to + places[i]);
        if (text->len == 0)
            *text = PHI__LIT("");
        else if (!phi__arena_str(arena, *text, text))
            return false;
    }
    return true;
}

PHI__FN bool phi__message_copy(const phi_message *message, phi_arena *arena, phi_message *out) {
#define PHI__AT(type, field) (uint16_t) offsetof(type, field)
    static const uint16_t of_block[] = {
        PHI__AT(phi_content, text),      PHI__AT(phi_content, data),
        PHI__AT(phi_content, mime_type), PHI__AT(phi_content, id),
        PHI__AT(phi_content, name),      PHI__AT(phi_content, arguments),
        PHI__AT(phi_content, signature), PHI__AT(phi_content, replay),
        PHI__AT(phi_content, url),       PHI__AT(phi_content, protocol),
        PHI__AT(phi_content, citations)};
    static const uint16_t of_extra[] = {
        PHI__AT(phi_message_extra, node_id), PHI__AT(phi_message_extra, parent_id),
        PHI__AT(phi_message_extra, tags), PHI__AT(phi_message_extra, provenance_hint),
        PHI__AT(phi_message_extra, role)};
    static const uint16_t of_message[] = {
        PHI__AT(phi_message, loop_id),       PHI__AT(phi_message, raw_stop_reason),
        PHI__AT(phi_message, model),         PHI__AT(phi_message, provider),
        PHI__AT(phi_message, protocol),      PHI__AT(phi_message, error_message),
        PHI__AT(phi_message, tool_call_id),  PHI__AT(phi_message, tool_name),
        PHI__AT(phi_message, details),       PHI__AT(phi_message, extension_kind),
        PHI__AT(phi_message, extension_data)};
#undef PHI__AT
    size_t n = message->content_count;
    phi_content *content = NULL;
    *out = *message;
    if (n > 0) {
        content = (phi_content *)phi_arena_alloc(arena, phi__mul(n, sizeof *content));
        if (content == NULL) return false;
    }
    out->content = content;
    for (size_t i = 0; i < n; i++) {
        content[i] = message->content[i];
        if (!phi__message_copy_at(arena, &content[i], of_block, PHI__COUNT(of_block))) return false;
    }
    if (message->extra != NULL) {
        phi_message_extra *extra = (phi_message_extra *)phi_arena_alloc(arena, sizeof *extra);
        if (extra == NULL) return false;
        *extra = *message->extra;
        if (!phi__message_copy_at(arena, extra, of_extra, PHI__COUNT(of_extra))) return false;
        out->extra = extra;
    }
    return phi__message_copy_at(arena, out, of_message, PHI__COUNT(of_message));
}

/* The most levels that a value may have. Readers accept 512 levels by default, and the objects
   around the value need some. */
enum { PHI__MESSAGE_DEPTH = 448 };

static phi_status phi__message_tree(phi_arena *scratch, phi_str text, phi_json **root) {
    phi__json_reader reader;
    phi_status status = PHI_BUSY;
    *root = NULL;
    phi__json_read_begin(&reader, scratch, text, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8,
                         PHI__MESSAGE_DEPTH);
    while (status == PHI_BUSY) status = phi__json_read_advance(&reader, SIZE_MAX);
    (void)phi__json_read_result(&reader, root, NULL);
    return status;
}

PHI__FN bool phi__message_put_json(phi__buf *out, const char *key, phi_str text, bool strings_too,
                                   phi_arena *scratch) {
    phi_arena_mark mark = phi_arena_save(scratch);
    phi_json *root;
    phi_status status = phi__message_tree(scratch, text, &root);
    bool is = status == PHI_OK && (strings_too || !phi_json_is(root, PHI_JSON_STRING));
    if (is && key != NULL) phi__json_write_key(out, phi_str_of(key));
    if (is) status = phi__json_write(out, root, 0);
    if (status == PHI_NO_MEMORY) out->failed = true;
    phi_arena_reset(scratch, mark);
    return is;
}

/* True if the text, without all its layers of JSON quotes, is empty or a JSON value. Such a text in
   a JSON string could be taken for the value itself, so its quotes are always kept. */
static bool phi__message_is_quotable(phi_str text, phi_arena *scratch, bool *no_memory) {
    phi_arena_mark mark = phi_arena_save(scratch);
    bool is = text.len == 0, more = !is;
    while (more) {
        phi_json *root;
        phi_status status = phi__message_tree(scratch, text, &root);
        if (status == PHI_NO_MEMORY) *no_memory = true;
        more = status == PHI_OK && phi_json_is(root, PHI_JSON_STRING);
        if (more) text = phi_json_str(root, "");
        if (more && text.len == 0) more = false;
        is = status == PHI_OK && !more;
    }
    phi_arena_reset(scratch, mark);
    return is;
}

/* Writes text that is not JSON as a string, so nothing is lost. A text that is itself a JSON string
   is quoted once more, and the reader removes one layer. If its content would then read as other
   JSON, the text is not quoted again. */
PHI__FN void phi__message_put_value(phi__buf *out, phi_str text, phi_arena *scratch) {
    bool no_memory = false;
    if (text.len == 0)
        phi__buf_text(out, "{}");
    else if (phi__message_put_json(out, NULL, text, false, scratch))
        return;
    else if (!phi__message_is_quotable(text, scratch, &no_memory) ||
             !phi__message_put_json(out, NULL, text, true, scratch))
        phi__json_write_str(out, text);
    if (no_memory) out->failed = true;
}

static void phi__message_put_content(phi__buf *out, const phi_content *c, phi_arena *scratch) {
    phi__json_write_comma(out);
    switch (c->kind) {
    case PHI_CONTENT_TEXT:
        phi__buf_text(out, "{\"type\":\"text\"");
        phi__records_str(out, "text", c->text);
        phi__records_some(out, "name", c->name);
        phi__records_some(out, "signature", c->signature);
        (void)phi__message_put_json(out, "replay", c->replay, true, scratch);
        phi__records_some(out, "citations", c->citations);
        break;
    case PHI_CONTENT_IMAGE:
        phi__buf_text(out, "{\"type\":\"image\"");
        phi__records_str(out, "data", c->data);
        phi__records_str(out, "mimeType", c->mime_type);
        break;
    case PHI_CONTENT_THINKING:
        phi__buf_text(out, "{\"type\":\"thinking\"");
        phi__records_str(out, "thinking", c->text);
        phi__records_some(out, "signature", c->signature);
        if (c->redacted) phi__buf_text(out, ",\"redacted\":true");
        (void)phi__message_put_json(out, "replay", c->replay, true, scratch);
        break;
    case PHI_CONTENT_TOOL_CALL:
        phi__buf_text(out, "{\"type\":\"toolCall\"");
        phi__records_str(out, "id", c->id);
        phi__records_str(out, "name", c->name);
        phi__json_write_key(out, PHI__LIT("arguments"));
        phi__message_put_value(out, c->arguments, scratch);
        phi__records_some(out, "signature", c->signature);
        if (c->incomplete) phi__buf_text(out, ",\"incomplete\":true");
        (void)phi__message_put_json(out, "replay", c->replay, true, scratch);
        break;
    case PHI_CONTENT_OPAQUE:
        phi__buf_text(out, "{\"type\":\"opaque\"");
        phi__records_str(out, "name", c->name);
        phi__records_str(out, "protocol", c->protocol);
        phi__records_str(out, "json", c->replay);
        if (c->incomplete) phi__buf_text(out, ",\"incomplete\":true");
        break;
    case PHI_CONTENT_DOCUMENT:
        phi__buf_text(out, "{\"type\":\"document\"");
        phi__records_some(out, "name", c->name);
        phi__records_some(out, "text", c->text);
        phi__records_some(out, "data", c->data);
        phi__records_some(out, "url", c->url);
        phi__records_some(out, "mimeType", c->mime_type);
        break;
    case PHI_CONTENT_AUDIO:
        phi__buf_text(out, "{\"type\":\"audio\"");
        phi__records_str(out, "data", c->data);
        phi__records_str(out, "mimeType", c->mime_type);
        break;
    }
    phi__buf_char(out, '}');
}

PHI__FN void phi__message_put_usage(phi__buf *out, const phi_usage *usage) {
    phi__json_write_key(out, PHI__LIT("usage"));
    phi__message_put_usage_value(out, usage);
}

PHI__FN void phi__message_put_usage_value(phi__buf *out, const phi_usage *usage) {
    phi__buf_char(out, '{');
    phi__records_u64(out, "input", usage->input);
    phi__records_u64(out, "output", usage->output);
    phi__records_u64(out, "reasoning", usage->reasoning);
    phi__records_u64(out, "cache_read", usage->cache_read);
    phi__records_u64(out, "cache_write", usage->cache_write);
    phi__records_u64(out, "total_tokens", usage->total_tokens);
    phi__buf_char(out, '}');
}

PHI__FN void phi__message_put_blocks(phi__buf *out, const phi_message *message,
                                     phi_arena *scratch) {
    phi__records_raw(out, "content", "[");
    for (size_t i = 0; i < message->content_count; i++)
        phi__message_put_content(out, &message->content[i], scratch);
    phi__buf_char(out, ']');
}

static void phi__message_put_extra(phi__buf *out, const phi_message_extra *extra,
                                   phi_arena *scratch) {
    if (extra == NULL) return;
    (void)phi__message_put_json(out, "nodeId", extra->node_id, false, scratch);
    (void)phi__message_put_json(out, "parentId", extra->parent_id, false, scratch);
    (void)phi__message_put_json(out, "tags", extra->tags, false, scratch);
    (void)phi__message_put_json(out, "provenanceHint", extra->provenance_hint, true, scratch);
}

PHI__FN void phi__message_put(phi__buf *out, const phi_message *message, phi_arena *scratch) {
    phi__buf_char(out, '{');
    if (message->role == PHI_ROLE_EXTENSION) {
        phi_str role = phi_str_of(phi__message_role_word(PHI_ROLE_EXTENSION));
        if (message->extra != NULL && message->extra->role.len > 0) role = message->extra->role;
        phi__records_str(out, "role", role);
        phi__records_str(out, "kind", message->extension_kind);
        phi__json_write_key(out, PHI__LIT("data"));
        if (!phi__message_put_json(out, NULL, message->extension_data, true, scratch))
            phi__buf_text(out, "null");
        phi__message_put_extra(out, message->extra, scratch);
        phi__buf_char(out, '}');
        return;
    }
    phi__records_str(out, "role", phi_str_of(phi__message_role_word((size_t)message->role)));
    if (message->role == PHI_ROLE_TOOL_RESULT) {
        phi__records_str(out, "toolCallId", message->tool_call_id);
        phi__records_str(out, "toolName", message->tool_name);
    }
    phi__message_put_blocks(out, message, scratch);
    if (message->is_update) phi__buf_text(out, ",\"update\":true");
    if (message->role == PHI_ROLE_ASSISTANT) {
        phi_stop_reason reason = message->stop_reason;
        if (reason == PHI_STOP_REASON_NONE) reason = PHI_STOP_REASON_STOP;
        phi__records_str(out, "stopReason", phi_str_of(phi__message_stop_text(reason)));
        phi__records_str(out, "model", message->model);
        phi__records_str(out, "provider", message->provider);
        phi__records_some(out, "api", message->protocol);
        phi__message_put_usage(out, &message->usage);
        phi__records_some(out, "error_message", message->error_message);
        /* two 64-bit numbers as hexadecimal digits: other readers keep only 53 bits of a number */
        char digits[33];
        if (message->prefix != 0) {
            phi__hash_hex(message->prefix, digits);
            phi__hash_hex(message->prefix_parts, digits + 16);
            phi__records_str(out, "prefix", phi__str(digits, 32));
        }
    }
    if (message->role == PHI_ROLE_TOOL_RESULT) phi__records_bool(out, "isError", message->is_error);
    phi__records_i64(out, "timestamp", message->timestamp_ms);
    if (message->loop_id.len > 0) {
        phi__records_raw(out, "turnId", "{");
        phi__records_str(out, "loopId", message->loop_id);
        phi__records_u64(out, "turnIndex", message->turn_index);
        phi__buf_char(out, '}');
    }
    phi__message_put_extra(out, message->extra, scratch);
    phi__buf_char(out, '}');
}

/* Adds without overflow: a server may report any number, and a wrapped sum would lift limits. */
static void phi__message_count(uint64_t *to, uint64_t more) { *to = phi__sum(*to, more); }

PHI__FN void phi__message_add_usage(phi_usage *to, const phi_usage *more) {
    phi__message_count(&to->input, more->input);
    phi__message_count(&to->output, more->output);
    phi__message_count(&to->reasoning, more->reasoning);
    phi__message_count(&to->cache_read, more->cache_read);
    phi__message_count(&to->cache_write, more->cache_write);
    phi__message_count(&to->total_tokens, more->total_tokens);
}

/* ---- public ---- */

PHI__FN const char *phi__message_stop_text(phi_stop_reason reason) {
    switch (reason) {
#define PHI_X(name, value, text)                                                                   \
    case PHI_STOP_REASON_##name: return text;
        PHI_STOP_REASON_LIST(PHI_X)
#undef PHI_X
    case PHI_STOP_REASON_NONE: break;
    }
    return "";
}

PHI_API phi_str phi_message_text(const phi_message *message, const char *separator,
                                 phi_arena *arena, bool *failed) {
    phi_str gap = phi_str_of(separator), none = {NULL, 0};
    size_t i, len = 0, texts = 0;
    const phi_content *only = NULL;
    char *at, *out;
    for (i = 0; i < message->content_count; i++) {
        if (message->content[i].kind != PHI_CONTENT_TEXT) continue;
        only = &message->content[i];
        if (arena == NULL) return only->text;
        len = phi__add(len, only->text.len);
        if (texts++ > 0) len = phi__add(len, gap.len);
    }
    if (texts == 0) return none;
    out = at = len == SIZE_MAX ? NULL : phi__arena_bytes(arena, len + 1);
    if (out == NULL) {
        if (failed != NULL) *failed = true;
        return none;
    }
    for (i = 0, texts = 0; i < message->content_count; i++) {
        phi_str text = message->content[i].text;
        if (message->content[i].kind != PHI_CONTENT_TEXT) continue;
        if (texts++ > 0 && gap.len > 0) {
            memcpy(at, gap.at, gap.len);
            at += gap.len;
        }
        if (text.len > 0) memcpy(at, text.at, text.len);
        at += text.len;
    }
    *at = '\0';
    return phi__str(out, len);
}

PHI_API phi_message *phi_message_copy(const phi_message *message, phi_arena *arena) {
    phi_message *out = (phi_message *)phi_arena_alloc(arena, sizeof *out);
    return out != NULL && phi__message_copy(message, arena, out) ? out : NULL;
}

PHI_API phi_status phi_message_to_json(const phi_message *message, phi_arena *arena, phi_str *out) {
    phi__buf buf;
    phi_arena scratch;
    phi__buf_init(&buf, arena->memory);
    phi_arena_init(&scratch, arena->memory, 0);
    phi__message_put(&buf, message, &scratch);
    phi_arena_free(&scratch);
    phi_status status =
        !buf.failed && phi__arena_str(arena, phi__buf_str(&buf), out) ? PHI_OK : PHI_NO_MEMORY;
    phi__buf_free(&buf);
    return status;
}

/* ---- reads messages from the interchange JSON ---- */

PHI__FN phi_str phi__message_read_provider(phi_str provider, phi_str protocol) {
    bool azure = protocol.len == 0 || phi__str_is(protocol, "azure_openai_responses") ||
                 phi__str_is(protocol, "azure_open_ai_responses");
    if (phi__str_is(provider, "openai-responses")) return PHI__LIT("openai_responses");
    return azure && phi__str_is(provider, "azure") ? PHI__LIT("azure_openai") : provider;
}

/* Each protocol's name in the Rust original's JSON, and its name in configuration files and phi.
   The original has no Interactions protocol. */
static const char *const phi__message_apis[][2] = {
    {"anthropic_messages", "anthropic_messages"},
    {"open_ai_completions", "openai_completions"},
    {"open_ai_responses", "openai_responses"},
    {"azure_open_ai_responses", "azure_openai_responses"},
    {"google_generative_ai", "google_generative_ai"},
    {"google_vertex", "google_vertex"},
    {"bedrock_converse_stream", "bedrock_converse_stream"}};

PHI__FN const char *phi__message_read_api(phi_str protocol) {
    for (size_t i = 0; i < PHI__COUNT(phi__message_apis); i++)
        if (phi__str_is(protocol, phi__message_apis[i][0]) ||
            phi__str_is(protocol, phi__message_apis[i][1]))
            return phi__message_apis[i][0];
    return NULL;
}

typedef struct phi__message_reader {
    phi_arena *arena;
    phi_parse_error *error;
    bool no_memory;
} phi__message_reader;

static phi_status phi__message_bad(phi__message_reader *r, const char *words) {
    if (r->error != NULL) {
        memset(r->error, 0, sizeof *r->error);
        memcpy(r->error->message, words, phi__min(strlen(words), sizeof r->error->message - 1));
        r->error->line = r->error->column = 1;
    }
    return PHI_PARSE;
}

PHI__FN bool phi__message_read_get_value(const phi_json *node, phi_arena *arena, phi_str *out) {
    bool no_memory = false;
    if (node == NULL) return true;
    if (phi_json_is(node, PHI_JSON_STRING) &&
        !phi__message_is_quotable(phi_json_str(node, ""), arena, &no_memory)) {
        *out = phi_json_str(node, "");
        return !no_memory;
    }
    return phi_json_write(arena, node, 0, out) != PHI_NO_MEMORY;
}

static phi_str phi__message_protocol(phi_str api) {
    for (size_t i = 0; i < PHI__COUNT(phi__message_apis); i++)
        if (phi__str_is(api, phi__message_apis[i][0])) return phi_str_of(phi__message_apis[i][1]);
    return api;
}

/* The members read from a block, roughly in the order in which they are written. */
/* clang-format off */
#define PHI__MESSAGE_BLOCK_LIST(X)                                                                 \
    X(TYPE, "type") X(TEXT, "text") X(THINKING, "thinking") X(DATA, "data")                        \
    X(MIME_TYPE, "mimeType") X(ID, "id") X(NAME, "name") X(ARGUMENTS, "arguments")                 \
    X(SIGNATURE, "signature") X(REDACTED, "redacted") X(INCOMPLETE, "incomplete")                  \
    X(REPLAY, "replay") X(CITATIONS, "citations") X(PROTOCOL, "protocol") X(JSON, "json")          \
    X(URL, "url")
/* clang-format on */

#define PHI_X(name, text) PHI__MESSAGE_BLOCK_##name,
enum { PHI__MESSAGE_BLOCK_LIST(PHI_X) PHI__MESSAGE_BLOCK_COUNT };
#undef PHI_X
#define PHI_X(name, text) PHI__JSON_NAME(text),
static const phi_str phi__message_block_names[] = {PHI__MESSAGE_BLOCK_LIST(PHI_X)};
#undef PHI_X

static bool phi__message_get_content(phi__message_reader *r, const phi_json *node,
                                     phi_content *out) {
    const phi_json *in[PHI__MESSAGE_BLOCK_COUNT];
    phi__json_get_pick(node, phi__message_block_names, PHI__MESSAGE_BLOCK_COUNT, in);
    phi_str type = phi__json_text_of(in[PHI__MESSAGE_BLOCK_TYPE]);
    memset(out, 0, sizeof *out);
    if (phi__str_is(type, "text")) {
        out->kind = PHI_CONTENT_TEXT;
        out->text = phi__json_text_of(in[PHI__MESSAGE_BLOCK_TEXT]);
        out->name = phi__json_text_of(in[PHI__MESSAGE_BLOCK_NAME]);
    } else if (phi__str_is(type, "image")) {
        out->kind = PHI_CONTENT_IMAGE;
        out->data = phi__json_text_of(in[PHI__MESSAGE_BLOCK_DATA]);
        out->mime_type = phi__json_text_of(in[PHI__MESSAGE_BLOCK_MIME_TYPE]);
    } else if (phi__str_is(type, "thinking")) {
        out->kind = PHI_CONTENT_THINKING;
        out->text = phi__json_text_of(in[PHI__MESSAGE_BLOCK_THINKING]);
        out->redacted = phi_json_bool(in[PHI__MESSAGE_BLOCK_REDACTED], false);
    } else if (phi__str_is(type, "toolCall")) {
        out->kind = PHI_CONTENT_TOOL_CALL;
        out->id = phi__json_text_of(in[PHI__MESSAGE_BLOCK_ID]);
        out->name = phi__json_text_of(in[PHI__MESSAGE_BLOCK_NAME]);
        out->arguments = PHI__LIT("{}");
        if (!phi__message_read_get_value(in[PHI__MESSAGE_BLOCK_ARGUMENTS], r->arena,
                                         &out->arguments))
            r->no_memory = true;
        out->incomplete = phi_json_bool(in[PHI__MESSAGE_BLOCK_INCOMPLETE], false);
    } else if (phi__str_is(type, "opaque")) {
        out->kind = PHI_CONTENT_OPAQUE;
        out->name = phi__json_text_of(in[PHI__MESSAGE_BLOCK_NAME]);
        out->protocol = phi__json_text_of(in[PHI__MESSAGE_BLOCK_PROTOCOL]);
        out->replay = phi__json_text_of(in[PHI__MESSAGE_BLOCK_JSON]);
        out->incomplete = phi_json_bool(in[PHI__MESSAGE_BLOCK_INCOMPLETE], false);
        return true;
    } else if (phi__str_is(type, "document")) {
        out->kind = PHI_CONTENT_DOCUMENT;
        out->name = phi__json_text_of(in[PHI__MESSAGE_BLOCK_NAME]);
        out->text = phi__json_text_of(in[PHI__MESSAGE_BLOCK_TEXT]);
        out->data = phi__json_text_of(in[PHI__MESSAGE_BLOCK_DATA]);
        out->url = phi__json_text_of(in[PHI__MESSAGE_BLOCK_URL]);
        out->mime_type = phi__json_text_of(in[PHI__MESSAGE_BLOCK_MIME_TYPE]);
        return true;
    } else if (phi__str_is(type, "audio")) {
        out->kind = PHI_CONTENT_AUDIO;
        out->data = phi__json_text_of(in[PHI__MESSAGE_BLOCK_DATA]);
        out->mime_type = phi__json_text_of(in[PHI__MESSAGE_BLOCK_MIME_TYPE]);
        return true;
    } else
        return false;
    if (out->kind == PHI_CONTENT_TEXT)
        out->citations = phi__json_text_of(in[PHI__MESSAGE_BLOCK_CITATIONS]);
    out->signature = phi__json_text_of(in[PHI__MESSAGE_BLOCK_SIGNATURE]);
    if (in[PHI__MESSAGE_BLOCK_REPLAY] != NULL &&
        phi_json_write(r->arena, in[PHI__MESSAGE_BLOCK_REPLAY], 0, &out->replay) == PHI_NO_MEMORY)
        r->no_memory = true;
    return true;
}

static phi_status phi__message_blocks(phi__message_reader *r, const phi_json *array,
                                      phi_message *out) {
    size_t n = phi_json_count(array);
    phi_content *content;
    phi_json_iter it = phi_json_each(array);
    phi_json *node;
    if (!phi_json_is(array, PHI_JSON_ARRAY))
        return phi__message_bad(r, "content: expected an array of blocks");
    if (n == 0) return PHI_OK;
    content = (phi_content *)phi_arena_alloc(r->arena, phi__mul(n, sizeof *content));
    if (content == NULL) return PHI_NO_MEMORY;
    out->content = content;
    while ((node = phi_json_next(&it)) != NULL)
        if (!phi__message_get_content(r, node, &content[out->content_count++]))
            return phi__message_bad(r, "content: expected blocks of type text, image, thinking or "
                                       "toolCall");
    return r->no_memory ? PHI_NO_MEMORY : PHI_OK;
}

PHI__FN phi_usage phi__message_read_get_usage(const phi_json *node) {
    static const phi_str names[] = {PHI__JSON_NAME("input"),       PHI__JSON_NAME("output"),
                                    PHI__JSON_NAME("reasoning"),   PHI__JSON_NAME("cache_read"),
                                    PHI__JSON_NAME("cache_write"), PHI__JSON_NAME("total_tokens")};
    const phi_json *in[PHI__COUNT(names)];
    phi_usage usage;
    phi__json_get_pick(node, names, PHI__COUNT(names), in);
    usage.input = phi__json_get_uint(in[0], 0);
    usage.output = phi__json_get_uint(in[1], 0);
    usage.reasoning = phi__json_get_uint(in[2], 0);
    usage.cache_read = phi__json_get_uint(in[3], 0);
    usage.cache_write = phi__json_get_uint(in[4], 0);
    usage.total_tokens = phi__json_get_uint(in[5], 0);
    return usage;
}

static phi_stop_reason phi__message_get_stop(phi_str text) {
#define PHI_X(name, value, words)                                                                  \
    if (phi__str_is(text, words)) return PHI_STOP_REASON_##name;
    PHI_STOP_REASON_LIST(PHI_X)
#undef PHI_X
    return PHI_STOP_REASON_STOP;
}

static phi_role phi__message_get_role(phi_str text) {
    for (size_t i = 1; i < PHI_ROLE_EXTENSION; i++)
        if (phi__str_is(text, phi__message_role_word(i))) return (phi_role)i;
    return PHI_ROLE_EXTENSION;
}

/* The members read from a message, in the order in which they are written. */
/* clang-format off */
#define PHI__MESSAGE_LIST(X)                                                                       \
    X(ROLE, "role") X(KIND, "kind") X(DATA, "data") X(CALL_ID, "toolCallId")                       \
    X(TOOL_NAME, "toolName") X(CONTENT, "content") X(STOP_REASON, "stopReason") X(MODEL, "model")  \
    X(PROVIDER, "provider") X(API, "api") X(USAGE, "usage") X(ERROR, "error_message")              \
    X(IS_ERROR, "isError") X(TIMESTAMP, "timestamp") X(TURN, "turnId") X(NODE_ID, "nodeId")        \
    X(PARENT_ID, "parentId") X(TAGS, "tags") X(HINT, "provenanceHint") X(UPDATE, "update")         \
    X(PREFIX, "prefix")
/* clang-format on */

#define PHI_X(name, text) PHI__MESSAGE_IN_##name,
enum { PHI__MESSAGE_LIST(PHI_X) PHI__MESSAGE_IN_COUNT };
#undef PHI_X
#define PHI_X(name, text) PHI__JSON_NAME(text),
static const phi_str phi__message_names[] = {PHI__MESSAGE_LIST(PHI_X)};
#undef PHI_X

static bool phi__message_is_id(const phi_json *node) {
    return phi__json_get_uint(node, 0) == phi__json_get_uint(node, 1);
}

static phi_str phi__message_json(phi__message_reader *r, const phi_json *node, bool is) {
    phi_str out = {NULL, 0};
    if (is && phi_json_write(r->arena, node, 0, &out) == PHI_NO_MEMORY) r->no_memory = true;
    return out;
}

/* Reads the extra fields. A malformed field counts as absent. role: an extension's role if it is
   not "extension", or else empty. */
static phi_status phi__message_extra(phi__message_reader *r, const phi_json *const *in,
                                     phi_str role, phi_message *out) {
    const phi_json *node = in[PHI__MESSAGE_IN_NODE_ID], *parent = in[PHI__MESSAGE_IN_PARENT_ID];
    const phi_json *tags = in[PHI__MESSAGE_IN_TAGS], *hint = in[PHI__MESSAGE_IN_HINT];
    bool has_node = phi__message_is_id(node), has_parent = phi__message_is_id(parent);
    bool has_tags = phi_json_is(tags, PHI_JSON_ARRAY) && phi_json_count(tags) > 0;
    bool has_hint = hint != NULL && !phi_json_is(hint, PHI_JSON_NULL);
    phi_message_extra *extra;
    if (!has_node && !has_parent && !has_tags && !has_hint && role.len == 0) return PHI_OK;
    extra = (phi_message_extra *)phi__arena_zero(r->arena, sizeof *extra);
    if (extra == NULL) return PHI_NO_MEMORY;
    extra->node_id = phi__message_json(r, node, has_node);
    extra->parent_id = phi__message_json(r, parent, has_parent);
    extra->tags = phi__message_json(r, tags, has_tags);
    extra->provenance_hint = phi__message_json(r, hint, has_hint);
    extra->role = role;
    out->extra = extra;
    return r->no_memory ? PHI_NO_MEMORY : PHI_OK;
}

/* True if the object looks like an extension. The Rust original ignores the role, too. */
static bool phi__message_is_extension(const phi_json *const *in) {
    return !phi_json_is(in[PHI__MESSAGE_IN_CONTENT], PHI_JSON_ARRAY) &&
           phi_json_is(in[PHI__MESSAGE_IN_KIND], PHI_JSON_STRING) &&
           in[PHI__MESSAGE_IN_DATA] != NULL;
}

static phi_status phi__message_read(phi__message_reader *r, const phi_json *root,
                                    phi_message *out) {
    const phi_json *in[PHI__MESSAGE_IN_COUNT];
    memset(out, 0, sizeof *out);
    if (!phi_json_is(root, PHI_JSON_OBJECT))
        return phi__message_bad(r, "expected an object: a message");
    phi__json_get_pick(root, phi__message_names, PHI__MESSAGE_IN_COUNT, in);
    if (!phi_json_is(in[PHI__MESSAGE_IN_ROLE], PHI_JSON_STRING))
        return phi__message_bad(r, "role: expected a string, such as \"user\"");
    phi_str role = phi__json_text_of(in[PHI__MESSAGE_IN_ROLE]);
    out->role = phi__message_is_extension(in) ? PHI_ROLE_EXTENSION : phi__message_get_role(role);
    out->timestamp_ms = phi_json_int(in[PHI__MESSAGE_IN_TIMESTAMP], 0);
    const phi_json *loop_id = phi_json_get(in[PHI__MESSAGE_IN_TURN], "loopId");
    if (phi_json_is(loop_id, PHI_JSON_STRING)) {
        out->loop_id = phi__json_text_of(loop_id);
        out->turn_index =
            (uint32_t)phi__json_get_uint(phi_json_get(in[PHI__MESSAGE_IN_TURN], "turnIndex"), 0);
    }
    if (out->role != PHI_ROLE_EXTENSION || phi__str_is(role, "extension")) role.len = 0;
    phi_status status = phi__message_extra(r, in, role, out);
    if (status != PHI_OK) return status;
    if (out->role == PHI_ROLE_EXTENSION) {
        const phi_json *data = in[PHI__MESSAGE_IN_DATA];
        if (!phi_json_is(in[PHI__MESSAGE_IN_KIND], PHI_JSON_STRING) || data == NULL)
            return phi__message_bad(r, "role: expected user, assistant, toolResult, or a kind and "
                                       "data of an extension");
        out->extension_kind = phi__json_text_of(in[PHI__MESSAGE_IN_KIND]);
        return phi_json_write(r->arena, data, 0, &out->extension_data) == PHI_NO_MEMORY
                   ? PHI_NO_MEMORY
                   : PHI_OK;
    }
    status = phi__message_blocks(r, in[PHI__MESSAGE_IN_CONTENT], out);
    if (status != PHI_OK) return status;
    if (out->role == PHI_ROLE_ASSISTANT) {
        out->stop_reason =
            phi__message_get_stop(phi__json_text_of(in[PHI__MESSAGE_IN_STOP_REASON]));
        out->model = phi__json_text_of(in[PHI__MESSAGE_IN_MODEL]);
        out->protocol = phi__message_protocol(phi__json_text_of(in[PHI__MESSAGE_IN_API]));
        out->provider = phi__message_read_provider(phi__json_text_of(in[PHI__MESSAGE_IN_PROVIDER]),
                                                   out->protocol);
        out->usage = phi__message_read_get_usage(in[PHI__MESSAGE_IN_USAGE]);
        out->error_message = phi__json_text_of(in[PHI__MESSAGE_IN_ERROR]);
        phi_str digits = phi__json_text_of(in[PHI__MESSAGE_IN_PREFIX]);
        if (digits.len == 32) {
            out->prefix = phi__hash_of_hex(digits);
            out->prefix_parts = phi__hash_of_hex(phi__str_from(digits, 16));
        }
    }
    if (out->role == PHI_ROLE_USER)
        out->is_update = phi_json_bool(in[PHI__MESSAGE_IN_UPDATE], false);
    if (out->role == PHI_ROLE_TOOL_RESULT) {
        out->tool_call_id = phi__json_text_of(in[PHI__MESSAGE_IN_CALL_ID]);
        out->tool_name = phi__json_text_of(in[PHI__MESSAGE_IN_TOOL_NAME]);
        out->is_error = phi_json_bool(in[PHI__MESSAGE_IN_IS_ERROR], false);
    }
    return PHI_OK;
}

static phi__message_reader phi__message_reader_of(phi_arena *arena, phi_parse_error *error) {
    phi__message_reader r;
    r.arena = arena;
    r.error = error;
    r.no_memory = false;
    return r;
}

PHI__FN phi_status phi__message_read_get(const phi_json *root, phi_arena *arena, phi_message *out,
                                         phi_parse_error *error) {
    phi__message_reader r = phi__message_reader_of(arena, error);
    return phi__message_read(&r, root, out);
}

PHI__FN phi_status phi__message_read_get_blocks(const phi_json *array, phi_arena *arena,
                                                phi_message *out, phi_parse_error *error) {
    phi__message_reader r = phi__message_reader_of(arena, error);
    return phi__message_blocks(&r, array, out);
}

/* ---- public ---- */

PHI_API phi_status phi_message_from_json(phi_str json, phi_arena *arena, phi_message *out,
                                         phi_parse_error *error) {
    phi_json *root = NULL;
    phi_status status = phi_json_parse(arena, json, PHI_JSON_REPLACE_BAD_UTF8, &root, error);
    if (status == PHI_TOO_BIG) status = PHI_PARSE;
    return status == PHI_OK ? phi__message_read_get(root, arena, out, error) : status;
}
