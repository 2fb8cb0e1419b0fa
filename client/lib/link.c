/* Sockets and threads: the only file that knows nng beyond its messages.
 *
 * Requests go by one REQ socket, each in a context of its own, so that many may be under way and answers may come in any
 * order. nng runs callbacks on its own threads; they put what happened into the inbox and write its eventfd, and that is all
 * they do. The program's thread empties the inbox in link_dispatch.
 *
 * A request whose connection breaks is sent again by nng as soon as there is another. A request that itself makes the daemon
 * hang up would go round for ever: after eight lost connections it is given up. Receives are never cancelled one by one (1.5.2
 * has crashed on that): a context that is to be given up is closed, and replaced. */
#include <errno.h>
#include <nng/nng.h> /* before its protocols */

#include <nng/protocol/pubsub0/sub.h>
#include <nng/protocol/reqrep0/req.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define RESEND_MS 60000
#define RECONNECT_MIN_MS 20
#define RECONNECT_MAX_MS 500
#define LOSSES_MAX 8
#define EVENTS_BUFFERED 1024

static void wake(struct inbox *inbox)
{
    uint64_t one = 1;
    ssize_t n;
    do n = write(inbox->fd, &one, sizeof(one));
    while (n < 0 && errno == EINTR);
}

/* ---- on nng's threads ---- */

static void on_aio(void *arg)
{
    struct exchange *x = arg;
    struct inbox *inbox = &x->client->inbox;
    int rv = nng_aio_result(x->aio);
    if (!x->receiving && rv == 0) {
        x->receiving = true;
        nng_ctx_recv(x->ctx, x->aio);
        return;
    }
    if (!x->receiving) {
        nng_msg_free(nng_aio_get_msg(x->aio)); /* not sent: still ours */
        nng_aio_set_msg(x->aio, NULL);
    }
    pthread_mutex_lock(&inbox->lock);
    x->rv = rv;
    x->reply = rv == 0 ? nng_aio_get_msg(x->aio) : NULL;
    x->next_done = NULL;
    *inbox->done_tail = x;
    inbox->done_tail = &x->next_done;
    pthread_mutex_unlock(&inbox->lock);
    wake(inbox);
}

static void on_pipe(nng_pipe pipe, nng_pipe_ev ev, void *arg)
{
    struct visd_client *c = arg;
    (void)pipe;
    pthread_mutex_lock(&c->inbox.lock);
    if (ev == NNG_PIPE_EV_ADD_PRE) c->inbox.alive++;
    else if (ev == NNG_PIPE_EV_ADD_POST) c->inbox.ups++;
    else c->inbox.downs++, c->inbox.alive--;
    pthread_mutex_unlock(&c->inbox.lock);
    wake(&c->inbox);
}

static void on_event_pipe(nng_pipe pipe, nng_pipe_ev ev, void *arg)
{
    struct visd_client *c = arg;
    (void)pipe;
    pthread_mutex_lock(&c->inbox.lock);
    if (ev == NNG_PIPE_EV_ADD_PRE) c->inbox.event_alive++;
    else if (ev == NNG_PIPE_EV_REM_POST) c->inbox.event_downs++, c->inbox.event_alive--;
    pthread_mutex_unlock(&c->inbox.lock);
    wake(&c->inbox);
}

static void on_event(void *arg)
{
    struct visd_client *c = arg;
    pthread_mutex_lock(&c->inbox.lock);
    c->inbox.event_ready = true;
    pthread_mutex_unlock(&c->inbox.lock);
    wake(&c->inbox);
}

/* ---- on the program's thread ---- */

static enum visd_err from_nng(int rv)
{
    switch (rv) {
    case 0: return VISD_ERR_OK;
    case NNG_ENOMEM: return VISD_ERR_NO_MEMORY;
    case NNG_ETIMEDOUT: return VISD_ERR_TIMEOUT;
    case NNG_EPERM: return VISD_ERR_DENIED;
    case NNG_EADDRINVAL:
    case NNG_EINVAL:
    case NNG_ENOTSUP: return VISD_ERR_BAD_VALUE;
    case NNG_EMSGSIZE: return VISD_ERR_TOO_BIG;
    default: return VISD_ERR_DISCONNECTED;
    }
}

/* Dials in the background, for as long as the socket lives; the callbacks tell when it worked. */
static enum visd_err dial(struct visd_client *c, nng_socket socket, void (*notify)(nng_pipe, nng_pipe_ev, void *),
                          const char *url, nng_dialer *out)
{
    int rv;
    if ((rv = nng_socket_set_size(socket, NNG_OPT_RECVMAXSZ, c->reply_bytes)) != 0 ||
        (rv = nng_socket_set_ms(socket, NNG_OPT_RECONNMINT, RECONNECT_MIN_MS)) != 0 ||
        (rv = nng_socket_set_ms(socket, NNG_OPT_RECONNMAXT, RECONNECT_MAX_MS)) != 0 ||
        (rv = nng_pipe_notify(socket, NNG_PIPE_EV_ADD_PRE, notify, c)) != 0 ||
        (rv = nng_pipe_notify(socket, NNG_PIPE_EV_ADD_POST, notify, c)) != 0 ||
        (rv = nng_pipe_notify(socket, NNG_PIPE_EV_REM_POST, notify, c)) != 0 ||
        (rv = nng_dialer_create(out, socket, url)) != 0 || (rv = nng_dialer_start(*out, NNG_FLAG_NONBLOCK)) != 0)
        return client_fail(c, from_nng(rv), "cannot dial %s: %s", url, nng_strerror(rv));
    return VISD_ERR_OK;
}

enum visd_err link_open(struct visd_client *c, const char *url)
{
    int rv;
    c->inbox.done_tail = &c->inbox.done;
    c->inbox.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (c->inbox.fd < 0) return client_fail(c, VISD_ERR_IO, "no eventfd: %s; close some files or raise their limit", strerror(errno));
    if ((rv = nng_req0_open(&c->requests)) != 0) return client_fail(c, from_nng(rv), "no socket for requests: %s", nng_strerror(rv));
    c->requests_open = true;
    return dial(c, c->requests, on_pipe, url, &c->dialer);
}

enum visd_err link_open_events(struct visd_client *c)
{
    enum visd_err err;
    int rv;
    if (c->events_open) return VISD_ERR_OK;
    if ((rv = nng_sub0_open(&c->events)) != 0) return client_fail(c, from_nng(rv), "no socket for events: %s", nng_strerror(rv));
    c->events_open = true;
    if ((rv = nng_aio_alloc(&c->event_aio, on_event, c)) != 0 || (rv = nng_socket_set(c->events, NNG_OPT_SUB_SUBSCRIBE, "", 0)) != 0 ||
        (rv = nng_socket_set_int(c->events, NNG_OPT_RECVBUF, EVENTS_BUFFERED)) != 0)
        err = client_fail(c, from_nng(rv), "cannot subscribe: %s", nng_strerror(rv));
    else err = dial(c, c->events, on_event_pipe, c->url, &c->event_dialer);
    if (err != VISD_ERR_OK) {
        nng_close(c->events);
        nng_aio_free(c->event_aio);
        c->event_aio = NULL;
        c->events_open = false;
        return err;
    }
    nng_recv_aio(c->events, c->event_aio);
    return VISD_ERR_OK;
}

static struct exchange *exchange_create(struct visd_client *c)
{
    struct exchange *x = calloc(1, sizeof(*x));
    if (!x) return NULL;
    x->client = c;
    if (nng_aio_alloc(&x->aio, on_aio, x) != 0) {
        free(x);
        return NULL;
    }
    if (nng_ctx_open(&x->ctx, c->requests) != 0) {
        nng_aio_free(x->aio);
        free(x);
        return NULL;
    }
    x->next = c->exchanges;
    c->exchanges = x;
    return x;
}

enum visd_err link_send(struct visd_client *c, uint64_t n, int once,
                        void (*handle)(struct visd_client *, void *, enum visd_err, nng_msg **), void *owner,
                        struct exchange **out)
{
    struct exchange *x;
    nng_msg *msg;
    if (c->out.size > c->request_bytes)
        return client_fail(c, VISD_ERR_TOO_BIG, "a request of %zu bytes, the daemon takes %zu (limit message_bytes)", c->out.size,
                           c->request_bytes);
    for (x = c->exchanges; x && x->busy; x = x->next) {}
    if (!x) x = exchange_create(c);
    if (!x || nng_msg_alloc(&msg, c->out.size) != 0)
        return client_fail(c, VISD_ERR_NO_MEMORY, "no memory for a request of %zu bytes", c->out.size);
    memcpy(nng_msg_body(msg), c->out.at, c->out.size);
    nng_ctx_set_ms(x->ctx, NNG_OPT_REQ_RESENDTIME, once ? NNG_DURATION_INFINITE : RESEND_MS);
    nng_aio_set_timeout(x->aio, NNG_DURATION_INFINITE);
    x->busy = true;
    x->receiving = false;
    x->n = n;
    x->losses = c->losses;
    x->owner = owner;
    x->handle = handle;
    nng_aio_set_msg(x->aio, msg);
    nng_ctx_send(x->ctx, x->aio);
    if (out) *out = x;
    return VISD_ERR_OK;
}

bool link_wait(struct visd_client *c, uint64_t deadline)
{
    struct pollfd p = {.fd = c->inbox.fd, .events = POLLIN};
    for (;;) {
        uint64_t now = now_ns();
        int ms = -1, n;
        if (deadline != UINT64_MAX) {
            uint64_t left = deadline > now ? (deadline - now + 999999) / 1000000 : 0;
            ms = left > 1000000 ? 1000000 : (int)left;
        }
        n = poll(&p, 1, ms);
        if (n > 0) return true;
        if (n == 0 && deadline != UINT64_MAX && now_ns() >= deadline) return false;
        if (n < 0 && errno != EINTR) return false;
    }
}

void link_abandon(struct visd_client *c, struct exchange *x)
{
    x->owner = NULL;
    if (!c->up) nng_ctx_close(x->ctx);
}

static void give_up(struct visd_client *c)
{
    for (struct exchange *x = c->exchanges; x; x = x->next)
        if (x->busy && c->losses - x->losses >= LOSSES_MAX) nng_ctx_close(x->ctx);
}

static void finish_exchange(struct visd_client *c, struct exchange *x)
{
    enum visd_err err = from_nng(x->rv);
    nng_msg *reply = x->reply;
    void *owner = x->owner;
    x->reply = NULL;
    x->owner = NULL;
    if (x->rv == NNG_ECLOSED && nng_ctx_open(&x->ctx, c->requests) != 0) x->busy = true; /* without a context it stays out of use */
    else x->busy = false;
    if (err != VISD_ERR_OK && owner)
        client_fail(c, err, x->rv == NNG_ECLOSED ? "the connection was lost again and again while the request was under way; it is given up"
                            : x->rv == NNG_ECONNRESET ? "the connection was lost; whether the request was carried out is not known"
                                                      : "no reply: %s", nng_strerror(x->rv));
    if (owner && x->handle) x->handle(c, owner, err, &reply);
    if (reply) nng_msg_free(reply);
}

static void take_event(struct visd_client *c)
{
    nng_msg *msg;
    int rv = nng_aio_result(c->event_aio);
    if (rv == NNG_ECLOSED || rv == NNG_ECANCELED) return;
    if (rv == 0) {
        msg = nng_aio_get_msg(c->event_aio);
        events_take(c, nng_msg_body(msg), nng_msg_len(msg));
        nng_msg_free(msg);
    }
    nng_recv_aio(c->events, c->event_aio);
}

void link_dispatch(struct visd_client *c)
{
    struct inbox *inbox = &c->inbox;
    struct exchange *done, *next;
    unsigned ups, downs, event_downs;
    bool event_ready, up, event_up;
    uint64_t count;
    while (read(inbox->fd, &count, sizeof(count)) < 0 && errno == EINTR) {}
    pthread_mutex_lock(&inbox->lock);
    done = inbox->done;
    inbox->done = NULL;
    inbox->done_tail = &inbox->done;
    ups = inbox->ups;
    downs = inbox->downs;
    event_downs = inbox->event_downs;
    event_up = inbox->event_alive > 0;
    event_ready = inbox->event_ready;
    up = inbox->alive > 0;
    inbox->ups = inbox->downs = inbox->event_downs = 0;
    inbox->event_ready = false;
    pthread_mutex_unlock(&inbox->lock);

    if (downs) {
        c->losses += downs;
        client_down(c);
        give_up(c);
    }
    if (up && (ups || downs)) client_up(c);
    if (event_downs) events_lost(c);
    if (event_up) events_back(c);
    if (event_ready) take_event(c);
    for (; done; done = next) {
        next = done->next_done;
        finish_exchange(c, done);
    }
}

/* ---- closing ----
 *
 * nng 1.5.2 may wait for ever in nng_close when replies are arriving at that moment (in one of some fifty tries). So the traffic is let to end
 * first: replies that are due are awaited for a little while, requests that have none yet are withdrawn. And nng_close runs on a thread
 * of its own: if it hangs all the same, or because of events, that thread and what nng may still touch are left behind, and the program
 * goes on. */

#define CLOSE_DRAIN_MS 200
#define CLOSE_SETTLE_MS 5
#define CLOSE_WAIT_MS 1000

/* Exchanges that nng has not finished. */
static unsigned unfinished(struct visd_client *c)
{
    unsigned n = 0;
    pthread_mutex_lock(&c->inbox.lock);
    for (const struct exchange *x = c->exchanges; x; x = x->next) n += x->busy;
    for (const struct exchange *x = c->inbox.done; x; x = x->next_done) n--;
    pthread_mutex_unlock(&c->inbox.lock);
    return n;
}

static bool drain(struct visd_client *c, int timeout_ms)
{
    uint64_t deadline = deadline_of(timeout_ms), count;
    while (unfinished(c)) {
        if (!link_wait(c, deadline)) return false;
        while (read(c->inbox.fd, &count, sizeof(count)) < 0 && errno == EINTR) {}
    }
    return true;
}

static bool is_finished(const struct visd_client *c, const struct exchange *exchange)
{
    for (const struct exchange *x = c->inbox.done; x; x = x->next_done)
        if (x == exchange) return true;
    return false;
}

static void quiesce(struct visd_client *c)
{
    static const struct timespec settle = {.tv_nsec = CLOSE_SETTLE_MS * 1000000};
    if (c->up && drain(c, CLOSE_DRAIN_MS)) return;
    for (struct exchange *x = c->exchanges; x; x = x->next) {
        bool withdraw;
        pthread_mutex_lock(&c->inbox.lock);
        withdraw = x->busy && !is_finished(c, x);
        pthread_mutex_unlock(&c->inbox.lock);
        if (withdraw) nng_ctx_close(x->ctx);
    }
    drain(c, CLOSE_DRAIN_MS);
    nanosleep(&settle, NULL);
}

struct closing {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    nng_socket socket;
    bool done, left; /* left: nobody waits any more, the thread frees this */
};

static void closing_free(struct closing *closing)
{
    pthread_mutex_destroy(&closing->lock);
    pthread_cond_destroy(&closing->changed);
    free(closing);
}

static void *run_closing(void *arg)
{
    struct closing *closing = arg;
    bool left;
    nng_close(closing->socket);
    pthread_mutex_lock(&closing->lock);
    closing->done = true;
    left = closing->left;
    pthread_cond_signal(&closing->changed);
    pthread_mutex_unlock(&closing->lock);
    if (left) closing_free(closing);
    return NULL;
}

/* false: it hangs. */
static bool close_socket(nng_socket socket)
{
    struct closing *closing = calloc(1, sizeof(*closing));
    struct timespec until;
    pthread_t thread;
    bool done;
    if (!closing) return false;
    closing->socket = socket;
    pthread_mutex_init(&closing->lock, NULL);
    pthread_cond_init(&closing->changed, NULL);
    if (pthread_create(&thread, NULL, run_closing, closing) != 0) {
        closing_free(closing);
        return false;
    }
    pthread_detach(thread);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += CLOSE_WAIT_MS / 1000;
    pthread_mutex_lock(&closing->lock);
    while (!closing->done && pthread_cond_timedwait(&closing->changed, &closing->lock, &until) == 0) {}
    done = closing->done;
    closing->left = !done;
    pthread_mutex_unlock(&closing->lock);
    if (done) closing_free(closing);
    return done;
}

bool link_close(struct visd_client *c)
{
    struct exchange *x, *next;
    nng_msg *msg;
    bool closed = true;
    if (c->events_open) closed = close_socket(c->events);
    if (c->requests_open) {
        quiesce(c);
        closed = close_socket(c->requests) && closed;
    }
    if (!closed) return false;
    if (c->event_aio) {
        nng_aio_stop(c->event_aio);
        if (c->inbox.event_ready && nng_aio_result(c->event_aio) == 0 && (msg = nng_aio_get_msg(c->event_aio)) != NULL) nng_msg_free(msg);
        nng_aio_free(c->event_aio);
    }
    for (x = c->exchanges; x; x = next) {
        next = x->next;
        nng_aio_stop(x->aio);
        if (x->reply) nng_msg_free(x->reply);
        nng_aio_free(x->aio);
        free(x);
    }
    if (c->inbox.fd >= 0) close(c->inbox.fd);
    return true;
}
