/* See place.h. */
#include "place.h"

#include <math.h>

#define ROUNDED 1e-12 /* |determinant| / product of the columns' lengths below which it is 0 but for rounding */

void place_split(double x, float *hi, float *lo)
{
    *hi = (float)x;
    *lo = (float)(x - (double)*hi);
}

static uint32_t turn_of(const double t[12])
{
    double determinant = t[0] * (t[5] * t[10] - t[6] * t[9]) - t[1] * (t[4] * t[10] - t[6] * t[8]) + t[2] * (t[4] * t[9] - t[5] * t[8]), lengths = 1;
    for (int j = 0; j < 3; j++) lengths *= sqrt(t[j] * t[j] + t[4 + j] * t[4 + j] + t[8 + j] * t[8 + j]);
    if (fabs(determinant) <= ROUNDED * lengths) return VISD_OBJECT_FLATTENED;
    return determinant < 0 ? VISD_OBJECT_MIRRORED : 0;
}

void place_object(struct visd_object_change *c, const double transform[12])
{
    for (int i = 0; i < 3; i++) {
        const double *row = &transform[4 * i];
        place_split(row[3], &c->bounds.centre_hi[i], &c->bounds.centre_lo[i]);
        for (int j = 0; j < 3; j++) place_split(row[j], &c->bounds.row[i].linear[j], &c->fine.linear_lo[i][j]);
    }
    c->bounds.flags |= turn_of(transform);
}
