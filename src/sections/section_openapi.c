/* section_openapi.c - OpenAPI documents, whose operations become tools. Agents can share one. */
#include "sections/section_in.h"

#include "openapi/openapi.h"

typedef struct phi__cfg_spec {
    uint64_t set;
    const char *id, *name, *description, *file, *url, *response_directory;
    const phi_json *keys, *headers;
    uint64_t max_document_bytes;
    phi__cfg_texts upload_roots, operation_ids, tags, path_prefixes, methods;
    phi_openapi_desc desc; /* fields that the table sets directly */
} phi__cfg_spec;

/* A document, and the tools selected from it. */
typedef struct phi__sec_api_doc {
    struct phi__sec_api_doc *next;
    const phi_json *node;
    bool keep, failed;
    phi_openapi *api;
    phi_openapi_filter filter;
    phi_openapi_tools tools;
} phi__sec_api_doc;

typedef struct phi__sec_api_state {
    const phi_json *node;
    phi__sec_api_doc *docs;
} phi__sec_api_state;

static const phi__cfg_table *phi__table_openapi_instance(void);

static const phi__cfg_field phi__openapi_instance_rows[] = {
    PHI__C_NAMED(spec, id, TEXT, PHI__CFG_ID, "openapi", "null",
                 "The name for references: \"{{name}}\" or \"{{%name%}}\" (default: name)."),
    PHI__C_NAMED(spec, name, TEXT, PHI__CFG_NAME, "openapi", "null",
                 "The name of the document in messages."),
    PHI__C_TEXT(spec, description, 0, "A description for people."),
    PHI__C_TEXT(spec, file, PHI__CFG_PATH, "The file of the document, JSON or YAML."),
    PHI__C_TEXT(spec, url, 0, "The address of the document, instead of `file`."),
    PHI__C_TEXT_IN(spec, desc, base_url,
                   "The address of the API (default: the document's first server)."),
    PHI__C_PLAIN_AS(spec, desc.auth.bearer_token, "bearer_token", TEXT, PHI__CFG_SECRET, "null",
                    "The token for http bearer, openIdConnect, and oauth2 without client_id."),
    PHI__C_TEXT_IN(spec, desc.auth, user, "The user name for http basic."),
    PHI__C_PLAIN_AS(spec, desc.auth.password, "password", TEXT, PHI__CFG_SECRET, "null",
                    "The password for http basic."),
    PHI__C_PLAIN(spec, keys, MAP, PHI__CFG_SECRET, "{}",
                 "Keys for apiKey schemes, by the name of the scheme in the document."),
    PHI__C_TEXT_IN(spec, desc.auth, client_id, "The client id for oauth2 with client credentials."),
    PHI__C_PLAIN_AS(spec, desc.auth.client_secret, "client_secret", TEXT, PHI__CFG_SECRET, "null",
                    "The client secret for oauth2 with client credentials."),
    PHI__C_TEXT_IN(spec, desc.auth, token_url,
                   "The address of the token endpoint for oauth2 (default: the document's)."),
    PHI__C_PLAIN(spec, headers, MAP, PHI__CFG_SECRET, "{}", "HTTP headers of every request."),
    PHI__C_SECS(spec, desc.timeout_ms, "timeout_secs", PHI__NO_LIMIT, "30",
                "Maximum number of seconds per request."),
    PHI__C_U32_IN(spec, desc, max_response_bytes, "65536",
                  "Maximum bytes of an answer that the model sees."),
    PHI__C_TEXT(spec, response_directory, PHI__CFG_PATH,
                "A directory where phi keeps the whole text of answers that it cuts."),
    PHI__C_PLAIN(spec, upload_roots, TEXTS, PHI__CFG_PATH, "[]",
                 "Directories from which files may be uploaded."),
    PHI__C_ALIAS(spec, desc.name_prefix, "name_prefix", "prefix", TEXT, "null",
                 "A prefix of the tools' names: \"{prefix}__{operation id}\"."),
    PHI__C_INT(spec, max_document_bytes, 0, 1, 0, "67108864",
               "Maximum size of the document, in bytes."),
    PHI__C_U32_IN(spec, desc, max_schema_bytes, "65536",
                  "Maximum size of a tool's schema, in bytes."),
    PHI__C_FLAG_IN(spec, desc, skip_unnamed, "Leaves out operations without operationId."),
    PHI__C_FLAG_IN(spec, desc, needs_approval,
                   "Requires an approval for calls of tools that may change something."),
    PHI__C_FLAG_IN(spec, desc, destructive_needs_approval,
                   "Requires an approval for calls of DELETE operations."),
    PHI__C_FLAG_IN(spec, desc, deferred,
                   "Defers the tools: the model finds and loads tools when it needs them."),
    PHI__C_FLAG_IN(spec, desc, never_deferred, "Never defers the tools, even if there are many."),
    PHI__C_LIST(spec, operation_ids, "[]", "Selects only these operations."),
    PHI__C_LIST(spec, tags, "[]", "Selects only operations with one of these tags."),
    PHI__C_LIST(spec, path_prefixes, "[]", "Selects only operations under one of these paths."),
    PHI__C_LIST(spec, methods, "[]", "Selects only operations with one of these methods.")};

PHI__TABLE(openapi_instance, "openapi.instances", "An OpenAPI document whose operations are tools.")

PHI__TABLE_LIST(PHI__FN, openapi, "openapi", "OpenAPI documents whose operations are tools.",
                openapi_instance, "The documents.")

/* ---- reading documents ---- */

static phi_status phi__sec_api_desc(phi__cfg_ground *ground, const phi__cfg_spec *t,
                                    phi_openapi_desc *desc) {
    *desc = t->desc;
    desc->max_document_bytes = phi__cfg_take_size(t->max_document_bytes);
    if (t->response_directory != NULL) {
        desc->response_directory =
            phi__cfg_join(ground->arena, ground->directory, t->response_directory);
        if (desc->response_directory == NULL) return PHI_NO_MEMORY;
    }
    desc->upload_roots = phi__sec_places(ground, &t->upload_roots);
    if (desc->upload_roots == NULL && t->upload_roots.count > 0) return PHI_NO_MEMORY;
    phi_openapi_auth *auth = &desc->auth;
    auth->keys = (const phi_openapi_pair *)phi__cfg_pairs(ground->arena, t->keys, &auth->key_count);
    desc->headers =
        (const phi_openapi_pair *)phi__cfg_pairs(ground->arena, t->headers, &desc->header_count);
    bool there = (auth->keys != NULL || auth->key_count == 0) &&
                 (desc->headers != NULL || desc->header_count == 0);
    return there ? PHI_OK : PHI_NO_MEMORY;
}

static phi_status phi__sec_api_open(phi__cfg_ground *ground, phi__sec_api_doc *doc,
                                    const phi__cfg_spec *t) {
    phi_openapi_desc desc = PHI_ZERO;
    const char *words = "";
    phi_str name = phi__sec_name(doc->node);
    phi_status status = phi__sec_api_desc(ground, t, &desc);
    if (status != PHI_OK) return status;
    doc->filter.operation_ids = t->operation_ids.at;
    doc->filter.tags = t->tags.at;
    doc->filter.path_prefixes = t->path_prefixes.at;
    doc->filter.methods = t->methods.at;
    doc->failed = true;
    if ((t->file != NULL) == (t->url != NULL)) {
        phi__cfg_error(ground, doc->node, PHI_BAD_ARG, "openapi.instances",
                       t->url != NULL
                           ? "OpenAPI document \"%.*s\" has both file and url: keep one of them"
                           : "OpenAPI document \"%.*s\" has neither file nor url: add file = "
                             "\"api.yaml\", or the url of the document",
                       (int)name.len, name.at);
        return PHI_OK;
    }
    if (t->url != NULL && !phi__sec_is_address(t->url)) {
        phi__cfg_error(ground, phi_json_get(doc->node, "url"), PHI_BAD_ARG, "openapi.instances.url",
                       "OpenAPI document \"%.*s\": url: expected an address that begins with "
                       "http:// or https://",
                       (int)name.len, name.at);
        return PHI_OK;
    }
    if (ground->desc.check_only) return PHI_OK;
    const char *path =
        t->file != NULL ? phi__cfg_join(ground->arena, ground->directory, t->file) : NULL;
    if (t->file != NULL && path == NULL) return PHI_NO_MEMORY;
    desc.path = path;
    desc.url = path == NULL ? t->url : NULL;
    doc->api = phi_openapi_new(ground->rt, &desc);
    doc->failed = doc->api == NULL;
    if (!doc->failed) return PHI_OK;
    words = phi_last_error(ground->rt).message;
    status = phi_last_error(ground->rt).status;
    if (status == PHI_NO_MEMORY) return status;
    phi__cfg_error(ground, doc->node, status, "openapi.instances", "OpenAPI document \"%.*s\": %s",
                   (int)name.len, name.at, words);
    return PHI_OK;
}

/* Returns PHI_BUSY while the document is read or its tools are made. */
static phi_status phi__sec_api_read(phi__cfg_ground *ground, phi__sec_api_doc *doc) {
    phi_parse_error error;
    phi_status status = phi_openapi_step(doc->api, &error);
    phi_str name = phi__sec_name(doc->node);
    if (status == PHI_OK) status = phi_openapi_select(doc->api, &doc->filter, &doc->tools);
    if (status == PHI_OK || status == PHI_BUSY || status == PHI_NO_MEMORY) return status;
    phi__cfg_error(ground, doc->node, status, "openapi.instances",
                   "OpenAPI document \"%.*s\": %s%s", (int)name.len, name.at,
                   error.message[0] != '\0' ? error.message : phi_status_text(status),
                   error.line > 0 ? " (in the document)" : "");
    doc->failed = true;
    return PHI_OK;
}

static phi_status phi__sec_api_doc_of(phi__sec_api_state *s, phi__cfg_ground *ground,
                                      const phi__cfg_used *used, phi__sec_api_doc **out) {
    phi__sec_api_doc *doc = s->docs;
    while (used->keep && doc != NULL && (doc->node != used->node || !doc->keep)) doc = doc->next;
    *out = used->keep ? doc : NULL;
    if (*out != NULL) return PHI_OK;
    phi__cfg_spec t = PHI_ZERO;
    doc = (phi__sec_api_doc *)phi__arena_zero(ground->arena, sizeof *doc);
    if (doc == NULL || !phi__cfg_take(ground->arena, used->node, phi__table_openapi_instance(), &t))
        return PHI_NO_MEMORY;
    doc->node = used->node;
    doc->keep = used->keep;
    doc->next = s->docs;
    s->docs = doc;
    *out = doc;
    return phi__sec_api_open(ground, doc, &t);
}

static phi_status phi__sec_api_one(phi__sec_api_state *s, phi__cfg_making *making,
                                   const phi__cfg_used *used) {
    phi__sec_api_doc *doc = (phi__sec_api_doc *)making->work;
    phi_status status = PHI_OK;
    if (doc == NULL) status = phi__sec_api_doc_of(s, making->ground, used, &doc);
    if (status != PHI_OK) return status;
    making->work = doc;
    if (making->ground->desc.check_only)
        phi__making_trust(making);
    else if (!doc->failed)
        status = phi__sec_api_read(making->ground, doc);
    if (status != PHI_OK) return status;
    making->work = NULL;
    for (size_t i = 0; status == PHI_OK && i < doc->tools.count; i++) {
        (void)phi__making_offer(making, doc->tools.tools[i].name);
        status = phi__making_tool(making, &doc->tools.tools[i]);
    }
    return status;
}

PHI__FN phi_status phi__sec_api_begin(phi__cfg_ground *ground, const phi_json *node, void **state) {
    phi__sec_api_state *s = (phi__sec_api_state *)phi__arena_zero(ground->arena, sizeof *s);
    *state = s;
    if (s == NULL) return PHI_NO_MEMORY;
    s->node = node;
    return PHI_OK;
}

PHI__FN phi_status phi__sec_api_use(void *state, phi__cfg_making *making) {
    phi__sec_api_state *s = (phi__sec_api_state *)state;
    phi__cfg_used used;
    while (phi__making_used(making, "openapi", "openapi", s->node, making->at, &used)) {
        phi_status status = used.node != NULL ? phi__sec_api_one(s, making, &used) : PHI_OK;
        if (status != PHI_OK) return status;
        making->at++;
    }
    return PHI_OK;
}

PHI__FN void phi__sec_api_end(void *state) {
    phi__sec_api_state *s = (phi__sec_api_state *)state;
    for (phi__sec_api_doc *doc = s != NULL ? s->docs : NULL; doc != NULL; doc = doc->next)
        phi_openapi_free(doc->api);
}
