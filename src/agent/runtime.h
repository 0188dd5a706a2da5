/* runtime.h - the runtime, which phi_step drives: memory, clock, network, timers and all agents. */
#ifndef PHI_AGENT_RUNTIME_H
#define PHI_AGENT_RUNTIME_H

#include "loop/feature.h"
#include "model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PHI_WATCH_READ = 1, PHI_WATCH_WRITE = 2 };

/* Zero means default for every field. */
typedef struct phi_runtime_desc {
    phi_allocator allocator;      /* copied (default: the C library's) */
    size_t memory_limit_bytes;    /* of everything of ours (default: none) */
    size_t inbox_bytes;           /* for other threads' calls; taken at start (default 64 KiB) */
    uint32_t step_budget_us;      /* work a phi_step, in clock time (default 250) */
    uint32_t step_budget_bytes;   /* and in bytes: answers, kept results (default 65,536) */
    uint32_t max_connections;     /* further requests wait (default 64) */
    uint32_t max_starts_per_step; /* transfers and processes (default 4) */
    bool enable_http2;            /* at most 10 streams a connection (default: HTTP/1.1) */
    bool use_environment;         /* proxy variables (default: none is read) */
    const char *proxy;            /* "http://host:port"; copied (default: none) */
    const char *ca_file;          /* PEM; copied (default: the system's) */
    const char *const *resolve;   /* "HOST:PORT:ADDRESS" pins, NULL-ended; copied (default: none) */
    const phi_transport *transport; /* borrowed until free (default: libcurl) */
    /* The host's event loop instead of our poller: it watches fd for `want` (PHI_WATCH_ bits; 0:
       forget it) and calls phi_ready. */
    void (*watch_fn)(void *user_data, intptr_t fd, int want);
    /* never goes back (default: the system's). The time between two steps counts for at most a
       second of a deadline: docs/loop.md, "Which time counts" */
    uint64_t (*clock_us_fn)(void *user_data);
    void (*random_fn)(void *user_data, void *out, size_t len); /* (default: the system's) */
    void *user_data;                                           /* of the three functions above */
    /* records the run, or plays it; see record/replay.h. Borrowed until free (default: none) */
    phi_tape *tape;
    /* The protocols of models that carry no code: those that no preset made. NULL-ended, borrowed
       until free: PHI_ALL_PROTOCOLS, or a list with the codecs of presets, as phi_model_google(id,
       key).codec (default: none) */
    const phi_codec_fn *codecs;
    /* What its agents can do beyond the plain loop, by name (features/features.h). NULL-ended;
       copied: PHI_ALL_FEATURES, or a list (default: none) */
    const phi_feature_fn *features;
    const char **error; /* out: why there is no runtime, static; "ok" else (default: not wanted) */
} phi_runtime_desc;

/* Makes a runtime; desc NULL means defaults for all. NULL: no memory, or libcurl cannot be used, or
   a field is wrong; desc->error says so. The first one in a process calls curl_global_init. */
PHI_API phi_runtime *phi_runtime_new(const phi_runtime_desc *desc);

/* Ends active runs, without waiting: cancels every run, then says PHI_BUSY until nothing is left,
   then PHI_OK. Call it, and phi_step between, until PHI_OK; agents stay until they are freed. */
PHI_API phi_status phi_runtime_close(phi_runtime *rt);

/* Frees the runtime and all its agents at once. Without a close that said PHI_OK it may wait for a
   name that libcurl is still looking up. Every handle is then dangling: threads that post must have
   stopped. NULL is harmless. Inside a callback, and in a child of fork, it frees nothing, and
   phi_last_error says so. */
PHI_API void phi_runtime_free(phi_runtime *rt);

/* Declares that an exception or a longjmp has left a callback, and with it phi_step or the function
   of phi that called it: none is on the stack any more. The runtime can then only be freed, and
   phi_step returns PHI_MISUSE. Freeing calls the cancel functions of tools, which must not throw.
   Memory that the interrupted function was using is not given back to the allocator. */
PHI_API void phi_runtime_abandon(phi_runtime *rt);

/* Does a bounded amount of work. timeout_ms 0: never waits; > 0: waits at most that long for work;
   < 0: until there is work; with no run active until phi_wake. Events in the queue end a wait at
   once. While a deadline counts, a wait ends after a second; while tools with a `step` are under
   way, after 10 ms. Returns the number of active runs (0: idle; pop the last events then), or
   PHI_MISUSE inside a callback. Pointers out of events popped before it are invalid after it. */
PHI_API int phi_step(phi_runtime *rt, int timeout_ms);

/* For a host's own loop: sleep on phi_runtime_fd for reading (-1 where there is none: poll backend
   or watch_fn), at most phi_next_timeout ms (-1: for ever, 0: step now; at most 1,000 while a
   deadline counts or a run is active), then phi_step. */
PHI_API intptr_t phi_runtime_fd(const phi_runtime *rt);
PHI_API int phi_next_timeout(const phi_runtime *rt);
PHI_API void phi_ready(phi_runtime *rt, intptr_t fd, int have); /* with watch_fn */

/* Ends a phi_step that waits. Any thread. */
PHI_API void phi_wake(phi_runtime *rt);

/* Call it on a loading screen, for work that cannot be sliced: loads the CA store (up to 50 ms) and
   starts a connection to the model's host that later steps finish and runs reuse. */
PHI_API phi_status phi_warm(phi_runtime *rt, const phi_model *model);

typedef struct phi_error {
    phi_status status;
    /* never NULL; names the field or the place; the runtime's, valid until its next failure */
    const char *message;
} phi_error;

/* Why the last call failed: printf("%s\n", phi_last_error(rt).message). Success does not clear it:
   ask after a failure. Pumping thread only. */
PHI_API phi_error phi_last_error(const phi_runtime *rt);

/* Bytes in use and at most so far, of everything that came from the allocator. */
PHI_API size_t phi_memory_used(const phi_runtime *rt, size_t *peak);

/* All features, NULL-ended and static. */
PHI_API const phi_feature_fn *phi_features_all(void);
#define PHI_ALL_FEATURES phi_features_all()

#ifdef __cplusplus
}
inline phi_runtime *phi_runtime_new(const phi_runtime_desc &desc) { return phi_runtime_new(&desc); }
#endif
#endif
