/* tool_round.c - the calls of a turn: laid out, none begun, and let go of. */
#include "loop/tool_round_in.h"

#include "loop/loop_in.h"

PHI__FN bool phi__run_lay_calls(phi__run *run) {
    const phi_message *reply = run->reply;
    size_t n = 0, i;
    for (i = 0; i < reply->content_count; i++) n += reply->content[i].kind == PHI_CONTENT_TOOL_CALL;
    run->tools.count = run->tools.next = run->tools.emitted = run->tools.running = 0;
    run->tools.calls = NULL;
    if (n == 0) return true;
    run->tools.calls =
        (phi__toolcall *)phi__arena_zero(&run->arena, phi__mul(n, sizeof *run->tools.calls));
    if (run->tools.calls == NULL) return false;
    for (i = 0; i < reply->content_count; i++) {
        phi__toolcall *call;
        if (reply->content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
        call = &run->tools.calls[run->tools.count++];
        call->rt = run->agent->rt;
        call->run = run;
        call->block = &reply->content[i];
        call->arguments = call->block->arguments;
        call->tool = phi__toolset_find(phi__agent_tools(run->agent), call->block->name);
        phi__decision_init(&call->decision, run, call);
    }
    return true;
}

PHI__FN void phi__run_detach_tools(phi__run *run) {
    size_t i;
    for (i = 0; run->tools.calls != NULL && i < run->tools.count; i++)
        phi__call_detach(&run->tools.calls[i]);
}

PHI__FN void phi__run_drop_tools(phi__run *run) {
    size_t i;
    phi__run_detach_tools(run);
    for (i = 0; run->tools.calls != NULL && i < run->tools.count; i++)
        phi__call_dispose(&run->tools.calls[i]);
    run->tools.calls = NULL;
}

PHI__FN void phi__round_clear(phi__run *run) {
    run->tools.skipping = run->tools.answered = false;
    run->tools.count = run->tools.next = run->tools.emitted = run->tools.running = 0;
    run->tools.polled = 0;
}

PHI__FN void phi__round_forget(phi__run *run) { run->tools.count = 0; }

PHI__FN void phi__round_free(phi__run *run) {
    phi__free(&run->agent->memory, run->tools.repeat_guard, sizeof *run->tools.repeat_guard);
}

PHI__FN bool phi__round_doomed(const phi__run *run) { return run->tools.repeated; }

PHI__FN bool phi__round_follows(const phi__run *run) {
    return run->tools.count > 0 && !run->tools.answered;
}

PHI__FN const phi__toolcall *phi__round_open(const phi__run *run, size_t *count) {
    *count = run->tools.calls != NULL ? run->tools.next - run->tools.emitted : 0;
    return run->tools.calls != NULL ? &run->tools.calls[run->tools.emitted] : NULL;
}
