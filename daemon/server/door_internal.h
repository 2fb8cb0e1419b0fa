/* What the door's own files share. */
#ifndef VISD_SERVER_DOOR_INTERNAL_H
#define VISD_SERVER_DOOR_INTERNAL_H

#include <nng/nng.h>

#include "daemon/log.h"
#include "door.h"
#include "inbox.h"

#define SMALL_BYTES 8192u         /* read at a time when no large body is being read */
#define BODY_FIRST_BYTES 65536u   /* a body's first memory; it doubles as bytes really come */
#define SLOWEST_BYTES_PER_MS 64u  /* a message may take stall_ms and its size at this rate */
#define DRAIN_FACTOR 4u           /* an oversize request of up to so many times the limit is drained and refused */
#define QUEUE_PAUSE_BYTES (4u << 20) /* a connection with more than this unsent is not read */
#define ACCEPTORS 16u
#define SEND_BATCH 4u             /* messages a write; two pieces each, nng takes eight */
#define NS_PER_MS 1000000ull

struct out { /* a message on its way to a peer */
    struct out *next;
    uint8_t *body;
    size_t size, done, head_size; /* done counts head and body together */
    uint64_t queued_ns;
    bool answer; /* it ends a request; else an event */
    uint8_t head[VISD_SP_HEADER_MAX + 4 * VISD_SP_BACKTRACE_WORDS];
};

enum conn_state { CONN_GREETING, CONN_OPEN, CONN_CLOSING };

struct visd_conn {
    struct visd_conn *next, *prev;
    struct visd_door *door;
    struct visd_peer peer;
    struct visd_user *user;
    struct visd_charge charge, reply_charge;
    enum visd_sp_wire wire;
    enum visd_conn_kind kind;
    enum conn_state state;
    void *owner;
    uint64_t bytes_in, bytes_out;

    nng_stream *stream;
    nng_aio *recv, *send;                  /* each has one operation at most */
    struct visd_inbox_item received, sent, resumed;
    bool receiving, sending, resuming;     /* whose items are on their way */
    bool into_body;                        /* the pending read goes to the body, not to small */
    const char *doom;                      /* why it is to be closed in the next turn, or NULL */
    bool handling;                         /* its bytes are being looked at: it must not be freed now */

    size_t at, used;                       /* the unread part of small */
    struct visd_request *reading;          /* the request whose body is coming in */
    size_t have, keep, capacity;           /* of its body: read, wanted, allocated */
    uint64_t drain;                        /* bytes to throw away after that */
    uint64_t still_ns, total_ns;           /* reading ends by then; 0: no message has begun */

    struct visd_request *requests;         /* with the handler */
    unsigned unanswered;                   /* those, and the answers not yet written */

    struct out *first, *last;
    size_t queued;                         /* bytes in them */
    uint64_t write_still_ns, write_total_ns;
    uint8_t small[SMALL_BYTES];
};

struct acceptor { /* one accept under way */
    struct visd_inbox_item accepted;
    struct listener *listener;
    nng_aio *aio;
    bool accepting;
};

struct listener {
    struct listener *next;
    struct visd_door *door;
    nng_stream_listener *stream;
    struct acceptor acceptors[ACCEPTORS]; /* several: a burst of peers must not overflow the kernel's backlog */
    bool closing;
    uint64_t again_ns; /* 0, or when to accept again after an error */
    enum visd_sp_wire wire;
    int lock_fd;       /* -1 if none */
    char *url;
};

struct visd_door {
    struct visd_door_params params;
    struct visd_inbox inbox;
    uv_timer_t sweep;
    bool sweeping, reading_stopped, closing, emptied;
    struct listener *listeners;
    struct visd_conn *conns;
    unsigned connections;
    struct visd_door_counts counts;
    struct visd_log_valve valve;
};

/* door.c */
void door_sweep_start(struct visd_door *door);
void door_check_emptied(struct visd_door *door);
__attribute__((format(printf, 2, 3))) void door_complain(struct visd_door *door, const char *format, ...);

/* door_listen.c */
void listener_rearm(struct listener *listener); /* starts every accept that is not under way */
void listener_close(struct listener *listener);

/* door_conn.c */
void conn_adopt(struct visd_door *door, nng_stream *stream, enum visd_sp_wire wire);
void conn_doom(struct visd_conn *conn, const char *why); /* as visd_conn_close, but not at once */
void conn_resume_later(struct visd_conn *conn);
void conn_check_freed(struct visd_conn *conn);

/* door_read.c */
/* After a transfer of a connection has ended: whether it goes on. If not, the connection is being closed, or has been freed. */
bool conn_transfer_went_well(struct visd_conn *conn, nng_aio *transfer);
void conn_received(struct visd_inbox_item *item);
void conn_pump(struct visd_conn *conn); /* looks at what has been read, and reads on unless held back */

/* door_send.c */
void conn_queue(struct visd_conn *conn, struct out *out); /* takes it over */
void conn_send_done(struct visd_inbox_item *item);
void conn_drop_queue(struct visd_conn *conn);
bool conn_held_back(const struct visd_conn *conn);

#endif
