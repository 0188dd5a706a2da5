/* serve_words.c - serve_words_in.h. */
#include "serve/serve_words_in.h"

#ifndef PHI_NO_LISTEN

#include "base/date_in.h"

PHI__FN const char *phi__serve_words_reason(int http_status) {
    static const struct {
        int status;
        const char *text;
    } reasons[] = {{200, "OK"},
                   {201, "Created"},
                   {202, "Accepted"},
                   {204, "No Content"},
                   {302, "Found"},
                   {303, "See Other"},
                   {304, "Not Modified"},
                   {400, "Bad Request"},
                   {401, "Unauthorized"},
                   {403, "Forbidden"},
                   {404, "Not Found"},
                   {405, "Method Not Allowed"},
                   {406, "Not Acceptable"},
                   {408, "Request Timeout"},
                   {409, "Conflict"},
                   {410, "Gone"},
                   {411, "Length Required"},
                   {413, "Content Too Large"},
                   {414, "URI Too Long"},
                   {415, "Unsupported Media Type"},
                   {417, "Expectation Failed"},
                   {421, "Misdirected Request"},
                   {429, "Too Many Requests"},
                   {431, "Request Header Fields Too Large"},
                   {500, "Internal Server Error"},
                   {501, "Not Implemented"},
                   {502, "Bad Gateway"},
                   {503, "Service Unavailable"},
                   {504, "Gateway Timeout"},
                   {505, "HTTP Version Not Supported"}};
    size_t i;
    for (i = 0; i < PHI__COUNT(reasons); i++)
        if (reasons[i].status == http_status) return reasons[i].text;
    return "Unknown";
}

static bool phi__serve_words_is_token(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool phi__serve_words_fits(const phi__header *header) {
    static const char *const own[] = {"Connection", "Content-Length", "Date", "Transfer-Encoding"};
    size_t i;
    for (i = 0; i < header->name.len; i++)
        if (!phi__serve_words_is_token(header->name.at[i])) return false;
    for (i = 0; i < header->value.len; i++) {
        unsigned char c = (unsigned char)header->value.at[i];
        if ((c < 0x20 && c != '\t') || c == 0x7F) return false;
    }
    for (i = 0; i < PHI__COUNT(own); i++)
        if (phi__str_is_nocase(header->name, own[i])) return false;
    return header->name.len > 0;
}

PHI__FN bool phi__serve_words_fit(const phi__header *headers, size_t count) {
    size_t i;
    for (i = 0; i < count; i++)
        if (!phi__serve_words_fits(&headers[i])) return false;
    return true;
}

/* "Date: Thu, 01 Jan 1970 00:00:00 GMT" */
static void phi__serve_words_date(phi__buf *out, int64_t ms) {
    static const char days[] = "ThuFriSatSunMonTueWed"; /* 1970 began with a Thursday */
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char iso[PHI__DATE_BYTES];
    size_t day, month;
    if (ms < 0) ms = 0;
    (void)phi__date_put(ms, iso);
    day = (size_t)(ms / 86400000 % 7) * 3;
    month = (size_t)((iso[5] - '0') * 10 + iso[6] - '0' - 1) * 3;
    phi__buf_printf(out, "Date: %.3s, %.2s %.3s %.4s %.8s GMT\r\n", days + day, iso + 8,
                    months + month, iso, iso + 11);
}

PHI__FN void phi__serve_words_put(phi__buf *out, const phi__serve_words_head *head) {
    size_t i;
    phi__buf_printf(out, "HTTP/1.1 %d %s\r\n", head->http_status,
                    phi__serve_words_reason(head->http_status));
    phi__serve_words_date(out, head->wall_ms);
    for (i = 0; i < head->header_count; i++) {
        phi__buf_add_str(out, head->headers[i].name);
        phi__buf_text(out, ": ");
        phi__buf_add_str(out, head->headers[i].value);
        phi__buf_text(out, "\r\n");
    }
    if (head->body == PHI__SERVE_WORDS_LENGTH) {
        phi__buf_text(out, "Content-Length: ");
        phi__buf_u64(out, head->length);
        phi__buf_text(out, "\r\n");
    }
    if (head->body == PHI__SERVE_WORDS_CHUNKS) phi__buf_text(out, "Transfer-Encoding: chunked\r\n");
    if (!head->keep_alive)
        phi__buf_text(out, "Connection: close\r\n");
    else if (head->http_1_0)
        phi__buf_text(out, "Connection: keep-alive\r\n");
    phi__buf_text(out, "\r\n");
}

#endif
