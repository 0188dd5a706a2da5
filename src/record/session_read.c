/* session_read.c - reads sessions in the interchange format, ours and others', of every age.

   Lenient where a reader can be: a field that is missing or of a wrong type counts as absent. A
   session or loop without an id, and an invalid message, are refused: data would be lost silently.
   The JSON tree stays in the session's arena, and the session points into it. */
#include "record/session_in.h"

#include "record/event_in.h"
#include "base/date_in.h"
#include "model/message_in.h"
#include "text/records_in.h"

#include <stdio.h>

typedef struct phi__session_reader {
    phi__session_box *box;
    phi_parse_error *error;
    bool no_memory;
} phi__session_reader;

/* ---- members ---- */

static void *phi__session_read_alloc(phi__session_reader *r, size_t count, size_t size) {
    void *at = phi__arena_zero(&r->box->arena, phi__mul(count, size));
    if (at == NULL) r->no_memory = true;
    return at;
}

/* Items of an array; 0 for anything else. */
static size_t phi__session_read_count(const phi_json *array) {
    return phi_json_is(array, PHI_JSON_ARRAY) ? phi_json_count(array) : 0;
}

/* JSON text of a value; null is nothing. */
static phi_str phi__session_read_json(phi__session_reader *r, const phi_json *node) {
    phi_str out = {NULL, 0};
    if (node == NULL || phi_json_is(node, PHI_JSON_NULL)) return out;
    if (phi_json_write(&r->box->arena, node, 0, &out) == PHI_NO_MEMORY) r->no_memory = true;
    return out;
}

static phi_status phi__session_read_bad(phi__session_reader *r, const char *words) {
    memset(r->error, 0, sizeof *r->error);
    r->error->line = r->error->column = 1;
    r->error->status = PHI_PARSE;
    (void)snprintf(r->error->message, sizeof r->error->message, "%s", words);
    return PHI_PARSE;
}

/* Says where, before what. */
static phi_status phi__session_read_within(phi__session_reader *r, phi_status status,
                                           const char *where, size_t index) {
    char words[sizeof r->error->message];
    if (status != PHI_PARSE) return status;
    (void)snprintf(words, sizeof words, "%s", r->error->message);
    (void)snprintf(r->error->message, sizeof r->error->message, "%s[%lu]: %.120s", where,
                   (unsigned long)index, words);
    return status;
}

static phi_status phi__session_read_messages(phi__session_reader *r, const phi_json *object,
                                             const char *key, const phi_message **out,
                                             size_t *count) {
    const phi_json *array = phi_json_get(object, key), *node;
    size_t n = phi__session_read_count(array), i = 0;
    phi_json_iter it = phi_json_each(array);
    phi_message *messages;
    phi_status status = PHI_OK;
    *out = NULL;
    *count = 0;
    if (n == 0) return PHI_OK;
    messages = (phi_message *)phi__session_read_alloc(r, n, sizeof *messages);
    if (messages == NULL) return PHI_NO_MEMORY;
    for (; (node = phi_json_next(&it)) != NULL; i++) {
        status = phi__message_read_get(node, &r->box->arena, &messages[i], r->error);
        if (status != PHI_OK) return phi__session_read_within(r, status, key, i);
    }
    *out = messages;
    *count = n;
    return PHI_OK;
}

/* Strings of an array; anything else among them is empty. */
static phi_str *phi__session_read_ids(phi__session_reader *r, const phi_json *array,
                                      size_t *count) {
    phi_json_iter it = phi_json_each(array);
    const phi_json *node;
    size_t n = phi__session_read_count(array);
    phi_str *ids = n > 0 ? (phi_str *)phi__session_read_alloc(r, n, sizeof *ids) : NULL;
    *count = 0;
    while (ids != NULL && (node = phi_json_next(&it)) != NULL)
        ids[(*count)++] = phi_json_str(node, "");
    return ids;
}

/* ---- parts of loops ---- */

static phi_loop_status phi__session_read_status(phi_str word) {
    if (phi__str_is(word, "Pending")) return PHI_LOOP_PENDING;
    if (phi__str_is(word, "Running")) return PHI_LOOP_RUNNING;
    if (phi__str_is(word, "Rejected")) return PHI_LOOP_REJECTED;
    return phi__str_is(word, "Aborted") ? PHI_LOOP_ABORTED : PHI_LOOP_COMPLETED;
}

/* Missing or null is a beginning. */
static void phi__session_read_continuation(const phi_json *node, phi_loop_record *to) {
    const phi_json *rerun = phi_json_get(node, "Rerun"), *branch = phi_json_get(node, "Branch");
    phi_str word = phi_json_str(node, "");
    to->continuation = PHI_CONTINUATION_INITIAL;
    if (phi__str_is(word, "Default")) to->continuation = PHI_CONTINUATION_DEFAULT;
    if (phi__str_is(word, "Compaction")) to->continuation = PHI_CONTINUATION_COMPACTION;
    if (rerun != NULL) to->continuation = PHI_CONTINUATION_RERUN;
    if (branch != NULL) to->continuation = PHI_CONTINUATION_BRANCH;
    to->tag = phi__records_get_str(branch != NULL ? branch : rerun, "tag");
}

static phi_trigger phi__session_read_trigger(phi_str word) {
    int i;
    for (i = PHI_TRIGGER_USER; i <= PHI_TRIGGER_BRANCH; i++)
        if (phi__str_is(word, phi__event_words_trigger((phi_trigger)i))) return (phi_trigger)i;
    return phi__str_is(word, "FollowUp") ? PHI_TRIGGER_CONTINUATION : PHI_TRIGGER_USER;
}

static phi_status phi__session_read_turn(phi__session_reader *r, const phi_json *node,
                                         phi_turn *to) {
    const phi_json *id = phi_json_get(node, "turn_id");
    const phi_json *answer = phi_json_get(node, "output_message");
    phi_message *output;
    phi_status status =
        phi__session_read_messages(r, node, "input_messages", &to->input, &to->input_count);
    if (status == PHI_OK)
        status =
            phi__session_read_messages(r, node, "tool_results", &to->results, &to->result_count);
    if (status != PHI_OK) return status;
    phi__session_fields_get(id, PHI__SESSION_TURN_ID, to);
    to->trigger = phi__session_read_trigger(phi__records_get_str(node, "triggered_by"));
    to->usage = phi__message_read_get_usage(phi_json_get(node, "usage"));
    phi__session_fields_get(node, PHI__SESSION_TURN_TIMES, to);
    to->request = phi__session_read_json(r, phi_json_get(node, "request_payload"));
    if (answer == NULL || phi_json_is(answer, PHI_JSON_NULL)) return PHI_OK;
    output = (phi_message *)phi__session_read_alloc(r, 1, sizeof *output);
    if (output == NULL) return PHI_NO_MEMORY;
    to->output = output;
    return phi__message_read_get(answer, &r->box->arena, output, r->error);
}

static phi_status phi__session_read_turns(phi__session_reader *r, const phi_json *array,
                                          phi__loop_box *loop) {
    phi_json_iter it = phi_json_each(array);
    const phi_json *node;
    size_t n = phi__session_read_count(array);
    phi_status status = PHI_OK;
    if (n == 0) return PHI_OK;
    loop->pub.turns = (phi_turn *)phi__session_read_alloc(r, n, sizeof *loop->pub.turns);
    if (loop->pub.turns == NULL) return PHI_NO_MEMORY;
    loop->turn_cap = n;
    while (status == PHI_OK && (node = phi_json_next(&it)) != NULL)
        status = phi__session_read_turn(r, node, &loop->pub.turns[loop->pub.turn_count++]);
    return phi__session_read_within(r, status, "turns", loop->pub.turn_count - 1);
}

/* An event that is no object is none. */
static void phi__session_read_events(phi__session_reader *r, const phi_json *array,
                                     phi__loop_box *loop) {
    phi_json_iter it = phi_json_each(array);
    const phi_json *node;
    size_t n = phi__session_read_count(array);
    if (n == 0) return;
    loop->pub.events = (phi_loop_event *)phi__session_read_alloc(r, n, sizeof *loop->pub.events);
    if (loop->pub.events == NULL) return;
    loop->event_cap = n;
    while ((node = phi_json_next(&it)) != NULL) {
        const phi_json *event = phi_json_get(node, "event");
        phi_loop_event *to = &loop->pub.events[loop->pub.event_count];
        if (!phi_json_is(event, PHI_JSON_OBJECT)) continue;
        to->sequence = phi__json_get_uint(phi_json_get(node, "sequence"), loop->sequence);
        to->json = phi__session_read_json(r, event);
        if (to->sequence >= loop->sequence && to->sequence < UINT64_MAX)
            loop->sequence = to->sequence + 1;
        loop->pub.event_count++;
    }
}

static void phi__session_read_spawned(phi__session_reader *r, const phi_json *array,
                                      phi__loop_box *loop) {
    phi_json_iter it = phi_json_each(array);
    const phi_json *node;
    size_t n = phi__session_read_count(array);
    if (n == 0) return;
    loop->pub.spawned = (phi_child_ref *)phi__session_read_alloc(r, n, sizeof *loop->pub.spawned);
    if (loop->pub.spawned == NULL) return;
    loop->spawned_cap = n;
    while ((node = phi_json_next(&it)) != NULL) {
        phi__session_fields_get(node, PHI__SESSION_CHILD,
                                &loop->pub.spawned[loop->pub.spawned_count++]);
    }
}

static void phi__session_read_group(phi__session_reader *r, const phi_json *node,
                                    phi_loop_record *to) {
    if (!phi_json_is(node, PHI_JSON_OBJECT)) return;
    to->group = (phi_loop_group *)phi__session_read_alloc(r, 1, sizeof *to->group);
    if (to->group == NULL) return;
    to->group->loop_ids =
        phi__session_read_ids(r, phi_json_get(node, "all_loop_ids"), &to->group->loop_count);
    phi__session_fields_get(node, PHI__SESSION_GROUP, to->group);
    to->group->evaluation_usage =
        phi__message_read_get_usage(phi_json_get(node, "evaluation_usage"));
    to->group->is_selected = phi__records_get_bool(node, "is_selected");
}

static void phi__session_read_range(const phi_json *node, phi_block_section *to) {
    to->present = phi_json_is(node, PHI_JSON_OBJECT);
    phi__session_fields_get(node, PHI__SESSION_RANGE, to);
}

static phi_status phi__session_read_section(phi__session_reader *r, const phi_json *node,
                                            phi_block_section *to) {
    if (!phi_json_is(node, PHI_JSON_OBJECT)) return PHI_OK;
    phi__session_read_range(phi_json_get(node, "range"), to);
    to->present = true;
    return phi__session_read_messages(r, node, "messages", &to->messages, &to->message_count);
}

static phi_status phi__session_read_block(phi__session_reader *r, const phi_json *node,
                                          phi_loop_record *to) {
    phi_compaction_block *block;
    phi_status status;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) return PHI_OK;
    block = (phi_compaction_block *)phi__session_read_alloc(r, 1, sizeof *block);
    if (block == NULL) return PHI_NO_MEMORY;
    phi__session_read_range(phi_json_get(node, "keep_first"), &block->keep_first);
    status = phi__session_read_section(r, phi_json_get(node, "keep_recent"), &block->keep_recent);
    if (status == PHI_OK)
        status = phi__session_read_section(r, phi_json_get(node, "keep_compacted"),
                                           &block->keep_compacted);
    block->created_ms = phi__records_get_time(node, "createdAt");
    to->block = block;
    return status;
}

/* ---- loops, the session ---- */

static phi_status phi__session_read_loop(phi__session_reader *r, const phi_json *node) {
    phi__loop_box *loop = phi__session_loop(r->box);
    const phi_json *config = phi_json_get(node, "config");
    const phi_json *children = phi_json_get(node, "children_loop_ids");
    phi_loop_record *to;
    phi_status status;
    if (loop == NULL) return PHI_NO_MEMORY;
    if (!phi_json_is(phi_json_get(node, "loop_id"), PHI_JSON_STRING))
        return phi__session_read_bad(r, "loop_id: expected a string");
    to = &loop->pub;
    phi__session_fields_get(node, PHI__SESSION_LOOP, to);
    phi__session_read_continuation(phi_json_get(node, "continuation_kind"), to);
    to->started_ms = phi__records_get_time(node, "started_at");
    to->has_ended = phi__date_get(phi__records_get_str(node, "ended_at"), &to->ended_ms);
    to->status = phi__session_read_status(phi__records_get_str(node, "status"));
    if (phi_json_is(phi_json_get(node, "rejection"), PHI_JSON_STRING))
        to->rejection = phi__records_get_str(node, "rejection");
    to->usage = phi__message_read_get_usage(phi_json_get(node, "usage"));
    to->metadata = phi__session_read_json(r, phi_json_get(node, "metadata"));
    if (phi_json_is(config, PHI_JSON_OBJECT)) {
        to->config = phi__session_config(r->box, config);
        if (to->config == NULL) return PHI_NO_MEMORY;
    }
    status = phi__session_read_messages(r, node, "messages", &to->messages, &to->message_count);
    if (status == PHI_OK) status = phi__session_read_turns(r, phi_json_get(node, "turns"), loop);
    if (status == PHI_OK)
        status = phi__session_read_block(r, phi_json_get(node, "compaction_block"), to);
    if (status != PHI_OK) return status;
    phi__session_read_events(r, phi_json_get(node, "events"), loop);
    phi__session_read_spawned(r, phi_json_get(node, "child_loop_refs"), loop);
    phi__session_read_group(r, phi_json_get(node, "parallel_group"), to);
    to->children = phi__session_read_ids(r, children, &to->child_count);
    loop->child_cap = to->child_count;
    phi__session_add(r->box, loop);
    return r->no_memory ? PHI_NO_MEMORY : PHI_OK;
}

static void phi__session_read_formation(const phi_json *node, phi_formation *to) {
    const phi_json *idle = phi_json_get(node, "InactivityTimeout");
    const phi_json *explicitly = phi_json_get(node, "Explicit"),
                   *first = phi_json_get(node, "FirstLoop");
    if (idle != NULL) {
        to->kind = PHI_FORMATION_INACTIVITY;
        to->threshold_s = phi__records_get_u64(idle, "threshold_secs");
        to->previous_session_id = phi__records_get_str(idle, "previous_session_id");
        to->at_ms = phi__records_get_time(idle, "timestamp");
    } else if (explicitly != NULL) {
        to->kind = PHI_FORMATION_EXPLICIT;
        to->at_ms = phi__records_get_time(explicitly, "timestamp");
    } else
        to->at_ms = phi__records_get_time(first, "timestamp");
}

static void phi__session_read_parent(const phi_json *node, phi__session_box *box) {
    if (!phi_json_is(node, PHI_JSON_OBJECT)) return;
    phi__session_fields_get(node, PHI__SESSION_SPAWN, &box->parent);
    box->pub.parent = &box->parent;
}

static phi_status phi__session_read_whole(phi__session_reader *r, const phi_json *root) {
    phi_session *to = &r->box->pub;
    const phi_json *loops = phi_json_get(root, "loops"), *node;
    phi_json_iter it = phi_json_each(loops);
    phi_status status = PHI_OK;
    size_t i = 0;
    if (!phi_json_is(root, PHI_JSON_OBJECT))
        return phi__session_read_bad(r, "expected an object: a session");
    if (!phi_json_is(phi_json_get(root, "session_id"), PHI_JSON_STRING))
        return phi__session_read_bad(r, "session_id: expected a string");
    phi__session_fields_get(root, PHI__SESSION_SESSION, to);
    phi__session_read_formation(phi_json_get(root, "formation"), &to->formation);
    phi__session_read_parent(phi_json_get(root, "parent_spawn_ref"), r->box);
    if (phi__str_is(phi__records_get_str(root, "scope"), "persistent"))
        to->scope = PHI_SESSION_PERSISTENT;
    if (!phi_json_is(loops, PHI_JSON_ARRAY)) return PHI_OK;
    for (; status == PHI_OK && (node = phi_json_next(&it)) != NULL; i++)
        status = phi__session_read_loop(r, node);
    return phi__session_read_within(r, status, "loops", i - 1);
}

/* ---- public ---- */

PHI_API phi_status phi_session_from_json(phi_str json, const phi_allocator *allocator,
                                         size_t limit_bytes, phi_session **out,
                                         phi_parse_error *error) {
    phi__session_reader r;
    phi_parse_error unheard;
    phi__json_reader reader;
    phi_json *root = NULL;
    phi_status status = PHI_BUSY;
    if (out == NULL) return PHI_BAD_ARG;
    *out = NULL;
    memset(&r, 0, sizeof r);
    r.error = error != NULL ? error : &unheard;
    memset(r.error, 0, sizeof *r.error);
    r.box = phi__session_make(allocator, limit_bytes, NULL);
    if (r.box == NULL) return PHI_NO_MEMORY;
    phi__json_read_begin(&reader, &r.box->arena, json, PHI_JSON_REPLACE_BAD_UTF8,
                         PHI_JSON_MAX_DEPTH);
    while (status == PHI_BUSY) status = phi__json_read_advance(&reader, SIZE_MAX);
    (void)phi__json_read_result(&reader, &root, r.error);
    if (status == PHI_OK) status = phi__session_read_whole(&r, root);
    if (status == PHI_TOO_BIG) status = PHI_PARSE;
    if (status == PHI_OK && r.no_memory) status = PHI_NO_MEMORY;
    if (status == PHI_OK)
        *out = &r.box->pub;
    else
        phi_session_free(&r.box->pub);
    return status;
}

/* ---- in a store ---- */

/* A store's words, or ours where the specification has some. */
static phi_status phi__session_read_say(phi_status status, phi_str id, char *words,
                                        size_t words_size) {
    const char *form = status == PHI_NOT_FOUND ? "Session not found: %.*s"
                                               : "Session %.*s is locked by another writer";
    if (words == NULL || words_size == 0) return status;
    if (status == PHI_NOT_FOUND || status == PHI_BUSY)
        (void)snprintf(words, words_size, form, (int)phi__min(id.len, 128), id.at);
    return status;
}

PHI_API phi_status phi_session_save(const phi_store *store, const phi_session *session,
                                    uint32_t flags, char *words, size_t words_size) {
    char id[129], agent[129];
    phi_memory memory;
    phi_arena arena;
    phi_status status;
    phi_str json;
    if (words != NULL && words_size > 0) words[0] = '\0';
    if (store == NULL || session == NULL || session->session_id.len >= sizeof id)
        return PHI_BAD_ARG;
    if (store->save == NULL) return PHI_UNSUPPORTED; /* a store of threads alone */
    phi_memory_init(&memory, &phi__session_of((phi_session *)(uintptr_t)session)->memory.allocator,
                    0);
    phi_arena_init(&arena, &memory, 0);
    memset(id, 0, sizeof id);
    memset(agent, 0, sizeof agent);
    if (session->session_id.len > 0) memcpy(id, session->session_id.at, session->session_id.len);
    if (session->agent_id.len > 0 && session->agent_id.len < sizeof agent)
        memcpy(agent, session->agent_id.at, session->agent_id.len);
    status = phi_session_to_json(session, flags, &arena, &json);
    if (status == PHI_OK)
        status = store->save(store->user_data, id, agent, json, words, words_size);
    phi_arena_free(&arena);
    return phi__session_read_say(status, phi_str_of(id), words, words_size);
}

PHI_API phi_status phi_session_load(const phi_store *store, const char *session_id,
                                    const phi_allocator *allocator, phi_session **out, char *words,
                                    size_t words_size) {
    phi_memory memory;
    phi_arena arena;
    phi_parse_error error;
    phi_status status;
    phi_str json;
    if (words != NULL && words_size > 0) words[0] = '\0';
    if (store == NULL || session_id == NULL || out == NULL) return PHI_BAD_ARG;
    *out = NULL;
    if (store->load == NULL) return PHI_UNSUPPORTED;
    phi_memory_init(&memory, allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    status = store->load(store->user_data, session_id, &arena, &json, words, words_size);
    if (status == PHI_OK) {
        status = phi_session_from_json(json, allocator, 0, out, &error);
        if (status == PHI_PARSE && words != NULL && words_size > 0)
            (void)snprintf(words, words_size, "%lu:%lu: %s", (unsigned long)error.line,
                           (unsigned long)error.column, error.message);
    }
    phi_arena_free(&arena);
    return phi__session_read_say(status, phi_str_of(session_id), words, words_size);
}
