/* test_secret.c - secrets are found in every form, at every place, and nothing else is. */
#include "support/test.h"

#include "base/base_in.h"
#include "io/io_in.h"

static phi_memory memory;
static phi_arena arena;
static phi__secrets set;

static void begin(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    phi__secret_init(&set, &arena);
}

static void end(void) { phi_arena_free(&arena); }

/* The text with secrets hidden, in a buffer that is used again. */
static const char *hidden(const char *text, phi__secret_text kind) {
    static char out[1000];
    (void)snprintf(out, sizeof out, "%s", text);
    (void)phi__secret_hide(&set, out, strlen(out), kind);
    return out;
}

static const char *hidden_words(const char *text) { return hidden(text, PHI__SECRET_WORDS); }

static void has_secret(const char *text) { phi__secret_add(&set, phi_str_of(text)); }

TEST(a_secret_is_hidden_wherever_it_stands) {
    begin();
    has_secret("sk-12345678");
    CHECK_EQ_STR(hidden_words("sk-12345678"), "***********");
    CHECK_EQ_STR(hidden_words("the key sk-12345678, sk-12345678!"),
                 "the key ***********, ***********!");
    CHECK_EQ_STR(hidden_words("sk-sk-12345678"), "sk-***********");
    CHECK_EQ_STR(hidden_words("sk-1234567"), "**********"); /* it may have been cut here */
    CHECK_EQ_STR(hidden_words("sk-1234567."), "sk-1234567.");
    CHECK_EQ_STR(hidden_words("sk-1234"), "sk-1234");
    CHECK_EQ_STR(hidden_words("nothing of that kind"), "nothing of that kind");
    CHECK_EQ_STR(hidden("sk-1234567", PHI__SECRET_BYTES), "sk-1234567");
    CHECK_EQ_STR(hidden_words(""), "");
    end();
}

TEST(a_secret_of_seven_bytes_is_not_searched_for) {
    begin();
    has_secret("1234567");
    has_secret(" 1234567 ");
    has_secret("");
    CHECK_EQ_INT(set.count, 0);
    CHECK_EQ_STR(hidden_words("1234567"), "1234567");
    has_secret("12345678");
    CHECK_EQ_STR(hidden_words("12345678"), "********");
    end();
}

TEST(a_secret_is_found_percent_encoded_and_escaped) {
    begin();
    has_secret("a/b+c=d%e f&g\"h");
    CHECK_EQ_STR(hidden_words("x a/b+c=d%e f&g\"h y"), "x *************** y");
    CHECK_EQ_STR(hidden_words("x a%2Fb%2Bc%3Dd%25e%20f%26g%22h y"),
                 "x ***************************** y");
    CHECK_EQ_STR(hidden_words("a%2fb%2bc%3dd%25e+f%26g%22h"), "***************************");
    CHECK_EQ_STR(hidden_words("%61%2f%62%2b%63%3d%64%25%65%20%66%26%67%22%68"),
                 "*********************************************");
    CHECK_EQ_STR(hidden_words("a\\/b+c=d%e f&g\\\"h"), "*****************");
    CHECK_EQ_STR(hidden_words("\\u0061\\/b+c=d\\u0025e f&g\\\"h"), "***************************");
    CHECK_EQ_STR(hidden_words("a%2"), "a%2");
    CHECK_EQ_STR(hidden_words("%"), "%");
    CHECK_EQ_STR(hidden_words("\\"), "\\");
    CHECK_EQ_STR(hidden_words("\\u00"), "\\u00");
    end();
}

/* Base64 of before, the secret and behind; all but `left` and `right` letters at its ends must be gone. */
static void in_base64(const char *secret, size_t before, size_t behind, bool web) {
    phi__buf plain, coded;
    size_t i, from, to, bits;
    phi__buf_init(&plain, &memory);
    phi__buf_init(&coded, &memory);
    for (i = 0; i < before; i++) phi__buf_char(&plain, '>');
    phi__buf_text(&plain, secret);
    for (i = 0; i < behind; i++) phi__buf_char(&plain, '<');
    phi__base64_encode(&coded, plain.at, plain.len);
    for (i = 0; web && i < coded.len; i++) {
        if (coded.at[i] == '+') coded.at[i] = '-';
        if (coded.at[i] == '/') coded.at[i] = '_';
    }
    (void)phi__secret_hide(&set, coded.at, coded.len, PHI__SECRET_WORDS);
    from = before * 8 / 6; /* the first letter with a bit of the secret */
    bits = (before + strlen(secret)) * 8;
    to = (bits + 5) / 6;
    for (i = 0; i < coded.len; i++) {
        bool gone = coded.at[i] == '*';
        if (i >= from && i < to && !CHECK(gone))
            printf("  %zu before, %zu behind: %.*s\n", before, behind, (int)coded.len, coded.at);
        if (i + 1 < from || i > to + 2) CHECK(!gone);
    }
    phi__buf_free(&plain);
    phi__buf_free(&coded);
}

TEST(a_secret_is_found_in_base64_at_any_place_of_any_text) {
    static const char *const secrets[] = {"12345678", "sk-\xff\xfe+/=0123456789", "?\?\?\?>>>>~~~~",
                                          "abcdefghi", "abcdefghij"};
    size_t i, before, behind;
    for (i = 0; i < 5; i++)
        for (before = 0; before < 7; before++)
            for (behind = 0; behind < 4; behind++) {
                begin();
                has_secret(secrets[i]);
                in_base64(secrets[i], before, behind, false);
                in_base64(secrets[i], before, behind, true);
                end();
            }
}

TEST(base64_is_found_with_its_own_letters_escaped) {
    begin();
    has_secret("?\?\?\?>>>>~~~~"); /* Pz8/Pz4+Pj5+fn5+ */
    CHECK_EQ_STR(hidden_words("Pz8/Pz4+Pj5+fn5+"), "****************");
    CHECK_EQ_STR(hidden_words("Pz8%2FPz4%2BPj5%2Bfn5%2B"), "************************");
    CHECK_EQ_STR(hidden_words("Pz8\\/Pz4+Pj5+fn5+."), "*****************.");
    end();
}

TEST(json_with_secrets_hidden_stays_json) {
    begin();
    has_secret("nsecret-1234");
    CHECK_EQ_STR(hidden("{\"a\":\"\\nsecret-1234\"}", PHI__SECRET_JSON),
                 "{\"a\":\"\\nsecret-1234\"}"); /* a line break, and "secret-1234" */
    CHECK_EQ_STR(hidden("{\"a\":\"\\\\nsecret-1234\"}", PHI__SECRET_JSON),
                 "{\"a\":\"\\\\************\"}");
    CHECK_EQ_STR(hidden("{\"a\":\"\\u006esecret-1234\"}", PHI__SECRET_JSON),
                 "{\"a\":\"*****************\"}");
    CHECK_EQ_STR(hidden("\\nsecret-1234", PHI__SECRET_WORDS), "\\************");
    end();
}

/* A stream in two pieces: what phi__secret_tail holds back is joined with the second one. */
static void in_two(const char *text, size_t at, const char *want) {
    char out[400];
    size_t len = strlen(text), tail, first;
    memcpy(out, text, len + 1);
    (void)phi__secret_hide(&set, out, at, PHI__SECRET_BYTES);
    tail = phi__secret_tail(&set, phi__str(out, at));
    first = at - tail;
    (void)phi__secret_hide(&set, out + first, len - first, PHI__SECRET_BYTES);
    if (!CHECK_EQ_STR(out, want)) printf("  cut at %zu\n", at);
}

TEST(a_secret_that_is_cut_anywhere_is_found_in_every_form) {
    size_t i;
    begin();
    has_secret("ab/cd+ef=ghi");
    for (i = 0; i <= 20; i++) in_two("key ab/cd+ef=ghi end", i, "key ************ end");
    for (i = 0; i <= 26; i++) in_two("key ab%2Fcd%2Bef%3Dghi end", i, "key ****************** end");
    for (i = 0; i <= 24; i++) in_two("key YWIvY2QrZWY9Z2hp end", i, "key **************** end");
    for (i = 0; i <= 24; i++) in_two("key \\u0061b\\/cd+ef=ghi e", i, "key ****************** e");
    CHECK_EQ_INT(phi__secret_tail(&set, phi_str_of("nothing")), 0);
    CHECK_EQ_INT(phi__secret_tail(&set, phi_str_of("")), 0);
    end();
}

static void add_header(const char *name, const char *value, bool want) {
    if (!CHECK_EQ_INT(phi__secret_header(&set, phi_str_of(name), phi_str_of(value)), want))
        printf("  %s: %s\n", name, value);
}

TEST(headers_are_secret_by_their_name_or_by_how_they_look) {
    begin();
    add_header("Content-Type", "application/json; v=1", false);
    add_header("x-amz-date", "20261120T000000Z", false);
    add_header("X-Stage", "production", false);
    add_header("X-Number", "20261120", false);
    add_header("X-Note", "two words 2", false);
    CHECK_EQ_INT(set.count, 0);
    add_header("X-Tenant", "tenant4711", true);
    add_header("Ocp-Apim-Subscription-Key", "subscription", true);
    add_header("X-Gateway-Pass", "correct horse battery", true);
    add_header("Authorization", "Bearer bearer-of-news", true);
    add_header("Proxy-Authorization", "Basic dXNlcjpwYXNzd29yZA==", true);
    add_header("Cookie", "a=12345678; id=abcdefgh", true);
    CHECK_EQ_STR(hidden_words("tenant4711 subscription horse battery bearer-of-news"),
                 "********** ************ ************* **************");
    CHECK_EQ_STR(hidden_words("dXNlcjpwYXNzd29yZA== user:password password 12345678 abcdefgh"),
                 "******************** ************* ******** ******** ********");
    end();
}

TEST(a_signature_and_its_key_are_secret_and_what_is_signed_is_not) {
    begin();
    add_header("authorization",
               "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261120/us-east-1/bedrock/aws4_request, "
               "SignedHeaders=content-type;host, Signature=0123456789abcdef0123",
               true);
    CHECK_EQ_INT(set.count, 2);
    CHECK_EQ_STR(hidden_words("AWS4-HMAC-SHA256 AKIDEXAMPLE/20261120 content-type "
                              "0123456789abcdef0123"),
                 "AWS4-HMAC-SHA256 ***********/20261120 content-type ********************");
    end();
}

TEST(a_thousand_signatures_take_the_place_of_each_other) {
    char value[200];
    size_t taken = 0;
    int i;
    begin();
    for (i = 0; i < 1000; i++) {
        (void)snprintf(value, sizeof value,
                       "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/x, Signature=0123456789%06d", i);
        add_header("authorization", value, true);
        if (i == 20) taken = memory.used_bytes;
    }
    CHECK_EQ_INT(set.count, 17);
    CHECK_EQ_INT(memory.used_bytes, taken);
    CHECK_EQ_STR(hidden_words("0123456789000999."), "****************.");
    CHECK_EQ_STR(hidden_words("0123456789000984."), "****************.");
    CHECK_EQ_STR(hidden_words("0123456789000983."), "0123456789000983.");
    end();
}

TEST(a_key_of_parts_is_hidden_as_a_whole_and_in_parts) {
    begin();
    phi__secret_key(&set, phi_str_of(" AKIDEXAMPLE:wJalrXUtnFEMI/K7:TOKEN678 "));
    CHECK_EQ_STR(hidden_words("AKIDEXAMPLE:wJalrXUtnFEMI/K7:TOKEN678"),
                 "*************************************");
    CHECK_EQ_STR(hidden_words("AKIDEXAMPLE, wJalrXUtnFEMI/K7, TOKEN678"),
                 "***********, ****************, ********");
    end();
}

TEST(the_address_of_a_request_has_secrets) {
    begin();
    phi__secret_url(
        &set, phi_str_of("https://me%40home:pass%2Fword%21@h.example/v1?api-version=2024-10-21"
                         "&sig=abc%2Bdef12&mode=production&token=short#x"));
    CHECK_EQ_STR(hidden_words("me@home:pass/word!"), "******************");
    CHECK_EQ_STR(hidden_words("pass/word! abc+def12"), "********** *********");
    CHECK_EQ_STR(hidden_words("pass%2Fword%21 abc%2Bdef12"), "************** ***********");
    CHECK_EQ_STR(hidden_words("2024-10-21 production short h.example"),
                 "2024-10-21 production short h.example");
    end();
}

static void put_url(const char *url, const char *want) {
    phi__buf out;
    phi__buf_init(&out, &memory);
    phi__secret_put_url(&out, phi_str_of(url));
    CHECK_STR(phi__buf_str(&out), want);
    phi__buf_free(&out);
}

TEST(an_address_is_shown_without_users_and_values) {
    begin();
    put_url("", "");
    put_url("https://api.example.com/v1", "https://api.example.com/v1");
    put_url("https://me:pw@h:80/v1@x", "https://[redacted]@h:80/v1@x");
    put_url("https://a@b@h/", "https://[redacted]@h/");
    put_url("https://me@h", "https://[redacted]@h");
    put_url("https://@h/v1", "https://@h/v1");
    put_url("https://h/v1?api-version=2024-10-21&code=x&flag&alt=sse&empty=",
            "https://h/v1?api-version=2024-10-21&code=[redacted]&[redacted]&alt=sse&empty=");
    put_url("https://h?k=v", "https://h?k=[redacted]");
    put_url("https://h/?k=a@b/c", "https://h/?k=[redacted]");
    put_url("https://h/#token", "https://h/#[redacted]");
    put_url("https://h/?a=b#c&d=e", "https://h/?a=[redacted]#[redacted]");
    put_url("https://h/?", "https://h/?");
    put_url("https://h/?&&=&", "https://h/?&&=&");
    put_url("u:p@h/x?y", "[redacted]@h/x?[redacted]");
    put_url("https://[redacted]@h?k=[redacted]", "https://[redacted]@h?k=[redacted]");
    end();
}

/* A text of few letters, so that much of it looks like a secret. */
static size_t random_text(uint32_t *state, char *out, size_t most) {
    static const char letters[] = "aab/+%25\\u0061YWI=";
    size_t i, n = test_random(state) % most;
    for (i = 0; i < n; i++) out[i] = letters[test_random(state) % (sizeof letters - 1)];
    return n;
}

TEST(random_texts_keep_no_secret_wherever_they_are_cut) {
    uint32_t state = 7;
    int round;
    for (round = 0; round < 3000; round++) {
        char secret[16], text[120], whole[120], parts[120];
        size_t n, len, at, tail;
        begin();
        n = 8 + test_random(&state) % 4;
        while (random_text(&state, secret, sizeof secret) < n) continue;
        phi__secret_add(&set, phi__str(secret, n));
        len = random_text(&state, text, 100);
        at = test_random(&state) % (len + 1);
        if (len - at >= n) memcpy(text + at, secret, n);
        memcpy(whole, text, len);
        (void)phi__secret_hide(&set, whole, len, (phi__secret_text)(round % 2));
        for (at = 0; n <= len && at <= len - n; at++)
            if (!CHECK(memcmp(whole + at, secret, n) != 0)) break;
        memcpy(parts, text, len);
        at = test_random(&state) % (len + 1);
        (void)phi__secret_hide(&set, parts, at, PHI__SECRET_BYTES);
        tail = phi__secret_tail(&set, phi__str(parts, at));
        (void)phi__secret_hide(&set, parts + at - tail, len - at + tail, PHI__SECRET_BYTES);
        for (at = 0; n <= len && at <= len - n; at++)
            if (!CHECK(memcmp(parts + at, secret, n) != 0)) break;
        if (test_failures() > 0) printf("  round %d: %.*s\n", round, (int)n, secret);
        end();
        if (test_failures() > 0) return;
    }
}

TEST(a_set_that_found_no_memory_says_so) {
    int n = 0;
    do {
        begin();
        test_alloc_fail_at(n);
        phi__secret_key(&set, phi_str_of("12345678:abcdefgh:ABCDEFGH"));
        phi__secret_url(&set, phi_str_of("http://u:password%21@h/?sig=0123456789"));
        add_header("authorization", "Basic dXNlcjpwYXNzd29yZA==", true);
        CHECK_EQ_INT(set.failed, test_alloc_tripped());
        end();
    } while (test_alloc_tripped() && ++n < 100);
    CHECK(n > 0 && n < 100);
}

TEST_MAIN(TEST_ENTRY(a_secret_is_hidden_wherever_it_stands),
          TEST_ENTRY(a_secret_of_seven_bytes_is_not_searched_for),
          TEST_ENTRY(a_secret_is_found_percent_encoded_and_escaped),
          TEST_ENTRY(a_secret_is_found_in_base64_at_any_place_of_any_text),
          TEST_ENTRY(base64_is_found_with_its_own_letters_escaped),
          TEST_ENTRY(json_with_secrets_hidden_stays_json),
          TEST_ENTRY(a_secret_that_is_cut_anywhere_is_found_in_every_form),
          TEST_ENTRY(headers_are_secret_by_their_name_or_by_how_they_look),
          TEST_ENTRY(a_signature_and_its_key_are_secret_and_what_is_signed_is_not),
          TEST_ENTRY(a_thousand_signatures_take_the_place_of_each_other),
          TEST_ENTRY(a_key_of_parts_is_hidden_as_a_whole_and_in_parts),
          TEST_ENTRY(the_address_of_a_request_has_secrets),
          TEST_ENTRY(an_address_is_shown_without_users_and_values),
          TEST_ENTRY(random_texts_keep_no_secret_wherever_they_are_cut),
          TEST_ENTRY(a_set_that_found_no_memory_says_so))
