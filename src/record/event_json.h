/* event_json.h - events as JSON: the interchange format of session files and logs. */
#ifndef PHI_RECORD_EVENT_JSON_H
#define PHI_RECORD_EVENT_JSON_H

#include "agent/agent.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An event as the interchange JSON of session files and logs, in the arena:
   {"type":"TurnStart",...}. Deltas become MessageUpdate with the answer as far as it had come.
   Types that only phi has: Error, Retract, Retry, InputDropped, Decision, Paused, Warning, Rewrite,
   ContextWarning, ThreadUpdated, Forgotten, SummaryNeeded, ToolHeartbeat, SubAgentEnd, ToolState,
   Effect, StrategyProgress, ToolsChanged, Failover, OpaqueBlock.
   While the event is valid, on the pumping thread. PHI_STALE: its agent is gone; the store's
   status, when evicted messages of the run cannot be recalled. */
PHI_API phi_status phi_event_to_json(const phi_event *event, phi_arena *arena, phi_str *out);

/* Reads an event back, copying into the arena: agent, call and ticket are zero, and everything else
   is as it was written; phi_event_to_json writes it again. PHI_PARSE: no event; *error says why.
   PHI_UNSUPPORTED: an unknown type, *error says which. PHI_NO_MEMORY. */
PHI_API phi_status phi_event_from_json(phi_str json, phi_arena *arena, phi_event *out,
                                       phi_parse_error *error);

#ifdef __cplusplus
}
#endif
#endif
