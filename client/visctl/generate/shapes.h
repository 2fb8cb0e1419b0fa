/* A small kit of solid shapes, from which the generated scenes' meshes are put together.
 *
 * All faces are wound counter-clockwise seen from outside. A shape collects pieces until it is taken as a mesh; when memory
 * runs out it says so then, not before. Metres; y is up. One thread. */
#ifndef VISD_VISCTL_GENERATE_SHAPES_H
#define VISD_VISCTL_GENERATE_SHAPES_H

#include "../model/model.h"

struct visd_shape {
    struct visd_model_mesh mesh; /* in the making */
    uint32_t vertex_room, index_room, part_room;
    bool failed;
};

/* Starts a part: what follows has these sides. Without it all is single sided and opaque. */
void visd_shape_part(struct visd_shape *shape, enum visd_model_sides sides, bool see_through);

void visd_shape_box(struct visd_shape *shape, float x0, float y0, float z0, float x1, float y1, float z1);
/* A box whose edges are cut off by so much. */
void visd_shape_soft_box(struct visd_shape *shape, float x0, float y0, float z0, float x1, float y1, float z1, float cut);
/* An upright cone, cylinder or disc: radius r0 at y0, r1 at y1 (y1 >= y0); caps where the radius is not 0. */
void visd_shape_cone(struct visd_shape *shape, float x, float z, float y0, float r0, float y1, float r1, uint32_t sides);
/* A round bar between two points. */
void visd_shape_bar(struct visd_shape *shape, const float from[3], const float to[3], float radius, uint32_t sides);
/* An ellipsoid of 'rings' bands and 'sides' slices. */
void visd_shape_ball(struct visd_shape *shape, float x, float y, float z, float rx, float ry, float rz, uint32_t rings, uint32_t sides);
/* An upright body of revolution through count (radius, height) points, rising; open at its ends. */
void visd_shape_lathe(struct visd_shape *shape, float x, float z, const float (*profile)[2], uint32_t count, uint32_t sides);
/* A four-sided face, counter-clockwise. */
void visd_shape_quad(struct visd_shape *shape, const float a[3], const float b[3], const float c[3], const float d[3]);

/* Gives the mesh away and leaves the shape empty. NO_MEMORY, also for an earlier piece. */
enum visd_err visd_shape_take(struct visd_shape *shape, struct visd_model_mesh *out, struct visd_why *why);

#endif
