/* One connection's life: who it is, what it may have, how it ends.
 *
 * Its memory goes when it is closing and nothing of it is under way any more: no read, no write, no item in the inbox. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include "door_internal.h"

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
    conn->received.handle = conn_received;
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

/* ---- a turn of its own ---- */

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

void conn_resume_later(struct visd_conn *conn)
{
    if (conn->resuming || conn->state == CONN_CLOSING)
        return;
    conn->resuming = true;
    visd_inbox_push(&conn->door->inbox, &conn->resumed);
}

void conn_doom(struct visd_conn *conn, const char *why)
{
    conn->doom = why;
    conn_resume_later(conn);
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
