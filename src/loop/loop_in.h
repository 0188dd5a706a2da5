/* loop_in.h - the structures of the pump: the runtime, its agents, their runs, transfers and calls.

   The runtime owns everything. An agent's run exists from prompt to AGENT_END; it is advanced a slice
   at a time from the runtime's ready list, and leaves the list when it waits. Whoever ends a wait (a
   push, a result, a timer, a cancel) puts it back with phi__run_wake.
   Callbacks into the host: a tool's start, step and cancel, hooks and filters. Any of them may free any
   agent. During a step, an agent that is freed is taken out of every table at once and destroyed when the
   step ends; whoever called the host looks at agent->slot before it goes on.
   Threads: the pumping thread, but for the words of slots and the inbox. */
#ifndef PHI_LOOP_LOOP_IN_H
#define PHI_LOOP_LOOP_IN_H

#include "base/id_in.h"
#include "base/slots_in.h"
#include "io/http_in.h"
#include "io/inbox_in.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "loop/provider.h"
#include "loop/run.h"
#include "loop/session_in.h"
#include "loop/tool.h"
#include "text/json_fields_in.h"
#include "text/sse_in.h"
#include "thread/thread_in.h"
#include "wire/frames_in.h"
#include "wire/translate.h"

typedef struct phi__agent phi__agent;
typedef struct phi__run phi__run;
typedef struct phi__toolcall phi__toolcall;
typedef struct phi__response phi__response;
struct phi_thread; /* agent/bare_run.c */

/* ---- events ---- */

/* One answer while it streams and, as `final`, in the thread; kept while events refer to it. */
typedef struct phi__answer {
    phi_memory *memory;
    uint32_t refs;
    bool live; /* the assembly is in use; else `final` has taken its place */
    phi__assembly assembly;
    const phi_message *final;
    phi_message view; /* of the assembly, remade at a pop */
    phi_content *content;
    size_t content_cap;
    bool viewed; /* `view` shows the assembly as it is */
} phi__answer;

struct phi__event_block;

typedef struct phi__record {
    struct phi__record *next, *prev;   /* of those queued, or of those popped */
    struct phi__record *newer, *older; /* of the same agent's */
    struct phi__event_block *block;    /* NULL: one of an agent's reserve */
    phi__agent *agent;
    phi__answer *answer; /* for partial and message; NULL: none */
    size_t partial_len;
    size_t cost; /* bytes counted against the agent's queue */
    bool in_use; /* reserve: queued */
    bool popped;
    phi_event event;
} phi__record;

typedef struct phi__records {
    phi__record *head, *tail;
} phi__records;

typedef struct phi__events {
    phi_memory *memory;
    phi__records queued;
    phi__records popped; /* until the next step */
    struct phi__event_block *current, *spare;
    uint64_t seq;
} phi__events;

/* ---- transfers ---- */

enum { PHI__XFER_BODY_MOST = 65536 }; /* bytes that wait for the decoder; DESIGN part 4 */

typedef struct phi__xfer {
    phi_runtime *rt;
    phi__slot *slot;
    void (*ready)(struct phi__xfer *transfer); /* something arrived, or the end */
    void *owner;
    phi__buf body, headers;
    size_t read; /* of body */
    uint64_t received, max_bytes;
    int http_status;
    bool headed, ended, refused; /* refused: a push was answered with PHI_FULL */
    bool gone; /* the transport has let go of it: it said the end, or was told to cancel */
    phi_status status;
    char words[200];
    phi_deadlines deadlines;
    int stage;                    /* 0: queued, then phi_xfer_stage, then PHI__STAGE_EVENTS */
    uint64_t opened_us, stage_us; /* stage_us: when the stage began, or life was last seen */
    phi__timer timer;
    bool late; /* the deadline has passed, and this is the last look at the descriptors */
} phi__xfer;

enum { PHI__STAGE_QUEUED = 0, PHI__STAGE_EVENTS = 100 };

/* ---- decisions ---- */

/* What a hook said, or will say. One lives in each run and each tool call; its slot is taken only while a
   decision is waited for. */
typedef enum phi__asked {
    PHI__ASKED_NOT = 0,
    PHI__ASKED_WAITS,  /* for phi_decide, or its deadline */
    PHI__ASKED_DECIDED /* verdict and reply are there, to be taken */
} phi__asked;

enum { PHI__TICKET_OPEN = 1, PHI__TICKET_CLAIMED = 2 }; /* slot states, as those of calls */

typedef struct phi__decision {
    phi_runtime *rt;
    phi__slot *slot;
    uint32_t index, gen;
    phi__asked asked;
    phi_hook_point point;
    phi__run *run;
    phi__toolcall *call; /* NULL: the run's */
    phi__timer timer;
    uint32_t timeout_ms;
    phi_verdict verdict;
    phi__buf reply; /* what the hook or phi_decide said; until it is taken */
    phi_str text;   /* for phi_pending: what a filter looks at; in the run's memory */
} phi__decision;

/* What phi__hook_ask comes to. */
typedef enum phi__hooked {
    PHI__HOOK_ALLOW = PHI_ALLOW,
    PHI__HOOK_DENY = PHI_DENY,
    PHI__HOOK_WAIT = PHI_WAIT, /* come again: the run or the call is woken */
    PHI__HOOK_WARN = PHI_WARN,
    PHI__HOOK_GONE, /* the hook freed the agent: return at once */
    PHI__HOOK_LOST  /* no memory */
} phi__hooked;

/* ---- what is said to a run ---- */

/* One message in a queue, in memory of its own. */
typedef struct phi__input {
    struct phi__input *next;
    phi_arena arena; /* of the content and the source */
    phi_input kind;
    phi_message message;
    phi_str source;
    bool filtered; /* the filters have passed it; what they said is in the message */
} phi__input;

typedef struct phi__inputs {
    phi__input *head, *tail;
    size_t count;
} phi__inputs;

/* ---- budgets ---- */

typedef struct phi__budget {
    phi_budget limits;
    phi_spending seen;
} phi__budget;

/* ---- doom loops ---- */

enum { PHI__DOOM_WINDOW = 32 }; /* calls of a run that are remembered */

typedef struct phi__doom {
    uint64_t seen[PHI__DOOM_WINDOW]; /* hashes of name and arguments; a ring */
    uint32_t count;
} phi__doom;

/* ---- prompt caching ---- */

/* What a request was made of, by hashes. */
typedef struct phi__cached {
    uint64_t model, system, tools, settings, history; /* history: of all its items */
    size_t items;                                     /* SIZE_MAX: of messages that are gone */
} phi__cached;

typedef struct phi__caching {
    phi_cache_stats stats;
    phi__cached last, now; /* the last one whose answer told its usage; the one that is under way */
    uint64_t expected;     /* tokens that it should read from the cache */
    uint32_t changed;      /* PHI_CACHE_CHANGED_ bits: now against last */
    bool known;            /* model, system and tools of `now` are of the agent as it is */
} phi__caching;

/* ---- fields ---- */

/* What a tool with on_field has heard of a block of the answer. */
typedef struct phi__told {
    const phi_tool *tool; /* NULL: the block calls none such, or its name has not come */
    phi__json_fields scan;
    uint32_t rewrites; /* of the draft, that the scan knows of */
    bool told;         /* a value, and neither `dropped` nor `start` since */
} phi__told;

/* ---- calls ---- */

/* Slot states. CLAIMED: whoever moved it there, and nobody else, says the result: through the inbox,
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
    phi__timer timer;
    void *state;
    size_t state_bytes;
    phi_message *result;   /* in the thread's arena, not yet appended */
    phi_str child_loop_id; /* of the result, in the thread's arena */
    phi__decision decision;
    uint32_t repeats;       /* how often this very call was made lately; 0: not counted */
    bool begun;             /* it counts among those that run */
    bool asked;             /* the BEFORE_TOOL hook was heard */
    bool quiet;             /* denied: neither TOOL_START nor TOOL_END */
    bool told, started;     /* told: TOOL_START was emitted; started: the tool was */
    bool ended, after;      /* TOOL_END was emitted; the AFTER_TOOL hook was heard */
    bool skipped;           /* for steering: told without arguments, and no hook hears of it */
    bool updating;          /* inside of an update's hooks */
    phi__told *told_fields; /* in the run; NULL: nothing was told of its arguments */
    phi__toolcall *poll_next, *poll_prev; /* calls whose step is called */
    bool polled;
    uint32_t poll_round; /* in which its step was called last */
};

/* ---- runs ---- */

/* In the order of a run. Each asks one hook at most, so that a state which waited is entered anew. */
typedef enum phi__state {
    PHI__RUN_BEFORE_LOOP = 1,
    PHI__RUN_OPEN,
    PHI__RUN_FILTER, /* the prompts; then they are in the log */
    PHI__RUN_POLL,   /* steering, before the first turn */
    PHI__RUN_TOP,    /* filters of what was polled, limits, budgets; may pause */
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
    PHI__RUN_COMPACT,
    PHI__RUN_COMPACTED,
    PHI__RUN_TOOLS,
    PHI__RUN_FAILED, /* the on_error hook */
    PHI__RUN_TURN_END,
    PHI__RUN_AFTER_TURN,
    PHI__RUN_NEXT,   /* another turn, for tools or steering? */
    PHI__RUN_FOLLOW, /* for follow-ups? else the queues are sealed */
    PHI__RUN_CLOSE,
    PHI__RUN_AFTER_LOOP,
    PHI__RUN_OVER /* taken apart by the pump */
} phi__state;

typedef enum phi__body {
    PHI__BODY_UNKNOWN, /* the head has not come */
    PHI__BODY_STREAM,
    PHI__BODY_WHOLE,
    PHI__BODY_ERROR
} phi__body;

struct phi__run {
    phi__agent *agent;
    phi__state state;
    phi__run *next_ready, *prev_ready;
    bool in_ready, cancelled, over;
    bool stopping;             /* ends when its turn is over */
    bool starved;              /* something that was said to it found no memory */
    bool opened;               /* AGENT_START is out */
    bool silent;               /* no AFTER_LOOP: it was refused before it began */
    phi_arena arena;           /* the turn's: the request, tool calls */
    const phi_loop_info *info; /* in the thread */
    phi_str loop_id;           /* in the thread */
    uint64_t posts_from;       /* of the inbox: an abort posted before meant an earlier run */
    phi_trigger trigger;       /* of its first turn */
    uint32_t turn_index;
    bool turn_open;
    uint64_t started_us;
    /* before it is in the log */
    phi__entry
        *prompts; /* in the thread's arena, to be attached; NULL: they are, or there are none */
    size_t prompt_count;
    phi__decision decision;
    bool filtering;        /* a text is under way through the filters */
    size_t filter_at;      /* the next one to be asked */
    phi__buf filter_text;  /* what they are asked about */
    phi__buf warnings;     /* what they said */
    phi_str rejection;     /* of the prompts; in the thread */
    phi__inputs pending;   /* polled, for the next turn */
    bool polling;          /* a poll is under way: it has looked into the queue */
    uint32_t polled;       /* messages it has got */
    bool steered;          /* the turn's steering was looked for */
    phi_limits limits;     /* the agent's, and what phi_budget_raise added */
    phi_spending reserved; /* in the agent's budget and those above */
    bool paused, pause_over;
    phi__run *next_paused, *prev_paused; /* of those in rt->paused */
    phi__buf pause_reason;               /* of a pause, for phi_pending */
    phi_agent payer;                     /* whose limit or budget it was */
    phi__timer timer;                    /* of a pause or a delay */
    phi__doom *doom;                     /* NULL: no tool has been called yet */
    bool doomed;                         /* a call repeated itself too often */
    size_t first_message;                /* of the run, in the thread's messages */
    size_t told_messages;                /* prompts whose events are out */
    phi_usage usage, turn_usage;
    double cost;
    int64_t first_delta_ms; /* Unix time; 0: none has come */
    phi_status status;
    const phi_failure *failure; /* in the thread, or static */
    /* the model call */
    phi__ask ask;
    /* ... of a model of the host's own: what it is asked, and in process: whether it has a call open, that
       call, and when it was polled last */
    struct phi_model_request *asked;
    bool call_open, in_polled, in_call; /* in_call: its poll is at work */
    void *opened_call;
    uint32_t polled_step;
    phi__run *next_polled, *prev_polled; /* of those in rt->first_polled */
    phi_model
        *keyed; /* the model with the attempt's own key, in the turn's arena; NULL: as it is */
    bool refused,
        fresh; /* the key was refused, and another is to be asked for; that was done already */
    const phi_message *
        *listed; /* what TRANSFORM_CONTEXT and CONVERT_TO_LLM look at; NULL: not asked */
    size_t listed_count;
    phi__encoder encoder;
    bool encoding;
    struct phi__body_hash *hash; /* of the request, in the turn's arena; NULL: not begun */
    uint32_t attempt;            /* retries of this turn's call so far */
    uint32_t delay_ms;
    uint64_t retry_at_us;
    uint32_t compactions, idle_compactions; /* of this turn; those that gained nothing */
    const phi_failure *overflow;            /* what made the last one, in the thread */
    phi_compaction *compaction;             /* under way, in the thread */
    phi__xfer *transfer;
    phi__sse sse;
    phi__frames frames; /* in its place, where the codec's stream is of frames */
    void *decoder;      /* zeroed state of the codec, in the arena */
    phi__buf collected; /* an answer that is not a stream: an error, or whole JSON */
    phi__body body;
    bool answer_told; /* MESSAGE_START is out */
    bool alive;       /* something meaningful came since this was cleared */
    bool lost;        /* an event found no memory */
    phi__answer *answer;
    phi__told *told; /* of the answer's blocks, by their index; NULL: nothing */
    size_t told_count, told_cap,
        told_from;            /* told_from: blocks before it were whole and are told */
    const phi_message *reply; /* the answer in the thread */
    /* its tools */
    phi__toolcall *calls;
    size_t call_count, next_call, told_calls, running_calls;
    size_t polled_calls; /* calls after which steering was looked for */
    bool skipping;       /* steering was found: what has not begun is skipped */
    bool answered; /* PHI_RESPOND_TOOL was called: no call is run, and no turn follows for them */
    phi__response *response; /* of phi_ask; NULL: nobody holds one */
};

/* ---- responses ---- */

/* What phi_ask gave out: a run as it was when it ended, or, while status is PHI_BUSY, when it was looked at
   last. It lives in its agent's memory, and what it points to in its agent's thread. */
struct phi__response {
    phi__slot *slot;
    uint32_t index, gen;
    phi__agent *agent;
    phi__response *older, *newer; /* of the same agent's */
    phi_status status;
    phi_str loop_id;
    const phi_message *message;
    const phi_failure *failure;
    phi_usage usage;
    double cost;
    int64_t asked_ms, ended_ms, first_delta_ms;
};

/* ---- agents ---- */

/* A run that had to take one ends: AGENT_START or TURN_END, then ERROR, and AGENT_END. */
enum { PHI__RESERVE = 3 };

struct phi__agent {
    phi_runtime *rt;
    phi__slot *slot; /* NULL: freed, waiting for the step's end */
    uint32_t index, gen;
    phi__agent *next_doomed;
    phi_memory memory;
    phi_arena arena;       /* what the desc gave */
    phi_arena tools_arena; /* the tools, which may be replaced */
    phi_arena model_arena; /* the model's strings, and the segment */
    phi_model model;
    const phi__codec *codec;
    const struct phi_provider *provider;     /* of the model; NULL: one of ours */
    const struct phi_provider *own_provider; /* the desc's, in `arena`; NULL: none */
    phi_translate_fn translate_fn;           /* NULL: as the encoders do */
    phi_str system_prompt;                   /* in memory of its own */
    phi_str agent_id;                        /* in memory of its own */
    phi__session *session;                   /* shared by the agents of one session id */
    phi_str last_loop_id;                    /* in memory of its own; empty: none in this session */
    uint64_t last_active_us;                 /* when the last run began; 0: none in this session */
    phi_str segment;                         /* of loop ids: provider.model[.thinking] */
    bool segment_given;                      /* by the desc: it stays when the model changes */
    phi_str workspace;                       /* in memory of its own */
    const struct phi_profile *profile;       /* agent/profile.h; in `arena` */
    phi_tool *tools;
    phi__tool_view *tool_views;
    size_t tool_count;
    bool has_lone_tools;  /* one is not_concurrent */
    bool has_field_tools; /* one has on_field */
    phi_tool_mode tool_mode;
    uint32_t tool_batch;
    phi_tool_choice tool_choice;
    phi_thinking thinking;
    uint32_t tool_timeout_ms;
    uint32_t max_tokens;
    double temperature; /* negative: not sent */
    phi_cache cache;
    phi_format format;                  /* what it points to is that of the two below */
    phi_str format_schema, format_name; /* in memory of their own */
    phi_limits limits;
    phi_deadlines deadlines;
    phi_retry retry;
    phi__budget budget;
    /* the tree: cancelling goes down, spending goes up */
    phi__agent *parent, *first_child, *next_child, *prev_child;
    phi_hook_fn hook_fn;
    uint32_t hook_points;
    uint32_t decision_timeout_ms;
    phi_filter *filters;
    size_t filter_count;
    phi__inputs steering, follow_ups, injected;
    phi_queue_mode steering_mode, follow_up_mode;
    uint32_t queue_limit;
    size_t untold_drops; /* messages that were dropped while the event queue was full */
    uint32_t doom_warn_after, doom_stop_after; /* 0: never */
    phi_trigger first_turn_trigger;
    size_t event_queue_bytes, max_event_bytes;
    uint64_t max_response_bytes;
    void *user_data;
    phi__thread *thread; /* `own`, or one that the caller lent */
    phi__thread own;
    phi__run *run;
    phi__response *responses;          /* the newest */
    phi__agent *next_over, *prev_over; /* of those in rt->bare_over */
    bool bare;                         /* made by phi_run, over a thread that was lent */
    bool bare_over;                    /* its run is over: in the list */
    struct phi__put_off *put_off;      /* a rewrite that waits for the end of the run; or NULL */
    uint32_t loops;                    /* runs so far, in all sessions */
    phi__caching caching;
    phi_usage usage, run_usage; /* run_usage: of the last run, or the one that goes on */
    double cost, run_cost;
    size_t queued_bytes;          /* of its events that were not popped */
    phi__record *oldest, *newest; /* of its events, those popped too */
    phi__record reserve[PHI__RESERVE];
};

/* ---- the runtime ---- */

enum {
    PHI__POST_FINISH = 1,
    PHI__POST_ABORT,  /* flag 1: when the turn is over */
    PHI__POST_DECIDE, /* flag: the verdict */
    PHI__POST_STEER,
    PHI__POST_FOLLOW_UP,
    PHI__POST_INJECT /* flag: bytes of the source, which stands before the text */
};

/* States of an agent's slot, which other threads may look at. */
enum { PHI__AGENT_IDLE = 1, PHI__AGENT_RUNNING = 2 };

struct phi_runtime {
    phi_memory memory;
    phi__io *io;
    phi__http *http;
    const phi_transport *transport;
    phi__slots agents, calls, transfers, tickets, responses;
    phi__inbox inbox;
    uint64_t posts_read; /* where it was read up to; its own counts wrap */
    phi__sessions sessions;
    phi__events events;
    phi__run *ready, *ready_last;
    phi__run *paused;      /* those that wait for a limit or a budget */
    phi__toolcall *polled; /* a ring; where the next step begins */
    size_t polled_count;
    uint32_t poll_round;                  /* counts the steps */
    struct phi__provider_node *providers; /* registered ones, the newest first */
    phi__run *first_polled;               /* runs whose model is in the process and answers */
    size_t polled_runs;
    phi__agent *doomed;
    struct phi_thread *threads;             /* of phi_thread_new */
    phi__agent *bare_over, *bare_over_last; /* until their events are popped; oldest first */
    uint32_t active;                        /* runs going */
    uint32_t step_budget_us, step_budget_bytes;
    uint64_t step_began_us, step_until_us;
    int64_t step_wall_ms; /* of the step; one look at the clock serves all its events */
    size_t step_bytes_left;
    bool in_step, closing;
    phi_status error; /* the last one */
    int error_http_status;
    char error_words[256];
};

/* events.c */
PHI__FN void phi__events_init(phi__events *events, phi_memory *memory);
PHI__FN void phi__events_free(phi__events *events);
/* Queues a copy of `event` (kind, and what the kind uses; agent, seq, time are filled). Its text is
   copied; its other strings must live as long as the agent's thread. False: no memory. */
PHI__FN bool phi__emit(phi__agent *agent, const phi_event *event, phi__answer *answer,
                       size_t partial_len);
/* The same for a part of an answer, made in place: there are many of them. */
PHI__FN bool phi__emit_delta(phi__agent *agent, phi_event_kind kind, uint32_t block_index,
                             phi_str text, phi__answer *answer, size_t partial_len);
/* The same for what must not be lost: it takes one of the reserve when there is no memory, and says
   false; the run must then end. */
PHI__FN bool phi__emit_surely(phi__agent *agent, const phi_event *event);
PHI__FN bool phi__events_pop(phi_runtime *rt, phi_event *out);
PHI__FN void phi__events_release(phi_runtime *rt); /* what was popped before this step */
PHI__FN void phi__events_purge(phi_runtime *rt, phi__agent *agent); /* its events, popped or not */
PHI__FN bool phi__events_backlog(const phi__agent *agent);          /* the host does not drain */

PHI__FN phi__answer *phi__answer_new(phi_memory *memory);
PHI__FN void phi__answer_drop(phi__answer *answer); /* one reference; NULL is harmless */
PHI__FN bool phi__answer_room(phi__answer *answer); /* for a view of all its blocks */
PHI__FN const phi_message *phi__answer_message(phi__answer *answer);
PHI__FN void phi__answer_settle(phi__answer *answer, const phi_message *final);

/* xfer.c */
PHI__FN const phi__xfer_port *phi__xfer_port_get(void);
PHI__FN phi_status phi__xfer_open(phi_runtime *rt, phi_memory *memory, const phi_request *request,
                                  const phi_deadlines *deadlines, uint64_t max_bytes,
                                  void (*ready)(phi__xfer *), void *owner, phi__xfer **out);
PHI__FN phi_str phi__xfer_unread(const phi__xfer *transfer);
PHI__FN void phi__xfer_took(phi__xfer *transfer, size_t bytes);
PHI__FN void phi__xfer_alive(phi__xfer *transfer); /* a meaningful event was seen */
PHI__FN void phi__xfer_close(phi__xfer *transfer); /* cancels if it goes; NULL is harmless */

/* call.c */
PHI__FN bool phi__call_open(phi__toolcall *call);             /* its handle; false: no memory */
PHI__FN bool phi__call_open_still(const phi__toolcall *call); /* nobody has finished it */
PHI__FN void phi__call_start(phi__toolcall *call);
PHI__FN void phi__call_fail(phi__toolcall *call,
                            const char *text); /* an error result, if none yet */
PHI__FN void phi__call_fail_str(phi__toolcall *call, phi_str text);
PHI__FN void phi__call_cancel(phi__toolcall *call, const char *text); /* tells the tool, too */
enum { PHI__REPEAT_WORDS = 200 };
PHI__FN void phi__call_repeat_words(const phi__toolcall *call, char out[PHI__REPEAT_WORDS]);
/* Lets go of a call that will have no result: tells the tool, and its handle dies. Its own memory stays
   until dispose, for a tool that is running just now. */
PHI__FN void phi__call_detach(phi__toolcall *call);
PHI__FN void phi__call_dispose(phi__toolcall *call);
PHI__FN void phi__call_posted(phi_runtime *rt, const phi__post *post);
PHI__FN void phi__calls_poll(phi_runtime *rt);

/* hooks.c */
PHI__FN void phi__decision_init(phi__decision *decision, phi__run *run, phi__toolcall *call);
/* What every hook of a run is told; the caller adds what the point has. */
PHI__FN phi_hook phi__hook_of(const phi__run *run, phi_hook_point point);
/* Asks, or takes what was decided since. The reply is in decision->reply until the next question. */
PHI__FN phi__hooked phi__hook_ask(phi__decision *decision, phi_hook *hook, phi_hook_fn fn,
                                  void *user_data);
/* The agent's own hook function, for a run or a call: PHI__HOOK_ALLOW where it does not want the point. */
PHI__FN phi__hooked phi__hook_run(phi__run *run, phi_hook *hook);
PHI__FN phi__hooked phi__hook_call(phi__toolcall *call, phi_hook *hook);
PHI__FN bool phi__hook_wants(const phi__agent *agent, phi_hook_point point);
/* Lets go of a question that nobody needs an answer to; its ticket dies. Any state is fine. */
PHI__FN void phi__decision_drop(phi__decision *decision);
PHI__FN void phi__decision_posted(phi_runtime *rt, const phi__post *post);

/* input.c */
PHI__FN void phi__input_posted(phi_runtime *rt, const phi__post *post, uint64_t at);
PHI__FN void phi__inputs_free(phi__agent *agent, phi__inputs *inputs);
PHI__FN phi__inputs *phi__inputs_of(phi__agent *agent, phi_input kind); /* NULL: no such queue */
/* A message at the end of a queue, its content copied. */
PHI__FN phi_status phi__input_add(phi__agent *agent, phi__inputs *to, phi_input kind,
                                  const phi_content *content, size_t count, phi_str source);
/* Whether content can be a user's message; else words that begin with `what`. */
PHI__FN phi_status phi__input_check(phi_runtime *rt, const char *what, const phi_content *content,
                                    size_t count);
/* Takes what a queue gives at a checkpoint, and what the pull hook says, into run->pending. */
PHI__FN phi__hooked phi__input_poll(phi__run *run, phi_input kind);
/* What is pending goes back to where it came from; what was injected is told as dropped. */
PHI__FN void phi__input_return(phi__run *run);
/* Tells of each that it is dropped, and empties the queue. */
PHI__FN void phi__input_drop(phi__agent *agent, phi__inputs *inputs, const char *why);
PHI__FN void phi__input_poll_end(phi__run *run); /* gives up a poll that waits */

/* filter.c: asks the filters about the prompts, or about run->pending. DENY: the reason was told, and what it
   was about is gone. Warnings are in the messages. */
PHI__FN phi__hooked phi__filter_prompts(phi__run *run);
PHI__FN phi__hooked phi__filter_pending(phi__run *run);
PHI__FN void phi__filter_end(phi__run *run); /* gives up what is under way */
/* Puts what is pending, and what was injected, into the log. False: no memory. */
PHI__FN bool phi__input_deliver(phi__run *run);

/* budget.c */
PHI__FN bool phi__budget_limited(const phi__agent *agent); /* it, or one above, has a limit */
/* Takes a reservation in every budget of the line, or says why not. */
PHI__FN bool phi__budget_reserve(phi__run *run, uint64_t tokens, double cost, char *reason,
                                 size_t size);
PHI__FN void phi__budget_charge(phi__agent *agent, uint64_t tokens, double cost, uint64_t requests);
PHI__FN void phi__budget_release(phi__run *run); /* what is reserved; nothing is harmless */
/* Runs that pause at a limit: begun, ended (not pausing is harmless), and told to look again. */
PHI__FN void phi__pause_begin(phi__run *run);
PHI__FN void phi__pause_end(phi__run *run);
PHI__FN void phi__pause_wake_all(phi_runtime *rt);

/* retry.c */
/* The delay before retry number `attempt` (from 1); random in [0, 1). */
PHI__FN uint32_t phi__retry_delay_ms(const phi_retry *retry, uint32_t attempt, double random);
/* Whether this failure of a model call is to be tried again, and after how long. */
PHI__FN bool phi__retry_wanted(const phi_retry *retry, const phi_failure *failure, uint32_t attempt,
                               double random, uint32_t *delay_ms);

/* doom.c */
/* A number for a tool's name and its arguments, whatever their order of keys and blanks; text that is no
   JSON counts as it is. `arena` is given back. */
PHI__FN uint64_t phi__doom_hash(phi_arena *arena, phi_str name, phi_str arguments);
/* Takes note of a call; how often it stands in the window now, this one included. */
PHI__FN uint32_t phi__doom_note(phi__doom *doom, uint64_t hash);

/* run.c */
/* A run, by prompts (user messages; copied) or from where the history stands (none). loop_id and parent
   empty: made, and the agent's last. On failure nothing changed. */
typedef struct phi__run_order {
    const phi_message *prompts;
    size_t prompt_count;
    phi_continuation continuation;
    phi_str loop_id, parent_loop_id;
} phi__run_order;
PHI__FN phi_status phi__run_new(phi__agent *agent, const phi__run_order *order);
PHI__FN void phi__run_wake(phi__run *run);
PHI__FN void phi__run_cancel(phi__run *run);
/* The runs of an agent and of those below it; only runs that began before `at` in the inbox. after_turn: when
   their turns are over. */
PHI__FN void phi__run_cancel_tree(phi__agent *agent, uint64_t at, bool after_turn);
PHI__FN void phi__run_detach(phi__run *run);  /* nothing wakes it or is called by it any more */
PHI__FN void phi__run_destroy(phi__run *run); /* at once, without events: agent or runtime go */
PHI__FN void phi__runs_advance(phi_runtime *rt);
PHI__FN bool phi__step_spent(const phi_runtime *rt);
/* Appends a message to the log and tells it with MESSAGE_START and MESSAGE_END. */
PHI__FN bool phi__run_log(phi__run *run, const phi_message *kept);
PHI__FN bool phi__run_tell(phi__run *run, const phi_message *message, phi_input input,
                           phi_str source);
PHI__FN phi__entry phi__run_entry(const phi__run *run, phi_entry_kind kind);
PHI__FN bool phi__run_note(phi__run *run, const phi__entry *entry);
PHI__FN void phi__run_stamp(const phi__run *run, phi_message *message);
/* Ends the run because memory ran out: phi__run_over_memory returns the state to go to. */
PHI__FN phi__state phi__run_no_memory(phi__run *run);
PHI__FN phi__state phi__run_fail(phi__run *run, const phi_failure *failure, phi_status status);

/* turns.c: the states between model calls. phi__run_state is what a state leads to. */
PHI__FN phi__state phi__run_state(phi__run *run, bool *wait);
/* Where a state goes after a hook: on, back to itself, or out. */
PHI__FN phi__state phi__run_hooked(phi__run *run, phi__hooked hooked, phi__state here,
                                   phi__state next, phi__state denied, bool *wait);
PHI__FN bool phi__run_timer_set(phi__run *run, uint64_t at_us); /* wakes the run */

/* context.c: the states TRANSFORM and CONVERT, COMPACT and COMPACTED */
PHI__FN phi__state phi__run_transform(phi__run *run, bool *wait);
PHI__FN phi__state phi__run_convert(phi__run *run, bool *wait);
/* Whether the hooks have left anything that can be sent; and the list as the encoder wants it. */
PHI__FN bool phi__run_has_items(const phi__run *run);
/* After the host's translation, if there is one. PHI_NO_MEMORY, or what that said. */
PHI__FN phi_status phi__run_items(phi__run *run, const phi__item **items, size_t *count);
PHI__FN phi__state phi__run_compact(phi__run *run, bool *wait);
PHI__FN phi__state phi__run_compacted(phi__run *run, bool *wait);

/* model_call.c: the states REQUEST, SEND, STREAM and BACKOFF */
PHI__FN phi__state phi__run_request(phi__run *run, bool *wait);
PHI__FN phi__state phi__run_credential(phi__run *run, bool *wait);
PHI__FN phi__state phi__run_sign(phi__run *run);
PHI__FN phi__state phi__run_send(phi__run *run, bool *wait);
PHI__FN phi__state phi__run_stream(phi__run *run, bool *wait);
PHI__FN phi__state phi__run_backoff(phi__run *run, bool *wait);
PHI__FN void phi__run_drop_call(phi__run *run); /* lets go of the model call's resources */

/* answer.c: what becomes of an answer */
PHI__FN phi_failure phi__answer_failure(phi_failure_kind kind, bool retryable, const char *words);
PHI__FN bool phi__answer_tell_start(phi__run *run);
/* The answer is whole (failure NULL), or has failed: it is logged, tried again, or compacted for. */
PHI__FN phi__state phi__answer_end(phi__run *run, const phi_failure *failure, phi_status status);
/* Counts what an answer that will not be logged has cost so far; without one it is harmless. */
PHI__FN void phi__answer_charge_open(phi__run *run);
/* It has failed for good. failure: in the thread. */
PHI__FN phi__state phi__answer_give_up(phi__run *run, const phi_failure *failure,
                                       phi_status status);
PHI__FN phi_status phi__answer_status(const phi_failure *failure);

/* caching.c */
PHI__FN void phi__caching_sent(phi__agent *agent, const phi__ask *ask); /* will be, as it is */
PHI__FN void phi__caching_answered(phi__agent *agent, const phi_usage *usage);
PHI__FN void phi__caching_forget(phi__agent *agent); /* the messages so far are gone */

/* fields.c: values of arguments as they arrive. Those that return a bool call the host: false says that the
   agent is gone. */
/* Tells what has arrived since the last time; whole: the answer is, so every block is looked at. Memory that
   is missing shows in run->lost. */
PHI__FN bool phi__fields_tell(phi__run *run, bool whole);
PHI__FN bool phi__fields_drop(phi__run *run); /* the answer comes to nothing */
PHI__FN void phi__fields_free(phi__run *run); /* tells nobody; nothing is harmless */
PHI__FN bool
phi__fields_adopt(phi__toolcall *call); /* the answer is whole, and this is one of its calls */
PHI__FN void phi__fields_started(phi__toolcall *call); /* `start` is next */
PHI__FN bool
phi__fields_refused(phi__toolcall *call); /* it has a result; if it never was started: dropped */

/* run_tools.c: the state TOOLS */
PHI__FN const phi_tool *phi__tools_named(const phi__agent *agent, phi_str name); /* NULL: none */
PHI__FN phi__state phi__run_tools(phi__run *run, bool *wait);
PHI__FN phi__state phi__run_make_calls(phi__run *run); /* TOOLS, or TURN_END without any */
PHI__FN void phi__run_detach_tools(phi__run *run);     /* tells them; frees nothing */
PHI__FN void phi__run_drop_tools(phi__run *run);

/* posts.c: what other threads have said; a bounded number, or all that stands in the inbox now */
PHI__FN void phi__posts_read(phi_runtime *rt);
PHI__FN void phi__posts_read_all(phi_runtime *rt);
PHI__FN uint64_t phi__posts_next(const phi_runtime *rt); /* where the next post will stand */

/* responses.c */
/* Takes over what the run has come to so far. */
PHI__FN void phi__response_update(phi__response *response, const phi__run *run);
/* The run has ended: when AGENT_END is emitted. Needs no memory; a run without a response is harmless. */
PHI__FN void phi__response_close(phi__run *run);
PHI__FN void phi__response_drop(phi__response *response); /* its handle is stale */
/* All of an agent's: it is freed or reset, or its messages are replaced. */
PHI__FN void phi__responses_drop(phi__agent *agent);

/* put_off.c: as phi_agent_rewrite. */
PHI__FN phi_status phi__put_off_rewrite(phi__agent *agent, const phi_rewrite *rewrite);
PHI__FN void phi__put_off_due(phi__agent *agent); /* the run has ended: what waits is done */
PHI__FN void phi__put_off_forget(phi__agent *agent);

/* bare.c */
/* The run of an agent is over: if it was over a thread that was lent, the agent goes as well, as soon as its
   events have been popped. */
PHI__FN void phi__bare_over(phi__agent *agent);
/* Tells that what is queued for it is dropped: no run will follow. */
PHI__FN void phi__bare_drop(phi__agent *agent);
PHI__FN void phi__bare_forget(phi__agent *agent); /* it is doomed */

/* limits.c */
PHI__FN bool phi__limit_leaves(const phi__run *run, uint32_t delay_ms); /* time for a delay */
PHI__FN bool phi__limit_reached(phi__run *run, char *reason, size_t size);

/* The runtime's last error. */
PHI__FN phi_status phi__error(phi_runtime *rt, phi_status status, const char *format, ...)
    PHI_PRINTF(3, 4);

static inline phi_agent phi__agent_handle(const phi__agent *agent) {
    phi_agent handle;
    handle.rt = agent->rt;
    handle.index = agent->index;
    handle.gen = agent->gen;
    return handle;
}

#endif
