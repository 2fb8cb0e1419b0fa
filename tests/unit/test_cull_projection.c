/* link: visd_stage */
/* Forms of projection: parallel, lopsided, of any shape of window. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rig/stage.h"

enum { WALL = 1, BEFORE, BEHIND };

/* https://github.com/godotengine/godot/issues/98561 */
static void parallel_projection(void **state)
{
    (void)state;
    static const double tall[] = {2, 12, 120, 1200}, nears[] = {0.1, -50, -1000};
    stage_clear(&stage);
    stage_box(&stage, WALL, 0, 0, -5, 10, 10, 0.1, 0);
    stage_box(&stage, BEFORE, 0, 0, -2, 1, 1, 1, 0);
    stage_box(&stage, BEHIND, 0, 0, -8, 1, 1, 1, 0);
    stage_commit(&stage);
    for (int n = 0; n < 3; n++)
        for (int i = 0; i < 4; i++) {
            struct look look = look_ahead(960, 540);
            look.tall = tall[i];
            look.near = nears[n];
            stage.surely = i < 3 ? VISD_METHOD_EXACT : VISD_METHOD_HIZ; /* then smaller than a pixel */
            stage_expect(&stage, &look, i ? IDS(WALL, BEFORE) : IDS(BEFORE), IDS(BEHIND), n == 1);
        }
}

/* What lies behind the eye is in view when the near plane is. */
static void parallel_projection_sees_behind_the_eye(void **state)
{
    (void)state;
    stage_clear(&stage);
    stage_box(&stage, WALL, 0, 0, 20, 4, 4, 1, 0);
    stage_box(&stage, BEFORE, 0, 0, 30, 1, 1, 1, 0);
    stage_box(&stage, BEHIND, 0, 0, -5, 1, 1, 1, 0);
    stage_commit(&stage);
    struct look look = look_ahead(960, 540);
    look.tall = 10;
    look.near = -100;
    stage_expect(&stage, &look, IDS(WALL, BEFORE), IDS(BEHIND), true);
}

/* Tiles whose edges touch, each its own occluder, never hide one another. https://github.com/godotengine/godot/issues/113329 */
static void abutting_tiles(void **state)
{
    (void)state;
    stage_clear(&stage);
    for (int i = 0; i < 400; i++) stage_box(&stage, 1 + (uint64_t)i, i % 20 * 3 - 28.5, -10, i / 20 * 3 - 28.5, 3, 0.2, 3, 0);
    stage_commit(&stage);
    for (int step = 0; step < 33; step++) {
        uint64_t listed[401], count = 0;
        struct look look = look_ahead(640, 480);
        look.pitch = -35;
        look.tall = 10 + step * 12;
        look.near = -500;
        look.eye[0] = step % 7 * 0.37 - 1;
        double c = cos(35 * 0.017453292519943295), s = sin(35 * 0.017453292519943295);
        for (int i = 0; i < 400; i++) {
            double x = i % 20 * 3 - 28.5 - look.eye[0], y = -9.9 * c - (i / 20 * 3 - 28.5) * s; /* the middle of its top, in the view */
            if (fabs(x) < look.tall / 2 * 640 / 480 && fabs(y) < look.tall / 2) listed[count++] = 1 + (uint64_t)i;
        }
        listed[count] = NOBODY;
        stage_expect(&stage, &look, listed, NONE, false);
    }
}

/* Every point of a grid is listed exactly where a lopsided view holds it. https://github.com/zeux/niagara/issues/5 */
static void lopsided_views(void **state)
{
    (void)state;
    static const float half[3] = {1, 1, 1};
    stage_clear(&stage);
    for (int i = 0; i < 29 * 29; i++) {
        const double t[12] = {0.1, 0, 0, i % 29 - 14 + 0.5, 0, 0.1, 0, i / 29 - 14 + 0.5, 0, 0, 0.1, -10};
        stage_add(&stage, (uint64_t)i, t, half, stage.ball, 0);
    }
    stage_commit(&stage);
    for (int quadrant = 0; quadrant < 4; quadrant++) {
        struct look look = look_ahead(1100, 1000);
        const double e[4] = {-0.2, 1.0, -0.1, 0.9};
        uint64_t listed[29 * 29 + 1], absent[29 * 29 + 1], in = 0, out = 0;
        look.edges[0] = quadrant & 1 ? -e[1] : e[0];
        look.edges[1] = quadrant & 1 ? -e[0] : e[1];
        look.edges[2] = quadrant & 2 ? -e[3] : e[2];
        look.edges[3] = quadrant & 2 ? -e[2] : e[3];
        for (int i = 0; i < 29 * 29; i++) {
            double x = i % 29 - 14 + 0.5, y = i / 29 - 14 + 0.5;
            bool inside = x > look.edges[0] * 10 && x < look.edges[1] * 10 && y > look.edges[2] * 10 && y < look.edges[3] * 10;
            if (inside) listed[in++] = (uint64_t)i;
            else absent[out++] = (uint64_t)i;
        }
        listed[in] = absent[out] = NOBODY;
        assert_int_equal(in, 12 * 10);
        stage_expect(&stage, &look, listed, absent, true);
    }
}

/* The shape of the view is the request's own. https://github.com/Facepunch/sbox-issues/issues/608 */
static void shape_of_each_request(void **state)
{
    (void)state;
    static const uint32_t sizes[3][2] = {{3840, 1080}, {1000, 1000}, {500, 2000}};
    const double degree = 0.017453292519943295;
    stage_clear(&stage);
    for (uint64_t i = 0; i < 3; i++) {
        double up = tan(29 * degree) * 20, side = tan(atan(tan(30 * degree) * sizes[i][0] / sizes[i][1]) - degree) * 20;
        stage_box(&stage, i * 4 + 1, side, 0, -20, 0.1, 0.1, 0.1, 0);
        stage_box(&stage, i * 4 + 2, -side, 0, -20, 0.1, 0.1, 0.1, 0);
        stage_box(&stage, i * 4 + 3, 0, up - 0.3 * (double)i, -20, 0.1, 0.1, 0.1, 0);
        stage_box(&stage, i * 4 + 4, 0, -up + 0.3 * (double)i, -20, 0.1, 0.1, 0.1, 0);
    }
    stage_commit(&stage);
    for (uint64_t turn = 0; turn < 6; turn++) {
        uint64_t i = turn % 3;
        struct look look = look_ahead(sizes[i][0], sizes[i][1]);
        stage_expect(&stage, &look, IDS(i * 4 + 1, i * 4 + 2, i * 4 + 3, i * 4 + 4), i == 0 ? NONE : IDS(1, 2), false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parallel_projection), cmocka_unit_test(parallel_projection_sees_behind_the_eye), cmocka_unit_test(abutting_tiles),
        cmocka_unit_test(lopsided_views),      cmocka_unit_test(shape_of_each_request),
    };
    return cmocka_run_group_tests_name("projections", tests, stage_setup, stage_teardown);
}
