/* claude.c - the table of Claude models, and the settings of their requests, November 2026. */
#include "codecs/claude_in.h"

#define PHI__CLAUDE_LEAST_ANSWER 1024u /* least tokens for the answer, besides a thinking budget */

enum {
    PHI__CLAUDE_SCHEMAS = 405,
    PHI__CLAUDE_NO_PREFILL = 406
}; /* the first versions, from Anthropic's documentation */

/* ---- the models ---- */

typedef struct phi__claude_row {
    const char *family; /* "" for all */
    uint32_t from, to;  /* versions, both included */
    phi__claude is;     /* phi__claude_of fills in the version */
} phi__claude_row;

/* The first matching row is used. The models that check prefixes and accept system messages are
   from "Prefix checks on thinking blocks" and "Mid-conversation system messages and tool changes",
   2026-11-26. Sonnet 5 accepts no system messages. */
static const phi__claude_row phi__claude_rows[] = {
    {"fable", 501, 999, {0, true, true, true, PHI__CLAUDE_OFF_CANNOT, 128000, true, true}},
    {"fable", 500, 500, {0, true, true, true, PHI__CLAUDE_OFF_CANNOT, 128000, false, true}},
    {"mythos", 501, 999, {0, true, true, true, PHI__CLAUDE_OFF_CANNOT, 128000, true, true}},
    {"mythos", 500, 500, {0, true, true, true, PHI__CLAUDE_OFF_CANNOT, 128000, false, true}},
    {"opus", 505, 505, {0, true, true, true, PHI__CLAUDE_OFF_CANNOT, 128000, true, true}},
    {"sonnet", 505, 505, {0, true, true, true, PHI__CLAUDE_OFF_BETWEEN, 128000, true, true}},
    {"", 505, 9999, {0, true, true, false, PHI__CLAUDE_OFF_DISABLED, 128000, true, true}},
    {"opus", 500, 504, {0, true, true, false, PHI__CLAUDE_OFF_DISABLED, 128000, false, true}},
    {"", 500, 504, {0, true, true, false, PHI__CLAUDE_OFF_DISABLED, 128000, false, false}},
    {"opus", 408, 408, {0, true, true, false, PHI__CLAUDE_OFF_OMIT, 128000, false, true}},
    {"", 407, 499, {0, true, true, false, PHI__CLAUDE_OFF_OMIT, 128000, false, false}},
    {"", 406, 406, {0, true, false, false, PHI__CLAUDE_OFF_OMIT, 128000, false, false}},
    {"opus", 400, 401, {0, false, false, false, PHI__CLAUDE_OFF_OMIT, 32000, false, false}},
    {"", 307, 405, {0, false, false, false, PHI__CLAUDE_OFF_OMIT, 64000, false, false}},
    {"", 305, 306, {0, false, false, false, PHI__CLAUDE_OFF_OMIT, 8192, false, false}},
    {"", 1, 304, {0, false, false, false, PHI__CLAUDE_OFF_OMIT, 4096, false, false}},
};

static bool phi__claude_digit(phi_str s, size_t at) {
    return at < s.len && phi__is_digit(s.at[at]);
}

/* Reads a number of one or two digits at *at and advances *at. A longer number is a date. */
static bool phi__claude_number(phi_str s, size_t *at, uint32_t *out) {
    size_t i = *at;
    uint32_t n = 0;
    while (phi__claude_digit(s, i) && i - *at < 3) n = n * 10 + (uint32_t)(s.at[i++] - '0');
    if (i == *at || i - *at > 2) return false;
    *at = i;
    *out = n;
    return true;
}

/* Reads the version in "4-6-20260101", "3-7-sonnet", "4.5" or "4". */
static uint32_t phi__claude_version(phi_str s) {
    uint32_t major = 0, minor = 0;
    size_t at = 0;
    if (!phi__claude_number(s, &at, &major)) return 0;
    if (at < s.len && (s.at[at] == '-' || s.at[at] == '.')) {
        at++;
        if (!phi__claude_number(s, &at, &minor)) minor = 0;
    }
    return major * 100 + minor;
}

PHI__FN phi__claude phi__claude_of(phi_str id) {
    size_t at = phi__str_find(id, 0, "claude-");
    uint32_t version;
    phi__claude out = PHI_ZERO;
    if (at == SIZE_MAX) return out;
    phi_str rest = phi__str_from(id, at + 7);
    phi_str family = rest;
    if (phi__claude_digit(rest, 0)) { /* the old order: claude-3-7-sonnet */
        version = phi__claude_version(rest);
        family.len = 0;
    } else {
        size_t dash = phi__str_find(rest, 0, "-");
        if (dash == SIZE_MAX) return out;
        family.len = dash;
        version = phi__claude_version(phi__str_from(rest, dash + 1));
    }
    for (size_t i = 0; version != 0 && i < PHI__COUNT(phi__claude_rows); i++) {
        const phi__claude_row *row = &phi__claude_rows[i];
        if (row->family[0] != '\0' && !phi__str_is(family, row->family)) continue;
        if (version < row->from || version > row->to) continue;
        out = row->is;
        out.version = version;
        return out;
    }
    return out;
}

/* ---- the settings of a request ---- */

PHI__FN size_t phi__claude_last_sent(const phi__codec *codec, const phi_message *m) {
    for (size_t i = m->content_count; i > 0; i--) {
        const phi_content *c = &m->content[i - 1];
        if (phi__codec_is_text(c)) return i - 1;
        if (phi__codec_is_call(c)) return i - 1;
        if (phi__render_is_opaque(codec, c)) return i - 1;
    }
    return SIZE_MAX;
}

/* Returns the level that is sent. Claude 4.6 does not know xhigh. Other models know all five
   levels. */
PHI__FN phi_thinking phi__claude_level(const phi_model *model, phi_thinking wanted) {
    phi__claude claude = phi__claude_of(phi_str_of(model->id));
    return claude.version == 406 && wanted == PHI_THINKING_XHIGH ? PHI_THINKING_HIGH : wanted;
}

static const char *phi__claude_effort(const phi__request_spec *spec) {
    switch (phi__claude_level(spec->model, spec->thinking)) {
    case PHI_THINKING_MAX: return "max";
    case PHI_THINKING_XHIGH: return "xhigh";
    case PHI_THINKING_HIGH: return "high";
    case PHI_THINKING_MEDIUM: return "medium";
    case PHI_THINKING_LOW:
    case PHI_THINKING_MINIMAL:
    case PHI_THINKING_OFF: break;
    }
    return "low";
}

PHI__FN uint32_t phi__claude_takes_of(const phi__claude_plan *p, phi_str api_version) {
    uint32_t takes = PHI__TAKES_ALL & ~(uint32_t)PHI__TAKES_SEED;
    if (p->thinks || p->claude.no_temperature || phi__claude_late_version(api_version))
        takes &= ~(uint32_t)PHI__TAKES_SAMPLING;
    return takes;
}

PHI__FN phi__claude_plan phi__claude_plan_of(const phi__request_spec *spec) {
    phi__claude_plan p = PHI_ZERO;
    p.claude = phi__claude_of(phi_str_of(spec->model->id));
    p.adaptive = p.claude.adaptive || (spec->model->quirks & PHI_QUIRK_ADAPTIVE_THINKING) != 0;
    p.max_tokens = phi__takes_tokens(spec);
    if (p.max_tokens == 0) p.max_tokens = PHI__TAKES_TOKENS;
    if (spec->model->reasoning) {
        p.thinks = spec->thinking != PHI_THINKING_OFF || p.claude.off == PHI__CLAUDE_OFF_BETWEEN ||
                   p.claude.off == PHI__CLAUDE_OFF_CANNOT;
        if (!p.adaptive) p.budget = phi__render_budget(spec->thinking);
    }
    if (p.budget == 0) return p;
    uint32_t most = p.max_tokens > UINT32_MAX - p.budget ? UINT32_MAX : p.max_tokens + p.budget;
    if (p.claude.most_output != 0 && most > p.claude.most_output)
        most = p.claude.most_output > p.max_tokens ? p.claude.most_output : p.max_tokens;
    p.max_tokens = most;
    if (p.budget + PHI__CLAUDE_LEAST_ANSWER > most)
        p.budget = most > PHI__CLAUDE_LEAST_ANSWER ? most - PHI__CLAUDE_LEAST_ANSWER : 0;
    if (p.budget < 1024) { /* the API's minimum: prefer an answer to thinking */
        p.budget = 0;
        p.thinks = false;
    }
    return p;
}

/* True if the message whose calls were just answered does not begin with a thinking block: another
   model made it, or thinking was off. */
static bool phi__claude_unthought(const phi__encoder *e) {
    size_t at = e->spec->item_count, last = SIZE_MAX;
    const phi_message *m = NULL;
    bool thought = false, calls = false;
    while (at > 0 && last == SIZE_MAX) {
        m = e->spec->items[--at].message;
        if (m->role == PHI_ROLE_ASSISTANT) last = phi__claude_last_sent(e->codec, m);
    }
    /* Go from the last block to the first: the first sent block decides. */
    for (size_t i = last == SIZE_MAX ? 0 : last + 1; i > 0; i--) {
        const phi_content *c = &m->content[i - 1];
        if (phi__codec_is_call(c)) calls = true;
        if (c->kind == PHI_CONTENT_THINKING)
            thought = thought || (c->signature.len > 0 && phi__prefix_sends(e, at));
        else if (c->kind == PHI_CONTENT_OPAQUE
                     ? phi__render_is_opaque(e->codec, c)
                     : c->kind != PHI_CONTENT_TEXT || !phi__render_blank(c->text))
            thought = false;
    }
    return calls && !thought;
}

PHI__FN phi__claude_plan phi__claude_plan_now(const phi__encoder *e) {
    phi__claude_plan p = phi__claude_plan_of(e->spec);
    if (p.budget == 0 || !phi__claude_unthought(e)) return p;
    phi__request_spec calm = *e->spec;
    calm.thinking = PHI_THINKING_OFF;
    return phi__claude_plan_of(&calm);
}

PHI__FN bool phi__claude_late_version(phi_str api_version) {
    static const char late[] = "2026-10-21"; /* versions are dates, so they sort as texts */
    size_t n = sizeof late - 1;
    int order = memcmp(api_version.at, late, phi__min(api_version.len, n));
    return order > 0 || (order == 0 && api_version.len >= n);
}

/* True if the server accepts "display". Bedrock's GovCloud refuses it. */
static bool phi__claude_displays(const phi__encoder *e) {
    phi_str url = phi_str_of(e->spec->model->base_url);
    return phi__str_find(url, 0, "bedrock-runtime.us-gov-") == SIZE_MAX;
}

PHI__FN void phi__claude_put_thinking(phi__encoder *e, const phi__claude_plan *p) {
    phi__buf *out = &e->scratch;
    phi_thinking level = e->spec->thinking;
    if (!e->spec->model->reasoning) return;
    if (!p->adaptive) {
        if (p->budget == 0) return;
        phi__buf_text(out, ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":");
        phi__buf_u64(out, p->budget);
        phi__buf_char(out, '}');
        return;
    }
    if (level != PHI_THINKING_OFF)
        phi__buf_text(out, phi__claude_displays(e)
                               ? ",\"thinking\":{\"type\":\"adaptive\",\"display\":\"summarized\"}"
                               : ",\"thinking\":{\"type\":\"adaptive\"}");
    else if (p->claude.off == PHI__CLAUDE_OFF_DISABLED)
        phi__buf_text(out, ",\"thinking\":{\"type\":\"disabled\"}");
    else if (p->claude.off == PHI__CLAUDE_OFF_BETWEEN)
        phi__buf_text(out, ",\"thinking\":{\"type\":\"between_tools\"}");
}

PHI__FN void phi__claude_put_config(phi__encoder *e, const phi__claude_plan *p, bool with_format) {
    const phi_format *format = &e->spec->format;
    phi_thinking level = e->spec->thinking;
    phi__buf *out = &e->scratch;
    bool effort = e->spec->model->reasoning && p->adaptive &&
                  (level != PHI_THINKING_OFF || p->claude.off == PHI__CLAUDE_OFF_CANNOT);
    with_format = with_format && format->kind == PHI_FORMAT_JSON_SCHEMA;
    if (!effort && !with_format) return;
    phi__buf_text(out, ",\"output_config\":{");
    if (effort) phi__records_str(out, "effort", phi_str_of(phi__claude_effort(e->spec)));
    if (with_format) {
        phi__records_raw(out, "format", "{\"type\":\"json_schema\",\"schema\":");
        phi__encode_insert(e, phi_str_of(format->schema));
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, '}');
}

/* ---- abilities ---- */

static uint32_t phi__claude_model(const phi_model *model) {
    return phi__claude_of(phi_str_of(model->id)).version;
}

PHI__FN phi__strict_form phi__claude_strict_form(const phi_model *model) {
    return phi__claude_model(model) >= PHI__CLAUDE_SCHEMAS ? PHI__STRICT_ANTHROPIC
                                                           : PHI__STRICT_NONE;
}

PHI__FN phi__format_way phi__claude_format_way(const phi__request_spec *spec) {
    if (spec->format.kind != PHI_FORMAT_JSON_SCHEMA ||
        phi__claude_model(spec->model) < PHI__CLAUDE_SCHEMAS)
        return PHI__FORMAT_BY_TOOL;
    return PHI__FORMAT_NATIVE;
}

PHI__FN bool phi__claude_unforced(const phi__request_spec *spec) {
    phi__claude_plan plan = phi__claude_plan_of(spec);
    return plan.thinks || plan.claude.no_forced_tool;
}

PHI__FN phi__binding phi__claude_binding(const phi__request_spec *spec) {
    phi__claude_plan plan = phi__claude_plan_of(spec);
    if (plan.claude.checks) return PHI__BINDS_CHECKED; /* these models always think */
    return plan.claude.version != 0 && plan.thinks ? PHI__BINDS_COUNTED : PHI__BINDS_NOT;
}

PHI__FN bool phi__claude_takes_updates(const phi_model *model) {
    return phi__claude_of(phi_str_of(model->id)).updates;
}

PHI__FN bool phi__claude_user_last(const phi_model *model) {
    return phi__claude_model(model) >= PHI__CLAUDE_NO_PREFILL;
}
