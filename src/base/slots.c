/* slots.c - pages that double, so that 22 of them hold more slots than memory has room for. */
#include "base/slots_in.h"

PHI__FN void phi__slots_init(phi__slots *slots, phi_memory *memory) {
    memset(slots, 0, sizeof *slots);
    slots->memory = memory;
}

static size_t phi__slots_page_len(uint32_t page) { return (size_t)PHI__SLOT_FIRST_PAGE << page; }

PHI__FN void phi__slots_free(phi__slots *slots) {
    uint32_t page;
    for (page = 0; page < PHI__SLOT_PAGES; page++)
        phi__free(slots->memory, slots->pages[page], phi__slots_page_len(page) * sizeof(phi__slot));
    phi__slots_init(slots, slots->memory);
}

PHI__FN phi__slot *phi__slots_at(const phi__slots *slots, uint32_t index) {
    uint32_t page = 0, rest = index;
    if (index >= PHI__LOAD(&slots->count)) return NULL;
    while (rest >= phi__slots_page_len(page)) rest -= (uint32_t)phi__slots_page_len(page++);
    return &slots->pages[page][rest];
}

static bool phi__slots_more(phi__slots *slots) {
    uint32_t page = 0, base = 0, i;
    uint32_t n;
    phi__slot *made;
    while (page < PHI__SLOT_PAGES && slots->pages[page] != NULL)
        base += (uint32_t)phi__slots_page_len(page++);
    if (page == PHI__SLOT_PAGES) return false;
    n = (uint32_t)phi__slots_page_len(page);
    made = (phi__slot *)phi__alloc(slots->memory, n * sizeof(phi__slot));
    if (made == NULL) return false;
    for (i = 0; i < n; i++) {
        made[i].index = base + i;
        made[i].next_free = i + 1 < n ? base + i + 2 : 0;
    }
    slots->pages[page] = made;
    slots->first_free = base + 1;
    PHI__STORE(&slots->count, base + n); /* publishes the page */
    return true;
}

PHI__FN phi__slot *phi__slots_take(phi__slots *slots, uint32_t state, void *object) {
    phi__slot *slot;
    uint32_t gen;
    PHI_ASSERT(state != 0);
    if (slots->first_free == 0 && !phi__slots_more(slots)) return NULL;
    slot = phi__slots_at(slots, slots->first_free - 1);
    slots->first_free = slot->next_free;
    slots->in_use++;
    slot->object = object;
    gen = phi__slot_gen(PHI__LOAD(&slot->word)) + 1;
    if (gen == 0) gen = 1; /* 0 is never live, so that a zeroed handle is stale */
    PHI__STORE(&slot->word, phi__slot_word(gen, state));
    return slot;
}

PHI__FN void phi__slots_release(phi__slots *slots, phi__slot *slot) {
    PHI__STORE(&slot->word, phi__slot_word(phi__slot_gen(PHI__LOAD(&slot->word)), 0));
    slot->object = NULL;
    slot->next_free = slots->first_free;
    slots->first_free = slot->index + 1;
    slots->in_use--;
}

PHI__FN uint32_t phi__slots_state(const phi__slots *slots, uint32_t index, uint32_t gen) {
    phi__slot *slot = phi__slots_at(slots, index);
    uint64_t word = slot != NULL ? PHI__LOAD(&slot->word) : 0;
    return phi__slot_gen(word) == gen ? phi__slot_state(word) : 0;
}

PHI__FN phi__slot *phi__slots_find(const phi__slots *slots, uint32_t index, uint32_t gen) {
    return phi__slots_state(slots, index, gen) != 0 ? phi__slots_at(slots, index) : NULL;
}

PHI__FN bool phi__slots_move(const phi__slots *slots, uint32_t index, uint32_t gen, uint32_t from,
                             uint32_t to) {
    phi__slot *slot = phi__slots_at(slots, index);
    uint64_t expected = phi__slot_word(gen, from);
    if (slot == NULL) return false;
    return PHI__CAS(&slot->word, &expected, phi__slot_word(gen, to));
}
