/* Memory for the codec: the growing buffer that is encoded into, and the arena that lists are decoded into. */
#include <stdlib.h>

#include "codec.h"

enum visd_err visd_buf_reserve(struct visd_buf *buf, size_t more)
{
    size_t want, capacity;
    uint8_t *at;
    if (more <= buf->capacity - buf->size) return VISD_ERR_OK;
    if (more > SIZE_MAX / 4 - buf->size) return VISD_ERR_NO_MEMORY;
    want = buf->size + more;
    capacity = buf->capacity + buf->capacity / 2;
    if (capacity < want) capacity = want;
    if (capacity < 256) capacity = 256;
    at = realloc(buf->at, capacity);
    if (!at) return VISD_ERR_NO_MEMORY;
    buf->at = at;
    buf->capacity = capacity;
    return VISD_ERR_OK;
}

enum visd_err visd_buf_append(struct visd_buf *buf, const void *bytes, size_t size)
{
    enum visd_err err = visd_buf_reserve(buf, size);
    if (err != VISD_ERR_OK) return err;
    if (size) memcpy(buf->at + buf->size, bytes, size);
    buf->size += size;
    return VISD_ERR_OK;
}

void visd_buf_finish(struct visd_buf *buf)
{
    free(buf->at);
    *buf = (struct visd_buf){0};
}

/* Blocks form a list, the newest first; 'used' counts in the newest. */
struct visd_arena_block {
    struct visd_arena_block *next;
    size_t size;
    _Alignas(max_align_t) unsigned char bytes[];
};

#define BLOCK_SIZE ((size_t)16 << 10)

void *visd_arena_take(struct visd_arena *arena, size_t count, size_t size)
{
    const size_t align = _Alignof(max_align_t);
    size_t bytes;
    void *at;
    if (size && count > (SIZE_MAX / 4) / size) return NULL;
    bytes = (count * size + align - 1) / align * align;
    if (!arena->block || bytes > arena->block->size - arena->used) {
        size_t block_size = bytes > BLOCK_SIZE ? bytes : BLOCK_SIZE;
        struct visd_arena_block *block = malloc(sizeof(*block) + block_size);
        if (!block) return NULL;
        block->size = block_size;
        block->next = arena->block;
        arena->block = block;
        arena->used = 0;
    }
    at = arena->block->bytes + arena->used;
    arena->used += bytes;
    memset(at, 0, bytes);
    return at;
}

/* Keeps the oldest block if it is of the usual size: a peer's largest message should not stay with us. */
void visd_arena_reset(struct visd_arena *arena)
{
    struct visd_arena_block *block = arena->block, *next;
    for (; block; block = next) {
        next = block->next;
        if (!next && block->size == BLOCK_SIZE) break;
        free(block);
    }
    arena->block = block;
    arena->used = 0;
}

void visd_arena_finish(struct visd_arena *arena)
{
    for (struct visd_arena_block *block = arena->block, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    *arena = (struct visd_arena){0};
}
