/* visctl-import FORMAT METRES UP whole|partial FILE: reads a file with assimp, and tells visctl what is in it (stream.h) on descriptor 3.
 *
 * visctl runs it, with limits of its own, since the library can be crashed by files. Nobody else needs it. */
#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/commonMetaData.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "importer.h"

static _Noreturn void end_refused(struct import *im, enum visd_err err, const char *format, va_list args, const char *more)
{
    char text[640];
    vsnprintf(text, sizeof(text), format, args);
    tell_fail(&im->tell, err, "%.200s: %s%s", im->source.path, text, more);
}

void refuse(struct import *im, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    end_refused(im, VISD_ERR_BAD_VALUE, format, args, "");
}

void cannot(struct import *im, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    end_refused(im, VISD_ERR_NOT_SUPPORTED, format, args, "");
}

void lacks(struct import *im, const char *format, ...)
{
    char text[640];
    va_list args;
    va_start(args, format);
    if (!im->partial) end_refused(im, VISD_ERR_NOT_SUPPORTED, format, args, "; --partial loads the rest");
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    tell_note(&im->tell, "not all of it was loaded: %s", text);
}

static void *need(struct import *im, void *block)
{
    if (!block) tell_fail(&im->tell, VISD_ERR_NO_MEMORY, "%s: out of memory; --import-memory allows more", im->source.path);
    return block;
}

void *claim(struct import *im, size_t bytes)
{
    return need(im, calloc(1, bytes ? bytes : 1));
}

void *resize(struct import *im, void *block, size_t bytes)
{
    return need(im, realloc(block, bytes ? bytes : 1));
}

void place(struct import *im, double metres, char up)
{
    const double m = metres;
    const double x[12] = {0, -m, 0, 0, m, 0, 0, 0, 0, 0, m, 0}, y[12] = {m, 0, 0, 0, 0, m, 0, 0, 0, 0, m, 0},
                 z[12] = {m, 0, 0, 0, 0, 0, m, 0, 0, -m, 0, 0};
    memcpy(im->root, up == 'x' ? x : up == 'z' ? z : y, sizeof(im->root));
}

static void on_log(const char *message, char *user)
{
    struct import *im = (struct import *)user;
    if (strncmp(message, "Error", 5) != 0) return;
    const char *text = strstr(message, ": ");
    if (!im->log_errors++)
        snprintf(im->log_error, sizeof(im->log_error), "%.*s", (int)strcspn(text ? text + 2 : message, "\n"), text ? text + 2 : message);
}

static void read_scene(struct import *im)
{
    struct aiLogStream log = {on_log, (char *)im};
    struct aiPropertyStore *settings = aiCreatePropertyStore();
    aiAttachLogStream(&log);
    aiSetImportPropertyInteger(settings, AI_CONFIG_IMPORT_FBX_PRESERVE_PIVOTS, 0);
    aiSetImportPropertyInteger(settings, AI_CONFIG_IMPORT_COLLADA_USE_COLLADA_NAMES, 1);
    im->scene = aiImportFileExWithProperties(im->source.alias, 0, &im->source.io, settings);
    if (!im->scene) {
        const char *said = aiGetErrorString();
        if (strstr(said, "bad_alloc")) need(im, NULL);
        refuse(im, "%.300s", *said ? said : "it cannot be read");
    }
    if (!im->scene->mRootNode || im->scene->mFlags & AI_SCENE_FLAGS_INCOMPLETE)
        refuse(im, "there is nothing to see in it%s%s", *im->log_error ? ": " : "", im->log_error);
    const struct aiMetadata *meta = im->scene->mMetaData;
    for (unsigned i = 0; meta && i < meta->mNumProperties; i++)
        if (strcmp(meta->mKeys[i].data, AI_METADATA_SOURCE_FORMAT) == 0 && meta->mValues[i].mType == AI_AISTRING) {
            const char *reader = ((const struct aiString *)meta->mValues[i].mData)->data;
            if (strcmp(reader, im->format->reader) != 0) refuse(im, "it is not what its name says, .%s; --format says otherwise", im->format->ending);
        }
}

int main(int argc, char **argv)
{
    static struct import im; /* the library's log stream keeps its address */
    struct visd_why why = {{0}};
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("visctl-import " VISD_VERSION);
        return 0;
    }
    if (argc != 6) {
        fprintf(stderr, "visctl-import is run by visctl load; use that\n");
        return 2;
    }
    tell_begin(&im.tell);
    im.format = formats;
    while (im.format->ending && strcmp(im.format->ending, argv[1]) != 0) im.format++;
    im.metres = strtod(argv[2], NULL);
    im.up = argv[3][0] == '-' ? 0 : argv[3][0];
    im.partial = strcmp(argv[4], "partial") == 0;
    im.source.path = argv[5];
    if (!im.format->ending) refuse(&im, "there is no format %s", argv[1]);
    if (im.format->says && (im.metres != 0 || im.up))
        refuse(&im, "--unit and --up are for files that do not say it themselves; a .%s file says %s", im.format->ending, im.format->says);
    enum visd_err err = source_open(&im.source, argv[5], im.format->ending, &why);
    if (err != VISD_ERR_OK) tell_fail(&im.tell, err, "%s", why.text);
    const char *base = strrchr(argv[5], '/');
    im.stem = strdup(base ? base + 1 : argv[5]);
    char *dot = im.stem ? strrchr(im.stem, '.') : NULL;
    if (dot && dot != im.stem) *dot = 0;
    if (!im.stem || !*im.stem) im.stem = "object";
    place(&im, im.metres != 0 ? im.metres : 1, im.up);
    if (im.format->look) im.format->look(&im);
    read_scene(&im);
    if (im.format->check) im.format->check(&im);
    convert(&im);
    tell_end(&im.tell);
}
