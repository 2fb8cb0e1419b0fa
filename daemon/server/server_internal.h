/* What the server's own files share. Each struct belongs to the file named above it. */
#ifndef VISD_SERVER_INTERNAL_H
#define VISD_SERVER_INTERNAL_H

#include "daemon/log.h"
#include "daemon/scene/scene.h"
#include "daemon/view/view.h"
#include "door.h"
#include "proto/codec.h"
#include "proto/messages.h"
#include "quota.h"
#include "server.h"
#include "worker_link.h"

#define KEPT_REPLIES 16u       /* replies to committed batches that are kept a client */
#define REMEMBERED_CLIENTS 256u /* clients without a connection whose batch numbers are kept, a user */

/* ---- session.c ---- */

struct view_slot;
struct frames_wait;

struct kept_reply {
    uint64_t number, revision;
};

/* A client: a program that chose a random id. It outlives its connections for a while, so that a
 * reconnect finds its views again; then its views go, and only its batch numbers are remembered. */
struct client {
    struct client *next;
    uint8_t id[VISD_CLIENT_ID_SIZE];
    char name[VISD_MAX_NAME_BYTES + 1];
    struct visd_user *user;      /* who it is bound to */
    struct visd_charge charge;   /* CLIENTS; empty while it is only remembered */
    unsigned connections, views, batches;
    uint64_t gone_ns;            /* since when it has no connection; 0: it has one */
    bool remembered;             /* its views are gone */
    uint64_t last_number;        /* of its committed batches */
    struct kept_reply kept[KEPT_REPLIES]; /* by number modulo KEPT_REPLIES */
};

/* A connection, as the server sees it. */
struct session {
    struct visd_conn *conn;
    struct client *client;       /* NULL before it has said who it is */
    uint64_t number;             /* never used again in this epoch */
    uint64_t connected_ns, requests, refused;
    uint32_t version;            /* that it said in hello */
    bool greeted;                /* it has said hello, and speaks for that client alone */
    uint64_t sequence, missed, missed_since; /* a subscriber's events; missed_since: not told yet */
    struct frames_wait *waits;   /* its frames without an answer */
};

/* ---- ops_scene.c, ops_batch.c, commits.c, ops_view.c ---- */

struct scene_slot {
    struct visd_scene *scene;    /* NULL: free */
    char name[VISD_MAX_NAME_BYTES + 1];
    uint32_t generation;
    bool closing;
    struct visd_user *user;      /* who created it */
    struct visd_charge charge, bytes;
};

struct open_batch {
    struct open_batch *next;
    uint32_t number;             /* on the wire */
    uint32_t scene;              /* on the wire */
    struct client *client;
    uint64_t client_number;
    bool has_if_revision;
    uint64_t if_revision;
    struct visd_batch *batch;
    uint32_t parts;              /* taken so far */
    uint64_t items;
    struct visd_charge charge;
};

/* A batch that is applied, and whose answer is kept back: its scene's uploads are too far ahead of the worker. */
struct late_commit {
    struct late_commit *next;
    struct visd_request *request;
    uint64_t n, number, revision;
    uint32_t scene;              /* slot */
};

struct view_slot {
    struct visd_view *view;      /* NULL: free */
    uint32_t generation;
    bool closing;
    struct client *client;       /* NULL when closing */
    uint64_t key;
    uint32_t scene;              /* on the wire */
    unsigned held;               /* answers taken and not given back */
    uint64_t last_answered;
    uint32_t snapshot_what, snapshot_level;
    struct visd_charge charge, bytes;
};

enum wait_kind { WAIT_FRAMES, WAIT_SNAPSHOT };

/* A cookie: one frame of a request, or a picture. */
struct wait_item {
    enum wait_kind kind;
    struct frames_wait *frames;  /* WAIT_FRAMES */
    struct visd_request *request; /* WAIT_SNAPSHOT */
    uint64_t n;
    uint32_t view;               /* slot */
    uint32_t wire_view;
    bool parks;                  /* it waits for the answer to change */
    bool answered;
    bool has_answer;             /* answer is held, and must be given back */
    uint32_t want;
    struct visd_answer answer;
    enum visd_err err;           /* not OK: there is no answer, but this */
    char text[200];
};

/* A frames request on its way: answered when the last of its frames is. */
struct frames_wait {
    struct frames_wait *next, *prev; /* in its session */
    struct session *session;
    struct visd_request *request;
    uint64_t n;
    uint32_t count, unanswered;
    struct wait_item items[];
};

struct ping_wait {
    struct ping_wait *next;
    struct visd_request *request;
    uint64_t n, serial;          /* serial 0: not put yet */
};

/* ---- server.c ---- */

/* field, name in stats, what it counts */
#define SERVER_COUNT_MAP(X)                                             \
    X(refusals, "requests answered with an error")                      \
    X(bad_messages, "requests that do not parse")                       \
    X(commits, "batches applied")                                       \
    X(duplicates, "batches answered from the stored reply")             \
    X(frames, "frames submitted")                                       \
    X(answers, "frames answered by the worker or at once")              \
    X(answers_all, "answers of grade all")                              \
    X(answers_superseded, "frames superseded before they started")      \
    X(answers_delta, "answers sent as deltas")                          \
    X(ids_sent, "ids listed in answers")                                \
    X(events_lost, "events that did not fit a subscriber's queue")      \
    X(worker_errors, "jobs that failed")                                \
    X(device_losses, "times that the device was lost")

struct server_counts {
#define X(field, text) uint64_t field;
    SERVER_COUNT_MAP(X)
#undef X
};

struct visd_server {
    struct visd_server_params params;
    uint64_t epoch, started_ns;
    struct visd_users users;
    struct visd_door *door;
    struct visd_link link;
    struct visd_arena arena;

    struct client *clients;
    enum visd_wire_device_state device_state;
    char device[VISD_MAX_NAME_BYTES + 1]; /* its name; empty while there is none */
    char device_why[200];        /* not ready: why */
    bool losing;                 /* the device is lost, and jobs are still unanswered */
    uint64_t session_count;      /* sessions ever */
    unsigned subscribers;
    struct scene_slot scenes[VISD_SEGMENT_MAX_SCENES]; /* slot 0 is not used */
    struct view_slot views[VISD_SEGMENT_MAX_VIEWS];    /* nor here */
    uint32_t scene_end, view_end; /* one past the highest slot ever used */
    uint32_t next_scene, next_view; /* whose turn it is to hand out a job */
    bool views_turn;
    struct open_batch *batches;
    uint32_t batch_count;        /* numbers given */
    struct late_commit *late;
    struct ping_wait *pings;     /* oldest first */

    uv_timer_t second;           /* looks after clients without a connection, while there are any */
    uv_timer_t stats_timer;      /* runs from the first thing that happens to the next stats event */
    uv_timer_t stop_timer;
    bool stopping, door_emptied, stopped;
    unsigned closing;            /* views and scenes that are on their way out */
    uint64_t stop_ns;
    struct server_counts counts;
    uint64_t op_counts[VISD_MSG_COUNT];
};

static inline bool server_has_worker(const struct visd_server *server) { return server->device_state == VISD_WIRE_DEVICE_STATE_READY; }
void server_tick_start(struct visd_server *server);
void server_reap(struct visd_server *server); /* frees views and scenes that have closed */
void server_check_stopped(struct visd_server *server);

/* ---- device.c ---- */
void device_set(struct visd_server *server, enum visd_wire_device_state state, const char *device, const char *why);
void device_look(struct visd_server *server, const struct visd_result *result); /* does it say that the device is lost? */
void device_settle(struct visd_server *server); /* all results that were there have been handed over */

/* ---- session.c ---- */
struct session *session_open(struct visd_server *server, struct visd_conn *conn);
void session_close(struct visd_server *server, struct session *session);
/* The client with this id, made if need be, with the session attached to it. DENIED: it is another user's, or hello said another; QUOTA,
 * NO_MEMORY. */
enum visd_err session_client(struct visd_server *server, struct session *session, const uint8_t *id, struct client **out);
/* Lets go of the client that has been without a connection for longest, to make room; of this user, or if NULL, of any. False: there is none. */
bool clients_evict(struct visd_server *server, const struct visd_user *user);
bool clients_tick(struct visd_server *server, uint64_t now); /* whether any has to be waited for */
void clients_finish(struct visd_server *server);

/* ---- ops.c ---- */
struct call {
    struct visd_server *server;
    struct session *session;
    struct visd_request *request;   /* taken over by the op if it sets this to NULL */
    const struct visd_message *in;
};
void ops_dispatch(struct visd_server *server, struct session *session, struct visd_request *request);
void call_reply(struct call *call, struct visd_message *out);
__attribute__((format(printf, 3, 4))) void call_refuse(struct call *call, enum visd_err err, const char *format, ...);
void call_refuse_error(struct call *call, const struct visd_msg_error *error); /* err, text and the optional fields */
struct visd_request *call_keep(struct call *call); /* for an answer that comes later: the body is shed */
/* For kept requests. Both end the request. */
void reply_to(struct visd_server *server, struct visd_request *request, uint64_t n, struct visd_message *out);
void refuse_to(struct visd_server *server, struct visd_request *request, uint64_t n, enum visd_err err, const char *text);

/* ---- ops_info.c ---- */
void op_hello(struct call *call);
void op_ping(struct call *call);
void op_stats(struct call *call);
void op_clients(struct call *call);
void pings_put(struct visd_server *server, uint64_t serial);
void pings_done(struct visd_server *server, const struct visd_result *result);
void pings_end(struct visd_server *server, enum visd_err err); /* those that wait for the worker: OK: answered without it; else refused */
unsigned stats_collect(struct visd_server *server, struct visd_msg_named_number *out, unsigned room);
#define STATS_ROOM 256u

/* ---- ops_scene.c ---- */
void op_scene_create(struct call *call);
void op_scene_remove(struct call *call);
void op_scene_list(struct call *call);
void op_scene_info(struct call *call);
struct scene_slot *call_scene(struct call *call, uint32_t wire); /* NULL: none, or closing; refused */
uint32_t scene_wire(const struct visd_server *server, const struct scene_slot *slot);
void scene_free_slot(struct scene_slot *slot);

/* ---- ops_rows.c ---- */
void op_objects(struct call *call);
void op_groups(struct call *call);
void op_meshes(struct call *call);
void op_mesh_get(struct call *call);

/* ---- ops_batch.c ---- */
void op_batch(struct call *call);
void op_batch_begin(struct call *call);
void op_batch_append(struct call *call);
void op_batch_commit(struct call *call);
void op_batch_abort(struct call *call);
void op_batch_last(struct call *call);
void batches_drop(struct visd_server *server, const struct client *client, uint32_t scene_wire_number); /* of the client, or if NULL, for the scene */

/* ---- commits.c ---- */
/* Applies the batch, or refuses it, and answers in either case. if_revision: NULL: whatever the scene's is. */
void batch_commit(struct call *call, struct scene_slot *slot, struct client *client, struct visd_batch *batch, uint64_t number,
                  const uint64_t *if_revision);
void commits_answer(struct visd_server *server, bool all); /* those whose scene's worker has caught up, or all */
void batch_reply_committed(struct call *call, uint64_t number, uint64_t revision);
void batch_refuse_refusal(struct call *call, const struct visd_refusal *why, uint64_t first_item); /* first_item: of the message, over all parts */
void batch_refuse_expected(struct call *call, uint64_t expected, const char *text);

/* ---- batch_items.c ---- */
enum visd_err batch_take_item(struct visd_batch *batch, const struct visd_item *item, struct visd_refusal *why);

/* ---- ops_view.c, frames.c, pictures.c ---- */
void op_view_open(struct call *call);
void op_view_set(struct call *call);
void op_view_close(struct call *call);
void op_frames(struct call *call);
void op_snapshot(struct call *call);
struct view_slot *view_find(struct call *call, uint32_t wire); /* NULL: none, closing, or not this user's */
struct view_slot *call_view(struct call *call, uint32_t wire); /* the same; NULL: refused */
uint32_t view_wire(const struct visd_server *server, const struct view_slot *slot);
void view_close_slot(struct visd_server *server, struct view_slot *slot);
void view_free_slot(struct view_slot *slot);
void view_settle(struct visd_server *server, struct view_slot *slot); /* what is charged for it is what it holds */
void views_drop(struct visd_server *server, const struct client *client);
void view_collect(struct visd_server *server, struct view_slot *slot); /* takes and passes on what answers there are */
void frames_forget(struct visd_server *server, struct session *session); /* its connection is gone */
void frames_stop_waiting(struct visd_server *server); /* cameras that wait for a change are answered: there will be none */
void picture_answered(struct visd_server *server, struct view_slot *slot, struct wait_item *item, const struct visd_answer *answer);
bool frames_pending(const struct visd_server *server);

/* ---- results.c ---- */
void result_fill(const struct visd_server *server, struct visd_msg_result *out, const struct wait_item *item); /* points into the answer */

/* ---- events.c ---- */
void event_revision(struct visd_server *server, const struct scene_slot *slot, const uint8_t *client);
void event_removed(struct visd_server *server, const struct scene_slot *slot);
void event_device(struct visd_server *server);
void events_stir(struct visd_server *server); /* something happened: subscribers get the counters within a second */
void events_joined(struct visd_server *server, struct session *session); /* a subscriber */
void events_drained(struct visd_server *server, struct session *session); /* its queue is empty again */

#endif
