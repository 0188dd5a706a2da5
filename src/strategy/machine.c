/* machine.c - what all machines use. */
#include "strategy/machine.h"

#include "base/base_in.h"

#ifndef PHI_NO_STRATEGIES

PHI_API phi_strategy_command *phi_strategy_add(phi_strategy_commands *commands,
                                               phi_strategy_command_kind kind) {
    phi_strategy_command *command;
    if (commands->count >= PHI_STRATEGY_COMMANDS) return NULL;
    command = &commands->at[commands->count++];
    memset(command, 0, sizeof *command);
    command->kind = kind;
    return command;
}

#endif
