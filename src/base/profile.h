/* profile.h - the macros by which a program leaves parts of phi out.

   PHI_NO_X leaves X out. PHI_MINIMAL leaves out every part listed here, and PHI_WITH_X takes one of
   them back in, with the parts that it needs; where PHI_NO_X is defined too, X is out, and so is
   every part that needs it. No public struct changes by any of them: a part that is left out is not
   declared, or is refused with PHI_UNSUPPORTED and a message that names its macro. A new part adds
   its three lines here; the rest of the source tests PHI_NO_X alone. PHI_NO_CURL, PHI_NO_PROCESS,
   PHI_NO_FILES, PHI_NO_LISTEN and PHI_NO_THREADS, for systems that lack these, are no parts:
   PHI_MINIMAL changes nothing about them. */
#ifndef PHI_BASE_PROFILE_H
#define PHI_BASE_PROFILE_H

#ifdef PHI_MINIMAL
#if !defined(PHI_WITH_ANTHROPIC) && !defined(PHI_NO_ANTHROPIC)
#define PHI_NO_ANTHROPIC 1
#endif
#if !defined(PHI_WITH_OPENAI_CHAT) && !defined(PHI_NO_OPENAI_CHAT)
#define PHI_NO_OPENAI_CHAT 1
#endif
#if !defined(PHI_WITH_OPENAI_RESPONSES) && !defined(PHI_NO_OPENAI_RESPONSES)
#define PHI_NO_OPENAI_RESPONSES 1
#endif
#if !defined(PHI_WITH_AZURE) && !defined(PHI_NO_AZURE)
#define PHI_NO_AZURE 1
#endif
#if !defined(PHI_WITH_GEMINI) && !defined(PHI_NO_GEMINI)
#define PHI_NO_GEMINI 1
#endif
#if !defined(PHI_WITH_VERTEX) && !defined(PHI_NO_VERTEX)
#define PHI_NO_VERTEX 1
#endif
#if !defined(PHI_WITH_INTERACTIONS) && !defined(PHI_NO_INTERACTIONS)
#define PHI_NO_INTERACTIONS 1
#endif
#if !defined(PHI_WITH_BEDROCK) && !defined(PHI_NO_BEDROCK)
#define PHI_NO_BEDROCK 1
#endif
#if !defined(PHI_WITH_STRICT) && !defined(PHI_NO_STRICT)
#define PHI_NO_STRICT 1
#endif
#if !defined(PHI_WITH_SESSIONS) && !defined(PHI_NO_SESSIONS)
#define PHI_NO_SESSIONS 1
#endif
#if !defined(PHI_WITH_TAPE) && !defined(PHI_NO_TAPE)
#define PHI_NO_TAPE 1
#endif
#if !defined(PHI_WITH_STORE_FILES) && !defined(PHI_NO_STORE_FILES)
#define PHI_NO_STORE_FILES 1
#endif
#if !defined(PHI_WITH_SNAPSHOT) && !defined(PHI_NO_SNAPSHOT)
#define PHI_NO_SNAPSHOT 1
#endif
#if !defined(PHI_WITH_COMPACTION) && !defined(PHI_NO_COMPACTION)
#define PHI_NO_COMPACTION 1
#endif
#if !defined(PHI_WITH_CAPTURE) && !defined(PHI_NO_CAPTURE)
#define PHI_NO_CAPTURE 1
#endif
#if !defined(PHI_WITH_CACHE_STATS) && !defined(PHI_NO_CACHE_STATS)
#define PHI_NO_CACHE_STATS 1
#endif
#if !defined(PHI_WITH_ARGUMENT_STREAM) && !defined(PHI_NO_ARGUMENT_STREAM)
#define PHI_NO_ARGUMENT_STREAM 1
#endif
#if !defined(PHI_WITH_CONTEXT_EDITS) && !defined(PHI_NO_CONTEXT_EDITS)
#define PHI_NO_CONTEXT_EDITS 1
#endif
#if !defined(PHI_WITH_EXPLAIN) && !defined(PHI_NO_EXPLAIN)
#define PHI_NO_EXPLAIN 1
#endif
#if !defined(PHI_WITH_SUMMARIES) && !defined(PHI_NO_SUMMARIES)
#define PHI_NO_SUMMARIES 1
#endif
#if !defined(PHI_WITH_SCHEMA) && !defined(PHI_NO_SCHEMA)
#define PHI_NO_SCHEMA 1
#endif
#if !defined(PHI_WITH_YAML) && !defined(PHI_NO_YAML)
#define PHI_NO_YAML 1
#endif
#if !defined(PHI_WITH_TOML) && !defined(PHI_NO_TOML)
#define PHI_NO_TOML 1
#endif
#if !defined(PHI_WITH_CONFIG) && !defined(PHI_NO_CONFIG)
#define PHI_NO_CONFIG 1
#endif
#if !defined(PHI_WITH_FORGETTING) && !defined(PHI_NO_FORGETTING)
#define PHI_NO_FORGETTING 1
#endif
#if !defined(PHI_WITH_STORES) && !defined(PHI_NO_STORES)
#define PHI_NO_STORES 1
#endif
#if !defined(PHI_WITH_SUBAGENTS) && !defined(PHI_NO_SUBAGENTS)
#define PHI_NO_SUBAGENTS 1
#endif
#if !defined(PHI_WITH_EVALUATION) && !defined(PHI_NO_EVALUATION)
#define PHI_NO_EVALUATION 1
#endif
#if !defined(PHI_WITH_STRATEGIES) && !defined(PHI_NO_STRATEGIES)
#define PHI_NO_STRATEGIES 1
#endif
#if !defined(PHI_WITH_TOOL_STATE) && !defined(PHI_NO_TOOL_STATE)
#define PHI_NO_TOOL_STATE 1
#endif
#if !defined(PHI_WITH_FACTS) && !defined(PHI_NO_FACTS)
#define PHI_NO_FACTS 1
#endif
#if !defined(PHI_WITH_FAILOVER) && !defined(PHI_NO_FAILOVER)
#define PHI_NO_FAILOVER 1
#endif
#if !defined(PHI_WITH_QUESTIONS) && !defined(PHI_NO_QUESTIONS)
#define PHI_NO_QUESTIONS 1
#endif
#if !defined(PHI_WITH_TOOL_SOURCES) && !defined(PHI_NO_TOOL_SOURCES)
#define PHI_NO_TOOL_SOURCES 1
#endif
#if !defined(PHI_WITH_THREAD_TEXT) && !defined(PHI_WITH_SNAPSHOT) && !defined(PHI_NO_THREAD_TEXT)
#define PHI_NO_THREAD_TEXT 1
#endif
#if !defined(PHI_WITH_EVENT_JSON) && !defined(PHI_WITH_SESSIONS) && !defined(PHI_NO_EVENT_JSON)
#define PHI_NO_EVENT_JSON 1
#endif
#if !defined(PHI_WITH_DESCRIBE) && !defined(PHI_NO_DESCRIBE)
#define PHI_NO_DESCRIBE 1
#endif
#if !defined(PHI_WITH_PREFLIGHT) && !defined(PHI_NO_PREFLIGHT)
#define PHI_NO_PREFLIGHT 1
#endif
#if !defined(PHI_WITH_QUERIES) && !defined(PHI_NO_QUERIES)
#define PHI_NO_QUERIES 1
#endif
#if !defined(PHI_WITH_PLANS) && !defined(PHI_WITH_COMPACTION) && !defined(PHI_WITH_SUMMARIES) &&   \
    !defined(PHI_WITH_SESSIONS) && !defined(PHI_NO_PLANS)
#define PHI_NO_PLANS 1
#endif
#if !defined(PHI_WITH_MESSAGE_JSON) && !defined(PHI_WITH_STORES) &&                                \
    !defined(PHI_WITH_THREAD_TEXT) && !defined(PHI_WITH_SNAPSHOT) &&                               \
    !defined(PHI_WITH_DEFERRED) && !defined(PHI_WITH_SUMMARIES) &&                                 \
    !defined(PHI_WITH_EVENT_JSON) && !defined(PHI_WITH_SESSIONS) && !defined(PHI_WITH_TAPE) &&     \
    !defined(PHI_WITH_CAPTURE) && !defined(PHI_WITH_EVALUATION) && !defined(PHI_NO_MESSAGE_JSON)
#define PHI_NO_MESSAGE_JSON 1
#endif
#if !defined(PHI_WITH_REWRITES) && !defined(PHI_WITH_STORES) && !defined(PHI_WITH_THREAD_TEXT) &&  \
    !defined(PHI_WITH_SNAPSHOT) && !defined(PHI_WITH_DEFERRED) && !defined(PHI_WITH_SUMMARIES) &&  \
    !defined(PHI_WITH_COMPACTION) && !defined(PHI_WITH_CONTEXT_EDITS) &&                           \
    !defined(PHI_WITH_FORGETTING) && !defined(PHI_WITH_SESSIONS) && !defined(PHI_NO_REWRITES)
#define PHI_NO_REWRITES 1
#endif
#if !defined(PHI_WITH_DEFERRED) && !defined(PHI_WITH_SUMMARIES) && !defined(PHI_NO_DEFERRED)
#define PHI_NO_DEFERRED 1
#endif
#endif

/* What a part needs: it is out where that is. */
#ifdef PHI_NO_MESSAGE_JSON
#ifndef PHI_NO_EVENT_JSON
#define PHI_NO_EVENT_JSON 1
#endif
#ifndef PHI_NO_TAPE
#define PHI_NO_TAPE 1
#endif
#ifndef PHI_NO_CAPTURE
#define PHI_NO_CAPTURE 1
#endif
#ifndef PHI_NO_EVALUATION
#define PHI_NO_EVALUATION 1
#endif
#endif
#if defined(PHI_NO_REWRITES) || defined(PHI_NO_MESSAGE_JSON)
#ifndef PHI_NO_STORES
#define PHI_NO_STORES 1
#endif
#ifndef PHI_NO_THREAD_TEXT
#define PHI_NO_THREAD_TEXT 1
#endif
#ifndef PHI_NO_DEFERRED
#define PHI_NO_DEFERRED 1
#endif
#endif
#ifdef PHI_NO_REWRITES
#ifndef PHI_NO_CONTEXT_EDITS
#define PHI_NO_CONTEXT_EDITS 1
#endif
#ifndef PHI_NO_FORGETTING
#define PHI_NO_FORGETTING 1
#endif
#endif
#if (defined(PHI_NO_PLANS) || defined(PHI_NO_REWRITES)) && !defined(PHI_NO_COMPACTION)
#define PHI_NO_COMPACTION 1
#endif
#if (defined(PHI_NO_PLANS) || defined(PHI_NO_DEFERRED)) && !defined(PHI_NO_SUMMARIES)
#define PHI_NO_SUMMARIES 1
#endif
#if (defined(PHI_NO_PLANS) || defined(PHI_NO_EVENT_JSON) || defined(PHI_NO_REWRITES)) &&           \
    !defined(PHI_NO_SESSIONS)
#define PHI_NO_SESSIONS 1
#endif
#if defined(PHI_NO_THREAD_TEXT) && !defined(PHI_NO_SNAPSHOT)
#define PHI_NO_SNAPSHOT 1
#endif

/* Parts of phi_tools.h, which PHI_MINIMAL does not change. */
#if (defined(PHI_NO_YAML) || defined(PHI_NO_FILES)) && !defined(PHI_NO_SKILLS)
#define PHI_NO_SKILLS 1
#endif
#if defined(PHI_NO_PROCESS) && !defined(PHI_NO_SCRIPTS)
#define PHI_NO_SCRIPTS 1
#endif

/* Copies of a run into another log: for branches and strategies alone. */
#if defined(PHI_NO_EVALUATION) && defined(PHI_NO_STRATEGIES)
#define PHI__NO_GRAFT 1
#endif

/* Places of nodes in a text: for configurations and for changes in a TOML text alone. */
#if defined(PHI_NO_CONFIG) && defined(PHI_NO_TOML)
#define PHI__NO_MARKS 1
#endif

/* Objects that such rooms keep with an agent. */
#if defined(PHI__NO_GRAFT) && defined(PHI_NO_SUBAGENTS)
#define PHI__NO_ATTACHED 1
#endif

/* Entries as JSON: where nothing writes or reads them, they are out. */
#if defined(PHI_NO_STORES) && defined(PHI_NO_THREAD_TEXT) && defined(PHI_NO_DEFERRED)
#define PHI__NO_ENTRIES 1
#endif

#endif
