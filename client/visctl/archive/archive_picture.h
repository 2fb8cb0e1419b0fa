/* What of an archive a glTF viewer sees: its JSON, made while the scene is written. Internal to archive/.
 *
 * Groups are nodes 0, 1, ..., objects the nodes after them; all by their numbers in the archive. Order: meshes, groups, parents,
 * objects, finish. False: memory is short. */
#ifndef VISD_VISCTL_ARCHIVE_ARCHIVE_PICTURE_H
#define VISD_VISCTL_ARCHIVE_ARCHIVE_PICTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <visd/client.h>

#include "../export/glb_file.h"

#define PICTURE_NONE UINT32_MAX

struct picture_mesh;
struct picture_group;

struct picture {
    struct glb_file *file;
    struct picture_mesh *meshes;
    struct picture_group *groups;
    uint32_t *parents; /* of objects: groups */
    uint32_t mesh_count, group_count, object_count, mesh_room, group_room, object_room;
    uint32_t gltf_meshes, wires; /* put so far; the one of a box's wires */
    char name[65536], last[256];
};

void picture_init(struct picture *picture, struct glb_file *file);
void picture_finish(struct picture *picture);

/* Its data lies in BIN from at on: positions, then indices. */
bool picture_add_mesh(struct picture *picture, const struct visd_client_mesh *mesh, uint64_t at);
bool picture_add_group(struct picture *picture, const double transform[12], uint32_t flags, const char *name, uint32_t name_bytes);
/* Once all groups are in: of each, the group above. */
void picture_set_parent(struct picture *picture, uint32_t group, uint32_t parent);
/* box: NULL where there is none to show. */
bool picture_add_object(struct picture *picture, uint32_t mesh, uint32_t group, uint32_t flags, const double transform[12], const double box[6],
                        const char *name, uint32_t name_bytes);
/* The whole JSON, into the file's stream. */
bool picture_write(struct picture *picture);

#endif
