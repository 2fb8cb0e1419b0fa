/* Buffers, and ranges in large buffers.
 *
 * A buffer has its own allocation. Meshes are too many for that (drivers allow some 4,096 allocations), so they live as
 * ranges in 64 MiB chunks: each chunk keeps its free ranges sorted by offset, takes the first that fits and joins neighbours
 * when one comes back. What the device may still be using is kept aside until the timeline has passed it. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static const VkMemoryPropertyFlags wanted[][3] = { /* best first; 0 ends */
    [VISD_GPU_DEVICE] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0, 0},
    [VISD_GPU_UPLOAD] = {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, 0, 0},
    [VISD_GPU_READBACK] = {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                           VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, 0},
};

static bool memory_type(const struct visd_gpu *gpu, enum visd_gpu_where where, uint32_t allowed, uint32_t *out)
{
    for (size_t w = 0; w < 3 && wanted[where][w]; w++) {
        for (uint32_t i = 0; i < gpu->memory.memoryTypeCount; i++) {
            if (!(allowed & (1u << i))) continue;
            if ((gpu->memory.memoryTypes[i].propertyFlags & wanted[where][w]) != wanted[where][w]) continue;
            *out = i;
            return true;
        }
    }
    return false;
}

enum visd_err visd_gpu_buffer_create(struct visd_gpu *gpu, enum visd_gpu_where where, uint64_t bytes, struct visd_gpu_buffer *out)
{
    enum visd_err err = VISD_ERR_OK;
    struct visd_gpu_buffer made = {.bytes = bytes};
    if (gpu->lost) return VISD_ERR_DEVICE_LOST;
    VkBufferCreateInfo create = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                 .size = bytes,
                                 .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                          VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
    GPU_TRY(vkCreateBuffer(gpu->device, &create, NULL, &made.buffer));
    VkMemoryRequirements requirements;
    vkGetBufferMemoryRequirements(gpu->device, made.buffer, &requirements);
    VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &flags, .allocationSize = requirements.size};
    if (!memory_type(gpu, where, requirements.memoryTypeBits, &allocate.memoryTypeIndex)) {
        err = VISD_ERR_NO_MEMORY;
        goto error;
    }
    GPU_TRY(vkAllocateMemory(gpu->device, &allocate, NULL, &made.memory));
    GPU_TRY(vkBindBufferMemory(gpu->device, made.buffer, made.memory, 0));
    if (gpu->memory.memoryTypes[allocate.memoryTypeIndex].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT && where != VISD_GPU_DEVICE)
        GPU_TRY(vkMapMemory(gpu->device, made.memory, 0, VK_WHOLE_SIZE, 0, &made.host));
    VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = made.buffer};
    made.address = vkGetBufferDeviceAddress(gpu->device, &address);
    gpu->bytes += bytes;
    *out = made;
    return VISD_ERR_OK;
error:
    vkDestroyBuffer(gpu->device, made.buffer, NULL);
    vkFreeMemory(gpu->device, made.memory, NULL);
    return err;
}

enum visd_err visd_gpu_buffer_grow(struct visd_gpu *gpu, struct visd_gpu_buffer *buffer, uint64_t bytes)
{
    struct visd_gpu_buffer larger;
    VkCommandBuffer commands;
    if (buffer->bytes >= bytes) return VISD_ERR_OK;
    bytes = (bytes + 3) / 4 * 4; /* fills begin and end at whole words */
    enum visd_err err = visd_gpu_buffer_create(gpu, VISD_GPU_DEVICE, bytes, &larger);
    if (err != VISD_ERR_OK) return err;
    err = visd_gpu_begin(gpu, &commands);
    if (err == VISD_ERR_OK) {
        visd_gpu_barrier(gpu, commands);
        if (buffer->bytes) vkCmdCopyBuffer(commands, buffer->buffer, larger.buffer, 1, &(VkBufferCopy){.size = buffer->bytes});
        vkCmdFillBuffer(commands, larger.buffer, buffer->bytes, VK_WHOLE_SIZE, 0);
        visd_gpu_barrier(gpu, commands);
        err = visd_gpu_submit(gpu, NULL);
    }
    if (err != VISD_ERR_OK) {
        visd_gpu_buffer_destroy(gpu, &larger);
        return err;
    }
    visd_gpu_buffer_retire(gpu, buffer);
    *buffer = larger;
    return VISD_ERR_OK;
}

void visd_gpu_buffer_destroy(struct visd_gpu *gpu, struct visd_gpu_buffer *buffer)
{
    if (!buffer->buffer) return;
    vkDestroyBuffer(gpu->device, buffer->buffer, NULL);
    vkFreeMemory(gpu->device, buffer->memory, NULL);
    gpu->bytes -= buffer->bytes;
    memset(buffer, 0, sizeof(*buffer));
}

void visd_gpu_buffer_retire(struct visd_gpu *gpu, struct visd_gpu_buffer *buffer)
{
    if (!buffer->buffer) return;
    if (gpu->retired_count == gpu->retired_capacity) {
        size_t capacity = gpu->retired_capacity ? gpu->retired_capacity * 2 : 16;
        struct gpu_retired *grown = realloc(gpu->retired, capacity * sizeof(*grown));
        if (!grown) { /* no room to remember it: wait for the device instead */
            visd_gpu_wait(gpu, gpu->submitted, UINT64_MAX);
            visd_gpu_buffer_destroy(gpu, buffer);
            return;
        }
        gpu->retired = grown;
        gpu->retired_capacity = capacity;
    }
    gpu->retired[gpu->retired_count++] =
        (struct gpu_retired){.value = gpu->submitted + (gpu->recording >= 0), .buffer = buffer->buffer, .memory = buffer->memory, .bytes = buffer->bytes};
    memset(buffer, 0, sizeof(*buffer));
}

void visd_gpu_collect(struct visd_gpu *gpu)
{
    size_t done = 0;
    while (done < gpu->retired_count && gpu->retired[done].value <= gpu->reached) {
        vkDestroyBuffer(gpu->device, gpu->retired[done].buffer, NULL);
        vkFreeMemory(gpu->device, gpu->retired[done].memory, NULL);
        gpu->bytes -= gpu->retired[done].bytes;
        done++;
    }
    if (!done) return;
    gpu->retired_count -= done;
    memmove(gpu->retired, gpu->retired + done, gpu->retired_count * sizeof(*gpu->retired));
}

#define ARENA_CHUNK (UINT64_C(64) << 20)
#define ARENA_ALIGN UINT64_C(256)

struct arena_free { uint64_t offset, bytes, value; }; /* value: usable once the timeline has reached it */

struct arena_chunk {
    struct visd_gpu_buffer buffer;
    struct arena_free *free; /* sorted by offset, never overlapping; neighbours with equal value are joined */
    size_t count, capacity;
    uint64_t used; /* bytes in live ranges */
};

struct visd_gpu_arena {
    struct visd_gpu *gpu;
    struct arena_chunk *chunks;
    size_t count;
};

enum visd_err visd_gpu_arena_create(struct visd_gpu *gpu, struct visd_gpu_arena **out)
{
    struct visd_gpu_arena *arena = calloc(1, sizeof(*arena));
    if (!arena) return VISD_ERR_NO_MEMORY;
    arena->gpu = gpu;
    *out = arena;
    return VISD_ERR_OK;
}

void visd_gpu_arena_destroy(struct visd_gpu_arena *arena)
{
    if (!arena) return;
    for (size_t i = 0; i < arena->count; i++) {
        visd_gpu_buffer_destroy(arena->gpu, &arena->chunks[i].buffer);
        free(arena->chunks[i].free);
    }
    free(arena->chunks);
    free(arena);
}

static bool chunk_insert(struct arena_chunk *chunk, size_t at, struct arena_free range)
{
    if (chunk->count == chunk->capacity) {
        size_t capacity = chunk->capacity ? chunk->capacity * 2 : 16;
        struct arena_free *grown = realloc(chunk->free, capacity * sizeof(*grown));
        if (!grown) return false;
        chunk->free = grown;
        chunk->capacity = capacity;
    }
    memmove(chunk->free + at + 1, chunk->free + at, (chunk->count - at) * sizeof(range));
    chunk->free[at] = range;
    chunk->count++;
    return true;
}

static void chunk_remove(struct arena_chunk *chunk, size_t at)
{
    chunk->count--;
    memmove(chunk->free + at, chunk->free + at + 1, (chunk->count - at) * sizeof(*chunk->free));
}

/* Joins entry at with the one after it if they touch; the join may be used when both may. */
static void chunk_join(struct arena_chunk *chunk, size_t at, uint64_t reached)
{
    if (at + 1 >= chunk->count) return;
    struct arena_free *a = &chunk->free[at], *b = &chunk->free[at + 1];
    if (a->offset + a->bytes != b->offset) return;
    if (a->value != b->value && (a->value > reached || b->value > reached)) return;
    a->bytes += b->bytes;
    a->value = a->value > b->value ? a->value : b->value;
    chunk_remove(chunk, at + 1);
}

static bool chunk_take(struct arena_chunk *chunk, uint64_t bytes, uint64_t reached, struct visd_gpu_range *out)
{
    for (size_t i = 0; i < chunk->count; i++) {
        chunk_join(chunk, i, reached);
        struct arena_free *range = &chunk->free[i];
        if (range->bytes < bytes || range->value > reached) continue;
        *out = (struct visd_gpu_range){
            .buffer = chunk->buffer.buffer, .address = chunk->buffer.address + range->offset, .offset = range->offset, .bytes = bytes};
        range->offset += bytes;
        range->bytes -= bytes;
        if (!range->bytes) chunk_remove(chunk, i);
        chunk->used += bytes;
        return true;
    }
    return false;
}

enum visd_err visd_gpu_arena_alloc(struct visd_gpu_arena *arena, uint64_t bytes, struct visd_gpu_range *out)
{
    bytes = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    visd_gpu_reached(arena->gpu, 0);
    for (size_t i = 0; i < arena->count; i++)
        if (chunk_take(&arena->chunks[i], bytes, arena->gpu->reached, out)) return VISD_ERR_OK;

    struct arena_chunk *grown = realloc(arena->chunks, (arena->count + 1) * sizeof(*grown));
    if (!grown) return VISD_ERR_NO_MEMORY;
    arena->chunks = grown;
    struct arena_chunk *chunk = &grown[arena->count];
    memset(chunk, 0, sizeof(*chunk));
    uint64_t size = bytes > ARENA_CHUNK ? bytes : ARENA_CHUNK;
    enum visd_err err = visd_gpu_buffer_create(arena->gpu, VISD_GPU_DEVICE, size, &chunk->buffer);
    if (err != VISD_ERR_OK) return err;
    if (!chunk_insert(chunk, 0, (struct arena_free){.bytes = size})) {
        visd_gpu_buffer_destroy(arena->gpu, &chunk->buffer);
        return VISD_ERR_NO_MEMORY;
    }
    arena->count++;
    chunk_take(chunk, bytes, UINT64_MAX, out);
    return VISD_ERR_OK;
}

void visd_gpu_arena_free(struct visd_gpu_arena *arena, struct visd_gpu_range *range)
{
    struct visd_gpu *gpu = arena->gpu;
    size_t c = 0;
    if (!range->buffer) return;
    while (c < arena->count && arena->chunks[c].buffer.buffer != range->buffer) c++;
    assert(c < arena->count); /* a range is of this arena, and a chunk with live ranges stays */
    struct arena_chunk *chunk = &arena->chunks[c];
    chunk->used -= range->bytes;
    if (!chunk->used) { /* an empty chunk goes back to the device */
        visd_gpu_buffer_retire(gpu, &chunk->buffer);
        free(chunk->free);
        memmove(chunk, chunk + 1, (arena->count - c - 1) * sizeof(*chunk));
        arena->count--;
    } else {
        size_t at = 0;
        while (at < chunk->count && chunk->free[at].offset < range->offset) at++;
        /* When there is no memory to remember the range it stays unused until its chunk is empty. */
        struct arena_free back = {range->offset, range->bytes, gpu->submitted + (gpu->recording >= 0)};
        if (chunk_insert(chunk, at, back)) {
            chunk_join(chunk, at, gpu->reached);
            if (at) chunk_join(chunk, at - 1, gpu->reached);
        }
    }
    memset(range, 0, sizeof(*range));
}
