/* job.c - reads arguments, gives results, and checks that paths are allowed. */
#include "tools/job_in.h"

#include "base/base_in.h"

#include <stdarg.h>
#include <stdio.h>

static void phi__job_end(void *state) {
    phi__job *job = (phi__job *)state;
    if (job->ended) return;
    job->ended = true;
    job->drop(job);
    phi_arena_free(&job->arena);
}

PHI__FN phi_flow phi__job_give(phi__job *job, const phi_content *content, const char *details,
                               bool is_error) {
    phi_tool_result result = PHI_ZERO;
    result.content = content;
    result.content_count = 1;
    result.details = details;
    result.is_error = is_error;
    (void)phi_call_result(job->call, &result);
    phi__job_end(job);
    return PHI_DONE;
}

static phi_flow phi__job_give_text(phi__job *job, phi_str text, const char *details,
                                   bool is_error) {
    phi_content content = PHI_ZERO;
    content.kind = PHI_CONTENT_TEXT;
    content.text = text;
    return phi__job_give(job, &content, details, is_error);
}

PHI__FN phi_flow phi__job_no_memory(phi__job *job) {
    return phi__job_give_text(job, PHI__LIT("Out of memory"), NULL, true);
}

PHI__FN phi_flow phi__job_done(phi__job *job, phi_str text, const char *details) {
    return phi__job_give_text(job, text, details, false);
}

PHI__FN phi_flow phi__job_done_with(phi__job *job, phi__buf *text, phi__buf *details) {
    phi__buf_char(details, '\0');
    if (text->failed || details->failed)
        (void)phi__job_no_memory(job);
    else
        (void)phi__job_done(job, phi__buf_str(text), details->at);
    phi__buf_free(text);
    phi__buf_free(details);
    return PHI_DONE;
}

PHI__FN phi_flow phi__job_fail(phi__job *job, const char *format, ...) {
    va_list args;
    phi__buf text;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *raw = n < 0 ? NULL : (char *)phi_arena_alloc(&job->arena, (size_t)n + 1);
    if (raw == NULL) return phi__job_no_memory(job);
    va_start(args, format);
    (void)vsnprintf(raw, (size_t)n + 1, format, args);
    va_end(args);
    phi__buf_init(&text, job->memory);
    phi__utf8_repair(&text, phi__str(raw, (size_t)n)); /* raw may quote bytes of a file */
    if (!text.failed) text.len = phi__words_clean(text.at, text.len);
    if (text.failed)
        (void)phi__job_no_memory(job);
    else
        (void)phi__job_give_text(job, phi__buf_str(&text), NULL, true);
    phi__buf_free(&text);
    return PHI_DONE;
}

/* Notes that a pending job is ready for its next slice, so that the pump does not sleep. */
static phi_flow phi__job_busy(phi_runtime *rt, phi_flow flow) {
    if (flow == PHI_PENDING) rt->polls.busy = true;
    return flow;
}

static phi_flow phi__job_go(phi__job *job, size_t units) {
    phi_parse_error error;
    if (job->arguments == NULL) {
        phi_status status = phi__json_read_advance(&job->reader, units);
        if (status == PHI_BUSY) return PHI_PENDING;
        status = phi__json_read_result(&job->reader, &job->arguments, &error);
        if (status == PHI_NO_MEMORY) return phi__job_no_memory(job);
        if (status != PHI_OK)
            return phi__job_fail(job, "Invalid arguments: not JSON, at column %u: %s",
                                 (unsigned)error.column, error.message);
        if (!phi_json_is(job->arguments, PHI_JSON_OBJECT))
            return phi__job_fail(job, "Invalid arguments: expected object, got %s",
                                 phi__json_get_type_name(job->arguments));
    }
    return job->go(job);
}

PHI__FN phi_flow phi__job_begin(void *user_data, phi_call call, phi_str arguments, size_t bytes,
                                bool whole, phi_flow (*go)(phi__job *), void (*drop)(phi__job *)) {
    phi__job *job = (phi__job *)phi_call_state(call, bytes);
    if (job == NULL) {
        (void)phi_call_fail(call, "Out of memory");
        return PHI_DONE;
    }
    job->call = call;
    job->set = (const phi_toolset *)user_data;
    job->user_data = user_data;
    /* The call has a state, so the agent that made it is alive, and its memory can be used. */
    job->memory = &phi__call_find(call)->run->agent->memory;
    job->io = call.rt->io;
    job->go = go;
    job->drop = drop;
    phi_arena_init(&job->arena, job->memory, 1024);
    phi__call_on_gone(call, phi__job_end);
    phi__json_read_begin(&job->reader, &job->arena, arguments,
                         PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8, 0);
    if (whole) return phi__job_go(job, SIZE_MAX);
    return phi__job_busy(call.rt, phi__job_go(job, PHI__JOB_SLICE));
}

PHI__FN phi_flow phi__job_step(void *user_data, phi_call call) {
    phi__job *job = (phi__job *)phi_call_state(call, 0);
    (void)user_data;
    if (job == NULL) return PHI_PENDING;
    return phi__job_busy(call.rt, phi__job_go(job, PHI__JOB_SLICE));
}

static void phi__job_cancel(void *user_data, phi_call call) {
    phi__job *job = (phi__job *)phi_call_state(call, 0);
    (void)user_data;
    if (job != NULL) phi__job_end(job);
}

PHI__FN void phi__job_tool(phi_tool *out, void *user_data, const char *name, const char *label,
                           const char *description, const char *schema,
                           phi_flow (*start)(void *user_data, phi_call call, phi_str arguments)) {
    memset(out, 0, sizeof *out);
    out->name = name;
    out->label = label;
    out->description = description;
    out->schema = schema;
    out->start = start;
    out->cancel = phi__job_cancel;
    out->user_data = user_data;
    out->checks_arguments = true;
}

/* ---- arguments ---- */

static const phi_json *phi__job_argument(const phi__job *job, const char *name) {
    const phi_json *node = phi_json_get(job->arguments, name);
    return phi_json_is(node, PHI_JSON_NULL) ? NULL : node;
}

PHI__FN bool phi__job_str(phi__job *job, const char *name, phi_str *out) {
    const phi_json *node = phi__job_argument(job, name);
    if (!phi_json_is(node, PHI_JSON_STRING)) {
        (void)phi__job_fail(job, "Invalid arguments: missing '%s' parameter", name);
        return false;
    }
    *out = phi_json_str(node, NULL);
    return true;
}

PHI__FN bool phi__job_text(phi__job *job, const char *name, bool required, const char **out) {
    const phi_json *node = phi__job_argument(job, name);
    phi_str s = phi_json_str(node, NULL);
    *out = NULL;
    if (node == NULL && !required) return true;
    if (!phi_json_is(node, PHI_JSON_STRING) && required)
        (void)phi__job_fail(job, "Invalid arguments: missing '%s' parameter", name);
    else if (!phi_json_is(node, PHI_JSON_STRING))
        (void)phi__job_fail(job, "Invalid arguments: '%s' must be a string", name);
    else if (s.len > 0 && memchr(s.at, 0, s.len) != NULL)
        (void)phi__job_fail(job, "Invalid arguments: '%s' must not contain a NUL character", name);
    else if (!phi__arena_str(&job->arena, s, &s))
        (void)phi__job_no_memory(job);
    else
        *out = s.at;
    return *out != NULL;
}

PHI__FN bool phi__job_number(phi__job *job, const char *name, uint64_t fallback, uint64_t *out) {
    const phi_json *node = phi__job_argument(job, name);
    *out = fallback;
    if (node == NULL) return true;
    *out = phi__json_get_uint(node, UINT64_MAX);
    if (phi_json_is(node, PHI_JSON_NUMBER) && *out != UINT64_MAX) return true;
    (void)phi__job_fail(job, "Invalid arguments: '%s' must be a whole number, 0 or more", name);
    return false;
}

PHI__FN bool phi__job_flag(phi__job *job, const char *name, bool *out) {
    const phi_json *node = phi__job_argument(job, name);
    *out = phi_json_bool(node, false);
    if (node == NULL || phi_json_is(node, PHI_JSON_BOOL)) return true;
    (void)phi__job_fail(job, "Invalid arguments: '%s' must be true or false", name);
    return false;
}

/* ---- paths ---- */

#ifndef PHI_NO_FILES

PHI__FN bool phi__job_confined(const phi_tools_desc *desc) {
    return !desc->unconfined && (desc->workspace != NULL || desc->allowed_paths != NULL);
}

/* Begins to resolve the next root that the path may lie in: the workspace, then the allowed paths.
   False: there are no more roots. */
static bool phi__job_next_root(phi__job *job) {
    const phi_tools_desc *desc = &job->set->desc;
    for (;;) {
        size_t i = job->roots++;
        const char *root = i == 0                        ? desc->workspace
                           : desc->allowed_paths != NULL ? desc->allowed_paths[i - 1]
                                                         : NULL;
        if (root == NULL && i > 0) return false;
        if (root != NULL && phi__path_resolve_begin(job->resolve, i > 0 ? desc->workspace : NULL,
                                                    root, NULL) == PHI_OK)
            return true;
    }
}

static phi_status phi__job_misplaced(phi__job *job, const char *words) {
    (void)phi__job_fail(job, "Cannot access %s: %s", job->path, words);
    return PHI_REFUSED;
}

PHI__FN phi_status phi__job_place_begin(phi__job *job, const char *path) {
    phi__words words;
    job->path = path;
    job->resolve = (phi__resolve *)phi_arena_alloc(&job->arena, sizeof *job->resolve);
    if (job->resolve == NULL) {
        (void)phi__job_no_memory(job);
        return PHI_REFUSED;
    }
    if (phi__path_resolve_begin(job->resolve, job->set->desc.workspace, path, &words) != PHI_OK)
        return phi__job_misplaced(job, words.text);
    return PHI_OK;
}

PHI__FN phi_status phi__job_place_more(phi__job *job) {
    size_t units = PHI__JOB_PATHS;
    phi__words words;
    for (;;) {
        phi_status status = phi__path_resolve_advance(job->resolve, &units, &words);
        if (status == PHI_BUSY) return PHI_BUSY;
        if (job->place == NULL) {
            if (status != PHI_OK) return phi__job_misplaced(job, words.text);
            phi_str kept;
            if (!phi__arena_str(&job->arena, phi_str_of(job->resolve->out), &kept)) {
                (void)phi__job_no_memory(job);
                return PHI_REFUSED;
            }
            job->place = kept.at;
            if (!phi__job_confined(&job->set->desc)) return PHI_OK;
        } else if (status == PHI_OK && phi__path_inside(job->resolve->out, job->place))
            return PHI_OK;
        if (!phi__job_next_root(job))
            return phi__job_misplaced(job, "it is outside the allowed paths");
    }
}

static phi_flow phi__job_placing(phi__job *job) {
    phi_status status = phi__job_place_more(job);
    if (status == PHI_BUSY) return PHI_PENDING;
    if (status != PHI_OK) return PHI_DONE;
    job->go = job->placed;
    return job->go(job);
}

PHI__FN phi_flow phi__job_place(phi__job *job, const char *path, phi_flow (*placed)(phi__job *)) {
    if (phi__job_place_begin(job, path) != PHI_OK) return PHI_DONE;
    job->placed = placed;
    job->go = phi__job_placing;
    return phi__job_placing(job);
}

#endif
