/* mcp_settings.c - checks and copies of a connection's settings. */
#include "mcp/mcp_settings_in.h"

#include "loop/fetch_in.h"
#include "mcp/mcp_eras_in.h"
#include "mcp/mcp_level_in.h"
#include "mcp/mcp_oauth_in.h"

enum {
    PHI__MCP_SETTINGS_RESTARTS = 3,
    PHI__MCP_SETTINGS_RESTART_MS = 500,
    PHI__MCP_SETTINGS_CLOSE_MS = 2000,
    PHI__MCP_SETTINGS_CONNECT_MS = 30000,
    PHI__MCP_SETTINGS_TIMEOUT_MS = 30000, /* behaviours, C 65 */
    PHI__MCP_SETTINGS_TIMEOUT_MOST_MS = 600000,
    PHI__MCP_SETTINGS_MESSAGE = 16777216,
    PHI__MCP_SETTINGS_MESSAGE_LEAST = 4096,
    PHI__MCP_SETTINGS_LIST = 2000,
    PHI__MCP_SETTINGS_PREFIX = 32 /* bytes: names of tools have 64 */
};

/* ---- checks ---- */

static bool phi__mcp_settings_is_prefix(const char *prefix) {
    size_t i;
    for (i = 0; prefix[i] != '\0'; i++) {
        char c = prefix[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!plain && c != '_' && c != '-') return false;
    }
    return i > 0 && i <= PHI__MCP_SETTINGS_PREFIX;
}

static const char *phi__mcp_settings_refuse_url(const phi_mcp_desc *desc) {
    phi_str url = phi_str_of(desc->url);
    size_t i;
    if (!phi__str_starts(url, "http://") && !phi__str_starts(url, "https://"))
        return "url: expected http:// or https://";
    if (desc->header_count > 0 && desc->headers == NULL) return "headers are missing";
    for (i = 0; i < desc->header_count; i++) {
        const phi_mcp_pair *p = &desc->headers[i];
        if (p->name == NULL || p->value == NULL) return "headers: a name or a value is missing";
        if (!phi__fetch_name_fits(phi_str_of(p->name))) return "headers: a name is no token";
        if (!phi__fetch_value_fits(phi_str_of(p->value)))
            return "headers: a control character in a value";
    }
    return desc->oauth != NULL ? phi__mcp_oauth_refuse(desc->oauth) : NULL;
}

PHI__FN const char *phi__mcp_settings_refuse(const phi_mcp_desc *desc) {
    size_t i;
    if ((desc->argv == NULL) == (desc->url == NULL)) return "expected either argv or url";
    if (desc->argv != NULL && (desc->argv[0] == NULL || desc->argv[0][0] == '\0'))
        return "argv[0] is empty";
#ifdef PHI_NO_PROCESS
    if (desc->argv != NULL) return "argv: left out by PHI_NO_PROCESS";
#endif
    if (desc->era != NULL && phi__mcp_eras_find(phi_str_of(desc->era)) == NULL)
        return "era: expected 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 or 2026-07-28";
    if (desc->name_prefix != NULL && !phi__mcp_settings_is_prefix(desc->name_prefix))
        return "name_prefix: expected 1 to 32 letters, digits, _ or -";
    if (desc->log_level != NULL && phi__mcp_level_of(phi_str_of(desc->log_level)) < 0)
        return "log_level: expected debug, info, notice, warning, error, critical, alert or "
               "emergency";
    if (desc->max_message_bytes > 0 && desc->max_message_bytes < PHI__MCP_SETTINGS_MESSAGE_LEAST)
        return "max_message_bytes: expected at least 4,096";
    if (desc->root_count > 0 && desc->roots == NULL) return "roots are missing";
    for (i = 0; i < desc->root_count; i++)
        if (desc->roots[i].uri == NULL || !phi__str_starts(phi_str_of(desc->roots[i].uri), "file:"))
            return "roots: each needs a uri that begins with file:";
    return desc->url != NULL ? phi__mcp_settings_refuse_url(desc) : NULL;
}

/* ---- copies ---- */

static bool phi__mcp_settings_text(phi_arena *arena, const char **text) {
    phi_str copy;
    if (*text == NULL) return true;
    if (!phi__arena_str(arena, phi_str_of(*text), &copy)) return false;
    *text = copy.at;
    return true;
}

static bool phi__mcp_settings_list(phi_arena *arena, const char *const **list) {
    const char **copy;
    size_t i, count = 0;
    if (*list == NULL) return true;
    while ((*list)[count] != NULL) count++;
    copy = (const char **)phi__arena_zero(arena, (count + 1) * sizeof *copy);
    if (copy == NULL) return false;
    for (i = 0; i < count; i++) {
        copy[i] = (*list)[i];
        if (!phi__mcp_settings_text(arena, &copy[i])) return false;
    }
    *list = copy;
    return true;
}

static bool phi__mcp_settings_headers(phi_arena *arena, phi_mcp_desc *desc) {
    size_t i, bytes = phi__mul(desc->header_count, sizeof(phi_mcp_pair));
    phi_mcp_pair *copy;
    if (desc->header_count == 0) return true;
    copy = (phi_mcp_pair *)phi_arena_alloc(arena, bytes);
    if (copy == NULL) return false;
    for (i = 0; i < desc->header_count; i++) {
        copy[i] = desc->headers[i];
        if (!phi__mcp_settings_text(arena, &copy[i].name) ||
            !phi__mcp_settings_text(arena, &copy[i].value))
            return false;
    }
    desc->headers = copy;
    return true;
}

static bool phi__mcp_settings_roots(phi_arena *arena, phi_mcp_desc *desc) {
    size_t i, bytes = phi__mul(desc->root_count, sizeof(phi_mcp_root));
    phi_mcp_root *copy;
    if (desc->root_count == 0) return true;
    copy = (phi_mcp_root *)phi_arena_alloc(arena, bytes);
    if (copy == NULL) return false;
    for (i = 0; i < desc->root_count; i++) {
        copy[i] = desc->roots[i];
        if (!phi__mcp_settings_text(arena, &copy[i].uri) ||
            !phi__mcp_settings_text(arena, &copy[i].name))
            return false;
    }
    desc->roots = copy;
    return true;
}

static void phi__mcp_settings_default(uint32_t *value, uint32_t by_default) {
    if (*value == 0) *value = by_default;
}

static void phi__mcp_settings_defaults(phi_mcp_desc *desc) {
    phi__mcp_settings_default(&desc->max_restarts, PHI__MCP_SETTINGS_RESTARTS);
    phi__mcp_settings_default(&desc->restart_delay_ms, PHI__MCP_SETTINGS_RESTART_MS);
    phi__mcp_settings_default(&desc->close_ms, PHI__MCP_SETTINGS_CLOSE_MS);
    phi__mcp_settings_default(&desc->connect_timeout_ms, PHI__MCP_SETTINGS_CONNECT_MS);
    phi__mcp_settings_default(&desc->timeout_ms, PHI__MCP_SETTINGS_TIMEOUT_MS);
    phi__mcp_settings_default(&desc->max_timeout_ms, PHI__MCP_SETTINGS_TIMEOUT_MOST_MS);
    phi__mcp_settings_default(&desc->max_list, PHI__MCP_SETTINGS_LIST);
    if (desc->max_timeout_ms < desc->timeout_ms) desc->max_timeout_ms = desc->timeout_ms;
    if (desc->max_message_bytes == 0) desc->max_message_bytes = PHI__MCP_SETTINGS_MESSAGE;
    if (desc->client_name == NULL) desc->client_name = "phi";
    if (desc->client_version == NULL) desc->client_version = PHI_VERSION;
}

PHI__FN bool phi__mcp_settings_copy(phi_arena *arena, const phi_mcp_desc *from, phi_mcp_desc *out) {
    *out = *from;
    phi__mcp_settings_defaults(out);
    return phi__mcp_settings_text(arena, &out->name) && phi__mcp_settings_text(arena, &out->url) &&
           phi__mcp_settings_text(arena, &out->cwd) && phi__mcp_settings_text(arena, &out->era) &&
           phi__mcp_settings_text(arena, &out->name_prefix) &&
           phi__mcp_settings_text(arena, &out->log_level) &&
           phi__mcp_settings_text(arena, &out->client_name) &&
           phi__mcp_settings_text(arena, &out->client_version) &&
           phi__mcp_settings_list(arena, &out->argv) && phi__mcp_settings_list(arena, &out->env) &&
           phi__mcp_settings_headers(arena, out) && phi__mcp_settings_roots(arena, out) &&
           (out->oauth == NULL || phi__mcp_oauth_copy(arena, out->oauth, &out->oauth));
}
