/* link: visd_stage */
/* Flags and sizes: who occludes, who is listed, sections, and what min_pixels drops. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rig/stage.h"

enum { WALL = 1, CUBE, BOLT, OTHER, MANY = 100 };

/* https://github.com/ThatOpen/engine_components/pull/532 https://github.com/UPBGE/upbge/issues/1327 */
static void flags_of_an_occluder_changed_live(void **state)
{
    (void)state;
    static const struct { uint32_t flags; bool hides, listed; } kinds[] = {
        {0, true, true}, {VISD_OBJECT_SEE_THROUGH, false, true}, {VISD_OBJECT_XRAY, false, true}, {VISD_OBJECT_GHOSTED, false, true},
        {VISD_OBJECT_HELPER, false, true}, {VISD_OBJECT_OCCLUDER_ONLY, true, false}, {VISD_OBJECT_HIDDEN, false, false},
        {VISD_OBJECT_PINNED, true, true}, {VISD_OBJECT_HIDDEN | VISD_OBJECT_OCCLUDER_ONLY, false, false},
        {VISD_OBJECT_OCCLUDER_ONLY | VISD_OBJECT_SEE_THROUGH, false, false}};
    struct look look = look_ahead(480, 270);
    stage_clear(&stage);
    stage_box(&stage, WALL, 0, 0, -2, 10, 10, 0.1, 0);
    stage_box(&stage, CUBE, 0, 0, -4, 1, 1, 1, 0);
    for (int turn = 0; turn < 20; turn++) {
        int k = turn * 7 % 10;
        stage.changes[0].bounds.flags = VISD_OBJECT_LIVE | kinds[k].flags;
        stage_commit(&stage);
        for (int frame = 0; frame < 2; frame++) { /* right from the first frame after the change */
            struct rig_list list = stage_list(&stage, &look, 0);
            assert_int_equal(rig_lists(&list, CUBE), !kinds[k].hides);
            assert_int_equal(rig_lists(&list, WALL), kinds[k].listed);
            assert_int_equal(stage.rig.last.stats.hidden, kinds[k].flags & VISD_OBJECT_HIDDEN ? 1 : 0);
            rig_list_free(&list);
        }
    }
}

/* A pinned object is listed even where it is hidden or out of view, but not against its own hidden flag or layer. */
static void pinned_objects(void **state)
{
    (void)state;
    struct look look = look_ahead(480, 270);
    stage_clear(&stage);
    stage_box(&stage, WALL, 0, 0, -2, 10, 10, 0.1, 0);
    stage_box(&stage, CUBE, 0, 0, -4, 1, 1, 1, VISD_OBJECT_PINNED);
    stage_box(&stage, BOLT, 0, 0, 50, 1, 1, 1, VISD_OBJECT_PINNED);
    stage_box(&stage, OTHER, 0, 0, -4, 1, 1, 1, VISD_OBJECT_PINNED | VISD_OBJECT_HIDDEN);
    stage_box(&stage, MANY, 1, 0, -4, 0.5, 0.5, 0.5, 0);
    stage_commit(&stage);
    stage_expect(&stage, &look, IDS(WALL, BOLT), IDS(OTHER, MANY), true);
    struct rig_list list = stage_list(&stage, &look, 0);
    assert_true(rig_lists(&list, CUBE));
    rig_list_free(&list);
}

static void layers_select(void **state)
{
    (void)state;
    struct look look = look_ahead(480, 270);
    stage_clear(&stage);
    stage_box(&stage, WALL, 0, 0, -2, 10, 10, 0.1, 0);
    stage_box(&stage, CUBE, 0, 0, -4, 1, 1, 1, 0);
    stage.changes[0].bounds.layers = 2;
    stage.changes[1].bounds.layers = 5;
    stage_commit(&stage);
    for (uint32_t layers = 0; layers < 8; layers++) {
        struct visd_camera camera = look_camera(&look);
        camera.layers = layers;
        struct rig_list list = rig_frame(&stage.rig, stage.view, &camera, VISD_METHOD_HIZ, 0);
        assert_int_equal(rig_lists(&list, WALL), (layers & 2) != 0);
        assert_int_equal(rig_lists(&list, CUBE), (layers & 5) != 0 && !(layers & 2));
        rig_list_free(&list);
    }
}

/* Part by part: what is see-through of a mesh hides nothing, the rest does. */
static void see_through_parts(void **state)
{
    (void)state;
    struct { struct visd_mesh_block head; float p[8][3]; uint32_t indices[12]; struct visd_mesh_part parts[2]; } block = {
        .head = {.vertices = 8, .indices = 12, .parts = 2},
        .p = {{-4, -4, 0}, {0, -4, 0}, {0, 4, 0}, {-4, 4, 0}, {0, -4, 0}, {4, -4, 0}, {4, 4, 0}, {0, 4, 0}},
        .indices = {0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7}};
    static const float half[3] = {4, 4, 0};
    static const double t[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, -3};
    struct look look = look_ahead(480, 270);
    for (uint32_t clear = 0; clear < 4; clear++) {
        for (uint32_t i = 0; i < 2; i++)
            block.parts[i] = (struct visd_mesh_part){.first = i * 6, .count = 6, .sides = VISD_SIDES_SINGLE, .see_through = clear >> i & 1};
        uint32_t mesh = rig_block(&stage.rig, &block.head, sizeof(block));
        stage_clear(&stage);
        stage_add(&stage, WALL, t, half, mesh, 0);
        stage_box(&stage, CUBE, -1.5, 0, -6, 0.5, 0.5, 0.5, 0);
        stage_box(&stage, BOLT, 1.5, 0, -6, 0.5, 0.5, 0.5, 0);
        stage_commit(&stage);
        const uint64_t listed[] = {WALL, clear & 1 ? (uint64_t)CUBE : WALL, clear & 2 ? (uint64_t)BOLT : WALL, NOBODY};
        const uint64_t absent[] = {clear & 1 ? OTHER : (uint64_t)CUBE, clear & 2 ? OTHER : (uint64_t)BOLT, NOBODY};
        stage_expect(&stage, &look, listed, absent, true);
    }
}

/* Flattened to nothing along the view, front and back of a single-sided box fall together: it hides nothing. A double-sided one does. */
static void flattened_boxes(void **state)
{
    (void)state;
    static const float half[3] = {0.5f, 0.5f, 0.5f};
    static const double flat[12] = {4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, -5};
    struct look look = look_ahead(480, 270);
    uint32_t two_sided = rig_box_mesh(&stage.rig, half, VISD_SIDES_DOUBLE);
    stage_clear(&stage);
    stage_add(&stage, WALL, flat, half, stage.cube, 0);
    stage_box(&stage, CUBE, 0, 0, -6, 1, 1, 1, 0);
    stage_commit(&stage);
    stage_expect(&stage, &look, IDS(WALL, CUBE), NONE, true);
    stage.changes[0].info.mesh = two_sided;
    stage_commit(&stage);
    stage_expect(&stage, &look, IDS(WALL), IDS(CUBE), true);
}

/* The cut-away half hides nothing and lists nothing; what is exempt is not cut; a box across the plane is tested whole. */
static void sections_cut_occluders_too(void **state)
{
    (void)state;
    static const double keep_back[1][4] = {{0, 0, -1, -5}}, keep_front[1][4] = {{0, 0, 1, 5}}; /* z <= -5; z >= -5 */
    struct look look = look_ahead(480, 270);
    static const float half[3] = {0.5f, 0.5f, 0.5f};
    uint32_t two_sided = rig_box_mesh(&stage.rig, half, VISD_SIDES_DOUBLE);
    const double hollow[12] = {4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 4, -5};
    stage_clear(&stage);
    stage.surely = VISD_METHOD_BOX; /* a box cut open shows back faces, which are not there */
    stage_add(&stage, WALL, hollow, half, stage.cube, 0); /* single-sided: its cut shows the inside, whose back faces hide nothing */
    stage_box(&stage, CUBE, 0, 0, -6, 1, 1, 1, 0);        /* inside, kept */
    stage_box(&stage, BOLT, 0, 0, -4, 0.2, 0.2, 0.2, 0);   /* inside, cut away */
    stage_box(&stage, OTHER, 2, 0, -12, 0.2, 0.2, 0.2, 0); /* behind it all */
    stage_commit(&stage);
    stage_expect(&stage, &look, IDS(WALL), IDS(CUBE, BOLT, OTHER), true);
    look.planes = keep_back;
    look.plane_count = 1;
    stage_expect(&stage, &look, IDS(WALL, CUBE, OTHER), IDS(BOLT), true);
    look.planes = keep_front;
    stage_expect(&stage, &look, IDS(WALL), IDS(CUBE, BOLT, OTHER), true); /* the front still hides all */
    stage.changes[0].info.mesh = two_sided;
    stage_commit(&stage);
    look.planes = keep_back;
    stage_expect(&stage, &look, IDS(WALL, CUBE), IDS(BOLT, OTHER), true); /* the back wall's inside hides, too */
    stage.changes[0].bounds.flags |= VISD_OBJECT_SECTION_EXEMPT;
    stage_commit(&stage);
    stage_expect(&stage, &look, IDS(WALL), IDS(CUBE, BOLT, OTHER), true);
    stage.changes[0].bounds.flags &= ~(uint32_t)VISD_OBJECT_SECTION_EXEMPT;
    stage_commit(&stage);
    look.plane_count = 0;
    stage_expect(&stage, &look, IDS(WALL), IDS(CUBE, BOLT, OTHER), true); /* and back */
}

/* Many planes through one place, and the same plane many times. */
static void eight_sections(void **state)
{
    (void)state;
    double planes[8][4];
    struct look look = look_ahead(480, 270);
    stage_clear(&stage);
    stage.surely = VISD_METHOD_BOX; /* the same */
    for (int i = 0; i < 9; i++) stage_box(&stage, MANY + (uint64_t)i, i % 3 * 2 - 2, i / 3 * 2 - 2, -10, 1.5, 1.5, 1.5, 0);
    stage_box(&stage, WALL, 0, 0, -8, 8, 8, 0.1, 0);
    stage_commit(&stage);
    look.planes = (const double(*)[4])planes;
    look.plane_count = 8;
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < 8; i++) {
            double a = turn ? 0.3 : i * 0.7853981633974483;
            const double plane[4] = {cos(a), sin(a), 0, turn ? 0 : 0.3}; /* an octagon of 0.3 around the axis; or a half */
            memcpy(planes[i], plane, sizeof(plane));
        }
        /* What is left of the wall is in the middle: it hides nothing whole. */
        const uint64_t *absent = turn ? IDS(MANY + 3) : IDS(MANY, MANY + 1, MANY + 2, MANY + 3, MANY + 8);
        stage_expect(&stage, &look, turn ? IDS(WALL, MANY + 1) : IDS(WALL, MANY + 4), absent, true);
    }
}

/* https://github.com/OpenMW/openmw/pull/2837 */
static void small_things_in_parallel_views(void **state)
{
    (void)state;
    struct look look = look_ahead(1080, 1080);
    look.tall = 10;
    static const double depths[] = {1, 90, 900};
    for (int d = 0; d < 3; d++) {
        stage_clear(&stage);
        stage_box(&stage, BOLT, 0.3, 0.2, -depths[d], 0.05, 0.05, 0.05, 0);
        stage_commit(&stage);
        look.min_pixels = 4;
        stage_expect(&stage, &look, IDS(BOLT), NONE, false);
        assert_int_equal(stage.rig.last.stats.dropped_small, 0);
        look.min_pixels = 6;
        stage_expect(&stage, &look, NONE, IDS(BOLT), false);
        assert_int_equal(stage.rig.last.stats.dropped_small, 1);
    }
}

/* https://github.com/PixarAnimationStudios/OpenUSD/issues/314 */
static void large_things_are_never_small(void **state)
{
    (void)state;
    struct look look = look_ahead(480, 270);
    look.min_pixels = 2;
    stage_clear(&stage);
    stage_box(&stage, CUBE, 0, 0, 0, 3, 3, 3, 0);
    stage_commit(&stage);
    for (int i = 0; i < 8; i++) { /* along each diagonal */
        double s[3] = {i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1};
        for (int k = 0; k < 3; k++) look.eye[k] = 5 * s[k];
        look.yaw = atan2(s[0], s[2]) * 57.29577951308232;
        look.pitch = -asin(s[1] / sqrt(3)) * 57.29577951308232;
        stage_expect(&stage, &look, IDS(CUBE), NONE, false);
        for (int k = 0; k < 3; k++) look.eye[k] = 1.5 * s[k]; /* a corner at the eye, half of it behind */
        stage_expect(&stage, &look, IDS(CUBE), NONE, false);
    }
}

/* https://github.com/playcanvas/supersplat-viewer/issues/274 */
static void small_things_are_kept_unless_asked(void **state)
{
    (void)state;
    struct look look = look_ahead(1080, 1080);
    look.tall = 1080; /* a metre a pixel */
    stage_clear(&stage);
    for (uint64_t i = 0; i < 10000; i++) stage_box(&stage, MANY + i, (double)(i % 100) * 10 - 495.3, (double)(i / 100) * 10 - 495.3, -10, 0.5, 0.5, 0.5, 0);
    stage_commit(&stage);
    struct rig_list list = stage_list(&stage, &look, 0);
    assert_int_equal(list.count, 10000);
    rig_list_free(&list);
    look.min_pixels = 1;
    list = stage_list(&stage, &look, 0);
    assert_int_equal(list.count, 0);
    assert_int_equal(stage.rig.last.stats.dropped_small, 10000);
    rig_list_free(&list);
}

/* What min_pixels dropped occludes nothing. */
static void small_occluders_hide_nothing(void **state)
{
    (void)state;
    struct look look = look_ahead(100, 100);
    look.tall = 100;
    stage_clear(&stage);
    stage_box(&stage, WALL, 0, 0, -5, 12, 12, 0.1, 0);
    stage_box(&stage, CUBE, 0, 0, -10, 8, 8, 8, VISD_OBJECT_PINNED);
    stage_box(&stage, BOLT, 0, 0, -10, 8, 8, 8, 0);
    stage_commit(&stage);
    stage_expect(&stage, &look, IDS(WALL), IDS(BOLT), true);
    stage.changes[2].bounds.flags |= 60u * 16 << VISD_OBJECT_MARGIN_SHIFT; /* drawn wider than the wall */
    stage_commit(&stage);
    stage_expect(&stage, &look, IDS(WALL, BOLT), NONE, true);
    look.min_pixels = 14;
    stage_expect(&stage, &look, NONE, IDS(WALL), true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_of_an_occluder_changed_live),
        cmocka_unit_test(pinned_objects),
        cmocka_unit_test(layers_select),
        cmocka_unit_test(see_through_parts),
        cmocka_unit_test(flattened_boxes),
        cmocka_unit_test(sections_cut_occluders_too),
        cmocka_unit_test(eight_sections),
        cmocka_unit_test(small_things_in_parallel_views),
        cmocka_unit_test(large_things_are_never_small),
        cmocka_unit_test(small_things_are_kept_unless_asked),
        cmocka_unit_test(small_occluders_hide_nothing),
    };
    return cmocka_run_group_tests_name("flags and sizes", tests, stage_setup, stage_teardown);
}
