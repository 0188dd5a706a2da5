/* shell_in.h - a command line of bash as a list of its simple commands, with their words.

   Commands are found wherever they are: in lists and pipes, in subshells, loops and functions, in
   substitutions inside of words, quotes and here-documents, and after programs that run others
   (env, xargs, bash -c). A word is known where its text is certain before the line runs; else it
   keeps the form of the source, and so do words that the shell makes file names or several words
   of. A line that cannot be parsed with certainty says so: `unknown`. It may then hold commands
   that are not in the list.

   A line can also be parsed and still run commands that are not in it: bash takes the value of a
   variable in arithmetic for an expression, and runs the commands in its subscripts. Such a line is
   unknown as well, but all of it is parsed, and its commands are in the list.

   Nothing is run, and no variable, alias or file is looked up. Time and memory are linear in the
   line for each level of programs that run others, of which there are eight at most. All is in the
   caller's arena. */
#ifndef PHI_PERMISSIONS_SHELL_IN_H
#define PHI_PERMISSIONS_SHELL_IN_H

#include "base/base_in.h"

/* ---- patterns: *, ?, sets, and alternatives ----

   Time is bounded by the pattern times the text, for paths times the text once more. */

/* What ** of a glob does about hidden files. */
typedef enum phi__wild_hidden {
    PHI__WILD_SEEN = 0, /* it matches their names, but enters few hidden directories */
    PHI__WILD_LEFT_OUT, /* it matches no leading dot */
    PHI__WILD_ENTERED   /* it matches files in hidden directories, too */
} phi__wild_hidden;

/* True if one of the alternatives matches all of the text. path: * and ? do not match a slash, **
   does, and a pattern that ends in a slash and ** matches the directory itself, too. */
PHI__FN bool phi__wild_any(phi_str pattern, phi_str text, bool path);

/* True if a text is one of these names; they are a pattern without paths. */
PHI__FN bool phi__among(phi_str text, const char *names);

/* True if a file that the shell's pattern `glob` finds may match `pattern`, as a path. In doubt it
   may. A * of the glob matches neither a slash nor a leading dot; ** matches both, but goes into no
   hidden directory if the pattern begins with **, unless these are entered and the pattern does not
   end in a star. */
PHI__FN bool phi__wild_meets(phi_str pattern, phi_str glob, phi__wild_hidden hidden);

/* The alternatives, one after the other: takes one off `rest`. False: there is none left. */
PHI__FN bool phi__wild_next(phi_str *rest, phi_str *alternative);

/* The words of a pattern, likewise. */
PHI__FN bool phi__wild_word(phi_str *rest, phi_str *word);

/* ---- a command line ---- */

enum {
    PHI__SH_DEPTH = 48,           /* of nesting */
    PHI__SH_LEVELS = 8,           /* of programs that run others */
    PHI__SH_BYTES_MOST = 65536,   /* of a line */
    PHI__SH_COMMANDS_MOST = 1000, /* of a line */
    PHI__SH_WORDS_MOST = 4000,    /* of a line, and of the lines in it */
    PHI__SH_HERE_MOST = 16,       /* here-documents that one line begins */
    PHI__SH_DIRS_MOST = 4         /* directories that a command may run in */
};

typedef struct phi__sh_word {
    phi_str text;
    bool known;  /* no expansion, no glob, no brace: the shell makes this one word of it */
    bool quoted; /* a part is */
    bool pipe;   /* one process substitution, and nothing else */
    bool braces; /* the shell makes several of {a,b} in it */
    bool below;  /* a pattern of the files below a named directory: see rules.c */
    phi__wild_hidden hidden; /* of a pattern */
} phi__sh_word;

/* Directories that a command may run in: relative ones are in the workspace. */
typedef struct phi__sh_dirs {
    phi__sh_word at[PHI__SH_DIRS_MOST];
    size_t count;
} phi__sh_dirs;

typedef struct phi__sh_redirect {
    bool writes;
    phi__sh_word target; /* a file */
} phi__sh_redirect;

typedef enum phi__sh_sort {
    PHI__SH_RUNS = 0, /* it is run */
    PHI__SH_AGAIN,    /* one that is run, with its braces expanded */
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
    size_t inputs;       /* redirections of descriptor 0: the last one counts */
    bool reads;          /* its input is another command's output, or a file, or a text */
    bool by_pipe;        /* ... another command's output, unless it has inputs */
    size_t fed;          /* 1 + index of the redirections behind a compound command around it
                               that give it its input; 0: none */
    bool wraps;          /* it only runs others, which are in the list as well */
    size_t pipe_from;    /* index of the first command of its pipe */
    bool prints;         /* another command of its pipe reads what it prints */
    unsigned level;      /* of programs that run others */
    bool posix;          /* read by sh, which may be another shell than bash */
    phi__sh_word *also;  /* patterns of files that it reads besides */
    size_t also_count;
    size_t inner_from, inner_to; /* indices of commands in substitutions in its words */
    phi_str function;            /* that it is the body of, or a part of it; empty: none */
    const phi__sh_word *body;    /* the here-document with the substitution that it is in */
    phi__sh_sort sort;
    bool quiet;               /* it runs neither its words nor its input, or they are in the list */
    const phi__sh_dirs *dirs; /* NULL: the workspace */
} phi__sh_command;

typedef struct phi__shell {
    phi__sh_command *commands;
    size_t count;
    size_t words;
    const char *unknown;         /* static: why it could not be parsed; NULL: it was */
    const char *doubt;           /* static: why parts of it are not certain, while it is parsed */
    bool moved;                  /* find runs commands in directories that are not known */
    const phi__sh_dirs *visited; /* by cd, anywhere in the line; NULL: none */
    bool lost;                   /* a cd in a loop, a function or an eval: each command may run
                                       in each of these, and elsewhere */
    bool later;                  /* it has functions or a trap, which run after another cd */
} phi__shell;

/* PHI_NO_MEMORY, or PHI_OK. The words point into the arena. */
PHI__FN phi_status phi__wrap_parse(phi_arena *arena, phi_str line, phi__shell *out);

/* ---- between the files of the parser ---- */

/* Adds the commands of a line to `out`. around: the command that runs it; NULL: none. */
PHI__FN phi_status phi__sh_line(phi_arena *arena, phi_str line, const phi__sh_command *around,
                                phi__shell *out);

/* Adds a command. False: no memory. */
PHI__FN bool phi__sh_push(phi_arena *arena, phi__shell *out, const phi__sh_command *command);

/* Room for one more after `count`: arrays double. NULL: no memory. */
PHI__FN void *phi__sh_room(phi_arena *arena, void *old, size_t count, size_t size);

/* True if the word is known, and one of these names. */
static inline bool phi__sh_one_of(const phi__sh_word *word, const char *names) {
    return word->known && phi__among(word->text, names);
}

/* The one directory `to` from each of `from`. NULL: no memory. */
PHI__FN const phi__sh_dirs *phi__dirs_go(phi_arena *arena, phi__shell *out,
                                         const phi__sh_dirs *from, const phi__sh_word *to);

/* Finds what a command reads besides its words. PHI_NO_MEMORY. */
PHI__FN phi_status phi__reads_also(phi_arena *arena, phi__sh_command *command);

/* Adds a pattern of files of a program whose star matches slashes and dots as well, without the
   backslashes that quote its characters. */
PHI__FN void phi__reads_put(phi__buf *out, phi_str glob);

/* ---- names of programs and variables ---- */

/* True if a program runs nothing that it is given, and heeds no file of its directory. */
PHI__FN bool phi__names_plain(phi_str name);

/* True if it also reads no file that its words name. */
PHI__FN bool phi__names_prints(phi_str name);

/* The name of a program of the system, without its directory. */
PHI__FN phi_str phi__names_name(phi_str name);

#endif
