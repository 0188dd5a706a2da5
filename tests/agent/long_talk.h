/* long_talk.h - conversations whose every word can be told again from a number, a store that counts and fails on
   demand, and all that a thread can be asked, as numbers: two threads that say the same give the same ones. */
#ifndef PHI_TESTS_AGENT_LONG_TALK_H
#define PHI_TESTS_AGENT_LONG_TALK_H

#include "agent/one_shot_run.h"
#include "record/replay.h"
#include "support/rig.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "persist/store.h"
#include "log/log_in.h"

enum { TALK_MOST = 40000 }; /* bytes of a text */

/* ---- words ---- */

/* Exactly n bytes, terminated: "w<number> ", and words that follow from the number; `lines` breaks them. */
static inline const char *talk_words(char *out, size_t n, uint32_t number, bool lines) {
    static const char *const words[] = {"well ",  "gate ",   "forge ", "lantern ",
                                        "river ", "cellar ", "key ",   "bell "};
    uint32_t state = number * 2654435761u + 1;
    size_t at, line = 0;
    if (n > TALK_MOST) abort();
    at = (size_t)snprintf(out, n + 1, "w%u ", (unsigned)number);
    while (at < n) {
        const char *word = words[test_random(&state) % 8];
        size_t len = strlen(word), room = n - at;
        memcpy(out + at, word, len < room ? len : room);
        at += len < room ? len : room;
        line += len;
        if (!lines || line < 70 || at == n) continue;
        out[at - 1] = '\n';
        line = 0;
    }
    out[n] = '\0';
    return out;
}

/* Whether a text is that of a number, in its own length. */
static inline bool talk_is(phi_str text, uint32_t number, bool lines) {
    static char want[TALK_MOST + 1];
    if (text.len > TALK_MOST) return false;
    (void)talk_words(want, text.len, number, lines);
    return memcmp(want, text.at, text.len) == 0;
}

/* An answer, as an Anthropic stream without usage: a text of n bytes (0: none), and calls, each "name {arguments}";
   their ids are call_<number>_0, _1... */
static inline void talk_calls(rig *r, uint32_t number, size_t n, const char *const *calls,
                              size_t count) {
    static char text[TALK_MOST + 1], out[TALK_MOST + 8000];
    size_t at = 0, block = 0, i;
#define TALK_ADD(...) at += (size_t)snprintf(out + at, sizeof out - at, __VA_ARGS__)
    TALK_ADD("data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"m\","
             "\"content\":[],\"usage\":{\"input_tokens\":0,\"output_tokens\":0}}}\n\n");
    if (n > 0)
        TALK_ADD("data: {\"type\":\"content_block_start\",\"index\":%u,\"content_block\":{\"type\":"
                 "\"text\",\"text\":\"\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
                 "\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}\n\ndata: {\"type\":"
                 "\"content_block_stop\",\"index\":0}\n\n",
                 (unsigned)block++, talk_words(text, n, number, false));
    for (i = 0; i < count; i++, block++) {
        const char *arguments = strchr(calls[i], ' ') + 1;
        TALK_ADD("data: {\"type\":\"content_block_start\",\"index\":%u,\"content_block\":{\"type\":"
                 "\"tool_use\",\"id\":\"call_%u_%u\",\"name\":\"%.*s\",\"input\":{}}}\n\ndata: "
                 "{\"type\":\"content_block_delta\",\"index\":%u,\"delta\":{\"type\":"
                 "\"input_json_delta\",\"partial_json\":\"",
                 (unsigned)block, (unsigned)number, (unsigned)i, (int)(arguments - 1 - calls[i]),
                 calls[i], (unsigned)block);
        for (; *arguments != '\0'; arguments++)
            TALK_ADD(*arguments == '"' ? "\\%c" : "%c", *arguments);
        TALK_ADD("\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":%u}\n\n",
                 (unsigned)block);
    }
    TALK_ADD("data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"%s\"},\"usage\":{"
             "\"output_tokens\":0}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
             count > 0 ? "tool_use" : "end_turn");
#undef TALK_ADD
    rig_replies(r, 200, "Content-Type: text/event-stream\r\n", out);
}

/* A text of n bytes, and a call of "look", which answers with `bytes` bytes of the same number (0: no call). */
static inline void talk_answers(rig *r, uint32_t number, size_t n, size_t bytes) {
    char line[80];
    const char *call = line;
    (void)snprintf(line, sizeof line, "look {\"n\":%u,\"bytes\":%u}", (unsigned)number,
                   (unsigned)bytes);
    talk_calls(r, number, n, &call, bytes > 0 ? 1 : 0);
}

static inline phi_flow talk_look(void *user_data, phi_call call, phi_str arguments) {
    static char words[TALK_MOST + 1];
    char line[100];
    unsigned number = 0, bytes = 0;
    phi_content content;
    phi_tool_result result;
    (void)user_data;
    (void)snprintf(line, sizeof line, "%.*s", (int)arguments.len, arguments.at);
    CHECK_EQ_INT(sscanf(line, "{\"n\":%u,\"bytes\":%u}", &number, &bytes), 2);
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(talk_words(words, bytes, number, true));
    result.content = &content;
    result.content_count = 1;
    (void)phi_call_result(call, &result);
    return PHI_DONE;
}

static inline phi_tool talk_tool(void) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    tool.name = "look";
    tool.description = "Looks";
    tool.start = talk_look;
    return tool;
}

/* An agent that goes on for ever in a window of so many tokens. */
static inline phi_agent_desc talk_desc(const phi_tool *tools, size_t count, uint64_t window) {
    phi_agent_desc desc = rig_desc();
    desc.model.context_window = (uint32_t)window;
    desc.tools = tools;
    desc.tool_count = count;
    desc.limits.max_turns = desc.limits.max_duration_ms = PHI_UNLIMITED;
    desc.limits.max_tokens = UINT64_MAX;
    desc.tool_options.repeat_warn_after = desc.tool_options.repeat_stop_after = PHI_UNLIMITED;
    desc.compaction.system_prompt_tokens = 10;
    return desc;
}

/* ---- a store that is watched ---- */

typedef struct talk_store {
    phi_store store, inner;
    size_t reads, entries; /* calls of read, and what they gave */
    phi_status read_says;  /* in place of all reads; PHI_OK: they are done */
    size_t gives;          /* with read_says: entries that are given first */
    bool damaged;          /* entries lack their last byte */
    phi_status append_says;
    phi_status (*each)(void *ctx, uint64_t seq, phi_str entry);
    void *ctx;
    size_t given;
} talk_store;

static inline phi_status talk_each(void *user_data, uint64_t seq, phi_str entry) {
    talk_store *t = (talk_store *)user_data;
    if (t->read_says != PHI_OK && t->given == t->gives) return t->read_says;
    t->given++;
    t->entries++;
    if (t->damaged) entry.len--;
    return t->each(t->ctx, seq, entry);
}

static inline phi_status talk_read(void *user_data, const char *thread_id, uint64_t from,
                                   phi_status (*each)(void *ctx, uint64_t seq, phi_str entry),
                                   void *ctx, uint64_t *torn, char *words, size_t words_size) {
    talk_store *t = (talk_store *)user_data;
    t->reads++;
    t->each = each;
    t->ctx = ctx;
    t->given = 0;
    if (words != NULL && words_size > 0) words[0] = '\0';
    if (t->read_says != PHI_OK && t->gives == 0) return t->read_says;
    return t->inner.read(t->inner.user_data, thread_id, from, talk_each, t, torn, words,
                         words_size);
}

static inline phi_status talk_append(void *user_data, const char *thread_id, uint64_t expected,
                                     const phi_str *entries, size_t count, char *words,
                                     size_t words_size) {
    talk_store *t = (talk_store *)user_data;
    if (words != NULL && words_size > 0) words[0] = '\0';
    if (t->append_says != PHI_OK) return t->append_says;
    return t->inner.append(t->inner.user_data, thread_id, expected, entries, count, words,
                           words_size);
}

static inline phi_status talk_lock(void *user_data, const char *thread_id, char *words,
                                   size_t words_size) {
    talk_store *t = (talk_store *)user_data;
    return t->inner.lock(t->inner.user_data, thread_id, words, words_size);
}

static inline void talk_unlock(void *user_data, const char *thread_id) {
    talk_store *t = (talk_store *)user_data;
    t->inner.unlock(t->inner.user_data, thread_id);
}

/* Threads only; `t` must stay where it is. */
static inline const phi_store *talk_watch(talk_store *t, const phi_store *inner) {
    memset(t, 0, sizeof *t);
    t->inner = *inner;
    t->store.user_data = t;
    t->store.read = talk_read;
    t->store.append = talk_append;
    t->store.lock = talk_lock;
    t->store.unlock = talk_unlock;
    t->store.journal = phi_store_journal();
    return &t->store;
}

/* ---- readings ---- */

typedef struct talk_scratch {
    phi_memory memory;
    phi_arena arena;
} talk_scratch;

static inline void talk_open(talk_scratch *s) {
    phi_memory_init(&s->memory, NULL, 0);
    phi_arena_init(&s->arena, &s->memory, 0);
}

static inline void talk_close(talk_scratch *s) { phi_arena_free(&s->arena); }

static inline uint64_t talk_mix(uint64_t sum, uint64_t value) {
    sum = (sum ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ (sum >> 29);
}

static inline uint64_t talk_mix_str(uint64_t sum, phi_str s) {
    size_t i;
    sum = talk_mix(sum, s.len);
    for (i = 0; i < s.len; i++) sum = (sum ^ (unsigned char)s.at[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static inline uint64_t talk_mix_usage(uint64_t sum, const phi_usage *u) {
    if (u == NULL) return talk_mix(sum, 77);
    sum = talk_mix(talk_mix(sum, u->input), u->output);
    sum = talk_mix(talk_mix(sum, u->reasoning), u->cache_read);
    return talk_mix(talk_mix(sum, u->cache_write), u->total_tokens);
}

static inline uint64_t talk_mix_message(uint64_t sum, const phi_message *m) {
    size_t i;
    if (m == NULL) return talk_mix(sum, 78);
    sum = talk_mix(talk_mix(sum, (uint64_t)m->role), m->content_count);
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        sum =
            talk_mix(sum, (uint64_t)c->kind * 4 + (c->redacted ? 2 : 0) + (c->incomplete ? 1 : 0));
        sum = talk_mix_str(talk_mix_str(sum, c->text), c->data);
        sum = talk_mix_str(talk_mix_str(sum, c->mime_type), c->id);
        sum = talk_mix_str(talk_mix_str(sum, c->name), c->arguments);
        sum = talk_mix_str(talk_mix_str(sum, c->signature), c->replay);
    }
    sum = talk_mix(talk_mix(sum, (uint64_t)m->timestamp_ms), m->turn_index);
    sum = talk_mix_str(talk_mix(sum, (uint64_t)m->stop_reason), m->loop_id);
    sum = talk_mix_str(talk_mix_str(sum, m->raw_stop_reason), m->model);
    sum = talk_mix_str(talk_mix_str(sum, m->provider), m->protocol);
    sum = talk_mix_str(talk_mix_usage(sum, &m->usage), m->error_message);
    sum = talk_mix_str(talk_mix_str(sum, m->tool_call_id), m->tool_name);
    sum = talk_mix_str(talk_mix(sum, m->is_error ? 1 : 0), m->details);
    return talk_mix_str(talk_mix_str(sum, m->extension_kind), m->extension_data);
}

static inline uint64_t talk_mix_text(uint64_t sum, const char *text) {
    return text != NULL ? talk_mix_str(sum, phi_str_of(text)) : talk_mix(sum, 79);
}

static inline uint64_t talk_mix_rewrite(uint64_t sum, const phi_rewrite *r) {
    size_t i, k;
    if (r == NULL) return talk_mix(sum, 80);
    sum = talk_mix_text(talk_mix_text(sum, r->op_id), r->lane);
    sum = talk_mix(talk_mix(sum, (uint64_t)r->reason), r->base_seq);
    sum = talk_mix(talk_mix_text(talk_mix_text(sum, r->revoke), r->meta), r->span_count);
    sum = talk_mix_text(sum, r->switch_to);
    for (i = 0; i < r->span_count; i++) {
        const phi_span *s = &r->spans[i];
        sum = talk_mix(talk_mix(talk_mix(sum, s->from), s->to), s->summary ? 1 : 0);
        for (k = 0; k < s->message_count; k++) sum = talk_mix_message(sum, &s->messages[k]);
    }
    return sum;
}

static inline uint64_t talk_mix_entry(uint64_t sum, const phi_entry *e) {
    sum = talk_mix(talk_mix(sum, e->seq), (uint64_t)e->at_ms);
    sum = talk_mix(talk_mix(sum, (uint64_t)e->kind), e->flags);
    sum = talk_mix(talk_mix_str(talk_mix_str(sum, e->lane), e->loop_id), e->turn_index);
    sum = talk_mix_rewrite(talk_mix_message(sum, e->message), e->rewrite);
    sum = talk_mix(talk_mix_str(sum, e->parent_lane), e->fork_seq);
    sum = talk_mix(talk_mix(sum, (uint64_t)e->trigger), (uint64_t)(int64_t)e->status);
    sum = talk_mix_usage(talk_mix(sum, (uint64_t)e->keep), e->usage);
    sum = e->failure != NULL ? talk_mix_str(sum, e->failure->message) : talk_mix(sum, 81);
    sum = e->loop != NULL ? talk_mix_str(sum, e->loop->loop_id) : talk_mix(sum, 82);
    sum = talk_mix_str(talk_mix_str(sum, e->tool_call_id), e->child_session_id);
    sum = talk_mix_str(sum, e->child_loop_id);
    return talk_mix_str(talk_mix_str(sum, e->note_kind), e->note);
}

/* Each is 0 where it failed, and then *status, where given, says how. */
static inline uint64_t talk_entry(const phi_thread *thread, uint64_t seq, phi_status *status) {
    phi_entry e;
    phi_status got = phi_thread_entry(thread, seq, &e);
    if (status != NULL) *status = got;
    return got == PHI_OK ? talk_mix_entry(1, &e) : 0;
}

static inline uint64_t talk_view(const phi_thread *thread, const char *lane, uint64_t upto,
                                 phi_status *status) {
    talk_scratch s;
    const phi_view_item *items = NULL;
    size_t count = 0, i;
    uint64_t sum = 1;
    phi_status got;
    talk_open(&s);
    got = phi_thread_view(thread, lane, upto, &s.arena, &items, &count);
    for (i = 0; got == PHI_OK && i < count; i++) {
        sum = talk_mix(talk_mix(sum, items[i].from), items[i].to);
        sum = talk_mix(talk_mix(sum, items[i].flags), items[i].tokens);
        sum = talk_mix_message(sum, items[i].message);
    }
    talk_close(&s);
    if (status != NULL) *status = got;
    return got == PHI_OK ? sum : 0;
}

/* A thread's entries as text, but for ids of threads: those of two that say the same are not the same. */
static inline phi_str talk_entries(phi_str text) {
    static const char from[] = "\\\"forked_from\\\":\\\"";
    const char *head = (const char *)memchr(text.at, '\n', text.len);
    size_t before = head != NULL ? (size_t)(head - text.at) + 1 : 0;
    char *at = (char *)(uintptr_t)text.at + before, *id = strstr(at, from);
    for (; id != NULL; id = strstr(id, from)) {
        char *end = strchr(id += sizeof from - 1, '\\');
        if (end == NULL) abort();
        memmove(id, end, strlen(end) + 1);
    }
    return phi__str(at, strlen(at));
}

/* A snapshot, but for the id of its thread. */
static inline phi_str talk_unnamed(phi_str text) {
    static const char head[] = "{\"phi_thread\":1";
    char *at = strstr((char *)(uintptr_t)text.at, head), *end;
    if (at == NULL) return text;
    at += sizeof head - 1;
    end = strchr(at, '}');
    if (end == NULL) abort();
    memmove(at, end, strlen(end) + 1);
    return phi__str(text.at, strlen(text.at));
}

static inline uint64_t talk_log(const phi_thread *thread, phi_status *status) {
    talk_scratch s;
    phi_str text = {"", 0};
    phi_status got;
    uint64_t sum = 0;
    talk_open(&s);
    got = phi_thread_to_json(thread, &s.arena, &text);
    if (got == PHI_OK) sum = talk_mix_str(1, talk_entries(text));
    talk_close(&s);
    if (status != NULL) *status = got;
    return sum;
}

static inline uint64_t talk_saved(phi_agent agent, phi_status *status) {
    talk_scratch s;
    phi_str text = {"", 0};
    phi_status got;
    uint64_t sum = 0;
    talk_open(&s);
    got = phi_agent_messages_to_json(agent, &s.arena, &text);
    if (got == PHI_OK) sum = talk_mix_str(1, text);
    talk_close(&s);
    if (status != NULL) *status = got;
    return sum;
}

/* A fork of its own at an entry, as its log says; times of the fork are as the clock stands. */
static inline uint64_t talk_fork(phi_agent agent, uint64_t at_seq, phi_status *status) {
    phi_thread *made = phi_thread_fork(phi_agent_thread(agent), at_seq);
    phi_status got = PHI_OK;
    uint64_t sum = 0;
    if (made != NULL)
        sum = talk_log(made, &got);
    else
        got = phi_last_error(agent.rt).status;
    phi_thread_free(made);
    if (status != NULL) *status = got;
    return sum;
}

/* What is known without the store: counts, names, and what is shown. */
static inline uint64_t talk_face(phi_agent agent) {
    const phi_thread *thread = phi_agent_thread(agent);
    phi_usage usage = phi_thread_get_info(thread).usage, all = phi_agent_get_info(agent).usage;
    uint64_t sum =
        talk_mix(phi_thread_count(thread), phi_thread_message_count(phi_agent_thread(agent)));
    size_t i;
    sum = talk_mix_usage(talk_mix_usage(sum, &usage), &all);
    sum = talk_mix_str(talk_mix_str(sum, phi_thread_get_info(thread).lane),
                       phi_agent_get_info(agent).loop_id);
    for (i = 0; i < phi_thread_get_info(thread).lane_count; i++)
        sum = talk_mix_str(sum, phi_str_of(phi_thread_lane_at(thread, i)));
    return talk_mix(sum, talk_view(thread, NULL, UINT64_MAX, NULL));
}

/* ---- running ---- */

/* Steps, pops and lets the clock go on, until nothing goes on; the story stays short. */
static inline void talk_run(rig *r) {
    int most = 100000;
    while (rig_run(r, 1) > 0 && most-- > 0) rig_forget(r);
    CHECK(most > 0);
    rig_forget(r);
}

#endif
