/* The door of the glTF reader: files in, a model or a refusal out. */
#include "gltf.h"

#include <stdlib.h>
#include <string.h>

#include "../model/file.h"
#include "gltf_document.h"

enum visd_err visd_gltf_read_memory(struct visd_model *model, const void *bytes, size_t size, const char *name, const char *folder,
                                    const struct visd_gltf_options *options, struct visd_why *why)
{
    struct gltf_document d = {.name = name, .folder = folder, .held = size, .model = model, .why = why};
    enum visd_err err = gltf_document_open(&d, bytes, size);
    if (err == VISD_ERR_OK) err = gltf_scene_read(&d, options ? options->scene : NULL);
    gltf_document_close(&d);
    if (err != VISD_ERR_OK) visd_model_finish(model);
    return err;
}

enum visd_err visd_gltf_read(struct visd_model *model, const char *path, const struct visd_gltf_options *options, struct visd_why *why)
{
    unsigned char *bytes = NULL;
    char *folder = NULL;
    size_t size = 0;
    enum visd_err err = visd_file_read(path, GLTF_MAX_PIECE, &bytes, &size, why);
    if (err == VISD_ERR_OK) {
        const char *slash = strrchr(path, '/');
        folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
        err = folder ? visd_gltf_read_memory(model, bytes, size, path, folder, options, why) : visd_why_memory(why, "the file's name");
    }
    free(folder);
    free(bytes);
    return err;
}
