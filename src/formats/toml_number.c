/* toml_number.c - values that are neither strings nor dates: booleans, integers, floats. */
#include "formats/toml_in.h"

static const char phi__toml_no_value[] = "expected a value: text must be in quotes";
static const char phi__toml_bad_number[] =
    "expected a number, a date, true or false: a number has no unit, and text must be in quotes";

/* Words of other formats. */
static const char *phi__toml_number_word(phi_str text) {
    static const char *const nulls[] = {"null", "nil", "none"};
    size_t i;
    if (phi__str_is_nocase(text, "true") || phi__str_is_nocase(text, "false"))
        return "true and false are written in small letters";
    for (i = 0; i < PHI__COUNT(nulls); i++)
        if (phi__str_is_nocase(text, nulls[i])) return "TOML has no null: leave the key out";
    return phi__toml_no_value;
}

/* An infinity or NaN; text is without a sign. False: it is another word. */
static bool phi__toml_number_special(phi_str text, bool negative, phi__json_value *value) {
    if (!phi__str_is(text, "inf") && !phi__str_is(text, "nan")) return false;
    value->u = UINT64_C(0x7ff0000000000000);
    if (*text.at == 'n') value->u = UINT64_C(0x7ff8000000000000);
    if (negative) value->u |= UINT64_C(1) << 63;
    return true;
}

/* Copies without underscores, each of which must be between two digits (of hexadecimal, too). */
static bool phi__toml_number_strip(phi_str text, bool hex, char *to, size_t *len) {
    size_t i, n = 0;
    for (i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '_') {
            char a = i > 0 ? text.at[i - 1] : '_', b = i + 1 < text.len ? text.at[i + 1] : '_';
            bool good = a >= '0' && a <= '9' && b >= '0' && b <= '9';
            if (hex) good = a != '_' && b != '_';
            if (!good) return false;
            continue;
        }
        to[n++] = c;
    }
    to[n] = '\0';
    *len = n;
    return true;
}

static unsigned phi__toml_number_digit(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A') + 10;
    return 16;
}

/* 0x, 0o, 0b: the digits without underscores. */
static uint32_t phi__toml_number_based(const char *at, size_t len, unsigned base,
                                       phi__json_value *value, const char **what) {
    uint64_t n = 0;
    size_t i;
    if (len == 0) *what = "expected digits behind the prefix of the number";
    for (i = 0; i < len && *what == NULL; i++) {
        unsigned digit = phi__toml_number_digit(at[i]);
        if (digit >= base)
            *what = base == 16  ? "a digit that is not hexadecimal"
                    : base == 8 ? "a digit that is not octal"
                                : "a digit that is not binary";
        else if (n > ((uint64_t)INT64_MAX - digit) / base)
            *what = "the integer is too large for 64 bits";
        else
            n = n * base + digit;
    }
    value->i = (int64_t)n;
    return *what == NULL ? (uint32_t)PHI__JSON_INT : 0;
}

static uint32_t phi__toml_number_decimal(const char *at, size_t len, phi__json_value *value,
                                         const char **what) {
    phi__json_number number;
    const char *bad, *after = phi__json_number_read(at, at + len, &number, &bad);
    bool whole = strcspn(at, ".eE") == len;
    if (after == NULL && bad == at) {
        *what = *at >= '0' && *at <= '9' ? "the number is too large for a double"
                                         : phi__toml_bad_number;
        if (*at == '-')
            *what = phi__toml_number_digit(at[1]) > 9 ? phi__toml_bad_number
                                                      : "the number is too large for a double";
    } else if (after == NULL)
        *what = "expected a digit in the number";
    else if (after != at + len)
        *what = *at == '0' || (*at == '-' && at[1] == '0') ? "a number must not begin with a zero"
                                                           : phi__toml_bad_number;
    else if (whole && number.kind == PHI__JSON_DOUBLE && number.v.u << 1 == 0) { /* -0 */
        number.kind = PHI__JSON_INT;
        number.v.i = 0;
    } else if (whole && number.kind != PHI__JSON_INT)
        *what = "the integer is too large for 64 bits";
    if (*what != NULL) return 0;
    *value = number.v;
    return number.kind;
}

PHI__FN uint32_t phi__toml_number_read(phi_str text, char *room, phi__json_value *value,
                                       const char **what) {
    bool sign = text.len > 0 && (*text.at == '+' || *text.at == '-'), hex;
    phi_str rest = sign ? phi__str(text.at + 1, text.len - 1) : text;
    size_t len;
    char base;
    *what = NULL;
    if (phi__str_is(text, "true")) return PHI__JSON_TRUE;
    if (phi__str_is(text, "false")) return PHI__JSON_FALSE;
    if (phi__toml_number_special(rest, *text.at == '-', value)) return PHI__JSON_DOUBLE;
    if (rest.len == 0 || phi__toml_number_digit(*rest.at) > 9) {
        *what = sign || (rest.len > 0 && *rest.at == '.') ? "expected a digit in the number"
                                                          : phi__toml_number_word(text);
        return 0;
    }
    base = rest.len > 1 && *rest.at == '0' ? rest.at[1] : '\0';
    hex = base == 'x' || base == 'o' || base == 'b';
    if (hex && sign) {
        *what = "a number with a prefix has no sign";
        return 0;
    }
    if (hex) rest = phi__str(rest.at + 2, rest.len - 2);
    if (!phi__toml_number_strip(*text.at == '-' ? text : rest, hex, room, &len)) {
        *what = "an underscore must be between two digits";
        return 0;
    }
    if (hex)
        return phi__toml_number_based(room, len,
                                      base == 'x'   ? 16
                                      : base == 'o' ? 8
                                                    : 2,
                                      value, what);
    return phi__toml_number_decimal(room, len, value, what);
}
