/* judging.c - what a judge gets to read, and what its verdict means.

   The judge compares outcomes, not ways: of the conversation and of each branch it sees text alone.
   Branches that failed are not shown to it, unless all have failed. */
#include "evaluate/judging_in.h"

#include "evaluate/branches_in.h"
#include "evaluate/judge_in.h"
#include "evaluate/select_in.h"
#include "model/tokens.h"

/* ---- the query ---- */

/* The last user message of a view, or its end: the query of branches without a prompt. */
static size_t phi__judging_query_at(const phi_view_item *items, size_t count) {
    size_t i = count;
    while (i > 0)
        if (items[--i].message->role == PHI_ROLE_USER) return i;
    return count;
}

/* The agent's view when the evaluation began. */
static bool phi__judging_view(const phi__evaluation *e, phi_arena *arena,
                              const phi_view_item **items, size_t *count) {
    const phi_thread *thread = e->agent->thread;
    phi_str lane = phi__lane_name(thread, e->lane);
    *items = NULL;
    *count = 0;
    return e->entries == 0 ||
           phi_thread_view(thread, lane.at, e->entries - 1, arena, items, count) == PHI_OK;
}

PHI__FN bool phi__judging_query(phi__evaluation *e, const phi_content *content, size_t count) {
    const phi_view_item *items;
    phi_arena arena;
    phi_message message;
    bool failed = false;
    memset(&message, 0, sizeof message);
    message.role = PHI_ROLE_USER;
    message.content = content;
    message.content_count = count;
    phi_arena_init(&arena, &e->agent->memory, 0);
    if (content == NULL) {
        size_t view = 0, at;
        failed = !phi__judging_view(e, &arena, &items, &view);
        at = phi__judging_query_at(items, view);
        if (at < view) message = *items[at].message;
    }
    if (!failed) e->pub.query = phi_message_text(&message, "\n", &e->arena, &failed);
    phi_arena_free(&arena);
    return !failed;
}

/* ---- candidates ---- */

PHI__FN size_t phi__judging_candidates(const phi__evaluation *e) {
    size_t n = 0, i;
    for (i = 0; i < e->pub.branch_count; i++)
        if (phi__select_may_win(e->branches, e->pub.branch_count, i)) n++;
    return n;
}

PHI__FN size_t phi__judging_selected(const phi__evaluation *e) {
    size_t left = e->judge_status == PHI_OK ? e->verdict : 0, i;
    for (i = 0; i < e->pub.branch_count; i++) {
        if (!phi__select_may_win(e->branches, e->pub.branch_count, i)) continue;
        if (left-- == 0) return i;
    }
    return phi__select_first(e->branches, e->pub.branch_count);
}

/* ---- the judge's run ---- */

static bool phi__judging_case(const phi__evaluation *e, phi__buf *transcript, phi_arena *arena,
                              phi__judge_case *c) {
    const phi_view_item *items;
    size_t end, i;
    if (!phi__judging_view(e, arena, &items, &end)) return false;
    if (e->continues) end = phi__judging_query_at(items, end);
    for (i = 0; i < end; i++) phi__judge_transcribe(transcript, items[i].message);
    c->context = phi__buf_str(transcript);
    c->query = e->pub.query;
    c->count = 0;
    c->texts = e->agent->desc.texts;
    c->responses = (phi_str *)phi_arena_alloc(arena, e->pub.branch_count * sizeof *c->responses);
    if (c->responses == NULL || transcript->failed) return false;
    for (i = 0; i < e->pub.branch_count; i++)
        if (phi__select_may_win(e->branches, e->pub.branch_count, i))
            c->responses[c->count++] = e->branches[i].text;
    return true;
}

/* behaviours C 63 */
static bool phi__judging_warn(phi__evaluation *e) {
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_TOOL_PROGRESS;
    event.tool_call_id = PHI__LIT("judge-compaction");
    event.tool_name = PHI__LIT("LlmJudgeEvaluation");
    event.text = PHI__LIT("The texts to compare are longer than the judge's context, even when "
                          "they are cut");
    return phi__events_emit(e->agent, &event, NULL, 0);
}

/* The prompt, fitted into the judge's window. */
static bool phi__judging_prompt(phi__evaluation *e, phi__buf *out) {
    const phi__agent *judge = e->seats[e->pub.branch_count].child;
    phi__buf transcript;
    phi_arena arena;
    phi__judge_case c;
    phi_status status = PHI_NO_MEMORY;
    phi__buf_init(&transcript, &e->agent->memory);
    phi_arena_init(&arena, &e->agent->memory, 0);
    if (phi__judging_case(e, &transcript, &arena, &c))
        status = phi__judge_fit(&c, judge->desc.compaction.max_context_tokens,
                                phi__projection_counter(judge), &arena);
    if (status != PHI_NO_MEMORY) phi__judge_prompt(out, &c);
    phi_arena_free(&arena);
    phi__buf_free(&transcript);
    if (status == PHI_LIMIT && !phi__judging_warn(e)) status = PHI_NO_MEMORY;
    return status != PHI_NO_MEMORY && !out->failed;
}

PHI__FN phi_status phi__judging_begin(phi__evaluation *e) {
    phi__seat *seat = &e->seats[e->pub.branch_count];
    phi_content content;
    phi_status status = PHI_NO_MEMORY;
    char reason[160];
    phi__buf prompt;
    if (seat->child == NULL) return PHI_STALE;
    e->candidates = phi__judging_candidates(e);
    phi__buf_init(&prompt, &e->agent->memory);
    phi__evaluation_give(e);
    if (phi__judging_prompt(e, &prompt)) {
        content = phi__input_text(phi__buf_str(&prompt));
        status = phi__branches_start(seat, &content, 1);
    }
    if (status == PHI_OK) /* no other run may take the reservation; its turn renews it */
        (void)phi__reserve_call(
            seat->child->run,
            phi_tokens_of_text(phi__projection_counter(seat->child), content.text), reason,
            sizeof reason);
    if (status == PHI_OK) e->pub.judge_loop_id = e->judge_id;
    phi__buf_free(&prompt);
    return status;
}
