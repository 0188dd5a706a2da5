/* test_url.c - addresses taken apart and references followed, as libcurl does it. */
#include <curl/curl.h>

#include "base/base_in.h"
#include "support/test.h"

static const char *const ADDRESSES[] = {
    "http://h",
    "https://h/",
    "HTTPS://Host.example:8443/a/b?c=d#e",
    "http://ada@h/x",
    "http://ada:key@h:80/x?y",
    "https://[::1]/v1",
    "https://ada:k%40y@[fe80::1]:9/v1?q=1&r=2",
    "http://h?q",
    "http://h:8080?q=http://other/",
    "http://h/a?b?c#d?e",
    "http://h/a:b@c/d",
    "https://h/%41#",
};

static char *part(CURLU *url, CURLUPart which, unsigned flags) {
    char *text = NULL;
    (void)curl_url_get(url, which, &text, flags);
    return text;
}

static bool same(phi_str ours, char *curls, bool nocase) {
    bool good = nocase ? phi__str_is_nocase(ours, curls == NULL ? "" : curls)
                       : phi__str_is(ours, curls == NULL ? "" : curls);
    curl_free(curls);
    return good;
}

TEST(parts_are_those_that_libcurl_finds) {
    for (size_t i = 0; i < PHI__COUNT(ADDRESSES); i++) {
        CURLU *url = curl_url();
        phi__url ours;
        char user[64] = "";
        CHECK(curl_url_set(url, CURLUPART_URL, ADDRESSES[i], 0) == CURLUE_OK);
        CHECK(phi__url_split(phi_str_of(ADDRESSES[i]), &ours));
        CHECK(ours.web);
        CHECK(ours.secure == (phi__str_is_nocase(ours.scheme, "https")));
        CHECK(same(ours.scheme, part(url, CURLUPART_SCHEME, 0), true));
        CHECK(same(ours.port, part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT), false));
        CHECK(same(ours.query, part(url, CURLUPART_QUERY, 0), false));
        char *host = part(url, CURLUPART_HOST, 0);
        size_t n = strlen(host);
        if (host[0] == '[') { /* which libcurl keeps */
            host[n - 1] = '\0';
            memmove(host, host + 1, n - 1);
        }
        CHECK(same(ours.host, host, true));
        char *path = part(url, CURLUPART_PATH, 0); /* libcurl adds the "/" that is missing */
        CHECK(ours.path.len > 0 ? same(ours.path, path, false)
                                : same(phi_str_of("/"), path, false));
        char *name = part(url, CURLUPART_USER, 0), *key = part(url, CURLUPART_PASSWORD, 0);
        if (name != NULL)
            (void)snprintf(user, sizeof user, "%s%s%s", name, key ? ":" : "", key ? key : "");
        CHECK((ours.user.at != NULL) == (name != NULL));
        CHECK(phi__str_is(ours.user, user));
        curl_free(name);
        curl_free(key);
        curl_url_cleanup(url);
    }
}

TEST(a_reference_leads_to_where_libcurl_goes) {
    static const char *const BASES[] = {"http://h", "http://h/", "https://u:p@h:8/a/b",
                                        "http://h/a/b/?q=/x/y", "http://h/a?b#c"};
    static const char *const TO[] = {"/",
                                     "/x",
                                     "x",
                                     "x/y?z",
                                     "./x",
                                     "?q",
                                     "//other",
                                     "//other:7/x?y",
                                     "https://o.example/a",
                                     "x?u=http://other/",
                                     "x#frag"};
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__buf out;
    phi_memory_init(&memory, &allocator, 0);
    phi__buf_init(&out, &memory);
    for (size_t b = 0; b < PHI__COUNT(BASES); b++)
        for (size_t t = 0; t < PHI__COUNT(TO); t++) {
            CURLU *theirs = curl_url(), *ours = curl_url();
            CHECK(curl_url_set(theirs, CURLUPART_URL, BASES[b], 0) == CURLUE_OK);
            CHECK(curl_url_set(theirs, CURLUPART_URL, TO[t], 0) == CURLUE_OK);
            (void)curl_url_set(theirs, CURLUPART_FRAGMENT, NULL, 0);
            phi__buf_clear(&out);
            CHECK(phi__url_resolve(&out, phi_str_of(BASES[b]), phi_str_of(TO[t])));
            phi__buf_char(&out, '\0');
            CHECK(curl_url_set(ours, CURLUPART_URL, out.at, 0) == CURLUE_OK);
            char *a = part(theirs, CURLUPART_URL, 0), *c = part(ours, CURLUPART_URL, 0);
            if (strcmp(a, c) != 0) printf("%s + %s: %s and not %s\n", BASES[b], TO[t], c, a);
            CHECK(strcmp(a, c) == 0);
            curl_free(a);
            curl_free(c);
            curl_url_cleanup(theirs);
            curl_url_cleanup(ours);
        }
    phi__buf_free(&out);
}

TEST(what_is_no_address_has_no_parts_that_are_not_there) {
    phi__url url;
    CHECK(!phi__url_split(phi_str_of(""), &url));
    CHECK(url.host.len == 0 && url.path.len == 0 && url.user.at == NULL && !url.web);
    CHECK(!phi__url_split(phi_str_of("ada:key@h/x"), &url)); /* as without a scheme */
    CHECK(phi__str_is(url.user, "ada:key") && phi__str_is(url.host, "h"));
    CHECK(phi__url_split(phi_str_of("ftp://h"), &url) && !url.web && !url.secure);
    CHECK(phi__url_split(phi_str_of("http://[::1/x"), &url) && url.host.len == 0);
    static const char *const odd[] = {"http://[::1].evil.com/", "http://[::1]x:80",
                                      "http://[::1]a"};
    for (size_t i = 0; i < PHI__COUNT(odd); i++) {
        CURLU *theirs = curl_url();
        CHECK(curl_url_set(theirs, CURLUPART_URL, odd[i], 0) != CURLUE_OK); /* libcurl refuses it */
        CHECK(phi__url_split(phi_str_of(odd[i]), &url) && url.host.len == 0);
        curl_url_cleanup(theirs);
    }
    CHECK(phi__url_split(phi_str_of("http://@h"), &url) && url.user.at != NULL &&
          url.user.len == 0);
    CHECK(phi__url_split(phi_str_of("http://a@b@h"), &url) && phi__str_is(url.user, "a@b"));
    CHECK(phi__url_split(phi_str_of("http:///x"), &url) && url.host.len == 0);
    CHECK(phi__url_split(phi_str_of("http://:80/x"), &url) && url.host.len == 0);
    CHECK(phi__url_split(phi__str("http://a\0b/x", 12), &url) && url.host.len == 3);
}

TEST(an_address_is_at_its_host_and_not_at_one_that_looks_like_it) {
    static const char *const at[] = {"https://api.openai.com/v1", "https://API.OpenAI.com",
                                     "https://eu.api.openai.com:443/v1",
                                     "https://ada:pw@api.openai.com/"};
    static const char *const not_at[] = {"https://api.openai.com.evil/v1",
                                         "https://evilapi.openai.com/",
                                         "https://h/api.openai.com/",
                                         "https://api.openai.com@evil/",
                                         "https://h/?u=https://api.openai.com/",
                                         "api.openai.com",
                                         ""};
    for (size_t i = 0; i < PHI__COUNT(at); i++)
        CHECK(phi__url_is_at(phi_str_of(at[i]), "api.openai.com"));
    for (size_t i = 0; i < PHI__COUNT(not_at); i++)
        CHECK(!phi__url_is_at(phi_str_of(not_at[i]), "api.openai.com"));
}

TEST(a_reference_without_a_base_or_memory_leads_nowhere) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__buf out;
    phi_memory_init(&memory, &allocator, 0);
    phi__buf_init(&out, &memory);
    CHECK(!phi__url_resolve(&out, phi_str_of(""), phi_str_of("/x")));
    CHECK(!phi__url_resolve(&out, phi_str_of("h/a"), phi_str_of("x")));
    CHECK(!phi__url_resolve(&out, phi_str_of("http://h"), phi_str_of("")));
    CHECK(!phi__url_resolve(&out, phi_str_of("http://h"), phi_str_of("#f")));
    CHECK(out.len == 0 && !out.failed);
    phi__buf_free(&out);
    phi_memory_init(&memory, &allocator, 4);
    phi__buf_init(&out, &memory);
    CHECK(!phi__url_resolve(&out, phi_str_of("http://h"), phi_str_of("/x")) && out.failed);
    phi__buf_free(&out);
}

TEST_MAIN(TEST_ENTRY(parts_are_those_that_libcurl_finds),
          TEST_ENTRY(a_reference_leads_to_where_libcurl_goes),
          TEST_ENTRY(what_is_no_address_has_no_parts_that_are_not_there),
          TEST_ENTRY(an_address_is_at_its_host_and_not_at_one_that_looks_like_it),
          TEST_ENTRY(a_reference_without_a_base_or_memory_leads_nowhere))
