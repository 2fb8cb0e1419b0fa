/* A number that tells scenes apart: the same objects (ids, flags, boxes in the scene, meshes) give the same hash on every machine,
 * in whatever order they were put in. Not against forgery. One thread. */
#ifndef VISD_VISCTL_BENCH_SCENE_HASH_H
#define VISD_VISCTL_BENCH_SCENE_HASH_H

#include <stdbool.h>
#include <visd/client.h>

struct visd_scene_hash { /* zeroed: of nothing */
    struct visd_mesh_hash { uint64_t id, digest; } *meshes; /* rising once sorted */
    size_t mesh_count, mesh_room;
    bool sorted;
    uint64_t sum, objects;
};

/* All meshes first. False: out of memory. */
bool visd_scene_hash_mesh(struct visd_scene_hash *hash, const struct visd_client_mesh *mesh);
/* Rows of objects, with the column world_boxes. */
void visd_scene_hash_objects(struct visd_scene_hash *hash, const struct visd_client_page *page);
uint64_t visd_scene_hash_end(const struct visd_scene_hash *hash);
void visd_scene_hash_finish(struct visd_scene_hash *hash);

#endif
