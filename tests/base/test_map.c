/* test_map.c - the hash table against a plain list, with hashes that collide; and lists with links inside. */
#include "base/base_in.h"
#include "support/test.h"

enum { THINGS = 300 };

typedef struct thing {
    uint64_t hash;
    bool in;
    phi__link link;
} thing;

static thing things[THINGS];

static bool found(const phi__map *map, const thing *t) {
    size_t probe = 0;
    const void *item;
    while ((item = phi__map_each(map, t->hash, &probe)) != NULL)
        if (item == t) return true;
    return false;
}

static uint32_t chance(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

TEST(a_map_has_what_was_added_and_not_dropped) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__map map;
    uint32_t seed = 7;
    size_t i, in = 0;
    int step;
    phi_memory_init(&memory, &allocator, 0);
    phi__map_init(&map, &memory);
    memset(things, 0, sizeof things);
    for (i = 0; i < THINGS; i++) things[i].hash = chance(&seed) % 64 * UINT64_C(0x100000001);
    for (step = 0; step < 20000; step++) {
        thing *t = &things[chance(&seed) % THINGS];
        if (t->in) {
            phi__map_drop(&map, t->hash, t);
            in--;
        } else {
            REQUIRE(phi__map_room(&map));
            phi__map_add(&map, t->hash, t);
            in++;
        }
        t->in = !t->in;
        CHECK(map.count == in && found(&map, t) == t->in);
        for (i = 0; step % 500 == 0 && i < THINGS; i++)
            CHECK(found(&map, &things[i]) == things[i].in);
    }
    phi__map_free(&map);
    CHECK(memory.used_bytes == 0);
}

TEST(an_empty_map_finds_nothing_and_needs_no_memory) {
    phi_memory memory;
    phi__map map;
    size_t probe = 0;
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi__map_init(&map, &memory);
    CHECK(phi__map_each(&map, 5, &probe) == NULL);
    CHECK(memory.used_bytes == 0);
    phi__map_free(&map);
}

TEST(without_memory_a_map_stays_as_it_is) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__map map;
    size_t i;
    phi_memory_init(&memory, &allocator, 1000);
    phi__map_init(&map, &memory);
    memset(things, 0, sizeof things);
    for (i = 0; i < THINGS && phi__map_room(&map); i++) {
        things[i].hash = i;
        phi__map_add(&map, i, &things[i]);
    }
    CHECK(i > 10 && i < THINGS && map.count == i);
    while (i-- > 0) CHECK(found(&map, &things[i]));
    phi__map_free(&map);
    CHECK(memory.used_bytes == 0);
}

TEST(a_list_keeps_its_order_whatever_is_taken_out) {
    phi__list list = PHI_ZERO;
    phi__link *link;
    size_t i = 0;
    memset(things, 0, sizeof things);
    for (i = 0; i < 5; i++) phi__list_push(&list, &things[i].link);
    phi__list_take(&list, &things[2].link);
    phi__list_take(&list, &things[0].link);
    phi__list_take(&list, &things[4].link);
    phi__list_push(&list, &things[0].link);
    i = 0;
    for (link = list.first; link != NULL; link = link->next) {
        static const int want[] = {1, 3, 0};
        CHECK(PHI__OWNER(link, thing, link) == &things[want[i++]]);
    }
    CHECK(i == 3 && list.last == &things[0].link && list.last->prev == &things[3].link);
    phi__list_take(&list, &things[1].link);
    phi__list_take(&list, &things[0].link);
    phi__list_take(&list, &things[3].link);
    CHECK(list.first == NULL && list.last == NULL);
}

TEST(a_map_with_room_for_many_takes_memory_once_and_keeps_it_when_it_is_cleared) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__map map;
    size_t bytes, i;
    phi_memory_init(&memory, &allocator, 0);
    phi__map_init(&map, &memory);
    phi__map_clear(&map); /* empty: harmless */
    CHECK(phi__map_reserve(&map, 0) && memory.used_bytes == 0);
    CHECK(phi__map_reserve(&map, 100));
    bytes = memory.used_bytes;
    memset(things, 0, sizeof things);
    for (i = 0; i < 100; i++) {
        things[i].hash = i;
        CHECK(phi__map_room(&map));
        phi__map_add(&map, i, &things[i]);
    }
    CHECK(memory.used_bytes == bytes);
    phi__map_clear(&map);
    CHECK(map.count == 0 && !found(&map, &things[7]) && memory.used_bytes == bytes);
    CHECK(phi__map_reserve(&map, 100) && memory.used_bytes == bytes);
    phi__map_free(&map);
    CHECK(memory.used_bytes == 0);
}

TEST(a_link_can_be_put_before_all_others) {
    phi__list list = PHI_ZERO;
    memset(things, 0, sizeof things);
    phi__list_push_first(&list, &things[1].link);
    phi__list_push_first(&list, &things[0].link);
    phi__list_push(&list, &things[2].link);
    CHECK(list.first == &things[0].link && list.first->next == &things[1].link);
    CHECK(list.last == &things[2].link && things[1].link.prev == &things[0].link);
    phi__list_take(&list, &things[0].link);
    CHECK(list.first == &things[1].link && things[1].link.prev == NULL);
}

TEST_MAIN(TEST_ENTRY(a_map_has_what_was_added_and_not_dropped),
          TEST_ENTRY(an_empty_map_finds_nothing_and_needs_no_memory),
          TEST_ENTRY(without_memory_a_map_stays_as_it_is),
          TEST_ENTRY(a_list_keeps_its_order_whatever_is_taken_out),
          TEST_ENTRY(a_map_with_room_for_many_takes_memory_once_and_keeps_it_when_it_is_cleared),
          TEST_ENTRY(a_link_can_be_put_before_all_others))
