/* entry_read.c - reads entries: each is appended by the functions that appended it once, which
   refuse invalid ones. Afterwards it gets its own time and place. */
#include "persist/entry_get_in.h"

#include "history/about_in.h"
#include "model/message_in.h"
#include "persist/journal_in.h"
#include "text/records_in.h"

/* A log is never that long. */
enum { PHI__ENTRY_SEQ_MOST = 0x3fffffff };

/* ---- shared ---- */

static bool phi__entry_read_keep_loop(phi__entry_reader *r, phi_str loop_id, phi_str *out) {
    *out = phi__str("", 0);
    if (loop_id.len == 0) return true;
    if (!phi_str_equal(loop_id, r->loop_id) &&
        !phi__arena_str(phi__thread_room(r->thread), loop_id, &r->loop_id))
        return false;
    *out = r->loop_id;
    return true;
}

/* ---- messages ---- */

static uint32_t phi__entry_read_flag(const phi_json *node, int flag) {
    return phi_json_bool(node, false) ? (uint32_t)flag : 0;
}

static phi_status phi__entry_read_message(phi__entry_reader *r, const phi_json *const *in,
                                          phi__entry *entry) {
    phi_message message;
    phi_message *kept;
    phi_status status =
        phi__entry_get_whole(r, in[PHI__ENTRY_IN_MESSAGE], in[PHI__ENTRY_IN_MORE], &message);
    if (status != PHI_OK) return status;
    kept = phi__append_keep(r->thread, &message);
    if (kept == NULL || !phi__append_claim_calls(r->thread, kept)) return PHI_NO_MEMORY;
    entry->message = kept;
    entry->flags |= (phi__entry_read_flag(in[PHI__ENTRY_IN_IS_DURABLE], PHI_ENTRY_DURABLE) |
                     phi__entry_read_flag(in[PHI__ENTRY_IN_IS_SYNTHETIC], PHI_ITEM_SYNTHETIC) |
                     phi__entry_read_flag(in[PHI__ENTRY_IN_IS_SUMMARY], PHI_ITEM_SUMMARY) |
                     phi__entry_read_flag(in[PHI__ENTRY_IN_IS_LINES], PHI_ITEM_LINES) |
                     phi__entry_read_flag(in[PHI__ENTRY_IN_IS_UNMEASURED], PHI_ITEM_UNMEASURED)) &
                    0xff;
    return PHI_OK;
}

/* ---- entries that only stand in the list ---- */

/* like: its kind, loop and lane. */
static phi_status phi__entry_read_plain(phi__entry_reader *r, const phi_json *root,
                                        const phi_json *const *in, const phi__entry *like) {
    phi_thread *thread = r->thread;
    phi__entry *entry = (phi__entry *)phi__arena_zero(phi__thread_room(thread), sizeof *entry);
    phi_status status = PHI_OK;
    phi_entry_kind kind = like->kind;
    if (entry == NULL || !phi__load_reserve(thread, kind == PHI_ENTRY_MESSAGE) ||
        (kind == PHI_ENTRY_LOOP_START && !phi__loops_room(thread)))
        return PHI_NO_MEMORY;
    *entry = *like;
    entry->flags = phi__entry_read_flag(in[PHI__ENTRY_IN_IS_GRAFTED], PHI_ENTRY_GRAFTED) & 0xff;
    if (kind == PHI_ENTRY_MESSAGE)
        status = phi__entry_read_message(r, in, entry);
    else
        status = phi__entry_parts_read(r, root, entry);
    if (status != PHI_OK) return status;
    if (kind == PHI_ENTRY_LOOP_END && like->lane == thread->lanes.active)
        status = phi__load_may_end(thread, entry);
    if (status == PHI_OK) phi__load_attach(thread, entry);
    if (status == PHI_OK && kind == PHI_ENTRY_NOTE &&
        phi__str_is(entry->of.note->kind, PHI_NOTE_THREAD))
        status = phi__about_read(thread, entry->of.note->json);
    return status == PHI_BAD_ARG ? phi__entry_get_bad(r, "json: metadata is no object") : status;
}

/* ---- rewrites ---- */

/* As one of a log must be: the lane it switches to has begun. */
static phi_status phi__entry_read_logged(phi__entry_reader *r, const phi_json *const *in,
                                         phi_rewrite *rewrite) {
    phi_status status = phi__entry_get_members(r, in, rewrite);
    if (rewrite->op_id == NULL && (status == PHI_OK || status == PHI_PARSE) &&
        !phi_json_is(in[PHI__ENTRY_IN_OP_ID], PHI_JSON_STRING))
        return phi__entry_get_bad(r, "op_id is missing");
    if (status != PHI_OK) return status;
    if (rewrite->op_id[0] == '\0') return phi__entry_get_bad(r, "op_id is empty");
    if (rewrite->switch_to != NULL &&
        phi__lane_find(r->thread, phi_str_of(rewrite->switch_to)) == PHI__LANE_NONE)
        return phi__entry_get_bad(r, "switch_to: no lane \"%.80s\"", rewrite->switch_to);
    if (rewrite->lane == NULL) rewrite->lane = PHI_LANE_DEFAULT;
    rewrite->has_base = true;
    return PHI_OK;
}

static phi_status phi__entry_read_rewrite(phi__entry_reader *r, const phi_json *const *in,
                                          phi_str loop_id) {
    phi_rewrite rewrite;
    phi_status status;
    bool duplicate = false;
    char words[160];
    status = phi__entry_read_logged(r, in, &rewrite);
    if (status != PHI_OK) return status;
    status = phi__rewrite_make(r->thread, &rewrite, loop_id,
                               (uint32_t)phi__json_get_uint(in[PHI__ENTRY_IN_TURN], 0), &duplicate,
                               words, sizeof words);
    if (status == PHI_NO_MEMORY) return status;
    if (duplicate) return phi__entry_get_bad(r, "op_id \"%.100s\" is there already", rewrite.op_id);
    return status == PHI_OK ? PHI_OK : phi__entry_get_bad(r, "rewrite: %s", words);
}

/* ---- lanes ---- */

static phi_status phi__entry_read_lane(phi__entry_reader *r, const phi_json *root) {
    phi_thread *thread = r->thread;
    phi_str name = phi__records_get_str(root, "lane"),
            parent = phi__records_get_str(root, "parent");
    uint64_t fork_seq = phi__records_get_u64(root, "fork_seq");
    uint32_t from = PHI__LANE_NONE, lane;
    if (name.len == 0) return phi__entry_get_bad(r, "lane is missing");
    if (phi__lane_find(thread, name) != PHI__LANE_NONE)
        return phi__entry_get_bad(r, "lane \"%.*s\" is there already", (int)phi__min(name.len, 80),
                                  name.at);
    if (phi_json_get(root, "parent") != NULL) {
        from = phi__lane_find(thread, parent);
        if (from == PHI__LANE_NONE)
            return phi__entry_get_bad(r, "parent: no lane \"%.*s\"", (int)phi__min(parent.len, 80),
                                      parent.at);
        if (fork_seq >= thread->log.count || fork_seq < thread->log.base)
            return phi__entry_get_bad(r, "fork_seq is %llu, there are %llu entries",
                                      (unsigned long long)fork_seq,
                                      (unsigned long long)thread->log.count);
    }
    return phi__lane_new(thread, name, from, fork_seq, &lane);
}

static phi_status phi__entry_read_switch(phi__entry_reader *r, uint32_t lane) {
    if (lane == r->thread->lanes.active)
        return phi__entry_get_bad(r, "the lane is the active one already");
    return phi__load_switch(r->thread, lane);
}

/* ---- all of it ---- */

/* Where a log begins: at 0, or behind its forgotten entries. */
static void phi__entry_read_begin(phi_thread *thread, int kind, uint64_t seq) {
    if (kind != PHI_ENTRY_FORGOTTEN || thread->log.count > 0 || seq >= PHI__ENTRY_SEQ_MOST) return;
    phi__log_begin_at(&thread->log, seq);
}

static phi_status phi__entry_read_check_place(phi__entry_reader *r, const phi_json *root,
                                              const phi_json *const *in, int *kind,
                                              uint32_t *lane) {
    const phi_thread *thread = r->thread;
    phi_str name = phi_json_str(in[PHI__ENTRY_IN_LANE], PHI_LANE_DEFAULT);
    if (!phi_json_is(root, PHI_JSON_OBJECT))
        return phi__entry_get_bad(r, "expected an object: an entry");
    *kind =
        phi__entry_parts_number(phi__json_text_of(in[PHI__ENTRY_IN_KIND]), phi__entry_kind_word);
    phi__entry_read_begin(r->thread, *kind, phi__json_get_uint(in[PHI__ENTRY_IN_SEQ], UINT64_MAX));
    if (phi__json_get_uint(in[PHI__ENTRY_IN_SEQ], UINT64_MAX) != thread->log.count)
        return phi__entry_get_bad(r, "seq: expected %llu", (unsigned long long)thread->log.count);
    if (*kind < PHI_ENTRY_MESSAGE) return phi__entry_get_bad(r, "kind is none of its words");
    if (phi__json_get_uint(in[PHI__ENTRY_IN_TURN], 0) > UINT32_MAX)
        return phi__entry_get_bad(r, "turn is larger than there are turns");
    *lane = phi__lane_find(thread, name);
    if (*kind == PHI_ENTRY_LANE) return PHI_OK;
    if (*lane == PHI__LANE_NONE)
        return phi__entry_get_bad(r, "no lane \"%.*s\"", (int)phi__min(name.len, 80), name.at);
    if (*kind != PHI_ENTRY_SWITCH && *kind != PHI_ENTRY_REWRITE && *lane != thread->lanes.active &&
        !phi_json_bool(in[PHI__ENTRY_IN_IS_GRAFTED], false))
        return phi__entry_get_bad(r, "lane \"%.*s\" is not the active one",
                                  (int)phi__min(name.len, 80), name.at);
    return PHI_OK;
}

static phi_status phi__entry_read_tree(phi__entry_reader *r, const phi_json *root) {
    const phi_json *in[PHI__ENTRY_IN_COUNT];
    phi_thread *thread = r->thread;
    phi__entry *entry, like;
    phi_str loop_id = {"", 0};
    uint32_t lane = 0;
    int kind = 0;
    phi_status status;
    phi__entry_get_pick(root, in);
    status = phi__entry_read_check_place(r, root, in, &kind, &lane);
    if (status != PHI_OK) return status;
    if (!phi__entry_read_keep_loop(r, phi__json_text_of(in[PHI__ENTRY_IN_LOOP]), &loop_id))
        return PHI_NO_MEMORY;
    memset(&like, 0, sizeof like);
    like.kind = (phi_entry_kind)kind;
    like.loop_id = loop_id;
    like.lane = lane;
    if (kind == PHI_ENTRY_REWRITE)
        status = phi__entry_read_rewrite(r, in, loop_id);
    else if (kind == PHI_ENTRY_LANE)
        status = phi__entry_read_lane(r, root);
    else if (kind == PHI_ENTRY_SWITCH)
        status = phi__entry_read_switch(r, lane);
    else
        status = phi__entry_read_plain(r, root, in, &like);
    if (status != PHI_OK) return status;
    entry = thread->log.entries[thread->log.held - 1];
    phi__log_set_time(&thread->log, entry, phi_json_int(in[PHI__ENTRY_IN_AT], 0));
    entry->loop_id = loop_id;
    entry->turn_index = (uint32_t)phi__json_get_uint(in[PHI__ENTRY_IN_TURN], 0);
    return phi__thread_roll(thread, &r->loop_id) ? PHI_OK : PHI_NO_MEMORY;
}

/* An entry has its own time: the clock is not read, or a tape would have to record the time of each
   reading. */
static phi_status phi__entry_read_timeless(phi__entry_reader *reader, const phi_json *root) {
    phi__io *io = reader->thread->log.io;
    phi_status status;
    phi__log_set_io(&reader->thread->log, NULL);
    status = phi__entry_read_tree(reader, root);
    phi__log_set_io(&reader->thread->log, io);
    return status;
}

PHI__FN phi_status phi__entry_read_node(phi__entry_reader *reader, const phi_json *root) {
    reader->words[0] = '\0';
    phi__arena_rewind(&reader->scratch);
    return phi__entry_read_timeless(reader, root);
}

PHI__FN phi_status phi__entry_read(phi__entry_reader *reader, phi_str json) {
    phi_json *root = NULL;
    phi_parse_error error;
    phi_status status;
    reader->words[0] = '\0';
    phi__arena_rewind(&reader->scratch);
    status = phi_json_parse(&reader->scratch, json, PHI_JSON_BORROW, &root, &error);
    if (status == PHI_PARSE || status == PHI_TOO_BIG)
        return phi__entry_get_bad(reader, "column %u: %s", (unsigned)error.column, error.message);
    return status == PHI_OK ? phi__entry_read_timeless(reader, root) : status;
}
