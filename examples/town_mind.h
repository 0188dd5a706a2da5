/* town_mind.h - the scripted model of town.c: a line for a neighbour, and an answer for the
   player. */
#ifndef TOWN_MIND_H
#define TOWN_MIND_H

#include "phi_tools.h"
#include "town_people.h"

/* phi_mock.answer_fn: an answer to the newest message. */
static void mind_answers(void *user_data, phi_mock *mock, const phi_model_request *request) {
    static const char *const lines[] = {
        "Good day! The wind will turn before evening.",
        "Have you seen my grey goat? She is gone since the morning.",
        "They say the miller has flour again.",
        "My back tells me that it will rain.",
        "Come to the well tonight, there will be music.",
        "I need a new pot, and a good story.",
        "The pears are sweet this year.",
        "Somebody left a lantern burning all night.",
        "I met a stranger on the road who spoke of the sea.",
        "Mind the third step, it is loose."};
    people *p = (people *)user_data;
    phi_str said = request->messages[request->message_count - 1]->content[0].text;
    char answer[200];
    if (said.len > 17 && memcmp(said.at, "A traveller says:", 17) == 0)
        (void)snprintf(answer, sizeof answer,
                       "You say \"%.*s\"? I shall think about it, traveller.",
                       (int)(said.len - 18 < 60 ? said.len - 18 : 60), said.at + 18);
    else
        (void)snprintf(answer, sizeof answer, "%s",
                       lines[people_chance(p, sizeof lines / sizeof *lines)]);
    phi_mock_text(mock, answer);
}

#endif
