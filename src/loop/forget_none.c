/* forget_none.c - with PHI_NO_FORGETTING: an agent at its memory limit stops there. */
#include "loop/loop_in.h"

#ifdef PHI_NO_FORGETTING

PHI__FN bool phi__forget_begin(phi__run *run, bool *wait) {
    (void)run;
    (void)wait;
    return true;
}

PHI__FN size_t phi__forget_near(const phi__agent *agent) {
    (void)agent;
    return 0;
}

PHI__FN void phi__forget_ran(phi__agent *agent, phi_status status) {
    (void)agent;
    (void)status;
}

PHI__FN void phi__forget_end(phi__agent *agent) { (void)agent; }

PHI__FN void phi__forget_press(phi__agent *agent) { (void)agent; }

PHI__FN void phi__forget_unpress(phi__agent *agent) { (void)agent; }

PHI__FN void phi__forget_step(phi_runtime *rt) { (void)rt; }

#endif
