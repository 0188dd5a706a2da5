/* bench_mcp.c - 100 MCP servers, each a process, and 1,000 calls in flight, on one thread.

   The servers are this program itself ("serve"): they hold each call until one named "go" comes.
   Measured are the bytes of a connection (phi's memory), those of a call in flight, a phi_step in
   which nothing happens while all are in flight, the worst phi_step of the flood of answers, and the
   CPU of a call from sending to its answer. CPU time of the thread. Lines: name value unit. */
#include "phi_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SERVERS = 100, CALLS = 10, STEPS = 2000, LINE_BYTES = 65536 };

/* ---- the server ---- */

static void respond(const char *id, const char *result) {
    printf("{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":%s}\n", (int)strcspn(id, ",}"), id, result);
}

static int serve(void) {
    static char line[LINE_BYTES], held[CALLS + 1][24];
    static const char answer[] = "{\"content\":[{\"type\":\"text\",\"text\":\"forty-two\"}]}";
    int count = 0, i;
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *id = strstr(line, "\"id\":");
        if (id == NULL) continue;
        id += 5;
        if (strstr(line, "\"initialize\"") != NULL)
            respond(id, "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},"
                        "\"serverInfo\":{\"name\":\"bench\",\"version\":\"1\"}}");
        else if (strstr(line, "\"tools/list\"") != NULL)
            respond(id, "{\"tools\":[{\"name\":\"wait\",\"description\":\"Waits\","
                        "\"inputSchema\":{\"type\":\"object\"}}]}");
        else if (strstr(line, "\"go\"") == NULL && count < CALLS)
            (void)snprintf(held[count++], sizeof held[0], "%.*s", (int)strcspn(id, ",}"), id);
        else {
            for (i = 0; i < count; i++) respond(held[i], answer);
            respond(id, answer);
            count = 0;
        }
        fflush(stdout);
    }
    return 0;
}

/* ---- measuring ---- */

typedef struct memory {
    size_t now, peak;
} memory;

static void *resize(void *user_data, void *at, size_t old_bytes, size_t new_bytes) {
    memory *m = (memory *)user_data;
    void *out = NULL;
    if (new_bytes == 0)
        free(at);
    else if ((out = realloc(at, new_bytes)) == NULL)
        return NULL;
    m->now = m->now - (at != NULL ? old_bytes : 0) + new_bytes;
    if (m->now > m->peak) m->peak = m->now;
    return out;
}

static double cpu_us(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void fail(const char *what) {
    fprintf(stderr, "bench_mcp: %s\n", what);
    exit(1);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static int answered;

static void done(void *user_data, const phi_mcp_reply *reply) {
    (void)user_data;
    if (reply->status != PHI_OK) fail("a call has failed");
    answered++;
}

static void send_to(phi_mcp *server, const char *tool) {
    char params[60];
    phi_mcp_send_desc request = PHI_ZERO;
    (void)snprintf(params, sizeof params, "{\"name\":\"%s\",\"arguments\":{}}", tool);
    request.method = "tools/call";
    request.params = phi_str_of(params);
    request.done_fn = done;
    if (phi_mcp_send(server, &request, NULL) != PHI_OK) fail("a call cannot be sent");
}

static void connect_all(phi_runtime *rt, phi_mcp **servers, const char *program) {
    const char *argv[3];
    phi_mcp_desc to = PHI_ZERO;
    int i, ready = 0;
    argv[0] = program;
    argv[1] = "serve";
    argv[2] = NULL;
    to.argv = argv;
    to.era = "2025-06-18";
    to.timeout_ms = 60000;
    for (i = 0; i < SERVERS; i++)
        if ((servers[i] = phi_mcp_connect(rt, &to)) == NULL) fail("phi_mcp_connect");
    while (ready < SERVERS) {
        (void)phi_step(rt, 10);
        for (ready = 0; ready < SERVERS && phi_mcp_get_info(servers[ready]).state == PHI_MCP_READY;)
            ready++;
        if (ready < SERVERS && phi_mcp_get_info(servers[ready]).state == PHI_MCP_FAILED)
            fail(phi_mcp_get_info(servers[ready]).message);
    }
}

static void idle_steps(phi_runtime *rt) {
    static double us[STEPS];
    int i;
    for (i = 0; i < STEPS; i++) {
        double begin = cpu_us();
        (void)phi_step(rt, 0);
        us[i] = cpu_us() - begin;
    }
    qsort(us, STEPS, sizeof us[0], by_size);
    printf("mcp_idle_step_p50 %.2f us\nmcp_idle_step_p99 %.2f us\n", us[STEPS / 2],
           us[STEPS * 99 / 100]);
}

int main(int argc, char **argv) {
    static phi_mcp *servers[SERVERS];
    memory m = {0, 0};
    phi_runtime_desc desc = PHI_ZERO;
    phi_runtime *rt;
    size_t bare, connected;
    double begin, cpu, worst = 0;
    int i, j;
    if (argc > 1 && strcmp(argv[1], "serve") == 0) return serve();
    desc.allocator.realloc_fn = resize;
    desc.allocator.user_data = &m;
    if ((rt = phi_runtime_new(&desc)) == NULL) fail("phi_runtime_new");
    bare = m.now;
    begin = cpu_us();
    connect_all(rt, servers, argv[0]);
    printf("mcp_connect %.1f us\n", (cpu_us() - begin) / SERVERS);
    connected = m.now;
    printf("mcp_bytes_a_server %.0f bytes\n", (double)(connected - bare) / SERVERS);
    begin = cpu_us();
    for (j = 0; j < CALLS; j++)
        for (i = 0; i < SERVERS; i++) send_to(servers[i], "wait");
    for (i = 0; i < 50; i++) (void)phi_step(rt, 2);
    cpu = cpu_us() - begin;
    printf("mcp_bytes_a_call %.0f bytes\n", (double)(m.now - connected) / (SERVERS * CALLS));
    idle_steps(rt);
    for (i = 0; i < SERVERS; i++) send_to(servers[i], "go");
    while (answered < SERVERS * (CALLS + 1)) {
        begin = cpu_us();
        (void)phi_step(rt, 10);
        begin = cpu_us() - begin;
        cpu += begin;
        if (begin > worst) worst = begin;
    }
    printf("mcp_worst_step %.1f us\nmcp_cpu_a_call %.2f us\n", worst,
           cpu / (SERVERS * (CALLS + 1)));
    printf("mcp_peak_bytes %.0f bytes\n", (double)m.peak);
    for (i = 0; i < SERVERS; i++) phi_mcp_free(servers[i]);
    phi_runtime_free(rt);
    if (m.now != 0) fail("memory is left");
    return 0;
}
