/* What the kinds of generated scenes share: random numbers, and telling a sink about rooms full of things.
 *
 * Within a group, things are told sorted by mesh, so that a file can hold each run of equal ones as one instanced node
 * and still keep the order of ids. Used by the files of this folder alone. */
#ifndef VISD_VISCTL_GENERATE_SCENE_H
#define VISD_VISCTL_GENERATE_SCENE_H

#include <stdbool.h>

#include "generate.h"
#include "shapes.h"

/* splitmix64: small, and the same everywhere. */
struct visd_random {
    uint64_t state;
};
uint64_t visd_random_next(struct visd_random *random);
float visd_random_between(struct visd_random *random, float low, float high);
/* An independent stream for a place, so that it does not depend on what was made before. */
struct visd_random visd_random_at(uint64_t seed, uint64_t place);

struct visd_thing {
    const char *name;
    uint32_t mesh;
    struct visd_model_trs trs; /* in its group */
};

#define VISD_THINGS_MAX 256

struct visd_maker {
    const struct visd_generate_params *params;
    struct visd_sink *sink;
    struct visd_why *why;
    uint64_t wanted, made; /* objects; nothing is made past the wanted number */
    uint32_t meshes, groups;
    struct { double min[3], max[3]; bool see_through; } *boxes; /* of the meshes told so far */
    struct visd_thing things[VISD_THINGS_MAX];                  /* of the group being filled */
    uint32_t thing_count;
};

bool visd_maker_full(const struct visd_maker *maker);
/* Takes the shape's mesh, tells the sink, and gives its number. */
enum visd_err visd_maker_mesh(struct visd_maker *maker, struct visd_shape *shape, uint32_t *out);
enum visd_err visd_maker_group(struct visd_maker *maker, uint32_t parent, const double position[3], const char *path, uint32_t *out);
/* Puts a thing into the group being filled, turned about y by so many radians. Past the room for things it is dropped. */
void visd_maker_put(struct visd_maker *maker, const char *name, uint32_t mesh, float x, float y, float z, float turn);
struct visd_thing *visd_maker_put_trs(struct visd_maker *maker, const char *name, uint32_t mesh, const struct visd_model_trs *trs);
/* Tells the sink all things of the group, and empties the list. path: the group's; VISD_MODEL_NONE: no group. */
enum visd_err visd_maker_flush(struct visd_maker *maker, uint32_t group, const char *path);

/* The kinds. fly gives eye and target at t in [0, 1). */
enum visd_err visd_office_make(struct visd_maker *maker);
void visd_office_fly(uint64_t objects, double t, double eye[3], double target[3]);
enum visd_err visd_city_make(struct visd_maker *maker);
void visd_city_fly(uint64_t objects, double t, double eye[3], double target[3]);
enum visd_err visd_mall_make(struct visd_maker *maker);
void visd_mall_fly(uint64_t objects, double t, double eye[3], double target[3]);
enum visd_err visd_random_make(struct visd_maker *maker);
void visd_random_fly(uint64_t objects, double t, double eye[3], double target[3]);
enum visd_err visd_grid_make(struct visd_maker *maker);
void visd_grid_fly(uint64_t objects, double t, double eye[3], double target[3]);
enum visd_err visd_curtain_make(struct visd_maker *maker);
void visd_curtain_fly(uint64_t objects, double t, double eye[3], double target[3]);

#endif
