/* Records: everything in double, rounded once, outwards.
 *
 * With L and t the world transform, [lo, hi] the local box (the client's, widened to hold the mesh), l its centre
 * rounded to float and h = max(hi - l, l - lo):
 *
 *   centre = L l + t, split into two floats; linear = L, split too; the box uses its first float alone: box = centre + linear * diag(half) * [-1,1]^3
 *
 * For a vertex v of the mesh, |fl(v - l)| <= half holds in float arithmetic, because v <= hi, rounding is monotonic and half
 * >= hi - l is a float: the box contains the mesh as the worker draws it. It must also contain the exact thing,
 * centre* + L [-h,h]^3, which the client draws. That is linear * y with y = x + linear^-1 ((L - linear) x + centre* - centre), so
 *
 *   half_k = h_k (1 + 2^-22) + 2^-23 sum_j (|L^-1| |L|)_kj h_j + |row k of L^-1| * (centre's error + deviation)
 *
 * holds it: entries of linear are off by at most 2^-24 of themselves, and the doubled factors pay for linear^-1 being
 * taken as L^-1. In the world that adds some 10^-7 of the object's size, whatever its scale. The mesh's deviation
 * counts only where the client gave no box of its own. Where the axes of L lie nearly in a plane (flattened by a group
 * above a rotation) L^-1 would blow the box up out of all proportion: there half is h, the box as flat as its object, and
 * off by no more than the float rounding of linear, 2^-24 sum_j |L_ij| h_j, which the tests' own slack covers; if it would
 * also have to hold a deviation, it is taken as unbounded. */
#include "derive.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "affine.h"

#define FLAT 1e-4 /* |det| / product of the columns' lengths below which dividing would add more than it saves */
#define ROUNDED 1e-12 /* the same below which the determinant's sign may be rounding's: theirs who composed the transform, or ours */
#define HALF_MAX 1e37 /* far inside float */

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

/* For x >= 0: the least float that is no smaller. */
static float round_up(double x)
{
    float f = (float)x;
    uint32_t bits;
    if ((double)f < x) {
        memcpy(&bits, &f, sizeof(bits));
        bits++; /* the next float: their order is that of their bits */
        memcpy(&f, &bits, sizeof(f));
    }
    return x > 0 && f < FLT_MIN ? FLT_MIN : f; /* devices may flush what is smaller to zero */
}

static bool within(double x)
{
    return x > -VISD_SCENE_UNBOUNDED && x < VISD_SCENE_UNBOUNDED;
}

static void world_of(const struct visd_scene *s, uint32_t slot, const struct object *ob, double world[12])
{
    const double *own = ob->flags & OBJECT_HAS_TRANSFORM ? objects_transform(&s->objects, slot) : NULL;
    const double *above = ob->group != NO_SLOT ? s->groups.group[ob->group].world : NULL;
    if (own && above)
        affine_multiply(world, above, own);
    else if (own || above)
        memcpy(world, own ? own : above, 12 * sizeof(*world));
    else
        affine_identity(world);
}

/* Column j of the inverse, times the determinant: the cross product of the rows after j. */
static void cross(double inverse[3][3], int j, const double *a, const double *b)
{
    inverse[0][j] = a[1] * b[2] - a[2] * b[1];
    inverse[1][j] = a[2] * b[0] - a[0] * b[2];
    inverse[2][j] = a[0] * b[1] - a[1] * b[0];
}

/* Inverse of the linear part; false: flat. Which way round it turns faces (VISD_OBJECT_FLATTENED: neither, as far as can be told) is set either way. */
static bool invert(const double w[12], double inverse[3][3], uint32_t *turn)
{
    cross(inverse, 0, &w[4], &w[8]);
    cross(inverse, 1, &w[8], &w[0]);
    cross(inverse, 2, &w[0], &w[4]);
    double det = w[0] * inverse[0][0] + w[1] * inverse[1][0] + w[2] * inverse[2][0];
    double x = w[0] * w[0] + w[4] * w[4] + w[8] * w[8], y = w[1] * w[1] + w[5] * w[5] + w[9] * w[9];
    double z = w[2] * w[2] + w[6] * w[6] + w[10] * w[10], lengths = sqrt(x) * sqrt(y) * sqrt(z), scale = 1 / det;
    *turn = !(fabs(det) > ROUNDED * lengths) ? VISD_OBJECT_FLATTENED : det < 0 ? VISD_OBJECT_MIRRORED : 0;
    if (!(fabs(det) > FLAT * lengths) || !isfinite(scale))
        return false;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            inverse[i][j] *= scale;
    return true;
}

/* The local box; false: there is none. */
static bool local_box(const struct object *ob, const struct version *mesh, double lo[3], double hi[3])
{
    bool given = ob->flags & OBJECT_HAS_BOX, meshed = mesh && mesh->vertices;
    for (int k = 0; k < 3; k++) {
        lo[k] = given ? ob->box[k] : meshed ? (double)mesh->min[k] : 0;
        hi[k] = given ? ob->box[3 + k] : meshed ? (double)mesh->max[k] : 0;
        if (given && meshed) {
            lo[k] = least(lo[k], (double)mesh->min[k]);
            hi[k] = most(hi[k], (double)mesh->max[k]);
        }
    }
    return given || meshed;
}

/* half as in the file's comment; false: flat, half is h alone. */
static bool widen(const double w[12], double inverse[3][3], const double h[3], double off, double half[3])
{
    double reach[3]; /* |L| h */
    for (int i = 0; i < 3; i++)
        reach[i] = fabs(w[4 * i]) * h[0] + fabs(w[4 * i + 1]) * h[1] + fabs(w[4 * i + 2]) * h[2];
    for (int k = 0; k < 3; k++) {
        const double *row = inverse[k];
        double across = fabs(row[0]) * reach[0] + fabs(row[1]) * reach[1] + fabs(row[2]) * reach[2];
        double length = sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
        half[k] = h[k] * (1 + 0x1p-22) + 0x1p-23 * across + length * off;
    }
    return half[0] < HALF_MAX && half[1] < HALF_MAX && half[2] < HALF_MAX;
}

/* In 1/16 pixel, rounded up. */
static uint32_t margin_of(float margin)
{
    uint32_t whole = (uint32_t)(margin * 16);
    return (float)whole < margin * 16 ? whole + 1 : whole;
}

bool derive(const struct visd_scene *s, uint32_t slot, struct derived *out)
{
    const struct object *ob = objects_at(&s->objects, slot);
    struct visd_object_change *c = &out->change;
    memset(out, 0, sizeof(*out));
    c->slot = slot;
    c->info.mesh = VISD_MESH_NONE;
    c->info.generation = ob->generation;
    if (!(ob->flags & OBJECT_LIVE))
        return true;

    const struct version *mesh = ob->mesh != NO_SLOT ? &s->meshes.mesh[ob->mesh].version : NULL;
    double w[12], lo[3], hi[3], h[3], half[3], l[3], centre[3], inverse[3][3], error = 0;
    uint32_t turn;
    out->unbounded = !local_box(ob, mesh, lo, hi) || (ob->flags & (VISD_OBJECT_UNBOUNDED | OBJECT_HUGE_BOX));
    world_of(s, slot, ob, w);
    for (int k = 0; k < 3; k++) {
        c->info.local[k] = (float)(0.5 * lo[k] + 0.5 * hi[k]);
        l[k] = (double)c->info.local[k];
        h[k] = most(hi[k] - l[k], l[k] - lo[k]);
    }
    for (int i = 0; i < 3; i++) {
        const double *row = &w[4 * i];
        centre[i] = row[0] * l[0] + row[1] * l[1] + row[2] * l[2] + row[3];
        double terms = fabs(row[0] * l[0]) + fabs(row[1] * l[1]) + fabs(row[2] * l[2]) + fabs(row[3]);
        error += terms * 0x1p-47; /* the split, and the sums above */
        for (int j = 0; j < 3; j++)
            if (!within(row[j]))
                return false;
        if (!within(terms))
            return false;
    }
    double deviation = mesh && !(ob->flags & OBJECT_HAS_BOX) ? (double)mesh->deviation : 0;
    if (!invert(w, inverse, &turn) || !widen(w, inverse, h, error + deviation, half)) {
        memcpy(half, h, sizeof(half)); /* flat */
        out->unbounded |= deviation > 0;
    }

    for (int i = 0; i < 3; i++) {
        const double *row = &w[4 * i];
        double reach = fabs(row[0]) * half[0] + fabs(row[1]) * half[1] + fabs(row[2]) * half[2];
        if (!within(fabs(centre[i]) + reach))
            return false;
        out->min[i] = out->unbounded ? 0 : centre[i] - reach;
        out->max[i] = out->unbounded ? 0 : centre[i] + reach;
        c->bounds.centre_hi[i] = (float)centre[i];
        c->bounds.centre_lo[i] = (float)(centre[i] - (double)c->bounds.centre_hi[i]);
        for (int j = 0; j < 3; j++) {
            c->bounds.row[i].linear[j] = (float)row[j];
            c->fine.linear_lo[i][j] = (float)(row[j] - (double)c->bounds.row[i].linear[j]);
        }
        c->bounds.row[i].half = round_up(half[i]);
    }
    uint32_t flags = ob->flags & VISD_OBJECT_WIRE_MASK;
    if (ob->group != NO_SLOT)
        flags |= s->groups.group[ob->group].effective;
    out->counts = !out->unbounded && !(flags & VISD_OBJECT_HIDDEN);
    flags |= VISD_OBJECT_LIVE | turn | (out->unbounded ? VISD_OBJECT_UNBOUNDED : 0);
    flags |= margin_of(ob->margin) << VISD_OBJECT_MARGIN_SHIFT;
    c->bounds.flags = flags;
    c->bounds.layers = ob->layers;
    c->info.mesh = mesh ? mesh->device : VISD_MESH_NONE;
    c->info.id[0] = (uint32_t)ob->id;
    c->info.id[1] = (uint32_t)(ob->id >> 32);
    return true;
}
