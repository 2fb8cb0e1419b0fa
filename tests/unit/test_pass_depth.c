/* link: visd_rig visd_twin */
/* Depth and pyramid on the device, held against double arithmetic and the integer rule: no surface comes out nearer than it is, at any size
 * and number of samples; a mesh of more work groups than one axis of a dispatch holds is drawn to its last triangle; ids name what is nearest. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rig/rig.h"
#include "tests/twin/random.h"
#include "tests/twin/twin.h"

static struct rig rig;
static uint32_t plate, cube;

static int setup(void **state)
{
    static const float square[12] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0}, half[3] = {1, 1, 1};
    static const uint32_t two[6] = {0, 1, 2, 0, 2, 3};
    (void)state;
    rig_init(&rig, 0, 0);
    plate = rig_mesh(&rig, square, 4, two, 6, VISD_SIDES_DOUBLE);
    cube = rig_box_mesh(&rig, half, VISD_SIDES_SINGLE);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rig_finish(&rig);
    return 0;
}

static struct rig_picture depth_of(const struct visd_camera *camera, uint32_t view, uint32_t flags)
{
    struct rig_list list = rig_frame(&rig, view, camera, VISD_METHOD_HIZ, VISD_FRAME_FRESH | flags);
    rig_list_free(&list);
    return rig_snapshot(&rig, view, VISD_SNAPSHOT_DEPTH, 0, (uint64_t)camera->width * camera->height * 4);
}

/* A plate's depth as an exact plane over pixels; false where it stands on edge or reaches before the near plane. */
static bool plane_of(const struct visd_camera *camera, const struct visd_object_change *c, double plane[3], double *nearest)
{
    double x[3], y[3], z[3];
    *nearest = -INFINITY;
    for (int i = 0; i < 4; i++) {
        double r[3], clip[4], u = i == 1 || i == 2 ? 1 : -1, v = i >= 2 ? 1 : -1;
        for (int k = 0; k < 3; k++)
            r[k] = ((double)c->bounds.centre_hi[k] - camera->eye_hi[k]) + ((double)c->bounds.centre_lo[k] - camera->eye_lo[k]) +
                   u * c->bounds.row[k].linear[0] + v * c->bounds.row[k].linear[1];
        for (int k = 0; k < 4; k++) clip[k] = camera->m[k][0] * r[0] + camera->m[k][1] * r[1] + camera->m[k][2] * r[2] + camera->m[k][3];
        if (clip[3] <= 0 || clip[2] >= clip[3]) return false;
        *nearest = fmax(*nearest, clip[2] / clip[3]);
        if (i == 3) break;
        x[i] = (clip[0] / clip[3] * 0.5 + 0.5) * camera->width;
        y[i] = (clip[1] / clip[3] * 0.5 + 0.5) * camera->height;
        z[i] = clip[2] / clip[3];
    }
    double ax = x[1] - x[0], ay = y[1] - y[0], bx = x[2] - x[0], by = y[2] - y[0], az = z[1] - z[0], bz = z[2] - z[0], area = ax * by - bx * ay;
    plane[1] = (az * by - bz * ay) / area;
    plane[2] = (bz * ax - az * bx) / area;
    plane[0] = z[0] - plane[1] * x[0] - plane[2] * y[0];
    return fabs(area) > 1;
}

/* One plate at a time, from small ones to such that reach far behind the far plane and far out of the image. */
static void plates_are_never_nearer_than_they_are(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{90, 70}, {16384, 3}, {3, 16384}, {1919, 40}};
    struct random r = {3};
    uint64_t covered = 0;
    double loss = 0;
    uint32_t view = rig_view(&rig);
    for (int trial = 0; trial < 160; trial++) {
        double eye[3] = {0, 0, 0}, forward[3], turn[3][3], t[12], plane[3], nearest, scale = random_scale(&r, 0.5, 500), away = random_scale(&r, 1, 60);
        static const float half[3] = {1, 1, 0};
        if (trial % 5 == 4) eye[trial % 3] = 1e7;
        struct visd_camera camera = random_camera(&r, eye, (enum random_projection)(random_next(&r) % 4), sizes[trial % 4][0], sizes[trial % 4][1], 1, forward);
        random_rotation(&r, turn);
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) t[i * 4 + j] = turn[i][j] * scale;
            t[i * 4 + 3] = eye[i] + forward[i] * away;
        }
        struct visd_object_change object = rig_object(0, 1, t, half, plate, 0);
        rig_commit(&rig, &object, 1);
        if (!plane_of(&camera, &object, plane, &nearest)) continue;
        struct rig_picture picture = depth_of(&camera, view, 0);
        const float *depth = picture.data;
        for (uint32_t y = 0; y < camera.height; y++)
            for (uint32_t x = 0; x < camera.width; x++, depth++) {
                if (!(*depth > 0)) continue;
                /* The grid may be moved by 1/128 pixel, of which snapping takes 1/512 and the fast road's float 1/256. */
                double surface = plane[0] + plane[1] * (x + 0.5) + plane[2] * (y + 0.5), give = (fabs(plane[1]) + fabs(plane[2])) / 128;
                if (!((double)*depth <= fmin(surface + give, nearest)))
                    fail_msg("trial %d, pixel %u, %u: %.9g is nearer than %.9g + %.3g", trial, x, y, (double)*depth, surface, give);
                covered++;
                loss = fmax(loss, (surface - give - (double)*depth) / nearest);
            }
        free(picture.data);
    }
    print_message("%u pixels; at most %.3g of the nearest depth is given away\n", (unsigned)covered, loss);
    assert_true(covered > 200000);
    assert_true(loss < 1e-3);
}

/* Level by level, from the pictures themselves; however many levels a dispatch makes. */
static void pyramids_of_any_size(void **state)
{
    (void)state;
    static const uint32_t sizes[][3] = {{1, 1, 1}, {1, 1, 8}, {2, 3, 1}, {8, 8, 1}, {9, 8, 2}, {17, 1, 1}, {1, 129, 4},
                                        {63, 64, 1}, {65, 127, 1}, {70, 70, 1}, {70, 70, 2}, {70, 70, 4},
                                        {70, 70, 8}, {333, 517, 1}, {256, 256, 1}, {255, 257, 4}, {1919, 1077, 1}, {4097, 5, 1}, {3, 9001, 1}, {16384, 2, 1}};
    struct random r = {21};
    struct visd_object_change objects[40];
    static const float half[3] = {1, 1, 1};
    uint32_t view = rig_view(&rig);
    for (uint32_t i = 0; i < 40; i++) {
        double turn[3][3], t[12];
        random_rotation(&r, turn);
        for (int k = 0; k < 3; k++) {
            for (int j = 0; j < 3; j++) t[k * 4 + j] = turn[k][j] * 0.7;
            t[k * 4 + 3] = k == 2 ? random_between(&r, -20, -5) : random_between(&r, -5, 5);
        }
        objects[i] = rig_object(i, i, t, half, cube, 0);
    }
    rig_clear(&rig);
    rig_commit(&rig, objects, 40);
    for (size_t n = 0; n < 2 * sizeof(sizes) / sizeof(sizes[0]); n++) {
        static const double eye[3] = {0, 0, 0};
        const uint32_t *size = sizes[n / 2];
        struct visd_camera camera = rig_camera(eye, 0, 0, 0.9, 0.1, size[0], size[1]);
        for (int k = 0; k < 3; k++) camera.m[0][k] *= (float)size[0] / (float)size[1]; /* all of the scene in any shape of image */
        camera.samples = size[2];
        struct rig_picture picture = depth_of(&camera, view, n % 2 ? VISD_FRAME_STEPWISE : VISD_FRAME_AT_ONCE);
        struct twin_pyramid pyramid = {0};
        twin_pyramid_make(&pyramid, picture.data, camera.width, camera.height, 1);
        for (uint32_t level = 0; level < pyramid.levels; level++) {
            uint64_t bytes = (uint64_t)pyramid.width[level] * pyramid.height[level] * 4;
            struct rig_picture is = rig_snapshot(&rig, view, VISD_SNAPSHOT_PYRAMID, level, bytes);
            assert_int_equal(is.width, pyramid.width[level]);
            assert_int_equal(is.height, pyramid.height[level]);
            assert_int_equal(is.count, bytes);
            if (memcmp(is.data, pyramid.level[level], bytes) != 0)
                fail_msg("%u x %u, %u samples: level %u differs", camera.width, camera.height, camera.samples, level);
            free(is.data);
        }
        struct visd_job beyond = {.kind = VISD_JOB_SNAPSHOT, .view = view, .u.snapshot = {.what = VISD_SNAPSHOT_PYRAMID, .level = pyramid.levels}};
        assert_int_equal(rig_do(&rig, beyond).err, VISD_ERR_BAD_VALUE);
        twin_pyramid_free(&pyramid);
        free(picture.data);
    }
}

/* A mesh of 1.2 million triangles: 75,000 work groups of the depth pass. Each quad is a pixel; the last row is there. */
static void a_mesh_of_many_work_groups(void **state)
{
    (void)state;
    enum { SIDE = 775 };
    float *p = malloc((uint64_t)(SIDE + 1) * (SIDE + 1) * 12);
    uint32_t *indices = malloc((uint64_t)SIDE * SIDE * 24), count = 0;
    for (uint32_t i = 0; i <= SIDE; i++)
        for (uint32_t j = 0; j <= SIDE; j++) {
            float *v = p + ((uint64_t)i * (SIDE + 1) + j) * 3;
            v[0] = (float)j - SIDE / 2.0f;
            v[1] = (float)i - SIDE / 2.0f;
            v[2] = 0;
        }
    for (uint32_t i = 0; i < SIDE; i++)
        for (uint32_t j = 0; j < SIDE; j++) {
            uint32_t a = i * (SIDE + 1) + j, b = a + SIDE + 1;
            const uint32_t six[6] = {a, a + 1, b + 1, a, b + 1, b};
            memcpy(indices + count, six, sizeof(six));
            count += 6;
        }
    struct rig large; /* with a budget that lets it be drawn */
    rig_init(&large, 8000000, 0);
    uint32_t mesh = rig_mesh(&large, p, (SIDE + 1) * (SIDE + 1), indices, count, VISD_SIDES_DOUBLE);
    free(p);
    free(indices);
    static const float half[3] = {SIDE / 2.0f, SIDE / 2.0f, 0};
    static const double t[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, -10}, eye[3] = {0, 0, 0};
    struct visd_object_change object = rig_object(0, 1, t, half, mesh, 0);
    rig_commit(&large, &object, 1);
    struct visd_camera camera = rig_camera(eye, 0, 0, 1, 0.1, SIDE, SIDE);
    memset(camera.m, 0, sizeof(camera.m));
    camera.m[0][0] = 2.0f / SIDE;
    camera.m[1][1] = -2.0f / SIDE;
    camera.m[2][2] = 1.0f / 64;
    camera.m[2][3] = camera.m[3][3] = 1;
    uint32_t view = rig_view(&large);
    struct rig_list list = rig_frame(&large, view, &camera, VISD_METHOD_HIZ, VISD_FRAME_COVERAGE);
    assert_int_equal(list.count, 1);
    assert_int_equal(large.last.stats.triangles[1], 2 * SIDE * SIDE);
    assert_int_equal(large.last.stats.pixels_covered, SIDE * SIDE);
    assert_int_equal(large.last.stats.samples_all, 2 * SIDE * SIDE); /* a pixel's middle lies on the edge that both triangles share */
    rig_list_free(&list);
    struct rig_picture picture = rig_snapshot(&large, view, VISD_SNAPSHOT_DEPTH, 0, SIDE * SIDE * 4);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) assert_true(((const float *)picture.data)[i] > 0);
    free(picture.data);
    rig_finish(&large);
}

/* Coverage as the twin counts it, and ids that name what a pixel shows. */
static void coverage_and_ids(void **state)
{
    (void)state;
    struct visd_object_change objects[3];
    static const float half[3] = {1, 1, 1}, flat[3] = {1, 1, 0};
    const double eye[3] = {0, 0, 0}, wall[12] = {3, 0, 0, 0, 0, 3, 0, 0, 0, 0, 1, -10}, left[12] = {1, 0, 0, -2, 0, 1, 0, 0, 0, 0, 1, -6},
                 hidden[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, -20};
    objects[0] = rig_object(0, 70, wall, flat, plate, 0);
    objects[1] = rig_object(1, 71, left, half, cube, 0);
    objects[2] = rig_object(2, 72, hidden, half, cube, 0);
    rig_clear(&rig);
    rig_commit(&rig, objects, 3);
    uint32_t view = rig_view(&rig);
    for (uint32_t samples = 1; samples <= 8; samples *= 2) {
        struct visd_camera camera = rig_camera(eye, 0, 0, 1, 0.1, 200, 100);
        camera.samples = samples;
        struct rig_list list = rig_frame(&rig, view, &camera, VISD_METHOD_HIZ, VISD_FRAME_COVERAGE);
        assert_int_equal(list.count, 2);
        rig_list_free(&list);
        uint64_t covered = rig.last.stats.pixels_covered;
        assert_true(rig.last.stats.samples_all > covered);
        struct rig_picture depth = rig_snapshot(&rig, view, VISD_SNAPSHOT_DEPTH, 0, 200 * 100 * 4);
        struct rig_picture ids = rig_snapshot(&rig, view, VISD_SNAPSHOT_IDS, 0, 200 * 100 * 8);
        uint64_t pixels = 0, walls = 0, cubes = 0;
        for (uint32_t i = 0; i < 200 * 100; i++) {
            uint64_t id = ((const uint64_t *)ids.data)[i];
            bool some = ((const float *)depth.data)[i] > 0;
            if (samples == 1) assert_int_equal(some, id != UINT64_MAX);
            assert_true(id == 70 || id == 71 || id == UINT64_MAX);
            pixels += some;
            walls += id == 70;
            cubes += id == 71;
        }
        if (samples == 1) assert_int_equal(pixels, covered);
        assert_in_range(covered, pixels * samples, pixels * samples + 400 * samples);
        assert_true(walls > 1000 && cubes > 300);
        free(depth.data);
        free(ids.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plates_are_never_nearer_than_they_are),
        cmocka_unit_test(pyramids_of_any_size),
        cmocka_unit_test(a_mesh_of_many_work_groups),
        cmocka_unit_test(coverage_and_ids),
    };
    return cmocka_run_group_tests_name("depth and pyramid", tests, setup, teardown);
}
