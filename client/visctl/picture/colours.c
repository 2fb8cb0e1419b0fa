/* From numbers to colours.
 *
 * A depth image alone is nearly white: reversed depth crowds at 0. So each pixel is taken back to the eye's space by the inverse of the
 * projection, which serves every convention; its distance picks the colour, on a logarithmic scale, and the
 * slope between neighbours gives a normal to light it by. */
#include <math.h>
#include <stdlib.h>

#include "picture.h"

/* A walk from warm near to cold far, of even steps in lightness. */
static const double ramp[][3] = {
    {255, 236, 190}, {252, 196, 120}, {241, 148, 92}, {213, 104, 92}, {170, 77, 104}, {121, 63, 112}, {79, 60, 110}, {52, 60, 96}, {40, 52, 76},
};
#define RAMP (sizeof(ramp) / sizeof(*ramp))

static bool invert(const double m[16], double out[16])
{
    double a[4][8];
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) {
            a[r][c] = m[c * 4 + r];
            a[r][c + 4] = r == c;
        }
    for (int p = 0; p < 4; p++) {
        int best = p;
        for (int r = p + 1; r < 4; r++)
            if (fabs(a[r][p]) > fabs(a[best][p])) best = r;
        if (a[best][p] == 0) return false;
        for (int c = 0; c < 8; c++) {
            double t = a[p][c];
            a[p][c] = a[best][c];
            a[best][c] = t;
        }
        for (int c = 7; c >= p; c--) a[p][c] /= a[p][p];
        for (int r = 0; r < 4; r++)
            if (r != p)
                for (int c = 7; c >= p; c--) a[r][c] -= a[r][p] * a[p][c];
    }
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) out[c * 4 + r] = a[r][c + 4];
    return true;
}

/* Canonical depth in the camera's own convention. */
static double own_depth(const struct visd_client_camera *camera, double depth)
{
    return camera->depth == VISD_DEPTH_REVERSED ? depth : camera->depth == VISD_DEPTH_ZERO_TO_ONE ? 1 - depth : 1 - 2 * depth;
}

/* The eye-space point behind a pixel's centre. */
static void unproject(const struct visd_client_camera *camera, const double inverse[16], double x, double y, double depth, double out[3])
{
    double ndc[4] = {2 * (x + 0.5) / camera->width - 1, 2 * (y + 0.5) / camera->height - 1, own_depth(camera, depth), 1}, p[4];
    if (camera->y == VISD_Y_UP) ndc[1] = -ndc[1];
    for (int r = 0; r < 4; r++) p[r] = inverse[r] * ndc[0] + inverse[4 + r] * ndc[1] + inverse[8 + r] * ndc[2] + inverse[12 + r] * ndc[3];
    for (int k = 0; k < 3; k++) out[k] = p[3] != 0 ? p[k] / p[3] : 0;
}

static double distance_of(const struct visd_client_camera *camera, const double inverse[16], double depth)
{
    double p[3];
    unproject(camera, inverse, camera->width / 2.0, camera->height / 2.0, depth, p);
    return fabs(p[2]);
}

struct visd_picture_range visd_picture_depth_range(const struct visd_client_camera *camera, const float *depth, size_t count)
{
    struct visd_picture_range range = {0, 0};
    double inverse[16];
    float low = 2, high = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(depth[i] > 0)) continue;
        low = fminf(low, depth[i]);
        high = fmaxf(high, depth[i]);
    }
    if (high == 0 || !invert(camera->proj, inverse)) return range;
    double a = distance_of(camera, inverse, high), b = distance_of(camera, inverse, low);
    range.near = fmax(fmin(a, b), 1e-6);
    range.far = fmax(fmax(a, b), range.near * 1.01);
    return range;
}

static void ramp_colour(struct visd_picture_range range, double distance, double out[3])
{
    double t = log(fmax(distance, range.near) / range.near) / log(range.far / range.near);
    t = fmin(fmax(t, 0), 1) * (RAMP - 1);
    size_t i = (size_t)t < RAMP - 2 ? (size_t)t : RAMP - 2;
    for (int k = 0; k < 3; k++) out[k] = ramp[i][k] + (ramp[i + 1][k] - ramp[i][k]) * (t - (double)i);
}

/* How brightly the surface at a pixel is lit, 0.5 to 1.1, from the flatter of the slopes on either side. */
static double light(const struct visd_client_camera *camera, const double inverse[16], const float *depth, uint32_t x, uint32_t y)
{
    uint32_t w = camera->width, h = camera->height;
    double here[3], side[2][3];
    const float *at = depth + (size_t)y * w + x;
    unproject(camera, inverse, x, y, *at, here);
    for (int axis = 0; axis < 2; axis++) {
        uint32_t place = axis ? y : x, size = axis ? h : w;
        size_t step = axis ? w : 1;
        float before = place > 0 ? at[-(ptrdiff_t)step] : 0, after = place + 1 < size ? at[step] : 0;
        bool forward = after > 0 && (before <= 0 || fabsf(after - *at) <= fabsf(before - *at));
        if (!forward && before <= 0) return 0.8;
        double there[3];
        double move = forward ? 1 : -1;
        unproject(camera, inverse, x + (axis ? 0 : move), y + (axis ? move : 0), forward ? after : before, there);
        for (int k = 0; k < 3; k++) side[axis][k] = (there[k] - here[k]) * move;
    }
    double n[3] = {side[0][1] * side[1][2] - side[0][2] * side[1][1], side[0][2] * side[1][0] - side[0][0] * side[1][2],
                   side[0][0] * side[1][1] - side[0][1] * side[1][0]};
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    if (!(length > 0)) return 0.8;
    double sign = n[2] < 0 ? -1 : 1; /* towards the eye */
    double lambert = sign * (0.35 * n[0] + 0.6 * n[1] + 0.72 * n[2]) / length;
    return 0.5 + 0.6 * fmax(lambert, 0);
}

static void shade(uint8_t *out, const double colour[3], double lit)
{
    for (int k = 0; k < 3; k++) out[k] = (uint8_t)fmin(255, fmax(0, colour[k] * lit));
}

void visd_picture_depth(struct visd_picture *picture, const struct visd_client_camera *camera, const float *depth)
{
    double inverse[16], colour[3];
    size_t count = (size_t)picture->width * picture->height;
    struct visd_picture_range range = visd_picture_depth_range(camera, depth, count);
    if (range.far == 0 || !invert(camera->proj, inverse)) return;
    for (size_t i = 0; i < count; i++) {
        if (!(depth[i] > 0)) continue;
        ramp_colour(range, distance_of(camera, inverse, depth[i]), colour);
        shade(picture->rgb + i * 3, colour, light(camera, inverse, depth, (uint32_t)(i % picture->width), (uint32_t)(i / picture->width)));
    }
}

void visd_picture_level(struct visd_picture *picture, const struct visd_client_camera *camera, struct visd_picture_range range,
                        const float *depth, uint32_t width, uint32_t height, uint32_t x, uint32_t y)
{
    double inverse[16], colour[3];
    if (range.far == 0 || !invert(camera->proj, inverse)) return;
    for (uint32_t j = 0; j < height && y + j < picture->height; j++)
        for (uint32_t i = 0; i < width && x + i < picture->width; i++) {
            float value = depth[(size_t)j * width + i];
            if (!(value > 0)) continue;
            ramp_colour(range, distance_of(camera, inverse, value), colour);
            shade(picture->rgb + ((size_t)(y + j) * picture->width + x + i) * 3, colour, 1);
        }
}

void visd_picture_id_colour(uint64_t id, uint8_t out[3])
{
    uint64_t z = (id + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z ^= z >> 27;
    double hue = 6.0 * (double)(z & 0xffff) / 65536, strong = 0.45 + 0.4 * (double)(z >> 16 & 0xff) / 255;
    double value = 0.75 + 0.25 * (double)(z >> 24 & 0xff) / 255;
    for (int k = 0; k < 3; k++) {
        double f = fmod(hue + 4.0 - 2 * k + 2.0, 6);
        double c = fmin(fmax(fabs(f - 3) - 1, 0), 1);
        out[k] = (uint8_t)(255 * value * (1 - strong + strong * c));
    }
}

void visd_picture_ids(struct visd_picture *picture, const struct visd_client_camera *camera, const uint64_t *ids, const float *depth)
{
    double inverse[16];
    bool lit = depth && invert(camera->proj, inverse);
    for (size_t i = 0; i < (size_t)picture->width * picture->height; i++) {
        uint8_t rgb[3];
        if (ids[i] == UINT64_MAX) continue;
        visd_picture_id_colour(ids[i], rgb);
        double colour[3] = {rgb[0], rgb[1], rgb[2]};
        bool shaded = lit && depth[i] > 0;
        shade(picture->rgb + i * 3, colour,
              shaded ? light(camera, inverse, depth, (uint32_t)(i % picture->width), (uint32_t)(i / picture->width)) : 1);
    }
}
