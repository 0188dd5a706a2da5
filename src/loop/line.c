/* line.c - how an agent's runs are named and follow each other. */
#include "loop/loop_in.h"

PHI__FN bool phi__line_join(phi__agent *agent, phi_str session_id) {
    agent->line.session = phi__session_take(&agent->rt->sessions, session_id);
    return agent->line.session != NULL;
}

PHI__FN void phi__line_move(phi__agent *agent, phi__session *session) {
    phi__session_drop(&agent->rt->sessions, agent->line.session);
    agent->line.session = session;
}

PHI__FN bool phi__line_renew(phi__agent *agent, phi_str session_id) {
    return phi__session_renew(&agent->rt->sessions, &agent->line.session, session_id);
}

/* ---- the last run ---- */

PHI__FN void phi__line_take_last(phi__agent *agent, phi_str loop_id) {
    phi_str before = agent->line.last_loop_id;
    if (before.at != NULL) phi__free(&agent->memory, (void *)(uintptr_t)before.at, before.len + 1);
    agent->line.last_loop_id = loop_id;
}

PHI__FN bool phi__line_remember(phi__agent *agent, phi_str loop_id) {
    char *copy = (char *)phi__realloc(&agent->memory, NULL, 0, loop_id.len + 1);
    if (copy == NULL) return false;
    memcpy(copy, loop_id.at, loop_id.len);
    copy[loop_id.len] = '\0';
    phi__line_take_last(agent, phi__str(copy, loop_id.len));
    return true;
}

PHI__FN void phi__line_restart(phi__agent *agent) {
    phi__line_take_last(agent, phi__str(NULL, 0));
    agent->line.last_active_us = 0;
}

PHI__FN void phi__line_active(phi__agent *agent) {
    agent->line.last_active_us = phi__io_now_us(agent->rt->io);
}

PHI__FN bool phi__line_begin_run(phi__agent *agent, phi_str loop_id) {
    if (!phi__line_remember(agent, loop_id)) return false;
    agent->line.loops++;
    phi__line_active(agent);
    return true;
}

PHI__FN void phi__line_count(phi__agent *agent, uint32_t loops) {
    if (loops > agent->line.loops) agent->line.loops = loops;
}

/* ---- the segment, and the end ---- */

PHI__FN void phi__line_set_segment(phi__agent *agent, phi_str segment) {
    agent->line.segment = segment;
}

PHI__FN void phi__line_keep_segment(phi__agent *agent) { agent->line.segment_given = true; }

PHI__FN void phi__line_free(phi__agent *agent) {
    phi__session_drop(&agent->rt->sessions, agent->line.session);
    phi__line_take_last(agent, phi__str(NULL, 0));
}
