/* mcp_tools.c - the tools of a connection. It lists them when the connection is ready and when they
   change, compares them with earlier definitions, and hands them to agents.

   The host's event function is called last because it may free the connection. */
#include "mcp/mcp_requests_in.h"

#include "mcp/mcp_content_in.h"
#include "mcp/mcp_headers_in.h"
#include "mcp/mcp_pages_in.h"
#include "mcp/mcp_tools.h"
#include "tools/tools_in.h"

#include <stdio.h>

/* A tool of the server, and the user_data of the phi_tool that is made from it. */
typedef struct phi__mcp_tool {
    phi_mcp *mcp;
    phi_mcp_tool shown;
    phi_str definition;     /* the JSON text that was hashed */
    const phi_json *output; /* output schema; NULL if results cannot be checked */
    const phi_json *marked; /* input schema with marks for headers, or NULL */
    bool task;              /* protocol 2025-11-25: a call must ask for a task */
    char hash[65];
} phi__mcp_tool;

/* A definition from which one tool of a box is made. */
typedef struct phi__definition {
    phi_str original;
    phi_str definition;
    bool held; /* definition is the accepted older one; a newer one is not accepted yet */
} phi__definition;

/* One list of tools. After the list is made, only shown.new_hash can change. The last user frees
   the list. */
typedef struct phi__toolbox {
    phi__link link;
    phi_arena arena;
    phi_tool *tools; /* tools and items have count entries each */
    phi__mcp_tool *items;
    size_t count;
    uint64_t version;
    size_t users; /* number of agents, plus 1 for the connection itself */
} phi__toolbox;

typedef struct phi__known_tool {
    phi__link link; /* ordered by the last list that had the tool */
    phi_str name;   /* the server's name for the tool */
    phi_str definition;
    phi_str waiting; /* a new definition that is not accepted yet, or empty */
    char waiting_hash[65];
    uint32_t round; /* round of the last list that had the tool */
} phi__known_tool;

typedef struct phi__known {
    phi_memory *memory;
    phi__map map;
    phi__list tools;
    size_t count, bytes; /* bytes: length of all texts */
    uint32_t round;
} phi__known;

/* ---- known definitions, by which a later change of a tool is noticed ---- */

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

/* Records a tool of the current list. If the new definition differs from the accepted one and was
   not reported yet, sets *before to the accepted one, else to an empty text. *before is valid until
   the new definition is accepted. NULL: no memory. */
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

/* Accepts the waiting definition in place of the earlier one. */
static void phi__known_accept(phi__known *known, phi__known_tool *tool) {
    if (tool->waiting.at == NULL) return;
    phi__known_drop_text(known, &tool->definition);
    tool->definition = tool->waiting;
    tool->waiting = phi__str(NULL, 0);
}

/* ---- events, kept until the host may be called; the host may free the connection then ---- */

typedef struct phi__news {
    phi__list list;
    size_t count, hidden; /* hidden: events beyond PHI__NEWS_MOST */
} phi__news;

enum { PHI__NEWS_MOST = 256 }; /* events that are kept; a hostile list has thousands of faults */

/* The item's strings follow it in memory. */
typedef struct phi__news_item {
    phi__link link;
    size_t bytes;
    phi_mcp_event_kind kind;
    phi_str name, before, text;
} phi__news_item;

/* Keeps a copy of an event. The event is lost if there is no memory. */
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
    item->name = phi__mcp_put(&at, name);
    item->before = phi__mcp_put(&at, before);
    item->text = phi__mcp_put(&at, text);
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

/* Reports all events. False: the host freed the connection, and `news` with it. */
static bool phi__news_tell(phi_mcp *mcp, phi__news *news) {
    phi__news_item *item;
    size_t hidden = news->hidden;
    char words[80];
    phi_str none = phi__str("", 0);
    news->hidden = 0;
    while ((item = phi__news_take(news)) != NULL) {
        bool alive = phi__mcp_tell(mcp, item->kind, item->name, item->before, item->text);
        /* mcp->memory is still valid: the session frees itself after this function returns */
        phi__free(&mcp->memory, item, item->bytes);
        if (!alive) return false;
    }
    if (hidden == 0) return true;
    (void)snprintf(words, sizeof words, "%lu more events of its lists were left out",
                   (unsigned long)hidden);
    return phi__mcp_tell(mcp, PHI_MCP_EV_WARNING, none, none, phi_str_of(words));
}

/* ---- calls of a server's tools: each sends a request whose answer becomes the result ---- */

/* A call ends once: it gets a result, is cancelled, is finished by other code, or is freed with its
   agent. A request to the server that is still open is then cancelled. A call waits while the
   connection is being opened again. */

enum { PHI__CALLS_WAIT_MS = 50 }; /* pause between two looks at a connection that is opening */

typedef struct phi__mcp_call {
    phi_call call;
    const phi__mcp_tool *tool;
    phi_memory *memory; /* the agent's memory */
    phi__req *request;
    phi__timer timer; /* runs while the call waits for a connection */
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

/* Fails the call with a message such as "MCP call failed: JSON-RPC error -32602: unknown tool".
   code is 0 if the server sent no error. */
static void phi__calls_fail(phi__mcp_call *c, phi_status status, int code, phi_str message) {
    phi__buf words = phi__buf_of(c->memory);
    phi__buf_text(&words, "MCP call failed: ");
    if (code != 0) phi__buf_printf(&words, "JSON-RPC error %d: ", code);
    phi__buf_add_str(&words, message);
    bool memory = status != PHI_NO_MEMORY && !words.failed;
    phi__calls_fail_str(c, memory ? phi__buf_str(&words) : PHI__LIT("Out of memory"));
    phi__buf_free(&words);
}

typedef struct phi__outcome {
    phi_arena arena;
    phi_content *content;
    size_t count;
    phi__buf details; /* terminated text, or empty */
    bool is_error;
} phi__outcome;

/* Replaces the content by one text, which the caller sets. NULL: no memory. */
static phi_str *phi__calls_one(phi__outcome *out) {
    phi_content *content = (phi_content *)phi__arena_zero(&out->arena, sizeof *content);
    if (content == NULL) return NULL;
    content->kind = PHI_CONTENT_TEXT;
    out->content = content;
    out->count = 1;
    return &content->text;
}

/* Turns a result that violates the output schema into an error, because models rely on the schema.
   False: no memory. */
static bool phi__calls_check(const phi__mcp_call *c, const phi_json *structured,
                             phi__outcome *out) {
    phi_schema_error error;
    if (c->tool->output == NULL || out->is_error) return true;
    if (structured == NULL)
        (void)snprintf(error.message, sizeof error.message,
                       "the tool promises structured content, and there is none");
    else {
        phi_status status = phi__schema_check(out->arena.memory, c->tool->output, structured,
                                              "structuredContent", &error);
        if (status != PHI_PARSE) return true; /* the content fits, or cannot be checked */
    }
    phi__buf words = phi__buf_of(out->arena.memory);
    phi__buf_text(&words, "MCP call failed: the result does not fit the tool's output schema: ");
    phi__buf_text(&words, error.message);
    phi_str *text = phi__calls_one(out), none;
    out->is_error = true;
    return phi__mcp_keep(&words, &out->arena, text != NULL ? text : &none) && text != NULL;
}

/* Writes {"structuredContent":...,"_meta":...} for the host. False: no memory. */
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

/* Joins the texts of an error by line breaks. Images follow the joined text. False: no memory. */
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

/* Reports the server's message, or else a text like "3 of 10". */
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
    if (c->tool->marked != NULL && !params.failed) { /* some arguments are repeated in headers */
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

/* Sends the call, waits for the connection, or fails the call. */
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

/* Checks the arguments as the loop does for other tools. Models write null for an optional
   property, so such a null counts as absent. False: `words` holds the message. */
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
    return PHI_PENDING; /* the call may already have its result */
}

static void phi__calls_cancel(void *user_data, phi_call call) {
    phi__mcp_call *c = (phi__mcp_call *)phi_call_state(call, 0);
    (void)user_data;
    if (c != NULL) phi__calls_end(c);
}

/* After a snapshot was loaded, repeats the call if the tool is idempotent; otherwise fails it. */
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
    PHI__MCP_TOOLS_PAUSE_MS = 200, /* least pause between lists: a server may report many changes */
    PHI__MCP_TOOLS_TTL_MS = 5000   /* least age of a list before it is fetched again */
};

typedef struct phi__mcp_tools {
    phi_mcp *mcp;
    phi_tool_source source;
    phi_tool functions;
    phi__toolbox *now; /* the current list, or NULL */
    phi__list old;     /* earlier boxes that agents still use */
    size_t users;      /* calls of `take` that were not released */
    uint64_t version;
    phi__known known;
    phi__news news;
    phi__pages pages;
    phi_arena arena; /* memory of the definitions */
    phi__definition *definitions;
    size_t count, cap;
    phi__map names; /* finds definitions by name; a value is an index + 1 */
    bool listing, again, holds;
    phi__timer timer; /* starts the next list */
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

static void phi__mtools_warn(phi__mcp_tools *t, phi_str original, const char *message) {
    char words[500];
    (void)snprintf(words, sizeof words, "tool \"%.*s\" is left out: %s",
                   (int)phi__min(original.len, 80), original.at, message);
    phi__mtools_say(t, words);
}

/* ---- makes a box of tools from definitions ---- */

enum {
    PHI__TOOLBOX_LABEL = 200,        /* max. bytes of a title */
    PHI__TOOLBOX_DESCRIPTION = 16384 /* max. bytes of a description */
};

typedef struct phi__toolbox_maker {
    phi__mcp_tools *t;
    phi__toolbox *box;
    phi__tool_names names;
    bool quiet;      /* tools that are left out are not reported */
    bool structured; /* the protocol era has output schemas */
    bool no_memory;
    char message[300]; /* tells why a tool is left out */
} phi__toolbox_maker;

/* Writes the text by which definitions are compared: name, title, description, schemas, annotations
   and execution. The text is in the arena. False: no memory. */
static bool phi__toolbox_define(const phi_json *tool, phi_arena *arena, phi_str *out) {
    static const char *const keys[] = {"name",         "title",       "description", "inputSchema",
                                       "outputSchema", "annotations", "execution"};
    phi__buf text = phi__buf_of(arena->memory);
    phi__buf_char(&text, '{');
    for (size_t i = 0; i < PHI__COUNT(keys); i++) {
        const phi_json *value = phi_json_get(tool, keys[i]);
        if (value == NULL) continue;
        phi__json_write_key(&text, phi_str_of(keys[i]));
        if (phi__json_write(&text, value, 0) != PHI_OK) text.failed = true;
    }
    phi__buf_char(&text, '}');
    return phi__mcp_keep(&text, arena, out);
}

/* True if people cannot see the character or if it reverses the text direction: controls,
   zero-width characters, direction marks and tags. `at` starts a valid sequence of len bytes. */
static bool phi__toolbox_unseen(const char *at, size_t len) {
    unsigned char a = (unsigned char)at[0];
    if (len == 1) return a < 0x20 || a == 0x7f;
    unsigned char b = (unsigned char)at[1];
    if (len == 2) return (a == 0xc2 && b < 0xa0) || (a == 0xd8 && b == 0x9c);
    unsigned char c = (unsigned char)at[2];
    if (len == 4) return a == 0xf3 && b == 0xa0;
    if (a == 0xef) return b == 0xbb && c == 0xbf;
    if (a != 0xe2) return false;
    return (b == 0x80 && ((c >= 0x8b && c <= 0x8f) || (c >= 0xa8 && c <= 0xae))) ||
           (b == 0x81 && c >= 0xa0 && c <= 0xaf);
}

/* Copies a text for the model: cut to the limit, with zero bytes replaced by spaces. */
static bool phi__toolbox_text(phi__toolbox_maker *m, phi_str from, phi_str *out) {
    size_t len = phi__utf8_cut(from, PHI__TOOLBOX_DESCRIPTION);
    char *text = phi__arena_bytes(&m->box->arena, len + 1);
    if (text == NULL) return false;
    for (size_t i = 0; i < len; i++) text[i] = from.at[i] != '\0' ? from.at[i] : ' ';
    text[len] = '\0';
    *out = phi__str(text, len);
    return true;
}

static bool phi__toolbox_json(phi__toolbox_maker *m, const phi_json *node, phi_str *out) {
    return node == NULL || phi_json_write(&m->box->arena, node, 0, out) == PHI_OK;
}

/* Sets the name that models use. False: there is no memory, or no variant of the name is free and
   *left_out is true. */
static bool phi__toolbox_name(phi__toolbox_maker *m, phi__mcp_tool *item, bool *left_out) {
    const char *prefix = m->t->mcp->desc.name_prefix;
    phi_str original = item->shown.original;
    unsigned char hash[PHI__SHA256_BYTES];
    phi__tool_name name;
    phi__tool_name_begin(&name, prefix, original.at[0]);
    phi__tool_name_text(&name, original);
    phi__sha256_of(original, hash);
    phi_status status = phi__tool_name_claim(&m->names, &name, hash);
    *left_out = status == PHI_FULL;
    return status == PHI_OK &&
           phi__arena_str(&m->box->arena, phi__str(name.at, name.len), &item->shown.name);
}

static bool phi__toolbox_texts(phi__toolbox_maker *m, phi__mcp_tool *item, const phi_json *tool) {
    const phi_json *hints = phi_json_get(tool, "annotations");
    phi_str title = phi__records_get_str(tool, "title");
    phi_mcp_tool *shown = &item->shown;
    phi_str support = phi__json_text_of(phi_json_path(tool, "execution.taskSupport"));
    item->task = phi__str_is(support, "required");
    if (title.len == 0) title = phi__records_get_str(hints, "title");
    if (title.len == 0) title = shown->original;
    if (!phi_json_is(hints, PHI_JSON_OBJECT)) hints = NULL;
    shown->read_only = phi__records_get_bool(hints, "readOnlyHint");
    shown->destructive =
        !shown->read_only && phi_json_bool(phi_json_get(hints, "destructiveHint"), true);
    shown->idempotent = shown->read_only || phi__records_get_bool(hints, "idempotentHint");
    shown->open_world = phi_json_bool(phi_json_get(hints, "openWorldHint"), true);
    if (!phi__toolbox_json(m, hints, &shown->annotations)) return false;
    /* Makes a title on one line, for people. */
    char text[PHI__TOOLBOX_LABEL];
    size_t at = 0, len = 0;
    while (at < title.len) {
        size_t size = phi__json_text_utf8(title.at + at, title.at + title.len);
        if (PHI_NEVER(size == 0)) break; /* a tree has valid UTF-8 only */
        if (!phi__toolbox_unseen(title.at + at, size)) {
            if (len + size > sizeof text) break;
            memcpy(text + len, title.at + at, size);
            len += size;
        }
        at += size;
    }
    if (!phi__arena_str(&m->box->arena, phi__str(text, len), &shown->title)) return false;
    /* no character of the title is visible */
    if (shown->title.len == 0) shown->title = shown->name;
    return phi__toolbox_text(m, phi__records_get_str(tool, "description"), &shown->description);
}

/* Sets shown->input. If it equals shown->schema, both share one text. False: no memory. */
static bool phi__toolbox_input(phi__toolbox_maker *m, phi_mcp_tool *shown, const phi_json *in) {
    phi_arena_mark mark = phi_arena_save(&m->box->arena);
    if (phi_json_is(in, PHI_JSON_NULL)) return true;
    if (!phi__toolbox_json(m, in, &shown->input)) return false;
    if (!phi_str_equal(shown->input, shown->schema)) return true;
    phi_arena_reset(&m->box->arena, mark);
    shown->input = shown->schema;
    return true;
}

/* Sets the schemas. False: the tool is left out; m->message tells why unless m->no_memory. */
static bool phi__toolbox_schemas(phi__toolbox_maker *m, phi__mcp_tool *item, const phi_json *tool) {
    const phi_json *in = phi_json_get(tool, "inputSchema");
    const phi_json *result = phi_json_get(tool, "outputSchema");
    const phi_mcp *mcp = m->t->mcp;
    phi_arena *arena = &m->box->arena;
    phi_status status =
        phi__mschema_adapt(in, arena, &item->shown.schema, m->message, sizeof m->message);
    if (status == PHI_OK && !phi__toolbox_input(m, &item->shown, in)) status = PHI_NO_MEMORY;
    /* Over HTTP in the modern era, marked parameters are repeated in headers. */
    bool marks = mcp->desc.url != NULL && phi__mcp_modern(mcp);
    if (status == PHI_OK && marks && phi_json_is(in, PHI_JSON_OBJECT)) {
        if (!phi__xhead_valid(in, m->message, sizeof m->message)) return false;
        item->marked = phi_json_copy(arena, in);
        if (item->marked == NULL) status = PHI_NO_MEMORY;
    }
    if (status == PHI_OK && m->structured && phi_json_is(result, PHI_JSON_OBJECT)) {
        if (!phi__toolbox_json(m, result, &item->shown.output)) status = PHI_NO_MEMORY;
        if (item->shown.output.len <= PHI__MCP_SCHEMA_BYTES && status == PHI_OK) {
            item->output = phi_json_copy(arena, result);
            if (item->output == NULL) status = PHI_NO_MEMORY;
        }
    }
    if (status == PHI_NO_MEMORY) m->no_memory = true;
    return status == PHI_OK;
}

static void phi__toolbox_fill(phi__toolbox_maker *m, phi__mcp_tool *item, phi_tool *tool) {
    const phi_mcp_desc *desc = &m->t->mcp->desc;
    *tool = m->t->functions;
    tool->name = item->shown.name.at;
    tool->description =
        item->shown.description.len > 0 ? item->shown.description.at : "MCP tool (no description)";
    tool->schema = item->shown.schema.at;
    tool->label = item->shown.title.at;
    tool->user_data = item;
    tool->needs_approval = desc->needs_approval && !item->shown.read_only;
    tool->deferred = desc->deferred;
    tool->may_defer = !desc->never_deferred;
    tool->source = desc->name != NULL && desc->name[0] != '\0' ? desc->name : "mcp";
    tool->timeout_ms = PHI_UNLIMITED; /* requests have a deadline, and may wait for people */
    /* phi__calls_fit checks the arguments, and treats null as an absent value */
    tool->checks_arguments = true;
}

/* Adds a tool to the box unless the tool has to be left out. False: no memory. */
static bool phi__toolbox_add(phi__toolbox_maker *m, const phi__definition *from, phi_json *tool) {
    phi__toolbox *box = m->box;
    phi__mcp_tool *item = &box->items[box->count];
    unsigned char hash[PHI__SHA256_BYTES];
    bool left_out = false;
    memset(item, 0, sizeof *item);
    item->mcp = m->t->mcp;
    item->shown.held = from->held;
    item->shown.input = item->shown.output = item->shown.annotations = phi__str("", 0);
    if (!phi__arena_str(&box->arena, from->original, &item->shown.original) ||
        !phi__arena_str(&box->arena, from->definition, &item->definition))
        return false;
    phi__sha256_of(from->definition, hash);
    phi__sha256_hex(hash, item->hash);
    item->hash[PHI__SHA256_HEX] = '\0';
    item->shown.hash = item->hash;
    if (!phi__toolbox_name(m, item, &left_out)) {
        if (left_out && !m->quiet) phi__mtools_warn(m->t, from->original, "its name is taken");
        return left_out;
    }
    if (!phi__toolbox_texts(m, item, tool)) return false;
    if (!phi__toolbox_schemas(m, item, tool)) {
        if (!m->no_memory && !m->quiet) phi__mtools_warn(m->t, from->original, m->message);
        return !m->no_memory;
    }
    phi__toolbox_fill(m, item, &box->tools[box->count++]);
    return true;
}

static void phi__toolbox_free(phi_mcp *mcp, phi__toolbox *box) {
    phi_arena_free(&box->arena);
    phi__free(&mcp->memory, box, sizeof *box);
}

static bool phi__toolbox_make(phi__toolbox_maker *m, const phi__definition *from, size_t count) {
    phi__toolbox *box = m->box;
    bool fine = phi__tool_name_reserve(&m->names, count);
    box->tools = (phi_tool *)phi__arena_zero(&box->arena, phi__mul(count + 1, sizeof *box->tools));
    box->items =
        (phi__mcp_tool *)phi__arena_zero(&box->arena, phi__mul(count + 1, sizeof *box->items));
    fine = fine && box->tools != NULL && box->items != NULL;
    for (size_t i = 0; fine && i < count; i++) {
        phi__tool_name name;
        phi__tool_name_begin(&name, m->t->mcp->desc.name_prefix, from[i].original.at[0]);
        phi__tool_name_text(&name, from[i].original);
        fine = phi__tool_name_count(&m->names, &name);
    }
    for (size_t i = 0; fine && i < count; i++) {
        phi_arena scratch = phi__arena_of(box->arena.memory, 0);
        phi_json *tool = NULL;
        fine = phi_json_parse(&scratch, from[i].definition, 0, &tool, NULL) == PHI_OK &&
               phi__toolbox_add(m, &from[i], tool);
        phi_arena_free(&scratch);
    }
    return fine;
}

/* Makes a box with one user. NULL: no memory. */
static phi__toolbox *phi__toolbox_new(phi__mcp_tools *t, const phi__definition *from, size_t count,
                                      bool quiet) {
    const phi__era *era = t->mcp->agreed.era;
    phi_memory *memory = &t->mcp->memory;
    phi__toolbox_maker m = PHI_ZERO;
    m.t = t;
    m.quiet = quiet;
    m.structured = era != NULL && era->structured;
    m.box = (phi__toolbox *)phi__alloc(memory, sizeof *m.box);
    if (m.box == NULL) return NULL;
    m.box->users = 1;
    phi_arena_init(&m.box->arena, memory, 0);
    phi__tool_name_init(&m.names, memory);
    bool fine = phi__toolbox_make(&m, from, count);
    phi__tool_name_free(&m.names);
    if (fine) return m.box;
    phi__toolbox_free(t->mcp, m.box);
    return NULL;
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

/* Writes the differences as "+a -b ~c", or nothing if the lists are equal. False: no memory. */
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

/* Makes `box` the current list, or frees `box` if the current list is equal. */
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

/* ---- the pages of a list arrive ---- */

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

/* Compares a definition with the known one. If changes are held, the known definition replaces the
   new one. False: no memory. */
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
    for (size_t i = 0; i < t->count; i++)
        if (!phi__mtools_compare(t, &t->definitions[i])) return false;
    phi__toolbox *box = phi__toolbox_new(t, t->definitions, t->count, false);
    if (box == NULL) return false;
    phi__mtools_install(t, box);
    /* While there are too many tools or bytes, drop the oldest known tools that the list lacks. */
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

/* Returns the time at which the server says its list is outdated. */
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
    if (reply->status == PHI_CANCELLED) return;               /* the connection is closing */
    if (phi__news_tell(mcp, &t->news)) phi__mtools_settle(t); /* the last call may call the host */
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
    if (t->now == NULL) t->now = phi__toolbox_new(t, NULL, 0, false);
    if (t->now == NULL) return PHI_NO_MEMORY;
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

/* ---- the functions of the session's part ---- */

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
    /* The functions of every phi_tool whose user_data is a phi__mcp_tool. */
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

PHI_API phi_mcp *phi_mcp_of_source(const phi_tool_source *source) {
    if (source == NULL || source->take != phi__mtools_take) return NULL;
    return ((const phi__mcp_tools *)source->user_data)->mcp;
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

/* Installs a copy of the current list in which one new definition is accepted. */
static phi_status phi__mtools_again(phi__mcp_tools *t, phi_str accepted) {
    phi_memory *memory = &t->mcp->memory;
    size_t count = t->now->count;
    size_t bytes = count * sizeof(phi__definition);
    phi__definition *all = (phi__definition *)phi__alloc(memory, bytes);
    if (all == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const phi__mcp_tool *item = &t->now->items[i];
        const phi__known_tool *known = phi__known_find(&t->known, item->shown.original);
        bool this_one = phi_str_equal(item->shown.original, accepted);
        all[i].original = item->shown.original;
        all[i].definition = this_one && known != NULL ? known->waiting : item->definition;
        all[i].held = item->shown.held && !this_one;
    }
    phi__toolbox *box = phi__toolbox_new(t, all, count, true);
    phi__free(memory, all, bytes);
    if (box == NULL) return PHI_NO_MEMORY;
    phi__mtools_install(t, box);
    return PHI_OK;
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
