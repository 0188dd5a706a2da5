/* turn_in.h - all states of a run and their outcomes; only turn.c knows them. */
#ifndef PHI_LOOP_TURN_IN_H
#define PHI_LOOP_TURN_IN_H

#include "io/secret_in.h"
#include "loop/events_in.h"
#include "loop/run.h"
#include "loop/types_in.h"
#include "model/failure.h"
#include "model/model.h"
#include "wire/assembly_in.h"
#include "wire/codec_in.h"
#include "wire/reader_in.h"

typedef enum phi__body {
    PHI__BODY_UNKNOWN, /* the head has not come */
    PHI__BODY_STREAM,
    PHI__BODY_WHOLE,
    PHI__BODY_ERROR
} phi__body;

struct phi__transfer;

/* The state that a turn's attempts share, and the current attempt. turn.c, turn.c,
   model_call.c and provider.c touch it. */
typedef struct phi__attempt {
    /* the request */
    phi__request_spec spec;
    phi_model *keyed; /* with a key of the attempt's own, in the turn's arena; NULL: as it is */
    bool refused;     /* the key was refused, and the hook must give another */
    bool fresh;       /* that was done already */
    bool encoding;
    phi__encoder encoder;
    phi__secrets secrets;        /* that the turn's requests carried, in its arena */
    struct phi__body_hash *hash; /* of the request, in the turn's arena; NULL: not begun */
    /* the answer */
    struct phi__transfer *transfer;
    phi__reader reader; /* of the answer's body, where that is a stream */
    void *decoder;      /* zeroed state of the codec, in the arena */
    phi__buf collected; /* an answer that is not a stream: an error, or whole JSON */
    phi__body body;
    bool emitted; /* MESSAGE_START is out */
    bool alive;   /* something meaningful came with this slice of the body */
    bool lost;    /* an event found no memory */
    phi__answer *answer;
    /* how it has ended */
    const phi_failure *fault; /* in the thread; NULL: its answer is whole */
    phi_status fault_status;
    uint32_t retries; /* of this turn's call so far */
    uint32_t delay_ms;
    uint64_t retry_at_us;
} phi__attempt;

PHI__FN void phi__attempt_init(phi__run *run);

/* A turn begins, with its memory given back. */
PHI__FN void phi__attempt_clear(phi__run *run);
PHI__FN const phi__request_spec *phi__attempt_spec(const phi__run *run);
PHI__FN phi__answer *phi__attempt_answer(const phi__run *run); /* NULL: none is under way */
PHI__FN void phi__attempt_lose(phi__run *run);                 /* an event found no memory */
PHI__FN bool phi__attempt_lost(const phi__run *run);

/* It fails before it began: there is nothing to be retracted. */
PHI__FN void phi__attempt_none(phi__run *run);

/* Charges the cost so far, before the answer is discarded. Harmless without an attempt. */
PHI__FN void phi__attempt_charge(phi__run *run);
PHI__FN void phi__attempt_detach(phi__run *run); /* nothing calls the run any more */

/* Hides in a result of a tool what the turn's requests carried, and the agent's key. NULL: NULL. */
PHI__FN phi_message *phi__attempt_hide(phi__run *run, phi_message *result);
PHI__FN phi__state phi__attempt_failed(phi__run *run, const phi_failure *failure,
                                       phi_status status);

/* For good: PHI__RUN_GIVE_UP. failure: in the thread. */
PHI__FN phi__state phi__attempt_refuse(phi__run *run, const phi_failure *failure);

/* Frees an attempt that has ended, or must not continue; harmless without one. */
PHI__FN void phi__attempt_drop(phi__run *run);
PHI__FN void phi__attempt_rewind(phi__run *run); /* the turn's memory, and what points into it */

/* The delay before retry number `attempt` (from 1); random in [0, 1). */
PHI__FN uint32_t phi__attempt_end_retry_delay_ms(const phi_retry *retry, uint32_t attempt,
                                                 double random);

/* Whether this failure of a model call is to be tried again, and after how long. */
PHI__FN bool phi__attempt_end_retry_wanted(const phi_retry *retry, const phi_failure *failure,
                                           uint32_t attempt, double random, uint32_t *delay_ms);

typedef struct phi__turn {
    uint32_t index;
    bool open;    /* TURN_START is out */
    bool steered; /* its steering was looked for */
} phi__turn;

/* Each until it waits or is over, as far as the step's budget goes. */
PHI__FN void phi__states_advance_all(phi_runtime *rt);

#endif
