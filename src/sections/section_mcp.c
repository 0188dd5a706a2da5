/* section_mcp.c - MCP servers: one connection that agents share, or one for each reference. */
#include "mcp/mcp.h"
#include "mcp/mcp_oauth.h"
#include "mcp/mcp_in.h"
#include "mcp/mcp_tools.h"
#include "sections/section_in.h"
#include "tools/tools_in.h"

/* ---- the fields of [[mcp.instances]] ---- */

typedef struct phi__cfg_mcp_server {
    uint64_t set;
    const char *id, *name, *description, *cwd;
    const phi_json *command, *env, *headers, *oauth;
    phi__cfg_texts args, roots;
    uint64_t max_message_bytes;
    bool required;
    phi_mcp_desc desc; /* fields that the table sets directly */
} phi__cfg_mcp_server;

typedef struct phi__cfg_oauth {
    uint64_t set;
    phi_mcp_oauth_desc desc;
} phi__cfg_oauth;

static const char phi__sec_mcp_answer_choices[] = "sampling forms urls";

static const char phi__sec_mcp_auth_choices[] = "any client_secret_basic client_secret_post none";

/* PHI_MCP_GRANT_ASSERTION is missing, because it needs a function of the host. */
static const char phi__sec_mcp_grant_choices[] = "person client";

static const phi__cfg_table *phi__table_mcp_instance(void);
static const phi__cfg_table *phi__table_mcp_oauth(void);

static const phi__cfg_field phi__mcp_instance_rows[] = {
    PHI__C_NAMED(mcp_server, id, TEXT, PHI__CFG_ID, "mcp", "null",
                 "The name for references: \"{{name}}\" or \"{{%name%}}\" (default: name)."),
    PHI__C_NAMED(mcp_server, name, TEXT, PHI__CFG_NAME, "mcp", "null",
                 "The name of the server in messages."),
    PHI__C_TEXT(mcp_server, description, 0, "A description for people."),
    PHI__C_PLAIN(
        mcp_server, command, VALUE, 0, "null",
        "A server program that uses its standard input and output: a text, or a list of texts."),
    PHI__C_LIST(mcp_server, args, "[]", "Additional arguments of the program."),
    PHI__C_PLAIN(mcp_server, env, MAP, PHI__CFG_SECRET, "{}",
                 "Additional environment variables of the program."),
    PHI__C_FLAG_IN(mcp_server, desc, hide_keys,
                   "Hides environment variables whose names look like keys from the program."),
    PHI__C_TEXT(mcp_server, cwd, PHI__CFG_PATH, "The working directory of the program."),
    PHI__C_INT_IN(mcp_server, desc, max_restarts, PHI__NO_LIMIT, 1, 4294967295, "3",
                  "Maximum number of restarts in a row after the program exits."),
    PHI__C_FLAG_IN(mcp_server, desc, no_restart, "Never restarts a program that exits."),
    PHI__C_U32_IN(mcp_server, desc, restart_delay_ms, "500",
                  "Milliseconds before the first restart."),
    PHI__C_U32_IN(mcp_server, desc, close_ms, "2000",
                  "Milliseconds that the program has to exit before a signal, and again before it "
                  "is killed."),
    PHI__C_TEXT_IN(mcp_server, desc, url, "The address of a server over HTTP."),
    PHI__C_PLAIN(mcp_server, headers, MAP, PHI__CFG_SECRET, "{}", "HTTP headers of every request."),
    PHI__C_TABLE(mcp_server, oauth, mcp_oauth, "Authorization by OAuth 2.1."),
    PHI__C_TEXT_IN(
        mcp_server, desc, era,
        "The only version of the protocol to use (default: the newest that both sides know)."),
    PHI__C_SECS(mcp_server, desc.connect_timeout_ms, "connect_timeout_secs", PHI__NO_LIMIT, "30",
                "Maximum number of seconds until the server is ready."),
    PHI__C_SECS(mcp_server, desc.timeout_ms, "timeout_secs", PHI__NO_LIMIT, "30",
                "Maximum number of seconds per request; each progress report restarts the time."),
    PHI__C_SECS(mcp_server, desc.max_timeout_ms, "max_timeout_secs", PHI__NO_LIMIT, "600",
                "Maximum number of seconds per request that reports progress."),
    PHI__C_ALIAS(mcp_server, desc.name_prefix, "name_prefix", "prefix", TEXT, "null",
                 "A prefix of the tools' names: \"{prefix}__{name}\"."),
    PHI__C_INT(mcp_server, max_message_bytes, 0, 1024, 0, "16777216",
               "Maximum size of one message, in bytes."),
    PHI__C_U32_IN(mcp_server, desc, max_list, "2000",
                  "Maximum number of tools, resources or prompts in a list."),
    PHI__C_FLAG_IN(mcp_server, desc, needs_approval,
                   "Requires an approval for calls of tools that may change something."),
    PHI__C_FLAG_IN(
        mcp_server, desc, hold_changed_tools,
        "Refuses calls of a tool that the server has changed, until the program accepts the tool."),
    PHI__C_FLAG_IN(mcp_server, desc, deferred,
                   "Defers the tools: the model finds and loads tools when it needs them."),
    PHI__C_FLAG_IN(mcp_server, desc, never_deferred,
                   "Never defers the tools, even if there are many."),
    PHI__C_NAMES(mcp_server, desc.answers, "answers", BITS, 0, phi__sec_mcp_answer_choices, "[]",
                 "Requests that the server may send to the program."),
    PHI__C_PLAIN(mcp_server, roots, TEXTS, PHI__CFG_PATH, "[]",
                 "Directories that the server may work in."),
    PHI__C_TEXT_IN(mcp_server, desc, log_level,
                   "The lowest level of the server's log messages, such as \"warning\"."),
    PHI__C_FLAG(mcp_server, required, "Makes no agents until the server is ready.")};

PHI__TABLE(mcp_instance, "mcp.instances", "An MCP server.")

PHI__TABLE_LIST(PHI__FN, mcp, "mcp",
                "Servers of the Model Context Protocol, which provide tools to agents.",
                mcp_instance, "The servers.")
static const phi__cfg_field phi__mcp_oauth_rows[] = {
    PHI__C_CHOICE_IN(oauth, desc, grant, phi__sec_mcp_grant_choices, "\"person\"",
                     "Authorizes a person in a browser, or the client by its secret."),
    PHI__C_TEXT_IN(oauth, desc, client_id,
                   "The id of a client that is registered at the authorization server."),
    PHI__C_PLAIN_AS(oauth, desc.client_secret, "client_secret", TEXT, PHI__CFG_SECRET, "null",
                    "The secret of the client."),
    PHI__C_CHOICE_IN(oauth, desc, client_auth, phi__sec_mcp_auth_choices, "\"any\"",
                     "The way in which the client proves its identity."),
    PHI__C_TEXT_IN(oauth, desc, issuer,
                   "The authorization server that knows client_id. phi refuses any other."),
    PHI__C_TEXT_IN(
        oauth, desc, client_metadata_url,
        "The address of a document about the program, used as the client id if the server allows."),
    PHI__C_TEXT_IN(oauth, desc, client_name, "The name of the program, shown to the person."),
    PHI__C_TEXT_IN(oauth, desc, client_uri, "The address of a page about the program."),
    PHI__C_FLAG_IN(oauth, desc, web_application, "Registers the program as a web application."),
    PHI__C_TEXT_IN(oauth, desc, scope, "Additional scopes to request, separated by blanks."),
    PHI__C_FLAG_IN(oauth, desc, no_offline_access, "Never requests the scope offline_access."),
    PHI__C_INT_IN(oauth, desc, redirect_port, 0, 0, 65535, "0",
                  "The local port that receives the redirect; 0: any port."),
    PHI__C_TEXT_IN(oauth, desc, redirect_uri,
                   "No effect in a file: phi itself receives the redirect, at redirect_port."),
    PHI__C_SECS(oauth, desc.timeout_ms, "timeout_secs", PHI__NO_LIMIT, "300",
                "Maximum number of seconds per authorization."),
    PHI__C_FLAG_IN(oauth, desc, allow_private,
                   "Allows a public server's metadata to name private addresses."),
    PHI__C_FLAG_IN(oauth, desc, no_legacy, "Refuses servers without metadata.")};

PHI__TABLE(mcp_oauth, "mcp.instances.oauth",
           "Authorization. phi_agents_desc.open_url_fn shows the address to the person.")

/* ---- the connections of MCP servers ---- */

/* The connection of an MCP server. */
typedef struct phi__sec_mcp_link {
    struct phi__sec_mcp_link *next;
    const phi_json *node;
    const phi__cfg_making *making; /* the first agent that refers to the server */
    size_t at;                     /* index of that agent's reference */
    bool keep, required;
    phi_mcp *mcp;
    phi_mcp_oauth_desc oauth;
} phi__sec_mcp_link;

typedef struct phi__sec_mcp_state {
    const phi_json *node;
    phi__sec_mcp_link *links;
} phi__sec_mcp_state;

static const char *const *phi__sec_mcp_env(phi_arena *arena, const phi_json *map) {
    size_t n;
    const phi_mcp_pair *pairs = (const phi_mcp_pair *)phi__cfg_pairs(arena, map, &n);
    if (pairs == NULL && n > 0) return NULL;
    const char **list = (const char **)phi__arena_zero(arena, (n + 1) * sizeof *list);
    for (size_t i = 0; list != NULL && i < n; i++) {
        size_t a = strlen(pairs[i].name), b = strlen(pairs[i].value);
        char *at = phi__arena_bytes(arena, phi__add(a, b) + 2);
        if (at == NULL) return NULL;
        memcpy(at, pairs[i].name, a);
        at[a] = '=';
        memcpy(at + a + 1, pairs[i].value, b + 1);
        list[i] = at;
    }
    return list;
}

/* Splits a command that is written as one text. If *words is NULL, a problem was reported. */
static phi_status phi__sec_mcp_split(phi__cfg_ground *ground, const phi_json *command,
                                     const char *const **words) {
#ifndef PHI_NO_PROCESS
    const char *fault = NULL;
    phi_status status =
        phi__split_command(ground->arena, phi_json_str(command, "").at, words, &fault);
    if (status == PHI_OK || status == PHI_NO_MEMORY) return status;
    *words = NULL;
    phi__cfg_error(ground, command, status, "mcp.instances.command", "command: %s", fault);
#else
    *words = NULL;
    phi__cfg_error(
        ground, command, PHI_UNSUPPORTED, "mcp.instances.command",
        "command: expected a list of texts: PHI_NO_PROCESS leaves out what splits a text");
#endif
    return PHI_OK;
}

/* Makes argv from `command` (a list, or a text that is split as in a shell) and `args`. If *out is
   NULL, a problem was reported. */
static phi_status phi__sec_mcp_argv(phi__cfg_ground *ground, const phi_json *node,
                                    const phi__cfg_mcp_server *t, const char *const **out) {
    const char *const *words = NULL;
    const char **list;
    size_t n = 0;
    *out = NULL;
    if (phi_json_is(t->command, PHI_JSON_STRING)) {
        phi_status status = phi__sec_mcp_split(ground, t->command, &words);
        if (status != PHI_OK || words == NULL) return status;
        while (words[n] != NULL) n++;
    } else {
        n = phi_json_count(t->command);
    }
    list = (const char **)phi__arena_zero(ground->arena,
                                          phi__mul(n + t->args.count + 1, sizeof *list));
    if (list == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; i < n; i++) {
        const phi_json *item = words == NULL ? phi_json_at(t->command, i) : NULL;
        list[i] = words != NULL ? words[i] : phi_json_str(item, "").at;
        if (words != NULL || phi_json_is(item, PHI_JSON_STRING)) continue;
        phi__cfg_error(ground, item, PHI_BAD_ARG, "mcp.instances.command",
                       "command: expected texts in the list");
        return PHI_OK;
    }
    for (size_t i = 0; i < t->args.count; i++) list[n + i] = t->args.at[i];
    if (n == 0)
        phi__cfg_error(ground, node, PHI_BAD_ARG, "mcp.instances.command",
                       "command: expected a program, as \"my-server --stdio\" or [\"my-server\", "
                       "\"--stdio\"]");
    else
        *out = list;
    return PHI_OK;
}

/* Makes a URI such as "file:///a%20b". NULL: no memory. */
static const char *phi__sec_mcp_uri(phi__cfg_ground *ground, const char *path) {
    phi__buf uri;
    phi_str out = PHI__LIT("");
    phi__buf_init(&uri, ground->memory);
    /* "file:///C:/a" for "C:/a", and "file://server/share" for "//server/share" */
    size_t drive = phi__path_drive(phi_str_of(path));
    phi__buf_text(&uri, drive == 0 ? "file://" : path[0] == '/' ? "file:" : "file:///");
    if (drive == 2) {
        phi__buf_add(&uri, path, drive);
        path += drive;
    }
    while (*path != '\0') {
        size_t n = strcspn(path, "/");
        phi__url_escape(&uri, phi__str(path, n));
        path += n;
        if (*path != '/') break;
        phi__buf_char(&uri, '/');
        path++;
    }
    if (uri.failed || !phi__arena_str(ground->arena, phi__buf_str(&uri), &out)) out.at = NULL;
    phi__buf_free(&uri);
    return out.at;
}

/* Makes a root's URI from a URI or a path. If *uri is NULL, a problem was reported. */
static phi_status phi__sec_mcp_root(phi__cfg_ground *ground, const phi_json *item,
                                    const char **uri) {
    static const char field[] = "mcp.instances.roots";
    phi_str text = phi_json_str(item, "");
    *uri = phi__str_find(text, 0, "://") != SIZE_MAX ? text.at : NULL;
    if (*uri != NULL) return PHI_OK;
    if (text.len == 0) {
        phi__cfg_error(ground, item, PHI_BAD_ARG, field,
                       "roots: expected directories, found an empty text");
        return PHI_OK;
    }
    const char *path = phi__cfg_join(ground->arena, ground->directory, text.at);
    if (path == NULL) return PHI_NO_MEMORY;
    phi_status status = phi__cfg_absolute(ground, item, field, path, &path);
    if (status == PHI_UNSUPPORTED) {
        phi__cfg_error(ground, item, status, field,
                       "roots: expected a URI, as \"file:///home/ada\": PHI_NO_FILES leaves out "
                       "what resolves paths");
        return PHI_OK;
    }
    if (status != PHI_OK || path == NULL) return status;
    *uri = phi__sec_mcp_uri(ground, path);
    return *uri != NULL ? PHI_OK : PHI_NO_MEMORY;
}

/* Sets the roots. If a problem was reported, sets none. */
static phi_status phi__sec_mcp_roots(phi__cfg_ground *ground, const phi_json *list,
                                     phi_mcp_desc *desc) {
    size_t n = phi_json_count(list), there = 0;
    phi_json_iter it = phi_json_each(list);
    phi_mcp_root *roots;
    if (n == 0) return PHI_OK;
    roots = (phi_mcp_root *)phi__arena_zero(ground->arena, n * sizeof *roots);
    if (roots == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; i < n; i++) {
        phi_status status = phi__sec_mcp_root(ground, phi_json_next(&it), &roots[i].uri);
        if (status != PHI_OK) return status;
        there += roots[i].uri != NULL ? 1 : 0;
    }
    if (there < n) return PHI_OK;
    desc->roots = roots;
    desc->root_count = n;
    return PHI_OK;
}

static phi_status phi__sec_mcp_oauth(phi__cfg_ground *ground, const phi_json *node,
                                     phi__sec_mcp_link *link, phi_mcp_desc *desc) {
    if (node == NULL) return PHI_OK;
    phi__cfg_oauth t = PHI_ZERO;
    if (!phi__cfg_take(ground->arena, node, phi__table_mcp_oauth(), &t)) return PHI_NO_MEMORY;
    link->oauth = t.desc;
    link->oauth.open_browser_fn = ground->desc.open_url_fn;
    link->oauth.user_data = ground->desc.open_url_user_data;
    link->oauth.store = ground->desc.store;
    desc->oauth = &link->oauth;
    return PHI_OK;
}

/* Makes the desc of a server. *fits: the desc is complete enough to connect. */
static phi_status phi__sec_mcp_desc(phi__cfg_ground *ground, const phi_json *node,
                                    const phi__cfg_mcp_server *t, phi__sec_mcp_link *link,
                                    phi_mcp_desc *desc, bool *fits) {
    const phi_json *roots = phi_json_get(node, "roots");
    phi_str name = phi__sec_name(node);
    phi_status status = PHI_OK;
    *fits = false;
    *desc = t->desc;
    desc->max_message_bytes = phi__cfg_take_size(t->max_message_bytes);
    desc->hide_keys = desc->hide_keys || ground->desc.hide_keys;
    if (!phi__arena_str(ground->arena, name, &name)) return PHI_NO_MEMORY;
    desc->name = name.at;
    if ((desc->url != NULL) == (t->command != NULL)) {
        phi__cfg_error(ground, node, PHI_BAD_ARG, "mcp.instances",
                       desc->url != NULL
                           ? "MCP server \"%s\" has both command and url: keep one of them"
                           : "MCP server \"%s\" has neither command nor url: add command = "
                             "\"my-server --stdio\", or the url of a server",
                       name.at);
        return PHI_OK;
    }
    if (desc->url != NULL && !phi__sec_is_address(desc->url)) {
        phi__cfg_error(
            ground, phi_json_get(node, "url"), PHI_BAD_ARG, "mcp.instances.url",
            "MCP server \"%s\": url: expected an address that begins with http:// or https://",
            name.at);
        return PHI_OK;
    }
    if (t->command != NULL) status = phi__sec_mcp_argv(ground, node, t, &desc->argv);
    if (status == PHI_OK && t->env != NULL) {
        desc->env = phi__sec_mcp_env(ground->arena, t->env);
        if (desc->env == NULL) status = PHI_NO_MEMORY;
    }
    if (status == PHI_OK && t->cwd != NULL) {
        desc->cwd = phi__cfg_join(ground->arena, ground->directory, t->cwd);
        if (desc->cwd == NULL) status = PHI_NO_MEMORY;
    }
    desc->headers =
        (const phi_mcp_pair *)phi__cfg_pairs(ground->arena, t->headers, &desc->header_count);
    if (desc->headers == NULL && desc->header_count > 0) status = PHI_NO_MEMORY;
    if (status == PHI_OK) status = phi__sec_mcp_roots(ground, phi_json_get(node, "roots"), desc);
    if (status == PHI_OK) status = phi__sec_mcp_oauth(ground, t->oauth, link, desc);
    *fits = (desc->argv != NULL || desc->url != NULL) && desc->root_count == phi_json_count(roots);
    return status;
}

/* Finds the connection of reference `at`: a shared one, or the reference's own. NULL: none yet. */
static phi__sec_mcp_link *phi__sec_mcp_find(const phi__sec_mcp_state *s,
                                            const phi__cfg_making *making, size_t at,
                                            const phi__cfg_used *used) {
    phi__sec_mcp_link *link = s->links;
    for (; link != NULL; link = link->next) {
        if (used->keep ? link->keep && link->node == used->node
                       : link->making == making && link->at == at)
            return link;
    }
    return NULL;
}

/* Opens the connection of a reference, if there is none. A desc that is not complete is reported as
   a problem. With check_only, no connection is opened. */
static phi_status phi__sec_mcp_open(phi__sec_mcp_state *s, phi__cfg_making *making, size_t at,
                                    const phi__cfg_used *used) {
    phi__cfg_ground *ground = making->ground;
    phi__sec_mcp_link *link;
    phi_mcp_desc desc = PHI_ZERO;
    bool fits;
    if (phi__sec_mcp_find(s, making, at, used) != NULL) return PHI_OK;
    phi__cfg_mcp_server t = PHI_ZERO;
    link = (phi__sec_mcp_link *)phi__arena_zero(ground->arena, sizeof *link);
    if (link == NULL || !phi__cfg_take(ground->arena, used->node, phi__table_mcp_instance(), &t))
        return PHI_NO_MEMORY;
    link->node = used->node;
    link->making = making;
    link->at = at;
    link->keep = used->keep;
    link->required = t.required;
    link->next = s->links;
    s->links = link;
    phi_status status = phi__sec_mcp_desc(ground, used->node, &t, link, &desc, &fits);
    if (status != PHI_OK || !fits || ground->desc.check_only) return status;
    link->mcp = phi_mcp_connect(ground->rt, &desc);
    if (link->mcp == NULL) {
        const char *words = "";
        words = phi_last_error(ground->rt).message;
        status = phi_last_error(ground->rt).status;
        if (status == PHI_NO_MEMORY) return status;
        phi__cfg_error(ground, used->node, status, "mcp.instances", "MCP server \"%s\": %s",
                       desc.name, words);
    }
    return PHI_OK;
}

/* Returns PHI_BUSY while an awaited server is connecting. A failure is reported once. */
static phi_status phi__sec_mcp_wait(phi__cfg_making *making, const phi__sec_mcp_link *link,
                                    size_t at) {
    phi__cfg_ground *ground = making->ground;
    phi_str name = phi__sec_name(link->node);
    phi_mcp_state state = phi_mcp_get_info(link->mcp).state;
    if (state == PHI_MCP_READY || (!link->required && !ground->desc.wait_for_servers))
        return PHI_OK;
    if (state == PHI_MCP_CONNECTING) return PHI_BUSY;
    if (link->required)
        phi__cfg_error(ground, link->node, PHI_REFUSED, "mcp.instances",
                       "MCP server \"%.*s\", which is required: %s", (int)name.len, name.at,
                       phi_mcp_get_info(link->mcp).message);
    else if (link->making == making && link->at == at)
        phi__cfg_warn(ground, link->node, "mcp.instances",
                      "MCP server \"%.*s\": %s; its tools are missing", (int)name.len, name.at,
                      phi_mcp_get_info(link->mcp).message);
    return PHI_OK;
}

PHI__FN phi_status phi__sec_mcp_begin(phi__cfg_ground *ground, const phi_json *node, void **state) {
    phi__sec_mcp_state *s = (phi__sec_mcp_state *)phi__arena_zero(ground->arena, sizeof *s);
    *state = s;
    if (s == NULL) return PHI_NO_MEMORY;
    s->node = node;
    return PHI_OK;
}

/* Opens all connections before it waits for the first. making->work is set when all are opened. */
PHI__FN phi_status phi__sec_mcp_use(void *state, phi__cfg_making *making) {
    phi__sec_mcp_state *s = (phi__sec_mcp_state *)state;
    phi__cfg_used used;
    phi_status status = PHI_OK;
    for (size_t i = 0; making->work == NULL && status == PHI_OK &&
                       phi__making_used(making, "mcp", "mcp", s->node, i, &used);
         i++)
        if (used.node != NULL) status = phi__sec_mcp_open(s, making, i, &used);
    making->work = s;
    while (status == PHI_OK && phi__making_used(making, "mcp", "mcp", s->node, making->at, &used)) {
        phi__sec_mcp_link *link = NULL;
        if (used.node != NULL) link = phi__sec_mcp_find(s, making, making->at, &used);
        if (link != NULL && link->mcp == NULL) link = NULL; /* its problem was reported */
        if (link != NULL) status = phi__sec_mcp_wait(making, link, making->at);
        if (link != NULL && status == PHI_OK)
            status = phi__making_source(making, phi_mcp_tools(link->mcp));
        if (status == PHI_OK) making->at++;
    }
    return status;
}

PHI__FN void phi__sec_mcp_end(void *state) {
    phi__sec_mcp_state *s = (phi__sec_mcp_state *)state;
    for (phi__sec_mcp_link *link = s != NULL ? s->links : NULL; link != NULL; link = link->next)
        phi_mcp_free(link->mcp);
}
