/* Seeded random scenes and cameras, wide enough that every branch of every pass is met: mirrored, flattened, huge and tiny objects, far from
 * the origin, every kind of sides and flags, section planes, layers, margins, small-object limits, perspective and parallel projections. */
#ifndef VISD_TESTS_RANDOM_H
#define VISD_TESTS_RANDOM_H

#include <stdbool.h>

#include "daemon/segment/camera.h"
#include "daemon/segment/record.h"

struct random { uint64_t state; };

uint64_t random_next(struct random *r);
double random_between(struct random *r, double low, double high);
double random_scale(struct random *r, double low, double high); /* evenly in the logarithm */
bool random_chance(struct random *r, double probability);
void random_rotation(struct random *r, double out[3][3]);

/* Meshes to make objects of; each with the box that holds it. */
struct random_shape { struct visd_mesh_block *block; uint64_t bytes; float local[3], half[3]; };
#define RANDOM_SHAPES 13
void random_shapes_make(struct random_shape out[RANDOM_SHAPES]);
void random_shapes_free(struct random_shape shapes[RANDOM_SHAPES]);
/* A block as loop and worker share it; malloc'd. */
struct visd_mesh_block *random_block(const float *positions, uint32_t vertices, const uint32_t *indices, uint32_t count,
                                     const struct visd_mesh_part *parts, uint32_t part_count, float deviation, uint64_t *bytes);

enum random_projection { RANDOM_INFINITE, RANDOM_FINITE, RANDOM_PARALLEL, RANDOM_PARALLEL_BEHIND }; /* the last: a negative near plane */
/* A camera at eye that looks along a random rotation; forward receives the direction. */
struct visd_camera random_camera(struct random *r, const double eye[3], enum random_projection projection, uint32_t width, uint32_t height,
                                 uint32_t samples, double forward[3]);
void random_planes(struct random *r, struct visd_camera *camera, uint32_t count); /* sections through what the camera sees */

/* Fills changes for slots 0 to count - 1, around the eye and mostly before it. Mesh numbers are places in shapes. */
void random_objects(struct random *r, const struct random_shape shapes[RANDOM_SHAPES], const double eye[3], const double forward[3],
                    struct visd_object_change *changes, uint32_t count);

#endif
