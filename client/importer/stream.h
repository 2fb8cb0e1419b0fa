/* What visctl-import tells visctl: a private stream of records, on a pipe between two programs of one build.
 *
 *     head     VISD_STREAM_MAGIC, 8 bytes, its last byte being the version
 *     records  struct visd_stream_record, then as many bytes as it says
 *     ...      the last is END, or FAIL; nothing follows it
 *
 * Numbers are the machine's own: nothing of this is kept. Rows are numbered from 0 in the order in which they come, meshes and groups alike, and
 * only name earlier ones. Lengths are metres and +Y is up once all transforms are applied. Whoever reads believes nothing: the writer has read a
 * stranger's file with a library that such files can break. */
#ifndef VISD_IMPORTER_STREAM_H
#define VISD_IMPORTER_STREAM_H

#include <stdint.h>

#define VISD_STREAM_MAGIC "VISDIMP\1"
#define VISD_STREAM_NONE UINT32_MAX
#define VISD_STREAM_NAME_BYTES 4096u /* more is cut by the writer, and refused by the reader */
#define VISD_STREAM_TEXT_BYTES 1024u

/* The descriptor of the program on which the stream goes out. */
#define VISD_STREAM_FD 3

enum visd_stream_tag {
    VISD_STREAM_MESH = 1, /* struct visd_stream_mesh, positions, indices, parts (struct visd_model_part) */
    VISD_STREAM_GROUP,    /* struct visd_stream_group, name */
    VISD_STREAM_OBJECT,   /* struct visd_stream_object, name */
    VISD_STREAM_NOTE,     /* a text for people */
    VISD_STREAM_FAIL,     /* struct visd_stream_fail, a text for people */
    VISD_STREAM_END,      /* struct visd_stream_end */
};

struct visd_stream_record {
    uint32_t tag, zero;
    uint64_t bytes; /* that follow, of this record */
};

struct visd_stream_mesh {
    uint32_t vertices, index_count, part_count, zero;
};

struct visd_stream_group {
    uint32_t parent, zero; /* VISD_STREAM_NONE: the scene itself */
    double transform[12];  /* to the parent, as model/transform.h has it */
};

struct visd_stream_object {
    uint32_t mesh, group; /* or VISD_STREAM_NONE */
    uint32_t flags;       /* enum visd_model_flag */
    float margin;
    double transform[12]; /* to the group */
    double min[3], max[3]; /* local; counts where there is no mesh */
};

struct visd_stream_fail {
    uint32_t err, zero; /* enum visd_err, not OK */
};

struct visd_stream_end {
    uint32_t meshes, groups, objects, zero;
    uint64_t triangles; /* of all meshes, each once */
};

#endif
