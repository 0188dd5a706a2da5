/* config_raws.c - values as they may be shown: with the names of variables, and without secrets. */
#include "base/words_in.h"
#include "config/config_own_in.h"
#include "wire/hash_in.h"

#include <math.h>

#ifndef PHI_NO_CONFIG

enum { PHI__CONFIG_SHOWN = 80 /* bytes of a value in a message */ };

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
    raw->is_secret = true;
    return true;
}

/* In quotes, in a line, cut where it is long. */
static void phi__config_raws_quote(phi_str text, phi__buf *out) {
    char line[PHI__CONFIG_SHOWN];
    size_t n = phi__min(text.len, sizeof line);
    if (n < text.len)
        while (n > 0 && ((unsigned char)text.at[n] & 0xc0) == 0x80) n--;
    if (n > 0) memcpy(line, text.at, n);
    phi__buf_char(out, '"');
    phi__buf_add(out, line, phi__words_clean_line(line, n));
    phi__buf_text(out, n < text.len ? "...\"" : "\"");
}

void phi__config_raws_show(const phi_config *config, const phi_json *node, phi__buf *out) {
    phi_str text;
    if (phi__config_raws_find(config, node, &text))
        phi__config_raws_quote(text, out);
    else if (phi_json_is_object(node))
        phi__buf_text(out, phi_json_count(node) == 0 ? "an empty table" : "a table");
    else if (phi_json_is_array(node))
        phi__buf_text(out, phi_json_count(node) == 0 ? "an empty array" : "an array");
    else if (phi_json_is_string(node))
        phi__config_raws_quote(phi__json_text_of(node), out);
    else if (phi_json_is_number(node) && !isfinite(phi_json_num(node, 0)))
        phi__buf_text(out, isnan(phi_json_num(node, 0)) ? "nan" : "inf");
    else
        (void)phi__json_write(out, node, 0);
}

#endif
