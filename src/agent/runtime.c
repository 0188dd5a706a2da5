/* runtime.c - makes, closes and frees runtimes, and steps them. */
#include "agent/agent_in.h"
#include "agent/summary.h"
#include "features/features_in.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

enum {
    PHI__RUNTIME_STEP_US = 250,
    PHI__RUNTIME_STEP_BYTES = 65536,
    PHI__RUNTIME_INBOX_BYTES = 65536,
    PHI__RUNTIME_INBOX_MOST = 1 << 30,
    PHI__RUNTIME_CONNECTIONS = 64,
    PHI__RUNTIME_STARTS = 4
};

/* ---- making a runtime ---- */

/* Takes clock, random source and watch_fn from the desc. With a tape, the runtime uses the tape's
   functions, and the tape calls the host's. */
static phi_status phi__runtime_tape(phi_runtime *rt, const phi_runtime_desc *desc, phi__io_desc *io,
                                    const char **why) {
    phi_tape *tape = desc->tape;
    phi__tape_sources sources;
    sources.clock_us_fn = io->clock_us_fn = desc->clock_us_fn;
    sources.random_fn = io->random_fn = desc->random_fn;
    sources.watch_fn = io->watch_fn = desc->watch_fn;
    sources.user_data = io->user_data = desc->user_data;
    if (tape == NULL) return PHI_OK;
    *why = "tape: it is, or was, another runtime's";
    phi_status status = tape->ops->take(tape, &sources);
    if (status != PHI_OK) return status;
    rt->tape = tape;
    rt->slice.work_us_fn = tape->work_us_fn;
    rt->slice.user_data = tape;
    io->clock_us_fn = tape->clock_us_fn;
    io->random_fn = tape->random_fn;
    io->watch_fn = tape->watch_fn;
    io->user_data = tape;
    io->told_gaps = tape->plays;
    return PHI_OK;
}

static void phi__runtime_attach(phi_runtime *rt, uint32_t connections) {
    phi_tape *tape = rt->tape;
    rt->tells_stages = rt->http != NULL;
    rt->fetches.standing_most = connections > 1 ? connections / 2 : 1;
    rt->fetches.transport = tape != NULL && tape->plays ? NULL : rt->transport;
    rt->fetches.stages = rt->tells_stages;
    if (tape == NULL) return;
    tape->ops->attach(tape, rt, rt->transport, rt->tells_stages);
    rt->tells_stages = tape->stages;
    rt->transport = &tape->transport;
}

static phi_status phi__runtime_io(phi_runtime *rt, const phi_runtime_desc *desc, const char **why) {
    phi__io_desc io = PHI_ZERO;
    phi_status status = phi__runtime_tape(rt, desc, &io, why);
    if (status != PHI_OK) return status;
    io.step_budget_us = rt->slice.budget_us;
    io.max_starts_per_step =
        desc->max_starts_per_step != 0 ? desc->max_starts_per_step : (uint32_t)PHI__RUNTIME_STARTS;
    *why = "no memory, or the system has no poller for us";
    status = phi__io_new(&rt->memory, &io, &rt->io);
    if (status != PHI_OK) return status;
    rt->slice.io = rt->io;
    rt->transport = desc->transport;
    phi__http_desc http = PHI_ZERO;
    http.max_connections =
        desc->max_connections != 0 ? desc->max_connections : (uint32_t)PHI__RUNTIME_CONNECTIONS;
    if (rt->transport != NULL || (rt->tape != NULL && rt->tape->plays)) {
        phi__runtime_attach(rt, http.max_connections);
        return PHI_OK;
    }
    http.enable_http2 = desc->enable_http2;
    http.use_environment = desc->use_environment;
    http.proxy = desc->proxy;
    http.ca_file = desc->ca_file;
    http.resolve = desc->resolve;
    status = phi__http_new(rt->io, &http, phi__transfer_port_get(), &rt->http, why);
    if (status != PHI_OK) return status;
    rt->transport = phi__http_transport(rt->http);
    phi__runtime_attach(rt, http.max_connections);
    return PHI_OK;
}

/* Returns a message about a wrong field of the desc, or NULL. */
static const char *phi__runtime_refuse(const phi_runtime_desc *desc) {
    const phi_transport *transport = desc->transport;
    if (desc->inbox_bytes > PHI__RUNTIME_INBOX_MOST) return "inbox_bytes: expected at most 1 GiB";
    if (transport != NULL &&
        (transport->open == NULL || transport->resume == NULL || transport->cancel == NULL))
        return "transport: open, resume or cancel is missing";
    return NULL;
}

static void phi__feature_close(phi_runtime *rt) {
    for (size_t i = 0; i < rt->features.count; i++)
        if (rt->features.places[i].feature->close != NULL)
            rt->features.places[i].feature->close(rt);
}

static void phi__runtime_unmake(phi_runtime *rt) {
    phi_memory memory = rt->memory;
    phi__http_free(rt->http);
    phi__feature_close(rt);
    phi__pump_free(rt);
    phi__inbox_free(&rt->inbox);
    phi__io_free(rt->io);
    if (rt->tape != NULL) rt->tape->ops->detach(rt->tape);
    (void)memory.allocator.realloc_fn(memory.allocator.user_data, rt, sizeof *rt, 0);
}

/* Adds the features of a NULL-ended list, sorted by order. A feature that is listed twice is added
   once. False: the list has too many features. */
static bool phi__feature_name(phi__features *features, const phi_feature_fn *list) {
    for (; list != NULL && *list != NULL; list++) {
        const phi__feature *feature = (*list)();
        size_t i = 0;
        while (i < features->count && features->places[i].feature->order < feature->order) i++;
        if (i < features->count && features->places[i].feature == feature) continue;
        if (features->count == PHI__FEATURE_MOST) return false;
        for (size_t at = features->count++; at > i; at--)
            features->places[at] = features->places[at - 1];
        features->places[i].name = *list;
        features->places[i].feature = feature;
    }
    return true;
}

enum { PHI__FEATURE_ALIGN = 8 }; /* bytes; enough for any feature's state */

static size_t phi__feature_room(size_t bytes) {
    return (bytes + PHI__FEATURE_ALIGN - 1) / PHI__FEATURE_ALIGN * PHI__FEATURE_ALIGN;
}

/* When all features are known, opens each one and assigns its place in agents and runs. */
static void phi__feature_open(phi_runtime *rt) {
    phi__features *features = &rt->features;
    for (size_t i = 0; i < features->count; i++) {
        phi__feature_place *place = &features->places[i];
        place->run_at = features->run_bytes;
        place->agent_at = features->agent_bytes;
        features->run_bytes += phi__feature_room(place->feature->run_bytes);
        features->agent_bytes += phi__feature_room(place->feature->agent_bytes);
        features->wanted |= place->feature->points;
        if (place->feature->open != NULL) place->feature->open(rt);
    }
}

/* Adds the features that every agent has, and those of the desc. */
static bool phi__runtime_features(phi_runtime *rt, const phi_runtime_desc *desc) {
    static const phi_feature_fn all[] = {phi__ask_model_feature, phi__compaction_feature,
                                         phi__attached_feature, NULL};
    if (!phi__feature_name(&rt->features, all) || !phi__feature_name(&rt->features, desc->features))
        return false;
    phi__feature_open(rt);
    return true;
}

/* Makes the failure for a used-up memory_limit_bytes. This failure outlives the logs that refer to
   it. */
static void phi__at_limit_name_all(phi_runtime *rt) {
    (void)snprintf(
        rt->at_limit.words, sizeof rt->at_limit.words,
        "Out of memory: the runtime's memory_limit_bytes, %llu, are used up: raise it, or "
        "free agents or their histories",
        (unsigned long long)rt->memory.limit_bytes);
    phi_failure *failure = &rt->at_limit.failure;
    *failure = phi__failure_of(PHI_FAILURE_NO_MEMORY, false, rt->at_limit.words);
    failure->code = failure->request_id = phi__str("", 0);
}

/* Makes the runtime's struct. Its memory is not counted, because the counters are inside it. */
static phi_runtime *phi__runtime_make(const phi_runtime_desc *desc) {
    phi_allocator allocator =
        desc->allocator.realloc_fn != NULL ? desc->allocator : phi__allocator_default();
    phi_runtime *rt = (phi_runtime *)allocator.realloc_fn(allocator.user_data, NULL, 0, sizeof *rt);
    if (rt == NULL) return NULL;
    memset(rt, 0, sizeof *rt);
    phi_memory_init(&rt->memory, &allocator, desc->memory_limit_bytes);
    phi__at_limit_name_all(rt);
    rt->codecs = desc->codecs;
    phi__pump_init(rt);
    rt->slice.budget_us =
        desc->step_budget_us != 0 ? desc->step_budget_us : (uint32_t)PHI__RUNTIME_STEP_US;
    rt->slice.budget_bytes =
        desc->step_budget_bytes != 0 ? desc->step_budget_bytes : (uint32_t)PHI__RUNTIME_STEP_BYTES;
    return rt;
}

/* ---- public ---- */

PHI_API phi_runtime *phi_runtime_new(const phi_runtime_desc *desc) {
    phi_runtime *rt = NULL;
    const char *words = NULL;
    phi_runtime_desc none = PHI_ZERO;
    if (desc == NULL) desc = &none;
    words = phi__runtime_refuse(desc);
    if (words == NULL) {
        words = "no memory";
        rt = phi__runtime_make(desc);
    }
    if (rt != NULL && !phi__runtime_features(rt, desc)) {
        words = "features: more than there are";
        phi__runtime_unmake(rt);
        rt = NULL;
    }
    if (rt != NULL &&
        (phi__inbox_init(&rt->inbox, &rt->memory,
                         desc->inbox_bytes != 0 ? desc->inbox_bytes
                                                : (size_t)PHI__RUNTIME_INBOX_BYTES) != PHI_OK ||
         phi__runtime_io(rt, desc, &words) != PHI_OK)) {
        phi__runtime_unmake(rt);
        rt = NULL;
    }
    if (desc->error != NULL) *desc->error = rt != NULL ? "ok" : words;
    return rt;
}

PHI_API phi_status phi_runtime_close(phi_runtime *rt) {
    if (rt == NULL) return PHI_BAD_ARG;
    if (rt->in_step) return phi__error(rt, PHI_MISUSE, "phi_runtime_close inside a callback");
    if (!phi__io_own(rt->io))
        return phi__error(rt, PHI_MISUSE, "phi_runtime_close in a child of fork");
    rt->closing = true;
    for (uint32_t i = 0; rt->active > 0 && i < rt->agents.count; i++) {
        phi__slot *slot = phi__slots_at(&rt->agents, i);
        phi__agent *agent = (phi__agent *)slot->object;
        if (agent == NULL || agent->run == NULL) continue;
        agent->run->end.cancelled = true;
        phi__schedule_wake(agent->run);
    }
    if (rt->fetches.open.first != NULL) phi__fetch_cancel_all(rt);
    if (rt->active > 0 || rt->fetches.open.first != NULL || phi__io_pending(rt->io))
        return PHI_BUSY;
    return rt->http != NULL && phi__http_pending(rt->http) > 0 ? PHI_BUSY : PHI_OK;
}

PHI_API void phi_runtime_abandon(phi_runtime *rt) {
    if (rt != NULL) rt->in_step = rt->abandoned = true;
}

/* In a child of fork, the epoll set, the sockets and the tools' processes still belong to the
   parent. Freeing them would affect the parent. */
static bool phi__runtime_may_free(phi_runtime *rt) {
    bool inside = rt->in_step && !rt->abandoned;
    if (!inside && phi__io_own(rt->io)) return true;
    (void)phi__error(rt, PHI_MISUSE,
                     inside ? "phi_runtime_free inside a callback"
                            : "phi_runtime_free in a child of fork");
    return false;
}

PHI_API void phi_runtime_free(phi_runtime *rt) {
    if (rt == NULL || !phi__runtime_may_free(rt)) return;
    /* the tools' cancel functions must neither step nor make agents */
    rt->in_step = rt->closing = true;
    phi__crew_drop(rt);
    for (uint32_t i = 0; i < rt->agents.count; i++) {
        phi__slot *slot = phi__slots_at(&rt->agents, i);
        if (slot->object != NULL) phi__end_retire((phi__agent *)slot->object);
    }
    if (rt->fetches.open.first != NULL) phi__fetch_end_all(rt);
    phi__end_of_step(rt);
    phi__shot_free_threads(rt);
    phi__provider_free_all(rt);
    phi__runtime_unmake(rt);
}

static int phi__runtime_active(const phi_runtime *rt) {
    return rt->active > (uint32_t)INT_MAX ? INT_MAX : (int)rt->active;
}

PHI_API int phi_step(phi_runtime *rt, int timeout_ms) {
    if (rt == NULL) return PHI_BAD_ARG;
    if (rt->in_step) return phi__error(rt, PHI_MISUSE, "phi_step inside a callback");
    if (phi__crew_under_way(rt)) return phi__runtime_active(rt);
    rt->in_step = true;
    PHI__STORE(&rt->pump, (uintptr_t)(void *)&errno);
    phi__pump(rt, timeout_ms);
    /* the inbox was read, so later input can be reported as dropped */
    if (rt->one_shot_over.first != NULL) phi__shot_retire(rt);
    if (rt->retired != NULL) phi__end_destroy_retired(rt);
    rt->in_step = false;
    return phi__runtime_active(rt);
}

PHI_API intptr_t phi_runtime_fd(const phi_runtime *rt) {
    return rt != NULL ? phi__io_fd(rt->io) : -1;
}

PHI_API int phi_next_timeout(const phi_runtime *rt) { return rt != NULL ? phi__pump_next(rt) : -1; }

PHI_API void phi_ready(phi_runtime *rt, intptr_t fd, int have) {
    if (rt != NULL) phi__io_ready(rt->io, fd, have);
}

PHI_API void phi_wake(phi_runtime *rt) {
    if (rt != NULL) phi__io_wake(rt->io);
}

PHI_API phi_status phi_warm(phi_runtime *rt, const phi_model *model) {
    if (rt == NULL || model == NULL) return PHI_BAD_ARG;
    phi_status status = phi__check_url(rt, "phi_warm: ", model->base_url);
    if (status != PHI_OK) return status;
    /* phi cannot warm up a host's transport */
    if (rt->http == NULL) return PHI_OK;
    status = phi__http_warm(rt->http, phi_str_of(model->base_url));
    return status == PHI_OK ? status
                            : phi__error(rt, status, "phi_warm: %s", phi_status_text(status));
}

PHI_API phi_error phi_last_error(const phi_runtime *rt) {
    phi_error error = {PHI_BAD_ARG, "there is no runtime"};
    if (rt != NULL) error.status = phi__error_last(rt, &error.message);
    return error;
}

PHI_API size_t phi_memory_used(const phi_runtime *rt, size_t *peak) {
    if (peak != NULL) *peak = rt != NULL ? rt->memory.peak_bytes : 0;
    return rt != NULL ? rt->memory.used_bytes : 0;
}

/* ---- the list of all features; naming the list links them all ---- */

PHI_API const phi_feature_fn *phi_features_all(void) {
    static const phi_feature_fn all[] = {phi_feature_facts,
                                         phi_feature_tool_state,
                                         phi_feature_failover,
                                         phi_feature_context_edits,
                                         phi_feature_deferred_rewrites,
                                         phi_feature_capture,
                                         phi_feature_argument_stream,
                                         phi_feature_cache_stats,
                                         phi_feature_formats,
                                         phi_feature_deferral,
                                         phi_feature_tool_sources,
                                         phi_feature_summaries,
                                         NULL};
    return all;
}
