/* link: visd_server visd_view visd_scene visd_segment visd_daemon visd_proto */
/* The door against honest and hostile peers: raw sockets, and stock nng sockets. The handler is an echo. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <nng/nng.h>
#include <nng/protocol/pubsub0/sub.h>
#include <nng/protocol/reqrep0/req.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/server/door.h"
#include "proto/limits.h"

#define GREETING_MS 400
#define STALL_MS 600
#define CAP 60

static const uint8_t req_greeting[8] = {0, 'S', 'P', 0, 0, 0x30, 0, 0};
static const uint8_t sub_greeting[8] = {0, 'S', 'P', 0, 0, 0x21, 0, 0};

/* ---- a door on a thread of its own ---- */

struct house {
    uv_loop_t loop;
    uv_async_t command;
    pthread_t thread;
    struct visd_users users;
    struct visd_door *door;
    char path[64], url[80], why[512];
    _Atomic int wanted; /* 1: send events; 2: close */
    _Atomic unsigned events_refused;
    struct visd_request *kept[64];
    unsigned kept_count;
};

static struct house house;

static void on_opened(void *user, struct visd_conn *conn)
{
    (void)user;
    assert_null(*visd_conn_owner(conn));
}

static void answer_text(struct visd_request *request, const char *text)
{
    visd_request_answer(request, (uint8_t *)strdup(text), strlen(text));
}

/* Echoes; "big" is answered with a mebibyte, "keep" with nothing. */
static void on_request(void *user, struct visd_request *request)
{
    struct house *h = user;
    if (request->err != VISD_ERR_OK) {
        answer_text(request, visd_err_name(request->err));
        return;
    }
    size_t size = request->size - request->words;
    const uint8_t *body = request->body + request->words;
    if (size == 3 && memcmp(body, "big", 3) == 0) {
        visd_request_answer(request, calloc(1, 1 << 20), 1 << 20);
    } else if (size == 4 && memcmp(body, "keep", 4) == 0 && h->kept_count < 64) {
        h->kept[h->kept_count++] = request;
    } else {
        uint8_t *copy = malloc(size + 1);
        memcpy(copy, body, size);
        visd_request_answer(request, copy, size);
    }
}

static void on_closed(void *user, struct visd_conn *conn)
{
    (void)user;
    (void)conn;
}

static void on_emptied(void *user)
{
    struct house *h = user;
    uv_close((uv_handle_t *)&h->command, NULL);
}

static const struct visd_door_handler handler = {.opened = on_opened, .request = on_request, .closed = on_closed, .emptied = on_emptied};

static void on_command(uv_async_t *async)
{
    struct house *h = async->data;
    int wanted = atomic_exchange(&h->wanted, 0);
    if (wanted == 1)
        for (struct visd_conn *conn = visd_conn_next(h->door, NULL); conn; conn = visd_conn_next(h->door, conn))
            if (visd_conn_kind(conn) == VISD_CONN_SUB && visd_conn_event(conn, calloc(1, 60000), 60000) != VISD_ERR_OK)
                h->events_refused++;
    if (wanted == 2) {
        for (unsigned i = 0; i < h->kept_count; i++)
            visd_request_drop(h->kept[i]);
        h->kept_count = 0;
        visd_door_close(h->door);
    }
}

static void command(int what)
{
    atomic_store(&house.wanted, what);
    uv_async_send(&house.command);
}

static void *run_loop(void *arg)
{
    struct house *h = arg;
    uv_run(&h->loop, UV_RUN_DEFAULT);
    return NULL;
}

static int setup(void **state)
{
    (void)state;
    memset(&house, 0, sizeof(house));
    uv_loop_init(&house.loop);
    uv_async_init(&house.loop, &house.command, on_command);
    house.command.data = &house;
    struct visd_door_params params = {.loop = &house.loop, .users = &house.users, .handler = &handler, .user = &house, .socket_mode = 0600,
                                      .connections = CAP, .greeting_ms = GREETING_MS, .stall_ms = STALL_MS};
    assert_int_equal(visd_door_create(&house.door, &params), VISD_ERR_OK);
    snprintf(house.path, sizeof(house.path), "/tmp/test_door_%d.sock", (int)getpid());
    snprintf(house.url, sizeof(house.url), "ipc://%s", house.path);
    if (visd_door_listen(house.door, house.url, house.why, sizeof(house.why)) != VISD_ERR_OK)
        fail_msg("%s", house.why);
    return pthread_create(&house.thread, NULL, run_loop, &house);
}

static int teardown(void **state)
{
    char lock[80];
    (void)state;
    command(2);
    pthread_join(house.thread, NULL);
    visd_door_destroy(house.door);
    assert_int_equal(uv_loop_close(&house.loop), 0); /* no handle was left behind */
    assert_null(house.users.first);                  /* and no charge */
    assert_int_equal(access(house.path, F_OK), -1);  /* nor the socket */
    snprintf(lock, sizeof(lock), "%s.lock", house.path);
    assert_int_equal(access(lock, F_OK), -1); /* nor its lock */
    return 0;
}

/* ---- a raw peer ---- */

static int dial(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval limit = {.tv_sec = 5};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    strcpy(address.sun_path, house.path);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    while (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        if (errno != EAGAIN && errno != EINTR)
            fail_msg("connect: %s", strerror(errno));
    return fd;
}

static bool put(int fd, const void *bytes, size_t size)
{
    return send(fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static bool get(int fd, void *out, size_t size)
{
    for (size_t at = 0; at < size;) {
        ssize_t n = recv(fd, (char *)out + at, size - at, 0);
        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

static bool ended(int fd) /* the door has closed it */
{
    char byte[4096];
    ssize_t n;
    while ((n = recv(fd, byte, sizeof(byte), 0)) > 0)
        ;
    return n == 0 || errno == ECONNRESET || errno == EPIPE;
}

static int greet(const uint8_t greeting[8])
{
    uint8_t answer[8];
    int fd = dial();
    assert_true(put(fd, greeting, 8));
    assert_true(get(fd, answer, 8));
    assert_int_equal(answer[5], greeting[5] == 0x30 ? 0x31 : 0x20);
    return fd;
}

static bool put_header(int fd, uint64_t length)
{
    uint8_t header[9] = {1};
    for (int i = 0; i < 8; i++)
        header[1 + i] = (uint8_t)(length >> (56 - 8 * i));
    return put(fd, header, 9);
}

static bool put_request(int fd, uint32_t id, const void *body, size_t size)
{
    uint32_t word = htonl(id | 0x80000000u);
    return put_header(fd, size + 4) && put(fd, &word, 4) && put(fd, body, size);
}

/* Reads one reply; its body's size, or -1. */
static ssize_t get_reply(int fd, uint32_t id, void *out, size_t room)
{
    uint8_t header[9];
    uint32_t word;
    uint64_t length = 0;
    if (!get(fd, header, 9) || !get(fd, &word, 4))
        return -1;
    for (int i = 0; i < 8; i++)
        length = length << 8 | header[1 + i];
    assert_int_equal(word, htonl(id | 0x80000000u));
    assert_true(length - 4 <= room);
    return get(fd, out, length - 4) ? (ssize_t)length - 4 : -1;
}

/* A new peer is served: the door is alive. */
static void assert_alive(void)
{
    char out[16];
    int fd = greet(req_greeting);
    assert_true(put_request(fd, 5, "hello", 5));
    assert_int_equal(get_reply(fd, 5, out, sizeof(out)), 5);
    assert_memory_equal(out, "hello", 5);
    close(fd);
}

static unsigned open_files(void)
{
    unsigned count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

/* Waits for descriptors to come back; false: they have not in ten seconds. */
static bool files_come_back(unsigned before)
{
    for (unsigned i = 0; i < 1000 && open_files() > before + 2; i++)
        poll(NULL, 0, 10);
    return open_files() <= before + 2;
}

/* Whether the door hangs up within so many milliseconds; nothing is read. */
static bool hangs_up(int fd, unsigned ms)
{
    struct pollfd wait = {.fd = fd, .events = POLLRDHUP};
    return poll(&wait, 1, (int)ms) == 1;
}

/* ---- honest peers ---- */

static void echo(void **state)
{
    (void)state;
    char out[16];
    int fd = greet(req_greeting);
    for (uint32_t i = 0; i < 100; i++) {
        assert_true(put_request(fd, i, &i, sizeof(i)));
        assert_int_equal(get_reply(fd, i, out, sizeof(out)), sizeof(i));
        assert_memory_equal(out, &i, sizeof(i));
    }
    close(fd);
}

struct many {
    int fd;
    atomic_bool put; /* all of them */
};

static void *put_many(void *arg)
{
    struct many *many = arg;
    bool good = true;
    for (uint32_t i = 0; i < 2000 && good; i++)
        good = put_request(many->fd, i, &i, sizeof(i));
    atomic_store(&many->put, true);
    return (void *)(uintptr_t)good;
}

/* Far more than may be unanswered at a time: it is held back, and goes on. */
static void pipelined(void **state)
{
    (void)state;
    char out[16];
    int fd = greet(req_greeting), little = 16 << 10; /* for the kernel to hold, whatever its default is */
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &little, sizeof(little)), 0);
    struct many many = {.fd = fd};
    pthread_t thread;
    void *good;
    pthread_create(&thread, NULL, put_many, &many);
    struct pollfd full = {.fd = fd, .events = POLLOUT};
    bool held_back = false;
    while (!held_back && !atomic_load(&many.put)) {
        held_back = poll(&full, 1, 0) == 0;
        sched_yield();
    }
    assert_true(held_back);
    for (uint32_t i = 0; i < 2000; i++)
        assert_int_equal(get_reply(fd, i, out, sizeof(out)), sizeof(i));
    pthread_join(thread, &good);
    assert_non_null(good);
    close(fd);
}

static void *put_large(void *arg)
{
    int fd = *(int *)arg;
    size_t size = 20 << 20;
    uint8_t *body = malloc(size);
    for (size_t i = 0; i < size; i++)
        body[i] = (uint8_t)(i * 7 + i / 256);
    uint32_t word = htonl(0x80000001u);
    bool good = put_header(fd, size + 4) && put(fd, &word, 4);
    for (size_t at = 0; good && at < size; at += 100003)
        good = put(fd, body + at, size - at < 100003 ? size - at : 100003);
    free(body);
    return (void *)(uintptr_t)good;
}

static void large_body(void **state)
{
    (void)state;
    size_t size = 20 << 20;
    uint8_t *out = malloc(size);
    int fd = greet(req_greeting);
    pthread_t thread;
    void *good;
    pthread_create(&thread, NULL, put_large, &fd);
    assert_int_equal(get_reply(fd, 1, out, size), size);
    pthread_join(thread, &good);
    assert_non_null(good);
    for (size_t i = 0; i < size; i++)
        if (out[i] != (uint8_t)(i * 7 + i / 256))
            fail_msg("byte %zu differs", i);
    free(out);
    close(fd);
}

static void nine_hops(void **state)
{
    (void)state;
    uint8_t body[40], out[49];
    int fd = greet(req_greeting);
    for (uint32_t i = 0; i < 9; i++) {
        uint32_t word = htonl(i == 8 ? 0x80000042u : 100 + i);
        memcpy(body + 4 * i, &word, 4);
    }
    memcpy(body + 36, "body", 4);
    assert_true(put_header(fd, 40) && put(fd, body, 40));
    assert_true(get(fd, out, 49));
    assert_memory_equal(out + 9, body, 40); /* all words echoed, then the body */
    close(fd);
}

static void nng_round_trip(const char *url)
{
    nng_socket socket;
    nng_msg *msg;
    assert_int_equal(nng_req0_open(&socket), 0);
    nng_socket_set_ms(socket, NNG_OPT_RECVTIMEO, 5000);
    assert_int_equal(nng_dial(socket, url, NULL, 0), 0);
    for (uint32_t i = 0; i < 50; i++) {
        nng_msg_alloc(&msg, 0);
        nng_msg_append_u32(msg, i);
        assert_int_equal(nng_sendmsg(socket, msg, 0), 0);
        assert_int_equal(nng_recvmsg(socket, &msg, 0), 0);
        uint32_t back = 0;
        nng_msg_trim_u32(msg, &back);
        assert_int_equal(back, i);
        nng_msg_free(msg);
    }
    nng_close(socket);
}

static void stock_req(void **state)
{
    (void)state;
    nng_round_trip(house.url);
}

static void stock_sub(void **state)
{
    (void)state;
    nng_socket socket;
    nng_msg *msg;
    assert_int_equal(nng_sub0_open(&socket), 0);
    nng_socket_set(socket, NNG_OPT_SUB_SUBSCRIBE, "", 0);
    nng_socket_set_ms(socket, NNG_OPT_RECVTIMEO, 100);
    assert_int_equal(nng_dial(socket, house.url, NULL, 0), 0);
    int rv = NNG_ETIMEDOUT;
    for (unsigned i = 0; i < 50 && rv != 0; i++) {
        command(1);
        rv = nng_recvmsg(socket, &msg, 0);
    }
    assert_int_equal(rv, 0);
    assert_int_equal(nng_msg_len(msg), 60000);
    nng_msg_free(msg);
    nng_close(socket);
}

/* ---- hostile peers ---- */

static void connect_and_leave(void **state)
{
    (void)state;
    unsigned before = open_files();
    for (unsigned i = 0; i < 10000; i++)
        close(dial());
    assert_alive();
    assert_true(files_come_back(before));
}

static void leave_with_reset(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 500; i++) {
        int fd = dial();
        put(fd, req_greeting, i % 9); /* unread bytes at close make it a reset */
        close(fd);
    }
    assert_alive();
}

static void bad_greetings(void **state)
{
    (void)state;
    static const uint8_t wrong[][8] = {
        {0, 'S', 'P', 0, 0, 0x10, 0, 0}, {0, 'S', 'P', 0, 0, 0x31, 0, 0}, {0, 'S', 'P', 1, 0, 0x30, 0, 0}, "GET / HT", {0, 'S', 'P', 0, 0, 0x30, 1, 0},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        int fd = dial();
        assert_true(put(fd, wrong[i], 8));
        assert_true(ended(fd));
        close(fd);
    }
    int half = dial(), silent = dial();
    assert_true(put(half, req_greeting, 5));
    assert_true(ended(half)); /* after GREETING_MS */
    assert_true(ended(silent));
    close(half);
    close(silent);
    assert_alive();
}

static void bad_lengths(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {0, 3, 1ull << 33, (1ull << 63) - 1, 0xFFFFFFFFFFFFFFE0ull, UINT64_MAX};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        int fd = greet(req_greeting);
        assert_true(put_header(fd, lengths[i]));
        assert_true(ended(fd));
        close(fd);
    }
    int fd = greet(req_greeting);
    assert_true(put(fd, "\x02\0\0\0\0\0\0\0\x08", 9)); /* not a message */
    assert_true(ended(fd));
    close(fd);
    assert_alive();
}

static void oversize_is_refused_by_name(void **state)
{
    (void)state;
    char out[32];
    uint8_t *chunk = calloc(1, 1 << 20);
    uint32_t word = htonl(0x80000003u);
    int fd = greet(req_greeting);
    size_t size = VISD_MAX_MESSAGE_BYTES + (5u << 20);
    assert_true(put_header(fd, size + 4) && put(fd, &word, 4));
    for (size_t at = 0; at < size; at += 1 << 20)
        assert_true(put(fd, chunk, 1 << 20));
    assert_int_equal(get_reply(fd, 3, out, sizeof(out)), 7);
    assert_memory_equal(out, "too_big", 7);
    assert_true(put_request(fd, 4, "still", 5)); /* and the connection goes on */
    assert_int_equal(get_reply(fd, 4, out, sizeof(out)), 5);
    free(chunk);
    close(fd);
}

/* What a peer claims costs nothing until it comes. */
static void claims_cost_nothing(void **state)
{
    (void)state;
    int fds[40];
    for (unsigned i = 0; i < 40; i++) {
        fds[i] = greet(req_greeting);
        assert_true(put_header(fds[i], VISD_MAX_MESSAGE_BYTES));
    }
    assert_alive();
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long pages = 0, resident = 0;
    assert_int_equal(fscanf(file, "%lu %lu", &pages, &resident), 2);
    fclose(file);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(resident * 4096 < (200ul << 20));
#endif
    for (unsigned i = 0; i < 40; i++) {
        assert_true(ended(fds[i])); /* half-open bodies are reaped */
        close(fds[i]);
    }
    assert_alive();
}

static void trickle(void **state)
{
    (void)state;
    int fd = greet(req_greeting);
    bool cut = false;
    assert_true(put_header(fd, 100));
    for (unsigned i = 0; i < 40 && !cut; i++) { /* always moving, never done */
        cut = !put(fd, "\x80", 1);
        hangs_up(fd, 50);
    }
    assert_true(cut || ended(fd));
    close(fd);
    assert_alive();
}

static void no_return_path(void **state)
{
    (void)state;
    uint8_t body[80] = {0};
    int fd = greet(req_greeting);
    assert_true(put_header(fd, 4) && put(fd, body, 4));
    assert_true(ended(fd));
    close(fd);
    fd = greet(req_greeting);
    assert_true(put_header(fd, 80) && put(fd, body, 80)); /* twenty words, none of them the last */
    assert_true(ended(fd));
    close(fd);
}

/* Asks for far more than it reads: it is not read further, loses its connection, and nobody else notices. */
static void never_reads(void **state)
{
    (void)state;
    int fd = greet(req_greeting);
    struct timeval limit = {.tv_usec = 200000};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    for (uint32_t i = 0; i < 64; i++)
        put_request(fd, i, "big", 3);
    assert_alive();
    assert_true(hangs_up(fd, STALL_MS + 5000));
    assert_alive();
    assert_true(ended(fd));
    close(fd);
}

static void leaves_in_the_middle(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        int fd = greet(req_greeting);
        if (i % 3 == 0) {
            put_request(fd, i, "big", 3);
        } else if (i % 3 == 1) {
            put_header(fd, 10 << 20);
            put(fd, req_greeting, 8);
        } else {
            put_request(fd, i, "keep", 4);
        }
        close(fd);
    }
    assert_alive();
}

/* A peer that tries until the caps let it in. */
static int greet_when_let_in(void)
{
    uint8_t answer[8];
    for (unsigned i = 0; i < 1000; i++) {
        int fd = dial();
        if (put(fd, req_greeting, 8) && get(fd, answer, 8))
            return fd;
        close(fd);
    }
    fail_msg("not let in again");
    return -1;
}

static void caps(void **state)
{
    (void)state;
    int fds[CAP];
    for (unsigned i = 0; i < CAP; i++)
        fds[i] = greet(req_greeting);
    int extra = dial();
    assert_true(ended(extra)); /* closed before a byte is read */
    close(extra);
    close(fds[0]);
    fds[0] = greet_when_let_in(); /* and there is room again */
    for (unsigned i = 0; i < CAP; i++)
        close(fds[i]);
    close(greet_when_let_in());
    assert_alive();
}

static void subscriber_may_not_talk(void **state)
{
    (void)state;
    int fd = greet(sub_greeting);
    assert_true(put_request(fd, 1, "hello", 5));
    assert_true(ended(fd));
    close(fd);
}

static void subscriber_never_reads(void **state)
{
    (void)state;
    int fd = greet(sub_greeting);
    for (unsigned i = 0; i < 200 && !house.events_refused; i++) {
        command(1);
        assert_alive(); /* and with it the loop has seen the command */
    }
    assert_true(house.events_refused > 0); /* its queue is bounded: the sender is told */
    assert_false(hangs_up(fd, STALL_MS + 300));
    uint8_t header[9]; /* it may sleep, and then reads what was kept for it */
    assert_true(get(fd, header, 9));
    assert_memory_equal(header, "\x01\0\0\0\0\0\0\xea\x60", 9);
    close(fd);
    assert_alive();
}

static void leaks_nothing(void **state)
{
    (void)state;
    unsigned before = open_files();
    for (unsigned i = 0; i < 1500; i++) {
        int fd = dial();
        uint8_t answer[8];
        if (i % 3 == 0) {
            put(fd, req_greeting, 8);
            get(fd, answer, 8);
        } else if (i % 3 == 1) {
            put(fd, req_greeting, 4);
        } else {
            put(fd, "GET / HTTP/1.1\r\n", 16);
        }
        close(fd);
    }
    assert_true(files_come_back(before));
    assert_alive();
}

/* ---- paths ---- */

static enum visd_err try_listen(const char *url, unsigned mode, char *why, size_t size, struct stat *st)
{
    struct visd_users users = {0};
    struct visd_door *door;
    uv_loop_t loop;
    struct house other = {0};
    uv_loop_init(&loop);
    uv_async_init(&loop, &other.command, on_command);
    struct visd_door_params params = {.loop = &loop, .users = &users, .handler = &handler, .user = &other, .socket_mode = mode};
    assert_int_equal(visd_door_create(&door, &params), VISD_ERR_OK);
    enum visd_err err = visd_door_listen(door, url, why, size);
    if (st && err == VISD_ERR_OK)
        stat(url + 6, st);
    visd_door_close(door);
    uv_run(&loop, UV_RUN_DEFAULT);
    visd_door_destroy(door);
    assert_int_equal(uv_loop_close(&loop), 0);
    return err;
}

/* A second daemon on a live path goes away by itself, and the first one does not notice. */
static void second_start(void **state)
{
    (void)state;
    char why[512];
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(try_listen(house.url, 0600, why, sizeof(why), NULL), VISD_ERR_BUSY);
        assert_non_null(strstr(why, "another visd listens on"));
    }
    assert_alive();
}

static void paths(void **state)
{
    (void)state;
    char path[64], url[80], why[512], long_url[200];
    struct stat st;
    snprintf(path, sizeof(path), "/tmp/test_door_%d.other", (int)getpid());
    snprintf(url, sizeof(url), "ipc://%s", path);
    static const unsigned masks[] = {0, 022, 077};
    for (unsigned i = 0; i < 3; i++) { /* the mode is what was asked for, whatever the umask */
        mode_t old = umask(masks[i]);
        assert_int_equal(try_listen(url, 0660, why, sizeof(why), &st), VISD_ERR_OK);
        assert_int_equal(st.st_mode & 0777, 0660);
        assert_int_equal(try_listen(url, 0600, why, sizeof(why), &st), VISD_ERR_OK);
        assert_int_equal(st.st_mode & 0777, 0600);
        umask(old);
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 5), 0);
    assert_int_equal(try_listen(url, 0600, why, sizeof(why), NULL), VISD_ERR_BUSY); /* a live one stays */
    assert_non_null(strstr(why, "another program listens"));
    assert_int_equal(access(path, F_OK), 0);
    close(fd);
    assert_int_equal(try_listen(url, 0600, why, sizeof(why), NULL), VISD_ERR_OK); /* a dead one is replaced */
    fclose(fopen(path, "w"));
    assert_int_equal(try_listen(url, 0600, why, sizeof(why), NULL), VISD_ERR_EXISTS);
    assert_non_null(strstr(why, "is not a socket"));
    unlink(path);
    memset(long_url, 'x', sizeof(long_url));
    memcpy(long_url, "ipc:///tmp/", 11);
    long_url[150] = '\0';
    assert_int_equal(try_listen(long_url, 0600, why, sizeof(why), NULL), VISD_ERR_TOO_BIG);
    assert_int_equal(try_listen("ipc:///no/such/place/x", 0600, why, sizeof(why), NULL), VISD_ERR_IO);
    assert_int_equal(try_listen("ipc://", 0600, why, sizeof(why), NULL), VISD_ERR_BAD_VALUE);
    assert_int_equal(try_listen("tcp://0.0.0.0:1", 0600, why, sizeof(why), NULL), VISD_ERR_DENIED);
    assert_int_equal(try_listen("tls+tcp://127.0.0.1:1", 0600, why, sizeof(why), NULL), VISD_ERR_BAD_VALUE);
    static const char *const portless[] = {"127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x", "127.0.0.1:1x", "127.0.0.1:-1", "[::1]", "localhost", ""};
    for (size_t i = 0; i < sizeof(portless) / sizeof(portless[0]); i++) {
        char url[64];
        snprintf(url, sizeof(url), "tcp://%s", portless[i]);
        assert_int_equal(try_listen(url, 0600, why, sizeof(why), NULL), VISD_ERR_BAD_VALUE);
        assert_non_null(strstr(why, "no port from 1 to 65535"));
    }
    assert_int_equal(try_listen("tcp://127.example.com:1", 0600, why, sizeof(why), NULL), VISD_ERR_DENIED); /* a name, wherever it leads */
    assert_int_equal(try_listen("tcp://localhost.example.com:1", 0600, why, sizeof(why), NULL), VISD_ERR_DENIED);
    assert_int_equal(try_listen("tcp://[::2]:1", 0600, why, sizeof(why), NULL), VISD_ERR_DENIED);
    assert_int_equal(try_listen("ws://127.0.0.1:1", 0600, why, sizeof(why), NULL), VISD_ERR_NOT_SUPPORTED);
    assert_int_equal(try_listen("smtp://127.0.0.1:1", 0600, why, sizeof(why), NULL), VISD_ERR_BAD_VALUE);
}

int main(void)
{
    visd_log_init(VISD_LOG_ERR);
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(echo), T(pipelined), T(large_body), T(nine_hops), T(stock_req), T(stock_sub), T(connect_and_leave), T(leave_with_reset),
        T(second_start), T(bad_greetings), T(bad_lengths), T(oversize_is_refused_by_name), T(claims_cost_nothing), T(trickle),
        T(no_return_path), T(never_reads), T(leaves_in_the_middle), T(caps), T(subscriber_may_not_talk), T(subscriber_never_reads),
        T(leaks_nothing), cmocka_unit_test(paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
