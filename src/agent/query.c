/* query.c - lists of models and counts of tokens, as requests that the pump drives.

   A page of a list is read in one step when it is complete. When the request for a page ends, the
   request for the next page begins. */
#include "agent/query.h"
#include "agent/agent_in.h"
#include "codecs/codecs_in.h"

enum {
    PHI__QUERY_TOTAL_MS = 60000,
    PHI__QUERY_BYTES = 8 << 20, /* the most bytes of an answer's body */
    PHI__QUERY_PAGES = 100,
    PHI__QUERY_MODELS = 10000,
    PHI__QUERY_UNITS = 64, /* the most units of work in one call of the encoder */
    /* parts of a counting request's body: before, in and after the members */
    PHI__QUERY_PARTS = 3
};

struct phi_query {
    phi_runtime *rt;
    const phi__queries *rules;
    phi__speaker seat; /* the model and its codec, in `arena` */
    phi_deadlines deadlines;
    phi_arena arena;        /* the model, results and failure */
    phi_arena work;         /* memory of the active request */
    phi__buf body, headers; /* body and headers of the answer */
    phi__secrets secrets;
    phi__fetch *fetch;
    int http_status;
    bool counts;    /* true for phi_count_tokens */
    uint32_t pages; /* pages requested so far */
    phi_model_info *models;
    size_t models_cap;
    phi_failure failure;
    phi_query_info info;
};

/* ---- the end of a query ---- */

static bool phi__query_words(phi_query *q, phi_str words, phi_str *out) {
    if (!phi__arena_str(&q->arena, words, out)) return false;
    char *at = (char *)(uintptr_t)out->at;
    out->len = phi__words_clean(at, out->len);
    (void)phi__secret_hide(&q->secrets, at, out->len, PHI__SECRET_WORDS);
    at[out->len] = '\0';
    return true;
}

static void phi__query_lost(phi_query *q) {
    q->failure = phi__failure_of(PHI_FAILURE_NO_MEMORY, false, phi_status_text(PHI_NO_MEMORY));
    q->info.failure = &q->failure;
    q->info.status = PHI_NO_MEMORY;
}

/* Keeps a copy of the failure, without the secrets that the request carried. */
static void phi__query_failed(phi_query *q, const phi_failure *failure, phi_status status) {
    phi_failure kept = *failure;
    if (q->secrets.failed || !phi__query_words(q, failure->code, &kept.code) ||
        !phi__query_words(q, failure->message, &kept.message) ||
        !phi__query_words(q, failure->request_id, &kept.request_id)) {
        phi__query_lost(q);
        return;
    }
    if (kept.http_status == 0) kept.http_status = q->http_status;
    q->failure = kept;
    q->info.failure = &q->failure;
    q->info.status = status;
}

static void phi__query_broken(phi_query *q, phi_status status, const char *message) {
    phi_failure_kind kind = status == PHI_TIMEOUT     ? PHI_FAILURE_TIMEOUT
                            : status == PHI_CANCELLED ? PHI_FAILURE_CANCELLED
                                                      : PHI_FAILURE_NETWORK;
    bool again = status != PHI_TLS && status != PHI_TOO_BIG && status != PHI_UNSUPPORTED &&
                 status != PHI_BAD_ARG && status != PHI_CANCELLED;
    phi_failure failure = phi__failure_of(kind, again, message);
    phi__query_failed(q, &failure, status);
}

static void phi__query_unread(phi_query *q, const char *words) {
    phi_failure failure = phi__failure_of(PHI_FAILURE_SERVER, false, words);
    phi__query_failed(q, &failure, PHI_PARSE);
}

static bool phi__query_take(void *ctx, const phi_model_info *info) {
    phi_query *q = (phi_query *)ctx;
    size_t n = q->info.model_count;
    phi_model_info *grown;
    if (n >= PHI__QUERY_MODELS) {
        q->info.more = true;
        return true;
    }
    if (n == q->models_cap) {
        size_t cap = n == 0 ? 64 : n * 2;
        grown = (phi_model_info *)phi_arena_alloc(&q->arena, phi__mul(cap, sizeof *grown));
        if (grown == NULL) return false;
        if (n > 0) memcpy(grown, q->models, n * sizeof *grown);
        q->models = grown;
        q->models_cap = cap;
    }
    phi_model_info *to = &q->models[n];
    *to = *info;
    if (!phi__arena_str(&q->arena, info->id, &to->id) ||
        !phi__arena_str(&q->arena, info->name, &to->name))
        return false;
    q->info.model_count++;
    return true;
}

static phi_status phi__query_ask_page(phi_query *q, phi_str page);

static void phi__query_read_page(phi_query *q) {
    phi_arena scratch;
    phi_str next;
    phi_arena_init(&scratch, &q->rt->memory, 0);
    phi_status status =
        phi__queries_page(q->rules, phi__buf_str(&q->body), &scratch, phi__query_take, q, &next);
    if (status == PHI_OK && next.len > 0 && (q->info.more || q->pages >= PHI__QUERY_PAGES)) {
        q->info.more = true;
        next.len = 0;
    }
    if (status == PHI_OK && next.len > 0) {
        status = phi__query_ask_page(q, next);
        if (status != PHI_OK && status != PHI_NO_MEMORY) {
            const char *words = "";
            (void)phi__error_last(q->rt, &words);
            phi__query_broken(q, status, words);
        }
    } else if (status == PHI_OK)
        q->info.status = PHI_OK;
    else if (status == PHI_PARSE)
        phi__query_unread(q, "the answer is no list of models");
    if (status == PHI_NO_MEMORY) phi__query_lost(q);
    phi_arena_free(&scratch);
}

/* ---- the fetch ---- */

static void phi__query_on_head(void *user_data, int http_status, phi_str headers) {
    phi_query *q = (phi_query *)user_data;
    q->http_status = http_status;
    phi__buf_add_str(&q->headers, headers);
}

static size_t phi__query_on_body(void *user_data, phi_str bytes) {
    phi_query *q = (phi_query *)user_data;
    phi__buf_add_str(&q->body, bytes);
    return bytes.len;
}

static void phi__query_on_end(void *user_data, phi_status status, const char *message) {
    phi_query *q = (phi_query *)user_data;
    q->fetch = NULL;
    if (q->body.failed || q->headers.failed || status == PHI_NO_MEMORY)
        phi__query_lost(q);
    else if (status != PHI_OK)
        phi__query_broken(q, status, message);
    else if (q->http_status < 200 || q->http_status > 299) {
        phi_failure failure;
        phi__classify(&q->seat.model, q->http_status, phi__buf_str(&q->headers),
                      phi__buf_str(&q->body), &q->work, &failure);
        phi__query_failed(q, &failure, phi__failure_status(&failure));
    } else if (!q->counts)
        phi__query_read_page(q);
    else if (phi__queries_tokens(q->rules, phi__buf_str(&q->body), &q->info.tokens))
        q->info.status = PHI_OK;
    else
        phi__query_unread(q, "the answer has no count of tokens");
    if (q->info.status == PHI_BUSY) return; /* the next page's request is active */
    phi__buf_free(&q->body);
    phi__buf_free(&q->headers);
    phi_arena_free(&q->work);
}

/* Sends the encoder's request. parts: the parts of the body, in q->work; NULL: no body. */
static phi_status phi__query_open(phi_query *q, phi__encoder *e, const phi_str *parts) {
    phi__fetch_desc desc = PHI_ZERO;
    e->request.method = parts != NULL ? PHI__LIT("POST") : PHI__LIT("GET");
    phi__encode_header(e, "accept", PHI__LIT("application/json"));
    phi__sha256 sha;
    phi__signing signing;
    if (q->seat.codec->sign != NULL) {
        phi__sha256_begin(&sha);
        for (size_t i = 0; parts != NULL && i < PHI__QUERY_PARTS; i++)
            phi__sha256_add(&sha, parts[i].at, parts[i].len);
        phi__sha256_end(&sha, signing.body_sha256);
        signing.wall_ms = phi__io_wall_ms(q->rt->io);
        q->seat.codec->sign(e, &signing);
    }
    if (e->failed) return PHI_NO_MEMORY;
    e->request.headers = e->headers;
    e->request.header_count = e->header_count;
    phi__secret_request(&q->secrets, &e->request);
    desc.memory = &q->rt->memory;
    desc.method = e->request.method;
    desc.url = e->request.url;
    desc.headers = e->headers;
    desc.header_count = e->header_count;
    desc.pieces = parts;
    desc.piece_count = parts != NULL ? PHI__QUERY_PARTS : 0;
    desc.deadlines = q->deadlines;
    desc.max_bytes = PHI__QUERY_BYTES;
    desc.on_head = phi__query_on_head;
    desc.on_body = phi__query_on_body;
    desc.on_end = phi__query_on_end;
    desc.user_data = q;
    phi__buf_clear(&q->body);
    phi__buf_clear(&q->headers);
    q->http_status = 0;
    return phi__fetch_open(q->rt, &desc, &q->fetch);
}

/* Changes the encoder's URL to the endpoint's URL. */
static phi_status phi__query_address(phi_query *q, phi__encoder *e, phi_str page) {
    phi__buf url;
    phi__buf_init(&url, &q->rt->memory);
    bool known = q->counts ? phi__queries_count_url(q->rules, e->request.url, &url)
                           : phi__queries_models_url(q->rules, e->request.url, page, &url);
    bool done = !url.failed && phi__arena_str(&q->work, phi__buf_str(&url), &e->request.url);
    phi__buf_free(&url);
    PHI_ASSERT(known); /* the codec has written a valid URL */
    (void)known;
    return done ? PHI_OK : PHI_NO_MEMORY;
}

static phi_status phi__query_ask_page(phi_query *q, phi_str page) {
    phi__request_spec spec = PHI_ZERO;
    phi__encoder e;
    phi_status status = PHI_NO_MEMORY;
    spec.model = &q->seat.model;
    spec.temperature = -1.0;
    phi_arena_free(&q->work);
    phi_arena_init(&q->work, &q->rt->memory, 0);
    phi__encoder_begin(&e, q->seat.codec, &spec, &q->work);
    if (phi__encoder_address(&e)) {
        phi__encoder_free(&e); /* signing needs an empty scratch buffer */
        status = phi__query_address(q, &e, page);
    }
    if (status == PHI_OK) status = phi__query_open(q, &e, NULL);
    phi__encoder_free(&e);
    if (status == PHI_OK) q->pages++;
    return status;
}

/* ---- the request that counts tokens ---- */

/* Finds the items that a model call would send, without their renderings, which belong to runs. */
static phi_status phi__query_items(phi_query *q, phi__agent *agent, phi__request_spec *spec) {
    const phi__fold *fold = &agent->thread->fold;
    phi__proj_order order;
    phi__projection made = PHI_ZERO;
    made.count = fold->count;
    phi_status status = PHI_OK;
    if (phi__projection_order_of(agent, &order)) status = phi__project(&order, &q->work, &made);
    if (status != PHI_OK) return status;
    spec->items = phi__projection_items(&q->work, fold, &made, false);
    if (spec->items == NULL) return PHI_NO_MEMORY;
    spec->item_count = made.count;
    return made.count > 0
               ? PHI_OK
               : phi__error(q->rt, PHI_MISUSE, "phi_count_tokens: there are no messages");
}

/* Splits the body into three parts, in q->work. */
static phi_status phi__query_parts(phi_query *q, const phi__encoder *e, phi_str *parts) {
    uint64_t length = phi_request_get_info(&e->request).length, at = 0;
    phi_str members;
    phi__buf before;
    size_t n;
    if (length > SIZE_MAX / 2) return PHI_NO_MEMORY;
    char *flat = phi__arena_bytes(&q->work, (size_t)length + 1);
    if (flat == NULL) return PHI_NO_MEMORY;
    while ((n = phi_request_read(&e->request, at, flat + at, (size_t)(length - at))) > 0) at += n;
    bool done = phi__queries_members(q->rules, flat, (size_t)length, &members);
    PHI_ASSERT(done); /* the codec has written a valid body */
    phi__buf_init(&before, &q->rt->memory);
    phi__queries_before(q->rules, &q->seat.model, members.len > 0, &before);
    done = !before.failed && phi__arena_str(&q->work, phi__buf_str(&before), &parts[0]);
    phi__buf_free(&before);
    parts[1] = members;
    parts[2] = phi_str_of(q->rules->after);
    return done ? PHI_OK : PHI_NO_MEMORY;
}

static phi_status phi__query_ask_count(phi_query *q, phi__agent *agent) {
    phi__request_spec spec;
    phi_str parts[PHI__QUERY_PARTS];
    phi__encoder e;
    phi__toolset *set = agent->tools;
    char words[400];
    words[0] = '\0';
    if (!phi__strict_tools_adapt(set->views, set->count, agent->codec, &agent->desc.model,
                                 &set->arena) ||
        !phi__ask_spec(agent, &q->work, &spec))
        return PHI_NO_MEMORY;
    spec.model = &q->seat.model;
    phi_status status = phi__query_items(q, agent, &spec);
    if (status != PHI_OK) return status;
    /* The provider checks thinking here, too, so the request needs the same head as a model call.
       Updates of the head are among the items. */
    if (!phi__head_keep(agent, &spec, &q->work)) return PHI_NO_MEMORY;
    status = phi__format_apply(agent->codec, &spec, &q->work, words, sizeof words);
    if (status == PHI_OK)
        status =
            phi__strict_tools_refused(agent->codec, &spec, &q->rt->memory, words, sizeof words);
    if (status != PHI_OK)
        return words[0] != '\0' ? phi__error(q->rt, status, "phi_count_tokens: %s", words) : status;
    phi__encoder_begin(&e, q->seat.codec, &spec, &q->work);
    do status = phi__encoder_advance(&e, PHI__QUERY_UNITS);
    while (status == PHI_BUSY);
    phi__encoder_free(&e);
    if (status == PHI_OK) status = phi__query_parts(q, &e, parts);
    if (status == PHI_OK) status = phi__query_address(q, &e, phi__str("", 0));
    if (status == PHI_OK) status = phi__query_open(q, &e, parts);
    phi__encoder_free(&e);
    return status;
}

/* ---- making a query ---- */

static phi_status phi__query_no_memory(phi_runtime *rt, const char *what) {
    return phi__error(rt, PHI_NO_MEMORY, "%s: out of memory", what);
}

/* Makes a query. On failure returns NULL, and phi_last_error says why. */
static phi_query *phi__query_new(phi_runtime *rt, const char *what, const phi_provider *own,
                                 const phi_model *model, const phi_query_desc *desc) {
    phi_query *q = (phi_query *)phi__alloc(&rt->memory, sizeof *q);
    phi_model given = *model;
    if (q == NULL) {
        (void)phi__query_no_memory(rt, what);
        return NULL;
    }
    q->rt = rt;
    q->info.status = PHI_BUSY;
    phi_arena_init(&q->arena, &rt->memory, 0);
    phi_arena_init(&q->work, &rt->memory, 0);
    phi__buf_init(&q->body, &rt->memory);
    phi__buf_init(&q->headers, &rt->memory);
    phi__secret_init(&q->secrets, &q->arena);
    if (desc != NULL) q->deadlines = desc->deadlines;
    if (q->deadlines.total_ms == 0) q->deadlines.total_ms = PHI__QUERY_TOTAL_MS;
    if (desc != NULL && desc->api_key != NULL) given.api_key = desc->api_key;
    if (!phi__speaker_take(rt, &q->arena, own, &given, &q->seat)) {
        (void)phi__query_no_memory(rt, what);
        phi_query_free(q);
        return NULL;
    }
    phi__secret_key(&q->secrets, phi_str_of(q->seat.model.api_key));
    return q;
}

/* Finds the rules of the protocol's endpoint. PHI_UNSUPPORTED: there is no such endpoint. */
static phi_status phi__query_rules(phi_query *q, const char *what) {
    if (q->seat.provider != NULL)
        return phi__error(q->rt, PHI_UNSUPPORTED, "%s: the model is the host's own", what);
    q->rules = phi__queries_of(q->seat.codec);
    if (q->rules != NULL && (q->counts ? q->rules->count : q->rules->models) != NULL) return PHI_OK;
    return phi__error(q->rt, PHI_UNSUPPORTED, "%s: protocol %s has no such endpoint", what,
                      q->seat.model.protocol);
}

static phi_query *phi__query_begun(phi_query *q, const char *what, phi_status status) {
    if (status == PHI_OK) return q;
    if (status == PHI_NO_MEMORY) (void)phi__query_no_memory(q->rt, what);
    phi_query_free(q);
    return NULL;
}

/* ---- public ---- */

PHI_API phi_query *phi_models(phi_runtime *rt, const phi_model *model, const phi_query_desc *desc) {
    static const char what[] = "phi_models";
    if (rt == NULL) return NULL;
    if (model == NULL) {
        (void)phi__error(rt, PHI_BAD_ARG, "%s: model is NULL", what);
        return NULL;
    }
    phi_model given = *model;
    if (given.id == NULL || given.id[0] == '\0') given.id = "-";
    if (desc != NULL && desc->api_key != NULL) given.api_key = desc->api_key;
    if (phi__check_model(rt, "phi_models: ", NULL, &given) != PHI_OK) return NULL;
    phi_query *q = phi__query_new(rt, what, NULL, &given, desc);
    if (q == NULL) return NULL;
    phi_status status = phi__query_rules(q, what);
    if (status == PHI_OK) status = phi__query_ask_page(q, phi__str("", 0));
    return phi__query_begun(q, what, status);
}

PHI_API phi_query *phi_count_tokens(phi_agent handle, const phi_query_desc *desc) {
    static const char what[] = "phi_count_tokens";
    phi__agent *agent = phi__find_agent(handle);
    if (handle.rt == NULL) return NULL;
    if (agent == NULL) {
        (void)phi__error(handle.rt, PHI_STALE, "%s: the agent is gone", what);
        return NULL;
    }
    phi_query *q = phi__query_new(handle.rt, what, agent->desc.provider, &agent->desc.model, desc);
    if (q == NULL) return NULL;
    q->counts = true;
    phi_status status = phi__query_rules(q, what);
    if (status == PHI_OK) status = phi__query_ask_count(q, agent);
    return phi__query_begun(q, what, status);
}

PHI_API phi_query_info phi_query_get(const phi_query *query) {
    phi_query_info info = PHI_ZERO;
    if (query == NULL) {
        info.status = PHI_STALE;
        return info;
    }
    info.status = query->info.status;
    if (info.status == PHI_BUSY) return info;
    info = query->info;
    info.models = query->models;
    return info;
}

PHI_API void phi_query_free(phi_query *query) {
    if (query == NULL) return;
    phi__fetch_close(query->fetch);
    phi__buf_free(&query->body);
    phi__buf_free(&query->headers);
    phi_arena_free(&query->work);
    phi_arena_free(&query->arena);
    phi__free(&query->rt->memory, query, sizeof *query);
}
