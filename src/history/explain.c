/* explain.c - explains a projection: a line for each group, whether it is sent, and why. */
#include "history/project_in.h"

#include "base/buf_in.h"

static const char *phi__explain_verdict(const phi__group *g, const phi_policy *policy) {
    switch (g->verdict) {
    case PHI__VERDICT_SHOWN:
        return !g->is_summary && g->turn > 1 && g->turn <= policy->keep_last_turns
                   ? "shown, protected"
                   : "shown";
    case PHI__VERDICT_CUT: return "shown, its results cut";
    case PHI__VERDICT_KIND: return "left out: not included by the policy";
    case PHI__VERDICT_TURNS: return "left out: max_turns";
    case PHI__VERDICT_MESSAGES: return "left out: max_messages";
    case PHI__VERDICT_BUDGET: return "left out: the budget";
    case PHI__VERDICT_START: return "left out: no user message before it is shown";
    }
    return "";
}

static void phi__explain_what(phi__buf *out, const phi__group *g) {
    if (g->is_summary) {
        phi__buf_text(out, "summary");
        return;
    }
    phi__buf_text(out, g->message == NULL || g->message->role == PHI_ROLE_ASSISTANT
                           ? "answer"
                           : "user message");
    if (g->result_count > 0)
        phi__buf_printf(out, " and %llu result%s", (unsigned long long)g->result_count,
                        g->result_count == 1 ? "" : "s");
    if (g->made > 0) phi__buf_printf(out, " (%llu made)", (unsigned long long)g->made);
}

static void phi__explain_group(phi__buf *out, const phi__project_order *o, const phi__group *g,
                               const phi_policy *policy) {
    uint64_t from = o->items != NULL ? o->items[g->at].from : o->fold->items[g->at].from;
    uint64_t to = o->items != NULL ? o->items[g->at].to : o->fold->items[g->at].to;
    phi__buf_printf(out, "%llu", (unsigned long long)from);
    if (to != from) phi__buf_printf(out, "-%llu", (unsigned long long)to);
    phi__buf_text(out, " ");
    phi__explain_what(out, g);
    phi__buf_printf(out, ", %llu tokens: %s\n", (unsigned long long)g->tokens,
                    phi__explain_verdict(g, policy));
}

static void phi__explain_head(phi__buf *out, const phi_projection_meta *meta,
                              const phi_policy *policy) {
    if (policy->max_input_tokens == PHI_POLICY_UNLIMITED) {
        phi__buf_text(out, "for messages: no limit\n");
        return;
    }
    phi__buf_printf(
        out, "for messages: %llu of %llu tokens (answer %llu, system prompt %llu, tools %llu)\n",
        (unsigned long long)meta->budget_tokens, (unsigned long long)policy->max_input_tokens,
        (unsigned long long)policy->reserve_output_tokens, (unsigned long long)meta->system_tokens,
        (unsigned long long)meta->tools_tokens);
}

static void phi__explain_tail(phi__buf *out, const phi_projection_meta *meta) {
    phi__buf_printf(out, "sent: %llu messages of %llu, %llu tokens in all",
                    (unsigned long long)meta->messages_included,
                    (unsigned long long)meta->messages_total,
                    (unsigned long long)meta->estimated_tokens);
    if (meta->overflow) phi__buf_text(out, "; the newest turn does not fit");
    if (meta->protected_over) phi__buf_text(out, "; protected turns are beyond the budget");
    if (meta->need_summary)
        phi__buf_printf(out, "; a summary of %llu-%llu is wanted",
                        (unsigned long long)meta->need_from, (unsigned long long)meta->need_to);
    phi__buf_char(out, '\n');
}

/* order->all is set. */
PHI__FN phi_status phi__explain(phi__project_order *order, phi_arena *arena, phi_str *out) {
    phi_arena scratch;
    phi__projection made;
    phi__buf text;
    phi_policy policy = phi__policy_filled(order->policy);
    const phi__group *g;
    phi_status status;
    phi_arena_init(&scratch, arena->memory, 0);
    phi__buf_init(&text, arena->memory);
    order->all = true;
    order->extensions = false;
    status = phi__project(order, &scratch, &made);
    if (status == PHI_OK) {
        phi__explain_head(&text, &made.meta, &policy);
        for (g = made.groups; g != NULL; g = g->newer) phi__explain_group(&text, order, g, &policy);
        phi__explain_tail(&text, &made.meta);
        if (text.failed || !phi__arena_str(arena, phi__buf_str(&text), out)) status = PHI_NO_MEMORY;
    }
    phi__buf_free(&text);
    phi_arena_free(&scratch);
    return status;
}
