/* summary.c - summaries by a model: makes the requests, chunk by chunk, and applies the answers.

   The writer is a hidden agent. Each chunk is one run of the writer, over an empty history: the
   prompt contains the summary so far. After a run the writer itself begins the next run. The writer
   owns all memory of the summary. */
#include "agent/summary.h"
#include "features/features_in.h"
#include "agent/agent_in.h"

enum {
    PHI__SUMMARY_TOKENS = 2000,
    PHI__SUMMARY_CHUNK = 30000,  /* largest default chunk, in tokens */
    PHI__SUMMARY_LEAST = 100,    /* smallest chunk, in tokens */
    PHI__SUMMARY_PART = 48,      /* bytes of a memory limit for each token of a chunk */
    PHI__SUMMARY_TEXT = 16384,   /* bytes kept of one text */
    PHI__SUMMARY_RESULT = 2000,  /* bytes kept of a tool's result */
    PHI__SUMMARY_ARGUMENTS = 500 /* bytes kept of a call's arguments */
};

/* A summary that is being written. It is in the writer's arena. */
typedef struct phi__summary {
    const phi_view_item **items; /* the items to sum up */
    size_t count, next;
    size_t chunk_bytes;
    uint32_t max_tokens;
    phi_status status; /* PHI_BUSY while the writer works */
    phi_message message;
    phi_content block;
    phi_written written;
    phi_span *spans; /* spans to replace; spans[into] gets the summary */
    size_t span_count, into;
    bool asked_for;      /* phi_summarize began the summary: nobody polls for the result */
    uint64_t posts_from; /* from this post on, injected messages go to the writer's runs */
    uint64_t base_seq;
    uint32_t lane;
} phi__summary;

static void phi__summary_put(phi__buf *out, phi_str text, size_t most) {
    size_t n = phi__utf8_cut(text, phi__min(most, text.len));
    phi__buf_add(out, text.at, n);
    if (n < text.len) phi__buf_printf(out, " [... %llu bytes]", (unsigned long long)(text.len - n));
}

static void phi__summary_block(phi__buf *out, const phi_message *m, const phi_content *c,
                               size_t most) {
    size_t of_text =
        m->role == PHI_ROLE_TOOL_RESULT ? (size_t)PHI__SUMMARY_RESULT : (size_t)PHI__SUMMARY_TEXT;
    switch (c->kind) {
    case PHI_CONTENT_TEXT: phi__summary_put(out, c->text, phi__min(of_text, most)); break;
    case PHI_CONTENT_IMAGE:
        phi__buf_text(out, "(an image: ");
        phi__summary_put(out, c->mime_type, 100);
        phi__buf_char(out, ')');
        break;
    case PHI_CONTENT_TOOL_CALL:
        phi__buf_text(out, "(calls ");
        phi__summary_put(out, c->name, 100);
        phi__buf_char(out, ' ');
        phi__summary_put(out, c->arguments, phi__min(PHI__SUMMARY_ARGUMENTS, most));
        phi__buf_char(out, ')');
        break;
    case PHI_CONTENT_DOCUMENT:
        phi__buf_text(out, "(a document: ");
        phi__summary_put(out, c->name.len > 0 ? c->name : c->mime_type, 100);
        phi__buf_char(out, ')');
        break;
    case PHI_CONTENT_AUDIO:
        phi__buf_text(out, "(a sound: ");
        phi__summary_put(out, c->mime_type, 100);
        phi__buf_char(out, ')');
        break;
    case PHI_CONTENT_OPAQUE:
        phi__buf_char(out, '(');
        phi__summary_put(out, c->name, 100);
        phi__buf_char(out, ')');
        break;
    case PHI_CONTENT_THINKING: return;
    }
    phi__buf_char(out, '\n');
}

static phi_text phi__summary_label(const phi_view_item *item) {
    const phi_message *m = item->message;
    if ((item->flags & PHI_ITEM_SUMMARY) != 0) return PHI_TEXT_WRITER_SUMMARY;
    if (m->role == PHI_ROLE_TOOL_RESULT)
        return m->is_error ? PHI_TEXT_WRITER_ERROR : PHI_TEXT_WRITER_RESULT;
    return m->role == PHI_ROLE_USER ? PHI_TEXT_WRITER_USER : PHI_TEXT_WRITER_ASSISTANT;
}

static void phi__summary_item(phi__buf *out, const phi_texts *texts, const phi_view_item *item,
                              size_t most) {
    const phi_message *m = item->message;
    size_t from = out->len;
    if (m->is_update) return; /* the next request repeats updates that still hold */
    phi__texts_put(out, texts, phi__summary_label(item), NULL);
    phi__buf_char(out, ' ');
    for (size_t i = 0; i < m->content_count && !out->failed && out->len - from < most; i++)
        phi__summary_block(out, m, &m->content[i], most / 2);
    if (!out->failed && out->len - from > most)
        out->len = from + phi__utf8_cut(phi__str(out->at + from, out->len - from), most);
}

/* Writes as many items as fit into a chunk, but at least one. */
static void phi__summary_chunk(phi__summary *s, const phi_texts *texts, phi__buf *out) {
    size_t from = out->len, before;
    for (; s->next < s->count && !out->failed; s->next++) {
        before = out->len;
        phi__summary_item(out, texts, s->items[s->next], s->chunk_bytes);
        if (!out->failed && out->len - from > s->chunk_bytes && before > from) {
            out->len = before;
            return;
        }
    }
}

static phi_status phi__summary_next(phi__agent *writer, phi__summary *s, phi_str so_far) {
    phi__buf prompt;
    phi_arena scratch;
    phi_status status = PHI_NO_MEMORY;
    if (writer->rt->closing) return PHI_CANCELLED;
    phi__buf_init(&prompt, &writer->memory);
    phi_arena_init(&scratch, &writer->memory, 0);
    /* The mark is random, so that text in the history cannot imitate the end of the chunk. */
    const phi_texts *texts = writer->desc.texts;
    bool next = so_far.len > 0;
    char mark[PHI__UUID_SIZE];
    phi__take_random_id(writer, mark);
    phi__texts_args args = PHI_ZERO;
    args.text = so_far;
    if (next) {
        phi__texts_put(&prompt, texts, PHI_TEXT_WRITER_SO_FAR, &args);
        phi__buf_text(&prompt, "\n\n");
    }
    args.text = phi_str_of(mark);
    phi__texts_put(&prompt, texts, next ? PHI_TEXT_WRITER_NEXT : PHI_TEXT_WRITER_FIRST, &args);
    phi__buf_printf(&prompt, "\n\n%s\n", mark);
    phi__summary_chunk(s, texts, &prompt);
    phi__buf_printf(&prompt, "\n%s\n\n", mark);
    phi__texts_put(&prompt, texts, next ? PHI_TEXT_WRITER_ASK_NEXT : PHI_TEXT_WRITER_ASK, NULL);
    phi__journal_free_thread(writer->thread); /* frees the memory of so_far */
    phi__feature_renewed(writer, NULL, false);
    phi_message *message = prompt.failed ? NULL : phi__compact_say(phi__buf_str(&prompt), &scratch);
    phi__run_order order = PHI_ZERO;
    order.prompts = message;
    order.prompt_count = 1;
    order.goes_on = true;
    if (message != NULL) status = phi__run_new(writer, &order);
    if (status == PHI_OK) phi__input_since(writer->run, s->posts_from);
    phi_arena_free(&scratch);
    phi__buf_free(&prompt);
    return status;
}

static bool phi__summary_text(phi__agent *writer, phi_str *out) {
    const phi_thread *thread = writer->thread;
    const phi__entry *entry = phi__lane_message(thread, thread->messages.count - 1);
    const phi_message *last = entry != NULL ? entry->message : NULL;
    phi__buf text;
    *out = phi__str("", 0);
    if (last == NULL || last->role != PHI_ROLE_ASSISTANT) return true;
    phi__buf_init(&text, &writer->memory);
    for (size_t i = 0; i < last->content_count; i++)
        if (last->content[i].kind == PHI_CONTENT_TEXT)
            phi__buf_add_str(&text, last->content[i].text);
    bool done = !text.failed && phi__arena_str(phi__thread_room(writer->thread),
                                               phi__str_trim(phi__buf_str(&text)), out);
    phi__buf_free(&text);
    if (last->stop_reason != PHI_STOP_REASON_STOP) *out = phi__str("", 0);
    return done;
}

/* Makes the finished summary the message of its span, with the model's usage. */
static bool phi__summary_whole(phi__agent *writer, phi__summary *s, phi_str text) {
    phi__texts_args args = PHI_ZERO;
    args.text = text;
    s->block.kind = PHI_CONTENT_TEXT;
    if (!phi__texts_make(&writer->arena, writer->desc.texts, PHI_TEXT_SUMMARY, &args,
                         &s->block.text))
        return false;
    s->message.role = PHI_ROLE_USER;
    s->message.content = &s->block;
    s->message.content_count = 1;
    s->spans[s->into].messages = &s->message;
    s->spans[s->into].message_count = 1;
    s->spans[s->into].summary = true;
    s->written.model = writer->desc.model.id;
    s->written.usage = writer->spent.usage;
    s->written.cost = writer->spent.cost;
    return true;
}

static void phi__summary_emit(phi__agent *agent, phi_status status, phi_str words) {
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_REWRITE;
    event.status = status;
    if (!phi__arena_str(phi__thread_room(agent->thread), words, &event.source))
        event.source = phi__str("", 0);
    (void)phi__events_emit(agent, &event);
}

/* Applies the result or reports the failure, then frees the writer. Nobody polls for this
   result. */
static void phi__summary_deliver(phi__agent *writer, phi__summary *s, phi_str words) {
    phi__agent *agent = writer->tree.parent;
    phi_status status = s->status;
    phi_rewrite rewrite = PHI_ZERO;
    rewrite.reason = PHI_REWRITE_COMPACTION;
    rewrite.has_base = true;
    rewrite.base_seq = s->base_seq;
    rewrite.spans = s->spans;
    rewrite.span_count = s->span_count;
    rewrite.written = &s->written;
    if (status == PHI_OK && agent->thread->lanes.active != s->lane) {
        status = PHI_STALE;
        words = PHI__LIT("the lane was switched meanwhile");
    }
    if (status == PHI_OK) {
        bool later = agent->run != NULL;
        /* if no run is active, this also emits the outcome */
        status = phi__deferred_rewrite(agent, &rewrite, true);
        if (!later || status == PHI_OK) words = phi__str(NULL, 0);
    }
    if (words.at != NULL) phi__summary_emit(agent, status, words);
    phi__end_retire(writer);
}

static void phi__summary_over(phi__agent *writer, phi_status status, const phi_failure *failure,
                              bool stopping) {
    phi__summary *s = (phi__summary *)writer->tree.watched;
    phi_str words = phi_str_of(phi_status_text(status)), text = {"", 0};
    if (failure != NULL && failure->message.len > 0) words = failure->message;
    if (status == PHI_OK && !phi__summary_text(writer, &text)) status = PHI_NO_MEMORY;
    if (status == PHI_OK &&
        (text.len == 0 ||
         phi_tokens_of_text(phi__projection_counter(writer->tree.parent), text) / 2 >
             s->max_tokens)) {
        status = PHI_REFUSED;
        words = text.len == 0 ? PHI__LIT("the model wrote no whole summary")
                              : PHI__LIT("the model's summary is too long");
    }
    if (status == PHI_OK && s->next < s->count) {
        status = stopping ? PHI_CANCELLED : phi__summary_next(writer, s, text);
        if (status == PHI_OK) return;
        words = phi_str_of(phi_status_text(status));
    } else if (status == PHI_OK && !phi__summary_whole(writer, s, text))
        status = PHI_NO_MEMORY;
    if (status == PHI_NO_MEMORY) words = PHI__LIT("out of memory");
    s->status = status;
    if (s->asked_for) phi__summary_deliver(writer, s, words);
}

/* ---- the writer ---- */

static bool phi__summary_instructions(const phi_summary_desc *desc, const phi_texts *texts,
                                      uint32_t max_tokens, const char *focus, phi__buf *out) {
    phi__texts_args args = PHI_ZERO;
    args.n = phi__max(max_tokens / 2, 20);
    args.text = phi_str_of(focus);
    if (desc->instructions != NULL)
        phi__buf_text(out, desc->instructions);
    else
        phi__texts_put(out, texts, PHI_TEXT_WRITER, &args);
    if (focus != NULL) {
        phi__buf_text(out, "\n\n");
        phi__texts_put(out, texts, PHI_TEXT_WRITER_FOCUS, &args);
    }
    phi__buf_char(out, '\0');
    return !out->failed;
}

static phi_agent_desc phi__summary_agent(const phi__agent *agent, const phi_summary_desc *desc,
                                         uint32_t max_tokens) {
    phi_agent_desc d = PHI_ZERO;
    d.model = desc->model != NULL ? *desc->model : agent->desc.model;
    d.provider = desc->model == NULL ? agent->desc.provider : NULL;
    d.max_tokens = max_tokens;
    d.cache.mode = PHI_CACHE_DISABLED; /* no two prompts are alike, so cache marks are useless */
    d.compaction.disable = true;
    d.options.disable_facts = true;
    d.limits.max_turns = 1;
    d.deadlines = agent->desc.deadlines;
    d.retry = agent->desc.retry;
    d.parent = agent->handle;
    d.hook_points = agent->desc.hook_points & (uint32_t)PHI_HOOK_CREDENTIAL;
    if (d.hook_points != 0) d.hook_fn = agent->desc.hook_fn; /* the host may provide the key */
    d.memory.limit_bytes = agent->desc.memory.limit_bytes;
    d.memory.at_limit = PHI_AT_MEMORY_LIMIT_STOP; /* the history is emptied before each chunk */
    d.memory.max_event_bytes = agent->desc.memory.max_event_bytes;
    d.memory.max_response_bytes = agent->desc.memory.max_response_bytes;
    d.user_data = agent->desc.user_data;
    d.hook_user_data = agent->desc.hook_user_data;
    return d;
}

static const phi__child_watch phi__summary_watch = {true, true, NULL, NULL, phi__summary_over,
                                                    NULL};

/* Watches a compactor's writer. The compactor's request has copies of the log, so the log need not
   stay in memory. */
static const phi__child_watch phi__summary_watch_job = {true, false, NULL, NULL, phi__summary_over,
                                                        NULL};

/* Makes the hidden agent, with an empty summary. On failure phi_last_error has a message. */
static phi_status phi__summary_new(phi__agent *agent, const phi_summary_desc *desc,
                                   const char *focus, phi__agent **out) {
    uint32_t max_tokens = desc->max_tokens != 0 ? desc->max_tokens : (uint32_t)PHI__SUMMARY_TOKENS;
    phi_agent_desc d = phi__summary_agent(agent, desc, max_tokens);
    phi__agent *writer = NULL;
    phi__buf text;
    phi__buf_init(&text, &agent->memory);
    if (phi__summary_instructions(desc, agent->desc.texts, max_tokens, focus, &text)) {
        d.system_prompt = text.at;
        writer = phi__agent_make(agent->rt, &d, NULL);
    } else
        (void)phi__error(agent->rt, PHI_NO_MEMORY, "a summary: out of memory");
    phi__buf_free(&text);
    if (writer == NULL) return phi__error_last(agent->rt, NULL);
    writer->tree.watch = &phi__summary_watch;
    phi__summary *s = (phi__summary *)phi__arena_zero(&writer->arena, sizeof *s);
    writer->tree.watched = s;
    if (s == NULL) {
        phi_agent_free(writer->handle);
        return phi__error(agent->rt, PHI_NO_MEMORY, "a summary: out of memory");
    }
    s->status = PHI_BUSY;
    s->posts_from = phi__posts_next(agent->rt);
    s->max_tokens = max_tokens;
    uint64_t tokens = desc->chunk_tokens;
    uint64_t window = writer->desc.model.context_window;
    size_t memory = writer->desc.memory.limit_bytes;
    if (tokens == 0) {
        tokens = window / 2;
        if (tokens > PHI__SUMMARY_CHUNK) tokens = PHI__SUMMARY_CHUNK;
    }
    if (memory != 0 && tokens > memory / PHI__SUMMARY_PART) tokens = memory / PHI__SUMMARY_PART;
    if (tokens < PHI__SUMMARY_LEAST) tokens = PHI__SUMMARY_LEAST;
    s->chunk_bytes = tokens < SIZE_MAX / 16 ? (size_t)tokens * 4 : SIZE_MAX / 4;
    *out = writer;
    return PHI_OK;
}

/* Collects the items to sum up: those in spans without messages, except DURABLE ones and
   extensions. */
static bool phi__summary_gather(phi__agent *writer, phi__summary *s, const phi_view_item *items,
                                size_t count) {
    size_t at = 0;
    s->items = (const phi_view_item **)phi_arena_alloc(
        &writer->arena, phi__mul(phi__max(count, 1), sizeof *s->items));
    if (s->items == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        const phi_view_item *item = &items[i];
        while (at < s->span_count && s->spans[at].to < item->from) at++;
        if (at == s->span_count) break;
        if (item->from < s->spans[at].from || (item->flags & PHI_ENTRY_DURABLE) != 0) continue;
        if (s->spans[at].message_count > 0 || item->message->role == PHI_ROLE_EXTENSION) continue;
        s->items[s->count++] = item;
    }
    return true;
}

/* ---- the compactor ---- */

typedef struct phi__summary_job {
    phi_memory *memory;
    phi_agent writer;
} phi__summary_job;

/* Plans the spans as phi's own plan does. Spans that this plan would replace by summary lines are
   emptied, and the last of them gets the model's summary. Spans with shortened results stay as
   planned. */
static phi_status phi__summary_plan(phi__agent *writer, phi__summary *s,
                                    const phi_compaction_request *request) {
    phi_compaction_config config = request->config;
    phi__compacted plan;
    phi_status status;
    for (;;) {
        status = phi__compact_plan(request->items, request->item_count, &config, NULL,
                                   &writer->arena, true, &plan);
        if (status != PHI_OK || plan.tokens_after <= request->target_tokens ||
            config.keep_recent_turns <= 1)
            break;
        config.keep_recent_turns /= 2;
    }
    if (status != PHI_OK) return status;
    s->span_count = s->into = plan.rewrite.span_count;
    s->spans = (phi_span *)phi_arena_alloc(&writer->arena,
                                           phi__mul(phi__max(s->span_count, 1), sizeof *s->spans));
    if (s->spans == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; i < s->span_count; i++) {
        s->spans[i] = plan.rewrite.spans[i];
        if (!s->spans[i].summary && s->spans[i].message_count > 0) continue;
        s->spans[i].message_count = 0;
        s->into = i;
    }
    /* only results are shortened, so no model is needed */
    if (s->into == s->span_count) return PHI_NOT_FOUND;
    return phi__summary_gather(writer, s, request->items, request->item_count) ? PHI_OK
                                                                               : PHI_NO_MEMORY;
}

static phi_status phi__summary_start(void *user_data, const phi_compaction_request *request,
                                     void **out) {
    static const phi_summary_desc defaults = {NULL, NULL, 0, 0};
    const phi_summary_desc *desc = (const phi_summary_desc *)user_data;
    phi__agent *agent = phi__find_agent(request->agent), *writer = NULL;
    /* not from the agent's memory, which is for the agent's answers */
    phi_memory *memory = &agent->rt->memory;
    phi__summary_job *job = (phi__summary_job *)phi__alloc(memory, sizeof *job);
    phi_status status = PHI_NO_MEMORY;
    phi_summary_desc d = desc != NULL ? *desc : defaults;
    if (d.max_tokens == 0) d.max_tokens = (uint32_t)PHI__SUMMARY_TOKENS;
    if (request->at_memory_limit && d.max_tokens > request->config.max_summary_tokens)
        d.max_tokens = (uint32_t)request->config.max_summary_tokens;
    if (job != NULL) status = phi__summary_new(agent, &d, request->config.focus_message, &writer);
    if (status == PHI_OK) {
        phi__summary *s = (phi__summary *)writer->tree.watched;
        writer->tree.watch = &phi__summary_watch_job;
        status = phi__summary_plan(writer, s, request);
        if (status == PHI_OK &&
            (s->count <= 1 && (s->count != 1 || (s->items[0]->flags & PHI_ITEM_SUMMARY) != 0)))
            status = PHI_NOT_FOUND;
        if (status == PHI_OK) status = phi__summary_next(writer, s, phi__str("", 0));
        job->memory = memory;
        job->writer = writer->handle;
    }
    *out = job;
    if (status == PHI_OK) return PHI_OK;
    if (writer != NULL) phi_agent_free(writer->handle);
    phi__free(memory, job, sizeof *job);
    return status;
}

static phi_status phi__summary_poll(void *user_data, void *job, phi_rewrite *out) {
    phi__agent *writer = phi__find_agent(((phi__summary_job *)job)->writer);
    const phi__summary *s = writer != NULL ? (const phi__summary *)writer->tree.watched : NULL;
    (void)user_data;
    if (s == NULL) return PHI_REFUSED;
    out->spans = s->spans;
    out->span_count = s->span_count;
    out->written = &s->written;
    return s->status;
}

static void phi__summary_end(void *user_data, void *opaque) {
    phi__summary_job *job = (phi__summary_job *)opaque;
    (void)user_data;
    phi_agent_free(job->writer);
    phi__free(job->memory, job, sizeof *job);
}

/* ---- phi_summarize ---- */

static bool phi__summary_going_on(const phi__agent *agent) {
    const phi__agent *child = agent->tree.first_child;
    for (; child != NULL; child = child->tree.next_child)
        if (child->tree.watch == &phi__summary_watch &&
            ((const phi__summary *)child->tree.watched)->asked_for)
            return true;
    return false;
}

/* Sets one span from `from` to `to`, and collects the items in it. */
static phi_status phi__summary_range(phi__agent *agent, phi__agent *writer, uint64_t from,
                                     uint64_t to) {
    phi__summary *s = (phi__summary *)writer->tree.watched;
    const phi_view_item *items = NULL;
    size_t count = 0;
    phi_status status =
        phi_thread_view(agent->thread, NULL, UINT64_MAX, &writer->arena, &items, &count);
    s->spans = (phi_span *)phi__arena_zero(&writer->arena, sizeof *s->spans);
    if (status != PHI_OK || s->spans == NULL) return PHI_NO_MEMORY;
    s->asked_for = true;
    s->base_seq = agent->thread->log.count - 1;
    s->lane = agent->thread->lanes.active;
    s->span_count = 1;
    s->spans[0].from = from;
    s->spans[0].to = to;
    if (!phi__summary_gather(writer, s, items, count)) return PHI_NO_MEMORY;
    if (s->count == 0)
        return phi__error(agent->rt, PHI_NOT_FOUND,
                          "phi_summarize: there is nothing in view from entry %llu to %llu",
                          (unsigned long long)from, (unsigned long long)to);
    /* points into the log; when the log is exchanged, the writer is freed */
    s->message.loop_id = s->items[0]->message->loop_id;
    s->message.turn_index = s->items[0]->message->turn_index;
    return PHI_OK;
}

/* ---- public ---- */

static void phi__summary_open(phi_runtime *rt) { rt->features.summarize_fn = phi_summarize; }

PHI_API const phi__feature *phi_feature_summaries(void) {
    static const phi__feature feature = {
        0, 0, 0, NULL, NULL, PHI__FEATURE_AT_SUMMARIES, phi__summary_open, NULL};
    return &feature;
}

PHI_API phi_compactor phi_compactor_model(const phi_summary_desc *desc) {
    phi_compactor compactor;
    compactor.start = phi__summary_start;
    compactor.poll = phi__summary_poll;
    compactor.end = phi__summary_end;
    compactor.user_data = (void *)(uintptr_t)desc;
    return compactor;
}

PHI_API phi_status phi_summarize(phi_agent handle, uint64_t from_seq, uint64_t to_seq) {
    phi__agent *agent = phi__find_agent(handle), *writer = NULL;
    phi_summary_desc desc = PHI_ZERO;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return phi__error(handle.rt, PHI_STALE, "phi_summarize: the agent is gone");
    if (!agent->thread->of_agent)
        return phi__error(handle.rt, PHI_MISUSE, "phi_summarize: the history is a phi_thread's");
    if (phi__summary_going_on(agent))
        return phi__error(handle.rt, PHI_BUSY, "phi_summarize: a summary is being written");
    if (from_seq < agent->thread->log.base) from_seq = agent->thread->log.base;
    char words[200] = "";
    phi_content text = phi__input_text(PHI__LIT("summary"));
    phi_message message = PHI_ZERO;
    phi_span span = PHI_ZERO;
    phi_rewrite rewrite = PHI_ZERO;
    message.role = PHI_ROLE_USER;
    message.content = &text;
    message.content_count = 1;
    span.from = from_seq;
    span.to = to_seq;
    span.messages = &message;
    span.message_count = 1;
    rewrite.reason = PHI_REWRITE_COMPACTION;
    rewrite.spans = &span;
    rewrite.span_count = 1;
    phi_status status =
        phi__rewrite_check(agent->thread, &rewrite, PHI__REWRITE_NOW, words, sizeof words);
    status = status == PHI_OK ? status
                              : phi__error(agent->rt, status, "phi_summarize: %s",
                                           words[0] != '\0' ? words : phi_status_text(status));
    if (agent->desc.compactor.start == phi__summary_start &&
        agent->desc.compactor.user_data != NULL)
        desc = *(const phi_summary_desc *)agent->desc.compactor.user_data;
    if (status == PHI_OK)
        status = phi__summary_new(agent, &desc, agent->desc.compaction.focus_message, &writer);
    if (writer == NULL) return status;
    status = phi__summary_range(agent, writer, from_seq, to_seq);
    if (status == PHI_OK)
        status = phi__summary_next(writer, (phi__summary *)writer->tree.watched, phi__str("", 0));
    if (status == PHI_OK) return PHI_OK;
    phi_agent_free(writer->handle);
    return status == PHI_NO_MEMORY ? phi__error(handle.rt, status, "phi_summarize: out of memory")
                                   : status;
}
