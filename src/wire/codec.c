/* codec.c - finds a protocol's codec, and identifies the writer of a message. */
#include "wire/codec_in.h"

enum { PHI__CODEC_NAME_MOST = 64 }; /* max. bytes of a protocol's name; enough for all of phi's */

PHI__FN bool phi__codec_among(phi_str text, const char *const *words) {
    for (; *words != NULL; words++)
        if (phi__str_is(text, *words)) return true;
    return false;
}

PHI__FN bool phi__codec_is(const char *const names[PHI__CODEC_NAMES], phi_str protocol) {
    if (phi__str_is(protocol, names[0])) return true; /* the usual spelling, compared first */
    for (size_t i = 0; i < PHI__CODEC_NAMES && names[i] != NULL; i++)
        if (phi__str_is_nocase(protocol, names[i])) return true;
    return false;
}

PHI__FN phi_codec_fn phi__codec_named(const phi_codec_fn *list, phi_str protocol) {
    for (; list != NULL && *list != NULL; list++)
        if (phi__codec_is((*list)()->names, protocol)) return *list;
    return NULL;
}

PHI__FN const phi__codec *phi__codec_of(const phi_codec_fn *list, const phi_model *model) {
    phi_str protocol = phi_str_of(model->protocol);
    phi_codec_fn found = model->codec;
    /* the host may have set another protocol after the preset */
    if (found == NULL || !phi__codec_is(found()->names, protocol))
        found = phi__codec_named(list, protocol);
    return found != NULL ? found() : NULL;
}

PHI__FN bool phi__codec_paused(const phi__request_spec *spec) {
    for (size_t i = spec->item_count; i > 0; i--) {
        const phi_message *m = spec->items[i - 1].message;
        if (m->role == PHI_ROLE_EXTENSION) continue;
        return m->role == PHI_ROLE_ASSISTANT && m->stop_reason == PHI_STOP_REASON_PAUSED;
    }
    return false;
}

PHI__FN uint64_t phi__codec_origin_of(phi_str model, phi_str provider, phi_str protocol) {
    char name[PHI__CODEC_NAME_MOST];
    size_t i;
    if (model.len == 0 || provider.len == 0 || protocol.len == 0) return 0;
    for (i = 0; i < protocol.len && i < sizeof name; i++) name[i] = phi__lower(protocol.at[i]);
    uint64_t hash = phi__hash(phi__str(name, i), protocol.len);
    hash = phi__hash(provider, hash);
    hash = phi__hash(model, hash);
    return hash != 0 ? hash : 1;
}

PHI__FN void phi__codec_origins_of(const phi__codec *codec, phi_str model, phi_str provider,
                                   uint64_t out[PHI__CODEC_NAMES]) {
    for (size_t i = 0; i < PHI__CODEC_NAMES; i++)
        out[i] = phi__codec_origin_of(model, provider, phi_str_of(codec->names[i]));
}

PHI__FN bool phi__codec_origin_among(const uint64_t origins[PHI__CODEC_NAMES], uint64_t origin) {
    for (size_t i = 0; i < PHI__CODEC_NAMES; i++)
        if (origins[i] == origin) return origin != 0;
    return false;
}
