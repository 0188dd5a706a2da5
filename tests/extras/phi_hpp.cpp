/* phi_hpp.cpp - what extras/phi.hpp promises, against a scripted model; test_phi_hpp.py compiles and runs it. */
#include "phi_tools.h"
#include "phi.hpp"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

namespace {

const char *testing_folder = "."; /* the program's argument: a directory to write in */
int passed, bad;
void check(bool good, const char *what, int line) {
    if (!good) bad++, std::printf("phi_hpp.cpp:%d: not true: %s\n", line, what);
}
#define CHECK(x) check((x), #x, __LINE__)

/* What f() throws, as text; "" if it throws nothing. */
template <class F> std::string thrown(F f) {
    try {
        f();
    } catch (const std::exception &e) {
        return e.what();
    }
    return "";
}

/* Captured state: counts its living copies. */
struct counted {
    static int alive;
    counted() { alive++; }
    counted(const counted &) { alive++; }
    ~counted() { alive--; }
};
int counted::alive;

/* A runtime with a scripted model. */
struct world {
    phi::runtime rt;
    phi_mock *mock = phi_mock_new(rt);
    phi_agent_desc desc = {};
    std::vector<std::string> results; /* of calls; failures begin with "!" */
    std::string answer;

    world() {
        desc.model = mock->model;
        desc.system_prompt = "You are the blacksmith.";
    }
    void see(const phi_event &ev) {
        if (ev.kind == PHI_EV_MESSAGE_END && ev.message->role == PHI_ROLE_TOOL_RESULT)
            results.push_back((ev.message->is_error ? "!" : "") + phi::text(*ev.message));
        if (ev.kind == PHI_EV_TEXT) answer += phi::view(ev.text);
        if (ev.kind == PHI_EV_ERROR) answer += "error: " + std::string(phi::view(ev.text));
    }
    void run() {
        int runs, steps = 0;
        do {
            runs = rt.step(50);
            for (const phi_event &ev : rt.events()) see(ev);
            if (++steps > 10000) throw std::runtime_error("the run does not end");
        } while (runs > 0);
    }
    void ask(phi::agent &agent, const std::string &prompt = "Good day!") {
        answer.clear();
        CHECK(agent.prompt(prompt) == PHI_OK);
        run();
    }
    /* One call of a tool, and "Done." */
    void script(const char *tool, const char *arguments = "{}") {
        phi_mock_call(mock, tool, arguments);
        phi_mock_text(mock, "Done.");
    }
};

/* ---- tools ---- */

void a_lambda_gets_arguments_by_their_types() {
    world w;
    std::string place, deep, other, own;
    int tiles = 0, far = 0;
    std::int64_t wide = 0;
    double speed = 0;
    bool quick = false;
    phi::tool walk{"walk", "Walks", "", [&](phi::call call) {
                       place = call.arg("place", "nowhere");
                       deep = call.arg("to[1].name", "nobody");
                       other = call.arg("other", "default");
                       own = call.arg("own", std::string("my own"));
                       tiles = call.arg("tiles", 1);
                       far = call.arg("far", -7);
                       wide = call.arg("far", std::int64_t{1});
                       speed = call.arg("speed", 1.0);
                       quick = call.arg("quick", false);
                       return "You are at the " + place + ".";
                   }};
    phi::agent smith(w.rt, w.desc, {walk});
    w.script("walk",
             R"({"place":"forge","to":[{},{"name":"Ada"}],"other":3,"tiles":12,"far":5000000000,)"
             R"("speed":2.5,"quick":true})");
    w.ask(smith);
    CHECK(place == "forge" && deep == "Ada" && other == "default" && own == "my own");
    CHECK(tiles == 12 && far == -7 && wide == 5000000000 && speed == 2.5 && quick);
    CHECK(w.results == std::vector<std::string>{"You are at the forge."});
    CHECK(w.answer == "Done.");
}

std::string free_function(phi::call) { return "a function"; }

void any_text_is_an_answer_and_any_callable_a_tool() {
    world w;
    const std::function<std::string(phi_call)> held = [](phi_call) {
        return std::string("a std::function");
    };
    phi::agent smith(
        w.rt, w.desc,
        {{"a", "A", "", [](phi::call) { return "a literal"; }},
         {"b", "B", "", [](phi::call) { return std::string_view("a view of it", 6); }},
         {"c", "C", "", [](auto) { return std::string("a string"); }},
         {"d", "D", "", held},
         {"e", "E", "", free_function},
         {"f", "F", "", [](phi::call) { return phi::failed("The bridge is out."); }},
         {"g", "G", "", [](const phi::call &call) { return call.reply("itself"), PHI_DONE; }},
         {"h", "H", "", [](phi::call call) { return call.fail("its fault"), PHI_DONE; }}});
    for (const char *name : {"a", "b", "c", "d", "e", "f", "g", "h"})
        phi_mock_call(w.mock, name, nullptr);
    phi_mock_text(w.mock, "Done.");
    w.ask(smith);
    CHECK((w.results == std::vector<std::string>{"a literal", "a view", "a string",
                                                 "a std::function", "a function",
                                                 "!The bridge is out.", "itself", "!its fault"}));
}

void schema_and_the_rest_of_phi_tool_count() {
    world w;
    int calls = 0;
    std::string name = "look" + std::to_string(calls); /* strings are the tool's own */
    std::optional<phi::tool> look(phi::tool{name, "Looks",
                                            R"({"type":"object","required":["place"]})",
                                            [&](phi::call) { return calls++, "A tower."; }});
    name.assign(100, '-');
    look->desc.needs_approval = true;
    CHECK(thrown([&] { phi::agent(w.rt, w.desc, {*look}); }).find("needs_approval") !=
          std::string::npos);
    look->desc.needs_approval = false;
    phi::agent smith(w.rt, w.desc, {*look});
    look.reset();
    w.script("look0");
    w.script("look0", R"({"place":"forge"})");
    w.ask(smith);
    CHECK(calls == 0 && w.results.size() == 1 &&
          w.results.at(0).find("place") != std::string::npos);
    w.ask(smith);
    CHECK(calls == 1 && w.results.back() == "A tower.");
    CHECK(w.mock->requests[0].tool_count == 1 &&
          phi::view(w.mock->requests[0].tools[0].name) == "look0");
}

phi_flow c_start(void *user_data, phi_call call, phi_str) {
    phi_call_reply(call, static_cast<const char *>(user_data));
    return PHI_DONE;
}

void tools_of_the_desc_come_first() {
    world w;
    char text[] = "in C";
    phi_tool c = {};
    c.name = "c";
    c.description = "C";
    c.start = c_start;
    c.user_data = text;
    w.desc.tools = &c;
    w.desc.tool_count = 1;
    phi::agent smith(w.rt, w.desc, {{"cpp", "C++", "", [](phi::call) { return "in C++"; }}});
    phi_mock_call(w.mock, "cpp", nullptr);
    w.script("c");
    w.ask(smith);
    CHECK((w.results == std::vector<std::string>{"in C++", "in C"}));
    CHECK(phi::view(w.mock->requests[0].tools[0].name) == "c");
}

void a_tool_may_answer_frames_later() {
    world w;
    int tiles = 0;
    std::optional<phi::call> asked;
    phi::tool walk{"walk", "Walks", "", [](phi::call) { return PHI_PENDING; }};
    walk.step = [&](phi::call) -> phi::result {
        if (++tiles < 3) return PHI_PENDING;
        return "You are there.";
    };
    phi::tool ask{"ask", "Asks the player", "",
                  [&](phi::call call) { return asked = call, PHI_PENDING; }};
    phi::agent smith(w.rt, w.desc, {walk, ask});
    w.script("walk");
    w.ask(smith);
    CHECK(tiles == 3 && w.results.back() == "You are there.");
    w.script("ask");
    w.answer.clear();
    CHECK(smith.prompt("Ask him.") == PHI_OK);
    for (int i = 0; i < 20; i++) w.rt.step();
    CHECK(asked && phi_call_get_info(*asked).pending);
    CHECK(asked->reply("Yes.") == PHI_OK);
    w.run();
    CHECK(w.results.back() == "Yes." && w.answer == "Done.");
    CHECK(asked->reply("No.") == PHI_STALE);
}

/* ---- exceptions ---- */

void an_exception_in_a_tool_is_a_failed_result_and_the_agent_lives() {
    world w;
    phi::tool open{"open", "Opens", "",
                   [](phi::call) -> std::string { throw std::runtime_error("It is locked."); }};
    phi::tool odd{"odd", "Odd", "", [](phi::call) -> std::string { throw 7; }};
    phi::tool late{"late", "Late", "", [](phi::call) { return PHI_PENDING; }};
    late.step = [](phi::call) -> phi_flow { throw std::out_of_range("too far"); };
    phi::agent smith(w.rt, w.desc, {open, odd, late});
    phi_mock_call(w.mock, "open", nullptr);
    phi_mock_call(w.mock, "odd", nullptr);
    w.script("late");
    w.ask(smith);
    CHECK((w.results == std::vector<std::string>{"!It is locked.",
                                                 "!an exception that is no std::exception",
                                                 "!too far"}));
    CHECK(w.answer == "Done.");
    phi_mock_text(w.mock, "Again.");
    w.ask(smith);
    CHECK(w.answer == "Again." && smith);
}

void an_exception_after_the_result_is_rethrown_by_step() {
    world w;
    phi::agent smith(w.rt, w.desc, {{"a", "A", "", [](phi::call call) -> std::string {
                                         call.reply("the result");
                                         throw std::logic_error("too late");
                                     }}});
    w.script("a");
    CHECK(thrown([&] { w.ask(smith); }) == "too late");
    w.run();
    CHECK((w.results == std::vector<std::string>{"the result"}) && w.answer == "Done.");
}

void an_exception_in_a_hook_denies_and_is_rethrown_by_step_with_its_type() {
    struct refused : std::runtime_error {
        using runtime_error::runtime_error;
    };
    world w;
    int calls = 0, asked = 0;
    w.desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    phi::agent smith(w.rt, w.desc, {{"a", "A", "", [&](phi::call) { return calls++, "ran"; }}},
                     [&](phi_hook &hook, std::string &reply) -> phi_verdict {
                         CHECK(hook.point == PHI_HOOK_BEFORE_TOOL &&
                               phi::view(hook.tool_name) == "a");
                         reply = "never seen";
                         if (asked++ == 0) throw refused("no rules");
                         return PHI_ALLOW;
                     });
    w.script("a");
    try {
        w.ask(smith);
        CHECK(false);
    } catch (const refused &e) {
        CHECK(std::strcmp(e.what(), "no rules") == 0);
    }
    w.run(); /* the run goes on, and nothing is thrown twice */
    CHECK(calls == 0 && w.results.size() == 1 && w.results.at(0)[0] == '!' && w.answer == "Done.");
    CHECK(w.results.at(0).find("never seen") == std::string::npos);
}

void the_first_exception_of_a_step_counts() {
    world w;
    int n = 0;
    w.desc.hook_points = PHI_HOOK_BEFORE_LOOP | PHI_HOOK_AFTER_LOOP;
    phi::agent smith(w.rt, w.desc, {}, [&](phi_hook &, std::string &) -> phi_verdict {
        throw std::runtime_error("exception " + std::to_string(++n));
    });
    CHECK(smith.prompt("Good day!") == PHI_OK);
    CHECK(thrown([&] { w.run(); }) == "exception 1");
    w.run();
    CHECK(w.mock->request_count == 0); /* BEFORE_LOOP was denied */
    phi_mock_text(w.mock, "Good day.");
    phi::agent other(w.rt, w.desc, {}, [&](phi_hook &hook, std::string &) -> phi_verdict {
        if (hook.point == PHI_HOOK_AFTER_LOOP) throw std::runtime_error("at the end");
        return PHI_ALLOW;
    });
    CHECK(other.prompt("Good day!") == PHI_OK);
    CHECK(thrown([&] { w.run(); }) == "at the end");
    w.run();
    CHECK(w.answer == "Good day.");
}

void exceptions_in_cancel_and_on_field_are_rethrown_by_step() {
    phi_runtime_desc desc = {};
    desc.features = PHI_ALL_FEATURES;
    world w;
    w.rt = phi::runtime(desc);
    w.mock = phi_mock_new(w.rt);
    w.desc.model = w.mock->model;
    int fields = 0;
    phi::tool a{"a", "A", "", [](phi::call) { return PHI_PENDING; }};
    a.cancel = [](phi::call) { throw std::runtime_error("cancel"); };
    a.on_field = [&](const phi_field *field) {
        if (!field->dropped && fields++ == 0)
            throw std::runtime_error("field " + std::string(phi::view(field->path)));
    };
    phi::agent smith(w.rt, w.desc, {a});
    w.script("a", R"({"x":1})");
    CHECK(smith.prompt("Go.") == PHI_OK);
    CHECK(thrown([&] { w.run(); }) == "field /x");
    for (int i = 0; i < 20; i++) w.rt.step();
    CHECK(phi_agent_get_info(smith).running);
    phi_abort(smith);
    CHECK(thrown([&] { w.run(); }) == "cancel");
    w.run();
    CHECK(!phi_agent_get_info(smith).running && fields == 1);
}

/* ---- hooks ---- */

void a_hook_replies_with_a_text_of_its_own() {
    world w;
    w.desc.hook_points = PHI_HOOK_BEFORE_TOOL | PHI_HOOK_BEFORE_TOOL_UPDATE;
    std::string arguments;
    phi::agent smith(w.rt, w.desc,
                     {{"a", "A", "",
                       [&](phi::call call) {
                           phi_tool_result part = {};
                           part.text = "half";
                           CHECK(phi_call_update(call, &part) == PHI_OK); /* a hook inside a tool */
                           return arguments = call.arg("why", "none");
                       }}},
                     [&, n = 0](phi_hook &hook, std::string &reply) mutable {
                         if (hook.point == PHI_HOOK_BEFORE_TOOL_UPDATE)
                             return reply = "inner", PHI_DENY;
                         reply = ++n == 1 ? std::string(300, 'x')
                                          : R"({"why":")" + std::string(300, 'y') + "\"}";
                         return n == 1 ? PHI_DENY : PHI_ALLOW;
                     });
    phi_mock_call(w.mock, "a", nullptr);
    w.script("a");
    w.ask(smith);
    CHECK(w.results.size() == 2 && w.results.at(0) == "!" + std::string(300, 'x'));
    CHECK(arguments == std::string(300, 'y'));
}

void a_hook_waits_for_phi_decide() {
    world w;
    phi_ticket ticket = {};
    w.desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    phi::agent smith(w.rt, w.desc, {{"a", "A", "", [](phi::call) { return "ran"; }}},
                     [&](phi_hook &hook, std::string &) { return ticket = hook.ticket, PHI_WAIT; });
    w.script("a");
    CHECK(smith.prompt("Go.") == PHI_OK);
    for (int i = 0; i < 100 && ticket.rt == nullptr; i++) w.rt.step();
    CHECK(phi_decide(ticket, PHI_ALLOW, nullptr) == PHI_OK);
    w.run();
    CHECK((w.results == std::vector<std::string>{"ran"}));
}

/* ---- events and history ---- */

void events_are_popped_as_the_loop_comes_to_them() {
    world w;
    phi::agent smith(w.rt, w.desc);
    phi_mock_text(w.mock, "One two three.");
    CHECK(smith.prompt("Count.") == PHI_OK);
    for (int i = 0; i < 1000 && w.rt.step() > 0; i++) {}
    std::uint64_t seq = 0;
    for (const phi_event &ev : w.rt.events()) {
        seq = ev.seq;
        if (ev.kind == PHI_EV_MESSAGE_START) break; /* the rest still wait */
    }
    CHECK(seq > 0);
    std::string text;
    phi_event_kind last = PHI_EV_ERROR;
    for (const phi_event &ev : w.rt.events()) {
        CHECK(ev.seq == ++seq);
        if (ev.kind == PHI_EV_TEXT) text += phi::view(ev.text);
        last = ev.kind;
    }
    CHECK(text == "One two three." && last == PHI_EV_AGENT_END);
    for (const phi_event &ev : w.rt.events()) CHECK(ev.kind == 0);
}

void a_loop_over_events_may_step_and_free() {
    world w;
    auto smith = std::make_unique<phi::agent>(w.rt, w.desc);
    phi_mock_text(w.mock, "Hello.");
    CHECK(smith->prompt("Hello!") == PHI_OK);
    for (int i = 0; i < 1000 && w.rt.step() > 0; i++) {}
    int events = 0;
    for (const phi_event &ev : w.rt.events()) {
        CHECK(ev.kind != 0);
        events++;
        w.rt.step();
        if (events == 3) smith.reset(); /* its events are purged */
        if (events == 3) w.rt = phi::runtime();
    }
    CHECK(events == 3);
}

void history_is_all_messages_oldest_first() {
    world w;
    phi::agent smith(w.rt, w.desc, {{"a", "A", "", [](phi::call) { return "It rains."; }}});
    for (const phi_message &m : smith.history()) CHECK(m.role == 0);
    w.script("a");
    w.ask(smith, "How is the weather?");
    std::string all;
    for (const phi_message &m : smith.history()) all += std::to_string(m.role) + phi::text(m) + "|";
    CHECK(all == "1How is the weather?|2|3It rains.|2Done.|");
    /* messages that come during the loop, and the end of the agent inside of it */
    phi_message more = {};
    phi_content content = {};
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi::str("More.");
    more.role = PHI_ROLE_USER;
    more.content = &content;
    more.content_count = 1;
    all.clear();
    phi_thread *thread = phi_agent_thread(smith);
    for (const phi_message &m : smith.history()) {
        if (all.empty()) CHECK(phi_thread_append(thread, &more, 1, nullptr) == PHI_OK);
        all += phi::text(m) + "|";
    }
    CHECK(all == "How is the weather?||It rains.|Done.|More.|");
    int seen = 0;
    for (const phi_message &m : smith.history()) {
        CHECK(m.role == PHI_ROLE_USER);
        seen++;
        phi::agent gone(std::move(smith));
    }
    CHECK(seen == 1 && !smith);
}

void history_throws_where_its_store_cannot_be_read() {
    const std::filesystem::path folder = std::filesystem::path(testing_folder) / "store";
    const std::string path = folder.string();
    phi_file_store_desc files = {};
    phi_store store = {};
    files.directory = path.c_str();
    CHECK(phi_file_store_open(&files, &store) == PHI_OK);
    phi::owned<phi_store, phi_file_store_close> closes(&store);
    world w;
    w.desc.store = &store;
    w.desc.thread_id = "smith";
    w.desc.memory.limit_bytes = 1 << 20;
    phi::agent smith(w.rt, w.desc);
    for (int i = 0; i < 20; i++) {
        phi_mock_text(w.mock, std::string(2000, 'a').c_str());
        w.ask(smith);
    }
    phi_span all = {};
    phi_rewrite rewrite = {};
    all.to = phi_thread_count(phi_agent_thread(smith)) - 1;
    rewrite.spans = &all;
    rewrite.span_count = 1;
    CHECK(phi_thread_rewrite(phi_agent_thread(smith), &rewrite, nullptr, nullptr, 0) == PHI_OK);
    /* no lane shows them: they leave memory */
    w.rt.step();
    int count = 0;
    for (const phi_message &m : smith.history()) count += m.content_count == 1;
    CHECK(count == 40);
    w.rt.step();
    std::filesystem::remove_all(folder);
    count = 0;
    const std::string why = thrown([&] {
        for (const phi_message &m : smith.history()) count += m.content_count == 1;
    });
    CHECK(why.find("phi_thread_message_at: ") == 0 && count < 40);
}

/* ---- lifetimes ---- */

void what_is_moved_keeps_working() {
    world w;
    auto state = std::make_shared<int>(0);
    std::vector<phi::agent> village; /* grows: its agents move */
    for (int i = 0; i < 5; i++)
        village.emplace_back(
            w.rt, w.desc,
            std::vector<phi::tool>{{"a", "A", "", [state](phi::call) { return ++*state, "ran"; }}});
    phi::runtime elsewhere(std::move(w.rt)); /* while agents live */
    CHECK(static_cast<phi_runtime *>(w.rt) == nullptr);
    CHECK(thrown([&] { w.rt.step(); }) == "there is no runtime");
    for (const phi_event &ev : w.rt.events()) CHECK(ev.kind == 0);
    w.rt = std::move(elsewhere);
    for (phi::agent &one : village) w.script("a"), w.ask(one);
    CHECK(*state == 5 && w.results.size() == 5);
    phi::agent first(std::move(village[0]));
    CHECK(first && !village[0] && village[0].prompt("Hello?") != PHI_OK);
    for (const phi_message &m : village[1].history()) CHECK(m.content_count > 0);
    village[1] = std::move(first); /* frees the second */
    w.script("a"), w.ask(village[1]);
    CHECK(*state == 6 && state.use_count() == 5);
    village.clear();
    CHECK(state.use_count() == 1);
    phi::agent none;
    CHECK(!none && none.prompt("Hello?") != PHI_OK);
    for (const phi_message &m : none.history()) CHECK(m.role == 0);
    none = phi::agent(w.rt, w.desc);
    CHECK(static_cast<bool>(none));
}

void agents_and_their_runtime_go_in_any_order() {
    CHECK(counted::alive == 0);
    for (int order = 0; order < 2; order++) {
        auto w = std::make_unique<world>();
        int cancelled = 0;
        phi::tool a{"a", "A", "", [c = counted()](phi::call) { return PHI_PENDING; }};
        a.cancel = [&cancelled, c = counted()](phi::call) {
            cancelled++;
            throw std::runtime_error("nobody steps any more");
        };
        w->desc.hook_points = PHI_HOOK_BEFORE_TOOL;
        std::optional<phi::agent> smith(
            std::in_place, w->rt, w->desc, std::vector<phi::tool>{a},
            [c = counted()](phi_hook &, std::string &) { return PHI_ALLOW; });
        CHECK(counted::alive == 5); /* the tool's two, and the agent's three */
        w->script("a");
        CHECK(smith->prompt("Go.") == PHI_OK);
        for (int i = 0; i < 20; i++) w->rt.step();
        if (order == 0) {
            smith.reset();
            CHECK(thrown([&] { w->rt.step(); }) == "nobody steps any more");
            w.reset();
        } else {
            w.reset();
            CHECK(!*smith && smith->prompt("Hello?") != PHI_OK && phi_abort(*smith) != PHI_OK);
            for (const phi_message &m : smith->history()) CHECK(m.content_count == 99);
        }
        CHECK(cancelled == 1);
        smith.reset();
        CHECK(counted::alive == 2);
    }
    CHECK(counted::alive == 0);
}

/* The runtime goes first: phi_runtime_free cancels the calls, and each cancel destroys an agent. */
void a_cancel_may_destroy_agents_while_the_runtime_is_freed() {
    for (int what = 0; what < 2; what++) {
        auto w = std::make_unique<world>();
        std::optional<phi::agent> smith, other;
        const std::string text(100, 'x');
        int cancels = 0;
        phi::tool slow{"slow", "S", "", [](phi::call) { return PHI_PENDING; }};
        slow.cancel = [&, text, c = counted()](phi::call) {
            cancels++;
            (what == 0 ? smith : other).reset();
            CHECK(text[99] == 'x' && counted::alive > 0);
        };
        smith.emplace(w->rt, w->desc, std::vector<phi::tool>{slow});
        other.emplace(w->rt, w->desc, std::vector<phi::tool>{slow});
        phi_mock_call(w->mock, "slow", "{}");
        phi_mock_also_call(w->mock, "slow", "{\"again\":true}");
        CHECK(smith->prompt("Go.") == PHI_OK);
        for (int i = 0; i < 20; i++) (void)w->rt.step();
        w.reset();
        CHECK(cancels > 0);
    }
}

void callbacks_may_destroy_agents_and_the_runtime() {
    for (int what = 0; what < 6; what++) {
        auto w = std::make_unique<world>();
        std::optional<phi::agent> smith, other;
        const phi_agent_desc plain = w->desc;
        other.emplace(w->rt, plain);
        const auto act = [&, c = counted(), text = std::string(100, 'x')](int where) {
            if (what == where) smith.reset();
            if (what == 2) other.reset();
            if (what == 3) w->rt = phi::runtime(); /* the step's own goes when it ends */
            if (what == 4) smith.emplace(w->rt, plain);
            if (what == 5 && smith) other = std::move(*smith), smith.reset();
            CHECK(text[99] == 'x' && counted::alive > 0); /* captured state outlives the call */
        };
        w->desc.hook_points = PHI_HOOK_BEFORE_TOOL;
        smith.emplace(
            w->rt, w->desc,
            std::vector<phi::tool>{{"a", "A", "", [act](phi::call) { return act(0), "ran"; }}},
            [act](phi_hook &, std::string &reply) {
                act(1);
                reply.assign(200, ' ');
                return PHI_ALLOW;
            });
        w->script("a");
        CHECK(smith->prompt("Go.") == PHI_OK);
        w->run();
        phi_mock *mock = phi_mock_new(w->rt);
        phi_mock_text(mock, "Still here.");
        w->desc.model = mock->model;
        w->desc.hook_points = 0;
        phi::agent next(w->rt, w->desc);
        w->ask(next);
        CHECK(w->answer == "Still here.");
    }
    CHECK(counted::alive == 0);
}

void an_exception_of_a_tool_whose_agent_is_gone_is_rethrown_by_step() {
    world w;
    std::optional<phi::agent> smith;
    smith.emplace(w.rt, w.desc,
                  std::vector<phi::tool>{{"a", "A", "", [&](phi::call) -> std::string {
                                              smith.reset();
                                              throw std::runtime_error("orphan");
                                          }}});
    w.script("a");
    CHECK(smith->prompt("Go.") == PHI_OK);
    CHECK(thrown([&] { w.run(); }) == "orphan");
    CHECK(w.rt.step() == 0);
}

void a_step_inside_a_callback_is_refused_there() {
    world w;
    w.desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    phi::agent smith(w.rt, w.desc, {{"a", "A", "", [&](phi::call) { return w.rt.step(), "ran"; }}},
                     [&](phi_hook &, std::string &) -> phi_verdict {
                         CHECK(thrown([&] { w.rt.step(); }).find("phi_step inside a callback") !=
                               std::string::npos);
                         return PHI_ALLOW;
                     });
    w.script("a");
    w.ask(smith);
    CHECK(w.results.size() == 1 &&
          w.results.at(0).find("phi_step inside a callback") != std::string::npos);
    CHECK(w.answer == "Done.");
}

/* ---- constructors ---- */

void a_constructor_that_fails_throws_what_phi_last_error_says() {
    world w;
    w.desc.model.id = nullptr;
    try {
        phi::agent smith(w.rt, w.desc,
                         {{"a", "A", "", [c = counted()](phi::call) { return "ran"; }}});
        CHECK(false);
    } catch (const phi::error &e) {
        CHECK(e.status == phi_last_error(w.rt).status && e.status == PHI_BAD_ARG);
        CHECK(e.what() == std::string(phi_last_error(w.rt).message) &&
              std::strstr(e.what(), "model") != nullptr);
    }
    CHECK(counted::alive == 0);
    phi_runtime_desc desc = {};
    desc.memory_limit_bytes = 1;
    const std::string why = thrown([&] { phi::runtime rt(desc); });
    CHECK(why == "no memory");
    w.rt = phi::runtime();
    phi::runtime gone(std::move(w.rt));
    CHECK(thrown([&] { phi::agent(w.rt, w.desc); }) == "there is no runtime");
}

void state_that_throws_when_it_is_copied_leaves_nothing_behind() {
    struct fragile {
        int *copies;
        counted c;
        explicit fragile(int *n) : copies(n) {}
        fragile(const fragile &from) : copies(from.copies), c(from.c) {
            if (--*copies < 0) throw std::runtime_error("not copied");
        }
    };
    world w;
    int made = 0;
    for (int copies = 0; copies < 12; copies++) {
        int left = copies;
        const std::string why = thrown([&] {
            phi::tool a{"a", "A", "", [f = fragile(&left)](phi::call) { return "ran"; }};
            a.cancel = [f = fragile(&left)](phi::call) {};
            const phi::tool b = a;
            w.desc.hook_points = PHI_HOOK_BEFORE_LOOP;
            phi::agent smith(w.rt, w.desc, {b},
                             [f = fragile(&left)](phi_hook &, std::string &) { return PHI_ALLOW; });
            made++;
        });
        CHECK(why == "" || why == "not copied");
        CHECK(counted::alive == 0);
    }
    CHECK(made > 0 && made < 12);
    phi_mock_text(w.mock, "Hello.");
    w.desc.hook_points = 0;
    phi::agent smith(w.rt, w.desc);
    w.ask(smith);
    CHECK(w.answer == "Hello.");
}

void a_saved_agent_is_restored_with_its_lambdas() {
    world w;
    int resumed = 0;
    phi::tool a{"a", "A", "", [](phi::call) { return PHI_PENDING; }};
    a.resume = [&](phi::call call) {
        return resumed++, "resumed with " + call.arg("x", "nothing");
    };
    std::string save;
    {
        phi::agent smith(w.rt, w.desc, {a});
        w.script("a", R"({"x":"one"})");
        CHECK(smith.prompt("Go.") == PHI_OK);
        for (int i = 0; i < 20; i++) w.rt.step();
        phi::arena arena;
        phi_str out = {};
        CHECK(phi_agent_snapshot(smith, &arena, &out) == PHI_OK);
        save = phi::view(out);
    }
    const auto restore = [&](phi_runtime *rt, const phi_agent_desc *desc) {
        return phi_agent_restore(rt, desc, phi::str(save), PHI_RESTORE_RESUME);
    };
    phi::agent smith(w.rt, w.desc, {a}, {}, restore);
    w.run();
    CHECK(resumed == 1 && w.results.back() == "resumed with one" && w.answer == "Done.");
    save.resize(save.size() / 2);
    CHECK(!thrown([&] { phi::agent(w.rt, w.desc, {a}, {}, restore); }).empty());
}

/* ---- the rest ---- */

void strings_are_views_both_ways() {
    CHECK(phi::view(phi_str{}).empty() && phi::view(phi_str_of("abc")) == "abc");
    CHECK(phi::str("ab\0c").len == 2 && phi::str(std::string_view("ab\0c", 4)).len == 4 &&
          phi::str({}).len == 0);
}

void other_objects_are_freed_by_their_function() {
    world w;
    {
        phi::thread thread(phi_thread_new(w.rt, 0));
        CHECK(thread != nullptr && phi_thread_message_count(thread.get()) == 0);
        phi::thread moved(std::move(thread));
        CHECK(thread == nullptr && moved != nullptr);
        phi_store store = {};
        phi_file_store_desc desc = {};
        desc.directory = testing_folder;
        CHECK(phi_file_store_open(&desc, &store) == PHI_OK);
        phi::owned<phi_store, phi_file_store_close> closes(&store);
    }
    phi::arena arena;
    CHECK(phi_arena_alloc(&arena, 100) != nullptr);
}

} // namespace

int main(int argc, char **argv) {
    struct {
        void (*fn)();
        const char *name;
    } tests[] = {
#define ENTRY(name) {name, #name}
        ENTRY(a_lambda_gets_arguments_by_their_types),
        ENTRY(any_text_is_an_answer_and_any_callable_a_tool),
        ENTRY(schema_and_the_rest_of_phi_tool_count),
        ENTRY(tools_of_the_desc_come_first),
        ENTRY(a_tool_may_answer_frames_later),
        ENTRY(an_exception_in_a_tool_is_a_failed_result_and_the_agent_lives),
        ENTRY(an_exception_after_the_result_is_rethrown_by_step),
        ENTRY(an_exception_in_a_hook_denies_and_is_rethrown_by_step_with_its_type),
        ENTRY(the_first_exception_of_a_step_counts),
        ENTRY(exceptions_in_cancel_and_on_field_are_rethrown_by_step),
        ENTRY(a_hook_replies_with_a_text_of_its_own),
        ENTRY(a_hook_waits_for_phi_decide),
        ENTRY(events_are_popped_as_the_loop_comes_to_them),
        ENTRY(a_loop_over_events_may_step_and_free),
        ENTRY(history_is_all_messages_oldest_first),
        ENTRY(history_throws_where_its_store_cannot_be_read),
        ENTRY(what_is_moved_keeps_working),
        ENTRY(agents_and_their_runtime_go_in_any_order),
        ENTRY(a_cancel_may_destroy_agents_while_the_runtime_is_freed),
        ENTRY(callbacks_may_destroy_agents_and_the_runtime),
        ENTRY(an_exception_of_a_tool_whose_agent_is_gone_is_rethrown_by_step),
        ENTRY(a_step_inside_a_callback_is_refused_there),
        ENTRY(a_constructor_that_fails_throws_what_phi_last_error_says),
        ENTRY(state_that_throws_when_it_is_copied_leaves_nothing_behind),
        ENTRY(a_saved_agent_is_restored_with_its_lambdas),
        ENTRY(strings_are_views_both_ways),
        ENTRY(other_objects_are_freed_by_their_function),
    };
    int failed = 0;
    if (argc > 1) testing_folder = argv[1];
    std::setvbuf(stdout, nullptr, _IONBF, 0);
    for (const auto &test : tests) {
        bad = 0;
        const std::string why = thrown(test.fn);
        if (!why.empty()) bad++, std::printf("%s throws: %s\n", test.name, why.c_str());
        bad == 0 ? passed++ : (failed++, std::printf("FAIL %s\n", test.name));
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
