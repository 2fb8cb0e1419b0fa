/* See scene.h and generate.h. */
#include "scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../camera/cameras.h"
#include "../model/transform.h"
#include "proto/limits.h"

#define FLIGHT 300u
#define MESHES_MAX 256u

static const struct {
    struct visd_generate_kind kind;
    enum visd_err (*make)(struct visd_maker *maker);
    void (*fly)(uint64_t objects, double t, double eye[3], double target[3]);
    double degrees, near;
} kinds[] = {
    {{"office", "furnished floors of offices; more objects make more buildings", 40000, 1}, visd_office_make, visd_office_fly, 60, 0.05},
    {{"city", "one tower, and what it hides behind it", 202, 3}, visd_city_make, visd_city_fly, 50, 0.2},
    {{"mall", "a corridor, a wall with a door, and a shop behind it", 97, 18}, visd_mall_make, visd_mall_fly, 60, 0.05},
    {{"random", "shapes huge, tiny, flat and mirrored, anywhere", 10000, 1}, visd_random_make, visd_random_fly, 60, 0.05},
    {{"grid", "balls in rows, columns and layers", 8000, 1}, visd_grid_make, visd_grid_fly, 60, 0.05},
    {{"curtain", "a wall, with a given share of all before it and the rest behind", 10000, 2}, visd_curtain_make, visd_curtain_fly, 60, 0.05},
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

const struct visd_generate_kind *visd_generate_kinds(void)
{
    static struct visd_generate_kind list[KINDS + 1];
    for (size_t i = 0; i < KINDS; i++) list[i] = kinds[i].kind;
    return list;
}

uint64_t visd_random_next(struct visd_random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

float visd_random_between(struct visd_random *random, float low, float high)
{
    return low + (high - low) * ((float)(visd_random_next(random) >> 40) / 16777216.0f);
}

struct visd_random visd_random_at(uint64_t seed, uint64_t place)
{
    struct visd_random random = {seed};
    random.state = visd_random_next(&random) ^ place * 0xd1342543de82ef95u;
    visd_random_next(&random);
    return random;
}

bool visd_maker_full(const struct visd_maker *maker)
{
    return maker->made >= maker->wanted;
}

enum visd_err visd_maker_mesh(struct visd_maker *maker, struct visd_shape *shape, uint32_t *out)
{
    struct visd_model_mesh mesh;
    enum visd_err err = visd_shape_take(shape, &mesh, maker->why);
    if (err != VISD_ERR_OK) return err;
    if (maker->meshes == MESHES_MAX) abort(); /* the kinds are known; none comes near */
    bool see_through = true;
    for (uint32_t i = 0; i < mesh.part_count; i++) see_through &= mesh.parts[i].see_through == 1;
    for (int k = 0; k < 3; k++) {
        maker->boxes[maker->meshes].min[k] = mesh.min[k];
        maker->boxes[maker->meshes].max[k] = mesh.max[k];
    }
    maker->boxes[maker->meshes].see_through = see_through;
    err = maker->sink->ops->mesh(maker->sink, &mesh, maker->why);
    visd_model_mesh_free(&mesh);
    *out = maker->meshes++;
    return err;
}

enum visd_err visd_maker_group(struct visd_maker *maker, uint32_t parent, const double position[3], const char *path, uint32_t *out)
{
    struct visd_model_group group = {.parent = parent, .path = path};
    visd_transform_identity(group.transform);
    for (int k = 0; k < 3; k++) group.transform[k * 4 + 3] = position[k];
    *out = maker->groups++;
    return maker->sink->ops->group(maker->sink, &group, maker->why);
}

struct visd_thing *visd_maker_put_trs(struct visd_maker *maker, const char *name, uint32_t mesh, const struct visd_model_trs *trs)
{
    if (maker->thing_count == VISD_THINGS_MAX) return NULL;
    struct visd_thing *thing = &maker->things[maker->thing_count++];
    *thing = (struct visd_thing){.name = name, .mesh = mesh, .trs = *trs};
    return thing;
}

void visd_maker_put(struct visd_maker *maker, const char *name, uint32_t mesh, float x, float y, float z, float turn)
{
    struct visd_model_trs trs = {{x, y, z}, {0, sinf(turn / 2), 0, cosf(turn / 2)}, {1, 1, 1}};
    visd_maker_put_trs(maker, name, mesh, &trs);
}

enum visd_err visd_maker_flush(struct visd_maker *maker, uint32_t group, const char *path)
{
    /* Insertion sort: stable, and a room is small. */
    struct visd_thing *things = maker->things;
    for (uint32_t i = 1; i < maker->thing_count; i++) {
        struct visd_thing thing = things[i];
        uint32_t j = i;
        for (; j > 0 && things[j - 1].mesh > thing.mesh; j--) things[j] = things[j - 1];
        things[j] = thing;
    }
    uint32_t count = maker->thing_count;
    maker->thing_count = 0;
    uint64_t left = maker->wanted - maker->made;
    if (count > left) count = (uint32_t)left;
    for (uint32_t i = 0, run = 0; i < count; i++) {
        const struct visd_thing *thing = &things[i];
        double t[3], r[4], s[3];
        char name[256];
        run = i && things[i - 1].mesh == thing->mesh ? run + 1 : 0;
        bool alone = run == 0 && (i + 1 == count || things[i + 1].mesh != thing->mesh);
        int n = snprintf(name, sizeof(name), "%.160s%s%.60s", path, *path ? "/" : "", thing->name);
        if (!alone) snprintf(name + n, sizeof(name) - (size_t)n, "[%u]", run);
        struct visd_model_object object = {.id = maker->params->id_base + maker->made, .mesh = thing->mesh, .group = group, .trs = &thing->trs, .path = name};
        for (int k = 0; k < 4; k++) r[k] = thing->trs.rotation[k];
        for (int k = 0; k < 3; k++) {
            t[k] = thing->trs.translation[k], s[k] = thing->trs.scale[k];
            object.min[k] = maker->boxes[thing->mesh].min[k];
            object.max[k] = maker->boxes[thing->mesh].max[k];
        }
        if (!visd_transform_from_trs(object.transform, t, r, s)) abort(); /* our own numbers */
        if (maker->boxes[thing->mesh].see_through) object.flags |= VISD_MODEL_SEE_THROUGH;
        enum visd_err err = maker->sink->ops->object(maker->sink, &object, maker->why);
        if (err != VISD_ERR_OK) return err;
        maker->made++;
        if (maker->params->progress && (maker->made & 1023) == 0) maker->params->progress(maker->params->context, maker->made, maker->wanted);
    }
    return VISD_ERR_OK;
}

static enum visd_err find_kind(const struct visd_generate_params *params, size_t *out, uint64_t *objects, struct visd_why *why)
{
    for (size_t i = 0; i < KINDS; i++) {
        if (strcmp(params->kind, kinds[i].kind.name) != 0) continue;
        *out = i;
        *objects = params->objects ? params->objects : kinds[i].kind.objects;
        if (*objects < kinds[i].kind.least || *objects > VISD_MAX_OBJECTS)
            return visd_why(why, VISD_ERR_BAD_VALUE, "%s: %llu objects: it can have %llu to %d", params->kind, (unsigned long long)*objects,
                            (unsigned long long)kinds[i].kind.least, VISD_MAX_OBJECTS);
        return VISD_ERR_OK;
    }
    return visd_why(why, VISD_ERR_NOT_FOUND, "no kind is called \"%.60s\"; there are office, city, mall, random, grid and curtain", params->kind);
}

enum visd_err visd_generate(const struct visd_generate_params *params, struct visd_sink *sink, struct visd_why *why)
{
    size_t kind = 0;
    uint64_t objects = 0;
    enum visd_err err = find_kind(params, &kind, &objects, why);
    if (err != VISD_ERR_OK) return err;
    struct visd_maker *maker = calloc(1, sizeof(*maker));
    if (!maker || !(maker->boxes = calloc(MESHES_MAX, sizeof(*maker->boxes)))) {
        free(maker);
        return visd_why_memory(why, "the generator");
    }
    maker->params = params;
    maker->sink = sink;
    maker->why = why;
    maker->wanted = objects;
    err = kinds[kind].make(maker);
    if (err == VISD_ERR_OK) err = sink->ops->finish(sink, why);
    if (err == VISD_ERR_OK && params->progress) params->progress(params->context, maker->made, maker->made);
    free(maker->boxes);
    free(maker);
    return err;
}

enum visd_err visd_generate_cameras(const struct visd_generate_params *params, uint32_t width, uint32_t height, size_t *count,
                                    struct visd_client_camera **out, struct visd_why *why)
{
    size_t kind = 0;
    uint64_t objects = 0;
    *out = NULL;
    enum visd_err err = find_kind(params, &kind, &objects, why);
    if (err != VISD_ERR_OK) return err;
    if (*count == 0) *count = FLIGHT;
    if (*count > VISD_CAMERAS_MAX) return visd_why(why, VISD_ERR_BAD_VALUE, "%zu cameras: at most %u", *count, VISD_CAMERAS_MAX);
    struct visd_client_camera *cameras = malloc(*count * sizeof(*cameras));
    if (!cameras) return visd_why_memory(why, "cameras");
    for (size_t i = 0; i < *count; i++) {
        double eye[3], target[3];
        kinds[kind].fly(objects, (double)i / (double)*count, eye, target);
        visd_camera_look(&cameras[i], eye, target, kinds[kind].degrees, kinds[kind].near, width, height);
    }
    *out = cameras;
    return VISD_ERR_OK;
}
