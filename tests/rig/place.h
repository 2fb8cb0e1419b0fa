/* Fills a record with a place, as the scene does: positions and matrices split in two floats, and which way round faces turn. */
#ifndef VISD_TESTS_PLACE_H
#define VISD_TESTS_PLACE_H

#include "daemon/segment/record.h"

/* hi: x rounded; lo: what rounding took, rounded. */
void place_split(double x, float *hi, float *lo);

/* Writes centre, linear and linear_lo from a 3x4 transform, row by row, and adds VISD_OBJECT_MIRRORED or _FLATTENED to the flags. */
void place_object(struct visd_object_change *c, const double transform[12]);

#endif
