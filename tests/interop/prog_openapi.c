/* prog_openapi.c - what phi makes of OpenAPI documents: operations, tools, skips, time, memory.

       prog_openapi [-q] FILE...         -q: of each document one line, and its skips
       prog_openapi [-q] -l LIST         the files that LIST names, a line each

   Each tool must be accepted by phi_preflight for each of the eight protocols, and its schema by
   the check that phi_agent_new makes. Exit code 1 where a document cannot be read, where less than
   99 of 100 operations become tools, or where a tool is refused. */
#include "agent/dry_run.h"
#include "openapi/openapi.h"
#include "text/text_in.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "loop/loop_in.h"
#include "openapi/api_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EIGHT = 8 };

typedef struct tally {
    size_t refused, operations, schema_bytes, largest;
    double longest; /* step, in seconds */
} tally;

static double read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds(void) { return read_clock(CLOCK_MONOTONIC); }

/* Of the CPU: other programs do not count. */
static double work(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

/* Whether work goes on after a step that began then; keeps the longest. */
static bool busy(phi_status status, double *start, double *longest) {
    double now = work();
    if (now - *start > *longest) *longest = now - *start;
    *start = now;
    return status == PHI_BUSY;
}

static phi_runtime *new_runtime(void) {
    phi_runtime_desc desc;
    memset(&desc, 0, sizeof desc);
    return phi_runtime_new(&desc);
}

static void models(phi_model out[EIGHT]) {
    out[0] = phi_model_anthropic("claude-sonnet-4-5", "k");
    out[1] = phi_model_openai("gpt-5", "k");
    out[2] = phi_model_openai_responses("gpt-5", "k");
    out[3] = phi_model_azure("https://a.example", "gpt-5", "k");
    out[4] = phi_model_google("gemini-3-pro", "k");
    out[5] = phi_model_vertex("https://v.example", "gemini-3-pro", "t");
    out[6] = phi_model_bedrock("https://b.example", "claude", "k");
    out[7] = phi_model_interactions("gemini-3-pro", "k");
}

/* Whether phi_agent_new would take the schema. */
static bool sound(phi_arena *arena, const phi_tool *tool, char *words, size_t size) {
    phi_arena_mark mark = phi_arena_save(arena);
    phi_json *schema = NULL;
    phi_schema_error error;
    phi_parse_error parse;
    phi_status status;
    bool fine = false;
    memset(&error, 0, sizeof error);
    status = phi_json_parse(arena, phi_str_of(tool->schema), 0, &schema, &parse);
    if (status != PHI_OK)
        (void)snprintf(words, size, "the schema is no JSON");
    else if (phi__schema_valid(schema, &error) != PHI_OK)
        (void)snprintf(words, size, "%s", error.message);
    else
        fine = true;
    phi_arena_reset(arena, mark);
    return fine;
}

static void check_tool(const phi_model eight[EIGHT], const phi_tool *tool, phi_arena *arena,
                       tally *sum) {
    static const char hello[] = "Hello";
    phi_message message;
    phi_content text;
    phi_preflight_desc desc = PHI_ZERO;
    char words[400];
    size_t i, bytes = strlen(tool->schema);
    memset(&text, 0, sizeof text);
    text.kind = PHI_CONTENT_TEXT;
    text.text = phi_str_of(hello);
    memset(&message, 0, sizeof message);
    message.role = PHI_ROLE_USER;
    message.content = &text;
    message.content_count = 1;
    desc.messages = &message;
    desc.message_count = 1;
    desc.tools = tool;
    desc.tool_count = 1;
    sum->schema_bytes += bytes;
    if (bytes > sum->largest) sum->largest = bytes;
    if (!sound(arena, tool, words, sizeof words)) {
        sum->refused++;
        printf("  refused %s: %s\n", tool->name, words);
        return;
    }
    for (i = 0; i < EIGHT; i++) {
        desc.model = &eight[i];
        if (phi_preflight(&desc, arena, words, sizeof words) == PHI_OK) continue;
        sum->refused++;
        printf("  refused %s: %s: %s\n", tool->name, eight[i].protocol, words);
        return;
    }
}

static void show_skips(phi_openapi *api, const phi_openapi_tools *tools) {
    const phi_openapi_operation *op;
    size_t i;
    for (i = 0; i < tools->skip_count; i++)
        if ((op = phi_openapi_operation_at(api, tools->skipped[i].operation)) != NULL)
            printf("  skipped %.*s %.*s: %s\n", (int)op->method.len, op->method.at,
                   (int)op->path.len, op->path.at, tools->skipped[i].message);
}

static void show_tools(phi_openapi *api, const phi_openapi_tools *tools) {
    const phi_openapi_operation *op;
    size_t i;
    for (i = 0; i < tools->count; i++)
        if ((op = phi_openapi_operation_at(api, tools->operations[i])) != NULL)
            printf("  %s%s%s  %.*s %.*s  (%zu bytes of schema)\n", tools->tools[i].name,
                   op->read_only ? " [reads]" : "", op->destructive ? " [destroys]" : "",
                   (int)op->method.len, op->method.at, (int)op->path.len, op->path.at,
                   strlen(tools->tools[i].schema));
}

/* 0: good, 1: not, 2: another version of OpenAPI, or not read by this program. */
static int one(const char *path, bool quiet) {
    phi_runtime *rt = new_runtime();
    phi_openapi_desc of = PHI_ZERO;
    phi_parse_error error;
    phi_openapi *api;
    double start = seconds(), step = work(), read, made;
    phi_model eight[EIGHT];
    phi_openapi_tools tools;
    phi_memory memory;
    phi_arena arena;
    phi_status status;
    tally sum;
    size_t i, kept, used, peak;
    memset(&tools, 0, sizeof tools);
    memset(&sum, 0, sizeof sum);
    of.path = path;
    api = phi_openapi_new(rt, &of);
    do status = phi_openapi_step(api, &error);
    while (busy(status, &step, &sum.longest));
    read = seconds();
    kept = phi_memory_used(rt, NULL);
    if (status != PHI_OK) {
        printf("%s: %u:%u: %s\n", path, (unsigned)error.line, (unsigned)error.column,
               error.message);
        phi_openapi_free(api);
        phi_runtime_free(rt);
        return status == PHI_UNSUPPORTED ? 2 : 1;
    }
    step = work();
    do status = phi_openapi_select(api, NULL, &tools);
    while (busy(status, &step, &sum.longest));
    made = seconds();
    used = phi_memory_used(rt, &peak);
    if (!quiet) show_tools(api, &tools);
    show_skips(api, &tools);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 65536);
    models(eight);
    for (i = 0; i < tools.count; i++) check_tool(eight, &tools.tools[i], &arena, &sum);
    phi_arena_free(&arena);
    while (phi_openapi_operation_at(api, sum.operations) != NULL) sum.operations++;
    printf("%s: %zu operations, %zu tools, %zu skipped, %zu refused; read in %.0f ms, tools in "
           "%.0f ms, a step at most %.2f ms; memory: %.1f MB peak, %.1f MB kept, %.1f MB with all "
           "tools; schemas: %.1f KB "
           "on average, %.1f KB at most\n",
           path, sum.operations, tools.count, tools.skip_count, sum.refused, (read - start) * 1e3,
           (made - read) * 1e3, sum.longest * 1e3, (double)peak / 1e6, (double)kept / 1e6,
           (double)used / 1e6,
           (double)sum.schema_bytes / 1e3 / (double)(tools.count > 0 ? tools.count : 1),
           (double)sum.largest / 1e3);
    i = tools.count - sum.refused;
    phi_openapi_free(api);
    phi_runtime_free(rt);
    return status == PHI_OK && i * 100 >= sum.operations * 99 ? 0 : 1;
}

static void count(int sum[3], const char *path, bool quiet) { sum[one(path, quiet)]++; }

static void count_list(int sum[3], const char *list, bool quiet) {
    char line[4096];
    FILE *file = fopen(list, "r");
    if (file == NULL) {
        sum[1]++;
        return;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        count(sum, line, quiet);
    }
    fclose(file);
}

int main(int argc, char **argv) {
    int i, sum[3] = {0, 0, 0};
    bool quiet = argc > 1 && strcmp(argv[1], "-q") == 0;
    for (i = 1 + quiet; i < argc; i++)
        if (strcmp(argv[i], "-l") == 0 && i + 1 < argc)
            count_list(sum, argv[++i], quiet);
        else
            count(sum, argv[i], quiet);
    if (sum[0] + sum[1] + sum[2] > 1)
        printf("%d documents good, %d not, %d not of version 3.0 or 3.1\n", sum[0], sum[1], sum[2]);
    return sum[1] > 0 || (sum[2] > 0 && !quiet) ? 1 : 0;
}
