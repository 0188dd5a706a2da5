/* fields.c - values of a call's arguments are told to its tool while the answer is still coming.

   For each block of an answer that is a call of a tool with on_field there is a scanner, and whether
   something was told of it that has come to nothing yet: then the tool hears `dropped`, or `start` follows.
   What is told here is told between two slices of the answer, never from inside a decoder. */
#include "loop/loop_in.h"

static phi_str phi__fields_id(const phi__run *run, size_t block) {
    if (phi__attempt_answer(run) != NULL && phi__attempt_answer(run)->live)
        return phi__buf_str(&phi__attempt_answer(run)->assembly.drafts[block].id);
    return run->reply != NULL ? run->reply->content[block].id : phi__str("", 0);
}

/* True: the agent is still there. */
static bool phi__fields_call(phi__run *run, const phi__told *told, phi_field *field) {
    field->agent = phi__agent_handle(run->agent);
    field->block_index = (uint32_t)(told - run->fields.told);
    field->tool_call_id = phi__fields_id(run, field->block_index);
    told->tool->on_field(told->tool->user_data, field);
    return run->agent->slot != NULL;
}

/* `dropped`, where something was told. False: the agent is gone. */
static bool phi__fields_take_back(phi__run *run, phi__told *told) {
    phi_field field;
    if (!told->told) return true;
    told->told = false;
    memset(&field, 0, sizeof field);
    field.dropped = true;
    field.path = field.value = phi__str("", 0);
    return phi__fields_call(run, told, &field);
}

/* ---- while the answer comes ---- */

/* The tool that a block calls, if it wants its fields; NULL: none, or its name has not come yet. */
static const phi_tool *phi__fields_tool(const phi__run *run, size_t block) {
    const phi__assembly *assembly = &phi__attempt_answer(run)->assembly;
    const phi__draft *draft = &assembly->drafts[block];
    const phi_tool *tool;
    if (draft->bytes.len == 0 || phi__assembly_kind(assembly, block) != PHI_CONTENT_TOOL_CALL)
        return NULL;
    tool = phi__toolset_find(phi__agent_has_tools(run->agent), phi__buf_str(&draft->name));
    return tool != NULL && tool->on_field != NULL ? tool : NULL;
}

/* What is told of a block; NULL: nothing, or there is no memory. */
static phi__told *phi__fields_of(phi__run *run, size_t block) {
    const phi__assembly *assembly = &phi__attempt_answer(run)->assembly;
    phi_memory *memory = &run->agent->memory;
    const phi_tool *tool;
    phi__told *told;
    if (block < run->fields.count && run->fields.told[block].tool != NULL)
        return &run->fields.told[block];
    tool = phi__fields_tool(run, block);
    if (tool == NULL) return NULL;
    if (block >= run->fields.count) {
        told = (phi__told *)phi__grow(memory, run->fields.told, &run->fields.cap, block + 1,
                                      sizeof *told);
        if (told == NULL) {
            phi__attempt_lose(run);
            return NULL;
        }
        memset(told + run->fields.count, 0, (block + 1 - run->fields.count) * sizeof *told);
        run->fields.told = told;
        run->fields.count = block + 1;
    }
    told = &run->fields.told[block];
    told->tool = tool;
    told->rewrites = assembly->drafts[block].rewrites;
    phi__json_fields_init(&told->scan, memory);
    return told;
}

/* What has arrived of one block. False: the agent is gone. */
static bool phi__fields_block(phi__run *run, phi__told *told, size_t block) {
    const phi__assembly *assembly = &phi__attempt_answer(run)->assembly;
    phi_field field;
    if (told->rewrites != assembly->drafts[block].rewrites) { /* other text has come in its place */
        told->rewrites = assembly->drafts[block].rewrites;
        phi__json_fields_free(&told->scan);
        if (!phi__fields_take_back(run, told)) return false;
    }
    memset(&field, 0, sizeof field);
    while (!run->end.cancelled) {
        phi_str text = phi__buf_str(&assembly->drafts[block].bytes);
        int got = phi__json_fields_next(&told->scan, text, &field.path, &field.value);
        if (got == PHI_NO_MEMORY) phi__attempt_lose(run);
        if (got <= 0) return true;
        told->told = true;
        if (!phi__fields_call(run, told, &field)) return false;
    }
    return true;
}

PHI__FN bool phi__fields_tell(phi__run *run, bool whole) {
    const phi__assembly *assembly = &phi__attempt_answer(run)->assembly;
    size_t i;
    if (!phi__agent_has_tools(run->agent)->has_fields) return true;
    if (phi__attempt_lost(run) || assembly->no_memory || assembly->failure.kind != PHI_FAILURE_NONE)
        return true;
    for (i = whole ? 0 : run->fields.from; i < assembly->count; i++) {
        phi__told *told = phi__fields_of(run, i);
        if (told != NULL && !phi__fields_block(run, told, i)) return false;
        if (phi__attempt_lost(run) || run->end.cancelled) return true;
        if (i == run->fields.from && !assembly->drafts[i].open) run->fields.from++;
    }
    return true;
}

/* ---- and what becomes of it ---- */

PHI__FN bool phi__fields_drop(phi__run *run) {
    size_t i;
    for (i = 0; i < run->fields.count; i++)
        if (!phi__fields_take_back(run, &run->fields.told[i])) return false;
    phi__fields_free(run);
    return true;
}

PHI__FN void phi__fields_free(phi__run *run) {
    size_t i;
    for (i = 0; i < run->fields.count; i++)
        if (run->fields.told[i].tool != NULL) phi__json_fields_free(&run->fields.told[i].scan);
    phi__free(&run->agent->memory, run->fields.told, run->fields.cap * sizeof *run->fields.told);
    run->fields.told = NULL;
    run->fields.count = run->fields.cap = run->fields.from = 0;
}

PHI__FN bool phi__fields_adopt(phi__toolcall *call) {
    phi__run *run = call->run;
    size_t block = (size_t)(call->block - run->reply->content);
    if (block >= run->fields.count || run->fields.told[block].tool == NULL) return true;
    phi__json_fields_free(&run->fields.told[block].scan);
    if (run->fields.told[block].tool != call->tool)
        return phi__fields_take_back(run, &run->fields.told[block]);
    call->told_fields = &run->fields.told[block];
    return true;
}

PHI__FN void phi__fields_started(phi__toolcall *call) {
    if (call->told_fields != NULL) call->told_fields->told = false;
}

PHI__FN bool phi__fields_refused(phi__toolcall *call) {
    return call->told_fields == NULL || phi__fields_take_back(call->run, call->told_fields);
}
