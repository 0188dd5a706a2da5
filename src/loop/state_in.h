/* state_in.h - the structs of the pump: the runtime, its agents, their runs, transfers and calls.

   The runtime owns everything. An agent's run exists from prompt to AGENT_END; it is advanced a
   slice at a time from the runtime's ready list, and leaves the list when it waits. The event that
   ends its wait (a push, a result, a timer, a cancel) puts it back with phi__schedule_wake.
   Callbacks into the host (a tool's start, step, cancel and on_field, hooks, filters, providers,
   compactors) may free any agent. During a step, a freed agent is taken out of every table at once
   and destroyed when the step ends. After any host callback, check agent->slot: NULL means the
   agent was freed.
   Threads: the pumping thread, but for the words of slots and the inbox. */
#ifndef PHI_LOOP_STATE_IN_H
#define PHI_LOOP_STATE_IN_H

#include "loop/agent_desc.h"
#include "loop/events.h"
#include "loop/feature.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "loop/provider.h"
#include "loop/tool_source.h"
#include "persist/persist_in.h"

typedef struct phi__agent phi__agent;
typedef struct phi__cap phi__cap; /* cap.c */
typedef struct phi__decision phi__decision;
typedef struct phi__fetch phi__fetch;       /* transfer.c */
typedef struct phi__question phi__question; /* hooks.c */
typedef struct phi__response phi__response;
typedef struct phi__run phi__run;
typedef struct phi__tool_sources phi__tool_sources; /* toolset.c */
typedef struct phi__toolcall phi__toolcall;
struct phi__event_block;
struct phi__transfer;
struct phi_cache_stats;
struct phi_model_request;

/* ---- states of a run, outcomes of a hook ---- */

/* In the order of a run. Each calls one hook at most, so that a state whose hook waited is entered
   again. */
typedef enum phi__state {
    PHI__RUN_ON = 0, /* no state: a feature leaves it to the others where the run goes */
    PHI__RUN_BEFORE_LOOP = 1,
    PHI__RUN_OPEN,
    PHI__RUN_FILTER, /* the prompts; then they are in the log */
    PHI__RUN_POLL,   /* steering, before the first turn */
    PHI__RUN_TOP,    /* filters of polled input, limits, budgets; may pause */
    PHI__RUN_BEFORE_TURN,
    PHI__RUN_TURN,
    PHI__RUN_TRANSFORM,
    PHI__RUN_CONVERT,
    PHI__RUN_REQUEST,
    PHI__RUN_CREDENTIAL, /* each attempt: its key, where the host gives one */
    PHI__RUN_SIGN,       /* each attempt, where the codec signs */
    PHI__RUN_SEND,       /* each attempt */
    PHI__RUN_STREAM,
    PHI__RUN_BACKOFF,
    PHI__RUN_HELD, /* by a feature, until it returns the next state */
    PHI__RUN_TOOLS,
    PHI__RUN_FAILED, /* the on_error hook */
    PHI__RUN_TURN_END,
    PHI__RUN_AFTER_TURN,
    PHI__RUN_NEXT,   /* another turn, for tools or steering? */
    PHI__RUN_FOLLOW, /* for follow-ups? else the queues are sealed */
    PHI__RUN_CLOSE,
    PHI__RUN_AFTER_LOOP,
    PHI__RUN_OVER, /* taken apart by the pump */
    /* Outcomes that are not states: turn.c acts on them. No run is ever in one of these. */
    PHI__RUN_LOST,    /* memory ran out */
    PHI__RUN_ENDED,   /* the attempt has ended: its failure says how */
    PHI__RUN_GIVE_UP, /* ... and its fault is for good */
    PHI__RUN_ANSWERED /* the answer is in the log: its calls are made */
} phi__state;

/* What phi__hooks_decide comes to. */
typedef enum phi__hooked {
    PHI__HOOK_ALLOW = PHI_ALLOW,
    PHI__HOOK_DENY = PHI_DENY,
    PHI__HOOK_WAIT = PHI_WAIT, /* come again: the run or the call is woken */
    PHI__HOOK_WARN = PHI_WARN,
    PHI__HOOK_GONE, /* the hook freed the agent: return at once */
    PHI__HOOK_LOST  /* no memory */
} phi__hooked;

/* ---- states of slots, posts of other threads ---- */

/* States of an agent's slot, which other threads may look at; and bits that they set, which need no
   room in the inbox: the slot is marked. */
enum {
    PHI__AGENT_IDLE = 1,
    PHI__AGENT_RUNNING = 2,
    PHI__AGENT_ABORT = 4,
    PHI__AGENT_STOP = 8 /* when the turn is over */
};

/* Slot states. CLAIMED: the thread that set it, and no other, gives the result: through the inbox,
   or on the pumping thread. */
enum { PHI__CALL_PENDING = 1, PHI__CALL_CLAIMED = 2 };

enum { PHI__CALL_IS_ERROR = 1, PHI__CALL_TERMINATED = 2 }; /* flags of a PHI__POST_FINISH */

/* Slot states: as those of calls; HELD: open, but phi_decide can only deny it; and SAID with the
   verdict in the bits below: decided without a text, and so without room in the inbox; the slot is
   marked. */
enum { PHI__TICKET_OPEN = 1, PHI__TICKET_CLAIMED = 2, PHI__TICKET_HELD = 3, PHI__TICKET_SAID = 4 };

enum {
    PHI__POST_FINISH = 1,
    PHI__POST_DECIDE, /* with a text; flag: the verdict */
    PHI__POST_STEER,
    PHI__POST_FOLLOW_UP,
    PHI__POST_INJECT /* flag: bytes of the source, which is before the text */
};

/* ---- toolset.c: the tools of an agent, or of one request ---- */

/* Who is sent their names, and whether a hook can allow a call. */
typedef struct phi__tool_rules {
    const phi__codec *codec; /* NULL: a provider of the host's, which takes any name */
    bool can_approve;
} phi__tool_rules;

typedef struct phi__toolset {
    phi_arena arena; /* the lists, and what strict schemas were made into */
    phi_tool *tools;
    phi__tool_view *views; /* in the form that requests use */
    size_t count;
    size_t own;                   /* the first so many: not from a source (loop/toolset.c) */
    bool has_lone;                /* one is not_concurrent */
    bool has_fields;              /* one has on_field */
    bool names_steps;             /* one has names_steps */
    bool has_raw;                 /* one has raw */
    bool may_defer;               /* one has deferred or may_defer */
    uint64_t deferrable;          /* deferral.c: the tokens of those, and one; 0: not counted */
    phi_token_counter counted_by; /* ... by this counter */
    const struct phi__features *features; /* the runtime's */
    phi_tool *finders; /* room for deferral.c's two; NULL where nothing may be deferred */
} phi__toolset;

typedef struct phi__toolset_change {
    const uint8_t *marks; /* NULL: all are shown */
    const phi__tool_view *more;
    size_t more_count;
} phi__toolset_change;

/* By pointer: phi_feature_tool_sources names them. */
typedef struct phi__sources_ops {
    bool (*make)(phi__agent *agent, const phi_tool_source *const *sources, size_t count);
    phi_status (*refresh)(phi__agent *agent, bool quiet);
    phi_status (*own)(phi__agent *agent, const phi_tool *tools, size_t count);
    void (*free)(phi__agent *agent);
} phi__sources_ops;

/* ---- deferral.c: deferred tools, whose definitions are loaded on demand ---- */

/* A request names deferred tools, and their definitions are loaded on demand: by the provider's
   tool search, if it has one (phi__codec_rules.defers), which gets the definitions, marked, and
   shows the model those that it has found; else by two tools of phi, search_tools and load_tools.
   Then the system prompt ends with an index of names, and loaded tools are defined after the other
   tools, in the order of loading, so that a request begins as the one before did. The results of
   load_tools in the view name the loaded tools; the agent keeps their names, which outlive a
   compaction, and are in its snapshots as "loaded_tools":["NAME",...]. */
typedef struct phi__deferral {
    phi_arena arena;
    phi_str *names;
    size_t count, cap;
} phi__deferral;

typedef enum phi__defer_way {
    PHI__DEFERRAL_NONE = 0, /* no tool is deferred */
    PHI__DEFERRAL_NATIVE,
    PHI__DEFERRAL_OWN
} phi__defer_way;

/* How the agent's effective tools are deferred for its model. */
typedef struct phi__defer_plan {
    phi__defer_way way;
    bool above; /* may_defer counts */
} phi__defer_plan;

/* By pointer: phi_feature_deferral names them. */
typedef struct phi__deferral_ops {
    phi__defer_plan (*plan)(const phi__agent *agent);
    bool (*change)(phi__agent *agent, phi_arena *arena, phi__toolset_change *change,
                   phi_str *system_prompt);
    const phi_tool *(*find)(phi__agent *agent, phi_str name);
    const char *(*refuses)(const phi_tool *tools, size_t count);
    void (*free)(phi__agent *agent);
    void (*save)(phi__buf *out, const phi__agent *agent);
    bool (*load)(phi__agent *agent, const phi_json *names);
} phi__deferral_ops;

/* ---- events.c: the event queue, and streaming answers, which events refer to ---- */

typedef struct phi__last_error {
    phi_status status;
    char words[256];
} phi__last_error;

/* One answer while it streams and, as `final`, in the thread; kept while events refer to it. */
typedef struct phi__answer {
    phi_memory *memory;
    size_t bytes; /* of this, and of the names after it */
    uint32_t refs;
    bool live; /* the assembly is in use; else `final` has taken its place */
    phi__assembly assembly;
    const phi_message *final;
    /* A view of the assembly, remade at a pop; at first only the model of the request. */
    phi_message view;
    phi_content *content;
    size_t content_cap;
    bool viewed; /* `view` shows the assembly as it is */
} phi__answer;

typedef struct phi__record {
    phi__link link;                 /* of those queued, held or popped */
    phi__link own;                  /* of its agent's */
    struct phi__event_block *block; /* NULL: one of an agent's reserve */
    phi__agent *agent;
    phi__answer *answer; /* for partial and message; NULL: none */
    size_t partial_len;
    size_t cost; /* bytes counted against the agent's queue */
    bool in_use; /* reserve: queued */
    bool popped;
    phi_event event;
} phi__record;

typedef struct phi__events {
    phi_memory *memory;
    phi__list queued;  /* records */
    phi__list held;    /* the same, of agents whose events are held */
    phi__list popped;  /* until the next step; then they are freed, a part in each */
    phi__link *kept;   /* the first of `popped` that is not to be freed yet; NULL: all are */
    uint64_t freed_at; /* `seq` when some were freed last */
    struct phi__event_block *current, *spare;
    uint64_t seq;
} phi__events;

typedef struct phi__agent_events {
    size_t queued_bytes; /* of events not popped yet */
    bool held;           /* those stay until the host lets them out */
    phi__list all;       /* records, those popped too: found without a look at other agents' */
    /* PHI__RESERVE of them: during a run, and until they are released */
    phi__record *reserve;
    size_t untold_drops; /* messages that were dropped while the event queue was full */
} phi__agent_events;

/* ---- features ---- */

/* A feature is a part that the loop can do without, such as compaction or request capture: one
   function, the points at which it is called, and the sizes of the state that it keeps with each
   run and each agent (zeroed memory, reserved with them). rt->features has all features of a
   runtime; the loop knows none of them by name. At each point the features that want it are called
   in their order.
   Outcomes: at a point of a run, PHI__RUN_ON calls the next feature, and after the last one the run
   continues. Anything else is the run's next state: no other feature is called. PHI__RUN_HELD: the
   feature holds the run; from then on PHI__POINT_HELD is the run's state function, until it returns
   the next state. At a point of an agent the outcome is PHI__RUN_ON, and moment->status is the
   failure. */
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
    /* The same of an agent: before its run, and after it. */
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

typedef struct phi__feature {
    uint32_t points; /* the points that it wants */
    size_t run_bytes, agent_bytes;
    phi__state (*take)(phi__moment *moment);
    /* True if it takes part in a run from its beginning; NULL: it does. One that does not is called
       at none of the run's points but RUN_LOAD and EFFECTS, until it joins. */
    bool (*wants)(const phi__run *run);
    uint8_t
        order; /* PHI__FEATURE_AT_ (features/features_in.h): whom it comes after at each point */
    /* With the runtime that it is named for, and when that is freed; NULL: nothing. */
    void (*open)(phi_runtime *rt);
    void (*close)(phi_runtime *rt);
} phi__feature;

/* Which features take part in a run, by their place in the table, and at which points any of them
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
    size_t run_bytes, agent_bytes; /* of all their state, with a run and an agent */
    uint32_t wanted;               /* points that any of them wants */
    uint32_t joined;               /* the features that joined all runs */
    /* Functions that the layers above call; NULL: the feature is not named. */
    const struct phi__failover_ops *failover;
    const struct phi__formats *formats; /* wire/codec_in.h */
    /* an agent's format, which is JSON: PHI_OK, or words */
    phi_status (*check_format)(phi_runtime *rt, const struct phi_format *format,
                               const struct phi_tool *tools, size_t tool_count);
    const struct phi__deferral_ops *deferral; /* deferral.c */
    phi__carry_fn carry_state;                /* tool state, when a log is rebuilt */
    const struct phi__sources_ops *sources;   /* toolset.c */
    phi_status (*summarize_fn)(phi_agent agent, uint64_t from, uint64_t to); /* phi_summarize */
    /* phi_agent_info: the op_id of the deferred rewrite, or empty; and the figures of the cache */
    phi_str (*deferred_fn)(const phi__agent *agent);
    void (*cache_stats_fn)(const phi__agent *agent, struct phi_cache_stats *out);
} phi__features;

/* ---- hooks.c: decisions of hooks, and questions of rooms above to an agent's host ---- */

/* The decision of a hook, made or pending. Each run, each tool call and each question has one; its
   slot is taken only while a decision is pending. */
typedef enum phi__decision_state {
    PHI__DECISION_NONE = 0,
    PHI__DECISION_WAITS, /* for phi_decide, or its deadline */
    PHI__DECISION_MADE   /* verdict and reply are there, to be taken */
} phi__decision_state;

/* The strings of a question, separately allocated. */
typedef struct phi__asked {
    phi_str source, kind, text, arguments;
} phi__asked;

struct phi__decision {
    phi_runtime *rt;
    phi__agent *agent;
    phi__slot *slot;
    uint32_t index, gen;
    phi__decision_state state;
    phi_hook_point point;
    phi__run *run;       /* NULL: a question's */
    phi__toolcall *call; /* NULL: the run's */
    phi__timer timer;
    uint32_t timeout_ms;
    phi_verdict verdict;
    phi__buf reply; /* the verdict of the hook or of phi_decide, until it is taken */
    phi_str text;   /* for phi_pending: the text that a filter checks; in the run's memory */
    bool late;      /* its deadline settled it */
    bool ask_again; /* of the wait: as of phi_hook, and quiet */
    bool quiet;
    struct phi_permissions *permissions; /* the same: whose rules ask; NULL: none */
    uint32_t round, waited;              /* as of phi_hook */
    void (*over)(void *ctx);             /* the ticket is dead; NULL: nobody wants to know */
    void *over_ctx;
    const phi__asked *asked;                  /* of a question; NULL: it is none */
    void (*settled)(phi__decision *decision); /* ... which is called where a run would be woken */
};

/* A question that a room above the loop puts to the host of an agent: a server wants a form filled
   in, or an answer of the agent's model.
   The host decides in its hook, point PHI_HOOK_QUESTION: at once, or by phi_decide. Open calls
   nothing of the host's and never calls `decided`: the hook is called in the next phi_step, or
   later in the one that is under way. An agent whose hook does not want the point denies.
   `decided` is called once for each question that was opened and not closed: with the host's
   verdict, PHI_ALLOW or PHI_DENY, and its reply; with PHI_WAIT and a message after the deadline,
   when the call is over (finished, cancelled, late, aborted), when the agent is freed, and when
   memory ran out. It may open and close questions, give results of calls and free agents. The
   question is gone when it is called. An abort ends the questions of the run's calls; a question of
   no call needs no run, and outlives those that its agent has.
   A question is in no snapshot and on no tape: it belongs to a live connection. Its memory is the
   agent's. */
typedef struct phi__question_desc {
    phi_call call;       /* that it comes from (default: none) */
    phi_str source;      /* who asks: a server's name; this and the next three are copied */
    phi_str kind;        /* "elicitation", "sampling"; the hook's question_kind */
    phi_str text;        /* for a person: without control characters then, as source */
    phi_str arguments;   /* JSON text: the question itself */
    uint32_t timeout_ms; /* (default: the agent's deadlines.decision_ms; PHI_UNLIMITED) */
    /* reply: valid until it returns. */
    void (*decided)(void *ctx, phi_verdict verdict, phi_str reply);
    void *ctx;
} phi__question_desc;

/* hooks.c: the open questions of an agent, oldest first. */
typedef struct phi__questions {
    phi__agent *agent;
    phi__list list;
    size_t count;
    phi__timer timer; /* set while there are any */
} phi__questions;

/* ---- input.c: queues, and the filters that input passes before it is stored ---- */

/* One message in a queue, in its own memory. */
typedef struct phi__input {
    struct phi__input *next;
    phi_arena arena; /* of the content and the source */
    phi_input kind;
    phi_message message;
    phi_str source;
    bool filtered; /* the filters have passed it; their warnings are in the message */
} phi__input;

typedef struct phi__inputs {
    phi__input *head, *tail;
    size_t count;
} phi__inputs;

typedef struct phi__polling {
    bool on;             /* a poll is under way: it has looked into the queue */
    uint32_t got;        /* messages so far */
    phi__inputs pending; /* polled, for the next turn */
    uint64_t posts_from; /* of the inbox: messages injected before it were for an earlier run */
} phi__polling;

typedef struct phi__filtering {
    bool on;       /* a text is under way */
    size_t at;     /* the next filter to call */
    phi__buf text; /* the text that they filter */
    phi__buf warnings;
    phi_str rejection; /* of the prompts; in the thread */
} phi__filtering;

typedef struct phi__queues {
    phi__inputs steering, follow_ups, injected;
} phi__queues;

/* ---- limits.c: spending, limits and budgets ---- */

typedef struct phi__budget {
    phi_budget limits;
    phi_spending seen;
} phi__budget;

typedef struct phi__spent {
    phi_usage usage, turn;
    double cost;
} phi__spent;

/* run_: of the active or else the last run. */
typedef struct phi__agent_spent {
    phi_usage usage, run_usage;
    double cost, run_cost;
} phi__agent_spent;

/* How often the limits of an agent and of its runtime have refused. */
typedef struct phi__refusals {
    uint64_t own, all;
} phi__refusals;

typedef struct phi__pause {
    bool on;
    bool over;      /* it has lasted long enough */
    phi__link link; /* of rt->paused */
    phi__buf reason;
    phi_agent payer; /* the agent whose limit or budget it is */
} phi__pause;

/* The error message of a run whose memory limit was used up. */
typedef struct phi__limit_failure {
    phi_failure failure;
    char words[200]; /* its message */
} phi__limit_failure;

/* forget.c, limits.c: its memory limit. */
typedef struct phi__room {
    uint32_t runs_short; /* runs in a row that ended without memory */
    bool pressed;        /* in rt->pressed: a prompt found no memory */
    phi__link link;
    phi__limit_failure *at_limit; /* of a run that its limit has ended; NULL: it has none */
} phi__room;

/* bytes of a log for a token of a summary in it, which is there twice */
enum { PHI__FORGET_SUMMARY = 32 };

/* ---- head.c, projection.c, model_call.c: what the model is sent ---- */

/* The head of a conversation: system prompt and tools as a model saw them first.
   A model that takes system messages in mid-conversation keeps its head: changes are appended, so
   that the prompt cache and the thinking before them stay valid. A changed system prompt goes as
   text. Changed tools go as additions and removals if the codec has put_tool (phi__codec_rules),
   else the head is made again, as for every other model.
   An update names what held then in its details, so that the next one is made from the history:
       {"head":N,"id":"HASH","system":"HASH","tools":["NAME","HASH",...]}
   N counts the updates of this head, from 1. If the view has lost one of them, or has no answer
   yet, the head is made again; updates of another head are left out of the request. */
typedef struct phi__head {
    phi_arena arena;
    phi_str system;
    phi__tool_view *tools;
    size_t count;
    uint64_t id;
    bool searches; /* a request with it had deferred tools */
} phi__head;

/* An agent's figures of the last request. */
typedef struct phi__thinking {
    size_t dropped;    /* answers whose thinking it left out */
    uint64_t first;    /* the entry of the first of them */
    const char *cause; /* static; NULL: none */
    uint64_t barred;   /* thinking of entries before this one was refused: it never goes back */
} phi__thinking;

/* What the model has seen of a conversation before. */
typedef struct phi__prior {
    phi__head *head;                /* NULL: its model keeps none */
    phi__thinking thinking;         /* model_call.c: that the last request left out */
    struct phi__deferral *deferral; /* NULL: no deferred tool was loaded */
} phi__prior;

/* The list that TRANSFORM_CONTEXT and CONVERT_TO_LLM look at. */
typedef struct phi__listed {
    const phi_message **messages; /* NULL: no hook was called */
    size_t count;
} phi__listed;

typedef struct phi__run_projection {
    const phi__item *items; /* NULL: all of the thread */
    size_t count;
    bool made; /* for this model call */
} phi__run_projection;

typedef struct phi__projected {
    bool has_policy;
    phi_policy policy;         /* the agent's */
    phi_token_counter counter; /* count_text NULL: the estimate */
    phi_projection_meta last;
    uint64_t needed; /* 1 and the last entry for which a summary was needed; 0: none */
} phi__projected;

typedef struct phi__speaker {
    phi_model model;              /* its strings are in the arena that it was made in */
    const phi_provider *own;      /* used whatever the model's protocol; NULL: none */
    const phi_provider *provider; /* `own`, or the registered one; NULL: one of ours */
    const phi__codec *codec;
    bool in_process; /* the provider is polled, not spoken to over HTTP */
} phi__speaker;

typedef struct phi__hosted {
    struct phi_model_request *request;
    void *call;
    bool open, in_list;
    bool in_call;         /* its poll is at work */
    uint32_t polled_step; /* when it was polled last */
    phi__link link;       /* of rt->polled */
} phi__hosted;

/* ---- transfer.c: transfers of runs, and requests of rooms above ---- */

enum { PHI__TRANSFER_BODY_MOST = 65536 }; /* bytes that wait for the decoder; DESIGN part 4 */

enum { PHI__STAGE_QUEUED = 0, PHI__STAGE_EVENTS = 100 };

/* Who reads a transfer: a run, or else the object that `wake` is called with. Only the transfers of
   runs go through the tape, where there is one. */
typedef struct phi__transfer_owner {
    phi__run *run;
    void (*wake)(void *object);
    void *object;
} phi__transfer_owner;

typedef struct phi__transfer {
    phi_runtime *rt;
    phi__slot *slot;
    phi__transfer_owner owner; /* it is woken when something arrived, or the end */
    const phi_transport *transport;
    phi__buf body, headers;
    size_t read; /* of body */
    uint64_t decoded, max_bytes;
    int http_status;
    bool headed, ended, refused; /* refused: a push was answered with PHI_FULL */
    bool gone;     /* the transport has released it: it reported the end, or was cancelled */
    bool answered; /* the last event was read: the rest of the body is not read */
    phi_status status;
    char words[320]; /* a URL and libcurl's message about it fit in */
    phi_deadlines deadlines;
    int stage;                    /* 0: queued, then phi_transfer_stage, then PHI__STAGE_EVENTS */
    uint64_t opened_us, stage_us; /* stage_us: when the stage began, or life was last seen */
    phi__timer timer;
    bool late; /* the deadline has passed, and this is the last look at the descriptors */
} phi__transfer;

/* An HTTP request that a room above the loop makes, over the runtime's transport.
   phi_step calls on_head once, then on_body with the parts of the answer in order, then on_end
   once: the fetch is gone when on_end returns, or when phi__fetch_close does. None is called inside
   open, close, resume, or a callback of the transport. A callback may close any fetch, this one
   too, open others, give results of calls and free agents.
   Redirects are not followed: a request may carry keys that only its own host may see. The caller
   gets the 3xx answer with its Location header. No Accept-Encoding is sent, so no body is
   compressed. A tape neither records nor plays a fetch: it has the result of the tool call that
   needed it. Memory: the caller's budget, which lives until the fetch is gone. */
typedef struct phi__fetch_desc {
    phi_memory *memory;         /* borrowed until the fetch is gone */
    phi_str method, url;        /* http or https; copied */
    const phi__header *headers; /* copied; values may be empty */
    size_t header_count;
    phi_str body; /* copied */
    /* Behind `body`. The array is copied, the bytes are borrowed until the fetch is gone. */
    const phi_str *pieces;
    size_t piece_count;
    /* The answer's first event is its first body byte; its events are bytes. Zeros: the defaults of
       phi_deadlines. */
    phi_deadlines deadlines;
    /* of the answer's body; beyond them it ends with PHI_TOO_BIG (0: no limit) */
    uint64_t max_bytes;
    /* Stays open in silence: such fetches take at most half of the runtime's max_connections, so
       that others find one. */
    bool stands;
    /* NULL on_head or on_body: not wanted. headers: "Name: value\r\n" each, valid during the
       call. */
    void (*on_head)(void *user_data, int http_status, phi_str headers);
    /* How many of the bytes were taken. Fewer than all: the rest waits for phi__fetch_resume, and
       the deadline of silence is paused. */
    size_t (*on_body)(void *user_data, phi_str bytes);
    /* PHI_OK: the whole answer came, with any HTTP status. Else the message says why, without
       secrets of the request; valid during the call. PHI_CANCELLED: the runtime closes. */
    void (*on_end)(void *user_data, phi_status status, const char *message);
    void *user_data;
} phi__fetch_desc;

/* The runtime's fetches. transport: under the tape; NULL while a tape is played. */
typedef struct phi__fetches {
    const phi_transport *transport;
    bool stages;           /* it reports them */
    phi__list open, ready; /* ready: something has come for them */
    uint32_t standing, standing_most;
} phi__fetches;

/* ---- turn.c: attempts and turns ---- */

typedef enum phi__body {
    PHI__BODY_UNKNOWN, /* the head has not come */
    PHI__BODY_STREAM,
    PHI__BODY_WHOLE,
    PHI__BODY_ERROR
} phi__body;

/* The state that a turn's attempts share, and the current attempt. turn.c,
   attempt.c, model_call.c and provider.c touch it. */
typedef struct phi__attempt {
    /* the request */
    phi__request_spec spec;
    phi_model *keyed; /* with a key of the attempt's own, in the turn's arena; NULL: as it is */
    bool refused;     /* the key was refused, and the hook must give another */
    bool fresh;       /* that was done already */
    bool encoding;
    phi__encoder encoder;
    phi__secrets secrets;        /* that the turn's requests carried, in its arena */
    struct phi__body_hash *hash; /* of the request, in the turn's arena; NULL: not begun */
    /* the answer */
    struct phi__transfer *transfer;
    phi__reader reader; /* of the answer's body, where that is a stream */
    void *decoder;      /* zeroed state of the codec, in the arena */
    phi__buf collected; /* an answer that is not a stream: an error, or whole JSON */
    phi__body body;
    bool emitted; /* MESSAGE_START is out */
    bool alive;   /* something meaningful came with this slice of the body */
    bool lost;    /* an event found no memory */
    phi__answer *answer;
    /* how it has ended */
    const phi_failure *fault; /* in the thread; NULL: its answer is whole */
    phi_status fault_status;
    uint32_t retries; /* of this turn's call so far */
    uint32_t delay_ms;
    uint64_t retry_at_us;
} phi__attempt;

typedef struct phi__turn {
    uint32_t index;
    bool open;    /* TURN_START is out */
    bool steered; /* its steering was looked for */
} phi__turn;

/* ---- tools.c: the calls of a turn, and the repeat guard ---- */

struct phi__toolcall {
    phi_runtime *rt;
    phi__slot *slot; /* NULL once there is a result */
    uint32_t index, gen;
    phi__run *run;
    const phi_tool *tool;     /* NULL: unknown */
    const phi_content *block; /* in the thread */
    phi_str arguments;
    phi_json *read;      /* the arguments as a tree, once phi_call_arg_* was called; or NULL */
    const char *read_of; /* the arguments that `read` was made of */
    phi__timer timer;
    phi__timer beat;   /* heartbeat_ms of its tool */
    uint64_t armed_us; /* when the tool got the call */
    void *state;
    size_t state_bytes;
    void (*gone)(
        void *state);      /* releases what the state holds, before it is freed; NULL: nothing */
    phi_message *result;   /* in the thread, not yet appended */
    phi_str child_loop_id; /* of the result, in the thread */
    phi_str effects;       /* the same: on the tool state, JSON text; empty: none */
    struct phi__cap *cap;  /* a result that is too large, while its file is written; or NULL */
    phi__decision decision;
    uint32_t repeats;      /* how often this very call was made lately; 0: not counted */
    bool begun;            /* it counts as running */
    bool decided;          /* the BEFORE_TOOL hook was heard */
    bool quiet;            /* denied: neither TOOL_START nor TOOL_END */
    bool emitted, started; /* emitted: TOOL_START was; started: the tool was */
    bool ended, after;     /* TOOL_END was emitted; the AFTER_TOOL hook was heard */
    uint32_t tries;        /* that have failed, and were started again */
    bool again;            /* it waits to be started again */
    bool skipped;          /* for steering: events without arguments, and no hook is called */
    bool updating;         /* inside of an update's hooks */
    bool starting;         /* inside of its tool's start */
    phi_message *held;     /* with a tape: its result, in the run's arena, until it is let in */
    bool resumes;          /* out of a snapshot: its tool is to take it up */
    phi__toolcall *poll_next, *poll_prev; /* calls whose step is called */
    bool polled;
    uint32_t poll_round; /* in which its step was called last */
};

enum { PHI__REPEAT_GUARD_WINDOW = 32 }; /* calls of a run that are remembered */

typedef struct phi__repeat_guard {
    uint64_t seen[PHI__REPEAT_GUARD_WINDOW]; /* hashes of name and arguments; a ring */
    uint32_t count;
} phi__repeat_guard;

typedef struct phi__round {
    phi__toolcall *calls; /* in the turn's arena */
    size_t count, next, emitted, running;
    size_t polled; /* calls after which steering was looked for */
    bool skipping; /* steering was found: calls that have not begun are skipped */
    bool answered; /* PHI_RESPOND_TOOL was called: no call is run, and no turn follows for them */
    bool repeated; /* a call repeated itself too often */
    phi__repeat_guard *repeat_guard; /* of the run; NULL: no tool has been called yet */
} phi__round;

/* tools.c: the calls whose step is called. */
typedef struct phi__polls {
    phi__toolcall *next; /* a ring; where the next step begins */
    size_t count;
    bool busy; /* one of them has work that is ready: the next step must not sleep */
} phi__polls;

/* ---- session.c: session ids, and how many runs each has had: the N of "session.config.N" ---- */

/* Agents of one runtime with the same session id share one object, so that their runs, also
   simultaneous ones, never get the same loop id. Runs are counted per segment (config), from 1.
   Objects live in the runtime's memory, and are freed with their last user. */

/* One segment's count. */
typedef struct phi__session_count {
    struct phi__session_count *next;
    uint32_t runs;
    uint32_t len; /* of the name, which follows */
} phi__session_count;

typedef struct phi__session {
    uint32_t refs;
    uint64_t hash;
    uint64_t number; /* from 1; another one whenever its counts begin again */
    phi_str id;      /* in memory of the object's own, with room for a UUID at least; terminated */
    size_t id_room;
    phi__session_count *counts;
} phi__session;

typedef struct phi__sessions {
    phi_memory *memory;
    phi__map map;     /* by id */
    uint64_t numbers; /* given so far */
} phi__sessions;

typedef struct phi__line {
    phi__session *session;   /* shared by the agents of one session id */
    phi_str last_loop_id;    /* separately allocated; empty: none in this session */
    uint64_t last_active_us; /* when the last run began; 0: none in this session */
    uint32_t loops;          /* runs so far, in all sessions */
    phi_str segment;         /* of loop ids: provider.model[.thinking] */
    bool segment_given;      /* by the desc: it stays when the model changes */
} phi__line;

/* ---- the tape that is recorded or played (record/replay.h) ---- */

/* A step lets all outside input in at one place, and processes all of it before it ends. Within a
   step the tape's clock does not move. So a run is a function of the input, in its order, and of
   the host's actions between the steps; the work of a slice changes nothing. */

/* The sources that a tape takes from the host, or from the system where they are NULL. */
typedef struct phi__tape_sources {
    uint64_t (*clock_us_fn)(void *user_data);
    void (*random_fn)(void *user_data, void *out, size_t len);
    void (*watch_fn)(void *user_data, intptr_t fd, int want);
    void *user_data;
} phi__tape_sources;

typedef struct phi__tape_ops {
    /* Before the runtime's io is made. PHI_MISUSE: another runtime has it, or had it. */
    phi_status (*take)(phi_tape *tape, const phi__tape_sources *sources);
    /* The runtime is made. inner: the transport of the requests; NULL when playing. stages: it
       reports them. */
    void (*attach)(phi_tape *tape, phi_runtime *rt, const phi_transport *inner, bool stages);
    void (*detach)(phi_tape *tape); /* the runtime goes */
    /* A step that lets in: begin, then the host's posts, then rest, ...; let_in at its end. */
    void (*begin)(phi_tape *tape);
    void (*rest)(phi_tape *tape);
    void (*woken)(phi_tape *tape); /* recording: the step has slept */
    void (*fires)(phi_tape *tape); /* recording: timers do now */
    /* There are posts of the host, which are read now; they were read. */
    void (*posting)(phi_tape *tape);
    void (*posted)(phi_tape *tape);
    void (*let_in)(phi_tape *tape);
    uint64_t (*look_us)(phi_tape *tape); /* for values that are only shown: not recorded */
    /* Input of a transport. */
    phi_status (*stage)(phi_tape *tape, phi_transfer transfer, phi_transfer_stage stage);
    phi_status (*head)(phi_tape *tape, phi_transfer transfer, int status, const char *headers,
                       size_t len);
    phi_status (*push)(phi_tape *tape, phi_transfer transfer, const char *bytes, size_t len);
    phi_status (*end)(phi_tape *tape, phi_transfer transfer, phi_status status, const char *words);
    /* Tools. start: true, the call is not given to its tool. started: its tool's start has
       returned. on_way: a call is to be started, or ended early, but for a result that is on its
       way: says whether it is, or was when it was recorded. result: of a claimed call. said: an
       update (part: its blocks, or NULL) or progress. */
    bool (*start)(phi_tape *tape, struct phi__toolcall *call);
    void (*started)(phi_tape *tape, struct phi__toolcall *call);
    bool (*on_way)(phi_tape *tape, const struct phi__toolcall *call, bool on_way);
    phi_status (*result)(phi_tape *tape, struct phi__toolcall *call, const phi_tool_result *result);
    void (*said)(phi_tape *tape, struct phi__toolcall *call, phi_str text,
                 const phi_tool_result *part, bool progress);
} phi__tape_ops;

/* The first member of session's own. */
struct phi_tape {
    const phi__tape_ops *ops;
    phi_transport transport; /* of the runtime */
    uint64_t (*clock_us_fn)(void *user_data);
    uint64_t (*work_us_fn)(void *user_data); /* of a step's slice */
    void (*random_fn)(void *user_data, void *out, size_t len);
    void (*watch_fn)(void *user_data, intptr_t fd, int want); /* NULL: none */
    bool plays;
    bool stages; /* the transport reports its stages; known after attach */
};

/* ---- run.c: runs and responses ---- */

/* A run, by prompts (user messages; copied) or from where the history ends (none). loop_id and
   parent empty: made, and the agent's last. On failure nothing changed. */
typedef struct phi__run_order {
    const phi_message *prompts;
    size_t prompt_count;
    phi_continuation continuation;
    phi_str loop_id, parent_loop_id;
    bool no_turns;
    /* With what an earlier run of a hidden agent did: an abort not read yet means it, too. */
    bool goes_on;
    /* of this run alone; copied; NULL or 0: the agent's */
    const phi_policy *policy;
    const phi_limits *limits;
    const phi_tool *tools; /* where has_tools: these, of which there may be none */
    size_t tool_count;
    bool has_tools;
    uint32_t waits_ms;
    const char *extra; /* NULL: none */
    const char *context;
    const char *metadata;
    const phi_format *format;
    bool has_temperature;
    double temperature;
} phi__run_order;

/* How a run begins. */
typedef struct phi__start {
    phi_trigger trigger; /* of its first turn */
    bool emitted;        /* AGENT_START is out */
    bool silent;         /* no AFTER_LOOP: the run was refused before it began */
} phi__start;

/* A run's part of its log. */
typedef struct phi__said {
    /* Before they are in the log: in the thread's segment, to be attached; NULL: they are, or there
       are none. */
    phi__entry *prompts;
    size_t prompt_count;
    size_t first_message;    /* of the run, in its lane's messages */
    size_t message_count;    /* of a run that has ended */
    size_t emitted_messages; /* prompts whose events were emitted */
} phi__said;

/* What ends a run early, or has ended it. */
typedef struct phi__early {
    bool cancelled, over;
    bool stopping;  /* ends when its turn is over */
    bool starved;   /* there was no memory for an input */
    phi_str reason; /* of phi_abort_run, the agent's own; at NULL: none */
} phi__early;

/* The place of a run in the list. */
typedef struct phi__ready {
    phi__link link; /* of rt->ready */
    bool in;
} phi__ready;

/* A run's own format of answers, if it has one; its strings follow it. */
typedef struct phi__run_format {
    phi_format format;
    size_t bytes;
} phi__run_format;

/* What a request sets for its run alone. */
typedef struct phi__run_own {
    phi_policy *policy;      /* separately allocated; NULL: the agent's */
    phi__toolset *toolset;   /* the same */
    phi_str extra;           /* in the agent's memory; empty: none */
    phi_str context;         /* the same, its tools' context */
    phi__run_format *format; /* the same; NULL: the agent's */
    bool has_temperature;    /* else the agent's */
    double temperature;
    uint32_t waits_ms; /* the run's deadlines.decision_ms */
} phi__run_own;

struct phi__run {
    phi__agent *agent; /* the fields used most come first: code with short offsets */
    phi__state state;
    phi_status status;
    phi__turn turn;
    bool has_room;              /* forget.c has looked */
    bool slices;                /* a feature wants to hear of the answer's slices */
    bool no_turns;              /* of phi_compact: no turn follows */
    uint8_t holder;             /* in the state HELD: its place in rt->features, from 1 */
    phi__taking taking;         /* the features that take part */
    const phi_loop_info *info;  /* in the thread */
    phi_str loop_id;            /* in the thread */
    const phi_message *reply;   /* the answer in the thread */
    phi__response *response;    /* of phi_prompt_with; NULL: there is none */
    const phi_failure *failure; /* in the thread, or static */
    phi__start start;
    phi__early end;
    phi_arena arena; /* the turn's: the request, tool calls */
    phi__ready ready;
    phi__refusals refusals; /* when it began */
    phi__timer timer;       /* of a pause or a delay */
    phi__round tools;
    phi__listed listed;
    uint64_t started_us;    /* in counted time */
    int64_t first_delta_ms; /* Unix time; 0: none has come */
    phi__said said;
    phi_limits limits; /* the agent's, and what phi_budget_raise added */
    phi__spent spent;
    phi_spending reserved; /* in the agent's budget and those above */
    bool pot;              /* ... for model calls of agents below it, not its own */
    phi__pause pause;
    phi__run_own own;
    phi__run_projection projection;
    phi__hosted hosted;
    phi__polling poll;
    phi__filtering filter;
    phi__decision decision;
    phi__attempt attempt;
};

/* A response of phi_prompt_with: a run as it was when it ended, or, while status is PHI_BUSY, at
   the last phi_response_get. It lives in its agent's memory, and its messages in its agent's
   thread. */
struct phi__response {
    phi__slot *slot;
    uint32_t index, gen;
    phi__agent *agent;
    phi__response *older, *newer; /* of the same agent's */
    phi_str id, query;            /* the agent's own */
    phi_status status;
    phi_str loop_id;
    const phi_message *message;
    const phi_failure *failure;
    phi__segment *message_in, *rest_in; /* that hold these: they stay in memory */
    phi_usage usage;
    double cost;
    int64_t asked_ms, ended_ms, first_delta_ms;
};

/* stored.c: threads in a store. */
enum { PHI__STORED_WORDS = 200 };

/* ---- agents ---- */

/* How a part of phi follows an agent that it has made below another one. */
typedef struct phi__child_watch {
    /* It emits no events to the host, is freed with its parent, and what it spends is counted among
       its parent's spending. */
    bool hidden;
    bool reads; /* the watcher points into the parent's log, which then stays whole in memory */
    /* Each event of the child, before it is queued, or dropped; NULL: none is wanted. It frees no
       agent and calls nothing of the host's. True: `between` is to be called. */
    bool (*event)(phi__agent *child, const phi_event *event);
    /* Between two states of the child's run; it may call the host and free any agent. */
    void (*between)(phi__agent *child);
    /* A run of it is over and destroyed; it may free the child, or begin another run unless
       `stopping`. failure: in the child's thread, static, or NULL. */
    void (*over)(phi__agent *child, phi_status status, const phi_failure *failure, bool stopping);
    /* The child is freed, and not by its watcher: by the host, or with its parent. Its handle is
       stale; NULL: no matter. */
    void (*gone)(phi__agent *child);
} phi__child_watch;

/* The tree of agents: cancelling goes down, spending goes up. */
typedef struct phi__tree {
    phi__agent *parent, *first_child, *next_child, *prev_child;
    const phi__child_watch *watch; /* static; NULL: the host's own agent */
    void *watched;                 /* the watcher's */
    bool due;                      /* `between` is to be called */
    uint32_t aborts;               /* how often it, or one above it, was aborted */
    /* What it spends is part of its parent's active run; its reservations are taken out of that
       run's pot (limits.c). Set before its first run. */
    bool of_run;
    /* Calls of the last turn that its limits allow are not run: no turn would read the results. */
    bool no_last_tools;
    /* It works in its parent's place, and knows the facts that that one knows. */
    bool in_place;
} phi__tree;

/* Made by phi_run, over a thread that was lent. */
typedef struct phi__one_shot {
    /* Called when its run is over, and when it is retired; NULL: it is no such agent. */
    void (*ended_fn)(phi__agent *agent);
    bool over;      /* its run is: in the list */
    phi__link link; /* of rt->one_shot_over */
} phi__one_shot;

struct phi__agent {
    phi_runtime *rt;    /* the fields used most come first: code with short offsets */
    phi__slot *slot;    /* NULL: freed, waiting for the step's end */
    phi_thread *thread; /* `own`, or a thread that the caller lent */
    phi__run *run;
    phi__toolset *tools; /* the effective tools: of the active run, or `toolset` */
    const phi__codec *codec;
    const struct phi_provider *provider; /* of the model; NULL: one of ours */
    struct phi__projected *projected;    /* NULL: no run had a policy, and there is no counter */
    phi_agent handle;
    phi_memory memory;
    bool in_process; /* its provider is polled, not spoken to over HTTP */
    bool has_store;
    uint8_t context_level;      /* projection.c: the last warning to the host */
    const char *held;           /* static: what keeps it busy, not a run; NULL: nothing */
    const phi_failure *refused; /* run.c: why phi__run_new failed; NULL: the allocator refused */
    phi__response *responses;   /* the newest */
    phi__questions *questions;  /* NULL: it never had any */
    phi__tool_sources *sources; /* NULL: it has none */
    phi__agent *next_retired;
    phi_str system_prompt, agent_id, workspace; /* separately allocated */
    /* With its defaults, and as it was changed since. Its pointers are into `arena`, or to separate
       memory; fields that this struct has, too, or were only for its making, are NULL or 0.
       memory.limit_bytes is less than its limit during a run (forget.c). */
    phi_agent_desc desc;
    phi_arena arena;       /* of the desc */
    phi_arena model_arena; /* the model and its provider, and the segment */
    phi_arena said;        /* options, extra and raw_tools of the desc: replaced together */
    phi__toolset toolset;
    phi__budget budget;
    phi__tree tree;
    phi__line line;
    phi__room room;
    phi__queues queues;
    phi_store store; /* where `own` is kept */
    phi__one_shot one_shot;
    phi__prior prior;
    phi__agent_spent spent;
    phi__agent_events events;
    phi_thread own;
};

/* ---- the runtime ---- */

/* The step that is under way, or the last one. */
typedef struct phi__step_of {
    uint32_t round; /* counts the steps */
    uint64_t began_us;
    int64_t wall_ms; /* one look at the clock serves all its events */
} phi__step_of;

/* snapshot.c: NULL, unless phi_runtime_snapshot or phi_runtime_restore has begun. */
typedef struct phi__snapshots {
    struct phi__snap_saving *saving;
    struct phi__snap_loading *loading;
} phi__snapshots;

struct phi_runtime {
    phi_memory memory;
    phi__io *io;
    phi__http *http;
    const phi_transport *transport;
    phi__features features; /* the table of features (loop/feature.c) */
    phi_tape *tape;         /* NULL: none */
    bool tells_stages;      /* the transport does */
    phi__fetches fetches;
    phi__slots agents, calls, transfers, tickets, responses;
    phi__inbox inbox;
    uint64_t posts_read; /* where it was read up to; its own counts wrap */
    phi__sessions sessions;
    phi__events events;
    phi__list ready;  /* runs that go on */
    phi__list paused; /* runs that wait for a limit or a budget */
    phi__polls polls;
    struct phi__provider_node *providers; /* registered ones, the newest first */
    const phi_codec_fn *codecs;           /* of models that carry none; NULL-ended, or NULL */
    struct phi__facts *facts;             /* of all agents and of groups; NULL: none */
    phi__list polled;                     /* runs whose model is in the process and answers */
    phi__agent *retired;
    phi__list pressed;           /* to forget something when their events are released */
    phi__limit_failure at_limit; /* of a run that the runtime's limit has ended */
    phi__list threads;           /* of phi_thread_new */
    phi__grown grown;            /* threads whose store lacks entries */
    phi__list one_shot_over;     /* until their events are popped; oldest first */
    uint32_t active;             /* runs going */
    phi__slice slice;
    phi__step_of step;
    /* names the thread that made it, and then the one of the last step: where its errno is */
    PHI__ATOMIC(uintptr_t) pump;
    bool in_step, closing;
    phi__snapshots snapshots;
    bool abandoned; /* a callback was left by an exception or a longjmp: it can only be freed */
    phi__last_error last_error;
};

#endif
