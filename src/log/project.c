/* project.c - chooses the items of a view to send. It walks from the newest item back, no further
   than needed.

   The order in which items get room does not depend on the budget: the newest turn, the protected
   turns, the summaries of older messages, then the groups before those. The first item that does
   not fit ends the walk. So a larger budget never sends less. */
#include "log/thread_in.h"

/* ---- the presets, and every default in one place ---- */

/* The defaults of phi_policy, and the values of the presets. */
enum {
    PHI__POLICY_INPUT = 8000,
    PHI__POLICY_RESERVE = 2000,
    PHI__POLICY_TURNS = 3,
    PHI__POLICY_SHORT_INPUT = 6000,
    PHI__POLICY_SHORT_TURNS = 2,
    PHI__POLICY_LONG_INPUT = 100000,
    PHI__POLICY_LONG_TURNS = 10,
    PHI__POLICY_TOOL_TURNS = 5,
    PHI__POLICY_WINDOW = 128000, /* window of a model that names none, as for agents */
    PHI__POLICY_OUTPUT = 8192    /* output limit of a model that names none */
};

PHI__FN phi_policy phi__policy_filled(const phi_policy *policy) {
    phi_policy p = PHI_ZERO;
    if (policy != NULL) p = *policy;
    if (p.max_input_tokens == 0) p.max_input_tokens = PHI__POLICY_INPUT;
    if (p.reserve_output_tokens == 0) p.reserve_output_tokens = PHI__POLICY_RESERVE;
    if (p.no_reserve) p.reserve_output_tokens = 0;
    if (p.keep_last_turns == 0) p.keep_last_turns = PHI__POLICY_TURNS;
    if (p.keep_no_turns) p.keep_last_turns = 1;
    if (p.summary_role == (phi_role)0) p.summary_role = PHI_ROLE_USER;
    if (p.include == 0) p.include = PHI_INCLUDE_ALL;
    return p;
}

PHI__FN const char *phi__policy_fault(const phi_policy *policy) {
    if ((unsigned)policy->summaries > (unsigned)PHI_SUMMARIES_WRITE)
        return "policy.summaries is none of its values";
    if (policy->summary_role != (phi_role)0 && policy->summary_role != PHI_ROLE_USER &&
        policy->summary_role != PHI_ROLE_ASSISTANT)
        return "policy.summary_role: expected user or assistant";
    if ((policy->include & ~(uint32_t)PHI_INCLUDE_ALL) != 0)
        return "policy.include: expected PHI_INCLUDE_ bits";
    return NULL;
}

/* If a model's output may fill its window, half of the window is for input. */
static void phi__policy_for_model(const phi_model *model, phi_policy *p) {
    uint64_t window = PHI__POLICY_WINDOW, output = PHI__POLICY_OUTPUT;
    if (model != NULL && model->context_window != 0) window = model->context_window;
    if (model != NULL && model->max_tokens != 0) output = model->max_tokens;
    p->max_input_tokens = window;
    p->reserve_output_tokens = output < window / 2 ? output : window / 2;
    p->no_reserve = p->reserve_output_tokens == 0;
}

PHI_API phi_policy phi_policy_of(phi_policy_kind kind, const phi_model *model) {
    phi_policy p = phi__policy_filled(NULL);
    switch (kind) {
    case PHI_POLICY_SHORT_CONTEXT:
        p.max_input_tokens = PHI__POLICY_SHORT_INPUT;
        p.keep_last_turns = PHI__POLICY_SHORT_TURNS;
        break;
    case PHI_POLICY_LONG_CONTEXT:
        p.max_input_tokens = PHI__POLICY_LONG_INPUT;
        p.keep_last_turns = PHI__POLICY_LONG_TURNS;
        break;
    case PHI_POLICY_TOOL_FOCUSED:
        p.keep_last_turns = PHI__POLICY_TOOL_TURNS;
        p.include = PHI_INCLUDE_MESSAGES | PHI_INCLUDE_TOOLS;
        p.summaries = PHI_SUMMARIES_NONE;
        break;
    case PHI_POLICY_FOR_MODEL: phi__policy_for_model(model, &p); break;
    case PHI_POLICY_DEFAULT: break;
    }
    return p;
}

enum { PHI__PROJECT_BUCKETS = 64 };

/* A result whose answer was not reached yet, since the walk goes backwards. */
typedef struct phi__found {
    struct phi__found *later; /* the next result of this bucket, later in the view */
    size_t at;
    bool spent; /* the call already has another result */
} phi__found;

typedef struct phi__projecting {
    const phi__proj_order *order;
    phi_policy policy;
    phi_arena *arena;
    phi__found *found[PHI__PROJECT_BUCKETS];
    phi__group *oldest; /* the oldest group so far */
    size_t at;          /* items before this one were not reached */
    size_t window;      /* first included item, not counting pinned summaries */
    uint64_t budget, used, newest_tokens;
    uint32_t turn;
    size_t messages; /* included messages, without summaries and extensions */
    size_t groups;   /* groups that were looked at */
    size_t floor;    /* summaries at or after this item have room */
    bool summaries;  /* the policy includes summaries */
    bool settled;    /* newest and protected turns are complete; older summaries have room */
    bool full;
    phi__verdict stopped; /* why the walk stopped at stop_at */
    size_t stop_at;
    bool trimmed;
    phi_projection_meta meta;
    bool failed;
} phi__projecting;

/* ---- the items of a projection: from a view or a fold ---- */

static const phi_message *phi__items_message(const phi__proj_order *o, size_t at) {
    return o->items != NULL ? o->items[at].message : o->fold->items[at].message;
}

static uint32_t phi__items_flags(const phi__proj_order *o, size_t at) {
    return o->items != NULL ? o->items[at].flags : o->fold->items[at].flags;
}

static uint64_t phi__items_from(const phi__proj_order *o, size_t at) {
    return o->items != NULL ? o->items[at].from : o->fold->items[at].from;
}

static uint64_t phi__items_to(const phi__proj_order *o, size_t at) {
    return o->items != NULL ? o->items[at].to : o->fold->items[at].to;
}

static uint64_t phi__items_tokens(const phi__proj_order *o, size_t at) {
    bool counted = o->counter != NULL && o->counter->count_text != NULL;
    if (o->items != NULL && !counted) return o->items[at].tokens;
    return phi_tokens_of_message(o->counter, phi__items_message(o, at));
}

static size_t phi__items_calls(const phi_message *m) {
    size_t n = 0;
    for (size_t i = 0; m->role == PHI_ROLE_ASSISTANT && i < m->content_count; i++)
        n += phi__codec_is_call(&m->content[i]) ? 1 : 0;
    return n;
}

/* True for a summary without calls. A summary with calls is like any other answer. */
PHI__FN bool phi__items_sums_up(const phi_message *m, uint32_t flags) {
    return (flags & PHI_ITEM_SUMMARY) != 0 &&
           (m->role == PHI_ROLE_USER || m->role == PHI_ROLE_ASSISTANT) && phi__items_calls(m) == 0;
}

static bool phi__items_is_summary(const phi__proj_order *o, size_t at) {
    uint32_t flags = phi__items_flags(o, at);
    return (flags & PHI_ITEM_SUMMARY) != 0 && phi__items_sums_up(phi__items_message(o, at), flags);
}

PHI__FN bool phi__items_is_group(const phi_message *m, uint32_t flags) {
    return (m->role == PHI_ROLE_USER || m->role == PHI_ROLE_ASSISTANT) &&
           !phi__items_sums_up(m, flags);
}

/* Returns the newest summary before an item. SIZE_MAX: none. */
static size_t phi__items_summary_before(const phi__proj_order *o, size_t at) {
    if (at == 0) return SIZE_MAX;
    if (o->items == NULL) {
        uint32_t place = o->fold->items[at - 1].summary;
        return place > 0 ? place - 1 : SIZE_MAX;
    }
    while (at > 0 && !phi__items_is_summary(o, at - 1)) at--;
    return at > 0 ? at - 1 : SIZE_MAX;
}

/* True if a user's message opens a turn. A message steered into a run belongs to its turn. */
static bool phi__items_opens(const phi__proj_order *o, size_t at) {
    const phi_message *m = phi__items_message(o, at), *before;
    if (m->role != PHI_ROLE_USER) return false;
    if (m->loop_id.len == 0) return true;
    for (; at > 0; at--) {
        before = phi__items_message(o, at - 1);
        if (before->role == PHI_ROLE_EXTENSION || phi__items_is_summary(o, at - 1)) continue;
        return !phi_str_equal(before->loop_id, m->loop_id);
    }
    return true;
}

/* ---- matching results with calls ---- */

static phi__found **phi__results_bucket(phi__projecting *p, phi_str id) {
    return &p->found[phi__hash(id, 0) % PHI__PROJECT_BUCKETS];
}

static void phi__results_find(phi__projecting *p, size_t at) {
    phi__found **bucket = phi__results_bucket(p, phi__items_message(p->order, at)->tool_call_id);
    phi__found *found = (phi__found *)phi__arena_zero(p->arena, sizeof *found);
    if (found == NULL) {
        p->failed = true;
        return;
    }
    found->at = at;
    found->later = *bucket;
    *bucket = found;
}

/* Takes the first result after a call's answer. Later results with the same id belong to no call.
   SIZE_MAX: the call has no result. */
static size_t phi__results_take(phi__projecting *p, phi_str id) {
    phi__found **bucket = phi__results_bucket(p, id), **link = bucket, *found;
    size_t at = SIZE_MAX;
    while ((found = *link) != NULL) {
        if (!phi_str_equal(phi__items_message(p->order, found->at)->tool_call_id, id) ||
            found->spent) {
            link = &found->later;
            continue;
        }
        if (at == SIZE_MAX) {
            at = found->at;
            *link = found->later;
            continue;
        }
        found->spent = true;
        link = &found->later;
    }
    return at;
}

/* Adds the result of the group's next call, or makes a result if there is none. */
static void phi__results_join(phi__projecting *p, phi__group *g, const phi_content *call) {
    size_t at = phi__results_take(p, call->id), n = g->result_count++;
    g->places[n] = at;
    if (at != SIZE_MAX) {
        g->results[n] = phi__items_message(p->order, at);
        g->tokens = phi__sum(g->tokens, phi__items_tokens(p->order, at));
        return;
    }
    phi_message *m = phi__compact_say(
        phi_str_of(phi__texts_get(p->order->texts, PHI_TEXT_RESULT_MISSING)), p->arena);
    g->results[n] = m;
    g->made++;
    if (m == NULL) {
        p->failed = true;
        return;
    }
    m->role = PHI_ROLE_TOOL_RESULT;
    m->is_error = true;
    m->tool_call_id = call->id;
    m->tool_name = call->name;
    g->tokens = phi__sum(g->tokens, phi_tokens_of_message(p->order->counter, m));
}

/* Adds the results of a group's calls, in the order of the calls. */
static void phi__proj_results(phi__projecting *p, phi__group *g, size_t calls) {
    const phi_message *m = g->message;
    if (calls == 0) return;
    g->results =
        (const phi_message **)phi_arena_alloc(p->arena, phi__mul(calls, sizeof *g->results));
    g->places = (size_t *)phi_arena_alloc(p->arena, phi__mul(calls, sizeof *g->places));
    p->failed = p->failed || g->results == NULL || g->places == NULL;
    for (size_t i = 0; i < m->content_count && !p->failed; i++)
        if (phi__codec_is_call(&m->content[i])) phi__results_join(p, g, &m->content[i]);
}

/* ---- groups and the policy ---- */

static phi__group *phi__proj_group(phi__projecting *p, size_t at) {
    phi__group *g = (phi__group *)phi__arena_zero(p->arena, sizeof *g);
    if (g == NULL) {
        p->failed = true;
        return NULL;
    }
    g->at = at;
    g->message = phi__items_message(p->order, at);
    g->turn = p->turn;
    return g;
}

static void phi__proj_put(phi__projecting *p, phi__group *g) {
    g->newer = p->oldest;
    p->oldest = g;
}

/* Copies a message so that its blocks can be changed; strings are shared. */
static phi_message *phi__proj_copy(phi__projecting *p, const phi_message *m,
                                   phi_content **content) {
    phi_message *copy = (phi_message *)phi_arena_alloc(p->arena, sizeof *copy);
    *content = (phi_content *)phi_arena_alloc(
        p->arena, phi__mul(phi__max(m->content_count, 1), sizeof **content));
    if (copy == NULL || *content == NULL) {
        p->failed = true;
        return NULL;
    }
    *copy = *m;
    if (m->content_count > 0) memcpy(*content, m->content, m->content_count * sizeof **content);
    copy->content = *content;
    return copy;
}

/* Returns an answer without its calls. NULL: nothing is left of it. */
static const phi_message *phi__proj_talk(phi__projecting *p, const phi_message *m) {
    phi_content *content;
    size_t n = 0;
    bool says = false;
    for (size_t i = 0; i < m->content_count; i++)
        says = says || (m->content[i].kind == PHI_CONTENT_TEXT && m->content[i].text.len > 0) ||
               m->content[i].kind == PHI_CONTENT_IMAGE ||
               (m->content[i].kind == PHI_CONTENT_OPAQUE && !m->content[i].incomplete);
    phi_message *copy = says ? phi__proj_copy(p, m, &content) : NULL;
    if (copy == NULL) return NULL;
    for (size_t i = 0; i < m->content_count; i++)
        if (m->content[i].kind != PHI_CONTENT_TOOL_CALL) content[n++] = m->content[i];
    copy->content_count = n;
    return copy;
}

/* Makes the group of a message and its results, without the kinds that the policy excludes. The
   verdict of an empty group is PHI__VERDICT_KIND. */
static phi__group *phi__proj_look(phi__projecting *p, size_t at) {
    phi__group *g = phi__proj_group(p, at);
    uint32_t include = p->policy.include;
    if (g == NULL) return NULL;
    p->groups++;
    size_t calls = phi__items_calls(g->message);
    g->opens = phi__items_opens(p->order, at);
    g->starts = g->message->role == PHI_ROLE_USER;
    g->tokens = phi__items_tokens(p->order, at);
    if (calls > 0 && (include & PHI_INCLUDE_TOOLS) == 0) {
        g->message = phi__proj_talk(p, g->message);
        g->tokens = phi_tokens_of_message(p->order->counter, g->message);
        calls = 0;
    }
    if (g->message == NULL ||
        (calls == 0 && (include & PHI_INCLUDE_MESSAGES) == 0 && !(g->starts && p->turn == 1)))
        g->verdict = PHI__VERDICT_KIND;
    phi__proj_results(p, g, g->message != NULL ? calls : 0);
    return g;
}

static phi__group *phi__proj_look_summary(phi__projecting *p, size_t at) {
    phi__group *g = phi__proj_group(p, at);
    phi_content *content;
    if (g == NULL) return NULL;
    g->is_summary = g->starts = true;
    g->tokens = phi__items_tokens(p->order, at);
    if (g->message->role == p->policy.summary_role) return g;
    phi_message *copy = phi__proj_copy(p, g->message, &content);
    if (copy == NULL) return NULL;
    copy->role = p->policy.summary_role;
    g->message = copy;
    return g;
}

/* ---- results of the newest turn, cut until it fits ---- */

enum {
    PHI__PROJECT_LEAST = 128, /* bytes; a result is never cut to less */
    PHI__PROJECT_WORDS = 64,  /* bytes of the note in a cut text */
    PHI__PROJECT_CLOSER = 5   /* steps of the search for the longest results that fit */
};

static bool phi__proj_too_long(const phi__projecting *p, const phi_content *c, size_t most) {
    size_t words = strlen(phi__texts_get(p->order->texts, PHI_TEXT_BYTES_CUT)) + 24;
    return c->kind == PHI_CONTENT_TEXT &&
           c->text.len > phi__add(most, phi__max(words, PHI__PROJECT_WORDS));
}

/* Cuts a text to its head and tail, with a note between them that says how much is missing. */
static void phi__proj_shorten(phi__projecting *p, phi_content *c, size_t most) {
    phi_str text = c->text;
    size_t head = phi__utf8_cut(text, most / 2), from = text.len - (most - most / 2);
    phi__buf cut;
    while (from < text.len && ((unsigned char)text.at[from] & 0xC0) == 0x80) from++;
    phi__texts_args args = PHI_ZERO;
    args.n = from - head;
    phi__buf_init(&cut, p->arena->memory);
    phi__buf_add(&cut, text.at, head);
    phi__buf_text(&cut, "\n\n");
    phi__texts_put(&cut, p->order->texts, PHI_TEXT_BYTES_CUT, &args);
    phi__buf_text(&cut, "\n\n");
    phi__buf_add(&cut, text.at + from, text.len - from);
    if (cut.failed || !phi__arena_str(p->arena, phi__buf_str(&cut), &c->text)) p->failed = true;
    phi__buf_free(&cut);
    if (p->failed) return;
    c->replay = c->signature = phi__str(NULL, 0);
}

/* Returns a result with texts cut to `most` bytes, or the result itself if none is longer. */
static const phi_message *phi__proj_cut(phi__projecting *p, const phi_message *m, size_t most) {
    phi_content *content;
    size_t i = 0;
    while (i < m->content_count && !phi__proj_too_long(p, &m->content[i], most)) i++;
    if (i == m->content_count) return m;
    phi_message *copy = phi__proj_copy(p, m, &content);
    for (; copy != NULL && !p->failed && i < m->content_count; i++)
        if (phi__proj_too_long(p, &content[i], most)) phi__proj_shorten(p, &content[i], most);
    return copy;
}

static bool phi__proj_shows(const phi__group *g) {
    return g->verdict == PHI__VERDICT_SHOWN || g->verdict == PHI__VERDICT_CUT;
}

/* Returns the tokens of the newest turn with results cut to `most` bytes. If put is true, cuts
   them. */
static uint64_t phi__proj_try(phi__projecting *p, size_t most, bool put) {
    uint64_t sum = p->newest_tokens, was, now;
    size_t i;
    for (phi__group *g = p->oldest; g != NULL && !p->failed; g = g->newer) {
        for (i = 0; g->turn == 1 && phi__proj_shows(g) && i < g->result_count; i++) {
            phi_arena_mark mark = phi_arena_save(p->arena);
            const phi_message *cut = phi__proj_cut(p, g->results[i], most);
            if (p->failed || cut == g->results[i]) continue;
            was = g->places[i] != SIZE_MAX
                      ? phi__items_tokens(p->order, g->places[i])
                      : phi_tokens_of_message(p->order->counter, g->results[i]);
            now = phi_tokens_of_message(p->order->counter, cut);
            sum = sum - was + now;
            if (put) {
                g->results[i] = cut;
                g->tokens = g->tokens - was + now;
                g->verdict = PHI__VERDICT_CUT;
            } else
                phi_arena_reset(p->arena, mark);
        }
    }
    return sum;
}

static size_t phi__proj_longest(const phi__projecting *p) {
    size_t most = 0, i, b;
    for (const phi__group *g = p->oldest; g != NULL; g = g->newer)
        for (i = 0; g->turn == 1 && i < g->result_count; i++)
            for (b = 0; b < g->results[i]->content_count; b++)
                if (g->results[i]->content[b].kind == PHI_CONTENT_TEXT)
                    most = phi__max(most, g->results[i]->content[b].text.len);
    return most;
}

/* Returns the length in bytes to which each result must be cut so that the newest turn fits into
   `room`. 0: the turn does not fit. */
static size_t phi__proj_fit(phi__projecting *p, uint64_t room) {
    size_t over = phi__proj_longest(p), most = over, middle;
    if (over / 8 > room) most = (size_t)room * 8; /* a token has less than 8 bytes */
    do {
        if (most == PHI__PROJECT_LEAST || p->failed) return 0;
        over = most;
        most = phi__max(most / 2, PHI__PROJECT_LEAST);
    } while (phi__proj_try(p, most, false) > room);
    for (int step = 0; step < PHI__PROJECT_CLOSER && over > most + 1; step++) {
        middle = most + (over - most) / 2;
        if (phi__proj_try(p, middle, false) <= room)
            most = middle;
        else
            over = middle;
    }
    return most;
}

/* ---- the walk ---- */

/* Excludes the messages before the window's first user message or summary. */
static void phi__proj_trim(phi__projecting *p) {
    for (phi__group *g = p->oldest; g != NULL; g = g->newer) {
        if (!phi__proj_shows(g) ||
            (g->is_summary && p->stopped != PHI__VERDICT_SHOWN && g->at < p->stop_at))
            continue;
        if (g->starts) {
            p->window = g->at;
            return;
        }
        g->verdict = PHI__VERDICT_START;
        p->trimmed = true;
        p->used -= g->tokens;
        if (g->turn == 1) p->newest_tokens -= g->tokens;
    }
}

/* Called when the newest and the protected turns are complete. Older items are before item `at`. */
static void phi__proj_settle(phi__projecting *p, size_t at) {
    if (p->settled || p->failed) return;
    p->settled = true;
    if (p->turn == 1) phi__proj_trim(p); /* no user message opened this turn */
    bool cut = p->newest_tokens > p->budget;
    if (cut) {
        /* Cuts results of the newest turn so that it fits, if possible together with the protected
           turns. */
        uint64_t others = p->used - p->newest_tokens;
        size_t most = 0;
        p->meta.budget_truncated = true;
        if (others < p->budget) most = phi__proj_fit(p, p->budget - others);
        if (most == 0 && others > 0) most = phi__proj_fit(p, p->budget);
        if (most == 0) {
            p->meta.overflow = true;
            most = PHI__PROJECT_LEAST;
        }
        p->newest_tokens = phi__proj_try(p, most, true);
        p->used = phi__sum(others, p->newest_tokens);
    }
    p->meta.protected_over = p->used > p->budget && p->used > p->newest_tokens;
    p->full = cut || p->used > p->budget;
    p->floor = at;
    if (!p->summaries) return;
    while ((at = phi__items_summary_before(p->order, at)) != SIZE_MAX) {
        uint64_t used = phi__sum(p->used, phi__items_tokens(p->order, at));
        if (p->full || used > p->budget) {
            p->full = true;
            p->meta.budget_truncated = true;
            return;
        }
        p->used = used;
        p->floor = at;
    }
}

/* Returns why a group is left out, or that it is sent. */
static phi__verdict phi__proj_judge(phi__projecting *p, const phi__group *g) {
    const phi_policy *policy = &p->policy;
    size_t messages = phi__add(p->messages, 1 + g->result_count);
    if (p->stopped != PHI__VERDICT_SHOWN) return p->stopped;
    if (policy->max_turns != 0 && p->turn > policy->max_turns) return PHI__VERDICT_TURNS;
    if (policy->max_messages != 0 && p->turn > 1 && messages > policy->max_messages)
        return PHI__VERDICT_MESSAGES;
    if (p->turn <= policy->keep_last_turns) return PHI__VERDICT_SHOWN;
    phi__proj_settle(p, g->at);
    return p->full || phi__sum(p->used, g->tokens) > p->budget ? PHI__VERDICT_BUDGET
                                                               : PHI__VERDICT_SHOWN;
}

static void phi__proj_stop(phi__projecting *p, const phi__group *g) {
    if (p->stopped != PHI__VERDICT_SHOWN) return;
    p->stopped = g->verdict;
    p->stop_at = g->at;
    if (g->verdict == PHI__VERDICT_BUDGET)
        p->meta.budget_truncated = true;
    else
        p->meta.window_truncated = true;
    phi__proj_settle(p, g->at);
}

static void phi__proj_add(phi__projecting *p, phi__group *g) {
    p->used = phi__sum(p->used, g->tokens);
    if (g->turn == 1) p->newest_tokens = p->used;
    if (!g->is_summary) p->messages += 1 + g->result_count;
    phi__proj_put(p, g);
}

static void phi__proj_step_summary(phi__projecting *p, size_t at) {
    phi__group *g = p->summaries || p->order->all ? phi__proj_look_summary(p, at) : NULL;
    if (g == NULL) return;
    if (!p->summaries)
        g->verdict = PHI__VERDICT_KIND;
    else if (p->stopped == PHI__VERDICT_SHOWN && p->turn <= p->policy.keep_last_turns) {
        phi__proj_add(p, g);
        return;
    } else {
        phi__proj_settle(p, at + 1);
        if (at < p->floor) g->verdict = PHI__VERDICT_BUDGET;
    }
    if (phi__proj_shows(g) || p->order->all) phi__proj_put(p, g);
}

static void phi__proj_step_group(phi__projecting *p, size_t at) {
    phi__group *g = phi__proj_look(p, at);
    if (g == NULL || p->failed) return;
    if (g->verdict != PHI__VERDICT_KIND) {
        g->verdict = phi__proj_judge(p, g);
        if (!phi__proj_shows(g)) phi__proj_stop(p, g);
    }
    if (phi__proj_shows(g))
        phi__proj_add(p, g);
    else if (p->order->all)
        phi__proj_put(p, g);
    if (g->opens) p->turn++;
}

/* Walks back from the newest item until no more is included; for an explanation, to the end. */
static void phi__proj_walk(phi__projecting *p) {
    const phi__proj_order *o = p->order;
    p->turn = 1;
    p->at = p->window = o->count;
    while (p->at > 0 && !p->failed && (o->all || p->stopped == PHI__VERDICT_SHOWN)) {
        size_t at = p->at - 1;
        phi_role role = phi__items_message(o, at)->role;
        if (role == PHI_ROLE_EXTENSION) {
            phi__group *g =
                o->extensions && p->stopped == PHI__VERDICT_SHOWN ? phi__proj_group(p, at) : NULL;
            if (g != NULL) phi__proj_put(p, g);
        } else if (role == PHI_ROLE_TOOL_RESULT) {
            if ((p->policy.include & PHI_INCLUDE_TOOLS) != 0) phi__results_find(p, at);
        } else if (phi__items_is_summary(o, at))
            phi__proj_step_summary(p, at);
        else
            phi__proj_step_group(p, at);
        p->at = at;
    }
    phi__proj_settle(p, p->at);
}

/* Adds summaries older than the window. For an explanation, the walk has added them. */
static void phi__proj_pin(phi__projecting *p) {
    size_t at = p->stop_at;
    if (p->stopped == PHI__VERDICT_SHOWN || p->order->all) return;
    while (!p->failed && (at = phi__items_summary_before(p->order, at)) != SIZE_MAX) {
        phi__group *g = at >= p->floor ? phi__proj_look_summary(p, at) : NULL;
        if (g == NULL) return;
        phi__proj_put(p, g);
    }
}

/* ---- the result ---- */

static void phi__proj_emit_one(phi__projecting *p, phi__projection *out, const phi_message *message,
                               size_t place) {
    bool same = place != SIZE_MAX && phi__items_message(p->order, place) == message;
    out->messages[out->count] = message;
    out->places[out->count++] = same ? place : SIZE_MAX;
    if (message->role != PHI_ROLE_EXTENSION) p->meta.messages_included++;
}

static void phi__proj_emit(phi__projecting *p, phi__projection *out) {
    size_t n = 0;
    for (const phi__group *g = p->oldest; g != NULL; g = g->newer)
        if (phi__proj_shows(g)) n += 1 + g->result_count;
    out->messages = (const phi_message **)phi_arena_alloc(
        p->arena, phi__mul(phi__max(n, 1), sizeof *out->messages));
    out->places =
        (size_t *)phi_arena_alloc(p->arena, phi__mul(phi__max(n, 1), sizeof *out->places));
    if (out->messages == NULL || out->places == NULL) {
        p->failed = true;
        return;
    }
    p->meta.from_seq = UINT64_MAX;
    for (const phi__group *g = p->oldest; g != NULL; g = g->newer)
        if (phi__proj_shows(g)) {
            phi__proj_emit_one(p, out, g->message, g->at);
            for (size_t i = 0; i < g->result_count; i++)
                phi__proj_emit_one(p, out, g->results[i], g->places[i]);
            p->meta.orphans_repaired += g->made;
            p->meta.summary_used = p->meta.summary_used || g->is_summary;
            if (g->message->role == PHI_ROLE_EXTENSION || g->at < p->window) continue;
            for (size_t i = 0; i <= g->result_count; i++) { /* the answer and its results */
                size_t at = i > 0 ? g->places[i - 1] : g->at;
                if (at == SIZE_MAX) continue;
                if (phi__items_from(p->order, at) < p->meta.from_seq)
                    p->meta.from_seq = phi__items_from(p->order, at);
                if (phi__items_to(p->order, at) > p->meta.to_seq)
                    p->meta.to_seq = phi__items_to(p->order, at);
            }
        }
    /* together with to_seq 0 this means no entries */
    if (p->meta.from_seq == UINT64_MAX) p->meta.from_seq = 1;
}

static void phi__proj_tell(phi__projecting *p) {
    const phi__proj_order *o = p->order;
    phi_projection_meta *meta = &p->meta;
    meta->estimated_tokens = phi__sum(p->used, phi__sum(meta->system_tokens, meta->tools_tokens));
    meta->messages_total = o->count;
    meta->groups_dropped = p->groups;
    if (o->items == NULL) meta->groups_dropped = o->count > 0 ? o->fold->groups : 0;
    for (size_t at = 0; o->items != NULL && at < p->at; at++)
        meta->groups_dropped += phi__items_is_group(o->items[at].message, o->items[at].flags);
    for (const phi__group *g = p->oldest; g != NULL; g = g->newer)
        if (phi__proj_shows(g) &&
            phi__items_is_group(phi__items_message(o, g->at), phi__items_flags(o, g->at)))
            meta->groups_dropped--;
    const phi__found *found;
    size_t n = 0;
    for (size_t i = 0; i < PHI__PROJECT_BUCKETS; i++)
        for (found = p->found[i]; found != NULL; found = found->later)
            n += found->at >= p->window ? 1 : 0;
    meta->orphans_repaired += n;
    if ((p->policy.summaries != PHI_SUMMARIES_REQUEST &&
         p->policy.summaries != PHI_SUMMARIES_WRITE) ||
        p->window == 0 || (p->stopped == PHI__VERDICT_SHOWN && !p->trimmed))
        return;
    meta->need_summary = true;
    meta->need_from = phi__items_from(o, 0);
    meta->need_to = phi__items_to(o, p->window - 1);
}

PHI__FN phi_status phi__project(const phi__proj_order *order, phi_arena *arena,
                                phi__projection *out) {
    phi__projecting p = PHI_ZERO;
    memset(out, 0, sizeof *out);
    p.order = order;
    p.arena = arena;
    p.policy = phi__policy_filled(order->policy);
    p.summaries =
        p.policy.summaries != PHI_SUMMARIES_NONE && (p.policy.include & PHI_INCLUDE_SUMMARIES) != 0;
    const phi__proj_order *o = p.order;
    uint64_t left = p.policy.max_input_tokens;
    p.meta.system_tokens = phi_tokens_of_text(o->counter, o->system_prompt);
    p.meta.tools_tokens = o->tools_tokens;
    uint64_t taken = phi__sum(p.policy.reserve_output_tokens,
                              phi__sum(p.meta.system_tokens, p.meta.tools_tokens));
    if (left != PHI_POLICY_UNLIMITED) left = left > taken ? left - taken : 0;
    p.budget = p.meta.budget_tokens = left;
    phi__proj_walk(&p);
    if (!p.failed) phi__proj_trim(&p);
    phi__proj_pin(&p);
    if (!p.failed) phi__proj_emit(&p, out);
    if (p.failed) return PHI_NO_MEMORY;
    phi__proj_tell(&p);
    out->groups = p.oldest;
    out->meta = p.meta;
    return PHI_OK;
}

/* ---- public ---- */

PHI_API phi_status phi_project(const phi_view_item *items, size_t count, const phi_policy *policy,
                               const phi_token_counter *counter, phi_str system_prompt,
                               uint64_t tool_schema_tokens, phi_arena *arena,
                               const phi_message *const **out, size_t *out_count,
                               phi_projection_meta *meta) {
    phi__proj_order order = PHI_ZERO;
    phi__projection made;
    if (arena == NULL || out == NULL || out_count == NULL || (items == NULL && count > 0) ||
        (policy != NULL && phi__policy_fault(policy) != NULL))
        return PHI_BAD_ARG;
    order.items = items;
    order.count = count;
    order.policy = policy;
    order.counter = counter;
    order.system_prompt = system_prompt;
    order.tools_tokens = tool_schema_tokens;
    phi_status status = phi__project(&order, arena, &made);
    if (status != PHI_OK) return status;
    *out = made.messages;
    *out_count = made.count;
    if (meta != NULL) *meta = made.meta;
    return PHI_OK;
}

/* ---- explaining a projection: a line for each group says if it is sent, and why ---- */

static const char *phi__explain_verdict(const phi__group *g, const phi_policy *policy) {
    switch (g->verdict) {
    case PHI__VERDICT_SHOWN:
        return !g->is_summary && g->turn > 1 && g->turn <= policy->keep_last_turns
                   ? "shown, protected"
                   : "shown";
    case PHI__VERDICT_CUT: return "shown, its results cut";
    case PHI__VERDICT_KIND: return "left out: not included by the policy";
    case PHI__VERDICT_TURNS: return "left out: max_turns";
    case PHI__VERDICT_MESSAGES: return "left out: max_messages";
    case PHI__VERDICT_BUDGET: return "left out: the budget";
    case PHI__VERDICT_START: return "left out: no user message before it is shown";
    }
    return "";
}

static void phi__explain_what(phi__buf *out, const phi__group *g) {
    if (g->is_summary) {
        phi__buf_text(out, "summary");
        return;
    }
    phi__buf_text(out, g->message == NULL || g->message->role == PHI_ROLE_ASSISTANT
                           ? "answer"
                           : "user message");
    if (g->result_count > 0)
        phi__buf_printf(out, " and %llu result%s", (unsigned long long)g->result_count,
                        g->result_count == 1 ? "" : "s");
    if (g->made > 0) phi__buf_printf(out, " (%llu made)", (unsigned long long)g->made);
}

static void phi__explain_head(phi__buf *out, const phi_projection_meta *meta,
                              const phi_policy *policy) {
    if (policy->max_input_tokens == PHI_POLICY_UNLIMITED) {
        phi__buf_text(out, "for messages: no limit\n");
        return;
    }
    phi__buf_printf(
        out, "for messages: %llu of %llu tokens (answer %llu, system prompt %llu, tools %llu)\n",
        (unsigned long long)meta->budget_tokens, (unsigned long long)policy->max_input_tokens,
        (unsigned long long)policy->reserve_output_tokens, (unsigned long long)meta->system_tokens,
        (unsigned long long)meta->tools_tokens);
}

/* Sets order->all. */
PHI__FN phi_status phi__explain(phi__proj_order *order, phi_arena *arena, phi_str *out) {
    phi_arena scratch;
    phi__projection made;
    phi__buf text;
    phi_policy policy = phi__policy_filled(order->policy);
    phi_arena_init(&scratch, arena->memory, 0);
    phi__buf_init(&text, arena->memory);
    order->all = true;
    order->extensions = false;
    phi_status status = phi__project(order, &scratch, &made);
    if (status == PHI_OK) {
        phi__explain_head(&text, &made.meta, &policy);
        for (const phi__group *g = made.groups; g != NULL; g = g->newer) {
            uint64_t from = phi__items_from(order, g->at), to = phi__items_to(order, g->at);
            phi__buf_printf(&text, "%llu", (unsigned long long)from);
            if (to != from) phi__buf_printf(&text, "-%llu", (unsigned long long)to);
            phi__buf_text(&text, " ");
            phi__explain_what(&text, g);
            phi__buf_printf(&text, ", %llu tokens: %s\n", (unsigned long long)g->tokens,
                            phi__explain_verdict(g, &policy));
        }
        const phi_projection_meta *meta = &made.meta;
        phi__buf_printf(&text, "sent: %llu messages of %llu, %llu tokens in all",
                        (unsigned long long)meta->messages_included,
                        (unsigned long long)meta->messages_total,
                        (unsigned long long)meta->estimated_tokens);
        if (meta->overflow) phi__buf_text(&text, "; the newest turn does not fit");
        if (meta->protected_over) phi__buf_text(&text, "; protected turns are beyond the budget");
        if (meta->need_summary)
            phi__buf_printf(&text, "; a summary of %llu-%llu is wanted",
                            (unsigned long long)meta->need_from, (unsigned long long)meta->need_to);
        phi__buf_char(&text, '\n');
        if (text.failed || !phi__arena_str(arena, phi__buf_str(&text), out)) status = PHI_NO_MEMORY;
    }
    phi__buf_free(&text);
    phi_arena_free(&scratch);
    return status;
}

/* ---- tokens of a context: the provider's report and an estimate of later messages ---- */

/* With each answer a provider reports how many tokens it read and wrote. This number is exact, and
   includes the system prompt and the tools. Messages after that answer are estimated. When earlier
   messages change (compaction, prune, replaced messages), the report is wrong, so the tracker is
   zeroed. */

PHI__FN void phi__tracker_record(phi__tracker *tracker, const phi_usage *usage, size_t index) {
    if (tracker == NULL || usage == NULL) return;
    uint64_t sum = phi__sum(phi__sum(usage->input, usage->output),
                            phi__sum(usage->cache_read, usage->cache_write));
    if (sum == 0) return;
    tracker->reported = sum;
    tracker->index = index;
}

PHI__FN uint64_t phi__tracker_known(const phi__tracker *tracker, size_t count, size_t *from) {
    bool known = tracker != NULL && tracker->reported > 0 && tracker->index < count;
    if (from != NULL) *from = known ? tracker->index + 1 : 0;
    return known ? tracker->reported : 0;
}
