/* takes.c - writes the settings of a request that not every target takes, and names those that
   one does not. */
#include "wire/takes_in.h"

#include "text/json_in.h"
#include "wire/render_in.h"

#include <stdio.h>

static void phi__takes_number(phi__encoder *e, const char *key, double value) {
    phi__json_write_key(&e->scratch, phi_str_of(key));
    phi__json_number_put_double(&e->scratch, value);
}

static void phi__takes_stop(phi__encoder *e, const char *key) {
    const phi_request_options *options = &e->spec->options;
    size_t i;
    phi__json_write_key(&e->scratch, phi_str_of(key));
    phi__buf_char(&e->scratch, '[');
    for (i = 0; i < options->stop_count; i++) {
        phi__json_write_comma(&e->scratch);
        phi__json_write_str(&e->scratch, phi_str_of(options->stop[i]));
    }
    phi__buf_char(&e->scratch, ']');
}

PHI__FN void phi__takes_put(phi__encoder *e, const phi__takes_keys *keys, uint32_t takes) {
    const phi_request_options *options = &e->spec->options;
    phi__buf *out = &e->scratch;
    if (keys->temperature != NULL && e->spec->temperature >= 0 &&
        (takes & PHI__TAKES_TEMPERATURE) != 0)
        phi__takes_number(e, keys->temperature, e->spec->temperature);
    if (keys->top_p != NULL && options->top_p > 0 && (takes & PHI__TAKES_TOP_P) != 0)
        phi__takes_number(e, keys->top_p, options->top_p);
    if (keys->top_k != NULL && options->top_k > 0 && (takes & PHI__TAKES_TOP_K) != 0) {
        phi__json_write_key(out, phi_str_of(keys->top_k));
        phi__buf_u64(out, options->top_k);
    }
    if (keys->stop != NULL && options->stop_count > 0 && (takes & PHI__TAKES_STOP) != 0)
        phi__takes_stop(e, keys->stop);
    if (keys->seed != NULL && options->has_seed && (takes & PHI__TAKES_SEED) != 0) {
        phi__json_write_key(out, phi_str_of(keys->seed));
        phi__json_number_put_i64(out, options->seed);
    }
    if (keys->tier != NULL && options->service_tier != NULL && (takes & PHI__TAKES_TIER) != 0)
        phi__render_member(out, keys->tier, phi_str_of(options->service_tier));
}

PHI__FN bool phi__takes_serial(const phi__request_spec *spec, uint32_t takes) {
    return spec->options.serial_calls && (takes & PHI__TAKES_SERIAL) != 0 && spec->tool_count > 0 &&
           spec->tool_choice != PHI_TOOL_CHOICE_NONE;
}

PHI__FN void phi__takes_put_raw(phi__encoder *e, const phi__tool_view *tool) {
    phi__encode_scratch(e);
    phi__encode_piece(e, tool->raw);
}

PHI__FN bool phi__takes_deferred(const phi__request_spec *spec) {
    size_t i;
    for (i = 0; i < spec->tool_count; i++)
        if (spec->tools[i].deferred) return true;
    return spec->searches;
}

PHI__FN bool phi__takes_reference(const phi_content *block, size_t *at, phi_str *name) {
    static const char key[] = "\"tool_name\"";
    phi_str text = block->replay;
    size_t i, from;
    if (block->kind != PHI_CONTENT_OPAQUE || !phi__str_is(block->name, "tool_search_tool_result"))
        return false;
    i = phi__str_find(text, *at, key);
    if (i == SIZE_MAX) return false;
    for (i += sizeof key - 1; i < text.len && strchr(" \t\r\n:", text.at[i]) != NULL;) i++;
    if (i >= text.len || text.at[i] != '"') return false;
    for (from = ++i; i < text.len && text.at[i] != '"';) i++;
    *name = phi__str(text.at + from, i - from);
    *at = i;
    return true;
}

PHI__FN phi_thinking phi__takes_level(const phi__codec *codec, const phi__request_spec *spec) {
    const phi__codec_settings *settings = codec->rules->settings;
    return settings != NULL && settings->level != NULL
               ? settings->level(spec->model, spec->thinking)
               : spec->thinking;
}

static bool phi__takes_copy_text(phi_arena *arena, const char **text) {
    phi_str copy;
    if (*text == NULL) return true;
    if (!phi__arena_str(arena, phi_str_of(*text), &copy)) return false;
    *text = copy.at;
    return true;
}

PHI__FN bool phi__takes_copy(phi_arena *arena, const phi_request_options *from,
                             phi_request_options *out) {
    const char **stop = NULL;
    phi_str copy;
    size_t i;
    *out = *from;
    if (!from->has_temperature) out->temperature = 0;
    out->stop = NULL;
    if (from->stop_count > 0) {
        stop = (const char **)phi_arena_alloc(arena, phi__mul(from->stop_count, sizeof *stop));
        if (stop == NULL) return false;
        out->stop = stop;
    }
    for (i = 0; i < from->stop_count; i++) {
        if (!phi__arena_str(arena, phi_str_of(from->stop[i]), &copy)) return false;
        stop[i] = copy.at;
    }
    return phi__takes_copy_text(arena, &out->service_tier) &&
           phi__takes_copy_text(arena, &out->extra);
}

PHI__FN const char *phi__takes_fault(const phi_request_options *options) {
    size_t i;
    if (!(options->top_p >= 0 && options->top_p <= 1))
        return "options.top_p: expected above 0, to 1";
    if (options->stop_count > (size_t)PHI__TAKES_STOP_MOST)
        return "options.stop_count: expected at most 16";
    if (options->stop_count > 0 && options->stop == NULL) return "options.stop is missing";
    for (i = 0; i < options->stop_count; i++)
        if (options->stop[i] == NULL || options->stop[i][0] == '\0')
            return "options.stop: a text is missing or empty";
    if (options->service_tier != NULL && options->service_tier[0] == '\0')
        return "options.service_tier is empty";
    return NULL;
}

/* Appends a part of a sentence, as far as there is room. */
static void phi__takes_say(char *words, size_t words_size, const char *what, const char *how) {
    size_t n = strlen(words);
    (void)snprintf(words + n, words_size - n, "%s%s %s", n > 0 ? "; " : "", what, how);
}

PHI__FN phi_status phi__takes_preflight(const phi__codec *codec, const phi__request_spec *spec,
                                        char *words, size_t words_size) {
    static const char *const levels[] = {"off", "minimal", "low", "medium", "high", "xhigh", "max"};
    static const char *const names[] = {"temperature", "top_p",        "top_k",       "stop",
                                        "seed",        "service_tier", "serial_calls"};
    const phi_request_options *options = &spec->options;
    const phi__codec_settings *settings = codec->rules->settings;
    uint32_t takes = settings != NULL ? settings->takes(spec) : (uint32_t)PHI__TAKES_ALL, set = 0;
    phi_thinking level = phi__takes_level(codec, spec);
    char how[40];
    size_t i;
    if (words_size == 0) return PHI_BAD_ARG;
    words[0] = '\0';
    if (spec->temperature >= 0) set |= PHI__TAKES_TEMPERATURE;
    if (options->top_p > 0) set |= PHI__TAKES_TOP_P;
    if (options->top_k > 0) set |= PHI__TAKES_TOP_K;
    if (options->stop_count > 0) set |= PHI__TAKES_STOP;
    if (options->has_seed) set |= PHI__TAKES_SEED;
    if (options->service_tier != NULL) set |= PHI__TAKES_TIER;
    if (options->serial_calls) set |= PHI__TAKES_SERIAL;
    for (i = 0; i < PHI__COUNT(names); i++)
        if ((set & ~takes & 1u << i) != 0)
            phi__takes_say(words, words_size, names[i], "is not sent");
    if (spec->thinking != PHI_THINKING_OFF && !spec->model->reasoning)
        phi__takes_say(words, words_size, "thinking", "is not sent");
    else if (level != spec->thinking && (size_t)level < PHI__COUNT(levels)) {
        (void)snprintf(how, sizeof how, "is lowered to %s", levels[level]);
        phi__takes_say(words, words_size, "thinking", how);
    }
    return words[0] == '\0' ? PHI_OK : PHI_UNSUPPORTED;
}
