/* caching.h - statistics of an agent's prompt caching. */
#ifndef PHI_FEATURES_CACHING_H
#define PHI_FEATURES_CACHING_H

#include "model/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a request differs from the request before, whose answer reported its usage. HISTORY: the
   request does not begin with all messages of that request, because of a compaction, a hook, or
   since messages were replaced (also by the same ones). TOOLS: a name, description or schema, or
   their order. SETTINGS: the format of answers, or the session id. */
enum {
    PHI_CACHE_CHANGED_MODEL = 1 << 0, /* protocol, address or name */
    PHI_CACHE_CHANGED_SYSTEM = 1 << 1,
    PHI_CACHE_CHANGED_TOOLS = 1 << 2,
    PHI_CACHE_CHANGED_HISTORY = 1 << 3,
    PHI_CACHE_CHANGED_SETTINGS = 1 << 4
};

/* Statistics of prompt caching. A request should read as many tokens from the provider's cache as
   the previous answer reported read or written. Reading less than half of that is a miss; reading
   more, or anything where nothing was expected, is a hit. So there is no miss before a provider has
   reported a first read or write: not with prompts too short to be cached, and not where there is
   no cache. A provider that caches by itself and reports only tokens read (OpenAI, Gemini and their
   kind) has no miss before its first read, nor a second miss before the next read. */
typedef struct phi_cache_stats {
    uint64_t requests; /* answers that reported their usage; those of failed attempts, too */
    uint64_t hits;
    uint64_t misses;
    uint64_t missed_tokens; /* tokens that the misses should have read and did not */
    /* PHI_CACHE_CHANGED_ bits of the last miss; 0: it had expired, or was not kept */
    uint32_t changed;
} phi_cache_stats;

#ifdef __cplusplus
}
#endif
#endif
