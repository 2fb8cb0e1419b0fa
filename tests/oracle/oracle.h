/* Ground truth for visibility, by casting one ray through every sample.
 *
 * Nothing here is shared with the daemon, its shaders or its camera code: what both agree on, two programs found
 * in two ways. A scene and its cameras come as one file (dump.c says how it is laid out); for each camera a line of JSON goes out:
 *     {"frame": 0, "visible": {"ID": samples, ...}, "robust": [ID, ...]}
 * "visible" counts the samples at which an object is seen. "robust" holds the objects that are seen at the sample grid
 * as it is and at each of the four grids shifted by (+-1/128, +-1/128) pixel: no answer may lack one of them.
 *
 * What is seen at a sample: the nearest opaque face, and every face in front of it that hides nothing. Back faces
 * of single-sided parts are not there at all; back faces of parts whose sides are unknown are seen and hide nothing. */
#ifndef VISD_TESTS_ORACLE_H
#define VISD_TESTS_ORACLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum sides { SIDES_UNKNOWN = 0, SIDES_SINGLE = 1, SIDES_DOUBLE = 2 };

enum role {
    ROLE_SOLID = 0,      /* seen, and hides */
    ROLE_CLEAR = 1,      /* seen, hides nothing: see-through, x-rayed, ghosted, helpers */
    ROLE_HIDDEN = 2,     /* not there */
    ROLE_OCCLUDER = 3,   /* hides, is not listed */
};

enum depth { DEPTH_ZERO_TO_ONE = 0, DEPTH_REVERSED = 1, DEPTH_NEG_ONE_TO_ONE = 2 };

struct part {
    uint32_t first, count; /* indices */
    uint32_t sides, see_through;
};

struct mesh {
    uint32_t vertices, indices, parts;
    float *position;  /* 3 a vertex */
    uint32_t *index;
    struct part *part;
};

struct object {
    uint64_t id;
    uint32_t mesh, role, layers;
    uint32_t section_exempt;
    double to_world[12]; /* row-major 3x4 */
};

#define MAX_PLANES 8

struct camera {
    double view[16], proj[16]; /* column-major */
    uint32_t width, height, depth, y_down, samples, layers, planes;
    double plane[MAX_PLANES][4];
};

struct scene {
    uint32_t meshes, objects, cameras;
    struct mesh *mesh;
    struct object *object;
    struct camera *camera;
};

/* Reads a dump; on failure says why on stderr and returns false. */
bool scene_read(struct scene *scene, const char *path);
void scene_finish(struct scene *scene);

/* Writes the line of one camera. */
bool camera_cast(const struct scene *scene, const struct camera *camera, unsigned frame, FILE *out);

#endif
