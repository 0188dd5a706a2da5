/* anthropic_in.h - the Anthropic Messages codec and its two halves. */
#ifndef PHI_WIRE_ANTHROPIC_IN_H
#define PHI_WIRE_ANTHROPIC_IN_H

#include "wire/claude_in.h"
#include "wire/codec_in.h"
#include "wire/repeat_in.h"

PHI__FN const phi__codec *phi__anthropic_codec(void);

/* What is asked of a Claude model, resolved once; also of one that others resell. */
typedef struct phi__anthropic_plan {
    phi__claude claude;
    bool adaptive, thinks;
    uint32_t max_tokens, budget;
} phi__anthropic_plan;

PHI__FN phi__anthropic_plan phi__anthropic_plan_of(const phi__ask *ask);
/* The same for this very request: with a budget the API wants the message whose calls were just answered to
   begin with thinking, and where that message has none, this one answer is asked for without. */
PHI__FN phi__anthropic_plan phi__anthropic_plan_now(const phi__encoder *e);
/* ,"thinking":{...} and ,"output_config":{...} into the scratch buffer, as far as they are needed; with_format:
   the answer's format is said there too. */
PHI__FN void phi__anthropic_put_thinking(phi__encoder *e, const phi__anthropic_plan *p);
PHI__FN void phi__anthropic_put_config(phi__encoder *e, const phi__anthropic_plan *p,
                                       bool with_format);

/* The stream half; the state is zeroed memory. */
typedef struct phi__anthropic_state {
    bool got_stop; /* a message_delta brought a stop reason */
    bool broken;   /* the last event was no JSON: an error, unless the stream ends with it */
    bool heard;    /* an event came */
    phi__repeat repeat;
} phi__anthropic_state;

PHI__FN void phi__anthropic_event(void *state, phi__assembly *a, phi_str name, phi_str data);
PHI__FN void phi__anthropic_end(void *state, phi__assembly *a);
PHI__FN void phi__anthropic_whole(void *state, phi__assembly *a, phi_str body);

#endif
