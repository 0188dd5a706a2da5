/* test_mcp_oauth_random.c - an authorization between a server, a person, a store and a host that do
   anything, at random, with failing allocations: who waits is told once, browsers are few, no secret is in
   a message, and nothing is left behind. PHI_SEEDS says how many runs, PHI_SEED picks one. */
#include "mcp/oauth_world.h"

#include <stdlib.h>

enum { MOVES = 250, REQUESTS_MOST = WIRES_MOST - 12 };

typedef struct game {
    world o;
    uint32_t seed;
    bool waits; /* an answer was PHI_BUSY */
    int told;
    uint64_t opened_us[64];
    char token[64], refresh[64], code[64];
    int given;         /* codes and tokens so far */
    bool fresh[500];   /* a refresh token was given with the token of that number */
    bool inside, over; /* over: the host does nothing more */
    uint32_t calm;     /* the larger, the less goes wrong */
    int browsers;
} game;

static uint32_t dice(game *g, uint32_t sides) { return test_random(&g->seed) % sides; }

static void clean(const char *words) {
    static const char *const secrets[] = {"token-num", "refresh-num", "code-num", "client-secret"};
    size_t i;
    for (i = 0; i < PHI__COUNT(secrets); i++)
        if (!CHECK(strstr(words, secrets[i]) == NULL)) printf("    %s\n", words);
}

/* ---- the servers ---- */

static const char *token_answer(game *g, char *out, size_t size) {
    static const char *const ends[] = {"",
                                       ",\"expires_in\":0",
                                       ",\"expires_in\":-5",
                                       ",\"expires_in\":1e300",
                                       ",\"expires_in\":\"61\"",
                                       ",\"expires_in\":3600",
                                       ",\"expires_in\":null",
                                       ",\"scope\":\"a b\"",
                                       ",\"token_type\":\"mac\"",
                                       ",\"token_type\":\"bearer\""};
    g->given++;
    (void)snprintf(out, size, "{\"access_token\":\"token-number-%d\"%s", g->given,
                   ends[dice(g, PHI__COUNT(ends))]);
    g->fresh[g->given] = dice(g, 3) > 0;
    if (g->fresh[g->given])
        (void)snprintf(out + strlen(out), size - strlen(out),
                       ",\"refresh_token\":\"refresh-number-%d\"", g->given);
    (void)snprintf(out + strlen(out), size - strlen(out), "}");
    return out;
}

/* Echoes what it knows. */
static const char *refusal(game *g, bool code, char *out, size_t size) {
    static const char *const errors[] = {"invalid_grant", "invalid_client", "unauthorized_client",
                                         "invalid_scope", "x\\u0000y"};
    (void)snprintf(out, size, "{\"error\":\"%s\",\"error_description\":\"%*s %s %s %s\"}",
                   errors[dice(g, PHI__COUNT(errors))], (int)dice(g, 130), "", g->token, g->refresh,
                   code ? g->code : "");
    return out;
}

static const char *page(game *g, const char *text, int *status, char *out, size_t size) {
    static const char *const odd[] = {
        "", "[]", "{", "{\"issuer\":7}", "null", "{\"resource\":\"" SERVER "\"}"};
    bool token = strncmp(text, "POST " AS "/t", strlen("POST " AS "/t")) == 0;
    bool client = strncmp(text, "POST " AS "/r", strlen("POST " AS "/r")) == 0;
    if (dice(g, 6 * g->calm) == 0) {
        static const int codes[] = {200, 204, 302, 400, 401, 403, 404, 429, 500, 503};
        *status = codes[dice(g, PHI__COUNT(codes))];
        if (token || client) return refusal(g, strstr(text, "&code_verifier=") != NULL, out, size);
        return odd[dice(g, PHI__COUNT(odd))];
    }
    *status = 200;
    if (token) return token_answer(g, out, size);
    if (client)
        return dice(g, 2) == 0 ? "{\"client_id\":\"c-1\"}"
                               : "{\"client_id\":\"c-2\",\"client_secret\":\"client-secret-1\","
                                 "\"client_secret_expires_at\":1700000100}";
    if (strstr(text, "oauth-protected-resource") != NULL) return RESOURCE_DOC;
    if (strncmp(text, META, strlen(META)) == 0)
        return dice(g, 2) == 0 ? SERVER_DOC
                               : SERVER_HEAD
                   ",\"registration_endpoint\":\"" AS
                   "/register\",\"scopes_supported\":[\"offline_access\"]}";
    *status = 404;
    return "";
}

static void answer(wires *w, size_t i) {
    game *g = (game *)w->user_data;
    char out[1000];
    int status = 200;
    const char *body;
    if (dice(g, 12 * g->calm) == 0) {
        wires_end(w, i, PHI_NETWORK, "broken");
        return;
    }
    if (dice(g, 30 * g->calm) == 0) return; /* never */
    body = page(g, w->sent[i].text, &status, out, sizeof out);
    wires_reply(w, i, status, "", body);
}

/* ---- the host ---- */

static void ask(game *g) {
    phi_str value;
    phi_status status;
    if (g->o.oauth == NULL) return;
    status = phi__oauth_header(g->o.oauth, &value);
    if (status == PHI_BUSY) g->waits = true;
    if (status == PHI_OK) {
        (void)snprintf(g->token, sizeof g->token, "%.*s", (int)value.len, value.at);
        CHECK(strncmp(g->token, "Bearer token-number-", 20) == 0);
        g->refresh[0] = '\0';
        if (g->fresh[atoi(g->token + 20)])
            (void)snprintf(g->refresh, sizeof g->refresh, "refresh-number-%s", g->token + 20);
    }
}

static void challenge(game *g) {
    static const char *const heads[] = {
        "", "WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"c d\"\r\n",
        "WWW-Authenticate: Basic realm=\"a, b\", Bearer scope=\"e\"\r\n",
        "WWW-Authenticate: Bearer resource_metadata=\"https://mcp.example/prm\"\r\n"};
    phi_status status;
    if (g->o.oauth == NULL) return;
    status = phi__oauth_challenge(g->o.oauth, dice(g, 3) == 0 ? 403 : 401,
                                  phi_str_of(heads[dice(g, PHI__COUNT(heads))]),
                                  phi_str_of(dice(g, 4) == 0 ? "" : g->token));
    if (status == PHI_BUSY) g->waits = true;
    if (status != PHI_OK && status != PHI_BUSY) clean(world_error(&g->o));
}

static void come_back(game *g) {
    static const char *const ways[] = {"code=code-number-%d", "code=code-number-%d&code=2",
                                       "error=access_denied",
                                       "error=server_error&error_description=sorry+%d",
                                       "code=code-number-%d&iss=https%%3A%%2F%%2Fevil.example"};
    char parameters[200];
    if (g->o.oauth == NULL || g->o.opened == 0) return;
    g->given++;
    (void)snprintf(parameters, sizeof parameters,
                   ways[dice(g, 3) > 0 ? 0 : dice(g, PHI__COUNT(ways))], g->given);
    if (world_back(&g->o, parameters) == PHI_OK)
        (void)snprintf(g->code, sizeof g->code, "code-number-%d", g->given);
}

static void change(game *g);

static void changed(void *ctx, phi_status status, const char *message) {
    game *g = (game *)ctx;
    CHECK(g->waits); /* nobody else is told */
    g->waits = false;
    g->told++;
    CHECK(status == PHI_OK || message[0] != '\0'); /* with PHI_OK: the store's trouble */
    clean(message);
    g->inside = true;
    if (!g->over && dice(g, 3) == 0) change(g);
    g->inside = false;
}

static phi_status browser(void *user_data, const char *url) {
    game *g = (game *)user_data;
    static const phi_status says[] = {PHI_OK, PHI_OK, PHI_OK, PHI_DENIED, PHI_IO};
    int n = g->o.opened++;
    g->browsers++;
    (void)snprintf(g->o.url, sizeof g->o.url, "%s", url);
    /* four authorizations in ten minutes, of which finding the server may have taken five; and a
       client that was forgotten is registered anew in each */
    if (n >= 8 && n < 64) CHECK(g->o.w.now_us - g->opened_us[n - 8] >= 300000000);
    if (n < 64) g->opened_us[n] = g->o.w.now_us;
    if (dice(g, 2) == 0) come_back(g);
    if (dice(g, 20) == 0) {
        phi__oauth_free(g->o.oauth);
        g->o.oauth = NULL;
        g->waits = false;
    }
    return says[dice(g, PHI__COUNT(says))];
}

static bool make(game *g) {
    phi__oauth_listener listener;
    listener.changed = changed;
    listener.ctx = g;
    g->waits = false;
    g->token[0] = g->refresh[0] = '\0';
    g->o.opened = 0;
    return phi__oauth_new(g->o.rt, &g->o.rt->memory, &g->o.desc, phi_str_of(SERVER), "phi",
                          &listener, &g->o.oauth) == PHI_OK;
}

static void change(game *g) {
    switch (dice(g, g->inside ? 6 : 18)) {
    case 0:
    case 1: ask(g); break;
    case 2: challenge(g); break;
    case 3: come_back(g); break;
    case 4:
        if (g->o.oauth == NULL || dice(g, 4) > 0) break;
        phi__sign_out(g->o.oauth);
        g->token[0] = g->refresh[0] = '\0';
        break;
    case 5:
        if (dice(g, 6 * g->calm) > 0) break;
        phi__oauth_free(g->o.oauth);
        g->o.oauth = NULL;
        if (!g->inside) (void)make(g);
        break;
    case 6: store_mem_fail_at(g->o.store, (int)dice(g, 4), PHI_FULL); break;
    case 7:
        if (dice(g, 4) == 0)
            world_pass_s(&g->o, 4000);
        else if (g->inside)
            world_pass_s(&g->o, dice(g, 400));
        else
            world_pass_stepping_s(&g->o, dice(g, 400)); /* deadlines pass */
        break;
    case 8:
        if (dice(g, g->calm) == 0) test_alloc_fail_at((int)dice(g, 40));
        break;
    default: world_step(&g->o, (int)dice(g, 8)); break;
    }
}

static void play(uint32_t seed) {
    game g;
    int i;
    memset(&g, 0, sizeof g);
    world_init(&g.o);
    g.seed = seed;
    g.calm = 1 + dice(&g, 8);
    g.o.w.answer = answer;
    g.o.w.user_data = &g;
    g.o.desc.open_browser_fn = browser;
    g.o.desc.user_data = &g;
    g.o.store = store_mem_new();
    g.o.desc.store = store_mem_store(g.o.store);
    g.o.rt = wires_runtime(&g.o.w, NULL);
    REQUIRE(CHECK(g.o.rt != NULL && make(&g)));
    for (i = 0; i < MOVES && g.o.w.count < REQUESTS_MOST; i++) {
        if (g.o.oauth == NULL && !make(&g)) test_alloc_fail_at(-1);
        change(&g);
    }
    g.over = true;
    test_alloc_fail_at(-1);
    store_mem_fail_at(g.o.store, -1, PHI_OK);
    for (i = 0; i < 20 && g.waits && g.o.oauth != NULL; i++) { /* who waits is told in the end */
        world_pass_stepping_s(&g.o, 31);
        world_step(&g.o, 4);
    }
    if (g.o.oauth != NULL) CHECK(!g.waits);
    world_end(&g.o);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

TEST(an_authorization_survives_everything) {
    const char *chosen = getenv("PHI_SEED"), *more = getenv("PHI_SEEDS");
    uint32_t seed, count = more != NULL ? (uint32_t)atoi(more) : 400;
    if (chosen != NULL) {
        play((uint32_t)atoi(chosen));
        return;
    }
    for (seed = 1; seed <= count && test_failures() == 0; seed++) {
        play(seed);
        if (test_failures() > 0) printf("    PHI_SEED=%u\n", (unsigned)seed);
    }
}

TEST_MAIN(TEST_ENTRY(an_authorization_survives_everything))
