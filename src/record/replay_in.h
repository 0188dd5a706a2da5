/* replay_in.h - structs and functions shared by the tape's files.

   A tape is JSON Lines. The last member of a line, "sum", is a CRC-32 of the bytes before it. Its
   initial value is the sum of the previous line (in version 1: 0), so a missing, repeated or moved
   line is found. "k" is the kind of a line:
       tape     first line: version, random seed, start time, whether the transport reports stages
       t        time of a step with input. idle: number of steps without input before this step.
                more: a later time in the same step. gaps: total time so far that deadlines ignore,
                written if it has changed
       now      the host read the clock between two steps, after `after` readings of the older time
       timers   timers were fired
       posts    the host's posts were read; the next lines are the results among them
       request, stage, head, bytes, end    of transfer x
       result, update                      of a call. start: given inside the tool's start function
       claimed  a call was not started, or not ended, because its result was already on its way
       over     last line. idle: number of steps without input before the end */
#ifndef PHI_RECORD_REPLAY_IN_H
#define PHI_RECORD_REPLAY_IN_H

#include "base/base_in.h"
#include "io/io_in.h"
#include "loop/loop_in.h"
#include "record/replay.h"

enum { PHI__TAPE_VERSION = 2, PHI__TAPE_SECRETS_MOST = 64 };

typedef enum phi__tape_kind {
    PHI__TAPE_NONE = 0,
    PHI__TAPE_HEAD,
    PHI__TAPE_T,
    PHI__TAPE_NOW,
    PHI__TAPE_TIMERS,
    PHI__TAPE_POSTS,
    PHI__TAPE_REQUEST,
    PHI__TAPE_STAGE,
    PHI__TAPE_ANSWER,
    PHI__TAPE_BYTES,
    PHI__TAPE_END,
    PHI__TAPE_RESULT,
    PHI__TAPE_UPDATE,
    PHI__TAPE_CLAIMED,
    PHI__TAPE_OVER
} phi__tape_kind;

/* An indexed line of the tape. */
typedef struct phi__tape_line {
    phi_str text;
    phi__tape_kind kind;
    bool used, start, more;
    uint64_t x;  /* number of the line's transfer */
    uint64_t us; /* for T and NOW: the time */
    uint64_t gaps_us;
    uint64_t n; /* member `idle` of a T line, or `after` of a NOW line */
} phi__tape_line;

/* A transfer, with the events that the transport reported while no input was accepted. */
typedef struct phi__tape_flow {
    phi_transfer transfer;
    uint64_t x;
    bool live, has_head, held_head, has_end, refused;
    int stage; /* the held stage; 0 if none is held */
    int http_status;
    phi_status status;
    char words[200];
    phi__buf head;
    phi__buf carry; /* last bytes, which may be the start of a secret */
} phi__tape_flow;

typedef struct phi__tape_flows {
    phi__tape_flow *at;
    size_t count, cap;
} phi__tape_flows;

typedef struct phi__tape_index {
    phi__tape_line *lines;
    size_t count, cap, at; /* at: index of the first line that is not replayed yet */
} phi__tape_index;

typedef struct phi__tape_parted {
    bool yes;
    phi_tape_divergence where;
    phi_arena words; /* memory for the strings of `where` */
} phi__tape_parted;

typedef struct phi__tape {
    phi_tape base;
    phi_memory memory;
    phi_tape_desc desc;
    phi__tape_sources sources;
    phi_runtime *rt;
    phi_transport inner; /* only for recording */
    bool taken, over;
    bool letting; /* input is being accepted */
    /* Recording: the host's posts are being read. Replaying: the posts were read in this step. */
    bool posting;
    phi_status failed;
    unsigned char seed[32];
    uint64_t drawn;   /* random blocks drawn so far */
    uint64_t gaps_us; /* recording: the gaps written last */
    /* us: the tape's time. reads: number of clock readings by the host that returned this time. */
    uint64_t us, reads, lines, step;
    /* Recording with the system's clocks: their values at the start. */
    uint64_t wall_us, clock_us;
    phi__tape_flows flows;
    uint64_t requests;
    phi__secrets secrets;
    phi_arena secret_arena;
    phi__buf line, bytes; /* line: being written; bytes: being pushed */
    /* Recording only. last_us: the time of the last line that has a time. */
    bool touched, more;
    uint64_t idle, last_us;
    /* Replaying only. waits_us: real time at which the wait for a missing host action began. 0: the
       replay does not wait for one. */
    phi__tape_index index;
    uint64_t idled, waits_us;
    bool open; /* some lines of the current step are not replayed yet */
    bool torn, off;
    uint32_t version, sum; /* sum: of the last line */
    phi_arena arena;       /* memory for the current line */
    phi__tape_parted parted;
} phi__tape;

/* ---- tape.c ---- */

/* Makes a tape with the desc's secrets. If there is no memory for a secret, sets tape->failed.
   NULL: no memory for the tape. */
PHI__FN phi__tape *phi__tape_new(const phi_tape_desc *desc);
/* Checks and indexes the tape. Fails with PHI_PARSE or PHI_NO_MEMORY. */
PHI__FN phi_status phi__tape_read(phi__tape *tape, phi_str text, phi_parse_error *error);

PHI__FN phi__tape_flow *phi__tape_flow_of(phi__tape *tape, phi_transfer transfer);
PHI__FN phi__tape_flow *phi__tape_flow_new(phi__tape *tape, phi_transfer transfer, uint64_t x);

/* Sets the time of the tape and of the current step. Time never goes back. */
PHI__FN void phi__tape_sources_set(phi__tape *tape, uint64_t us);
PHI__FN phi_status phi__tape_sources_take(phi_tape *base, const phi__tape_sources *sources);

/* Begin and end a line; members are added in between. A failed recording writes no line. */
PHI__FN phi__buf *phi__tape_line_begin(phi__tape *tape, const char *kind);
PHI__FN void phi__tape_line_end(phi__tape *tape);

/* Adds the secrets of the HTTP client's proxy to tape->secrets. */
PHI__FN void phi__tape_secret_add_proxy(phi__tape *tape, const phi__http *http);
/* Writes a request's members without secrets, and adds new secrets to tape->secrets. Replaying
   compares the members. */
PHI__FN void phi__tape_secret_put_request(phi__tape *tape, phi__buf *line,
                                          const phi_request *request, bool whole);

/* Settles a call with a stored result (loop/cap.c). */
PHI__FN phi_status phi__tape_result_settle(phi__toolcall *call, const phi_message *result);
/* Returns the call in slot i of the runtime. NULL if there is none. */
PHI__FN phi__toolcall *phi__tape_call_at(const phi__tape *tape, uint32_t i);
/* Writes the members of a result or update into a line. */
PHI__FN void phi__tape_result_put(phi__tape *tape, phi__buf *line, const phi__toolcall *call,
                                  const phi_message *result);

/* Returns the JSON tree of a line, valid until the next call. NULL: no memory. */
PHI__FN const phi_json *phi__tape_read_tree(phi__tape *tape, const phi__tape_line *line);
/* Returns the message of a RESULT line, in tape->arena. NULL: no memory. */
PHI__FN phi_message *phi__tape_read_result(phi__tape *tape, const phi_json *root);

#endif
