/* server.c - our server as the conformance suite of the protocol wants it: tools, resources and
   prompts under the names and with the contents that its scenarios look for.

       server stdio     over stdin and stdout
       server http      on a port of 127.0.0.1: says "listening 127.0.0.1 PORT"; ends with stdin

   Written with the public headers alone. */
#include "../../mcp/answers.h"
#include "mcp/mcp_serve.h"
#include "agent/agent.h"
#include "text/json_in.h"
#include "loop/loop_in.h"
#include "mcp/mcp_serve_state_in.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PNG                                                                                        \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg" \
    "gg=="
#define WAV "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="
#define FORM(message, properties, required)                                                        \
    "{\"message\":\"" message                                                                      \
    "\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{" properties                      \
    "},\"required\":[" required "]}}"
#define STRING_FORM(message, name)                                                                 \
    FORM(message, "\"" name "\":{\"type\":\"string\"}", "\"" name "\"")
#define SAMPLE(text, most)                                                                         \
    "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"" text            \
    "\"}}],\"maxTokens\":" most "}"

static phi_mcp_server *server;

static void finish(phi_call call, const char *text, bool is_error) {
    (void)(is_error ? phi_call_fail(call, text) : phi_call_reply(call, text));
}

/* ---- answers at once ---- */

static void give(phi_call call, const phi_content *blocks, size_t count) {
    phi_tool_result result;
    memset(&result, 0, sizeof result);
    result.content = blocks;
    result.content_count = count;
    (void)phi_call_result(call, &result);
}

static phi_content text_block(const char *text) {
    phi_content block;
    memset(&block, 0, sizeof block);
    block.kind = PHI_CONTENT_TEXT;
    block.text = phi_str_of(text);
    return block;
}

static phi_content png_block(void) {
    phi_content block;
    memset(&block, 0, sizeof block);
    block.kind = PHI_CONTENT_IMAGE;
    block.data = phi_str_of(PNG);
    block.mime_type = phi_str_of("image/png");
    return block;
}

static phi_flow plain(void *user_data, phi_call call, phi_str arguments) {
    (void)arguments;
    finish(call, (const char *)user_data, false);
    return PHI_PENDING;
}

static phi_flow failing(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)arguments;
    finish(call, "This tool intentionally returns an error for testing", true);
    return PHI_PENDING;
}

static phi_flow image(void *user_data, phi_call call, phi_str arguments) {
    phi_content block = png_block();
    (void)user_data;
    (void)arguments;
    give(call, &block, 1);
    return PHI_DONE;
}

/* user_data: blocks of the protocol. */
static phi_flow raw(void *user_data, phi_call call, phi_str arguments) {
    (void)arguments;
    (void)answer_blocks(phi_mcp_incoming_of(call), (const char *)user_data);
    finish(call, "", false);
    return PHI_PENDING;
}

static phi_flow mixed(void *user_data, phi_call call, phi_str arguments) {
    phi_content blocks[2];
    (void)arguments;
    blocks[0] = text_block("Multiple content types test:");
    blocks[1] = png_block();
    (void)answer_blocks(phi_mcp_incoming_of(call), (const char *)user_data);
    give(call, blocks, 2);
    return PHI_DONE;
}

/* ---- three things, 50 ms apart ---- */

typedef struct slow {
    struct timespec began;
    int done;
} slow;

static long since(const struct timespec *began) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - began->tv_sec) * 1000 + (now.tv_nsec - began->tv_nsec) / 1000000;
}

static phi_flow slow_start(void *user_data, phi_call call, phi_str arguments) {
    slow *s = (slow *)phi_call_state(call, sizeof *s);
    (void)user_data;
    (void)arguments;
    if (s != NULL) (void)clock_gettime(CLOCK_MONOTONIC, &s->began);
    return PHI_PENDING;
}

static phi_flow slow_step(void *user_data, phi_call call) {
    static const char *const logs[] = {"Tool execution started", "Tool processing data",
                                       "Tool execution completed"};
    slow *s = (slow *)phi_call_state(call, sizeof *s);
    phi_mcp_incoming incoming = phi_mcp_incoming_of(call);
    if (s == NULL) return PHI_DONE;
    while (s->done < 3 && since(&s->began) >= 50 * s->done) {
        if (user_data != NULL)
            (void)phi_mcp_server_log(incoming.server, &incoming, "info", "fixture", logs[s->done]);
        else
            (void)phi_mcp_progress(incoming, 50.0 * s->done, 100, NULL);
        s->done++;
    }
    if (s->done < 3) return PHI_PENDING;
    finish(call, "Done", false);
    return PHI_PENDING;
}

/* ---- questions ---- */

typedef struct question {
    const char *method, *key, *params;
} question;

typedef struct asking {
    question questions[3]; /* asked at once, or one after another */
    bool rounds;
    const char *format; /* of the text: what was found */
    const char *found;  /* the path of that in the answer to the last question */
} asking;

typedef struct asked {
    const asking *of;
    phi_call call;
    phi_mcp_incoming incoming;
    int next, open;
    bool refused;
    char last[2000];
} asked;

static void ask_next(asked *a);

static void on_answer(void *user_data, phi_status status, const phi_json *result, phi_str message) {
    asked *a = (asked *)user_data;
    char text[2200];
    (void)message;
    a->open--;
    if (status != PHI_OK) a->refused = true;
    if (status == PHI_OK) {
        const phi_json *found =
            a->of->found[0] != '\0' ? phi_json_path(result, a->of->found) : result;
        phi_memory memory;
        phi_arena arena;
        phi_str json = {"", 0};
        phi_memory_init(&memory, NULL, 0);
        phi_arena_init(&arena, &memory, 0);
        if (phi_json_is(found, PHI_JSON_STRING))
            json = phi_json_str(found, NULL);
        else if (found != NULL)
            (void)phi_json_write(&arena, found, 0, &json);
        (void)snprintf(a->last, sizeof a->last, "%.*s", (int)json.len, json.len > 0 ? json.at : "");
        phi_arena_free(&arena);
    }
    if (!a->refused) ask_next(a);
    if (a->open > 0) return;
    (void)snprintf(text, sizeof text, a->of->format, a->last);
    finish(a->call, a->refused ? "The client gave no answer" : text, a->refused);
}

static void ask_next(asked *a) {
    while (a->next < 3 && a->of->questions[a->next].method != NULL) {
        const question *q = &a->of->questions[a->next];
        phi_mcp_ask_desc desc;
        memset(&desc, 0, sizeof desc);
        desc.method = q->method;
        desc.key = q->key;
        desc.params = q->params;
        desc.done_fn = on_answer;
        desc.user_data = a;
        a->next++;
        if (phi_mcp_ask(a->incoming, &desc) == PHI_OK) a->open++;
        if (a->of->rounds) return;
    }
}

static phi_flow ask_start(void *user_data, phi_call call, phi_str arguments) {
    asked *a = (asked *)phi_call_state(call, sizeof *a);
    (void)arguments;
    if (a == NULL) return PHI_DONE;
    a->of = (const asking *)user_data;
    a->call = call;
    a->incoming = phi_mcp_incoming_of(call);
    ask_next(a);
    if (a->open == 0) finish(call, "The client cannot be asked", true);
    return PHI_PENDING;
}

/* Asks with the text of an argument: user_data is "prompt" or "message". */
static phi_flow ask_argument(void *user_data, phi_call call, phi_str arguments) {
    static const asking sampling = {{{NULL, NULL, NULL}}, true, "LLM response: %s", "content.text"};
    static const asking eliciting = {{{NULL, NULL, NULL}}, true, "User response: %s", ""};
    bool sample = strcmp((const char *)user_data, "prompt") == 0;
    asked *a = (asked *)phi_call_state(call, sizeof *a);
    phi__json_found found;
    phi_mcp_ask_desc desc;
    char params[3000];
    if (a == NULL || phi__json_cursor_find(arguments, (const char *)user_data, &found) != PHI_OK)
        return PHI_DONE;
    a->of = sample ? &sampling : &eliciting;
    a->call = call;
    a->incoming = phi_mcp_incoming_of(call);
    memset(&desc, 0, sizeof desc);
    (void)snprintf(
        params, sizeof params,
        sample ? SAMPLE("%.*s", "100")
               : FORM("%.*s",
                      "\"username\":{\"type\":\"string\",\"description\":\"User's response\"},"
                      "\"email\":{\"type\":\"string\",\"description\":\"User's email address\"}",
                      "\"username\",\"email\""),
        (int)(found.raw.len < 1000 ? found.raw.len : 1000), found.raw.at);
    desc.method = sample ? "sampling/createMessage" : "elicitation/create";
    desc.params = params;
    desc.done_fn = on_answer;
    desc.user_data = a;
    if (phi_mcp_ask(a->incoming, &desc) == PHI_OK)
        a->open++;
    else
        finish(call, "The client cannot be asked", true);
    return PHI_PENDING;
}

#define ELICIT "elicitation/create"
static const asking defaults = {
    {{ELICIT, NULL,
      FORM("Please review the values",
           "\"name\":{\"type\":\"string\",\"description\":\"User name\",\"default\":\"John Doe\"},"
           "\"age\":{\"type\":\"integer\",\"description\":\"User age\",\"default\":30},"
           "\"score\":{\"type\":\"number\",\"description\":\"User score\",\"default\":95.5},"
           "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],"
           "\"default\":\"active\"},"
           "\"verified\":{\"type\":\"boolean\",\"description\":\"Verified\",\"default\":true}",
           "")}},
    false,
    "Elicitation completed: %s",
    ""};
static const asking enums = {
    {{ELICIT, NULL,
      FORM(
          "Please choose",
          "\"untitledSingle\":{\"type\":\"string\",\"enum\":[\"option1\",\"option2\",\"option3\"]},"
          "\"titledSingle\":{\"type\":\"string\",\"oneOf\":[{\"const\":\"value1\",\"title\":"
          "\"First Option\"},{\"const\":\"value2\",\"title\":\"Second Option\"},{\"const\":"
          "\"value3\",\"title\":\"Third Option\"}]},"
          "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],"
          "\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},"
          "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":"
          "[\"option1\",\"option2\",\"option3\"]}},"
          "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":[{\"const\":\"value1\","
          "\"title\":\"First Choice\"},{\"const\":\"value2\",\"title\":\"Second Choice\"},"
          "{\"const\":\"value3\",\"title\":\"Third Choice\"}]}}",
          "")}},
    false,
    "Elicitation completed: %s",
    ""};
#define NAME_FORM STRING_FORM("What is your name?", "name")
#define OK_FORM FORM("Please confirm", "\"ok\":{\"type\":\"boolean\"}", "\"ok\"")
static const asking who = {{{ELICIT, "user_name", NAME_FORM}}, false, "Hello, %s!", "content.name"};
static const asking capital = {{{"sampling/createMessage", "capital_question",
                                 SAMPLE("What is the capital of France?", "100")}},
                               false,
                               "%s",
                               "content.text"};
static const asking roots = {{{"roots/list", "client_roots", "{}"}}, false, "Roots: %s", "roots"};
static const asking confirm = {{{ELICIT, "confirm", OK_FORM}}, false, "state-ok %s", "content"};
static const asking several = {
    {{ELICIT, "user_name", NAME_FORM},
     {"sampling/createMessage", "greeting", SAMPLE("Generate a greeting", "50")},
     {"roots/list", "client_roots", "{}"}},
    false,
    "All: %s",
    ""};
static const asking rounds = {
    {{ELICIT, "step1", STRING_FORM("Step 1: What is your name?", "name")},
     {ELICIT, "step2", STRING_FORM("Step 2: What is your favorite color?", "color")}},
    true,
    "Done: %s",
    "content"};

static const asking two_names = {
    {{ELICIT, NULL, NAME_FORM}, {ELICIT, NULL, NAME_FORM}}, false, "Both: %s", "content"};

/* ---- tasks ---- */

static phi_flow greet(void *user_data, phi_call call, phi_str arguments) {
    phi__json_found name;
    char text[200];
    (void)user_data;
    if (phi__json_cursor_find(arguments, "name", &name) != PHI_OK) return PHI_DONE;
    (void)snprintf(text, sizeof text, "Hello, %.*s!",
                   (int)(name.raw.len < 100 ? name.raw.len : 100), name.raw.at);
    finish(call, text, false);
    return PHI_PENDING;
}

typedef struct job {
    struct timespec began;
    double seconds;
} job;

static phi_flow job_start(void *user_data, phi_call call, phi_str arguments) {
    job *j = (job *)phi_call_state(call, sizeof *j);
    phi__json_found seconds;
    (void)user_data;
    if (j == NULL) return PHI_DONE;
    j->seconds = 1;
    (void)clock_gettime(CLOCK_MONOTONIC, &j->began);
    if (phi__json_cursor_find(arguments, "seconds", &seconds) == PHI_OK)
        (void)phi__json_cursor_found_num(&seconds, &j->seconds);
    return PHI_PENDING;
}

/* user_data: NULL, or its failure. */
static phi_flow job_step(void *user_data, phi_call call) {
    job *j = (job *)phi_call_state(call, sizeof *j);
    if (j == NULL) return PHI_DONE;
    if ((double)since(&j->began) < j->seconds * 1000) return PHI_PENDING;
    finish(call, user_data != NULL ? (const char *)user_data : "computed", user_data != NULL);
    return PHI_PENDING;
}

/* A call that never has a result: its agent is freed. */
static phi_agent lost;

static phi_verdict on_hook(void *user_data, phi_hook *hook) {
    (void)user_data;
    if (phi_str_equal(hook->tool_name, phi_str_of("protocol_error_job"))) lost = hook->agent;
    return PHI_ALLOW;
}

static phi_flow never(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)call;
    (void)arguments;
    return PHI_PENDING;
}

/* Asks for a name, and is a task from then on. */
static void on_task_name(void *user_data, phi_status status, const phi_json *result,
                         phi_str message) {
    asked *a = (asked *)user_data;
    phi_str name = phi_json_str(phi_json_path(result, "content.name"), "nobody");
    char text[200];
    (void)message;
    (void)phi_mcp_task(a->incoming);
    (void)snprintf(text, sizeof text, "Task of %.*s", (int)(name.len < 100 ? name.len : 100),
                   name.at);
    finish(a->call, text, status != PHI_OK);
}

static phi_flow ask_then_task(void *user_data, phi_call call, phi_str arguments) {
    asked *a = (asked *)phi_call_state(call, sizeof *a);
    phi_mcp_ask_desc desc;
    (void)user_data;
    (void)arguments;
    if (a == NULL) return PHI_DONE;
    a->call = call;
    a->incoming = phi_mcp_incoming_of(call);
    memset(&desc, 0, sizeof desc);
    desc.method = ELICIT;
    desc.key = "user_name";
    desc.params = STRING_FORM("What is your name?", "user_name");
    desc.done_fn = on_task_name;
    desc.user_data = a;
    if (phi_mcp_ask(a->incoming, &desc) != PHI_OK) finish(call, "nobody can be asked", true);
    return PHI_PENDING;
}

/* ---- lists that change ---- */

static phi_tool tools[40];
static phi_mcp_serve_tool infos[40];
static size_t tool_count;
static phi_mcp_serve_prompt prompts[8];
static size_t prompt_count;

static phi_flow change(void *user_data, phi_call call, phi_str arguments) {
    (void)arguments;
    if (user_data != NULL)
        (void)serve_prompts(server, prompts, prompt_count);
    else
        (void)serve_tools(server, tools, infos, tool_count);
    finish(call, "Changed", false);
    return PHI_PENDING;
}

/* ---- the tools ---- */

static phi_tool *add(const char *name, const char *description,
                     phi_flow (*start)(void *, phi_call, phi_str), const void *user_data) {
    phi_tool *tool = &tools[tool_count++];
    tool->name = name;
    tool->description = description;
    tool->start = start;
    tool->user_data = (void *)(uintptr_t)user_data;
    tool->schema = "{\"type\":\"object\",\"properties\":{}}";
    return tool;
}

static const char focal[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\",\"$defs\":{"
    "\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\",\"properties\":{\"street\":{"
    "\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},\"properties\":{\"name\":{\"type\":"
    "\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},\"contactMethod\":{\"type\":\"string\","
    "\"enum\":[\"phone\",\"email\"]},\"phone\":{\"type\":\"string\"},\"email\":{\"type\":\"string\""
    "}},\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],\"if\":{"
    "\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},\"required\":[\"contactMethod\"]},"
    "\"then\":{\"required\":[\"phone\"]},\"else\":{\"required\":[\"email\"]},"
    "\"additionalProperties\":false}";

static void make_plain_tools(void) {
    phi_tool *tool;
    (void)add("test_simple_text", "A text", plain, "This is a simple text response for testing.");
    (void)add("test_image_content", "An image", image, NULL);
    (void)add("test_audio_content", "A sound", raw,
              "[{\"type\":\"audio\",\"data\":\"" WAV "\",\"mimeType\":\"audio/wav\"}]");
    (void)add("test_embedded_resource", "A resource", raw,
              "[{\"type\":\"resource\",\"resource\":{\"uri\":\"test://embedded-resource\","
              "\"mimeType\":\"text/plain\",\"text\":\"This is an embedded resource content.\"}}]");
    (void)add("test_multiple_content_types", "Several kinds", mixed,
              "[{\"type\":\"resource\",\"resource\":{\"uri\":\"test://mixed-content-resource\","
              "\"mimeType\":\"application/json\",\"text\":\"{\\\"test\\\":\\\"data\\\","
              "\\\"value\\\":123}\"}}]");
    (void)add("test_error_handling", "Fails", failing, NULL);
    tool = add("test_tool_with_logging", "Logs", slow_start, "log");
    tool->step = slow_step;
    tool = add("test_logging_tool", "Logs", slow_start, "log");
    tool->step = slow_step;
    tool = add("test_tool_with_progress", "Has progress", slow_start, NULL);
    tool->step = slow_step;
    tool = add("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features", plain, "ok");
    tool->schema = focal;
    tool->checks_arguments = true;
    tool = add("test_header_param", "Has a parameter that is a header, too", plain, "ok");
    tool->schema = "{\"type\":\"object\",\"properties\":{\"region\":{\"type\":\"string\","
                   "\"x-mcp-header\":\"Region\"}}}";
    (void)add("test_trigger_tool_change", "Changes the tools", change, NULL);
    (void)add("test_trigger_prompt_change", "Changes the prompts", change, "prompts");
}

static void make_asking_tools(void) {
    phi_tool *tool = add("test_sampling", "Asks a model", ask_argument, "prompt");
    tool->schema = "{\"type\":\"object\",\"properties\":{\"prompt\":{\"type\":\"string\"}},"
                   "\"required\":[\"prompt\"]}";
    tool = add("test_elicitation", "Asks a person", ask_argument, "message");
    tool->schema = "{\"type\":\"object\",\"properties\":{\"message\":{\"type\":\"string\"}},"
                   "\"required\":[\"message\"]}";
    (void)add("test_elicitation_sep1034_defaults", "Asks with defaults", ask_start, &defaults);
    (void)add("test_elicitation_sep1330_enums", "Asks to choose", ask_start, &enums);
    (void)add("test_streaming_elicitation", "Asks", ask_start, &who);
    (void)add("test_input_required_result_elicitation", "Asks", ask_start, &who);
    (void)add("test_input_required_result_sampling", "Asks", ask_start, &capital);
    (void)add("test_input_required_result_list_roots", "Asks", ask_start, &roots);
    (void)add("test_input_required_result_request_state", "Asks", ask_start, &confirm);
    (void)add("test_input_required_result_tampered_state", "Asks", ask_start, &confirm);
    (void)add("test_input_required_result_multiple_inputs", "Asks", ask_start, &several);
    (void)add("test_input_required_result_capabilities", "Asks", ask_start, &several);
    (void)add("test_input_required_result_multi_round", "Asks twice", ask_start, &rounds);
    infos[tool_count].needs = (uint32_t)PHI_MCP_CAN_SAMPLE;
    (void)add("test_missing_capability", "Needs sampling", plain, "ok");
}

static phi_tool *add_task(const char *name, phi_flow (*start)(void *, phi_call, phi_str),
                          const void *user_data) {
    infos[tool_count].task = true;
    return add(name, "A task", start, user_data);
}

static void make_task_tools(void) {
    phi_tool *tool = add("greet", "Greets", greet, NULL);
    tool->schema = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}}}";
    tool = add_task("slow_compute", job_start, NULL);
    tool->schema = "{\"type\":\"object\",\"properties\":{\"seconds\":{\"type\":\"number\"},"
                   "\"label\":{\"type\":\"string\"}}}";
    tool->step = job_step;
    infos[tool_count].needs = (uint32_t)PHI_MCP_CAN_TASKS;
    tool = add_task("failing_job", job_start, "The job has failed");
    tool->step = job_step;
    (void)add_task("protocol_error_job", never, NULL);
    tool = add_task("confirm_delete", ask_start, &confirm);
    tool->schema = "{\"type\":\"object\",\"properties\":{\"filename\":{\"type\":\"string\"}}}";
    (void)add_task("multi_input", ask_start, &two_names);
    infos[tool_count].needs = (uint32_t)PHI_MCP_CAN_TASKS;
    (void)add("test_tool_with_task", "Asks, and is a task then", ask_then_task, NULL);
}

/* ---- resources ---- */

static void read_data(void *user_data, phi_mcp_incoming incoming, const char *uri, phi_str values) {
    phi__json_found id;
    char text[400];
    (void)user_data;
    (void)uri;
    if (phi__json_cursor_find(values, "id", &id) != PHI_OK) {
        (void)answer_error(incoming, "no id");
        return;
    }
    (void)snprintf(text, sizeof text,
                   "{\"id\":\"%.*s\",\"templateTest\":true,\"data\":\"Data for ID: %.*s\"}",
                   (int)(id.raw.len < 100 ? id.raw.len : 100), id.raw.at,
                   (int)(id.raw.len < 100 ? id.raw.len : 100), id.raw.at);
    (void)answer_text(incoming, phi_str_of(text));
}

static phi_mcp_serve_resource resources[3];
static phi_mcp_serve_template templates[1];

static void make_resources(void) {
    resources[0].uri = "test://static-text";
    resources[0].name = "Static text";
    resources[0].description = "A text that never changes";
    resources[0].mime_type = "text/plain";
    resources[0].text = "This is the content of the static text resource.";
    resources[1].uri = "test://static-binary";
    resources[1].name = "Static bytes";
    resources[1].description = "An image that never changes";
    resources[1].mime_type = "image/png";
    resources[1].bytes = "\x89PNG\r\n\x1a\n";
    resources[1].byte_count = 8;
    resources[2].uri = "test://watched-resource";
    resources[2].name = "Watched";
    resources[2].description = "A resource to subscribe to";
    resources[2].mime_type = "text/plain";
    resources[2].text = "Watched";
    templates[0].uri = "test://template/{id}/data";
    templates[0].name = "Data";
    templates[0].description = "Data by its id";
    templates[0].mime_type = "application/json";
    templates[0].read = read_data;
}

/* ---- prompts ---- */

static void embedded_prompt(void *user_data, phi_mcp_incoming incoming, phi_str arguments) {
    phi__json_found uri;
    char text[1500];
    (void)user_data;
    if (phi__json_cursor_find(arguments, "resourceUri", &uri) != PHI_OK || uri.raw.len > 500) {
        (void)answer_error(incoming, "resourceUri: expected a string");
        return;
    }
    (void)snprintf(text, sizeof text,
                   "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"resource\","
                   "\"resource\":{\"uri\":\"%.*s\",\"mimeType\":\"text/plain\",\"text\":"
                   "\"Embedded resource content for testing.\"}}},{\"role\":\"user\",\"content\":{"
                   "\"type\":\"text\",\"text\":\"Please process the embedded resource above.\"}}]}",
                   (int)uri.raw.len, uri.raw.at);
    (void)answer_json(incoming, text);
}

static void image_prompt(void *user_data, phi_mcp_incoming incoming, phi_str arguments) {
    phi_content blocks[2];
    phi_message message;
    (void)user_data;
    (void)arguments;
    blocks[0] = png_block();
    blocks[1] = text_block("Please analyze the image above.");
    memset(&message, 0, sizeof message);
    message.role = PHI_ROLE_USER;
    message.content = blocks;
    message.content_count = 2;
    (void)answer_messages(incoming, &message, 1);
}

static phi_mcp_incoming prompted; /* the request that waits; one at a time is enough here */

static void on_context(void *user_data, phi_status status, const phi_json *result,
                       phi_str message) {
    phi_str text = phi_json_str(phi_json_path(result, "content.context"), "none");
    (void)user_data;
    (void)message;
    if (status == PHI_OK)
        (void)answer_text(prompted, text);
    else
        (void)answer_error(prompted, "no answer");
}

static void asking_prompt(void *user_data, phi_mcp_incoming incoming, phi_str arguments) {
    phi_mcp_ask_desc desc;
    (void)user_data;
    (void)arguments;
    prompted = incoming;
    memset(&desc, 0, sizeof desc);
    desc.method = ELICIT;
    desc.key = "user_context";
    desc.params = STRING_FORM("What context should the prompt use?", "context");
    desc.done_fn = on_context;
    if (phi_mcp_ask(incoming, &desc) != PHI_OK)
        (void)answer_error(incoming, "the client cannot be asked");
}

static void complete(void *user_data, phi_mcp_incoming incoming,
                     const phi_mcp_serve_completion *what) {
    static const char *const all[] = {"paris", "park", "party"};
    const char *found[3];
    size_t i, n = 0;
    (void)user_data;
    for (i = 0; i < 3; i++)
        if (strncmp(all[i], what->value, strlen(what->value)) == 0) found[n++] = all[i];
    (void)answer_values(incoming, found, n, n);
}

static void make_prompts(void) {
    static const phi_mcp_serve_argument two[] = {{"arg1", NULL, "First", true},
                                                 {"arg2", NULL, "Second", true}};
    static const phi_mcp_serve_argument one[] = {{"resourceUri", NULL, "A uri", true}};
    static const char *const names[] = {
        "test_simple_prompt", "test_prompt_with_arguments", "test_prompt_with_embedded_resource",
        "test_prompt_with_image", "test_input_required_result_prompt"};
    for (prompt_count = 0; prompt_count < 5; prompt_count++) {
        prompts[prompt_count].name = names[prompt_count];
        prompts[prompt_count].description = "A prompt for tests";
    }
    prompts[0].text = "This is a simple prompt for testing.";
    prompts[1].text = "Prompt with arguments: arg1='{arg1}', arg2='{arg2}'";
    prompts[1].arguments = two;
    prompts[1].argument_count = 2;
    prompts[2].get = embedded_prompt;
    prompts[2].arguments = one;
    prompts[2].argument_count = 1;
    prompts[3].get = image_prompt;
    prompts[4].get = asking_prompt;
}

/* ---- main ---- */

static bool stdin_ended(void) {
    char bytes[64];
    return read(0, bytes, sizeof bytes) == 0;
}

int main(int argc, char **argv) {
    bool http = argc > 1 && strcmp(argv[1], "http") == 0;
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_mcp_server_desc desc;
    const char *why = "";
    make_plain_tools();
    make_asking_tools();
    make_task_tools();
    make_resources();
    make_prompts();
    memset(&desc, 0, sizeof desc);
    desc.name = "phi-fixture";
    desc.version = "1.0.0";
    desc.instructions = "A server for tests.";
    desc.tools = tools;
    desc.tool_infos = infos;
    desc.tool_count = tool_count;
    desc.resources = resources;
    desc.resource_count = 3;
    desc.templates = templates;
    desc.template_count = 1;
    desc.prompts = prompts;
    desc.prompt_count = prompt_count;
    desc.complete_fn = complete;
    desc.hook_fn = on_hook;
    desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    desc.tasks = true;
    desc.stdio = !http;
    desc.http = http;
    desc.max_sessions = 64;
    server = rt != NULL ? phi_mcp_serve(rt, &desc) : NULL;
    if (server == NULL) {
        if (rt != NULL) why = phi_last_error(rt).message;
        (void)fprintf(stderr, "server: %s\n", why);
        phi_runtime_free(rt);
        return 1;
    }
    if (http) {
        (void)printf("listening 127.0.0.1 %u\n", (unsigned)phi_mcp_server_get_info(server).port);
        (void)fflush(stdout);
        (void)fcntl(0, F_SETFL, O_NONBLOCK);
    }
    while (http ? !stdin_ended() : !phi_mcp_server_get_info(server).ended) {
        (void)phi_step(rt, 20);
        phi_agent_free(lost); /* stale is harmless */
    }
    phi_mcp_server_free(server);
    phi_runtime_free(rt);
    return 0;
}
