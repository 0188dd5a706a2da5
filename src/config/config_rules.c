/* config_rules.c - mistakes that no single value shows. */
#include "config/config_own_in.h"
#include "config/config_tables_in.h"
#include "agent/profile_in.h"

#include <stdio.h>

/* ---- helpers: a problem at a path that is built of names ---- */

static void phi__config_rules_at(phi__config_walk *walk, const char *path, const char *key) {
    walk->path.len = 0;
    phi__buf_text(&walk->path, path);
    if (key != NULL) (void)phi__config_path_name(walk, phi_str_of(key));
}

static void phi__config_rules_warn(phi__config_walk *walk, const char *path, const char *key,
                                   const phi_json *node, const char *words) {
    phi__config_rules_at(walk, path, key);
    phi__buf_printf(phi__config_path_words(walk), "%s%s", phi__config_path_text(walk), words);
    phi__config_path_warning_key(walk, node);
}

static void phi__config_rules_fail(phi__config_walk *walk, const char *path, const char *key,
                                   const phi_json *node, const char *words) {
    phi__config_rules_at(walk, path, key);
    phi__buf_printf(phi__config_path_words(walk), "%s%s", phi__config_path_text(walk), words);
    phi__config_path_error_key(walk, node);
}

/* Whether a choice has that value; its default where it is not set. */
static bool phi__config_rules_is(const phi_json *table, const char *key, const char *value) {
    const phi_json *node = phi_json_get(table, key);
    return phi_json_is(node, PHI_JSON_STRING) && phi__str_is_nocase(phi__json_text_of(node), value);
}

/* Calls `rule` for the table at `section` and each of its instances. */
typedef void (*phi__config_rule_fn)(phi__config_walk *walk, const char *path,
                                    const phi_json *table);
static void phi__config_rules_each(phi__config_walk *walk, const char *section,
                                   const phi_json *node, phi__config_rule_fn rule) {
    phi_json_iter it = phi_json_each(phi_json_get(node, "instances"));
    const phi_json *table;
    char path[80];
    unsigned i;
    for (i = 0; (table = phi_json_next(&it)) != NULL; i++) {
        snprintf(path, sizeof path, "%s.instances[%u]", section, i);
        rule(walk, path, table);
    }
}

/* ---- providers ---- */

/* The protocol that a model's name asks for, or NULL. */
static const char *phi__config_rules_api(phi_str model) {
    static const struct {
        char prefix[12], api[8];
    } known[] = {{"gpt-", "openai"},    {"chatgpt-", "openai"}, {"o1", "openai"},
                 {"o3", "openai"},      {"o4", "openai"},       {"gemini-", "google"},
                 {"openai/", "openai"}, {"google/", "openai"},  {"meta-llama/", "openai"},
                 {"llama", "openai"},   {"mistral-", "openai"}, {"deepseek-", "openai"},
                 {"grok-", "openai"},   {"qwen", "openai"},     {"anthropic.", "bedrock"}};
    size_t i;
    for (i = 0; i < PHI__COUNT(known); i++)
        if (phi__str_starts(model, known[i].prefix)) return known[i].api;
    return NULL;
}

/* A model of another protocol than the default one. */
static void phi__config_rules_model(phi__config_walk *walk, const char *path,
                                    const phi_json *table) {
    const phi_json *model = phi_json_get(table, "model");
    const char *api = phi__config_rules_api(phi__json_text_of(model));
    bool elsewhere = phi_json_get(table, "base_url") != NULL || phi_json_get(table, "url") != NULL;
    phi__buf *words;
    if (api == NULL || phi_json_get(table, "api") != NULL || phi_json_get(table, "preset") != NULL)
        return;
    phi__config_rules_at(walk, path, "model");
    words = phi__config_path_words(walk);
    phi__buf_printf(words, "%s ", phi__config_path_text(walk));
    phi__config_raws_show(walk->config, model, words);
    phi__buf_printf(words,
                    " needs api = \"%s\": without api the protocol is anthropic_messages, by which "
                    "there is no such model",
                    api);
    if (elsewhere)
        phi__config_path_warning(walk, model);
    else
        phi__config_path_error(walk, model, NULL);
}

/* Protocols and presets without an address of their own. */
static void phi__config_rules_address(phi__config_walk *walk, const char *path,
                                      const phi_json *table) {
    static const char *const keys[] = {"preset", "api"};
    size_t i;
    if (phi_json_get(table, "base_url") != NULL || phi_json_get(table, "url") != NULL) return;
    for (i = 0; i < PHI__COUNT(keys); i++) {
        const phi_json *node = phi_json_get(table, keys[i]);
        const phi__config_choice *choice =
            phi_json_is(node, PHI_JSON_STRING)
                ? phi__config_take_choice(i == 0 ? phi__config_tables_preset()
                                                 : phi__config_tables_api(),
                                          phi__json_text_of(node))
                : NULL;
        bool needs;
        if (choice == NULL) continue;
        needs = i == 0 ? choice->value == PHI__CONFIG_PRESET_AZURE ||
                             choice->value == PHI__CONFIG_PRESET_VERTEX ||
                             choice->value == PHI__CONFIG_PRESET_LOCAL
                       : choice->value == PHI__CONFIG_API_AZURE ||
                             choice->value == PHI__CONFIG_API_VERTEX;
        if (!needs) continue;
        phi__config_rules_at(walk, path, "base_url");
        phi__buf_printf(phi__config_path_words(walk),
                        "%s has no base_url: %s \"%s\" has no address of its own; add base_url = "
                        "\"%s\"",
                        path, keys[i], choice->name,
                        strcmp(choice->name, "local") == 0 ? "http://localhost:8080/v1"
                        : phi__str_starts(phi_str_of(choice->name), "azure")
                            ? "https://RESOURCE.openai.azure.com/openai/v1"
                            : "https://REGION-aiplatform.googleapis.com/v1/projects/PROJECT/"
                              "locations/REGION");
        phi__config_path_error(walk, node, NULL);
        return;
    }
}

static void phi__config_rules_provider(phi__config_walk *walk, const char *path,
                                       const phi_json *table) {
    phi__config_rules_model(walk, path, table);
    phi__config_rules_address(walk, path, table);
}

/* ---- costs ---- */

static bool phi__config_rules_has_rates(const phi_json *provider) {
    phi_json_iter it = phi_json_each(phi_json_get(provider, "cost"));
    const phi_json *rate;
    while ((rate = phi_json_next(&it)) != NULL)
        if (phi_json_num(rate, 0) > 0) return true;
    return false;
}

static bool phi__config_rules_any_rates(const phi_config *config) {
    const phi_json *provider = phi_json_get(config->root, "provider"), *table;
    phi_json_iter it = phi_json_each(phi_json_get(provider, "instances"));
    if (phi__config_rules_has_rates(provider)) return true;
    while ((table = phi_json_next(&it)) != NULL)
        if (phi__config_rules_has_rates(table)) return true;
    return false;
}

static void phi__config_rules_max_cost(phi__config_walk *walk, const char *path,
                                       const phi_json *table) {
    const phi_json *cost = phi_json_get(table, "max_cost");
    if (cost == NULL || phi_json_is(cost, PHI_JSON_NULL)) return;
    phi__config_rules_warn(walk, path, "max_cost", cost,
                           " has no effect: no provider has cost rates; add [provider.cost] with "
                           "input_per_million and output_per_million");
}

static void phi__config_rules_costs(phi__config_walk *walk) {
    const phi_json *root = walk->config->root, *execution = phi_json_get(root, "execution");
    if (phi__config_rules_any_rates(walk->config)) return;
    phi__config_rules_max_cost(walk, "execution", execution);
    phi__config_rules_max_cost(walk, "execution.budget", phi_json_get(execution, "budget"));
    phi__config_rules_each(walk, "sub_agents", phi_json_get(root, "sub_agents"),
                           phi__config_rules_max_cost);
}

/* ---- compaction ---- */

static void phi__config_rules_compaction_off(phi__config_walk *walk, const char *path,
                                             const phi_json *table) {
    const phi_json *enabled = phi_json_get(table, "enabled");
    phi_json_iter it = phi_json_each(table);
    const phi_json *node;
    if (phi_json_get(table, "max_context_tokens") != NULL ||
        (enabled != NULL && !phi_json_is(enabled, PHI_JSON_BOOL)) ||
        (enabled != NULL && !phi_json_bool(enabled, true)))
        return;
    while ((node = phi_json_next(&it)) != NULL) {
        char key[64];
        if (phi__str_is(it.key, "instances") || phi__str_is(it.key, "id") ||
            phi__str_is(it.key, "description") || it.key.len >= sizeof key)
            continue;
        if (phi__config_fields_find(phi__config_tables_compaction(), it.key, NULL) == NULL)
            continue;
        memcpy(key, it.key.at, it.key.len);
        key[it.key.len] = '\0';
        phi__config_rules_warn(walk, path, key, node,
                               " has no effect: compaction is off until max_context_tokens is "
                               "set");
        return;
    }
}

static void phi__config_rules_compaction(phi__config_walk *walk) {
    const phi_json *root = walk->config->root, *top = phi_json_get(root, "compaction");
    const phi_json *inner = phi_json_get(phi_json_get(root, "context"), "compaction");
    const phi_json *table = top != NULL ? top : inner;
    const char *path = top != NULL ? "compaction" : "context.compaction";
    if (top != NULL && inner != NULL)
        phi__config_rules_fail(walk, "context.compaction", NULL, inner,
                               " and [compaction] mean the same; keep one of the two");
    if (phi_json_get(table, "max_context_tokens") != NULL) return;
    if (phi_json_get(table, "instances") == NULL)
        phi__config_rules_compaction_off(walk, path, table);
    else
        phi__config_rules_each(walk, path, table, phi__config_rules_compaction_off);
}

/* ---- fields that need another ---- */

/* A field that has no effect unless another has a value. */
typedef struct phi__config_need {
    const char *path, *field, *key, *value;
} phi__config_need;

static const phi__config_need phi__config_rules_needs[] = {
    {"tools", "batch_size", "tool_strategy", "batched"},
    {"session", "directory", "scope", "persistent"},
    {"session", "thread", "scope", "persistent"},
    {"session", "sync", "scope", "persistent"},
    {"failover", "stay_secs", "stay", "for"},
    {"execution.cache", "system", "strategy", "manual"},
    {"execution.cache", "tools", "strategy", "manual"},
    {"execution.cache", "messages", "strategy", "manual"},
    {"compaction", "scope_tokens", "scope", "tokens"},
    {"agent.format", "schema", "type", "json_schema"},
    {"agent.effects", "allow", "mode", "allow_list"}};

static void phi__config_rules_need(phi__config_walk *walk) {
    char words[80];
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__config_rules_needs); i++) {
        const phi__config_need *need = &phi__config_rules_needs[i];
        const phi_json *table = phi_json_path(walk->config->root, need->path);
        const phi_json *node = phi_json_get(table, need->field);
        if (node == NULL || phi_json_is(node, PHI_JSON_NULL)) continue;
        if (phi__config_rules_is(table, need->key, need->value)) continue;
        if (strcmp(need->path, "tools") == 0 &&
            phi__config_rules_is(table, "strategy", need->value))
            continue;
        snprintf(words, sizeof words, " has no effect: add %s = \"%s\"", need->key, need->value);
        phi__config_rules_warn(walk, need->path, need->field, node, words);
    }
}

static void phi__config_rules_format(phi__config_walk *walk, const char *path,
                                     const phi_json *table) {
    const phi_json *format = phi_json_get(table, "format");
    if (!phi__config_rules_is(format, "type", "json_schema") ||
        phi_json_get(format, "schema") != NULL)
        return;
    phi__config_rules_fail(walk, path, "format", phi_json_get(format, "type"),
                           " has no schema: type = \"json_schema\" needs one, as schema = "
                           "\"file:answer.json\"");
}

/* ---- strategies ---- */

static void phi__config_rules_strategy(phi__config_walk *walk, const char *path,
                                       const phi_json *table) {
    static const char *const types[] = {"cot", "cod", "aot", "tot", "got", "trm", "adaptive"};
    phi_str type = phi__json_text_of(phi_json_get(table, "type")), raw;
    size_t i;
    if (type.len == 0 || phi__config_raws_find(walk->config, phi_json_get(table, "type"), &raw) ||
        phi__str_is_nocase(type, "adaptive"))
        return;
    for (i = 0; i < PHI__COUNT(types); i++) {
        const phi_json *options = phi_json_get(table, types[i]);
        char words[160];
        if (options == NULL || phi__str_is_nocase(type, types[i])) continue;
        snprintf(words, sizeof words, " has no effect: the type of this strategy is \"%.*s\"",
                 (int)phi__min(type.len, 40), type.at);
        phi__config_rules_warn(walk, path, types[i], options, words);
    }
}

/* ---- prompts ---- */

enum { PHI__CONFIG_BLOCKS = 64 /* of a template; larger ones are not looked at */ };

/* The names of a template's blocks. */
typedef struct phi__config_blocks {
    phi_str at[PHI__CONFIG_BLOCKS];
    size_t count;
} phi__config_blocks;

static bool phi__config_rules_built_in(phi_str type, phi__config_blocks *out) {
    const phi__profile_slot *slots;
    size_t i;
    if (phi__str_is(type, "agent"))
        slots = phi__profile_slots_agent(&out->count);
    else if (phi__str_is(type, "minimal"))
        slots = phi__profile_slots_minimal(&out->count);
    else
        return false;
    for (i = 0; i < out->count; i++) out->at[i] = phi_str_of(slots[i].name);
    return true;
}

/* False: there is no such template, or it cannot be looked at: names out of variables. */
static bool phi__config_rules_template(const phi_config *config, phi_str text,
                                       phi__config_blocks *out) {
    phi__config_ref ref = phi__config_refs_parse(text);
    const phi_json *table = NULL, *block;
    phi_json_iter it;
    phi_str raw;
    memset(out, 0, sizeof *out);
    if (text.len > 0) table = phi__config_refs_find(config, "system_prompt_strategy", text.at);
    if (table == NULL)
        return phi__config_rules_built_in(
            ref.kind == PHI__CONFIG_REF_LITERAL ? phi__str_trim(text) : ref.name, out);
    table = phi_json_get(table, "blocks");
    if (!phi_json_is(table, PHI_JSON_ARRAY) || phi_json_count(table) > PHI__CONFIG_BLOCKS)
        return false;
    it = phi_json_each(table);
    while ((block = phi_json_next(&it)) != NULL) {
        const phi_json *name = phi_json_get(block, "name");
        if (phi__config_raws_find(config, name, &raw)) return false;
        out->at[out->count++] = phi__json_text_of(name);
    }
    return true;
}

static void phi__config_rules_block(phi__config_walk *walk, const char *path,
                                    const phi__config_blocks *blocks, phi_str key,
                                    const phi_json *node) {
    phi_str near = PHI__LIT("");
    unsigned best = PHI__CONFIG_FAR + 1;
    phi__buf *words = phi__config_path_words(walk);
    size_t i;
    for (i = 0; i < blocks->count; i++) {
        unsigned d = phi__config_nearest_distance(key, blocks->at[i]);
        if (phi_str_equal(blocks->at[i], key)) return;
        if (d < best) best = d, near = blocks->at[i];
    }
    phi__buf_printf(words, "%s has the block \"%.*s\", which its template does not have", path,
                    (int)key.len, key.at);
    if (near.len > 0) phi__buf_printf(words, "; did you mean \"%.*s\"?", (int)near.len, near.at);
    for (i = 0; near.len == 0 && i < blocks->count; i++)
        phi__buf_printf(words, "%s%.*s", i == 0 ? "; it has " : ", ", (int)blocks->at[i].len,
                        blocks->at[i].at);
    walk->path.len = 0;
    phi__buf_text(&walk->path, path);
    (void)phi__config_path_name(walk, key);
    phi__config_path_warning_key(walk, node);
}

static void phi__config_rules_prompt(phi__config_walk *walk, const char *path,
                                     const phi_json *table) {
    phi_json_iter it = phi_json_each(table);
    const phi_json *node;
    phi__config_blocks blocks;
    if (!phi__config_rules_template(walk->config, phi__json_text_of(phi_json_get(table, "type")),
                                    &blocks))
        return;
    while ((node = phi_json_next(&it)) != NULL && !phi__config_path_full(walk))
        if (phi__config_fields_find(phi__config_tables_prompt(), it.key, NULL) == NULL)
            phi__config_rules_block(walk, path, &blocks, it.key, node);
}

void phi__config_rules_check(phi_config *config) {
    const phi_json *root = config->root;
    phi__config_walk walk;
    phi__config_path_begin(&walk, config);
    phi__config_rules_provider(&walk, "provider", phi_json_get(root, "provider"));
    phi__config_rules_each(&walk, "provider", phi_json_get(root, "provider"),
                           phi__config_rules_provider);
    phi__config_rules_costs(&walk);
    phi__config_rules_compaction(&walk);
    phi__config_rules_need(&walk);
    phi__config_rules_format(&walk, "agent", phi_json_get(root, "agent"));
    phi__config_rules_each(&walk, "agent", phi_json_get(root, "agent"), phi__config_rules_format);
    phi__config_rules_each(&walk, "strategy", phi_json_get(root, "strategy"),
                           phi__config_rules_strategy);
    phi__config_rules_each(&walk, "system_prompt", phi_json_get(root, "system_prompt"),
                           phi__config_rules_prompt);
    phi__config_path_end(&walk);
}
