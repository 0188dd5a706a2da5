/* openai_responses_in.h - the OpenAI Responses codec, that of Azure, and their two halves. */
#ifndef PHI_CODECS_OPENAI_RESPONSES_IN_H
#define PHI_CODECS_OPENAI_RESPONSES_IN_H

#include "text/json_members_in.h"
#include "wire/codec_in.h"

#if !defined(PHI_NO_OPENAI_RESPONSES) || !defined(PHI_NO_AZURE)

#ifndef PHI_NO_OPENAI_RESPONSES
PHI__FN const phi__codec *phi__openai_responses_codec(void);
#endif
#ifndef PHI_NO_AZURE
PHI__FN const phi__codec *phi__openai_responses_azure_codec(void); /* the same at another address */
#endif

/* The stream half; the state is zeroed memory. */
typedef struct phi__openai_responses_state {
    bool finished; /* the terminal event came: later ones are ignored */
    bool failed;   /* an error came: of later events, the terminal one alone counts */
    bool broken;   /* the last event was no JSON: an error, unless the stream ends with it */
    bool heard;    /* an event came */
} phi__openai_responses_state;

/* An item of the answer, as it stands in its text; `at` NULL: absent. */
typedef struct phi__openai_responses_output_item {
    phi_str raw;
    phi__json_text type, id, status, phase, call_id, name, arguments;
    phi_str content, summary; /* raw JSON of an array, or empty */
} phi__openai_responses_output_item;

#define PHI__OPENAI_RESPONSES_IS(text, literal) phi__json_cursor_text_is((text), PHI__LIT(literal))
/* nothing, where raw is empty */
PHI__FN void phi__openai_responses_usage(phi__assembly *a, phi_str raw);

/* openai_responses_kept.c: the data of a finished text or call that the next request sends back, in
   the draft's `replay`: an object with the strings "id", "phase", "more" (the item's other members,
   with commas between) and "parts" (its content, where that is more than texts). The strings hold
   JSON byte for byte. */
PHI__FN void phi__openai_responses_kept_item(phi__assembly *a, size_t block,
                                             const phi__openai_responses_output_item *item);
/* The annotations of a message's parts, in place of those before. */
PHI__FN void phi__openai_responses_kept_citations(phi__assembly *a, size_t block, phi_str content);

PHI__FN void phi__openai_responses_stream_event(void *state, phi__assembly *a, phi_str name,
                                                phi_str data);
PHI__FN void phi__openai_responses_stream_end(void *state, phi__assembly *a);
PHI__FN void phi__openai_responses_stream_whole(void *state, phi__assembly *a, phi_str body);

#endif

#endif
