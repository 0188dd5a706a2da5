/* entry.c - the names of an entry's enumerators. */
#include "log/log_in.h"

PHI__FN const char *phi__entry_kind_word(int kind) {
    static const char *const words[] = {"",         "message",    "rewrite",  "lane",
                                        "switch",   "loop_start", "loop_end", "turn_start",
                                        "turn_end", "spawn",      "note",     "forgotten"};
    return kind >= 0 && (size_t)kind < PHI__COUNT(words) ? words[kind] : NULL;
}

PHI__FN const char *phi__entry_trigger_word(int trigger) {
    static const char *const words[] = {"", "user", "sub_agent", "continuation", "branch"};
    return trigger >= 0 && (size_t)trigger < PHI__COUNT(words) ? words[trigger] : NULL;
}

PHI__FN const char *phi__entry_continuation_word(int continuation) {
    static const char *const words[] = {"initial", "default", "rerun", "branch", "compaction"};
    return continuation >= 0 && (size_t)continuation < PHI__COUNT(words) ? words[continuation]
                                                                         : NULL;
}

PHI__FN const char *phi__entry_reason_word(phi_rewrite_reason reason) {
    switch (reason) {
    case PHI_REWRITE_MANUAL: return "manual";
    case PHI_REWRITE_COMPACTION: return "compaction";
    case PHI_REWRITE_PRUNE: return "prune";
    case PHI_REWRITE_RESTORE: return "restore";
    case PHI_REWRITE_REVERT: return "revert";
    case PHI_REWRITE_SYSTEM: return "system";
    }
    return "";
}
