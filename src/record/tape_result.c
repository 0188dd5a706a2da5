/* tape_result.c - results of tools: kept as messages, given to calls, and written. */
#include "model/message_in.h"
#include "record/replay_in.h"
#include "text/records_in.h"

#ifndef PHI_NO_TAPE

PHI__FN phi_message *phi__tape_result_keep(phi_arena *arena, const phi_tool_result *result) {
    phi_message message;
    memset(&message, 0, sizeof message);
    message.role = PHI_ROLE_TOOL_RESULT;
    message.content = result->content;
    message.content_count = result->content_count;
    message.is_error = result->is_error;
    message.details = phi_str_of(result->details);
    message.loop_id = phi_str_of(result->child_loop_id); /* the run that made it */
    message.extension_data = phi_str_of(result->effects);
    return phi_message_copy(&message, arena);
}

PHI__FN phi_tool_result phi__tape_result_given(const phi_message *message) {
    phi_tool_result result;
    memset(&result, 0, sizeof result);
    result.content = message->content;
    result.content_count = message->content_count;
    result.is_error = message->is_error;
    result.details = message->details.len > 0 ? message->details.at : NULL;
    result.child_loop_id = message->loop_id.len > 0 ? message->loop_id.at : NULL;
    result.effects = message->extension_data.len > 0 ? message->extension_data.at : NULL;
    return result;
}

PHI__FN phi_status phi__tape_result_settle(phi__toolcall *call, const phi_message *message) {
    phi_tool_result result = phi__tape_result_given(message);
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

#endif
