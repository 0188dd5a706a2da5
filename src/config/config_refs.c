/* config_refs.c - references: reading them, finding what they mean, and the words where they mean
   nothing. */
#include "config/config_own_in.h"
#include "config/config_section_in.h"
#include "config/config_tables_in.h"

enum {
    PHI__CONFIG_ALIASES = 16,  /* that lead to each other */
    PHI__CONFIG_LISTED = 8,    /* names in a message */
    PHI__CONFIG_COMPARED = 256 /* names, for the nearest one */
};

/* What exists without being written; found without a table. */
static const struct {
    const char *space, *name;
} phi__config_refs_built_in[] = {{"system_prompt_strategy", "agent"},
                                 {"system_prompt_strategy", "minimal"},
                                 {"strategy", "cot"},
                                 {"strategy", "cod"},
                                 {"strategy", "aot"},
                                 {"strategy", "tot"},
                                 {"strategy", "got"},
                                 {"strategy", "trm"},
                                 {"strategy", "adaptive"}};

/* Namespaces of phi.h's own sections, and how people write an instance. */
static const struct {
    char space[24], section[36], key[8], more[56];
} phi__config_refs_spaces[] = {
    {"provider", "provider.instances", "id", " and its model"},
    {"agent_profile", "agent.profile.instances", "id", ""},
    {"sub_agent", "sub_agents.instances", "name", " and its description"},
    {"compaction", "compaction.instances", "id", " and its max_context_tokens"},
    {"strategy", "strategy.instances", "id", " and its type"},
    {"system_prompt", "system_prompt.instances", "id",
     ", the type \"agent\" and its blocks, as identity = \"...\""},
    {"system_prompt_strategy", "system_prompt_strategy.instances", "id", " and its blocks"},
    {"mcp", "mcp.instances", "id", " and its command or url"},
    {"openapi", "openapi.instances", "id", " and its file or url"}};

/* How to write the first one of a namespace. */
static void phi__config_refs_first(phi__config_walk *walk, const char *space, phi_str name) {
    phi__buf *words = &walk->words;
    bool toml = walk->config->format == PHI_CONFIG_TOML;
    size_t i = 0;
    while (i + 1 < PHI__COUNT(phi__config_refs_spaces) &&
           strcmp(phi__config_refs_spaces[i].space, space) != 0)
        i++;
    phi__buf_printf(words, "; there is none: write %s%s%s with the %s \"", toml ? "[[" : "",
                    phi__config_refs_spaces[i].section, toml ? "]]" : "",
                    phi__config_refs_spaces[i].key);
    phi__config_raws_name(name, words);
    phi__buf_printf(words, "\"%s", phi__config_refs_spaces[i].more);
}

static bool phi__config_refs_is_space(phi_str name) {
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__config_refs_spaces); i++)
        if (phi__str_is(name, phi__config_refs_spaces[i].space)) return true;
    return false;
}

static bool phi__config_refs_is_built_in(const char *space, phi_str name) {
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__config_refs_built_in); i++)
        if (strcmp(phi__config_refs_built_in[i].space, space) == 0 &&
            phi__str_is(name, phi__config_refs_built_in[i].name))
            return true;
    return false;
}

phi__config_ref phi__config_refs_parse(phi_str text) {
    phi__config_ref ref = PHI_ZERO;
    size_t dot;
    text = phi__str_trim(text);
    if (text.len < 5 || !phi__str_starts(text, "{{") || text.at[text.len - 1] != '}' ||
        text.at[text.len - 2] != '}')
        return ref;
    text = phi__str_trim(phi__str(text.at + 2, text.len - 4));
    if (text.len >= 2 && text.at[0] == '#' && text.at[text.len - 1] == '#') {
        ref.name = phi__str_trim(phi__str(text.at + 1, text.len - 2));
        if (ref.name.len > 0) ref.kind = PHI__CONFIG_REF_ID;
        return ref;
    }
    if (text.len >= 2 && text.at[0] == '%' && text.at[text.len - 1] == '%') {
        ref.keep = true;
        text = phi__str_trim(phi__str(text.at + 1, text.len - 2));
    }
    if (text.len == 0 || phi__str_find(text, 0, "{{") != SIZE_MAX ||
        phi__str_find(text, 0, "}}") != SIZE_MAX)
        return ref;
    ref.kind = PHI__CONFIG_REF_NAME;
    ref.name = text;
    dot = phi__str_find(text, 0, ".");
    if (dot != SIZE_MAX && dot > 0 && dot + 1 < text.len) {
        ref.space = phi__str(text.at, dot);
        ref.name = phi__str(text.at + dot + 1, text.len - dot - 1);
    }
    return ref;
}

/* The name as it stands in the braces: space and name together. */
static phi_str phi__config_refs_whole(const phi__config_ref *ref) {
    if (ref->space.len == 0) return ref->name;
    return phi__str(ref->space.at, (size_t)(ref->name.at - ref->space.at) + ref->name.len);
}

/* ---- finding ---- */

typedef enum phi__config_refs_found {
    PHI__CONFIG_REFS_THERE,
    PHI__CONFIG_REFS_LITERAL,
    PHI__CONFIG_REFS_BUILT_IN,
    PHI__CONFIG_REFS_MISSING,
    PHI__CONFIG_REFS_AMBIGUOUS,
    PHI__CONFIG_REFS_OTHER_SPACE, /* entity: the one of another kind, where there is one */
    PHI__CONFIG_REFS_NO_SPACE,
    PHI__CONFIG_REFS_NO_ALIAS,
    PHI__CONFIG_REFS_CYCLE
} phi__config_refs_found;

typedef struct phi__config_refs_result {
    phi__config_refs_found found;
    const phi_json *node;
    const phi__config_entity *entity, *second;
    phi_str name; /* that was looked for */
    bool hidden;  /* it came out of a variable */
    phi__config_ref ref;
} phi__config_refs_result;

static phi__config_refs_found phi__config_refs_name(const phi_config *config, const char *space,
                                                    phi_str name, phi__config_refs_result *r) {
    r->name = name;
    r->entity = phi__config_names_find(config, space, name);
    if (r->entity != NULL) {
        r->node = r->entity->node;
        return PHI__CONFIG_REFS_THERE;
    }
    if (phi__config_refs_is_built_in(space, name)) return PHI__CONFIG_REFS_BUILT_IN;
    if (strcmp(space, "provider") == 0 && phi__str_is(name, "default")) {
        r->node = config->provider;
        return r->node != NULL ? PHI__CONFIG_REFS_THERE : PHI__CONFIG_REFS_BUILT_IN;
    }
    return PHI__CONFIG_REFS_MISSING;
}

/* {{name}}: in all namespaces. */
static phi__config_refs_found phi__config_refs_anywhere(const phi_config *config, const char *space,
                                                        phi_str name, phi__config_refs_result *r) {
    size_t probe = 0;
    r->name = name;
    r->entity = phi__config_names_each(config, name, &probe);
    if (r->entity == NULL) return phi__config_refs_name(config, space, name, r);
    r->second = phi__config_names_each(config, name, &probe);
    if (r->second != NULL) return PHI__CONFIG_REFS_AMBIGUOUS;
    if (strcmp(r->entity->space, space) != 0) return PHI__CONFIG_REFS_OTHER_SPACE;
    r->node = r->entity->node;
    return PHI__CONFIG_REFS_THERE;
}

static phi__config_refs_found phi__config_refs_braces(const phi_config *config, const char *space,
                                                      phi__config_refs_result *r) {
    const phi__config_ref *ref = &r->ref;
    phi_str whole = phi__config_refs_whole(ref);
    if (ref->kind == PHI__CONFIG_REF_ID) return phi__config_refs_name(config, space, ref->name, r);
    if (ref->space.len == 0) return phi__config_refs_anywhere(config, space, ref->name, r);
    if (phi__str_is(ref->space, space)) return phi__config_refs_name(config, space, ref->name, r);
    /* a name with a dot in it */
    if (phi__config_names_find(config, space, whole) != NULL)
        return phi__config_refs_anywhere(config, space, whole, r);
    r->name = ref->name;
    return phi__config_refs_is_space(ref->space) ? PHI__CONFIG_REFS_OTHER_SPACE
                                                 : PHI__CONFIG_REFS_NO_SPACE;
}

/* What a text means in a field of that space. */
static phi__config_refs_found phi__config_refs_look(const phi_config *config, const char *space,
                                                    phi_str text, bool names,
                                                    phi__config_refs_result *r) {
    bool hidden = false;
    int hops;
    for (hops = 0; hops < PHI__CONFIG_ALIASES; hops++) {
        const phi__config_entity *alias;
        phi_str raw;
        memset(r, 0, sizeof *r);
        r->hidden = hidden;
        text = phi__str_trim(text);
        r->name = text;
        r->ref = phi__config_refs_parse(text);
        if (r->ref.kind != PHI__CONFIG_REF_LITERAL)
            return phi__config_refs_braces(config, space, r);
        if (text.len < 2 || text.at[0] != ':' || strcmp(space, "provider") != 0) {
            if (!names) return PHI__CONFIG_REFS_LITERAL;
            return phi__config_refs_name(config, space, text, r);
        }
        r->name = phi__str(text.at + 1, text.len - 1);
        alias = phi__config_names_find(config, "models", r->name);
        if (alias == NULL || !phi_json_is(alias->node, PHI_JSON_STRING))
            return PHI__CONFIG_REFS_NO_ALIAS;
        hidden = hidden || phi__config_raws_find(config, alias->node, &raw);
        text = phi__json_text_of(alias->node);
    }
    return PHI__CONFIG_REFS_CYCLE;
}

/* A plain text is a prompt, and a name anywhere else. */
static bool phi__config_refs_names_count(const char *space) {
    return strcmp(space, "system_prompt") != 0;
}

const phi_json *phi__config_refs_find(const phi_config *config, const char *space,
                                      const char *text) {
    phi__config_refs_result r;
    bool names = phi__config_refs_names_count(space);
    phi__config_refs_found found =
        phi__config_refs_look(config, space, phi_str_of(text), names, &r);
    return found == PHI__CONFIG_REFS_THERE ? r.node : NULL;
}

const phi__config_entity *phi__config_refs_entity(const phi_config *config, const char *space,
                                                  phi_str text) {
    phi__config_refs_result r;
    bool names = phi__config_refs_names_count(space);
    phi__config_refs_found found = phi__config_refs_look(config, space, text, names, &r);
    return found == PHI__CONFIG_REFS_THERE ? r.entity : NULL;
}

/* ---- words ---- */

/* Adds the name most like `name`, as a reference to it is written. False: none is near. */
static bool phi__config_refs_near(phi__config_walk *walk, const char *space, phi_str name) {
    const phi__config_entity *e, *near = NULL;
    const char *built_in = NULL;
    unsigned best = PHI__CONFIG_FAR + 1, left = PHI__CONFIG_COMPARED;
    size_t i;
    for (e = walk->config->first; e != NULL && left > 0; e = e->next) {
        unsigned d;
        if (strcmp(e->space, space) != 0) continue;
        left--;
        d = phi__config_nearest_distance(name, e->name);
        if (d < best) best = d, near = e;
    }
    for (i = 0; i < PHI__COUNT(phi__config_refs_built_in); i++) {
        unsigned d;
        if (strcmp(phi__config_refs_built_in[i].space, space) != 0) continue;
        d = phi__config_nearest_distance(name, phi_str_of(phi__config_refs_built_in[i].name));
        if (d < best) best = d, built_in = phi__config_refs_built_in[i].name;
    }
    if (built_in != NULL)
        phi__buf_printf(&walk->words, "; did you mean \"%s\"?", built_in);
    else if (near != NULL) {
        phi__buf_printf(&walk->words, "; did you mean \"{{%s.", space);
        phi__config_raws_name(near->shown, &walk->words);
        phi__buf_text(&walk->words, "}}\"?");
    }
    return built_in != NULL || near != NULL;
}

/* The names that there are. */
static void phi__config_refs_names(phi__config_walk *walk, const char *space, phi_str name) {
    const phi__config_entity *e;
    phi__buf *words = &walk->words;
    unsigned count = 0;
    size_t i;
    if (phi__config_refs_near(walk, space, name)) return;
    for (e = walk->config->first; e != NULL && count < PHI__CONFIG_LISTED; e = e->next) {
        if (strcmp(e->space, space) != 0) continue;
        phi__buf_text(words, count++ == 0 ? "; there are " : ", ");
        phi__config_raws_name(e->shown, words);
    }
    for (i = 0; i < PHI__COUNT(phi__config_refs_built_in); i++)
        if (strcmp(phi__config_refs_built_in[i].space, space) == 0)
            phi__buf_printf(words, "%s%s", count++ == 0 ? "; there are " : ", ",
                            phi__config_refs_built_in[i].name);
    if (count == 0) phi__config_refs_first(walk, space, name);
}

static void phi__config_refs_aliases(phi__config_walk *walk, phi_str name) {
    phi_json_iter it = phi_json_each(phi_json_get(walk->config->root, "models"));
    phi__buf *words = &walk->words;
    phi_str near = PHI__LIT("");
    unsigned best = PHI__CONFIG_FAR + 1, left = PHI__CONFIG_COMPARED;
    while (phi_json_next(&it) != NULL && left-- > 0) {
        unsigned d = phi__config_nearest_distance(name, it.key);
        if (d < best) best = d, near = it.key;
    }
    if (near.len == 0) {
        phi__buf_text(words, ": write it in [models], as ");
        phi__config_raws_name(name, words);
        phi__buf_text(words, " = \"{{provider.name}}\"");
        return;
    }
    phi__buf_text(words, "; did you mean \":");
    phi__config_raws_name(near, words);
    phi__buf_text(words, "\"?");
}

/* "{{provider.x}}" */
static void phi__config_refs_example(phi__buf *words, const char *space, phi_str name) {
    phi__buf_printf(words, "\"{{%s.", space);
    phi__config_raws_name(name, words);
    phi__buf_text(words, "}}\"");
}

/* The words behind the value in its error. */
static void phi__config_refs_say(phi__config_walk *walk, const char *space,
                                 const phi__config_refs_result *r) {
    phi__buf *words = &walk->words;
    switch (r->found) {
    case PHI__CONFIG_REFS_AMBIGUOUS:
        phi__buf_printf(words, " is ambiguous: %s and %s both have that name; write ",
                        r->entity->space, r->second->space);
        phi__config_refs_example(words, space, r->name);
        break;
    case PHI__CONFIG_REFS_OTHER_SPACE:
        phi__buf_printf(words, " means one of %.*s, but this field wants one of %s",
                        (int)(r->entity != NULL ? strlen(r->entity->space) : r->ref.space.len),
                        r->entity != NULL ? r->entity->space : r->ref.space.at, space);
        phi__config_refs_names(walk, space, r->name);
        break;
    case PHI__CONFIG_REFS_NO_SPACE:
        phi__buf_text(words, " has an unknown namespace \"");
        phi__config_raws_name(r->ref.space, words);
        phi__buf_text(words, "\"; write ");
        phi__config_refs_example(words, space, r->name);
        break;
    case PHI__CONFIG_REFS_NO_ALIAS:
        phi__buf_text(words, " is not an alias of [models]");
        phi__config_refs_aliases(walk, r->name);
        break;
    case PHI__CONFIG_REFS_CYCLE:
        phi__buf_text(words,
                      " is an alias of [models] that leads back to itself; write the id of a "
                      "provider, or \"default\" for [provider]");
        break;
    default:
        phi__buf_printf(words, " names no %s", space);
        if (phi__str_starts(r->name, "{{") || phi__str_find(r->name, 0, "}}") != SIZE_MAX)
            phi__buf_printf(words, "; a reference is written \"{{%s.name}}\"", space);
        else
            phi__config_refs_names(walk, space, r->name);
        break;
    }
}

/* A section that only a further header reads. */
static bool phi__config_refs_needs_header(const phi_config *config, const char *space) {
    size_t i;
    if (strcmp(space, "mcp") != 0 && strcmp(space, "openapi") != 0) return false;
    for (i = 0; config->sections != NULL && config->sections[i] != NULL; i++)
        if (config->sections[i]->space != NULL && strcmp(config->sections[i]->space, space) == 0)
            return false;
    return true;
}

void phi__config_refs_check(phi__config_walk *walk, const phi__config_field *field,
                            const phi_json *node) {
    phi__config_refs_result r;
    bool names = (field->flags & PHI__CONFIG_ONLY_REFERENCE) != 0;
    phi_str raw;
    phi__buf *words;
    phi__config_refs_found found =
        phi__config_refs_look(walk->config, field->space, phi__json_text_of(node), names, &r);
    if (found <= PHI__CONFIG_REFS_BUILT_IN) return;
    r.hidden = r.hidden || phi__config_raws_find(walk->config, node, &raw);
    r.found = r.hidden ? PHI__CONFIG_REFS_MISSING : found;
    if (r.hidden) r.name = PHI__LIT("name");
    words = phi__config_path_words(walk);
    if (phi__config_path_full(walk)) {
        phi__config_path_error(walk, node, NULL);
        return;
    }
    phi__buf_add_str(words, phi_str_of(phi__config_path_text(walk)));
    phi__buf_text(words, ": ");
    if (phi__config_refs_needs_header(walk->config, field->space)) {
        phi__buf_printf(words,
                        "\"%s\" needs phi_tools.h: set phi_config_desc.sections to "
                        "phi_config_sections()",
                        field->space);
    } else {
        phi__config_raws_show(walk->config, node, words);
        phi__config_refs_say(walk, field->space, &r);
    }
    phi__config_path_error(walk, node, field->space);
}
