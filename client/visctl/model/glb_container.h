/* The container of GLB: twelve bytes (magic, version 2, length of the file), then chunks: length, type, bytes. All u32, little-endian; lengths
 * are multiples of four. First JSON, then BIN; chunks of other types are passed over by who does not know them. */
#ifndef VISD_VISCTL_MODEL_GLB_CONTAINER_H
#define VISD_VISCTL_MODEL_GLB_CONTAINER_H

#define GLB_MAGIC 0x46546c67u
#define GLB_CHUNK_JSON 0x4e4f534au
#define GLB_CHUNK_BIN 0x004e4942u
#define GLB_CHUNK_VISD 0x44534956u /* a whole scene, as scene export keeps it */

#endif
