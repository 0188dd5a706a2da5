/* config_settings.c - plain settings of an agent: prompts, models, limits, compaction,
   strategies. */
#include "config/config_own_in.h"
#include "formats/formats_in.h"
#include "agent/agent_in.h"
#include "codecs/presets.h"
#include "config/config_agents_in.h"
#include "model/model_in.h"
#include "wire/wire_in.h"

#include <stdarg.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>

PHI__FN const char *phi__cfg_join(phi_arena *arena, const char *directory, const char *path) {
    size_t n = strlen(directory), m = strlen(path);
    if (phi__path_absolute(phi_str_of(path)) || n == 0 || strcmp(directory, ".") == 0) n = 0;
    if (n > 0 && strcmp(path, ".") == 0) m = 0;
    char *at = phi__arena_bytes(arena, phi__add(phi__add(n, m), 2));
    if (at == NULL) return NULL;
    memcpy(at, directory, n);
    if (n > 0 && m > 0 && !phi__path_is_slash(directory[n - 1])) at[n++] = '/';
    memcpy(at + n, path, m);
    at[n + m] = '\0';
    return at;
}

PHI__FN void *phi__cfg_pairs(phi_arena *arena, const phi_json *map, size_t *count) {
    phi_json_iter it = phi_json_each(map);
    const phi_json *value;
    size_t n = 0;
    *count = phi_json_count(map);
    if (*count == 0) return NULL;
    phi_model_header *pairs =
        (phi_model_header *)phi_arena_alloc(arena, phi__mul(*count, sizeof *pairs));
    while (pairs != NULL && (value = phi_json_next(&it)) != NULL) {
        phi_str name;
        if (!phi__arena_str(arena, it.key, &name)) return NULL;
        pairs[n].name = name.at;
        pairs[n++].value = phi_json_str(value, "").at;
    }
    return pairs;
}

PHI__FN phi_status phi__cfg_resolve(phi_arena *arena, const char *path, const char **out, char *why,
                                    size_t size) {
    *out = NULL;
#ifndef PHI_NO_FILES
    phi__resolve *r = (phi__resolve *)phi__alloc(arena->memory, sizeof *r);
    phi__words words = PHI_ZERO;
    size_t units = SIZE_MAX;
    phi_str copy = PHI__LIT("");
    if (r == NULL) return PHI_NO_MEMORY;
    phi_status status = phi__path_resolve_begin(r, NULL, path, &words);
    if (status == PHI_OK) status = phi__path_resolve_advance(r, &units, &words);
    if (status == PHI_OK && !phi__arena_str(arena, phi_str_of(r->out), &copy))
        status = PHI_NO_MEMORY;
    if (status == PHI_OK) *out = copy.at;
    phi__free(arena->memory, r, sizeof *r);
    if (size > 0) (void)snprintf(why, size, "%s", words.text);
    return status;
#else
    (void)arena;
    (void)path;
    (void)why;
    (void)size;
    return PHI_UNSUPPORTED;
#endif
}

PHI__FN phi_status phi__cfg_absolute(phi__cfg_ground *ground, const phi_json *node,
                                     const char *field, const char *path, const char **out) {
    char why[160] = "";
    phi_status status = phi__cfg_resolve(ground->arena, path, out, why, sizeof why);
    if (status == PHI_OK || status == PHI_NO_MEMORY || status == PHI_UNSUPPORTED) return status;
    phi__cfg_error(ground, node, status, field, "%s \"%s\" cannot be resolved: %s", field, path,
                   why);
    return PHI_OK;
}

/* ---- messages: with parts, and with the most similar name ---- */

/* Adds a problem. Masks the values of variables, because parts of the message may come from other
   modules, which show paths, names and addresses as they are. */
static void phi__cfg_say(phi__cfg_ground *ground, const phi_json *node, bool is_warning,
                         phi_status status, const char *field, const char *format, va_list args) {
    char text[500];
    phi__buf words;
    (void)vsnprintf(text, sizeof text, format, args);
    phi__buf_init(&words, ground->memory);
    phi__raws_mask(ground->config, phi_str_of(text), &words);
    phi__buf_char(&words, '\0');
    if (words.failed)
        ground->problems->no_memory = true;
    else
        phi__prob_add(ground->problems, ground->config, node, is_warning, status, field, NULL,
                      words.at);
    phi__buf_free(&words);
}

PHI__FN void phi__cfg_error(phi__cfg_ground *ground, const phi_json *node, phi_status status,
                            const char *field, const char *format, ...) {
    va_list args;
    va_start(args, format);
    phi__cfg_say(ground, node, false, status, field, format, args);
    va_end(args);
}

PHI__FN void phi__cfg_warn(phi__cfg_ground *ground, const phi_json *node, const char *field,
                           const char *format, ...) {
    va_list args;
    va_start(args, format);
    phi__cfg_say(ground, node, true, PHI_OK, field, format, args);
    va_end(args);
}

PHI__FN const char *phi__cfg_nearest(phi_str name, const char *const *names, size_t count) {
    const char *best = NULL;
    unsigned least = PHI__CFG_FAR + 1;
    for (size_t i = 0; i < count; i++) {
        if (phi__near_try(&least, name, phi_str_of(names[i]))) best = names[i];
    }
    return best;
}

/* ---- system prompts: a text, a file, or blocks in the slots of a template ---- */

#ifndef PHI_NO_FILES
PHI__FN phi_status phi__cfg_file(phi_memory *memory, const char *path, size_t most, phi__buf *out,
                                 phi__words *words) {
    enum { PIECE = 4096 };
    phi__file *file;
    size_t got = 1;
    phi_status status = phi__files_open_read(memory, path, PHI__LINKS_FOLLOW, &file, words);
    if (status != PHI_OK) return status;
    while (status == PHI_OK && got > 0 && out->len <= most) {
        char *at = phi__buf_reserve(out, PIECE);
        if (at == NULL) break;
        status = phi__files_read(file, at, PIECE, &got, words);
        if (status == PHI_OK) phi__buf_add_len(out, got);
    }
    phi__files_close(file);
    return out->failed ? PHI_NO_MEMORY : status;
}
#endif

static phi_status phi__cfg_prompt_file(phi__cfg_ground *ground, const char *workspace,
                                       const phi_json *node, const char *name, const char **out) {
#ifndef PHI_NO_FILES
    const char *path = phi__cfg_join(ground->arena, workspace, name);
    phi__words words;
    phi__buf bytes;
    phi_str text;
    phi_status status;
    if (path == NULL) return PHI_NO_MEMORY;
    phi__buf_init(&bytes, ground->memory);
    words.text[0] = '\0';
    status = phi__cfg_file(ground->memory, path, PHI__CFG_PROMPT_BYTES, &bytes, &words);
    if (status == PHI_OK && bytes.len > PHI__CFG_PROMPT_BYTES) status = PHI_TOO_BIG;
    if (status == PHI_TOO_BIG) {
        phi__cfg_error(ground, node, status, NULL,
                       "the file \"%s\" is longer than 1 MiB, the most of a system prompt", path);
        status = PHI_OK;
    } else if (status != PHI_OK && status != PHI_NO_MEMORY) {
        phi__cfg_error(ground, node, status, NULL,
                       "cannot read \"%s\": %s; correct the path behind \"file:\", which is "
                       "relative to the agent's workspace, or write the text itself",
                       path, words.text);
        status = PHI_OK;
    } else if (status == PHI_OK && bytes.len > 0 && memchr(bytes.at, '\0', bytes.len) != NULL) {
        phi__cfg_error(ground, node, PHI_PARSE, NULL,
                       "the file \"%s\" is no text: it has a zero byte", path);
    } else if (status == PHI_OK) {
        while (bytes.len > 0 && bytes.at[bytes.len - 1] == '\n') bytes.len--;
        if (!phi__arena_str(ground->arena, phi__buf_str(&bytes), &text)) status = PHI_NO_MEMORY;
        if (status == PHI_OK && text.len > 0) *out = text.at;
    }
    phi__buf_free(&bytes);
    return status;
#else
    (void)workspace;
    (void)name;
    (void)out;
    phi__cfg_error(ground, node, PHI_UNSUPPORTED, NULL,
                   "\"file:\" needs files, which PHI_NO_FILES leaves out");
    return PHI_OK;
#endif
}

/* Reads a prompt that is a text or a file. */
static phi_status phi__cfg_prompt_text(phi__cfg_ground *ground, const char *workspace,
                                       const phi_json *node, const char **out) {
    phi_str text = phi_json_str(node, "");
    if (phi__str_starts(text, "file:"))
        return phi__cfg_prompt_file(ground, workspace, node, text.at + strlen("file:"), out);
    if (text.len > 0) *out = text.at;
    return PHI_OK;
}

static phi_status phi__cfg_prompt_slots(phi__cfg_ground *ground, const phi_json *node,
                                        const phi__profile_slot **out, size_t *count) {
    const phi_json *blocks = phi_json_get(node, "blocks"), *item;
    phi_json_iter it = phi_json_each(blocks);
    size_t n = phi_json_count(blocks), i = 0;
    phi__profile_slot *slots =
        (phi__profile_slot *)phi_arena_alloc(ground->arena, phi__mul(n + 1, sizeof *slots));
    if (slots == NULL) return PHI_NO_MEMORY;
    while ((item = phi_json_next(&it)) != NULL) {
        phi__cfg_prompt_block block = PHI_ZERO;
        if (!phi__cfg_take(ground->arena, item, phi__table_prompt_block(), &block))
            return PHI_NO_MEMORY;
        if (block.name == NULL) continue;
        slots[i].name = block.name;
        slots[i].order = block.order;
        slots[i++].max_length = (size_t)block.max_length;
    }
    *out = slots;
    *count = i;
    return PHI_OK;
}

/* Returns the slots of a template, which is in the file or built in. */
static phi_status phi__cfg_prompt_slots_of(phi__cfg_ground *ground, const char *type,
                                           const phi__profile_slot **out, size_t *count) {
    const phi_json *node =
        phi__refs_find(ground->config, "system_prompt_strategy", type != NULL ? type : "");
    if (node != NULL) return phi__cfg_prompt_slots(ground, node, out, count);
    *out = type != NULL && phi__str_find(phi_str_of(type), 0, "minimal") != SIZE_MAX
               ? phi__profile_slots_minimal(count)
               : phi__profile_slots_agent(count);
    return PHI_OK;
}

static phi_status phi__cfg_prompt_compose(phi__cfg_ground *ground, const char *workspace,
                                          const phi_json *prompt, const char **out) {
    phi__profile_block *blocks = (phi__profile_block *)phi_arena_alloc(
        ground->arena, phi__mul(phi_json_count(prompt) + 1, sizeof *blocks));
    phi_json_iter it = phi_json_each(prompt);
    const phi__profile_slot *slots = NULL;
    const phi_json *member;
    size_t count = 0, slot_count = 0;
    phi_str text = PHI__LIT(""), key;
    phi_status status = blocks != NULL ? PHI_OK : PHI_NO_MEMORY;
    while (status == PHI_OK && (member = phi_json_next(&it)) != NULL) {
        const char *words = NULL;
        if (phi__fields_find(phi__table_prompt(), it.key, NULL) != NULL) continue;
        if (!phi__arena_str(ground->arena, it.key, &key)) return PHI_NO_MEMORY;
        status = phi__cfg_prompt_text(ground, workspace, member, &words);
        blocks[count].name = key.at;
        blocks[count].text = words != NULL ? words : "";
        if (words != NULL) count++;
    }
    if (status == PHI_OK)
        status = phi__cfg_prompt_slots_of(ground, phi_json_str(phi_json_get(prompt, "type"), "").at,
                                          &slots, &slot_count);
    if (status == PHI_OK)
        status = phi__profile_compose(slots, slot_count, blocks, count, ground->arena, &text);
    if (status == PHI_OK && text.len > 0) *out = text.at;
    return status;
}

PHI__FN phi_status phi__cfg_prompt_make(phi__cfg_ground *ground, const phi_json *node,
                                        const char *workspace, const char **out) {
    *out = NULL;
    if (!phi_json_is(node, PHI_JSON_STRING)) return PHI_OK;
    const phi_json *prompt =
        phi__refs_find(ground->config, "system_prompt", phi_json_str(node, "").at);
    if (prompt != NULL) return phi__cfg_prompt_compose(ground, workspace, prompt, out);
    return phi__cfg_prompt_text(ground, workspace, node, out);
}

/* ---- options, extra and raw tools of an agent, and extra of a provider ---- */

/* Returns a text node's own text, or another node as JSON text in the arena. NULL: no memory. */
static const char *phi__cfg_said_text(phi_arena *arena, const phi_json *node) {
    phi_str text;
    if (phi_json_is(node, PHI_JSON_STRING)) return phi_json_str(node, "").at;
    return phi_json_write(arena, node, 0, &text) == PHI_OK ? text.at : NULL;
}

/* Sets *out to the JSON text of an object, which the node gives as a table or as a text. If the
   node is NULL, null or invalid, *out is unchanged. An invalid node is reported as a problem of
   `field`. Fails only with PHI_NO_MEMORY. */
static phi_status phi__cfg_said_object(phi__cfg_ground *ground, const phi_json *node,
                                       const char *field, const char **out) {
    char words[200];
    if (node == NULL || phi_json_is(node, PHI_JSON_NULL)) return PHI_OK;
    if (!phi_json_is(node, PHI_JSON_STRING) && !phi_json_is(node, PHI_JSON_OBJECT)) {
        phi__cfg_error(ground, node, PHI_PARSE, field, "%s: expected a table, or JSON as a text",
                       field);
        return PHI_OK;
    }
    const char *text = phi__cfg_said_text(ground->arena, node);
    if (text == NULL) return PHI_NO_MEMORY;
    phi_status status =
        phi__extra_check(NULL, ground->arena->memory, phi_str_of(text), words, sizeof words);
    if (status == PHI_NO_MEMORY) return status;
    if (status != PHI_OK)
        phi__cfg_error(ground, node, PHI_PARSE, field, "%s%s", field, words);
    else
        *out = text;
    return PHI_OK;
}

static phi_status phi__cfg_said_raws(phi__cfg_ground *ground, const phi_json *list,
                                     phi_agent_desc *desc) {
    phi_json_iter it = phi_json_each(list);
    const phi_json *node;
    phi_raw_tool *raws;
    phi_status status = PHI_OK;
    size_t n = 0;
    if (list == NULL) return PHI_OK;
    raws = (phi_raw_tool *)phi__arena_zero(
        ground->arena, phi__mul(phi__max(phi_json_count(list), 1), sizeof *raws));
    if (raws == NULL) return PHI_NO_MEMORY;
    while (status == PHI_OK && (node = phi_json_next(&it)) != NULL) {
        phi__cfg_raw_tool taken = PHI_ZERO;
        if (!phi__cfg_take(ground->arena, node, phi__table_raw_tool(), &taken))
            return PHI_NO_MEMORY;
        raws[n].protocol = taken.protocol;
        status = phi__cfg_said_object(ground, taken.json, "agent.raw_tools.json", &raws[n].json);
        if (raws[n].protocol != NULL && raws[n].json != NULL) n++;
    }
    desc->tool_options.raw_tools = raws;
    desc->tool_options.raw_tool_count = n;
    return status;
}

/* Reads options, extra and raw tools of [agent]. Missing fields keep their values. */
static phi_status phi__cfg_said_take(phi__cfg_ground *ground, const phi__cfg_agent *a,
                                     phi_agent_desc *desc) {
    if (!phi__cfg_take(ground->arena, a->options, phi__table_options(), &desc->options))
        return PHI_NO_MEMORY;
    phi_status status = phi__cfg_said_object(ground, a->extra, "agent.extra", &desc->options.extra);
    return status == PHI_OK ? phi__cfg_said_raws(ground, a->raw_tools, desc) : status;
}

/* ---- models: from a provider of the file ---- */

/* Returns the preset of a protocol, used if no preset is named. */
static const char *phi__cfg_model_of_api(int api) {
    static const char *const presets[] = {"anthropic", "openai", "openai_responses", "azure",
                                          "google",    "vertex", "interactions",     "bedrock"};
    return presets[api];
}

/* Makes the model of a preset. Presets missing in this list are servers of the Chat protocol. */
static phi_model phi__cfg_model_preset(const char *preset, const char *url, const char *id,
                                       const char *key) {
    static const struct {
        const char *name;
        phi_model (*at)(const char *url, const char *id, const char *key);
        phi_model (*of)(const char *id, const char *key);
    } known[] = {{"azure", phi_model_azure, NULL},
                 {"vertex", phi_model_vertex, NULL},
                 {"bedrock", phi_model_bedrock, NULL},
                 {"local", phi_model_local, NULL},
                 {"openai_responses", NULL, phi_model_openai_responses},
                 {"google", NULL, phi_model_google},
                 {"interactions", NULL, phi_model_interactions},
                 {"minimax", NULL, phi_model_minimax}};
    for (size_t i = 0; i < PHI__COUNT(known); i++)
        if (strcmp(preset, known[i].name) == 0)
            return known[i].at != NULL ? known[i].at(url, id, key) : known[i].of(id, key);
    phi_model model = phi_model_preset(preset, id, key);
    if (model.protocol == NULL) return phi_model_anthropic(id, key);
    if ((model.quirks & PHI_QUIRK_OPEN_KEY) != 0 && url != NULL && url[0] != '\0')
        model.base_url = url; /* the user's own server */
    return model;
}

/* Returns the preset's model. A known provider name selects its preset if the protocol is the same.
   An unknown server of the Chat protocol gets "local", which assumes least. */
static phi_model phi__cfg_model_of(const phi__cfg_provider *p) {
    const char *preset = phi__cfg_model_of_api(p->api);
    phi__cfg_choice named = PHI_ZERO;
    if (phi__choice_of(phi__names_preset(), p->preset, &named))
        preset = named.name;
    else if (p->provider != NULL &&
             phi__choice_find(phi__names_preset(), phi_str_of(p->provider), &named) &&
             strcmp(phi__cfg_model_preset(named.name, NULL, "", NULL).protocol,
                    phi__cfg_model_preset(preset, NULL, "", NULL).protocol) == 0)
        preset = named.name;
    else if (p->api == PHI__CFG_API_OPENAI_CHAT && p->base_url != NULL &&
             !phi__url_is_at(phi_str_of(p->base_url), "api.openai.com"))
        preset = "local";
    return phi__cfg_model_preset(preset, p->base_url, p->model, p->api_key);
}

/* Returns the address of a provider, or NULL if it has none. */
static const char *phi__cfg_model_address(const phi__cfg_provider *p) {
    return p->base_url != NULL ? p->base_url : phi__cfg_model_of(p).base_url;
}

/* Sets a sub-agent's protocol. If it differs from the provider's protocol, the model uses the
   default server of the new protocol. */
static void phi__cfg_model_api(int api, phi__cfg_provider *p) {
    phi_model plain = phi__cfg_model_preset(phi__cfg_model_of_api(api), NULL, "", NULL);
    if (strcmp(phi__cfg_model_of(p).protocol, plain.protocol) == 0) return;
    p->api = api;
    p->preset = 0;
    p->base_url = p->provider = NULL;
}

/* Applies a sub-agent's own values. If its model differs, sets *other: facts about the provider's
   model then do not apply. If its server differs, the sub-agent loses the provider's key and
   headers. */
static void phi__cfg_model_child(const phi__cfg_sub_agent *child, phi__cfg_provider *p, bool *other,
                                 bool *same) {
    const char *server = phi__cfg_model_address(p);
    *other = child->model != NULL && (p->model == NULL || strcmp(child->model, p->model) != 0);
    if (child->model != NULL) p->model = child->model;
    if (phi__fields_has(phi__table_sub_agent(), child, "api")) phi__cfg_model_api(child->api, p);
    if (child->base_url != NULL && child->base_url[0] != '\0') p->base_url = child->base_url;
    *same = phi__model_same_server(server, phi__cfg_model_address(p));
    if (!*same) {
        p->api_key = NULL;
        p->headers = NULL;
        p->api_version = NULL;
    }
    if (child->api_key != NULL) p->api_key = child->api_key;
}

/* Applies the file's settings of the server and the model over the preset's. */
static phi_status phi__cfg_model_fill(phi__cfg_ground *ground, const phi__cfg_provider *p,
                                      bool other, phi_model *out) {
    phi__cfg_compat compat = PHI_ZERO;
    if (p->base_url != NULL) out->base_url = p->base_url;
    if (p->api_key != NULL) out->api_key = p->api_key;
    if (p->provider != NULL) out->provider = p->provider;
    if (p->api_version != NULL) out->api_version = p->api_version;
    if (!phi__cfg_take(ground->arena, p->compat, phi__table_compat(), &compat))
        return PHI_NO_MEMORY;
    if (phi_json_count(p->headers) > 0) {
        out->headers =
            (const phi_model_header *)phi__cfg_pairs(ground->arena, p->headers, &out->header_count);
        if (out->headers == NULL) return PHI_NO_MEMORY;
    }
    out->quirks = phi__table_quirks(&compat, out->quirks);
    if (phi__cfg_said_object(ground, p->extra, "provider.extra", &out->extra) != PHI_OK)
        return PHI_NO_MEMORY;
    out->name = other ? NULL : p->name; /* NULL shows the id, even if the preset has a name */
    if (other) return PHI_OK;
    if (p->has_reasoning) out->reasoning = p->reasoning;
    if (p->context_window > 0) out->context_window = p->context_window;
    if (p->max_tokens > 0) out->max_tokens = p->max_tokens;
    out->cost = p->cost;
    return PHI_OK;
}

PHI__FN phi_status phi__cfg_model_make(phi__cfg_ground *ground, const phi_json *node,
                                       const phi__cfg_sub_agent *child, phi_model *out,
                                       bool *same) {
    bool other = false;
    phi__cfg_provider p = PHI_ZERO;
    if (!phi__cfg_take(ground->arena, node, phi__table_provider_instance(), &p))
        return PHI_NO_MEMORY;
    /* "" means no address, as from "${URL:-}". */
    if (p.base_url != NULL && p.base_url[0] == '\0') p.base_url = NULL;
    if (child != NULL) phi__cfg_model_child(child, &p, &other, same);
    if (p.model == NULL || p.model[0] == '\0') {
        phi__cfg_warn(ground, node, "provider.model",
                      "provider.model is missing: requests name the model \"unknown\", which no "
                      "provider knows; write model = \"...\"");
        p.model = "unknown";
    }
    *out = phi__cfg_model_of(&p);
    return phi__cfg_model_fill(ground, &p, other, out);
}

PHI__FN const phi_json *phi__cfg_model_node(const phi__cfg_maker *maker, const char *name) {
    const phi_json *top = maker->whole.top.provider, *node = top, *value;
    phi_json_iter it = phi_json_each(top);
    if (name != NULL) node = phi__refs_find(maker->ground.config, "provider", name);
    if (node != top) return node;
    while ((value = phi_json_next(&it)) != NULL)
        if (!phi_json_is(value, PHI_JSON_NULL) && !phi__str_is(it.key, "instances")) return top;
    return NULL;
}

PHI__FN uint64_t phi__cfg_model_quirks(const phi__cfg_provider *provider) {
    return phi__cfg_model_of(provider).quirks;
}

/* ---- failover: the models to use if an agent's own fails ---- */

static phi_status phi__cfg_fail_models(phi__cfg_maker *maker, const phi__cfg_texts *names,
                                       phi_failover *out) {
    phi__cfg_ground *ground = &maker->ground;
    size_t n = phi__min(names->count, PHI_FAILOVER_MODELS_MOST);
    phi_failover_model *models =
        (phi_failover_model *)phi__arena_zero(ground->arena, (n + 1) * sizeof *models);
    if (models == NULL) return PHI_NO_MEMORY;
    if (names->count > n)
        phi__cfg_error(ground, maker->whole.top.failover, PHI_TOO_BIG, "failover",
                       "failover: %u models; at most %d are tried", (unsigned)names->count,
                       PHI_FAILOVER_MODELS_MOST);
    for (size_t i = 0; i < n; i++) {
        const phi_json *node = phi__refs_find(ground->config, "provider", names->at[i]);
        if (node == NULL) continue;
        phi_status status =
            phi__cfg_model_make(ground, node, NULL, &models[out->model_count].model, NULL);
        if (status != PHI_OK) return status;
        out->model_count++;
    }
    out->models = models;
    return PHI_OK;
}

/* Sets the failover models: from the agent's list, else from [failover]. Fails only with
   PHI_NO_MEMORY. */
static phi_status phi__cfg_fail_use(phi__cfg_maker *maker, phi__cfg_job *job) {
    phi_arena *arena = maker->ground.arena;
    phi_failover *failover;
    phi__cfg_failover taken = PHI_ZERO;
    if (!phi__cfg_take(arena, maker->whole.top.failover, phi__table_failover(), &taken))
        return PHI_NO_MEMORY;
    if (job->taken.failover.at != NULL) taken.models = job->taken.failover;
    if (taken.models.count == 0) return PHI_OK;
    failover = (phi_failover *)phi__arena_zero(arena, sizeof *failover);
    if (failover == NULL) return PHI_NO_MEMORY;
    *failover = taken.failover;
    phi_status status = phi__cfg_fail_models(maker, &taken.models, failover);
    if (status == PHI_OK && failover->model_count > 0) job->desc.failover = failover;
    return status;
}

/* ---- reasoning strategies, as providers ---- */

/* Memory that a strategy borrows as long as its agents live. */
typedef struct phi__cfg_machine {
    phi_provider provider;
    phi_strategy_desc desc;
    phi__cfg_strategy taken;
} phi__cfg_machine;

/* Sets the strategy and its options to those of the strategy's type. */
static void phi__cfg_strat_choose(const phi__cfg_strategy *s, phi_strategy_desc *desc) {
    const struct {
        const phi_strategy *strategy;
        const void *options;
    } all[] = {{phi_strategy_cot(PHI_COT_STEPS), &s->cot},
               {phi_strategy_cot(PHI_COT_DRAFTS), &s->cod},
               {phi_strategy_aot(), &s->aot},
               {phi_strategy_tot(), &s->tot},
               {phi_strategy_got(), &s->got},
               {phi_strategy_trm(), &s->trm},
               {phi_strategy_adaptive(), &s->adaptive}};
    desc->strategy = all[s->type].strategy;
    desc->options = all[s->type].options;
}

PHI__FN phi_status phi__cfg_strat_make(phi__cfg_ground *ground, const char *name,
                                       const phi_provider **out) {
    const phi_json *node = phi__refs_find(ground->config, "strategy", name);
    phi__cfg_machine *m =
        (phi__cfg_machine *)phi__arena_zero(ground->arena, sizeof(phi__cfg_machine));
    if (m == NULL || !phi__cfg_take(ground->arena, node, phi__table_strategy(), &m->taken))
        return PHI_NO_MEMORY;
    phi__cfg_strategy *s = &m->taken;
    s->adaptive.cot = &s->cot;
    s->adaptive.cod = &s->cod;
    s->adaptive.aot = &s->aot;
    s->adaptive.tot = &s->tot;
    s->adaptive.got = &s->got;
    s->adaptive.trm = &s->trm;
    if (node == NULL) { /* the name of a built-in strategy, with defaults */
        phi__cfg_ref ref = phi__refs_parse(phi_str_of(name));
        phi__cfg_choice type = PHI_ZERO;
        bool found = phi__choice_find(
            phi__fields_find(phi__table_strategy(), PHI__LIT("type"), NULL)->choices,
            ref.kind == PHI__CFG_REF_LITERAL ? phi__str_trim(phi_str_of(name)) : ref.name, &type);
        PHI_ASSERT(found); /* phi_config_load checked it */
        (void)found;
        s->type = type.value;
    }
    phi__cfg_strat_choose(s, &m->desc);
    m->desc.max_calls = s->max_calls;
    m->desc.call_timeout_ms = s->call_timeout_ms;
    m->provider = phi_strategy_provider(&m->desc);
    *out = &m->provider;
    return PHI_OK;
}

/* ---- limits, retries, caching, compaction and other plain settings ---- */

static phi_status phi__settings_execution(phi__cfg_maker *maker, phi_agent_desc *desc) {
    static const char *const limits[] = {"max_turns", "max_total_tokens", "max_duration_secs",
                                         "max_cost"};
    phi__cfg_execution e = PHI_ZERO;
    e.desc = *desc;
    e.cache.cache = desc->cache;
    if (!phi__cfg_take(maker->ground.arena, maker->whole.top.execution, phi__table_execution(), &e))
        return PHI_NO_MEMORY;
    for (size_t i = 0; i < PHI__COUNT(limits); i++) /* a limit in the file clears limits.disable */
        if (phi__fields_has(phi__table_execution(), &e, limits[i])) e.desc.limits.disable = false;
    bool has_mode = phi__fields_has(phi__table_cache(), &e.cache, "strategy");
    if (phi__fields_has(phi__table_cache(), &e.cache, "enabled")) {
        if (!e.cache.enabled)
            e.cache.cache.mode = PHI_CACHE_DISABLED;
        else if (!has_mode && e.cache.cache.mode == PHI_CACHE_DISABLED)
            e.cache.cache.mode = PHI_CACHE_AUTO;
    }
    *desc = e.desc;
    desc->cache = e.cache.cache;
    return PHI_OK;
}

/* Checks that a schema given as text is JSON. Otherwise only the first request would show the
   fault. */
static phi_status phi__settings_schema(phi__cfg_ground *ground, const phi_json *node,
                                       const char *text) {
    phi_arena_mark mark = phi_arena_save(ground->arena);
    phi_parse_error error = PHI_ZERO;
    phi_json *root;
    if (text == NULL) return PHI_OK;
    phi_status status = phi_json_parse(ground->arena, phi_str_of(text), 0, &root, &error);
    phi_arena_reset(ground->arena, mark);
    if (status == PHI_OK || status == PHI_NO_MEMORY) return status;
    phi__cfg_error(ground, node, PHI_PARSE, "agent.format.schema",
                   "agent.format.schema is no JSON: line %u, column %u: %s; a file is named as "
                   "\"file:answer.json\"",
                   (unsigned)error.line, (unsigned)error.column, error.message);
    return PHI_OK;
}

static phi_status phi__settings_format(phi__cfg_ground *ground, const phi_json *node,
                                       phi_agent_desc *desc) {
    const char *schema = NULL;
    if (node == NULL) return PHI_OK;
    phi__cfg_format taken = PHI_ZERO;
    taken.format = desc->format;
    if (!phi__cfg_take(ground->arena, node, phi__table_format(), &taken)) return PHI_NO_MEMORY;
    if (phi_json_is(taken.schema, PHI_JSON_STRING)) {
        phi_status status = phi__cfg_prompt_make(ground, taken.schema, ground->directory, &schema);
        if (status != PHI_OK) return status;
        status = phi__settings_schema(ground, taken.schema, schema);
        if (status != PHI_OK) return status;
    } else if (taken.schema != NULL) {
        schema = phi__cfg_said_text(ground->arena, taken.schema);
        if (schema == NULL) return PHI_NO_MEMORY;
    }
    if (schema != NULL) taken.format.schema = schema;
    desc->format = taken.format;
    return PHI_OK;
}

static phi_status phi__settings_policy(phi__cfg_ground *ground, const phi_json *node,
                                       phi_agent_desc *desc) {
    if (node == NULL) return PHI_OK;
    phi_policy *policy = (phi_policy *)phi__arena_zero(ground->arena, sizeof *policy);
    if (policy == NULL) return PHI_NO_MEMORY;
    if (desc->policy != NULL) *policy = *desc->policy;
    desc->policy = policy;
    return phi__cfg_take(ground->arena, node, phi__table_policy(), policy) ? PHI_OK : PHI_NO_MEMORY;
}

PHI__FN void phi__cfg_agent_begin(phi__cfg_agent *a, const phi_agent_desc *desc) {
    a->desc = *desc;
    a->memory_limit_bytes = desc->memory.limit_bytes;
    a->event_queue_bytes = desc->memory.event_queue_bytes;
    a->max_event_bytes = desc->memory.max_event_bytes;
    a->max_response_bytes = desc->memory.max_response_bytes;
}

PHI__FN void phi__settings_compaction(phi__cfg_maker *maker, const char *reference,
                                      phi_compaction_config *out) {
    const phi__cfg_top *top = &maker->whole.top;
    const phi__cfg_table *table = phi__table_compaction_instance();
    phi_arena *arena = maker->ground.arena;
    const phi_json *nodes[3] = {phi_json_get(top->context, "compaction"), top->compaction, NULL};
    if (reference != NULL) nodes[2] = phi__refs_find(maker->ground.config, "compaction", reference);
    phi__cfg_compaction taken = PHI_ZERO;
    taken.config = *out;
    for (size_t i = 0; i < PHI__COUNT(nodes); i++) /* cannot fail: the table has no lists */
        (void)phi__cfg_take(arena, nodes[i], table, &taken);
    if (phi__fields_has(table, &taken, "max_context_tokens")) taken.config.disable = false;
    if (phi__fields_has(table, &taken, "enabled")) taken.config.disable = !taken.enabled;
    if (taken.config.max_context_tokens == 0) taken.config.disable = true;
    *out = taken.config;
}

PHI__FN phi_status phi__settings_whole(phi__cfg_maker *maker, phi_agent_desc *desc) {
    const phi__cfg_tools *tools = &maker->whole.tools;
    const phi__cfg_table *table = phi__table_tools();
    if (phi__fields_has(table, tools, "tool_strategy")) desc->tool_options.mode = tools->mode;
    if (phi__fields_has(table, tools, "choice")) desc->tool_options.choice = tools->choice;
    if (tools->timeout_ms > 0) desc->tool_options.timeout_ms = tools->timeout_ms;
    if (tools->defer_percent > 0) desc->tool_options.defer_percent = tools->defer_percent;
    if (desc->tool_options.mode == PHI_TOOLS_BATCHED && tools->batch_size > 0)
        desc->tool_options.batch = tools->batch_size;
    if (tools->mode == PHI_TOOLS_BATCHED && desc->tool_options.batch == 0)
        desc->tool_options.batch = 3; /* the default of batch_size */
    return phi__settings_execution(maker, desc);
}

PHI__FN phi_status phi__settings_agent(phi__cfg_maker *maker, phi__cfg_job *job) {
    phi__cfg_ground *ground = &maker->ground;
    const phi__cfg_agent *a = &job->taken;
    phi_status status = phi__settings_whole(maker, &job->desc);
    if (status == PHI_OK) status = phi__settings_format(ground, a->format, &job->desc);
    if (status == PHI_OK) status = phi__settings_policy(ground, a->policy, &job->desc);
    if (status == PHI_OK && !phi__cfg_take(ground->arena, a->effects, phi__table_effects(),
                                           &job->desc.tool_options.effects))
        status = PHI_NO_MEMORY;
    if (status == PHI_OK) status = phi__cfg_said_take(ground, a, &job->desc);
    if (status == PHI_OK) status = phi__cfg_fail_use(maker, job);
    if (status != PHI_OK || a->strategy == NULL) return status;
    return phi__cfg_strat_make(ground, a->strategy, &job->desc.provider);
}
