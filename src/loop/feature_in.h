/* feature_in.h - the points of a run, and of its agent, at which features take part.

   A feature is a part that the loop can do without: compaction, request capture, cache statistics.
   It has one function, the points at which that is called, and the sizes of the state that it keeps
   beside each run and each agent: zeroed memory, reserved with the run's and the agent's own. All
   features that a runtime has are named by its desc, or are among those that all have; the loop
   knows features by rt->features alone: none of them by name. At each point the features that want
   it are called in their order.

   Outcomes: at a point of a run, PHI__RUN_ON calls the next feature, and after the last one the run
   continues. Anything else is the run's next state: no other feature is called. PHI__RUN_HELD: the
   feature holds the run; from then on PHI__POINT_HELD is the run's state function, until it returns
   the next state. At a point of an agent the outcome is PHI__RUN_ON, and moment->status is the
   failure.
   Threads: the pumping thread. */
#ifndef PHI_LOOP_FEATURE_IN_H
#define PHI_LOOP_FEATURE_IN_H

#include "base/arena_in.h"
#include "loop/feature.h"
#include "loop/input.h"
#include "loop/types_in.h"
#include "model/failure.h"
#include "text/json.h"
#include "history/tool_state_in.h"
#include "history/thread_in.h"

typedef enum phi__point {
    /* ---- of a run ---- */
    /* A message has entered the log: moment->input says by which queue. */
    PHI__POINT_SAID = 1 << 0,
    /* A turn has begun, or continues out of a snapshot; its model call is next. */
    PHI__POINT_TURN_BEGUN = 1 << 1,
    /* A run without turns has begun (phi__run_order.no_turns); ON: it closes. */
    PHI__POINT_ERRAND = 1 << 2,
    /* run->ask is the request of the turn. A feature that needs slices sets run->slices. */
    PHI__POINT_REQUEST = 1 << 3,
    /* Where run->slices is set: a part of the answer was decoded, or, with moment->whole, all. */
    PHI__POINT_SLICE = 1 << 4,
    /* The answer comes to nothing. */
    PHI__POINT_DROPPED = 1 << 5,
    /* An attempt was charged with moment->usage. */
    PHI__POINT_CHARGED = 1 << 6,
    /* An attempt has failed since the request does not fit: moment->failure, in the thread. Or,
       with moment->whole, for any reason, and it is not tried again; another failure may be put in
       its place. */
    PHI__POINT_FAILED = 1 << 7,
    /* moment->call was made of the answer; its tool is about to be started; it has a result. */
    PHI__POINT_CALL_MADE = 1 << 8,
    PHI__POINT_CALL_STARTS = 1 << 9,
    PHI__POINT_CALL_ENDED = 1 << 10,
    /* moment->message is the result of moment->call on its way into the log; another may take its
       place. */
    PHI__POINT_RESULT = 1 << 11,
    /* In front of RESULT, where moment->call has effects on the tool state. */
    PHI__POINT_EFFECTS = 1 << 30,
    /* In front of TURN_END. */
    PHI__POINT_TURN_ENDS = 1 << 12,
    /* In front of AGENT_END, the log says that the run is over; and behind the run's last hook. */
    PHI__POINT_RUN_ENDS = 1 << 13,
    PHI__POINT_RUN_OVER = 1 << 14,
    /* Frees the memory of the feature's state of the run, and does nothing else. */
    PHI__POINT_RUN_FREED = 1 << 15,
    /* The run is held by this feature; *moment->wait as for any state. */
    PHI__POINT_HELD = 1 << 16,
    /* ... and the state as which that is saved is the outcome. */
    PHI__POINT_HELD_AS = 1 << 17,
    /* The run's members are written to moment->out, or read from moment->json. */
    PHI__POINT_RUN_SAVE = 1 << 18,
    PHI__POINT_RUN_LOAD = 1 << 19,
    /* ---- of an agent ---- */
    /* The same of an agent: in front of its run, and behind it. */
    PHI__POINT_AGENT_SAVE = 1 << 20,
    PHI__POINT_AGENT_LOAD = 1 << 21,
    PHI__POINT_AGENT_SAVE_LATE = 1 << 22,
    PHI__POINT_AGENT_LOAD_LATE = 1 << 23,
    /* Its model, tools, prompt or format are others now. */
    PHI__POINT_CHANGED = 1 << 24,
    /* Its log is about to go, and then is another one: what moment->fold showed was copied into it,
       or, at NULL, is gone. moment->did: for want of memory. */
    PHI__POINT_LOG_LEAVES = 1 << 25,
    PHI__POINT_LOG_RENEWED = 1 << 26,
    /* Its log was read from a store just now. */
    PHI__POINT_LOG_OPENED = 1 << 27,
    /* Its view should become smaller: moment->tokens for the part that is not kept word for word;
       or, with moment->whole, by what the host's compactor has made; moment->did: it was done. */
    PHI__POINT_SHRINK = 1 << 28,
    /* Frees the memory of the feature's state of the agent; it may call the host. */
    PHI__POINT_AGENT_FREED = 1 << 29
} phi__point;

/* The arguments of a point; fields that a point does not use are zero. */
typedef struct phi__moment {
    phi__point point;
    phi__agent *agent;
    phi__run *run;                 /* NULL: a point of the agent's */
    void *run_state, *agent_state; /* the feature's own; NULL: it has none */
    phi__toolcall *call;
    const phi_message *message;
    const phi_failure *failure;
    const phi_usage *usage;
    const phi__fold *fold;
    const phi_json *json;
    phi__buf *out;
    phi_arena *scratch;
    bool *wait;
    uint64_t tokens;
    phi_input input;
    phi_status status;
    bool whole, did;
} phi__moment;

struct phi_cache_stats;
struct phi_tool;

typedef struct phi__feature {
    uint32_t points; /* the points that it wants */
    size_t run_bytes, agent_bytes;
    phi__state (*take)(phi__moment *moment);
    /* Whether it takes part in a run from its beginning; NULL: it does. One that does not is called
       at none of the run's points but RUN_LOAD and EFFECTS, until it joins. */
    bool (*wants)(const phi__run *run);
    uint8_t order; /* PHI__FEATURE_AT_ (features/order_in.h): whom it comes after at each point */
    /* With the runtime that it is named for, and when that is freed; NULL: nothing. */
    void (*open)(phi_runtime *rt);
    void (*close)(phi_runtime *rt);
} phi__feature;

/* Of a run: which features take part, by their place in the table, and at which points any of them
   wants to be called. Where a bit is not set, nobody listens: a point need not be made. */
typedef struct phi__taking {
    uint32_t features, points;
} phi__taking;

typedef phi_feature_fn phi__feature_fn;

enum { PHI__FEATURE_MOST = 24 };

/* A feature of a runtime. */
typedef struct phi__feature_place {
    phi_feature_fn name;
    const phi__feature *feature;
    size_t run_at, agent_at; /* of its state, behind a run and an agent */
} phi__feature_place;
typedef struct phi__features {
    phi__feature_place places[PHI__FEATURE_MOST];
    size_t count;
    size_t run_bytes, agent_bytes; /* of all their state, beside a run and an agent */
    uint32_t wanted;               /* points that any of them wants */
    uint32_t joined;               /* the features that joined all runs */
    /* Functions that the layers above call; NULL: the feature is not named. */
    const struct phi__failover_ops *failover;
    const struct phi__formats *formats; /* wire/strict_in.h */
    /* an agent's format, which is JSON: PHI_OK, or words */
    phi_status (*check_format)(phi_runtime *rt, const struct phi_format *format,
                               const struct phi_tool *tools, size_t tool_count);
    const struct phi__deferral_ops *deferral; /* deferral_in.h */
    phi__carry_fn carry_state;                /* tool state, when a log is rebuilt */
    const struct phi__sources_ops *sources;   /* toolset_in.h */
    phi_status (*summarize_fn)(phi_agent agent, uint64_t from, uint64_t to); /* phi_summarize */
    /* phi_agent_info: the op_id of the deferred rewrite, or empty; and the figures of the cache */
    phi_str (*deferred_fn)(const phi__agent *agent);
    void (*cache_stats_fn)(const phi__agent *agent, struct phi_cache_stats *out);
} phi__features;
/* Takes the features of a list that NULL ends, at their places; one twice is taken once. False:
   more than there may be. */
PHI__FN bool phi__feature_name(phi__features *features, const phi_feature_fn *list);
/* The runtime has all its features. */
PHI__FN void phi__feature_open(phi_runtime *rt);
PHI__FN void phi__feature_close(phi_runtime *rt);
PHI__FN bool phi__feature_named(const phi_runtime *rt, unsigned order);
/* PHI_UNSUPPORTED, with the line to add: what wants it ("failover"), and its name. */
PHI__FN phi_status phi__feature_missing(phi_runtime *rt, const char *what, const char *name);
/* PHI_OK, or the same. */
PHI__FN phi_status phi__feature_need(phi_runtime *rt, unsigned order, const char *what,
                                     const char *name);

/* A run is about to begin, or goes on out of a snapshot: who takes part in it. */
PHI__FN void phi__feature_begin(phi__run *run);
/* A feature takes part in it from now on. */
PHI__FN void phi__feature_join(phi__run *run, phi__feature_fn feature);
/* ... in all runs of the runtime, those under way and those to come. */
PHI__FN void phi__feature_join_all(phi_runtime *rt, phi__feature_fn feature);
/* A `wants` that is always false: the feature only joins. */
PHI__FN bool phi__feature_late(const phi__run *run);

/* Calls the features at a point of the run; returns the outcome. */
PHI__FN phi__state phi__feature_run(phi__run *run, phi__point point);
/* The same about a tool call. */
PHI__FN phi__state phi__feature_call(phi__toolcall *call, phi__point point);
/* The same for an agent, or for a run with arguments; agent is run->agent. */
PHI__FN phi__state phi__feature_take(phi__moment *moment);
PHI__FN void phi__feature_agent(phi__agent *agent, phi__point point);
/* The log of an agent is another one: what `copied` showed stands in it, or, at NULL, nothing.
   shortened: for want of memory. */
PHI__FN void phi__feature_renewed(phi__agent *agent, const phi__fold *copied, bool shortened);
/* Its log was read from a store just now. PHI_OK, or a feature's status. */
PHI__FN phi_status phi__feature_opened(phi__agent *agent);
/* The state HELD: what its holder makes of it; and as which state it is saved. */
PHI__FN phi__state phi__feature_held(phi__run *run, bool *wait);
PHI__FN phi__state phi__feature_held_as(const phi__run *run);

/* The state of one of them; NULL: it was left out. */
PHI__FN void *phi__feature_run_state(const phi__run *run, phi__feature_fn feature);
PHI__FN void *phi__feature_agent_state(const phi__agent *agent, phi__feature_fn feature);

#endif
