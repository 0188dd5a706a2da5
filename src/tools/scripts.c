/* scripts.c - runs the scripts of a hook, one process after the other, beside the pump.

   A job is the scripts of one decision. It begins inside the hook and ends when the ticket of the
   decision dies, for whatever reason: then its process is killed and its memory freed. So nothing
   of a job outlives the run or call that waits for it. A job decides by phi__hooks_settle, which
   ends it: after that it must not be touched. */
#include "tools/scripts_in.h"

#ifndef PHI_NO_PROCESS

#include "agent/agent.h"
#include "base/utf8_in.h"
#include "base/words_in.h"
#include "system/process_in.h"
#include "model/model_in.h"
#include "agent/agent_info.h"

#include <stdio.h>

enum {
    PHI__SCRIPTS_RETRY_US = 5000,     /* until the next try to start */
    PHI__SCRIPTS_REASON_BYTES = 2000, /* of standard error in a reason or a warning */
    PHI__SCRIPTS_VARIABLES = 7
};

typedef struct phi__scripts_job {
    phi__link link;
    phi_scripts *set;
    phi_ticket ticket;
    phi__agent *agent;
    phi_arena arena; /* the strings of `hook`, the environment */
    phi_hook hook;   /* what later scripts need of it; for BEFORE_TOOL */
    const char **env;
    size_t index; /* of the script whose turn it is */
    bool running;
    phi_verdict verdict; /* so far */
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

static bool phi__scripts_wants(const phi_script *script, const phi_hook *hook) {
    const uint32_t of_tools = (uint32_t)PHI_HOOK_BEFORE_TOOL | PHI_HOOK_AFTER_TOOL;
    if ((script->points & (uint32_t)hook->point) == 0) return false;
    if (((uint32_t)hook->point & of_tools) != 0)
        return script->tool == NULL || phi__str_is(hook->tool_name, script->tool);
    return hook->model == NULL || script->server == NULL ||
           phi__model_is_at(hook->model, script->server);
}

/* The next script that wants this hook, from `index` on; SIZE_MAX: none. */
static size_t phi__scripts_next(const phi_scripts *set, const phi_hook *hook, size_t index) {
    for (; index < set->desc.count; index++)
        if (phi__scripts_wants(&set->all[index].script, hook)) return index;
    return SIZE_MAX;
}

static void phi__scripts_at(phi__scripts_job *job, phi__timer *timer, uint64_t us) {
    phi__io *io = job->agent->rt->io;
    uint64_t at = us == UINT64_MAX ? UINT64_MAX : phi__io_now_us(io) + us;
    (void)phi__io_timer_set(io, timer, at); /* it was set at the beginning: needs no memory */
}

/* ---- the end of a job ---- */

/* A place is free: the job that has waited longest takes it, in the next step. */
static void phi__scripts_wake(phi_scripts *set) {
    phi__link *link;
    for (link = set->jobs.first; link != NULL; link = link->next) {
        phi__scripts_job *job = PHI__OWNER(link, phi__scripts_job, link);
        if (job->running) continue;
        phi__scripts_at(job, &job->tick, 0);
        return;
    }
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
    phi__scripts_wake(set);
}

static void phi__scripts_over(void *ctx) { phi__scripts_drop((phi__scripts_job *)ctx); }

static void phi__scripts_settle(phi__scripts_job *job, phi_verdict verdict, phi_str reply) {
    phi__hooks_settle(job->ticket, verdict, reply);
}

static void phi__scripts_no_memory(phi__scripts_job *job) {
    bool denies = phi__scripts_can_deny(job->hook.point);
    phi__scripts_settle(job, denies ? PHI_DENY : PHI_ALLOW,
                        denies ? PHI__LIT("Out of memory for a hook script.") : phi__str(NULL, 0));
}

/* ---- words ---- */

/* What the script wrote to standard error, fit to be shown. */
static void phi__scripts_err(const phi__scripts_job *job, phi__buf *out) {
    size_t from = out->len, len;
    phi_str text = phi__str_trim(phi__buf_str(&job->err));
    text.len = phi__min(text.len, PHI__SCRIPTS_REASON_BYTES);
    phi__utf8_repair(out, text);
    if (out->failed) return;
    len = phi__words_clean(out->at + from, out->len - from);
    out->len = from + len;
}

static void phi__scripts_warn(phi__scripts_job *job, const char *words) {
    phi_event event;
    phi__buf text;
    phi__buf_init(&text, &job->set->memory);
    phi__buf_printf(&text, "The hook script \"%s\" at %s: %s", job->set->all[job->index].name,
                    phi__script_talk_name(job->hook.point), words);
    if (job->err.len > 0) phi__buf_text(&text, ": ");
    phi__scripts_err(job, &text);
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_WARNING;
    event.text = phi__buf_str(&text);
    if (!text.failed) (void)phi__events_emit(job->agent, &event, NULL, 0);
    phi__buf_free(&text);
}

/* ---- outcomes ---- */

static void phi__scripts_pass(phi__scripts_job *job) {
    size_t next = phi__scripts_next(job->set, &job->hook, job->index + 1);
    if (next == SIZE_MAX) {
        phi__scripts_settle(job, job->verdict, phi__buf_str(&job->reply));
        return;
    }
    job->index = next;
    phi__buf_clear(&job->out);
    phi__buf_clear(&job->err);
    job->too_long = false;
    if (job->hook.point == PHI_HOOK_BEFORE_TOOL && job->reply.len > 0) {
        phi__buf_clear(&job->input);
        phi__script_talk_input(&job->input, &job->hook, phi__buf_str(&job->reply));
        if (job->input.failed) {
            phi__scripts_no_memory(job);
            return;
        }
    }
    phi__scripts_at(job, &job->tick, 0);
}

/* `reason`: the script's own; empty: what it wrote to standard error, or `words`. */
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
    else /* a copy: settling frees the job */
        phi__scripts_settle(job, PHI_DENY, phi__buf_str(&text));
    phi__buf_free(&text);
}

static void phi__scripts_fail(phi__scripts_job *job, bool started, const char *words) {
    phi_script_failure way = job->set->all[job->index].script.on_failure;
    phi__scripts_warn(job, words);
    if (way == PHI_SCRIPT_FAILURE_DENIES || (way == PHI_SCRIPT_FAILURE_DEFAULT && started)) {
        if (phi__scripts_can_deny(job->hook.point)) {
            phi__scripts_deny(job, phi__str(NULL, 0), words);
            return;
        }
    }
    phi__scripts_pass(job);
}

static void phi__scripts_answered(phi__scripts_job *job) {
    phi__buf reply;
    phi__script_says says;
    phi__buf_init(&reply, &job->set->memory);
    says = phi__script_talk_answer(&job->set->memory, job->hook.point, phi__buf_str(&job->out),
                                   &reply);
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

/* ---- the process ---- */

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
    /* fired, it has no place any more: without one no later script could be watched */
    if (phi__io_timer_set(job->agent->rt->io, &job->deadline, UINT64_MAX) != PHI_OK) {
        phi__scripts_no_memory(job);
        return;
    }
    (void)snprintf(words, sizeof words, "ran longer than %u ms",
                   (unsigned)phi__scripts_timeout(job));
    phi__scripts_fail(job, true, words);
}

static void phi__scripts_start(phi__scripts_job *job) {
    phi_scripts *set = job->set;
    uint32_t timeout = phi__scripts_timeout(job);
    phi__process_desc desc;
    phi_status status;
    char words[160];
    memset(&desc, 0, sizeof desc);
    desc.argv = set->all[job->index].argv;
    desc.cwd = set->desc.workspace != NULL ? set->desc.workspace : job->agent->workspace.at;
    if (desc.cwd != NULL && desc.cwd[0] == '\0') desc.cwd = NULL;
    desc.env = job->env;
    desc.hide_keys = !set->desc.keep_keys;
    desc.input = phi__buf_str(&job->input);
    desc.output = phi__scripts_output;
    desc.exited = phi__scripts_exited;
    desc.ctx = job;
    status = phi__process_new(job->agent->rt->io, &desc, &job->process, words, sizeof words);
    if (status == PHI_BUSY) {
        phi__scripts_at(job, &job->tick, PHI__SCRIPTS_RETRY_US);
    } else if (status == PHI_NO_MEMORY) {
        phi__scripts_no_memory(job);
    } else if (status != PHI_OK) {
        char text[200];
        (void)snprintf(text, sizeof text, "cannot be started: %s",
                       words[0] != '\0' ? words : phi_status_text(status));
        phi__scripts_fail(job, false, text);
    } else if (timeout != PHI_UNLIMITED) /* it has its place: needs no memory */
        (void)phi__io_deadline_set(job->agent->rt->io, &job->deadline, (uint64_t)timeout * 1000);
}

static void phi__scripts_tick(phi__timer *timer) {
    phi__scripts_job *job = PHI__OWNER(timer, phi__scripts_job, tick);
    /* fired, it has no place any more */
    if (phi__io_timer_set(job->agent->rt->io, &job->tick, UINT64_MAX) != PHI_OK) {
        phi__scripts_no_memory(job);
        return;
    }
    if (!job->running && job->set->running >= job->set->desc.max_running) return; /* woken later */
    if (!job->running) job->set->running++;
    job->running = true;
    phi__scripts_start(job);
}

/* ---- the beginning of a job ---- */

static bool phi__scripts_variable(phi__scripts_job *job, size_t *n, const char *name,
                                  phi_str value) {
    size_t len = strlen(name), i;
    char *to;
    if (value.len == 0) return true;
    to = phi__arena_bytes(&job->arena, len + value.len + 2);
    if (to == NULL) return false;
    memcpy(to, name, len);
    to[len++] = '=';
    for (i = 0; i < value.len && value.at[i] != '\0'; i++) to[len++] = value.at[i];
    to[len] = '\0';
    job->env[(*n)++] = to;
    return true;
}

static bool phi__scripts_environment(phi__scripts_job *job, const phi_hook *hook) {
    const phi_scripts *set = job->set;
    const phi__agent *agent = job->agent;
    char turn[16];
    size_t n = 0;
    job->env = (const char **)phi_arena_alloc(
        &job->arena, (set->env_count + PHI__SCRIPTS_VARIABLES + 1) * sizeof *job->env);
    if (job->env == NULL) return false;
    (void)snprintf(turn, sizeof turn, "%u", (unsigned)hook->turn_index);
    if (!phi__scripts_variable(job, &n, "PHI_HOOK",
                               phi_str_of(phi__script_talk_name(hook->point))) ||
        !phi__scripts_variable(job, &n, "PHI_SESSION_ID",
                               phi_agent_get_info(hook->agent).session_id) ||
        !phi__scripts_variable(job, &n, "PHI_LOOP_ID", hook->loop_id) ||
        !phi__scripts_variable(job, &n, "PHI_AGENT_ID", agent->agent_id) ||
        !phi__scripts_variable(job, &n, "PHI_TURN_INDEX", phi_str_of(turn)) ||
        !phi__scripts_variable(job, &n, "PHI_TOOL_NAME", hook->tool_name) ||
        !phi__scripts_variable(job, &n, "PHI_TOOL_CALL_ID", hook->tool_call_id))
        return false;
    if (set->env_count > 0)
        memcpy((void *)(job->env + n), (const void *)set->desc.env,
               set->env_count * sizeof *job->env);
    job->env[n + set->env_count] = NULL;
    return true;
}

/* Of the model as much as later scripts need: its address. */
static bool phi__scripts_model(phi__scripts_job *job, const phi_model *model) {
    phi_model *copy;
    phi_str address;
    if (model == NULL) return true;
    copy = (phi_model *)phi__arena_zero(&job->arena, sizeof *copy);
    if (copy == NULL || !phi__arena_str(&job->arena, phi_str_of(model->base_url), &address))
        return false;
    copy->base_url = address.at;
    job->hook.model = copy;
    return true;
}

static bool phi__scripts_fill(phi__scripts_job *job, const phi_hook *hook) {
    phi__io *io = job->agent->rt->io;
    job->hook.point = hook->point;
    phi__script_talk_input(&job->input, hook, phi__str(NULL, 0));
    return !job->input.failed &&
           phi__arena_str(&job->arena, hook->tool_name, &job->hook.tool_name) &&
           phi__arena_str(&job->arena, hook->tool_call_id, &job->hook.tool_call_id) &&
           phi__arena_str(&job->arena, hook->arguments, &job->hook.arguments) &&
           phi__scripts_model(job, hook->model) && phi__scripts_environment(job, hook) &&
           phi__io_timer_set(io, &job->deadline, UINT64_MAX) == PHI_OK &&
           phi__io_timer_set(io, &job->tick, phi__io_now_us(io)) == PHI_OK &&
           phi__hooks_watch(hook->ticket, phi__scripts_over, job);
}

/* False: no memory, and nothing is left of it. */
static bool phi__scripts_begin(phi_scripts *set, const phi_hook *hook, size_t first) {
    const phi__slot *slot =
        phi__slots_find(&hook->ticket.rt->tickets, hook->ticket.index, hook->ticket.gen);
    phi__scripts_job *job =
        slot != NULL ? (phi__scripts_job *)phi__alloc(&set->memory, sizeof *job) : NULL;
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

/* ---- the hook ---- */

/* The hook that was there before. Where scripts were asked first, its rounds are one fewer, and the
   arguments are those that they may have changed. */
static phi_verdict phi__scripts_chain(phi_scripts *set, phi_hook *hook, bool asked) {
    phi__agent *agent = phi__find_agent(hook->agent);
    void *user_data = set->hook_user_data;
    phi_hook inner = *hook;
    phi_verdict verdict;
    if (set->hook_fn == NULL || (set->hook_points & (uint32_t)hook->point) == 0)
        return hook->point == PHI_HOOK_QUESTION ? PHI_DENY : PHI_ALLOW;
    if (user_data == NULL && agent != NULL) user_data = agent->desc.user_data;
    if (asked) inner.round--;
    if (asked && hook->point == PHI_HOOK_BEFORE_TOOL && hook->reply.len > 0)
        inner.arguments = hook->reply;
    verdict = set->hook_fn(user_data, &inner);
    if (asked) inner.round++;
    *hook = inner;
    return verdict;
}

static phi_verdict phi__scripts_hook(void *user_data, phi_hook *hook) {
    phi_scripts *set = (phi_scripts *)user_data;
    size_t first = phi__scripts_next(set, hook, 0);
    if (first == SIZE_MAX || phi__script_talk_name(hook->point) == NULL)
        return phi__scripts_chain(set, hook, false);
    if (hook->round > 0) return phi__scripts_chain(set, hook, true);
    if (phi__scripts_begin(set, hook, first)) {
        hook->timeout_ms = PHI_UNLIMITED; /* each script has a deadline */
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
    phi_memory memory;
    if (set == NULL) return;
    while (set->jobs.first != NULL) {
        phi__scripts_job *job = PHI__OWNER(set->jobs.first, phi__scripts_job, link);
        phi_ticket ticket = job->ticket;
        phi__hooks_unwatch(ticket);
        phi__scripts_drop(job);
        phi__hooks_settle(ticket, PHI_DENY, PHI__LIT("The hook scripts were removed."));
    }
    phi_arena_free(&set->arena);
    memory = set->memory; /* its own block is counted in itself */
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

#endif
