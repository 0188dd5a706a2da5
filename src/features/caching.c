/* caching.c - statistics of prompt caching: how much a request should read from the provider's
   cache, how much it did read, and how a request that missed differs from the previous one.

   Two requests are compared by hashes of their parts. Messages of the history are compared by their
   addresses, which never change. No text is kept. */
#include "features/features_in.h"

/* Hashes of the parts of a request. */
typedef struct phi__cached {
    uint64_t model, system, tools, settings, history; /* history: hash of all items */
    size_t items;                                     /* SIZE_MAX: the messages are gone */
} phi__cached;

/* The feature's state of an agent. */
typedef struct phi__caching {
    phi_cache_stats stats;
    /* last: the last request whose answer reported usage; now: the active request */
    phi__cached last, now;
    uint64_t expected; /* tokens that the active request should read from the cache */
    uint32_t changed;  /* PHI_CACHE_CHANGED_ bits: `now` compared with `last` */
    bool known;        /* the hashes of model, system and tools in `now` are up to date */
} phi__caching;

enum { PHI__CACHING_ENDS = 64 }; /* the number of bytes hashed at each end of a long text */

/* ---- the parts of a request ---- */

static uint64_t phi__caching_model(const phi_model *model) {
    uint64_t n = phi__hash(phi_str_of(model->protocol), 1);
    n = phi__hash(phi_str_of(model->base_url), n);
    return phi__hash(phi_str_of(model->id), n);
}

static uint64_t phi__caching_tools(const phi__request_spec *spec) {
    uint64_t n = spec->tool_count;
    for (size_t i = 0; i < spec->tool_count; i++) {
        n = phi__hash(spec->tools[i].name, n);
        n = phi__hash(spec->tools[i].description, n);
        n = phi__hash(spec->tools[i].schema, n + (spec->tools[i].strict != NULL ? 1 : 0));
        n = phi__hash(spec->tools[i].raw, n);
    }
    return n;
}

/* Hashes all settings except model, tools and prompt. */
static uint64_t phi__caching_settings(const phi__request_spec *spec) {
    uint64_t n = (uint64_t)spec->tool_choice << 8 | (uint64_t)spec->format.kind << 16 |
                 (uint64_t)(spec->format.strict ? 1 : 0) << 32 | (uint64_t)spec->thinking << 40;
    n = phi__hash(spec->session_id, n);
    n = phi__hash(phi_str_of(spec->format.schema), n);
    return phi__hash(phi_str_of(spec->format.name), n);
}

static uint64_t phi__caching_text(phi_str s, uint64_t n) {
    if (s.len <= 2 * PHI__CACHING_ENDS) return phi__hash(s, n);
    n = phi__hash(phi__str(s.at, PHI__CACHING_ENDS), n + s.len);
    return phi__hash(phi__str(s.at + s.len - PHI__CACHING_ENDS, PHI__CACHING_ENDS), n);
}

/* Hashes a message. A message of the thread is identified by its address. A hook's message is a new
   copy in each turn, so its content is hashed. */
static uint64_t phi__caching_item(const phi__item *item, uint64_t n) {
    const phi_message *m = item->message;
    if (item->rendered != NULL) return phi__hash_mix(n ^ (uint64_t)(uintptr_t)m);
    n = phi__caching_text(m->tool_call_id, n ^ (uint64_t)m->role);
    for (size_t i = 0; i < m->content_count; i++) {
        n = phi__caching_text(m->content[i].text, n + (uint64_t)m->content[i].kind);
        n = phi__caching_text(m->content[i].data, n);
        n = phi__caching_text(m->content[i].id, n);
        n = phi__caching_text(m->content[i].arguments, n);
    }
    return n;
}

/* ---- comparing two requests ---- */

static void phi__caching_sent(const phi__agent *agent, phi__caching *c,
                              const phi__request_spec *spec) {
    const phi__cached *last = &c->last;
    phi__cached *now = &c->now;
    uint64_t n = 0;
    bool same = last->items == 0; /* an empty history is the beginning of any history */
    if (!c->known) {
        now->model = phi__caching_model(&agent->desc.model);
        now->system = phi__hash(spec->system_prompt, 2);
        now->tools = phi__caching_tools(spec);
        c->known = true;
    }
    now->settings = phi__caching_settings(spec);
    for (size_t i = 0; i < spec->item_count; i++) {
        n = phi__caching_item(&spec->items[i], n);
        if (i + 1 == last->items) same = n == last->history;
    }
    now->items = spec->item_count;
    now->history = n;
    c->changed = (now->model != last->model ? (uint32_t)PHI_CACHE_CHANGED_MODEL : 0) |
                 (now->system != last->system ? (uint32_t)PHI_CACHE_CHANGED_SYSTEM : 0) |
                 (now->tools != last->tools ? (uint32_t)PHI_CACHE_CHANGED_TOOLS : 0) |
                 (same ? 0 : (uint32_t)PHI_CACHE_CHANGED_HISTORY) |
                 (now->settings != last->settings ? (uint32_t)PHI_CACHE_CHANGED_SETTINGS : 0);
}

static void phi__caching_answered(phi__caching *c, const phi_usage *usage) {
    uint64_t read = usage->cache_read;
    if (usage->input + usage->output + read + usage->cache_write == 0) return;
    c->stats.requests++;
    if (read < c->expected - c->expected / 2) { /* never true if expected is 0 */
        c->stats.misses++;
        c->stats.missed_tokens += c->expected - read;
        c->stats.changed = c->changed;
    } else if (read > 0) {
        c->stats.hits++;
    }
    c->expected = read + usage->cache_write;
    c->last = c->now;
    c->changed = 0; /* a retry of this request sends the same parts */
}

/* Called when the messages so far are gone. */
static void phi__caching_forget(phi__caching *c) { c->last.items = SIZE_MAX; }

static void phi__caching_renewed(phi__caching *c, const phi__moment *moment) {
    if (moment->fold != NULL) {
        /* The messages are the same, but the new view has copies of them at other addresses. */
        const phi__fold *from = moment->fold;
        const phi__fold *to = &moment->agent->thread->fold;
        phi__cached *last = &c->last;
        uint64_t was = 0, now = 0;
        size_t i;
        for (i = 0; i < last->items && i < from->count && i < to->count; i++) {
            was = phi__caching_item(&from->items[i], was);
            now = phi__caching_item(&to->items[i], now);
        }
        if (i == last->items && was == last->history)
            last->history = now;
        else
            phi__caching_forget(c);
    } else
        phi__caching_forget(c);
}

static phi__state phi__caching_take(phi__moment *moment) {
    phi__caching *c = (phi__caching *)moment->agent_state;
    switch (moment->point) {
    case PHI__POINT_REQUEST: phi__caching_sent(moment->agent, c, &moment->run->attempt.spec); break;
    case PHI__POINT_CHARGED: phi__caching_answered(c, moment->usage); break;
    case PHI__POINT_CHANGED: c->known = false; break;
    case PHI__POINT_LOG_RENEWED: phi__caching_renewed(c, moment); break;
    default: break;
    }
    return PHI__RUN_ON;
}

static void phi__caching_show(const phi__agent *agent, phi_cache_stats *out) {
    *out = ((const phi__caching *)phi__feature_agent_state(agent, phi_feature_cache_stats))->stats;
}

static void phi__caching_open(phi_runtime *rt) { rt->features.cache_stats_fn = phi__caching_show; }

PHI_API const phi__feature *phi_feature_cache_stats(void) {
    enum {
        points =
            PHI__POINT_REQUEST | PHI__POINT_CHARGED | PHI__POINT_CHANGED | PHI__POINT_LOG_RENEWED
    };
    static const phi__feature feature = {points,
                                         0,
                                         sizeof(phi__caching),
                                         phi__caching_take,
                                         NULL,
                                         PHI__FEATURE_AT_CACHING,
                                         phi__caching_open,
                                         NULL};
    return &feature;
}
