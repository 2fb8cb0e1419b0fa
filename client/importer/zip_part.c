/* See zip_part.h. Without zip64: archives of 4 GiB are not read here. */
#include "zip_part.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define END_BYTES 22u
#define ENTRY_BYTES 46u
#define LOCAL_BYTES 30u

static uint32_t u16(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static uint32_t u32(const unsigned char *at)
{
    return u16(at) | u16(at + 2) << 16;
}

bool zip_parts(const unsigned char *bytes, size_t size, void (*seen)(void *context, const struct zip_part *part), void *context)
{
    size_t end = size < END_BYTES ? 0 : size - END_BYTES + 1;
    while (end > 0 && size - end < END_BYTES + 65535u && memcmp(bytes + end - 1, "PK\5\6", 4) != 0) end--;
    if (end == 0 || memcmp(bytes + end - 1, "PK\5\6", 4) != 0) return false;
    uint32_t count = u16(bytes + end - 1 + 10);
    size_t at = u32(bytes + end - 1 + 16);
    for (uint32_t i = 0; i < count; i++) {
        if (at > size || size - at < ENTRY_BYTES || memcmp(bytes + at, "PK\1\2", 4) != 0) return false;
        const unsigned char *e = bytes + at;
        struct zip_part part = {.name = (const char *)e + ENTRY_BYTES, .name_length = u16(e + 28), .packed = u32(e + 20), .size = u32(e + 24),
                                .method = u16(e + 10), .crc = u32(e + 16), .at = u32(e + 42)};
        size_t whole = ENTRY_BYTES + part.name_length + u16(e + 30) + u16(e + 32);
        if (size - at < whole) return false;
        seen(context, &part);
        at += whole;
    }
    return true;
}

char *zip_unpack(const unsigned char *bytes, size_t size, const struct zip_part *part, uint64_t most)
{
    if (part->size > most || part->at > size || size - part->at < LOCAL_BYTES) return NULL;
    const unsigned char *local = bytes + part->at;
    size_t from = part->at + LOCAL_BYTES + u16(local + 26) + u16(local + 28);
    if (from > size || size - from < part->packed || (part->method == 0 && part->packed != part->size)) return NULL;
    char *out = malloc(part->size + 1);
    if (!out) return NULL;
    out[part->size] = 0;
    if (part->method == 0) memcpy(out, bytes + from, part->size);
    z_stream z = {.next_in = (unsigned char *)bytes + from, .avail_in = (uInt)part->packed,
                  .next_out = (unsigned char *)out, .avail_out = (uInt)part->size};
    bool good = part->method == 8 && inflateInit2(&z, -MAX_WBITS) == Z_OK;
    if (good) {
        good = inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == part->size;
        inflateEnd(&z);
    }
    good |= part->method == 0;
    if (good && crc32_z(0, (const unsigned char *)out, part->size) == part->crc) return out;
    free(out);
    return NULL;
}
