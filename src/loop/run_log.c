/* run_log.c - a run's entries in its agent's log, and the events that tell of them. */
#include "loop/run_log_in.h"

#include "loop/loop_in.h"

PHI__FN void phi__run_stamp(const phi__run *run, phi_message *message) {
    message->timestamp_ms = phi__io_wall_ms(run->agent->rt->io);
    message->loop_id = run->loop_id;
    message->turn_index = run->turn.index;
}

PHI__FN phi__entry phi__run_entry(const phi__run *run, phi_entry_kind kind) {
    phi__entry entry;
    memset(&entry, 0, sizeof entry);
    entry.kind = kind;
    entry.at_ms = phi__io_wall_ms(run->agent->rt->io);
    entry.loop_id = run->loop_id;
    entry.turn_index = run->turn.index;
    return entry;
}

PHI__FN bool phi__run_note(phi__run *run, const phi__entry *entry) {
    return phi__thread_append(run->agent->thread, entry, 1);
}

PHI__FN bool phi__run_emit(phi__run *run, const phi_message *message, phi_input input,
                           phi_str source) {
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_MESSAGE_START;
    event.message = message;
    event.input = input;
    event.source = source;
    if (!phi__emit(run->agent, &event, NULL, 0)) return false;
    event.kind = PHI_EV_MESSAGE_END;
    return phi__emit(run->agent, &event, NULL, 0);
}

PHI__FN bool phi__run_log(phi__run *run, const phi_message *kept) {
    phi__entry entry = phi__run_entry(run, PHI_ENTRY_MESSAGE);
    entry.message = kept;
    return phi__run_note(run, &entry) &&
           phi__run_emit(run, kept, PHI_INPUT_NONE, phi__str(NULL, 0));
}
