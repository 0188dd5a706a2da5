/* openai_responses.c - requests of the OpenAI Responses API, at OpenAI and at Azure.

   The transcript goes out as a list of items; each message is rendered whole, as those of its items
   that may be sent, and kept. Nothing is stored at the server. wire.md parts 4, 5 and 9. */
#include "codecs/openai_responses_in.h"

#include "codecs/openai_in.h"
#include "codecs/names_in.h"
#include "wire/render_in.h"
#include "wire/takes_in.h"
#include "wire/strict_in.h"

#define PHI__OPENAI_RESPONSES_OBJECT                                                               \
    "{\"role\":\"developer\",\"content\":[{\"type\":\"input_text\",\"text\":"                      \
    "\"Answer with one JSON object and nothing else.\"}]}"

enum { PHI__OPENAI_RESPONSES_OUTPUT_LEAST = 16 }; /* max_output_tokens; wire.md part 4 */

/* ---- messages ---- */

static void phi__openai_responses_before(phi__encoder *e, phi_role role) {
    if (e->last_role != (phi_role)0) phi__encode_glue(e, ",");
    e->last_role = role;
}

static void phi__openai_responses_item(phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    bool same = phi__openai_responses_items_replays(e, at),
         kin = phi__openai_responses_items_kin(e, at);
    uint32_t form = PHI__OPENAI_RESPONSES_FORM;
    phi_str json;
    if (same) form |= PHI__OPENAI_RESPONSES_ORIGIN;
    if (kin) form |= PHI__OPENAI_RESPONSES_KIN;
    if (phi__codec_is(e->codec->names, PHI__LIT(PHI_PROTOCOL_AZURE_RESPONSES)))
        form |= PHI__OPENAI_RESPONSES_AT_AZURE;
    if ((e->spec->model->quirks & PHI_QUIRK_NO_IMAGES) != 0)
        form |= PHI__OPENAI_RESPONSES_NO_IMAGES;
    if (m->role != PHI_ROLE_ASSISTANT) form |= e->media << PHI__OPENAI_RESPONSES_MEDIA_SHIFT;
    if (!phi__encode_kept(e, at, UINT32_MAX, form, &json)) {
        if (m->role == PHI_ROLE_USER)
            phi__openai_responses_items_user(e, m);
        else if (m->role == PHI_ROLE_TOOL_RESULT)
            phi__openai_responses_items_result(e, m);
        else
            phi__openai_responses_items_assistant(e, m, same, kin);
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
    phi__buf_text(&e->scratch, ",\"output\":\"Error: ");
    phi__render_missing(e);
    phi__buf_text(&e->scratch, "\"}");
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
        strict = phi__openai_put_tool(e, &e->spec->tools[i]);
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

PHI__FN const phi__codec *phi__openai_responses_codec_azure(void) {
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
