/* Names of objects and groups: bytes in pieces of 1 MiB, named by references that are copied about. Internal to
 * daemon/scene.
 *
 * Names are never changed in place: a new name is put, the old one dropped once nothing can want it back. When more
 * is dropped than alive, the owner copies the living into fresh pieces. */
#ifndef VISD_SCENE_NAMES_H
#define VISD_SCENE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_NONE 0u /* the empty name takes no space */

struct names {
    char **piece;
    size_t pieces, room;
    size_t fill;          /* bytes used in the last piece */
    uint64_t live, dead;  /* bytes */
};

void names_finish(struct names *n);
/* A reference: place << 16 | length. False: memory is short. */
bool names_put(struct names *n, const char *bytes, uint32_t length, uint64_t *ref);
void names_drop(struct names *n, uint64_t ref);
const char *names_get(const struct names *n, uint64_t ref, uint32_t *length); /* "" for NAME_NONE */
bool names_wasteful(const struct names *n);
size_t names_bytes(const struct names *n);

/* UTF-8 without NUL, surrogates, overlong forms or anything past U+10FFFF. */
bool names_are_utf8(const char *bytes, uint64_t n);

#endif
