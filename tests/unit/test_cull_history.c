/* link: visd_stage */
/* History: it chooses what is drawn first and decides nothing. Cuts, switches, sizes, several views, slots that change hands, stillness. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rig/stage.h"

enum { WALL = 1, BEHIND, MANY = 1000 };

/* 500 boxes in a cloud ahead: some hide others. */
static void cloud(uint32_t count)
{
    uint32_t random = 1;
    stage_clear(&stage);
    for (uint32_t i = 0; i < count; i++) {
        double v[4];
        for (int k = 0; k < 4; k++) {
            random = random * 1664525u + 1013904223u;
            v[k] = (random >> 8) / 16777216.0;
        }
        stage_box(&stage, MANY + i, v[0] * 24 - 12, v[1] * 14 - 7, -6 - v[2] * 30, 0.5 + v[3] * 2, 0.5 + v[0] * 2, 0.5 + v[1] * 2, 0);
    }
    stage_commit(&stage);
}

/* https://github.com/ThatOpen/engine_components/issues/637 */
static void nothing_changes_while_nothing_changes(void **state)
{
    (void)state;
    cloud(500);
    struct look look = look_ahead(480, 270);
    struct rig_list first = stage_list(&stage, &look, VISD_FRAME_FRESH);
    assert_in_range(first.count, 50, 499);
    for (int frame = 0; frame < 300; frame++) {
        struct rig_list list = stage_list(&stage, &look, 0);
        assert_true(rig_same_list(&first, &list));
        assert_memory_equal(first.in_order, list.in_order, list.count * 8);
        rig_list_free(&list);
    }
    assert_int_equal(stage.rig.last.stats.drawn[1], 0); /* all that is seen was drawn at once */
    rig_list_free(&first);
}

/* https://github.com/ZeaInc/zea-engine/issues/586 */
static void jumps_between_two_cameras(void **state)
{
    (void)state;
    cloud(500);
    struct look looks[2] = {look_ahead(480, 270), look_ahead(480, 270)};
    struct rig_list first[2];
    looks[1].eye[0] = 20;
    looks[1].eye[2] = -20;
    looks[1].yaw = 90;
    for (int i = 0; i < 2; i++) first[i] = stage_list(&stage, &looks[i], VISD_FRAME_FRESH);
    assert_false(rig_same_list(&first[0], &first[1]));
    for (int frame = 0; frame < 200; frame++) {
        int i = frame / 5 % 2;
        struct rig_list list = stage_list(&stage, &looks[i], 0);
        assert_true(rig_same_list(&first[i], &list));
        rig_list_free(&list);
    }
    for (int i = 0; i < 2; i++) rig_list_free(&first[i]);
}

/* https://github.com/bevyengine/bevy/issues/23108 */
static void methods_are_switched(void **state)
{
    (void)state;
    cloud(500);
    struct look look = look_ahead(480, 270);
    struct visd_camera camera = look_camera(&look);
    static const enum visd_method methods[] = {VISD_METHOD_FRUSTUM, VISD_METHOD_HIZ};
    struct rig_list steady[2];
    for (int m = 0; m < 2; m++) steady[m] = rig_frame(&stage.rig, stage.view, &camera, methods[m], VISD_FRAME_FRESH);
    assert_true(steady[0].count > steady[1].count);
    for (int frame = 0; frame < 120; frame++) {
        int m = frame / 4 % 2;
        struct rig_list list = rig_frame(&stage.rig, stage.view, &camera, methods[m], 0);
        assert_true(rig_same_list(&steady[m], &list));
        rig_list_free(&list);
    }
    for (int m = 0; m < 2; m++) rig_list_free(&steady[m]);
}

/* With nothing that could hide, the answer is the frustum's. https://github.com/bevyengine/bevy/issues/22747 */
static void nothing_that_occludes(void **state)
{
    (void)state;
    static const float half[3] = {0.5f, 0.5f, 0.5f}, corner[3] = {0, 0, 0};
    static const uint32_t no_index[1] = {0};
    uint32_t empty = rig_mesh(&stage.rig, corner, 1, no_index, 0, VISD_SIDES_DOUBLE);
    struct look look = look_ahead(480, 270);
    stage_clear(&stage);
    stage_commit(&stage);
    struct rig_list none = stage_list(&stage, &look, 0);
    assert_int_equal(none.count, 0);
    rig_list_free(&none);
    for (uint64_t i = 0; i < 40; i++) {
        const double t[12] = {4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 1, -5 - 2 * (double)i};
        stage_add(&stage, 1 + i, t, half, i % 2 ? empty : VISD_MESH_NONE, 0);
    }
    stage_commit(&stage);
    for (int frame = 0; frame < 3; frame++) {
        struct rig_list list = stage_list(&stage, &look, 0);
        assert_int_equal(list.count, 40);
        assert_int_equal(stage.rig.last.stats.occluded, 0);
        assert_int_equal(stage.rig.last.stats.triangles[0] + stage.rig.last.stats.triangles[1], 0);
        rig_list_free(&list);
    }
}

/* What was seen of a slot's former owner is not believed of the next one: it is not drawn before it has been tested. */
static void a_slot_changes_hands(void **state)
{
    (void)state;
    struct look look = look_ahead(480, 270);
    stage_clear(&stage);
    for (uint64_t i = 0; i < 10; i++) stage_box(&stage, MANY + i, 2 * (double)i - 9, 0, -15, 1, 1, 1, 0);
    stage_commit(&stage);
    for (int frame = 0; frame < 2; frame++) {
        struct rig_list list = stage_list(&stage, &look, 0);
        assert_int_equal(list.count, 10);
        rig_list_free(&list);
    }
    assert_int_equal(stage.rig.last.stats.drawn[0], 10);
    for (uint32_t i = 0; i < 4; i++) { /* others, in the same places */
        stage.changes[i].info.id[0] += 100;
        stage.changes[i].info.generation++;
    }
    stage_commit(&stage);
    struct rig_list list = stage_list(&stage, &look, 0);
    assert_int_equal(list.count, 10);
    assert_true(rig_lists(&list, MANY + 100));
    assert_false(rig_lists(&list, MANY));
    assert_int_equal(stage.rig.last.stats.drawn[0], 6);
    assert_int_equal(stage.rig.last.stats.drawn[1], 4);
    rig_list_free(&list);
    for (uint32_t i = 4; i < 7; i++) stage.changes[i].bounds.flags &= ~(uint32_t)VISD_OBJECT_LIVE; /* and gone */
    stage_commit(&stage);
    list = stage_list(&stage, &look, 0);
    assert_int_equal(list.count, 7);
    assert_int_equal(stage.rig.last.stats.drawn[0], 7);
    rig_list_free(&list);
}

/* A move without a new generation keeps history, and history still decides nothing. */
static void what_was_hidden_comes_into_the_open(void **state)
{
    (void)state;
    struct look look = look_ahead(480, 270);
    stage_clear(&stage);
    stage_box(&stage, WALL, 0, 0, -5, 4, 4, 0.1, 0);
    uint32_t slot = stage_box(&stage, BEHIND, 0, 0, -10, 1, 1, 1, 0);
    stage_commit(&stage);
    for (int turn = 0; turn < 6; turn++) {
        stage.changes[slot].bounds.centre_hi[0] = turn % 2 ? 6.5f : 0.0f;
        stage_commit(&stage);
        for (int frame = 0; frame < 2; frame++) {
            struct rig_list list = stage_list(&stage, &look, 0);
            assert_int_equal(rig_lists(&list, BEHIND), turn % 2);
            rig_list_free(&list);
        }
    }
    stage.changes[0].bounds.flags |= VISD_OBJECT_HIDDEN; /* the wall goes */
    stage.changes[slot].bounds.centre_hi[0] = 0;
    stage_commit(&stage);
    struct rig_list list = stage_list(&stage, &look, 0);
    assert_true(rig_lists(&list, BEHIND));
    assert_false(rig_lists(&list, WALL));
    rig_list_free(&list);
}

static void sizes_and_samples_change_between_frames(void **state)
{
    (void)state;
    static const uint32_t forms[][3] = {{480, 270, 1}, {479, 269, 4}, {64, 64, 8}, {960, 540, 1}, {1, 1, 1}, {33, 130, 2}, {480, 270, 1}, {130, 33, 1}};
    cloud(300);
    for (int turn = 0; turn < 16; turn++) {
        struct look look = look_ahead(forms[turn % 8][0], forms[turn % 8][1]);
        look.samples = forms[turn % 8][2];
        struct visd_camera camera = look_camera(&look);
        struct rig_list list = stage_list(&stage, &look, 0), fresh = rig_frame(&stage.rig, rig_view(&stage.rig), &camera, VISD_METHOD_HIZ, VISD_FRAME_FRESH);
        assert_true(rig_same_list(&list, &fresh));
        rig_list_free(&list);
        rig_list_free(&fresh);
    }
}

/* Views share the scene and nothing else. */
static void several_views(void **state)
{
    (void)state;
    enum { VIEWS = 5 };
    uint32_t views[VIEWS];
    struct rig_list first[VIEWS];
    cloud(300);
    for (int round = 0; round < 6; round++)
        for (int i = 0; i < VIEWS; i++) {
            struct look look = look_ahead(200 + 40 * (uint32_t)i, 150);
            look.eye[0] = 3 * i;
            look.yaw = 12 * i;
            struct visd_camera camera = look_camera(&look);
            if (round == 0) views[i] = rig_view(&stage.rig);
            struct rig_list list = rig_frame(&stage.rig, views[i], &camera, VISD_METHOD_HIZ, 0);
            if (round == 0) {
                first[i] = list;
                continue;
            }
            assert_true(rig_same_list(&first[i], &list));
            if (round > 1) assert_int_equal(stage.rig.last.stats.drawn[1], 0);
            rig_list_free(&list);
        }
    for (int i = 0; i < VIEWS; i++) rig_list_free(&first[i]);
}

/* A cut uses no history, and answers the same. */
static void a_cut_is_answered_at_once(void **state)
{
    (void)state;
    cloud(500);
    struct look look = look_ahead(480, 270);
    struct rig_list steady = stage_list(&stage, &look, 0);
    for (int frame = 0; frame < 3; frame++) {
        struct rig_list list = stage_list(&stage, &look, VISD_FRAME_FRESH);
        assert_true(rig_same_list(&steady, &list));
        assert_int_equal(stage.rig.last.stats.drawn[0], 0);
        assert_true(stage.rig.last.stats.drawn[1] > 0);
        assert_int_equal(stage.rig.last.source_lag, 0);
        rig_list_free(&list);
    }
    rig_list_free(&steady);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_changes_while_nothing_changes),
        cmocka_unit_test(jumps_between_two_cameras),
        cmocka_unit_test(methods_are_switched),
        cmocka_unit_test(nothing_that_occludes),
        cmocka_unit_test(a_slot_changes_hands),
        cmocka_unit_test(what_was_hidden_comes_into_the_open),
        cmocka_unit_test(sizes_and_samples_change_between_frames),
        cmocka_unit_test(several_views),
        cmocka_unit_test(a_cut_is_answered_at_once),
    };
    return cmocka_run_group_tests_name("history", tests, stage_setup, stage_teardown);
}
