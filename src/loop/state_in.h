/* state_in.h - the structs of the pump: the runtime, its agents, their runs, transfers and calls.

   The runtime owns everything. A run exists from its prompt to AGENT_END. The runtime advances each
   run on its ready list by one slice at a time. A run that waits leaves the list. The event that
   ends the wait (a push, a result, a timer, a cancel) puts the run back with phi__schedule_wake.
   Callbacks into the host (a tool's start, step, cancel and on_field, hooks, filters, providers,
   compactors) may free any agent. During a step, a freed agent is taken out of every table at once
   and destroyed when the step ends. After any host callback, check agent->slot: NULL means the
   agent was freed.
   Threads: only the pumping thread uses these structs. Other threads use only the words of slots,
   the inbox and rt->pump. */
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

/* The states, in the order of a run. A state calls at most one hook, because a state is entered
   again after its hook has waited. */
typedef enum phi__state {
    PHI__RUN_ON = 0, /* not a state: the next feature is called, or the run continues */
    PHI__RUN_BEFORE_LOOP = 1,
    PHI__RUN_OPEN,
    PHI__RUN_FILTER, /* filters check the prompts; prompts that pass are logged */
    PHI__RUN_POLL,   /* polls for steering messages before the first turn */
    PHI__RUN_TOP,    /* filters polled input; checks limits and budgets; may pause */
    PHI__RUN_BEFORE_TURN,
    PHI__RUN_TURN,
    PHI__RUN_TRANSFORM,
    PHI__RUN_CONVERT,
    PHI__RUN_REQUEST,
    PHI__RUN_CREDENTIAL, /* for each attempt: the hook may replace the key */
    PHI__RUN_SIGN,       /* for each attempt, if the codec signs requests */
    PHI__RUN_SEND,       /* sends the request of each attempt */
    PHI__RUN_STREAM,
    PHI__RUN_BACKOFF,
    PHI__RUN_HELD, /* a feature holds the run until it returns the next state */
    PHI__RUN_TOOLS,
    PHI__RUN_FAILED, /* calls the on_error hook */
    PHI__RUN_TURN_END,
    PHI__RUN_AFTER_TURN,
    PHI__RUN_NEXT,   /* decides if tools or steering need another turn */
    PHI__RUN_FOLLOW, /* polls for follow-ups; if there are none, closes the queues */
    PHI__RUN_CLOSE,
    PHI__RUN_AFTER_LOOP,
    PHI__RUN_OVER, /* the pump destroys the run */
    /* These outcomes are not states: turn.c acts on them at once, and no run stays in one. */
    PHI__RUN_LOST,    /* memory ran out */
    PHI__RUN_ENDED,   /* the attempt has ended; attempt.fault is its failure, or NULL */
    PHI__RUN_GIVE_UP, /* the attempt has failed, and will not be tried again */
    PHI__RUN_ANSWERED /* the answer is in the log; its tool calls come next */
} phi__state;

/* The results of phi__hooks_decide. */
typedef enum phi__hooked {
    PHI__HOOK_ALLOW = PHI_ALLOW,
    PHI__HOOK_DENY = PHI_DENY,
    PHI__HOOK_WAIT = PHI_WAIT, /* try again later: the hook's answer wakes the run or call */
    PHI__HOOK_WARN = PHI_WARN,
    PHI__HOOK_GONE, /* the hook freed the agent: return at once */
    PHI__HOOK_LOST  /* memory ran out */
} phi__hooked;

/* ---- states of slots, posts of other threads ---- */

/* States of an agent's slot, which other threads may read, and bits that other threads set. A
   thread that sets a bit marks the slot and needs no room in the inbox. */
enum {
    PHI__AGENT_IDLE = 1,
    PHI__AGENT_RUNNING = 2,
    PHI__AGENT_ABORT = 4,
    PHI__AGENT_STOP = 8 /* stops the run when its turn is over */
};

/* States of a call's slot. Only the thread that set CLAIMED gives the result: through the inbox, or
   directly if it is the pumping thread. */
enum { PHI__CALL_PENDING = 1, PHI__CALL_CLAIMED = 2 };

enum { PHI__CALL_IS_ERROR = 1, PHI__CALL_TERMINATED = 2 }; /* flags of a PHI__POST_FINISH */

/* States of a ticket's slot. OPEN and CLAIMED mean the same as PENDING and CLAIMED of a call. HELD:
   open, but phi_decide can only deny. SAID: decided without a text; the verdict is in the bits
   below SAID. The deciding thread then marks the slot and needs no room in the inbox. */
enum { PHI__TICKET_OPEN = 1, PHI__TICKET_CLAIMED = 2, PHI__TICKET_HELD = 3, PHI__TICKET_SAID = 4 };

enum {
    PHI__POST_FINISH = 1,
    PHI__POST_DECIDE, /* carries a text; flag: the verdict */
    PHI__POST_STEER,
    PHI__POST_FOLLOW_UP,
    PHI__POST_INJECT /* the source precedes the text; flag: bytes of the source */
};

/* ---- toolset.c: the tools of an agent, or of one request ---- */

/* The rules that a list of tools is checked against. */
typedef struct phi__tool_rules {
    const phi__codec *codec; /* checks the names; NULL: a host's provider, which takes any name */
    bool can_approve;
} phi__tool_rules;

typedef struct phi__toolset {
    phi_arena arena; /* owns the lists and the adapted strict schemas */
    phi_tool *tools;
    phi__tool_view *views; /* the tools in the form that requests use */
    size_t count;
    size_t own;          /* the first `own` tools are the agent's; sources added the rest */
    bool has_lone;       /* a tool is not_concurrent */
    bool has_fields;     /* a tool has on_field */
    bool names_steps;    /* a tool has names_steps */
    bool has_raw;        /* a tool has raw */
    bool may_defer;      /* a tool has deferred or may_defer */
    uint64_t deferrable; /* deferral.c: 1 + the tokens of deferrable tools; 0: not counted */
    phi_token_counter counted_by; /* the counter that `deferrable` was counted with */
    const struct phi__features *features;
    phi_tool *finders; /* room for deferral.c's two tools; NULL if no tool may be deferred */
} phi__toolset;

typedef struct phi__toolset_change {
    const uint8_t *marks; /* one mark for each tool; NULL: all tools are shown */
    const phi__tool_view *more;
    size_t more_count;
} phi__toolset_change;

/* Functions reached by pointer: only programs that name phi_feature_tool_sources link them. */
typedef struct phi__sources_ops {
    bool (*make)(phi__agent *agent, const phi_tool_source *const *sources, size_t count);
    phi_status (*refresh)(phi__agent *agent, bool quiet);
    phi_status (*own)(phi__agent *agent, const phi_tool *tools, size_t count);
    void (*free)(phi__agent *agent);
} phi__sources_ops;

/* ---- deferral.c: deferred tools, whose definitions are loaded on demand ---- */

/* A request names deferred tools, and their definitions are loaded on demand. There are two ways.
   NATIVE: the provider has a tool search (phi__codec_rules.defers). The provider gets all
   definitions, with the deferred ones marked, and shows the model the tools that its search finds.
   OWN: the model gets two tools of phi, search_tools and load_tools. The system prompt then ends
   with an index of names. Loaded tools are defined after the other tools, in the order of loading,
   so that each request begins like the previous one. The results of load_tools in the view name the
   loaded tools. The agent keeps the names, so they survive a compaction. A snapshot holds them as
   "loaded_tools":["NAME",...]. */
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

/* The way in which the agent's effective tools are deferred for its model. */
typedef struct phi__defer_plan {
    phi__defer_way way;
    bool above; /* the tools with may_defer are deferred, too */
} phi__defer_plan;

/* Functions reached by pointer: only programs that name phi_feature_deferral link them. */
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

/* ---- events.c: the event queue, and the streaming answers that events refer to ---- */

typedef struct phi__last_error {
    phi_status status;
    char words[256];
} phi__last_error;

/* An answer: first while it streams, then as `final` in the thread. Kept while events refer to
   it. */
typedef struct phi__answer {
    phi_memory *memory;
    size_t bytes; /* size of this struct and of the names after it */
    uint32_t refs;
    bool live; /* true: the assembly is in use; false: `final` has replaced it */
    phi__assembly assembly;
    const phi_message *final;
    /* A view of the assembly, updated when an event is popped. At first only its model is set. */
    phi_message view;
    phi_content *content;
    size_t content_cap;
    bool viewed; /* `view` is up to date with the assembly */
} phi__answer;

typedef struct phi__record {
    phi__link link;                 /* link in one of the lists queued, held and popped */
    phi__link own;                  /* link in its agent's list */
    struct phi__event_block *block; /* NULL: the record is in the agent's reserve */
    phi__agent *agent;
    phi__answer *answer; /* the answer that the event shows; NULL: none */
    size_t partial_len;
    size_t cost; /* bytes counted against the agent's queue */
    bool in_use; /* for a reserve record: the record is queued */
    bool popped;
    phi_event event;
} phi__record;

typedef struct phi__events {
    phi_memory *memory;
    phi__list queued;  /* records that the host can pop */
    phi__list held;    /* records of agents whose events are held */
    phi__list popped;  /* popped records; each later step frees some of them */
    phi__link *kept;   /* the first popped record that must stay; NULL: all may be freed */
    uint64_t freed_at; /* `seq` when records were last freed */
    struct phi__event_block *current, *spare;
    uint64_t seq;
} phi__events;

typedef struct phi__agent_events {
    size_t queued_bytes; /* cost of all events not popped yet */
    bool held;           /* the agent's events stay queued until the host releases them */
    phi__list all;       /* the agent's records, including popped ones */
    /* PHI__RESERVE records, allocated for a run. They stay until the events in them are
       released. */
    phi__record *reserve;
    size_t untold_drops; /* messages dropped while the queue was full, not reported yet */
} phi__agent_events;

/* ---- features ---- */

/* A feature is a part that the loop can do without, such as compaction or request capture. It
   consists of one function, the points at which this function is called, and the sizes of its state
   in each run and each agent (zeroed memory, allocated with the run or agent). rt->features lists
   all features of a runtime; the loop knows none of them by name. At each point the features that
   want the point are called in their order.
   Outcomes at a point of a run: after PHI__RUN_ON the next feature is called; after the last
   feature the run continues. Any other outcome is the run's next state, and no other feature is
   called. PHI__RUN_HELD: the feature holds the run. From then on PHI__POINT_HELD is the run's state
   function, until it returns the next state.
   At a point of an agent the outcome is PHI__RUN_ON, and moment->status reports a failure. */
typedef enum phi__point {
    /* ---- points of a run ---- */
    /* A message was logged; moment->input is the message's queue. */
    PHI__POINT_SAID = 1 << 0,
    /* A turn has begun, or continues after a restore; its model call is next. */
    PHI__POINT_TURN_BEGUN = 1 << 1,
    /* A run without turns (phi__run_order.no_turns) has begun. After ON the run closes. */
    PHI__POINT_ERRAND = 1 << 2,
    /* The turn's request is in run->attempt.spec. A feature that needs slices sets run->slices. */
    PHI__POINT_REQUEST = 1 << 3,
    /* If run->slices is set: a part of the answer was decoded. With moment->whole, the whole answer
       was decoded. */
    PHI__POINT_SLICE = 1 << 4,
    /* The attempt has failed: its answer will not be used. */
    PHI__POINT_DROPPED = 1 << 5,
    /* An attempt was charged with moment->usage. */
    PHI__POINT_CHARGED = 1 << 6,
    /* An attempt failed. The failure is in moment->failure (in the thread). If moment->whole is
       false, the request was too long. If it is true, the attempt failed for any reason and will
       not be tried again. The feature may replace the failure. */
    PHI__POINT_FAILED = 1 << 7,
    /* CALL_MADE: the answer contains moment->call. STARTS: the call's tool will be started. ENDED:
       the call has ended. */
    PHI__POINT_CALL_MADE = 1 << 8,
    PHI__POINT_CALL_STARTS = 1 << 9,
    PHI__POINT_CALL_ENDED = 1 << 10,
    /* The result moment->message of moment->call will be logged. The feature may replace this
       result. */
    PHI__POINT_RESULT = 1 << 11,
    /* Before RESULT, if moment->call has effects on the tool state. */
    PHI__POINT_EFFECTS = 1 << 30,
    /* Before TURN_END. */
    PHI__POINT_TURN_ENDS = 1 << 12,
    /* RUN_ENDS: before AGENT_END; the log already holds the end. RUN_OVER: after the last hook. */
    PHI__POINT_RUN_ENDS = 1 << 13,
    PHI__POINT_RUN_OVER = 1 << 14,
    /* Frees the memory that the feature's state of the run holds, and does nothing else. */
    PHI__POINT_RUN_FREED = 1 << 15,
    /* The state function of a run that this feature holds. It sets *moment->wait. */
    PHI__POINT_HELD = 1 << 16,
    /* Returns the state that a snapshot saves for a held run. */
    PHI__POINT_HELD_AS = 1 << 17,
    /* Writes the feature's members of the run to moment->out, or reads them from moment->json. */
    PHI__POINT_RUN_SAVE = 1 << 18,
    PHI__POINT_RUN_LOAD = 1 << 19,
    /* ---- points of an agent ---- */
    /* Writes or reads the feature's members of the agent: before the run's members, or, with LATE,
       after them. */
    PHI__POINT_AGENT_SAVE = 1 << 20,
    PHI__POINT_AGENT_LOAD = 1 << 21,
    PHI__POINT_AGENT_SAVE_LATE = 1 << 22,
    PHI__POINT_AGENT_LOAD_LATE = 1 << 23,
    /* The agent has another model, prompt or format, or other tools. */
    PHI__POINT_CHANGED = 1 << 24,
    /* LOG_LEAVES: give up everything that depends on the agent's log. The log is about to be
       replaced or shortened, or it was just replaced. LOG_RENEWED: the log was replaced. The view
       in moment->fold was copied into the new log; if fold is NULL, the new log is empty. If
       moment->did is set, the log was replaced because memory was short. */
    PHI__POINT_LOG_LEAVES = 1 << 25,
    PHI__POINT_LOG_RENEWED = 1 << 26,
    /* The agent's log was just read from a store. */
    PHI__POINT_LOG_OPENED = 1 << 27,
    /* Shrink the view. The part that is not kept verbatim should become moment->tokens long. With
       moment->whole: use the result of the host's compactor. The feature sets moment->did if it has
       made the view smaller. */
    PHI__POINT_SHRINK = 1 << 28,
    /* Frees the memory that the feature's state of the agent holds; may call the host. */
    PHI__POINT_AGENT_FREED = 1 << 29
} phi__point;

/* The arguments of a point. Fields that a point does not use are zero. */
typedef struct phi__moment {
    phi__point point;
    phi__agent *agent;
    phi__run *run;                 /* NULL at a point of an agent */
    void *run_state, *agent_state; /* the feature's own state; NULL: it has none */
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
    uint32_t points; /* the points that the feature wants */
    size_t run_bytes, agent_bytes;
    phi__state (*take)(phi__moment *moment);
    /* True if the feature takes part in a run from its beginning. NULL: it always does. Until it
       joins a run, it is called only at the run's points RUN_LOAD and EFFECTS. */
    bool (*wants)(const phi__run *run);
    uint8_t order; /* PHI__FEATURE_AT_ (features/features_in.h): order of calls */
    /* Called when the runtime gets the feature, and when the runtime is freed. May be NULL. */
    void (*open)(phi_runtime *rt);
    void (*close)(phi_runtime *rt);
} phi__feature;

/* The features that take part in a run, as bits by their place in the table, and the points that
   any of them wants. A point whose bit is not set can be skipped. */
typedef struct phi__taking {
    uint32_t features, points;
} phi__taking;

typedef phi_feature_fn phi__feature_fn;

enum { PHI__FEATURE_MOST = 24 };

/* A feature of a runtime, and where its state is. */
typedef struct phi__feature_place {
    phi_feature_fn name;
    const phi__feature *feature;
    size_t run_at, agent_at; /* offset of the feature's state after a run, and after an agent */
} phi__feature_place;

typedef struct phi__features {
    phi__feature_place places[PHI__FEATURE_MOST];
    size_t count;
    size_t run_bytes, agent_bytes; /* size of all features' state in a run and in an agent */
    uint32_t wanted;               /* points that any feature wants */
    uint32_t joined;               /* features that take part in every run */
    /* Functions for the layers above the loop. A pointer is NULL if its feature is not named. */
    const struct phi__failover_ops *failover;
    const struct phi__formats *formats; /* wire/codec_in.h */
    /* Checks a JSON format of an agent. A failure sets the runtime's last error. */
    phi_status (*check_format)(phi_runtime *rt, const struct phi_format *format,
                               const struct phi_tool *tools, size_t tool_count);
    const struct phi__deferral_ops *deferral; /* deferral.c */
    phi__carry_fn carry_state;                /* copies the tool state when a log is rebuilt */
    const struct phi__sources_ops *sources;   /* toolset.c */
    phi_status (*summarize_fn)(phi_agent agent, uint64_t from, uint64_t to); /* phi_summarize */
    /* For phi_agent_info: the op_id of the deferred rewrite (may be empty), and cache
       statistics. */
    phi_str (*deferred_fn)(const phi__agent *agent);
    void (*cache_stats_fn)(const phi__agent *agent, struct phi_cache_stats *out);
} phi__features;

/* ---- hooks.c: decisions of hooks, and questions to an agent's host ---- */

/* The decision of a hook, made or pending. Each run, each tool call and each question has a
   decision, which takes a slot only while pending. */
typedef enum phi__decision_state {
    PHI__DECISION_NONE = 0,
    PHI__DECISION_WAITS, /* waits for phi_decide, or for the deadline */
    PHI__DECISION_MADE   /* the verdict and reply can be taken */
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
    phi__run *run;       /* NULL: the decision belongs to a question */
    phi__toolcall *call; /* NULL: the decision belongs to the run */
    phi__timer timer;
    uint32_t timeout_ms;
    phi_verdict verdict;
    phi__buf reply; /* reply of the hook or phi_decide, until it is taken */
    phi_str text;   /* the text that a filter checks, in the run's memory */
    bool late;      /* the decision's deadline has passed */
    bool ask_again; /* the hook will be called again (phi_hook.ask_again) */
    bool quiet;
    struct phi_permissions *permissions; /* the rules that ask (phi_hook.permissions); NULL: none */
    uint32_t round, waited;              /* as in phi_hook */
    void (*over)(void *ctx); /* called when the ticket becomes stale; NULL: not called */
    void *over_ctx;
    const phi__asked *asked; /* the question's strings; NULL: not a question */
    /* for a question: called when the question is decided */
    void (*settled)(phi__decision *decision);
};

/* A question that code above the loop puts to the host of an agent: a server wants a form filled
   in, or an answer of the agent's model.
   The host decides in its hook, point PHI_HOOK_QUESTION: at once, or later by phi_decide. Opening a
   question calls neither the host nor `decided`. The hook is called in the next phi_step, or later
   in the current one. If the agent's hook does not want the point, the question is denied.
   `decided` is called once for each question that was opened and not closed. It gets the host's
   verdict, PHI_ALLOW or PHI_DENY, and the reply. It gets PHI_WAIT and a message if the deadline has
   passed, if the call is over (finished, cancelled, late, aborted), if the agent is freed, or if
   memory ran out. It may open and close questions, give results of calls and free agents. The
   question no longer exists when `decided` is called. An abort ends the questions of the run's
   calls. A question without a call needs no run, and outlives the agent's runs.
   A question is in no snapshot and on no tape, because it belongs to a live connection. Its memory
   belongs to the agent. */
typedef struct phi__question_desc {
    phi_call call;       /* the call that causes the question (default: none) */
    phi_str source;      /* a server's name; this and the next three are copied */
    phi_str kind;        /* such as "elicitation" or "sampling"; the hook's question_kind */
    phi_str text;        /* shown to a person; control characters are removed, also in source */
    phi_str arguments;   /* the question itself, as JSON */
    uint32_t timeout_ms; /* (default: the agent's deadlines.decision_ms; PHI_UNLIMITED) */
    /* `reply` is valid until the function returns. */
    void (*decided)(void *ctx, phi_verdict verdict, phi_str reply);
    void *ctx;
} phi__question_desc;

/* hooks.c: an agent's open questions, oldest first. */
typedef struct phi__questions {
    phi__agent *agent;
    phi__list list;
    size_t count;
    phi__timer timer; /* set while the list is not empty */
} phi__questions;

/* ---- input.c: message queues, and the filters of input ---- */

/* A queued message, in its own memory. */
typedef struct phi__input {
    struct phi__input *next;
    phi_arena arena; /* owns the content and the source */
    phi_input kind;
    phi_message message;
    phi_str source;
    bool filtered; /* the filters have passed the message, which contains their warnings */
} phi__input;

typedef struct phi__inputs {
    phi__input *head, *tail;
    size_t count;
} phi__inputs;

typedef struct phi__polling {
    bool on;             /* a poll has begun, and has looked into the queue */
    uint32_t got;        /* messages found so far */
    phi__inputs pending; /* polled messages for the next turn */
    uint64_t posts_from; /* inbox position: older injected messages were for earlier runs */
} phi__polling;

typedef struct phi__filtering {
    bool on;       /* a text is being filtered */
    size_t at;     /* index of the next filter to call */
    phi__buf text; /* the text being filtered */
    phi__buf warnings;
    phi_str rejection; /* why the prompts were rejected; in the thread */
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

/* The run_ fields belong to the active run, or else to the last run. */
typedef struct phi__agent_spent {
    phi_usage usage, run_usage;
    double cost, run_cost;
} phi__agent_spent;

/* How often a limit of an agent, and of its runtime, refused memory. */
typedef struct phi__refusals {
    uint64_t own, all;
} phi__refusals;

typedef struct phi__pause {
    bool on;
    bool over;      /* the pause has lasted long enough */
    phi__link link; /* in rt->paused */
    phi__buf reason;
    phi_agent payer;    /* the agent whose limit or budget caused the pause */
    phi_agent reported; /* the payer at the last PHI_EV_PAUSED */
} phi__pause;

/* The failure of a run that has used up its memory limit. */
typedef struct phi__limit_failure {
    phi_failure failure;
    char words[200]; /* the failure's message */
} phi__limit_failure;

/* The state of an agent's memory limit (forget.c, limits.c). */
typedef struct phi__room {
    uint32_t runs_short; /* consecutive runs that ended without memory */
    bool pressed;        /* in rt->pressed: a prompt found no memory */
    phi__link link;
    phi__limit_failure *at_limit; /* failure for runs that this limit ends; NULL: no limit */
} phi__room;

/* Bytes of log for each token of a summary. The log holds each summary twice. */
enum { PHI__FORGET_SUMMARY = 32 };

/* ---- head.c, projection.c, model_call.c: the request for the model ---- */

/* The head of a conversation: the system prompt and the tools as a model saw them first.
   If the model takes system messages in mid-conversation, the head is kept and changes are
   appended. So the prompt cache and the earlier thinking stay valid. A changed system prompt is
   sent as text. Changed tools are sent as additions and removals if the codec has put_tool
   (phi__codec_rules). Otherwise the head is made again, as for every other model.
   The details of an update describe the head after the update, so that the next update can be
   computed from the history:
   {"head":N,"id":"HASH","system":"HASH","tools":["NAME","HASH",...]}
   N counts the updates of this head, from 1. If the view lacks an update or has no answer yet, the
   head is made again. Updates of another head are left out of the request. */
typedef struct phi__head {
    phi_arena arena;
    phi_str system;
    phi__tool_view *tools;
    size_t count;
    uint64_t id;
    bool searches; /* a request with this head had deferred tools */
} phi__head;

/* Thinking that an agent's last request left out. */
typedef struct phi__thinking {
    size_t dropped;    /* answers whose thinking was left out */
    uint64_t first;    /* entry number of the first such answer */
    const char *cause; /* static text; NULL: nothing was left out */
    /* thinking of entries before this entry was refused, and is never sent again */
    uint64_t barred;
} phi__thinking;

/* The part of a conversation that the model has already seen. */
typedef struct phi__prior {
    phi__head *head;                /* NULL: the model keeps no head */
    phi__thinking thinking;         /* model_call.c: thinking that the last request left out */
    struct phi__deferral *deferral; /* loaded tools; NULL: none was loaded */
} phi__prior;

/* The messages that the hooks TRANSFORM_CONTEXT and CONVERT_TO_LLM get. */
typedef struct phi__listed {
    const phi_message **messages; /* NULL: no hook was called */
    size_t count;
} phi__listed;

typedef struct phi__run_projection {
    const phi__item *items; /* NULL: the whole thread */
    size_t count;
    bool made; /* made for this model call */
} phi__run_projection;

typedef struct phi__projected {
    bool has_policy;
    phi_policy policy;         /* the agent's policy */
    phi_token_counter counter; /* the built-in estimate if count_text is NULL */
    phi_projection_meta last;
    uint64_t needed; /* 1 + the last entry that needs a summary; 0: none does */
} phi__projected;

typedef struct phi__speaker {
    phi_model model;              /* its strings are in the arena in which the speaker was made */
    const phi_provider *own;      /* used for any protocol; NULL: none */
    const phi_provider *provider; /* `own`, or a registered provider; NULL: phi's own codec */
    const phi__codec *codec;
    bool in_process; /* the provider is polled in this process, not called over HTTP */
} phi__speaker;

typedef struct phi__hosted {
    struct phi_model_request *request;
    void *call;
    bool open, in_list;
    bool in_call;         /* the provider's poll function is running */
    uint32_t polled_step; /* the step of the last poll */
    phi__link link;       /* in rt->polled */
} phi__hosted;

/* ---- transfer.c: transfers of runs, and fetches of the code above ---- */

/* phi refuses a push at so many unread bytes, and at this part of a memory limit: a server that is
   faster than the host would else fill an agent's memory with bytes that are not read yet. The
   last push before may exceed both by one read of 16 KB. */
enum { PHI__TRANSFER_BODY_MOST = 65536, PHI__TRANSFER_LIMIT_PART = 16 };

enum { PHI__STAGE_QUEUED = 0, PHI__STAGE_EVENTS = 100 };

/* The reader of a transfer: a run, or another object, whose `wake` is called. Only transfers of
   runs go through a tape. */
typedef struct phi__transfer_owner {
    phi__run *run;
    void (*wake)(void *object);
    void *object;
} phi__transfer_owner;

typedef struct phi__transfer {
    phi_runtime *rt;
    phi__slot *slot;
    phi__transfer_owner owner; /* woken by new data and by the end */
    const phi_transport *transport;
    phi__buf body, headers;
    size_t read; /* bytes of `body` that were read */
    uint64_t decoded, max_bytes;
    int http_status;
    bool headed, ended, refused; /* refused: a push returned PHI_FULL */
    bool gone;                   /* the transport does not use the transfer any more */
    bool answered;               /* the last event was read; the rest of the body is ignored */
    phi_status status;
    char words[320]; /* room for a URL and libcurl's message about the URL */
    phi_deadlines deadlines;
    int stage; /* PHI__STAGE_QUEUED, a phi_transfer_stage, or PHI__STAGE_EVENTS */
    uint64_t opened_us, stage_us; /* stage_us: when the stage began, or the last sign of life */
    phi__timer timer;
    bool late; /* the deadline has passed; the descriptors are read a last time */
} phi__transfer;

/* An HTTP request by code above the loop, over the runtime's transport.
   phi_step calls on_head once, then on_body with the parts of the answer in order, then on_end
   once. The fetch is gone when on_end returns, or when phi__fetch_close returns. None of these is
   called inside open, close, resume, or a callback of the transport. A callback may close any fetch
   (also its own), open others, give results of calls and free agents.
   Redirects are not followed, because a request may carry keys that only its own host may see. The
   caller gets the 3xx answer with its Location header. No Accept-Encoding is sent, so no body is
   compressed. A tape neither records nor plays a fetch: it has the result of the tool call that
   needed the fetch. The memory is counted in the caller's budget, which must outlive the fetch. */
typedef struct phi__fetch_desc {
    phi_memory *memory;         /* borrowed until the fetch is gone */
    phi_str method, url;        /* http or https; copied */
    const phi__header *headers; /* copied; values may be empty */
    size_t header_count;
    phi_str body; /* copied */
    /* Sent after `body`. The array is copied; the bytes are borrowed until the fetch is gone. */
    const phi_str *pieces;
    size_t piece_count;
    /* For the deadlines, the first event is the first body byte, and each later byte is an event.
       Zeros: the defaults of phi_deadlines. */
    phi_deadlines deadlines;
    /* Limit for the answer's body. A larger body ends with PHI_TOO_BIG. 0: no limit. */
    uint64_t max_bytes;
    /* The fetch stays open even without data. Such fetches may take at most half of the runtime's
       max_connections, so that other requests find a connection. */
    bool stands;
    /* on_head and on_body may be NULL. headers: lines "Name: value\r\n", valid during the call. */
    void (*on_head)(void *user_data, int http_status, phi_str headers);
    /* Returns how many bytes it has taken. If it takes fewer than all, the rest waits for
       phi__fetch_resume, and the deadline of silence is paused. */
    size_t (*on_body)(void *user_data, phi_str bytes);
    /* PHI_OK: the answer is complete, with any HTTP status. PHI_CANCELLED: the runtime closes.
       `message` describes a failure without the request's secrets, and is valid during the call. */
    void (*on_end)(void *user_data, phi_status status, const char *message);
    void *user_data;
} phi__fetch_desc;

/* The runtime's fetches. transport: bypasses the tape; NULL while a tape is played. */
typedef struct phi__fetches {
    const phi_transport *transport;
    bool stages;           /* the transport reports stages */
    phi__list open, ready; /* ready: fetches that have received something */
    uint32_t standing, standing_most;
} phi__fetches;

/* ---- turn.c: attempts and turns ---- */

typedef enum phi__body {
    PHI__BODY_UNKNOWN, /* the head has not arrived */
    PHI__BODY_STREAM,
    PHI__BODY_WHOLE,
    PHI__BODY_ERROR
} phi__body;

/* State of the current attempt, and state that all attempts of a turn share. Used by turn.c,
   attempt.c, model_call.c and provider.c. */
typedef struct phi__attempt {
    /* The request. */
    phi__request_spec spec;
    phi_model *keyed; /* the model with the hook's key, in the turn's arena; NULL: none */
    bool refused;     /* the server refused the key; the hook must give another key */
    bool fresh;       /* the hook has already been asked for another key */
    bool encoding;
    phi__encoder encoder;
    phi__secrets secrets;        /* secrets of the turn's requests, in the turn's arena */
    struct phi__body_hash *hash; /* hash of the body, in the turn's arena; NULL: not begun */
    /* The answer. */
    struct phi__transfer *transfer;
    phi__reader reader; /* reads the body if it is a stream */
    void *decoder;      /* the codec's state, zeroed, in the arena */
    phi__buf collected; /* a body that is not a stream: an error, or JSON */
    phi__body body;
    bool emitted; /* MESSAGE_START was emitted */
    bool alive;   /* this slice of the body contained something meaningful */
    bool lost;    /* there was no memory for an event */
    phi__answer *answer;
    /* The outcome. */
    const phi_failure *fault; /* in the thread's memory; NULL: the answer is complete */
    phi_status fault_status;
    uint32_t retries; /* retries of this turn's model call */
    uint32_t delay_ms;
    uint64_t retry_at_us;
} phi__attempt;

typedef struct phi__turn {
    uint32_t index;
    bool open;    /* TURN_START was emitted */
    bool steered; /* steering was already polled for this turn */
} phi__turn;

/* ---- tools.c: the calls of a turn, and the repeat guard ---- */

struct phi__toolcall {
    phi_runtime *rt;
    phi__slot *slot; /* NULL after the call got a result */
    uint32_t index, gen;
    phi__run *run;
    const phi_tool *tool;     /* NULL: unknown tool */
    const phi_content *block; /* the call's block of the answer, in the thread */
    phi_str arguments;
    phi_json *read;      /* the arguments as a tree, for phi_call_arg_*; NULL: not parsed */
    const char *read_of; /* the arguments that `read` was parsed from */
    phi__timer timer;
    phi__timer beat;   /* for the tool's heartbeat_ms */
    uint64_t armed_us; /* when the call was first started */
    void *state;
    size_t state_bytes;
    /* called before the state is freed, to release resources of the state */
    void (*gone)(void *state);
    phi_message *result;   /* in the thread's memory, not logged yet */
    phi_str child_loop_id; /* from the result; in the thread's memory */
    phi_str effects;       /* changes of the tool state, JSON, in the thread; empty: none */
    /* a result that is too large, while its file is written; NULL: none */
    struct phi__cap *cap;
    phi__decision decision;
    uint32_t repeats;      /* calls like this one so far (repeat guard); 0: not counted */
    bool begun;            /* counted in `running` */
    bool decided;          /* the BEFORE_TOOL hook has decided */
    bool quiet;            /* denied: neither TOOL_START nor TOOL_END is emitted */
    bool emitted, started; /* emitted: TOOL_START was emitted; started: the tool was started */
    bool ended, after;     /* ended: TOOL_END was emitted; after: the AFTER_TOOL hook has decided */
    uint32_t tries;        /* failed tries after which the call was tried again */
    bool again;            /* waits to be started again */
    bool skipped;  /* the tool is not run: no hook is called; its events have no arguments */
    bool updating; /* an update's hook is running */
    bool starting; /* the tool's start is running */
    /* with a tape: the call's result, in the run's arena, until the tape lets the result in */
    phi_message *held;
    bool resumes; /* from a snapshot, or tried again: the tool must be called */
    phi__toolcall *poll_next, *poll_prev; /* ring of calls whose step is called */
    bool polled;
    uint32_t poll_round; /* the step of the last poll */
};

enum { PHI__REPEAT_GUARD_WINDOW = 32 }; /* calls of a run that are remembered */

typedef struct phi__repeat_guard {
    uint64_t seen[PHI__REPEAT_GUARD_WINDOW]; /* a ring of hashes of name and arguments */
    uint32_t count;
} phi__repeat_guard;

typedef struct phi__round {
    phi__toolcall *calls; /* in the turn's arena */
    size_t count, next, emitted, running;
    size_t polled; /* value of `emitted` when steering was last polled */
    bool skipping; /* steering was found: calls not yet begun are skipped */
    bool answered; /* PHI_RESPOND_TOOL was called: no call is run, and none causes another turn */
    bool repeated; /* a call was repeated too often */
    phi__repeat_guard *repeat_guard; /* the run's guard; NULL: no call was counted yet */
} phi__round;

/* tools.c: the calls whose step function is called. */
typedef struct phi__polls {
    phi__toolcall *next; /* a ring; the next step begins here */
    size_t count;
    bool busy; /* a call has work ready: the next step must not sleep */
} phi__polls;

/* ---- session.c: session ids, and the count of runs: the N of "session.config.N" ---- */

/* Agents of one runtime with the same session id share one object, so that two of their runs never
   get the same loop id. Runs are counted per segment (config), from 1. The objects are in the
   runtime's memory. Each is freed with its last user. */

/* The runs of one segment. */
typedef struct phi__session_count {
    struct phi__session_count *next;
    uint32_t runs;
    uint32_t len; /* length of the name, which follows the struct */
} phi__session_count;

typedef struct phi__session {
    uint32_t refs;
    uint64_t hash;
    uint64_t number; /* from 1; a new number whenever the counts start again */
    phi_str id;      /* separately allocated, with room for a UUID; null-terminated */
    size_t id_room;
    phi__session_count *counts;
} phi__session;

typedef struct phi__sessions {
    phi_memory *memory;
    phi__map map;     /* sessions by id */
    uint64_t numbers; /* the last number given */
} phi__sessions;

typedef struct phi__line {
    phi__session *session;   /* shared by all agents with this session id */
    phi_str last_loop_id;    /* separately allocated; empty: no run in this session */
    uint64_t last_active_us; /* when the last run began; 0: no run in this session */
    uint32_t loops;          /* runs so far, in all sessions */
    phi_str segment;         /* the part of loop ids that is provider.model[.thinking] */
    bool segment_given;      /* given by the desc: stays when the model changes */
} phi__line;

/* ---- the tape that is recorded or played (record/replay.h) ---- */

/* A step lets all outside input in at one place, and processes all of it before it ends. The tape's
   clock does not move within a step. So a run depends only on the order of the input and on the
   host's actions between steps. The size of a slice changes nothing. */

/* The sources that a tape takes from the host. NULL: the system's. */
typedef struct phi__tape_sources {
    uint64_t (*clock_us_fn)(void *user_data);
    void (*random_fn)(void *user_data, void *out, size_t len);
    void (*watch_fn)(void *user_data, intptr_t fd, int want);
    void *user_data;
} phi__tape_sources;

typedef struct phi__tape_ops {
    /* Called before the runtime's io is made. PHI_MISUSE: another runtime uses or used the tape. */
    phi_status (*take)(phi_tape *tape, const phi__tape_sources *sources);
    /* Called when the runtime is made. inner: the transport of the requests; NULL if the tape is
       played. stages: the transport reports stages. */
    void (*attach)(phi_tape *tape, phi_runtime *rt, const phi_transport *inner, bool stages);
    void (*detach)(phi_tape *tape); /* the runtime is freed */
    /* A step that lets input in calls begin, reads the host's posts, calls rest, reads the input,
       and calls let_in. */
    void (*begin)(phi_tape *tape);
    void (*posted)(phi_tape *tape); /* the host's posts were read */
    void (*let_in)(phi_tape *tape);
    uint64_t (*look_us)(phi_tape *tape); /* for values that are only displayed: not recorded */
    /* The calls of tools. on_way: called before a call is started or ended early. Returns true if a
       result is on its way, or, when a tape is played, if one was at the recording. result: gets
       the result of a claimed call. */
    bool (*on_way)(phi_tape *tape, const struct phi__toolcall *call, bool on_way);
    phi_status (*result)(phi_tape *tape, struct phi__toolcall *call, const phi_tool_result *result);
} phi__tape_ops;

/* Functions that only a recording tape has. */
typedef struct phi__tape_recorder {
    void (*woken)(phi_tape *tape);   /* the step has slept */
    void (*fires)(phi_tape *tape);   /* timers are about to fire */
    void (*posting)(phi_tape *tape); /* the host's posts are about to be read */
    /* The input of a transport. If a tape is played, only the tape answers requests. */
    phi_status (*stage)(phi_tape *tape, phi_transfer transfer, phi_transfer_stage stage);
    phi_status (*head)(phi_tape *tape, phi_transfer transfer, int status, const char *headers,
                       size_t len);
    phi_status (*push)(phi_tape *tape, phi_transfer transfer, const char *bytes, size_t len);
    phi_status (*end)(phi_tape *tape, phi_transfer transfer, phi_status status, const char *words);
    /* Records a call's update (part: the update's blocks, or NULL) or progress. */
    void (*said)(phi_tape *tape, struct phi__toolcall *call, phi_str text,
                 const phi_tool_result *part, bool progress);
} phi__tape_recorder;

/* Functions that only a played tape has. start: returns true if the tape has the result; then the
   tool must not be called. started: called when the tool's start has returned. */
typedef struct phi__tape_player {
    void (*rest)(phi_tape *tape);
    bool (*start)(phi_tape *tape, struct phi__toolcall *call);
    void (*started)(phi_tape *tape, struct phi__toolcall *call);
} phi__tape_player;

/* The first member of the tape's full struct. */
struct phi_tape {
    const phi__tape_ops *ops;
    const phi__tape_recorder *recorder; /* NULL if the tape is played */
    const phi__tape_player *player;     /* NULL if the tape records */
    phi_transport transport;            /* the runtime's transport */
    uint64_t (*clock_us_fn)(void *user_data);
    uint64_t (*work_us_fn)(void *user_data); /* the clock that measures a slice */
    void (*random_fn)(void *user_data, void *out, size_t len);
    void (*watch_fn)(void *user_data, intptr_t fd, int want); /* NULL: none */
    bool plays;
    bool stages; /* the transport reports stages; known after attach */
};

/* ---- run.c: runs and responses ---- */

/* An order to start a run with prompts (user messages, copied). Without prompts the run continues
   the history. If the ids are empty, the run gets a new loop id, and its parent is the agent's last
   run. */
typedef struct phi__run_order {
    const phi_message *prompts;
    size_t prompt_count;
    phi_continuation continuation;
    phi_str loop_id, parent_loop_id;
    bool no_turns;
    /* The run continues a hidden agent's earlier run: unread aborts also apply to this run. */
    bool goes_on;
    /* For this run only; copied. If NULL or 0, the agent's own is used. */
    const phi_policy *policy;
    const phi_limits *limits;
    const phi_tool *tools; /* used if has_tools is set; the list may be empty */
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

typedef struct phi__start {
    phi_trigger trigger; /* trigger of the run's first turn */
    bool emitted;        /* AGENT_START was emitted */
    bool silent;         /* the run was refused before it began, so AFTER_LOOP is not called */
} phi__start;

/* The run's messages in its log. */
typedef struct phi__said {
    /* Prompts not logged yet, in the thread's segment. NULL: all prompts are logged, or the run has
       none. */
    phi__entry *prompts;
    size_t prompt_count;
    size_t first_message;    /* index of the run's first message in its lane */
    size_t message_count;    /* set when the run has ended */
    size_t emitted_messages; /* messages whose events were emitted, as an index in the lane */
} phi__said;

/* The reasons to end a run early. */
typedef struct phi__early {
    bool cancelled, over;
    bool stopping;  /* the run ends when its turn is over */
    bool starved;   /* there was no memory for an input */
    phi_str reason; /* from phi_abort_run, owned by the agent; NULL: none */
    phi_str limit;  /* the limit that was reached, in words; owned by the agent; NULL: none */
} phi__early;

typedef struct phi__ready {
    phi__link link; /* in rt->ready */
    bool in;
} phi__ready;

/* A run's own format of answers. Its strings follow the struct. */
typedef struct phi__run_format {
    phi_format format;
    size_t bytes;
} phi__run_format;

/* Settings that a request makes for its run only. */
typedef struct phi__run_own {
    phi_policy *policy;      /* separately allocated; NULL: the agent's */
    phi__toolset *toolset;   /* separately allocated; NULL: the agent's */
    phi_str extra;           /* in the agent's memory; empty: none */
    phi_str context;         /* for the run's tools; in the agent's memory; empty: none */
    phi__run_format *format; /* in the agent's memory; NULL: the agent's */
    bool has_temperature;    /* false: the agent's temperature */
    double temperature;
    uint32_t waits_ms; /* the run's deadlines.decision_ms */
} phi__run_own;

struct phi__run {
    phi__agent *agent; /* The fields used most come first, because small offsets make short code. */
    phi__state state;
    phi_status status;
    phi__turn turn;
    bool has_room; /* forget.c has made room for this run */
    bool slices;   /* a feature wants each slice of the answer */
    bool no_turns; /* for phi_compact: the run has no turns */
    /* in HELD: the place of the holding feature in rt->features, from 1 */
    uint8_t holder;
    phi__taking taking;         /* features that take part */
    const phi_loop_info *info;  /* in the thread's memory */
    phi_str loop_id;            /* in the thread's memory */
    const phi_message *reply;   /* the answer; in the thread's memory */
    phi__response *response;    /* for phi_prompt_with; NULL: none */
    const phi_failure *failure; /* in the thread's memory, or static */
    phi__start start;
    phi__early end;
    phi_arena arena; /* the turn's memory: the request, tool calls */
    phi__ready ready;
    phi__refusals refusals; /* the counts when the run began */
    phi__timer timer;       /* for a pause or a delay */
    phi__round tools;
    phi__listed listed;
    uint64_t started_us;    /* in counted time */
    int64_t first_delta_ms; /* Unix time; 0: no delta yet */
    phi__said said;
    phi_limits limits; /* the agent's limits, plus the raises by phi_budget_raise */
    phi__spent spent;
    phi_spending reserved; /* amounts reserved in the budgets of the agent and its ancestors */
    bool pot;              /* the reservation is for model calls of child agents */
    phi__pause pause;
    phi__run_own own;
    phi__run_projection projection;
    phi__hosted hosted;
    phi__polling poll;
    phi__filtering filter;
    phi__decision decision;
    phi__attempt attempt;
};

/* A response of phi_prompt_with: the state of a run at its end, or, while status is PHI_BUSY, at
   the last phi_response_get. The response is in its agent's memory, and its messages are in its
   agent's thread. */
struct phi__response {
    phi__slot *slot;
    uint32_t index, gen;
    phi__agent *agent;
    phi__response *older, *newer; /* list of its agent's responses */
    phi_str id, query;            /* owned by the agent */
    phi_status status;
    phi_str loop_id;
    const phi_message *message;
    const phi_failure *failure;
    phi__segment *message_in, *rest_in; /* segments of `message` and the rest; kept in memory */
    phi_usage usage;
    double cost;
    int64_t asked_ms, ended_ms, first_delta_ms;
};

/* Bytes of a store's error message. */
enum { PHI__STORED_WORDS = 200 };

/* ---- agents ---- */

/* How a part of phi follows a child agent that it has made. */
typedef struct phi__child_watch {
    /* The child emits no events to the host. Its parent pays, and frees the child with itself. */
    bool hidden;
    bool reads; /* the watcher points into the parent's log, which must stay in memory */
    /* Gets each event of the child before the event is queued or dropped. NULL: not called. It must
       not free an agent or call the host. Returns true if `between` shall be called. */
    bool (*event)(phi__agent *child, const phi_event *event);
    /* Called between two states of the child's run. It may call the host and free any agent. */
    void (*between)(phi__agent *child);
    /* Called when a run of the child is over and destroyed. It may free the child, or begin another
       run unless `stopping` is set. failure: in the child's thread, static, or NULL. */
    void (*over)(phi__agent *child, phi_status status, const phi_failure *failure, bool stopping);
    /* Called when the child was freed by the host or with its parent, not by its watcher. The
       child's handle is stale. May be NULL. */
    void (*gone)(phi__agent *child);
} phi__child_watch;

/* The tree of agents. A cancel applies to all children; spending is added to all parents. */
typedef struct phi__tree {
    phi__agent *parent, *first_child, *next_child, *prev_child;
    const phi__child_watch *watch; /* static; NULL: made by the host */
    void *watched;                 /* the watcher's data */
    bool due;                      /* `between` must be called */
    uint32_t aborts;               /* aborts of this agent, or of one of its ancestors */
    /* The child's spending is part of its parent's active run, and its reservations are taken from
       that run's pot (limits.c). Set before the child's first run. */
    bool of_run;
    /* The tool calls of the last turn are not run, because no turn would read their results. */
    bool no_last_tools;
    /* The child works in its parent's place and knows its parent's facts. */
    bool in_place;
} phi__tree;

/* State of an agent that phi_run made over the caller's thread. */
typedef struct phi__one_shot {
    /* Called when the agent's run is over, and when the agent is retired. NULL: another agent. */
    void (*ended_fn)(phi__agent *agent);
    bool over;      /* the run is over; `link` is in the list */
    phi__link link; /* in rt->one_shot_over */
} phi__one_shot;

struct phi__agent {
    phi_runtime *rt;
    phi__slot *slot;    /* NULL: the agent was freed and waits for the end of the step */
    phi_thread *thread; /* `own`, or a thread lent by the caller */
    phi__run *run;
    phi__toolset *tools; /* the effective tools: the active run's own tools, or `toolset` */
    const phi__codec *codec;
    const struct phi_provider *provider; /* the model's provider; NULL: phi's own codec */
    struct phi__projected *projected;    /* NULL: no policy and no counter so far */
    phi_agent handle;
    phi_memory memory;
    bool in_process; /* the provider is polled in this process, not called over HTTP */
    bool has_store;
    uint8_t context_level;      /* projection.c: level of the last warning to the host */
    const char *held;           /* static: why the agent is busy without a run; NULL: not busy */
    const phi_failure *refused; /* run.c: why phi__run_new failed; NULL: the allocator refused */
    phi__response *responses;   /* the newest response */
    phi__questions *questions;  /* NULL: there was no question yet */
    phi__tool_sources *sources; /* NULL: none */
    phi__agent *next_retired;
    phi_str system_prompt, agent_id, workspace; /* separately allocated */
    /* The desc with its defaults filled in and all later changes. Its pointers point into `arena`,
       or to separate memory. Fields that this struct also has, or that only its creation needs, are
       NULL or 0. During a run, memory.limit_bytes is less than the limit (forget.c). */
    phi_agent_desc desc;
    phi_arena arena;       /* owns the desc */
    phi_arena model_arena; /* owns the model, its provider and the segment */
    phi_arena said; /* owns options, extra and raw_tools of the desc, which are replaced together */
    phi__toolset toolset;
    phi__budget budget;
    phi__tree tree;
    phi__line line;
    phi__room room;
    phi__queues queues;
    phi_store store; /* holds `own` */
    phi__one_shot one_shot;
    phi__prior prior;
    phi__agent_spent spent;
    phi__agent_events events;
    phi_thread own;
};

/* ---- the runtime ---- */

/* The current step, or the last one. */
typedef struct phi__step_of {
    uint32_t round; /* number of the step */
    uint64_t began_us;
    int64_t wall_ms; /* read once for all events of the step */
} phi__step_of;

/* snapshot.c: NULL unless a snapshot of the runtime is being made or loaded. */
typedef struct phi__snapshots {
    struct phi__snap_saving *saving;
    struct phi__snap_loading *loading;
} phi__snapshots;

struct phi_runtime {
    phi_memory memory;
    phi__io *io;
    phi__http *http;
    const phi_transport *transport;
    phi__features features; /* loop/feature.c */
    phi_tape *tape;         /* NULL: none */
    bool tells_stages;      /* the transport reports stages */
    phi__fetches fetches;
    phi__slots agents, calls, transfers, tickets, responses;
    phi__inbox inbox;
    uint64_t posts_read; /* read position in the inbox, whose own counters wrap */
    phi__sessions sessions;
    phi__events events;
    phi__list ready;  /* runs that can be advanced */
    phi__list paused; /* runs that wait for a limit or a budget */
    phi__polls polls;
    struct phi__provider_node *providers; /* registered providers, newest first */
    const phi_codec_fn *codecs; /* the codecs for models without a codec, NULL-ended; may be NULL */
    struct phi__facts *facts;   /* facts for all agents and of groups; NULL: none */
    phi__list polled;           /* runs whose in-process model is answering */
    phi__agent *retired;
    phi__list pressed;           /* agents to shrink when their events are released */
    phi__limit_failure at_limit; /* the failure of a run that the runtime's limit ended */
    phi__list threads;           /* made by phi_thread_new */
    phi__grown grown;            /* threads with entries not stored yet */
    phi__list one_shot_over;     /* one-shot agents whose events are not popped yet; oldest first */
    uint32_t active;             /* active runs */
    phi__slice slice;
    phi__step_of step;
    /* Address of errno in the thread of the last step; at first, in the thread that made the
       runtime. */
    PHI__ATOMIC(uintptr_t) pump;
    bool in_step, closing;
    phi__snapshots snapshots;
    bool abandoned; /* an exception or longjmp left a callback: only freeing is allowed */
    phi__last_error last_error;
};

#endif
