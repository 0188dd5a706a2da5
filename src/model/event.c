/* event.c - the names of events in session files and logs, and the statuses of failures. */
#include "model/model_in.h"

#include "model/event.h"
#include "model/event_parts.h"

#include <stdio.h>

/* ---- public ---- */

PHI_API const char *phi_event_name(phi_event_kind kind) {
    switch (kind) {
    case PHI_EV_AGENT_START: return "AgentStart";
    case PHI_EV_AGENT_END: return "AgentEnd";
    case PHI_EV_TURN_START: return "TurnStart";
    case PHI_EV_TURN_END: return "TurnEnd";
    case PHI_EV_MESSAGE_START: return "MessageStart";
    case PHI_EV_TEXT: return "TextDelta";
    case PHI_EV_THINKING: return "ThinkingDelta";
    case PHI_EV_TOOL_ARGUMENTS: return "ToolCallDelta";
    case PHI_EV_MESSAGE_END: return "MessageEnd";
    case PHI_EV_TOOL_START: return "ToolExecutionStart";
    case PHI_EV_TOOL_UPDATE: return "ToolExecutionUpdate";
    case PHI_EV_TOOL_PROGRESS: return "ProgressMessage";
    case PHI_EV_TOOL_END: return "ToolExecutionEnd";
    case PHI_EV_ERROR: return "Error";
    case PHI_EV_RETRACT: return "Retract";
    case PHI_EV_RETRY: return "Retry";
    case PHI_EV_INPUT_REJECTED: return "InputRejected";
    case PHI_EV_INPUT_DROPPED: return "InputDropped";
    case PHI_EV_COMPACTION_START: return "CompactionStarted";
    case PHI_EV_COMPACTION_END: return "CompactionEnded";
    case PHI_EV_DECISION: return "Decision";
    case PHI_EV_PAUSED: return "Paused";
    case PHI_EV_WARNING: return "Warning";
    case PHI_EV_REWRITE: return "Rewrite";
    case PHI_EV_CONTEXT_WARNING: return "ContextWarning";
    case PHI_EV_PRUNED: return "PrunApplied";
    case PHI_EV_REVERTED: return "RevertApplied";
    case PHI_EV_TURN_REQUEST: return "TurnRequest";
    case PHI_EV_PARALLEL_START: return "ParallelLoopStart";
    case PHI_EV_PARALLEL_END: return "ParallelLoopEnd";
    case PHI_EV_THREAD_UPDATED: return "ThreadUpdated";
    case PHI_EV_FORGOTTEN: return "Forgotten";
    case PHI_EV_SUMMARY_NEEDED: return "SummaryNeeded";
    case PHI_EV_TOOL_HEARTBEAT: return "ToolHeartbeat";
    case PHI_EV_SUBAGENT_END: return "SubAgentEnd";
    case PHI_EV_TOOL_STATE: return "ToolState";
    case PHI_EV_EFFECT: return "Effect";
    case PHI_EV_STRATEGY: return "StrategyProgress";
    case PHI_EV_TOOLS_CHANGED: return "ToolsChanged";
    case PHI_EV_FAILOVER: return "Failover";
    case PHI_EV_OPAQUE: return "OpaqueBlock";
    }
    return "";
}

/* ---- failures and their statuses ---- */

PHI__FN phi_failure phi__failure_of(phi_failure_kind kind, bool retryable, const char *words) {
    phi_failure failure = PHI_ZERO;
    failure.kind = kind;
    failure.retryable = retryable;
    failure.message = phi_str_of(words);
    return failure;
}

PHI__FN phi_status phi__failure_status(const phi_failure *failure) {
    switch (failure->kind) {
    case PHI_FAILURE_NETWORK: return PHI_NETWORK;
    case PHI_FAILURE_TIMEOUT: return PHI_TIMEOUT;
    case PHI_FAILURE_NO_MEMORY: return PHI_NO_MEMORY;
    case PHI_FAILURE_CANCELLED: return PHI_CANCELLED;
    case PHI_FAILURE_NONE:
    case PHI_FAILURE_AUTH:
    case PHI_FAILURE_QUOTA:
    case PHI_FAILURE_RATE_LIMITED:
    case PHI_FAILURE_OVERFLOW:
    case PHI_FAILURE_CONTENT_FILTER:
    case PHI_FAILURE_SERVER:
    case PHI_FAILURE_INVALID_REQUEST: break;
    }
    return PHI_REFUSED;
}

PHI__FN phi_failure_kind phi__failure_kind_of(phi_status status) {
    switch (status) {
    case PHI_NETWORK: return PHI_FAILURE_NETWORK;
    case PHI_TIMEOUT: return PHI_FAILURE_TIMEOUT;
    case PHI_NO_MEMORY: return PHI_FAILURE_NO_MEMORY;
    case PHI_LIMIT: return PHI_FAILURE_QUOTA;
    default: return PHI_FAILURE_SERVER;
    }
}

/* ---- public ---- */

PHI_API const char *phi_failure_kind_text(phi_failure_kind kind) {
    switch (kind) {
#define PHI_X(name, value, text)                                                                   \
    case PHI_FAILURE_##name: return text;
        PHI_FAILURE_LIST(PHI_X)
#undef PHI_X
    case PHI_FAILURE_NONE: break;
    }
    return "";
}
