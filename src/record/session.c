/* session.c - sessions in memory: their making, and questions about the tree of their loops. */
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

PHI__FN void *phi__session_room_for(phi__session_box *box, void *at, size_t count, size_t *cap,
                                    size_t need, size_t size) {
    size_t more = *cap > SIZE_MAX / 2 ? SIZE_MAX : phi__max(phi__max(*cap * 2, need), 2);
    size_t bytes = phi__mul(more, size);
    if (need <= *cap) return at;
    char *now = bytes == SIZE_MAX ? NULL : (char *)phi__arena_zero(&box->arena, bytes);
    if (now == NULL) return NULL;
    if (count > 0) memcpy(now, at, count * size);
    *cap = more;
    return now;
}

PHI__FN phi__loop_box *phi__session_loop(phi__session_box *box) {
    phi_loop_record **loops = (phi_loop_record **)phi__session_room_for(
        box, box->pub.loops, box->pub.loop_count, &box->loop_cap, phi__add(box->pub.loop_count, 1),
        sizeof *loops);
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
    phi_message *copies;
    *out = NULL;
    if (count == 0) return true;
    if (phi__mul(count, sizeof *copies) == SIZE_MAX) return false;
    copies = (phi_message *)phi_arena_alloc(&box->arena, count * sizeof *copies);
    if (copies == NULL) return false;
    for (size_t i = 0; i < count; i++)
        if (!phi__message_copy(&messages[i], &box->arena, &copies[i])) return false;
    *out = copies;
    return true;
}

PHI__FN bool phi__session_chain(phi__session_box *box, const phi__loop_box *loop) {
    phi_str above = loop->pub.parent_loop_id;
    if (above.len == 0 || phi_str_equal(above, loop->pub.loop_id)) return true;
    phi_loop_record *parent = (phi_loop_record *)(uintptr_t)phi__session_get_loop(&box->pub, above);
    if (parent == NULL) return true;
    phi__loop_box *of = phi__session_loop_of(parent);
    for (size_t i = 0; i < parent->child_count; i++)
        if (phi_str_equal(parent->children[i], loop->pub.loop_id)) return true;
    phi_str *children =
        (phi_str *)phi__session_room_for(box, parent->children, parent->child_count, &of->child_cap,
                                         parent->child_count + 1, sizeof *children);
    if (children == NULL) return false;
    parent->children = children;
    parent->children[parent->child_count++] = loop->pub.loop_id;
    return true;
}

PHI__FN phi_str phi__session_id_of(phi_str loop_id) {
    size_t dot = phi__str_find(loop_id, 0, ".");
    return dot == SIZE_MAX ? loop_id : phi__str(loop_id.at, dot);
}

PHI__FN phi_str phi__session_segment_of(phi_str loop_id) {
    size_t first = phi__str_find(loop_id, 0, "."), last = loop_id.len;
    if (first == SIZE_MAX) return phi__str(NULL, 0);
    while (loop_id.at[last - 1] != '.') last--;
    if (last - 1 <= first) return phi__str(NULL, 0);
    return phi__str(loop_id.at + first + 1, last - first - 2);
}

/* ---- the settings of a run ---- */

static uint32_t phi__session_u32(const phi_json *node, bool *has) {
    uint64_t n = phi__json_get_uint(node, UINT64_MAX);
    *has = n <= UINT32_MAX;
    return *has ? (uint32_t)n : 0;
}

static bool phi__session_member(phi__session_box *box, const phi_json *node, const char *key,
                                phi_str *out) {
    return phi__session_keep(box, phi_json_str(phi_json_get(node, key), ""), out);
}

PHI__FN const phi_loop_config *phi__session_config(phi__session_box *box, const phi_json *node) {
    phi_loop_config *config = (phi_loop_config *)phi__arena_zero(&box->arena, sizeof *config);
    const phi_json *reasoning = phi_json_get(node, "reasoning");
    const phi_json *temperature = phi_json_get(node, "temperature");
    if (config == NULL || !phi__session_member(box, node, "model", &config->model) ||
        !phi__session_member(box, node, "provider", &config->provider) ||
        !phi__session_member(box, node, "config_id", &config->config_id) ||
        !phi__session_member(box, node, "name", &config->name) ||
        !phi__session_member(box, node, "api", &config->api) ||
        !phi__session_member(box, node, "base_url", &config->base_url) ||
        !phi__session_member(box, node, "thinking_level", &config->thinking_level))
        return NULL;
    config->provider = phi__message_read_provider(config->provider, config->api);
    config->has_reasoning = phi_json_is(reasoning, PHI_JSON_BOOL);
    config->reasoning = phi_json_bool(reasoning, false);
    config->context_window =
        phi__session_u32(phi_json_get(node, "context_window"), &config->has_context_window);
    config->max_tokens =
        phi__session_u32(phi_json_get(node, "max_tokens"), &config->has_max_tokens);
    config->has_temperature = phi_json_is(temperature, PHI_JSON_NUMBER);
    config->temperature = phi_json_num(temperature, 0);
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

PHI__FN const phi_loop_record *phi__session_get_loop(const phi_session *session, phi_str loop_id) {
    size_t i = session != NULL ? session->loop_count : 0;
    while (i-- > 0)
        if (phi_str_equal(session->loops[i]->loop_id, loop_id)) return session->loops[i];
    return NULL;
}

/* ---- public ---- */

PHI_API void phi_session_free(phi_session *session) {
    if (session == NULL) return;
    phi__session_box *box = phi__session_of(session);
    phi_arena_free(&box->arena);
    phi_memory memory = box->memory; /* the box is in it */
    phi__free(&memory, box, sizeof *box);
}

static void phi__session_put(const phi_loop_record **out, size_t cap, size_t *count,
                             const phi_loop_record *loop) {
    if (out != NULL && *count < cap) out[*count] = loop;
    ++*count;
}

/* The parent in the session; NULL: it begins here. */
static const phi_loop_record *phi__session_up(const phi_session *session,
                                              const phi_loop_record *loop) {
    if (loop->parent_loop_id.len == 0) return NULL;
    return phi__session_get_loop(session, loop->parent_loop_id);
}

/* Loops on the way up, each once. A way that is longer than there are loops goes round: only then
   is it looked for where. */
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
    if (session == NULL) return 0;
    switch (which) {
    case PHI_LOOP_ROOTS: {
        size_t n = 0;
        for (size_t i = 0; i < session->loop_count; i++) {
            phi_str parent = session->loops[i]->parent_loop_id;
            if (parent.len == 0 || phi__session_get_loop(session, parent) == NULL)
                phi__session_put(out, cap, &n, session->loops[i]);
        }
        return n;
    }
    case PHI_LOOP_ITSELF: {
        const phi_loop_record *loop = phi__session_get_loop(session, loop_id);
        size_t n = 0;
        if (loop != NULL) phi__session_put(out, cap, &n, loop);
        return n;
    }
    case PHI_LOOP_CHILDREN: {
        size_t n = 0;
        for (size_t i = 0; loop_id.len > 0 && i < session->loop_count; i++)
            if (phi_str_equal(session->loops[i]->parent_loop_id, loop_id))
                phi__session_put(out, cap, &n, session->loops[i]);
        return n;
    }
    case PHI_LOOP_SIBLINGS: {
        const phi_loop_record *loop = phi__session_get_loop(session, loop_id);
        size_t n = 0;
        for (size_t i = 0; loop != NULL && loop->group != NULL && i < loop->group->loop_count;
             i++) {
            const phi_loop_record *one = phi__session_get_loop(session, loop->group->loop_ids[i]);
            if (one != NULL) phi__session_put(out, cap, &n, one);
        }
        return n;
    }
    case PHI_LOOP_CHAIN: {
        const phi_loop_record *loop = phi__session_get_loop(session, loop_id);
        size_t n = loop != NULL ? phi__session_height(session, loop) : 0, i = n;
        while (i-- > 0) {
            if (out != NULL && i < cap) out[i] = loop;
            loop = phi__session_up(session, loop);
        }
        return n;
    }
    }
    return 0;
}
