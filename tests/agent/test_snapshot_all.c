/* test_snapshot_all.c - a whole world as one text: agents, facts, calls that wait; in pieces, and back. */
#include "agent/snapshot.h"
#include "features/facts.h"
#include "support/rig.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/thread.h"
#include "loop/loop_in.h"

enum { VILLAGERS = 4 };

/* ---- a village: a mayor, a smith in the midst of a call, a child of the mayor's, one who is silent ---- */

typedef struct village {
    rig *r;
    phi_agent agents[VILLAGERS];
    phi_memory memory;
    phi_arena arena;
    phi_tool tool;
    bool finish; /* the smith is done */
} village;

static phi_flow forge_start(void *user_data, phi_call call, phi_str arguments) {
    char *heat = (char *)phi_call_state(call, 8);
    (void)user_data;
    (void)arguments;
    if (heat != NULL) memcpy(heat, "1200 C", 7);
    return PHI_PENDING;
}

static phi_flow forge_step(void *user_data, phi_call call) {
    const village *v = (const village *)user_data;
    if (!v->finish) return PHI_PENDING;
    (void)phi_call_reply(call, "done");
    return PHI_DONE;
}

static phi_flow forge_resume(void *user_data, phi_call call, phi_str arguments) {
    const char *heat = (const char *)phi_call_state(call, 8);
    (void)user_data;
    (void)arguments;
    (void)phi_call_reply(call, heat != NULL ? heat : "");
    return PHI_DONE;
}

static phi_agent_desc desc_of(village *v, const char *id, phi_agent parent) {
    phi_agent_desc desc = rig_desc();
    desc.ids.agent_id = id;
    desc.parent = parent;
    desc.tools = &v->tool;
    desc.tool_count = 1;
    return desc;
}

static void village_init(village *v, const phi_runtime_desc *with) {
    memset(v, 0, sizeof *v);
    v->r = with != NULL ? rig_new_with(with) : rig_new();
    phi_memory_init(&v->memory, NULL, 0);
    phi_arena_init(&v->arena, &v->memory, 0);
    v->tool.name = "forge";
    v->tool.start = forge_start;
    v->tool.step = forge_step;
    v->tool.resume = forge_resume;
    v->tool.user_data = v;
    v->tool.keeps_state = true;
}

static void village_free(village *v) {
    phi_arena_free(&v->arena);
    rig_free(v->r);
}

/* The mayor is made after her child's place was taken: the text has her first all the same. */
static void village_fill(village *v) {
    phi_agent none = PHI_ZERO, filler = rig_agent(v->r, NULL);
    phi_agent_desc mayor = desc_of(v, "mayor", none), smith = desc_of(v, "smith", none),
                   silent = desc_of(v, "silent", none), child;
    phi_runtime *rt = rig_runtime(v->r);
    v->agents[1] = rig_agent(v->r, &mayor);
    phi_agent_free(filler);
    child = desc_of(v, "child", v->agents[1]);
    v->agents[0] = rig_agent(v->r, &child);
    v->agents[2] = rig_agent(v->r, &smith);
    v->agents[3] = rig_agent(v->r, &silent);
    CHECK_EQ_INT(phi_fact_set(phi_fact_all(rt), "weather", phi_str_of("rain"), NULL), PHI_OK);
    CHECK_EQ_INT(phi_fact_set(phi_fact_group(rt, "smiths"), "iron", phi_str_of("dear"), NULL),
                 PHI_OK);
    CHECK_EQ_INT(phi_fact_join(v->agents[2], "smiths", true), PHI_OK);
    rig_says(v->r, "Good morning.");
    CHECK_EQ_INT(phi_prompt(v->agents[1], "Hello?"), PHI_OK);
    CHECK_EQ_INT(rig_run(v->r, 50), 0);
    rig_call(v->r, "c1", "forge", "{}");
    CHECK_EQ_INT(phi_prompt(v->agents[2], "A sword, please."), PHI_OK);
    CHECK_EQ_INT(rig_run(v->r, 20), 1);
}

/* All pieces; *pieces: how many. */
static phi_status save(village *v, phi_str *text, int *pieces) {
    phi_status status;
    int n = 0;
    do {
        status = phi_runtime_snapshot(rig_runtime(v->r), &v->arena, text);
        n++;
    } while (status == PHI_BUSY && n < 10000);
    if (pieces != NULL) *pieces = n;
    return status;
}

typedef struct casting {
    village *v;
    const char *left_out; /* NULL: nobody */
    char order[128];
    size_t index;
} casting;

static bool cast(void *user_data, phi_str id, size_t index, const phi_agent *agents,
                 phi_agent_desc *out) {
    casting *c = (casting *)user_data;
    size_t i, parent = 0;
    CHECK_EQ_INT(index, c->index);
    c->index++;
    if (strlen(c->order) + id.len + 2 < sizeof c->order)
        (void)sprintf(c->order + strlen(c->order), "%s ", id.at);
    if (c->left_out != NULL && phi_str_equal(id, phi_str_of(c->left_out))) return false;
    for (i = 0; i < index && parent == 0; i++)
        if (phi_str_equal(phi_agent_get_info(agents[i]).agent_id, phi_str_of("mayor")))
            parent = i + 1;
    *out = desc_of(c->v, id.at,
                   parent > 0 && phi_str_equal(id, phi_str_of("child")) ? agents[parent - 1]
                                                                        : rig_desc().parent);
    return true;
}

static phi_status load(village *v, phi_str text, casting *c, const phi_agent **agents,
                       size_t *count) {
    phi_restore_desc with = PHI_ZERO;
    phi_status status;
    int n = 0;
    c->v = v;
    c->index = 0;
    c->order[0] = '\0';
    with.desc_fn = cast;
    with.user_data = c;
    do status = phi_runtime_restore(rig_runtime(v->r), text, &with, &v->arena, agents, count);
    while (status == PHI_BUSY && n++ < 10000);
    return status;
}

static bool has_fact(village *v, const char *key) {
    phi_fact fact;
    return phi_fact_get(phi_fact_all(rig_runtime(v->r)), key, &fact) == PHI_OK;
}

/* ---- tests ---- */

TEST(a_world_goes_on_from_one_text) {
    village was, now;
    casting c = PHI_ZERO;
    const phi_agent *agents = NULL;
    size_t count = 0, i;
    phi_str text = phi_str_of("");
    village_init(&was, NULL);
    village_init(&now, NULL);
    village_fill(&was);
    CHECK_EQ_INT(save(&was, &text, NULL), PHI_OK);
    CHECK_EQ_INT(load(&now, text, &c, &agents, &count), PHI_OK);
    CHECK_EQ_STR(c.order, "mayor smith silent child ");
    REQUIRE(count == VILLAGERS);
    for (i = 0; i < count; i++) CHECK(phi_agent_alive(agents[i]));
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agents[0])), 3); /* with the facts */
    CHECK(has_fact(&now, "weather"));
    rig_says(now.r, "Here it is.");
    CHECK_EQ_INT(rig_run(now.r, 50), 0);
    REQUIRE(phi_thread_message_count(phi_agent_thread(agents[1])) >= 4);
    for (i = 0; i < phi_thread_message_count(phi_agent_thread(agents[1])); i++)
        if (phi_thread_message_at(phi_agent_thread(agents[1]), i)->role == PHI_ROLE_TOOL_RESULT)
            CHECK_STR(phi_thread_message_at(phi_agent_thread(agents[1]), i)->content[0].text,
                      "1200 C");
    CHECK(strstr(rig_request(now.r, 0), "iron: dear") != NULL);
    village_free(&was);
    village_free(&now);
}

/* Pieces of a few bytes. */
static void village_slow(village *v) {
    phi_runtime_desc slow = PHI_ZERO;
    slow.step_budget_bytes = 1;
    village_init(v, &slow);
}

/* Hypothesis: a piece more writes something twice, or the world moves meanwhile. */
TEST(a_text_made_in_pieces_is_the_text_made_at_once_and_the_world_stands_still) {
    phi_str whole = phi_str_of(""), pieces = phi_str_of(""), line = phi_str_of("");
    phi_runtime_desc fast = PHI_ZERO;
    village one, two, now;
    phi_restore_desc with = PHI_ZERO;
    casting c = PHI_ZERO;
    const phi_agent *agents = NULL;
    size_t count = 0, len = 0, i;
    int n = 0, pieces_count = 0;
    fast.step_budget_bytes = 1u << 30;
    village_init(&one, &fast);
    village_slow(&two);
    village_slow(&now);
    village_fill(&one);
    village_fill(&two);
    CHECK_EQ_INT(save(&one, &whole, &n), PHI_OK);
    CHECK_EQ_INT(n, 1);
    rig_says(two.r, "Here it is.");
    while (phi_runtime_snapshot(rig_runtime(two.r), &two.arena, &pieces) == PHI_BUSY) {
        pieces_count++;
        REQUIRE(pieces_count < 1000);
        CHECK_EQ_INT(phi_next_timeout(rig_runtime(two.r)), 0);
        CHECK_EQ_INT(phi_step(rig_runtime(two.r), -1), 1);
    }
    CHECK(pieces_count > 20);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(two.agents[2])),
                 phi_thread_message_count(phi_agent_thread(one.agents[2])));
    for (i = 0; i < VILLAGERS; i++) {
        CHECK_EQ_INT(phi_agent_snapshot(two.agents[i], &two.arena, &line), PHI_OK);
        CHECK(strstr(pieces.at, line.at) != NULL);
        len += line.len + 1;
    }
    CHECK_EQ_INT(strchr(pieces.at, '\n') + 1 - pieces.at, pieces.len - len);
    two.finish = true;
    CHECK_EQ_INT(rig_run(two.r, 50), 0); /* now it goes on */
    with.desc_fn = cast;
    with.user_data = &c;
    c.v = &now;
    for (n = 0; phi_runtime_restore(rig_runtime(now.r), whole, &with, &now.arena, &agents,
                                    &count) == PHI_BUSY;
         n++) {
        CHECK_EQ_INT(phi_runtime_snapshot(rig_runtime(now.r), &now.arena, &pieces), PHI_MISUSE);
        CHECK(phi_step(rig_runtime(now.r), 0) <= 1);
        CHECK_EQ_INT(rig_requests(now.r), 0);
    }
    CHECK_EQ_INT(n, VILLAGERS);
    CHECK_EQ_INT(count, VILLAGERS);
    village_free(&one);
    village_free(&two);
    village_free(&now);
}

/* A host's change after `pieces` pieces: a message more, or an agent fewer. */
static bool changed_after(int pieces, bool frees) {
    village v, now;
    casting c = PHI_ZERO;
    const phi_agent *agents = NULL;
    size_t count = 0, i;
    phi_str text = phi_str_of("");
    phi_message message = PHI_ZERO;
    phi_content content = PHI_ZERO;
    bool ends = false;
    int n;
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of("A note.");
    message.role = PHI_ROLE_USER;
    message.content = &content;
    message.content_count = 1;
    village_slow(&v);
    village_init(&now, NULL);
    village_fill(&v);
    for (n = 0; n < pieces && !ends; n++)
        ends = phi_runtime_snapshot(rig_runtime(v.r), &v.arena, &text) != PHI_BUSY;
    if (!ends) {
        if (frees)
            phi_agent_free(v.agents[3]);
        else
            CHECK_EQ_INT(phi_thread_append(phi_agent_thread(v.agents[3]), &message, 1, NULL),
                         PHI_OK);
        CHECK_EQ_INT(save(&v, &text, NULL), PHI_OK);
    }
    CHECK_EQ_INT(load(&now, text, &c, &agents, &count), PHI_OK);
    CHECK(count == VILLAGERS || (frees && count == VILLAGERS - 1));
    for (i = 0; i < count; i++) CHECK(phi_agent_alive(agents[i]));
    village_free(&v);
    village_free(&now);
    return !ends;
}

TEST(what_a_host_changes_between_two_pieces_makes_no_text_that_does_not_load) {
    int n;
    for (n = 0; changed_after(n, false); n++) {}
    CHECK(n > 20);
    for (n = 0; changed_after(n, true); n++) {}
}

TEST(an_agents_text_alone_and_a_world_without_agents_are_read_too) {
    village was, now;
    casting c = PHI_ZERO;
    const phi_agent *agents = NULL;
    size_t count = 7;
    phi_str text = phi_str_of("");
    village_init(&was, NULL);
    village_init(&now, NULL);
    CHECK_EQ_INT(save(&was, &text, NULL), PHI_OK);
    CHECK_EQ_STR(text.at, "{\"phi_runtime_snapshot\":1,\"agents\":0,\"facts\":{\"phi_facts\":1,"
                          "\"all\":{},\"groups\":{}}}\n");
    CHECK_EQ_INT(load(&now, text, &c, &agents, &count), PHI_OK);
    CHECK_EQ_INT(count, 0);
    village_fill(&was);
    CHECK_EQ_INT(phi_fact_set(phi_fact_all(rig_runtime(now.r)), "mine", phi_str_of("kept"), NULL),
                 PHI_OK);
    CHECK_EQ_INT(phi_agent_snapshot(was.agents[1], &was.arena, &text), PHI_OK);
    CHECK_EQ_INT(load(&now, text, &c, &agents, &count), PHI_OK);
    REQUIRE(count == 1);
    CHECK_STR(phi_agent_get_info(agents[0]).agent_id, "mayor");
    CHECK(has_fact(&now, "mine"));
    village_free(&was);
    village_free(&now);
}

TEST(an_agent_that_the_host_leaves_out_leaves_its_place_empty) {
    village was, now;
    casting c = PHI_ZERO;
    const phi_agent *agents = NULL;
    size_t count = 0;
    phi_str text = phi_str_of("");
    village_init(&was, NULL);
    village_init(&now, NULL);
    village_fill(&was);
    CHECK_EQ_INT(save(&was, &text, NULL), PHI_OK);
    c.left_out = "smith";
    CHECK_EQ_INT(load(&now, text, &c, &agents, &count), PHI_OK);
    REQUIRE(count == VILLAGERS);
    CHECK(agents[1].rt == NULL);
    CHECK(phi_agent_alive(agents[3]));
    CHECK_EQ_INT(rig_run(now.r, 3), 0);
    village_free(&was);
    village_free(&now);
}

/* The text with its first `from` made `to`; the caller frees it. */
static char *changed(phi_str text, const char *from, const char *to) {
    const char *at = strstr(text.at, from);
    char *out = (char *)malloc(text.len + strlen(to) + 1);
    if (out == NULL || !CHECK(at != NULL)) abort();
    (void)sprintf(out, "%.*s%s%s", (int)(at - text.at), text.at, to, at + strlen(from));
    return out;
}

static void refused(phi_str text, const char *from, const char *to, phi_status expected,
                    const char *words) {
    village now;
    casting c = PHI_ZERO;
    const phi_agent *agents = NULL;
    const char *said = "";
    size_t count = 0;
    char *bad = changed(text, from, to);
    phi_agent_desc desc;
    size_t before;
    village_init(&now, NULL);
    desc = rig_desc();
    (void)rig_agent(now.r, &desc);
    CHECK_EQ_INT(phi_fact_set(phi_fact_all(rig_runtime(now.r)), "mine", phi_str_of("kept"), NULL),
                 PHI_OK);
    before = phi_memory_used(rig_runtime(now.r), NULL);
    CHECK_EQ_INT(load(&now, phi_str_of(bad), &c, &agents, &count), expected);
    said = phi_last_error(rig_runtime(now.r)).message;
    CHECK_EQ_INT(phi_last_error(rig_runtime(now.r)).status, expected);
    CHECK_EQ_STR(said, words);
    CHECK(phi_memory_used(rig_runtime(now.r), NULL) < before + 4096);
    CHECK(has_fact(&now, "mine"));
    CHECK(!has_fact(&now, "weather"));
    CHECK_EQ_INT(rig_run(now.r, 3), 0); /* no agent of the text is there */
    village_free(&now);
    free(bad);
}

TEST(a_text_that_was_cut_or_changed_makes_no_agent) {
    village was;
    phi_str text = phi_str_of("");
    village_init(&was, NULL);
    village_fill(&was);
    CHECK_EQ_INT(save(&was, &text, NULL), PHI_OK);
    refused(text, "\"phi_runtime_snapshot\":1", "\"phi_runtime_snapshot\":2", PHI_UNSUPPORTED,
            "phi_runtime_restore: line 1: a snapshot of a later version");
    refused(text, "\"phi_runtime_snapshot\":1", "\"other\":2", PHI_PARSE,
            "phi_runtime_restore: line 1: no snapshot");
    refused(text, "\"agents\":4", "\"agents\":5", PHI_PARSE,
            "phi_runtime_restore: line 1: the text was cut: agents are missing");
    refused(text, "{\"phi_snapshot\":1,\"agent_id\":\"silent\"",
            "[1]\n{\"phi_snapshot\":1,\"agent_id\":\"silent\"", PHI_PARSE,
            "phi_runtime_restore: line 4: phi_agent_restore: no snapshot");
    refused(text, "\"agent_id\":\"silent\"", "\"agent_id\":", PHI_PARSE,
            "phi_runtime_restore: line 4: expected a value, found ','");
    refused(text, "\"weather\"", "\"we\\u0001ather\"", PHI_PARSE,
            "phi_runtime_restore: line 1: phi_facts_load: expected facts as phi_facts_save writes "
            "them");
    village_free(&was);
}

static bool none_of_them(void *user_data, phi_str agent_id, size_t index, const phi_agent *agents,
                         phi_agent_desc *out) {
    (void)user_data, (void)agent_id, (void)index, (void)agents, (void)out;
    return false;
}

static phi_status restored(phi_runtime *rt, const char *text, phi_arena *arena) {
    const phi_agent *agents = NULL;
    phi_restore_desc with = PHI_ZERO;
    phi_status status = PHI_BUSY;
    size_t count = 1;
    with.desc_fn = none_of_them;
    while (status == PHI_BUSY)
        status = phi_runtime_restore(rt, phi_str_of(text), &with, arena, &agents, &count);
    return status;
}

TEST(facts_of_all_are_refused_by_a_runtime_without_facts) {
    phi_runtime_desc desc = PHI_ZERO;
    phi_memory memory;
    phi_arena arena;
    phi_runtime *rt;
    const char *words = "";
    phi_str text = phi_str_of("");
    phi_status status = PHI_BUSY;
    desc.allocator = test_allocator();
    rt = phi_runtime_new(&desc);
    REQUIRE(rt != NULL);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(restored(rt,
                          "{\"phi_runtime_snapshot\":1,\"agents\":0,\"facts\":{\"phi_facts\":1,"
                          "\"all\":{\"a\":{\"value\":\"b\",\"version\":1}},\"groups\":{}}}\n",
                          &arena),
                 PHI_UNSUPPORTED);
    words = phi_last_error(rt).message;
    CHECK_EQ_STR(words, "phi_runtime_restore: line 1: the snapshot has facts: name "
                        "phi_feature_facts in phi_runtime_desc.features");
    CHECK_EQ_INT(restored(rt,
                          "{\"phi_runtime_snapshot\":1,\"agents\":0,\"facts\":{\"phi_facts\":1,"
                          "\"all\":{},\"groups\":{}}}\n",
                          &arena),
                 PHI_OK);
    while (status == PHI_BUSY) status = phi_runtime_snapshot(rt, &arena, &text);
    CHECK_EQ_INT(status, PHI_OK);
    CHECK_EQ_STR(text.at, "{\"phi_runtime_snapshot\":1,\"agents\":0}\n");
    phi_arena_free(&arena);
    phi_runtime_free(rt);
}

/* Hypothesis: a text that ends early is read as far as it goes. */
TEST(a_text_cut_at_any_byte_makes_no_agent) {
    village was, now;
    phi_str text = phi_str_of(""), cut;
    size_t i;
    village_init(&was, NULL);
    village_init(&now, NULL);
    village_fill(&was);
    CHECK_EQ_INT(save(&was, &text, NULL), PHI_OK);
    for (i = 1; i + 1 < text.len; i += i < 100 || i + 100 > text.len ? 1 : 97) {
        casting c = PHI_ZERO;
        const phi_agent *agents = NULL;
        size_t count = 0;
        cut = phi_str_of("");
        cut.at = text.at;
        cut.len = i;
        if (!CHECK(load(&now, cut, &c, &agents, &count) < PHI_OK))
            printf("cut at %lu\n", (unsigned long)i);
    }
    CHECK_EQ_INT(rig_run(now.r, 3), 0);
    village_free(&was);
    village_free(&now);
}

TEST(saving_and_loading_that_are_given_up_leave_nothing) {
    village v;
    casting c = PHI_ZERO;
    phi_restore_desc with = PHI_ZERO;
    phi_str text = phi_str_of(""), none = phi_str_of("");
    const phi_agent *agents = NULL;
    size_t count = 0, used;
    phi_runtime *rt;
    village_slow(&v);
    village_fill(&v);
    rt = rig_runtime(v.r);
    CHECK_EQ_INT(save(&v, &text, NULL), PHI_OK);
    used = phi_memory_used(rt, NULL);
    CHECK_EQ_INT(phi_runtime_snapshot(rt, NULL, NULL), PHI_OK); /* there is nothing to give up */
    CHECK_EQ_INT(phi_runtime_snapshot(rt, &v.arena, &none), PHI_BUSY);
    CHECK_EQ_INT(phi_runtime_snapshot(rt, &v.arena, &none), PHI_BUSY);
    CHECK_EQ_INT(phi_runtime_snapshot(rt, NULL, NULL), PHI_OK);
    CHECK_EQ_INT(phi_memory_used(rt, NULL), used);
    with.desc_fn = cast;
    with.user_data = &c;
    c.v = &v;
    CHECK_EQ_INT(phi_runtime_restore(rt, text, NULL, &v.arena, &agents, &count), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_runtime_restore(rt, text, &with, &v.arena, &agents, &count), PHI_BUSY);
    CHECK_EQ_INT(phi_runtime_restore(rt, text, &with, &v.arena, &agents, &count), PHI_BUSY);
    CHECK_EQ_INT(phi_runtime_restore(rt, phi_str_of("{}"), &with, &v.arena, &agents, &count),
                 PHI_MISUSE);
    none = phi_str_of("");
    CHECK_EQ_INT(phi_runtime_restore(rt, none, &with, &v.arena, &agents, &count), PHI_OK);
    CHECK(phi_memory_used(rt, NULL) < used + 4096);
    CHECK_EQ_INT(phi_step(rt, 0), 1);
    c.index = 0;
    CHECK_EQ_INT(phi_runtime_restore(rt, text, &with, &v.arena, &agents, &count), PHI_BUSY);
    village_free(&v); /* in the midst of loading */
}

static bool step_inside(void *user_data, phi_str id, size_t index, const phi_agent *agents,
                        phi_agent_desc *out) {
    village *v = (village *)user_data;
    phi_runtime *rt = rig_runtime(v->r);
    phi_restore_desc with = PHI_ZERO;
    phi_str text = phi_str_of("{}");
    const phi_agent *made;
    size_t count;
    (void)id;
    (void)index;
    (void)agents;
    (void)out;
    with.desc_fn = step_inside;
    CHECK_EQ_INT(phi_step(rt, 0), PHI_MISUSE);
    CHECK_EQ_INT(phi_runtime_snapshot(rt, &v->arena, &text), PHI_MISUSE);
    CHECK_EQ_INT(phi_runtime_restore(rt, text, &with, &v->arena, &made, &count), PHI_MISUSE);
    return false;
}

TEST(a_callback_of_a_restore_cannot_step_save_or_restore) {
    village v;
    phi_restore_desc with = PHI_ZERO;
    phi_str text = phi_str_of("");
    const phi_agent *agents = NULL;
    size_t count = 0;
    village_init(&v, NULL);
    village_fill(&v);
    CHECK_EQ_INT(save(&v, &text, NULL), PHI_OK);
    with.desc_fn = step_inside;
    with.user_data = &v;
    CHECK_EQ_INT(phi_runtime_restore(rig_runtime(v.r), text, &with, &v.arena, &agents, &count),
                 PHI_OK);
    CHECK_EQ_INT(count, VILLAGERS);
    village_free(&v);
}

TEST(wherever_memory_ends_nothing_stays_and_nothing_is_lost) {
    village was, now;
    phi_str text = phi_str_of("");
    phi_status status = PHI_NO_MEMORY;
    int n;
    village_init(&was, NULL);
    village_init(&now, NULL);
    village_fill(&was);
    for (n = 0; n < 5000 && status != PHI_OK; n++) {
        test_alloc_fail_at(n);
        status = save(&was, &text, NULL);
        test_alloc_fail_at(-1);
        if (status != PHI_OK) CHECK_EQ_INT(status, PHI_NO_MEMORY);
    }
    CHECK_EQ_INT(status, PHI_OK);
    CHECK(n > 1);
    status = PHI_NO_MEMORY;
    for (n = 0; n < 5000 && status != PHI_OK; n++) {
        casting c = PHI_ZERO;
        const phi_agent *agents = NULL;
        size_t count = 0;
        test_alloc_fail_at(n);
        status = load(&now, text, &c, &agents, &count);
        test_alloc_fail_at(-1);
        if (status != PHI_OK) {
            CHECK_EQ_INT(status, PHI_NO_MEMORY);
            CHECK(!has_fact(&now, "weather"));
        }
    }
    CHECK_EQ_INT(status, PHI_OK);
    CHECK(n > 50);
    village_free(&was);
    village_free(&now);
}

TEST_MAIN(TEST_ENTRY(a_world_goes_on_from_one_text),
          TEST_ENTRY(a_text_made_in_pieces_is_the_text_made_at_once_and_the_world_stands_still),
          TEST_ENTRY(what_a_host_changes_between_two_pieces_makes_no_text_that_does_not_load),
          TEST_ENTRY(an_agents_text_alone_and_a_world_without_agents_are_read_too),
          TEST_ENTRY(an_agent_that_the_host_leaves_out_leaves_its_place_empty),
          TEST_ENTRY(a_text_that_was_cut_or_changed_makes_no_agent),
          TEST_ENTRY(facts_of_all_are_refused_by_a_runtime_without_facts),
          TEST_ENTRY(a_text_cut_at_any_byte_makes_no_agent),
          TEST_ENTRY(saving_and_loading_that_are_given_up_leave_nothing),
          TEST_ENTRY(a_callback_of_a_restore_cannot_step_save_or_restore),
          TEST_ENTRY(wherever_memory_ends_nothing_stays_and_nothing_is_lost))
