/* mcp_known.c - the definitions of tools that were offered. */
#include "mcp/mcp_known_in.h"

#include "base/sha256_in.h"
#include "wire/hash_in.h"

static bool phi__mcp_known_copy(phi__mcp_known *known, phi_str from, phi_str *out) {
    char *text = (char *)phi__realloc(known->memory, NULL, 0, from.len + 1);
    if (text == NULL) return false;
    if (from.len > 0) memcpy(text, from.at, from.len);
    text[from.len] = '\0';
    *out = phi__str(text, from.len);
    known->bytes += from.len;
    return true;
}

static void phi__mcp_known_drop_text(phi__mcp_known *known, phi_str *text) {
    if (text->at != NULL) phi__free(known->memory, (char *)(uintptr_t)text->at, text->len + 1);
    known->bytes -= text->len;
    *text = phi__str(NULL, 0);
}

static void phi__mcp_known_drop(phi__mcp_known *known, phi__mcp_known_tool *tool) {
    phi__map_drop(&known->map, phi__hash(tool->name, 0), tool);
    phi__list_take(&known->tools, &tool->link);
    known->count--;
    phi__mcp_known_drop_text(known, &tool->name);
    phi__mcp_known_drop_text(known, &tool->definition);
    phi__mcp_known_drop_text(known, &tool->waiting);
    phi__free(known->memory, tool, sizeof *tool);
}

static phi__mcp_known_tool *phi__mcp_known_add(phi__mcp_known *known, phi_str name,
                                               phi_str definition) {
    phi__mcp_known_tool *tool;
    if (!phi__map_room(&known->map)) return NULL;
    tool = (phi__mcp_known_tool *)phi__alloc(known->memory, sizeof *tool);
    if (tool == NULL) return NULL;
    if (!phi__mcp_known_copy(known, name, &tool->name) ||
        !phi__mcp_known_copy(known, definition, &tool->definition)) {
        phi__mcp_known_drop_text(known, &tool->name);
        phi__free(known->memory, tool, sizeof *tool);
        return NULL;
    }
    phi__map_add(&known->map, phi__hash(tool->name, 0), tool);
    phi__list_push(&known->tools, &tool->link);
    known->count++;
    return tool;
}

PHI__FN void phi__mcp_known_init(phi__mcp_known *known, phi_memory *memory) {
    memset(known, 0, sizeof *known);
    known->memory = memory;
    known->round = 1;
    phi__map_init(&known->map, memory);
}

PHI__FN void phi__mcp_known_free(phi__mcp_known *known) {
    while (known->tools.first != NULL)
        phi__mcp_known_drop(known, PHI__OWNER(known->tools.first, phi__mcp_known_tool, link));
    phi__map_free(&known->map);
}

PHI__FN phi__mcp_known_tool *phi__mcp_known_find(const phi__mcp_known *known, phi_str name) {
    phi__mcp_known_tool *tool;
    size_t probe = 0;
    while ((tool = (phi__mcp_known_tool *)phi__map_each(&known->map, phi__hash(name, 0), &probe)) !=
           NULL)
        if (phi_str_equal(tool->name, name)) return tool;
    return NULL;
}

PHI__FN phi__mcp_known_tool *phi__mcp_known_offer(phi__mcp_known *known, phi_str name,
                                                  phi_str definition, phi_str *before) {
    phi__mcp_known_tool *tool = phi__mcp_known_find(known, name);
    unsigned char hash[PHI__SHA256_BYTES];
    phi_str copy;
    *before = phi__str(NULL, 0);
    if (tool == NULL) tool = phi__mcp_known_add(known, name, definition);
    if (tool == NULL) return NULL;
    phi__list_take(&known->tools, &tool->link);
    phi__list_push(&known->tools, &tool->link);
    tool->round = known->round;
    if (phi_str_equal(tool->definition, definition)) {
        phi__mcp_known_drop_text(known, &tool->waiting);
        return tool;
    }
    if (tool->waiting.at != NULL && phi_str_equal(tool->waiting, definition)) return tool;
    if (!phi__mcp_known_copy(known, definition, &copy)) return NULL;
    phi__mcp_known_drop_text(known, &tool->waiting);
    tool->waiting = copy;
    phi__sha256_of(definition, hash);
    phi__sha256_hex(hash, tool->waiting_hash);
    *before = tool->definition;
    return tool;
}

PHI__FN void phi__mcp_known_accept(phi__mcp_known *known, phi__mcp_known_tool *tool) {
    if (tool->waiting.at == NULL) return;
    phi__mcp_known_drop_text(known, &tool->definition);
    tool->definition = tool->waiting;
    tool->waiting = phi__str(NULL, 0);
}

PHI__FN void phi__mcp_known_round(phi__mcp_known *known, size_t most, size_t most_bytes) {
    while ((known->count > most || known->bytes > most_bytes) && known->tools.first != NULL) {
        phi__mcp_known_tool *oldest = PHI__OWNER(known->tools.first, phi__mcp_known_tool, link);
        if (oldest->round == known->round) break;
        phi__mcp_known_drop(known, oldest);
    }
    known->round++;
}
