/* bedrock.c - requests of Amazon Bedrock's ConverseStream.

   As in anthropic.c a message is rendered whole and kept, roles are glue around it, and the cache
   mark (here a block of its own) is put behind the last user block at the end. Tools come behind
   the messages, because only then is it known whether the history holds calls, which the API takes
   only beside tools. wire.md parts 8 and 9. */
#include "codecs/bedrock_in.h"

#include "codecs/claude_in.h"
#include "codecs/names_in.h"
#include "codecs/sigv4_in.h"
#include "wire/frames_in.h"
#include "wire/prefix_in.h"
#include "wire/render_in.h"
#include "wire/takes_in.h"
#include "wire/strict_in.h"

#define PHI__BEDROCK_MARK ",{\"cachePoint\":{\"type\":\"default\"}}"
#define PHI__BEDROCK_MARK_INSIDE "},{\"cachePoint\":{\"type\":\"default\"}"
#define PHI__BEDROCK_MARK_HOUR ",{\"cachePoint\":{\"type\":\"default\",\"ttl\":\"1h\"}}"
#define PHI__BEDROCK_MARK_HOUR_INSIDE "},{\"cachePoint\":{\"type\":\"default\",\"ttl\":\"1h\"}"

/* ---- models ---- */

/* Whether a Claude is behind the id: by the name; behind an ARN that hides it, by the quirks that
   only Claude has. */
static bool phi__bedrock_claude(const phi_model *model) {
    return phi__str_find_nocase(phi_str_of(model->id), 0, "claude") != SIZE_MAX ||
           (model->quirks & (PHI_QUIRK_ADAPTIVE_THINKING | PHI_QUIRK_CACHE_CONTROL)) != 0;
}

static bool phi__bedrock_id_has(const phi__encoder *e, const char *word) {
    return phi__str_find_nocase(phi_str_of(e->spec->model->id), 0, word) != SIZE_MAX;
}

static bool phi__bedrock_is_claude(const phi__encoder *e) {
    return phi__bedrock_claude(e->spec->model);
}

/* Marks are for Claude from 3.5 on, the first 3.5 Sonnet excepted; others refuse them. */
static bool phi__bedrock_marks(const phi__encoder *e, phi__mark mark) {
    if (!phi__codec_marks(e->spec, mark)) return false;
    if ((e->spec->model->quirks & PHI_QUIRK_CACHE_CONTROL) != 0) return true;
    return phi__claude_of(phi_str_of(e->spec->model->id)).version >= 305 &&
           !phi__bedrock_id_has(e, "3-5-sonnet-20240620");
}

/* Claude takes marks of an hour from 4.5 on; an ARN hides the model's name, so there the host's
   setting decides. */
static bool phi__bedrock_hour(const phi__encoder *e) {
    uint32_t version = phi__claude_of(phi_str_of(e->spec->model->id)).version;
    return e->spec->cache.one_hour && (version >= 405 || version == 0);
}

static const char *phi__bedrock_mark(const phi__encoder *e) {
    return phi__bedrock_hour(e) ? PHI__BEDROCK_MARK_HOUR : PHI__BEDROCK_MARK;
}

/* ---- roles ---- */

static void phi__bedrock_append(phi__encoder *e, phi_role role, phi_str blocks) {
    if (blocks.len == 0) return;
    if (e->open_role == role)
        phi__encode_glue(e, ",");
    else {
        if (e->open_role != (phi_role)0) phi__encode_glue(e, "]},");
        phi__encode_glue(e, role == PHI__ROLE_SYSTEM ? "{\"role\":\"system\",\"content\":["
                            : role == PHI_ROLE_USER  ? "{\"role\":\"user\",\"content\":["
                                                     : "{\"role\":\"assistant\",\"content\":[");
        e->last_role = e->open_role;
        e->open_role = role;
    }
    phi__encode_piece(e, blocks);
    if (role == PHI_ROLE_USER && e->count > 0) e->mark_piece = e->count - 1;
}

static uint32_t phi__bedrock_form(const phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    uint32_t form = PHI__BEDROCK_FORM;
    if (phi__bedrock_blocks_id_rule(e->spec->model) == PHI__ID_9) form |= PHI__BEDROCK_ID_9;
    if (m->role != PHI_ROLE_ASSISTANT) {
        form |= e->media << PHI__BEDROCK_MEDIA_SHIFT;
        if ((e->spec->model->quirks & PHI_QUIRK_NO_IMAGES) != 0) form |= PHI__BEDROCK_NO_IMAGES;
        return form;
    }
    if (phi__prefix_sends(e, at)) {
        form |= PHI__BEDROCK_ORIGIN;
        if (phi__bedrock_is_claude(e)) form |= PHI__BEDROCK_SIGNED;
    }
    if (phi__render_same_protocol(e, at)) form |= PHI__BEDROCK_PROTOCOL;
    if (phi__render_abandons(e, at, phi__bedrock_blocks_is_server_call))
        form |= PHI__BEDROCK_ABANDONED;
    return form;
}

/* The API takes the provider's tool uses and results only in a request with tools. */
static void phi__bedrock_note_calls(phi__encoder *e, const phi_message *m) {
    size_t i;
    for (i = 0; i < m->content_count && !e->had_calls; i++)
        e->had_calls = phi__render_is_opaque(e->codec, &m->content[i]) &&
                       (phi__str_is(m->content[i].name, "toolUse") ||
                        phi__str_is(m->content[i].name, "toolResult"));
}

static void phi__bedrock_item(phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    uint32_t form = phi__bedrock_form(e, at);
    phi_str blocks;
    phi__bedrock_note_calls(e, m);
    if (!phi__encode_kept(e, at, UINT32_MAX, form, &blocks)) {
        if (m->role == PHI_ROLE_USER)
            phi__bedrock_blocks_parts(e, at, PHI__BEDROCK_INSIDE);
        else if (m->role == PHI_ROLE_TOOL_RESULT)
            phi__bedrock_blocks_result(e, at);
        else
            phi__bedrock_blocks_assistant(e, m, form);
        if (!phi__encode_keep(e, at, UINT32_MAX, form, &blocks)) return;
    }
    phi__bedrock_append(e,
                        m->role == PHI_ROLE_ASSISTANT  ? PHI_ROLE_ASSISTANT
                        : phi__encode_is_system(e, at) ? PHI__ROLE_SYSTEM
                                                       : PHI_ROLE_USER,
                        blocks);
}

static void phi__bedrock_missing(phi__encoder *e, size_t item, size_t block) {
    const phi_content *call = &e->spec->items[item].message->content[block];
    phi_str json;
    phi__buf_clear(&e->scratch);
    phi__bedrock_blocks_result_open(e, call->id, true);
    phi__buf_text(&e->scratch, "{\"text\":\"");
    phi__render_missing(e);
    phi__buf_text(&e->scratch, "\"}]}}");
    if (e->scratch.failed || !phi__arena_str(e->arena, phi__buf_str(&e->scratch), &json))
        e->failed = true;
    else
        phi__bedrock_append(e, PHI_ROLE_USER, json);
    phi__buf_clear(&e->scratch);
}

static bool phi__bedrock_has_behind(const phi__encoder *e, const phi_message *m) {
    size_t i;
    for (i = 0; m->role == PHI_ROLE_TOOL_RESULT && i < m->content_count; i++)
        if (phi__render_way_to(e, &m->content[i]) == PHI__RENDER_BLOCK &&
            !phi__bedrock_blocks_fits(m, &m->content[i]))
            return true;
    return false;
}

static void phi__bedrock_after_results(phi__encoder *e, size_t from, size_t to) {
    size_t i;
    for (i = from; i < to; i++) {
        uint32_t form = phi__bedrock_form(e, i) | PHI__BEDROCK_MEDIA;
        phi_str blocks;
        if (!phi__bedrock_has_behind(e, e->spec->items[i].message)) continue;
        if (!phi__encode_kept(e, i, UINT32_MAX, form, &blocks)) {
            phi__bedrock_blocks_parts(e, i, PHI__BEDROCK_BEHIND);
            if (!phi__encode_keep(e, i, UINT32_MAX, form, &blocks)) return;
        }
        phi__bedrock_append(e, PHI_ROLE_USER, blocks);
    }
}

/* ---- around the messages ---- */

/* Claude takes the same settings as at Anthropic. Other models have no top_k here; OpenAI's refuse
   stop texts, and all but gpt-oss refuse sampling. */
static uint32_t phi__bedrock_takes(const phi__request_spec *spec) {
    phi_str id = phi_str_of(spec->model->id);
    phi__claude_plan plan;
    if (phi__bedrock_claude(spec->model)) {
        plan = phi__claude_plan_of(spec);
        return phi__claude_takes_of(&plan, PHI__LIT(""));
    }
    if (phi__str_find_nocase(id, 0, "gpt-oss") != SIZE_MAX)
        return PHI__TAKES_TEMPERATURE | PHI__TAKES_TOP_P | PHI__TAKES_TIER;
    if (phi__str_find_nocase(id, 0, "openai.") != SIZE_MAX) return PHI__TAKES_TIER;
    return PHI__TAKES_TEMPERATURE | PHI__TAKES_TOP_P | PHI__TAKES_STOP | PHI__TAKES_TIER;
}

/* True when a member of Claude's own takes the place of toolConfig.toolChoice. */
static bool phi__bedrock_serial(const phi__request_spec *spec) {
    return phi__bedrock_claude(spec->model) && phi__takes_serial(spec, PHI__TAKES_ALL);
}

static void phi__bedrock_put_serial(phi__encoder *e, const phi__claude_plan *plan) {
    bool forced = e->spec->tool_choice == PHI_TOOL_CHOICE_REQUIRED && !plan->thinks &&
                  !plan->claude.no_forced_tool;
    if (!phi__bedrock_serial(e->spec)) return;
    phi__buf_text(&e->scratch, ",\"tool_choice\":{\"type\":");
    phi__buf_text(&e->scratch, !forced                 ? "\"auto\""
                               : e->spec->respond_only ? "\"tool\",\"name\":\"" PHI_RESPOND_TOOL
                                                         "\""
                                                       : "\"any\"");
    phi__buf_text(&e->scratch, ",\"disable_parallel_tool_use\":true}");
}

/* Fields that the API passes on to the model: thinking of Claude, effort of gpt-oss. */
static void phi__bedrock_put_fields(phi__encoder *e, const phi__claude_plan *plan) {
    phi__buf *out = &e->scratch;
    size_t before = out->len, from;
    const phi__request_spec *spec = e->spec;
    phi__buf_text(out, ",\"additionalModelRequestFields\":");
    from = out->len;
    if (phi__bedrock_is_claude(e)) {
        phi__claude_put_thinking(e, plan);
        phi__claude_put_config(e, plan, false);
        if (plan->budget > 0 && plan->claude.version >= 400)
            phi__buf_text(out, ",\"anthropic_beta\":[\"interleaved-thinking-2025-05-14\"]");
        if (spec->options.top_k > 0 &&
            (phi__claude_takes_of(plan, PHI__LIT("")) & PHI__TAKES_TOP_K) != 0) {
            phi__buf_text(out, ",\"top_k\":");
            phi__buf_u64(out, spec->options.top_k);
        }
        phi__bedrock_put_serial(e, plan);
    } else if (phi__bedrock_id_has(e, "gpt-oss") && spec->model->reasoning &&
               spec->thinking != PHI_THINKING_OFF)
        phi__buf_text(out, spec->thinking >= PHI_THINKING_HIGH ? ",\"reasoning_effort\":\"high\""
                           : spec->thinking == PHI_THINKING_MEDIUM
                               ? ",\"reasoning_effort\":\"medium\""
                               : ",\"reasoning_effort\":\"low\"");
    if (out->failed) return;
    if (out->len == from) { /* nothing to say */
        out->len = before;
        return;
    }
    out->at[from] = '{'; /* in place of the first comma */
    phi__buf_char(out, '}');
}

static phi__claude_plan phi__bedrock_plan(const phi__encoder *e) {
    phi__claude_plan plan = phi__claude_plan_now(e);
    if (phi__bedrock_is_claude(e)) return plan;
    memset(&plan, 0, sizeof plan); /* budgets and their room are Claude's */
    plan.max_tokens = e->spec->max_tokens != 0 ? e->spec->max_tokens : e->spec->model->max_tokens;
    if (plan.max_tokens == 0) plan.max_tokens = 8192;
    return plan;
}

/* The schema is a text in the text. */
static void phi__bedrock_put_format(phi__encoder *e) {
    const phi_format *format = &e->spec->format;
    phi__buf *out = &e->scratch;
    if (format->kind != PHI_FORMAT_JSON_SCHEMA) return;
    phi__buf_text(out, ",\"outputConfig\":{\"textFormat\":{\"type\":\"json_schema\","
                       "\"structure\":{\"jsonSchema\":{");
    phi__render_member(out, "schema", phi_str_of(format->schema));
    phi__render_member(out, "name", phi_str_of(format->name));
    phi__buf_text(out, "}}}}");
}

static void phi__bedrock_head(phi__encoder *e) {
    static const phi__takes_keys keys = {"temperature", "topP", NULL, "stopSequences", NULL, NULL};
    const phi__request_spec *spec = e->spec;
    phi__claude_plan plan = phi__bedrock_plan(e);
    phi__buf *out = &e->scratch;
    phi__buf_clear(out);
    phi__buf_char(out, '{');
    if (!phi__render_blank(spec->system_prompt)) {
        phi__buf_text(out, "\"system\":[{");
        phi__render_member(out, "text", spec->system_prompt);
        phi__buf_char(out, '}');
        if (phi__bedrock_marks(e, PHI__MARK_SYSTEM)) phi__buf_text(out, phi__bedrock_mark(e));
        phi__buf_text(out, "],");
    }
    phi__buf_text(out, "\"inferenceConfig\":{\"maxTokens\":");
    phi__buf_u64(out, plan.max_tokens);
    phi__takes_put(e, &keys,
                   phi__bedrock_is_claude(e) ? phi__claude_takes_of(&plan, PHI__LIT(""))
                                             : phi__bedrock_takes(spec));
    phi__buf_char(out, '}');
    if (spec->options.service_tier != NULL) {
        phi__buf_text(out, ",\"serviceTier\":{");
        phi__render_member(out, "type", phi_str_of(spec->options.service_tier));
        phi__buf_char(out, '}');
    }
    phi__bedrock_put_format(e);
    phi__bedrock_put_fields(e, &plan);
    phi__buf_text(out, ",\"messages\":[");
    phi__encode_scratch(e);
}

static void phi__bedrock_put_tool(phi__encoder *e, const phi__tool_view *tool) {
    phi__buf *out = &e->scratch;
    bool strict;
    if (tool->is_raw) {
        phi__takes_put_raw(e, tool);
        return;
    }
    phi__buf_text(out, "{\"toolSpec\":{");
    strict = phi__strict_tools_put_tool(e, tool, ",\"inputSchema\":{\"json\":");
    phi__buf_text(out, strict ? "},\"strict\":true}}" : "}}}");
}

/* There is no choice "none". "auto" is the default, and only some models know the field. */
static void phi__bedrock_put_choice(phi__encoder *e) {
    phi__claude_plan plan = phi__bedrock_plan(e);
    if (phi__bedrock_serial(e->spec)) return;
    if (e->spec->tool_choice == PHI_TOOL_CHOICE_REQUIRED && !plan.thinks &&
        !plan.claude.no_forced_tool)
        phi__buf_text(&e->scratch, e->spec->respond_only
                                       ? ",\"toolChoice\":{\"tool\":{\"name\":\"" PHI_RESPOND_TOOL
                                         "\"}}"
                                       : ",\"toolChoice\":{\"any\":{}}");
    else if (phi__bedrock_is_claude(e))
        phi__buf_text(&e->scratch, ",\"toolChoice\":{\"auto\":{}}");
}

/* A history with calls is refused without tools: where there are none any more, one stands for
   them. */
static void phi__bedrock_put_tools(phi__encoder *e) {
    static const char name[] = "no_tool", words[] = "A placeholder: there are no tools now.";
    const phi__request_spec *spec = e->spec;
    phi__tool_view none;
    size_t i;
    if (!e->had_calls && (spec->tool_count == 0 || spec->tool_choice == PHI_TOOL_CHOICE_NONE))
        return;
    phi__buf_text(&e->scratch, ",\"toolConfig\":{\"tools\":[");
    for (i = 0; i < spec->tool_count; i++) {
        if (i > 0) phi__buf_char(&e->scratch, ',');
        phi__bedrock_put_tool(e, &spec->tools[i]);
    }
    if (spec->tool_count == 0) {
        memset(&none, 0, sizeof none);
        none.name = PHI__LIT(name);
        none.description = PHI__LIT(words);
        phi__bedrock_put_tool(e, &none);
    }
    if (phi__bedrock_marks(e, PHI__MARK_TOOLS)) phi__buf_text(&e->scratch, phi__bedrock_mark(e));
    phi__buf_char(&e->scratch, ']');
    if (spec->tool_count > 0) phi__bedrock_put_choice(e);
    phi__buf_char(&e->scratch, '}');
}

static void phi__bedrock_tail(phi__encoder *e) {
    phi__buf_clear(&e->scratch);
    phi__buf_text(&e->scratch, e->open_role != (phi_role)0 ? "]}]" : "]");
    e->open_role = (phi_role)0;
    phi__bedrock_put_tools(e);
    phi__buf_char(&e->scratch, '}');
    phi__encode_scratch(e);
    if (phi__bedrock_marks(e, PHI__MARK_MESSAGES))
        phi__encode_mark(
            e, 1, phi__bedrock_hour(e) ? PHI__BEDROCK_MARK_HOUR_INSIDE : PHI__BEDROCK_MARK_INSIDE);
}

/* ---- where to, and who ---- */

static void phi__bedrock_put_id(phi__buf *out, phi_str id) {
    size_t i;
    for (i = 0; i < id.len; i++) {
        char c = id.at[i];
        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
            c == '-' || c == '_' || c == '.' || c == '~')
            phi__buf_char(out, c);
        else
            phi__buf_printf(out, "%%%02X", (unsigned)(unsigned char)c);
    }
}

/* "ACCESS:SECRET[:TOKEN]"; false: a key of Bedrock's own, which has no colon, or none. */
static bool phi__bedrock_keys(const phi__encoder *e, phi__sigv4 *s) {
    phi_str key = phi__str_trim(phi_str_of(e->spec->model->api_key));
    size_t first = phi__str_find(key, 0, ":"), second;
    if (first == SIZE_MAX) return false;
    second = phi__str_find(key, first + 1, ":");
    s->access_key = phi__str(key.at, first);
    s->secret = phi__str(key.at + first + 1, (second == SIZE_MAX ? key.len : second) - first - 1);
    if (second != SIZE_MAX) s->token = phi__str(key.at + second + 1, key.len - second - 1);
    return true;
}

static void phi__bedrock_address(phi__encoder *e) {
    phi_str key = phi__str_trim(phi_str_of(e->spec->model->api_key)), path;
    phi__sigv4 keys;
    memset(&keys, 0, sizeof keys);
    phi__buf_clear(&e->scratch);
    phi__buf_text(&e->scratch, "/model/");
    phi__bedrock_put_id(&e->scratch, phi_str_of(e->spec->model->id));
    phi__buf_text(&e->scratch, "/converse-stream");
    if (e->scratch.failed || !phi__arena_str(e->arena, phi__buf_str(&e->scratch), &path)) {
        e->failed = true;
        return;
    }
    phi__encode_url(e, "", false, path.at);
    phi__encode_header(e, "content-type", PHI__LIT("application/json"));
    phi__encode_header(e, "accept", PHI__LIT("application/vnd.amazon.eventstream"));
    if (key.len > 0 && !phi__bedrock_keys(e, &keys)) {
        phi__buf_text(&e->scratch, "Bearer ");
        phi__buf_add_str(&e->scratch, key);
        phi__encode_header(e, "authorization", phi__buf_str(&e->scratch));
        phi__buf_clear(&e->scratch);
    }
    phi__encode_model_headers(e);
}

/* Host and path of a url; the host as the Host header has it, without a port that goes without
   saying. */
static void phi__bedrock_split(phi_str url, phi__sigv4 *s) {
    size_t from = phi__str_find(url, 0, "://"), slash, at;
    const char *port = phi__str_starts(url, "https:") ? ":443" : ":80";
    from = from == SIZE_MAX ? 0 : from + 3;
    slash = phi__str_find(url, from, "/");
    if (slash == SIZE_MAX) slash = url.len;
    s->path = phi__str(url.at + slash, url.len - slash);
    at = phi__str_find(s->path, 0, "?");
    if (at != SIZE_MAX) s->path.len = at;
    s->host = phi__str(url.at + from, slash - from);
    at = phi__str_find(s->host, 0, "@");
    if (at != SIZE_MAX) s->host = phi__str(s->host.at + at + 1, s->host.len - at - 1);
    at = phi__str_find(s->host, 0, port);
    if (at != SIZE_MAX && at + strlen(port) == s->host.len) s->host.len = at;
}

/* The text between `from` and the next `end`; false: none. */
static bool phi__bedrock_between(phi_str s, size_t from, const char *end, phi_str *out) {
    size_t to = from < s.len ? phi__str_find(s, from, end) : SIZE_MAX;
    if (to == SIZE_MAX || to == from) return false;
    *out = phi__str(s.at + from, to - from);
    return true;
}

/* The region of "bedrock-runtime.eu-west-1.amazonaws.com", of "bedrock.eu-west-1.amazonaws.com",
   which has the list of models, or of "arn:aws:bedrock:eu-west-1:...". */
static phi_str phi__bedrock_region(phi_str host, phi_str id) {
    phi_str region;
    size_t at = phi__str_find_nocase(host, 0, "bedrock-runtime"), colon = 0, i;
    if (phi__str_starts(host, "bedrock.") || phi__str_starts(host, "bedrock-fips.")) at = 0;
    if (at != SIZE_MAX && (at = phi__str_find(host, at, ".")) != SIZE_MAX &&
        phi__bedrock_between(host, at + 1, ".", &region))
        return region;
    if (phi__str_starts(id, "arn:")) {
        for (i = 0; i < 3 && colon != SIZE_MAX; i++) {
            colon = phi__str_find(id, colon, ":");
            if (colon != SIZE_MAX) colon++;
        }
        if (colon != SIZE_MAX && phi__bedrock_between(id, colon, ":", &region)) return region;
    }
    return PHI__LIT("us-east-1");
}

static void phi__bedrock_sign(phi__encoder *e, const phi__signing *signing) {
    phi__sigv4 s;
    phi__sigv4_words words;
    size_t i;
    memset(&s, 0, sizeof s);
    if (!phi__bedrock_keys(e, &s)) return;
    s.method = e->request.method;
    phi__bedrock_split(e->request.url, &s);
    s.region = phi__bedrock_region(s.host, phi_str_of(e->spec->model->id));
    for (i = 0; i < e->header_count; i++)
        if (phi__str_is_nocase(e->headers[i].name, "content-type"))
            s.content_type = e->headers[i].value;
    s.wall_ms = signing->wall_ms;
    s.body_sha256 = signing->body_sha256;
    phi__buf_clear(&e->scratch);
    phi__sigv4_sign(&s, &words, &e->scratch);
    if (e->scratch.failed) e->failed = true;
    phi__encode_header(e, "x-amz-date", phi_str_of(words.date));
    phi__encode_header(e, "x-amz-content-sha256", phi_str_of(words.content));
    if (s.token.len > 0) phi__encode_header(e, "x-amz-security-token", s.token);
    phi__encode_header(e, "authorization", phi__buf_str(&e->scratch));
    phi__buf_free(&e->scratch); /* the encoder was freed before */
    e->request.headers = e->headers;
    e->request.header_count = e->header_count;
}

/* ---- the codec ---- */

static phi__format_way phi__bedrock_format_way(const phi__request_spec *spec) {
    return phi__bedrock_claude(spec->model) ? phi__claude_format_way(spec) : PHI__FORMAT_REFUSED;
}

/* Documents go to all models but Nova Micro ("Supported models and model features" of the Converse
   API, read November 2026) and gpt-oss, which takes text; audio to Voxtral and Nova's Omni. */
static uint32_t phi__bedrock_media(const phi_model *model) {
    phi_str id = phi_str_of(model->id);
    uint32_t media = PHI__MEDIA_PDF | PHI__MEDIA_TEXT | PHI__MEDIA_TEXT_FILE | PHI__MEDIA_OFFICE;
    if (phi__str_find_nocase(id, 0, "gpt-oss") != SIZE_MAX ||
        phi__str_find_nocase(id, 0, "nova-micro") != SIZE_MAX)
        return 0;
    if (phi__str_find_nocase(id, 0, "voxtral") != SIZE_MAX ||
        phi__str_find_nocase(id, 0, "omni") != SIZE_MAX)
        media |= PHI__MEDIA_SOUND | PHI__MEDIA_MORE_SOUND;
    return media;
}

static phi_thinking phi__bedrock_level(const phi_model *model, phi_thinking wanted) {
    if (phi__bedrock_claude(model)) return phi__claude_level(model, wanted);
    return (unsigned)wanted > (unsigned)PHI_THINKING_HIGH ? PHI_THINKING_HIGH : wanted;
}

static const char *const phi__bedrock_owned[] = {
    "messages", "system", "toolConfig", "inferenceConfig.maxTokens", "outputConfig.textFormat",
    NULL};
static const char *const phi__bedrock_lists[] = {"additionalModelRequestFields.anthropic_beta",
                                                 NULL};

static const phi__codec_settings phi__bedrock_settings = {phi__bedrock_takes, phi__bedrock_level,
                                                          phi__bedrock_owned, phi__bedrock_lists};

static const phi__codec_rules phi__bedrock_rules = {phi__bedrock_blocks_id_rule,
                                                    phi__claude_strict_form,
                                                    NULL,
                                                    phi__bedrock_format_way,
                                                    PHI__SCHEMA_STRICT,
                                                    NULL,
                                                    phi__claude_unforced,
                                                    phi__claude_user_last,
                                                    PHI__RULE_USER_FIRST,
                                                    phi__bedrock_media,
                                                    NULL,
                                                    phi__claude_binding,
                                                    phi__claude_takes_updates,
                                                    NULL,
                                                    NULL,
                                                    &phi__bedrock_settings,
                                                    NULL};

PHI__FN const phi__codec *phi__bedrock_codec(void) {
    static const phi__codec codec = {
        PHI__NAMES_BEDROCK,        &phi__bedrock_rules,     sizeof(phi__bedrock_state),
        phi__bedrock_head,         phi__bedrock_item,       phi__bedrock_tail,
        phi__bedrock_address,      phi__bedrock_missing,    phi__bedrock_after_results,
        phi__bedrock_stream_event, phi__bedrock_stream_end, phi__bedrock_stream_whole,
        phi__frames_framing,       phi__bedrock_sign};
    return &codec;
}
