/* calls.h - calls of the built-in tools, made by a scripted model in a whole runtime, and what came of
   them. The clock is the rig's, moved along with real time. */
#ifndef PHI_TESTS_TOOLS_CALLS_H
#define PHI_TESTS_TOOLS_CALLS_H

#include "support/rig.h"
#include "tools/tools.h"
#include "loop/events.h"

#include <sys/stat.h>
#include <unistd.h>

typedef struct calls {
    rig *r;
    phi_agent agent;
    phi_call call; /* the last one that began */
    phi_toolset set;
    char dir[512]; /* an empty directory, the workspace unless the test's desc has one */
    /* the last call */
    char *text; /* the result's text, or the data of an image, document, audio; terminated */
    size_t len;
    char *details; /* "" when there are none */
    char *updates; /* all of them, one behind the other */
    phi_content_kind kind;
    char mime_type[32], name[64]; /* of a block with data */
    bool is_error, started, ended;
    int results, update_count, steps; /* steps: from the call's start */
} calls;

static char *calls_copy(phi_str s) {
    char *out = (char *)malloc(s.len + 1);
    if (out == NULL) abort();
    if (s.len > 0) memcpy(out, s.at, s.len);
    out[s.len] = '\0';
    return out;
}

static void calls_forget(calls *c) {
    free(c->text);
    free(c->details);
    free(c->updates);
    c->text = calls_copy(phi__str("", 0));
    c->details = calls_copy(phi__str("", 0));
    c->updates = calls_copy(phi__str("", 0));
    c->mime_type[0] = c->name[0] = '\0';
    c->len = 0;
    c->is_error = c->started = c->ended = false;
    c->results = c->update_count = c->steps = 0;
}

/* desc: NULL for defaults; its workspace, when NULL, becomes the directory, unless allowed_paths or
   `unconfined` is set. */
static bool calls_open(calls *c, const phi_tools_desc *given) {
    phi_tools_desc tools = PHI_ZERO;
    phi_agent_desc desc = rig_desc();
    memset(c, 0, sizeof *c);
    if (!test_temp_dir(c->dir, sizeof c->dir)) return false;
    if (given != NULL) tools = *given;
    if (tools.workspace == NULL && tools.allowed_paths == NULL && !tools.unconfined)
        tools.workspace = c->dir;
    if (!CHECK(phi_tools_init(&c->set, &tools) != PHI_BAD_ARG)) return false;
    c->r = rig_new();
    if (!CHECK(c->r != NULL)) return false;
    rig_silent(c->r, true);
    desc.tools = c->set.tools;
    desc.tool_count = c->set.count;
    desc.limits.max_turns = 1000;
    c->agent = rig_agent(c->r, &desc);
    calls_forget(c);
    return CHECK(phi_agent_alive(c->agent));
}

static void calls_close(calls *c) {
    rig_free(c->r);
    free(c->text);
    free(c->details);
    free(c->updates);
    memset(c, 0, sizeof *c);
}

static void calls_event(calls *c, const phi_event *event) {
    const phi_content *content;
    char *joined;
    size_t old;
    if (event->kind == PHI_EV_TOOL_UPDATE) {
        old = strlen(c->updates);
        joined = (char *)malloc(old + event->text.len + 1);
        if (joined == NULL) abort();
        memcpy(joined, c->updates, old);
        memcpy(joined + old, event->text.at, event->text.len);
        joined[old + event->text.len] = '\0';
        free(c->updates);
        c->updates = joined;
        c->update_count++;
    } else if (event->kind == PHI_EV_TOOL_START) {
        c->started = true;
        c->call = event->call;
        c->steps = 0;
    } else if (event->kind == PHI_EV_TOOL_END) {
        c->results++;
        c->ended = true;
        c->is_error = event->message->is_error;
        content = event->message->content;
        free(c->text);
        free(c->details);
        c->details = calls_copy(event->message->details);
        c->kind = content->kind;
        if (content->data.len > 0) {
            c->text = calls_copy(content->data);
            c->len = content->data.len;
            (void)snprintf(c->mime_type, sizeof c->mime_type, "%.*s", (int)content->mime_type.len,
                           content->mime_type.at);
            (void)snprintf(c->name, sizeof c->name, "%.*s", (int)content->name.len,
                           content->name.len > 0 ? content->name.at : "");
        } else {
            c->text = calls_copy(content->text);
            c->len = content->text.len;
        }
    }
}

/* One step, and a millisecond. Returns the runs still going. */
static int calls_step(calls *c) {
    phi_event event;
    int runs = rig_step(c->r);
    while (phi_next_event(rig_runtime(c->r), &event)) calls_event(c, &event);
    c->steps++;
    (void)usleep(1000);
    rig_pass_ms(c->r, 1);
    return runs;
}

static void calls_escape(char *to, const char *text) {
    static const char hex[] = "0123456789abcdef";
    for (; *text != '\0'; text++) {
        unsigned char ch = (unsigned char)*text;
        if (ch == '"' || ch == '\\') *to++ = '\\';
        if (ch < 32) {
            memcpy(to, "\\u00", 4);
            to[4] = hex[ch >> 4];
            to[5] = hex[ch & 15];
            to += 6;
        } else {
            *to++ = *text;
        }
    }
    *to = '\0';
}

/* Lets the model call a tool; the caller steps. */
static void calls_begin(calls *c, const char *tool, const char *arguments) {
    static const char head[] =
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":"
        "{\"id\":\"m\",\"model\":\"m\",\"content\":[],\"usage\":{"
        "\"input_tokens\":1,\"output_tokens\":1}}}\n\n"
        "event: content_block_start\ndata: {\"type\":\"content_block_start\","
        "\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c1\","
        "\"name\":\"";
    static const char delta[] = "\",\"input\":{}}}\n\nevent: content_block_delta\ndata: {\"type\":"
                                "\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                                "\"input_json_delta\",\"partial_json\":\"";
    static const char tail[] = "\"}}\n\nevent: content_block_stop\ndata: {\"type\":"
                               "\"content_block_stop\",\"index\":0}\n\n"
                               "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{"
                               "\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":1}}\n\n"
                               "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    char *body = (char *)malloc(strlen(arguments) * 6 + 2048), *at;
    if (body == NULL) abort();
    at = body + sprintf(body, "%s%s%s", head, tool, delta);
    calls_escape(at, arguments);
    (void)strcat(at, tail);
    calls_forget(c);
    rig_replies(c->r, 200, "Content-Type: text/event-stream\r\n", body);
    rig_says(c->r, "done");
    free(body);
    CHECK_EQ_INT(phi_prompt(c->agent, "go"), PHI_OK);
}

/* Steps until the call is so many steps old. */
static void calls_go_on(calls *c, int steps) {
    int left = 5000;
    while ((!c->started || c->steps < steps) && left-- > 0) (void)calls_step(c);
    CHECK(c->started);
}

/* Calls a tool and waits for the end of the run, up to 20 seconds. */
static bool call(calls *c, const char *tool, const char *arguments) {
    int left = 20000;
    calls_begin(c, tool, arguments);
    while (calls_step(c) > 0 && left-- > 0) continue;
    return CHECK_EQ_INT(c->results, 1);
}

/* The same, and checks the whole outcome; details NULL: not looked at. */
static void check_call(calls *c, const char *tool, const char *arguments, bool is_error,
                       const char *text, const char *details) {
    if (!call(c, tool, arguments)) return;
    CHECK_EQ_STR(c->text, text);
    CHECK_EQ_INT(c->is_error, is_error);
    if (details != NULL) CHECK_EQ_STR(c->details, details);
}

/* A path in the directory; valid until the next call. */
static const char *calls_path(const calls *c, const char *name) {
    static char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", c->dir, name);
    return path;
}

/* Writes a line to a file whose path may be longer than calls of Windows take, with its directories. */
static inline bool calls_put_deep(const calls *c, const char *name, const char *text) {
    char line[4096];
    (void)snprintf(line, sizeof line, "f='%s/%s' && mkdir -p \"${f%%/*}\" && echo '%s' > \"$f\"",
                   c->dir, name, text);
    return CHECK(system(line) == 0);
}

/* Gives a file another name. */
static inline bool calls_link(const calls *c, const char *from, const char *to) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", c->dir, from);
    return link(path, calls_path(c, to)) == 0;
}

static void calls_put_bytes(const calls *c, const char *name, const char *bytes, size_t n) {
    FILE *f = fopen(calls_path(c, name), "wb");
    if (!CHECK(f != NULL)) return;
    CHECK(fwrite(bytes, 1, n, f) == n);
    (void)fclose(f);
}

static void calls_put(const calls *c, const char *name, const char *text) {
    calls_put_bytes(c, name, text, strlen(text));
}

static void calls_mkdir(const calls *c, const char *name) {
    CHECK(mkdir(calls_path(c, name), 0777) == 0);
}

static void check_file(const calls *c, const char *name, const char *want) {
    char *text = test_read_file(calls_path(c, name), NULL);
    if (text != NULL) CHECK_EQ_STR(text, want);
    free(text);
}

/* Some tests use few of these. */
static inline void calls_unused(void) {
    (void)call;
    (void)check_call;
    (void)calls_put;
    (void)calls_mkdir;
    (void)check_file;
    (void)calls_go_on;
    (void)calls_open;
    (void)calls_close;
}

#endif
