/* SHA-256 and HMAC, by the examples of FIPS 180-4 and RFC 4231, in any pieces. */
#include "support/test.h"

#include "base/base_in.h"

static const char *hex_of(const unsigned char hash[32]) {
    static char out[65];
    phi__sha256_hex(hash, out);
    out[64] = '\0';
    return out;
}

static void check_hash(const char *text, const char *want) {
    size_t len = strlen(text), cut;
    unsigned char out[32];
    phi__sha256 sha;
    for (cut = 0; cut <= len; cut++) {
        phi__sha256_begin(&sha);
        phi__sha256_add(&sha, text, cut);
        phi__sha256_add(&sha, text + cut, len - cut);
        phi__sha256_end(&sha, out);
        CHECK_EQ_STR(hex_of(out), want);
    }
}

TEST(the_examples_of_the_standard_hold_at_every_split) {
    check_hash("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_hash("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check_hash(
        "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmn"
        "opqrlmnopqrsmnopqrstnopqrstu",
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

TEST(a_million_bytes_one_by_one_and_in_odd_pieces) {
    static const char want[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
    char piece[997];
    unsigned char out[32];
    phi__sha256 sha;
    size_t i, left;
    memset(piece, 'a', sizeof piece);
    phi__sha256_begin(&sha);
    for (i = 0; i < 1000000; i++) phi__sha256_add(&sha, "a", 1);
    phi__sha256_end(&sha, out);
    CHECK_EQ_STR(hex_of(out), want);
    phi__sha256_begin(&sha);
    for (left = 1000000; left > 0; left -= i) {
        i = left < sizeof piece ? left : sizeof piece;
        phi__sha256_add(&sha, piece, i);
    }
    phi__sha256_end(&sha, out);
    CHECK_EQ_STR(hex_of(out), want);
}

TEST(lengths_around_a_block_are_padded_right) {
    char text[66];
    unsigned char out[32];
    memset(text, 'a', sizeof text);
    phi__sha256_of(phi__str(text, 55), out);
    CHECK_EQ_STR(hex_of(out), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    phi__sha256_of(phi__str(text, 56), out);
    CHECK_EQ_STR(hex_of(out), "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    phi__sha256_of(phi__str(text, 64), out);
    CHECK_EQ_STR(hex_of(out), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

TEST(hmac_gives_the_values_of_the_rfc) {
    char key[131];
    unsigned char out[32];
    memset(key, 0x0b, 20);
    phi__sha256_hmac(phi__str(key, 20), phi_str_of("Hi There"), out);
    CHECK_EQ_STR(hex_of(out), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    phi__sha256_hmac(phi_str_of("Jefe"), phi_str_of("what do ya want for nothing?"), out);
    CHECK_EQ_STR(hex_of(out), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    phi__sha256_hmac(phi__str(key, sizeof key),
                     phi_str_of("Test Using Larger Than Block-Size Key - Hash Key First"), out);
    CHECK_EQ_STR(hex_of(out), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST_MAIN(TEST_ENTRY(the_examples_of_the_standard_hold_at_every_split),
          TEST_ENTRY(a_million_bytes_one_by_one_and_in_odd_pieces),
          TEST_ENTRY(lengths_around_a_block_are_padded_right),
          TEST_ENTRY(hmac_gives_the_values_of_the_rfc))
