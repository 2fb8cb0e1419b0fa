/* libvisd: what a program links to ask visd which of its objects can be seen. For C and C++.
 *
 * In short: visd_client_connect; visd_client_scene_create; fill a batch and commit it; visd_client_view_open; then for every
 * picture visd_client_frames_send a camera and visd_client_frames_wait for its list, or take visd_client_view_latest and go on
 * drawing.
 *
 * Threads. A client and what was made from it (batches, views, tickets) belong to one thread at a time; different clients are
 * independent. The library has threads of its own (nng's), but never calls the program from them: there are no callbacks. An
 * event loop watches visd_client_fd for reading and calls visd_client_dispatch. Functions that wait say so.
 *
 * Errors. Functions return enum visd_err. visd_client_why says what was refused, why and what to do, about the last call that
 * failed.
 *
 * A lost daemon. The connection is dialled again by itself. Meanwhile visd_client_state is VISD_CLIENT_LOST; requests under
 * way wait, and are sent again: all are safe to repeat, except the creation of a scene without or_open, its removal, and the
 * abandoning of a batch, which then fail with VISD_ERR_DISCONNECTED. A daemon that comes back in another epoch knows nothing
 * of earlier views, open batches and scene numbers: the state is VISD_CLIENT_RESTARTED, and what was meant for the old one is
 * refused with VISD_ERR_CONFLICT, never applied to another scene of the same number. The program closes its views, calls
 * visd_client_resume, and finds its scenes anew.
 *
 * Numbers. Ids are the program's own u64. Transforms are 12 doubles, three rows of four. Boxes are min x y z, max x y z.
 * Camera matrices are column-major. Lengths are in the scene's units, times in nanoseconds unless a name ends in _ms. A
 * timeout of -1 is for ever, of 0 a look. */
#ifndef VISD_CLIENT_H
#define VISD_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <visd/err.h>

#if defined(__GNUC__)
#define VISD_API __attribute__((visibility("default")))
#else
#define VISD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define VISD_NO_ID UINT64_MAX /* no mesh, no group, no parent */

struct visd_client;       /* a connection */
struct visd_client_batch; /* changes that are applied together */
struct visd_client_view;  /* one window */

/* ---- connecting ---- */

enum visd_client_link {
    VISD_CLIENT_CONNECTED,
    VISD_CLIENT_LOST,      /* no connection now; being dialled again */
    VISD_CLIENT_RESTARTED, /* connected to a daemon of another epoch: see visd_client_resume */
    VISD_CLIENT_REFUSED,   /* connected to something that does not let us in; visd_client_why says why */
};

struct visd_client_options {
    const char *name;       /* what tables and logs call this client; NULL: the program's name */
    const uint8_t *id;      /* 16 bytes by which batches are known over connections; NULL: random */
    int connect_timeout_ms; /* 0: 5000 */
    int request_timeout_ms; /* for functions that wait; 0: 60000 */
    size_t reply_bytes;     /* the largest reply to take; 0: 256 MiB */
};

struct visd_client_failure {
    enum visd_err err;
    char text[1024];
    bool has_item, has_id, has_expected;
    uint64_t item;     /* which item of a batch */
    uint64_t id;       /* which object, group, mesh or portal */
    uint64_t expected; /* the revision or number that would have been right */
};

struct visd_client_info {
    uint64_t epoch;
    uint32_t version, version_min;
    char device[256], worker[256], server[256];
    uint8_t id[16];
};

/* url: "ipc:///run/visd/visd.sock", "tcp://127.0.0.1:7450". Waits for a connection and a greeting. options and why may be NULL.
 * On failure *out is NULL. DISCONNECTED: nothing answers there. VERSION, DENIED: refused. */
VISD_API enum visd_err visd_client_connect(struct visd_client **out, const char *url, const struct visd_client_options *options,
                                           struct visd_client_failure *why);
/* Frees the client, its views and tickets; batches are the program's to destroy. NULL is fine. Requests under way are given up. Takes
 * milliseconds when idle, up to two seconds when not: answers that are on their way are let in first. */
VISD_API void visd_client_close(struct visd_client *client);

VISD_API enum visd_client_link visd_client_state(const struct visd_client *client);
/* After a restart: the program has let go of the numbers of the old epoch, and goes on with the new one. */
VISD_API void visd_client_resume(struct visd_client *client);
VISD_API const struct visd_client_failure *visd_client_why(const struct visd_client *client);
/* Who answers, as of the last greeting. */
VISD_API const struct visd_client_info *visd_client_about(const struct visd_client *client);
VISD_API bool visd_client_has_feature(const struct visd_client *client, const char *name); /* "hiz" */
VISD_API uint64_t visd_client_limit(const struct visd_client *client, const char *name);   /* "message_bytes"; 0: no such limit */
VISD_API void visd_client_set_timeout(struct visd_client *client, int request_timeout_ms);
/* What the library hands out as an array is given back here. */
VISD_API void visd_client_free(void *array);

/* Readable when visd_client_dispatch has something to do. The client's own: watch it, don't read it. */
VISD_API int visd_client_fd(const struct visd_client *client);
/* Takes what has arrived. Never waits. */
VISD_API enum visd_err visd_client_dispatch(struct visd_client *client);
/* Waits until something has arrived, and takes it. TIMEOUT: nothing came. */
VISD_API enum visd_err visd_client_poll(struct visd_client *client, int timeout_ms);

struct visd_client_pong {
    uint64_t round_trip_ns;                   /* by the client's clock */
    uint64_t received_ns, worker_ns, sent_ns; /* by the daemon's clock; worker 0: there is none */
};
/* A full round trip through the daemon's loop and its worker. Waits. */
VISD_API enum visd_err visd_client_ping(struct visd_client *client, struct visd_client_pong *out);

/* ---- scenes ---- */

struct visd_client_scene {
    uint32_t scene;     /* its number in this epoch: what other functions take */
    char name[256];
    uint64_t revision;
    double metres_per_unit;
    uint64_t objects, groups, meshes, portals, triangles, bytes_host, bytes_device;
    bool has_bounds;
    double min[3], max[3];
    bool ids32;
};

/* All of these wait; out may be NULL. metres_per_unit 0: 1. or_open: one of that name is as good. */
VISD_API enum visd_err visd_client_scene_create(struct visd_client *client, const char *name, double metres_per_unit, bool or_open,
                                                struct visd_client_scene *out);
VISD_API enum visd_err visd_client_scene_remove(struct visd_client *client, uint32_t scene);
/* Only if the scene is still at that revision, else CONFLICT: what others have put into it stays. */
VISD_API enum visd_err visd_client_scene_remove_at(struct visd_client *client, uint32_t scene, uint64_t revision);
VISD_API enum visd_err visd_client_scene_find(struct visd_client *client, const char *name, struct visd_client_scene *out);
VISD_API enum visd_err visd_client_scene_info(struct visd_client *client, uint32_t scene, struct visd_client_scene *out);
/* *out is an array for visd_client_free. */
VISD_API enum visd_err visd_client_scene_list(struct visd_client *client, struct visd_client_scene **out, size_t *count);

/* Flags of objects, and of groups for all below them. */
enum visd_client_flag {
    VISD_FLAG_HIDDEN = 0x1,
    VISD_FLAG_SEE_THROUGH = 0x2,
    VISD_FLAG_XRAY = 0x4,
    VISD_FLAG_GHOSTED = 0x8,
    VISD_FLAG_HELPER = 0x10,
    VISD_FLAG_OCCLUDER_ONLY = 0x20,
    VISD_FLAG_PINNED = 0x40,
    VISD_FLAG_UNBOUNDED = 0x80,
    VISD_FLAG_SECTION_EXEMPT = 0x100,
    VISD_FLAG_SINGLE_SIDED = 0x200, /* neither: unknown; both: refused */
    VISD_FLAG_DOUBLE_SIDED = 0x400,
};

/* Optional columns of a listing. */
enum visd_client_column {
    VISD_COLUMN_NAMES = 0x1,
    VISD_COLUMN_WORLD_BOXES = 0x2,
    VISD_COLUMN_BOXES = 0x4,
    VISD_COLUMN_TRANSFORMS = 0x8,
    VISD_COLUMN_DRAWING = 0x10,
    VISD_COLUMN_GIVEN = 0x20, /* of objects */
};

/* What a program gave of an object, where other columns show the daemon's defaults, too. */
enum visd_client_given {
    VISD_GIVEN_BOX = 0x1,
    VISD_GIVEN_COST = 0x2,
    VISD_GIVEN_DRAW = 0x4,
    VISD_GIVEN_UNBOUNDED = 0x8, /* the flag; else it was concluded */
};

/* A page of objects, groups or meshes. Columns that were not asked for, or that do not apply, are NULL. The name of row i is the bytes
 * names[name_offsets[i]] up to names[name_offsets[i + 1]], without a zero at the end. */
struct visd_client_page {
    uint64_t revision;
    uint32_t next; /* first of the next page; 0: this is the last */
    size_t count;
    const uint64_t *ids;
    const uint32_t *flags;
    const uint64_t *meshes, *groups; /* of objects; VISD_NO_ID: none */
    const uint64_t *parents;         /* of groups */
    const uint32_t *triangles;       /* of objects (their mesh's) and meshes */
    const uint32_t *vertices, *users; /* of meshes; users: objects that have it */
    const double *world_boxes, *boxes, *transforms;
    const float *margins;
    const uint32_t *layers;
    const double *costs;
    const uint32_t *batch_keys, *draws;
    const uint32_t *given; /* enum visd_client_given */
    const char *names;
    const uint32_t *name_offsets;
    void *memory; /* the library's */
};
/* first: 0, or next of the page before. count: rows at most, 0: as many as the daemon gives. Waits. */
VISD_API enum visd_err visd_client_object_page(struct visd_client *client, uint32_t scene, uint32_t first, uint32_t count, uint32_t columns,
                                               struct visd_client_page *out);
VISD_API enum visd_err visd_client_group_page(struct visd_client *client, uint32_t scene, uint32_t first, uint32_t count, uint32_t columns,
                                              struct visd_client_page *out);
/* Every column of a mesh is always there. */
VISD_API enum visd_err visd_client_mesh_page(struct visd_client *client, uint32_t scene, uint32_t first, uint32_t count,
                                             struct visd_client_page *out);
/* Gives the memory of any page back; zeroed ones are fine. */
VISD_API void visd_client_page_finish(struct visd_client_page *page);

/* ---- batches: applied whole or not at all, items in the order in which they were put ---- */

enum visd_client_sides { VISD_SIDES_AS_OBJECT = 0, VISD_SIDES_ONE = 1, VISD_SIDES_TWO = 2 };

struct visd_client_part {
    uint32_t first, count;  /* indices, multiples of three */
    uint32_t sides;         /* enum visd_client_sides */
    uint32_t see_through;   /* 0 or 1 */
};

/* What a mesh is; of one that is put, the arrays are the program's. */
struct visd_client_mesh {
    uint64_t id;
    size_t vertices, triangles;
    const float *positions;  /* three a vertex */
    const uint32_t *indices; /* three a triangle, counter-clockwise seen from the front */
    size_t parts;
    const struct visd_client_part *part; /* NULL: one part, sides as the object says. Triangles of no part hide nothing */
    double deviation;        /* by how much it may stray from what is drawn; 0: it does not */
};

/* One mesh as it was put, but for its deviation, which the daemon rounds up to a float, and its parts, which are one if none were
 * given. The arrays are the library's, and good until mesh_finish; they may be put into another batch, of another scene or
 * client too. NOT_FOUND: there is no such mesh, or scene. Waits. On failure *out is zeroed. */
struct visd_client_mesh_copy {
    struct visd_client_mesh mesh;
    void *memory;            /* the library's */
};
VISD_API enum visd_err visd_client_mesh_get(struct visd_client *client, uint32_t scene, uint64_t id, struct visd_client_mesh_copy *out);
VISD_API void visd_client_mesh_finish(struct visd_client_mesh_copy *copy); /* zeroed ones are fine */

/* Columns of count rows; NULL: left out. Left out of an addition: the default. Left out of a change: stays as it is. */
struct visd_client_objects {
    size_t count;
    const uint64_t *ids;        /* needed */
    const double *boxes;        /* 6; an addition needs boxes or meshes */
    const double *transforms;   /* 12; identity */
    const uint32_t *flags;      /* enum visd_client_flag; none */
    const uint32_t *flag_masks; /* changes only: which flags are meant; all */
    const float *margins;       /* pixels drawn beyond the box; 0 */
    const uint32_t *layers;     /* all */
    const uint64_t *meshes;     /* none */
    const uint64_t *groups;     /* none */
    const double *costs;        /* nanoseconds to draw; from the triangles */
    const uint32_t *batch_keys; /* 0 */
    const uint32_t *draws;      /* 5: an indexed indirect command; zeros */
    const char *const *names;   /* NULL entries: no name */
};

struct visd_client_groups {
    size_t count;
    const uint64_t *ids;      /* needed; parents before their children */
    const uint64_t *parents;  /* VISD_NO_ID: none, the default */
    const double *transforms; /* 12; identity */
    const uint32_t *flags;
    const char *const *names;
};

struct visd_client_portals {
    size_t count;
    const uint64_t *ids, *from, *to; /* needed; from and to are groups */
    const uint8_t *open;             /* needed; 0 or 1 */
    const float *points;             /* three a corner, portal after portal */
    const uint32_t *point_offsets;   /* count + 1: where each portal's corners begin, in corners, and the end */
};

struct visd_client_committed {
    uint64_t number, revision;
    bool durable;
};

/* A batch is filled, committed, and destroyed. What is put into it is copied. When it outgrows a few MiB it is streamed: full
 * parts are sent while more is put, and putting may wait for the daemon. One batch of a client is streamed or committed at a
 * time. */
VISD_API enum visd_err visd_client_batch_create(struct visd_client_batch **out, struct visd_client *client, uint32_t scene);
/* Not committed: abandoned, also at the daemon. NULL is fine. */
VISD_API void visd_client_batch_destroy(struct visd_client_batch *batch);
/* Before the first item. Only if the scene is still at that revision, else CONFLICT. */
VISD_API void visd_client_batch_if_revision(struct visd_client_batch *batch, uint64_t revision);
/* From here on meshes and groups must be new, as objects that are added must, or need not any more: an id that is taken fails the
 * batch with EXISTS, where the old one would be replaced or changed otherwise. */
VISD_API void visd_client_batch_new_only(struct visd_client_batch *batch, bool on);
/* Before the first item. A drag or an explode: not kept over a restart of the daemon. */
VISD_API void visd_client_batch_transient(struct visd_client_batch *batch);

VISD_API enum visd_err visd_client_batch_mesh_put(struct visd_client_batch *batch, const struct visd_client_mesh *mesh);
VISD_API enum visd_err visd_client_batch_mesh_remove(struct visd_client_batch *batch, const uint64_t *ids, size_t count);
VISD_API enum visd_err visd_client_batch_group_put(struct visd_client_batch *batch, const struct visd_client_groups *groups);
VISD_API enum visd_err visd_client_batch_group_remove(struct visd_client_batch *batch, const uint64_t *ids, size_t count);
VISD_API enum visd_err visd_client_batch_object_add(struct visd_client_batch *batch, const struct visd_client_objects *objects);
VISD_API enum visd_err visd_client_batch_object_set(struct visd_client_batch *batch, const struct visd_client_objects *objects);
VISD_API enum visd_err visd_client_batch_object_remove(struct visd_client_batch *batch, const uint64_t *ids, size_t count);
VISD_API enum visd_err visd_client_batch_portal_put(struct visd_client_batch *batch, const struct visd_client_portals *portals);
VISD_API enum visd_err visd_client_batch_portal_remove(struct visd_client_batch *batch, const uint64_t *ids, size_t count);

/* Bytes put so far, and bytes that the daemon has acknowledged: for progress. */
VISD_API void visd_client_batch_progress(const struct visd_client_batch *batch, uint64_t *put, uint64_t *acknowledged);

/* Commits and waits. After TIMEOUT or DISCONNECTED the same call may be made again: the daemon knows the batch by (client id,
 * number) and applies it once. Any other failure is final: nothing was changed, destroy the batch. out may be NULL. */
VISD_API enum visd_err visd_client_batch_commit(struct visd_client_batch *batch, struct visd_client_committed *out);
/* The same without waiting: start, then ask. batch_result gives TIMEOUT while there is no answer. */
VISD_API enum visd_err visd_client_batch_start(struct visd_client_batch *batch);
VISD_API enum visd_err visd_client_batch_result(struct visd_client_batch *batch, int timeout_ms, struct visd_client_committed *out);

/* ---- views ---- */

enum visd_client_method {
    VISD_CULL_FRUSTUM = 0,
    VISD_CULL_HIZ = 1,
    VISD_CULL_BOX = 2,
    VISD_CULL_EXACT = 3,
    VISD_CULL_QUERY = 4,
    VISD_CULL_AUTO = 5,
    VISD_CULL_DEFAULT = -1, /* the view's; in view_open and view_set: hiz, as it is */
};

enum visd_client_grade {
    VISD_ANSWER_EXACT = 0,
    VISD_ANSWER_CONSERVATIVE = 1,
    VISD_ANSWER_GUARDED = 2,
    VISD_ANSWER_LAGGED = 3,
    VISD_ANSWER_FRUSTUM = 4,
    VISD_ANSWER_ALL = 5,
    VISD_ANSWER_REGION = 6,
};

/* "hiz", "conservative"; NULL: no such number. The other way: -1: no such name. */
VISD_API const char *visd_client_method_name(int method);
VISD_API int visd_client_method_number(const char *name);
VISD_API const char *visd_client_grade_name(int grade);

struct visd_client_ids {
    const uint64_t *ids;
    size_t count;
};

/* Zeros, and CULL_DEFAULT: visd_client_view_options_init. */
struct visd_client_view_options {
    const char *name;
    int method;
    uint32_t keep_frames;     /* 0: default */
    uint64_t triangle_budget; /* 0: default */
    uint64_t sample_budget;   /* 0: default */
    uint32_t query_budget;    /* 0: default */
};
VISD_API void visd_client_view_options_init(struct visd_client_view_options *options);

/* Waits. options may be NULL. */
VISD_API enum visd_err visd_client_view_open(struct visd_client *client, uint32_t scene, const struct visd_client_view_options *options,
                                             struct visd_client_view **out);
/* Tells the daemon without waiting, and frees the view. NULL is fine. */
VISD_API void visd_client_view_close(struct visd_client_view *view);
VISD_API uint32_t visd_client_view_number(const struct visd_client_view *view);

/* What is NULL stays as it is; an empty list clears. */
struct visd_client_overrides {
    const struct visd_client_ids *hide, *isolate, *xray, *pin;
    const struct visd_client_ids *offset_groups;
    const double *offsets; /* three for each of offset_groups */
};
/* Both wait. */
VISD_API enum visd_err visd_client_view_set(struct visd_client_view *view, const struct visd_client_view_options *options);
VISD_API enum visd_err visd_client_view_override(struct visd_client_view *view, const struct visd_client_overrides *overrides);

/* ---- cameras and answers ---- */

enum visd_client_depth { VISD_DEPTH_ZERO_TO_ONE = 0, VISD_DEPTH_REVERSED = 1, VISD_DEPTH_NEG_ONE_TO_ONE = 2 };
enum visd_client_y { VISD_Y_UP = 0, VISD_Y_DOWN = 1 }; /* row 0 of the picture is NDC y = +1, or -1 */

#define VISD_CLIP_PLANES 8

struct visd_client_camera {
    double view[16], proj[16]; /* column-major; clip = proj * view * position */
    uint32_t width, height;
    int depth, y;              /* enum visd_client_depth, enum visd_client_y */
    uint32_t samples;          /* 1, 2, 4 or 8 */
    uint32_t layers;           /* mask */
    double min_pixels;         /* 0: nothing is dropped for its size */
    bool caps;                 /* cuts are shown filled */
    uint32_t planes;
    double plane[VISD_CLIP_PLANES][4]; /* kept where ax + by + cz + d >= 0 */
};
/* Identity matrices, 1 sample, all layers, no planes; size 0, to be filled in. */
VISD_API void visd_client_camera_init(struct visd_client_camera *camera);

enum visd_client_want {
    VISD_GET_IDS = 0x1,
    VISD_GET_DRAWS = 0x2,
    VISD_GET_SAMPLES = 0x4,
    VISD_GET_STATS = 0x8,
    VISD_GET_PROFILE = 0x10,
    VISD_GET_COVERAGE = 0x20,
    VISD_GET_STEPWISE = 0x40, /* peers to measure against, as right: the pyramid is made by a dispatch a level (as always on a software device), */
    VISD_GET_COARSE = 0x80,   /* and the test looks at 2 x 2 texels, and lists more */
};

struct visd_client_frame {
    struct visd_client_view *view;
    struct visd_client_camera camera;
    uint64_t tag;         /* comes back in the result */
    bool fresh;           /* a cut: history is not used */
    bool wait;            /* answer when the answer changes */
    bool delta;           /* send what changed only; the result's list is whole all the same */
    int method;           /* for this frame only */
    uint32_t want;        /* enum visd_client_want; 0: ids and statistics */
    uint32_t lag;         /* frames allowed */
    double guard_metres, guard_degrees;
    const float *prepass; /* width * height depths that were drawn for this camera, row 0 on top, as a depth buffer of its convention holds
                           * them (0 to 1): what they show hides, beside the meshes; NULL: none. One sample a pixel */
    bool prepass_alone;   /* nothing else hides: no meshes are drawn as occluders */
};
/* Zeros, CULL_DEFAULT, camera as by camera_init. */
VISD_API void visd_client_frame_init(struct visd_client_frame *frame, struct visd_client_view *view);

struct visd_client_times {
    uint64_t sent, arrived;                                 /* by this machine's monotonic clock, at the client */
    uint64_t received, queued, gpu_start, gpu_end, replied; /* by the daemon's; 0: not known */
};

struct visd_client_counts {
    uint32_t tested, in_frustum, listed, occluded, forced, drawn_1, drawn_2, over_budget, dropped_small, hidden;
    uint64_t triangles_1, triangles_2, triangles_in_frustum, triangles_listed, samples_all, pixels_covered;
    uint64_t frustum_ns, select_ns, depth_ns, pyramid_ns, test_ns, mark_ns, compact_ns;
};

struct visd_client_result {
    enum visd_err err; /* SUPERSEDED: a newer camera took its place; nothing below 'frame' is meant then */
    const char *text;  /* err for people */
    struct visd_client_view *view;
    uint64_t tag, frame;
    uint64_t epoch, revision, source_frame, source_revision;
    uint32_t scene;
    int method, grade;
    uint32_t lag;
    bool degraded;
    const char *why;        /* degraded, for people; else "" */
    bool all;               /* take everything that is not hidden as listed: ids is empty */
    size_t count;           /* of ids */
    const uint64_t *ids;    /* the whole list, also when a delta was sent */
    bool delta;             /* a delta was sent, and these say what changed against its base */
    size_t added_count, removed_count;
    const uint64_t *added, *removed;
    uint64_t digest;        /* of ids; was checked */
    size_t draw_words;      /* 5 or 4, as the daemon's commands are; 0: no draws */
    const uint32_t *draws;  /* for each of ids; of a delta: for each of added, then for each of changed */
    const uint32_t *samples;/* the same, one each: samples that are seen, UINT32_MAX: not known; NULL: not asked for */
    size_t changed_count;
    const uint64_t *changed;
    struct visd_client_times times;
    bool has_counts;
    struct visd_client_counts counts;
};

/* Sends cameras of one or several views of this client; they are answered together. Does not wait. *ticket is what to wait
 * for; ticket NULL: only the newest result of each view is of interest, see visd_client_view_latest. At most
 * VISD_CLIENT_IN_FLIGHT requests may be unanswered, else BUSY. */
#define VISD_CLIENT_IN_FLIGHT 64
VISD_API enum visd_err visd_client_frames_send(struct visd_client *client, const struct visd_client_frame *frames,
                                               size_t count, uint64_t *ticket);
/* The results, in the order of the frames; TIMEOUT: not yet, ask again. Whatever else is returned, the ticket is used up.
 * results has room for as many as there were frames. What they point to is good until the next call of frames_wait, or until
 * the view is closed. */
VISD_API enum visd_err visd_client_frames_wait(struct visd_client *client, uint64_t ticket, int timeout_ms,
                                               struct visd_client_result *results);
/* Gives a ticket up. The request may still be answered; nobody is told. */
VISD_API void visd_client_frames_forget(struct visd_client *client, uint64_t ticket);
/* One camera, there and back. Waits. */
VISD_API enum visd_err visd_client_cull(struct visd_client *client, const struct visd_client_frame *frame,
                                        struct visd_client_result *result);

/* The newest good result of a view that has arrived, and how long ago its camera was sent. Does not wait; does not use up
 * tickets. NOT_FOUND: none yet. What it points to is good until the next call that dispatches: latest, dispatch, poll, or one
 * that waits. */
VISD_API enum visd_err visd_client_view_latest(struct visd_client_view *view, struct visd_client_result *result, uint64_t *age_ns);

/* ---- looking in ---- */

struct visd_client_number {
    char name[64];
    double value;
};
/* The daemon's counters; *out for visd_client_free. Waits. */
VISD_API enum visd_err visd_client_stats(struct visd_client *client, struct visd_client_number **out, size_t *count);

struct visd_client_peer {
    uint64_t connection;
    char name[256], peer[256];
    bool has_id, has_user;
    uint8_t id[16];
    uint32_t uid, pid;
    bool events;
    uint64_t connected_ns, requests, refused, bytes_in, bytes_out, waiting, missed, views;
};
/* Who is connected; *out for visd_client_free. Waits. */
VISD_API enum visd_err visd_client_peers(struct visd_client *client, struct visd_client_peer **out, size_t *count);

enum visd_client_what { VISD_SHOW_DEPTH = 0, VISD_SHOW_PYRAMID = 1, VISD_SHOW_IDS = 2, VISD_SHOW_BOXES = 3 };
enum visd_client_pixels { VISD_PIXELS_F32 = 0, VISD_PIXELS_U32 = 1, VISD_PIXELS_U64 = 2 };

struct visd_client_image {
    uint32_t width, height;
    int kind;            /* enum visd_client_pixels: reversed depth; a number; an id. All ones: nothing */
    uint64_t frame;
    const void *pixels;  /* row 0 on top */
    size_t bytes;
    void *memory;        /* the library's */
};
/* A picture of the view's last finished frame. Waits. */
VISD_API enum visd_err visd_client_snapshot(struct visd_client_view *view, int what, uint32_t level, struct visd_client_image *out);
VISD_API void visd_client_image_finish(struct visd_client_image *image);

/* ---- events ---- */

enum visd_client_event_kind {
    VISD_EVENT_REVISION, /* a scene was created or changed */
    VISD_EVENT_REMOVED,  /* a scene is gone */
    VISD_EVENT_DEVICE,   /* the device changed its state */
    VISD_EVENT_MISSED,   /* events were lost: ask for the state anew */
};

struct visd_client_event {
    enum visd_client_event_kind kind;
    uint64_t epoch;
    uint32_t scene;
    char name[256];    /* of the scene or the device */
    uint64_t revision;
    bool own;          /* this client's own batch */
    uint32_t state;    /* device: 0 ready, 1 starting, 2 lost, 3 none */
    char why[256];
    uint64_t missed;   /* how many; 0: not known (the connection was lost) */
};

/* scene: a name; NULL: all scenes, and the device. Does not wait. */
VISD_API enum visd_err visd_client_subscribe(struct visd_client *client, const char *scene);
/* TIMEOUT: none. */
VISD_API enum visd_err visd_client_next_event(struct visd_client *client, int timeout_ms, struct visd_client_event *out);

#ifdef __cplusplus
}
#endif

#endif
