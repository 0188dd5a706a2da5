/* mcp_oauth_words.c - challenges and metadata documents. */
#include "mcp/mcp_oauth_words_in.h"

#include "text/json_in.h"

/* ---- challenges ---- */

typedef struct phi__mcp_oauth_scan {
    phi_arena *arena;
    phi_str text;
    size_t at;
    bool bearer, failed; /* bearer: parameters belong to such a challenge */
} phi__mcp_oauth_scan;

static void phi__mcp_oauth_words_skip(phi__mcp_oauth_scan *s, const char *set) {
    while (s->at < s->text.len && s->text.at[s->at] != '\0' &&
           strchr(set, s->text.at[s->at]) != NULL)
        s->at++;
}

static phi_str phi__mcp_oauth_words_token(phi__mcp_oauth_scan *s, const char *end) {
    size_t from = s->at;
    while (s->at < s->text.len &&
           (s->text.at[s->at] == '\0' || strchr(end, s->text.at[s->at]) == NULL))
        s->at++;
    return phi__str(s->text.at + from, s->at - from);
}

/* Bytes from the quote at s->at to the one that ends the string, or to the end. */
static size_t phi__mcp_oauth_words_quoted(const phi__mcp_oauth_scan *s) {
    size_t at = s->at + 1;
    while (at < s->text.len && s->text.at[at] != '"') at += s->text.at[at] == '\\' ? 2 : 1;
    return phi__min(at, s->text.len) - s->at;
}

/* A quoted string without its quotes and backslashes, or a token. */
static phi_str phi__mcp_oauth_words_value(phi__mcp_oauth_scan *s) {
    char *to;
    size_t n = 0;
    if (s->at >= s->text.len || s->text.at[s->at] != '"')
        return phi__mcp_oauth_words_token(s, ", \t");
    to = phi__arena_bytes(s->arena, phi__mcp_oauth_words_quoted(s));
    if (to == NULL) {
        s->failed = true;
        s->at = s->text.len;
        return phi__str("", 0);
    }
    for (s->at++; s->at < s->text.len && s->text.at[s->at] != '"'; s->at++) {
        if (s->text.at[s->at] == '\\' && s->at + 1 < s->text.len) s->at++;
        to[n++] = s->text.at[s->at];
    }
    if (s->at < s->text.len) s->at++;
    return phi__str(to, n);
}

static void phi__mcp_oauth_words_take(phi__mcp_oauth_dare *out, phi_str name, phi_str value) {
    phi_str *to = NULL;
    if (phi__str_is_nocase(name, "resource_metadata")) to = &out->resource_metadata;
    if (phi__str_is_nocase(name, "scope")) to = &out->scope;
    if (phi__str_is_nocase(name, "error")) to = &out->error;
    if (to != NULL && to->len == 0) *to = value;
}

/* Challenges of one header. A word behind which a "=" stands is a parameter, any other begins a
   challenge. */
static void phi__mcp_oauth_words_header(phi__mcp_oauth_scan *s, phi__mcp_oauth_dare *out) {
    s->bearer = false;
    for (;;) {
        phi_str word;
        phi__mcp_oauth_words_skip(s, ", \t");
        if (s->at >= s->text.len) return;
        word = phi__mcp_oauth_words_token(s, "=, \t\"");
        phi__mcp_oauth_words_skip(s, " \t");
        if (s->at < s->text.len && s->text.at[s->at] == '=') {
            phi_str value;
            s->at++;
            phi__mcp_oauth_words_skip(s, " \t");
            value = phi__mcp_oauth_words_value(s);
            if (s->bearer) phi__mcp_oauth_words_take(out, word, value);
        } else if (word.len > 0) {
            s->bearer = phi__str_is_nocase(word, "Bearer") || phi__str_is_nocase(word, "DPoP");
            if (s->bearer) out->bearer = true;
        } else
            (void)phi__mcp_oauth_words_value(s); /* a string without a name */
    }
}

PHI__FN bool phi__mcp_oauth_words_challenge(phi_arena *arena, phi_str headers,
                                            phi__mcp_oauth_dare *out) {
    phi__mcp_oauth_scan s;
    size_t i, from = 0;
    memset(out, 0, sizeof *out);
    memset(&s, 0, sizeof s);
    s.arena = arena;
    for (i = 0; i <= headers.len; i++) {
        phi_str line;
        size_t colon = 0;
        if (i < headers.len && headers.at[i] != '\n') continue;
        line = phi__str(headers.at + from, i - from);
        from = i + 1;
        while (colon < line.len && line.at[colon] != ':') colon++;
        if (!phi__str_is_nocase(phi__str(line.at, colon), "WWW-Authenticate")) continue;
        if (colon == line.len) continue;
        s.text = phi__str_trim(phi__str(line.at + colon + 1, line.len - colon - 1));
        s.at = 0;
        phi__mcp_oauth_words_header(&s, out);
    }
    return !s.failed;
}

PHI__FN bool phi__mcp_oauth_words_printable(phi_str text) {
    size_t i;
    for (i = 0; i < text.len; i++)
        if (text.at[i] <= ' ' || text.at[i] > '~') return false;
    return text.len > 0;
}

/* ---- scopes ---- */

/* RFC 6749, 3.3. */
static bool phi__mcp_oauth_words_scope_fits(phi_str scope) {
    size_t i;
    for (i = 0; i < scope.len; i++) {
        char c = scope.at[i];
        if (c <= ' ' || c > '~' || c == '"' || c == '\\') return false;
    }
    return scope.len > 0;
}

/* The next one behind *at; empty: the end. */
static phi_str phi__mcp_oauth_words_next(phi_str set, size_t *at) {
    size_t from;
    if (set.len == 0) return set;
    while (*at < set.len && set.at[*at] == ' ') ++*at;
    from = *at;
    while (*at < set.len && set.at[*at] != ' ') ++*at;
    return phi__str(set.at + from, *at - from);
}

PHI__FN bool phi__mcp_oauth_words_has(phi_str set, phi_str scope) {
    size_t at = 0;
    phi_str one;
    while ((one = phi__mcp_oauth_words_next(set, &at)).len > 0)
        if (phi_str_equal(one, scope)) return true;
    return false;
}

PHI__FN bool phi__mcp_oauth_words_has_all(phi_str set, phi_str scopes) {
    size_t at = 0;
    phi_str one;
    while ((one = phi__mcp_oauth_words_next(scopes, &at)).len > 0)
        if (!phi__mcp_oauth_words_has(set, one)) return false;
    return true;
}

static size_t phi__mcp_oauth_words_count(phi_str set) {
    size_t at = 0, n = 0;
    while (phi__mcp_oauth_words_next(set, &at).len > 0) n++;
    return n;
}

PHI__FN void phi__mcp_oauth_words_join(phi__buf *set, phi_str scopes) {
    size_t at = 0, count = phi__mcp_oauth_words_count(phi__buf_str(set));
    phi_str one;
    scopes.len = phi__min(scopes.len, 4 * PHI__MCP_OAUTH_SCOPE_BYTES);
    while (count < PHI__MCP_OAUTH_SCOPES &&
           (one = phi__mcp_oauth_words_next(scopes, &at)).len > 0) {
        if (!phi__mcp_oauth_words_scope_fits(one) ||
            one.len >=
                PHI__MCP_OAUTH_SCOPE_BYTES - phi__min(set->len, PHI__MCP_OAUTH_SCOPE_BYTES) ||
            phi__mcp_oauth_words_has(phi__buf_str(set), one))
            continue;
        if (set->len > 0) phi__buf_char(set, ' ');
        phi__buf_add_str(set, one);
        count++;
    }
}

/* ---- documents ---- */

static phi_status phi__mcp_oauth_words_parse(phi_arena *arena, phi_str text, phi_json **root,
                                             const char **fault) {
    phi__json_reader reader;
    phi_status status;
    phi__json_read_begin(&reader, arena, text, PHI_JSON_BORROW, PHI__MCP_OAUTH_DEPTH);
    do status = phi__json_read_advance(&reader, SIZE_MAX);
    while (status == PHI_BUSY);
    if (status != PHI_OK) {
        *fault = "is no JSON, or nested too deeply";
        return status == PHI_NO_MEMORY ? status : PHI_PARSE;
    }
    (void)phi__json_read_result(&reader, root, NULL);
    *fault = "is no JSON object";
    return phi_json_is(*root, PHI_JSON_OBJECT) ? PHI_OK : PHI_PARSE;
}

/* The strings of an array, as a set. */
static bool phi__mcp_oauth_words_set(phi_arena *arena, const phi_json *array, phi_str *out) {
    phi_json_iter it = phi_json_each(array);
    const phi_json *item;
    phi__buf set;
    size_t left = 8 * PHI__MCP_OAUTH_SCOPES;
    bool fine;
    *out = phi__str("", 0);
    if (!phi_json_is(array, PHI_JSON_ARRAY)) return true;
    phi__buf_init(&set, arena->memory);
    while (left-- > 0 && (item = phi_json_next(&it)) != NULL) {
        phi_str one = phi__json_text_of(item);
        if (memchr(one.at, ' ', one.len) == NULL) phi__mcp_oauth_words_join(&set, one);
    }
    fine = !set.failed && phi__arena_str(arena, phi__buf_str(&set), out);
    phi__buf_free(&set);
    return fine;
}

static bool phi__mcp_oauth_words_lists(const phi_json *array, const char *text) {
    phi_json_iter it = phi_json_each(array);
    const phi_json *item;
    if (!phi_json_is(array, PHI_JSON_ARRAY)) return false;
    while ((item = phi_json_next(&it)) != NULL)
        if (phi__str_is(phi__json_text_of(item), text)) return true;
    return false;
}

PHI__FN phi_status phi__mcp_oauth_words_resource(phi_arena *arena, phi_str text, phi_str preferred,
                                                 phi__mcp_oauth_resource *out, const char **fault) {
    phi_json *root;
    const phi_json *servers, *item;
    phi_json_iter it;
    phi_status status = phi__mcp_oauth_words_parse(arena, text, &root, fault);
    memset(out, 0, sizeof *out);
    if (status != PHI_OK) return status;
    servers = phi_json_get(root, "authorization_servers");
    out->resource = phi__json_text_of(phi_json_get(root, "resource"));
    *fault = "names no resource";
    if (out->resource.len == 0) return PHI_PARSE;
    it = phi_json_each(servers);
    while (phi_json_is(servers, PHI_JSON_ARRAY) && (item = phi_json_next(&it)) != NULL) {
        phi_str one = phi__json_text_of(item);
        if (one.len == 0) continue;
        if (out->issuer.len == 0 || phi_str_equal(one, preferred)) out->issuer = one;
    }
    *fault = "names no authorization server";
    if (out->issuer.len == 0) return PHI_PARSE;
    if (!phi__mcp_oauth_words_set(arena, phi_json_get(root, "scopes_supported"), &out->scopes))
        return PHI_NO_MEMORY;
    return PHI_OK;
}

PHI__FN phi_status phi__mcp_oauth_words_server(phi_arena *arena, phi_str text, bool person,
                                               phi__mcp_oauth_server *out, const char **fault) {
    phi_json *root;
    const phi_json *methods;
    phi_status status = phi__mcp_oauth_words_parse(arena, text, &root, fault);
    memset(out, 0, sizeof *out);
    if (status != PHI_OK) return status;
    out->issuer = phi__json_text_of(phi_json_get(root, "issuer"));
    out->authorize = phi__json_text_of(phi_json_get(root, "authorization_endpoint"));
    out->token = phi__json_text_of(phi_json_get(root, "token_endpoint"));
    out->registration = phi__json_text_of(phi_json_get(root, "registration_endpoint"));
    methods = phi_json_get(root, "token_endpoint_auth_methods_supported");
    out->says_methods = phi_json_is(methods, PHI_JSON_ARRAY);
    if (phi__mcp_oauth_words_lists(methods, "none")) out->methods |= PHI__MCP_OAUTH_NONE;
    if (phi__mcp_oauth_words_lists(methods, "client_secret_basic"))
        out->methods |= PHI__MCP_OAUTH_BASIC;
    if (phi__mcp_oauth_words_lists(methods, "client_secret_post"))
        out->methods |= PHI__MCP_OAUTH_POST;
    if (phi__mcp_oauth_words_lists(methods, "private_key_jwt")) out->methods |= PHI__MCP_OAUTH_KEY;
    if (!phi__mcp_oauth_words_set(arena, phi_json_get(root, "dpop_signing_alg_values_supported"),
                                  &out->dpop))
        return PHI_NO_MEMORY;
    out->s256 =
        phi__mcp_oauth_words_lists(phi_json_get(root, "code_challenge_methods_supported"), "S256");
    out->documents =
        phi_json_bool(phi_json_get(root, "client_id_metadata_document_supported"), false);
    out->names_itself =
        phi_json_bool(phi_json_get(root, "authorization_response_iss_parameter_supported"), false);
    out->offline =
        phi__mcp_oauth_words_lists(phi_json_get(root, "scopes_supported"), "offline_access");
    *fault = "names no issuer";
    if (out->issuer.len == 0) return PHI_PARSE;
    *fault = "names no authorization_endpoint";
    if (person && out->authorize.len == 0) return PHI_PARSE;
    *fault = "names no token_endpoint";
    if (out->token.len == 0) return PHI_PARSE;
    *fault = "";
    return PHI_OK;
}
