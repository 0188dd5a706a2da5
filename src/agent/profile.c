/* profile.c - makes system prompts from blocks. */
#include "agent/agent_in.h"

static const char phi__profile_gap[] = "\n\n";

/* Returns the number of bytes of the first `most` characters. An invalid byte counts as a
   character. */
static size_t phi__profile_cut(phi_str text, size_t most) {
    const char *at = text.at, *end = text.at + text.len;
    if (most == 0 || text.len <= most) return text.len;
    for (; at < end && most > 0; most--) {
        size_t n = phi__json_text_utf8(at, end);
        at += n > 0 ? n : phi__utf8_bad(at, end);
    }
    return (size_t)(at - text.at);
}

/* Returns the text for a slot, from the last block with the slot's name. */
static phi_str phi__profile_text(const phi__profile_slot *slot, const phi__profile_block *blocks,
                                 size_t count) {
    phi_str text = {NULL, 0};
    while (count-- > 0) {
        if (strcmp(blocks[count].name, slot->name) != 0) continue;
        text = phi_str_of(blocks[count].text);
        text.len = text.len > 0 ? phi__profile_cut(text, slot->max_length) : 0;
        break;
    }
    return text;
}

/* Returns the slot after `last`, or the first slot if `last` is NULL. NULL: there is none. */
static const phi__profile_slot *phi__profile_next(const phi__profile_slot *slots, size_t count,
                                                  const phi__profile_slot *last) {
    const phi__profile_slot *next = NULL;
    for (size_t i = 0; i < count; i++) {
        const phi__profile_slot *slot = &slots[i];
        if (last != NULL &&
            (slot->order < last->order || (slot->order == last->order && slot <= last)))
            continue;
        if (next == NULL || slot->order < next->order) next = slot;
    }
    return next;
}

PHI__FN const phi__profile_slot *phi__profile_slots_agent(size_t *count) {
    static const phi__profile_slot slots[] = {{"identity", 0, 500},
                                              {"instructions", 1, 2000},
                                              {"tools", 2, 1000},
                                              {"constraints", 3, 500}};
    *count = PHI__COUNT(slots);
    return slots;
}

PHI__FN const phi__profile_slot *phi__profile_slots_minimal(size_t *count) {
    static const phi__profile_slot slots[] = {{"identity", 0, 1000}, {"task", 1, 3000}};
    *count = PHI__COUNT(slots);
    return slots;
}

PHI__FN phi_status phi__profile_compose(const phi__profile_slot *slots, size_t slot_count,
                                        const phi__profile_block *blocks, size_t block_count,
                                        phi_arena *arena, phi_str *out) {
    const phi__profile_slot *slot = NULL;
    phi__buf prompt;
    phi_status status = PHI_OK;
    if (out == NULL) return PHI_BAD_ARG;
    *out = phi__str(NULL, 0);
    if (arena == NULL) return PHI_BAD_ARG;
    if ((slots == NULL && slot_count > 0) || (blocks == NULL && block_count > 0))
        return PHI_BAD_ARG;
    for (size_t i = 0; i < slot_count; i++)
        if (slots[i].name == NULL) return PHI_BAD_ARG;
    for (size_t i = 0; i < block_count; i++)
        if (blocks[i].name == NULL) return PHI_BAD_ARG;

    phi__buf_init(&prompt, arena->memory);
    while ((slot = phi__profile_next(slots, slot_count, slot)) != NULL) {
        phi_str text = phi__profile_text(slot, blocks, block_count);
        if (text.len == 0) continue;
        if (prompt.len > 0) phi__buf_text(&prompt, phi__profile_gap);
        phi__buf_add_str(&prompt, text);
    }
    if (prompt.failed || !phi__arena_str(arena, phi__buf_str(&prompt), out)) status = PHI_NO_MEMORY;
    phi__buf_free(&prompt);
    return status;
}
