/* fuzz_permissions.c - any bytes as the JSON of rules: what is read is written so that it reads back
   the same, and decides on calls. */
#include "permissions/permit.h"
#include "permissions/permissions.h"

#include "base/base_in.h"
#include "permissions/permissions_in.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held) {
    if (!held) abort();
}

static void decide(const phi_permission_rules *rules) {
    static const char *const calls[] = {"{\"command\":\"ls -la a/b ../c | x $Y 'a b' > o\"}",
                                        "{\"path\":\"a/../../b\",\"url\":\"https://a.b/c\"}"};
    phi_permissions_desc desc = PHI_ZERO;
    phi_permissions *p;
    size_t i;
    desc.rules = rules;
    p = phi_permissions_new(&desc, NULL);
    must(p != NULL);
    for (i = 0; i < PHI__COUNT(calls); i++) {
        (void)permit_check(p, PHI__LIT("bash"), phi_str_of(calls[i]), NULL);
        (void)permit_check(p, PHI__LIT("read_file"), phi_str_of(calls[i]), NULL);
    }
    phi_permissions_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    phi_memory memory;
    phi_arena arena;
    phi_permission_rules rules, again;
    phi_str first, second;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (size < 20000 && phi_permissions_from_json(phi__str((const char *)data, size), &arena,
                                                  &rules, NULL) == PHI_OK) {
        must(phi_permissions_to_json(&rules, &arena, &first) == PHI_OK);
        must(phi_permissions_from_json(first, &arena, &again, NULL) == PHI_OK);
        must(again.count == rules.count && again.otherwise == rules.otherwise);
        must(phi_permissions_to_json(&again, &arena, &second) == PHI_OK);
        must(phi_str_equal(first, second));
        decide(&rules);
    }
    phi_arena_free(&arena);
    must(memory.used_bytes == 0);
    return 0;
}
