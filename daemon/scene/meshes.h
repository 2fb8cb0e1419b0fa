/* The table of meshes: what an id stands for now, and who uses it. Internal to daemon/scene.
 *
 * An id's mesh may be replaced while objects use it. So a mesh is a handle (what objects refer to) with a version (a
 * block in the segment under a slot of the device's). A new version gets a device slot of its own: frames at the old
 * revision go on with the old one, which is removed after the commit's APPLY. */
#ifndef VISD_SCENE_MESHES_H
#define VISD_SCENE_MESHES_H

#include <stdbool.h>
#include <stdint.h>

#include "ids.h"
#include "slots.h"

struct version {
    uint64_t block, bytes;  /* struct visd_mesh_block in the segment */
    uint64_t triangles;
    uint32_t device;        /* its slot there */
    uint32_t vertices;      /* 0: no bounds */
    float min[3], max[3];
    float deviation;
    bool sent;              /* its MESH_ADD is queued or done */
};

struct mesh {
    uint64_t id;
    struct version version;
    uint32_t users;         /* objects in the list */
    uint32_t first_user;
    bool live;              /* false: free, or removed by the commit in progress */
    bool listed;            /* in that commit's list of meshes put */
};

struct meshes {
    struct slots slots, device;
    struct ids ids;
    struct mesh *mesh;
    size_t room;
    uint64_t triangles;     /* stored */
    uint64_t placed;        /* users times triangles, summed */
    uint64_t bytes;         /* of the live versions' blocks */
};

void meshes_init(struct meshes *m);
void meshes_finish(struct meshes *m); /* blocks are the scene's to free */

/* A handle for a new id without a version yet. NO_SLOT: memory is short. */
uint32_t meshes_add(struct meshes *m, uint64_t id);
/* As objects_hide and so on; the version is left as it is and leaves or joins the sums. */
void meshes_hide(struct meshes *m, uint32_t slot);
void meshes_unhide(struct meshes *m, uint32_t slot);
void meshes_release(struct meshes *m, uint32_t slot);
/* Puts another version in, returns the former. */
struct version meshes_swap(struct meshes *m, uint32_t slot, struct version version);

size_t meshes_bytes(const struct meshes *m);

#endif
