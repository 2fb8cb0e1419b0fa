/* The door of the glTF reader: files in, a model or a refusal out. */
#include "gltf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static enum visd_err read_whole(const char *path, unsigned char **out, size_t *size, struct visd_why *why)
{
    *out = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return visd_why(why, VISD_ERR_IO, "%.200s: %s", path, strerror(errno));
    struct stat info;
    enum visd_err err = VISD_ERR_OK;
    size_t n = 0;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        err = visd_why(why, VISD_ERR_IO, "%.200s: not a plain file", path);
    } else if ((unsigned long long)info.st_size > GLTF_MAX_PIECE) {
        err = visd_why(why, VISD_ERR_TOO_BIG, "%.200s: larger than %llu bytes", path, GLTF_MAX_PIECE);
    } else if (!(*out = malloc((size_t)info.st_size + 1))) {
        err = visd_why_memory(why, "the file");
    } else {
        ssize_t got;
        while (n < (size_t)info.st_size && (got = read(fd, *out + n, (size_t)info.st_size - n)) != 0) {
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) {
                err = visd_why(why, VISD_ERR_IO, "%.200s: %s", path, strerror(errno));
                break;
            }
            n += (size_t)got;
        }
    }
    close(fd);
    *size = n;
    return err;
}

enum visd_err visd_gltf_read(struct visd_model *model, const char *path, const struct visd_gltf_options *options, struct visd_why *why)
{
    unsigned char *bytes = NULL;
    char *folder = NULL;
    size_t size = 0;
    enum visd_err err = read_whole(path, &bytes, &size, why);
    if (err == VISD_ERR_OK) {
        const char *slash = strrchr(path, '/');
        folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
        err = folder ? visd_gltf_read_memory(model, bytes, size, path, folder, options, why) : visd_why_memory(why, "the file's name");
    }
    free(folder);
    free(bytes);
    return err;
}
