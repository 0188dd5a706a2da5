/* phi_html.h - a page of HTML as a text that a model reads: headings, lists, links and tables in the manner of Markdown,
   without scripts and styles. Copy what you need of it. It is a filter, no parser: a page that is not well formed gives
   some text, too, and each byte of it is looked at a bounded number of times. */
#ifndef PHI_HTML_H
#define PHI_HTML_H

#include "phi_text.h"

enum { HTML_NAME = 16, HTML_LINK = 512 };

typedef struct html_reader {
    phi_str in;
    size_t at;
    text *out;
    bool pre;             /* blanks and line breaks count */
    char link[HTML_LINK]; /* of the open <a>; empty: none */
} html_reader;

/* At least n line breaks, which end what is there; none at the beginning. */
static inline void html_break(html_reader *h, size_t n) {
    size_t len = h->out->len, have = 0;
    while (len > 0 && h->out->at[len - 1] == ' ') text_remove(h->out, --len, 1);
    while (have < len && h->out->at[len - 1 - have] == '\n') have++;
    for (; len > 0 && have < n; have++) text_say(h->out, "\n");
}

static inline void html_utf8(text *out, uint32_t c) {
    char bytes[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4, i;
    if (c == 0 || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) c = 0xFFFD, n = 3;
    for (i = n; i-- > 1; c >>= 6) bytes[i] = (char)(0x80 | (c & 0x3F));
    bytes[0] = (char)(n == 1 ? c : (0xF00u >> n & 0xFF) | c);
    text_add(out, bytes, n);
}

/* "&amp;", "&#65;", "&#x41;": how many bytes; 0: it is none of the known ones. */
static inline size_t html_entity(phi_str in, text *out) {
    static const struct {
        const char *name, *means;
    } known[] = {{"&amp;", "&"},
                 {"&lt;", "<"},
                 {"&gt;", ">"},
                 {"&quot;", "\""},
                 {"&apos;", "'"},
                 {"&nbsp;", " "},
                 {"&ndash;", "\xE2\x80\x93"},
                 {"&mdash;", "\xE2\x80\x94"},
                 {"&hellip;", "\xE2\x80\xA6"},
                 {"&lsquo;", "\xE2\x80\x98"},
                 {"&rsquo;", "\xE2\x80\x99"},
                 {"&ldquo;", "\xE2\x80\x9C"},
                 {"&rdquo;", "\xE2\x80\x9D"},
                 {"&copy;", "\xC2\xA9"},
                 {"&middot;", "\xC2\xB7"}};
    size_t i, n;
    uint32_t c = 0;
    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (in.len >= (n = strlen(known[i].name)) && memcmp(in.at, known[i].name, n) == 0)
            return text_say(out, known[i].means), n;
    if (in.len < 4 || in.at[1] != '#') return 0;
    n = in.at[2] == 'x' || in.at[2] == 'X' ? 3 : 2;
    for (i = n; i < in.len && i < n + 7; i++) {
        char d = in.at[i] >= 'A' && in.at[i] <= 'F' ? (char)(in.at[i] + 32) : in.at[i];
        if (d >= '0' && d <= '9')
            c = c * (n == 3 ? 16 : 10) + (uint32_t)(d - '0');
        else if (n == 3 && d >= 'a' && d <= 'f')
            c = c * 16 + (uint32_t)(d - 'a' + 10);
        else
            break;
    }
    if (i == n || i >= in.len || in.at[i] != ';') return 0;
    html_utf8(out, c);
    return i + 1;
}

static inline bool html_is(const char *name, const char *list) {
    const char *at = list;
    size_t n = strlen(name);
    while ((at = strstr(at, name)) != NULL) {
        if (n > 0 && at[n] == ' ' && (at == list || at[-1] == ' ')) return true;
        at += 1;
    }
    return false;
}

/* Moves to after the end of an element whose text nobody reads. */
static inline void html_skip(html_reader *h, const char *name) {
    size_t n = strlen(name), i, k;
    for (i = h->at; i + n + 2 < h->in.len; i++) {
        if (h->in.at[i] != '<' || h->in.at[i + 1] != '/') continue;
        for (k = 0; k < n && (h->in.at[i + 2 + k] | 32) == name[k];) k++;
        if (k == n) break;
    }
    h->at = i + n + 2 < h->in.len ? i : h->in.len;
}

/* Where the link of "<a ...>" leads, if it is one to another page. */
static inline void html_link(html_reader *h, phi_str tag) {
    size_t i, n = 0;
    char end;
    h->link[0] = '\0';
    for (i = 0; i + 6 < tag.len; i++)
        if (memcmp(tag.at + i, "href=", 5) == 0 || memcmp(tag.at + i, "HREF=", 5) == 0) break;
    if (i + 6 >= tag.len) return;
    end = tag.at[i += 5];
    if (end == '"' || end == '\'')
        i++;
    else
        end = ' ';
    while (i + n < tag.len && tag.at[i + n] != end && n < HTML_LINK) n++;
    if (n == 0 || n == HTML_LINK || tag.at[i] == '#') return;
    if (n > 11 && memcmp(tag.at + i, "javascript:", 11) == 0) return;
    (void)snprintf(h->link, sizeof h->link, "%.*s", (int)n, tag.at + i);
    text_say(h->out, "[");
}

/* A tag, without its brackets. */
static inline void html_tag(html_reader *h, phi_str tag) {
    char name[HTML_NAME + 1] = "";
    bool closes = tag.len > 0 && tag.at[0] == '/';
    size_t i, from = closes ? 1 : 0;
    for (i = 0; from + i < tag.len && i < HTML_NAME && strchr(" \t\r\n/", tag.at[from + i]) == NULL;
         i++)
        name[i] = (char)(tag.at[from + i] >= 'A' && tag.at[from + i] <= 'Z' ? tag.at[from + i] | 32
                                                                            : tag.at[from + i]);
    name[i] = '\0';
    if (!closes && html_is(name, "script style template svg noscript iframe "))
        html_skip(h, name);
    else if (name[0] == 'h' && name[1] >= '1' && name[1] <= '6' && name[2] == '\0') {
        html_break(h, 2);
        if (!closes) text_print(h->out, "%.*s ", name[1] - '0', "######");
    } else if (html_is(name, "p ul ol table pre blockquote title section article "))
        html_break(h, 2);
    else if (html_is(name, "div br tr li dt dd hr header footer nav main form option "))
        html_break(h, 1);
    if (strcmp(name, "pre") == 0) h->pre = !closes;
    if (!closes && strcmp(name, "li") == 0) text_say(h->out, "- ");
    if (!closes && html_is(name, "td th "))
        text_say(h->out, h->out->len > 0 && strchr(" \n", h->out->at[h->out->len - 1]) == NULL
                             ? " | "
                             : "| ");
    if (!closes && strcmp(name, "a") == 0) html_link(h, tag);
    if (closes && strcmp(name, "a") == 0 && h->link[0] != '\0') {
        text_print(h->out, "](%s)", h->link);
        h->link[0] = '\0';
    }
}

/* Adds the page's text. */
static inline void html_text(text *out, phi_str in) {
    html_reader h = PHI_ZERO;
    h.in = in, h.out = out;
    while (h.at < in.len) {
        char c = in.at[h.at];
        size_t left = in.len - h.at, n = 1, end = h.at + 1;
        phi_str rest = {in.at + h.at, left};
        bool blank = strchr(" \t\r\n", c) != NULL && c != '\0';
        if (c == '<' && left > 3 && memcmp(in.at + h.at, "<!--", 4) == 0) {
            while (end + 2 < in.len && memcmp(in.at + end, "-->", 3) != 0) end++;
            h.at = end + 2 < in.len ? end + 3 : in.len;
        } else if (c == '<' && left > 1 &&
                   (strchr("/!?", in.at[h.at + 1]) || (in.at[h.at + 1] | 32) >= 'a')) {
            char quote = '\0';
            phi_str tag = {in.at + end, 0};
            for (; end < in.len && (quote != '\0' || in.at[end] != '>'); end++)
                quote = quote != '\0' ? (in.at[end] == quote ? '\0' : quote)
                        : strchr("\"'", in.at[end]) != NULL && in.at[end - 1] == '=' ? in.at[end]
                                                                                     : '\0';
            tag.len = end - (h.at + 1);
            h.at = end < in.len ? end + 1 : in.len;
            html_tag(&h, tag);
        } else {
            if (c == '&' && (n = html_entity(rest, out)) == 0)
                n = 1, text_say(out, "&");
            else if (c != '&' && (!blank || h.pre))
                text_add(out, &c, 1);
            else if (blank && out->len > 0 && strchr(" \n", out->at[out->len - 1]) == NULL)
                text_say(out, " ");
            h.at += n;
        }
    }
    html_break(&h, 1);
}

#endif
