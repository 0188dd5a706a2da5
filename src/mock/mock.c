/* mock.c - a scripted model: a provider within the process. */
#include "agent/runtime.h"
#include "mock/mock.h"

#include "base/base_in.h"
#include "loop/loop_in.h"
#include "wire/wire_in.h"

#include <stdio.h>

typedef struct phi__mock_toolcall {
    struct phi__mock_toolcall *next;
    phi_str tool, arguments;
} phi__mock_toolcall;

typedef struct phi__mock_answer {
    struct phi__mock_answer *next;
    phi_str text; /* the answer's text; for a failure, its message */
    phi__mock_toolcall *calls;
    phi_failure_kind failure;
    uint32_t delay_ms;
} phi__mock_answer;

typedef struct phi__mock {
    phi_mock shown; /* must be first: a pointer to a phi_mock also points to a phi__mock */
    phi_runtime *rt;
    phi_arena arena;
    phi__mock_answer *first, *last;
    phi_model_request *requests;
    size_t room;
    uint32_t calls; /* number of tool calls made so far; ids are made from it */
    bool lost;      /* an answer was not added because there was no memory */
    char name[16];
} phi__mock;

typedef struct phi__mock_talk {
    const phi__mock_answer *answer; /* NULL: the script had no answer left */
    size_t number;                  /* number of the call's request, from 1 */
    size_t at;                      /* bytes of the text that were already sent */
    uint64_t from_us;
} phi__mock_talk;

/* ---- requests ---- */

static bool phi__mock_keep_tools(phi_arena *arena, phi_model_request *to) {
    phi_tool_spec *tools = (phi_tool_spec *)phi__arena_zero(
        arena, phi__mul(phi__max(to->tool_count, 1), sizeof *tools));
    if (tools == NULL) return false;
    for (size_t i = 0; i < to->tool_count; i++) {
        const phi_tool_spec *from = &to->tools[i];
        tools[i].strict = from->strict;
        if (!phi__arena_str(arena, from->name, &tools[i].name) ||
            !phi__arena_str(arena, from->description, &tools[i].description) ||
            !phi__arena_str(arena, from->schema, &tools[i].schema) ||
            !phi__arena_str(arena, from->raw, &tools[i].raw))
            return false;
    }
    to->tools = tools;
    return true;
}

static bool phi__mock_keep_messages(phi_arena *arena, phi_model_request *to) {
    const phi_message **list = (const phi_message **)phi_arena_alloc(
        arena, phi__mul(phi__max(to->message_count, 1), sizeof *list));
    if (list == NULL) return false;
    for (size_t i = 0; i < to->message_count; i++) {
        list[i] = phi_message_copy(to->messages[i], arena);
        if (list[i] == NULL) return false;
    }
    to->messages = list;
    return true;
}

static bool phi__mock_grow(phi__mock *m) {
    size_t room = m->room > 0 ? phi__mul(m->room, 2) : 8;
    phi_model_request *list;
    if (m->shown.request_count < m->room) return true;
    list = (phi_model_request *)phi_arena_alloc(&m->arena, phi__mul(room, sizeof *list));
    if (list == NULL) return false;
    if (m->room > 0) memcpy(list, m->requests, m->shown.request_count * sizeof *list);
    m->requests = list;
    m->shown.requests = list;
    m->room = room;
    return true;
}

static bool phi__mock_keep(phi__mock *m, const phi_model_request *request) {
    phi_arena *arena = &m->arena;
    if (!phi__mock_grow(m)) return false;
    phi_model_request *to = &m->requests[m->shown.request_count];
    *to = *request;
    to->model = &m->shown.model;
    if (!phi__mock_keep_messages(arena, to) || !phi__mock_keep_tools(arena, to) ||
        !phi__takes_copy(arena, &request->options, &to->options) ||
        !phi__arena_str(arena, request->system_prompt, &to->system_prompt) ||
        !phi__arena_str(arena, request->session_id, &to->session_id) ||
        !phi__keep_text(arena, &to->format.name) || !phi__keep_text(arena, &to->format.schema))
        return false;
    m->shown.request_count++;
    return true;
}

/* ---- the provider ---- */

static phi_status phi__mock_open(void *user_data, const phi_model_request *request, void **call) {
    phi__mock *m = (phi__mock *)user_data;
    phi__mock_talk *talk = (phi__mock_talk *)phi__arena_zero(&m->arena, sizeof *talk);
    if (talk == NULL || !phi__mock_keep(m, request)) return PHI_NO_MEMORY;
    if (m->first == NULL && m->shown.answer_fn != NULL)
        m->shown.answer_fn(m->shown.user_data, &m->shown, request);
    if (m->lost) return PHI_NO_MEMORY;
    talk->answer = m->first;
    talk->number = m->shown.request_count;
    talk->from_us = phi__io_now_us(m->rt->io);
    if (m->first != NULL) {
        talk->from_us += (uint64_t)m->first->delay_ms * 1000;
        m->first = m->first->next;
        m->shown.answers_left--;
    }
    *call = talk;
    return PHI_OK;
}

static void phi__mock_say_calls(phi__mock *m, const phi__mock_answer *said, phi_answer *answer) {
    for (const phi__mock_toolcall *call = said->calls; call != NULL; call = call->next) {
        char id[32];
        (void)snprintf(id, sizeof id, "call_%u", (unsigned)++m->calls);
        phi_answer_call(answer, phi_str_of(id), call->tool);
        phi_answer_arguments(answer, call->arguments, true);
    }
}

static bool phi__mock_passes(phi_failure_kind kind) {
    return kind == PHI_FAILURE_RATE_LIMITED || kind == PHI_FAILURE_SERVER ||
           kind == PHI_FAILURE_NETWORK || kind == PHI_FAILURE_TIMEOUT;
}

static phi_poll phi__mock_poll(void *user_data, void *call, phi_answer *answer) {
    phi__mock *m = (phi__mock *)user_data;
    phi__mock_talk *talk = (phi__mock_talk *)call;
    const phi__mock_answer *said = talk->answer;
    if (said == NULL) {
        size_t number = talk->number;
        const phi_model_request *request = &m->requests[number - 1];
        const phi_message *last =
            request->message_count > 0 ? request->messages[request->message_count - 1] : NULL;
        phi_str text =
            last != NULL && last->content_count > 0 ? last->content[0].text : phi__str("", 0);
        char words[256];
        (void)snprintf(words, sizeof words,
                       "phi_mock: no answer is left for request %u: %s \"%.*s\"", (unsigned)number,
                       last != NULL && last->role == PHI_ROLE_TOOL_RESULT ? "tool result" : "user",
                       (int)phi__utf8_cut(text, 100), text.len > 0 ? text.at : "");
        phi_answer_fail(answer, PHI_FAILURE_INVALID_REQUEST, false, words);
        return PHI_POLL_DONE;
    }
    if (phi__io_now_us(m->rt->io) < talk->from_us) return PHI_POLL_AGAIN;
    if (said->failure != PHI_FAILURE_NONE) {
        phi_answer_fail(answer, said->failure, phi__mock_passes(said->failure), said->text.at);
        return PHI_POLL_DONE;
    }
    if (talk->at < said->text.len) {
        phi_str text = said->text;
        size_t at = talk->at;
        size_t end = at;
        while (end < text.len && text.at[end] != ' ') end++;
        while (end < text.len && text.at[end] == ' ') end++;
        phi_str word = phi__str(text.at + at, end - at);
        phi_answer_text(answer, word);
        talk->at += word.len;
    }
    if (talk->at < said->text.len) {
        phi_wake(m->rt); /* so that the next step sends the next word */
        return PHI_POLL_AGAIN;
    }
    phi__mock_say_calls(m, said, answer);
    return PHI_POLL_DONE;
}

static void phi__mock_close(void *user_data, void *call) { (void)user_data, (void)call; }

static void phi__mock_release(void *user_data) {
    phi__mock *m = (phi__mock *)user_data;
    phi_arena_free(&m->arena);
    phi__free(&m->rt->memory, m, sizeof *m);
}

/* ---- the script ---- */

static phi__mock_answer *phi__mock_add(phi__mock *m) {
    phi__mock_answer *answer = (phi__mock_answer *)phi__arena_zero(&m->arena, sizeof *answer);
    if (answer == NULL) {
        m->lost = true;
        return NULL;
    }
    answer->delay_ms = m->shown.delay_ms;
    if (m->first == NULL)
        m->first = answer;
    else
        m->last->next = answer;
    m->last = answer;
    m->shown.answers_left++;
    return answer;
}

static void phi__mock_set_text(phi__mock *m, phi__mock_answer *answer, const char *text) {
    if (answer != NULL && !phi__arena_str(&m->arena, phi_str_of(text), &answer->text))
        m->lost = true;
}

/* ---- public ---- */

PHI_API phi_mock *phi_mock_new(phi_runtime *rt) {
    phi__mock *m;
    unsigned n = 1;
    if (rt == NULL) return NULL;
    m = (phi__mock *)phi__alloc(&rt->memory, sizeof *m);
    if (m == NULL) return NULL;
    memset(m, 0, sizeof *m);
    m->rt = rt;
    phi_arena_init(&m->arena, &rt->memory, 0);
    (void)snprintf(m->name, sizeof m->name, "mock");
    while (phi__provider_find(rt, phi_str_of(m->name)) != NULL)
        (void)snprintf(m->name, sizeof m->name, "mock%u", ++n);
    m->shown.model.protocol = m->shown.model.id = m->name;
    phi_provider *provider = &m->shown.provider;
    provider->protocol = m->name;
    provider->user_data = m;
    provider->open = phi__mock_open;
    provider->poll = phi__mock_poll;
    provider->close = phi__mock_close;
    provider->release = phi__mock_release;
    if (phi_register_provider(rt, &m->shown.provider) != PHI_OK) {
        phi__mock_release(m);
        return NULL;
    }
    return &m->shown;
}

PHI_API void phi_mock_text(phi_mock *mock, const char *text) {
    phi__mock *m = (phi__mock *)(void *)mock;
    if (m != NULL) phi__mock_set_text(m, phi__mock_add(m), text);
}

PHI_API void phi_mock_also_call(phi_mock *mock, const char *tool, const char *arguments) {
    phi__mock *m = (phi__mock *)(void *)mock;
    phi__mock_toolcall *call, **end;
    if (m == NULL || m->first == NULL) return; /* there is no answer to add to */
    call = (phi__mock_toolcall *)phi__arena_zero(&m->arena, sizeof *call);
    if (call == NULL || !phi__arena_str(&m->arena, phi_str_of(tool), &call->tool) ||
        !phi__arena_str(&m->arena, phi_str_of(arguments), &call->arguments)) {
        m->lost = true;
        return;
    }
    for (end = &m->last->calls; *end != NULL; end = &(*end)->next) {}
    *end = call;
}

PHI_API void phi_mock_call(phi_mock *mock, const char *tool, const char *arguments) {
    phi__mock *m = (phi__mock *)(void *)mock;
    if (m != NULL && phi__mock_add(m) != NULL) phi_mock_also_call(mock, tool, arguments);
}

PHI_API void phi_mock_fail(phi_mock *mock, phi_failure_kind kind, const char *message) {
    phi__mock *m = (phi__mock *)(void *)mock;
    phi__mock_answer *answer = m != NULL ? phi__mock_add(m) : NULL;
    if (answer == NULL) return;
    answer->failure = kind != PHI_FAILURE_NONE ? kind : PHI_FAILURE_SERVER;
    phi__mock_set_text(m, answer, message);
}
