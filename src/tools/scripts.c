/* scripts.c - runs the scripts of a hook, one process after the other, without blocking the pump.

   A job runs the scripts of one decision. It begins inside the hook and ends when the decision's
   ticket dies, for whatever reason. Then the job's process is killed and the job's memory freed, so
   nothing of a job outlives the run or call that waits for it. A job decides by phi__hooks_settle,
   which frees the job: do not touch the job after that call. */
#include "tools/scripts_in.h"
#include "text/text_in.h"
#include "model/event_parts.h"
#include "agent/agent.h"
#include "base/base_in.h"
#include "system/system_in.h"
#include "model/model_in.h"
#include "agent/agent_info.h"

/* ---- splitting a command into words, as a shell does ---- */

#ifndef PHI_NO_PROCESS

#include <stdarg.h>
#include <stdio.h>

/* Copies one word from *at to *to, which must have room, and advances both. False: a quote is not
   closed. */
static bool phi__split_next(const char **at, char **to) {
    const char *from = *at;
    char quote = '\0';
    for (; *from != '\0'; from++) {
        if (quote == '\0' && (*from == ' ' || *from == '\t' || *from == '\n')) break;
        if (quote == '\0' && (*from == '"' || *from == '\'')) {
            quote = *from;
        } else if (*from == quote && quote != '\0') {
            quote = '\0';
        } else if (*from == '\\' && quote != '\'' && from[1] != '\0' &&
                   (quote == '\0' || from[1] == '"' || from[1] == '\\')) {
            *(*to)++ = *++from;
        } else {
            *(*to)++ = *from;
        }
    }
    *(*to)++ = '\0';
    *at = from;
    return quote == '\0';
}

PHI__FN phi_status phi__split_command(phi_arena *arena, const char *command,
                                      const char *const **out, const char **fault) {
    size_t most = strlen(command) / 2 + 3, n = 1; /* words[0] is for an interpreter */
    const char **words = (const char **)phi_arena_alloc(arena, most * sizeof *words);
    char *to = (char *)phi_arena_alloc(arena, strlen(command) + most);
    if (words == NULL || to == NULL) return PHI_NO_MEMORY;
    while (*(command += strspn(command, " \t\n")) != '\0') {
        words[n++] = to;
        if (!phi__split_next(&command, &to)) {
            *fault = "a quote is not closed";
            return PHI_PARSE;
        }
    }
    words[n] = NULL;
    if (n == 1 || words[1][0] == '\0') {
        *fault = "the command is empty";
        return PHI_PARSE;
    }
    size_t len = strlen(words[1]);
    const char *end = words[1] + (len > 3 ? len - 3 : len);
    words[0] = strcmp(end, ".py") == 0 ? "python3" : strcmp(end, ".sh") == 0 ? "sh" : NULL;
    *out = words[0] != NULL ? words : words + 1;
    return PHI_OK;
}

/* ---- the input of a script ---- */

/* Returns the static name of a hook point, such as "before_loop". "": no script can run there. */
static const char *phi__talk_name(phi_hook_point point) {
    switch (point) {
    case PHI_HOOK_BEFORE_LOOP: return "before_loop";
    case PHI_HOOK_BEFORE_TURN: return "before_turn";
    case PHI_HOOK_BEFORE_COMPACTION: return "before_compaction_start";
    case PHI_HOOK_AFTER_COMPACTION: return "after_compaction_end";
    case PHI_HOOK_BEFORE_TOOL: return "before_tool_execution";
    case PHI_HOOK_AFTER_TOOL: return "after_tool_execution";
    case PHI_HOOK_ON_ERROR: return "on_error";
    case PHI_HOOK_AFTER_TURN: return "after_turn";
    case PHI_HOOK_STEERING: return "steering";
    case PHI_HOOK_FOLLOW_UP: return "follow_up";
    case PHI_HOOK_AFTER_LOOP: return "after_loop";
    case PHI_HOOK_FILTER: return "filter";
    case PHI_HOOK_CREDENTIAL: return "credential";
    case PHI_HOOK_TRANSFORM_CONTEXT:
    case PHI_HOOK_CONVERT_TO_LLM:
    case PHI_HOOK_BEFORE_TOOL_UPDATE:
    case PHI_HOOK_AFTER_TOOL_UPDATE:
    case PHI_HOOK_QUESTION: break;
    }
    return "";
}

/* Appends the member "arguments": as JSON if the arguments are valid JSON, else as a text. */
static void phi__talk_arguments(phi__buf *out, phi_str arguments) {
    phi_arena scratch;
    phi_json *root = NULL;
    phi_arena_init(&scratch, out->memory, 0);
    phi__records_raw(out, "arguments", "");
    if (phi_json_parse(&scratch, arguments, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8, &root,
                       NULL) != PHI_OK ||
        phi__json_write(out, root, 0) != PHI_OK)
        phi__json_write_str(out, arguments);
    phi_arena_free(&scratch);
}

/* Appends the member "result": the text blocks of a message, joined by line breaks. */
static void phi__talk_result(phi__buf *out, const phi_message *message) {
    phi__buf text;
    if (message == NULL) return;
    phi__buf_init(&text, out->memory);
    for (size_t i = 0; i < message->content_count; i++) {
        if (message->content[i].kind != PHI_CONTENT_TEXT) continue;
        if (text.len > 0) phi__buf_char(&text, '\n');
        phi__buf_add_str(&text, message->content[i].text);
    }
    phi__records_str(out, "result", phi__buf_str(&text));
    out->failed = out->failed || text.failed;
    phi__buf_free(&text);
}

/* Writes a script's input. `arguments` are the call's arguments if an earlier script changed them.
   If `arguments` is empty, the hook's arguments are written. */
static void phi__talk_input(phi__buf *out, const phi_hook *hook, phi_str arguments) {
    phi_hook_point point = hook->point;
    const phi_compaction *c = hook->compaction;
    phi__buf_printf(out, "{\"hook\":\"%s\"", phi__talk_name(point));
    if (point == PHI_HOOK_BEFORE_LOOP || point == PHI_HOOK_BEFORE_TURN)
        phi__records_u64(out, "message_count", hook->message_count);
    if (point == PHI_HOOK_BEFORE_LOOP) { /* loop ids are session.config.N */
        size_t at = hook->loop_id.len;
        uint64_t n = 0;
        while (at > 0 && hook->loop_id.at[at - 1] != '.') at--;
        phi__records_u64(out, "loop_index",
                         phi__str_to_u64(phi__str_from(hook->loop_id, at), &n) ? n : 0);
    }
    if (point == PHI_HOOK_BEFORE_TURN) phi__records_u64(out, "turn_index", hook->turn_index);
    if (point == PHI_HOOK_BEFORE_TOOL || point == PHI_HOOK_AFTER_TOOL) {
        phi__records_str(out, "tool_name", hook->tool_name);
        phi__records_str(out, "tool_call_id", hook->tool_call_id);
    }
    if (point == PHI_HOOK_BEFORE_TOOL)
        phi__talk_arguments(out, arguments.len > 0 ? arguments : hook->arguments);
    if (point == PHI_HOOK_AFTER_TOOL) {
        phi__records_bool(out, "is_error", hook->is_error);
        phi__talk_result(out, hook->message);
    }
    if (c != NULL && point == PHI_HOOK_BEFORE_COMPACTION) {
        phi__records_u64(out, "estimated_tokens", c->estimated_tokens);
        phi__records_u64(out, "message_count", c->message_count);
    } else if (c != NULL) {
        phi__records_u64(out, "messages_before", c->messages_before);
        phi__records_u64(out, "messages_after", c->messages_after);
        phi__records_u64(out, "tokens_before", c->tokens_before);
        phi__records_u64(out, "tokens_after", c->tokens_after);
    }
    if (point == PHI_HOOK_ON_ERROR) phi__records_str(out, "error", hook->text);
    if (point == PHI_HOOK_FILTER) phi__records_str(out, "text", hook->text);
    if (point == PHI_HOOK_CREDENTIAL) {
        phi__records_bool(out, "refused", hook->is_error);
        phi__records_str(out, "model", phi_str_of(hook->model->id));
        phi__records_str(out, "provider", phi_str_of(hook->model->provider));
        phi__records_str(out, "base_url", phi_str_of(hook->model->base_url));
    }
    phi__buf_text(out, "}\n");
}

/* ---- the answer of a script ---- */

static phi__script_says phi__talk_broken(phi__buf *reply, const char *fault) {
    phi__buf_text(reply, "gave an answer that cannot be read: ");
    phi__buf_text(reply, fault);
    return reply->failed ? PHI__SCRIPT_LOST : PHI__SCRIPT_BROKEN;
}

/* Reads an optional member. False: it exists, but is neither a text nor null. */
static bool phi__talk_take(const phi_json *root, const char *key, phi_str *out) {
    const phi_json *node = phi_json_get(root, key);
    *out = phi_json_str(node, NULL);
    return node == NULL || phi_json_is(node, PHI_JSON_NULL) || phi_json_is(node, PHI_JSON_STRING);
}

static phi__script_says phi__talk_read(const phi_json *root, phi_hook_point point,
                                       phi__buf *reply) {
    const phi_json *allow = phi_json_get(root, "allow");
    bool is_reply =
        point == PHI_HOOK_STEERING || point == PHI_HOOK_FOLLOW_UP || point == PHI_HOOK_CREDENTIAL;
    phi_str text;
    if (allow != NULL && !phi_json_is(allow, PHI_JSON_BOOL))
        return phi__talk_broken(reply, "\"allow\" is neither true nor false");
    if (!phi_json_bool(allow, true)) {
        if (!phi__talk_take(root, "reason", &text))
            return phi__talk_broken(reply, "\"reason\" is no text");
        phi__buf_add_str(reply, text);
        return reply->failed ? PHI__SCRIPT_LOST : PHI__SCRIPT_DENIES;
    }
    const phi_json *arguments = phi_json_get(root, "arguments");
    if (point == PHI_HOOK_BEFORE_TOOL && arguments != NULL) {
        if (!phi_json_is(arguments, PHI_JSON_OBJECT))
            return phi__talk_broken(reply, "\"arguments\" is no object");
        return phi__json_write(reply, arguments, 0) != PHI_OK || reply->failed ? PHI__SCRIPT_LOST
                                                                               : PHI__SCRIPT_ALLOWS;
    }
    if (!phi__talk_take(root, is_reply ? "reply" : "warn", &text))
        return phi__talk_broken(reply, is_reply ? "\"reply\" is no text" : "\"warn\" is no text");
    if (!is_reply && point != PHI_HOOK_FILTER) return PHI__SCRIPT_ALLOWS;
    phi__buf_add_str(reply, text);
    if (reply->failed) return PHI__SCRIPT_LOST;
    return !is_reply && text.len > 0 ? PHI__SCRIPT_WARNS : PHI__SCRIPT_ALLOWS;
}

/* True if the output contains "allow", quotes included. Each character takes `step` bytes. */
static bool phi__talk_hides(phi_str output, size_t step) {
    static const char word[] = "\"allow\"";
    size_t k, n = sizeof word - 1;
    for (size_t i = 0; i + (n - 1) * step < output.len; i++) {
        for (k = 0; k < n && output.at[i + k * step] == word[k];) k++;
        if (k == n) return true;
    }
    return false;
}

PHI__FN phi__script_says phi__talk_answer(phi_memory *memory, phi_hook_point point, phi_str output,
                                          phi__buf *reply) {
    phi_arena scratch;
    phi_json *root = NULL;
    phi_parse_error error;
    phi__script_says says;
    if (phi__str_starts(output, "\xEF\xBB\xBF")) output = phi__str_from(output, 3);
    output = phi__str_trim(output);
    if (output.len == 0) return PHI__SCRIPT_ALLOWS;
    if (output.at[0] != '{') {
        /* A denial after a line of other output, or in UTF-16, must not pass as no answer. */
        if (phi__talk_hides(output, 1) || phi__talk_hides(output, 2))
            return phi__talk_broken(reply, "\"allow\" stands in it, but it is no JSON object");
        phi__buf_text(reply, "its output is no JSON object and was ignored");
        return reply->failed ? PHI__SCRIPT_LOST : PHI__SCRIPT_CHATS;
    }
    phi_arena_init(&scratch, memory, 0);
    phi_status status = phi_json_parse(&scratch, output,
                                       PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8, &root, &error);
    if (status == PHI_OK)
        says = phi__talk_read(root, point, reply);
    else if (status == PHI_NO_MEMORY)
        says = PHI__SCRIPT_LOST;
    else {
        phi__buf_printf(reply, "gave an answer that cannot be read: line %u, column %u: %s",
                        (unsigned)error.line, (unsigned)error.column, error.message);
        says = reply->failed ? PHI__SCRIPT_LOST : PHI__SCRIPT_BROKEN;
    }
    phi_arena_free(&scratch);
    return says;
}

/* ---- a job ---- */

enum {
    PHI__SCRIPTS_RETRY_US = 5000,    /* pause before the next try to start */
    PHI__SCRIPTS_REASON_BYTES = 2000 /* max. bytes of standard error in a reason or a warning */
};

typedef struct phi__scripts_job {
    phi__link link;
    phi_scripts *set;
    phi_ticket ticket;
    phi__agent *agent;
    phi_arena arena; /* for the environment and the strings of `hook` */
    phi_hook hook;   /* copy of the members that later scripts need */
    const char **env;
    size_t index; /* index of the script that runs now or next */
    bool running;
    phi_verdict verdict; /* the verdict so far */
    phi__process *process;
    phi__timer deadline, tick; /* tick: starts the script */
    phi__buf input, out, err, reply;
    bool too_long;
} phi__scripts_job;

static bool phi__scripts_can_deny(phi_hook_point point) {
    return ((uint32_t)point & ((uint32_t)PHI_HOOK_BEFORE_LOOP | PHI_HOOK_BEFORE_TURN |
                               PHI_HOOK_BEFORE_COMPACTION | PHI_HOOK_BEFORE_TOOL | PHI_HOOK_FILTER |
                               PHI_HOOK_CREDENTIAL | PHI_HOOK_STEERING | PHI_HOOK_FOLLOW_UP)) != 0;
}

/* Returns the index of the next script for this hook, from `index` on. SIZE_MAX: none. */
static size_t phi__scripts_next(const phi_scripts *set, const phi_hook *hook, size_t index) {
    const uint32_t point = (uint32_t)hook->point;
    const uint32_t of_tools = (uint32_t)PHI_HOOK_BEFORE_TOOL | PHI_HOOK_AFTER_TOOL;
    for (; index < set->desc.count; index++) {
        const phi_script *script = &set->all[index].script;
        if ((script->points & point) == 0) continue;
        if ((point & of_tools) != 0
                ? script->tool == NULL || phi__str_is(hook->tool_name, script->tool)
                : hook->model == NULL || script->server == NULL ||
                      phi__model_is_at(hook->model, script->server))
            return index;
    }
    return SIZE_MAX;
}

static void phi__scripts_at(phi__scripts_job *job, phi__timer *timer, uint64_t us) {
    phi__io *io = job->agent->rt->io;
    uint64_t at = us == UINT64_MAX ? UINT64_MAX : phi__io_now_us(io) + us;
    (void)phi__io_timer_set(io, timer, at); /* cannot fail: the timer was set before */
}

static void phi__scripts_drop(phi__scripts_job *job) {
    phi_scripts *set = job->set;
    phi__io *io = job->agent->rt->io;
    phi__process_free(job->process);
    phi__io_timer_clear(io, &job->deadline);
    phi__io_timer_clear(io, &job->tick);
    phi__buf_free(&job->input);
    phi__buf_free(&job->out);
    phi__buf_free(&job->err);
    phi__buf_free(&job->reply);
    phi_arena_free(&job->arena);
    phi__list_take(&set->jobs, &job->link);
    set->job_count--;
    if (job->running) set->running--;
    phi__free(&set->memory, job, sizeof *job);
    /* A place is free. The next step gives it to the job that has waited longest. */
    phi__link *link = set->jobs.first;
    while (link != NULL && PHI__OWNER(link, phi__scripts_job, link)->running) link = link->next;
    if (link == NULL) return;
    job = PHI__OWNER(link, phi__scripts_job, link);
    phi__scripts_at(job, &job->tick, 0);
}

static void phi__scripts_over(void *ctx) { phi__scripts_drop((phi__scripts_job *)ctx); }

static void phi__scripts_no_memory(phi__scripts_job *job) {
    bool denies = phi__scripts_can_deny(job->hook.point);
    phi__hooks_settle(job->ticket, denies ? PHI_DENY : PHI_ALLOW,
                      denies ? PHI__LIT("Out of memory for a hook script.") : phi__str(NULL, 0));
}

/* Appends what the script wrote to standard error, cut and cleaned for display. */
static void phi__scripts_err(const phi__scripts_job *job, phi__buf *out) {
    size_t from = out->len;
    phi_str text = phi__str_trim(phi__buf_str(&job->err));
    text.len = phi__min(text.len, PHI__SCRIPTS_REASON_BYTES);
    phi__utf8_repair(out, text);
    if (out->failed) return;
    size_t len = phi__words_clean(out->at + from, out->len - from);
    out->len = from + len;
}

static void phi__scripts_warn(phi__scripts_job *job, const char *words) {
    phi__buf text;
    phi__buf_init(&text, &job->set->memory);
    phi__buf_printf(&text, "The hook script \"%s\" at %s: %s", job->set->all[job->index].name,
                    phi__talk_name(job->hook.point), words);
    if (job->err.len > 0) phi__buf_text(&text, ": ");
    phi__scripts_err(job, &text);
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_WARNING;
    event.text = phi__buf_str(&text);
    if (!text.failed) (void)phi__events_emit(job->agent, &event);
    phi__buf_free(&text);
}

static void phi__scripts_pass(phi__scripts_job *job) {
    size_t next = phi__scripts_next(job->set, &job->hook, job->index + 1);
    if (next == SIZE_MAX) {
        phi__hooks_settle(job->ticket, job->verdict, phi__buf_str(&job->reply));
        return;
    }
    job->index = next;
    phi__buf_clear(&job->out);
    phi__buf_clear(&job->err);
    job->too_long = false;
    if (job->hook.point == PHI_HOOK_BEFORE_TOOL && job->reply.len > 0) {
        phi__buf_clear(&job->input);
        phi__talk_input(&job->input, &job->hook, phi__buf_str(&job->reply));
        if (job->input.failed) {
            phi__scripts_no_memory(job);
            return;
        }
    }
    phi__scripts_at(job, &job->tick, 0);
}

/* Denies with a message: the script's `reason`. If that is empty, the message is the script's
   standard error. If both are empty, it is `words`. */
static void phi__scripts_deny(phi__scripts_job *job, phi_str reason, const char *words) {
    phi__buf text;
    if (!phi__scripts_can_deny(job->hook.point)) {
        phi__scripts_warn(job, words);
        phi__scripts_pass(job);
        return;
    }
    phi__buf_init(&text, &job->set->memory);
    if (reason.len > 0)
        phi__buf_add_str(&text, reason);
    else
        phi__scripts_err(job, &text);
    if (text.len == 0 && !text.failed)
        phi__buf_printf(&text, "The hook script \"%s\" %s.", job->set->all[job->index].name, words);
    if (text.failed)
        phi__scripts_no_memory(job);
    else /* `text` is a copy, because phi__hooks_settle frees the job */
        phi__hooks_settle(job->ticket, PHI_DENY, phi__buf_str(&text));
    phi__buf_free(&text);
}

static void phi__scripts_fail(phi__scripts_job *job, bool started, const char *words) {
    phi_script_failure way = job->set->all[job->index].script.on_failure;
    bool denies =
        way == PHI_SCRIPT_FAILURE_DENIES || (way == PHI_SCRIPT_FAILURE_DEFAULT && started);
    phi__scripts_warn(job, words);
    if (denies && phi__scripts_can_deny(job->hook.point))
        phi__scripts_deny(job, phi__str(NULL, 0), words);
    else
        phi__scripts_pass(job);
}

static void phi__scripts_answered(phi__scripts_job *job) {
    phi__buf reply;
    phi__buf_init(&reply, &job->set->memory);
    phi__script_says says =
        phi__talk_answer(&job->set->memory, job->hook.point, phi__buf_str(&job->out), &reply);
    phi__buf_char(&reply, '\0');
    if (reply.failed) says = PHI__SCRIPT_LOST;
    if (!reply.failed) reply.len--;
    switch (says) {
    case PHI__SCRIPT_WARNS:
    case PHI__SCRIPT_ALLOWS:
        if (says == PHI__SCRIPT_WARNS) {
            if (job->reply.len > 0) phi__buf_char(&job->reply, '\n');
            job->verdict = PHI_WARN;
        } else if (reply.len > 0) {
            phi__buf_clear(&job->reply);
        }
        phi__buf_add_str(&job->reply, phi__buf_str(&reply));
        if (job->reply.failed)
            phi__scripts_no_memory(job);
        else
            phi__scripts_pass(job);
        break;
    case PHI__SCRIPT_DENIES: phi__scripts_deny(job, phi__buf_str(&reply), "denied it"); break;
    case PHI__SCRIPT_CHATS:
        phi__scripts_warn(job, reply.at);
        phi__scripts_pass(job);
        break;
    case PHI__SCRIPT_BROKEN: phi__scripts_fail(job, true, reply.at); break;
    case PHI__SCRIPT_LOST: phi__scripts_no_memory(job); break;
    }
    phi__buf_free(&reply);
}

static bool phi__scripts_output(void *ctx, int stream, const char *bytes, size_t len) {
    phi__scripts_job *job = (phi__scripts_job *)ctx;
    phi__buf *to = stream == 1 ? &job->out : &job->err;
    size_t most = job->set->desc.max_output_bytes;
    if (stream == 2) most /= 4;
    if (to->len + len > most) {
        len = most - to->len;
        job->too_long = job->too_long || stream == 1;
    }
    phi__buf_add(to, bytes, len);
    return true;
}

static void phi__scripts_exited(void *ctx, int code, int signal_number) {
    phi__scripts_job *job = (phi__scripts_job *)ctx;
    char words[64];
    phi__process_free(job->process);
    job->process = NULL;
    phi__scripts_at(job, &job->deadline, UINT64_MAX);
    if (job->out.failed || job->err.failed) {
        phi__scripts_no_memory(job);
    } else if (code < 0) {
        (void)snprintf(words, sizeof words, "was killed by signal %d", signal_number);
        phi__scripts_fail(job, true, words);
    } else if (code != 0) {
        (void)snprintf(words, sizeof words, "exited with code %d", code);
        phi__scripts_deny(job, phi__str(NULL, 0), words);
    } else if (job->too_long) {
        (void)snprintf(words, sizeof words, "wrote more than %u bytes",
                       (unsigned)job->set->desc.max_output_bytes);
        phi__scripts_fail(job, true, words);
    } else
        phi__scripts_answered(job);
}

static uint32_t phi__scripts_timeout(const phi__scripts_job *job) {
    uint32_t own = job->set->all[job->index].script.timeout_ms;
    return own != 0 ? own : job->set->desc.timeout_ms;
}

static void phi__scripts_late(phi__timer *timer) {
    phi__scripts_job *job = PHI__OWNER(timer, phi__scripts_job, deadline);
    char words[64];
    phi__process_free(job->process);
    job->process = NULL;
    /* Set the fired timer again, for later scripts. This needs memory. */
    if (phi__io_timer_set(job->agent->rt->io, &job->deadline, UINT64_MAX) != PHI_OK) {
        phi__scripts_no_memory(job);
        return;
    }
    (void)snprintf(words, sizeof words, "ran longer than %u ms",
                   (unsigned)phi__scripts_timeout(job));
    phi__scripts_fail(job, true, words);
}

static void phi__scripts_tick(phi__timer *timer) {
    phi__scripts_job *job = PHI__OWNER(timer, phi__scripts_job, tick);
    phi_scripts *set = job->set;
    phi__io *io = job->agent->rt->io;
    uint32_t timeout = phi__scripts_timeout(job);
    char words[160], text[200];
    /* Set the fired timer again. This needs memory. */
    if (phi__io_timer_set(io, &job->tick, UINT64_MAX) != PHI_OK) {
        phi__scripts_no_memory(job);
        return;
    }
    /* If no place is free, phi__scripts_drop wakes the job later. */
    if (!job->running && set->running >= set->desc.max_running) return;
    if (!job->running) set->running++;
    job->running = true;
    phi__process_desc desc = PHI_ZERO;
    desc.argv = set->all[job->index].argv;
    desc.cwd = set->desc.workspace != NULL ? set->desc.workspace : job->agent->workspace.at;
    if (desc.cwd != NULL && desc.cwd[0] == '\0') desc.cwd = NULL;
    desc.env = job->env;
    desc.hide_keys = !set->desc.keep_keys;
    desc.input = phi__buf_str(&job->input);
    desc.output = phi__scripts_output;
    desc.exited = phi__scripts_exited;
    desc.ctx = job;
    phi_status status = phi__process_new(io, &desc, &job->process, words, sizeof words);
    if (status == PHI_BUSY) {
        phi__scripts_at(job, &job->tick, PHI__SCRIPTS_RETRY_US);
    } else if (status == PHI_NO_MEMORY) {
        phi__scripts_no_memory(job);
    } else if (status != PHI_OK) {
        (void)snprintf(text, sizeof text, "cannot be started: %s",
                       words[0] != '\0' ? words : phi_status_text(status));
        phi__scripts_fail(job, false, text);
    } else if (timeout != PHI_UNLIMITED) /* cannot fail: the timer is already set */
        (void)phi__io_deadline_set(io, &job->deadline, (uint64_t)timeout * 1000);
}

static bool phi__scripts_environment(phi__scripts_job *job, const phi_hook *hook) {
    static const char *const names[] = {"PHI_HOOK",        "PHI_SESSION_ID", "PHI_LOOP_ID",
                                        "PHI_AGENT_ID",    "PHI_TURN_INDEX", "PHI_TOOL_NAME",
                                        "PHI_TOOL_CALL_ID"};
    const phi_scripts *set = job->set;
    phi_str values[PHI__COUNT(names)];
    char turn[16];
    size_t n = 0;
    (void)snprintf(turn, sizeof turn, "%u", (unsigned)hook->turn_index);
    values[0] = phi_str_of(phi__talk_name(hook->point));
    values[1] = phi_agent_get_info(hook->agent).session_id;
    values[2] = hook->loop_id;
    values[3] = job->agent->agent_id;
    values[4] = phi_str_of(turn);
    values[5] = hook->tool_name;
    values[6] = hook->tool_call_id;
    job->env = (const char **)phi_arena_alloc(
        &job->arena, (set->env_count + PHI__COUNT(names) + 1) * sizeof *job->env);
    if (job->env == NULL) return false;
    for (size_t i = 0; i < PHI__COUNT(names); i++) {
        size_t len = strlen(names[i]);
        if (values[i].len == 0) continue;
        char *to = phi__arena_bytes(&job->arena, len + values[i].len + 2);
        if (to == NULL) return false;
        job->env[n++] = to;
        memcpy(to, names[i], len);
        to[len++] = '=';
        for (size_t k = 0; k < values[i].len && values[i].at[k] != '\0'; k++)
            to[len++] = values[i].at[k];
        to[len] = '\0';
    }
    if (set->env_count > 0)
        memcpy((void *)(job->env + n), (const void *)set->desc.env,
               set->env_count * sizeof *job->env);
    job->env[n + set->env_count] = NULL;
    return true;
}

static bool phi__scripts_fill(phi__scripts_job *job, const phi_hook *hook) {
    phi__io *io = job->agent->rt->io;
    job->hook.point = hook->point;
    if (hook->model != NULL) { /* later scripts only need the address */
        phi_str address;
        phi_model *model = (phi_model *)phi__arena_zero(&job->arena, sizeof *model);
        if (model == NULL ||
            !phi__arena_str(&job->arena, phi_str_of(hook->model->base_url), &address))
            return false;
        model->base_url = address.at;
        job->hook.model = model;
    }
    phi__talk_input(&job->input, hook, phi__str(NULL, 0));
    return !job->input.failed &&
           phi__arena_str(&job->arena, hook->tool_name, &job->hook.tool_name) &&
           phi__arena_str(&job->arena, hook->tool_call_id, &job->hook.tool_call_id) &&
           phi__arena_str(&job->arena, hook->arguments, &job->hook.arguments) &&
           phi__scripts_environment(job, hook) &&
           phi__io_timer_set(io, &job->deadline, UINT64_MAX) == PHI_OK &&
           phi__io_timer_set(io, &job->tick, phi__io_now_us(io)) == PHI_OK &&
           phi__hooks_watch(hook->ticket, phi__scripts_over, job);
}

/* Begins a job at script `first`. False: there is no job, for lack of memory. */
static bool phi__scripts_begin(phi_scripts *set, const phi_hook *hook, size_t first) {
    const phi__slot *slot =
        phi__slots_find(&hook->ticket.rt->tickets, hook->ticket.index, hook->ticket.gen);
    if (slot == NULL) return false;
    phi__scripts_job *job = (phi__scripts_job *)phi__alloc(&set->memory, sizeof *job);
    if (job == NULL) return false;
    job->set = set;
    job->ticket = hook->ticket;
    job->agent = ((const phi__decision *)slot->object)->run->agent;
    job->index = first;
    job->verdict = PHI_ALLOW;
    job->deadline.fire = phi__scripts_late;
    job->tick.fire = phi__scripts_tick;
    phi_arena_init(&job->arena, &set->memory, 512);
    phi__buf_init(&job->input, &set->memory);
    phi__buf_init(&job->out, &set->memory);
    phi__buf_init(&job->err, &set->memory);
    phi__buf_init(&job->reply, &set->memory);
    phi__list_push(&set->jobs, &job->link);
    set->job_count++;
    if (phi__scripts_fill(job, hook)) {
        if (phi__scripts_can_deny(hook->point)) phi__hooks_hold(hook->ticket);
        return true;
    }
    phi__scripts_drop(job);
    return false;
}

/* Calls the hook that the agent had before. If `asked`, the scripts used the first round. So the
   round number that this hook gets is one lower, and the arguments are those that scripts may have
   changed. */
static phi_verdict phi__scripts_chain(phi_scripts *set, phi_hook *hook, bool asked) {
    phi__agent *agent = phi__find_agent(hook->agent);
    void *user_data = set->hook_user_data;
    phi_hook inner = *hook;
    if (set->hook_fn == NULL || (set->hook_points & (uint32_t)hook->point) == 0)
        return hook->point == PHI_HOOK_QUESTION ? PHI_DENY : PHI_ALLOW;
    if (user_data == NULL && agent != NULL) user_data = agent->desc.user_data;
    if (asked) inner.round--;
    if (asked && hook->point == PHI_HOOK_BEFORE_TOOL && hook->reply.len > 0)
        inner.arguments = hook->reply;
    phi_verdict verdict = set->hook_fn(user_data, &inner);
    if (asked) inner.round++;
    *hook = inner;
    return verdict;
}

static phi_verdict phi__scripts_hook(void *user_data, phi_hook *hook) {
    phi_scripts *set = (phi_scripts *)user_data;
    size_t first = phi__scripts_next(set, hook, 0);
    if (first == SIZE_MAX || phi__talk_name(hook->point)[0] == '\0')
        return phi__scripts_chain(set, hook, false);
    if (hook->round > 0) return phi__scripts_chain(set, hook, true);
    if (phi__scripts_begin(set, hook, first)) {
        hook->timeout_ms = PHI_UNLIMITED; /* each script has its own deadline */
        hook->quiet = true;
        hook->ask_again = (set->hook_points & (uint32_t)hook->point) != 0;
        return PHI_WAIT;
    }
    if (!phi__scripts_can_deny(hook->point)) return phi__scripts_chain(set, hook, false);
    hook->reply = PHI__LIT("Out of memory for a hook script.");
    return PHI_DENY;
}

/* ---- public ---- */

PHI_API void phi_scripts_free(phi_scripts *set) {
    if (set == NULL) return;
    while (set->jobs.first != NULL) {
        phi__scripts_job *job = PHI__OWNER(set->jobs.first, phi__scripts_job, link);
        phi_ticket ticket = job->ticket;
        phi__hooks_unwatch(ticket);
        phi__scripts_drop(job);
        phi__hooks_settle(ticket, PHI_DENY, PHI__LIT("The hook scripts were removed."));
    }
    phi_arena_free(&set->arena);
    phi_memory memory = set->memory; /* free through a copy, which lies outside of the block */
    phi__free(&memory, set, sizeof *set);
}

PHI_API phi_status phi_scripts_use(phi_scripts *set, phi_agent_desc *desc) {
    if (set == NULL || desc == NULL) return PHI_BAD_ARG;
    if (desc->hook_fn == phi__scripts_hook) return PHI_MISUSE;
    if (set->used &&
        (set->hook_fn != desc->hook_fn || set->hook_user_data != desc->hook_user_data ||
         set->hook_points != desc->hook_points))
        return PHI_MISUSE;
    set->used = true;
    set->hook_fn = desc->hook_fn;
    set->hook_points = desc->hook_fn != NULL ? desc->hook_points : 0;
    set->hook_user_data = desc->hook_user_data;
    if (set->points == 0) return PHI_OK;
    desc->hook_fn = phi__scripts_hook;
    desc->hook_points |= set->points;
    desc->hook_user_data = set;
    return PHI_OK;
}

/* ---- making a set from its description ---- */

enum { PHI__SCRIPTS_MS = 30000, PHI__SCRIPTS_OUTPUT_BYTES = 65536, PHI__SCRIPTS_RUNNING = 8 };

static bool PHI_PRINTF(3, 4)
    phi__scripts_refuse(phi_parse_error *error, phi_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    error->status = status;
    (void)vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return false;
}

static bool phi__scripts_add(phi_scripts *set, const phi_script *given, size_t index,
                             phi_parse_error *error) {
    const uint32_t all = (uint32_t)PHI_HOOK_CREDENTIAL * 2 - 1;
    const uint32_t never = (uint32_t)PHI_HOOK_TRANSFORM_CONTEXT | PHI_HOOK_CONVERT_TO_LLM |
                           PHI_HOOK_BEFORE_TOOL_UPDATE | PHI_HOOK_AFTER_TOOL_UPDATE;
    phi__scripts_one *one = &set->all[index];
    one->script = *given;
    if (given->points == 0 || (given->points & ~all) != 0 || (given->points & never) != 0)
        return phi__scripts_refuse(error, PHI_BAD_ARG,
                                   "scripts[%u]: points is 0x%x: expected points of a run at which "
                                   "a script can be called",
                                   (unsigned)index, (unsigned)given->points);
    if ((given->command == NULL) == (given->argv == NULL))
        return phi__scripts_refuse(error, PHI_BAD_ARG,
                                   "scripts[%u]: expected either command or argv", (unsigned)index);
    set->points |= given->points;
    const char *shell[4] = {"sh", "-c", NULL, NULL};
    const char *fault = "argv is empty";
    phi_status status = PHI_OK;
    shell[2] = given->command;
    one->argv = given->argv != NULL ? given->argv : shell;
    one->name = given->command;
    if (one->argv[0] == NULL)
        status = PHI_PARSE;
    else if (given->argv == NULL && !given->shell)
        status = phi__split_command(&set->arena, given->command, &one->argv, &fault);
    else if (!phi__keep_list(&set->arena, &one->argv))
        status = PHI_NO_MEMORY;
    if (status == PHI_PARSE)
        return phi__scripts_refuse(error, PHI_BAD_ARG, "scripts[%u]: %s", (unsigned)index, fault);
    if (status != PHI_OK || !phi__keep_text(&set->arena, &one->name) ||
        !phi__keep_text(&set->arena, &one->script.tool) ||
        !phi__keep_text(&set->arena, &one->script.server))
        return phi__scripts_refuse(error, PHI_NO_MEMORY, "no memory");
    if (one->name == NULL) one->name = one->argv[0];
    return true;
}

/* ---- public ---- */

PHI_API phi_scripts *phi_scripts_new(const phi_scripts_desc *desc, phi_parse_error *error) {
    phi_parse_error own;
    phi_memory memory;
    phi_scripts *set;
    if (error == NULL) error = &own;
    memset(error, 0, sizeof *error);
    if (desc == NULL || (desc->scripts == NULL && desc->count > 0)) {
        (void)phi__scripts_refuse(error, PHI_BAD_ARG, "desc or its scripts are missing");
        return NULL;
    }
    phi_memory_init(&memory, &desc->allocator, 0);
    set = (phi_scripts *)phi__alloc(&memory, sizeof *set);
    if (set == NULL) {
        (void)phi__scripts_refuse(error, PHI_NO_MEMORY, "no memory");
        return NULL;
    }
    set->memory = memory;
    phi_arena_init(&set->arena, &set->memory, 0);
    set->desc = *desc;
    if (desc->timeout_ms == 0) set->desc.timeout_ms = PHI__SCRIPTS_MS;
    if (desc->max_output_bytes == 0) set->desc.max_output_bytes = PHI__SCRIPTS_OUTPUT_BYTES;
    if (desc->max_running == 0) set->desc.max_running = PHI__SCRIPTS_RUNNING;
    while (desc->env != NULL && desc->env[set->env_count] != NULL) set->env_count++;
    set->all = (phi__scripts_one *)phi__arena_zero(&set->arena,
                                                   phi__mul(desc->count + 1, sizeof *set->all));
    bool good = (set->all != NULL && phi__keep_list(&set->arena, &set->desc.env) &&
                 phi__keep_text(&set->arena, &set->desc.workspace)) ||
                phi__scripts_refuse(error, PHI_NO_MEMORY, "no memory");
    for (size_t i = 0; good && i < desc->count; i++)
        good = phi__scripts_add(set, &desc->scripts[i], i, error);
    if (good) return set;
    phi_scripts_free(set);
    return NULL;
}

#endif
