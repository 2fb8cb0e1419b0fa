/* A file of a user's, read whole. Blocking; any thread. */
#ifndef VISD_VISCTL_MODEL_FILE_H
#define VISD_VISCTL_MODEL_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "why.h"

/* IO: it cannot be read, or is no plain file (a pipe or a device is not waited for). TOO_BIG: more than most bytes. *out is for free,
 * also on failure. */
enum visd_err visd_file_read(const char *path, uint64_t most, unsigned char **out, size_t *size, struct visd_why *why);

#endif
