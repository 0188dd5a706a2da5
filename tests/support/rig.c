/* rig.c - the scripted transport, the hook recorder and the story teller. */
#include "support/header.h"
#include "support/rig.h"

#include "wire/codec_in.h"
#include "loop/events.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent.h"
#include "loop/hook.h"
#include "loop/run.h"
#include "model/event.h"
#include "model/model_in.h"
#include "loop/loop_in.h"

#include <stdarg.h>

enum {
    RIG_MOST = 2048, /* answers of a script, requests kept */
    RIG_POINTS = 18, /* of hooks */
    RIG_SAID = 64    /* answers of a point; tickets; calls of "wait" */
};

typedef struct answer {
    int status;
    char *headers, *body;
    size_t len;
    phi_status end;
    char *words;
    bool hangs, refuses;
} answer;

typedef struct going {
    phi_transfer transfer;
    const answer *says;
    size_t at;
    bool live, headed, full;
} going;

/* What a hook answers, and what was asked, until it is told. */
typedef struct said {
    phi_verdict verdict;
    char *reply;
} said;

typedef struct hooked {
    uint64_t seq; /* of the last event before it */
    char *line;
} hooked;

struct rig {
    phi_runtime *rt;
    uint64_t now_us, pumped_us;
    uint32_t seed;
    phi_transport transport;
    answer script[RIG_MOST];
    size_t answers, next;
    char *requests[RIG_MOST];
    char keys[RIG_MOST][24];
    size_t request_count;
    going goings[64];
    size_t chunk;
    bool greedy;
    bool careless; /* what is sent is not looked at */
    bool silent, mock;
    said answers_of[RIG_POINTS][RIG_SAID];
    size_t answer_count[RIG_POINTS], answered[RIG_POINTS];
    phi_hook_fn hook_fn;
    void *hook_data;
    phi_ticket tickets[RIG_SAID];
    size_t ticket_count;
    phi_call calls[RIG_SAID];
    size_t started, cancelled;
    hooked *hooks; /* not yet told */
    size_t hook_count, hook_cap;
    void (*watch)(void *user_data, const phi_event *event);
    void *watch_data;
    char *story;
    size_t story_len, story_cap;
};

static char *rig_copy(const char *text) {
    size_t n = text != NULL ? strlen(text) : 0;
    char *out = (char *)malloc(n + 1);
    if (out == NULL) abort();
    if (n > 0) memcpy(out, text, n);
    out[n] = '\0';
    return out;
}

/* ---- the story ---- */

static void rig_add(rig *r, const char *format, ...) {
    va_list args;
    int n;
    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) abort();
    if (r->story_len + (size_t)n + 1 > r->story_cap) {
        r->story_cap = (r->story_len + (size_t)n + 1) * 2;
        r->story = (char *)realloc(r->story, r->story_cap);
        if (r->story == NULL) abort();
    }
    va_start(args, format);
    (void)vsnprintf(r->story + r->story_len, (size_t)n + 1, format, args);
    va_end(args);
    r->story_len += (size_t)n;
}

static void rig_tell_str(rig *r, const char *label, phi_str s) {
    rig_add(r, "%s\"%.*s\"", label, (int)s.len, s.len > 0 ? s.at : "");
}

static void rig_tell_message(rig *r, const phi_message *m) {
    static const char *const roles[] = {"?", "user", "assistant", "toolResult", "extension"};
    size_t i;
    if (m == NULL) {
        rig_add(r, " -");
        return;
    }
    rig_add(r, " %s", roles[m->role]);
    if (m->role == PHI_ROLE_TOOL_RESULT)
        rig_add(r, " %.*s%s", (int)m->tool_call_id.len, m->tool_call_id.at,
                m->is_error ? " error" : "");
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind == PHI_CONTENT_TOOL_CALL)
            rig_add(r, " %.*s(%.*s)", (int)c->name.len, c->name.at, (int)c->arguments.len,
                    c->arguments.at);
        else if (c->kind == PHI_CONTENT_IMAGE)
            rig_add(r, " image");
        else if (c->kind == PHI_CONTENT_DOCUMENT)
            rig_add(r, " document");
        else if (c->kind == PHI_CONTENT_AUDIO)
            rig_add(r, " audio");
        else
            rig_tell_str(r, c->kind == PHI_CONTENT_THINKING ? " thinking " : " ", c->text);
    }
    if (m->stop_reason != PHI_STOP_REASON_NONE)
        rig_add(r, " %s", phi__message_stop_text(m->stop_reason));
    if (m->error_message.len > 0) rig_tell_str(r, " error ", m->error_message);
}

static void rig_tell_run(rig *r, const phi_event *e) {
    if (e->kind == PHI_EV_TURN_START) {
        rig_add(r, " %u", (unsigned)e->turn_index);
    } else if (e->kind == PHI_EV_AGENT_END) {
        rig_add(r, " %s, %u messages", phi_status_text(e->status), (unsigned)e->message_count);
        if (e->rejection.len > 0) rig_tell_str(r, ", rejected ", e->rejection);
    } else if (e->kind == PHI_EV_ERROR) {
        rig_add(r, " %s", phi_failure_kind_text(e->failure->kind));
        rig_tell_str(r, " ", e->failure->message);
        if (e->failure->http_status != 0) rig_add(r, " %d", e->failure->http_status);
        if (e->failure->has_retry_after)
            rig_add(r, " after %llu ms", (unsigned long long)e->failure->retry_after_ms);
    } else if (e->kind == PHI_EV_RETRY) {
        rig_add(r, " %u/%u after %u ms", (unsigned)e->attempt, (unsigned)e->attempts,
                (unsigned)e->delay_ms);
    } else if (e->kind == PHI_EV_DECISION) {
        rig_add(r, " %s", rig_point_name(e->point));
        if (e->tool_name.len > 0)
            rig_add(r, " %.*s %.*s", (int)e->tool_call_id.len, e->tool_call_id.at,
                    (int)e->tool_name.len, e->tool_name.at);
        if (e->question_kind.len > 0)
            rig_add(r, " %.*s of %.*s: %.*s %.*s", (int)e->question_kind.len, e->question_kind.at,
                    (int)e->source.len, e->source.at, (int)e->text.len, e->text.at,
                    (int)e->arguments.len, e->arguments.at);
    }
}

static void rig_tell_compaction(rig *r, const phi_event *e) {
    const phi_compaction *c = e->compaction;
    if (e->kind == PHI_EV_COMPACTION_START)
        rig_add(r, " %llu tokens, %u messages", (unsigned long long)c->estimated_tokens,
                (unsigned)c->message_count);
    else
        rig_add(r, " %u -> %u messages, %llu -> %llu tokens, %u loops",
                (unsigned)c->messages_before, (unsigned)c->messages_after,
                (unsigned long long)c->tokens_before, (unsigned long long)c->tokens_after,
                (unsigned)c->loops_compacted);
}

static void rig_tell(rig *r, const phi_event *e) {
    static const char *const inputs[] = {"?", "prompt", "steering", "follow-up", "injected"};
    rig_add(r, "%s", phi_event_name(e->kind));
    switch (e->kind) {
    case PHI_EV_AGENT_START: break;
    case PHI_EV_AGENT_END:
    case PHI_EV_TURN_START:
    case PHI_EV_ERROR:
    case PHI_EV_RETRY:
    case PHI_EV_DECISION: rig_tell_run(r, e); break;
    case PHI_EV_TURN_END:
    case PHI_EV_MESSAGE_START:
    case PHI_EV_MESSAGE_END:
    case PHI_EV_RETRACT:
    case PHI_EV_TOOL_END: rig_tell_message(r, e->message); break;
    case PHI_EV_TEXT:
    case PHI_EV_THINKING:
    case PHI_EV_TOOL_ARGUMENTS:
        rig_tell_str(r, " ", e->text);
        rig_tell_str(r, " of ", e->partial);
        break;
    case PHI_EV_TOOL_START:
        rig_add(r, " %.*s %.*s(%.*s)", (int)e->tool_call_id.len, e->tool_call_id.at,
                (int)e->tool_name.len, e->tool_name.at, (int)e->arguments.len, e->arguments.at);
        break;
    case PHI_EV_TOOL_UPDATE:
    case PHI_EV_TOOL_PROGRESS:
        rig_add(r, " %.*s", (int)e->tool_call_id.len, e->tool_call_id.at);
        rig_tell_str(r, " ", e->text);
        break;
    case PHI_EV_INPUT_DROPPED:
        rig_add(r, " %s", inputs[(int)e->input % 5]);
        rig_tell_str(r, " ", e->text);
        rig_add(r, ": %.*s", (int)e->source.len, e->source.len > 0 ? e->source.at : "");
        break;
    case PHI_EV_COMPACTION_START:
    case PHI_EV_COMPACTION_END: rig_tell_compaction(r, e); break;
    case PHI_EV_INPUT_REJECTED:
    case PHI_EV_PAUSED:
    case PHI_EV_CONTEXT_WARNING:
    case PHI_EV_WARNING: rig_tell_str(r, " ", e->text); break;
    case PHI_EV_PRUNED:
        rig_add(r, " %u messages, %u tokens", (unsigned)e->pruned->messages_removed,
                (unsigned)e->pruned->tokens_removed);
        if (e->pruned->memo.len > 0) rig_tell_str(r, " for ", e->pruned->memo);
        break;
    case PHI_EV_REVERTED:
        rig_add(r, " %.*s to %.*s, %u abandoned%s%.*s", (int)e->reverted->category.len,
                e->reverted->category.at, (int)e->reverted->target.len, e->reverted->target.at,
                (unsigned)e->reverted->abandoned_count, e->reverted->applied ? "" : ": ",
                (int)e->reverted->reason.len,
                e->reverted->reason.len > 0 ? e->reverted->reason.at : "");
        break;
    case PHI_EV_TURN_REQUEST: rig_add(r, " %u", (unsigned)e->turn_index); break;
    case PHI_EV_PARALLEL_START:
    case PHI_EV_PARALLEL_END: rig_tell_str(r, " ", e->parallel->selected_loop_id); break;
    case PHI_EV_THREAD_UPDATED:
        rig_tell_str(r, " ", e->text);
        rig_add(r, " %u messages", (unsigned)e->message_count);
        break;
    case PHI_EV_SUMMARY_NEEDED:
        rig_add(r, " %u to %u", (unsigned)e->context->need_from, (unsigned)e->context->need_to);
        break;
    case PHI_EV_TOOL_HEARTBEAT:
        rig_add(r, " %.*s %u ms", (int)e->tool_call_id.len, e->tool_call_id.at,
                (unsigned)e->elapsed_ms);
        break;
    case PHI_EV_SUBAGENT_END:
        rig_tell_str(r, " ", e->source);
        rig_add(r, " %.*s %s: %.*s", (int)e->tool_name.len, e->tool_name.at,
                phi_status_text(e->status), (int)e->text.len, e->text.len > 0 ? e->text.at : "");
        break;
    case PHI_EV_FAILOVER:
        rig_tell_str(r, " ", e->source);
        rig_tell_str(r, " to ", e->text);
        rig_add(r, " %u/%u", (unsigned)e->attempt, (unsigned)e->attempts);
        break;
    case PHI_EV_OPAQUE:
        rig_tell_str(r, " ", e->source);
        rig_tell_str(r, " ", e->text);
        break;
    case PHI_EV_TOOLS_CHANGED:
    case PHI_EV_TOOL_STATE: rig_tell_str(r, " ", e->text); break;
    case PHI_EV_EFFECT:
        rig_add(r, " %.*s %.*s", (int)e->tool_name.len, e->tool_name.at, (int)e->source.len,
                e->source.at);
        rig_tell_str(r, " ", e->text);
        break;
    case PHI_EV_STRATEGY:
        rig_add(r, " %.*s %.*s, calls %u of %u, nodes %u", (int)e->strategy->name.len,
                e->strategy->name.at, (int)e->strategy->phase.len, e->strategy->phase.at,
                (unsigned)e->strategy->calls, (unsigned)e->strategy->most_calls,
                (unsigned)e->strategy->nodes);
        if (e->strategy->has_score) rig_add(r, ", score %.2f", e->strategy->score);
        if (e->text.len > 0) rig_tell_str(r, " ", e->text);
        break;
    case PHI_EV_FORGOTTEN:
        rig_add(r, " %u to %u, %u messages, %s", (unsigned)e->forgotten->from,
                (unsigned)e->forgotten->to, (unsigned)e->forgotten->messages,
                e->forgotten->compacted ? "compacted" : "as they were");
        break;
    case PHI_EV_REWRITE:
        rig_tell_str(r, " ", e->text);
        rig_add(r, " %s: %.*s", phi_status_text(e->status), (int)e->source.len,
                e->source.len > 0 ? e->source.at : "");
        break;
    }
    rig_add(r, "\n");
}

/* ---- hooks ---- */

const char *rig_point_name(int point) {
    static const char *const names[RIG_POINTS] = {
        "before_loop",        "before_turn",       "transform_context", "convert_to_llm",
        "before_compaction",  "after_compaction",  "before_tool",       "after_tool",
        "before_tool_update", "after_tool_update", "on_error",          "after_turn",
        "steering",           "follow_up",         "after_loop",        "filter",
        "credential",         "question"};
    size_t i;
    for (i = 0; i < RIG_POINTS; i++)
        if (point == 1 << i) return names[i];
    return "?";
}

static size_t rig_point(phi_hook_point point) {
    size_t i = 0;
    while (i + 1 < RIG_POINTS && (int)point != 1 << i) i++;
    return i;
}

/* What the recorder says of a hook, made at the story's end and taken off again: it is told later. */
static void rig_describe(rig *r, const phi_hook *h) {
    rig_add(r, "-> %s", rig_point_name((int)h->point));
    switch (h->point) {
    case PHI_HOOK_BEFORE_TURN: rig_add(r, " %u", (unsigned)h->turn_index); /* fall through */
    case PHI_HOOK_BEFORE_LOOP:
    case PHI_HOOK_TRANSFORM_CONTEXT:
    case PHI_HOOK_CONVERT_TO_LLM:
    case PHI_HOOK_AFTER_TURN:
    case PHI_HOOK_AFTER_LOOP: rig_add(r, " (%u messages)", (unsigned)h->message_count); break;
    case PHI_HOOK_BEFORE_COMPACTION:
        rig_add(r, " %llu tokens, %u messages", (unsigned long long)h->compaction->estimated_tokens,
                (unsigned)h->compaction->message_count);
        break;
    case PHI_HOOK_AFTER_COMPACTION:
        rig_add(r, " %u -> %u messages, %llu -> %llu tokens",
                (unsigned)h->compaction->messages_before, (unsigned)h->compaction->messages_after,
                (unsigned long long)h->compaction->tokens_before,
                (unsigned long long)h->compaction->tokens_after);
        break;
    case PHI_HOOK_BEFORE_TOOL:
    case PHI_HOOK_AFTER_TOOL:
    case PHI_HOOK_BEFORE_TOOL_UPDATE:
    case PHI_HOOK_AFTER_TOOL_UPDATE:
        rig_add(r, " %.*s %.*s", (int)h->tool_call_id.len, h->tool_call_id.at,
                (int)h->tool_name.len, h->tool_name.at);
        if (h->point == PHI_HOOK_BEFORE_TOOL)
            rig_add(r, "(%.*s)", (int)h->arguments.len, h->arguments.at);
        else if (h->point != PHI_HOOK_AFTER_TOOL)
            rig_tell_str(r, " ", h->text);
        else if (h->is_error)
            rig_add(r, " error");
        break;
    case PHI_HOOK_ON_ERROR:
    case PHI_HOOK_FILTER: rig_tell_str(r, " ", h->text); break;
    case PHI_HOOK_CREDENTIAL: rig_add(r, "%s", h->is_error ? " refused" : ""); break;
    case PHI_HOOK_QUESTION:
        rig_add(r, " %.*s of %.*s: %.*s %.*s", (int)h->question_kind.len, h->question_kind.at,
                (int)h->source.len, h->source.at, (int)h->text.len, h->text.at,
                (int)h->arguments.len, h->arguments.at);
        if (h->tool_name.len > 0) rig_add(r, " (%.*s)", (int)h->tool_name.len, h->tool_name.at);
        break;
    case PHI_HOOK_STEERING:
    case PHI_HOOK_FOLLOW_UP: break;
    }
    rig_add(r, "%s\n", h->decided ? " decided" : "");
}

static void rig_note(rig *r, const phi_hook *h) {
    size_t from = r->story_len;
    if (r->hook_count == r->hook_cap) {
        r->hook_cap = r->hook_cap * 2 + 16;
        r->hooks = (hooked *)realloc(r->hooks, r->hook_cap * sizeof *r->hooks);
        if (r->hooks == NULL) abort();
    }
    rig_describe(r, h);
    r->hooks[r->hook_count].seq = h->seq;
    r->hooks[r->hook_count++].line = rig_copy(r->story + from);
    r->story_len = from;
    r->story[from] = '\0';
}

/* Tells the hooks that were called before event `seq`. */
static void rig_tell_hooks(rig *r, uint64_t seq) {
    size_t i, told = 0;
    while (told < r->hook_count && r->hooks[told].seq < seq) {
        rig_add(r, "%s", r->hooks[told].line);
        free(r->hooks[told].line);
        told++;
    }
    for (i = told; i < r->hook_count; i++) r->hooks[i - told] = r->hooks[i];
    r->hook_count -= told;
}

static phi_verdict rig_hook(void *user_data, phi_hook *hook) {
    rig *r = (rig *)user_data;
    size_t point = rig_point(hook->point);
    phi_verdict verdict = PHI_ALLOW;
    rig_note(r, hook);
    if (r->answered[point] < r->answer_count[point]) {
        const said *a = &r->answers_of[point][r->answered[point]++];
        verdict = a->verdict;
        if (a->reply != NULL) hook->reply = phi_str_of(a->reply);
    } else if (r->hook_fn != NULL) {
        verdict = r->hook_fn(r->hook_data, hook);
    }
    if (verdict == PHI_WAIT && r->ticket_count < RIG_SAID)
        r->tickets[r->ticket_count++] = hook->ticket;
    return verdict;
}

void rig_hooks(rig *r, phi_agent_desc *desc, uint32_t points) {
    desc->hook_fn = rig_hook;
    desc->hook_points = points;
    desc->user_data = r;
}

phi_filter rig_filter(rig *r) {
    phi_filter filter;
    filter.fn = rig_hook;
    filter.user_data = r;
    return filter;
}

void rig_answers(rig *r, phi_hook_point point, phi_verdict verdict, const char *reply) {
    size_t at = rig_point(point);
    said *a = &r->answers_of[at][r->answer_count[at]];
    if (r->answer_count[at] == RIG_SAID) abort();
    r->answer_count[at]++;
    a->verdict = verdict;
    a->reply = reply != NULL ? rig_copy(reply) : NULL;
}

void rig_hook_with(rig *r, phi_hook_fn fn, void *user_data) {
    r->hook_fn = fn;
    r->hook_data = user_data;
}

phi_ticket rig_ticket(rig *r, size_t i) {
    phi_ticket none;
    memset(&none, 0, sizeof none);
    return i < r->ticket_count ? r->tickets[i] : none;
}

void rig_watch(rig *r, void (*fn)(void *user_data, const phi_event *event), void *user_data) {
    r->watch = fn;
    r->watch_data = user_data;
}

/* ---- the transport ---- */

/* What is about to be sent must be what the provider accepts: the request lies in its encoder. If the messages begin
   with an answer, the encoder must have put a user's message before it. */
static void rig_preflight(const phi_request *request, const char *body) {
    const phi__encoder *encoder = PHI__OWNER((uintptr_t)request, phi__encoder, request);
    char words[300];
    phi_status status = phi__preflight(encoder->codec, encoder->spec, words, sizeof words);
    if (strcmp(words, "messages: the first must be the user's") == 0 &&
        strstr(body, "\"messages\":[{\"role\":\"user\",") != NULL)
        status = PHI_OK;
    if (!CHECK(status == PHI_OK)) printf("  %s\n", words);
}

static void rig_exhausted(rig *r);

/* The key that came with it, as Anthropic wants it. */
static void rig_note_key(const phi_request *request, char out[24]) {
    phi_str name, value;
    size_t i;
    out[0] = '\0';
    for (i = 0; header_at(request, i, &name, &value); i++)
        if (phi__str_is(name, "x-api-key"))
            (void)snprintf(out, 24, "%.*s", (int)value.len, value.at);
}

static phi_status rig_open(void *user_data, phi_transfer transfer, const phi_request *request) {
    rig *r = (rig *)user_data;
    size_t len = (size_t)phi_request_get_info(request).length, i;
    char *body = (char *)malloc(len + 1);
    const answer *says;
    if (r->mock && r->next == r->answers) rig_exhausted(r);
    says = r->next < r->answers ? &r->script[r->next++] : NULL;
    if (body == NULL || r->request_count == RIG_MOST) abort();
    if (phi_request_read(request, 0, body, len) != len) abort();
    body[len] = '\0';
    if (!r->careless && !test_alloc_tripped()) rig_preflight(request, body);
    rig_note_key(request, r->keys[r->request_count]);
    r->requests[r->request_count++] = body;
    if (says == NULL) return PHI_REFUSED;
    if (says->refuses) return says->end;
    for (i = 0; i < 64 && r->goings[i].live; i++) {}
    if (i == 64) return PHI_FULL;
    memset(&r->goings[i], 0, sizeof r->goings[i]);
    r->goings[i].live = true;
    r->goings[i].transfer = transfer;
    r->goings[i].says = says;
    return PHI_OK;
}

static void rig_resume(void *user_data, phi_transfer transfer) {
    rig *r = (rig *)user_data;
    size_t i;
    for (i = 0; i < 64; i++)
        if (r->goings[i].live && r->goings[i].transfer.index == transfer.index)
            r->goings[i].full = false;
}

static void rig_cancel(void *user_data, phi_transfer transfer) {
    rig *r = (rig *)user_data;
    size_t i;
    for (i = 0; i < 64; i++)
        if (r->goings[i].live && r->goings[i].transfer.index == transfer.index &&
            r->goings[i].transfer.gen == transfer.gen)
            r->goings[i].live = false;
}

static void rig_push(rig *r, going *g) {
    const answer *says = g->says;
    size_t n = says->len - g->at;
    phi_status status = PHI_OK;
    if (!g->headed) {
        g->headed = true;
        (void)phi_transfer_head(g->transfer, says->status, says->headers, strlen(says->headers));
    }
    if (r->chunk != 0 && n > r->chunk) n = r->chunk;
    if (n > 0) status = phi_transfer_push(g->transfer, says->body + g->at, n);
    if (status == PHI_FULL) {
        g->full = true;
        return;
    }
    if (status != PHI_OK) {
        g->live = false;
        return;
    }
    g->at += n;
    if (g->at == says->len && !says->hangs) {
        g->live = false;
        (void)phi_transfer_end(g->transfer, says->end, says->words);
    }
}

static void rig_pump(void *user_data) {
    rig *r = (rig *)user_data;
    size_t i;
    if (r->chunk != 0 && !r->greedy && r->pumped_us == r->now_us)
        return; /* a step pumps more than once */
    r->pumped_us = r->now_us;
    for (i = 0; i < 64; i++) do {
            if (r->goings[i].live && !r->goings[i].full) rig_push(r, &r->goings[i]);
        } while (r->greedy && r->goings[i].live && !r->goings[i].full);
}

size_t rig_open_transfers(rig *r) {
    size_t i, n = 0;
    for (i = 0; i < 64; i++) n += r->goings[i].live ? 1 : 0;
    return n;
}

/* ---- the script ---- */

static answer *rig_answer(rig *r, int status, const char *headers, const char *body) {
    answer *a = &r->script[r->answers];
    if (r->answers == RIG_MOST) abort();
    r->answers++;
    memset(a, 0, sizeof *a);
    a->status = status;
    a->headers = rig_copy(headers);
    a->body = rig_copy(body);
    a->len = strlen(a->body);
    a->words = rig_copy("");
    return a;
}

#define RIG_HEADERS "Content-Type: text/event-stream\r\n"
#define RIG_START                                                                                  \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\","       \
    "\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":%d,\"output_tokens\":%d}}}\n\n"
#define RIG_STOP "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"

static void rig_append(char *out, size_t size, const char *format, ...) PHI_PRINTF(3, 4);
static void rig_append(char *out, size_t size, const char *format, ...) {
    size_t at = strlen(out);
    va_list args;
    int n;
    va_start(args, format);
    n = vsnprintf(out + at, size - at, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= size - at) abort();
}

static void rig_escape(const char *text, char *out, size_t size) {
    size_t at = 0;
    for (; *text != '\0'; text++) {
        if (at + 3 > size) abort();
        if (*text == '"' || *text == '\\') out[at++] = '\\';
        out[at++] = *text;
        if (*text == '\n') memcpy(out + at++ - 1, "\\n", 2);
    }
    out[at] = '\0';
}

static void rig_delta(char *out, size_t size, const char *reason, bool mock) {
    rig_append(out, size,
               "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
               "\"%s\"},\"usage\":{\"output_tokens\":%d}}\n\n" RIG_STOP,
               reason, mock ? 0 : 5);
}

static const char *rig_text_stream(const char *text, bool mock) {
    static char out[1 << 16];
    char escaped[1 << 15];
    rig_escape(text, escaped, sizeof escaped);
    out[0] = '\0';
    rig_append(out, sizeof out,
               RIG_START "event: content_block_start\ndata: {\"type\":\"content_block_start\","
                         "\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
                         "event: content_block_delta\ndata: {\"type\":\"content_block_delta\","
                         "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}\n\n"
                         "event: content_block_stop\ndata: {\"type\":\"content_block_stop\","
                         "\"index\":0}\n\n",
               mock ? 0 : 10, mock ? 0 : 1, escaped);
    rig_delta(out, sizeof out, "end_turn", mock);
    return out;
}

const char *rig_stream_of(const char *text) { return rig_text_stream(text, false); }

void rig_says(rig *r, const char *text) {
    (void)rig_answer(r, 200, RIG_HEADERS, rig_text_stream(text, r->mock));
}

void rig_mock(rig *r) { r->mock = true; }

static void rig_exhausted(rig *r) { rig_says(r, "(no more mock responses)"); }

void rig_calls(rig *r, const char *const *calls, size_t n) {
    static char out[1 << 17];
    size_t i;
    out[0] = '\0';
    rig_append(out, sizeof out, RIG_START, r->mock ? 0 : 10, r->mock ? 0 : 1);
    for (i = 0; i < n; i++) {
        char id[64], name[128], escaped[4096];
        int skip = 0;
        if (sscanf(calls[i], "%63s %127s %n", id, name, &skip) != 2) abort();
        if (r->mock) (void)snprintf(id, sizeof id, "mock-tool-%u", (unsigned)i);
        rig_escape(calls[i] + skip, escaped, sizeof escaped);
        rig_append(
            out, sizeof out,
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":%u,"
            "\"content_block\":{\"type\":\"tool_use\",\"id\":\"%s\",\"name\":\"%s\","
            "\"input\":{}}}\n\n"
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":%u,"
            "\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"%s\"}}\n\n"
            "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":%u}"
            "\n\n",
            (unsigned)i, id, name, (unsigned)i, escaped, (unsigned)i);
    }
    rig_delta(out, sizeof out, "tool_use", r->mock);
    (void)rig_answer(r, 200, RIG_HEADERS, out);
}

void rig_call(rig *r, const char *id, const char *name, const char *arguments) {
    char line[4400];
    const char *one = line;
    (void)snprintf(line, sizeof line, "%s %s %s", id, name, arguments);
    rig_calls(r, &one, 1);
}

void rig_replies(rig *r, int status, const char *headers, const char *body) {
    (void)rig_answer(r, status, headers, body);
}

void rig_breaks(rig *r, const char *body, phi_status status, const char *words) {
    answer *a = rig_answer(r, 200, RIG_HEADERS, body);
    a->end = status;
    free(a->words);
    a->words = rig_copy(words);
}

void rig_hangs(rig *r, const char *body) { rig_answer(r, 200, RIG_HEADERS, body)->hangs = true; }

void rig_refuses(rig *r, phi_status status) {
    answer *a = rig_answer(r, 200, RIG_HEADERS, "");
    a->refuses = true;
    a->end = status;
}

void rig_chunk(rig *r, size_t bytes) { r->chunk = bytes; }
void rig_greedy(rig *r) { r->greedy = true; }
void rig_careless(rig *r) { r->careless = true; }
void rig_drop_answers(rig *r) { r->next = r->answers; }

/* ---- tools ---- */

static phi_flow rig_echo_start(void *user_data, phi_call call, phi_str arguments) {
    phi_content content;
    phi_tool_result result;
    (void)user_data;
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    content.kind = PHI_CONTENT_TEXT;
    content.text = arguments;
    result.content = &content;
    result.content_count = 1;
    (void)phi_call_result(call, &result);
    return PHI_DONE;
}

phi_tool rig_echo(void) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    tool.name = "echo";
    tool.description = "Says it again";
    tool.start = rig_echo_start;
    return tool;
}

static phi_flow rig_wait_start(void *user_data, phi_call call, phi_str arguments) {
    rig *r = (rig *)user_data;
    (void)arguments;
    if (r->started == RIG_SAID) abort();
    r->calls[r->started++] = call;
    return PHI_PENDING;
}

static void rig_wait_cancel(void *user_data, phi_call call) {
    (void)call;
    ((rig *)user_data)->cancelled++;
}

phi_tool rig_wait(rig *r) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    tool.name = "wait";
    tool.description = "Waits";
    tool.start = rig_wait_start;
    tool.cancel = rig_wait_cancel;
    tool.user_data = r;
    return tool;
}

size_t rig_started(const rig *r) { return r->started; }
size_t rig_cancelled(const rig *r) { return r->cancelled; }

phi_call rig_call_at(const rig *r, size_t i) {
    if (i >= r->started) abort();
    return r->calls[i];
}

void rig_finish(rig *r, size_t i, const char *text) {
    CHECK_EQ_INT(phi_call_reply(rig_call_at(r, i), text), PHI_OK);
}

/* ---- the runtime ---- */

static uint64_t rig_clock(void *user_data) { return ((rig *)user_data)->now_us; }

static void rig_random(void *user_data, void *out, size_t len) {
    rig *r = (rig *)user_data;
    unsigned char *p = (unsigned char *)out;
    size_t i;
    for (i = 0; i < len; i++) p[i] = (unsigned char)(test_random(&r->seed) >> 24);
}

rig *rig_new_with(const phi_runtime_desc *given) {
    rig *r = (rig *)calloc(1, sizeof *r);
    phi_runtime_desc desc;
    if (r == NULL) abort();
    memset(&desc, 0, sizeof desc);
    if (given != NULL) desc = *given;
    r->now_us = UINT64_C(1000000000);
    r->seed = 1;
    if (desc.random_fn != NULL) desc.random_fn(desc.user_data, &r->seed, sizeof r->seed);
    r->story = rig_copy("");
    r->transport.open = rig_open;
    r->transport.resume = rig_resume;
    r->transport.cancel = rig_cancel;
    r->transport.pump = rig_pump;
    r->transport.user_data = r;
    desc.allocator = test_allocator();
    desc.transport = &r->transport;
    if (desc.codecs == NULL) desc.codecs = PHI_ALL_PROTOCOLS;
    if (desc.features == NULL) desc.features = PHI_ALL_FEATURES;
    desc.clock_us_fn = rig_clock;
    desc.random_fn = rig_random;
    desc.user_data = r;
    r->rt = phi_runtime_new(&desc);
    if (r->rt == NULL) {
        rig_free(r);
        return NULL;
    }
    return r;
}

rig *rig_new(void) { return rig_new_with(NULL); }

void rig_rewind(rig *r) {
    size_t i;
    if (rig_open_transfers(r) > 0) abort(); /* an answer is still being told */
    for (i = 0; i < r->answers; i++) {
        free(r->script[i].headers);
        free(r->script[i].body);
        free(r->script[i].words);
    }
    for (i = 0; i < r->request_count; i++) free(r->requests[i]);
    r->answers = r->next = r->request_count = 0;
}

void rig_free(rig *r) {
    size_t i;
    if (r == NULL) return;
    phi_runtime_free(r->rt);
    memset(r->goings, 0, sizeof r->goings);
    rig_rewind(r);
    for (i = 0; i < RIG_POINTS; i++)
        while (r->answer_count[i] > 0) free(r->answers_of[i][--r->answer_count[i]].reply);
    while (r->hook_count > 0) free(r->hooks[--r->hook_count].line);
    free(r->hooks);
    free(r->story);
    free(r);
}

phi_runtime *rig_runtime(rig *r) { return r->rt; }

phi_agent_desc rig_desc(void) {
    phi_agent_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.model = phi_model_anthropic("test-model", "test-key");
    desc.ids.agent_id = "agent";
    desc.ids.session_id = "session";
    desc.retry.disable = true;
    return desc;
}

phi_agent rig_agent(rig *r, const phi_agent_desc *desc) {
    phi_agent_desc plain = rig_desc();
    return phi_agent_new(r->rt, desc != NULL ? desc : &plain);
}

int rig_step(rig *r) {
    int runs = phi_step(r->rt, 0);
    phi_event event;
    while (!r->silent && phi_next_event(r->rt, &event)) {
        rig_tell_hooks(r, event.seq);
        if (r->watch != NULL) r->watch(r->watch_data, &event);
        rig_tell(r, &event);
    }
    if (!r->silent) rig_tell_hooks(r, UINT64_MAX);
    return runs;
}

int rig_run(rig *r, int most) {
    int runs = 1;
    while (runs > 0 && most-- > 0) {
        runs = rig_step(r);
        r->now_us += 1000;
    }
    return runs;
}

/* Whether an answer is on its way: nothing may be leapt over. */
static bool rig_talks(const rig *r) {
    size_t i;
    for (i = 0; i < 64; i++) {
        const going *g = &r->goings[i];
        if (g->live && !g->full && (g->at < g->says->len || !g->headed || !g->says->hangs))
            return true;
    }
    return false;
}

int rig_run_until(rig *r, uint32_t ms) {
    uint64_t end = r->now_us + (uint64_t)ms * 1000;
    int runs = rig_step(r);
    while (runs > 0 && r->now_us < end) {
        int next = phi_next_timeout(r->rt);
        uint64_t stride = next < 0 ? end - r->now_us : (uint64_t)next * 1000;
        if (stride < 1000 || rig_talks(r)) stride = 1000;
        r->now_us += stride < end - r->now_us ? stride : end - r->now_us;
        runs = rig_step(r);
    }
    return runs;
}

void rig_pass_ms(rig *r, uint32_t ms) { r->now_us += (uint64_t)ms * 1000; }
void rig_pass_stepping_ms(rig *r, uint32_t ms) {
    for (; ms > 1000; ms -= 1000) {
        rig_pass_ms(r, 1000);
        (void)rig_step(r);
    }
    rig_pass_ms(r, ms);
}

void rig_silent(rig *r, bool silent) { r->silent = silent; }
const char *rig_story(rig *r) { return r->story; }

void rig_forget(rig *r) {
    while (r->hook_count > 0) free(r->hooks[--r->hook_count].line);
    r->story_len = 0;
    r->story[0] = '\0';
}

const char *rig_key(rig *r, size_t i) { return i < r->request_count ? r->keys[i] : ""; }
const char *rig_request(rig *r, size_t i) { return i < r->request_count ? r->requests[i] : NULL; }

size_t rig_requests(rig *r) { return r->request_count; }
