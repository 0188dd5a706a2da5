/* fuzz_openapi.c - a document out of any bytes, JSON or YAML: never a crash, never unbounded work;
   of each operation a tool that phi_agent_new and three providers take, or a skip with a message
   in UTF-8; names unique and within the rules. The first byte chooses the settings. */
#include "openapi/opened.h"
#include "support/preflight.h"
#include "base/base_in.h"
#include "openapi/openapi.h"
#include "text/text_in.h"
#include "codecs/presets.h"
#include "loop/loop_in.h"
#include "openapi/api_in.h"

#include <stdio.h>
#include <stdlib.h>

static void must(bool held, const char *what, const char *words) {
    if (held) return;
    fprintf(stderr, "%s: %s\n", what, words);
    abort();
}

static bool good_text(const char *text) {
    phi_str s = phi_str_of(text);
    return phi__utf8_valid(s) == s.len;
}

static void check_tool(const phi_tool *tool) {
    phi_model models[3];
    phi_message message;
    phi_content hello;
    phi_memory memory;
    phi_arena arena;
    phi_json *schema = NULL;
    phi_schema_error error;
    char words[400];
    size_t i;
    memset(&hello, 0, sizeof hello);
    memset(&message, 0, sizeof message);
    hello.kind = PHI_CONTENT_TEXT;
    hello.text = phi_str_of("Hello");
    message.role = PHI_ROLE_USER;
    message.content = &hello;
    message.content_count = 1;
    models[0] = phi_model_anthropic("claude-sonnet-4-5", "k");
    models[1] = phi_model_openai("gpt-5", "k");
    models[2] = phi_model_google("gemini-3-pro", "k");
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    must(good_text(tool->description), "description", tool->description);
    must(good_text(tool->label), "label", tool->label);
    must(phi_json_parse(&arena, phi_str_of(tool->schema), 0, &schema, NULL) == PHI_OK, "schema",
         tool->schema);
    memset(&error, 0, sizeof error);
    must(phi__schema_valid(schema, &error) == PHI_OK, error.message, tool->schema);
    for (i = 0; i < 3; i++)
        must(preflight(&models[i], &message, 1, tool, 1, &arena, words, sizeof words) == PHI_OK,
             words, tool->schema);
    phi_arena_free(&arena);
}

static void check_names(phi_openapi *api) {
    size_t i, j, count = open_count(api);
    phi_openapi_operation a, b;
    for (i = 0; i < count && i < 200; i++) {
        must(open_at(api, i, &a), "operation", "missing");
        for (j = 0; j < i; j++) {
            must(open_at(api, j, &b), "operation", "missing");
            must(!phi_str_equal(a.name, b.name), "taken", a.name.at);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    phi_openapi_tools tools;
    phi_openapi_desc desc;
    phi_runtime_desc rd;
    phi_openapi *api;
    phi_runtime *rt;
    phi_status status;
    size_t i;
    if (size == 0) return 0;
    memset(&rd, 0, sizeof rd);
    memset(&desc, 0, sizeof desc);
    memset(&tools, 0, sizeof tools);
    rd.step_budget_bytes = (data[0] & 1) != 0 ? 64 : 0;
    desc.max_schema_bytes = (data[0] & 2) != 0 ? 500 : 0;
    desc.name_prefix = (data[0] & 4) != 0 ? "p" : NULL;
    rt = phi_runtime_new(&rd);
    if (rt == NULL) return 0;
    api = open_text(rt, &desc, phi__str((const char *)data + 1, size - 1));
    while ((status = phi_openapi_step(api, NULL)) == PHI_BUSY) {}
    must(good_text(open_error(api)->message), "error", open_error(api)->message);
    if (status == PHI_OK) {
        while ((status = phi_openapi_select(api, NULL, &tools)) == PHI_BUSY) {}
        must(status == PHI_OK, "select", phi_status_text(status));
        must(tools.count + tools.skip_count == open_count(api), "tools", "some are missing");
        check_names(api);
        for (i = 0; i < tools.count; i++) check_tool(&tools.tools[i]);
        for (i = 0; i < tools.skip_count; i++)
            must(good_text(tools.skipped[i].message), "skip", tools.skipped[i].message);
    }
    phi_openapi_free(api);
    must(phi_memory_used(rt, NULL) < 1 << 20, "memory", "not given back");
    phi_runtime_free(rt);
    return 0;
}
