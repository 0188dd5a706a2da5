/* fields_in.h - values of arguments as they arrive, told to the tools that want them. What returns
   a bool calls the host: false says that the agent is gone. */
#ifndef PHI_LOOP_FIELDS_IN_H
#define PHI_LOOP_FIELDS_IN_H

#include "loop/tool.h"
#include "loop/types_in.h"
#include "text/json_fields_in.h"

/* What a tool with on_field has heard of a block of the answer. */
typedef struct phi__told {
    const phi_tool *tool; /* NULL: the block calls none such, or its name has not come */
    phi__json_fields scan;
    uint32_t rewrites; /* of the draft, that the scan knows of */
    bool told;         /* a value, and neither `dropped` nor `start` since */
} phi__told;

typedef struct phi__fields {
    phi__told *told; /* of the answer's blocks, by their index; NULL: nothing */
    size_t count, cap;
    size_t from; /* blocks before it were whole and are told */
} phi__fields;

/* Tells what has arrived since the last time; whole: the answer is, so every block is looked at.
   Memory that is missing shows in the attempt. */
PHI__FN bool phi__fields_tell(phi__run *run, bool whole);
PHI__FN bool phi__fields_drop(phi__run *run); /* the answer comes to nothing */
PHI__FN void phi__fields_free(phi__run *run); /* tells nobody; nothing is harmless */
PHI__FN bool
phi__fields_adopt(phi__toolcall *call); /* the answer is whole, and this is one of its calls */
PHI__FN void phi__fields_started(phi__toolcall *call); /* `start` is next */
PHI__FN bool
phi__fields_refused(phi__toolcall *call); /* it has a result; if it never was started: dropped */

#endif
