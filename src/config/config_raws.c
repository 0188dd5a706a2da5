/* config_raws.c - values as they may be shown: with the names of variables, and without secrets. */
#include "base/words_in.h"
#include "config/config_own_in.h"
#include "wire/hash_in.h"

#include <math.h>

enum {
    PHI__CONFIG_SHOWN = 80, /* bytes of a value in a message */
    PHI__CONFIG_MASKED = 4  /* bytes; shorter values are no secrets, and are parts of any word */
};

static uint64_t phi__config_raws_hash(const phi_json *node) {
    return phi__hash_mix((uint64_t)(uintptr_t)node);
}

static phi__config_raw *phi__config_raws_get(const phi_config *config, const phi_json *node) {
    size_t probe = 0;
    phi__config_raw *raw;
    while ((raw = (phi__config_raw *)phi__map_each(&config->raws, phi__config_raws_hash(node),
                                                   &probe)) != NULL)
        if (raw->node == node) return raw;
    return NULL;
}

bool phi__config_raws_find(const phi_config *config, const phi_json *node, phi_str *out) {
    const phi__config_raw *raw = phi__config_raws_get(config, node);
    if (raw == NULL) return false;
    *out = raw->text;
    return true;
}

bool phi__config_raws_add(phi_config *config, const phi_json *node, phi_str text) {
    phi__config_raw *raw;
    if (!phi__map_room(&config->raws)) return false;
    raw = (phi__config_raw *)phi__arena_zero(&config->arena, sizeof *raw);
    if (raw == NULL) return false;
    raw->node = node;
    raw->text = text;
    phi__map_add(&config->raws, phi__config_raws_hash(node), raw);
    return true;
}

bool phi__config_raws_hide(phi_config *config, const phi_json *node) {
    phi__config_raw *raw = phi__config_raws_get(config, node);
    if (raw == NULL && !phi__config_raws_add(config, node, PHI__LIT(""))) return false;
    raw = phi__config_raws_get(config, node);
    raw->text = PHI__LIT("****");
    return true;
}

void phi__config_raws_miss(const phi_config *config, const phi_json *node) {
    phi__config_raw *raw = phi__config_raws_get(config, node);
    if (raw != NULL) raw->is_missing = true;
}

bool phi__config_raws_is_missing(const phi_config *config, const phi_json *node) {
    const phi__config_raw *raw = phi__config_raws_get(config, node);
    return raw != NULL && raw->is_missing;
}

/* ---- values of variables ---- */

bool phi__config_raws_keep(phi_config *config, phi_str name, phi_str value) {
    uint64_t hash = phi__hash(name, 0);
    size_t probe = 0;
    phi__config_value *v;
    if (value.len < PHI__CONFIG_MASKED) return true;
    while ((v = (phi__config_value *)phi__map_each(&config->values, hash, &probe)) != NULL)
        if (phi_str_equal(v->name, name)) return true;
    v = (phi__config_value *)phi__arena_zero(&config->arena, sizeof *v);
    if (v == NULL || !phi__map_room(&config->values) ||
        !phi__arena_str(&config->arena, name, &v->name) ||
        !phi__arena_str(&config->arena, value, &v->value))
        return false;
    phi__map_add(&config->values, hash, v);
    v->next = config->all_values;
    config->all_values = v;
    return true;
}

/* Bytes of a value that `text` begins with; messages have '?' for controls. */
static size_t phi__config_raws_common(phi_str text, phi_str value) {
    size_t n = 0;
    while (n < text.len && n < value.len &&
           (text.at[n] == value.at[n] || (text.at[n] == '?' && (unsigned char)value.at[n] < 0x20)))
        n++;
    return n;
}

/* The value that `text` begins with, or as much of it as a cut message has; *len: its bytes. */
static const phi__config_value *phi__config_raws_value(const phi_config *config, phi_str text,
                                                       size_t *len) {
    const phi__config_value *v, *found = NULL;
    *len = 0;
    for (v = config->all_values; v != NULL; v = v->next) {
        size_t n = phi__config_raws_common(text, v->value);
        bool cut = n >= PHI__CONFIG_MASKED &&
                   (n == text.len || phi__str_starts(phi__str(text.at + n, text.len - n), "..."));
        if (n <= *len || (n < v->value.len && !cut)) continue;
        *len = n;
        found = v;
    }
    return found;
}

void phi__config_raws_mask(const phi_config *config, phi_str text, phi__buf *out) {
    size_t i = 0, len;
    while (i < text.len) {
        const phi__config_value *v =
            phi__config_raws_value(config, phi__str(text.at + i, text.len - i), &len);
        if (v == NULL) {
            phi__buf_char(out, text.at[i++]);
            continue;
        }
        phi__buf_text(out, "${");
        phi__buf_add_str(out, v->name);
        phi__buf_char(out, '}');
        i += len;
    }
}

/* ---- texts for people ---- */

void phi__config_raws_name(phi_str text, phi__buf *out) {
    char line[PHI__CONFIG_SHOWN];
    size_t n = phi__min(text.len, sizeof line);
    if (n < text.len)
        while (n > 0 && ((unsigned char)text.at[n] & 0xc0) == 0x80) n--;
    if (n > 0) memcpy(line, text.at, n);
    phi__buf_add(out, line, phi__words_clean_line(line, n));
    if (n < text.len) phi__buf_text(out, "...");
}

static void phi__config_raws_quote(phi_str text, phi__buf *out) {
    phi__buf_char(out, '"');
    phi__config_raws_name(text, out);
    phi__buf_char(out, '"');
}

const char *phi__config_raws_odd(const phi_json *node) {
    double d = phi_json_num(node, 0);
    if (!phi_json_is(node, PHI_JSON_NUMBER) || isfinite(d)) return NULL;
    return isnan(d) ? "nan" : d > 0 ? "inf" : "-inf";
}

void phi__config_raws_show(const phi_config *config, const phi_json *node, phi__buf *out) {
    phi_str text;
    if (phi__config_raws_find(config, node, &text))
        phi__config_raws_quote(text, out);
    else if (phi_json_is(node, PHI_JSON_OBJECT))
        phi__buf_text(out, phi_json_count(node) == 0 ? "an empty table" : "a table");
    else if (phi_json_is(node, PHI_JSON_ARRAY))
        phi__buf_text(out, phi_json_count(node) == 0 ? "an empty array" : "an array");
    else if (phi_json_is(node, PHI_JSON_STRING))
        phi__config_raws_quote(phi__json_text_of(node), out);
    else if (phi__config_raws_odd(node) != NULL)
        phi__buf_text(out, phi__config_raws_odd(node));
    else
        (void)phi__json_write(out, node, 0);
}
