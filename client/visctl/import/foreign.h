/* Reads the files of other programs (OBJ, STL, PLY, 3MF, FBX, DAE, IFC) through a child process, visctl-import.
 *
 * The library that reads them crashes on some files: the child has limits of its own, and whatever becomes of it costs this
 * process a refusal. The child lies beside this program's own executable. Blocking; forks, so before any other thread is started. */
#ifndef VISD_VISCTL_IMPORT_FOREIGN_H
#define VISD_VISCTL_IMPORT_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "../model/model.h"

struct visd_foreign_options {
    double metres_per_unit; /* 0: what the file says; where its format cannot say, 1 */
    char up;                /* 'x', 'y', 'z'; 0: what the file says; where its format cannot say, 'y' */
    bool partial;           /* load what can be read of a file that cannot be read whole */
    uint64_t memory_mib, seconds; /* what the child may take; 0: as below */
};

#define VISD_FOREIGN_MEMORY_MIB 8192
#define VISD_FOREIGN_SECONDS 600

/* The formats, as their endings, NULL at the end. */
extern const char *const visd_foreign_formats[];
/* The format that a file's name ends with, in any case; NULL: it is none of them. */
const char *visd_foreign_format_of(const char *path);

/* format: one of visd_foreign_formats. model must be initialised and empty; on failure it is left so. Errors: IO (the file cannot be read, the
 * importer cannot be started), BAD_VALUE (a fault in the file, or a crash), NOT_SUPPORTED (what is not read rightly), TOO_BIG (a limit),
 * NO_MEMORY, BAD_MESSAGE (the importer's answer made no sense). */
enum visd_err visd_foreign_read(struct visd_model *model, const char *path, const char *format, const struct visd_foreign_options *options,
                                struct visd_why *why);

#endif
