/* reader.c - feeds a body's bytes to the codec's stream half. */
#include "wire/reader_in.h"

#include "wire/classify_in.h"

#include <stdio.h>

static void phi__reader_take(phi__reader *r, phi_str name, phi_str data) {
    if (phi__reader_done(r)) return;
    r->codec->event(r->state, r->assembly, name, data);
    if (r->seen != NULL) r->seen(r->ctx);
}

/* Handles an error of the event or frame reader; behind the answer's end it changes nothing. */
static void phi__reader_trouble(phi__reader *r, int status) {
    phi__assembly *a = r->assembly;
    char words[120];
    if (status == PHI_NO_MEMORY) a->no_memory = true;
    if (a->terminal) return;
    if (status == PHI_PARSE) /* frames alone: the bytes behind a bad frame have no boundaries */
        phi__assembly_fail(a, PHI_FAILURE_NETWORK, true, PHI__LIT("crc_mismatch"),
                           PHI__LIT("the answer is damaged: a frame's check is wrong"));
    if (status != PHI_TOO_BIG) return;
    (void)snprintf(words, sizeof words, "An event of the answer is larger than %llu bytes",
                   (unsigned long long)r->max_event_bytes);
    phi__assembly_fail(a, PHI_FAILURE_SERVER, false, phi__str(NULL, 0), phi_str_of(words));
}

/* ---- for the loop ---- */

PHI__FN void phi__reader_init(phi__reader *r, const phi__codec *codec, void *state,
                              phi__assembly *assembly, size_t max_event_bytes) {
    memset(r, 0, sizeof *r);
    r->codec = codec;
    r->state = state;
    r->assembly = assembly;
    r->max_event_bytes = max_event_bytes == 0 ? PHI__SSE_EVENT_MOST : max_event_bytes;
    phi__sse_init(&r->sse, assembly->memory, r->max_event_bytes);
    r->sse.strays = true;
    if (codec->frames == NULL) return;
    r->framing = codec->frames();
    r->framing->init(&r->frames, assembly->memory, r->max_event_bytes);
}

PHI__FN void phi__reader_free(phi__reader *r) {
    phi__sse_free(&r->sse);
    if (r->framing != NULL) r->framing->free(&r->frames);
}

PHI__FN void phi__reader_feed(phi__reader *r, phi_str bytes) {
    phi__sse_event event;
    phi__frame frame;
    int got;
    if (r->framing != NULL) {
        r->framing->feed(&r->frames, bytes.at, bytes.len);
        while ((got = r->framing->next(&r->frames, &frame)) > 0)
            phi__reader_take(r, frame.name, frame.payload);
    } else {
        phi__sse_feed(&r->sse, bytes.at, bytes.len);
        while ((got = phi__sse_next(&r->sse, &event)) > 0)
            phi__reader_take(r, event.name, event.data);
    }
    if (got < 0) phi__reader_trouble(r, got);
}

PHI__FN void phi__reader_finish(phi__reader *r, bool cut) {
    phi__sse_event event;
    int got;
    if (r->framing != NULL) return;
    while ((got = phi__sse_finish(&r->sse, &event)) > 0) {
        if (r->sse.stray && cut) return;
        r->whole = r->sse.stray && r->sse.events == 1 && !phi__reader_done(r);
        if (r->whole)
            r->codec->whole(r->state, r->assembly, event.data);
        else
            phi__reader_take(r, event.name, event.data);
    }
    if (got < 0) phi__reader_trouble(r, got);
}

PHI__FN void phi__reader_end(phi__reader *r) {
    if (r->framing != NULL && r->framing->cut(&r->frames) && !r->assembly->terminal)
        phi__classify_truncated(r->assembly, true);
    if (!r->whole) r->codec->end(r->state, r->assembly);
}

PHI__FN bool phi__reader_done(const phi__reader *r) {
    const phi__assembly *a = r->assembly;
    return a->last || a->no_memory || (a->failure.kind != PHI_FAILURE_NONE && !a->awaits_usage);
}

PHI__FN bool phi__reader_lingers(const phi__reader *r) {
    const phi__assembly *a = r->assembly;
    return a->terminal || (a->failure.kind != PHI_FAILURE_NONE && a->awaits_usage);
}
