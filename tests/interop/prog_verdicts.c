/* prog_verdicts.c - reads command lines, each ended by a NUL, and writes for each whether the rules of
   a mode (by its number; default: PHI_PERMISSION_MODE_DEFAULT) allow it: "allow" or "no".

       prog_verdicts [WORKSPACE HOME MODE] */
#include "../permissions/permit.h"
#include "permissions/permissions.h"

#include "base/base_in.h"
#include "text/json_in.h"
#include "permissions/permissions_in.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    static char line[1 << 17];
    phi_permissions_desc desc;
    phi_permissions *permissions;
    size_t n = 0;
    int c;
    memset(&desc, 0, sizeof desc);
    desc.workspace = "/made/project";
    desc.home = "/home/ada";
    if (argc > 3) {
        desc.workspace = argv[1];
        desc.home = argv[2];
        desc.rules = phi_permissions_mode((phi_permission_mode)atoi(argv[3]));
    }
    permissions = phi_permissions_new(&desc, NULL);
    if (permissions == NULL) return 1;
    while ((c = getchar()) != EOF) {
        phi_memory memory;
        phi__buf arguments;
        phi_permission verdict;
        if (c != '\0') {
            if (n < sizeof line) line[n++] = (char)c;
            continue;
        }
        phi_memory_init(&memory, NULL, 0);
        phi__buf_init(&arguments, &memory);
        phi__buf_text(&arguments, "{\"command\":");
        phi__json_write_str(&arguments, phi__str(line, n));
        phi__buf_char(&arguments, '}');
        verdict = permit_check(permissions, PHI__LIT("bash"), phi__buf_str(&arguments), NULL);
        puts(verdict == PHI_PERMISSION_ALLOW ? "allow" : "no");
        phi__buf_free(&arguments);
        n = 0;
    }
    phi_permissions_free(permissions);
    return 0;
}
