/* config_write.c - an agent as a configuration. */
#include "agent/agent_in.h"
#include "agent/profile.h"
#include "config/config_agents_in.h"
#include "formats/toml.h"
#include "formats/yaml.h"
#include "io/io_in.h"
#include "system/system_in.h"

/* ---- a struct of a table, as the values of a file: the way back of config_take.c ---- */

static uint64_t phi__cfg_put_unsigned(const phi__cfg_field *field, const char *at) {
    uint8_t small;
    uint32_t middle;
    uint64_t large;
    if (field->size == sizeof large) {
        memcpy(&large, at, sizeof large);
        return large;
    }
    if (field->size == sizeof middle) {
        memcpy(&middle, at, sizeof middle);
        return middle;
    }
    memcpy(&small, at, sizeof small);
    return small;
}

/* The largest value of the type: "unlimited", where the field has such a word. */
static bool phi__cfg_put_is_most(const phi__cfg_field *field, uint64_t value) {
    uint64_t most = field->size == sizeof(uint64_t) ? UINT64_MAX : UINT32_MAX;
    return (field->flags & PHI__NO_LIMIT) != 0 && value == most;
}

/* The names of bits as a list; NULL: no memory. */
static phi_json *phi__cfg_put_bits(phi_arena *arena, const char *choices, uint64_t bits) {
    phi_json *list = phi_json_new_array(arena);
    phi__cfg_choice c = PHI_ZERO;
    c.next = choices;
    while (list != NULL && phi__choice_next(&c))
        if (!c.alias && (bits >> c.value & 1) != 0 &&
            phi_json_add(list, phi__json_edit_text(arena, c.name)) != PHI_OK)
            return NULL;
    return list;
}

/* A text that reads back as it is, whatever looks like a variable in it. NULL: no memory. */
static phi_json *phi__cfg_put_text(phi_arena *arena, const char *text) {
    phi_str rest = phi_str_of(text);
    size_t found, at = 0, n = 0;
    char *copy = phi__arena_bytes(arena, phi__add(phi__add(rest.len, rest.len / 2), 1));
    if (copy == NULL) return NULL;
    while ((found = phi__str_find(rest, at, "${")) != SIZE_MAX) {
        memcpy(copy + n, rest.at + at, found - at);
        n += found - at;
        memcpy(copy + n, "$${", 3);
        n += 3;
        at = found + 2;
    }
    memcpy(copy + n, rest.at + at, rest.len - at);
    phi_str out = phi__str(copy, n + rest.len - at);
    return phi_json_new_str(arena, out);
}

/* The value of a field; *skip: it is the one that zero means, or no file says it. */
static phi_json *phi__cfg_put_value(phi_arena *arena, const phi__cfg_field *field, const char *at,
                                    bool has, bool *skip) {
    phi__cfg_choice choice;
    const char *text;
    double number;
    uint64_t value;
    bool flag;
    int i;
    *skip = false;
    switch (field->kind) {
    case PHI__CFG_TEXT:
        memcpy(&text, at, sizeof text);
        *skip = text == NULL || text[0] == '\0';
        if (*skip) return NULL;
        if ((field->flags & PHI__CFG_SECRET) != 0) return phi__json_edit_text(arena, "${API_KEY}");
        return phi__cfg_put_text(arena, text);
    case PHI__CFG_BOOL:
        memcpy(&flag, at, sizeof flag);
        *skip = !flag && !has;
        return phi_json_new_bool(arena, flag);
    case PHI__CFG_NUMBER:
        memcpy(&number, at, sizeof number);
        *skip = !(number > 0) && !has;
        return phi_json_new_num(arena, number);
    case PHI__CFG_INTEGER:
    case PHI__CFG_SECONDS:
        value = phi__cfg_put_unsigned(field, at);
        *skip = value == 0 && !has;
        if (phi__cfg_put_is_most(field, value)) return phi__json_edit_text(arena, "unlimited");
        return field->kind == PHI__CFG_SECONDS ? phi_json_new_num(arena, (double)value / 1000)
                                               : phi__json_edit_uint(arena, value);
    case PHI__CFG_CHOICE:
        memcpy(&i, at, sizeof i);
        *skip = !phi__choice_of(field->choices, i, &choice);
        return phi__json_edit_text(arena, choice.name);
    case PHI__CFG_BITS:
        value = phi__cfg_put_unsigned(field, at);
        *skip = value == 0;
        return *skip ? NULL : phi__cfg_put_bits(arena, field->choices, value);
    default: *skip = true; return NULL; /* the caller's */
    }
}

/* ---- for other modules ---- */

/* Marks a field as set in the file, though its value is zero. */
static void phi__cfg_put_mark(const phi__cfg_table *table, void *taken, const char *key) {
    uint64_t set;
    size_t i;
    if (phi__fields_find(table, phi_str_of(key), &i) == NULL) return;
    memcpy(&set, taken, sizeof set);
    set |= (uint64_t)1 << i;
    memcpy(taken, &set, sizeof set);
}

/* Adds the fields of a struct that are not what zero means, single values before lists of names;
   secrets as "${API_KEY}". Other lists and tables are the caller's. False: no memory. */
static bool phi__cfg_put_table(phi_arena *arena, const phi__cfg_table *table, const void *taken,
                               phi_json *out) {
    const phi__cfg_field *field;
    for (int lists = 0; lists < 2; lists++)
        for (size_t i = 0; (field = phi__fields_at(table, i)) != NULL; i++) {
            bool skip, has = phi__fields_has(table, taken, field->key);
            if ((field->kind == PHI__CFG_BITS) != (lists > 0)) continue;
            phi_json *value =
                phi__cfg_put_value(arena, field, (const char *)taken + field->offset, has, &skip);
            if (!skip && phi_json_set(arena, out, field->key, value) != PHI_OK) return false;
        }
    return true;
}

/* ---- an agent as a configuration ---- */

/* The agent that is written, and the tree so far. */
typedef struct phi__cfg_write {
    phi_arena *arena;
    const phi_agent_desc *desc;
    const phi_profile *profile; /* NULL: none */
    phi_json *root;
} phi__cfg_write;

/* Puts a table under `key`, unless it is empty. */
static bool phi__cfg_write_put(const phi__cfg_write *w, phi_json *to, const char *key,
                               phi_json *table) {
    if (table == NULL) return false;
    return phi_json_count(table) == 0 || phi_json_set(w->arena, to, key, table) == PHI_OK;
}

/* A table of a struct. */
static bool phi__cfg_write_table(const phi__cfg_write *w, phi_json *to, const char *key,
                                 const phi__cfg_table *table, const void *taken) {
    phi_json *node = phi_json_new_object(w->arena);
    return node != NULL && phi__cfg_put_table(w->arena, table, taken, node) &&
           phi__cfg_write_put(w, to, key, node);
}

/* Headers by name; their values are variables, for any may be a secret. */
static bool phi__cfg_write_headers(const phi__cfg_write *w, const phi_model *model, phi_json *to) {
    phi_json *node = phi_json_new_object(w->arena);
    size_t j;
    for (size_t i = 0; i < model->header_count; i++) {
        const char *name = model->headers[i].name;
        size_t n = strlen(name);
        char *text = phi__arena_bytes(w->arena, phi__add(n, 4));
        if (text == NULL) return false;
        memcpy(text, "${", 2);
        for (j = 0; j < n; j++) {
            char c = name[j];
            bool letter = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            text[j + 2] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : letter ? c : '_';
        }
        memcpy(text + n + 2, "}", 2);
        if (phi_json_set(w->arena, node, name, phi__json_edit_text(w->arena, text)) != PHI_OK)
            return false;
    }
    return phi__cfg_write_put(w, to, "headers", node);
}

/* *plain: the query, with its "?", shows versions alone. False: no memory. */
static bool phi__cfg_write_plain(const phi__cfg_write *w, phi_str url, phi_str query, bool *plain) {
    phi__buf shown;
    phi__buf_init(&shown, w->arena->memory);
    phi__secret_put_url(&shown, url);
    bool done = !shown.failed;
    *plain = query.len == 0 || (done && shown.len >= query.len &&
                                memcmp(shown.at + shown.len - query.len, query.at, query.len) == 0);
    phi__buf_free(&shown);
    return done;
}

/* An address; a login and a query are variables, for each may hold a key. */
static bool phi__cfg_write_address(const phi__cfg_write *w, const char *url, phi_json *to) {
    phi_str text = phi_str_of(url), out;
    size_t from = phi__str_find(text, 0, "://"), at, end, query;
    phi__buf made;
    bool plain = false;
    if (from == SIZE_MAX) return true;
    for (at = end = from += 3; end < text.len && strchr("/?#", text.at[end]) == NULL; end++)
        if (text.at[end] == '@') at = end;
    for (query = end; query < text.len && strchr("?#", text.at[query]) == NULL; query++) continue;
    if (!phi__cfg_write_plain(w, text, phi__str(text.at + query, text.len - query), &plain))
        return false;
    if (at == from && plain) return true;
    phi__buf_init(&made, w->arena->memory);
    phi__buf_add(&made, text.at, from);
    if (at > from) phi__buf_text(&made, "${API_LOGIN}");
    phi__buf_add(&made, text.at + at, (plain ? text.len : query + 1) - at);
    if (!plain) phi__buf_text(&made, "${API_QUERY}");
    bool done = !made.failed && phi__arena_str(w->arena, phi__buf_str(&made), &out) &&
                phi_json_set(w->arena, to, "base_url", phi_json_new_str(w->arena, out)) == PHI_OK;
    phi__buf_free(&made);
    return done;
}

/* The names of quirks; none: nothing. */
static bool phi__cfg_write_quirks(const phi__cfg_write *w, uint64_t quirks, const char *key,
                                  phi_json *to) {
    return quirks == 0 ||
           phi_json_set(w->arena, to, key,
                        phi__cfg_put_bits(w->arena, phi__names_quirks(), quirks)) == PHI_OK;
}

/* How the model differs from the one that its name, protocol and server make. */
static bool phi__cfg_write_compat(const phi__cfg_write *w, const phi_model *model, uint64_t quirks,
                                  phi_json *to) {
    phi_json *node = phi_json_new_object(w->arena);
    return node != NULL && phi__cfg_write_quirks(w, model->quirks & ~quirks, "quirks", node) &&
           phi__cfg_write_quirks(w, quirks & ~model->quirks, "without", node) &&
           phi__cfg_write_put(w, to, "compat", node);
}

/* JSON is written as the text that it is; NULL: nothing is. */
static bool phi__cfg_write_json(const phi__cfg_write *w, phi_json *to, const char *key,
                                const char *json) {
    return json == NULL ||
           phi_json_set(w->arena, to, key, phi__cfg_put_text(w->arena, json)) == PHI_OK;
}

/* id: NULL, or that of a named provider. */
static phi_json *phi__cfg_write_provider(const phi__cfg_write *w, const phi_model *model,
                                         const char *id) {
    const phi__cfg_table *table = phi__table_provider_instance();
    phi__cfg_choice api = PHI_ZERO;
    phi_json *node = phi_json_new_object(w->arena);
    phi__cfg_provider p = PHI_ZERO;
    phi__cfg_cost cost = PHI_ZERO;
    p.id = id;
    p.model = model->id;
    p.api_key = model->api_key;
    if (phi__choice_find(phi__names_api(), phi_str_of(model->protocol), &api)) p.api = api.value;
    p.base_url = model->base_url;
    p.provider = model->provider;
    p.name = model->name;
    p.api_version = model->api_version;
    p.reasoning = model->reasoning;
    p.context_window = model->context_window;
    p.max_tokens = model->max_tokens;
    phi__cfg_put_mark(table, &p, "reasoning");
    cost.cost = model->cost;
    if (node == NULL || !phi__cfg_put_table(w->arena, table, &p, node) ||
        !phi__cfg_write_table(w, node, "cost", phi__table_cost(), &cost) ||
        !phi__cfg_write_address(w, model->base_url, node) ||
        !phi__cfg_write_headers(w, model, node) ||
        !phi__cfg_write_compat(w, model, phi__cfg_model_quirks(&p), node) ||
        !phi__cfg_write_json(w, node, "extra", model->extra))
        return NULL;
    return node;
}

static bool phi__cfg_write_profile(const phi__cfg_write *w, phi_json *agent) {
    const phi__cfg_table *table = phi__table_profile();
    const phi_agent_desc *desc = w->desc;
    phi_json *node = phi_json_new_object(w->arena);
    phi__cfg_profile p = PHI_ZERO;
    if (w->profile != NULL) {
        p.name = w->profile->name;
        p.description = w->profile->description;
        p.config_id = w->profile->config_id;
    }
    p.thinking = desc->thinking;
    p.max_tokens = desc->max_tokens;
    p.temperature = desc->options.temperature;
    if (desc->options.has_temperature) phi__cfg_put_mark(table, &p, "temperature");
    if (node == NULL || !phi__cfg_put_table(w->arena, table, &p, node)) return false;
    return phi__cfg_write_put(w, agent, "profile", node);
}

/* Absolute, for the file may be read elsewhere; "." is the reader's own. False: no memory. */
static bool phi__cfg_write_workspace(const phi__cfg_write *w, const char **out) {
    const char *path = w->desc->workspace;
    if (path == NULL || strcmp(path, ".") == 0) return true;
    *out = path;
#ifndef PHI_NO_FILES
    if (path[0] != '/') {
        phi__resolve *r = (phi__resolve *)phi_arena_alloc(w->arena, sizeof *r);
        size_t units = SIZE_MAX;
        phi_status status = PHI_NO_MEMORY;
        phi_str copy;
        if (r != NULL) status = phi__path_resolve_begin(r, NULL, path, NULL);
        if (status == PHI_OK) status = phi__path_resolve_advance(r, &units, NULL);
        if (status == PHI_NO_MEMORY) return false;
        if (status != PHI_OK) return true; /* as it is */
        if (!phi__arena_str(w->arena, phi_str_of(r->out), &copy)) return false;
        *out = copy.at;
    }
#endif
    return true;
}

/* The schema is written as the text that it is. */
static bool phi__cfg_write_format(const phi__cfg_write *w, phi_json *agent) {
    const phi_format *format = &w->desc->format;
    phi_json *node = phi_json_new_object(w->arena);
    phi__cfg_format f = PHI_ZERO;
    if (format->kind == PHI_FORMAT_TEXT) return node != NULL;
    f.kind = format->kind;
    f.name = format->name;
    f.strict = format->strict;
    if (node == NULL || !phi__cfg_put_table(w->arena, phi__table_format(), &f, node)) return false;
    if (format->schema != NULL &&
        phi_json_set(w->arena, node, "schema", phi__cfg_put_text(w->arena, format->schema)) !=
            PHI_OK)
        return false;
    return phi__cfg_write_put(w, agent, "format", node);
}

static bool phi__cfg_write_raws(const phi__cfg_write *w, phi_json *agent) {
    phi_json *list = phi_json_new_array(w->arena), *node;
    for (size_t i = 0; list != NULL && i < w->desc->tool_options.raw_tool_count; i++) {
        const phi_raw_tool *raw = &w->desc->tool_options.raw_tools[i];
        node = phi_json_new_object(w->arena);
        if (node == NULL ||
            phi_json_set(w->arena, node, "protocol", phi__cfg_put_text(w->arena, raw->protocol)) !=
                PHI_OK ||
            !phi__cfg_write_json(w, node, "json", raw->json) || phi_json_add(list, node) != PHI_OK)
            return false;
    }
    return list != NULL && phi__cfg_write_put(w, agent, "raw_tools", list);
}

/* Options, extra and raw tools. */
static bool phi__cfg_write_said(const phi__cfg_write *w, phi_json *agent) {
    const phi__cfg_table *table = phi__table_options();
    const phi_request_options *options = &w->desc->options;
    phi_json *node = phi_json_new_object(w->arena), *stop = phi_json_new_array(w->arena);
    phi__cfg_options o = PHI_ZERO;
    o.options = *options;
    if (options->has_seed && options->seed >= 0)
        phi__cfg_put_mark(table, &o, "seed");
    else
        o.options.seed = 0;
    if (node == NULL || stop == NULL || !phi__cfg_put_table(w->arena, table, &o, node))
        return false;
    for (size_t i = 0; i < options->stop_count; i++)
        if (phi_json_add(stop, phi__cfg_put_text(w->arena, options->stop[i])) != PHI_OK)
            return false;
    return phi__cfg_write_put(w, node, "stop", stop) &&
           phi__cfg_write_put(w, agent, "options", node) &&
           phi__cfg_write_json(w, agent, "extra", w->desc->options.extra) &&
           phi__cfg_write_raws(w, agent);
}

static bool phi__cfg_write_agent(const phi__cfg_write *w) {
    phi_json *node = phi_json_new_object(w->arena), *part;
    phi__cfg_agent a = PHI_ZERO;
    phi__cfg_policy policy = PHI_ZERO;
    phi__cfg_effects effects = PHI_ZERO;
    a.desc = *w->desc;
    a.memory_limit_bytes = w->desc->memory.limit_bytes;
    a.event_queue_bytes = w->desc->memory.event_queue_bytes;
    a.max_event_bytes = w->desc->memory.max_event_bytes;
    a.max_response_bytes = w->desc->memory.max_response_bytes;
    a.system_prompt = w->desc->system_prompt;
    if (!phi__cfg_write_workspace(w, &a.workspace)) return false;
    if (node == NULL || !phi__cfg_put_table(w->arena, phi__table_agent(), &a, node) ||
        !phi__cfg_write_profile(w, node))
        return false;
    if (w->desc->policy != NULL) {
        policy.policy = *w->desc->policy;
        if (policy.policy.keep_no_turns)
            phi__cfg_put_mark(phi__table_policy(), &policy, "keep_last_turns");
        if (policy.policy.no_reserve)
            phi__cfg_put_mark(phi__table_policy(), &policy, "reserve_output_tokens");
        part = phi_json_new_object(w->arena);
        if (part == NULL || !phi__cfg_put_table(w->arena, phi__table_policy(), &policy, part) ||
            !phi__cfg_write_put(w, node, "policy", part))
            return false;
    }
    if (!phi__cfg_write_format(w, node)) return false;
    effects.effects = w->desc->tool_options.effects;
    part = phi_json_new_object(w->arena);
    if (part == NULL || !phi__cfg_put_table(w->arena, phi__table_effects(), &effects, part) ||
        !phi__cfg_write_put(w, node, "effects", part) || !phi__cfg_write_said(w, node))
        return false;
    return phi__cfg_write_put(w, w->root, "agent", node);
}

static bool phi__cfg_write_models(const phi__cfg_write *w) {
    phi_json *node = phi__cfg_write_provider(w, &w->desc->model, NULL);
    return phi__cfg_write_put(w, w->root, "provider", node);
}

static bool phi__cfg_write_tools(const phi__cfg_write *w) {
    phi_json *node = phi_json_new_object(w->arena), *names = phi_json_new_array(w->arena);
    phi__cfg_tools t = PHI_ZERO;
    t.mode = w->desc->tool_options.mode;
    t.batch_size = t.mode == PHI_TOOLS_BATCHED ? w->desc->tool_options.batch : 0;
    t.timeout_ms = w->desc->tool_options.timeout_ms;
    t.defer_percent = w->desc->tool_options.defer_percent;
    t.choice = w->desc->tool_options.choice;
    for (size_t i = 0; i < w->desc->tool_count; i++) {
        const phi_tool *tool = &w->desc->tools[i];
        if (!tool->unlisted &&
            phi_json_add(names, phi__cfg_put_text(w->arena, tool->name)) != PHI_OK)
            return false;
    }
    return node != NULL && names != NULL && phi__cfg_write_put(w, node, "enabled", names) &&
           phi__cfg_put_table(w->arena, phi__table_tools(), &t, node) &&
           phi__cfg_write_put(w, w->root, "tools", node);
}

static bool phi__cfg_write_compaction(const phi__cfg_write *w) {
    const phi__cfg_table *table = phi__table_compaction();
    phi__cfg_compaction c = PHI_ZERO;
    if (w->desc->compaction.disable) return true;
    c.config = w->desc->compaction;
    c.enabled = true;
    if (c.config.max_context_tokens == 0)
        c.config.max_context_tokens = w->desc->model.context_window;
    if (c.config.scope_runs == PHI_COMPACTION_NO_RUNS || c.config.scope != PHI_COMPACTION_RUNS)
        c.config.scope_runs = 0;
    if (c.config.scope != PHI_COMPACTION_TOKENS) c.config.scope_tokens = 0;
    if (c.config.keep_no_first) {
        c.config.keep_first_turns = 0;
        phi__cfg_put_mark(table, &c, "keep_first_turns");
    }
    return phi__cfg_write_table(w, w->root, "compaction", table, &c);
}

static bool phi__cfg_write_execution(const phi__cfg_write *w) {
    phi_json *node = phi_json_new_object(w->arena);
    phi__cfg_execution e = PHI_ZERO;
    phi__cfg_retry retry = PHI_ZERO;
    phi__cfg_cache cache = PHI_ZERO;
    phi__cfg_budget budget = PHI_ZERO;
    phi__cfg_deadlines deadlines = PHI_ZERO;
    e.limits = w->desc->limits;
    retry.retry = w->desc->retry;
    if (retry.retry.disable) {
        retry.retry.max_retries = 0;
        phi__cfg_put_mark(phi__table_retry(), &retry, "max_retries");
    }
    cache.cache = w->desc->cache;
    budget.budget = w->desc->budget;
    deadlines.deadlines = w->desc->deadlines;
    return node != NULL && phi__cfg_put_table(w->arena, phi__table_execution(), &e, node) &&
           phi__cfg_write_table(w, node, "retry", phi__table_retry(), &retry) &&
           phi__cfg_write_table(w, node, "cache", phi__table_cache(), &cache) &&
           phi__cfg_write_table(w, node, "budget", phi__table_budget(), &budget) &&
           phi__cfg_write_table(w, node, "deadlines", phi__table_deadlines(), &deadlines) &&
           phi__cfg_write_put(w, w->root, "execution", node);
}

static bool phi__cfg_write_tree(phi__cfg_write *w) {
    w->root = phi_json_new_object(w->arena);
    return w->root != NULL && phi__cfg_write_agent(w) && phi__cfg_write_models(w) &&
           phi__cfg_write_tools(w) && phi__cfg_write_compaction(w) && phi__cfg_write_execution(w);
}

/* A comment about the things that no file says, for formats that have comments. */
static phi_status phi__cfg_write_comment(phi_arena *arena, const phi_str *body, phi_str *out) {
    static const char head[] =
        "# Written by phi_config_write. Keys, logins and headers are variables. Not in this file: "
        "hooks,\n"
        "# filters, strategies, failover, stores, skills, sub-agents, MCP servers, documents of "
        "OpenAPI,\n"
        "# permissions. Tools under [tools] enabled are those of phi_config_sections() and of the "
        "program.\n";
    char *at = phi__arena_bytes(arena, phi__add(sizeof head, body->len));
    if (at == NULL) return PHI_NO_MEMORY;
    memcpy(at, head, sizeof head - 1);
    memcpy(at + sizeof head - 1, body->at, body->len);
    at[sizeof head - 1 + body->len] = '\0';
    *out = phi__str(at, sizeof head - 1 + body->len);
    return PHI_OK;
}

static phi_status phi__cfg_write_text(phi_arena *arena, const phi_json *root,
                                      phi_config_format format, phi_str *out) {
    phi_status status = PHI_UNSUPPORTED;
    phi_str body = PHI__LIT("");
    switch (format) {
    case PHI_CONFIG_JSON: return phi_json_write(arena, root, PHI_JSON_PRETTY, out);
    case PHI_CONFIG_YAML: status = phi_yaml_write(arena, root, 0, &body); break;
    case PHI_CONFIG_AUTO:
    case PHI_CONFIG_TOML: status = phi_toml_write(arena, root, 0, &body); break;
    default: break;
    }
    return status == PHI_OK ? phi__cfg_write_comment(arena, &body, out) : status;
}

/* ---- public ---- */

PHI_API phi_status phi_config_write(phi_agent agent, phi_config_format format, phi_arena *arena,
                                    phi_str *out) {
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    *out = PHI__LIT("");
    phi_agent_desc desc = PHI_ZERO;
    phi_status status = phi_agent_get_desc(agent, &desc);
    if (status != PHI_OK) return status;
    phi__cfg_write w = PHI_ZERO;
    w.arena = arena;
    w.desc = &desc;
    w.profile = phi__make_profile(agent);
    if (!phi__cfg_write_tree(&w)) return PHI_NO_MEMORY;
    return phi__cfg_write_text(arena, w.root, format, out);
}
