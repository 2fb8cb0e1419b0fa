/* Where a described scene goes: to a daemon, into a GLB file, or into memory.
 *
 * Readers and generators describe a scene piece by piece and hold none of it back; a sink takes each piece as it comes. The
 * order is that of a depth-first walk: a mesh before the first object that shows it, a group before what is in it, and
 * once a group has been left nothing is added to it. Pointers are good only during the call. Rows are numbered from 0 in
 * the order of their arrival, meshes and groups alike, and refer to each other by those numbers.
 *
 * One thread. Every call returns an error with a text, or OK; after an error the sink is only closed. */
#ifndef VISD_VISCTL_MODEL_SINK_H
#define VISD_VISCTL_MODEL_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "why.h"

#define VISD_MODEL_NONE UINT32_MAX /* no mesh; no group: the object hangs on the scene itself */

/* Sides and flags carry the numbers of the wire. */
enum visd_model_sides { VISD_MODEL_SIDES_UNKNOWN = 0, VISD_MODEL_SIDES_SINGLE = 1, VISD_MODEL_SIDES_DOUBLE = 2 };
enum visd_model_flag { VISD_MODEL_SEE_THROUGH = 1u << 1, VISD_MODEL_UNBOUNDED = 1u << 7 };

struct visd_model_part {
    uint32_t first, count; /* indices, multiples of 3 */
    uint32_t sides;        /* enum visd_model_sides */
    uint32_t see_through;  /* 0 or 1 */
};

/* Triangles that any number of objects show. At least one triangle; every index is below vertices; parts follow each other
 * without a gap and cover all indices. The box is that of all vertices. */
struct visd_model_mesh {
    float *positions; /* x y z a vertex */
    uint32_t *indices;
    struct visd_model_part *parts;
    uint32_t vertices, index_count, part_count;
    float min[3], max[3];
};

struct visd_model_trs { /* floats, as EXT_mesh_gpu_instancing stores them */
    float translation[3], rotation[4], scale[3];
};

struct visd_model_group {
    uint32_t parent; /* an earlier group, or VISD_MODEL_NONE */
    double transform[12];
    const char *path; /* names from the root, joined by '/'; a '/' or '\' inside a name has a '\' before it */
};

struct visd_model_object {
    uint64_t id;
    uint32_t mesh, group; /* or VISD_MODEL_NONE */
    uint32_t flags;       /* enum visd_model_flag */
    float margin;         /* pixels that it is drawn wider than its box */
    double transform[12];
    double min[3], max[3];            /* local box */
    const struct visd_model_trs *trs; /* or NULL; where set, transform is exactly what it composes to */
    const char *path;                 /* as a group's; "" for none */
};

struct visd_sink;
struct visd_sink_ops {
    enum visd_err (*mesh)(struct visd_sink *sink, const struct visd_model_mesh *mesh, struct visd_why *why);
    enum visd_err (*group)(struct visd_sink *sink, const struct visd_model_group *group, struct visd_why *why);
    enum visd_err (*object)(struct visd_sink *sink, const struct visd_model_object *object, struct visd_why *why);
    enum visd_err (*finish)(struct visd_sink *sink, struct visd_why *why); /* all has been said: make it count */
};

struct visd_sink { /* first member of every kind of sink */
    const struct visd_sink_ops *ops;
};

#endif
