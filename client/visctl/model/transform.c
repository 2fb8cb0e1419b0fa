/* Rows of doubles; see transform.h. */
#include "transform.h"

#include <math.h>
#include <string.h>

void visd_transform_identity(double out[12])
{
    static const double identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    memcpy(out, identity, sizeof(identity));
}

void visd_transform_compose(double out[12], const double a[12], const double b[12])
{
    double r[12];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            r[i * 4 + j] = a[i * 4] * b[j] + a[i * 4 + 1] * b[4 + j] + a[i * 4 + 2] * b[8 + j] + (j == 3 ? a[i * 4 + 3] : 0);
    memcpy(out, r, sizeof(r));
}

bool visd_transform_from_trs(double out[12], const double t[3], const double rotation[4], const double s[3])
{
    double length = sqrt(rotation[0] * rotation[0] + rotation[1] * rotation[1] + rotation[2] * rotation[2] +
                         rotation[3] * rotation[3]);
    if (!(length > 1e-6) || !isfinite(length)) return false;
    double x = rotation[0] / length, y = rotation[1] / length, z = rotation[2] / length, w = rotation[3] / length;
    const double r[3][3] = {
        {1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)},
        {2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)},
        {2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)},
    };
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) out[i * 4 + j] = r[i][j] * s[j];
        out[i * 4 + 3] = t[i];
    }
    return true;
}

bool visd_transform_from_matrix(double out[12], const double m[16])
{
    if (m[3] != 0 || m[7] != 0 || m[11] != 0 || m[15] != 1) return false;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) out[i * 4 + j] = m[j * 4 + i];
    return true;
}

void visd_transform_point(double out[3], const double m[12], const double p[3])
{
    double r[3];
    for (int i = 0; i < 3; i++) r[i] = m[i * 4] * p[0] + m[i * 4 + 1] * p[1] + m[i * 4 + 2] * p[2] + m[i * 4 + 3];
    memcpy(out, r, sizeof(r));
}

double visd_transform_determinant(const double m[12])
{
    return m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) + m[2] * (m[4] * m[9] - m[5] * m[8]);
}

bool visd_transform_finite(const double m[12])
{
    for (int i = 0; i < 12; i++)
        if (!isfinite(m[i])) return false;
    return true;
}

void visd_transform_grow_box(double min[3], double max[3], const double m[12], const double box_min[3], const double box_max[3])
{
    for (int i = 0; i < 3; i++) {
        double low = m[i * 4 + 3], high = low;
        for (int j = 0; j < 3; j++) {
            double a = m[i * 4 + j] * box_min[j], b = m[i * 4 + j] * box_max[j];
            low += fmin(a, b);
            high += fmax(a, b);
        }
        min[i] = fmin(min[i], low);
        max[i] = fmax(max[i], high);
    }
}
