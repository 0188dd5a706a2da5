/* openai_chat_in.h - the OpenAI Chat Completions codec and its two halves. */
#ifndef PHI_CODECS_OPENAI_CHAT_IN_H
#define PHI_CODECS_OPENAI_CHAT_IN_H

#include "codecs/codecs_in.h"
#include "wire/codec_in.h"

/* How far an item of reasoning_details is written: fragments of one item are joined. */
typedef enum phi__chat_detail {
    PHI__CHAT_DETAIL_NONE = 0, /* none, or the last is whole */
    PHI__CHAT_DETAIL_TEXT,     /* inside of its text */
    PHI__CHAT_DETAIL_OPEN      /* after it: only the brace is missing */
} phi__chat_detail;

/* What the text of an answer is at the place that was read last. */
typedef enum phi__chat_mode {
    PHI__CHAT_SAYS = 0, /* text */
    PHI__CHAT_THINKS,   /* behind <think> */
    PHI__CHAT_CALLS,    /* behind <tool_call> */
    PHI__CHAT_FUNCTION, /* behind <function= */
    PHI__CHAT_REST,     /* behind <|python_tag|> or [TOOL_CALLS]: calls up to the end */
    PHI__CHAT_JSON      /* from the start of a line on: perhaps calls up to the end */
} phi__chat_mode;

/* Splits text into text, thinking and calls: places in assembly->held.bytes, and the state that the
   bytes before them left. Zeroed memory is the start of an answer. */
typedef struct phi__chat_text {
    phi__chat_mode mode;
    size_t from;     /* bytes before it went into blocks */
    size_t at;       /* bytes before it were read */
    size_t no_json;  /* before it no line begins JSON that may be calls: that was looked at */
    size_t depth;    /* of brackets, in a call or in JSON */
    bool begun;      /* text came */
    bool said;       /* text that is no blank went into a block since the last thinking or call */
    bool worded;     /* a byte that is no blank was read since then */
    bool behind;     /* there was one, so blanks before text are dropped */
    bool called;     /* the last one was a call */
    bool thought;    /* there was thinking between tags */
    bool assumed;    /* thinking that no tag opened, by PHI_QUIRK_THINK_OPEN */
    bool structured; /* calls came as calls: text is none any more */
    bool spent;      /* text up to the end that was no calls: it is not tried again */
    bool plain;      /* strings in calls count no more: a quote was missing */
    bool quoted, escaped;   /* in a call or in JSON: inside a string; behind a backslash */
    bool opened, closed;    /* of JSON: its first bracket came; its last one */
    bool fenced;            /* of JSON: it is in a code fence */
    bool code, inline_code; /* of text: in a code fence; between backticks */
    bool inside_line;       /* of text: a byte of the line is no blank */
    uint8_t ticks;          /* of text: backticks directly before */
} phi__chat_text;

/* The stream half; the state is zeroed memory. */
typedef struct phi__chat_state {
    bool finished;     /* a finish_reason came */
    bool finish_empty; /* it was "": good with [DONE] */
    bool done;         /* [DONE] came */
    bool annotated;    /* annotations came: lists of sources say nothing new */
    phi__chat_detail detail;
    size_t detail_block;
    uint64_t detail_key; /* hash of the open item's type and index */
    phi__decoding in;
    phi__chat_text text;
} phi__chat_state;

/* How the text of an answer ended. */
typedef enum phi__chat_ending {
    PHI__CHAT_ENDED = 0,
    PHI__CHAT_CALLED, /* a real call comes: nothing that waits becomes one */
    PHI__CHAT_CUT,    /* by a limit of its length */
    PHI__CHAT_BROKEN  /* by a failure: nothing that waits becomes a call */
} phi__chat_ending;

static inline bool phi__chat_quirk(const phi__encoder *e, uint64_t quirk) {
    return (e->spec->model->quirks & quirk) != 0;
}

/* openai_chat_kept.c: whether a request thinks, and the members of it that say so. */
PHI__FN bool phi__chat_thinking_wanted(const phi__request_spec *spec);
PHI__FN bool phi__chat_thinking_on(const phi__encoder *e);
PHI__FN void phi__chat_thinking_put(phi__encoder *e);

/* Thinking, with the name of the field it came in. */
PHI__FN void phi__chat_thinking_add(phi__assembly *a, phi__json_text text, const char *field);

/* Thinking as a list of text parts, or as a text. *n counts the parts of an event. */
PHI__FN void phi__chat_thinking_list(phi__assembly *a, phi__json_cursor *c, size_t *n);

/* reasoning_details, or thinking_blocks: `member`. Their text is thinking, unless another member
   had it already: `spoken`. */
PHI__FN void phi__chat_thinking_details(phi__chat_state *st, phi__assembly *a, phi_str raw,
                                        const char *member, bool spoken);
PHI__FN void phi__chat_thinking_end_details(phi__chat_state *st, phi__assembly *a);

/* openai_chat_text.c, where phi__chat_splits. */
PHI__FN void phi__chat_text_add(phi__chat_text *t, phi__assembly *a, phi__json_text text);

/* No more text comes, or calls come: all bytes that wait go into blocks. Twice is harmless. */
PHI__FN void phi__chat_text_end(phi__chat_text *t, phi__assembly *a, phi__chat_ending ending);

/* openai_chat_text.c: reads a whole text as calls and opens their blocks. False: the text is no
   call. known: only calls of the request's tools. cut: the text is the beginning of a call. */
PHI__FN bool phi__chat_calls_of(phi__assembly *a, phi_str text, bool known, bool cut);

/* openai_chat_kept.c: members that phi does not read. Takes a member's value; true if it is one of
   them and says something. */
PHI__FN bool phi__chat_kept_wants(phi__json_cursor *c, phi__json_text key, phi_str *raw);

/* The last block but for opaque ones that members still go into; SIZE_MAX: none. */
PHI__FN size_t phi__chat_kept_last(const phi__assembly *a);

/* phi__assembly_current, for which those blocks do not count. */
PHI__FN size_t phi__chat_kept_current(phi__assembly *a, phi_content_kind kind);

/* The members of a delta or message; a call of a custom tool; a part of the content; annotations;
   and a list of sources (objects, or addresses alone) in place of the citations before. Raw JSON */
PHI__FN void phi__chat_kept_members(phi__assembly *a, phi_str delta);
PHI__FN void phi__chat_kept_call(phi__assembly *a, phi_str raw, bool has_index, int64_t index,
                                 bool has_id);
PHI__FN void phi__chat_kept_part(phi__assembly *a, phi__json_text type, phi_str raw);
PHI__FN void phi__chat_kept_annotations(phi__assembly *a, phi_str raw);
PHI__FN void phi__chat_kept_sources(phi__assembly *a, phi_str raw);

/* Closes any block; an opaque one is then whole. */
PHI__FN void phi__chat_kept_close(phi__assembly *a, size_t block);

#endif
