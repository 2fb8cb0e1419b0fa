/* A small peer for libvisd's tests: the daemon's side of the wire over plain sockets, with a scene that only counts, and with
 * the misbehaviour that a test asks for. A thread accepts, a thread a connection serves; one lock over everything. */
#ifndef VISD_TESTS_CLIENT_PEER_H
#define VISD_TESTS_CLIENT_PEER_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/codec.h"
#include "proto/sp.h"

#define PEER_CONNECTIONS 32

struct peer {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* what is under the lock was changed */
    char path[108], url[128];
    int listener;
    pthread_t accepting, serving[PEER_CONNECTIONS];
    int sockets[PEER_CONNECTIONS], subscriber; /* -1: none */
    unsigned connections;
    bool stop;

    /* What it is. */
    uint64_t epoch;
    uint32_t version;
    uint64_t last_batch, revision, event_n;

    /* What it is to do. */
    bool silent;             /* greets and takes, never answers */
    enum visd_msg_type drop; /* the next request of this type loses its connection, after it was carried out */
    bool drop_armed;
    bool drop_always;        /* every such request, and before it is carried out */
    enum visd_err refuse;    /* the next request of refuse_type gets this */
    enum visd_msg_type refuse_type;
    unsigned spoil_digest;   /* so many results */
    bool spoil_base, supersede, all;
    unsigned hold;           /* requests for frames that are not answered yet: kept until released */

    /* What it has seen. */
    unsigned seen[VISD_MSG_COUNT];
    uint64_t parts, rows, names_bytes, meshes, next_id, bytes_max;
    bool in_order;
    uint64_t commits, deltas, fulls;
};

/* What a test changes while the peer runs: PEER(&p, p.all = true). */
#define PEER(peer, change)                       \
    do {                                         \
        pthread_mutex_lock(&(peer)->lock);       \
        change;                                  \
        pthread_cond_broadcast(&(peer)->changed); \
        pthread_mutex_unlock(&(peer)->lock);     \
    } while (0)

static inline bool peer_read(int fd, void *at, size_t size)
{
    for (char *p = at; size;) {
        ssize_t n = read(fd, p, size);
        if (n <= 0) return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

static inline bool peer_write(int fd, const void *at, size_t size)
{
    for (const char *p = at; size;) {
        ssize_t n = send(fd, p, size, MSG_NOSIGNAL);
        if (n <= 0) return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

/* The list of a frame: ids 10, 20, 30... as many as frame % 7 + 3, but for those divisible by 10 * frame. */
static inline size_t peer_list(uint64_t frame, uint32_t *ids)
{
    size_t n = 0;
    for (uint32_t i = 1; i <= frame % 7 + 3; i++)
        if (i % (frame + 1)) ids[n++] = 10 * i;
    return n;
}

static inline bool peer_in(const uint32_t *ids, size_t n, uint32_t id)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id) return true;
    return false;
}

static inline void peer_items(struct peer *p, const struct visd_item *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (items[i].kind == VISD_ITEM_MESH_PUT) p->meshes++;
        if (items[i].kind != VISD_ITEM_OBJECT_ADD) continue;
        for (size_t row = 0; row < items[i].object_add.ids.rows; row++)
            if (visd_bin_u64(&items[i].object_add.ids, row) != p->next_id++) p->in_order = false;
        p->rows += items[i].object_add.ids.rows;
        p->names_bytes += items[i].object_add.names.rows;
    }
}

static inline void peer_row(struct peer *p, struct visd_msg_scene_row *row)
{
    *row = (struct visd_msg_scene_row){.scene = 3, .name = visd_str_of("office"), .revision = p->revision, .metres_per_unit = 1, .objects = p->rows, .ids32 = true,
        .has_min = true, .has_max = true, .min = {-1, -2, -3}, .max = {1, 2, 3}};
}

static inline void peer_frame(struct peer *p, struct visd_arena *a, const struct visd_msg_frame *f, struct visd_msg_result *r)
{
    uint32_t ids[16], base[16], *added = visd_arena_take(a, 16, 4), *removed = visd_arena_take(a, 16, 4);
    size_t n = peer_list(f->frame, ids), base_n, added_n = 0, removed_n = 0;
    *r = (struct visd_msg_result){.view = f->view, .frame = f->frame, .epoch = p->epoch, .scene = 3, .revision = p->revision, .source_frame = f->frame,
        .source_revision = p->revision, .method = VISD_WIRE_METHOD_HIZ, .grade = VISD_WIRE_GRADE_CONSERVATIVE, .count = n};
    r->times.sent = f->sent_ns;
    for (size_t i = 0; i < n; i++) r->digest += visd_digest_of(ids[i]);
    if (p->supersede) {
        p->supersede = false;
        r->err = VISD_ERR_SUPERSEDED;
        r->count = r->digest = 0;
        return;
    }
    if (p->all) {
        r->all = true;
        r->grade = VISD_WIRE_GRADE_ALL;
        r->degraded = r->has_why = true;
        r->why = visd_str_of("the device is away");
        return;
    }
    if (f->has_base && f->base.epoch == p->epoch && f->base.frame < f->frame) {
        base_n = peer_list(f->base.frame, base);
        for (size_t i = 0; i < n; i++)
            if (!peer_in(base, base_n, ids[i])) added[added_n++] = ids[i];
        for (size_t i = 0; i < base_n; i++)
            if (!peer_in(ids, n, base[i])) removed[removed_n++] = base[i];
        r->has_base = true;
        r->base = f->base;
        if (p->spoil_base) r->base.frame++, p->spoil_base = false;
        r->has_removed32 = true;
        r->removed32 = visd_bin_of(removed, removed_n);
        p->deltas++;
    } else {
        memcpy(added, ids, sizeof(ids));
        added_n = n;
        p->fulls++;
    }
    if (p->spoil_digest) r->digest++, p->spoil_digest--;
    r->has_ids32 = true;
    r->ids32 = visd_bin_of(added, added_n);
    r->has_stats = true;
    r->stats.listed = (uint32_t)n;
}

/* The answer to a request; false: none. */
static inline bool peer_answer(struct peer *p, struct visd_arena *a, const struct visd_message *q, struct visd_message *out)
{
    static const uint64_t ids[] = {7, 8};
    static const uint32_t zeros[4], offsets[] = {0, 1, 4};
    static const uint64_t none[] = {VISD_NONE64, VISD_NONE64};
    *out = (struct visd_message){.type = VISD_MSG_OK, .n = q->n};
    if (q->has_epoch && q->epoch != p->epoch) {
        visd_error_reply(out, q->n, VISD_ERR_CONFLICT, "that was another epoch");
        return true;
    }
    if (p->refuse != VISD_ERR_OK && p->refuse_type == q->type) {
        visd_error_reply(out, q->n, p->refuse, "refused as asked");
        out->error.has_item = out->error.has_id = true;
        out->error.item = 5;
        out->error.id = 77;
        p->refuse = VISD_ERR_OK;
        return true;
    }
    switch (q->type) {
    case VISD_MSG_HELLO: {
        static struct visd_str features[] = {{"frustum", 7}, {"hiz", 3}};
        static struct visd_msg_named_limit limits[] = {{.name = {"message_bytes", 13}, .value = 64 << 20}};
        out->type = VISD_MSG_HELLO_OK;
        out->hello_ok = (struct visd_msg_hello_ok){.epoch = p->epoch,
                                                   .version = p->version,
                                                   .version_min = p->version,
                                                   .features = features,
                                                   .features_count = 2,
                                                   .limits = limits,
                                                   .limits_count = 1,
                                                   .device = visd_str_of("none"),
                                                   .worker = visd_str_of("thread"),
                                                   .server = visd_str_of("peer 1"),
                                                   .batch_number = p->last_batch};
        break;
    }
    case VISD_MSG_PING: out->type = VISD_MSG_PONG; break;
    case VISD_MSG_SCENE_CREATE:
    case VISD_MSG_SCENE_INFO:
        out->type = VISD_MSG_SCENE;
        peer_row(p, &out->scene.row);
        break;
    case VISD_MSG_SCENE_LIST:
        out->type = VISD_MSG_SCENES;
        out->scenes.rows = visd_arena_take(a, 1, sizeof(*out->scenes.rows));
        out->scenes.rows_count = 1;
        peer_row(p, out->scenes.rows);
        break;
    case VISD_MSG_OBJECTS:
        out->type = VISD_MSG_OBJECT_ROWS;
        out->object_rows = (struct visd_msg_object_rows){.revision = p->revision,
                                                         .ids = {ids, 2},
                                                         .flags = {zeros, 2},
                                                         .meshes = {none, 2},
                                                         .groups = {none, 2},
                                                         .triangles = {zeros, 2},
                                                         .has_names = true,
                                                         .names = {"aé!", 4},
                                                         .has_name_offsets = true,
                                                         .name_offsets = {offsets, 3}};
        break;
    case VISD_MSG_MESHES:
        out->type = VISD_MSG_MESH_ROWS;
        out->mesh_rows = (struct visd_msg_mesh_rows){.revision = p->revision, .next = 9, .meshes = {ids, 2}, .vertices = {offsets + 1, 2},
            .triangles = {zeros, 2}, .objects = {offsets, 2}};
        break;
    case VISD_MSG_MESH_GET: {
        static const float corners[] = {0, 0, 0, 1, 0, 0, 0, 1, -0.0f};
        static const uint32_t order[] = {2, 1, 0}, part[] = {0, 3, VISD_WIRE_SIDES_DOUBLE, 1};
        out->type = VISD_MSG_MESH_DATA;
        out->mesh_data = (struct visd_msg_mesh_data){.mesh = q->mesh_get.mesh, .positions = {corners, 3}, .indices = {order, 1}, .parts = {part, 1},
            .deviation = 0.5};
        break;
    }
    case VISD_MSG_BATCH:
    case VISD_MSG_BATCH_COMMIT: {
        uint64_t number = q->type == VISD_MSG_BATCH ? q->batch.number : q->batch_commit.number;
        if (number > p->last_batch + 1) {
            visd_error_reply(out, q->n, VISD_ERR_CONFLICT, "a gap in the numbers");
            break;
        }
        if (number == p->last_batch + 1) {
            if (q->type == VISD_MSG_BATCH) peer_items(p, q->batch.items, q->batch.items_count);
            else if (q->batch_commit.parts != p->parts) p->in_order = false;
            p->last_batch = number;
            p->revision++;
            p->commits++;
        }
        out->type = VISD_MSG_COMMITTED;
        out->committed = (struct visd_msg_committed){.number = number, .revision = p->revision};
        break;
    }
    case VISD_MSG_BATCH_BEGIN:
        p->parts = 0;
        out->type = VISD_MSG_BATCH_OPEN;
        out->batch_open.batch = 12;
        break;
    case VISD_MSG_BATCH_APPEND:
        if (q->batch_append.part == p->parts) {
            p->parts++;
            peer_items(p, q->batch_append.items, q->batch_append.items_count);
        } else if (q->batch_append.part > p->parts) p->in_order = false;
        break;
    case VISD_MSG_BATCH_LAST:
        out->type = VISD_MSG_BATCH_NUMBER;
        out->batch_number.number = p->last_batch;
        break;
    case VISD_MSG_VIEW_OPEN:
        out->type = VISD_MSG_VIEW;
        out->view = (struct visd_msg_view){.view = (uint32_t)(40 + q->view_open.key)};
        break;
    case VISD_MSG_FRAMES:
        out->type = VISD_MSG_RESULTS;
        out->results.results_count = q->frames.frames_count;
        out->results.results = visd_arena_take(a, q->frames.frames_count, sizeof(*out->results.results));
        for (uint32_t i = 0; i < q->frames.frames_count; i++) peer_frame(p, a, &q->frames.frames[i], &out->results.results[i]);
        break;
    default: break;
    }
    return !p->silent;
}

struct peer_connection {
    struct peer *peer;
    unsigned index;
};

static inline bool peer_serve_one(struct peer *p, int fd, struct visd_buf *in, struct visd_buf *out, struct visd_arena *arena)
{
    uint8_t head[VISD_SP_HEADER_MAX];
    struct visd_message q, reply;
    struct visd_refused why;
    uint64_t length;
    size_t words;
    bool answer, drop;
    if (!peer_read(fd, head, 9) || visd_sp_header_parse(VISD_SP_IPC, head, &length) != VISD_ERR_OK ||
        length > VISD_MAX_MESSAGE_BYTES + 64)
        return false;
    in->size = out->size = 0;
    visd_arena_reset(arena);
    if (visd_buf_reserve(in, length) != VISD_ERR_OK || !peer_read(fd, in->at, length)) return false;
    if (visd_sp_backtrace(in->at, length, &words) != VISD_ERR_OK) return false;
    pthread_mutex_lock(&p->lock);
    if (length > p->bytes_max) p->bytes_max = length;
    if (visd_decode(in->at + words, length - words, arena, &q, &why) != VISD_ERR_OK) {
        visd_error_reply(&reply, why.n, why.err, why.text);
        answer = true;
        drop = false;
    } else {
        p->seen[q.type]++;
        drop = p->drop_armed && p->drop == q.type;
        p->drop_armed = p->drop_armed && (!drop || p->drop_always);
        answer = (drop && p->drop_always) || peer_answer(p, arena, &q, &reply);
        while (q.type == VISD_MSG_FRAMES && p->hold && !p->stop) pthread_cond_wait(&p->changed, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    if (drop) return false;
    if (!answer) return true;
    visd_buf_append(out, head, 9);
    visd_buf_append(out, in->at, words);
    if (visd_encode(&reply, out, &why) != VISD_ERR_OK) {
        fprintf(stderr, "peer: %s\n", why.text);
        abort();
    }
    visd_sp_header_build(VISD_SP_IPC, out->size - 9, out->at);
    return peer_write(fd, out->at, out->size);
}

static inline void *peer_serve(void *arg)
{
    struct peer_connection *c = arg;
    struct peer *p = c->peer;
    int fd = p->sockets[c->index];
    struct visd_buf in = {0}, out = {0};
    struct visd_arena arena = {0};
    uint8_t greeting[8];
    uint16_t protocol;
    if (peer_read(fd, greeting, 8) && visd_sp_greeting_parse(greeting, &protocol) == VISD_ERR_OK) {
        visd_sp_greeting_build(greeting, protocol == VISD_SP_SUB ? VISD_SP_PUB : VISD_SP_REP);
        if (peer_write(fd, greeting, 8)) {
            if (protocol == VISD_SP_SUB) {
                PEER(p, p->subscriber = fd);
                while (peer_read(fd, greeting, 1)) {}
                pthread_mutex_lock(&p->lock);
                if (p->subscriber == fd) p->subscriber = -1;
                pthread_mutex_unlock(&p->lock);
            } else {
                while (peer_serve_one(p, fd, &in, &out, &arena)) {}
            }
        }
    }
    shutdown(fd, SHUT_RDWR);
    visd_buf_finish(&in);
    visd_buf_finish(&out);
    visd_arena_finish(&arena);
    free(c);
    return NULL;
}

static inline void *peer_accept(void *arg)
{
    struct peer *p = arg;
    for (;;) {
        int fd = accept(p->listener, NULL, NULL);
        struct peer_connection *c;
        if (fd < 0) return NULL;
        pthread_mutex_lock(&p->lock);
        if (p->stop || p->connections == PEER_CONNECTIONS) {
            close(fd);
            pthread_mutex_unlock(&p->lock);
            return NULL;
        }
        c = malloc(sizeof(*c));
        *c = (struct peer_connection){p, p->connections};
        p->sockets[p->connections] = fd;
        pthread_create(&p->serving[p->connections++], NULL, peer_serve, c);
        pthread_mutex_unlock(&p->lock);
    }
}

/* Begins to listen; what it has seen and is stays as it was. */
static inline void peer_start(struct peer *p)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!p->path[0]) {
        pthread_mutex_init(&p->lock, NULL);
        pthread_cond_init(&p->changed, NULL);
        snprintf(p->path, sizeof(p->path), "/tmp/visd-test-%d-%p.sock", (int)getpid(), (void *)p);
        snprintf(p->url, sizeof(p->url), "ipc://%s", p->path);
        p->epoch = 1000;
        p->version = VISD_PROTO_VERSION;
        p->in_order = true;
    }
    memcpy(address.sun_path, p->path, sizeof(address.sun_path));
    p->stop = false;
    p->connections = 0;
    p->subscriber = -1;
    unlink(p->path);
    p->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (p->listener < 0 || bind(p->listener, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(p->listener, 16) != 0) abort();
    pthread_create(&p->accepting, NULL, peer_accept, p);
}

static inline void peer_stop(struct peer *p)
{
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->changed);
    shutdown(p->listener, SHUT_RDWR);
    for (unsigned i = 0; i < p->connections; i++) shutdown(p->sockets[i], SHUT_RDWR);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->accepting, NULL);
    for (unsigned i = 0; i < p->connections; i++) {
        pthread_join(p->serving[i], NULL);
        close(p->sockets[i]);
    }
    close(p->listener);
    unlink(p->path);
}

/* An event to the subscriber, if there is one; false: there is none. */
static inline bool peer_event(struct peer *p, const char *topic, struct visd_message *m)
{
    struct visd_buf out = {0};
    uint8_t head[9];
    bool sent = false;
    pthread_mutex_lock(&p->lock);
    m->n = ++p->event_n;
    visd_event_topic(&out, topic);
    if (visd_encode(m, &out, NULL) != VISD_ERR_OK) abort();
    visd_sp_header_build(VISD_SP_IPC, out.size, head);
    if (p->subscriber >= 0) sent = peer_write(p->subscriber, head, 9) && peer_write(p->subscriber, out.at, out.size);
    pthread_mutex_unlock(&p->lock);
    visd_buf_finish(&out);
    return sent;
}

/* Waits until there is a subscriber; false: none came in ten seconds. */
static inline bool peer_await_subscriber(struct peer *p)
{
    struct timespec until;
    int late = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    pthread_mutex_lock(&p->lock);
    while (p->subscriber < 0 && !late) late = pthread_cond_timedwait(&p->changed, &p->lock, &until);
    pthread_mutex_unlock(&p->lock);
    return !late;
}

static inline unsigned peer_seen(struct peer *p, enum visd_msg_type type)
{
    unsigned n;
    PEER(p, n = p->seen[type]);
    return n;
}

#endif
