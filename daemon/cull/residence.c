/* The scene's copy on the device; see residence.h. */
#include "residence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct resident_mesh { struct visd_gpu_range vertices, indices; bool used; };

#define FIRST_SLOTS 1024u
#define FIRST_MESHES 64u

/* Growth copies on the device: what is still on its way there goes first. */
static enum visd_err grow(struct visd_residence *r, struct visd_gpu_buffer *buffer, uint64_t bytes)
{
    enum visd_err err = visd_upload_flush(r->upload);
    return err == VISD_ERR_OK ? visd_gpu_buffer_grow(r->gpu, buffer, bytes) : err;
}

static uint64_t grown(uint64_t have, uint64_t need, uint64_t first)
{
    uint64_t size = have ? have : first;
    while (size < need) size += size / 2 + 1;
    return size;
}

static enum visd_err need_slots(struct visd_residence *r, uint32_t slots)
{
    if (slots <= r->slot_capacity) return VISD_ERR_OK;
    uint64_t capacity = grown(r->slot_capacity, slots, FIRST_SLOTS);
    enum visd_err err = grow(r, &r->bounds, capacity * sizeof(struct visd_object_bounds));
    if (err == VISD_ERR_OK) err = grow(r, &r->info, capacity * sizeof(struct visd_object_info));
    if (err == VISD_ERR_OK) err = grow(r, &r->fine, capacity * sizeof(struct visd_object_fine));
    if (err == VISD_ERR_OK) r->slot_capacity = (uint32_t)capacity;
    return err;
}

static enum visd_err need_meshes(struct visd_residence *r, uint32_t meshes)
{
    if (meshes <= r->mesh_capacity) return VISD_ERR_OK;
    uint64_t capacity = grown(r->mesh_capacity, meshes, FIRST_MESHES);
    struct resident_mesh *mesh = realloc(r->mesh, capacity * sizeof(*mesh));
    if (!mesh) return VISD_ERR_NO_MEMORY;
    memset(mesh + r->mesh_capacity, 0, (capacity - r->mesh_capacity) * sizeof(*mesh));
    r->mesh = mesh;
    enum visd_err err = grow(r, &r->meshes, capacity * sizeof(struct mesh));
    if (err == VISD_ERR_OK) r->mesh_capacity = (uint32_t)capacity;
    return err;
}

enum visd_err visd_residence_init(struct visd_residence *r, struct visd_gpu *gpu, struct visd_gpu_arena *arena, struct visd_upload *upload)
{
    *r = (struct visd_residence){.gpu = gpu, .arena = arena, .upload = upload};
    enum visd_err err = need_slots(r, FIRST_SLOTS);
    if (err == VISD_ERR_OK) err = need_meshes(r, FIRST_MESHES);
    if (err != VISD_ERR_OK) visd_residence_finish(r);
    return err;
}

void visd_residence_finish(struct visd_residence *r)
{
    if (!r->gpu) return;
    visd_upload_flush(r->upload); /* copies on their way must not outlive their target; on a lost device nothing runs */
    for (uint32_t i = 0; i < r->mesh_capacity; i++) visd_residence_mesh_remove(r, i);
    visd_gpu_buffer_retire(r->gpu, &r->bounds);
    visd_gpu_buffer_retire(r->gpu, &r->info);
    visd_gpu_buffer_retire(r->gpu, &r->fine);
    visd_gpu_buffer_retire(r->gpu, &r->meshes);
    visd_gpu_buffer_retire(r->gpu, &r->staged);
    free(r->mesh);
    *r = (struct visd_residence){0};
}

static const uint32_t *block_indices(const struct visd_mesh_block *block)
{
    return (const uint32_t *)((const char *)(block + 1) + (uint64_t)block->vertices * 12);
}

static const struct visd_mesh_part *block_parts(const struct visd_mesh_block *block)
{
    return (const struct visd_mesh_part *)(block_indices(block) + block->indices);
}

/* Whether the block is as long as its header says and stays within what an index can carry. */
static bool block_fits(const struct visd_mesh_block *block, uint64_t bytes)
{
    return sizeof(*block) + (uint64_t)block->vertices * 12 + (uint64_t)block->indices * 4 + (uint64_t)block->parts * sizeof(struct visd_mesh_part) <= bytes &&
           block->vertices <= INDEX_MASK + 1u;
}

static int by_first(const void *a, const void *b)
{
    uint32_t x = ((const struct visd_mesh_part *)a)->first, y = ((const struct visd_mesh_part *)b)->first;
    return (x > y) - (x < y);
}

/* All of a mesh's triangles as parts: those that occlude first, in the mesh's order, then the see-through ones, and last those of no part, which
 * hide nothing either. For free(); NULL: out of memory. occluding: triangles of the former. */
static struct visd_mesh_part *order_parts(const struct visd_mesh_block *block, uint32_t *count, uint64_t *occluding)
{
    const struct visd_mesh_part *parts = block_parts(block);
    struct visd_mesh_part *all = malloc(((size_t)block->parts * 3 + 1) * sizeof(*all)), *sorted = all + (size_t)block->parts * 2 + 1;
    uint32_t n = 0, end = 0;
    if (!all) return NULL;
    *occluding = 0;
    for (uint32_t p = 0; p < block->parts; p++)
        if (!parts[p].see_through) *occluding += (all[n++] = parts[p]).count / 3;
    for (uint32_t p = 0; p < block->parts; p++)
        if (parts[p].see_through) all[n++] = parts[p];
    memcpy(sorted, parts, block->parts * sizeof(*sorted));
    qsort(sorted, block->parts, sizeof(*sorted), by_first);
    for (uint32_t p = 0; p <= block->parts; p++) {
        uint32_t next = p < block->parts ? sorted[p].first : block->indices;
        if (p < block->parts && !sorted[p].count) continue;
        if (next > end) all[n++] = (struct visd_mesh_part){.first = end, .count = next - end, .sides = VISD_SIDES_UNKNOWN};
        if (p < block->parts) end = sorted[p].first + sorted[p].count;
    }
    *count = n;
    return all;
}

/* Whether every vertex belongs to a triangle. Others may be drawn as points or lines, for which only the box stands. */
static enum visd_err all_used(const struct visd_mesh_block *block, bool *out)
{
    const uint32_t *indices = block_indices(block);
    unsigned char *used = calloc(block->vertices / 8 + 1, 1);
    uint32_t count = 0;
    if (!used) return VISD_ERR_NO_MEMORY;
    for (uint32_t i = 0; i < block->indices; i++) {
        if (indices[i] >= block->vertices || used[indices[i] / 8] >> (indices[i] % 8) & 1) continue;
        used[indices[i] / 8] |= (unsigned char)(1u << (indices[i] % 8));
        count++;
    }
    *out = count == block->vertices;
    free(used);
    return VISD_ERR_OK;
}

/* Each triangle with its part's sides in its first index. */
static enum visd_err upload_triangles(struct visd_residence *r, const struct visd_mesh_block *block, const struct visd_mesh_part *parts, uint32_t count,
                                      const struct visd_gpu_range *range)
{
    static const uint32_t side_bits[] = {[VISD_SIDES_UNKNOWN] = INDEX_UNKNOWN, [VISD_SIDES_SINGLE] = 0, [VISD_SIDES_DOUBLE] = INDEX_DOUBLE};
    const uint32_t most = (uint32_t)(VISD_UPLOAD_SLICE / 12);
    uint64_t at = 0;
    for (uint32_t p = 0; p < count; p++)
        for (uint32_t done = 0; done < parts[p].count / 3;) {
            uint32_t part = parts[p].count / 3 - done < most ? parts[p].count / 3 - done : most;
            void *room;
            enum visd_err err = visd_upload_reserve(r->upload, range->buffer, range->offset + at * 12, (uint64_t)part * 12, &room);
            if (err != VISD_ERR_OK) return err;
            uint32_t *to = room;
            memcpy(to, block_indices(block) + parts[p].first + (uint64_t)done * 3, (size_t)part * 12);
            for (uint32_t i = 0; i < part; i++) to[i * 3] |= side_bits[parts[p].sides];
            done += part;
            at += part;
        }
    return VISD_ERR_OK;
}

enum visd_err visd_residence_mesh_add(struct visd_residence *r, uint32_t slot, const struct visd_mesh_block *block, uint64_t bytes, char *why, size_t size)
{
    if (!block_fits(block, bytes)) {
        snprintf(why, size, "mesh slot %u: its block is shorter than it says", slot);
        return VISD_ERR_INTERNAL;
    }
    uint32_t count = 0;
    uint64_t occluding = 0;
    bool whole = false;
    struct visd_mesh_part *parts = order_parts(block, &count, &occluding);
    enum visd_err err = parts ? all_used(block, &whole) : VISD_ERR_NO_MEMORY;
    if (err == VISD_ERR_OK) err = need_meshes(r, slot + 1);
    if (err != VISD_ERR_OK) goto error;
    visd_residence_mesh_remove(r, slot);
    struct resident_mesh made = {.used = true};
    uint32_t all = block->indices / 3;
    struct mesh entry = {.triangles = (uint32_t)occluding, .deviation = block->deviation, .all_triangles = all, .mark_triangles = whole ? all : 0};
    if (all) {
        err = visd_gpu_arena_alloc(r->arena, (uint64_t)block->vertices * 12, &made.vertices);
        if (err == VISD_ERR_OK) err = visd_gpu_arena_alloc(r->arena, (uint64_t)all * 12, &made.indices);
        if (err == VISD_ERR_OK) err = visd_upload_write(r->upload, made.vertices.buffer, made.vertices.offset, block + 1, (uint64_t)block->vertices * 12);
        if (err == VISD_ERR_OK) err = upload_triangles(r, block, parts, count, &made.indices);
        entry.vertices = made.vertices.address;
        entry.indices = made.indices.address;
    }
    if (err == VISD_ERR_OK) err = visd_upload_write(r->upload, r->meshes.buffer, slot * sizeof(entry), &entry, sizeof(entry));
    r->mesh[slot] = made;
    if (err != VISD_ERR_OK) visd_residence_mesh_remove(r, slot);
error:
    free(parts);
    if (err != VISD_ERR_OK) snprintf(why, size, "a mesh of %u vertices and %u triangles: %s on the device", block->vertices, block->indices / 3, visd_err_text(err));
    return err;
}

void visd_residence_mesh_remove(struct visd_residence *r, uint32_t slot)
{
    if (slot >= r->mesh_capacity || !r->mesh[slot].used) return;
    visd_gpu_arena_free(r->arena, &r->mesh[slot].vertices);
    visd_gpu_arena_free(r->arena, &r->mesh[slot].indices);
    r->mesh[slot].used = false;
}

enum visd_err visd_residence_stage(struct visd_residence *r, const struct visd_object_change *changes, uint32_t count)
{
    uint64_t have = r->staged.bytes / sizeof(*changes), need = r->staged_count + count;
    enum visd_err err = VISD_ERR_OK;
    if (need > have) err = grow(r, &r->staged, grown(have, need, 4096) * sizeof(*changes));
    if (err == VISD_ERR_OK)
        err = visd_upload_write(r->upload, r->staged.buffer, r->staged_count * sizeof(*changes), changes, (uint64_t)count * sizeof(*changes));
    if (err == VISD_ERR_OK) r->staged_count += count;
    if (r->staged_err == VISD_ERR_OK) r->staged_err = err;
    return err;
}

enum visd_err visd_residence_apply(struct visd_residence *r, const struct cull_pipelines *pipelines, uint64_t revision, uint32_t slots)
{
    VkCommandBuffer commands;
    enum visd_err err = r->staged_err;
    if (err == VISD_ERR_OK) err = need_slots(r, slots);
    if (err == VISD_ERR_OK) err = visd_upload_flush(r->upload);
    if (err == VISD_ERR_OK && r->staged_count) {
        err = visd_gpu_begin(r->gpu, &commands);
        if (err == VISD_ERR_OK) {
            struct { uint64_t bounds, info, fine, changes; uint32_t count; } push = { /* push_block of shaders/scatter.comp.glsl */
                r->bounds.address, r->info.address, r->fine.address, r->staged.address, (uint32_t)r->staged_count};
            visd_gpu_barrier(r->gpu, commands);
            visd_gpu_dispatch(r->gpu, commands, &pipelines->all[CULL_SCATTER], &push, sizeof(push), (r->staged_count + GROUP - 1) / GROUP);
            visd_gpu_barrier(r->gpu, commands);
            err = visd_gpu_submit(r->gpu, NULL);
        }
    }
    r->staged_count = 0;
    r->staged_err = VISD_ERR_OK;
    if (r->staged.bytes > UINT64_C(16) << 20) visd_gpu_buffer_retire(r->gpu, &r->staged);
    if (err != VISD_ERR_OK) return err;
    r->revision = revision;
    r->slots = slots;
    return VISD_ERR_OK;
}
