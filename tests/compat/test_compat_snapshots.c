/* test_compat_snapshots.c - agents saved in the midst of each scene and at its end, restored from the
   stored files, and saved again; and how the restored ones go on: tests/fixtures/compat/snapshots.
   PHI_COMPAT_WRITE=1 writes missing ones (compat.h).

   NAME.json: in its midst. NAME_end.json: at its end. NAME_restored.txt: what the agent out of
   NAME.json did and sent from there. */
#include "compat/scenes_crew.h"
#include "loop/input.h"

static phi_str snapshot_of(scene *s) {
    phi_str text = PHI_ZERO;
    CHECK_EQ_INT(phi_agent_snapshot(s->agent, &s->arena, &text), PHI_OK);
    return text;
}

/* When an agent forgets depends on the bytes of its structs: such a file is only read. */
static void stored_as(const scene *s, const char *suffix, phi_str text) {
    char name[160];
    (void)snprintf(name, sizeof name, "snapshots/%s%s.json", s->kind->name, suffix);
    if ((s->kind->flags & SCENE_FORGETS) != 0)
        (void)compat_read_only(name, text.at, text.len);
    else
        (void)compat_file(name, text.at, text.len);
}

/* Restores a stored snapshot and saves it again: the same bytes. */
static bool reread(scene *s, const scene_kind *kind, const char *suffix) {
    char name[160];
    phi_str again, text;
    char *stored;
    bool good;
    (void)snprintf(name, sizeof name, "snapshots/%s%s.json", kind->name, suffix);
    stored = compat_stored(name, &text.len);
    scene_begin(s, kind, NULL);
    if (stored == NULL) return false;
    text.at = stored;
    s->desc.memory.limit_bytes = 0; /* no more is forgotten */
    good = scene_load(s, text);
    if (good) {
        again = snapshot_of(s);
        (void)compat_same(name, again.at, again.len, text.at, text.len);
    }
    free(stored);
    return good;
}

static void live(const scene_kind *kind) {
    scene s;
    scene_begin(&s, kind, NULL);
    if (scene_open(&s)) {
        kind->act(&s);
        stored_as(&s, "", snapshot_of(&s));
        kind->rest(&s);
        stored_as(&s, "_end", snapshot_of(&s));
    }
    scene_close(&s);
}

static void go_on(const scene_kind *kind) {
    scene s;
    compat_text out = PHI_ZERO;
    char name[160];
    if (reread(&s, kind, "")) {
        kind->rest(&s);
        compat_str(&out, phi_str_of(rig_story(s.r)));
        scene_requests(&s, &out);
        (void)snprintf(name, sizeof name, "snapshots/%s_restored.txt", kind->name);
        (void)compat_done(name, &out);
    }
    scene_close(&s);
    (void)reread(&s, kind, "_end");
    scene_close(&s);
}

/* The stored run, ended when it is loaded. */
static void interrupted(const scene_kind *kind, compat_text *out) {
    char name[160];
    phi_str text;
    char *stored;
    scene s;
    (void)snprintf(name, sizeof name, "snapshots/%s.json", kind->name);
    stored = compat_stored(name, &text.len);
    if (stored == NULL) return;
    text.at = stored;
    scene_begin(&s, kind, NULL);
    s.desc.memory.limit_bytes = 0;
    s.agent = phi_agent_restore(rig_runtime(s.r), &s.desc, text, PHI_RESTORE_INTERRUPT);
    CHECK(s.agent.rt != NULL);
    scene_end(&s);
    compat_print(out, "=== %s\n", kind->name);
    compat_str(out, phi_str_of(rig_story(s.r)));
    scene_close(&s);
    free(stored);
}

static void each(const scene_kind *kinds, size_t count, compat_text *interruptions) {
    size_t i;
    for (i = 0; i < count; i++) {
        int failures = test_failures();
        live(&kinds[i]);
        go_on(&kinds[i]);
        interrupted(&kinds[i], interruptions);
        scene_failed(&kinds[i], failures);
    }
}

TEST(snapshots_of_runs_are_written_read_and_gone_on_with_as_before) {
    compat_text out = PHI_ZERO;
    each(scenes_of_loops, PHI__COUNT(scenes_of_loops), &out);
    (void)compat_done("snapshots/interrupted_runs.txt", &out);
}

TEST(snapshots_of_hosts_are_written_read_and_gone_on_with_as_before) {
    compat_text out = PHI_ZERO;
    each(scenes_of_hosts, PHI__COUNT(scenes_of_hosts), &out);
    (void)compat_done("snapshots/interrupted_hosts.txt", &out);
}

TEST(snapshots_of_histories_are_written_read_and_gone_on_with_as_before) {
    compat_text out = PHI_ZERO;
    each(scenes_of_histories, PHI__COUNT(scenes_of_histories), &out);
    (void)compat_done("snapshots/interrupted_histories.txt", &out);
}

TEST(snapshots_of_threads_are_written_read_and_gone_on_with_as_before) {
    compat_text out = PHI_ZERO;
    each(scenes_of_threads, PHI__COUNT(scenes_of_threads), &out);
    (void)compat_done("snapshots/interrupted_threads.txt", &out);
}

TEST(snapshots_of_crews_are_written_read_and_gone_on_with_as_before) {
    compat_text out = PHI_ZERO;
    each(scenes_of_crews, PHI__COUNT(scenes_of_crews), &out);
    (void)compat_done("snapshots/interrupted_crews.txt", &out);
}

/* ---- a runtime of several agents ---- */

enum { VILLAGE = 4 };

typedef struct village {
    scene s;
    phi_agent agents[VILLAGE];
} village;

static const scene_kind village_kind = {"a_village", calls_make, NULL, NULL, 0};

static bool villager(void *user_data, phi_str id, size_t index, const phi_agent *agents,
                     phi_agent_desc *out) {
    village *v = (village *)user_data;
    *out = v->s.desc;
    out->ids.agent_id = id.at;
    out->ids.session_id = id.at;
    (void)index;
    if (phi__str_is(id, "child")) out->parent = agents[0];
    return !phi__str_is(id, "nobody");
}

static void village_begin(village *v) {
    memset(v, 0, sizeof *v);
    scene_begin(&v->s, &village_kind, NULL);
}

/* A mayor with a child, a smith whose call waits, one who is asked while the text is made. */
static void village_act(village *v) {
    static const char *const ids[VILLAGE] = {"mayor", "smith", "child", "nobody"};
    phi_runtime *rt = rig_runtime(v->s.r);
    size_t i;
    for (i = 0; i < VILLAGE; i++) {
        phi_agent_desc desc = PHI_ZERO;
        (void)villager(v, phi_str_of(ids[i]), i, v->agents, &desc);
        v->agents[i] = phi_agent_new(rt, &desc);
        CHECK(v->agents[i].rt != NULL);
    }
    fact(phi_fact_all(rt), "season", "winter");
    fact(phi_fact_group(rt, "guild"), "price", "7 coins");
    fact(phi_fact_agent(v->agents[2]), "age", "9");
    CHECK_EQ_INT(phi_fact_join(v->agents[1], "guild", true), PHI_OK);
    v->s.agent = v->agents[0];
    scene_talk(&v->s, "What season is it?", "Winter.");
    v->s.agent = v->agents[1];
    rig_call(v->s.r, "s1", "wait", "{}");
    scene_prompt(&v->s, "Forge a sword.");
    (void)rig_run(v->s.r, 6);
    CHECK_EQ_INT(phi_follow_up(v->agents[2], "May I play?"), PHI_OK);
    (void)rig_step(v->s.r);
}

static phi_str village_text(village *v) {
    phi_str out = PHI_ZERO;
    phi_status status = PHI_BUSY;
    while (status == PHI_BUSY)
        status = phi_runtime_snapshot(rig_runtime(v->s.r), &v->s.arena, &out);
    CHECK_EQ_INT(status, PHI_OK);
    return out;
}

static phi_status village_load(village *v, phi_str text) {
    phi_restore_desc desc = PHI_ZERO;
    phi_status status = PHI_BUSY;
    const phi_agent *agents = NULL;
    size_t count = 0;
    desc.desc_fn = villager;
    desc.user_data = v;
    while (status == PHI_BUSY)
        status =
            phi_runtime_restore(rig_runtime(v->s.r), text, &desc, &v->s.arena, &agents, &count);
    if (CHECK_EQ_INT(count, VILLAGE)) memcpy(v->agents, agents, sizeof v->agents);
    return status;
}

TEST(a_snapshot_of_a_runtime_is_written_read_and_gone_on_with_as_before) {
    static const char name[] = "snapshots/a_village.jsonl";
    compat_text out = PHI_ZERO;
    village v;
    phi_str text, again;
    char *stored;
    village_begin(&v);
    village_act(&v);
    text = village_text(&v);
    (void)compat_file(name, text.at, text.len);
    scene_close(&v.s);
    stored = compat_stored(name, &text.len);
    if (stored == NULL) return;
    text.at = stored;
    village_begin(&v);
    CHECK_EQ_INT(village_load(&v, text), PHI_OK);
    again = village_text(&v); /* without nobody, who was left out */
    (void)compat_file("snapshots/a_village_restored.jsonl", again.at, again.len);
    rig_says(v.s.r, "It is forged.");
    scene_finish(&v.s, "forged");
    scene_end(&v.s);
    v.s.agent = v.agents[3]; /* the child, behind those without a parent */
    rig_says(v.s.r, "I am nine.");
    scene_talk(&v.s, "How old are you?", "You may play.");
    compat_str(&out, phi_str_of(rig_story(v.s.r)));
    scene_requests(&v.s, &out);
    (void)compat_done("snapshots/a_village_restored.txt", &out);
    scene_close(&v.s);
    free(stored);
}

TEST(the_folder_has_no_other_snapshots) { compat_folder("snapshots"); }

TEST_MAIN(TEST_ENTRY(snapshots_of_runs_are_written_read_and_gone_on_with_as_before),
          TEST_ENTRY(snapshots_of_hosts_are_written_read_and_gone_on_with_as_before),
          TEST_ENTRY(snapshots_of_histories_are_written_read_and_gone_on_with_as_before),
          TEST_ENTRY(snapshots_of_threads_are_written_read_and_gone_on_with_as_before),
          TEST_ENTRY(snapshots_of_crews_are_written_read_and_gone_on_with_as_before),
          TEST_ENTRY(a_snapshot_of_a_runtime_is_written_read_and_gone_on_with_as_before),
          TEST_ENTRY(the_folder_has_no_other_snapshots))
