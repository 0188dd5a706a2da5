/* child_save.c - the children of an agent in its snapshot: those at work, and those that are
   kept. */
#include "subagents/child_in.h"

#include "text/json_in.h"
#include "text/records_in.h"

/* ---- writing ---- */

static void phi__child_save_agent(const phi__child *child, phi__buf *out, phi_arena *scratch) {
    phi_str text = child->snapshot;
    if (child->agent != NULL && phi_agent_snapshot(child->agent->handle, scratch, &text) != PHI_OK)
        out->failed = true;
    phi__json_write_key(out, PHI__LIT("agent"));
    phi__buf_add_str(out, text.len > 0 ? text : PHI__LIT("null"));
}

static void phi__child_save_one(const phi__child *child, phi__buf *out, phi_arena *scratch) {
    phi_str name = child->desc != NULL ? phi_str_of(child->desc->name) : child->name;
    phi_str call_id = child->call.rt != NULL ? phi__update_info(child->call).id : child->call_id;
    phi__json_write_comma(out);
    phi__buf_char(out, '{');
    phi__records_u64(out, "number", child->number);
    phi__records_str(out, "name", name);
    phi__records_u64(out, "depth", child->depth);
    phi__records_true(out, "running", child->running);
    phi__records_true(out, "spawned", child->spawned);
    phi__records_true(out, "fault", child->fault != NULL);
    phi__records_some(out, "call", call_id);
    phi__child_save_agent(child, out, scratch);
    phi__buf_char(out, '}');
}

PHI__FN void phi__child_save_all(const phi__attached *attached, phi__buf *out, phi_arena *scratch) {
    const phi__children *all = PHI__OWNER((uintptr_t)attached, const phi__children, attached);
    const phi__link *link;
    phi__buf_char(out, '{');
    phi__records_u64(out, "made", all->made);
    phi__records_raw(out, "children", "[");
    for (link = all->list.first; link != NULL; link = link->next) {
        const phi__child *child = PHI__OWNER(link, const phi__child, link);
        bool waits = child->call.rt != NULL || child->call_id.len > 0 || child->spawned;
        if (!child->over && (waits || !child->running)) phi__child_save_one(child, out, scratch);
    }
    phi__buf_text(out, "]}");
}

/* ---- reading ---- */

static bool phi__child_save_take(phi__child *child, const phi_json *node) {
    phi_memory *memory = &child->of->parent->memory;
    phi_str name = phi__records_get_str(node, "name"), call = phi__records_get_str(node, "call");
    phi__buf text;
    phi__buf_init(&text, memory);
    if (phi__json_write(&text, phi_json_get(node, "agent"), 0) == PHI_OK && !text.failed) {
        child->block_bytes = phi__add(text.len, phi__add(name.len, call.len));
        child->block = (char *)phi__alloc(memory, child->block_bytes);
    }
    if (child->block != NULL) {
        memcpy(child->block, text.at, text.len);
        child->snapshot = phi__str(child->block, text.len);
        child->name = phi__str(child->block + text.len, name.len);
        child->call_id = phi__str(child->block + text.len + name.len, call.len);
        if (name.len > 0) memcpy(child->block + text.len, name.at, name.len);
        if (call.len > 0) memcpy(child->block + text.len + name.len, call.at, call.len);
    }
    phi__buf_free(&text);
    return child->block != NULL;
}

static bool phi__child_save_load(phi__children *all, const phi_json *node) {
    phi__child *child;
    /* its call is over: the run was interrupted */
    if (phi_json_get(node, "call") != NULL && all->parent->run == NULL) return true;
    if (!phi_json_is(phi_json_get(node, "agent"), PHI_JSON_OBJECT) &&
        !phi__records_get_bool(node, "fault"))
        return true;
    child = phi__child_make(all);
    if (child == NULL) return false;
    child->number = phi__records_get_u64(node, "number");
    child->depth = phi__records_get_u32(node, "depth");
    child->running = phi__records_get_bool(node, "running");
    child->spawned = phi__records_get_bool(node, "spawned");
    if (!phi__records_get_bool(node, "fault")) return phi__child_save_take(child, node);
    child->status = PHI_CANCELLED;
    child->fault = "The sub-agent is gone";
    return true;
}

PHI__FN bool phi__child_save_claim(phi__children *all) {
    phi_str saved = phi__attached_saved(all->parent, "subagents");
    phi_json *root = NULL;
    phi_arena scratch;
    phi_status status;
    bool done = true;
    size_t i;
    if (saved.len == 0) return true;
    phi_arena_init(&scratch, &all->parent->memory, 0);
    status = phi_json_parse(&scratch, saved, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_OK) {
        const phi_json *list = phi_json_get(root, "children");
        all->made = phi__records_get_u64(root, "made");
        for (i = 0; done && phi_json_at(list, i) != NULL; i++)
            done = phi__child_save_load(all, phi_json_at(list, i));
    }
    phi_arena_free(&scratch);
    done = done && status != PHI_NO_MEMORY;
    if (done) phi__attached_saved_drop(all->parent, "subagents");
    return done;
}

PHI__FN phi_status phi__child_save_thaw(phi__child *child, phi_subagent_desc *desc) {
    phi__agent *parent = child->of->parent, *agent = NULL;
    phi_agent_desc d;
    phi_arena scratch;
    phi_json *root = NULL;
    phi_status status;
    phi_arena_init(&scratch, &parent->memory, 0);
    status = phi_json_parse(&scratch, child->snapshot, 0, &root, NULL);
    if (status == PHI_OK && !phi__child_desc(child, desc, &scratch, &d)) status = PHI_NO_MEMORY;
    if (status == PHI_OK)
        agent = phi__snapshot_make(parent->rt, &d, root, PHI_RESTORE_RESUME);
    else
        (void)phi__error(parent->rt, status, "%s", phi_status_text(status));
    phi_arena_free(&scratch);
    if (agent == NULL) return phi__error_last(parent->rt, NULL);
    phi__child_free_block(child);
    phi__follow_begin(child, desc, agent);
    if (!child->running || agent->run != NULL) return PHI_OK;
    return phi__error(parent->rt, PHI_PARSE, "the snapshot has no run of it");
}
