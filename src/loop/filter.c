/* filter.c - asking the input filters about what a user said, before it is stored.

   All filters see the same text, in order; what they warn of is appended to the message for the
   model, and the first that refuses ends it. A filter may wait: the text and the place in the row
   are kept. */
#include "loop/loop_in.h"

PHI__FN void phi__filter_init(phi__run *run) {
    phi__buf_init(&run->filter.text, &run->agent->memory);
    phi__buf_init(&run->filter.warnings, &run->agent->memory);
}

PHI__FN phi_str phi__filter_text(const phi__run *run) { return phi__buf_str(&run->filter.text); }

PHI__FN phi_str phi__filter_rejection(const phi__run *run) { return run->filter.rejection; }

PHI__FN void phi__filter_end(phi__run *run) {
    run->filter.on = false;
    run->filter.at = 0;
    phi__buf_free(&run->filter.text);
    phi__buf_free(&run->filter.warnings);
}

/* Text blocks, joined by line breaks. */
static void phi__filter_add(phi__run *run, const phi_message *message) {
    size_t i;
    for (i = 0; i < message->content_count; i++) {
        if (message->content[i].kind != PHI_CONTENT_TEXT) continue;
        if (run->filter.text.len > 0) phi__buf_char(&run->filter.text, '\n');
        phi__buf_add_str(&run->filter.text, message->content[i].text);
    }
}

static void phi__filter_warn(phi__run *run) {
    if (run->filter.warnings.len > 0) phi__buf_char(&run->filter.warnings, '\n');
    phi__buf_text(&run->filter.warnings, "[Warning: ");
    phi__buf_add_str(&run->filter.warnings, phi__buf_str(&run->decision.reply));
    phi__buf_char(&run->filter.warnings, ']');
}

/* The agent's own hook function is the last one, where it wants to be. */
static bool phi__filter_any(const phi__agent *agent) {
    return agent->desc.filter_count > 0 || phi__hook_wants(agent, PHI_HOOK_FILTER);
}

/* What is in run->filter.text, by the filters that have not been asked yet. */
static phi__hooked phi__filter_ask(phi__run *run, phi_input input) {
    phi__agent *agent = run->agent;
    if (run->filter.text.failed) return PHI__HOOK_LOST;
    while (run->filter.at <= agent->desc.filter_count) {
        phi_hook hook = phi__hook_of(run, PHI_HOOK_FILTER);
        phi__hooked hooked;
        hook.text = phi__buf_str(&run->filter.text);
        hook.input = input;
        if (run->filter.at < agent->desc.filter_count) {
            const phi_filter *filter = &agent->desc.filters[run->filter.at];
            hooked = phi__hook_ask(&run->decision, &hook, filter->fn, filter->user_data);
        } else
            hooked = phi__hook_run(run, &hook);
        if (hooked == PHI__HOOK_WARN) phi__filter_warn(run);
        if (run->filter.warnings.failed) return PHI__HOOK_LOST;
        if (hooked != PHI__HOOK_ALLOW && hooked != PHI__HOOK_WARN) return hooked;
        run->filter.at++;
    }
    return PHI__HOOK_ALLOW;
}

/* The message with one more block for the warnings; NULL: no memory. */
static phi_content *phi__filter_warned(phi__run *run, const phi_message *message,
                                       phi_arena *arena) {
    size_t n = message->content_count;
    phi_content *content =
        (phi_content *)phi_arena_alloc(arena, phi__mul(phi__add(n, 1), sizeof *content));
    if (content == NULL) return NULL;
    if (n > 0) memcpy(content, message->content, n * sizeof *content);
    memset(&content[n], 0, sizeof content[n]);
    content[n].kind = PHI_CONTENT_TEXT;
    return phi__arena_str(arena, phi__buf_str(&run->filter.warnings), &content[n].text) ? content
                                                                                        : NULL;
}

/* A rejection always has words: they are what says that there was one. */
static phi_str phi__filter_reason(const phi__run *run) {
    phi_str reason = phi__buf_str(&run->decision.reply);
    return reason.len > 0 ? reason : PHI__LIT("Rejected by an input filter");
}

static bool phi__filter_emit_rejected(phi__run *run) {
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_INPUT_REJECTED;
    event.text = phi__filter_reason(run);
    return phi__emit(run->agent, &event, NULL, 0);
}

PHI__FN phi__hooked phi__filter_prompts(phi__run *run) {
    phi_arena *arena = phi__thread_room(run->agent->thread);
    phi__hooked hooked;
    size_t i;
    if (!phi__filter_any(run->agent) || run->said.prompts == NULL) return PHI__HOOK_ALLOW;
    if (!run->filter.on) {
        run->filter.on = true;
        for (i = 0; i < run->said.prompt_count; i++)
            phi__filter_add(run, run->said.prompts[i].message);
    }
    hooked = phi__filter_ask(run, PHI_INPUT_PROMPT);
    if (hooked == PHI__HOOK_WAIT || hooked == PHI__HOOK_GONE) return hooked;
    if (hooked == PHI__HOOK_DENY &&
        (!phi__arena_str(arena, phi__filter_reason(run), &run->filter.rejection) ||
         !phi__filter_emit_rejected(run)))
        hooked = PHI__HOOK_LOST;
    if (hooked == PHI__HOOK_ALLOW && run->filter.warnings.len > 0) {
        phi__entry *last = &run->said.prompts[run->said.prompt_count - 1];
        phi_message *warned = (phi_message *)phi_arena_alloc(arena, sizeof *warned);
        phi_content *content = phi__filter_warned(run, last->message, arena);
        if (warned == NULL || content == NULL) return PHI__HOOK_LOST;
        *warned = *last->message;
        warned->content = content;
        warned->content_count++;
        last->message = warned;
    }
    phi__filter_end(run);
    return hooked;
}

static phi__hooked phi__filter_one(phi__run *run, phi__input *input) {
    phi__hooked hooked;
    if (!run->filter.on) {
        run->filter.on = true;
        phi__filter_add(run, &input->message);
    }
    hooked = phi__filter_ask(run, input->kind);
    if (hooked != PHI__HOOK_ALLOW) return hooked;
    if (run->filter.warnings.len > 0) {
        phi_content *content = phi__filter_warned(run, &input->message, &input->arena);
        if (content == NULL) return PHI__HOOK_LOST;
        input->message.content = content;
        input->message.content_count++;
    }
    input->filtered = true;
    phi__filter_end(run);
    return PHI__HOOK_ALLOW;
}

PHI__FN phi__hooked phi__filter_pending(phi__run *run) {
    phi__input *input;
    if (!phi__filter_any(run->agent)) return PHI__HOOK_ALLOW;
    for (input = phi__input_first(run); input != NULL; input = input->next) {
        phi__hooked hooked = input->filtered ? PHI__HOOK_ALLOW : phi__filter_one(run, input);
        if (hooked == PHI__HOOK_ALLOW) continue;
        if (hooked == PHI__HOOK_DENY) {
            if (!phi__filter_emit_rejected(run)) hooked = PHI__HOOK_LOST;
            phi__filter_end(run);
            phi__input_remove(run, input);
        }
        return hooked;
    }
    return PHI__HOOK_ALLOW;
}
