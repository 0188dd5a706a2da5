/* dry_run.c - prepares a caller's transcript and tools for the codecs' own check. */
#include "agent/dry_run.h"

#include "model/message_in.h"
#include "codecs/registry_in.h"
#include "wire/codec_in.h"
#include "wire/strict_in.h"

#include <stdio.h>

#ifndef PHI_NO_PREFLIGHT

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
        views[i].strict = tools[i].strict;
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
static const phi__codec *phi__dry_run_codec(const char *protocol, char *words, size_t words_size) {
    const phi__codec_row *row = phi__codec_row_of(phi__registry_codecs(), phi_str_of(protocol));
    const phi__codec *codec = row != NULL ? row->codec() : NULL;
    if (row == NULL)
        (void)snprintf(words, words_size, "No provider registered for protocol: %s", protocol);
    else if (codec == NULL)
        (void)snprintf(words, words_size, "protocol %s is left out of this program: %s", protocol,
                       row->without);
    return codec;
}

/* ---- public ---- */

PHI_API phi_status phi_preflight(const phi_model *model, const phi_message *messages, size_t count,
                                 const phi_tool *tools, size_t tool_count, phi_arena *scratch,
                                 char *words, size_t words_size) {
    phi_model filled;
    phi__request_spec spec;
    phi_arena_mark mark;
    const phi__codec *codec;
    phi_status status = PHI_NO_MEMORY;
    size_t i;
    if (model == NULL || model->protocol == NULL || scratch == NULL || words == NULL ||
        words_size == 0 || (messages == NULL && count > 0) || (tools == NULL && tool_count > 0))
        return PHI_BAD_ARG;
    words[0] = '\0';
    codec = phi__dry_run_codec(model->protocol, words, words_size);
    if (codec == NULL) return PHI_UNSUPPORTED;
    for (i = 0; i < count; i++)
        if (messages[i].content == NULL && messages[i].content_count > 0) {
            (void)snprintf(words, words_size, "messages[%llu]: content is missing",
                           (unsigned long long)i);
            return PHI_BAD_ARG;
        }
    mark = phi_arena_save(scratch);
    filled = phi__dry_run_model(model);
    memset(&spec, 0, sizeof spec);
    spec.model = &filled;
    spec.temperature = -1.0;
    if (phi__dry_run_items(&spec, messages, count, scratch) &&
        phi__dry_run_tools(&spec, tools, tool_count, scratch))
        status = phi__preflight(codec, &spec, words, words_size);
    if (status == PHI_OK)
        status = phi__strict_tools_refused(codec, &spec, scratch->memory, words, words_size);
    phi_arena_reset(scratch, mark);
    return status;
}

#endif
