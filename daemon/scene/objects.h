/* The store of objects: rows in chunks of 4,096 slots, found by id or slot. Internal to daemon/scene.
 *
 * A chunk never moves, so the store grows without copying. What many scenes do not use (transforms that are not the
 * identity, names, extras) is kept beside the rows and allocated a chunk at a time, when first used.
 *
 * Invariants: a slot in use is LIVE and in the id index, or was removed by the commit in progress; a LIVE object is in the
 * list of its mesh and in that of its group, if it has them. */
#ifndef VISD_SCENE_OBJECTS_H
#define VISD_SCENE_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ids.h"
#include "slots.h"

#define CHUNK_SHIFT 12
#define CHUNK_SLOTS (1u << CHUNK_SHIFT)
#define NO_SLOT UINT32_MAX

/* Bits of struct object's flags above the wire's. */
enum {
    OBJECT_LIVE = 1u << 16,
    OBJECT_HAS_BOX = 1u << 17,        /* a box was given and is not taken as unbounded */
    OBJECT_HUGE_BOX = 1u << 18,       /* a box was given that reaches VISD_SCENE_UNBOUNDED */
    OBJECT_HAS_TRANSFORM = 1u << 19,  /* else the identity */
    OBJECT_HAS_COST = 1u << 20,
    OBJECT_HAS_DRAW = 1u << 21,
    OBJECT_DIRTY = 1u << 22,          /* in the list of the commit in progress */
    OBJECT_FRESH = 1u << 23,          /* added by the commit in progress */
};

struct twins {
    uint32_t next, prev; /* slots */
};

struct object { /* 96 bytes */
    uint64_t id;
    double box[6];        /* as given; the mesh's is added when the record is derived */
    uint32_t flags;       /* the client's, and the above */
    uint32_t layers;
    float margin;
    uint32_t mesh, group; /* slots of their tables */
    uint32_t generation;
    struct twins in_mesh, in_group;
};

struct extras { /* 40 bytes */
    double cost;
    uint32_t batch_key;
    uint32_t draw[5];
    uint32_t zero[2];
};

struct chunk {
    double (*transform)[12]; /* NULL, or CHUNK_SLOTS of them */
    uint64_t *name;          /* likewise: references */
    struct extras *extras;   /* likewise */
    bool loose;              /* min and max are to be derived again */
    bool bounded;            /* some object counts */
    double min[3], max[3];   /* of the objects that count towards the scene's bounds; may be larger only if loose */
    struct object object[CHUNK_SLOTS];
};

struct objects {
    struct slots slots;
    struct ids ids;
    struct chunk **chunk;
    size_t chunks, room;
    uint64_t bytes;
};

void objects_init(struct objects *o);
void objects_finish(struct objects *o);

static inline struct chunk *objects_chunk(const struct objects *o, uint32_t slot)
{
    return o->chunk[slot >> CHUNK_SHIFT];
}

static inline struct object *objects_at(const struct objects *o, uint32_t slot)
{
    return &o->chunk[slot >> CHUNK_SHIFT]->object[slot & (CHUNK_SLOTS - 1)];
}

/* A slot for a new object with this id, which must not be in: its generation raised, everything else at its default,
 * LIVE and FRESH, in no list yet. NO_SLOT: memory is short. */
uint32_t objects_add(struct objects *o, uint64_t id);
/* Takes the id from the index and LIVE from the row; the slot stays taken. */
void objects_hide(struct objects *o, uint32_t slot);
void objects_unhide(struct objects *o, uint32_t slot);
/* Gives the slot of a hidden object back. */
void objects_release(struct objects *o, uint32_t slot);

/* NULL where the chunk has none; the _make ones allocate them, and give NULL when memory is short. */
double *objects_transform(const struct objects *o, uint32_t slot);
double *objects_transform_make(struct objects *o, uint32_t slot);
struct extras *objects_extras(const struct objects *o, uint32_t slot);
struct extras *objects_extras_make(struct objects *o, uint32_t slot);
uint64_t *objects_name(const struct objects *o, uint32_t slot);
uint64_t *objects_name_make(struct objects *o, uint32_t slot);

size_t objects_bytes(const struct objects *o);

#endif
