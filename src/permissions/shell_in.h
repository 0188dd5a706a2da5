/* shell_in.h - a command line of bash as a list of its simple commands, with their words.

   Commands are found wherever they stand: in lists and pipes, in subshells, loops and functions, in
   substitutions inside of words, quotes and here-documents, and behind programs that run others
   (env, xargs, bash -c). A word is known where its text is certain before the line runs; else it
   keeps the form of the source, and so do words that the shell makes file names or several words
   of. A line that cannot be parsed with certainty says so: `unknown`. It may then hold commands
   that are not in the list.

   A line can also be parsed and still run commands that are not in it: bash takes the value of a
   variable in arithmetic for an expression, and runs what stands in its subscripts. Such a line is
   unknown as well, but all of it is parsed, and its commands are in the list.

   Nothing is run, and no variable, alias or file is looked up. Time and memory are linear in the
   line for each level of programs that run others, of which there are eight at most. All is in the
   caller's arena. */
#ifndef PHI_PERMISSIONS_SHELL_IN_H
#define PHI_PERMISSIONS_SHELL_IN_H

#include "permissions/permissions_in.h"
#include "base/base_in.h"
#include "permissions/wildcard_in.h"

enum {
    PHI__SHELL_DEPTH = 48,           /* of nesting */
    PHI__SHELL_LEVELS = 8,           /* of programs that run others */
    PHI__SHELL_BYTES_MOST = 65536,   /* of a line */
    PHI__SHELL_COMMANDS_MOST = 1000, /* of a line */
    PHI__SHELL_WORDS_MOST = 4000,    /* of a line, and of the lines in it */
    PHI__SHELL_HERE_MOST = 16,       /* here-documents that one line begins */
    PHI__SHELL_DIRS_MOST = 4         /* directories that a command may run in */
};

typedef struct phi__shell_word {
    phi_str text;
    bool known;  /* no expansion, no glob, no brace: the shell makes this one word of it */
    bool quoted; /* a part is */
    bool pipe;   /* one process substitution, and nothing else */
    bool braces; /* the shell makes several of {a,b} in it */
    bool below;  /* a pattern of the files below a named directory: see paths.c */
    phi__wildcard_hidden hidden; /* of a pattern */
} phi__shell_word;

/* Directories that a command may run in: relative ones are in the workspace. */
typedef struct phi__shell_dirs {
    phi__shell_word at[PHI__SHELL_DIRS_MOST];
    size_t count;
} phi__shell_dirs;

typedef struct phi__shell_redirect {
    bool writes;
    phi__shell_word target; /* a file */
} phi__shell_redirect;

typedef enum phi__shell_sort {
    PHI__SHELL_RUNS = 0, /* it is run */
    PHI__SHELL_AGAIN,    /* one that is run, with its braces expanded */
    PHI__SHELL_SUSPECT   /* a text that something may run: see wrappers.c */
} phi__shell_sort;

typedef struct phi__shell_command {
    phi__shell_word *words; /* without assignments and redirections */
    size_t count;
    phi__shell_word *assigned; /* NAME=value, before the words */
    size_t assigned_count;
    phi__shell_redirect *redirects;
    size_t redirect_count;
    phi__shell_word *input; /* a here-document or here-string of descriptor 0; NULL: none */
    size_t inputs;          /* redirections of descriptor 0: the last one counts */
    bool reads;             /* its input is another command's output, or a file, or a text */
    bool by_pipe;           /* ... another command's output, unless it has inputs */
    size_t fed;             /* 1 + index of the redirections behind a compound command around it
                               that give it its input; 0: none */
    bool wraps;             /* it only runs others, which are in the list as well */
    size_t pipe_from;       /* index of the first command of its pipe */
    bool prints;            /* another command of its pipe reads what it prints */
    unsigned level;         /* of programs that run others */
    bool posix;             /* read by sh, which may be another shell than bash */
    phi__shell_word *also;  /* patterns of files that it reads besides */
    size_t also_count;
    size_t inner_from, inner_to; /* indices of commands in substitutions in its words */
    phi_str function;            /* that it is the body of, or a part of it; empty: none */
    const phi__shell_word *body; /* the here-document with the substitution that it is in */
    phi__shell_sort sort;
    bool quiet; /* it runs neither its words nor its input, or they are in the list */
    const phi__shell_dirs *dirs; /* NULL: the workspace */
} phi__shell_command;

typedef struct phi__shell {
    phi__shell_command *commands;
    size_t count, cap;
    size_t words;
    const char *unknown; /* static: why it could not be parsed; NULL: it was */
    const char *doubt;   /* static: why parts of it are not certain, while it is parsed */
    bool moved;          /* find runs commands in directories that are not known */
    const phi__shell_dirs *visited; /* by cd, anywhere in the line; NULL: none */
    bool lost;                      /* a cd in a loop, a function or an eval: each command may run
                                       in each of these, and elsewhere */
    bool later;                     /* it has functions or a trap, which run after another cd */
} phi__shell;

/* PHI_NO_MEMORY, or PHI_OK. The words point into the arena. */
PHI__FN phi_status phi__wrappers_parse(phi_arena *arena, phi_str line, phi__shell *out);

/* ---- between the files of the parser ---- */

typedef struct phi__shell_here {
    phi_str end;
    bool tabs, quoted;     /* <<-; nothing in it is expanded */
    phi__shell_word *body; /* where it goes */
} phi__shell_here;

typedef struct phi__shell_parser phi__shell_parser;

struct phi__shell_parser {
    phi_arena *arena;
    phi__buf buf; /* words being read, the innermost last */
    const char *at, *end;
    phi__shell *out;
    unsigned depth, level;
    bool lost; /* no memory */
    bool reads, by_pipe, posix;
    bool arrays; /* the word that is read may assign an array */
    size_t pipe_from, fed;
    phi_str function; /* that is being defined; empty: none */
    unsigned repeats; /* loops and functions around */
    /* where commands run; the same if the cd that was read last works, and if it fails */
    const phi__shell_dirs *dirs, *there, *stay;
    unsigned moves; /* how many there were */
    bool single;    /* the pipe that was read last is one simple command, without ! */
    phi__shell_sort sort;
    const phi__shell_word *body; /* the here-document that is read; NULL: none */
    phi__shell_here here[PHI__SHELL_HERE_MOST];
    size_t here_count, here_outer; /* that wait for a line's end; of lists around this one */
    /* A list up to `close` (0: the end), which is taken. */
    void (*list)(phi__shell_parser *p, char close);
};

/* Takes this text if it comes next. A reserved word must end there: a blank or a sign follows. */
PHI__FN bool phi__shell_word_sees(const phi__shell_parser *p, const char *text);
PHI__FN bool phi__shell_word_alone(const phi__shell_parser *p, const char *word);
PHI__FN bool phi__shell_word_take(phi__shell_parser *p, const char *word);

/* Behind "[[": up to "]]". */
PHI__FN void phi__shell_test_read(phi__shell_parser *p);

/* Ends the parsing of a line that holds something uncertain. */
PHI__FN void phi__shell_word_stop(phi__shell_parser *p, const char *why);

/* Notes that it holds something uncertain. */
PHI__FN void phi__shell_word_doubt(phi__shell_parser *p, const char *why);

/* What bash knows and other shells take for something else. */
PHI__FN void phi__shell_word_dialect(phi__shell_parser *p);

/* Blanks, continued lines, comments. */
PHI__FN void phi__shell_word_blanks(phi__shell_parser *p);

/* A word at p->at. False: there is none. */
PHI__FN bool phi__shell_word_read(phi__shell_parser *p, phi__shell_word *out);

/* Finds the commands of an unquoted here-document, and takes its backslashes off. */
PHI__FN void phi__shell_word_body(phi__shell_parser *p, phi__shell_word *body);

/* Behind "((": up to "))". */
PHI__FN void phi__shell_word_arithmetic(phi__shell_parser *p);

/* ( ... ) of an array or a pattern, from behind the parenthesis. */
PHI__FN void phi__shell_word_parens(phi__shell_parser *p);

/* The same: it is no command line; memory ran out. */
PHI__FN void phi__shell_word_invalid(phi__shell_parser *p);
PHI__FN void phi__shell_word_lost(phi__shell_parser *p);

/* Room for one more behind `count`: arrays double. NULL: no memory. */
PHI__FN void *phi__shell_word_room(phi_arena *arena, void *old, size_t count, size_t size);
PHI__FN void phi__shell_word_add(phi__shell_parser *p, phi__shell_word **words, size_t *count,
                                 const phi__shell_word *word);

/* Blanks and line ends, with the here-documents behind them. */
PHI__FN void phi__shell_redirect_lines(phi__shell_parser *p);

/* A redirection at p->at. False: there is none. */
PHI__FN bool phi__shell_redirect_read(phi__shell_parser *p, phi__shell_command *command);

/* Adds the commands of a line to `out`. around: the command that runs it; NULL: none. */
PHI__FN phi_status phi__shell_parse_line(phi_arena *arena, phi_str line,
                                         const phi__shell_command *around, phi__shell *out);

/* Heeds a cd: where the commands after it run. */
PHI__FN void phi__dirs_after(phi__shell_parser *p, const phi__shell_command *command);

/* Those of both; NULL is the workspace. */
PHI__FN const phi__shell_dirs *phi__dirs_both(phi_arena *arena, phi__shell *out,
                                              const phi__shell_dirs *one,
                                              const phi__shell_dirs *other);

/* The one directory `to` from each of `from`. NULL: no memory. */
PHI__FN const phi__shell_dirs *phi__dirs_go(phi_arena *arena, phi__shell *out,
                                            const phi__shell_dirs *from, const phi__shell_word *to);

/* Adds what else may be run: a command with braces as it is after their expansion, texts in its
   words and its input. PHI_NO_MEMORY. */
PHI__FN phi_status phi__suspects_braces(phi_arena *arena, phi__shell *out, size_t index);
PHI__FN phi_status phi__suspects_find(phi_arena *arena, phi__shell *out);

/* Finds what a command reads besides its words. PHI_NO_MEMORY. */
PHI__FN phi_status phi__reads_also(phi_arena *arena, phi__shell_command *command);

/* Adds a pattern of files of a program whose star matches slashes and dots as well, without the
   backslashes that quote its characters. */
PHI__FN void phi__reads_put(phi__buf *out, phi_str glob);

/* True if a program runs nothing that it is given, and heeds no file of its directory. */
PHI__FN bool phi__names_plain(phi_str name);

/* True if it runs what it reads, or its words. */
PHI__FN bool phi__names_runner(phi_str name);

/* The part of a path after its last slash. */
PHI__FN phi_str phi__names_last(phi_str path);

/* True if its first word names an action: "docker rm". */
PHI__FN bool phi__names_tool(phi_str name);

/* True if it also reads no file that its words name. */
PHI__FN bool phi__names_prints(phi_str name);

/* False if a pattern of files leaves most of them: "!*.c". */
PHI__FN bool phi__reads_narrows(phi_str glob);

/* Whether a search for this pattern shows most lines, or looks for keys. */
PHI__FN bool phi__reads_dumps(phi_str pattern);

/* Whether a directory is a hidden one, or outside, or not known. */
PHI__FN bool phi__reads_hidden(const phi__shell_word *dir);

/* Whether the name of a variable is most likely one of a secret. */
PHI__FN bool phi__names_secret(phi_str name);
PHI__FN bool phi__shell_parse_push(phi_arena *arena, phi__shell *out,
                                   const phi__shell_command *command);

#endif
