/* fuzz_strategy.c - any bytes as answers of a model, and as a saved machine: never a crash, and the
   bounds of the tree hold. Zero bytes part the answers; the first byte chooses the machine. */
#include "orchestrate/machine_in.h"

#include <stdlib.h>

typedef struct drive {
    const phi_strategy *strategy;
    phi_memory memory;
    phi_arena arena, scratch;
    phi_strategy_env env;
    void *state;
    uint32_t call_id;
    bool over;
} drive;

static void take(drive *d, const phi_strategy_commands *commands) {
    phi_json *root = NULL;
    size_t i;
    for (i = 0; i < commands->count; i++) {
        if (commands->at[i].kind == PHI_STRATEGY_ASK) d->call_id = commands->at[i].call.id;
        if (commands->at[i].kind != PHI_STRATEGY_DONE && commands->at[i].kind != PHI_STRATEGY_FAIL)
            continue;
        if (phi_json_parse(&d->scratch, commands->at[i].result, PHI_JSON_REPLACE_BAD_UTF8, &root,
                           NULL) != PHI_OK)
            abort();
        d->over = true;
    }
}

static void say(drive *d, phi_strategy_event_kind kind, phi_str text) {
    phi_strategy_commands commands;
    phi_strategy_event event;
    commands.count = 0;
    memset(&event, 0, sizeof event);
    event.kind = kind;
    event.call_id = d->call_id;
    event.text = text;
    if (d->strategy->on(d->state, &event, &d->env, &commands) != PHI_OK) abort();
    take(d, &commands);
    if (d->strategy->save(d->state, &d->scratch) == NULL) abort();
    phi_arena_free(&d->scratch);
}

static void check_tree(const phi__tot *t, const phi_tot_options *o) {
    uint32_t i;
    if (t->tree.count > o->max_nodes) abort();
    for (i = 0; i < t->tree.count; i++)
        if (t->tree.nodes[i].children > o->branching_factor ||
            t->tree.nodes[i].depth > o->max_depth)
            abort();
}

static void load_bytes(drive *d, phi_str text) {
    phi_strategy_commands commands;
    phi_json *root = NULL;
    commands.count = 0;
    memset(d->state, 0, d->strategy->state_bytes);
    if (phi_json_parse(&d->scratch, text, PHI_JSON_REPLACE_BAD_UTF8, &root, NULL) == PHI_OK &&
        d->strategy->load(d->state, root, &d->env, &commands) == PHI_OK && commands.count > 0) {
        d->call_id = commands.at[0].call.id;
        say(d, PHI_STRATEGY_ANSWER, PHI__LIT("1. 0.5"));
    }
    phi_arena_free(&d->scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const phi_strategy *const all[8] = {phi_strategy_tot(),
                                        phi_strategy_aot(),
                                        phi_strategy_cot(PHI_COT_STEPS),
                                        phi_strategy_cot(PHI_COT_DRAFTS),
                                        phi_strategy_got(),
                                        phi_strategy_trm(),
                                        phi_strategy_adaptive(),
                                        phi_strategy_got()};
    static const phi_got_options votes = {PHI_GOT_VOTING, 1,    0,    0,    0, 0,     0,   NULL,
                                          NULL,           NULL, NULL, NULL, 0, false, 0.0, 0};
    phi_tot_options o = phi__tot_options_of(NULL);
    const char *at = (const char *)data + 1, *end = (const char *)data + size;
    drive d;
    if (size == 0) return 0;
    memset(&d, 0, sizeof d);
    d.strategy = all[data[0] % 8];
    if (data[0] % 8 == 7) d.env.options = &votes;
    phi_memory_init(&d.memory, NULL, 0);
    phi_arena_init(&d.arena, &d.memory, 0);
    phi_arena_init(&d.scratch, &d.memory, 0);
    d.env.arena = &d.arena;
    d.env.scratch = &d.scratch;
    d.env.calls_left = PHI_UNLIMITED;
    d.state = phi__alloc(&d.memory, d.strategy->state_bytes);
    if (d.state == NULL) abort();
    say(&d, PHI_STRATEGY_BEGIN, PHI__LIT("problem"));
    while (!d.over && at < end) {
        const char *cut = (const char *)memchr(at, 0, (size_t)(end - at));
        if (cut == NULL) cut = end;
        say(&d, PHI_STRATEGY_ANSWER, phi__str(at, (size_t)(cut - at)));
        if (data[0] % 8 == 0) check_tree((const phi__tot *)d.state, &o);
        at = cut + 1;
    }
    load_bytes(&d, phi__str((const char *)data + 1, size - 1));
    phi__free(&d.memory, d.state, d.strategy->state_bytes);
    phi_arena_free(&d.arena);
    phi_arena_free(&d.scratch);
    if (d.memory.used_bytes != 0) abort();
    return 0;
}
