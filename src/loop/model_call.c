/* model_call.c - the making of a model call: the host's changes to the list of messages, and the
   request, which is rendered in slices once a turn, and gets its key and its signature with each
   attempt (turn.c).

   The list is prepared once a turn and is the same for all attempts. Without such a hook, the
   thread's own projection is used as it is, with its kept renderings. */
#include "loop/inner_in.h"

#include <stdio.h>

/* ---- the thinking of earlier answers that a request leaves out ----

   The messages before it have changed (wire/wire_in.h): a warning for the host, and figures for
   explain. */

static const phi__prefix *phi__thinking_prefix(const phi__run *run) {
    if (run->agent->provider != NULL) return NULL; /* a host's own model: no codec has rendered */
    return run->attempt.encoder.prefix;
}

static bool phi__thinking_left_out(const phi__run *run) {
    const phi__projected *projected = run->agent->projected;
    return run->projection.items != NULL && projected != NULL &&
           projected->last.messages_included < projected->last.messages_total;
}

/* The change, as far as it is known who made it. */
static const char *phi__thinking_cause(const phi__run *run, const phi__prefix *p) {
    const phi_thread *thread = run->agent->thread;
    if (p->cause != PHI__PREFIX_MESSAGES) return phi__prefix_words(p->cause);
    if (run->listed.messages != NULL) return "the messages before it have changed (a hook)";
    if (phi__thinking_left_out(run)) return "the messages before it have changed (the policy)";
    if (thread->ops.last == NULL) return phi__prefix_words(p->cause);
    switch (thread->ops.last->rewrite.reason) {
    case PHI_REWRITE_COMPACTION: return "the messages before it have changed (a compaction)";
    case PHI_REWRITE_PRUNE: return "the messages before it have changed (a prune)";
    case PHI_REWRITE_REVERT: return "the messages before it have changed (a revert)";
    default: return "the messages before it have changed (a rewrite)";
    }
}

/* After a request was rendered: emits one warning each time another change takes thinking away.
   False: no memory. */
static bool phi__thinking_look(phi__run *run) {
    const phi__prefix *p = phi__thinking_prefix(run);
    phi__thinking *was = &run->agent->prior.thinking;
    phi__thinking now = PHI_ZERO;
    now.barred = was->barred;
    if (p != NULL && p->first != SIZE_MAX) {
        now.dropped = p->dropped;
        now.first = run->attempt.spec.items[p->first].from;
        now.cause = phi__thinking_cause(run, p);
    }
    bool same = now.cause == was->cause; /* they are static */
    *was = now;
    if (same || now.cause == NULL) return true;
    char words[200];
    (void)snprintf(words, sizeof words, "The thinking of %llu answer%s is not sent any more: %s",
                   (unsigned long long)now.dropped, now.dropped == 1 ? "" : "s", now.cause);
    return phi__events_warn(run->agent, phi_str_of(words));
}

PHI__FN bool phi__thinking_refused(const phi__run *run, const phi_failure *failure) {
    const phi__prefix *p = phi__thinking_prefix(run);
    return failure->kind == PHI_FAILURE_INVALID_REQUEST && p != NULL && p->last != 0 &&
           phi__str_find(failure->message, 0, "bound to a different conversation") != SIZE_MAX;
}

PHI__FN void phi__thinking_bar(phi__run *run) {
    run->agent->prior.thinking.barred = run->agent->thread->log.count;
}

PHI__FN void phi__thinking_mark(const phi__run *run, phi_message *answer) {
    const phi__prefix *p = phi__thinking_prefix(run);
    if (p == NULL) return;
    for (size_t i = 0; i < answer->content_count; i++)
        if (answer->content[i].kind == PHI_CONTENT_THINKING) {
            answer->prefix = phi__prefix_value(p);
            answer->prefix_parts = phi__prefix_parts(p);
        }
}

/* ---- the host's list ---- */

/* What there is to be changed. */
static const phi__item *phi__ask_list_ours(const phi__run *run, size_t *count) {
    const phi__fold *fold = &run->agent->thread->fold;
    const phi__item *shown = phi__projection_list(run, count);
    if (shown != NULL) return shown;
    *count = fold->count;
    return fold->items;
}

static bool phi__ask_list_make(phi__run *run) {
    size_t count;
    const phi__item *ours = phi__ask_list_ours(run, &count);
    run->listed.messages = (const phi_message **)phi_arena_alloc(
        &run->arena, phi__mul(phi__max(count, 1), sizeof *run->listed.messages));
    if (run->listed.messages == NULL) return false;
    for (size_t i = 0; i < count; i++) run->listed.messages[i] = ours[i].message;
    run->listed.count = count;
    return true;
}

/* The indexes of messages by address: a host's list may have any order, and its own messages. An
   open table, half empty. */
typedef struct phi__place {
    const phi_message *message; /* NULL: free */
    size_t at;
} phi__place;

typedef struct phi__places {
    phi__place *table;
    size_t mask;
} phi__places;

static bool phi__ask_places_init(phi__places *places, phi_arena *arena, size_t count) {
    size_t cap = 16;
    while (cap / 2 < count) cap = phi__mul(cap, 2);
    places->mask = cap - 1;
    places->table = (phi__place *)phi__arena_zero(arena, phi__mul(cap, sizeof *places->table));
    return places->table != NULL;
}

static phi__place *phi__ask_places_find(const phi__places *places, const phi_message *message) {
    size_t i = (size_t)phi__hash_mix((uint64_t)(uintptr_t)message) & places->mask;
    while (places->table[i].message != NULL && places->table[i].message != message)
        i = (i + 1) & places->mask;
    return &places->table[i];
}

static void phi__ask_places_add(const phi__places *places, const phi_message *message, size_t at) {
    phi__place *place = phi__ask_places_find(places, message);
    if (place->message != NULL) return;
    place->message = message;
    place->at = at;
}

/* Takes the hook's list; its own messages are copied for the turn. NULLs are left out. */
static bool phi__ask_list_take(phi__run *run, const phi_hook *hook) {
    const phi_message **list;
    phi__places ours;
    size_t n = 0;
    if (hook->messages == run->listed.messages && hook->message_count == run->listed.count)
        return true;
    list = (const phi_message **)phi_arena_alloc(
        &run->arena, phi__mul(phi__max(hook->message_count, 1), sizeof *list));
    if (list == NULL || !phi__ask_places_init(&ours, &run->arena, run->listed.count)) return false;
    for (size_t i = 0; i < run->listed.count; i++)
        phi__ask_places_add(&ours, run->listed.messages[i], i);
    for (size_t i = 0; i < hook->message_count; i++) {
        const phi_message *message = hook->messages[i];
        if (message == NULL || (message->content == NULL && message->content_count > 0)) continue;
        list[n] = phi__ask_places_find(&ours, message)->message != NULL
                      ? message
                      : phi_message_copy(message, &run->arena);
        if (list[n++] == NULL) return false;
    }
    run->listed.messages = list;
    run->listed.count = n;
    return true;
}

static phi__state phi__ask_list_hook(phi__run *run, phi_hook_point point, phi__state here,
                                     phi__state next, bool *wait) {
    if (run->end.cancelled) {
        phi__decision_drop(&run->decision);
        return PHI__RUN_TURN_END;
    }
    if ((run->agent->desc.hook_points & (uint32_t)point) == 0) return next;
    if (run->listed.messages == NULL && !phi__ask_list_make(run)) return PHI__RUN_LOST;
    phi_hook hook = phi__hooks_make(run, point);
    hook.messages = run->listed.messages;
    hook.message_count = run->listed.count;
    phi__hooked hooked = phi__hooks_run(run, &hook);
    if (hooked == PHI__HOOK_ALLOW && (hook.messages != NULL || hook.message_count == 0) &&
        !phi__ask_list_take(run, &hook))
        hooked = PHI__HOOK_LOST;
    return phi__hooks_next(run, hooked, here, next, next, wait);
}

PHI__FN bool phi__ask_list_pin(phi__run *run) {
    const phi_thread *thread = run->agent->thread;
    phi__places listed;
    phi_arena scratch;
    if (run->listed.messages == NULL) return true;
    phi_arena_init(&scratch, &run->agent->memory, 0);
    bool done = phi__ask_places_init(&listed, &scratch, run->listed.count);
    for (size_t i = 0; done && i < run->listed.count; i++)
        phi__ask_places_add(&listed, run->listed.messages[i], i);
    for (size_t i = 0; done && i < thread->log.held; i++) {
        const phi__entry *entry = thread->log.entries[i];
        if (entry->kind == PHI_ENTRY_MESSAGE &&
            phi__ask_places_find(&listed, entry->message)->message != NULL)
            phi__segments_pin(entry->segment);
    }
    for (const phi__op *op = done ? thread->ops.last : NULL; op != NULL; op = op->earlier)
        for (size_t i = 0; i < op->rewrite.span_count; i++)
            for (size_t j = 0; j < op->rewrite.spans[i].message_count; j++)
                if (phi__ask_places_find(&listed, &op->rewrite.spans[i].messages[j])->message !=
                    NULL)
                    phi__segments_pin(op->segment);
    phi_arena_free(&scratch);
    return done;
}

/* The state of a hook's decision, or, if the agent does not want it, the one after it. */
static phi__state phi__ask_hook_state(const phi__run *run, phi_hook_point point, phi__state here,
                                      phi__state behind) {
    return (run->agent->desc.hook_points & (uint32_t)point) != 0 ? here : behind;
}

PHI__FN phi__state phi__ask_transform(phi__run *run, bool *wait) {
    phi__state next;
    if (!run->end.cancelled && !phi__projection_ensure(run, &next)) return next;
    next = phi__ask_hook_state(run, PHI_HOOK_CONVERT_TO_LLM, PHI__RUN_CONVERT, PHI__RUN_REQUEST);
    return phi__ask_list_hook(run, PHI_HOOK_TRANSFORM_CONTEXT, PHI__RUN_TRANSFORM, next, wait);
}

PHI__FN phi__state phi__ask_convert(phi__run *run, bool *wait) {
    return phi__ask_list_hook(run, PHI_HOOK_CONVERT_TO_LLM, PHI__RUN_CONVERT, PHI__RUN_REQUEST,
                              wait);
}

PHI__FN void phi__ask_list_clear(phi__run *run) { run->listed.messages = NULL; }

/* The list in the encoder's form, after the host's translation, if there is one: the thread's own
   messages come with their kept renderings. PHI_NO_MEMORY, or the translation's status. */
static phi_status phi__ask_items(phi__run *run, const phi__item **items, size_t *count) {
    const phi__agent *agent = run->agent;
    if (run->listed.messages == NULL && agent->desc.translate_fn != NULL &&
        !phi__ask_list_make(run))
        return PHI_NO_MEMORY;
    size_t known_count;
    const phi__item *known = phi__ask_list_ours(run, &known_count);
    *items = known;
    *count = known_count;
    if (run->listed.messages == NULL) return PHI_OK;
    const phi_message *const *list = run->listed.messages;
    size_t n = run->listed.count;
    if (agent->desc.translate_fn != NULL) {
        phi_status status = agent->desc.translate_fn(agent->desc.user_data, &agent->desc.model,
                                                     run->listed.messages, run->listed.count,
                                                     &run->arena, &list, &n);
        if (status != PHI_OK) return status;
        for (size_t i = 0; i < n; i++)
            if (list == NULL || list[i] == NULL ||
                (list[i]->content == NULL && list[i]->content_count > 0))
                return PHI_BAD_ARG;
        known = phi__ask_list_ours(run, &known_count); /* the host was called: read it again */
    }
    phi__places ours;
    phi__item *made =
        (phi__item *)phi__arena_zero(&run->arena, phi__mul(phi__max(n, 1), sizeof *made));
    if (made == NULL || !phi__ask_places_init(&ours, &run->arena, known_count))
        return PHI_NO_MEMORY;
    for (size_t i = 0; i < known_count; i++) phi__ask_places_add(&ours, known[i].message, i);
    for (size_t i = 0; i < n; i++) {
        const phi__place *place = phi__ask_places_find(&ours, list[i]);
        made[i].message = list[i];
        if (place->message != NULL) made[i] = known[place->at];
    }
    *items = made;
    *count = n;
    return PHI_OK;
}

enum {
    PHI__MODEL_CALL_SLICE = 4096, /* bytes hashed between two clock readings */
    /* messages, or KiB of them, rendered between two clock readings */
    PHI__MODEL_CALL_UNITS = 8
};

/* ---- the request ---- */

/* A host's own protocol has one name. A request that names its tools gets no raw ones. False: no
   memory. */
static bool phi__ask_offer(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__request_spec *spec = &run->attempt.spec;
    const char *own[PHI__CODEC_NAMES] = {NULL, NULL, NULL};
    own[0] = agent->desc.model.protocol;
    phi__toolset_change change = PHI_ZERO;
    if (agent->rt->features.deferral != NULL &&
        !agent->rt->features.deferral->change(agent, &run->arena, &change, &spec->system_prompt))
        return false;
    return phi__toolset_offer(agent->tools, &change, agent->desc.tool_options.raw_tools,
                              run->own.toolset == NULL ? agent->desc.tool_options.raw_tool_count
                                                       : 0,
                              agent->provider == NULL ? agent->codec->names : own, &run->arena,
                              &spec->tools, &spec->tool_count);
}

/* PHI_BAD_ARG with a message: the target cannot give such an answer. */
static phi_status phi__ask_fill_spec(phi__run *run, char *words, size_t words_size) {
    phi__agent *agent = run->agent;
    phi__toolset *set = agent->tools;
    phi__request_spec *spec = &run->attempt.spec;
    memset(spec, 0, sizeof *spec);
    spec->model = &agent->desc.model;
    spec->system_prompt = agent->system_prompt;
    spec->tool_choice = agent->desc.tool_options.choice;
    spec->thinking = agent->desc.thinking;
    spec->max_tokens = agent->desc.max_tokens;
    spec->temperature = phi__run_temperature(run);
    spec->cache = agent->desc.cache;
    spec->format = *phi__run_format_of(run);
    spec->session_id = agent->line.session->id;
    spec->options = agent->desc.options;
    spec->texts = agent->desc.texts;
    words[0] = '\0';
    if (!phi__strict_tools_adapt(set->views, set->count, agent->codec, &agent->desc.model,
                                 &set->arena) ||
        !phi__ask_offer(run))
        return PHI_NO_MEMORY;
    /* the model's extra, the agent's and the run's, in one */
    const char *of_model = agent->desc.model.extra, *of_agent = agent->desc.options.extra;
    if ((of_model != NULL || of_agent != NULL || run->own.extra.len > 0) &&
        (!phi__extra_join(&run->arena, phi_str_of(of_model), phi_str_of(of_agent), &spec->extra) ||
         !phi__extra_join(&run->arena, spec->extra, run->own.extra, &spec->extra)))
        return PHI_NO_MEMORY;
    phi_status status = phi__ask_items(run, &spec->items, &spec->item_count);
    spec->rewritten = run->agent->thread->ops.last != NULL || run->listed.messages != NULL ||
                      phi__thinking_left_out(run);
    spec->thinking_from = agent->prior.thinking.barred;
    if (status == PHI_OK && !phi__head_apply(run)) status = PHI_NO_MEMORY;
    spec->plain = run->listed.messages == NULL && !agent->thread->fold.opaque;
    if (status == PHI_OK && spec->format.kind != PHI_FORMAT_TEXT &&
        agent->provider == NULL) /* a host's model gets it as it is */
        status =
            agent->rt->features.formats->apply(agent->codec, spec, &run->arena, words, words_size);
    if (status == PHI_OK)
        status = phi__strict_tools_refused(agent->codec, spec, &agent->memory, words, words_size);
    return status;
}

/* Before anything was sent. */
static phi__state phi__ask_refuse_words(phi__run *run, const char *words, phi_status status) {
    phi_failure failure = phi__failure_of(PHI_FAILURE_INVALID_REQUEST, false, words);
    return status == PHI_NO_MEMORY ? PHI__RUN_LOST : phi__attempt_failed(run, &failure, status);
}

static phi__state phi__ask_refuse(phi__run *run, const char *what, phi_status status) {
    char words[120];
    (void)snprintf(words, sizeof words, "%s: %s", what, phi_status_text(status));
    return phi__ask_refuse_words(run, words, status);
}

/* Behind the request, and behind the key. */
static phi__state phi__ask_keyed(const phi__run *run) {
    return run->agent->codec->sign != NULL ? PHI__RUN_SIGN : PHI__RUN_SEND;
}

PHI__FN phi__state phi__ask_request(phi__run *run, bool *wait) {
    char words[400];
    phi_status status;
    (void)wait;
    if (run->end.cancelled) return PHI__RUN_TURN_END;
    if (!run->attempt.encoding) {
        /* Have the hooks, or the policy, left anything that can be sent? */
        size_t count = 0;
        bool any = run->listed.messages == NULL &&
                   (phi__projection_list(run, &count) == NULL || count > 0);
        for (size_t i = 0; run->listed.messages != NULL && i < run->listed.count && !any; i++)
            any = run->listed.messages[i]->role != PHI_ROLE_EXTENSION;
        if (!any) {
            phi_failure failure = phi__failure_of(PHI_FAILURE_INVALID_REQUEST, false,
                                                  run->listed.messages != NULL
                                                      ? "the hooks have left nothing to be sent"
                                                      : "the policy has left nothing to be sent");
            return phi__attempt_failed(run, &failure, PHI_BAD_ARG);
        }
        status = phi__ask_fill_spec(run, words, sizeof words);
        if (words[0] != '\0') return phi__ask_refuse_words(run, words, status);
        if (status != PHI_OK) return phi__ask_refuse(run, "the translation has failed", status);
        run->slices = false;
        phi__state outcome = phi__feature_run(run, PHI__POINT_REQUEST);
        if (outcome != PHI__RUN_ON) return outcome;
        run->attempt.hash = NULL;
        run->attempt.keyed = NULL;
        run->attempt.decoder = NULL; /* it went with the last turn's memory */
        if (run->agent->provider != NULL) {
            status = phi__provider_request(run);
            if (status == PHI_OK && !run->agent->in_process) status = phi__provider_encode(run);
            return status == PHI_OK
                       ? PHI__RUN_CREDENTIAL
                       : phi__ask_refuse(run, "the provider has refused the request", status);
        }
        phi__encoder_begin(&run->attempt.encoder, run->agent->codec, &run->attempt.spec,
                           &run->arena);
        run->attempt.encoding = true;
    }
    status = phi__encoder_advance(&run->attempt.encoder, PHI__MODEL_CALL_UNITS);
    if (status == PHI_BUSY) return PHI__RUN_REQUEST;
    phi__encoder_free(&run->attempt.encoder);
    run->attempt.encoding = false;
    if (status == PHI_BAD_ARG)
        return phi__ask_refuse_words(run, run->attempt.encoder.refused, status);
    if (status != PHI_OK || !phi__thinking_look(run)) return PHI__RUN_LOST;
    return phi__ask_hook_state(run, PHI_HOOK_CREDENTIAL, PHI__RUN_CREDENTIAL, phi__ask_keyed(run));
}

/* Makes the request's address again, with another key; its body stays. */
static phi_status phi__ask_key(phi__run *run, phi_str key) {
    phi_str copy;
    if (run->attempt.keyed == NULL)
        run->attempt.keyed = (phi_model *)phi_arena_alloc(&run->arena, sizeof *run->attempt.keyed);
    if (run->attempt.keyed == NULL || !phi__arena_str(&run->arena, key, &copy))
        return PHI_NO_MEMORY;
    *run->attempt.keyed = run->agent->desc.model;
    run->attempt.keyed->api_key = copy.at;
    run->attempt.spec.model = run->attempt.keyed;
    if (run->agent->provider != NULL)
        return run->agent->in_process ? PHI_OK : phi__provider_encode(run);
    bool done = phi__encoder_address(&run->attempt.encoder);
    phi__encoder_free(&run->attempt.encoder); /* the scratch buffer */
    return done ? PHI_OK : PHI_NO_MEMORY;
}

PHI__FN phi__state phi__ask_credential(phi__run *run, bool *wait) {
    if (run->end.cancelled) {
        phi__decision_drop(&run->decision);
        return PHI__RUN_TURN_END;
    }
    if ((run->agent->desc.hook_points & (uint32_t)PHI_HOOK_CREDENTIAL) == 0)
        return phi__ask_keyed(run);
    phi_hook hook = phi__hooks_make(run, PHI_HOOK_CREDENTIAL);
    hook.is_error = run->attempt.refused;
    hook.model = &run->agent->desc.model;
    phi__hooked hooked = phi__hooks_run(run, &hook);
    if (hooked == PHI__HOOK_WAIT || hooked == PHI__HOOK_GONE || hooked == PHI__HOOK_LOST)
        return phi__hooks_next(run, hooked, PHI__RUN_CREDENTIAL, phi__ask_keyed(run),
                               PHI__RUN_TURN_END, wait);
    run->attempt.refused = false;
    phi_str key = phi__str_trim(phi__buf_str(&run->decision.reply));
    if (hooked == PHI__HOOK_DENY) {
        phi_failure failure = phi__failure_of(PHI_FAILURE_AUTH, false, "there is no key");
        if (key.len > 0) failure.message = key;
        return phi__attempt_failed(run, &failure, PHI_DENIED);
    }
    if (key.len == 0 && run->attempt.keyed != NULL) /* the attempt before had its own */
        key = phi_str_of(run->agent->desc.model.api_key);
    else if (key.len == 0)
        return phi__ask_keyed(run);
    phi_status status = phi__ask_key(run, key);
    return status == PHI_OK ? PHI__RUN_SIGN
                            : phi__ask_refuse(run, "the provider has refused the request", status);
}

/* ---- signing ---- */

/* The body's hash, under way or done: it is the same for every attempt. */
typedef struct phi__body_hash {
    phi__sha256 sha;
    uint64_t at;
    bool done;
    phi__signing signing;
} phi__body_hash;

PHI__FN phi__state phi__ask_sign(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    phi__body_hash *hash = run->attempt.hash;
    if (run->end.cancelled) return PHI__RUN_TURN_END;
    if (run->agent->codec->sign == NULL) return PHI__RUN_SEND;
    if (hash == NULL) {
        run->attempt.hash = hash = (phi__body_hash *)phi__arena_zero(&run->arena, sizeof *hash);
        if (hash == NULL) return PHI__RUN_LOST;
        phi__sha256_begin(&hash->sha);
    }
    while (!hash->done) { /* a slice */
        char bytes[PHI__MODEL_CALL_SLICE];
        const phi_request *request = &run->attempt.encoder.request;
        size_t n = phi_request_read(request, hash->at, bytes, sizeof bytes);
        phi__sha256_add(&hash->sha, bytes, n);
        hash->at += n;
        hash->done = hash->at >= phi_request_get_info(request).length;
        if (hash->done)
            phi__sha256_end(&hash->sha, hash->signing.body_sha256);
        else if (phi__slice_spent(&rt->slice))
            return PHI__RUN_SIGN;
    }
    hash->signing.wall_ms = phi__io_wall_ms(rt->io);
    run->agent->codec->sign(&run->attempt.encoder, &hash->signing);
    return run->attempt.encoder.failed ? PHI__RUN_LOST : PHI__RUN_SEND;
}
