/* event_words.c - the names of events in the interchange format. */
#include "record/event_in.h"

PHI__FN const char *phi__event_words_type(phi_event_kind kind) {
    if (kind == PHI_EV_TEXT || kind == PHI_EV_THINKING || kind == PHI_EV_TOOL_ARGUMENTS)
        return "MessageUpdate";
    return phi_event_name(kind);
}

PHI__FN const char *phi__event_words_delta(phi_event_kind kind) {
    if (kind == PHI_EV_TEXT) return "Text";
    return kind == PHI_EV_THINKING ? "Thinking" : "ToolCallDelta";
}

PHI__FN const char *phi__event_words_trigger(phi_trigger trigger) {
    static const char *const words[] = {"User", "User", "SubAgent", "Continuation", "Branch"};
    return words[(size_t)trigger < PHI__COUNT(words) ? (size_t)trigger : 0];
}

PHI__FN const char *phi__event_words_point(int point) {
    static const char *const words[] = {"before_loop",
                                        "before_turn",
                                        "transform_context",
                                        "convert_to_llm",
                                        "before_compaction_start",
                                        "after_compaction_end",
                                        "before_tool_execution",
                                        "after_tool_execution",
                                        "before_tool_execution_update",
                                        "after_tool_execution_update",
                                        "on_error",
                                        "after_turn",
                                        "steering",
                                        "follow_up",
                                        "after_loop",
                                        "filter",
                                        "credential",
                                        "question"};
    size_t i;
    for (i = 0; i < PHI__COUNT(words); i++)
        if (point == 1 << i) return words[i];
    return "";
}

PHI__FN const char *phi__event_words_input(phi_input input) {
    static const char *const words[] = {"", "prompt", "steering", "follow_up", "injected"};
    return words[(size_t)input < PHI__COUNT(words) ? (size_t)input : 0];
}
