/* anthropic.c - requests of the Anthropic Messages API.

   A message's content is rendered whole, blocks joined by commas, and kept; roles are opened and
   closed by glue around it, so that tool results and the user's words after them share one message.
   The cache mark moves from turn to turn: it is put inside of the last brace of the last user
   block, which is why no rendering holds one. wire.md parts 2 and 9. */
#include "codecs/anthropic_in.h"

#include "codecs/claude_in.h"
#include "codecs/names_in.h"
#include "wire/prefix_in.h"
#include "wire/render_in.h"
#include "wire/takes_in.h"
#include "wire/strict_in.h"

#define PHI__ANTHROPIC_TOOLS_BETA "inline-tools-2026-09-15"
#define PHI__ANTHROPIC_MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"
#define PHI__ANTHROPIC_MARK_HOUR ",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}"

static const char *phi__anthropic_mark(const phi__request_spec *spec) {
    return spec->cache.one_hour ? PHI__ANTHROPIC_MARK_HOUR : PHI__ANTHROPIC_MARK;
}

/* The version in force: the model's header, else its field. */
static phi_str phi__anthropic_version(const phi_model *model) {
    phi_str version = phi__str_trim(phi_str_of(model->api_version));
    size_t i;
    for (i = 0; i < model->header_count; i++)
        if (phi__str_is_nocase(phi_str_of(model->headers[i].name), "anthropic-version"))
            version = phi__str_trim(phi_str_of(model->headers[i].value));
    return version.len > 0 ? version : PHI__LIT("2023-06-01");
}

/* The form of a user's message or a result. */
static uint32_t phi__anthropic_form(const phi__encoder *e) {
    uint32_t form = PHI__ANTHROPIC_FORM | e->media << PHI__ANTHROPIC_MEDIA_SHIFT;
    if ((e->spec->model->quirks & PHI_QUIRK_NO_IMAGES) != 0) form |= PHI__ANTHROPIC_NO_IMAGES;
    return form;
}

/* ---- roles ---- */

static void phi__anthropic_close_role(phi__encoder *e) {
    if (e->open_role == (phi_role)0) return;
    phi__encode_glue(e, "]}");
    e->last_role = e->open_role;
    e->open_role = (phi_role)0;
}

/* Ends the message before, where one is open, and begins one of a role. */
static void phi__anthropic_open_role(phi__encoder *e, phi_role role) {
    static const char *const user[] = {"{\"role\":\"user\",\"content\":[",
                                       ",{\"role\":\"user\",\"content\":[",
                                       "]},{\"role\":\"user\",\"content\":["};
    static const char *const assistant[] = {"{\"role\":\"assistant\",\"content\":[",
                                            ",{\"role\":\"assistant\",\"content\":[",
                                            "]},{\"role\":\"assistant\",\"content\":["};
    size_t before = e->open_role != (phi_role)0 ? 2 : e->last_role != (phi_role)0 ? 1 : 0;
    phi__encode_glue(e, role == PHI__ROLE_SYSTEM ? "]},{\"role\":\"system\",\"content\":["
                        : role == PHI_ROLE_USER  ? user[before]
                                                 : assistant[before]);
    if (before == 2) e->last_role = e->open_role;
    e->open_role = role;
}

static void phi__anthropic_append(phi__encoder *e, phi_role role, phi_str blocks) {
    if (blocks.len == 0) return;
    if (e->open_role == role)
        phi__encode_glue(e, ",");
    else
        phi__anthropic_open_role(e, role);
    phi__encode_piece(e, blocks);
    if (role != PHI_ROLE_ASSISTANT && e->count > 0) e->mark_piece = e->count - 1;
}

/* The role of the message that an item is part of. */
static phi_role phi__anthropic_role(const phi__encoder *e, size_t at) {
    if (e->spec->items[at].message->role == PHI_ROLE_ASSISTANT) return PHI_ROLE_ASSISTANT;
    return e->spec->items[at].message->is_update && phi__encode_is_system(e, at) ? PHI__ROLE_SYSTEM
                                                                                 : PHI_ROLE_USER;
}

/* Only a system message takes changes of tools. */
static void phi__anthropic_update(phi__encoder *e, const phi_message *m, uint32_t form) {
    size_t i;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind == PHI_CONTENT_TEXT && !phi__render_blank(c->text))
            phi__anthropic_blocks_text(e, c->text);
        if ((form & PHI__ANTHROPIC_SYSTEM) != 0 && phi__render_is_opaque(e->codec, c))
            phi__render_opaque(e, c);
    }
}

/* True if a user's message ends with an opaque block, which takes no cache mark. */
static bool phi__anthropic_ends_opaque(const phi__encoder *e, const phi_message *m) {
    size_t i;
    for (i = m->role == PHI_ROLE_USER ? m->content_count : 0; i > 0; i--) {
        const phi_content *c = &m->content[i - 1];
        if (phi__render_is_opaque(e->codec, c)) return true;
        if (phi__render_is_image(c) || (c->kind == PHI_CONTENT_TEXT && !phi__render_blank(c->text)))
            return false;
    }
    return false;
}

/* True if an answer has results of the server's tools and the answer with their calls, which
   paused, has left the view. */
static bool phi__anthropic_begins(const phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    size_t i = 0;
    while (i < m->content_count && !(m->content[i].kind == PHI_CONTENT_OPAQUE &&
                                     phi__anthropic_blocks_is_server_result(m->content[i].name)))
        i++;
    if (i == m->content_count) return false;
    for (i = at; i > 0; i--) {
        phi_role role = e->spec->items[i - 1].message->role;
        if (role != PHI_ROLE_EXTENSION) return role == PHI_ROLE_USER;
    }
    return true;
}

/* True if the user's message after an answer holds more than results: words of the user, or images
   of results that are errors. Then a hosted call gets no result any more. */
static bool phi__anthropic_abandons(const phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    size_t i = 0;
    if (phi__render_abandons(e, at, phi__anthropic_blocks_is_server_call)) return true;
    while (i < m->content_count && !(phi__render_is_opaque(e->codec, &m->content[i]) &&
                                     phi__anthropic_blocks_is_server_call(m->content[i].name)))
        i++;
    if (i == m->content_count || (e->spec->model->quirks & PHI_QUIRK_NO_IMAGES) != 0) return false;
    for (i = at + 1; i < e->spec->item_count; i++) {
        m = e->spec->items[i].message;
        if (m->role == PHI_ROLE_ASSISTANT) return false;
        if (m->role == PHI_ROLE_TOOL_RESULT && m->is_error && phi__render_sends_media(e, m))
            return true;
    }
    return false;
}

static bool phi__anthropic_any_opaque(const phi_message *m) {
    size_t i;
    for (i = 0; i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_OPAQUE) return true;
    return false;
}

static uint32_t phi__anthropic_answer_form(const phi__encoder *e, size_t at, bool opaque) {
    const phi_message *m = e->spec->items[at].message;
    uint32_t form = PHI__ANTHROPIC_FORM;
    if (phi__prefix_sends(e, at)) form |= PHI__ANTHROPIC_ORIGIN;
    if (phi__render_same_protocol(e, at)) form |= PHI__ANTHROPIC_PROTOCOL;
    if (opaque && phi__anthropic_abandons(e, at)) form |= PHI__ANTHROPIC_ABANDONED;
    if (opaque && phi__anthropic_begins(e, at)) form |= PHI__ANTHROPIC_ORPHANS;
    if (m->stop_reason == PHI_STOP_REASON_PAUSED && (form & PHI__ANTHROPIC_PROTOCOL) != 0 &&
        !phi__render_user_follows(e, at))
        form |= PHI__ANTHROPIC_PAUSED;
    return form;
}

static void phi__anthropic_item(phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    bool opaque = !e->spec->plain && phi__anthropic_any_opaque(m);
    uint32_t form = m->role == PHI_ROLE_ASSISTANT ? phi__anthropic_answer_form(e, at, opaque)
                                                  : phi__anthropic_form(e);
    size_t mark = e->mark_piece;
    phi_str blocks;
    if (m->is_update && phi__encode_is_system(e, at)) form |= PHI__ANTHROPIC_SYSTEM;
    if (!phi__encode_kept(e, at, UINT32_MAX, form, &blocks)) {
        if (m->is_update)
            phi__anthropic_update(e, m, form);
        else if (m->role == PHI_ROLE_USER)
            phi__anthropic_blocks_parts(e, m, true);
        else if (m->role == PHI_ROLE_TOOL_RESULT)
            phi__anthropic_blocks_result(e, m);
        else
            phi__anthropic_blocks_assistant(e, m, form);
        if (!phi__encode_keep(e, at, UINT32_MAX, form, &blocks)) return;
    }
    phi__anthropic_append(e, phi__anthropic_role(e, at), blocks);
    if (opaque && phi__anthropic_ends_opaque(e, m)) e->mark_piece = mark;
}

static void phi__anthropic_missing(phi__encoder *e, size_t item, size_t block) {
    const phi_content *call = &e->spec->items[item].message->content[block];
    phi_str json;
    phi__buf_clear(&e->scratch);
    phi__buf_text(&e->scratch, "{\"type\":\"tool_result\",\"tool_use_id\":");
    phi__render_id(&e->scratch, call->id, PHI__ID_ANTHROPIC);
    phi__buf_text(&e->scratch, ",\"is_error\":true,\"content\":\"");
    phi__render_missing(e);
    phi__buf_text(&e->scratch, "\"}");
    if (e->scratch.failed || !phi__arena_str(e->arena, phi__buf_str(&e->scratch), &json))
        e->failed = true;
    else
        phi__anthropic_append(e, PHI_ROLE_USER, json);
    phi__buf_clear(&e->scratch);
}

/* Images and documents of results that are errors: the API takes them only behind all results. */
static void phi__anthropic_after_results(phi__encoder *e, size_t from, size_t to) {
    size_t i;
    for (i = from; i < to; i++) {
        const phi_message *m = e->spec->items[i].message;
        uint32_t form;
        phi_str blocks;
        size_t j;
        if (m->role != PHI_ROLE_TOOL_RESULT || !m->is_error || !phi__render_sends_media(e, m))
            continue;
        form = phi__anthropic_form(e) | PHI__ANTHROPIC_MEDIA;
        if (!phi__encode_kept(e, i, UINT32_MAX, form, &blocks)) {
            for (j = 0; j < m->content_count; j++)
                if (phi__render_way_to(e, &m->content[j]) == PHI__RENDER_BLOCK)
                    phi__anthropic_blocks_media_block(e, &m->content[j]);
            if (!phi__encode_keep(e, i, UINT32_MAX, form, &blocks)) return;
        }
        phi__anthropic_append(e, PHI_ROLE_USER, blocks);
    }
}

/* ---- around the messages ---- */

static void phi__anthropic_put_choice(phi__encoder *e, const phi__claude_plan *p) {
    phi_tool_choice choice = e->spec->tool_choice;
    if (choice == PHI_TOOL_CHOICE_REQUIRED && (p->thinks || p->claude.no_forced_tool))
        choice = PHI_TOOL_CHOICE_AUTO; /* the API refuses to force a call then */
    if (e->spec->respond_only) {
        phi__buf_text(&e->scratch,
                      ",\"tool_choice\":{\"type\":\"tool\",\"name\":\"" PHI_RESPOND_TOOL "\"");
    } else {
        phi__buf_text(&e->scratch, ",\"tool_choice\":{\"type\":\"");
        phi__buf_text(&e->scratch, choice == PHI_TOOL_CHOICE_NONE       ? "none\""
                                   : choice == PHI_TOOL_CHOICE_REQUIRED ? "any\""
                                                                        : "auto\"");
    }
    if (phi__takes_serial(e->spec, PHI__TAKES_ALL))
        phi__buf_text(&e->scratch, ",\"disable_parallel_tool_use\":true");
    phi__buf_char(&e->scratch, '}');
}

static void phi__anthropic_put_tools(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    size_t i, last = e->spec->tool_count; /* the mark follows the last tool with a schema */
    while (last > 0 && (e->spec->tools[last - 1].is_raw || e->spec->tools[last - 1].deferred))
        last--; /* a deferred tool takes none */
    phi__buf_text(out, ",\"tools\":[");
    if (phi__takes_deferred(e->spec))
        phi__buf_text(out, "{\"type\":\"tool_search_tool_bm25_20251119\","
                           "\"name\":\"tool_search_tool_bm25\"},");
    for (i = 0; i < e->spec->tool_count; i++) {
        if (i > 0) phi__buf_char(out, ',');
        if (e->spec->tools[i].is_raw) {
            phi__takes_put_raw(e, &e->spec->tools[i]);
            continue;
        }
        phi__buf_char(out, '{');
        if (phi__strict_tools_put_tool(e, &e->spec->tools[i], ",\"input_schema\":"))
            phi__buf_text(out, ",\"strict\":true");
        if (e->spec->tools[i].deferred) phi__buf_text(out, ",\"defer_loading\":true");
        if (i + 1 == last && phi__codec_marks(e->spec, PHI__MARK_TOOLS))
            phi__buf_text(out, phi__anthropic_mark(e->spec));
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, ']');
}

static void phi__anthropic_head(phi__encoder *e) {
    static const phi__takes_keys keys = {"temperature",    "top_p", "top_k",
                                         "stop_sequences", NULL,    "service_tier"};
    const phi__request_spec *spec = e->spec;
    phi__claude_plan plan = phi__claude_plan_now(e);
    phi__buf *out = &e->scratch;
    phi__buf_clear(out);
    phi__buf_char(out, '{');
    phi__render_member(out, "model", phi_str_of(spec->model->id));
    phi__buf_text(out, ",\"max_tokens\":");
    phi__buf_u64(out, plan.max_tokens);
    phi__buf_text(out, ",\"stream\":true");
    if (!phi__render_blank(spec->system_prompt)) {
        phi__buf_text(out, ",\"system\":[{\"type\":\"text\"");
        phi__render_member(out, "text", spec->system_prompt);
        if (phi__codec_marks(spec, PHI__MARK_SYSTEM)) phi__buf_text(out, phi__anthropic_mark(spec));
        phi__buf_text(out, "}]");
    }
    phi__claude_put_thinking(e, &plan);
    phi__claude_put_config(e, &plan, true);
    phi__takes_put(e, &keys, phi__claude_takes_of(&plan, phi__anthropic_version(spec->model)));
    if (spec->tool_count > 0) {
        phi__anthropic_put_choice(e, &plan);
        phi__anthropic_put_tools(e);
    }
    phi__buf_text(out, ",\"messages\":[");
    phi__encode_scratch(e);
}

static void phi__anthropic_tail(phi__encoder *e) {
    phi__anthropic_close_role(e);
    phi__encode_glue(e, "]}");
    if (phi__codec_marks(e->spec, PHI__MARK_MESSAGES))
        phi__encode_mark(e, 1, phi__anthropic_mark(e->spec));
}

static bool phi__anthropic_changes_tools(const phi__encoder *e) {
    size_t i, j;
    for (i = 0; !e->spec->plain && i < e->spec->item_count; i++) {
        const phi_message *m = e->spec->items[i].message;
        for (j = 0; m->is_update && j < m->content_count; j++)
            if (m->content[j].kind == PHI_CONTENT_OPAQUE) return true;
    }
    return false;
}

/* Beside the host's own. */
static void phi__anthropic_put_beta(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    size_t i;
    if (!phi__anthropic_changes_tools(e)) return;
    phi__buf_clear(out);
    for (i = 0; i < e->header_count; i++)
        if (phi__str_is_nocase(e->headers[i].name, "anthropic-beta"))
            phi__buf_add_str(out, e->headers[i].value);
    if (phi__str_find(phi__buf_str(out), 0, PHI__ANTHROPIC_TOOLS_BETA) != SIZE_MAX) return;
    if (out->len > 0) phi__buf_char(out, ',');
    phi__buf_text(out, PHI__ANTHROPIC_TOOLS_BETA);
    if (out->failed) e->failed = true;
    phi__encode_header(e, "anthropic-beta", phi__buf_str(out));
    phi__buf_clear(out);
}

static void phi__anthropic_address(phi__encoder *e) {
    const phi_model *model = e->spec->model;
    phi_str key = phi__str_trim(phi_str_of(model->api_key));
    phi_str version = phi__anthropic_version(model);
    phi__encode_url(e, "/v1", false, "/messages");
    phi__encode_header(e, "content-type", PHI__LIT("application/json"));
    phi__encode_header(e, "accept", PHI__LIT("text/event-stream, application/json"));
    phi__encode_header(e, "anthropic-version", version);
    if (key.len > 0 && (phi__claude_late_version(version) ||
                        phi__str_find(key, 0, "sk-ant-oat") != SIZE_MAX)) { /* an OAuth token */
        phi__buf_clear(&e->scratch);
        phi__buf_text(&e->scratch, "Bearer ");
        phi__buf_add_str(&e->scratch, key);
        phi__encode_header(e, "authorization", phi__buf_str(&e->scratch));
    } else if (key.len > 0)
        phi__encode_header(e, "x-api-key", key);
    phi__encode_model_headers(e);
    phi__anthropic_put_beta(e);
}

/* ---- tools that change in mid-conversation ---- */

/* Definitions in messages are in beta at Anthropic itself ("Mid-conversation system messages and
   tool changes", read 2026-11-26); other platforms take references alone. */
enum { PHI__CLAUDE_SEARCHES = 405 };

static bool phi__anthropic_takes_tools(const phi_model *model) {
    return phi__str_is(phi_str_of(model->provider), "anthropic");
}

/* "Tool search tool", read 2026-09-29: Claude 4.5 and later. */
static bool phi__anthropic_defers(const phi_model *model) {
    return phi__anthropic_takes_tools(model) &&
           phi__claude_of(phi_str_of(model->id)).version >= PHI__CLAUDE_SEARCHES;
}

static void phi__anthropic_put_change(phi__buf *out, const phi__tool_view *tool, bool removed) {
    if (removed) {
        phi__buf_text(out, "{\"type\":\"tool_removal\",\"tool\":{\"type\":\"tool_reference\"");
        phi__render_member(out, "name", tool->name);
        phi__buf_text(out, "}}");
        return;
    }
    phi__buf_text(out, "{\"type\":\"tool_addition\",\"tool\":{\"type\":\"tool_definition\","
                       "\"definition\":{");
    phi__render_member(out, "name", tool->name);
    if (tool->description.len > 0) phi__render_member(out, "description", tool->description);
    phi__buf_text(out, ",\"input_schema\":");
    phi__buf_add_str(out, tool->schema);
    phi__buf_text(out, "}}}");
}

/* ---- the codec ---- */

/* MiniMax, which speaks this protocol too, documents texts and images only. */
static uint32_t phi__anthropic_media(const phi_model *model) {
    if (phi__str_is(phi_str_of(model->provider), "minimax")) return 0;
    return PHI__MEDIA_PDF | PHI__MEDIA_URL | PHI__MEDIA_TEXT;
}

static uint32_t phi__anthropic_takes(const phi__request_spec *spec) {
    phi__claude_plan plan = phi__claude_plan_of(spec);
    return phi__claude_takes_of(&plan, phi__anthropic_version(spec->model));
}

static const char *const phi__anthropic_owned[] = {
    "model",       "max_tokens",           "stream", "system", "messages", "tools",
    "tool_choice", "output_config.format", NULL};

static const phi__codec_settings phi__anthropic_settings = {phi__anthropic_takes, phi__claude_level,
                                                            phi__anthropic_owned, NULL};

static const phi__codec_rules phi__anthropic_rules = {NULL,
                                                      phi__claude_strict_form,
                                                      NULL,
                                                      phi__claude_format_way,
                                                      PHI__SCHEMA_STRICT,
                                                      NULL,
                                                      phi__claude_unforced,
                                                      phi__claude_user_last,
                                                      PHI__RULE_USER_FIRST,
                                                      phi__anthropic_media,
                                                      NULL,
                                                      phi__claude_binding,
                                                      phi__claude_takes_updates,
                                                      phi__anthropic_takes_tools,
                                                      phi__anthropic_put_change,
                                                      &phi__anthropic_settings,
                                                      phi__anthropic_defers};

PHI__FN const phi__codec *phi__anthropic_codec(void) {
    static const phi__codec codec = {PHI__NAMES_ANTHROPIC,
                                     &phi__anthropic_rules,
                                     sizeof(phi__anthropic_state),
                                     phi__anthropic_head,
                                     phi__anthropic_item,
                                     phi__anthropic_tail,
                                     phi__anthropic_address,
                                     phi__anthropic_missing,
                                     phi__anthropic_after_results,
                                     phi__anthropic_stream_event,
                                     phi__anthropic_stream_end,
                                     phi__anthropic_stream_whole,
                                     NULL,
                                     NULL};
    return &codec;
}
