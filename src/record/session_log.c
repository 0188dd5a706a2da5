/* session_log.c - makes a session from a thread's log: loops, turns, usage, spawned runs. */
#include "model/event_parts.h"
#include "model/model_in.h"
#include "record/session_context.h"
#include "record/session_in.h"
#include "text/text_in.h"

/* Reads the loop ids of a note into the session's arena. False: no memory. */
static bool phi__session_groups_ids(phi__session_box *box, const phi_json *node,
                                    phi_loop_group *to) {
    phi_json_iter each = phi_json_each(node);
    size_t count = phi_json_count(node), i = 0;
    const phi_json *id;
    phi_str *ids =
        (phi_str *)phi__arena_zero(&box->arena, phi__mul(phi__max(count, 1), sizeof *ids));
    if (ids == NULL) return false;
    while ((id = phi_json_next(&each)) != NULL)
        if (!phi__session_keep(box, phi_json_str(id, ""), &ids[i++])) return false;
    to->loop_ids = ids;
    to->loop_count = count;
    return true;
}

/* Gives each loop its own copy of the group. The loop ids are shared. */
static bool phi__session_groups_give(phi__session_box *box, const phi_loop_group *group) {
    for (size_t i = 0; i < group->loop_count; i++) {
        phi__loop_box *loop = phi__loopbox_find(box, group->loop_ids[i]);
        if (loop == NULL) continue;
        phi_loop_group *own = (phi_loop_group *)phi__arena_zero(&box->arena, sizeof *own);
        if (own == NULL) return false;
        *own = *group;
        own->is_selected = phi_str_equal(loop->pub.loop_id, group->selected_loop_id);
        loop->pub.group = own;
    }
    return true;
}

/* Reads a PHI_NOTE_PARALLEL note and gives its loops their group. False: no memory. */
static bool phi__session_groups_note(phi__session_box *box, phi_str note) {
    phi_arena scratch;
    phi_json *root = NULL;
    phi_loop_group group = PHI_ZERO;
    phi_arena_init(&scratch, &box->memory, 0);
    bool done = phi_json_parse(&scratch, note, 0, &root, NULL) != PHI_NO_MEMORY;
    phi_str selected = phi__records_get_str(root, "selected_loop_id");
    if (done && phi_json_is(phi_json_get(root, "loop_ids"), PHI_JSON_ARRAY)) {
        group.selected_index = phi__records_get_size(root, "selected_index");
        group.evaluation_usage =
            phi__message_read_get_usage(phi_json_get(root, "evaluation_usage"));
        done = phi__session_groups_ids(box, phi_json_get(root, "loop_ids"), &group) &&
               phi__session_keep(box, selected, &group.selected_loop_id) &&
               phi__session_groups_give(box, &group);
    }
    phi_arena_free(&scratch);
    return done;
}

/* ---- blocks from a thread's compactions ---- */

/* Each loop that a compaction has changed gets a block. The block has the loop's messages in view,
   even if other rewrites changed them too. Each message of the log belongs to the loop that it
   names. Each item of the view is then assigned to one of these loops. */

enum {
    PHI__SESSION_BLOCKS_PROJECTED = 1 << 0, /* in view unchanged */
    PHI__SESSION_BLOCKS_REPLACED = 1 << 1,  /* in view as a shortened tool result */
    PHI__SESSION_BLOCKS_COMPACTED = 1 << 2  /* in a compacted span */
};

/* A message of a loop in the active lane. */
typedef struct phi__blocks_said {
    uint64_t seq;
    size_t loop; /* the loop's index in the session */
    uint32_t flags;
} phi__blocks_said;

/* A lane: the active lane or one of its parents. Entries up to `upto` belong to the active lane. */
typedef struct phi__blocks_lane {
    phi_str name;
    uint64_t upto;
} phi__blocks_lane;

/* A compaction. `rewrite` is NULL if the compaction was revoked. */
typedef struct phi__blocks_op {
    const phi_rewrite *rewrite;
    int64_t at_ms;
} phi__blocks_op;

/* The messages and items of one loop. */
typedef struct phi__blocks_loop {
    size_t said, said_count; /* its consecutive messages: index of the first, and count */
    size_t item, item_count; /* its consecutive items in the view: index of the first, and count */
    size_t messages;         /* messages of the loop in the log, in all lanes */
    bool compacted, broken;  /* broken: its messages are not consecutive */
    int64_t at_ms;           /* time of its latest compaction */
    phi_compaction_block *block;
} phi__blocks_loop;

typedef struct phi__session_blocks {
    const phi_thread *thread;
    phi__session_box *box;
    phi_arena scratch;
    phi__blocks_lane *lanes;
    size_t lane_count;
    phi__blocks_op *ops;
    size_t op_count;
    phi__blocks_said *said;
    size_t said_count;
    phi__blocks_loop *loops;
    const phi_view_item *items;
    size_t *owners; /* the loop whose block has the item; SIZE_MAX if none */
    size_t item_count;
} phi__session_blocks;

static bool phi__blocks_is_here(const phi__session_blocks *s, const phi_entry *entry) {
    for (size_t i = 0; i < s->lane_count; i++)
        if (phi_str_equal(s->lanes[i].name, entry->lane)) return entry->seq <= s->lanes[i].upto;
    return false;
}

/* Lists the active lane and its parents. In the log, a lane's parent begins before the lane. */
static phi_status phi__blocks_find_lanes(phi__session_blocks *s, uint64_t count) {
    phi_thread_info info = phi_thread_get_info(s->thread);
    size_t most = phi__max(info.lane_count, 1);
    phi_entry entry;
    phi_status status = PHI_OK;
    s->lanes = (phi__blocks_lane *)phi__arena_zero(&s->scratch, phi__mul(most, sizeof *s->lanes));
    if (s->lanes == NULL) return PHI_NO_MEMORY;
    s->lanes[0].name = info.lane;
    s->lanes[0].upto = UINT64_MAX;
    s->lane_count = 1;
    while (count-- > info.first && s->lane_count < most) {
        phi__blocks_lane *last = &s->lanes[s->lane_count - 1];
        status = phi_thread_entry(s->thread, count, &entry);
        if (status != PHI_OK) return status;
        if (entry.kind != PHI_ENTRY_LANE || !phi_str_equal(entry.lane, last->name)) continue;
        if (entry.parent_lane.len == 0) break;
        s->lanes[s->lane_count].name = entry.parent_lane;
        s->lanes[s->lane_count++].upto = last->upto < entry.fork_seq ? last->upto : entry.fork_seq;
    }
    return status;
}

/* ---- reading the log's messages ---- */

static void phi__blocks_op_of(phi__session_blocks *s, const phi_entry *entry) {
    const phi_rewrite *rewrite = entry->rewrite;
    size_t i = rewrite->revoke != NULL ? s->op_count : 0;
    while (i-- > 0)
        if (s->ops[i].rewrite != NULL && strcmp(s->ops[i].rewrite->op_id, rewrite->revoke) == 0) {
            s->ops[i].rewrite = NULL;
            break;
        }
    if (rewrite->revoke != NULL || rewrite->reason != PHI_REWRITE_COMPACTION) return;
    s->ops[s->op_count].rewrite = rewrite;
    s->ops[s->op_count++].at_ms = entry->at_ms;
}

static void phi__blocks_say(phi__session_blocks *s, const phi_entry *entry) {
    size_t at = s->said_count > 0 ? s->said[s->said_count - 1].loop : SIZE_MAX;
    if (at == SIZE_MAX || !phi_str_equal(s->box->pub.loops[at]->loop_id, entry->loop_id))
        at = entry->loop_id.len > 0 ? phi__session_place(&s->box->pub, entry->loop_id) : SIZE_MAX;
    if (at == SIZE_MAX) return;
    phi__blocks_loop *loop = &s->loops[at];
    loop->messages++;
    if (!phi__blocks_is_here(s, entry)) return;
    if (loop->said_count == 0)
        loop->said = s->said_count;
    else if (loop->said + loop->said_count != s->said_count)
        loop->broken = true;
    loop->said_count++;
    s->said[s->said_count].seq = entry->seq;
    s->said[s->said_count++].loop = at;
}

static phi_status phi__blocks_read(phi__session_blocks *s, uint64_t count) {
    uint64_t messages = 0, ops = 0;
    phi_entry entry;
    phi_status status = PHI_OK;
    for (uint64_t seq = phi_thread_get_info(s->thread).first; seq < count && status == PHI_OK;
         seq++) {
        status = phi_thread_entry(s->thread, seq, &entry);
        messages += status == PHI_OK && entry.kind == PHI_ENTRY_MESSAGE;
        ops += status == PHI_OK && entry.kind == PHI_ENTRY_REWRITE;
    }
    if (status != PHI_OK || ops == 0) return status;
    if (messages >= SIZE_MAX || ops >= SIZE_MAX) return PHI_NO_MEMORY;
    s->said = (phi__blocks_said *)phi__arena_zero(&s->scratch,
                                                  phi__mul((size_t)messages + 1, sizeof *s->said));
    s->ops = (phi__blocks_op *)phi__arena_zero(&s->scratch, phi__mul((size_t)ops, sizeof *s->ops));
    if (s->said == NULL || s->ops == NULL) return PHI_NO_MEMORY;
    for (uint64_t seq = phi_thread_get_info(s->thread).first; seq < count && status == PHI_OK;
         seq++) {
        status = phi_thread_entry(s->thread, seq, &entry);
        if (status != PHI_OK) break;
        if (entry.kind == PHI_ENTRY_MESSAGE) phi__blocks_say(s, &entry);
        if (entry.kind == PHI_ENTRY_REWRITE && phi__blocks_is_here(s, &entry))
            phi__blocks_op_of(s, &entry);
    }
    return status;
}

/* Returns the first message at or after `seq`. */
static size_t phi__blocks_at(const phi__session_blocks *s, uint64_t seq) {
    size_t low = 0, high = s->said_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->said[mid].seq >= seq)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

static bool phi__blocks_touch(phi__session_blocks *s) {
    bool any = false;
    size_t j, k;
    for (size_t i = 0; i < s->op_count; i++)
        for (j = 0; s->ops[i].rewrite != NULL && j < s->ops[i].rewrite->span_count; j++) {
            const phi_span *span = &s->ops[i].rewrite->spans[j];
            for (k = phi__blocks_at(s, span->from); k < s->said_count && s->said[k].seq <= span->to;
                 k++) {
                phi__blocks_loop *loop = &s->loops[s->said[k].loop];
                s->said[k].flags |= PHI__SESSION_BLOCKS_COMPACTED;
                loop->compacted = any = true;
                if (s->ops[i].at_ms > loop->at_ms) loop->at_ms = s->ops[i].at_ms;
            }
        }
    return any;
}

/* ---- assigning the view's items to loops ---- */

/* Returns the end of the items that replace the same entries. */
static size_t phi__blocks_same(const phi__session_blocks *s, size_t at) {
    size_t end = at + 1;
    while (end < s->item_count && s->items[end].from == s->items[at].from &&
           s->items[end].to == s->items[at].to)
        end++;
    return end;
}

/* Returns the loop whose block gets the items from `at` to before `end`. This is the loop of the
   last entry that the items replace. But if a later item replaces some of these entries too, it is
   the loop of the first entry. SIZE_MAX if there is none. */
static size_t phi__blocks_owner(const phi__session_blocks *s, size_t at, size_t end) {
    const phi_view_item *item = &s->items[at];
    size_t first = phi__blocks_at(s, item->from), last = first;
    if (first == s->said_count || s->said[first].seq > item->to) return SIZE_MAX;
    if (end == s->item_count || s->items[end].from > item->to)
        while (last + 1 < s->said_count && s->said[last + 1].seq <= item->to) last++;
    return s->said[last].loop;
}

static void phi__blocks_mark(phi__session_blocks *s, const phi_view_item *item) {
    size_t at = phi__blocks_at(s, item->from);
    if (item->from != item->to || at == s->said_count || s->said[at].seq != item->from) return;
    if ((item->flags & PHI_ITEM_SYNTHETIC) == 0)
        s->said[at].flags |= PHI__SESSION_BLOCKS_PROJECTED;
    else if (item->message->role == PHI_ROLE_TOOL_RESULT)
        s->said[at].flags |= PHI__SESSION_BLOCKS_REPLACED;
}

static bool phi__blocks_share_out(phi__session_blocks *s) {
    size_t end;
    s->owners = (size_t *)phi_arena_alloc(&s->scratch,
                                          phi__mul(phi__max(s->item_count, 1), sizeof *s->owners));
    if (s->owners == NULL) return false;
    for (size_t at = 0; at < s->item_count; at = end) {
        end = phi__blocks_same(s, at);
        size_t owner = phi__blocks_owner(s, at, end);
        for (size_t i = at; i < end; i++) s->owners[i] = owner;
        if (owner == SIZE_MAX) continue;
        phi__blocks_mark(s, &s->items[at]);
        phi__blocks_loop *loop = &s->loops[owner];
        if (loop->item_count == 0) loop->item = at;
        loop->item_count = end - loop->item;
    }
    return true;
}

/* ---- making blocks ---- */

/* Sets a section to the loop's items for the entries from `from` to `to`, both included. */
static phi_status phi__blocks_keep(phi__session_blocks *s, size_t at, uint64_t from, uint64_t to,
                                   phi_block_section *out) {
    const phi__blocks_loop *loop = &s->loops[at];
    phi_message *list = (phi_message *)phi_arena_alloc(
        &s->scratch, phi__mul(phi__max(loop->item_count, 1), sizeof *list));
    size_t n = 0;
    if (list == NULL) return PHI_NO_MEMORY;
    for (size_t i = loop->item; i < loop->item + loop->item_count; i++)
        if (s->items[i].from >= from && s->items[i].from <= to && s->owners[i] == at)
            list[n++] = *s->items[i].message;
    out->present = true;
    out->message_count = n;
    return phi__session_keep_messages(s->box, list, n, &out->messages) ? PHI_OK : PHI_NO_MEMORY;
}

static size_t phi__blocks_turn_end(const phi_loop_record *loop, size_t at) {
    do at++;
    while (at < loop->message_count &&
           phi__way_same_turn(&loop->messages[at - 1], &loop->messages[at]));
    return at;
}

/* Counts the loop's messages that are in view unchanged, before its first changed item. */
static size_t phi__blocks_plain(const phi__session_blocks *s, size_t at) {
    const phi__blocks_loop *loop = &s->loops[at];
    size_t n = 0;
    for (size_t i = loop->item; i < loop->item + loop->item_count && n < loop->said_count; i++) {
        if (s->owners[i] != at) continue;
        if ((s->items[i].flags & PHI_ITEM_SYNTHETIC) != 0 ||
            s->items[i].from != s->said[loop->said + n].seq)
            break;
        n++;
    }
    return n;
}

/* Counts the whole turns among the messages that phi__blocks_plain counts. Sets *end to the message
   after these turns. */
static size_t phi__blocks_lead(const phi__session_blocks *s, size_t at, size_t *end) {
    const phi_loop_record *record = s->box->pub.loops[at];
    size_t plain = phi__blocks_plain(s, at), turns = 0, next;
    for (*end = 0; *end < record->message_count; *end = next, turns++) {
        next = phi__blocks_turn_end(record, *end);
        if (next > plain) break;
    }
    return turns;
}

/* Returns the number of turns up to the last one that lost a message to a compaction. Sets *begin
   to the message after these turns, and *turns to the number of all turns. */
static size_t phi__blocks_tail(const phi__session_blocks *s, const phi_loop_record *record,
                               const phi__blocks_loop *loop, size_t *begin, size_t *turns) {
    size_t n = 0, tail = 0, next, i;
    *begin = 0;
    for (size_t at = 0; at < record->message_count; at = next) {
        next = phi__blocks_turn_end(record, at);
        n++;
        for (i = at; i < next; i++) {
            uint32_t flags = s->said[loop->said + i].flags;
            if ((flags & PHI__SESSION_BLOCKS_COMPACTED) == 0 ||
                (flags & (PHI__SESSION_BLOCKS_PROJECTED | PHI__SESSION_BLOCKS_REPLACED)) != 0)
                continue;
            tail = n;
            *begin = next;
            break;
        }
    }
    *turns = n;
    return tail;
}

static phi_status phi__blocks_current(phi__session_blocks *s, size_t at,
                                      phi_compaction_block *block) {
    const phi_loop_record *record = s->box->pub.loops[at];
    const phi__blocks_loop *loop = &s->loops[at];
    const phi__blocks_said *said = &s->said[loop->said];
    size_t first, turns, lead = phi__blocks_lead(s, at, &first), begin;
    size_t tail = phi__blocks_tail(s, record, loop, &begin, &turns);
    uint64_t from = first < loop->said_count ? said[first].seq : UINT64_MAX, to = UINT64_MAX;
    phi_status status = PHI_OK;
    if (tail < lead) {
        tail = lead;
        begin = first;
    }
    if (begin < loop->said_count) to = said[begin].seq - 1;
    if (lead > 0) phi__way_ends(&block->keep_first, 0, lead);
    if (lead < tail) {
        phi__way_ends(&block->keep_compacted, lead, tail);
        status = phi__blocks_keep(s, at, lead > 0 ? from : 0, to, &block->keep_compacted);
    }
    if (status != PHI_OK || tail == turns) return status;
    phi__way_ends(&block->keep_recent, tail, turns);
    return phi__blocks_keep(s, at, to + 1, UINT64_MAX, &block->keep_recent);
}

/* True if a block can describe the loop: the log and the session have the same messages of the
   loop, and these are consecutive in the active lane. */
static bool phi__blocks_fits(const phi__session_blocks *s, size_t at) {
    const phi__blocks_loop *loop = &s->loops[at];
    return !loop->broken && loop->said_count > 0 &&
           loop->messages == s->box->pub.loops[at]->message_count;
}

static phi_status phi__blocks_make(phi__session_blocks *s, size_t at, bool is_current,
                                   int64_t at_ms) {
    phi__blocks_loop *loop = &s->loops[at];
    loop->block = (phi_compaction_block *)phi__arena_zero(&s->box->arena, sizeof *loop->block);
    if (loop->block == NULL) return PHI_NO_MEMORY;
    loop->block->created_ms = loop->compacted ? loop->at_ms : at_ms;
    if (is_current && loop->messages == loop->said_count)
        return phi__blocks_current(s, at, loop->block);
    /* An earlier loop gets one section with all its items in view. */
    const phi_loop_record *record = s->box->pub.loops[at];
    phi_block_section *section = &loop->block->keep_compacted;
    phi__way_ends(section, 0, phi__way_turn_count(record->messages, record->message_count));
    return phi__blocks_keep(s, at, 0, UINT64_MAX, section);
}

/* Makes blocks, newest loop first. Once a loop has a block, all earlier loops get one too. */
static phi_status phi__blocks_make_all(phi__session_blocks *s) {
    size_t at = s->said_count > 0 ? s->said[s->said_count - 1].loop + 1 : 0;
    size_t current = at > 0 ? at - 1 : 0;
    phi_status status = PHI_OK;
    int64_t at_ms = 0;
    bool any = false;
    while (at-- > 0 && status == PHI_OK) {
        const phi__blocks_loop *loop = &s->loops[at];
        bool whole = true; /* all its messages are in view unchanged */
        for (size_t i = 0; i < loop->said_count; i++)
            whole = whole && (s->said[loop->said + i].flags & PHI__SESSION_BLOCKS_PROJECTED) != 0;
        if (!phi__blocks_fits(s, at) || (!any && (!loop->compacted || whole))) continue;
        status = phi__blocks_make(s, at, at == current, at_ms);
        at_ms = s->loops[at].block != NULL ? s->loops[at].block->created_ms : at_ms;
        any = true;
    }
    for (at = 0; at < s->box->pub.loop_count && status == PHI_OK; at++)
        if (s->loops[at].block != NULL) s->box->pub.loops[at]->block = s->loops[at].block;
    return status;
}

static phi_status phi__blocks_go(phi__session_blocks *s) {
    uint64_t count = phi_thread_count(s->thread);
    size_t loops = s->box->pub.loop_count;
    if (loops == 0) return PHI_OK;
    s->loops = (phi__blocks_loop *)phi__arena_zero(&s->scratch, phi__mul(loops, sizeof *s->loops));
    if (s->loops == NULL) return PHI_NO_MEMORY;
    phi_status status = phi__blocks_find_lanes(s, count);
    if (status == PHI_OK) status = phi__blocks_read(s, count);
    if (status != PHI_OK || !phi__blocks_touch(s)) return status;
    status = phi_thread_view(s->thread, NULL, UINT64_MAX, &s->scratch, &s->items, &s->item_count);
    if (status != PHI_OK) return status;
    return phi__blocks_share_out(s) ? phi__blocks_make_all(s) : PHI_NO_MEMORY;
}

/* Adds the blocks of phi_session_compact_desc.thread. */
static phi_status phi__blocks_add(phi_session *session, const phi_thread *thread) {
    if (session == NULL || thread == NULL) return PHI_BAD_ARG;
    phi__session_blocks s = PHI_ZERO;
    s.thread = thread;
    s.box = phi__session_of(session);
    phi_arena_init(&s.scratch, &s.box->memory, 0);
    phi_status status = phi__blocks_go(&s);
    phi_arena_free(&s.scratch);
    return status;
}

/* ---- public ---- */

PHI_API phi_status phi_session_compact(phi_session *session, const phi_session_compact_desc *desc,
                                       size_t *made, char *words, size_t words_size) {
    if (words != NULL && words_size > 0) words[0] = '\0';
    if (made != NULL) *made = 0;
    if (session == NULL) return PHI_BAD_ARG;
    if (desc != NULL && desc->thread != NULL) return phi__blocks_add(session, desc->thread);
    return phi__way_compact(session, desc, made, words, words_size);
}

/* Adds a message to the loop and its current turn. */
static bool phi__session_log_message(phi__session_box *box, phi__loop_box *loop,
                                     const phi_message *message) {
    phi_turn *turn = &loop->turn;
    if (!phi__session_push(box, &loop->pub.messages, &loop->pub.message_count, &loop->message_cap,
                           message))
        return false;
    if (message->role == PHI_ROLE_ASSISTANT && loop->pub.config == NULL) {
        loop->pub.config = phi__session_config_of(box, loop->pub.loop_id, message);
        if (loop->pub.config == NULL) return false;
    }
    if (message->role == PHI_ROLE_USER || message->role == PHI_ROLE_EXTENSION)
        return phi__session_push(box, &turn->input, &turn->input_count, &loop->turn_input_cap,
                                 message);
    if (!loop->in_turn) return true;
    if (message->role == PHI_ROLE_TOOL_RESULT)
        return phi__session_push(box, &turn->results, &turn->result_count, &loop->turn_result_cap,
                                 message);
    turn->output = phi_message_copy(message, &box->arena);
    return turn->output != NULL;
}

/* Empties the current turn. Prompts that follow belong to the next turn, even if they come before
   its start. */
static void phi__session_log_forget(phi__loop_box *loop) {
    memset(&loop->turn, 0, sizeof loop->turn);
    loop->turn_input_cap = loop->turn_result_cap = 0;
    loop->in_turn = false;
}

static bool phi__session_log_turn_end(phi__loop_box *loop, const phi_entry *entry) {
    phi_loop_record *to = &loop->pub;
    /* the loop's end has the usage of the whole run */
    if (entry->usage != NULL && !to->has_ended) phi__message_add_usage(&to->usage, entry->usage);
    if (!loop->in_turn) return true;
    phi_turn *place = phi__session_turn_room(loop);
    if (place == NULL) return false;
    if (entry->usage != NULL) loop->turn.usage = *entry->usage;
    loop->turn.ended_ms = entry->at_ms;
    *place = loop->turn;
    to->turn_count++;
    phi__session_log_forget(loop);
    return true;
}

/* True for a prune by phi itself, whose meta has the fields of PrunApplied. */
static bool phi__session_log_is_prune(const phi_rewrite *rewrite) {
    phi__json_found times;
    return rewrite->reason == PHI_REWRITE_PRUNE && rewrite->revoke == NULL &&
           rewrite->meta != NULL && rewrite->meta[0] == '{' &&
           phi__json_cursor_find(phi_str_of(rewrite->meta), "pruned_timestamps", &times) == PHI_OK;
}

/* Adds the PrunApplied event of a prune. Its sequence is the entry's number. */
static bool phi__session_log_prune(phi__loop_box *loop, const phi_entry *entry) {
    phi_str meta = phi_str_of(entry->rewrite->meta);
    phi__buf out;
    phi__buf_init(&out, &loop->box->memory);
    phi__buf_text(&out, "{\"type\":\"PrunApplied\"");
    phi__records_str(&out, "loop_id", loop->pub.loop_id);
    phi__records_time(&out, "timestamp", entry->at_ms);
    phi__buf_char(&out, ',');
    phi__buf_add_str(&out, phi__str(meta.at + 1, meta.len - 1));
    bool done = !out.failed && phi__session_add_event(loop, entry->seq, phi__buf_str(&out));
    phi__buf_free(&out);
    return done;
}

/* Removes the event of a prune that was revoked. */
static phi_status phi__session_log_revoke(phi__session_box *box, const phi_thread *thread,
                                          const phi_entry *entry) {
    uint64_t seq = entry->seq, first = phi_thread_get_info(thread).first;
    phi_entry was;
    phi_status status = PHI_OK;
    size_t n;
    while (seq-- > first) {
        status = phi_thread_entry(thread, seq, &was);
        if (status != PHI_OK) return status;
        if (was.kind == PHI_ENTRY_REWRITE && was.rewrite->op_id != NULL &&
            strcmp(was.rewrite->op_id, entry->rewrite->revoke) == 0)
            break;
    }
    phi__loop_box *loop = seq != UINT64_MAX ? phi__loopbox_find(box, was.loop_id) : NULL;
    if (loop == NULL) return PHI_OK;
    for (size_t i = n = 0; i < loop->pub.event_count; i++)
        if (loop->pub.events[i].sequence != seq) loop->pub.events[n++] = loop->pub.events[i];
    loop->pub.event_count = n;
    return PHI_OK;
}

static bool phi__session_log_entry(phi__session_box *box, const phi_entry *entry) {
    if (entry->kind == PHI_ENTRY_LOOP_START) {
        phi__loop_box *loop = phi__session_loop(box);
        phi_loop_info none = PHI_ZERO;
        const phi_loop_info *info = entry->loop != NULL ? entry->loop : &none;
        if (loop == NULL || !phi__loopbox_fill(loop, entry->loop_id, info->session_id, info))
            return false;
        phi_loop_record *to = &loop->pub;
        to->started_ms = entry->at_ms;
        to->status = PHI_LOOP_RUNNING;
        phi__session_add(box, loop);
        if (box->pub.loop_count == 1) {
            box->pub.session_id = to->session_id;
            box->pub.agent_id = to->agent_id;
            box->pub.created_ms = box->pub.formation.at_ms = entry->at_ms;
        }
        box->pub.last_active_ms = entry->at_ms;
        return phi__session_chain(box, loop);
    }
    if (entry->kind == PHI_ENTRY_NOTE && phi__str_is(entry->note_kind, PHI_NOTE_PARALLEL))
        return phi__session_groups_note(box, entry->note);
    phi__loop_box *loop = entry->loop_id.len > 0 ? phi__loopbox_find(box, entry->loop_id) : NULL;
    if (loop == NULL) return true;
    switch ((int)entry->kind) {
    case PHI_ENTRY_MESSAGE:
        return entry->message == NULL || phi__session_log_message(box, loop, entry->message);
    case PHI_ENTRY_TURN_START:
        if (loop->in_turn) phi__session_log_forget(loop);
        phi__session_turn_begin(loop, entry->turn_index, entry->trigger, entry->at_ms);
        return true;
    case PHI_ENTRY_TURN_END: return phi__session_log_turn_end(loop, entry);
    case PHI_ENTRY_LOOP_END:
        if (entry->usage != NULL) loop->pub.usage = *entry->usage;
        loop->pub.ended_ms = entry->at_ms;
        loop->pub.has_ended = true;
        loop->pub.status = entry->status == PHI_REJECTED ? PHI_LOOP_REJECTED : PHI_LOOP_COMPLETED;
        loop->in_turn = false;
        return true;
    case PHI_ENTRY_SPAWN: {
        phi_child_ref ref = {entry->tool_call_id, PHI__LIT(""), entry->child_loop_id,
                             entry->child_session_id};
        return phi__session_add_child(loop, &ref);
    }
    case PHI_ENTRY_REWRITE:
        return !phi__session_log_is_prune(entry->rewrite) || phi__session_log_prune(loop, entry);
    default: return true;
    }
}

/* ---- public ---- */

PHI_API phi_status phi_session_of_thread(const phi_thread *thread, const phi_allocator *allocator,
                                         phi_session **out) {
    phi_entry entry;
    phi_status status = PHI_OK;
    if (thread == NULL || out == NULL) return PHI_BAD_ARG;
    *out = NULL;
    phi__session_box *box = phi__session_make(allocator, 0, NULL);
    if (box == NULL) return PHI_NO_MEMORY;
    uint64_t count = phi_thread_count(thread);
    for (uint64_t seq = phi_thread_get_info(thread).first; status == PHI_OK && seq < count; seq++) {
        status = phi_thread_entry(thread, seq, &entry);
        if (status == PHI_OK && !phi__session_log_entry(box, &entry)) status = PHI_NO_MEMORY;
        if (status == PHI_OK && entry.kind == PHI_ENTRY_REWRITE && entry.rewrite->revoke != NULL)
            status = phi__session_log_revoke(box, thread, &entry);
    }
    if (status == PHI_OK) status = phi__blocks_add(&box->pub, thread);
    if (status == PHI_OK)
        *out = &box->pub;
    else
        phi_session_free(&box->pub);
    return status;
}
