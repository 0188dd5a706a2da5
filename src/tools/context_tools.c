/* context_tools.c - prun, prun_with_memo and revert_to_state: descriptions and context edits. */
#include "tools/context_tools.h"

#include "tools/job_in.h"
#include "features/context_edits.h"
#include "log/log_in.h"

#include <stdio.h>

static const char phi__prun_prun[] = "{\"type\":\"object\",\"properties\":{"
                                     "\"tokens\":{\"type\":\"integer\",\"minimum\":1,"
                                     "\"description\":\"About how many tokens to remove\"}},"
                                     "\"required\":[\"tokens\"]}";
static const char phi__prun_memo[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"tokens\":{\"type\":\"integer\",\"minimum\":1,"
    "\"description\":\"About how many tokens to remove\"},"
    "\"memo\":{\"type\":\"string\",\"description\":"
    "\"What to remember of what is removed, in a few sentences\"}},"
    "\"required\":[\"tokens\",\"memo\"]}";
static const char phi__prun_revert[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"category\":{\"type\":\"string\","
    "\"enum\":[\"failure\",\"tangent\",\"completion\",\"step-summary\"],"
    "\"description\":\"Why: what followed failed, led away, is done, or can be summed up\"},"
    "\"step\":{\"type\":\"string\",\"description\":\"The step to go back to, such as n12\"},"
    "\"summary\":{\"type\":\"string\",\"description\":\"What to remember of what followed\"}},"
    "\"required\":[\"category\",\"step\"]}";

static void phi__prun_drop(phi__job *job) { (void)job; }

/* ---- prun, prun_with_memo ---- */

static phi_flow phi__prun_prune(phi__job *job, bool with_memo) {
    char words[96];
    phi_prune prune = PHI_ZERO;
    uint64_t tokens;
    if (!phi__job_number(job, "tokens", 0, &tokens)) return PHI_DONE;
    if (with_memo && !phi__job_str(job, "memo", &prune.memo)) return PHI_DONE;
    if (tokens == 0) return phi__job_fail(job, "Invalid arguments: tokens must be > 0");
    prune.tokens = tokens;
    if (phi_call_edit(job->call, &prune, NULL, NULL, 0) != PHI_OK) return phi__job_no_memory(job);
    (void)snprintf(words, sizeof words,
                   "Prun request recorded: %llu tokens will be removed before next turn.",
                   (unsigned long long)tokens);
    return phi__job_done(job, phi_str_of(words), NULL);
}

static phi_flow phi__prun_prune_go(phi__job *job) { return phi__prun_prune(job, false); }

static phi_flow phi__prun_memo_go(phi__job *job) { return phi__prun_prune(job, true); }

static phi_flow phi__prun_prune_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__job), true, phi__prun_prune_go,
                          phi__prun_drop);
}

static phi_flow phi__prun_memo_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__job), true, phi__prun_memo_go,
                          phi__prun_drop);
}

/* ---- revert_to_state ---- */

static phi_flow phi__prun_revert_go(phi__job *job) {
    phi_str category, step;
    const char *summary;
    char words[200];
    uint64_t number;
    phi_revert revert = PHI_ZERO;
    if (!phi__job_str(job, "category", &category) || !phi__job_str(job, "step", &step) ||
        !phi__job_text(job, "summary", false, &summary))
        return PHI_DONE;
    int kind = PHI_REVERT_FAILURE;
    while (kind <= PHI_REVERT_STEP_SUMMARY &&
           !phi__str_is(category, phi__revert_word((phi_revert_category)kind)))
        kind++;
    revert.category = (phi_revert_category)kind;
    if (kind > PHI_REVERT_STEP_SUMMARY)
        return phi__job_fail(job, "Invalid arguments: category must be failure, tangent, "
                                  "completion or step-summary");
    phi_str digits = phi__str_starts(step, "n") ? phi__str_from(step, 1) : step;
    if (!phi__str_to_u64(digits, &number))
        return phi__job_fail(job, "Invalid arguments: step must be one that is shown, such as n12");
    revert.step = number;
    revert.summary = phi_str_of(summary);
    phi_status status = phi_call_edit(job->call, NULL, &revert, words, sizeof words);
    if (status == PHI_REJECTED) return phi__job_fail(job, "Revert rejected: %s", words);
    if (status != PHI_OK) return phi__job_no_memory(job);
    (void)snprintf(words, sizeof words,
                   "Revert request recorded: back to step n%llu before next turn.",
                   (unsigned long long)number);
    return phi__job_done(job, phi_str_of(words), NULL);
}

static phi_flow phi__prun_revert_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__job), true, phi__prun_revert_go,
                          phi__prun_drop);
}

/* ---- public ---- */

PHI_API phi_status phi_tools_context(phi_tool *out) {
    if (out == NULL) return PHI_BAD_ARG;
    phi__job_tool(&out[0], NULL, "prun", "Prun",
                  "Remove the oldest of your own messages and tool results from the context, "
                  "up to about so many tokens, when they are no longer needed. What the user "
                  "said stays.",
                  phi__prun_prun, phi__prun_prune_start);
    phi__job_tool(&out[1], NULL, "prun_with_memo", "Prun with Memo",
                  "Remove the oldest of your own messages and tool results from the context, "
                  "up to about so many tokens, and leave a memo in their place. What the user "
                  "said stays.",
                  phi__prun_memo, phi__prun_memo_start);
    phi__job_tool(&out[2], NULL, "revert_to_state", "Revert to State",
                  "Go back to the step whose tool result ends with [step nNN]: all that "
                  "followed it is removed from the context, and the summary stays in its "
                  "place. Messages of the user cannot be gone back over.",
                  phi__prun_revert, phi__prun_revert_start);
    out[2].names_steps = true;
    return PHI_OK;
}
