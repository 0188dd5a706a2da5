/* machine.h - the machine of a reasoning strategy, which receives events and adds commands.

   A machine plans the model calls that answer one prompt. It does no I/O, reads no clock and calls
   no phi_ function of agents. Its events are the prompt and the answers of its calls. Its commands
   make a model call, report progress or end the run. phi_strategy_provider drives the machine of an
   agent, and a test can drive one with a loop of a few lines. phi's own machines are in cot.h,
   aot.h, tot.h, got.h, trm.h and adaptive.h. examples/custom_strategy.c has a host's own machine.
   Threads: the pumping thread, inside phi_step. */
#ifndef PHI_ORCHESTRATE_MACHINE_H
#define PHI_ORCHESTRATE_MACHINE_H

#include "model/failure.h"
#include "model/message.h"
#include "text/json.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PHI_STRATEGY_COMMANDS 16u /* max. commands for one event */

/* A thought: a node of a search, or a draft. Strings belong to the machine. */
typedef struct phi_strategy_node {
    uint32_t id;     /* from 1, in the order of creation; 0 is the problem itself */
    uint32_t parent; /* id of the parent node */
    uint32_t depth;  /* distance from the problem, from 1 */
    phi_str content;
    bool has_score;
    double score;    /* 0 to 1 */
    phi_str problem; /* the prompt */
} phi_strategy_node;

/* A model call. Zero means default. Strings and arrays are borrowed until `on` returns. */
typedef struct phi_strategy_call {
    uint32_t id;           /* repeated in the answer event; differs from the ids of pending calls */
    phi_str system_prompt; /* appended to the agent's system prompt (default: nothing) */
    phi_str prompt;        /* one user message */
    /* Also sends the conversation before the prompt. If `prompt` is NULL, sends the user's prompt
       as written, with its images. Without a system_prompt, the answer has the format of the run */
    bool in_conversation;
    bool tools; /* the model may call the agent's tools before it answers */
    /* Most tool rounds. A further round is not run and fails the call with PHI_LIMIT (default 3) */
    uint32_t max_tool_rounds;
    uint32_t max_tokens;  /* output tokens (default: the agent's) */
    bool has_temperature; /* send `temperature` (default: the agent's) */
    double temperature;
    /* Timeout of the call including its tools (default: phi_strategy_desc.call_timeout_ms) */
    uint32_t timeout_ms;
} phi_strategy_call;

typedef enum phi_strategy_command_kind {
    PHI_STRATEGY_ASK = 1, /* make the model call in `call` */
    PHI_STRATEGY_EMIT,    /* emit PHI_EV_STRATEGY with `phase` and the machine's best */
    PHI_STRATEGY_DONE,    /* end the run with the answer in `text`, and with `result` */
    /* End the run with the error message in `text`, `status` and `result` */
    PHI_STRATEGY_FAIL
} phi_strategy_command_kind;

/* A command of a machine. Strings are borrowed until `on` returns. */
typedef struct phi_strategy_command {
    phi_strategy_command_kind kind;
    phi_strategy_call call;
    phi_str phase;     /* one word, such as "generating" */
    phi_str text;      /* the answer, or the error message */
    phi_str result;    /* JSON object with the details of the run */
    phi_status status; /* for FAIL (default PHI_REFUSED) */
    /* For DONE: why the model ended the answer, LENGTH or GUARD_RAIL (default STOP) */
    phi_stop_reason stop_reason;
} phi_strategy_command;

typedef struct phi_strategy_commands {
    phi_strategy_command at[PHI_STRATEGY_COMMANDS];
    size_t count;
} phi_strategy_commands;

typedef enum phi_strategy_event_kind {
    PHI_STRATEGY_BEGIN = 1, /* first event of a new machine; `text` is the prompt */
    PHI_STRATEGY_ANSWER, /* a call succeeded; sets call_id, text, usage, tool_rounds, stop_reason */
    /* A call failed. Sets call_id, status, message, tool_rounds and usage. `text` is the partial
       answer, or the last earlier text of the same call. PHI_LIMIT with tool_rounds above the
       call's limit means that the model wanted more tools, which were not run */
    PHI_STRATEGY_FAILED,
    /* The machine must end with its best answer so far, because no model call is left or
       phi_strategy_settle was called. `text` is the partial answer of the oldest pending call. No
       answers follow */
    PHI_STRATEGY_STOP
} phi_strategy_event_kind;

/* An event for a machine. Strings are borrowed until `on` returns. If call_id names no pending
   call, the machine must ignore the event and add no command. */
typedef struct phi_strategy_event {
    phi_strategy_event_kind kind;
    uint32_t call_id;
    phi_str text;
    phi_usage usage;
    uint32_t tool_rounds;
    phi_stop_reason stop_reason;
    phi_status status;
    phi_str message; /* the error message of a failed call */
} phi_strategy_event;

/* The environment of a machine. */
typedef struct phi_strategy_env {
    const void *options; /* phi_strategy_desc.options; NULL means all defaults */
    uint64_t elapsed_ms; /* time since the prompt; survives snapshots */
    uint32_t calls_left; /* remaining model calls; PHI_UNLIMITED: no limit */
    bool has_tools;      /* calls may use the tools of the run */
    phi_arena *arena;    /* lives as long as the machine */
    phi_arena *scratch;  /* valid until `on` returns */
    /* The host's phi_strategy_desc.prune_fn. True rejects this thought. May be NULL */
    bool (*prune_fn)(void *user_data, const phi_strategy_node *node);
    void *user_data; /* for prune_fn */
} phi_strategy_env;

/* The worst case of a strategy's cost. */
typedef struct phi_strategy_bill {
    uint64_t calls; /* model calls including tool rounds and repairs */
    /* Estimate for all calls: the machine's own texts, the prompt, and answers sent back */
    uint64_t input_tokens;
    uint64_t output_tokens;   /* 0: calls times the agent's max_tokens */
    uint64_t in_conversation; /* calls whose input includes the conversation */
} phi_strategy_bill;

/* The best answer so far. Strings belong to the machine. */
typedef struct phi_strategy_best {
    phi_str text; /* empty if there is no answer yet */
    bool has_score;
    double score;    /* 0 to 1 */
    uint32_t nodes;  /* thoughts so far; 0 if the strategy has none */
    bool unfinished; /* only a step towards an answer */
} phi_strategy_best;

/* The functions of a kind of machine. All but `choose` must be set. The struct must outlive all
   agents that use it. */
typedef struct phi_strategy {
    const char *name; /* name such as "tot"; [a-z0-9_-], at most 31 bytes */
    /* Bytes of a machine's state. phi zeroes the state before BEGIN and before `load`, and frees it
       without calling a function. */
    size_t state_bytes;
    /* Sets *out to the worst case for these options, if the prompt has prompt_tokens tokens and
       each answer has answer_tokens. */
    void (*bill)(const void *options, uint64_t prompt_tokens, uint64_t answer_tokens,
                 phi_strategy_bill *out);
    /* Handles an event and adds commands. After BEGIN a call must be pending until the machine is
       done or has failed. Any status but PHI_OK ends the run as PHI_STRATEGY_FAIL does. Return
       PHI_NO_MEMORY if an arena is out of memory. */
    phi_status (*on)(void *state, const phi_strategy_event *event, const phi_strategy_env *env,
                     phi_strategy_commands *out);
    /* Sets *out to the best answer so far. May be called at any time. The score never falls, except
       when a finished thought replaces an unfinished one. */
    void (*best)(const void *state, phi_strategy_best *out);
    /* Returns the machine as JSON, in the arena. NULL: no memory. */
    phi_json *(*save)(const void *state, phi_arena *arena);
    /* Fills a zeroed machine from the JSON of `save`, and copies its strings into env->arena. Adds
       a command for each call that was pending, with the same id. PHI_PARSE: the JSON is not from a
       machine of this kind. */
    phi_status (*load)(void *state, const phi_json *saved, const phi_strategy_env *env,
                       phi_strategy_commands *out);
    /* Returns the machine that handles the prompt in place of this one, and sets *out to the
       options of that machine. The `bill` of that machine then also estimates the cost of the
       prompt. If `choose` is NULL, this machine handles every prompt. */
    const struct phi_strategy *(*choose)(const void *options, phi_str prompt, bool has_tools,
                                         const void **out);
} phi_strategy;

/* Adds a zeroed command of this kind. NULL if there are PHI_STRATEGY_COMMANDS commands. */
PHI_API phi_strategy_command *phi_strategy_add(phi_strategy_commands *commands,
                                               phi_strategy_command_kind kind);

#ifdef __cplusplus
}
#endif
#endif
