/* replay_main.c - plays a tape of test_replay_http.c and prints the hash of its log. test_replay_builds.py compiles it in
   several ways, and the library from the shipped header.

       replay_main TAPE PROTOCOL STEP_BUDGET_BYTES        PROTOCOL: from 0, as in seven_scene.h */
#include "phi_tools.h"

#include "record/seven_scene.h"

static char *read_all(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    char *text = (char *)malloc(1 << 22);
    if (file == NULL || text == NULL) exit(2);
    *len = fread(text, 1, 1 << 22, file);
    (void)fclose(file);
    return text;
}

/* "http://127.0.0.1:PORT" of the first request. */
static void find_host(phi_str tape, char out[64]) {
    static const char start[] = "http://127.0.0.1:";
    size_t i, n = sizeof start - 1;
    for (i = 0; i + 64 < tape.len && memcmp(tape.at + i, start, n) != 0; i++) {}
    while (n < 40 && tape.at[i + n] >= '0' && tape.at[i + n] <= '9') n++;
    memcpy(out, tape.at + i, n);
    out[n] = '\0';
}

int main(int argc, char **argv) {
    phi_runtime_desc desc = PHI_ZERO;
    phi_tape_desc how = PHI_ZERO;
    phi_tape_divergence d;
    phi_str text;
    char host[64], *at;
    uint64_t hash;
    phi_status status;
    if (argc != 4) return 2;
    at = read_all(argv[1], &text.len);
    text.at = at;
    find_host(text, host);
    desc.tape = phi_tape_play(&how, text, NULL);
    if (desc.tape == NULL) return 3;
    desc.step_budget_bytes = (uint32_t)strtoul(argv[3], NULL, 10);
    hash = scene_run(&desc, (size_t)strtoul(argv[2], NULL, 10), host);
    status = phi_tape_end(desc.tape, &d);
    if (status != PHI_OK)
        printf("%d: %.*s\n%.*s\n%.*s\n", (int)status, (int)d.what.len, d.what.at,
               (int)d.recorded.len, d.recorded.at, (int)d.actual.len, d.actual.at);
    else
        printf("%016llx\n", (unsigned long long)hash);
    phi_tape_free(desc.tape);
    free(at);
    return status == PHI_OK ? 0 : 1;
}
