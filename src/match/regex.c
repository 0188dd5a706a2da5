/* regex.c - the machine: sets of instructions are its states, made when the text needs them.

   A state holds the instructions that wait for a character, for a test, or that say "match"; tests
   are decided by the symbol that comes next, so a match is noticed one symbol late at most. */
#include "match/regex_program_in.h"

#include "base/utf8_in.h"

enum {
    PHI__REGEX_UNKNOWN, /* in the table: not computed */
    PHI__REGEX_MATCHED, /* in the table: the line matches */
    PHI__REGEX_FIRST,   /* the first state */
    PHI__REGEX_STATES = 4096,
    PHI__REGEX_POOL = 262144 /* instructions of all states together */
};

/* What stood before a state's place; it matters to states with tests alone. */
typedef enum phi__regex_before {
    PHI__REGEX_BEFORE_ANY,
    PHI__REGEX_BEFORE_LINE,
    PHI__REGEX_BEFORE_WORD,
    PHI__REGEX_BEFORE_OTHER
} phi__regex_before;

typedef struct phi__regex_state {
    uint32_t at; /* in the pool */
    uint16_t count, before;
} phi__regex_state;

struct phi__regex {
    phi_memory *memory;
    phi__regex_program program;
    unsigned shift; /* a row of the table has 1 << shift places */
    uint16_t *table;
    size_t table_cap;
    phi__regex_state *states;
    size_t state_count, state_cap, most_states; /* with the two that are none */
    uint16_t *pool;
    size_t pool_count, pool_cap;
    uint16_t *hash; /* states by their instructions */
    size_t hash_size;
    uint64_t *next, *seen; /* sets of instructions, a bit each */
    uint16_t *stack;
    size_t words;          /* of such a set */
    bool matched;          /* an instruction that was reached says so */
    bool flushed;          /* the states were thrown away */
    uint16_t state, start; /* PHI__REGEX_UNKNOWN: to be made */
    /* The only bytes that lead on from the start state; none of them: it is not looked for. */
    char leads[2];
    size_t lead_count;
    uint64_t work;
};

/* ---- sets of instructions ---- */

static bool phi__regex_mark(uint64_t *set, size_t pc) {
    uint64_t bit = (uint64_t)1 << (pc & 63);
    if (set[pc >> 6] & bit) return false;
    set[pc >> 6] |= bit;
    return true;
}

static size_t phi__regex_push(const phi__regex *regex, uint64_t *set, size_t depth, size_t pc) {
    if (phi__regex_mark(set, pc)) regex->stack[depth++] = (uint16_t)pc;
    return depth;
}

/* Adds an instruction and those reached without a character or a test. */
static void phi__regex_reach(phi__regex *regex, uint64_t *set, size_t pc) {
    size_t depth = phi__regex_push(regex, set, 0, pc);
    while (depth > 0) {
        const phi__regex_code *code = &regex->program.codes[regex->stack[--depth]];
        regex->work++;
        if (code->op == PHI__REGEX_OP_SPLIT) depth = phi__regex_push(regex, set, depth, code->y);
        if (code->op == PHI__REGEX_OP_SPLIT || code->op == PHI__REGEX_OP_JUMP)
            depth = phi__regex_push(regex, set, depth, code->x);
        if (code->op == PHI__REGEX_OP_MATCH) regex->matched = true;
    }
}

static bool phi__regex_test(const phi__regex *regex, uint16_t kind, uint16_t before,
                            uint16_t symbol) {
    bool edge;
    if (kind == PHI__REGEX_START) return before == PHI__REGEX_BEFORE_LINE;
    if (kind == PHI__REGEX_END) return symbol == regex->program.end;
    edge =
        (before == PHI__REGEX_BEFORE_WORD) != phi__regex_program_is_word(&regex->program, symbol);
    return edge == (kind == PHI__REGEX_WORD);
}

/* Puts into `next` where a state's instructions lead with a symbol. */
static void phi__regex_follow(phi__regex *regex, const phi__regex_state *state, uint16_t symbol) {
    size_t i, depth = 0;
    memset(regex->seen, 0, regex->words * sizeof *regex->seen);
    for (i = 0; i < state->count; i++)
        depth = phi__regex_push(regex, regex->seen, depth, regex->pool[state->at + i]);
    while (depth > 0) {
        size_t pc = regex->stack[--depth];
        const phi__regex_code *code = &regex->program.codes[pc];
        regex->work++;
        if (code->op == PHI__REGEX_OP_SPLIT)
            depth = phi__regex_push(regex, regex->seen, depth, code->y);
        if (code->op == PHI__REGEX_OP_SPLIT || code->op == PHI__REGEX_OP_JUMP)
            depth = phi__regex_push(regex, regex->seen, depth, code->x);
        if (code->op == PHI__REGEX_OP_MATCH) regex->matched = true;
        if (code->op == PHI__REGEX_OP_TEST &&
            phi__regex_test(regex, code->x, state->before, symbol))
            depth = phi__regex_push(regex, regex->seen, depth, pc + 1);
        if (code->op == PHI__REGEX_OP_SET &&
            phi__regex_program_in_set(&regex->program, code->x, symbol))
            (void)phi__regex_mark(regex->next, pc + 1);
    }
}

/* `next` has single instructions: those reached from them are added. */
static void phi__regex_close(phi__regex *regex) {
    size_t i;
    memset(regex->seen, 0, regex->words * sizeof *regex->seen);
    for (i = 0; i < regex->words; i++) {
        uint64_t word = regex->next[i];
        size_t pc = i * 64;
        for (; word != 0; word >>= 1, pc++)
            if (word & 1) phi__regex_reach(regex, regex->seen, pc);
    }
    memcpy(regex->next, regex->seen, regex->words * sizeof *regex->next);
}

/* ---- states ---- */

static void phi__regex_flush(phi__regex *regex) {
    regex->state_count = PHI__REGEX_FIRST;
    regex->pool_count = 0;
    regex->start = PHI__REGEX_UNKNOWN;
    regex->flushed = true;
    memset(regex->hash, 0, regex->hash_size * sizeof *regex->hash);
}

/* Appends the instructions in `next` that wait for something to the pool, in order. False: no
   memory. *tests: there are tests among them. */
static bool phi__regex_list(phi__regex *regex, phi__regex_state *state, bool *tests) {
    size_t i, n = 0;
    uint16_t *pool;
    *tests = false;
    pool = (uint16_t *)phi__grow(regex->memory, regex->pool, &regex->pool_cap,
                                 regex->pool_count + regex->program.count, sizeof *pool);
    if (pool == NULL) return false;
    regex->pool = pool;
    for (i = 0; i < regex->words; i++) {
        uint64_t word = regex->next[i];
        size_t pc = i * 64;
        for (; word != 0; word >>= 1, pc++) {
            uint16_t op = regex->program.codes[phi__min(pc, regex->program.count - 1)].op;
            if ((word & 1) == 0 || op == PHI__REGEX_OP_JUMP || op == PHI__REGEX_OP_SPLIT) continue;
            if (op == PHI__REGEX_OP_TEST) *tests = true;
            pool[regex->pool_count + n++] = (uint16_t)pc;
        }
    }
    regex->work += regex->words + n;
    state->at = (uint32_t)regex->pool_count;
    state->count = (uint16_t)n;
    return true;
}

static bool phi__regex_same(const phi__regex *regex, const phi__regex_state *a,
                            const phi__regex_state *b) {
    return a->count == b->count && a->before == b->before &&
           memcmp(regex->pool + a->at, regex->pool + b->at, a->count * sizeof *regex->pool) == 0;
}

static size_t phi__regex_hash(const phi__regex *regex, const phi__regex_state *state) {
    uint32_t hash = 2166136261u + state->before;
    size_t i;
    for (i = 0; i < state->count; i++) hash = (hash ^ regex->pool[state->at + i]) * 16777619u;
    return (hash ^ hash >> 15) & (regex->hash_size - 1);
}

/* A row of the table for a new state. */
static bool phi__regex_room(phi__regex *regex) {
    size_t row = (size_t)1 << regex->shift;
    phi__regex_state *states = (phi__regex_state *)phi__grow(
        regex->memory, regex->states, &regex->state_cap, regex->state_count + 1, sizeof *states);
    uint16_t *table;
    if (states == NULL) return false;
    regex->states = states;
    table = (uint16_t *)phi__grow(regex->memory, regex->table, &regex->table_cap,
                                  (regex->state_count + 1) * row, sizeof *table);
    if (table == NULL) return false;
    regex->table = table;
    memset(table + regex->state_count * row, 0, row * sizeof *table);
    return true;
}

/* The state of the instructions in `next`; PHI__REGEX_UNKNOWN: no memory. */
static uint16_t phi__regex_intern(phi__regex *regex, uint16_t before) {
    phi__regex_state state;
    size_t at;
    bool tests;
    if (regex->state_count >= regex->most_states ||
        regex->pool_count + regex->program.count > PHI__REGEX_POOL)
        phi__regex_flush(regex);
    if (!phi__regex_list(regex, &state, &tests)) return PHI__REGEX_UNKNOWN;
    state.before = tests ? before : (uint16_t)PHI__REGEX_BEFORE_ANY;
    at = phi__regex_hash(regex, &state);
    for (; regex->hash[at] != 0; at = (at + 1) & (regex->hash_size - 1))
        if (phi__regex_same(regex, &state, &regex->states[regex->hash[at]])) return regex->hash[at];
    if (!phi__regex_room(regex)) return PHI__REGEX_UNKNOWN;
    regex->hash[at] = (uint16_t)regex->state_count;
    regex->pool_count += state.count;
    regex->states[regex->state_count] = state;
    return (uint16_t)regex->state_count++;
}

/* The state at a line's beginning. */
static uint16_t phi__regex_starting(phi__regex *regex) {
    if (regex->start != PHI__REGEX_UNKNOWN) return regex->start;
    memset(regex->next, 0, regex->words * sizeof *regex->next);
    phi__regex_reach(regex, regex->next, 0);
    regex->matched = false; /* noticed at the next symbol */
    regex->start = phi__regex_intern(regex, PHI__REGEX_BEFORE_LINE);
    return regex->start;
}

/* Where a symbol leads; PHI__REGEX_UNKNOWN: no memory. */
static uint16_t phi__regex_step(phi__regex *regex, uint16_t symbol) {
    phi__regex_state state = regex->states[regex->state];
    bool word;
    regex->matched = false;
    memset(regex->next, 0, regex->words * sizeof *regex->next);
    phi__regex_follow(regex, &state, symbol);
    if (regex->matched) return PHI__REGEX_MATCHED;
    if (symbol == regex->program.end) return phi__regex_starting(regex);
    (void)phi__regex_mark(regex->next, 0); /* a match may begin here, too */
    phi__regex_close(regex);
    if (regex->matched) return PHI__REGEX_MATCHED;
    word = regex->program.words && phi__regex_program_is_word(&regex->program, symbol);
    return phi__regex_intern(regex,
                             (uint16_t)(word ? PHI__REGEX_BEFORE_WORD : PHI__REGEX_BEFORE_OTHER));
}

/* The same out of the table, where it is computed once. */
static uint16_t phi__regex_go(phi__regex *regex, uint16_t symbol, size_t *units) {
    size_t place = ((size_t)regex->state << regex->shift) + symbol;
    uint16_t to = regex->table[place];
    uint64_t before = regex->work;
    if (to != PHI__REGEX_UNKNOWN) return to;
    regex->flushed = false;
    to = phi__regex_step(regex, symbol);
    if (!regex->flushed) regex->table[place] = to;
    *units -= phi__min(*units, (size_t)(regex->work - before));
    return to;
}

/* ---- text ---- */

/* The symbol of a character above ASCII; *n its bytes, 0: more are needed. */
static uint16_t phi__regex_decode(const phi__regex *regex, phi_str text, bool last, size_t *n) {
    const unsigned char *s = (const unsigned char *)text.at;
    size_t want = s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4, have = phi__min(want, text.len), i;
    uint32_t code = s[0] & (0xFFu >> (want + 1));
    if (phi__utf8_valid(phi__str(text.at, have)) == want) {
        for (i = 1; i < want; i++) code = code << 6 | (s[i] & 0x3Fu);
        *n = want;
        return phi__regex_program_symbol(&regex->program, code);
    }
    /* The beginning of a character, up to the end of the text. */
    *n = !last && have < want && phi__utf8_bad(text.at, text.at + have) == have ? 0 : 1;
    if (*n == 0 && (s[0] < 0xC2 || s[0] > 0xF4)) *n = 1;
    return regex->program.bad;
}

/* Where one of the leading bytes stands, from `at` on. next: where each was seen last. */
static size_t phi__regex_skip(const phi__regex *regex, const char *text, size_t at, size_t end,
                              size_t *next) {
    size_t first = end, i;
    for (i = 0; i < regex->lead_count; i++) {
        if (next[i] < at) {
            const void *found = memchr(text + at, regex->leads[i], end - at);
            next[i] = found != NULL ? (size_t)((const char *)found - text) : end;
        }
        first = phi__min(first, next[i]);
    }
    return first;
}

/* Follows the table; stops at a place not computed yet, at a match, and at a byte above ASCII. */
static size_t phi__regex_run(phi__regex *regex, const char *text, size_t at, size_t end) {
    const uint16_t *table = regex->table, *bytes = regex->program.bytes;
    unsigned shift = regex->shift;
    uint16_t state = regex->state, idle = PHI__REGEX_UNKNOWN;
    size_t next[2] = {0, 0};
    if (regex->lead_count > 0) {
        idle = regex->start;
        if (state == idle) at = phi__regex_skip(regex, text, at, end, next);
    }
    for (; at < end; at++) {
        uint16_t to = table[((size_t)state << shift) + bytes[(unsigned char)text[at]]];
        if (to < PHI__REGEX_FIRST) break;
        state = to;
        /* The loop's own step follows. */
        if (to == idle) at = phi__regex_skip(regex, text, at + 1, end, next) - 1;
    }
    regex->state = state;
    return at;
}

/* Whether the start state has no tests, and at most two ASCII bytes lead on from it. */
static void phi__regex_find_leads(phi__regex *regex) {
    const phi__regex_program *program = &regex->program;
    uint16_t symbol, c;
    size_t pc, run, n = 0;
    memset(regex->next, 0, regex->words * sizeof *regex->next);
    phi__regex_reach(regex, regex->next, 0);
    for (symbol = 0; symbol < program->symbol_count; symbol++) {
        bool leads = regex->matched;
        for (pc = 0; pc < program->count && !leads; pc++)
            if ((regex->next[pc >> 6] >> (pc & 63) & 1) != 0)
                leads = program->codes[pc].op == PHI__REGEX_OP_TEST ||
                        (program->codes[pc].op == PHI__REGEX_OP_SET &&
                         phi__regex_program_in_set(program, program->codes[pc].x, symbol));
        if (!leads) continue;
        for (run = 0; run < program->run_count; run++)
            if (program->starts[run] >= 0x80 && program->symbols[run] == symbol) return;
        for (c = 0; c < 0x80; c++) {
            if (program->bytes[c] != symbol) continue;
            if (n == 2) return;
            regex->leads[n++] = (char)c;
        }
    }
    regex->lead_count = n;
}

static bool phi__regex_ready(phi__regex *regex) {
    if (regex->state == PHI__REGEX_UNKNOWN) regex->state = phi__regex_starting(regex);
    return regex->state != PHI__REGEX_UNKNOWN;
}

static bool phi__regex_prepare(phi__regex *regex) {
    size_t row = 1;
    while (row < (size_t)regex->program.high + 1) {
        row *= 2;
        regex->shift++;
    }
    regex->words = (regex->program.count + 63) / 64;
    regex->most_states =
        phi__max(phi__min(PHI__REGEX_CACHE / (row * sizeof(uint16_t)), PHI__REGEX_STATES), 16);
    regex->hash_size = 2 * PHI__REGEX_STATES;
    while (regex->hash_size >= 4 * regex->most_states) regex->hash_size /= 2;
    regex->hash = (uint16_t *)phi__alloc(regex->memory, regex->hash_size * sizeof *regex->hash);
    regex->next = (uint64_t *)phi__alloc(regex->memory, regex->words * sizeof *regex->next);
    regex->seen = (uint64_t *)phi__alloc(regex->memory, regex->words * sizeof *regex->seen);
    regex->stack =
        (uint16_t *)phi__alloc(regex->memory, regex->program.count * sizeof *regex->stack);
    if (regex->hash == NULL || regex->next == NULL || regex->seen == NULL || regex->stack == NULL)
        return false;
    phi__regex_flush(regex);
    phi__regex_find_leads(regex);
    regex->matched = false;
    return true;
}

/* ---- for other files ---- */

PHI__FN phi_status phi__regex_new(phi_memory *memory, phi_str pattern, bool ignore_case,
                                  phi__regex **out, phi__regex_error *error) {
    phi__regex *regex = (phi__regex *)phi__alloc(memory, sizeof *regex);
    phi__regex_tree tree;
    phi_status status;
    *out = NULL;
    memset(error, 0, sizeof *error);
    if (regex == NULL) return PHI_NO_MEMORY;
    regex->memory = memory;
    regex->program.memory = memory;
    status = phi__regex_parse(&tree, memory, pattern, ignore_case, error);
    if (status == PHI_OK) status = phi__regex_program_make(&regex->program, &tree, error);
    phi__regex_parse_free(&tree);
    if (status == PHI_OK && !phi__regex_prepare(regex)) status = PHI_NO_MEMORY;
    if (status == PHI_OK)
        *out = regex;
    else
        phi__regex_free(regex);
    return status;
}

PHI__FN void phi__regex_free(phi__regex *regex) {
    phi_memory *memory;
    if (regex == NULL) return;
    memory = regex->memory;
    phi__free(memory, regex->table, regex->table_cap * sizeof *regex->table);
    phi__free(memory, regex->states, regex->state_cap * sizeof *regex->states);
    phi__free(memory, regex->pool, regex->pool_cap * sizeof *regex->pool);
    phi__free(memory, regex->hash, regex->hash_size * sizeof *regex->hash);
    phi__free(memory, regex->next, regex->words * sizeof *regex->next);
    phi__free(memory, regex->seen, regex->words * sizeof *regex->seen);
    phi__free(memory, regex->stack, regex->program.count * sizeof *regex->stack);
    phi__regex_program_free(&regex->program);
    phi__free(memory, regex, sizeof *regex);
}

PHI__FN void phi__regex_begin(phi__regex *regex) { regex->state = regex->start; }

PHI__FN phi__regex_found phi__regex_scan(phi__regex *regex, phi_str text, bool last, size_t *at,
                                         size_t *units) {
    while (*at < text.len) {
        size_t begin = *at, n = 1;
        uint16_t symbol, to;
        if (*units == 0) return PHI__REGEX_BUSY;
        if (!phi__regex_ready(regex)) return PHI__REGEX_NO_MEMORY;
        *at = phi__regex_run(regex, text.at, begin, begin + phi__min(text.len - begin, *units));
        *units -= *at - begin;
        regex->work += *at - begin;
        if (*units == 0 || *at == text.len) continue;
        symbol = regex->program.bytes[(unsigned char)text.at[*at]];
        if (symbol == regex->program.high)
            symbol = phi__regex_decode(regex, phi__str(text.at + *at, text.len - *at), last, &n);
        if (n == 0) return PHI__REGEX_NONE;
        to = phi__regex_go(regex, symbol, units);
        if (to == PHI__REGEX_UNKNOWN) return PHI__REGEX_NO_MEMORY;
        if (to == PHI__REGEX_MATCHED) return PHI__REGEX_MATCH;
        regex->state = to;
        *at += n;
        *units -= phi__min(*units, n);
    }
    return PHI__REGEX_NONE;
}

PHI__FN phi__regex_found phi__regex_finish(phi__regex *regex) {
    size_t units = SIZE_MAX;
    uint16_t to;
    if (!phi__regex_ready(regex)) return PHI__REGEX_NO_MEMORY;
    to = phi__regex_go(regex, regex->program.end, &units);
    if (to == PHI__REGEX_UNKNOWN) return PHI__REGEX_NO_MEMORY;
    return to == PHI__REGEX_MATCHED ? PHI__REGEX_MATCH : PHI__REGEX_NONE;
}
