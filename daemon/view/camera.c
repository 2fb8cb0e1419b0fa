/* Cameras of every convention into the one that the worker knows. What is computed is said in view.h; why so:
 *
 * Positions reach the device as differences to the eye, so only the eye's own rounding could hurt far from the origin. The
 * eye is split into two floats, and what the split loses goes into the constant column: the product is then as good as
 * double arithmetic makes it, and relative to distances from the eye, not from the origin. It is split as well, and so are section planes.
 *
 * Depth forms differ only in the depth row, so one row is rewritten: z' = w - z turns [0,1] round; (w - z) / 2 does it for
 * [-1,1]. In double, w - z of a far plane at 10^9 near planes still has seven digits. Infinite projections fall out by themselves. */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "view.h"

#define SINGULAR 1e-14  /* |det| / product of the rows' lengths: below this it is noise */
#define LAST_ROW 1e-9   /* how far the view matrix's last row may be from 0 0 0 1 */

__attribute__((format(printf, 3, 4)))
static enum visd_err refuse(char *why, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (why && size)
        vsnprintf(why, size, format, args);
    va_end(args);
    return VISD_ERR_BAD_VALUE;
}

static bool all_finite(const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

static void split(double x, float *hi, float *lo)
{
    *hi = (float)x;
    *lo = (float)(x - (double)*hi);
}

static double det3(double m[3][3])
{
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
        m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/* Determinant of rows scaled to length 1, by elimination with pivoting; 0 for a row of zeros. */
static double det4_scaled(double m[4][4])
{
    double a[4][4], det = 1;
    for (int i = 0; i < 4; i++) {
        double largest = 0;
        for (int j = 0; j < 4; j++)
            largest = fmax(largest, fabs(m[i][j]));
        if (!(largest > 0))
            return 0;
        double length = 0;
        for (int j = 0; j < 4; j++)
            length += m[i][j] / largest * (m[i][j] / largest);
        for (int j = 0; j < 4; j++)
            a[i][j] = m[i][j] / largest / sqrt(length);
    }
    for (int k = 0; k < 4; k++) {
        int pivot = k;
        for (int i = k + 1; i < 4; i++)
            if (fabs(a[i][k]) > fabs(a[pivot][k]))
                pivot = i;
        if (a[pivot][k] == 0)
            return 0;
        for (int j = 0; pivot != k && j < 4; j++) {
            double t = a[k][j];
            a[k][j] = a[pivot][j];
            a[pivot][j] = t;
        }
        det *= pivot != k ? -a[k][k] : a[k][k];
        for (int i = k + 1; i < 4; i++)
            for (int j = 3; j >= k; j--)
                a[i][j] -= a[i][k] / a[k][k] * a[k][j];
    }
    return det;
}

/* eye with R eye = -t; false: R is singular. */
static bool eye_of(double r[3][3], const double t[3], double eye[3])
{
    double det = det3(r), lengths = 1, m[3][3];
    for (int i = 0; i < 3; i++)
        lengths *= sqrt(r[i][0] * r[i][0] + r[i][1] * r[i][1] + r[i][2] * r[i][2]);
    if (!(fabs(det) > SINGULAR * lengths) || !isfinite(det) || !isfinite(1 / det))
        return false;
    for (int k = 0; k < 3; k++) {
        memcpy(m, r, sizeof(m));
        for (int i = 0; i < 3; i++)
            m[i][k] = -t[i];
        eye[k] = det3(m) / det;
    }
    return all_finite(eye, 3);
}

static enum visd_err check(const struct visd_camera_spec *s, char *why, size_t size)
{
    if (!all_finite(s->view, 16) || !all_finite(s->proj, 16) || !isfinite(s->min_pixels))
        return refuse(why, size, "the camera holds numbers that are not finite");
    if (s->width == 0 || s->height == 0 || s->width > VISD_CAMERA_MAX_SIZE || s->height > VISD_CAMERA_MAX_SIZE)
        return refuse(why, size, "the camera's size %u x %u is not within 1 to %d pixels a side", s->width, s->height, VISD_CAMERA_MAX_SIZE);
    if (s->depth > VISD_DEPTH_NEG_ONE_TO_ONE)
        return refuse(why, size, "depth form %u is not known: 0 (zero_to_one), 1 (reversed) or 2 (neg_one_to_one)", s->depth);
    if (s->y > VISD_Y_DOWN)
        return refuse(why, size, "y form %u is not known: 0 (up) or 1 (down)", s->y);
    if (s->samples > 8 || (s->samples & (s->samples - 1)))
        return refuse(why, size, "%u samples a pixel are not possible: 1, 2, 4 or 8", s->samples == UINT32_MAX ? 0 : s->samples); /* so a 0 arrives */
    if ((uint64_t)s->width * s->height * (s->samples ? s->samples : 1) > VISD_CAMERA_MAX_SAMPLES)
        return refuse(why, size, "%u x %u pixels of %u samples are too many samples: at most %llu; ask for fewer samples a pixel", s->width, s->height,
            s->samples, (unsigned long long)VISD_CAMERA_MAX_SAMPLES);
    if (s->clip_plane_count > VISD_CAMERA_MAX_PLANES)
        return refuse(why, size, "%u section planes are too many: at most %d", s->clip_plane_count, VISD_CAMERA_MAX_PLANES);
    if (s->min_pixels < 0 || s->min_pixels > FLT_MAX)
        return refuse(why, size, "min_pixels must not be negative or huge");
    return VISD_ERR_OK;
}

static enum visd_err set_planes(const struct visd_camera_spec *s, const double eye[3], struct visd_camera *out, char *why, size_t size)
{
    for (uint32_t i = 0; i < s->clip_plane_count; i++) {
        double p[4];
        memcpy(p, (const char *)s->clip_planes + i * sizeof(p), sizeof(p));
        double largest = fmax(fabs(p[0]), fmax(fabs(p[1]), fabs(p[2])));
        if (!all_finite(p, 4) || !(largest > 0))
            return refuse(why, size, "section plane %u has no direction, or is not finite", i);
        double a = p[0] / largest, b = p[1] / largest, c = p[2] / largest, length = sqrt(a * a + b * b + c * c);
        double d = p[3] / largest / length + (a * eye[0] + b * eye[1] + c * eye[2]) / length;
        if (!(fabs(d) < VISD_SCENE_UNBOUNDED))
            return refuse(why, size, "section plane %u is too far away to be told in float", i);
        const double plane[4] = { a / length, b / length, c / length, d };
        for (int k = 0; k < 4; k++)
            split(plane[k], &out->plane[i][k], &out->plane_lo[i][k]);
    }
    out->planes = s->clip_plane_count;
    return VISD_ERR_OK;
}

enum visd_err visd_camera_canonical(const struct visd_camera_spec *s, struct visd_camera *out, char *why, size_t size)
{
    double r[3][3], t[3], eye[3], p[4][4], m[4][4], v[4][4] = { { 0 }, { 0 }, { 0 }, { 0, 0, 0, 1 } }, largest = 0;
    enum visd_err err = check(s, why, size);
    if (err != VISD_ERR_OK)
        return err;
    memset(out, 0, sizeof(*out));
    for (int j = 0; j < 4; j++)
        if (!(fabs(s->view[4 * j + 3] - (j == 3)) <= LAST_ROW))
            return refuse(why, size, "the view matrix's last row is not 0 0 0 1; the projection belongs into proj");
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            r[i][j] = s->view[4 * j + i];
        t[i] = s->view[12 + i];
    }
    if (!eye_of(r, t, eye))
        return refuse(why, size, "the view matrix is singular");
    for (int k = 0; k < 3; k++) {
        if (!(fabs(eye[k]) < VISD_SCENE_UNBOUNDED))
            return refuse(why, size, "the eye is beyond 1e30");
        split(eye[k], &out->eye_hi[k], &out->eye_lo[k]);
        eye[k] = (double)out->eye_hi[k] + (double)out->eye_lo[k];
    }
    for (int i = 0; i < 3; i++) {
        memcpy(v[i], r[i], sizeof(r[i]));
        v[i][3] = r[i][0] * eye[0] + r[i][1] * eye[1] + r[i][2] * eye[2] + t[i];
    }
    for (int j = 0; j < 4; j++) {
        double x = s->proj[4 * j], y = s->proj[4 * j + 1], z = s->proj[4 * j + 2], w = s->proj[4 * j + 3];
        p[0][j] = x;
        p[1][j] = s->y == VISD_Y_UP ? -y : y;
        p[2][j] = s->depth == VISD_DEPTH_REVERSED ? z : s->depth == VISD_DEPTH_ZERO_TO_ONE ? w - z : 0.5 * w - 0.5 * z;
        p[3][j] = w;
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            m[i][j] = p[i][0] * v[0][j] + p[i][1] * v[1][j] + p[i][2] * v[2][j] + p[i][3] * v[3][j];
            largest = fmax(largest, fabs(m[i][j]));
        }
    if (!all_finite(m[0], 16))
        return refuse(why, size, "the projection's and the view's numbers overflow together");
    double det = det4_scaled(m);
    if (!(fabs(det) > SINGULAR))
        return refuse(why, size, "the projection is singular");
    int exponent;
    frexp(largest, &exponent);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            split(ldexp(m[i][j], 1 - exponent), &out->m[i][j], &out->m_lo[i][j]);
    out->orientation = det > 0 ? 1.0f : -1.0f;
    out->width = s->width;
    out->height = s->height;
    out->samples = s->samples ? s->samples : 1;
    out->layers = s->layers;
    out->caps = s->caps;
    out->min_pixels = (float)s->min_pixels;
    return set_planes(s, eye, out, why, size);
}
