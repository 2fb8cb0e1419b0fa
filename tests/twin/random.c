/* See random.h. */
#include "random.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/rig/place.h"

#define PI 3.14159265358979323846

uint64_t random_next(struct random *r)
{
    uint64_t x = r->state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

double random_between(struct random *r, double low, double high) { return low + (high - low) * (double)(random_next(r) >> 11) * 0x1p-53; }
double random_scale(struct random *r, double low, double high) { return exp(random_between(r, log(low), log(high))); }
bool random_chance(struct random *r, double probability) { return random_between(r, 0, 1) < probability; }

void random_rotation(struct random *r, double out[3][3])
{
    double q[4], length = 0;
    do {
        length = 0;
        for (int i = 0; i < 4; i++) {
            q[i] = random_between(r, -1, 1);
            length += q[i] * q[i];
        }
    } while (length > 1 || length < 0.01);
    for (int i = 0; i < 4; i++) q[i] /= sqrt(length);
    double w = q[0], x = q[1], y = q[2], z = q[3];
    const double m[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                            {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                            {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(out, m, sizeof(m));
}

struct visd_mesh_block *random_block(const float *positions, uint32_t vertices, const uint32_t *indices, uint32_t count,
                                     const struct visd_mesh_part *parts, uint32_t part_count, float deviation, uint64_t *bytes)
{
    *bytes = sizeof(struct visd_mesh_block) + (uint64_t)vertices * 12 + (uint64_t)count * 4 + part_count * sizeof(*parts);
    struct visd_mesh_block *block = calloc(1, *bytes);
    char *at = (char *)(block + 1);
    *block = (struct visd_mesh_block){.vertices = vertices, .indices = count, .parts = part_count, .deviation = deviation};
    memcpy(at, positions, (uint64_t)vertices * 12);
    memcpy(at + (uint64_t)vertices * 12, indices, (uint64_t)count * 4);
    if (part_count) memcpy(at + (uint64_t)vertices * 12 + (uint64_t)count * 4, parts, part_count * sizeof(*parts));
    return block;
}

static void shape_of(struct random_shape *out, const float *positions, uint32_t vertices, const uint32_t *indices, uint32_t count,
                     const struct visd_mesh_part *parts, uint32_t part_count, float deviation)
{
    *out = (struct random_shape){0};
    out->block = random_block(positions, vertices, indices, count, parts, part_count, deviation, &out->bytes);
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (uint32_t i = 0; i < vertices; i++) {
            low = fmin(low, positions[i * 3 + (uint32_t)k]);
            high = fmax(high, positions[i * 3 + (uint32_t)k]);
        }
        out->local[k] = (float)((low + high) / 2);
        double half = fmax(high - (double)out->local[k], (double)out->local[k] - low);
        out->half[k] = (float)half;
        if (out->half[k] < half) out->half[k] = nextafterf(out->half[k], INFINITY);
    }
}

static const uint32_t box_indices[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4, 2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};

static void box_shape(struct random_shape *out, const float centre[3], float half, const struct visd_mesh_part *parts, uint32_t part_count, float deviation)
{
    float p[24];
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) p[i * 3 + k] = centre[k] + ((i >> k & 1) ? half : -half);
    shape_of(out, p, 8, box_indices, 36, parts, part_count, deviation);
}

static void quad_shape(struct random_shape *out, enum visd_sides sides)
{
    static const float p[12] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
    static const uint32_t indices[12] = {0, 1, 2, 0, 2, 3, 0, 0, 1, 1, 2, 2}; /* the last two have no area */
    const struct visd_mesh_part part = {.count = 12, .sides = sides};
    shape_of(out, p, 4, indices, 12, &part, 1, 0);
}

#define ROWS 10u
#define COLUMNS 14u

/* A grid of quads: a ball (closed, single-sided), or a bumpy patch (open, double-sided). */
static void grid_shape(struct random_shape *out, bool ball)
{
    float p[(ROWS + 1) * (COLUMNS + 1) * 3];
    uint32_t indices[ROWS * COLUMNS * 6], count = 0;
    for (uint32_t i = 0; i <= ROWS; i++)
        for (uint32_t j = 0; j <= COLUMNS; j++) {
            float *v = p + (i * (COLUMNS + 1) + j) * 3;
            double a = PI * i / ROWS, b = 2 * PI * (j % COLUMNS) / COLUMNS;
            v[0] = ball ? (float)(sin(a) * cos(b)) : (float)j / COLUMNS * 2 - 1;
            v[1] = ball ? (float)(sin(a) * sin(b)) : (float)i / ROWS * 2 - 1;
            v[2] = ball ? (float)cos(a) : (float)(0.3 * sin(3 * a) * cos(2 * b));
        }
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t j = 0; j < COLUMNS; j++) {
            uint32_t a = i * (COLUMNS + 1) + j, b = a + 1, c = a + COLUMNS + 1, d = c + 1;
            const uint32_t six[6] = {a, c, d, a, d, b};
            memcpy(indices + count, six, sizeof(six));
            count += 6;
        }
    const struct visd_mesh_part part = {.count = count, .sides = ball ? VISD_SIDES_SINGLE : VISD_SIDES_DOUBLE};
    shape_of(out, p, (ROWS + 1) * (COLUMNS + 1), indices, count, &part, 1, 0);
}

void random_shapes_make(struct random_shape out[RANDOM_SHAPES])
{
    static const float origin[3] = {0, 0, 0}, aside[3] = {3.3f, 0.7f, -2.1f};
    static const struct visd_mesh_part single = {.count = 36, .sides = VISD_SIDES_SINGLE}, both = {.count = 36, .sides = VISD_SIDES_DOUBLE},
                                       unknown = {.count = 36, .sides = VISD_SIDES_UNKNOWN}, clear = {.count = 36, .see_through = 1};
    static const struct visd_mesh_part mixed[3] = {{.first = 12, .count = 12, .sides = VISD_SIDES_SINGLE},
                                                   {.first = 0, .count = 12, .sides = VISD_SIDES_UNKNOWN, .see_through = 1},
                                                   {.first = 24, .count = 12, .sides = VISD_SIDES_UNKNOWN}};
    static const float corners[12] = {-0.8f, -0.6f, -0.5f, 0.9f, -0.7f, -0.4f, 0.1f, 1, -0.6f, 0, 0.1f, 1.1f};
    static const uint32_t tetrahedron[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    static const struct visd_mesh_part twelve = {.count = 12, .sides = VISD_SIDES_SINGLE};
    box_shape(&out[0], origin, 1, &single, 1, 0);
    box_shape(&out[1], origin, 1, &both, 1, 0);
    box_shape(&out[2], origin, 1, &unknown, 1, 0);
    box_shape(&out[3], aside, 0.45f, &single, 1, 0);
    box_shape(&out[4], aside, 0.45f, mixed, 3, 0);
    box_shape(&out[5], origin, 1, &clear, 1, 0);
    box_shape(&out[6], origin, 1, &single, 1, 0.05f);
    shape_of(&out[7], corners, 4, tetrahedron, 12, &twelve, 1, 0);
    quad_shape(&out[8], VISD_SIDES_SINGLE);
    quad_shape(&out[9], VISD_SIDES_DOUBLE);
    grid_shape(&out[10], true);
    grid_shape(&out[11], false);
    shape_of(&out[12], corners, 4, tetrahedron, 0, NULL, 0, 0); /* vertices, and no triangle */
}

void random_shapes_free(struct random_shape shapes[RANDOM_SHAPES])
{
    for (int i = 0; i < RANDOM_SHAPES; i++) free(shapes[i].block);
}

struct visd_camera random_camera(struct random *r, const double eye[3], enum random_projection projection, uint32_t width, uint32_t height,
                                 uint32_t samples, double forward[3])
{
    struct visd_camera c = {.width = width, .height = height, .samples = samples, .layers = UINT32_MAX};
    double axes[3][3], near = random_scale(r, 0.01, 1), far = random_scale(r, 20, 500), row[4][4] = {{0}};
    random_rotation(r, axes);
    if (random_chance(r, 0.1)) /* a camera that mirrors */
        for (int k = 0; k < 3; k++) axes[0][k] = -axes[0][k];
    double *right = axes[0], *up = axes[1];
    for (int k = 0; k < 3; k++) forward[k] = -axes[2][k];
    bool parallel = projection >= RANDOM_PARALLEL;
    double sx = parallel ? 1 / random_scale(r, 0.5, 60) : 1 / tan(random_between(r, 0.15, 1.1)), sy = sx * width / height;
    double shift_x = random_chance(r, 0.3) ? random_between(r, -1, 1) : 0, shift_y = random_chance(r, 0.3) ? random_between(r, -1, 1) : 0;
    for (int k = 0; k < 3; k++) {
        row[0][k] = sx * right[k] + (parallel ? 0 : shift_x * forward[k]);
        row[1][k] = -sy * up[k] + (parallel ? 0 : shift_y * forward[k]);
        row[3][k] = parallel ? 0 : forward[k];
    }
    if (parallel) { /* depth: 1 at near, 0 at far, linear */
        if (projection == RANDOM_PARALLEL_BEHIND) near = -random_scale(r, 1, 100);
        for (int k = 0; k < 3; k++) row[2][k] = -forward[k] / (far - near);
        row[2][3] = far / (far - near);
        row[3][3] = 1;
        row[0][3] = shift_x;
        row[1][3] = shift_y;
    } else {
        double slope = projection == RANDOM_FINITE ? near / (far - near) : 0; /* z = near + slope * (near - distance) */
        for (int k = 0; k < 3; k++) row[2][k] = -slope * forward[k];
        row[2][3] = near * (1 + slope);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) place_split(row[i][j], &c.m[i][j], &c.m_lo[i][j]);
    double mirrored = 0;
    for (int i = 0; i < 3; i++) mirrored += right[i] * (up[(i + 1) % 3] * -forward[(i + 2) % 3] - up[(i + 2) % 3] * -forward[(i + 1) % 3]);
    /* Seen with y down a counter-clockwise face has negative area in pixels, unless the camera mirrors. */
    c.orientation = mirrored > 0 ? -1 : 1;
    for (int k = 0; k < 3; k++) place_split(eye[k], &c.eye_hi[k], &c.eye_lo[k]);
    return c;
}

void random_planes(struct random *r, struct visd_camera *camera, uint32_t count)
{
    camera->planes = count;
    for (uint32_t i = 0; i < count; i++) {
        double axes[3][3];
        random_rotation(r, axes);
        for (int k = 0; k < 3; k++) place_split(axes[0][k], &camera->plane[i][k], &camera->plane_lo[i][k]);
        camera->plane[i][3] = (float)random_between(r, -2, 30);
    }
}

static uint32_t random_flags(struct random *r)
{
    static const struct { uint32_t flag; double probability; } odds[] = {
        {VISD_OBJECT_HIDDEN, 0.03}, {VISD_OBJECT_SEE_THROUGH, 0.03}, {VISD_OBJECT_XRAY, 0.02}, {VISD_OBJECT_GHOSTED, 0.02}, {VISD_OBJECT_HELPER, 0.02},
        {VISD_OBJECT_OCCLUDER_ONLY, 0.03}, {VISD_OBJECT_PINNED, 0.03}, {VISD_OBJECT_UNBOUNDED, 0.01}, {VISD_OBJECT_SECTION_EXEMPT, 0.1}};
    uint32_t flags = random_chance(r, 0.03) ? 0 : VISD_OBJECT_LIVE;
    for (size_t i = 0; i < sizeof(odds) / sizeof(odds[0]); i++)
        if (random_chance(r, odds[i].probability)) flags |= odds[i].flag;
    if (random_chance(r, 0.6)) flags |= random_chance(r, 0.5) ? VISD_OBJECT_SINGLE_SIDED : VISD_OBJECT_DOUBLE_SIDED;
    if (random_chance(r, 0.1)) flags |= (uint32_t)random_scale(r, 1, 600) << VISD_OBJECT_MARGIN_SHIFT;
    return flags;
}

void random_objects(struct random *r, const struct random_shape shapes[RANDOM_SHAPES], const double eye[3], const double forward[3],
                    struct visd_object_change *changes, uint32_t count)
{
    for (uint32_t slot = 0; slot < count; slot++) {
        struct visd_object_change *c = &changes[slot];
        double turn[3][3], scale[3], size = random_scale(r, 0.02, 6), distance = random_scale(r, 0.3, 80), transform[12];
        uint32_t which = (uint32_t)(random_next(r) % RANDOM_SHAPES);
        const struct random_shape *shape = &shapes[which];
        *c = (struct visd_object_change){.slot = slot};
        random_rotation(r, turn);
        if (random_chance(r, 0.05)) size *= 30;
        if (random_chance(r, 0.05)) size *= 1e-3;
        for (int k = 0; k < 3; k++) {
            scale[k] = size * random_scale(r, 0.4, 2.5) * (random_chance(r, 0.2) ? -1 : 1);
            if (random_chance(r, 0.08)) scale[k] *= random_chance(r, 0.3) ? 0 : 1e-4;
            transform[k * 4 + 3] = eye[k] + distance * (random_chance(r, 0.9) ? forward[k] + random_between(r, -0.7, 0.7) : random_between(r, -1, 1));
        }
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) transform[i * 4 + j] = turn[i][j] * scale[j];
            c->bounds.row[i].half = random_chance(r, 0.1) ? shape->half[i] * 1.5f : shape->half[i];
        }
        memcpy(c->info.local, shape->local, sizeof(shape->local));
        c->bounds.flags = random_flags(r);
        place_object(c, transform);
        c->bounds.layers = random_chance(r, 0.1) ? (uint32_t)random_next(r) & 0xff : UINT32_MAX;
        c->info.mesh = random_chance(r, 0.1) ? VISD_MESH_NONE : which;
        c->info.id[0] = (uint32_t)random_next(r);
        c->info.id[1] = (uint32_t)random_next(r);
        c->info.generation = 1 + (uint32_t)(random_next(r) % 1000);
    }
}
