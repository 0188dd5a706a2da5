/* test_context.c - what a model gets to see: the history, as hooks transform and convert it. */
#include "support/heard.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "loop/input.h"

typedef struct pipeline {
    phi_content block;
    phi_message extra;
    const phi_message *list[8];
    size_t transformed, converted;
    size_t of_transform, of_convert; /* messages seen */
} pipeline;

/* transform_context adds a note at the end; convert_to_llm makes a text of each extension. */
static phi_verdict shape(void *user_data, phi_hook *hook) {
    pipeline *p = (pipeline *)user_data;
    size_t i;
    if (hook->messages == NULL || hook->message_count > 7) return PHI_ALLOW;
    for (i = 0; i < hook->message_count; i++) p->list[i] = hook->messages[i];
    if (hook->point == PHI_HOOK_TRANSFORM_CONTEXT) {
        p->transformed++;
        p->of_transform = hook->message_count;
        p->extra = text_message(PHI_ROLE_USER, &p->block, "NOTE");
        p->list[hook->message_count] = &p->extra;
        hook->messages = p->list;
        hook->message_count++;
    } else if (hook->point == PHI_HOOK_CONVERT_TO_LLM) {
        p->converted++;
        p->of_convert = hook->message_count;
    }
    return PHI_ALLOW;
}

TEST(the_context_is_transformed_then_converted_then_sent) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    pipeline p;
    memset(&p, 0, sizeof p);
    rig_hooks(r, &desc, PHI_HOOK_TRANSFORM_CONTEXT | PHI_HOOK_CONVERT_TO_LLM);
    rig_hook_with(r, shape, &p);
    agent = rig_agent(r, &desc);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"go\"\n"
                               "MessageEnd user \"go\"\n"
                               "-> transform_context (1 messages)\n"
                               "-> convert_to_llm (2 messages)\n"
                               "MessageStart assistant\n"
                               "TextDelta \"fine\" of \"fine\"\n"
                               "MessageEnd assistant \"fine\" stop\n"
                               "TurnEnd assistant \"fine\" stop\n"
                               "AgentEnd ok, 2 messages\n");
    CHECK(strstr(rig_request(r, 0), "\"go\"") != NULL);
    CHECK(strstr(rig_request(r, 0), "NOTE") != NULL);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)),
                 2); /* the history is as it was */
    rig_free(r);
}

static phi_verdict convert_extensions(void *user_data, phi_hook *hook) {
    pipeline *p = (pipeline *)user_data;
    size_t i;
    if (hook->point != PHI_HOOK_CONVERT_TO_LLM || hook->message_count > 8) return PHI_ALLOW;
    p->extra = text_message(PHI_ROLE_USER, &p->block, "the score is 7");
    for (i = 0; i < hook->message_count; i++) {
        bool extension = hook->messages[i]->role == PHI_ROLE_EXTENSION;
        p->list[i] = extension ? &p->extra : hook->messages[i];
        if (extension) p->converted++;
    }
    hook->messages = p->list;
    return PHI_ALLOW;
}

TEST(extensions_are_dropped_before_the_model_unless_convert_to_llm_makes_something_of_them) {
    int converts;
    for (converts = 0; converts < 2; converts++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_agent agent;
        phi_message extension;
        pipeline p;
        memset(&p, 0, sizeof p);
        memset(&extension, 0, sizeof extension);
        extension.role = PHI_ROLE_EXTENSION;
        extension.extension_kind = phi_str_of("score");
        extension.extension_data = phi_str_of("{\"points\":7}");
        if (converts == 1) {
            rig_hooks(r, &desc, PHI_HOOK_CONVERT_TO_LLM);
            rig_hook_with(r, convert_extensions, &p);
        }
        agent = rig_agent(r, &desc);
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &extension, 1, NULL), PHI_OK);
        rig_says(r, "fine");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK_EQ_INT(p.converted, converts);
        CHECK(strstr(rig_request(r, 0), "points") == NULL);
        CHECK((strstr(rig_request(r, 0), "the score is 7") != NULL) == (converts == 1));
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 3);
        rig_free(r);
    }
}

TEST(all_attempts_of_a_turn_send_the_same_bytes_and_ask_the_hooks_once) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    pipeline p;
    memset(&p, 0, sizeof p);
    desc.retry.disable = false;
    rig_hooks(r, &desc,
              PHI_HOOK_BEFORE_TURN | PHI_HOOK_TRANSFORM_CONTEXT | PHI_HOOK_CONVERT_TO_LLM);
    rig_hook_with(r, shape, &p);
    agent = rig_agent(r, &desc);
    rig_replies(r, 500, HEARD_JSON, HEARD_BOOM);
    rig_replies(r, 500, HEARD_JSON, HEARD_BOOM);
    rig_says(r, "fine");
    rig_says(r, "fine again");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(phi_steer(agent, "too late for this turn"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 60000), 0);
    CHECK_EQ_INT(p.transformed, 2); /* the turn that was retried, and that of the steering */
    CHECK_EQ_INT(p.converted, 2);
    REQUIRE(rig_requests(r) == 4);
    CHECK_EQ_STR(rig_request(r, 1), rig_request(r, 0));
    CHECK_EQ_STR(rig_request(r, 2), rig_request(r, 0));
    CHECK(strstr(rig_request(r, 3), "too late") != NULL);
    rig_free(r);
}

TEST(what_another_provider_thought_is_translated_before_it_is_sent) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_content blocks[2], question;
    phi_message asked = text_message(PHI_ROLE_USER, &question, "hm?"), foreign;
    memset(blocks, 0, sizeof blocks);
    memset(&foreign, 0, sizeof foreign);
    blocks[0].kind = PHI_CONTENT_THINKING;
    blocks[0].text = phi_str_of("a foreign thought");
    blocks[0].signature = phi_str_of("FOREIGN-SIGNATURE");
    blocks[1].kind = PHI_CONTENT_TEXT;
    blocks[1].text = phi_str_of("an answer");
    foreign.role = PHI_ROLE_ASSISTANT;
    foreign.content = blocks;
    foreign.content_count = 2;
    foreign.stop_reason = PHI_STOP_REASON_STOP;
    foreign.provider = phi_str_of("openai");
    foreign.model = phi_str_of("gpt");
    foreign.protocol = phi_str_of(PHI_PROTOCOL_OPENAI_CHAT);
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &asked, 1, NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &foreign, 1, NULL), PHI_OK);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_request(r, 0), "an answer") != NULL);
    CHECK(strstr(rig_request(r, 0), "FOREIGN-SIGNATURE") == NULL);
    CHECK(strstr(rig_request(r, 0), "\"thinking\"") == NULL);
    CHECK(strstr(rig_request(r, 0), "[Reasoning]") == NULL);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].signature,
              "FOREIGN-SIGNATURE");
    rig_free(r);
}

TEST_MAIN(
    TEST_ENTRY(the_context_is_transformed_then_converted_then_sent),
    TEST_ENTRY(
        extensions_are_dropped_before_the_model_unless_convert_to_llm_makes_something_of_them),
    TEST_ENTRY(all_attempts_of_a_turn_send_the_same_bytes_and_ask_the_hooks_once),
    TEST_ENTRY(what_another_provider_thought_is_translated_before_it_is_sent))
