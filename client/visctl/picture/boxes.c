/* Boxes as wires over a picture: clipped at the near plane in clip space, then walked pixel by pixel. */
#include <math.h>

#include "picture.h"

/* x, y in pixels, depth canonical. */
struct point {
    double x, y, depth;
};

static void to_clip(const struct visd_client_camera *camera, const double p[3], double out[4])
{
    double eye[4];
    for (int r = 0; r < 4; r++)
        eye[r] = camera->view[r] * p[0] + camera->view[4 + r] * p[1] + camera->view[8 + r] * p[2] + camera->view[12 + r];
    for (int r = 0; r < 4; r++)
        out[r] = camera->proj[r] * eye[0] + camera->proj[4 + r] * eye[1] + camera->proj[8 + r] * eye[2] + camera->proj[12 + r] * eye[3];
    if (camera->depth == VISD_DEPTH_ZERO_TO_ONE) out[2] = out[3] - out[2];
    if (camera->depth == VISD_DEPTH_NEG_ONE_TO_ONE) out[2] = (out[3] - out[2]) / 2;
    if (camera->y == VISD_Y_UP) out[1] = -out[1];
}

/* Keeps the part of a..b on the inner side of a plane whose distances are given; false if nothing is left. */
static bool clip(double a[4], double b[4], double at_a, double at_b)
{
    if (at_a < 0 && at_b < 0) return false;
    if (at_a >= 0 && at_b >= 0) return true;
    double t = at_a / (at_a - at_b), *out = at_a < 0 ? a : b;
    double cut[4];
    for (int k = 0; k < 4; k++) cut[k] = a[k] + (b[k] - a[k]) * t;
    for (int k = 0; k < 4; k++) out[k] = cut[k];
    return true;
}

static struct point to_pixels(const struct visd_client_camera *camera, const double c[4])
{
    return (struct point){(c[0] / c[3] * 0.5 + 0.5) * camera->width, (c[1] / c[3] * 0.5 + 0.5) * camera->height, c[2] / c[3]};
}

static void dot(struct visd_picture *picture, long x, long y, double depth, const float *behind, const uint8_t colour[3])
{
    if (x < 0 || y < 0 || x >= (long)picture->width || y >= (long)picture->height) return;
    size_t at = (size_t)y * picture->width + (size_t)x;
    double strength = behind && depth < behind[at] * (1 - 1e-4) ? 0.12 : 0.9;
    for (int k = 0; k < 3; k++) picture->rgb[at * 3 + k] = (uint8_t)(picture->rgb[at * 3 + k] * (1 - strength) + colour[k] * strength);
}

static void edge(struct visd_picture *picture, const struct visd_client_camera *camera, const double from[3], const double to[3], const float *depth,
                 const uint8_t colour[3])
{
    double a[4], b[4];
    to_clip(camera, from, a);
    to_clip(camera, to, b);
    if (!clip(a, b, a[3] - a[2], b[3] - b[2]) || !clip(a, b, a[3] - 1e-9, b[3] - 1e-9)) return;
    for (int axis = 0; axis < 2; axis++)
        if (!clip(a, b, a[3] + a[axis], b[3] + b[axis]) || !clip(a, b, a[3] - a[axis], b[3] - b[axis])) return;
    struct point p = to_pixels(camera, a), q = to_pixels(camera, b);
    double steps = ceil(fmax(fabs(q.x - p.x), fabs(q.y - p.y)));
    if (!(steps < 40000)) return;
    for (double i = 0; i <= steps; i++) {
        double t = steps > 0 ? i / steps : 0;
        dot(picture, (long)floor(p.x + (q.x - p.x) * t), (long)floor(p.y + (q.y - p.y) * t), p.depth + (q.depth - p.depth) * t, depth, colour);
    }
}

void visd_picture_box(struct visd_picture *picture, const struct visd_client_camera *camera, const double corners[8][3], const float *depth,
                      const uint8_t colour[3])
{
    for (int i = 0; i < 8; i++)
        for (int axis = 0; axis < 3; axis++)
            if (!(i >> axis & 1)) edge(picture, camera, corners[i], corners[i | 1 << axis], depth, colour);
}
