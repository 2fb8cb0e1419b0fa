/* The door: where peers come in. Listeners on ipc, tcp and tls, and the SP framing that stock nng sockets speak.
 *
 * nng's own SP listeners on ipc stop accepting for ever once a peer connects and leaves (nng 1.5.2); its byte streams
 * below them do not. So the door listens with streams and speaks the framing itself (proto/sp.h). That also
 * shows the peer's uid before a byte is read, lets a length be checked before memory is taken, and gives true back-pressure: a
 * connection whose requests wait, or whose replies are not taken, is not read.
 *
 *   accept -> caps -> greeting (deadline) -> REQ: requests in, answers out
 *                                         -> SUB: events out
 *
 * What the door promises: no peer, silent, slow, trickling or lying, makes it stop accepting, block, or hold more than
 * proto/limits.h says. Who misbehaves loses his own connection, and the log says why.
 *
 * Ownership: the door owns connections; a request belongs to the handler from request() until it is answered or dropped, and
 * outlives its connection (request->conn is then NULL). Loop thread only; nng's threads reach it through the inbox. */
#ifndef VISD_SERVER_DOOR_H
#define VISD_SERVER_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "proto/err.h"
#include "proto/sp.h"
#include "quota.h"

struct visd_door;
struct visd_conn;

#define VISD_PEER_TEXT 96

struct visd_peer {
    uint64_t uid;              /* VISD_UID_NONE on tcp and tls */
    uint64_t pid;              /* when it connected; 0: not known. For logs, never for authority */
    char text[VISD_PEER_TEXT]; /* "uid 1000 pid 4242", "127.0.0.1:50123" */
};

enum visd_conn_kind { VISD_CONN_REQ, VISD_CONN_SUB };

struct visd_request {
    struct visd_request *next, *prev; /* in its connection's list */
    struct visd_conn *conn;           /* NULL once the connection is gone */
    enum visd_err err;                /* not OK: the body was not kept; answer with this */
    uint8_t *body;                    /* the SP body; the message begins at words */
    size_t size;                      /* of the body, as the peer stated it */
    size_t words;                     /* bytes of backtrace at its start */
    uint8_t backtrace[4 * VISD_SP_BACKTRACE_WORDS];
    uint64_t received_ns;             /* CLOCK_MONOTONIC, when its last byte had been read */
    struct visd_charge charge;
};

struct visd_door_handler {
    void (*opened)(void *user, struct visd_conn *conn);       /* greeted; may close it */
    void (*request)(void *user, struct visd_request *request);
    void (*closed)(void *user, struct visd_conn *conn);       /* once for each opened one; its requests have been detached */
    void (*drained)(void *user, struct visd_conn *conn);      /* all that was queued for it has been written; may be NULL */
    void (*emptied)(void *user);                              /* after visd_door_close: nobody is left */
};

/* field, what it counts */
#define VISD_DOOR_COUNT_MAP(X)                                        \
    X(accepted, "connections accepted")                               \
    X(refused, "connections closed at once: a cap was reached")       \
    X(bad_greeting, "connections that do not speak REQ or SUB")       \
    X(bad_frame, "connections closed for broken framing")             \
    X(stalled, "connections closed for standing still in a message")  \
    X(slow, "connections closed for not taking what they were sent")  \
    X(oversize, "requests over the size limit")                       \
    X(requests, "requests read")                                      \
    X(answers, "replies written")                                     \
    X(events, "events written")                                       \
    X(bytes_in, "bytes read")                                         \
    X(bytes_out, "bytes written")                                     \
    X(accept_errors, "failed accepts")

struct visd_door_counts {
#define X(field, text) uint64_t field;
    VISD_DOOR_COUNT_MAP(X)
#undef X
};

struct visd_door_params {
    uv_loop_t *loop;
    struct visd_users *users;
    const struct visd_door_handler *handler;
    void *user;
    unsigned socket_mode;
    const char *tls_cert_key, *tls_ca; /* may be NULL; must outlive the door */
    unsigned connections;              /* 0: what proto/limits.h says; as are these two */
    uint64_t greeting_ms, stall_ms;
};

enum visd_err visd_door_create(struct visd_door **out, const struct visd_door_params *params);
void visd_door_destroy(struct visd_door *door); /* after emptied() and one more turn of the loop; NULL is fine */

/* Adds a URL. ipc: takes PATH.lock first, replaces a stale socket, never a live one. Errors come with a sentence. */
enum visd_err visd_door_listen(struct visd_door *door, const char *url, char *why, size_t why_size);

/* Stop in three steps: nobody new comes in; nothing more is read; all are closed (emptied() is then called). */
void visd_door_close_listeners(struct visd_door *door);
void visd_door_stop_reading(struct visd_door *door);
void visd_door_close(struct visd_door *door);

unsigned visd_door_connections(const struct visd_door *door);
bool visd_door_writing(const struct visd_door *door); /* something that was sent has not been taken yet */
const struct visd_door_counts *visd_door_counts(const struct visd_door *door);

enum visd_conn_kind visd_conn_kind(const struct visd_conn *conn);
const struct visd_peer *visd_conn_peer(const struct visd_conn *conn);
struct visd_user *visd_conn_user(const struct visd_conn *conn);
void **visd_conn_owner(struct visd_conn *conn); /* a place for the handler's pointer, NULL at first */
struct visd_conn *visd_conn_next(const struct visd_door *door, const struct visd_conn *after); /* NULL: the first */
unsigned visd_conn_requests(const struct visd_conn *conn); /* read, and not answered in full yet */

void visd_conn_bytes(const struct visd_conn *conn, uint64_t *in, uint64_t *out);

/* Closes it. why is logged when it is the peer's fault; NULL is an ordinary end. Its memory goes later. */
void visd_conn_close(struct visd_conn *conn, const char *why);

/* Both take the malloc'ed body over in any case, and end the request. Answering a request whose connection is gone is fine. A
 * connection that has no room for the answer is closed, in a later turn: closed() is never called from here. */
void visd_request_answer(struct visd_request *request, uint8_t *body, size_t size);
void visd_request_drop(struct visd_request *request); /* NULL is fine */
/* Gives the body's memory back early, when all that is needed of it has been taken out. */
void visd_request_shed(struct visd_request *request);

/* Sends topic and map to a subscriber, taking the malloc'ed body over. QUOTA: its queue is full, nothing was sent. */
enum visd_err visd_conn_event(struct visd_conn *conn, uint8_t *body, size_t size);

#endif
