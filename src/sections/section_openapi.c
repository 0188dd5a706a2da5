/* section_openapi.c - OpenAPI documents: read once where agents share them, and their operations as
   tools. */
#include "sections/section_in.h"

#include "openapi/openapi.h"

typedef struct phi__section_openapi_taken {
    uint64_t set;
    const char *id, *name, *description, *file, *url, *base_url;
    const char *bearer_token, *user, *password, *client_id, *client_secret, *token_url;
    const phi_json *keys, *headers;
    uint32_t timeout_ms, max_response_bytes, max_schema_bytes;
    uint64_t max_document_bytes;
    const char *response_directory, *name_prefix;
    phi__config_texts upload_roots, operation_ids, tags, path_prefixes, methods;
    bool skip_unnamed, needs_approval, destructive_needs_approval, deferred, never_deferred;
} phi__section_openapi_taken;

/* A document, and the tools that were selected of it. */
typedef struct phi__section_openapi_doc {
    struct phi__section_openapi_doc *next;
    const phi_json *node;
    bool keep, failed;
    phi_openapi *api;
    phi_openapi_filter filter;
    phi_openapi_tools tools;
} phi__section_openapi_doc;

typedef struct phi__section_openapi_state {
    const phi_json *node;
    phi__section_openapi_doc *docs;
} phi__section_openapi_state;

#define PHI__SECTION_OPENAPI_TEXT(member, flags, text)                                             \
    PHI__CONFIG_PLAIN(phi__section_openapi_taken, member, #member, PHI__CONFIG_TEXT, flags, NULL,  \
                      "null", text)
#define PHI__SECTION_OPENAPI_TEXTS(member, flags, text)                                            \
    PHI__CONFIG_PLAIN(phi__section_openapi_taken, member, #member, PHI__CONFIG_TEXTS, flags, NULL, \
                      "[]", text)
#define PHI__SECTION_OPENAPI_BOOL(member, text)                                                    \
    PHI__CONFIG_PLAIN(phi__section_openapi_taken, member, #member, PHI__CONFIG_BOOL, 0, NULL,      \
                      "false", text)

static const phi__config_field phi__section_openapi_instance_fields[] = {
    PHI__CONFIG_PLAIN(phi__section_openapi_taken, id, "id", PHI__CONFIG_TEXT, PHI__CONFIG_ID,
                      "openapi", "null",
                      "Its name for references: \"{{name}}\" or \"{{%name%}}\" (default: name)."),
    PHI__CONFIG_PLAIN(phi__section_openapi_taken, name, "name", PHI__CONFIG_TEXT, PHI__CONFIG_NAME,
                      "openapi", "null", "Its name, for messages."),
    PHI__SECTION_OPENAPI_TEXT(description, 0, "For people."),
    PHI__SECTION_OPENAPI_TEXT(file, PHI__CONFIG_PATH, "The document, JSON or YAML."),
    PHI__SECTION_OPENAPI_TEXT(url, 0, "The document's address, instead of file."),
    PHI__SECTION_OPENAPI_TEXT(base_url, 0,
                              "The address of the API (default: the document's first server)."),
    PHI__SECTION_OPENAPI_TEXT(bearer_token, PHI__CONFIG_SECRET, "For http bearer and oauth2."),
    PHI__SECTION_OPENAPI_TEXT(user, 0, "For http basic."),
    PHI__SECTION_OPENAPI_TEXT(password, PHI__CONFIG_SECRET, "For http basic."),
    PHI__CONFIG_PLAIN(phi__section_openapi_taken, keys, "keys", PHI__CONFIG_MAP, PHI__CONFIG_SECRET,
                      NULL, "{}", "For apiKey, by the name of the scheme in the document."),
    PHI__SECTION_OPENAPI_TEXT(client_id, 0, "For the client credentials of oauth2."),
    PHI__SECTION_OPENAPI_TEXT(client_secret, PHI__CONFIG_SECRET, "The same."),
    PHI__SECTION_OPENAPI_TEXT(token_url, 0, "Of oauth2 (default: the document's)."),
    PHI__CONFIG_PLAIN(phi__section_openapi_taken, headers, "headers", PHI__CONFIG_MAP,
                      PHI__CONFIG_SECRET, NULL, "{}", "HTTP headers of every request."),
    PHI__CONFIG_RANGE(phi__section_openapi_taken, timeout_ms, "timeout_secs", PHI__CONFIG_SECONDS,
                      PHI__CONFIG_NO_LIMIT, 0.001, 0, "30", "Seconds of a request."),
    PHI__CONFIG_RANGE(phi__section_openapi_taken, max_response_bytes, "max_response_bytes",
                      PHI__CONFIG_INTEGER, 0, 1, 4294967295, "65536",
                      "Bytes of an answer that the model sees."),
    PHI__SECTION_OPENAPI_TEXT(response_directory, PHI__CONFIG_PATH,
                              "Where answers that were cut are kept whole."),
    PHI__SECTION_OPENAPI_TEXTS(upload_roots, PHI__CONFIG_PATH,
                               "Directories whose files may be uploaded."),
    PHI__CONFIG_ROW(phi__section_openapi_taken, name_prefix, "name_prefix", PHI__CONFIG_TEXT, 0,
                    "prefix", NULL, NULL, NULL, 0, 0, "null",
                    "Tools are named \"{prefix}__{operation id}\"."),
    PHI__CONFIG_RANGE(phi__section_openapi_taken, max_document_bytes, "max_document_bytes",
                      PHI__CONFIG_INTEGER, 0, 1, 0, "67108864", "Bytes of the document."),
    PHI__CONFIG_RANGE(phi__section_openapi_taken, max_schema_bytes, "max_schema_bytes",
                      PHI__CONFIG_INTEGER, 0, 1, 4294967295, "65536", "Bytes of a tool's schema."),
    PHI__SECTION_OPENAPI_BOOL(skip_unnamed, "Leaves out operations without operationId."),
    PHI__SECTION_OPENAPI_BOOL(needs_approval, "Tools that may change something need an approval."),
    PHI__SECTION_OPENAPI_BOOL(destructive_needs_approval, "The same of DELETE alone."),
    PHI__SECTION_OPENAPI_BOOL(deferred, "The model finds and loads the tools when it needs them."),
    PHI__SECTION_OPENAPI_BOOL(never_deferred, "The tools are defined, however many they are."),
    PHI__SECTION_OPENAPI_TEXTS(operation_ids, 0, "These operations alone."),
    PHI__SECTION_OPENAPI_TEXTS(tags, 0, "Operations with one of these tags alone."),
    PHI__SECTION_OPENAPI_TEXTS(path_prefixes, 0, "Operations of these paths alone."),
    PHI__SECTION_OPENAPI_TEXTS(methods, 0, "Operations of these methods alone.")};

static const phi__config_table phi__section_openapi_instance_is = {
    "openapi.instances",
    phi__section_openapi_instance_fields,
    PHI__COUNT(phi__section_openapi_instance_fields),
    NULL,
    false,
    "An OpenAPI document, whose operations are tools."};
static const phi__config_table *phi__section_openapi_instance(void) {
    return &phi__section_openapi_instance_is;
}

typedef struct phi__section_openapi_list {
    uint64_t set;
    const phi_json *instances;
} phi__section_openapi_list;

static const phi__config_field phi__section_openapi_fields[] = {
    PHI__CONFIG_NEST(phi__section_openapi_list, instances, "instances", PHI__CONFIG_TABLES,
                     phi__section_openapi_instance, "The documents.")};

static const phi__config_table phi__section_openapi_is = {
    "openapi",
    phi__section_openapi_fields,
    PHI__COUNT(phi__section_openapi_fields),
    NULL,
    false,
    "OpenAPI documents, whose operations are tools."};

/* ---- making ---- */

static bool phi__section_openapi_list_of(phi_arena *arena, const phi_json *map,
                                         const phi_openapi_pair **out, size_t *count) {
    const phi__section_pair *pairs;
    phi_openapi_pair *list;
    if (!phi__section_pairs(arena, map, &pairs, count)) return false;
    if (*count == 0) return true;
    list = (phi_openapi_pair *)phi_arena_alloc(arena, *count * sizeof *list);
    if (list == NULL) return false;
    for (size_t i = 0; i < *count; i++) {
        list[i].name = pairs[i].name;
        list[i].value = pairs[i].value;
    }
    *out = list;
    return true;
}

static phi_status phi__section_openapi_desc(phi__config_ground *ground,
                                            const phi__section_openapi_taken *t,
                                            phi_openapi_desc *desc) {
    desc->base_url = t->base_url;
    desc->auth.bearer_token = t->bearer_token;
    desc->auth.user = t->user;
    desc->auth.password = t->password;
    desc->auth.client_id = t->client_id;
    desc->auth.client_secret = t->client_secret;
    desc->auth.token_url = t->token_url;
    desc->timeout_ms = t->timeout_ms;
    desc->max_response_bytes = t->max_response_bytes;
    desc->max_schema_bytes = t->max_schema_bytes;
    desc->max_document_bytes = phi__config_take_size(t->max_document_bytes);
    desc->name_prefix = t->name_prefix;
    desc->skip_unnamed = t->skip_unnamed;
    desc->needs_approval = t->needs_approval;
    desc->destructive_needs_approval = t->destructive_needs_approval;
    desc->deferred = t->deferred;
    desc->never_deferred = t->never_deferred;
    if (t->response_directory != NULL) {
        desc->response_directory =
            phi__config_place_join(ground->arena, ground->directory, t->response_directory);
        if (desc->response_directory == NULL) return PHI_NO_MEMORY;
    }
    desc->upload_roots = phi__section_places(ground, &t->upload_roots);
    if (desc->upload_roots == NULL && t->upload_roots.count > 0) return PHI_NO_MEMORY;
    return phi__section_openapi_list_of(ground->arena, t->keys, &desc->auth.keys,
                                        &desc->auth.key_count) &&
                   phi__section_openapi_list_of(ground->arena, t->headers, &desc->headers,
                                                &desc->header_count)
               ? PHI_OK
               : PHI_NO_MEMORY;
}

static phi_status phi__section_openapi_open(phi__config_ground *ground,
                                            phi__section_openapi_doc *doc,
                                            const phi__section_openapi_taken *t) {
    phi_openapi_desc desc = PHI_ZERO;
    const char *words = "";
    phi_str name = phi__section_name(doc->node);
    phi_status status = phi__section_openapi_desc(ground, t, &desc);
    if (status != PHI_OK) return status;
    doc->filter.operation_ids = t->operation_ids.at;
    doc->filter.tags = t->tags.at;
    doc->filter.path_prefixes = t->path_prefixes.at;
    doc->filter.methods = t->methods.at;
    doc->failed = true;
    if ((t->file != NULL) == (t->url != NULL)) {
        phi__config_words_error(
            ground, doc->node, PHI_BAD_ARG, "openapi.instances",
            t->url != NULL ? "OpenAPI document \"%.*s\" has both file and url: keep one of "
                             "them"
                           : "OpenAPI document \"%.*s\" has neither file nor url: add file "
                             "= \"api.yaml\", or the url of the document",
            (int)name.len, name.at);
        return PHI_OK;
    }
    if (t->url != NULL && !phi__section_is_address(t->url)) {
        phi__config_words_error(ground, phi_json_get(doc->node, "url"), PHI_BAD_ARG,
                                "openapi.instances.url",
                                "OpenAPI document \"%.*s\": url: expected an address that begins "
                                "with http:// or https://",
                                (int)name.len, name.at);
        return PHI_OK;
    }
    if (ground->check_only) return PHI_OK;
    const char *path =
        t->file != NULL ? phi__config_place_join(ground->arena, ground->directory, t->file) : NULL;
    if (t->file != NULL && path == NULL) return PHI_NO_MEMORY;
    desc.path = path;
    desc.url = path == NULL ? t->url : NULL;
    doc->api = phi_openapi_new(ground->rt, &desc);
    doc->failed = doc->api == NULL;
    if (!doc->failed) return PHI_OK;
    words = phi_last_error(ground->rt).message;
    status = phi_last_error(ground->rt).status;
    if (status == PHI_NO_MEMORY) return status;
    phi__config_words_error(ground, doc->node, status, "openapi.instances",
                            "OpenAPI document \"%.*s\": %s", (int)name.len, name.at, words);
    return PHI_OK;
}

/* PHI_BUSY: the document is being read, or its tools are being made. */
static phi_status phi__section_openapi_read(phi__config_ground *ground,
                                            phi__section_openapi_doc *doc) {
    phi_parse_error error;
    phi_status status = phi_openapi_step(doc->api, &error);
    phi_str name = phi__section_name(doc->node);
    if (status == PHI_OK) status = phi_openapi_select(doc->api, &doc->filter, &doc->tools);
    if (status == PHI_OK || status == PHI_BUSY || status == PHI_NO_MEMORY) return status;
    phi__config_words_error(ground, doc->node, status, "openapi.instances",
                            "OpenAPI document \"%.*s\": %s%s", (int)name.len, name.at,
                            error.message[0] != '\0' ? error.message : phi_status_text(status),
                            error.line > 0 ? " (in the document)" : "");
    doc->failed = true;
    return PHI_OK;
}

static phi_status phi__section_openapi_doc_of(phi__section_openapi_state *s,
                                              phi__config_ground *ground,
                                              const phi__config_used *used,
                                              phi__section_openapi_doc **out) {
    phi__section_openapi_doc *doc = s->docs;
    while (used->keep && doc != NULL && (doc->node != used->node || !doc->keep)) doc = doc->next;
    *out = used->keep ? doc : NULL;
    if (*out != NULL) return PHI_OK;
    phi__section_openapi_taken t = PHI_ZERO;
    doc = (phi__section_openapi_doc *)phi__arena_zero(ground->arena, sizeof *doc);
    if (doc == NULL ||
        !phi__config_take(ground->arena, used->node, phi__section_openapi_instance(), &t))
        return PHI_NO_MEMORY;
    doc->node = used->node;
    doc->keep = used->keep;
    doc->next = s->docs;
    s->docs = doc;
    *out = doc;
    return phi__section_openapi_open(ground, doc, &t);
}

static phi_status phi__section_openapi_one(phi__section_openapi_state *s,
                                           phi__config_making *making,
                                           const phi__config_used *used) {
    phi__section_openapi_doc *doc = (phi__section_openapi_doc *)making->work;
    phi_status status = PHI_OK;
    if (doc == NULL) status = phi__section_openapi_doc_of(s, making->ground, used, &doc);
    if (status != PHI_OK) return status;
    making->work = doc;
    if (making->ground->check_only)
        phi__config_making_trust(making);
    else if (!doc->failed)
        status = phi__section_openapi_read(making->ground, doc);
    if (status != PHI_OK) return status;
    making->work = NULL;
    for (size_t i = 0; status == PHI_OK && i < doc->tools.count; i++) {
        (void)phi__config_making_offer(making, doc->tools.tools[i].name);
        status = phi__config_making_tool(making, &doc->tools.tools[i]);
    }
    return status;
}

/* ---- for other modules ---- */

PHI__FN const phi__config_table *phi__section_openapi_table(void) {
    return &phi__section_openapi_is;
}

PHI__FN phi_status phi__section_openapi_begin(phi__config_ground *ground, const phi_json *node,
                                              void **state) {
    phi__section_openapi_state *s =
        (phi__section_openapi_state *)phi__arena_zero(ground->arena, sizeof *s);
    *state = s;
    if (s == NULL) return PHI_NO_MEMORY;
    s->node = node;
    return PHI_OK;
}

PHI__FN phi_status phi__section_openapi_use(void *state, phi__config_making *making) {
    phi__section_openapi_state *s = (phi__section_openapi_state *)state;
    phi__config_used used;
    while (phi__config_making_used(making, "openapi", "openapi", s->node, making->at, &used)) {
        phi_status status = used.node != NULL ? phi__section_openapi_one(s, making, &used) : PHI_OK;
        if (status != PHI_OK) return status;
        making->at++;
    }
    return PHI_OK;
}

PHI__FN void phi__section_openapi_end(void *state) {
    phi__section_openapi_state *s = (phi__section_openapi_state *)state;
    for (phi__section_openapi_doc *doc = s != NULL ? s->docs : NULL; doc != NULL; doc = doc->next)
        phi_openapi_free(doc->api);
}
