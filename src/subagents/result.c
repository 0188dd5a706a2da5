/* result.c - the result of a child's run: for the call that waits for it, or as an event for the
   host. */
#include "subagents/child_in.h"

#include "text/json_in.h"
#include "text/records_in.h"

/* The result of a run; its strings are in an arena. */
typedef struct phi__result {
    phi_str text;
    const char *details;
    size_t turns; /* messages of the run */
    phi_status status;
    bool is_error, no_memory;
} phi__result;

/* ---- reading the run ---- */

/* The texts of the run's last answer that has any. */
static void phi__result_read(const phi__agent *agent, phi_arena *arena, phi__result *out) {
    const phi_thread *thread = agent->thread;
    size_t i = thread->messages.count;
    while (i-- > 0) {
        const phi__entry *entry = phi__lane_message(thread, i);
        if (entry == NULL || !phi_str_equal(entry->loop_id, agent->line.last_loop_id)) return;
        out->turns++;
        if (out->text.len == 0 && entry->message->role == PHI_ROLE_ASSISTANT)
            out->text = phi_message_text(entry->message, "\n", arena, &out->no_memory);
    }
}

static phi_str phi__result_error_text(phi_status status, const phi_failure *failure) {
    if (failure != NULL && failure->message.len > 0) return failure->message;
    return status == PHI_CANCELLED ? PHI__LIT("Cancelled") : phi_str_of(phi_status_text(status));
}

static void phi__result_details(const phi__child *child, phi_arena *arena, phi__result *out) {
    char id[PHI__CHILD_ID];
    phi__buf buf;
    phi_str text;
    phi__buf_init(&buf, arena->memory);
    phi__buf_char(&buf, '{');
    phi__records_str(&buf, "sub_agent", phi_str_of(child->desc->name));
    phi__records_u64(&buf, "turns", out->turns);
    phi__child_id(child, id);
    if (child->desc->keep > 0 && !out->is_error) phi__records_str(&buf, "id", phi_str_of(id));
    phi__buf_char(&buf, '}');
    if (buf.failed || !phi__arena_str(arena, phi__buf_str(&buf), &text))
        out->no_memory = true;
    else
        out->details = text.at;
    phi__buf_free(&buf);
}

static phi__result phi__result_of(const phi__child *child, phi_status status,
                                  const phi_failure *failure, phi_arena *arena) {
    phi__result out;
    memset(&out, 0, sizeof out);
    out.status = status;
    out.is_error = status != PHI_OK && status != PHI_LIMIT;
    phi__result_read(child->agent, arena, &out);
    if (out.is_error)
        out.text = phi__result_error_text(status, failure);
    else if (out.text.len == 0)
        out.text = phi_str_of(phi__texts_get(child->agent->desc.texts, PHI_TEXT_SUBAGENT_EMPTY));
    phi__result_details(child, arena, &out);
    if (!out.no_memory) return out;
    out.text = PHI__LIT("Out of memory");
    out.is_error = true;
    return out;
}

/* ---- to a call ---- */

static void phi__result_to_call(phi_call call, const phi__result *result,
                                const char *child_loop_id) {
    phi_content content;
    phi_tool_result given;
    memset(&content, 0, sizeof content);
    memset(&given, 0, sizeof given);
    content.kind = PHI_CONTENT_TEXT;
    content.text = result->text;
    given.content = &content;
    given.content_count = 1;
    given.details = result->details;
    given.is_error = result->is_error;
    given.child_loop_id = child_loop_id;
    (void)phi_call_result(call, &given); /* without memory the call fails by itself */
}

PHI__FN void phi__result_error(phi_call call, const char *words) {
    phi__result result;
    memset(&result, 0, sizeof result);
    result.text = phi_str_of(words);
    result.is_error = true;
    phi__result_to_call(call, &result, NULL);
}

/* ---- to the host ---- */

/* The parent's log names the run; its strings are there for the event. NULL: no memory. */
static phi__child_run *phi__result_log(phi__agent *parent, const phi__agent *agent) {
    phi_thread *thread = parent->thread;
    phi_arena *room;
    phi__child_run *spawn;
    phi__entry entry;
    if (thread->user == NULL && !phi__thread_roll(thread, NULL)) return NULL;
    room = phi__thread_room(thread);
    spawn = (phi__child_run *)phi__arena_zero(room, sizeof *spawn);
    memset(&entry, 0, sizeof entry);
    entry.kind = PHI_ENTRY_SPAWN;
    entry.at_ms = phi__thread_now(thread);
    entry.of.spawn = spawn;
    if (spawn == NULL || !phi__arena_str(room, agent->line.session->id, &spawn->session_id) ||
        !phi__arena_str(room, agent->line.last_loop_id, &spawn->loop_id) ||
        !phi__arena_str(room, parent->line.last_loop_id, &entry.loop_id))
        return NULL;
    spawn->tool_call_id = phi__str("", 0);
    return phi__append(thread, &entry, 1) ? spawn : NULL;
}

/* False: no memory, and it is to be tried again. */
static bool phi__result_to_host(const phi__child *child, const phi__result *result) {
    phi__agent *parent = child->of->parent;
    phi__child_run *spawn;
    phi_arena *room;
    phi_usage *usage;
    char id[PHI__CHILD_ID];
    phi_event event;
    spawn = phi__result_log(parent, child->agent);
    if (spawn == NULL) return false;
    room = phi__thread_room(parent->thread);
    usage = (phi_usage *)phi_arena_alloc(room, sizeof *usage);
    memset(&event, 0, sizeof event);
    phi__child_id(child, id);
    if (usage == NULL || !phi__arena_str(room, phi_str_of(id), &event.source) ||
        !phi__arena_str(room, phi_str_of(child->desc->name), &event.tool_name))
        return false;
    *usage = child->agent->spent.run_usage;
    event.kind = PHI_EV_SUBAGENT_END;
    event.text = result->text;
    event.status = result->status;
    event.is_error = result->is_error;
    event.child_loop_id = spawn->loop_id;
    event.usage = usage;
    return phi__events_emit(parent, &event, NULL, 0);
}

/* ---- for the other files ---- */

PHI__FN void phi__result_give(phi__child *child, phi_status status, const phi_failure *failure) {
    phi_arena scratch;
    phi__result result;
    bool keep = true, told = true;
    phi_arena_init(&scratch, &child->of->parent->memory, 0);
    if (child->call.rt != NULL || child->spawned) {
        result = phi__result_of(child, status, failure, &scratch);
        keep = !result.is_error;
        if (child->spawned)
            told = phi__result_to_host(child, &result);
        else
            phi__result_to_call(child->call, &result, child->agent->line.last_loop_id.at);
    } else
        keep = false; /* nobody waits: its call was cancelled */
    phi_arena_free(&scratch);
    child->running = false;
    child->status = status;
    if (told) phi__child_settle(child, keep);
}

PHI__FN void phi__result_fail(phi__child *child, phi_status status, const char *words) {
    phi_event event;
    if (child->call.rt != NULL) phi__result_error(child->call, words);
    child->call.rt = NULL;
    child->running = false;
    child->status = status;
    child->fault = words;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_SUBAGENT_END;
    event.text = phi_str_of(words);
    event.status = status;
    event.is_error = true;
    if (child->desc != NULL) event.tool_name = phi_str_of(child->desc->name);
    if (!child->spawned || phi__events_emit(child->of->parent, &event, NULL, 0))
        phi__child_drop(child);
    else
        phi__child_drop_agent(child);
}
