/* agent_said.c - what a host says in requests besides the conversation: options, an extra, raw
   tools, texts in place of phi's. Checks and copies them. */
#include "agent/agent_in.h"
#include "loop/provider_in.h"
#include "model/texts_in.h"
#include "wire/extra_in.h"
#include "wire/takes_in.h"

#include <stdio.h>

enum { PHI__AGENT_SAID_WORDS = 240 };

/* ---- checks ---- */

PHI__FN phi_status phi__agent_said_check_extra(phi_runtime *rt, const char *what,
                                               const phi_provider *own, const phi_model *model,
                                               const char *extra) {
    char words[PHI__AGENT_SAID_WORDS];
    const phi__codec *codec = NULL;
    phi_status status;
    if (extra == NULL) return PHI_OK;
    if (own == NULL) own = phi__provider_find(rt, phi_str_of(model->protocol));
    if (own == NULL) codec = phi__codec_of(rt->codecs, model);
    status = phi__extra_check(codec, &rt->memory, phi_str_of(extra), words, sizeof words);
    if (status == PHI_BAD_ARG) return phi__error(rt, status, "%s%s", what, words);
    return status == PHI_OK ? PHI_OK : phi__error(rt, status, "%s: out of memory", what);
}

static phi_status phi__agent_said_check_raws(phi_runtime *rt, const phi_agent_desc *desc) {
    char what[48];
    phi_status status = PHI_OK;
    size_t i;
    if (desc->tool_options.raw_tool_count > 0 && desc->tool_options.raw_tools == NULL)
        return phi__error(rt, PHI_BAD_ARG,
                          "tool_options.raw_tools is missing, raw_tool_count is %u",
                          (unsigned)desc->tool_options.raw_tool_count);
    for (i = 0; status == PHI_OK && i < desc->tool_options.raw_tool_count; i++) {
        const phi_raw_tool *raw = &desc->tool_options.raw_tools[i];
        if (raw->protocol == NULL || raw->protocol[0] == '\0')
            return phi__error(rt, PHI_BAD_ARG, "tool_options.raw_tools[%u].protocol is missing",
                              (unsigned)i);
        (void)snprintf(what, sizeof what, "tool_options.raw_tools[%u].json", (unsigned)i);
        status = phi__tool_check_raw(rt, what, raw->json);
    }
    return status;
}

PHI__FN phi_status phi__agent_said_check(phi_runtime *rt, const phi_agent_desc *desc) {
    char words[PHI__AGENT_SAID_WORDS];
    const char *fault = phi__takes_fault(&desc->options);
    phi_status status;
    if (fault == NULL) fault = phi__texts_check(desc->texts, words, sizeof words);
    if (fault != NULL) return phi__error(rt, PHI_BAD_ARG, "%s", fault);
    status = phi__agent_said_check_extra(rt, "options.extra", desc->provider, &desc->model,
                                         desc->options.extra);
    return status == PHI_OK ? phi__agent_said_check_raws(rt, desc) : status;
}

/* ---- copies ---- */

static bool phi__agent_said_text(phi_arena *arena, const char **text) {
    phi_str copy;
    if (*text == NULL) return true;
    if (!phi__arena_str(arena, phi_str_of(*text), &copy)) return false;
    *text = copy.at;
    return true;
}

static bool phi__agent_said_raws(phi_arena *arena, phi_agent_desc *desc) {
    size_t n = desc->tool_options.raw_tool_count, i;
    phi_raw_tool *raws;
    if (n == 0) {
        desc->tool_options.raw_tools = NULL;
        return true;
    }
    raws = (phi_raw_tool *)phi_arena_alloc(arena, phi__mul(n, sizeof *raws));
    if (raws == NULL) return false;
    for (i = 0; i < n; i++) {
        raws[i] = desc->tool_options.raw_tools[i];
        if (!phi__agent_said_text(arena, &raws[i].protocol) ||
            !phi__agent_said_text(arena, &raws[i].json))
            return false;
    }
    desc->tool_options.raw_tools = raws;
    return true;
}

PHI__FN bool phi__agent_said_add(phi_agent_desc *desc, phi_arena *arena, const phi_texts *there) {
    phi_arena_mark mark = phi_arena_save(arena);
    phi_request_options options;
    const phi_texts *texts = desc->texts;
    if (texts != NULL && texts != there) texts = phi__texts_copy(texts, arena);
    if ((desc->texts == NULL || texts != NULL) &&
        phi__takes_copy(arena, &desc->options, &options) && phi__agent_said_raws(arena, desc)) {
        desc->options = options;
        desc->texts = texts;
        return true;
    }
    phi_arena_reset(arena, mark);
    return false;
}

PHI__FN bool phi__agent_said_copy(phi__agent *agent, phi_agent_desc *desc, phi_arena *arena) {
    phi_arena_init(arena, &agent->memory, 128);
    if (phi__agent_said_add(desc, arena, NULL)) return true;
    phi_arena_free(arena);
    return false;
}
