/* entry_json.c - writes entries: a message in the interchange format, and beside it the fields
   which that lacks. */
#include "persist/entry_get_in.h"

#include "base/utf8_in.h"
#include "model/message_in.h"
#include "text/records_in.h"

/* ---- messages ---- */

/* How a message's text that should be JSON is written and read where it is none. */
typedef enum phi__entry_text {
    PHI__ENTRY_ARGUMENTS, /* no JSON: a string, mostly the same; nothing: "{}" */
    PHI__ENTRY_REPLAY,    /* no JSON: nothing */
    PHI__ENTRY_DATA       /* no JSON, or nothing: "null" */
} phi__entry_text;

/* Whether arguments that are no value but a string come back as something else. */
static bool phi__entry_json_string_changes(phi__buf *out, phi_str text, phi_str sound,
                                           phi_arena *scratch) {
    phi_arena_mark mark = phi_arena_save(scratch);
    phi__buf made;
    phi_json *root = NULL;
    phi_str back = {NULL, 0};
    bool read;
    phi__buf_init(&made, out->memory);
    phi__message_put_value(&made, text, scratch);
    read = !made.failed &&
           phi_json_parse(scratch, phi__buf_str(&made), 0, &root, NULL) != PHI_NO_MEMORY &&
           phi__message_read_get_value(root, scratch, &back);
    if (!read) out->failed = true;
    read = phi_str_equal(back, sound);
    phi__buf_free(&made);
    phi_arena_reset(scratch, mark);
    return !read;
}

/* Whether it comes back as something else: it is written anew on the way, without blanks. */
static bool phi__entry_json_changes(phi__buf *out, phi_str text, phi__entry_text what,
                                    phi_arena *scratch) {
    phi__buf made, sound;
    bool json, changes;
    if (text.len == 0) return what != PHI__ENTRY_REPLAY;
    phi__buf_init(&made, out->memory);
    phi__buf_init(&sound, out->memory);
    phi__utf8_repair(&sound, text); /* as it is read, if it is written beside */
    json = phi__message_put_json(&made, NULL, text, what != PHI__ENTRY_ARGUMENTS, scratch);
    changes = json ? !phi_str_equal(phi__buf_str(&made), phi__buf_str(&sound))
                   : what != PHI__ENTRY_ARGUMENTS ||
                         phi__entry_json_string_changes(out, text, phi__buf_str(&sound), scratch);
    if (made.failed || sound.failed) out->failed = true;
    phi__buf_free(&made);
    phi__buf_free(&sound);
    return changes;
}

/* {"block":0,"arguments":"..."}: a block's texts as they are, where the message changes them. */
static void phi__entry_json_exact(phi__buf *out, const phi_message *message, phi_arena *scratch) {
    bool any = false;
    size_t i;
    for (i = 0; i < message->content_count; i++) {
        const phi_content *c = &message->content[i];
        bool arguments = c->kind == PHI_CONTENT_TOOL_CALL &&
                         phi__entry_json_changes(out, c->arguments, PHI__ENTRY_ARGUMENTS, scratch);
        bool replay = c->kind != PHI_CONTENT_IMAGE && c->kind != PHI_CONTENT_OPAQUE &&
                      phi__entry_json_changes(out, c->replay, PHI__ENTRY_REPLAY, scratch);
        if (!arguments && !replay) continue;
        if (!any) {
            phi__records_raw(out, "exact", "[");
            any = true;
        }
        phi__json_write_comma(out);
        phi__buf_char(out, '{');
        phi__records_u64(out, "block", i);
        if (arguments) phi__records_str(out, "arguments", c->arguments);
        if (replay) phi__records_str(out, "replay", c->replay);
        phi__buf_char(out, '}');
    }
    if (any) phi__buf_char(out, ']');
}

/* The interchange format gives an extension neither time nor place. */
static void phi__entry_json_extension(phi__buf *out, const phi_message *message,
                                      phi_arena *scratch) {
    if (message->timestamp_ms != 0) phi__records_i64(out, "timestamp", message->timestamp_ms);
    phi__records_some(out, "loop", message->loop_id);
    if (message->content_count > 0) phi__message_put_blocks(out, message, scratch);
    if (phi__entry_json_changes(out, message->extension_data, PHI__ENTRY_DATA, scratch))
        phi__records_str(out, "data", message->extension_data);
}

/* The members "message" and, where there is something, "more". */
PHI__FN void phi__entry_json_message(phi__buf *out, const phi_message *message,
                                     phi_arena *scratch) {
    bool extension = message->role == PHI_ROLE_EXTENSION;
    size_t before, empty;
    phi__json_write_key(out, PHI__LIT("message"));
    phi__message_put(out, message, scratch);
    before = out->len;
    phi__records_raw(out, "more", "{");
    empty = out->len;
    phi__records_true(out, "unstopped",
                      message->role == PHI_ROLE_ASSISTANT &&
                          message->stop_reason == PHI_STOP_REASON_NONE);
    phi__records_some(out, "raw_stop_reason", message->raw_stop_reason);
    phi__records_some(out, "details", message->details);
    if (message->turn_index != 0 && (extension || message->loop_id.len == 0))
        phi__records_u64(out, "turn", message->turn_index);
    if (extension) phi__entry_json_extension(out, message, scratch);
    phi__entry_json_exact(out, message, scratch);
    phi__buf_char(out, '}');
    if (!out->failed && out->len == empty + 1) out->len = before;
}

/* ---- what else entries hold ---- */

static void phi__entry_json_span(phi__buf *out, const phi_span *span, phi_arena *scratch) {
    size_t i;
    phi__json_write_comma(out);
    phi__buf_char(out, '{');
    phi__records_u64(out, "from", span->from);
    phi__records_u64(out, "to", span->to);
    phi__records_true(out, "summary", span->summary);
    phi__records_true(out, "lines", span->lines);
    phi__records_raw(out, "messages", "[");
    for (i = 0; i < span->message_count; i++) {
        phi__json_write_comma(out);
        phi__buf_char(out, '{');
        phi__entry_json_message(out, &span->messages[i], scratch);
        phi__buf_char(out, '}');
    }
    phi__buf_text(out, "]}");
}

/* An empty one is one. */
static void phi__entry_json_text(phi__buf *out, const char *key, const char *value) {
    if (value != NULL) phi__records_str(out, key, phi_str_of(value));
}

static void phi__entry_json_written(phi__buf *out, const phi_written *written) {
    phi__records_raw(out, "written", "{");
    phi__entry_json_text(out, "model", written->model);
    phi__message_put_usage(out, &written->usage);
    phi__records_double(out, "cost", written->cost);
    phi__buf_char(out, '}');
}

PHI__FN void phi__entry_json_rewrite(phi__buf *out, const phi_rewrite *rewrite,
                                     phi_arena *scratch) {
    size_t i;
    phi__entry_json_text(out, "op_id", rewrite->op_id);
    phi__records_str(out, "reason", phi_str_of(phi__entry_reason_word(rewrite->reason)));
    if (rewrite->has_base || rewrite->base_seq != 0)
        phi__records_u64(out, "base_seq", rewrite->base_seq);
    phi__entry_json_text(out, "revoke", rewrite->revoke);
    phi__entry_json_text(out, "switch_to", rewrite->switch_to);
    phi__entry_json_text(out, "meta", rewrite->meta);
    if (rewrite->written != NULL) phi__entry_json_written(out, rewrite->written);
    phi__records_raw(out, "spans", "[");
    for (i = 0; i < rewrite->span_count; i++)
        phi__entry_json_span(out, &rewrite->spans[i], scratch);
    phi__buf_char(out, ']');
}

static void phi__entry_json_lane(phi__buf *out, const phi_thread *thread, const phi__entry *entry) {
    const phi__lane *lane = &thread->lanes.at[entry->lane];
    if (lane->parent == PHI__LANE_NONE) return;
    phi__records_str(out, "parent", phi__lane_name(thread, lane->parent));
    phi__records_u64(out, "fork_seq", lane->fork_seq);
}

static void phi__entry_json_own(phi__buf *out, const phi_thread *thread, const phi__entry *entry,
                                phi_arena *scratch) {
    switch (entry->kind) {
    case PHI_ENTRY_MESSAGE: phi__entry_json_message(out, entry->message, scratch); break;
    case PHI_ENTRY_REWRITE: phi__entry_json_rewrite(out, &entry->of.op->rewrite, scratch); break;
    case PHI_ENTRY_LANE: phi__entry_json_lane(out, thread, entry); break;
    case PHI_ENTRY_SWITCH: break;
    case PHI_ENTRY_LOOP_START:
    case PHI_ENTRY_LOOP_END:
    case PHI_ENTRY_TURN_START:
    case PHI_ENTRY_TURN_END:
    case PHI_ENTRY_SPAWN:
    case PHI_ENTRY_FORGOTTEN:
    case PHI_ENTRY_NOTE: phi__entry_parts_put(out, entry); break;
    }
}

PHI__FN void phi__entry_json(phi__buf *out, const phi_thread *thread, const phi__entry *entry,
                             phi_arena *scratch) {
    uint32_t lane = entry->kind == PHI_ENTRY_REWRITE ? entry->of.op->lane : entry->lane;
    phi__buf_text(out, "{\"seq\":");
    phi__json_number_put_u64(out, entry->seq);
    phi__records_str(out, "kind", phi_str_of(phi__entry_kind_word((int)entry->kind)));
    phi__records_i64(out, "at", entry->at_ms);
    if (lane != 0) phi__records_str(out, "lane", phi__lane_name(thread, lane));
    phi__records_some(out, "loop", entry->loop_id);
    if (entry->turn_index != 0) phi__records_u64(out, "turn", entry->turn_index);
    phi__records_true(out, "durable", (entry->flags & PHI_ENTRY_DURABLE) != 0);
    phi__records_true(out, "synthetic", (entry->flags & PHI_ITEM_SYNTHETIC) != 0);
    phi__records_true(out, "summary", (entry->flags & PHI_ITEM_SUMMARY) != 0);
    phi__records_true(out, "lines", (entry->flags & PHI_ITEM_LINES) != 0);
    phi__records_true(out, "unmeasured", (entry->flags & PHI_ITEM_UNMEASURED) != 0);
    phi__records_true(out, "grafted", (entry->flags & PHI_ENTRY_GRAFTED) != 0);
    phi__entry_json_own(out, thread, entry, scratch);
    phi__buf_char(out, '}');
}
