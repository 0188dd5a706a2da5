/* tape_result.c - results of tools: given to calls, and written. */
#include "loop/results_in.h"
#include "model/message_in.h"
#include "record/replay_in.h"
#include "text/records_in.h"

PHI__FN phi_status phi__tape_result_settle(phi__toolcall *call, const phi_message *message) {
    phi_tool_result result = phi__results_given(message);
    call->held = NULL;
    return phi__call_take(call, &result);
}

PHI__FN void phi__tape_result_put(phi__tape *tape, phi__buf *line, const phi__toolcall *call,
                                  const phi_message *result) {
    phi_arena scratch;
    phi_message plain = *result;
    phi_arena_init(&scratch, &tape->memory, 0);
    phi__records_u64(line, "agent", call->run->agent->handle.index);
    phi__records_str(line, "id", call->block->id);
    phi__records_true(line, "start", call->starting);
    phi__records_some(line, "details", result->details);
    phi__records_some(line, "child", result->loop_id);
    phi__records_some(line, "effects", result->extension_data);
    plain.loop_id = plain.extension_data = phi__str(NULL, 0);
    phi__json_write_key(line, phi_str_of("result"));
    phi__message_put(line, &plain, &scratch);
    phi_arena_free(&scratch);
}
