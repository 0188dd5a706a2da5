/* coding_agent.c - an assistant that works in a directory: it explores with sub-agents, edits and runs commands when
   you allow it, and keeps within a budget.

   The built-in tools do the work. Sub-agents named "explore" look around, any number at a time, each with a history
   of its own, and cannot change anything. A policy decides about each call: reading is allowed, changes and
   commands are asked about, and pushing is refused.
       y   it runs        n [reason]   it does not, and the model reads the reason
   usage: coding_agent [directory] [task] [dollars] */
#include "phi_tools.h"
#include "pick_model.h"
#include "typed.h"

enum { QUESTIONS = 32 };

typedef struct app {
    phi_runtime *rt;
    phi_toolset set;
    phi_agent_desc exploring;
    phi_subagent_desc explorer;
    phi_tool readers[PHI_TOOL_COUNT], tools[PHI_TOOL_COUNT + 1];
    size_t tool_count;
    phi_ticket asked;
    typed keys;
} app;

static bool is(phi_str text, const char *name) {
    return text.len == strlen(name) && memcmp(text.at, name, text.len) == 0;
}

static bool reads_only(phi_str tool) {
    return is(tool, "read_file") || is(tool, "list_files") || is(tool, "search") ||
           is(tool, "explore");
}

static bool holds(phi_str text, const char *part) {
    size_t n = strlen(part), i;
    for (i = 0; i + n <= text.len; i++)
        if (memcmp(text.at + i, part, n) == 0) return true;
    return false;
}

/* The policy. It is called inside phi_step, so it does not wait itself: PHI_WAIT asks the person. */
static phi_verdict policy(void *user_data, phi_hook *hook) {
    const app *a = (const app *)user_data; /* NULL: a sub-agent's call */
    if (holds(hook->arguments, "git push")) {
        hook->reply = phi_str_of("Pushing is left to people.");
        return PHI_DENY;
    }
    if (reads_only(hook->tool_name)) return PHI_ALLOW;
    return a != NULL ? PHI_WAIT : PHI_DENY;
}

/* ---- the screen ---- */

static void show(const phi_event *ev) {
    switch (ev->kind) {
    case PHI_EV_TEXT: printf("%.*s", PHI_ARG(ev->text)); break;
    case PHI_EV_TOOL_START:
        printf("\n[%.*s] %.*s\n", PHI_ARG(ev->tool_name), PHI_ARG(ev->arguments));
        break;
    case PHI_EV_TOOL_UPDATE: /* of a sub-agent: its words, and the tools that it calls */
        if (ev->child_loop_id.len > 0) printf("  | %.*s\n", PHI_ARG(ev->text));
        break;
    case PHI_EV_TOOL_END:
        if (ev->is_error && ev->message->content_count > 0)
            printf("[failed] %.*s\n", PHI_ARG(ev->message->content[0].text));
        break;
    case PHI_EV_ERROR: printf("\n! %.*s\n", PHI_ARG(ev->text)); break;
    default: break;
    }
    fflush(stdout);
}

/* The oldest call that waits for a yes or a no. */
static bool question(const app *a, phi_pending_item *out) {
    phi_pending_item items[QUESTIONS];
    size_t n = phi_pending(a->rt, items, QUESTIONS), i;
    for (i = 0; i < n && i < QUESTIONS; i++)
        if (items[i].kind == PHI_WAITING_DECISION) {
            *out = items[i];
            return true;
        }
    return false;
}

static void ask(app *a) {
    char line[512];
    phi_pending_item item;
    int got;
    if (!question(a, &item)) return;
    if (item.ticket.index != a->asked.index || item.ticket.gen != a->asked.gen) {
        printf("\n%.*s %.*s\nmay it? y or n [reason]: ", PHI_ARG(item.tool_name),
               PHI_ARG(item.arguments));
        fflush(stdout);
        a->asked = item.ticket;
    }
    got = typed_line(&a->keys, line, sizeof line);
    if (got < 0)
        (void)phi_decide(item.ticket, PHI_DENY, NULL); /* nobody is there */
    else if (got > 0 && line[0] == 'y')
        (void)phi_decide(item.ticket, PHI_ALLOW, NULL);
    else if (got > 0)
        (void)phi_decide(item.ticket, PHI_DENY, line[0] == 'n' && line[1] == ' ' ? line + 2 : NULL);
}

/* ---- the agent ---- */

static bool make_tools(app *a, const char *directory) {
    phi_tools_desc workshop = PHI_ZERO;
    size_t i;
    workshop.workspace = directory;
    if (phi_tools_init(&a->set, &workshop) != PHI_OK) return false;
    a->exploring.system_prompt =
        "You explore a source tree for a programmer. Answer the task alone, with file names.";
    a->exploring.tools = a->readers;
    a->exploring.limits.max_turns = 12;
    a->exploring.hook_fn = policy; /* without a model of its own it has the caller's */
    a->exploring.hook_points = PHI_HOOK_BEFORE_TOOL;
    a->explorer.name = "explore";
    a->explorer.description = "Looks around in the directory for you, and reports. Call it several "
                              "times at once for questions that do not depend on each other.";
    a->explorer.agent = &a->exploring;
    a->explorer.keep = 8;
    for (i = 0; i < a->set.count; i++) {
        a->tools[a->tool_count++] = a->set.tools[i];
        if (reads_only(phi_str_of(a->set.tools[i].name)))
            a->readers[a->exploring.tool_count++] = a->set.tools[i];
    }
    a->tools[a->tool_count++] = phi_subagent_tool(&a->explorer);
    return true;
}

static phi_agent make_agent(app *a, double dollars) {
    phi_agent_desc desc = PHI_ZERO;
    const char *why = "";
    desc.model = pick_model(&why);
    desc.system_prompt = "You are a programmer. Explore first, then make small changes, then check "
                         "them. Some calls need a person's approval.";
    desc.tools = a->tools;
    desc.tool_count = a->tool_count;
    desc.hook_fn = policy;
    desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    desc.user_data = a;
    desc.deadlines.decision_ms = PHI_UNLIMITED;
    desc.budget.max_cost = dollars; /* the sub-agents' model calls, too */
    desc.budget.max_requests = 200; /* where the price is not known */
    return phi_agent_new(a->rt, &desc);
}

static void work(app *a) {
    phi_event ev;
    int runs;
    do {
        runs = phi_step(a->rt, 20);
        while (phi_next_event(a->rt, &ev)) show(&ev);
        ask(a);
    } while (runs > 0);
}

int main(int argc, char **argv) {
    static app a;
    phi_spending spent;
    phi_agent agent;
    a.rt = phi_runtime_new(NULL);
    if (a.rt == NULL) {
        printf("no runtime: out of memory, or libcurl cannot be used\n");
        return 1;
    }
    if (!make_tools(&a, argc > 1 ? argv[1] : ".")) {
        printf("there is no directory %s\n", argv[1]);
        phi_runtime_free(a.rt);
        return 1;
    }
    agent = make_agent(&a, argc > 3 ? strtod(argv[3], NULL) : 1.00);
    if (phi_prompt(agent, argc > 2 ? argv[2] : "Say what this project is.") != PHI_OK) {
        printf("! %s\n", phi_last_error(a.rt).message);
        phi_runtime_free(a.rt);
        return 1;
    }
    work(&a);
    spent = phi_agent_get_info(agent).spending;
    printf("\n%u model calls, %u tokens, $%.4f\n", (unsigned)spent.requests, (unsigned)spent.tokens,
           spent.cost);
    phi_runtime_free(a.rt);
    return 0;
}
