/* trace_spans.c - finds spans in entries: a run from its start to its end, a model call from the
   start of the turn to the answer, a tool call from the answer to its result.

   There are two walks. The first finds runs that a tool call began or that are inside another run,
   so that each span knows its parent. The second writes a span when its end is reached. Copies of a
   thread have runs with the same ids. Such runs are called twins, and are numbered. */
#include "base/base_in.h"
#include "model/event_parts.h"
#include "model/model_in.h"
#include "text/text_in.h"
#include "trace/trace_in.h"
#include "wire/wire_in.h"

#include <stdio.h>

/* The names of a run, from which the ids of its spans are made. */
typedef struct phi__trace_name {
    phi_str session, loop;
    uint32_t twin; /* number of earlier runs with the same ids */
} phi__trace_name;

/* The parent of a run: another run, or a tool call of another run. */
typedef struct phi__trace_link {
    phi_str child; /* loop id of the run */
    phi__trace_name above;
    phi_str call; /* the call's name within the parent run; empty: no call */
    phi_str tool; /* name of the call's tool */
} phi__trace_link;

typedef struct phi__trace_call {
    uint64_t answer; /* seq of the answer's entry */
    uint32_t block;
    bool done, spawned; /* done: the call has a result; spawned: the call began a run */
} phi__trace_call;

/* An open run. */
typedef struct phi__trace_run {
    /* the run that contains this one (only copied runs are inside others), or NULL */
    struct phi__trace_run *outer;
    uint64_t start;  /* seq of the run's LOOP_START */
    uint64_t input;  /* the first entry that is new in the next request */
    uint64_t turn;   /* seq of the turn's TURN_START */
    uint64_t prompt; /* the LOOP_START with the run's system prompt, see phi__trace_prompt_at */
    int64_t start_ms, turn_ms;
    uint32_t turn_index;
    uint32_t chats; /* answers so far in this turn */
    uint32_t twin;
    bool in_turn;
    phi__trace_call *calls; /* the calls of the run's last answer */
    size_t call_count, call_cap;
} phi__trace_run;

static const phi__entry *phi__span_entry(const phi_trace *t, uint64_t seq) {
    return phi__thread_at(t->thread, seq);
}

/* ---- ids ---- */

/* An id is the start of a SHA-256 over words, each with a zero byte after it. For a trace: "trace",
   and the session id and loop id of the topmost run. For a span: "run", "chat", "call" or
   "rewrite", session id, loop id, and the span's place within the run, because some models reuse
   the ids of calls in each turn. The same thread gives the same ids. */

static void phi__span_word(phi__sha256 *sha, phi_str word) {
    phi__sha256_add(sha, word.at, word.len);
    phi__sha256_add(sha, "", 1);
}

/* Computes the hash for an id. `call` is the span's place within the run, or empty. */
static void phi__span_hash(const char *what, const phi__trace_name *run, phi_str call,
                           unsigned char out[32]) {
    phi__sha256 sha;
    char twin[24];
    phi__sha256_begin(&sha);
    phi__span_word(&sha, phi_str_of(what));
    phi__span_word(&sha, run->session);
    phi__span_word(&sha, run->loop);
    (void)snprintf(twin, sizeof twin, "twin %u", (unsigned)run->twin);
    if (run->twin > 0) phi__span_word(&sha, phi_str_of(twin));
    if (call.len > 0) phi__span_word(&sha, call);
    phi__sha256_end(&sha, out);
}

/* ---- runs inside other runs, and twins ---- */

/* Finds the parent of a run. NULL: the run has no parent. */
static const phi__trace_link *phi__trace_link_find(const phi_trace *t, phi_str loop_id) {
    size_t probe = 0;
    const phi__trace_link *link;
    while ((link = (const phi__trace_link *)phi__map_each(&t->spans.links, phi__hash(loop_id, 0),
                                                          &probe)) != NULL)
        if (phi_str_equal(link->child, loop_id)) return link;
    return NULL;
}

/* True if the run `loop` is `child` or a descendant of it. The links have no cycles. */
static bool phi__trace_link_below(const phi_trace *t, phi_str loop, phi_str child) {
    while (!phi_str_equal(loop, child)) {
        const phi__trace_link *link = phi__trace_link_find(t, loop);
        if (link == NULL) return false;
        loop = link->above.loop;
    }
    return true;
}

/* Adds a link, unless the run has one already or a cycle would result. */
static void phi__trace_link_join(phi_trace *t, phi_str child, const phi__trace_name *above,
                                 phi_str call, phi_str tool) {
    if (child.len == 0 || phi__trace_link_find(t, child) != NULL ||
        phi__trace_link_below(t, above->loop, child))
        return;
    phi__trace_link *link = (phi__trace_link *)phi__arena_zero(&t->arena, sizeof *link);
    if (link == NULL || !phi__map_room(&t->spans.links) ||
        !phi__arena_str(&t->arena, child, &link->child) ||
        !phi__arena_str(&t->arena, above->session, &link->above.session) ||
        !phi__arena_str(&t->arena, above->loop, &link->above.loop) ||
        !phi__arena_str(&t->arena, call, &link->call) ||
        !phi__arena_str(&t->arena, tool, &link->tool)) {
        t->text.failed = true;
        return;
    }
    link->above.twin = above->twin;
    phi__map_add(&t->spans.links, phi__hash(child, 0), link);
}

typedef struct phi__trace_twins {
    unsigned char ids[32]; /* a hash of the session id and loop id */
    uint32_t count;
} phi__trace_twins;

/* Returns how many runs with these ids came before in this walk, and counts this one. */
static uint32_t phi__trace_link_twin(phi_trace *t, const phi__trace_name *run) {
    unsigned char ids[32];
    phi__trace_twins *twins;
    uint64_t hash = phi__hash(run->loop, 0);
    size_t probe = 0;
    phi__span_hash("twin", run, phi__str("", 0), ids);
    while ((twins = (phi__trace_twins *)phi__map_each(&t->spans.twins, hash, &probe)) != NULL)
        if (memcmp(twins->ids, ids, sizeof ids) == 0) return twins->count++;
    twins = (phi__trace_twins *)phi__arena_zero(&t->arena, sizeof *twins);
    if (twins == NULL || !phi__map_room(&t->spans.twins)) {
        t->text.failed = true;
        return 0;
    }
    memcpy(twins->ids, ids, sizeof ids);
    twins->count = 1;
    phi__map_add(&t->spans.twins, hash, twins);
    return 0;
}

/* ---- a span as OTLP JSON, with names of the GenAI semantic conventions (1.41) ---- */

typedef enum phi__span_kind {
    PHI__TRACE_SPAN_INTERNAL = 1, /* as in opentelemetry.proto.trace.v1 */
    PHI__TRACE_SPAN_CLIENT = 3
} phi__span_kind;

static const phi_loop_info *phi__span_info(const phi_trace *t, const phi__trace_run *run) {
    static const phi_loop_info none = {{"", 0}, {"", 0}, {"", 0}, {"", 0}, PHI_CONTINUATION_INITIAL,
                                       {"", 0}, {"", 0}, {"", 0}, {"", 0}, false};
    const phi_loop_info *info = phi__span_entry(t, run->start)->of.loop;
    return info != NULL ? info : &none;
}

/* Returns the names of a run. They are valid as long as the run's first entry is not evicted. */
static phi__trace_name phi__span_run(const phi_trace *t, const phi__trace_run *run) {
    phi__trace_name name;
    name.session = phi__span_info(t, run)->session_id;
    name.loop = phi__span_entry(t, run->start)->loop_id;
    name.twin = run->twin;
    return name;
}

enum { PHI__TRACE_SPAN_CALL = 48 };

/* Writes the name of a call within its run: the answer's place in the run, and the block. */
static phi_str phi__span_call(const phi__trace_run *run, const phi__trace_call *call,
                              char out[PHI__TRACE_SPAN_CALL]) {
    (void)snprintf(out, PHI__TRACE_SPAN_CALL, "%llu.%u",
                   (unsigned long long)(call->answer - run->start), (unsigned)call->block);
    return phi_str_of(out);
}

static void phi__span_hex(phi_trace *t, const char *key, const unsigned char hash[32], size_t n) {
    char hex[64];
    phi__sha256_hex(hash, hex);
    phi__records_str(&t->text, key, phi__str(hex, 2 * n));
}

static void phi__span_id(phi_trace *t, const char *key, const char *what,
                         const phi__trace_name *run, phi_str call) {
    unsigned char hash[32];
    phi__span_hash(what, run, call, hash);
    phi__span_hex(t, key, hash, 8);
}

/* Writes the trace id of a run, which is that of the topmost run. */
static void phi__span_trace(phi_trace *t, const phi__trace_name *run) {
    unsigned char hash[32];
    const phi__trace_link *link;
    while ((link = phi__trace_link_find(t, run->loop)) != NULL) run = &link->above;
    phi__span_hash("trace", run, phi__str("", 0), hash);
    phi__span_hex(t, "traceId", hash, 16);
}

/* ---- members and attributes ---- */

static void phi__span_time(phi_trace *t, const char *key, int64_t ms) {
    static const int64_t most = INT64_C(18446744073709); /* 2^64 nanoseconds */
    char text[32];
    if (ms > most) ms = most;
    (void)snprintf(text, sizeof text, "%llu000000", (unsigned long long)(ms > 0 ? ms : 0));
    phi__records_str(&t->text, key, phi_str_of(ms > 0 ? text : "0"));
}

static void phi__span_text(phi_trace *t, const char *key, phi_str value) {
    if (value.len == 0) return;
    phi__json_write_comma(&t->text);
    phi__buf_printf(&t->text, "{\"key\":\"%s\",\"value\":{", key);
    phi__tout_whole(t, "stringValue", value);
    phi__buf_text(&t->text, "}}");
}

/* OTLP's JSON writes 64-bit numbers as strings; they are signed. */
static void phi__span_int(phi_trace *t, const char *key, uint64_t n) {
    if (n > INT64_MAX) n = INT64_MAX;
    phi__json_write_comma(&t->text);
    phi__buf_printf(&t->text, "{\"key\":\"%s\",\"value\":{\"intValue\":\"%llu\"}}", key,
                    (unsigned long long)n);
}

/* input_tokens counts the whole input, including cache reads and writes. */
static void phi__span_usage(phi_trace *t, const phi_usage *u) {
    if (u == NULL || (u->total_tokens == 0 && u->input == 0 && u->output == 0)) return;
    uint64_t input = phi__sum(u->input, phi__sum(u->cache_read, u->cache_write));
    phi__span_int(t, "gen_ai.usage.input_tokens", input);
    phi__span_int(t, "gen_ai.usage.output_tokens", u->output);
    if (u->cache_read > 0) phi__span_int(t, "gen_ai.usage.cache_read.input_tokens", u->cache_read);
    if (u->cache_write > 0)
        phi__span_int(t, "gen_ai.usage.cache_creation.input_tokens", u->cache_write);
    if (u->reasoning > 0) phi__span_int(t, "gen_ai.usage.reasoning.output_tokens", u->reasoning);
}

/* Returns the conventions' name of a provider. Other providers keep phi's name. */
static phi_str phi__span_provider(phi_str provider) {
    static const char *const names[][2] = {{"openai_responses", "openai"},
                                           {"azure_openai", "azure.ai.openai"},
                                           {"bedrock", "aws.bedrock"},
                                           {"google", "gcp.gemini"},
                                           {"gemini", "gcp.gemini"},
                                           {"vertex", "gcp.vertex_ai"},
                                           {"google_interactions", "gcp.gemini"},
                                           {"xai", "x_ai"},
                                           {"mistral", "mistral_ai"},
                                           {"moonshot", "moonshot_ai"}};
    for (size_t i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(provider, names[i][0])) return phi_str_of(names[i][1]);
    return provider;
}

/* ---- start and end of a span ---- */

/* Begins the span of a run, or (with `call`) a span whose parent is the run. */
static void phi__span_open(phi_trace *t, const char *what, const phi__trace_name *run,
                           phi_str call) {
    phi__buf_text(&t->text, t->spans.any ? ",\n{" : "\n{");
    t->spans.any = true;
    phi__span_trace(t, run);
    phi__span_id(t, "spanId", what, run, call);
    if (call.len > 0) phi__span_id(t, "parentSpanId", "run", run, phi__str("", 0));
}

static void phi__span_named(phi_trace *t, const char *operation, phi_str of, phi__span_kind kind,
                            int64_t from, int64_t to) {
    phi__buf name;
    phi__buf_init(&name, t->memory);
    phi__buf_text(&name, operation);
    if (of.len > 0) phi__buf_char(&name, ' ');
    phi__buf_add_str(&name, of);
    if (name.failed) t->text.failed = true;
    phi__tout_whole(t, "name", phi__buf_str(&name));
    phi__buf_free(&name);
    phi__records_u64(&t->text, "kind", (uint64_t)kind);
    phi__span_time(t, "startTimeUnixNano", from);
    phi__span_time(t, "endTimeUnixNano", to > from ? to : from);
    phi__records_raw(&t->text, "attributes", "[");
    phi__span_text(t, "gen_ai.operation.name", phi_str_of(operation));
}

/* Ends a span. `error` is empty if the span did not fail. `before` is the run in another trace that
   this run continues; NULL if there is none. */
static void phi__span_close(phi_trace *t, phi_str error, phi_str message,
                            const phi__trace_name *before) {
    phi__span_text(t, "error.type", error);
    phi__buf_char(&t->text, ']');
    if (before != NULL) {
        phi__records_raw(&t->text, "links", "[{");
        phi__span_trace(t, before);
        phi__span_id(t, "spanId", "run", before, phi__str("", 0));
        phi__buf_text(&t->text, "}]");
    }
    if (error.len > 0) {
        phi__records_raw(&t->text, "status", "{\"code\":2");
        phi__tout_some(t, "message", phi__tout_noted(t, message));
        phi__buf_char(&t->text, '}');
    }
    phi__buf_char(&t->text, '}');
}

/* ---- messages, if desc.with_content ---- */

static phi_str phi__span_finish(phi_stop_reason reason) {
    switch (reason) {
    case PHI_STOP_REASON_LENGTH: return phi_str_of("length");
    case PHI_STOP_REASON_TOOL_USE: return phi_str_of("tool_call");
    case PHI_STOP_REASON_ERROR:
    case PHI_STOP_REASON_ABORTED: return phi_str_of("error");
    case PHI_STOP_REASON_GUARD_RAIL: return phi_str_of("content_filter");
    default: return phi_str_of("stop");
    }
}

static void phi__span_message(phi_trace *t, phi__buf *out, const phi_message *m) {
    static const char *const roles[] = {"", "user", "assistant", "tool"};
    if (m->role > PHI_ROLE_TOOL_RESULT) return;
    phi__json_write_comma(out);
    phi__buf_char(out, '{');
    phi__records_str(out, "role", phi_str_of(roles[m->role]));
    phi__records_raw(out, "parts", "[");
    if (m->role == PHI_ROLE_TOOL_RESULT) {
        phi__buf_text(out, "{\"type\":\"tool_call_response\"");
        phi__records_str(out, "id", m->tool_call_id);
        phi__records_raw(out, "response", "[");
    }
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        phi__json_write_comma(out);
        if (c->kind == PHI_CONTENT_TOOL_CALL) {
            phi__buf_text(out, "{\"type\":\"tool_call\"");
            phi__records_str(out, "id", c->id);
            phi__records_str(out, "name", c->name);
            phi__records_str(out, "arguments", phi__tout_noted(t, c->arguments));
        } else if (c->kind == PHI_CONTENT_DOCUMENT && c->url.len > 0) {
            phi__buf_text(out, "{\"type\":\"uri\",\"modality\":\"document\"");
            phi__records_str(out, "uri", phi__tout_noted(t, c->url));
        } else if (c->kind == PHI_CONTENT_IMAGE || c->kind == PHI_CONTENT_AUDIO ||
                   (c->kind == PHI_CONTENT_DOCUMENT && c->data.len > 0)) {
            phi__buf_text(out, "{\"type\":\"blob\"");
            phi__records_str(out, "modality",
                             c->kind == PHI_CONTENT_IMAGE   ? PHI__LIT("image")
                             : c->kind == PHI_CONTENT_AUDIO ? PHI__LIT("audio")
                                                            : PHI__LIT("document"));
            phi__records_str(out, "mime_type", c->mime_type);
            phi__records_str(out, "content", phi__str("", 0)); /* the data is not in the trace */
            phi__records_u64(out, "bytes", c->data.len);
        } else {
            phi__buf_text(out, c->kind == PHI_CONTENT_THINKING ? "{\"type\":\"reasoning\""
                                                               : "{\"type\":\"text\"");
            phi__records_str(out, "content", phi__tout_noted(t, c->text));
        }
        phi__buf_char(out, '}');
    }
    phi__buf_text(out, m->role == PHI_ROLE_TOOL_RESULT ? "]}]" : "]");
    if (m->role == PHI_ROLE_ASSISTANT)
        phi__records_str(out, "finish_reason", phi__span_finish(m->stop_reason));
    phi__buf_char(out, '}');
}

/* Writes an attribute whose text is JSON. Frees the buffer. */
static void phi__span_json(phi_trace *t, const char *key, phi__buf *json) {
    if (json->failed) t->text.failed = true;
    phi__span_text(t, key, phi__buf_str(json));
    phi__buf_free(json);
}

static void phi__span_instructions(phi_trace *t, phi_str prompt) {
    phi__buf text;
    if (prompt.len == 0) return;
    phi__buf_init(&text, t->memory);
    phi__buf_text(&text, "[{\"type\":\"text\"");
    phi__records_str(&text, "content", phi__tout_noted(t, prompt));
    phi__buf_text(&text, "}]");
    phi__span_json(t, "gen_ai.system_instructions", &text);
}

/* Writes the messages that are new in a request, and the answer to it. */
static void phi__span_talk(phi_trace *t, const phi__trace_run *run, const phi__entry *end) {
    phi_str loop = phi__span_run(t, run).loop;
    phi__buf text;
    phi__buf_init(&text, t->memory);
    phi__buf_char(&text, '[');
    for (uint64_t seq = run->input; seq < end->seq; seq++) {
        const phi__entry *e = phi__span_entry(t, seq);
        if (e->kind == PHI_ENTRY_MESSAGE && phi_str_equal(e->loop_id, loop))
            phi__span_message(t, &text, e->message);
    }
    phi__buf_char(&text, ']');
    phi__span_json(t, "gen_ai.input.messages", &text);
    if (end->kind != PHI_ENTRY_MESSAGE) return;
    phi__buf_init(&text, t->memory);
    phi__buf_char(&text, '[');
    phi__span_message(t, &text, end->message);
    phi__buf_char(&text, ']');
    phi__span_json(t, "gen_ai.output.messages", &text);
}

static phi_str phi__span_ended(const phi__entry *end) {
    const phi_failure *failure = end != NULL ? end->of.failure : NULL;
    if (end == NULL) return phi_str_of("not_ended");
    if (failure != NULL && failure->kind != PHI_FAILURE_NONE)
        return phi_str_of(phi_failure_kind_text(failure->kind));
    switch ((int)end->status) {
    case PHI_OK: return phi__str("", 0);
    case PHI_CANCELLED: return phi_str_of("cancelled");
    case PHI_LIMIT: return phi_str_of("limit");
    case PHI_REJECTED: return phi_str_of("rejected");
    case PHI_TIMEOUT: return phi_str_of("timeout");
    case PHI_NO_MEMORY: return phi_str_of("no_memory");
    default: return phi_str_of("_OTHER");
    }
}

static void phi__span_of_run(phi_trace *t, const phi__trace_run *run, const phi__entry *end) {
    if (t->spans.linking) return; /* the first walk writes no spans */
    const phi_loop_info *info = phi__span_info(t, run);
    phi__trace_name name = phi__span_run(t, run);
    phi_str error = phi__span_ended(end);
    const phi__trace_link *link = phi__trace_link_find(t, name.loop);
    const phi_failure *failure = end != NULL ? end->of.failure : NULL;
    phi_str agent = link != NULL && link->tool.len > 0 ? link->tool : info->agent_id;
    phi__span_open(t, "run", &name, phi__str("", 0));
    if (link != NULL)
        phi__span_id(t, "parentSpanId", link->call.len > 0 ? "call" : "run", &link->above,
                     link->call);
    phi__span_named(t, "invoke_agent", agent, PHI__TRACE_SPAN_INTERNAL, run->start_ms,
                    end != NULL ? end->at_ms : t->spans.last_ms);
    phi__span_text(t, "gen_ai.agent.id", info->agent_id);
    phi__span_text(t, "gen_ai.agent.name", agent);
    phi__span_text(t, "gen_ai.conversation.id", info->session_id);
    phi__span_text(t, "phi.loop.id", name.loop);
    phi__span_text(t, "phi.lane", phi__lane_name(t->thread, phi__span_entry(t, run->start)->lane));
    if (end != NULL) phi__span_usage(t, end->usage);
    if (t->desc.with_content) phi__span_instructions(t, phi__trace_prompt(t, run->prompt));
    const phi__trace_name before = {info->session_id, info->parent_loop_id, 0};
    phi__span_close(t, error, failure != NULL ? failure->message : phi__str("", 0),
                    before.loop.len > 0 && link == NULL ? &before : NULL);
}

/* ---- model calls ---- */

static void phi__span_answer(phi_trace *t, const phi_message *m) {
    phi_str stop = m->raw_stop_reason.len > 0 ? m->raw_stop_reason
                                              : phi_str_of(phi__message_stop_text(m->stop_reason));
    phi__span_text(t, "gen_ai.provider.name", phi__span_provider(m->provider));
    phi__span_text(t, "gen_ai.request.model", m->model);
    phi__span_usage(t, &m->usage);
    if (stop.len == 0) return;
    phi__json_write_comma(&t->text);
    phi__buf_text(&t->text, "{\"key\":\"gen_ai.response.finish_reasons\",\"value\":"
                            "{\"arrayValue\":{\"values\":[{");
    phi__tout_whole(t, "stringValue", stop);
    phi__buf_text(&t->text, "}]}}}");
}

/* Returns why there is no answer, or only a part of one. */
static phi_str phi__span_failed(const phi__entry *end) {
    const phi_message *m = end != NULL && end->kind == PHI_ENTRY_MESSAGE ? end->message : NULL;
    if (m == NULL) {
        phi_str why =
            end != NULL && end->kind == PHI_ENTRY_LOOP_END ? phi__span_ended(end) : phi__str("", 0);
        return why.len > 0 ? why : phi_str_of("no_answer");
    }
    if (m->stop_reason == PHI_STOP_REASON_ABORTED) return phi_str_of("cancelled");
    return phi_str_of(m->stop_reason == PHI_STOP_REASON_ERROR ? "_OTHER" : "");
}

static void phi__span_of_chat(phi_trace *t, const phi__trace_run *run, const phi__entry *end) {
    if (t->spans.linking) return;
    const phi_message *m = end != NULL && end->kind == PHI_ENTRY_MESSAGE ? end->message : NULL;
    phi__trace_name name = phi__span_run(t, run);
    phi_str error = phi__span_failed(end);
    char turn[48];
    (void)snprintf(turn, sizeof turn, "%llu.%u",
                   (unsigned long long)(run->turn > 0 ? run->turn - run->start : 0),
                   (unsigned)run->chats);
    phi__span_open(t, "chat", &name, phi_str_of(turn));
    phi__span_named(t, "chat", m != NULL ? m->model : phi__str("", 0), PHI__TRACE_SPAN_CLIENT,
                    run->in_turn ? run->turn_ms : run->start_ms,
                    end != NULL ? end->at_ms : t->spans.last_ms);
    phi__span_text(t, "gen_ai.conversation.id", name.session);
    phi__span_int(t, "phi.turn", run->turn_index);
    if (m != NULL) phi__span_answer(t, m);
    if (t->desc.with_content && end != NULL) phi__span_talk(t, run, end);
    phi__span_close(t, error, m != NULL ? m->error_message : phi__str("", 0), NULL);
}

/* ---- tool calls ---- */

static void phi__span_of_call(phi_trace *t, const phi__trace_run *run, const phi__trace_call *call,
                              const phi__entry *end) {
    if (t->spans.linking) return;
    const phi__entry *answer = phi__span_entry(t, call->answer);
    const phi_content *c = &answer->message->content[call->block];
    phi__trace_name name = phi__span_run(t, run);
    const phi_message *m = end != NULL ? end->message : NULL;
    phi_str error = {"", 0};
    int64_t done_ms = answer->at_ms;
    bool failed = false;
    char place[PHI__TRACE_SPAN_CALL];
    if (m == NULL) error = PHI__LIT("no_result");
    if (m != NULL && m->is_error) error = PHI__LIT("tool_error");
    /* The log has the results of parallel calls together, in the order of the calls. */
    if (m != NULL) done_ms = m->timestamp_ms > 0 ? m->timestamp_ms : end->at_ms;
    phi__span_open(t, "call", &name, phi__span_call(run, call, place));
    phi__span_named(t, "execute_tool", c->name, PHI__TRACE_SPAN_INTERNAL, answer->at_ms, done_ms);
    phi__span_text(t, "gen_ai.tool.name", c->name);
    phi__span_text(t, "gen_ai.tool.call.id", c->id);
    phi__span_text(t, "gen_ai.tool.type", phi_str_of("function"));
    phi__span_text(t, "gen_ai.conversation.id", name.session);
    if (t->desc.with_content) {
        phi__span_text(t, "gen_ai.tool.call.arguments", phi__tout_noted(t, c->arguments));
        phi_str text =
            m != NULL ? phi_message_text(m, "\n", &t->scratch, &failed) : phi__str("", 0);
        if (failed) t->text.failed = true;
        phi__span_text(t, "gen_ai.tool.call.result", phi__tout_noted(t, text));
    }
    phi__span_close(t, error, phi__str("", 0), NULL);
}

static void phi__span_of_rewrite(phi_trace *t, const phi__trace_run *run, const phi__entry *e) {
    if (t->spans.linking) return;
    const phi_rewrite *r = &e->of.op->rewrite;
    phi__trace_name name = phi__span_run(t, run);
    char place[24];
    (void)snprintf(place, sizeof place, "%llu", (unsigned long long)(e->seq - run->start));
    phi__span_open(t, "rewrite", &name, phi_str_of(place));
    phi__span_named(t, "rewrite", phi_str_of(phi__entry_reason_word(r->reason)),
                    PHI__TRACE_SPAN_INTERNAL, e->at_ms, e->at_ms);
    phi__span_text(t, "gen_ai.conversation.id", name.session);
    phi__span_int(t, "phi.rewrite.spans", r->span_count);
    if (r->written != NULL) {
        phi__span_text(t, "gen_ai.request.model", phi_str_of(r->written->model));
        phi__span_usage(t, &r->written->usage);
    }
    phi__span_close(t, phi__str("", 0), phi__str("", 0), NULL);
}

PHI__FN void phi__span_head(phi_trace *t) {
    phi__buf_text(&t->text, "{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
    phi__span_text(
        t, "service.name",
        phi_str_of(t->desc.title != NULL && t->desc.title[0] != '\0' ? t->desc.title : "phi"));
    phi__buf_text(&t->text,
                  "]},\"scopeSpans\":[{\"scope\":{\"name\":\"phi\",\"version\":\"" PHI_VERSION
                  "\"},\"spans\":[");
}

/* ---- the walk over entries ---- */

enum { PHI__TRACE_SPANS_DEEP = 64 /* max. nested runs; deeper runs get no span */ };

/* ---- runs ---- */

static phi__trace_run *phi__spans_run(const phi_trace *t, phi_str loop_id) {
    phi__trace_run *run = t->spans.run;
    while (run != NULL && !phi_str_equal(phi__span_entry(t, run->start)->loop_id, loop_id))
        run = run->outer;
    return run;
}

static void phi__spans_pop(phi_trace *t) {
    phi__trace_run *run = t->spans.run;
    t->spans.run = run->outer;
    phi__free(t->memory, run->calls, run->call_cap * sizeof *run->calls);
    phi__free(t->memory, run, sizeof *run);
}

static void phi__spans_calls_over(phi_trace *t, phi__trace_run *run) {
    for (size_t i = 0; i < run->call_count; i++)
        if (!run->calls[i].done) phi__span_of_call(t, run, &run->calls[i], NULL);
    run->call_count = 0;
}

/* Ends the innermost run. If `end` is NULL, the end of the run is not in the log. */
static void phi__spans_over(phi_trace *t, const phi__entry *end) {
    phi__trace_run *run = t->spans.run;
    phi__spans_calls_over(t, run);
    if (run->in_turn && run->chats == 0) phi__span_of_chat(t, run, end);
    phi__span_of_run(t, run, end);
    phi__spans_pop(t);
}

static void phi__spans_begin(phi_trace *t, const phi__entry *e) {
    size_t deep = 0;
    /* If the new run is no copy, the open runs died with their process, so they end here. */
    while ((e->flags & PHI_ENTRY_GRAFTED) == 0 && t->spans.run != NULL) phi__spans_over(t, NULL);
    for (phi__trace_run *r = t->spans.run; r != NULL; r = r->outer) deep++;
    if (deep >= PHI__TRACE_SPANS_DEEP) return;
    phi__trace_run *run = (phi__trace_run *)phi__alloc(t->memory, sizeof *run);
    if (run == NULL) {
        t->text.failed = true;
        return;
    }
    run->outer = t->spans.run;
    run->start = e->seq;
    run->input = e->seq + 1;
    run->start_ms = e->at_ms;
    run->prompt = phi__trace_prompt_at(t, e);
    t->spans.run = run;
    phi__trace_name name = phi__span_run(t, run);
    run->twin = phi__trace_link_twin(t, &name);
    if (!t->spans.linking || run->outer == NULL) return;
    name = phi__span_run(t, run->outer);
    phi__trace_link_join(t, e->loop_id, &name, phi__str("", 0), phi__str("", 0));
}

/* ---- entries of a run ---- */

static void phi__spans_answer(phi_trace *t, phi__trace_run *run, const phi__entry *e) {
    const phi_message *m = e->message;
    phi__spans_calls_over(t, run);
    phi__span_of_chat(t, run, e);
    run->chats++;
    run->input = e->seq + 1;
    if (run->call_cap < m->content_count) { /* the list is empty */
        void *grown =
            phi__grow(t->memory, run->calls, &run->call_cap, m->content_count, sizeof *run->calls);
        if (grown == NULL) {
            t->text.failed = true;
            return;
        }
        run->calls = (phi__trace_call *)grown;
    }
    for (size_t i = 0; i < m->content_count && i < UINT32_MAX; i++) {
        phi__trace_call *call = &run->calls[run->call_count];
        if (m->content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
        memset(call, 0, sizeof *call);
        call->answer = e->seq;
        call->block = (uint32_t)i;
        run->call_count++;
    }
}

static const phi_content *phi__spans_block(const phi_trace *t, const phi__trace_call *call) {
    return &phi__span_entry(t, call->answer)->message->content[call->block];
}

static void phi__spans_result(phi_trace *t, phi__trace_run *run, const phi__entry *e) {
    for (size_t i = 0; i < run->call_count; i++) {
        phi__trace_call *call = &run->calls[i];
        if (call->done || !phi_str_equal(phi__spans_block(t, call)->id, e->message->tool_call_id))
            continue;
        call->done = true;
        phi__span_of_call(t, run, call, e);
        return;
    }
}

static void phi__spans_spawn(phi_trace *t, phi__trace_run *run, const phi__entry *e) {
    phi_str tool = {"", 0}, call = {"", 0}, id = e->of.spawn->tool_call_id;
    phi__trace_name above = phi__span_run(t, run);
    char name[PHI__TRACE_SPAN_CALL];
    if (!t->spans.linking) return;
    for (size_t i = 0; i < run->call_count; i++) {
        const phi_content *c = phi__spans_block(t, &run->calls[i]);
        if (run->calls[i].spawned || !phi_str_equal(c->id, id)) continue;
        run->calls[i].spawned = true;
        tool = c->name;
        call = phi__span_call(run, &run->calls[i], name);
        break;
    }
    phi__trace_link_join(t, e->of.spawn->loop_id, &above, call, tool);
}

static void phi__spans_of_run(phi_trace *t, phi__trace_run *run, const phi__entry *e) {
    switch ((int)e->kind) {
    case PHI_ENTRY_LOOP_END:
        while (t->spans.run != run) phi__spans_over(t, NULL);
        phi__spans_over(t, e);
        return;
    case PHI_ENTRY_TURN_START:
        run->in_turn = true;
        run->chats = 0;
        run->turn = e->seq;
        run->turn_index = e->turn_index;
        run->turn_ms = e->at_ms;
        return;
    case PHI_ENTRY_TURN_END:
        if (run->in_turn && run->chats == 0) phi__span_of_chat(t, run, e);
        run->in_turn = false;
        return;
    case PHI_ENTRY_MESSAGE:
        if (e->message->role == PHI_ROLE_ASSISTANT)
            phi__spans_answer(t, run, e);
        else if (e->message->role == PHI_ROLE_TOOL_RESULT)
            phi__spans_result(t, run, e);
        return;
    case PHI_ENTRY_SPAWN: phi__spans_spawn(t, run, e); return;
    case PHI_ENTRY_REWRITE: phi__span_of_rewrite(t, run, e); return;
    default: return;
    }
}

PHI__FN void phi__spans_entry(phi_trace *t, const phi__entry *e) {
    if (e->at_ms > t->spans.last_ms) t->spans.last_ms = e->at_ms;
    if (e->kind == PHI_ENTRY_LOOP_START) {
        phi__spans_begin(t, e);
        return;
    }
    phi__trace_run *run = e->loop_id.len > 0 ? phi__spans_run(t, e->loop_id) : NULL;
    if (run != NULL) phi__spans_of_run(t, run, e);
}

PHI__FN void phi__spans_thread_end(phi_trace *t) {
    while (t->spans.run != NULL) phi__spans_over(t, NULL);
    t->spans.last_ms = 0;
}

PHI__FN void phi__spans_free(phi_trace *t) {
    while (t->spans.run != NULL) phi__spans_pop(t);
    phi__map_free(&t->spans.links);
    phi__map_free(&t->spans.twins);
}
