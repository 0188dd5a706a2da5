/* anthropic.c - requests of the Anthropic Messages API.

   A message's content is rendered whole, blocks joined by commas, and kept; roles are opened and
   closed by glue around it, so that tool results and the user's words after them share one message.
   The cache mark moves from turn to turn: it is put inside of the last brace of the last user
   block, which is why no rendering holds one. wire.md parts 2 and 9. */
#include "wire/anthropic_in.h"

#include "wire/render_in.h"
#include "wire/strict_in.h"

/* What a rendering depends on beside its block: bits of phi__rendered.form. */
enum {
    PHI__ANTHROPIC_FORM = 1 << 28,
    PHI__ANTHROPIC_ORIGIN = 1, /* minted by the same model: thinking goes back */
    PHI__ANTHROPIC_NO_IMAGES = 2,
    PHI__ANTHROPIC_IMAGES = 4 /* the images of an error result */
};

#define PHI__ANTHROPIC_MARK_OPEN ",\"cache_control\":{\"type\":\"ephemeral\"}"
#define PHI__ANTHROPIC_MARK PHI__ANTHROPIC_MARK_OPEN "}"
#define PHI__ANTHROPIC_LEAST_ANSWER 1024u /* tokens left beside a thinking budget; wire.md part 2 */

static bool phi__anthropic_no_images(const phi__encoder *e) {
    return (e->ask->model->quirks & PHI_QUIRK_NO_IMAGES) != 0;
}

/* ---- blocks ---- */

static void phi__anthropic_text(phi__encoder *e, phi_str text) {
    phi__buf *out = &e->scratch;
    phi__json_put_comma(out);
    phi__buf_text(out, "{\"type\":\"text\"");
    phi__render_text_member(e, "text", text);
    phi__buf_char(out, '}');
}

static void phi__anthropic_image(phi__encoder *e, const phi_content *c) {
    phi__buf *out = &e->scratch;
    phi__json_put_comma(out);
    phi__buf_text(out, "{\"type\":\"image\",\"source\":{\"type\":\"base64\"");
    phi__render_member(out, "media_type", c->mime_type);
    phi__buf_text(out, ",\"data\":\"");
    phi__render_base64(e, c->data);
    phi__buf_text(out, "\"}}");
}

static void phi__anthropic_parts(phi__encoder *e, const phi_message *m, bool images) {
    phi__render_parts(e, m, images, phi__anthropic_text, phi__anthropic_image);
}

static void phi__anthropic_thinking(phi__encoder *e, const phi_content *c) {
    phi__buf *out = &e->scratch;
    if (c->signature.len == 0) return; /* of a turn that was cut: the API would refuse it */
    phi__json_put_comma(out);
    if (c->redacted) {
        phi__buf_text(out, "{\"type\":\"redacted_thinking\"");
        phi__render_member(out, "data", c->signature);
    } else {
        phi__buf_text(out, "{\"type\":\"thinking\"");
        phi__render_text_member(e, "thinking", c->text);
        phi__render_member(out, "signature", c->signature);
    }
    phi__buf_char(out, '}');
}

static void phi__anthropic_call(phi__encoder *e, phi__buf *out, const phi_content *c) {
    phi__json_put_comma(out);
    phi__buf_text(out, "{\"type\":\"tool_use\",\"id\":");
    phi__render_id(out, c->id, PHI__ID_ANTHROPIC);
    phi__buf_text(out, ",\"name\":");
    phi__render_name(out, c->name, 128);
    phi__buf_text(out, ",\"input\":");
    phi__buf_add_str(out, phi__render_arguments(e, c->arguments));
    phi__buf_char(out, '}');
}

/* The last block that is sent; thinking may not end a message. SIZE_MAX: none. */
static size_t phi__anthropic_last(const phi_message *m) {
    size_t i;
    for (i = m->content_count; i > 0; i--) {
        const phi_content *c = &m->content[i - 1];
        if (c->kind == PHI_CONTENT_TEXT && !phi__render_blank(c->text)) return i - 1;
        if (c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete) return i - 1;
    }
    return SIZE_MAX;
}

static void phi__anthropic_assistant(phi__encoder *e, const phi_message *m, bool same) {
    size_t last = phi__anthropic_last(m), i;
    for (i = 0; last != SIZE_MAX && i <= last; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind == PHI_CONTENT_TEXT && !phi__render_blank(c->text))
            phi__anthropic_text(e, i == last ? phi__render_trim_end(c->text) : c->text);
        else if (c->kind == PHI_CONTENT_THINKING && same)
            phi__anthropic_thinking(e, c);
        else if (c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete)
            phi__anthropic_call(e, &e->scratch, c);
    }
}

/* One text as a string, anything else as blocks. A result that is an error holds text only, and at
   least some. */
static void phi__anthropic_result(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    bool images = !m->is_error && phi__render_sends_image(e, m);
    size_t i, texts = 0;
    const phi_content *text = NULL;
    phi__buf_text(out, "{\"type\":\"tool_result\",\"tool_use_id\":");
    phi__render_id(out, m->tool_call_id, PHI__ID_ANTHROPIC);
    if (m->is_error) phi__buf_text(out, ",\"is_error\":true");
    for (i = 0; i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_TEXT && !phi__render_blank(m->content[i].text)) {
            text = &m->content[i];
            texts++;
        }
    if (images || texts > 1 || phi__render_omits_any(e, m)) {
        phi__buf_text(out, ",\"content\":[");
        phi__anthropic_parts(e, m, images);
        phi__buf_char(out, ']');
    } else if (texts == 1)
        phi__render_text_member(e, "content", text->text);
    else if (m->is_error)
        phi__buf_text(out, ",\"content\":\"(no output)\"");
    phi__buf_char(out, '}');
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
    phi__encode_glue(e, role == PHI_ROLE_USER ? user[before] : assistant[before]);
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
    if (role == PHI_ROLE_USER && e->count > 0) e->mark_piece = e->count - 1;
}

static void phi__anthropic_item(phi__encoder *e, size_t at) {
    const phi_message *m = e->ask->items[at].message;
    bool same = m->role == PHI_ROLE_ASSISTANT && phi__render_same_origin(e, at);
    uint32_t form = PHI__ANTHROPIC_FORM;
    phi_str blocks;
    if (same) form |= PHI__ANTHROPIC_ORIGIN;
    if (m->role != PHI_ROLE_ASSISTANT && phi__anthropic_no_images(e))
        form |= PHI__ANTHROPIC_NO_IMAGES;
    if (!phi__encode_kept(e, at, UINT32_MAX, form, &blocks)) {
        if (m->role == PHI_ROLE_USER)
            phi__anthropic_parts(e, m, true);
        else if (m->role == PHI_ROLE_TOOL_RESULT)
            phi__anthropic_result(e, m);
        else
            phi__anthropic_assistant(e, m, same);
        if (!phi__encode_keep(e, at, UINT32_MAX, form, &blocks)) return;
    }
    phi__anthropic_append(e, m->role == PHI_ROLE_ASSISTANT ? PHI_ROLE_ASSISTANT : PHI_ROLE_USER,
                          blocks);
}

static void phi__anthropic_missing(phi__encoder *e, size_t item, size_t block) {
    const phi_content *call = &e->ask->items[item].message->content[block];
    phi_str json;
    phi__buf_clear(&e->scratch);
    phi__buf_text(&e->scratch, "{\"type\":\"tool_result\",\"tool_use_id\":");
    phi__render_id(&e->scratch, call->id, PHI__ID_ANTHROPIC);
    phi__buf_text(&e->scratch, ",\"is_error\":true,\"content\":\"No result provided\"}");
    if (e->scratch.failed || !phi__arena_str(e->arena, phi__buf_str(&e->scratch), &json))
        e->failed = true;
    else
        phi__anthropic_append(e, PHI_ROLE_USER, json);
    phi__buf_clear(&e->scratch);
}

/* Images of results that are errors: the API takes them only behind all results. */
static void phi__anthropic_after_results(phi__encoder *e, size_t from, size_t to) {
    size_t i;
    if (phi__anthropic_no_images(e)) return;
    for (i = from; i < to; i++) {
        const phi_message *m = e->ask->items[i].message;
        uint32_t form = PHI__ANTHROPIC_FORM | PHI__ANTHROPIC_IMAGES;
        phi_str blocks;
        size_t j;
        if (m->role != PHI_ROLE_TOOL_RESULT || !m->is_error || !phi__render_sends_image(e, m))
            continue;
        if (!phi__encode_kept(e, i, UINT32_MAX, form, &blocks)) {
            for (j = 0; j < m->content_count; j++)
                if (phi__render_is_image(&m->content[j]) && !phi__render_omits(e, &m->content[j]))
                    phi__anthropic_image(e, &m->content[j]);
            if (!phi__encode_keep(e, i, UINT32_MAX, form, &blocks)) return;
        }
        phi__anthropic_append(e, PHI_ROLE_USER, blocks);
    }
}

/* ---- around the messages ---- */

static const char *phi__anthropic_effort(phi_thinking level) {
    if (level == PHI_THINKING_HIGH) return "high";
    return level == PHI_THINKING_MEDIUM ? "medium" : "low";
}

PHI__FN phi__anthropic_plan phi__anthropic_plan_of(const phi__ask *ask) {
    phi__anthropic_plan p;
    uint32_t most;
    memset(&p, 0, sizeof p);
    p.claude = phi__claude_of(phi_str_of(ask->model->id));
    p.adaptive = p.claude.adaptive || (ask->model->quirks & PHI_QUIRK_ADAPTIVE_THINKING) != 0;
    p.max_tokens = ask->max_tokens != 0 ? ask->max_tokens : ask->model->max_tokens;
    if (p.max_tokens == 0) p.max_tokens = 8192;
    if (ask->model->reasoning) {
        p.thinks = ask->thinking != PHI_THINKING_OFF || p.claude.off == PHI__CLAUDE_OFF_BETWEEN ||
                   p.claude.off == PHI__CLAUDE_OFF_CANNOT;
        if (!p.adaptive) p.budget = phi__render_budget(ask->thinking);
    }
    if (p.budget == 0) return p;
    most = p.max_tokens > UINT32_MAX - p.budget ? UINT32_MAX : p.max_tokens + p.budget;
    if (p.claude.most_output != 0 && most > p.claude.most_output)
        most = p.claude.most_output > p.max_tokens ? p.claude.most_output : p.max_tokens;
    p.max_tokens = most;
    if (p.budget + PHI__ANTHROPIC_LEAST_ANSWER > most)
        p.budget = most > PHI__ANTHROPIC_LEAST_ANSWER ? most - PHI__ANTHROPIC_LEAST_ANSWER : 0;
    if (p.budget < 1024) { /* the least the API takes: then rather an answer */
        p.budget = 0;
        p.thinks = false;
    }
    return p;
}

/* Whether the calls that wait for an answer were made without thinking: by another model, or when it was
   off. The message that made them has no thinking block to begin with. */
static bool phi__anthropic_unthought(const phi__encoder *e) {
    size_t at = e->ask->item_count, i, last = SIZE_MAX;
    const phi_message *m = NULL;
    bool thought = false, calls = false;
    while (at > 0 && last == SIZE_MAX) {
        m = e->ask->items[--at].message;
        if (m->role == PHI_ROLE_ASSISTANT) last = phi__anthropic_last(m);
    }
    /* Backwards: the first block that is sent decides. */
    for (i = last == SIZE_MAX ? 0 : last + 1; i > 0; i--) {
        const phi_content *c = &m->content[i - 1];
        if (c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete) calls = true;
        if (c->kind == PHI_CONTENT_THINKING)
            thought = thought || (c->signature.len > 0 && phi__render_same_origin(e, at));
        else if (c->kind != PHI_CONTENT_TEXT || !phi__render_blank(c->text))
            thought = false;
    }
    return calls && !thought;
}

PHI__FN phi__anthropic_plan phi__anthropic_plan_now(const phi__encoder *e) {
    phi__anthropic_plan p = phi__anthropic_plan_of(e->ask);
    phi__ask calm;
    if (p.budget == 0 || !phi__anthropic_unthought(e)) return p;
    calm = *e->ask;
    calm.thinking = PHI_THINKING_OFF;
    return phi__anthropic_plan_of(&calm);
}

/* Bedrock's GovCloud refuses the field; wire.md part 8. */
static bool phi__anthropic_displays(const phi__encoder *e) {
    phi_str url = phi_str_of(e->ask->model->base_url);
    return phi__str_find(url, 0, "bedrock-runtime.us-gov-") == SIZE_MAX;
}

PHI__FN void phi__anthropic_put_thinking(phi__encoder *e, const phi__anthropic_plan *p) {
    phi__buf *out = &e->scratch;
    phi_thinking level = e->ask->thinking;
    if (!e->ask->model->reasoning) return;
    if (!p->adaptive) {
        if (p->budget == 0) return;
        phi__buf_text(out, ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":");
        phi__buf_u64(out, p->budget);
        phi__buf_char(out, '}');
        return;
    }
    if (level != PHI_THINKING_OFF)
        phi__buf_text(out, phi__anthropic_displays(e)
                               ? ",\"thinking\":{\"type\":\"adaptive\",\"display\":\"summarized\"}"
                               : ",\"thinking\":{\"type\":\"adaptive\"}");
    else if (p->claude.off == PHI__CLAUDE_OFF_DISABLED)
        phi__buf_text(out, ",\"thinking\":{\"type\":\"disabled\"}");
    else if (p->claude.off == PHI__CLAUDE_OFF_BETWEEN)
        phi__buf_text(out, ",\"thinking\":{\"type\":\"between_tools\"}");
}

PHI__FN void phi__anthropic_put_config(phi__encoder *e, const phi__anthropic_plan *p,
                                       bool with_format) {
    const phi_format *format = &e->ask->format;
    phi_thinking level = e->ask->thinking;
    phi__buf *out = &e->scratch;
    bool effort = e->ask->model->reasoning && p->adaptive &&
                  (level != PHI_THINKING_OFF || p->claude.off == PHI__CLAUDE_OFF_CANNOT);
    with_format = with_format && format->kind == PHI_FORMAT_JSON_SCHEMA;
    if (!effort && !with_format) return;
    phi__buf_text(out, ",\"output_config\":{");
    if (effort) phi__render_member(out, "effort", phi_str_of(phi__anthropic_effort(level)));
    if (with_format) {
        phi__json_put_key(out, PHI__LIT("format"));
        phi__buf_text(out, "{\"type\":\"json_schema\",\"schema\":");
        phi__encode_scratch(e);
        phi__encode_piece(e, phi_str_of(format->schema));
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, '}');
}

static void phi__anthropic_put_choice(phi__encoder *e, const phi__anthropic_plan *p) {
    phi_tool_choice choice = e->ask->tool_choice;
    if (choice == PHI_TOOL_CHOICE_REQUIRED && (p->thinks || p->claude.no_forced_tool))
        choice = PHI_TOOL_CHOICE_AUTO; /* the API refuses to force a call then */
    if (e->ask->respond_only) {
        phi__buf_text(&e->scratch,
                      ",\"tool_choice\":{\"type\":\"tool\",\"name\":\"" PHI_RESPOND_TOOL "\"}");
        return;
    }
    phi__buf_text(&e->scratch, ",\"tool_choice\":{\"type\":\"");
    phi__buf_text(&e->scratch, choice == PHI_TOOL_CHOICE_NONE       ? "none"
                               : choice == PHI_TOOL_CHOICE_REQUIRED ? "any"
                                                                    : "auto");
    phi__buf_text(&e->scratch, "\"}");
}

static void phi__anthropic_put_tools(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    size_t i;
    bool strict;
    phi__buf_text(out, ",\"tools\":[");
    for (i = 0; i < e->ask->tool_count; i++) {
        const phi__tool_view *tool = &e->ask->tools[i];
        if (i > 0) phi__buf_char(out, ',');
        phi__buf_text(out, "{\"name\":");
        phi__json_put_str(out, tool->name);
        if (!phi__render_blank(tool->description))
            phi__render_member(out, "description", tool->description);
        phi__buf_text(out, ",\"input_schema\":");
        phi__encode_scratch(e);
        phi__encode_piece(e, phi__strict_tool(e, tool, &strict));
        if (strict) phi__buf_text(out, ",\"strict\":true");
        phi__buf_text(out, i + 1 == e->ask->tool_count && phi__ask_marks(e->ask, PHI__MARK_TOOLS)
                               ? PHI__ANTHROPIC_MARK
                               : "}");
    }
    phi__buf_char(out, ']');
}

static void phi__anthropic_head(phi__encoder *e) {
    const phi__ask *ask = e->ask;
    phi__anthropic_plan plan = phi__anthropic_plan_now(e);
    phi__buf *out = &e->scratch;
    phi__buf_clear(out);
    phi__buf_char(out, '{');
    phi__render_member(out, "model", phi_str_of(ask->model->id));
    phi__buf_text(out, ",\"max_tokens\":");
    phi__buf_u64(out, plan.max_tokens);
    phi__buf_text(out, ",\"stream\":true");
    if (!phi__render_blank(ask->system_prompt)) {
        phi__buf_text(out, ",\"system\":[{\"type\":\"text\"");
        phi__render_member(out, "text", ask->system_prompt);
        phi__buf_text(out, phi__ask_marks(ask, PHI__MARK_SYSTEM) ? PHI__ANTHROPIC_MARK : "}");
        phi__buf_char(out, ']');
    }
    phi__anthropic_put_thinking(e, &plan);
    phi__anthropic_put_config(e, &plan, true);
    if (ask->temperature >= 0 && !plan.thinks && !plan.claude.no_temperature) {
        phi__buf_text(out, ",\"temperature\":");
        phi__json_put_double(out, ask->temperature);
    }
    if (ask->tool_count > 0) {
        phi__anthropic_put_choice(e, &plan);
        phi__anthropic_put_tools(e);
    }
    phi__buf_text(out, ",\"messages\":[");
    phi__encode_scratch(e);
}

static void phi__anthropic_tail(phi__encoder *e) {
    phi__anthropic_close_role(e);
    phi__encode_glue(e, "]}");
    if (phi__ask_marks(e->ask, PHI__MARK_MESSAGES))
        phi__encode_mark(e, 1, PHI__ANTHROPIC_MARK_OPEN);
}

static void phi__anthropic_address(phi__encoder *e) {
    const phi_model *model = e->ask->model;
    phi_str key = phi__str_trim(phi_str_of(model->api_key));
    phi__encode_url(e, "/v1", false, "/messages");
    phi__encode_header(e, "content-type", PHI__LIT("application/json"));
    phi__encode_header(e, "accept", PHI__LIT("text/event-stream, application/json"));
    phi__encode_header(e, "anthropic-version", PHI__LIT("2023-06-01"));
    if (phi__str_find(key, 0, "sk-ant-oat") != SIZE_MAX) { /* an OAuth token */
        phi__buf_clear(&e->scratch);
        phi__buf_text(&e->scratch, "Bearer ");
        phi__buf_add_str(&e->scratch, key);
        phi__encode_header(e, "authorization", phi__buf_str(&e->scratch));
    } else if (key.len > 0)
        phi__encode_header(e, "x-api-key", key);
    phi__encode_model_headers(e);
}

/* ---- the codec ---- */

PHI__FN const phi__codec *phi__anthropic_codec(void) {
    static const phi__codec codec = {PHI_PROTOCOL_ANTHROPIC,
                                     sizeof(phi__anthropic_state),
                                     phi__anthropic_head,
                                     phi__anthropic_item,
                                     phi__anthropic_tail,
                                     phi__anthropic_address,
                                     phi__anthropic_missing,
                                     phi__anthropic_after_results,
                                     phi__anthropic_event,
                                     phi__anthropic_end,
                                     phi__anthropic_whole,
                                     false,
                                     NULL};
    return &codec;
}
