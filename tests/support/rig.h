/* rig.h - a runtime without a network, a clock or chance: scripted answers, a manual clock, a fixed
   seed. What happened is written as lines of text, so that a test compares whole stories.

   The script is a list of answers, taken one a model call. Answers are Anthropic streams; raw ones are
   any bytes. Each is pushed in pieces of `chunk` bytes whenever the clock has moved (0: all at once). */
#ifndef PHI_TESTS_SUPPORT_RIG_H
#define PHI_TESTS_SUPPORT_RIG_H

#include "agent/agent.h"
#include "support/test.h"

typedef struct rig rig;

rig *rig_new(void); /* on test_allocator(), defaults */
rig *rig_new_with(
    const phi_runtime_desc *desc); /* allocator, transport, clock, random are the rig's;
                                                    NULL when the runtime found no memory */
void rig_free(rig *r);
phi_runtime *rig_runtime(rig *r);

/* What an Anthropic agent of this rig's desc looks like; change it before rig_agent. */
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
/* The Anthropic stream of one text block, in a static buffer. */
const char *rig_stream_of(const char *text);

/* ---- running ---- */

/* Steps until idle or `most` steps; between two steps the clock goes on by 1 ms. Events are popped
   and told after each step, unless rig_silent. Returns the runs still going. */
int rig_run(rig *r, int most);
int rig_step(rig *r); /* one phi_step(0), then its events; the clock does not move */
void rig_pass_ms(rig *r, uint32_t ms);
void rig_silent(rig *r, bool silent); /* leave events in the queue */

/* The story so far, a line an event; and forgetting it. */
const char *rig_story(rig *r);
void rig_forget(rig *r);

/* The body of request i, terminated; NULL when there was none. And how many there were. */
const char *rig_request(rig *r, size_t i);
size_t rig_requests(rig *r);
size_t rig_open_transfers(rig *r); /* opened, neither ended nor cancelled */

#endif
