/* message_read.c - reads messages out of the interchange JSON. */
#include "model/message_in.h"

#include "text/json_in.h"

PHI__FN phi_str phi__message_read_provider(phi_str provider, phi_str protocol) {
    bool azure = protocol.len == 0 || phi__str_is(protocol, "azure_openai_responses") ||
                 phi__str_is(protocol, "azure_open_ai_responses");
    if (phi__str_is(provider, "openai-responses")) return PHI__LIT("openai_responses");
    return azure && phi__str_is(provider, "azure") ? PHI__LIT("azure_openai") : provider;
}

/* ApiProtocol: the original's JSON has "open_ai_" where configuration files, and we, write
   "openai_". The original knows no Interactions. */
static const char *const phi__message_apis[][2] = {
    {"anthropic_messages", "anthropic_messages"},
    {"open_ai_completions", "openai_completions"},
    {"open_ai_responses", "openai_responses"},
    {"azure_open_ai_responses", "azure_openai_responses"},
    {"google_generative_ai", "google_generative_ai"},
    {"google_vertex", "google_vertex"},
    {"bedrock_converse_stream", "bedrock_converse_stream"}};

PHI__FN const char *phi__message_read_api(phi_str protocol) {
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__message_apis); i++)
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

static phi_status phi__message_read_bad(phi__message_reader *r, const char *words) {
    if (r->error != NULL) {
        memset(r->error, 0, sizeof *r->error);
        memcpy(r->error->message, words, phi__min(strlen(words), sizeof r->error->message - 1));
        r->error->line = r->error->column = 1;
    }
    return PHI_PARSE;
}

/* The tree's strings live as long as the arena: nothing to copy. */
static phi_str phi__message_read_str(const phi_json *node) { return phi__json_text_of(node); }

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

static phi_str phi__message_read_protocol(phi_str api) {
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__message_apis); i++)
        if (phi__str_is(api, phi__message_apis[i][0])) return phi_str_of(phi__message_apis[i][1]);
    return api;
}

/* The members of a block that are read, about in the order in which they are written. */
#define PHI__MESSAGE_BLOCK_LIST(X)                                                                 \
    X(TYPE, "type")                                                                                \
    X(TEXT, "text")                                                                                \
    X(THINKING, "thinking")                                                                        \
    X(DATA, "data")                                                                                \
    X(MIME_TYPE, "mimeType")                                                                       \
    X(ID, "id")                                                                                    \
    X(NAME, "name")                                                                                \
    X(ARGUMENTS, "arguments")                                                                      \
    X(SIGNATURE, "signature")                                                                      \
    X(REDACTED, "redacted")                                                                        \
    X(INCOMPLETE, "incomplete")                                                                    \
    X(REPLAY, "replay")                                                                            \
    X(CITATIONS, "citations")                                                                      \
    X(PROTOCOL, "protocol")                                                                        \
    X(JSON, "json")                                                                                \
    X(URL, "url")

#define PHI_X(name, text) PHI__MESSAGE_BLOCK_##name,
enum { PHI__MESSAGE_BLOCK_LIST(PHI_X) PHI__MESSAGE_BLOCK_COUNT };
#undef PHI_X
#define PHI_X(name, text) PHI__JSON_NAME(text),
static const phi_str phi__message_block_names[] = {PHI__MESSAGE_BLOCK_LIST(PHI_X)};
#undef PHI_X

static bool phi__message_read_get_content(phi__message_reader *r, const phi_json *node,
                                          phi_content *out) {
    const phi_json *in[PHI__MESSAGE_BLOCK_COUNT];
    phi_str type;
    phi__json_get_pick(node, phi__message_block_names, PHI__MESSAGE_BLOCK_COUNT, in);
    type = phi__message_read_str(in[PHI__MESSAGE_BLOCK_TYPE]);
    memset(out, 0, sizeof *out);
    if (phi__str_is(type, "text")) {
        out->kind = PHI_CONTENT_TEXT;
        out->text = phi__message_read_str(in[PHI__MESSAGE_BLOCK_TEXT]);
        out->name = phi__message_read_str(in[PHI__MESSAGE_BLOCK_NAME]);
    } else if (phi__str_is(type, "image")) {
        out->kind = PHI_CONTENT_IMAGE;
        out->data = phi__message_read_str(in[PHI__MESSAGE_BLOCK_DATA]);
        out->mime_type = phi__message_read_str(in[PHI__MESSAGE_BLOCK_MIME_TYPE]);
    } else if (phi__str_is(type, "thinking")) {
        out->kind = PHI_CONTENT_THINKING;
        out->text = phi__message_read_str(in[PHI__MESSAGE_BLOCK_THINKING]);
        out->redacted = phi_json_bool(in[PHI__MESSAGE_BLOCK_REDACTED], false);
    } else if (phi__str_is(type, "toolCall")) {
        out->kind = PHI_CONTENT_TOOL_CALL;
        out->id = phi__message_read_str(in[PHI__MESSAGE_BLOCK_ID]);
        out->name = phi__message_read_str(in[PHI__MESSAGE_BLOCK_NAME]);
        out->arguments = PHI__LIT("{}");
        if (!phi__message_read_get_value(in[PHI__MESSAGE_BLOCK_ARGUMENTS], r->arena,
                                         &out->arguments))
            r->no_memory = true;
        out->incomplete = phi_json_bool(in[PHI__MESSAGE_BLOCK_INCOMPLETE], false);
    } else if (phi__str_is(type, "opaque")) {
        out->kind = PHI_CONTENT_OPAQUE;
        out->name = phi__message_read_str(in[PHI__MESSAGE_BLOCK_NAME]);
        out->protocol = phi__message_read_str(in[PHI__MESSAGE_BLOCK_PROTOCOL]);
        out->replay = phi__message_read_str(in[PHI__MESSAGE_BLOCK_JSON]);
        out->incomplete = phi_json_bool(in[PHI__MESSAGE_BLOCK_INCOMPLETE], false);
        return true;
    } else if (phi__str_is(type, "document")) {
        out->kind = PHI_CONTENT_DOCUMENT;
        out->name = phi__message_read_str(in[PHI__MESSAGE_BLOCK_NAME]);
        out->text = phi__message_read_str(in[PHI__MESSAGE_BLOCK_TEXT]);
        out->data = phi__message_read_str(in[PHI__MESSAGE_BLOCK_DATA]);
        out->url = phi__message_read_str(in[PHI__MESSAGE_BLOCK_URL]);
        out->mime_type = phi__message_read_str(in[PHI__MESSAGE_BLOCK_MIME_TYPE]);
        return true;
    } else if (phi__str_is(type, "audio")) {
        out->kind = PHI_CONTENT_AUDIO;
        out->data = phi__message_read_str(in[PHI__MESSAGE_BLOCK_DATA]);
        out->mime_type = phi__message_read_str(in[PHI__MESSAGE_BLOCK_MIME_TYPE]);
        return true;
    } else
        return false;
    if (out->kind == PHI_CONTENT_TEXT)
        out->citations = phi__message_read_str(in[PHI__MESSAGE_BLOCK_CITATIONS]);
    out->signature = phi__message_read_str(in[PHI__MESSAGE_BLOCK_SIGNATURE]);
    if (in[PHI__MESSAGE_BLOCK_REPLAY] != NULL &&
        phi_json_write(r->arena, in[PHI__MESSAGE_BLOCK_REPLAY], 0, &out->replay) == PHI_NO_MEMORY)
        r->no_memory = true;
    return true;
}

static phi_status phi__message_read_blocks(phi__message_reader *r, const phi_json *array,
                                           phi_message *out) {
    size_t n = phi_json_count(array);
    phi_content *content;
    phi_json_iter it = phi_json_each(array);
    phi_json *node;
    if (!phi_json_is(array, PHI_JSON_ARRAY))
        return phi__message_read_bad(r, "content: expected an array of blocks");
    if (n == 0) return PHI_OK;
    content = (phi_content *)phi_arena_alloc(r->arena, phi__mul(n, sizeof *content));
    if (content == NULL) return PHI_NO_MEMORY;
    out->content = content;
    while ((node = phi_json_next(&it)) != NULL)
        if (!phi__message_read_get_content(r, node, &content[out->content_count++]))
            return phi__message_read_bad(
                r, "content: expected blocks of type text, image, thinking or "
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

static phi_stop_reason phi__message_read_get_stop(phi_str text) {
#define PHI_X(name, value, words)                                                                  \
    if (phi__str_is(text, words)) return PHI_STOP_REASON_##name;
    PHI_STOP_REASON_LIST(PHI_X)
#undef PHI_X
    return PHI_STOP_REASON_STOP;
}

static phi_role phi__message_read_get_role(phi_str text) {
    size_t i;
    for (i = 1; i < PHI_ROLE_EXTENSION; i++)
        if (phi__str_is(text, phi__message_role_word(i))) return (phi_role)i;
    return PHI_ROLE_EXTENSION;
}

/* The members of a message that are read, in the order in which they are written. */
#define PHI__MESSAGE_LIST(X)                                                                       \
    X(ROLE, "role")                                                                                \
    X(KIND, "kind")                                                                                \
    X(DATA, "data")                                                                                \
    X(CALL_ID, "toolCallId")                                                                       \
    X(TOOL_NAME, "toolName")                                                                       \
    X(CONTENT, "content")                                                                          \
    X(STOP_REASON, "stopReason")                                                                   \
    X(MODEL, "model")                                                                              \
    X(PROVIDER, "provider")                                                                        \
    X(API, "api")                                                                                  \
    X(USAGE, "usage")                                                                              \
    X(ERROR, "error_message")                                                                      \
    X(IS_ERROR, "isError")                                                                         \
    X(TIMESTAMP, "timestamp")                                                                      \
    X(TURN, "turnId")                                                                              \
    X(NODE_ID, "nodeId")                                                                           \
    X(PARENT_ID, "parentId")                                                                       \
    X(TAGS, "tags")                                                                                \
    X(HINT, "provenanceHint")                                                                      \
    X(UPDATE, "update")                                                                            \
    X(PREFIX, "prefix")

#define PHI_X(name, text) PHI__MESSAGE_IN_##name,
enum { PHI__MESSAGE_LIST(PHI_X) PHI__MESSAGE_IN_COUNT };
#undef PHI_X
#define PHI_X(name, text) PHI__JSON_NAME(text),
static const phi_str phi__message_names[] = {PHI__MESSAGE_LIST(PHI_X)};
#undef PHI_X

static phi_status phi__message_read_extension(phi__message_reader *r, const phi_json *const *in,
                                              phi_message *out) {
    const phi_json *data = in[PHI__MESSAGE_IN_DATA];
    if (!phi_json_is(in[PHI__MESSAGE_IN_KIND], PHI_JSON_STRING) || data == NULL)
        return phi__message_read_bad(r, "role: expected user, assistant, toolResult, or a kind and "
                                        "data of an extension");
    out->extension_kind = phi__message_read_str(in[PHI__MESSAGE_IN_KIND]);
    return phi_json_write(r->arena, data, 0, &out->extension_data) == PHI_NO_MEMORY ? PHI_NO_MEMORY
                                                                                    : PHI_OK;
}

static void phi__message_read_turn(const phi_json *turn, phi_message *out) {
    const phi_json *loop_id = phi_json_get(turn, "loopId");
    if (!phi_json_is(loop_id, PHI_JSON_STRING)) return;
    out->loop_id = phi__message_read_str(loop_id);
    out->turn_index = (uint32_t)phi__json_get_uint(phi_json_get(turn, "turnIndex"), 0);
}

static bool phi__message_read_is_id(const phi_json *node) {
    return phi__json_get_uint(node, 0) == phi__json_get_uint(node, 1);
}

static phi_str phi__message_read_json(phi__message_reader *r, const phi_json *node, bool is) {
    phi_str out = {NULL, 0};
    if (is && phi_json_write(r->arena, node, 0, &out) == PHI_NO_MEMORY) r->no_memory = true;
    return out;
}

/* A malformed field counts as absent. role: of an extension, where that is not "extension". */
static phi_status phi__message_read_extra(phi__message_reader *r, const phi_json *const *in,
                                          phi_str role, phi_message *out) {
    const phi_json *node = in[PHI__MESSAGE_IN_NODE_ID], *parent = in[PHI__MESSAGE_IN_PARENT_ID];
    const phi_json *tags = in[PHI__MESSAGE_IN_TAGS], *hint = in[PHI__MESSAGE_IN_HINT];
    bool has_node = phi__message_read_is_id(node), has_parent = phi__message_read_is_id(parent);
    bool has_tags = phi_json_is(tags, PHI_JSON_ARRAY) && phi_json_count(tags) > 0;
    bool has_hint = hint != NULL && !phi_json_is(hint, PHI_JSON_NULL);
    phi_message_extra *extra;
    if (!has_node && !has_parent && !has_tags && !has_hint && role.len == 0) return PHI_OK;
    extra = (phi_message_extra *)phi__arena_zero(r->arena, sizeof *extra);
    if (extra == NULL) return PHI_NO_MEMORY;
    extra->node_id = phi__message_read_json(r, node, has_node);
    extra->parent_id = phi__message_read_json(r, parent, has_parent);
    extra->tags = phi__message_read_json(r, tags, has_tags);
    extra->provenance_hint = phi__message_read_json(r, hint, has_hint);
    extra->role = role;
    out->extra = extra;
    return r->no_memory ? PHI_NO_MEMORY : PHI_OK;
}

/* Whether it is an extension by its shape: the original takes it for one under any role. */
static bool phi__message_read_is_extension(const phi_json *const *in) {
    return !phi_json_is(in[PHI__MESSAGE_IN_CONTENT], PHI_JSON_ARRAY) &&
           phi_json_is(in[PHI__MESSAGE_IN_KIND], PHI_JSON_STRING) &&
           in[PHI__MESSAGE_IN_DATA] != NULL;
}

/* Sixteen hexadecimal digits; anything else is 0. */
static uint64_t phi__message_read_hash(phi_str digits) {
    uint64_t n = 0;
    size_t i;
    for (i = 0; i < digits.len; i++) {
        char c = digits.at[i];
        if (c >= '0' && c <= '9')
            n = n << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            n = n << 4 | (uint64_t)(c - 'a' + 10);
        else
            return 0;
    }
    return n;
}

static void phi__message_read_prefix(const phi_json *node, phi_message *out) {
    phi_str digits = phi__message_read_str(node);
    if (digits.len != 32) return;
    out->prefix = phi__message_read_hash(phi__str(digits.at, 16));
    out->prefix_parts = phi__message_read_hash(phi__str(digits.at + 16, 16));
}

static phi_status phi__message_read(phi__message_reader *r, const phi_json *root,
                                    phi_message *out) {
    const phi_json *in[PHI__MESSAGE_IN_COUNT];
    phi_status status;
    phi_str role;
    memset(out, 0, sizeof *out);
    if (!phi_json_is(root, PHI_JSON_OBJECT))
        return phi__message_read_bad(r, "expected an object: a message");
    phi__json_get_pick(root, phi__message_names, PHI__MESSAGE_IN_COUNT, in);
    if (!phi_json_is(in[PHI__MESSAGE_IN_ROLE], PHI_JSON_STRING))
        return phi__message_read_bad(r, "role: expected a string, such as \"user\"");
    role = phi__message_read_str(in[PHI__MESSAGE_IN_ROLE]);
    out->role =
        phi__message_read_is_extension(in) ? PHI_ROLE_EXTENSION : phi__message_read_get_role(role);
    out->timestamp_ms = phi_json_int(in[PHI__MESSAGE_IN_TIMESTAMP], 0);
    phi__message_read_turn(in[PHI__MESSAGE_IN_TURN], out);
    if (out->role != PHI_ROLE_EXTENSION || phi__str_is(role, "extension")) role.len = 0;
    status = phi__message_read_extra(r, in, role, out);
    if (status != PHI_OK) return status;
    if (out->role == PHI_ROLE_EXTENSION) return phi__message_read_extension(r, in, out);
    status = phi__message_read_blocks(r, in[PHI__MESSAGE_IN_CONTENT], out);
    if (status != PHI_OK) return status;
    if (out->role == PHI_ROLE_ASSISTANT) {
        out->stop_reason =
            phi__message_read_get_stop(phi__message_read_str(in[PHI__MESSAGE_IN_STOP_REASON]));
        out->model = phi__message_read_str(in[PHI__MESSAGE_IN_MODEL]);
        out->protocol = phi__message_read_protocol(phi__message_read_str(in[PHI__MESSAGE_IN_API]));
        out->provider = phi__message_read_provider(
            phi__message_read_str(in[PHI__MESSAGE_IN_PROVIDER]), out->protocol);
        out->usage = phi__message_read_get_usage(in[PHI__MESSAGE_IN_USAGE]);
        out->error_message = phi__message_read_str(in[PHI__MESSAGE_IN_ERROR]);
        phi__message_read_prefix(in[PHI__MESSAGE_IN_PREFIX], out);
    }
    if (out->role == PHI_ROLE_USER)
        out->is_update = phi_json_bool(in[PHI__MESSAGE_IN_UPDATE], false);
    if (out->role == PHI_ROLE_TOOL_RESULT) {
        out->tool_call_id = phi__message_read_str(in[PHI__MESSAGE_IN_CALL_ID]);
        out->tool_name = phi__message_read_str(in[PHI__MESSAGE_IN_TOOL_NAME]);
        out->is_error = phi_json_bool(in[PHI__MESSAGE_IN_IS_ERROR], false);
    }
    return PHI_OK;
}

static phi__message_reader phi__message_read_reader_of(phi_arena *arena, phi_parse_error *error) {
    phi__message_reader r;
    r.arena = arena;
    r.error = error;
    r.no_memory = false;
    return r;
}

PHI__FN phi_status phi__message_read_get(const phi_json *root, phi_arena *arena, phi_message *out,
                                         phi_parse_error *error) {
    phi__message_reader r = phi__message_read_reader_of(arena, error);
    return phi__message_read(&r, root, out);
}

PHI__FN phi_status phi__message_read_get_blocks(const phi_json *array, phi_arena *arena,
                                                phi_message *out, phi_parse_error *error) {
    phi__message_reader r = phi__message_read_reader_of(arena, error);
    return phi__message_read_blocks(&r, array, out);
}

/* ---- public ---- */

PHI_API phi_status phi_message_from_json(phi_str json, phi_arena *arena, phi_message *out,
                                         phi_parse_error *error) {
    phi_json *root = NULL;
    phi_status status = phi_json_parse(arena, json, PHI_JSON_REPLACE_BAD_UTF8, &root, error);
    if (status == PHI_TOO_BIG) status = PHI_PARSE;
    return status == PHI_OK ? phi__message_read_get(root, arena, out, error) : status;
}
