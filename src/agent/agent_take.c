/* agent_take.c - copies settings into an agent's memory: for its desc, or for a request. */
#include "agent/agent_in.h"
#include "features/features_in.h"

#include <stdio.h>

/* Copies a string; NULL gives an empty one without memory. */
PHI__FN bool phi__take_own(phi__agent *agent, const char *text, phi_str *out) {
    size_t n = text != NULL ? strlen(text) : 0;
    char *copy = NULL;
    if (text != NULL) {
        copy = (char *)phi__realloc(&agent->memory, NULL, 0, n + 1);
        if (copy == NULL) return false;
        memcpy(copy, text, n + 1);
    }
    *out = phi__str(copy, n);
    return true;
}

PHI__FN void phi__take_disown(phi__agent *agent, phi_str *s) {
    if (s->at != NULL) phi__free(&agent->memory, (void *)(uintptr_t)s->at, s->len + 1);
    *s = phi__str(NULL, 0);
}

PHI__FN void phi__take_off_focus(phi__agent *agent) {
    phi_str focus = phi_str_of(agent->desc.compaction.focus_message);
    phi__take_disown(agent, &focus);
    agent->desc.compaction.focus_message = NULL;
}

PHI__FN void phi__take_off_filters(phi__agent *agent) {
    phi__free(&agent->memory, (void *)(uintptr_t)agent->desc.input.filters,
              agent->desc.input.filter_count * sizeof *agent->desc.input.filters);
    agent->desc.input.filters = NULL;
    agent->desc.input.filter_count = 0;
}

PHI__FN void phi__take_random_id(const phi__agent *agent, char out[PHI__UUID_SIZE]) {
    unsigned char random[16];
    phi__io_random(agent->rt->io, random, sizeof random);
    phi__id_uuid(random, out);
}

PHI__FN bool phi__take_model(phi__agent *agent, const phi_provider *own, const phi_model *model) {
    phi__speaker seat;
    if (!phi__speaker_take(agent->rt, &agent->model_arena, own, model, &seat)) return false;
    phi__speaker_set(agent, &seat);
    return true;
}

/* provider.slug[.thinking]: the middle of a loop id; behaviours B 29. */
PHI__FN bool phi__take_segment(phi__agent *agent, const char *config_id) {
    phi__buf segment;
    phi_str taken;
    bool done;
    if (config_id != NULL) {
        done = phi__arena_str(&agent->model_arena, phi_str_of(config_id), &taken);
        if (done) phi__line_set_segment(agent, taken);
        return done;
    }
    phi__buf_init(&segment, &agent->memory);
    phi__buf_text(&segment, agent->desc.model.provider);
    phi__buf_char(&segment, '.');
    for (const char *p = agent->desc.model.id; *p != '\0'; p++) {
        bool plain = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
                     (*p >= 'A' && *p <= 'Z') || *p == '-';
        phi__buf_char(&segment, plain ? *p : '-');
    }
    if (agent->desc.thinking != PHI_THINKING_OFF) phi__buf_text(&segment, ".thinking");
    done = !segment.failed && phi__arena_str(&agent->model_arena, phi__buf_str(&segment), &taken);
    if (done) phi__line_set_segment(agent, taken);
    phi__buf_free(&segment);
    return done;
}

PHI__FN bool phi__take_format(phi__agent *agent, const phi_format *format, phi_format *out) {
    const char *given = format->kind == PHI_FORMAT_JSON_SCHEMA ? format->schema : NULL;
    phi_str schema = {NULL, 0}, name = {NULL, 0};
    memset(out, 0, sizeof *out);
    if (format->kind == PHI_FORMAT_TEXT) return true;
    if (!phi__take_own(agent, given, &schema)) return false;
    if (!phi__take_own(agent, format->name, &name)) {
        phi__take_disown(agent, &schema);
        return false;
    }
    *out = *format;
    out->schema = schema.at;
    out->name = name.at;
    return true;
}

PHI__FN void phi__take_off_format(phi__agent *agent, phi_format *format) {
    phi_str schema = phi_str_of(format->schema), name = phi_str_of(format->name);
    phi__take_disown(agent, &schema);
    phi__take_disown(agent, &name);
    memset(format, 0, sizeof *format);
}

PHI__FN bool phi__take_projected(phi__agent *agent) {
    if (agent->projected == NULL)
        agent->projected = (phi__projected *)phi__alloc(&agent->memory, sizeof *agent->projected);
    return agent->projected != NULL;
}

PHI__FN bool phi__take_policy(phi__agent *agent, const phi_policy *policy,
                              const phi_token_counter *counter) {
    bool counts = counter != NULL && counter->count_text != NULL;
    if (agent->projected == NULL && policy == NULL && !counts) return true;
    if (!phi__take_projected(agent)) return false;
    if (counts) agent->projected->counter = *counter;
    agent->projected->has_policy = policy != NULL;
    if (policy != NULL) agent->projected->policy = *policy;
    return true;
}
