/* test_effect.c - effects on a large tool state: their work grows with what they change. */
#include "log/thread_in.h"
#include "support/test.h"

static phi_memory memory;
static uint64_t taken; /* bytes that were asked for */

static void *count_realloc(void *user_data, void *ptr, size_t old_bytes, size_t new_bytes) {
    phi_allocator base = test_allocator();
    (void)user_data;
    taken += new_bytes;
    return base.realloc_fn(base.user_data, ptr, old_bytes, new_bytes);
}

static void begin(void) {
    phi_allocator a = test_allocator();
    a.realloc_fn = count_realloc;
    phi_memory_init(&memory, &a, 0);
}

/* {"k0":0,"k1":1,...}, or the names as an array. */
static void write_members(phi__buf *out, unsigned count, bool names) {
    char item[40];
    unsigned i;
    phi__buf_char(out, names ? '[' : '{');
    for (i = 0; i < count; i++) {
        (void)snprintf(item, sizeof item, names ? "%s\"k%u\"" : "%s\"k%u\":%u", i > 0 ? "," : "", i,
                       i);
        phi__buf_text(out, item);
    }
    phi__buf_char(out, names ? ']' : '}');
}

static phi_json *parse(phi_arena *arena, phi_str text) {
    phi_json *root = NULL;
    CHECK_EQ_INT(phi_json_parse(arena, text, 0, &root, NULL), PHI_OK);
    return root;
}

/* Members that are looked at by an effect on `count` members that names all of them. */
static uint64_t work_of(unsigned count, bool deletes) {
    phi__effect_tree tree;
    phi_arena arena;
    phi__buf state, effect;
    const char *why;
    uint64_t walked;
    begin();
    phi_arena_init(&arena, &memory, 0);
    phi__buf_init(&state, &memory);
    phi__buf_init(&effect, &memory);
    write_members(&state, count, false);
    phi__buf_text(&effect,
                  deletes ? "{\"op\":\"delete_keys\",\"keys\":" : "{\"op\":\"merge\",\"value\":");
    write_members(&effect, count, deletes);
    phi__buf_text(&effect, "}");
    CHECK_EQ_INT(phi__effect_open(&tree, &memory, &arena, phi__buf_str(&state)), PHI_OK);
    CHECK_EQ_INT(
        phi__effect_apply(&tree, parse(&arena, phi__buf_str(&effect)), PHI__TOOL_STATE_MOST, &why),
        PHI_OK);
    CHECK(why == NULL);
    CHECK_EQ_INT(tree.bytes, deletes ? 2 : state.len);
    walked = tree.index.walked;
    phi__effect_close(&tree);
    phi__buf_free(&state);
    phi__buf_free(&effect);
    phi_arena_free(&arena);
    return walked;
}

TEST(a_merge_and_a_delete_look_at_each_member_a_few_times) {
    CHECK(work_of(2000, false) < 2000 * 8);
    CHECK(work_of(20000, false) < 20000 * 8);
    CHECK(work_of(2000, true) < 2000 * 8);
    CHECK(work_of(20000, true) < 20000 * 8);
}

/* Bytes of memory that effects on a state of 2,000 members take, and reading it from its notes. */
static void work_of_many(size_t effects, uint64_t *apply, uint64_t *fold) {
    phi_thread thread;
    phi__state_order order;
    phi__state_outcome *outcomes;
    phi_arena arena;
    phi__buf state, list;
    phi_str text;
    size_t count, i;
    bool changed;
    begin();
    phi__thread_init(&thread, &memory, NULL);
    phi_arena_init(&arena, &memory, 0);
    phi__buf_init(&state, &memory);
    phi__buf_init(&list, &memory);
    memset(&order, 0, sizeof order);
    write_members(&state, 2000, false);
    for (i = 0; i < effects; i++) {
        char item[80];
        (void)snprintf(item, sizeof item, "%s{\"op\":\"set_path\",\"path\":\"/k%u\",\"value\":7}",
                       i > 0 ? "," : "[", (unsigned)i);
        phi__buf_text(&list, item);
    }
    phi__buf_text(&list, "]");
    CHECK_EQ_INT(phi__state_set(&thread, phi__buf_str(&state), PHI__TOOL_STATE_MOST), PHI_OK);
    order.call_id = phi_str_of("c");
    order.effects = phi__buf_str(&list);
    order.allowed = UINT32_MAX;
    order.max_bytes = PHI__TOOL_STATE_MOST;
    taken = 0;
    CHECK_EQ_INT(phi__state_apply(&thread, &order, &arena, &outcomes, &count, &changed), PHI_OK);
    *apply = taken;
    CHECK(changed && count == effects && outcomes[effects - 1].why == NULL);
    taken = 0;
    CHECK_EQ_INT(phi__state_fold(&thread, 0, UINT64_MAX, &arena, &text), PHI_OK);
    *fold = taken;
    CHECK(phi__str_starts(text, "{\"k0\":7,"));
    phi__buf_free(&state);
    phi__buf_free(&list);
    phi_arena_free(&arena);
    phi__thread_destroy(&thread);
}

TEST(many_effects_of_a_result_read_and_write_the_state_once_and_so_does_its_fold) {
    uint64_t one, one_fold, all, all_fold;
    work_of_many(1, &one, &one_fold);
    work_of_many(64, &all, &all_fold);
    CHECK(all < one * 2);
    CHECK(all_fold < one_fold * 2);
}

typedef struct row {
    const char *before, *effect, *after, *why;
    size_t most;
} row;

static const row rows[] = {
    {"{\"a\":1,\"b\":{\"c\":[1]}}",
     "{\"op\":\"merge\",\"value\":{\"x\":1,\"b\":{\"c\":3,\"d\":\"0123456789\"},\"a\":2}}",
     "{\"a\":1,\"b\":{\"c\":[1]}}", "the state would be too large", 40},
    {"{\"a\":[1,2,3]}", "{\"op\":\"set_path\",\"path\":\"/a/1\",\"value\":\"0123456789\"}",
     "{\"a\":[1,2,3]}", "the state would be too large", 20},
    {"{\"a\":[]}", "{\"op\":\"set_path\",\"path\":\"/a/-\",\"value\":\"0123456789\"}", "{\"a\":[]}",
     "the state would be too large", 19},
    {"{\"a\":[]}", "{\"op\":\"set_path\",\"path\":\"/a/-\",\"value\":\"0123456789\"}",
     "{\"a\":[\"0123456789\"]}", NULL, 20},
    {"{\"a\":1}", "{\"op\":\"replace\",\"value\":{\"b\":\"0123456789\"}}", "{\"a\":1}",
     "the state would be too large", 17},
    {"{\"a\":1,\"b\":2,\"a\":3}", "{\"op\":\"merge\",\"value\":{\"a\":4,\"c\":5}}",
     "{\"b\":2,\"a\":4,\"c\":5}", NULL, 19},
    {"{\"a\":1,\"b\":2,\"a\":3}", "{\"op\":\"merge\",\"value\":{\"a\":4,\"c\":55}}",
     "{\"b\":2,\"a\":3}", "the state would be too large", 19},
    {"{}", "{\"op\":\"merge\",\"value\":{\"a\":1,\"a\":{\"b\":2},\"\":3}}",
     "{\"a\":{\"b\":2},\"\":3}", NULL, 18},
    {"{\"a\\u0000b\":1,\"a\":2}", "{\"op\":\"delete_keys\",\"keys\":[\"a\\u0000b\",\"a\",\"a\"]}",
     "{}", NULL, 40},
    {"{\"a\":1,\"b\":[1,2]}", "{\"op\":\"delete_path\",\"path\":\"/b/1\"}", "{\"a\":1,\"b\":[1]}",
     NULL, 15},
};

TEST(a_refused_effect_leaves_no_trace_and_the_size_is_that_of_the_text) {
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        phi__effect_tree tree;
        phi_arena arena;
        phi_str text;
        const char *why;
        size_t most = rows[i].most;
        begin();
        phi_arena_init(&arena, &memory, 0);
        CHECK_EQ_INT(phi__effect_open(&tree, &memory, &arena, phi_str_of(rows[i].before)), PHI_OK);
        CHECK_EQ_INT(
            phi__effect_apply(&tree, parse(&arena, phi_str_of(rows[i].effect)), most, &why),
            PHI_OK);
        CHECK_EQ_STR(why != NULL ? why : "", rows[i].why != NULL ? rows[i].why : "");
        CHECK_EQ_INT(phi_json_write(&arena, tree.root, 0, &text), PHI_OK);
        if (!CHECK_EQ_STR(text.at, rows[i].after)) printf("row %u\n", (unsigned)i);
        if (!CHECK_EQ_INT(tree.bytes, text.len)) printf("row %u\n", (unsigned)i);
        phi__effect_close(&tree);
        phi_arena_free(&arena);
    }
}

/* 60 members under random changes: as phi__json_edit_set and phi_json_remove have it. */
TEST(the_index_changes_an_object_as_a_walk_does) {
    uint32_t seed = 7;
    phi__json_index index;
    phi_json *object, *plain, *found;
    phi_arena arena;
    phi_str a, b;
    unsigned i;
    begin();
    phi_arena_init(&arena, &memory, 0);
    phi__json_index_init(&index, &memory, &arena);
    object = phi_json_new_object(&arena);
    plain = phi_json_new_object(&arena);
    for (i = 0; i < 3000; i++) {
        char key[8];
        seed = seed * 1664525u + 1013904223u;
        (void)snprintf(key, sizeof key, "%u", (unsigned)(seed >> 8) % 60);
        if ((seed >> 20) % 2 == 0) {
            (void)phi_json_set(&arena, plain, key, phi_json_new_int(&arena, (int64_t)i));
            CHECK(phi__json_index_set(&index, object, phi_str_of(key),
                                      phi_json_new_int(&arena, (int64_t)i)));
        } else {
            bool was = phi_json_remove(plain, key) != NULL;
            CHECK(phi__json_index_remove(&index, object, phi_str_of(key), &found));
            CHECK((found != NULL) == was);
        }
        if (i % 50 != 0) continue;
        CHECK_EQ_INT(phi_json_write(&arena, plain, 0, &a), PHI_OK);
        CHECK_EQ_INT(phi_json_write(&arena, object, 0, &b), PHI_OK);
        CHECK_EQ_STR(b.at, a.at);
    }
    phi__json_index_free(&index);
    phi_arena_free(&arena);
}

TEST(a_state_that_is_too_large_can_be_made_smaller) {
    static const char large[] = "{\"a\":\"0123456789\",\"b\":\"0123456789\"}";
    phi__effect_tree tree;
    phi_arena arena;
    const char *why = NULL;
    phi_str text;
    begin();
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi__effect_open(&tree, &memory, &arena, phi_str_of(large)), PHI_OK);
    CHECK_EQ_INT(phi__effect_apply(&tree,
                                   parse(&arena, phi_str_of("{\"op\":\"merge\",\"value\":"
                                                            "{\"c\":1}}")),
                                   20, &why),
                 PHI_OK);
    CHECK_EQ_STR(why, "the state would be too large");
    CHECK_EQ_INT(phi__effect_apply(&tree,
                                   parse(&arena, phi_str_of("{\"op\":\"delete_keys\","
                                                            "\"keys\":[\"a\"]}")),
                                   15, &why),
                 PHI_OK);
    CHECK(why == NULL);
    CHECK_EQ_INT(phi_json_write(&arena, tree.root, 0, &text), PHI_OK);
    CHECK_STR(text, "{\"b\":\"0123456789\"}");
    CHECK_EQ_INT(tree.bytes, text.len);
    phi__effect_close(&tree);
    phi_arena_free(&arena);
}

TEST_MAIN(TEST_ENTRY(a_state_that_is_too_large_can_be_made_smaller),
          TEST_ENTRY(a_merge_and_a_delete_look_at_each_member_a_few_times),
          TEST_ENTRY(many_effects_of_a_result_read_and_write_the_state_once_and_so_does_its_fold),
          TEST_ENTRY(a_refused_effect_leaves_no_trace_and_the_size_is_that_of_the_text),
          TEST_ENTRY(the_index_changes_an_object_as_a_walk_does))
