/* config_words.c - messages about agents: with parts, and with the name that was probably meant. */
#include "config/config_section_in.h"

#include <stdarg.h>
#include <stdio.h>

/* Parts of a message come from other modules, too, which show paths, names and addresses as they
   are: values of variables among them. */
static void phi__config_words_put(phi__config_ground *ground, const phi_json *node, bool is_warning,
                                  phi_status status, const char *field, const char *format,
                                  va_list args) {
    char text[500];
    phi__buf words;
    (void)vsnprintf(text, sizeof text, format, args);
    phi__buf_init(&words, ground->memory);
    phi__config_raws_mask(ground->config, phi_str_of(text), &words);
    phi__buf_char(&words, '\0');
    if (words.failed)
        ground->problems->no_memory = true;
    else
        phi__config_problems_add(ground->problems, ground->config, node, is_warning, status, field,
                                 NULL, words.at);
    phi__buf_free(&words);
}

/* ---- for other modules ---- */

PHI__FN void phi__config_words_error(phi__config_ground *ground, const phi_json *node,
                                     phi_status status, const char *field, const char *format,
                                     ...) {
    va_list args;
    va_start(args, format);
    phi__config_words_put(ground, node, false, status, field, format, args);
    va_end(args);
}

PHI__FN void phi__config_words_warning(phi__config_ground *ground, const phi_json *node,
                                       const char *field, const char *format, ...) {
    va_list args;
    va_start(args, format);
    phi__config_words_put(ground, node, true, PHI_OK, field, format, args);
    va_end(args);
}

PHI__FN const char *phi__config_words_nearest(phi_str name, const char *const *names,
                                              size_t count) {
    const char *best = NULL;
    size_t i;
    unsigned least = PHI__CONFIG_FAR + 1;
    for (i = 0; i < count; i++) {
        unsigned d = phi__config_nearest_distance(name, phi_str_of(names[i]));
        if (d >= least) continue;
        least = d;
        best = names[i];
    }
    return best;
}
