/* results.c - results of tools, kept as messages. */
#include "loop/results_in.h"

#include "model/message_in.h"

PHI__FN phi_message *phi__results_keep(phi_arena *arena, const phi_tool_result *result) {
    phi_message message;
    memset(&message, 0, sizeof message);
    message.role = PHI_ROLE_TOOL_RESULT;
    message.content = result->content;
    message.content_count = result->content_count;
    message.is_error = result->is_error;
    message.details = phi_str_of(result->details);
    message.loop_id = phi_str_of(result->child_loop_id);
    message.extension_data = phi_str_of(result->effects);
    return phi_message_copy(&message, arena);
}

PHI__FN phi_tool_result phi__results_given(const phi_message *message) {
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
