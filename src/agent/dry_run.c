/* dry_run.c - prepares a caller's transcript, tools and settings for the codecs' own checks. */
#include "agent/dry_run.h"

#include "agent/agent_in.h"
#include "model/message_in.h"
#include "wire/codec_in.h"
#include "wire/extra_in.h"
#include "wire/format_in.h"
#include "wire/takes_in.h"
#include "wire/strict_in.h"

#include <stdarg.h>
#include <stdio.h>

static bool phi__dry_run_items(phi__request_spec *spec, const phi_message *messages, size_t count,
                               phi_arena *scratch) {
    phi__item *items =
        (phi__item *)phi__arena_zero(scratch, phi__mul(phi__max(count, 1), sizeof *items));
    size_t i;
    if (items == NULL) return false;
    for (i = 0; i < count; i++) items[i].message = &messages[i];
    spec->items = items;
    spec->item_count = count;
    return true;
}

static bool phi__dry_run_tools(phi__request_spec *spec, const phi_tool *tools, size_t count,
                               phi_arena *scratch) {
    phi__tool_view *views =
        (phi__tool_view *)phi__arena_zero(scratch, phi__mul(phi__max(count, 1), sizeof *views));
    size_t i;
    if (views == NULL) return false;
    for (i = 0; i < count; i++) {
        views[i].name = phi_str_of(tools[i].name);
        views[i].description = phi_str_of(tools[i].description);
        views[i].schema = tools[i].schema != NULL ? phi_str_of(tools[i].schema)
                                                  : PHI__LIT("{\"type\":\"object\"}");
        views[i].strict = tools[i].strict ? phi__format_ops() : NULL;
        views[i].is_raw = tools[i].raw != NULL && tools[i].schema == NULL;
    }
    spec->tools = views;
    spec->tool_count = count;
    return true;
}

/* A codec expects every string of a model but its key. */
static phi_model phi__dry_run_model(const phi_model *model) {
    phi_model filled = *model;
    if (filled.id == NULL) filled.id = "";
    if (filled.name == NULL) filled.name = filled.id;
    if (filled.provider == NULL) filled.provider = filled.protocol;
    filled.provider =
        phi__message_read_provider(phi_str_of(filled.provider), phi_str_of(filled.protocol)).at;
    if (filled.base_url == NULL) filled.base_url = "";
    return filled;
}

/* NULL: there is none, and words say why. */
static const phi__codec *phi__dry_run_codec(const phi_model *model, char *words,
                                            size_t words_size) {
    const phi__codec *codec = phi__codec_of(NULL, model);
    if (codec == NULL)
        (void)snprintf(words, words_size, "No provider registered for protocol: %s",
                       model->protocol);
    return codec;
}

/* ---- settings ---- */

/* Appends to words, which are terminated. */
static void phi__dry_run_say(char *words, size_t words_size, const char *format, ...)
    PHI_PRINTF(3, 4);

static void phi__dry_run_say(char *words, size_t words_size, const char *format, ...) {
    size_t n = strlen(words);
    va_list args;
    if (n > 0 && n + 2 < words_size) {
        memcpy(words + n, "; ", 3);
        n += 2;
    }
    va_start(args, format);
    (void)vsnprintf(words + n, words_size - n, format, args);
    va_end(args);
}

/* Raw tools that are for another protocol. */
static void phi__dry_run_raws(const phi__codec *codec, const phi_agent_desc *desc, char *words,
                              size_t words_size) {
    size_t i;
    for (i = 0; i < desc->tool_options.raw_tool_count; i++)
        if (!phi__codec_is(codec->names, phi_str_of(desc->tool_options.raw_tools[i].protocol)))
            phi__dry_run_say(words, words_size, "tool_options.raw_tools[%u] is for %s", (unsigned)i,
                             desc->tool_options.raw_tools[i].protocol != NULL
                                 ? desc->tool_options.raw_tools[i].protocol
                                 : "no protocol");
    for (i = 0; i < desc->tool_count; i++)
        if (desc->tools[i].raw != NULL && desc->tools[i].schema == NULL &&
            !phi__codec_is(codec->names, phi_str_of(desc->tools[i].raw_protocol)))
            phi__dry_run_say(words, words_size, "tool \"%s\" is not sent", desc->tools[i].name);
}

/* The members of both extras that phi writes always, or into this head. */
static phi_status phi__dry_run_extra(const phi__codec *codec, phi__request_spec *spec,
                                     const phi_agent_desc *desc, phi_arena *scratch, char *words,
                                     size_t words_size) {
    const char *const extras[] = {desc->model.extra, desc->options.extra};
    static const char *const names[] = {"model.extra", "options.extra"};
    char fault[240];
    phi__encoder e;
    phi_status status = PHI_OK;
    size_t i;
    for (i = 0; i < 2 && status == PHI_OK; i++) {
        if (extras[i] == NULL) continue;
        status =
            phi__extra_check(codec, scratch->memory, phi_str_of(extras[i]), fault, sizeof fault);
        if (status == PHI_BAD_ARG) (void)snprintf(words, words_size, "%s%s", names[i], fault);
    }
    if (status != PHI_OK || (extras[0] == NULL && extras[1] == NULL)) return status;
    if (!phi__extra_join(scratch, phi_str_of(extras[0]), phi_str_of(extras[1]), &spec->extra))
        return PHI_NO_MEMORY;
    phi__encoder_begin(&e, codec, spec, scratch);
    status = phi__encoder_advance(&e, 1);
    phi__encoder_free(&e);
    if (status == PHI_BAD_ARG) (void)snprintf(words, words_size, "%s", e.refused);
    return status == PHI_BUSY ? PHI_OK : status;
}

static phi_status phi__dry_run_settings(const phi_agent_desc *desc, phi_arena *scratch, char *words,
                                        size_t words_size) {
    phi__request_spec spec;
    phi_model filled;
    const phi__codec *codec;
    const char *fault;
    phi_status status;
    if (desc->model.protocol == NULL) return PHI_BAD_ARG;
    codec = phi__dry_run_codec(&desc->model, words, words_size);
    if (codec == NULL) return PHI_UNSUPPORTED;
    fault = phi__takes_fault(&desc->options);
    if (fault != NULL) {
        (void)snprintf(words, words_size, "%s", fault);
        return PHI_BAD_ARG;
    }
    filled = phi__dry_run_model(&desc->model);
    memset(&spec, 0, sizeof spec);
    spec.model = &filled;
    spec.thinking = desc->thinking;
    spec.max_tokens = desc->max_tokens;
    spec.temperature = desc->options.has_temperature ? desc->options.temperature : -1.0;
    spec.options = desc->options;
    spec.texts = desc->texts;
    status = phi__dry_run_extra(codec, &spec, desc, scratch, words, words_size);
    if (status != PHI_OK) return status;
    status = phi__takes_preflight(codec, &spec, words, words_size);
    phi__dry_run_raws(codec, desc, words, words_size);
    return words[0] == '\0' ? PHI_OK : PHI_UNSUPPORTED;
}

/* ---- a transcript ---- */

static phi_status phi__dry_run_transcript(const phi_preflight_desc *desc, phi_arena *scratch,
                                          char *words, size_t words_size) {
    phi_model filled;
    phi__request_spec spec;
    const phi__codec *codec;
    phi_status status = PHI_NO_MEMORY;
    size_t i;
    if (desc->model->protocol == NULL || (desc->messages == NULL && desc->message_count > 0) ||
        (desc->tools == NULL && desc->tool_count > 0))
        return PHI_BAD_ARG;
    codec = phi__dry_run_codec(desc->model, words, words_size);
    if (codec == NULL) return PHI_UNSUPPORTED;
    for (i = 0; i < desc->message_count; i++)
        if (desc->messages[i].content == NULL && desc->messages[i].content_count > 0) {
            (void)snprintf(words, words_size, "messages[%llu]: content is missing",
                           (unsigned long long)i);
            return PHI_BAD_ARG;
        }
    filled = phi__dry_run_model(desc->model);
    memset(&spec, 0, sizeof spec);
    spec.model = &filled;
    spec.temperature = -1.0;
    if (phi__dry_run_items(&spec, desc->messages, desc->message_count, scratch) &&
        phi__dry_run_tools(&spec, desc->tools, desc->tool_count, scratch))
        status = phi__preflight(codec, &spec, words, words_size);
    if (status == PHI_OK)
        status = phi__strict_tools_refused(codec, &spec, scratch->memory, words, words_size);
    return status;
}

/* ---- public ---- */

PHI_API phi_status phi_preflight(const phi_preflight_desc *desc, phi_arena *scratch, char *words,
                                 size_t words_size) {
    phi_status status = PHI_OK;
    phi_arena_mark mark;
    if (desc == NULL || scratch == NULL || words == NULL || words_size == 0) return PHI_BAD_ARG;
    words[0] = '\0';
    if (desc->model == NULL && desc->settings == NULL && desc->agent.rt == NULL) return PHI_BAD_ARG;
    mark = phi_arena_save(scratch);
    if (desc->model != NULL) status = phi__dry_run_transcript(desc, scratch, words, words_size);
    if (status == PHI_OK && desc->settings != NULL)
        status = phi__dry_run_settings(desc->settings, scratch, words, words_size);
    if (status == PHI_OK && desc->agent.rt != NULL)
        status = phi__foreseen_thinking(desc->agent, scratch, words, words_size);
    phi_arena_reset(scratch, mark);
    return status;
}
