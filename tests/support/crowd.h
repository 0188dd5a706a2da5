/* crowd.h - agents on a real runtime over a real network, and what the host saw of each run.

   Every event is checked as it comes: the order that the events promise, partial texts, one
   result a call, nothing after AGENT_END. After each run the history is checked: every call of a
   whole answer has exactly one result. A crowd may hold one agent or a hundred. */
#ifndef PHI_TESTS_SUPPORT_CROWD_H
#define PHI_TESTS_SUPPORT_CROWD_H

#include "agent/agent.h"
#include "support/test.h"
#include "model/failure.h"
#include "loop/loop_in.h"

enum { CROWD_MOST = 128, CROWD_CALLS = 32, CROWD_RETRIES = 8 };

typedef struct crowd crowd;

/* An agent and what came of its last run. Texts are terminated and never NULL. */
typedef struct seen {
    crowd *of;
    phi_agent agent;
    const char *name;      /* shown when a check fails */
    bool running;          /* AGENT_END has not come */
    bool broken;           /* the events broke a promise; it was said */
    char *text, *thinking; /* all of the run's deltas, but those that were retracted */
    size_t text_len, thinking_len, argument_bytes;
    int events[64];       /* of each kind */
    phi_status status;    /* AGENT_END's */
    size_t message_count; /* AGENT_END's */
    phi_usage usage;
    /* the ERROR event */
    phi_failure failure; /* strings are in failure_text and code */
    phi_status error_status;
    char failure_text[2048], code[128];
    /* RETRY events */
    int retries;
    uint32_t delays[CROWD_RETRIES];
    phi_failure_kind retry_kinds[CROWD_RETRIES];
    char retry_text[600]; /* the last one's */
    /* tools */
    char *result; /* the last result's text */
    bool is_error;
    int most_at_once; /* calls that ran at a time */
    /* what the checks remember */
    bool in_turn, in_message, in_answer, in_compaction, lost;
    size_t text_before, thinking_before; /* the answer that streams */
    char *partial;                       /* of the block that streams */
    uint32_t block;
    size_t partial_len;
    char calls[CROWD_CALLS][80]; /* ids of the calls that run */
    int call_count;
    /* called after each event, where it is set: to abort in mid-stream, for instance */
    void (*on_event)(struct seen *s, const phi_event *event);
} seen;

/* A runtime on test_allocator(); desc may be NULL. */
crowd *crowd_new(const phi_runtime_desc *desc);
/* Closes the runtime with the pump, as a host should, and frees it. */
void crowd_free(crowd *c);
phi_runtime *crowd_runtime(crowd *c);

/* An agent; NULL, and a failed check, when it could not be made. */
seen *crowd_add(crowd *c, const phi_agent_desc *desc, const char *name);

/* Forgets the last run and starts one. */
bool crowd_prompt(seen *s, const char *text);
/* One step that waits up to `ms`, and all its events. Returns the runs that go. */
int crowd_step(crowd *c, int ms);
/* Until nothing runs; false, and a failed check, after `seconds`. */
bool crowd_run(crowd *c, int seconds);
/* Prompts, runs, checks the history. */
bool crowd_ask(seen *s, const char *text);
/* Leaves events in the queue. */
void crowd_silent(crowd *c, bool silent);

/* That every call of the history has one result, and the text of message i: all its blocks. */
bool crowd_history_holds(const seen *s);
void crowd_message_text(const seen *s, size_t i, char *out, size_t size);

#endif
