/* posts.c - reads the input of other threads: aborts, decisions and results.

   Aborts and decisions without a text are marks on slots; all else is in the inbox. */
#include "loop/inner_in.h"

enum { PHI__POSTS_PER_READ = 256 };

static void phi__input_posted(phi_runtime *rt, const phi__post *post, uint64_t at) {
    phi__slot *slot = phi__slots_find(&rt->agents, post->index, post->gen);
    phi__agent *agent = slot != NULL ? (phi__agent *)slot->object : NULL;
    phi_input kind = post->kind == PHI__POST_STEER       ? PHI_INPUT_STEERING
                     : post->kind == PHI__POST_FOLLOW_UP ? PHI_INPUT_FOLLOW_UP
                                                         : PHI_INPUT_INJECTED;
    phi_str text = post->text, source = phi__str(NULL, 0);
    if (agent == NULL) return;
    if (kind == PHI_INPUT_INJECTED) {
        source = phi__str(text.at, post->flag);
        text = phi__str(text.at + post->flag, text.len - post->flag);
        if (agent->run == NULL || agent->run->end.over || agent->run->state >= PHI__RUN_CLOSE ||
            at < agent->run->poll.posts_from) {
            phi__input_emit_dropped(agent, kind, text, "The run it was meant for has ended");
            return;
        }
    }
    phi_content content = phi__input_text(text);
    phi_status status = phi__input_add(agent, kind, &content, 1, source, phi__str(NULL, 0));
    if (status == PHI_FULL)
        phi__input_emit_dropped(agent, kind, text, "The queue is full");
    else if (status != PHI_OK)
        phi__input_emit_dropped(agent, kind, text, "Out of memory");
}

static void phi__posts_abort(phi_runtime *rt, uint32_t index) {
    phi__slot *slot = phi__slots_at(&rt->agents, index);
    uint32_t gen = phi__slots_gen_of(PHI__LOAD(&slot->word));
    uint32_t said =
        phi__slots_change(&rt->agents, index, gen, (uint32_t)PHI__AGENT_ABORT | PHI__AGENT_STOP, 0);
    if ((said & PHI__AGENT_STOP) != 0) phi__schedule_cancel_tree((phi__agent *)slot->object, true);
    if ((said & PHI__AGENT_ABORT) != 0)
        phi__schedule_cancel_tree((phi__agent *)slot->object, false);
}

/* Handles a limited number of marked slots. False: there are no more. */
static bool phi__posts_marks(phi_runtime *rt, phi__slots *slots,
                             void (*handle)(phi_runtime *rt, uint32_t index)) {
    uint32_t marked[PHI__POSTS_PER_READ];
    size_t count = phi__slots_marked(slots, marked, PHI__POSTS_PER_READ);
    for (size_t i = 0; i < count; i++) handle(rt, marked[i]);
    return phi__slots_any_marked(slots);
}

PHI__FN void phi__posts_read_aborts(phi_runtime *rt) {
    while (phi__posts_marks(rt, &rt->agents, phi__posts_abort)) {}
}

/* Returns a 64-bit position in the inbox, whose 32-bit counters may wrap during a run. */
static uint64_t phi__posts_place(const phi_runtime *rt, uint32_t count) {
    return rt->posts_read + (uint32_t)(count - (uint32_t)rt->posts_read);
}

static bool phi__posts_one(phi_runtime *rt) {
    phi__post post;
    bool got = phi__inbox_peek(&rt->inbox, &post);
    rt->posts_read = phi__posts_place(rt, rt->inbox.head);
    if (!got) return false;
    uint64_t at = rt->posts_read;
    switch (post.kind) {
    case PHI__POST_FINISH: phi__call_posted(rt, &post); break;
    case PHI__POST_DECIDE: phi__decision_posted(rt, &post); break;
    case PHI__POST_STEER:
    case PHI__POST_FOLLOW_UP:
    case PHI__POST_INJECT: phi__input_posted(rt, &post, at); break;
    default: PHI_ASSERT(false && "an unknown post"); break;
    }
    phi__inbox_drop(&rt->inbox);
    return true;
}

PHI__FN uint64_t phi__posts_next(const phi_runtime *rt) {
    return phi__posts_place(rt, (uint32_t)PHI__LOAD(&rt->inbox.tail));
}

PHI__FN void phi__posts_read(phi_runtime *rt) {
    int left = PHI__POSTS_PER_READ;
    (void)phi__posts_marks(rt, &rt->agents, phi__posts_abort);
    (void)phi__posts_marks(rt, &rt->tickets, phi__decision_marked);
    while (left-- > 0 && phi__posts_one(rt)) {}
}

PHI__FN void phi__posts_read_all(phi_runtime *rt) {
    uint64_t end = phi__posts_next(rt);
    phi__posts_read_aborts(rt);
    while (phi__posts_marks(rt, &rt->tickets, phi__decision_marked)) {}
    while (rt->posts_read < end && phi__posts_one(rt)) {}
}

PHI__FN bool phi__posts_any(phi_runtime *rt) {
    phi__post post;
    return phi__slots_any_marked(&rt->agents) || phi__slots_any_marked(&rt->tickets) ||
           phi__inbox_peek(&rt->inbox, &post);
}
