/* inbox.c - a ring of messages. Records are 8-byte aligned and never wrap. If a record does not fit
   before the end of the ring, a record of kind 0 fills the rest. */
#include "io/io_in.h"

/* A record. `bytes` is its size, or 0 until it is published. */
typedef struct phi__inbox_record {
    PHI__ATOMIC(uint32_t) bytes;
    uint32_t kind; /* 0: padding */
    uint32_t index, gen;
    uint32_t flag, text_len;
} phi__inbox_record;

enum { PHI__INBOX_LEAST = 1024 };

PHI__FN phi_status phi__inbox_init(phi__inbox *inbox, phi_memory *memory, size_t bytes) {
    uint32_t size = PHI__INBOX_LEAST;
    memset(inbox, 0, sizeof *inbox);
    inbox->memory = memory;
    if (bytes > UINT32_C(1) << 30) return PHI_BAD_ARG;
    while (size < bytes) size *= 2;
    inbox->ring = (char *)phi__alloc(memory, size);
    if (inbox->ring == NULL) return PHI_NO_MEMORY;
    inbox->size = size;
    return PHI_OK;
}

PHI__FN void phi__inbox_free(phi__inbox *inbox) {
    if (inbox->ring != NULL) phi__free(inbox->memory, inbox->ring, inbox->size);
    memset(inbox, 0, sizeof *inbox);
}

static phi__inbox_record *phi__inbox_at(const phi__inbox *inbox, uint32_t count) {
    return (phi__inbox_record *)(void *)(inbox->ring + (count & (inbox->size - 1)));
}

/* Reserves `need` bytes that do not wrap; *at gets their start. */
static bool phi__inbox_reserve(phi__inbox *inbox, uint32_t need, uint32_t *at) {
    uint32_t tail = (uint32_t)PHI__LOAD(&inbox->tail);
    for (;;) {
        uint32_t to_end = inbox->size - (tail & (inbox->size - 1));
        uint32_t pad = need > to_end ? to_end : 0;
        uint32_t used = tail - (uint32_t)PHI__LOAD(&inbox->head);
        /* Other threads have moved head past the tail that was read, so read the tail again. */
        if (used > inbox->size) {
            tail = (uint32_t)PHI__LOAD(&inbox->tail);
            continue;
        }
        if (inbox->size - used < pad + need) return false;
        if (!PHI__CAS(&inbox->tail, &tail, tail + pad + need)) continue;
        if (pad != 0) {
            phi__inbox_record *filler = phi__inbox_at(inbox, tail);
            PHI__STORE(&filler->bytes, pad); /* a filler has kind 0, which the ring has already */
        }
        *at = tail + pad;
        return true;
    }
}

static size_t phi__inbox_bytes(size_t text_len) {
    size_t bytes = phi__add(sizeof(phi__inbox_record) + 7, text_len);
    return bytes & ~(size_t)7;
}

PHI__FN phi_status phi__inbox_prepare(phi__inbox *inbox, const phi__post *post,
                                      phi__inbox_record **out) {
    phi_str before = post->before;
    size_t len = phi__add(before.len, post->text.len);
    size_t bytes = phi__inbox_bytes(phi__min(len, inbox->size));
    uint32_t at = 0;
    if (len > inbox->size || bytes > inbox->size / 2) return PHI_BAD_ARG;
    if (!phi__inbox_reserve(inbox, (uint32_t)bytes, &at)) return PHI_FULL;
    phi__inbox_record *record = phi__inbox_at(inbox, at);
    record->kind = post->kind;
    record->index = post->index;
    record->gen = post->gen;
    record->flag = post->flag;
    record->text_len = (uint32_t)len;
    if (before.len > 0) memcpy(record + 1, before.at, before.len);
    if (post->text.at != NULL && post->text.len > 0)
        memcpy((char *)(record + 1) + before.len, post->text.at, post->text.len);
    *out = record;
    return PHI_OK;
}

PHI__FN char *phi__inbox_text(phi__inbox_record *record) { return (char *)(record + 1); }

PHI__FN void phi__inbox_publish(phi__inbox_record *record, bool keep) {
    if (!keep) record->kind = 0;
    PHI__STORE(&record->bytes, (uint32_t)phi__inbox_bytes(record->text_len));
}

PHI__FN bool phi__inbox_peek(phi__inbox *inbox, phi__post *out) {
    for (;;) {
        phi__inbox_record *record = phi__inbox_at(inbox, inbox->head);
        if (inbox->head == PHI__LOAD(&inbox->tail) || PHI__LOAD(&record->bytes) == 0) return false;
        if (record->kind != 0) {
            out->kind = record->kind;
            out->index = record->index;
            out->gen = record->gen;
            out->flag = record->flag;
            out->before = phi__str(NULL, 0);
            out->text = phi__str((const char *)(record + 1), record->text_len);
            return true;
        }
        phi__inbox_drop(inbox);
    }
}

PHI__FN void phi__inbox_drop(phi__inbox *inbox) {
    phi__inbox_record *record = phi__inbox_at(inbox, inbox->head);
    uint32_t bytes = record->bytes;
    /* The room must be zero before a producer can reserve it, because a record may start anywhere
       in it. If a filler is smaller than a record, only the filler's bytes are cleared. */
    memset((void *)record, 0, bytes);
    PHI__STORE(&inbox->head, inbox->head + bytes);
}
