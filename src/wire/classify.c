/* classify.c - classifies an error of any provider.

   The HTTP status is used before any text, because texts are ambiguous: "too many tokens" means a
   full context for some providers and throttling for others. */

#include "wire/codec_in.h"
#include "wire/overflow.h"

/* ---- header lines of a response, "Name: value\r\n", and the delay that they ask for ---- */

#define PHI__HEADERS_NUMBER_MOST                                                                   \
    UINT64_C(1000000000000) /* thirty years, in thousandths of a second */

PHI__FN phi_str phi__headers_value(phi_str headers, const char *name) {
    size_t at = 0;
    while (at < headers.len) {
        size_t end = phi__str_find(headers, at, "\n");
        phi_str line = phi__str(headers.at + at, (end == SIZE_MAX ? headers.len : end) - at);
        size_t colon = phi__str_find(line, 0, ":");
        if (colon != SIZE_MAX && phi__str_is_nocase(phi__str(line.at, colon), name))
            return phi__str_trim(phi__str_from(line, colon + 1));
        if (end == SIZE_MAX) break;
        at = end + 1;
    }
    return PHI__LIT("");
}

/* ---- delays ---- */

/* Reads a decimal number at *at, in thousandths, and advances *at. False if there is none. */
static bool phi__headers_number(phi_str s, size_t *at, uint64_t *thousandths) {
    uint64_t n = 0, scale = 1000;
    size_t i = *at;
    if (i >= s.len || !phi__is_digit(s.at[i])) return false;
    for (; i < s.len && phi__is_digit(s.at[i]); i++) {
        n = n * 10 + (uint64_t)(s.at[i] - '0') * 1000;
        if (n > PHI__HEADERS_NUMBER_MOST) n = PHI__HEADERS_NUMBER_MOST;
    }
    if (i + 1 < s.len && s.at[i] == '.' && phi__is_digit(s.at[i + 1]))
        for (i++; i < s.len && phi__is_digit(s.at[i]); i++) {
            scale /= 10;
            n += (uint64_t)(s.at[i] - '0') * scale;
        }
    *at = i;
    *thousandths = n;
    return true;
}

/* Reads the time unit at *at and advances *at past it. Returns its milliseconds; 1000 if there is
   no word; 0 if the word is unknown. */
static uint64_t phi__headers_unit(phi_str s, size_t *at) {
    static const struct phi__headers_units {
        char name[16];
        uint32_t ms;
    } units[] = {{"ms", 1},          {"millisecond", 1}, {"milliseconds", 1}, {"s", 1000},
                 {"sec", 1000},      {"secs", 1000},     {"second", 1000},    {"seconds", 1000},
                 {"m", 60000},       {"min", 60000},     {"mins", 60000},     {"minute", 60000},
                 {"minutes", 60000}, {"h", 3600000},     {"hour", 3600000},   {"hours", 3600000},
                 {"day", 86400000},  {"days", 86400000}};
    size_t from = *at, end;
    while (from < s.len && s.at[from] == ' ') from++;
    for (end = from; end < s.len && phi__lower(s.at[end]) >= 'a'; end++)
        if (phi__lower(s.at[end]) > 'z') break;
    if (end == from) return 1000;
    for (size_t i = 0; i < PHI__COUNT(units); i++)
        if (phi__str_is_nocase(phi__str(s.at + from, end - from), units[i].name)) {
            *at = end;
            return units[i].ms;
        }
    return 0;
}

/* Reads a duration: "46s", "1m2s", "5.289s", "7 seconds", "7" (seconds). False if there is no
   duration, or if it is zero. */
static bool phi__headers_duration(phi_str s, size_t at, uint64_t *ms) {
    uint64_t n, total = 0;
    while (phi__headers_number(s, &at, &n)) {
        uint64_t unit = phi__headers_unit(s, &at);
        if (unit == 0) return false;
        total += (n * unit + 999) / 1000;
    }
    *ms = total;
    return total > 0;
}

static bool phi__headers_text_delay(phi_str text, uint64_t *ms) {
    static const char *const starts[] = {"try again in ", "retry after ", "retry in "};
    size_t at;
    for (size_t i = 0; i < PHI__COUNT(starts); i++) {
        at = phi__str_find_nocase(text, 0, starts[i]);
        if (at != SIZE_MAX && phi__headers_duration(text, at + strlen(starts[i]), ms)) return true;
    }
    return false;
}

/* Makes a date from its parts. A year of two digits is in this century. */
static bool phi__headers_date_of(const char *day, const char *month, const char *year,
                                 size_t digits, const char *time, int64_t *ms) {
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char text[21] = "20yy-mm-ddThh:mm:ssZ";
    int m = 1;
    while (m <= 12 && memcmp(months + (m - 1) * 3, month, 3) != 0) m++;
    if (m > 12) return false;
    memcpy(text + 4 - digits, year, digits);
    text[5] = (char)('0' + m / 10);
    text[6] = (char)('0' + m % 10);
    memcpy(text + 8, day, 2);
    if (text[8] == ' ') text[8] = '0';
    memcpy(text + 11, time, 8);
    return phi__date_get(phi__str(text, 20), ms);
}

/* Reads a date in one of the three forms of HTTP, as milliseconds. */
static bool phi__headers_date(phi_str s, int64_t *ms) {
    const char *at = s.at;
    size_t comma = phi__str_find(s, 0, ",");
    bool gmt = s.len > 4 && memcmp(at + s.len - 4, " GMT", 4) == 0;
    if (comma == 3 && s.len == 29 && gmt) /* Fri, 20 Nov 2026 10:00:30 GMT */
        return phi__headers_date_of(at + 5, at + 8, at + 12, 4, at + 17, ms);
    if (comma != SIZE_MAX && s.len == comma + 24 && gmt) /* Friday, 20-Nov-26 10:00:30 GMT */
        return phi__headers_date_of(at + comma + 2, at + comma + 5, at + comma + 9, 2,
                                    at + comma + 12, ms);
    if (comma == SIZE_MAX && s.len == 24) /* Fri Nov 20 10:00:30 2026 */
        return phi__headers_date_of(at + 8, at + 4, at + 20, 4, at + 11, ms);
    return false;
}

/* Reads a header value that is one number of seconds, or of milliseconds if `ms` is true. */
static bool phi__headers_whole_number(phi_str s, bool ms, uint64_t *out) {
    size_t at = 0;
    uint64_t n;
    if (!phi__headers_number(s, &at, &n) || at != s.len) return false;
    *out = ms ? (n + 999) / 1000 : n;
    return n > 0;
}

/* Finds the delay that a response asks for: in its headers, else in `given` ("46s"), else in a text
   ("try again in 5.2s"). An HTTP date in the headers is compared with the response's own Date. */
static bool phi__headers_delay(phi_str headers, phi_str given, phi_str message, phi_str detail,
                               uint64_t *ms) {
    phi_str after = phi__headers_value(headers, "retry-after");
    int64_t until, now;
    if (phi__headers_whole_number(phi__headers_value(headers, "retry-after-ms"), true, ms))
        return true;
    if (phi__headers_whole_number(after, false, ms)) return true;
    if (phi__headers_date(after, &until) &&
        phi__headers_date(phi__headers_value(headers, "date"), &now) && until > now) {
        *ms = (uint64_t)(until - now);
        return true;
    }
    return phi__headers_duration(given, 0, ms) || phi__headers_text_delay(message, ms) ||
           phi__headers_text_delay(detail, ms);
}

/* ---- classifying ---- */

#define PHI__FAULT_BODY_MOST 65536u  /* max. bytes of a body that are read */
#define PHI__FAULT_WORDS_MOST 4096u  /* max. bytes of a message that are kept */
#define PHI__FAULT_SNIPPET_MOST 500u /* max. bytes quoted from a body without a message */

/* The parts of an error. Strings live in the arena or are static. */
typedef struct phi__fault {
    int status; /* HTTP status, or guessed from the text; 0 if unknown */
    bool empty; /* the body was blank */
    phi_str code, type, message, detail, request_id;
    phi_str delay; /* Google's retryDelay, "46s" */
    bool bad_key;  /* Google's API_KEY_INVALID */
} phi__fault;

/* True if a lower-case pattern matches at `at`. '#' is a number, '*' up to 80 bytes of anything. */
static bool phi__fault_at(phi_str s, size_t at, const char *pattern) {
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == '*') {
            size_t last = phi__min(s.len, at + 80);
            for (; at <= last; at++)
                if (phi__fault_at(s, at, pattern + 1)) return true;
            return false;
        }
        if (at >= s.len) return false;
        if (*pattern == '#') {
            if (!phi__is_digit(s.at[at])) return false;
            while (at < s.len && (phi__is_digit(s.at[at]) || s.at[at] == ',')) at++;
        } else if (phi__lower(s.at[at++]) != *pattern)
            return false;
    }
    return true;
}

/* True if any pattern occurs. Each pattern ends with a NUL, and one more NUL ends the list. */
static bool phi__fault_says_any(phi_str s, const char *patterns) {
    for (; *patterns != '\0'; patterns += strlen(patterns) + 1) {
        for (size_t i = 0; i < s.len; i++)
            if (phi__fault_at(s, i, patterns)) return true;
    }
    return false;
}

/* Providers' phrases for a prompt that is too long. None has another meaning. */
static const char phi__fault_overflows[] =
    "prompt is too long\0"
    "prompt too long\0"
    "request_too_large\0"
    "input is too long\0"
    "exceeds the context window\0"
    "exceed context limit\0" /* "input length and `max_tokens` exceed context limit: 1 + 2 > 3" */
    "maximum context length\0"
    "context_length_exceeded\0"
    "context length exceeded\0"
    "context window exceeded\0"
    "context_window_exceeded\0"
    "exceeds maximum allowed input length\0"
    "input token count*exceeds the maximum\0"
    "maximum prompt length\0"
    "reduce the length of the messages\0"
    "longer than the model's context length\0"
    "exceeds the available context size\0"
    "exceed_context_size_error\0"
    "greater than the context length\0"
    "exceeded max context length\0"
    "configured context size is #\0"
    "too large for model with #\0"
    "context window exceeds limit\0"
    "exceeded model token limit\0"
    "range of input length should be\0"
    "prompt exceeds max length\0";

/* These phrases may also concern tools, images or max_tokens, for which a shorter history is no
   help. So the text must name the prompt before such a phrase, and must not contain an entry of
   phi__fault_other_excesses. */
static const char phi__fault_excesses[] =
    "token*exceeds the maximum\0token*exceeds the limit of\0prompt *exceeds the maximum\0"
    "prompt *exceeds the limit of\0context*exceeds the maximum\0context*exceeds the limit of\0"
    "input length*exceeds the\0input size*exceeds the\0";
static const char phi__fault_other_excesses[] =
    "max_*tokens\0maxoutputtokens\0max output\0maximum output\0budget\0output token\0"
    "token output\0completion token\0image\0per min\0per day\0per hour\0";

/* These phrases count for status 400 and for a text without a status. With any other status they
   mean a rate limit. */
static const char phi__fault_counts[] = "too many tokens\0token limit exceeded\0";

/* Throttling: waiting helps. A gateway may lose Bedrock's error type, so its message is here
   too. */
static const char phi__fault_paces[] = "throttl\0too many tokens, please wait\0";

/* Further phrases for throttling, used if only a text is known. */
static const char phi__fault_text_paces[] =
    "rate limit\0rate_limit\0too many requests\0per min\0please wait\0";

/* No money left: waiting does not help. Google's quota_exceeded is a daily quota. */
static const char phi__fault_quotas[] =
    "insufficient_quota\0quota_exceeded\0insufficient quota\0insufficient balance\0"
    "insufficient credits\0insufficient funds\0credit balance is too low\0"
    "enforced_spend_limit_reached\0contract_spend_limit_reached\0billing_hard_limit_reached\0"
    "billing_not_active\0account is not active, please check your billing\0";

static const char phi__fault_filters[] =
    "content_filter\0content_policy_violation\0content management policy\0"
    "responsibleaipolicyviolation\0";

/* Faults of a request that llama.cpp reports as 500. This model will never accept the request. */
static const char phi__fault_unfits[] =
    "image input is not supported\0audio input is not supported\0";

static bool phi__fault_any(const phi__fault *f, const char *patterns) {
    return phi__fault_says_any(f->code, patterns) || phi__fault_says_any(f->type, patterns) ||
           phi__fault_says_any(f->message, patterns) || phi__fault_says_any(f->detail, patterns);
}

static bool phi__fault_is_excess(phi_str s) {
    return phi__fault_says_any(s, phi__fault_excesses) &&
           !phi__fault_says_any(s, phi__fault_other_excesses);
}

static bool phi__fault_is_overflow(const phi__fault *f) {
    return phi__fault_any(f, phi__fault_overflows) || phi__fault_is_excess(f->message) ||
           phi__fault_is_excess(f->detail) ||
           (f->status == 400 && phi__fault_any(f, phi__fault_counts));
}

/* ---- reading a body ---- */

static phi_str phi__fault_text(const phi_json *node) { return phi_json_str(node, ""); }

/* Reads FastAPI's "detail": a text, or a list of {msg}. */
static phi_str phi__fault_detail(const phi_json *node) {
    if (phi_json_is(node, PHI_JSON_ARRAY)) node = phi_json_get(phi_json_at(node, 0), "msg");
    return phi__fault_text(node);
}

/* Returns the HTTP status that a word of an error means, for errors without a status. 0 if the word
   is unknown. */
static int phi__fault_status_of(phi_str word) {
    static const struct phi__fault_status {
        int status;
        const char *words; /* each ends with a NUL, and one more NUL ends the list */
    } table[] = {
        {529, "overloaded_error\0"},
        {429, "rate_limit_error\0rate_limit_exceeded\0insufficient_quota\0quota_exceeded\0"},
        {500, "api_error\0server_error\0internal_server_error\0InternalServerError\0"},
        {500, "internal_error\0"},
        {503, "server_is_overloaded\0slow_down\0overloaded\0service_unavailable\0"},
        {504, "timeout_error\0gateway_timeout\0"},
        {400, "invalid_request_error\0invalid_prompt\0invalid_image\0BadRequestError\0"},
        {400, "context_length_exceeded\0exceed_context_size_error\0invalid_request\0"},
        {400, "failed_precondition\0parameter_unknown\0"},
        {401, "authentication_error\0authentication\0"},
        {402, "billing_error\0payment_required\0"},
        {403, "permission_error\0permission_denied\0"},
        {404, "not_found_error\0not_found\0model_not_found\0"},
        {409, "conflict_error\0"},
        {413, "request_too_large\0"}};
    uint64_t n;
    if (phi__str_to_u64(word, &n) && n >= 400 && n < 600) return (int)n;
    for (size_t i = 0; i < PHI__COUNT(table); i++)
        for (const char *at = table[i].words; *at != '\0'; at += strlen(at) + 1)
            if (phi__str_is(word, at)) return table[i].status;
    return 0;
}

/* True if a text contains a status: "error 429:", but not "429 tokens" or "1,429". */
static bool phi__fault_names(phi_str s, const char *status) {
    size_t at = 0, len = strlen(status);
    while ((at = phi__str_find(s, at, status)) != SIZE_MAX) {
        char before = at > 0 ? s.at[at - 1] : ' ';
        char after = at + len < s.len ? s.at[at + len] : ' ';
        if (!phi__is_digit(before) && !phi__is_digit(after) && strchr(",.-", before) == NULL &&
            !phi__fault_at(s, at + len, ",#") && !phi__fault_at(s, at + len, ".#") &&
            !phi__fault_at(s, at + len, " token"))
            return true;
        at += len;
    }
    return false;
}

static int phi__fault_number_of(const phi_json *node) {
    int64_t n = phi_json_int(node, 0);
    return n >= 400 && n < 600 ? (int)n : 0;
}

static void phi__fault_read_json(phi__fault *f, phi_arena *arena, const phi_json *root) {
    if (phi_json_is(root, PHI_JSON_ARRAY)) root = phi_json_at(root, 0);
    const phi_json *error = phi_json_get(root, "error");
    if (phi_json_is(error, PHI_JSON_STRING)) {
        f->message = phi__fault_text(error);
        error = root;
    }
    if (!phi_json_is(error, PHI_JSON_OBJECT)) error = root;
    const phi_json *metadata = phi_json_get(error, "metadata");
    if (!phi__str_is(phi__fault_text(phi_json_get(error, "type")), "error"))
        f->type = phi__fault_text(phi_json_get(error, "type"));
    if (f->message.len == 0) f->message = phi__fault_text(phi_json_get(error, "message"));
    if (f->message.len == 0) f->message = phi__fault_text(phi_json_get(error, "Message"));
    if (f->message.len == 0) f->message = phi__fault_text(phi_json_get(root, "message"));
    if (f->message.len == 0) f->message = phi__fault_detail(phi_json_get(root, "detail"));
    f->detail = phi__fault_text(phi_json_get(metadata, "raw"));
    if (f->detail.len == 0) f->detail = phi__fault_text(phi_json_path(error, "details.error_code"));
    f->request_id = phi__fault_text(phi_json_get(root, "request_id"));
    /* Choose the error's code. A code that is a text is preferred. A numeric code is preferred to
       the error's type, unless the type ends in "_error". If the code is null, there is no code. */
    const phi_json *code = phi_json_get(error, "code");
    const phi_json *status = phi_json_get(error, "status");
    bool telling = f->type.len > 6 && memcmp(f->type.at + f->type.len - 6, "_error", 6) == 0;
    if (phi_json_is(code, PHI_JSON_STRING))
        f->code = phi__fault_text(code);
    else if (phi_json_is(status, PHI_JSON_STRING))
        f->code = phi__fault_text(status);
    else if (phi_json_is(code, PHI_JSON_NUMBER) && telling)
        f->code = f->type;
    else if (phi_json_is(code, PHI_JSON_NUMBER))
        (void)phi_json_write(arena, code, 0, &f->code);
    else if (code == NULL)
        f->code = f->type;
    phi_json_iter it = phi_json_each(phi_json_get(error, "details"));
    const phi_json *entry;
    if (phi_json_is(phi_json_get(error, "details"), PHI_JSON_ARRAY)) {
        while ((entry = phi_json_next(&it)) != NULL) {
            if (f->delay.len == 0) f->delay = phi__fault_text(phi_json_get(entry, "retryDelay"));
            if (phi__str_is(phi__fault_text(phi_json_get(entry, "reason")), "API_KEY_INVALID"))
                f->bad_key = true;
        }
    }
    if (f->status == 0) f->status = phi__fault_number_of(phi_json_get(root, "status_code"));
    if (f->status == 0) f->status = phi__fault_number_of(phi_json_get(error, "status_code"));
    if (f->status == 0) f->status = phi__fault_number_of(phi_json_get(error, "code"));
    if (f->status == 0) f->status = phi__fault_status_of(f->code);
    if (f->status == 0) f->status = phi__fault_status_of(f->type);
    if (f->status == 0 &&
        (phi__fault_any(f, "rate limit\0") || phi__fault_any(f, "too many req\0") ||
         phi__fault_names(f->message, "429")))
        f->status = 429;
}

/* Returns the title of a proxy's HTML page. */
static phi_str phi__fault_title(phi_str html) {
    size_t at = phi__str_find_nocase(html, 0, "<title");
    if (at == SIZE_MAX || (at = phi__str_find(html, at, ">")) == SIZE_MAX) return PHI__LIT("");
    size_t end = phi__str_find_nocase(html, at, "</title");
    if (end == SIZE_MAX) return PHI__LIT("");
    return phi__str_trim(phi__str(html.at + at + 1, end - at - 1));
}

static phi_json *phi__fault_parse(phi_arena *arena, phi_str text) {
    phi_json *root = NULL;
    phi_status status = phi_json_parse(arena, text, PHI_JSON_REPLACE_BAD_UTF8, &root, NULL);
    return status == PHI_OK ? root : NULL;
}

/* Reads an error that a gateway wrote as a stream event: "data: {...}". NULL if there is none. */
static phi_json *phi__fault_read_event(phi_arena *arena, phi_str body) {
    phi_json *root = NULL;
    phi__sse_event event;
    phi__sse sse;
    phi__sse_init(&sse, arena->memory, PHI__FAULT_BODY_MOST);
    phi__sse_feed(&sse, body.at, body.len);
    while (root == NULL && phi__sse_next(&sse, &event) > 0)
        root = phi__fault_parse(arena, event.data);
    while (root == NULL && phi__sse_finish(&sse, &event) > 0)
        root = phi__fault_parse(arena, event.data);
    phi__sse_free(&sse);
    return root;
}

static void phi__fault_read(phi__fault *f, phi_arena *arena, phi_str body) {
    body.len = phi__min(body.len, PHI__FAULT_BODY_MOST);
    body = phi__str_trim(body);
    f->empty = body.len == 0;
    phi_json *root = f->empty ? NULL : phi__fault_parse(arena, body);
    if (root == NULL && !f->empty) root = phi__fault_read_event(arena, body);
    if (root != NULL) phi__fault_read_json(f, arena, root);
    if (phi__str_trim(f->message).len == 0) {
        /* Make a message for a body without one. */
        phi__buf words;
        bool page = body.len > 0 && body.at[0] == '<';
        phi_str show = page ? phi__fault_title(body) : body;
        phi__buf_init(&words, arena->memory);
        if (f->status != 0) phi__buf_printf(&words, "HTTP %d", f->status);
        phi__buf_text(&words, f->empty ? " without a body" : page ? " with a web page" : "");
        if (words.len == 0) phi__buf_text(&words, "the answer is not what was asked for");
        phi__buf_text(&words, show.len > 0 ? ": " : "");
        show.len = phi__utf8_cut(show, PHI__FAULT_SNIPPET_MOST);
        phi__utf8_repair(&words, show);
        if (words.failed ||
            !phi__arena_str(arena, phi__str_trim(phi__buf_str(&words)), &f->message))
            f->message = PHI__LIT("an error without words");
        phi__buf_free(&words);
    }
    f->message.len = phi__utf8_cut(f->message, PHI__FAULT_WORDS_MOST);
}

/* ---- the kind of the failure ---- */

static phi_failure_kind phi__fault_kind(const phi__fault *f, const phi_model *model) {
    bool client = f->status == 0 || (f->status >= 400 && f->status < 500);
    if (f->status == 401 || f->status == 403 || f->status == 407 || f->bad_key)
        return PHI_FAILURE_AUTH;
    if (f->status == 402) return PHI_FAILURE_QUOTA;
    if (client && phi__fault_any(f, phi__fault_quotas)) return PHI_FAILURE_QUOTA;
    if (f->status == 429 && phi__str_is(f->code, "1308"))
        return PHI_FAILURE_QUOTA; /* code of z.ai */
    if (f->status == 413) return PHI_FAILURE_OVERFLOW;
    if (f->status == 429 || phi__fault_any(f, phi__fault_paces)) return PHI_FAILURE_RATE_LIMITED;
    if (f->status == 400 && f->empty && model != NULL &&
        (model->quirks & PHI_QUIRK_EMPTY_IS_OVERFLOW) != 0)
        return PHI_FAILURE_OVERFLOW;
    if (client && phi__fault_is_overflow(f)) return PHI_FAILURE_OVERFLOW;
    if (client && phi__fault_any(f, phi__fault_filters)) return PHI_FAILURE_CONTENT_FILTER;
    if (f->status >= 500 && phi__fault_any(f, phi__fault_unfits))
        return PHI_FAILURE_INVALID_REQUEST;
    if (f->status == 408 || f->status == 409 || f->status == 424 || f->status >= 500)
        return PHI_FAILURE_SERVER;
    return f->status == 0 ? PHI_FAILURE_SERVER : PHI_FAILURE_INVALID_REQUEST;
}

static void phi__fault_decide(const phi__fault *f, const phi_model *model, phi_str headers,
                              phi_failure *out) {
    phi_str wish = phi__headers_value(headers, "x-should-retry");
    out->kind = phi__fault_kind(f, model);
    out->retryable = out->kind == PHI_FAILURE_RATE_LIMITED || out->kind == PHI_FAILURE_SERVER;
    if (phi__str_is_nocase(wish, "true")) out->retryable = true;
    if (phi__str_is_nocase(wish, "false")) out->retryable = false;
    out->has_retry_after =
        phi__headers_delay(headers, f->delay, f->message, f->detail, &out->retry_after_ms);
    if (!out->has_retry_after) out->retry_after_ms = 0;
    out->code = f->code;
    out->message = f->message;
    out->request_id = f->request_id;
}

/* Reads the error code and the request id from headers. AWS sends the error's type in a header,
   with a colon and a namespace after it. */
static void phi__fault_read_headers(phi__fault *f, phi_str headers) {
    static const char *const ids[] = {"request-id", "x-request-id", "x-amzn-requestid",
                                      "x-litellm-call-id"};
    phi_str type = phi__headers_value(headers, "x-amzn-errortype");
    size_t colon = phi__str_find(type, 0, ":");
    if (type.len > 0) f->code = phi__str(type.at, colon == SIZE_MAX ? type.len : colon);
    for (size_t i = 0; i < PHI__COUNT(ids); i++) {
        phi_str id = phi__headers_value(headers, ids[i]);
        if (id.len > 0) {
            f->request_id = id;
            return;
        }
    }
}

static void phi__fault_keep(phi_arena *arena, phi_str *s) {
    if (!phi__arena_str(arena, *s, s)) *s = PHI__LIT("");
}

/* ---- for the loop ---- */

PHI__FN bool phi__classify_is_overflow_text(phi_str text) {
    if (phi__fault_says_any(text, phi__fault_paces) ||
        phi__fault_says_any(text, phi__fault_text_paces))
        return false;
    return phi__fault_at(text, 0, "context overflow:") || phi__fault_is_excess(text) ||
           phi__fault_says_any(text, phi__fault_overflows) ||
           phi__fault_says_any(text, phi__fault_counts);
}

PHI__FN void phi__classify(const phi_model *model, int http_status, phi_str headers, phi_str body,
                           phi_arena *arena, phi_failure *out) {
    phi__fault f = PHI_ZERO;
    memset(out, 0, sizeof *out);
    f.status = http_status;
    phi__fault_read(&f, arena, body);
    phi__fault_read_headers(&f, headers);
    phi__fault_decide(&f, model, headers, out);
    out->http_status = http_status;
    phi__fault_keep(arena, &out->code); /* the headers are borrowed until here */
    phi__fault_keep(arena, &out->message);
    phi__fault_keep(arena, &out->request_id);
}

/* ---- for decoders ---- */

PHI__FN void phi__classify_event(phi__assembly *a, phi_str json) {
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    phi__fault f = PHI_ZERO;
    phi_failure failure = PHI_ZERO;
    phi__fault_read(&f, &a->scratch, json);
    phi__fault_decide(&f, NULL, PHI__LIT(""), &failure);
    phi__assembly_fail_with(a, &failure);
    phi_arena_reset(&a->scratch, mark);
}

PHI__FN bool phi__classify_take_error(phi__json_cursor *c, phi_str *raw) {
    phi_str value;
    if (!phi__json_cursor_take_raw(c, &value)) return false;
    if (value.len <= 2 || phi__str_is(value, "null") || phi__str_is(value, "false")) return false;
    *raw = value;
    return true;
}

PHI__FN void phi__classify_take_flag(phi__json_cursor *c, void *is_error) {
    phi_str raw;
    *(bool *)is_error = phi__classify_take_error(c, &raw);
}

PHI__FN void phi__classify_bad_event(phi__assembly *a) {
    phi__assembly_fail(a, PHI_FAILURE_SERVER, true, PHI__LIT("bad_event"),
                       PHI__LIT("the server sent an event that is not JSON"));
}

PHI__FN void phi__classify_body(phi__assembly *a, phi_str body) {
    phi_str text = phi__str_trim(body);
    if (text.len > 0 && text.at[0] == '<') {
        phi_str title = phi__fault_title(phi__str(text.at, phi__min(text.len, 65536)));
        phi__buf words;
        phi__buf_init(&words, a->memory);
        phi__buf_text(&words, "the server sent a web page instead of an answer");
        if (title.len > 0) phi__buf_text(&words, ": ");
        title.len = phi__utf8_cut(title, PHI__FAULT_SNIPPET_MOST);
        phi__utf8_repair(&words, title);
        phi__buf_text(&words, ". Is the base URL right?");
        phi__assembly_fail(a, PHI_FAILURE_INVALID_REQUEST, false, PHI__LIT("web_page"),
                           phi__buf_str(&words));
        phi__buf_free(&words);
    } else if (text.len == 0)
        phi__assembly_fail(a, PHI_FAILURE_NETWORK, true, PHI__LIT("truncated"),
                           PHI__LIT("the server sent an empty answer"));
    else
        phi__classify_event(a, text);
}

static bool phi__classify_has(const char *words, phi_str word) {
    for (size_t n; (n = strlen(words)) > 0; words += n + 1)
        if (words[n - 1] != '*'
                ? phi__str_is(word, words)
                : word.len >= n - 1 && (n == 1 || memcmp(word.at, words, n - 1) == 0))
            return true;
    return false;
}

PHI__FN const phi__stop_word *phi__classify_reason(phi__assembly *a, const phi__stop_word *table,
                                                   size_t count) {
    const phi__stop_word *row = NULL;
    for (size_t i = 0; i < count && row == NULL; i++)
        if (phi__classify_has(table[i].words, phi__buf_str(&a->raw_stop_reason))) row = &table[i];
    a->unknown_stop = row == NULL;
    a->stop_reason = row != NULL ? row->reason : PHI_STOP_REASON_STOP;
    return row;
}

PHI__FN void phi__classify_stop(phi__assembly *a, const phi__stop_word *table, size_t count,
                                phi__json_text said) {
    static const char before[] = "the model stopped with the reason \"";
    char text[200];
    phi_str word = phi__buf_str(&a->raw_stop_reason), message = {text, 0};
    if (a->failure.kind != PHI_FAILURE_NONE) return;
    const phi__stop_word *row = phi__classify_reason(a, table, count);
    if (row == NULL || row->failure == PHI_FAILURE_NONE) return;
    if (said.len > 0 && !phi__json_cursor_unescape_arena(&a->scratch, said, &message))
        a->no_memory = true;
    if (message.len == 0 && row->failure == PHI_FAILURE_CONTENT_FILTER)
        message = PHI__LIT("the answer was stopped by the provider's content filter");
    else if (message.len == 0) {
        size_t len = phi__utf8_cut(word, 80), at = sizeof before - 1;
        memcpy(text, before, at);
        if (len > 0) memcpy(text + at, word.at, len);
        text[at + len] = '"';
        message = phi__str(text, at + len + 1);
    }
    phi__assembly_fail(a, row->failure, row->retryable, word, message);
}

PHI__FN void phi__classify_truncated(phi__assembly *a, bool heard) {
    phi__assembly_fail(a, PHI_FAILURE_NETWORK, true, PHI__LIT("truncated"),
                       heard ? PHI__LIT("the answer broke off: the stream ended without its end "
                                        "marker")
                             : PHI__LIT("the server ended the stream without an answer"));
}

/* ---- public ---- */

PHI_API bool phi_message_is_overflow(const phi_message *message) {
    return message != NULL && message->role == PHI_ROLE_ASSISTANT &&
           message->stop_reason == PHI_STOP_REASON_ERROR &&
           (phi__str_starts(message->error_message, "Context overflow: ") ||
            phi__classify_is_overflow_text(message->error_message));
}
