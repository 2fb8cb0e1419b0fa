/* link: visd_stage */
/* Bounds and transforms: mirrored, scaled, tiny with a large scale, without bounds, far from the origin. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rig/stage.h"

enum { WALL = 1, BALL, CUBE, MASK = 10 };

static const float half_cube[3] = {0.5f, 0.5f, 0.5f};

/* A screen-filling mask at z = -5 with a hole from x0 to x1, 0.8 high, around y = 0. */
static void mask_with_hole(double x0, double x1)
{
    stage_box(&stage, MASK, (x0 - 20) / 2, 0, -5, 20 + x0, 40, 0.01, 0);
    stage_box(&stage, MASK + 1, (x1 + 20) / 2, 0, -5, 20 - x1, 40, 0.01, 0);
    stage_box(&stage, MASK + 2, (x0 + x1) / 2, 10.4, -5, x1 - x0, 20, 0.01, 0);
    stage_box(&stage, MASK + 3, (x0 + x1) / 2, -10.4, -5, x1 - x0, 20, 0.01, 0);
}

/* A cube whose local centre is at x = 5, moved by (0, 0, -20), turned by 30 degrees about y, scaled by signs. */
static void add_mirrored(const double sign[3])
{
    const double c = cos(0.5235987755982988), s = sin(0.5235987755982988);
    const double turn[9] = {c, 0, s, 0, 1, 0, -s, 0, c}, local[3] = {5, 0, 0}, move[3] = {0, 0, -20};
    double t[12];
    for (int i = 0; i < 3; i++) {
        t[i * 4 + 3] = move[i];
        for (int j = 0; j < 3; j++) {
            t[i * 4 + j] = turn[i * 3 + j] * sign[j];
            t[i * 4 + 3] += t[i * 4 + j] * local[j]; /* of the box's centre */
        }
    }
    stage_add(&stage, CUBE, t, half_cube, stage.cube, 0);
}

/* https://github.com/jMonkeyEngine/jmonkeyengine/pull/345 */
static void mirrored_objects_stand_where_they_are(void **state)
{
    (void)state;
    static const double signs[3][3] = {{-1, 1, 1}, {-1, -1, 1}, {-1, -1, -1}};
    struct look look = look_ahead(1919, 1077);
    for (int i = 0; i < 3; i++)
        for (int mirrored = 0; mirrored < 2; mirrored++) {
            stage_clear(&stage);
            if (mirrored) mask_with_hole(-1.8, -0.7);
            else mask_with_hole(0.5, 1.4);
            add_mirrored(signs[i]);
            stage_commit(&stage);
            stage_expect(&stage, &look, mirrored ? IDS(CUBE) : NONE, mirrored ? NONE : IDS(CUBE), false);
        }
}

/* A mirrored occluder hides by the faces that are turned to the eye, like any other; and its insides hide nothing. */
static void mirrored_occluders_hide_by_their_fronts(void **state)
{
    (void)state;
    static const double signs[] = {1, -1};
    struct look look = look_ahead(480, 270);
    for (int i = 0; i < 8; i++) {
        const double t[12] = {6 * signs[i & 1], 0, 0, 0, 0, 6 * signs[i >> 1 & 1], 0, 0, 0, 0, 2 * signs[i >> 2], -10};
        stage_clear(&stage);
        stage.surely = VISD_METHOD_BOX; /* seen from behind a face is not there */
        stage_add(&stage, WALL, t, half_cube, stage.cube, 0);
        stage_box(&stage, CUBE, 0, 0, -20, 1, 1, 1, 0);
        stage_commit(&stage);
        stage_expect(&stage, &look, IDS(WALL), IDS(CUBE), true);
        look.eye[2] = -10; /* inside */
        stage_expect(&stage, &look, IDS(WALL, CUBE), NONE, true);
        look.eye[2] = 0;
    }
}

/* Single-sided plates: seen from behind they hide nothing; which side that is, a mirrored transform turns and a mirrored view does not. */
static void sides_of_a_plate(void **state)
{
    (void)state;
    struct look look = look_ahead(480, 270);
    static const float flat[3] = {0.5f, 0.5f, 0};
    for (int i = 0; i < 4; i++) {
        bool mirrored = i & 1, turned = i >> 1; /* turned: half a turn about y, its back to the eye */
        double x = (mirrored ? -1 : 1) * (turned ? -1 : 1), z = turned ? -1 : 1;
        const double t[12] = {8 * x, 0, 0, 0, 0, 8, 0, 0, 0, 0, z, -5};
        for (uint32_t sides = 0; sides < 3; sides++) {
            static const uint32_t flags[] = {0, VISD_OBJECT_SINGLE_SIDED, VISD_OBJECT_DOUBLE_SIDED};
            bool hides = sides == 2 || !turned;
            stage_clear(&stage);
            stage.surely = VISD_METHOD_BOX; /* the same */
            stage_add(&stage, WALL, t, flat, stage.plate, flags[sides]);
            stage_box(&stage, CUBE, 0, 0, -10, 1, 1, 1, 0);
            stage_commit(&stage);
            stage_expect(&stage, &look, hides ? IDS(WALL) : IDS(WALL, CUBE), hides ? IDS(CUBE) : NONE, true);
        }
    }
}

/* https://github.com/CesiumGS/cesium/pull/2444 https://github.com/o3de/o3de/issues/14908 */
static void scale_moves_and_stretches(void **state)
{
    (void)state;
    static const float unit[3] = {1, 1, 1}, flat[3] = {0.5f, 0.5f, 0};
    struct look look = look_ahead(960, 540);
    const double ball[12] = {5, 0, 0, 0, 0, 5, 0, 0, 0, 0, 5, -20}; /* radius 0.5 around (0, 0, -2), ten times */
    const double plate[12] = {4, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, -5};
    stage_clear(&stage);
    stage_box(&stage, WALL, 0, 0, -10, 16, 16, 0.1, 0);
    stage_add(&stage, BALL, ball, unit, stage.ball, 0);
    stage_commit(&stage);
    stage_expect(&stage, &look, IDS(WALL), IDS(BALL), true);
    stage_clear(&stage);
    stage_add(&stage, WALL, plate, flat, stage.plate, 0);
    stage_box(&stage, CUBE, 1, 0, -6, 1.5, 1.5, 1.5, 0);
    stage_commit(&stage);
    stage_expect(&stage, &look, IDS(WALL), IDS(CUBE), true);
}

/* https://github.com/castle-engine/castle-engine/issues/503 */
static void tiny_box_with_a_large_scale(void **state)
{
    (void)state;
    static const float tiny[3] = {0.001f, 0.001f, 0.001f};
    uint32_t mesh = rig_box_mesh(&stage.rig, tiny, VISD_SIDES_SINGLE);
    const double t[12] = {5000, 0, 0, 300, 0, 5000, 0, 20, 0, 0, 5000, -700};
    stage_clear(&stage);
    stage.surely = VISD_METHOD_HIZ; /* tiny indeed: at times between samples */
    stage_add(&stage, CUBE, t, tiny, mesh, 0);
    stage_commit(&stage);
    for (int step = 0; step < 180; step++) {
        double a = step * 0.0349065850398866;
        struct look look = look_ahead(384, 216);
        look.far = 5000;
        look.eye[0] = 300 + 2000 * sin(a);
        look.eye[1] = 20;
        look.eye[2] = -700 + 2000 * cos(a);
        look.yaw = step * 2;
        stage_expect(&stage, &look, IDS(CUBE), NONE, false);
    }
}

/* https://github.com/o3de/o3de/pull/2209 */
static void unbounded_objects(void **state)
{
    (void)state;
    static const float boxes[4][3] = {{FLT_MAX, FLT_MAX, FLT_MAX}, {1e30f, 1e30f, 1e30f}, {0, 0, 0}, {INFINITY, INFINITY, INFINITY}};
    stage_clear(&stage);
    for (uint64_t i = 0; i < 4; i++) stage_add(&stage, MASK + i, NULL, boxes[i], i == 2 ? VISD_MESH_NONE : stage.cube, VISD_OBJECT_UNBOUNDED);
    stage_box(&stage, WALL, 0, 0, -10, 8, 8, 0.1, 0);
    stage_box(&stage, CUBE, 0, 0, -20, 1, 1, 1, 0);
    stage_commit(&stage);
    for (int yaw = 0; yaw < 360; yaw += 45) {
        struct look look = look_ahead(384, 216);
        look.yaw = yaw;
        look.eye[2] = 3;
        stage_expect(&stage, &look, yaw ? IDS(MASK, MASK + 1, MASK + 2, MASK + 3) : IDS(MASK, MASK + 1, MASK + 2, MASK + 3, WALL), IDS(CUBE), true);
        assert_int_equal(stage.rig.last.stats.tested, 6);
        assert_int_equal(stage.rig.last.stats.forced, 4);
        assert_in_range(stage.rig.last.stats.in_frustum, 4, 6);
    }
}

static void twenty_objects(const double at[3])
{
    uint32_t random = 5;
    stage_clear(&stage);
    for (uint64_t i = 0; i < 20; i++) {
        double v[3];
        for (int k = 0; k < 3; k++) {
            random = random * 1664525u + 1013904223u;
            v[k] = (random >> 16) / 65536.0; /* exact at any of the places */
        }
        stage_box(&stage, 100 + i, v[0] * 8 - 4 + at[0], v[1] * 4 - 2 + at[1], -5 - v[2] * 10 + at[2], 1 + 2 * v[1], 1 + 2 * v[2], 1, 0);
    }
    stage_commit(&stage);
}

/* https://github.com/openscenegraph/OpenSceneGraph/issues/538 */
static void the_same_far_from_the_origin(void **state)
{
    (void)state;
    static const double places[][3] = {{0, 0, 0}, {3.2e6, -1.7e6, 4e5}, {1e7, 1e7, -1e7}};
    for (int step = 0; step < 24; step++) {
        struct rig_list first = {0};
        for (int p = 0; p < 3; p++) {
            struct look look = look_ahead(480, 270);
            look.far = step & 1 ? 1000 : INFINITY;
            look.eye[0] = places[p][0] + step * 0.125 - 1.5;
            look.eye[1] = places[p][1];
            look.eye[2] = places[p][2];
            look.yaw = step % 5 - 2;
            twenty_objects(places[p]);
            struct rig_list list = stage_list(&stage, &look, VISD_FRAME_FRESH);
            if (p == 0) {
                first = list;
                continue;
            }
            assert_true(rig_same_list(&first, &list));
            rig_list_free(&list);
        }
        assert_in_range(first.count, 3, 19);
        rig_list_free(&first);
    }
}

/* A millimetre of gap at ten thousand kilometres shows what is behind it, and no gap does not. */
static void a_millimetre_far_from_the_origin(void **state)
{
    (void)state;
    const double at = 1e7;
    for (int gap = 0; gap < 2; gap++) {
        stage_clear(&stage);
        stage_box(&stage, WALL, at - 0.05 - gap * 0.0005, at, at - 0.2, 0.1, 0.2, 0.01, 0);
        stage_box(&stage, MASK, at + 0.05 + gap * 0.0005, at, at - 0.2, 0.1, 0.2, 0.01, 0);
        stage_box(&stage, CUBE, at, at, at - 0.4, 0.02, 0.02, 0.02, 0);
        stage_commit(&stage);
        struct look look = look_ahead(960, 540);
        look.near = 0.01;
        look.fov = 20;
        for (int k = 0; k < 3; k++) look.eye[k] = at;
        stage_expect(&stage, &look, gap ? IDS(WALL, MASK, CUBE) : IDS(WALL, MASK), gap ? NONE : IDS(CUBE), true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mirrored_objects_stand_where_they_are),
        cmocka_unit_test(mirrored_occluders_hide_by_their_fronts),
        cmocka_unit_test(sides_of_a_plate),
        cmocka_unit_test(scale_moves_and_stretches),
        cmocka_unit_test(tiny_box_with_a_large_scale),
        cmocka_unit_test(unbounded_objects),
        cmocka_unit_test(the_same_far_from_the_origin),
        cmocka_unit_test(a_millimetre_far_from_the_origin),
    };
    return cmocka_run_group_tests_name("bounds and transforms", tests, stage_setup, stage_teardown);
}
