/* compact_shared.c - shared by both ways to compact: defaults, texts cut to lines, a message of one
   text. */
#include "history/compact_in.h"

#include "base/utf8_in.h"
#include "history/history_in.h"

/* Behaviours C 37. */
enum {
    PHI__COMPACT_WINDOW = 100000,
    PHI__COMPACT_SYSTEM = 4000,
    PHI__COMPACT_RUNS = 3,
    PHI__COMPACT_FIRST = 2,
    PHI__COMPACT_RECENT = 10,
    PHI__COMPACT_SUMMARY = 2000,
    PHI__COMPACT_LINES = 50
};

PHI__FN phi_compaction_config phi__compact_config(const phi_compaction_config *config) {
    phi_compaction_config c;
    memset(&c, 0, sizeof c);
    if (config != NULL) c = *config;
    if (c.max_context_tokens == 0) c.max_context_tokens = PHI__COMPACT_WINDOW;
    if (c.system_prompt_tokens == 0) c.system_prompt_tokens = PHI__COMPACT_SYSTEM;
    if (!(c.compact_at_pct > 0)) c.compact_at_pct = 0.90;
    if (!(c.budget_threshold_pct > 0)) c.budget_threshold_pct = 0.05;
    if (c.scope_runs == 0) c.scope_runs = PHI__COMPACT_RUNS;
    if (c.scope_tokens == 0) c.scope_tokens = c.max_context_tokens;
    if (c.keep_first_turns == 0) c.keep_first_turns = PHI__COMPACT_FIRST;
    if (c.keep_no_first) c.keep_first_turns = 0;
    if (c.keep_recent_turns == 0) c.keep_recent_turns = PHI__COMPACT_RECENT;
    if (c.keep_first_messages == 0) c.keep_first_messages = PHI__COMPACT_FIRST;
    if (c.keep_no_first_messages) c.keep_first_messages = 0;
    if (c.keep_recent_messages == 0) c.keep_recent_messages = PHI__COMPACT_RECENT;
    if (c.max_summary_tokens == 0) c.max_summary_tokens = PHI__COMPACT_SUMMARY;
    if (c.tool_output_max_lines == 0) c.tool_output_max_lines = PHI__COMPACT_LINES;
    return c;
}

PHI__FN uint32_t phi__compact_scope_runs(const phi_compaction_config *config) {
    return config->scope_runs == PHI_COMPACTION_NO_RUNS ? 0 : config->scope_runs;
}

/* Rounded, since 0.9 - 0.05 is no number that a double has. */
PHI__FN uint64_t phi__compact_threshold(const phi_compaction_config *config) {
    double most = (config->compact_at_pct - config->budget_threshold_pct) *
                      (double)config->max_context_tokens -
                  (double)config->system_prompt_tokens + 0.5;
    if (!(most > 0)) return 0;
    return most < 9e18 ? (uint64_t)most : UINT64_MAX;
}

static size_t phi__compact_count_lines(phi_str text) {
    size_t n = 1, i;
    for (i = 0; i < text.len; i++)
        if (text.at[i] == '\n') n++;
    return n;
}

/* Where line `line`, from 0, begins. */
static size_t phi__compact_line_at(phi_str text, size_t line) {
    size_t i = 0;
    while (line > 0 && i < text.len)
        if (text.at[i++] == '\n') line--;
    return i;
}

static bool phi__compact_cut_text(phi_str *text, size_t lines, phi_arena *arena) {
    size_t all = phi__compact_count_lines(*text), head = lines / 2, tail = lines - head, end;
    phi__buf out;
    bool done;
    if (all <= lines) return true;
    phi__buf_init(&out, arena->memory);
    end = phi__compact_line_at(*text, head);
    phi__buf_add(&out, text->at, end > 0 ? end - 1 : 0);
    phi__buf_printf(&out, "\n\n[... %llu lines truncated ...]\n\n",
                    (unsigned long long)(all - lines));
    end = phi__compact_line_at(*text, all - tail);
    phi__buf_add(&out, text->at + end, text->len - end);
    done = !out.failed && phi__arena_str(arena, phi__buf_str(&out), text);
    phi__buf_free(&out);
    return done;
}

PHI__FN const phi_message *phi__compact_cut(const phi_message *message, uint32_t lines,
                                            phi_arena *arena) {
    phi_content *blocks;
    phi_message *cut;
    bool longer = false;
    size_t i;
    for (i = 0; i < message->content_count; i++)
        longer = longer || (message->content[i].kind == PHI_CONTENT_TEXT &&
                            phi__compact_count_lines(message->content[i].text) > lines);
    if (!longer) return message;
    cut = (phi_message *)phi_arena_alloc(arena, sizeof *cut);
    blocks =
        (phi_content *)phi_arena_alloc(arena, phi__mul(message->content_count, sizeof *blocks));
    if (cut == NULL || blocks == NULL) return NULL;
    *cut = *message;
    memcpy(blocks, message->content, message->content_count * sizeof *blocks);
    cut->content = blocks;
    for (i = 0; i < cut->content_count; i++)
        if (blocks[i].kind == PHI_CONTENT_TEXT &&
            !phi__compact_cut_text(&blocks[i].text, lines, arena))
            return NULL;
    return cut;
}

PHI__FN phi_message *phi__compact_say(phi_str text, phi_arena *arena) {
    phi_message *message = (phi_message *)phi__arena_zero(arena, sizeof *message);
    phi_content *block = (phi_content *)phi__arena_zero(arena, sizeof *block);
    if (message == NULL || block == NULL) return NULL;
    block->kind = PHI_CONTENT_TEXT;
    block->text = text;
    message->role = PHI_ROLE_USER;
    message->content = block;
    message->content_count = 1;
    return message;
}

PHI__FN phi_message *phi__compact_say_at(phi__buf *text, const phi_message *place,
                                         phi_arena *arena) {
    phi_str kept;
    phi_message *message = NULL;
    if (!text->failed && phi__arena_str(arena, phi__buf_str(text), &kept))
        message = phi__compact_say(kept, arena);
    phi__buf_free(text);
    if (message == NULL) return NULL;
    message->timestamp_ms = place->timestamp_ms;
    message->loop_id = place->loop_id;
    message->turn_index = place->turn_index;
    return message;
}
