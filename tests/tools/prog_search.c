/* prog_search.c - calls of `search` and `list_files`, for scripts that compare their answers.

       prog_search own|rg|grep WORKSPACE MATCHES < calls

   Each line of the input is the name of a tool, a blank and its arguments in JSON. The answers are
   printed, each with a line behind it that has the record separator alone. */
#include "calls.h"

int main(int argc, char **argv) {
    static char line[65536];
    phi_tools_desc desc = PHI_ZERO;
    calls c;
    if (argc < 4) return 2;
    desc.workspace = argv[2];
    desc.max_matches = desc.max_files = (uint32_t)strtoul(argv[3], NULL, 10);
    desc.search_timeout_ms = desc.list_timeout_ms = PHI_UNLIMITED;
    desc.search_with = strcmp(argv[1], "own") == 0  ? PHI_SEARCH_OWN
                       : strcmp(argv[1], "rg") == 0 ? PHI_SEARCH_RG
                                                    : PHI_SEARCH_GREP;
    if (!calls_open(&c, &desc)) return 2;
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *arguments = strchr(line, ' ');
        line[strcspn(line, "\n")] = '\0';
        if (arguments == NULL) continue;
        *arguments++ = '\0';
        if (!call(&c, line, arguments)) return 1;
        printf("%s\n\x1e\n", c.text);
        (void)fflush(stdout);
    }
    calls_close(&c);
    return 0;
}
