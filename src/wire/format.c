/* format.c - who can promise JSON, and how. One place for all protocols, so that a codec only writes its field.

   The rules are the providers' as of November 2026: Claude takes a schema from 4.5 on, in its strict form;
   Gemini takes one beside tools from 3 on; what Chat servers take are quirks of the model. Where there is no
   way, or the schema is more than the target takes, a tool stands in. wire.md parts 2 to 8. */
#include "wire/format_in.h"

#include "wire/anthropic_in.h"
#include "wire/bedrock_in.h"
#include "wire/gemini_in.h"
#include "wire/openai_chat_in.h"
#include "wire/render_in.h"
#include "wire/strict_in.h"

#include <stdio.h>

#define PHI__FORMAT_TOOL_WORDS                                                                     \
    "Gives your final answer: the arguments are the answer. Call it once, when nothing else is "   \
    "left to do."
#define PHI__FORMAT_TOOL_LINE                                                                      \
    "Give your final answer by calling the tool " PHI_RESPOND_TOOL                                 \
    ", once and as the last thing you do; the arguments are the answer."
#define PHI__FORMAT_OBJECT_LINE "Answer with one JSON object and nothing else."

enum {
    PHI__FORMAT_CLAUDE = 405, /* the first version that takes a schema */
    PHI__FORMAT_WHY = 300     /* bytes of what is wrong with one */
};

typedef enum phi__format_way {
    PHI__FORMAT_NATIVE,
    PHI__FORMAT_BY_TOOL,
    PHI__FORMAT_REFUSED
} phi__format_way;

/* ---- the schema ---- */

/* The schema in a strict form. PHI_BAD_ARG: it has none, and words say why. */
static phi_status phi__format_strict(phi_arena *arena, phi__strict_form form, const char **schema,
                                     char *words, size_t words_size) {
    phi__buf text;
    phi_str kept = {NULL, 0};
    char why[PHI__FORMAT_WHY];
    phi_status status = PHI_OK;
    phi__buf_init(&text, arena->memory);
    if (!phi__strict_schema(&text, phi_str_of(*schema), form, why, sizeof why))
        status = text.failed ? PHI_NO_MEMORY : PHI_BAD_ARG;
    else if (!phi__arena_str(arena, phi__buf_str(&text), &kept))
        status = PHI_NO_MEMORY;
    phi__buf_free(&text);
    if (status == PHI_OK) *schema = kept.at;
    if (status == PHI_BAD_ARG)
        (void)snprintf(words, words_size, "SchemaMismatch: format.schema: %s", why);
    return status;
}

/* ---- who can do what ---- */

static bool phi__format_is_claude(const phi__codec *codec) {
    return codec == phi__anthropic_codec() || codec == phi__bedrock_codec();
}

static bool phi__format_is_gemini(const phi__codec *codec) {
    return codec == phi__gemini_codec() || codec == phi__vertex_codec();
}

static bool phi__format_thinks(const phi__ask *ask) {
    return ask->model->reasoning && ask->thinking != PHI_THINKING_OFF;
}

static phi__format_way phi__format_chat_way(const phi__ask *ask) {
    uint32_t quirks = ask->model->quirks;
    if (ask->format.kind == PHI_FORMAT_JSON_SCHEMA && (quirks & PHI_QUIRK_NO_JSON_SCHEMA) != 0)
        return PHI__FORMAT_BY_TOOL;
    if (ask->tool_count > 0 && ask->tool_choice != PHI_TOOL_CHOICE_NONE &&
        (quirks & PHI_QUIRK_FORMAT_ALONE) != 0)
        return PHI__FORMAT_BY_TOOL;
    if ((quirks & PHI_QUIRK_ENABLE_THINKING) != 0 && phi__format_thinks(ask))
        return PHI__FORMAT_BY_TOOL; /* Qwen refuses both at once */
    return PHI__FORMAT_NATIVE;
}

static phi__format_way phi__format_way_of(const phi__codec *codec, const phi__ask *ask) {
    if (codec == phi__openai_chat_codec()) return phi__format_chat_way(ask);
    if (phi__format_is_gemini(codec))
        return ask->tool_count > 0 && phi__gemini_version(ask->model) < 30 ? PHI__FORMAT_BY_TOOL
                                                                           : PHI__FORMAT_NATIVE;
    if (codec == phi__bedrock_codec() && !phi__bedrock_claude(ask->model))
        return PHI__FORMAT_REFUSED;
    if (phi__format_is_claude(codec) &&
        (ask->format.kind != PHI_FORMAT_JSON_SCHEMA ||
         phi__claude_of(phi_str_of(ask->model->id)).version < PHI__FORMAT_CLAUDE))
        return PHI__FORMAT_BY_TOOL;
    return PHI__FORMAT_NATIVE;
}

/* Whether a tool choice that forces a call is refused. */
static bool phi__format_unforced(const phi__codec *codec, const phi__ask *ask) {
    static const char *const auto_only[] = {"moonshot", "zai"}; /* know no choice but "auto" */
    size_t i;
    if (phi__format_is_claude(codec)) {
        phi__anthropic_plan plan = phi__anthropic_plan_of(ask);
        return plan.thinks || plan.claude.no_forced_tool;
    }
    if (codec != phi__openai_chat_codec()) return false;
    for (i = 0; i < PHI__COUNT(auto_only); i++)
        if (phi__str_is(phi_str_of(ask->model->provider), auto_only[i])) return true;
    return phi__format_thinks(ask);
}

/* ---- what is sent instead ---- */

static bool phi__format_say(phi__ask *ask, phi_arena *arena, const char *line) {
    phi__buf text;
    bool done;
    phi__buf_init(&text, arena->memory);
    if (!phi__render_blank(ask->system_prompt)) {
        phi__buf_add_str(&text, ask->system_prompt);
        phi__buf_text(&text, "\n\n");
    }
    phi__buf_text(&text, line);
    done = !text.failed && phi__arena_str(arena, phi__buf_str(&text), &ask->system_prompt);
    phi__buf_free(&text);
    return done;
}

static phi_status phi__format_by_tool(const phi__codec *codec, phi__ask *ask, phi_arena *arena) {
    size_t n = ask->tool_choice == PHI_TOOL_CHOICE_NONE ? 0 : ask->tool_count;
    bool forced = !phi__format_unforced(codec, ask);
    phi__tool_view *tools =
        (phi__tool_view *)phi_arena_alloc(arena, phi__mul(phi__add(n, 1), sizeof *tools));
    if (tools == NULL) return PHI_NO_MEMORY;
    if (n > 0) memcpy(tools, ask->tools, n * sizeof *tools);
    memset(&tools[n], 0, sizeof tools[n]);
    tools[n].name = PHI__LIT(PHI_RESPOND_TOOL);
    tools[n].description = PHI__LIT(PHI__FORMAT_TOOL_WORDS);
    tools[n].schema = ask->format.kind == PHI_FORMAT_JSON_SCHEMA
                          ? phi_str_of(ask->format.schema)
                          : PHI__LIT("{\"type\":\"object\"}");
    tools[n].strict = ask->format.strict && ask->format.kind == PHI_FORMAT_JSON_SCHEMA;
    ask->tools = tools;
    ask->tool_count = n + 1;
    ask->tool_choice = forced ? PHI_TOOL_CHOICE_REQUIRED : PHI_TOOL_CHOICE_AUTO;
    ask->respond = true;
    ask->respond_only = forced && n == 0;
    memset(&ask->format, 0, sizeof ask->format);
    if (ask->respond_only || phi__format_say(ask, arena, PHI__FORMAT_TOOL_LINE)) return PHI_OK;
    return PHI_NO_MEMORY;
}

/* Chat wants the word in a message. LM Studio knows only schemas. Tools that may not be called are
   in the way of a format that must stand alone. */
static phi_status phi__format_chat(phi__ask *ask, phi_arena *arena) {
    if (ask->tool_choice == PHI_TOOL_CHOICE_NONE &&
        (ask->model->quirks & PHI_QUIRK_FORMAT_ALONE) != 0)
        ask->tool_count = 0;
    if (ask->format.kind != PHI_FORMAT_JSON_OBJECT) return PHI_OK;
    if (phi__str_is(phi_str_of(ask->model->provider), "lm_studio")) {
        ask->format.kind = PHI_FORMAT_JSON_SCHEMA;
        ask->format.schema = "{\"type\":\"object\"}";
    }
    return phi__format_say(ask, arena, PHI__FORMAT_OBJECT_LINE) ? PHI_OK : PHI_NO_MEMORY;
}

/* In the form that the target wants: Claude takes no other than its strict one. Google holds to any. */
static phi_status phi__format_schema(const phi__codec *codec, phi__ask *ask, phi_arena *arena,
                                     char *words, size_t words_size) {
    phi__strict_form form = phi__strict_form_of(codec, ask->model);
    if (ask->format.kind != PHI_FORMAT_JSON_SCHEMA || phi__format_is_gemini(codec)) return PHI_OK;
    if (phi__format_is_claude(codec))
        form = PHI__STRICT_ANTHROPIC;
    else if (!ask->format.strict)
        return PHI_OK;
    else if (form == PHI__STRICT_NONE)
        form = PHI__STRICT_PLAIN; /* what every server takes */
    return phi__format_strict(arena, form, &ask->format.schema, words, words_size);
}

/* ---- for the loop ---- */

PHI__FN phi_status phi__format_apply(const phi__codec *codec, phi__ask *ask, phi_arena *arena,
                                     char *words, size_t words_size) {
    phi__format_way way;
    phi_status status = PHI_OK;
    if (words_size > 0) words[0] = '\0';
    if (ask->format.kind == PHI_FORMAT_TEXT) return PHI_OK;
    way = phi__format_way_of(codec, ask);
    if (way == PHI__FORMAT_REFUSED) {
        (void)snprintf(words, words_size,
                       "SchemaMismatch: structured output is not available for the model %.200s",
                       ask->model->id);
        return PHI_BAD_ARG;
    }
    if (ask->format.name == NULL || ask->format.name[0] == '\0') ask->format.name = "response";
    if (way == PHI__FORMAT_NATIVE)
        status = phi__format_schema(codec, ask, arena, words, words_size);
    if (status == PHI_BAD_ARG && !ask->format.strict) {
        words[0] = '\0';
        way = PHI__FORMAT_BY_TOOL;
    } else if (status != PHI_OK)
        return status;
    if (way == PHI__FORMAT_BY_TOOL) return phi__format_by_tool(codec, ask, arena);
    return codec == phi__openai_chat_codec() ? phi__format_chat(ask, arena) : PHI_OK;
}
