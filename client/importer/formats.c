/* The formats, a row each: what the library calls its reader, and how its word is checked. */
#include "formats.h"

#include "importer.h"

const struct format formats[] = {
    {"obj", "Wavefront Object Importer", NULL, NULL, NULL},
    {"stl", "Stereolithography (STL) Importer", NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
