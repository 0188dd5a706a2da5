/* judge.c - the prompt of a judge, its fitting, and its verdict.

   The fitting has two passes, since the judge compares the responses and not the conversation
   before them: the first pass shortens the context only, the second one leaves the context at its
   shortest and shortens the responses. Each pass has three tiers, and each tier works on the text
   that the tier before it has left, so that a text never grows again. */
#include "orchestrate/judge_in.h"

#include "base/base_in.h"

enum {
    PHI__JUDGE_LINES = 80, /* behaviours C 63, and the next two */
    PHI__JUDGE_LEAST = 200,
    PHI__JUDGE_TIERS = 3,
    PHI__JUDGE_TOKEN_BYTES = 4 /* of text, by estimate; model/tokens.h */
};

/* ---- the prompt ---- */

static bool phi__judge_blank(phi_str s) { return phi__str_trim(s).len == 0; }

static bool phi__judge_has_text(const phi_message *message) {
    for (size_t i = 0; i < message->content_count; i++)
        if (message->content[i].kind == PHI_CONTENT_TEXT &&
            !phi__judge_blank(message->content[i].text))
            return true;
    return false;
}

PHI__FN void phi__judge_transcribe(phi__buf *out, const phi_message *message) {
    bool first = true;
    if (message->role == PHI_ROLE_EXTENSION || !phi__judge_has_text(message)) return;
    if (out->len > 0) phi__buf_char(out, '\n');
    if (message->role == PHI_ROLE_USER)
        phi__buf_text(out, "User: ");
    else if (message->role == PHI_ROLE_ASSISTANT)
        phi__buf_text(out, "Assistant: ");
    else {
        phi__buf_text(out, "Tool [");
        phi__buf_add_str(out, message->tool_name);
        phi__buf_text(out, "]: ");
    }
    for (size_t i = 0; i < message->content_count; i++) {
        if (message->content[i].kind != PHI_CONTENT_TEXT) continue;
        if (!first) phi__buf_char(out, '\n');
        phi__buf_add_str(out, message->content[i].text);
        first = false;
    }
}

PHI__FN void phi__judge_prompt(phi__buf *out, const phi__judge_case *c) {
    phi__texts_args args = PHI_ZERO;
    if (!phi__judge_blank(c->context)) {
        phi__texts_put(out, c->texts, PHI_TEXT_JUDGE_CONTEXT, NULL);
        phi__buf_char(out, '\n');
        phi__buf_add_str(out, c->context);
        phi__buf_text(out, "\n\n");
    }
    phi__texts_put(out, c->texts, PHI_TEXT_JUDGE_QUERY, NULL);
    phi__buf_char(out, '\n');
    phi__buf_add_str(out, c->query);
    for (size_t i = 0; i < c->count; i++) {
        args.n = (uint64_t)i + 1;
        phi__buf_text(out, "\n\n");
        phi__texts_put(out, c->texts, PHI_TEXT_JUDGE_RESPONSE, &args);
        phi__buf_char(out, '\n');
        phi__buf_add_str(out, c->responses[i]);
    }
    phi__buf_text(out, "\n\n");
    phi__texts_put(out, c->texts, PHI_TEXT_JUDGE_ASK, NULL);
}

/* ---- fitting ---- */

/* Tier 1: the last lines. */
static phi_str phi__judge_tail(phi_str s) {
    size_t at = s.len, lines = 0;
    while (at > 0) {
        if (s.at[at - 1] == '\n' && ++lines == PHI__JUDGE_LINES)
            return phi__str(s.at + at, s.len - at);
        at--;
    }
    return s;
}

static size_t phi__judge_last_break(phi_str s) {
    size_t at = s.len;
    while (at >= 2 && (s.at[at - 1] != '\n' || s.at[at - 2] != '\n')) at--;
    return at;
}

static bool phi__judge_join(phi_str *s, phi_str head, const char *between, phi_str tail,
                            phi_arena *arena) {
    size_t middle = strlen(between), len = head.len + middle + tail.len;
    char *to = (char *)phi_arena_alloc(arena, phi__add(len, 1));
    if (to == NULL) return false;
    if (head.len > 0) memcpy(to, head.at, head.len);
    memcpy(to + head.len, between, middle);
    if (tail.len > 0) memcpy(to + head.len + middle, tail.at, tail.len);
    to[len] = '\0';
    *s = phi__str(to, len);
    return true;
}

/* Tier 2: the first paragraph and the last one, if others are between them. */
static bool phi__judge_ends(phi_str *s, phi_arena *arena) {
    static const char between[] = "\n\n...\n\n";
    size_t head = phi__str_find(*s, 0, "\n\n"), tail = phi__judge_last_break(*s);
    if (head == SIZE_MAX || tail < 2 || head + sizeof between - 1 >= tail) return true;
    return phi__judge_join(s, phi__str(s->at, head), between, phi__str(s->at + tail, s->len - tail),
                           arena);
}

/* Tier 3: that many bytes at most, the dots included. */
static bool phi__judge_cut(phi_str *s, size_t most, phi_arena *arena) {
    static const char dots[] = "...";
    size_t keep = most - (sizeof dots - 1);
    if (s->len <= most) return true;
    return phi__judge_join(s, phi__str(s->at, phi__utf8_cut(*s, keep)), dots, phi__str(NULL, 0),
                           arena);
}

static bool phi__judge_shorten(phi_str *s, int tier, size_t most, phi_arena *arena) {
    if (tier == 0) {
        *s = phi__judge_tail(*s);
        return true;
    }
    return tier == 1 ? phi__judge_ends(s, arena) : phi__judge_cut(s, most, arena);
}

static uint64_t phi__judge_tokens(const phi__judge_case *c, const phi_token_counter *counter) {
    uint64_t sum = 0;
    for (size_t i = 0; i < c->count; i++) sum += phi_tokens_of_text(counter, c->responses[i]);
    return sum;
}

/* Bytes that each of n texts may have, of so many tokens: whole tokens, since texts are counted in
   those. */
static size_t phi__judge_share(uint64_t tokens, size_t n) {
    uint64_t bytes = tokens < SIZE_MAX / 8 ? tokens / n * PHI__JUDGE_TOKEN_BYTES : SIZE_MAX / 2;
    return phi__max((size_t)bytes, PHI__JUDGE_LEAST);
}

PHI__FN phi_status phi__judge_fit(phi__judge_case *c, uint64_t max_tokens,
                                  const phi_token_counter *counter, phi_arena *arena) {
    uint64_t budget = max_tokens / 5 * 4 + max_tokens % 5 * 4 / 5;
    uint64_t said = phi__judge_tokens(c, counter);
    size_t i;
    if (max_tokens == 0) return PHI_OK;
    uint64_t rest = budget > said ? budget - said : 0;
    for (int tier = 0; phi_tokens_of_text(counter, c->context) + said > budget; tier++) {
        if (tier == PHI__JUDGE_TIERS) break;
        if (!phi__judge_shorten(&c->context, tier, phi__judge_share(rest, 1), arena))
            return PHI_NO_MEMORY;
    }
    for (int tier = 0; phi_tokens_of_text(counter, c->context) + said > budget; tier++) {
        if (tier == PHI__JUDGE_TIERS) return PHI_LIMIT;
        for (i = 0; i < c->count; i++)
            if (!phi__judge_shorten(&c->responses[i], tier, phi__judge_share(budget, c->count),
                                    arena))
                return PHI_NO_MEMORY;
        said = phi__judge_tokens(c, counter);
    }
    return PHI_OK;
}

static bool phi__judge_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

PHI__FN size_t phi__judge_verdict(phi_str reply, size_t count) {
    size_t i = 0;
    while (i < reply.len) {
        uint64_t n = 0;
        for (; i < reply.len && !phi__judge_space(reply.at[i]); i++) {
            char c = reply.at[i];
            if (c >= '0' && c <= '9' && n < UINT32_MAX) n = n * 10 + (uint64_t)(c - '0');
        }
        if (n >= 1 && n <= count) return (size_t)n - 1;
        i++;
    }
    return 0;
}
