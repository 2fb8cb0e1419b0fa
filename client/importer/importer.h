/* Inside visctl-import: one file on its way from a library's reader to the stream.
 *
 * The program reads one file, once, and ends; whoever finds that it cannot be read rightly says so with refuse or lacks and needs no way back.
 * Nothing is freed that lasts to the end. One thread. */
#ifndef VISD_IMPORTER_IMPORTER_H
#define VISD_IMPORTER_IMPORTER_H

#include <assimp/scene.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source.h"
#include "tell.h"

struct import {
    struct tell tell;
    struct source source;
    const struct format *format;
    double metres; /* to a unit, as the user says; 0: as the file says */
    char up;       /* the same; 0 */
    char *stem; /* the file's name without its folder and ending: what a thing without a name is called */
    bool partial;  /* what lacks names is only noted */
    double root[12]; /* from the coordinates that the library gives to metres, +Y up */
    const struct aiScene *scene;
    uint64_t log_errors;
    char log_error[200]; /* the first */
    bool see_through; /* something in it is, and what is not known: nothing hides */
    bool (*unsure)(const struct import *im, const struct aiNode *node); /* its shape may be wrong: it is always listed and hides nothing; NULL: none is */
    void *own; /* of the format's functions */
};

struct format {
    const char *ending;
    const char *reader;              /* what the library calls its reader of it */
    const char *says;                /* what a file says of itself: "its unit and its axes"; NULL: nothing */
    void (*look)(struct import *im); /* at the bytes, before the library does; NULL: nothing to see */
    void (*check)(struct import *im); /* what the library made of it; sets root where the format says its unit or its axes; may be NULL */
};
extern const struct format formats[]; /* the last has no ending */

/* It is refused: a fault in the file. */
_Noreturn void refuse(struct import *im, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same: it would be read wrongly. The text says what to do. */
_Noreturn void cannot(struct import *im, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Some of it cannot be read rightly: refused, unless the user takes what can. */
void lacks(struct import *im, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Memory, zeroed, and the same moved to another size; both end the process where there is none. */
void *claim(struct import *im, size_t bytes);
void *resize(struct import *im, void *block, size_t bytes);

/* root from a unit and an axis that points up. */
void place(struct import *im, double metres, char up);

/* Tells the scene: groups, meshes, objects. */
void convert(struct import *im);

#endif
