/* phi.c - the command: asks an agent a question, or talks with it in the terminal.

       phi "Which files are new here?"         the answer on stdout, tool calls on stderr
       git diff | phi "Review this"            a question about standard input
       phi                                     a chat: docs/phi.md has its keys
       phi -c agent.toml                       the agents, models, tools and rules of a file
       phi acp                                 for an editor that speaks the Agent Client Protocol */
#define PHI_IMPLEMENTATION
#include "phi_tools.h"

#include "phi/phi_acp.h"
#include "phi/phi_app.h"
#include "phi/phi_below.h"
#include "phi/phi_prompt.h"
#include "phi/phi_setup.h"

enum { WAITS = 256, LOOK_MS = 100, DRAWN = 5 + QUESTION_ROWS + LIVE_ROWS + LINE_ROWS + MENU_ROWS };

/* ---- permission ---- */

/* True if somebody can answer. */
static bool person(const app *a) {
    return a->acp || (typed_is_terminal(0) && !a->o.json &&
                      (a->chat || a->o.question.len == 0 || typed_is_terminal(2)));
}

/* Called for calls that the rules ask about. */
static phi_verdict ask(void *user_data, phi_hook *hook) {
    app *a = (app *)user_data;
    phi_verdict given = apply_answer(a, hook);
    if (given != PHI_WAIT || person(a)) return given;
    hook->reply = phi_str_of("Nobody is there to allow this call.");
    if (hook->agent.index != a->agent.index) /* whose events do not show it */
        note(a, STYLE_BAD, "* %.*s (not run: nobody is there to allow it)",
             PHI_ARG(hook->tool_name));
    return PHI_DENY;
}

/* What was typed before a question appeared is no answer to it; but Esc and Ctrl+C stop. */
static void press(app *a, int key);
static void drop_keys(app *a) {
    int key;
    if (!a->chat) keys_forget();
    if (!a->chat) a->typed.len = 0;
    while (a->chat && keys_read(&a->keys))
        while ((key = keys_next(&a->keys)) != KEY_NONE && key != KEY_CLOSED)
            if (key == KEY_ESCAPE || key == KEY_CTRL('C')) press(a, key);
}

static phi_permission_call call_of(const phi_pending_item *item) {
    phi_permission_call call = PHI_ZERO;
    call.tool_name = item->tool_name;
    call.arguments = item->arguments;
    call.source = item->source;
    return call;
}

/* What "always" would add: to the rules that ask. */
static void propose(app *a, const phi_pending_item *item, phi_permission_rules *rules,
                    phi_str *why) {
    static const phi_permission_scope scopes[] = {PHI_PERMISSION_SCOPE_KIND,
                                                  PHI_PERMISSION_SCOPE_EXACT};
    phi_permission_call call = call_of(item);
    phi_status status = PHI_REJECTED;
    int i;
    for (i = 0; i < 2 && status == PHI_REJECTED && item->permissions != NULL; i++)
        status = phi_permissions_always(item->permissions, &call, scopes[i], &a->arena, rules, why);
    if (status != PHI_OK) rules->count = 0;
    if (status == PHI_OK) *why = phi_str_of("");
}

static void begin_question(app *a, const phi_pending_item *item) {
    phi_permission_rules rules = PHI_ZERO;
    phi_str why = PHI_ZERO;
    phi_pending_item waiting = phi_agent_get_info(a->agent).waiting;
    drop_keys(a);
    phi_arena_free(&a->arena);
    a->q.nested = !phi_str_equal(item->loop_id, waiting.loop_id);
    a->q.reads = a->folded.watches;
    question_set(&a->q, item, &a->arena);
    if (item->kind == PHI_WAITING_DECISION) propose(a, item, &rules, &why);
    question_always(&a->q, &rules, why);
    a->q.asking = true;
    keys_resized = 1; /* all of it is drawn */
}

static bool is_asked(const app *a, const phi_pending_item *item) {
    return a->q.asking && a->q.item.kind == item->kind &&
           a->q.item.ticket.gen == item->ticket.gen && a->q.item.ticket.index == item->ticket.index;
}

/* The first thing that waits for a person: the one that is asked about, as long as it waits. What a hook script decides
   does not. */
static bool ask_next(app *a) {
    phi_pending_item items[WAITS];
    const phi_pending_item *first = NULL;
    size_t n = phi_pending(a->rt, items, WAITS), i;
    for (i = 0; i < n && i < WAITS; i++) {
        phi_pending_item *item = &items[i];
        bool tool = item->kind == PHI_WAITING_DECISION && item->point == PHI_HOOK_BEFORE_TOOL;
        phi_permission_call call = call_of(item);
        if (item->quiet || (!tool && item->kind != PHI_WAITING_BUDGET)) continue;
        if (tool) kept_into(&a->always, item->permissions, &a->arena); /* a sub-agent's, too */
        if (tool && item->permissions != NULL &&
            phi_permissions_check(item->permissions, &call, NULL) == PHI_PERMISSION_ALLOW)
            (void)phi_decide(item->ticket, PHI_ALLOW, NULL); /* by an "always" of before */
        else if (is_asked(a, item))
            return true;
        else if (first == NULL)
            first = item;
    }
    if (first != NULL) begin_question(a, first);
    return a->q.asking = first != NULL;
}

static void decide(app *a, char answer) {
    phi_raise by = apply_more(a->q.item.payer);
    const phi_pending_item *item = &a->q.item;
    bool yes = answer != 'n', keeps = false;
    if (a->chat && !a->q.above) show_question(a);
    if (item->kind == PHI_WAITING_BUDGET) {
        (void)(yes ? phi_budget_raise(item->payer, &by) : phi_abort(item->agent));
    } else {
        if (yes && a->q.change) folded_note(&a->folded, item->tool_call_id, NULL, true);
        if (answer == 'a') {
            (void)phi_permissions_add(item->permissions, a->q.always.rules, a->q.always.count);
            keeps = kept_add(&a->always, &a->q.always, &a->arena);
        }
        (void)phi_decide(item->ticket, yes ? PHI_ALLOW : PHI_DENY,
                         yes ? NULL : "The user said no.");
    }
    note(a, STYLE_DIM,
         answer == 'a' ? keeps ? "(always, in this directory)" : "(always, until phi ends)"
         : yes         ? "(yes)"
                       : "(no)");
    (void)phi_step(a->rt, 0); /* the decision is seen before the next question */
    a->q.asking = false;
}

/* ---- setting up ---- */

/* Which calls may run, where the configuration has no rules; what its rules ask about is asked here, too. */
static int open_permissions(app *a) {
    static char directory[4096];
    phi_permissions_desc desc = PHI_ZERO;
    phi_parse_error error = PHI_ZERO;
    a->desc.deadlines.decision_ms = person(a) ? PHI_UNLIMITED : 1;
    if (places_here(directory, sizeof directory)) desc.workspace = directory;
    if (a->place.len > 0) desc.workspace = a->place.at;
    desc.home = places_home();
    if (a->config != NULL)
        error.status = phi_config_protected_paths(a->config, &a->arena, &desc.protected_paths);
    if (error.status == PHI_OK) a->answers = wants_permissions(&a->o.wants, desc, &error);
    if (a->answers == NULL && a->o.wants.allow_count > 0)
        return complain(a, "--allow", error.message);
    if (a->o.wants.plan) /* over the rules of a file, too */
        desc.rules = phi_permissions_mode(PHI_PERMISSION_MODE_PLAN);
    else if (phi_json_get(phi_config_tree(a->config), "permissions") != NULL)
        return 0;
    desc.ask_fn = ask;
    desc.user_data = a;
    if (error.status == PHI_OK) a->permissions = phi_permissions_new(&desc, &error);
    if (a->permissions == NULL) return complain(a, phi_status_text(error.status), error.message);
    a->desc.hook_fn = phi_permissions_hook;
    a->desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    a->desc.hook_user_data = a->permissions;
    return 0;
}

static int agent_of_config(app *a) {
    phi_agents_desc with = PHI_ZERO;
    phi_agent_desc to = PHI_ZERO;
    text prompt = {NULL, 0, 0};
    if (a->o.own) own_defaults(a, &prompt);
    with.base = &a->desc;
    with.ask_fn = ask;
    with.ask_user_data = a;
    with.hide_keys = a->o.found;
    a->agents = commands_agents(a->rt, a->config, with, a->o.replay != NULL);
    a->desc.system_prompt = NULL; /* copied */
    free(prompt.at);
    if (commands_problems(a->config, a->agents, stderr, a->o.quiet) > 0) return UNUSABLE;
    if (phi_agents_step(a->agents) == PHI_BUSY)
        return keys_signal ? INTERRUPTED : complain(a, a->o.replay, "an MCP server is not ready");
    a->agent = phi_agents_get(a->agents, a->o.agent);
    if (a->agent.rt == NULL) return complain(a, "the file has no such agent", a->o.agent);
    while (phi_agents_at(a->agents, a->which)->agent.index != a->agent.index) a->which++;
    if (!a->o.own || phi_json_path(phi_config_tree(a->config), "provider.model") != NULL)
        a->why = a->o.config;
    to.system_prompt = a->o.system;
    if (a->o.system != NULL) (void)phi_agent_set(a->agent, &to, PHI_SET_SYSTEM_PROMPT);
    if (a->o.model == NULL) return 0;
    if (!choose_model(a, &to.model)) return UNUSABLE;
    (void)apply_model(a, &to.model);
    if (phi_agent_set(a->agent, &to, PHI_SET_MODEL) == PHI_OK) return 0;
    return complain(a, "-m", last_error(a));
}

/* Asks if the file of the directory may be used, unless that is known. 0, or the program's exit code. */
static int look_at_found(app *a) {
    int answer;
    if (!a->o.found) return 0;
    if (!trust_open(&a->trust, a->o.config, &a->arena)) {
        note(a, STYLE_BAD, "phi: ./phi.toml is not used: %s (look at it, and name it: -c phi.toml)",
             a->trust.why);
        return UNUSABLE;
    }
    if (!trust_kept(&a->trust, false)) {
        if (!person(a)) {
            note(a, STYLE_BAD,
                 "phi: nobody has trusted ./phi.toml (look at it, and name it: -c "
                 "phi.toml; or start phi in a terminal)");
            return UNUSABLE;
        }
        do {
            keys_resized = 0;
            (void)screen_measure(&a->screen);
            answer = trust_ask(&a->trust, a->screen.columns, a->screen.rows, &a->typed);
        } while (answer < 0);
        if (answer == 0) {
            note(a, STYLE_DIM, "(./phi.toml is not used)");
            a->o.config = NULL;
            a->o.found = false;
            if (keys_signal) return INTERRUPTED;
            return a->o.agent != NULL ? complain(a, "--agent is one of that file", NULL) : 0;
        }
        if (!trust_kept(&a->trust, true)) note(a, STYLE_BAD, "(that could not be kept)");
    }
    note(a, STYLE_DIM, "phi: using ./phi.toml");
    return 0;
}

/* 0, or the program's exit code. */
static int set_up(app *a) {
    text words = {NULL, 0, 0};
    phi_runtime_desc desc = PHI_ZERO;
    const char *why = "";
    int code = 0;
    if (!files_open_tape(&a->tape, a->o.record, a->o.replay, &words))
        code = complain(a, words.at, NULL);
    desc.use_environment = true, desc.ca_file = pick_env("SSL_CERT_FILE");
    desc.features = PHI_ALL_FEATURES; /* a file may want any of them */
    desc.tape = a->tape.tape;
    desc.error = &why;
    if (code == 0 && (a->rt = phi_runtime_new(&desc)) == NULL) code = complain(a, why, NULL);
    if (code == 0) code = look_at_found(a);
    if (code == 0) code = load_config(a);
    if (code == 0) code = open_session(a);
    if (code == 0) code = open_permissions(a);
    if (code == 0) code = a->o.config != NULL ? agent_of_config(a) : agent_of_environment(a);
    if (code == 0) code = apply_wants(a);
    words.len = 0;
    if (code == 0 && (!files_use_session(&a->session, a->agent, &words) ||
                      !attach_open(&a->attached, a->agent, a->o.attach, a->o.attach_count, &words)))
        code = complain(a, words.at, NULL);
    free(words.at);
    return code;
}

static int tear_down(app *a, int code) {
    text words = {NULL, 0, 0};
    char why[256] = "";
    phi_trace_desc of = PHI_ZERO;
    uint64_t end = keys_now_ms() + 3000; /* what has not ended by then is killed */
    of.agent = a->agent;
    if (a->o.trace != NULL && a->agent.rt != NULL &&
        phi_trace_write(NULL, PHI_TRACE_HTML, &of, a->o.trace, why, sizeof why) != PHI_OK) {
        (void)complain(a, a->o.trace, why);
        code = FAILED;
    }
    while (a->rt != NULL && phi_runtime_close(a->rt) == PHI_BUSY && keys_now_ms() < end)
        (void)phi_step(a->rt, 10);
    phi_agents_free(a->agents);
    phi_config_free(a->config);
    phi_runtime_free(a->rt);
    phi_permissions_free(a->permissions);
    phi_permissions_free(a->answers);
    phi_file_store_close(&a->session.store);
    if (!files_close_tape(&a->tape, &words)) {
        (void)complain(a, words.at, NULL);
        code = FAILED;
    }
    phi_arena_free(&a->arena);
    attach_free(&a->attached);
    calls_free(a->calls);
    question_free(&a->q);
    live_free(&a->live);
    markdown_free(&a->markdown);
    folded_free(&a->folded);
    free(a->todo.words.at);
    trust_free(&a->trust);
    own_free(&a->own);
    sessions_free(&a->kept);
    typing_free(&a->typing);
    screen_free(&a->screen);
    line_free(&a->line);
    free(words.at);
    free(a->o.question.at);
    if (a->screen.gone == 0) return code;
    return a->screen.gone == EPIPE ? PIPE_CLOSED : a->screen.gone == EINTR ? INTERRUPTED : FAILED;
}

/* ---- one question ---- */

/* A word and Enter, typed at the terminal that stderr is, too. Where not all of it fits, all of it comes first. After a
   note, in another window, and behind a shell it is printed again, so that nothing scrolls it away. */
static void ask_at_stderr(app *a) {
    char words[256], answer;
    text rows = {NULL, 0, 0};
    int got, most;
    if (keys_signal || !person(a) || !ask_next(a)) return;
    if (keys_resized && a->q.printed) {
        a->q.printed = a->q.above = false;
        (void)fputs("\n", stderr);
    }
    keys_resized = 0;
    got = a->q.printed ? typed_line(&a->typed, words, sizeof words) : 0;
    if (keys_signal || (a->q.printed && got == 0))
        return; /* what is typed after a signal is no answer */
    a->q.printed = false;
    answer = got < 0 ? 'n' : got > 0 ? question_answer(&a->q, words) : 0;
    if (answer != 0) {
        decide(a, answer);
        return;
    }
    most = screen_measure(&a->screen) - 2;
    (void)question_rows(&a->q, a->screen.columns, most, &rows);
    if (a->q.cut && !a->q.above) show_question(a);
    note_str(a, STYLE_ASK, text_str(&rows));
    a->q.printed = true;
    drop_keys(a); /* the terminal may have taken its time */
    (void)fprintf(stderr, a->q.offers ? "y, a (always) or n: " : a->q.fits ? "y or n: " : "n: ");
    free(rows.at);
}

/* Until nothing runs any more. Ctrl+C is over then; another signal ends the chat, too. */
static int run_out(app *a) {
    int runs, ends = 0, ended, last = SIGINT;
    do {
        runs = phi_step(a->rt, LOOK_MS);
        show_events(a);
        ask_at_stderr(a);
        screen_look(&a->screen);
        ended = keys_signal;
        if (ended && ends++ > 0) return INTERRUPTED;
        if (ended || a->screen.gone) (void)phi_abort(a->agent), shell_stop(&a->typing.shell);
        if (ended) last = ended, keys_signal = 0; /* one that comes meanwhile is kept */
    } while (runs > 0);
    if (last != SIGINT) keys_signal = last;
    return a->code;
}

static int one_question(app *a) {
    back_keep_stopped(a);
    prompt_asked(a, a->o.question.at);
    if (attach_send(&a->attached, a->agent, a->o.question.at) != PHI_OK)
        return complain(a, last_error(a), NULL);
    prompt_sent(a, a->o.question.at);
    return run_out(a);
}

/* ---- the chat ---- */

/* Below the transcript: the question; who and where, the figures, the line that is typed, the keys. */
static void draw(app *a) {
    const phi_named_agent *named = phi_agents_at(a->agents, a->which); /* NULL: not yet made */
    text lines[DRAWN] = PHI_ZERO, words[3] = PHI_ZERO;
    int count, row = 0, column = 0, i, rows, most;
    bool resized = keys_resized != 0, status;
    if (keys_resized > 1) a->q.seen = false;
    keys_resized = 0; /* before it is measured: it may change meanwhile */
    rows = screen_measure(&a->screen);
    most = rows < 20 ? 1 : LINE_ROWS;
    status = !a->q.asking || rows >= 16;
    count = draw_above(a, lines, rows - (rows < 16 ? 3 : 4 + most));
    if (a->q.asking && a->q.cut && !a->q.above) show_question(a);
    status_agent(&words[0], a->agent, named != NULL ? named->name : phi_str_of(""));
    status_tokens(&words[1], a->agent, a->screen.columns < 60, draw_doing(a));
    draw_keys(a, &words[2]);
    if (status && rows >= 8) add_line(a, &lines[count++], STYLE_DIM, &words[0]);
    if (status && rows >= 3) add_line(a, &lines[count++], STYLE_DIM, &words[1]);
    if (rows >= 4 && a->q.asking) add_line(a, &lines[count++], STYLE_ASK, &words[2]);
    row = count;
    count += line_rows(&a->line, a->screen.columns, most, lines + count, &row, &column);
    if (!a->q.asking) count += draw_menu(a, lines + count, rows - count - 2);
    if (rows >= 10 && !a->q.asking && (a->typing.menu.count == 0 || a->typing.menu.chooses))
        add_line(a, &lines[count++], STYLE_DIM, &words[2]);
    screen_draw(&a->screen, lines, count, row, column); /* what is new scrolls by */
    if (resized) screen_redraw(&a->screen, count);
    if (resized) screen_draw(&a->screen, lines, count, row, column);
    a->below = count;
    if (a->q.asking && !a->q.seen) {
        drop_keys(a); /* the terminal may have taken its time */
        question_shown(&a->q);
    }
    for (i = 0; i < count; i++) free(lines[i].at);
    for (i = 0; i < 3; i++) free(words[i].at);
}

static void submit(app *a, const char *words) {
    bool steers = phi_agent_get_info(a->agent).running;
    size_t count = a->attached.count, total = a->attached.total;
    phi_status status;
    if (words[strspn(words, " \n")] == '\0') return;
    if (!steers) steer_back(a);
    if (prompt_waits(a) || (!steers && !prompt_attach(a, words))) {
        line_set(&a->line, words);
        return;
    }
    prompt_asked(a, words);
    if (!steers) back_keep_stopped(a);
    status = steers ? steer_send(a, words) : attach_send(&a->attached, a->agent, words);
    if (status != PHI_OK && !steers) attach_cut(&a->attached, count, total); /* not sent */
    say_you(a, phi_str_of(words));
    if (status != PHI_OK)
        note(a, STYLE_BAD, "! %s", steers ? phi_status_text(status) : last_error(a));
    else if (!steers) {
        prompt_sent(a, words);
        a->code = 0; /* Esc stops this run, too */
        say_agent(a);
    }
}

/* The line is sent, or done as a command. */
static void enter(app *a) {
    text words = {NULL, 0, 0};
    text_add(&words, a->line.text.at, a->line.text.len);
    line_done(&a->line);
    if (words.at != NULL && !prompt_is_other(a, words.at)) submit(a, words.at);
    free(words.at);
}

static void stop_or_quit(app *a, bool clears) {
    if (shell_runs(&a->typing.shell)) {
        shell_stop(&a->typing.shell);
    } else if (phi_agent_get_info(a->agent).running && a->code != INTERRUPTED) {
        a->code = INTERRUPTED; /* of this run; a second time quits */
        (void)phi_abort(a->agent);
    } else if (a->sums > 0)
        (void)phi_abort(a->agent);
    else if (clears && a->line.text.len > 0)
        line_clear(&a->line);
    else
        a->quit = true;
}

static void answer_with(app *a, char answer) {
    decide(a, answer);
    line_clear(&a->line);
}

static void press(app *a, int key) {
    const char *line = a->line.text.len > 0 ? a->line.text.at : "";
    char answer = 0;
    bool taken =
        a->q.asking && question_press(&a->q, key, a->keys.character, a->keys.pasted, line, &answer);
    if (answer != 0) answer_with(a, answer);
    if (a->q.key != 0 && !keys_resized)
        keys_resized = 1; /* the question is drawn again before the key counts */
    if (taken || prompt_key(a, key)) return;
    switch (key) {
    case KEY_ENTER:
        if (a->line.text.len > 0) enter(a);
        break;
    case KEY_ESCAPE:
    case KEY_CTRL('C'): stop_or_quit(a, true); break;
    case KEY_CTRL('D'):
        if (a->line.text.len == 0) a->quit = true;
        (void)line_key(&a->line, KEY_DELETE, "");
        break;
    case KEY_CTRL('R'): slash_clear(a, ""); break;
    case KEY_CTRL('S'): (void)phi_strategy_settle(a->agent); break;
    case KEY_CTRL('L'): keys_resized = 1; break;
    case KEY_CTRL('O'): show_output(a); break;
    case KEY_CTRL('Z'): keys_suspend(); break;
    case KEY_CLOSED: a->quit = true; break;
    default: (void)line_key(&a->line, key, a->keys.character);
    }
}

/* Sleeps until the terminal or the runtime has something, or the spinner turns. */
static void wait_for_something(app *a) {
    intptr_t fd = phi_runtime_fd(a->rt);
    int most = phi_agent_get_info(a->agent).running ? LOOK_MS : 5 * LOOK_MS,
        next = a->typing.complete.active ? 0 : phi_next_timeout(a->rt);
    if (a->keys.len > 0 || a->q.key != 0) most = KEYS_ESCAPE_MS;
    if (next >= 0 && next < most) most = next;
    keys_wait(fd, fd >= 0 || most < 10 ? most : 10);
    (void)phi_step(a->rt, 0);
}

static int chat(app *a) {
    int key;
    char answer;
    phi_str model = phi_agent_get_info(a->agent).model_id;
    a->chat = true;
    note(a, STYLE_BOLD, "phi " PHI_VERSION " - %.*s (%s)", PHI_ARG(model), a->why);
    show_history(a);
    prompt_open(a);
    while (!a->quit && !keys_signal && !a->screen.gone) {
        show_events(a);
        steer_back(a);
        if (a->stopped) back_keep_stopped(a);
        (void)ask_next(a);
        if (keys_stopped) keys_suspend();
        if (keys_resized > 1) a->q.seen = false; /* keys from before it is drawn again */
        while (keys_read(&a->keys)) {}
        while ((key = keys_next(&a->keys)) != KEY_NONE && !a->quit && !keys_signal) press(a, key);
        answer = a->q.asking && !keys_signal ? question_waited(&a->q, a->keys.len > 0) : 0;
        if (answer != 0) answer_with(a, answer);
        if (complete_step(&a->typing.complete))
            complete_end(&a->typing.complete, &a->line, &a->typing.menu);
        draw(a);
        wait_for_something(a);
    }
    (void)phi_abort(a->agent), shell_stop(&a->typing.shell);
    screen_fresh(&a->screen);
    screen_draw(&a->screen, NULL, 0, 0, 0);
    keys_restore();
    a->chat = false;
    if (a->kept.listed)
        note(a, STYLE_DIM, "(phi --continue goes on from here)");
    else if (a->o.session != NULL && a->kept.path.len == 0)
        note(a, STYLE_DIM, "(phi --session %s goes on from here)", a->o.session);
    return keys_signal ? INTERRUPTED : 0;
}

/* A terminal without sequences: lines in, lines out. */
static int plain_chat(app *a) {
    char words[4096];
    size_t count, total;
    int got;
    bool early; /* the line was there before the prompt */
    note(a, STYLE_PLAIN, "phi " PHI_VERSION " (%s)", a->why);
    for (;;) {
        early = a->typed.len > 0 || typed_waits(0);
        screen_say(&a->screen, STYLE_PLAIN, "> ");
        while ((got = typed_line(&a->typed, words, sizeof words)) == 0 && !keys_signal)
            (void)phi_step(a->rt, LOOK_MS);
        if (got < 0 || keys_signal || a->screen.gone) return keys_signal ? INTERRUPTED : 0;
        a->o.question.len = 0;
        text_say(&a->o.question, words);
        count = a->attached.count, total = a->attached.total;
        if (words[0] == '!' && (early || a->typed.len > 0 || typed_waits(LOOK_MS)))
            note(a, STYLE_BAD,
                 "! not run: it came with other lines, as in a paste (type it again)");
        else if (prompt_shell(a, words))
            (void)run_out(a);
        else if (slash_line(a, words))
            (void)(a->sums > 0 ? run_out(a) : 0);
        else if (words[0] != '\0' && prompt_attach(a, words) && one_question(a) == UNUSABLE)
            attach_cut(&a->attached, count, total); /* not sent */
        if (a->quit) return 0;
    }
}

static int list_sessions(app *a) {
    text words = {NULL, 0, 0};
    (void)sessions_open(&a->kept);
    sessions_list(&a->kept, &words);
    screen_write(&a->screen, words.at, words.len);
    free(words.at);
    return tear_down(a, 0);
}

int main(int argc, char **argv) {
    static app a;
    bool dumb, asks;
    int code = options_read(&a.o, argc, places_words(&argc, argv));
    if (code >= 0) return code;
    phi_memory_init(&a.memory, NULL, 0);
    phi_arena_init(&a.arena, &a.memory, 0);
    asks = a.o.command != NULL || a.o.question.len > 0;
    dumb = asks || keys_dumb();
    screen_open(&a.screen, dumb);
    a.whole = !typed_is_terminal(1);
    keys_catch_signals();
    if (a.o.command != NULL && strcmp(a.o.command, "sessions") == 0) return list_sessions(&a);
    if (a.o.command != NULL && strcmp(a.o.command, "doctor") == 0) return tear_down(&a, doctor(&a));
    if (a.o.command != NULL && strcmp(a.o.command, "acp") == 0)
        return tear_down(&a, acp_serve(&a, open_permissions));
    if (a.o.command != NULL) return tear_down(&a, commands(a.o.command, a.o.config));
    if (asks && !a.o.json && typed_is_terminal(2)) keys_terminal(); /* for questions */
    code = set_up(&a);
    if (code == 0)
        code = asks ? one_question(&a) : dumb || !keys_open() ? plain_chat(&a) : chat(&a);
    return tear_down(&a, code);
}
