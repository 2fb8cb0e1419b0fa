/* A GLB while it is put together: what its writers (glb.c, archive/) have in common.
 *
 * The JSON comes before the data and is not known before the end. So data and the long JSON arrays go to unnamed files beside the
 * target, and are put together at the end; the file appears under its name only when it is finished. Writing faults are
 * looked for at the end, or by glb_file_good. One thread. */
#ifndef VISD_VISCTL_EXPORT_GLB_FILE_H
#define VISD_VISCTL_EXPORT_GLB_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../model/why.h"

enum glb_stream { GLB_JSON, GLB_BIN, GLB_NODES, GLB_MESHES, GLB_ACCESSORS, GLB_VIEWS, GLB_MORE, GLB_SPARE, GLB_STREAMS };

struct glb_file {
    char *path, *part;
    FILE *stream[GLB_STREAMS]; /* MORE: what goes into a chunk of its own behind the data; SPARE: the writer's own */
    uint64_t bin_bytes;
    uint32_t accessors, views;
};

/* Refuses what is no plain file, a device or a pipe: it must not be replaced by one; and names that end in .gltf (BAD_VALUE). Close takes
 * zeroed and half-open files. */
enum visd_err glb_file_open(struct glb_file *file, const char *path, struct visd_why *why);
void glb_file_close(struct glb_file *file);
bool glb_file_good(const struct glb_file *file);
/* The refusal for when it is not: errno's text. */
enum visd_err glb_file_fault(const struct glb_file *file, struct visd_why *why);

/* Data, filled up to four bytes; where it begins. */
uint64_t glb_put_bin(struct glb_file *file, const void *data, size_t bytes);
/* Numbers of the view or accessor that is put. */
uint32_t glb_put_view(struct glb_file *file, uint64_t at, uint64_t bytes, bool indices);
uint32_t glb_put_positions(struct glb_file *file, uint32_t view, uint32_t vertices, const float min[3], const float max[3]);
uint32_t glb_put_indices(struct glb_file *file, uint32_t view, uint64_t at, bool narrow, uint32_t count);

/* JSON text. */
extern const char *const glb_materials; /* four: number 1 for both sides + 2 for see-through */
void glb_write_string(FILE *out, const char *text);
void glb_write_matrix(FILE *out, const double transform[12]); /* nothing for the identity */
/* All of a stream, behind what another holds. */
void glb_write_stream(struct glb_file *file, enum glb_stream from, enum glb_stream to);

/* Puts it together: JSON, which must have been written by now, data if there is any, and MORE, if anything was written to it, as a chunk of type
 * more, its last eight bytes a digest of the file up to there. */
enum visd_err glb_file_finish(struct glb_file *file, uint32_t more, struct visd_why *why);

#endif
