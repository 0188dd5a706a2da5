/* tool_round.c - the calls of a turn: laid out, none begun, and let go of. */
#include "loop/tool_round_in.h"

#include "loop/loop_in.h"

PHI__FN bool phi__run_lay_calls(phi__run *run) {
    const phi_message *reply = run->reply;
    size_t n = 0, i;
    for (i = 0; i < reply->content_count; i++) n += reply->content[i].kind == PHI_CONTENT_TOOL_CALL;
    run->call_count = run->next_call = run->told_calls = run->running_calls = 0;
    run->calls = NULL;
    if (n == 0) return true;
    run->calls = (phi__toolcall *)phi__arena_zero(&run->arena, phi__mul(n, sizeof *run->calls));
    if (run->calls == NULL) return false;
    for (i = 0; i < reply->content_count; i++) {
        phi__toolcall *call;
        if (reply->content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
        call = &run->calls[run->call_count++];
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
    for (i = 0; run->calls != NULL && i < run->call_count; i++) phi__call_detach(&run->calls[i]);
}

PHI__FN void phi__run_drop_tools(phi__run *run) {
    size_t i;
    phi__run_detach_tools(run);
    for (i = 0; run->calls != NULL && i < run->call_count; i++) phi__call_dispose(&run->calls[i]);
    run->calls = NULL;
    phi__fields_free(run);
}
