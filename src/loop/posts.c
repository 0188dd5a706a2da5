/* posts.c - what other threads have said, read from the inbox: results, decisions, messages, aborts. */
#include "loop/loop_in.h"

enum { PHI__POSTS_PER_READ = 256 };

/* `at`: where it stood in the inbox; what was posted before a run began meant an earlier one. */
static void phi__post_abort(phi_runtime *rt, const phi__post *post, uint64_t at) {
    phi__slot *slot = phi__slots_find(&rt->agents, post->index, post->gen);
    if (slot != NULL) phi__run_cancel_tree((phi__agent *)slot->object, at, post->flag != 0);
}

static void phi__post_handle(phi_runtime *rt, const phi__post *post, uint64_t at) {
    switch (post->kind) {
    case PHI__POST_FINISH: phi__call_posted(rt, post); break;
    case PHI__POST_ABORT: phi__post_abort(rt, post, at); break;
    case PHI__POST_DECIDE: phi__decision_posted(rt, post); break;
    case PHI__POST_STEER:
    case PHI__POST_FOLLOW_UP:
    case PHI__POST_INJECT: phi__input_posted(rt, post, at); break;
    default: PHI_ASSERT(false && "an unknown post"); break;
    }
}

/* The inbox counts its bytes in 32 bits, and a run may live while more than that pass through. */
static uint64_t phi__posts_place(const phi_runtime *rt, uint32_t count) {
    return rt->posts_read + (uint32_t)(count - (uint32_t)rt->posts_read);
}

static bool phi__posts_one(phi_runtime *rt) {
    phi__post post;
    bool got = phi__inbox_peek(&rt->inbox, &post);
    rt->posts_read = phi__posts_place(rt, rt->inbox.head);
    if (!got) return false;
    phi__post_handle(rt, &post, rt->posts_read);
    phi__inbox_drop(&rt->inbox);
    return true;
}

PHI__FN uint64_t phi__posts_next(const phi_runtime *rt) {
    return phi__posts_place(rt, PHI__LOAD(&rt->inbox.tail));
}

PHI__FN void phi__posts_read(phi_runtime *rt) {
    int left = PHI__POSTS_PER_READ;
    while (left-- > 0 && phi__posts_one(rt)) {}
}

PHI__FN void phi__posts_read_all(phi_runtime *rt) {
    uint64_t end = phi__posts_next(rt);
    while (rt->posts_read < end && phi__posts_one(rt)) {}
}
