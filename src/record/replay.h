/* replay.h - records a run to a tape, and plays it again without a network: the same log, byte for
   byte.

       FILE *file = fopen("run.tape", "wb");
       phi_tape_desc desc = PHI_ZERO;
       desc.write_fn = write_to;            // fwrite(bytes, 1, len, user_data)
       desc.user_data = file;
       runtime_desc.tape = phi_tape_record(&desc);      // or phi_tape_play(&desc, text, ...)
       phi_runtime *rt = phi_runtime_new(&runtime_desc);
       ... agents, prompts, steps, as always ...
       phi_runtime_free(rt);
       phi_tape_end(runtime_desc.tape, NULL);
       phi_tape_free(runtime_desc.tape);

   The tape holds all input from outside of the program: the transport's data, the time, the random
   seed (for ids and delays), and the results and updates of tools. It does not hold the host's
   actions (prompts, steering, aborts, decisions, hooks): the program that plays the tape does them
   again, at the same steps, or as an answer to the same events. Each request is compared with the
   recorded one: method, URL, headers, and a hash of the body.

   With a tape, a step processes all input that it let in, and its clock stops meanwhile; its
   budgets only divide the work. So another step_budget_bytes gives the same log.
   Threads: the pumping thread. */
#ifndef PHI_RECORD_REPLAY_H
#define PHI_RECORD_REPLAY_H

#include "agent/runtime.h"
#include "log/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default for every field. Pointers are borrowed until phi_tape_free. */
typedef struct phi_tape_desc {
    phi_allocator allocator; /* copied (default: the C library's) */
    /* Recording: takes a part of the tape, whole lines; inside phi_step, and in phi_tape_end. Not
       PHI_OK: the recording ends there, with this status; the run continues. */
    phi_status (*write_fn)(void *user_data, const char *bytes, size_t len);
    /* Playing: whether the tool is run again, and its result compared with the recorded one; else
       it is not called, and the recorded result counts (default: no tool is run). */
    bool (*runs_fn)(void *user_data, phi_str tool_name);
    void *user_data; /* of both */
    /* Recording: texts of at least 8 bytes that must not appear on the tape; NULL-ended. Keys and
       tokens in headers and URLs are found by themselves (default: none) */
    const char *const *secrets;
    bool whole_bodies; /* recording: the requests' bodies, not only their hashes */
    /* Playing: how long, in real time, a run waits for the host to repeat a recorded action; then
       it diverges (default 60,000; PHI_UNLIMITED) */
    uint32_t host_wait_ms;
} phi_tape_desc;

/* The first place where a played run differs from the recorded one. Strings are the tape's. */
typedef struct phi_tape_divergence {
    uint64_t line; /* of the tape, from 1 */
    uint64_t step; /* of those in which something came in, from 1 */
    phi_str what;  /* "request 2: the body" ... */
    phi_str recorded, actual;
} phi_tape_divergence;

/* Makes a tape to record on, or to play. `text` is a whole tape, borrowed until phi_tape_free; a
   tape cut off in its last line is played up to there. NULL: no memory, write_fn is missing, or the
   text is no tape: `error`, where given, names the line and the fault.
   It goes into phi_runtime_desc.tape, of one runtime in its life. */
PHI_API phi_tape *phi_tape_record(const phi_tape_desc *desc);
PHI_API phi_tape *phi_tape_play(const phi_tape_desc *desc, phi_str text, phi_parse_error *error);

/* Recording: writes the last line. Playing: checks that everything was played. Before or after
   phi_runtime_free; twice is harmless. PHI_OK; PHI_NO_MEMORY, or write_fn's status: the tape ends
   early. Playing: PHI_REFUSED: the run differs from the recorded one, and *divergence, where given,
   says where. After a divergence every transfer of the run fails, calls that wait for a recorded
   result get an error, and the clock leaps from timer to timer: the run ends; PHI_PARSE: the tape
   was cut off, and everything before was played. */
PHI_API phi_status phi_tape_end(phi_tape *tape, phi_tape_divergence *divergence);

/* After phi_runtime_free. NULL is harmless. */
PHI_API void phi_tape_free(phi_tape *tape);

/* A hash of the whole log: entries in order, with times and ids. Equal on every machine. 0: evicted
   entries could not be recalled. */
PHI_API uint64_t phi_thread_hash(const phi_thread *thread);

#ifdef __cplusplus
}
inline phi_tape *phi_tape_record(const phi_tape_desc &desc) { return phi_tape_record(&desc); }
inline phi_tape *phi_tape_play(const phi_tape_desc &desc, phi_str text, phi_parse_error *error) {
    return phi_tape_play(&desc, text, error);
}
#endif
#endif
