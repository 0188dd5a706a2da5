/* made_up.c - a protocol that nobody speaks, for test_protocols.py: it is copied to src/codecs of a copy of the sources,
   gets its line in names_in.h, and no other file knows of it.

   A request is words: "user: ...\n", "assistant: ...\n". An answer is a stream of events whose data are its words; an
   event "end" ends it. */
#include "codecs/codecs_in.h"
#include "codecs/names_in.h"

#include "wire/codec_in.h"

enum { PHI__MADE_UP_FORM = 15 << 27 };

static void phi__made_up_nothing(phi__encoder *e) { (void)e; }

static uint32_t phi__made_up_form(const phi__encoder *e, size_t at, bool after) {
    (void)e;
    (void)at;
    return after ? 0 : PHI__MADE_UP_FORM;
}

static void phi__made_up_render(phi__encoder *e, const phi_message *m, size_t at, uint32_t form) {
    size_t i;
    (void)at;
    (void)form;
    phi__buf_text(&e->scratch, m->role == PHI_ROLE_ASSISTANT ? "assistant:" : "user:");
    for (i = 0; i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_TEXT) {
            phi__buf_char(&e->scratch, ' ');
            phi__buf_add_str(&e->scratch, m->content[i].text);
        }
    phi__buf_char(&e->scratch, '\n');
}

static void phi__made_up_append(phi__encoder *e, const phi_message *m, size_t at, uint32_t form,
                                phi_str words) {
    (void)m;
    (void)form;
    if (at != SIZE_MAX) phi__encode_piece(e, words);
}

static void phi__made_up_address(phi__encoder *e) { phi__encode_url(e, "", false, "/made-up"); }

static void phi__made_up_event(void *state, phi__assembly *a, phi_str name, phi_str data) {
    (void)state;
    phi__assembly_start(a);
    if (phi__str_is(name, "end")) {
        a->stop_reason = PHI_STOP_REASON_STOP;
        a->terminal = true;
    } else
        phi__assembly_add(a, phi__assembly_current(a, PHI_CONTENT_TEXT), data);
}

static void phi__made_up_end(void *state, phi__assembly *a) {
    (void)state;
    if (!a->terminal && a->failure.kind == PHI_FAILURE_NONE) phi__classify_truncated(a, a->started);
}

static void phi__made_up_whole(void *state, phi__assembly *a, phi_str body) {
    (void)state;
    phi__classify_body(a, body);
}

PHI__FN const phi__codec *phi__made_up_codec(void);
PHI__FN const phi__codec *phi__made_up_codec(void) {
    static const phi__codec_rules rules = {.format_schema = PHI__SCHEMA_IF_STRICT};
    static const phi__codec codec = {{"made_up", NULL, NULL},
                                     &rules,
                                     1,
                                     phi__made_up_nothing,
                                     phi__made_up_nothing,
                                     phi__made_up_address,
                                     phi__made_up_form,
                                     phi__made_up_render,
                                     phi__made_up_append,
                                     phi__made_up_event,
                                     phi__made_up_end,
                                     phi__made_up_whole,
                                     NULL,
                                     NULL};
    return &codec;
}
