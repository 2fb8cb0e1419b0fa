/* The curtain: a wall, plates hung before it, and blocks behind it. All are in view of every camera of the flight; the plates are
 * seen, the blocks are not. How many are plates is the caller's to say, so that cost can be measured against the share that is seen. */
#include <math.h>

#include "scene.h"

#define PIECE 128u /* things told at a time */
#define SHARE 1.0  /* percent, when none is said */

enum { WIDE = 16, HIGH = 9, DEEP = 16 }; /* the plates' field, and the room of the blocks */

static const double turn = 6.28318530717958647692;

/* The coarsest cells of which so many fit: in one layer, or in as many as are deep. */
struct lattice {
    uint64_t columns, rows;
    double cell;
};

static struct lattice lattice_of(uint64_t count, bool deep)
{
    double least = deep ? cbrt((double)count * WIDE * WIDE / (HIGH * DEEP)) : sqrt((double)count * WIDE / HIGH);
    for (uint64_t columns = (uint64_t)least + 1;; columns++) {
        double cell = (double)WIDE / (double)columns;
        uint64_t rows = (uint64_t)(HIGH / cell), layers = deep ? (uint64_t)(DEEP / cell) : 1;
        if (columns * rows * layers >= count) return (struct lattice){columns, rows, cell};
    }
}

/* Things of one mesh, the nearest layer's middle at z. */
static enum visd_err hang(struct visd_maker *m, const char *name, uint32_t mesh, uint64_t count, struct lattice lattice, double z)
{
    float size = (float)(0.6 * lattice.cell);
    enum visd_err err = VISD_ERR_OK;
    for (uint64_t i = 0; i < count && err == VISD_ERR_OK; i++) {
        uint64_t column = i % lattice.columns, row = i / lattice.columns % lattice.rows, layer = i / lattice.columns / lattice.rows;
        struct visd_model_trs trs = {.rotation = {0, 0, 0, 1}, .scale = {size, size, size}};
        trs.translation[0] = (float)(((double)column + 0.5) * lattice.cell - WIDE / 2.0);
        trs.translation[1] = (float)(((double)row + 0.5) * lattice.cell - HIGH / 2.0);
        trs.translation[2] = (float)(z - (double)layer * lattice.cell);
        visd_maker_put_trs(m, name, mesh, &trs);
        if (m->thing_count == PIECE || i + 1 == count) err = visd_maker_flush(m, VISD_MODEL_NONE, "");
    }
    return err;
}

enum visd_err visd_curtain_make(struct visd_maker *m)
{
    double share = m->params->share > 0 ? m->params->share : SHARE;
    uint64_t things = m->wanted - 1, plates = (uint64_t)(share / 100 * (double)m->wanted + 0.5);
    plates = plates > 1 ? plates - 1 : 0; /* the wall is seen, too */
    if (plates > things) plates = things;
    uint32_t wall, plate, block;
    struct visd_shape s = {0};
    visd_shape_box(&s, -4 * WIDE, -4 * HIGH, -0.05f, 4 * WIDE, 4 * HIGH, 0.05f);
    enum visd_err err = visd_maker_mesh(m, &s, &wall);
    if (err != VISD_ERR_OK) return err;
    visd_shape_soft_box(&s, -0.5f, -0.5f, -0.05f, 0.5f, 0.5f, 0.05f, 0.02f);
    if ((err = visd_maker_mesh(m, &s, &plate)) != VISD_ERR_OK) return err;
    visd_shape_soft_box(&s, -0.5f, -0.5f, -0.5f, 0.5f, 0.5f, 0.5f, 0.05f);
    if ((err = visd_maker_mesh(m, &s, &block)) != VISD_ERR_OK) return err;

    visd_maker_put(m, "wall", wall, 0, 0, -DEEP / 2.0f, 0);
    err = visd_maker_flush(m, VISD_MODEL_NONE, "");
    if (err == VISD_ERR_OK && plates) err = hang(m, "plate", plate, plates, lattice_of(plates, false), 0);
    if (err == VISD_ERR_OK && things > plates) err = hang(m, "block", block, things - plates, lattice_of(things - plates, true), -DEEP);
    return err;
}

/* A step to each side before it, always looking at its middle. */
void visd_curtain_fly(uint64_t objects, double t, double eye[3], double target[3])
{
    (void)objects;
    eye[0] = 0.5 * sin(t * turn), eye[1] = 0.3 * sin(2 * t * turn), eye[2] = 10;
    for (int k = 0; k < 3; k++) target[k] = 0;
}
