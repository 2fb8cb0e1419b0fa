/* What the files of libvisd share.
 *
 *   link.c     sockets: requests out, replies and events in;  link_inbox.c: what nng's threads leave there;  link_close.c: their end
 *   call.c     a request and its reply, waited for
 *   client.c   connect, greeting, state, close
 *   scenes.c views.c look.c events.c    what the program asks for
 *   batch.c    items into parts;  batch_send.c: parts to the daemon
 *   frames.c   cameras out;  results.c: answers in;  lists.c: whole lists, and deltas applied to them
 *
 * Everything but link_inbox.c's callbacks runs on the program's thread. Those callbacks touch the inbox alone. */
#ifndef VISD_CLIENT_INTERNAL_H
#define VISD_CLIENT_INTERNAL_H

#include <nng/nng.h>
#include <pthread.h>
#include <visd/client.h>

#include "proto/codec.h"

/* ---- link.c, link_inbox.c, link_close.c ---- */

/* One request under way: an nng context, reused. handle is called by dispatch, on the program's thread, with the reply or an
 * error; it may keep the message by writing NULL. owner NULL: nobody is interested any more. */
struct exchange {
    struct exchange *next;      /* in the client's list of all */
    struct exchange *next_done; /* in the inbox */
    struct visd_client *client;
    nng_ctx ctx;
    nng_aio *aio;
    bool busy;
    bool receiving;             /* the request is sent; the callback's alone while busy */
    int rv;                     /* nng's verdict */
    nng_msg *reply;
    uint64_t n;                 /* the request's number */
    unsigned losses;            /* the client's count when it was sent */
    void *owner;
    void (*handle)(struct visd_client *client, void *owner, enum visd_err err, nng_msg **reply);
};

/* What nng's threads leave for the program. */
struct inbox {
    pthread_mutex_t lock;
    int fd;                  /* an eventfd */
    struct exchange *done, **done_tail;
    unsigned ups, downs;     /* connections for requests that came and went; nng may tell an end before its beginning, and */
    int alive;               /* a new connection before the old one's end. alive: how many there are */
    unsigned event_downs;    /* the same for events */
    int event_alive;
    bool event_ready;        /* the event aio has a message or an error */
    unsigned inside;         /* callbacks that are in nng_ctx_recv */
    pthread_cond_t outside;  /* there is none any more */
};

enum { LINK_RESEND = 0, LINK_ONCE = 1 }; /* may the request be sent again after a lost connection? */

/* nng's callbacks, on its threads. arg: the exchange; for the others the client. */
void link_on_aio(void *arg);
void link_on_pipe(nng_pipe pipe, nng_pipe_ev ev, void *arg);
void link_on_event_pipe(nng_pipe pipe, nng_pipe_ev ev, void *arg);
void link_on_event(void *arg);

enum visd_err link_open(struct visd_client *client, const char *url);
/* false: nng hangs, or would; it may still touch the client, which must not be freed. */
bool link_close(struct visd_client *client);
/* Sends the bytes of c->out as request number n. */
enum visd_err link_send(struct visd_client *client, uint64_t n, int once,
                        void (*handle)(struct visd_client *, void *, enum visd_err, nng_msg **), void *owner,
                        struct exchange **out);
/* Nobody waits for the reply any more. Without a connection the request is not sent later either. */
void link_abandon(struct visd_client *client, struct exchange *exchange);
enum visd_err link_open_events(struct visd_client *client);
/* Waits for the inbox. false: the time is over. deadline in now_ns's terms; UINT64_MAX: for ever. */
bool link_wait(struct visd_client *client, uint64_t deadline);
void link_dispatch(struct visd_client *client);

/* ---- client.c ---- */

struct visd_client {
    struct inbox inbox;
    nng_socket requests, events;
    nng_dialer dialer, event_dialer;
    bool requests_open, events_open, events_wanted_all;
    nng_aio *event_aio;
    char url[256];
    struct exchange *exchanges;
    struct visd_buf out;          /* the request being built */
    uint64_t next_n;

    enum visd_client_link link;
    bool up;                      /* there is a connection now */
    bool greeted;                 /* the greeting of the present connection has been answered */
    bool greeting_sent;
    unsigned losses;              /* connections lost so far */
    uint64_t lost_since;          /* now_ns; while not up */
    uint64_t epoch;               /* what numbers the program holds belong to */
    struct visd_client_info info;
    struct visd_client_number_row { char name[64]; uint64_t value; } *limits;
    size_t limits_count;
    char (*features)[64];
    size_t features_count;
    struct visd_client_failure failure;
    char name[256];
    int connect_timeout_ms, request_timeout_ms;
    size_t reply_bytes, request_bytes;

    struct visd_client_batch *batches, *turn; /* turn: the one that may talk to the daemon */
    uint64_t next_batch;          /* number of the next batch; 0: ask the daemon first */
    bool asking_number;

    struct visd_client_view *views;
    uint64_t next_view_key;
    struct flight *flights, *taken; /* taken: whose results the program looks at */
    uint64_t next_ticket;

    struct event_row *event_head, *event_tail;
    size_t event_count;
    uint64_t event_n;             /* the last event's number; 0: none yet */
    bool event_gap;               /* a connection was lost, and the program has not been told */
    struct topic *topics;
};

uint64_t now_ns(void); /* CLOCK_MONOTONIC */
uint64_t deadline_of(int timeout_ms);
/* Notes a failure, for visd_client_why, and returns err. */
enum visd_err client_fail(struct visd_client *client, enum visd_err err, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A connection came or went: link.c tells, on the program's thread. */
void client_up(struct visd_client *client);
void client_down(struct visd_client *client);
/* May a request go out that names things by number? CONFLICT after a restart. */
enum visd_err client_check_epoch(struct visd_client *client, uint64_t epoch);
/* Copies a text and ends it with a zero; what does not fit is cut. */
void text_copy(char *out, size_t size, struct visd_str text);

/* ---- call.c ---- */

/* A reply, decoded. What it points to lives until reply_finish. */
struct reply {
    nng_msg *msg;
    struct visd_arena arena;
    struct visd_message m;
};
void reply_finish(struct reply *reply);
/* Takes the message over (not when it fails). An error reply, or one of another type, is a failure. */
enum visd_err reply_read(struct visd_client *client, nng_msg *msg, enum visd_msg_type expected, struct reply *out);
/* Encodes into c->out with a fresh number. */
enum visd_err call_encode(struct visd_client *client, struct visd_message *request);
enum visd_err call_start(struct visd_client *client, struct visd_message *request, int once,
                         void (*handle)(struct visd_client *, void *, enum visd_err, nng_msg **), void *owner, struct exchange **out);
/* There and back. On success the caller finishes the reply. */
enum visd_err call(struct visd_client *client, struct visd_message *request, int once, enum visd_msg_type expected, struct reply *out);
/* For loops that wait: dispatches, and waits for more. OK: look again. TIMEOUT, or DISCONNECTED when the daemon has been away too long. */
enum visd_err call_wait(struct visd_client *client, uint64_t deadline);

/* ---- batch_send.c ---- */

struct part {
    struct part *next;
    struct visd_buf items;
    uint32_t count, number;
    bool sent;
};

enum batch_phase { BATCH_FILLING, BATCH_BEGINNING, BATCH_OPEN, BATCH_COMMITTING, BATCH_DONE, BATCH_FAILED };

struct visd_client_batch {
    struct visd_client_batch *next;
    struct visd_client *client; /* NULL: the client was closed first */
    uint32_t scene;
    uint64_t epoch;
    bool has_if_revision, transient, new_only;
    uint64_t if_revision;
    enum batch_phase phase;
    uint64_t number;            /* 0: none taken yet */
    uint32_t daemon_batch;
    bool daemon_batch_open;     /* the daemon knows it by that number */
    struct part *parts, **tail; /* full, or being sent; the last is being filled */
    struct part *filling;
    size_t filling_values;
    uint32_t next_part, unacknowledged;
    bool commit;                /* the program has asked for it */
    bool destroyed;             /* the program has let go; freed when the daemon has answered */
    uint64_t put, acknowledged;
    struct visd_client_committed committed;
    struct visd_client_failure failure;
};

/* The client's failure becomes the batch's. */
void batch_fail(struct visd_client_batch *batch);
/* Sends what can be sent now, for every batch. */
void batch_pump(struct visd_client *client);
void batch_free(struct visd_client_batch *batch);

/* ---- views.c, frames.c, results.c, lists.c ---- */

/* A whole list that an answer gave; several may hold it. */
struct list {
    unsigned holders;
    uint64_t epoch, frame, digest;
    size_t count;
    uint64_t ids[];
};
struct list *list_hold(struct list *list);
void list_drop(struct list *list);
/* From a result without base. NO_MEMORY; BAD_MESSAGE: count or digest is not right. */
enum visd_err list_from_result(const struct visd_msg_result *result, struct list **out);
/* From a delta; the base stays as it is. */
enum visd_err list_from_delta(const struct list *base, const struct visd_msg_result *result, struct list **out);

/* A result with all that it points to; held by its flight and, while it is the newest, by its view. */
struct answer {
    unsigned holders;
    struct list *list;
    struct visd_arena memory;
    struct visd_client_result result;
};
struct answer *answer_hold(struct answer *answer);
void answer_drop(struct answer *answer);

struct visd_client_view {
    struct visd_client_view *next;
    struct visd_client *client;
    uint32_t number;
    uint64_t epoch, key, next_frame;
    struct list *base;     /* the newest whole list */
    struct answer *latest;
};

/* A request for frames, from sending to the taking of its results. */
struct flight {
    struct flight *next;
    struct visd_client *client;
    struct exchange *exchange; /* NULL: answered */
    uint64_t ticket;
    bool wanted, complete, again; /* again: the second try, with whole lists */
    enum visd_err err;            /* of the request as a whole */
    char text[1024];
    uint32_t count;
    struct flight_frame {
        struct visd_client_frame frame;
        uint64_t number, sent;
        struct list *base;     /* that a delta may refer to */
        struct answer *answer; /* NULL: not yet */
        bool closed;           /* the view is gone */
    } frames[];
};
enum visd_err flight_send(struct flight *flight);
void flight_free(struct flight *flight); /* unlinks it as well */
/* dispatch's handler. */
void flight_handle(struct visd_client *client, void *owner, enum visd_err err, nng_msg **reply);
void view_forget(struct visd_client_view *view); /* frees, without telling the daemon */

/* ---- events.c ---- */
void events_take(struct visd_client *client, const void *bytes, size_t size);
/* The connection for events went; there is one. */
void events_lost(struct visd_client *client);
void events_back(struct visd_client *client);
void events_free(struct visd_client *client);

#endif
