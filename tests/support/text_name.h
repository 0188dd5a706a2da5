/* text_name.h - the name of a text of phi's; "": there is none. */
#ifndef PHI_TESTS_SUPPORT_TEXT_NAME_H
#define PHI_TESTS_SUPPORT_TEXT_NAME_H

#include "model/texts.h"

static inline const char *text_name(phi_text which) {
    const char *name;
    (void)phi_text_default(which, &name);
    return name;
}

#endif
