/* toml_in.h - what the reader and the writer of TOML share. */
#ifndef PHI_FORMATS_TOML_IN_H
#define PHI_FORMATS_TOML_IN_H

#include "formats/formats_in.h"
#include "formats/reader_in.h"
#include "formats/toml.h"
#include "text/text_in.h"

/* True for characters of keys without quotes. */
static inline bool phi__toml_is_bare(char c) { return phi__is_alnum(c) || c == '_' || c == '-'; }

static inline phi_str phi__toml_key_of(const phi_json *node) {
    return phi__str(node->key, phi__json_key_len(node));
}

#endif
