/* mcp_tools.c - the tools of a connection: listed when it is ready and when they change, compared
   with earlier definitions, and handed to agents.

   The host's event function is called last of all: it may free the connection. */
#include "mcp/mcp_requests_in.h"
#include "mcp/mcp_toolbox_in.h"

#include "mcp/mcp_content_in.h"
#include "mcp/mcp_headers_in.h"
#include "mcp/mcp_pages_in.h"

#include <stdio.h>

typedef struct phi__known_tool {
    phi__link link; /* in the order of their last list */
    phi_str name;   /* the server's */
    phi_str definition;
    phi_str waiting; /* held: the new definition; empty: none */
    char waiting_hash[65];
    uint32_t round; /* of the last list that had it */
} phi__known_tool;

typedef struct phi__known {
    phi_memory *memory;
    phi__map map;
    phi__list tools;
    size_t count, bytes; /* of all texts */
    uint32_t round;
} phi__known;

/* ---- definitions that were offered: a server that changes one later is found out ---- */

static bool phi__known_copy(phi__known *known, phi_str from, phi_str *out) {
    char *text = (char *)phi__realloc(known->memory, NULL, 0, from.len + 1);
    if (text == NULL) return false;
    if (from.len > 0) memcpy(text, from.at, from.len);
    text[from.len] = '\0';
    *out = phi__str(text, from.len);
    known->bytes += from.len;
    return true;
}

static void phi__known_drop_text(phi__known *known, phi_str *text) {
    if (text->at != NULL) phi__free(known->memory, (char *)(uintptr_t)text->at, text->len + 1);
    known->bytes -= text->len;
    *text = phi__str(NULL, 0);
}

static void phi__known_drop(phi__known *known, phi__known_tool *tool) {
    phi__map_drop(&known->map, phi__hash(tool->name, 0), tool);
    phi__list_take(&known->tools, &tool->link);
    known->count--;
    phi__known_drop_text(known, &tool->name);
    phi__known_drop_text(known, &tool->definition);
    phi__known_drop_text(known, &tool->waiting);
    phi__free(known->memory, tool, sizeof *tool);
}

static phi__known_tool *phi__known_add(phi__known *known, phi_str name, phi_str definition) {
    if (!phi__map_room(&known->map)) return NULL;
    phi__known_tool *tool = (phi__known_tool *)phi__alloc(known->memory, sizeof *tool);
    if (tool == NULL) return NULL;
    if (!phi__known_copy(known, name, &tool->name) ||
        !phi__known_copy(known, definition, &tool->definition)) {
        phi__known_drop_text(known, &tool->name);
        phi__free(known->memory, tool, sizeof *tool);
        return NULL;
    }
    phi__map_add(&known->map, phi__hash(tool->name, 0), tool);
    phi__list_push(&known->tools, &tool->link);
    known->count++;
    return tool;
}

static phi__known_tool *phi__known_find(const phi__known *known, phi_str name) {
    phi__known_tool *tool;
    size_t probe = 0;
    while ((tool = (phi__known_tool *)phi__map_each(&known->map, phi__hash(name, 0), &probe)) !=
           NULL)
        if (phi_str_equal(tool->name, name)) return tool;
    return NULL;
}

/* A tool of the list of this round. *before: the accepted definition, where this one is another and
   was not reported yet; else empty. Borrowed until the tool is accepted. NULL: no memory. */
static phi__known_tool *phi__known_offer(phi__known *known, phi_str name, phi_str definition,
                                         phi_str *before) {
    phi__known_tool *tool = phi__known_find(known, name);
    unsigned char hash[PHI__SHA256_BYTES];
    phi_str copy;
    *before = phi__str(NULL, 0);
    if (tool == NULL) tool = phi__known_add(known, name, definition);
    if (tool == NULL) return NULL;
    phi__list_take(&known->tools, &tool->link);
    phi__list_push(&known->tools, &tool->link);
    tool->round = known->round;
    if (phi_str_equal(tool->definition, definition)) {
        phi__known_drop_text(known, &tool->waiting);
        return tool;
    }
    if (tool->waiting.at != NULL && phi_str_equal(tool->waiting, definition)) return tool;
    if (!phi__known_copy(known, definition, &copy)) return NULL;
    phi__known_drop_text(known, &tool->waiting);
    tool->waiting = copy;
    phi__sha256_of(definition, hash);
    phi__sha256_hex(hash, tool->waiting_hash);
    *before = tool->definition;
    return tool;
}

/* The waiting definition counts from now on. */
static void phi__known_accept(phi__known *known, phi__known_tool *tool) {
    if (tool->waiting.at == NULL) return;
    phi__known_drop_text(known, &tool->definition);
    tool->definition = tool->waiting;
    tool->waiting = phi__str(NULL, 0);
}

/* ---- events that are kept until the host may be called, who may free the connection ---- */

typedef struct phi__news {
    phi__list list;
    size_t count, hidden; /* hidden: beyond the most that are kept */
} phi__news;

enum { PHI__NEWS_MOST = 256 }; /* events kept; a hostile list has thousands of faults */

/* Its strings follow it in memory. */
typedef struct phi__news_item {
    phi__link link;
    size_t bytes;
    phi_mcp_event_kind kind;
    phi_str name, before, text;
} phi__news_item;

static phi_str phi__news_put(char **at, phi_str from) {
    phi_str copy = phi__str(*at, from.len);
    if (from.len > 0) memcpy(*at, from.at, from.len);
    (*at)[from.len] = '\0';
    *at += from.len + 1;
    return copy;
}

/* Copies all; without memory the event is lost. */
static void phi__news_add(phi_mcp *mcp, phi__news *news, phi_mcp_event_kind kind, phi_str name,
                          phi_str before, phi_str text) {
    size_t bytes =
        phi__add(sizeof(phi__news_item) + 3, phi__add(name.len, phi__add(before.len, text.len)));
    if (mcp->desc.event_fn == NULL) return;
    if (news->count == PHI__NEWS_MOST) {
        news->hidden++;
        return;
    }
    phi__news_item *item = (phi__news_item *)phi__alloc(&mcp->memory, bytes);
    if (item == NULL) return;
    item->bytes = bytes;
    item->kind = kind;
    char *at = (char *)(item + 1);
    item->name = phi__news_put(&at, name);
    item->before = phi__news_put(&at, before);
    item->text = phi__news_put(&at, text);
    phi__list_push(&news->list, &item->link);
    news->count++;
}

static phi__news_item *phi__news_take(phi__news *news) {
    if (news->list.first == NULL) return NULL;
    phi__news_item *item = PHI__OWNER(news->list.first, phi__news_item, link);
    phi__list_take(&news->list, &item->link);
    news->count--;
    return item;
}

/* Reports all of it. False: the connection was freed by the host, and the news with it. */
static bool phi__news_tell(phi_mcp *mcp, phi__news *news) {
    phi__news_item *item;
    size_t hidden = news->hidden;
    char words[80];
    phi_str none = phi__str("", 0);
    news->hidden = 0;
    while ((item = phi__news_take(news)) != NULL) {
        bool alive = phi__mcp_tell(mcp, item->kind, item->name, item->before, item->text);
        /* where the part is gone its memory is not: the session frees itself when this returns */
        phi__free(&mcp->memory, item, item->bytes);
        if (!alive) return false;
    }
    if (hidden == 0) return true;
    (void)snprintf(words, sizeof words, "%lu more events of its lists were left out",
                   (unsigned long)hidden);
    return phi__mcp_tell(mcp, PHI_MCP_EV_WARNING, none, none, phi_str_of(words));
}

/* ---- A call of a server's tool: a request, and its answer as the call's result ---- */

/* A call ends once: by its result, or when it is cancelled, finished by somebody else or freed with
   its agent; the server is then told that nobody wants the answer. While the connection is being
   made again, a call waits for it. */

enum { PHI__CALLS_WAIT_MS = 50 }; /* between two looks at a connection that is being made */

typedef struct phi__mcp_call {
    phi_call call;
    const phi__mcp_tool *tool;
    phi_memory *memory; /* the agent's */
    phi__req *request;
    phi__timer timer; /* it waits for a connection */
    uint64_t until_us;
    phi_str arguments; /* borrowed until the call is finished */
    bool open;
} phi__mcp_call;

static void phi__calls_end(phi__mcp_call *c) {
    if (!c->open) return;
    c->open = false;
    phi__io_timer_clear(c->tool->mcp->rt->io, &c->timer);
    phi__mcp_cancel(c->request, "the call was cancelled");
    c->request = NULL;
}

static void phi__calls_give(phi__mcp_call *c, const phi_content *content, size_t count,
                            const char *details, bool is_error) {
    phi_tool_result result = PHI_ZERO;
    result.content = content;
    result.content_count = count;
    result.details = details;
    result.is_error = is_error;
    (void)phi_call_result(c->call, &result);
    phi__calls_end(c);
}

static void phi__calls_fail_str(phi__mcp_call *c, phi_str words) {
    phi_content content = PHI_ZERO;
    content.kind = PHI_CONTENT_TEXT;
    content.text = words;
    phi__calls_give(c, &content, 1, NULL, true);
}

/* "MCP call failed: JSON-RPC error -32602: unknown tool"; code 0: no error of the server's. */
static void phi__calls_fail(phi__mcp_call *c, phi_status status, int code, phi_str message) {
    phi__buf words = phi__buf_of(c->memory);
    phi__buf_text(&words, "MCP call failed: ");
    if (code != 0) phi__buf_printf(&words, "JSON-RPC error %d: ", code);
    phi__buf_add_str(&words, message);
    bool memory = status != PHI_NO_MEMORY && !words.failed;
    phi__calls_fail_str(c, memory ? phi__buf_str(&words) : PHI__LIT("Out of memory"));
    phi__buf_free(&words);
}

/* ---- the result ---- */

typedef struct phi__outcome {
    phi_arena arena;
    phi_content *content;
    size_t count;
    phi__buf details; /* terminated; empty: none */
    bool is_error;
} phi__outcome;

/* Makes the content one text, which the caller sets. NULL: no memory. */
static phi_str *phi__calls_one(phi__outcome *out) {
    phi_content *content = (phi_content *)phi__arena_zero(&out->arena, sizeof *content);
    if (content == NULL) return NULL;
    content->kind = PHI_CONTENT_TEXT;
    out->content = content;
    out->count = 1;
    return &content->text;
}

/* A result that does not keep the output schema is an error: the model must not take it for what
   the tool promises. False: no memory. */
static bool phi__calls_check(const phi__mcp_call *c, const phi_json *structured,
                             phi__outcome *out) {
    phi_schema_error error;
    phi__buf words;
    if (c->tool->output == NULL || out->is_error) return true;
    if (structured == NULL)
        (void)snprintf(error.message, sizeof error.message,
                       "the tool promises structured content, and there is none");
    else {
        phi_status status = phi__schema_check(out->arena.memory, c->tool->output, structured,
                                              "structuredContent", &error);
        if (status != PHI_PARSE) return true; /* it fits, or cannot be checked */
    }
    phi__buf_init(&words, out->arena.memory);
    phi__buf_text(&words, "MCP call failed: the result does not fit the tool's output schema: ");
    phi__buf_text(&words, error.message);
    phi_str *text = phi__calls_one(out), none;
    out->is_error = true;
    return phi__mcp_keep(&words, &out->arena, text != NULL ? text : &none) && text != NULL;
}

/* {"structuredContent":...,"_meta":...} for the host */
static bool phi__calls_details(const phi_json *result, phi__outcome *out) {
    static const char *const keys[] = {"structuredContent", "_meta"};
    for (size_t i = 0; i < PHI__COUNT(keys); i++) {
        const phi_json *value = phi_json_get(result, keys[i]);
        if (value == NULL) continue;
        if (out->details.len == 0) phi__buf_char(&out->details, '{');
        phi__json_write_key(&out->details, phi_str_of(keys[i]));
        if (phi__json_write(&out->details, value, 0) != PHI_OK) return false;
    }
    if (out->details.len == 0) return true;
    phi__buf_text(&out->details, "}");
    phi__buf_char(&out->details, '\0');
    return !out->details.failed;
}

/* Texts of an error become one, joined by line breaks; images stay after it. */
static bool phi__calls_join(phi__outcome *out) {
    size_t kept = 0, texts = 0;
    phi_content all = PHI_ZERO;
    phi__buf words = phi__buf_of(out->arena.memory);
    for (size_t i = 0; i < out->count; i++) {
        if (out->content[i].kind != PHI_CONTENT_TEXT) continue;
        if (texts++ > 0) phi__buf_char(&words, '\n');
        phi__buf_add_str(&words, out->content[i].text);
    }
    all.kind = PHI_CONTENT_TEXT;
    if (!phi__mcp_keep(&words, &out->arena, &all.text)) return false;
    if (texts < 2) return true;
    for (size_t i = 0; i < out->count; i++)
        if (out->content[i].kind != PHI_CONTENT_TEXT) out->content[kept++] = out->content[i];
    memmove(out->content + 1, out->content, kept * sizeof *out->content);
    out->content[0] = all;
    out->count = kept + 1;
    return true;
}

static bool phi__calls_read(const phi__mcp_call *c, const phi_json *result, phi__outcome *out) {
    const phi_json *structured = phi_json_get(result, "structuredContent");
    out->is_error = phi__records_get_bool(result, "isError");
    if (!phi__content_read(phi_json_get(result, "content"), &out->arena, &out->content,
                           &out->count))
        return false;
    if (out->count == 0 && structured != NULL) {
        phi_str *text = phi__calls_one(out);
        if (text == NULL || phi_json_write(&out->arena, structured, 0, text) != PHI_OK)
            return false;
    }
    if (out->is_error && !phi__calls_join(out)) return false;
    return phi__calls_check(c, structured, out) && phi__calls_details(result, out);
}

static void phi__calls_done(void *ctx, const phi_mcp_reply *reply) {
    phi__mcp_call *c = (phi__mcp_call *)ctx;
    c->request = NULL;
    if (reply->status == PHI_OK) {
        const phi_json *result = reply->result;
        phi__outcome out = PHI_ZERO;
        phi_arena_init(&out.arena, c->memory, 0);
        phi__buf_init(&out.details, c->memory);
        if (!phi_json_is(result, PHI_JSON_OBJECT))
            phi__calls_fail(c, PHI_PARSE, 0, PHI__LIT("the result is no object"));
        else if (phi__calls_read(c, result, &out))
            phi__calls_give(c, out.content, out.count, out.details.at, out.is_error);
        else
            phi__calls_fail_str(c, PHI__LIT("Out of memory"));
        phi__buf_free(&out.details);
        phi_arena_free(&out.arena);
    } else
        phi__calls_fail(c, reply->status, reply->code, reply->message);
}

/* "half done", or "3 of 10" */
static void phi__calls_progress(void *ctx, double progress, double total, phi_str message) {
    phi__mcp_call *c = (phi__mcp_call *)ctx;
    char words[100];
    if (message.len == 0) {
        if (total > 0)
            (void)snprintf(words, sizeof words, "%.6g of %.6g", progress, total);
        else
            (void)snprintf(words, sizeof words, "%.6g", progress);
        message = phi_str_of(words);
    }
    (void)phi__update_progress(c->call, message);
}

static phi_status phi__calls_send(phi__mcp_call *c) {
    phi__buf params;
    phi_json *arguments = NULL;
    phi_mcp_pair *pairs = NULL;
    phi_status status = PHI_OK;
    phi__req_desc desc = PHI_ZERO;
    phi_arena arena = phi__arena_of(c->memory, 0);
    phi__rpc_open_params(&params, c->memory, "name", c->tool->shown.original);
    phi__records_raw(&params, "arguments", "");
    phi__buf_add_str(&params, c->arguments);
    phi__buf_char(&params, '}');
    desc.method = "tools/call";
    desc.name = c->tool->shown.original;
    desc.call = c->call;
    desc.task = c->tool->task;
    desc.progress = phi__calls_progress;
    desc.done = phi__calls_done;
    desc.ctx = c;
    if (c->tool->marked != NULL && !params.failed) { /* arguments that headers repeat */
        status = phi_json_parse(&arena, c->arguments, 0, &arguments, NULL);
        if (status == PHI_OK)
            status = phi__xhead_of(c->tool->marked, arguments, &arena, &pairs, &desc.header_count);
        desc.headers = pairs;
    }
    if (status == PHI_OK)
        status = phi__mcp_send_buf(c->tool->mcp, &desc, &params, &c->request);
    else
        phi__buf_free(&params);
    phi_arena_free(&arena);
    return status;
}

/* Sends, or waits for the connection, or fails. */
static void phi__calls_go(phi__mcp_call *c) {
    phi__io *io = c->tool->mcp->rt->io;
    phi_mcp_state state = phi_mcp_get_info(c->tool->mcp).state;
    phi_status status;
    if (state == PHI_MCP_CONNECTING && phi__io_counted_us(io) < c->until_us) {
        status = phi__io_deadline_set(io, &c->timer, (uint64_t)PHI__CALLS_WAIT_MS * 1000);
        if (status != PHI_OK) phi__calls_fail(c, status, 0, phi__str("", 0));
        return;
    }
    if (state != PHI_MCP_READY) {
        const char *why = phi_mcp_get_info(c->tool->mcp).message;
        char words[400];
        (void)snprintf(words, sizeof words, "the server is not connected%s%s",
                       why[0] != '\0' ? ": " : "", why);
        phi__calls_fail(c, PHI_NETWORK, 0, phi_str_of(words));
        return;
    }
    status = phi__calls_send(c);
    if (status != PHI_OK)
        phi__calls_fail(c, status, 0,
                        phi_str_of(status == PHI_BAD_ARG ? "an argument does not fit into a header"
                                                         : phi_status_text(status)));
}

static void phi__calls_timer(phi__timer *timer) {
    phi__calls_go(PHI__OWNER(timer, phi__mcp_call, timer));
}

/* The arguments fit the schema, as the loop checks it for other tools. A null for a property that
   may be left out counts as left out: models write that. */
static bool phi__calls_fit(const phi__mcp_call *c, char *words, size_t size) {
    phi_json *schema = NULL, *arguments = NULL;
    phi_schema_error error;
    error.message[0] = '\0';
    phi_arena scratch = phi__arena_of(c->memory, 0);
    phi_status status =
        phi_json_parse(&scratch, c->tool->shown.schema, PHI_JSON_BORROW, &schema, NULL);
    if (status == PHI_OK)
        status = phi_json_parse(&scratch, c->arguments, PHI_JSON_BORROW, &arguments, NULL);
    if (status == PHI_OK) {
        (void)phi__strict_nulls(schema, arguments);
        status = phi__schema_check(c->memory, schema, arguments, "arguments", &error);
    }
    phi_arena_free(&scratch);
    if (status == PHI_OK || status == PHI_UNSUPPORTED) return true;
    if (status == PHI_NO_MEMORY)
        (void)snprintf(words, size, "Out of memory");
    else
        (void)snprintf(words, size, "Invalid arguments: %s", error.message);
    return false;
}

static void phi__calls_gone(void *state) { phi__calls_end((phi__mcp_call *)state); }

static phi_flow phi__calls_start(void *user_data, phi_call call, phi_str arguments) {
    static const char foreign[] = "MCP call failed: this server belongs to another runtime";
    static const char changed[] = "MCP call failed: the server has changed the definition of this "
                                  "tool, and the change is not accepted";
    const phi__mcp_tool *tool = (const phi__mcp_tool *)user_data;
    const phi__toolcall *toolcall = phi__call_find(call);
    const char *words = NULL;
    char fault[300];
    if (call.rt != tool->mcp->rt) words = foreign;
    if (tool->shown.held) words = changed;
    phi__mcp_call *c = words == NULL ? (phi__mcp_call *)phi_call_state(call, sizeof *c) : NULL;
    if (words == NULL && (c == NULL || toolcall == NULL)) words = "Out of memory";
    if (words != NULL) {
        (void)phi_call_fail(call, words);
        return PHI_DONE;
    }
    c->call = call;
    c->tool = tool;
    c->memory = &toolcall->run->agent->memory;
    c->arguments = phi__str_trim(arguments).len > 0 ? arguments : PHI__LIT("{}");
    c->timer.fire = phi__calls_timer;
    c->until_us = phi__io_counted_us(c->tool->mcp->rt->io) +
                  (uint64_t)tool->mcp->desc.connect_timeout_ms * 1000;
    c->open = true;
    phi__call_on_gone(call, phi__calls_gone);
    if (phi__calls_fit(c, fault, sizeof fault))
        phi__calls_go(c);
    else
        phi__calls_fail_str(c, phi_str_of(fault));
    return PHI_PENDING; /* or it has its result */
}

static void phi__calls_cancel(void *user_data, phi_call call) {
    phi__mcp_call *c = (phi__mcp_call *)phi_call_state(call, 0);
    (void)user_data;
    if (c != NULL) phi__calls_end(c);
}

/* After a snapshot: a call that may be repeated is made again. */
static phi_flow phi__calls_resume(void *user_data, phi_call call, phi_str arguments) {
    static const char words[] = "MCP call failed: the program was started anew while this call was "
                                "under way; whether the server has done it is not known";
    if (((const phi__mcp_tool *)user_data)->shown.idempotent)
        return phi__calls_start(user_data, call, arguments);
    (void)phi_call_fail(call, words);
    return PHI_DONE;
}

/* ---- the list: fetched when ready and when it changes, compared, handed to agents ---- */

enum {
    PHI__MCP_TOOLS_PAUSE_MS =
        200,                     /* between a list and the next: a server may report changes fast */
    PHI__MCP_TOOLS_TTL_MS = 5000 /* at least so old is a list that is asked for again by itself */
};

typedef struct phi__mcp_tools {
    phi_mcp *mcp;
    phi_tool_source source;
    phi_tool functions;
    phi__toolbox *now; /* NULL: none yet */
    phi__list old;     /* boxes that agents still use */
    size_t users;      /* takes that were not released */
    uint64_t version;
    phi__known known;
    phi__news news;
    /* the list under way */
    phi__pages pages;
    phi_arena arena; /* of the definitions */
    phi__definition *definitions;
    size_t count, cap;
    phi__map names; /* of definitions, by index + 1 */
    bool listing, again, holds;
    phi__timer timer; /* lists again */
    uint64_t listed_us, stale_us;
} phi__mcp_tools;

static const phi__mcp_part *phi__mtools_table(void);

static phi__mcp_tools *phi__mtools_of(const phi_mcp *mcp) {
    return (phi__mcp_tools *)phi__mcp_session_part(mcp, phi__mtools_table());
}

static void phi__mtools_say(phi__mcp_tools *t, const char *message) {
    phi_str none = phi__str("", 0);
    phi__news_add(t->mcp, &t->news, PHI_MCP_EV_WARNING, none, none, phi_str_of(message));
}

static void phi__mtools_warn(void *ctx, phi_str original, const char *message) {
    char words[500];
    (void)snprintf(words, sizeof words, "tool \"%.*s\" is left out: %s",
                   (int)phi__min(original.len, 80), original.at, message);
    phi__mtools_say((phi__mcp_tools *)ctx, words);
}

/* ---- boxes ---- */

static void phi__mtools_leave(phi__mcp_tools *t, phi__toolbox *box) {
    if (--box->users > 0) return;
    if (box != t->now) phi__list_take(&t->old, &box->link);
    phi__toolbox_free(t->mcp, box);
}

static const phi__mcp_tool *phi__mtools_find(const phi__map *map, phi_str name) {
    size_t probe = 0;
    const phi__mcp_tool *item;
    while ((item = (const phi__mcp_tool *)phi__map_each(map, phi__hash(name, 0), &probe)) != NULL)
        if (phi_str_equal(item->shown.name, name)) return item;
    return NULL;
}

static bool phi__mtools_index(phi__mcp_tools *t, phi__map *map, phi__toolbox *box) {
    phi__map_init(map, &t->mcp->memory);
    if (!phi__map_reserve(map, box->count)) return false;
    for (size_t i = 0; i < box->count; i++)
        phi__map_add(map, phi__hash(box->items[i].shown.name, 0), &box->items[i]);
    return true;
}

static void phi__mtools_diff_put(phi__buf *words, char sign, phi_str name) {
    if (words->len > 0) phi__buf_char(words, ' ');
    phi__buf_char(words, sign);
    phi__buf_add_str(words, name);
}

/* "+a -b ~c"; empty: the same. False: no memory. */
static bool phi__mtools_diff(phi__mcp_tools *t, phi__toolbox *was, phi__toolbox *box,
                             phi__buf *words) {
    phi__map before, after;
    bool fine = phi__mtools_index(t, &before, was);
    fine = phi__mtools_index(t, &after, box) && fine;
    for (size_t i = 0; fine && i < box->count; i++) {
        const phi__mcp_tool *item = &box->items[i];
        const phi__mcp_tool *old = phi__mtools_find(&before, item->shown.name);
        if (old == NULL)
            phi__mtools_diff_put(words, '+', item->shown.name);
        else if (!phi_str_equal(old->definition, item->definition) ||
                 old->shown.held != item->shown.held)
            phi__mtools_diff_put(words, '~', item->shown.name);
    }
    for (size_t i = 0; fine && i < was->count; i++)
        if (phi__mtools_find(&after, was->items[i].shown.name) == NULL)
            phi__mtools_diff_put(words, '-', was->items[i].shown.name);
    phi__map_free(&before);
    phi__map_free(&after);
    return fine && !words->failed;
}

/* The new list, unless it is the one that is there. */
static void phi__mtools_install(phi__mcp_tools *t, phi__toolbox *box) {
    phi__toolbox *was = t->now;
    phi_str none = phi__str("", 0);
    phi__buf words = phi__buf_of(&t->mcp->memory);
    if (was != NULL && phi__mtools_diff(t, was, box, &words) && words.len == 0) {
        phi__toolbox_free(t->mcp, box);
        return;
    }
    box->version = ++t->version;
    t->now = box;
    if (was != NULL) {
        phi__news_add(t->mcp, &t->news, PHI_MCP_EV_TOOLS, none, none, phi__buf_str(&words));
        phi__list_push(&t->old, &was->link);
        phi__mtools_leave(t, was);
    }
    phi__buf_free(&words);
}

/* Over HTTP the modern era mirrors parameters into headers. */
static bool phi__mtools_marks(const phi__mcp_tools *t) {
    return t->mcp->desc.url != NULL && phi__mcp_modern(t->mcp);
}

/* ---- a list arrives ---- */

static void phi__mtools_drop_list(phi__mcp_tools *t) {
    phi_memory *memory = &t->mcp->memory;
    phi__pages_stop(&t->pages);
    phi_arena_free(&t->arena);
    phi__free(memory, t->definitions, t->cap * sizeof *t->definitions);
    t->definitions = NULL;
    t->count = t->cap = 0;
    phi__map_free(&t->names);
    t->listing = false;
}

static bool phi__mtools_twice(const phi__mcp_tools *t, phi_str name) {
    size_t probe = 0;
    const void *at;
    while ((at = phi__map_each(&t->names, phi__hash(name, 0), &probe)) != NULL)
        if (phi_str_equal(t->definitions[(uintptr_t)at - 1].original, name)) return true;
    return false;
}

static bool phi__mtools_item(phi__pages *pages, const phi_json *tool) {
    phi__mcp_tools *t = PHI__OWNER(pages, phi__mcp_tools, pages);
    phi_str name = phi__records_get_str(tool, "name");
    if (name.len == 0 || phi__mtools_twice(t, name)) {
        phi__mtools_warn(t, name, name.len == 0 ? "it has no name" : "it is listed twice");
        return true;
    }
    if (t->count == t->cap) {
        void *grown = phi__grow(&t->mcp->memory, t->definitions, &t->cap, t->count + 1,
                                sizeof *t->definitions);
        if (grown == NULL) return false;
        t->definitions = (phi__definition *)grown;
    }
    phi__definition *to = &t->definitions[t->count];
    to->held = false;
    if (!phi__map_room(&t->names) || !phi__arena_str(&t->arena, name, &to->original) ||
        !phi__toolbox_define(tool, &t->arena, &to->definition))
        return false;
    phi__map_add(&t->names, phi__hash(name, 0), (void *)(uintptr_t)(++t->count));
    return true;
}

/* Compares with an earlier definition. False: no memory. */
static bool phi__mtools_compare(phi__mcp_tools *t, phi__definition *definition) {
    bool hold = t->mcp->desc.hold_changed_tools;
    phi_str before;
    phi__known_tool *known =
        phi__known_offer(&t->known, definition->original, definition->definition, &before);
    if (known == NULL) return false;
    if (before.len > 0)
        phi__news_add(t->mcp, &t->news, PHI_MCP_EV_TOOL_CHANGED, definition->original, before,
                      definition->definition);
    if (!hold) phi__known_accept(&t->known, known);
    definition->held = known->waiting.at != NULL;
    definition->definition = known->definition;
    return true;
}

static bool phi__mtools_build(phi__mcp_tools *t) {
    const phi_mcp_desc *desc = &t->mcp->desc;
    phi__toolbox *box = NULL;
    for (size_t i = 0; i < t->count; i++)
        if (!phi__mtools_compare(t, &t->definitions[i])) return false;
    if (phi__toolbox_new(t->mcp, t->definitions, t->count, phi__mtools_marks(t), &t->functions,
                         phi__mtools_warn, t, &box) != PHI_OK)
        return false;
    phi__mtools_install(t, box);
    /* A list is complete: tools that it lacks are forgotten, the oldest first, beyond `most`
       tools and most_bytes. */
    phi__known *known = &t->known;
    size_t most = (size_t)desc->max_list * 2;
    size_t most_bytes = phi__mul(desc->max_message_bytes, 2);
    while ((known->count > most || known->bytes > most_bytes) && known->tools.first != NULL) {
        phi__known_tool *oldest = PHI__OWNER(known->tools.first, phi__known_tool, link);
        if (oldest->round == known->round) break;
        phi__known_drop(known, oldest);
    }
    known->round++;
    return true;
}

/* When the list is too old, by the server's own word. */
static uint64_t phi__mtools_stale_us(const phi__mcp_tools *t) {
    const phi_json *tools = phi_json_get(t->mcp->agreed.capabilities, "tools");
    uint64_t ttl_ms = t->pages.ttl_ms;
    if (!t->pages.has_ttl) return UINT64_MAX;
    if (ttl_ms == 0 && phi__records_get_bool(tools, "listChanged")) return UINT64_MAX;
    if (ttl_ms < PHI__MCP_TOOLS_TTL_MS) ttl_ms = PHI__MCP_TOOLS_TTL_MS;
    return ttl_ms > UINT64_MAX / 2000 ? UINT64_MAX : t->listed_us + ttl_ms * 1000;
}

static void phi__mtools_settle(phi__mcp_tools *t) {
    if (!t->holds) return;
    t->holds = false;
    phi__mcp_settle(t->mcp);
}

static void phi__mtools_later(phi__mcp_tools *t) {
    uint64_t at_us = t->listed_us + (uint64_t)PHI__MCP_TOOLS_PAUSE_MS * 1000;
    uint64_t now_us = phi__io_now_us(t->mcp->rt->io);
    if (t->timer.place != 0) return;
    if (at_us < now_us || t->now == NULL) at_us = now_us;
    (void)phi__io_timer_set(t->mcp->rt->io, &t->timer, at_us);
}

static void phi__mtools_listed(phi__pages *pages, const phi_mcp_reply *reply) {
    phi__mcp_tools *t = PHI__OWNER(pages, phi__mcp_tools, pages);
    bool lost = reply->status == PHI_NETWORK || reply->status == PHI_CANCELLED;
    phi_mcp *mcp = t->mcp;
    char words[400];
    t->listed_us = phi__io_now_us(t->mcp->rt->io);
    t->stale_us = UINT64_MAX;
    if (reply->status == PHI_OK) {
        if (pages->cut) phi__mtools_say(t, "its list of tools is too long, the rest is left out");
        if (phi__mtools_build(t))
            t->stale_us = phi__mtools_stale_us(t);
        else
            phi__mtools_say(t, "its list of tools found no memory");
    } else if (!lost) {
        (void)snprintf(words, sizeof words, "tools/list: %.*s",
                       (int)phi__min(reply->message.len, 300), reply->message.at);
        phi__mtools_say(t, words);
    }
    bool again = t->again && !lost;
    phi__mtools_drop_list(t);
    t->again = false;
    if (again) phi__mtools_later(t);
    if (reply->status == PHI_CANCELLED) return;               /* it goes */
    if (phi__news_tell(mcp, &t->news)) phi__mtools_settle(t); /* which reports it, too */
}

static phi_status phi__mtools_list(phi__mcp_tools *t) {
    if (t->listing) {
        t->again = true;
        return PHI_OK;
    }
    phi__io_timer_clear(t->mcp->rt->io, &t->timer);
    t->listing = true;
    t->pages.mcp = t->mcp;
    t->pages.method = "tools/list";
    t->pages.key = "tools";
    t->pages.item = phi__mtools_item;
    t->pages.done = phi__mtools_listed;
    phi_status status = phi__pages_begin(&t->pages);
    if (status != PHI_OK) phi__mtools_drop_list(t);
    return status;
}

static void phi__mtools_fire(phi__timer *timer) {
    phi__mcp_tools *t = PHI__OWNER(timer, phi__mcp_tools, timer);
    if (phi_mcp_get_info(t->mcp).state == PHI_MCP_READY) (void)phi__mtools_list(t);
}

/* ---- the source ---- */

static uint64_t phi__mtools_version(void *user_data) {
    phi__mcp_tools *t = (phi__mcp_tools *)user_data;
    if (t->stale_us != UINT64_MAX && phi__io_now_us(t->mcp->rt->io) >= t->stale_us) {
        t->stale_us = UINT64_MAX;
        phi__mtools_later(t);
    }
    return t->version;
}

static phi_status phi__mtools_take(void *user_data, const phi_tool **tools, size_t *count) {
    phi__mcp_tools *t = (phi__mcp_tools *)user_data;
    if (t->now == NULL && phi__toolbox_new(t->mcp, NULL, 0, false, &t->functions, phi__mtools_warn,
                                           t, &t->now) != PHI_OK)
        return PHI_NO_MEMORY;
    t->now->users++;
    t->users++;
    *tools = t->now->tools;
    *count = t->now->count;
    return PHI_OK;
}

static void phi__mtools_release(void *user_data, const phi_tool *tools) {
    phi__mcp_tools *t = (phi__mcp_tools *)user_data;
    t->users--;
    if (t->now != NULL && t->now->tools == tools) {
        phi__mtools_leave(t, t->now);
        return;
    }
    for (phi__link *link = t->old.first; link != NULL; link = link->next) {
        phi__toolbox *box = PHI__OWNER(link, phi__toolbox, link);
        if (box->tools != tools) continue;
        phi__mtools_leave(t, box);
        return;
    }
}

/* ---- the part ---- */

static void phi__mtools_ready(phi_mcp *mcp, void *part) {
    phi__mcp_tools *t = (phi__mcp_tools *)part;
    t->again = false;
    if (phi_json_get(mcp->agreed.capabilities, "tools") == NULL) {
        t->count = 0;
        if (t->now != NULL) (void)phi__mtools_build(t);
        (void)phi__news_tell(mcp, &t->news);
        return;
    }
    phi__mcp_hold(mcp);
    t->holds = true;
    if (phi__mtools_list(t) != PHI_OK) phi__mtools_settle(t);
}

static void phi__mtools_down(phi_mcp *mcp, void *part) {
    phi__mcp_tools *t = (phi__mcp_tools *)part;
    (void)mcp;
    t->holds = false;
    t->stale_us = UINT64_MAX;
    phi__io_timer_clear(t->mcp->rt->io, &t->timer);
    phi__mtools_drop_list(t);
}

static bool phi__mtools_notified(phi_mcp *mcp, void *part, phi_str method, const phi_json *params) {
    phi__mcp_tools *t = (phi__mcp_tools *)part;
    (void)mcp, (void)params;
    if (!phi__str_is(method, "notifications/tools/list_changed")) return false;
    t->again = t->again || t->listing;
    if (!t->listing) phi__mtools_later(t);
    return true;
}

static bool phi__mtools_held(const phi_mcp *mcp, const void *part) {
    (void)mcp;
    return ((const phi__mcp_tools *)part)->users > 0;
}

static void phi__mtools_free(phi_mcp *mcp, void *part) {
    phi__mcp_tools *t = (phi__mcp_tools *)part;
    phi__io_timer_clear(t->mcp->rt->io, &t->timer);
    phi__mtools_drop_list(t);
    while (t->old.first != NULL) {
        phi__toolbox *box = PHI__OWNER(t->old.first, phi__toolbox, link);
        phi__list_take(&t->old, &box->link);
        phi__toolbox_free(mcp, box);
    }
    if (t->now != NULL) phi__toolbox_free(mcp, t->now);
    phi__known *known = &t->known;
    while (known->tools.first != NULL)
        phi__known_drop(known, PHI__OWNER(known->tools.first, phi__known_tool, link));
    phi__map_free(&known->map);
    phi__news *news = &t->news;
    phi__news_item *item;
    while ((item = phi__news_take(news)) != NULL) phi__free(&mcp->memory, item, item->bytes);
    phi__free(&mcp->memory, t, sizeof *t);
}

static const phi__mcp_part *phi__mtools_table(void) {
    static const phi__mcp_part table = {
        phi__mtools_ready, phi__mtools_down, phi__mtools_notified, NULL, NULL, NULL,
        phi__mtools_held,  phi__mtools_free};
    return &table;
}

PHI__FN phi_status phi__mtools_join(phi_mcp *mcp) {
    phi_memory *memory = &mcp->memory;
    phi__mcp_tools *t = (phi__mcp_tools *)phi__alloc(memory, sizeof *t);
    if (t == NULL) return PHI_NO_MEMORY;
    t->mcp = mcp;
    t->version = 1;
    t->stale_us = UINT64_MAX;
    t->timer.fire = phi__mtools_fire;
    t->source.user_data = t;
    t->source.version = phi__mtools_version;
    t->source.take = phi__mtools_take;
    t->source.release = phi__mtools_release;
    /* Sets the functions of a phi_tool whose user_data is a phi__mcp_tool. */
    phi_tool *tool = &t->functions;
    tool->start = phi__calls_start;
    tool->cancel = phi__calls_cancel;
    tool->resume = phi__calls_resume;
    phi_arena_init(&t->arena, memory, 0);
    phi__map_init(&t->names, memory);
    memset(&t->known, 0, sizeof t->known);
    t->known.memory = memory;
    t->known.round = 1;
    phi__map_init(&t->known.map, memory);
    phi__mcp_join(mcp, phi__mtools_table(), t);
    return PHI_OK;
}

/* ---- public ---- */

PHI_API const phi_tool_source *phi_mcp_tools(phi_mcp *mcp) {
    return mcp != NULL ? &phi__mtools_of(mcp)->source : NULL;
}

static size_t phi__mtools_count(const phi__mcp_tools *t) {
    return t != NULL && t->now != NULL ? t->now->count : 0;
}

PHI_API const phi_mcp_tool *phi_mcp_tool_at(const phi_mcp *mcp, size_t index) {
    const phi__mcp_tools *t = mcp != NULL ? phi__mtools_of(mcp) : NULL;
    if (index >= phi__mtools_count(t)) return NULL;
    phi_mcp_tool *shown = &t->now->items[index].shown;
    const phi__known_tool *known = shown->held ? phi__known_find(&t->known, shown->original) : NULL;
    shown->new_hash = known != NULL ? known->waiting_hash : NULL;
    return shown;
}

static void phi__mtools_quiet(void *ctx, phi_str original, const char *message) {
    (void)ctx, (void)original, (void)message;
}

/* The list as it is, with one definition that was accepted. */
static phi_status phi__mtools_again(phi__mcp_tools *t, phi_str accepted) {
    phi_memory *memory = &t->mcp->memory;
    size_t count = t->now->count;
    size_t bytes = count * sizeof(phi__definition);
    phi__definition *all = (phi__definition *)phi__alloc(memory, bytes);
    phi__toolbox *box = NULL;
    if (all == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const phi__mcp_tool *item = &t->now->items[i];
        const phi__known_tool *known = phi__known_find(&t->known, item->shown.original);
        bool this_one = phi_str_equal(item->shown.original, accepted);
        all[i].original = item->shown.original;
        all[i].definition = this_one && known != NULL ? known->waiting : item->definition;
        all[i].held = item->shown.held && !this_one;
    }
    phi_status status = phi__toolbox_new(t->mcp, all, count, phi__mtools_marks(t), &t->functions,
                                         phi__mtools_quiet, t, &box);
    phi__free(memory, all, bytes);
    if (status == PHI_OK) phi__mtools_install(t, box);
    return status;
}

PHI_API phi_status phi_mcp_accept_tool(phi_mcp *mcp, const char *name) {
    phi__mcp_tools *t = mcp != NULL ? phi__mtools_of(mcp) : NULL;
    size_t count = phi__mtools_count(t);
    for (size_t i = 0; name != NULL && i < count; i++) {
        const phi_mcp_tool *shown = &t->now->items[i].shown;
        if (!phi__str_is(shown->name, name)) continue;
        phi__known_tool *known = shown->held ? phi__known_find(&t->known, shown->original) : NULL;
        if (known == NULL) return PHI_OK;
        phi_status status = phi__mtools_again(t, known->name);
        if (status == PHI_OK) phi__known_accept(&t->known, known);
        return status;
    }
    return PHI_NOT_FOUND;
}
