/* test_subagents_tape.c - a run with sub-agents is recorded, and played again: children are made
   again, and the log is the same. */
#include "record/replay.h"
#include "orchestrate/family.h"
#include "loop/loop_in.h"

typedef struct text {
    char at[60000];
    size_t len;
} text;

static void add(text *t, const char *bytes, size_t n) {
    if (!CHECK(t->len + n + 1 < sizeof t->at)) return;
    memcpy(t->at + t->len, bytes, n);
    t->len += n;
    t->at[t->len] = '\0';
}

static phi_status write_tape(void *user_data, const char *bytes, size_t len) {
    add((text *)user_data, bytes, len);
    return PHI_OK;
}

static void tell(void *user_data, const phi_event *e) {
    char line[300];
    int n = snprintf(line, sizeof line, "%s %.*s %.*s|", phi_event_name(e->kind),
                     (int)e->tool_call_id.len, e->tool_call_id.len > 0 ? e->tool_call_id.at : "",
                     (int)e->text.len, e->text.len > 0 ? e->text.at : "");
    add((text *)user_data, line, (size_t)n);
}

static void story(phi_tape *tape, text *events, int *opens) {
    phi_runtime_desc runtime;
    phi_agent_desc worker_desc, lead_desc;
    phi_subagent_desc worker;
    phi_tool tool;
    family f;
    rig *r;
    memset(&runtime, 0, sizeof runtime);
    runtime.tape = tape;
    memset(&worker, 0, sizeof worker);
    r = rig_new_with(&runtime);
    family_begin(&f, r);
    worker_desc = family_desc(&f, "worker");
    lead_desc = family_desc(&f, "lead 4");
    worker.name = "worker";
    worker.agent = &worker_desc;
    worker.keep = 1;
    tool = phi_subagent_tool(&worker);
    lead_desc.tools = &tool;
    lead_desc.tool_count = 1;
    lead_desc.ids.agent_id = "lead";
    lead_desc.ids.session_id = "s";
    rig_watch(r, tell, events);
    CHECK_EQ_INT(phi_prompt(rig_agent(r, &lead_desc), "part"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    *opens = f.opens;
    rig_free(r);
}

TEST(children_are_made_again_when_a_tape_is_played) {
    static text tape_text, recorded, played;
    phi_tape_desc desc;
    phi_tape_divergence d;
    phi_tape *tape;
    int opens = 0, again = 0;
    memset(&desc, 0, sizeof desc);
    desc.write_fn = write_tape;
    desc.user_data = &tape_text;
    tape = phi_tape_record(&desc);
    story(tape, &recorded, &opens);
    CHECK_EQ_INT(phi_tape_end(tape, NULL), PHI_OK);
    phi_tape_free(tape);
    CHECK_EQ_INT(opens, 6);
    CHECK(strstr(recorded.at, "Done: part 3.") != NULL);
    CHECK(strstr(tape_text.at, "Done: part 3.") == NULL); /* it follows from the rest */
    memset(&desc, 0, sizeof desc);
    tape = phi_tape_play(&desc, phi__str(tape_text.at, tape_text.len), NULL);
    if (!CHECK(tape != NULL)) return;
    story(tape, &played, &again);
    if (!CHECK_EQ_INT(phi_tape_end(tape, &d), PHI_OK))
        printf("  %.*s: %.*s\n", (int)d.what.len, d.what.at, (int)d.actual.len, d.actual.at);
    phi_tape_free(tape);
    CHECK_EQ_INT(again, opens);
    CHECK_EQ_STR(played.at, recorded.at);
}

TEST_MAIN(TEST_ENTRY(children_are_made_again_when_a_tape_is_played))
