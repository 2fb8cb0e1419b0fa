/* What nng's threads do: put what happened into the inbox, and wake the program. Nothing else of the client is touched here. */
#include <errno.h>
#include <nng/nng.h>
#include <unistd.h>

#include "internal.h"

static void wake(struct inbox *inbox)
{
    uint64_t one = 1;
    ssize_t n;
    do n = write(inbox->fd, &one, sizeof(one));
    while (n < 0 && errno == EINTR);
}

/* While it runs, the socket must not go: the context may lose its last owner in it, and then needs its socket (nng 1.5.2 aborts). */
static void receive(struct inbox *inbox, struct exchange *x)
{
    pthread_mutex_lock(&inbox->lock);
    inbox->inside++;
    pthread_mutex_unlock(&inbox->lock);
    nng_ctx_recv(x->ctx, x->aio); /* from here on x may be finished, and in use again */
    pthread_mutex_lock(&inbox->lock);
    if (--inbox->inside == 0) pthread_cond_signal(&inbox->outside);
    pthread_mutex_unlock(&inbox->lock);
}

void link_on_aio(void *arg)
{
    struct exchange *x = arg;
    struct inbox *inbox = &x->client->inbox;
    int rv = nng_aio_result(x->aio);
    if (!x->receiving && rv == 0) {
        x->receiving = true;
        receive(inbox, x);
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

void link_on_pipe(nng_pipe pipe, nng_pipe_ev ev, void *arg)
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

void link_on_event_pipe(nng_pipe pipe, nng_pipe_ev ev, void *arg)
{
    struct visd_client *c = arg;
    (void)pipe;
    pthread_mutex_lock(&c->inbox.lock);
    if (ev == NNG_PIPE_EV_ADD_PRE) c->inbox.event_alive++;
    else if (ev == NNG_PIPE_EV_REM_POST) c->inbox.event_downs++, c->inbox.event_alive--;
    pthread_mutex_unlock(&c->inbox.lock);
    wake(&c->inbox);
}

void link_on_event(void *arg)
{
    struct visd_client *c = arg;
    pthread_mutex_lock(&c->inbox.lock);
    c->inbox.event_ready = true;
    pthread_mutex_unlock(&c->inbox.lock);
    wake(&c->inbox);
}
