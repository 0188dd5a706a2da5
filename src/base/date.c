/* date.c - times as RFC 3339, by the Gregorian calendar's rule of 400 years; counted from March, so
   that a leap day is a year's last. */
#include "base/date_in.h"

/* 0000-01-01T00:00:00Z and 9999-12-31T23:59:59.999Z */
#define PHI__DATE_FIRST_MS INT64_C(-62167219200000)
#define PHI__DATE_LAST_MS INT64_C(253402300799999)

typedef struct phi__date {
    int64_t year, month, day;
} phi__date;

static int64_t phi__date_days(int64_t y, int64_t m, int64_t d) {
    int64_t era, of_era, of_year;
    if (m <= 2) y--;
    era = (y >= 0 ? y : y - 399) / 400;
    of_era = y - era * 400;
    of_year = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* Of days since 1970. */
static phi__date phi__date_of(int64_t days) {
    int64_t z = days + 719468, era, of_era, y, of_year, m;
    phi__date date;
    era = (z >= 0 ? z : z - 146096) / 146097;
    of_era = z - era * 146097;
    y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    of_year = of_era - (365 * y + y / 4 - y / 100);
    m = (5 * of_year + 2) / 153;
    date.day = of_year - (153 * m + 2) / 5 + 1;
    date.month = m < 10 ? m + 3 : m - 9;
    date.year = y + era * 400 + (date.month <= 2 ? 1 : 0);
    return date;
}

static char *phi__date_digits(char *at, int64_t value, int digits, char after) {
    int i;
    for (i = digits - 1; i >= 0; i--) {
        at[i] = (char)('0' + value % 10);
        value /= 10;
    }
    at[digits] = after;
    return at + digits + 1;
}

/* "dddd-dd..." with d for a digit; T may be small, or a space. */
static bool phi__date_shaped(const char *at, const char *shape) {
    for (; *shape != '\0'; at++, shape++) {
        if (*shape == 'd' ? *at < '0' || *at > '9'
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

/* The part behind the seconds: a fraction and the offset from UTC. */
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
    int64_t days, rest;
    phi__date date;
    char *at = out;
    if (ms < PHI__DATE_FIRST_MS) ms = PHI__DATE_FIRST_MS;
    if (ms > PHI__DATE_LAST_MS) ms = PHI__DATE_LAST_MS;
    days = ms / 86400000;
    rest = ms % 86400000;
    if (rest < 0) {
        rest += 86400000;
        days--;
    }
    date = phi__date_of(days);
    at = phi__date_digits(at, date.year, 4, '-');
    at = phi__date_digits(at, date.month, 2, '-');
    at = phi__date_digits(at, date.day, 2, 'T');
    at = phi__date_digits(at, rest / 3600000, 2, ':');
    at = phi__date_digits(at, rest / 60000 % 60, 2, ':');
    at = phi__date_digits(at, rest / 1000 % 60, 2, '.');
    if (rest % 1000 != 0) at = phi__date_digits(at, rest % 1000, 3, '.');
    at[-1] = 'Z'; /* over the last point */
    *at = '\0';
    return (size_t)(at - out);
}

PHI__FN bool phi__date_get(phi_str text, int64_t *ms) {
    int64_t fraction, offset, days, hour, minute, second;
    phi__date date, real;
    if (text.len < 20 || !phi__date_shaped(text.at, "dddd-dd-ddTdd:dd:dd")) return false;
    if (!phi__date_rest(phi__str(text.at + 19, text.len - 19), &fraction, &offset)) return false;
    date.year = phi__date_number(text.at, 4);
    date.month = phi__date_number(text.at + 5, 2);
    date.day = phi__date_number(text.at + 8, 2);
    hour = phi__date_number(text.at + 11, 2);
    minute = phi__date_number(text.at + 14, 2);
    second = phi__date_number(text.at + 17, 2);
    if (date.month < 1 || date.month > 12 || hour > 23 || minute > 59 || second > 60) return false;
    days = phi__date_days(date.year, date.month, date.day);
    real = phi__date_of(days); /* another one when the month has no such day */
    if (real.month != date.month || real.day != date.day) return false;
    *ms = days * 86400000 + ((hour * 60 + minute - offset) * 60 + second) * 1000 + fraction;
    return true;
}
