/* skill_rules.c - the rules of the AgentSkills standard for the fields of a SKILL.md.

   Lengths count characters. Letters beyond ASCII are allowed, as the standard's validator does; the
   alphabets that have capitals most often are known here, others count as lower case. */
#include "skills/skills_in.h"

#ifndef PHI_NO_FILES

#include <stdarg.h>
#include <stdio.h>

enum {
    PHI__SKILL_RULES_NAME = 64, /* characters; the AgentSkills standard, as the two below */
    PHI__SKILL_RULES_DESCRIPTION = 1024,
    PHI__SKILL_RULES_COMPATIBILITY = 500,
    PHI__SKILL_RULES_WORDS = 240
};

/* ---- characters ---- */

/* The character at *at of valid UTF-8, which it moves behind it. */
static uint32_t phi__skill_rules_next(phi_str text, size_t *at) {
    unsigned char c = (unsigned char)text.at[(*at)++];
    uint32_t code = c < 0x80 ? c : c < 0xE0 ? c & 0x1Fu : c < 0xF0 ? c & 0x0Fu : c & 0x07u;
    while (*at < text.len && ((unsigned char)text.at[*at] & 0xC0) == 0x80)
        code = code << 6 | ((unsigned char)text.at[(*at)++] & 0x3Fu);
    return code;
}

static size_t phi__skill_rules_length(phi_str text) {
    size_t n = 0, at = 0;
    while (at < text.len) {
        (void)phi__skill_rules_next(text, &at);
        n++;
    }
    return n;
}

static bool phi__skill_rules_capital(uint32_t c) {
    if (c < 0x80) return c >= 'A' && c <= 'Z';
    if (c >= 0xC0 && c <= 0xDE) return c != 0xD7;    /* Latin-1 */
    if (c >= 0x100 && c <= 0x137) return c % 2 == 0; /* Latin Extended-A */
    if (c >= 0x139 && c <= 0x148) return c % 2 == 1;
    if (c >= 0x14A && c <= 0x177) return c % 2 == 0;
    if (c >= 0x391 && c <= 0x3A9) return true; /* Greek */
    if (c >= 0x400 && c <= 0x42F) return true; /* Cyrillic */
    if (c >= 0x460 && c <= 0x481) return c % 2 == 0;
    return c >= 0x531 && c <= 0x556; /* Armenian */
}

/* Letters and digits; beyond ASCII all but signs, punctuation and pictures. */
static bool phi__skill_rules_letter(uint32_t c) {
    static const uint32_t others[][2] = {
        {0x80, 0xA9},     {0xAB, 0xB1},     {0xB4, 0xB4},       {0xB6, 0xB8},
        {0xBB, 0xBB},     {0xBF, 0xBF},     {0xD7, 0xD7},       {0xF7, 0xF7},
        {0x2000, 0x206F}, {0x20A0, 0x20CF}, {0x2190, 0x245F},   {0x2500, 0x2BFF},
        {0x2E00, 0x2E7F}, {0x3000, 0x3004}, {0x3008, 0x3020},   {0xD800, 0xF8FF},
        {0xFE00, 0xFE6F}, {0xFF01, 0xFF0F}, {0x1F000, 0x1FAFF}, {0xE0000, 0x10FFFF}};
    size_t i;
    if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    for (i = 0; i < PHI__COUNT(others); i++)
        if (c >= others[i][0] && c <= others[i][1]) return false;
    return true;
}

/* ---- reports ---- */

PHI_PRINTF(4, 5)
static void phi__skill_rules_say(const phi__skill_rules *rules, const char *key, bool fatal,
                                 const char *format, ...) {
    char words[PHI__SKILL_RULES_WORDS];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(words, sizeof words, format, args);
    va_end(args);
    rules->fault(rules->ctx, key, words, fatal);
}

/* ---- fields ---- */

/* The text of a field that must be there; false: it is not, and that was reported. */
static bool phi__skill_rules_required(const phi__skill_rules *rules, const char *key,
                                      phi_str *out) {
    const phi_json *node = phi_json_get(rules->root, key);
    if (node == NULL) {
        phi__skill_rules_say(rules, key, true, "the field \"%s\" is missing", key);
        return false;
    }
    *out = phi__str_trim(phi_json_str(node, NULL));
    if (phi_json_is(node, PHI_JSON_STRING) && out->len > 0) return true;
    phi__skill_rules_say(rules, key, true, "%s: expected a text that is not empty", key);
    return false;
}

static void phi__skill_rules_length_of(const phi__skill_rules *rules, const char *key, phi_str text,
                                       size_t most) {
    size_t n = phi__skill_rules_length(text);
    if (n > most)
        phi__skill_rules_say(rules, key, false, "%s: %llu characters, expected at most %llu", key,
                             (unsigned long long)n, (unsigned long long)most);
}

static void phi__skill_rules_name_of(const phi__skill_rules *rules, phi_str name) {
    size_t at = 0;
    bool capitals = false, others = false;
    int shown = (int)phi__min(name.len, 80);
    phi__skill_rules_length_of(rules, "name", name, PHI__SKILL_RULES_NAME);
    while (at < name.len) {
        uint32_t c = phi__skill_rules_next(name, &at);
        capitals = capitals || phi__skill_rules_capital(c);
        others = others || (c != '-' && !phi__skill_rules_letter(c));
    }
    if (capitals)
        phi__skill_rules_say(rules, "name", false, "name \"%.*s\": expected lower case", shown,
                             name.at);
    if (others)
        phi__skill_rules_say(rules, "name", false,
                             "name \"%.*s\": expected letters, digits and hyphens alone", shown,
                             name.at);
    if (name.at[0] == '-' || name.at[name.len - 1] == '-')
        phi__skill_rules_say(rules, "name", false,
                             "name \"%.*s\": expected no hyphen at its beginning or end", shown,
                             name.at);
    if (phi__str_find(name, 0, "--") != SIZE_MAX)
        phi__skill_rules_say(rules, "name", false,
                             "name \"%.*s\": expected no two hyphens in a row", shown, name.at);
    if (!phi_str_equal(name, rules->directory))
        phi__skill_rules_say(
            rules, "name", false,
            "name \"%.*s\": expected the name of its directory, \"%.*s\", which is "
            "used",
            shown, name.at, (int)phi__min(rules->directory.len, 80), rules->directory.at);
}

static void phi__skill_rules_compatibility(const phi__skill_rules *rules) {
    const phi_json *node = phi_json_get(rules->root, "compatibility");
    if (node == NULL) return;
    if (!phi_json_is(node, PHI_JSON_STRING))
        phi__skill_rules_say(rules, "compatibility", false, "compatibility: expected a text");
    else
        phi__skill_rules_length_of(rules, "compatibility", phi_json_str(node, NULL),
                                   PHI__SKILL_RULES_COMPATIBILITY);
}

static void phi__skill_rules_unknown(const phi__skill_rules *rules) {
    static const char *const known[] = {"name",          "description", "license",
                                        "compatibility", "metadata",    "allowed-tools"};
    phi_json_iter it = phi_json_each(rules->root);
    while (phi_json_next(&it) != NULL) {
        char key[64];
        size_t i = 0;
        while (i < PHI__COUNT(known) && !phi__str_is(it.key, known[i])) i++;
        if (i < PHI__COUNT(known)) continue;
        (void)snprintf(key, sizeof key, "%.*s", (int)phi__min(it.key.len, sizeof key - 1),
                       it.key.at);
        phi__skill_rules_say(rules, key, false,
                             "unknown field \"%s\": expected name, description, license, "
                             "compatibility, metadata or allowed-tools",
                             key);
    }
}

PHI__FN void phi__skill_rules_check(const phi__skill_rules *rules) {
    phi_str text;
    phi__skill_rules_unknown(rules);
    if (phi__skill_rules_required(rules, "name", &text)) phi__skill_rules_name_of(rules, text);
    if (phi__skill_rules_required(rules, "description", &text))
        phi__skill_rules_length_of(rules, "description", text, PHI__SKILL_RULES_DESCRIPTION);
    phi__skill_rules_compatibility(rules);
}

#endif
