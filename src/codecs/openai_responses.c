/* openai_responses.c - requests of the OpenAI Responses API, at OpenAI and at Azure.

   The transcript goes out as a list of items; each message is rendered whole, as those of its items
   that may be sent, and kept. Nothing is stored at the server, so reasoning items go back as they
   came, directly before the item they produced, and only to the model that made them: the server
   refuses one without its follower, and an item by its id without its reasoning. Opaque items go
   back byte for byte; OpenAI and Azure are two addresses of one wire, so each takes the other's,
   but for encrypted content, which only its maker reads. wire.md parts 4, 5 and 9. */
#include "codecs/openai_responses_in.h"

#include "codecs/kept_in.h"
#include "codecs/openai_in.h"
#include "codecs/registry_in.h"
#include "wire/render_in.h"
#include "wire/takes_in.h"
#include "wire/strict_in.h"

#if !defined(PHI_NO_OPENAI_RESPONSES) || !defined(PHI_NO_AZURE)

/* The settings that a rendering depends on: bits of phi__rendered.form. */
#define PHI__OPENAI_RESPONSES_FORM 0xa0000000u
#define PHI__OPENAI_RESPONSES_ORIGIN 1u    /* minted by the same model: ids and reasoning go back */
#define PHI__OPENAI_RESPONSES_NO_IMAGES 2u /* words stand for images */
#define PHI__OPENAI_RESPONSES_KIN 4u       /* minted on this wire: members and parts go back */
#define PHI__OPENAI_RESPONSES_AT_AZURE 8u  /* other items have content that it cannot read */
#define PHI__OPENAI_RESPONSES_MEDIA_SHIFT 16 /* of PHI__MEDIA_ bits */

#define PHI__OPENAI_RESPONSES_OBJECT                                                               \
    "{\"role\":\"developer\",\"content\":[{\"type\":\"input_text\",\"text\":"                      \
    "\"Answer with one JSON object and nothing else.\"}]}"

enum {
    PHI__OPENAI_RESPONSES_OUTPUT_LEAST = 16, /* max_output_tokens; wire.md part 4 */
    PHI__OPENAI_RESPONSES_ID_MOST = 64       /* bytes of an item's id */
};

/* ---- opaque items ---- */

/* Of an item that may go back, its type and how far it came; the strings point into its JSON's
   tree. */
typedef struct phi__openai_responses_opaque {
    bool goes;
    bool part;  /* of a message's content: input_text, input_file... */
    bool loose; /* its id may be left out */
} phi__openai_responses_opaque;

static bool phi__openai_responses_among(phi_str word, const char *const *words) {
    for (; *words != NULL; words++)
        if (phi__str_is(word, *words)) return true;
    return false;
}

/* Whether a block goes back to this server. An item that its server still worked on does not. The
   types whose id the API does not require: openai 7.57.0, ResponseInputItem, November 2026. Uses
   and resets e->arena. */
static phi__openai_responses_opaque phi__openai_responses_look(phi__encoder *e,
                                                               const phi_content *c) {
    static const char *const busy[] = {
        "in_progress", "searching", "interpreting", "generating", "calling", "queued", NULL};
    static const char *const loose[] = {"function_call_output",    "custom_tool_call",
                                        "custom_tool_call_output", "shell_call",
                                        "shell_call_output",       "apply_patch_call",
                                        "apply_patch_call_output", "tool_search_call",
                                        "tool_search_output",      "additional_tools",
                                        "mcp_approval_response",   "compaction",
                                        "computer_call_output",    NULL};
    phi__openai_responses_opaque out = {false, false, false};
    phi_arena_mark mark;
    const phi_json *root;
    phi_str type;
    if (!phi__kept_is_of(c, e->codec->names, PHI_PROTOCOL_OPENAI_RESPONSES) &&
        !phi__kept_is_of(c, e->codec->names, PHI_PROTOCOL_AZURE_RESPONSES))
        return out;
    if (!phi__codec_is(e->codec->names, c->protocol) &&
        phi__str_find(c->replay, 0, "\"encrypted_content\"") != SIZE_MAX)
        return out;
    mark = phi_arena_save(e->arena);
    root = phi__kept_tree(e, c->replay);
    type = phi_json_str(phi_json_get(root, "type"), "");
    out.goes = type.len > 0 &&
               !phi__openai_responses_among(phi_json_str(phi_json_get(root, "status"), ""), busy);
    out.part = phi__str_starts(type, "input_");
    out.loose = phi__openai_responses_among(type, loose);
    phi_arena_reset(e->arena, mark);
    return out;
}

/* An item byte for byte. `bare`: without its id, which would name reasoning that does not go
   back. */
static void phi__openai_responses_put_opaque(phi__encoder *e, const phi_content *c, bool bare) {
    static const char *const id[] = {"id", NULL};
    phi__json_write_comma(&e->scratch);
    if (!bare) {
        phi__buf_add_str(&e->scratch, c->replay);
        return;
    }
    phi__buf_char(&e->scratch, '{');
    phi__kept_members(&e->scratch, c->replay, id);
    phi__buf_char(&e->scratch, '}');
}

/* ---- content of users and tools ---- */

/* `before` goes first. */
static void phi__openai_responses_text_part(phi__encoder *e, const char *before,
                                            const phi_content *c) {
    phi__buf *out = &e->scratch;
    phi__json_write_comma(out);
    phi__buf_text(out, "{\"type\":\"input_text\",\"text\":\"");
    phi__buf_text(out, before);
    phi__render_said(e, c);
    phi__buf_text(out, "\"}");
}

/* An image or a document. */
static void phi__openai_responses_block(phi__encoder *e, const phi_content *c) {
    phi__buf *out = &e->scratch;
    phi__json_write_comma(out);
    if (c->kind == PHI_CONTENT_IMAGE) {
        phi__buf_text(out, "{\"type\":\"input_image\",\"detail\":\"auto\",\"image_url\":");
        phi__openai_data_url(e, c);
    } else if (c->url.len > 0) {
        phi__buf_text(out, "{\"type\":\"input_file\"");
        phi__render_member(out, "file_url", c->url);
    } else {
        phi__buf_text(out, "{\"type\":\"input_file\",\"filename\":");
        phi__render_file_name(out, c);
        phi__buf_text(out, ",\"file_data\":");
        phi__openai_data_url(e, c);
    }
    phi__buf_char(out, '}');
}

static bool phi__openai_responses_is_part(phi__encoder *e, const phi_content *c) {
    phi__openai_responses_opaque look = phi__openai_responses_look(e, c);
    return look.goes && look.part;
}

/* The blocks in [from, to). `before` is put before the first text, or alone if there is none. */
static void phi__openai_responses_parts(phi__encoder *e, const phi_message *m, size_t from,
                                        size_t to, const char *before) {
    phi_content line = PHI_ZERO;
    size_t i;
    phi__buf_char(&e->scratch, '[');
    for (i = from; i < to; i++) {
        const phi_content *c = &m->content[i];
        phi__render_way way = phi__render_way_to(e, c);
        line.text = phi__render_stand_in(e, m, i);
        if (way == PHI__RENDER_WORDS || line.text.len > 0) {
            phi__openai_responses_text_part(e, before, line.text.len > 0 ? &line : c);
            before = "";
        } else if (way == PHI__RENDER_BLOCK)
            phi__openai_responses_block(e, c);
        else if (phi__openai_responses_is_part(e, c))
            phi__openai_responses_put_opaque(e, c, false);
    }
    line.text = PHI__LIT("(no output)");
    if (before[0] != '\0') phi__openai_responses_text_part(e, before, &line);
    phi__buf_char(&e->scratch, ']');
}

/* The blocks in [from, to) as a message: nothing at all where nothing of it may be sent. */
static void phi__openai_responses_say(phi__encoder *e, const phi_message *m, size_t from,
                                      size_t to) {
    bool says = false;
    size_t i;
    for (i = from; i < to && !says; i++)
        says = phi__render_way_to(e, &m->content[i]) != PHI__RENDER_SKIP ||
               phi__openai_responses_is_part(e, &m->content[i]);
    if (!says) return;
    phi__json_write_comma(&e->scratch);
    phi__buf_text(&e->scratch, "{\"role\":\"user\",\"content\":");
    phi__openai_responses_parts(e, m, from, to, "");
    phi__buf_char(&e->scratch, '}');
}

/* An opaque item, such as the output of a call that only the host understands, is no part of a
   message but stands between two. */
static void phi__openai_responses_user(phi__encoder *e, const phi_message *m) {
    size_t i, from = 0;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        phi__openai_responses_opaque look = phi__openai_responses_look(e, c);
        if (!look.goes || look.part) continue;
        phi__openai_responses_say(e, m, from, i);
        phi__openai_responses_put_opaque(e, c, false);
        from = i + 1;
    }
    phi__openai_responses_say(e, m, from, m->content_count);
}

static void phi__openai_responses_result(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    const char *before = m->is_error ? "Error: " : "";
    bool parts = phi__render_sends_media(e, m);
    size_t i;
    for (i = 0; i < m->content_count && !parts; i++)
        parts = phi__openai_responses_is_part(e, &m->content[i]);
    phi__buf_text(out, "{\"type\":\"function_call_output\",\"call_id\":");
    phi__render_id(out, m->tool_call_id, PHI__ID_RESPONSES);
    phi__buf_text(out, ",\"output\":");
    if (parts)
        phi__openai_responses_parts(e, m, 0, m->content_count, before);
    else {
        phi__buf_char(out, '"');
        phi__buf_text(out, before);
        if (!phi__openai_join_text(e, m)) phi__buf_text(out, "(no output)");
        phi__buf_char(out, '"');
    }
    phi__buf_char(out, '}');
}

/* ---- the assistant ---- */

/* Whether a signature is a reasoning item that the server can read again: with its content,
   encrypted or (open models) in words. Uses and resets e->arena. */
static bool phi__openai_responses_is_reasoning(phi__encoder *e, phi_str item) {
    phi_arena_mark mark = phi_arena_save(e->arena);
    phi_json *root = NULL;
    phi_status status;
    bool good;
    if (item.len == 0 || item.at[0] != '{') return false;
    status = phi_json_parse(e->arena, item, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_NO_MEMORY) e->failed = true;
    good = status == PHI_OK &&
           phi__str_is(phi_json_str(phi_json_get(root, "type"), ""), "reasoning") &&
           phi_json_str(phi_json_get(root, "id"), "").len > 0 &&
           (phi_json_str(phi_json_get(root, "encrypted_content"), "").len > 0 ||
            phi_json_count(phi_json_get(root, "content")) > 0);
    phi_arena_reset(e->arena, mark);
    return good;
}

/* Whether ids and reasoning of a message may go back: to the same model, of a turn that ended
   well. */
static bool phi__openai_responses_replays(const phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    return m->role == PHI_ROLE_ASSISTANT && m->stop_reason != PHI_STOP_REASON_ERROR &&
           m->stop_reason != PHI_STOP_REASON_ABORTED && phi__render_same_origin(e, at);
}

/* Whether a model of this wire made the message, at OpenAI or at Azure. */
static bool phi__openai_responses_kin(const phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    return m->role == PHI_ROLE_ASSISTANT &&
           (phi__str_is_nocase(m->protocol, PHI_PROTOCOL_OPENAI_RESPONSES) ||
            phi__str_is_nocase(m->protocol, PHI_PROTOCOL_AZURE_RESPONSES) ||
            phi__codec_is(e->codec->names, m->protocol) || phi__render_same_origin(e, at));
}

/* All of a message's reasoning, or none: an id would name an item that the server does not get. */
static bool phi__openai_responses_whole_reasoning(phi__encoder *e, const phi_message *m) {
    size_t i;
    for (i = 0; i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_THINKING &&
            !phi__openai_responses_is_reasoning(e, m->content[i].signature))
            return false;
    return true;
}

/* A string of the block's replay as a member, where it is there, begins so and fits: whether it
   was. */
static bool phi__openai_responses_member(phi__encoder *e, const phi_content *c, const char *key,
                                         const char *prefix) {
    phi_arena_mark mark = phi_arena_save(e->arena);
    phi_json *root = NULL;
    phi_str text;
    bool fits;
    if (c->replay.len == 0) return false;
    if (phi_json_parse(e->arena, c->replay, PHI_JSON_BORROW, &root, NULL) == PHI_NO_MEMORY)
        e->failed = true;
    text = phi_json_str(phi_json_get(root, key), "");
    fits =
        text.len > 0 && text.len <= PHI__OPENAI_RESPONSES_ID_MOST && phi__str_starts(text, prefix);
    if (fits) phi__render_member(&e->scratch, key, text);
    phi_arena_reset(e->arena, mark);
    return fits;
}

/* The reasoning items in [from, to), which produced the item that is written next. */
static void phi__openai_responses_reasoning(phi__encoder *e, const phi_message *m, size_t from,
                                            size_t to) {
    for (; from < to; from++) {
        if (m->content[from].kind != PHI_CONTENT_THINKING) continue;
        if (e->scratch.len > 0) phi__buf_char(&e->scratch, ',');
        phi__buf_add_str(&e->scratch, m->content[from].signature);
    }
}

/* JSON that the block's replay has as the text of a member; empty: none. In the arena. `object`:
   it is the inside of one, else an array. */
static phi_str phi__openai_responses_kept(phi__encoder *e, const phi_content *c, const char *key,
                                          bool object) {
    const phi_str none = {NULL, 0};
    phi_json *root = NULL;
    phi_str text, whole;
    phi__buf braces;
    bool good;
    if (c->replay.len == 0 || phi__str_find(c->replay, 0, key) == SIZE_MAX) return none;
    if (phi_json_parse(e->arena, c->replay, PHI_JSON_BORROW, &root, NULL) == PHI_NO_MEMORY)
        e->failed = true;
    text = phi_json_str(phi_json_get(root, key), "");
    if (text.len == 0) return none;
    if (!object) return text.at[0] == '[' && phi__kept_goes(e, text) ? text : none;
    phi__buf_init(&braces, e->arena->memory);
    phi__buf_char(&braces, '{');
    phi__buf_add_str(&braces, text);
    phi__buf_char(&braces, '}');
    whole = phi__buf_str(&braces);
    if (braces.failed) e->failed = true;
    good = !braces.failed && phi__kept_goes(e, whole);
    phi__buf_free(&braces);
    return good ? text : none;
}

/* Whether the texts of content parts are the block's text: nobody changed it since. */
static bool phi__openai_responses_unchanged(phi__encoder *e, phi_str parts, phi_str text) {
    phi_json *root = NULL, *part;
    phi_json_iter it;
    size_t at = 0;
    if (phi_json_parse(e->arena, parts, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8, &root, NULL) ==
        PHI_NO_MEMORY)
        e->failed = true;
    it = phi_json_each(root);
    while ((part = phi_json_next(&it)) != NULL) {
        phi_str said = phi_json_str(phi_json_get(part, "text"), "");
        if (said.len == 0) said = phi_json_str(phi_json_get(part, "refusal"), "");
        if (said.len > text.len - at ||
            (said.len > 0 && memcmp(text.at + at, said.at, said.len) != 0))
            return false;
        at += said.len;
    }
    return at == text.len;
}

/* The content of a message: its parts as they came, where they are more than its text. */
static void phi__openai_responses_content(phi__encoder *e, const phi_content *c, bool kin) {
    phi__buf *out = &e->scratch;
    phi_arena_mark mark = phi_arena_save(e->arena);
    phi_str parts = {NULL, 0};
    if (kin) parts = phi__openai_responses_kept(e, c, "parts", false);
    if (parts.len > 0 && phi__openai_responses_unchanged(e, parts, c->text))
        phi__buf_add_str(out, parts);
    else {
        bool cites = kin && parts.len == 0 && c->citations.len > 0 && c->citations.at[0] == '[' &&
                     phi__kept_goes(e, c->citations);
        phi__buf_text(out, "[{\"type\":\"output_text\"");
        phi__render_text_member(e, "text", c->text);
        phi__buf_text(out, ",\"annotations\":");
        phi__buf_add_str(out, cites ? c->citations : PHI__LIT("[]"));
        phi__buf_text(out, "}]");
    }
    phi_arena_reset(e->arena, mark);
}

/* Members of the item that phi does not read; `kin`: this wire made them. */
static void phi__openai_responses_more(phi__encoder *e, const phi_content *c, bool kin) {
    phi_arena_mark mark = phi_arena_save(e->arena);
    phi_str more = {NULL, 0};
    if (kin) more = phi__openai_responses_kept(e, c, "more", true);
    if (more.len > 0) {
        phi__buf_char(&e->scratch, ',');
        phi__buf_add_str(&e->scratch, more);
    }
    phi_arena_reset(e->arena, mark);
}

static void phi__openai_responses_said(phi__encoder *e, const phi_content *c, bool same, bool kin) {
    phi__buf *out = &e->scratch;
    phi__buf_text(out, "{\"type\":\"message\"");
    if (same && phi__openai_responses_member(e, c, "id", ""))
        phi__buf_text(out, ",\"status\":\"completed\"");
    phi__buf_text(out, ",\"role\":\"assistant\",\"content\":");
    phi__openai_responses_content(e, c, kin);
    if (same) (void)phi__openai_responses_member(e, c, "phase", "");
    phi__openai_responses_more(e, c, kin);
    phi__buf_char(out, '}');
}

static void phi__openai_responses_call(phi__encoder *e, const phi_content *c, bool same, bool kin) {
    phi__buf *out = &e->scratch;
    phi__buf_text(out, "{\"type\":\"function_call\"");
    if (same) (void)phi__openai_responses_member(e, c, "id", "fc_");
    phi__buf_text(out, ",\"call_id\":");
    phi__render_id(out, c->id, PHI__ID_RESPONSES);
    phi__buf_text(out, ",\"name\":");
    phi__render_name(out, c->name, 64);
    phi__render_text_member(e, "arguments", phi__render_arguments(e, c->arguments));
    phi__openai_responses_more(e, c, kin);
    phi__buf_char(out, '}');
}

/* Whether a block is an item of the request. `bare`: reasoning of the message does not go back. */
static bool phi__openai_responses_sends(phi__encoder *e, const phi_content *c, bool kin,
                                        bool bare) {
    phi__openai_responses_opaque look;
    switch (c->kind) {
    case PHI_CONTENT_TOOL_CALL: return !c->incomplete;
    case PHI_CONTENT_TEXT: {
        phi_arena_mark mark = phi_arena_save(e->arena);
        bool sends =
            phi__openai_is_text(c) ||
            (kin && c->text.len == 0 && phi__openai_responses_kept(e, c, "parts", false).len > 0);
        phi_arena_reset(e->arena, mark);
        return sends;
    }
    case PHI_CONTENT_OPAQUE:
        look = phi__openai_responses_look(e, c);
        return look.goes && !look.part && (!bare || look.loose);
    default: return false;
    }
}

/* `kin`: a model of this wire made the message, and `same`: this very one. */
static void phi__openai_responses_assistant(phi__encoder *e, const phi_message *m, bool same,
                                            bool kin) {
    bool bare = false;
    size_t i, from = 0;
    same = same && phi__openai_responses_whole_reasoning(e, m);
    for (i = 0; i < m->content_count && !same && !bare; i++)
        bare = m->content[i].kind == PHI_CONTENT_THINKING;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (!phi__openai_responses_sends(e, c, kin, bare)) {
            /* the reasoning before it has no follower */
            if (c->kind == PHI_CONTENT_TOOL_CALL || c->kind == PHI_CONTENT_OPAQUE) from = i + 1;
            continue;
        }
        if (same) phi__openai_responses_reasoning(e, m, from, i);
        phi__json_write_comma(&e->scratch);
        if (c->kind == PHI_CONTENT_TOOL_CALL)
            phi__openai_responses_call(e, c, same, kin);
        else if (c->kind == PHI_CONTENT_TEXT)
            phi__openai_responses_said(e, c, same, kin);
        else
            phi__openai_responses_put_opaque(e, c, bare);
        from = i + 1;
    }
}

/* ---- messages ---- */

static void phi__openai_responses_before(phi__encoder *e, phi_role role) {
    if (e->last_role != (phi_role)0) phi__encode_glue(e, ",");
    e->last_role = role;
}

static void phi__openai_responses_item(phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    bool same = phi__openai_responses_replays(e, at), kin = phi__openai_responses_kin(e, at);
    uint32_t form = PHI__OPENAI_RESPONSES_FORM;
    phi_str json;
    if (same) form |= PHI__OPENAI_RESPONSES_ORIGIN;
    if (kin) form |= PHI__OPENAI_RESPONSES_KIN;
    if (phi__codec_is(e->codec->names, PHI__LIT(PHI_PROTOCOL_AZURE_RESPONSES)))
        form |= PHI__OPENAI_RESPONSES_AT_AZURE;
    if ((e->spec->model->quirks & PHI_QUIRK_NO_IMAGES) != 0)
        form |= PHI__OPENAI_RESPONSES_NO_IMAGES;
    if (m->role != PHI_ROLE_ASSISTANT)
        form |= phi__render_media(e->codec, e->spec->model) << PHI__OPENAI_RESPONSES_MEDIA_SHIFT;
    if (!phi__encode_kept(e, at, UINT32_MAX, form, &json)) {
        if (m->role == PHI_ROLE_USER)
            phi__openai_responses_user(e, m);
        else if (m->role == PHI_ROLE_TOOL_RESULT)
            phi__openai_responses_result(e, m);
        else
            phi__openai_responses_assistant(e, m, same, kin);
        if (!phi__encode_keep(e, at, UINT32_MAX, form, &json)) return;
    }
    if (json.len == 0) return;
    phi__openai_responses_before(e, m->role);
    phi__encode_piece(e, json);
}

static void phi__openai_responses_missing(phi__encoder *e, size_t item, size_t block) {
    const phi_content *call = &e->spec->items[item].message->content[block];
    phi__openai_responses_before(e, PHI_ROLE_TOOL_RESULT);
    phi__buf_clear(&e->scratch);
    phi__buf_text(&e->scratch, "{\"type\":\"function_call_output\",\"call_id\":");
    phi__render_id(&e->scratch, call->id, PHI__ID_RESPONSES);
    phi__buf_text(&e->scratch, ",\"output\":\"Error: No result provided\"}");
    phi__encode_scratch(e);
}

/* Results hold their images and documents themselves. */
static void phi__openai_responses_after_results(phi__encoder *e, size_t from, size_t to) {
    (void)e;
    (void)from;
    (void)to;
}

/* ---- around the messages ---- */

static bool phi__openai_responses_at_openai(const phi_model *model) {
    static const char *const azure[PHI__CODEC_NAMES] = PHI__NAMES_AZURE;
    phi_str provider = phi_str_of(model->provider);
    return phi__codec_is(azure, phi_str_of(model->protocol)) || phi__str_is(provider, "openai") ||
           phi__str_is(provider, PHI_PROTOCOL_OPENAI_RESPONSES);
}

/* Models that do not reason refuse both fields, so one of a name that is not known gets them only
   where it is to think. */
static void phi__openai_responses_put_thinking(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    bool openai = phi__openai_responses_at_openai(e->spec->model);
    const char *effort = phi__openai_effort_name(e, openai);
    if (!e->spec->model->reasoning || (openai && effort == NULL)) return;
    phi__buf_text(out, ",\"include\":[\"reasoning.encrypted_content\"]");
    if (effort == NULL) return;
    phi__buf_text(out, ",\"reasoning\":{\"effort\":\"");
    phi__buf_text(out, effort);
    phi__buf_text(out, e->spec->thinking != PHI_THINKING_OFF ? "\",\"summary\":\"auto\"}" : "\"}");
}

static void phi__openai_responses_put_tools(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    phi_tool_choice choice = e->spec->tool_choice;
    size_t i;
    bool strict;
    if (e->spec->tool_count == 0) return;
    phi__buf_text(out, choice == PHI_TOOL_CHOICE_NONE   ? ",\"tool_choice\":\"none\""
                       : choice == PHI_TOOL_CHOICE_AUTO ? ",\"tool_choice\":\"auto\""
                                                        : ",\"tool_choice\":\"required\"");
    if (phi__takes_serial(e->spec, PHI__TAKES_ALL))
        phi__buf_text(out, ",\"parallel_tool_calls\":false");
    phi__buf_text(out, ",\"tools\":[");
    if (phi__takes_deferred(e->spec)) phi__buf_text(out, "{\"type\":\"tool_search\"},");
    for (i = 0; i < e->spec->tool_count; i++) {
        if (i > 0) phi__buf_char(out, ',');
        if (e->spec->tools[i].is_raw) {
            phi__takes_put_raw(e, &e->spec->tools[i]);
            continue;
        }
        phi__buf_text(out, "{\"type\":\"function\",");
        strict = phi__strict_tools_put_tool(e, &e->spec->tools[i], ",\"parameters\":");
        /* omitted counts as true */
        phi__buf_text(out, strict ? ",\"strict\":true" : ",\"strict\":false");
        phi__buf_text(out, e->spec->tools[i].deferred ? ",\"defer_loading\":true}" : "}");
    }
    phi__buf_char(out, ']');
}

static void phi__openai_responses_put_format(phi__encoder *e) {
    const phi_format *format = &e->spec->format;
    phi__buf *out = &e->scratch;
    if (format->kind == PHI_FORMAT_TEXT) return;
    if (format->kind == PHI_FORMAT_JSON_OBJECT) {
        phi__buf_text(out, ",\"text\":{\"format\":{\"type\":\"json_object\"}}");
        return;
    }
    phi__buf_text(out, ",\"text\":{\"format\":{\"type\":\"json_schema\"");
    phi__openai_put_schema(e);
    phi__buf_text(out, "}}");
}

/* Models that reason refuse sampling; no model has stop texts, a seed or a top_k. */
static uint32_t phi__openai_responses_takes(const phi__request_spec *spec) {
    uint32_t takes = PHI__TAKES_TIER | PHI__TAKES_SERIAL;
    if (!spec->model->reasoning) takes |= PHI__TAKES_TEMPERATURE | PHI__TAKES_TOP_P;
    return takes;
}

static void phi__openai_responses_head(phi__encoder *e) {
    static const phi__takes_keys keys = {"temperature", "top_p", NULL, NULL, NULL, "service_tier"};
    const phi__request_spec *spec = e->spec;
    phi__buf *out = &e->scratch;
    uint32_t most = spec->max_tokens != 0 ? spec->max_tokens : spec->model->max_tokens;
    phi__buf_clear(out);
    phi__buf_char(out, '{');
    phi__render_member(out, "model", phi_str_of(spec->model->id));
    phi__buf_text(out, ",\"stream\":true,\"store\":false");
    if (most != 0) {
        phi__buf_text(out, ",\"max_output_tokens\":");
        phi__buf_u64(out, phi__max(most, PHI__OPENAI_RESPONSES_OUTPUT_LEAST));
    }
    phi__takes_put(e, &keys, phi__openai_responses_takes(spec));
    phi__openai_responses_put_thinking(e);
    if ((spec->model->quirks & PHI_QUIRK_CACHE_KEY) != 0) phi__openai_put_cache_key(e);
    phi__openai_responses_put_format(e);
    phi__openai_responses_put_tools(e);
    if (!phi__render_blank(spec->system_prompt))
        phi__render_member(out, "instructions", spec->system_prompt);
    phi__buf_text(out, ",\"input\":[");
    if (spec->format.kind == PHI_FORMAT_JSON_OBJECT) { /* the word must stand in the input itself */
        phi__buf_text(out, PHI__OPENAI_RESPONSES_OBJECT);
        e->last_role = PHI_ROLE_USER; /* any: a comma comes next */
    }
    phi__encode_scratch(e);
}

static void phi__openai_responses_tail(phi__encoder *e) { phi__encode_glue(e, "]}"); }

static void phi__openai_responses_headers(phi__encoder *e, bool azure) {
    phi_str key = phi__str_trim(phi_str_of(e->spec->model->api_key));
    phi__encode_header(e, "content-type", PHI__LIT("application/json"));
    phi__encode_header(e, "accept", PHI__LIT("text/event-stream"));
    if (key.len > 0 && azure)
        phi__encode_header(e, "api-key", key);
    else if (key.len > 0) {
        phi__buf_clear(&e->scratch);
        phi__buf_text(&e->scratch, "Bearer ");
        phi__buf_add_str(&e->scratch, key);
        phi__encode_header(e, "authorization", phi__buf_str(&e->scratch));
    }
    phi__encode_model_headers(e);
}

/* ---- the codecs ---- */

static phi__id_rule phi__openai_responses_id_rule(const phi_model *model) {
    (void)model;
    return PHI__ID_RESPONSES;
}

/* Other servers of this protocol know text and images. Messages hold no audio. */
static uint32_t phi__openai_responses_media(const phi_model *model) {
    phi_str provider = phi_str_of(model->provider);
    if (!phi__str_is(provider, "azure_openai") && !phi__str_is(provider, "openai") &&
        !phi__str_is(provider, PHI_PROTOCOL_OPENAI_RESPONSES) &&
        !phi__str_is(provider, "openrouter"))
        return 0;
    return PHI__MEDIA_PDF | PHI__MEDIA_URL | PHI__MEDIA_TEXT_FILE | PHI__MEDIA_OFFICE;
}

static const char *const phi__openai_responses_same_wire[] = {PHI_PROTOCOL_OPENAI_RESPONSES,
                                                              PHI_PROTOCOL_AZURE_RESPONSES, NULL};
static phi_thinking phi__openai_responses_level(const phi_model *model, phi_thinking wanted) {
    return phi__openai_level(model, wanted, phi__openai_responses_at_openai(model));
}

static const char *const phi__openai_responses_owned[] = {
    "model", "stream", "store",       "max_output_tokens", "instructions",
    "input", "tools",  "tool_choice", "text.format",       NULL};
static const char *const phi__openai_responses_lists[] = {"include", NULL};

static const phi__codec_settings phi__openai_responses_settings = {
    phi__openai_responses_takes, phi__openai_responses_level, phi__openai_responses_owned,
    phi__openai_responses_lists};

/* A name of one digit, a point, and more: "gpt-5.4-mini". The guide "Tool search", November 2026:
   gpt-5.4 and later. Azure has them too, where the deployment has the model's name. */
static bool phi__openai_responses_defers(const phi_model *model) {
    phi_str id = phi_str_of(model->id);
    size_t i = 4;
    uint32_t version[2] = {0, 0}, part = 0;
    if (!phi__openai_responses_at_openai(model) || !phi__str_starts(id, "gpt-")) return false;
    for (; i < id.len && i < 12; i++) {
        if (id.at[i] >= '0' && id.at[i] <= '9')
            version[part] = version[part] * 10 + (uint32_t)(id.at[i] - '0');
        else if (id.at[i] != '.' || part++ > 0)
            break;
    }
    return version[0] < 100 && (version[0] > 5 || (version[0] == 5 && version[1] >= 4));
}

static const phi__codec_rules phi__openai_responses_rules = {phi__openai_responses_id_rule,
                                                             phi__openai_strict_form,
                                                             NULL,
                                                             NULL,
                                                             PHI__SCHEMA_IF_STRICT,
                                                             NULL,
                                                             NULL,
                                                             NULL,
                                                             0,
                                                             phi__openai_responses_media,
                                                             phi__openai_responses_same_wire,
                                                             NULL,
                                                             NULL,
                                                             NULL,
                                                             NULL,
                                                             &phi__openai_responses_settings,
                                                             phi__openai_responses_defers};

#ifndef PHI_NO_OPENAI_RESPONSES
static void phi__openai_responses_address(phi__encoder *e) {
    phi__encode_url(e, "/v1", true, "/responses");
    phi__openai_responses_headers(e, false);
}

PHI__FN const phi__codec *phi__openai_responses_codec(void) {
    static const phi__codec codec = {PHI__NAMES_OPENAI_RESPONSES,
                                     &phi__openai_responses_rules,
                                     sizeof(phi__openai_responses_state),
                                     phi__openai_responses_head,
                                     phi__openai_responses_item,
                                     phi__openai_responses_tail,
                                     phi__openai_responses_address,
                                     phi__openai_responses_missing,
                                     phi__openai_responses_after_results,
                                     phi__openai_responses_stream_event,
                                     phi__openai_responses_stream_end,
                                     phi__openai_responses_stream_whole,
                                     NULL,
                                     NULL};
    return &codec;
}
#endif

#ifndef PHI_NO_AZURE
/* The base as given, but for what stands from "/deployments" on: there is nothing below it. */
static void phi__openai_responses_azure_address(phi__encoder *e) {
    const phi__request_spec *spec = e->spec;
    phi_str base = phi__str_trim(phi_str_of(spec->model->base_url));
    size_t cut = phi__str_find(base, 0, "/deployments"), query = phi__str_find(base, 0, "?");
    phi__request_spec there = *spec;
    phi_model model = *spec->model;
    if (cut != SIZE_MAX && (query == SIZE_MAX || cut < query)) {
        phi_str url = {NULL, 0};
        phi__buf_clear(&e->scratch);
        phi__buf_add(&e->scratch, base.at, cut);
        if (query != SIZE_MAX)
            phi__buf_add(&e->scratch, base.at + query, base.len - query);
        else
            phi__buf_text(&e->scratch, "/v1"); /* without a version only this path is there */
        if (e->scratch.failed || !phi__arena_str(e->arena, phi__buf_str(&e->scratch), &url)) {
            e->failed = true;
            return;
        }
        model.base_url = url.at;
        there.model = &model;
    }
    e->spec = &there;
    phi__encode_url(e, "/openai/v1", true, "/responses");
    e->spec = spec;
    phi__openai_responses_headers(e, true);
}

PHI__FN const phi__codec *phi__openai_responses_azure_codec(void) {
    static const phi__codec codec = {PHI__NAMES_AZURE,
                                     &phi__openai_responses_rules,
                                     sizeof(phi__openai_responses_state),
                                     phi__openai_responses_head,
                                     phi__openai_responses_item,
                                     phi__openai_responses_tail,
                                     phi__openai_responses_azure_address,
                                     phi__openai_responses_missing,
                                     phi__openai_responses_after_results,
                                     phi__openai_responses_stream_event,
                                     phi__openai_responses_stream_end,
                                     phi__openai_responses_stream_whole,
                                     NULL,
                                     NULL};
    return &codec;
}
#endif

#endif
