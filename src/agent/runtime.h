/* runtime.h - the runtime: memory, clock, network, timers and all agents; phi_step drives it. */
#ifndef PHI_AGENT_RUNTIME_H
#define PHI_AGENT_RUNTIME_H

#include "loop/feature.h"
#include "model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PHI_WATCH_READ = 1, PHI_WATCH_WRITE = 2 };

/* The settings of a runtime. Zero means default for every field. */
typedef struct phi_runtime_desc {
    phi_allocator allocator;   /* copied (default: the C library's) */
    size_t memory_limit_bytes; /* for all memory of phi (default: no limit) */
    /* room for calls from other threads, allocated at the start (default 64 KiB) */
    size_t inbox_bytes;
    uint32_t step_budget_us; /* time for the work of one phi_step, by the clock (default 250) */
    /* phi_step stops after about this many bytes of answers and kept results (default 65,536) */
    uint32_t step_budget_bytes;
    uint32_t max_connections;     /* requests above this number wait (default 64) */
    uint32_t max_starts_per_step; /* transfers and processes that one phi_step starts (default 4) */
    bool enable_http2;            /* at most 10 streams on a connection (default: HTTP/1.1) */
    /* read the proxy variables of the environment (default: no variable is read) */
    bool use_environment;
    const char *proxy;          /* "http://host:port"; copied (default: none) */
    const char *ca_file;        /* PEM; copied (default: the system's) */
    const char *const *resolve; /* "HOST:PORT:ADDRESS" pins, NULL-ended; copied (default: none) */
    const phi_transport *transport; /* borrowed until phi_runtime_free (default: libcurl) */
    /* For a host's own event loop instead of phi's poller: the host watches fd for `want`
       (PHI_WATCH_ bits; 0: stop watching) and calls phi_ready. (default: phi polls) */
    void (*watch_fn)(void *user_data, intptr_t fd, int want);
    /* The clock, which never goes back (default: the system's). Deadlines count at most one second
       of the time between two steps (docs/loop.md, "Which time counts"). */
    uint64_t (*clock_us_fn)(void *user_data);
    /* source of random bytes (default: the system's) */
    void (*random_fn)(void *user_data, void *out, size_t len);
    /* passed to watch_fn, clock_us_fn and random_fn */
    void *user_data;
    /* records all runs, or plays a recording (record/replay.h). Borrowed until phi_runtime_free
       (default: none) */
    phi_tape *tape;
    /* The protocols for models without phi_model.codec, which are the models that no preset made.
       Give PHI_ALL_PROTOCOLS, or a list of codecs from presets, such as phi_model_google(id,
       key).codec. NULL-ended, borrowed until phi_runtime_free (default: none) */
    const phi_codec_fn *codecs;
    /* The features that agents have beyond the plain loop (features/features.h): PHI_ALL_FEATURES,
       or a list. NULL-ended; copied (default: none) */
    const phi_feature_fn *features;
    /* out: why there is no runtime, or "ok"; a static string (default: not wanted) */
    const char **error;
} phi_runtime_desc;

/* Makes a runtime; desc NULL means all defaults. Returns NULL if there is no memory, libcurl cannot
   be used or a field is wrong; desc->error says why. The first runtime in a process calls
   curl_global_init. */
PHI_API phi_runtime *phi_runtime_new(const phi_runtime_desc *desc);

/* Ends all active runs without waiting: cancels every run and returns PHI_BUSY while something is
   still active, then PHI_OK. Call this function and phi_step in turn until it returns PHI_OK.
   Agents stay until they are freed. */
PHI_API phi_status phi_runtime_close(phi_runtime *rt);

/* Frees the runtime and all its agents at once. If phi_runtime_close has not returned PHI_OK
   before, this may wait for a name that libcurl is still looking up. Afterwards every handle is
   dangling, so threads that post must have stopped. NULL is harmless. Inside a callback and in a
   child of fork nothing is freed, and phi_last_error says so. */
PHI_API void phi_runtime_free(phi_runtime *rt);

/* Tells phi that an exception or a longjmp has left a callback together with the function of phi
   that called it, such as phi_step. No function of phi may be on the stack any more. Afterwards the
   runtime can only be freed, and phi_step returns PHI_MISUSE. phi_runtime_free calls the cancel
   functions of tools, which must not throw. Memory that the interrupted function was using is not
   given back to the allocator. */
PHI_API void phi_runtime_abandon(phi_runtime *rt);

/* Does a bounded amount of work. timeout_ms 0: does not wait; above 0: waits at most this long for
   work; below 0: waits until there is work (if no run is active, until phi_wake). A wait ends at
   once if the queue has events. It lasts at most one second while a deadline is running, and at
   most 10 ms while a call of a tool with `step` is active. Returns the number of active runs (0:
   idle; now pop the last events), or PHI_MISUSE inside a callback. Pointers in events that were
   popped before this call become invalid. */
PHI_API int phi_step(phi_runtime *rt, int timeout_ms);

/* For a host's own loop: wait until phi_runtime_fd is readable, for at most phi_next_timeout
   milliseconds, then call phi_step. phi_runtime_fd returns -1 if there is no such descriptor (poll
   backend, Windows or watch_fn). phi_next_timeout returns -1: no limit; 0: step now; at most 1,000
   while a deadline is running or a run is active. */
PHI_API intptr_t phi_runtime_fd(const phi_runtime *rt);
PHI_API int phi_next_timeout(const phi_runtime *rt);
/* Reports that fd is ready for `have` (PHI_WATCH_ bits). For hosts with a watch_fn. */
PHI_API void phi_ready(phi_runtime *rt, intptr_t fd, int have);

/* Ends the wait of a phi_step. Any thread; without PHI_NO_THREADS also a signal handler. */
PHI_API void phi_wake(phi_runtime *rt);

/* Does work that cannot be divided into steps; call it for example on a loading screen. Loads the
   CA store (up to 50 ms) and starts a connection to the model's host. Later steps finish this
   connection, and runs reuse it. */
PHI_API phi_status phi_warm(phi_runtime *rt, const phi_model *model);

typedef struct phi_error {
    phi_status status;
    /* names the field or the place; never NULL; valid until the runtime's next failure */
    const char *message;
} phi_error;

/* Returns why the last failed call failed: printf("%s\n", phi_last_error(rt).message). A success
   does not clear this error, so ask only after a failure. A call with a zero handle (rt is NULL) has
   no runtime and leaves an older error. Pumping thread only. */
PHI_API phi_error phi_last_error(const phi_runtime *rt);

/* Returns the bytes in use from the allocator; *peak gets the highest number so far. */
PHI_API size_t phi_memory_used(const phi_runtime *rt, size_t *peak);

/* Returns all features: a static, NULL-ended list. */
PHI_API const phi_feature_fn *phi_features_all(void);
#define PHI_ALL_FEATURES phi_features_all()

#ifdef __cplusplus
}
inline phi_runtime *phi_runtime_new(const phi_runtime_desc &desc) { return phi_runtime_new(&desc); }
#endif
#endif
