/* shell_in.h - parses a command line of bash into a list of its simple commands and their words.

   Commands are found wherever they are: in lists and pipes, in subshells, loops and functions, in
   substitutions inside of words, quotes and here-documents, and after programs that run others
   (env, xargs, bash -c). A word is known if its text is certain before the line runs. All other
   words keep the text of the source, also those that the shell expands to file names or to several
   words. If a line cannot be parsed with certainty, `unknown` says why, and the list may lack some
   of its commands.

   A parsed line can still run commands that are not in its text. In arithmetic, bash takes the
   value of a variable for an expression, and runs the commands in its subscripts. Such a line is
   unknown as well, but all of its commands are in the list.

   The parser runs nothing, and looks up no variable, alias or file. Time and memory are linear in
   the line for each level of programs that run others. There are eight such levels at most. All
   memory comes from the caller's arena. */
#ifndef PHI_PERMISSIONS_SHELL_IN_H
#define PHI_PERMISSIONS_SHELL_IN_H

#include "base/base_in.h"

/* ---- patterns: *, ?, sets, and alternatives ----

   The time of a match is at most proportional to the pattern's length times the text's length. For
   paths, it is at most proportional to the pattern's length times the square of the text's. */

/* How ** of a glob treats hidden files. */
typedef enum phi__wild_hidden {
    PHI__WILD_SEEN = 0, /* matches names of hidden files, but enters few hidden directories */
    PHI__WILD_LEFT_OUT, /* matches no leading dot */
    PHI__WILD_ENTERED   /* also matches files in hidden directories */
} phi__wild_hidden;

/* True if one of the alternatives matches all of the text. If path is set, * and ? do not match a
   slash, but ** does. A pattern that ends in a slash and ** then matches the directory, too. */
PHI__FN bool phi__wild_any(phi_str pattern, phi_str text, bool path);

/* True if the text is one of these names, given as a pattern whose wildcards match slashes, too. */
PHI__FN bool phi__among(phi_str text, const char *names);

/* True if a file that the shell's pattern `glob` finds may match the path `pattern`, or if that is
   in doubt. A * of the glob matches neither a slash nor a leading dot; ** matches both. If
   `pattern` begins with **, the ** of the glob enters no hidden directory, unless PHI__WILD_ENTERED
   is given and `pattern` does not end in a star. */
PHI__FN bool phi__wild_meets(phi_str pattern, phi_str glob, phi__wild_hidden hidden);

/* Takes the next alternative off the pattern `rest`. False if there is none. */
PHI__FN bool phi__wild_next(phi_str *rest, phi_str *alternative);

/* Takes the next word off the pattern `rest`. False if there is none. */
PHI__FN bool phi__wild_word(phi_str *rest, phi_str *word);

/* ---- a command line ---- */

enum {
    PHI__SH_DEPTH = 48,           /* max. levels of nesting */
    PHI__SH_LEVELS = 8,           /* max. levels of programs that run others */
    PHI__SH_BYTES_MOST = 65536,   /* bytes of a line */
    PHI__SH_COMMANDS_MOST = 1000, /* commands of a line */
    PHI__SH_WORDS_MOST = 4000,    /* max. words of a line and of the lines that it runs */
    PHI__SH_HERE_MOST = 16,       /* max. here-documents that one line begins */
    PHI__SH_DIRS_MOST = 4         /* max. directories that a command may run in */
};

typedef struct phi__sh_word {
    phi_str text;
    bool known;              /* no expansion, glob or brace: the shell uses `text` as it is */
    bool quoted;             /* a part of the word is quoted */
    bool pipe;               /* the word is one process substitution */
    bool braces;             /* a {a,b} in the word makes several words of it */
    bool below;              /* a pattern of the files below a named directory: see rules.c */
    phi__wild_hidden hidden; /* how ** of a pattern treats hidden files */
} phi__sh_word;

/* The directories that a command may run in. Relative ones are in the workspace. */
typedef struct phi__sh_dirs {
    phi__sh_word at[PHI__SH_DIRS_MOST];
    size_t count;
} phi__sh_dirs;

typedef struct phi__sh_redirect {
    bool writes;
    phi__sh_word target; /* a file name */
} phi__sh_redirect;

typedef enum phi__sh_sort {
    PHI__SH_RUNS = 0, /* a command that is run */
    PHI__SH_AGAIN,    /* the same command with its braces expanded */
    PHI__SH_SUSPECT   /* a text that something may run: see wrappers.c */
} phi__sh_sort;

typedef struct phi__sh_command {
    phi__sh_word *words; /* without assignments and redirections */
    size_t count;
    phi__sh_word *assigned; /* NAME=value, before the words */
    size_t assigned_count;
    phi__sh_redirect *redirects;
    size_t redirect_count;
    phi__sh_word *input; /* a here-document or here-string of descriptor 0; NULL: none */
    size_t inputs;       /* number of redirections of descriptor 0; the last one counts */
    bool reads;          /* input comes from another command, a file or a text */
    bool by_pipe;        /* input comes from another command, unless `inputs` > 0 */
    /* 1 + index of the redirections of a compound command that give this one its input; 0: none */
    size_t fed;
    bool wraps;         /* it only runs other commands, which are in the list */
    size_t pipe_from;   /* index of the first command of its pipe */
    bool prints;        /* another command of its pipe reads its output */
    unsigned level;     /* number of programs around it that run others */
    bool posix;         /* read by sh, which may be a shell other than bash */
    phi__sh_word *also; /* patterns of files that it reads but does not name */
    size_t also_count;
    size_t inner_from, inner_to; /* indices of the commands in its substitutions */
    phi_str function;            /* name of the function whose body contains it; empty: none */
    const phi__sh_word *body;    /* the here-document that contains it; NULL: none */
    phi__sh_sort sort;
    bool quiet;               /* every command in its words and its input is in the list */
    const phi__sh_dirs *dirs; /* where it may run; NULL: in the workspace */
} phi__sh_command;

typedef struct phi__shell {
    phi__sh_command *commands;
    size_t count;
    size_t words;
    const char *unknown;         /* static: why parsing failed; NULL: it did not */
    const char *doubt;           /* static: why a part is uncertain; NULL: all is certain */
    bool moved;                  /* find runs commands in unknown directories */
    const phi__sh_dirs *visited; /* directories of all cd commands; NULL: none */
    /* a cd is in a loop, function or eval: commands may run in any of `visited`, or elsewhere */
    bool lost;
    bool later; /* the line has functions or a trap, which may run after a later cd */
} phi__shell;

/* Parses a line into `out`. The words point into the arena. Returns PHI_OK or PHI_NO_MEMORY. */
PHI__FN phi_status phi__wrap_parse(phi_arena *arena, phi_str line, phi__shell *out);

/* Fills `out` with the commands of a line of PowerShell, if all of them are plain commands that
   read: see powershell.c. Else `unknown` is set, and the list is empty. PHI_OK or PHI_NO_MEMORY. */
PHI__FN phi_status phi__ps_parse(phi_arena *arena, phi_str line, phi__shell *out);

/* ---- between the files of the parser ---- */

/* Adds the commands of a line to `out`. `around` is the command that runs the line; NULL: none. */
PHI__FN phi_status phi__sh_line(phi_arena *arena, phi_str line, const phi__sh_command *around,
                                phi__shell *out);

/* Adds a command. False if there is no memory. */
PHI__FN bool phi__sh_push(phi_arena *arena, phi__shell *out, const phi__sh_command *command);

/* Returns `old` with room for element `count`; full arrays double. NULL if there is no memory. */
PHI__FN void *phi__sh_room(phi_arena *arena, void *old, size_t count, size_t size);

/* True if the word is known and one of these names. */
static inline bool phi__sh_one_of(const phi__sh_word *word, const char *names) {
    return word->known && phi__among(word->text, names);
}

/* Returns where a cd to `to` leads from each directory of `from`. NULL if there is no memory. */
PHI__FN const phi__sh_dirs *phi__dirs_go(phi_arena *arena, phi__shell *out,
                                         const phi__sh_dirs *from, const phi__sh_word *to);

/* Adds the patterns of files that a command reads without naming them. PHI_OK or PHI_NO_MEMORY. */
PHI__FN phi_status phi__reads_also(phi_arena *arena, phi__sh_command *command);

/* Appends `glob` for a program whose star matches slashes and dots, without quoting backslashes. */
PHI__FN void phi__reads_put(phi__buf *out, phi_str glob);

/* ---- names of programs and variables ---- */

/* True if a program runs none of its words, and reads no configuration where it runs. */
PHI__FN bool phi__names_plain(phi_str name);

/* True if a program of phi__names_plain() also reads none of the files that its words name. */
PHI__FN bool phi__names_prints(phi_str name);

/* Returns a program's name without /bin/ or /usr/bin/. */
PHI__FN phi_str phi__names_name(phi_str name);

#endif
