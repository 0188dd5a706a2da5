/* config_refs.c - references: parses them, finds their entities, and writes messages about
   references that name no entity. Also checks rules between fields. */
#include "agent/agent_in.h"
#include "config/config_own_in.h"
#include "config/config_tables_in.h"
#include "wire/wire_in.h"

#include <stdio.h>

/* ---- entities by their names ---- */

/* Returns the entity of that name in a namespace, or NULL. */
static const phi__cfg_entity *phi__cfg_names_find(const phi_config *config, const char *space,
                                                  phi_str name) {
    uint64_t hash = phi__hash(name, 0);
    const phi__cfg_entity *entity;
    size_t probe = 0;
    while ((entity = (const phi__cfg_entity *)phi__map_each(&config->entities, hash, &probe)) !=
           NULL)
        if (phi_str_equal(entity->name, name) && strcmp(entity->space, space) == 0) return entity;
    return NULL;
}

/* Returns the next entity of that name in any namespace, or NULL. *probe is 0 before the first
   call. */
static const phi__cfg_entity *phi__cfg_names_each(const phi_config *config, phi_str name,
                                                  size_t *probe) {
    uint64_t hash = phi__hash(name, 0);
    const phi__cfg_entity *entity;
    while ((entity = (const phi__cfg_entity *)phi__map_each(&config->entities, hash, probe)) !=
           NULL)
        if (phi_str_equal(entity->name, name) && strcmp(entity->space, "agent") != 0 &&
            strcmp(entity->space, "models") != 0)
            return entity;
    return NULL;
}

/* Adds an entity. If `listed`, messages and the search for cycles see the entity, too. False: no
   memory. */
static bool phi__cfg_names_add(phi_config *config, phi__cfg_entity *entity, bool listed) {
    if (!phi__map_room(&config->entities)) return false;
    phi__map_add(&config->entities, phi__hash(entity->name, 0), entity);
    if (!listed) return true;
    if (config->last != NULL)
        config->last->next = entity;
    else
        config->first = entity;
    config->last = entity;
    return true;
}

/* ---- the entities: instances of all sections that have an id ---- */

/* max. levels of fields in tables */
enum { PHI__CFG_DEEPEST = 8 };

/* Returns the name that an id declares. Sets *qualified to the id's namespace if it differs from
   `space`, else to "". */
static phi_str phi__entities_name(const char *space, phi_str id, phi_str *qualified) {
    phi__cfg_ref ref = phi__refs_parse(id);
    *qualified = PHI__LIT("");
    if (ref.kind == PHI__CFG_REF_LITERAL) return id;
    if (ref.space.len == 0 || phi__str_is(ref.space, space)) return ref.name;
    *qualified = ref.space;
    return ref.name;
}

static void phi__entities_add(phi__cfg_walk *walk, const phi__cfg_table *table,
                              const phi__cfg_field *field, const phi_json *node,
                              const phi_json *id) {
    phi_config *config = walk->config;
    phi_str qualified,
        name = phi__entities_name(field->space, phi__str_trim(phi__json_text_of(id)), &qualified);
    const phi__cfg_entity *other = phi__cfg_names_find(config, field->space, name);
    phi__cfg_entity *entity;
    phi_str shown = name;
    if (name.len == 0) return; /* config_check.c reports an empty name */
    (void)phi__raws_find(config, id, &shown);
    if (other != NULL) {
        size_t len = phi__walk_name(walk, phi_str_of(field->key));
        const char *space = field->space;
        phi__buf *words = phi__walk_words(walk);
        uint32_t line, column;
        phi__buf_printf(words, "There are two %ss named \"", space);
        phi__raws_name(shown, words);
        phi__buf_text(words, "\": ");
        phi__buf_add_str(words, other->path);
        if (phi__marks_find(&walk->config->marks, other->node, &line, &column) ||
            phi__marks_key(&walk->config->marks, other->node, &line, &column))
            phi__buf_printf(words, " in line %u", (unsigned)line);
        phi__buf_text(words, " has that name, too; give this one another");
        phi__walk_error(walk, id, NULL);
        phi__walk_back(walk, len);
        return;
    }
    entity = (phi__cfg_entity *)phi__arena_zero(&config->arena, sizeof *entity);
    if (entity == NULL ||
        !phi__arena_str(&config->arena, phi__buf_str(&walk->path), &entity->path)) {
        config->problems.no_memory = true;
        return;
    }
    entity->space = field->space;
    entity->name = name;
    entity->shown = shown;
    entity->node = node;
    entity->table = table;
    if (!phi__cfg_names_add(config, entity, true)) config->problems.no_memory = true;
}

/* Adds an instance under its id, or under its name if it has no id. */
static void phi__entities_instance(phi__cfg_walk *walk, const phi__cfg_table *table,
                                   const phi_json *node) {
    static const uint16_t flags[] = {PHI__CFG_ID, PHI__CFG_NAME};
    const phi__cfg_field *field;
    size_t i;
    for (size_t f = 0; f < PHI__COUNT(flags); f++)
        for (i = 0; (field = phi__fields_at(table, i)) != NULL; i++) {
            if ((field->flags & flags[f]) == 0) continue;
            const phi_json *id = phi_json_get(node, field->key);
            if (!phi_json_is(id, PHI_JSON_STRING)) continue;
            phi__entities_add(walk, table, field, node, id);
            return;
        }
}

static void phi__entities_table(phi__cfg_walk *walk, const phi__cfg_table *table,
                                const phi_json *node, int depth);

static void phi__entities_field(phi__cfg_walk *walk, const phi__cfg_field *field,
                                const phi_json *node, int depth) {
    size_t len = phi__walk_name(walk, phi_str_of(field->key)), i = 0;
    if (field->kind == PHI__CFG_TABLE)
        phi__entities_table(walk, field->table(), node, depth + 1);
    else if (phi_json_is(node, PHI_JSON_ARRAY)) {
        phi_json_iter it = phi_json_each(node);
        const phi_json *child;
        while ((child = phi_json_next(&it)) != NULL) {
            size_t inner = phi__walk_index(walk, i++);
            phi__entities_instance(walk, field->table(), child);
            phi__entities_table(walk, field->table(), child, depth + 1);
            phi__walk_back(walk, inner);
        }
    }
    phi__walk_back(walk, len);
}

static void phi__entities_table(phi__cfg_walk *walk, const phi__cfg_table *table,
                                const phi_json *node, int depth) {
    const phi__cfg_field *field;
    if (depth > PHI__CFG_DEEPEST || !phi_json_is(node, PHI_JSON_OBJECT)) return;
    for (size_t i = 0; (field = phi__fields_at(table, i)) != NULL; i++) {
        if (field->kind != PHI__CFG_TABLE && field->kind != PHI__CFG_TABLES) continue;
        const phi_json *child = phi_json_get(node, field->key);
        if (child != NULL) phi__entities_field(walk, field, child, depth);
    }
}

static void phi__entities_aliases(phi_config *config) {
    phi_json_iter it = phi_json_each(phi_json_get(config->root, "models"));
    const phi_json *node;
    while ((node = phi_json_next(&it)) != NULL) {
        phi__cfg_entity *entity =
            (phi__cfg_entity *)phi__arena_zero(&config->arena, sizeof *entity);
        if (entity != NULL) {
            entity->space = "models";
            entity->name = entity->shown = it.key;
            entity->node = node;
        }
        if (entity == NULL || !phi__cfg_names_add(config, entity, false)) {
            config->problems.no_memory = true;
            return;
        }
    }
}

void phi__entities_collect(phi_config *config) {
    phi__cfg_walk walk;
    config->provider = phi_json_get(config->root, "provider");
    phi__entities_aliases(config);
    phi__walk_begin(&walk, config);
    phi__entities_table(&walk, phi__table_top(), config->root, 0);
    for (size_t i = 0; config->sections[i] != NULL; i++) {
        const phi__cfg_field *field = config->sections[i]->field;
        const phi_json *node = phi_json_get(config->root, field->key);
        if (node != NULL && (field->kind == PHI__CFG_TABLE || field->kind == PHI__CFG_TABLES))
            phi__entities_field(&walk, field, node, 0);
    }
    phi__walk_end(&walk);
}

/* ---- references ---- */

enum {
    PHI__CFG_ALIASES = 16,  /* longest chain of aliases */
    PHI__CFG_LISTED = 8,    /* max. names in a message */
    PHI__CFG_COMPARED = 256 /* max. names compared to find a similar one */
};

/* Entities that exist without a table. */
static const struct {
    const char *space, *name;
} phi__refs_built_in[] = {{"system_prompt_strategy", "agent"},
                          {"system_prompt_strategy", "minimal"},
                          {"strategy", "cot"},
                          {"strategy", "cod"},
                          {"strategy", "aot"},
                          {"strategy", "tot"},
                          {"strategy", "got"},
                          {"strategy", "trm"},
                          {"strategy", "adaptive"}};

/* The namespaces of phi.h's own sections, and how to write an instance. */
static const struct {
    char space[24], section[36], key[8], more[56];
} phi__refs_spaces[] = {
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

/* Explains how to write the first entity of a namespace. */
static void phi__refs_first(phi__cfg_walk *walk, const char *space, phi_str name) {
    phi__buf *words = &walk->words;
    bool toml = walk->config->format == PHI_CONFIG_TOML;
    size_t i = 0;
    while (i + 1 < PHI__COUNT(phi__refs_spaces) && strcmp(phi__refs_spaces[i].space, space) != 0)
        i++;
    phi__buf_printf(words, "; there is none: write %s%s%s with the %s \"", toml ? "[[" : "",
                    phi__refs_spaces[i].section, toml ? "]]" : "", phi__refs_spaces[i].key);
    phi__raws_name(name, words);
    phi__buf_printf(words, "\"%s", phi__refs_spaces[i].more);
}

static bool phi__refs_is_space(phi_str name) {
    for (size_t i = 0; i < PHI__COUNT(phi__refs_spaces); i++)
        if (phi__str_is(name, phi__refs_spaces[i].space)) return true;
    return false;
}

static bool phi__refs_is_built_in(const char *space, phi_str name) {
    for (size_t i = 0; i < PHI__COUNT(phi__refs_built_in); i++)
        if (strcmp(phi__refs_built_in[i].space, space) == 0 &&
            phi__str_is(name, phi__refs_built_in[i].name))
            return true;
    return false;
}

phi__cfg_ref phi__refs_parse(phi_str text) {
    phi__cfg_ref ref = PHI_ZERO;
    text = phi__str_trim(text);
    if (text.len < 5 || !phi__str_starts(text, "{{") || text.at[text.len - 1] != '}' ||
        text.at[text.len - 2] != '}')
        return ref;
    text = phi__str_trim(phi__str(text.at + 2, text.len - 4));
    if (text.len >= 2 && text.at[0] == '#' && text.at[text.len - 1] == '#') {
        ref.name = phi__str_trim(phi__str(text.at + 1, text.len - 2));
        if (ref.name.len > 0) ref.kind = PHI__CFG_REF_ID;
        return ref;
    }
    if (text.len >= 2 && text.at[0] == '%' && text.at[text.len - 1] == '%') {
        ref.keep = true;
        text = phi__str_trim(phi__str(text.at + 1, text.len - 2));
    }
    if (text.len == 0 || phi__str_find(text, 0, "{{") != SIZE_MAX ||
        phi__str_find(text, 0, "}}") != SIZE_MAX)
        return ref;
    ref.kind = PHI__CFG_REF_NAME;
    ref.name = text;
    size_t dot = phi__str_find(text, 0, ".");
    if (dot != SIZE_MAX && dot > 0 && dot + 1 < text.len) {
        ref.space = phi__str(text.at, dot);
        ref.name = phi__str(text.at + dot + 1, text.len - dot - 1);
    }
    return ref;
}

/* Returns the text in the braces: namespace and name. */
static phi_str phi__refs_whole(const phi__cfg_ref *ref) {
    if (ref->space.len == 0) return ref->name;
    return phi__str(ref->space.at, (size_t)(ref->name.at - ref->space.at) + ref->name.len);
}

/* ---- finding ---- */

typedef enum phi__refs_found {
    PHI__CFG_REFS_THERE,
    PHI__CFG_REFS_LITERAL,
    PHI__CFG_REFS_BUILT_IN,
    PHI__CFG_REFS_MISSING,
    PHI__CFG_REFS_AMBIGUOUS,
    PHI__CFG_REFS_OTHER_SPACE, /* `entity`: of that name in another namespace, or NULL */
    PHI__CFG_REFS_NO_SPACE,
    PHI__CFG_REFS_NO_ALIAS,
    PHI__CFG_REFS_CYCLE
} phi__refs_found;

typedef struct phi__refs_result {
    phi__refs_found found;
    const phi_json *node;
    const phi__cfg_entity *entity, *second;
    phi_str name; /* the name that was looked for */
    bool hidden;  /* the text came from a variable */
    phi__cfg_ref ref;
} phi__refs_result;

static phi__refs_found phi__refs_name(const phi_config *config, const char *space, phi_str name,
                                      phi__refs_result *r) {
    r->name = name;
    r->entity = phi__cfg_names_find(config, space, name);
    if (r->entity != NULL) {
        r->node = r->entity->node;
        return PHI__CFG_REFS_THERE;
    }
    if (phi__refs_is_built_in(space, name)) return PHI__CFG_REFS_BUILT_IN;
    if (strcmp(space, "provider") == 0 && phi__str_is(name, "default")) {
        r->node = config->provider;
        return r->node != NULL ? PHI__CFG_REFS_THERE : PHI__CFG_REFS_BUILT_IN;
    }
    return PHI__CFG_REFS_MISSING;
}

/* Looks for {{name}} in all namespaces. */
static phi__refs_found phi__refs_anywhere(const phi_config *config, const char *space, phi_str name,
                                          phi__refs_result *r) {
    size_t probe = 0;
    r->name = name;
    r->entity = phi__cfg_names_each(config, name, &probe);
    if (r->entity == NULL) return phi__refs_name(config, space, name, r);
    r->second = phi__cfg_names_each(config, name, &probe);
    if (r->second != NULL) return PHI__CFG_REFS_AMBIGUOUS;
    if (strcmp(r->entity->space, space) != 0) return PHI__CFG_REFS_OTHER_SPACE;
    r->node = r->entity->node;
    return PHI__CFG_REFS_THERE;
}

/* Finds what a text means in a field of that namespace. If `names`, a plain text is a name. */
static phi__refs_found phi__refs_look(const phi_config *config, const char *space, phi_str text,
                                      bool names, phi__refs_result *r) {
    bool hidden = false;
    for (int hops = 0; hops < PHI__CFG_ALIASES; hops++) {
        phi_str raw;
        memset(r, 0, sizeof *r);
        r->hidden = hidden;
        text = phi__str_trim(text);
        r->name = text;
        r->ref = phi__refs_parse(text);
        if (r->ref.kind != PHI__CFG_REF_LITERAL) {
            const phi__cfg_ref *ref = &r->ref;
            phi_str whole = phi__refs_whole(ref);
            if (ref->kind == PHI__CFG_REF_ID) return phi__refs_name(config, space, ref->name, r);
            if (ref->space.len == 0) return phi__refs_anywhere(config, space, ref->name, r);
            if (phi__str_is(ref->space, space)) return phi__refs_name(config, space, ref->name, r);
            /* a name that contains a dot */
            if (phi__cfg_names_find(config, space, whole) != NULL)
                return phi__refs_anywhere(config, space, whole, r);
            r->name = ref->name;
            return phi__refs_is_space(ref->space) ? PHI__CFG_REFS_OTHER_SPACE
                                                  : PHI__CFG_REFS_NO_SPACE;
        }
        if (text.len < 2 || text.at[0] != ':' || strcmp(space, "provider") != 0) {
            if (!names) return PHI__CFG_REFS_LITERAL;
            return phi__refs_name(config, space, text, r);
        }
        r->name = phi__str(text.at + 1, text.len - 1);
        const phi__cfg_entity *alias = phi__cfg_names_find(config, "models", r->name);
        if (alias == NULL || !phi_json_is(alias->node, PHI_JSON_STRING))
            return PHI__CFG_REFS_NO_ALIAS;
        hidden = hidden || phi__raws_find(config, alias->node, &raw);
        text = phi__json_text_of(alias->node);
    }
    return PHI__CFG_REFS_CYCLE;
}

/* True if a plain text is a name. In the namespace system_prompt, such a text is the prompt
   itself. */
static bool phi__refs_names_count(const char *space) { return strcmp(space, "system_prompt") != 0; }

const phi_json *phi__refs_find(const phi_config *config, const char *space, const char *text) {
    phi__refs_result r;
    bool names = phi__refs_names_count(space);
    phi__refs_found found = phi__refs_look(config, space, phi_str_of(text), names, &r);
    return found == PHI__CFG_REFS_THERE ? r.node : NULL;
}

/* Returns the entity that a text means. NULL: the text means no entity, or [provider] itself. */
static const phi__cfg_entity *phi__refs_entity(const phi_config *config, const char *space,
                                               phi_str text) {
    phi__refs_result r;
    bool names = phi__refs_names_count(space);
    phi__refs_found found = phi__refs_look(config, space, text, names, &r);
    return found == PHI__CFG_REFS_THERE ? r.entity : NULL;
}

/* ---- messages ---- */

/* Suggests the most similar name, written as a reference. False: no name is similar. */
static bool phi__refs_near(phi__cfg_walk *walk, const char *space, phi_str name) {
    const phi__cfg_entity *nearest = NULL;
    const char *built_in = NULL;
    unsigned best = PHI__CFG_FAR + 1, left = PHI__CFG_COMPARED;
    for (const phi__cfg_entity *e = walk->config->first; e != NULL && left > 0; e = e->next) {
        if (strcmp(e->space, space) != 0) continue;
        left--;
        if (phi__near_try(&best, name, e->name)) nearest = e;
    }
    for (size_t i = 0; i < PHI__COUNT(phi__refs_built_in); i++) {
        if (strcmp(phi__refs_built_in[i].space, space) != 0) continue;
        if (phi__near_try(&best, name, phi_str_of(phi__refs_built_in[i].name)))
            built_in = phi__refs_built_in[i].name;
    }
    if (built_in != NULL)
        phi__buf_printf(&walk->words, "; did you mean \"%s\"?", built_in);
    else if (nearest != NULL) {
        phi__buf_printf(&walk->words, "; did you mean \"{{%s.", space);
        phi__raws_name(nearest->shown, &walk->words);
        phi__buf_text(&walk->words, "}}\"?");
    }
    return built_in != NULL || nearest != NULL;
}

/* Suggests a similar name, or lists the existing names. */
static void phi__refs_names(phi__cfg_walk *walk, const char *space, phi_str name) {
    phi__buf *words = &walk->words;
    unsigned count = 0;
    if (phi__refs_near(walk, space, name)) return;
    for (const phi__cfg_entity *e = walk->config->first; e != NULL && count < PHI__CFG_LISTED;
         e = e->next) {
        if (strcmp(e->space, space) != 0) continue;
        phi__buf_text(words, count++ == 0 ? "; there are " : ", ");
        phi__raws_name(e->shown, words);
    }
    for (size_t i = 0; i < PHI__COUNT(phi__refs_built_in); i++)
        if (strcmp(phi__refs_built_in[i].space, space) == 0)
            phi__buf_printf(words, "%s%s", count++ == 0 ? "; there are " : ", ",
                            phi__refs_built_in[i].name);
    if (count == 0) phi__refs_first(walk, space, name);
}

static void phi__refs_aliases(phi__cfg_walk *walk, phi_str name) {
    phi_json_iter it = phi_json_each(phi_json_get(walk->config->root, "models"));
    phi__buf *words = &walk->words;
    phi_str nearest = PHI__LIT("");
    unsigned best = PHI__CFG_FAR + 1, left = PHI__CFG_COMPARED;
    while (phi_json_next(&it) != NULL && left-- > 0) {
        if (phi__near_try(&best, name, it.key)) nearest = it.key;
    }
    if (nearest.len == 0) {
        phi__buf_text(words, ": write it in [models], as ");
        phi__raws_name(name, words);
        phi__buf_text(words, " = \"{{provider.name}}\"");
        return;
    }
    phi__buf_text(words, "; did you mean \":");
    phi__raws_name(nearest, words);
    phi__buf_text(words, "\"?");
}

/* Appends an example, such as "{{provider.x}}". */
static void phi__refs_example(phi__buf *words, const char *space, phi_str name) {
    phi__buf_printf(words, "\"{{%s.", space);
    phi__raws_name(name, words);
    phi__buf_text(words, "}}\"");
}

/* Appends the rest of the error message, which follows the value. */
static void phi__refs_say(phi__cfg_walk *walk, const char *space, const phi__refs_result *r) {
    phi__buf *words = &walk->words;
    switch (r->found) {
    case PHI__CFG_REFS_AMBIGUOUS:
        phi__buf_printf(words, " is ambiguous: %s and %s both have that name; write ",
                        r->entity->space, r->second->space);
        phi__refs_example(words, space, r->name);
        break;
    case PHI__CFG_REFS_OTHER_SPACE:
        phi__buf_printf(words, " means one of %.*s, but this field wants one of %s",
                        (int)(r->entity != NULL ? strlen(r->entity->space) : r->ref.space.len),
                        r->entity != NULL ? r->entity->space : r->ref.space.at, space);
        phi__refs_names(walk, space, r->name);
        break;
    case PHI__CFG_REFS_NO_SPACE:
        phi__buf_text(words, " has an unknown namespace \"");
        phi__raws_name(r->ref.space, words);
        phi__buf_text(words, "\"; write ");
        phi__refs_example(words, space, r->name);
        break;
    case PHI__CFG_REFS_NO_ALIAS:
        phi__buf_text(words, " is not an alias of [models]");
        phi__refs_aliases(walk, r->name);
        break;
    case PHI__CFG_REFS_CYCLE:
        phi__buf_text(words, " is an alias of [models] that leads back to itself; write the id of "
                             "a provider, or \"default\" for [provider]");
        break;
    default:
        phi__buf_printf(words, " names no %s", space);
        if (phi__str_starts(r->name, "{{") || phi__str_find(r->name, 0, "}}") != SIZE_MAX)
            phi__buf_printf(words, "; a reference is written \"{{%s.name}}\"", space);
        else
            phi__refs_names(walk, space, r->name);
        break;
    }
}

/* True if the namespace belongs to a section that needs phi_tools.h, which was not given. */
static bool phi__refs_needs_header(const phi_config *config, const char *space) {
    if (strcmp(space, "mcp") != 0 && strcmp(space, "openapi") != 0) return false;
    for (size_t i = 0; config->sections[i] != NULL; i++)
        if (config->sections[i]->space != NULL && strcmp(config->sections[i]->space, space) == 0)
            return false;
    return true;
}

void phi__refs_check(phi__cfg_walk *walk, const phi__cfg_field *field, const phi_json *node) {
    phi__refs_result r;
    bool names = (field->flags & PHI__ONLY_REFERENCE) != 0;
    phi_str raw;
    phi__refs_found found =
        phi__refs_look(walk->config, field->space, phi__json_text_of(node), names, &r);
    if (found <= PHI__CFG_REFS_BUILT_IN) return;
    r.hidden = r.hidden || phi__raws_find(walk->config, node, &raw);
    r.found = r.hidden ? PHI__CFG_REFS_MISSING : found;
    if (r.hidden) r.name = PHI__LIT("name");
    phi__buf *words = phi__walk_words(walk);
    if (phi__walk_full(walk)) {
        phi__walk_error(walk, node, NULL);
        return;
    }
    phi__buf_add_str(words, phi_str_of(phi__walk_text(walk)));
    phi__buf_text(words, ": ");
    if (phi__refs_needs_header(walk->config, field->space)) {
        phi__buf_printf(
            words,
            "\"%s\" needs phi_tools.h: set phi_config_desc.sections to phi_config_sections()",
            field->space);
    } else {
        phi__raws_show(walk->config, node, words);
        phi__refs_say(walk, field->space, &r);
    }
    phi__walk_error(walk, node, field->space);
}

/* ---- cycles: entities that refer back to themselves ---- */

enum {
    PHI__CFG_ON_THE_WAY = 1,
    PHI__CFG_DONE = 2,
    PHI__CFG_CYCLE_SHOWN = 16 /* max. names of a cycle in a message; the middle is left out */
};

/* An entity on the current path, and the next reference to follow. */
typedef struct phi__cfg_step {
    phi__cfg_entity *entity;
    size_t field;
    const phi_json *item;  /* in a list: the last item that was followed */
    const phi_json *place; /* node of the reference that is followed */
} phi__cfg_step;

typedef struct phi__cycle {
    phi__cfg_walk walk;
    phi__cfg_step *way;
    size_t count, cap;
} phi__cycle;

/* Returns the item after `item`, or the first if `item` is NULL. NULL: no more. */
static const phi_json *phi__cycle_item(const phi_json *list, const phi_json *item) {
    if (!phi_json_is(list, PHI_JSON_ARRAY) || phi_json_count(list) == 0 || item == list->v.last)
        return NULL;
    return item != NULL ? item->next : list->v.last->next;
}

/* Returns the next entity that the step's entity refers to. NULL: no more. */
static phi__cfg_entity *phi__cycle_next(const phi_config *config, phi__cfg_step *step) {
    const phi__cfg_field *field;
    while ((field = phi__fields_at(step->entity->table, step->field)) != NULL) {
        const phi_json *value;
        bool is_list = field->kind == PHI__CFG_TEXTS;
        if ((field->flags & (PHI__CFG_REFERENCE | PHI__ONLY_REFERENCE)) == 0 ||
            (value = phi_json_get(step->entity->node, field->key)) == NULL) {
            step->field++;
            continue;
        }
        if (is_list) value = step->item = phi__cycle_item(value, step->item);
        if (!is_list || value == NULL) step->field++;
        step->place = value;
        if (phi_json_is(value, PHI_JSON_STRING)) {
            const phi__cfg_entity *to =
                phi__refs_entity(config, field->space, phi__json_text_of(value));
            if (to != NULL) return (phi__cfg_entity *)(uintptr_t)to;
        }
    }
    return NULL;
}

/* Reports a cycle, such as "writer -> critic -> writer". */
static void phi__cycle_say(phi__cycle *c, const phi__cfg_entity *to) {
    phi__buf *words = phi__walk_words(&c->walk);
    size_t i = c->count, first;
    if (phi__walk_full(&c->walk)) {
        phi__walk_error(&c->walk, c->way[c->count - 1].place, NULL);
        return;
    }
    while (i > 0 && c->way[i - 1].entity != to) i--;
    phi__buf_add_str(words, c->way[c->count - 1].entity->path);
    phi__buf_printf(words, " leads back to itself: ");
    first = i = i > 0 ? i - 1 : 0;
    for (; i < c->count; i++) {
        if (i == first + PHI__CFG_CYCLE_SHOWN / 2 && c->count > first + PHI__CFG_CYCLE_SHOWN) {
            phi__buf_text(words, "... -> ");
            i = c->count - PHI__CFG_CYCLE_SHOWN / 2;
        }
        phi__raws_name(c->way[i].entity->shown, words);
        phi__buf_text(words, " -> ");
    }
    phi__raws_name(to->shown, words);
    phi__buf_text(words, "; remove one of these references");
    c->walk.path.len = 0;
    phi__buf_add_str(&c->walk.path, c->way[c->count - 1].entity->path);
    phi__walk_error(&c->walk, c->way[c->count - 1].place, NULL);
}

static bool phi__cycle_push(phi__cycle *c, phi__cfg_entity *entity) {
    phi__cfg_step *way = (phi__cfg_step *)phi__grow(&c->walk.config->memory, c->way, &c->cap,
                                                    c->count + 1, sizeof *way);
    if (way == NULL) {
        c->walk.config->problems.no_memory = true;
        return false;
    }
    c->way = way;
    memset(&way[c->count], 0, sizeof *way);
    way[c->count++].entity = entity;
    entity->visiting = PHI__CFG_ON_THE_WAY;
    return true;
}

static void phi__cycle_from(phi__cycle *c, phi__cfg_entity *entity) {
    if (entity->visiting != 0 || !phi__cycle_push(c, entity)) return;
    while (c->count > 0) {
        phi__cfg_entity *to = phi__cycle_next(c->walk.config, &c->way[c->count - 1]);
        if (to == NULL)
            c->way[--c->count].entity->visiting = PHI__CFG_DONE;
        else if (to->visiting == PHI__CFG_ON_THE_WAY)
            phi__cycle_say(c, to);
        else if (to->visiting == 0 && !phi__cycle_push(c, to))
            return;
    }
}

void phi__cycle_check(phi_config *config) {
    phi__cycle c = PHI_ZERO;
    phi__walk_begin(&c.walk, config);
    for (phi__cfg_entity *entity = config->first; entity != NULL; entity = entity->next)
        phi__cycle_from(&c, entity);
    phi__free(&config->memory, c.way, c.cap * sizeof *c.way);
    phi__walk_end(&c.walk);
}

/* ---- helpers: problems at a path of names ---- */

static void phi__rules_at(phi__cfg_walk *walk, const char *path, const char *key) {
    walk->path.len = 0;
    phi__buf_text(&walk->path, path);
    if (key != NULL) (void)phi__walk_name(walk, phi_str_of(key));
}

static void phi__rules_say(phi__cfg_walk *walk, const char *path, const char *key,
                           const phi_json *node, bool is_warning, const char *words) {
    phi__rules_at(walk, path, key);
    phi__buf_printf(phi__walk_words(walk), "%s%s", phi__walk_text(walk), words);
    if (is_warning)
        phi__walk_warning(walk, node, true);
    else
        phi__walk_error_key(walk, node);
}

/* True if the table sets a choice to `value`. */
static bool phi__rules_is(const phi_json *table, const char *key, const char *value) {
    const phi_json *node = phi_json_get(table, key);
    return phi_json_is(node, PHI_JSON_STRING) && phi__str_is_nocase(phi__json_text_of(node), value);
}

/* Calls `rule` for each instance of the table `node`. */
typedef void (*phi__cfg_rule_fn)(phi__cfg_walk *walk, const char *path, const phi_json *table);
static void phi__rules_each(phi__cfg_walk *walk, const char *section, const phi_json *node,
                            phi__cfg_rule_fn rule) {
    phi_json_iter it = phi_json_each(phi_json_get(node, "instances"));
    const phi_json *table;
    char path[80];
    for (unsigned i = 0; (table = phi_json_next(&it)) != NULL; i++) {
        snprintf(path, sizeof path, "%s.instances[%u]", section, i);
        rule(walk, path, table);
    }
}

/* ---- providers ---- */

/* Returns the protocol that a model's name needs, or NULL. */
static const char *phi__rules_api(phi_str model) {
    static const struct {
        char prefix[12], api[8];
    } known[] = {{"gpt-", "openai"},    {"chatgpt-", "openai"}, {"o1", "openai"},
                 {"o3", "openai"},      {"o4", "openai"},       {"gemini-", "google"},
                 {"openai/", "openai"}, {"google/", "openai"},  {"meta-llama/", "openai"},
                 {"llama", "openai"},   {"mistral-", "openai"}, {"deepseek-", "openai"},
                 {"grok-", "openai"},   {"qwen", "openai"},     {"anthropic.", "bedrock"}};
    for (size_t i = 0; i < PHI__COUNT(known); i++)
        if (phi__str_starts(model, known[i].prefix)) return known[i].api;
    return NULL;
}

/* Reports a model that needs a protocol other than the default. */
static void phi__rules_model(phi__cfg_walk *walk, const char *path, const phi_json *table) {
    const phi_json *model = phi_json_get(table, "model");
    const char *api = phi__rules_api(phi__json_text_of(model));
    bool elsewhere = phi_json_get(table, "base_url") != NULL || phi_json_get(table, "url") != NULL;
    if (api == NULL || phi_json_get(table, "api") != NULL || phi_json_get(table, "preset") != NULL)
        return;
    phi__rules_at(walk, path, "model");
    phi__buf *words = phi__walk_words(walk);
    phi__buf_printf(words, "%s ", phi__walk_text(walk));
    phi__raws_show(walk->config, model, words);
    phi__buf_printf(words,
                    " needs api = \"%s\": without api the protocol is anthropic_messages, by which "
                    "there is no such model",
                    api);
    if (elsewhere)
        phi__walk_warning(walk, model, false);
    else
        phi__walk_error(walk, model, NULL);
}

/* Reports protocols and presets that need an address, but have none. */
static void phi__rules_address(phi__cfg_walk *walk, const char *path, const phi_json *table) {
    static const char *const keys[] = {"preset", "api"};
    if (phi_json_get(table, "base_url") != NULL || phi_json_get(table, "url") != NULL) return;
    for (size_t i = 0; i < PHI__COUNT(keys); i++) {
        const phi_json *node = phi_json_get(table, keys[i]);
        phi__cfg_choice choice;
        if (!phi_json_is(node, PHI_JSON_STRING) ||
            !phi__choice_find(i == 0 ? phi__names_preset() : phi__names_api(),
                              phi__json_text_of(node), &choice))
            continue;
        bool needs =
            i == 0 ? strcmp(choice.name, "azure") == 0 || strcmp(choice.name, "vertex") == 0 ||
                         strcmp(choice.name, "local") == 0
                   : choice.value == PHI__CFG_API_AZURE || choice.value == PHI__CFG_API_VERTEX;
        if (!needs) continue;
        phi__rules_at(walk, path, "base_url");
        phi__buf_printf(
            phi__walk_words(walk),
            "%s has no base_url: %s \"%s\" has no address of its own; add base_url = \"%s\"", path,
            keys[i], choice.name,
            strcmp(choice.name, "local") == 0 ? "http://localhost:8080/v1"
            : phi__str_starts(phi_str_of(choice.name), "azure")
                ? "https://RESOURCE.openai.azure.com/openai/v1"
                : "https://REGION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/REGION");
        phi__walk_error(walk, node, NULL);
        return;
    }
}

static void phi__rules_provider(phi__cfg_walk *walk, const char *path, const phi_json *table) {
    phi__rules_model(walk, path, table);
    phi__rules_address(walk, path, table);
}

/* ---- costs ---- */

static bool phi__rules_has_rates(const phi_json *provider) {
    phi_json_iter it = phi_json_each(phi_json_get(provider, "cost"));
    const phi_json *rate;
    while ((rate = phi_json_next(&it)) != NULL)
        if (phi_json_num(rate, 0) > 0) return true;
    return false;
}

static bool phi__rules_any_rates(const phi_config *config) {
    const phi_json *provider = phi_json_get(config->root, "provider"), *table;
    phi_json_iter it = phi_json_each(phi_json_get(provider, "instances"));
    if (phi__rules_has_rates(provider)) return true;
    while ((table = phi_json_next(&it)) != NULL)
        if (phi__rules_has_rates(table)) return true;
    return false;
}

static void phi__rules_max_cost(phi__cfg_walk *walk, const char *path, const phi_json *table) {
    const phi_json *cost = phi_json_get(table, "max_cost");
    if (cost == NULL || phi_json_is(cost, PHI_JSON_NULL)) return;
    phi__rules_say(walk, path, "max_cost", cost, true,
                   " has no effect: no provider has cost rates; add [provider.cost] with "
                   "input_per_million and output_per_million");
}

static void phi__rules_costs(phi__cfg_walk *walk) {
    const phi_json *root = walk->config->root, *execution = phi_json_get(root, "execution");
    if (phi__rules_any_rates(walk->config)) return;
    phi__rules_max_cost(walk, "execution", execution);
    phi__rules_max_cost(walk, "execution.budget", phi_json_get(execution, "budget"));
    phi__rules_each(walk, "sub_agents", phi_json_get(root, "sub_agents"), phi__rules_max_cost);
}

/* ---- compaction ---- */

static void phi__rules_compaction_off(phi__cfg_walk *walk, const char *path,
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
        if (phi__fields_find(phi__table_compaction(), it.key, NULL) == NULL) continue;
        memcpy(key, it.key.at, it.key.len);
        key[it.key.len] = '\0';
        phi__rules_say(walk, path, key, node, true,
                       " has no effect: compaction is off until max_context_tokens is set");
        return;
    }
}

static void phi__rules_compaction(phi__cfg_walk *walk) {
    const phi_json *root = walk->config->root, *top = phi_json_get(root, "compaction");
    const phi_json *inner = phi_json_get(phi_json_get(root, "context"), "compaction");
    const phi_json *table = top != NULL ? top : inner;
    const char *path = top != NULL ? "compaction" : "context.compaction";
    if (top != NULL && inner != NULL)
        phi__rules_say(walk, "context.compaction", NULL, inner, false,
                       " and [compaction] mean the same; keep one of the two");
    if (phi_json_get(table, "max_context_tokens") != NULL) return;
    if (phi_json_get(table, "instances") == NULL)
        phi__rules_compaction_off(walk, path, table);
    else
        phi__rules_each(walk, path, table, phi__rules_compaction_off);
}

/* ---- fields that need another field ---- */

/* `field` has no effect unless `key` has this value. */
typedef struct phi__cfg_need {
    const char *path, *field, *key, *value;
} phi__cfg_need;

static const phi__cfg_need phi__rules_needs[] = {
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

static void phi__rules_format(phi__cfg_walk *walk, const char *path, const phi_json *table) {
    const phi_json *format = phi_json_get(table, "format");
    if (!phi__rules_is(format, "type", "json_schema") || phi_json_get(format, "schema") != NULL)
        return;
    phi__rules_say(
        walk, path, "format", phi_json_get(format, "type"), false,
        " has no schema: type = \"json_schema\" needs one, as schema = \"file:answer.json\"");
}

/* ---- strategies ---- */

static void phi__rules_strategy(phi__cfg_walk *walk, const char *path, const phi_json *table) {
    static const char *const types[] = {"cot", "cod", "aot", "tot", "got", "trm", "adaptive"};
    phi_str type = phi__json_text_of(phi_json_get(table, "type")), raw;
    if (type.len == 0 || phi__raws_find(walk->config, phi_json_get(table, "type"), &raw) ||
        phi__str_is_nocase(type, "adaptive"))
        return;
    for (size_t i = 0; i < PHI__COUNT(types); i++) {
        const phi_json *options = phi_json_get(table, types[i]);
        char words[160];
        if (options == NULL || phi__str_is_nocase(type, types[i])) continue;
        snprintf(words, sizeof words, " has no effect: the type of this strategy is \"%.*s\"",
                 (int)phi__min(type.len, 40), type.at);
        phi__rules_say(walk, path, types[i], options, true, words);
    }
}

/* ---- prompts ---- */

enum { PHI__CFG_BLOCKS = 64 /* max. blocks of a template; a larger one is not checked */ };

/* The names of a template's blocks. */
typedef struct phi__cfg_blocks {
    phi_str at[PHI__CFG_BLOCKS];
    size_t count;
} phi__cfg_blocks;

/* Lists the blocks of a template. False: it does not exist, or names come from variables. */
static bool phi__rules_template(const phi_config *config, phi_str text, phi__cfg_blocks *out) {
    phi__cfg_ref ref = phi__refs_parse(text);
    const phi_json *table = NULL, *block;
    phi_str raw;
    memset(out, 0, sizeof *out);
    if (text.len > 0) table = phi__refs_find(config, "system_prompt_strategy", text.at);
    if (table == NULL) {
        phi_str type = ref.kind == PHI__CFG_REF_LITERAL ? phi__str_trim(text) : ref.name;
        const phi__profile_slot *slots;
        if (phi__str_is(type, "agent"))
            slots = phi__profile_slots_agent(&out->count);
        else if (phi__str_is(type, "minimal"))
            slots = phi__profile_slots_minimal(&out->count);
        else
            return false;
        for (size_t i = 0; i < out->count; i++) out->at[i] = phi_str_of(slots[i].name);
        return true;
    }
    table = phi_json_get(table, "blocks");
    if (!phi_json_is(table, PHI_JSON_ARRAY) || phi_json_count(table) > PHI__CFG_BLOCKS)
        return false;
    phi_json_iter it = phi_json_each(table);
    while ((block = phi_json_next(&it)) != NULL) {
        const phi_json *name = phi_json_get(block, "name");
        if (phi__raws_find(config, name, &raw)) return false;
        out->at[out->count++] = phi__json_text_of(name);
    }
    return true;
}

static void phi__rules_block(phi__cfg_walk *walk, const char *path, const phi__cfg_blocks *blocks,
                             phi_str key, const phi_json *node) {
    phi_str nearest = PHI__LIT("");
    unsigned best = PHI__CFG_FAR + 1;
    phi__buf *words = phi__walk_words(walk);
    for (size_t i = 0; i < blocks->count; i++) {
        if (phi_str_equal(blocks->at[i], key)) return;
        if (phi__near_try(&best, key, blocks->at[i])) nearest = blocks->at[i];
    }
    phi__buf_printf(words, "%s has the block \"%.*s\", which its template does not have", path,
                    (int)key.len, key.at);
    if (nearest.len > 0)
        phi__buf_printf(words, "; did you mean \"%.*s\"?", (int)nearest.len, nearest.at);
    for (size_t i = 0; nearest.len == 0 && i < blocks->count; i++)
        phi__buf_printf(words, "%s%.*s", i == 0 ? "; it has " : ", ", (int)blocks->at[i].len,
                        blocks->at[i].at);
    walk->path.len = 0;
    phi__buf_text(&walk->path, path);
    (void)phi__walk_name(walk, key);
    phi__walk_warning(walk, node, true);
}

static void phi__rules_prompt(phi__cfg_walk *walk, const char *path, const phi_json *table) {
    phi_json_iter it = phi_json_each(table);
    const phi_json *node;
    phi__cfg_blocks blocks;
    if (!phi__rules_template(walk->config, phi__json_text_of(phi_json_get(table, "type")), &blocks))
        return;
    while ((node = phi_json_next(&it)) != NULL && !phi__walk_full(walk))
        if (phi__fields_find(phi__table_prompt(), it.key, NULL) == NULL)
            phi__rules_block(walk, path, &blocks, it.key, node);
}

void phi__rules_check(phi_config *config) {
    const phi_json *root = config->root;
    phi__cfg_walk walk;
    phi__walk_begin(&walk, config);
    phi__rules_provider(&walk, "provider", phi_json_get(root, "provider"));
    phi__rules_each(&walk, "provider", phi_json_get(root, "provider"), phi__rules_provider);
    phi__rules_costs(&walk);
    phi__rules_compaction(&walk);
    char words[80];
    for (size_t i = 0; i < PHI__COUNT(phi__rules_needs); i++) {
        const phi__cfg_need *need = &phi__rules_needs[i];
        const phi_json *table = phi_json_path(walk.config->root, need->path);
        const phi_json *node = phi_json_get(table, need->field);
        if (node == NULL || phi_json_is(node, PHI_JSON_NULL)) continue;
        if (phi__rules_is(table, need->key, need->value)) continue;
        if (strcmp(need->path, "tools") == 0 && phi__rules_is(table, "strategy", need->value))
            continue;
        snprintf(words, sizeof words, " has no effect: add %s = \"%s\"", need->key, need->value);
        phi__rules_say(&walk, need->path, need->field, node, true, words);
    }
    phi__rules_format(&walk, "agent", phi_json_get(root, "agent"));
    phi__rules_each(&walk, "agent", phi_json_get(root, "agent"), phi__rules_format);
    phi__rules_each(&walk, "strategy", phi_json_get(root, "strategy"), phi__rules_strategy);
    phi__rules_each(&walk, "system_prompt", phi_json_get(root, "system_prompt"), phi__rules_prompt);
    phi__walk_end(&walk);
}
