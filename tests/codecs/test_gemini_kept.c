/* test_gemini_kept.c - parts and metadata of generateContent that phi does not read: kept, and sent
   back. The parts are those of google-genai 3.6.1, November 2026. */
#include "codecs/kept_support.h"

#define P PHI_PROTOCOL_GOOGLE

static phi_model pro(void) { return phi_model_google("gemini-3-pro", "K"); }

static phi_model vertex(void) {
    return phi_model_vertex("https://aiplatform.googleapis.com/v1/projects/p/locations/global",
                            "gemini-3-pro", "T");
}

/* A chunk with parts, in single quotes, and further members of the candidate. */
static void chunk(stream *s, const char *parts, const char *more) {
    static char text[8000];
    snprintf(text, sizeof text, "{'candidates':[{'content':{'parts':[%s]}%s}]}", parts, more);
    kept_event(s, q(text));
}

static void end(stream *s) {
    chunk(s, "", ",'finishReason':'STOP'");
    stream_end(s);
}

#define CODE                                                                                       \
    "{'executableCode':{'language':'PYTHON', 'code':'print(\\u0031)'},'thoughtSignature':'S1'}"
#define RESULT "{'codeExecutionResult':{'outcome':'OUTCOME_OK','output':'1\\n'}}"

TEST(parts_of_another_kind_are_opaque_blocks_that_go_back_in_their_place) {
    stream s;
    conversation t;
    kept_begin(&s, P);
    chunk(&s, "{'text':'Let me '},{'text':'run it.'}, " CODE, "");
    chunk(&s, RESULT ",{'text':'It is 1.'}", "");
    chunk(&s, "{'functionCall':{'name':'f','args':{}},'thoughtSignature':'S2'}", "");
    end(&s);
    REQUIRE(s.message.content_count == 5);
    CHECK_STR(s.content[0].text, "Let me run it.");
    CHECK_EQ_INT(s.content[1].kind, PHI_CONTENT_OPAQUE);
    CHECK_STR(s.content[1].name, "executableCode");
    CHECK_STR(s.content[1].protocol, P);
    CHECK_STR(s.content[1].replay, q(CODE));
    CHECK_STR(s.content[2].name, "codeExecutionResult");
    CHECK_STR(s.content[3].text, "It is 1.");
    CHECK_STR(s.content[4].signature, "S2");
    kept_send(&t, &s, pro(), pro());
    CHECK(kept_says(&t, q("{'role':'model','parts':[{'text':'Let me run it.'}," CODE "," RESULT
                          ",{'text':'It is 1.'},{'functionCall':")));
    talk_free(&t);
    stream_free(&s);
}

static const char *const parts[] = {
    "{'inlineData':{'mimeType':'image/png','data':'aGk='},'thoughtSignature':'S'}",
    "{'fileData':{'mimeType':'image/png','fileUri':'gs://b/o'}}",
    "{'thought':true,'inlineData':{'mimeType':'image/png','data':'aGk='}}",
    "{'toolCall':{'id':'a','toolType':'GOOGLE_SEARCH_WEB','args':{'q':1.50}},'thoughtSignature':'S'"
    "}",
    "{'toolResponse':{'id':'a','toolType':'GOOGLE_SEARCH_WEB','response':{}}}",
    "{'partMetadata':{'a':1},'hologram': [ 1e5 ] }",
};

TEST(every_kind_of_part_goes_back_as_it_came) {
    size_t i;
    for (i = 0; i < PHI__COUNT(parts); i++) {
        stream s;
        conversation t;
        kept_begin(&s, P);
        chunk(&s, parts[i], "");
        end(&s);
        REQUIRE(s.message.content_count == 1);
        CHECK_STR(s.content[0].replay, q(parts[i]));
        kept_send(&t, &s, pro(), pro());
        CHECK(kept_says(&t, q(parts[i])));
        talk_free(&t);
        stream_free(&s);
    }
}

TEST(google_and_vertex_take_each_others_parts) {
    stream s;
    conversation t;
    phi_model other = phi_model_google("gemini-3-flash", "K");
    kept_begin(&s, P);
    chunk(&s, CODE "," RESULT, "");
    chunk(&s, "{'toolCall':{'id':'a'}},{'toolResponse':{'id':'a'}}", "");
    end(&s);
    kept_send(&t, &s, pro(), vertex());
    CHECK(kept_says(&t, q("'parts':[" CODE "," RESULT "]"))); /* no tools of the Gemini API alone */
    talk_free(&t);
    kept_send(&t, &s, pro(), other); /* another model cannot read the signature */
    CHECK(kept_says(&t, q("{'executableCode':{'language':'PYTHON', 'code':'print(\\u0031)'},"
                          "'thoughtSignature':'skip_thought_signature_validator'}," RESULT)));
    CHECK(kept_says(&t, "toolResponse"));
    talk_free(&t);
    other.id = "gemini-2.5-flash";
    kept_send(&t, &s, pro(), other);
    CHECK(kept_says(&t, q("'code':'print(\\u0031)'}}," RESULT)));
    talk_free(&t);
    kept_send(&t, &s, pro(), phi_model_openai("gpt-4o", "K"));
    CHECK(!kept_says(&t, "PYTHON"));
    talk_free(&t);
    stream_free(&s);
    kept_begin(&s, PHI_PROTOCOL_VERTEX);
    chunk(&s, CODE, "");
    end(&s);
    kept_send(&t, &s, vertex(), pro());
    CHECK(kept_says(&t, q(CODE)));
    talk_free(&t);
    stream_free(&s);
}

TEST(what_was_said_of_sources_is_the_citations_of_the_last_text) {
    stream s;
    conversation t;
    kept_begin(&s, P);
    chunk(&s, "{'text':'a'}", ",'groundingMetadata':{}");
    chunk(&s, "{'text':'b'}", ",'groundingMetadata':{'webSearchQueries':['q']}");
    chunk(&s, "{'text':'c'}", ",'citationMetadata':{'citationSources':[1]}");
    CHECK_STR(phi__buf_str(&s.assembly.drafts[0].citations),
              q("[{'groundingMetadata':{'webSearchQueries':['q']}},{'citationMetadata':{"
                "'citationSources':[1]}}]"));
    chunk(&s, CODE ",{'text':'d'}",
          ",'groundingMetadata':{'groundingChunks':[ {'web':{'uri':'u'}} ]},"
          "'urlContextMetadata':{'urlMetadata':[2]}");
    chunk(&s, "", ",'citationMetadata':{'citationSources':[3]},'finishReason':'STOP'");
    stream_end(&s);
    REQUIRE(s.message.content_count == 3);
    CHECK_STR(s.content[0].text, "abc");
    CHECK_EQ_INT(s.content[0].citations.len, 0);
    CHECK_STR(s.content[2].citations,
              q("[{'citationMetadata':{'citationSources':[1]}},{'groundingMetadata':{"
                "'groundingChunks':[ {'web':{'uri':'u'}} ]}},{'urlContextMetadata':{'urlMetadata':"
                "[2]}},{'citationMetadata':{'citationSources':[3]}}]"));
    kept_send(&t, &s, pro(), pro());
    CHECK(!kept_says(&t, "Metadata"));
    CHECK(phi_str_equal(t.messages[1].content[2].citations, s.content[2].citations));
    talk_free(&t);
    stream_free(&s);
    kept_begin(&s, P); /* without a text there is nothing that they could be about */
    chunk(&s, "{'functionCall':{'name':'f'}}", ",'groundingMetadata':{'a':1}");
    end(&s);
    CHECK_EQ_INT(s.content[0].citations.len, 0);
    stream_free(&s);
}

TEST(citations_beyond_a_mebibyte_are_not_added) {
    static char text[70000];
    stream s;
    size_t i, len;
    memset(text, 'x', sizeof text - 1);
    kept_begin(&s, P);
    chunk(&s, "{'text':'a'}", "");
    for (i = 0; i < 20; i++) {
        stream_text(&s, q("data: {'candidates':[{'citationMetadata':{'a':'"));
        stream_text(&s, text);
        stream_text(&s, q("'}}]}\n\n"));
    }
    len = s.assembly.drafts[0].citations.len;
    CHECK(len > 1u << 20 && len < (1u << 20) + 80000);
    chunk(&s, "", ",'groundingMetadata':{'b':1}"); /* sources are, in place of those before */
    CHECK(s.assembly.drafts[0].citations.len > len);
    end(&s);
    stream_free(&s);
}

TEST(an_opaque_block_of_a_user_is_a_part) {
    conversation t;
    phi_content *c;
    talk_begin(&t, vertex());
    talk_user(&t, "a");
    c = talk_block(&t, PHI_CONTENT_OPAQUE);
    c->protocol = phi_str_of(P);
    c->replay = phi_str_of("{\"fileData\":{\"fileUri\":\"u\"}}");
    c = talk_block(&t, PHI_CONTENT_OPAQUE);
    c->protocol = phi_str_of(P);
    c->replay = phi_str_of("[1]"); /* no object */
    c = talk_block(&t, PHI_CONTENT_OPAQUE);
    c->protocol = phi_str_of(PHI_PROTOCOL_ANTHROPIC);
    c->replay = phi_str_of("{\"type\":\"x\"}");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "contents[0].parts"),
                 q("[{'text':'a'},{'fileData':{'fileUri':'u'}}]"));
    talk_free(&t);
}

TEST(half_of_a_surrogate_pair_is_kept_and_not_sent) {
    stream s;
    conversation t;
    kept_begin(&s, P);
    chunk(&s, "{'x':'\\ud83d'},{'y':'\\ud83d\\ude00'}", "");
    end(&s);
    REQUIRE(s.message.content_count == 2);
    CHECK_STR(s.content[0].replay, q("{'x':'\\ud83d'}"));
    kept_send(&t, &s, pro(), pro());
    CHECK(kept_says(&t, q("'parts':[{'y':'\\ud83d\\ude00'}]")));
    talk_free(&t);
    stream_free(&s);
}

TEST(an_unknown_reason_to_finish_leaves_what_came) {
    stream s;
    kept_begin(&s, P);
    chunk(&s, "{'text':'a'},{'functionCall':{'name':'f'}}", ",'finishReason':'NEW_WORD'");
    stream_end(&s);
    CHECK(s.assembly.unknown_stop);
    CHECK_STR(s.message.raw_stop_reason, "NEW_WORD");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    CHECK_STR(s.content[0].text, "a");
    stream_free(&s);
}

TEST(a_broken_part_is_left_out) {
    stream s;
    kept_begin(&s, P);
    chunk(&s, "{'text':'a'},{'x':truX},{'y':[1,]}", "");
    chunk(&s, "{'text':'b'},{'y':[1,]}", "");
    chunk(&s, "", ",'groundingMetadata':{'a':01}");
    end(&s);
    REQUIRE(s.message.content_count == 1);
    CHECK_STR(s.content[0].text, "ab");
    CHECK_EQ_INT(s.content[0].citations.len, 0);
    stream_free(&s);
}

#define STREAM                                                                                     \
    "data: {'candidates':[{'content':{'parts':[{'text':'a'}," CODE "]}}]}\n\n"                     \
    "data: {'candidates':[{'content':{'parts':[" RESULT ",{'text':'b'}]},'groundingMetadata':{"    \
    "'a':1}}]}\n\n"                                                                                \
    "data: {'candidates':[{'groundingMetadata':{'a':2},'citationMetadata':{'b':1},'finishReason':" \
    "'ODD'}]}\n\n"

TEST(a_stream_of_kept_parts_cut_at_every_byte_is_the_same_answer) {
    kept_cut_everywhere(P, q(STREAM));
}

TEST(two_hundred_thousand_parts_in_one_event_are_read_in_a_moment) {
    stream s;
    phi__buf text;
    size_t i;
    kept_begin(&s, P);
    s.reader.sse.max_event_bytes = 64u << 20;
    phi__buf_init(&text, &s.memory);
    phi__buf_text(&text, q("data: {'candidates':[{'content':{'parts':["));
    for (i = 0; i < 200000; i++) phi__buf_text(&text, i > 0 ? ",{\"x\":1}" : "{\"x\":1}");
    phi__buf_text(&text, "]}}]}\n\n");
    stream_feed(&s, text.at, text.len);
    phi__buf_free(&text);
    stream_end(&s);
    CHECK_STR(s.assembly.failure.code, "too_many_blocks");
    stream_free(&s);
}

static void one_round(void) {
    conversation t;
    stream s;
    kept_begin(&s, P);
    stream_text(&s, q(STREAM));
    stream_end(&s);
    if (s.assembly.failure.kind == PHI_FAILURE_NONE) {
        phi_model model = pro();
        phi_message *m;
        talk_begin(&t, model);
        talk_user(&t, "hi");
        m = talk_message(&t, PHI_ROLE_ASSISTANT);
        *m = s.message;
        m->model = phi_str_of("gemini-3-flash");
        m->provider = phi_str_of(model.provider);
        m->protocol = phi_str_of(P);
        talk_user(&t, "go on");
        if (talk_render(&t, 0) == PHI_OK) CHECK(kept_says(&t, q(RESULT)));
        talk_free(&t);
    }
    stream_free(&s);
}

TEST(every_failed_allocation_is_survived) {
    int n = 0;
    do {
        test_alloc_fail_at(n);
        one_round();
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
        n++;
    } while (test_alloc_tripped());
    CHECK(n > 20);
}

TEST_MAIN(TEST_ENTRY(parts_of_another_kind_are_opaque_blocks_that_go_back_in_their_place),
          TEST_ENTRY(every_kind_of_part_goes_back_as_it_came),
          TEST_ENTRY(google_and_vertex_take_each_others_parts),
          TEST_ENTRY(what_was_said_of_sources_is_the_citations_of_the_last_text),
          TEST_ENTRY(citations_beyond_a_mebibyte_are_not_added),
          TEST_ENTRY(an_opaque_block_of_a_user_is_a_part),
          TEST_ENTRY(half_of_a_surrogate_pair_is_kept_and_not_sent),
          TEST_ENTRY(an_unknown_reason_to_finish_leaves_what_came),
          TEST_ENTRY(a_broken_part_is_left_out),
          TEST_ENTRY(a_stream_of_kept_parts_cut_at_every_byte_is_the_same_answer),
          TEST_ENTRY(two_hundred_thousand_parts_in_one_event_are_read_in_a_moment),
          TEST_ENTRY(every_failed_allocation_is_survived))
