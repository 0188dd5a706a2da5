/* config_tables_in.h - the structs that the tables of phi.h's own sections fill.

   Each begins with `set` (config_in.h), except the public types, which have plain tables. In a
   member of a public type, zero has the meaning that the type's header gives. */
#ifndef PHI_CONFIG_CONFIG_TABLES_IN_H
#define PHI_CONFIG_CONFIG_TABLES_IN_H

#include "config/config_in.h"
#include "agent/agent.h"
#include "features/failover.h"
#include "log/policy.h"
#include "orchestrate/adaptive.h"
#include "orchestrate/strategy.h"
#include "orchestrate/subagents.h"

/* ---- plain tables: their structs are public types ---- */

typedef phi_policy phi__cfg_policy;
typedef phi_effect_policy phi__cfg_effects;
typedef phi_request_options phi__cfg_options;
typedef phi_cost phi__cfg_cost;
typedef phi_retry phi__cfg_retry;
typedef phi_budget phi__cfg_budget;
typedef phi_deadlines phi__cfg_deadlines;
typedef phi_cot_options phi__cfg_cot;
typedef phi_aot_options phi__cfg_aot;
typedef phi_tot_options phi__cfg_tot;
typedef phi_got_options phi__cfg_got;
typedef phi_trm_options phi__cfg_trm;
typedef phi_adaptive_options phi__cfg_adaptive;

/* ---- the top ---- */

typedef struct phi__cfg_top {
    uint64_t set;
    const char *schema, *default_workspace;
    const phi_json *agent, *provider, *models, *failover, *session, *tools, *compaction, *context;
    const phi_json *execution, *sub_agents, *strategy, *system_prompt_strategy, *system_prompt;
} phi__cfg_top;

/* ---- [agent], [[agent.instances]]: one struct, because instances are read over [agent] ---- */

typedef struct phi__cfg_agent {
    uint64_t set;
    const char *name, *system_prompt, *workspace;
    const char *provider, *agent_profile, *strategy, *compaction; /* references */
    phi__cfg_texts failover, tools, sub_agents, mcp, openapi;
    const phi_json *profile, *instances, *format, *policy, *effects;
    const phi_json *options, *extra, *raw_tools;
    const char *agent_id, *session_id;
    uint64_t memory_limit_bytes, event_queue_bytes, max_event_bytes, max_response_bytes;
    phi_agent_desc desc; /* only its plain settings are fields of the table */
} phi__cfg_agent;

/* [agent.profile], [[agent.profile.instances]], and the profile of an agent's instance. */
typedef struct phi__cfg_profile {
    uint64_t set;
    const char *id, *profile_id, *name, *description, *system_prompt, *config_id, *workspace;
    const char *compaction; /* a reference */
    phi_thinking thinking;
    bool has_temperature;
    double temperature;
    uint32_t max_tokens;
    phi__cfg_texts skills;
    const phi_json *instances;
} phi__cfg_profile;

typedef struct phi__cfg_format {
    uint64_t set;
    phi_format format;      /* without its schema */
    const phi_json *schema; /* a table, or a text: JSON or "file:path" */
} phi__cfg_format;

typedef struct phi__cfg_raw_tool {
    uint64_t set;
    const char *protocol;
    const phi_json *json; /* a table, or its JSON as a text */
} phi__cfg_raw_tool;

/* ---- [provider], [[provider.instances]] ---- */

/* Values of `api`. */
enum {
    PHI__CFG_API_ANTHROPIC,
    PHI__CFG_API_OPENAI_CHAT,
    PHI__CFG_API_OPENAI_RESPONSES,
    PHI__CFG_API_AZURE,
    PHI__CFG_API_GOOGLE,
    PHI__CFG_API_VERTEX,
    PHI__CFG_API_INTERACTIONS,
    PHI__CFG_API_BEDROCK
};

/* [provider.compat]. phi__table_quirks turns it into quirks. */
typedef struct phi__cfg_compat {
    uint64_t set;
    bool supports_store, supports_developer_role, supports_reasoning_effort;
    bool supports_usage_in_streaming, requires_tool_result_name;
    bool requires_assistant_after_tool_result;
    int max_tokens_field; /* 1: max_completion_tokens */
    int reasoning_format; /* index into phi__reasoning_names, config_tables.c */
    uint64_t quirks, without;
} phi__cfg_compat;

typedef struct phi__cfg_provider {
    uint64_t set;
    const char *id, *description, *model, *api_key, *base_url, *provider, *name;
    const char *api_version;
    int api, preset;
    bool reasoning, has_reasoning;
    uint32_t context_window, max_tokens;
    const phi_json *headers, *compat, *instances, *extra;
    phi__cfg_cost cost;
} phi__cfg_provider;

/* Applies `compat` to a preset's quirks, and returns the result. */
PHI__FN uint64_t phi__table_quirks(const phi__cfg_compat *compat, uint64_t quirks);

typedef struct phi__cfg_failover {
    uint64_t set;
    phi__cfg_texts models; /* references */
    phi_failover failover;
} phi__cfg_failover;

/* ---- a run ---- */

typedef struct phi__cfg_session {
    uint64_t set;
    int scope; /* 0: ephemeral, 1: persistent */
    const char *directory, *thread;
    bool sync;
} phi__cfg_session;

typedef struct phi__cfg_tools {
    uint64_t set;
    phi__cfg_texts enabled;
    phi_tool_mode mode;
    uint32_t batch_size, timeout_ms, defer_percent;
    phi_tool_choice choice;
} phi__cfg_tools;

typedef struct phi__cfg_compaction {
    uint64_t set;
    const char *id, *description;
    bool enabled;
    phi_compaction_config config;
    const phi_json *instances;
} phi__cfg_compaction;

typedef struct phi__cfg_cache {
    uint64_t set;
    bool enabled;
    phi_cache cache;
} phi__cfg_cache;

typedef struct phi__cfg_execution {
    uint64_t set;
    phi_agent_desc desc; /* only its limits, retries, budget and deadlines are in the table */
    phi__cfg_cache cache;
} phi__cfg_execution;

/* ---- [[sub_agents.instances]] ---- */

typedef struct phi__cfg_sub_agent {
    uint64_t set;
    const char *id, *name, *description, *system_prompt, *workspace;
    const char *provider, *strategy, *compaction; /* references */
    phi_subagent_desc desc;                       /* only its plain fields are in the table */
    const char *model, *api_key, *base_url;
    int api;
    phi_limits limits;
    phi_thinking thinking;
    bool has_temperature;
    double temperature;
    uint32_t max_tokens;
    phi__cfg_texts tools, sub_agents, mcp, openapi, skills;
} phi__cfg_sub_agent;

/* ---- prompts ---- */

typedef struct phi__cfg_prompt_block {
    uint64_t set;
    const char *name;
    int order;
    uint64_t max_length;
} phi__cfg_prompt_block;

/* ---- [[strategy.instances]] ---- */

typedef struct phi__cfg_strategy {
    uint64_t set;
    const char *id, *description;
    int type; /* in the order of the members below */
    uint32_t max_calls, call_timeout_ms;
    phi__cfg_cot cot, cod;
    phi__cfg_aot aot;
    phi__cfg_tot tot;
    phi__cfg_got got;
    phi__cfg_trm trm;
    phi__cfg_adaptive adaptive;
} phi__cfg_strategy;

/* ---- the tables ---- */
PHI__FN const phi__cfg_table *phi__table_agent(void);
PHI__FN const phi__cfg_table *phi__table_agent_instance(void);
PHI__FN const phi__cfg_table *phi__table_profile(void);
PHI__FN const phi__cfg_table *phi__table_format(void);
PHI__FN const phi__cfg_table *phi__table_policy(void);
PHI__FN const phi__cfg_table *phi__table_effects(void);
PHI__FN const phi__cfg_table *phi__table_options(void);
PHI__FN const phi__cfg_table *phi__table_raw_tool(void);
PHI__FN const phi__cfg_table *phi__table_provider(void);
PHI__FN const phi__cfg_table *phi__table_provider_instance(void);
PHI__FN const phi__cfg_table *phi__table_compat(void);
PHI__FN const phi__cfg_table *phi__table_failover(void);
PHI__FN const phi__cfg_table *phi__table_session(void);
PHI__FN const phi__cfg_table *phi__table_tools(void);
PHI__FN const phi__cfg_table *phi__table_compaction(void);
PHI__FN const phi__cfg_table *phi__table_compaction_instance(void);
PHI__FN const phi__cfg_table *phi__table_execution(void);
PHI__FN const phi__cfg_table *phi__table_retry(void);
PHI__FN const phi__cfg_table *phi__table_cache(void);
PHI__FN const phi__cfg_table *phi__table_sub_agent(void);
PHI__FN const phi__cfg_table *phi__table_strategy(void);
PHI__FN const phi__cfg_table *phi__table_aot(void);
PHI__FN const phi__cfg_table *phi__table_tot(void);
PHI__FN const phi__cfg_table *phi__table_got(void);
PHI__FN const phi__cfg_table *phi__table_prompt_block(void);
PHI__FN const phi__cfg_table *phi__table_prompt(void);

/* Lists of names, which other files need, too. */
PHI__FN const char *phi__names_api(void);
PHI__FN const char *phi__names_preset(void);
PHI__FN const char *phi__names_thinking(void);
PHI__FN const char *phi__names_quirks(void); /* the bits of phi_model.quirks */

#endif
