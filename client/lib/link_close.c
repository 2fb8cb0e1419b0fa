/* Closing a link.
 *
 * nng 1.5.2 may wait for ever in nng_close when replies are arriving at that moment (in one of some fifty tries). So the traffic is let to end
 * first: replies that are due are awaited for a little while, requests that have none yet are withdrawn, and callbacks leave nng. And nng_close
 * runs on a thread of its own: if it hangs all the same, or because of events, that thread and what nng may still touch are left behind,
 * and the program goes on. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define CLOSE_DRAIN_MS 200
#define CLOSE_SETTLE_MS 5
#define CLOSE_WAIT_S 1

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

/* A wait for a condition ends at this time. */
static struct timespec wait_until(int seconds)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += seconds;
    return t;
}

/* No callback is inside nng any more. */
static bool all_outside(struct inbox *inbox)
{
    struct timespec until = wait_until(CLOSE_WAIT_S);
    bool none;
    pthread_mutex_lock(&inbox->lock);
    while (inbox->inside && pthread_cond_timedwait(&inbox->outside, &inbox->lock, &until) == 0) {}
    none = inbox->inside == 0;
    pthread_mutex_unlock(&inbox->lock);
    return none;
}

/* Ends the traffic. false: some of it does not end, and closing the socket under it would be the end of the program. */
static bool quiesce(struct visd_client *c)
{
    static const struct timespec settle = {.tv_nsec = CLOSE_SETTLE_MS * 1000000};
    if (c->up && drain(c, CLOSE_DRAIN_MS)) return all_outside(&c->inbox);
    for (struct exchange *x = c->exchanges; x; x = x->next) {
        bool withdraw;
        pthread_mutex_lock(&c->inbox.lock);
        withdraw = x->busy && !is_finished(c, x);
        pthread_mutex_unlock(&c->inbox.lock);
        if (withdraw) nng_ctx_close(x->ctx);
    }
    bool drained = drain(c, CLOSE_WAIT_S * 1000);
    nanosleep(&settle, NULL);
    return drained && all_outside(&c->inbox);
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
    struct timespec until = wait_until(CLOSE_WAIT_S);
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
    if (c->requests_open) closed = quiesce(c) && close_socket(c->requests) && closed;
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
