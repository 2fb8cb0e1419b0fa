/* See glb_container.h. */
#include "glb_container.h"

#define CHUNK_HEADER_BYTES 8u

static uint32_t u32_at(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

bool glb_is(const unsigned char *bytes, size_t size)
{
    return size >= 4 && u32_at(bytes) == GLB_MAGIC;
}

bool glb_header_of(const unsigned char *bytes, size_t size, struct glb_header *out)
{
    if (size < GLB_HEADER_BYTES) return false;
    *out = (struct glb_header){.version = u32_at(bytes + 4), .length = u32_at(bytes + 8)};
    return true;
}

bool glb_chunk_at(const unsigned char *bytes, size_t size, size_t *at, struct glb_chunk *out)
{
    const unsigned char *header = bytes + *at;
    if (size - *at < CHUNK_HEADER_BYTES) return false;
    *at += CHUNK_HEADER_BYTES;
    *out = (struct glb_chunk){.length = u32_at(header), .type = u32_at(header + 4), .bytes = bytes + *at, .left = size - *at};
    return true;
}
