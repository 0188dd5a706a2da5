/* UUIDs from given random bytes. */
#include "support/test.h"

#include "base/base_in.h"

TEST(sixteen_bytes_are_written_as_a_uuid_of_version_4) {
    unsigned char random[16];
    char out[PHI__UUID_SIZE];
    size_t i;
    for (i = 0; i < 16; i++) random[i] = (unsigned char)(i * 17);
    phi__id_uuid(random, out);
    CHECK_EQ_STR(out, "00112233-4455-4677-8899-aabbccddeeff");
}

TEST(version_and_variant_are_set_whatever_the_bytes) {
    unsigned char random[16];
    char out[PHI__UUID_SIZE];
    memset(random, 0xFF, sizeof random);
    phi__id_uuid(random, out);
    CHECK_EQ_STR(out, "ffffffff-ffff-4fff-bfff-ffffffffffff");
    memset(random, 0, sizeof random);
    phi__id_uuid(random, out);
    CHECK_EQ_STR(out, "00000000-0000-4000-8000-000000000000");
}

TEST_MAIN(TEST_ENTRY(sixteen_bytes_are_written_as_a_uuid_of_version_4),
          TEST_ENTRY(version_and_variant_are_set_whatever_the_bytes))
