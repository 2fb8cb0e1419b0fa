/* link: visd_stage */
/* At and around the near plane: the eye inside boxes, boxes across the plane, corners behind the eye. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rig/stage.h"

enum { BOX = 1, INNER, OUTER, NEAR, SMALL, FLOOR, BALL };

/* The answer must not depend on where one looks, only on what the walls' sides are. https://github.com/godotengine/godot/issues/106184 */
static void eye_inside_an_occluder(void **state)
{
    (void)state;
    static const double ten[12] = {10, 0, 0, 0, 0, 10, 0, 0, 0, 0, 10, 0};
    static const float half[3] = {0.5f, 0.5f, 0.5f};
    uint32_t two_sided = rig_box_mesh(&stage.rig, half, VISD_SIDES_DOUBLE), unknown = rig_box_mesh(&stage.rig, half, VISD_SIDES_UNKNOWN);
    const struct { uint32_t mesh, flags; bool hides; } walls[] = {
        {stage.cube, 0, false}, {two_sided, 0, true}, {unknown, 0, false}, {unknown, VISD_OBJECT_SINGLE_SIDED, false}, {unknown, VISD_OBJECT_DOUBLE_SIDED, true}};
    for (int w = 0; w < 5; w++) {
        stage_clear(&stage);
        stage.surely = VISD_METHOD_BOX; /* from inside a box shows back faces, which may not be there */
        stage_add(&stage, BOX, ten, half, walls[w].mesh, walls[w].flags);
        stage_box(&stage, INNER, 0, 0, -3, 1, 1, 1, 0);
        stage_box(&stage, OUTER, 20, 0, 0, 1, 1, 1, 0);
        stage_commit(&stage);
        for (int yaw = 0; yaw < 360; yaw += w == 0 ? 5 : 15) {
            struct look look = look_ahead(384, 216);
            look.yaw = yaw;
            bool inner = yaw <= 45 || yaw >= 315, outer = yaw >= 225 && yaw <= 315;
            const uint64_t listed[] = {BOX, inner ? (uint64_t)INNER : BOX, outer && !walls[w].hides ? (uint64_t)OUTER : BOX, NOBODY};
            const uint64_t absent[] = {outer && !walls[w].hides ? NOBODY : (uint64_t)OUTER, NOBODY};
            stage_expect(&stage, &look, listed, absent, false);
        }
    }
}

/* The client's own near plane is the one that counts. https://github.com/bevyengine/bevy/issues/24615 */
static void near_plane_of_the_client(void **state)
{
    (void)state;
    stage_clear(&stage);
    stage.surely = VISD_METHOD_BOX; /* the same */
    stage_box(&stage, NEAR, 0, 0, -0.56, 1, 1, 1, 0);
    stage_box(&stage, SMALL, 0, 0, -3, 0.05, 0.05, 0.05, 0);
    stage_commit(&stage);
    struct look look = look_ahead(960, 540);
    look.near = 0.02;
    stage_expect(&stage, &look, IDS(NEAR), IDS(SMALL), true);
    look.near = 0.5; /* inside the cube: its front is cut off, its back faces hide nothing */
    stage_expect(&stage, &look, IDS(NEAR, SMALL), NONE, true);
}

/* No corner behind the eye is divided by its w. https://github.com/cogentcore/core/issues/326 */
static void floor_under_the_eye(void **state)
{
    (void)state;
    static const double flat[12] = {200, 0, 0, 0, 0, 0, 1, -1.7, 0, -200, 0, 0};
    static const float half[3] = {0.5f, 0.5f, 0};
    stage_clear(&stage);
    stage_add(&stage, FLOOR, flat, half, stage.plate, 0);
    stage_commit(&stage);
    for (int pitch = -90; pitch <= 28; pitch += pitch < 20 ? 2 : 1) {
        struct look look = look_ahead(384, 216);
        look.pitch = pitch;
        stage_expect(&stage, &look, IDS(FLOOR), NONE, false);
    }
    struct look look = look_ahead(384, 216);
    look.pitch = 60;
    stage_expect(&stage, &look, NONE, IDS(FLOOR), true);
}

/* https://github.com/ZeaInc/zea-engine/pull/408 */
static void large_ball_at_the_side(void **state)
{
    (void)state;
    static const double t[12] = {500, 0, 0, 600, 0, 500, 0, 0, 0, 0, 500, -50};
    static const float half[3] = {1, 1, 1};
    stage_clear(&stage);
    stage_add(&stage, BALL, t, half, stage.ball, 0);
    stage_box(&stage, SMALL, 0, 0, -5, 1, 1, 1, 0);
    stage_commit(&stage);
    struct look look = look_ahead(1920, 1080);
    stage_expect(&stage, &look, IDS(BALL, SMALL), NONE, true);
}

/* A box that stands across the near plane is listed whatever stands before it, and what it hides is only what is left of it. */
static void box_across_the_near_plane(void **state)
{
    (void)state;
    for (int k = 0; k < 40; k++) {
        double z = -0.05 - 0.01 * k;
        stage_clear(&stage);
        stage.surely = VISD_METHOD_BOX; /* the same */
        stage_box(&stage, NEAR, 0, -0.3, z, 0.4, 0.4, 0.2, 0);
        stage_box(&stage, SMALL, 0, -6, -20, 0.5, 0.5, 0.5, 0);
        stage_box(&stage, OUTER, 0, 2, -20, 0.5, 0.5, 0.5, 0);
        stage_commit(&stage);
        struct look look = look_ahead(384, 216);
        look.near = 0.2;
        bool before = z + 0.1 < -0.2; /* the whole box is past the plane */
        bool gone = z - 0.1 > -0.2;   /* or before it */
        stage_expect(&stage, &look, gone ? IDS(SMALL, OUTER) : before ? IDS(OUTER) : IDS(NEAR, OUTER), NONE, false);
    }
}

/* A box is not clipped: what is seen of it by method box may be its surface inside, in front of all that the clipped box has left. */
static void box_opened_by_the_near_plane(void **state)
{
    (void)state;
    static const float corners[] = {-0.2f, -0.2f, -1, 0.2f, -0.2f, -1, 0, 0.2f, -1};
    static const uint32_t order[] = {0, 1, 2};
    static const double identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    uint32_t mesh = rig_mesh(&stage.rig, corners, 3, order, 3, VISD_SIDES_DOUBLE);
    stage_clear(&stage);
    double at[12];
    memcpy(at, identity, sizeof(at));
    at[11] = -5; /* from z = -10.5 to 0.5, and wider than the picture; the triangle stands at z = -1 in the scene */
    struct visd_object_change change = rig_object(0, NEAR, at, (const float[3]){50, 50, 5.5f}, mesh, 0);
    change.info.local[2] = -5;
    uint32_t slot = stage_add(&stage, NEAR, at, (const float[3]){50, 50, 5.5f}, mesh, 0);
    stage.changes[slot].info = change.info;
    stage_box(&stage, BOX, 0, 0, -3, 20, 20, 1, 0); /* a wall before all that is left of the box */
    stage_commit(&stage);
    struct look look = look_ahead(384, 216);
    look.near = 0.3;
    stage_expect(&stage, &look, IDS(NEAR, BOX), NONE, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eye_inside_an_occluder),    cmocka_unit_test(near_plane_of_the_client), cmocka_unit_test(floor_under_the_eye),
        cmocka_unit_test(large_ball_at_the_side), cmocka_unit_test(box_across_the_near_plane), cmocka_unit_test(box_opened_by_the_near_plane),
    };
    return cmocka_run_group_tests_name("near plane", tests, stage_setup, stage_teardown);
}
