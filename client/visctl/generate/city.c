/* The city block: one tower on a plain, and two hundred houses, trees and cars behind it. Seen from the street in front, the
 * tower hides them all; the flight goes round it. */
#include <math.h>

#include "scene.h"

static const double turn = 6.28318530717958647692;
enum { TOWER_WIDE = 50, TOWER_DEEP = 30, TOWER_HIGH = 120 };

static enum visd_err make_meshes(struct visd_maker *m, uint32_t out[6])
{
    enum visd_err err = VISD_ERR_OK;
    for (int i = 0; i < 6 && err == VISD_ERR_OK; i++) {
        struct visd_shape s = {0};
        switch (i) {
        case 0: visd_shape_box(&s, -400, -1, -400, 400, 0, 400); break; /* the ground */
        case 1: /* the tower: a core, and a pilaster a window's width apart, a ledge a floor */
            visd_shape_box(&s, -TOWER_WIDE / 2, 0, -TOWER_DEEP, TOWER_WIDE / 2, TOWER_HIGH, 0);
            for (int floor = 1; floor < 30; floor++) visd_shape_box(&s, -25.4f, 4.0f * (float)floor - 0.2f, -30.4f, 25.4f, 4.0f * (float)floor, 0.4f);
            for (int k = 0; k <= 16; k++) {
                visd_shape_box(&s, -25.2f + 3.15f * (float)k - 0.2f, 0, 0, -25.2f + 3.15f * (float)k + 0.2f, TOWER_HIGH, 0.3f);
                visd_shape_box(&s, -25.2f + 3.15f * (float)k - 0.2f, 0, -30.3f, -25.2f + 3.15f * (float)k + 0.2f, TOWER_HIGH, -30);
            }
            break;
        case 2: /* a house with a roof */
            visd_shape_box(&s, -4, 0, -3, 4, 5, 3);
            visd_shape_quad(&s, (const float[3]){-4.4f, 5, 3.4f}, (const float[3]){4.4f, 5, 3.4f}, (const float[3]){4.4f, 8, 0},
                            (const float[3]){-4.4f, 8, 0});
            visd_shape_quad(&s, (const float[3]){4.4f, 5, -3.4f}, (const float[3]){-4.4f, 5, -3.4f}, (const float[3]){-4.4f, 8, 0},
                            (const float[3]){4.4f, 8, 0});
            visd_shape_soft_box(&s, 2, 6, -0.5f, 3, 9, 0.5f, 0.1f);
            visd_shape_soft_box(&s, -0.6f, 0, 3, 0.6f, 2.2f, 3.1f, 0.02f);
            for (int k = 0; k < 4; k++)
                visd_shape_soft_box(&s, k & 1 ? 1.5f : -3, k & 2 ? 3 : 0.9f, 2.95f, k & 1 ? 3 : -1.5f, k & 2 ? 4.4f : 2.3f, 3.08f, 0.02f);
            break;
        case 3: /* a tree */
            visd_shape_cone(&s, 0, 0, 0, 0.3f, 3, 0.2f, 12);
            visd_shape_ball(&s, 0, 5, 0, 2, 2.4f, 2, 14, 20);
            break;
        case 4: /* a car */
            visd_shape_soft_box(&s, -2.1f, 0.35f, -0.9f, 2.1f, 0.95f, 0.9f, 0.15f);
            visd_shape_soft_box(&s, -1.2f, 0.95f, -0.8f, 1.0f, 1.5f, 0.8f, 0.2f);
            for (int k = 0; k < 4; k++)
                visd_shape_bar(&s, (const float[3]){k & 1 ? 1.3f : -1.3f, 0.35f, k & 2 ? 0.95f : -0.75f},
                               (const float[3]){k & 1 ? 1.3f : -1.3f, 0.35f, k & 2 ? 0.75f : -0.95f}, 0.35f, 20);
            break;
        default: /* a street lamp */
            visd_shape_cone(&s, 0, 0, 0, 0.15f, 7, 0.08f, 14);
            visd_shape_bar(&s, (const float[3]){0, 7, 0}, (const float[3]){1.4f, 7.3f, 0}, 0.06f, 12);
            visd_shape_soft_box(&s, 1.1f, 7.1f, -0.2f, 2, 7.3f, 0.2f, 0.05f);
            for (int k = 0; k < 4; k++) visd_shape_cone(&s, 0, 0, 0.3f + (float)k, 0.2f, 0.4f + (float)k, 0.2f, 14);
            break;
        }
        err = visd_maker_mesh(m, &s, &out[i]);
    }
    return err;
}

enum visd_err visd_city_make(struct visd_maker *m)
{
    static const char *const names[6] = {"ground", "tower", "house", "tree", "car", "lamp"};
    uint32_t mesh[6], block;
    enum visd_err err = make_meshes(m, mesh);
    if (err == VISD_ERR_OK) err = visd_maker_group(m, VISD_MODEL_NONE, (const double[3]){0, 0, 0}, "city", &block);
    if (err != VISD_ERR_OK) return err;
    for (int i = 0; i < 2; i++) visd_maker_put(m, names[i], mesh[i], 0, 0, 0, 0);
    err = visd_maker_flush(m, block, "city");
    /* Rows of ten across the tower's shadow, ever further back. */
    for (uint64_t row = 0; err == VISD_ERR_OK && !visd_maker_full(m); row++) {
        struct visd_random r = visd_random_at(m->params->seed, row);
        float z = -42 - 9.0f * (float)row;
        for (int i = 0; i < 10; i++) {
            uint32_t kind = 2 + (uint32_t)(visd_random_next(&r) % 4);
            visd_maker_put(m, names[kind], mesh[kind], -19 + 4.2f * (float)i + visd_random_between(&r, -0.5f, 0.5f), 0, z + visd_random_between(&r, -1, 1),
                           kind == 2 ? 0 : visd_random_between(&r, 0, 6));
        }
        err = visd_maker_flush(m, block, "city");
    }
    return err;
}

void visd_city_fly(uint64_t objects, double t, double eye[3], double target[3])
{
    (void)objects;
    double angle = t < 0.25 ? 0.3 * sin(t * 4 * turn) * 0.25 : (t - 0.25) / 0.75 * turn; /* first before the tower, then round it */
    double reach = t < 0.25 ? 40 : 40 + 160 * sin((t - 0.25) / 0.75 * turn / 2);
    eye[0] = reach * sin(angle), eye[1] = 1.7 + (t < 0.25 ? 0 : 40 * sin((t - 0.25) / 0.75 * turn / 2)), eye[2] = -60 + (60 + reach) * cos(angle);
    target[0] = 0, target[1] = 8, target[2] = -60;
}
