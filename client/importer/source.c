/* See source.h. */
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/visctl/model/file.h"

#define MOST_BYTES (4ull << 30)
#define MOST_BESIDE (1ull << 30) /* of a file that it refers to */

struct opened { /* behind an aiFile */
    unsigned char *bytes, *owned;
    size_t size, at;
};

static size_t on_read(struct aiFile *file, char *to, size_t size, size_t count)
{
    struct opened *o = (struct opened *)file->UserData;
    size_t whole = size ? (o->size - o->at) / size : 0;
    if (whole > count) whole = count;
    memcpy(to, o->bytes + o->at, whole * size);
    o->at += whole * size;
    return whole;
}

static size_t on_write(struct aiFile *file, const char *from, size_t size, size_t count)
{
    (void)file, (void)from, (void)size, (void)count;
    return 0;
}

static size_t on_tell(struct aiFile *file)
{
    return ((struct opened *)file->UserData)->at;
}

static size_t on_size(struct aiFile *file)
{
    return ((struct opened *)file->UserData)->size;
}

static void on_flush(struct aiFile *file)
{
    (void)file;
}

static enum aiReturn on_seek(struct aiFile *file, size_t offset, enum aiOrigin origin)
{
    struct opened *o = (struct opened *)file->UserData;
    size_t at = origin == aiOrigin_SET ? offset : origin == aiOrigin_CUR ? o->at + offset : o->size - offset;
    if (at > o->size) return aiReturn_FAILURE;
    o->at = at;
    return aiReturn_SUCCESS;
}

static struct aiFile *on_open(struct aiFileIO *io, const char *path, const char *mode)
{
    struct source *s = (struct source *)io->UserData;
    struct aiFile *file = calloc(1, sizeof(*file));
    struct opened *o = calloc(1, sizeof(*o));
    struct visd_why why;
    bool good = file && o && mode[0] == 'r';
    if (good && strcmp(path, s->alias) == 0) {
        o->bytes = s->bytes;
        o->size = s->size;
    } else if (good) {
        good = visd_file_read(path, MOST_BESIDE, &o->owned, &o->size, &why) == VISD_ERR_OK;
        o->bytes = o->owned;
        if (!good && !*s->missing) snprintf(s->missing, sizeof(s->missing), "%s", path);
    }
    if (!good) {
        if (o) free(o->owned);
        free(o);
        free(file);
        return NULL;
    }
    *file = (struct aiFile){on_read, on_write, on_tell, on_size, on_seek, on_flush, (aiUserData)o};
    return file;
}

static void on_close(struct aiFileIO *io, struct aiFile *file)
{
    (void)io;
    if (!file) return;
    free(((struct opened *)file->UserData)->owned);
    free(file->UserData);
    free(file);
}

enum visd_err source_open(struct source *s, const char *path, const char *ending, struct visd_why *why)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    *s = (struct source){.path = path, .io = {on_open, on_close, (aiUserData)s}};
    enum visd_err err = visd_file_read(path, MOST_BYTES, &s->bytes, &s->size, why);
    if (err != VISD_ERR_OK) return err;
    s->bytes[s->size] = 0;
    if (asprintf(&s->alias, "%.*s%s.%s", folder, path, "the file itself", ending) < 0) return visd_why_memory(why, "the file's name");
    return VISD_ERR_OK;
}
