/* caching.h - statistics of an agent's prompt caching. */
#ifndef PHI_FEATURES_CACHING_H
#define PHI_FEATURES_CACHING_H

#include "model/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a request differs from the previous request whose answer reported its usage. HISTORY: the
   request does not begin with all messages of the previous request, because of a compaction or a
   hook, or because messages were replaced (even by equal ones). TOOLS: a name, a description, a
   schema or the order has changed. SETTINGS: the format of answers or the session id has
   changed. */
enum {
    PHI_CACHE_CHANGED_MODEL = 1 << 0, /* the protocol, address or name has changed */
    PHI_CACHE_CHANGED_SYSTEM = 1 << 1,
    PHI_CACHE_CHANGED_TOOLS = 1 << 2,
    PHI_CACHE_CHANGED_HISTORY = 1 << 3,
    PHI_CACHE_CHANGED_SETTINGS = 1 << 4
};

/* Statistics of prompt caching. A request is expected to read as many tokens from the provider's
   cache as the previous answer reported as read or written. If it reads less than half of that
   number, the request is a miss. If it reads more, or if it reads any tokens although none were
   expected, it is a hit. So there is no miss before a provider has reported a first read or write,
   for example if prompts are too short to be cached or there is no cache. Providers that cache
   without marks and report only tokens read (such as OpenAI and Gemini) have no miss before the
   first read, and no second miss before the next read. */
typedef struct phi_cache_stats {
    uint64_t requests; /* answers that reported their usage, including those of failed attempts */
    uint64_t hits;
    uint64_t misses;
    uint64_t missed_tokens; /* tokens that were expected to be read and were not, over all misses */
    /* PHI_CACHE_CHANGED_ bits of the last miss; 0: nothing changed, the cache had expired or was
       not kept */
    uint32_t changed;
} phi_cache_stats;

#ifdef __cplusplus
}
#endif
#endif
