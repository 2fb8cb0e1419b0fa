/* One connection: who it is, its greeting, and the bytes that come in.
 *
 * Bytes are read into a small buffer, from which any number of small requests are cut at once. The body of a large request is
 * read straight to where it stays: its memory grows as bytes really come, never by what a peer only says. What is over a limit is
 * thrown away as it comes, up to a bound, and then refused by name, so that an honest client learns why.
 *
 *   small: | header | body ... | header | bo     ->  body: dy ...........  (read in place)
 */
#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "door_internal.h"
#include "proto/limits.h"

static void on_receive(void *arg) /* nng's thread */
{
    struct visd_conn *conn = arg;
    visd_inbox_push(&conn->door->inbox, &conn->received);
}

static void on_sent(void *arg) /* nng's thread */
{
    struct visd_conn *conn = arg;
    visd_inbox_push(&conn->door->inbox, &conn->sent);
}

/* ---- who it is ---- */

static void name_peer(struct visd_peer *peer, nng_stream *stream, enum visd_sp_wire wire)
{
    nng_sockaddr address;
    char text[INET6_ADDRSTRLEN] = "?";
    *peer = (struct visd_peer){.uid = VISD_UID_NONE};
    snprintf(peer->text, sizeof(peer->text), "unknown peer");
    if (wire == VISD_SP_IPC) {
        if (nng_stream_get_uint64(stream, NNG_OPT_IPC_PEER_UID, &peer->uid) != 0)
            return;
        if (nng_stream_get_uint64(stream, NNG_OPT_IPC_PEER_PID, &peer->pid) != 0)
            peer->pid = 0;
        snprintf(peer->text, sizeof(peer->text), "uid %llu pid %llu", (unsigned long long)peer->uid, (unsigned long long)peer->pid);
    } else if (nng_stream_get_addr(stream, NNG_OPT_REMADDR, &address) == 0) {
        if (address.s_family == NNG_AF_INET) {
            inet_ntop(AF_INET, &address.s_in.sa_addr, text, sizeof(text));
            snprintf(peer->text, sizeof(peer->text), "%s:%u", text, ntohs(address.s_in.sa_port));
        } else if (address.s_family == NNG_AF_INET6) {
            inet_ntop(AF_INET6, address.s_in6.sa_addr, text, sizeof(text));
            snprintf(peer->text, sizeof(peer->text), "[%s]:%u", text, ntohs(address.s_in6.sa_port));
        }
    }
}

static void conn_free(struct visd_conn *conn)
{
    struct visd_door *door = conn->door;
    if (conn->prev)
        conn->prev->next = conn->next;
    else
        door->conns = conn->next;
    if (conn->next)
        conn->next->prev = conn->prev;
    door->connections--;
    conn_drop_queue(conn);
    if (conn->reading)
        visd_request_drop(conn->reading);
    visd_charge_drop(&conn->charge);
    visd_users_unref(door->params.users, conn->user);
    nng_aio_free(conn->recv);
    nng_aio_free(conn->send);
    nng_stream_free(conn->stream);
    free(conn);
    door_check_emptied(door);
}

void conn_check_freed(struct visd_conn *conn)
{
    if (conn->state == CONN_CLOSING && !conn->receiving && !conn->sending && !conn->resuming && !conn->handling)
        conn_free(conn);
}

static void handle_received(struct visd_inbox_item *item);
static void handle_resumed(struct visd_inbox_item *item);

void conn_adopt(struct visd_door *door, nng_stream *stream, enum visd_sp_wire wire)
{
    struct visd_peer peer;
    name_peer(&peer, stream, wire);
    const char *refusal = NULL;
    struct visd_user *user = NULL;
    struct visd_conn *conn = NULL;
    if (door->connections >= door->params.connections) {
        refusal = "clients (all connections) is used up";
        goto refused;
    }
    user = visd_users_ref(door->params.users, peer.uid);
    conn = calloc(1, sizeof(*conn));
    if (!user || !conn || nng_aio_alloc(&conn->recv, on_receive, conn) != 0 || nng_aio_alloc(&conn->send, on_sent, conn) != 0) {
        refusal = "out of memory";
        goto refused;
    }
    if (visd_charge_take(&conn->charge, door->params.users, user, VISD_QUOTA_CONNECTIONS, 1) != VISD_ERR_OK) {
        refusal = "user_connections is used up";
        goto refused;
    }
    conn->door = door;
    conn->peer = peer;
    conn->user = user;
    conn->wire = wire;
    conn->stream = stream;
    conn->received.handle = handle_received;
    conn->sent.handle = conn_send_done;
    conn->resumed.handle = handle_resumed;
    conn->next = door->conns;
    if (door->conns)
        door->conns->prev = conn;
    door->conns = conn;
    door->connections++;
    door->counts.accepted++;
    conn->still_ns = uv_hrtime() + door->params.greeting_ms * NS_PER_MS;
    door_sweep_start(door);
    conn_pump(conn);
    return;
refused:
    door->counts.refused++;
    door_complain(door, "%s: closed at once: %s", peer.text, refusal);
    if (conn) {
        nng_aio_free(conn->recv); /* NULL is fine */
        nng_aio_free(conn->send);
        free(conn);
    }
    visd_users_unref(door->params.users, user);
    nng_stream_free(stream);
}

void visd_conn_close(struct visd_conn *conn, const char *why)
{
    if (conn->state == CONN_CLOSING)
        return;
    if (why)
        door_complain(conn->door, "%s: connection closed: %s", conn->peer.text, why);
    bool opened = conn->state == CONN_OPEN;
    conn->state = CONN_CLOSING;
    while (conn->requests) {
        struct visd_request *request = conn->requests;
        conn->requests = request->next;
        request->next = request->prev = NULL;
        request->conn = NULL;
    }
    if (opened)
        conn->door->params.handler->closed(conn->door->params.user, conn);
    nng_stream_close(conn->stream); /* what is pending ends, and comes back through the inbox */
    conn_check_freed(conn);
}

/* ---- requests ---- */

void visd_request_shed(struct visd_request *request)
{
    free(request->body);
    request->body = NULL;
    visd_charge_drop(&request->charge);
}

/* Lets a connection that was held back go on, or ends a doomed one, in a turn of its own: whoever answers is in the middle of something. */
static void handle_resumed(struct visd_inbox_item *item)
{
    struct visd_conn *conn = (struct visd_conn *)((char *)item - offsetof(struct visd_conn, resumed));
    conn->resuming = false;
    if (conn->state == CONN_CLOSING)
        conn_check_freed(conn);
    else if (conn->doom)
        visd_conn_close(conn, conn->doom);
    else
        conn_pump(conn);
}

static void resume_later(struct visd_conn *conn)
{
    if (conn->resuming || conn->state == CONN_CLOSING)
        return;
    conn->resuming = true;
    visd_inbox_push(&conn->door->inbox, &conn->resumed);
}

void conn_doom(struct visd_conn *conn, const char *why)
{
    conn->doom = why;
    resume_later(conn);
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
            resume_later(conn);
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

static void handle_received(struct visd_inbox_item *item)
{
    struct visd_conn *conn = (struct visd_conn *)((char *)item - offsetof(struct visd_conn, received));
    conn->receiving = false;
    int rv = nng_aio_result(conn->recv);
    if (conn->state == CONN_CLOSING) {
        conn_check_freed(conn);
        return;
    }
    if (rv != 0) {
        visd_conn_close(conn, NULL); /* it left */
        return;
    }
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

/* ---- what others may ask ---- */

enum visd_conn_kind visd_conn_kind(const struct visd_conn *conn)
{
    return conn->kind;
}

const struct visd_peer *visd_conn_peer(const struct visd_conn *conn)
{
    return &conn->peer;
}

struct visd_user *visd_conn_user(const struct visd_conn *conn)
{
    return conn->user;
}

void **visd_conn_owner(struct visd_conn *conn)
{
    return &conn->owner;
}

unsigned visd_conn_requests(const struct visd_conn *conn)
{
    return conn->unanswered;
}

void visd_conn_bytes(const struct visd_conn *conn, uint64_t *in, uint64_t *out)
{
    *in = conn->bytes_in;
    *out = conn->bytes_out;
}
