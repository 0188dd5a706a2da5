/* budget.c - two agents on one budget, and a person who is asked when it is spent.

   The chief has a budget and makes no call of its own; two scouts below it work at the same time, and each
   of their calls is reserved in the chief's budget before it is sent. So both together cannot spend more,
   whatever they do. A run that finds no room pauses, and the person says whether there is more money.
   usage: budget [dollars] */
#include "phi.h"
#include "pick_model.h"
#include "typed.h"

enum { SCOUTS = 2, QUESTIONS = 16 };

typedef struct app {
    phi_runtime *rt;
    phi_agent chief, scouts[SCOUTS];
    double dollars;
    bool asked;
    typed keys;
} app;

static phi_flow look_start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data, (void)arguments;
    phi_call_replyf(call, "It is quiet at the %s.", phi_call_arg_str(call, "place", "gate"));
    return PHI_DONE;
}

static phi_agent_desc describe(void) {
    phi_agent_desc desc = PHI_ZERO;
    const char *why;
    desc.model = pick_model(&why);
    desc.model.cost.input =
        3; /* dollars per million tokens; without rates nothing costs anything */
    desc.model.cost.output = 15;
    desc.model.cost.cache_read = 0.3;
    desc.model.cost.cache_write = 3.75;
    desc.max_tokens = 1000; /* the most that one call can say is what is reserved for it */
    return desc;
}

static bool make(app *a) {
    static const char schema[] = "{\"type\":\"object\",\"properties\":{\"place\":{\"type\":"
                                 "\"string\"}},\"required\":[\"place\"]}";
    phi_agent_desc desc = describe();
    phi_tool look = PHI_ZERO;
    int i;
    desc.budget.max_cost = a->dollars;
    a->chief = phi_agent_new(a->rt, &desc);
    look.name = "look_at";
    look.description = "Looks at a place.";
    look.schema = schema;
    look.start = look_start;
    desc = describe();
    desc.parent = a->chief;
    desc.system_prompt = "You are a scout. Look at places, one after another, then report.";
    desc.tools = &look;
    desc.tool_count = 1;
    desc.limits.pause = true; /* without it a run ends where the budget does */
    for (i = 0; i < SCOUTS; i++) {
        a->scouts[i] = phi_agent_new(a->rt, &desc);
        if (phi_prompt(a->scouts[i], i == 0 ? "Go north." : "Go south.") != PHI_OK) return false;
    }
    return true;
}

static int scout_of(const app *a, phi_agent agent) {
    int i = 0;
    while (i < SCOUTS - 1 && a->scouts[i].index != agent.index) i++;
    return i;
}

static void show(const app *a, const phi_event *ev) {
    int n = scout_of(a, ev->agent) + 1;
    switch (ev->kind) {
    case PHI_EV_TOOL_START: printf("scout %d looks at %.*s\n", n, PHI_ARG(ev->arguments)); break;
    case PHI_EV_MESSAGE_END:
        if (ev->message->role == PHI_ROLE_ASSISTANT && ev->message->content_count > 0 &&
            ev->message->content[0].kind == PHI_CONTENT_TEXT)
            printf("scout %d says: %.*s\n", n, PHI_ARG(ev->message->content[0].text));
        break;
    case PHI_EV_PAUSED: printf("scout %d pauses: %.*s\n", n, PHI_ARG(ev->text)); break;
    case PHI_EV_ERROR: printf("scout %d: %.*s\n", n, PHI_ARG(ev->text)); break;
    case PHI_EV_AGENT_END: printf("scout %d: %s\n", n, phi_status_text(ev->status)); break;
    default: break;
    }
}

static bool somebody_pauses(const app *a) {
    phi_pending_item items[QUESTIONS];
    size_t n = phi_pending(a->rt, items, QUESTIONS), i;
    for (i = 0; i < n && i < QUESTIONS; i++)
        if (items[i].kind == PHI_WAITING_BUDGET) return true;
    return false;
}

/* One question for all who pause: the budget that is spent is the chief's. */
static void ask(app *a) {
    char line[64];
    phi_raise more = PHI_ZERO;
    int got, i;
    if (!somebody_pauses(a)) return;
    if (!a->asked) printf("another $%.2f? y or n: ", a->dollars);
    a->asked = true;
    fflush(stdout);
    got = typed_line(&a->keys, line, sizeof line);
    if (got == 0) return;
    a->asked = false;
    more.cost = a->dollars;
    if (got > 0 && line[0] == 'y') {
        if (phi_budget_raise(a->chief, &more) != PHI_OK) printf("(not raised)\n");
        (void)phi_step(a->rt, 0); /* those who paused go on, before it is asked again */
    } else {
        for (i = 0; i < SCOUTS; i++) (void)phi_stop(a->scouts[i]);
    }
}

static void work(app *a) {
    phi_event ev;
    int runs;
    do {
        runs = phi_step(a->rt, 20);
        while (phi_next_event(a->rt, &ev)) show(a, &ev);
        ask(a);
    } while (runs > 0);
}

int main(int argc, char **argv) {
    static app a;
    phi_spending spent;
    int i, code = 0;
    a.dollars = argc > 1 ? strtod(argv[1], NULL) : 0.10;
    a.rt = phi_runtime_new(NULL);
    if (a.rt == NULL) {
        printf("no runtime: out of memory, or libcurl cannot be used\n");
        return 1;
    }
    if (make(&a)) {
        work(&a);
        for (i = 0; i < SCOUTS; i++)
            printf("scout %d spent $%.4f\n", i + 1, phi_agent_get_info(a.scouts[i]).cost);
        spent = phi_agent_get_info(a.chief).spending;
        printf("together $%.4f, %u calls\n", spent.cost, (unsigned)spent.requests);
    } else {
        printf("! %s\n", phi_last_error(a.rt).message);
        code = 1;
    }
    phi_runtime_free(a.rt);
    return code;
}
