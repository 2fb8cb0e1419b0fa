/* link: visd_segment visd_scene visd_view visd_proto */
/* Cameras of every convention against points projected in long double by their own convention. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/view/view.h"

static uint64_t seed = 424242;

static double real(double lo, double hi)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return lo + (hi - lo) * (double)(seed >> 11) * 0x1p-53;
}

/* Eye at e, turned by yaw and pitch, looking down -z; optionally mirrored in x. */
static void set_view(double v[16], const double e[3], double yaw, double pitch, double scale, bool mirrored)
{
    double cy = cos(yaw), sy = sin(yaw), cp = cos(pitch), sp = sin(pitch);
    double r[3][3] = { { cy, 0, -sy }, { sy * sp, cp, cy * sp }, { sy * cp, -sp, cy * cp } };
    for (int i = 0; i < 3; i++) {
        double s = scale * (mirrored && i == 0 ? -1 : 1);
        for (int j = 0; j < 3; j++)
            v[4 * j + i] = r[i][j] * s;
        v[12 + i] = -(r[i][0] * e[0] + r[i][1] * e[1] + r[i][2] * e[2]) * s;
    }
    v[3] = v[7] = v[11] = 0;
    v[15] = 1;
}

enum { PERSPECTIVE, INFINITE, ORTHOGRAPHIC };

static void set_proj(double p[16], int kind, uint32_t depth, bool y_down, double n, double f)
{
    double x = 1.3, y = y_down ? -1.7 : 1.7, a, b; /* clip z = a * z + b * w_in */
    memset(p, 0, 16 * sizeof(*p));
    if (kind == ORTHOGRAPHIC) {
        x = 0.05;
        y = y_down ? -0.07 : 0.07;
        if (depth == VISD_DEPTH_ZERO_TO_ONE) {
            a = -1 / (f - n);
            b = -n / (f - n);
        } else if (depth == VISD_DEPTH_REVERSED) {
            a = 1 / (f - n);
            b = f / (f - n);
        } else {
            a = -2 / (f - n);
            b = -(f + n) / (f - n);
        }
        p[15] = 1;
    } else {
        double k = kind == INFINITE ? 1 : f / (f - n);
        if (depth == VISD_DEPTH_ZERO_TO_ONE) {
            a = -k;
            b = -k * n;
        } else if (depth == VISD_DEPTH_REVERSED) {
            a = k - 1;
            b = k * n;
        } else {
            a = kind == INFINITE ? -1 : -(f + n) / (f - n);
            b = kind == INFINITE ? -2 * n : -2 * f * n / (f - n);
        }
        p[11] = -1;
        p[8] = 0.2; /* off centre */
        p[9] = -0.1;
    }
    p[0] = x;
    p[5] = y;
    p[10] = a;
    p[14] = b;
}

/* pixel and reversed depth by the client's own convention */
static bool project(const struct visd_camera_spec *s, const double p[3], long double out[3])
{
    long double e[4], c[4] = { 0 };
    for (int i = 0; i < 4; i++) {
        e[i] = (long double)s->view[12 + i];
        for (int j = 0; j < 3; j++)
            e[i] += (long double)s->view[4 * j + i] * (long double)p[j];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[i] += (long double)s->proj[4 * j + i] * e[j];
    if (c[3] <= 1e-3L)
        return false;
    long double z = c[2] / c[3];
    out[0] = (c[0] / c[3] * 0.5L + 0.5L) * s->width;
    out[1] = (c[1] / c[3] * (s->y == VISD_Y_UP ? -0.5L : 0.5L) + 0.5L) * s->height;
    out[2] = s->depth == VISD_DEPTH_REVERSED ? z : s->depth == VISD_DEPTH_ZERO_TO_ONE ? 1 - z : (1 - z) / 2;
    return true;
}

static void canonical_project(const struct visd_camera *c, const double p[3], double out[3])
{
    double clip[4];
    float r[3];
    for (int k = 0; k < 3; k++) { /* as the device does it */
        float hi = (float)p[k], lo = (float)(p[k] - (double)hi);
        r[k] = (hi - c->eye_hi[k]) + (lo - c->eye_lo[k]);
    }
    for (int i = 0; i < 4; i++)
        clip[i] = (double)c->m[i][0] * (double)r[0] + (double)c->m[i][1] * (double)r[1] + (double)c->m[i][2] * (double)r[2] + (double)c->m[i][3];
    out[0] = (clip[0] / clip[3] * 0.5 + 0.5) * c->width;
    out[1] = (clip[1] / clip[3] * 0.5 + 0.5) * c->height;
    out[2] = clip[2] / clip[3];
}

/* Twice the area of the triangle in pixels. */
static long double area(long double a[3], long double b[3], long double c[3])
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static void check_facing(const struct visd_camera_spec *s, const struct visd_camera *c, const double eye[3], bool orthographic)
{
    double p[3][3], n[3];
    long double q[3][3];
    double dir[3] = { -s->view[2], -s->view[6], -s->view[10] }; /* forwards, in the world */
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++)
            p[k][j] = eye[j] + dir[j] / sqrt(dir[0] * dir[0] + dir[1] * dir[1] + dir[2] * dir[2]) * 5 + real(-0.5, 0.5);
    for (int k = 0; k < 3; k++)
        if (!project(s, p[k], q[k]))
            return;
    for (int j = 0; j < 3; j++) {
        int a = (j + 1) % 3, b = (j + 2) % 3;
        n[j] = (p[1][a] - p[0][a]) * (p[2][b] - p[0][b]) - (p[1][b] - p[0][b]) * (p[2][a] - p[0][a]);
    }
    double towards = 0, size = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int j = 0; j < 3; j++)
        towards += n[j] * (orthographic ? -dir[j] : eye[j] - p[0][j]);
    long double front = area(q[0], q[1], q[2]) * (long double)c->orientation;
    if (fabs(towards) > 1e-3 * size && fabsl(front) > 1e-3L)
        assert_int_equal(front > 0, towards > 0); /* counter-clockwise seen from the eye: its normal points at the eye */
}

static void test_all_conventions(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct visd_camera_spec s = { .width = 1919, .height = 1077, .layers = UINT32_MAX };
        struct visd_camera c;
        char why[200];
        int kind = round % 3;
        double far = round % 5 == 0 ? 1e7 : 100, eye[3] = { real(-far, far), real(-far, far), real(-far, far) };
        bool mirrored = round % 7 == 0;
        s.depth = (uint32_t)(round / 3 % 3);
        s.y = (uint32_t)(round / 9 % 2);
        set_view(s.view, eye, real(0, 6), real(-1.5, 1.5), round % 11 == 0 ? 0.01 : 1, mirrored);
        set_proj(s.proj, kind, s.depth, s.y == VISD_Y_DOWN, kind == ORTHOGRAPHIC ? -50 : 0.1, 1000);
        if (visd_camera_canonical(&s, &c, why, sizeof(why)) != VISD_ERR_OK)
            fail_msg("round %d: %s", round, why);
        assert_int_equal(c.samples, 1);
        float largest = 0;
        for (int i = 0; i < 16; i++)
            largest = fmaxf(largest, fabsf((&c.m[0][0])[i]));
        assert_true(largest >= 1 && largest <= 2);
        for (int k = 0; k < 20; k++) {
            double p[3], got[3];
            long double want[3];
            for (int j = 0; j < 3; j++)
                p[j] = eye[j] + real(-20, 20);
            if (!project(&s, p, want) || fabsl(want[0]) > 4000 || fabsl(want[1]) > 4000)
                continue;
            canonical_project(&c, p, got);
            assert_true(fabs(got[0] - (double)want[0]) < 0.02 && fabs(got[1] - (double)want[1]) < 0.02);
            assert_true(fabs(got[2] - (double)want[2]) < 2e-6 * (1 + fabs((double)want[2])) + 1e-5 * (kind == ORTHOGRAPHIC));
        }
        check_facing(&s, &c, eye, kind == ORTHOGRAPHIC);
    }
}

static void plain(struct visd_camera_spec *s)
{
    double eye[3] = { 1, 2, 3 };
    *s = (struct visd_camera_spec){ .width = 640, .height = 480, .layers = UINT32_MAX };
    set_view(s->view, eye, 0.3, 0.2, 1, false);
    set_proj(s->proj, PERSPECTIVE, VISD_DEPTH_ZERO_TO_ONE, false, 0.1, 100);
}

static void refused(const struct visd_camera_spec *s, const char *word)
{
    struct visd_camera c;
    char why[200] = "";
    assert_int_equal(visd_camera_canonical(s, &c, why, sizeof(why)), VISD_ERR_BAD_VALUE);
    if (!strstr(why, word))
        fail_msg("\"%s\" does not speak of \"%s\"", why, word);
}

static void test_refusals(void **state)
{
    (void)state;
    struct visd_camera_spec s;
    double bad[] = { NAN, INFINITY, -INFINITY }, plane[9 * 4] = { 0 };
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 16; i++) {
            plain(&s);
            s.view[i] = bad[k];
            refused(&s, "not finite");
            plain(&s);
            s.proj[i] = bad[k];
            refused(&s, "not finite");
        }
    plain(&s), s.width = 0, refused(&s, "size");
    plain(&s), s.height = VISD_CAMERA_MAX_SIZE + 1, refused(&s, "size");
    plain(&s), s.width = s.height = VISD_CAMERA_MAX_SIZE, s.samples = 2, refused(&s, "samples");
    plain(&s), s.samples = 3, refused(&s, "samples");
    plain(&s), s.samples = 16, refused(&s, "samples");
    plain(&s), s.depth = 3, refused(&s, "depth form");
    plain(&s), s.y = 2, refused(&s, "y form");
    plain(&s), s.min_pixels = -1, refused(&s, "min_pixels");
    plain(&s), s.min_pixels = NAN, refused(&s, "not finite");
    plain(&s), memset(s.view, 0, sizeof(s.view)), s.view[15] = 1, refused(&s, "view matrix is singular");
    plain(&s), memset(s.proj, 0, sizeof(s.proj)), refused(&s, "projection is singular");
    plain(&s), s.proj[0] = 0, refused(&s, "projection is singular");
    plain(&s), s.view[3] = 0.5, refused(&s, "last row");
    plain(&s), s.view[15] = 2, refused(&s, "last row");
    plain(&s), s.clip_planes = plane, s.clip_plane_count = 9, refused(&s, "too many");
    plain(&s), s.clip_planes = plane, s.clip_plane_count = 1, refused(&s, "no direction");
    plane[0] = NAN;
    plain(&s), s.clip_planes = plane, s.clip_plane_count = 1, refused(&s, "no direction");
    plain(&s);
    for (int i = 0; i < 3; i++)
        s.view[12 + i] = 1e200;
    refused(&s, "beyond");
    plain(&s);
    for (int i = 0; i < 16; i++) {
        s.view[i] *= i % 4 == 3 ? 1 : 1e200;
        s.proj[i] *= 1e200;
    }
    refused(&s, "");
}

static void test_planes(void **state)
{
    (void)state;
    for (int round = 0; round < 500; round++) {
        struct visd_camera_spec s;
        struct visd_camera c;
        char raw[VISD_CAMERA_MAX_PLANES * 32 + 1], why[200];
        double far = round % 2 ? 1e7 : 10, eye[3] = { real(-far, far), real(-far, far), real(-far, far) }, planes[VISD_CAMERA_MAX_PLANES][4];
        plain(&s);
        set_view(s.view, eye, 1, 0.5, 1, false);
        for (int i = 0; i < VISD_CAMERA_MAX_PLANES; i++) {
            double scale = pow(10, real(-100, 100));
            for (int k = 0; k < 3; k++)
                planes[i][k] = real(-1, 1) * scale;
            planes[i][3] = -(planes[i][0] * eye[0] + planes[i][1] * eye[1] + planes[i][2] * eye[2]) + real(-5, 5) * scale;
        }
        memcpy(raw + 1, planes, sizeof(planes)); /* not aligned */
        s.clip_planes = raw + 1;
        s.clip_plane_count = VISD_CAMERA_MAX_PLANES;
        s.caps = true;
        assert_int_equal(visd_camera_canonical(&s, &c, why, sizeof(why)), VISD_ERR_OK);
        assert_int_equal(c.planes, VISD_CAMERA_MAX_PLANES);
        assert_int_equal(c.caps, 1);
        for (int i = 0; i < VISD_CAMERA_MAX_PLANES; i++) {
            const double *p = planes[i];
            double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), at[3], want, got;
            for (int k = 0; k < 3; k++)
                at[k] = real(-30, 30);
            want = (p[0] * (eye[0] + at[0]) + p[1] * (eye[1] + at[1]) + p[2] * (eye[2] + at[2]) + p[3]) / length;
            got = (double)c.plane[i][0] * at[0] + (double)c.plane[i][1] * at[1] + (double)c.plane[i][2] * at[2] + (double)c.plane[i][3];
            assert_true(fabs(got - want) < 2e-5);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_conventions),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_planes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
