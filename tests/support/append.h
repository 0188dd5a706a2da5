/* append.h - appends messages to a thread with flags, or where it has a number of entries. */
#ifndef PHI_TESTS_SUPPORT_APPEND_H
#define PHI_TESTS_SUPPORT_APPEND_H

#include "log/thread.h"
#include "log/log_in.h"

static inline phi_status append_with(phi_thread *thread, const phi_message *messages, size_t count,
                                     uint32_t flags) {
    phi_append options = PHI_ZERO;
    options.flags = flags;
    return phi_thread_append(thread, messages, count, &options);
}

static inline phi_status append_at(phi_thread *thread, const phi_message *messages, size_t count,
                                   uint32_t flags, uint64_t expected) {
    phi_append options = PHI_ZERO;
    options.flags = flags;
    options.has_expected = true;
    options.expected = expected;
    return phi_thread_append(thread, messages, count, &options);
}

#endif
