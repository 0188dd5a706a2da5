/* head.c - keeps the head of a conversation as it was first sent, and appends changes. */
#include "loop/inner_in.h"

/* Tools that are not part of a head: raw tools, and deferred tools that the model has never seen as
   normal tools. They follow the head's tools in a request. */
typedef struct phi__head_aside {
    phi__tool_view *tools;
    size_t count;
    bool deferred; /* one of these tools is deferred */
} phi__head_aside;

PHI__FN bool phi__tell(phi__run *run, const phi_message *message) {
    phi_thread *thread = run->agent->thread;
    const phi__fold *fold = &thread->fold;
    phi__request_spec *spec = &run->attempt.spec;
    bool of_view = spec->items == fold->items;
    phi_message update = *message;
    if (phi__codec_paused(spec)) return true;
    update.role = PHI_ROLE_USER;
    update.is_update = true;
    phi__events_stamp(run, &update);
    phi_message *kept = phi__append_keep(thread, &update);
    if (kept == NULL || !phi__events_log(run, kept)) return false;
    /* Adds the message to the request's items. The view's own list has it already, but may have
       moved. */
    size_t n = spec->item_count;
    phi__item *items = fold->items;
    if (!of_view) {
        items = (phi__item *)phi_arena_alloc(&run->arena, phi__mul(phi__add(n, 1), sizeof *items));
        if (items == NULL) return false;
        if (n > 0) memcpy(items, spec->items, n * sizeof *items);
        items[n] = fold->items[fold->count - 1];
    }
    spec->items = items;
    spec->item_count = of_view ? fold->count : n + 1;
    return true;
}

/* ---- tools outside of a head ---- */

/* True if the text contains the name as a JSON string. */
static bool phi__head_aside_names(phi_str text, phi_str name) {
    for (size_t at = 0; at + name.len + 1 < text.len; at++)
        if (text.at[at] == '"' && text.at[at + 1 + name.len] == '"' &&
            memcmp(text.at + at + 1, name.at, name.len) == 0)
            return true;
    return false;
}

/* True if the head or one of its updates has ever defined a tool of this name. */
static bool phi__head_aside_knew(const phi__head *head, const phi__request_spec *spec,
                                 phi_str name) {
    char id[17];
    for (size_t i = 0; i < head->count; i++)
        if (phi_str_equal(head->tools[i].name, name)) return true;
    phi__hash_hex(head->id, id);
    for (size_t i = 0; i < spec->item_count; i++) {
        const phi_message *m = spec->items[i].message;
        if (m->is_update && phi__str_find(m->details, 0, "{\"head\":") == 0 &&
            phi__head_aside_names(m->details, phi__str(id, 16)) &&
            phi__head_aside_names(m->details, name))
            return true;
    }
    return false;
}

/* Moves the tools that are not part of the head from the request to `aside`. head NULL: a new head
   will be made. False: no memory. */
static bool phi__head_aside_take(const phi__head *head, phi__request_spec *spec, phi_arena *arena,
                                 phi__head_aside *aside) {
    phi__tool_view *own;
    bool any = false;
    size_t n = 0;
    memset(aside, 0, sizeof *aside);
    for (size_t i = 0; i < spec->tool_count; i++)
        any = any || spec->tools[i].is_raw || spec->tools[i].deferred;
    if (!any) return true;
    own = (phi__tool_view *)phi_arena_alloc(arena, phi__mul(2 * spec->tool_count, sizeof *own));
    if (own == NULL) return false;
    aside->tools = own + spec->tool_count;
    for (size_t i = 0; i < spec->tool_count; i++) {
        const phi__tool_view *tool = &spec->tools[i];
        /* a tool that the model already knows stays in its place */
        if (tool->is_raw ||
            (tool->deferred && (head == NULL || !phi__head_aside_knew(head, spec, tool->name)))) {
            aside->deferred = aside->deferred || tool->deferred;
            aside->tools[aside->count++] = *tool;
        } else {
            own[n] = *tool;
            own[n++].deferred = false;
        }
    }
    spec->tools = own;
    spec->tool_count = n;
    return true;
}

/* Appends the tools in `aside` to the request. searches: an earlier request had a tool search, so
   this one needs it, too. False: no memory. */
static bool phi__head_aside_give(const phi__agent *agent, phi__request_spec *spec, phi_arena *arena,
                                 const phi__head_aside *aside, bool searches) {
    phi__tool_view *all;
    spec->searches = searches && agent->codec->rules->defers != NULL &&
                     agent->codec->rules->defers(&agent->desc.model);
    if (aside->count == 0) return true;
    all = (phi__tool_view *)phi_arena_alloc(
        arena, phi__mul(phi__add(spec->tool_count, aside->count), sizeof *all));
    if (all == NULL) return false;
    if (spec->tool_count > 0) memcpy(all, spec->tools, spec->tool_count * sizeof *all);
    memcpy(all + spec->tool_count, aside->tools, aside->count * sizeof *all);
    spec->tools = all;
    spec->tool_count += aside->count;
    return true;
}

/* ---- the head: hashes, making and freeing ---- */

static uint64_t phi__head_tool_hash(const phi__tool_view *tool) {
    uint64_t n = phi__hash(tool->name, tool->strict != NULL ? 2 : 1);
    return phi__hash(tool->schema, phi__hash(tool->description, n)) | 1;
}

static uint64_t phi__head_hash(phi_str system, const phi__tool_view *tools, size_t count) {
    uint64_t n = phi__hash(system, count);
    for (size_t i = 0; i < count; i++) n = phi__hash_mix(n ^ phi__head_tool_hash(&tools[i]));
    return n | 1;
}

static uint64_t phi__head_digits(const phi_json *node) {
    return phi__hash_of_hex(phi_json_str(node, ""));
}

PHI__FN void phi__head_free(phi__agent *agent) {
    if (agent->prior.head == NULL) return;
    phi_arena_free(&agent->prior.head->arena);
    phi__free(&agent->memory, agent->prior.head, sizeof *agent->prior.head);
    agent->prior.head = NULL;
}

/* Replaces the agent's head by an empty one. NULL: no memory; the agent may have lost its head. */
static phi__head *phi__head_new(phi__agent *agent, size_t count) {
    phi__head *head = (phi__head *)phi__alloc(&agent->memory, sizeof *head);
    if (head == NULL) return NULL;
    phi__head_free(agent);
    memset(head, 0, sizeof *head);
    agent->prior.head = head;
    phi_arena_init(&head->arena, &agent->memory, 512);
    head->count = count;
    head->tools = (phi__tool_view *)phi__arena_zero(
        &head->arena, phi__mul(phi__max(count, 1), sizeof *head->tools));
    if (head->tools != NULL) return head;
    phi__head_free(agent);
    return NULL;
}

/* Makes a head with copies of this prompt and these tools. NULL: no memory; the agent may have lost
   its head. */
static phi__head *phi__head_of(phi__agent *agent, phi_str system, const phi__tool_view *tools,
                               size_t count) {
    phi__head *head = phi__head_new(agent, count);
    if (head == NULL) return NULL;
    bool done = phi__arena_str(&head->arena, system, &head->system);
    for (size_t i = 0; done && i < count; i++) {
        phi__tool_view *to = &head->tools[i];
        to->strict = tools[i].strict;
        done = phi__arena_str(&head->arena, tools[i].name, &to->name) &&
               phi__arena_str(&head->arena, tools[i].description, &to->description) &&
               phi__arena_str(&head->arena, tools[i].schema, &to->schema);
    }
    if (done) return head;
    phi__head_free(agent);
    return NULL;
}

/* Makes a head from the request's prompt and tools. apart: gives the head a new id, so that updates
   of an equal earlier head do not belong to it. */
static bool phi__head_make(phi__run *run, bool apart) {
    const phi__request_spec *spec = &run->attempt.spec;
    phi__head *head = phi__head_of(run->agent, spec->system_prompt, spec->tools, spec->tool_count);
    if (head == NULL) return false;
    head->id = phi__head_hash(spec->system_prompt, spec->tools, spec->tool_count);
    if (apart) head->id = phi__hash_mix(head->id + phi_thread_count(run->agent->thread)) | 1;
    return true;
}

PHI__FN bool phi__head_copy(phi__agent *agent, const phi__agent *from) {
    if (from->prior.head == NULL) return true;
    phi__head *head = phi__head_of(agent, from->prior.head->system, from->prior.head->tools,
                                   from->prior.head->count);
    if (head == NULL) return false;
    head->id = from->prior.head->id;
    head->searches = from->prior.head->searches;
    return true;
}

/* ---- snapshots ---- */

PHI__FN void phi__head_save(phi__buf *out, const phi__agent *agent) {
    const phi__head *head = agent->prior.head;
    char digits[17];
    if (head == NULL) return;
    phi__hash_hex(head->id, digits);
    phi__records_raw(out, "head", "{");
    phi__records_str(out, "id", phi__str(digits, 16));
    phi__records_str(out, "system", head->system);
    phi__records_raw(out, "tools", "[");
    for (size_t i = 0; i < head->count; i++) {
        phi__buf_text(out, i > 0 ? ",[" : "[");
        phi__json_write_str(out, head->tools[i].name);
        phi__buf_char(out, ',');
        phi__json_write_str(out, head->tools[i].description);
        phi__buf_char(out, ',');
        phi__json_write_str(out, head->tools[i].schema);
        phi__buf_text(out, head->tools[i].strict != NULL ? ",true]" : ",false]");
    }
    phi__buf_text(out, head->searches ? "],\"searches\":true}" : "]}");
}

static phi_status phi__head_load_tool(phi__head *head, const phi__formats *formats,
                                      const phi_json *node, phi__tool_view *to) {
    phi_json_iter it = phi_json_each(node);
    phi_str name = phi_json_str(phi_json_next(&it), "");
    phi_str description = phi_json_str(phi_json_next(&it), "");
    phi_str schema = phi_json_str(phi_json_next(&it), "");
    phi_arena_mark mark = phi_arena_save(&head->arena);
    phi_json *root = NULL;
    phi_status status = phi_json_parse(&head->arena, schema, PHI_JSON_BORROW, &root, NULL);
    bool valid = status == PHI_OK && phi_json_is(root, PHI_JSON_OBJECT) && name.len > 0;
    phi_arena_reset(&head->arena, mark);
    if (phi_json_bool(phi_json_next(&it), false)) to->strict = formats;
    if (status == PHI_NO_MEMORY) return status;
    if (!valid) return PHI_PARSE;
    return phi__arena_str(&head->arena, name, &to->name) &&
                   phi__arena_str(&head->arena, description, &to->description) &&
                   phi__arena_str(&head->arena, schema, &to->schema)
               ? PHI_OK
               : PHI_NO_MEMORY;
}

PHI__FN phi_status phi__head_load(phi__agent *agent, const phi_json *node) {
    const phi_json *tools = phi_json_get(node, "tools");
    phi_json_iter it = phi_json_each(tools);
    if (node == NULL) return PHI_OK;
    phi__head *head = phi__head_new(agent, phi_json_count(tools));
    if (head == NULL) return PHI_NO_MEMORY;
    phi_status status =
        phi__arena_str(&head->arena, phi_json_str(phi_json_get(node, "system"), ""), &head->system)
            ? PHI_OK
            : PHI_NO_MEMORY;
    for (size_t i = 0; i < head->count && status == PHI_OK; i++)
        status = phi__head_load_tool(head, agent->rt->features.formats, phi_json_next(&it),
                                     &head->tools[i]);
    head->id = phi__head_digits(phi_json_get(node, "id")) | 1;
    head->searches = phi_json_bool(phi_json_get(node, "searches"), false);
    if (status != PHI_OK) phi__head_free(agent);
    return status;
}

/* ---- the head that the model knows ---- */

/* The state after the last valid update. */
typedef struct phi__head_told {
    int64_t number;        /* the update's N; 0: no update */
    uint64_t system;       /* hash of the system prompt */
    const phi_json *tools; /* names and hashes of the tools */
    bool broken;           /* an update is missing */
    bool foreign;          /* the view has updates of other heads */
    bool answered;         /* the view has an answer */
} phi__head_told;

/* Parses the details of a head's update. NULL: the message is not an update, or there is no memory
   (*no_memory). */
static const phi_json *phi__head_details(const phi_message *m, phi_arena *arena, bool *no_memory) {
    phi_json *root = NULL;
    if (!m->is_update || phi__str_find(m->details, 0, "{\"head\":") != 0) return NULL;
    phi_status status = phi_json_parse(arena, m->details, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_NO_MEMORY) *no_memory = true;
    return status == PHI_OK ? root : NULL;
}

/* True if a system message may follow here: after a user's message, or after tool results. */
static bool phi__head_may_stand(const phi__request_spec *spec, size_t at) {
    while (at > 0) {
        const phi_message *m = spec->items[--at].message;
        if (m->role == PHI_ROLE_EXTENSION || m->is_update || !phi__encode_says(m)) continue;
        if (m->role != PHI_ROLE_ASSISTANT) return true;
        for (size_t i = 0; i < m->content_count; i++)
            if (phi__codec_is_call(&m->content[i])) return true;
        return false;
    }
    return false;
}

/* True if the model has seen the update as a system message. Only system messages can change tools.
   False if the update changed tools for another protocol. Also false if a user's message follows
   the update, because the update can then no longer be sent as a system message. */
static bool phi__head_counts(const phi__request_spec *spec, const phi__codec *codec, size_t at) {
    const phi_message *update = spec->items[at].message;
    for (size_t i = 0; i < update->content_count; i++)
        if (update->content[i].kind == PHI_CONTENT_OPAQUE &&
            !phi__codec_is(codec->names, update->content[i].protocol))
            return false;
    if (!phi__head_may_stand(spec, at)) return false;
    for (size_t i = at + 1; i < spec->item_count; i++) {
        const phi_message *m = spec->items[i].message;
        if (m->role == PHI_ROLE_EXTENSION || m->is_update || !phi__encode_says(m)) continue;
        return m->role == PHI_ROLE_ASSISTANT;
    }
    return true;
}

/* Finds the head's state in the view. False: no memory. */
static bool phi__head_look(const phi__request_spec *spec, const phi__codec *codec,
                           const phi__head *head, phi_arena *arena, phi__head_told *told) {
    bool no_memory = false;
    int64_t want = -1;
    memset(told, 0, sizeof *told);
    for (size_t i = spec->item_count; i > 0 && !no_memory; i--) {
        const phi_message *m = spec->items[i - 1].message;
        if (m->role == PHI_ROLE_ASSISTANT) told->answered = true;
        const phi_json *root = phi__head_details(m, arena, &no_memory);
        if (root == NULL) continue;
        int64_t n = phi_json_int(phi_json_get(root, "head"), 0);
        if (head == NULL || phi__head_digits(phi_json_get(root, "id")) != head->id ||
            !phi__head_counts(spec, codec, i - 1)) {
            told->foreign = true;
            continue;
        }
        if (want < 0) {
            told->number = n;
            told->system = phi__head_digits(phi_json_get(root, "system"));
            told->tools = phi_json_get(root, "tools");
        } else if (n != want)
            told->broken = true;
        want = n - 1;
    }
    if (want > 0) told->broken = true;
    return !no_memory;
}

/* Removes invalid updates, and updates of other heads, from the request. False: no memory. */
static bool phi__head_filter(phi__request_spec *spec, const phi__codec *codec,
                             const phi__head *head, phi_arena *arena) {
    phi__item *items =
        (phi__item *)phi_arena_alloc(arena, phi__mul(phi__max(spec->item_count, 1), sizeof *items));
    bool no_memory = false;
    size_t n = 0;
    if (items == NULL) return false;
    for (size_t i = 0; i < spec->item_count; i++) {
        const phi_json *root = phi__head_details(spec->items[i].message, arena, &no_memory);
        if (root != NULL && (phi__head_digits(phi_json_get(root, "id")) != head->id ||
                             !phi__head_counts(spec, codec, i)))
            continue;
        items[n++] = spec->items[i];
    }
    spec->items = items;
    spec->item_count = n;
    return !no_memory;
}

/* ---- the next update ---- */

/* Returns the hash of the tool that the model knows by this name. 0: none. */
static uint64_t phi__head_told_tool(const phi__head *head, const phi__head_told *told,
                                    phi_str name) {
    if (told->number > 0) {
        phi_json_iter it = phi_json_each(told->tools);
        const phi_json *node;
        while ((node = phi_json_next(&it)) != NULL) {
            const phi_json *hash = phi_json_next(&it);
            if (phi_str_equal(phi_json_str(node, ""), name)) return phi__head_digits(hash);
        }
        return 0;
    }
    for (size_t i = 0; i < head->count; i++)
        if (phi_str_equal(head->tools[i].name, name)) return phi__head_tool_hash(&head->tools[i]);
    return 0;
}

static bool phi__head_has(const phi__request_spec *spec, phi_str name) {
    for (size_t i = 0; i < spec->tool_count; i++)
        if (phi_str_equal(spec->tools[i].name, name)) return true;
    return false;
}

typedef struct phi__head_update {
    phi__run *run;
    phi_content *blocks;
    size_t count;
    bool failed;
} phi__head_update;

static void phi__head_put(phi__head_update *u, phi_content_kind kind, const phi__buf *text) {
    phi_content *c = &u->blocks[u->count];
    phi_str copy;
    if (text->failed || !phi__arena_str(&u->run->arena, phi__buf_str(text), &copy)) {
        u->failed = true;
        return;
    }
    memset(c, 0, sizeof *c);
    c->kind = kind;
    if (kind == PHI_CONTENT_TEXT) {
        c->text = copy;
    } else {
        c->replay = copy;
        c->name = PHI__LIT("tool_change");
        c->protocol = phi_str_of(u->run->agent->codec->names[0]);
    }
    u->count++;
}

/* Adds a block for a new tool, or, if `removed` is set, for a tool that is no longer in the
   request. */
static void phi__head_put_tool(phi__head_update *u, const phi__tool_view *tool, bool removed) {
    phi__buf text;
    if (removed && phi__head_has(&u->run->attempt.spec, tool->name)) return;
    phi__buf_init(&text, &u->run->agent->memory);
    u->run->agent->codec->rules->put_tool(&text, tool, removed);
    phi__head_put(u, PHI_CONTENT_OPAQUE, &text);
    phi__buf_free(&text);
}

/* Adds blocks for removed, new and changed tools. */
static void phi__head_put_tools(phi__head_update *u, const phi__head_told *told) {
    const phi__head *head = u->run->agent->prior.head;
    const phi__request_spec *spec = &u->run->attempt.spec;
    phi_json_iter it = phi_json_each(told->tools);
    phi__tool_view gone = PHI_ZERO;
    const phi_json *node;
    while (told->number > 0 && (node = phi_json_next(&it)) != NULL) {
        gone.name = phi_json_str(node, "");
        phi__head_put_tool(u, &gone, true);
        (void)phi_json_next(&it);
    }
    for (size_t i = 0; told->number <= 0 && i < head->count; i++) {
        gone.name = head->tools[i].name;
        phi__head_put_tool(u, &gone, true);
    }
    for (size_t i = 0; i < spec->tool_count; i++)
        if (phi__head_told_tool(head, told, spec->tools[i].name) !=
            phi__head_tool_hash(&spec->tools[i]))
            phi__head_put_tool(u, &spec->tools[i], false);
}

static void phi__head_put_hash(phi__buf *out, uint64_t hash) {
    char digits[17];
    phi__hash_hex(hash, digits);
    phi__json_write_str(out, phi__str(digits, 16));
}

static bool phi__head_say(phi__head_update *u, const phi__head_told *told) {
    phi__run *run = u->run;
    const phi__request_spec *spec = &run->attempt.spec;
    phi__buf details;
    phi__buf_init(&details, &run->agent->memory);
    phi__buf_text(&details, "{\"head\":");
    phi__buf_u64(&details, (uint64_t)told->number + 1);
    phi__json_write_key(&details, PHI__LIT("id"));
    phi__head_put_hash(&details, run->agent->prior.head->id);
    phi__json_write_key(&details, PHI__LIT("system"));
    phi__head_put_hash(&details, phi__hash(spec->system_prompt, 1));
    phi__json_write_key(&details, PHI__LIT("tools"));
    phi__buf_char(&details, '[');
    for (size_t i = 0; i < spec->tool_count; i++) {
        phi__json_write_comma(&details);
        phi__json_write_str(&details, spec->tools[i].name);
        phi__buf_char(&details, ',');
        phi__head_put_hash(&details, phi__head_tool_hash(&spec->tools[i]));
    }
    phi__buf_text(&details, "]}");
    phi_message message = PHI_ZERO;
    message.content = u->blocks;
    message.content_count = u->count;
    message.details = phi__buf_str(&details);
    bool done = !details.failed && phi__tell(run, &message);
    phi__buf_free(&details);
    return done;
}

/* Returns the number of tools that the model knows. */
static size_t phi__head_known(const phi__head *head, const phi__head_told *told) {
    return told->number > 0 ? phi_json_count(told->tools) / 2 : head->count;
}

/* True if the tools differ from those that the model knows. */
static bool phi__head_tools_differ(const phi__request_spec *spec, const phi__head *head,
                                   const phi__head_told *told) {
    if (phi__head_known(head, told) != spec->tool_count) return true;
    for (size_t i = 0; i < spec->tool_count; i++)
        if (phi__head_told_tool(head, told, spec->tools[i].name) !=
            phi__head_tool_hash(&spec->tools[i]))
            return true;
    return false;
}

static bool phi__head_tell(phi__run *run, const phi__head_told *told, bool system, bool tools) {
    const phi__request_spec *spec = &run->attempt.spec;
    size_t known = phi__head_known(run->agent->prior.head, told);
    phi__head_update u = PHI_ZERO;
    u.run = run;
    u.blocks = (phi_content *)phi_arena_alloc(
        &run->arena, phi__mul(phi__add(phi__add(known, spec->tool_count), 1), sizeof *u.blocks));
    if (u.blocks == NULL) return false;
    if (system) {
        phi_str prompt = spec->system_prompt;
        phi__buf text;
        phi__texts_args args = PHI_ZERO;
        args.text = prompt;
        phi__buf_init(&text, &u.run->agent->memory);
        phi__texts_put(&text, u.run->agent->desc.texts,
                       prompt.len == 0 ? PHI_TEXT_INSTRUCTIONS_GONE : PHI_TEXT_INSTRUCTIONS, &args);
        phi__head_put(&u, PHI_CONTENT_TEXT, &text);
        phi__buf_free(&text);
    }
    if (tools) phi__head_put_tools(&u, told);
    return !u.failed && phi__head_say(&u, told);
}

/* Puts the kept head into the request. False: no memory. */
static bool phi__head_show(phi__agent *agent, phi__request_spec *spec) {
    phi__head *head = agent->prior.head;
    spec->system_prompt = head->system;
    spec->tools = head->tools;
    spec->tool_count = head->count;
    return phi__strict_tools_adapt(head->tools, head->count, agent->codec, &agent->desc.model,
                                   &head->arena);
}

/* Makes a new head, and finds its updates in the view. The new head takes over the updates of an
   equal earlier head if the view has all of them. Otherwise the remaining updates might remove a
   tool that no update added. False: no memory. */
static bool phi__head_renew(phi__run *run, phi__head_told *told) {
    const phi__request_spec *spec = &run->attempt.spec;
    phi__agent *agent = run->agent;
    if (!phi__head_make(run, false) ||
        !phi__head_look(spec, agent->codec, agent->prior.head, &run->arena, told))
        return false;
    return !told->broken ||
           (phi__head_make(run, true) &&
            phi__head_look(spec, agent->codec, agent->prior.head, &run->arena, told));
}

/* Returns NULL if the agent's model takes no updates. The head is then kept for models that take
   updates. */
static const phi__codec_rules *phi__head_rules(const phi__agent *agent) {
    const phi__codec_rules *rules = agent->provider == NULL ? agent->codec->rules : NULL;
    if (rules == NULL || rules->takes_updates == NULL) return NULL;
    return rules->takes_updates(&agent->desc.model) ? rules : NULL;
}

/* True if a change of tools can be appended to the request. */
static bool phi__head_takes_tools(const phi__codec_rules *rules, const phi__request_spec *spec) {
    return rules->put_tool != NULL && rules->takes_tools(spec->model) &&
           phi__head_may_stand(spec, spec->item_count);
}

PHI__FN bool phi__head_keep(phi__agent *agent, phi__request_spec *spec, phi_arena *arena) {
    phi__head *head = agent->prior.head;
    phi__head_aside aside;
    if (head == NULL || phi__head_rules(agent) == NULL) return true;
    return phi__head_aside_take(head, spec, arena, &aside) && phi__head_show(agent, spec) &&
           phi__head_aside_give(agent, spec, arena, &aside, head->searches);
}

PHI__FN bool phi__head_apply(phi__run *run) {
    phi__agent *agent = run->agent;
    const phi__codec_rules *rules = phi__head_rules(agent);
    phi__request_spec *spec = &run->attempt.spec;
    phi__head_aside aside;
    phi__head_told told;
    if (rules == NULL) return true;
    if (!phi__head_look(spec, agent->codec, agent->prior.head, &run->arena, &told)) return false;
    bool fresh = agent->prior.head == NULL || !told.answered || told.broken;
    if (!phi__head_aside_take(fresh ? NULL : agent->prior.head, spec, &run->arena, &aside) ||
        (fresh && !phi__head_renew(run, &told)))
        return false;
    bool tools = phi__head_tools_differ(spec, agent->prior.head, &told);
    if (tools && !phi__head_takes_tools(rules, spec)) {
        if (!phi__head_renew(run, &told)) return false;
        tools = false;
    }
    phi__head *head = agent->prior.head;
    head->searches = head->searches || aside.deferred;
    if (told.foreign && !phi__head_filter(spec, agent->codec, head, &run->arena)) return false;
    bool system = told.number > 0 ? told.system != phi__hash(spec->system_prompt, 1)
                                  : !phi_str_equal(head->system, spec->system_prompt);
    if ((system || tools) && !phi__head_tell(run, &told, system, tools)) return false;
    return phi__head_show(agent, spec) &&
           phi__head_aside_give(agent, spec, &run->arena, &aside, head->searches);
}

/* Like phi__head_renew, but does not change the agent's head. */
static bool phi__head_foresee_new(const phi__request_spec *spec, const phi__codec *codec,
                                  phi_arena *arena, phi__head *fresh, phi__head_told *told) {
    fresh->system = spec->system_prompt;
    fresh->tools = (phi__tool_view *)(uintptr_t)spec->tools; /* these tools are only read */
    fresh->count = spec->tool_count;
    fresh->id = phi__head_hash(fresh->system, fresh->tools, fresh->count);
    if (!phi__head_look(spec, codec, fresh, arena, told)) return false;
    if (!told->broken) return true;
    fresh->id = phi__hash_mix(fresh->id) | 1; /* no update has this id */
    return phi__head_look(spec, codec, fresh, arena, told);
}

PHI__FN bool phi__head_foresee(const phi__agent *agent, phi__request_spec *spec, phi_arena *arena) {
    const phi__codec_rules *rules = phi__head_rules(agent);
    const phi__head *head = agent->prior.head;
    phi__head fresh = PHI_ZERO;
    phi__head_aside aside;
    phi__head_told told;
    if (rules == NULL) return true;
    if (!phi__head_look(spec, agent->codec, head, arena, &told)) return false;
    if (head != NULL && (!told.answered || told.broken)) head = NULL;
    if (!phi__head_aside_take(head, spec, arena, &aside)) return false;
    if (head == NULL ||
        (phi__head_tools_differ(spec, head, &told) && !phi__head_takes_tools(rules, spec))) {
        if (!phi__head_foresee_new(spec, agent->codec, arena, &fresh, &told)) return false;
        head = &fresh;
    }
    if (told.foreign && !phi__head_filter(spec, agent->codec, head, arena)) return false;
    spec->system_prompt = head->system;
    spec->tools = head->tools;
    spec->tool_count = head->count;
    return phi__head_aside_give(agent, spec, arena, &aside, head->searches || aside.deferred);
}
