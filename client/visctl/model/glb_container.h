/* The container of GLB: twelve bytes (magic, version 2, length of the file), then chunks: length, type, bytes. All u32, little-endian; lengths
 * are multiples of four. First JSON, then BIN; chunks of other types are passed over by who does not know them. */
#ifndef VISD_VISCTL_MODEL_GLB_CONTAINER_H
#define VISD_VISCTL_MODEL_GLB_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GLB_HEADER_BYTES 12u
#define GLB_MAGIC 0x46546c67u
#define GLB_CHUNK_JSON 0x4e4f534au
#define GLB_CHUNK_BIN 0x004e4942u
#define GLB_CHUNK_VISD 0x44534956u /* a whole scene, as scene export keeps it */

struct glb_header {
    uint32_t version, length; /* as it says: neither is checked */
};

struct glb_chunk {
    uint32_t type, length;
    const unsigned char *bytes;
    size_t left; /* bytes of the file from there on: whoever reads a chunk holds its length against it */
};

/* Pure, any thread. */
bool glb_is(const unsigned char *bytes, size_t size); /* by its magic */
/* False: the file ends inside it. */
bool glb_header_of(const unsigned char *bytes, size_t size, struct glb_header *out);
/* at moves on to its bytes. */
bool glb_chunk_at(const unsigned char *bytes, size_t size, size_t *at, struct glb_chunk *out);

#endif
