/* config_model.c - a model out of a provider of the file. */
#include "config/config_agents_in.h"
#include "codecs/presets.h"
#include "model/model_in.h"

#define PHI__CONFIG_MODEL_HAS(p, key)                                                              \
    phi__config_fields_has(phi__config_tables_provider_instance(), (p), (key))

/* The preset of a protocol, where nothing says more. */
static int phi__config_model_of_api(int api) {
    static const int presets[] = {PHI__CONFIG_PRESET_ANTHROPIC,        PHI__CONFIG_PRESET_OPENAI,
                                  PHI__CONFIG_PRESET_OPENAI_RESPONSES, PHI__CONFIG_PRESET_AZURE,
                                  PHI__CONFIG_PRESET_GOOGLE,           PHI__CONFIG_PRESET_VERTEX,
                                  PHI__CONFIG_PRESET_INTERACTIONS,     PHI__CONFIG_PRESET_BEDROCK};
    return (size_t)api < PHI__COUNT(presets) ? presets[api] : PHI__CONFIG_PRESET_ANTHROPIC;
}

/* Those that are not below are servers of the Chat protocol, by the name that files have. */
static phi_model phi__config_model_preset(int preset, const char *url, const char *id,
                                          const char *key) {
    const phi__config_choice *choice = phi__config_tables_preset();
    phi_model model;
    switch (preset) {
    case PHI__CONFIG_PRESET_OPENAI_RESPONSES: return phi_model_openai_responses(id, key);
    case PHI__CONFIG_PRESET_AZURE: return phi_model_azure(url, id, key);
    case PHI__CONFIG_PRESET_GOOGLE: return phi_model_google(id, key);
    case PHI__CONFIG_PRESET_VERTEX: return phi_model_vertex(url, id, key);
    case PHI__CONFIG_PRESET_INTERACTIONS: return phi_model_interactions(id, key);
    case PHI__CONFIG_PRESET_BEDROCK: return phi_model_bedrock(url, id, key);
    case PHI__CONFIG_PRESET_MINIMAX: return phi_model_minimax(id, key);
    case PHI__CONFIG_PRESET_LOCAL: return phi_model_local(url, id, key);
    default: break;
    }
    while (choice->name[0] != '\0' && choice->value != preset) choice++;
    model = phi_model_preset(choice->name, id, key);
    if (model.protocol == NULL) return phi_model_anthropic(id, key);
    if ((model.quirks & PHI_QUIRK_OPEN_KEY) != 0 && url != NULL && url[0] != '\0')
        model.base_url = url; /* a server of the user's own */
    return model;
}

/* A provider that phi has a preset for is that one, where it speaks the protocol; of an unknown
   server with OpenAI's protocol phi assumes no more than it must. */
static int phi__config_model_choose(const phi__config_provider *p) {
    const phi__config_choice *named = NULL;
    int preset = phi__config_model_of_api(p->api);
    if (p->preset != PHI__CONFIG_PRESET_NONE) return p->preset;
    if (p->provider != NULL)
        named = phi__config_take_choice(phi__config_tables_preset(), phi_str_of(p->provider));
    if (named != NULL) {
        phi_model known = phi__config_model_preset(named->value, NULL, "", NULL);
        phi_model plain = phi__config_model_preset(preset, NULL, "", NULL);
        if (strcmp(known.protocol, plain.protocol) == 0) return named->value;
    }
    if (p->api == PHI__CONFIG_API_OPENAI_CHAT && p->base_url != NULL &&
        phi__str_find(phi_str_of(p->base_url), 0, "api.openai.com") == SIZE_MAX)
        return PHI__CONFIG_PRESET_LOCAL;
    return preset;
}

static bool phi__config_model_headers(phi_arena *arena, const phi_json *map, phi_model *out) {
    size_t n = phi_json_count(map), i = 0;
    phi_json_iter it = phi_json_each(map);
    const phi_json *value;
    phi_model_header *list;
    if (n == 0) return true;
    list = (phi_model_header *)phi_arena_alloc(arena, phi__mul(n, sizeof *list));
    if (list == NULL) return false;
    while ((value = phi_json_next(&it)) != NULL) {
        phi_str name;
        if (!phi__arena_str(arena, it.key, &name)) return false;
        list[i].name = name.at;
        list[i++].value = phi_json_str(value, "").at;
    }
    out->headers = list;
    out->header_count = n;
    return true;
}

static phi_model phi__config_model_of(const phi__config_provider *p) {
    return phi__config_model_preset(phi__config_model_choose(p), p->base_url, p->model, p->api_key);
}

/* The address that a provider's requests go to; NULL: it has none. */
static const char *phi__config_model_address(const phi__config_provider *p) {
    return p->base_url != NULL ? p->base_url : phi__config_model_of(p).base_url;
}

/* Another protocol than that of the provider means the server that the protocol has by default. */
static void phi__config_model_api(int api, phi__config_provider *p) {
    phi_model plain = phi__config_model_preset(phi__config_model_of_api(api), NULL, "", NULL);
    if (strcmp(phi__config_model_of(p).protocol, plain.protocol) == 0) return;
    p->api = api;
    p->preset = PHI__CONFIG_PRESET_NONE;
    p->base_url = p->provider = NULL;
}

/* A sub-agent's own values; facts of another model do not count for its own, and the key and the
   headers of the provider are for its server alone. */
static void phi__config_model_child(const phi__config_sub_agent *child, phi__config_provider *p,
                                    bool *other, bool *same) {
    const char *server = phi__config_model_address(p);
    *other = child->model != NULL && (p->model == NULL || strcmp(child->model, p->model) != 0);
    if (child->model != NULL) p->model = child->model;
    if (phi__config_fields_has(phi__config_tables_sub_agent(), child, "api"))
        phi__config_model_api(child->api, p);
    if (child->base_url != NULL && child->base_url[0] != '\0') p->base_url = child->base_url;
    *same = phi__model_same_server(server, phi__config_model_address(p));
    if (!*same) {
        p->api_key = NULL;
        p->headers = NULL;
        p->api_version = NULL;
    }
    if (child->api_key != NULL) p->api_key = child->api_key;
}

/* What the file says of the server, and of the model, over the preset's values. */
static phi_status phi__config_model_fill(phi__config_ground *ground, const phi__config_provider *p,
                                         bool other, phi_model *out) {
    phi__config_compat compat;
    phi__config_cost cost;
    memset(&compat, 0, sizeof compat);
    memset(&cost, 0, sizeof cost);
    if (p->base_url != NULL) out->base_url = p->base_url;
    if (p->api_key != NULL) out->api_key = p->api_key;
    if (p->provider != NULL) out->provider = p->provider;
    if (p->api_version != NULL) out->api_version = p->api_version;
    if (!phi__config_take(ground->arena, p->compat, phi__config_tables_compat(), &compat) ||
        !phi__config_model_headers(ground->arena, p->headers, out))
        return PHI_NO_MEMORY;
    out->quirks = phi__config_tables_quirks(&compat, out->quirks);
    if (phi__config_said_object(ground, p->extra, "provider.extra", &out->extra) != PHI_OK)
        return PHI_NO_MEMORY;
    out->name = other ? NULL : p->name; /* NULL: its id, also where a preset has a name */
    if (other) return PHI_OK;
    if (PHI__CONFIG_MODEL_HAS(p, "reasoning")) out->reasoning = p->reasoning;
    if (p->context_window > 0) out->context_window = p->context_window;
    if (p->max_tokens > 0) out->max_tokens = p->max_tokens;
    if (!phi__config_take(ground->arena, p->cost, phi__config_tables_cost(), &cost))
        return PHI_NO_MEMORY;
    out->cost = cost.cost;
    return PHI_OK;
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__config_model_make(phi__config_ground *ground, const phi_json *node,
                                          const phi__config_sub_agent *child, phi_model *out,
                                          bool *same) {
    phi__config_provider p;
    bool other = false;
    memset(&p, 0, sizeof p);
    if (!phi__config_take(ground->arena, node, phi__config_tables_provider_instance(), &p))
        return PHI_NO_MEMORY;
    /* "" is none, as of "${URL:-}". */
    if (p.base_url != NULL && p.base_url[0] == '\0') p.base_url = NULL;
    if (child != NULL) phi__config_model_child(child, &p, &other, same);
    if (p.model == NULL || p.model[0] == '\0') {
        phi__config_words_warning(ground, node, "provider.model",
                                  "provider.model is missing: requests name the model "
                                  "\"unknown\", which no provider knows; write model = \"...\"");
        p.model = "unknown";
    }
    *out = phi__config_model_of(&p);
    return phi__config_model_fill(ground, &p, other, out);
}

PHI__FN const phi_json *phi__config_model_node(const phi__config_maker *maker, const char *name) {
    const phi_json *top = maker->whole.top.provider, *node = top, *value;
    phi_json_iter it = phi_json_each(top);
    if (name != NULL) node = phi__config_refs_find(maker->ground.config, "provider", name);
    if (node != top) return node;
    while ((value = phi_json_next(&it)) != NULL)
        if (!phi_json_is(value, PHI_JSON_NULL) && !phi__str_is(it.key, "instances")) return top;
    return NULL;
}

PHI__FN uint64_t phi__config_model_quirks(const phi__config_provider *provider) {
    return phi__config_model_of(provider).quirks;
}
