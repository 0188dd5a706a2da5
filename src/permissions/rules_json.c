/* rules_json.c - rules of permissions out of JSON, and as JSON. */
#include "permissions/permissions.h"

#include "base/arena_in.h"
#include "base/buf_in.h"
#include "text/json_in.h"

#include <stdio.h>

/* Where the members of a rule are. */
typedef struct phi__rules_json_member {
    const char *name;
    size_t at;
} phi__rules_json_member;

static const phi__rules_json_member phi__rules_json_members[] = {
    {"tool", offsetof(phi_permission_rule, tool)},
    {"command", offsetof(phi_permission_rule, command)},
    {"with", offsetof(phi_permission_rule, with)},
    {"without", offsetof(phi_permission_rule, without)},
    {"piped", offsetof(phi_permission_rule, piped)},
    {"path", offsetof(phi_permission_rule, path)},
    {"host", offsetof(phi_permission_rule, host)},
    {"argument", offsetof(phi_permission_rule, argument)},
    {"matches", offsetof(phi_permission_rule, matches)},
    {"reason", offsetof(phi_permission_rule, reason)},
    {"options", offsetof(phi_permission_rule, options)},
    {"source", offsetof(phi_permission_rule, source)}};

static const char *const phi__rules_json_verdicts[] = {"ask", "allow", "deny"};

static const char **phi__rules_json_field(phi_permission_rule *rule, size_t i) {
    return (const char **)(void *)((char *)rule + phi__rules_json_members[i].at);
}

static phi_status phi__rules_json_refuse(phi_parse_error *error, const char *place, phi_str found,
                                         const char *expected) {
    if (error == NULL) return PHI_PARSE;
    memset(error, 0, sizeof *error);
    error->status = PHI_PARSE;
    if (found.len > 0)
        (void)snprintf(error->message, sizeof error->message, "%s \"%.*s\": expected %s", place,
                       (int)phi__min(found.len, 40), found.at, expected);
    else
        (void)snprintf(error->message, sizeof error->message, "%s: expected %s", place, expected);
    return PHI_PARSE;
}

static bool phi__rules_json_verdict(const phi_json *node, phi_permission *out) {
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__rules_json_verdicts); i++)
        if (phi__str_is(phi_json_str(node, ""), phi__rules_json_verdicts[i])) {
            *out = (phi_permission)i;
            return true;
        }
    return false;
}

/* One member of rules[index]. */
static phi_status phi__rules_json_take(const phi_json *node, phi_str key, size_t index,
                                       phi_permission_rule *out, phi_parse_error *error) {
    char place[64];
    size_t i;
    phi_str text = phi_json_str(node, "");
    if (phi__str_is(key, "verdict")) {
        (void)snprintf(place, sizeof place, "rules[%u].verdict", (unsigned)index);
        if (phi__rules_json_verdict(node, &out->verdict)) return PHI_OK;
        return phi__rules_json_refuse(error, place, text, "allow, ask or deny");
    }
    (void)snprintf(place, sizeof place, "rules[%u]: member", (unsigned)index);
    for (i = 0; i < PHI__COUNT(phi__rules_json_members); i++) {
        if (!phi__str_is(key, phi__rules_json_members[i].name)) continue;
        if (!phi_json_is(node, PHI_JSON_STRING) || memchr(text.at, '\0', text.len) != NULL)
            return phi__rules_json_refuse(error, place, key, "a string");
        *phi__rules_json_field(out, i) = text.at; /* terminated, in the arena */
        return PHI_OK;
    }
    return phi__rules_json_refuse(error, place, key,
                                  "verdict, tool, command, with, without, piped, path, host, "
                                  "argument, matches, reason, options or source");
}

static phi_status phi__rules_json_rule(const phi_json *node, size_t index, phi_permission_rule *out,
                                       phi_parse_error *error) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *member;
    phi_status status = PHI_OK;
    char place[64];
    (void)snprintf(place, sizeof place, "rules[%u]", (unsigned)index);
    if (!phi_json_is(node, PHI_JSON_OBJECT))
        return phi__rules_json_refuse(error, place, phi_str_of(phi__json_get_type_name(node)),
                                      "an object");
    memset(out, 0, sizeof *out);
    while (status == PHI_OK && (member = phi_json_next(&it)) != NULL)
        status = phi__rules_json_take(member, it.key, index, out, error);
    if (status == PHI_OK && phi_json_get(node, "verdict") == NULL)
        return phi__rules_json_refuse(error, place, phi__str("", 0), "a verdict");
    return status;
}

static phi_status phi__rules_json_list(phi_arena *arena, const phi_json *node,
                                       phi_permission_rules *out, phi_parse_error *error) {
    size_t n = phi_json_count(node), i;
    phi_json_iter it = phi_json_each(node);
    phi_permission_rule *rules;
    phi_status status = PHI_OK;
    if (!phi_json_is(node, PHI_JSON_ARRAY))
        return phi__rules_json_refuse(error, "rules", phi_str_of(phi__json_get_type_name(node)),
                                      "an array");
    rules = (phi_permission_rule *)phi_arena_alloc(arena, phi__mul(n + 1, sizeof *rules));
    if (rules == NULL) return PHI_NO_MEMORY;
    for (i = 0; i < n && status == PHI_OK; i++)
        status = phi__rules_json_rule(phi_json_next(&it), i, &rules[i], error);
    out->rules = rules;
    out->count = n;
    return status;
}

static phi_status phi__rules_json_read(phi_arena *arena, const phi_json *root,
                                       phi_permission_rules *out, phi_parse_error *error) {
    phi_json_iter it = phi_json_each(root);
    const phi_json *member;
    phi_status status = PHI_OK;
    if (!phi_json_is(root, PHI_JSON_OBJECT))
        return phi__rules_json_refuse(error, "permissions",
                                      phi_str_of(phi__json_get_type_name(root)), "an object");
    while (status == PHI_OK && (member = phi_json_next(&it)) != NULL) {
        if (phi__str_is(it.key, "rules"))
            status = phi__rules_json_list(arena, member, out, error);
        else if (!phi__str_is(it.key, "otherwise"))
            status = phi__rules_json_refuse(error, "member", it.key, "rules or otherwise");
        else if (!phi__rules_json_verdict(member, &out->otherwise))
            status = phi__rules_json_refuse(error, "otherwise", phi_json_str(member, ""),
                                            "allow, ask or deny");
    }
    return status;
}

static void phi__rules_json_put(phi__buf *out, const phi_permission_rule *rule) {
    phi_permission_rule copy = *rule;
    size_t i;
    phi__buf_text(out, "{\"verdict\":\"");
    phi__buf_text(
        out, phi__rules_json_verdicts[rule->verdict <= PHI_PERMISSION_DENY ? rule->verdict
                                                                           : PHI_PERMISSION_ASK]);
    phi__buf_char(out, '"');
    for (i = 0; i < PHI__COUNT(phi__rules_json_members); i++) {
        const char *text = *phi__rules_json_field(&copy, i);
        if (text == NULL) continue;
        phi__buf_text(out, ",\"");
        phi__buf_text(out, phi__rules_json_members[i].name);
        phi__buf_text(out, "\":");
        phi__json_write_str(out, phi_str_of(text));
    }
    phi__buf_char(out, '}');
}

/* ---- public ---- */

PHI_API phi_status phi_permissions_from_json(phi_str json, phi_arena *arena,
                                             phi_permission_rules *out, phi_parse_error *error) {
    phi_arena_mark mark;
    phi_json *root = NULL;
    phi_status status;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    mark = phi_arena_save(arena);
    memset(out, 0, sizeof *out);
    status = phi_json_parse(arena, json, 0, &root, error);
    if (status == PHI_OK) status = phi__rules_json_read(arena, root, out, error);
    if (status != PHI_OK) {
        phi_arena_reset(arena, mark);
        memset(out, 0, sizeof *out);
    }
    return status;
}

PHI_API phi_status phi_permissions_to_json(const phi_permission_rules *rules, phi_arena *arena,
                                           phi_str *out) {
    phi__buf buf;
    bool good;
    size_t i;
    if (arena == NULL || rules == NULL || out == NULL) return PHI_BAD_ARG;
    phi__buf_init(&buf, arena->memory);
    phi__buf_text(&buf, "{\"rules\":[");
    for (i = 0; i < rules->count; i++) {
        phi__buf_text(&buf, i > 0 ? ",\n" : "\n");
        phi__rules_json_put(&buf, &rules->rules[i]);
    }
    phi__buf_text(&buf, "\n],\"otherwise\":\"");
    phi__buf_text(&buf, phi__rules_json_verdicts[rules->otherwise]);
    phi__buf_text(&buf, "\"}\n");
    good = !buf.failed && phi__arena_str(arena, phi__buf_str(&buf), out);
    phi__buf_free(&buf);
    return good ? PHI_OK : PHI_NO_MEMORY;
}
