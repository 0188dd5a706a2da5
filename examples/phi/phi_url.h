/* phi_url.h - the tool read_url: gets a page of http or https and gives its text to the model. Copy what you need of it.

   It follows no redirect: the model reads where one leads, and asks for that address, so that permissions judge it, too.
   Addresses of this machine and of private networks are refused, whatever name they have, unless a person has typed the
   URL. No proxy is used, for a proxy would hide the address. */
#ifndef PHI_URL_H
#define PHI_URL_H

#include "phi_host.h"
#include "phi_html.h"
#include "../pick_model.h"

#include <curl/curl.h>

enum {
    URL_BYTES = 2 << 20,    /* read of a page */
    URL_TEXT_BYTES = 48000, /* given to the model */
    URL_LONGEST_MS = 30000
};

typedef struct url_get {
    CURL *easy;
    CURLM *multi;
    text body, url;
    bool checked, other; /* the content type was seen: it is no text */
    bool may_be_private, was_private, cut;
} url_get;

/* ---- the transfer ---- */

static curl_socket_t url_socket(void *user_data, curlsocktype purpose, struct curl_sockaddr *to) {
    url_get *get = (url_get *)user_data;
    (void)purpose;
    if (!get->may_be_private && host_private(&to->addr)) {
        get->was_private = true;
        return CURL_SOCKET_BAD;
    }
    return keys_socket(to->family, to->socktype, to->protocol);
}

static size_t url_take(char *bytes, size_t size, size_t count, void *user_data) {
    url_get *get = (url_get *)user_data;
    char *type = NULL;
    size_t n = size * count, fits = URL_BYTES - get->body.len;
    if (!get->checked) {
        (void)curl_easy_getinfo(get->easy, CURLINFO_CONTENT_TYPE, &type);
        get->other = type != NULL && strncmp(type, "text/", 5) != 0 &&
                     strstr(type, "json") == NULL && strstr(type, "xml") == NULL &&
                     strstr(type, "javascript") == NULL;
        get->checked = true;
    }
    if (get->other) return 0;
    get->cut = n > fits;
    text_add(&get->body, bytes, get->cut ? fits : n);
    return get->cut ? 0 : n;
}

static inline void url_free(url_get *get) {
    if (get->multi != NULL && get->easy != NULL)
        (void)curl_multi_remove_handle(get->multi, get->easy);
    curl_easy_cleanup(get->easy);
    if (get->multi != NULL) (void)curl_multi_cleanup(get->multi);
    free(get->body.at);
    free(get->url.at);
    memset(get, 0, sizeof *get);
}

static inline bool url_begin(url_get *get) {
    const char *authorities = pick_env("SSL_CERT_FILE");
    CURL *c = get->easy = curl_easy_init();
    get->multi = curl_multi_init();
    if (c == NULL || get->multi == NULL) return false;
    (void)curl_easy_setopt(c, CURLOPT_URL, get->url.at);
    (void)curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700                    /* 7.87 */
    (void)curl_easy_setopt(c, CURLOPT_QUICK_EXIT, 1L); /* a look-up that is slow is not awaited */
#endif
    (void)curl_easy_setopt(c, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)URL_LONGEST_MS);
    (void)curl_easy_setopt(c, CURLOPT_USERAGENT, "phi/" PHI_VERSION);
    (void)curl_easy_setopt(c, CURLOPT_ACCEPT_ENCODING, "");
    if (authorities != NULL) (void)curl_easy_setopt(c, CURLOPT_CAINFO, authorities);
    (void)curl_easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, url_socket);
    (void)curl_easy_setopt(c, CURLOPT_OPENSOCKETDATA, get);
    (void)curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, url_take);
    (void)curl_easy_setopt(c, CURLOPT_WRITEDATA, get);
    return curl_multi_add_handle(get->multi, c) == CURLM_OK;
}

/* What the model reads of a page. */
static inline void url_text(const url_get *get, text *out) {
    char *type = NULL;
    text plain = {NULL, 0, 0}, held = {NULL, 0, 0};
    (void)curl_easy_getinfo(get->easy, CURLINFO_CONTENT_TYPE, &type);
    if (type != NULL && strstr(type, "html") != NULL)
        html_text(&plain, text_str(&get->body));
    else
        text_add(&plain, get->body.at, get->body.len);
    text_clean(out, &held, text_str(&plain));
    if (held.len > 0) text_say(out, "\xEF\xBF\xBD"); /* it is cut off */
    if (out->len > URL_TEXT_BYTES) {
        size_t all = out->len, n = URL_TEXT_BYTES;
        while (n > 0 && ((unsigned char)out->at[n] & 0xC0) == 0x80) n--;
        text_remove(out, n, all - n);
        text_print(out, "\n[... cut: the text has %u bytes ...]", (unsigned)all);
    } else if (get->cut)
        text_say(out, "\n[... cut: the page is larger than 2 MiB ...]");
    free(plain.at);
    free(held.at);
}

static inline void url_finish(url_get *get, phi_call call, CURLcode result) {
    text words = {NULL, 0, 0};
    long code = 0;
    char *to = NULL;
    (void)curl_easy_getinfo(get->easy, CURLINFO_RESPONSE_CODE, &code);
    (void)curl_easy_getinfo(get->easy, CURLINFO_REDIRECT_URL, &to);
    if (get->was_private)
        (void)phi_call_fail(
            call,
            "The address is one of this machine or of a private network. It is read only if the "
            "user types the URL.");
    else if (get->other)
        (void)phi_call_fail(call, "The page is no text.");
    else if (result != CURLE_OK && !(result == CURLE_WRITE_ERROR && get->cut))
        (void)phi_call_fail(call, curl_easy_strerror(result));
    else if (to != NULL && code >= 300 && code < 400)
        (void)phi_call_replyf(call, "HTTP %ld: the page is at %s", code, to);
    else {
        url_text(get, &words);
        if (code >= 400)
            (void)phi_call_failf(call, "HTTP %ld\n%.2000s", code, words.len > 0 ? words.at : "");
        else
            (void)phi_call_reply(call, words.len > 0 ? words.at : "(the page is empty)");
    }
    free(words.at);
    url_free(get);
}

/* ---- the tool ---- */

/* NULL, or why the URL is not read. */
static inline const char *url_wrong(const char *url) {
    if ((curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_ASYNCHDNS) == 0)
        return "this libcurl waits while it looks up a name, so read_url does not use it";
    return host_wrong(url);
}

static phi_flow url_step(void *user_data, phi_call call) {
    url_get *get = (url_get *)phi_call_state(call, sizeof *get);
    int runs = 0, left = 0;
    CURLMsg *message;
    (void)user_data;
    if (get == NULL || get->multi == NULL) return PHI_DONE;
    (void)curl_multi_perform(get->multi, &runs);
    while ((message = curl_multi_info_read(get->multi, &left)) != NULL)
        if (message->msg == CURLMSG_DONE) {
            url_finish(get, call, message->data.result);
            return PHI_DONE;
        }
    return PHI_PENDING;
}

static phi_flow url_start(void *user_data, phi_call call, phi_str arguments) {
    url_get *get = (url_get *)phi_call_state(call, sizeof *get);
    const char *url = phi_call_arg_str(call, "url", ""), *wrong = url_wrong(url);
    (void)arguments;
    if (get == NULL) return PHI_DONE;
    if (wrong != NULL) {
        (void)phi_call_fail(call, wrong);
        return PHI_DONE;
    }
    text_say(&get->url, url);
    get->may_be_private = host_was_typed((const text *)user_data, url);
    if (url_begin(get)) return url_step(user_data, call);
    (void)phi_call_fail(call, "out of memory");
    url_free(get);
    return PHI_DONE;
}

static void url_cancel(void *user_data, phi_call call) {
    url_get *get = (url_get *)phi_call_state(call, sizeof *get);
    (void)user_data;
    if (get != NULL) url_free(get);
}

/* said: what persons have typed; it must outlive the agent. */
static inline phi_tool url_tool(text *said) {
    phi_tool tool = PHI_ZERO;
    tool.name = "read_url";
    tool.description = "Reads a page of the web by GET and gives its text; HTML becomes Markdown. "
                       "No redirect is followed: the result says where it leads.";
    tool.schema = "{\"type\":\"object\",\"properties\":{\"url\":{\"type\":\"string\","
                  "\"description\":\"http or https\"}},\"required\":[\"url\"]}";
    tool.start = url_start, tool.step = url_step, tool.cancel = url_cancel;
    tool.user_data = said;
    return tool;
}

#endif
