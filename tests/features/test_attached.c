/* test_attached.c - objects that rooms keep with an agent: found, saved, claimed and freed; and an
   agent that a room holds. */
#include "features/features_in.h"

#include "agent/snapshot.h"
#include "loop/inner_in.h"
#include "support/rig.h"
#include "agent/agent_history.h"
#include "support/set.h"

typedef struct thing {
    phi__attached attached;
    int saves, renewals, copies, frees;
    bool frees_agent;       /* from within `renewed` */
    phi__attached *removes; /* from there, too: on the heap; and then all are renewed again */
} thing;

static thing *thing_of(const phi__attached *object) {
    return PHI__OWNER((uintptr_t)object, thing, attached);
}

static void thing_save(const phi__attached *object, phi__buf *out, phi_arena *scratch) {
    (void)scratch;
    thing_of(object)->saves++;
    phi__buf_text(out, "{\"n\":[1,2]}");
}

static void thing_renewed(phi__attached *object, bool copied) {
    thing_of(object)->renewals++;
    thing_of(object)->copies += copied;
    if (thing_of(object)->frees_agent) phi_agent_free(object->agent->handle);
}

static void thing_renewed_within(phi__attached *object, bool copied) {
    thing *t = thing_of(object);
    phi__attached *gone = t->removes;
    t->renewals++;
    t->copies += copied;
    t->removes = NULL;
    if (gone == NULL) return;
    phi__attached_remove(gone);
    free(thing_of(gone));
    CHECK_EQ_INT(phi_agent_replace_messages(object->agent->handle, NULL, 0), PHI_OK);
}

static void thing_freed(phi__attached *object) {
    CHECK(object->agent == NULL);
    thing_of(object)->frees++;
}

static const phi__attached_ops thing_ops = {"thing", thing_save, thing_renewed, thing_freed};
static const phi__attached_ops within_ops = {"within", NULL, thing_renewed_within, thing_freed};
static const phi__attached_ops quiet_ops = {"quiet", NULL, NULL, thing_freed};

static phi__agent *agent_of(rig *r) {
    phi_agent_desc desc = rig_desc();
    return phi__find_agent(rig_agent(r, &desc));
}

TEST(an_object_is_found_by_its_name_until_it_is_removed) {
    rig *r = rig_new();
    phi__agent *agent = agent_of(r);
    thing one, two;
    memset(&one, 0, sizeof one);
    memset(&two, 0, sizeof two);
    CHECK(phi__attached_find(agent, "thing") == NULL);
    phi__attached_add(agent, &one.attached, &thing_ops);
    phi__attached_add(agent, &two.attached, &quiet_ops);
    CHECK(phi__attached_find(agent, "thing") == &one.attached);
    CHECK(phi__attached_find(agent, "quiet") == &two.attached);
    CHECK(phi__attached_find(agent, "thin") == NULL);
    phi__attached_remove(&one.attached);
    phi__attached_remove(&one.attached);
    CHECK(phi__attached_find(agent, "thing") == NULL);
    rig_free(r);
    CHECK_EQ_INT(one.frees, 0);
    CHECK_EQ_INT(two.frees, 1);
}

TEST(a_reset_renews_objects_and_may_free_the_agent) {
    rig *r = rig_new();
    phi__agent *agent = agent_of(r);
    phi_agent handle = agent->handle;
    thing one;
    memset(&one, 0, sizeof one);
    phi__attached_add(agent, &one.attached, &thing_ops);
    CHECK_EQ_INT(phi_agent_reset(handle), PHI_OK);
    CHECK_EQ_INT(one.renewals, 1);
    CHECK_EQ_INT(one.copies, 0);
    one.frees_agent = true;
    CHECK_EQ_INT(phi_agent_reset(handle), PHI_OK);
    CHECK(!phi_agent_alive(handle));
    CHECK_EQ_INT(one.renewals, 2);
    CHECK_EQ_INT(one.frees, 1);
    rig_free(r);
}

TEST(a_reset_survives_that_an_object_removes_the_next_and_begins_another_reset) {
    rig *r = rig_new();
    phi__agent *agent = agent_of(r);
    thing one, last, *next = (thing *)calloc(1, sizeof *next);
    REQUIRE(next != NULL);
    memset(&one, 0, sizeof one);
    memset(&last, 0, sizeof last);
    one.removes = &next->attached;
    phi__attached_add(agent, &one.attached, &within_ops);
    phi__attached_add(agent, &next->attached, &quiet_ops);
    phi__attached_add(agent, &last.attached, &thing_ops);
    CHECK_EQ_INT(phi_agent_replace_messages(agent->handle, NULL, 0), PHI_OK);
    CHECK_EQ_INT(one.renewals, 2);
    CHECK_EQ_INT(last.renewals, 1); /* by the inner one, which has ended the outer one */
    rig_free(r);
    CHECK(one.frees == 1 && last.frees == 1);
}

static phi_str snapshot_of(phi_agent agent, phi_arena *arena) {
    phi_str out = {"", 0};
    CHECK_EQ_INT(phi_agent_snapshot(agent, arena, &out), PHI_OK);
    return out;
}

static bool holds(phi_str text, const char *part) {
    return phi__str_find(text, 0, part) != SIZE_MAX;
}

TEST(a_snapshot_holds_an_object_until_it_is_claimed) {
    rig *r = rig_new();
    phi__agent *agent = agent_of(r), *other;
    phi_agent_desc desc = rig_desc();
    phi_memory memory;
    phi_arena arena;
    phi_str text;
    thing one, two;
    memset(&one, 0, sizeof one);
    memset(&two, 0, sizeof two);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    phi__attached_add(agent, &two.attached, &quiet_ops);
    CHECK(!holds(snapshot_of(agent->handle, &arena), "attached"));
    phi__attached_add(agent, &one.attached, &thing_ops);
    text = snapshot_of(agent->handle, &arena);
    CHECK(holds(text, "\"attached\":{\"thing\":{\"n\":[1,2]}}"));
    CHECK_EQ_INT(one.saves, 1);
    other = phi__find_agent(phi_agent_restore(rig_runtime(r), &desc, text, PHI_RESTORE_RESUME));
    if (!CHECK(other != NULL)) return;
    CHECK_STR(phi__attached_saved(other, "thing"), "{\"n\":[1,2]}");
    CHECK_STR(phi__attached_saved(other, "quiet"), "");
    text = snapshot_of(other->handle, &arena); /* nobody has claimed it */
    CHECK(holds(text, "\"attached\":{\"thing\":{\"n\":[1,2]}}"));
    phi__attached_saved_drop(other, "thing");
    phi__attached_saved_drop(other, "thing");
    CHECK_STR(phi__attached_saved(other, "thing"), "");
    CHECK(!holds(snapshot_of(other->handle, &arena), "attached"));
    /* what no room claims goes with the agent */
    CHECK(phi_agent_restore(rig_runtime(r), &desc, text, PHI_RESTORE_RESUME).rt != NULL);
    phi_arena_free(&arena);
    rig_free(r);
}

static const char *words_of(rig *r) {
    const char *words = "";
    words = phi_last_error(rig_runtime(r)).message;
    return words;
}

TEST(a_held_agent_is_busy) {
    rig *r = rig_new();
    phi__agent *agent = agent_of(r);
    phi__find_hold(agent, "a test is going on");
    CHECK_EQ_INT(phi_prompt(agent->handle, "Hello"), PHI_BUSY);
    CHECK_EQ_STR(words_of(r), "phi_prompt: a test is going on");
    CHECK_EQ_INT(set_tools(agent->handle, NULL, 0), PHI_BUSY);
    CHECK_EQ_STR(words_of(r), "phi_agent_set: a test is going on");
    CHECK_EQ_INT(phi_agent_reset(agent->handle), PHI_BUSY);
    phi__find_hold(agent, NULL);
    rig_says(r, "Hi");
    CHECK_EQ_INT(phi_prompt(agent->handle, "Hello"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(an_object_is_found_by_its_name_until_it_is_removed),
          TEST_ENTRY(a_reset_survives_that_an_object_removes_the_next_and_begins_another_reset),
          TEST_ENTRY(a_reset_renews_objects_and_may_free_the_agent),
          TEST_ENTRY(a_snapshot_holds_an_object_until_it_is_claimed),
          TEST_ENTRY(a_held_agent_is_busy))
