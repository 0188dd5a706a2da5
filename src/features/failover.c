/* failover.c - when a model fails for good, another model continues the turn.

   An agent with a failover list has seats: seat 0 is its own model, seat N is model N of the list.
   phi__agent.desc has the model of the current seat, so the rest of phi knows only one model. When
   an attempt fails for good, the run is held and the attempt is abandoned. Then the agent takes the
   next seat, and the turn continues as if it had just begun. */
#include "features/features_in.h"

#include <stdio.h>

enum {
    PHI__FAILOVER_STAY_MS = 300000,
    PHI__FAILOVER_NAME = 200,  /* bytes of a model's name in a message */
    PHI__FAILOVER_WORDS = 240, /* bytes of one failure in a message about several */
    /* bytes of all these failures: an error message has room for 2,000 */
    PHI__FAILOVER_MOST = 1400,
    PHI__FAILOVER_REASON = 160, /* bytes of a limit's message */
    PHI__FAILOVER_DEFAULT = PHI_FAILOVER_NETWORK | PHI_FAILOVER_SERVER | PHI_FAILOVER_RATE_LIMITED |
                            PHI_FAILOVER_QUOTA | PHI_FAILOVER_AUTH | PHI_FAILOVER_NO_MODEL |
                            PHI_FAILOVER_OVERFLOW
};

/* A copy of an agent's phi_failover, with defaults filled in, and its models ready to use. */
typedef struct phi__failover_list {
    phi_failover given;
    phi__speaker *seats; /* one for each of given.models */
} phi__failover_list;

/* The failover feature's state of an agent. */
typedef struct phi__failover_agent {
    phi_arena arena;                /* memory of `list` */
    const phi__failover_list *list; /* NULL: the agent has no list */
    uint32_t at;                    /* the current seat; 0: the agent's own model */
    uint64_t until_us;              /* runs that begin before this time keep the seat */
    /* the agent's own values, while at is not 0 */
    phi__speaker seat;
    uint32_t max_tokens;
    phi_thinking thinking;
} phi__failover_agent;

/* The failover feature's state of a run. */
typedef struct phi__failover_run {
    uint32_t switches;
    uint32_t failed;            /* one bit for each seat that failed in this turn */
    uint32_t turn;              /* the turn of `failed` and `words` */
    phi__buf words;             /* messages of the failures in this turn */
    const phi_failure *failure; /* why the run is held; in the thread's memory */
} phi__failover_run;

static phi__failover_agent *phi__failover_of(const phi__agent *agent) {
    return (phi__failover_agent *)phi__feature_agent_state(agent, phi_feature_failover);
}

static bool phi__failover_do_make(phi__agent *agent, const phi_failover *given,
                                  phi__failover_made *out) {
    phi_arena *arena = &out->arena;
    phi_arena_init(arena, &agent->memory, 0);
    out->list = NULL;
    if (given == NULL) return true;
    size_t count = given->model_count;
    phi__failover_list *list = (phi__failover_list *)phi__arena_zero(arena, sizeof *list);
    phi_failover_model *models =
        (phi_failover_model *)phi__arena_zero(arena, phi__mul(count, sizeof *models));
    phi__speaker *seats = (phi__speaker *)phi__arena_zero(arena, phi__mul(count, sizeof *seats));
    bool good = list != NULL && models != NULL && seats != NULL;
    for (size_t i = 0; good && i < count; i++) {
        models[i] = given->models[i];
        good = phi__speaker_take(agent->rt, arena, models[i].provider, &models[i].model, &seats[i]);
        models[i].model = seats[i].model;
        models[i].provider = seats[i].own;
    }
    if (!good) {
        phi_arena_free(arena);
        return false;
    }
    list->given = *given;
    list->given.models = models;
    if (given->on == 0) list->given.on = (uint32_t)PHI__FAILOVER_DEFAULT;
    if (given->max_switches == 0) list->given.max_switches = (uint32_t)count;
    if (given->stay_ms == 0) list->given.stay_ms = PHI__FAILOVER_STAY_MS;
    list->seats = seats;
    out->list = list;
    return true;
}

static void phi__failover_do_put(phi__agent *agent, const phi__failover_made *made) {
    phi__failover_agent *f = phi__failover_of(agent);
    if (f->list != NULL) phi_arena_free(&f->arena);
    f->arena = made->arena;
    f->list = made->list;
    agent->desc.failover = f->list != NULL ? &f->list->given : NULL;
    if (f->list != NULL) phi__feature_join_all(agent->rt, phi_feature_failover);
}

/* ---- seats ---- */

/* Returns the model of a seat with its provider and codec. */
static phi__speaker phi__failover_seat(const phi__agent *agent, const phi__failover_agent *f,
                                       uint32_t at) {
    phi__speaker own = f->at == 0 ? phi__speaker_of(agent) : f->seat;
    if (at == 0) return own;
    phi__speaker seat = f->list->seats[at - 1];
    if (seat.own == NULL && own.own != NULL) phi__speaker_by(&seat, own.own);
    return seat;
}

static void phi__failover_sit(phi__agent *agent, phi__failover_agent *f, uint32_t at) {
    if (at == f->at) return;
    phi__speaker seat = phi__failover_seat(agent, f, at);
    if (f->at == 0) {
        f->seat = phi__speaker_of(agent);
        f->max_tokens = agent->desc.max_tokens;
        f->thinking = agent->desc.thinking;
    }
    agent->desc.max_tokens = f->max_tokens;
    agent->desc.thinking = f->thinking;
    if (at > 0) {
        const phi_failover_model *model = &f->list->given.models[at - 1];
        if (model->max_tokens != 0) agent->desc.max_tokens = model->max_tokens;
        if (model->has_thinking) agent->desc.thinking = model->thinking;
    }
    phi__speaker_set(agent, &seat);
    f->at = at;
    phi__feature_agent(agent, PHI__POINT_CHANGED);
    phi__sources_recheck(agent);
}

/* After a change of seat, takes the source tools for the new model. False: no memory. */
static bool phi__failover_ready(phi__agent *agent) {
    const phi__run *run = agent->run; /* NULL while a snapshot is loaded, which emits no events */
    return agent->sources == NULL || (run != NULL && run->own.toolset != NULL) ||
           agent->rt->features.sources->refresh(agent, run == NULL) == PHI_OK;
}

static uint32_t phi__failover_do_leave(phi__agent *agent) {
    phi__failover_agent *f = phi__failover_of(agent);
    uint32_t at = f->at;
    phi__failover_sit(agent, f, 0);
    return at;
}

static void phi__failover_do_back(phi__agent *agent, uint32_t at) {
    phi__failover_agent *f = phi__failover_of(agent);
    if (f->list != NULL && at <= f->list->given.model_count) phi__failover_sit(agent, f, at);
}

static void phi__failover_do_own(const phi__agent *agent, phi_agent_desc *out) {
    const phi__failover_agent *f = phi__failover_of(agent);
    if (f->at == 0) return;
    out->model = f->seat.model;
    out->provider = f->seat.own;
    out->max_tokens = f->max_tokens;
    out->thinking = f->thinking;
}

static bool phi__failover_do_inherit(const phi__agent *agent, phi_arena *arena,
                                     phi_agent_desc *out) {
    const phi__failover_agent *f = phi__failover_of(agent);
    phi_failover *rest;
    if (f->list == NULL || out->failover != NULL) return true;
    rest = (phi_failover *)phi_arena_alloc(arena, sizeof *rest);
    if (rest == NULL) return false;
    *rest = f->list->given;
    /* the current provider cannot be inherited */
    if (f->at > 0 && agent->desc.provider != f->seat.own) {
        out->model = f->seat.model;
        out->provider = f->seat.own;
    } else {
        rest->models += f->at;
        rest->model_count -= f->at;
    }
    if (rest->model_count > 0) out->failover = rest;
    return true;
}

/* ---- which failures lead to which seat ---- */

/* True if the agent changes to another model after this failure. A request that phi itself could
   not make for a model of the list has no HTTP status. Such a failure does not concern the other
   models. */
static bool phi__failover_fits(const phi__failover_agent *f, const phi_failure *failure) {
    uint32_t class_of = 0;
    switch (failure->kind) {
    case PHI_FAILURE_NETWORK:
    case PHI_FAILURE_TIMEOUT: class_of = PHI_FAILOVER_NETWORK; break;
    case PHI_FAILURE_SERVER: class_of = PHI_FAILOVER_SERVER; break;
    case PHI_FAILURE_RATE_LIMITED: class_of = PHI_FAILOVER_RATE_LIMITED; break;
    case PHI_FAILURE_QUOTA: class_of = PHI_FAILOVER_QUOTA; break;
    case PHI_FAILURE_AUTH: class_of = PHI_FAILOVER_AUTH; break;
    case PHI_FAILURE_OVERFLOW: class_of = PHI_FAILOVER_OVERFLOW; break;
    case PHI_FAILURE_CONTENT_FILTER: class_of = PHI_FAILOVER_CONTENT_FILTER; break;
    case PHI_FAILURE_INVALID_REQUEST:
        if (failure->http_status == 0 && f->at > 0) return true;
        class_of =
            failure->http_status == 404 ? PHI_FAILOVER_NO_MODEL : PHI_FAILOVER_INVALID_REQUEST;
        break;
    case PHI_FAILURE_NONE:
    case PHI_FAILURE_CANCELLED:
    case PHI_FAILURE_NO_MEMORY: break;
    }
    return (f->list->given.on & class_of) != 0;
}

/* Finds the next seat that has not failed in this turn. The first seat follows the last one. After
   an overflow, the seat's model must have a window larger than `window`. False: there is no such
   seat. */
static bool phi__failover_next(const phi__agent *agent, const phi__failover_agent *f,
                               const phi__failover_run *r, uint64_t window, uint32_t *to) {
    uint32_t count = (uint32_t)f->list->given.model_count + 1;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t at = (f->at + i) % count;
        if ((r->failed >> at & 1) != 0) continue;
        if (r->failure->kind == PHI_FAILURE_OVERFLOW &&
            phi__failover_seat(agent, f, at).model.context_window <= window)
            continue;
        *to = at;
        return true;
    }
    return false;
}

/* ---- messages ---- */

static void phi__failover_name(const phi_model *model, char out[PHI__FAILOVER_NAME]) {
    (void)snprintf(out, PHI__FAILOVER_NAME, "%.60s/%.120s", model->provider, model->id);
}

/* Adds a failed model to the list of this turn's failures. Without memory the list is cut. */
static void phi__failover_say(phi__failover_run *r, const phi_model *model, phi_str words) {
    char name[PHI__FAILOVER_NAME];
    if (r->words.len > PHI__FAILOVER_MOST) return;
    phi__failover_name(model, name);
    if (r->words.len > 0) phi__buf_text(&r->words, "; ");
    phi__buf_text(&r->words, name);
    phi__buf_text(&r->words, ": ");
    phi__buf_add(&r->words, words.at, phi__utf8_cut(words, PHI__FAILOVER_WORDS));
}

/* Returns a copy of the failure whose message also has the earlier failures and the limit reached
   (NULL: none). If there are neither, or no memory, returns the failure unchanged. */
static const phi_failure *phi__failover_all(phi__run *run, phi__failover_run *r,
                                            const phi_failure *failure, const char *limit) {
    phi_arena *room = phi__thread_room(run->agent->thread);
    phi_failure *kept;
    phi__buf words;
    if ((r->words.len == 0 && limit == NULL) || r->words.failed) return failure;
    phi__buf_init(&words, &run->agent->memory);
    phi__buf_add(&words, failure->message.at, phi__utf8_cut(failure->message, 500));
    if (r->words.len > 0) {
        phi__buf_text(&words, " (other models: ");
        phi__buf_add_str(&words, phi__buf_str(&r->words));
        phi__buf_char(&words, ')');
    }
    if (limit != NULL) {
        phi__buf_text(&words, "; no other model: ");
        phi__buf_text(&words, limit);
    }
    kept = words.failed ? NULL : (phi_failure *)phi_arena_alloc(room, sizeof *kept);
    if (kept != NULL) {
        *kept = *failure;
        if (!phi__arena_str(room, phi__buf_str(&words), &kept->message)) kept = NULL;
    }
    phi__buf_free(&words);
    phi__buf_clear(&r->words); /* each failure is reported once */
    return kept != NULL ? kept : failure;
}

static bool phi__failover_emit(phi__run *run, const phi__failover_agent *f,
                               const phi__failover_run *r, const phi_model *from) {
    phi_thread *thread = run->agent->thread;
    char left[PHI__FAILOVER_NAME], taken[PHI__FAILOVER_NAME];
    phi__failover_name(from, left);
    phi__failover_name(&run->agent->desc.model, taken);
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_FAILOVER;
    event.text = phi_str_of(taken);
    event.failure = r->failure;
    event.status = phi__failure_status(r->failure);
    event.attempt = r->switches;
    event.attempts = f->list->given.max_switches;
    if (!phi__arena_str(phi__thread_room(thread), phi_str_of(left), &event.source)) return false;
    phi__buf note;
    phi__buf_init(&note, &run->agent->memory);
    phi__buf_char(&note, '{');
    phi__records_str(&note, "from", event.source);
    phi__records_str(&note, "to", event.text);
    phi__records_str(&note, "failure", phi_str_of(phi_failure_kind_text(r->failure->kind)));
    phi__records_str(&note, "message", r->failure->message);
    phi__buf_char(&note, '}');
    bool noted = !note.failed &&
                 phi__note_add_of_run(thread, PHI_NOTE_FAILOVER, phi__buf_str(&note)) == PHI_OK;
    phi__buf_free(&note);
    return noted && phi__events_emit(run->agent, &event);
}

/* Takes a seat if budgets and limits have room for a call of its model. RUN_TURN: the model can be
   called; RUN_ON: there is no room. The estimate uses the tools of the old seat, because a paused
   run tries often and must not exchange its tools each time. */
static phi__state phi__failover_try(phi__run *run, phi__failover_agent *f, uint32_t at,
                                    char *reason, size_t size) {
    phi__failover_sit(run->agent, f, at);
    if (!phi__reserve_call(run, 0, reason, size)) return PHI__RUN_ON;
    return phi__failover_ready(run->agent) ? PHI__RUN_TURN : PHI__RUN_LOST;
}

static phi__state phi__failover_next_or_pause(phi__run *run, phi__failover_agent *f,
                                              phi__failover_run *r, bool *wait) {
    phi__agent *agent = run->agent;
    const phi_model from = agent->desc.model;
    char reason[PHI__FAILOVER_REASON] = "";
    uint32_t at = f->at, failed = r->failed | (uint32_t)1 << at, to;
    size_t said = r->words.len;
    bool limit = phi__limits_reached(run, reason, sizeof reason);
    phi__state next;
    r->failed = failed;
    while (!limit && phi__failover_next(agent, f, r, from.context_window, &to)) {
        next = phi__failover_try(run, f, to, reason, sizeof reason);
        if (next == PHI__RUN_TURN) {
            /* The agent has the seat of the model that continues the turn. */
            phi__failover_say(r, &from, r->failure->message);
            r->switches++;
            if (f->list->given.stay == PHI_FAILOVER_STAY_FOR)
                f->until_us =
                    phi__io_now_us(run->agent->rt->io) + (uint64_t)f->list->given.stay_ms * 1000;
            return phi__failover_emit(run, f, r, &from) ? PHI__RUN_TURN : PHI__RUN_LOST;
        }
        if (next != PHI__RUN_ON) return next;
        phi__failover_say(r, &agent->desc.model, phi_str_of(reason));
        r->failed |= (uint32_t)1 << to;
    }
    phi__failover_sit(agent, f, at);
    next = phi__reserve_pause(run, reason, wait);
    if (next == PHI__RUN_ON) { /* no model may answer */
        const phi_failure *failure = phi__failover_all(run, r, r->failure, limit ? reason : NULL);
        r->failed = UINT32_MAX;
        return phi__attempt_refuse(run, failure);
    }
    r->failed = failed; /* seats without room are tried again */
    r->words.len = said;
    return next;
}

/* Returns the agent to its own model if a run begins after stay_ms and has room for a call. */
static phi__state phi__failover_begun(phi__run *run, phi__failover_agent *f,
                                      const phi__failover_run *r) {
    char reason[PHI__FAILOVER_REASON];
    uint32_t at = f->at;
    if (at == 0 || run->turn.index > 0 || r->switches > 0 ||
        f->list->given.stay != PHI_FAILOVER_STAY_FOR ||
        phi__io_now_us(run->agent->rt->io) < f->until_us)
        return PHI__RUN_ON;
    phi__state next = phi__failover_try(run, f, 0, reason, sizeof reason);
    if (next != PHI__RUN_ON) return next == PHI__RUN_TURN ? PHI__RUN_ON : next;
    phi__failover_sit(run->agent, f, at);
    (void)phi__reserve_call(run, 0, reason, sizeof reason);
    return PHI__RUN_ON;
}

/* ---- snapshots ---- */

static void phi__failover_save_run(phi__buf *out, const phi__failover_run *r) {
    if (r->switches == 0) return;
    phi__records_raw(out, "failover", "{");
    phi__records_u64(out, "switches", r->switches);
    phi__records_u64(out, "turn", r->turn);
    phi__records_u64(out, "failed", r->failed);
    phi__records_str(out, "words", phi__buf_str(&r->words));
    phi__buf_char(out, '}');
}

static phi_status phi__failover_load_run(phi__run *run, phi__failover_run *r,
                                         const phi_json *node) {
    const phi_json *saved = phi_json_get(node, "failover");
    if (!phi_json_is(saved, PHI_JSON_OBJECT)) return PHI_OK;
    phi__feature_join(run, phi_feature_failover); /* so that the state is freed if reading fails */
    r->switches = phi__records_get_u32(saved, "switches");
    r->turn = phi__records_get_u32(saved, "turn");
    r->failed = phi__records_get_u32(saved, "failed");
    phi__buf_add_str(&r->words, phi__records_get_str(saved, "words"));
    return r->words.failed ? PHI_NO_MEMORY : PHI_OK;
}

static void phi__failover_save_agent(phi__buf *out, const phi__agent *agent,
                                     const phi__failover_agent *f) {
    uint64_t now = phi__io_now_us(agent->rt->io);
    if (f->at == 0) return;
    phi__records_raw(out, "failover", "{");
    phi__records_u64(out, "at", f->at);
    phi__records_str(out, "model", phi_str_of(agent->desc.model.id));
    phi__records_u64(out, "left_us", f->until_us > now ? f->until_us - now : 0);
    phi__buf_char(out, '}');
}

/* Restores the seat. If the list has changed, the agent stays at its own model. */
static phi_status phi__failover_load_agent(phi__agent *agent, phi__failover_agent *f,
                                           const phi_json *root) {
    const phi_json *saved = phi_json_get(root, "failover");
    uint64_t at = phi__records_get_u64(saved, "at");
    if (f->list == NULL || at == 0 || at > f->list->given.model_count ||
        !phi__str_is(phi__records_get_str(saved, "model"), f->list->seats[at - 1].model.id))
        return PHI_OK;
    f->until_us = phi__io_now_us(agent->rt->io) + phi__records_get_u64(saved, "left_us");
    phi__failover_sit(agent, f, (uint32_t)at);
    return phi__failover_ready(agent) ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- checking a list ---- */

static phi_status phi__failover_check_one(phi_runtime *rt, const char *what,
                                          const phi_provider *own, const phi_failover_model *given,
                                          const phi_tool *tools, size_t tool_count,
                                          phi__model_check_fn model_check) {
    const phi_provider *provider = given->provider != NULL ? given->provider : own;
    phi_status status = PHI_OK;
    if (given->provider != NULL) status = phi__provider_check(rt, what, given->provider);
    if (status == PHI_OK) status = model_check(rt, what, provider, &given->model);
    if (status != PHI_OK) return status;
    if ((unsigned)given->thinking > (unsigned)PHI_THINKING_MAX)
        return phi__error(rt, PHI_BAD_ARG, "%sthinking is none of its values", what);
    return phi__tool_check_names(rt, what, provider, &given->model, tools, tool_count);
}

static phi_status phi__failover_do_check(phi_runtime *rt, const phi_failover *failover,
                                         const phi_provider *own, const phi_tool *tools,
                                         size_t tool_count, phi__model_check_fn model_check) {
    char what[40];
    if (failover->model_count < 1 || failover->model_count > PHI_FAILOVER_MODELS_MOST)
        return phi__error(rt, PHI_BAD_ARG, "failover.model_count is %llu: expected 1 to %d",
                          (unsigned long long)failover->model_count, (int)PHI_FAILOVER_MODELS_MOST);
    if (failover->models == NULL)
        return phi__error(rt, PHI_BAD_ARG, "failover.models is missing, model_count is %u",
                          (unsigned)failover->model_count);
    if (failover->on >= 2u * (uint32_t)PHI_FAILOVER_INVALID_REQUEST)
        return phi__error(rt, PHI_BAD_ARG, "failover.on is 0x%x: expected PHI_FAILOVER_ bits",
                          (unsigned)failover->on);
    if ((unsigned)failover->stay > (unsigned)PHI_FAILOVER_STAY_EVER)
        return phi__error(rt, PHI_BAD_ARG, "failover.stay is none of its values");
    for (size_t i = 0; i < failover->model_count; i++) {
        (void)snprintf(what, sizeof what, "failover.models[%u]: ", (unsigned)i);
        phi_status status = phi__failover_check_one(rt, what, own, &failover->models[i], tools,
                                                    tool_count, model_check);
        if (status != PHI_OK) return status;
    }
    return PHI_OK;
}

static phi__state phi__failover_at_run(phi__moment *moment, phi__failover_agent *f) {
    phi__failover_run *r = (phi__failover_run *)moment->run_state;
    switch (moment->point) {
    case PHI__POINT_TURN_BEGUN: return phi__failover_begun(moment->run, f, r);
    case PHI__POINT_FAILED:
        if (moment->whole) {
            /* An attempt has failed for good. */
            phi__run *run = moment->run;
            uint32_t to;
            if (r->turn != run->turn.index) r->failed = 0;
            if (r->turn != run->turn.index) phi__buf_clear(&r->words);
            r->turn = run->turn.index;
            r->failure = moment->failure;
            if (r->switches < f->list->given.max_switches &&
                phi__failover_fits(f, moment->failure) &&
                phi__failover_next(run->agent, f, r, run->agent->desc.model.context_window, &to))
                return PHI__RUN_HELD;
            moment->failure = phi__failover_all(run, r, moment->failure, NULL);
            return PHI__RUN_ON;
        }
        break;
    case PHI__POINT_HELD: {
        phi__run *run = moment->run;
        phi__state next = PHI__RUN_TURN_END;
        if (!run->end.cancelled && !run->end.stopping) {
            phi__attempt_clear(run);
            run->listed.messages = NULL;
            phi__projection_clear(run);
            next = phi__failover_next_or_pause(run, f, r, moment->wait);
        }
        if (!*moment->wait) phi__pause_end(run);
        return next;
    }
    case PHI__POINT_HELD_AS: return PHI__RUN_TURN;
    case PHI__POINT_RUN_OVER:
        if (f->list->given.stay == PHI_FAILOVER_STAY_RUN) phi__failover_sit(moment->agent, f, 0);
        break;
    default: break;
    }
    return PHI__RUN_ON;
}

static phi__state phi__failover_take_part(phi__moment *moment) {
    phi__failover_agent *f = (phi__failover_agent *)moment->agent_state;
    phi__failover_run *r = (phi__failover_run *)moment->run_state;
    switch (moment->point) {
    case PHI__POINT_AGENT_SAVE: phi__failover_save_agent(moment->out, moment->agent, f); break;
    case PHI__POINT_AGENT_LOAD:
        moment->status = phi__failover_load_agent(moment->agent, f, moment->json);
        break;
    case PHI__POINT_AGENT_FREED:
        if (f->list != NULL) phi_arena_free(&f->arena);
        break;
    case PHI__POINT_RUN_SAVE: phi__failover_save_run(moment->out, r); break;
    case PHI__POINT_RUN_FREED:
        if (r->words.memory != NULL) phi__buf_free(&r->words);
        return PHI__RUN_ON;
    default: break;
    }
    if (moment->run == NULL || f->list == NULL) return PHI__RUN_ON;
    if (r->words.memory == NULL) phi__buf_init(&r->words, &moment->agent->memory);
    if (moment->point == PHI__POINT_RUN_LOAD)
        moment->status = phi__failover_load_run(moment->run, r, moment->json);
    return phi__failover_at_run(moment, f);
}

static void phi__failover_open(phi_runtime *rt) {
    static const phi__failover_ops ops = {phi__failover_do_check,  phi__failover_do_make,
                                          phi__failover_do_put,    phi__failover_do_leave,
                                          phi__failover_do_back,   phi__failover_do_own,
                                          phi__failover_do_inherit};
    rt->features.failover = &ops;
}

PHI_API const phi__feature *phi_feature_failover(void) {
    enum {
        points = PHI__POINT_TURN_BEGUN | PHI__POINT_FAILED | PHI__POINT_HELD | PHI__POINT_HELD_AS |
                 PHI__POINT_RUN_OVER | PHI__POINT_RUN_FREED | PHI__POINT_RUN_SAVE |
                 PHI__POINT_RUN_LOAD | PHI__POINT_AGENT_SAVE | PHI__POINT_AGENT_LOAD |
                 PHI__POINT_AGENT_FREED
    };
    static const phi__feature feature = {points,
                                         sizeof(phi__failover_run),
                                         sizeof(phi__failover_agent),
                                         phi__failover_take_part,
                                         phi__feature_late,
                                         PHI__FEATURE_AT_FAILOVER,
                                         phi__failover_open,
                                         NULL};
    return &feature;
}
