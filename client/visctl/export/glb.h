/* Writes a scene as one GLB file, as it is told.
 *
 * Runs of equal things become one node with EXT_mesh_gpu_instancing, so ten million objects stay a file of a few hundred
 * megabytes; read again, the file gives the same ids, transforms and meshes. The file appears under its name only when it is finished. What
 * glTF cannot say (objects without a mesh, unknown sides, boxes of their own) is refused. One thread. */
#ifndef VISD_VISCTL_EXPORT_GLB_H
#define VISD_VISCTL_EXPORT_GLB_H

#include "../model/sink.h"

enum visd_err visd_glb_create(struct visd_sink **out, const char *path, struct visd_why *why);
/* Unfinished: nothing is left behind. NULL is fine. */
void visd_glb_destroy(struct visd_sink *sink);

#endif
