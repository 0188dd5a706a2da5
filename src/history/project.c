/* project.c - chooses the items of a view to send: walks from the newest end, no further than
   needed.

   The order in which items get their place does not depend on the budget: the newest turn, the
   protected turns, the summaries of older messages, the groups before those. The first item that
   does not fit ends the walk. So a larger budget never sends less. */
#include "history/projecting_in.h"

#include "base/utf8_in.h"
#include "model/texts_in.h"
#include "model/tokens.h"

enum {
    PHI__PROJECT_LEAST = 128, /* bytes that a result is cut to at least */
    PHI__PROJECT_WORDS = 64,  /* of the note where a text was cut */
    PHI__PROJECT_CLOSER = 5   /* steps of the search for the longest that fits */
};

/* ---- groups ---- */

static phi__group *phi__project_group(phi__projecting *p, size_t at) {
    phi__group *g = (phi__group *)phi__arena_zero(p->arena, sizeof *g);
    if (g == NULL) {
        p->failed = true;
        return NULL;
    }
    g->at = at;
    g->message = phi__project_items_message(p->order, at);
    g->turn = p->turn;
    return g;
}

/* In front of those so far. */
static void phi__project_put(phi__projecting *p, phi__group *g) {
    g->newer = p->oldest;
    p->oldest = g;
}

/* A copy whose blocks may be changed; strings are shared. */
static phi_message *phi__project_copy(phi__projecting *p, const phi_message *m,
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

/* An answer without its calls; NULL: nothing is left of it. */
static const phi_message *phi__project_talk(phi__projecting *p, const phi_message *m) {
    phi_content *content;
    phi_message *copy;
    size_t i, n = 0;
    bool says = false;
    for (i = 0; i < m->content_count; i++)
        says = says || (m->content[i].kind == PHI_CONTENT_TEXT && m->content[i].text.len > 0) ||
               m->content[i].kind == PHI_CONTENT_IMAGE ||
               (m->content[i].kind == PHI_CONTENT_OPAQUE && !m->content[i].incomplete);
    copy = says ? phi__project_copy(p, m, &content) : NULL;
    if (copy == NULL) return NULL;
    for (i = 0; i < m->content_count; i++)
        if (m->content[i].kind != PHI_CONTENT_TOOL_CALL) content[n++] = m->content[i];
    copy->content_count = n;
    return copy;
}

/* The message and its results as the policy's kinds have them. Nothing of it: PHI__VERDICT_KIND. */
static phi__group *phi__project_look(phi__projecting *p, size_t at) {
    phi__group *g = phi__project_group(p, at);
    uint32_t include = p->policy.include;
    size_t calls;
    if (g == NULL) return NULL;
    p->groups++;
    calls = phi__project_items_calls(g->message);
    g->opens = phi__project_items_opens(p->order, at);
    g->starts = g->message->role == PHI_ROLE_USER;
    g->tokens = phi__project_items_tokens(p->order, at);
    if (calls > 0 && (include & PHI_INCLUDE_TOOLS) == 0) {
        g->message = phi__project_talk(p, g->message);
        g->tokens = phi_tokens_of_message(p->order->counter, g->message);
        calls = 0;
    }
    if (g->message == NULL ||
        (calls == 0 && (include & PHI_INCLUDE_MESSAGES) == 0 && !(g->starts && p->turn == 1)))
        g->verdict = PHI__VERDICT_KIND;
    phi__project_results(p, g, g->message != NULL ? calls : 0);
    return g;
}

static bool phi__project_uses_summaries(const phi__projecting *p) {
    return p->policy.summaries != PHI_SUMMARIES_NONE &&
           (p->policy.include & PHI_INCLUDE_SUMMARIES) != 0;
}

static phi__group *phi__project_look_summary(phi__projecting *p, size_t at) {
    phi__group *g = phi__project_group(p, at);
    phi_content *content;
    phi_message *copy;
    if (g == NULL) return NULL;
    g->is_summary = g->starts = true;
    g->tokens = phi__project_items_tokens(p->order, at);
    if (g->message->role == p->policy.summary_role) return g;
    copy = phi__project_copy(p, g->message, &content);
    if (copy == NULL) return NULL;
    copy->role = p->policy.summary_role;
    g->message = copy;
    return g;
}

/* ---- the newest turn, cut ---- */

static bool phi__project_too_long(const phi__projecting *p, const phi_content *c, size_t most) {
    size_t words = strlen(phi__texts_get(p->order->texts, PHI_TEXT_BYTES_CUT)) + 24;
    return c->kind == PHI_CONTENT_TEXT &&
           c->text.len > phi__add(most, phi__max(words, PHI__PROJECT_WORDS));
}

/* Head and tail of a text, and how much is missing between them. */
static void phi__project_shorten(phi__projecting *p, phi_content *c, size_t most) {
    phi_str text = c->text;
    size_t head = phi__utf8_cut(text, most / 2), from = text.len - (most - most / 2);
    phi__texts_args args;
    phi__buf cut;
    while (from < text.len && ((unsigned char)text.at[from] & 0xC0) == 0x80) from++;
    memset(&args, 0, sizeof args);
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

/* A result, its texts cut to `most` bytes; the same one where that changes nothing. */
static const phi_message *phi__project_cut(phi__projecting *p, const phi_message *m, size_t most) {
    phi_content *content;
    phi_message *copy;
    size_t i = 0;
    while (i < m->content_count && !phi__project_too_long(p, &m->content[i], most)) i++;
    if (i == m->content_count) return m;
    copy = phi__project_copy(p, m, &content);
    for (; copy != NULL && !p->failed && i < m->content_count; i++)
        if (phi__project_too_long(p, &content[i], most)) phi__project_shorten(p, &content[i], most);
    return copy;
}

static bool phi__project_shows(const phi__group *g) {
    return g->verdict == PHI__VERDICT_SHOWN || g->verdict == PHI__VERDICT_CUT;
}

static uint64_t phi__project_result_tokens(const phi__projecting *p, const phi__group *g,
                                           size_t i) {
    return g->places[i] != SIZE_MAX ? phi__project_items_tokens(p->order, g->places[i])
                                    : phi_tokens_of_message(p->order->counter, g->results[i]);
}

/* The tokens of the newest turn with its results cut so far; put: apply the cuts. */
static uint64_t phi__project_try(phi__projecting *p, size_t most, bool put) {
    uint64_t sum = p->newest_tokens, was, now;
    phi__group *g;
    size_t i;
    for (g = p->oldest; g != NULL && !p->failed; g = g->newer) {
        for (i = 0; g->turn == 1 && phi__project_shows(g) && i < g->result_count; i++) {
            phi_arena_mark mark = phi_arena_save(p->arena);
            const phi_message *cut = phi__project_cut(p, g->results[i], most);
            if (p->failed || cut == g->results[i]) continue;
            was = phi__project_result_tokens(p, g, i);
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

static size_t phi__project_longest(const phi__projecting *p) {
    const phi__group *g;
    size_t most = 0, i, b;
    for (g = p->oldest; g != NULL; g = g->newer)
        for (i = 0; g->turn == 1 && i < g->result_count; i++)
            for (b = 0; b < g->results[i]->content_count; b++)
                if (g->results[i]->content[b].kind == PHI_CONTENT_TEXT)
                    most = phi__max(most, g->results[i]->content[b].text.len);
    return most;
}

/* The most bytes of a result with which the newest turn fits into `room`; 0: it does not. */
static size_t phi__project_fit(phi__projecting *p, uint64_t room) {
    size_t over = phi__project_longest(p), most = over, middle;
    int step;
    if (over / 8 > room) most = (size_t)room * 8; /* no text is that much denser than estimated */
    do {
        if (most == PHI__PROJECT_LEAST || p->failed) return 0;
        over = most;
        most = phi__max(most / 2, PHI__PROJECT_LEAST);
    } while (phi__project_try(p, most, false) > room);
    for (step = 0; step < PHI__PROJECT_CLOSER && over > most + 1; step++) {
        middle = most + (over - most) / 2;
        if (phi__project_try(p, middle, false) <= room)
            most = middle;
        else
            over = middle;
    }
    return most;
}

/* Results of the newest turn are cut so that it fits, beside the protected turns if that can be. */
static void phi__project_squeeze(phi__projecting *p) {
    uint64_t others = p->used - p->newest_tokens;
    size_t most = 0;
    p->meta.budget_truncated = true;
    if (others < p->budget) most = phi__project_fit(p, p->budget - others);
    if (most == 0 && others > 0) most = phi__project_fit(p, p->budget);
    if (most == 0) {
        p->meta.overflow = true;
        most = PHI__PROJECT_LEAST;
    }
    p->newest_tokens = phi__project_try(p, most, true);
    p->used = phi__projecting_sum(others, p->newest_tokens);
}

/* ---- the walk ---- */

/* Summaries older than item `at` get their place, the newest first. */
static void phi__project_pay_summaries(phi__projecting *p, size_t at) {
    p->floor = at;
    if (!phi__project_uses_summaries(p)) return;
    while ((at = phi__project_items_summary_before(p->order, at)) != SIZE_MAX) {
        uint64_t used = phi__projecting_sum(p->used, phi__project_items_tokens(p->order, at));
        if (p->full || used > p->budget) {
            p->full = true;
            p->meta.budget_truncated = true;
            return;
        }
        p->used = used;
        p->floor = at;
    }
}

/* Drops the messages before the window's first user message or summary. */
static void phi__project_trim(phi__projecting *p) {
    phi__group *g;
    for (g = p->oldest; g != NULL; g = g->newer) {
        if (!phi__project_shows(g) ||
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

/* The newest and the protected turns are complete; older items are before item `at`. */
static void phi__project_settle(phi__projecting *p, size_t at) {
    bool cut;
    if (p->settled || p->failed) return;
    p->settled = true;
    if (p->turn == 1) phi__project_trim(p); /* no message opened it */
    cut = p->newest_tokens > p->budget;
    if (cut) phi__project_squeeze(p);
    p->meta.protected_over = p->used > p->budget && p->used > p->newest_tokens;
    p->full = cut || p->used > p->budget;
    phi__project_pay_summaries(p, at);
}

/* Why a group is left out, or that it is sent. */
static phi__verdict phi__project_judge(phi__projecting *p, const phi__group *g) {
    const phi_policy *policy = &p->policy;
    size_t messages = phi__add(p->messages, 1 + g->result_count);
    if (p->stopped != PHI__VERDICT_SHOWN) return p->stopped;
    if (policy->max_turns != 0 && p->turn > policy->max_turns) return PHI__VERDICT_TURNS;
    if (policy->max_messages != 0 && p->turn > 1 && messages > policy->max_messages)
        return PHI__VERDICT_MESSAGES;
    if (p->turn <= policy->keep_last_turns) return PHI__VERDICT_SHOWN;
    phi__project_settle(p, g->at);
    return p->full || phi__projecting_sum(p->used, g->tokens) > p->budget ? PHI__VERDICT_BUDGET
                                                                          : PHI__VERDICT_SHOWN;
}

static void phi__project_stop(phi__projecting *p, const phi__group *g) {
    if (p->stopped != PHI__VERDICT_SHOWN) return;
    p->stopped = g->verdict;
    p->stop_at = g->at;
    if (g->verdict == PHI__VERDICT_BUDGET)
        p->meta.budget_truncated = true;
    else
        p->meta.window_truncated = true;
    phi__project_settle(p, g->at);
}

static void phi__project_add(phi__projecting *p, phi__group *g) {
    p->used = phi__projecting_sum(p->used, g->tokens);
    if (g->turn == 1) p->newest_tokens = p->used;
    if (!g->is_summary) p->messages += 1 + g->result_count;
    phi__project_put(p, g);
}

static void phi__project_step_summary(phi__projecting *p, size_t at) {
    bool uses = phi__project_uses_summaries(p);
    phi__group *g = uses || p->order->all ? phi__project_look_summary(p, at) : NULL;
    if (g == NULL) return;
    if (!uses)
        g->verdict = PHI__VERDICT_KIND;
    else if (p->stopped == PHI__VERDICT_SHOWN && p->turn <= p->policy.keep_last_turns) {
        phi__project_add(p, g);
        return;
    } else {
        phi__project_settle(p, at + 1);
        if (at < p->floor) g->verdict = PHI__VERDICT_BUDGET;
    }
    if (phi__project_shows(g) || p->order->all) phi__project_put(p, g);
}

static void phi__project_step_group(phi__projecting *p, size_t at) {
    phi__group *g = phi__project_look(p, at);
    if (g == NULL || p->failed) return;
    if (g->verdict != PHI__VERDICT_KIND) {
        g->verdict = phi__project_judge(p, g);
        if (!phi__project_shows(g)) phi__project_stop(p, g);
    }
    if (phi__project_shows(g))
        phi__project_add(p, g);
    else if (p->order->all)
        phi__project_put(p, g);
    if (g->opens) p->turn++;
}

static void phi__project_step_extension(phi__projecting *p, size_t at) {
    phi__group *g;
    if (!p->order->extensions || p->stopped != PHI__VERDICT_SHOWN) return;
    g = phi__project_group(p, at);
    if (g != NULL) phi__project_put(p, g);
}

static void phi__project_walk(phi__projecting *p) {
    const phi__project_order *o = p->order;
    size_t at;
    p->turn = 1;
    p->at = p->window = o->count;
    while (p->at > 0 && !p->failed && (o->all || p->stopped == PHI__VERDICT_SHOWN)) {
        phi_role role;
        at = p->at - 1;
        role = phi__project_items_message(o, at)->role;
        if (role == PHI_ROLE_EXTENSION)
            phi__project_step_extension(p, at);
        else if (role == PHI_ROLE_TOOL_RESULT) {
            if ((p->policy.include & PHI_INCLUDE_TOOLS) != 0) phi__project_results_find(p, at);
        } else if (phi__project_items_is_summary(o, at))
            phi__project_step_summary(p, at);
        else
            phi__project_step_group(p, at);
        p->at = at;
    }
    phi__project_settle(p, p->at);
}

/* Summaries older than the window: the walk has put them into the list only where it continued. */
static void phi__project_pin(phi__projecting *p) {
    size_t at = p->stop_at;
    if (p->stopped == PHI__VERDICT_SHOWN || p->order->all) return;
    while (!p->failed && (at = phi__project_items_summary_before(p->order, at)) != SIZE_MAX) {
        phi__group *g = at >= p->floor ? phi__project_look_summary(p, at) : NULL;
        if (g == NULL) return;
        phi__project_put(p, g);
    }
}

/* ---- the outcome ---- */

static void phi__project_range(phi__projecting *p, size_t at) {
    uint64_t from = phi__project_items_from(p->order, at), to = phi__project_items_to(p->order, at);
    if (from < p->meta.from_seq) p->meta.from_seq = from;
    if (to > p->meta.to_seq) p->meta.to_seq = to;
}

static void phi__project_emit_one(phi__projecting *p, phi__projection *out,
                                  const phi_message *message, size_t place) {
    bool same = place != SIZE_MAX && phi__project_items_message(p->order, place) == message;
    out->messages[out->count] = message;
    out->places[out->count++] = same ? place : SIZE_MAX;
    if (message->role != PHI_ROLE_EXTENSION) p->meta.messages_included++;
}

static void phi__project_emit_group(phi__projecting *p, phi__projection *out, const phi__group *g) {
    size_t i;
    phi__project_emit_one(p, out, g->message, g->at);
    for (i = 0; i < g->result_count; i++)
        phi__project_emit_one(p, out, g->results[i], g->places[i]);
    p->meta.orphans_repaired += g->made;
    p->meta.summary_used = p->meta.summary_used || g->is_summary;
    if (g->message->role == PHI_ROLE_EXTENSION || g->at < p->window) return;
    phi__project_range(p, g->at);
    for (i = 0; i < g->result_count; i++)
        if (g->places[i] != SIZE_MAX) phi__project_range(p, g->places[i]);
}

static void phi__project_emit(phi__projecting *p, phi__projection *out) {
    const phi__group *g;
    size_t n = 0;
    for (g = p->oldest; g != NULL; g = g->newer)
        if (phi__project_shows(g)) n += 1 + g->result_count;
    out->messages = (const phi_message **)phi_arena_alloc(
        p->arena, phi__mul(phi__max(n, 1), sizeof *out->messages));
    out->places =
        (size_t *)phi_arena_alloc(p->arena, phi__mul(phi__max(n, 1), sizeof *out->places));
    if (out->messages == NULL || out->places == NULL) {
        p->failed = true;
        return;
    }
    p->meta.from_seq = UINT64_MAX;
    for (g = p->oldest; g != NULL; g = g->newer)
        if (phi__project_shows(g)) phi__project_emit_group(p, out, g);
    if (p->meta.from_seq == UINT64_MAX) p->meta.from_seq = 1; /* and to_seq is 0: none */
}

static size_t phi__project_all_groups(const phi__projecting *p) {
    const phi__project_order *o = p->order;
    size_t n = p->groups, at;
    if (o->items == NULL) return o->count > 0 ? o->fold->groups : 0;
    for (at = 0; at < p->at; at++)
        n += phi__project_items_is_group(o->items[at].message, o->items[at].flags) ? 1 : 0;
    return n;
}

/* Results that no call was met for are not sent. */
static size_t phi__project_orphans(const phi__projecting *p) {
    const phi__found *found;
    size_t n = 0, i;
    for (i = 0; i < PHI__PROJECT_BUCKETS; i++)
        for (found = p->found[i]; found != NULL; found = found->later)
            n += found->at >= p->window ? 1 : 0;
    return n;
}

static void phi__project_tell(phi__projecting *p) {
    const phi__project_order *o = p->order;
    phi_projection_meta *meta = &p->meta;
    const phi__group *g;
    meta->estimated_tokens =
        phi__projecting_sum(p->used, phi__projecting_sum(meta->system_tokens, meta->tools_tokens));
    meta->messages_total = o->count;
    meta->groups_dropped = phi__project_all_groups(p);
    for (g = p->oldest; g != NULL; g = g->newer)
        if (phi__project_shows(g) &&
            phi__project_items_is_group(phi__project_items_message(o, g->at),
                                        phi__project_items_flags(o, g->at)))
            meta->groups_dropped--;
    meta->orphans_repaired += phi__project_orphans(p);
    if ((p->policy.summaries != PHI_SUMMARIES_REQUEST &&
         p->policy.summaries != PHI_SUMMARIES_WRITE) ||
        p->window == 0 || (p->stopped == PHI__VERDICT_SHOWN && !p->trimmed))
        return;
    meta->need_summary = true;
    meta->need_from = phi__project_items_from(o, 0);
    meta->need_to = phi__project_items_to(o, p->window - 1);
}

static void phi__project_budget(phi__projecting *p) {
    const phi__project_order *o = p->order;
    uint64_t left = p->policy.max_input_tokens, taken;
    p->meta.system_tokens = phi_tokens_of_text(o->counter, o->system_prompt);
    p->meta.tools_tokens = o->tools_tokens;
    taken = phi__projecting_sum(p->policy.reserve_output_tokens,
                                phi__projecting_sum(p->meta.system_tokens, p->meta.tools_tokens));
    if (left != PHI_POLICY_UNLIMITED) left = left > taken ? left - taken : 0;
    p->budget = p->meta.budget_tokens = left;
}

PHI__FN phi_status phi__project(const phi__project_order *order, phi_arena *arena,
                                phi__projection *out) {
    phi__projecting p;
    memset(&p, 0, sizeof p);
    memset(out, 0, sizeof *out);
    p.order = order;
    p.arena = arena;
    p.policy = phi__policy_filled(order->policy);
    phi__project_budget(&p);
    phi__project_walk(&p);
    if (!p.failed) phi__project_trim(&p);
    phi__project_pin(&p);
    if (!p.failed) phi__project_emit(&p, out);
    if (p.failed) return PHI_NO_MEMORY;
    phi__project_tell(&p);
    out->groups = p.oldest;
    out->meta = p.meta;
    return PHI_OK;
}

PHI__FN phi_status phi__project_of(phi__project_order *order, const phi_view_item *items,
                                   size_t count, const phi_policy *policy,
                                   const phi_token_counter *counter, phi_str system_prompt,
                                   uint64_t tools_tokens) {
    memset(order, 0, sizeof *order);
    if ((items == NULL && count > 0) || (policy != NULL && phi__policy_fault(policy) != NULL))
        return PHI_BAD_ARG;
    order->items = items;
    order->count = count;
    order->policy = policy;
    order->counter = counter;
    order->system_prompt = system_prompt;
    order->tools_tokens = tools_tokens;
    return PHI_OK;
}

/* ---- public ---- */

PHI_API phi_status phi_project(const phi_view_item *items, size_t count, const phi_policy *policy,
                               const phi_token_counter *counter, phi_str system_prompt,
                               uint64_t tool_schema_tokens, phi_arena *arena,
                               const phi_message *const **out, size_t *out_count,
                               phi_projection_meta *meta) {
    phi__project_order order;
    phi__projection made;
    phi_status status;
    if (arena == NULL || out == NULL || out_count == NULL) return PHI_BAD_ARG;
    status =
        phi__project_of(&order, items, count, policy, counter, system_prompt, tool_schema_tokens);
    if (status != PHI_OK) return status;
    status = phi__project(&order, arena, &made);
    if (status != PHI_OK) return status;
    *out = made.messages;
    *out_count = made.count;
    if (meta != NULL) *meta = made.meta;
    return PHI_OK;
}
