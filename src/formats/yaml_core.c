/* yaml_core.c - the core schema of YAML 1.2.2, chapter 10.3: what a scalar's text stands for. */
#include "formats/yaml_in.h"

#include <math.h>

#define PHI__YAML_NUMBER_MOST 1024u /* bytes of a number in a form that JSON does not have */

static bool phi__yaml_core_is_one_of(phi_str s, const char *lower, const char *title,
                                     const char *upper) {
    return phi__str_is(s, lower) || phi__str_is(s, title) || phi__str_is(s, upper);
}

static bool phi__yaml_core_is_null(phi_str s) {
    return s.len == 0 || phi__str_is(s, "~") || phi__yaml_core_is_one_of(s, "null", "Null", "NULL");
}

static uint32_t phi__yaml_core_bool(phi_str s) {
    if (phi__yaml_core_is_one_of(s, "true", "True", "TRUE")) return PHI__JSON_TRUE;
    if (phi__yaml_core_is_one_of(s, "false", "False", "FALSE")) return PHI__JSON_FALSE;
    return 0;
}

static int phi__yaml_core_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 16;
}

/* 0o17, 0x1F. */
static uint32_t phi__yaml_core_based(phi_str s, phi__json_value *value) {
    int base = s.at[1] == 'x' ? 16 : 8;
    uint64_t n = 0;
    bool large = false;
    size_t i;
    if (s.len < 3) return 0;
    for (i = 2; i < s.len; i++) {
        int digit = phi__yaml_core_digit(s.at[i]);
        if (digit >= base) return 0;
        large = large || n > (UINT64_MAX - (uint64_t)digit) / (uint64_t)base;
        if (!large) n = n * (uint64_t)base + (uint64_t)digit;
    }
    if (large) return PHI__YAML_TOO_LARGE;
    value->u = n;
    return n > (uint64_t)INT64_MAX ? PHI__JSON_UINT : PHI__JSON_INT;
}

/* Past the digits. */
static size_t phi__yaml_core_digits(phi_str s, size_t i) {
    while (i < s.len && s.at[i] >= '0' && s.at[i] <= '9') i++;
    return i;
}

/* The parts of a decimal number: [sign] whole [. fraction] [exponent]. */
typedef struct phi__yaml_decimal {
    size_t whole, point, fraction, exponent; /* where they begin, or where they would */
} phi__yaml_decimal;

static bool phi__yaml_core_parts(phi_str s, phi__yaml_decimal *d) {
    size_t i = s.len > 0 && (s.at[0] == '+' || s.at[0] == '-') ? 1 : 0, end;
    d->whole = i;
    d->point = phi__yaml_core_digits(s, i);
    d->fraction = d->point;
    if (d->point < s.len && s.at[d->point] == '.') d->fraction++;
    d->exponent = phi__yaml_core_digits(s, d->fraction);
    if (d->point == d->whole && d->exponent == d->fraction) return false;
    if (d->point == d->fraction && d->exponent != d->point) return false;
    if (d->exponent == s.len) return true;
    i = d->exponent;
    if (s.at[i] != 'e' && s.at[i] != 'E') return false;
    i++;
    if (i < s.len && (s.at[i] == '+' || s.at[i] == '-')) i++;
    end = phi__yaml_core_digits(s, i);
    return end > i && end == s.len;
}

/* The same number as JSON writes it: no plus, no zeros in front, digits around the point. */
static uint32_t phi__yaml_core_rewritten(phi_str s, const phi__yaml_decimal *d,
                                         phi__json_value *value) {
    char text[PHI__YAML_NUMBER_MOST + 8];
    phi__json_number number;
    const char *bad;
    size_t n = 0, from = d->whole;
    if (s.len > PHI__YAML_NUMBER_MOST) return PHI__YAML_TOO_LARGE;
    while (from + 1 < d->point && s.at[from] == '0') from++;
    if (s.at[0] == '-') text[n++] = '-';
    if (from == d->point) text[n++] = '0';
    memcpy(text + n, s.at + from, d->point - from);
    n += d->point - from;
    if (d->fraction > d->point) {
        text[n++] = '.';
        memcpy(text + n, s.at + d->fraction, d->exponent - d->fraction);
        n += d->exponent - d->fraction;
        if (d->exponent == d->fraction) text[n++] = '0';
    }
    memcpy(text + n, s.at + d->exponent, s.len - d->exponent);
    n += s.len - d->exponent;
    if (phi__json_number_read(text, text + n, &number, &bad) != text + n)
        return PHI__YAML_TOO_LARGE;
    *value = number.v;
    return number.kind;
}

static uint32_t phi__yaml_core_special(phi_str s, phi__json_value *value) {
    bool sign = s.at[0] == '-' || s.at[0] == '+';
    phi_str rest = phi__str(s.at + (sign ? 1 : 0), s.len - (sign ? 1 : 0));
    if (phi__yaml_core_is_one_of(rest, ".inf", ".Inf", ".INF")) {
        value->d = s.at[0] == '-' ? -(double)INFINITY : (double)INFINITY;
        return PHI__JSON_DOUBLE;
    }
    if (sign || !phi__yaml_core_is_one_of(s, ".nan", ".NaN", ".NAN")) return 0;
    value->d = (double)NAN;
    return PHI__JSON_DOUBLE;
}

/* A number's kind, or 0. */
static uint32_t phi__yaml_core_number(phi_str s, phi__json_value *value) {
    phi__json_number number;
    phi__yaml_decimal d;
    const char *bad;
    if (s.at[0] >= '1' && s.at[0] <= '9') { /* mostly as in JSON */
        const char *end = s.at + phi__min(s.len, 65536);
        if (phi__json_number_read(s.at, end, &number, &bad) == s.at + s.len) {
            *value = number.v;
            return number.kind;
        }
    }
    if (s.len > 1 && s.at[0] == '0' && (s.at[1] == 'o' || s.at[1] == 'x'))
        return phi__yaml_core_based(s, value);
    if (phi__yaml_core_parts(s, &d)) return phi__yaml_core_rewritten(s, &d, value);
    return phi__yaml_core_special(s, value);
}

static uint32_t phi__yaml_core_plain(phi_str s, phi__json_value *value) {
    char c = s.len > 0 ? s.at[0] : '~';
    uint32_t kind = 0;
    if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.')
        kind = phi__yaml_core_number(s, value);
    else if (c == 't' || c == 'T' || c == 'f' || c == 'F')
        kind = phi__yaml_core_bool(s);
    else if ((c == '~' || c == 'n' || c == 'N') && phi__yaml_core_is_null(s))
        kind = PHI__JSON_NULL;
    if (kind == 0) kind = PHI__JSON_STRING;
    return kind;
}

/* What the text is under a tag that is not str: the tag's kind, or 0. */
static uint32_t phi__yaml_core_tagged(phi_str s, uint8_t tag, phi__json_value *value) {
    uint32_t kind = phi__yaml_core_plain(s, value);
    bool number = kind == PHI__JSON_INT || kind == PHI__JSON_UINT || kind == PHI__JSON_DOUBLE;
    if (tag == PHI__YAML_TAG_NULL) return kind == PHI__JSON_NULL ? kind : 0;
    if (tag == PHI__YAML_TAG_BOOL)
        return kind == PHI__JSON_TRUE || kind == PHI__JSON_FALSE ? kind : 0;
    if (kind == PHI__YAML_TOO_LARGE) return kind;
    if (tag == PHI__YAML_TAG_INT) {
        phi__yaml_decimal d;
        bool based = s.len > 1 && s.at[0] == '0' && (s.at[1] == 'o' || s.at[1] == 'x');
        if (!number) return 0;
        return based || (phi__yaml_core_parts(s, &d) && d.point == s.len) ? kind : 0;
    }
    if (tag != PHI__YAML_TAG_FLOAT || !number) return 0;
    if (kind == PHI__JSON_INT) value->d = (double)value->i;
    if (kind == PHI__JSON_UINT) value->d = (double)value->u;
    return PHI__JSON_DOUBLE;
}

PHI__FN uint32_t phi__yaml_core_resolve(phi_str text, bool plain, uint8_t tag,
                                        phi__json_value *value) {
    value->u = 0;
    if (tag == PHI__YAML_TAG_NONE && plain) return phi__yaml_core_plain(text, value);
    if (tag <= PHI__YAML_TAG_STR) return PHI__JSON_STRING;
    return phi__yaml_core_tagged(text, tag, value);
}
