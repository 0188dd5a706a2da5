/* fuzz_shell.c - any bytes as a command line: parsed, decided on, and made into rules.

   What must hold: it ends; the verdict is the same twice; rules of "always" allow the line; nothing
   is left allocated. */
#include "permissions/permit.h"
#include "permissions/permissions_in.h"
#include "base/base_in.h"
#include "text/json_in.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held) {
    if (!held) abort();
}

static void rules_allow(phi_permissions *p, phi_arena *arena, phi_str arguments,
                        phi_permission_scope scope) {
    phi_permission_rules rules;
    if (permit_always(p, PHI__LIT("bash"), arguments, scope, arena, &rules, NULL) != PHI_OK) return;
    must(phi_permissions_add(p, rules.rules, rules.count) == PHI_OK);
    must(permit_check(p, PHI__LIT("bash"), arguments, NULL) == PHI_PERMISSION_ALLOW);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    phi_permissions_desc desc = PHI_ZERO;
    phi_permissions *p;
    phi_permission verdict;
    phi_memory memory;
    phi_arena arena;
    phi__buf arguments, line;
    desc.workspace = "/made/project";
    p = phi_permissions_new(&desc, NULL);
    must(p != NULL);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    phi__buf_init(&arguments, &memory);
    phi__buf_init(&line, &memory);
    phi__utf8_repair(&line, phi__str((const char *)data, size));
    phi__buf_text(&arguments, "{\"command\":");
    phi__json_write_str(&arguments, phi__buf_str(&line));
    phi__buf_char(&arguments, '}');
    verdict = permit_check(p, PHI__LIT("bash"), phi__buf_str(&arguments), NULL);
    must(verdict == permit_check(p, PHI__LIT("bash"), phi__buf_str(&arguments), NULL));
    rules_allow(p, &arena, phi__buf_str(&arguments), PHI_PERMISSION_SCOPE_EXACT);
    phi_permissions_free(p);
    p = phi_permissions_new(&desc, NULL);
    must(p != NULL);
    rules_allow(p, &arena, phi__buf_str(&arguments), PHI_PERMISSION_SCOPE_KIND);
    phi_permissions_free(p);
    phi__buf_free(&arguments);
    phi__buf_free(&line);
    phi_arena_free(&arena);
    must(memory.used_bytes == 0);
    return 0;
}
