/* openai_chat_in.h - the OpenAI Chat Completions codec and its two halves. */
#ifndef PHI_CODECS_OPENAI_CHAT_IN_H
#define PHI_CODECS_OPENAI_CHAT_IN_H

#include "text/json_members_in.h"
#include "wire/codec_in.h"
#include "wire/delta_cache_in.h"

#ifndef PHI_NO_OPENAI_CHAT

PHI__FN const phi__codec *phi__openai_chat_codec(void);

/* How far an item of reasoning_details is written: fragments of one item are joined. */
typedef enum phi__openai_chat_detail {
    PHI__OPENAI_CHAT_DETAIL_NONE = 0, /* none, or the last is whole */
    PHI__OPENAI_CHAT_DETAIL_TEXT,     /* inside of its text */
    PHI__OPENAI_CHAT_DETAIL_OPEN      /* behind it: only the brace is missing */
} phi__openai_chat_detail;

/* The stream half; the state is zeroed memory. */
typedef struct phi__openai_chat_state {
    bool finished;     /* a finish_reason came */
    bool finish_empty; /* it was "": good with [DONE] */
    bool done;         /* [DONE] came */
    bool broken;       /* the last event was no JSON: an error, unless the stream ends with it */
    bool heard;        /* an event came */
    bool annotated;    /* so did annotations: lists of sources beside them say nothing new */
    phi__openai_chat_detail detail;
    size_t detail_block;
    uint64_t detail_key; /* hash of the open item's type and index */
    phi__delta_cache repeat;
} phi__openai_chat_state;

#define PHI__OPENAI_CHAT_IS(text, literal) phi__json_cursor_text_is((text), PHI__LIT(literal))

static inline bool phi__openai_chat_quirk(const phi__encoder *e, uint32_t quirk) {
    return (e->spec->model->quirks & quirk) != 0;
}

/* openai_chat_thinking.c: whether a request thinks, and the members of it that say so. */
PHI__FN bool phi__openai_chat_thinking_wanted(const phi__request_spec *spec);
PHI__FN bool phi__openai_chat_thinking_on(const phi__encoder *e);
PHI__FN void phi__openai_chat_thinking_put(phi__encoder *e);
/* Thinking, with the name of the field it came in. */
PHI__FN void phi__openai_chat_thinking_add(phi__assembly *a, phi__json_text text,
                                           const char *field);
/* reasoning_details, or thinking_blocks: `member`. Their text is thinking, unless another member
   had it already: `spoken`. */
PHI__FN void phi__openai_chat_thinking_details(phi__openai_chat_state *st, phi__assembly *a,
                                               phi_str raw, const char *member, bool spoken);
PHI__FN void phi__openai_chat_thinking_end_details(phi__openai_chat_state *st, phi__assembly *a);

/* openai_chat_kept.c: members that phi does not read. Takes a member's value; true if it is one of
   them and says something. */
PHI__FN bool phi__openai_chat_kept_wants(phi__json_cursor *c, phi__json_text key, phi_str *raw);
/* The last block but for opaque ones that members still go into; SIZE_MAX: none. */
PHI__FN size_t phi__openai_chat_kept_last(const phi__assembly *a);
/* phi__assembly_current, for which those blocks do not count. */
PHI__FN size_t phi__openai_chat_kept_current(phi__assembly *a, phi_content_kind kind);
/* The members of a delta or message; a call of a custom tool; a part of the content; annotations;
   and a list of sources (objects, or addresses alone) in place of the citations before. Raw JSON */
PHI__FN void phi__openai_chat_kept_members(phi__assembly *a, phi_str delta);
PHI__FN void phi__openai_chat_kept_call(phi__assembly *a, phi_str raw, bool has_index,
                                        int64_t index, bool has_id);
PHI__FN void phi__openai_chat_kept_part(phi__assembly *a, phi__json_text type, phi_str raw);
PHI__FN void phi__openai_chat_kept_annotations(phi__assembly *a, phi_str raw);
PHI__FN void phi__openai_chat_kept_sources(phi__assembly *a, phi_str raw);
/* Closes any block; an opaque one is then whole. */
PHI__FN void phi__openai_chat_kept_close(phi__assembly *a, size_t block);

PHI__FN void phi__openai_chat_stream_event(void *state, phi__assembly *a, phi_str name,
                                           phi_str data);
PHI__FN void phi__openai_chat_stream_end(void *state, phi__assembly *a);
PHI__FN void phi__openai_chat_stream_whole(void *state, phi__assembly *a, phi_str body);

#endif

#endif
