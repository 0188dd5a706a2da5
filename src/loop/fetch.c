/* fetch.c - HTTP requests of the rooms above the loop. */
#include "loop/fetch_in.h"

#include "base/arena_in.h"
#include "io/secret_in.h"
#include "loop/loop_in.h"

#include <stdio.h>

enum {
    PHI__FETCH_SLICE = 16384, /* bytes that a callback gets at most */
    PHI__FETCH_PART = 32768,  /* of one fetch in a step */
    PHI__FETCH_STEP = 65536,  /* of all */
    /* the defaults of phi_deadlines */
    PHI__FETCH_CONNECT_MS = 15000,
    PHI__FETCH_FIRST_MS = 300000,
    PHI__FETCH_IDLE_MS = 120000
};

struct phi__fetch {
    phi_runtime *rt;
    phi__link open, ready;             /* of rt->fetches */
    bool waits;                        /* in the list `ready` */
    bool headed, paused, busy, closed; /* busy: in a callback */
    bool resumed;                      /* while it was busy */
    uint32_t round;                    /* of the step that looked at it last */
    phi_status status;                 /* of its end, where the transfer has none */
    phi__transfer *transfer;           /* NULL: refused, or cancelled */
    phi_request request;
    phi__fetch_desc desc; /* its bytes are in the arena */
    phi_arena arena;
};

/* ---- making one ---- */

PHI__FN bool phi__fetch_value_fits(phi_str value) {
    size_t i;
    for (i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.at[i];
        if ((c < 32 && c != '\t') || c == 127) return false;
    }
    return true;
}

PHI__FN bool phi__fetch_name_fits(phi_str name) {
    static const char others[] = "!#$%&'*+-.^_`|~";
    size_t i;
    for (i = 0; i < name.len; i++) {
        char c = name.at[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!plain && (c == '\0' || strchr(others, c) == NULL)) return false;
    }
    return name.len > 0;
}

static bool phi__fetch_url_fits(phi_str url) {
    size_t i, host = phi__str_starts(url, "https://") ? 8 : phi__str_starts(url, "http://") ? 7 : 0;
    if (host == 0 || host == url.len || strchr("/?#", url.at[host]) != NULL) return false;
    for (i = host; i < url.len; i++) {
        unsigned char c = (unsigned char)url.at[i];
        if (c <= 32 || c == 127) return false;
    }
    return true;
}

static phi_status phi__fetch_check(phi_runtime *rt, const phi__fetch_desc *desc) {
    size_t i;
    if (rt->closing) return phi__error(rt, PHI_MISUSE, "request: the runtime is closing");
    if (rt->fetches.transport == NULL)
        return phi__error(rt, PHI_MISUSE,
                          "request: a tape is played, which has no requests of tools");
    if (desc->stands && rt->fetches.standing >= rt->fetches.standing_most)
        return phi__error(rt, PHI_FULL,
                          "request: half of max_connections are streams that stay open");
    if (!phi__fetch_name_fits(desc->method))
        return phi__error(rt, PHI_BAD_ARG, "request: method: expected a token");
    if (!phi__fetch_url_fits(desc->url))
        return phi__error(rt, PHI_BAD_ARG,
                          "request: url: expected http:// or https:// without spaces or control "
                          "characters");
    for (i = 0; i < desc->header_count; i++) {
        const phi__header *h = &desc->headers[i];
        if (!phi__fetch_name_fits(h->name))
            return phi__error(rt, PHI_BAD_ARG, "request: headers[%u]: its name is no token",
                              (unsigned)i);
        if (!phi__fetch_value_fits(h->value))
            return phi__error(rt, PHI_BAD_ARG,
                              "request: header %.*s: a control character in its value",
                              (int)phi__min(h->name.len, 80), h->name.at);
    }
    return PHI_OK;
}

static bool phi__fetch_copy_headers(phi__fetch *f, const phi__fetch_desc *desc) {
    phi_request *request = &f->request;
    size_t i, bytes = phi__mul(desc->header_count, sizeof *request->headers);
    if (desc->header_count == 0) return true;
    request->headers = (phi__header *)phi_arena_alloc(&f->arena, bytes);
    if (request->headers == NULL) return false;
    request->header_count = desc->header_count;
    for (i = 0; i < desc->header_count; i++)
        if (!phi__arena_str(&f->arena, desc->headers[i].name, &request->headers[i].name) ||
            !phi__arena_str(&f->arena, desc->headers[i].value, &request->headers[i].value))
            return false;
    return true;
}

static bool phi__fetch_copy_body(phi__fetch *f, const phi__fetch_desc *desc) {
    phi_request *request = &f->request;
    size_t i, count = phi__add(desc->piece_count, desc->body.len > 0 ? 1 : 0), n = 0;
    phi_str body;
    if (count == 0) return true;
    request->pieces =
        (phi__piece *)phi__arena_zero(&f->arena, phi__mul(count, sizeof *request->pieces));
    if (request->pieces == NULL || !phi__arena_str(&f->arena, desc->body, &body)) return false;
    if (body.len > 0) {
        request->pieces[n].at = body.at;
        request->pieces[n++].len = body.len;
    }
    for (i = 0; i < desc->piece_count; i++, n++) {
        request->pieces[n].at = desc->pieces[i].at;
        request->pieces[n].len = desc->pieces[i].len;
    }
    request->piece_count = n;
    return true;
}

static void phi__fetch_defaults(phi_deadlines *d) {
    if (d->connect_ms == 0) d->connect_ms = PHI__FETCH_CONNECT_MS;
    if (d->first_event_ms == 0) d->first_event_ms = PHI__FETCH_FIRST_MS;
    if (d->idle_ms == 0) d->idle_ms = PHI__FETCH_IDLE_MS;
    if (d->total_ms == 0) d->total_ms = PHI_UNLIMITED;
}

static phi__fetch *phi__fetch_make(phi_runtime *rt, const phi__fetch_desc *desc) {
    phi__fetch *f = (phi__fetch *)phi__alloc(desc->memory, sizeof *f);
    if (f == NULL) return NULL;
    f->rt = rt;
    f->desc = *desc;
    f->round = rt->step.round; /* its callbacks come in a later step */
    phi__fetch_defaults(&f->desc.deadlines);
    phi_arena_init(&f->arena, desc->memory, 1024);
    if (phi__arena_str(&f->arena, desc->method, &f->request.method) &&
        phi__arena_str(&f->arena, desc->url, &f->request.url) && phi__fetch_copy_headers(f, desc) &&
        phi__fetch_copy_body(f, desc)) {
        phi__request_seal(&f->request);
        return f;
    }
    phi_arena_free(&f->arena);
    phi__free(desc->memory, f, sizeof *f);
    return NULL;
}

/* ---- lists ---- */

static void phi__fetch_wake(void *object) {
    phi__fetch *f = (phi__fetch *)object;
    if (f->waits || f->closed) return;
    f->waits = true;
    phi__list_push(&f->rt->fetches.ready, &f->ready);
}

static void phi__fetch_unready(phi__fetch *f) {
    if (f->waits) phi__list_take(&f->rt->fetches.ready, &f->ready);
    f->waits = false;
}

/* The keys of its headers are not left in memory that somebody else gets. */
static void phi__fetch_wipe(phi__fetch *f) {
    size_t i;
    for (i = 0; i < f->request.header_count; i++)
        memset((char *)(uintptr_t)f->request.headers[i].value.at, 0,
               f->request.headers[i].value.len);
}

static void phi__fetch_destroy(phi__fetch *f) {
    phi_memory *memory = f->desc.memory;
    phi__fetch_wipe(f);
    phi_arena_free(&f->arena);
    phi__free(memory, f, sizeof *f);
}

/* Out of all lists, and the transport lets it go. */
static void phi__fetch_detach(phi__fetch *f) {
    f->closed = true;
    phi__fetch_unready(f);
    phi__list_take(&f->rt->fetches.open, &f->open);
    if (f->desc.stands) f->rt->fetches.standing--;
    phi__transfer_close(f->transfer);
    f->transfer = NULL;
}

/* ---- handing on ---- */

/* Words of the transport may quote the URL. */
static void phi__fetch_hide(phi__fetch *f, char *words) {
    phi__secrets secrets;
    phi__secret_init(&secrets, &f->arena);
    phi__secret_add_request(&secrets, &f->request);
    if (secrets.failed)
        words[0] = '\0';
    else
        (void)phi__secret_hide(&secrets, words, strlen(words), PHI__SECRET_WORDS);
}

static void phi__fetch_end(phi__fetch *f, phi_status status) {
    char words[sizeof f->transfer->words];
    words[0] = '\0';
    if (status == PHI_TOO_BIG)
        (void)snprintf(words, sizeof words, "the answer is larger than %llu bytes",
                       (unsigned long long)f->desc.max_bytes);
    else if (status != PHI_OK && f->transfer != NULL)
        memcpy(words, f->transfer->words, sizeof words);
    if (words[0] != '\0') phi__fetch_hide(f, words);
    if (status != PHI_OK && words[0] == '\0')
        (void)snprintf(words, sizeof words, "%s", phi_status_text(status));
    phi__fetch_detach(f);
    f->busy = true;
    f->desc.on_end(f->desc.user_data, status, words);
    phi__fetch_destroy(f);
}

/* False: a callback has closed it. */
static bool phi__fetch_still(phi__fetch *f) {
    f->busy = false;
    if (!f->closed) return true;
    phi__fetch_destroy(f);
    return false;
}

static bool phi__fetch_head(phi__fetch *f) {
    f->headed = f->busy = true;
    if (f->desc.on_head != NULL)
        f->desc.on_head(f->desc.user_data, f->transfer->http_status,
                        phi__buf_str(&f->transfer->headers));
    return phi__fetch_still(f);
}

static bool phi__fetch_body(phi__fetch *f, phi_str bytes) {
    size_t took = bytes.len;
    f->busy = true;
    f->resumed = false;
    if (f->desc.on_body != NULL) took = f->desc.on_body(f->desc.user_data, bytes);
    if (!phi__fetch_still(f)) return false;
    PHI_ASSERT(took <= bytes.len);
    if (took < bytes.len && !f->resumed) f->paused = true;
    if (took > 0) (void)phi__transfer_took(f->transfer, took, true);
    return true;
}

static phi_status phi__fetch_status(phi_status status) {
    return status == PHI_OK ? status : phi__transfer_network_status(status);
}

/* Hands on a part of the bytes that wait for one fetch; how many. */
static size_t phi__fetch_go(phi__fetch *f) {
    size_t done = 0;
    if (f->transfer == NULL) {
        phi__fetch_end(f, f->status);
        return 0;
    }
    if (f->transfer->headed && !f->headed && !phi__fetch_head(f)) return 0;
    while (!f->paused) {
        phi_str unread = phi__transfer_unread(f->transfer);
        size_t n = phi__min(unread.len, PHI__FETCH_SLICE);
        if (f->desc.max_bytes > 0 && f->transfer->decoded + unread.len > f->desc.max_bytes) {
            phi__fetch_end(f, PHI_TOO_BIG);
            return done;
        }
        if (n == 0) break;
        if (done >= PHI__FETCH_PART) {
            phi__fetch_wake(f);
            return done;
        }
        done += n;
        if (!phi__fetch_body(f, phi__str(unread.at, n))) return done;
    }
    if (!f->paused && f->transfer->ended) phi__fetch_end(f, phi__fetch_status(f->transfer->status));
    return done;
}

/* ---- for the rooms above ---- */

PHI__FN phi_status phi__fetch_open(phi_runtime *rt, const phi__fetch_desc *desc, phi__fetch **out) {
    phi__transfer_owner owner;
    phi__fetch *f;
    phi_status status = phi__fetch_check(rt, desc);
    *out = NULL;
    if (status != PHI_OK) return status;
    f = phi__fetch_make(rt, desc);
    if (f == NULL) return phi__error(rt, PHI_NO_MEMORY, "request: no memory");
    memset(&owner, 0, sizeof owner);
    owner.wake = phi__fetch_wake;
    owner.object = f;
    status = phi__transfer_open(rt, desc->memory, &f->request, &f->desc.deadlines, desc->max_bytes,
                                &owner, &f->transfer);
    if (status == PHI_NO_MEMORY) {
        phi__fetch_unready(f); /* the transport may have pushed before it failed */
        phi__fetch_destroy(f);
        return phi__error(rt, PHI_NO_MEMORY, "request: no memory");
    }
    phi__list_push(&rt->fetches.open, &f->open);
    if (desc->stands) rt->fetches.standing++;
    f->status = phi__fetch_status(status);
    if (status != PHI_OK) phi__fetch_wake(f);
    *out = f;
    return PHI_OK;
}

PHI__FN void phi__fetch_close(phi__fetch *f) {
    if (f == NULL || f->closed) return;
    phi__fetch_detach(f);
    if (!f->busy) phi__fetch_destroy(f);
}

PHI__FN void phi__fetch_resume(phi__fetch *f) {
    f->resumed = true;
    if (!f->paused) return;
    f->paused = false;
    phi__fetch_wake(f);
}

/* ---- for the runtime ---- */

PHI__FN void phi__fetch_attach(phi_runtime *rt, const phi_transport *transport, bool stages,
                               uint32_t connections) {
    rt->fetches.standing_most = connections > 1 ? connections / 2 : 1;
    rt->fetches.transport = transport;
    rt->fetches.stages = stages;
}

PHI__FN void phi__fetch_pump(phi_runtime *rt) {
    phi__list *ready = &rt->fetches.ready;
    size_t done = 0;
    while (ready->first != NULL && done < PHI__FETCH_STEP) {
        phi__fetch *f = PHI__OWNER(ready->first, phi__fetch, ready);
        size_t n;
        if (f->round == rt->step.round) return; /* later ones have had their turn, too */
        f->round = rt->step.round;
        phi__fetch_unready(f);
        n = phi__fetch_go(f);
        done += n;
        if (n == 0) continue;
        phi__slice_took(&rt->slice, n);
        if (phi__slice_io_spent(&rt->slice)) return; /* the rest is for the runs */
    }
}

PHI__FN void phi__fetch_cancel_all(phi_runtime *rt) {
    phi__link *link;
    for (link = rt->fetches.open.first; link != NULL; link = link->next) {
        phi__fetch *f = PHI__OWNER(link, phi__fetch, open);
        f->status = PHI_CANCELLED;
        phi__transfer_close(f->transfer);
        f->transfer = NULL;
        phi__fetch_wake(f);
    }
}

PHI__FN void phi__fetch_end_all(phi_runtime *rt) {
    phi__link *first;
    while ((first = rt->fetches.open.first) != NULL)
        phi__fetch_end(PHI__OWNER(first, phi__fetch, open), PHI_CANCELLED);
}
