/* snapshot_all.c - all agents of a runtime as one text of lines, in pieces, and back.

   While it goes on phi_step does nothing, so that what changes between two pieces is what the host
   itself changes. */
#include "agent/snapshot.h"

#include "agent/agent_in.h"
#include "features/facts.h"
#include "features/order_in.h"
#include "text/records_in.h"

#include <stdio.h>

/* ---- saving ---- */

struct phi__snapshot_saving {
    phi__buf text; /* the lines of agents */
    phi_arena scratch;
    phi_arena_mark empty;
    size_t count;
    /* The agents at one depth of the tree, then those one deeper; the slot to look at. */
    uint32_t depth, next;
    bool deeper;
    /* The one that is being written; rt NULL: none. */
    phi_agent agent;
    size_t began;   /* of its line, in the text */
    size_t line;    /* of its thread */
    size_t entries; /* of its log, when its line began */
};

/* An agent that has a line: it works for no other agent, and phi_run did not make it. */
static bool phi__snapshot_all_has(const phi__agent *agent) {
    return agent->tree.watch == NULL && agent->thread == &agent->own;
}

static uint32_t phi__snapshot_all_depth(const phi__agent *agent) {
    uint32_t depth = 0;
    while ((agent = agent->tree.parent) != NULL) depth++;
    return depth;
}

/* Chooses the next agent; false: there is none. */
static bool phi__snapshot_all_next(phi_runtime *rt, struct phi__snapshot_saving *s) {
    for (;;) {
        while (s->next < rt->agents.count) {
            phi__agent *agent = (phi__agent *)phi__slots_at(&rt->agents, s->next++)->object;
            uint32_t depth;
            if (agent == NULL || !phi__snapshot_all_has(agent)) continue;
            depth = phi__snapshot_all_depth(agent);
            s->deeper = s->deeper || depth > s->depth;
            if (depth != s->depth) continue;
            s->agent = agent->handle;
            return true;
        }
        if (!s->deeper) return false;
        s->deeper = false;
        s->next = 0;
        s->depth++;
    }
}

static phi_status phi__snapshot_all_begin_line(struct phi__snapshot_saving *s, phi__agent *agent) {
    s->began = s->text.len;
    s->line = 0;
    if (agent->run != NULL) phi__tools_round_settle(agent->run);
    s->entries = agent->thread->log.count;
    return phi__snapshot_begin(&s->text, agent, &s->scratch);
}

/* A piece: the beginning of a line, or a line of its thread. PHI_BUSY: there is more. */
static phi_status phi__snapshot_all_piece(phi_runtime *rt, struct phi__snapshot_saving *s) {
    phi__agent *agent;
    phi_status status = PHI_BUSY;
    bool begins = s->agent.rt == NULL;
    if (begins && !phi__snapshot_all_next(rt, s)) return PHI_OK;
    agent = phi__find_agent(s->agent);
    if (agent == NULL) { /* freed in the midst of it */
        s->text.len = s->began;
        memset(&s->agent, 0, sizeof s->agent);
        return PHI_BUSY;
    }
    if (!begins && agent->thread->log.count != s->entries) {
        s->text.len = s->began;
        begins = true;
    }
    if (begins) {
        status = phi__snapshot_all_begin_line(s, agent);
        if (status == PHI_OK) status = PHI_BUSY;
    } else if (!phi__snapshot_more(&s->text, agent, &s->line, &s->scratch)) {
        phi__buf_char(&s->text, '\n');
        memset(&s->agent, 0, sizeof s->agent);
        phi_arena_reset(&s->scratch, s->empty);
        s->count++;
    }
    return s->text.failed ? PHI_NO_MEMORY : status;
}

static void phi__snapshot_all_drop_saving(phi_runtime *rt) {
    struct phi__snapshot_saving *s = rt->snapshots.saving;
    if (s == NULL) return;
    rt->snapshots.saving = NULL;
    phi__buf_free(&s->text);
    phi_arena_free(&s->scratch);
    phi__free(&rt->memory, s, sizeof *s);
}

/* The line about all of them, and the lines. */
static phi_status phi__snapshot_all_join(phi_runtime *rt, phi_arena *arena, phi_str *out) {
    struct phi__snapshot_saving *s = rt->snapshots.saving;
    phi__buf head;
    char *at;
    phi_str facts = {NULL, 0};
    phi_status status = PHI_OK;
    if (phi__feature_named(rt, PHI__FEATURE_AT_FACTS))
        status = phi_facts_save(rt, &s->scratch, &facts);
    if (status != PHI_OK) return status;
    phi__buf_init(&head, &rt->memory);
    phi__buf_char(&head, '{');
    phi__records_u64(&head, "phi_runtime_snapshot", PHI_SNAPSHOT_VERSION);
    phi__records_u64(&head, "agents", s->count);
    if (facts.len > 0) {
        phi__json_write_key(&head, PHI__LIT("facts"));
        phi__buf_add_str(&head, facts);
    }
    phi__buf_text(&head, "}\n");
    at = head.failed ? NULL : (char *)phi_arena_alloc(arena, head.len + s->text.len + 1);
    if (at != NULL) {
        memcpy(at, head.at, head.len);
        if (s->text.len > 0) memcpy(at + head.len, s->text.at, s->text.len);
        at[head.len + s->text.len] = '\0';
        *out = phi__str(at, head.len + s->text.len);
    }
    phi__buf_free(&head);
    return at != NULL ? PHI_OK : PHI_NO_MEMORY;
}

PHI_API phi_status phi_runtime_snapshot(phi_runtime *rt, phi_arena *arena, phi_str *out) {
    phi_status status = PHI_BUSY;
    if (rt == NULL) return PHI_BAD_ARG;
    if (rt->in_step || rt->snapshots.loading != NULL)
        return phi__error(rt, PHI_MISUSE, "phi_runtime_snapshot %s",
                          rt->in_step ? "inside a callback" : "during phi_runtime_restore");
    if (arena == NULL || out == NULL) {
        phi__snapshot_all_drop_saving(rt);
        return arena == NULL ? PHI_OK : PHI_BAD_ARG;
    }
    if (rt->snapshots.saving == NULL) {
        rt->snapshots.saving =
            (struct phi__snapshot_saving *)phi__alloc(&rt->memory, sizeof *rt->snapshots.saving);
        if (rt->snapshots.saving == NULL)
            return phi__error(rt, PHI_NO_MEMORY, "phi_runtime_snapshot: out of memory");
        phi__buf_init(&rt->snapshots.saving->text, &rt->memory);
        phi_arena_init(&rt->snapshots.saving->scratch, &rt->memory, 0);
        rt->snapshots.saving->empty = phi_arena_save(&rt->snapshots.saving->scratch);
    }
    phi__posts_read_all(rt); /* input posted so far */
    phi__slice_begin(&rt->slice);
    while (status == PHI_BUSY && !phi__slice_spent(&rt->slice)) {
        size_t before = rt->snapshots.saving->text.len;
        status = phi__snapshot_all_piece(rt, rt->snapshots.saving);
        if (rt->snapshots.saving->text.len > before)
            phi__slice_took(&rt->slice, rt->snapshots.saving->text.len - before);
    }
    if (status == PHI_BUSY) return status;
    if (status == PHI_OK) status = phi__snapshot_all_join(rt, arena, out);
    phi__snapshot_all_drop_saving(rt);
    return status == PHI_OK
               ? status
               : phi__error(rt, status, "phi_runtime_snapshot: %s", phi_status_text(status));
}

/* ---- loading ---- */

struct phi__snapshot_loading {
    phi_str text;
    size_t at;       /* of the line that is next */
    uint64_t agents; /* as line 1 says */
    bool has_head;   /* line 1 is about all of them */
    phi_arena arena; /* of line 1 */
    phi_str facts;   /* as JSON; empty: line 1 has none */
    phi_agent *made;
    size_t count, cap;
};

/* The line at the place. False: there is none. */
static bool phi__snapshot_all_line(phi_str text, size_t *at, phi_str *line) {
    size_t end;
    while (*at < text.len && (text.at[*at] == '\n' || text.at[*at] == '\r')) ++*at;
    if (*at >= text.len) return false;
    end = phi__str_find(text, *at, "\n");
    if (end == SIZE_MAX) end = text.len;
    *line = phi__str(text.at + *at, end - *at);
    *at = end;
    return true;
}

static phi_status phi__snapshot_all_words(phi_runtime *rt, size_t line, phi_status status,
                                          const char *why) {
    char kept[300];
    (void)snprintf(kept, sizeof kept, "%s", why); /* `why` may be the last error's words */
    return phi__error(rt, status, "phi_runtime_restore: line %lu: %s", (unsigned long)line, kept);
}

/* Facts without any: a runtime without the feature has the same. */
static bool phi__snapshot_all_no_facts(const phi_json *facts) {
    return phi_json_count(phi_json_get(facts, "all")) == 0 &&
           phi_json_count(phi_json_get(facts, "groups")) == 0;
}

/* The first line: of a runtime, or of an agent that was saved alone, which is read as any other. */
static phi_status phi__snapshot_all_head(phi_runtime *rt, struct phi__snapshot_loading *l) {
    phi_parse_error error;
    phi_json *root = NULL;
    size_t at = 0;
    phi_str line = {"", 0};
    phi_status status;
    uint64_t version;
    if (!phi__snapshot_all_line(l->text, &at, &line))
        return phi__snapshot_all_words(rt, 1, PHI_PARSE, "no snapshot");
    status = phi_json_parse(&l->arena, line, PHI_JSON_BORROW, &root, &error);
    if (status != PHI_OK) return phi__snapshot_all_words(rt, 1, status, error.message);
    if (phi_json_get(root, "phi_snapshot") != NULL) return PHI_OK;
    version = phi__records_get_u64(root, "phi_runtime_snapshot");
    if (version > PHI_SNAPSHOT_VERSION)
        return phi__snapshot_all_words(rt, 1, PHI_UNSUPPORTED, "a snapshot of a later version");
    if (version != PHI_SNAPSHOT_VERSION)
        return phi__snapshot_all_words(rt, 1, PHI_PARSE, "no snapshot");
    l->at = at;
    l->has_head = true;
    l->agents = phi__records_get_u64(root, "agents");
    if (!phi__feature_named(rt, PHI__FEATURE_AT_FACTS))
        return phi__snapshot_all_no_facts(phi_json_get(root, "facts"))
                   ? PHI_OK
                   : phi__snapshot_all_words(rt, 1, PHI_UNSUPPORTED,
                                             "the snapshot has facts: name phi_feature_facts in "
                                             "phi_runtime_desc.features");
    if (phi_json_get(root, "facts") == NULL ||
        phi_json_write(&l->arena, phi_json_get(root, "facts"), 0, &l->facts) == PHI_OK)
        return PHI_OK;
    return phi__error(rt, PHI_NO_MEMORY, "phi_runtime_restore: out of memory");
}

static void phi__snapshot_all_drop_loading(phi_runtime *rt, bool with_agents) {
    struct phi__snapshot_loading *l = rt->snapshots.loading;
    size_t i;
    if (l == NULL) return;
    rt->snapshots.loading = NULL;
    for (i = l->count; with_agents && i > 0; i--)
        if (l->made[i - 1].rt != NULL) phi_agent_free(l->made[i - 1]);
    phi_arena_free(&l->arena);
    phi__free(&rt->memory, l->made, l->cap * sizeof *l->made);
    phi__free(&rt->memory, l, sizeof *l);
}

/* Makes the agent of a line, or leaves it out. */
static phi_status phi__snapshot_all_agent(phi_runtime *rt, const phi_restore_desc *with,
                                          phi_str line, phi_arena *scratch, phi_agent *out) {
    struct phi__snapshot_loading *l = rt->snapshots.loading;
    phi_agent_desc desc;
    phi_parse_error error;
    phi_json *root = NULL;
    phi_str id;
    size_t number = l->count + (l->has_head ? 2u : 1u);
    phi_status status = phi_json_parse(scratch, line, 0, &root, &error);
    const char *words = error.message;
    memset(&desc, 0, sizeof desc);
    memset(out, 0, sizeof *out);
    if (status != PHI_OK) return phi__snapshot_all_words(rt, number, status, words);
    if (!phi__arena_str(scratch, phi__records_get_str(root, "agent_id"), &id))
        return phi__snapshot_all_words(rt, number, PHI_NO_MEMORY, "out of memory");
    rt->in_step = true; /* a callback of the host's */
    if (with->desc_fn(with->user_data, id, l->count, l->made, &desc)) {
        *out = phi__snapshot_restore(rt, &desc, root, with->how);
        if (out->rt == NULL) status = phi__error_last(rt, &words);
    } else
        phi__agent_end_of_step(rt);
    return status == PHI_OK ? status : phi__snapshot_all_words(rt, number, status, words);
}

/* The next line. PHI_BUSY: there is more. */
static phi_status phi__snapshot_all_load(phi_runtime *rt, const phi_restore_desc *with) {
    struct phi__snapshot_loading *l = rt->snapshots.loading;
    phi_str line;
    phi_agent made;
    phi_status status;
    phi_arena scratch;
    void *grown;
    if (!phi__snapshot_all_line(l->text, &l->at, &line)) {
        if (!l->has_head || l->count == l->agents) return PHI_OK;
        return phi__snapshot_all_words(rt, 1, PHI_PARSE, "the text was cut: agents are missing");
    }
    phi__slice_took(&rt->slice, line.len);
    grown = phi__grow(&rt->memory, l->made, &l->cap, l->count + 1, sizeof *l->made);
    if (grown == NULL) return phi__error(rt, PHI_NO_MEMORY, "phi_runtime_restore: out of memory");
    l->made = (phi_agent *)grown;
    phi_arena_init(&scratch, &rt->memory, 0);
    status = phi__snapshot_all_agent(rt, with, line, &scratch, &made);
    phi_arena_free(&scratch);
    if (status != PHI_OK) return status;
    l->made[l->count++] = made;
    return PHI_BUSY;
}

/* All agents are there: the facts, and the list for the host. */
static phi_status phi__snapshot_all_finish(phi_runtime *rt, phi_arena *arena,
                                           const phi_agent **agents, size_t *count) {
    struct phi__snapshot_loading *l = rt->snapshots.loading;
    phi_agent *made = (phi_agent *)phi_arena_alloc(arena, l->count * sizeof *made + 1);
    if (made == NULL) return phi__error(rt, PHI_NO_MEMORY, "phi_runtime_restore: out of memory");
    if (l->facts.len > 0) {
        phi_status status = phi_facts_load(rt, l->facts);
        const char *words = "";
        if (status != PHI_OK) (void)phi__error_last(rt, &words);
        if (status != PHI_OK) return phi__snapshot_all_words(rt, 1, status, words);
    }
    if (l->count > 0) memcpy(made, l->made, l->count * sizeof *made);
    *agents = made;
    *count = l->count;
    return PHI_OK;
}

/* PHI_OK: under way, with this text. */
static phi_status phi__snapshot_all_load_begin(phi_runtime *rt, phi_str text) {
    if (rt->snapshots.loading != NULL) {
        if (rt->snapshots.loading->text.at == text.at &&
            rt->snapshots.loading->text.len == text.len)
            return PHI_OK;
        return phi__error(rt, PHI_MISUSE, "phi_runtime_restore: another text is being read");
    }
    rt->snapshots.loading =
        (struct phi__snapshot_loading *)phi__alloc(&rt->memory, sizeof *rt->snapshots.loading);
    if (rt->snapshots.loading == NULL)
        return phi__error(rt, PHI_NO_MEMORY, "phi_runtime_restore: out of memory");
    rt->snapshots.loading->text = text;
    phi_arena_init(&rt->snapshots.loading->arena, &rt->memory, 0);
    return phi__snapshot_all_head(rt, rt->snapshots.loading);
}

PHI_API phi_status phi_runtime_restore(phi_runtime *rt, phi_str text, const phi_restore_desc *desc,
                                       phi_arena *arena, const phi_agent **agents, size_t *count) {
    phi_status status;
    if (rt == NULL) return PHI_BAD_ARG;
    if (rt->in_step || rt->snapshots.saving != NULL)
        return phi__error(rt, PHI_MISUSE, "phi_runtime_restore %s",
                          rt->in_step ? "inside a callback" : "during phi_runtime_snapshot");
    if (text.len == 0) {
        phi__snapshot_all_drop_loading(rt, true);
        return PHI_OK;
    }
    if (desc == NULL || desc->desc_fn == NULL || arena == NULL || agents == NULL || count == NULL)
        return PHI_BAD_ARG;
    status = phi__snapshot_all_load_begin(rt, text);
    if (status == PHI_MISUSE) return status;
    if (status == PHI_OK) status = PHI_BUSY;
    phi__slice_begin(&rt->slice);
    while (status == PHI_BUSY) {
        status = phi__snapshot_all_load(rt, desc);
        if (status == PHI_BUSY && phi__slice_spent(&rt->slice)) return status;
    }
    if (status == PHI_OK) status = phi__snapshot_all_finish(rt, arena, agents, count);
    phi__snapshot_all_drop_loading(rt, status != PHI_OK);
    return status;
}

PHI__FN bool phi__snapshot_all_under_way(const phi_runtime *rt) {
    return rt->snapshots.saving != NULL || rt->snapshots.loading != NULL;
}

PHI__FN void phi__snapshot_all_drop(phi_runtime *rt) {
    phi__snapshot_all_drop_saving(rt);
    phi__snapshot_all_drop_loading(rt, false); /* its agents go with the others */
}
