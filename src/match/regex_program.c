/* regex_program.c - a tree becomes instructions, and its sets a small alphabet. */
#include "match/regex_program_in.h"

#include <stdio.h>

/* ---- instructions ---- */

typedef struct phi__regex_emitter {
    phi__regex_program *program;
    const phi__regex_tree *tree;
    phi_status status;
    size_t visits; /* of nodes: a repetition of nothing emits nothing */
} phi__regex_emitter;

static size_t phi__regex_program_add(phi__regex_emitter *e, phi__regex_op op, size_t x, size_t y) {
    phi__regex_program *program = e->program;
    phi__regex_code *codes;
    if (e->status != PHI_OK) return 0;
    if (program->count >= PHI__REGEX_CODES) {
        e->status = PHI_FULL;
        return 0;
    }
    codes = (phi__regex_code *)phi__grow(program->memory, program->codes, &program->cap,
                                         program->count + 1, sizeof *codes);
    if (codes == NULL) {
        e->status = PHI_NO_MEMORY;
        return 0;
    }
    program->codes = codes;
    codes[program->count].op = (uint16_t)op;
    codes[program->count].x = (uint16_t)x;
    codes[program->count].y = (uint16_t)y;
    return program->count++;
}

static void phi__regex_program_emit(phi__regex_emitter *e, uint32_t index);

/* Instructions that jump to a place not known yet are a chain through y, by index + 1. */
static void phi__regex_program_land(phi__regex_emitter *e, size_t chain, bool jumps) {
    phi__regex_code *codes = e->program->codes;
    while (chain != 0 && e->status == PHI_OK) {
        size_t next = codes[chain - 1].y;
        codes[chain - 1].y = (uint16_t)e->program->count;
        if (jumps) codes[chain - 1].x = (uint16_t)e->program->count;
        chain = next;
    }
}

static void phi__regex_program_emit_choice(phi__regex_emitter *e, uint32_t child) {
    size_t ends = 0;
    for (; child != 0 && e->status == PHI_OK; child = e->tree->nodes[child].next) {
        size_t split = 0;
        bool more = e->tree->nodes[child].next != 0;
        if (more) split = phi__regex_program_add(e, PHI__REGEX_OP_SPLIT, e->program->count + 1, 0);
        phi__regex_program_emit(e, child);
        if (!more) break;
        ends = phi__regex_program_add(e, PHI__REGEX_OP_JUMP, 0, ends) + 1;
        if (e->status == PHI_OK) e->program->codes[split].y = (uint16_t)e->program->count;
    }
    phi__regex_program_land(e, ends, true);
}

static void phi__regex_program_emit_times(phi__regex_emitter *e, const phi__regex_node *node) {
    size_t begin = 0, ends = 0;
    uint16_t i;
    for (i = 0; i < node->min && e->status == PHI_OK; i++) {
        begin = e->program->count;
        phi__regex_program_emit(e, node->a);
    }
    if (node->max == PHI__REGEX_ENDLESS && node->min > 0) {
        (void)phi__regex_program_add(e, PHI__REGEX_OP_SPLIT, begin, e->program->count + 1);
    } else if (node->max == PHI__REGEX_ENDLESS) {
        begin = phi__regex_program_add(e, PHI__REGEX_OP_SPLIT, e->program->count + 1, 0);
        phi__regex_program_emit(e, node->a);
        (void)phi__regex_program_add(e, PHI__REGEX_OP_JUMP, begin, 0);
        if (e->status == PHI_OK) e->program->codes[begin].y = (uint16_t)e->program->count;
    } else {
        for (; i < node->max && e->status == PHI_OK; i++) {
            ends = phi__regex_program_add(e, PHI__REGEX_OP_SPLIT, e->program->count + 1, ends) + 1;
            phi__regex_program_emit(e, node->a);
        }
        phi__regex_program_land(e, ends, false);
    }
}

/* Recursion as deep as the tree, which is bounded. */
static void phi__regex_program_emit(phi__regex_emitter *e, uint32_t index) {
    const phi__regex_node *node = &e->tree->nodes[index];
    uint32_t child;
    if (e->status != PHI_OK) return;
    if (++e->visits > 4 * PHI__REGEX_CODES) e->status = PHI_FULL;
    switch (node->kind) {
    case PHI__REGEX_EMPTY: break;
    case PHI__REGEX_SET: (void)phi__regex_program_add(e, PHI__REGEX_OP_SET, node->a, 0); break;
    case PHI__REGEX_CAT:
        for (child = node->a; child != 0; child = e->tree->nodes[child].next)
            phi__regex_program_emit(e, child);
        break;
    case PHI__REGEX_ALT: phi__regex_program_emit_choice(e, node->a); break;
    case PHI__REGEX_TIMES: phi__regex_program_emit_times(e, node); break;
    default: (void)phi__regex_program_add(e, PHI__REGEX_OP_TEST, (size_t)node->kind, 0); break;
    }
}

/* ---- the alphabet ---- */

static void phi__regex_program_sink(uint32_t *rows, size_t at, size_t n) {
    uint32_t row = rows[at];
    size_t child;
    while ((child = 2 * at + 1) < n) {
        if (child + 1 < n && rows[child] < rows[child + 1]) child++;
        if (rows[child] <= row) break;
        rows[at] = rows[child];
        at = child;
    }
    rows[at] = row;
}

/* In order, each once. Returns how many are left. */
static size_t phi__regex_program_sort(uint32_t *rows, size_t n) {
    size_t i, kept = 0;
    for (i = n / 2; i > 0; i--) phi__regex_program_sink(rows, i - 1, n);
    for (i = n; i > 1; i--) {
        uint32_t first = rows[0];
        rows[0] = rows[i - 1];
        rows[i - 1] = first;
        phi__regex_program_sink(rows, 0, i - 1);
    }
    for (i = 1; i < n; i++)
        if (rows[i] != rows[kept]) rows[++kept] = rows[i];
    return n > 0 ? kept + 1 : 0;
}

/* Every place at which a set begins or ends; and 0x80, so that ASCII stands alone. */
static phi_status phi__regex_program_cut(phi__regex_program *program, const phi__range *ranges,
                                         size_t count, const phi__range *words, size_t word_count) {
    size_t i, n = 0, most = 2 * (count + word_count) + 2;
    program->starts = (uint32_t *)phi__alloc(program->memory, most * sizeof(uint32_t));
    program->symbols = (uint16_t *)phi__alloc(program->memory, most * sizeof(uint16_t));
    program->samples = (uint32_t *)phi__alloc(program->memory, most * sizeof(uint32_t));
    program->run_cap = most;
    if (program->starts == NULL || program->symbols == NULL || program->samples == NULL)
        return PHI_NO_MEMORY;
    program->starts[n++] = 0;
    program->starts[n++] = 0x80;
    for (i = 0; i < count + word_count; i++) {
        const phi__range *row = i < count ? &ranges[i] : &words[i - count];
        program->starts[n++] = row->first;
        if (row->last < PHI__REGEX_LAST_CODE) program->starts[n++] = row->last + 1;
    }
    program->run_count = phi__regex_program_sort(program->starts, n);
    return PHI_OK;
}

static size_t phi__regex_program_run(const phi__regex_program *program, uint32_t code) {
    size_t low = 0, high = program->run_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (program->starts[middle] <= code)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The runs inside a set become symbols apart from those outside: a symbol that has both is split.
   renamed: what became of each symbol in this round, and in which round. */
static void phi__regex_program_refine(phi__regex_program *program, const phi__range *rows, size_t n,
                                      uint32_t *renamed, uint32_t round, uint32_t *next) {
    size_t i;
    for (i = 0; i < n; i++) {
        size_t run = phi__regex_program_run(program, rows[i].first);
        for (; run < program->run_count && program->starts[run] <= rows[i].last; run++) {
            uint32_t old = program->symbols[run];
            if (renamed[2 * old] != round) {
                renamed[2 * old] = round;
                renamed[2 * old + 1] = (*next)++;
            }
            program->symbols[run] = (uint16_t)renamed[2 * old + 1];
        }
    }
}

/* Numbers the symbols anew, from 0 on, in the order of the runs. */
static void phi__regex_program_number(phi__regex_program *program, uint32_t *renamed,
                                      uint32_t round) {
    size_t i;
    uint32_t n = 0;
    for (i = 0; i < program->run_count; i++) {
        uint32_t old = program->symbols[i];
        if (renamed[2 * old] != round) {
            renamed[2 * old] = round;
            renamed[2 * old + 1] = n;
            program->samples[n++] = program->starts[i];
        }
        program->symbols[i] = (uint16_t)renamed[2 * old + 1];
    }
    program->symbol_count = (uint16_t)n;
}

static phi_status phi__regex_program_alphabet(phi__regex_program *program,
                                              const phi__regex_tree *tree) {
    size_t word_count = 0, i, most;
    const phi__range *words = phi__regex_tables_word(&word_count);
    uint32_t *renamed, next = 1, round = 1;
    phi_status status;
    if (!tree->words) word_count = 0;
    status = phi__regex_program_cut(program, tree->ranges, tree->range_count, words, word_count);
    if (status != PHI_OK) return status;
    if (program->run_count > UINT16_MAX / 2) return PHI_FULL;
    /* A round makes at most as many symbols as there are runs, and then they are numbered anew. */
    most = 2 * program->run_count + 2;
    renamed = (uint32_t *)phi__alloc(program->memory, 2 * most * sizeof(uint32_t));
    if (renamed == NULL) return PHI_NO_MEMORY;
    for (i = 0; i <= tree->set_count; i++) {
        const phi__range *rows = i < tree->set_count ? tree->ranges + tree->sets[i].at : words;
        size_t n = i < tree->set_count ? tree->sets[i].count : word_count;
        phi__regex_program_refine(program, rows, n, renamed, round++, &next);
        if (next <= program->run_count) continue;
        phi__regex_program_number(program, renamed, round++);
        next = program->symbol_count;
    }
    phi__regex_program_number(program, renamed, round);
    phi__free(program->memory, renamed, 2 * most * sizeof(uint32_t));
    return PHI_OK;
}

static void phi__regex_program_bytes(phi__regex_program *program) {
    uint32_t c;
    program->end = program->symbol_count;
    program->bad = (uint16_t)(program->symbol_count + 1);
    program->high = (uint16_t)(program->symbol_count + 2);
    for (c = 0; c < 256; c++)
        program->bytes[c] = c >= 0x80   ? program->high
                            : c == '\n' ? program->end
                                        : phi__regex_program_symbol(program, c);
}

/* ---- for other files ---- */

PHI__FN uint16_t phi__regex_program_symbol(const phi__regex_program *program, uint32_t code) {
    return program->symbols[phi__regex_program_run(program, code)];
}

PHI__FN bool phi__regex_program_in_set(const phi__regex_program *program, uint16_t set,
                                       uint16_t symbol) {
    const phi__regex_set *s = &program->sets[set];
    return symbol < program->symbol_count &&
           phi__regex_set_has(program->ranges + s->at, s->count, program->samples[symbol]);
}

PHI__FN bool phi__regex_program_is_word(const phi__regex_program *program, uint16_t symbol) {
    size_t count;
    const phi__range *words = phi__regex_tables_word(&count);
    return symbol < program->symbol_count &&
           phi__regex_set_has(words, count, program->samples[symbol]);
}

PHI__FN phi_status phi__regex_program_make(phi__regex_program *program, phi__regex_tree *tree,
                                           phi__regex_error *error) {
    phi__regex_emitter e;
    memset(program, 0, sizeof *program);
    program->memory = tree->memory;
    program->words = tree->words;
    memset(&e, 0, sizeof e);
    e.program = program;
    e.tree = tree;
    phi__regex_program_emit(&e, tree->root);
    (void)phi__regex_program_add(&e, PHI__REGEX_OP_MATCH, 0, 0);
    if (e.status == PHI_OK) e.status = phi__regex_program_alphabet(program, tree);
    if (e.status == PHI_OK) {
        program->ranges = tree->ranges;
        program->range_cap = tree->range_cap;
        program->sets = tree->sets;
        program->set_cap = tree->set_cap;
        tree->ranges = NULL;
        tree->sets = NULL;
        tree->range_cap = tree->set_cap = 0;
        phi__regex_program_bytes(program);
    }
    if (e.status != PHI_FULL) return e.status;
    error->column = 1;
    (void)snprintf(error->message, sizeof error->message, "the pattern is too large");
    return PHI_BAD_ARG;
}

PHI__FN void phi__regex_program_free(phi__regex_program *program) {
    phi__free(program->memory, program->codes, program->cap * sizeof *program->codes);
    phi__free(program->memory, program->ranges, program->range_cap * sizeof *program->ranges);
    phi__free(program->memory, program->sets, program->set_cap * sizeof *program->sets);
    phi__free(program->memory, program->starts, program->run_cap * sizeof *program->starts);
    phi__free(program->memory, program->symbols, program->run_cap * sizeof *program->symbols);
    phi__free(program->memory, program->samples, program->run_cap * sizeof *program->samples);
}
