/* delta_cache.c - compares the bytes around a text. */
#include "wire/delta_cache_in.h"

#include "text/json_in.h"

PHI__FN void phi__delta_cache_learn(phi__delta_cache *r, const phi__assembly *a, phi_str data,
                                    phi__json_text text, size_t block) {
    size_t head, tail;
    r->head = 0;
    if (block == SIZE_MAX || text.at == NULL || text.at <= data.at ||
        text.at + text.len >= data.at + data.len)
        return;
    head = (size_t)(text.at - data.at);
    tail = data.len - head - text.len;
    if (head + tail > PHI__DELTA_CACHE_MOST) return;
    memcpy(r->around, data.at, head);
    memcpy(r->around + head, text.at + text.len, tail);
    r->head = (uint16_t)head;
    r->tail = (uint16_t)tail;
    r->block = block;
    r->count = a->count;
}

PHI__FN bool phi__delta_cache_add(const phi__delta_cache *r, phi__assembly *a, phi_str data) {
    const char *text = data.at + r->head, *end = data.at + data.len;
    bool escaped;
    if (r->head == 0 || data.len < (size_t)r->head + r->tail || r->count != a->count ||
        !a->drafts[r->block].open || memcmp(data.at, r->around, r->head) != 0 ||
        memcmp(end - r->tail, r->around + r->head, r->tail) != 0)
        return false;
    if (phi__json_text_quote(text, end, &escaped) != end - r->tail) return false;
    phi__assembly_add_json(a, r->block, phi__str(text, data.len - r->head - r->tail), escaped);
    return true;
}
