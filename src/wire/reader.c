/* reader.c - feeds a body's bytes to the codec's decoder. */
#include "wire/codec_in.h"

#include <stdio.h>

static void phi__reader_take(phi__reader *r, phi_str name, phi_str data) {
    if (phi__reader_done(r)) return;
    r->codec->event(r->state, r->assembly, name, data);
    if (r->seen != NULL) r->seen(r->ctx);
}

/* Handles an error of the event or frame reader. After the end, only lack of memory counts. */
static void phi__reader_trouble(phi__reader *r, int status) {
    phi__assembly *a = r->assembly;
    char words[120];
    if (status == PHI_NO_MEMORY) a->no_memory = true;
    if (a->terminal) return;
    if (status == PHI_PARSE) /* from frames only: after a bad frame the next one cannot be found */
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

/* ---- for decoders ---- */

PHI__FN bool phi__decoding_takes(phi__decoding *d, phi__assembly *a, phi_str name, phi_str data,
                                 bool lists) {
    if (data.len == 0 || a->no_memory) return false;
    if (d->broken) {
        phi__classify_bad_event(a);
        return false;
    }
    if (phi__str_is(name, "error")) {
        phi__classify_event(a, data);
        return false;
    }
    if (phi__delta_cache_add(&d->repeat, a, data)) return false;
    if (data.at[0] != '{' && !(lists && data.at[0] == '[')) return false;
    d->heard = true;
    phi__delta_cache_forget(&d->repeat);
    return true;
}

/* ---- phi_answer is the assembly that phi's own decoders write to ---- */

static phi__assembly *phi__writer_open(phi_answer *answer) {
    phi__assembly *a = (phi__assembly *)answer;
    if (a == NULL || a->terminal || a->failure.kind != PHI_FAILURE_NONE) return NULL;
    phi__assembly_start(a);
    return a;
}

/* Returns the block of the open call; SIZE_MAX if no call is open. */
static size_t phi__writer_call(const phi__assembly *a) {
    size_t last = a->count - 1;
    if (a->count == 0 || a->drafts[last].kind != PHI_CONTENT_TOOL_CALL || !a->drafts[last].open)
        return SIZE_MAX;
    return last;
}

static void phi__writer_close_last(phi__assembly *a) {
    if (a->count > 0 && a->drafts[a->count - 1].open) phi__assembly_close(a, a->count - 1);
}

static void phi__writer_add(phi_answer *answer, phi_content_kind kind, phi_str bytes) {
    phi__assembly *a = phi__writer_open(answer);
    if (a == NULL || bytes.len == 0) return;
    if (phi__writer_call(a) != SIZE_MAX) phi__writer_close_last(a);
    phi__assembly_add(a, phi__assembly_current(a, kind), bytes);
}

/* ---- public ---- */

PHI_API void phi_answer_text(phi_answer *answer, phi_str bytes) {
    phi__writer_add(answer, PHI_CONTENT_TEXT, bytes);
}

PHI_API void phi_answer_thinking(phi_answer *answer, phi_str bytes, phi_str signature) {
    phi__assembly *a;
    phi__writer_add(answer, PHI_CONTENT_THINKING, bytes);
    if (signature.len == 0 || (a = phi__writer_open(answer)) == NULL) return;
    size_t block = phi__assembly_current(a, PHI_CONTENT_THINKING);
    if (block == SIZE_MAX) return;
    phi__assembly_set(a, &a->drafts[block].signature, signature);
    phi__writer_close_last(a);
}

PHI_API void phi_answer_call(phi_answer *answer, phi_str id, phi_str name) {
    phi__assembly *a = phi__writer_open(answer);
    if (a == NULL) return;
    phi__writer_close_last(a);
    size_t block = phi__assembly_open(a, PHI_CONTENT_TOOL_CALL, (int64_t)a->count);
    if (block == SIZE_MAX) return;
    phi__assembly_set(a, &a->drafts[block].id, id);
    phi__assembly_set(a, &a->drafts[block].name, name);
}

PHI_API void phi_answer_arguments(phi_answer *answer, phi_str bytes, bool last) {
    phi__assembly *a = phi__writer_open(answer);
    if (a != NULL && bytes.len > 0) phi__assembly_add(a, phi__writer_call(a), bytes);
    if (last && phi__writer_open(answer) != NULL && phi__writer_call(a) != SIZE_MAX)
        phi__writer_close_last(a);
}

PHI_API void phi_answer_usage(phi_answer *answer, const phi_usage *usage) {
    phi__assembly *a = phi__writer_open(answer);
    if (a != NULL && usage != NULL) a->usage = *usage;
}

PHI_API void phi_answer_stop(phi_answer *answer, phi_stop_reason reason) {
    phi__assembly *a = phi__writer_open(answer);
    bool known = reason == PHI_STOP_REASON_LENGTH || reason == PHI_STOP_REASON_TOOL_USE ||
                 reason == PHI_STOP_REASON_GUARD_RAIL;
    if (a == NULL) return;
    if (reason != PHI_STOP_REASON_LENGTH) phi__writer_close_last(a); /* a cut call stays open */
    a->stop_reason = known ? reason : PHI_STOP_REASON_STOP;
    a->terminal = a->last = true;
}

PHI_API void phi_answer_fail(phi_answer *answer, phi_failure_kind kind, bool retryable,
                             const char *words) {
    phi__assembly *a = phi__writer_open(answer);
    if (a == NULL) return;
    if ((unsigned)kind <= (unsigned)PHI_FAILURE_NONE ||
        (unsigned)kind > (unsigned)PHI_FAILURE_NO_MEMORY)
        kind = PHI_FAILURE_SERVER;
    phi__assembly_fail(a, kind, retryable, phi__str(NULL, 0),
                       words != NULL ? phi_str_of(words) : PHI__LIT("the model has failed"));
}

/* ---- fast path for an event that differs from the one before in one string only ----

   Nearly every event of an answer is like the one before, with another text. When a decoder finds
   that an event only adds text to a block, it keeps the bytes around the text. If the next event
   has the same bytes around a string, it is not parsed. Zeroed memory is an empty cache. */

PHI__FN void phi__delta_cache_learn(phi__delta_cache *r, const phi__assembly *a, phi_str data,
                                    phi__json_text text, size_t block) {
    r->head = 0;
    if (block == SIZE_MAX || text.at == NULL || text.at <= data.at ||
        text.at + text.len >= data.at + data.len)
        return;
    size_t head = (size_t)(text.at - data.at);
    size_t tail = data.len - head - text.len;
    if (head + tail > PHI__DELTA_CACHE_MOST) return;
    memcpy(r->around, data.at, head);
    memcpy(r->around + head, text.at + text.len, tail);
    r->head = (uint16_t)head;
    r->tail = (uint16_t)tail;
    r->block = block;
    r->count = a->count;
}

PHI__FN bool phi__delta_cache_add(const phi__delta_cache *r, phi__assembly *a, phi_str data) {
    bool escaped;
    if (r->head == 0 || data.len < (size_t)r->head + r->tail || r->count != a->count ||
        !a->drafts[r->block].open)
        return false;
    const char *text = data.at + r->head, *end = data.at + data.len;
    if (memcmp(data.at, r->around, r->head) != 0 ||
        memcmp(end - r->tail, r->around + r->head, r->tail) != 0 ||
        phi__json_text_quote(text, end, &escaped) != end - r->tail)
        return false;
    phi__assembly_add_json(a, r->block, phi__str(text, data.len - r->head - r->tail), escaped);
    return true;
}
