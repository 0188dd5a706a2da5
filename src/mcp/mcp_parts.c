/* mcp_parts.c - the host's event function, and the points of the parts. */
#include "mcp/mcp_parts_in.h"

#include "base/words_in.h"
#include "loop/state_in.h"
#include "text/json_in.h"

#include <stdarg.h>
#include <stdio.h>

enum { PHI__MCP_PARTS_WARN_US = 1000000 };

PHI__FN bool phi__mcp_parts_tell(phi_mcp *mcp, phi_mcp_event_kind kind, phi_str name,
                                 phi_str before, phi_str text) {
    phi_mcp_event event;
    if (mcp->dead) return false;
    if (mcp->desc.event_fn == NULL) return true;
    event.kind = kind;
    event.mcp = mcp;
    event.name = name;
    event.before = before;
    event.text = text;
    mcp->desc.event_fn(mcp->desc.user_data, &event);
    return !mcp->dead;
}

PHI__FN bool phi__mcp_parts_warn(phi_mcp *mcp, const char *format, ...) {
    uint64_t now_us = phi__io_now_us(mcp->rt->io);
    char words[400];
    size_t len;
    va_list args;
    int n;
    if (now_us < mcp->warned.next_us) {
        mcp->warned.hidden++;
        return !mcp->dead;
    }
    va_start(args, format);
    n = vsnprintf(words, sizeof words, format, args);
    va_end(args);
    len = n < 0 ? 0 : phi__min((size_t)n, sizeof words - 1);
    if (mcp->warned.hidden > 0) {
        n = snprintf(words + len, sizeof words - len, " (%u more before it)",
                     (unsigned)mcp->warned.hidden);
        len = n < 0 ? len : phi__min(len + (size_t)n, sizeof words - 1);
    }
    len = phi__words_clean_line(words, len); /* the server's bytes may stand in it */
    mcp->warned.hidden = 0;
    mcp->warned.next_us = now_us + PHI__MCP_PARTS_WARN_US;
    return phi__mcp_parts_tell(mcp, PHI_MCP_EV_WARNING, phi__str("", 0), phi__str("", 0),
                               phi__str(words, len));
}

PHI__FN bool phi__mcp_parts_ready(phi_mcp *mcp) {
    size_t i;
    for (i = 0; i < mcp->part_count && !mcp->dead; i++) {
        const phi__mcp_joined *p = &mcp->parts[i];
        if (p->table->ready != NULL) p->table->ready(mcp, p->part);
    }
    return !mcp->dead;
}

PHI__FN bool phi__mcp_parts_down(phi_mcp *mcp) {
    size_t i;
    for (i = 0; i < mcp->part_count; i++) {
        const phi__mcp_joined *p = &mcp->parts[i];
        if (p->table->down != NULL) p->table->down(mcp, p->part);
    }
    return !mcp->dead;
}

PHI__FN bool phi__mcp_parts_notified(phi_mcp *mcp, phi_str method, const phi_json *params) {
    size_t i;
    for (i = 0; i < mcp->part_count && !mcp->dead; i++) {
        const phi__mcp_joined *p = &mcp->parts[i];
        if (p->table->notified != NULL && p->table->notified(mcp, p->part, method, params)) break;
    }
    return !mcp->dead;
}

PHI__FN void phi__mcp_parts_free(phi_mcp *mcp) {
    while (mcp->part_count > 0) {
        const phi__mcp_joined *p = &mcp->parts[--mcp->part_count];
        if (p->table->free != NULL) p->table->free(mcp, p->part);
    }
}

PHI__FN bool phi__mcp_parts_held(const phi_mcp *mcp) {
    size_t i;
    for (i = 0; i < mcp->part_count; i++)
        if (mcp->parts[i].table->held != NULL && mcp->parts[i].table->held(mcp, mcp->parts[i].part))
            return true;
    return false;
}

/* An extension whose answers the session understands by itself. */
static phi_status phi__mcp_parts_tasks(phi_arena *arena, phi_json *into) {
    phi_json *extensions = phi_json_get(into, "extensions");
    phi_status status = PHI_OK;
    if (extensions == NULL) {
        extensions = phi_json_new_object(arena);
        status = phi_json_set(arena, into, "extensions", extensions);
    }
    if (status != PHI_OK) return status;
    return phi_json_set(arena, extensions, "io.modelcontextprotocol/tasks",
                        phi_json_new_object(arena));
}

PHI__FN phi_status phi__mcp_parts_capabilities(phi_mcp *mcp, phi_arena *arena, phi_str *out) {
    phi_json *into = phi_json_new_object(arena);
    phi_status status = into != NULL ? PHI_OK : PHI_NO_MEMORY;
    size_t i;
    for (i = 0; i < mcp->part_count && status == PHI_OK; i++) {
        const phi__mcp_joined *p = &mcp->parts[i];
        if (p->table->capabilities != NULL)
            status = p->table->capabilities(mcp, p->part, into, arena);
    }
    if (status == PHI_OK && mcp->agreed.era != NULL &&
        mcp->agreed.era->tasks == PHI__MCP_TASKS_EXTENSION)
        status = phi__mcp_parts_tasks(arena, into);
    return status == PHI_OK ? phi_json_write(arena, into, 0, out) : status;
}
