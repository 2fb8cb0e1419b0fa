/* A request and its reply: encode, send, wait, decode, and errors made into failures. */
#include <inttypes.h>
#include <stdlib.h>

#include "internal.h"

void reply_finish(struct reply *r)
{
    if (r->msg) nng_msg_free(r->msg);
    visd_arena_finish(&r->arena);
    *r = (struct reply){0};
}

static enum visd_err fail_from_reply(struct visd_client *c, const struct visd_msg_error *e)
{
    enum visd_err err = e->err > VISD_ERR_OK && e->err <= VISD_ERR_INTERNAL ? (enum visd_err)e->err : VISD_ERR_INTERNAL;
    client_fail(c, err, "%.*s", (int)e->text.size, e->text.at);
    c->failure.has_item = e->has_item;
    c->failure.item = e->item;
    c->failure.has_id = e->has_id;
    c->failure.id = e->id;
    c->failure.has_expected = e->has_expected;
    c->failure.expected = e->expected;
    return err;
}

enum visd_err reply_read(struct visd_client *c, nng_msg *msg, enum visd_msg_type expected, struct reply *out)
{
    struct visd_refused why;
    enum visd_err err;
    *out = (struct reply){0};
    err = visd_decode(nng_msg_body(msg), nng_msg_len(msg), &out->arena, &out->m, &why);
    if (err != VISD_ERR_OK) {
        client_fail(c, err, "the daemon's reply does not parse: %s", why.text);
    } else if (out->m.type == VISD_MSG_ERROR) {
        err = fail_from_reply(c, &out->m.error);
    } else if (out->m.type != expected) {
        err = client_fail(c, VISD_ERR_BAD_MESSAGE, "the daemon replied with %s where %s is right", visd_msg_name(out->m.type),
                          visd_msg_name(expected));
    }
    if (err != VISD_ERR_OK) {
        reply_finish(out);
        return err;
    }
    out->msg = msg;
    return VISD_ERR_OK;
}

enum visd_err call_encode(struct visd_client *c, struct visd_message *request)
{
    struct visd_refused why;
    enum visd_err err;
    request->n = c->next_n++;
    c->out.size = 0;
    err = visd_encode(request, &c->out, &why);
    return err == VISD_ERR_OK ? err : client_fail(c, err, "%s", why.text);
}

enum visd_err call_start(struct visd_client *c, struct visd_message *request, int once,
                         void (*handle)(struct visd_client *, void *, enum visd_err, nng_msg **), void *owner, struct exchange **out)
{
    enum visd_err err = call_encode(c, request);
    return err == VISD_ERR_OK ? link_send(c, request->n, once, handle, owner, out) : err;
}

/* Of a function that waits. */
struct waiting {
    bool done;
    enum visd_err err;
    nng_msg *msg;
};

static void handle_waiting(struct visd_client *c, void *owner, enum visd_err err, nng_msg **reply)
{
    struct waiting *w = owner;
    (void)c;
    w->done = true;
    w->err = err;
    w->msg = *reply;
    *reply = NULL;
}

enum visd_err call_wait(struct visd_client *c, uint64_t deadline)
{
    uint64_t until = deadline;
    if (!c->up) { /* someone who is away is not waited for as long as someone who is slow */
        uint64_t away = c->lost_since + (uint64_t)c->connect_timeout_ms * 1000000u;
        if (away < until) until = away;
    }
    if (link_wait(c, until)) {
        visd_client_dispatch(c);
        return VISD_ERR_OK;
    }
    if (now_ns() >= deadline) return client_fail(c, VISD_ERR_TIMEOUT, "no answer from %s in time", c->url);
    return client_fail(c, VISD_ERR_DISCONNECTED, "nobody has answered at %s for %d s; see whether visd runs", c->url,
                       (c->connect_timeout_ms + 999) / 1000);
}

enum visd_err call(struct visd_client *c, struct visd_message *request, int once, enum visd_msg_type expected, struct reply *out)
{
    uint64_t deadline = deadline_of(c->request_timeout_ms);
    struct waiting w = {0};
    struct exchange *x;
    enum visd_err err = call_start(c, request, once, handle_waiting, &w, &x);
    if (err != VISD_ERR_OK) return err;
    while (!w.done) {
        err = call_wait(c, deadline);
        if (err != VISD_ERR_OK) {
            link_abandon(c, x);
            return err;
        }
    }
    if (w.err != VISD_ERR_OK) return w.err; /* without a message */
    err = reply_read(c, w.msg, expected, out);
    if (err != VISD_ERR_OK) {
        nng_msg_free(w.msg);
        return err;
    }
    if (out->m.n != request->n) {
        reply_finish(out);
        return client_fail(c, VISD_ERR_BAD_MESSAGE, "the daemon replied to another request than %" PRIu64, request->n);
    }
    return VISD_ERR_OK;
}
