/* rig.h - a runtime without a network, a clock or chance: scripted answers, a manual clock, a fixed
   seed. What happened is written as lines of text, so that a test compares whole stories: a line an
   event, and a line "-> before_turn 0 (1 messages)" a hook that was called, where it was called.

   The script is a list of answers, taken one a model call. Answers are Anthropic streams; raw ones are
   any bytes. Each is pushed in pieces of `chunk` bytes whenever the clock has moved (0: all at once). */
#ifndef PHI_TESTS_SUPPORT_RIG_H
#define PHI_TESTS_SUPPORT_RIG_H

#include "model/event_parts.h"
#include "agent/agent.h"
#include "support/test.h"
#include "agent/agent_history.h"
#include "loop/hook.h"
#include "loop/run.h"
#include "loop/loop_in.h"

typedef struct rig rig;

rig *rig_new(void); /* on test_allocator(), defaults */
rig *rig_new_with(
    const phi_runtime_desc *desc); /* allocator, transport, clock, random are the rig's; a
                                                    random_fn gives the seed of that (default 1).
                                                    NULL when the runtime found no memory */
void rig_free(rig *r);
phi_runtime *rig_runtime(rig *r);

/* What an Anthropic agent of this rig's desc looks like; change it before rig_agent. It tries each
   model call once: clear retry.disable where more is meant. */
phi_agent_desc rig_desc(void);
phi_agent rig_agent(rig *r, const phi_agent_desc *desc);

/* ---- the script ---- */

void rig_says(rig *r, const char *text);                    /* one text block, stop */
void rig_calls(rig *r, const char *const *calls, size_t n); /* n times "id name {arguments}" */
void rig_call(rig *r, const char *id, const char *name, const char *arguments);
void rig_replies(rig *r, int status, const char *headers, const char *body); /* raw, then the end */
void rig_breaks(rig *r, const char *body, phi_status status,
                const char *words);          /* 200, body, broken */
void rig_hangs(rig *r, const char *body);    /* 200, body, then silence */
void rig_refuses(rig *r, phi_status status); /* open itself fails */
void rig_chunk(rig *r, size_t bytes);
void rig_greedy(rig *r); /* from now on pieces are pushed until the runtime takes no more */
/* What is sent may be anything: a history that the host has spoilt. Else each request is looked at. */
void rig_careless(rig *r);
void rig_drop_answers(rig *r); /* those that were not taken yet */
void rig_rewind(rig *r); /* forgets all answers and requests: for tests with thousands of them */
/* The mock provider: from now on the answers of rig_says and rig_calls have no usage, the ids of calls
   are mock-tool-0, mock-tool-1... in each answer (what is given as the id is not looked at), and when
   the script is exhausted the model says "(no more mock responses)". */
void rig_mock(rig *r);
/* The Anthropic stream of one text block, in a static buffer. */
const char *rig_stream_of(const char *text);

/* ---- running ---- */

/* Steps until idle or `most` steps; between two steps the clock goes on by 1 ms. Events are popped
   and told after each step, unless rig_silent. Returns the runs still going. */
int rig_run(rig *r, int most);
int rig_step(rig *r); /* one phi_step(0), then its events; the clock does not move */
/* The same for at most `ms` of the clock, which leaps to the next timer where nothing else is due:
   delays and deadlines pass in a few steps. */
int rig_run_until(rig *r, uint32_t ms);
void rig_pass_ms(rig *r, uint32_t ms);
/* The same of a host that steps each second, so that deadlines count all of it; no step at the end. */
void rig_pass_stepping_ms(rig *r, uint32_t ms);
void rig_silent(rig *r, bool silent); /* leave events in the queue */

/* The story so far, a line an event; and forgetting it. */
const char *rig_story(rig *r);
void rig_forget(rig *r);

/* fn sees every event when it is popped, before it is told; NULL: nobody. */
void rig_watch(rig *r, void (*fn)(void *user_data, const phi_event *event), void *user_data);

/* ---- hooks ---- */

/* Has the recorder called at these points: it writes the story and answers as scripted. */
void rig_hooks(rig *r, phi_agent_desc *desc, uint32_t points);
phi_filter rig_filter(rig *r); /* the recorder as a filter; PHI_HOOK_FILTER is its point */

/* What the recorder answers at a point, one a call, in order; afterwards PHI_ALLOW. reply: copied;
   NULL: none. */
void rig_answers(rig *r, phi_hook_point point, phi_verdict verdict, const char *reply);
/* Where nothing is scripted, fn answers; NULL: PHI_ALLOW. */
void rig_hook_with(rig *r, phi_hook_fn fn, void *user_data);
/* The ticket of the i-th question, from 0, that was answered with PHI_WAIT. */
phi_ticket rig_ticket(rig *r, size_t i);
const char *rig_point_name(int point); /* "before_turn"... */

/* ---- tools ---- */

phi_tool rig_echo(void); /* "echo": answers at once, with its arguments */
/* "wait": stays pending until rig_finish; call i is the i-th that was started, from 0. */
phi_tool rig_wait(rig *r);
size_t rig_started(const rig *r);
size_t rig_cancelled(const rig *r); /* how often its `cancel` was called */
phi_call rig_call_at(const rig *r, size_t i);
void rig_finish(rig *r, size_t i, const char *text); /* by phi_call_reply, checked */

/* The body of request i, terminated; NULL when there was none. And how many there were. */
const char *rig_request(rig *r, size_t i);
const char *rig_key(rig *r, size_t i); /* that it was sent with; "": none */
size_t rig_requests(rig *r);
size_t rig_open_transfers(rig *r); /* opened, neither ended nor cancelled */

#endif
