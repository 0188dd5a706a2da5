/* phi_acp_show.h - what a run does, as updates for the editor; and what was said before, when a session is loaded. */
#ifndef PHI_ACP_SHOW_H
#define PHI_ACP_SHOW_H

#include "phi_acp_plan.h"
#include "phi_compact.h"

enum { ACP_PIECE = 64 << 10 }; /* bytes of a text in one update */

/* One piece of a message: "agent_message_chunk", "agent_thought_chunk", "user_message_chunk". */
static inline void acp_chunk(acp_wire *w, const acp_session *s, const char *kind, phi_str words) {
    while (words.len > 0) {
        phi_arena_mark mark = phi_arena_save(&w->arena);
        phi_json *update = acp_update(w, kind), *content;
        phi_str piece = words;
        char id[40];
        if (piece.len > ACP_PIECE) piece.len = ACP_PIECE;
        while (piece.len < words.len && ((unsigned char)words.at[piece.len] & 0xC0) == 0x80 &&
               piece.len > ACP_PIECE - 4)
            piece.len--; /* a character stays whole */
        (void)snprintf(id, sizeof id, "m%llu", (unsigned long long)s->message);
        acp_say(w, update, "messageId", id);
        content = acp_in(w, update, "content", false);
        acp_say(w, content, "type", "text");
        acp_str(w, content, "text", piece);
        acp_show(w, s, update);
        words.at += piece.len, words.len -= piece.len;
        phi_arena_reset(&w->arena, mark);
    }
}

/* Answers the prompt that is under way. */
static inline void acp_stop(acp *p, acp_session *s, const char *reason) {
    phi_json *result;
    if (s->prompt.len == 0) return;
    result = acp_object(&p->wire);
    acp_say(&p->wire, result, "stopReason", reason);
    acp_result(&p->wire, text_str(&s->prompt), result);
    s->prompt.len = 0;
}

/* How full the model's window is, and what the session has cost. */
static inline void acp_usage(acp_wire *w, const acp_session *s, const phi_usage *usage) {
    phi_agent_desc desc = PHI_ZERO;
    phi_json *update = acp_update(w, "usage_update"), *cost;
    double dollars = phi_agent_get_info(s->a.agent).cost;
    if (usage == NULL || phi_agent_get_desc(s->a.agent, &desc) != PHI_OK) return;
    acp_put(w, update, "used", phi_json_new_int(&w->arena, (int64_t)usage->total_tokens));
    acp_put(w, update, "size", phi_json_new_int(&w->arena, (int64_t)desc.model.context_window));
    if (dollars > 0) {
        cost = acp_in(w, update, "cost", false);
        acp_put(w, cost, "amount", phi_json_new_num(&w->arena, dollars));
        acp_say(w, cost, "currency", "USD");
    }
    acp_show(w, s, update);
}

/* Which limit ended the run. */
static inline const char *acp_limit(phi_str words) {
    size_t i;
    for (i = 0; i + 5 < words.len; i++)
        if (memcmp(words.at + i, "tokens", 6) == 0 || memcmp(words.at + i, "Token ", 6) == 0)
            return "max_tokens";
    return "max_turn_requests";
}

static inline void acp_end(acp *p, acp_session *s, const phi_event *ev) {
    acp_wire *w = &p->wire;
    phi_status status = ev->status;
    bool refused = ev->failure != NULL && ev->failure->kind == PHI_FAILURE_CONTENT_FILTER;
    while (s->calls != NULL) acp_call_ended(w, s, text_str(&s->calls->id), NULL, false);
    if (s->cancelled || status == PHI_CANCELLED)
        acp_stop(p, s, s->paused && !s->cancelled ? "max_turn_requests" : "cancelled");
    else if (status == PHI_OK)
        acp_stop(p, s, s->a.cut ? "max_tokens" : "end_turn");
    else if (status == PHI_LIMIT)
        acp_stop(p, s, acp_limit(ev->text));
    else if (refused || status == PHI_REJECTED || status == PHI_DENIED)
        acp_stop(p, s, "refusal");
    else if (s->prompt.len > 0) {
        if (s->said.len == 0) text_say(&s->said, phi_status_text(status));
        if (s->a.guess && ev->failure != NULL && ev->failure->kind == PHI_FAILURE_NETWORK)
            text_say(&s->said, " (no key is set: phi models lists the variables)");
        acp_error(w, text_str(&s->prompt), ACP_INTERNAL, text_str(&s->said));
        s->prompt.len = 0;
    }
    s->cancelled = s->paused = false;
    s->said.len = 0;
}

/* A message of the log, or one that is complete. */
static inline void acp_message_end(acp *p, acp_session *s, const phi_message *m) {
    size_t i;
    if (m->role == PHI_ROLE_TOOL_RESULT)
        acp_call_ended(&p->wire, s, m->tool_call_id, m, !m->is_error);
    if (m->role != PHI_ROLE_ASSISTANT) return;
    s->a.cut = m->stop_reason == PHI_STOP_REASON_LENGTH;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind != PHI_CONTENT_TOOL_CALL || c->incomplete) continue;
        acp_call_wanted(&p->wire, s, c->id, c->name, acp_source(&p->wire, s, c->name), c->arguments,
                        false);
        acp_plan(&p->wire, s, c->name, c->arguments);
    }
}

/* What only the log of the program gets. */
static inline void acp_note(acp_session *s, const phi_event *ev) {
    text words = {NULL, 0, 0}, clean = {NULL, 0, 0};
    style how = notes_add(&words, ev);
    if (ev->kind == PHI_EV_ERROR && words.len > 2) {
        s->said.len = 0;
        text_note(&s->said, text_str(&words));
        text_remove(&s->said, 0, 2); /* "! " */
    }
    text_note(&clean, text_str(&words));
    if (how != STYLE_END && (how == STYLE_BAD || !s->a.o.quiet))
        (void)fprintf(stderr, "phi: %s\n", clean.at);
    free(words.at), free(clean.at);
}

static inline void acp_compacted(acp *p, acp_session *s, const phi_event *ev) {
    text words = {NULL, 0, 0};
    if (s->a.sums == 0) return;
    (void)compact_end(&s->a, ev, &words);
    acp_chunk(&p->wire, s, "agent_message_chunk", text_str(&words));
    acp_stop(p, s, s->cancelled ? "cancelled" : "end_turn");
    s->cancelled = false;
    free(words.at);
}

static inline void acp_event(acp *p, const phi_event *ev) {
    acp_session *s = p->sessions;
    acp_wire *w = &p->wire;
    phi_str result = PHI_ZERO;
    while (s != NULL && (s->a.agent.index != ev->agent.index || s->a.agent.gen != ev->agent.gen))
        s = s->next;
    if (s == NULL) return; /* a sub-agent's: its call shows it */
    acp_note(s, ev);
    switch (ev->kind) {
    case PHI_EV_AGENT_START: s->a.cut = false; break;
    case PHI_EV_MESSAGE_START:
        if (ev->message->role == PHI_ROLE_ASSISTANT) s->message = ++p->messages;
        break;
    case PHI_EV_TEXT: acp_chunk(w, s, "agent_message_chunk", ev->text); break;
    case PHI_EV_THINKING: acp_chunk(w, s, "agent_thought_chunk", ev->text); break;
    case PHI_EV_RETRACT: /* what was shown stays there */
        acp_chunk(w, s, "agent_message_chunk",
                  phi_str_of("\n\n(that was cut off, and is asked for again)\n\n"));
        s->message = ++p->messages;
        break;
    case PHI_EV_MESSAGE_END: acp_message_end(p, s, ev->message); break;
    case PHI_EV_TOOL_START: acp_call_runs(w, s, ev->tool_call_id); break;
    case PHI_EV_TOOL_END:
        if (ev->message != NULL) result = phi_message_text(ev->message, " ", &w->arena, NULL);
        acp_call_ended(w, s, ev->tool_call_id, ev->message,
                       !ev->is_error && calls_exit_code(ev, result) == 0);
        break;
    case PHI_EV_COMPACTION_END:
        acp_chunk(w, s, "agent_message_chunk", phi_str_of("(compacted)\n"));
        break;
    case PHI_EV_REWRITE: acp_compacted(p, s, ev); break;
    case PHI_EV_PAUSED: /* the protocol has no question about more */
        s->paused = true;
        (void)phi_abort(s->a.agent);
        break;
    case PHI_EV_TURN_END: acp_usage(w, s, ev->usage); break;
    case PHI_EV_AGENT_END: acp_end(p, s, ev); break;
    default: break;
    }
}

/* Shows the next message of the log. False: there is none. */
static inline bool acp_replay(acp *p, acp_session *s) {
    const phi_message *m = phi_thread_message_at(phi_agent_thread(s->a.agent), s->replayed);
    const char *kind = "user_message_chunk";
    bool said;
    size_t i;
    if (m == NULL) return false;
    s->replayed++;
    s->message = ++p->messages;
    said = !m->is_update && (m->role == PHI_ROLE_USER || m->role == PHI_ROLE_ASSISTANT);
    if (m->role == PHI_ROLE_ASSISTANT) kind = "agent_message_chunk";
    for (i = 0; said && i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind == PHI_CONTENT_TEXT) acp_chunk(&p->wire, s, kind, c->text);
        if (c->kind == PHI_CONTENT_THINKING) acp_chunk(&p->wire, s, "agent_thought_chunk", c->text);
        if (c->kind == PHI_CONTENT_DOCUMENT && c->name.len > 0)
            acp_chunk(&p->wire, s, kind, c->name);
    }
    acp_message_end(p, s, m);
    return true;
}

#endif
