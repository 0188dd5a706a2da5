/* toml_date.c - dates and times of RFC 3339 as TOML has them: with or without a date, a time, an
   offset. */
#include "formats/toml_in.h"

enum { PHI__TOML_FRACTION = 9 }; /* digits kept */

/* "dddd-dd" with d for a digit. */
static bool phi__toml_date_shaped(phi_str s, const char *shape) {
    size_t i;
    for (i = 0; shape[i] != '\0'; i++)
        if (i == s.len || (shape[i] == 'd' ? s.at[i] < '0' || s.at[i] > '9' : s.at[i] != shape[i]))
            return false;
    return true;
}

PHI__FN bool phi__toml_date_begins(phi_str text) {
    return phi__toml_date_shaped(text, "dddd-") || phi__toml_date_shaped(text, "dd:");
}

static int32_t phi__toml_date_number(const char *at, int digits) {
    int32_t n = 0;
    while (digits-- > 0) n = n * 10 + (*at++ - '0');
    return n;
}

static int32_t phi__toml_date_days(int32_t year, int32_t month) {
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && leap ? 29 : days[month - 1];
}

/* Past a date at the start of *s. */
static bool phi__toml_date_day(phi_str *s, phi_toml_date *out) {
    if (!phi__toml_date_shaped(*s, "dddd-dd-dd")) return false;
    out->year = phi__toml_date_number(s->at, 4);
    out->month = phi__toml_date_number(s->at + 5, 2);
    out->day = phi__toml_date_number(s->at + 8, 2);
    *s = phi__str(s->at + 10, s->len - 10);
    return out->month >= 1 && out->month <= 12 && out->day >= 1 &&
           out->day <= phi__toml_date_days(out->year, out->month);
}

static bool phi__toml_date_time(phi_str *s, phi_toml_date *out) {
    int32_t unit = 100000000;
    size_t i = 8;
    if (!phi__toml_date_shaped(*s, "dd:dd:dd")) return false;
    out->hour = phi__toml_date_number(s->at, 2);
    out->minute = phi__toml_date_number(s->at + 3, 2);
    out->second = phi__toml_date_number(s->at + 6, 2);
    if (phi__toml_date_shaped(phi__str(s->at + 8, s->len - 8), ".d"))
        for (i = 9; i < s->len && s->at[i] >= '0' && s->at[i] <= '9'; i++, unit /= 10)
            out->nanosecond += (s->at[i] - '0') * unit;
    *s = phi__str(s->at + i, s->len - i);
    return out->hour <= 23 && out->minute <= 59 && out->second <= 60;
}

/* All that is left: an offset. */
static bool phi__toml_date_offset(phi_str s, phi_toml_date *out) {
    int32_t hours, minutes;
    if (s.len == 1 && (*s.at == 'Z' || *s.at == 'z')) return true;
    if (s.len != 6 || (*s.at != '+' && *s.at != '-')) return false;
    if (!phi__toml_date_shaped(phi__str(s.at + 1, 5), "dd:dd")) return false;
    hours = phi__toml_date_number(s.at + 1, 2);
    minutes = phi__toml_date_number(s.at + 4, 2);
    out->offset_minutes = (*s.at == '-' ? -1 : 1) * (hours * 60 + minutes);
    return hours <= 23 && minutes <= 59;
}

PHI__FN bool phi__toml_date_read(phi_str s, phi_toml_date *out) {
    phi_toml_date date;
    memset(&date, 0, sizeof date);
    date.type = PHI_TOML_LOCAL_TIME;
    if (phi__toml_date_shaped(s, "dddd-")) {
        if (!phi__toml_date_day(&s, &date)) return false;
        date.type = s.len == 0 ? PHI_TOML_LOCAL_DATE : PHI_TOML_LOCAL_DATETIME;
        if (s.len > 0) {
            if (*s.at != 'T' && *s.at != 't' && *s.at != ' ') return false;
            s = phi__str(s.at + 1, s.len - 1);
        }
    }
    if (date.type != PHI_TOML_LOCAL_DATE && !phi__toml_date_time(&s, &date)) return false;
    if (date.type == PHI_TOML_LOCAL_DATETIME && s.len > 0) {
        if (!phi__toml_date_offset(s, &date)) return false;
        date.type = PHI_TOML_OFFSET_DATETIME;
        s.len = 0;
    }
    if (s.len > 0) return false;
    *out = date;
    return true;
}

PHI__FN size_t phi__toml_date_put(phi_str text, char out[PHI__TOML_DATE_MOST]) {
    size_t i, n = 0, digits = 0;
    bool fraction = false;
    for (i = 0; i < text.len && n + 1 < PHI__TOML_DATE_MOST; i++) {
        char c = text.at[i];
        fraction = c == '.' || (fraction && c >= '0' && c <= '9');
        if (fraction && digits++ > PHI__TOML_FRACTION) continue;
        out[n++] = (char)(c == 't' || c == ' ' ? 'T' : c == 'z' ? 'Z' : c);
    }
    out[n] = '\0';
    return n;
}

static phi_toml_type phi__toml_date_type(const phi_json *node) {
    switch (phi_json_type_of(node)) {
    case PHI_JSON_BOOL: return PHI_TOML_BOOL;
    case PHI_JSON_NUMBER:
        return phi__json_kind_of(node) == PHI__JSON_DOUBLE ? PHI_TOML_FLOAT : PHI_TOML_INTEGER;
    case PHI_JSON_STRING: break;
    case PHI_JSON_ARRAY: return PHI_TOML_ARRAY;
    case PHI_JSON_OBJECT: return PHI_TOML_TABLE;
    default: return PHI_TOML_NONE;
    }
    switch (phi__json_form_of(node)) {
    case PHI__JSON_OFFSET_DATETIME: return PHI_TOML_OFFSET_DATETIME;
    case PHI__JSON_LOCAL_DATETIME: return PHI_TOML_LOCAL_DATETIME;
    case PHI__JSON_LOCAL_DATE: return PHI_TOML_LOCAL_DATE;
    case PHI__JSON_LOCAL_TIME: return PHI_TOML_LOCAL_TIME;
    default: return PHI_TOML_STRING;
    }
}

/* ---- public ---- */

PHI_API phi_toml_type phi_toml_type_of(const phi_json *node, phi_toml_date *date) {
    phi_toml_type type = phi__toml_date_type(node);
    if (date != NULL && type >= PHI_TOML_OFFSET_DATETIME && type <= PHI_TOML_LOCAL_TIME)
        (void)phi__toml_date_read(phi__json_text_of(node), date);
    return type;
}

PHI_API phi_json *phi_toml_new_date(phi_arena *arena, phi_str text) {
    char canonical[PHI__TOML_DATE_MOST];
    phi_toml_date date;
    phi_json *node;
    if (arena == NULL || !phi__toml_date_read(text, &date)) return NULL;
    node = phi_json_new_str(arena, phi__str(canonical, phi__toml_date_put(text, canonical)));
    if (node != NULL)
        node->meta |= (uint32_t)(date.type - PHI_TOML_OFFSET_DATETIME + PHI__JSON_OFFSET_DATETIME)
                      << 4;
    return node;
}
