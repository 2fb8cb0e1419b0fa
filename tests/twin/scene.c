/* A scene in host memory, laid out as residence lays it out on the device: bounds, info, fine, meshes with their sides in the first index. */
#include <stdlib.h>
#include <string.h>

#include "twin.h"

void twin_scene_init(struct twin_scene *scene) { *scene = (struct twin_scene){0}; }

void twin_scene_finish(struct twin_scene *scene)
{
    for (uint32_t i = 0; i < scene->mesh_count; i++) {
        free((void *)(uintptr_t)scene->meshes[i].vertices);
        free((void *)(uintptr_t)scene->meshes[i].indices);
    }
    free(scene->meshes);
    free(scene->bounds);
    free(scene->info);
    free(scene->fine);
    *scene = (struct twin_scene){0};
}

uint32_t twin_scene_mesh(struct twin_scene *scene, const struct visd_mesh_block *block)
{
    static const uint32_t sides[] = {[VISD_SIDES_UNKNOWN] = INDEX_UNKNOWN, [VISD_SIDES_SINGLE] = 0, [VISD_SIDES_DOUBLE] = INDEX_DOUBLE};
    const float *positions = (const float *)(block + 1);
    const uint32_t *indices = (const uint32_t *)(positions + block->vertices * 3);
    const struct visd_mesh_part *parts = (const struct visd_mesh_part *)(indices + block->indices);
    float *own_positions = malloc(block->vertices * 12 + 12);
    uint32_t *own = malloc(block->indices * 4 + 12), triangles = 0, all = 0;
    memcpy(own_positions, positions, block->vertices * 12);
    bool *taken = calloc(block->indices / 3 + 1, 1), *used = calloc(block->vertices + 1, 1), whole = true;
    for (int see_through = 0; see_through < 2; see_through++) {
        for (uint32_t p = 0; p < block->parts; p++) {
            if (parts[p].see_through != (uint32_t)see_through) continue;
            memcpy(own + all * 3, indices + parts[p].first, parts[p].count * 4);
            for (uint32_t i = 0; i < parts[p].count / 3; i++) {
                own[(all + i) * 3] |= sides[parts[p].sides];
                taken[parts[p].first / 3 + i] = true;
            }
            all += parts[p].count / 3;
        }
        if (!see_through) triangles = all;
    }
    for (uint32_t i = 0; i < block->indices / 3; i++) { /* of no part */
        if (taken[i]) continue;
        memcpy(own + all * 3, indices + i * 3, 12);
        own[all++ * 3] |= INDEX_UNKNOWN;
    }
    for (uint32_t i = 0; i < block->indices; i++) used[indices[i]] = true;
    for (uint32_t i = 0; i < block->vertices; i++) whole = whole && used[i];
    free(taken);
    free(used);
    scene->meshes = realloc(scene->meshes, (scene->mesh_count + 1) * sizeof(struct mesh));
    scene->meshes[scene->mesh_count] = (struct mesh){.vertices = (uintptr_t)own_positions, .indices = (uintptr_t)own, .triangles = triangles,
                                                     .deviation = block->deviation, .all_triangles = all, .mark_triangles = whole ? all : 0};
    return scene->mesh_count++;
}
