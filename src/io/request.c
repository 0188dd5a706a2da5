/* request.c - reads a body that consists of pieces, from any offset. */
#include "io/io_in.h"

PHI__FN void phi__request_seal(phi_request *request) {
    uint64_t at = 0;
    for (size_t i = 0; i < request->piece_count; i++) {
        request->pieces[i].start = at;
        at += request->pieces[i].len;
    }
    request->length = at;
}

/* Returns the last non-empty piece that starts at or before `offset`. `offset` must be less than
   the length. */
static size_t phi__request_piece_at(const phi_request *request, uint64_t offset) {
    size_t low = 0, high = request->piece_count;
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (request->pieces[mid].start <= offset)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* ---- public ---- */

PHI_API phi_request_info phi_request_get_info(const phi_request *request) {
    phi_request_info info;
    info.method = request->method;
    info.url = request->url;
    info.length = request->length;
    info.headers = request->headers;
    info.header_count = request->header_count;
    return info;
}

PHI_API size_t phi_request_read(const phi_request *request, uint64_t offset, char *out, size_t n) {
    size_t done = 0;
    if (offset >= request->length) return 0;
    for (size_t i = phi__request_piece_at(request, offset); i < request->piece_count && done < n;
         i++) {
        const phi__piece *piece = &request->pieces[i];
        size_t skip = (size_t)(offset + done - piece->start);
        size_t take = phi__min(piece->len - skip, n - done);
        if (take > 0) memcpy(out + done, piece->at + skip, take);
        done += take;
    }
    return done;
}
