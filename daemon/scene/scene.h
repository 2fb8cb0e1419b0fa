/* What there is: one scene's objects, groups and meshes, and its copy on the device kept in step.
 *
 * A scene changes by batches only. A batch is filled item by item (numbers are checked there), then committed: its
 * items are applied in order, whole or not at all, and the revision rises by one. The commit also derives the
 * records of every object that changed (daemon/segment/record.h) and queues the jobs that carry them to the worker:
 *
 *   commit:  MESH_ADD* STAGE* APPLY MESH_REMOVE*        reload:  SCENE_OPEN MESH_ADD* STAGE* APPLY
 *
 * Jobs are handed out one by one and must be put into the ring in that order. A frame put after a commit's APPLY
 * sees the commit; visd_scene_ready tells whether that APPLY has been handed out.
 *
 * An object's identity is its client's id (u64, every value is allowed); inside it has a dense slot, reused lowest
 * first, with a generation that rises at each reuse. Meshes and groups have ids of their own; all-ones means "none"
 * there. Transforms are 3x4, row-major, twelve doubles, column 3 the translation; world = group's world * object's.
 *
 * Cost. Host memory an object: 96 bytes, 96 more in chunks of 4,096 slots where any transform is not the identity,
 * 8 to 16 for the id index, 8 plus its bytes where names are used, 40 where costs, keys or draws are used: about 205
 * for an ordinary object, 2.1 GB for 10 million. Committing takes some hundreds of nanoseconds an object on the
 * loop, and 160 bytes of segment an object until the worker has read them; load a large scene in several commits.
 *
 * Ownership: the scene copies what it is given. Threads: the loop only. */
#ifndef VISD_SCENE_SCENE_H
#define VISD_SCENE_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/segment/segment.h"
#include "proto/err.h"

#define VISD_ID_NONE UINT64_MAX           /* no mesh, no group, no parent; not a valid mesh or group id */
#define VISD_SLOT_NONE UINT32_MAX
#define VISD_SCENE_NAME_MAX 255           /* bytes of a scene's name */
#define VISD_SCENE_ITEM_NAME_MAX 65535    /* bytes of an object's or a group's name */
#define VISD_SCENE_MAX_SLOTS (1u << 30)   /* objects, groups or meshes of a scene, whatever its params say */
#define VISD_SCENE_MAX_DEPTH 256          /* groups inside each other */
#define VISD_SCENE_SLICE 16384            /* changes in a STAGE job */
#define VISD_SCENE_UNBOUNDED 1e30         /* a box that reaches this far is taken as unbounded */
#define VISD_SCENE_CLIENTS 4096           /* clients whose batch numbers are remembered; the one longest silent goes first */
#define VISD_SCENE_REPLIES 16             /* replies remembered a client */

/* Why something was refused. Texts are one line for people: what, why, what to do. */
#define VISD_REFUSAL_IDS 8
struct visd_refusal {
    enum visd_err err;
    uint64_t item;                  /* index of the item in its batch; UINT64_MAX: the batch as a whole */
    uint64_t ids[VISD_REFUSAL_IDS]; /* the ids at fault, the first few of them */
    uint64_t id_count;              /* how many there are; may exceed VISD_REFUSAL_IDS */
    char text[320];
};

struct visd_scene;
struct visd_batch;

/* ---- batches ---- */

/* Columns of objects; a pointer may be NULL (column not given) and need not be aligned; numbers are little-endian.
 * In an add, what is not given takes its default; in a set, it stays as it is. */
struct visd_object_columns {
    uint64_t count;
    const void *ids;          /* u64; required */
    const void *boxes;        /* f64 x 6: min x y z, max x y z, local; may be left out where the object has a mesh; none at all: unbounded */
    const void *transforms;   /* f64 x 12; default identity */
    const void *flags;        /* u32, VISD_OBJECT_WIRE_MASK; default 0 */
    const void *flag_masks;   /* u32, set only: which bits of flags are meant; default all */
    const void *margins;      /* f32 pixels, 0 to 4095; default 0 */
    const void *layers;       /* u32 mask; default all ones */
    const void *meshes;       /* u64 mesh ids; default none */
    const void *groups;       /* u64 group ids; default none */
    const void *costs;        /* f64 nanoseconds, >= 0; default: the mesh's triangles */
    const void *batch_keys;   /* u32; default 0 */
    const void *draws;        /* u32 x 5; default: none */
    const void *names;        /* UTF-8 bytes without NUL, one after the other */
    uint64_t name_bytes;
    const void *name_offsets; /* u32 x (count + 1), rising, the last at most name_bytes; goes with names */
};

struct visd_group_columns {
    uint64_t count;
    const void *groups;       /* u64 ids; required; a new id makes a group, a known one changes it */
    const void *parents;      /* u64, all ones: root (the default); may name groups later in the same item */
    const void *transforms;   /* f64 x 12, relative to the parent; default identity */
    const void *flags;        /* u32 of VISD_GROUP_FLAGS: they hold for all below as well; default 0 */
    const void *names;
    uint64_t name_bytes;
    const void *name_offsets;
    bool new_only;            /* a known id is refused with EXISTS at commit */
};

#define VISD_GROUP_FLAGS (VISD_OBJECT_HIDDEN | VISD_OBJECT_SEE_THROUGH | VISD_OBJECT_XRAY | VISD_OBJECT_GHOSTED | \
    VISD_OBJECT_HELPER | VISD_OBJECT_OCCLUDER_ONLY | VISD_OBJECT_PINNED | VISD_OBJECT_SECTION_EXEMPT)

struct visd_mesh_columns {
    const void *positions;    /* f32 x 3 */
    uint64_t vertices;
    const void *indices;      /* u32 */
    uint64_t indices_count;   /* a multiple of 3; 0: an empty mesh, which occludes nothing */
    const void *parts;        /* u32 x 4, struct visd_mesh_part: in range, not overlapping; NULL: one part of unknown sides */
    uint64_t parts_count;
    double deviation;         /* scene units, >= 0 */
    bool new_only;            /* a known id is refused with EXISTS at commit */
};

/* An empty batch. Items may be added until it is committed; it may be committed again after a refusal, but not after
 * a success. destroy takes NULL; it gives back what was not taken over by a commit. */
enum visd_err visd_batch_create(struct visd_batch **out, struct visd_segment *segment);
void visd_batch_destroy(struct visd_batch *batch);
size_t visd_batch_bytes(const struct visd_batch *batch);   /* memory it holds, host and segment */

/* Each adds one item, or refuses it and leaves the batch as it was. Checked here: counts, NaN and infinities, boxes
 * inside out, unknown flags, bad indices, ids used twice in the item. mesh_put: a known id replaces that mesh, or with new_only is refused.
 * mesh_remove: refused while an object uses it; group_remove: while it has groups or objects below it. */
enum visd_err visd_batch_mesh_put(struct visd_batch *batch, uint64_t mesh, const struct visd_mesh_columns *columns, struct visd_refusal *why);
enum visd_err visd_batch_mesh_remove(struct visd_batch *batch, const void *ids, uint64_t count, struct visd_refusal *why);
enum visd_err visd_batch_group_put(struct visd_batch *batch, const struct visd_group_columns *columns, struct visd_refusal *why);
enum visd_err visd_batch_group_remove(struct visd_batch *batch, const void *ids, uint64_t count, struct visd_refusal *why);
enum visd_err visd_batch_object_add(struct visd_batch *batch, const struct visd_object_columns *columns, struct visd_refusal *why);
enum visd_err visd_batch_object_set(struct visd_batch *batch, const struct visd_object_columns *columns, struct visd_refusal *why);
enum visd_err visd_batch_object_remove(struct visd_batch *batch, const void *ids, uint64_t count, struct visd_refusal *why);

/* ---- scenes ---- */

struct visd_scene_params {
    uint32_t number;            /* below VISD_SEGMENT_MAX_SCENES; not that of a scene which is not yet closed */
    const char *name;           /* UTF-8, not empty, at most VISD_SCENE_NAME_MAX bytes; copied */
    double metres_per_unit;     /* > 0 and finite; 0: 1 */
    uint64_t max_objects, max_groups, max_meshes; /* 0: VISD_SCENE_MAX_SLOTS */
};

/* A new, empty scene at revision 0, its SCENE_OPEN queued. why may be NULL. */
enum visd_err visd_scene_create(struct visd_scene **out, struct visd_segment *segment, const struct visd_scene_params *params,
    struct visd_refusal *why);
/* Removing a scene: close drops what is queued and queues SCENE_CLOSE, which is handed out once no view holds the
 * scene; when visd_scene_closed, destroy it. destroy at once is right only when no worker can read the segment any
 * more. NULL is fine. */
void visd_scene_close(struct visd_scene *scene);
bool visd_scene_closed(const struct visd_scene *scene);
void visd_scene_destroy(struct visd_scene *scene);

struct visd_commit_params {
    bool has_if_revision;
    uint64_t if_revision;       /* CONFLICT unless the scene is at this revision */
    const uint8_t *client;      /* 16 bytes, or NULL: not numbered */
    uint64_t number;            /* of this client's batches, from 1 on */
};

struct visd_commit_reply {
    uint64_t number;
    uint64_t revision;          /* that the commit made */
    bool duplicate;             /* this number had been committed before: nothing was done, this is the reply it got */
};

/* Applies the batch whole, or refuses it and changes nothing. The number is checked first (a duplicate is answered
 * with OK and its first reply, a gap with CONFLICT and the number expected), then if_revision. */
enum visd_err visd_scene_commit(struct visd_scene *scene, struct visd_batch *batch, const struct visd_commit_params *params,
    struct visd_commit_reply *reply, struct visd_refusal *why);

/* ---- jobs ---- */

/* The next job to put, with this serial; false: none now. Once handed out it counts as put: if the ring is full,
 * keep it and put it before any other of this scene or its views. */
bool visd_scene_next_job(struct visd_scene *scene, uint64_t serial, struct visd_job *out);
/* The result of one of its jobs: frees the job's blocks. A failed job makes the scene faulty. False: not ours. */
bool visd_scene_job_done(struct visd_scene *scene, const struct visd_result *result);
/* The worker is gone: jobs handed out are void, their blocks are free. Queue everything again for the next worker;
 * clears a fault. (A scene that was closing is closed.) */
void visd_scene_reload(struct visd_scene *scene);
/* May a frame that must see this revision, or a view, be put? */
bool visd_scene_ready(const struct visd_scene *scene, uint64_t revision);
/* A reload's APPLY has not been handed out yet. */
bool visd_scene_loading(const struct visd_scene *scene);
/* Bytes in jobs that are not done: what a fast writer has got ahead of the worker by. */
uint64_t visd_scene_backlog(const struct visd_scene *scene);
/* Why the device's copy cannot be trusted, or NULL: answers are `all` until a reload. */
const char *visd_scene_fault(const struct visd_scene *scene);
/* Views that name the scene in jobs hold it: SCENE_CLOSE waits for them. */
void visd_scene_hold(struct visd_scene *scene);
void visd_scene_release(struct visd_scene *scene);

/* ---- reading ---- */

struct visd_scene_info {
    uint32_t number;
    const char *name;
    double metres_per_unit;
    uint64_t revision;
    uint64_t objects, groups, meshes;
    uint64_t triangles;         /* placed: summed over the objects */
    uint64_t mesh_triangles;    /* stored: summed over the meshes */
    uint64_t bytes_host, bytes_segment;
    bool bounded;               /* false: no object counts towards the bounds, min and max are 0 */
    double min[3], max[3];      /* world; hidden and unbounded objects are left out */
    bool ids32;                 /* every object id ever in the scene fits 32 bits */
};

uint32_t visd_scene_number(const struct visd_scene *scene);
uint64_t visd_scene_revision(const struct visd_scene *scene); /* of the last commit */
uint32_t visd_scene_slots(const struct visd_scene *scene);    /* that the device looks at, as of the jobs handed out: what a frame's list needs room for */
uint64_t visd_scene_objects(const struct visd_scene *scene);
bool visd_scene_ids32(const struct visd_scene *scene);
void visd_scene_info(struct visd_scene *scene, struct visd_scene_info *out); /* bounds are brought up to date: may take a while after large edits */

struct visd_object_row {
    uint64_t id;
    double min[3], max[3];      /* world box of the oriented box; zero where unbounded */
    bool has_box;               /* false: unbounded without a box, and box is zero */
    double box[6];              /* local, as given, widened to hold the mesh: min x y z, max x y z */
    double transform[12];       /* relative to the group */
    uint32_t flags;             /* the object's own, plus UNBOUNDED where that was concluded, and MIRRORED */
    uint32_t effective;         /* with its groups' flags */
    uint32_t layers;
    float margin;
    uint64_t mesh, group;       /* ids or VISD_ID_NONE */
    uint64_t triangles;         /* of its mesh, or 0 */
    double cost;                /* as given, else its triangles */
    uint32_t generation;
    const char *name;           /* name_bytes long, not terminated; good until the next commit */
    uint32_t name_bytes;
    uint32_t batch_key;
    bool has_draw;
    uint32_t draw[5];
    bool gave_box, gave_cost, gave_unbounded; /* by the client; else made up */
};

struct visd_group_row {
    uint64_t id, parent;
    double transform[12];
    uint32_t flags;
    const char *name;
    uint32_t name_bytes;
};

struct visd_mesh_row {
    uint64_t id;
    uint32_t vertices, triangles, parts;
    uint32_t objects;           /* that use it */
    double deviation;           /* as given, rounded up to a float */
    const float *positions;     /* three a vertex; these three are good until the next commit */
    const uint32_t *indices;    /* three a triangle */
    const struct visd_mesh_part *part;
};

/* The first slot in use at or after this one, or VISD_SLOT_NONE: for (s = next(0); s != NONE; s = next(s + 1)). */
uint32_t visd_scene_next_object(const struct visd_scene *scene, uint32_t slot);
uint32_t visd_scene_next_group(const struct visd_scene *scene, uint32_t slot);
uint32_t visd_scene_next_mesh(const struct visd_scene *scene, uint32_t slot);
/* Slot of a mesh, or VISD_SLOT_NONE: meshes are asked for by their ids. */
uint32_t visd_scene_find_mesh(const struct visd_scene *scene, uint64_t id);
/* The same of objects and groups, which are asked for in pages, by slots: only the tests look for one by its id. */
uint32_t visd_scene_find_object(const struct visd_scene *scene, uint64_t id);
uint32_t visd_scene_find_group(const struct visd_scene *scene, uint64_t id);
/* The slot must be in use. */
void visd_scene_object_row(const struct visd_scene *scene, uint32_t slot, struct visd_object_row *out);
void visd_scene_group_row(const struct visd_scene *scene, uint32_t slot, struct visd_group_row *out);
void visd_scene_mesh_row(const struct visd_scene *scene, uint32_t slot, struct visd_mesh_row *out);
/* What the device holds, or will hold, for the slot (in use or not): one record, for whoever holds it against the truth (the tests). */
void visd_scene_object_change(const struct visd_scene *scene, uint32_t slot, struct visd_object_change *out);

/* Aborts with a report if an invariant is broken. Looks at everything; commit asserts it of scenes of up to some thousands. Always true. */
bool visd_scene_check(struct visd_scene *scene);

#endif
