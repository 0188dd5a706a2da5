/* session.c - the table of session ids and the counts of their runs. */
#include "loop/inner_in.h"

static phi__session *phi__session_find(const phi__sessions *sessions, phi_str id) {
    uint64_t hash = phi__hash(id, 0);
    phi__session *session;
    size_t probe = 0;
    while ((session = (phi__session *)phi__map_each(&sessions->map, hash, &probe)) != NULL)
        if (phi_str_equal(session->id, id)) break;
    return session;
}

static void phi__session_name(phi__sessions *sessions, phi__session *session, phi_str id,
                              char *to) {
    if (id.len > 0) memmove(to, id.at, id.len);
    to[id.len] = '\0';
    session->id = phi__str(to, id.len);
    session->hash = phi__hash(session->id, 0);
    session->number = ++sessions->numbers;
}

static phi__session *phi__session_new(phi__sessions *sessions, phi_str id) {
    size_t room = phi__max(phi__add(id.len, 1), PHI__UUID_SIZE);
    phi__session *session = (phi__session *)phi__alloc(sessions->memory, sizeof *session);
    char *text = session != NULL ? (char *)phi__alloc(sessions->memory, room) : NULL;
    if (text == NULL) {
        phi__free(sessions->memory, session, sizeof *session);
        return NULL;
    }
    session->refs = 1;
    session->id_room = room;
    phi__session_name(sessions, session, id, text);
    phi__map_add(&sessions->map, session->hash, session);
    return session;
}

/* ---- counts ---- */

static char *phi__session_segment(phi__session_count *count) { return (char *)(count + 1); }

static phi__session_count *phi__session_count_of(phi__session *session, phi_str segment) {
    phi__session_count *count = session->counts;
    while (count != NULL &&
           !phi_str_equal(phi__str(phi__session_segment(count), count->len), segment))
        count = count->next;
    return count;
}

static void phi__session_forget(phi__sessions *sessions, phi__session *session) {
    while (session->counts != NULL) {
        phi__session_count *count = session->counts;
        session->counts = count->next;
        phi__free(sessions->memory, count, sizeof *count + count->len);
    }
}

PHI__FN bool phi__session_room(phi__sessions *sessions, phi__session *session, phi_str segment) {
    if (phi__session_count_of(session, segment) != NULL) return true;
    if (segment.len >= UINT32_MAX) return false;
    phi__session_count *count =
        (phi__session_count *)phi__alloc(sessions->memory, phi__add(sizeof *count, segment.len));
    if (count == NULL) return false;
    count->len = (uint32_t)segment.len;
    if (segment.len > 0) memcpy(phi__session_segment(count), segment.at, segment.len);
    count->next = session->counts;
    session->counts = count;
    return true;
}

PHI__FN uint32_t phi__session_next(phi__sessions *sessions, phi__session *session,
                                   phi_str segment) {
    if (!phi__session_room(sessions, session, segment)) return 0;
    phi__session_count *count = phi__session_count_of(session, segment);
    if (count->runs == UINT32_MAX) return 0; /* all numbers are used; none is given twice */
    return ++count->runs;
}

PHI__FN uint32_t phi__session_count_so_far(phi__session *session, phi_str segment) {
    const phi__session_count *count = phi__session_count_of(session, segment);
    return count != NULL ? count->runs : 0;
}

/* A larger number is not phi's count, but comes from a changed file, and is ignored. Continuing
   from it would use up the numbers of all agents that share the session. Smaller numbers do not
   collide with such a number. */
#define PHI__SESSION_RUNS_MOST ((uint64_t)1 << 31)

PHI__FN bool phi__session_go_on(phi__sessions *sessions, phi__session *session, phi_str segment,
                                uint64_t runs) {
    if (runs == 0 || runs > PHI__SESSION_RUNS_MOST ||
        phi__session_count_so_far(session, segment) >= runs)
        return true;
    if (phi__session_next(sessions, session, segment) == 0) return false;
    phi__session_count_of(session, segment)->runs = (uint32_t)runs;
    return true;
}

/* Returns N of "session.segment.N", and the segment. 0: the id is not from this session. */
static uint64_t phi__session_number(const phi__session *session, phi_str loop_id,
                                    phi_str *segment) {
    size_t from = session->id.len + 1, dot = loop_id.len;
    uint64_t n = 0;
    if (loop_id.len <= from || memcmp(loop_id.at, session->id.at, from - 1) != 0 ||
        loop_id.at[from - 1] != '.')
        return 0;
    while (dot > from && loop_id.at[dot - 1] != '.') dot--;
    if (dot <= from || !phi__str_to_u64(phi__str(loop_id.at + dot, loop_id.len - dot), &n))
        return 0;
    *segment = phi__str(loop_id.at + from, dot - 1 - from);
    return n;
}

PHI__FN bool phi__session_saw(phi__sessions *sessions, phi__session *session, phi_str loop_id) {
    phi_str segment;
    uint64_t n = phi__session_number(session, loop_id, &segment);
    return n == 0 || phi__session_go_on(sessions, session, segment, n);
}

typedef struct phi__session_told {
    phi__sessions *sessions;
    phi__session *session;
} phi__session_told;

static bool phi__session_read_one(void *user_data, phi_str loop_id) {
    const phi__session_told *r = (const phi__session_told *)user_data;
    return phi__session_saw(r->sessions, r->session, loop_id);
}

PHI__FN bool phi__session_read(phi__sessions *sessions, phi__session *session, phi_thread *thread) {
    phi__session_told r;
    r.sessions = sessions;
    r.session = session;
    return phi__loops_visit(thread, session->number, phi__session_read_one, &r);
}

PHI__FN void phi__session_undo(phi__session *session, phi_str segment) {
    phi__session_count *count = phi__session_count_of(session, segment);
    if (count != NULL && count->runs > 0) count->runs--;
}

/* ---- sessions ---- */

PHI__FN void phi__session_init(phi__sessions *sessions, phi_memory *memory) {
    memset(sessions, 0, sizeof *sessions);
    sessions->memory = memory;
    phi__map_init(&sessions->map, memory);
}

PHI__FN void phi__session_free_all(phi__sessions *sessions) {
    PHI_ASSERT(sessions->map.count == 0);
    phi__map_free(&sessions->map);
    phi__session_init(sessions, sessions->memory);
}

PHI__FN phi__session *phi__session_take(phi__sessions *sessions, phi_str id) {
    phi__session *session = phi__session_find(sessions, id);
    if (session == NULL)
        return phi__map_room(&sessions->map) ? phi__session_new(sessions, id) : NULL;
    session->refs++;
    return session;
}

PHI__FN void phi__session_drop(phi__sessions *sessions, phi__session *session) {
    if (session == NULL || --session->refs > 0) return;
    phi__map_drop(&sessions->map, session->hash, session);
    phi__session_forget(sessions, session);
    phi__free(sessions->memory, (char *)(uintptr_t)session->id.at, session->id_room);
    phi__free(sessions->memory, session, sizeof *session);
}

PHI__FN bool phi__session_renew(phi__sessions *sessions, phi__session **session, phi_str id) {
    phi__session *old = *session, *other = phi__session_find(sessions, id);
    if (old->refs == 1 && id.len < old->id_room && (other == NULL || other == old)) {
        phi__map_drop(&sessions->map, old->hash, old);
        phi__session_forget(sessions, old);
        phi__session_name(sessions, old, id, (char *)(uintptr_t)old->id.at);
        phi__map_add(&sessions->map, old->hash, old);
        return true;
    }
    other = phi__session_take(sessions, id);
    if (other == NULL) return false;
    phi__session_drop(sessions, old);
    *session = other;
    return true;
}

/* ---- the sequence of an agent's runs ---- */

PHI__FN void phi__line_take_last(phi__agent *agent, phi_str loop_id) {
    phi__disown(&agent->memory, &agent->line.last_loop_id);
    agent->line.last_loop_id = loop_id;
}

PHI__FN bool phi__line_remember(phi__agent *agent, phi_str loop_id) {
    phi_str copy;
    if (!phi__own(&agent->memory, loop_id, &copy)) return false;
    phi__line_take_last(agent, copy);
    return true;
}

PHI__FN void phi__line_begin(phi__agent *agent, phi__session *session, phi_str last_loop_id) {
    phi_str segment;
    if (session != NULL) {
        phi__session_drop(&agent->rt->sessions, agent->line.session);
        agent->line.session = session;
    }
    if (phi__session_number(agent->line.session, last_loop_id, &segment) == 0)
        phi__disown(&agent->memory, &last_loop_id);
    phi__line_take_last(agent, last_loop_id);
    agent->line.last_active_us = 0;
}

PHI__FN bool phi__line_renew(phi__agent *agent, phi_str session_id) {
    if (!phi__session_renew(&agent->rt->sessions, &agent->line.session, session_id)) return false;
    phi__line_begin(agent, NULL, phi__str(NULL, 0));
    return true;
}

PHI__FN bool phi__line_begin_run(phi__agent *agent, phi_str loop_id) {
    if (!phi__line_remember(agent, loop_id)) return false;
    agent->line.loops++;
    agent->line.last_active_us = phi__io_now_us(agent->rt->io);
    return true;
}

PHI__FN void phi__line_count(phi__agent *agent, uint32_t loops) {
    if (loops > agent->line.loops) agent->line.loops = loops;
}
