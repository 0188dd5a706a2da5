/* posts.c - what other threads have said, read from the inbox: results, decisions, messages, aborts. */
#include "loop/loop_in.h"

enum { PHI__POSTS_PER_READ = 256 };

/* `at`: where it stood in the inbox; what was posted before a run began meant an earlier one. */
static void phi__post_abort(phi_runtime *rt, const phi__post *post, uint32_t at) {
    phi__slot *slot = phi__slots_find(&rt->agents, post->index, post->gen);
    if (slot != NULL) phi__run_cancel_tree((phi__agent *)slot->object, at, post->flag != 0);
}

static void phi__post_handle(phi_runtime *rt, const phi__post *post, uint32_t at) {
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

PHI__FN void phi__posts_read(phi_runtime *rt) {
    phi__post post;
    int left = PHI__POSTS_PER_READ;
    while (left-- > 0 && phi__inbox_peek(&rt->inbox, &post)) {
        phi__post_handle(rt, &post, rt->inbox.head);
        phi__inbox_drop(&rt->inbox);
    }
}
