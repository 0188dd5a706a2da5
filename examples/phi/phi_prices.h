/* phi_prices.h - prices and limits of models that are known, in November 2026. Copy what you need of it.

   Sources: platform.claude.com/docs/en/about-claude/pricing and the overview of each model there;
   developers.openai.com/api/docs/models/MODEL; docs.x.ai/developers/grok-4-5; console.groq.com/docs/models. Prices are
   those of a model's own server, in dollars for a million tokens. If a longer prompt costs more, they are those of a
   short one (Claude Haiku 5.5 to 100,000 tokens, GPT to 272,000). Cache writes are those of the shortest life. The
   rows of xAI and Groq, and the cache prices of Claude Sonnet 5, Sonnet 5.5 and Haiku 5.5, are from pages that quote the
   vendors. What is 0 is not known. A model that is not here has no prices, and neither has one at another server. */
#ifndef PHI_PRICES_H
#define PHI_PRICES_H

#include "phi_trusted.h"

#define PRICES_DATE "2026-11-28"

typedef struct price_row {
    const char *server, *id; /* the id, also with a date or "latest" after it */
    phi_cost cost;           /* input, output, read from the cache, written to it */
    uint32_t window, most;   /* tokens: of prompt and answer; of an answer */
} price_row;

#define PRICES_CLAUDE "https://api.anthropic.com"
#define PRICES_GPT "https://api.openai.com"

static const price_row prices_known[] = {
    {PRICES_CLAUDE, "claude-fable-5-1", {10, 50, 0.25, 12.5}, 1000000, 128000},
    {PRICES_CLAUDE, "claude-fable-5", {10, 50, 1, 12.5}, 1000000, 128000},
    {PRICES_CLAUDE, "claude-opus-5-5", {4, 20, 0.2, 5}, 1000000, 128000},
    {PRICES_CLAUDE, "claude-opus-5", {5, 25, 0.5, 6.25}, 1000000, 128000},
    {PRICES_CLAUDE, "claude-opus-4-8", {5, 25, 0.5, 6.25}, 0, 128000},
    {PRICES_CLAUDE, "claude-opus-4-7", {5, 25, 0.5, 6.25}, 0, 128000},
    {PRICES_CLAUDE, "claude-opus-4-6", {5, 25, 0.5, 6.25}, 0, 128000},
    {PRICES_CLAUDE, "claude-opus-4-5", {5, 25, 0.5, 6.25}, 0, 64000},
    {PRICES_CLAUDE, "claude-sonnet-5-5", {2, 10, 0.1, 2.5}, 1000000, 128000},
    {PRICES_CLAUDE, "claude-sonnet-5", {2, 10, 0.2, 2.5}, 1000000, 128000},
    {PRICES_CLAUDE, "claude-sonnet-4-6", {3, 15, 0.3, 3.75}, 0, 64000},
    {PRICES_CLAUDE, "claude-sonnet-4-5", {3, 15, 0.3, 3.75}, 200000, 64000},
    {PRICES_CLAUDE, "claude-haiku-5-5", {0.1, 0.5, 0.01, 0.125}, 1000000, 128000},
    {PRICES_CLAUDE, "claude-haiku-4-5", {1, 5, 0.1, 1.25}, 200000, 64000},
    {PRICES_GPT, "gpt-6.2-sol", {2, 10, 0.1, 2.5}, 1050000, 128000},
    {PRICES_GPT, "gpt-5.6-terra", {2, 12, 0.2, 2.5}, 1050000, 128000},
    {PRICES_GPT, "gpt-5-mini", {0.25, 2, 0.025, 0.25}, 400000, 128000},
    {"https://api.x.ai", "grok-4.5", {2, 6, 0.5, 2}, 500000, 0},
    {"https://api.groq.com", "openai/gpt-oss-120b", {0.15, 0.6, 0.075, 0.15}, 131072, 65536}};

/* NULL: the model is not known. */
static inline const price_row *prices_find(const phi_model *model) {
    size_t i, n;
    for (i = 0; model->id != NULL && i < sizeof prices_known / sizeof *prices_known; i++) {
        const price_row *row = &prices_known[i];
        const char *after = model->id + (n = strlen(row->id));
        if (strncmp(model->id, row->id, n) != 0) continue;
        if (*after == '\0' || strcmp(after, "-latest") == 0 || strncmp(after, "-20", 3) == 0)
            return row;
    }
    return NULL;
}

static inline bool prices_has(const phi_model *model) {
    const phi_cost *cost = &model->cost;
    return cost->input > 0 || cost->output > 0 || cost->cache_read > 0 || cost->cache_write > 0;
}

/* Sets what nobody has given: prices only at the model's own server; limits also at another server, because it has the
   same model under that name. True: something was set. */
static inline bool prices_fill(phi_model *model, bool has_window, bool has_most) {
    const price_row *row = prices_find(model);
    phi_model before = *model;
    bool home = row != NULL && trust_same(trust_origin(phi_str_of(model->base_url)), row->server);
    bool same = home || (row != NULL && strchr(row->id, '/') == NULL);
    if (home && !prices_has(model)) model->cost = row->cost;
    if (same && !has_window && row->window > 0) model->context_window = row->window;
    if (same && !has_most && row->most > 0) model->max_tokens = row->most;
    return before.max_tokens != model->max_tokens || before.cost.input != model->cost.input ||
           before.context_window != model->context_window;
}

#endif
