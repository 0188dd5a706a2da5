/* marks.c - positions of nodes: open addressing, at most three quarters full. */
#include "text/text_in.h"

enum { PHI__MARKS_FIRST = 64 }; /* slots of the first table */

PHI__FN void phi__marks_init(phi__marks *marks, phi_arena *arena) {
    memset(marks, 0, sizeof *marks);
    marks->arena = arena;
}

/* Returns the node's slot, or the free slot for it. At least one slot is free. */
static phi__marks_entry *phi__marks_slot(const phi__marks *marks, const phi_json *node) {
    uint64_t hash = (uint64_t)(uintptr_t)node * UINT64_C(0x9e3779b97f4a7c15);
    size_t mask = marks->cap - 1, i = (size_t)(hash >> 32) & mask;
    while (marks->slots[i].node != NULL && marks->slots[i].node != node) i = (i + 1) & mask;
    return &marks->slots[i];
}

/* The old table stays in the arena, so all tables together take twice the memory of the last
   one. */
static bool phi__marks_grow(phi__marks *marks) {
    phi__marks grown = *marks;
    grown.cap = phi__max(phi__mul(marks->cap, 2), PHI__MARKS_FIRST);
    grown.slots =
        (phi__marks_entry *)phi__arena_zero(marks->arena, phi__mul(grown.cap, sizeof *grown.slots));
    if (grown.slots == NULL) return false;
    for (size_t i = 0; i < marks->cap; i++)
        if (marks->slots[i].node != NULL)
            *phi__marks_slot(&grown, marks->slots[i].node) = marks->slots[i];
    *marks = grown;
    return true;
}

/* Returns the node's slot, and adds it if it is new. NULL: no memory. */
static phi__marks_entry *phi__marks_take(phi__marks *marks, const phi_json *node) {
    if (marks->failed) return NULL;
    if (marks->count >= marks->cap / 4 * 3 && !phi__marks_grow(marks)) {
        marks->failed = true;
        return NULL;
    }
    phi__marks_entry *slot = phi__marks_slot(marks, node);
    if (slot->node == NULL) marks->count++;
    slot->node = node;
    return slot;
}

PHI__FN void phi__marks_add(phi__marks *marks, const phi_json *node, uint32_t line,
                            uint32_t column) {
    phi__marks_entry *mark = phi__marks_take(marks, node);
    if (mark == NULL) return;
    mark->line = line;
    mark->column = column;
}

PHI__FN void phi__marks_add_key(phi__marks *marks, const phi_json *node, uint32_t line,
                                uint32_t column) {
    phi__marks_entry *mark = phi__marks_take(marks, node);
    if (mark == NULL) return;
    mark->key_line = line;
    mark->key_column = column;
}

static const phi__marks_entry *phi__marks_at(const phi__marks *marks, const phi_json *node) {
    phi__marks_entry *slot = marks->cap == 0 || node == NULL ? NULL : phi__marks_slot(marks, node);
    return slot == NULL || slot->node == NULL ? NULL : slot;
}

PHI__FN bool phi__marks_find(const phi__marks *marks, const phi_json *node, uint32_t *line,
                             uint32_t *column) {
    const phi__marks_entry *mark = phi__marks_at(marks, node);
    *line = mark != NULL ? mark->line : 0;
    *column = mark != NULL ? mark->column : 0;
    return *line != 0;
}

PHI__FN bool phi__marks_key(const phi__marks *marks, const phi_json *node, uint32_t *line,
                            uint32_t *column) {
    const phi__marks_entry *mark = phi__marks_at(marks, node);
    *line = mark != NULL ? mark->key_line : 0;
    *column = mark != NULL ? mark->key_column : 0;
    return *line != 0;
}
