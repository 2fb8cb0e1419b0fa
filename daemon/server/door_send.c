/* What goes out: one queue a connection, in order, several messages a write.
 *
 * The queue is bounded by what it is for. An answer belongs to a request that was let in, so reading is held back while
 * answers pile up; past a last bound the connection ends. Events have a bound of their own: when it is full, events are
 * lost, and the sender is told so that it can tell the peer. A requester that takes nothing, or takes bytes too slowly for the
 * message they belong to, loses its connection; a subscriber may sleep. */
#include <stdlib.h>
#include <string.h>

#include "door_internal.h"
#include "proto/limits.h"

static size_t out_size(const struct out *out)
{
    return out->head_size + out->size;
}

/* A subscriber may sleep: its queue is bounded, and it is told what it missed. A requester that sleeps keeps others' memory. */
static bool is_subscriber(const struct visd_conn *conn)
{
    return conn->state == CONN_OPEN && conn->kind == VISD_CONN_SUB;
}

static void set_total(struct visd_conn *conn)
{
    uint64_t stall = conn->door->params.stall_ms;
    conn->write_total_ns = conn->first && !is_subscriber(conn) ? uv_hrtime() + (stall + out_size(conn->first) / SLOWEST_BYTES_PER_MS) * NS_PER_MS : 0;
}

static void send_more(struct visd_conn *conn)
{
    nng_iov iov[2 * SEND_BATCH];
    unsigned n = 0, messages = 0;
    for (struct out *out = conn->first; out && messages < SEND_BATCH; out = out->next, messages++) {
        if (out->done < out->head_size) {
            iov[n].iov_buf = out->head + out->done;
            iov[n++].iov_len = out->head_size - out->done;
        }
        size_t body_done = out->done > out->head_size ? out->done - out->head_size : 0;
        if (out->size > body_done) {
            iov[n].iov_buf = out->body + body_done;
            iov[n++].iov_len = out->size - body_done;
        }
    }
    if (!is_subscriber(conn)) {
        conn->write_still_ns = uv_hrtime() + conn->door->params.stall_ms * NS_PER_MS;
        door_sweep_start(conn->door);
    }
    nng_aio_set_iov(conn->send, n, iov);
    conn->sending = true;
    nng_stream_send(conn->stream, conn->send);
}

static void pop(struct visd_conn *conn)
{
    struct out *out = conn->first;
    conn->first = out->next;
    if (!conn->first)
        conn->last = NULL;
    conn->queued -= out_size(out);
    if (out->answer && conn->unanswered)
        conn->unanswered--;
    free(out->body);
    free(out);
}

void conn_drop_queue(struct visd_conn *conn)
{
    while (conn->first)
        pop(conn);
    visd_charge_drop(&conn->reply_charge);
}

void conn_queue(struct visd_conn *conn, struct out *out)
{
    out->next = NULL;
    if (conn->last)
        conn->last->next = out;
    else
        conn->first = out;
    conn->last = out;
    conn->queued += out_size(out);
    if (!conn->sending) {
        set_total(conn);
        send_more(conn);
    }
}

void conn_send_done(struct visd_inbox_item *item)
{
    struct visd_conn *conn = (struct visd_conn *)((char *)item - offsetof(struct visd_conn, sent));
    conn->sending = false;
    if (!conn_transfer_went_well(conn, conn->send))
        return;
    size_t n = nng_aio_count(conn->send);
    conn->door->counts.bytes_out += n;
    conn->bytes_out += n;
    bool whole = false;
    while (conn->first && n >= out_size(conn->first) - conn->first->done) {
        n -= out_size(conn->first) - conn->first->done;
        if (conn->first->answer)
            conn->door->counts.answers++;
        else if (conn->kind == VISD_CONN_SUB && conn->first->size)
            conn->door->counts.events++;
        pop(conn);
        whole = true;
    }
    if (conn->first)
        conn->first->done += n;
    visd_charge_set(&conn->reply_charge, conn->door->params.users, conn->user, VISD_QUOTA_REPLY_BYTES, conn->queued); /* only ever less */
    if (whole)
        set_total(conn);
    if (conn->first) {
        send_more(conn);
    } else {
        conn->write_still_ns = 0;
        if (conn->state == CONN_OPEN && conn->door->params.handler->drained)
            conn->door->params.handler->drained(conn->door->params.user, conn);
    }
    conn_pump(conn); /* it may have been held back */
}

bool conn_held_back(const struct visd_conn *conn)
{
    return conn->door->reading_stopped || conn->unanswered >= VISD_MAX_CLIENT_REQUESTS || conn->queued > QUEUE_PAUSE_BYTES;
}

/* Takes body over; NULL out: it could not be sent. */
static enum visd_err put(struct visd_conn *conn, struct out *out, uint8_t *body, size_t size)
{
    size_t bytes = out->head_size + size;
    enum visd_err err = visd_charge_set(&conn->reply_charge, conn->door->params.users, conn->user, VISD_QUOTA_REPLY_BYTES, conn->queued + bytes);
    if (err != VISD_ERR_OK) {
        free(out);
        free(body);
        return err;
    }
    out->body = body;
    out->size = size;
    conn_queue(conn, out);
    return VISD_ERR_OK;
}

void visd_request_answer(struct visd_request *request, uint8_t *body, size_t size)
{
    struct visd_conn *conn = request->conn;
    if (!conn) {
        free(body);
        visd_request_drop(request);
        return;
    }
    struct out *out = calloc(1, sizeof(*out));
    if (!out || !body) {
        free(out);
        free(body);
        visd_request_drop(request);
        conn_doom(conn, "out of memory");
        return;
    }
    size_t header = visd_sp_header_size(conn->wire);
    visd_sp_header_build(conn->wire, request->words + size, out->head);
    memcpy(out->head + header, request->backtrace, request->words);
    out->head_size = header + request->words;
    out->answer = true;
    conn->unanswered++; /* it now stands for the answer; the request's own goes with it */
    visd_request_drop(request);
    if (conn->queued + size > VISD_MAX_REPLY_QUEUE_BYTES) {
        free(out);
        free(body);
        out = NULL;
    }
    if (!out || put(conn, out, body, size) != VISD_ERR_OK) {
        conn->door->counts.slow++;
        conn_doom(conn, "it does not take its replies: reply_queue_bytes or user_reply_mib is used up");
    }
}

enum visd_err visd_conn_event(struct visd_conn *conn, uint8_t *body, size_t size)
{
    struct out *out = NULL;
    if (conn->state != CONN_OPEN || conn->queued + size > VISD_MAX_EVENT_QUEUE_BYTES || !(out = calloc(1, sizeof(*out)))) {
        free(body);
        return VISD_ERR_QUOTA;
    }
    visd_sp_header_build(conn->wire, size, out->head);
    out->head_size = visd_sp_header_size(conn->wire);
    return put(conn, out, body, size);
}
