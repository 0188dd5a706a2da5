/* thread_text.h - phi_thread_from_json with its message alone. */
#ifndef PHI_TESTS_SUPPORT_THREAD_TEXT_H
#define PHI_TESTS_SUPPORT_THREAD_TEXT_H

#include "persist/store.h"
#include "log/log_in.h"

#include <stdio.h>

static inline phi_status thread_from_json(phi_thread *thread, phi_str json, char *words,
                                          size_t words_size) {
    phi_parse_error error;
    phi_status status = phi_thread_from_json(thread, json, &error);
    if (words != NULL) (void)snprintf(words, words_size, "%s", error.message);
    return status;
}

#endif
