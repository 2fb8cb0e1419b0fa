/* Growing arrays: makes room for at least 'need' elements, doubling. Internal to daemon/scene. */
#ifndef VISD_SCENE_GROW_H
#define VISD_SCENE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* False: memory is short, the array is as it was. array is the address of the pointer to it. */
static inline bool grow(void *array, size_t *room, size_t need, size_t size)
{
    void **p = array;
    size_t n = *room ? *room : 16;
    if (need <= *room)
        return true;
    while (n < need)
        n *= 2;
    void *q = n <= SIZE_MAX / 2 / size ? realloc(*p, n * size) : NULL;
    if (!q)
        return false;
    *p = q;
    *room = n;
    return true;
}

#endif
