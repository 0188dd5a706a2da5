/* replay_in.h - structs and functions that the files of the tape share.

   A tape is JSON Lines; the last member of a line, "sum", is a CRC-32 of the bytes before it, which
   begins with the sum of the line before (version 1: with 0). So a line that is missing, doubled or
   in another place is found. "k" is the kind of a line:
   tape the head: version, seed of chance, first time, whether the transport reports stages
   t       a step lets something in: its time; idle: steps before it in which nothing came; more:
   the same step, later; gaps, as of now: what deadlines do not count so far, if more than before
   now the host read the clock between two steps, after `after` readings of the older time timers
   they were fired
   posts   those of the host were read; results among them are the next lines
   request, stage, head, bytes, end    of transfer x
   result, update                      of a call; start: given inside of its tool's start
   claimed a call was not started, or not ended: its result was on its way
   over    the end; idle: steps before it */
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

/* A line, as far as it is needed to find it. */
typedef struct phi__tape_line {
    phi_str text;
    phi__tape_kind kind;
    bool used, start, more;
    uint64_t x;  /* of a transfer */
    uint64_t us; /* T, NOW */
    uint64_t gaps_us;
    uint64_t n; /* T: idle; NOW: after */
} phi__tape_line;

/* A transfer. What its transport says while nothing is let in is held here. */
typedef struct phi__tape_flow {
    phi_transfer transfer;
    uint64_t x;
    bool live, has_head, held_head, has_end, refused;
    int stage; /* 0: none */
    int http_status;
    phi_status status;
    char words[200];
    phi__buf head;
    phi__buf carry; /* the last bytes, where a secret may have begun */
} phi__tape_flow;

/* The active flows. */
typedef struct phi__tape_flows {
    phi__tape_flow *at;
    size_t count, cap;
} phi__tape_flows;

typedef struct phi__tape_index {
    phi__tape_line *lines;
    size_t count, cap, at; /* at: the first line that was not let in */
} phi__tape_index;

/* The divergence of a replay from its recording. */
typedef struct phi__tape_parted {
    bool yes;
    phi_tape_divergence where;
    phi_arena words; /* of `where` */
} phi__tape_parted;

typedef struct phi__tape {
    phi_tape base;
    phi_memory memory;
    phi_tape_desc desc;
    phi__tape_sources sources;
    phi_runtime *rt;
    phi_transport inner; /* recording */
    bool taken, over;
    bool letting; /* things are let in just now */
    bool posting; /* recording: the host's posts are being read; playing: they were, in this step */
    phi_status failed;
    unsigned char seed[32];
    uint64_t drawn;                  /* blocks of chance */
    uint64_t gaps_us;                /* recording: that the tape has */
    uint64_t us, reads, lines, step; /* reads: the host's, since the time was set */
    uint64_t wall_us, clock_us;      /* recording the system's clock: when it began */
    phi__tape_flows flows;
    uint64_t requests;
    phi__secrets secrets;
    phi_arena secret_arena;
    phi__buf line, bytes; /* being written; being pushed */
    /* recording */
    bool touched, more;
    uint64_t idle, last_us; /* last_us: of the last line with a time */
    /* playing */
    phi__tape_index index;
    uint64_t idled, waits_us; /* waits_us: since when for the host, of the real clock; 0: not so */
    bool open;                /* in the midst of a step's lines */
    bool torn, off;
    uint32_t version, sum; /* sum: of the last line */
    phi_arena arena;       /* of the line at hand */
    phi__tape_parted parted;
} phi__tape;

/* ---- tape_read.c ---- */

PHI__FN phi__tape_flow *phi__tape_flow_of(phi__tape *tape, phi_transfer transfer);
PHI__FN phi__tape_flow *phi__tape_flow_new(phi__tape *tape, phi_transfer transfer, uint64_t x);

/* The time of the tape, and of the step that is under way. It never goes back. */
PHI__FN void phi__tape_sources_set(phi__tape *tape, uint64_t us);
PHI__FN void phi__tape_sources_random(void *user_data, void *out, size_t len);
PHI__FN phi_status phi__tape_sources_take(phi_tape *base, const phi__tape_sources *sources);

/* A line is begun, gets its members, and is ended: written, unless the recording has failed. */
PHI__FN phi__buf *phi__tape_line_begin(phi__tape *tape, const char *kind);
PHI__FN void phi__tape_line_end(phi__tape *tape);

/* Keys and the like are on no tape. Returns texts with secrets replaced, and takes
   note of them. */
PHI__FN void phi__tape_secret_add(phi__tape *tape, const char *const *secrets); /* NULL-ended */
PHI__FN void phi__tape_secret_add_proxy(phi__tape *tape, const phi__http *http);
/* Header lines of an answer, without its cookies. */
PHI__FN void phi__tape_secret_put_head(phi__tape *tape, phi__buf *line, phi_str headers);
/* A request's members, secrets left out: written when recording, compared when playing. */
PHI__FN void phi__tape_secret_put_request(phi__tape *tape, phi__buf *line,
                                          const phi_request *request, bool whole);

/* Settles a call with a result that was kept (loop/cap.c). */
PHI__FN phi_status phi__tape_result_settle(phi__toolcall *call, const phi_message *result);
/* The call in slot i of the runtime; NULL: there is none. */
PHI__FN phi__toolcall *phi__tape_call_at(const phi__tape *tape, uint32_t i);
/* Gives a line of a result, or of a part of one, begun, its members. */
PHI__FN void phi__tape_result_put(phi__tape *tape, phi__buf *line, const phi__toolcall *call,
                                  const phi_message *result);

/* Reads the index. PHI_PARSE, PHI_NO_MEMORY. */
PHI__FN phi_status phi__tape_read(phi__tape *tape, phi_str text, phi_parse_error *error);
/* The tree of a line, in tape->arena until the next; NULL: no memory. */
PHI__FN const phi_json *phi__tape_read_tree(phi__tape *tape, const phi__tape_line *line);
/* The bytes of a BYTES line, in tape->bytes. False: no memory. */
PHI__FN bool phi__tape_read_bytes(phi__tape *tape, const phi_json *root);
/* The result of a RESULT line, in tape->arena; NULL: no memory. */
PHI__FN phi_message *phi__tape_read_result(phi__tape *tape, const phi_json *root);

/* tape_record.c, tape_play.c */
PHI__FN void phi__taping_init(phi__tape *tape);
PHI__FN void phi__play_init(phi__tape *tape);
PHI__FN void phi__play_end(phi__tape *tape); /* checks whether everything was played */

#endif
