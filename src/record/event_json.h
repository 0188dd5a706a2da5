/* event_json.h - events as JSON: the interchange format of session files and logs. */
#ifndef PHI_RECORD_EVENT_JSON_H
#define PHI_RECORD_EVENT_JSON_H

#include "agent/agent.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes an event as JSON in the interchange format, {"type":"TurnStart",...}, into the arena. A
   delta becomes a MessageUpdate with the answer received so far. Only phi knows these types: Error,
   Retract, Retry, InputDropped, Decision, Paused, Warning, Rewrite, ContextWarning, ThreadUpdated,
   Forgotten, SummaryNeeded, ToolHeartbeat, SubAgentEnd, ToolState, Effect, StrategyProgress,
   ToolsChanged, Failover, OpaqueBlock.
   Call this function while the event is valid, on the pumping thread. PHI_STALE: the event's agent
   was freed. Returns the store's status if evicted messages of the run cannot be recalled. */
PHI_API phi_status phi_event_to_json(const phi_event *event, phi_arena *arena, phi_str *out);

/* Reads an event from JSON. Copies all its data into the arena. `agent`, `call` and `ticket` are
   zero, and all other fields have the written values. phi_event_to_json can write the event again.
   PHI_PARSE: not an event. PHI_UNSUPPORTED: unknown type. For both, *error (may be NULL) has the
   reason. Also PHI_NO_MEMORY. */
PHI_API phi_status phi_event_from_json(phi_str json, phi_arena *arena, phi_event *out,
                                       phi_parse_error *error);

#ifdef __cplusplus
}
#endif
#endif
