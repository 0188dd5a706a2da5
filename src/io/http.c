/* http.c - the transport over libcurl: requests wait in a queue, start a few a step, and end in the
   pump.

   The queue is threaded through the table of requests, so that waiting costs no allocation. All
   that takes time or calls out is done by the pump, outside of curl's callbacks: starting, ending,
   removing. Work that does not fit is left for the next step, and a timer keeps the host from
   sleeping meanwhile. */
#include "io/http_curl_in.h"

#if !defined(PHI_NO_CURL)

#include <stdio.h>

#define PHI__HTTP_CURL_FLOOR 0x074400u /* 7.68 */
#define PHI__HTTP_CONNECTIONS 64       /* the default; DESIGN part 4 */
#define PHI__HTTP_ENDS 16              /* reported, and as many removed, in one pump */
#define PHI__HTTP_HOLD_US 50000        /* before another look for free descriptors */
#define PHI__HTTP_SPARE_DESCRIPTORS 6  /* a start may need: two sockets, a lookup's */
#define PHI__HTTP_LINGER_US 1000000    /* for the end of a body that was released */
#define PHI__HTTP_REUSE_US 50000       /* a start waits for such an end, which saves a handshake */
#define PHI__HTTP_PLACE_US 200000      /* ... and where max_connections are in use */

/* ---- the table and its queue ---- */

static phi__http_slot *phi__http_slot_of(phi__http *http, phi_transfer transfer) {
    phi__http_slot *slot;
    if (transfer.index >= http->slot_count) return NULL;
    slot = &http->slots[transfer.index];
    return slot->state != PHI__HTTP_FREE && slot->transfer.gen == transfer.gen ? slot : NULL;
}

static bool phi__http_slots_reach(phi__http *http, uint32_t index) {
    size_t cap = http->slot_count;
    phi__http_slot *slots;
    if (index < cap) return true;
    if (index >= UINT32_MAX - 1) return false;
    slots = (phi__http_slot *)phi__grow(http->memory, http->slots, &cap, (size_t)index + 1,
                                        sizeof *slots);
    if (slots == NULL) return false;
    memset(slots + http->slot_count, 0, (cap - http->slot_count) * sizeof *slots);
    http->slots = slots;
    http->slot_count = cap;
    return true;
}

static void phi__http_enqueue(phi__http *http, uint32_t index, bool first) {
    phi__http_slot *slot = &http->slots[index];
    uint32_t at = index + 1;
    slot->state = PHI__HTTP_QUEUED;
    slot->running = NULL;
    slot->queued_us = phi__io_now_us(http->io);
    slot->next = first ? http->queue_first : 0;
    slot->prev = first ? 0 : http->queue_last;
    if (slot->next != 0) http->slots[slot->next - 1].prev = at;
    if (slot->prev != 0) http->slots[slot->prev - 1].next = at;
    if (slot->next == 0) http->queue_last = at;
    if (slot->prev == 0) http->queue_first = at;
    http->queue_count++;
}

static void phi__http_dequeue(phi__http *http, phi__http_slot *slot) {
    if (slot->prev != 0)
        http->slots[slot->prev - 1].next = slot->next;
    else
        http->queue_first = slot->next;
    if (slot->next != 0)
        http->slots[slot->next - 1].prev = slot->prev;
    else
        http->queue_last = slot->prev;
    slot->next = slot->prev = 0;
    http->queue_count--;
}

static void phi__http_slot_clear(phi__http_slot *slot) {
    slot->state = PHI__HTTP_FREE;
    slot->running = NULL;
    slot->request = NULL;
}

static size_t phi__http_busy(const phi__http *http) {
    return http->active.count + http->done.count + http->dying.count;
}

/* ---- starting ---- */

static bool phi__http_starts_nocase(phi_str s, phi_str with) {
    size_t i;
    if (s.len < with.len) return false;
    for (i = 0; i < with.len; i++)
        if (s.at[i] != with.at[i] && ((s.at[i] ^ with.at[i]) != 32 || (s.at[i] | 32) < 'a'))
            return false;
    return true;
}

/* Whether "HOST:PORT:ADDRESS" is among the resolve entries; a leading + or - is left aside. */
static bool phi__http_pinned(const phi__http *http, phi_str url) {
    phi_str host = phi__http_words_host(url), port = phi__http_words_port(url);
    const struct curl_slist *entry;
    for (entry = http->resolve; entry != NULL; entry = entry->next) {
        phi_str s = phi_str_of(entry->data);
        if (s.len > 0 && (s.at[0] == '+' || s.at[0] == '-')) s = phi__str(s.at + 1, s.len - 1);
        if (!phi__http_starts_nocase(s, host)) continue;
        s = phi__str(s.at + host.len, s.len - host.len);
        if (s.len > port.len + 2 && s.at[0] == ':' && s.at[port.len + 1] == ':' &&
            memcmp(s.at + 1, port.at, port.len) == 0)
            return true;
    }
    return false;
}

/* A libcurl that looks names up on this thread would stop the pump. */
static bool phi__http_would_block(const phi__http *http, phi_str url) {
    return !http->async_dns && http->proxy == NULL &&
           !phi__http_words_is_address(phi__http_words_host(url)) && !phi__http_pinned(http, url);
}

static void phi__http_start(phi__http *http, phi__http_slot *slot) {
    phi__http_transfer *t = phi__http_transfer_new(http);
    const char *words = "no memory for a transfer";
    phi_status status = PHI_NO_MEMORY;
    phi_transfer transfer = slot->transfer;
    phi__http_dequeue(http, slot);
    if (phi__http_would_block(http, slot->request->url)) {
        status = PHI_UNSUPPORTED;
        words = "this libcurl looks names up without AsynchDNS, which would stop the pump: give an "
                "address, or pin the name with resolve";
    } else if (t != NULL) {
        t->transfer = transfer;
        t->request = slot->request;
        status = phi__http_transfer_begin(t, &words);
    }
    if (status == PHI_OK) {
        slot->state = PHI__HTTP_STARTED;
        slot->running = t;
        (void)http->port.stage(transfer, PHI_TRANSFER_STARTED);
    } else {
        if (t != NULL) phi__http_transfer_free(t);
        phi__http_slot_clear(slot);
        (void)http->port.end(transfer, status, words);
    }
}

/* Whether one more connection finds its descriptors; if not, the pump comes back when it may. With
   none busy, none will be given back: try, and see. The look is a dozen system calls. */
static bool phi__http_has_descriptors(phi__http *http) {
    phi__http_transfer *t;
    uint64_t now;
    if (phi__http_busy(http) == 0) return true;
    now = phi__io_now_us(http->io);
    if (now >= http->hold_until_us) {
        if (phi__http_descriptors_left(phi__io_any_fd(http->io), PHI__HTTP_SPARE_DESCRIPTORS))
            return true;
        http->hold_until_us = now + PHI__HTTP_HOLD_US;
        t = phi__http_curl_first(&http->lingering);
        if (t != NULL) phi__http_transfer_move(t, &http->dying);
    }
    phi__http_drive_kick(http, http->hold_until_us);
    return false;
}

static bool phi__http_same_server(const phi__http_transfer *t, phi_str url) {
    char *at = NULL;
    phi_str its;
    if (curl_easy_getinfo(t->easy, CURLINFO_EFFECTIVE_URL, &at) != CURLE_OK || at == NULL)
        return false;
    its = phi_str_of(at);
    return phi_str_equal(phi__http_words_host(its), phi__http_words_host(url)) &&
           phi_str_equal(phi__http_words_port(its), phi__http_words_port(url));
}

/* Whether the connection that the next in the queue needs is about to be free: the body on it was
   read to its last event, and a server ends it at once, or not soon. */
static bool phi__http_awaits_end(phi__http *http) {
    const phi__http_slot *slot = &http->slots[http->queue_first - 1];
    const phi__http_transfer *t = phi__http_curl_of(http->lingering.all.last);
    uint64_t until, now = phi__io_now_us(http->io);
    if (t == NULL || t->http2) return false; /* HTTP/2 has room for both */
    until = phi__min(slot->queued_us, t->released_us) + PHI__HTTP_REUSE_US;
    if (now >= until || !phi__http_same_server(t, slot->request->url)) return false;
    phi__http_drive_kick(http, until);
    return true;
}

/* Whether the next in the queue may start now; if not, something else will call the pump. */
static bool phi__http_may_start(phi__http *http) {
    if (http->queue_first == 0 || phi__http_busy(http) >= http->max_connections) return false;
    if (phi__http_busy(http) + http->lingering.count >= http->max_connections) return false;
    if (phi__http_awaits_end(http)) return false;
    if (phi__io_start_left(http->io)) {
        if (!phi__http_has_descriptors(http)) return false;
        if (phi__io_may_start(http->io)) return true;
    }
    phi__http_drive_kick(http, 0);
    return false;
}

/* ---- ending ---- */

static void phi__http_read_messages(phi__http *http) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(http->multi, &left)) != NULL) {
        char *owner = NULL;
        phi__http_transfer *t;
        if (message->msg != CURLMSG_DONE) continue;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owner);
        t = (phi__http_transfer *)(void *)owner;
        t->finished = true;
        t->result = message->data.result;
        http->live--;
        if (t->list == &http->active || t->list == &http->lingering)
            phi__http_transfer_move(t, &http->done);
    }
}

/* Transfers that phi ended itself, outside of a callback that could have stopped curl. */
static void phi__http_read_failed(phi__http *http) {
    phi__http_transfer *t, *next;
    if (!http->starved) return;
    http->starved = false;
    for (t = phi__http_curl_first(&http->active); t != NULL; t = next) {
        next = phi__http_curl_next(t);
        if (t->failed != PHI_OK) phi__http_transfer_move(t, &http->done);
    }
}

/* The name of a host may not have been found for want of a descriptor. */
static bool phi__http_wants_descriptor(phi__http *http, const phi__http_transfer *t) {
    if (t->failed != PHI_OK || t->connected || t->request == NULL) return false;
    if (t->result == CURLE_COULDNT_CONNECT) return t->no_descriptor;
    if (t->result != CURLE_COULDNT_RESOLVE_HOST && t->result != CURLE_OUT_OF_MEMORY) return false;
    return !phi__http_descriptors_left(phi__io_any_fd(http->io), 1);
}

static void phi__http_end(phi__http *http, phi__http_transfer *t) {
    char words[PHI__HTTP_WORDS_BYTES];
    phi_transfer transfer = t->transfer;
    phi__http_slot *slot = t->request != NULL ? phi__http_slot_of(http, transfer) : NULL;
    phi_status status = phi__http_words(t, words, sizeof words);
    bool again = phi__http_busy(http) > 1 && phi__http_wants_descriptor(http, t);
    phi__http_transfer_free(t);
    if (slot == NULL) return;
    if (again) {
        phi__http_enqueue(http, transfer.index, true);
        http->hold_until_us = phi__io_now_us(http->io) + PHI__HTTP_HOLD_US;
        return;
    }
    phi__http_slot_clear(slot);
    (void)http->port.end(transfer, status, words[0] != '\0' ? words : NULL);
}

/* The first whose bytes were all taken; NULL: none. */
static phi__http_transfer *phi__http_next_end(phi__http *http) {
    phi__http_transfer *t = phi__http_curl_first(&http->done);
    while (t != NULL && t->failed == PHI_OK && t->overflow.len > t->overflow_at)
        t = phi__http_curl_next(t);
    return t;
}

/* Without QUICK_EXIT, removing a transfer that looks up a name would wait for the lookup. */
static phi__http_transfer *phi__http_next_removal(phi__http *http) {
    phi__http_transfer *t = phi__http_curl_first(&http->dying);
    while (t != NULL && t->resolving && !t->finished && !http->quick_exit)
        t = phi__http_curl_next(t);
    return t;
}

static void phi__http_destroy(phi__http *http, phi__http_slot *slot) {
    phi__http_transfer *t = slot->running;
    if (slot->state == PHI__HTTP_QUEUED) phi__http_dequeue(http, slot);
    phi__http_slot_clear(slot);
    if (t == NULL) return;
    phi__http_transfer_move(t, &http->dying);
    t->request = NULL;
    phi__http_drive_kick(http, 0);
}

/* After the last event curl reads on by itself. Bytes that the receiver did not take are
   discarded. */
static void phi__http_linger(phi__http *http, phi__http_slot *slot) {
    phi__http_transfer *t = slot->running;
    if (t == NULL || t->paused || !t->head_told) {
        phi__http_destroy(http, slot);
        return;
    }
    phi__http_slot_clear(slot);
    t->request = NULL;
    t->resume_wanted = false;
    phi__buf_free(&t->overflow);
    t->overflow_at = 0;
    t->released_us = phi__io_now_us(http->io);
    if (t->list == &http->active) phi__http_transfer_move(t, &http->lingering);
    phi__http_drive_kick(http, t->list == &http->done ? 0 : t->released_us + PHI__HTTP_LINGER_US);
}

/* The lingering transfers whose time is up; the time is shorter when queued transfers need their
   slots. */
static void phi__http_cut_lingering(phi__http *http) {
    uint64_t now = phi__io_now_us(http->io), patience = PHI__HTTP_LINGER_US;
    phi__http_transfer *t;
    if (http->queue_first != 0 &&
        phi__http_busy(http) + http->lingering.count >= http->max_connections)
        patience = PHI__HTTP_PLACE_US;
    while ((t = phi__http_curl_first(&http->lingering)) != NULL && now >= t->released_us + patience)
        phi__http_transfer_move(t, &http->dying);
    if (t != NULL) phi__http_drive_kick(http, t->released_us + patience);
}

/* ---- the pump ---- */

/* From the front each time: a push may have cancelled any other. */
static phi__http_transfer *phi__http_next_resume(phi__http *http) {
    phi__http_transfer *t;
    if (!http->resumes_wanted) return NULL;
    for (t = phi__http_curl_first(&http->active); t != NULL; t = phi__http_curl_next(t))
        if (t->resume_wanted) return t;
    for (t = phi__http_curl_first(&http->done); t != NULL; t = phi__http_curl_next(t))
        if (t->resume_wanted) return t;
    http->resumes_wanted = false;
    return NULL;
}

static void phi__http_pump(void *user_data) {
    phi__http *http = (phi__http *)user_data;
    phi__http_transfer *t;
    int n;
    bool started = false;
    if (http->pumping || http->inside > 0) return;
    http->pumping = true;
    (void)phi__io_timer_set(http->io, &http->kick, UINT64_MAX); /* has its place since new */
    for (n = 0; n < PHI__HTTP_ENDS && (t = phi__http_next_resume(http)) != NULL; n++)
        phi__http_transfer_resume(t);
    phi__http_read_messages(http);
    phi__http_read_failed(http);
    phi__http_cut_lingering(http);
    for (n = 0; n < PHI__HTTP_ENDS && (t = phi__http_next_removal(http)) != NULL; n++)
        phi__http_transfer_free(t);
    for (n = 0; n < PHI__HTTP_ENDS && (t = phi__http_next_end(http)) != NULL; n++)
        phi__http_end(http, t);
    while (phi__http_may_start(http)) {
        phi__http_start(http, &http->slots[http->queue_first - 1]);
        started = true;
    }
    if (started) phi__http_drive_due(http); /* the request leaves in this step, not the next */
    if (http->resumes_wanted || phi__http_next_removal(http) != NULL ||
        phi__http_next_end(http) != NULL)
        phi__http_drive_kick(http, 0);
    http->pumping = false;
}

static void phi__http_on_kick(phi__timer *timer) {
    phi__http *http = PHI__OWNER(timer, phi__http, kick);
    (void)phi__io_timer_set(http->io, timer, UINT64_MAX);
    phi__http_pump(http);
}

/* ---- the transport ---- */

static bool phi__http_clean(phi_str s) {
    size_t i;
    for (i = 0; i < s.len; i++)
        if (s.at[i] == '\r' || s.at[i] == '\n' || s.at[i] == '\0') return false;
    return true;
}

static bool phi__http_good_url(phi_str url) {
    size_t colon = phi__str_find(url, 0, "://");
    phi_str scheme = phi__str(url.at, colon == SIZE_MAX ? 0 : colon);
    if (!phi__str_is_nocase(scheme, "http") && !phi__str_is_nocase(scheme, "https")) return false;
    return phi__http_clean(url) && phi__http_words_host(url).len > 0;
}

static bool phi__http_good_request(const phi_request *request) {
    size_t i;
    if (request == NULL || !phi__http_good_url(request->url)) return false;
    if (request->method.len == 0 || !phi__http_clean(request->method)) return false;
    for (i = 0; i < request->header_count; i++)
        if (request->headers[i].name.len == 0 || !phi__http_clean(request->headers[i].name) ||
            !phi__http_clean(request->headers[i].value))
            return false;
    return true;
}

static phi_status phi__http_open(void *user_data, phi_transfer transfer,
                                 const phi_request *request) {
    phi__http *http = (phi__http *)user_data;
    phi__http_slot *slot;
    if (!phi__http_good_request(request)) return PHI_BAD_ARG;
    if (!phi__http_slots_reach(http, transfer.index)) return PHI_NO_MEMORY;
    slot = &http->slots[transfer.index];
    if (slot->state != PHI__HTTP_FREE) return PHI_BUSY;
    slot->transfer = transfer;
    slot->request = request;
    phi__http_enqueue(http, transfer.index, false);
    phi__http_drive_kick(http, 0);
    return PHI_OK;
}

static void phi__http_resume(void *user_data, phi_transfer transfer) {
    phi__http *http = (phi__http *)user_data;
    phi__http_slot *slot = phi__http_slot_of(http, transfer);
    if (slot == NULL || slot->running == NULL) return;
    if (http->inside == 0) {
        phi__http_transfer_resume(slot->running);
        return;
    }
    slot->running->resume_wanted = true;
    http->resumes_wanted = true;
    phi__http_drive_kick(http, 0);
}

static void phi__http_release(void *user_data, phi_transfer transfer) {
    phi__http *http = (phi__http *)user_data;
    phi__http_slot *slot = phi__http_slot_of(http, transfer);
    if (slot != NULL) phi__http_linger(http, slot);
}

static void phi__http_cancel(void *user_data, phi_transfer transfer) {
    phi__http *http = (phi__http *)user_data;
    phi__http_slot *slot = phi__http_slot_of(http, transfer);
    if (slot != NULL) phi__http_destroy(http, slot);
}

/* ---- new and free ---- */

/* libcurl's set-up is once for a process, and old ones do not guard it against other threads. */
static bool phi__http_global_init(void) {
    static PHI__ATOMIC(int) state; /* 0: not yet, 1: being done, 2: done; the one global of ours */
    for (;;) {
        int none = 0;
        if (PHI__LOAD(&state) == 2) return true;
        if (PHI__CAS(&state, &none, 1)) {
            bool ok = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
            PHI__STORE(&state, ok ? 2 : 0);
            return ok;
        }
        phi__http_yield();
    }
}

/* The abilities of this libcurl; a message about a missing one, or NULL. */
static const char *phi__http_look(phi__http *http, const phi__http_desc *desc) {
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    if (info->version_num < PHI__HTTP_CURL_FLOOR) return "libcurl 7.68 or newer is needed";
    if ((info->features & CURL_VERSION_SSL) == 0) return "this libcurl was built without TLS";
    if (desc->enable_http2 && (info->features & CURL_VERSION_HTTP2) == 0)
        return "this libcurl was built without HTTP/2";
    http->async_dns = (info->features & CURL_VERSION_ASYNCHDNS) != 0;
    http->prereq = info->version_num >= 0x075000u;      /* 7.80 */
    http->quick_exit = info->version_num >= 0x075700u;  /* 7.87 */
    http->mask_sigpipe = info->version_num < 0x075800u; /* 7.88: TLS is written with send() */
#if LIBCURL_VERSION_NUM >= 0x075400
    if (info->age >= CURLVERSION_TENTH && info->cainfo != NULL)
        http->drop_ca_path = phi__http_can_read(info->cainfo);
#endif
    http->ca_cache = info->version_num >= 0x075700u && /* 7.87 */
                     (desc->ca_file != NULL || http->drop_ca_path);
    return NULL;
}

static const char *phi__http_copy(phi__http *http, const char *text, bool *ok) {
    phi_str copy;
    if (text == NULL) return NULL;
    if (phi__arena_str(&http->strings, phi_str_of(text), &copy)) return copy.at;
    *ok = false;
    return NULL;
}

static bool phi__http_configure(phi__http *http, const phi__http_desc *desc) {
    bool ok = true;
    size_t i;
    http->max_connections =
        desc->max_connections == 0 ? PHI__HTTP_CONNECTIONS : desc->max_connections;
    http->http2 = desc->enable_http2;
    http->use_environment = desc->use_environment;
    http->proxy = phi__http_copy(http, desc->proxy, &ok);
    http->ca_file = phi__http_copy(http, desc->ca_file, &ok);
    for (i = 0; ok && desc->resolve != NULL && desc->resolve[i] != NULL; i++) {
        struct curl_slist *list = curl_slist_append(http->resolve, desc->resolve[i]);
        ok = list != NULL;
        if (ok) http->resolve = list;
    }
    if (!ok) return false;
    http->multi = curl_multi_init();
    http->kick.fire = phi__http_on_kick;
    return http->multi != NULL && phi__http_drive_init(http) &&
           phi__io_timer_set(http->io, &http->kick, UINT64_MAX) == PHI_OK;
}

PHI__FN phi_status phi__http_new(phi__io *io, const phi__http_desc *desc,
                                 const phi__transfer_port *port, phi__http **out,
                                 const char **words) {
    phi__http *http;
    *out = NULL;
    *words = "no memory for the HTTP transport";
    if (!phi__http_global_init()) {
        *words = "libcurl could not be set up";
        return PHI_UNSUPPORTED;
    }
    http = (phi__http *)phi__alloc(phi__io_memory(io), sizeof *http);
    if (http == NULL) return PHI_NO_MEMORY;
    http->io = io;
    http->memory = phi__io_memory(io);
    http->port = *port;
    http->transport.open = phi__http_open;
    http->transport.resume = phi__http_resume;
    http->transport.cancel = phi__http_cancel;
    http->transport.release = phi__http_release;
    http->transport.pump = phi__http_pump;
    http->transport.user_data = http;
    phi_arena_init(&http->strings, http->memory, 512);
    {
        const char *lacks = phi__http_look(http, desc);
        if (lacks != NULL) {
            phi__http_free(http);
            *words = lacks;
            return PHI_UNSUPPORTED;
        }
    }
    if (!phi__http_configure(http, desc)) {
        phi__http_free(http);
        return PHI_NO_MEMORY;
    }
    *words = NULL;
    *out = http;
    return PHI_OK;
}

PHI__FN const phi_transport *phi__http_transport(phi__http *http) { return &http->transport; }

PHI__FN phi_status phi__http_warm(phi__http *http, phi_str url) {
    phi__http_transfer *t;
    phi_status status;
    phi_str host = phi__http_words_host(url);
    const char *words;
    size_t len;
    if (!phi__http_good_url(url)) return PHI_BAD_ARG;
    if (phi__http_would_block(http, url)) return PHI_UNSUPPORTED;
    if (phi__http_busy(http) >= http->max_connections) return PHI_BUSY;
    if (phi__str_starts(url, "https:") || phi__str_starts(url, "HTTPS:"))
        phi__http_warm_load_ca(http);
    t = phi__http_transfer_new(http);
    if (t == NULL) return PHI_NO_MEMORY;
    len = (size_t)(host.at - url.at) + host.len; /* up to the path */
    while (len < url.len && url.at[len] != '/' && url.at[len] != '?' && url.at[len] != '#') len++;
    t->url = (char *)phi__alloc(http->memory, len + 2);
    status = t->url != NULL ? PHI_OK : PHI_NO_MEMORY;
    if (t->url != NULL) {
        t->url_bytes = len + 2;
        memcpy(t->url, url.at, len);
        t->url[len] = '/';
        status = phi__http_transfer_begin(t, &words);
    }
    if (status != PHI_OK) {
        phi__http_transfer_free(t);
        return status;
    }
    phi__http_drive_due(http);
    return PHI_OK;
}

PHI__FN size_t phi__http_pending(const phi__http *http) {
    return http->queue_count + phi__http_busy(http);
}

PHI__FN void phi__http_free(phi__http *http) {
    phi__http_transfer *t;
    if (http == NULL) return;
    while ((t = phi__http_curl_first(&http->active)) != NULL)
        phi__http_transfer_move(t, &http->dying);
    while ((t = phi__http_curl_first(&http->done)) != NULL)
        phi__http_transfer_move(t, &http->dying);
    while ((t = phi__http_curl_first(&http->lingering)) != NULL)
        phi__http_transfer_move(t, &http->dying);
    while ((t = phi__http_curl_first(&http->dying)) != NULL) phi__http_transfer_free(t);
    phi__http_drive_enter(http);
    if (http->multi != NULL) (void)curl_multi_cleanup(http->multi);
    phi__http_drive_leave(http);
    phi__io_timer_clear(http->io, &http->curl_timer);
    phi__io_timer_clear(http->io, &http->kick);
    curl_slist_free_all(http->resolve);
    phi_arena_free(&http->strings);
    phi__free(http->memory, http->slots, http->slot_count * sizeof *http->slots);
    phi__free(http->memory, http, sizeof *http);
}

#endif
