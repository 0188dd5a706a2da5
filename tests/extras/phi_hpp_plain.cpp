/* phi_hpp_plain.cpp - extras/phi.hpp without exceptions (-fno-exceptions): tools return failures, and a constructor that
   fails leaves an empty object. test_phi_hpp.py compiles and runs it. */
#include "phi_tools.h"
#include "phi.hpp"

#include <cstdio>

int main() {
    int failed = 0;
    const auto check = [&](bool good, const char *what) {
        if (!good) failed++, std::printf("not true: %s\n", what);
    };
    phi::runtime rt;
    phi_mock *mock = phi_mock_new(rt);
    phi_agent_desc desc = {};
    phi::agent nobody(rt, desc);
    const phi_error why = phi_last_error(rt);
    check(!nobody && why.status == PHI_BAD_ARG, "there is no model");
    check(std::string_view(why.message).find("model") != std::string_view::npos, why.message);
    phi_runtime_desc small = {};
    small.memory_limit_bytes = 1;
    phi::runtime none(small);
    check(none == nullptr && none.step() == PHI_BAD_ARG, "there is no runtime");

    std::string results;
    desc.model = mock->model;
    phi::agent smith(rt, desc,
                     {{"cross", "Crosses the river", "", [&](phi::call call) -> phi::result {
                           check(rt.step() == PHI_MISUSE, "inside a callback");
                           if (call.arg("boat", false)) return "You are on the other side.";
                           return phi::failed("The bridge is out.");
                       }}});
    phi_mock_call(mock, "cross", nullptr);
    phi_mock_call(mock, "cross", "{\"boat\":true}");
    phi_mock_text(mock, "Done.");
    check(smith.prompt("Cross the river.") == PHI_OK, "prompt");
    for (int runs = 1, steps = 0; runs > 0 && steps < 1000; steps++) {
        runs = rt.step(50);
        for (const phi_event &ev : rt.events())
            if (ev.kind == PHI_EV_TOOL_END)
                results += (ev.is_error ? "!" : "") + phi::text(*ev.message) + "|";
    }
    check(results == "!The bridge is out.|You are on the other side.|", results.c_str());
    for (const phi_message &m : smith.history()) results = phi::text(m);
    check(results == "Done.", "history");
    std::printf("%d passed, %d failed\n", failed == 0, failed);
    return failed != 0;
}
