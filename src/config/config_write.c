/* config_write.c - writes an agent as a configuration. */
#include "agent/agent_in.h"
#include "config/config_agents_in.h"
#include "formats/toml.h"
#include "formats/yaml.h"
#include "io/io_in.h"

/* ---- from the struct of a table to values of a file: the reverse of config_take.c ---- */

static uint64_t phi__put_one_unsigned(const phi__cfg_field *field, const char *at) {
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (field->size) {
    case 1: memcpy(&u8, at, 1); return u8;
    case 2: memcpy(&u16, at, 2); return u16;
    case 4: memcpy(&u32, at, 4); return u32;
    default: memcpy(&u64, at, 8); return u64;
    }
}

/* True if the value is the type's largest, and the field accepts "unlimited". */
static bool phi__put_one_is_most(const phi__cfg_field *field, uint64_t value) {
    uint64_t most = field->size == sizeof(uint64_t) ? UINT64_MAX : UINT32_MAX;
    return (field->flags & PHI__NO_LIMIT) != 0 && value == most;
}

/* Returns the names of bits as a list. NULL: no memory. */
static phi_json *phi__put_one_bits(phi_arena *arena, const char *choices, uint64_t bits) {
    phi_json *list = phi_json_new_array(arena);
    phi__cfg_choice c = PHI_ZERO;
    c.next = choices;
    while (list != NULL && phi__choice_next(&c))
        if (!c.alias && (bits >> c.value & 1) != 0 &&
            phi_json_add(list, phi__json_edit_text(arena, c.name)) != PHI_OK)
            return NULL;
    return list;
}

/* Returns a text in which "${" is escaped, so that it reads back unchanged. NULL: no memory. */
static phi_json *phi__put_one_text(phi_arena *arena, const char *text) {
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

/* Returns the value of a field. Sets *skip if the value means the default, or cannot be written. A
   field whose twin is set is written even if it is 0. */
static phi_json *phi__put_one_value(phi_arena *arena, const phi__cfg_field *field,
                                    const char *taken, bool *skip) {
    const char *at = taken + field->offset;
    phi__cfg_choice choice;
    const char *text;
    double number;
    uint64_t value;
    bool flag, has = false;
    int i;
    *skip = false;
    if ((field->flags & (PHI__CFG_HAS | PHI__CFG_NONE)) != 0)
        memcpy(&has, taken + field->twin, sizeof has);
    switch (field->kind) {
    case PHI__CFG_TEXT:
        memcpy(&text, at, sizeof text);
        *skip = text == NULL || text[0] == '\0';
        if (*skip) return NULL;
        if ((field->flags & PHI__CFG_SECRET) != 0) return phi__json_edit_text(arena, "${API_KEY}");
        return phi__put_one_text(arena, text);
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
        value = phi__put_one_unsigned(field, at);
        if (has && (field->flags & PHI__CFG_NONE) != 0) value = 0;
        *skip = value == 0 && !has;
        if (phi__put_one_is_most(field, value)) return phi__json_edit_text(arena, "unlimited");
        return field->kind == PHI__CFG_SECONDS ? phi_json_new_num(arena, (double)value / 1000)
                                               : phi__json_edit_uint(arena, value);
    case PHI__CFG_CHOICE:
        memcpy(&i, at, sizeof i);
        *skip = !phi__choice_of(field->choices, i, &choice);
        return phi__json_edit_text(arena, choice.name);
    case PHI__CFG_BITS:
        value = phi__put_one_unsigned(field, at);
        *skip = value == 0;
        return *skip ? NULL : phi__put_one_bits(arena, field->choices, value);
    default: *skip = true; return NULL; /* the caller writes it */
    }
}

/* ---- an agent as a configuration ---- */

/* The agent to write, and the tree so far. */
typedef struct phi__cfg_write {
    phi_arena *arena;
    const phi_agent_desc *desc;
    const phi_profile *profile; /* NULL: no profile */
    phi_json *root;
    bool no_memory;
} phi__cfg_write;

static phi_json *phi__put_object(phi__cfg_write *w) {
    phi_json *object = phi_json_new_object(w->arena);
    w->no_memory |= object == NULL;
    return object;
}

/* Adds a value. NULL means no memory. */
static void phi__put_set(phi__cfg_write *w, phi_json *to, const char *key, phi_json *value) {
    w->no_memory =
        w->no_memory || value == NULL || phi_json_set(w->arena, to, key, value) != PHI_OK;
}

static void phi__put_item(phi__cfg_write *w, phi_json *to, phi_json *value) {
    w->no_memory = w->no_memory || value == NULL || to == NULL || phi_json_add(to, value) != PHI_OK;
}

/* Adds a table or a list, unless it is empty. NULL means no memory. */
static void phi__put_part(phi__cfg_write *w, phi_json *to, const char *key, phi_json *part) {
    if (part == NULL || phi_json_count(part) > 0) phi__put_set(w, to, key, part);
}

/* Adds a text; NULL adds nothing. */
static void phi__put_words(phi__cfg_write *w, phi_json *to, const char *key, const char *text) {
    if (text != NULL) phi__put_set(w, to, key, phi__put_one_text(w->arena, text));
}

static phi_json *phi__put_fields(phi__cfg_write *w, const phi__cfg_table *table, const void *taken);

/* Writes the fields of a struct that are not default: single values first, then lists of names and
   parts. Secrets become "${API_KEY}". The caller writes other lists and tables. */
static void phi__put_into(phi__cfg_write *w, phi_json *node, const phi__cfg_table *table,
                          const void *taken) {
    const phi__cfg_field *field;
    for (int later = 0; later < 2; later++)
        for (size_t i = 0; (field = phi__fields_at(table, i)) != NULL; i++) {
            const char *at = (const char *)taken;
            bool skip, part = (field->flags & PHI__CFG_PART) != 0;
            if ((part || field->kind == PHI__CFG_BITS) != (later > 0)) continue;
            if (part) {
                phi_json *inner = phi__put_fields(w, field->table(), at + field->offset);
                phi__put_part(w, node, field->key, inner);
                continue;
            }
            phi_json *value = phi__put_one_value(w->arena, field, at, &skip);
            if (!skip) phi__put_set(w, node, field->key, value);
        }
}

/* Like phi__put_into, with a new table. */
static phi_json *phi__put_fields(phi__cfg_write *w, const phi__cfg_table *table,
                                 const void *taken) {
    phi_json *node = phi__put_object(w);
    phi__put_into(w, node, table, taken);
    return node;
}

static void phi__put_table(phi__cfg_write *w, phi_json *to, const char *key,
                           const phi__cfg_table *table, const void *taken) {
    phi__put_part(w, to, key, phi__put_fields(w, table, taken));
}

/* Writes headers by name. Values become variables, because any value may be a secret. */
static void phi__put_headers(phi__cfg_write *w, const phi_model *model, phi_json *to) {
    phi_json *node = phi__put_object(w);
    for (size_t i = 0; i < model->header_count; i++) {
        const char *name = model->headers[i].name;
        size_t n = strlen(name);
        char *text = phi__arena_bytes(w->arena, phi__add(n, 4));
        w->no_memory |= text == NULL;
        if (w->no_memory) return;
        memcpy(text, "${", 2);
        for (size_t j = 0; j < n; j++) {
            char c = name[j];
            bool letter = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            text[j + 2] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : letter ? c : '_';
        }
        memcpy(text + n + 2, "}", 2);
        phi__put_set(w, node, name, phi__json_edit_text(w->arena, text));
    }
    phi__put_part(w, to, "headers", node);
}

/* Writes an address. A login and a query become variables, because both may hold a key. A query
   that holds only versions is kept. */
static void phi__put_address(phi__cfg_write *w, const char *url, phi_json *to) {
    phi_str text = phi_str_of(url), out = PHI__LIT("");
    size_t from = phi__str_find(text, 0, "://"), at, end, query;
    phi__buf made;
    if (from == SIZE_MAX) return;
    for (at = end = from += 3; end < text.len && strchr("/?#", text.at[end]) == NULL; end++)
        if (text.at[end] == '@') at = end;
    for (query = end; query < text.len && strchr("?#", text.at[query]) == NULL; query++) continue;
    phi__buf_init(&made, w->arena->memory);
    phi__secret_put_url(&made, text); /* the address without secrets */
    size_t n = text.len - query;
    bool plain = n == 0 || (!made.failed && made.len >= n &&
                            memcmp(made.at + made.len - n, text.at + query, n) == 0);
    made.len = 0;
    phi__buf_add(&made, text.at, from);
    if (at > from) phi__buf_text(&made, "${API_LOGIN}");
    phi__buf_add(&made, text.at + at, (plain ? text.len : query + 1) - at);
    if (!plain) phi__buf_text(&made, "${API_QUERY}");
    w->no_memory |= made.failed || !phi__arena_str(w->arena, phi__buf_str(&made), &out);
    phi__buf_free(&made);
    if (at > from || !plain) phi__put_set(w, to, "base_url", phi_json_new_str(w->arena, out));
}

/* Adds a list of quirks, unless it is empty. */
static void phi__put_quirks(phi__cfg_write *w, uint64_t quirks, const char *key, phi_json *to) {
    phi__put_part(w, to, key, phi__put_one_bits(w->arena, phi__names_quirks(), quirks));
}

static void phi__put_provider(phi__cfg_write *w) {
    const phi__cfg_table *table = phi__table_provider_instance();
    const phi_model *model = &w->desc->model;
    phi__cfg_choice api = PHI_ZERO;
    phi__cfg_provider p = PHI_ZERO;
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
    p.has_reasoning = true;
    p.cost = model->cost;
    uint64_t quirks = phi__cfg_model_quirks(&p);
    phi_json *node = phi__put_fields(w, table, &p);
    phi__put_address(w, model->base_url, node);
    phi__put_headers(w, model, node);
    /* Write the differences from the quirks that the name, protocol and server imply. */
    phi_json *compat = phi__put_object(w);
    phi__put_quirks(w, model->quirks & ~quirks, "quirks", compat);
    phi__put_quirks(w, quirks & ~model->quirks, "without", compat);
    phi__put_part(w, node, "compat", compat);
    phi__put_words(w, node, "extra", model->extra);
    phi__put_part(w, w->root, "provider", node);
}

static void phi__put_profile(phi__cfg_write *w, phi_json *agent) {
    const phi_agent_desc *desc = w->desc;
    phi__cfg_profile p = PHI_ZERO;
    if (w->profile != NULL) {
        p.name = w->profile->name;
        p.description = w->profile->description;
        p.config_id = w->profile->config_id;
    }
    p.thinking = desc->thinking;
    p.max_tokens = desc->max_tokens;
    p.temperature = desc->options.temperature;
    p.has_temperature = desc->options.has_temperature;
    phi__put_table(w, agent, "profile", phi__table_profile(), &p);
}

/* Returns an absolute workspace, because the file may be read elsewhere. If it cannot be resolved,
   returns it unchanged. NULL for ".", the reader's default. */
static const char *phi__put_workspace(phi__cfg_write *w) {
    const char *path = w->desc->workspace, *out = NULL;
    if (path == NULL || strcmp(path, ".") == 0) return NULL;
    if (phi__path_absolute(phi_str_of(path))) return path;
    w->no_memory |= phi__cfg_resolve(w->arena, path, &out, NULL, 0) == PHI_NO_MEMORY;
    return out != NULL ? out : path;
}

/* Writes the format. The schema is written as a text. */
static void phi__put_format(phi__cfg_write *w, phi_json *agent) {
    const phi_format *format = &w->desc->format;
    phi__cfg_format f = PHI_ZERO;
    if (format->kind == PHI_FORMAT_TEXT) return;
    f.format = *format;
    phi_json *node = phi__put_fields(w, phi__table_format(), &f);
    phi__put_words(w, node, "schema", format->schema);
    phi__put_part(w, agent, "format", node);
}

/* Writes options, extra and raw tools. */
static void phi__put_said(phi__cfg_write *w, phi_json *agent) {
    const phi_request_options *options = &w->desc->options;
    phi_json *stop = phi_json_new_array(w->arena), *raws = phi_json_new_array(w->arena);
    phi_request_options o = *options;
    o.has_seed = o.has_seed && o.seed >= 0;
    if (!o.has_seed) o.seed = 0;
    phi_json *node = phi__put_fields(w, phi__table_options(), &o);
    for (size_t i = 0; i < options->stop_count; i++)
        phi__put_item(w, stop, phi__put_one_text(w->arena, options->stop[i]));
    phi__put_part(w, node, "stop", stop);
    phi__put_part(w, agent, "options", node);
    phi__put_words(w, agent, "extra", options->extra);
    for (size_t i = 0; i < w->desc->tool_options.raw_tool_count; i++) {
        phi_json *raw = phi__put_object(w);
        phi__put_words(w, raw, "protocol", w->desc->tool_options.raw_tools[i].protocol);
        phi__put_words(w, raw, "json", w->desc->tool_options.raw_tools[i].json);
        phi__put_item(w, raws, raw);
    }
    phi__put_part(w, agent, "raw_tools", raws);
}

static void phi__put_agent(phi__cfg_write *w) {
    phi__cfg_agent a = PHI_ZERO;
    phi__cfg_agent_begin(&a, w->desc);
    a.system_prompt = w->desc->system_prompt;
    a.workspace = phi__put_workspace(w);
    phi_json *node = phi__put_fields(w, phi__table_agent(), &a);
    phi__put_profile(w, node);
    if (w->desc->policy != NULL)
        phi__put_table(w, node, "policy", phi__table_policy(), w->desc->policy);
    phi__put_format(w, node);
    phi__put_table(w, node, "effects", phi__table_effects(), &w->desc->tool_options.effects);
    phi__put_said(w, node);
    phi__put_part(w, w->root, "agent", node);
}

static void phi__put_tools(phi__cfg_write *w) {
    const phi_tool_options *options = &w->desc->tool_options;
    phi_json *node = phi__put_object(w), *names = phi_json_new_array(w->arena);
    phi__cfg_tools t = PHI_ZERO;
    t.mode = options->mode;
    t.batch_size = t.mode == PHI_TOOLS_BATCHED ? options->batch : 0;
    t.timeout_ms = options->timeout_ms;
    t.defer_percent = options->defer_percent;
    t.choice = options->choice;
    for (size_t i = 0; i < w->desc->tool_count; i++)
        if (!w->desc->tools[i].unlisted)
            phi__put_item(w, names, phi__put_one_text(w->arena, w->desc->tools[i].name));
    phi__put_part(w, node, "enabled", names);
    phi__put_into(w, node, phi__table_tools(), &t);
    phi__put_part(w, w->root, "tools", node);
}

static void phi__put_compaction(phi__cfg_write *w) {
    phi__cfg_compaction c = PHI_ZERO;
    if (w->desc->compaction.disable) return;
    c.config = w->desc->compaction;
    c.enabled = true;
    if (c.config.max_context_tokens == 0)
        c.config.max_context_tokens = w->desc->model.context_window;
    if (c.config.scope_runs == PHI_COMPACTION_NO_RUNS || c.config.scope != PHI_COMPACTION_RUNS)
        c.config.scope_runs = 0;
    if (c.config.scope != PHI_COMPACTION_TOKENS) c.config.scope_tokens = 0;
    phi__put_table(w, w->root, "compaction", phi__table_compaction(), &c);
}

static void phi__put_execution(phi__cfg_write *w) {
    phi__cfg_execution e = PHI_ZERO;
    e.desc = *w->desc;
    e.cache.cache = w->desc->cache;
    phi__put_table(w, w->root, "execution", phi__table_execution(), &e);
}

/* If the format has comments, puts a comment before the text. The comment lists the parts that are
   not written. */
static phi_status phi__put_comment(phi_arena *arena, const phi_str *body, phi_str *out) {
    static const char head[] = "# Written by phi_config_write. Keys, logins and headers are "
                               "variables. Not in this file: hooks,\n"
                               "# filters, strategies, failover, stores, skills, sub-agents, MCP "
                               "servers, documents of OpenAPI,\n"
                               "# permissions. Tools under [tools] enabled are those of "
                               "phi_config_sections() and of the program.\n";
    char *at = phi__arena_bytes(arena, phi__add(sizeof head, body->len));
    if (at == NULL) return PHI_NO_MEMORY;
    memcpy(at, head, sizeof head - 1);
    memcpy(at + sizeof head - 1, body->at, body->len);
    at[sizeof head - 1 + body->len] = '\0';
    *out = phi__str(at, sizeof head - 1 + body->len);
    return PHI_OK;
}

static phi_status phi__put_text(phi_arena *arena, const phi_json *root, phi_config_format format,
                                phi_str *out) {
    phi_status status = PHI_UNSUPPORTED;
    phi_str body = PHI__LIT("");
    switch (format) {
    case PHI_CONFIG_JSON: return phi_json_write(arena, root, PHI_JSON_PRETTY, out);
    case PHI_CONFIG_YAML: status = phi_yaml_write(arena, root, 0, &body); break;
    case PHI_CONFIG_AUTO:
    case PHI_CONFIG_TOML: status = phi_toml_write(arena, root, 0, &body); break;
    default: break;
    }
    return status == PHI_OK ? phi__put_comment(arena, &body, out) : status;
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
    w.root = phi__put_object(&w);
    phi__put_agent(&w);
    phi__put_provider(&w);
    phi__put_tools(&w);
    phi__put_compaction(&w);
    phi__put_execution(&w);
    return w.no_memory ? PHI_NO_MEMORY : phi__put_text(arena, w.root, format, out);
}
