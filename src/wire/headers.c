/* headers.c - finds header lines and reads delays and dates. */
#include "wire/headers_in.h"

#include "base/date_in.h"

#define PHI__HEADERS_NUMBER_MOST UINT64_C(1000000000000) /* thousandths: thirty years of seconds */

static char phi__headers_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static bool phi__headers_is_digit(char c) { return c >= '0' && c <= '9'; }

PHI__FN phi_str phi__headers_value(phi_str headers, const char *name) {
    size_t at = 0;
    while (at < headers.len) {
        size_t end = phi__str_find(headers, at, "\n"), colon;
        phi_str line = phi__str(headers.at + at, (end == SIZE_MAX ? headers.len : end) - at);
        colon = phi__str_find(line, 0, ":");
        if (colon != SIZE_MAX && phi__str_is_nocase(phi__str(line.at, colon), name))
            return phi__str_trim(phi__str(line.at + colon + 1, line.len - colon - 1));
        if (end == SIZE_MAX) break;
        at = end + 1;
    }
    return PHI__LIT("");
}

/* ---- delays ---- */

/* A decimal number at *at, which moves behind it, in thousandths. False: none. */
static bool phi__headers_number(phi_str s, size_t *at, uint64_t *thousandths) {
    uint64_t n = 0, scale = 1000;
    size_t i = *at;
    if (i >= s.len || !phi__headers_is_digit(s.at[i])) return false;
    for (; i < s.len && phi__headers_is_digit(s.at[i]); i++) {
        n = n * 10 + (uint64_t)(s.at[i] - '0') * 1000;
        if (n > PHI__HEADERS_NUMBER_MOST) n = PHI__HEADERS_NUMBER_MOST;
    }
    if (i + 1 < s.len && s.at[i] == '.' && phi__headers_is_digit(s.at[i + 1]))
        for (i++; i < s.len && phi__headers_is_digit(s.at[i]); i++) {
            scale /= 10;
            n += (uint64_t)(s.at[i] - '0') * scale;
        }
    *at = i;
    *thousandths = n;
    return true;
}

/* Milliseconds of the unit at *at, which moves behind it; 1000 where there is no word at all, 0:
   the word is none that is known. */
static uint64_t phi__headers_unit(phi_str s, size_t *at) {
    static const struct phi__headers_units {
        char name[16];
        uint32_t ms;
    } units[] = {{"ms", 1},          {"millisecond", 1}, {"milliseconds", 1}, {"s", 1000},
                 {"sec", 1000},      {"secs", 1000},     {"second", 1000},    {"seconds", 1000},
                 {"m", 60000},       {"min", 60000},     {"mins", 60000},     {"minute", 60000},
                 {"minutes", 60000}, {"h", 3600000},     {"hour", 3600000},   {"hours", 3600000},
                 {"day", 86400000},  {"days", 86400000}};
    size_t i, from = *at, end;
    while (from < s.len && s.at[from] == ' ') from++;
    for (end = from; end < s.len && phi__headers_lower(s.at[end]) >= 'a'; end++)
        if (phi__headers_lower(s.at[end]) > 'z') break;
    if (end == from) return 1000;
    for (i = 0; i < PHI__COUNT(units); i++)
        if (phi__str_is_nocase(phi__str(s.at + from, end - from), units[i].name)) {
            *at = end;
            return units[i].ms;
        }
    return 0;
}

/* "46s", "1m2s", "5.289s", "7 seconds", "7" (seconds) at `at`; false: none, or zero. */
static bool phi__headers_duration(phi_str s, size_t at, uint64_t *ms) {
    uint64_t n, unit, total = 0;
    while (phi__headers_number(s, &at, &n)) {
        unit = phi__headers_unit(s, &at);
        if (unit == 0) return false;
        total += (n * unit + 999) / 1000;
    }
    *ms = total;
    return total > 0;
}

static bool phi__headers_text_delay(phi_str text, uint64_t *ms) {
    static const char *const starts[] = {"try again in ", "retry after ", "retry in "};
    size_t i, at;
    for (i = 0; i < PHI__COUNT(starts); i++) {
        at = phi__str_find_nocase(text, 0, starts[i]);
        if (at != SIZE_MAX && phi__headers_duration(text, at + strlen(starts[i]), ms)) return true;
    }
    return false;
}

/* A date by the places of its parts; a year of two digits is of this century. */
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

/* Milliseconds of a date in one of the three forms of HTTP. */
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

/* A whole header value: seconds, thousandths of them where ms. */
static bool phi__headers_whole_number(phi_str s, bool ms, uint64_t *out) {
    size_t at = 0;
    uint64_t n;
    if (!phi__headers_number(s, &at, &n) || at != s.len) return false;
    *out = ms ? (n + 999) / 1000 : n;
    return n > 0;
}

PHI__FN bool phi__headers_delay(phi_str headers, phi_str given, phi_str message, phi_str detail,
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
