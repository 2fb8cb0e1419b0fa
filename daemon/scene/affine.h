/* 3x4 matrices in double, row-major, column 3 the translation. Internal to daemon/scene. */
#ifndef VISD_SCENE_AFFINE_H
#define VISD_SCENE_AFFINE_H

#include <string.h>

static inline void affine_identity(double m[12])
{
    memset(m, 0, 12 * sizeof(*m));
    m[0] = m[5] = m[10] = 1;
}

/* out = a * b: b first. out must be neither. */
static inline void affine_multiply(double out[12], const double a[12], const double b[12])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++)
            out[4 * i + j] = a[4 * i] * b[j] + a[4 * i + 1] * b[4 + j] + a[4 * i + 2] * b[8 + j];
        out[4 * i + 3] += a[4 * i + 3];
    }
}

#endif
