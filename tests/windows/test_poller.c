/* test_poller.c - sockets at the poller of Windows: here with AFD, in test_poller_plain.c with
   WSAPoll. Runs by `make windows` alone. */
#include "support/test.h"

#include "io/os_in.h"

#if defined(PHI__OS_WINDOWS)

#if !defined(POLLER_PLAIN)
#define POLLER_PLAIN false
#endif
/* a copy of the module is built here, so that the test sees the poller's struct */
#define phi__poller_new phi__test_poller_new
#define phi__poller_free phi__test_poller_free
#define phi__poller_change phi__test_poller_change
#define phi__poller_wait phi__test_poller_wait
#define phi__poller_fd phi__test_poller_fd
#define PHI_NO_PROCESS
#include "io/windows_in.h"

static int waits, controls, cancels;

static BOOL WINAPI counted_take(HANDLE port, OVERLAPPED_ENTRY *out, ULONG n, ULONG *got, DWORD ms,
                                BOOL alertable) {
    waits++;
    return GetQueuedCompletionStatusEx(port, out, n, got, ms, alertable);
}

static int WINAPI counted_poll(WSAPOLLFD *fds, ULONG n, int ms) {
    waits++;
    return WSAPoll(fds, n, ms);
}

#define GetQueuedCompletionStatusEx counted_take
#define WSAPoll counted_poll
#include "io/poller_windows.c"

static phi__nt_control_fn control_of_system;
static phi__nt_cancel_fn cancel_of_system;

static LONG NTAPI counted_control(HANDLE afd, HANDLE event, void *apc, void *context,
                                  IO_STATUS_BLOCK *status, ULONG code, void *in, ULONG in_len,
                                  void *out, ULONG out_len) {
    controls++;
    return control_of_system(afd, event, apc, context, status, code, in, in_len, out, out_len);
}

static LONG NTAPI counted_cancel(HANDLE afd, IO_STATUS_BLOCK *operation, IO_STATUS_BLOCK *status) {
    cancels++;
    return cancel_of_system(afd, operation, status);
}

typedef struct rig {
    phi_memory memory;
    phi__poller *poller;
    phi__poller_event events[PHI__POLLER_BATCH];
    int turns;
} rig;

static void rig_open(rig *r) {
    phi_allocator allocator = test_allocator();
    WSADATA data;
    memset(r, 0, sizeof *r);
    phi_memory_init(&r->memory, &allocator, 0);
    CHECK_EQ_INT(WSAStartup(MAKEWORD(2, 2), &data), 0);
    CHECK_EQ_INT(phi__poller_new(&r->memory, &r->poller), PHI_OK);
}

static void rig_close(rig *r) {
    phi__poller_free(r->poller);
    (void)WSACleanup();
}

static SOCKET made(void) { return WSASocketW(AF_INET, SOCK_STREAM, 0, NULL, 0, 1); }

static void not_blocking(SOCKET s) {
    u_long on = 1;
    CHECK_EQ_INT(ioctlsocket(s, (long)FIONBIO, &on), 0);
}

/* Binds to a free port of loopback. */
static void bind_here(SOCKET s, struct sockaddr_in *address) {
    int len = (int)sizeof *address;
    memset(address, 0, sizeof *address);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_EQ_INT(bind(s, (struct sockaddr *)address, len), 0);
    CHECK_EQ_INT(getsockname(s, (struct sockaddr *)address, &len), 0);
}

static void pair(SOCKET out[2]) {
    struct sockaddr_in address;
    SOCKET listener = made();
    bind_here(listener, &address);
    CHECK_EQ_INT(listen(listener, 1), 0);
    out[0] = made();
    CHECK_EQ_INT(connect(out[0], (struct sockaddr *)&address, (int)sizeof address), 0);
    out[1] = accept(listener, NULL, NULL);
    CHECK(out[1] != INVALID_SOCKET);
    not_blocking(out[0]);
    not_blocking(out[1]);
    (void)closesocket(listener);
}

static void watch(rig *r, SOCKET s, int was, int want, uint32_t key) {
    CHECK_EQ_INT(phi__poller_change(r->poller, (intptr_t)s, was, want, key), PHI_OK);
}

/* What a key has been reported ready for, in turns of together at most `ms`. 0: not reported. */
static int ready(rig *r, uint32_t key, int ms) {
    ULONGLONG end = GetTickCount64() + (ULONGLONG)ms;
    do {
        int n = phi__poller_wait(r->poller, 5, r->events);
        r->turns++;
        for (int i = 0; i < n; i++)
            if (r->events[i].key == key) return r->events[i].have;
    } while (GetTickCount64() < end);
    return 0;
}

static void the_driver_is_used_where_it_should_be(void) {
    rig r;
    rig_open(&r);
    CHECK_EQ_INT(r.poller->afd == INVALID_HANDLE_VALUE, POLLER_PLAIN);
    rig_close(&r);
}

static void a_socket_is_reported_until_it_is_read(void) {
    SOCKET two[2];
    char byte;
    rig r;
    rig_open(&r);
    pair(two);
    watch(&r, two[0], 0, PHI__READ, 3);
    CHECK_EQ_INT(ready(&r, 3, 50), 0);
    CHECK_EQ_INT(send(two[1], "ab", 2, 0), 2);
    for (int i = 0; i < 3; i++) CHECK_EQ_INT(ready(&r, 3, 1000), PHI__READ);
    CHECK_EQ_INT(recv(two[0], &byte, 1, 0), 1);
    CHECK_EQ_INT(ready(&r, 3, 1000), PHI__READ);
    CHECK_EQ_INT(recv(two[0], &byte, 1, 0), 1);
    CHECK_EQ_INT(ready(&r, 3, 50), 0);
    watch(&r, two[0], PHI__READ, 0, 3);
    CHECK_EQ_INT(send(two[1], "c", 1, 0), 1);
    CHECK_EQ_INT(ready(&r, 3, 50), 0);
    (void)closesocket(two[0]);
    (void)closesocket(two[1]);
    rig_close(&r);
}

static void what_is_wanted_changes_at_once(void) {
    SOCKET two[2];
    rig r;
    rig_open(&r);
    pair(two);
    watch(&r, two[0], 0, PHI__READ, 1);
    CHECK_EQ_INT(ready(&r, 1, 30), 0);
    watch(&r, two[0], PHI__READ, PHI__READ | PHI__WRITE, 1);
    CHECK_EQ_INT(ready(&r, 1, 1000), PHI__WRITE);
    watch(&r, two[0], PHI__READ | PHI__WRITE, PHI__READ, 1);
    (void)ready(&r, 1, 30); /* a report may be under way */
    CHECK_EQ_INT(ready(&r, 1, 50), 0);
    CHECK_EQ_INT(send(two[1], "x", 1, 0), 1);
    CHECK_EQ_INT(ready(&r, 1, 1000) & PHI__READ, PHI__READ);
    watch(&r, two[0], PHI__READ, 0, 1);
    (void)closesocket(two[0]);
    (void)closesocket(two[1]);
    rig_close(&r);
}

static void the_other_sides_end_can_be_read(void) {
    SOCKET two[2];
    char byte;
    rig r;
    rig_open(&r);
    pair(two);
    watch(&r, two[0], 0, PHI__READ, 2);
    (void)closesocket(two[1]);
    CHECK_EQ_INT(ready(&r, 2, 1000) & PHI__READ, PHI__READ);
    CHECK_EQ_INT(recv(two[0], &byte, 1, 0), 0);
    watch(&r, two[0], PHI__READ, 0, 2);
    (void)closesocket(two[0]);
    rig_close(&r);
}

static void a_refused_connection_is_reported(void) {
    struct sockaddr_in address;
    rig r;
    rig_open(&r);
    SOCKET bound = made(), s = made();
    bind_here(bound, &address); /* and does not listen */
    not_blocking(s);
    CHECK(connect(s, (struct sockaddr *)&address, (int)sizeof address) != 0);
    watch(&r, s, 0, PHI__WRITE, 5);
    CHECK_EQ_INT(ready(&r, 5, 10000) & PHI__WRITE, PHI__WRITE);
    watch(&r, s, PHI__WRITE, 0, 5);
    (void)closesocket(s);
    (void)closesocket(bound);
    rig_close(&r);
}

static void a_listener_is_reported_and_a_connection_is_made(void) {
    struct sockaddr_in address;
    rig r;
    rig_open(&r);
    SOCKET listener = made(), s = made(), peer;
    bind_here(listener, &address);
    CHECK_EQ_INT(listen(listener, 4), 0);
    not_blocking(listener);
    not_blocking(s);
    watch(&r, listener, 0, PHI__READ, 1);
    (void)connect(s, (struct sockaddr *)&address, (int)sizeof address);
    watch(&r, s, 0, PHI__WRITE, 2);
    CHECK_EQ_INT(ready(&r, 1, 1000), PHI__READ);
    CHECK_EQ_INT(ready(&r, 2, 1000), PHI__WRITE);
    peer = accept(listener, NULL, NULL);
    CHECK(peer != INVALID_SOCKET);
    CHECK_EQ_INT(ready(&r, 1, 50), 0);
    watch(&r, listener, PHI__READ, 0, 1);
    watch(&r, s, PHI__WRITE, 0, 2);
    (void)closesocket(peer);
    (void)closesocket(s);
    (void)closesocket(listener);
    rig_close(&r);
}

static void a_key_may_get_another_socket(void) {
    rig r;
    rig_open(&r);
    for (int i = 0; i < 50; i++) {
        SOCKET two[2];
        pair(two);
        watch(&r, two[0], 0, PHI__READ, 1);
        CHECK_EQ_INT(ready(&r, 1, 0), 0);
        CHECK_EQ_INT(send(two[1], "x", 1, 0), 1);
        CHECK_EQ_INT(ready(&r, 1, 1000), PHI__READ);
        watch(&r, two[0], PHI__READ, 0, 1);
        (void)closesocket(two[0]);
        (void)closesocket(two[1]);
    }
    rig_close(&r);
}

enum { MANY = 300 };

static void of_many_each_gets_its_turn(void) {
    static SOCKET all[MANY][2];
    static bool seen[MANY];
    int found = 0;
    rig r;
    rig_open(&r);
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < MANY; i++) {
        pair(all[i]);
        watch(&r, all[i][0], 0, PHI__READ, i + 1);
    }
    CHECK_EQ_INT(phi__poller_wait(r.poller, 0, r.events), 0);
    for (int i = 0; i < MANY; i++) CHECK_EQ_INT(send(all[i][1], "x", 1, 0), 1);
    for (int turns = 0; turns < 1000 && found < MANY; turns++) {
        int n = phi__poller_wait(r.poller, 5, r.events);
        for (int i = 0; i < n; i++) {
            size_t at = r.events[i].key - 1;
            if (!seen[at]) found++;
            seen[at] = true;
        }
    }
    CHECK_EQ_INT(found, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        if (i % 2 == 0) watch(&r, all[i][0], PHI__READ, 0, i + 1);
        (void)closesocket(all[i][0]); /* half of them are closed while they are watched */
        (void)closesocket(all[i][1]);
    }
    (void)phi__poller_wait(r.poller, 0, r.events);
    rig_close(&r);
}

/* The work of a turn follows from the ready sockets: one ready of `count`, again and again. WSAPoll
   gets all sockets in each turn, but is called once. */
static void ready_among(int count) {
    enum { ROUNDS = 20, MOST = 500 };
    static SOCKET all[MOST][2];
    char byte;
    rig r;
    rig_open(&r);
    control_of_system = r.poller->control;
    cancel_of_system = r.poller->cancel;
    for (int i = 0; i < count; i++) {
        pair(all[i]);
        watch(&r, all[i][0], 0, PHI__READ, (uint32_t)i + 1);
    }
    CHECK_EQ_INT(phi__poller_wait(r.poller, 0, r.events), 0);
    r.poller->control = counted_control;
    r.poller->cancel = counted_cancel;
    waits = controls = cancels = r.turns = 0;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t at = (uint32_t)(i * 7 % count);
        CHECK_EQ_INT(send(all[at][1], "x", 1, 0), 1);
        CHECK_EQ_INT(ready(&r, at + 1, 5000), PHI__READ);
        CHECK_EQ_INT(recv(all[at][0], &byte, 1, 0), 1);
        CHECK_EQ_INT(ready(&r, at + 1, 0), 0);
    }
    CHECK_EQ_INT(controls, POLLER_PLAIN ? 0 : ROUNDS);
    CHECK_EQ_INT(cancels, 0);
    CHECK_EQ_INT(waits, POLLER_PLAIN ? 2 * r.turns : r.turns);
    r.poller->control = control_of_system;
    r.poller->cancel = cancel_of_system;
    for (int i = 0; i < count; i++) {
        watch(&r, all[i][0], PHI__READ, 0, (uint32_t)i + 1);
        (void)closesocket(all[i][0]);
        (void)closesocket(all[i][1]);
    }
    rig_close(&r);
}

static void a_ready_socket_costs_the_same_among_ten_and_among_five_hundred(void) {
    ready_among(10);
    ready_among(500);
}

static void a_closed_socket_is_dropped_and_the_others_stay(void) {
    SOCKET closed[2], other[2];
    rig r;
    rig_open(&r);
    pair(closed);
    pair(other);
    watch(&r, closed[0], 0, PHI__READ, 1);
    watch(&r, other[0], 0, PHI__READ, 2);
    CHECK_EQ_INT(ready(&r, 1, 20), 0);
    (void)closesocket(closed[0]);
    watch(&r, closed[0], PHI__READ, PHI__READ | PHI__WRITE, 1);
    CHECK_EQ_INT(ready(&r, 1, 50), 0);
    CHECK_EQ_INT(send(other[1], "x", 1, 0), 1);
    CHECK_EQ_INT(ready(&r, 2, 1000), PHI__READ);
    CHECK_EQ_INT(r.poller->afd == INVALID_HANDLE_VALUE, POLLER_PLAIN);
    watch(&r, closed[0], PHI__READ | PHI__WRITE, 0, 1);
    watch(&r, other[0], PHI__READ, 0, 2);
    (void)closesocket(closed[1]);
    (void)closesocket(other[0]);
    (void)closesocket(other[1]);
    rig_close(&r);
}

static DWORD WINAPI wait_once(void *ctx) {
    rig *r = (rig *)ctx;
    return (DWORD)phi__poller_wait(r->poller, 0, r->events);
}

/* The system ends operations of a thread that has ended. */
static void a_socket_is_watched_though_the_thread_that_began_it_has_ended(void) {
    SOCKET two[2];
    rig r;
    rig_open(&r);
    pair(two);
    watch(&r, two[0], 0, PHI__READ, 1);
    HANDLE thread = CreateThread(NULL, 0, wait_once, &r, 0, NULL);
    CHECK_EQ_INT(WaitForSingleObject(thread, 20000), WAIT_OBJECT_0);
    (void)CloseHandle(thread);
    CHECK_EQ_INT(ready(&r, 1, 20), 0);
    CHECK_EQ_INT(send(two[1], "x", 1, 0), 1);
    CHECK_EQ_INT(ready(&r, 1, 1000), PHI__READ);
    watch(&r, two[0], PHI__READ, 0, 1);
    (void)closesocket(two[0]);
    (void)closesocket(two[1]);
    rig_close(&r);
}

/* After the driver has failed, its polls end, and all sockets go on with WSAPoll. */
static LONG NTAPI failing_control(HANDLE afd, HANDLE event, void *apc, void *context,
                                  IO_STATUS_BLOCK *status, ULONG code, void *in, ULONG in_len,
                                  void *out, ULONG out_len) {
    (void)afd, (void)event, (void)apc, (void)context, (void)status, (void)code;
    (void)in, (void)in_len, (void)out, (void)out_len;
    return (LONG)0xC00000BB; /* STATUS_NOT_SUPPORTED */
}

static void a_driver_that_fails_in_the_midst_is_replaced(void) {
    SOCKET two[2], more[2];
    rig r;
    rig_open(&r);
    pair(two);
    pair(more);
    watch(&r, two[0], 0, PHI__READ, 1);
    CHECK_EQ_INT(ready(&r, 1, 20), 0);
    r.poller->control = failing_control;
    watch(&r, more[0], 0, PHI__READ, 2);
    CHECK_EQ_INT(ready(&r, 2, 50), 0);
    CHECK(r.poller->afd == INVALID_HANDLE_VALUE);
    CHECK_EQ_INT(r.poller->under_way, 0);
    CHECK_EQ_INT(send(two[1], "x", 1, 0), 1);
    CHECK_EQ_INT(ready(&r, 1, 1000), PHI__READ);
    CHECK_EQ_INT(send(more[1], "x", 1, 0), 1);
    CHECK_EQ_INT(ready(&r, 2, 1000), PHI__READ);
    watch(&r, two[0], PHI__READ, 0, 1);
    watch(&r, more[0], PHI__READ, 0, 2);
    for (int i = 0; i < 2; i++) {
        (void)closesocket(two[i]);
        (void)closesocket(more[i]);
    }
    rig_close(&r);
}

static void a_wait_lasts_as_long_as_it_may(void) {
    SOCKET two[2];
    rig r;
    rig_open(&r);
    pair(two);
    watch(&r, two[0], 0, PHI__READ, 1);
    ULONGLONG begun = GetTickCount64();
    CHECK_EQ_INT(phi__poller_wait(r.poller, 200, r.events), 0);
    ULONGLONG took = GetTickCount64() - begun;
    CHECK(took >= 150 && took < 20000);
    watch(&r, two[0], PHI__READ, 0, 1);
    (void)closesocket(two[0]);
    (void)closesocket(two[1]);
    rig_close(&r);
}

static void without_memory_nothing_is_watched(void) {
    SOCKET two[2];
    bool done = false;
    rig r;
    rig_open(&r);
    pair(two);
    for (int n = 0; n < 20 && !done; n++) {
        test_alloc_fail_at(n);
        phi_status status = phi__poller_change(r.poller, (intptr_t)two[0], 0, PHI__READ, 7);
        done = !test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, done ? PHI_OK : PHI_NO_MEMORY);
        CHECK_EQ_INT(phi__poller_wait(r.poller, 0, r.events), 0);
    }
    CHECK(done);
    watch(&r, two[0], PHI__READ, 0, 7);
    (void)closesocket(two[0]);
    (void)closesocket(two[1]);
    rig_close(&r);
}

TEST_MAIN(TEST_ENTRY(the_driver_is_used_where_it_should_be),
          TEST_ENTRY(a_socket_is_reported_until_it_is_read),
          TEST_ENTRY(what_is_wanted_changes_at_once), TEST_ENTRY(the_other_sides_end_can_be_read),
          TEST_ENTRY(a_refused_connection_is_reported),
          TEST_ENTRY(a_listener_is_reported_and_a_connection_is_made),
          TEST_ENTRY(a_key_may_get_another_socket), TEST_ENTRY(of_many_each_gets_its_turn),
          TEST_ENTRY(a_ready_socket_costs_the_same_among_ten_and_among_five_hundred),
          TEST_ENTRY(a_closed_socket_is_dropped_and_the_others_stay),
          TEST_ENTRY(a_socket_is_watched_though_the_thread_that_began_it_has_ended),
          TEST_ENTRY(a_driver_that_fails_in_the_midst_is_replaced),
          TEST_ENTRY(a_wait_lasts_as_long_as_it_may), TEST_ENTRY(without_memory_nothing_is_watched))

#else

int main(void) { return 0; }

#endif
