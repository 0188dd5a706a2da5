/* script_words.c - splits a command into words, as a shell would, without being one. */
#include "tools/scripts_in.h"

#ifndef PHI_NO_PROCESS

/* Reads one word from *at into `to`, which has room for it. False: a quote is open. */
static bool phi__script_words_next(const char **at, char **to) {
    const char *from = *at;
    char quote = '\0';
    for (; *from != '\0'; from++) {
        if (quote == '\0' && (*from == ' ' || *from == '\t' || *from == '\n')) break;
        if (quote == '\0' && (*from == '"' || *from == '\'')) {
            quote = *from;
        } else if (*from == quote && quote != '\0') {
            quote = '\0';
        } else if (*from == '\\' && quote != '\'' && from[1] != '\0' &&
                   (quote == '\0' || from[1] == '"' || from[1] == '\\')) {
            *(*to)++ = *++from;
        } else {
            *(*to)++ = *from;
        }
    }
    *(*to)++ = '\0';
    *at = from;
    return quote == '\0';
}

static bool phi__script_words_ends(const char *word, const char *end) {
    size_t n = strlen(word), m = strlen(end);
    return n > m && strcmp(word + n - m, end) == 0;
}

PHI__FN phi_status phi__script_words_split(phi_arena *arena, const char *command,
                                           const char *const **out, const char **fault) {
    size_t most = strlen(command) / 2 + 3, n = 1; /* the first is for an interpreter */
    const char **words = (const char **)phi_arena_alloc(arena, most * sizeof *words);
    char *to = (char *)phi_arena_alloc(arena, strlen(command) + most);
    if (words == NULL || to == NULL) return PHI_NO_MEMORY;
    for (;;) {
        while (*command == ' ' || *command == '\t' || *command == '\n') command++;
        if (*command == '\0') break;
        words[n++] = to;
        if (!phi__script_words_next(&command, &to)) {
            *fault = "a quote is not closed";
            return PHI_PARSE;
        }
    }
    words[n] = NULL;
    if (n == 1 || words[1][0] == '\0') {
        *fault = "the command is empty";
        return PHI_PARSE;
    }
    words[0] = phi__script_words_ends(words[1], ".py")   ? "python3"
               : phi__script_words_ends(words[1], ".sh") ? "sh"
                                                         : NULL;
    *out = words[0] != NULL ? words : words + 1;
    return PHI_OK;
}

#endif
