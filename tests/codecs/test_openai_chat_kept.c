/* test_openai_chat_kept.c - members of Chat Completions that phi does not read: kept, merged over
   the pieces of a stream, and sent back where a server takes them. */
#include "codecs/kept_support.h"

#define P PHI_PROTOCOL_OPENAI_CHAT

static phi_model gpt(void) { return phi_model_openai("gpt-4o", "K"); }

/* A chunk with a delta, in single quotes. */
static void delta(stream *s, const char *json) {
    static char text[8000];
    snprintf(text, sizeof text, "{'choices':[{'index':0,'delta':%s}]}", json);
    kept_event(s, q(text));
}

static void end(stream *s, const char *word) {
    char text[200];
    snprintf(text, sizeof text, "{'choices':[{'delta':{},'finish_reason':'%s'}]}", word);
    kept_event(s, q(text));
    kept_event(s, "[DONE]");
    stream_end(s);
}

TEST(a_member_that_phi_does_not_read_is_one_opaque_block_and_text_goes_on_behind_it) {
    stream s;
    conversation t;
    kept_begin(&s, P);
    delta(&s, "{'role':'assistant','content':'Hel','x_note': {'a': 1.0} ,'y':null,'z':[],'w':5}");
    delta(&s, "{'content':'lo','channel':'final','name':'n'}");
    end(&s, "stop");
    REQUIRE(s.message.content_count == 2);
    CHECK_STR(s.content[0].text, "Hello");
    CHECK_EQ_INT(s.content[1].kind, PHI_CONTENT_OPAQUE);
    CHECK_STR(s.content[1].name, "x_note");
    CHECK_STR(s.content[1].protocol, P);
    CHECK_STR(s.content[1].replay, q("{'x_note':{'a': 1.0}}"));
    CHECK_EQ_INT(s.content[1].text.len, 0);
    kept_send(&t, &s, gpt(), gpt());
    CHECK_EQ_STR(talk_at(&t, "messages[1]"), q("{'role':'assistant','content':'Hello'}"));
    talk_free(&t);
    stream_free(&s);
}

TEST(pieces_of_a_member_are_merged) {
    stream s;
    kept_begin(&s, P);
    delta(&s, "{'audio':{'id':'au','transcript':'Hi '},'label':'same'}");
    delta(&s, "{'audio':{'data':'QUJD'},'label':'same'}");
    delta(&s, "{'audio':{'data':'REVG','transcript':'there','id':'au','n':null}}");
    delta(&s, "{'audio':{'expires_at':17},'label':'same'}");
    delta(&s, "{'executed_tools':[{'index':0,'type':'search','arguments':'{\\'q\\':'}]}");
    delta(&s,
          "{'executed_tools':[{'index':0,'type':'search','arguments':'1}'},{'index':1,'type':'b'}"
          "]}");
    delta(&s, "{'executed_tools':[{'index':0,'output':'o'},{'type':'c'}],'plan':'a'}");
    delta(&s, "{'plan':'b'}");
    delta(&s, "{'plan':{'c':1}}"); /* another type: the later one */
    end(&s, "stop");
    REQUIRE(s.message.content_count == 4);
    CHECK_STR(s.content[0].replay, q("{'audio':{'id':'au','transcript':'Hi there','data':"
                                     "'QUJDREVG','n':null,'expires_at':17}}"));
    CHECK_STR(s.content[1].replay, q("{'label':'same'}"));
    CHECK_STR(s.content[2].replay,
              q("{'executed_tools':[{'index':0,'type':'search','arguments':'{\\'q\\':1}','output':"
                "'o'},{'index':1,'type':'b'},{'type':'c'}]}"));
    CHECK_STR(s.content[3].replay, q("{'plan':{'c':1}}"));
    stream_free(&s);
}

TEST(before_its_end_a_member_is_its_first_piece) {
    stream s;
    kept_begin(&s, P);
    delta(&s, "{'audio':{'data':'a'}}");
    delta(&s, "{'audio':{'data':'b'}}");
    stream_view(&s);
    CHECK_STR(s.content[0].replay, q("{'audio':{'data':'a'}}"));
    stream_end(&s);
    CHECK_STR(s.content[0].replay, q("{'audio':{'data':'a'}}"));
    stream_free(&s);
}

TEST(a_call_of_a_custom_tool_is_kept_and_goes_back_among_the_calls) {
    stream s;
    conversation t;
    kept_begin(&s, P);
    delta(&s, "{'content':'On it.'}");
    delta(&s, "{'tool_calls':[{'index':0,'id':'c0','type':'custom','custom':{'name':'sql','input':"
              "''}},{'index':1,'id':'c1','type':'function','function':{'name':'f','arguments':''}}]"
              "}");
    delta(&s, "{'tool_calls':[{'index':0,'custom':{'input':'SELECT '}},{'index':1,'function':{"
              "'arguments':'{}'}}]}");
    delta(&s, "{'tool_calls':[{'index':0,'custom':{'input':'1'}},{'index':2,'id':'c2','type':"
              "'custom','custom':{'name':'sql','input':'2'}}]}");
    end(&s, "tool_calls");
    REQUIRE(s.message.content_count == 4);
    CHECK_STR(s.content[1].name, "custom");
    CHECK_STR(s.content[1].replay, q("{'tool_calls':[{'id':'c0','type':'custom','custom':{'name':"
                                     "'sql','input':'SELECT 1'}}]}"));
    CHECK_STR(s.content[2].name, "f");
    CHECK_STR(s.content[3].replay, q("{'tool_calls':[{'id':'c2','type':'custom','custom':{'name':"
                                     "'sql','input':'2'}}]}"));
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    kept_send(&t, &s, gpt(), gpt());
    CHECK_EQ_STR(talk_at(&t, "messages[1].tool_calls"),
                 q("[{'id':'c0','type':'custom','custom':{'name':'sql','input':'SELECT 1'}},{'id':"
                   "'c1','type':'function','function':{'name':'f','arguments':'{}'}},{'id':'c2',"
                   "'type':'custom','custom':{'name':'sql','input':'2'}}]"));
    talk_free(&t);
    kept_send(&t, &s, gpt(), phi_model_anthropic("claude-sonnet-4-6", "K"));
    CHECK(!kept_says(&t, "sql"));
    talk_free(&t);
    stream_free(&s);
}

TEST(calls_of_custom_tools_alone_are_an_answer_too) {
    stream s;
    conversation t;
    kept_begin(&s, P);
    stream_whole(&s, q("{'choices':[{'message':{'content':null,'tool_calls':[{'id':'c0','type':"
                       "'custom', 'custom':{'name':'sql','input':'1'}}]},'finish_reason':"
                       "'tool_calls'}]}"));
    REQUIRE(s.message.content_count == 1);
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_STOP); /* none that phi can run */
    kept_send(&t, &s, gpt(), gpt());
    CHECK_EQ_STR(talk_at(&t, "messages[1]"),
                 q("{'role':'assistant','content':null,'tool_calls':[{'id':'c0','type':'custom',"
                   "'custom':{'name':'sql','input':'1'}}]}"));
    talk_free(&t);
    stream_free(&s);
}

TEST(an_opaque_block_of_a_user_is_a_message_of_its_own_or_a_part) {
    static const char *const blocks[] = {
        "{\"role\":\"tool\",\"tool_call_id\":\"c0\",\"content\":\"1\"}",
        "{\"type\":\"file\",\"file\":{\"file_id\":\"f\"}}", "{\"role\":", "[1]"};
    conversation t;
    size_t i;
    talk_begin(&t, gpt());
    talk_user(&t, "a");
    for (i = 0; i < PHI__COUNT(blocks); i++) {
        phi_content *c = talk_block(&t, PHI_CONTENT_OPAQUE);
        c->protocol = phi_str_of(P);
        c->replay = phi_str_of(blocks[i]);
    }
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages"),
                 q("[{'role':'tool','tool_call_id':'c0','content':'1'},{'role':'user','content':[{"
                   "'type':'text','text':'a'},{'type':'file','file':{'file_id':'f'}}]}]"));
    talk_free(&t);
}

#define NOTE(n) "{'type':'url_citation','url_citation':{'url':'https://e/" n "','title':'T'}}"

TEST(annotations_are_the_citations_of_the_text) {
    stream s;
    kept_begin(&s, P);
    delta(&s, "{'content':'Found.'}");
    delta(&s, "{'annotations':[" NOTE("1") ",7]}");
    delta(&s, "{'annotations':[" NOTE("1") "," NOTE("2") "]}");
    end(&s, "stop");
    REQUIRE(s.message.content_count == 1);
    CHECK_STR(s.content[0].citations, q("[" NOTE("1") "," NOTE("1") "," NOTE("2") "]"));
    stream_free(&s);
    kept_begin(&s, P); /* before any text */
    delta(&s, "{'annotations':[" NOTE("1") "]}");
    delta(&s, "{'content':'Found.'}");
    end(&s, "stop");
    REQUIRE(s.message.content_count == 2);
    CHECK_STR(s.content[0].replay, q("{'annotations':[" NOTE("1") "]}"));
    CHECK_STR(s.content[1].text, "Found.");
    stream_free(&s);
}

TEST(sources_of_perplexity_and_xai_are_citations_and_the_last_list_counts) {
    stream s;
    kept_begin(&s, P);
    kept_event(&s, q("{'citations':['https://a'],'choices':[{'delta':{'content':'F'}}]}"));
    CHECK_STR(phi__buf_str(&s.assembly.drafts[0].citations), q("[{'url':'https://a'}]"));
    kept_event(&s, q("{'citations':['https://a'],'search_results':[{'title':'A','url':'https://a',"
                     "'date':null}],'choices':[{'delta':{'content':'o'}}]}"));
    end(&s, "stop");
    CHECK_STR(s.content[0].text, "Fo");
    CHECK_STR(s.content[0].citations, q("[{'title':'A','url':'https://a','date':null}]"));
    stream_free(&s);
    kept_begin(&s, P); /* behind the reason to stop */
    delta(&s, "{'content':'Fo'}");
    kept_event(&s, q("{'choices':[{'delta':{},'finish_reason':'stop'}]}"));
    kept_event(&s, q("{'citations':['https://a','https://b'],'choices':[],'usage':{"
                     "'completion_tokens':1}}"));
    stream_end(&s);
    CHECK_STR(s.content[0].citations, q("[{'url':'https://a'},{'url':'https://b'}]"));
    stream_free(&s);
}

#define READ_FILE "{'type':'file','file':{'hash':'h','content':[{'type':'text','text':'pdf'}]}}"

TEST(openrouter_gets_its_annotations_of_files_back_and_nobody_else) {
    stream s;
    conversation t;
    phi_model router = phi_model_preset("openrouter", "openai/gpt-5", "K");
    kept_begin(&s, P);
    delta(&s, "{'content':'Found.','images':[{'type':'image_url','image_url':{'url':'data:'}}]}");
    delta(&s, "{'annotations':[" NOTE("1") "," READ_FILE "]}");
    end(&s, "stop");
    kept_send(&t, &s, router, router);
    CHECK_EQ_STR(talk_at(&t, "messages[1].annotations"), q("[" READ_FILE "]"));
    CHECK(!kept_says(&t, "images"));
    talk_free(&t);
    kept_send(&t, &s, router, gpt());
    CHECK(!kept_says(&t, "annotations"));
    talk_free(&t);
    kept_send(&t, &s, gpt(), router);
    CHECK(!kept_says(&t, "annotations"));
    talk_free(&t);
    stream_free(&s);
}

TEST(parts_of_mistrals_content_go_back_in_their_place) {
    stream s;
    conversation t;
    phi_model mistral = phi_model_preset("mistral", "magistral-medium-latest", "K");
    kept_begin(&s, P);
    delta(&s, "{'content':[{'type':'text','text':'See '},{'type':'reference', 'reference_ids':[1]}"
              "]}");
    delta(&s, "{'content':[{'type':'text','text':'this.'}]}");
    end(&s, "stop");
    REQUIRE(s.message.content_count == 3);
    CHECK_STR(s.content[1].replay, q("{'content':[{'type':'reference', 'reference_ids':[1]}]}"));
    kept_send(&t, &s, mistral, mistral);
    CHECK(kept_says(&t, q("'content':[{'type':'text','text':'See '},{'type':'reference', "
                          "'reference_ids':[1]},{'type':'text','text':'this.'}]")));
    talk_free(&t);
    kept_send(&t, &s, mistral, gpt());
    CHECK(!kept_says(&t, "reference"));
    talk_free(&t);
    stream_free(&s);
}

TEST(an_unknown_reason_to_stop_leaves_what_came) {
    stream s;
    kept_begin(&s, P);
    delta(&s, "{'content':'Hi','tool_calls':[{'index':0,'id':'a','function':{'name':'f','arguments'"
              ":'{}'}},{'index':1,'id':'b','function':{'name':'f','arguments':'{'}}]}");
    end(&s, "repetition");
    CHECK(s.assembly.unknown_stop);
    CHECK_STR(s.message.raw_stop_reason, "repetition");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    CHECK(!s.content[1].incomplete);
    CHECK(s.content[2].incomplete);
    stream_free(&s);
    kept_begin(&s, P);
    delta(&s, "{'content':'Hi'}");
    end(&s, "stop");
    CHECK(!s.assembly.unknown_stop);
    stream_free(&s);
}

TEST(broken_values_are_left_out) {
    stream s;
    kept_begin(&s, P);
    delta(&s, "{'content':'Hi','x':{'a':truX},'images':[01]}");
    delta(&s, "{'x':[1,],'annotations':[{'a':.5}]}");
    delta(&s, "{'tool_calls':[{'index':0,'custom':{'a':+1}}],'content':''}");
    delta(&s, "{'content':[{'type':'y','a':nul}]}");
    end(&s, "stop");
    CHECK_EQ_INT(s.message.content_count, 1);
    CHECK_EQ_INT(s.content[0].citations.len, 0);
    stream_free(&s);
}

/* A list of lists of lists. */
static void deep(stream *s, int depth) {
    char text[2200];
    int i;
    for (i = 0; i < depth; i++) {
        text[i] = '[';
        text[depth + i] = ']';
    }
    text[2 * depth] = '\0';
    stream_text(s, "data: {\"choices\":[{\"delta\":{\"x\":");
    stream_text(s, text);
    stream_text(s, "}}]}\n\n");
}

TEST(a_member_as_deep_as_json_may_be_is_no_lack_of_memory) {
    int depth;
    for (depth = 508; depth <= 512; depth++) {
        stream s;
        kept_begin(&s, P);
        delta(&s, "{'content':'Hi'}");
        deep(&s, depth);
        deep(&s, depth);
        end(&s, "stop");
        CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NONE);
        CHECK_EQ_INT(s.message.content_count, 2);
        CHECK_EQ_INT(s.content[1].incomplete, depth >= 512);
        stream_free(&s);
    }
}

TEST(a_broken_block_of_a_file_breaks_no_request) {
    static const char *const blocks[] = {"{\"tool_calls\":[{\"id\":1}],\"x\":[1]}",
                                         "{\"tool_calls\":[{]}", "{\"tool_calls\":[]}",
                                         "{\"content\":[}]}"};
    phi_model mistral = phi_model_preset("mistral", "m", "K");
    size_t i;
    for (i = 0; i < PHI__COUNT(blocks); i++) {
        conversation t;
        phi_content *c;
        talk_begin(&t, mistral);
        talk_user(&t, "hi");
        (void)talk_assistant(&t);
        talk_text(&t, "a");
        c = talk_block(&t, PHI_CONTENT_OPAQUE);
        c->protocol = phi_str_of(P);
        c->replay = phi_str_of(blocks[i]);
        talk_render_ok(&t);
        CHECK_EQ_STR(talk_at(&t, "messages[1]"), q("{'role':'assistant','content':'a'}"));
        talk_free(&t);
    }
}

#define STREAM                                                                                     \
    "data: {'choices':[{'delta':{'content':'a','audio':{'data':'x'}}}]}\n\n"                       \
    "data: {'choices':[{'delta':{'content':'b','audio':{'data':'y\\u00e9'},'annotations':[{'a':1}" \
    "]}}]}\n\n"                                                                                    \
    "data: {'choices':[{'delta':{'tool_calls':[{'index':0,'id':'c','type':'custom','custom':{"     \
    "'name':'n','input':''}}]}}]}\n\n"                                                             \
    "data: {'choices':[{'delta':{'tool_calls':[{'index':0,'custom':{'input':'in'}}]}}]}\n\n"       \
    "data: {'choices':[{'delta':{'content':[{'type':'z'}]},'finish_reason':'odd'}]}\n\n"

TEST(a_stream_of_kept_members_cut_at_every_byte_is_the_same_answer) {
    kept_cut_everywhere(P, q(STREAM));
}

static void feed_many(stream *s, const char *before, const char *what, const char *after,
                      size_t n) {
    phi__buf text;
    size_t i;
    s->reader.sse.max_event_bytes = 64u << 20;
    phi__buf_init(&text, &s->memory);
    phi__buf_text(&text, "data: ");
    phi__buf_text(&text, before);
    for (i = 0; i < n; i++) {
        if (i > 0) phi__buf_char(&text, ',');
        phi__buf_text(&text, what);
    }
    phi__buf_text(&text, after);
    phi__buf_text(&text, "\n\n");
    stream_feed(s, text.at, text.len);
    phi__buf_free(&text);
}

TEST(two_hundred_thousand_pieces_are_read_in_a_moment) {
    stream s;
    size_t i;
    kept_begin(&s, P);
    delta(&s, "{'content':'a'}");
    feed_many(&s, q("{'choices':[{'delta':{'annotations':["), q("{'a':1}"), "]}}]}", 200000);
    feed_many(&s, q("{'choices':[{'delta':{"), q("'x':'y'"), "}}]}", 200000);
    feed_many(&s, q("{'choices':[{'delta':{'l':["), q("{'index':7,'t':'y'}"), "]}}]}", 200000);
    for (i = 0; i < 3; i++) /* new items each time */
        feed_many(&s, q("{'choices':[{'delta':{'l':["), q("{'t':'y'}"), "]}}]}", 200000);
    end(&s, "stop");
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NONE);
    CHECK_EQ_INT(s.content[0].citations.len, 200000 * 8 + 1);
    stream_free(&s);
    kept_begin(&s, P); /* more names than an answer has blocks */
    {
        phi__buf text;
        s.reader.sse.max_event_bytes = 64u << 20;
        phi__buf_init(&text, &s.memory);
        phi__buf_text(&text, q("data: {'choices':[{'delta':{'content':'a'"));
        for (i = 0; i < 200000; i++) phi__buf_printf(&text, ",\"m%u\":[1]", (unsigned)i);
        phi__buf_text(&text, "}}]}\n\n");
        stream_feed(&s, text.at, text.len);
        phi__buf_free(&text);
    }
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
        phi_model model = gpt();
        phi_message *m;
        talk_begin(&t, model);
        talk_user(&t, "hi");
        m = talk_message(&t, PHI_ROLE_ASSISTANT);
        *m = s.message;
        m->model = phi_str_of(model.id);
        m->provider = phi_str_of(model.provider);
        m->protocol = phi_str_of(P);
        if (talk_render(&t, 0) == PHI_OK) CHECK(kept_says(&t, q("'custom':{'name':'n'")));
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

TEST_MAIN(
    TEST_ENTRY(a_member_that_phi_does_not_read_is_one_opaque_block_and_text_goes_on_behind_it),
    TEST_ENTRY(pieces_of_a_member_are_merged),
    TEST_ENTRY(before_its_end_a_member_is_its_first_piece),
    TEST_ENTRY(a_call_of_a_custom_tool_is_kept_and_goes_back_among_the_calls),
    TEST_ENTRY(calls_of_custom_tools_alone_are_an_answer_too),
    TEST_ENTRY(an_opaque_block_of_a_user_is_a_message_of_its_own_or_a_part),
    TEST_ENTRY(annotations_are_the_citations_of_the_text),
    TEST_ENTRY(sources_of_perplexity_and_xai_are_citations_and_the_last_list_counts),
    TEST_ENTRY(openrouter_gets_its_annotations_of_files_back_and_nobody_else),
    TEST_ENTRY(parts_of_mistrals_content_go_back_in_their_place),
    TEST_ENTRY(an_unknown_reason_to_stop_leaves_what_came), TEST_ENTRY(broken_values_are_left_out),
    TEST_ENTRY(a_member_as_deep_as_json_may_be_is_no_lack_of_memory),
    TEST_ENTRY(a_broken_block_of_a_file_breaks_no_request),
    TEST_ENTRY(a_stream_of_kept_members_cut_at_every_byte_is_the_same_answer),
    TEST_ENTRY(two_hundred_thousand_pieces_are_read_in_a_moment),
    TEST_ENTRY(every_failed_allocation_is_survived))
