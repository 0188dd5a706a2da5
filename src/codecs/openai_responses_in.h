/* openai_responses_in.h - the OpenAI Responses codec, that of Azure, and their two halves. */
#ifndef PHI_CODECS_OPENAI_RESPONSES_IN_H
#define PHI_CODECS_OPENAI_RESPONSES_IN_H

#include "text/json_members_in.h"
#include "wire/codec_in.h"

/* The settings that a rendering depends on: bits of phi__rendered.form. */
#define PHI__OPENAI_RESPONSES_FORM 0xa0000000u
#define PHI__OPENAI_RESPONSES_ORIGIN 1u    /* minted by the same model: ids and reasoning go back */
#define PHI__OPENAI_RESPONSES_NO_IMAGES 2u /* words replace images */
#define PHI__OPENAI_RESPONSES_KIN 4u       /* minted on this wire: members and parts go back */
#define PHI__OPENAI_RESPONSES_AT_AZURE 8u  /* other items have content that it cannot read */
#define PHI__OPENAI_RESPONSES_MEDIA_SHIFT 16 /* of PHI__MEDIA_ bits */

/* Items of messages, into the scratch buffer. same: minted by the same model; kin: on this wire. */
PHI__FN void phi__openai_responses_items_user(phi__encoder *e, const phi_message *m);
PHI__FN void phi__openai_responses_items_assistant(phi__encoder *e, const phi_message *m, bool same,
                                                   bool kin);
PHI__FN void phi__openai_responses_items_result(phi__encoder *e, const phi_message *m);
/* True if an answer's ids and reasoning go back; the same for its members and parts. */
PHI__FN bool phi__openai_responses_items_replays(const phi__encoder *e, size_t at);
PHI__FN bool phi__openai_responses_items_kin(const phi__encoder *e, size_t at);

/* The stream half; the state is zeroed memory. */
typedef struct phi__openai_responses_state {
    bool finished; /* the terminal event came: later ones are ignored */
    bool failed;   /* an error came: of later events, the terminal one alone counts */
    bool broken;   /* the last event was no JSON: an error, unless the stream ends with it */
    bool heard;    /* an event came */
} phi__openai_responses_state;

/* An item of the answer: views of its text; `at` NULL: absent. */
typedef struct phi__openai_responses_output_item {
    phi_str raw;
    phi__json_text type, id, status, phase, call_id, name, arguments;
    phi_str content, summary; /* raw JSON of an array, or empty */
} phi__openai_responses_output_item;

#define PHI__OPENAI_RESPONSES_IS(text, literal) phi__json_cursor_text_is((text), PHI__LIT(literal))

/* The members that an event may have, as views of its text. */
typedef struct phi__openai_responses_event {
    phi__json_text type, delta, arguments, item_id;
    int64_t index;
    phi_str item, response, annotation; /* raw JSON of an object, or empty */
    bool has_error;
} phi__openai_responses_event;

typedef struct phi__openai_responses_response {
    phi__json_text id, model, status, reason;
    phi_str output, usage, error; /* raw JSON, or empty */
} phi__openai_responses_response;

/* openai_responses_read.c. False: no JSON object. */
PHI__FN bool phi__openai_responses_read_event(phi__openai_responses_event *ev, phi_str data);
PHI__FN bool phi__openai_responses_read_response(phi__openai_responses_response *r, phi_str raw);
PHI__FN void phi__openai_responses_read_item(phi__openai_responses_output_item *item, phi_str raw);
/* Nothing, where raw is empty. */
PHI__FN void phi__openai_responses_read_usage(phi__assembly *a, phi_str raw);

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
