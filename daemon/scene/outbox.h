/* Jobs on their way to the worker, and what they keep alive. Internal to daemon/scene.
 *
 * Jobs wait in one row: the first 'sent' of it have been handed out and wait for their results, the rest wait to be
 * handed out. A new worker is loaded by a cursor that makes its jobs as they are asked for, so that a scene of 10 million
 * objects does not need its 1.3 GB of changes at once:
 *
 *   OPEN -> MESHES -> OBJECTS -> APPLY -> DONE            CLOSED
 *
 * While the load has not begun (OPEN: no worker yet) commits queue nothing: the load will carry their outcome. While
 * it is under way, a commit first queues what is left of it, so that its APPLY brings exactly its revision. */
#ifndef VISD_SCENE_OUTBOX_H
#define VISD_SCENE_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/segment/segment.h"

enum load { LOAD_OPEN, LOAD_MESHES, LOAD_OBJECTS, LOAD_APPLY, LOAD_DONE };

struct out {
    uint32_t kind;     /* enum visd_job_kind */
    uint32_t slot;     /* MESH_*: the device's slot */
    uint64_t block;    /* STAGE, MESH_*: freed at the result of STAGE and of MESH_REMOVE */
    uint64_t bytes;    /* of the block */
    uint64_t value;    /* STAGE: count; APPLY: revision */
    uint32_t slots;    /* APPLY */
    bool done;
    uint64_t serial;   /* once handed out */
};

struct outbox {
    struct out *row;
    size_t room, first, count; /* row[first] to row[first + count - 1] */
    size_t sent;
    enum load load;
    uint32_t cursor;           /* of the load: next slot */
    uint64_t loaded;           /* revision that the load brings; commits after it have APPLYs of their own */
    uint64_t applied;          /* revision of the last APPLY handed out to this worker */
    uint32_t slots;            /* of that APPLY */
    uint64_t bytes;            /* in blocks that results will free */
    uint32_t holds;            /* views */
    bool closing, closed;
    bool faulty;
    char fault[200];
};

struct visd_scene;

/* Room for this many more jobs: queueing them cannot fail then. */
bool outbox_reserve(struct outbox *b, size_t jobs);
void outbox_put(struct outbox *b, const struct out *job);
/* Queues what is left of a load under way. False: memory is short; what has been queued is right and stays. */
bool outbox_flush_load(struct visd_scene *scene);
void outbox_finish(struct visd_scene *scene);

#endif
