/* variables.c - the names of environment variables. */
#include "system/process_in.h"

#include "base/base_in.h"

#ifndef PHI_NO_PROCESS

/* Windows does not distinguish capital letters in names. */
static bool phi__spawn_same_letter(char a, char b) {
#if defined(PHI__OS_WINDOWS)
    return phi__lower(a) == phi__lower(b);
#else
    return a == b;
#endif
}

PHI__FN bool phi__spawn_same_name(const char *a, const char *b) {
    while (*a != '\0' && *a != '=' && phi__spawn_same_letter(*a, *b)) {
        a++;
        b++;
    }
    return *a == '=' && *b == '=';
}

PHI__FN bool phi__spawn_is_key(const char *variable, const char *const *keep) {
    static const char *const parts[] = {"KEY",      "TOKEN",  "SECRET",
                                        "PASSWORD", "PASSWD", "CREDENTIAL"};
    const char *end = strchr(variable, '=');
    phi_str name = phi__str(variable, end != NULL ? (size_t)(end - variable) : 0);
    for (; keep != NULL && *keep != NULL; keep++)
        if (phi__str_is(name, *keep)) return false;
    if (phi__str_starts(name, "GIT_CONFIG_KEY_")) return false;
    for (size_t i = 0; i < PHI__COUNT(parts); i++)
        if (phi__str_find_nocase(name, 0, parts[i]) != SIZE_MAX) return true;
    return false;
}

#endif
