/* loop_in.h - the structures of the pump: the runtime, its agents, their runs, transfers and calls.

   The runtime owns everything. An agent's run exists from prompt to AGENT_END; it is advanced a slice
   at a time from the runtime's ready list, and leaves the list when it waits. Whoever ends a wait (a
   push, a result, a timer, a cancel) puts it back with phi__run_wake.
   Callbacks into the host happen in three places only: a tool's start, step and cancel. During a step,
   an agent that is freed is taken out of every table at once and destroyed when the step ends.
   Threads: the pumping thread, but for the words of slots and the inbox. */
#ifndef PHI_LOOP_LOOP_IN_H
#define PHI_LOOP_LOOP_IN_H

#include "base/id_in.h"
#include "base/slots_in.h"
#include "io/http_in.h"
#include "io/inbox_in.h"
#include "loop/run.h"
#include "loop/tool.h"
#include "text/sse_in.h"
#include "thread/thread_in.h"

typedef struct phi__agent phi__agent;
typedef struct phi__run phi__run;
typedef struct phi__toolcall phi__toolcall;

/* ---- events ---- */

/* One answer while it streams and, as `final`, in the thread; kept while events refer to it. */
typedef struct phi__answer {
    phi_memory *memory;
    uint32_t refs;
    bool live; /* the assembly is in use; else `final` has taken its place */
    phi__assembly assembly;
    const phi_message *final;
    phi_message start; /* what MESSAGE_START shows: who, and nothing said yet */
    phi_message view;  /* of the assembly, remade at a pop */
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
    phi_message *result;                  /* in the thread's arena, not yet appended */
    bool started, ended;                  /* ended: TOOL_END was emitted */
    phi__toolcall *poll_next, *poll_prev; /* calls whose step is called */
    bool polled;
    uint32_t poll_round; /* in which its step was called last */
};

/* ---- runs ---- */

typedef enum phi__state {
    PHI__RUN_OPEN = 1,
    PHI__RUN_TURN,
    PHI__RUN_REQUEST,
    PHI__RUN_STREAM,
    PHI__RUN_TOOLS,
    PHI__RUN_TURN_END,
    PHI__RUN_CLOSE,
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
    phi__run *next_ready;
    bool in_ready, cancelled, over;
    phi_arena arena;     /* the turn's: the request, tool calls */
    phi_str loop_id;     /* in the thread */
    uint32_t posts_from; /* of the inbox: an abort posted before meant an earlier run */
    uint32_t turn_index;
    bool turn_open;
    uint64_t started_us;
    size_t first_message; /* of the run, in the thread's messages */
    size_t told_messages; /* prompts whose events are out */
    phi_usage usage, turn_usage;
    double cost;
    phi_status status;
    const phi_failure *failure; /* in the thread, or static */
    /* the model call */
    phi__ask ask;
    phi__encoder encoder;
    bool encoding;
    phi__xfer *transfer;
    phi__sse sse;
    void *decoder;      /* zeroed state of the codec, in the arena */
    phi__buf collected; /* an answer that is not a stream: an error, or whole JSON */
    phi__body body;
    bool answer_told; /* MESSAGE_START is out */
    bool alive;       /* something meaningful came since this was cleared */
    bool lost;        /* an event found no memory */
    phi__answer *answer;
    const phi_message *reply; /* the answer in the thread */
    /* its tools */
    phi__toolcall *calls;
    size_t call_count, next_call, told_calls, running_calls;
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
    phi_arena model_arena; /* the model's strings, and the segment */
    phi_model model;
    const phi__codec *codec;
    phi_str system_prompt;
    phi_str agent_id, session_id;      /* each in memory of its own */
    phi_str segment;                   /* of loop ids: provider.model[.thinking] */
    bool segment_given;                /* by the desc: it stays when the model changes */
    char session_made[PHI__UUID_SIZE]; /* session_id after a reset, which needs no memory */
    phi_tool *tools;
    phi__tool_view *tool_views;
    size_t tool_count;
    phi_tool_mode tool_mode;
    uint32_t tool_batch;
    phi_tool_choice tool_choice;
    phi_thinking thinking;
    uint32_t max_tokens;
    double temperature; /* negative: not sent */
    bool disable_cache;
    phi_limits limits;
    phi_deadlines deadlines;
    size_t event_queue_bytes, max_event_bytes;
    uint64_t max_response_bytes;
    void *user_data;
    phi__thread thread;
    phi__run *run;
    uint32_t loops; /* runs so far: N of the loop id */
    phi_usage usage;
    double cost;
    size_t queued_bytes;          /* of its events that were not popped */
    phi__record *oldest, *newest; /* of its events, those popped too */
    phi__record reserve[PHI__RESERVE];
    phi_failure no_memory; /* a failure that needs none */
};

/* ---- the runtime ---- */

enum { PHI__POST_FINISH = 1, PHI__POST_ABORT };

struct phi_runtime {
    phi_memory memory;
    phi__io *io;
    phi__http *http;
    const phi_transport *transport;
    phi__slots agents, calls, transfers;
    phi__inbox inbox;
    phi__events events;
    phi__run *ready, *ready_last;
    phi__toolcall *polled; /* a ring; where the next step begins */
    size_t polled_count;
    uint32_t poll_round;
    phi__agent *doomed;
    uint32_t active; /* runs going */
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
PHI__FN bool phi__call_open(phi__toolcall *call); /* its handle; false: no memory */
PHI__FN void phi__call_start(phi__toolcall *call);
PHI__FN void phi__call_fail(phi__toolcall *call,
                            const char *text); /* an error result, if none yet */
PHI__FN void phi__call_cancel(phi__toolcall *call, const char *text); /* tells the tool, too */
/* Lets go of a call that will have no result: tells the tool, and its handle dies. Its own memory stays
   until dispose, for a tool that is running just now. */
PHI__FN void phi__call_detach(phi__toolcall *call);
PHI__FN void phi__call_dispose(phi__toolcall *call);
PHI__FN void phi__call_posted(phi_runtime *rt, const phi__post *post);
PHI__FN void phi__calls_poll(phi_runtime *rt);

/* run.c */
PHI__FN phi_status phi__run_new(phi__agent *agent, const phi_message *prompt);
PHI__FN void phi__run_wake(phi__run *run);
PHI__FN void phi__run_cancel(phi__run *run);
PHI__FN void phi__run_detach(phi__run *run);  /* nothing wakes it or is called by it any more */
PHI__FN void phi__run_destroy(phi__run *run); /* at once, without events: agent or runtime go */
PHI__FN void phi__runs_advance(phi_runtime *rt);
PHI__FN bool phi__step_spent(const phi_runtime *rt);
/* Appends a message to the log and tells it with MESSAGE_START and MESSAGE_END. */
PHI__FN bool phi__run_log(phi__run *run, const phi_message *kept);
PHI__FN bool phi__run_tell(phi__run *run, const phi_message *message);
PHI__FN void phi__run_stamp(const phi__run *run, phi_message *message);
/* Ends the run because memory ran out: phi__run_over_memory returns the state to go to. */
PHI__FN phi__state phi__run_no_memory(phi__run *run);
PHI__FN phi__state phi__run_fail(phi__run *run, const phi_failure *failure, phi_status status);

/* model_call.c: the states REQUEST and STREAM */
PHI__FN phi__state phi__run_request(phi__run *run, bool *wait);
PHI__FN phi__state phi__run_stream(phi__run *run, bool *wait);
PHI__FN void phi__run_drop_call(phi__run *run); /* lets go of the model call's resources */

/* run_tools.c: the state TOOLS */
PHI__FN phi__state phi__run_tools(phi__run *run, bool *wait);
PHI__FN phi__state phi__run_make_calls(phi__run *run); /* TOOLS, or TURN_END without any */
PHI__FN void phi__run_detach_tools(phi__run *run);     /* tells them; frees nothing */
PHI__FN void phi__run_drop_tools(phi__run *run);

/* limits.c */
PHI__FN bool phi__limit_reached(const phi__run *run, char *reason, size_t size);

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
