/* test_read_file.c - the tool that reads: numbered lines, parts, images, and what it refuses. */
#include "calls.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "support/set.h"

#include <errno.h>

TEST(lines_are_numbered_behind_a_header) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_put(&c, "a.txt", "one\n\nthree\n");
    check_call(&c, "read_file", "{\"path\":\"a.txt\"}", false,
               "[3 lines]\n   1 | one\n   2 | \n   3 | three", "{\"path\":\"a.txt\"}");
    calls_put(&c, "b.txt", "no end");
    check_call(&c, "read_file", "{\"path\":\"b.txt\"}", false, "[1 lines]\n   1 | no end", NULL);
    calls_put(&c, "c.txt", "");
    check_call(&c, "read_file", "{\"path\":\"c.txt\"}", false, "[0 lines]\n", NULL);
    calls_put(&c, "d.txt", "dos\r\n\r\nline\r\r\nlast\r");
    check_call(&c, "read_file", "{\"path\":\"d.txt\"}", false,
               "[4 lines]\n   1 | dos\n   2 | \n   3 | line\r\n   4 | last\r", NULL);
    calls_close(&c);
}

TEST(offset_and_limit_choose_lines) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_put(&c, "ten", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
    check_call(&c, "read_file", "{\"path\":\"ten\",\"offset\":5,\"limit\":3}", false,
               "[Lines 5-7 of 10]\n   5 | 5\n   6 | 6\n   7 | 7", NULL);
    check_call(&c, "read_file", "{\"path\":\"ten\",\"offset\":9}", false,
               "[Lines 9-10 of 10]\n   9 | 9\n  10 | 10", NULL);
    check_call(&c, "read_file", "{\"path\":\"ten\",\"offset\":0,\"limit\":1}", false,
               "[Lines 1-1 of 10]\n   1 | 1", NULL);
    check_call(
        &c, "read_file", "{\"path\":\"ten\",\"offset\":1,\"limit\":10}", false,
        "[10 lines]\n   1 | 1\n   2 | 2\n   3 | 3\n   4 | 4\n   5 | 5\n   6 | 6\n   7 | 7\n   8 "
        "| 8\n   9 | 9\n  10 | 10",
        NULL);
    check_call(&c, "read_file", "{\"path\":\"ten\",\"offset\":11}", false, "[Lines 11-10 of 10]\n",
               NULL);
    check_call(&c, "read_file", "{\"path\":\"ten\",\"limit\":null,\"offset\":10.0}", false,
               "[Lines 10-10 of 10]\n  10 | 10", NULL);
    calls_close(&c);
}

TEST(a_long_file_is_read_over_many_steps_and_comes_whole) {
    char *text = (char *)malloc(1048577), *want = (char *)malloc(1200000);
    size_t i, at;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    for (i = 0; i < 1048576; i++) text[i] = i % 1024 == 1023 ? '\n' : (char)('a' + i / 1024 % 26);
    text[1048576] = '\0';
    calls_put(&c, "big", text);
    at = (size_t)sprintf(want, "[1024 lines]");
    for (i = 0; i < 1024; i++) {
        at += (size_t)sprintf(want + at, "\n%4u | ", (unsigned)i + 1);
        memcpy(want + at, text + i * 1024, 1023);
        at += 1023;
    }
    want[at] = '\0';
    if (call(&c, "read_file", "{\"path\":\"big\"}")) {
        CHECK(!c.is_error);
        CHECK(strcmp(c.text, want) == 0);
        CHECK(c.steps >= 16);
    }
    calls_put(&c, "big", text);
    calls_close(&c);
    free(text);
    free(want);
}

/* A host that sleeps in phi_step asks the same rule: it waited 10 ms between two slices. */
TEST(a_host_does_not_sleep_between_two_slices) {
    char *text = (char *)malloc(700001);
    int asked = 0;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    memset(text, 'a', 700000);
    text[700000] = '\0';
    calls_put(&c, "f", text);
    calls_begin(&c, "read_file", "{\"path\":\"f\"}");
    calls_go_on(&c, 1);
    while (!c.ended) {
        CHECK_EQ_INT(phi_next_timeout(rig_runtime(c.r)), 0);
        asked++;
        (void)calls_step(&c);
    }
    CHECK(asked >= 10);
    while (calls_step(&c) > 0) continue;
    CHECK(phi_next_timeout(rig_runtime(c.r)) != 0); /* nothing is left over */
    free(text);
    calls_close(&c);
}

TEST(characters_may_lie_on_every_border_of_a_slice) {
    char *text = (char *)malloc(200000);
    int shift;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    for (shift = 0; shift < 4; shift++) {
        size_t i, n = (size_t)shift;
        memset(text, 'x', n);
        for (i = 0; i < 40000; i++) {
            memcpy(text + n, "\xf0\x9f\x98\x80", 4);
            n += 4;
        }
        calls_put_bytes(&c, "f", text, n);
        if (call(&c, "read_file", "{\"path\":\"f\"}")) {
            CHECK(!c.is_error);
            CHECK_EQ_INT(c.len, 10 + 7 + n);
            CHECK(memcmp(c.text + 17, text, n) == 0);
        }
    }
    free(text);
    calls_close(&c);
}

TEST(more_than_a_mebibyte_needs_offset_and_limit) {
    char *text = (char *)malloc(3000001);
    size_t i;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    for (i = 0; i < 3000000; i++) text[i] = i % 100 == 99 ? '\n' : 'x';
    text[3000000] = '\0';
    calls_put(&c, "huge", text);
    check_call(&c, "read_file", "{\"path\":\"huge\"}", true,
               "File too large (3000000 bytes, max 1048576). Use offset/limit for partial reads.",
               "");
    if (call(&c, "read_file", "{\"path\":\"huge\",\"offset\":29999,\"limit\":1}")) {
        CHECK(strncmp(c.text, "[Lines 29999-29999 of 30000]\n29999 | xxx", 40) == 0);
        CHECK_EQ_INT(c.len, 29 + 8 + 99);
    }
    if (call(&c, "read_file", "{\"path\":\"huge\",\"offset\":2}")) {
        CHECK(c.is_error);
        CHECK(strncmp(c.text, "File too large (", 16) == 0);
    }
    free(text);
    calls_close(&c);
}

TEST(an_image_comes_as_base64_with_its_type) {
    static const char png[] = "\x89PNG\r\n\x1a\n";
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_put_bytes(&c, "a.png", png, 8);
    check_call(&c, "read_file", "{\"path\":\"a.png\"}", false,
               "iVBORw0KGgo=", "{\"path\":\"a.png\",\"bytes\":8}");
    CHECK_EQ_STR(c.mime_type, "image/png");
    calls_put(&c, "b.JPG", "x");
    check_call(&c, "read_file", "{\"path\":\"b.JPG\"}", false, "eA==", NULL);
    CHECK_EQ_STR(c.mime_type, "image/jpeg");
    calls_put(&c, "c.jpeg", "");
    check_call(&c, "read_file", "{\"path\":\"c.jpeg\"}", true,
               "Cannot read c.jpeg: the image is empty", NULL);
    calls_put(&c, "d.webp", "xyz");
    check_call(&c, "read_file", "{\"path\":\"d.webp\"}", false, "eHl6", NULL);
    CHECK_EQ_STR(c.mime_type, "image/webp");
    calls_put(&c, "e.Gif", "x");
    check_call(&c, "read_file", "{\"path\":\"e.Gif\"}", false, "eA==", NULL);
    CHECK_EQ_STR(c.mime_type, "image/gif");
    calls_put(&c, "f.bmp", "x");
    check_call(&c, "read_file", "{\"path\":\"f.bmp\"}", false, "eA==", NULL);
    CHECK_EQ_STR(c.mime_type, "image/bmp");
    calls_close(&c);
}

TEST(a_large_image_is_whole_and_a_larger_one_is_refused) {
    char *bytes = (char *)calloc(1, 200000);
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_put_bytes(&c, "a.png", bytes, 200000);
    free(bytes);
    if (call(&c, "read_file", "{\"path\":\"a.png\"}")) {
        CHECK_EQ_INT(c.len, 266668);
        CHECK_EQ_STR(c.text + 266668 - 6, "AAAAA=");
    }
    CHECK(truncate(calls_path(&c, "a.png"), 20971520 + 3 * 1048576) == 0);
    check_call(&c, "read_file", "{\"path\":\"a.png\"}", true, "Image too large (23MB, max 20MB)",
               "");
    calls_close(&c);
}

TEST(a_pdf_comes_as_a_document_with_its_name) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_mkdir(&c, "sub");
    calls_put(&c, "sub/A.Pdf", "%PDF-1.7");
    check_call(&c, "read_file", "{\"path\":\"sub/A.Pdf\"}", false,
               "JVBERi0xLjc=", "{\"path\":\"sub/A.Pdf\",\"bytes\":8}");
    CHECK_EQ_INT(c.kind, PHI_CONTENT_DOCUMENT);
    CHECK_EQ_STR(c.mime_type, "application/pdf");
    CHECK_EQ_STR(c.name, "A.Pdf");
    calls_put(&c, "b.pdf", "plain words");
    check_call(&c, "read_file", "{\"path\":\"b.pdf\"}", true,
               "Cannot read b.pdf: the file is not application/pdf", NULL);
    calls_put(&c, "c.pdf", "%P");
    check_call(&c, "read_file", "{\"path\":\"c.pdf\"}", true,
               "Cannot read c.pdf: the file is not application/pdf", NULL);
    calls_put(&c, "d.pdf", "");
    check_call(&c, "read_file", "{\"path\":\"d.pdf\"}", true,
               "Cannot read d.pdf: the document is empty", NULL);
    calls_close(&c);
}

TEST(a_large_pdf_is_whole_and_a_larger_one_is_refused) {
    char *bytes = (char *)calloc(1, 200000);
    calls c;
    REQUIRE(calls_open(&c, NULL));
    memcpy(bytes, "%PDF-", 5);
    calls_put_bytes(&c, "a.pdf", bytes, 200000);
    free(bytes);
    if (call(&c, "read_file", "{\"path\":\"a.pdf\"}")) {
        CHECK_EQ_INT(c.len, 266668);
        CHECK(strncmp(c.text, "JVBERi0AAAAA", 12) == 0);
    }
    CHECK(truncate(calls_path(&c, "a.pdf"), 20971520 + 3 * 1048576) == 0);
    check_call(&c, "read_file", "{\"path\":\"a.pdf\"}", true, "Document too large (23MB, max 20MB)",
               "");
    calls_close(&c);
}

TEST(a_model_that_takes_neither_documents_nor_audio_hears_that_they_are_no_text) {
    phi_model model = phi_model_minimax("MiniMax-M2", "K");
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_put(&c, "a.wav", "RIFF\xff"); /* the rig's model is a Claude */
    check_call(&c, "read_file", "{\"path\":\"a.wav\"}", true,
               "Cannot read a.wav: the file is not valid UTF-8 text", NULL);
    CHECK_EQ_INT(set_model(c.agent, &model), PHI_OK);
    calls_put(&c, "a.pdf", "%PDF-\xff");
    check_call(&c, "read_file", "{\"path\":\"a.pdf\"}", true,
               "Cannot read a.pdf: the file is not valid UTF-8 text", NULL);
    calls_put(&c, "b.pdf", "%PDF-");
    check_call(&c, "read_file", "{\"path\":\"b.pdf\"}", false, "[1 lines]\n   1 | %PDF-", NULL);
    calls_close(&c);
}

/* The same as check_call by a model of Google's, which hears. */
static void check_heard(calls *c, const char *path, bool is_error, const char *text) {
    char body[400];
    int left = 5000;
    (void)snprintf(body, sizeof body,
                   "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":["
                   "{\"functionCall\":{\"name\":\"read_file\",\"args\":{\"path\":\"%s\"}}}]},"
                   "\"finishReason\":\"STOP\"}]}\n\n",
                   path);
    calls_forget(c);
    rig_replies(c->r, 200, "Content-Type: text/event-stream\r\n", body);
    rig_replies(c->r, 200, "Content-Type: text/event-stream\r\n",
                "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":["
                "{\"text\":\"done\"}]},\"finishReason\":\"STOP\"}]}\n\n");
    CHECK_EQ_INT(phi_prompt(c->agent, "go"), PHI_OK);
    while (calls_step(c) > 0 && left-- > 0) continue;
    CHECK_EQ_INT(c->results, 1);
    CHECK_EQ_STR(c->text, text);
    CHECK_EQ_INT(c->is_error, is_error);
}

TEST(a_model_that_hears_gets_wav_and_mp3_as_audio) {
    phi_model model = phi_model_google("gemini-3-pro", "K");
    calls c;
    REQUIRE(calls_open(&c, NULL));
    CHECK_EQ_INT(set_model(c.agent, &model), PHI_OK);
    calls_put(&c, "a.wav", "RIFF");
    check_heard(&c, "a.wav", false, "UklGRg==");
    CHECK_EQ_INT(c.kind, PHI_CONTENT_AUDIO);
    CHECK_EQ_STR(c.mime_type, "audio/wav");
    CHECK_EQ_STR(c.name, "");
    calls_put(&c, "b.MP3", "ID3");
    check_heard(&c, "b.MP3", false, "SUQz");
    CHECK_EQ_STR(c.mime_type, "audio/mpeg");
    calls_put(&c, "c.wav", "RIF");
    check_heard(&c, "c.wav", true, "Cannot read c.wav: the file is not audio/wav");
    calls_put(&c, "d.mp3", "");
    check_heard(&c, "d.mp3", true, "Cannot read d.mp3: the sound is empty");
    CHECK(truncate(calls_path(&c, "a.wav"), 21 * 1048576) == 0);
    check_heard(&c, "a.wav", true, "Sound too large (21MB, max 20MB)");
    calls_close(&c);
}

TEST(what_cannot_be_read_is_told_in_words) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    check_call(&c, "read_file", "{\"path\":\"none.txt\"}", true,
               "Cannot access none.txt: No such file or directory", "");
    calls_mkdir(&c, "sub");
    check_call(&c, "read_file", "{\"path\":\"sub\"}", true, "Cannot read sub: Is a directory", "");
    calls_put(&c, "bin", "ab\xff\xfe");
    check_call(&c, "read_file", "{\"path\":\"bin\"}", true,
               "Cannot read bin: the file is not valid UTF-8 text", "");
    calls_put(&c, "cut", "ab\xe2\x82");
    check_call(&c, "read_file", "{\"path\":\"cut\"}", true,
               "Cannot read cut: the file is not valid UTF-8 text", "");
    check_call(&c, "read_file", "{}", true, "Invalid arguments: missing 'path' parameter", "");
    check_call(&c, "read_file", "{\"path\":\"x\",\"offset\":\"5\"}", true,
               "Invalid arguments: 'offset' must be a whole number, 0 or more", "");
    check_call(&c, "read_file", "{\"path\":\"x\",\"limit\":-1}", true,
               "Invalid arguments: 'limit' must be a whole number, 0 or more", "");
    check_call(&c, "read_file", "{\"path\":\"\"}", true,
               "Cannot access : No such file or directory", "");
    calls_close(&c);
}

/* ---- where it may read ---- */

TEST(the_workspace_cannot_be_left) {
    char arguments[700], want[700], secret[700];
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_mkdir(&c, "work");
    calls_mkdir(&c, "work2");
    calls_put(&c, "secret", "s");
    calls_put(&c, "work2/secret", "s");
    c.set.desc.workspace = calls_copy(phi_str_of(calls_path(&c, "work")));
    CHECK(symlink("../secret", calls_path(&c, "work/link")) == 0);
    CHECK(symlink("..", calls_path(&c, "work/up")) == 0);
    (void)snprintf(secret, sizeof secret, "%s/secret", c.dir);
    CHECK(symlink(secret, calls_path(&c, "work/far")) == 0);
    check_call(&c, "read_file", "{\"path\":\"../secret\"}", true,
               "Cannot access ../secret: it is outside the allowed paths", "");
    check_call(&c, "read_file", "{\"path\":\"../work2/secret\"}", true,
               "Cannot access ../work2/secret: it is outside the allowed paths", "");
    check_call(&c, "read_file", "{\"path\":\"link\"}", true,
               "Cannot access link: it is outside the allowed paths", "");
    check_call(&c, "read_file", "{\"path\":\"up/secret\"}", true,
               "Cannot access up/secret: it is outside the allowed paths", "");
    check_call(&c, "read_file", "{\"path\":\"far\"}", true,
               "Cannot access far: it is outside the allowed paths", "");
    check_call(&c, "read_file", "{\"path\":\"/etc/passwd\"}", true,
               "Cannot access /etc/passwd: it is outside the allowed paths", "");
    calls_put(&c, "work/in", "i");
    check_call(&c, "read_file", "{\"path\":\"up/work/./in\"}", false, "[1 lines]\n   1 | i", NULL);
    (void)snprintf(arguments, sizeof arguments, "{\"path\":\"%s/work/in\"}", c.dir);
    (void)snprintf(want, sizeof want, "{\"path\":\"%s/work/in\"}", c.dir);
    check_call(&c, "read_file", arguments, false, "[1 lines]\n   1 | i", want);
    free((char *)(uintptr_t)c.set.desc.workspace);
    calls_close(&c);
}

/* In the deepest of 40 directories 39 links, of which each leads to the next by all of them, and the last to a file. */
static void put_chain(calls *c, char *deepest, size_t size) {
    char path[1024], target[1024];
    int i, n = snprintf(deepest, size, "%s", "d");
    calls_mkdir(c, deepest);
    for (i = 1; i < 40; i++) {
        n += snprintf(deepest + n, size - (size_t)n, "/d");
        calls_mkdir(c, deepest);
    }
    for (i = 0; i < 39; i++) {
        (void)snprintf(path, sizeof path, "%s/%s/l%d", c->dir, deepest, i);
        (void)snprintf(target, sizeof target, "%s/%s/%s%d", c->dir, deepest, i < 38 ? "l" : "f",
                       i + 1);
        CHECK(symlink(target, path) == 0);
    }
    (void)snprintf(path, sizeof path, "%s/f39", deepest);
    calls_put(c, path, "found");
}

TEST(a_chain_of_links_takes_steps_and_ends_where_it_leads) {
    static const char *const names[] = {"read_file", "edit_file", "write_file", "list_files",
                                        "search"};
    char deepest[200], arguments[600];
    size_t i;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    put_chain(&c, deepest, sizeof deepest);
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(arguments, sizeof arguments,
                       "{\"path\":\"%s/l0\",\"content\":\"new\",\"pattern\":\"n\","
                       "\"old_text\":\"found\",\"new_text\":\"find\"}",
                       deepest);
        CHECK(call(&c, names[i], arguments));
#if !defined(_WIN32) /* which resolves a path in one call */
        if (!CHECK(c.steps >= 10)) printf("  %s: %d steps\n", names[i], c.steps);
#endif
        if (!CHECK(c.is_error == (i == 3))) printf("  %s: %s\n", names[i], c.text);
    }
#if !defined(_WIN32)
    calls_begin(&c, "read_file", arguments);
    calls_go_on(&c, 3);
    CHECK(!c.ended);
    CHECK_EQ_INT(phi_abort(c.agent), PHI_OK); /* in the middle of it */
    while (calls_step(&c) > 0) continue;
    CHECK_EQ_STR(c.text, "Cancelled");
#endif
    calls_close(&c);
}

TEST(allowed_paths_open_other_places) {
    static const char *const allowed[] = {"../lent", NULL};
    phi_tools_desc desc = PHI_ZERO;
    char *workspace;
    calls c;
    REQUIRE(calls_open(&c, &desc));
    calls_mkdir(&c, "work");
    calls_mkdir(&c, "lent");
    calls_put(&c, "lent/a", "a");
    calls_put(&c, "b", "b");
    workspace = calls_copy(phi_str_of(calls_path(&c, "work")));
    c.set.desc.workspace = workspace;
    c.set.desc.allowed_paths = allowed;
    check_call(&c, "read_file", "{\"path\":\"../lent/a\"}", false, "[1 lines]\n   1 | a", NULL);
    check_call(&c, "read_file", "{\"path\":\"../b\"}", true,
               "Cannot access ../b: it is outside the allowed paths", "");
    c.set.desc.unconfined = true;
    check_call(&c, "read_file", "{\"path\":\"../b\"}", false, "[1 lines]\n   1 | b", NULL);
    free(workspace);
    calls_close(&c);
}

TEST(without_workspace_and_allowed_paths_everything_may_be_read) {
    phi_tools_desc desc = PHI_ZERO;
    char arguments[700];
    calls c;
    desc.unconfined = true;
    REQUIRE(calls_open(&c, &desc));
    c.set.desc.unconfined = false;
    calls_put(&c, "a", "a");
    (void)snprintf(arguments, sizeof arguments, "{\"path\":\"%s/a\"}", c.dir);
    CHECK(c.set.desc.workspace == NULL);
    check_call(&c, "read_file", arguments, false, "[1 lines]\n   1 | a", NULL);
    calls_close(&c);
}

TEST(cancelling_in_the_middle_closes_the_file) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_put(&c, "a.txt", "x");
    CHECK(truncate(calls_path(&c, "a.txt"), 1000000) == 0);
    calls_begin(&c, "read_file", "{\"path\":\"a.txt\"}");
    calls_go_on(&c, 4);
    CHECK(!c.ended);
    CHECK_EQ_INT(phi_abort(c.agent), PHI_OK);
    while (calls_step(&c) > 0) continue;
    CHECK_EQ_STR(c.text, "Cancelled");
    calls_close(&c);
}

TEST_MAIN(TEST_ENTRY(lines_are_numbered_behind_a_header), TEST_ENTRY(offset_and_limit_choose_lines),
          TEST_ENTRY(a_long_file_is_read_over_many_steps_and_comes_whole),
          TEST_ENTRY(a_host_does_not_sleep_between_two_slices),
          TEST_ENTRY(characters_may_lie_on_every_border_of_a_slice),
          TEST_ENTRY(more_than_a_mebibyte_needs_offset_and_limit),
          TEST_ENTRY(an_image_comes_as_base64_with_its_type),
          TEST_ENTRY(a_large_image_is_whole_and_a_larger_one_is_refused),
          TEST_ENTRY(what_cannot_be_read_is_told_in_words),
          TEST_ENTRY(the_workspace_cannot_be_left),
          TEST_ENTRY(a_chain_of_links_takes_steps_and_ends_where_it_leads),
          TEST_ENTRY(allowed_paths_open_other_places),
          TEST_ENTRY(without_workspace_and_allowed_paths_everything_may_be_read),
          TEST_ENTRY(cancelling_in_the_middle_closes_the_file),
          TEST_ENTRY(a_pdf_comes_as_a_document_with_its_name),
          TEST_ENTRY(a_large_pdf_is_whole_and_a_larger_one_is_refused),
          TEST_ENTRY(a_model_that_takes_neither_documents_nor_audio_hears_that_they_are_no_text),
          TEST_ENTRY(a_model_that_hears_gets_wav_and_mp3_as_audio))
