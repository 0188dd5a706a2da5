/* parse_in.h - what strategies read out of a model's text. Nothing fails: any bytes are a text.

   Results are parts of the text that was given. */
#ifndef PHI_STRATEGY_PARSE_IN_H
#define PHI_STRATEGY_PARSE_IN_H

#include "base/base_in.h"
#include "text/json.h"

/* Bytes of an answer that are read, in one step: some 3 ms of prose. They are more than 60,000
   tokens. */
enum { PHI__PARSE_MOST = 262144 };

/* The end of a text that is read, from a line's beginning on where one is in it. */
PHI__FN phi_str phi__parse_tail(phi_str text);
/* Lines without their ends, from *at on; both kinds of line ends. False: there is none. */
PHI__FN bool phi__parse_line(phi_str text, size_t *at, phi_str *line);
/* The same; blank lines are skipped, the others trimmed. */
PHI__FN bool phi__parse_full_line(phi_str text, size_t *at, phi_str *line);

/* Without white space and Markdown's emphasis (* _ `) at both ends. */
PHI__FN phi_str phi__parse_plain(phi_str text);
/* `text` begins with `word` (ASCII, in any case), and no letter or digit follows. *rest begins
   behind it. */
PHI__FN bool phi__parse_word(phi_str text, const char *word, phi_str *rest);
/* A colon, U+003A or U+FF1A, after white space and emphasis. */
PHI__FN bool phi__parse_colon(phi_str text, phi_str *rest);
/* A numbered line: "12. text", "12: text", "12) text". White space before it is skipped. */
PHI__FN bool phi__parse_numbered(phi_str line, uint32_t *number, phi_str *rest);
/* "- text", "* text", and with U+2022. */
PHI__FN bool phi__parse_bullet(phi_str line, phi_str *rest);
/* "Step 3: text", in any case, with emphasis around it or not. */
PHI__FN bool phi__parse_step(phi_str line, phi_str *rest);
/* A number at the beginning; false: none. *rest begins behind it. */
PHI__FN bool phi__parse_number(phi_str text, double *out, phi_str *rest);
/* How often `word` occurs, in any case; occurrences do not overlap. */
PHI__FN uint32_t phi__parse_count(phi_str text, const char *word);

/* JSON in a text: the content of the first fenced block that holds an object, else all of it from
   the first brace to the last, else all of it. */
PHI__FN phi_str phi__parse_payload(phi_str text);
/* The payload as an object, in the arena; NULL: it is none. *no_memory is set where there is
   none. */
PHI__FN phi_json *phi__parse_object(phi_str text, phi_arena *arena, bool *no_memory);

#endif
