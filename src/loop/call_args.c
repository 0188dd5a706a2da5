/* call_args.c - reads the arguments of a call by name, for its tool, a hook or a dialog. */
#include "base/utf8_in.h"
#include "loop/loop_in.h"
#include "text/json.h"

/* An argument of a pending call; NULL: none. The tree is made once, in the turn's memory. */
static const phi_json *phi__call_args_at(phi_call handle, const char *path) {
    phi__toolcall *call = phi__call_find(handle);
    if (call == NULL || path == NULL) return NULL;
    if (call->read_of != call->arguments.at) { /* a hook may give other ones */
        phi_arena *arena = &call->run->arena;
        phi_arena_mark mark = phi_arena_save(arena);
        call->read = NULL;
        call->read_of = NULL;
        if (phi_json_parse(arena, call->arguments, PHI_JSON_REPLACE_BAD_UTF8, &call->read, NULL) !=
            PHI_OK) {
            phi_arena_reset(arena, mark);
            return NULL;
        }
        call->read_of = call->arguments.at;
    }
    return phi_json_path(call->read, path);
}

/* ---- public ---- */

PHI_API const char *phi_call_arg_str(phi_call call, const char *path, const char *fallback) {
    const phi_json *node = phi__call_args_at(call, path);
    return phi_json_type_of(node) == PHI_JSON_STRING ? phi_json_str(node, NULL).at : fallback;
}

PHI_API bool phi_call_arg_copy(phi_call call, const char *path, char *buffer, size_t size) {
    const phi_json *node = phi__call_args_at(call, path);
    phi_str text = phi_json_str(node, NULL);
    size_t len;
    if (buffer == NULL || size == 0) return false;
    len = text.len < size ? text.len : phi__utf8_cut(text, size - 1);
    if (len > 0) memcpy(buffer, text.at, len);
    buffer[len] = '\0';
    return phi_json_type_of(node) == PHI_JSON_STRING && len == text.len;
}

PHI_API int64_t phi_call_arg_int(phi_call call, const char *path, int64_t fallback) {
    return phi_json_int(phi__call_args_at(call, path), fallback);
}

PHI_API double phi_call_arg_num(phi_call call, const char *path, double fallback) {
    return phi_json_num(phi__call_args_at(call, path), fallback);
}

PHI_API bool phi_call_arg_bool(phi_call call, const char *path, bool fallback) {
    return phi_json_bool(phi__call_args_at(call, path), fallback);
}
