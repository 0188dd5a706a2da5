/* test_session_cost.c - what it costs to add a run to a session, counted in ids that are compared. */
#include "support/test.h"
#include "support/recorded.h"

#include "model/model_in.h"
#include "record/session_in.h"

static size_t compared;

static bool count_equal(phi_str a, phi_str b) {
    compared++;
    return phi_str_equal(a, b);
}

#define phi_str_equal count_equal
#include "record/session.c"
#undef phi_str_equal

enum { LOOPS = 1000 };

static void add(phi__session_box *box, const char *id, const char *parent) {
    phi__loop_box *loop = phi__session_loop(box);
    REQUIRE(loop != NULL);
    CHECK(phi__session_keep(box, phi_str_of(id), &loop->pub.loop_id));
    CHECK(phi__session_keep(box, phi_str_of(parent), &loop->pub.parent_loop_id));
    phi__session_add(box, loop);
    CHECK(phi__session_chain(box, loop));
}

TEST(a_run_without_a_parent_is_compared_with_no_other) {
    phi_allocator a = test_allocator();
    phi__session_box *box = phi__session_make(&a, 0, NULL);
    const phi_loop_record *root;
    char id[32];
    size_t i;
    REQUIRE(box != NULL);
    compared = 0;
    for (i = 0; i < LOOPS; i++) {
        (void)snprintf(id, sizeof id, "s.a.%u", (unsigned)i);
        add(box, id, "");
    }
    CHECK_EQ_INT(compared, 0);
    add(box, "s.a.b.1", "s.a.999");
    root = session_loop(&box->pub, PHI__LIT("s.a.999"));
    REQUIRE(root != NULL && root->child_count == 1);
    CHECK_STR(root->children[0], "s.a.b.1");
    phi_session_free(&box->pub);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

TEST_MAIN(TEST_ENTRY(a_run_without_a_parent_is_compared_with_no_other))
