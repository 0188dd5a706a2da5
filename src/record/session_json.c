/* session_json.c - writes sessions in the interchange format: behaviours A, "Session" and its
   parts.

   The text is made in one line and then indented: events and messages come as text from
   elsewhere. */
#include "record/session_in.h"
#include "record/event_json.h"

#include "agent/agent.h"
#include "record/event_in.h"
#include "base/buf_in.h"
#include "io/secret_in.h"
#include "model/message_in.h"
#include "text/records_in.h"

typedef struct phi__session_writer {
    phi__buf out;
    phi_arena *scratch;
    uint32_t flags;
} phi__session_writer;

/* ---- messages ---- */

/* The original's reader refuses a whole file for one block of a kind that it does not know. */
static bool phi__session_json_is_own(const phi_message *message) {
    size_t i;
    for (i = 0; i < message->content_count; i++) {
        phi_content_kind kind = message->content[i].kind;
        if (kind == PHI_CONTENT_OPAQUE || kind == PHI_CONTENT_DOCUMENT || kind == PHI_CONTENT_AUDIO)
            return true;
    }
    return false;
}

/* "(a document: Report.pdf)", "(a sound: audio/wav)"; then the text of a document of text. */
static bool phi__session_json_words(phi__session_writer *w, const phi_content *c, phi_str *out) {
    bool document = c->kind == PHI_CONTENT_DOCUMENT, fine;
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
    fine = !words.failed && phi__arena_str(w->scratch, phi__buf_str(&words), out);
    phi__buf_free(&words);
    return fine;
}

/* The message with a text in place of each document and sound, and without opaque blocks; itself if
   it has none of these. Lives in the scratch arena. NULL: no memory. */
static const phi_message *phi__session_json_plain(phi__session_writer *w,
                                                  const phi_message *message) {
    phi_message *copy;
    phi_content *content;
    size_t i, n = 0;
    if ((w->flags & PHI_SESSION_OWN_EVENTS) != 0 || !phi__session_json_is_own(message))
        return message;
    copy = (phi_message *)phi_arena_alloc(w->scratch, sizeof *copy);
    content = (phi_content *)phi_arena_alloc(w->scratch,
                                             phi__mul(message->content_count, sizeof *content));
    if (copy == NULL || content == NULL) return NULL;
    for (i = 0; i < message->content_count; i++) {
        const phi_content *c = &message->content[i];
        phi_content *to = &content[n];
        if (c->kind == PHI_CONTENT_OPAQUE) continue;
        *to = *c;
        n++;
        if (c->kind != PHI_CONTENT_DOCUMENT && c->kind != PHI_CONTENT_AUDIO) continue;
        memset(to, 0, sizeof *to);
        to->kind = PHI_CONTENT_TEXT;
        if (!phi__session_json_words(w, c, &to->text)) return NULL;
    }
    *copy = *message;
    copy->content = content;
    copy->content_count = n;
    return copy;
}

static void phi__session_json_message(phi__session_writer *w, const phi_message *message) {
    phi_arena_mark mark = phi_arena_save(w->scratch);
    const phi_message *plain = phi__session_json_plain(w, message);
    if (plain != NULL)
        phi__message_put(&w->out, plain, w->scratch);
    else
        w->out.failed = true;
    phi_arena_reset(w->scratch, mark);
}

/* True if a text may hold a block of a kind that only phi has. */
static bool phi__session_json_may_be_own(phi_str json) {
    return phi__str_find(json, 0, "\"document\"") != SIZE_MAX ||
           phi__str_find(json, 0, "\"audio\"") != SIZE_MAX ||
           phi__str_find(json, 0, "\"opaque\"") != SIZE_MAX;
}

/* A captured request is written as it is, or not at all. */
static bool phi__session_json_may_stay(const phi__session_writer *w, phi_str request) {
    return (w->flags & PHI_SESSION_OWN_EVENTS) != 0 || !phi__session_json_may_be_own(request);
}

/* ---- members ---- */

static void phi__session_json_messages(phi__session_writer *w, const char *key,
                                       const phi_message *messages, size_t count) {
    size_t i;
    phi__records_raw(&w->out, key, "[");
    for (i = 0; i < count; i++) {
        phi__json_write_comma(&w->out);
        phi__session_json_message(w, &messages[i]);
    }
    phi__buf_char(&w->out, ']');
}

/* ---- loops ---- */

static const char *phi__session_json_status(phi_loop_status status) {
    static const char *const words[] = {"Pending", "Running", "Completed", "Rejected", "Aborted"};
    return words[(size_t)status < PHI__COUNT(words) ? (size_t)status : 0];
}

static void phi__session_json_tag(phi__session_writer *w, const char *word, phi_str tag) {
    phi__buf_char(&w->out, '{');
    phi__records_raw(&w->out, word, "{");
    phi__records_str(&w->out, "tag", tag);
    phi__buf_text(&w->out, "}}");
}

static void phi__session_json_continuation(phi__session_writer *w, const phi_loop_record *loop) {
    phi__json_write_key(&w->out, PHI__LIT("continuation_kind"));
    switch (loop->continuation) {
    case PHI_CONTINUATION_DEFAULT: phi__buf_text(&w->out, "\"Default\""); break;
    case PHI_CONTINUATION_RERUN: phi__session_json_tag(w, "Rerun", loop->tag); break;
    case PHI_CONTINUATION_BRANCH: phi__session_json_tag(w, "Branch", loop->tag); break;
    case PHI_CONTINUATION_COMPACTION: phi__buf_text(&w->out, "\"Compaction\""); break;
    case PHI_CONTINUATION_INITIAL: phi__buf_text(&w->out, "\"Initial\""); break;
    }
}

static void phi__session_json_some(phi__session_writer *w, const char *key, phi_str value) {
    if (value.len > 0) phi__records_str(&w->out, key, value);
}

static void phi__session_json_url(phi__session_writer *w, const char *key, phi_str url) {
    phi__buf clean;
    phi__buf_init(&clean, w->out.memory);
    phi__secret_put_url(&clean, url);
    phi__session_json_some(w, key, phi__buf_str(&clean));
    if (clean.failed) w->out.failed = true;
    phi__buf_free(&clean);
}

static void phi__session_json_config(phi__session_writer *w, const phi_loop_config *config) {
    const char *api = config != NULL ? phi__message_read_api(config->api) : NULL;
    if (config == NULL) {
        phi__records_raw(&w->out, "config", "null");
        return;
    }
    phi__records_raw(&w->out, "config", "{");
    phi__records_str(&w->out, "model", config->model);
    phi__records_str(&w->out, "provider", config->provider);
    phi__records_option(&w->out, "config_id", config->config_id);
    phi__session_json_some(w, "name", config->name);
    if (api != NULL) phi__records_str(&w->out, "api", phi_str_of(api));
    phi__session_json_url(w, "base_url", config->base_url);
    if (config->has_reasoning) phi__records_bool(&w->out, "reasoning", config->reasoning);
    if (config->has_context_window)
        phi__records_u64(&w->out, "context_window", config->context_window);
    if (config->has_max_tokens) phi__records_u64(&w->out, "max_tokens", config->max_tokens);
    phi__session_json_some(w, "thinking_level", config->thinking_level);
    if (config->has_temperature) {
        phi__records_double(&w->out, "temperature", config->temperature);
    }
    phi__buf_char(&w->out, '}');
}

static void phi__session_json_turn(phi__session_writer *w, const phi_turn *turn) {
    phi__json_write_comma(&w->out);
    phi__buf_char(&w->out, '{');
    phi__records_raw(&w->out, "turn_id", "{");
    phi__session_fields_put(&w->out, PHI__SESSION_TURN_ID, turn);
    phi__buf_char(&w->out, '}');
    phi__records_str(&w->out, "triggered_by", phi_str_of(phi__event_words_trigger(turn->trigger)));
    phi__message_put_usage(&w->out, &turn->usage);
    phi__session_json_messages(w, "input_messages", turn->input, turn->input_count);
    if (turn->output != NULL) {
        phi__json_write_key(&w->out, PHI__LIT("output_message"));
        phi__session_json_message(w, turn->output);
    } else
        phi__records_raw(&w->out, "output_message", "null");
    phi__session_json_messages(w, "tool_results", turn->results, turn->result_count);
    phi__session_fields_put(&w->out, PHI__SESSION_TURN_TIMES, turn);
    if (turn->request.len > 0 && phi__session_json_may_stay(w, turn->request)) {
        phi__json_write_key(&w->out, PHI__LIT("request_payload"));
        phi__buf_add_str(&w->out, turn->request);
    }
    phi__buf_char(&w->out, '}');
}

/* Whether the original's reader knows it. */
static bool phi__session_json_is_common(phi_str json) {
    static const char *const types[] = {
        "AgentStart",          "AgentEnd",         "TurnStart",         "TurnEnd",
        "MessageStart",        "MessageUpdate",    "MessageEnd",        "ToolExecutionStart",
        "ToolExecutionUpdate", "ToolExecutionEnd", "ProgressMessage",   "InputRejected",
        "ParallelLoopStart",   "ParallelLoopEnd",  "CompactionStarted", "CompactionEnded",
        "PrunApplied",         "TurnRequest",      "RevertApplied"};
    phi__json_found type, message;
    size_t i;
    if (phi__json_cursor_find(json, "type", &type) != PHI_OK || type.type != PHI_JSON_STRING)
        return false;
    for (i = 0; i < PHI__COUNT(types); i++)
        if (phi__str_is(type.raw, types[i])) break;
    if (i == PHI__COUNT(types)) return false;
    return !phi__str_is(type.raw, "TurnEnd") ||
           (phi__json_cursor_find(json, "message", &message) == PHI_OK &&
            message.type == PHI_JSON_OBJECT);
}

/* Whether an event that was recorded long ago, or by hand, would make the original's reader refuse
   the whole file: names in place of node ids, a protocol that it does not know. */
static bool phi__session_json_is_foreign(phi_str json) {
    phi__json_found type, at;
    if (phi__json_cursor_find(json, "type", &type) != PHI_OK || type.type != PHI_JSON_STRING)
        return false;
    if (phi__str_is(type.raw, "RevertApplied"))
        return phi__json_cursor_find(json, "target", &at) == PHI_OK && at.type == PHI_JSON_STRING;
    return phi__str_is(type.raw, "AgentStart") &&
           phi__json_cursor_find(json, "config_snapshot.api", &at) == PHI_OK &&
           at.type == PHI_JSON_STRING && phi__message_read_api(at.raw) == NULL;
}

/* The same event with plain messages; false: no memory. */
static bool phi__session_json_plain_event(phi__session_writer *w, phi_event *event) {
    phi_message *list;
    size_t i;
    if (event->message != NULL) event->message = phi__session_json_plain(w, event->message);
    if (event->message_count == 0 || event->messages == NULL) return true;
    list = (phi_message *)phi_arena_alloc(w->scratch, phi__mul(event->message_count, sizeof *list));
    if (list == NULL) return false;
    for (i = 0; i < event->message_count; i++) {
        const phi_message *plain = phi__session_json_plain(w, &event->messages[i]);
        if (plain == NULL) return false;
        list[i] = *plain;
    }
    event->messages = list;
    return true;
}

static void phi__session_json_event(phi__session_writer *w, phi_str json) {
    phi_arena_mark mark = phi_arena_save(w->scratch);
    phi_event event;
    phi_status status = PHI_OK;
    bool own = (w->flags & PHI_SESSION_OWN_EVENTS) == 0 && phi__session_json_may_be_own(json);
    if (own || phi__session_json_is_foreign(json)) {
        status = phi_event_from_json(json, w->scratch, &event, NULL);
        if (status == PHI_OK && own) {
            bool said = event.message != NULL;
            if (!phi__session_json_plain_event(w, &event) || (said && event.message == NULL))
                status = PHI_NO_MEMORY;
        }
        if (status == PHI_OK) status = phi_event_to_json(&event, w->scratch, &json);
    }
    if (status == PHI_NO_MEMORY) w->out.failed = true;
    phi__buf_add_str(&w->out, json);
    phi_arena_reset(w->scratch, mark);
}

static void phi__session_json_events(phi__session_writer *w, const phi_loop_record *loop) {
    bool all = (w->flags & PHI_SESSION_OWN_EVENTS) != 0;
    size_t i;
    phi__records_raw(&w->out, "events", "[");
    for (i = 0; i < loop->event_count; i++) {
        phi_str json = loop->events[i].json;
        phi__json_found type;
        if (!all && !phi__session_json_is_common(json)) continue;
        if (phi__json_cursor_find(json, "type", &type) == PHI_OK &&
            phi__str_is(type.raw, "TurnRequest") && !phi__session_json_may_stay(w, json))
            continue;
        phi__json_write_comma(&w->out);
        phi__buf_char(&w->out, '{');
        phi__records_u64(&w->out, "sequence", loop->events[i].sequence);
        phi__json_write_key(&w->out, PHI__LIT("event"));
        phi__session_json_event(w, json);
        phi__buf_char(&w->out, '}');
    }
    phi__buf_char(&w->out, ']');
}

static void phi__session_json_spawned(phi__session_writer *w, const phi_loop_record *loop) {
    size_t i;
    phi__records_raw(&w->out, "child_loop_refs", "[");
    for (i = 0; i < loop->spawned_count; i++) {
        const phi_child_ref *ref = &loop->spawned[i];
        phi__json_write_comma(&w->out);
        phi__buf_char(&w->out, '{');
        phi__session_fields_put(&w->out, PHI__SESSION_CHILD, ref);
        phi__buf_char(&w->out, '}');
    }
    phi__buf_char(&w->out, ']');
}

static void phi__session_json_ids(phi__session_writer *w, const char *key, const phi_str *ids,
                                  size_t count) {
    size_t i;
    phi__records_raw(&w->out, key, "[");
    for (i = 0; i < count; i++) {
        phi__json_write_comma(&w->out);
        phi__json_write_str(&w->out, ids[i]);
    }
    phi__buf_char(&w->out, ']');
}

static void phi__session_json_group(phi__session_writer *w, const phi_loop_group *group) {
    if (group == NULL) {
        phi__records_raw(&w->out, "parallel_group", "null");
        return;
    }
    phi__records_raw(&w->out, "parallel_group", "{");
    phi__session_json_ids(w, "all_loop_ids", group->loop_ids, group->loop_count);
    phi__session_fields_put(&w->out, PHI__SESSION_GROUP, group);
    phi__json_write_key(&w->out, PHI__LIT("evaluation_usage"));
    phi__message_put_usage_value(&w->out, &group->evaluation_usage);
    phi__records_bool(&w->out, "is_selected", group->is_selected);
    phi__buf_char(&w->out, '}');
}

static void phi__session_json_range(phi__session_writer *w, const char *key,
                                    const phi_block_section *section) {
    phi__records_raw(&w->out, key, "{");
    phi__session_fields_put(&w->out, PHI__SESSION_RANGE, section);
    phi__buf_char(&w->out, '}');
}

static void phi__session_json_section(phi__session_writer *w, const char *key,
                                      const phi_block_section *section) {
    if (!section->present) return;
    phi__records_raw(&w->out, key, "{");
    phi__session_json_range(w, "range", section);
    phi__session_json_messages(w, "messages", section->messages, section->message_count);
    phi__buf_char(&w->out, '}');
}

/* Mixed spelling is the format's. */
static void phi__session_json_block(phi__session_writer *w, const phi_compaction_block *block) {
    if (block == NULL) return;
    phi__records_raw(&w->out, "compaction_block", "{");
    if (block->keep_first.present) phi__session_json_range(w, "keep_first", &block->keep_first);
    phi__session_json_section(w, "keep_recent", &block->keep_recent);
    phi__session_json_section(w, "keep_compacted", &block->keep_compacted);
    phi__records_time(&w->out, "createdAt", block->created_ms);
    phi__buf_char(&w->out, '}');
}

static void phi__session_json_turns(phi__session_writer *w, const phi_loop_record *loop) {
    size_t i;
    phi__records_raw(&w->out, "turns", "[");
    for (i = 0; i < loop->turn_count; i++)
        if (loop->turns[i].output != NULL || (w->flags & PHI_SESSION_OWN_EVENTS) != 0)
            phi__session_json_turn(w, &loop->turns[i]);
    phi__buf_char(&w->out, ']');
}

static void phi__session_json_loop(phi__session_writer *w, const phi_loop_record *loop) {
    phi__json_write_comma(&w->out);
    phi__buf_char(&w->out, '{');
    phi__session_fields_put(&w->out, PHI__SESSION_LOOP, loop);
    phi__session_json_continuation(w, loop);
    phi__records_time(&w->out, "started_at", loop->started_ms);
    if (loop->has_ended)
        phi__records_time(&w->out, "ended_at", loop->ended_ms);
    else
        phi__records_raw(&w->out, "ended_at", "null");
    phi__records_str(&w->out, "status", phi_str_of(phi__session_json_status(loop->status)));
    if (loop->rejection.at != NULL)
        phi__records_str(&w->out, "rejection", loop->rejection);
    else
        phi__records_raw(&w->out, "rejection", "null");
    phi__session_json_config(w, loop->config);
    phi__session_json_messages(w, "messages", loop->messages, loop->message_count);
    phi__session_json_turns(w, loop);
    phi__message_put_usage(&w->out, &loop->usage);
    if (!phi__message_put_json(&w->out, "metadata", loop->metadata, true, w->scratch))
        phi__records_option(&w->out, "metadata", loop->metadata);
    phi__session_json_events(w, loop);
    phi__session_json_ids(w, "children_loop_ids", loop->children, loop->child_count);
    phi__session_json_spawned(w, loop);
    phi__session_json_group(w, loop->group);
    phi__session_json_block(w, loop->block);
    phi__buf_char(&w->out, '}');
}

/* ---- the session ---- */

static void phi__session_json_formation(phi__session_writer *w, const phi_formation *formation) {
    static const char *const words[] = {"FirstLoop", "Explicit", "InactivityTimeout"};
    size_t kind = (size_t)formation->kind < PHI__COUNT(words) ? (size_t)formation->kind : 0;
    phi__records_raw(&w->out, "formation", "{");
    phi__records_raw(&w->out, words[kind], "{");
    if (formation->kind == PHI_FORMATION_INACTIVITY) {
        phi__records_u64(&w->out, "threshold_secs", formation->threshold_s);
        phi__records_option(&w->out, "previous_session_id", formation->previous_session_id);
    }
    phi__records_time(&w->out, "timestamp", formation->at_ms);
    phi__buf_text(&w->out, "}}");
}

static void phi__session_json_parent(phi__session_writer *w, const phi_spawn_ref *parent) {
    if (parent == NULL) {
        phi__records_raw(&w->out, "parent_spawn_ref", "null");
        return;
    }
    phi__records_raw(&w->out, "parent_spawn_ref", "{");
    phi__session_fields_put(&w->out, PHI__SESSION_SPAWN, parent);
    phi__buf_char(&w->out, '}');
}

static void phi__session_json_whole(phi__session_writer *w, const phi_session *session) {
    size_t i;
    phi__buf_char(&w->out, '{');
    phi__session_fields_put(&w->out, PHI__SESSION_SESSION, session);
    phi__session_json_formation(w, &session->formation);
    phi__session_json_parent(w, session->parent);
    phi__records_str(&w->out, "scope",
                     session->scope == PHI_SESSION_PERSISTENT ? PHI__LIT("persistent")
                                                              : PHI__LIT("ephemeral"));
    phi__records_raw(&w->out, "loops", "[");
    for (i = 0; i < session->loop_count; i++) phi__session_json_loop(w, session->loops[i]);
    phi__buf_text(&w->out, "]}");
}

/* ---- indenting ---- */

/* With `out` NULL it only counts. */
typedef struct phi__session_indent {
    char *out;
    size_t len, depth;
} phi__session_indent;

static void phi__session_json_indent_char(phi__session_indent *to, char c) {
    if (to->out != NULL) to->out[to->len] = c;
    to->len++;
}

static void phi__session_json_indent_line(phi__session_indent *to) {
    size_t i;
    phi__session_json_indent_char(to, '\n');
    for (i = 0; i < 2 * to->depth; i++) phi__session_json_indent_char(to, ' ');
}

/* JSON without line breaks of its own, as it was made above. */
static size_t phi__session_json_indent_text(phi_str json, char *out) {
    phi__session_indent to;
    size_t i;
    bool in_string = false;
    memset(&to, 0, sizeof to);
    to.out = out;
    for (i = 0; i < json.len; i++) {
        char c = json.at[i], next = i + 1 < json.len ? json.at[i + 1] : '\0';
        bool empty = (c == '{' && next == '}') || (c == '[' && next == ']');
        bool closes = !in_string && (c == '}' || c == ']');
        if (closes) {
            to.depth--;
            phi__session_json_indent_line(&to);
        }
        phi__session_json_indent_char(&to, c);
        if (c == '"') in_string = !in_string;
        if (in_string) {
            if (c == '\\') phi__session_json_indent_char(&to, json.at[++i]);
        } else if (empty)
            phi__session_json_indent_char(&to, json.at[++i]);
        else if (c == '{' || c == '[') {
            to.depth++;
            phi__session_json_indent_line(&to);
        } else if (c == ',')
            phi__session_json_indent_line(&to);
        else if (c == ':')
            phi__session_json_indent_char(&to, ' ');
    }
    return to.len;
}

/* ---- public ---- */

PHI_API phi_status phi_session_to_json(const phi_session *session, uint32_t flags, phi_arena *arena,
                                       phi_str *out) {
    phi__session_writer w;
    size_t len;
    char *text = NULL;
    if (session == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi__buf_init(&w.out, arena->memory);
    w.scratch = arena;
    w.flags = flags;
    phi__session_json_whole(&w, session);
    if (!w.out.failed) {
        len = phi__session_json_indent_text(phi__buf_str(&w.out), NULL);
        text = phi__arena_bytes(arena, phi__add(len, 1));
    }
    if (text != NULL) {
        len = phi__session_json_indent_text(phi__buf_str(&w.out), text);
        text[len] = '\0';
        *out = phi__str(text, len);
    }
    phi__buf_free(&w.out);
    return text != NULL ? PHI_OK : PHI_NO_MEMORY;
}
