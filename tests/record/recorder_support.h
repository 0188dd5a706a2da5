/* recorder_support.h - a recorder on test_allocator(), and events for it in a few words. */
#ifndef PHI_TESTS_SESSION_RECORDER_SUPPORT_H
#define PHI_TESTS_SESSION_RECORDER_SUPPORT_H

#include "record/recorder.h"
#include "support/recorded.h"
#include "support/test.h"

#include <stdarg.h>

static phi_recorder *rec;

static void rec_begin(const phi_recorder_desc *desc) {
    phi_recorder_desc mine;
    memset(&mine, 0, sizeof mine);
    if (desc != NULL) mine = *desc;
    mine.allocator = test_allocator();
    rec = phi_recorder_new(&mine);
    CHECK(rec != NULL);
}

static void rec_end(void) {
    phi_recorder_free(rec);
    rec = NULL;
}

/* An event, its JSON written with ' for ". */
PHI_PRINTF(1, 2) static void feed(const char *format, ...) {
    char text[4096];
    size_t i;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (i = 0; text[i] != '\0'; i++)
        if (text[i] == '\'') text[i] = '"';
    CHECK_EQ_INT(add_json(rec, phi_str_of(text)), PHI_OK);
}

#define USAGE                                                                                      \
    "'usage':{'input':1,'output':2,'reasoning':0,'cache_read':0,'cache_write':0,'total_tokens':3}"
#define ANSWER                                                                                     \
    "{'role':'assistant','content':[{'type':'text','text':'hi'}],'stopReason':'stop','model':'m'," \
    "'provider':'p'," USAGE ",'timestamp':1}"
#define QUESTION "{'role':'user','content':[{'type':'text','text':'q'}],'timestamp':1}"

/* parent NULL: none. at: seconds of a minute. */
static inline void start(const char *session, const char *loop, const char *parent, int at) {
    feed("{'type':'AgentStart','agent_id':'agent','session_id':'%s','loop_id':'%s',"
         "'parent_loop_id':%s%s%s,'continuation_kind':'%s',"
         "'timestamp':'2026-01-01T00:00:%02dZ','metadata':null}",
         session, loop, parent != NULL ? "'" : "", parent != NULL ? parent : "null",
         parent != NULL ? "'" : "", parent != NULL ? "Default" : "Initial", at);
}

static inline void stop(const char *loop, int at) {
    feed("{'type':'AgentEnd','loop_id':'%s','messages':[" QUESTION "," ANSWER "]," USAGE
         ",'timestamp':'2026-01-01T00:00:%02dZ','rejection':null}",
         loop, at);
}

static inline void turn_start(const char *loop, int index) {
    feed("{'type':'TurnStart','loop_id':'%s','turn_index':%d,'timestamp':'2026-01-01T00:00:01Z',"
         "'triggered_by':'User'}",
         loop, index);
}

static inline void turn_end(const char *loop) {
    feed("{'type':'TurnEnd','loop_id':'%s','message':" ANSWER "," USAGE
         ",'timestamp':'2026-01-01T00:00:02Z','tool_results':[]}",
         loop);
}

static inline void call_end(const char *loop, const char *call, const char *child) {
    feed("{'type':'ToolExecutionEnd','loop_id':'%s','tool_call_id':'%s','tool_name':'sub_agent',"
         "'result':{'content':[],'details':null},'is_error':false,'child_loop_id':'%s'}",
         loop, call, child);
}

static inline void both(const char *session, const char *loop, const char *parent, int at) {
    start(session, loop, parent, at);
    stop(loop, at + 1);
}

static inline const phi_session *session_of(const char *id) {
    return recorder_find(rec, phi_str_of(id));
}

static inline const phi_loop_record *loop_of(const char *session, const char *loop) {
    return session_loop(session_of(session), phi_str_of(loop));
}

#endif
