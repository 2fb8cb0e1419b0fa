/* The dump: little-endian, packed, in this order.
 *
 *     u32 magic 'VORC' (0x43524f56), meshes, objects, cameras
 *     a mesh:   u32 vertices, indices, parts; f32 position[3 * vertices]; u32 index[indices]; u32 part[4 * parts]
 *     an object: u64 id; u32 mesh, role, layers, section_exempt; f64 to_world[12]
 *     a camera: f64 view[16], proj[16]; u32 width, height, depth, y_down, samples, layers, planes, 0; f64 plane[4 * planes]
 */
#include "oracle.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC 0x43524f56u
#define MAX_COUNT (64u << 20)

static bool take(FILE *file, void *out, size_t bytes) { return bytes == 0 || fread(out, bytes, 1, file) == 1; }

static void *take_array(FILE *file, uint32_t count, size_t size)
{
    if (count > MAX_COUNT)
        return NULL;
    void *array = calloc(count ? count : 1, size);
    if (array && !take(file, array, count * size)) {
        free(array);
        return NULL;
    }
    return array;
}

static bool take_mesh(FILE *file, struct mesh *mesh)
{
    uint32_t head[3];
    if (!take(file, head, sizeof(head)))
        return false;
    mesh->vertices = head[0];
    mesh->indices = head[1];
    mesh->parts = head[2];
    mesh->position = take_array(file, mesh->vertices, 3 * sizeof(float));
    mesh->index = mesh->position ? take_array(file, mesh->indices, sizeof(uint32_t)) : NULL;
    mesh->part = mesh->index ? take_array(file, mesh->parts, sizeof(struct part)) : NULL;
    if (!mesh->part)
        return false;
    for (uint32_t i = 0; i < mesh->indices; i++)
        if (mesh->index[i] >= mesh->vertices)
            return false;
    for (uint32_t i = 0; i < mesh->parts; i++)
        if (mesh->part[i].first > mesh->indices || mesh->part[i].count > mesh->indices - mesh->part[i].first)
            return false;
    return true;
}

static bool take_object(FILE *file, const struct scene *scene, struct object *object)
{
    return take(file, &object->id, sizeof(object->id)) && take(file, &object->mesh, 4 * sizeof(uint32_t)) &&
           take(file, object->to_world, sizeof(object->to_world)) && object->mesh < scene->meshes;
}

static bool take_camera(FILE *file, struct camera *camera)
{
    uint32_t zero;
    return take(file, camera->view, sizeof(camera->view)) && take(file, camera->proj, sizeof(camera->proj)) &&
           take(file, &camera->width, 7 * sizeof(uint32_t)) && take(file, &zero, sizeof(zero)) && camera->planes <= MAX_PLANES &&
           take(file, camera->plane, camera->planes * sizeof(camera->plane[0]));
}

bool scene_read(struct scene *scene, const char *path)
{
    memset(scene, 0, sizeof(*scene));
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "oracle: cannot open %s\n", path);
        return false;
    }
    uint32_t head[4];
    bool good = take(file, head, sizeof(head)) && head[0] == MAGIC && head[1] < MAX_COUNT && head[2] < MAX_COUNT && head[3] < MAX_COUNT;
    if (good) {
        scene->mesh = calloc(head[1] + 1, sizeof(struct mesh));
        scene->object = calloc(head[2] + 1, sizeof(struct object));
        scene->camera = calloc(head[3] + 1, sizeof(struct camera));
        good = scene->mesh && scene->object && scene->camera;
    }
    for (uint32_t i = 0; good && i < head[1]; i++)
        good = take_mesh(file, &scene->mesh[scene->meshes++]);
    for (uint32_t i = 0; good && i < head[2]; i++)
        good = take_object(file, scene, &scene->object[scene->objects++]);
    for (uint32_t i = 0; good && i < head[3]; i++)
        good = take_camera(file, &scene->camera[scene->cameras++]);
    fclose(file);
    if (!good) {
        fprintf(stderr, "oracle: %s is cut short or holds what it may not\n", path);
        scene_finish(scene);
    }
    return good;
}

void scene_finish(struct scene *scene)
{
    for (uint32_t i = 0; i < scene->meshes; i++) {
        free(scene->mesh[i].position);
        free(scene->mesh[i].index);
        free(scene->mesh[i].part);
    }
    free(scene->mesh);
    free(scene->object);
    free(scene->camera);
    memset(scene, 0, sizeof(*scene));
}
