/* one_shot_run.c - runs over a caller's own thread.

   A one-shot run is an ordinary agent, made for one run, whose log belongs to the caller. When the
   run is over, other runs can use the log. The agent waits in a separate list until its last event
   was popped, and is then freed. Because of this list, a step need not check all agents. */
#include "agent/one_shot_run.h"
#include "agent/agent_in.h"

/* A host's thread, with the memory and link that an agent's own thread does not need. */
struct phi__lent {
    phi_thread thread;
    phi_memory memory;
    phi__link link; /* link in rt->threads */
};

/* How many ended runs a step checks at most for unpopped events. Later runs have newer events. */
enum { PHI__ONE_SHOT_LOOKS = 64 };

/* Reports as dropped all input that waits for a later run. */
static void phi__shot_drop_input(phi__agent *agent) {
    phi__input_drop_kept(agent, "The run has ended, and no other will follow");
}

/* The loop calls this when the run is over; phi__end_retire calls it when the agent is retired. */
static void phi__shot_ended(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    if (agent->slot == NULL) {
        if (agent->one_shot.over) phi__list_take(&rt->one_shot_over, &agent->one_shot.link);
        agent->one_shot.over = false;
        return;
    }
    phi__shot_drop_input(agent);
    agent->one_shot.over = true;
    phi__list_push(&rt->one_shot_over, &agent->one_shot.link);
}

PHI__FN void phi__shot_last(phi__agent *agent) {
    agent->one_shot.ended_fn = phi__shot_ended;
    if (agent->run == NULL && !agent->one_shot.over) phi__shot_ended(agent);
}

PHI__FN void phi__shot_retire(phi_runtime *rt) {
    phi__link *link = rt->one_shot_over.first, *next;
    int looks = PHI__ONE_SHOT_LOOKS;
    for (; link != NULL && looks > 0; link = next) {
        phi__agent *agent = PHI__OWNER(link, phi__agent, one_shot.link);
        next = link->next;
        if (agent->events.all.first == NULL)
            phi__shot_drop_input(agent); /* input that arrived after the run's end */
        if (agent->events.all.first == NULL)
            phi__end_retire(agent);
        else
            looks--;
    }
}

/* ---- threads ---- */

static void phi__shot_free(phi_thread *thread) {
    phi_runtime *rt = thread->rt;
    struct phi__lent *lent = thread->lent;
    phi__journal_free_thread(thread);
    PHI_ASSERT(lent->memory.used_bytes == 0 || rt->abandoned);
    phi__list_take(&rt->threads, &lent->link);
    phi__free(&rt->memory, lent, sizeof *lent);
}

PHI__FN void phi__shot_free_threads(phi_runtime *rt) {
    while (rt->threads.first != NULL)
        phi__shot_free(&PHI__OWNER(rt->threads.first, struct phi__lent, link)->thread);
}

static phi_status phi__shot_idle(const phi_thread *thread, const char *what) {
    return thread->user == NULL
               ? PHI_OK
               : phi__error(thread->rt, PHI_BUSY, "%s: a run goes over the thread", what);
}

static phi_status phi__shot_check_prompts(phi_runtime *rt, const phi_run_desc *desc) {
    if (desc->prompts == NULL)
        return phi__error(rt, PHI_BAD_ARG, "phi_run: prompts is missing, prompt_count is %u",
                          (unsigned)desc->prompt_count);
    for (size_t i = 0; i < desc->prompt_count; i++) {
        const phi_message *prompt = &desc->prompts[i];
        if (prompt->role != PHI_ROLE_USER)
            return phi__error(rt, PHI_BAD_ARG, "phi_run: prompts[%u].role: expected user",
                              (unsigned)i);
        phi_status status =
            phi__enqueue_check(rt, "phi_run", prompt->content, prompt->content_count);
        if (status != PHI_OK) return status;
    }
    return PHI_OK;
}

/* Checks a run without prompts: there must be something to continue. */
static phi_status phi__shot_check_going_on(phi_runtime *rt, const phi_run_desc *desc) {
    if (desc->agent->ids.agent_id == NULL || desc->agent->ids.session_id == NULL)
        return phi__error(
            rt, PHI_BAD_ARG,
            "phi_run: without prompts, agent.agent_id and agent.session_id are needed");
    return phi__history_goes_on(rt, desc->thread, "phi_run");
}

/* Checks the loop ids. A loop_id must be new: it identifies the run in the log and in files. */
static phi_status phi__shot_check_ids(phi_runtime *rt, const phi_run_desc *desc) {
    phi_str id = phi_str_of(desc->loop_id);
    bool had = false;
    if (!phi__check_id_fits(id))
        return phi__error(rt, PHI_BAD_ARG, "phi_run: loop_id is not UTF-8");
    if (!phi__check_id_fits(phi_str_of(desc->parent_loop_id)))
        return phi__error(rt, PHI_BAD_ARG, "phi_run: parent_loop_id is not UTF-8");
    if (id.len == 0) return PHI_OK;
    phi_status status = phi__recall_has_loop(desc->thread, id, &had);
    if (status != PHI_OK)
        return phi__error(rt, status, "phi_run: the thread cannot be read: %s",
                          phi_status_text(status));
    return !had ? PHI_OK
                : phi__error(rt, PHI_MISUSE, "phi_run: the thread has a run \"%.80s\" already",
                             id.at);
}

static phi_status phi__shot_check(phi_runtime *rt, const phi_run_desc *desc) {
    if (rt->closing) return phi__error(rt, PHI_MISUSE, "phi_run: the runtime is closing");
    if (desc == NULL) return phi__error(rt, PHI_BAD_ARG, "phi_run: desc is NULL");
    if (desc->agent == NULL) return phi__error(rt, PHI_BAD_ARG, "phi_run: agent is missing");
    if (desc->thread == NULL) return phi__error(rt, PHI_BAD_ARG, "phi_run: thread is missing");
    if (desc->thread->of_agent)
        return phi__error(rt, PHI_MISUSE, "phi_run: the thread is an agent's own");
    if (desc->thread->rt != rt)
        return phi__error(rt, PHI_BAD_ARG, "phi_run: the thread is of another runtime");
    if ((unsigned)desc->continuation > (unsigned)PHI_CONTINUATION_COMPACTION)
        return phi__error(rt, PHI_BAD_ARG, "phi_run: continuation is none of its values");
    if (phi__shot_idle(desc->thread, "phi_run") != PHI_OK) return PHI_BUSY;
    phi_status status = phi__shot_check_ids(rt, desc);
    if (status == PHI_OK)
        status = phi__enqueue_check_json(rt, "phi_run", "metadata", desc->metadata);
    if (status != PHI_OK) return status;
    return desc->prompt_count > 0 ? phi__shot_check_prompts(rt, desc)
                                  : phi__shot_check_going_on(rt, desc);
}

static phi_status phi__shot_begin(phi__agent *agent, const phi_run_desc *desc) {
    phi__run_order order = PHI_ZERO;
    order.prompts = desc->prompts;
    order.prompt_count = desc->prompt_count;
    if (desc->prompt_count == 0)
        order.continuation = desc->continuation != PHI_CONTINUATION_INITIAL
                                 ? desc->continuation
                                 : PHI_CONTINUATION_DEFAULT;
    order.loop_id = phi_str_of(desc->loop_id);
    order.parent_loop_id = phi_str_of(desc->parent_loop_id);
    order.metadata = desc->metadata;
    agent->one_shot.ended_fn = phi__shot_ended;
    phi_status status = phi__run_new(agent, &order);
    if (status == PHI_OK) return status;
    return phi__error(agent->rt, status, "phi_run: %s",
                      status == PHI_NO_MEMORY ? "out of memory" : phi_status_text(status));
}

/* ---- public ---- */

PHI_API phi_thread *phi_thread_new(phi_runtime *rt, size_t memory_limit_bytes) {
    if (rt == NULL) return NULL;
    struct phi__lent *lent = (struct phi__lent *)phi__alloc(&rt->memory, sizeof *lent);
    if (lent == NULL) {
        (void)phi__error(rt, PHI_NO_MEMORY, "phi_thread_new: out of memory");
        return NULL;
    }
    phi_memory_init(&lent->memory, &rt->memory.allocator, memory_limit_bytes);
    lent->memory.parent = &rt->memory;
    phi_thread *thread = &lent->thread;
    phi__thread_init(thread, &lent->memory, rt->io);
    phi__thread_belong(thread, rt, &rt->grown, lent);
    phi__list_push_first(&rt->threads, &lent->link);
    return thread;
}

PHI_API void phi_thread_free(phi_thread *thread) {
    if (thread == NULL) return;
    if (thread->of_agent) {
        (void)phi__error(thread->rt, PHI_MISUSE, "phi_thread_free: the thread is an agent's");
        return;
    }
    if (phi__shot_idle(thread, "phi_thread_free") != PHI_OK) return;
    phi_runtime *rt = thread->rt;
    phi__link *link = rt->one_shot_over.first;
    bool inside = rt->in_step;
    rt->in_step = true; /* delays freeing the memory of agents that callbacks free */
    while (link != NULL) {
        phi__agent *agent = PHI__OWNER(link, phi__agent, one_shot.link);
        link = link->next;
        if (agent->thread != thread) continue;
        agent->thread = &agent->own;
        phi__end_drop(agent);
        link = rt->one_shot_over.first; /* callbacks may have changed the list */
    }
    rt->in_step = inside;
    if (!inside) phi__end_of_step(rt);
    phi__shot_free(thread);
}

PHI_API phi_thread *phi_thread_fork(const phi_thread *thread, uint64_t at_seq) {
    phi__fold fold;
    const phi__fold *shown = &fold;
    uint64_t at = 0;
    bool any = false;
    if (thread == NULL || thread->rt == NULL) return NULL;
    phi_thread *made = phi_thread_new(thread->rt, 0);
    if (made == NULL) return NULL;
    memset(&fold, 0, sizeof fold);
    phi_status status = phi__recall_view(thread, thread->lanes.active, at_seq);
    if (status == PHI_OK) status = phi__lane_cut(thread, thread->lanes.active, at_seq, &at, &any);
    /* The cut may be before the thread's end even if the caller wants the whole thread. */
    if (status == PHI_OK && any) status = phi__recall_view(thread, thread->lanes.active, at);
    if (status == PHI_OK && any)
        status = phi__fold_at(thread, thread->lanes.active, at, &fold, &shown);
    if (status == PHI_OK && ((any && !phi__state_carry(made, thread, thread->lanes.active, at)) ||
                             !phi__rebase_take(made, thread, shown, NULL)))
        status = PHI_NO_MEMORY;
    if (status == PHI_OK)
        status = phi__about_forked(made, phi__info_id((phi_thread *)(uintptr_t)thread),
                                   any ? at : UINT64_MAX);
    phi__fold_free(thread->log.memory, &fold);
    if (status == PHI_OK) return made;
    phi__shot_free(made);
    (void)phi__error(thread->rt, status, "phi_thread_fork: %s",
                     status == PHI_NO_MEMORY ? "out of memory" : phi_status_text(status));
    return NULL;
}

PHI_API phi_agent phi_run(phi_runtime *rt, const phi_run_desc *desc) {
    phi_agent none = PHI_ZERO;
    if (rt == NULL || phi__shot_check(rt, desc) != PHI_OK) return none;
    phi__agent *agent = phi__agent_make(rt, desc->agent, desc->thread);
    if (agent == NULL) return none;
    if (phi__shot_begin(agent, desc) == PHI_OK) return agent->handle;
    agent->thread = &agent->own; /* freeing the agent must not free the caller's thread */
    phi__end_drop(agent);
    return none;
}
