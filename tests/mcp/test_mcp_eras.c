/* The table of eras: each fact in the eras that have it. */
#include "mcp/mcp_rpc_in.h"
#include "support/test.h"

/* The columns of a row as letters; a fact that is not so is a dot. */
static const char *facts(const char *version) {
    static char out[40];
    const phi__era *e = phi__eras_find(phi_str_of(version));
    char *to = out;
    if (e == NULL) return "unknown";
#define FACT(member, letter) *to++ = e->member ? (letter) : '.'
    FACT(handshake, 'h');
    FACT(batches, 'b');
    FACT(version_header, 'v');
    FACT(resumption, 'r');
    FACT(primes, 'i');
    FACT(message_headers, 'm');
    FACT(asks, 'a');
    FACT(listen, 'L');
    FACT(cancel_by_stream, 'C');
    FACT(progress_message, 'P');
    FACT(annotations, 'A');
    FACT(audio, 'U');
    FACT(structured, 'T');
    FACT(any_output, 'Y');
    FACT(titles, 'I');
    FACT(completions, 'c');
    FACT(forms, 'F');
    FACT(urls, 'G');
    FACT(sampling_tools, 'Z');
    FACT(result_type, 'R');
#undef FACT
    (void)snprintf(to, 3, " %d", (int)e->tasks);
    return out;
}

TEST(each_era_has_its_facts) {
    CHECK_EQ_STR(facts("2024-11-05"), "h.....a............. 0");
    CHECK_EQ_STR(facts("2025-03-26"), "hb.r..a..PAU...c.... 0");
    CHECK_EQ_STR(facts("2025-06-18"), "h.vr..a..PAUT.IcF... 0");
    CHECK_EQ_STR(facts("2025-11-25"), "h.vri.a..PAUT.IcFGZ. 1");
    CHECK_EQ_STR(facts("2026-07-28"), "..v..m.LCPAUTYIcFGZR 2");
    CHECK_EQ_STR(facts("2027-01-01"), "unknown");
    CHECK_EQ_STR(facts(""), "unknown");
}

TEST(the_newest_with_a_handshake_is_the_legacy_one) {
    CHECK_EQ_STR(phi__eras_modern()->version, "2026-07-28");
    CHECK_EQ_STR(phi__eras_legacy()->version, "2025-11-25");
}

TEST_MAIN(TEST_ENTRY(each_era_has_its_facts),
          TEST_ENTRY(the_newest_with_a_handshake_is_the_legacy_one))
