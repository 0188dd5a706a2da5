/* section.c - functions that several sections use. */
#include "sections/section_in.h"

PHI__FN bool phi__sec_is_address(const char *url) {
    return phi__str_starts(phi_str_of(url), "http://") ||
           phi__str_starts(phi_str_of(url), "https://");
}

PHI__FN phi_str phi__sec_name(const phi_json *node) {
    phi_str name = phi_json_str(phi_json_get(node, "name"), "");
    if (name.len == 0) name = phi_json_str(phi_json_get(node, "id"), "");
    if (phi__str_starts(name, "{{")) {
        phi__cfg_ref ref = phi__refs_parse(name);
        if (ref.name.len > 0) name = ref.name;
    }
    return name.len > 0 ? name : PHI__LIT("unnamed");
}

PHI__FN const char *const *phi__sec_places(phi__cfg_ground *ground, const phi__cfg_texts *paths) {
    const char **list;
    if (paths->count == 0) return NULL;
    list = (const char **)phi__arena_zero(ground->arena, (paths->count + 1) * sizeof *list);
    for (size_t i = 0; list != NULL && i < paths->count; i++) {
        list[i] = phi__cfg_join(ground->arena, ground->directory, paths->at[i]);
        if (list[i] == NULL) return NULL;
    }
    return list;
}
