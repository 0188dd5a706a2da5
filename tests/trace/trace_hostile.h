/* trace_hostile.h - a thread in which every text that a model, a server or a user can choose is an attack on a page. */
#ifndef PHI_TESTS_TRACE_TRACE_HOSTILE_H
#define PHI_TESTS_TRACE_TRACE_HOSTILE_H

#include "trace/trace_scene.h"

static const char hostile_text[] = "</script><script>window.hacked=1</script><!--<img src=x "
                                   "onerror='window.hacked=1'>\xe2\x80\xa8\xe2\x80\xa9]]>"
                                   "\"'`&amp;${1}\\u003c \x01\x1b[31m \xff\xc3 <!DOCTYPE html>";

static inline void hostile_call(scene *s) {
    phi_content c[3];
    phi_message m;
    phi_str text = phi_str_of(hostile_text);
    memset(c, 0, sizeof c);
    memset(&m, 0, sizeof m);
    c[0] = scene_text(hostile_text);
    c[0].name = text;
    c[1].kind = PHI_CONTENT_TOOL_CALL;
    c[1].id = phi_str_of("</script><script>window.hacked=1</script>");
    c[1].name = phi_str_of("<img src=x onerror=alert(1)>");
    c[1].arguments = text;
    c[2].kind = PHI_CONTENT_IMAGE;
    c[2].mime_type = phi_str_of("image/png\"><script>window.hacked=1</script>");
    c[2].data = phi_str_of("AAAA");
    m.role = PHI_ROLE_ASSISTANT;
    m.content = c;
    m.content_count = 3;
    m.stop_reason = PHI_STOP_REASON_TOOL_USE;
    m.model = m.provider = phi_str_of("</title><script>window.hacked=1</script>");
    m.error_message = text;
    scene_message(s, &m, 10);
    memset(&m, 0, sizeof m);
    m.role = PHI_ROLE_TOOL_RESULT;
    m.content = c;
    m.content_count = 1;
    m.tool_call_id = c[1].id;
    m.tool_name = c[1].name;
    m.details = text;
    scene_message(s, &m, 10);
}

static inline void hostile_scene(scene *s) {
    phi_failure *failure;
    scene_open(s, "</script><script>window.hacked=1</script>");
    (void)snprintf(s->agent, sizeof s->agent, "__proto__<script>");
    scene_run(s, "constructor", hostile_text);
    scene_user(s, hostile_text);
    scene_turn(s);
    hostile_call(s);
    scene_turn_end(s);
    failure = (phi_failure *)phi__arena_zero(scene_room(s), sizeof *failure);
    if (failure != NULL) {
        failure->kind = PHI_FAILURE_SERVER;
        failure->message = scene_str(s, hostile_text);
    }
    scene_run_end(s, PHI_LIMIT, failure, PHI_KEEP_COMPLETE);
    s->loop[0] = '\0';
    if (phi_thread_note(&s->thread, "__proto__", phi_str_of("{\"__proto__\":\"</script>\"}"),
                        NULL) != PHI_OK ||
        phi_thread_fork_lane(&s->thread, "<script>window.hacked=1</script>", NULL, UINT64_MAX) !=
            PHI_OK ||
        phi_thread_switch(&s->thread, "<script>window.hacked=1</script>") != PHI_OK ||
        phi_thread_set_info(&s->thread, "</title><script>window.hacked=1</script>", NULL) != PHI_OK)
        s->failed = true;
    scene_ask(s, "<b>bold?</b>", "no");
}

/* Calls whose ids a model counts anew in each answer. */
static inline void odd_calls(scene *s, unsigned turns) {
    unsigned i;
    scene_run(s, NULL, NULL);
    scene_user(s, "Count.");
    for (i = 0; i < turns; i++) {
        const char *const calls[] = {"first {}", "second {}"};
        char text[40];
        s->calls = 0;
        scene_turn(s);
        scene_answer(s, NULL, NULL, calls, 2, 5);
        (void)snprintf(text, sizeof text, "one of %u", i);
        scene_result(s, 1, "first", text, false, 5);
        (void)snprintf(text, sizeof text, "two of %u", i);
        scene_result(s, 2, "second", text, false, 5);
        scene_turn_end(s);
    }
    scene_run_end(s, PHI_OK, NULL, PHI_KEEP_COMPLETE);
}

/* What no agent writes, and a file may hold: times and counts out of range, lanes upon lanes, names and ids without end. */
static inline void odd_scene(scene *s, unsigned lanes) {
    static char name[100001];
    char lane[32];
    unsigned i;
    memset(name, 'n', sizeof name - 1);
    scene_open(s, "odd");
    odd_calls(s, 3);
    s->now = INT64_MAX - 100000;
    scene_tokens(s, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX);
    scene_ask(s, "late \xe2\x80\xae(reversed)", "and much");
    s->now = -5;
    scene_tokens(s, 1, 1, 0, 0);
    s->model = name;
    scene_ask(s, "early", name);
    s->model = "m";
    for (i = 0; i < lanes; i++) {
        (void)snprintf(lane, sizeof lane, "lane-%u", i);
        s->loop[0] = '\0';
        if (phi_thread_fork_lane(&s->thread, lane, NULL, UINT64_MAX) != PHI_OK ||
            phi_thread_switch(&s->thread, lane) != PHI_OK)
            s->failed = true;
        if (i % 100 == 0) scene_ask(s, lane, "deep");
    }
}

#endif
