/* The mall: a corridor, a wall with a door in it, and behind it a shop of eighty goods on shelves. With the door shut
 * nothing of the shop is seen from the corridor; the door is an object of its own, so it can be hidden. */
#include <math.h>

#include "furniture.h"
#include "scene.h"

static const double turn = 6.28318530717958647692;

/* The corridor runs along x from -20 to 20, z from 0 to 6; the wall stands at z = 0; the shop lies behind it, to z = -12. */
static enum visd_err make_shell(struct visd_maker *m, uint32_t group)
{
    static const struct {
        const char *name;
        float box[6];
    } walls[] = {
        {"floor", {-20, -0.3f, -12.2f, 20, 0, 6.2f}},    {"ceiling", {-20, 4, -12.2f, 20, 4.3f, 6.2f}}, {"corridor wall", {-20, 0, 6, 20, 4, 6.2f}},
        {"west end", {-20.2f, 0, -12.2f, -20, 4, 6.2f}}, {"east end", {20, 0, -12.2f, 20.2f, 4, 6.2f}}, {"back wall", {-20, 0, -12.2f, 20, 4, -12}},
        {"west partition", {-10.2f, 0, -12, -10, 4, 0}}, {"east partition", {10, 0, -12, 10.2f, 4, 0}},
    };
    enum visd_err err = VISD_ERR_OK;
    uint32_t mesh;
    for (size_t i = 0; i < sizeof(walls) / sizeof(*walls) && err == VISD_ERR_OK; i++) {
        struct visd_shape s = {0};
        const float *b = walls[i].box;
        visd_shape_box(&s, b[0], b[1], b[2], b[3], b[4], b[5]);
        err = visd_maker_mesh(m, &s, &mesh);
        visd_maker_put(m, walls[i].name, mesh, 0, 0, 0, 0);
    }
    struct visd_shape wall = {0}, door = {0};
    visd_shape_box(&wall, -20, 0, -0.2f, -1, 4, 0);
    visd_shape_box(&wall, 1, 0, -0.2f, 20, 4, 0);
    visd_shape_box(&wall, -1, 2.4f, -0.2f, 1, 4, 0);
    if (err == VISD_ERR_OK) err = visd_maker_mesh(m, &wall, &mesh);
    visd_maker_put(m, "shop front", mesh, 0, 0, 0, 0);
    visd_shape_box(&door, -1.02f, -0.02f, -0.12f, 1.02f, 2.42f, -0.08f); /* a little larger than its opening: no light gets round it */
    for (int side = -1; side <= 1; side += 2)
        visd_shape_bar(&door, (const float[3]){0.1f * (float)side, 0.8f, 0.02f}, (const float[3]){0.1f * (float)side, 1.5f, 0.02f}, 0.02f, 16);
    if (err == VISD_ERR_OK) err = visd_maker_mesh(m, &door, &mesh);
    visd_maker_put(m, "door", mesh, 0, 0, 0, 0);
    return err == VISD_ERR_OK ? visd_maker_flush(m, group, "mall") : err;
}

enum visd_err visd_mall_make(struct visd_maker *m)
{
    static const enum visd_furniture goods[] = {VISD_VASE, VISD_TOY, VISD_CUP, VISD_DESK_LAMP, VISD_PHONE};
    uint32_t piece[VISD_FURNITURE_COUNT], mall, shop;
    enum visd_err err = visd_maker_group(m, VISD_MODEL_NONE, (const double[3]){0, 0, 0}, "mall", &mall);
    if (err == VISD_ERR_OK) err = make_shell(m, mall);
    for (int i = 0; i < VISD_FURNITURE_COUNT && err == VISD_ERR_OK; i++) {
        struct visd_shape shape = {0};
        err = visd_furniture_build((enum visd_furniture)i, &shape.mesh, m->why);
        if (err == VISD_ERR_OK) err = visd_maker_mesh(m, &shape, &piece[i]);
    }
    if (err == VISD_ERR_OK) err = visd_maker_group(m, mall, (const double[3]){0, 0, -6}, "mall/shop", &shop);
    if (err != VISD_ERR_OK) return err;
    for (int i = 0; i < 7; i++) visd_maker_put(m, "shelf", piece[VISD_SHELF], -7.8f + 2.6f * (float)i, 0, -4, 0);
    err = visd_maker_flush(m, shop, "mall/shop");
    /* Twenty goods a board, then the next board up; past the shelves' room they stand in rows on the floor. */
    for (uint64_t row = 0; err == VISD_ERR_OK && !visd_maker_full(m); row++) {
        struct visd_random r = visd_random_at(m->params->seed, row);
        static const float boards[4] = {0.075f, 0.54f, 1.0f, 1.46f};
        for (int i = 0; i < 20; i++) {
            enum visd_furniture good = goods[visd_random_next(&r) % 5];
            float x = -8.5f + 0.88f * (float)i, y = row < 4 ? boards[row] : 0, z = row < 4 ? -4 : -3 + 0.35f * (float)((row - 4) % 24);
            visd_maker_put(m, visd_furniture_name(good), piece[good], x, y, z, visd_random_between(&r, 0, 6));
        }
        err = visd_maker_flush(m, shop, "mall/shop");
    }
    return err;
}

void visd_mall_fly(uint64_t objects, double t, double eye[3], double target[3])
{
    (void)objects;
    /* Up and down the corridor, eyes on the shop front. */
    double s = sin(t * turn);
    eye[0] = -16 * s, eye[1] = 1.6, eye[2] = 3.5;
    target[0] = -8 * s + 4 * cos(t * turn), target[1] = 1.4, target[2] = -4;
}
