/* prog_shell.c - reads command lines, each ended by a NUL, and says for each what phi makes of it:
   "U" or "K" (whether it is unknown), and the first word of each of its commands, in hexadecimal. */
#include "permissions/shell_in.h"

#include <stdio.h>
#include <stdlib.h>

static void say(const phi__shell *shell) {
    size_t i, k;
    printf("%c", shell->unknown != NULL ? 'U' : 'K');
    for (i = 0; i < shell->count; i++) {
        const phi__sh_command *c = &shell->commands[i];
        if (c->count == 0) continue;
        printf(" x");
        for (k = 0; k < c->words[0].text.len; k++)
            printf("%02x", (unsigned)(unsigned char)c->words[0].text.at[k]);
    }
    printf("\n");
}

int main(void) {
    static char line[1 << 17];
    size_t n = 0;
    int c;
    while ((c = getchar()) != EOF) {
        phi_memory memory;
        phi_arena arena;
        phi__shell shell;
        if (c != '\0') {
            if (n < sizeof line) line[n++] = (char)c;
            continue;
        }
        phi_memory_init(&memory, NULL, 0);
        phi_arena_init(&arena, &memory, 0);
        if (phi__wrap_parse(&arena, phi__str(line, n), &shell) != PHI_OK) return 1;
        say(&shell);
        phi_arena_free(&arena);
        n = 0;
    }
    return 0;
}
