/* secret.c - finds the keys, tokens and passwords of requests in answers and messages, and hides
   them.

   Before requests leave, their secrets go into a set: keys, secret headers, and user info and
   queries of URLs. In texts, asterisks of the same length then replace each secret: plain, escaped
   (percent-encoding, JSON) or in base64, alone or inside a longer text. Secrets shorter than 8
   bytes are ignored, because they would be found everywhere. Ownership: the set copies into its
   arena. If memory runs out, a secret is missing and `failed` is set.

   A text is compared with a secret character by character, and each character is decoded when it
   is compared. So no decoded form of a secret is stored, and hiding needs no memory and cannot
   fail. */
#include "io/io_in.h"

enum {
    PHI__SECRET_LEAST = 8, /* bytes of the shortest secret */
    /* max. signatures that are kept, since their requests may still be running */
    PHI__SECRET_PASSING = 16
};

/* ---- which texts are secret? ---- */

static bool phi__secret_is(phi_str name, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (phi__str_is_nocase(name, words[i])) return true;
    return false;
}

static bool phi__secret_name(phi_str name) {
    static const char *const words[] = {"auth",       "key",       "token", "secret",
                                        "cookie",     "signature", "sig",   "jwt",
                                        "credential", "pass",      "pwd",   "bearer"};
    size_t count = PHI__COUNT(words);
    for (size_t i = 0; i < count; i++)
        if (phi__str_find_nocase(name, 0, words[i]) != SIZE_MAX) return true;
    return false;
}

/* True for headers that phi sends itself or whose values are public. */
static bool phi__secret_plain_header(phi_str name) {
    static const char *const names[] = {
        "content-type", "accept",       "user-agent", "anthropic-version",   "anthropic-beta",
        "x-amz-date",   "http-referer", "x-title",    "x-amz-content-sha256"};
    return phi__secret_is(name, names, PHI__COUNT(names));
}

static bool phi__secret_plain_query(phi_str name) {
    static const char *const names[] = {"alt", "api-version"};
    return phi__secret_is(name, names, PHI__COUNT(names));
}

/* True for letters and digits without a blank, as in tokens. */
static bool phi__secret_looks(phi_str value) {
    bool letter = false, digit = false;
    for (size_t i = 0; i < value.len; i++) {
        char c = value.at[i];
        if (c == ' ' || c == '\t') return false;
        if (phi__is_digit(c))
            digit = true;
        else if (phi__is_alnum(c))
            letter = true;
    }
    return letter && digit && value.len >= PHI__SECRET_LEAST;
}

/* ---- characters of a text ---- */

static int phi__secret_digit(char c) {
    if (phi__is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads `digits` hexadecimal digits after `skip` bytes. Returns the total number of bytes. 0: one
   of the characters is no such digit. SIZE_MAX: the text ends before the last digit. */
static size_t phi__secret_hex(phi_str s, size_t at, size_t skip, size_t digits, unsigned *code) {
    *code = 0;
    for (size_t i = at + skip; i < at + skip + digits; i++) {
        if (i >= s.len) return SIZE_MAX;
        int digit = phi__secret_digit(s.at[i]);
        if (digit < 0) return 0;
        *code = *code * 16 + (unsigned)digit;
    }
    return skip + digits;
}

/* Decodes the character at `at`. Returns the number of its bytes, or SIZE_MAX if the text ends
   inside it. */
static size_t phi__secret_unit(phi_str s, size_t at, char *c) {
    unsigned code = 0;
    size_t n = 0;
    *c = s.at[at];
    if (*c == '%')
        n = phi__secret_hex(s, at, 1, 2, &code);
    else if (*c == '\\') {
        if (at + 1 == s.len) return SIZE_MAX;
        if (s.at[at + 1] == 'u')
            n = phi__secret_hex(s, at, 2, 4, &code);
        else if (!phi__is_alnum(s.at[at + 1])) {
            *c = s.at[at + 1];
            return 2;
        }
    }
    if (n == 0 || (n != SIZE_MAX && code > 0xFF)) return 1;
    *c = (char)(unsigned char)code;
    return n;
}

/* ---- forms of a secret ---- */

/* A form in which a text may have the secret. shift -1: plain text. shift 0 to 2: base64, with this
   many bytes before the secret in its first group of three. */
typedef struct phi__secret_form {
    phi_str text;
    int shift;
    bool decoded; /* escapes in the text are decoded */
} phi__secret_form;

/* Returns how many bits of the secret share a base64 letter with the bytes before the secret. */
static size_t phi__secret_skipped(int shift) { return shift == 1 ? 4 : shift == 2 ? 2 : 0; }

static size_t phi__secret_units(const phi__secret_form *form) {
    if (form->shift < 0) return form->text.len;
    return (form->text.len * 8 - phi__secret_skipped(form->shift)) / 6;
}

static char phi__secret_letter(const phi__secret_form *form, size_t i) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (form->shift < 0) return form->text.at[i];
    size_t bit = phi__secret_skipped(form->shift) + 6 * i;
    size_t at = bit / 8;
    unsigned pair = (unsigned)(unsigned char)form->text.at[at] << 8;
    if (at + 1 < form->text.len) pair |= (unsigned char)form->text.at[at + 1];
    return letters[pair >> (10 - bit % 8) & 63];
}

/* True if the characters count as equal. Base64 has two alphabets, and web forms write a blank as
   '+'. */
static bool phi__secret_same(const phi__secret_form *form, char want, char c) {
    if (want == c) return true;
    if (form->shift < 0) return form->decoded && want == ' ' && c == '+';
    return (want == '+' && c == '-') || (want == '/' && c == '_');
}

/* Compares a form with the text at `at`, and sets *units to the number of matching characters.
   Returns the end of the match, s.len if the text ended first, or 0 if the text differs. */
static size_t phi__secret_match(const phi__secret_form *form, phi_str s, size_t at, size_t *units) {
    size_t all = phi__secret_units(form), i;
    for (i = 0; i < all && at < s.len; i++) {
        char c = s.at[at];
        size_t n = form->decoded ? phi__secret_unit(s, at, &c) : 1;
        if (n == SIZE_MAX) {
            at = s.len;
            break;
        }
        if (!phi__secret_same(form, phi__secret_letter(form, i), c)) {
            *units = 0;
            return 0;
        }
        at += n;
    }
    *units = i;
    return at;
}

static bool phi__secret_base64(char c) {
    return phi__is_alnum(c) || c == '+' || c == '/' || c == '-' || c == '_';
}

/* Returns the end of a match including the base64 letter with the last bits of the secret, and
   padding. */
static size_t phi__secret_rest(const phi__secret_form *form, phi_str s, size_t end) {
    size_t bits = form->text.len * 8 - phi__secret_skipped(form->shift);
    if (bits % 6 != 0 && end < s.len && phi__secret_base64(s.at[end])) end++;
    for (size_t i = 0; i < 2 && end < s.len && s.at[end] == '='; i++) end++;
    return end;
}

/* Goes to the next form of a secret. False after the last one. */
static bool phi__secret_next(phi__secret_form *form) {
    if (form->shift < 0 && !form->decoded) {
        form->decoded = true;
        return true;
    }
    return ++form->shift < 3;
}

static phi__secret_form phi__secret_forms(const phi__secret *secret) {
    phi__secret_form form;
    form.text = secret->text;
    form.shift = -1;
    form.decoded = false;
    return form;
}

static bool phi__secret_begins(const phi__secrets *set, char c) {
    unsigned char byte = (unsigned char)c;
    return (set->first[byte / 8] >> byte % 8 & 1) != 0;
}

/* Returns the end of the longest secret that begins at `at`, or 0. *from gets its start (in base64
   perhaps at - 1). */
static size_t phi__secret_at(const phi__secrets *set, phi_str s, size_t at, phi__secret_text kind,
                             size_t *from) {
    size_t best = 0, units, end;
    *from = at;
    for (size_t i = 0; i < set->count; i++) {
        phi__secret_form form = phi__secret_forms(&set->list[i]);
        do {
            end = phi__secret_match(&form, s, at, &units);
            if (units == phi__secret_units(&form)) {
                if (form.shift > 0 && at > 0 &&
                    kind != PHI__SECRET_JSON && /* in JSON this letter may belong to an escape */
                    phi__secret_base64(s.at[at - 1]))
                    *from = at - 1;
                best = phi__max(best, form.shift < 0 ? end : phi__secret_rest(&form, s, end));
            } else if (kind == PHI__SECRET_WORDS && end == s.len && units >= PHI__SECRET_LEAST)
                best = s.len;
        } while (phi__secret_next(&form));
    }
    return best;
}

/* ---- filling a set ---- */

static void phi__secret_note_first(phi__secrets *set, char c) {
    unsigned char byte = (unsigned char)c;
    set->first[byte / 8] = (unsigned char)(set->first[byte / 8] | 1u << byte % 8);
}

static void phi__secret_note(phi__secrets *set, const phi__secret *secret) {
    phi__secret_form form = phi__secret_forms(secret);
    do {
        char letter = phi__secret_letter(&form, 0);
        phi__secret_note_first(set, letter);
        if (form.shift >= 0 && letter == '+') phi__secret_note_first(set, '-');
        if (form.shift >= 0 && letter == '/') phi__secret_note_first(set, '_');
    } while (phi__secret_next(&form));
    phi__secret_note_first(set, '%');
    phi__secret_note_first(set, '\\');
    set->longest = phi__max(set->longest, secret->text.len);
}

/* Replaces the oldest kept signature of the same length. False: there is room for one more, and
   nothing was replaced. */
static bool phi__secret_replace(phi__secrets *set, phi_str text) {
    size_t n = 0;
    for (size_t i = 0; i < set->count; i++)
        if (set->list[i].passing && set->list[i].text.len == text.len) n++;
    if (n < PHI__SECRET_PASSING) return false;
    n = set->next_passing++ % n;
    for (size_t i = 0; i < set->count; i++)
        if (set->list[i].passing && set->list[i].text.len == text.len && n-- == 0) {
            memcpy((char *)(uintptr_t)set->list[i].text.at, text.at, text.len);
            phi__secret_note(set, &set->list[i]);
            break;
        }
    return true;
}

static void phi__secret_keep(phi__secrets *set, phi_str text, bool passing) {
    text = phi__str_trim(text);
    if (text.len < PHI__SECRET_LEAST) return;
    for (size_t i = 0; i < set->count; i++)
        if (phi_str_equal(set->list[i].text, text)) return;
    if (passing && phi__secret_replace(set, text)) return;
    phi__secret *list =
        (phi__secret *)phi__arena_grow(set->arena, set->list, set->count, &set->cap, sizeof *list);
    if (list != NULL) set->list = list;
    if (list == NULL || !phi__arena_str(set->arena, text, &list[set->count].text)) {
        set->failed = true;
        return;
    }
    phi__secret *secret = &list[set->count++];
    secret->passing = passing;
    phi__secret_note(set, secret);
}

/* Adds a text as it is, and also unescaped as a server reads it. query: '+' means a blank. */
static void phi__secret_escaped(phi__secrets *set, phi_str text, bool query) {
    size_t n = 0;
    phi__secret_add(set, text);
    if (text.len < PHI__SECRET_LEAST) return;
    char *plain = phi__arena_bytes(set->arena, text.len);
    if (plain == NULL) {
        set->failed = true;
        return;
    }
    for (size_t i = 0; i < text.len; n++) {
        bool blank = query && text.at[i] == '+';
        size_t step = phi__secret_unit(text, i, &plain[n]);
        if (blank) plain[n] = ' ';
        i += step == SIZE_MAX ? 1 : step;
    }
    phi__secret_add(set, phi__str(plain, n));
}

/* Finds the "name=value" of a query that begins at `at`, and sets *end. Returns the start of its
   value. */
static size_t phi__secret_part(phi_str url, size_t at, size_t *end) {
    *end = at;
    while (*end < url.len && url.at[*end] != '&' && url.at[*end] != '#') (*end)++;
    size_t eq = phi__str_find(phi__str(url.at, *end), at, "=");
    return eq == SIZE_MAX ? at : eq + 1;
}

static phi_str phi__secret_part_name(phi_str url, size_t at, size_t value) {
    return phi__str(url.at + at, value > at ? value - at - 1 : 0);
}

/* Adds A and S of "AWS4-HMAC-SHA256 Credential=A/..., SignedHeaders=..., Signature=S". False: the
   value is not such a text. */
static bool phi__secret_aws(phi__secrets *set, phi_str value) {
    size_t credential = phi__str_find(value, 0, "Credential=");
    size_t signature = phi__str_find(value, 0, "Signature=");
    if (!phi__str_starts(value, "AWS4-") || credential == SIZE_MAX || signature == SIZE_MAX)
        return false;
    credential += sizeof "Credential=" - 1;
    signature += sizeof "Signature=" - 1;
    size_t end = phi__str_find(value, credential, "/");
    if (end != SIZE_MAX) phi__secret_add(set, phi__str(value.at + credential, end - credential));
    phi__secret_keep(set, phi__str(value.at + signature, value.len - signature), true);
    return true;
}

/* ---- for the loop and for tapes ---- */

PHI__FN void phi__secret_init(phi__secrets *set, phi_arena *arena) {
    memset(set, 0, sizeof *set);
    set->arena = arena;
}

PHI__FN void phi__secret_add(phi__secrets *set, phi_str secret) {
    phi__secret_keep(set, secret, false);
}

PHI__FN void phi__secret_key(phi__secrets *set, phi_str key) {
    size_t at = 0, end;
    phi__secret_add(set, key);
    while ((end = phi__str_find(key, at, ":")) != SIZE_MAX) {
        phi__secret_add(set, phi__str(key.at + at, end - at));
        at = end + 1;
    }
    if (at > 0) phi__secret_add(set, phi__str(key.at + at, key.len - at));
}

PHI__FN void phi__secret_url(phi__secrets *set, phi_str url) {
    size_t end, value;
    phi__url parts;
    (void)phi__url_split(url, &parts);
    size_t colon = phi__str_find(parts.user, 0, ":");
    if (parts.user.len > 0) phi__secret_escaped(set, parts.user, false);
    if (colon != SIZE_MAX) {
        phi__secret_escaped(set, phi__str(parts.user.at, colon), false);
        phi__secret_escaped(set, phi__str_from(parts.user, colon + 1), false);
    }
    size_t at = phi__str_find(url, parts.origin.len, "?");
    for (at = at == SIZE_MAX ? url.len : at + 1; at < url.len && url.at[at - 1] != '#';
         at = end + 1) {
        value = phi__secret_part(url, at, &end);
        phi_str name = phi__secret_part_name(url, at, value);
        phi_str text = phi__str(url.at + value, end - value);
        if (phi__secret_plain_query(name)) continue;
        if (phi__secret_name(name) || phi__secret_looks(text)) phi__secret_escaped(set, text, true);
    }
}

PHI__FN bool phi__secret_header(phi__secrets *set, phi_str name, phi_str value) {
    if (phi__secret_plain_header(name)) return false;
    if (!phi__secret_name(name) && !phi__secret_looks(value)) return false;
    value = phi__str_trim(value);
    if (phi__secret_aws(set, value)) return true;
    if (phi__str_find_nocase(name, 0, "cookie") != SIZE_MAX) {
        /* Adds the values of "a=1; b=2". */
        size_t at = 0;
        while (at < value.len) {
            size_t end = phi__str_find(value, at, ";");
            if (end == SIZE_MAX) end = value.len;
            size_t eq = phi__str_find(phi__str(value.at, end), at, "=");
            if (eq != SIZE_MAX) phi__secret_add(set, phi__str(value.at + eq + 1, end - eq - 1));
            at = end + 1;
        }
    }
    size_t space = phi__str_find(value, 0, " "); /* the value may be "Bearer key" */
    if (space != SIZE_MAX && value.len - space > PHI__SECRET_LEAST) {
        phi_str scheme = phi__str(value.at, space);
        value = phi__str_trim(phi__str(value.at + space, value.len - space));
        if (phi__str_is_nocase(scheme, "Basic")) {
            phi__buf plain;
            phi__buf_init(&plain, set->arena->memory);
            if (phi__base64_decode(&plain, value)) {
                phi__secret_add(set, phi__buf_str(&plain));
                size_t colon = phi__str_find(phi__buf_str(&plain), 0, ":");
                if (colon != SIZE_MAX)
                    phi__secret_add(set, phi__str(plain.at + colon + 1, plain.len - colon - 1));
            }
            if (plain.failed) set->failed = true;
            phi__buf_free(&plain);
        }
    }
    phi__secret_add(set, value);
    return true;
}

PHI__FN void phi__secret_request(phi__secrets *set, const phi_request *request) {
    phi_request_info info = phi_request_get_info(request);
    phi__secret_url(set, info.url);
    for (size_t i = 0; i < info.header_count; i++)
        (void)phi__secret_header(set, info.headers[i].name, info.headers[i].value);
}

PHI__FN void phi__secret_put_url(phi__buf *out, phi_str url) {
    size_t to = 0, end, value;
    phi__url parts;
    (void)phi__url_split(url, &parts);
    if (parts.user.len > 0) {
        to = (size_t)(parts.user.at - url.at) + parts.user.len;
        phi__buf_add(out, url.at, to - parts.user.len);
        phi__buf_text(out, "[redacted]");
    }
    size_t hash = phi__str_find(url, to, "#");
    size_t at = phi__str_find(phi__str(url.at, phi__min(hash, url.len)), to, "?");
    at = at == SIZE_MAX ? phi__min(hash, url.len) : at + 1;
    phi__buf_add(out, url.at + to, at - to);
    for (; at < phi__min(hash, url.len); at = end) {
        value = phi__secret_part(url, at, &end);
        phi__buf_add(out, url.at + at, value - at);
        if (phi__secret_plain_query(phi__secret_part_name(url, at, value)))
            phi__buf_add(out, url.at + value, end - value);
        else if (end > value)
            phi__buf_text(out, "[redacted]");
        if (end < url.len && url.at[end] == '&') phi__buf_char(out, url.at[end++]);
    }
    if (hash != SIZE_MAX) phi__buf_text(out, "#[redacted]");
}

PHI__FN bool phi__secret_hide(const phi__secrets *set, char *at, size_t len,
                              phi__secret_text kind) {
    phi_str s = phi__str(at, len);
    bool found = false;
    size_t i = 0, from;
    while (set->count > 0 && i < len) {
        size_t end = phi__secret_begins(set, at[i]) ? phi__secret_at(set, s, i, kind, &from) : 0;
        if (end > 0) {
            memset(at + from, '*', end - from);
            found = true;
            i = end;
        } else if (kind == PHI__SECRET_JSON && at[i] == '\\')
            i += i + 1 < len && at[i + 1] == 'u' ? 6 : 2;
        else
            i++;
    }
    return found;
}

PHI__FN size_t phi__secret_tail(const phi__secrets *set, phi_str text) {
    /* base64 adds a third, an escape takes six bytes */
    size_t most = phi__mul(set->longest, 8), i, units;
    for (size_t at = text.len - phi__min(most, text.len); at < text.len; at++) {
        if (!phi__secret_begins(set, text.at[at])) continue;
        for (i = 0; i < set->count; i++) {
            phi__secret_form form = phi__secret_forms(&set->list[i]);
            do {
                if (phi__secret_match(&form, text, at, &units) == text.len &&
                    units < phi__secret_units(&form))
                    return text.len - at;
            } while (phi__secret_next(&form));
        }
    }
    return 0;
}
