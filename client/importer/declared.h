/* What a file declares, counted by a look of our own at its bytes, to be held against what the library made of them: it drops, invents and
 * misreads without a word. One thread. */
#ifndef VISD_IMPORTER_DECLARED_H
#define VISD_IMPORTER_DECLARED_H

#include <stdbool.h>
#include <stdint.h>

struct aiScene;
struct import;

struct declared {
    uint64_t polygons, corners, lines, points; /* corners: of all polygons */
    double min[3], max[3];                     /* of all vertices that they name, in the file's own coordinates */
    bool boxed;                                /* there is one at least */
};

void declared_vertex(struct declared *d, const double at[3]);

/* Refuses the file if what the library read is not this. Only for formats in which nothing is moved or shown twice. */
void declared_check(struct import *im, const struct declared *d);

/* Nodes that show something, and the corners of all faces that they show. */
void declared_count_placed(const struct aiScene *scene, uint64_t *objects, uint64_t *corners);

#endif
