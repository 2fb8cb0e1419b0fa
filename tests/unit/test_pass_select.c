/* link: visd_rig visd_twin */
/* Selection: what is drawn as occluders stays within the budgets, largest rectangles first, and what is left out costs tightness only. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/rig/rig.h"
#include "tests/twin/random.h"
#include "tests/twin/twin.h"

static const float unit[3] = {0.5f, 0.5f, 0.5f};

static struct visd_camera camera_at(double x, double z, double yaw, uint32_t width, uint32_t height)
{
    const double eye[3] = {x, 0, z};
    return rig_camera(eye, yaw, 0, 1, 0.1, width, height);
}

/* A parallel camera: nothing is divided, so that every device snaps every vertex to the same place. */
static struct visd_camera parallel_at(double x, double yaw, double tall, uint32_t width, uint32_t height)
{
    struct visd_camera camera = camera_at(x, 0, yaw, width, height);
    double sy = 2 / tall, sx = sy * height / width;
    for (int k = 0; k < 3; k++) {
        double forward = camera.m[3][k], right = k == 0 ? cos(yaw) : k == 2 ? -sin(yaw) : 0;
        camera.m[0][k] = (float)(sx * right);
        camera.m[1][k] = k == 1 ? (float)-sy : 0;
        camera.m[2][k] = (float)(-forward / 100); /* near 0, far 100 */
        camera.m[3][k] = 0;
    }
    camera.m[2][3] = camera.m[3][3] = 1;
    return camera;
}

static struct visd_object_change box_at(uint32_t slot, double x, double y, double z, double wide, double high, double deep, uint32_t mesh, uint32_t flags)
{
    const double t[12] = {wide, 0, 0, x, 0, high, 0, y, 0, 0, deep, z};
    return rig_object(slot, slot + 1, t, unit, mesh, flags);
}

/* A cube of side 1 whose faces are cut into squares: 12 * cuts * cuts triangles. */
static struct visd_mesh_block *fine_cube(uint32_t cuts, uint64_t *bytes)
{
    uint32_t side = cuts + 1, vertices = 6 * side * side, count = 0;
    float *p = malloc(vertices * 12);
    uint32_t *indices = malloc((uint64_t)cuts * cuts * 36 * 4);
    for (uint32_t face = 0; face < 6; face++)
        for (uint32_t i = 0; i < side; i++)
            for (uint32_t j = 0; j < side; j++) {
                uint32_t axis = face / 2, at = (face * side + i) * side + j;
                float *v = p + at * 3;
                v[axis] = face & 1 ? 0.5f : -0.5f;
                v[(axis + 1) % 3] = (float)i / (float)cuts - 0.5f;
                v[(axis + 2) % 3] = (float)j / (float)cuts - 0.5f;
                if (i == cuts || j == cuts) continue;
                const uint32_t out[6] = {at, at + side, at + side + 1, at, at + side + 1, at + 1}, in[6] = {at, at + side + 1, at + side, at, at + 1, at + side + 1};
                memcpy(indices + count, face & 1 ? out : in, sizeof(out));
                count += 6;
            }
    const struct visd_mesh_part part = {.count = count, .sides = VISD_SIDES_SINGLE};
    struct visd_mesh_block *block = random_block(p, vertices, indices, count, &part, 1, 0, bytes);
    free(p);
    free(indices);
    return block;
}

/* Boxes of many sizes under budgets of many sizes: the twin picks the very same, and draws the same. */
static void picks_are_the_twins(void **state)
{
    (void)state;
    static const uint64_t budgets[][2] = {{300, 0}, {2000, 0}, {0, 3000}, {0, 60000}, {1500, 40000}, {1, 1}};
    enum { COUNT = 900 };
    uint32_t skipped = 0, compared = 0, limited = 0;
    for (int b = 0; b < 6; b++) {
        struct rig rig;
        struct twin_scene scene;
        struct twin t = {0};
        struct random r = {(uint64_t)b + 1};
        struct visd_object_change changes[COUNT];
        uint64_t bytes[3];
        struct visd_mesh_block *blocks[3] = {fine_cube(1, &bytes[0]), fine_cube(2, &bytes[1]), fine_cube(5, &bytes[2])};
        rig_init(&rig, budgets[b][0], budgets[b][1]);
        twin_scene_init(&scene);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(rig_block(&rig, blocks[i], bytes[i]), twin_scene_mesh(&scene, blocks[i]));
            free(blocks[i]);
        }
        for (uint32_t i = 0; i < COUNT; i++)
            changes[i] = box_at(i, random_between(&r, -12, 12), random_between(&r, -8, 8), random_between(&r, -40, -4), random_scale(&r, 0.05, 3),
                                random_scale(&r, 0.05, 3), random_scale(&r, 0.05, 3), (uint32_t)(random_next(&r) % 3), 0);
        rig_commit(&rig, changes, COUNT);
        twin_scatter(&scene, changes, COUNT, COUNT);
        uint32_t view = rig_view(&rig), flags = 0;
        for (int frame = 0; frame < 6; frame++) {
            struct visd_camera camera = parallel_at(frame * 0.3, frame * 0.05, 17, 200, 150);
            struct rig_list list = rig_frame(&rig, view, &camera, VISD_METHOD_HIZ, flags);
            twin_frame(&t, &scene, &camera, VISD_METHOD_HIZ, flags, budgets[b][0], budgets[b][1]);
            flags = 0;
            if (t.open_objects || t.open_tests) {
                flags = VISD_FRAME_FRESH; /* from here the histories may differ */
                skipped++;
                rig_list_free(&list);
                continue;
            }
            compared++;
            struct visd_frame_stats twin = twin_stats(&t), *is = &rig.last.stats;
            assert_int_equal(is->drawn[0], twin.drawn[0]);
            assert_int_equal(is->drawn[1], twin.drawn[1]);
            assert_int_equal(is->triangles[0], twin.triangles[0]);
            assert_int_equal(is->triangles[1], twin.triangles[1]);
            assert_int_equal(is->over_budget, twin.over_budget);
            limited += is->over_budget > 0;
            if (budgets[b][0]) assert_true(is->triangles[0] + is->triangles[1] <= budgets[b][0]);
            assert_int_equal(list.count, t.listed);
            assert_memory_equal(list.in_order, t.ids, t.listed * 8);
            rig_list_free(&list);
        }
        twin_finish(&t);
        twin_scene_finish(&scene);
        rig_finish(&rig);
    }
    print_message("%u frames compared, %u of them limited; %u not for a rounding\n", compared, limited, skipped);
    assert_true(skipped * 3 <= compared && limited * 2 >= compared);
}

/* 40,000 objects and a jump among them: the work is bounded, the list misses nothing that a twin without a budget lists as seen up close. */
static void many_objects_after_a_cut(void **state)
{
    (void)state;
    enum { COUNT = 40000, BUDGET = 60000 };
    struct rig rig, unlimited;
    struct random r = {7};
    struct visd_object_change *changes = malloc(COUNT * sizeof(*changes));
    rig_init(&rig, BUDGET, 0);
    rig_init(&unlimited, 0, 0);
    uint32_t cube = rig_box_mesh(&rig, unit, VISD_SIDES_SINGLE);
    assert_int_equal(rig_box_mesh(&unlimited, unit, VISD_SIDES_SINGLE), cube);
    for (uint32_t i = 0; i < COUNT; i++)
        changes[i] = box_at(i, random_between(&r, -60, 60), random_between(&r, -20, 20), random_between(&r, -60, 60), random_scale(&r, 0.2, 3),
                            random_scale(&r, 0.2, 3), random_scale(&r, 0.2, 3), cube, 0);
    rig_commit(&rig, changes, COUNT);
    rig_commit(&unlimited, changes, COUNT);
    uint32_t view = rig_view(&rig), other = rig_view(&unlimited);
    uint64_t most = 0, tight = 0, listed = 0;
    for (int frame = 0; frame < 12; frame++) {
        struct visd_camera camera = camera_at(frame % 3 * 40 - 40, frame % 4 * 30 - 45, frame * 1.3, 320, 200);
        struct rig_list list = rig_frame(&rig, view, &camera, VISD_METHOD_HIZ, frame % 2 ? VISD_FRAME_FRESH : 0);
        const struct visd_frame_stats *stats = &rig.last.stats;
        uint64_t drawn = stats->triangles[0] + stats->triangles[1];
        most = drawn > most ? drawn : most;
        assert_true(drawn <= BUDGET + 64);
        struct rig_list all = rig_frame(&unlimited, other, &camera, VISD_METHOD_HIZ, VISD_FRAME_FRESH);
        assert_int_equal(unlimited.last.stats.over_budget, 0);
        if (unlimited.last.stats.triangles[1] > BUDGET) assert_true(stats->over_budget > 0);
        for (uint64_t i = 0; i < all.count; i++)
            if (!rig_lists(&list, all.ids[i])) fail_msg("frame %d: %llu is listed without a budget, but not with one", frame, (unsigned long long)all.ids[i]);
        listed += list.count;
        tight += all.count;
        rig_list_free(&list);
        rig_list_free(&all);
    }
    print_message("at most %u triangles of %u; %u listed, %u without a budget\n", (unsigned)most, (unsigned)BUDGET, (unsigned)listed, (unsigned)tight);
    assert_true(most > BUDGET / 2);
    assert_true(listed < tight * 3);
    free(changes);
    rig_finish(&unlimited);
    rig_finish(&rig);
}

/* A hog: instances by the hundred thousand of a mesh that is itself larger than the budget. Answered soon, and right. */
static void a_hog_is_answered_soon(void **state)
{
    (void)state;
    enum { COUNT = 120000, BUDGET = 20000 };
    struct rig rig;
    struct random r = {11};
    uint64_t bytes;
    struct visd_object_change *changes = malloc((COUNT + 2) * sizeof(*changes));
    struct visd_mesh_block *block = fine_cube(60, &bytes); /* 43,200 triangles */
    rig_init(&rig, BUDGET, 0);
    uint32_t hog = rig_block(&rig, block, bytes), cube = rig_box_mesh(&rig, unit, VISD_SIDES_SINGLE);
    free(block);
    for (uint32_t i = 0; i < COUNT; i++)
        changes[i] = box_at(i, random_between(&r, -30, 30), random_between(&r, -20, 20), random_between(&r, -90, -20), 0.3, 0.3, 0.3, hog, 0);
    changes[COUNT] = box_at(COUNT, 0, 0, -5, 4, 4, 0.1, cube, 0);
    changes[COUNT + 1] = box_at(COUNT + 1, 0, 0, -10, 1, 1, 1, cube, 0);
    rig_commit(&rig, changes, COUNT + 2);
    uint32_t view = rig_view(&rig);
    for (int frame = 0; frame < 6; frame++) {
        struct timespec before, after;
        struct visd_camera camera = camera_at(0, 0, frame * 0.01, 320, 200);
        clock_gettime(CLOCK_MONOTONIC, &before);
        struct rig_list list = rig_frame(&rig, view, &camera, VISD_METHOD_HIZ, frame == 3 ? VISD_FRAME_FRESH : 0);
        clock_gettime(CLOCK_MONOTONIC, &after);
        double seconds = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) * 1e-9;
        const struct visd_frame_stats *stats = &rig.last.stats;
        print_message("frame %d: %.3f s, %u drawn, %u triangles, %u over budget, %u listed\n", frame, seconds, stats->drawn[0] + stats->drawn[1],
                      (unsigned)(stats->triangles[0] + stats->triangles[1]), stats->over_budget, stats->listed);
        assert_true(seconds < 5); /* a whole drawing would be five thousand million triangles */
        assert_true(stats->over_budget > COUNT / 4);
        assert_true(rig_lists(&list, COUNT + 1)); /* the wall, larger on the screen than all others, was drawn */
        assert_false(rig_lists(&list, COUNT + 2));
        assert_true(list.count > COUNT / 4);
        rig_list_free(&list);
    }
    free(changes);
    rig_finish(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(picks_are_the_twins),
        cmocka_unit_test(many_objects_after_a_cut),
        cmocka_unit_test(a_hog_is_answered_soon),
    };
    return cmocka_run_group_tests_name("selection", tests, NULL, NULL);
}
