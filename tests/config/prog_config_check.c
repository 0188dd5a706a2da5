/* prog_config_check.c - says of each file what phi says of it: the file's name behind "== ", its
   messages, and "OK" where there are none. For tests/config/mend.py.

       prog_config_check DIRECTORY/ FILE... */
#include "config/broken.h"

int main(int argc, char **argv) {
    static char said[65536];
    phi_runtime_desc desc = PHI_ZERO;
    phi_runtime *rt = phi_runtime_new(&desc);
    int i;
    for (i = 2; rt != NULL && i < argc; i++) {
        char path[1024];
        (void)snprintf(path, sizeof path, "%s%s", argv[1], argv[i]);
        (void)broken_said(rt, NULL, path, argv[1], said, sizeof said);
        printf("== %s\n%s", argv[i], said[0] != '\0' ? said : "OK\n");
    }
    phi_runtime_free(rt);
    return rt != NULL ? 0 : 1;
}
