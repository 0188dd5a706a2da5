/* config_prompt.c - system prompts: a text, a file, or blocks in the slots of a strategy. */
#include "config/config_agents_in.h"

#include "system/files_in.h"
#include "agent/agent.h"
#include "agent/profile.h"
#include "agent/profile_in.h"

/* The place of a prompt, and where its files are. */
typedef struct phi__config_prompt_place {
    phi__config_ground *ground;
    const char *workspace;
} phi__config_prompt_place;

#ifndef PHI_NO_FILES
static phi_status phi__config_prompt_bytes(phi_memory *memory, const char *path, phi__buf *out,
                                           phi__words *words) {
    phi__file *file;
    size_t got = 1;
    phi_status status = phi__files_open_read(memory, path, PHI__LINKS_FOLLOW, &file, words);
    if (status != PHI_OK) return status;
    while (status == PHI_OK && got > 0) {
        char *at = phi__buf_reserve(out, 4096);
        if (at == NULL) break;
        status = phi__files_read(file, at, 4096, &got, words);
        if (status == PHI_OK) phi__buf_add_len(out, got);
        if (out->len > PHI__CONFIG_PROMPT_BYTES) status = PHI_TOO_BIG;
    }
    phi__files_close(file);
    return out->failed ? PHI_NO_MEMORY : status;
}
#endif

static phi_status phi__config_prompt_file(const phi__config_prompt_place *place,
                                          const phi_json *node, const char *name,
                                          const char **out) {
    phi__config_ground *ground = place->ground;
#ifndef PHI_NO_FILES
    const char *path = phi__config_place_join(ground->arena, place->workspace, name);
    phi__words words;
    phi__buf bytes;
    phi_str text;
    phi_status status;
    if (path == NULL) return PHI_NO_MEMORY;
    phi__buf_init(&bytes, ground->memory);
    words.text[0] = '\0';
    status = phi__config_prompt_bytes(ground->memory, path, &bytes, &words);
    if (status == PHI_TOO_BIG) {
        phi__config_words_error(ground, node, status, NULL,
                                "the file \"%s\" is longer than 1 MiB, the most of a system prompt",
                                path);
        status = PHI_OK;
    } else if (status != PHI_OK && status != PHI_NO_MEMORY) {
        phi__config_words_error(ground, node, status, NULL,
                                "cannot read \"%s\": %s; correct the path behind \"file:\", which "
                                "is relative to the agent's workspace, or write the text itself",
                                path, words.text);
        status = PHI_OK;
    } else if (status == PHI_OK && bytes.len > 0 && memchr(bytes.at, '\0', bytes.len) != NULL) {
        phi__config_words_error(ground, node, PHI_PARSE, NULL,
                                "the file \"%s\" is no text: it has a zero byte", path);
    } else if (status == PHI_OK) {
        while (bytes.len > 0 && bytes.at[bytes.len - 1] == '\n') bytes.len--;
        if (!phi__arena_str(ground->arena, phi__buf_str(&bytes), &text)) status = PHI_NO_MEMORY;
        if (status == PHI_OK && text.len > 0) *out = text.at;
    }
    phi__buf_free(&bytes);
    return status;
#else
    (void)name;
    (void)out;
    phi__config_words_error(ground, node, PHI_UNSUPPORTED, NULL,
                            "\"file:\" needs files, which PHI_NO_FILES leaves out");
    return PHI_OK;
#endif
}

/* A text of its own, or a file. */
static phi_status phi__config_prompt_text(const phi__config_prompt_place *place,
                                          const phi_json *node, const char **out) {
    phi_str text = phi_json_str(node, "");
    if (phi__str_starts(text, "file:"))
        return phi__config_prompt_file(place, node, text.at + strlen("file:"), out);
    if (text.len > 0) *out = text.at;
    return PHI_OK;
}

static phi_status phi__config_prompt_slots(phi__config_ground *ground, const phi_json *node,
                                           const phi__profile_slot **out, size_t *count) {
    const phi_json *blocks = phi_json_get(node, "blocks"), *item;
    phi_json_iter it = phi_json_each(blocks);
    size_t n = phi_json_count(blocks), i = 0;
    phi__profile_slot *slots =
        (phi__profile_slot *)phi_arena_alloc(ground->arena, phi__mul(n + 1, sizeof *slots));
    if (slots == NULL) return PHI_NO_MEMORY;
    while ((item = phi_json_next(&it)) != NULL) {
        phi__config_prompt_block block;
        memset(&block, 0, sizeof block);
        if (!phi__config_take(ground->arena, item, phi__config_tables_prompt_block(), &block))
            return PHI_NO_MEMORY;
        if (block.name == NULL) continue;
        slots[i].name = block.name;
        slots[i].order = block.order;
        slots[i++].max_length = (size_t)block.max_length;
    }
    *out = slots;
    *count = i;
    return PHI_OK;
}

/* The slots of a strategy of the file, or of one that phi has. */
static phi_status phi__config_prompt_strategy_of(phi__config_ground *ground, const char *type,
                                                 const phi__profile_slot **out, size_t *count) {
    const phi_json *node =
        phi__config_refs_find(ground->config, "system_prompt_strategy", type != NULL ? type : "");
    if (node != NULL) return phi__config_prompt_slots(ground, node, out, count);
    *out = type != NULL && phi__str_find(phi_str_of(type), 0, "minimal") != SIZE_MAX
               ? phi__profile_slots_minimal(count)
               : phi__profile_slots_agent(count);
    return PHI_OK;
}

static phi_status phi__config_prompt_compose(const phi__config_prompt_place *place,
                                             const phi_json *prompt, const char **out) {
    phi__config_ground *ground = place->ground;
    phi__profile_block *blocks = (phi__profile_block *)phi_arena_alloc(
        ground->arena, phi__mul(phi_json_count(prompt) + 1, sizeof *blocks));
    phi_json_iter it = phi_json_each(prompt);
    const phi__profile_slot *slots = NULL;
    const phi_json *member;
    size_t count = 0, slot_count = 0;
    phi_str text = PHI__LIT(""), key;
    phi_status status = blocks != NULL ? PHI_OK : PHI_NO_MEMORY;
    while (status == PHI_OK && (member = phi_json_next(&it)) != NULL) {
        const char *words = NULL;
        if (phi__config_fields_find(phi__config_tables_prompt(), it.key, NULL) != NULL) continue;
        if (!phi__arena_str(ground->arena, it.key, &key)) return PHI_NO_MEMORY;
        status = phi__config_prompt_text(place, member, &words);
        blocks[count].name = key.at;
        blocks[count].text = words != NULL ? words : "";
        if (words != NULL) count++;
    }
    if (status == PHI_OK)
        status = phi__config_prompt_strategy_of(
            ground, phi_json_str(phi_json_get(prompt, "type"), "").at, &slots, &slot_count);
    if (status == PHI_OK)
        status = phi__profile_compose(slots, slot_count, blocks, count, ground->arena, &text);
    if (status == PHI_OK && text.len > 0) *out = text.at;
    return status;
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__config_prompt_make(phi__config_ground *ground, const phi_json *node,
                                           const char *workspace, const char **out) {
    phi__config_prompt_place place;
    const phi_json *prompt;
    *out = NULL;
    if (!phi_json_is(node, PHI_JSON_STRING)) return PHI_OK;
    place.ground = ground;
    place.workspace = workspace;
    prompt = phi__config_refs_find(ground->config, "system_prompt", phi_json_str(node, "").at);
    if (prompt != NULL) return phi__config_prompt_compose(&place, prompt, out);
    return phi__config_prompt_text(&place, node, out);
}
