/* server.c - a chat server: one thread, hundreds of clients, an agent for each.

       server 8080
       curl -N -d "Who are you?" localhost:8080/ada
       event: text
       data: {"text":"I am"}

   The name in the path is the client, and a client with the same name continues the
   conversation. (A real server takes the name from a login.) One epoll descriptor watches the
   listener, the clients and phi, so no client waits for another.

   Look at serve (the loop), client_gone (if a client hangs up, its model call ends),
   client_event (a slow client's agent is held, the others go on) and main (a client's budget).
   usage: server [port [tokens of a client]]      The model is that of pick_model.h. */
#define PHI_IMPLEMENTATION
#include "phi.h"
#include "pick_model.h"
#include "server_http.h"

#include <signal.h>

enum { CLIENTS = 1000, SLOW_BYTES = 64 << 10, MODEL_CALLS = 128, ANSWER_TOKENS = 500 };

typedef struct client {
    char name[32];
    phi_agent agent;
    connection *on; /* the connection that waits for an answer, or NULL */
    bool held;
} client;

typedef struct server {
    http http;
    phi_runtime *rt;
    phi_agent_desc desc; /* what all clients have in common */
    client clients[CLIENTS];
    int client_count;
    unsigned prompts, hung_up;
} server;

static volatile sig_atomic_t stopping;
static void on_signal(int number) { stopping = number; }

/* ---- clients ---- */

static client *client_new(server *s, const char *name) {
    client *who = &s->clients[s->client_count];
    if (s->client_count == CLIENTS) return NULL;
    s->desc.user_data = who; /* every event of the agent has it */
    who->agent = phi_agent_new(s->rt, &s->desc);
    if (who->agent.rt == NULL) return NULL;
    (void)snprintf(who->name, sizeof who->name, "%s", name);
    s->client_count++;
    return who;
}

static client *client_find(server *s, const char *name) {
    int i;
    if (strlen(name) == 0 || strlen(name) >= sizeof s->clients[0].name) return NULL;
    for (i = 0; i < s->client_count; i++)
        if (strcmp(s->clients[i].name, name) == 0) return &s->clients[i];
    return client_new(s, name);
}

/* The connection is over. If that is in the middle of an answer, the run is over, too. */
static void client_gone(server *s, connection *c) {
    client *who = (client *)c->client;
    if (who != NULL) {
        s->hung_up++;
        (void)phi_abort(who->agent);
        (void)phi_agent_hold(who->agent, who->held = false);
        who->on = NULL;
    }
    http_close(c);
}

/* One server-sent event, with data that is JSON: {"text":...}, or at the end {"status":...,
   "tokens":...}. */
static void client_tell(client *who, const char *event, phi_str text) {
    phi_spending spent = phi_agent_get_info(who->agent).spending;
    bool end = strcmp(event, "end") == 0;
    phi_str data;
    phi_arena arena;
    phi_arena_init(&arena, NULL, 0);
    phi_json *object = phi_json_new_object(&arena);
    (void)phi_json_set(&arena, object, end ? "status" : "text", phi_json_new_str(&arena, text));
    if (end)
        (void)phi_json_set(&arena, object, "tokens",
                           phi_json_new_int(&arena, (int64_t)spent.tokens));
    if (phi_json_write(&arena, object, 0, &data) == PHI_OK) {
        http_say(who->on, "event: ");
        http_say(who->on, event);
        http_say(who->on, "\ndata: ");
        http_add(who->on, data.at, data.len);
        http_say(who->on, "\n\n");
    }
    phi_arena_free(&arena);
}

static void client_event(server *s, const phi_event *ev) {
    client *who = (client *)ev->user_data;
    connection *c = who->on;
    if (c == NULL) return; /* the client hung up; its run is about to end */
    switch (ev->kind) {
    case PHI_EV_TEXT: client_tell(who, "text", ev->text); break;
    case PHI_EV_RETRACT: client_tell(who, "retract", phi_str_of("")); break;
    case PHI_EV_ERROR: client_tell(who, "error", ev->text); break;
    case PHI_EV_AGENT_END:
        client_tell(who, "end", phi_str_of(phi_status_text(ev->status)));
        c->ends = true; /* when all is sent */
        c->client = who->on = NULL;
        break;
    default: return;
    }
    if (!http_flush(c))
        client_gone(s, c);
    else if (c->out_len - c->out_sent > SLOW_BYTES)
        (void)phi_agent_hold(who->agent, who->held = true);
}

/* A complete request: the body is a prompt for the agent of that name. */
static void client_request(server *s, connection *c) {
    client *who = client_find(s, c->path);
    phi_status status = s->client_count == CLIENTS ? PHI_FULL : PHI_BAD_ARG; /* a bad name */
    if (who != NULL) status = phi_prompt(who->agent, c->body);
    if (status == PHI_OK) {
        s->prompts++;
        c->client = who;
        who->on = c;
        http_say(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store"
                    "\r\nConnection: close\r\n\r\n");
    } else if (status == PHI_BUSY)
        http_refuse(c, "409 Conflict", "Your last question is still being answered.");
    else
        http_refuse(c, status == PHI_BAD_ARG ? "400 Bad Request" : "503 Service Unavailable",
                    phi_status_text(status));
}

/* ---- the loop ---- */

/* A connection that epoll has named. */
static void ready(server *s, connection *c, uint32_t what) {
    bool here = true, asked = c->body != NULL;
    client *who = (client *)c->client;
    if (what & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) here = http_read(c);
    if (here && !asked && c->body != NULL) client_request(s, c);
    if (!here || !http_flush(c))
        client_gone(s, c);
    else if (who != NULL && who->held && c->out_len == 0)
        (void)phi_agent_hold(who->agent, who->held = false); /* it has caught up */
}

static void serve(server *s) {
    struct epoll_event found[64];
    phi_event ev;
    while (!stopping) {
        int timeout = phi_next_timeout(s->rt), i, n;
        n = epoll_wait(s->http.loop, found, 64, timeout < 0 || timeout > 1000 ? 1000 : timeout);
        for (i = 0; i < n; i++) {
            void *what = found[i].data.ptr;
            if (what == &s->http)
                while (http_accept(&s->http)) continue;
            else if (what != s->rt)
                ready(s, (connection *)what, found[i].events);
        }
        (void)phi_step(s->rt, 0);
        while (phi_next_event(s->rt, &ev)) client_event(s, &ev);
    }
}

int main(int argc, char **argv) {
    static server s;
    phi_runtime_desc desc = PHI_ZERO;
    const char *why = "";
    size_t peak = 0;
    desc.max_connections = MODEL_CALLS; /* at once; further ones wait for their turn */
    s.rt = phi_runtime_new(&desc);
    s.desc.model = pick_model(&why);
    s.desc.system_prompt = "You answer the visitors of a web page. Be brief.";
    s.desc.max_tokens = ANSWER_TOKENS; /* a budget reserves this much before each model call */
    s.desc.budget.max_tokens = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
    s.desc.memory.limit_bytes = 1 << 20; /* of each client; events that wait count */
    s.desc.memory.event_queue_bytes = 64 << 10;
    s.desc.keep = PHI_KEEP_NONE; /* a question whose client hung up was never asked */
    if (s.rt == NULL || !http_open(&s.http, argc > 1 ? atoi(argv[1]) : 8080) ||
        !http_watch(&s.http, (int)phi_runtime_fd(s.rt), s.rt)) {
        printf("! the port is taken, or there is no memory\n");
        return 1;
    }
    (void)signal(SIGINT, on_signal);
    (void)signal(SIGTERM, on_signal);
    printf("listening 127.0.0.1 %d\n", http_port(&s.http));
    fflush(stdout);
    serve(&s);
    (void)phi_memory_used(s.rt, &peak);
    printf("%d clients, %u prompts, %u hung up, at most %u KB of memory\n", s.client_count,
           s.prompts, s.hung_up, (unsigned)(peak >> 10));
    phi_runtime_free(s.rt);
    http_end(&s.http);
    return 0;
}
