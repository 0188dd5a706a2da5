/* approve.c - a person says whether a tool runs, and the frames go on meanwhile.

   Permissions allow what only looks, deny what destroys, and ask about the rest: the question waits
   until phi lists it, and the answer is given with phi_decide, any number of frames later:
       y                 it runs
       n [reason]        it does not, and the model reads the reason
       e ARGUMENTS       it runs with these arguments (JSON) in place of the model's
   usage: approve [directory] [task] */
#include "phi_tools.h"
#include "pick_model.h"
#include "typed.h"

#include <time.h>

enum { QUESTIONS = 16 };

typedef struct app {
    phi_runtime *rt;
    phi_permissions *permissions;
    phi_ticket asked; /* the question on the screen */
    typed keys;
    unsigned frames, frames_asked; /* all, and those with a question on the screen */
} app;

/* Called for what the rules ask about, inside phi_step: it must not wait, but it may say that the
   run has to. */
static phi_verdict question_later(void *user_data, phi_hook *hook) {
    (void)user_data;
    (void)hook;
    return PHI_WAIT;
}

static void show(const phi_event *ev) {
    const phi_message *m = ev->message;
    switch (ev->kind) {
    case PHI_EV_TEXT: printf("%.*s", PHI_ARG(ev->text)); break;
    case PHI_EV_TOOL_START:
        printf("\n[runs] %.*s %.*s\n", PHI_ARG(ev->tool_name), PHI_ARG(ev->arguments));
        break;
    case PHI_EV_MESSAGE_END: /* of a call that was denied, too, which has no TOOL_START */
        if (m->role == PHI_ROLE_TOOL_RESULT && m->content_count > 0)
            printf("\n[%s] %.*s\n", m->is_error ? "refused or failed" : "result",
                   PHI_ARG(m->content[0].text));
        break;
    case PHI_EV_ERROR: printf("\n! %.*s\n", PHI_ARG(ev->text)); break;
    case PHI_EV_AGENT_END: printf("\n[%s]\n", phi_status_text(ev->status)); break;
    default: break;
    }
    fflush(stdout);
}

/* The oldest question that nobody has answered; false: there is none. */
static bool question(app *a, phi_pending_item *out) {
    phi_pending_item items[QUESTIONS];
    size_t n = phi_pending(a->rt, items, QUESTIONS), i;
    for (i = 0; i < n && i < QUESTIONS; i++) {
        if (items[i].kind != PHI_WAITING_DECISION) continue;
        *out = items[i];
        return true;
    }
    return false;
}

static void decide(phi_ticket ticket, const char *line) {
    phi_verdict verdict = line[0] == 'n' ? PHI_DENY : PHI_ALLOW;
    const char *reply = line[0] != 'y' && line[1] == ' ' ? line + 2 : NULL;
    phi_status status = PHI_OK;
    if (strchr("yne", line[0]) == NULL || line[0] == '\0') {
        printf("y, n [reason] or e ARGUMENTS: ");
        fflush(stdout);
        return;
    }
    status = phi_decide(ticket, verdict, reply);
    if (status == PHI_FULL) printf("(too much is said at once: once more, please)\n");
    if (status == PHI_BAD_ARG) printf("(too long)\n");
    if (status == PHI_STALE)
        printf("(too late)\n"); /* a deadline has passed, or the run was aborted */
}

/* Without a reply there is always room. */
static void refuse(phi_ticket ticket) {
    if (phi_decide(ticket, PHI_DENY, "There is nobody to ask.") == PHI_FULL)
        (void)phi_decide(ticket, PHI_DENY, NULL);
}

/* What a game would do in its own dialog: put the question up, and look for the answer each frame. */
static void ask(app *a) {
    char line[2048];
    phi_pending_item item;
    int got;
    if (!question(a, &item)) return;
    a->frames_asked++;
    if (item.ticket.index != a->asked.index || item.ticket.gen != a->asked.gen) {
        printf("\n[may it?] %.*s %.*s\ny, n [reason] or e ARGUMENTS: ", PHI_ARG(item.tool_name),
               PHI_ARG(item.arguments));
        fflush(stdout);
        a->asked = item.ticket;
    }
    got = typed_line(&a->keys, line, sizeof line);
    if (got > 0) decide(item.ticket, line);
    if (got < 0) refuse(item.ticket);
}

static int play(app *a) {
    struct timespec rest = {0, 16666667}; /* input, physics, drawing */
    phi_event ev;
    int runs = 1;
    while (runs > 0) {
        runs = phi_step(a->rt, 0);
        while (phi_next_event(a->rt, &ev)) show(&ev);
        ask(a);
        a->frames++;
        nanosleep(&rest, NULL);
    }
    printf("%u frames, %u of them with a question on the screen\n", a->frames, a->frames_asked);
    return runs;
}

int main(int argc, char **argv) {
    static phi_toolset set;
    static app a;
    phi_tools_desc workshop = PHI_ZERO;
    phi_permissions_desc rules = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    const char *why = "";
    int failed;
    workshop.workspace = argc > 1 ? argv[1] : ".";
    if (phi_tools_init(&set, &workshop) != PHI_OK) {
        printf("there is no directory %s\n", workshop.workspace);
        return 1;
    }
    rules.ask_fn = question_later; /* by the default rules: see docs/permissions.md */
    a.permissions = phi_permissions_new(&rules, NULL);
    a.rt = phi_runtime_new(NULL);
    if (a.rt == NULL || a.permissions == NULL) {
        printf("no runtime: out of memory, or libcurl cannot be used\n");
        return 1;
    }
    desc.model = pick_model(&why);
    desc.system_prompt = "You work in a directory. Some of your tools need a person's approval.";
    desc.tools = set.tools;
    desc.tool_count = set.count;
    desc.hook_fn = phi_permissions_hook;
    desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    desc.hook_user_data = a.permissions;
    desc.deadlines.decision_ms =
        PHI_UNLIMITED; /* the person may be at lunch (default: five minutes) */
    if (phi_prompt(phi_agent_new(a.rt, &desc), argc > 2 ? argv[2] : "Tidy up.") != PHI_OK) {
        printf("! %s\n", phi_last_error(a.rt).message);
        phi_runtime_free(a.rt);
        phi_permissions_free(a.permissions);
        return 1;
    }
    failed = play(&a) < 0;
    phi_runtime_free(a.rt);
    phi_permissions_free(a.permissions);
    return failed;
}
