/* Cuts polygons into triangles. Pure; any thread. */
#ifndef VISD_IMPORTER_POLYGON_H
#define VISD_IMPORTER_POLYGON_H

#include <stdbool.h>
#include <stdint.h>

struct polygon_room { /* working memory, kept from one polygon to the next; zeroed: none yet */
    double *flat;
    uint32_t *next;
    uint32_t corners;
};
void polygon_room_finish(struct polygon_room *room);

/* The count - 2 triangles of a polygon of 3 or more corners, as places in corners, wound as it is. corners: places in positions (x y z each, all finite).
 * True: they cover what lies inside it, and nothing else. False: it crosses itself, or is not flat enough to say what lies inside; then the
 * triangles are a fan, touch every corner, and may cover too much or too little. Without memory false, too: out is then a fan. */
bool polygon_cut(struct polygon_room *room, const float *positions, const uint32_t *corners, uint32_t count, uint32_t *out);

#endif
