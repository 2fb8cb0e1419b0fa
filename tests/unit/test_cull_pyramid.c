/* link: visd_stage */
/* The pyramid against what it must never lose: last pixel columns, slivers, holes, fences, one-pixel gaps, sub-rectangles; and that it does hide. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rig/stage.h"

enum { WALL = 1, BEHIND, HIDDEN, BOX = 100 };

/* A metre a pixel, the eye at the picture's middle. */
static struct look map(uint32_t size)
{
    struct look look = look_ahead(size, size);
    look.tall = size;
    return look;
}

/* Any size is covered exactly: the last columns and rows belong to some texel. https://github.com/bevyengine/bevy/pull/12884 */
static void last_columns_at_any_size(void **state)
{
    (void)state;
    for (uint32_t size = 33; size <= 130; size += size < 66 || size > 75 ? 3 : 1) {
        double w = size;
        for (int side = 0; side < 4; side++) {
            double sign = side & 1 ? -1 : 1;
            bool rows = side >= 2;
            stage_clear(&stage);
            stage_box(&stage, WALL, rows ? 0 : -4.5 * sign, rows ? -4.5 * sign : 0, -10, rows ? w : w - 9, rows ? w - 9 : w, 1, 0);
            stage_box(&stage, BEHIND, rows ? 0 : (w / 2 - 4) * sign, rows ? (w / 2 - 4) * sign : 0, -20, rows ? w : 8, rows ? 8 : w, 1, 0);
            stage_box(&stage, HIDDEN, rows ? 0 : -w / 4 * sign, rows ? -w / 4 * sign : 0, -20, w / 4, w / 4, 1, 0);
            stage_commit(&stage);
            struct look look = map(size);
            look.near = 1;
            struct rig_list list = stage_list(&stage, &look, VISD_FRAME_FRESH);
            assert_true(rig_lists(&list, BEHIND));
            assert_false(rig_lists(&list, HIDDEN));
            rig_list_free(&list);
        }
    }
}

/* A gap of one pixel anywhere shows what is behind it; no gap, and it is hidden. */
static void one_pixel_gaps(void **state)
{
    (void)state;
    const double size = 77;
    for (int gap = 0; gap < 77; gap += 4) {
        stage_clear(&stage);
        stage.surely = VISD_METHOD_HIZ; /* at odd sizes the gap lies between samples */
        double left = gap, right = size - gap - 1, up = (gap * 7) % 77, down = size - up - 1;
        stage_box(&stage, WALL, left / 2 - size / 2, 0, -10, left, size, 1, 0);
        stage_box(&stage, WALL + 3, size / 2 - right / 2, 0, -10, right, size, 1, 0);
        stage_box(&stage, WALL + 4, gap - size / 2 + 0.5, size / 2 - up / 2, -10, 1, up, 1, 0);
        stage_box(&stage, WALL + 5, gap - size / 2 + 0.5, down / 2 - size / 2, -10, 1, down, 1, 0);
        stage_box(&stage, BEHIND, 0, 0, -20, size, size, 1, 0);
        stage_commit(&stage);
        struct look look = map(77);
        look.near = 1;
        stage_expect(&stage, &look, IDS(BEHIND), NONE, false);
        stage_box(&stage, WALL + 6, gap - size / 2 + 0.5, size / 2 - up - 0.5, -10, 1, 1, 1, 0);
        stage_commit(&stage);
        struct rig_list list = stage_list(&stage, &look, 0);
        assert_false(rig_lists(&list, BEHIND));
        rig_list_free(&list);
    }
}

/* https://github.com/godotengine/godot/issues/70516 */
static void sliver_at_the_edge(void **state)
{
    (void)state;
    const double edge = tan(30 * 0.017453292519943295) * 1920 / 1080; /* tangent of the view's right side */
    stage_clear(&stage);
    stage_box(&stage, WALL, 0.579 - 5, 0, -5.6, 10, 10, 10, 0);
    stage_box(&stage, BEHIND, 9, 0, -16.1, 10, 10, 10, 0);
    stage_commit(&stage);
    for (int step = 0; step < 40; step++) {
        struct look look = look_ahead(1920, 1080);
        look.eye[0] = -0.001 * step;
        bool seen = (0.579 + 0.001 * step) / 0.6 < edge - 2 * edge / 1920;
        stage_expect(&stage, &look, seen ? IDS(WALL, BEHIND) : IDS(WALL), NONE, false);
    }
    struct look look = look_ahead(1920, 1080);
    look.eye[0] = -0.2;
    stage_expect(&stage, &look, IDS(WALL), IDS(BEHIND), false);
}

/* An object that is its own occluder is listed, wherever it stands. https://github.com/godotengine/godot/pull/52545 */
static void no_object_hides_itself(void **state)
{
    (void)state;
    static const double distances[] = {0.3, 0.7, 2, 5, 12, 30, 70, 150, 400, 900};
    for (int kind = 0; kind < 3; kind++)
        for (int place = 0; place < 9; place++)
            for (int d = 0; d < 10; d++) {
                double z = distances[d], x = (place % 3 - 1) * z * 0.95 * tan(0.5235987756) * 16 / 9, y = (place / 3 - 1) * z * 0.95 * tan(0.5235987756);
                static const float half[3] = {0.5f, 0.5f, 0.5f}, unit[3] = {1, 1, 1}, flat[3] = {0.5f, 0.5f, 0};
                const double t[12] = {0.2, 0, 0, x, 0, 0.2, 0, y, 0, 0, 0.2, -z - 0.1};
                stage_clear(&stage);
                if (z > 20) stage.surely = VISD_METHOD_HIZ; /* smaller than a pixel */
                stage_add(&stage, BOX, t, kind == 0 ? half : kind == 1 ? unit : flat, kind == 0 ? stage.cube : kind == 1 ? stage.ball : stage.plate, 0);
                stage_commit(&stage);
                struct look look = look_ahead(320, 180);
                look.near = 0.05;
                stage_expect(&stage, &look, IDS(BOX), NONE, false);
            }
}

/* A plate with a round hole, of two triangles for each of `steps` directions and `rings` rings. */
static uint32_t holed_plate(uint32_t steps, uint32_t rings)
{
    float *p = malloc((uint64_t)steps * (rings + 1) * 12);
    uint32_t *indices = malloc((uint64_t)steps * rings * 24), count = 0;
    for (uint32_t i = 0; i < steps; i++)
        for (uint32_t r = 0; r <= rings; r++) {
            double a = 6.283185307179586 * i / steps, c = cos(a), s = sin(a), out = 1 / fmax(fabs(c), fabs(s)), at = 0.15 + (out - 0.15) * r / rings;
            float *v = p + ((uint64_t)i * (rings + 1) + r) * 3;
            v[0] = (float)(c * at);
            v[1] = (float)(s * at);
            v[2] = 0;
        }
    for (uint32_t i = 0; i < steps; i++)
        for (uint32_t r = 0; r < rings; r++) {
            uint32_t a = i * (rings + 1) + r, b = (i + 1) % steps * (rings + 1) + r;
            const uint32_t six[6] = {a, a + 1, b + 1, a, b + 1, b};
            memcpy(indices + count, six, sizeof(six));
            count += 6;
        }
    uint32_t mesh = rig_mesh(&stage.rig, p, steps * (rings + 1), indices, count, VISD_SIDES_DOUBLE);
    free(p);
    free(indices);
    return mesh;
}

/* https://github.com/TokisanGames/Terrain3D/issues/301 */
static void hole_in_a_fine_plate(void **state)
{
    (void)state;
    static const double t[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, -3};
    static const float half[3] = {1, 1, 0};
    uint32_t plate = holed_plate(250, 100);
    stage_clear(&stage);
    stage_add(&stage, WALL, t, half, plate, 0);
    stage_box(&stage, BEHIND, 0, 0, -3.25, 0.1, 0.1, 0.1, 0);
    stage_box(&stage, HIDDEN, 0.5, 0.4, -3.25, 0.1, 0.1, 0.1, 0);
    stage_commit(&stage);
    static const uint32_t sizes[][2] = {{1920, 1080}, {640, 360}, {201, 113}};
    for (int i = 0; i < 3; i++) {
        struct look look = look_ahead(sizes[i][0], sizes[i][1]);
        stage_expect(&stage, &look, IDS(WALL, BEHIND), i < 2 ? IDS(HIDDEN) : NONE, i > 0);
    }
}

/* Half the columns are near, half are open: the farthest of a texel counts, in every depth form.
 * https://github.com/Unity-Technologies/ScriptableRenderPipeline/pull/719 */
static void fence_of_one_pixel_cells(void **state)
{
    (void)state;
    enum { PIXELS = 480 };
    static float p[PIXELS / 2 * 12];
    static uint32_t indices[PIXELS / 2 * 6];
    static const float half[3] = {3, 2, 0};
    static const double t[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, -2};
    double pixel = 2 * 2 * tan(30 * 0.017453292519943295) / 270;
    for (uint32_t i = 0; i < PIXELS / 2; i++) {
        double x = (2.0 * i - PIXELS / 2) * pixel;
        const float quad[12] = {(float)x, -2, 0, (float)(x + pixel), -2, 0, (float)(x + pixel), 2, 0, (float)x, 2, 0};
        const uint32_t six[6] = {i * 4, i * 4 + 1, i * 4 + 2, i * 4, i * 4 + 2, i * 4 + 3};
        memcpy(p + i * 12, quad, sizeof(quad));
        memcpy(indices + i * 6, six, sizeof(six));
    }
    uint32_t fence = rig_mesh(&stage.rig, p, PIXELS / 2 * 4, indices, PIXELS / 2 * 6, VISD_SIDES_DOUBLE);
    stage_clear(&stage);
    stage_add(&stage, WALL, t, half, fence, 0);
    stage_box(&stage, BEHIND, 0, 0, -4, 1, 1, 1, 0);
    stage_commit(&stage);
    struct look look = look_ahead(PIXELS, 270);
    stage_expect(&stage, &look, IDS(WALL, BEHIND), NONE, true);
}

/* A view that shrinks reads nothing of the larger picture before. https://github.com/community-shaders/skyrim-community-shaders/issues/1508 */
static void smaller_after_larger(void **state)
{
    (void)state;
    struct look large = look_ahead(1920, 1080), small = look_ahead(1280, 720);
    stage_clear(&stage);
    stage_box(&stage, WALL, 0, 0, -1, 10, 10, 0.1, 0);
    for (uint64_t i = 0; i < 200; i++) stage_box(&stage, BOX + i, (double)(i % 20) - 9.5, (double)(i / 20) - 4.5, 60, 0.3, 0.3, 0.3, 0);
    stage_commit(&stage);
    small.yaw = 180;
    for (int turn = 0; turn < 3; turn++) {
        struct rig_list wall = stage_list(&stage, &large, 0);
        assert_int_equal(wall.count, 1);
        rig_list_free(&wall);
        struct rig_list open = stage_list(&stage, &small, 0);
        assert_int_equal(open.count, 200);
        struct visd_camera camera = look_camera(&small);
        struct rig_list fresh = rig_frame(&stage.rig, rig_view(&stage.rig), &camera, VISD_METHOD_HIZ, VISD_FRAME_FRESH);
        assert_true(rig_same_list(&open, &fresh));
        rig_list_free(&open);
        rig_list_free(&fresh);
    }
}

/* Always listing is a failure too. https://github.com/godotengine/godot/issues/119488 */
static void close_behind_a_wall_is_hidden(void **state)
{
    (void)state;
    static const double distances[] = {5, 50, 500};
    for (int d = 0; d < 3; d++) {
        stage_clear(&stage);
        stage_box(&stage, WALL, 0, 0, -distances[d] - 0.05, 200, 200, 0.1, 0);
        stage_box(&stage, HIDDEN, 0, 0, -distances[d] - 0.1 - 0.5 - 12, 24, 24, 24, 0);
        stage_commit(&stage);
        struct look look = look_ahead(960, 540);
        stage_expect(&stage, &look, IDS(WALL), IDS(HIDDEN), true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_columns_at_any_size), cmocka_unit_test(one_pixel_gaps),       cmocka_unit_test(sliver_at_the_edge),
        cmocka_unit_test(no_object_hides_itself),   cmocka_unit_test(hole_in_a_fine_plate), cmocka_unit_test(fence_of_one_pixel_cells),
        cmocka_unit_test(smaller_after_larger),     cmocka_unit_test(close_behind_a_wall_is_hidden),
    };
    return cmocka_run_group_tests_name("pyramid", tests, stage_setup, stage_teardown);
}
