/* crowd.c - see crowd.h. */
#include "support/crowd.h"
#include "loop/events.h"
#include "codecs/presets.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "model/failure.h"
#include "model/message.h"
#include "loop/loop_in.h"

struct crowd {
    phi_runtime *rt;
    seen people[CROWD_MOST];
    size_t count;
    uint64_t seq;
    bool silent;
};

static uint64_t crowd_ms(void) { return phi__clock_us() / 1000; }

/* ---- remembering ---- */

/* Room is the power of two above the length, so that a long stream is not copied at each delta. */
static void seen_add(char **text, size_t *len, phi_str more) {
    size_t room = 64, want = *len + more.len + 1;
    while (room < want) room *= 2;
    if (*text == NULL || *len + 1 <= room / 2) {
        char *grown = (char *)realloc(*text, room);
        if (grown == NULL) abort();
        *text = grown;
    }
    if (more.len > 0) memcpy(*text + *len, more.at, more.len);
    *len += more.len;
    (*text)[*len] = '\0';
}

static void seen_set(char **text, phi_str value) {
    size_t len = 0;
    free(*text);
    *text = NULL;
    seen_add(text, &len, value);
}

static void seen_copy(char *out, size_t size, phi_str value) {
    (void)snprintf(out, size, "%.*s", (int)value.len, value.len > 0 ? value.at : "");
}

static void seen_forget(seen *s) {
    phi_str none = {"", 0};
    s->text_len = s->thinking_len = s->argument_bytes = 0;
    seen_set(&s->text, none);
    seen_set(&s->thinking, none);
    seen_set(&s->result, none);
    seen_set(&s->partial, none);
    memset(s->events, 0, sizeof s->events);
    memset(&s->failure, 0, sizeof s->failure);
    memset(&s->usage, 0, sizeof s->usage);
    s->failure_text[0] = s->code[0] = '\0';
    s->status = s->error_status = PHI_OK;
    s->message_count = 0;
    s->retry_text[0] = '\0';
    s->is_error = s->in_turn = s->in_message = s->in_answer = s->in_compaction = s->lost = false;
    s->most_at_once = s->call_count = s->retries = 0;
    s->text_before = s->thinking_before = 0;
    s->partial_len = 0;
}

static void seen_drop(seen *s) {
    free(s->text);
    free(s->thinking);
    free(s->result);
    free(s->partial);
}

/* ---- what events promise ---- */

static void seen_broke(seen *s, const phi_event *e, const char *what) {
    if (!s->broken) printf("  %s: %s: %s\n", s->name, phi_event_name(e->kind), what);
    s->broken = true;
}

#define PROMISED(condition)                                                                        \
    do {                                                                                           \
        if (!(condition)) seen_broke(s, e, #condition);                                            \
    } while (0)

enum { SEEN_COMPARED = 4096 }; /* bytes of a partial text: all of it would take quadratic time */

static void seen_delta(seen *s, const phi_event *e) {
    size_t from;
    PROMISED(s->in_answer);
    PROMISED(e->text.len > 0 && e->message != NULL);
    if (e->block_index != s->block) {
        s->block = e->block_index;
        s->partial_len = 0;
    }
    seen_add(&s->partial, &s->partial_len, e->text);
    from = s->partial_len > SEEN_COMPARED ? s->partial_len - SEEN_COMPARED : 0;
    if (e->message != NULL && e->message->content_count == 0)
        s->lost = true; /* for want of memory: AGENT_END will say so */
    else
        PROMISED(e->partial.len == s->partial_len &&
                 memcmp(e->partial.at + from, s->partial + from, s->partial_len - from) == 0);
    if (e->kind == PHI_EV_TEXT) seen_add(&s->text, &s->text_len, e->text);
    if (e->kind == PHI_EV_THINKING) seen_add(&s->thinking, &s->thinking_len, e->text);
    if (e->kind == PHI_EV_TOOL_ARGUMENTS) s->argument_bytes += e->text.len;
}

static void seen_message(seen *s, const phi_event *e) {
    bool start = e->kind == PHI_EV_MESSAGE_START;
    PROMISED(e->message != NULL && s->in_message != start);
    s->in_message = start;
    s->in_answer = start && e->message->role == PHI_ROLE_ASSISTANT;
    s->text_before = s->text_len;
    s->thinking_before = s->thinking_len;
    s->partial_len = 0;
    s->block = UINT32_MAX;
    if (!start && e->message->role == PHI_ROLE_ASSISTANT)
        PROMISED(e->message->stop_reason != PHI_STOP_REASON_NONE && e->message->content_count > 0);
}

static int seen_call(const seen *s, phi_str id) {
    int i;
    for (i = 0; i < s->call_count; i++)
        if (strlen(s->calls[i]) == id.len && memcmp(s->calls[i], id.at, id.len) == 0) return i;
    return -1;
}

static void seen_tool(seen *s, const phi_event *e) {
    int at = seen_call(s, e->tool_call_id);
    PROMISED(s->in_turn && !s->in_answer && e->tool_call_id.len > 0);
    PROMISED((at < 0) == (e->kind == PHI_EV_TOOL_START));
    if (e->kind == PHI_EV_TOOL_START && s->call_count < CROWD_CALLS)
        seen_copy(s->calls[s->call_count++], sizeof s->calls[0], e->tool_call_id);
    if (s->call_count > s->most_at_once) s->most_at_once = s->call_count;
    if (e->kind != PHI_EV_TOOL_END || at < 0) return;
    memmove(s->calls[at], s->calls[--s->call_count], sizeof s->calls[0]);
    PROMISED(e->message != NULL && e->message->content_count > 0);
    s->is_error = e->is_error;
    PROMISED(e->is_error == e->message->is_error);
    seen_set(&s->result, e->message->content[0].text);
}

/* As a host does: what it has shown of the answer goes. */
static void seen_retract(seen *s, const phi_event *e) {
    PROMISED(s->in_answer && e->message != NULL);
    s->in_message = s->in_answer = false;
    s->text[s->text_len = s->text_before] = '\0';
    s->thinking[s->thinking_len = s->thinking_before] = '\0';
}

static void seen_retry(seen *s, const phi_event *e) {
    PROMISED(s->in_turn && !s->in_message && e->failure != NULL && e->text.len > 0);
    PROMISED(e->attempt >= 1 && e->attempt <= e->attempts);
    if (e->failure == NULL || s->retries == CROWD_RETRIES) return;
    s->retry_kinds[s->retries] = e->failure->kind;
    s->delays[s->retries++] = e->delay_ms;
    seen_copy(s->retry_text, sizeof s->retry_text, e->text);
}

static void seen_compaction(seen *s, const phi_event *e) {
    bool start = e->kind == PHI_EV_COMPACTION_START;
    PROMISED(e->compaction != NULL && !s->in_message && s->in_compaction != start);
    s->in_compaction = start;
}

static void seen_error(seen *s, const phi_event *e) {
    PROMISED(e->failure != NULL && e->status != PHI_OK && e->text.len > 0);
    if (e->failure == NULL) return;
    s->failure = *e->failure;
    seen_copy(s->failure_text, sizeof s->failure_text, e->failure->message);
    seen_copy(s->code, sizeof s->code, e->failure->code);
    s->error_status = e->status;
}

static void seen_end(seen *s, const phi_event *e) {
    PROMISED(!s->in_turn && s->call_count == 0 && !s->in_compaction);
    PROMISED((!s->in_message && !s->lost) || e->status == PHI_NO_MEMORY);
    PROMISED((e->failure != NULL) == (s->events[PHI_EV_ERROR] > 0));
    PROMISED(s->events[PHI_EV_ERROR] == 0 || e->status == s->error_status);
    s->status = e->status;
    s->message_count = e->message_count;
    if (e->usage != NULL) s->usage = *e->usage;
    s->running = false;
}

static void seen_event(seen *s, const phi_event *e) {
    if (e->kind == PHI_EV_PARALLEL_START || e->kind == PHI_EV_PARALLEL_END) return;
    PROMISED(s->running);
    PROMISED((e->kind == PHI_EV_AGENT_START) == (s->events[PHI_EV_AGENT_START] == 0));
    PROMISED(s->events[PHI_EV_ERROR] == 0 || e->kind == PHI_EV_TURN_END ||
             e->kind == PHI_EV_THREAD_UPDATED || e->kind == PHI_EV_AGENT_END);
    s->events[e->kind]++;
    switch (e->kind) {
    case PHI_EV_AGENT_START: break;
    case PHI_EV_AGENT_END: seen_end(s, e); break;
    case PHI_EV_TURN_START:
        PROMISED(!s->in_turn);
        s->in_turn = true;
        break;
    case PHI_EV_TURN_END:
        PROMISED(s->in_turn);
        s->in_turn = false;
        break;
    case PHI_EV_MESSAGE_START:
    case PHI_EV_MESSAGE_END: seen_message(s, e); break;
    case PHI_EV_TEXT:
    case PHI_EV_THINKING:
    case PHI_EV_TOOL_ARGUMENTS: seen_delta(s, e); break;
    case PHI_EV_TOOL_START:
    case PHI_EV_TOOL_UPDATE:
    case PHI_EV_TOOL_PROGRESS:
    case PHI_EV_TOOL_END: seen_tool(s, e); break;
    case PHI_EV_ERROR: seen_error(s, e); break;
    case PHI_EV_RETRACT: seen_retract(s, e); break;
    case PHI_EV_RETRY: seen_retry(s, e); break;
    case PHI_EV_COMPACTION_START:
    case PHI_EV_COMPACTION_END: seen_compaction(s, e); break;
    case PHI_EV_INPUT_REJECTED:
    case PHI_EV_INPUT_DROPPED:
    case PHI_EV_DECISION:
    case PHI_EV_PAUSED:
    case PHI_EV_WARNING:
    case PHI_EV_REWRITE:
    case PHI_EV_CONTEXT_WARNING:
    case PHI_EV_PRUNED:
    case PHI_EV_REVERTED:
    case PHI_EV_TURN_REQUEST:
    case PHI_EV_PARALLEL_START:
    case PHI_EV_PARALLEL_END:
    case PHI_EV_THREAD_UPDATED:
    case PHI_EV_FORGOTTEN:
    case PHI_EV_TOOL_HEARTBEAT:
    case PHI_EV_SUBAGENT_END:
    case PHI_EV_TOOLS_CHANGED:
    case PHI_EV_FAILOVER:
    case PHI_EV_OPAQUE:
    case PHI_EV_TOOL_STATE:
    case PHI_EV_EFFECT:
    case PHI_EV_SUMMARY_NEEDED:
    case PHI_EV_STRATEGY: break;
    }
    if (s->on_event != NULL) s->on_event(s, e);
}

/* ---- the crowd ---- */

crowd *crowd_new(const phi_runtime_desc *given) {
    crowd *c = (crowd *)calloc(1, sizeof *c);
    phi_runtime_desc desc = PHI_ZERO;
    const char *why = "";
    if (c == NULL) abort();
    if (given != NULL) desc = *given;
    desc.allocator = test_allocator();
    if (desc.codecs == NULL) desc.codecs = PHI_ALL_PROTOCOLS;
    if (desc.features == NULL) desc.features = PHI_ALL_FEATURES;
    desc.error = &why;
    c->rt = phi_runtime_new(&desc);
    if (CHECK(c->rt != NULL)) return c;
    printf("  no runtime: %s\n", why);
    free(c);
    return NULL;
}

void crowd_free(crowd *c) {
    uint64_t end = crowd_ms() + 5000;
    phi_status status = PHI_BUSY;
    size_t i;
    if (c == NULL) return;
    while ((status = phi_runtime_close(c->rt)) == PHI_BUSY && crowd_ms() < end)
        (void)crowd_step(c, 10);
    CHECK_EQ_INT(status, PHI_OK);
    for (i = 0; i < c->count; i++) {
        (void)CHECK(!c->people[i].broken);
        seen_drop(&c->people[i]);
    }
    phi_runtime_free(c->rt);
    free(c);
}

phi_runtime *crowd_runtime(crowd *c) { return c->rt; }
void crowd_silent(crowd *c, bool silent) { c->silent = silent; }

seen *crowd_add(crowd *c, const phi_agent_desc *given, const char *name) {
    seen *s = &c->people[c->count];
    phi_agent_desc desc = *given;
    const char *words = "";
    if (c->count == CROWD_MOST) abort();
    desc.user_data = s;
    memset(s, 0, sizeof *s);
    s->of = c;
    s->name = name;
    s->agent = phi_agent_new(c->rt, &desc);
    if (!CHECK(s->agent.rt != NULL)) {
        words = phi_last_error(c->rt).message;
        printf("  %s: %s\n", name, words);
        return NULL;
    }
    seen_forget(s);
    c->count++;
    return s;
}

bool crowd_prompt(seen *s, const char *text) {
    const char *words = "";
    seen_forget(s);
    s->running = true;
    if (CHECK_EQ_INT(phi_prompt(s->agent, text), PHI_OK)) return true;
    words = phi_last_error(s->of->rt).message;
    printf("  %s: %s\n", s->name, words);
    s->running = false;
    return false;
}

int crowd_step(crowd *c, int ms) {
    int runs = phi_step(c->rt, ms);
    phi_event event;
    while (!c->silent && phi_next_event(c->rt, &event)) {
        seen *s = (seen *)event.user_data;
        if (!CHECK_EQ_INT(event.seq, ++c->seq)) c->seq = event.seq;
        if (s != NULL) seen_event(s, &event); /* NULL: a branch of an evaluation */
    }
    return runs;
}

bool crowd_run(crowd *c, int seconds) {
    uint64_t end = crowd_ms() + (uint64_t)seconds * 1000;
    size_t i;
    while (crowd_step(c, 100) > 0)
        if (crowd_ms() > end) break;
    for (i = 0; i < c->count; i++) {
        if (CHECK(!c->people[i].running)) continue;
        printf("  %s still runs after %d s\n", c->people[i].name, seconds);
        return false;
    }
    return true;
}

bool crowd_ask(seen *s, const char *text) {
    return crowd_prompt(s, text) && crowd_run(s->of, 30) && CHECK(crowd_history_holds(s));
}

/* ---- the history ---- */

static size_t crowd_calls_of(const phi_message *m) {
    size_t i, n = 0;
    if (m->role != PHI_ROLE_ASSISTANT || m->stop_reason == PHI_STOP_REASON_ERROR ||
        m->stop_reason == PHI_STOP_REASON_ABORTED)
        return 0;
    for (i = 0; i < m->content_count; i++) n += m->content[i].kind == PHI_CONTENT_TOOL_CALL;
    return n;
}

static const phi_content *crowd_call_at(const phi_message *m, size_t k) {
    size_t i;
    for (i = 0; i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_TOOL_CALL && k-- == 0) return &m->content[i];
    return NULL;
}

bool crowd_history_holds(const seen *s) {
    size_t n = phi_thread_message_count(phi_agent_thread(s->agent)), at = 0, k;
    while (at < n) {
        const phi_message *asked = phi_thread_message_at(phi_agent_thread(s->agent), at++);
        size_t calls = crowd_calls_of(asked);
        for (k = 0; k < calls; k++, at++) {
            const phi_message *result =
                at < n ? phi_thread_message_at(phi_agent_thread(s->agent), at) : NULL;
            if (result == NULL || result->role != PHI_ROLE_TOOL_RESULT ||
                !phi_str_equal(result->tool_call_id, crowd_call_at(asked, k)->id)) {
                printf("  %s: call %u of message %u has no result in its place\n", s->name,
                       (unsigned)k, (unsigned)at);
                return false;
            }
        }
        if (at < n &&
            phi_thread_message_at(phi_agent_thread(s->agent), at)->role == PHI_ROLE_TOOL_RESULT) {
            printf("  %s: message %u is the result of no call\n", s->name, (unsigned)at);
            return false;
        }
    }
    return true;
}

void crowd_message_text(const seen *s, size_t i, char *out, size_t size) {
    const phi_message *m = phi_thread_message_at(phi_agent_thread(s->agent), i);
    size_t k, at = 0;
    out[0] = '\0';
    for (k = 0; m != NULL && k < m->content_count && at < size; k++) {
        int n = snprintf(out + at, size - at, "%.*s", (int)m->content[k].text.len,
                         m->content[k].text.len > 0 ? m->content[k].text.at : "");
        at += n > 0 ? (size_t)n : 0;
    }
}
