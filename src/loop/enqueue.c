/* enqueue.c - checks and posts a host's input: steering, follow-ups and injected messages, from any
   thread; messages of several blocks, and the queues themselves. */
#include "base/utf8_in.h"
#include "loop/loop_in.h"
#include "text/json_in.h"

enum { PHI__ENQUEUE_ID = 128 }; /* bytes of a request's id */

/* ---- checking input ---- */

PHI__FN phi_status phi__enqueue_check(phi_runtime *rt, const char *what, const phi_content *content,
                                      size_t count) {
    size_t i;
    if (content == NULL || count == 0)
        return phi__error(rt, PHI_BAD_ARG, "%s: there is no content", what);
    for (i = 0; i < count; i++) {
        const char *fault = phi__check_media(&content[i]);
        if (content[i].kind == PHI_CONTENT_THINKING || content[i].kind == PHI_CONTENT_TOOL_CALL ||
            (unsigned)content[i].kind - 1u >= (unsigned)PHI_CONTENT_AUDIO)
            return phi__error(
                rt, PHI_BAD_ARG,
                "%s: content[%u].kind: expected text, image, document, audio or opaque", what,
                (unsigned)i);
        if (fault != NULL)
            return phi__error(rt, PHI_BAD_ARG, "%s: content[%u]: %s", what, (unsigned)i, fault);
    }
    return PHI_OK;
}

/* ---- ids and refs of a message ---- */

PHI__FN void phi__enqueue_details(const char *id, const char *refs, phi__buf *out) {
    if (id == NULL && refs == NULL) return;
    phi__buf_char(out, '{');
    if (id != NULL) {
        phi__json_write_key(out, PHI__LIT("request_id"));
        phi__json_write_str(out, phi_str_of(id));
    }
    if (refs != NULL) {
        phi__json_write_key(out, PHI__LIT("refs"));
        phi__buf_text(out, refs);
    }
    phi__buf_char(out, '}');
}

PHI__FN phi_status phi__enqueue_check_json(phi_runtime *rt, const char *what, const char *name,
                                           const char *text) {
    phi_arena scratch;
    phi_json *root = NULL;
    phi_status status;
    if (text == NULL) return PHI_OK;
    phi_arena_init(&scratch, &rt->memory, 0);
    status = phi_json_parse(&scratch, phi_str_of(text), PHI_JSON_BORROW, &root, NULL);
    phi_arena_free(&scratch);
    if (status == PHI_OK) return PHI_OK;
    return status == PHI_NO_MEMORY ? phi__error(rt, status, "%s: out of memory", what)
                                   : phi__error(rt, PHI_BAD_ARG, "%s: %s is no JSON", what, name);
}

PHI__FN phi_status phi__enqueue_check_details(phi_runtime *rt, const char *what, const char *id,
                                              const char *refs) {
    phi_str name = phi_str_of(id);
    if (id != NULL &&
        (name.len == 0 || name.len > PHI__ENQUEUE_ID || phi__utf8_valid(name) != name.len))
        return phi__error(rt, PHI_BAD_ARG, "%s: id: expected 1 to 128 bytes of UTF-8", what);
    return phi__enqueue_check_json(rt, what, "refs", refs);
}

/* ---- public ---- */

static phi_status phi__enqueue_post(phi_agent agent, uint32_t kind, const char *text,
                                    const char *source) {
    phi__post post;
    phi_status status;
    struct phi__inbox_record *record = NULL;
    phi_str trimmed = phi__str_trim(phi_str_of(text)), tag = phi_str_of(source);
    uint32_t state;
    if (agent.rt == NULL || trimmed.len == 0) return PHI_BAD_ARG;
    state = phi__slots_state(&agent.rt->agents, agent.index, agent.gen);
    if (state == 0) return PHI_STALE;
    if (kind == PHI__POST_INJECT && (state & PHI__AGENT_RUNNING) == 0) return PHI_MISUSE;
    memset(&post, 0, sizeof post);
    post.kind = kind;
    post.index = agent.index;
    post.gen = agent.gen;
    post.flag = (uint32_t)tag.len;
    if (tag.len > UINT32_MAX / 4) return PHI_BAD_ARG;
    post.text = trimmed;
    status = phi__inbox_prepare_two(&agent.rt->inbox, &post, tag, &record);
    if (status != PHI_OK) return status;
    phi__inbox_publish(record, true);
    phi__io_wake(agent.rt->io);
    return PHI_OK;
}

PHI_API phi_status phi_steer(phi_agent agent, const char *text) {
    return phi__enqueue_post(agent, PHI__POST_STEER, text, NULL);
}

PHI_API phi_status phi_follow_up(phi_agent agent, const char *text) {
    return phi__enqueue_post(agent, PHI__POST_FOLLOW_UP, text, NULL);
}

PHI_API phi_status phi_inject(phi_agent agent, const char *text, const char *source) {
    return phi__enqueue_post(agent, PHI__POST_INJECT, text, source);
}

static bool phi__enqueue_goes_on(const phi__agent *agent) {
    return agent->run != NULL && agent->run->state < PHI__RUN_CLOSE;
}

static phi_status phi__enqueue_check_desc(phi__agent *agent, const char *what,
                                          const phi_enqueue_desc *desc) {
    phi_status status;
    if (phi__input_list_of(agent, desc->queue) == NULL)
        return phi__error(agent->rt, PHI_BAD_ARG,
                          "%s: queue: expected steering, follow-up or injected", what);
    status = phi__enqueue_check(agent->rt, what, desc->content, desc->content_count);
    if (status == PHI_OK)
        status = phi__enqueue_check_details(agent->rt, what, desc->id, desc->refs);
    if (status != PHI_OK) return status;
    if (desc->loop_id != NULL &&
        (!phi__enqueue_goes_on(agent) || !phi__str_is(agent->run->loop_id, desc->loop_id)))
        return phi__error(agent->rt, PHI_NOT_FOUND, "%s: loop_id: no run \"%.160s\" goes on", what,
                          desc->loop_id);
    if (desc->queue == PHI_INPUT_INJECTED && !phi__enqueue_goes_on(agent))
        return phi__error(agent->rt, PHI_MISUSE, "%s: no run is going on", what);
    return PHI_OK;
}

static phi_status phi__enqueue(phi__agent *agent, const char *what, const phi_enqueue_desc *desc) {
    phi_status status = phi__enqueue_check_desc(agent, what, desc);
    phi__buf details;
    if (status != PHI_OK) return status;
    phi__buf_init(&details, &agent->memory);
    phi__enqueue_details(desc->id, desc->refs, &details);
    status = details.failed ? PHI_NO_MEMORY
                            : phi__input_add(agent, phi__input_list_of(agent, desc->queue),
                                             desc->queue, desc->content, desc->content_count,
                                             phi_str_of(desc->source), phi__buf_str(&details));
    phi__buf_free(&details);
    return status == PHI_OK
               ? status
               : phi__error(agent->rt, status, "%s: %s", what, phi_status_text(status));
}

PHI_API phi_status phi_enqueue(phi_agent handle, const phi_enqueue_desc *desc) {
    phi__agent *agent = phi__find_agent(handle);
    phi_enqueue_desc given;
    phi_content content;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    if (desc == NULL) return phi__error(handle.rt, PHI_BAD_ARG, "phi_enqueue: desc is NULL");
    if (desc->text != NULL && desc->content != NULL)
        return phi__error(handle.rt, PHI_BAD_ARG, "phi_enqueue: text and content are both given");
    given = *desc;
    if (desc->text != NULL) {
        content = phi__input_text(phi__str_trim(phi_str_of(desc->text)));
        if (content.text.len == 0)
            return phi__error(handle.rt, PHI_BAD_ARG, "phi_enqueue: the text is empty");
        given.content = &content;
        given.content_count = 1;
    }
    return phi__enqueue(agent, "phi_enqueue", &given);
}

PHI_API phi_status phi_queue_clear(phi_agent handle, phi_input queue) {
    phi__agent *agent = phi__find_agent(handle);
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    if (queue != PHI_INPUT_NONE && phi__input_list_of(agent, queue) == NULL) return PHI_BAD_ARG;
    if (queue == PHI_INPUT_NONE)
        phi__input_free_queues(agent);
    else
        phi__input_list_free(agent, phi__input_list_of(agent, queue));
    return PHI_OK;
}
