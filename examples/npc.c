/* npc.c - a villager who lives in 64 KB for ever.

   Everything that phi allocates is in one block of 64 KB: the runtime, the villager, her history
   and what she knows. Thousands of visitors talk to her. phi forgets the oldest turns of her
   history, so it never grows; a thing that she must not forget is a fact. At half time she is
   saved, the block is wiped, and she is loaded from the text.

   Look at village_open (how phi gets the 64 KB), remember_start (a tool sets a fact), and the
   lines that the program prints at its end. The model is a provider of this program: a
   few rules.
   usage: npc [prompts]      npc live: you talk to her, and a real model thinks (pick_model.h) */
#define PHI_IMPLEMENTATION
#include "phi_tools.h"
#include "block.h"
#include "npc_mind.h"
#include "pick_model.h"

/* VILLAGER_BYTES: in steps of 4 KB, the least with which no run fails. */
enum { BLOCK_BYTES = 64 << 10, VILLAGER_BYTES = 28 << 10, PEOPLE = 12, TASTES = 7 };

typedef struct village {
    union {
        block_part aligned;
        unsigned char bytes[BLOCK_BYTES];
    } memory;
    block block;
    mind mind;
    phi_tool tool;
    phi_agent_desc desc;
    phi_runtime *rt;
    phi_agent villager;
    char said[1024];
    size_t prompts, forgotten, wrong, errors;
    size_t runtime_bytes, early_peak, peak; /* of phi's own count */
} village;

/* The tool `remember`. */
static phi_flow remember_start(void *user_data, phi_call call, phi_str arguments) {
    phi_fact_scope hers = phi_fact_agent(phi_call_get_info(call).agent);
    const char *who = phi_call_arg_str(call, "who", ""), *what = phi_call_arg_str(call, "what", "");
    (void)user_data, (void)arguments;
    if (phi_fact_set(hers, who, phi_str_of(what), NULL) == PHI_OK)
        phi_call_reply(call, "You will remember it.");
    else
        phi_call_fail(call, "You cannot remember it: it is too long, or you know too much.");
    return PHI_DONE;
}

/* The runtime in its block, and the desc of the villager. False: phi_last_error may say why. */
static bool village_open(village *v, bool live) {
    static const phi_feature_fn features[] = {phi_feature_facts, NULL};
    static const phi_tool remember = {
        .name = "remember",
        .description = "Remembers something about somebody for ever",
        .schema = "{\"type\":\"object\",\"properties\":{\"who\":{\"type\":\"string\"},\"what\":"
                  "{\"type\":\"string\"}},\"required\":[\"who\",\"what\"]}",
        .start = remember_start};
    const char *why = "";
    phi_provider rules = mind_provider(&v->mind);
    phi_runtime_desc desc = PHI_ZERO;
    memset(&v->memory, 0xDD, sizeof v->memory);
    block_init(&v->block, &v->memory, sizeof v->memory);
    desc.allocator.realloc_fn = block_realloc;
    desc.allocator.user_data = &v->block;
    desc.inbox_bytes =
        1024; /* for calls from other threads; the default would be the whole block */
    desc.features = features;
    v->rt = phi_runtime_new(&desc);
    if (v->rt == NULL || phi_register_provider(v->rt, &rules) != PHI_OK) return false;
    v->runtime_bytes = phi_memory_used(v->rt, NULL);
    v->desc.model.protocol = v->desc.model.id = "rules";
    if (live) v->desc.model = pick_model(&why);
    v->desc.system_prompt = "You are an old villager. You answer in one sentence.";
    v->desc.tools = &remember;
    v->desc.tool_count = 1;
    v->desc.memory.limit_bytes = VILLAGER_BYTES; /* the runtime has the rest of the block */
    v->desc.memory.at_limit = PHI_AT_MEMORY_LIMIT_FORGET;
    return true;
}

static void talk(village *v, const char *text) {
    phi_event ev;
    int runs;
    v->prompts++;
    v->said[0] = '\0';
    if (phi_prompt(v->villager, text) != PHI_OK) {
        v->errors++;
        return;
    }
    do {
        runs = phi_step(v->rt, -1);
        while (phi_next_event(v->rt, &ev)) {
            if (ev.kind == PHI_EV_FORGOTTEN) v->forgotten += ev.forgotten->messages;
            if (ev.kind == PHI_EV_ERROR) v->errors++;
            if (ev.kind == PHI_EV_TEXT || ev.kind == PHI_EV_ERROR)
                (void)snprintf(v->said, sizeof v->said, "%.*s",
                               PHI_ARG(ev.kind == PHI_EV_TEXT ? ev.partial : ev.text));
        }
    } while (runs > 0);
    (void)phi_memory_used(v->rt, &v->peak);
}

/* Saves her, wipes the block and loads her. The text would be a file; its arena is outside of
   the block. */
static bool sleep_and_wake(village *v) {
    phi_arena arena;
    phi_str text;
    phi_status status;
    phi_arena_init(&arena, NULL, 0);
    status = phi_agent_snapshot(v->villager, &arena, &text);
    phi_runtime_free(v->rt);
    v->rt = NULL;
    if (status == PHI_OK && village_open(v, false)) {
        printf("saved in a text of %u bytes, and loaded\n", (unsigned)text.len);
        v->villager = phi_agent_restore(v->rt, &v->desc, text, PHI_RESTORE_RESUME);
    }
    phi_arena_free(&arena);
    return v->rt != NULL && phi_agent_alive(v->villager);
}

/* Each visitor tells her a taste, and another time asks for it. Now and then a taste changes. */
static bool live_on(village *v, size_t prompts) {
    static const char *const people[PEOPLE] = {"Ada", "Bo",  "Cleo", "Dan", "Eve", "Finn",
                                               "Gus", "Hal", "Ida",  "Jon", "Kim", "Lea"};
    static const char *const tastes[TASTES] = {"apples", "honey", "rain", "songs",
                                               "sheep",  "bread", "fire"};
    size_t i, likes[PEOPLE];
    char text[80];
    for (i = 0; i < prompts; i++) {
        size_t who = i % PEOPLE;
        if (i < PEOPLE || i % 97 == 0) {
            likes[who] = i % TASTES;
            (void)snprintf(text, sizeof text, "I am %s. I like %s.", people[who],
                           tastes[likes[who]]);
            talk(v, text);
            continue;
        }
        (void)snprintf(text, sizeof text, "I am %s. What do I like?", people[who]);
        talk(v, text);
        (void)snprintf(text, sizeof text, "You like %s, %s.", tastes[likes[who]], people[who]);
        if (strcmp(text, v->said) != 0) v->wrong++;
        if (i == prompts / 10) v->early_peak = v->peak;
        if (i == prompts / 2 && !sleep_and_wake(v)) return false;
    }
    return true;
}

static void chat(village *v) {
    char line[512];
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        talk(v, line);
        printf("%s\n", v->said);
    }
}

int main(int argc, char **argv) {
    static village v;
    bool live = argc > 1 && strcmp(argv[1], "live") == 0;
    phi_agent_info info;
    if (village_open(&v, live)) v.villager = phi_agent_new(v.rt, &v.desc);
    if (v.rt == NULL || !phi_agent_alive(v.villager)) {
        printf("! %s\n", v.rt != NULL ? phi_last_error(v.rt).message : "no runtime");
        return 1;
    }
    if (live)
        chat(&v);
    else if (!live_on(&v, argc > 1 ? strtoul(argv[1], NULL, 10) : 4000)) {
        printf("! not loaded: %s\n", v.rt != NULL ? phi_last_error(v.rt).message : "no memory");
        return 1;
    }
    info = phi_agent_get_info(v.villager);
    printf("%u prompts, %u wrong answers, %u errors; %u messages forgotten\n", (unsigned)v.prompts,
           (unsigned)v.wrong, (unsigned)v.errors, (unsigned)v.forgotten);
    printf("of %d bytes: runtime %u at first, villager at most %u, together at most %u",
           BLOCK_BYTES, (unsigned)v.runtime_bytes, (unsigned)info.memory_peak, (unsigned)v.peak);
    if (!live) printf(" (%u after a tenth)", (unsigned)v.early_peak);
    printf("\n");
    printf("the highest byte in use was number %u\n", (unsigned)v.block.highest);
    phi_runtime_free(v.rt);
    return v.wrong > 0 || v.errors > 0;
}
