/* The file that is read, in memory, and the way in which the library gets at it and at what it refers to. One thread.
 *
 * The library sees the file under a name with the ending of its format, so that it takes the reader that was asked for, and the same bytes that the
 * checks have seen. Other files that it asks for (materials) are found beside it, plain files only. */
#ifndef VISD_IMPORTER_SOURCE_H
#define VISD_IMPORTER_SOURCE_H

#include <assimp/cfileio.h>
#include <stdbool.h>
#include <stddef.h>

#include "client/visctl/model/why.h"

struct source {
    const char *path;
    unsigned char *bytes; /* a zero follows them */
    size_t size;
    char *alias;          /* what the library knows it as */
    char missing[200];    /* the first file that it asked for and that is not there, "" for none */
    struct aiFileIO io;
};

/* IO, TOO_BIG, NO_MEMORY. Never closed: the process ends with it. */
enum visd_err source_open(struct source *s, const char *path, const char *ending, struct visd_why *why);

#endif
