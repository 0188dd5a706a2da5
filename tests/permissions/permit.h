/* permit.h - verdicts on calls by their parts. */
#ifndef PHI_TESTS_PERMISSIONS_PERMIT_H
#define PHI_TESTS_PERMISSIONS_PERMIT_H

#include "permissions/permissions.h"
#include "permissions/permissions_in.h"

/* Lines are those of bash on every system, unless desc names tools of PowerShell. */
static inline phi_permissions *permit_new(const phi_permissions_desc *desc,
                                          phi_parse_error *error) {
    phi_permissions_desc bash = *desc;
    if (bash.powershell_tools == NULL) bash.powershell_tools = "";
    return phi_permissions_new(&bash, error);
}

static inline phi_permission_call permit_call(phi_str source, phi_str tool, phi_str arguments) {
    phi_permission_call call = PHI_ZERO;
    call.source = source;
    call.tool_name = tool;
    call.arguments = arguments;
    return call;
}

static inline phi_permission permit_check(phi_permissions *p, phi_str tool, phi_str arguments,
                                          phi_str *why) {
    phi_permission_call call = permit_call(phi_str_of(""), tool, arguments);
    return phi_permissions_check(p, &call, why);
}

static inline phi_permission permit_check_from(phi_permissions *p, phi_str source, phi_str tool,
                                               phi_str arguments, phi_str *why) {
    phi_permission_call call = permit_call(source, tool, arguments);
    return phi_permissions_check(p, &call, why);
}

static inline phi_status permit_always(phi_permissions *p, phi_str tool, phi_str arguments,
                                       phi_permission_scope scope, phi_arena *arena,
                                       phi_permission_rules *out, phi_str *why) {
    phi_permission_call call = permit_call(phi_str_of(""), tool, arguments);
    return phi_permissions_always(p, &call, scope, arena, out, why);
}

static inline phi_status permit_always_from(phi_permissions *p, phi_str source, phi_str tool,
                                            phi_str arguments, phi_permission_scope scope,
                                            phi_arena *arena, phi_permission_rules *out,
                                            phi_str *why) {
    phi_permission_call call = permit_call(source, tool, arguments);
    return phi_permissions_always(p, &call, scope, arena, out, why);
}

#endif
