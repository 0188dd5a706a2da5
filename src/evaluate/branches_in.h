/* branches_in.h - makes the agents of branches and judges, names their runs, and starts them. */
#ifndef PHI_EVALUATE_BRANCHES_IN_H
#define PHI_EVALUATE_BRANCHES_IN_H

#include "evaluate/evaluation_in.h"

/* The settings of a child: the configuration, with what the evaluation sets. Its pointers are the
   configuration's or the agent's. */
PHI__FN phi_agent_desc phi__branches_desc(const phi__evaluation *e, const phi_agent_desc *config,
                                          bool judge);
/* Makes the child of a seat, a branch's with a copy of the agent's view. PHI_OK, or phi_last_error
   has words that name the configuration. */
PHI__FN phi_status phi__branches_make(phi__evaluation *e, size_t index,
                                      const phi_agent_desc *config, const phi__child_watch *watch);
/* Loop ids for all seats that have a child, with one count, in the arena. False: no memory. */
PHI__FN bool phi__branches_name(phi__evaluation *e);
/* Their numbers are taken. False: no memory, and some may be. */
PHI__FN bool phi__branches_count(phi__evaluation *e);
/* Starts the run of a seat's child: with that prompt, or, content NULL, from where its history
   stands. PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__branches_start(phi__seat *seat, const phi_content *content, size_t count);
/* Reserves the most that the judge's call may cost, with a query of so many tokens. False: there is
   no room, and `reason` says where. */
PHI__FN bool phi__branches_hold(phi__evaluation *e, uint64_t prompt, char *reason, size_t size);
/* Reserves the most that the first model call of each branch, and the judge's, may cost. False:
   there is no room, and `reason` says where. */
PHI__FN bool phi__branches_reserve(phi__evaluation *e, const phi_content *content, size_t count,
                                   char *reason, size_t size);

#endif
