/* replay.h - records a run to a tape, and replays it without a network, with the same log byte for
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
   seed (for ids and delays), and the results and updates of tools. The tape does not hold the
   host's actions: prompts, steering, aborts, decisions and hooks. The program that replays the tape
   must repeat these actions at the same steps, or in reply to the same events. Each request is
   compared with the recorded one by method, URL, headers and a hash of the body.

   With a tape, a step processes all input that it has accepted, and the clock does not advance in a
   step. Budgets only divide this work, so another step_budget_bytes gives the same log.
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
    /* Recording: writes the next lines of the tape, never a part of a line. Called inside phi_step
       and in phi_tape_end. Any status but PHI_OK ends the recording with this status; the run
       continues */
    phi_status (*write_fn)(void *user_data, const char *bytes, size_t len);
    /* Replaying: returns true if the tool should run again, for a comparison of its result with the
       recorded one. If it returns false, the recorded result is used without a call (default: no
       tool runs) */
    bool (*runs_fn)(void *user_data, phi_str tool_name);
    void *user_data; /* passed to both functions */
    /* Recording: texts of at least 8 bytes to keep off the tape, ended by a NULL. phi itself finds
       keys and tokens in headers and URLs (default: none) */
    const char *const *secrets;
    bool whole_bodies; /* recording: write whole request bodies, not only hashes */
    /* Replaying: how many milliseconds of real time the host has to repeat a recorded action. After
       that time the run diverges (default 60,000; PHI_UNLIMITED) */
    uint32_t host_wait_ms;
} phi_tape_desc;

/* The first difference between a replayed run and its recording. Strings belong to the tape. */
typedef struct phi_tape_divergence {
    uint64_t line; /* line of the tape, from 1 */
    uint64_t step; /* number of the step, from 1; only steps with input count */
    phi_str what;  /* such as "request 2: the body" */
    phi_str recorded, actual;
} phi_tape_divergence;

/* Make a tape for recording or for replaying. Set it as phi_runtime_desc.tape of one runtime. A
   tape serves only one runtime. `text` is a whole tape, borrowed until phi_tape_free. If its last
   line is cut off, the tape is replayed up to there. Both return NULL if there is no memory.
   phi_tape_record also returns NULL if write_fn is missing, and phi_tape_play if the text is not a
   tape. `error` (may be NULL) then has the line and the reason. */
PHI_API phi_tape *phi_tape_record(const phi_tape_desc *desc);
PHI_API phi_tape *phi_tape_play(const phi_tape_desc *desc, phi_str text, phi_parse_error *error);

/* Ends a tape, before or after phi_runtime_free. Recording: writes the last line. Replaying: checks
   that everything was replayed. A second call is allowed. If the recording ended early, returns
   PHI_NO_MEMORY or the status of write_fn. PHI_REFUSED: the run differs from the recording, and
   *divergence (may be NULL) says where. PHI_PARSE: the tape is cut off, and everything before the
   cut was replayed.
   After a divergence the run ends: all transfers fail, calls that wait for a recorded result get an
   error, and the clock jumps from timer to timer. */
PHI_API phi_status phi_tape_end(phi_tape *tape, phi_tape_divergence *divergence);

/* Frees a tape, after phi_runtime_free. NULL is allowed. */
PHI_API void phi_tape_free(phi_tape *tape);

/* Returns a hash of the whole log: entries in order, with times and ids. The hash is the same on
   every machine. 0: evicted entries could not be recalled. */
PHI_API uint64_t phi_thread_hash(const phi_thread *thread);

#ifdef __cplusplus
}
inline phi_tape *phi_tape_record(const phi_tape_desc &desc) { return phi_tape_record(&desc); }
inline phi_tape *phi_tape_play(const phi_tape_desc &desc, phi_str text, phi_parse_error *error) {
    return phi_tape_play(&desc, text, error);
}
#endif
#endif
