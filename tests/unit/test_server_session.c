/* link: visd_server visd_view visd_scene visd_segment visd_daemon visd_proto */
/* Clients and what they own: over reconnects, over re-sent requests, within their user's share, and at the stop.
 * A real server on a thread of its own; its worker is a stub that answers every job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/segment/segment.h"
#include "daemon/server/server.h"
#include "proto/codec.h"
#include "proto/messages.h"

#define GRACE_MS 400

/* ---- a server with a stub for a worker ---- */

static struct house {
    uv_loop_t loop;
    uv_async_t stop;
    pthread_t loop_thread, worker_thread;
    struct visd_segment *segment;
    struct visd_server *server;
    char path[64], url[80];
    bool has_worker;
} house;

static void *run_worker(void *arg)
{
    struct visd_segment *segment;
    struct visd_job job;
    assert_int_equal(visd_segment_attach(&segment, arg), VISD_ERR_OK);
    for (;;) {
        visd_segment_wait_job(segment, -1);
        while (visd_segment_take_job(segment, &job)) {
            struct visd_result result = {.serial = job.serial, .kind = job.kind, .view = job.view, .received_ns = 1};
            if (job.kind == VISD_JOB_STOP) {
                visd_segment_destroy(segment);
                return NULL;
            }
            visd_segment_put_result(segment, &result);
        }
    }
}

static void on_stop(uv_async_t *async)
{
    (void)async;
    visd_server_stop(house.server, 500);
}

static void on_stopped(void *user)
{
    (void)user;
    uv_close((uv_handle_t *)&house.stop, NULL);
}

static void *run_loop(void *arg)
{
    uv_run(arg, UV_RUN_DEFAULT);
    return NULL;
}

static int start(bool worker)
{
    char why[512];
    memset(&house, 0, sizeof(house));
    house.has_worker = worker;
    uv_loop_init(&house.loop);
    uv_async_init(&house.loop, &house.stop, on_stop);
    assert_int_equal(visd_segment_create(&house.segment, 1ull << 32), VISD_ERR_OK);
    struct visd_server_params params = {.loop = &house.loop, .segment = house.segment, .worker = worker, .device = "a stub", .worker_kind = "thread",
                                        .version = "test", .socket_mode = 0666, .stopped = on_stopped, .grace_ms = GRACE_MS};
    assert_int_equal(visd_server_create(&house.server, &params), VISD_ERR_OK);
    snprintf(house.path, sizeof(house.path), "/tmp/test_session_%d.sock", (int)getpid());
    snprintf(house.url, sizeof(house.url), "ipc://%s", house.path);
    if (visd_server_listen(house.server, house.url, why, sizeof(why)) != VISD_ERR_OK)
        fail_msg("%s", why);
    if (worker)
        pthread_create(&house.worker_thread, NULL, run_worker, house.segment);
    return pthread_create(&house.loop_thread, NULL, run_loop, &house.loop);
}

static int setup(void **state)
{
    (void)state;
    return start(true);
}

static int setup_bare(void **state)
{
    (void)state;
    return start(false);
}

static int teardown(void **state)
{
    char lock[80];
    struct visd_job stop = {.kind = VISD_JOB_STOP, .serial = 1ull << 60};
    (void)state;
    uv_async_send(&house.stop);
    pthread_join(house.loop_thread, NULL);
    if (house.has_worker) {
        visd_segment_put_job(house.segment, &stop);
        pthread_join(house.worker_thread, NULL);
    }
    visd_server_destroy(house.server);
    assert_int_equal(visd_segment_used(house.segment), 0); /* no block was left behind */
    visd_segment_destroy(house.segment);
    assert_int_equal(uv_loop_close(&house.loop), 0);
    snprintf(lock, sizeof(lock), "%s.lock", house.path);
    assert_int_equal(access(lock, F_OK), -1); /* nor its lock */
    return 0;
}

/* ---- a client ---- */

struct peer {
    int fd;
    uint32_t word;
    struct visd_arena arena;
    uint8_t *bytes;
};

static struct peer dial(void)
{
    static const uint8_t greeting[8] = {0, 'S', 'P', 0, 0, 0x30, 0, 0};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval limit = {.tv_sec = 5};
    uint8_t answer[8];
    struct peer peer = {.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    strcpy(address.sun_path, house.path);
    setsockopt(peer.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    assert_int_equal(connect(peer.fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(send(peer.fd, greeting, 8, 0), 8);
    if (recv(peer.fd, answer, 8, MSG_WAITALL) != 8)
        peer.word = UINT32_MAX; /* not let in */
    return peer;
}

static void hang_up(struct peer *peer)
{
    close(peer->fd);
    free(peer->bytes);
    visd_arena_finish(&peer->arena);
}

static void send_as(struct peer *peer, struct visd_message *message, uint32_t word)
{
    struct visd_buf buf = {0};
    struct visd_refused why;
    uint8_t head[13] = {1};
    if (visd_encode(message, &buf, &why) != VISD_ERR_OK)
        fail_msg("%s", why.text);
    uint32_t length = htonl((uint32_t)buf.size + 4), id = htonl(0x80000000u | word);
    memcpy(head + 5, &length, 4);
    memcpy(head + 9, &id, 4);
    assert_int_equal(send(peer->fd, head, 13, MSG_NOSIGNAL), 13);
    assert_int_equal(send(peer->fd, buf.at, buf.size, MSG_NOSIGNAL), buf.size);
    visd_buf_finish(&buf);
}

static void read_reply(struct peer *peer, uint32_t word, struct visd_message *out)
{
    uint8_t head[13];
    uint32_t length, id;
    struct visd_refused why;
    assert_int_equal(recv(peer->fd, head, 13, MSG_WAITALL), 13);
    memcpy(&length, head + 5, 4);
    memcpy(&id, head + 9, 4);
    assert_int_equal(ntohl(id), 0x80000000u | word);
    size_t size = ntohl(length) - 4;
    free(peer->bytes);
    peer->bytes = malloc(size);
    assert_int_equal(recv(peer->fd, peer->bytes, size, MSG_WAITALL), size);
    visd_arena_reset(&peer->arena);
    if (visd_decode(peer->bytes, size, &peer->arena, out, &why) != VISD_ERR_OK)
        fail_msg("%s", why.text);
}

static enum visd_err ask(struct peer *peer, struct visd_message *message, struct visd_message *out)
{
    uint32_t word = ++peer->word;
    message->n = word;
    send_as(peer, message, word);
    read_reply(peer, word, out);
    assert_int_equal(out->n, word);
    return out->type == VISD_MSG_ERROR ? (enum visd_err)out->error.err : VISD_ERR_OK;
}

static bool silent(struct peer *peer, int ms)
{
    struct pollfd wait = {.fd = peer->fd, .events = POLLIN};
    return poll(&wait, 1, ms) == 0;
}

static void says(const struct visd_message *out, const char *what)
{
    char text[VISD_MAX_TEXT_BYTES + 1];
    assert_int_equal(out->type, VISD_MSG_ERROR);
    snprintf(text, sizeof(text), "%.*s", (int)out->error.text.size, out->error.text.at);
    if (!strstr(text, what))
        fail_msg("'%s' does not say '%s'", text, what);
}

static enum visd_err hello(struct peer *peer, uint8_t id, struct visd_message *out)
{
    struct visd_message in = {.type = VISD_MSG_HELLO};
    in.hello.version = VISD_PROTO_VERSION;
    memset(in.hello.client, id, sizeof(in.hello.client));
    in.hello.name = visd_str_of("test");
    return ask(peer, &in, out);
}

static enum visd_err create(struct peer *peer, const char *name, struct visd_message *out)
{
    struct visd_message in = {.type = VISD_MSG_SCENE_CREATE};
    in.scene_create.name = visd_str_of(name);
    return ask(peer, &in, out);
}

static enum visd_err batch(struct peer *peer, uint32_t scene, uint8_t id, uint64_t number, struct visd_message *out)
{
    struct visd_message in = {.type = VISD_MSG_BATCH};
    in.batch.scene = scene;
    memset(in.batch.client, id, sizeof(in.batch.client));
    in.batch.number = number;
    return ask(peer, &in, out);
}

static enum visd_err open_view(struct peer *peer, uint32_t scene, uint8_t id, uint64_t key, struct visd_message *out)
{
    struct visd_message in = {.type = VISD_MSG_VIEW_OPEN};
    in.view_open.scene = scene;
    memset(in.view_open.client, id, sizeof(in.view_open.client));
    in.view_open.key = key;
    return ask(peer, &in, out);
}

static struct visd_message frame_of(struct visd_msg_frame *frame, uint32_t view, uint64_t number)
{
    static const double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    struct visd_message in = {.type = VISD_MSG_FRAMES};
    memset(frame, 0, sizeof(*frame));
    frame->view = view;
    frame->frame = number;
    memcpy(frame->camera.view, identity, sizeof(identity));
    memcpy(frame->camera.proj, identity, sizeof(identity));
    frame->camera.width = frame->camera.height = 64;
    in.frames.frames = frame;
    in.frames.frames_count = 1;
    return in;
}

/* Lets the grace of a client that has left run out: that is the deadline under test. */
static void outlive_grace(void)
{
    poll(NULL, 0, GRACE_MS + 1200);
}

static double statistic(struct peer *peer, const char *name)
{
    struct visd_message in = {.type = VISD_MSG_STATS}, out;
    assert_int_equal(ask(peer, &in, &out), VISD_ERR_OK);
    for (uint32_t k = 0; k < out.stats_ok.values_count; k++)
        if (visd_str_is(out.stats_ok.values[k].name, name))
            return out.stats_ok.values[k].value;
    return -1;
}

/* Asks until the daemon has no other connection; false: it still has one after a thousand answers. */
static bool alone(struct peer *peer)
{
    for (unsigned i = 0; i < 1000; i++)
        if (statistic(peer, "connections") == 1)
            return true;
    return false;
}

/* ---- tests ---- */

static void greets(void **state)
{
    (void)state;
    struct visd_message out, in = {.type = VISD_MSG_PING};
    struct peer peer = dial();
    assert_int_equal(hello(&peer, 1, &out), VISD_ERR_OK);
    assert_true(out.hello_ok.epoch > 0);
    assert_true(visd_str_is(out.hello_ok.device, "a stub"));
    assert_int_equal(out.hello_ok.limits_count, visd_limit_count);
    assert_int_equal(out.hello_ok.batch_number, 0);
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_OK);
    assert_int_equal(out.pong.worker_ns, 1); /* it went through the worker */
    assert_true(out.pong.sent_ns >= out.pong.received_ns && out.pong.received_ns > 0);
    hang_up(&peer);
}

static void numbers(void **state)
{
    (void)state;
    struct visd_message out;
    struct peer one = dial(), two = dial();
    assert_int_equal(hello(&one, 1, &out), VISD_ERR_OK);
    assert_int_equal(create(&one, "s", &out), VISD_ERR_OK);
    uint32_t scene = out.scene.row.scene;
    assert_int_equal(batch(&one, scene, 1, 2, &out), VISD_ERR_CONFLICT);
    assert_int_equal(out.error.expected, 1);
    for (uint64_t i = 1; i <= 20; i++) {
        assert_int_equal(batch(&one, scene, 1, i, &out), VISD_ERR_OK);
        assert_int_equal(out.committed.revision, i);
    }
    assert_int_equal(hello(&two, 1, &out), VISD_ERR_OK); /* the same client, elsewhere */
    assert_int_equal(out.hello_ok.batch_number, 20);
    assert_int_equal(batch(&two, scene, 1, 19, &out), VISD_ERR_OK);
    assert_int_equal(out.committed.revision, 19); /* the reply that it got then */
    assert_int_equal(batch(&two, scene, 1, 1, &out), VISD_ERR_CONFLICT);
    says(&out, "long ago");
    assert_int_equal(batch(&two, scene, 1, 0, &out), VISD_ERR_CONFLICT);
    assert_int_equal(batch(&two, scene, 9, 1, &out), VISD_ERR_DENIED); /* hello named another client */
    hang_up(&one);
    hang_up(&two);
    outlive_grace();
    struct peer three = dial(); /* its numbers outlive the grace */
    assert_int_equal(hello(&three, 1, &out), VISD_ERR_OK);
    assert_int_equal(out.hello_ok.batch_number, 20);
    assert_int_equal(batch(&three, scene + 1, 1, 21, &out), VISD_ERR_NOT_FOUND);
    assert_int_equal(batch(&three, scene, 1, 21, &out), VISD_ERR_OK);
    hang_up(&three);
}

static void views_outlive_connections(void **state)
{
    (void)state;
    struct visd_message out;
    struct peer peer = dial();
    hello(&peer, 2, &out);
    create(&peer, "s", &out);
    uint32_t scene = out.scene.row.scene;
    assert_int_equal(open_view(&peer, scene, 2, 7, &out), VISD_ERR_OK);
    uint32_t view = out.view.view;
    hang_up(&peer);
    peer = dial();
    assert_true(alone(&peer)); /* the daemon knows that the other has left */
    struct visd_msg_frame frame;
    struct visd_message in = frame_of(&frame, view, 1); /* sent again before hello, as nng does */
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_OK);
    assert_int_equal(out.results.results[0].err, VISD_ERR_OK);
    outlive_grace(); /* and by that it is the client's connection: the view stays */
    in = frame_of(&frame, view, 2);
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_OK);
    hang_up(&peer);
    outlive_grace();
    peer = dial();
    in = frame_of(&frame, view, 3);
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_NOT_FOUND);
    hello(&peer, 2, &out);
    assert_int_equal(open_view(&peer, scene, 2, 7, &out), VISD_ERR_OK);
    assert_true(out.view.view != view); /* a number is not given to another view */
    hang_up(&peer);
}

/* However many are gone, each has its grace and no more. */
static void all_are_let_go(void **state)
{
    (void)state;
    enum { CLIENTS = 6 };
    struct visd_message out;
    struct peer peer = dial();
    hello(&peer, 40, &out);
    create(&peer, "s", &out);
    uint32_t scene = out.scene.row.scene;
    for (uint8_t i = 0; i < CLIENTS; i++) {
        struct peer other = dial();
        hello(&other, 41 + i, &out);
        assert_int_equal(open_view(&other, scene, 41 + i, 1, &out), VISD_ERR_OK);
        hang_up(&other);
    }
    assert_int_equal(statistic(&peer, "views"), CLIENTS);
    outlive_grace();
    assert_int_equal(statistic(&peer, "views"), 0);
    hang_up(&peer);
}

static void a_request_sent_again_attaches(void **state)
{
    (void)state;
    struct visd_message out;
    struct peer one = dial(), two = dial();
    hello(&one, 3, &out);
    create(&one, "s", &out);
    uint32_t scene = out.scene.row.scene;
    open_view(&one, scene, 3, 1, &out);
    uint32_t view = out.view.view;
    struct visd_msg_frame frame;
    struct visd_message in = frame_of(&frame, view, 1);
    assert_int_equal(ask(&one, &in, &out), VISD_ERR_OK);
    in = frame_of(&frame, view, 2);
    frame.has_wait = frame.wait = true;
    in.n = 99;
    send_as(&one, &in, 99);
    assert_true(silent(&one, 150)); /* nothing has changed */
    send_as(&two, &in, 99);         /* the same request, on another connection */
    assert_true(silent(&two, 150));
    assert_true(silent(&one, 1));
    in = frame_of(&frame, view, 1); /* an older frame, come too late */
    assert_int_equal(ask(&one, &in, &out), VISD_ERR_OK);
    assert_int_equal(out.results.results[0].err, VISD_ERR_SUPERSEDED);
    in = frame_of(&frame, view, 3); /* a newer camera takes the place of the one that waits */
    assert_int_equal(ask(&one, &in, &out), VISD_ERR_OK);
    read_reply(&two, 99, &out);
    assert_int_equal(out.n, 99);
    assert_int_equal(out.results.results[0].err, VISD_ERR_SUPERSEDED);
    assert_int_equal(out.results.results[0].frame, 2);
    assert_true(silent(&one, 50)); /* the first sender gets nothing more */
    hang_up(&one);
    hang_up(&two);
}

static void shares(void **state)
{
    (void)state;
    struct visd_message out;
    char name[16];
    struct peer peer = dial();
    hello(&peer, 4, &out);
    for (unsigned i = 0; i < VISD_MAX_USER_SCENES; i++) {
        snprintf(name, sizeof(name), "s%u", i);
        assert_int_equal(create(&peer, name, &out), VISD_ERR_OK);
    }
    uint32_t last = out.scene.row.scene;
    assert_int_equal(create(&peer, "one more", &out), VISD_ERR_QUOTA);
    says(&out, "user_scenes");
    struct visd_message in = {.type = VISD_MSG_SCENE_REMOVE};
    in.scene_remove.scene = last;
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_OK);
    enum visd_err err = VISD_ERR_QUOTA; /* what is given back can be had again, once the worker has let go of it */
    for (unsigned i = 0; i < 1000 && err == VISD_ERR_QUOTA; i++)
        err = create(&peer, "one more", &out);
    assert_int_equal(err, VISD_ERR_OK);
    assert_true(out.scene.row.scene != last);
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_NOT_FOUND); /* the old number is nobody's */
    for (unsigned i = 0; i < VISD_MAX_CLIENT_BATCHES + 1; i++) {
        struct visd_message begin = {.type = VISD_MSG_BATCH_BEGIN};
        begin.batch_begin.scene = last - 1;
        memset(begin.batch_begin.client, 4, 16);
        begin.batch_begin.number = 1;
        assert_int_equal(ask(&peer, &begin, &out), VISD_ERR_OK); /* each begins the same one anew */
    }
    hang_up(&peer);
}

/* What its frames make a view hold on the device is the user's to pay for, in one request or in many, and comes back. */
static void views_are_paid_for(void **state)
{
    (void)state;
    enum { MOST = 5, SIDE = 16384 }; /* of a little over 4/3 GiB each; 8 GiB is the share */
    struct visd_message out;
    struct visd_msg_frame frames[MOST + 1], frame;
    struct visd_message in;
    uint32_t views[MOST + 1];
    struct peer peer = dial();
    hello(&peer, 9, &out);
    create(&peer, "s", &out);
    uint32_t scene = out.scene.row.scene;
    for (uint32_t i = 0; i <= MOST; i++) {
        assert_int_equal(open_view(&peer, scene, 9, i, &out), VISD_ERR_OK);
        views[i] = out.view.view;
        frame_of(&frames[i], views[i], 1);
        frames[i].camera.width = frames[i].camera.height = SIDE;
    }
    in = frame_of(&frame, views[0], 1);
    in.frames.frames = frames;
    in.frames.frames_count = MOST + 1;
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_QUOTA); /* one too many, and none is taken */
    says(&out, "frames[5]: with 16384 x 16384 pixels of 1 samples view ");
    says(&out, "would hold 1365 MiB, and user_view_mib (8192) is used up");
    in.frames.frames = &frames[MOST];
    in.frames.frames_count = 1;
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_OK);
    frames[MOST].frame = 2;
    frames[MOST].camera.width = 64;
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_OK);
    for (uint32_t i = 0; i < MOST; i++) {
        in.frames.frames = &frames[i];
        in.frames.frames_count = 1;
        assert_int_equal(ask(&peer, &in, &out), VISD_ERR_OK);
        assert_int_equal(out.results.results[0].err, VISD_ERR_OK);
    }
    in.frames.frames = &frames[MOST];
    frames[MOST].frame = 3;
    frames[MOST].camera.width = SIDE;
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_QUOTA);
    frames[MOST].camera.width = 64; /* a small one fits */
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_OK);
    frames[MOST].camera.width = SIDE;
    frames[MOST].frame = 4;
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_QUOTA);
    in = frame_of(&frame, views[0], 2); /* a window made smaller gives its room to another */
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_OK);
    in.frames.frames = &frames[MOST];
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_OK);
    frames[0].frame = 3;
    in.frames.frames = &frames[0];
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_QUOTA);
    struct visd_message shut = {.type = VISD_MSG_VIEW_CLOSE};
    shut.view_close.view = views[1]; /* and so does one that is closed */
    assert_int_equal(ask(&peer, &shut, &out), VISD_ERR_OK);
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_OK);
    hang_up(&peer);
    peer = dial(); /* nor do the views of a client that is gone stand in the way */
    hello(&peer, 10, &out);
    assert_true(alone(&peer));
    assert_int_equal(open_view(&peer, scene, 10, 1, &out), VISD_ERR_OK);
    in = frame_of(&frame, out.view.view, 1);
    frame.camera.width = frame.camera.height = SIDE;
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_OK);
    hang_up(&peer);
}

/* One user at its limit does not close the door to another. */
static void two_users(void **state)
{
    (void)state;
    struct visd_message out;
    int done[2], go[2];
    char byte = 0;
    if (geteuid() != 0)
        skip();
    assert_int_equal(pipe(done), 0);
    assert_int_equal(pipe(go), 0);
    pid_t child = fork();
    if (child == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(9);
        for (unsigned i = 0; i < VISD_MAX_USER_CONNECTIONS + 10; i++) {
            struct peer peer = dial();
            byte |= peer.word == UINT32_MAX; /* the last ones are not let in, unless so slowly that the first have been let go */
        }
        _exit(write(done[1], &byte, 1) == 1 && read(go[0], &byte, 1) == 1 ? 0 : 8);
    }
    close(done[1]); /* so that a child that dies ends the wait */
    assert_int_equal(read(done[0], &byte, 1), 1);
    assert_int_equal(byte, 1);
    struct peer peer = dial();
    assert_int_equal(hello(&peer, 5, &out), VISD_ERR_OK);
    hang_up(&peer);
    assert_int_equal(write(go[1], &byte, 1), 1);
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    close(done[0]);
    for (int i = 0; i < 2; i++) close(go[i]);
}

/* A client id belongs to the user that first used it. */
static void ids_are_bound_to_users(void **state)
{
    (void)state;
    struct visd_message out;
    if (geteuid() != 0)
        skip();
    struct peer peer = dial();
    assert_int_equal(hello(&peer, 6, &out), VISD_ERR_OK);
    pid_t child = fork();
    if (child == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(9);
        struct peer other = dial();
        _exit(hello(&other, 6, &out) == VISD_ERR_DENIED ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    hang_up(&peer);
}

/* What was meant for an earlier daemon is not applied to this one's things of the same number. */
static void another_epoch(void **state)
{
    (void)state;
    struct visd_message out, in = {.type = VISD_MSG_SCENE_REMOVE};
    struct peer peer = dial();
    hello(&peer, 1, &out);
    uint64_t epoch = out.hello_ok.epoch;
    create(&peer, "s", &out);
    in.scene_remove.scene = out.scene.row.scene;
    in.has_epoch = true;
    in.epoch = epoch - 1;
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_CONFLICT);
    says(&out, "another epoch");
    in.epoch = epoch;
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_OK);
    hang_up(&peer);
}

static void without_a_worker(void **state)
{
    (void)state;
    struct visd_message out, in = {.type = VISD_MSG_PING};
    struct peer peer = dial();
    assert_int_equal(hello(&peer, 7, &out), VISD_ERR_OK);
    assert_int_equal(out.hello_ok.device.size, 0);
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_OK);
    assert_int_equal(out.pong.worker_ns, 0);
    create(&peer, "s", &out);
    uint32_t scene = out.scene.row.scene;
    open_view(&peer, scene, 7, 1, &out);
    struct visd_msg_frame frame;
    in = frame_of(&frame, out.view.view, 1);
    assert_int_equal(ask(&peer, &in, &out), VISD_ERR_OK);
    assert_true(out.results.results[0].all);
    assert_true(out.results.results[0].degraded);
    assert_int_equal(out.results.results[0].grade, VISD_WIRE_GRADE_ALL);
    hang_up(&peer);
}

static void the_stop_answers(void **state)
{
    (void)state;
    struct visd_message out;
    struct peer peer = dial();
    hello(&peer, 8, &out);
    create(&peer, "s", &out);
    open_view(&peer, out.scene.row.scene, 8, 1, &out);
    uint32_t view = out.view.view;
    struct visd_msg_frame frame;
    struct visd_message in = frame_of(&frame, view, 1);
    ask(&peer, &in, &out);
    in = frame_of(&frame, view, 2);
    frame.has_wait = frame.wait = true;
    send_as(&peer, &in, 50);
    assert_true(silent(&peer, 150));
    uv_async_send(&house.stop);
    read_reply(&peer, 50, &out); /* it would wait for ever */
    assert_int_equal(out.results.results[0].err, VISD_ERR_STOPPING);
    char byte;
    assert_true(recv(peer.fd, &byte, 1, 0) <= 0); /* and then the door is closed */
    hang_up(&peer);
}

int main(void)
{
    visd_log_init(VISD_LOG_ERR);
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(greets), T(numbers), T(views_outlive_connections), T(all_are_let_go), T(a_request_sent_again_attaches), T(shares), T(views_are_paid_for),
        T(two_users), T(ids_are_bound_to_users), T(another_epoch), cmocka_unit_test_setup_teardown(without_a_worker, setup_bare, teardown), T(the_stop_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
