/* link: visd_rig */
/* The passes on a real (software) device: who is listed, in scenes whose answers can be told without a renderer. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/rig/rig.h"

static struct rig rig;

static int setup(void **state)
{
    (void)state;
    rig_init(&rig, 0, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rig_finish(&rig);
    return 0;
}

static void at(double t[12], double x, double y, double z)
{
    double m[12] = {1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z};
    for (int i = 0; i < 12; i++) t[i] = m[i];
}

/* A wall in front of the eye, a cube behind it, one beside it, one behind the eye. */
static void wall_hides_what_is_behind_it(void **state)
{
    (void)state;
    float wall[3] = {5, 5, 0.1f}, cube[3] = {0.5f, 0.5f, 0.5f};
    uint32_t wall_mesh = rig_box_mesh(&rig, wall, VISD_SIDES_SINGLE), cube_mesh = rig_box_mesh(&rig, cube, VISD_SIDES_SINGLE);
    double t[12];
    struct visd_object_change c[4];
    at(t, 0, 0, -10);
    c[0] = rig_object(0, 100, t, wall, wall_mesh, 0);
    at(t, 0, 0, -20);
    c[1] = rig_object(1, UINT64_MAX, t, cube, cube_mesh, 0);
    at(t, 9, 0, -12);
    c[2] = rig_object(2, 0, t, cube, cube_mesh, 0);
    at(t, 0, 0, 20);
    c[3] = rig_object(3, 7, t, cube, cube_mesh, 0);
    rig_commit(&rig, c, 4);
    uint32_t view = rig_view(&rig);
    double eye[3] = {0, 0, 0};
    static const uint32_t sizes[][2] = {{1920, 1080}, {1919, 1077}, {70, 70}, {333, 517}};
    for (int s = 0; s < 4; s++) {
        struct visd_camera camera = rig_camera(eye, 0, 0, 1.2, 0.1, sizes[s][0], sizes[s][1]);
        struct rig_list all = rig_frame(&rig, view, &camera, VISD_METHOD_FRUSTUM, 0);
        assert_true(rig_lists(&all, 100));
        assert_true(rig_lists(&all, UINT64_MAX));
        assert_false(rig_lists(&all, 7));
        rig_list_free(&all);
        for (int frame = 0; frame < 4; frame++) {
            struct rig_list list = rig_frame(&rig, view, &camera, VISD_METHOD_HIZ, frame == 3 ? VISD_FRAME_FRESH : 0);
            assert_true(rig_lists(&list, 100));
            assert_false(rig_lists(&list, UINT64_MAX));
            if (sizes[s][0] > sizes[s][1]) assert_true(rig_lists(&list, 0));
            assert_int_equal(list.count, rig.last.stats.listed);
            rig_list_free(&list);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(wall_hides_what_is_behind_it, setup, teardown),
    };
    return cmocka_run_group_tests_name("cull", tests, NULL, NULL);
}
