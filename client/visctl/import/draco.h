/* A C door to Google's Draco: one compressed glTF primitive in, positions and triangles out. */
#ifndef VISD_VISCTL_IMPORT_DRACO_H
#define VISD_VISCTL_IMPORT_DRACO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct visd_draco_mesh {
    float *positions; /* x y z a vertex; malloc'd, the caller frees both */
    uint32_t *indices;
    uint32_t vertices, index_count;
};

/* position_id: Draco's unique id of the position attribute. Takes any bytes. False: why says what is wrong, out is zeroed. No
 * exception leaves. Limits are checked before memory is taken for the result. */
bool visd_draco_decode(struct visd_draco_mesh *out, const void *bytes, size_t size, uint32_t position_id, bool normalized,
                       uint32_t max_vertices, uint32_t max_triangles, char *why, size_t why_size);

#ifdef __cplusplus
}
#endif

#endif
