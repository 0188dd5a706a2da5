/* queries.c - lists of models and counts of tokens by protocol, 2026-11 (docs/providers.md). */
#include "codecs/codecs_in.h"
#include "codecs/names_in.h"

static const char *const phi__queries_anthropic[] = {
    "model",       "messages",           "system",        "tools",
    "tool_choice", "thinking",           "mcp_servers",   "output_config",
    "speed",       "context_management", "cache_control", NULL};
static const char *const phi__queries_responses[] = {
    "model", "input",     "instructions",        "tools",      "tool_choice",
    "text",  "reasoning", "parallel_tool_calls", "truncation", NULL};
static const char *const phi__queries_vertex[] = {"contents", "systemInstruction", "tools",
                                                  "generationConfig", NULL};
static const char *const phi__queries_bedrock[] = {"messages", "system", "toolConfig",
                                                   "additionalModelRequestFields", NULL};

static const phi__queries phi__queries_rows[] = {
    {PHI__NAMES_ANTHROPIC, "/messages", "/models", "limit=1000", "after_id", "/messages",
     "/messages/count_tokens", phi__queries_anthropic, "{", "}", false, "input_tokens"},
    {PHI__NAMES_OPENAI_CHAT, "/chat/completions", "/models", NULL, NULL, NULL, NULL, NULL, NULL,
     NULL, false, NULL},
    {PHI__NAMES_OPENAI_RESPONSES, "/responses", "/models", NULL, NULL, "/responses",
     "/responses/input_tokens", phi__queries_responses, "{", "}", false, "input_tokens"},
    {PHI__NAMES_AZURE, "/responses", "/models", NULL, NULL, NULL, NULL, NULL, NULL, NULL, false,
     NULL},
    {PHI__NAMES_GEMINI, "/models/", "/models", "pageSize=1000", "pageToken",
     ":streamGenerateContent", ":countTokens", NULL, "{\"generateContentRequest\":{", "}}", true,
     "totalTokens"},
    {PHI__NAMES_VERTEX, "/models/", NULL, NULL, NULL, ":streamGenerateContent", ":countTokens",
     phi__queries_vertex, "{", "}", false, "totalTokens"},
    {PHI__NAMES_INTERACTIONS, "/interactions", "/models", "pageSize=1000", "pageToken", NULL, NULL,
     NULL, NULL, NULL, false, NULL},
    {PHI__NAMES_BEDROCK, "/model/", "/foundation-models", NULL, NULL, "/converse-stream",
     "/count-tokens", phi__queries_bedrock, "{\"input\":{\"converse\":{", "}}}", false,
     "inputTokens"}};

PHI__FN const phi__queries *phi__queries_of(const phi__codec *codec) {
    for (size_t i = 0; codec->names[0] != NULL && i < PHI__COUNT(phi__queries_rows); i++)
        if (phi__codec_is(phi__queries_rows[i].names, phi_str_of(codec->names[0])))
            return &phi__queries_rows[i];
    return NULL;
}

/* ---- URLs ---- */

/* Splits a URL at the last `mark` in its path. False if there is none. */
static bool phi__queries_split(phi_str url, const char *mark, phi_str *head, phi_str *query) {
    size_t end = phi__str_find(url, 0, "?"), at = SIZE_MAX, from = 0;
    phi_str path = url;
    if (end != SIZE_MAX) path.len = end;
    *query = phi__str_from(url, path.len);
    while ((from = phi__str_find(path, from, mark)) != SIZE_MAX) at = from++;
    if (at == SIZE_MAX) return false;
    *head = phi__str(url.at, at);
    return true;
}

/* Appends the query without "alt=sse", which Google's model calls use. */
static void phi__queries_put_query(phi__buf *out, phi_str query) {
    size_t at = 1;
    char sign = '?';
    while (at < query.len) {
        size_t end = phi__str_find(query, at, "&");
        phi_str part = phi__str(query.at + at, (end == SIZE_MAX ? query.len : end) - at);
        at += part.len + 1;
        if (part.len == 0 || phi__str_is(part, "alt=sse")) continue;
        phi__buf_char(out, sign);
        phi__buf_add_str(out, part);
        sign = '&';
    }
}

static void phi__queries_put_parameter(phi__buf *out, size_t from, const char *name,
                                       phi_str value) {
    if (out->failed) return;
    bool any = phi__str_find(phi__str(out->at + from, out->len - from), 0, "?") != SIZE_MAX;
    phi__buf_char(out, any ? '&' : '?');
    phi__buf_text(out, name);
    if (value.len > 0) phi__buf_char(out, '=');
    phi__buf_percent(out, value, "-_.~");
}

/* Appends the head of a list's URL. For lists Bedrock has the host "bedrock.", not
   "bedrock-runtime.". */
static void phi__queries_put_host(phi__buf *out, phi_str head) {
    static const char runtime[] = "://bedrock-runtime", plain[] = "://bedrock";
    size_t at = phi__str_find(head, 0, runtime), end = at + sizeof runtime - 1;
    if (at == SIZE_MAX) {
        phi__buf_add_str(out, head);
        return;
    }
    phi__buf_add(out, head.at, at);
    phi__buf_text(out, plain);
    phi__buf_add(out, head.at + end, head.len - end);
}

PHI__FN bool phi__queries_models_url(const phi__queries *q, phi_str url, phi_str page,
                                     phi__buf *out) {
    phi_str head, query;
    size_t from = out->len;
    if (q->models == NULL || !phi__queries_split(url, q->call, &head, &query)) return false;
    phi__queries_put_host(out, head);
    phi__buf_text(out, q->models);
    phi__queries_put_query(out, query);
    if (q->size != NULL) phi__queries_put_parameter(out, from, q->size, phi__str("", 0));
    if (q->next != NULL && page.len > 0) phi__queries_put_parameter(out, from, q->next, page);
    return true;
}

PHI__FN bool phi__queries_count_url(const phi__queries *q, phi_str url, phi__buf *out) {
    phi_str head, query;
    if (q->count == NULL || !phi__queries_split(url, q->counted, &head, &query)) return false;
    phi__buf_add_str(out, head);
    phi__buf_text(out, q->count);
    phi__queries_put_query(out, query);
    return true;
}

/* ---- the body of a count ---- */

/* Moves the kept members to the left over the others. The text never grows. */
PHI__FN bool phi__queries_members(const phi__queries *q, char *body, size_t len, phi_str *out) {
    phi__json_cursor c;
    phi__json_text key;
    phi_str value;
    size_t n = 0;
    if (!phi__json_cursor_in_object(&c, phi__str(body, len))) return false;
    while (phi__json_cursor_next_key(&c, &key)) {
        if (!phi__json_cursor_take_raw(&c, &value)) break;
        if (q->kept != NULL && !phi__opaque_knows(q->kept, key)) continue;
        if (n > 0) body[n++] = ',';
        body[n++] = '"';
        memmove(body + n, key.at, key.len);
        n += key.len;
        body[n++] = '"';
        body[n++] = ':';
        memmove(body + n, value.at, value.len);
        n += value.len;
    }
    *out = phi__str(body, n);
    return !c.bad;
}

PHI__FN void phi__queries_before(const phi__queries *q, const phi_model *model, bool any,
                                 phi__buf *out) {
    phi_str id = phi__str_trim(phi_str_of(model->id));
    phi__buf_text(out, q->before);
    if (!q->names_model) return;
    phi__buf_text(out, phi__str_starts(id, "models/") ? "\"model\":\"" : "\"model\":\"models/");
    phi__json_write_part(out, id);
    phi__buf_text(out, any ? "\"," : "\"");
}

/* ---- answers ---- */

/* Returns the first of the members that is a number above 0. Returns 0 if there is none. */
static uint64_t phi__queries_number(const phi_json *item, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const phi_json *value = phi_json_path(item, names[i]);
        if (phi_json_is(value, PHI_JSON_INTEGER) && phi_json_int(value, 0) > 0)
            return phi__json_get_uint(value, 0);
    }
    return 0;
}

static phi_str phi__queries_text(const phi_json *item, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        phi_str text = phi_json_str(phi_json_get(item, names[i]), "");
        if (text.len > 0) return text;
    }
    return phi__str("", 0);
}

/* Reads a model, under the different names of the providers' lists. False if it has no id. */
static bool phi__queries_item(const phi_json *item, phi_model_info *info) {
    static const char *const ids[] = {"id", "modelId", "name"};
    static const char *const names[] = {"display_name", "displayName", "modelName", "name"};
    static const char *const windows[] = {"max_input_tokens", "inputTokenLimit",
                                          "context_length",   "context_window",
                                          "max_model_len",    "max_context_length"};
    static const char *const outputs[] = {"max_tokens", "outputTokenLimit", "max_completion_tokens",
                                          "top_provider.max_completion_tokens"};
    memset(info, 0, sizeof *info);
    info->id = phi__queries_text(item, ids, PHI__COUNT(ids));
    if (phi__str_starts(info->id, "models/")) info->id = phi__str_from(info->id, 7);
    info->name = phi__queries_text(item, names, PHI__COUNT(names));
    info->context_window = phi__queries_number(item, windows, PHI__COUNT(windows));
    info->max_tokens = phi__queries_number(item, outputs, PHI__COUNT(outputs));
    const phi_json *said = phi_json_path(item, "capabilities.thinking.supported");
    const phi_json *parameters = phi_json_get(item, "supported_parameters"), *one;
    phi_json_iter it = phi_json_each(parameters);
    if (said == NULL) said = phi_json_get(item, "thinking");
    info->reasoning_known =
        phi_json_is(said, PHI_JSON_BOOL) || phi_json_is(parameters, PHI_JSON_ARRAY);
    info->reasoning = phi_json_bool(said, false);
    while ((one = phi_json_next(&it)) != NULL)
        if (phi__str_is(phi_json_str(one, ""), "reasoning")) info->reasoning = true;
    return info->id.len > 0;
}

typedef struct phi__queries_reading {
    phi_arena *arena;
    bool (*take)(void *ctx, const phi_model_info *info);
    void *ctx;
    bool listed; /* a list was found */
    phi_status status;
    bool more;
    phi__json_text last, token; /* cursor of the next page: last_id, nextPageToken */
} phi__queries_reading;

/* Reads an array of models, each as a small tree. */
static void phi__queries_list(phi__queries_reading *r, phi__json_cursor *c) {
    phi_model_info info;
    phi_json *item;
    phi_str raw;
    r->listed = true;
    while (r->status == PHI_OK && phi__json_cursor_next_item(c)) {
        phi_arena_mark mark = phi_arena_save(r->arena);
        if (!phi__json_cursor_take_raw(c, &raw)) return;
        r->status = phi_json_parse(r->arena, raw, 0, &item, NULL);
        if (r->status == PHI_OK && phi__queries_item(item, &info) && !r->take(r->ctx, &info))
            r->status = PHI_NO_MEMORY;
        phi_arena_reset(r->arena, mark);
    }
}

static void phi__queries_member(phi__queries_reading *r, phi__json_cursor *c, phi__json_text key) {
    if (!r->listed && (PHI__TEXT_IS(key, "data") || PHI__TEXT_IS(key, "models") ||
                       PHI__TEXT_IS(key, "modelSummaries"))) {
        if (phi__json_cursor_enter_array(c)) phi__queries_list(r, c);
    } else if (PHI__TEXT_IS(key, "has_more"))
        (void)phi__json_cursor_take_bool(c, &r->more);
    else if (PHI__TEXT_IS(key, "last_id"))
        (void)phi__json_cursor_take_text(c, &r->last);
    else if (PHI__TEXT_IS(key, "nextPageToken"))
        (void)phi__json_cursor_take_text(c, &r->token);
    else
        (void)phi__json_cursor_skip(c);
}

PHI__FN phi_status phi__queries_page(const phi__queries *q, phi_str body, phi_arena *arena,
                                     bool (*take)(void *ctx, const phi_model_info *info), void *ctx,
                                     phi_str *next) {
    phi__queries_reading r = PHI_ZERO;
    phi__json_cursor c;
    phi__json_text key;
    *next = phi__str("", 0);
    r.arena = arena;
    r.take = take;
    r.ctx = ctx;
    phi__json_cursor_init(&c, body);
    if (phi__json_cursor_peek(&c) == PHI_JSON_ARRAY) {
        if (phi__json_cursor_enter_array(&c)) phi__queries_list(&r, &c);
    } else if (phi__json_cursor_enter_object(&c)) {
        while (r.status == PHI_OK && phi__json_cursor_next_key(&c, &key))
            phi__queries_member(&r, &c, key);
    }
    if (r.status == PHI_NO_MEMORY) return r.status;
    if (r.status != PHI_OK || !r.listed || !phi__json_cursor_done(&c)) return PHI_PARSE;
    if (q->next == NULL) return PHI_OK;
    if (r.token.len == 0 && r.more) r.token = r.last;
    if (r.token.len == 0) return PHI_OK;
    return phi__json_cursor_unescape_arena(arena, r.token, next) ? PHI_OK : PHI_NO_MEMORY;
}

PHI__FN bool phi__queries_tokens(const phi__queries *q, phi_str body, uint64_t *out) {
    phi__json_cursor c;
    phi__json_text key;
    bool found = false;
    if (!phi__json_cursor_in_object(&c, body)) return false;
    while (phi__json_cursor_next_key(&c, &key))
        if (phi__json_cursor_text_is(key, phi_str_of(q->tokens)))
            found = phi__json_cursor_take_u64(&c, out) || found;
        else
            (void)phi__json_cursor_skip(&c);
    return found && phi__json_cursor_done(&c);
}
