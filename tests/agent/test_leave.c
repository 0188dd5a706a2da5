/* test_leave.c - a runtime that was left in the midst: by a longjmp out of a callback, as by an exception; and one
   that is freed in a child of fork. */
#include "support/update.h"
#include "support/rig.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "loop/provider.h"
#include "loop/run.h"
#include "model/event.h"
#include "model/model.h"
#include "wire/writer.h"
#include "loop/loop_in.h"

#include <poll.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- left by a longjmp ---- */

static jmp_buf out_of_here;

/* The call that leaves, counted over all callbacks; and how often a tool was told to cancel. */
typedef struct leaver {
    int after;
    size_t cancels;
} leaver;

static void leave(leaver *l) {
    if (l->after-- == 0) longjmp(out_of_here, 1);
}

static phi_verdict leave_hook(void *user_data, phi_hook *hook) {
    (void)hook;
    leave((leaver *)user_data);
    return PHI_ALLOW;
}

static phi_flow leave_start(void *user_data, phi_call call, phi_str arguments) {
    (void)call;
    (void)arguments;
    leave((leaver *)user_data);
    return PHI_PENDING;
}

static phi_flow leave_step(void *user_data, phi_call call) {
    leave((leaver *)user_data);
    (void)call_update(call, "half");
    return PHI_DONE;
}

static void leave_cancel(void *user_data, phi_call call) {
    (void)call;
    ((leaver *)user_data)->cancels++;
}

static void leave_field(void *user_data, const phi_field *field) {
    (void)field;
    leave((leaver *)user_data);
}

static phi_status leave_translate(void *user_data, const phi_model *target,
                                  const phi_message *const *messages, size_t count,
                                  phi_arena *arena, const phi_message *const **out,
                                  size_t *out_count) {
    (void)target;
    (void)arena;
    leave((leaver *)user_data);
    *out = messages;
    *out_count = count;
    return PHI_OK;
}

static phi_agent leaving(rig *r, leaver *l, phi_tool *tool, phi_filter *filter) {
    phi_agent_desc desc = rig_desc();
    memset(tool, 0, sizeof *tool);
    tool->name = "work";
    tool->description = "works";
    tool->schema = "{\"type\":\"object\"}";
    tool->start = leave_start;
    tool->step = leave_step;
    tool->cancel = leave_cancel;
    tool->on_field = leave_field;
    tool->user_data = l;
    filter->fn = leave_hook;
    filter->user_data = l;
    desc.tools = tool;
    desc.tool_count = 1;
    desc.input.filters = filter;
    desc.input.filter_count = 1;
    desc.hook_fn = leave_hook;
    desc.hook_points = (PHI_HOOK_CREDENTIAL << 1) - 1; /* all */
    desc.translate_fn = leave_translate;
    desc.user_data = l;
    rig_call(r, "t1", "work", "{\"what\":\"hard\"}");
    rig_says(r, "done");
    return rig_agent(r, &desc);
}

/* One run whose n-th callback leaves; false: it came to its end. */
static bool left_at(int n) {
    rig *volatile r = rig_new();
    phi_tool tool;
    phi_filter filter;
    leaver l;
    phi_agent agent;
    l.after = n;
    l.cancels = 0;
    agent = leaving(r, &l, &tool, &filter);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(phi_steer(agent, "faster"), PHI_OK);
    if (setjmp(out_of_here) == 0) {
        CHECK_EQ_INT(rig_run(r, 200), 0);
        rig_free(r);
        return false;
    }
    CHECK_EQ_INT(phi_step(rig_runtime(r), 0), PHI_MISUSE);
    phi_runtime_abandon(rig_runtime(r));
    CHECK_EQ_INT(phi_step(rig_runtime(r), 0), PHI_MISUSE);
    CHECK_EQ_INT(phi_runtime_close(rig_runtime(r)), PHI_MISUSE);
    rig_free(r);
    return true;
}

TEST(a_runtime_that_a_callback_was_left_in_is_freed_once_it_is_abandoned) {
    int n = 0;
    while (left_at(n) && n < 200) n++;
    CHECK(n > 25 && n < 200);
}

TEST(without_being_abandoned_it_cannot_be_told_from_one_inside_a_callback) {
    rig *volatile r = rig_new();
    phi_tool tool;
    phi_filter filter;
    leaver l;
    phi_agent agent;
    const char *words = NULL;
    l.after = 0;
    l.cancels = 0;
    agent = leaving(r, &l, &tool, &filter);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    if (setjmp(out_of_here) == 0) (void)rig_run(r, 200);
    phi_runtime_free(rig_runtime(r));
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_MISUSE);
    CHECK_EQ_STR(words, "phi_runtime_free inside a callback");
    phi_runtime_abandon(rig_runtime(r));
    rig_free(r);
    phi_runtime_abandon(NULL);
}

/* ---- a model in the process ---- */

static phi_status leave_open(void *user_data, const phi_model_request *request, void **call) {
    (void)request;
    *call = user_data;
    leave((leaver *)user_data);
    return PHI_OK;
}

static phi_poll leave_poll(void *user_data, void *call, phi_answer *answer) {
    (void)call;
    (void)phi_answer_text(answer, phi_str_of("well"));
    leave((leaver *)user_data);
    return PHI_POLL_DONE;
}

static void leave_close(void *user_data, void *call) {
    (void)call;
    ((leaver *)user_data)->cancels++;
}

/* The model's first or second function leaves; how often it was closed. */
static size_t model_left_at(int n) {
    rig *volatile r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_provider provider;
    leaver l;
    phi_agent agent;
    memset(&provider, 0, sizeof provider);
    l.after = n;
    l.cancels = 0;
    provider.protocol = "anthropic";
    provider.user_data = &l;
    provider.open = leave_open;
    provider.poll = leave_poll;
    provider.close = leave_close;
    desc.provider = &provider;
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    if (setjmp(out_of_here) == 0) {
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK(false && "nothing was left");
    }
    phi_runtime_abandon(rig_runtime(r));
    rig_free(r);
    return l.cancels;
}

TEST(a_runtime_whose_model_was_left_is_freed_once_it_is_abandoned) {
    CHECK_EQ_INT(model_left_at(0), 0); /* open never said PHI_OK */
    CHECK_EQ_INT(model_left_at(1), 1);
}

/* ---- fork ---- */

static bool readable(intptr_t fd) {
    struct pollfd p;
    memset(&p, 0, sizeof p);
    p.fd = (int)fd;
    p.events = POLLIN;
    return poll(&p, 1, 0) == 1;
}

TEST(freeing_in_a_child_of_fork_takes_nothing_from_the_parent) {
    rig *r = rig_new();
    phi_runtime *rt = rig_runtime(r);
    int status = 0;
    pid_t child;
    if (phi_runtime_fd(rt) < 0) {
        test_skip("this poller has no descriptor");
        rig_free(r);
        return;
    }
    child = fork();
    if (child == 0) {
        int wrong = phi_runtime_close(rt) != PHI_MISUSE;
        phi_runtime_free(rt);
        wrong |= phi_last_error(rt).status != PHI_MISUSE ||
                 strcmp(phi_last_error(rt).message, "phi_runtime_free in a child of fork") != 0;
        _exit(wrong);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(!readable(phi_runtime_fd(rt)));
    phi_wake(rt);
    CHECK(readable(phi_runtime_fd(rt))); /* the wake-up is still in the epoll set */
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_runtime_that_a_callback_was_left_in_is_freed_once_it_is_abandoned),
          TEST_ENTRY(without_being_abandoned_it_cannot_be_told_from_one_inside_a_callback),
          TEST_ENTRY(a_runtime_whose_model_was_left_is_freed_once_it_is_abandoned),
          TEST_ENTRY(freeing_in_a_child_of_fork_takes_nothing_from_the_parent))
