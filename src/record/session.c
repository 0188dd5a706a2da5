/* session.c - makes sessions in memory, and finds loops by their relation. */
#include "record/session_in.h"

#include "model/model_in.h"
#include "text/text_in.h"

/* ---- making ---- */

PHI__FN phi__session_box *phi__session_make(const phi_allocator *allocator, size_t limit_bytes,
                                            phi_memory *parent) {
    phi_memory memory;
    phi_memory_init(&memory, allocator, limit_bytes);
    memory.parent = parent;
    phi__session_box *box = (phi__session_box *)phi__alloc(&memory, sizeof *box);
    if (box == NULL) return NULL;
    box->memory = memory;
    phi_arena_init(&box->arena, &box->memory, 0);
    return box;
}

PHI__FN phi__loop_box *phi__session_loop(phi__session_box *box) {
    phi_loop_record **loops = (phi_loop_record **)phi__arena_grow(
        &box->arena, box->pub.loops, box->pub.loop_count, &box->loop_cap, sizeof *loops);
    if (loops == NULL) return NULL;
    box->pub.loops = loops;
    phi__loop_box *loop = (phi__loop_box *)phi__arena_zero(&box->arena, sizeof *loop);
    if (loop != NULL) loop->box = box;
    return loop;
}

PHI__FN void phi__session_add(phi__session_box *box, phi__loop_box *loop) {
    PHI_ASSERT(box->pub.loop_count < box->loop_cap);
    box->pub.loops[box->pub.loop_count++] = &loop->pub;
}

PHI__FN bool phi__session_keep(phi__session_box *box, phi_str s, phi_str *out) {
    return phi__arena_str(&box->arena, s, out);
}

PHI__FN bool phi__session_keep_messages(phi__session_box *box, const phi_message *messages,
                                        size_t count, const phi_message **out) {
    *out = NULL;
    if (count == 0) return true;
    phi_message *copies =
        (phi_message *)phi_arena_alloc(&box->arena, phi__mul(count, sizeof *copies));
    if (copies == NULL) return false;
    for (size_t i = 0; i < count; i++)
        if (!phi__message_copy(&messages[i], &box->arena, &copies[i])) return false;
    *out = copies;
    return true;
}

PHI__FN bool phi__session_push(phi__session_box *box, const phi_message **list, size_t *count,
                               size_t *cap, const phi_message *message) {
    phi_message *now = (phi_message *)phi__arena_grow(&box->arena, (void *)(uintptr_t)*list, *count,
                                                      cap, sizeof *now);
    if (now == NULL) return false;
    *list = now;
    if (!phi__message_copy(message, &box->arena, &now[*count])) return false;
    ++*count;
    return true;
}

PHI__FN size_t phi__session_place(const phi_session *session, phi_str loop_id) {
    size_t i = session != NULL ? session->loop_count : 0;
    while (i-- > 0)
        if (phi_str_equal(session->loops[i]->loop_id, loop_id)) return i;
    return SIZE_MAX;
}

PHI__FN const phi_loop_record *phi__session_get_loop(const phi_session *session, phi_str loop_id) {
    size_t at = phi__session_place(session, loop_id);
    return at != SIZE_MAX ? session->loops[at] : NULL;
}

PHI__FN phi__loop_box *phi__loopbox_find(phi__session_box *box, phi_str loop_id) {
    const phi_loop_record *record = phi__session_get_loop(&box->pub, loop_id);
    return record != NULL ? phi__session_loop_of((phi_loop_record *)(uintptr_t)record) : NULL;
}

PHI__FN bool phi__session_chain(phi__session_box *box, const phi__loop_box *loop) {
    phi_str above = loop->pub.parent_loop_id;
    if (above.len == 0 || phi_str_equal(above, loop->pub.loop_id)) return true;
    phi__loop_box *of = phi__loopbox_find(box, above);
    if (of == NULL) return true;
    phi_loop_record *parent = &of->pub;
    for (size_t i = 0; i < parent->child_count; i++)
        if (phi_str_equal(parent->children[i], loop->pub.loop_id)) return true;
    phi_str *children = (phi_str *)phi__arena_grow(
        &box->arena, parent->children, parent->child_count, &of->child_cap, sizeof *children);
    if (children == NULL) return false;
    parent->children = children;
    parent->children[parent->child_count++] = loop->pub.loop_id;
    return true;
}

/* Returns the part of a loop id between its first and last dot. */
static phi_str phi__session_segment_of(phi_str loop_id) {
    size_t first = phi__str_find(loop_id, 0, "."), last = loop_id.len;
    if (first == SIZE_MAX) return phi__str(NULL, 0);
    while (loop_id.at[last - 1] != '.') last--;
    if (last - 1 <= first) return phi__str(NULL, 0);
    return phi__str(loop_id.at + first + 1, last - first - 2);
}

PHI__FN phi_str phi__session_event_type(phi_str json) {
    phi__json_found type;
    bool has = phi__json_cursor_find(json, "type", &type) == PHI_OK && type.type == PHI_JSON_STRING;
    return has ? type.raw : phi__str("", 0);
}

/* ---- the settings of a run ---- */

static uint32_t phi__session_u32(const phi_json *node, bool *has) {
    uint64_t n = phi__json_get_uint(node, UINT64_MAX);
    *has = n <= UINT32_MAX;
    return *has ? (uint32_t)n : 0;
}

static const phi__field phi__session_config_fields[] = {
    PHI__KEYED(phi_loop_config, model, STR, ALWAYS),
    PHI__KEYED(phi_loop_config, provider, STR, ALWAYS),
    PHI__KEYED(phi_loop_config, config_id, STR, OPTION),
    PHI__KEYED(phi_loop_config, name, STR, SET),
    PHI__KEYED(phi_loop_config, api, STR, SET),
    PHI__KEYED(phi_loop_config, base_url, STR, SET),
    PHI__KEYED(phi_loop_config, reasoning, BOOL, ALWAYS),
    PHI__KEYED(phi_loop_config, temperature, DOUBLE, ALWAYS),
    PHI__KEYED(phi_loop_config, thinking_level, STR, SET)};

PHI__FN const phi_loop_config *phi__session_config(phi__session_box *box, const phi_json *node) {
    phi_loop_config *config = (phi_loop_config *)phi__arena_zero(&box->arena, sizeof *config);
    if (config == NULL || !PHI__RECORDS_GET(node, phi__session_config_fields, config, &box->arena))
        return NULL;
    config->provider = phi__message_read_provider(config->provider, config->api);
    config->has_reasoning = phi_json_is(phi_json_get(node, "reasoning"), PHI_JSON_BOOL);
    config->has_temperature = phi_json_is(phi_json_get(node, "temperature"), PHI_JSON_NUMBER);
    config->context_window =
        phi__session_u32(phi_json_get(node, "context_window"), &config->has_context_window);
    config->max_tokens =
        phi__session_u32(phi_json_get(node, "max_tokens"), &config->has_max_tokens);
    return config;
}

PHI__FN const phi_loop_config *phi__session_config_of(phi__session_box *box, phi_str loop_id,
                                                      const phi_message *answer) {
    phi_loop_config *config = (phi_loop_config *)phi__arena_zero(&box->arena, sizeof *config);
    if (config == NULL || !phi__session_keep(box, answer->model, &config->model) ||
        !phi__session_keep(box, answer->provider, &config->provider) ||
        !phi__session_keep(box, phi__session_segment_of(loop_id), &config->config_id))
        return NULL;
    return config;
}

/* ---- parts of a loop ---- */

PHI__FN bool phi__loopbox_fill(phi__loop_box *loop, phi_str loop_id, phi_str session_id,
                               const phi_loop_info *info) {
    phi_loop_record *to = &loop->pub;
    to->continuation = info->continuation;
    return phi__session_keep(loop->box, loop_id, &to->loop_id) &&
           phi__session_keep(loop->box, session_id, &to->session_id) &&
           phi__session_keep(loop->box, info->agent_id, &to->agent_id) &&
           phi__session_keep(loop->box, info->parent_loop_id, &to->parent_loop_id) &&
           phi__session_keep(loop->box, info->tag, &to->tag) &&
           phi__session_keep(loop->box, info->metadata, &to->metadata);
}

PHI__FN void phi__session_turn_begin(phi__loop_box *loop, uint32_t turn_index, phi_trigger trigger,
                                     int64_t at_ms) {
    loop->turn.loop_id = loop->pub.loop_id;
    loop->turn.turn_index = turn_index;
    loop->turn.trigger = trigger;
    loop->turn.started_ms = at_ms;
    loop->in_turn = true;
}

PHI__FN phi_turn *phi__session_turn_room(phi__loop_box *loop) {
    phi_loop_record *to = &loop->pub;
    phi_turn *turns = (phi_turn *)phi__arena_grow(&loop->box->arena, to->turns, to->turn_count,
                                                  &loop->turn_cap, sizeof *turns);
    if (turns == NULL) return NULL;
    to->turns = turns;
    return &turns[to->turn_count];
}

PHI__FN bool phi__session_add_event(phi__loop_box *loop, uint64_t sequence, phi_str json) {
    phi_loop_record *to = &loop->pub;
    phi_loop_event *events = (phi_loop_event *)phi__arena_grow(
        &loop->box->arena, to->events, to->event_count, &loop->event_cap, sizeof *events);
    if (events == NULL) return false;
    to->events = events;
    if (!phi__session_keep(loop->box, json, &events[to->event_count].json)) return false;
    events[to->event_count++].sequence = sequence;
    return true;
}

PHI__FN bool phi__session_add_child(phi__loop_box *loop, const phi_child_ref *child) {
    phi_loop_record *to = &loop->pub;
    phi_child_ref *refs = (phi_child_ref *)phi__arena_grow(
        &loop->box->arena, to->spawned, to->spawned_count, &loop->spawned_cap, sizeof *refs);
    if (refs == NULL) return false;
    to->spawned = refs;
    phi_child_ref *ref = &refs[to->spawned_count];
    if (!phi__session_keep(loop->box, child->tool_call_id, &ref->tool_call_id) ||
        !phi__session_keep(loop->box, child->tool_name, &ref->tool_name) ||
        !phi__session_keep(loop->box, child->child_loop_id, &ref->child_loop_id) ||
        !phi__session_keep(loop->box, child->child_session_id, &ref->child_session_id))
        return false;
    to->spawned_count++;
    return true;
}

/* ---- public ---- */

PHI_API void phi_session_free(phi_session *session) {
    if (session == NULL) return;
    phi__session_box *box = phi__session_of(session);
    phi_arena_free(&box->arena);
    phi_memory memory = box->memory; /* a copy, because the box is freed */
    phi__free(&memory, box, sizeof *box);
}

static void phi__session_put(const phi_loop_record **out, size_t cap, size_t *count,
                             const phi_loop_record *loop) {
    if (out != NULL && *count < cap) out[*count] = loop;
    ++*count;
}

/* Returns the loop's parent in the session. NULL if there is none. */
static const phi_loop_record *phi__session_up(const phi_session *session,
                                              const phi_loop_record *loop) {
    if (loop->parent_loop_id.len == 0) return NULL;
    return phi__session_get_loop(session, loop->parent_loop_id);
}

/* Counts the loops from this one up to the root, each once. A chain with more loops than the
   session must be a cycle. Only in this case searches for the first repeated loop. */
static size_t phi__session_height(const phi_session *session, const phi_loop_record *loop) {
    const phi_loop_record *at = loop, *back;
    size_t n = 0, i;
    for (; at != NULL && n <= session->loop_count; at = phi__session_up(session, at)) n++;
    if (at == NULL) return n;
    for (n = 0, at = loop;; n++, at = phi__session_up(session, at)) {
        for (back = loop, i = 0; i < n && back != at; i++) back = phi__session_up(session, back);
        if (i < n) return n;
    }
}

PHI_API size_t phi_session_loops(const phi_session *session, phi_loop_relation which,
                                 phi_str loop_id, const phi_loop_record **out, size_t cap) {
    size_t n = 0, all = session != NULL ? session->loop_count : 0;
    const phi_loop_record *loop = phi__session_get_loop(session, loop_id);
    switch (which) {
    case PHI_LOOP_ROOTS:
        for (size_t i = 0; i < all; i++)
            if (phi__session_up(session, session->loops[i]) == NULL)
                phi__session_put(out, cap, &n, session->loops[i]);
        break;
    case PHI_LOOP_ITSELF:
        if (loop != NULL) phi__session_put(out, cap, &n, loop);
        break;
    case PHI_LOOP_CHILDREN:
        for (size_t i = 0; loop_id.len > 0 && i < all; i++)
            if (phi_str_equal(session->loops[i]->parent_loop_id, loop_id))
                phi__session_put(out, cap, &n, session->loops[i]);
        break;
    case PHI_LOOP_SIBLINGS: {
        const phi_loop_group *group = loop != NULL ? loop->group : NULL;
        for (size_t i = 0; group != NULL && i < group->loop_count; i++) {
            const phi_loop_record *one = phi__session_get_loop(session, group->loop_ids[i]);
            if (one != NULL) phi__session_put(out, cap, &n, one);
        }
        break;
    }
    case PHI_LOOP_CHAIN:
        n = loop != NULL ? phi__session_height(session, loop) : 0;
        for (size_t i = n; i-- > 0; loop = phi__session_up(session, loop))
            if (out != NULL && i < cap) out[i] = loop;
        break;
    }
    return n;
}
