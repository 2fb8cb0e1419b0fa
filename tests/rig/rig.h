/* A worker under test, without daemon or sockets: scenes are given as records, cameras in canonical form, lists come back as ids.
 *
 * Every function fails the running cmocka test when something goes wrong. One rig a test program; one scene (0) and as many
 * views as are opened. */
#ifndef VISD_TESTS_RIG_H
#define VISD_TESTS_RIG_H

#include "daemon/cull/worker.h"

struct rig {
    struct visd_segment *segment;
    struct visd_worker *worker;
    uint64_t serial;
    uint32_t meshes, views;
    uint64_t revision;
    uint32_t slots;
    struct visd_result last; /* of the newest frame */
    const float *prepass;    /* goes with frames of VISD_FRAME_PREPASS; of their size */
};

struct rig_list { uint64_t *ids; uint64_t count; uint64_t *in_order; }; /* ids: sorted; in_order: as they came */

/* Budgets 0: the worker's own. Validation is on when VISD_TEST_VALIDATE is set; finish checks that it was silent. */
void rig_init(struct rig *rig, uint64_t budget_triangles, uint64_t budget_samples);
void rig_finish(struct rig *rig);

/* A closed box mesh of local half extents, outward counter-clockwise. Any mesh: positions x 3, indices. */
uint32_t rig_box_mesh(struct rig *rig, const float half[3], enum visd_sides sides);
uint32_t rig_mesh(struct rig *rig, const float *positions, uint32_t vertices, const uint32_t *indices, uint32_t count, enum visd_sides sides);
/* Any mesh, as a block of the segment would hold it. */
uint32_t rig_block(struct rig *rig, const struct visd_mesh_block *block, uint64_t bytes);

/* The change that puts an object of local half extents at a slot, with a row-major 3x4 transform (NULL: identity). */
struct visd_object_change rig_object(uint32_t slot, uint64_t id, const double transform[12], const float half[3], uint32_t mesh, uint32_t flags);
void rig_commit(struct rig *rig, const struct visd_object_change *changes, uint32_t count);
void rig_clear(struct rig *rig); /* removes all objects; meshes and views stay */

/* A perspective camera at eye looking along yaw and pitch (radians; 0, 0: along -z), near plane at near, no far plane. */
struct visd_camera rig_camera(const double eye[3], double yaw, double pitch, double fov_y, double near, uint32_t width, uint32_t height);

uint32_t rig_view(struct rig *rig);
struct rig_list rig_frame(struct rig *rig, uint32_t view, const struct visd_camera *camera, enum visd_method method, uint32_t flags);
void rig_list_free(struct rig_list *list);
bool rig_lists(const struct rig_list *list, uint64_t id);
bool rig_same_list(const struct rig_list *a, const struct rig_list *b);

/* What a snapshot holds: VISD_SNAPSHOT_… of the view's last camera; malloc'd. count: bytes. */
struct rig_picture { void *data; uint64_t count; uint32_t width, height; };
struct rig_picture rig_snapshot(struct rig *rig, uint32_t view, uint32_t what, uint32_t level, uint64_t capacity);
/* Any job, and its result. */
struct visd_result rig_do(struct rig *rig, struct visd_job job);

#endif
