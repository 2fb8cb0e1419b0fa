/* A batch: items in order, their data copied and their numbers checked. Internal to daemon/scene. */
#ifndef VISD_SCENE_BATCH_H
#define VISD_SCENE_BATCH_H

#include "scene.h"

enum item_kind { ITEM_MESH_PUT, ITEM_MESH_REMOVE, ITEM_GROUP_PUT, ITEM_GROUP_REMOVE, ITEM_OBJECT_ADD, ITEM_OBJECT_SET, ITEM_OBJECT_REMOVE };

/* Columns as in scene.h, but aligned and our own; NULL where not given. */
struct item {
    enum item_kind kind;
    uint64_t count;
    void *data;               /* one allocation that holds all columns */
    const uint64_t *ids;      /* objects, groups or meshes; a mesh_put has one */
    const double (*boxes)[6];
    const double (*transforms)[12];
    const uint64_t *meshes;
    const uint64_t *groups;   /* of objects; parents of groups */
    const double *costs;
    const uint32_t *flags, *flag_masks;
    const float *margins;
    const uint32_t *layers;
    const uint32_t *batch_keys;
    const uint32_t (*draws)[5];
    const uint32_t *name_offsets;
    const char *names;
    bool new_only;            /* mesh_put, group_put */
    uint64_t block, bytes;    /* mesh_put: in the segment; block is 0 once a commit has taken it over */
};

struct visd_batch {
    struct visd_segment *segment;
    struct item *item;
    size_t count, room;
    uint64_t bytes;
    bool spent;               /* committed */
};

/* Checks a mesh and builds its block. */
enum visd_err mesh_block_build(struct visd_segment *segment, uint64_t id, const struct visd_mesh_columns *columns, uint64_t item,
    uint64_t *block, uint64_t *bytes, struct visd_refusal *why);

#endif
