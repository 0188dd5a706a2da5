/* blocks_support.h - sessions made of a few words, and lists of messages as a few words. */
#ifndef PHI_TESTS_SESSION_BLOCKS_SUPPORT_H
#define PHI_TESTS_SESSION_BLOCKS_SUPPORT_H

#include "support/session_list.h"
#include "record/session_context.h"
#include "support/test.h"
#include "text/json.h"

#include <stdarg.h>

static char made[64 * 1024]; /* a session's JSON */
static size_t made_len;

/* With ' for ". */
PHI_PRINTF(1, 2) static inline void put(const char *format, ...) {
    size_t from = made_len;
    va_list args;
    va_start(args, format);
    made_len += (size_t)vsnprintf(made + made_len, sizeof made - made_len, format, args);
    va_end(args);
    CHECK(made_len < sizeof made);
    for (; from < made_len; from++)
        if (made[from] == '\'') made[from] = '"';
}

static inline void begin_session(void) {
    made_len = 0;
    put("{'session_id':'s','agent_id':'a','loops':[");
}

static inline void comma(void) {
    if (made_len > 0 && made[made_len - 1] != '[') put(",");
}

/* A message of text; turn < 0: without an id. */
static inline void said(const char *role, const char *loop, int turn, const char *text) {
    comma();
    put("{'role':'%s','content':[{'type':'text','text':'%s'}],'timestamp':1", role, text);
    if (turn >= 0) put(",'turnId':{'loopId':'%s','turnIndex':%d}", loop, turn);
    if (strcmp(role, "assistant") == 0)
        put(",'stopReason':'stop','model':'m','provider':'p','usage':{'input':1,'output':1}");
    put("}");
}

/* A loop whose messages follow. */
static inline void begin_loop(const char *id, const char *parent) {
    comma();
    put("{'loop_id':'%s','session_id':'s','agent_id':'a',", id);
    if (parent != NULL) put("'parent_loop_id':'%s','continuation_kind':'Default',", parent);
    put("'status':'Completed','messages':[");
}

/* "q0", "a0", "q1", "a1"..., behind the loop's last letter. */
static inline void turns(const char *loop, int count) {
    char text[32];
    int i;
    for (i = 0; i < count; i++) {
        (void)snprintf(text, sizeof text, "%c.q%d", loop[strlen(loop) - 1], i);
        said("user", loop, i, text);
        (void)snprintf(text, sizeof text, "%c.a%d", loop[strlen(loop) - 1], i);
        said("assistant", loop, i, text);
    }
}

static inline void loop_of_turns(const char *id, const char *parent, int count) {
    begin_loop(id, parent);
    turns(id, count);
    put("]}");
}

static inline phi_session *read_it(void) {
    phi_allocator allocator = test_allocator();
    phi_parse_error error;
    phi_session *s = NULL;
    put("]}");
    if (phi_session_from_json(phi__str(made, made_len), &allocator, 0, &s, &error) != PHI_OK)
        printf("  %s\n  %s\n", error.message, made);
    return s;
}

/* The first texts of messages, apart by spaces. */
static inline const char *words_of(const phi_message *messages, size_t count) {
    static char out[16 * 1024];
    size_t i, n = 0;
    out[0] = '\0';
    for (i = 0; i < count && n + 256 < sizeof out; i++) {
        phi_str text = messages[i].content_count > 0 ? messages[i].content[0].text : phi_str_of("");
        if (messages[i].content_count > 0 && messages[i].content[0].kind == PHI_CONTENT_TOOL_CALL)
            text = phi_str_of("call");
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%.*s", i > 0 ? " " : "",
                              (int)(text.len < 200 ? text.len : 200), text.at);
    }
    return out;
}

static inline const char *context_of(const phi_session *s, const char *loop_id, uint32_t flags,
                                     const phi_compaction_config *config) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    const phi_message *list = NULL;
    const char *out;
    size_t count = 0;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(session_list(s, phi_str_of(loop_id), flags, config, NULL, &arena, &list, &count),
                 PHI_OK);
    out = words_of(list, count);
    phi_arena_free(&arena);
    return out;
}

static inline void check_range(const phi_block_section *section, uint32_t from, uint32_t to) {
    CHECK(section->present);
    CHECK_EQ_INT(section->from, from);
    CHECK_EQ_INT(section->to, to);
}

#endif
