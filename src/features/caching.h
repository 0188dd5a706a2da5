/* caching.h - how an agent's prompt caching goes. PHI_NO_CACHE_STATS leaves it out: then this
   function is not declared. */
#ifndef PHI_FEATURES_CACHING_H
#define PHI_FEATURES_CACHING_H

#include "model/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What was not as in the request before, whose answer had told its usage. HISTORY: the request does
   not begin with all messages that were sent then, because of a compaction, a hook, or since
   messages were replaced (also by the same ones). TOOLS: a name, description or schema, or their
   order. SETTINGS: thinking, tool choice, format, cache marks, or the session id. */
enum {
    PHI_CACHE_CHANGED_MODEL = 1 << 0, /* protocol, address or name */
    PHI_CACHE_CHANGED_SYSTEM = 1 << 1,
    PHI_CACHE_CHANGED_TOOLS = 1 << 2,
    PHI_CACHE_CHANGED_HISTORY = 1 << 3,
    PHI_CACHE_CHANGED_SETTINGS = 1 << 4
};

/* How prompt caching goes. A request should read from the provider's cache what the answer before
   it said was read or written there. Reading less than half of that is a miss; reading more, or
   anything where nothing was expected, is a hit. So nothing is missed before a provider has told of
   a first read or write: not with prompts that are shorter than what it caches, and not where there
   is no cache. One that caches by itself and tells only what was read (OpenAI, Gemini and their
   kind) has no miss until something was read once, nor a second one until something was read
   again. */
typedef struct phi_cache_stats {
    uint64_t requests; /* answers that told their usage; those of failed attempts, too */
    uint64_t hits;
    uint64_t misses;
    uint64_t missed_tokens; /* what the misses should have read and did not */
    /* PHI_CACHE_CHANGED_ bits of the last miss; 0: it had expired, or was not kept */
    uint32_t changed;
} phi_cache_stats;

#ifndef PHI_NO_CACHE_STATS
/* Over all its runs. Zero for a stale agent. */
PHI_API phi_cache_stats phi_agent_cache_stats(phi_agent agent);
#endif

#ifdef __cplusplus
}
#endif
#endif
