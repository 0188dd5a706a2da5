/* state_in.h - the structures of the pump: the runtime, its agents, their runs, transfers and
   calls.

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

#include "base/sha256_in.h"
#include "base/map_in.h"
#include "io/http_in.h"
#include "io/inbox_in.h"
#include "io/secret_in.h"
#include "loop/head_in.h"
#include "loop/model_call_in.h"
#include "loop/agent_desc.h"
#include "loop/turn_in.h"
#include "loop/limits_in.h"
#include "loop/compactor.h"
#include "loop/run_in.h"
#include "loop/events_in.h"
#include "loop/feature_in.h"
#include "loop/transfer_in.h"
#include "loop/input_in.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "loop/session_in.h"
#include "loop/provider.h"
#include "loop/hooks_in.h"
#include "loop/hosted_in.h"
#include "loop/run.h"
#include "loop/schedule_in.h"
#include "loop/projection_in.h"
#include "loop/tape_in.h"
#include "loop/tool.h"
#include "loop/toolset_in.h"
#include "loop/tools_in.h"
#include "loop/types_in.h"
#include "history/compact.h"
#include "history/project_in.h"
#include "persist/persist_in.h"
#include "wire/reader_in.h"
#include "codecs/translate.h"
#include "model/event_parts.h"

/* ---- transfers ---- */

enum { PHI__TRANSFER_BODY_MOST = 65536 }; /* bytes that wait for the decoder; DESIGN part 4 */

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

enum { PHI__STAGE_QUEUED = 0, PHI__STAGE_EVENTS = 100 };

/* ---- decisions ---- */

/* The decision of a hook, made or pending. Each run, each tool call and each question has one; its
   slot is taken only while a decision is pending. */
typedef enum phi__decision_state {
    PHI__DECISION_NONE = 0,
    PHI__DECISION_WAITS, /* for phi_decide, or its deadline */
    PHI__DECISION_MADE   /* verdict and reply are there, to be taken */
} phi__decision_state;

/* Slot states: as those of calls; HELD: open, but phi_decide can only deny it; and SAID with the
   verdict in the bits below: decided without a text, and so without room in the inbox; the slot is
   marked. */
enum { PHI__TICKET_OPEN = 1, PHI__TICKET_CLAIMED = 2, PHI__TICKET_HELD = 3, PHI__TICKET_SAID = 4 };

/* The strings of a question, which own memory of their own. */
typedef struct phi__asked {
    phi_str source, kind, text, arguments;
} phi__asked;

typedef struct phi__decision phi__decision;
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

/* hooks.c: the open questions of an agent, oldest first. */
typedef struct phi__questions {
    phi__agent *agent;
    phi__list list;
    size_t count;
    phi__timer timer; /* set while there are any */
} phi__questions;

/* ---- budgets ---- */

typedef struct phi__budget {
    phi_budget limits;
    phi_spending seen;
} phi__budget;

/* ---- calls ---- */

/* Slot states. CLAIMED: the thread that set it, and no other, gives the result: through the inbox,
   or on the pumping thread. */
enum { PHI__CALL_PENDING = 1, PHI__CALL_CLAIMED = 2 };

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

/* ---- runs ---- */

/* The format of a run's answers, where it has one of its own; its strings stand behind it. */
typedef struct phi__run_format {
    phi_format format;
    size_t bytes;
} phi__run_format;

/* What a request sets for its run alone. */
typedef struct phi__run_own {
    phi_policy *policy;      /* in memory of its own; NULL: the agent's */
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
    bool pot;              /* ... for model calls of agents below it, instead of its own */
    phi__pause pause;
    phi__run_own own;
    phi__run_projection projection;
    phi__hosted hosted;
    phi__polling poll;
    phi__filtering filter;
    phi__decision decision;
    phi__attempt attempt;
};

/* ---- responses ---- */

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

/* The error message of a run whose memory limit was used up. */
typedef struct phi__limit_failure {
    phi_failure failure;
    char words[200]; /* its message */
} phi__limit_failure;

/* ---- what of a history is sent ---- */

typedef struct phi__projected {
    bool has_policy;
    phi_policy policy;         /* the agent's */
    phi_token_counter counter; /* count_text NULL: the estimate */
    phi_projection_meta last;
    uint64_t needed; /* 1 and the last entry for which a summary was needed; 0: none */
} phi__projected;

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
       run's pot (limits_in.h). Set before its first run. */
    bool of_run;
    /* Calls of the last turn that its limits allow are not run: no turn would read the results. */
    bool no_last_tools;
    /* It works in its parent's place, and knows the facts that that one knows. */
    bool in_place;
} phi__tree;

/* forget.c, limits.c: its memory limit. */
typedef struct phi__room {
    uint32_t runs_short; /* runs in a row that ended without memory */
    bool pressed;        /* in rt->pressed: a prompt found no memory */
    phi__link link;
    phi__limit_failure *at_limit; /* of a run that its limit has ended; NULL: it has none */
} phi__room;

typedef struct phi__queues {
    phi__inputs steering, follow_ups, injected;
} phi__queues;

/* Made by phi_run, over a thread that was lent. */
typedef struct phi__one_shot {
    /* Called when its run is over, and when it is retired; NULL: it is no such agent. */
    void (*ended_fn)(phi__agent *agent);
    bool over;      /* its run is: in the list */
    phi__link link; /* of rt->one_shot_over */
} phi__one_shot;

/* run_: of the active or else the last run. */
typedef struct phi__agent_spent {
    phi_usage usage, run_usage;
    double cost, run_cost;
} phi__agent_spent;

/* What the model has seen of a conversation before. */
typedef struct phi__prior {
    phi__head *head;                /* NULL: its model keeps none */
    phi__thinking thinking;         /* model_call.c: that the last request left out */
    struct phi__deferral *deferral; /* NULL: no deferred tool was loaded */
} phi__prior;

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
    phi_str system_prompt, agent_id, workspace; /* in memory of their own */
    /* With its defaults, and as it was changed since. Its pointers are into `arena`, or to memory
       of their own; fields that this struct has, too, or were only for its making, are NULL or 0.
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

enum {
    PHI__POST_FINISH = 1,
    PHI__POST_DECIDE, /* with a text; flag: the verdict */
    PHI__POST_STEER,
    PHI__POST_FOLLOW_UP,
    PHI__POST_INJECT /* flag: bytes of the source, which stands before the text */
};

/* States of an agent's slot, which other threads may look at; and bits that they set, which need no
   room in the inbox: the slot is marked. */
enum {
    PHI__AGENT_IDLE = 1,
    PHI__AGENT_RUNNING = 2,
    PHI__AGENT_ABORT = 4,
    PHI__AGENT_STOP = 8 /* when the turn is over */
};

/* tools.c: the calls whose step is called. */
typedef struct phi__polls {
    phi__toolcall *next; /* a ring; where the next step begins */
    size_t count;
    bool busy; /* one of them has work that is ready: the next step must not sleep */
} phi__polls;

/* The step that is under way, or the last one. */
typedef struct phi__step_of {
    uint32_t round; /* counts the steps */
    uint64_t began_us;
    int64_t wall_ms; /* one look at the clock serves all its events */
} phi__step_of;

/* snapshot.c: NULL, unless phi_runtime_snapshot or phi_runtime_restore has begun. */
typedef struct phi__snapshots {
    struct phi__snapshot_saving *saving;
    struct phi__snapshot_loading *loading;
} phi__snapshots;

struct phi_runtime {
    phi_memory memory;
    phi__io *io;
    phi__http *http;
    const phi_transport *transport;
    phi__features features; /* the table of features (loop/feature_in.h) */
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
