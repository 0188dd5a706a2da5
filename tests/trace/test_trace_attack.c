/* test_trace_attack.c - traces of threads that no agent of ours writes: ids that clash, circles, times and counts out of range,
   what is evicted, forgotten or refused between two slices. */
#include "trace/trace_hostile.h"
#include "trace/trace_read.h"

#include "support/rig.h"
#include "support/store_mem.h"
#include "support/talk.h"

#include <time.h>

/* ---- between two slices ---- */

static phi_status nowhere(void *user_data, const char *bytes, size_t len) {
    *(size_t *)user_data += len;
    (void)bytes;
    return PHI_OK;
}

/* A trace is begun while a run is under way; after `n` units the log forgets that run. */
TEST(a_log_may_forget_at_any_slice_of_a_run_under_way) {
    int kind, n;
    for (kind = 0; kind < 2; kind++) {
        bool whole = false;
        for (n = 1; !whole && n < 200; n++) {
            phi_status last;
            rig *r = rig_new();
            phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_FORGET);
            const phi_thread *thread;
            phi_trace_sink sink;
            phi_trace *trace;
            uint64_t first;
            size_t bytes = 0;
            talk said;
            int i;
            sink.write = nowhere;
            sink.user_data = &bytes;
            talk_begin(&said, r, &desc);
            thread = phi_agent_thread(said.agent);
            CHECK(exchange(&said) == PHI_OK);
            rig_hangs(r, "");
            CHECK_EQ_INT(phi_prompt(said.agent, "hang"), PHI_OK);
            for (i = 0; i < 10; i++) (void)rig_step(r);
            REQUIRE(phi_trace_begin(thread, (phi_trace_kind)kind, NULL, &sink, &trace) == PHI_OK);
            last = phi_trace_advance(trace, (size_t)n);
            whole = last == PHI_OK;
            CHECK_EQ_INT(phi_abort(said.agent), PHI_OK);
            (void)rig_run(r, 50);
            first = phi_thread_first(thread);
            while (phi_thread_first(thread) <= first + 12 && said.ends < 600)
                if (exchange(&said) != PHI_OK) break;
            REQUIRE(phi_thread_first(thread) > first);
            while (last == PHI_BUSY) last = phi_trace_advance(trace, 1);
            CHECK(last == PHI_OK || last == PHI_NOT_FOUND);
            phi_trace_end(trace);
            rig_free(r);
        }
        CHECK(whole);
    }
}

TEST_MAIN(TEST_ENTRY(a_log_may_forget_at_any_slice_of_a_run_under_way))
