/* skills_prompt.c - the index of skills, as a system prompt holds it. */
#include "skills/skills_in.h"

#ifndef PHI_NO_FILES

enum { PHI__SKILLS_PROMPT_CHARACTERS = 1024 }; /* of a description; the AgentSkills standard */

static void phi__skills_prompt_escape(phi__buf *out, phi_str text) {
    size_t i, from = 0;
    for (i = 0; i < text.len; i++) {
        const char *entity = NULL;
        switch (text.at[i]) {
        case '&': entity = "&amp;"; break;
        case '<': entity = "&lt;"; break;
        case '>': entity = "&gt;"; break;
        case '"': entity = "&quot;"; break;
        case '\'': entity = "&apos;"; break;
        default: continue;
        }
        phi__buf_add(out, text.at + from, i - from);
        phi__buf_text(out, entity);
        from = i + 1;
    }
    phi__buf_add(out, text.at + from, text.len - from);
}

static void phi__skills_prompt_field(phi__buf *out, const char *name, phi_str text) {
    phi__buf_printf(out, "    <%s>", name);
    phi__skills_prompt_escape(out, text);
    phi__buf_printf(out, "</%s>\n", name);
}

/* A description that breaks the standard's limit must not fill the prompt. */
static phi_str phi__skills_prompt_cut(phi_str text) {
    size_t at = 0, characters = 0;
    while (at < text.len && characters < PHI__SKILLS_PROMPT_CHARACTERS) {
        at++;
        while (at < text.len && ((unsigned char)text.at[at] & 0xC0) == 0x80) at++;
        characters++;
    }
    return phi__str(text.at, at);
}

static void phi__skills_prompt_index(const phi_skills *skills, phi__buf *out) {
    size_t i;
    if (skills->count == 0) return;
    phi__buf_text(out, "<available_skills>\n");
    for (i = 0; i < skills->count; i++) {
        phi__buf_text(out, "  <skill>\n");
        phi__skills_prompt_field(out, "name", skills->list[i]->name);
        phi__skills_prompt_field(out, "description",
                                 phi__skills_prompt_cut(skills->list[i]->description));
        phi__skills_prompt_field(out, "location", skills->list[i]->file_path);
        phi__buf_text(out, "  </skill>\n");
    }
    phi__buf_text(out, "</available_skills>");
}

/* Into the arena, and the buffer is freed. */
static phi_status phi__skills_prompt_give(phi__buf *text, phi_arena *arena, phi_str *out) {
    bool done = !text->failed && phi__arena_str(arena, phi__buf_str(text), out);
    phi__buf_free(text);
    return done ? PHI_OK : PHI_NO_MEMORY;
}

static const char *phi__skills_prompt_hint(phi_skills_hint hint) {
    switch (hint) {
    case PHI_SKILLS_READ_SKILL:
        return "These skills hold instructions for particular tasks. Before a task that the "
               "description of a skill matches, read the skill with read_skill and follow it.";
    case PHI_SKILLS_READ_FILE:
        return "These skills hold instructions for particular tasks. Before a task that the "
               "description of a skill matches, read the file at its location with read_file and "
               "follow it. Paths in it are relative to the directory of that file, which it calls "
               "{baseDir}.";
    case PHI_SKILLS_NO_HINT: break;
    }
    return "";
}

/* ---- public ---- */

PHI_API phi_status phi_skills_prompt(const phi_skills *skills, phi_skills_hint hint,
                                     const char *base, phi_arena *arena, phi_str *out) {
    const char *words = phi__skills_prompt_hint(hint);
    phi__buf text;
    if (skills == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi__buf_init(&text, arena->memory);
    if (base != NULL) phi__buf_text(&text, base);
    if (skills->count > 0) {
        if (text.len > 0) phi__buf_text(&text, "\n\n");
        phi__buf_text(&text, words);
        if (words[0] != '\0') phi__buf_text(&text, "\n\n");
        phi__skills_prompt_index(skills, &text);
    }
    return phi__skills_prompt_give(&text, arena, out);
}

#endif
