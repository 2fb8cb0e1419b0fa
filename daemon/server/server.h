/* Who talks to us: the server's door, all that main.c needs of it.
 *
 *   door      listeners, connections, framing, deadlines, back-pressure
 *   session   which client a connection speaks for, what that client owns, who pays
 *   ops       the table of requests; each decodes to a struct, acts on scenes and views, and answers
 *   events    what subscribers are told
 *   link      jobs to the worker, results from it
 *   device    what is done when the worker loses its device, and when it is back
 *
 * One loop owns all of it; no function may be called from another thread. */
#ifndef VISD_SERVER_SERVER_H
#define VISD_SERVER_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/segment/segment.h"
#include "proto/err.h"

struct visd_server;

struct visd_server_worker_stats {
    uint64_t device_bytes, validation_messages;
};

struct visd_server_params {
    uv_loop_t *loop;
    struct visd_segment *segment;
    bool worker;                /* a worker consumes the segment's jobs; false: answers are of grade `all` */
    const char *device;         /* its device's name, or why there is none */
    const char *worker_kind;    /* "thread" */
    const char *version;        /* the daemon's */
    unsigned socket_mode;       /* of ipc sockets */
    const char *tls_cert_key, *tls_ca; /* or NULL */
    void (*worker_stats)(void *user, struct visd_server_worker_stats *out); /* for the statistics; may be NULL */
    void (*worker_lost)(void *user); /* its device is lost; it holds no job, and gets none until visd_server_worker_ready; may be NULL */
    void (*stopped)(void *user); /* after visd_server_stop: nothing is left to wait for */
    void *user;
    unsigned connections;       /* 0: what proto/limits.h says; as are these three */
    uint64_t greeting_ms, stall_ms, grace_ms;
};

/* Strings must outlive the server. */
enum visd_err visd_server_create(struct visd_server **out, const struct visd_server_params *params);
/* Any number of URLs; on an error why has a sentence. */
enum visd_err visd_server_listen(struct visd_server *server, const char *url, char *why, size_t why_size);

/* After worker_lost(): another worker takes jobs from the segment, or there will be none for some time, and why. */
void visd_server_worker_ready(struct visd_server *server, const char *device);
void visd_server_worker_away(struct visd_server *server, const char *why);

/* Nobody new comes in, nothing more is read; what is in flight is answered and written, for at most limit_ms; then
 * stopped() is called. Twice is fine. */
void visd_server_stop(struct visd_server *server, uint64_t limit_ms);
/* After stopped() and one more turn of the loop, and when the worker is gone. NULL is fine. */
void visd_server_destroy(struct visd_server *server);

/* False if jobs wait and the worker has not moved for limit_ms. */
bool visd_server_healthy(const struct visd_server *server, uint64_t limit_ms);

#endif
