/* heap.c - heaps in arrays of items of any size. */
#include "base/base_in.h"

/* True if item a belongs above item b. */
static bool phi__heap_over(const phi__heap *heap, const char *items, size_t a, size_t b) {
    return heap->above(items + a * heap->size, items + b * heap->size, heap->ctx);
}

static void phi__heap_swap(const phi__heap *heap, char *items, size_t a, size_t b) {
    char *x = items + a * heap->size, *y = items + b * heap->size;
    for (size_t i = 0; i < heap->size; i++) {
        char byte = x[i];
        x[i] = y[i];
        y[i] = byte;
    }
}

PHI__FN void phi__heap_rise(const phi__heap *heap, void *items, size_t at) {
    for (; at > 0 && phi__heap_over(heap, (char *)items, at, (at - 1) / 2); at = (at - 1) / 2)
        phi__heap_swap(heap, (char *)items, at, (at - 1) / 2);
}

PHI__FN void phi__heap_sink(const phi__heap *heap, void *items, size_t count, size_t at) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && phi__heap_over(heap, (char *)items, child + 1, child)) child++;
        if (!phi__heap_over(heap, (char *)items, child, at)) return;
        phi__heap_swap(heap, (char *)items, child, at);
    }
}

PHI__FN void phi__heap_pop(const phi__heap *heap, void *items, size_t count) {
    phi__heap_swap(heap, (char *)items, 0, count - 1);
    phi__heap_sink(heap, items, count - 1, 0);
}

PHI__FN void phi__heap_sort(const phi__heap *heap, void *items, size_t count) {
    for (size_t i = count / 2; i > 0; i--) phi__heap_sink(heap, items, count, i - 1);
    for (; count > 1; count--) phi__heap_pop(heap, items, count);
}
