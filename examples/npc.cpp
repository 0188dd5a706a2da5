// npc.cpp - a smith in C++17: extras/phi.hpp, a game of frames, and lambdas as tools that change the world.
//
// walk_to takes a frame for each tile. What a tool throws is the result that the model reads.
#define PHI_IMPLEMENTATION
#include "phi.h"
#include "phi.hpp"

#include "pick_model.h"

#include <chrono>
#include <iostream>
#include <map>
#include <thread>
#include <tuple>

struct village {
    std::map<std::string, int> distance{{"forge", 12}, {"well", 30}, {"mill", 90}}; // in tiles
    std::string smith_is_at = "inn", smith_goes_to;
    int left = 0;
};

static const char *const schema =
    R"({"type":"object","properties":{"place":{"type":"string"}},"required":["place"]})";

static phi::agent make_smith(phi::runtime &rt, village &town) {
    phi::tool walk{"walk_to", "Walks to a place in the village", schema, [&](phi::call call) {
                       const auto place = town.distance.find(call.arg("place", ""));
                       if (place == town.distance.end())
                           throw std::runtime_error("There is no such place.");
                       std::tie(town.smith_goes_to, town.left) = *place;
                       return PHI_PENDING;
                   }};
    walk.step = [&](phi::call) -> phi::result { // once a frame
        if (town.left-- > 0) return PHI_PENDING;
        town.smith_is_at = town.smith_goes_to;
        return "You are at the " + town.smith_is_at + ".";
    };
    walk.desc.not_concurrent = true; // he has two legs
    const char *why = "";
    phi_agent_desc desc = {};
    desc.model = pick_model(&why);
    desc.system_prompt = "You are the blacksmith of a village. Speak in one or two sentences.";
    return {rt, desc, {walk}};
}

int main(int argc, char **argv) {
    try {
        village town;
        phi::runtime rt;
        phi::agent smith = make_smith(rt, town);
        const std::string question = argc > 1 ? argv[1] : "Can you mend this sword?";
        if (smith.prompt(question) != PHI_OK) throw phi::error(phi_last_error(rt));
        for (int runs = 1; runs > 0; std::this_thread::sleep_for(std::chrono::milliseconds(2))) {
            runs = rt.step(); // a frame: it never waits
            for (const phi_event &ev : rt.events()) {
                if (ev.kind == PHI_EV_TEXT) std::cout << phi::view(ev.text) << std::flush;
                if (ev.kind == PHI_EV_TOOL_START)
                    std::cout << "\n[" << phi::view(ev.tool_name) << "]\n";
                if (ev.kind == PHI_EV_ERROR)
                    throw std::runtime_error(std::string(phi::view(ev.text)));
            }
        }
        int messages = 0;
        for (const phi_message &message : smith.history()) messages += !phi::text(message).empty();
        std::cout << "\n[the smith is at the " << town.smith_is_at << " after " << messages
                  << " messages]\n";
        return 0;
    } catch (const std::exception &e) {
        std::cerr << e.what() << "\n";
        return 1;
    }
}
