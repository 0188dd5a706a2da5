/* test_heap.c - heaps of items of several sizes, against the sorted order. */
#include "base/base_in.h"
#include "support/test.h"

enum { ITEMS = 200 };

typedef struct item {
    uint32_t key;
    char rest[7];
} item;

static bool greater(const void *a, const void *b, const void *ctx) {
    (*(int *)(uintptr_t)ctx)++;
    return ((const item *)a)->key > ((const item *)b)->key;
}

static int calls;
static const phi__heap heap = {sizeof(item), greater, &calls};

static void fill(item *items) {
    for (uint32_t i = 0; i < ITEMS; i++) {
        memset(&items[i], 0, sizeof items[i]);
        items[i].key = i * 7919 % 97; /* each key several times */
        items[i].rest[6] = (char)items[i].key;
    }
}

TEST(a_sorted_array_ascends_and_keeps_its_items_whole) {
    item items[ITEMS];
    for (size_t n = 0; n <= ITEMS; n += n < 8 ? 1 : 64) {
        fill(items);
        calls = 0;
        phi__heap_sort(&heap, items, n);
        CHECK(n < 2 || calls > 0);
        for (size_t i = 0; i < n; i++) {
            CHECK(i == 0 || items[i - 1].key <= items[i].key);
            CHECK_EQ_INT(items[i].rest[6], items[i].key);
        }
    }
}

TEST(items_that_rise_one_by_one_are_popped_from_the_greatest) {
    item from[ITEMS], items[ITEMS];
    uint32_t last = UINT32_MAX;
    fill(from);
    for (size_t i = 0; i < ITEMS; i++) {
        items[i] = from[i];
        phi__heap_rise(&heap, items, i);
    }
    for (size_t n = ITEMS; n > 0; n--) {
        phi__heap_pop(&heap, items, n);
        CHECK(items[n - 1].key <= last);
        last = items[n - 1].key;
    }
    CHECK_EQ_INT(last, 0);
}

TEST(a_replaced_first_item_sinks_to_its_place) {
    item items[ITEMS];
    fill(items);
    phi__heap_sort(&heap, items, ITEMS);
    for (size_t i = ITEMS / 2; i > 0; i--) phi__heap_sink(&heap, items, ITEMS, i - 1);
    CHECK_EQ_INT(items[0].key, 96);
    items[0].key = 0;
    phi__heap_sink(&heap, items, ITEMS, 0);
    for (size_t i = 1; i < ITEMS; i++) CHECK(items[(i - 1) / 2].key >= items[i].key);
}

TEST_MAIN(TEST_ENTRY(a_sorted_array_ascends_and_keeps_its_items_whole),
          TEST_ENTRY(items_that_rise_one_by_one_are_popped_from_the_greatest),
          TEST_ENTRY(a_replaced_first_item_sinks_to_its_place))
