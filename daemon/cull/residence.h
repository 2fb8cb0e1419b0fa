/* Residence: a scene's copy on the device.
 *
 * Three arrays by slot (bounds, info, fine), a table of meshes, and the meshes themselves as ranges of shared device memory. Changes are
 * staged in any number of slices and take effect in one scatter at apply, so that no frame ever sees half a commit. Arrays grow by
 * copying on the device, in queue order, so that nothing waits. Thread: the worker's. */
#ifndef VISD_CULL_RESIDENCE_H
#define VISD_CULL_RESIDENCE_H

#include "daemon/segment/job.h"
#include "daemon/segment/record.h"
#include "passes.h"
#include "upload.h"

struct visd_residence {
    struct visd_gpu *gpu;
    struct visd_gpu_arena *arena; /* shared by all scenes, not owned */
    struct visd_upload *upload;   /* shared, not owned */
    struct visd_gpu_buffer bounds, info, fine, meshes;
    struct visd_gpu_buffer staged; /* changes not yet applied */
    uint64_t staged_count;
    enum visd_err staged_err;      /* a slice that could not be staged spoils the commit it belongs to */
    struct resident_mesh *mesh;    /* by mesh slot */
    uint32_t mesh_capacity;        /* slots in mesh and in the device's table */
    uint32_t slot_capacity;        /* objects that bounds, info and fine have room for */
    uint32_t slots;                /* one past the highest slot in use */
    uint64_t revision;
};

enum visd_err visd_residence_init(struct visd_residence *r, struct visd_gpu *gpu, struct visd_gpu_arena *arena, struct visd_upload *upload);
void visd_residence_finish(struct visd_residence *r); /* what the device still uses lives on until it is done; a zeroed one is fine */

/* block: bytes at the job's offset; why: one line on failure. */
enum visd_err visd_residence_mesh_add(struct visd_residence *r, uint32_t slot, const struct visd_mesh_block *block, uint64_t bytes, char *why, size_t size);
void visd_residence_mesh_remove(struct visd_residence *r, uint32_t slot);
enum visd_err visd_residence_stage(struct visd_residence *r, const struct visd_object_change *changes, uint32_t count);
enum visd_err visd_residence_apply(struct visd_residence *r, const struct cull_pipelines *pipelines, uint64_t revision, uint32_t slots);

#endif
