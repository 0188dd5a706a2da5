"""Features: a made-up one is a file and its name in the runtime's desc; and agents of a runtime that names none.

Each works on the headers that the real script makes, of a copy of the sources where it changes them."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Unoptimised, clang makes a program in a third of the time, and warns of more.
CC = ["clang"] if shutil.which("clang") else ["gcc", "-Wno-misleading-indentation"]

# It counts the points of each kind, holds the run once in front of the second model call, and checks that its state is
# its own, zeroed at first and kept until the end.
MADE_UP = """/* made_up.c - a feature of a test. */
#include "features/features.h"

#include "loop/loop_in.h"

typedef struct phi__made_up {
    uint64_t sum, requests;
    bool held;
} phi__made_up;

static unsigned phi__made_up_seen[32];
static bool phi__made_up_good = true;

static phi__state phi__made_up_take(phi__moment *moment) {
    phi__made_up *mine = (phi__made_up *)moment->run_state;
    uint64_t *of_agent = (uint64_t *)moment->agent_state;
    unsigned bit = 0;
    while ((uint32_t)moment->point >> bit != 1) bit++;
    phi__made_up_seen[bit]++;
    ++*of_agent;
    if (moment->point == PHI__POINT_AGENT_FREED)
        phi__made_up_good = phi__made_up_good && *of_agent > 10;
    if (mine == NULL) return PHI__RUN_ON;
    mine->sum++;
    if (moment->point == PHI__POINT_REQUEST) {
        mine->requests++;
        moment->run->slices = true;
        return PHI__RUN_ON;
    }
    if (moment->point == PHI__POINT_TURN_BEGUN && mine->requests == 1) return PHI__RUN_HELD;
    if (moment->point == PHI__POINT_HELD) {
        mine->held = true;
        return PHI__RUN_TRANSFORM;
    }
    if (moment->point == PHI__POINT_RUN_FREED)
        phi__made_up_good = phi__made_up_good && mine->held && mine->requests == 2 && mine->sum > 10;
    return PHI__RUN_ON;
}

PHI_API const phi__feature *phi_feature_made_up(void) {
    static const phi__feature feature = {UINT32_MAX, sizeof(phi__made_up), sizeof(uint64_t),
                                         phi__made_up_take, NULL, 30, NULL, NULL};
    return &feature;
}
"""

HOST = """
#define PHI_IMPLEMENTATION
#include "phi.h"
#include <stdio.h>
#include <string.h>

static int opens;

static phi_status open_fn(void *user_data, const phi_model_request *request, void **call) {
    (void)user_data;
    (void)request;
    opens++;
    *call = &opens;
    return PHI_OK;
}

static phi_poll poll_fn(void *user_data, void *call, phi_answer *answer) {
    (void)user_data;
    (void)call;
    if (opens == 1) {
        phi_answer_call(answer, phi_str_of("c1"), phi_str_of("echo"));
        phi_answer_arguments(answer, phi_str_of(""), true);
    } else {
        phi_answer_text(answer, phi_str_of("done"));
    }
    phi_answer_stop(answer, PHI_STOP_REASON_STOP);
    return PHI_POLL_DONE;
}

static void close_fn(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

static phi_flow start_fn(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)arguments;
    (void)phi_call_reply(call, "echoed");
    return PHI_DONE;
}

void on_field(void *user_data, const phi_field *field);
void on_field(void *user_data, const phi_field *field) {
    (void)user_data;
    (void)field;
}

static phi_status no_open(void *user_data, phi_transfer transfer, const phi_request *request) {
    (void)user_data;
    (void)transfer;
    (void)request;
    return PHI_UNSUPPORTED;
}

static void nothing(void *user_data, phi_transfer transfer) {
    (void)user_data;
    (void)transfer;
}

int main(void) {
    phi_runtime_desc rt_desc = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    phi_provider provider = PHI_ZERO;
    phi_tool tool = PHI_ZERO;
    phi_transport none = PHI_ZERO;
    phi_runtime *rt;
    phi_agent agent;
    phi_event ev;
    const char *words = "";
    int steps = 0;
    provider.protocol = "made-up";
    provider.open = open_fn;
    provider.poll = poll_fn;
    provider.close = close_fn;
    tool.name = "echo";
    tool.description = "Echoes.";
    tool.schema = "{\\"type\\":\\"object\\"}";
    tool.start = start_fn;
    none.open = no_open;
    none.resume = none.cancel = nothing;
    rt_desc.transport = &none;
    FEATURES
    rt = phi_runtime_new(&rt_desc);
    if (rt == NULL) return 2;
    desc.provider = &provider;
    desc.model.id = "m";
    desc.model.provider = "made-up";
    desc.model.protocol = "made-up";
    desc.model.context_window = 100000;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = phi_agent_new(rt, &desc);
    if (agent.rt == NULL) {
        words = phi_last_error(rt).message;
        printf("%s\\n", words);
        return 3;
    }
    if (phi_prompt(agent, "hello") != PHI_OK) return 4;
    while (phi_step(rt, 20) > 0 && steps++ < 500)
        while (phi_next_event(rt, &ev))
            if (ev.kind == PHI_EV_AGENT_END) printf("end %d\\n", (int)ev.status);
    while (phi_next_event(rt, &ev))
        if (ev.kind == PHI_EV_AGENT_END) printf("end %d\\n", (int)ev.status);
    TAIL
    phi_runtime_free(rt);
    AFTER
    return 0;
}
"""

SEEN = """{ int i; for (i = 0; i < 32; i++) if (phi__made_up_seen[i] != 0) printf("%d ", i);
      printf("\\n%s\\n", phi__made_up_good ? "good" : "bad"); }"""

# Of a desc that wants what a build does not have: what it says.
REFUSED = """{
        phi_agent_desc wants = desc;
        phi_failover failover = PHI_ZERO;
        phi_policy policy = PHI_ZERO;
        phi_tool streams = tool, deferred = tool, strict = tool;
        phi_format format = PHI_ZERO;
        const phi_tool_source *sources[1] = {NULL};
        (void)failover, (void)policy, (void)format, (void)sources;
        deferred.deferred = strict.strict = true;
        format.kind = PHI_FORMAT_JSON_OBJECT;
        policy.summaries = PHI_SUMMARIES_WRITE;
        streams.on_field = on_field;
        wants.WANTS;
        agent = phi_agent_new(rt, &wants);
        words = phi_last_error(rt).message;
        printf("%s\\n", agent.rt == NULL ? words : "made");
    }"""


# Restores the snapshot of a file in a runtime with the features of the command line, and says what came of it.
READER = """
#define PHI_IMPLEMENTATION
#include "phi.h"
#include <stdio.h>
#include <string.h>

static phi_status open_fn(void *user_data, const phi_model_request *request, void **call) {
    (void)user_data, (void)request, (void)call;
    return PHI_UNSUPPORTED;
}

static phi_poll poll_fn(void *user_data, void *call, phi_answer *answer) {
    (void)user_data, (void)call, (void)answer;
    return PHI_POLL_DONE;
}

static void close_fn(void *user_data, void *call) { (void)user_data, (void)call; }

static phi_status no_open(void *user_data, phi_transfer transfer, const phi_request *request) {
    (void)user_data, (void)transfer, (void)request;
    return PHI_UNSUPPORTED;
}

static void nothing(void *user_data, phi_transfer transfer) { (void)user_data, (void)transfer; }

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        phi_feature_fn feature;
    } all[] = {ROWS};
    static char text[1 << 20];
    phi_feature_fn list[20];
    phi_runtime_desc rt_desc = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    phi_provider provider = PHI_ZERO;
    phi_transport none = PHI_ZERO;
    phi_runtime *rt;
    phi_agent agent;
    const char *words = "";
    size_t n = 0, i;
    int at;
    FILE *file = fopen(argv[1], "rb");
    if (file == NULL) return 1;
    text[fread(text, 1, sizeof text - 1, file)] = '\\0';
    (void)fclose(file);
    for (at = 2; at < argc; at++)
        for (i = 0; i < sizeof all / sizeof *all; i++)
            if (strcmp(all[i].name, argv[at]) == 0) list[n++] = all[i].feature;
    list[n] = NULL;
    rt_desc.features = list;
    none.open = no_open;
    none.resume = none.cancel = nothing;
    rt_desc.transport = &none;
    rt = phi_runtime_new(&rt_desc);
    if (rt == NULL) return 2;
    provider.protocol = "made-up";
    provider.open = open_fn;
    provider.poll = poll_fn;
    provider.close = close_fn;
    desc.provider = &provider;
    desc.model.id = desc.model.provider = desc.model.protocol = "made-up";
    agent = phi_agent_restore(rt, &desc, phi_str_of(text), PHI_RESTORE_INTERRUPT);
    if (agent.rt == NULL) words = phi_last_error(rt).message;
    printf("%s\\n", agent.rt != NULL ? "restored" : words);
    phi_runtime_free(rt);
    return 0;
}
"""

SNAPSHOTS = os.path.join(ROOT, "tests", "fixtures", "compat", "snapshots")
# What each snapshot of tests/fixtures/compat has, and the table that reads it; and a member that is put into its run.
NEEDS = (("world_facts_end", "facts", "facts", None),
         ("failover_and_a_call_end", "another model's seat", "failover", None),
         ("deferred_tools_loaded_end", "loaded tools", "deferral", None),
         ("rewritten_and_a_rewrite_that_waits", "a deferred rewrite", "deferred_rewrites", None),
         ("tool_state_and_effects_end", "a tool state", "tool_state", None),
         ("tool_state_and_effects", "a tool state", "tool_state", None),
         ("own_settings_of_a_request", "a format, or a strict tool", "formats", None),
         ("calls_and_input_pending", "a context edit", "context_edits", {"prune": 7, "prune_memo": ""}),
         ("calls_and_input_pending", "a context edit", "context_edits", {"revert": 1, "revert_step": 0}),
         ("calls_and_input_pending", "a failover", "failover", {"failover": {"switches": 1}}),
         ("calls_and_input_pending", "a policy with summaries", "summaries", {"policy": {"summaries": 3}}))
NEEDS_NOTHING = ("compacted_end", "calls_and_input_pending", "messages_of_every_kind_end", "paused_at_a_limit")


class Features(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, name):
        return os.path.join(self.dir, name)

    def put(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def build(self, source, program):
        done = subprocess.run([*CC, "-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", *self.no_curl(source), "-I",
                               self.dir, source, "-lm", "-o", program], cwd=self.dir, text=True, capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr[:3000])

    def no_curl(self, source):
        with open(self.path(source), encoding="utf-8") as file:
            return [] if "define PHI_NO_CURL" in file.read() else ["-DPHI_NO_CURL"]

    def copy_sources(self):
        for name in ("amalgamate.py", "LICENSE"):
            shutil.copy(os.path.join(ROOT, name), self.dir)
        shutil.copytree(os.path.join(ROOT, "src"), self.path("src"))

    def run_host(self, tail, after="", features=""):
        self.put("host.c", HOST.replace("TAIL", tail).replace("AFTER", after).replace("FEATURES", features))
        self.build("host.c", "host")
        done = subprocess.run(["./host"], cwd=self.dir, text=True, capture_output=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout.splitlines()

    def amalgamate(self, folder):
        done = subprocess.run([sys.executable, os.path.join(folder, "amalgamate.py"), "--out", self.dir], text=True,
                              cwd=folder, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_made_up_feature_is_a_file_and_its_name(self):
        self.copy_sources()
        self.put("src/features/made_up.c", MADE_UP)
        with open(self.path("src/features/features.h"), encoding="utf-8") as file:
            header = file.read()
        line = "#ifdef __cplusplus\n}\n"
        self.assertEqual(header.count(line), 1)
        self.put("src/features/features.h",
                 header.replace(line, "PHI_API const struct phi__feature *phi_feature_made_up(void);\n" + line))
        self.amalgamate(self.dir)
        said = self.run_host("", SEEN, "static const phi_feature_fn mine[] = {phi_feature_made_up, phi_feature_made_up, NULL};\n"
                             "    rt_desc.features = mine;")
        self.assertEqual(said[0], "end 0")
        self.assertEqual(said[2], "good")
        seen = {int(bit) for bit in said[1].split()}
        with open(self.path("src/loop/state_in.h"), encoding="utf-8") as file:
            points = dict(re.findall(r"PHI__POINT_(\w+) = 1 << (\d+)", file.read()))
        never = {name for name, bit in points.items() if int(bit) not in seen}
        self.assertEqual(never, {"SAID", "ERRAND", "DROPPED", "FAILED", "HELD_AS", "RUN_SAVE", "RUN_LOAD",
                                 "AGENT_SAVE", "AGENT_LOAD", "AGENT_SAVE_LATE", "AGENT_LOAD_LATE", "CHANGED",
                                 "LOG_LEAVES", "LOG_RENEWED", "LOG_OPENED", "SHRINK", "EFFECTS"})

    def test_agents_of_a_runtime_that_names_no_feature_talk_and_say_what_to_name(self):
        self.amalgamate(ROOT)
        said = self.run_host("".join(REFUSED.replace("WANTS", wants) for wants in (
            "options.capture_requests = true", "failover = &failover", "policy = &policy", "tools = &streams",
            "format = format", "tools = &deferred", "tools = &strict",
            "tool_options.sources = sources, wants.tool_options.source_count = 1")) +
            'printf("%d\\n", (int)phi_fact_set(phi_fact_all(rt), "a", phi_str_of("b"), NULL));')
        self.assertEqual(said[0], "end 0")
        for line, name in zip(said[1:9], ("capture", "failover", "summaries", "argument_stream", "formats", "deferral",
                                          "formats", "tool_sources")):
            self.assertIn(f"set phi_runtime_desc.features to a list with phi_feature_{name}, or to PHI_ALL_FEATURES", line)
        with open(os.path.join(ROOT, "src/base/base.h"), encoding="utf-8") as file:
            unsupported = re.search(r"X\(UNSUPPORTED, +(-\d+)", file.read()).group(1)
        self.assertEqual(said[9], unsupported)

    def test_a_snapshot_is_refused_by_a_program_without_the_feature_that_it_needs_and_read_by_others(self):
        self.amalgamate(ROOT)
        names = {row[2] for row in NEEDS}
        rows = ", ".join(f'{{"{name}", phi_feature_{name}}}' for name in sorted(names))
        self.put("reader.c", READER.replace("ROWS", rows))
        self.build("reader.c", "reader")

        def restored(path, *features):
            return subprocess.run([self.path("reader"), path, *features], capture_output=True, text=True,
                                  check=True).stdout.strip()
        for name in NEEDS_NOTHING:
            self.assertEqual(restored(os.path.join(SNAPSHOTS, name + ".json")), "restored", name)
        for name, what, feature, run in NEEDS:
            path = os.path.join(SNAPSHOTS, name + ".json")
            if run is not None:
                with open(path, encoding="utf-8") as file:
                    snapshot = json.load(file)
                snapshot["run"].update(run)
                path = self.put("changed.json", json.dumps(snapshot))
            others = sorted(names - {feature})
            self.assertEqual(restored(path, *others), f"phi_agent_restore: the snapshot has {what}: name "
                             f"phi_feature_{feature} in phi_runtime_desc.features", name)
            self.assertEqual(restored(path, feature), "restored", name)

    def test_structs_have_the_same_sizes_whatever_a_program_names_and_a_platform_lacks(self):
        self.amalgamate(ROOT)
        with open(self.path("phi.h"), encoding="utf-8") as file:
            public = file.read().split("\n#ifdef PHI_IMPLEMENTATION\n#ifndef PHI__FN")[0]
        structs = sorted(set(re.findall(r"^typedef struct (phi_\w+) \{", public, re.M)))
        self.assertGreater(len(structs), 60)
        said = []
        for n, (first, last) in enumerate((("", ""), ("#define PHI_IMPLEMENTATION\n", "d.features = PHI_ALL_FEATURES; "
                                           "d.codecs = PHI_ALL_PROTOCOLS; rt = phi_runtime_new(&d); "
                                           "phi_runtime_free(rt);"),
                                           ("#define PHI_NO_CURL\n#define PHI_NO_PROCESS\n#define PHI_NO_FILES\n"
                                            "#define PHI_NO_LISTEN\n#define PHI_NO_THREADS\n", ""))):
            lines = "".join(f'printf("{name} %u\\n", (unsigned)sizeof({name}));\n' for name in structs)
            self.put(f"sizes{n}.c", first + '#include "phi.h"\n#include <stdio.h>\nint main(void) {\n'
                     "phi_runtime_desc d = PHI_ZERO; phi_runtime *rt = NULL;\n" + last + "(void)d; (void)rt;\n" +
                     lines + "return 0; }\n")
            self.build(f"sizes{n}.c", f"sizes{n}")
            said.append(subprocess.run([self.path(f"sizes{n}")], capture_output=True, text=True, check=True).stdout)
        self.assertEqual(said[0], said[1])
        self.assertEqual(said[0], said[2])


if __name__ == "__main__":
    unittest.main()
