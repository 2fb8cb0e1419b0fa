/* The first look at bytes from outside: is this exactly one msgpack value, within limits?
 *
 * msgpack-c has no limits of its own: six bytes make it reserve gigabytes. The walker takes no memory and looks at each header once,
 * holding depth, the number of values, and each count against the bytes that are left (every child costs at least one byte). str and
 * bin are stepped over by their length, so bulk data costs nothing. ext types and the unused byte c1 are refused. What has passed may
 * be read with reader.h without further bounds checks on structure. Safe from any thread. */
#ifndef VISD_PROTO_WALKER_H
#define VISD_PROTO_WALKER_H

#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct visd_walk_limits {
    unsigned depth; /* at most VISD_WALK_DEPTH */
    size_t values;
};

#define VISD_WALK_DEPTH 32u /* what the walker's own stack holds */

/* OK, BAD_MESSAGE or TOO_BIG; then *why (may be NULL) is a constant text and *at (may be NULL) the offset of the trouble. */
enum visd_err visd_walk(const void *bytes, size_t size, const struct visd_walk_limits *limits, const char **why, size_t *at);

#endif
