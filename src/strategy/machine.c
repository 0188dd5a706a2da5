/* machine.c - what all machines use. */
#include "strategy/machine_in.h"

#include "text/records_in.h"

PHI__FN bool phi__machine_text(phi__buf *buf, phi_arena *arena, phi_str *out) {
    bool done = !buf->failed && phi__arena_str(arena, phi__buf_str(buf), out);
    phi__buf_free(buf);
    return done;
}

PHI__FN phi_json *phi__machine_tree(phi__buf *buf, phi_arena *arena) {
    phi_json *root = NULL;
    if (!buf->failed) (void)phi_json_parse(arena, phi__buf_str(buf), 0, &root, NULL);
    phi__buf_free(buf);
    return root;
}

static const phi__field phi__machine_usage_fields[] = {
    PHI__FIELD(phi_usage, input, "input", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_usage, output, "output", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_usage, reasoning, "reasoning", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_usage, cache_read, "cache_read", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_usage, cache_write, "cache_write", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_usage, total_tokens, "total_tokens", PHI__FIELD_UINT, PHI__FIELD_ALWAYS)};

PHI__FN void phi__machine_put_usage(phi__buf *out, const phi_usage *usage) {
    phi__records_raw(out, "usage", "{");
    phi__records_put(out, phi__machine_usage_fields, PHI__COUNT(phi__machine_usage_fields), usage);
    phi__buf_char(out, '}');
}

PHI__FN void phi__machine_get_usage(const phi_json *node, phi_usage *out) {
    (void)phi__records_get(phi_json_get(node, "usage"), phi__machine_usage_fields,
                           PHI__COUNT(phi__machine_usage_fields), out, NULL);
}

PHI__FN void phi__machine_put_termination(phi__buf *out, const char *reason, const char *status,
                                          uint64_t duration_ms, bool open) {
    phi__records_raw(out, "termination", "{");
    phi__records_str(out, "reason", phi_str_of(reason));
    phi__records_str(out, "status", phi_str_of(status));
    phi__records_u64(out, "duration_ms", duration_ms);
    if (!open) phi__buf_char(out, '}');
}

static phi_status phi__machine_end(const phi_strategy_env *env, phi_strategy_commands *out,
                                   phi_strategy_command_kind kind, phi_str text, phi__buf *result) {
    phi_strategy_command *command = phi_strategy_add(out, kind);
    phi_str json = {NULL, 0}, kept = {NULL, 0};
    phi__buf_char(result, '}');
    if (!phi__machine_text(result, env->scratch, &json)) return PHI_NO_MEMORY;
    if (!phi__arena_str(env->scratch, text, &kept)) return PHI_NO_MEMORY;
    if (command == NULL) return PHI_FULL;
    command->text = kept;
    command->result = json;
    return PHI_OK;
}

PHI__FN phi_status phi__machine_done(const phi_strategy_env *env, phi_strategy_commands *out,
                                     phi_str answer, phi_stop_reason reason, phi__buf *result) {
    phi_status made = phi__machine_end(env, out, PHI_STRATEGY_DONE, answer, result);
    if (made == PHI_OK) out->at[out->count - 1].stop_reason = reason;
    return made;
}

PHI__FN phi_status phi__machine_fail(const phi_strategy_env *env, phi_strategy_commands *out,
                                     phi_status status, phi_str message, phi__buf *result) {
    phi_status made = phi__machine_end(env, out, PHI_STRATEGY_FAIL, message, result);
    if (made == PHI_OK) out->at[out->count - 1].status = status;
    return made;
}

PHI__FN phi_status phi__machine_emit(phi_strategy_commands *out, const char *phase) {
    phi_strategy_command *command = phi_strategy_add(out, PHI_STRATEGY_EMIT);
    if (command == NULL) return PHI_FULL;
    command->phase = phi_str_of(phase);
    return PHI_OK;
}

/* ---- public ---- */

PHI_API phi_strategy_command *phi_strategy_add(phi_strategy_commands *commands,
                                               phi_strategy_command_kind kind) {
    phi_strategy_command *command;
    if (commands->count >= PHI_STRATEGY_COMMANDS) return NULL;
    command = &commands->at[commands->count++];
    memset(command, 0, sizeof *command);
    command->kind = kind;
    return command;
}
