/* prog_config_reference.c - prints the reference of docs/configuration.md, for make schema. */
#include "config/reference.h"

int main(void) {
    static reference r;
    phi_memory memory;
    bool good;
    phi_memory_init(&memory, NULL, 0);
    reference_write(&r, &memory);
    good = !r.out.failed;
    if (good) printf("%.*s", (int)r.out.len, r.out.at);
    phi__buf_free(&r.out);
    return good ? 0 : 1;
}
