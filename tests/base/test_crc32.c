/* CRC-32: the check value of its catalogue, and any pieces. */
#include "support/test.h"

#include "base/base_in.h"

TEST(the_check_value_of_the_catalogue_holds) {
    CHECK_EQ_INT(phi__crc32(0, "123456789", 9), 0xcbf43926u);
    CHECK_EQ_INT(phi__crc32(0, "", 0), 0);
    CHECK_EQ_INT(phi__crc32(0, "The quick brown fox jumps over the lazy dog", 43), 0x414fa339u);
}

TEST(pieces_give_what_the_whole_gives) {
    unsigned char bytes[300];
    uint32_t whole;
    size_t cut;
    for (cut = 0; cut < sizeof bytes; cut++) bytes[cut] = (unsigned char)(cut * 7);
    whole = phi__crc32(0, bytes, sizeof bytes);
    for (cut = 0; cut <= sizeof bytes; cut++)
        CHECK_EQ_INT(phi__crc32(phi__crc32(0, bytes, cut), bytes + cut, sizeof bytes - cut), whole);
}

TEST_MAIN(TEST_ENTRY(the_check_value_of_the_catalogue_holds),
          TEST_ENTRY(pieces_give_what_the_whole_gives))
