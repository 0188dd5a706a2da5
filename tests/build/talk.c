/* talk.c - a program of a user, for test_protocols.py: talks over a scripted transport with the model that it is told
   on its command line, and prints what happens.

       talk PROTOCOL [strict]   one prompt; a tool call, where the protocol is Anthropic's
       talk PROTOCOL - -        the same, of a tool that never checks its arguments
   ALL: it names all protocols; MADE_UP: those of which the test knows, and one of its own. */
#define PHI_IMPLEMENTATION
#include "phi.h"

#include <stdio.h>
#include <string.h>

/* ---- answers ---- */

#define START                                                                                      \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":" \
    "\"claude\",\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n"
#define BLOCK(block, delta)                                                                        \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"             \
    "\"content_block\":" block "}\n\n"                                                             \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"             \
    "\"delta\":" delta "}\n\n"                                                                     \
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
#define STOP(why)                                                                                  \
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" why    \
    "\"},\"usage\":{\"output_tokens\":4}}\n\n"                                                     \
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"

static const char *const anthropic[] = {
    START BLOCK("{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"forge\",\"input\":{}}",
                "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"what\\\":\\\"sword\\\"}\"}")
        STOP("tool_use"),
    START BLOCK("{\"type\":\"text\",\"text\":\"\"}",
                "{\"type\":\"text_delta\",\"text\":\"It is mended.\"}") STOP("end_turn")};
static const char *const made_up[] = {"data: It is\n\ndata:  mended.\n\nevent: end\ndata: .\n\n"};

/* ---- the transport: an answer a request, at once ---- */

static const char *const *script;
static size_t asked;

static phi_status answer(void *user_data, phi_transfer transfer, const phi_request *request) {
    static const char head[] = "content-type: text/event-stream\r\n";
    char body[2000];
    size_t n = phi_request_read(request, 0, body, sizeof body - 1);
    const char *said = script[asked++];
    (void)user_data;
    body[n] = '\0';
    printf("request %u: %s\n", (unsigned)asked,
           strstr(body, "tool_result") != NULL ? "with a result"
           : body[0] == '{'                    ? "first"
                                               : body);
    (void)phi_transfer_head(transfer, 200, head, sizeof head - 1);
    (void)phi_transfer_push(transfer, said, strlen(said));
    return phi_transfer_end(transfer, PHI_OK, NULL);
}

static void no_more(void *user_data, phi_transfer transfer) { (void)user_data, (void)transfer; }

/* ---- the talk ---- */

static phi_flow forge(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    printf("forge %.*s\n", (int)arguments.len, arguments.at);
    (void)phi_call_reply(call, "done");
    return PHI_PENDING;
}

static int refused(phi_runtime *rt) {
    const char *words;
    words = phi_last_error(rt).message;
    phi_status status = phi_last_error(rt).status;
    printf("%s: %s\n", status == PHI_UNSUPPORTED ? "unsupported" : "refused", words);
    phi_runtime_free(rt);
    return 2;
}

int main(int argc, char **argv) {
    static const phi_feature_fn features[] = {phi_feature_formats, NULL};
    phi_runtime_desc desc = PHI_ZERO;
    phi_agent_desc who = PHI_ZERO;
    phi_transport transport = PHI_ZERO;
    phi_tool tool = PHI_ZERO;
    phi_runtime *rt;
    phi_agent smith;
    phi_agent_desc again;
    phi_event ev;
    int runs;
    transport.open = answer;
    transport.resume = transport.cancel = no_more;
    desc.transport = &transport;
#ifdef ALL
    desc.codecs = PHI_ALL_PROTOCOLS;
#endif
#ifdef MADE_UP
    {
        static const phi_codec_fn mine[] = {phi__made_up_codec, NULL};
        desc.codecs = mine;
    }
#endif
    desc.features = features;
    rt = phi_runtime_new(&desc);
    if (rt == NULL || argc < 2) return 1;
    who.model = phi_model_anthropic("claude-sonnet-4-5", "key");
    who.model.protocol = argv[1];
    script = strcmp(argv[1], "made_up") == 0 ? made_up : anthropic;
    tool.name = "forge";
    tool.schema = "{\"type\":\"object\",\"properties\":{\"what\":{\"type\":\"string\"}}}";
    tool.start = forge;
    tool.strict = argc == 3;
    if (argc == 5) tool.schema = NULL;
    who.tools = &tool;
    who.tool_count = 1;
    who.retry.disable = true;
    smith = phi_agent_new(rt, &who);
    if (argc == 5) /* tools as an agent gives them out are taken again */
        if (phi_agent_get_desc(smith, &again) != PHI_OK ||
            (smith = phi_agent_new(rt, &again)).rt == NULL)
            return refused(rt);
    if (smith.rt == NULL || phi_prompt(smith, "Can you mend it?") != PHI_OK) return refused(rt);
    do {
        runs = phi_step(rt, 0);
        while (phi_next_event(rt, &ev))
            if (ev.kind == PHI_EV_TEXT || ev.kind == PHI_EV_ERROR)
                printf("%.*s\n", (int)ev.text.len, ev.text.at);
    } while (runs > 0);
    phi_runtime_free(rt);
    return 0;
}
