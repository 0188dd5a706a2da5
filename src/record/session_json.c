/* session_json.c - writes sessions in the interchange format ("Session") and reads them.

   The writer makes one line and then indents it, because events and messages are already text. The
   reader accepts files of phi and of other programs, of every age. It is lenient: a field that is
   missing or has a wrong type counts as absent. It rejects a session or loop without an id and an
   invalid message, because accepting them would silently lose data. The JSON tree stays in the
   session's arena, and the session points into it. */
#include "agent/agent.h"
#include "base/base_in.h"
#include "io/io_in.h"
#include "model/model_in.h"
#include "record/event_in.h"
#include "record/event_json.h"
#include "record/session_in.h"
#include "text/text_in.h"

#include <stdio.h>

static const phi__field phi__session_session_fields[] = {
    PHI__KEYED(phi_session, session_id, STR, ALWAYS),
    PHI__KEYED(phi_session, agent_id, STR, ALWAYS),
    PHI__FIELD(phi_session, created_ms, "created_at", PHI__FIELD_TIME, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_session, last_active_ms, "last_active_at", PHI__FIELD_TIME, PHI__FIELD_ALWAYS)};

static const phi__field phi__session_spawn_fields[] = {
    PHI__KEYED(phi_spawn_ref, parent_session_id, STR, ALWAYS),
    PHI__KEYED(phi_spawn_ref, parent_loop_id, STR, ALWAYS),
    PHI__KEYED(phi_spawn_ref, tool_call_id, STR, ALWAYS),
    PHI__KEYED(phi_spawn_ref, tool_name, STR, ALWAYS)};

static const phi__field phi__session_loop_fields[] = {
    PHI__KEYED(phi_loop_record, loop_id, STR, ALWAYS),
    PHI__KEYED(phi_loop_record, session_id, STR, ALWAYS),
    PHI__KEYED(phi_loop_record, agent_id, STR, ALWAYS),
    PHI__KEYED(phi_loop_record, parent_loop_id, STR, OPTION)};

static const phi__field phi__session_turn_id_fields[] = {
    PHI__FIELD(phi_turn, loop_id, "loopId", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_turn, turn_index, "turnIndex", PHI__FIELD_UINT, PHI__FIELD_ALWAYS)};

static const phi__field phi__session_time_fields[] = {
    PHI__FIELD(phi_turn, started_ms, "started_at", PHI__FIELD_TIME, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_turn, ended_ms, "ended_at", PHI__FIELD_TIME, PHI__FIELD_ALWAYS)};

static const phi__field phi__session_child_fields[] = {
    PHI__KEYED(phi_child_ref, tool_call_id, STR, ALWAYS),
    PHI__KEYED(phi_child_ref, tool_name, STR, ALWAYS),
    PHI__KEYED(phi_child_ref, child_loop_id, STR, ALWAYS),
    PHI__KEYED(phi_child_ref, child_session_id, STR, ALWAYS)};

static const phi__field phi__session_group_fields[] = {
    PHI__KEYED(phi_loop_group, selected_loop_id, STR, ALWAYS),
    PHI__FIELD(phi_loop_group, selected_index, "selected_config_index", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS)};

static const phi__field phi__session_range_fields[] = {
    PHI__FIELD(phi_block_section, from, "startTurn", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_block_section, to, "endTurn", PHI__FIELD_UINT, PHI__FIELD_ALWAYS)};

static const char *phi__session_status(int status) {
    static const char *const names[] = {"Pending", "Running", "Completed", "Rejected", "Aborted"};
    return names[(size_t)status < PHI__COUNT(names) ? status : 0];
}

typedef struct phi__session_writer {
    phi__buf out;
    phi_arena *scratch;
    uint32_t flags;
} phi__session_writer;

/* ---- writing ---- */

/* Writes the text that replaces a document or sound, such as "(a sound: audio/wav)". Adds the text
   of a text document. */
static bool phi__session_put_words(phi__session_writer *w, const phi_content *c, phi_str *out) {
    bool document = c->kind == PHI_CONTENT_DOCUMENT;
    phi_str name = c->name.len > 0 ? c->name : c->url.len > 0 ? c->url : c->mime_type;
    phi__buf words;
    phi__buf_init(&words, w->out.memory);
    phi__buf_text(&words, document ? "(a document" : "(a sound");
    if (name.len > 0) {
        phi__buf_text(&words, ": ");
        phi__buf_add_str(&words, name);
    }
    phi__buf_char(&words, ')');
    if (document && c->text.len > 0) {
        phi__buf_char(&words, '\n');
        phi__buf_add_str(&words, c->text);
    }
    bool fine = !words.failed && phi__arena_str(w->scratch, phi__buf_str(&words), out);
    phi__buf_free(&words);
    return fine;
}

/* Returns the message with a text in place of each document and sound, and without opaque blocks,
   because the Rust original rejects files with unknown blocks. Returns the message itself if
   nothing changes, else a copy in the scratch arena. NULL: no memory. */
static const phi_message *phi__session_put_plain(phi__session_writer *w,
                                                 const phi_message *message) {
    size_t n = 0;
    bool own = false;
    for (size_t i = 0; i < message->content_count; i++) {
        phi_content_kind kind = message->content[i].kind;
        own = own || kind == PHI_CONTENT_OPAQUE || kind == PHI_CONTENT_DOCUMENT ||
              kind == PHI_CONTENT_AUDIO;
    }
    if ((w->flags & PHI_SESSION_OWN_EVENTS) != 0 || !own) return message;
    phi_message *copy = (phi_message *)phi_arena_alloc(w->scratch, sizeof *copy);
    phi_content *content = (phi_content *)phi_arena_alloc(
        w->scratch, phi__mul(message->content_count, sizeof *content));
    if (copy == NULL || content == NULL) return NULL;
    for (size_t i = 0; i < message->content_count; i++) {
        const phi_content *c = &message->content[i];
        phi_content *to = &content[n];
        if (c->kind == PHI_CONTENT_OPAQUE) continue;
        *to = *c;
        n++;
        if (c->kind != PHI_CONTENT_DOCUMENT && c->kind != PHI_CONTENT_AUDIO) continue;
        memset(to, 0, sizeof *to);
        to->kind = PHI_CONTENT_TEXT;
        if (!phi__session_put_words(w, c, &to->text)) return NULL;
    }
    *copy = *message;
    copy->content = content;
    copy->content_count = n;
    return copy;
}

static void phi__session_put_message(phi__session_writer *w, const phi_message *message) {
    phi_arena_mark mark = phi_arena_save(w->scratch);
    const phi_message *plain = phi__session_put_plain(w, message);
    if (plain != NULL)
        phi__message_put(&w->out, plain, w->scratch);
    else
        w->out.failed = true;
    phi_arena_reset(w->scratch, mark);
}

static void phi__session_put_messages(phi__session_writer *w, const char *key,
                                      const phi_message *messages, size_t count) {
    phi__records_raw(&w->out, key, "[");
    for (size_t i = 0; i < count; i++) {
        phi__json_write_comma(&w->out);
        phi__session_put_message(w, &messages[i]);
    }
    phi__buf_char(&w->out, ']');
}

/* True if the JSON may contain a block that only phi has, and the flags forbid such blocks. */
static bool phi__session_put_is_own(const phi__session_writer *w, phi_str json) {
    return (w->flags & PHI_SESSION_OWN_EVENTS) == 0 &&
           (phi__str_find(json, 0, "\"document\"") != SIZE_MAX ||
            phi__str_find(json, 0, "\"audio\"") != SIZE_MAX ||
            phi__str_find(json, 0, "\"opaque\"") != SIZE_MAX);
}

static void phi__session_put_config(phi__session_writer *w, const phi_loop_config *config) {
    const char *api = config != NULL ? phi__message_read_api(config->api) : NULL;
    if (config == NULL) {
        phi__records_raw(&w->out, "config", "null");
        return;
    }
    phi__records_raw(&w->out, "config", "{");
    phi__records_str(&w->out, "model", config->model);
    phi__records_str(&w->out, "provider", config->provider);
    phi__records_option(&w->out, "config_id", config->config_id);
    phi__records_some(&w->out, "name", config->name);
    if (api != NULL) phi__records_str(&w->out, "api", phi_str_of(api));
    phi__buf clean;
    phi__buf_init(&clean, w->out.memory);
    phi__secret_put_url(&clean, config->base_url);
    phi__records_some(&w->out, "base_url", phi__buf_str(&clean));
    if (clean.failed) w->out.failed = true;
    phi__buf_free(&clean);
    if (config->has_reasoning) phi__records_bool(&w->out, "reasoning", config->reasoning);
    if (config->has_context_window)
        phi__records_u64(&w->out, "context_window", config->context_window);
    if (config->has_max_tokens) phi__records_u64(&w->out, "max_tokens", config->max_tokens);
    phi__records_some(&w->out, "thinking_level", config->thinking_level);
    if (config->has_temperature) phi__records_double(&w->out, "temperature", config->temperature);
    phi__buf_char(&w->out, '}');
}

static void phi__session_put_turn(phi__session_writer *w, const phi_turn *turn) {
    phi__json_write_comma(&w->out);
    phi__buf_char(&w->out, '{');
    phi__records_raw(&w->out, "turn_id", "{");
    PHI__RECORDS_PUT(&w->out, phi__session_turn_id_fields, turn);
    phi__buf_char(&w->out, '}');
    phi__records_str(&w->out, "triggered_by", phi_str_of(phi__event_trigger(turn->trigger)));
    phi__message_put_usage(&w->out, &turn->usage);
    phi__session_put_messages(w, "input_messages", turn->input, turn->input_count);
    if (turn->output != NULL) {
        phi__json_write_key(&w->out, PHI__LIT("output_message"));
        phi__session_put_message(w, turn->output);
    } else
        phi__records_raw(&w->out, "output_message", "null");
    phi__session_put_messages(w, "tool_results", turn->results, turn->result_count);
    PHI__RECORDS_PUT(&w->out, phi__session_time_fields, turn);
    if (turn->request.len > 0 && !phi__session_put_is_own(w, turn->request)) {
        phi__json_write_key(&w->out, PHI__LIT("request_payload"));
        phi__buf_add_str(&w->out, turn->request);
    }
    phi__buf_char(&w->out, '}');
}

/* True if the reader of the Rust original knows the event's type. */
static bool phi__session_put_is_common(phi_str json, phi_str type) {
    static const char *const types[] = {
        "AgentStart",          "AgentEnd",         "TurnStart",         "TurnEnd",
        "MessageStart",        "MessageUpdate",    "MessageEnd",        "ToolExecutionStart",
        "ToolExecutionUpdate", "ToolExecutionEnd", "ProgressMessage",   "InputRejected",
        "ParallelLoopStart",   "ParallelLoopEnd",  "CompactionStarted", "CompactionEnded",
        "PrunApplied",         "TurnRequest",      "RevertApplied"};
    phi__json_found message;
    size_t i = 0;
    while (i < PHI__COUNT(types) && !phi__str_is(type, types[i])) i++;
    if (i == PHI__COUNT(types) || !phi__str_is(type, "TurnEnd")) return i < PHI__COUNT(types);
    return phi__json_cursor_find(json, "message", &message) == PHI_OK &&
           message.type == PHI_JSON_OBJECT;
}

/* True if the reader of the Rust original would reject the event, and with the event the whole
   file. Old or hand-written events may have names in place of node ids, or an unknown protocol. */
static bool phi__session_put_is_foreign(phi_str json, phi_str type) {
    phi__json_found at;
    bool start = phi__str_is(type, "AgentStart");
    if (!start && !phi__str_is(type, "RevertApplied")) return false;
    return phi__json_cursor_find(json, start ? "config_snapshot.api" : "target", &at) == PHI_OK &&
           at.type == PHI_JSON_STRING && (!start || phi__message_read_api(at.raw) == NULL);
}

static void phi__session_put_event(phi__session_writer *w, phi_str json, phi_str type) {
    phi_arena_mark mark = phi_arena_save(w->scratch);
    phi_event event;
    phi_status status = PHI_OK;
    bool own = phi__session_put_is_own(w, json);
    if (own || phi__session_put_is_foreign(json, type)) {
        status = phi_event_from_json(json, w->scratch, &event, NULL);
        if (status == PHI_OK && own && event.message != NULL) {
            event.message = phi__session_put_plain(w, event.message);
            if (event.message == NULL) status = PHI_NO_MEMORY;
        }
        size_t count = event.messages != NULL ? event.message_count : 0;
        if (status == PHI_OK && own && count > 0) {
            phi_message *list =
                (phi_message *)phi_arena_alloc(w->scratch, phi__mul(count, sizeof *list));
            for (size_t i = 0; i < count && list != NULL; i++) {
                const phi_message *plain = phi__session_put_plain(w, &event.messages[i]);
                if (plain == NULL)
                    list = NULL;
                else
                    list[i] = *plain;
            }
            event.messages = list;
            if (list == NULL) status = PHI_NO_MEMORY;
        }
        if (status == PHI_OK) status = phi_event_to_json(&event, w->scratch, &json);
    }
    if (status == PHI_NO_MEMORY) w->out.failed = true;
    phi__buf_add_str(&w->out, json);
    phi_arena_reset(w->scratch, mark);
}

static void phi__session_put_group(phi__session_writer *w, const phi_loop_group *group) {
    if (group == NULL) {
        phi__records_raw(&w->out, "parallel_group", "null");
        return;
    }
    phi__records_raw(&w->out, "parallel_group", "{");
    phi__records_strs(&w->out, "all_loop_ids", group->loop_ids, group->loop_count);
    PHI__RECORDS_PUT(&w->out, phi__session_group_fields, group);
    phi__json_write_key(&w->out, PHI__LIT("evaluation_usage"));
    phi__message_put_usage_value(&w->out, &group->evaluation_usage);
    phi__records_bool(&w->out, "is_selected", group->is_selected);
    phi__buf_char(&w->out, '}');
}

/* Writes a section of a compaction block: its range of turns and, if `messages`, its messages. */
static void phi__session_put_section(phi__session_writer *w, const char *key,
                                     const phi_block_section *section, bool messages) {
    if (!section->present) return;
    phi__records_raw(&w->out, key, "{");
    if (messages) phi__records_raw(&w->out, "range", "{");
    PHI__RECORDS_PUT(&w->out, phi__session_range_fields, section);
    phi__buf_char(&w->out, '}');
    if (!messages) return;
    phi__session_put_messages(w, "messages", section->messages, section->message_count);
    phi__buf_char(&w->out, '}');
}

static void phi__session_put_loop(phi__session_writer *w, const phi_loop_record *loop) {
    phi__json_write_comma(&w->out);
    phi__buf_char(&w->out, '{');
    PHI__RECORDS_PUT(&w->out, phi__session_loop_fields, loop);
    phi__event_put_continuation(&w->out, loop->continuation, loop->tag);
    phi__records_time(&w->out, "started_at", loop->started_ms);
    if (loop->has_ended)
        phi__records_time(&w->out, "ended_at", loop->ended_ms);
    else
        phi__records_raw(&w->out, "ended_at", "null");
    phi__records_str(&w->out, "status", phi_str_of(phi__session_status((int)loop->status)));
    if (loop->rejection.at != NULL)
        phi__records_str(&w->out, "rejection", loop->rejection);
    else
        phi__records_raw(&w->out, "rejection", "null");
    phi__session_put_config(w, loop->config);
    phi__session_put_messages(w, "messages", loop->messages, loop->message_count);
    phi__records_raw(&w->out, "turns", "[");
    for (size_t i = 0; i < loop->turn_count; i++)
        if (loop->turns[i].output != NULL || (w->flags & PHI_SESSION_OWN_EVENTS) != 0)
            phi__session_put_turn(w, &loop->turns[i]);
    phi__buf_char(&w->out, ']');
    phi__message_put_usage(&w->out, &loop->usage);
    if (!phi__message_put_json(&w->out, "metadata", loop->metadata, true, w->scratch))
        phi__records_option(&w->out, "metadata", loop->metadata);
    bool all = (w->flags & PHI_SESSION_OWN_EVENTS) != 0;
    phi__records_raw(&w->out, "events", "[");
    for (size_t i = 0; i < loop->event_count; i++) {
        phi_str json = loop->events[i].json;
        phi_str type = phi__session_event_type(json);
        if (!all && !phi__session_put_is_common(json, type)) continue;
        if (phi__str_is(type, "TurnRequest") && phi__session_put_is_own(w, json)) continue;
        phi__json_write_comma(&w->out);
        phi__buf_char(&w->out, '{');
        phi__records_u64(&w->out, "sequence", loop->events[i].sequence);
        phi__json_write_key(&w->out, PHI__LIT("event"));
        phi__session_put_event(w, json, type);
        phi__buf_char(&w->out, '}');
    }
    phi__buf_char(&w->out, ']');
    phi__records_strs(&w->out, "children_loop_ids", loop->children, loop->child_count);
    phi__records_raw(&w->out, "child_loop_refs", "[");
    for (size_t i = 0; i < loop->spawned_count; i++) {
        const phi_child_ref *ref = &loop->spawned[i];
        phi__json_write_comma(&w->out);
        phi__buf_char(&w->out, '{');
        PHI__RECORDS_PUT(&w->out, phi__session_child_fields, ref);
        phi__buf_char(&w->out, '}');
    }
    phi__buf_char(&w->out, ']');
    phi__session_put_group(w, loop->group);
    /* The keys mix keep_first and createdAt because the format does. */
    const phi_compaction_block *block = loop->block;
    if (block != NULL) {
        phi__records_raw(&w->out, "compaction_block", "{");
        phi__session_put_section(w, "keep_first", &block->keep_first, false);
        phi__session_put_section(w, "keep_recent", &block->keep_recent, true);
        phi__session_put_section(w, "keep_compacted", &block->keep_compacted, true);
        phi__records_time(&w->out, "createdAt", block->created_ms);
        phi__buf_char(&w->out, '}');
    }
    phi__buf_char(&w->out, '}');
}

static size_t phi__session_put_line(char *out, size_t len, size_t depth) {
    if (out != NULL) {
        out[len] = '\n';
        memset(out + len + 1, ' ', 2 * depth);
    }
    return len + 1 + 2 * depth;
}

static size_t phi__session_put_char(char *out, size_t len, char c) {
    if (out != NULL) out[len] = c;
    return len + 1;
}

/* Indents JSON without line breaks and returns its length. If `out` is NULL, only counts. */
static size_t phi__session_put_indented(phi_str json, char *out) {
    size_t len = 0, depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < json.len; i++) {
        char c = json.at[i], next = i + 1 < json.len ? json.at[i + 1] : '\0';
        bool empty = (c == '{' && next == '}') || (c == '[' && next == ']');
        if (!in_string && (c == '}' || c == ']')) len = phi__session_put_line(out, len, --depth);
        len = phi__session_put_char(out, len, c);
        if (c == '"') in_string = !in_string;
        if (in_string ? c == '\\' : empty)
            len = phi__session_put_char(out, len, json.at[++i]);
        else if (!in_string && (c == '{' || c == '['))
            len = phi__session_put_line(out, len, ++depth);
        else if (!in_string && c == ',')
            len = phi__session_put_line(out, len, depth);
        else if (!in_string && c == ':')
            len = phi__session_put_char(out, len, ' ');
    }
    return len;
}

PHI_API phi_status phi_session_to_json(const phi_session *session, uint32_t flags, phi_arena *arena,
                                       phi_str *out) {
    static const char *const kinds[] = {"FirstLoop", "Explicit", "InactivityTimeout"};
    phi__session_writer w;
    size_t len;
    char *text = NULL;
    if (session == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi__buf_init(&w.out, arena->memory);
    w.scratch = arena;
    w.flags = flags;
    phi__buf_char(&w.out, '{');
    PHI__RECORDS_PUT(&w.out, phi__session_session_fields, session);
    const phi_formation *formation = &session->formation;
    size_t kind = (size_t)formation->kind < PHI__COUNT(kinds) ? (size_t)formation->kind : 0;
    phi__records_raw(&w.out, "formation", "{");
    phi__records_raw(&w.out, kinds[kind], "{");
    if (formation->kind == PHI_FORMATION_INACTIVITY) {
        phi__records_u64(&w.out, "threshold_secs", formation->threshold_s);
        phi__records_option(&w.out, "previous_session_id", formation->previous_session_id);
    }
    phi__records_time(&w.out, "timestamp", formation->at_ms);
    phi__buf_text(&w.out, "}}");
    phi__records_raw(&w.out, "parent_spawn_ref", session->parent != NULL ? "{" : "null");
    if (session->parent != NULL) {
        PHI__RECORDS_PUT(&w.out, phi__session_spawn_fields, session->parent);
        phi__buf_char(&w.out, '}');
    }
    phi__records_str(&w.out, "scope",
                     session->scope == PHI_SESSION_PERSISTENT ? PHI__LIT("persistent")
                                                              : PHI__LIT("ephemeral"));
    phi__records_raw(&w.out, "loops", "[");
    for (size_t i = 0; i < session->loop_count; i++) phi__session_put_loop(&w, session->loops[i]);
    phi__buf_text(&w.out, "]}");
    if (!w.out.failed) {
        len = phi__session_put_indented(phi__buf_str(&w.out), NULL);
        text = phi__arena_bytes(arena, phi__add(len, 1));
    }
    if (text != NULL) {
        len = phi__session_put_indented(phi__buf_str(&w.out), text);
        text[len] = '\0';
        *out = phi__str(text, len);
    }
    phi__buf_free(&w.out);
    return text != NULL ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- reading ---- */

typedef struct phi__session_reader {
    phi__intake in;
    phi__session_box *box;
} phi__session_reader;

static phi_status phi__session_read_turn(phi__session_reader *r, const phi_json *node,
                                         phi_turn *to) {
    const phi_json *id = phi_json_get(node, "turn_id");
    const phi_json *answer = phi_json_get(node, "output_message");
    phi_status status =
        phi__intake_messages(&r->in, node, "input_messages", &to->input, &to->input_count);
    if (status == PHI_OK)
        status =
            phi__intake_messages(&r->in, node, "tool_results", &to->results, &to->result_count);
    if (status != PHI_OK) return status;
    (void)PHI__RECORDS_GET(id, phi__session_turn_id_fields, to, NULL);
    to->trigger = phi__event_get_trigger(node);
    to->usage = phi__message_read_get_usage(phi_json_get(node, "usage"));
    (void)PHI__RECORDS_GET(node, phi__session_time_fields, to, NULL);
    to->request = phi__intake_json(&r->in, phi_json_get(node, "request_payload"));
    if (answer == NULL || phi_json_is(answer, PHI_JSON_NULL)) return PHI_OK;
    phi_message *output = (phi_message *)phi__intake_alloc(&r->in, 1, sizeof *output);
    if (output == NULL) return PHI_NO_MEMORY;
    to->output = output;
    return phi__message_read_get(answer, r->in.arena, output, r->in.error);
}

static phi_status phi__session_read_turns(phi__session_reader *r, const phi_json *array,
                                          phi__loop_box *loop) {
    phi_json_iter it = phi_json_each(array);
    const phi_json *node;
    phi_status status = PHI_OK;
    loop->pub.turns =
        (phi_turn *)phi__intake_list(&r->in, array, sizeof *loop->pub.turns, &loop->turn_cap);
    if (loop->pub.turns == NULL) return r->in.no_memory ? PHI_NO_MEMORY : PHI_OK;
    while (status == PHI_OK && (node = phi_json_next(&it)) != NULL)
        status = phi__session_read_turn(r, node, &loop->pub.turns[loop->pub.turn_count++]);
    return phi__intake_within(&r->in, status, "turns", loop->pub.turn_count - 1);
}

/* Reads the events. Skips an event that is not an object. */
static void phi__session_read_events(phi__session_reader *r, const phi_json *array,
                                     phi__loop_box *loop) {
    phi_json_iter it = phi_json_each(array);
    const phi_json *node;
    loop->pub.events = (phi_loop_event *)phi__intake_list(&r->in, array, sizeof *loop->pub.events,
                                                          &loop->event_cap);
    while (loop->pub.events != NULL && (node = phi_json_next(&it)) != NULL) {
        const phi_json *event = phi_json_get(node, "event");
        phi_loop_event *to = &loop->pub.events[loop->pub.event_count];
        if (!phi_json_is(event, PHI_JSON_OBJECT)) continue;
        to->sequence = phi__json_get_uint(phi_json_get(node, "sequence"), loop->sequence);
        to->json = phi__intake_json(&r->in, event);
        if (to->sequence >= loop->sequence && to->sequence < UINT64_MAX)
            loop->sequence = to->sequence + 1;
        loop->pub.event_count++;
    }
}

static void phi__session_read_spawned(phi__session_reader *r, const phi_json *array,
                                      phi__loop_box *loop) {
    phi_json_iter it = phi_json_each(array);
    const phi_json *node;
    loop->pub.spawned = (phi_child_ref *)phi__intake_list(&r->in, array, sizeof *loop->pub.spawned,
                                                          &loop->spawned_cap);
    while (loop->pub.spawned != NULL && (node = phi_json_next(&it)) != NULL)
        (void)PHI__RECORDS_GET(node, phi__session_child_fields,
                               &loop->pub.spawned[loop->pub.spawned_count++], NULL);
}

static void phi__session_read_group(phi__session_reader *r, const phi_json *node,
                                    phi_loop_record *to) {
    if (!phi_json_is(node, PHI_JSON_OBJECT)) return;
    phi_loop_group *group = (phi_loop_group *)phi__intake_alloc(&r->in, 1, sizeof *group);
    to->group = group;
    if (group == NULL) return;
    group->loop_ids =
        phi__intake_ids(&r->in, phi_json_get(node, "all_loop_ids"), &group->loop_count);
    (void)PHI__RECORDS_GET(node, phi__session_group_fields, group, NULL);
    group->evaluation_usage = phi__message_read_get_usage(phi_json_get(node, "evaluation_usage"));
    group->is_selected = phi__records_get_bool(node, "is_selected");
}

/* Reads a section that phi__session_put_section wrote. */
static phi_status phi__session_read_section(phi__session_reader *r, const phi_json *node,
                                            phi_block_section *to, bool messages) {
    const phi_json *range = messages ? phi_json_get(node, "range") : node;
    to->present = phi_json_is(node, PHI_JSON_OBJECT);
    if (!to->present) return PHI_OK;
    (void)PHI__RECORDS_GET(range, phi__session_range_fields, to, NULL);
    if (!messages) return PHI_OK;
    return phi__intake_messages(&r->in, node, "messages", &to->messages, &to->message_count);
}

static phi_status phi__session_read_block(phi__session_reader *r, const phi_json *node,
                                          phi_loop_record *to) {
    if (!phi_json_is(node, PHI_JSON_OBJECT)) return PHI_OK;
    phi_compaction_block *block =
        (phi_compaction_block *)phi__intake_alloc(&r->in, 1, sizeof *block);
    if (block == NULL) return PHI_NO_MEMORY;
    to->block = block;
    block->created_ms = phi__records_get_time(node, "createdAt");
    (void)phi__session_read_section(r, phi_json_get(node, "keep_first"), &block->keep_first, false);
    phi_status status =
        phi__session_read_section(r, phi_json_get(node, "keep_recent"), &block->keep_recent, true);
    if (status != PHI_OK) return status;
    return phi__session_read_section(r, phi_json_get(node, "keep_compacted"),
                                     &block->keep_compacted, true);
}

static phi_status phi__session_read_loop(phi__session_reader *r, const phi_json *node) {
    phi__loop_box *loop = phi__session_loop(r->box);
    const phi_json *config = phi_json_get(node, "config");
    const phi_json *children = phi_json_get(node, "children_loop_ids");
    phi_str status_name = phi__records_get_str(node, "status");
    if (loop == NULL) return PHI_NO_MEMORY;
    if (!phi_json_is(phi_json_get(node, "loop_id"), PHI_JSON_STRING))
        return phi__intake_bad(&r->in, PHI_PARSE, "loop_id: expected a string");
    phi_loop_record *to = &loop->pub;
    (void)PHI__RECORDS_GET(node, phi__session_loop_fields, to, NULL);
    to->continuation = phi__event_get_continuation(node, &to->tag);
    to->started_ms = phi__records_get_time(node, "started_at");
    to->has_ended = phi__date_get(phi__records_get_str(node, "ended_at"), &to->ended_ms);
    to->status = PHI_LOOP_COMPLETED;
    for (int i = PHI_LOOP_PENDING; i <= PHI_LOOP_ABORTED; i++)
        if (phi__str_is(status_name, phi__session_status(i))) to->status = (phi_loop_status)i;
    if (phi_json_is(phi_json_get(node, "rejection"), PHI_JSON_STRING))
        to->rejection = phi__records_get_str(node, "rejection");
    to->usage = phi__message_read_get_usage(phi_json_get(node, "usage"));
    to->metadata = phi__intake_json(&r->in, phi_json_get(node, "metadata"));
    if (phi_json_is(config, PHI_JSON_OBJECT)) {
        to->config = phi__session_config(r->box, config);
        if (to->config == NULL) return PHI_NO_MEMORY;
    }
    phi_status status =
        phi__intake_messages(&r->in, node, "messages", &to->messages, &to->message_count);
    if (status == PHI_OK) status = phi__session_read_turns(r, phi_json_get(node, "turns"), loop);
    if (status == PHI_OK)
        status = phi__session_read_block(r, phi_json_get(node, "compaction_block"), to);
    if (status != PHI_OK) return status;
    phi__session_read_events(r, phi_json_get(node, "events"), loop);
    phi__session_read_spawned(r, phi_json_get(node, "child_loop_refs"), loop);
    phi__session_read_group(r, phi_json_get(node, "parallel_group"), to);
    to->children = phi__intake_ids(&r->in, children, &to->child_count);
    loop->child_cap = to->child_count;
    phi__session_add(r->box, loop);
    return r->in.no_memory ? PHI_NO_MEMORY : PHI_OK;
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

static phi_status phi__session_read_whole(phi__session_reader *r, const phi_json *root) {
    phi_session *to = &r->box->pub;
    const phi_json *loops = phi_json_get(root, "loops"), *node;
    const phi_json *parent = phi_json_get(root, "parent_spawn_ref");
    phi_json_iter it = phi_json_each(loops);
    phi_status status = PHI_OK;
    size_t i = 0;
    if (!phi_json_is(root, PHI_JSON_OBJECT))
        return phi__intake_bad(&r->in, PHI_PARSE, "expected an object: a session");
    if (!phi_json_is(phi_json_get(root, "session_id"), PHI_JSON_STRING))
        return phi__intake_bad(&r->in, PHI_PARSE, "session_id: expected a string");
    (void)PHI__RECORDS_GET(root, phi__session_session_fields, to, NULL);
    phi__session_read_formation(phi_json_get(root, "formation"), &to->formation);
    if (phi_json_is(parent, PHI_JSON_OBJECT)) {
        (void)PHI__RECORDS_GET(parent, phi__session_spawn_fields, &r->box->parent, NULL);
        to->parent = &r->box->parent;
    }
    if (phi__str_is(phi__records_get_str(root, "scope"), "persistent"))
        to->scope = PHI_SESSION_PERSISTENT;
    if (!phi_json_is(loops, PHI_JSON_ARRAY)) return PHI_OK;
    for (; status == PHI_OK && (node = phi_json_next(&it)) != NULL; i++)
        status = phi__session_read_loop(r, node);
    return phi__intake_within(&r->in, status, "loops", i - 1);
}

/* ---- public ---- */

PHI_API phi_status phi_session_from_json(phi_str json, const phi_allocator *allocator,
                                         size_t limit_bytes, phi_session **out,
                                         phi_parse_error *error) {
    phi_parse_error unheard;
    phi__json_reader reader;
    phi_json *root = NULL;
    phi_status status = PHI_BUSY;
    if (out == NULL) return PHI_BAD_ARG;
    *out = NULL;
    phi__session_reader r = PHI_ZERO;
    r.in.error = error != NULL ? error : &unheard;
    memset(r.in.error, 0, sizeof *r.in.error);
    r.box = phi__session_make(allocator, limit_bytes, NULL);
    if (r.box == NULL) return PHI_NO_MEMORY;
    r.in.arena = &r.box->arena;
    phi__json_read_begin(&reader, &r.box->arena, json, PHI_JSON_REPLACE_BAD_UTF8,
                         PHI_JSON_MAX_DEPTH);
    while (status == PHI_BUSY) status = phi__json_read_advance(&reader, SIZE_MAX);
    (void)phi__json_read_result(&reader, &root, r.in.error);
    if (status == PHI_OK) status = phi__session_read_whole(&r, root);
    if (status == PHI_TOO_BIG) status = PHI_PARSE;
    if (status == PHI_OK && r.in.no_memory) status = PHI_NO_MEMORY;
    if (status == PHI_OK)
        *out = &r.box->pub;
    else
        phi_session_free(&r.box->pub);
    return status;
}

/* ---- in a store ---- */

/* Writes the message of a missing or locked session, as the specification words it. Keeps the
   store's message in all other cases. */
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
    char id[129];
    phi_memory memory;
    phi_arena arena;
    phi_str json;
    if (words != NULL && words_size > 0) words[0] = '\0';
    if (store == NULL || session == NULL || session->session_id.len >= sizeof id)
        return PHI_BAD_ARG;
    if (store->save == NULL) return PHI_UNSUPPORTED; /* the store only has threads */
    phi_memory_init(&memory, &phi__session_of((phi_session *)(uintptr_t)session)->memory.allocator,
                    0);
    phi_arena_init(&arena, &memory, 0);
    memset(id, 0, sizeof id);
    char agent[129] = PHI_ZERO;
    if (session->session_id.len > 0) memcpy(id, session->session_id.at, session->session_id.len);
    if (session->agent_id.len > 0 && session->agent_id.len < sizeof agent)
        memcpy(agent, session->agent_id.at, session->agent_id.len);
    phi_status status = phi_session_to_json(session, flags, &arena, &json);
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
    phi_str json;
    if (words != NULL && words_size > 0) words[0] = '\0';
    if (store == NULL || session_id == NULL || out == NULL) return PHI_BAD_ARG;
    *out = NULL;
    if (store->load == NULL) return PHI_UNSUPPORTED;
    phi_memory_init(&memory, allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    phi_status status = store->load(store->user_data, session_id, &arena, &json, words, words_size);
    if (status == PHI_OK) {
        status = phi_session_from_json(json, allocator, 0, out, &error);
        if (status == PHI_PARSE && words != NULL && words_size > 0)
            (void)snprintf(words, words_size, "%lu:%lu: %s", (unsigned long)error.line,
                           (unsigned long)error.column, error.message);
    }
    phi_arena_free(&arena);
    return phi__session_read_say(status, phi_str_of(session_id), words, words_size);
}
