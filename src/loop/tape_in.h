/* tape_in.h - the pump's interface to a tape that is recorded or played (record/replay.h).

   A step lets all outside input in at one place, and processes all of it before it ends. Within a
   step the tape's clock stands still. So a run is a function of the input, in its order, and of the
   host's actions between the steps; the work of a slice changes nothing. Threads: the pumping
   thread. */
#ifndef PHI_LOOP_TAPE_IN_H
#define PHI_LOOP_TAPE_IN_H

#include "base/base_in.h"
#include "io/transport.h"
#include "loop/tool.h"

struct phi__toolcall;

/* The sources that a tape takes from the host, or from the system where they are NULL. */
typedef struct phi__tape_sources {
    uint64_t (*clock_us_fn)(void *user_data);
    void (*random_fn)(void *user_data, void *out, size_t len);
    void (*watch_fn)(void *user_data, intptr_t fd, int want);
    void *user_data;
} phi__tape_sources;

typedef struct phi__tape_ops {
    /* Before the runtime's io is made. PHI_MISUSE: another runtime has it, or had it. */
    phi_status (*take)(phi_tape *tape, const phi__tape_sources *sources);
    /* The runtime is made. inner: the transport of the requests; NULL when playing. stages: it
       reports them. */
    void (*attach)(phi_tape *tape, phi_runtime *rt, const phi_transport *inner, bool stages);
    void (*detach)(phi_tape *tape); /* the runtime goes */
    /* A step that lets in: begin, then the host's posts, then rest, ...; let_in at its end. */
    void (*begin)(phi_tape *tape);
    void (*rest)(phi_tape *tape);
    void (*woken)(phi_tape *tape); /* recording: the step has slept */
    void (*fires)(phi_tape *tape); /* recording: timers do now */
    /* There are posts of the host, which are read now; they were read. */
    void (*posting)(phi_tape *tape);
    void (*posted)(phi_tape *tape);
    void (*let_in)(phi_tape *tape);
    uint64_t (*look_us)(phi_tape *tape); /* for values that are only shown: not recorded */
    /* Input of a transport. */
    phi_status (*stage)(phi_tape *tape, phi_transfer transfer, phi_transfer_stage stage);
    phi_status (*head)(phi_tape *tape, phi_transfer transfer, int status, const char *headers,
                       size_t len);
    phi_status (*push)(phi_tape *tape, phi_transfer transfer, const char *bytes, size_t len);
    phi_status (*end)(phi_tape *tape, phi_transfer transfer, phi_status status, const char *words);
    /* Tools. start: true, the call is not given to its tool. started: its tool's start has
       returned. on_way: a call is to be started, or ended early, but for a result that is on its
       way: says whether it is, or was when it was recorded. result: of a claimed call. said: an
       update (part: its blocks, or NULL) or progress. */
    bool (*start)(phi_tape *tape, struct phi__toolcall *call);
    void (*started)(phi_tape *tape, struct phi__toolcall *call);
    bool (*on_way)(phi_tape *tape, const struct phi__toolcall *call, bool on_way);
    phi_status (*result)(phi_tape *tape, struct phi__toolcall *call, const phi_tool_result *result);
    void (*said)(phi_tape *tape, struct phi__toolcall *call, phi_str text,
                 const phi_tool_result *part, bool progress);
} phi__tape_ops;

/* The first member of session's own. */
struct phi_tape {
    const phi__tape_ops *ops;
    phi_transport transport; /* of the runtime */
    uint64_t (*clock_us_fn)(void *user_data);
    uint64_t (*work_us_fn)(void *user_data); /* of a step's slice */
    void (*random_fn)(void *user_data, void *out, size_t len);
    void (*watch_fn)(void *user_data, intptr_t fd, int want); /* NULL: none */
    bool plays;
    bool stages; /* the transport reports its stages; known after attach */
};

#endif
