/* phi_shell.h - a line that a person runs in the shell: its output scrolls by while it comes, and is kept for the next
   prompt. Copy what you need of it.

   A call of the built-in tool bash runs the line, so nothing waits for it: an agent makes the call, whose model is the
   three functions below. The agent is new for each line, has no rules, and no store keeps it. */
#ifndef PHI_SHELL_H
#define PHI_SHELL_H

#include "phi_tools.h"

#include "phi_live.h"
#include "phi_screen.h"

enum {
    SHELL_STREAM_BYTES = 32 << 10, /* of each stream of a line: shown, and kept */
    SHELL_KEPT_BYTES = 64 << 10    /* of all lines since the last prompt */
};

/* Zero to begin with. */
typedef struct shell {
    phi_agent agent; /* rt NULL: no line ran yet */
    phi_provider provider;
    phi_toolset set; /* it must not move */
    text line, arguments;
    text said; /* its output so far */
    text kept; /* lines and their output, for the next prompt */
    int64_t began_ms;
    bool asked, ended;
    bool inside, returned; /* a row has begun; the last byte was a carriage return */
} shell;

static inline bool shell_runs(const shell *s) {
    return s->agent.rt != NULL && phi_agent_get_info(s->agent).running;
}

/* ---- the agent's model ---- */

static phi_status shell_open(void *user_data, const phi_model_request *request, void **call) {
    (void)request;
    *call = user_data;
    return PHI_OK;
}

/* The first answer is the call, the second one ends the run. */
static phi_poll shell_poll(void *user_data, void *call, phi_answer *answer) {
    shell *s = (shell *)user_data;
    (void)call;
    if (s->asked) {
        phi_answer_text(answer, phi_str_of("done"));
    } else {
        phi_answer_call(answer, phi_str_of(""), phi_str_of("bash"));
        phi_answer_arguments(answer, text_str(&s->arguments), true);
    }
    s->asked = true;
    return PHI_POLL_DONE;
}

static void shell_close(void *user_data, void *call) { (void)user_data, (void)call; }

/* ---- a line ---- */

static inline void shell_arguments(text *out, const char *line) {
    text_say(out, "{\"command\":\"");
    for (; *line != '\0'; line++)
        if (*line == '"' || *line == '\\' || (unsigned char)*line < 0x20)
            text_print(out, "\\u%04x", (unsigned)(unsigned char)*line);
        else
            text_add(out, line, 1);
    text_say(out, "\"}");
}

/* Starts a line. PHI_OK: its events come from now on. PHI_BUSY: another one runs. */
static inline phi_status shell_start(shell *s, phi_runtime *rt, const char *line) {
    static const char *const none[] = {NULL};
    phi_tools_desc tools = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    if (shell_runs(s)) return PHI_BUSY;
    if (s->agent.rt != NULL) phi_agent_free(s->agent);
    memset(&s->agent, 0, sizeof s->agent);
    s->line.len = s->arguments.len = s->said.len = 0;
    s->asked = s->ended = s->inside = s->returned = false;
    text_say(&s->line, line);
    shell_arguments(&s->arguments, line);
    tools.deny_patterns = none; /* the person has typed it */
    tools.bash_timeout_ms = PHI_UNLIMITED;
    tools.max_output_bytes = SHELL_STREAM_BYTES;
    tools.max_bash_result_bytes = PHI_UNLIMITED;
    (void)phi_tools_init(&s->set, &tools);
    s->set.tools[0].timeout_ms = PHI_UNLIMITED; /* bash is the first one */
    s->provider.user_data = s;
    s->provider.protocol = desc.model.protocol = desc.model.id = "shell";
    s->provider.open = shell_open, s->provider.poll = shell_poll, s->provider.close = shell_close;
    desc.provider = &s->provider;
    desc.tools = s->set.tools, desc.tool_count = 1;
    desc.limits.max_duration_ms = PHI_UNLIMITED;
    s->agent = phi_agent_new(rt, &desc);
    return s->agent.rt != NULL ? phi_prompt(s->agent, line) : PHI_NO_MEMORY;
}

static inline void shell_stop(const shell *s) {
    if (s->agent.rt != NULL) (void)phi_abort(s->agent);
}

/* ---- its output ---- */

/* Each row is indented: none looks like one of the program's. A carriage return begins a row, too. */
static inline void shell_show(shell *s, screen *to, phi_str part) {
    text plain = {NULL, 0, 0}, rows = {NULL, 0, 0};
    size_t i;
    live_plain(&plain, part);
    for (i = 0; i < plain.len; i++) {
        char c = plain.at[i];
        bool ends = c == '\n' || c == '\r', pair = c == '\n' && s->returned;
        s->returned = c == '\r';
        if (pair) continue; /* the row has ended with the carriage return */
        if (!s->inside && !ends) text_say(&rows, "  ");
        s->inside = !ends;
        text_add(&rows, ends ? "\n" : &c, 1);
    }
    screen_put(to, STYLE_PLAIN, text_str(&rows));
    free(plain.at);
    free(rows.at);
}

/* Keeps the line and what it printed; the oldest go first. */
static inline void shell_keep(shell *s, phi_str result) {
    size_t cut;
    text_print(&s->kept, "$ %s\n", s->line.at);
    text_add(&s->kept, result.at, result.len);
    text_say(&s->kept, "\n\n");
    if (s->kept.len <= SHELL_KEPT_BYTES) return;
    for (cut = s->kept.len - SHELL_KEPT_BYTES; cut < s->kept.len && s->kept.at[cut - 1] != '\n';)
        cut++;
    text_remove(&s->kept, 0, cut);
}

/* A stream was longer than what the tool keeps: its result says so. */
static inline bool shell_cut(phi_str result) {
    static const char words[] = "\n... (output truncated): ";
    size_t n = sizeof words - 1, i;
    for (i = 0; i + n <= result.len; i++)
        if (memcmp(result.at + i, words, n) == 0) return true;
    return false;
}

/* The line has ended: "(exit code 1, 12ms)". */
static inline void shell_end(shell *s, const phi_event *ev, phi_arena *arena, text *out) {
    phi_str result = phi_message_text(ev->message, "\n", arena, NULL);
    static const char begins[] = "Exit code: ";
    size_t n = sizeof begins - 1;
    int code = 0;
    s->ended = true;
    if (ev->is_error) {
        text_say(&s->said, "\n");
        text_add(&s->said, result.at, result.len);
        shell_keep(s, text_str(&s->said));
        text_say(out, "(");
        text_fit(out, result, 200);
    } else {
        shell_keep(s, result);
        if (result.len > n && memcmp(result.at, begins, n) == 0) code = atoi(result.at + n);
        text_say(out, code == 0 ? "(ok" : "(failed");
        if (code != 0) text_print(out, ", exit code %d", code);
    }
    text_print(out, ", %dms)", (int)(ev->timestamp_ms - s->began_ms));
    if (s->said.len < SHELL_STREAM_BYTES) return; /* nothing was cut */
    if (ev->is_error)
        text_say(out, " (it may have printed more)");
    else if (shell_cut(result))
        text_say(out, " (the rest is not shown; the next prompt has its end)");
}

/* True: the event is one of the line's. `out` gets what is to be said about it. */
static inline bool shell_event(shell *s, const phi_event *ev, screen *to, phi_arena *arena,
                               text *out) {
    if (s->agent.rt == NULL || ev->agent.index != s->agent.index || ev->agent.gen != s->agent.gen)
        return false;
    if (ev->kind == PHI_EV_TOOL_START) s->began_ms = ev->timestamp_ms;
    if (ev->kind == PHI_EV_TOOL_UPDATE) {
        text_add(&s->said, ev->text.at, ev->text.len);
        shell_show(s, to, ev->text);
    }
    if (ev->kind == PHI_EV_TOOL_END && !s->ended) shell_end(s, ev, arena, out);
    if (ev->kind == PHI_EV_ERROR) text_print(out, "! %.*s", PHI_ARG(ev->text));
    return true;
}

static inline void shell_free(shell *s) {
    free(s->line.at);
    free(s->arguments.at);
    free(s->said.at);
    free(s->kept.at);
}

#endif
