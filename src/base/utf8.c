/* utf8.c - UTF-8 as in RFC 3629 (no overlong forms, no surrogates), text for terminals, dates. */
#include "base/base_in.h"
#include <stdlib.h>
#include <string.h>

/* Returns how many bytes at `at` are the beginning of a valid sequence; 0: none. *whole is the
   length that the whole sequence would have. */
static size_t phi__utf8_prefix(const char *at, size_t left, size_t *whole) {
    const unsigned char *p = (const unsigned char *)at;
    unsigned char a = p[0], low = 0x80, high = 0xBF;
    size_t n = 2;
    *whole = a < 0x80 ? 1 : a < 0xC2 || a > 0xF4 ? 0 : a < 0xE0 ? 2 : a < 0xF0 ? 3 : 4;
    if (*whole < 2) return *whole;
    if (a == 0xE0) low = 0xA0;
    if (a == 0xED) high = 0x9F;
    if (a == 0xF0) low = 0x90;
    if (a == 0xF4) high = 0x8F;
    if (left < 2 || p[1] < low || p[1] > high) return 1;
    while (n < *whole && n < left && (p[n] & 0xC0) == 0x80) n++;
    return n;
}

/* Returns the length of the valid sequence at `at`, or 0. */
static size_t phi__utf8_sequence(const char *at, size_t left) {
    size_t whole, n = phi__utf8_prefix(at, left, &whole);
    return n == whole ? n : 0;
}

/* True for a character that a terminal would act on: control characters of one byte, C1 (C2 80 to
   C2 9F), and U+202A to U+202E and U+2066 to U+2069 (E2 80 AA.., E2 81 A6..). */
static bool phi__words_bad(const char *at, size_t n) {
    unsigned char a = (unsigned char)at[0], b = n > 1 ? (unsigned char)at[1] : 0;
    unsigned char c = n > 2 ? (unsigned char)at[2] : 0;
    if (n == 1) return a < 0x20 || a == 0x7F;
    if (n == 2) return a == 0xC2 && b < 0xA0;
    return n == 3 && a == 0xE2 &&
           ((b == 0x80 && c >= 0xAA && c <= 0xAE) || (b == 0x81 && c >= 0xA6 && c <= 0xA9));
}

static size_t phi__words_put(char *at, size_t len, bool line) {
    size_t i = 0, out = 0;
    while (i < len) {
        bool stays = !line && (at[i] == '\n' || at[i] == '\t');
        if (!line && at[i] == '\r' && i + 1 < len && at[i + 1] == '\n') {
            i++;
            continue;
        }
        size_t n = phi__utf8_sequence(at + i, len - i);
        if (n == 0 || (!stays && phi__words_bad(at + i, n))) {
            at[out++] = '?';
            i += n > 0 ? n : 1;
            continue;
        }
        memmove(at + out, at + i, n);
        out += n;
        i += n;
    }
    return out;
}

PHI__FN size_t phi__words_clean(char *at, size_t len) { return phi__words_put(at, len, false); }

PHI__FN size_t phi__words_clean_line(char *at, size_t len) { return phi__words_put(at, len, true); }

PHI__FN size_t phi__utf8_bad(const char *at, const char *end) {
    size_t whole;
    return phi__max(phi__utf8_prefix(at, (size_t)(end - at), &whole), 1);
}

static size_t phi__utf8_ascii(const unsigned char *p, size_t left) {
    size_t n = 0;
    while (left - n >= 8) {
        uint64_t word;
        memcpy(&word, p + n, 8);
        if ((word & UINT64_C(0x8080808080808080)) != 0) break;
        n += 8;
    }
    while (n < left && p[n] < 0x80) n++;
    return n;
}

PHI__FN size_t phi__utf8_valid(phi_str s) {
    const unsigned char *p = (const unsigned char *)s.at;
    size_t i = 0;
    while (i < s.len) {
        i += phi__utf8_ascii(p + i, s.len - i);
        if (i == s.len) break;
        size_t n = phi__utf8_sequence(s.at + i, s.len - i);
        if (n == 0) return i;
        i += n;
    }
    return i;
}

PHI__FN size_t phi__utf8_cut(phi_str s, size_t most) {
    if (most >= s.len) return s.len;
    for (size_t back = 0; back < 4 && back <= most; back++)
        if (((unsigned char)s.at[most - back] & 0xC0) != 0x80) return most - back;
    return most; /* these bytes are not UTF-8, so the text may be cut anywhere */
}

PHI__FN void phi__utf8_repair(phi__buf *out, phi_str s) {
    while (s.len > 0) {
        size_t good = phi__utf8_valid(s);
        phi__buf_add(out, s.at, good);
        if (good == s.len) return;
        phi__buf_add(out, "\xEF\xBF\xBD", 3);
        good += phi__utf8_bad(s.at + good, s.at + s.len);
        s = phi__str_from(s, good);
    }
}

PHI__FN size_t phi__utf8_put(char out[4], uint32_t code) {
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | (code >> 6));
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | (code >> 12));
        out[1] = (char)(0x80 | ((code >> 6) & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | (code >> 18));
    out[1] = (char)(0x80 | ((code >> 12) & 0x3F));
    out[2] = (char)(0x80 | ((code >> 6) & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* ---- times as RFC 3339, by the Gregorian calendar's cycle of 400 years ----

   Years are counted from March, so that a leap day is the last day of a year. */

/* 0000-01-01T00:00:00Z and 9999-12-31T23:59:59.999Z */
#define PHI__DATE_FIRST_MS INT64_C(-62167219200000)
#define PHI__DATE_LAST_MS INT64_C(253402300799999)

typedef struct phi__date {
    int64_t year, month, day;
} phi__date;

/* Returns the date of a day, counted in days since 1970. */
static phi__date phi__date_of(int64_t days) {
    int64_t z = days + 719468;
    phi__date date;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t of_era = z - era * 146097;
    int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * y + y / 4 - y / 100);
    int64_t m = (5 * of_year + 2) / 153;
    date.day = of_year - (153 * m + 2) / 5 + 1;
    date.month = m < 10 ? m + 3 : m - 9;
    date.year = y + era * 400 + (date.month <= 2 ? 1 : 0);
    return date;
}

static char *phi__date_digits(char *at, int64_t value, int digits, char after) {
    for (int i = digits - 1; i >= 0; i--) {
        at[i] = (char)('0' + value % 10);
        value /= 10;
    }
    at[digits] = after;
    return at + digits + 1;
}

/* True if the text has this shape. In the shape, 'd' is any digit, and 'T' also allows 't' or
   a space in the text. */
static bool phi__date_shaped(const char *at, const char *shape) {
    for (; *shape != '\0'; at++, shape++) {
        if (*shape == 'd' ? !phi__is_digit(*at)
                          : *at != *shape && !(*shape == 'T' && (*at == 't' || *at == ' ')))
            return false;
    }
    return true;
}

static int64_t phi__date_number(const char *at, int digits) {
    int64_t n = 0;
    while (digits-- > 0) n = n * 10 + (*at++ - '0');
    return n;
}

/* Reads the part after the seconds: a fraction and the offset from UTC. */
static bool phi__date_rest(phi_str s, int64_t *fraction_ms, int64_t *offset_minutes) {
    int64_t unit = 100;
    size_t at = 0;
    *fraction_ms = *offset_minutes = 0;
    if (s.len > 1 && s.at[0] == '.' && phi__date_shaped(s.at + 1, "d"))
        for (at = 1; at < s.len && phi__date_shaped(s.at + at, "d"); at++, unit /= 10)
            *fraction_ms += unit * (s.at[at] - '0');
    if (s.len - at == 1) return s.at[at] == 'Z' || s.at[at] == 'z';
    if (s.len - at != 6 || (s.at[at] != '+' && s.at[at] != '-')) return false;
    if (!phi__date_shaped(s.at + at + 1, "dd:dd")) return false;
    *offset_minutes = phi__date_number(s.at + at + 1, 2) * 60 + phi__date_number(s.at + at + 4, 2);
    if (s.at[at] == '-') *offset_minutes = -*offset_minutes;
    return s.at[at + 1] <= '2' && s.at[at + 4] <= '5';
}

PHI__FN size_t phi__date_put(int64_t ms, char out[PHI__DATE_BYTES]) {
    char *at = out;
    if (ms < PHI__DATE_FIRST_MS) ms = PHI__DATE_FIRST_MS;
    if (ms > PHI__DATE_LAST_MS) ms = PHI__DATE_LAST_MS;
    int64_t days = ms / 86400000;
    int64_t rest = ms % 86400000;
    if (rest < 0) {
        rest += 86400000;
        days--;
    }
    phi__date date = phi__date_of(days);
    at = phi__date_digits(at, date.year, 4, '-');
    at = phi__date_digits(at, date.month, 2, '-');
    at = phi__date_digits(at, date.day, 2, 'T');
    at = phi__date_digits(at, rest / 3600000, 2, ':');
    at = phi__date_digits(at, rest / 60000 % 60, 2, ':');
    at = phi__date_digits(at, rest / 1000 % 60, 2, '.');
    if (rest % 1000 != 0) at = phi__date_digits(at, rest % 1000, 3, '.');
    at[-1] = 'Z'; /* replaces the last separator */
    *at = '\0';
    return (size_t)(at - out);
}

PHI__FN bool phi__date_get(phi_str text, int64_t *ms) {
    int64_t fraction, offset;
    phi__date date;
    if (text.len < 20 || !phi__date_shaped(text.at, "dddd-dd-ddTdd:dd:dd")) return false;
    if (!phi__date_rest(phi__str_from(text, 19), &fraction, &offset)) return false;
    date.year = phi__date_number(text.at, 4);
    date.month = phi__date_number(text.at + 5, 2);
    date.day = phi__date_number(text.at + 8, 2);
    int64_t hour = phi__date_number(text.at + 11, 2);
    int64_t minute = phi__date_number(text.at + 14, 2);
    int64_t second = phi__date_number(text.at + 17, 2);
    if (date.month < 1 || date.month > 12 || hour > 23 || minute > 59 || second > 60) return false;
    int64_t y = date.year;
    int64_t m = date.month;
    int64_t d = date.day;
    if (m <= 2) y--;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    int64_t days = era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
    phi__date real = phi__date_of(days); /* another date if the month has no such day */
    if (real.month != date.month || real.day != date.day) return false;
    *ms = days * 86400000 + ((hour * 60 + minute - offset) * 60 + second) * 1000 + fraction;
    return true;
}
