/* The records of an archive's own chunk; archive.h says how they follow each other. Internal to archive/. */
#ifndef VISD_VISCTL_ARCHIVE_ARCHIVE_FORMAT_H
#define VISD_VISCTL_ARCHIVE_ARCHIVE_FORMAT_H

#include <stdint.h>

#define ARCHIVE_MAGIC "visdscn"   /* with its zero: eight bytes */
#define ARCHIVE_VERSION 1u
#define ARCHIVE_DIGEST_BYTES 8u

struct archive_head {
    char magic[8];
    uint32_t version, zero;
    double metres_per_unit;
    uint64_t meshes, groups, objects;
    uint64_t name_bytes; /* filled up */
};

struct archive_mesh {
    uint64_t id;
    uint64_t at; /* byte of BIN; a multiple of four */
    uint32_t vertices, triangles;
    uint32_t parts;
    uint32_t zero;
    double deviation;
};

struct archive_group {
    uint64_t id, parent;
    double transform[12];
    uint32_t flags;
    uint32_t name_at, name_bytes; /* of names; without the zero */
    uint32_t zero;
};

struct archive_object {
    uint64_t id, mesh, group;
    double box[6], transform[12], cost;
    uint32_t flags, layers, batch_key;
    float margin;
    uint32_t draw[5];
    uint32_t name_at, name_bytes;
    uint32_t given; /* enum visd_client_given; what was not given is zero */
};

_Static_assert(sizeof(struct archive_head) == 56, "file layout");
_Static_assert(sizeof(struct archive_mesh) == 40, "file layout");
_Static_assert(sizeof(struct archive_group) == 128, "file layout");
_Static_assert(sizeof(struct archive_object) == 224, "file layout");

#endif
