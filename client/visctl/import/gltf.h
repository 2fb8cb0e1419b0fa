/* Reads glTF 2.0 and GLB files rightly, or refuses them by name.
 *
 * What a file says is turned into a visd_model: node tree to groups and objects with double transforms, every mesh once, primitives to
 * parts with the sides and see-through of their material. Object ids are places in a depth-first walk of the
 * scene, from 0, counting nodes that carry a mesh (one that EXT_mesh_gpu_instancing multiplies: once an instance, in
 * order). Nothing of the file is believed: lengths, counts, indices and numbers are checked, and the refusal names the place.
 * On failure the model is left empty. Blocking; any thread, one at a time for a model. */
#ifndef VISD_VISCTL_IMPORT_GLTF_H
#define VISD_VISCTL_IMPORT_GLTF_H

#include <stddef.h>

#include "../model/model.h"

struct visd_gltf_options {
    const char *scene; /* a scene's name or its number as text; NULL: the default scene, without one the first */
};

/* model must be initialised and empty. Errors: IO (cannot be read), BAD_MESSAGE (not glTF), BAD_VALUE (a fault in the
 * file), NOT_SUPPORTED (a feature that is not read), TOO_BIG (a limit), NOT_FOUND (no such scene), NO_MEMORY. */
enum visd_err visd_gltf_read(struct visd_model *model, const char *path, const struct visd_gltf_options *options, struct visd_why *why);

/* The same from memory. folder is where external buffers are looked for, or NULL: they are refused. name is for texts. */
enum visd_err visd_gltf_read_memory(struct visd_model *model, const void *bytes, size_t size, const char *name, const char *folder,
                                    const struct visd_gltf_options *options, struct visd_why *why);

#endif
