/* link: visd_twin */
/* The error bounds that the passes lean on, proved against double arithmetic: a box's rectangle and nearest depth hold everything in it, what
 * is left out is out, an occluder is never nearer than its surface, and no object is hidden by its own surface. The twins stand for the
 * device here (test_pass_frames.c holds the two together), so that thousands of objects are tried without one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/twin/random.h"
#include "tests/twin/twin.h"

static struct random_shape shapes[RANDOM_SHAPES];
static struct twin_scene scene;

static int setup(void **state)
{
    (void)state;
    random_shapes_make(shapes);
    twin_scene_init(&scene);
    for (uint32_t i = 0; i < RANDOM_SHAPES; i++) twin_scene_mesh(&scene, shapes[i].block);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    twin_scene_finish(&scene);
    random_shapes_free(shapes);
    return 0;
}

/* A point of the object's own space in clip space, in double. */
static void exact_clip(const struct visd_camera *camera, const struct visd_object_change *c, const double local[3], double clip[4])
{
    double r[3];
    for (int i = 0; i < 3; i++) {
        r[i] = ((double)c->bounds.centre_hi[i] - camera->eye_hi[i]) + ((double)c->bounds.centre_lo[i] - camera->eye_lo[i]);
        for (int j = 0; j < 3; j++) r[i] += (double)c->bounds.row[i].linear[j] * local[j];
    }
    for (int k = 0; k < 4; k++) clip[k] = camera->m[k][0] * r[0] + camera->m[k][1] * r[1] + camera->m[k][2] * r[2] + camera->m[k][3];
}

static void corner(const struct visd_object_change *c, int i, double local[3])
{
    for (int k = 0; k < 3; k++) local[k] = (i >> k & 1 ? 1.0 : -1.0) * c->bounds.row[k].half;
}

struct trial { struct visd_camera camera; struct visd_object_change object; };

/* One random object of a random scene, alone. */
static struct trial trial_of(uint64_t seed, uint32_t width, uint32_t height)
{
    static const double origins[] = {0, 0, 100, 1e4, 1e7};
    static const uint32_t samples[] = {1, 1, 2, 4, 8};
    struct random r = {seed * 104729 + 5};
    struct trial t;
    double eye[3], forward[3], origin = origins[random_next(&r) % 5];
    for (int k = 0; k < 3; k++) eye[k] = origin * random_between(&r, -1, 1);
    t.camera = random_camera(&r, eye, (enum random_projection)(random_next(&r) % 4), width, height, samples[random_next(&r) % 5], forward);
    random_objects(&r, shapes, eye, forward, &t.object, 1);
    t.object.bounds.flags &= ~(uint32_t)(VISD_OBJECT_HIDDEN | VISD_OBJECT_UNBOUNDED | VISD_OBJECT_PINNED | VISD_OBJECT_OCCLUDER_ONLY);
    t.object.bounds.flags |= VISD_OBJECT_LIVE;
    t.object.bounds.layers = UINT32_MAX;
    return t;
}

static void begin(struct twin *twin, const struct trial *t)
{
    twin_scatter(&scene, &t->object, 1, 1);
    twin_begin(twin, &scene, &t->camera, VISD_FRAME_FRESH, 0, 0);
    twin_frustum(twin);
}

/* The corners of the part of a box that is past the near plane: its own, and where its edges cross the plane. */
static int part_past_near(const struct trial *t, double out[20][4])
{
    double p[8][4];
    int count = 0;
    for (int i = 0; i < 8; i++) {
        double local[3];
        corner(&t->object, i, local);
        exact_clip(&t->camera, &t->object, local, p[i]);
        if (p[i][3] >= p[i][2]) memcpy(out[count++], p[i], sizeof(p[i]));
    }
    for (int i = 0; i < 8; i++)
        for (int axis = 1; axis < 8; axis *= 2) {
            double *a = p[i], *b = p[i | axis], at = a[3] - a[2], then = b[3] - b[2];
            if ((i & axis) || (at >= 0) == (then >= 0)) continue;
            for (int k = 0; k < 4; k++) out[count][k] = a[k] + (b[k] - a[k]) * (at / (at - then));
            count++;
        }
    return count;
}

/* Whether some side of the view volume has all of the box beyond it that is past the near plane: then nothing of it can be in view. */
static bool exactly_out(const struct trial *t, double margin)
{
    double wide_x = 2 * (margin + 0.0625) / t->camera.width, wide_y = 2 * (margin + 0.0625) / t->camera.height, corners[20][4];
    bool out[5] = {true, true, true, true, true};
    int count = part_past_near(t, corners);
    for (int i = 0; i < count; i++) {
        const double *p = corners[i], w = fmax(p[3], 0);
        out[0] = out[0] && p[0] < -p[3] - w * wide_x;
        out[1] = out[1] && p[0] > p[3] + w * wide_x;
        out[2] = out[2] && p[1] < -p[3] - w * wide_y;
        out[3] = out[3] && p[1] > p[3] + w * wide_y;
        out[4] = out[4] && p[2] < 0;
    }
    return out[0] || out[1] || out[2] || out[3] || out[4];
}

/* The pixels of one axis that have a sample between two exact coordinates must be from..to or outside the image. */
static void axis_holds(uint64_t seed, double low, double high, uint32_t size, uint32_t samples, uint32_t from, uint32_t to)
{
    double first = samples == 1 ? ceil(low - 0.5) : floor(low), last = samples == 1 ? floor(high - 0.5) : floor(high);
    first = fmax(first, 0);
    last = fmin(last, size - 1.0);
    if (first > last) return;
    if (from > first || to < last) fail_msg("seed %u: pixels %g to %g are not within %u to %u", (unsigned)seed, first, last, from, to);
}

static void rectangles_hold_their_boxes(void **state)
{
    (void)state;
    struct twin twin = {0};
    uint32_t seen = 0, out = 0, forced = 0, kept = 0;
    for (uint64_t seed = 0; seed < 60000; seed++) {
        struct trial t = trial_of(seed, 1919, 1077);
        double margin = (double)(t.object.bounds.flags >> 16) / 16, least[2] = {1e300, 1e300}, most[2] = {-1e300, -1e300}, nearest = -1;
        begin(&twin, &t);
        if (!twin.counters.candidates) {
            if (!exactly_out(&t, margin)) fail_msg("seed %u: left out, but not beyond a side", (unsigned)seed);
            out++;
            continue;
        }
        kept += exactly_out(&t, margin + 1) && fabs((double)t.camera.eye_hi[0]) <= 1e4;
        bool touches = false;
        for (int i = 0; i < 8; i++) {
            double local[3], p[4];
            corner(&t.object, i, local);
            exact_clip(&t.camera, &t.object, local, p);
            touches = touches || p[2] >= p[3] || p[3] <= 0;
            nearest = fmax(nearest, p[2] / p[3]);
            for (int k = 0; k < 2; k++) {
                double at = (p[k] / p[3] * 0.5 + 0.5) * (k ? t.camera.height : t.camera.width);
                least[k] = fmin(least[k], at - margin);
                most[k] = fmax(most[k], at + margin);
            }
        }
        if (twin.verdicts[0] & VERDICT_FORCED) {
            forced++;
            continue;
        }
        seen++;
        if (touches) fail_msg("seed %u: reaches the near plane, but has a rectangle", (unsigned)seed);
        const struct proxy *p = &twin.inner[0];
        if (!(nearest <= (double)p->depth)) fail_msg("seed %u: depth %.9g is nearer than %.9g", (unsigned)seed, nearest, (double)p->depth);
        axis_holds(seed, least[0], most[0], t.camera.width, t.camera.samples, p->low & 0xffff, p->high & 0xffff);
        axis_holds(seed, least[1], most[1], t.camera.height, t.camera.samples, p->low >> 16, p->high >> 16);
        /* And tight: a pixel on each side beyond what margin, snapping and far-away arithmetic ask for. */
        if (fabs((double)t.camera.eye_hi[0]) > 1e4) continue;
        const struct proxy *o = &twin.outer[0];
        double wide = (o->high & 0xffff) - (o->low & 0xffff), high = (o->high >> 16) - (o->low >> 16);
        if (wide > most[0] - least[0] + 3 || high > most[1] - least[1] + 3) fail_msg("seed %u: a rectangle of %g x %g pixels", (unsigned)seed, wide, high);
    }
    print_message("%u rectangles, %u out, %u at the near plane; %u kept that are out\n", seen, out, forced, kept);
    assert_true(kept * 200 <= out);
    assert_true(seen > 20000 && out > 3000 && forced > 1000);
    twin_finish(&twin);
}

/* A triangle's exact depth as a plane over pixels: depth(x, y) = d + gx * x + gy * y. */
struct plane { double d, gx, gy, nearest; bool good; };

static struct plane plane_of(const double p[3][4], const struct visd_camera *camera)
{
    double x[3], y[3], z[3];
    struct plane plane = {.nearest = -1e300};
    for (int i = 0; i < 3; i++) {
        x[i] = (p[i][0] / p[i][3] * 0.5 + 0.5) * camera->width;
        y[i] = (p[i][1] / p[i][3] * 0.5 + 0.5) * camera->height;
        z[i] = p[i][2] / p[i][3];
        plane.nearest = fmax(plane.nearest, z[i]);
    }
    double ax = x[1] - x[0], ay = y[1] - y[0], bx = x[2] - x[0], by = y[2] - y[0], az = z[1] - z[0], bz = z[2] - z[0], area = ax * by - bx * ay;
    plane.good = fabs(area) > 1e-4;
    plane.gx = (az * by - bz * ay) / area;
    plane.gy = (bz * ax - az * bx) / area;
    plane.d = z[0] - plane.gx * x[0] - plane.gy * y[0];
    return plane;
}

/* The most that a triangle's surface can have at a sample, if the grid may be moved by 1/128 pixel. */
static double surface_at(const struct plane *plane, double x, double y)
{
    return fmin(plane->d + plane->gx * x + plane->gy * y + (fabs(plane->gx) + fabs(plane->gy)) / 128, plane->nearest);
}

static uint32_t check_triangle(struct twin *twin, const struct trial *t, uint32_t triangle, uint64_t seed)
{
    const struct draw *d = &twin->draws[0];
    const uint32_t *index = (const uint32_t *)(uintptr_t)d->indices + triangle * 3;
    const float *vertices = (const float *)(uintptr_t)d->vertices;
    uint32_t width = t->camera.width, height = t->camera.height, samples = t->camera.samples, covered = 0;
    double p[3][4];
    for (int i = 0; i < 3; i++) {
        double local[3];
        for (int k = 0; k < 3; k++) local[k] = (double)vertices[(index[i] & INDEX_MASK) * 3 + (uint32_t)k] - t->object.info.local[k];
        exact_clip(&t->camera, &t->object, local, p[i]);
        if (p[i][3] <= 0 || p[i][2] >= p[i][3]) return 0; /* where the near plane cuts, the surface has other corners */
    }
    struct plane plane = plane_of(p, &t->camera);
    if (!plane.good) return 0;
    twin_clear(twin);
    if (twin->clip[0]) twin_road_clip(twin, d, triangle);
    else twin_road_fast(twin, d, triangle);
    for (uint64_t i = 0; i < (uint64_t)width * height * samples; i++) {
        if (!(twin->depth.most[i] > 0)) continue;
        uint64_t pixel = i / samples;
        double x = (double)(pixel % width) + twin->frame.sample_offset[i % samples][0] / 256.0;
        double y = (double)(pixel / width) + twin->frame.sample_offset[i % samples][1] / 256.0, surface = surface_at(&plane, x, y);
        if (!((double)twin->depth.most[i] <= surface))
            fail_msg("seed %u, triangle %u, sample %g, %g: %.9g is nearer than the surface, %.9g", (unsigned)seed, triangle, x, y,
                     (double)twin->depth.most[i], surface);
        covered++;
    }
    return covered;
}

static void occluders_are_never_nearer_than_their_surface(void **state)
{
    (void)state;
    struct twin twin = {.strict = true};
    uint64_t covered = 0, roads[2] = {0, 0};
    for (uint64_t seed = 0; seed < 6000; seed++) {
        struct trial t = trial_of(seed, 60, 50);
        t.object.bounds.flags |= VISD_OBJECT_DOUBLE_SIDED;
        begin(&twin, &t);
        if (!twin.counters.candidates || !(twin.verdicts[0] & VERDICT_OCCLUDES)) continue;
        twin_select(&twin, SELECT_ALL, true);
        roads[twin.clip[0]]++;
        for (uint32_t i = 0; i < twin.draws[0].triangles && i < 12; i++) covered += check_triangle(&twin, &t, i, seed);
    }
    print_message("%u objects by the fast road, %u by the exact one, %u samples\n", (unsigned)roads[0], (unsigned)roads[1], (unsigned)covered);
    assert_true(roads[0] > 500 && roads[1] > 200 && covered > 100000);
    twin_finish(&twin);
}

static void no_object_is_hidden_by_its_own_surface(void **state)
{
    (void)state;
    struct twin twin = {0};
    uint32_t tried = 0;
    for (uint64_t seed = 0; seed < 30000; seed++) {
        struct trial t = trial_of(seed, 31, 27);
        begin(&twin, &t);
        if (!twin.counters.candidates || !(twin.verdicts[0] & VERDICT_OCCLUDES) || (twin.verdicts[0] & VERDICT_FORCED)) continue;
        twin_select(&twin, SELECT_ALL, true);
        twin_clear(&twin);
        twin_depth(&twin);
        tried++;
        for (uint64_t i = 0; i < 31 * 27 * (uint64_t)t.camera.samples; i++)
            if (twin.depth.most[i] > twin.inner[0].depth)
                fail_msg("seed %u: its surface at %.9g would hide its box at %.9g", (unsigned)seed, (double)twin.depth.most[i], (double)twin.inner[0].depth);
    }
    print_message("%u objects\n", tried);
    assert_true(tried > 5000);
    twin_finish(&twin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rectangles_hold_their_boxes),
        cmocka_unit_test(occluders_are_never_nearer_than_their_surface),
        cmocka_unit_test(no_object_is_hidden_by_its_own_surface),
    };
    return cmocka_run_group_tests_name("bounds on arithmetic", tests, setup, teardown);
}
