/* openai_chat_in.h - shared by the files of the OpenAI Chat Completions codec. */
#ifndef PHI_CODECS_OPENAI_CHAT_IN_H
#define PHI_CODECS_OPENAI_CHAT_IN_H

#include "codecs/codecs_in.h"
#include "wire/codec_in.h"

/* The written part of an item of reasoning_details. Fragments of one item are joined. */
typedef enum phi__chat_detail {
    PHI__CHAT_DETAIL_NONE = 0, /* there is no item, or the last one is complete */
    PHI__CHAT_DETAIL_TEXT,     /* inside the item's text */
    PHI__CHAT_DETAIL_OPEN      /* after the text: only the brace is missing */
} phi__chat_detail;

/* The part of an answer at the current position of its text. */
typedef enum phi__chat_mode {
    PHI__CHAT_SAYS = 0, /* text */
    PHI__CHAT_THINKS,   /* after <think> */
    PHI__CHAT_CALLS,    /* after <tool_call> */
    PHI__CHAT_FUNCTION, /* after <function= */
    PHI__CHAT_REST,     /* after <|python_tag|> or [TOOL_CALLS]: calls up to the end */
    PHI__CHAT_JSON      /* JSON at the start of a line: perhaps calls up to the end */
} phi__chat_mode;

/* Splits text into text, thinking and calls. Positions count in assembly->held.bytes. All other
   fields describe the bytes before `at`. Zeroed memory is the start of an answer. */
typedef struct phi__chat_text {
    phi__chat_mode mode;
    size_t from;     /* bytes before this position are in blocks */
    size_t at;       /* bytes before this position were read */
    size_t no_json;  /* lines before this position begin no calls in JSON: they were checked */
    size_t depth;    /* open brackets in a call or in JSON */
    bool begun;      /* text came */
    bool said;       /* text other than blanks went to a block since the last thinking or call */
    bool worded;     /* a byte other than a blank was read since the last thinking or call */
    bool behind;     /* thinking or a call came before: blanks before text are dropped */
    bool called;     /* a call came last, not thinking */
    bool thought;    /* thinking between tags came */
    bool assumed;    /* the text counts as thinking without a tag (PHI_QUIRK_THINK_OPEN) */
    bool structured; /* a structured call came: text is no longer read as calls */
    bool spent;      /* the text up to the end was no calls: do not try again */
    bool plain;      /* ignore strings inside calls, because a quote was missing */
    bool quoted, escaped;   /* in a call or JSON: inside a string; after a backslash */
    bool opened, closed;    /* in JSON: the first bracket came; the last one came */
    bool fenced;            /* in JSON: inside a code fence */
    bool code, inline_code; /* in text: inside a code fence; between backticks */
    bool inside_line;       /* in text: the line has a byte other than a blank */
    uint8_t ticks;          /* in text: number of backticks directly before `at` */
} phi__chat_text;

/* The state of a stream's decoder. It starts as zeroed memory. */
typedef struct phi__chat_state {
    bool finished;     /* a finish_reason came */
    bool finish_empty; /* the finish_reason was "": valid only with [DONE] */
    bool done;         /* [DONE] came */
    bool annotated;    /* annotations came: ignore lists of sources */
    phi__chat_detail detail;
    size_t detail_block;
    uint64_t detail_key; /* hash of the open item's type and index */
    phi__decoding in;
    phi__chat_text text;
} phi__chat_state;

/* How the text of an answer ended. */
typedef enum phi__chat_ending {
    PHI__CHAT_ENDED = 0,
    PHI__CHAT_CALLED, /* a structured call comes: waiting text becomes no call */
    PHI__CHAT_CUT,    /* a length limit ended the text */
    PHI__CHAT_BROKEN  /* a failure ended the text: waiting text becomes no call */
} phi__chat_ending;

static inline bool phi__chat_quirk(const phi__encoder *e, uint64_t quirk) {
    return (e->spec->model->quirks & quirk) != 0;
}

/* In openai_chat_kept.c. The first two return true if the request asks for thinking. The third
   writes the members of the request that switch thinking. */
PHI__FN bool phi__chat_thinking_wanted(const phi__request_spec *spec);
PHI__FN bool phi__chat_thinking_on(const phi__encoder *e);
PHI__FN void phi__chat_thinking_put(phi__encoder *e);

/* Adds text of thinking and keeps the name of the field in which it came. */
PHI__FN void phi__chat_thinking_add(phi__assembly *a, phi__json_text text, const char *field);

/* Adds thinking from a list of text parts, or from a text. *n counts the parts of an event. */
PHI__FN void phi__chat_thinking_list(phi__assembly *a, phi__json_cursor *c, size_t *n);

/* Reads reasoning_details or thinking_blocks, as named by `member`. Their text is thinking, unless
   another member had the same text; `spoken` is true in this case. */
PHI__FN void phi__chat_thinking_details(phi__chat_state *st, phi__assembly *a, phi_str raw,
                                        const char *member, bool spoken);
PHI__FN void phi__chat_thinking_end_details(phi__chat_state *st, phi__assembly *a);

/* In openai_chat_text.c. Adds text of a model whose quirks require splitting. */
PHI__FN void phi__chat_text_add(phi__chat_text *t, phi__assembly *a, phi__json_text text);

/* Moves all waiting bytes into blocks: the text ended or calls follow. May be called twice. */
PHI__FN void phi__chat_text_end(phi__chat_text *t, phi__assembly *a, phi__chat_ending ending);

/* In openai_chat_text.c. Reads a whole text as calls and opens their blocks. False if the text is
   no call. If `known` is true, only calls of the request's tools count. `cut` must be true if the
   text ends inside a call. */
PHI__FN bool phi__chat_calls_of(phi__assembly *a, phi_str text, bool known, bool cut);

/* In openai_chat_kept.c. Reads a member's value. True if phi must keep this member. */
PHI__FN bool phi__chat_kept_wants(phi__json_cursor *c, phi__json_text key, phi_str *raw);

/* Returns the last block, skipping opaque blocks that still collect members. SIZE_MAX if there is
   none. */
PHI__FN size_t phi__chat_kept_last(const phi__assembly *a);

/* As phi__assembly_current, but skips opaque blocks that still collect members. */
PHI__FN size_t phi__chat_kept_current(phi__assembly *a, phi_content_kind kind);

/* Keep raw JSON: the members of a delta or message, a call of a custom tool, a part of the content,
   annotations, and a list of sources (objects or URLs), which replaces earlier citations. */
PHI__FN void phi__chat_kept_members(phi__assembly *a, phi_str delta);
PHI__FN void phi__chat_kept_call(phi__assembly *a, phi_str raw, bool has_index, int64_t index,
                                 bool has_id);
PHI__FN void phi__chat_kept_part(phi__assembly *a, phi__json_text type, phi_str raw);
PHI__FN void phi__chat_kept_annotations(phi__assembly *a, phi_str raw);
PHI__FN void phi__chat_kept_sources(phi__assembly *a, phi_str raw);

/* Closes any block. In an opaque block, merges the pieces first. */
PHI__FN void phi__chat_kept_close(phi__assembly *a, size_t block);

#endif
