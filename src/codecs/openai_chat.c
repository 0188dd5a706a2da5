/* openai_chat.c - requests of the OpenAI Chat Completions API, for all servers that speak it.

   Each message is rendered whole and kept; what servers do differently are bits of the model's
   quirks, and those bits that change a message are part of the form it is kept under.
   wire.md parts 3 and 9. */
#include "codecs/openai_chat_in.h"

#include "codecs/openai_in.h"
#include "codecs/registry_in.h"
#include "wire/format_in.h"
#include "wire/render_in.h"
#include "wire/strict_in.h"

#ifndef PHI_NO_OPENAI_CHAT

/* The settings that a rendering depends on: bits of phi__rendered.form, above the quirks. */
enum {
    PHI__CHAT_FORM = 1 << 30,
    PHI__CHAT_ORIGIN = 1 << 29,   /* minted by the same model: reasoning goes back */
    PHI__CHAT_THINKING = 1 << 28, /* this request thinks */
    PHI__CHAT_IMAGES = 1 << 27,   /* the images of a tool result */
    PHI__CHAT_NO_GIF = 1 << 26    /* words in place of GIFs (Ollama) */
};

/* The quirks that change how a message is rendered. */
#define PHI__CHAT_FORM_QUIRKS                                                                      \
    (PHI_QUIRK_TOOL_NAME_IN_RESULT | PHI_QUIRK_REPLAY_REASONING | PHI_QUIRK_REASONING_REQUIRED |   \
     PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_ID_9 | PHI_QUIRK_THINKING_PARTS |                         \
     PHI_QUIRK_CACHE_CONTROL | PHI_QUIRK_NO_IMAGES)

#define PHI__CHAT_OBJECT_LINE "Answer with one JSON object and nothing else."
#define PHI__CHAT_MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"

static bool phi__chat_quirk(const phi__encoder *e, uint32_t quirk) {
    return (e->ask->model->quirks & quirk) != 0;
}

static phi__id_rule phi__chat_id_rule(const phi_model *model) {
    return (model->quirks & PHI_QUIRK_ID_9) != 0 ? PHI__ID_9 : PHI__ID_40;
}

static bool phi__chat_asks_to_think(const phi__ask *ask) {
    return ask->model->reasoning && ask->thinking != PHI_THINKING_OFF;
}

static bool phi__chat_thinks(const phi__encoder *e) { return phi__chat_asks_to_think(e->ask); }

/* Claude behind LiteLLM, which hands on what Anthropic then refuses beside thinking: a temperature,
   and a forced call. */
static bool phi__chat_claude_thinks(const phi__encoder *e) {
    return phi__chat_thinks(e) && phi__chat_quirk(e, PHI_QUIRK_CACHE_CONTROL) &&
           phi__str_is(phi_str_of(e->ask->model->provider), "litellm");
}

/* ---- content ---- */

static void phi__chat_text_part(phi__encoder *e, phi_str text) {
    phi__buf *out = &e->scratch;
    phi__json_put_comma(out);
    phi__buf_text(out, "{\"type\":\"text\"");
    phi__render_text_member(e, "text", text);
    phi__buf_char(out, '}');
}

static void phi__chat_image_part(phi__encoder *e, const phi_content *c) {
    phi__buf *out = &e->scratch;
    phi__json_put_comma(out);
    phi__buf_text(out, "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:");
    phi__json_put_part(out, c->mime_type);
    phi__buf_text(out, ";base64,");
    phi__render_base64(e, c->data);
    phi__buf_text(out, "\"}}");
}

static void phi__chat_parts(phi__encoder *e, const phi_message *m) {
    bool omitted = false;
    size_t i;
    phi__buf_char(&e->scratch, '[');
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        bool is_image = phi__render_is_image(c);
        if (phi__openai_is_text(c))
            phi__chat_text_part(e, c->text);
        else if (is_image && !phi__render_omits(e, c))
            phi__chat_image_part(e, c);
        else if (is_image && !omitted)
            phi__chat_text_part(e, PHI__LIT(PHI__RENDER_NO_IMAGE));
        omitted = is_image;
    }
    phi__buf_char(&e->scratch, ']');
}

/* Nothing at all where nothing of it may be sent. */
static void phi__chat_user(phi__encoder *e, const phi_message *m) {
    bool image = phi__render_sends_image(e, m), text = image || phi__render_omits_any(e, m);
    size_t i;
    for (i = 0; i < m->content_count && !text; i++) text = phi__openai_is_text(&m->content[i]);
    if (!text) return;
    phi__buf_text(&e->scratch, "{\"role\":\"user\",\"content\":");
    if (phi__chat_quirk(e, PHI_QUIRK_CACHE_CONTROL) || image)
        phi__chat_parts(e, m);
    else {
        phi__buf_char(&e->scratch, '"');
        (void)phi__openai_join_text(e, m);
        phi__buf_char(&e->scratch, '"');
    }
    phi__buf_char(&e->scratch, '}');
}

/* ---- the assistant ---- */

static bool phi__chat_is_call(const phi_content *c) {
    return c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete;
}

static bool phi__chat_is_thinking(const phi_content *c) {
    return c->kind == PHI_CONTENT_THINKING && !c->redacted && !phi__render_blank(c->text);
}

/* Thinking as a part before the text, as Mistral wants it back. */
static bool phi__chat_thinking_parts(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    bool any = false;
    size_t i;
    for (i = 0; i < m->content_count; i++) any = any || phi__chat_is_thinking(&m->content[i]);
    if (!any) return false;
    phi__buf_char(out, '[');
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (phi__chat_is_thinking(c)) {
            phi__json_put_comma(out);
            phi__buf_text(out, "{\"type\":\"thinking\",\"thinking\":[");
            phi__chat_text_part(e, c->text);
            phi__buf_text(out, "]}");
        } else if (phi__openai_is_text(c))
            phi__chat_text_part(e, c->text);
    }
    phi__buf_char(out, ']');
    return true;
}

static void phi__chat_calls(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    bool open = false;
    size_t i;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (!phi__chat_is_call(c)) continue;
        phi__buf_text(out, open ? ",{\"id\":" : ",\"tool_calls\":[{\"id\":");
        open = true;
        phi__render_id(out, c->id, phi__chat_id_rule(e->ask->model));
        phi__buf_text(out, ",\"type\":\"function\",\"function\":{\"name\":");
        phi__render_name(out, c->name, 64);
        phi__render_text_member(e, "arguments", phi__render_arguments(e, c->arguments));
        phi__buf_text(out, "}}");
    }
    if (open) phi__buf_char(out, ']');
}

/* What came in reasoning_details, or in thinking_blocks, goes back verbatim in place of the text.
   start: of the replay, "{" and the member with its bracket. */
static bool phi__chat_put_details(phi__buf *out, const phi_message *m, const char *start) {
    size_t i, n = strlen(start);
    bool any = false;
    for (i = 0; i < m->content_count; i++) {
        phi_str replay = m->content[i].replay;
        if (m->content[i].kind != PHI_CONTENT_THINKING || !phi__str_starts(replay, start)) continue;
        if (replay.len < n + 3 || replay.at[replay.len - 1] != '}') continue;
        phi__buf_char(out, ',');
        if (!any) phi__buf_text(out, start + 1);
        phi__buf_add(out, replay.at + n, replay.len - n - 2);
        any = true;
    }
    if (any) phi__buf_char(out, ']');
    return any;
}

#define PHI__CHAT_DETAILS "{\"reasoning_details\":["
#define PHI__CHAT_BLOCKS "{\"thinking_blocks\":["

/* The reasoning text, in the field it came in. The signatures of Claude behind LiteLLM go back
   wherever they came from: without them the second request of a tool loop is refused. */
static void phi__chat_put_reasoning(phi__encoder *e, const phi_message *m, bool same) {
    static const char *const fields[] = {"reasoning_content", "reasoning", "reasoning_text"};
    phi__buf *out = &e->scratch;
    bool required = phi__chat_quirk(e, PHI_QUIRK_REASONING_REQUIRED) && phi__chat_thinks(e);
    bool any = false;
    size_t i, field = 0;
    if (same && phi__chat_put_details(out, m, PHI__CHAT_BLOCKS)) return;
    if (same && phi__chat_quirk(e, PHI_QUIRK_REPLAY_REASONING)) {
        if (phi__chat_put_details(out, m, PHI__CHAT_DETAILS)) return;
        for (i = 0; i < m->content_count; i++) {
            const phi_content *c = &m->content[i];
            if (!phi__chat_is_thinking(c)) continue;
            if (any)
                phi__buf_text(out, "\\n");
            else {
                for (field = PHI__COUNT(fields) - 1; field > 0; field--)
                    if (phi__str_is(c->signature, fields[field])) break;
                phi__json_put_key(out, phi_str_of(fields[field]));
                phi__buf_char(out, '"');
            }
            phi__render_text(e, c->text);
            any = true;
        }
        if (any) phi__buf_char(out, '"');
    }
    if (required && !any) phi__buf_text(out, ",\"reasoning_content\":\"\"");
}

static void phi__chat_assistant(phi__encoder *e, const phi_message *m, bool same) {
    phi__buf *out = &e->scratch;
    bool text = false, calls = false;
    size_t i;
    for (i = 0; i < m->content_count; i++) {
        text = text || phi__openai_is_text(&m->content[i]);
        calls = calls || phi__chat_is_call(&m->content[i]);
    }
    if (!text && !calls) return;
    phi__buf_text(out, "{\"role\":\"assistant\",\"content\":");
    if (same && phi__chat_quirk(e, PHI_QUIRK_THINKING_PARTS) && phi__chat_thinking_parts(e, m)) {
        /* written */
    } else if (text) {
        phi__buf_char(out, '"');
        (void)phi__openai_join_text(e, m);
        phi__buf_char(out, '"');
    } else
        phi__buf_text(out, phi__chat_quirk(e, PHI_QUIRK_EMPTY_CONTENT) ? "\"\"" : "null");
    phi__chat_put_reasoning(e, m, same);
    phi__chat_calls(e, m);
    phi__buf_char(out, '}');
}

/* ---- tool results ---- */

static void phi__chat_result(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    phi__buf_text(out, "{\"role\":\"tool\",\"tool_call_id\":");
    phi__render_id(out, m->tool_call_id, phi__chat_id_rule(e->ask->model));
    if (phi__chat_quirk(e, PHI_QUIRK_TOOL_NAME_IN_RESULT)) {
        phi__buf_text(out, ",\"name\":");
        phi__render_name(out, m->tool_name, 64);
    }
    phi__buf_text(out, ",\"content\":\"");
    if (m->is_error) phi__buf_text(out, "Error: ");
    if (!phi__openai_join_text(e, m))
        phi__buf_text(out, phi__render_sends_image(e, m) ? "(see the image below)" : "(no output)");
    phi__buf_text(out, "\"}");
}

static void phi__chat_result_images(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    size_t i;
    phi__buf_text(out, "{\"type\":\"text\",\"text\":\"Image returned by tool ");
    phi__json_put_part(out, m->tool_name);
    phi__buf_text(out, ":\"}");
    for (i = 0; i < m->content_count; i++)
        if (phi__render_is_image(&m->content[i]) && !phi__render_omits(e, &m->content[i]))
            phi__chat_image_part(e, &m->content[i]);
}

/* ---- messages ---- */

/* Before a message: the comma, and what some servers want between a tool and a user. */
static void phi__chat_before(phi__encoder *e, phi_role role) {
    if (role == PHI_ROLE_USER && e->last_role == PHI_ROLE_TOOL_RESULT &&
        phi__chat_quirk(e, PHI_QUIRK_ASSISTANT_AFTER_TOOL))
        phi__encode_glue(e, ",{\"role\":\"assistant\",\"content\":\"I have the results.\"}");
    if (e->last_role != (phi_role)0) phi__encode_glue(e, ",");
    e->last_role = role;
}

static uint32_t phi__chat_form(const phi__encoder *e) {
    bool gif = phi__render_takes(e->codec, e->ask->model, PHI__LIT("image/gif"));
    return gif ? (uint32_t)PHI__CHAT_FORM : (uint32_t)(PHI__CHAT_FORM | PHI__CHAT_NO_GIF);
}

/* The images of a result follow all results, and rendering cannot be delayed there: they are
   rendered with their result. False: not yet. */
static bool phi__chat_images_ready(phi__encoder *e, size_t at) {
    const phi_message *m = e->ask->items[at].message;
    uint32_t form = phi__chat_form(e) | PHI__CHAT_IMAGES;
    phi_str parts;
    if (m->role != PHI_ROLE_TOOL_RESULT || e->ask->items[at].rendered == NULL ||
        !phi__render_sends_image(e, m) || phi__encode_kept(e, at, UINT32_MAX, form, &parts))
        return true;
    phi__chat_result_images(e, m);
    return phi__encode_keep(e, at, UINT32_MAX, form, &parts);
}

static void phi__chat_item(phi__encoder *e, size_t at) {
    const phi_message *m = e->ask->items[at].message;
    bool same = m->role == PHI_ROLE_ASSISTANT && phi__render_same_origin(e, at);
    uint32_t form = phi__chat_form(e) | (e->ask->model->quirks & PHI__CHAT_FORM_QUIRKS);
    phi_str json;
    if (same) form |= PHI__CHAT_ORIGIN;
    if (m->role == PHI_ROLE_ASSISTANT && phi__chat_thinks(e)) form |= PHI__CHAT_THINKING;
    if (!phi__chat_images_ready(e, at)) return;
    if (!phi__encode_kept(e, at, UINT32_MAX, form, &json)) {
        if (m->role == PHI_ROLE_USER)
            phi__chat_user(e, m);
        else if (m->role == PHI_ROLE_TOOL_RESULT)
            phi__chat_result(e, m);
        else
            phi__chat_assistant(e, m, same);
        if (!phi__encode_keep(e, at, UINT32_MAX, form, &json)) return;
    }
    if (json.len == 0) return;
    phi__chat_before(e, m->role);
    phi__encode_piece(e, json);
    if (m->role == PHI_ROLE_USER && e->count > 0) e->mark_piece = e->count - 1;
}

static void phi__chat_missing(phi__encoder *e, size_t item, size_t block) {
    const phi_content *call = &e->ask->items[item].message->content[block];
    phi__buf *out = &e->scratch;
    phi__chat_before(e, PHI_ROLE_TOOL_RESULT);
    phi__buf_clear(out);
    phi__buf_text(out, "{\"role\":\"tool\",\"tool_call_id\":");
    phi__render_id(out, call->id, phi__chat_id_rule(e->ask->model));
    if (phi__chat_quirk(e, PHI_QUIRK_TOOL_NAME_IN_RESULT)) {
        phi__buf_text(out, ",\"name\":");
        phi__render_name(out, call->name, 64);
    }
    phi__buf_text(out, ",\"content\":\"Error: No result provided\"}");
    phi__encode_scratch(e);
}

/* Tool messages hold no images: those of all results follow in one user message. */
static void phi__chat_after_results(phi__encoder *e, size_t from, size_t to) {
    bool open = false;
    size_t i;
    if (phi__chat_quirk(e, PHI_QUIRK_NO_IMAGES)) return;
    for (i = from; i < to; i++) {
        const phi_message *m = e->ask->items[i].message;
        uint32_t form = phi__chat_form(e) | PHI__CHAT_IMAGES;
        phi_str parts;
        if (m->role != PHI_ROLE_TOOL_RESULT || !phi__render_sends_image(e, m)) continue;
        if (!phi__encode_kept(e, i, UINT32_MAX, form, &parts)) {
            phi__chat_result_images(e, m);
            if (!phi__encode_keep(e, i, UINT32_MAX, form, &parts)) return;
        }
        if (open)
            phi__encode_glue(e, ",");
        else {
            phi__chat_before(e, PHI_ROLE_USER);
            phi__encode_glue(e, "{\"role\":\"user\",\"content\":[");
        }
        open = true;
        phi__encode_piece(e, parts);
    }
    if (open) phi__encode_glue(e, "]}");
}

/* ---- around the messages ---- */

static void phi__chat_put_switch(phi__encoder *e, const char *before, const char *on,
                                 const char *off, const char *after) {
    phi__buf_text(&e->scratch, before);
    phi__buf_text(&e->scratch, phi__chat_thinks(e) ? on : off);
    phi__buf_text(&e->scratch, after);
}

static void phi__chat_put_thinking(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    bool openai = phi__str_is(phi_str_of(e->ask->model->provider), "openai");
    const char *effort = phi__openai_effort_name(e, openai);
    if (!e->ask->model->reasoning) return;
    if (phi__chat_quirk(e, PHI_QUIRK_REASONING_FORMAT)) /* Groq's Qwen: on or off; wire.md part 3 */
        effort = phi__chat_thinks(e) ? "default" : "none";
    if (effort != NULL && phi__chat_quirk(e, PHI_QUIRK_REASONING_EFFORT))
        phi__render_member(out, "reasoning_effort", phi_str_of(effort));
    if (phi__chat_thinks(e) && phi__chat_quirk(e, PHI_QUIRK_REASONING_OBJECT)) {
        phi__buf_text(out, ",\"reasoning\":{\"effort\":\"");
        phi__buf_text(out, effort);
        phi__buf_text(out, "\"}");
    }
    if (phi__chat_quirk(e, PHI_QUIRK_REASONING_ENABLED))
        phi__chat_put_switch(e, ",\"reasoning\":{\"enabled\":", "true", "false", "}");
    if (phi__chat_quirk(e, PHI_QUIRK_THINKING_TYPE))
        phi__chat_put_switch(
            e, ",\"thinking\":{\"type\":\"", "enabled", "disabled",
            phi__chat_quirk(e, PHI_QUIRK_KEEP_THINKING) ? "\",\"clear_thinking\":false}" : "\"}");
    if (phi__chat_quirk(e, PHI_QUIRK_ENABLE_THINKING)) {
        phi__chat_put_switch(e, ",\"enable_thinking\":", "true", "false", "");
        if (phi__chat_thinks(e)) {
            phi__buf_text(out, ",\"thinking_budget\":");
            phi__buf_u64(out, phi__render_budget(e->ask->thinking));
        }
    }
    if (phi__chat_quirk(e, PHI_QUIRK_TEMPLATE_THINKING))
        phi__chat_put_switch(e, ",\"chat_template_kwargs\":{\"enable_thinking\":", "true", "false",
                             "}");
    if (phi__chat_thinks(e) && phi__chat_quirk(e, PHI_QUIRK_PROMPT_MODE))
        phi__buf_text(out, ",\"prompt_mode\":\"reasoning\"");
    if (phi__chat_quirk(e, PHI_QUIRK_REASONING_FORMAT))
        phi__buf_text(out, ",\"reasoning_format\":\"parsed\"");
}

/* Where one tool alone is offered, "required" means that one: llama.cpp ignores a name, and LM
   Studio answers it with 400. Qwen knows names, and no "required". */
static const char *phi__chat_choice(const phi__encoder *e) {
    if (e->ask->tool_choice == PHI_TOOL_CHOICE_NONE) return "\"none\"";
    if (e->ask->tool_choice == PHI_TOOL_CHOICE_AUTO || phi__chat_claude_thinks(e))
        return "\"auto\"";
    if (e->ask->respond_only && phi__str_is(phi_str_of(e->ask->model->provider), "qwen"))
        return "{\"type\":\"function\",\"function\":{\"name\":\"" PHI_RESPOND_TOOL "\"}}";
    return phi__chat_quirk(e, PHI_QUIRK_TOOL_CHOICE_ANY) ? "\"any\"" : "\"required\"";
}

static void phi__chat_put_tools(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    size_t i;
    bool strict;
    if (e->ask->tool_count == 0) return;
    phi__buf_text(out, ",\"tool_choice\":");
    phi__buf_text(out, phi__chat_choice(e));
    if (phi__chat_quirk(e, PHI_QUIRK_TOOL_STREAM)) phi__buf_text(out, ",\"tool_stream\":true");
    phi__buf_text(out, ",\"tools\":[");
    for (i = 0; i < e->ask->tool_count; i++) {
        phi__buf_text(out, i > 0 ? "," : "");
        phi__buf_text(out, "{\"type\":\"function\",\"function\":{");
        strict = phi__strict_put_tool(e, &e->ask->tools[i], ",\"parameters\":");
        phi__buf_text(out, strict ? ",\"strict\":true}}" : "}}");
    }
    phi__buf_char(out, ']');
}

static void phi__chat_put_format(phi__encoder *e) {
    const phi_format *format = &e->ask->format;
    phi__buf *out = &e->scratch;
    if (format->kind == PHI_FORMAT_TEXT) return;
    if (format->kind == PHI_FORMAT_JSON_OBJECT) {
        phi__buf_text(out, ",\"response_format\":{\"type\":\"json_object\"}");
        return;
    }
    phi__buf_text(out, ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{");
    phi__openai_put_schema(e);
    phi__buf_text(out, "}}");
}

static void phi__chat_put_system(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    if (phi__render_blank(e->ask->system_prompt)) return;
    phi__buf_text(out, phi__chat_quirk(e, PHI_QUIRK_DEVELOPER_ROLE) && e->ask->model->reasoning
                           ? "{\"role\":\"developer\",\"content\":"
                           : "{\"role\":\"system\",\"content\":");
    if (phi__chat_quirk(e, PHI_QUIRK_CACHE_CONTROL) && phi__ask_marks(e->ask, PHI__MARK_SYSTEM)) {
        phi__buf_text(out, "[{\"type\":\"text\"");
        phi__render_member(out, "text", e->ask->system_prompt);
        phi__buf_text(out, PHI__CHAT_MARK "}]}");
    } else {
        phi__json_put_str(out, e->ask->system_prompt);
        phi__buf_char(out, '}');
    }
    e->last_role = PHI_ROLE_ASSISTANT; /* any: a comma comes next */
}

/* OpenAI's reasoning models refuse a temperature; others that take an effort do not. */
static bool phi__chat_takes_temperature(const phi__encoder *e) {
    if (e->ask->temperature < 0 || phi__chat_claude_thinks(e)) return false;
    return !(e->ask->model->reasoning && phi__chat_quirk(e, PHI_QUIRK_REASONING_EFFORT) &&
             phi__chat_quirk(e, PHI_QUIRK_DEVELOPER_ROLE));
}

static void phi__chat_head(phi__encoder *e) {
    const phi__ask *ask = e->ask;
    phi__buf *out = &e->scratch;
    uint32_t most = ask->max_tokens != 0 ? ask->max_tokens : ask->model->max_tokens;
    phi__buf_clear(out);
    phi__buf_char(out, '{');
    phi__render_member(out, "model", phi_str_of(ask->model->id));
    phi__buf_text(out, ",\"stream\":true");
    if (!phi__chat_quirk(e, PHI_QUIRK_NO_STREAM_USAGE))
        phi__buf_text(out, ",\"stream_options\":{\"include_usage\":true}");
    if (phi__chat_quirk(e, PHI_QUIRK_STORE_FALSE)) phi__buf_text(out, ",\"store\":false");
    if (most != 0) {
        phi__buf_text(out, phi__chat_quirk(e, PHI_QUIRK_MAX_COMPLETION_TOKENS)
                               ? ",\"max_completion_tokens\":"
                               : ",\"max_tokens\":");
        phi__buf_u64(out, most);
    }
    if (phi__chat_takes_temperature(e)) {
        phi__buf_text(out, ",\"temperature\":");
        phi__json_put_double(out, ask->temperature);
    }
    phi__chat_put_thinking(e);
    if (phi__chat_quirk(e, PHI_QUIRK_CACHE_KEY)) phi__openai_put_cache_key(e);
    phi__chat_put_format(e);
    phi__chat_put_tools(e);
    phi__buf_text(out, ",\"messages\":[");
    phi__chat_put_system(e);
    phi__encode_scratch(e);
}

static void phi__chat_tail(phi__encoder *e) {
    if (phi__chat_quirk(e, PHI_QUIRK_EMPTY_TOOLS) && e->ask->tool_count == 0 && e->had_calls)
        phi__encode_glue(e, "],\"tools\":[]}");
    else
        phi__encode_glue(e, "]}");
    if (phi__chat_quirk(e, PHI_QUIRK_CACHE_CONTROL) && phi__ask_marks(e->ask, PHI__MARK_MESSAGES))
        phi__encode_mark(e, 3, PHI__CHAT_MARK); /* inside of the "}]}" of its last part */
}

static void phi__chat_address(phi__encoder *e) {
    phi_str key = phi__str_trim(phi_str_of(e->ask->model->api_key));
    phi__encode_url(e, "/v1", true, "/chat/completions");
    phi__encode_header(e, "content-type", PHI__LIT("application/json"));
    phi__encode_header(e, "accept", PHI__LIT("text/event-stream"));
    if (key.len > 0) {
        phi__buf_clear(&e->scratch);
        phi__buf_text(&e->scratch, "Bearer ");
        phi__buf_add_str(&e->scratch, key);
        phi__encode_header(e, "authorization", phi__buf_str(&e->scratch));
    }
    phi__encode_model_headers(e);
}

/* ---- abilities ---- */

static phi__strict_form phi__chat_strict_form(const phi_model *model) {
    return (model->quirks & PHI_QUIRK_STRICT_TOOLS) != 0 ? phi__openai_strict_form(model)
                                                         : PHI__STRICT_NONE;
}

static phi__format_way phi__chat_format_way(const phi__ask *ask) {
    uint32_t quirks = ask->model->quirks;
    if (ask->format.kind == PHI_FORMAT_JSON_SCHEMA && (quirks & PHI_QUIRK_NO_JSON_SCHEMA) != 0)
        return PHI__FORMAT_BY_TOOL;
    if (ask->tool_count > 0 && ask->tool_choice != PHI_TOOL_CHOICE_NONE &&
        (quirks & PHI_QUIRK_FORMAT_ALONE) != 0)
        return PHI__FORMAT_BY_TOOL;
    if ((quirks & PHI_QUIRK_ENABLE_THINKING) != 0 && phi__chat_asks_to_think(ask))
        return PHI__FORMAT_BY_TOOL; /* Qwen refuses both at once */
    return PHI__FORMAT_NATIVE;
}

static bool phi__chat_unforced(const phi__ask *ask) {
    static const char *const auto_only[] = {"moonshot", "zai"}; /* know no choice but "auto" */
    size_t i;
    for (i = 0; i < PHI__COUNT(auto_only); i++)
        if (phi__str_is(phi_str_of(ask->model->provider), auto_only[i])) return true;
    return phi__chat_asks_to_think(ask);
}

/* Chat wants the word in a message. LM Studio knows only schemas. Tools that may not be called are
   in the way of a format that must stand alone. */
static phi_status phi__chat_format_fit(phi__ask *ask, phi_arena *arena) {
    if (ask->tool_choice == PHI_TOOL_CHOICE_NONE &&
        (ask->model->quirks & PHI_QUIRK_FORMAT_ALONE) != 0)
        ask->tool_count = 0;
    if (ask->format.kind != PHI_FORMAT_JSON_OBJECT) return PHI_OK;
    if (phi__str_is(phi_str_of(ask->model->provider), "lm_studio")) {
        ask->format.kind = PHI_FORMAT_JSON_SCHEMA;
        ask->format.schema = "{\"type\":\"object\"}";
    }
    return phi__format_say(ask, arena, PHI__CHAT_OBJECT_LINE) ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- the codec ---- */

static const phi__codec_rules phi__chat_rules = {phi__chat_id_rule,
                                                 phi__chat_strict_form,
                                                 NULL,
                                                 phi__chat_format_way,
                                                 PHI__SCHEMA_IF_STRICT,
                                                 phi__chat_format_fit,
                                                 phi__chat_unforced,
                                                 NULL,
                                                 0};

PHI__FN const phi__codec *phi__openai_chat_codec(void) {
    static const phi__codec codec = {PHI__NAMES_OPENAI_CHAT,
                                     &phi__chat_rules,
                                     sizeof(phi__chat_state),
                                     phi__chat_head,
                                     phi__chat_item,
                                     phi__chat_tail,
                                     phi__chat_address,
                                     phi__chat_missing,
                                     phi__chat_after_results,
                                     phi__chat_event,
                                     phi__chat_end,
                                     phi__chat_whole,
                                     NULL,
                                     NULL};
    return &codec;
}

#endif
