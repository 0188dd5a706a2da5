/* fields.c - reports values of a call's arguments to its tool (on_field) while the answer is still
   arriving.

   Each block of an answer that calls a tool with on_field has a scanner, and a flag that fields
   were reported. After reported fields, the tool gets either `dropped` or `start`. Fields are
   reported between two slices of the answer, never from inside a decoder. */
#include "features/features_in.h"

/* The scanner of a block of the answer. */
typedef struct phi__emitted {
    /* NULL: the block calls no tool with on_field, or the tool's name has not arrived */
    const phi_tool *tool;
    phi__json_fields scan;
    uint32_t rewrites; /* number of the draft's rewrites when scanned */
    bool emitted;      /* true from the first reported field until `dropped` or `start` */
} phi__emitted;

/* The feature's state of a run. */
typedef struct phi__fields {
    phi__emitted *emitted; /* one scanner for each block of the answer, by index */
    size_t count, cap;
    size_t from; /* all blocks before this one are complete and reported */
} phi__fields;

static phi_str phi__fields_id(const phi__run *run, size_t block) {
    if (run->attempt.answer != NULL && run->attempt.answer->live)
        return phi__buf_str(&run->attempt.answer->assembly.drafts[block].id);
    return run->reply != NULL ? run->reply->content[block].id : phi__str("", 0);
}

/* Calls on_field. False: the callback has freed the agent. */
static bool phi__fields_call(phi__run *run, const phi__fields *f, const phi__emitted *emitted,
                             phi_field *field) {
    field->agent = run->agent->handle;
    field->block_index = (uint32_t)(emitted - f->emitted);
    field->tool_call_id = phi__fields_id(run, field->block_index);
    emitted->tool->on_field(emitted->tool->user_data, field);
    return run->agent->slot != NULL;
}

/* Reports `dropped` if a field was reported. False: the agent was freed. */
static bool phi__fields_take_back(phi__run *run, const phi__fields *f, phi__emitted *emitted) {
    if (!emitted->emitted) return true;
    emitted->emitted = false;
    phi_field field = PHI_ZERO;
    field.dropped = true;
    field.path = field.value = phi__str("", 0);
    return phi__fields_call(run, f, emitted, &field);
}

/* ---- while the answer arrives ---- */

/* Returns the tool that a block calls. NULL: the tool's name has not arrived, or the tool has no
   on_field. */
static const phi_tool *phi__fields_tool(const phi__run *run, size_t block) {
    const phi__assembly *assembly = &run->attempt.answer->assembly;
    const phi__draft *draft = &assembly->drafts[block];
    if (draft->bytes.len == 0 || phi__assembly_kind(assembly, block) != PHI_CONTENT_TOOL_CALL)
        return NULL;
    const phi_tool *tool = phi__toolset_find(run->agent->tools, phi__buf_str(&draft->name));
    return tool != NULL && tool->on_field != NULL ? tool : NULL;
}

/* Returns the scanner of a block, or makes it. NULL: the block needs none, or there is no
   memory. */
static phi__emitted *phi__fields_of(phi__run *run, phi__fields *f, size_t block) {
    const phi__assembly *assembly = &run->attempt.answer->assembly;
    phi_memory *memory = &run->agent->memory;
    phi__emitted *emitted;
    if (block < f->count && f->emitted[block].tool != NULL) return &f->emitted[block];
    const phi_tool *tool = phi__fields_tool(run, block);
    if (tool == NULL) return NULL;
    if (block >= f->count) {
        emitted =
            (phi__emitted *)phi__grow(memory, f->emitted, &f->cap, block + 1, sizeof *emitted);
        if (emitted == NULL) {
            run->attempt.lost = true;
            return NULL;
        }
        memset(emitted + f->count, 0, (block + 1 - f->count) * sizeof *emitted);
        f->emitted = emitted;
        f->count = block + 1;
    }
    emitted = &f->emitted[block];
    emitted->tool = tool;
    emitted->rewrites = assembly->drafts[block].rewrites;
    phi__json_fields_init(&emitted->scan, memory);
    return emitted;
}

/* Reports the new fields of one block. False: the agent was freed. */
static bool phi__fields_block(phi__run *run, const phi__fields *f, phi__emitted *emitted,
                              size_t block) {
    const phi__assembly *assembly = &run->attempt.answer->assembly;
    /* the arguments were replaced, so the scan starts over */
    if (emitted->rewrites != assembly->drafts[block].rewrites) {
        emitted->rewrites = assembly->drafts[block].rewrites;
        phi__json_fields_free(&emitted->scan);
        if (!phi__fields_take_back(run, f, emitted)) return false;
    }
    phi_field field = PHI_ZERO;
    while (!run->end.cancelled) {
        phi_str text = phi__buf_str(&assembly->drafts[block].bytes);
        int got = phi__json_fields_next(&emitted->scan, text, &field.path, &field.value);
        if (got == PHI_NO_MEMORY) run->attempt.lost = true;
        if (got <= 0) return true;
        emitted->emitted = true;
        if (!phi__fields_call(run, f, emitted, &field)) return false;
    }
    return true;
}

/* Reports the fields that have arrived since the last call. whole: the answer is complete, so every
   block is scanned. False: the agent was freed. */
static bool phi__fields_emit(phi__run *run, phi__fields *f, bool whole) {
    const phi__assembly *assembly = &run->attempt.answer->assembly;
    if (!run->agent->tools->has_fields) return true;
    if (run->attempt.lost || assembly->no_memory || assembly->failure.kind != PHI_FAILURE_NONE)
        return true;
    for (size_t i = whole ? 0 : f->from; i < assembly->count; i++) {
        phi__emitted *emitted = phi__fields_of(run, f, i);
        if (emitted != NULL && !phi__fields_block(run, f, emitted, i)) return false;
        if (run->attempt.lost || run->end.cancelled) return true;
        if (i == f->from && !assembly->drafts[i].open) f->from++;
    }
    return true;
}

/* ---- the outcome ---- */

static void phi__fields_free(phi__run *run, phi__fields *f) {
    for (size_t i = 0; i < f->count; i++)
        if (f->emitted[i].tool != NULL) phi__json_fields_free(&f->emitted[i].scan);
    phi__free(&run->agent->memory, f->emitted, f->cap * sizeof *f->emitted);
    f->emitted = NULL;
    f->count = f->cap = f->from = 0;
}

static bool phi__fields_drop(phi__run *run, phi__fields *f) {
    for (size_t i = 0; i < f->count; i++)
        if (!phi__fields_take_back(run, f, &f->emitted[i])) return false;
    phi__fields_free(run, f);
    return true;
}

/* Returns the scanner of a call's block. NULL: the block has none, for example after a restore. */
static phi__emitted *phi__fields_of_call(const phi__fields *f, const phi__toolcall *call) {
    if (f->count == 0) return NULL;
    size_t block = (size_t)(call->block - call->run->reply->content);
    return block < f->count && f->emitted[block].tool != NULL ? &f->emitted[block] : NULL;
}

/* Called when a call was made from the block of a complete answer. False: the agent was freed. */
static bool phi__fields_adopt(const phi__fields *f, const phi__toolcall *call) {
    phi__emitted *emitted = phi__fields_of_call(f, call);
    if (emitted == NULL) return true;
    phi__json_fields_free(&emitted->scan);
    return emitted->tool == call->tool || phi__fields_take_back(call->run, f, emitted);
}

static phi__state phi__fields_take(phi__moment *moment) {
    phi__run *run = moment->run;
    phi__fields *f = (phi__fields *)moment->run_state;
    phi__emitted *emitted = NULL;
    bool there = true;
    switch (moment->point) {
    case PHI__POINT_REQUEST:
        if (run->agent->tools->has_fields) run->slices = true;
        break;
    case PHI__POINT_SLICE: there = phi__fields_emit(run, f, moment->whole); break;
    case PHI__POINT_DROPPED: there = phi__fields_drop(run, f); break;
    case PHI__POINT_CALL_MADE: there = phi__fields_adopt(f, moment->call); break;
    case PHI__POINT_CALL_STARTS:
        emitted = phi__fields_of_call(f, moment->call);
        if (emitted != NULL) emitted->emitted = false;
        break;
    case PHI__POINT_CALL_ENDED: /* if the call never started, its reported fields are dropped */
        emitted = phi__fields_of_call(f, moment->call);
        there = emitted == NULL || phi__fields_take_back(run, f, emitted);
        break;
    case PHI__POINT_TURN_ENDS:
    case PHI__POINT_RUN_FREED: phi__fields_free(run, f); break;
    default: break;
    }
    return there ? PHI__RUN_ON : PHI__RUN_OVER;
}

static bool phi__fields_wants(const phi__run *run) { return run->agent->tools->has_fields; }

PHI_API const phi__feature *phi_feature_argument_stream(void) {
    enum {
        points = PHI__POINT_REQUEST | PHI__POINT_SLICE | PHI__POINT_DROPPED | PHI__POINT_CALL_MADE |
                 PHI__POINT_CALL_STARTS | PHI__POINT_CALL_ENDED | PHI__POINT_TURN_ENDS |
                 PHI__POINT_RUN_FREED
    };
    static const phi__feature feature = {points,
                                         sizeof(phi__fields),
                                         0,
                                         phi__fields_take,
                                         phi__fields_wants,
                                         PHI__FEATURE_AT_FIELDS,
                                         NULL,
                                         NULL};
    return &feature;
}
