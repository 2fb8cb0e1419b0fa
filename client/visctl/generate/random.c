/* Random and grid: scenes that stress the arithmetic, not the eye.
 *
 * Random mixes sizes over six decades, flat things, slivers, mirrored ones, see-through and double-sided ones. Grid is a cube of
 * balls, every one alike, in which nearly all is hidden. */
#include <math.h>

#include "scene.h"

#define PIECE 128u /* things told at a time */

static const double turn = 6.28318530717958647692;

static enum visd_err make_shapes(struct visd_maker *m, uint32_t out[6])
{
    enum visd_err err = VISD_ERR_OK;
    for (int i = 0; i < 6 && err == VISD_ERR_OK; i++) {
        struct visd_shape s = {0};
        switch (i) {
        case 0: visd_shape_soft_box(&s, -0.5f, -0.5f, -0.5f, 0.5f, 0.5f, 0.5f, 0.05f); break;
        case 1: visd_shape_ball(&s, 0, 0, 0, 0.5f, 0.5f, 0.5f, 16, 24); break;
        case 2: visd_shape_cone(&s, 0, 0, -0.5f, 0.5f, 0.5f, 0, 32); break;
        case 3: /* flat: no thickness at all */
            visd_shape_part(&s, VISD_MODEL_SIDES_DOUBLE, false);
            visd_shape_quad(&s, (const float[3]){-0.5f, 0, 0.5f}, (const float[3]){0.5f, 0, 0.5f}, (const float[3]){0.5f, 0, -0.5f},
                            (const float[3]){-0.5f, 0, -0.5f});
            break;
        case 4: /* a pane */
            visd_shape_part(&s, VISD_MODEL_SIDES_DOUBLE, true);
            visd_shape_box(&s, -0.5f, -0.5f, -0.01f, 0.5f, 0.5f, 0.01f);
            break;
        default: /* not the same as its mirror image, single sided, open behind */
            visd_shape_quad(&s, (const float[3]){-0.5f, -0.5f, 0}, (const float[3]){0.5f, -0.5f, 0.2f}, (const float[3]){0.5f, 0.5f, 0},
                            (const float[3]){-0.2f, 0.5f, 0.1f});
            visd_shape_bar(&s, (const float[3]){-0.4f, 0, 0}, (const float[3]){0.1f, 0.4f, 0.4f}, 0.05f, 16);
            break;
        }
        err = visd_maker_mesh(m, &s, &out[i]);
    }
    return err;
}

enum visd_err visd_random_make(struct visd_maker *m)
{
    static const char *const names[6] = {"block", "ball", "cone", "sheet", "pane", "hook"};
    uint32_t mesh[6];
    enum visd_err err = make_shapes(m, mesh);
    for (uint64_t piece = 0; err == VISD_ERR_OK && !visd_maker_full(m); piece++) {
        struct visd_random r = visd_random_at(m->params->seed, piece);
        for (uint32_t i = 0; i < PIECE; i++) {
            struct visd_model_trs trs;
            uint32_t kind = (uint32_t)(visd_random_next(&r) % 6);
            float size = powf(10, visd_random_between(&r, -3, 1)), spread = 60;
            if (visd_random_next(&r) % 400 == 0) size *= 40, spread = 300; /* a few are huge, and further out */
            for (int k = 0; k < 3; k++) {
                trs.translation[k] = visd_random_between(&r, -spread, spread);
                trs.scale[k] = size * visd_random_between(&r, 0.3f, 1.5f);
                if (visd_random_next(&r) % 12 == 0) trs.scale[k] *= 0.001f; /* a sliver */
            }
            if (visd_random_next(&r) % 3 == 0) trs.scale[visd_random_next(&r) % 3] *= -1;
            float length = 0;
            for (int k = 0; k < 4; k++) {
                trs.rotation[k] = visd_random_between(&r, -1, 1) + 1e-3f;
                length += trs.rotation[k] * trs.rotation[k];
            }
            for (int k = 0; k < 4; k++) trs.rotation[k] /= sqrtf(length);
            visd_maker_put_trs(m, names[kind], mesh[kind], &trs);
        }
        err = visd_maker_flush(m, VISD_MODEL_NONE, "");
    }
    return err;
}

void visd_random_fly(uint64_t objects, double t, double eye[3], double target[3])
{
    (void)objects;
    double a = t * turn;
    eye[0] = 50 * sin(a), eye[1] = 15 * sin(3 * a), eye[2] = 50 * cos(2 * a);
    target[0] = eye[0] + cos(5 * a), target[1] = eye[1] + 0.3 * sin(4 * a), target[2] = eye[2] + sin(5 * a);
}

static uint64_t side_of(uint64_t objects)
{
    uint64_t side = (uint64_t)cbrt((double)objects);
    while (side * side * side < objects) side++;
    return side;
}

enum visd_err visd_grid_make(struct visd_maker *m)
{
    struct visd_shape s = {0};
    uint32_t ball, layer;
    uint64_t side = side_of(m->wanted);
    visd_shape_ball(&s, 0, 0, 0, 0.45f, 0.45f, 0.45f, 14, 20);
    enum visd_err err = visd_maker_mesh(m, &s, &ball);
    for (uint64_t y = 0; err == VISD_ERR_OK && !visd_maker_full(m); y++) {
        err = visd_maker_group(m, VISD_MODEL_NONE, (const double[3]){0, (double)y, 0}, "layer", &layer);
        for (uint64_t i = 0; i < side * side && err == VISD_ERR_OK && !visd_maker_full(m); i++) {
            visd_maker_put(m, "ball", ball, (float)(i % side), 0, (float)(i / side), 0);
            if (m->thing_count == PIECE || i + 1 == side * side || m->made + m->thing_count == m->wanted) err = visd_maker_flush(m, layer, "layer");
        }
    }
    return err;
}

void visd_grid_fly(uint64_t objects, double t, double eye[3], double target[3])
{
    double side = (double)side_of(objects), middle = (side - 1) / 2, a = t * turn, reach = side * (0.9 + 0.5 * cos(2 * a));
    eye[0] = middle + reach * cos(a), eye[1] = middle + 0.3 * side * sin(3 * a), eye[2] = middle + reach * sin(a);
    for (int k = 0; k < 3; k++) target[k] = middle;
}
