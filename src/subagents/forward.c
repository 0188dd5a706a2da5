/* forward.c - a child's words, tools and progress, as updates of the call that it works for.

   An event is emitted in the midst of a state of the child's run, where no function of the host's
   may be called: it is noted, and handed over between two states. Words that follow each other
   become one update. Without memory, or when the host does not pop its events, updates are
   lost. */
#include "subagents/child_in.h"

#include "text/json_in.h"

typedef enum phi__forward_kind {
    PHI__FORWARD_TEXT = 1, /* of the child's answer */
    PHI__FORWARD_TOOL,
    PHI__FORWARD_PROGRESS
} phi__forward_kind;

/* In front of the text of a part. */
typedef struct phi__forward_part {
    phi__forward_kind kind;
    size_t len;
} phi__forward_part;

static void phi__forward_clear(phi__child *child) {
    phi__buf_free(&child->heard);
    child->last_heard = SIZE_MAX;
}

static phi__forward_part phi__forward_get(const phi__buf *heard, size_t at) {
    phi__forward_part part;
    memcpy(&part, heard->at + at, sizeof part);
    return part;
}

static void phi__forward_add(phi__child *child, phi__forward_kind kind, phi_str text) {
    phi__buf *heard = &child->heard;
    phi__forward_part part;
    size_t at = child->last_heard;
    if (at != SIZE_MAX) part = phi__forward_get(heard, at);
    if (at != SIZE_MAX && kind == PHI__FORWARD_TEXT && part.kind == kind) {
        part.len += text.len;
    } else {
        at = heard->len;
        part.kind = kind;
        part.len = text.len;
        phi__buf_add(heard, (const char *)&part, sizeof part);
    }
    phi__buf_add_str(heard, text);
    if (heard->failed) {
        phi__forward_clear(child);
        return;
    }
    memcpy(heard->at + at, &part, sizeof part);
    child->last_heard = at;
}

static void phi__forward_tool(phi__child *child, phi_str name) {
    phi__buf text;
    phi__buf_init(&text, &child->of->parent->memory);
    phi__buf_text(&text, "[sub-agent calling tool: ");
    phi__buf_add_str(&text, name);
    phi__buf_char(&text, ']');
    if (!text.failed) phi__forward_add(child, PHI__FORWARD_TOOL, phi__buf_str(&text));
    phi__buf_free(&text);
}

PHI__FN bool phi__forward_note(phi__child *child, const phi_event *event) {
    if (child->call.rt == NULL) return false;
    if (!phi__call_pending(child->call)) { /* finished from outside: nobody waits any more */
        child->call.rt = NULL;
        phi__schedule_cancel_tree(child->agent, false);
        return false;
    }
    switch ((int)event->kind) {
    case PHI_EV_TEXT: phi__forward_add(child, PHI__FORWARD_TEXT, event->text); return true;
    case PHI_EV_TOOL_START: phi__forward_tool(child, event->tool_name); return true;
    case PHI_EV_TOOL_PROGRESS:
        phi__forward_add(child, PHI__FORWARD_PROGRESS, event->text);
        /* it may come from the host, while the run waits */
        if (child->agent->run != NULL) phi__schedule_wake(child->agent->run);
        return true;
    default: return false;
    }
}

static phi_status phi__forward_give(phi_call call, phi__forward_kind kind, phi_str text,
                                    phi_tool_result *partial) {
    phi_content content;
    if (kind == PHI__FORWARD_PROGRESS) return phi__update_progress(call, text);
    memset(&content, 0, sizeof content);
    content.kind = PHI_CONTENT_TEXT;
    content.text = text;
    partial->content = &content;
    partial->content_count = 1;
    return phi_call_update(call, partial);
}

/* Each part calls hooks of the host, which may free the child, and its parent: their memory stays
   until the step ends. */
PHI__FN void phi__forward_all(phi__child *child) {
    phi__buf heard = child->heard, details;
    phi_call call = child->call;
    phi_status status = PHI_OK;
    phi_tool_result partial;
    size_t at = 0;
    phi__buf_init(&child->heard, &child->of->parent->memory);
    phi__buf_init(&details, &child->of->parent->memory);
    child->last_heard = SIZE_MAX;
    phi__buf_char(&details, '{');
    phi__json_write_key(&details, PHI__LIT("sub_agent"));
    phi__json_write_str(&details, phi_str_of(child->desc->name));
    phi__buf_add(&details, "}", 2); /* and its end */
    memset(&partial, 0, sizeof partial);
    partial.child_loop_id = child->agent->line.last_loop_id.at;
    if (!details.failed) partial.details = details.at;
    while (at < heard.len && status != PHI_STALE) {
        phi__forward_part part = phi__forward_get(&heard, at);
        at += sizeof part;
        status = phi__forward_give(call, part.kind, phi__str(heard.at + at, part.len), &partial);
        at += part.len;
    }
    phi__buf_free(&details);
    phi__buf_free(&heard);
}
