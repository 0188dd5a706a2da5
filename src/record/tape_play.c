/* tape_play.c - replays a tape: passes its input to the run step by step, and compares the run's
   requests.

   The lines of a step are its input, in order, and then the run's output: requests, and results
   given at once. Output may come in any order within the step, because runs are interleaved
   differently if the replay has another budget for steps. The next step begins when all lines of
   the step are used. */
#include "base/base_in.h"
#include "io/io_in.h"
#include "loop/loop_in.h"
#include "record/replay_in.h"
#include "text/text_in.h"

#include <limits.h>
#include <stdio.h>

/* ---- divergence ---- */

/* The outcome of a line of input. */
typedef enum phi__played {
    PHI__PLAYED,
    PHI__PLAY_LATER,
    PHI__PLAY_STOP /* the run has diverged, or memory ran out */
} phi__played;

enum { PHI__TAPE_PLAY_WORDS = 400 }; /* max. bytes of the tape that a divergence quotes */

static phi_str phi__match_keep(phi__tape *tape, phi_str words) {
    phi_str kept = phi__str("", 0);
    (void)phi__arena_str(&tape->parted.words, words, &kept);
    return kept;
}

/* Records a divergence, unless there was one before. `line` counts from 0. */
static void phi__match_diverge(phi__tape *tape, size_t line, const char *what, phi_str recorded,
                               phi_str actual) {
    phi_tape_divergence *d = &tape->parted.where;
    tape->off = true;
    if (tape->parted.yes) return;
    tape->parted.yes = true;
    d->line = line + 1;
    d->step = tape->step;
    d->what = phi__match_keep(tape, phi_str_of(what));
    d->recorded = phi__match_keep(tape, recorded);
    d->actual = phi__match_keep(tape, actual);
}

static void phi__match_no_memory(phi__tape *tape) {
    tape->failed = PHI_NO_MEMORY;
    tape->off = true;
}

/* ---- finding the run's requests and results on the tape ---- */

/* Returns the start of a line, for messages. */
static phi_str phi__match_line(const phi__tape_line *line) {
    return phi__str(line->text.at, phi__utf8_cut(line->text, PHI__TAPE_PLAY_WORDS));
}

/* Returns the line's JSON tree. NULL: no memory, and the replay stops. */
static const phi_json *phi__match_tree(phi__tape *tape, const phi__tape_line *line) {
    const phi_json *root = phi__tape_read_tree(tape, line);
    if (root == NULL) phi__match_no_memory(tape);
    return root;
}

static phi_message *phi__match_result(phi__tape *tape, const phi_json *root) {
    phi_message *message = phi__tape_read_result(tape, root);
    if (message == NULL) phi__match_no_memory(tape);
    return message;
}

/* Finds the next unused line of this kind in the current step. NULL if there is none. */
static phi__tape_line *phi__match_next(phi__tape *tape, phi__tape_kind kind, phi__tape_line *from) {
    size_t i = from != NULL ? (size_t)(from - tape->index.lines) + 1 : tape->index.at;
    for (; i < tape->index.count; i++) {
        phi__tape_line *line = &tape->index.lines[i];
        if (line->kind == PHI__TAPE_T && !line->more) return NULL;
        if (line->kind == kind && !line->used) return line;
    }
    return NULL;
}

/* The compared members of a request. */
static const struct {
    const char *member, *words;
} phi__match_members[] = {{"method", "the method"},
                          {"url", "the URL"},
                          {"headers", "the headers"},
                          {"length", "the body"},
                          {"sha256", "the body"}};

/* Returns the index of the first member that differs, or the table's length if none does. */
static size_t phi__match_differs(const phi_json *then, const phi_json *now) {
    size_t i = 0;
    while (i < PHI__COUNT(phi__match_members) &&
           phi__json_get_equal(phi_json_get(then, phi__match_members[i].member),
                               phi_json_get(now, phi__match_members[i].member)))
        i++;
    return i;
}

/* Returns an excerpt of a body. The excerpt starts shortly before `at`. */
static phi_str phi__match_from(phi_str body, size_t at) {
    size_t from = at > 40 ? at - 40 : 0;
    if (from >= body.len) return phi__str("", 0);
    phi_str cut = phi__str(body.at + from, body.len - from);
    size_t n = phi__utf8_cut(cut, PHI__TAPE_PLAY_WORDS);
    return phi__str(cut.at, n);
}

/* Returns the request as the tape would record it. The tree is in the arena. NULL: no memory. */
static const phi_json *phi__match_request(phi__tape *tape, phi_arena *arena,
                                          const phi_request *request) {
    phi_json *root = NULL;
    phi__buf *line = phi__tape_line_begin(tape, "request");
    phi__tape_secret_put_request(tape, line, request, true);
    phi__buf_char(line, '}');
    if (line->failed) return NULL;
    (void)phi__secret_hide(&tape->secrets, line->at, line->len, PHI__SECRET_JSON);
    return phi_json_parse(arena, phi__buf_str(line), 0, &root, NULL) == PHI_OK ? root : NULL;
}

/* Diverges with a message about the difference between a request and the recorded one. */
static void phi__match_differ(phi__tape *tape, const phi__tape_line *line, const phi_json *now) {
    const phi_json *then = phi__match_tree(tape, line);
    size_t i = then != NULL ? phi__match_differs(then, now) : PHI__COUNT(phi__match_members);
    if (i == PHI__COUNT(phi__match_members)) return;
    const char *what = phi__match_members[i].words, *member = phi__match_members[i].member;
    char words[100];
    phi_str a = phi__records_get_str(then, "body"), b = phi__records_get_str(now, "body");
    (void)snprintf(words, sizeof words, "request %u: %s", (unsigned)line->x, what);
    if (strcmp(what, "the body") == 0 && phi_json_get(then, "body") != NULL) {
        size_t at = 0;
        while (at < a.len && at < b.len && a.at[at] == b.at[at]) at++;
        a = phi__match_from(a, at);
        b = phi__match_from(b, at);
    } else {
        if (strcmp(member, "length") == 0) member = "sha256";
        a = b = phi__str("", 0);
        (void)phi_json_write(&tape->arena, phi_json_get(then, member), 0, &a);
        (void)phi_json_write(&tape->arena, phi_json_get(now, member), 0, &b);
    }
    phi__match_diverge(tape, (size_t)(line - tape->index.lines), words, a, b);
}

/* Finds the recorded request that equals `now`. If there is none, diverges and returns NULL. */
static phi__tape_line *phi__match_find(phi__tape *tape, const phi_json *now) {
    phi__tape_line *first = phi__match_next(tape, PHI__TAPE_REQUEST, NULL);
    for (phi__tape_line *line = first; line != NULL;
         line = phi__match_next(tape, PHI__TAPE_REQUEST, line)) {
        const phi_json *then = phi__match_tree(tape, line);
        if (then == NULL) return NULL;
        if (phi__match_differs(then, now) == PHI__COUNT(phi__match_members)) return line;
    }
    if (first != NULL)
        phi__match_differ(tape, first, now);
    else
        phi__match_diverge(tape, tape->index.at, "a request that was not recorded",
                           phi_str_of("nothing"), phi__records_get_str(now, "url"));
    return NULL;
}

/* Returns a result as the tape records it, without its time. */
static phi_str phi__match_words_of(phi__tape *tape, phi__buf *out, const phi__toolcall *call,
                                   const phi_message *result) {
    phi_message plain = *result;
    plain.timestamp_ms = 0;
    phi__tape_result_put(tape, out, call, &plain);
    return phi__buf_str(out);
}

/* Compares a tool's new result with the recorded one. Diverges if they differ. */
static void phi__match_compare(phi__tape *tape, size_t line, phi__toolcall *call,
                               const phi_message *recorded) {
    phi__buf then, now;
    char what[120];
    phi__buf_init(&then, &tape->memory);
    phi__buf_init(&now, &tape->memory);
    phi_str a = phi__match_words_of(tape, &then, call, recorded);
    phi_str b = phi__match_words_of(tape, &now, call, call->held);
    (void)snprintf(what, sizeof what, "the result of tool %.*s",
                   (int)phi__utf8_cut(call->block->name, 64), call->block->name.at);
    if (then.failed || now.failed)
        phi__match_no_memory(tape);
    else if (!phi_str_equal(a, b))
        phi__match_diverge(tape, line, what, a, b);
    phi__buf_free(&then);
    phi__buf_free(&now);
}

/* ---- replaying answers to requests ---- */

static phi__tape_flow *phi__playreq_flow(phi__tape *tape, uint64_t x) {
    for (size_t i = 0; i < tape->flows.count; i++)
        if (tape->flows.at[i].live && tape->flows.at[i].x == x) return &tape->flows.at[i];
    return NULL;
}

static phi__played phi__playreq_answer(phi__tape *tape, const phi__tape_line *line,
                                       const phi_json *root) {
    phi__tape_flow *flow = phi__playreq_flow(tape, line->x);
    if (flow == NULL) {
        phi__match_diverge(tape, (size_t)(line - tape->index.lines), "the answer to a request",
                           phi__match_line(line),
                           phi_str_of("that request is not waiting for an answer"));
        return PHI__PLAY_STOP;
    }
    if (line->kind == PHI__TAPE_BYTES) {
        const phi_json *text = phi_json_get(root, "text");
        phi__buf_clear(&tape->bytes);
        if (text != NULL)
            phi__buf_add_str(&tape->bytes, phi_json_str(text, ""));
        else
            (void)phi__base64_decode(&tape->bytes, phi__records_get_str(root, "base64"));
        if (tape->bytes.failed) {
            phi__match_no_memory(tape);
            return PHI__PLAY_STOP;
        }
        return phi__transfer_push_now(flow->transfer, tape->bytes.at, tape->bytes.len) == PHI_FULL
                   ? PHI__PLAY_LATER
                   : PHI__PLAYED;
    }
    if (line->kind == PHI__TAPE_STAGE) {
        int64_t stage = phi_json_int(phi_json_get(root, "stage"), 1);
        (void)phi__transfer_stage_now(flow->transfer,
                                      stage == 1 ? PHI_TRANSFER_STARTED : PHI_TRANSFER_CONNECTED);
    } else if (line->kind == PHI__TAPE_ANSWER) {
        phi_str text = phi__records_get_str(root, "headers");
        (void)phi__transfer_head_now(
            flow->transfer, (int)(phi__records_get_u64(root, "status") % 1000), text.at, text.len);
    } else {
        int64_t status = phi_json_int(phi_json_get(root, "status"), 0);
        flow->live = false;
        phi_str text = phi__records_get_str(root, "words");
        (void)phi__transfer_end_now(
            flow->transfer,
            (phi_status)(status > -1000 && status <= 0 ? status : (int64_t)PHI_NETWORK), text.at);
    }
    return PHI__PLAYED;
}

static phi_status phi__playreq_open(void *user_data, phi_transfer transfer,
                                    const phi_request *request) {
    phi__tape *tape = (phi__tape *)user_data;
    phi__tape_line *line = NULL;
    phi_arena arena;
    int64_t status = PHI_OK;
    if (tape->off) return PHI_REFUSED;
    phi_arena_init(&arena, &tape->memory, 0);
    const phi_json *now = phi__match_request(tape, &arena, request);
    if (now == NULL)
        phi__match_no_memory(tape);
    else
        line = phi__match_find(tape, now);
    phi_arena_free(&arena);
    if (line == NULL) return tape->parted.yes ? PHI_REFUSED : PHI_NO_MEMORY;
    line->used = true;
    now = phi__tape_read_tree(tape, line);
    if (now != NULL) status = phi_json_int(phi_json_get(now, "status"), PHI_OK);
    if (now == NULL || (status == PHI_OK && phi__tape_flow_new(tape, transfer, line->x) == NULL)) {
        phi__match_no_memory(tape);
        return PHI_NO_MEMORY;
    }
    return (phi_status)(status > -1000 && status <= 0 ? status : (int64_t)PHI_REFUSED);
}

static void phi__playreq_resume(void *user_data, phi_transfer transfer) {
    (void)user_data; /* a line that did not fit is tried again in every step */
    (void)transfer;
}

static void phi__playreq_cancel(void *user_data, phi_transfer transfer) {
    phi__tape_flow *flow = phi__tape_flow_of((phi__tape *)user_data, transfer);
    if (flow != NULL) flow->live = false;
}

static phi__tape *phi__play_of(void *base) { return (phi__tape *)base; }

/* ---- time ---- */

static void phi__play_set(phi__tape *tape, uint64_t us) {
    phi__tape_sources_set(tape, us);
    tape->reads = 0;
}

static void phi__play_time(phi__tape *tape, const phi__tape_line *line) {
    phi__play_set(tape, line->us);
    phi__io_gaps_set(tape->rt->io, line->gaps_us);
}

static uint64_t phi__play_clock(void *user_data) {
    phi__tape *tape = phi__play_of(user_data);
    if (tape->rt == NULL || tape->rt->in_step || tape->off) return tape->us;
    while (tape->index.at < tape->index.count && tape->index.lines[tape->index.at].used)
        tape->index.at++;
    phi__tape_line *line =
        tape->index.at < tape->index.count ? &tape->index.lines[tape->index.at] : NULL;
    if (line != NULL && line->kind == PHI__TAPE_NOW && line->n == tape->reads) {
        phi__play_time(tape, line);
        line->used = true;
    } else
        tape->reads++;
    return tape->us;
}

static uint64_t phi__play_work_us(void *user_data) {
    (void)user_data;
    return 0; /* with no limit on time, steps do the same work on every machine */
}

static uint64_t phi__play_look_us(phi_tape *base) { return phi__play_of(base)->us; }

/* ---- replaying input ---- */

static bool phi__play_runs(const phi__tape *tape, const phi__toolcall *call) {
    return tape->desc.runs_fn != NULL &&
           tape->desc.runs_fn(tape->desc.user_data, call->block->name);
}

static bool phi__play_is_call(const phi__toolcall *call, const phi_json *root) {
    uint64_t agent = phi__json_get_uint(phi_json_get(root, "agent"), UINT64_MAX);
    return call->run->agent->handle.index == agent &&
           phi_str_equal(call->block->id, phi__records_get_str(root, "id"));
}

static phi__toolcall *phi__play_call(const phi__tape *tape, const phi_json *root) {
    for (uint32_t i = 0; i < tape->rt->calls.count; i++) {
        phi__toolcall *call = phi__tape_call_at(tape, i);
        if (call != NULL && phi__play_is_call(call, root)) return call;
    }
    return NULL;
}

/* Replays an update. Swaps tape->arena, because a hook may give a result, whose line is then
   read. */
static void phi__play_update(phi__tape *tape, const phi_json *root) {
    phi__toolcall *call = phi__play_call(tape, root);
    phi_str text = phi__records_get_str(root, "text");
    const phi_message *message = NULL;
    bool part = phi_json_get(root, "result") != NULL;
    if (call == NULL || phi__play_runs(tape, call)) return;
    if (part) message = phi__tape_read_result(tape, root);
    if (part && message == NULL) {
        phi__match_no_memory(tape);
        return;
    }
    phi_call handle = phi__call_handle(call);
    phi_arena arena = tape->arena;
    phi_arena_init(&tape->arena, &tape->memory, 0);
    if (part) {
        phi_tool_result partial = phi__results_given(message);
        (void)phi_call_update(handle, &partial);
    } else if (phi__records_get_bool(root, "progress"))
        (void)phi__update_progress(handle, text);
    else
        (void)phi__update_text(handle, text);
    phi_arena_free(&tape->arena);
    tape->arena = arena;
}

static phi__played phi__play_line(phi__tape *tape, const phi__tape_line *line) {
    if (line->kind == PHI__TAPE_TIMERS) {
        (void)phi__io_timers(tape->rt->io, INT_MAX);
        return PHI__PLAYED;
    }
    if (line->kind == PHI__TAPE_POSTS) {
        if (!tape->posting) phi__posts_read_all(tape->rt);
        tape->posting = false;
        return PHI__PLAYED;
    }
    if (line->kind == PHI__TAPE_T) {
        phi__play_time(tape, line);
        return PHI__PLAYED;
    }
    const phi_json *root = phi__match_tree(tape, line);
    if (root == NULL) return PHI__PLAY_STOP;
    if (line->kind == PHI__TAPE_RESULT) {
        phi__toolcall *call = phi__play_call(tape, root);
        size_t at = (size_t)(line - tape->index.lines);
        if (call == NULL) {
            phi__match_diverge(tape, at, "the result of a tool", phi__match_line(line),
                               phi_str_of("no such call is waiting for a result"));
            return PHI__PLAY_STOP;
        }
        bool runs = call->started && phi__play_runs(tape, call);
        if (runs && call->held == NULL) return PHI__PLAY_LATER;
        phi_message *message = phi__match_result(tape, root);
        if (message == NULL) return PHI__PLAY_STOP;
        if (runs) phi__match_compare(tape, at, call, message);
        (void)phi__tape_result_settle(call, message);
        return tape->off ? PHI__PLAY_STOP : PHI__PLAYED;
    }
    if (line->kind != PHI__TAPE_UPDATE) return phi__playreq_answer(tape, line, root);
    phi__play_update(tape, root);
    return PHI__PLAYED;
}

/* True if the line is input. Other lines are output of the run, or begin another step. */
static bool phi__play_comes_in(const phi__tape_line *line) {
    switch (line->kind) {
    case PHI__TAPE_T: return line->more;
    case PHI__TAPE_TIMERS:
    case PHI__TAPE_POSTS:
    case PHI__TAPE_STAGE:
    case PHI__TAPE_ANSWER:
    case PHI__TAPE_BYTES:
    case PHI__TAPE_END: return true;
    case PHI__TAPE_RESULT:
    case PHI__TAPE_UPDATE: return !line->start;
    default: return false;
    }
}

/* Replays the next line, if it is unused. False: it must wait. */
static bool phi__play_next(phi__tape *tape) {
    phi__tape_line *line = &tape->index.lines[tape->index.at++];
    if (line->used) return true;
    line->used = true; /* set before the line's callbacks, which may replay the next line */
    if (phi__play_line(tape, line) == PHI__PLAYED) return true;
    line->used = false;
    tape->index.at = (size_t)(line - tape->index.lines);
    return false;
}

/* True if the line must wait until the host's posts were read, because a post may cause the
   line. */
static bool phi__play_after_posts(const phi__tape_line *line) {
    return line->kind == PHI__TAPE_POSTS || line->kind == PHI__TAPE_TIMERS ||
           line->kind == PHI__TAPE_UPDATE;
}

/* Replays input. If `posts` is false, stops before the first line that follows the host's posts. */
static void phi__play_let_in(phi__tape *tape, bool posts) {
    while (tape->open && !tape->off && tape->index.at < tape->index.count) {
        phi__tape_line *line = &tape->index.lines[tape->index.at];
        if (!line->used && !phi__play_comes_in(line)) {
            tape->open = false;
            return;
        }
        if (!posts && phi__play_after_posts(line)) return;
        if (!phi__play_next(tape)) return;
    }
    tape->open = tape->open && tape->index.at < tape->index.count;
}

/* ---- steps ---- */

static void phi__play_missing(phi__tape *tape, size_t at) {
    const phi__tape_line *line = &tape->index.lines[at];
    phi__match_diverge(tape, at,
                       line->kind == PHI__TAPE_REQUEST   ? "a request is missing"
                       : line->kind == PHI__TAPE_CLAIMED ? "a result that is on its way"
                                                         : "the result of a tool's start",
                       phi__match_line(line), phi_str_of("nothing"));
}

/* Skips output of the run, and clock readings that the host did not repeat. True if the next step
   was reached; false at the tape's end, or if output is missing. */
static bool phi__play_pass(phi__tape *tape) {
    for (; tape->index.at < tape->index.count; tape->index.at++) {
        phi__tape_line *line = &tape->index.lines[tape->index.at];
        if (line->used) continue;
        if (line->kind == PHI__TAPE_NOW)
            phi__play_time(tape, line);
        else if (line->kind == PHI__TAPE_T)
            return true;
        else if (line->kind == PHI__TAPE_OVER)
            return false;
        else {
            phi__play_missing(tape, tape->index.at);
            return false;
        }
        line->used = true;
    }
    return false;
}

/* True if the run waits for something that the tape gives: an answer or a recorded result. */
static bool phi__play_waits(const phi__tape *tape) {
    for (size_t n = 0; n < tape->flows.count; n++)
        if (tape->flows.at[n].live) return true;
    for (uint32_t i = 0; i < tape->rt->calls.count; i++) {
        phi__toolcall *call = phi__tape_call_at(tape, i);
        if (call == NULL) continue;
        if (call->held != NULL || (call->started && !phi__play_runs(tape, call))) return true;
    }
    return false;
}

/* Diverges if the run needs more input than the tape has. */
static void phi__play_ends(phi__tape *tape) {
    phi_runtime *rt = tape->rt;
    if (tape->off || rt->active == 0 || rt->ready.first != NULL || phi__posts_any(rt)) return;
    if (!phi__play_waits(tape) && phi__io_next_timer_us(rt->io) == UINT64_MAX) return;
    phi__match_diverge(
        tape, tape->index.at, "the end of the tape",
        phi_str_of(tape->torn ? "the tape was cut off here" : "the recording ends here"),
        phi_str_of("the run goes on"));
}

/* Diverges if the host does not repeat a recorded action in time. */
static void phi__play_wait_host(phi__tape *tape, size_t at) {
    uint64_t now = phi__clock_us();
    uint32_t most_ms = tape->desc.host_wait_ms != 0 ? tape->desc.host_wait_ms : 60000;
    if (!phi__play_waits(tape) && phi__io_next_timer_us(tape->rt->io) == UINT64_MAX) return;
    if (tape->waits_us == 0) tape->waits_us = now;
    if (most_ms == PHI_UNLIMITED || now - tape->waits_us < (uint64_t)most_ms * 1000) return;
    phi__match_diverge(tape, at, "an act of the host", tape->index.lines[at].text,
                       phi_str_of("nothing"));
}

/* True if the tape's next step must begin: the host or a model in the process has caused it, or the
   recorded number of empty steps is over and the step begins with input. */
static bool phi__play_due(phi__tape *tape, size_t at) {
    const phi__tape_line *line = &tape->index.lines[at];
    bool acts =
        tape->rt->ready.first != NULL || tape->rt->polled.first != NULL || phi__posts_any(tape->rt);
    bool comes = at + 1 == tape->index.count || phi__play_comes_in(&tape->index.lines[at + 1]);
    if (!acts && (!comes || tape->idled < line->n)) {
        if (tape->idled < line->n)
            tape->idled++;
        else
            phi__play_wait_host(tape, at);
        return false;
    }
    tape->waits_us = 0;
    return true;
}

/* True if this step is empty on the tape. Skips clock readings that the host has not repeated. */
static bool phi__play_idles(phi__tape *tape) {
    size_t at = tape->index.at;
    while (at < tape->index.count &&
           (tape->index.lines[at].used || tape->index.lines[at].kind == PHI__TAPE_NOW))
        at++;
    if (at == tape->index.count) return false;
    if (tape->index.lines[at].kind == PHI__TAPE_T) return !phi__play_due(tape, at);
    if (tape->index.lines[at].kind != PHI__TAPE_OVER || tape->idled >= tape->index.lines[at].n)
        return false;
    tape->idled++;
    return true;
}

static void phi__play_begin(phi_tape *base) {
    phi__tape *tape = phi__play_of(base);
    tape->posting = false;
    if (!tape->off && !tape->open && !phi__play_idles(tape)) {
        bool more = phi__play_pass(tape);
        if (!more) phi__play_ends(tape);
        if (more) {
            phi__tape_line *line = &tape->index.lines[tape->index.at++];
            line->used = true;
            tape->idled = 0;
            tape->step++;
            tape->open = true;
            phi__play_time(tape, line);
        }
    }
    if (tape->off) {
        /* The replay has stopped. Fails everything that waits for the tape, and sets the time to
           that of the next timer. */
        const char *words = tape->parted.yes ? "the replay has diverged from the recording"
                                             : "the replay found no memory";
        uint64_t next = phi__io_next_timer_us(tape->rt->io);
        for (size_t n = 0; n < tape->flows.count; n++) {
            if (!tape->flows.at[n].live) continue;
            tape->flows.at[n].live = false;
            (void)phi__transfer_end_now(tape->flows.at[n].transfer, PHI_CANCELLED, words);
        }
        for (uint32_t i = 0; i < tape->rt->calls.count; i++) {
            phi__toolcall *call = phi__tape_call_at(tape, i);
            if (call == NULL) continue;
            if (call->held != NULL)
                (void)phi__tape_result_settle(call, call->held);
            else if (call->started && !phi__play_runs(tape, call))
                phi__call_fail(call, words);
        }
        if (tape->rt->ready.first == NULL && next != UINT64_MAX) phi__play_set(tape, next);
        (void)phi__io_timers(tape->rt->io, INT_MAX);
    } else
        phi__play_let_in(tape, false);
}

static void phi__play_rest(phi_tape *base) { phi__play_let_in(phi__play_of(base), true); }
static void phi__play_posted(phi_tape *base) { phi__play_of(base)->posting = true; }

/* ---- tools ---- */

/* Finds this call's next unused line that was recorded inside its tool's start function. */
static phi__tape_line *phi__play_next_of(phi__tape *tape, const phi__toolcall *call,
                                         phi__tape_kind kind, const phi_json **root) {
    phi__tape_line *line = phi__match_next(tape, kind, NULL);
    for (; line != NULL; line = phi__match_next(tape, kind, line)) {
        if (!line->start) continue;
        *root = phi__match_tree(tape, line);
        if (*root == NULL) return NULL;
        if (phi__play_is_call(call, *root)) return line;
    }
    return NULL;
}

static void phi__play_started(phi_tape *base, phi__toolcall *call) {
    phi__tape *tape = phi__play_of(base);
    const phi_json *root = NULL;
    phi__tape_line *line;
    if (tape->off || call->slot == NULL) return;
    while ((line = phi__play_next_of(tape, call, PHI__TAPE_UPDATE, &root)) != NULL)
        line->used = true; /* the tool has repeated this update */
    line = tape->off ? NULL : phi__play_next_of(tape, call, PHI__TAPE_RESULT, &root);
    if (line == NULL) return;
    line->used = true;
    phi_message *message = phi__match_result(tape, root);
    if (message == NULL) return;
    if (call->held != NULL)
        phi__match_compare(tape, (size_t)(line - tape->index.lines), call, message);
    else
        phi__play_missing(tape, (size_t)(line - tape->index.lines));
    (void)phi__tape_result_settle(call, message);
}

/* Replays the recorded result of a tool's start, if there is one. */
static void phi__play_start_result(phi__tape *tape, phi__toolcall *call) {
    const phi_json *root = NULL;
    phi__tape_line *line = phi__play_next_of(tape, call, PHI__TAPE_RESULT, &root);
    if (line == NULL) return;
    line->used = true;
    phi_message *message = phi__match_result(tape, root);
    if (message != NULL) (void)phi__tape_result_settle(call, message);
}

static bool phi__play_start(phi_tape *base, phi__toolcall *call) {
    phi__tape *tape = phi__play_of(base);
    const phi_json *root = NULL;
    phi__tape_line *line;
    if (phi__play_runs(tape, call)) {
        /* The tool's start gave a result now, but not when recorded. */
        if (!phi__call_pending(phi__call_handle(call))) {
            call->held = NULL;
            phi__call_unclaim(call);
        }
        return false;
    }
    if (tape->off) return true;
    call->starting = true;
    while (call->slot != NULL &&
           (line = phi__play_next_of(tape, call, PHI__TAPE_UPDATE, &root)) != NULL) {
        line->used = true;
        phi__play_update(tape, root);
    }
    call->starting = false;
    if (call->slot != NULL && !tape->off) phi__play_start_result(tape, call);
    return true;
}

/* Called after the host has repeated a result. Replays the result at once if its line is next. */
static void phi__play_result_next(phi__tape *tape, const phi__toolcall *call) {
    if (!tape->open || tape->off || tape->index.at == tape->index.count) return;
    const phi__tape_line *line = &tape->index.lines[tape->index.at];
    if (line->kind != PHI__TAPE_RESULT || line->start || line->used) return;
    const phi_json *root = phi__match_tree(tape, line);
    if (root != NULL && phi__play_is_call(call, root)) (void)phi__play_next(tape);
}

/* Holds a new result until its line is replayed. The run then gets the result on the tape. If the
   tool runs, both results are compared. */
static phi_status phi__play_given(phi_tape *base, phi__toolcall *call,
                                  const phi_tool_result *result) {
    phi__tape *tape = phi__play_of(base);
    bool runs = phi__play_runs(tape, call);
    if (tape->off && runs) return phi__call_take(call, result);
    call->held = tape->off ? NULL : phi__results_keep(&call->run->arena, result);
    if (call->held == NULL && runs) return phi__call_take(call, result);
    if (call->held == NULL)
        phi__call_unclaim(call);
    else if (call->starting && !runs)
        phi__play_start_result(tape, call);
    else if (runs)
        phi__play_let_in(tape, false); /* the next line may have waited for this result */
    else
        phi__play_result_next(tape, call);
    return PHI_OK;
}

/* Drops results that the host gave now but not when recorded. */
static void phi__play_all_in(phi_tape *base) {
    phi__tape *tape = phi__play_of(base);
    for (uint32_t i = 0; i < tape->rt->calls.count; i++) {
        phi__toolcall *call = phi__tape_call_at(tape, i);
        if (call == NULL) continue;
        if (call->held == NULL || !call->started || phi__play_runs(tape, call)) continue;
        call->held = NULL;
        phi__call_unclaim(call);
    }
}

static bool phi__play_on_way(phi_tape *base, const phi__toolcall *call, bool on_way) {
    phi__tape *tape = phi__play_of(base);
    phi__tape_line *line = NULL;
    if (tape->off || tape->version < 2) return on_way && (call->held == NULL || !call->started);
    while ((line = phi__match_next(tape, PHI__TAPE_CLAIMED, line)) != NULL) {
        const phi_json *root = phi__match_tree(tape, line);
        if (root == NULL) return on_way;
        if (!phi__play_is_call(call, root)) continue;
        line->used = true;
        return true;
    }
    return false;
}

/* ---- the tape's functions ---- */

static void phi__play_attach(phi_tape *base, phi_runtime *rt, const phi_transport *inner,
                             bool stages) {
    (void)inner;
    (void)stages;
    phi__play_of(base)->rt = rt;
}

static void phi__play_detach(phi_tape *base) { phi__play_of(base)->rt = NULL; }

static const phi__tape_ops phi__play_ops = {
    phi__tape_sources_take, phi__play_attach,  phi__play_detach, phi__play_begin, phi__play_posted,
    phi__play_all_in,       phi__play_look_us, phi__play_on_way, phi__play_given};

static const phi__tape_player phi__play_player = {phi__play_rest, phi__play_start,
                                                  phi__play_started};

/* Diverges if a line was not replayed. */
static void phi__play_end(phi__tape *tape) {
    for (size_t i = tape->index.at; i < tape->index.count && !tape->off; i++) {
        const phi__tape_line *l = &tape->index.lines[i];
        if (l->used || l->kind == PHI__TAPE_NOW || l->kind == PHI__TAPE_OVER ||
            l->kind == PHI__TAPE_T || l->kind == PHI__TAPE_TIMERS || l->kind == PHI__TAPE_POSTS)
            continue;
        phi__match_diverge(tape, i, "the end of the run",
                           phi__str(l->text.at, phi__utf8_cut(l->text, PHI__TAPE_PLAY_WORDS)),
                           phi_str_of("the run has ended"));
        return;
    }
}

/* ---- public ---- */

PHI_API phi_tape *phi_tape_play(const phi_tape_desc *desc, phi_str text, phi_parse_error *error) {
    phi_tape_desc none = PHI_ZERO;
    if (desc == NULL) desc = &none;
    if (error != NULL) {
        memset(error, 0, sizeof *error);
        error->status = PHI_NO_MEMORY;
        (void)snprintf(error->message, sizeof error->message, "no memory");
    }
    phi__tape *tape = phi__tape_new(desc);
    if (tape == NULL) return NULL;
    if (tape->failed != PHI_OK || phi__tape_read(tape, text, error) != PHI_OK) {
        phi_tape_free(&tape->base);
        return NULL;
    }
    tape->base.ops = &phi__play_ops;
    tape->base.player = &phi__play_player;
    tape->base.plays = true;
    tape->base.clock_us_fn = phi__play_clock;
    tape->base.work_us_fn = phi__play_work_us;
    tape->base.transport.open = phi__playreq_open;
    tape->base.transport.resume = phi__playreq_resume;
    tape->base.transport.cancel = phi__playreq_cancel;
    tape->base.transport.user_data = tape;
    return &tape->base;
}

PHI_API phi_status phi_tape_end(phi_tape *base, phi_tape_divergence *divergence) {
    phi__tape *tape = (phi__tape *)base;
    if (tape == NULL) return PHI_BAD_ARG;
    if (!base->plays) {
        phi__records_u64(phi__tape_line_begin(tape, "over"), "idle", tape->idle);
        phi__tape_line_end(tape);
    } else if (!tape->over)
        phi__play_end(tape);
    tape->over = true;
    if (divergence != NULL) *divergence = tape->parted.where;
    if (tape->parted.yes) return PHI_REFUSED;
    return tape->failed == PHI_OK && tape->torn ? PHI_PARSE : tape->failed;
}
