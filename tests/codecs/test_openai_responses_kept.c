/* test_openai_responses_kept.c - items, parts and members of the Responses API that phi does not
   read: kept, and sent back. The items are those of openai 7.57.0, November 2026. */
#include "codecs/kept_support.h"

#define P PHI_PROTOCOL_OPENAI_RESPONSES
#define SEARCH                                                                                     \
    "{'id':'ws_1','type':'web_search_call', "                                                      \
    "'status':'completed','action':{'type':'search','query':'phi \\u00e9'}}"
#define REASON "{'type':'reasoning','id':'rs_1','summary':[],'encrypted_content':'E'}"

static phi_model gpt(void) { return phi_model_openai_responses("gpt-5-mini", "K"); }

static phi_model azure(void) {
    return phi_model_azure("https://r.openai.azure.com/openai/v1", "gpt-5-mini", "K");
}

/* An event of an item, in single quotes. */
static void item(stream *s, const char *word, int index, const char *json) {
    static char text[20000];
    snprintf(text, sizeof text, "{'type':'response.output_item.%s','output_index':%d,'item':%s}",
             word, index, json);
    kept_event(s, q(text));
}

static void end(stream *s, const char *status, const char *members) {
    static char text[20000];
    snprintf(text, sizeof text, "{'type':'response.%s','response':{'status':'%s'%s}}", status,
             status, members);
    kept_event(s, q(text));
    stream_end(s);
}

#define MESSAGE                                                                                    \
    "{'type':'message','id':'msg_1','status':'completed','role':'assistant','content':[{'type':"   \
    "'output_text','text':'Found.','annotations':[]}]}"

TEST(a_hosted_call_is_an_opaque_block_in_its_place_and_goes_back_byte_for_byte) {
    stream s;
    conversation t;
    kept_begin(&s, P);
    item(&s, "done", 0, REASON);
    item(&s, "added", 1, "{'id':'ws_1','type':'web_search_call','status':'in_progress'}");
    CHECK_EQ_INT(s.assembly.count, 2);
    kept_event(&s, q("{'type':'response.web_search_call.searching','output_index':1,'item_id':"
                     "'ws_1'}"));
    item(&s, "added", 2, "{'type':'message','id':'msg_1','role':'assistant','content':[]}");
    kept_event(&s, q("{'type':'response.output_text.delta','output_index':2,'item_id':'msg_1',"
                     "'delta':'Found.'}"));
    item(&s, "done", 1, SEARCH); /* late: its place is that of its start */
    item(&s, "done", 2, MESSAGE);
    end(&s, "completed", "");
    REQUIRE(s.message.content_count == 3);
    CHECK_EQ_INT(s.content[1].kind, PHI_CONTENT_OPAQUE);
    CHECK_STR(s.content[1].name, "web_search_call");
    CHECK_STR(s.content[1].protocol, P);
    CHECK_STR(s.content[1].replay, q(SEARCH));
    CHECK_STR(s.content[2].text, "Found.");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_STOP);
    kept_send(&t, &s, gpt(), gpt());
    CHECK_EQ_STR(talk_at(&t, "input[1].type"), "\"reasoning\"");
    CHECK_EQ_STR(talk_at(&t, "input[2].type"), "\"web_search_call\"");
    CHECK_EQ_STR(talk_at(&t, "input[3].id"), "\"msg_1\"");
    CHECK(kept_says(&t, q("," SEARCH ",")));
    talk_free(&t);
    stream_free(&s);
}

static const char *const items[] = {
    "{'id':'a','type':'file_search_call','queries':['x'],'status':'completed','results':null}",
    "{'id':'a','type':'code_interpreter_call','code':'1 + 1','container_id':'c','outputs':[{'type':"
    "'logs','logs':'2\\n'}],'status':'completed'}",
    "{'id':'a','type':'image_generation_call','result':'aGk=','status':'completed'}",
    "{'id':'a','type':'computer_call','call_id':'c','pending_safety_checks':[],'status':"
    "'completed','actions':[{'type':'wait'}]}",
    "{'id':'a','type':'mcp_list_tools','server_label':'l','tools':[{'name':'t','input_schema':{}}]"
    "}",
    "{'id':'a','type':'mcp_call','server_label':'l','name':'t','arguments':'{}','output':null,"
    "'error':{'type':'http_error','code':1.50,'message':'m'}}",
    "{'id':'a','type':'mcp_approval_request','server_label':'l','name':'t','arguments':'{}'}",
    "{'type':'custom_tool_call','call_id':'c','name':'n','input':'raw \\\\d text'}",
    "{'type':'tool_search_call','id':'a','execution':'server','call_id':null,'status':'completed',"
    "'arguments':{'paths':['crm']}}",
    "{'type':'tool_search_output','execution':'server','call_id':null,'status':'completed','tools':"
    "[{'type':'namespace','name':'crm','tools':[]}]}",
    "{'type':'compaction','id':'a','encrypted_content':'Z'}",
    "{'type':'shell_call','id':'a','call_id':'c','action':{'commands':['ls'],'max_output_length':"
    "null,'timeout_ms':null},'environment':null,'status':'incomplete'}",
    "{'type':'apply_patch_call','id':'a','call_id':'c','operation':{'type':'delete_file','path':"
    "'p'},'status':'completed'}",
    "{'type':'program','id':'a','call_id':'c','code':'f()','fingerprint':'F'}",
    "{'type':'acme:thing','id':'a','status':'completed', 'x' : [ 1e5 , -0.0 ]}",
};

TEST(every_type_of_item_goes_back_as_it_came) {
    size_t i;
    for (i = 0; i < PHI__COUNT(items); i++) {
        stream s;
        conversation t;
        kept_begin(&s, P);
        item(&s, "added", 0, items[i]);
        item(&s, "done", 0, items[i]);
        end(&s, "completed", "");
        CHECK_EQ_INT(s.message.content_count, 1);
        CHECK_EQ_INT(s.content[0].kind, PHI_CONTENT_OPAQUE);
        CHECK_STR(s.content[0].replay, q(items[i]));
        kept_send(&t, &s, gpt(), gpt());
        CHECK(kept_says(&t, q(items[i])));
        CHECK_EQ_STR(talk_at(&t, "input[3]"), "");
        talk_free(&t);
        stream_free(&s);
    }
}

TEST(items_that_stand_only_in_the_finished_response_are_kept_once) {
    stream s;
    kept_begin(&s, PHI_PROTOCOL_AZURE_RESPONSES);
    item(&s, "done", 0, "{'type':'tool_search_output','status':'completed','tools':[]}");
    item(&s, "done", 1, MESSAGE);
    end(&s, "completed",
        ",'output':[" SEARCH ",{'type':'tool_search_output','status':'completed','tools':[]},"
        "" MESSAGE "," SEARCH "]");
    REQUIRE(s.message.content_count == 3);
    CHECK_STR(s.content[0].name, "tool_search_output");
    CHECK_STR(s.content[1].text, "Found.");
    CHECK_STR(s.content[2].replay, q(SEARCH));
    CHECK_STR(s.content[2].protocol, PHI_PROTOCOL_AZURE_RESPONSES);
    stream_free(&s);
    kept_begin(&s, P);
    stream_whole(&s, q("{'status':'completed','output':[" SEARCH "," MESSAGE "]}"));
    REQUIRE(s.message.content_count == 2);
    CHECK_STR(s.content[0].replay, q(SEARCH));
    CHECK_STR(s.content[1].text, "Found.");
    stream_free(&s);
}

/* An answer with reasoning, a hosted call and a call of a custom tool. */
static void searched(stream *s) {
    kept_begin(s, P);
    item(s, "done", 0, REASON);
    item(s, "done", 1, SEARCH);
    item(s, "done", 2,
         "{'type':'custom_tool_call','id':'ctc_1','call_id':'c','name':'n','input':'i'}");
    end(s, "completed", "");
}

TEST(without_its_reasoning_an_item_goes_back_without_its_id_or_not_at_all) {
    stream s;
    conversation t;
    phi_model other = phi_model_openai_responses("gpt-5", "K");
    searched(&s);
    kept_send(&t, &s, gpt(), gpt());
    CHECK_EQ_STR(talk_at(&t, "input[1]"), q("{'type':'reasoning','id':'rs_1','summary':[],"
                                            "'encrypted_content':'E'}"));
    CHECK_EQ_STR(talk_at(&t, "input[2].id"), "\"ws_1\"");
    CHECK_EQ_STR(talk_at(&t, "input[3].id"), "\"ctc_1\"");
    talk_free(&t);
    kept_send(&t, &s, gpt(), other);
    CHECK_EQ_STR(talk_at(&t, "input[1]"),
                 q("{'type':'custom_tool_call','call_id':'c','name':'n','input':'i'}"));
    CHECK_EQ_STR(talk_at(&t, "input[2].role"), "\"user\"");
    talk_free(&t);
    s.content[0].signature = phi_str_of(""); /* store:false and nothing encrypted: it is dropped */
    kept_send(&t, &s, gpt(), gpt());
    CHECK_EQ_STR(talk_at(&t, "input[1].type"), "\"custom_tool_call\"");
    CHECK_EQ_STR(talk_at(&t, "input[1].id"), "");
    talk_free(&t);
    stream_free(&s);
}

TEST(an_item_that_was_never_finished_is_kept_and_not_sent) {
    static const char *const busy[] = {"in_progress", "searching", "interpreting", "generating",
                                       "calling"};
    size_t i;
    for (i = 0; i < PHI__COUNT(busy); i++) {
        stream s;
        conversation t;
        char json[100];
        snprintf(json, sizeof json, "{'id':'a','type':'x_call','status':'%s'}", busy[i]);
        kept_begin(&s, P);
        item(&s, "done", 0, REASON);
        item(&s, "added", 1, json);
        end(&s, "incomplete", ",'incomplete_details':{'reason':'max_output_tokens'}");
        REQUIRE(s.message.content_count == 2);
        CHECK_STR(s.content[1].replay, q(json));
        kept_send(&t, &s, gpt(), gpt());
        CHECK_EQ_STR(talk_at(&t, "input[1].role"), "\"user\""); /* nor reasoning without follower */
        talk_free(&t);
        stream_free(&s);
    }
}

TEST(openai_and_azure_take_each_others_items_but_for_encrypted_content) {
    stream s;
    conversation t;
    kept_begin(&s, P);
    item(&s, "done", 0, SEARCH);
    item(&s, "done", 1, "{'type':'compaction','id':'a','encrypted_content':'Z'}");
    end(&s, "completed", "");
    kept_send(&t, &s, gpt(), azure());
    CHECK(kept_says(&t, q(SEARCH)));
    CHECK(!kept_says(&t, "compaction"));
    talk_free(&t);
    kept_send(&t, &s, gpt(), phi_model_openai("gpt-4o", "K"));
    CHECK(!kept_says(&t, "ws_1"));
    talk_free(&t);
    stream_free(&s);
    kept_begin(&s, PHI_PROTOCOL_AZURE_RESPONSES);
    item(&s, "done", 0, SEARCH);
    end(&s, "completed", "");
    kept_send(&t, &s, azure(), gpt());
    CHECK(kept_says(&t, q(SEARCH)));
    talk_free(&t);
    kept_send(&t, &s, azure(), phi_model_anthropic("claude-sonnet-4-6", "K"));
    CHECK(!kept_says(&t, "ws_1"));
    talk_free(&t);
    stream_free(&s);
}

#define URL(n)                                                                                     \
    "{'type':'url_citation','url':'https://e/" n "','title':'T','start_index':0,'end_index':5}"

TEST(annotations_are_the_citations_of_their_text_and_go_back_with_it) {
    stream s;
    conversation t;
    kept_begin(&s, P);
    item(&s, "added", 0, "{'type':'message','id':'msg_1','role':'assistant','content':[]}");
    kept_event(&s, q("{'type':'response.output_text.delta','output_index':0,'delta':'Found.'}"));
    kept_event(&s, q("{'type':'response.output_text.annotation.added','output_index':0,"
                     "'annotation_index':0,'annotation':" URL("1") "}"));
    kept_event(&s, q("{'type':'response.output_text.annotation.added','output_index':0,"
                     "'annotation':null}"));
    kept_event(&s, q("{'type':'response.output_text.annotation.added','output_index':0,"
                     "'annotation':" URL("2") "}"));
    CHECK_STR(phi__buf_str(&s.assembly.drafts[0].citations), q("[" URL("1") "," URL("2") "]"));
    item(&s, "done", 0, /* the last word */
         "{'type':'message','id':'msg_1','content':[{'type':'output_text','text':'Found.',"
         "'annotations':[" URL("3") ",7]}]}");
    end(&s, "completed", "");
    CHECK_STR(s.content[0].citations, q("[" URL("3") "]"));
    CHECK_STR(s.content[0].replay, q("{'id':'msg_1'}"));
    kept_send(&t, &s, gpt(), gpt());
    CHECK(kept_says(
        &t, q("'content':[{'type':'output_text','text':'Found.','annotations':[" URL("3") "]}]")));
    talk_free(&t);
    kept_send(&t, &s, phi_model_google("gemini-3-pro", "K"),
              gpt()); /* another's are none of ours */
    CHECK(kept_says(&t, q("'text':'Found.','annotations':[]")));
    talk_free(&t);
    stream_free(&s);
}

#define PARTS                                                                                      \
    "[{'type':'output_text','text':'One ','annotations':[" URL(                                    \
        "1") "]},{'type':'output_audio', "                                                         \
             "'data':'aGk='},{'type':'refusal','refusal':'no'}]"

TEST(parts_that_are_no_text_go_back_with_their_message) {
    stream s;
    conversation t;
    kept_begin(&s, P);
    item(&s, "done", 0, "{'type':'message','id':'msg_1','agent':{'name':'x'},'content':" PARTS "}");
    item(&s, "done", 1, "{'type':'message','id':'msg_2','content':[{'type':'widget','w':1}]}");
    end(&s, "completed", "");
    CHECK_STR(s.content[0].text, "One no");
    kept_send(&t, &s, gpt(), gpt());
    CHECK(kept_says(&t, q("{'type':'message','id':'msg_1','status':'completed','role':'assistant',"
                          "'content':" PARTS ",'agent':{'name':'x'}}")));
    CHECK(kept_says(&t, q("'id':'msg_2','status':'completed','role':'assistant','content':[{'type':"
                          "'widget','w':1}]}")));
    talk_free(&t);
    s.content[0].text = phi_str_of("One on"); /* a host rewrote it */
    kept_send(&t, &s, gpt(), gpt());
    CHECK(!kept_says(&t, "output_audio"));
    CHECK(kept_says(&t, q("'text':'One on','annotations':[]")));
    talk_free(&t);
    s.content[0].replay =
        phi_str_of(q("{'id':'msg_1','parts':'[}','more':'},'}")); /* from a file */
    kept_send(&t, &s, gpt(), gpt());
    CHECK(kept_says(&t, q("'text':'One on','annotations':[" URL("1") "]}]}")));
    talk_free(&t);
    stream_free(&s);
}

TEST(members_of_a_call_that_phi_does_not_read_go_back) {
    stream s;
    conversation t;
    kept_begin(&s, P);
    item(&s, "done", 0,
         "{'type':'function_call','id':'fc_1','call_id':'c','name':'f','arguments':'{}','status':"
         "'completed','namespace':'crm','async':true,'caller':null,'w':{'a': 1.0}}");
    end(&s, "completed", "");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    kept_send(&t, &s, gpt(), gpt());
    CHECK(
        kept_says(&t, q("{'type':'function_call','id':'fc_1','call_id':'c','name':'f','arguments':"
                        "'{}','namespace':'crm','async':true,'w':{'a': 1.0}}")));
    talk_free(&t);
    kept_send(&t, &s, gpt(), phi_model_openai_responses("gpt-6-sol", "K"));
    CHECK(kept_says(&t, q("'arguments':'{}','namespace':'crm'")));
    talk_free(&t);
    kept_send(&t, &s, phi_model_anthropic("claude-sonnet-4-6", "K"), gpt());
    CHECK(!kept_says(&t, "namespace"));
    talk_free(&t);
    stream_free(&s);
}

static void talk_opaque(conversation *t, const char *json) {
    phi_content *c = talk_block(t, PHI_CONTENT_OPAQUE);
    c->name = phi_str_of("x");
    c->protocol = phi_str_of(P);
    c->replay = phi_str_of(json);
}

TEST(an_opaque_block_of_a_user_is_an_item_between_messages_or_a_part_of_one) {
    conversation t;
    talk_begin(&t, gpt());
    talk_user(&t, "a");
    talk_opaque(&t, "{\"type\":\"custom_tool_call_output\",\"call_id\":\"c\",\"output\":\"o\"}");
    talk_text(&t, "b");
    talk_opaque(&t, "{\"type\":\"input_file\",\"file_id\":\"f\"}");
    talk_opaque(&t, "{\"type\":"); /* broken, and one without a type */
    talk_opaque(&t, "{}");
    (void)talk_assistant(&t);
    talk_call(&t, "c", "f", "{}");
    (void)talk_result(&t, "c", "f", "r");
    talk_opaque(&t, "{\"type\":\"input_file\",\"file_id\":\"g\"}");
    talk_render_ok(&t);
    CHECK_EQ_STR(
        talk_at(&t, "input"),
        q("[{'role':'user','content':[{'type':'input_text','text':'a'}]},{'type':"
          "'custom_tool_call_output','call_id':'c','output':'o'},{'role':'user','content':"
          "[{'type':'input_text','text':'b'},{'type':'input_file','file_id':'f'}]},{'type'"
          ":'function_call','call_id':'c','name':'f','arguments':'{}'},{'type':"
          "'function_call_output','call_id':'c','output':[{'type':'input_text','text':'r'},"
          "{'type':'input_file','file_id':'g'}]}]"));
    talk_free(&t);
}

static void check_reason(const char *reason, bool unknown, phi_stop_reason want) {
    stream s;
    char members[200];
    snprintf(members, sizeof members, ",'incomplete_details':{'reason':'%s'}", reason);
    kept_begin(&s, P);
    item(&s, "done", 0, MESSAGE);
    end(&s, "incomplete", members);
    CHECK_EQ_INT(s.assembly.unknown_stop, unknown);
    CHECK_EQ_INT(s.message.stop_reason, want);
    CHECK_STR(s.message.raw_stop_reason, reason);
    CHECK_STR(s.content[0].text, "Found.");
    stream_free(&s);
}

TEST(unknown_words_for_the_end_leave_what_came) {
    stream s;
    check_reason("steered", true, PHI_STOP_REASON_STOP);
    check_reason("max_messages", true, PHI_STOP_REASON_STOP);
    check_reason("max_output_tokens", false, PHI_STOP_REASON_LENGTH);
    check_reason("content_filter", false, PHI_STOP_REASON_GUARD_RAIL);
    kept_begin(&s, P);
    item(&s, "done", 0, "{'type':'function_call','call_id':'c','name':'f','arguments':'{}'}");
    item(&s, "done", 1, "{'type':'function_call','call_id':'d','name':'f','arguments':'{'}");
    end(&s, "incomplete", ",'incomplete_details':{'reason':'steered'}");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    CHECK(!s.content[0].incomplete);
    CHECK(s.content[1].incomplete);
    stream_free(&s);
    kept_begin(&s, P);
    stream_whole(&s, q("{'status':'requires_action','output':[" MESSAGE "]}"));
    CHECK(s.assembly.unknown_stop);
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_STOP);
    stream_free(&s);
    kept_begin(&s, P);
    stream_whole(&s, q("{'status':'cancelled','output':[]}"));
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_ERROR);
    stream_free(&s);
}

TEST(an_item_that_is_no_json_is_left_out) {
    static const char *const bad[] = {"{'type':'x','a':truX}", "{'type':'x','a':[1,]}",
                                      "{'type':'x' 'a':1}", "{'type':'x','a':01}"};
    size_t i;
    for (i = 0; i < PHI__COUNT(bad); i++) {
        stream s;
        kept_begin(&s, P);
        item(&s, "done", 0, bad[i]);
        item(&s, "added", 1, "{'type':'y','n':1}");
        item(&s, "done", 1, bad[i]); /* what came before stays */
        end(&s, "completed", "");
        REQUIRE(s.message.content_count == 1);
        CHECK_STR(s.content[0].replay, q("{'type':'y','n':1}"));
        CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_STOP);
        stream_free(&s);
    }
}

TEST(a_stream_of_kept_items_cut_at_every_byte_is_the_same_answer) {
    char text[4000];
    snprintf(text, sizeof text,
             "data: {'type':'response.output_item.added','output_index':0,'item':{'type':"
             "'web_search_call','id':'ws_1','status':'in_progress'}}\n\n"
             "data: {'type':'response.output_item.done','output_index':0,'item':%s}\n\n"
             "event: response.output_text.annotation.added\ndata: {'output_index':1,'annotation':"
             "%s}\n\n"
             "data: {'type':'response.output_item.done','output_index':1,'item':{'type':'message',"
             "'id':'m','x':1,'content':%s}}\n\n"
             "data: {'type':'response.incomplete','response':{'status':'incomplete',"
             "'incomplete_details':{'reason':'new'}}}\n\n",
             SEARCH, URL("1"), PARTS);
    kept_cut_everywhere(P, q(text));
}

/* Appends `n` copies with commas between. */
static void put_many(phi__buf *out, const char *json, size_t n) {
    size_t i;
    for (i = 0; i < n; i++) {
        if (i > 0) phi__buf_char(out, ',');
        phi__buf_text(out, json);
    }
}

TEST(two_hundred_thousand_things_in_one_event_are_read_in_a_moment) {
    static const char *const before[] = {
        "{'type':'response.output_item.done','output_index':0,'item':{'type':'message','content':[{"
        "'type':'output_text','text':'a','annotations':[",
        "{'type':'response.output_item.done','output_index':0,'item':{'type':'message','content':[",
        "{'type':'response.completed','response':{'status':'completed','output':["};
    static const char *const what[] = {"{'type':'u','url':'v'}", "{'type':'widget'}",
                                       "{'type':'x','id':'1'}"};
    static const char *const after[] = {"]}]}}\n\n", "]}}\n\n", "]}}\n\n"};
    size_t i;
    for (i = 0; i < 3; i++) {
        stream s;
        phi__buf text;
        kept_begin(&s, P);
        s.reader.sse.max_event_bytes = 64u << 20;
        phi__buf_init(&text, &s.memory);
        phi__buf_text(&text, "data: ");
        phi__buf_text(&text, q(before[i]));
        put_many(&text, q(what[i]), 200000);
        phi__buf_text(&text, q(after[i]));
        stream_feed(&s, text.at, text.len);
        phi__buf_free(&text);
        stream_end(&s);
        if (i == 0) CHECK_EQ_INT(s.content[0].citations.len, 200000 * 23 + 1);
        if (i == 1) CHECK(s.content[0].replay.len > 200000 * 17);
        if (i == 2) { /* the same id again and again is one item, finished once */
            CHECK_EQ_INT(s.message.content_count, 1);
        }
        stream_free(&s);
    }
}

static void one_round(void) {
    conversation t;
    stream s;
    kept_begin(&s, P);
    item(&s, "done", 0, REASON);
    item(&s, "added", 1, SEARCH);
    item(&s, "done", 1, SEARCH);
    item(&s, "done", 2, "{'type':'message','id':'msg_1','z':[1],'content':" PARTS "}");
    item(&s, "done", 3, "{'type':'function_call','call_id':'c','name':'f','arguments':'{}','w':1}");
    end(&s, "completed", ",'output':[{'type':'other'}]");
    if (s.assembly.failure.kind == PHI_FAILURE_NONE) {
        phi_message made = s.message, *m;
        phi_model model = gpt();
        talk_begin(&t, model);
        talk_user(&t, "hi");
        m = talk_message(&t, PHI_ROLE_ASSISTANT);
        *m = made;
        m->model = phi_str_of(model.id);
        m->provider = phi_str_of(model.provider);
        m->protocol = phi_str_of(P);
        talk_user(&t, "go on");
        if (talk_render(&t, 0) == PHI_OK) CHECK(kept_says(&t, q(SEARCH)));
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

TEST_MAIN(TEST_ENTRY(a_hosted_call_is_an_opaque_block_in_its_place_and_goes_back_byte_for_byte),
          TEST_ENTRY(every_type_of_item_goes_back_as_it_came),
          TEST_ENTRY(items_that_stand_only_in_the_finished_response_are_kept_once),
          TEST_ENTRY(without_its_reasoning_an_item_goes_back_without_its_id_or_not_at_all),
          TEST_ENTRY(an_item_that_was_never_finished_is_kept_and_not_sent),
          TEST_ENTRY(openai_and_azure_take_each_others_items_but_for_encrypted_content),
          TEST_ENTRY(annotations_are_the_citations_of_their_text_and_go_back_with_it),
          TEST_ENTRY(parts_that_are_no_text_go_back_with_their_message),
          TEST_ENTRY(members_of_a_call_that_phi_does_not_read_go_back),
          TEST_ENTRY(an_opaque_block_of_a_user_is_an_item_between_messages_or_a_part_of_one),
          TEST_ENTRY(unknown_words_for_the_end_leave_what_came),
          TEST_ENTRY(an_item_that_is_no_json_is_left_out),
          TEST_ENTRY(a_stream_of_kept_items_cut_at_every_byte_is_the_same_answer),
          TEST_ENTRY(two_hundred_thousand_things_in_one_event_are_read_in_a_moment),
          TEST_ENTRY(every_failed_allocation_is_survived))
