/* section_mcp_table.c - the fields of [[mcp.instances]]. */
#include "sections/section_in.h"

#include "mcp/mcp.h"

static const phi__config_choice phi__section_mcp_answer_choices[] = {
    {"sampling", PHI_MCP_SAMPLING, false},
    {"forms", PHI_MCP_FORMS, false},
    {"urls", PHI_MCP_URLS, false},
    {"", 0, false}};

static const phi__config_choice phi__section_mcp_auth_choices[] = {
    {"any", PHI_MCP_CLIENT_AUTH_ANY, false},
    {"client_secret_basic", PHI_MCP_CLIENT_AUTH_BASIC, false},
    {"client_secret_post", PHI_MCP_CLIENT_AUTH_POST, false},
    {"none", PHI_MCP_CLIENT_AUTH_NONE, false},
    {"", 0, false}};

/* A host's assertion needs a function of it. */
static const phi__config_choice phi__section_mcp_grant_choices[] = {
    {"person", PHI_MCP_GRANT_PERSON, false},
    {"client", PHI_MCP_GRANT_CLIENT, false},
    {"", 0, false}};

#define PHI__SECTION_MCP_TEXT(member, flags, text)                                                 \
    PHI__CONFIG_PLAIN(phi__section_mcp_taken, member, #member, PHI__CONFIG_TEXT, flags, NULL,      \
                      "null", text)
#define PHI__SECTION_MCP_BOOL(member, text)                                                        \
    PHI__CONFIG_PLAIN(phi__section_mcp_taken, member, #member, PHI__CONFIG_BOOL, 0, NULL, "false", \
                      text)
#define PHI__SECTION_MCP_SECONDS(member, key, fallback, text)                                      \
    PHI__CONFIG_RANGE(phi__section_mcp_taken, member, key, PHI__CONFIG_SECONDS,                    \
                      PHI__CONFIG_NO_LIMIT, 0.001, 0, fallback, text)

static const phi__config_field phi__section_mcp_instance_fields[] = {
    PHI__CONFIG_PLAIN(phi__section_mcp_taken, id, "id", PHI__CONFIG_TEXT, PHI__CONFIG_ID, "mcp",
                      "null",
                      "Its name for references: \"{{name}}\" or \"{{%name%}}\" (default: name)."),
    PHI__CONFIG_PLAIN(phi__section_mcp_taken, name, "name", PHI__CONFIG_TEXT, PHI__CONFIG_NAME,
                      "mcp", "null", "Its name, for messages."),
    PHI__SECTION_MCP_TEXT(description, 0, "For people."),
    PHI__CONFIG_PLAIN(phi__section_mcp_taken, command, "command", PHI__CONFIG_VALUE, 0, NULL,
                      "null",
                      "A program that speaks over its standard input and output: a text, or a list "
                      "of texts."),
    PHI__CONFIG_PLAIN(phi__section_mcp_taken, args, "args", PHI__CONFIG_TEXTS, 0, NULL, "[]",
                      "Further arguments of the program."),
    PHI__CONFIG_PLAIN(phi__section_mcp_taken, env, "env", PHI__CONFIG_MAP, PHI__CONFIG_SECRET, NULL,
                      "{}", "Variables that are added to its environment."),
    PHI__SECTION_MCP_BOOL(hide_keys, "Variables whose names look like keys are not passed on."),
    PHI__SECTION_MCP_TEXT(cwd, PHI__CONFIG_PATH, "Its working directory."),
    PHI__CONFIG_RANGE(phi__section_mcp_taken, max_restarts, "max_restarts", PHI__CONFIG_INTEGER,
                      PHI__CONFIG_NO_LIMIT, 1, 4294967295, "3",
                      "How often in a row a program that ended is started again."),
    PHI__SECTION_MCP_BOOL(no_restart, "A program that ended is not started again."),
    PHI__CONFIG_RANGE(phi__section_mcp_taken, restart_delay_ms, "restart_delay_ms",
                      PHI__CONFIG_INTEGER, 0, 1, 4294967295, "500",
                      "Milliseconds before the first restart."),
    PHI__CONFIG_RANGE(phi__section_mcp_taken, close_ms, "close_ms", PHI__CONFIG_INTEGER, 0, 1,
                      4294967295, "2000", "Milliseconds that it has to end."),
    PHI__SECTION_MCP_TEXT(url, 0, "The address of a server over HTTP."),
    PHI__CONFIG_PLAIN(phi__section_mcp_taken, headers, "headers", PHI__CONFIG_MAP,
                      PHI__CONFIG_SECRET, NULL, "{}", "HTTP headers of every request."),
    PHI__CONFIG_NEST(phi__section_mcp_taken, oauth, "oauth", PHI__CONFIG_TABLE,
                     phi__section_mcp_table_oauth, "Authorization by OAuth 2.1."),
    PHI__SECTION_MCP_TEXT(era, 0, "Only this version of the protocol (default: found out)."),
    PHI__SECTION_MCP_SECONDS(connect_timeout_ms, "connect_timeout_secs", "30",
                             "Seconds until it must be ready."),
    PHI__SECTION_MCP_SECONDS(timeout_ms, "timeout_secs", "30", "Seconds of a request."),
    PHI__SECTION_MCP_SECONDS(max_timeout_ms, "max_timeout_secs", "600",
                             "Seconds of a request that reports progress."),
    PHI__CONFIG_ROW(phi__section_mcp_taken, name_prefix, "name_prefix", PHI__CONFIG_TEXT, 0,
                    "prefix", NULL, NULL, NULL, 0, 0, "null",
                    "Tools are named \"{prefix}__{name}\"."),
    PHI__CONFIG_RANGE(phi__section_mcp_taken, max_message_bytes, "max_message_bytes",
                      PHI__CONFIG_INTEGER, 0, 1024, 0, "16777216", "Bytes of one message."),
    PHI__CONFIG_RANGE(phi__section_mcp_taken, max_list, "max_list", PHI__CONFIG_INTEGER, 0, 1,
                      4294967295, "2000", "Tools of a list at most."),
    PHI__SECTION_MCP_BOOL(needs_approval, "Tools that may change something need an approval."),
    PHI__SECTION_MCP_BOOL(hold_changed_tools,
                          "A tool that the server has changed is not called until it is accepted."),
    PHI__SECTION_MCP_BOOL(deferred, "The model finds and loads the tools when it needs them."),
    PHI__SECTION_MCP_BOOL(never_deferred, "The tools are defined, however many they are."),
    PHI__CONFIG_ROW(phi__section_mcp_taken, answers, "answers", PHI__CONFIG_TEXTS, 0, NULL,
                    phi__section_mcp_answer_choices, NULL, NULL, 0, 0, "[]",
                    "What the server may ask of the program."),
    PHI__CONFIG_PLAIN(phi__section_mcp_taken, roots, "roots", PHI__CONFIG_TEXTS, PHI__CONFIG_PATH,
                      NULL, "[]", "Directories that the server may work in."),
    PHI__SECTION_MCP_TEXT(log_level, 0, "The least level of the server's messages: \"warning\"."),
    PHI__SECTION_MCP_BOOL(required, "There are no agents until the server is ready.")};

static const phi__config_table phi__section_mcp_instance_is = {
    "mcp.instances",
    phi__section_mcp_instance_fields,
    PHI__COUNT(phi__section_mcp_instance_fields),
    NULL,
    false,
    "An MCP server."};

typedef struct phi__section_mcp_list {
    uint64_t set;
    const phi_json *instances;
} phi__section_mcp_list;

static const phi__config_field phi__section_mcp_fields[] = {
    PHI__CONFIG_NEST(phi__section_mcp_list, instances, "instances", PHI__CONFIG_TABLES,
                     phi__section_mcp_table_instance, "The servers.")};

static const phi__config_table phi__section_mcp_is = {
    "mcp",
    phi__section_mcp_fields,
    PHI__COUNT(phi__section_mcp_fields),
    NULL,
    false,
    "Servers of the Model Context Protocol, whose tools agents have."};

#define PHI__SECTION_MCP_OAUTH_TEXT(member, flags, text)                                           \
    PHI__CONFIG_PLAIN(phi__section_mcp_oauth_taken, member, #member, PHI__CONFIG_TEXT, flags,      \
                      NULL, "null", text)
#define PHI__SECTION_MCP_OAUTH_BOOL(member, text)                                                  \
    PHI__CONFIG_PLAIN(phi__section_mcp_oauth_taken, member, #member, PHI__CONFIG_BOOL, 0, NULL,    \
                      "false", text)

static const phi__config_field phi__section_mcp_oauth_fields[] = {
    PHI__CONFIG_CHOOSE(phi__section_mcp_oauth_taken, grant, "grant", phi__section_mcp_grant_choices,
                       "\"person\"",
                       "Who is authorized: a person at a browser, or the client by its secret."),
    PHI__SECTION_MCP_OAUTH_TEXT(client_id, 0, "Of a client that the server knows."),
    PHI__SECTION_MCP_OAUTH_TEXT(client_secret, PHI__CONFIG_SECRET, "Its secret."),
    PHI__CONFIG_CHOOSE(phi__section_mcp_oauth_taken, client_auth, "client_auth",
                       phi__section_mcp_auth_choices, "\"any\"", "How the client proves itself."),
    PHI__SECTION_MCP_OAUTH_TEXT(issuer, 0, "The authorization server that client_id is of."),
    PHI__SECTION_MCP_OAUTH_TEXT(client_metadata_url, 0, "A document about the program."),
    PHI__SECTION_MCP_OAUTH_TEXT(client_name, 0, "The name that the person is shown."),
    PHI__SECTION_MCP_OAUTH_TEXT(client_uri, 0, "A page about the program."),
    PHI__SECTION_MCP_OAUTH_BOOL(web_application, "The program is a web application."),
    PHI__SECTION_MCP_OAUTH_TEXT(scope, 0, "Scopes to ask for, separated by blanks."),
    PHI__SECTION_MCP_OAUTH_BOOL(no_offline_access, "offline_access is not asked for."),
    PHI__CONFIG_RANGE(phi__section_mcp_oauth_taken, redirect_port, "redirect_port",
                      PHI__CONFIG_INTEGER, 0, 0, 65535, "0", "The port of the redirect; 0: any."),
    PHI__SECTION_MCP_OAUTH_TEXT(redirect_uri, 0, "Where the browser is sent back to."),
    PHI__CONFIG_RANGE(phi__section_mcp_oauth_taken, timeout_ms, "timeout_secs", PHI__CONFIG_SECONDS,
                      PHI__CONFIG_NO_LIMIT, 0.001, 0, "300", "Seconds of an authorization."),
    PHI__SECTION_MCP_OAUTH_BOOL(allow_private, "Metadata may name private addresses."),
    PHI__SECTION_MCP_OAUTH_BOOL(no_legacy, "Servers without metadata are refused.")};

static const phi__config_table phi__section_mcp_oauth_is = {
    "mcp.instances.oauth",
    phi__section_mcp_oauth_fields,
    PHI__COUNT(phi__section_mcp_oauth_fields),
    NULL,
    false,
    "Authorization; the program shows the address to the person (phi_agents_desc.open_url_fn)."};

/* ---- for other modules ---- */

PHI__FN const phi__config_choice *phi__section_mcp_table_answers(void) {
    return phi__section_mcp_answer_choices;
}
PHI__FN const phi__config_table *phi__section_mcp_table_top(void) { return &phi__section_mcp_is; }
PHI__FN const phi__config_table *phi__section_mcp_table_instance(void) {
    return &phi__section_mcp_instance_is;
}
PHI__FN const phi__config_table *phi__section_mcp_table_oauth(void) {
    return &phi__section_mcp_oauth_is;
}
