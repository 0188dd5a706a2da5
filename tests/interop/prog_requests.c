/* prog_requests.c - requests of every registered protocol as files, for make interop to hold against the
   providers' own types, serializers and signers (check.mjs). Says nothing of whether they are right.

       prog_requests DIRECTORY

   One JSON file a request: protocol, method, url, headers, and the body as one string. Where the protocol
   signs, it is signed with keys and a time that check.mjs knows. */
#include "support/header.h"
#include "base/base_in.h"
#include "wire/wire_in.h"
#include "wire/wire_support.h"
#include "support/codec_of.h"

#define SIGNED_MS 1795178096000 /* 2026-11-20T12:34:56Z */
#define PAIR "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define BEDROCK_US "https://bedrock-runtime.us-east-1.amazonaws.com"
#define BEDROCK_EU "https://bedrock-runtime.eu-west-1.amazonaws.com"
#define CLAUDE_ID "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
#define CLAUDE_ARN                                                                                 \
    "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-6-v1:0"

/* 1 x 1 pixel */
#define PNG                                                                                        \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg" \
    "gg=="

/* What stands in the model's own blocks. */
typedef enum dialect {
    DIALECT_PLAIN,     /* no signatures */
    DIALECT_SIGNED,    /* thinking with its signature, and hidden thinking */
    DIALECT_RESPONSES, /* reasoning items, ids and phases of items */
    DIALECT_GEMINI,    /* signatures on every kind of part */
    DIALECT_THOUGHTS   /* thinking with its signature */
} dialect;

typedef struct target {
    const char *name, *protocol, *base_url, *id, *key; /* base_url NULL: the preset's */
    dialect dialect;
} target;

#define AZURE "https://res.openai.azure.com/openai/v1"
#define VERTEX "https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1"

static const target targets[] = {
    {"anthropic-adaptive", PHI_PROTOCOL_ANTHROPIC, NULL, "claude-sonnet-4-6", "K", DIALECT_SIGNED},
    {"anthropic-budget", PHI_PROTOCOL_ANTHROPIC, NULL, "claude-haiku-4-5", "K", DIALECT_SIGNED},
    {"anthropic-later", PHI_PROTOCOL_ANTHROPIC, NULL, "claude-sonnet-5-5", "K", DIALECT_SIGNED},
    {"chat-reasoning", PHI_PROTOCOL_OPENAI_CHAT, NULL, "gpt-5", "K", DIALECT_PLAIN},
    {"chat-plain", PHI_PROTOCOL_OPENAI_CHAT, NULL, "gpt-4.1", "K", DIALECT_PLAIN},
    {"responses-reasoning", PHI_PROTOCOL_OPENAI_RESPONSES, NULL, "gpt-5.4", "K", DIALECT_RESPONSES},
    {"responses-plain", PHI_PROTOCOL_OPENAI_RESPONSES, NULL, "gpt-4.1", "K", DIALECT_RESPONSES},
    {"azure", PHI_PROTOCOL_AZURE_RESPONSES, AZURE, "gpt-5", "K", DIALECT_RESPONSES},
    {"google-3", PHI_PROTOCOL_GOOGLE, NULL, "gemini-3-pro-preview", "K", DIALECT_GEMINI},
    {"google-3-flash", PHI_PROTOCOL_GOOGLE, NULL, "gemini-3-flash-preview", "K", DIALECT_GEMINI},
    {"google-25", PHI_PROTOCOL_GOOGLE, NULL, "gemini-2.5-flash", "K", DIALECT_GEMINI},
    {"vertex-3", PHI_PROTOCOL_VERTEX, VERTEX, "gemini-3-pro-preview", "K", DIALECT_GEMINI},
    {"vertex-25", PHI_PROTOCOL_VERTEX, VERTEX, "gemini-2.5-flash", "K", DIALECT_GEMINI},
    {"interactions-3", PHI_PROTOCOL_INTERACTIONS, NULL, "gemini-3-pro-preview", "K",
     DIALECT_THOUGHTS},
    {"interactions-25", PHI_PROTOCOL_INTERACTIONS, NULL, "gemini-2.5-flash", "K", DIALECT_THOUGHTS},
    {"bedrock-id", PHI_PROTOCOL_BEDROCK, BEDROCK_US, CLAUDE_ID, PAIR, DIALECT_SIGNED},
    {"bedrock-id-token", PHI_PROTOCOL_BEDROCK, BEDROCK_US, CLAUDE_ID,
     PAIR ":IQoJb3JpZ2luX2VjEXAMPLE//token+with/marks==", DIALECT_SIGNED},
    {"bedrock-arn", PHI_PROTOCOL_BEDROCK, BEDROCK_EU, CLAUDE_ARN, PAIR, DIALECT_SIGNED},
    {"bedrock-arn-proxy", PHI_PROTOCOL_BEDROCK, "http://localhost:8080/a%20proxy/", CLAUDE_ARN,
     PAIR ":token", DIALECT_SIGNED},
    {"bedrock-arn-opaque", PHI_PROTOCOL_BEDROCK, BEDROCK_EU,
     "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2c3", PAIR,
     DIALECT_PLAIN},
    {"bedrock-bearer", PHI_PROTOCOL_BEDROCK, BEDROCK_US, "openai.gpt-oss-120b-1:0", "K",
     DIALECT_PLAIN},
    {"bedrock-nova", PHI_PROTOCOL_BEDROCK, BEDROCK_US, "amazon.nova-pro-v1:0", PAIR, DIALECT_PLAIN},
};

#define SCHEMA                                                                                     \
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"description\":"          \
    "\"where\"},"                                                                                  \
    "\"lines\":{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"minimum\":1}},\"mode\":{"     \
    "\"type\":\"string\",\"enum\":[\"text\",\"image\"]},\"kind\":{\"const\":\"file\"}},"           \
    "\"required\":[\"path\"],\"additionalProperties\":false}"

#define STRICT                                                                                     \
    "{\"type\":\"object\",\"properties\":{\"who\":{\"$ref\":\"#/$defs/person\",\"description\":"   \
    "\"to whom\"},\"copy\":{\"$ref\":\"#/$defs/person\"},\"sum\":{\"anyOf\":[{\"type\":"           \
    "\"integer\",\"minimum\":1},{\"type\":\"string\",\"pattern\":\"^[0-9]+$\"}]},\"kind\":{"       \
    "\"enum\":[\"gift\",\"debt\"]},\"tag\":{\"const\":\"t\"},\"notes\":{\"type\":\"array\","       \
    "\"items\":{\"type\":\"string\",\"maxLength\":9},\"maxItems\":3,\"uniqueItems\":true}},"       \
    "\"required\":[\"who\",\"sum\"],\"$defs\":{\"person\":{\"type\":\"object\",\"properties\":{"   \
    "\"name\":{\"type\":\"string\"},\"age\":{\"type\":\"integer\"}},\"required\":[\"name\"]}}}"

static phi__tool_view tools[] = {
    {{"read_file", 9},
     {"Reads \"a\" file.", 15},
     {SCHEMA, sizeof SCHEMA - 1},
     NULL,
     NULL,
     false,
     {NULL, 0},
     false},
    {{"list", 4}, {"", 0}, {"", 0}, NULL, NULL, false, {NULL, 0}, false},
    {{"pay", 3}, {"", 0}, {STRICT, sizeof STRICT - 1}, NULL, NULL, false, {NULL, 0}, false}};

typedef struct variant {
    const char *name;
    bool bare; /* a question and nothing else */
    phi_thinking thinking;
    phi_tool_choice choice;
    double temperature;
    phi_format_kind format;
    bool strict;
} variant;

static const variant variants[] = {
    {"whole", false, PHI_THINKING_HIGH, PHI_TOOL_CHOICE_AUTO, -1, PHI_FORMAT_TEXT, false},
    {"forced", false, PHI_THINKING_OFF, PHI_TOOL_CHOICE_REQUIRED, 0.5, PHI_FORMAT_TEXT, false},
    {"forbidden", false, PHI_THINKING_MINIMAL, PHI_TOOL_CHOICE_NONE, -1, PHI_FORMAT_TEXT, false},
    {"bare", true, PHI_THINKING_MEDIUM, PHI_TOOL_CHOICE_AUTO, 0.25, PHI_FORMAT_TEXT, false},
    {"schema", false, PHI_THINKING_LOW, PHI_TOOL_CHOICE_AUTO, -1, PHI_FORMAT_JSON_SCHEMA, false},
    {"strict", true, PHI_THINKING_OFF, PHI_TOOL_CHOICE_AUTO, -1, PHI_FORMAT_JSON_SCHEMA, true},
    {"object", false, PHI_THINKING_OFF, PHI_TOOL_CHOICE_AUTO, -1, PHI_FORMAT_JSON_OBJECT, false},
};

/* ---- the conversation ---- */

static phi_model model_of(const target *t) {
    if (strcmp(t->protocol, PHI_PROTOCOL_ANTHROPIC) == 0) return phi_model_anthropic(t->id, t->key);
    if (strcmp(t->protocol, PHI_PROTOCOL_OPENAI_CHAT) == 0) return phi_model_openai(t->id, t->key);
    if (strcmp(t->protocol, PHI_PROTOCOL_OPENAI_RESPONSES) == 0)
        return phi_model_openai_responses(t->id, t->key);
    if (strcmp(t->protocol, PHI_PROTOCOL_AZURE_RESPONSES) == 0)
        return phi_model_azure(t->base_url, t->id, t->key);
    if (strcmp(t->protocol, PHI_PROTOCOL_GOOGLE) == 0) return phi_model_google(t->id, t->key);
    if (strcmp(t->protocol, PHI_PROTOCOL_VERTEX) == 0)
        return phi_model_vertex(t->base_url, t->id, t->key);
    if (strcmp(t->protocol, PHI_PROTOCOL_INTERACTIONS) == 0)
        return phi_model_interactions(t->id, t->key);
    return phi_model_bedrock(t->base_url, t->id, t->key);
}

static phi_content *last_block(conversation *t) {
    return &t->blocks[t->count - 1][t->messages[t->count - 1].content_count - 1];
}

static void think(conversation *t, dialect d) {
    static const char item[] =
        "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[{\"type\":\"summary_text\",\"text\":"
        "\"Both.\"}],\"encrypted_content\":\"Z0FBQUFB\"}";
    if (d == DIALECT_PLAIN) return;
    talk_thinking(t, "Both at once.", d == DIALECT_RESPONSES ? item : "c2lnbmF0dXJl");
    if (d != DIALECT_SIGNED) return;
    talk_thinking(t, "", "aGlkZGVu");
    last_block(t)->redacted = true;
}

static void say(conversation *t, dialect d, const char *text) {
    talk_text(t, text);
    if (d == DIALECT_RESPONSES)
        last_block(t)->replay = PHI__LIT("{\"id\":\"msg_1\",\"phase\":\"commentary\"}");
    if (d == DIALECT_GEMINI) last_block(t)->signature = PHI__LIT("dGV4dA==");
}

static void call(conversation *t, dialect d, const char *id, const char *arguments) {
    talk_call(t, id, "read_file", arguments);
    if (d == DIALECT_RESPONSES) last_block(t)->replay = PHI__LIT("{\"id\":\"fc_1\"}");
    if (d == DIALECT_GEMINI) last_block(t)->signature = PHI__LIT("Y2FsbA==");
}

static void talk_whole(conversation *t, dialect d) {
    talk_user(t, "What is in these two? \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80 \"quoted\"\n");
    talk_image(t, PNG);
    talk_assistant(t)->stop_reason = PHI_STOP_REASON_TOOL_USE;
    think(t, d);
    say(t, d, "I look.");
    call(t, d, "toolu_01", "{\"path\":\"a.png\",\"lines\":[1,2]}");
    call(t, d, "toolu_02", "{\"path\":\"b.txt\"}");
    talk_result(t, "toolu_01", "read_file", "an image");
    talk_image(t, PNG);
    talk_result(t, "toolu_02", "read_file", "there is no b.txt")->is_error = true;
    talk_assistant(t);
    say(t, d, "A dot; and b.txt is missing.");
    talk_user(t, "Try again.");
    talk_assistant(t)->stop_reason = PHI_STOP_REASON_TOOL_USE;
    call(t, d, "toolu_03", "{}");
    talk_result(t, "toolu_03", "read_file", NULL); /* nothing at all */
    talk_assistant(t)->stop_reason = PHI_STOP_REASON_ABORTED;
    call(t, d, "toolu_04", "{\"path\":\"b.txt\"}"); /* never answered */
    talk_user(t, "Stop.");
}

/* ---- the files ---- */

static void put_member(phi__buf *out, const char *key, phi_str value) {
    phi__json_write_key(out, phi_str_of(key));
    phi__json_write_str(out, value);
}

static void sign(conversation *t) {
    phi__signing signing;
    if (t->encoder.codec->sign == NULL) return;
    signing.wall_ms = SIGNED_MS;
    phi__sha256_of(phi_str_of(t->body), signing.body_sha256);
    t->encoder.codec->sign(&t->encoder, &signing);
}

static bool save(conversation *t, const char *directory, const target *to, const variant *how) {
    const phi_request *request = &t->encoder.request;
    char path[1024];
    phi__buf out;
    phi_str name, value;
    FILE *file;
    size_t i;
    bool good;
    phi__buf_init(&out, &t->memory);
    phi__buf_char(&out, '{');
    put_member(&out, "protocol", phi_str_of(to->protocol));
    put_member(&out, "model", phi_str_of(to->id));
    put_member(&out, "key", phi_str_of(to->key));
    put_member(&out, "method", phi_request_get_info(request).method);
    put_member(&out, "url", phi_request_get_info(request).url);
    phi__json_write_key(&out, PHI__LIT("headers"));
    phi__buf_char(&out, '{');
    for (i = 0; header_at(request, i, &name, &value); i++) put_member(&out, name.at, value);
    phi__buf_char(&out, '}');
    put_member(&out, "body", phi_str_of(t->body));
    phi__buf_text(&out, "}\n");
    (void)snprintf(path, sizeof path, "%s/%s.%s.json", directory, to->name, how->name);
    file = out.failed ? NULL : fopen(path, "wb");
    good = file != NULL && fwrite(out.at, 1, out.len, file) == out.len;
    if (file != NULL && fclose(file) != 0) good = false;
    phi__buf_free(&out);
    return good;
}

static bool encode(const char *directory, const target *to, const variant *how) {
    static conversation t;
    char words[400];
    bool good;
    talk_begin(&t, model_of(to));
    if (how->bare)
        talk_user(&t, "Hello?");
    else {
        talk_whole(&t, to->dialect);
        t.spec.system_prompt = PHI__LIT("You are brief.\nAnd \"exact\".");
        t.spec.tools = tools;
        t.spec.tool_count = PHI__COUNT(tools);
        t.spec.tool_choice = how->choice;
        t.spec.session_id = PHI__LIT("session-1");
    }
    t.spec.thinking = how->thinking;
    t.spec.temperature = how->temperature;
    t.spec.format.kind = how->format;
    t.spec.format.schema = STRICT;
    t.spec.format.strict = how->strict;
    if (phi__format_apply(codec_of(to->protocol), &t.spec, &t.kept, words, sizeof words) ==
        PHI_BAD_ARG) { /* a model of Bedrock's that has no way */
        talk_free(&t);
        return true;
    }
    good = talk_render(&t, 0) == PHI_OK;
    if (good) sign(&t);
    good = good && save(&t, directory, to, how);
    if (!good) fprintf(stderr, "prog_requests: %s.%s: no request\n", to->name, how->name);
    talk_free(&t);
    return good;
}

int main(int argc, char **argv) {
    size_t i, j;
    int code = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: prog_requests DIRECTORY\n");
        return 2;
    }
    tools[2].strict = phi__format_ops();
    for (i = 0; i < PHI__COUNT(targets); i++) {
        if (codec_of(targets[i].protocol) == NULL) {
            printf("skipped  %s: %s is not registered\n", targets[i].name, targets[i].protocol);
            continue;
        }
        for (j = 0; j < PHI__COUNT(variants); j++)
            if (!encode(argv[1], &targets[i], &variants[j])) code = 1;
    }
    return code;
}
