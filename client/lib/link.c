/* Sockets and what is under way on them; with link_inbox.c and link_close.c, all that knows nng beyond its messages.
 *
 * Requests go by one REQ socket, each in a context of its own, so that many may be under way and answers may come in any
 * order. nng runs callbacks on its own threads (link_inbox.c); they put what happened into the inbox and write its eventfd, and that is
 * all they do. The program's thread empties the inbox in link_dispatch.
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
#include <unistd.h>

#include "internal.h"

#define RESEND_MS 60000
#define RECONNECT_MIN_MS 20
#define RECONNECT_MAX_MS 500
#define LOSSES_MAX 8
#define EVENTS_BUFFERED 1024

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
    return dial(c, c->requests, link_on_pipe, url, &c->dialer);
}

enum visd_err link_open_events(struct visd_client *c)
{
    enum visd_err err;
    int rv;
    if (c->events_open) return VISD_ERR_OK;
    if ((rv = nng_sub0_open(&c->events)) != 0) return client_fail(c, from_nng(rv), "no socket for events: %s", nng_strerror(rv));
    c->events_open = true;
    if ((rv = nng_aio_alloc(&c->event_aio, link_on_event, c)) != 0 || (rv = nng_socket_set(c->events, NNG_OPT_SUB_SUBSCRIBE, "", 0)) != 0 ||
        (rv = nng_socket_set_int(c->events, NNG_OPT_RECVBUF, EVENTS_BUFFERED)) != 0)
        err = client_fail(c, from_nng(rv), "cannot subscribe: %s", nng_strerror(rv));
    else err = dial(c, c->events, link_on_event_pipe, c->url, &c->event_dialer);
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
    if (nng_aio_alloc(&x->aio, link_on_aio, x) != 0) {
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
