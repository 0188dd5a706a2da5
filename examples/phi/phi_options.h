/* phi_options.h - the command line of phi.c: its options, its exit codes, and what is piped into it. */
#ifndef PHI_OPTIONS_H
#define PHI_OPTIONS_H

#include "phi_input.h"
#include "phi_places.h"
#include "phi_wants.h"

#include <getopt.h>
#include <unistd.h>

enum { FAILED = 1, UNUSABLE = 2, STOPPED = 3, INTERRUPTED = 130, PIPE_CLOSED = 141 };
enum { OPTIONS_ATTACH = 16 };

static const char options_usage[] =
    "usage: phi [options] [question]      without a question, on a terminal: a chat\n"
    "       phi check FILE                every problem of a configuration\n"
    "       phi models [-c FILE]          the models of a configuration, or the presets\n"
    "       phi schema                    JSON Schema of a configuration, for editors\n"
    "       phi sessions                  the conversations that were begun in this directory\n"
    "       phi doctor [-c FILE]          what works here: keys, servers, the configuration, "
    "folders\n"
    "       phi acp [-c FILE] [-m NAME]   for editors: the Agent Client Protocol over stdin and "
    "stdout\n"
    "  -c, --config FILE    agents, models, tools and rules (default: ./phi.toml, if it is there)\n"
    "      --agent NAME     which agent of the file (default: its first)\n"
    "  -m, --model NAME     :alias of the file, preset, preset:model, or model\n"
    "  -a, --attach FILE    a document, image or sound for the first prompt; may be repeated\n"
    "      --system TEXT    another system prompt\n"
    "      --allow PATTERN  calls that run unasked: \"bash git *\", \"write_file src/**\"; may be "
    "repeated\n"
    "      --yes            every call that would be asked about runs\n"
    "      --plan           only calls that read run: the answer is a plan\n"
    "      --thinking LEVEL off, minimal, low, medium, high, xhigh or max\n"
    "      --max-turns N    model calls for a prompt; --max-cost DOLLARS of a prompt\n"
    "      --continue       goes on with the last conversation of this directory\n"
    "      --session FILE   keeps the conversation there, and continues it (a .jsonl file)\n"
    "      --no-session     keeps nothing of the conversation\n"
    "      --json           each event as a line of JSON on stdout\n"
    "      --record FILE    records the run; --replay FILE plays it without a network\n"
    "      --trace FILE     writes a page about the conversation at the end (.html)\n"
    "  -q, --quiet          on stderr only what is wrong, no tool calls and notes\n"
    "      --help, --version\n"
    "exit codes: 0 ok, 1 the run failed, 2 usage or configuration, 3 a limit or a refusal\n"
    "            ended it, 130 interrupted, 141 nobody read the output\n";

typedef struct options {
    const char *config, *agent, *model, *system, *session, *record, *replay, *trace;
    const char *attach[OPTIONS_ATTACH];
    size_t attach_count;
    const char *command; /* "check", "doctor", "models", "schema", "sessions", "acp"; NULL: none */
    bool json, quiet, resume, forget;
    bool waits; /* for standard input, however long it takes */
    bool found; /* the configuration: nobody named it */
    bool own;   /* it is the user's own: there is none of a project */
    wants wants;
    text question;
} options;

static inline int options_wrong(const char *words, const char *what) {
    text safe = {NULL, 0, 0};
    text_note(&safe, phi_str_of(what));
    (void)fprintf(stderr, "phi: %s%s (phi --help)\n", words, safe.len > 0 ? safe.at : "");
    free(safe.at);
    return UNUSABLE;
}

/* -1: go on; else the program's exit code. */
static inline int options_take(options *o, int letter) {
    switch (letter) {
    case 'c': o->config = optarg; return -1;
    case 'A': o->agent = optarg; return -1;
    case 'a':
        if (o->attach_count == OPTIONS_ATTACH) return options_wrong("at most 16 files: ", optarg);
        o->attach[o->attach_count++] = optarg;
        return -1;
    case 'm': o->model = optarg; return -1;
    case 's': o->system = optarg; return -1;
    case 'S': o->session = optarg; return -1;
    case 'C': o->resume = true; return -1;
    case 'N': o->forget = true; return -1;
    case 'r': o->record = optarg; return -1;
    case 'p': o->replay = optarg; return -1;
    case 't': o->trace = optarg; return -1;
    case 'j': o->json = true; return -1;
    case 'q': o->quiet = true; return -1;
    case 'y': o->wants.yes = true; return -1;
    case 'P': o->wants.plan = true; return -1;
    case 'W':
        if (wants_allow(&o->wants, optarg)) return -1;
        return options_wrong("--allow wants at most 32 patterns such as \"bash git *\", not ",
                             optarg);
    case 'T':
        if (wants_thinking(&o->wants, optarg)) return -1;
        return options_wrong("--thinking: off, minimal, low, medium, high, xhigh or max, not ",
                             optarg);
    case 'n':
        if (wants_turns(&o->wants, optarg)) return -1;
        return options_wrong("--max-turns: a number from 1, not ", optarg);
    case '$':
        if (wants_cost(&o->wants, optarg)) return -1;
        return options_wrong("--max-cost: dollars, as 0.50, not ", optarg);
    case 'h': (void)fputs(options_usage, stdout); return 0;
    case 'v': (void)puts("phi " PHI_VERSION); return 0;
    default: return UNUSABLE;
    }
}

/* All words that are left are the question, or a command and its file. */
static inline int options_rest(options *o, int count, char **words) {
    int i;
    if (count >= 1 && count <= 2 && strcmp(words[0], "check") == 0) {
        o->command = words[0];
        if (count == 2) o->config = words[1];
        return o->config != NULL ? -1 : options_wrong("check: which file?", "");
    }
    if (count == 1 && (strcmp(words[0], "models") == 0 || strcmp(words[0], "schema") == 0 ||
                       strcmp(words[0], "sessions") == 0 || strcmp(words[0], "doctor") == 0 ||
                       strcmp(words[0], "acp") == 0)) {
        o->command = words[0];
        return -1;
    }
    o->waits = count > 0 && strcmp(words[count - 1], "-") == 0;
    if (o->waits) count--;
    for (i = 0; i < count; i++) text_print(&o->question, "%s%s", i > 0 ? " " : "", words[i]);
    return -1;
}

/* What is piped in is the question, or follows it. */
static inline int options_input(options *o) {
    const char *wrong;
    bool late = false;
    if (typed_is_terminal(0) || o->command != NULL) return -1;
    wrong = input_read(&o->question, o->waits, &late);
    if (wrong != NULL) return options_wrong("standard input: ", wrong);
    if (late && !o->quiet)
        (void)fputs("phi: nothing came from standard input in 3 seconds: the question goes without "
                    "it (a \"-\" after the question waits for it)\n",
                    stderr);
    return -1;
}

/* -1: go on; else the program's exit code. */
static inline int options_read(options *o, int argc, char **argv) {
    static const struct option known[] = {
        {"config", 1, NULL, 'c'},   {"agent", 1, NULL, 'A'},     {"model", 1, NULL, 'm'},
        {"system", 1, NULL, 's'},   {"session", 1, NULL, 'S'},   {"record", 1, NULL, 'r'},
        {"replay", 1, NULL, 'p'},   {"trace", 1, NULL, 't'},     {"json", 0, NULL, 'j'},
        {"attach", 1, NULL, 'a'},   {"quiet", 0, NULL, 'q'},     {"help", 0, NULL, 'h'},
        {"version", 0, NULL, 'v'},  {"continue", 0, NULL, 'C'},  {"no-session", 0, NULL, 'N'},
        {"allow", 1, NULL, 'W'},    {"yes", 0, NULL, 'y'},       {"plan", 0, NULL, 'P'},
        {"thinking", 1, NULL, 'T'}, {"max-turns", 1, NULL, 'n'}, {"max-cost", 1, NULL, '$'},
        {NULL, 0, NULL, 0}};
    char character[] = "-?";
    int letter, code = -1;
    places_streams();
    opterr = 0; /* it would show the word as it is */
    while (code < 0 && (letter = getopt_long(argc, argv, "a:c:m:qhV", known, NULL)) != -1) {
        const char *word = argv[optind - 1];
        character[1] = (char)optopt;
        if (letter == '?')
            code = options_wrong("an option is unknown, or lacks its value: ",
                                 strncmp(word, "--", 2) == 0 ? word : character);
        else
            code = options_take(o, letter == 'V' ? 'v' : letter);
    }
    if (code < 0) code = options_rest(o, argc - optind, argv + optind);
    if (code < 0) code = options_input(o);
    if (code >= 0) return code;
    if (!o->command && (o->question.len > 0 || !typed_is_terminal(0)) &&
        (o->question.len == 0 || o->question.at[strspn(o->question.at, " \t\r\n")] == '\0'))
        return options_wrong("there is no question", "");
    if (o->command && o->attach_count > 0)
        return options_wrong("--attach wants a question, or a chat", "");
    if (o->command && strcmp(o->command, "acp") == 0 &&
        (o->record || o->replay || o->trace || o->session || o->resume || o->json))
        return options_wrong("phi acp takes no --json, session, tape or trace: the editor asks",
                             "");
    if ((o->session || o->resume) && (o->record || o->replay))
        return options_wrong(
            "a tape holds one run from its beginning: --session cannot be recorded", "");
    if ((o->resume ? 1 : 0) + (o->forget ? 1 : 0) + (o->session != NULL ? 1 : 0) > 1)
        return options_wrong("--continue, --session or --no-session: one of them", "");
    if (o->wants.plan && (o->wants.yes || o->wants.allow_count > 0))
        return options_wrong("--plan runs only what reads: no --yes and no --allow", "");
    if (o->record && o->replay) return options_wrong("--record or --replay, not both", "");
    if (!o->command && o->question.len == 0 && (o->json || !typed_is_terminal(1)))
        return options_wrong("a chat wants a terminal; give a question", "");
    if (o->config == NULL && (o->command == NULL || strcmp(o->command, "doctor") == 0) &&
        access("phi.toml", R_OK) == 0) {
        o->config = "phi.toml";
        o->found = true;
    }
    return -1;
}

#endif
