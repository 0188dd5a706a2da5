/* machine.h - the machine of a reasoning strategy: event in, commands out.

   A machine plans the model calls that answer one prompt. It does no I/O, reads no clock and calls
   no phi_ function of agents: it gets events (the prompt, the answer of a call) and adds commands
   (ask the model, report progress, be done). phi_strategy_provider drives it; a test drives it with
   a loop of a few lines. phi's own machines are in cot.h, aot.h, tot.h, got.h, trm.h and
   adaptive.h; a host writes its own as examples/custom_strategy.c does.
   Threads: the pumping thread, inside phi_step. */
#ifndef PHI_ORCHESTRATE_MACHINE_H
#define PHI_ORCHESTRATE_MACHINE_H

#include "model/failure.h"
#include "model/message.h"
#include "text/json.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PHI_STRATEGY_COMMANDS 16u /* that one event may add, at most */

/* A thought: a node of a search, or a draft. Strings are the machine's. */
typedef struct phi_strategy_node {
    uint32_t id;     /* from 1, in the order of their making; 0: the problem itself */
    uint32_t parent; /* its id */
    uint32_t depth;  /* from 1 */
    phi_str content;
    bool has_score;
    double score;    /* 0 to 1 */
    phi_str problem; /* the prompt */
} phi_strategy_node;

/* A model call. Zero means default. Strings and arrays are borrowed until `on` returns. */
typedef struct phi_strategy_call {
    uint32_t id;           /* comes back with the answer; not that of a call under way */
    phi_str system_prompt; /* the agent's system prompt goes before it (default: that alone) */
    phi_str prompt;        /* one user message */
    /* the conversation before the prompt is sent as well; with `prompt` at NULL the prompt is sent
       as the user wrote it, with its images. Without a system_prompt, the answer has the format of
       the run */
    bool in_conversation;
    bool tools; /* the agent's tools may be called: the answer comes after their results */
    /* rounds of tools at most: one more is not run, and is an error of PHI_LIMIT (default 3) */
    uint32_t max_tool_rounds;
    uint32_t max_tokens;  /* output tokens (default: the agent's) */
    bool has_temperature; /* send `temperature` (default: the agent's) */
    double temperature;
    uint32_t timeout_ms; /* of the call, its tools included (default: none) */
} phi_strategy_call;

typedef enum phi_strategy_command_kind {
    PHI_STRATEGY_ASK = 1, /* call: make this model call */
    PHI_STRATEGY_EMIT,    /* phase: emit PHI_EV_STRATEGY with the machine's best */
    PHI_STRATEGY_DONE,    /* text, result: the answer. Nothing comes after it */
    /* text: an error message; status; result. Nothing comes after it */
    PHI_STRATEGY_FAIL
} phi_strategy_command_kind;

/* Strings are borrowed until `on` returns. */
typedef struct phi_strategy_command {
    phi_strategy_command_kind kind;
    phi_strategy_call call;
    phi_str phase;     /* one word: "generating", "evaluating"... */
    phi_str text;      /* the answer, or the error message */
    phi_str result;    /* JSON text: an object with all there is to know */
    phi_status status; /* FAIL (default PHI_REFUSED) */
    /* DONE: why the model ended the answer, LENGTH or GUARD_RAIL (default STOP) */
    phi_stop_reason stop_reason;
} phi_strategy_command;

typedef struct phi_strategy_commands {
    phi_strategy_command at[PHI_STRATEGY_COMMANDS];
    size_t count;
} phi_strategy_commands;

typedef enum phi_strategy_event_kind {
    PHI_STRATEGY_BEGIN = 1, /* text: the prompt. The first event, unless the machine was loaded */
    PHI_STRATEGY_ANSWER,    /* call_id, text, usage, tool_rounds, stop_reason */
    /* call_id, text: as far as the answer came, or an earlier one's that has a text; status,
       message, tool_rounds. PHI_LIMIT with tool_rounds beyond the call's: the model wants more
       tools than it may call. Those were not run */
    PHI_STRATEGY_FAILED,
    /* end with the best so far: no model call is left (max_calls), or phi_strategy_settle was
       called. text: of the oldest call under way, as far as it came. Answers come no more */
    PHI_STRATEGY_STOP
} phi_strategy_event_kind;

/* Strings are borrowed until `on` returns. An event whose call_id is not that of a call under way
   must be ignored: no command, no change. */
typedef struct phi_strategy_event {
    phi_strategy_event_kind kind;
    uint32_t call_id;
    phi_str text;
    phi_usage usage;
    uint32_t tool_rounds;
    phi_stop_reason stop_reason;
    phi_status status;
    phi_str message; /* of a failure */
} phi_strategy_event;

/* The surroundings of a machine. */
typedef struct phi_strategy_env {
    const void *options; /* phi_strategy_desc.options; NULL: all defaults */
    uint64_t elapsed_ms; /* since the prompt; kept by a snapshot */
    uint32_t calls_left; /* model calls that may yet be made; PHI_UNLIMITED */
    bool has_tools;      /* the run has tools, which a call may use */
    phi_arena *arena;    /* as long-lived as the machine */
    phi_arena *scratch;  /* until `on` returns */
    /* the host's: true leaves this thought out; NULL: none is */
    bool (*prune_fn)(void *user_data, const phi_strategy_node *node);
    void *user_data; /* for prune_fn */
} phi_strategy_env;

/* The worst case. */
typedef struct phi_strategy_bill {
    uint64_t calls; /* model calls, with rounds of tools and repairs */
    /* over all calls, by estimate: texts of the machine's own, the prompt, answers sent back */
    uint64_t input_tokens;
    uint64_t output_tokens;   /* 0: calls times the agent's max_tokens */
    uint64_t in_conversation; /* calls whose input is the conversation, too */
} phi_strategy_bill;

/* The best so far. Strings are the machine's. */
typedef struct phi_strategy_best {
    phi_str text; /* empty: nothing yet */
    bool has_score;
    double score;    /* 0 to 1 */
    uint32_t nodes;  /* thoughts so far; 0: the strategy has none */
    bool unfinished; /* a part of the way to an answer */
} phi_strategy_best;

/* A kind of machine. All functions but `choose` are set. Borrowed until each agent that has it is
   freed. */
typedef struct phi_strategy {
    const char *name;   /* "tot"; [a-z0-9_-], at most 31 bytes */
    size_t state_bytes; /* of a machine: zeroed before BEGIN and load, freed without notice */
    /* The worst case with these options, for a prompt and answers of so many tokens. */
    void (*bill)(const void *options, uint64_t prompt_tokens, uint64_t answer_tokens,
                 phi_strategy_bill *out);
    /* Takes an event and adds commands. After BEGIN, as long as it is neither done nor failed, a
       call is under way. Not PHI_OK: the machine is over, as with PHI_STRATEGY_FAIL; PHI_NO_MEMORY
       is for an arena that gave none. */
    phi_status (*on)(void *state, const phi_strategy_event *event, const phi_strategy_env *env,
                     phi_strategy_commands *out);
    /* The best so far, at any time. Its score never falls, but once it may when a finished thought
       takes the place of an unfinished one. */
    void (*best)(const void *state, phi_strategy_best *out);
    /* The machine as JSON, in the arena; NULL: no memory. */
    phi_json *(*save)(const void *state, phi_arena *arena);
    /* Fills a zeroed machine from what save wrote; all strings copied into env->arena. Calls that
       were under way are made again: each is added to `out`, with its id. PHI_PARSE: no machine of
       this kind. */
    phi_status (*load)(void *state, const phi_json *saved, const phi_strategy_env *env,
                       phi_strategy_commands *out);
    /* The machine that this one hands such a prompt to, and its options: the bill of the prompt is
       then that machine's. NULL: it hands on none. */
    const struct phi_strategy *(*choose)(const void *options, phi_str prompt, bool has_tools,
                                         const void **out);
} phi_strategy;

/* Adds a zeroed command of that kind; NULL when there are PHI_STRATEGY_COMMANDS of them. */
PHI_API phi_strategy_command *phi_strategy_add(phi_strategy_commands *commands,
                                               phi_strategy_command_kind kind);

#ifdef __cplusplus
}
#endif
#endif
