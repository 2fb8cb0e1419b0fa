/* The bytes that come in: the greeting, then requests.
 *
 * Bytes are read into a small buffer, from which any number of small requests are cut at once. The body of a large request is
 * read straight to where it stays: its memory grows as bytes really come, never by what a peer only says. What is over a limit is
 * thrown away as it comes, up to a bound, and then refused by name, so that an honest client learns why.
 *
 *   small: | header | body ... | header | bo     ->  body: dy ...........  (read in place)
 */
#include <stdlib.h>
#include <string.h>

#include "door_internal.h"
#include "proto/limits.h"

/* ---- requests ---- */

void visd_request_shed(struct visd_request *request)
{
    free(request->body);
    request->body = NULL;
    visd_charge_drop(&request->charge);
}

/* Unlinks it from its connection; the memory stays. */
static void detach(struct visd_request *request)
{
    struct visd_conn *conn = request->conn;
    if (!conn)
        return;
    if (request->prev)
        request->prev->next = request->next;
    else if (conn->requests == request)
        conn->requests = request->next;
    if (request->next)
        request->next->prev = request->prev;
    request->next = request->prev = NULL;
    request->conn = NULL;
}

void visd_request_drop(struct visd_request *request)
{
    if (!request)
        return;
    struct visd_conn *conn = request->conn;
    bool counted = conn && conn->reading != request;
    if (conn && conn->reading == request)
        conn->reading = NULL;
    else
        detach(request);
    visd_request_shed(request);
    free(request);
    if (counted) {
        conn->unanswered--;
        if (!conn->handling && conn->used > conn->at)
            conn_resume_later(conn);
    }
}

static void refuse_body(struct visd_conn *conn, enum visd_err err)
{
    struct visd_request *request = conn->reading;
    size_t enough = conn->have > sizeof(request->backtrace) ? conn->have : sizeof(request->backtrace);
    request->err = err;
    if (conn->keep > enough) { /* the backtrace alone is kept, to answer with */
        conn->drain = conn->keep - enough;
        conn->keep = enough;
    }
}

/* Memory for what comes next; false: the connection is past saving. */
static bool grow_body(struct visd_conn *conn)
{
    struct visd_request *request = conn->reading;
    while (conn->capacity == conn->have && conn->have < conn->keep) {
        size_t want = conn->capacity ? conn->capacity * 2 : BODY_FIRST_BYTES;
        if (want > conn->keep)
            want = conn->keep;
        enum visd_err err = visd_charge_set(&request->charge, conn->door->params.users, conn->user, VISD_QUOTA_REQUEST_BYTES, want);
        if (err == VISD_ERR_OK) {
            uint8_t *body = realloc(request->body, want);
            if (body) {
                request->body = body;
                conn->capacity = want;
                return true;
            }
            err = VISD_ERR_NO_MEMORY;
        }
        if (request->err != VISD_ERR_OK || conn->have < sizeof(request->backtrace))
            return false; /* not even room to refuse it by name */
        refuse_body(conn, err);
    }
    return true;
}

static bool begin_request(struct visd_conn *conn)
{
    uint64_t length;
    uint64_t limit = VISD_MAX_MESSAGE_BYTES + sizeof(((struct visd_request *)0)->backtrace);
    if (visd_sp_header_parse(conn->wire, conn->small + conn->at, &length) != VISD_ERR_OK || length < 4 ||
        conn->kind == VISD_CONN_SUB || length > limit * DRAIN_FACTOR) {
        conn->door->counts.bad_frame++;
        visd_conn_close(conn, conn->kind == VISD_CONN_SUB ? "a subscriber sent a message" : "it sent a frame of an impossible length");
        return false;
    }
    conn->at += visd_sp_header_size(conn->wire);
    struct visd_request *request = calloc(1, sizeof(*request));
    if (!request) {
        visd_conn_close(conn, "out of memory");
        return false;
    }
    request->conn = conn;
    request->size = (size_t)length;
    conn->reading = request;
    conn->have = conn->capacity = 0;
    conn->keep = (size_t)length;
    conn->drain = 0;
    if (length > limit) {
        conn->door->counts.oversize++;
        refuse_body(conn, VISD_ERR_TOO_BIG);
    }
    conn->total_ns = uv_hrtime() + (conn->door->params.stall_ms + length / SLOWEST_BYTES_PER_MS) * NS_PER_MS;
    return true;
}

static void deliver(struct visd_conn *conn)
{
    struct visd_request *request = conn->reading;
    conn->reading = NULL;
    conn->total_ns = 0;
    if (visd_sp_backtrace(request->body, conn->have, &request->words) != VISD_ERR_OK) {
        request->conn = NULL;
        visd_request_drop(request);
        conn->door->counts.bad_frame++;
        visd_conn_close(conn, "its request has no valid return path");
        return;
    }
    memcpy(request->backtrace, request->body, request->words);
    if (request->err == VISD_ERR_OK && request->size - request->words > VISD_MAX_MESSAGE_BYTES) {
        conn->door->counts.oversize++;
        request->err = VISD_ERR_TOO_BIG;
    }
    request->received_ns = uv_hrtime();
    request->next = conn->requests;
    if (conn->requests)
        conn->requests->prev = request;
    conn->requests = request;
    conn->unanswered++;
    conn->door->counts.requests++;
    if (request->err != VISD_ERR_OK)
        visd_request_shed(request);
    conn->door->params.handler->request(conn->door->params.user, request);
}

/* ---- bytes ---- */

static bool greet(struct visd_conn *conn)
{
    uint16_t protocol = 0;
    uint8_t answer[VISD_SP_GREETING_SIZE];
    bool sp = visd_sp_greeting_parse(conn->small + conn->at, &protocol) == VISD_ERR_OK;
    conn->at += VISD_SP_GREETING_SIZE;
    if (!sp || (protocol != VISD_SP_REQ && protocol != VISD_SP_SUB)) {
        conn->door->counts.bad_greeting++;
        visd_conn_close(conn, sp ? "it speaks another protocol than REQ or SUB" : "it does not speak SP, nng's protocol");
        return false;
    }
    conn->kind = protocol == VISD_SP_REQ ? VISD_CONN_REQ : VISD_CONN_SUB;
    visd_sp_greeting_build(answer, protocol == VISD_SP_REQ ? VISD_SP_REP : VISD_SP_PUB);
    struct out *out = calloc(1, sizeof(*out));
    if (!out) {
        visd_conn_close(conn, "out of memory");
        return false;
    }
    memcpy(out->head, answer, sizeof(answer));
    out->head_size = sizeof(answer);
    conn_queue(conn, out);
    conn->state = CONN_OPEN;
    conn->still_ns = 0;
    conn->door->params.handler->opened(conn->door->params.user, conn);
    return conn->state == CONN_OPEN;
}

/* Moves what small holds of the body; returns whether the request is complete. */
static bool feed_body(struct visd_conn *conn)
{
    while (conn->have < conn->keep && conn->at < conn->used) {
        if (!grow_body(conn)) {
            visd_conn_close(conn, "out of memory, or user_request_mib is used up");
            return false;
        }
        size_t room = (conn->capacity < conn->keep ? conn->capacity : conn->keep) - conn->have, there = conn->used - conn->at;
        size_t n = room < there ? room : there;
        memcpy(conn->reading->body + conn->have, conn->small + conn->at, n);
        conn->have += n;
        conn->at += n;
    }
    if (conn->have < conn->keep)
        return false;
    size_t there = conn->used - conn->at;
    size_t n = conn->drain < there ? (size_t)conn->drain : there;
    conn->drain -= n;
    conn->at += n;
    return conn->drain == 0;
}

/* One step with what small holds; false: more bytes are needed, or nothing more may be done now. */
static bool step(struct visd_conn *conn)
{
    size_t there = conn->used - conn->at;
    if (conn->state == CONN_GREETING)
        return there >= VISD_SP_GREETING_SIZE && greet(conn);
    if (conn->state != CONN_OPEN)
        return false;
    if (conn->reading) {
        if (!feed_body(conn))
            return false;
        deliver(conn);
        return true;
    }
    if (there < visd_sp_header_size(conn->wire) || conn_held_back(conn))
        return false;
    return begin_request(conn);
}

static void rearm(struct visd_conn *conn)
{
    nng_iov iov;
    if (conn->reading && conn->have < conn->keep && conn->capacity > conn->have && conn->at == conn->used) {
        conn->into_body = true;
        iov.iov_buf = conn->reading->body + conn->have;
        iov.iov_len = (conn->capacity < conn->keep ? conn->capacity : conn->keep) - conn->have;
    } else {
        if (conn->at) {
            memmove(conn->small, conn->small + conn->at, conn->used - conn->at);
            conn->used -= conn->at;
            conn->at = 0;
        }
        if (conn->used == SMALL_BYTES)
            return; /* held back, and full: its peer feels it */
        conn->into_body = false;
        iov.iov_buf = conn->small + conn->used;
        iov.iov_len = SMALL_BYTES - conn->used;
    }
    nng_aio_set_iov(conn->recv, 1, &iov);
    conn->receiving = true;
    nng_stream_recv(conn->stream, conn->recv);
}

/* Sets the deadlines for what has begun to come in. Being held back is not the peer's fault. */
static void watch(struct visd_conn *conn)
{
    bool header = !conn->reading && conn->used > conn->at && !conn_held_back(conn);
    if (!conn->reading && !header) {
        conn->still_ns = conn->total_ns = 0;
        return;
    }
    if (!conn->still_ns)
        conn->still_ns = uv_hrtime() + conn->door->params.stall_ms * NS_PER_MS;
    if (header && !conn->total_ns)
        conn->total_ns = conn->still_ns;
    door_sweep_start(conn->door);
}

void conn_pump(struct visd_conn *conn)
{
    if (conn->handling || conn->state == CONN_CLOSING)
        return;
    conn->handling = true;
    while (step(conn))
        ;
    bool more_body = conn->reading && !conn->receiving && conn->at == conn->used && conn->have < conn->keep;
    if (conn->state != CONN_CLOSING && more_body && !grow_body(conn))
        visd_conn_close(conn, "out of memory, or user_request_mib is used up");
    conn->handling = false;
    if (conn->state == CONN_CLOSING) {
        conn_check_freed(conn);
        return;
    }
    if (conn->state == CONN_OPEN)
        watch(conn);
    if (!conn->receiving)
        rearm(conn);
}

bool conn_transfer_went_well(struct visd_conn *conn, nng_aio *transfer)
{
    if (conn->state == CONN_CLOSING) {
        conn_check_freed(conn);
        return false;
    }
    if (nng_aio_result(transfer) != 0) {
        visd_conn_close(conn, NULL); /* it left */
        return false;
    }
    return true;
}

void conn_received(struct visd_inbox_item *item)
{
    struct visd_conn *conn = (struct visd_conn *)((char *)item - offsetof(struct visd_conn, received));
    conn->receiving = false;
    if (!conn_transfer_went_well(conn, conn->recv))
        return;
    size_t n = nng_aio_count(conn->recv);
    conn->door->counts.bytes_in += n;
    conn->bytes_in += n;
    if (conn->state == CONN_OPEN)
        conn->still_ns = 0; /* it moves */
    if (conn->into_body)
        conn->have += n;
    else
        conn->used += n;
    conn_pump(conn);
}
