/* See scene_hash.h. An object's hash is of its row; the scene's is of their sum, which knows no order. */
#include "scene_hash.h"

#include <stdlib.h>
#include <string.h>

#include "../model/digest.h"

bool visd_scene_hash_mesh(struct visd_scene_hash *hash, const struct visd_client_mesh *mesh)
{
    if (hash->mesh_count == hash->mesh_room) {
        size_t room = hash->mesh_room ? hash->mesh_room * 2 : 64;
        struct visd_mesh_hash *moved = realloc(hash->meshes, room * sizeof(*moved));
        if (!moved) return false;
        hash->meshes = moved;
        hash->mesh_room = room;
    }
    struct visd_byte_digest digest = {0};
    visd_byte_digest_add(&digest, mesh->positions, mesh->vertices * 3 * sizeof(float));
    visd_byte_digest_add(&digest, mesh->indices, mesh->triangles * 3 * sizeof(uint32_t));
    visd_byte_digest_add(&digest, mesh->part, mesh->parts * sizeof(*mesh->part));
    hash->meshes[hash->mesh_count++] = (struct visd_mesh_hash){mesh->id, visd_byte_digest_end(&digest)};
    hash->sorted = false;
    return true;
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

void visd_scene_hash_objects(struct visd_scene_hash *hash, const struct visd_client_page *page)
{
    if (!hash->sorted && hash->mesh_count) qsort(hash->meshes, hash->mesh_count, sizeof(*hash->meshes), by_id);
    hash->sorted = true;
    for (size_t i = 0; i < page->count; i++) {
        uint64_t mesh = page->meshes ? page->meshes[i] : VISD_NO_ID;
        struct {
            uint64_t id, mesh, flags;
            double box[6];
        } row = {.id = page->ids[i], .flags = page->flags ? page->flags[i] : 0};
        const struct visd_mesh_hash *at = hash->mesh_count ? bsearch(&mesh, hash->meshes, hash->mesh_count, sizeof(*hash->meshes), by_id) : NULL;
        if (at) row.mesh = at->digest;
        memcpy(row.box, page->world_boxes + i * 6, sizeof(row.box));
        struct visd_byte_digest digest = {0};
        visd_byte_digest_add(&digest, &row, sizeof(row));
        hash->sum += visd_byte_digest_end(&digest);
        hash->objects++;
    }
}

uint64_t visd_scene_hash_end(const struct visd_scene_hash *hash)
{
    struct visd_byte_digest digest = {0};
    visd_byte_digest_add(&digest, &(const uint64_t[2]){hash->sum, hash->objects}, 16);
    return visd_byte_digest_end(&digest);
}

void visd_scene_hash_finish(struct visd_scene_hash *hash)
{
    free(hash->meshes);
    *hash = (struct visd_scene_hash){0};
}
