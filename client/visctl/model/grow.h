/* Arrays that grow by a row at a time. Any thread. */
#ifndef VISD_VISCTL_MODEL_GROW_H
#define VISD_VISCTL_MODEL_GROW_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The rows, moved if need be, with room for one more than count: room doubles. NULL when memory or numbers run out; then
 * the rows are as they were. rows NULL and room 0: none yet. */
static inline void *visd_grown(void *rows, uint32_t count, uint32_t *room, size_t row_bytes)
{
    if (count < *room) return rows;
    uint32_t more = *room ? *room * 2 : 64;
    void *moved = more > *room ? realloc(rows, more * row_bytes) : NULL;
    if (moved) *room = more;
    return moved;
}

#endif
