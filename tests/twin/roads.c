/* The two roads of a triangle to the raster: the fast one, in float, and the exact one, in double with clipping. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "twin.h"

#define MAX_VERTICES 17

/* Where sides are not known back faces hide nothing, and do count as seen. */
static bool two_sided(const struct twin *t, uint32_t index, uint32_t flags)
{
    bool both = t->marking ? !(flags & OBJECT_SINGLE_SIDED) : flags & OBJECT_DOUBLE_SIDED;
    return (index & INDEX_DOUBLE) || ((index & INDEX_UNKNOWN) && both);
}

static float facing_of(const struct twin *t, const struct draw *d)
{
    if (d->flags & OBJECT_FLATTENED) return 0;
    return d->flags & OBJECT_MIRRORED ? -t->frame.camera.orientation : t->frame.camera.orientation;
}

/* Snaps a coordinate to 1/SUBPIXEL pixel; loose, if give (in the same unit) could turn it to a neighbour. */
static int32_t snap(const struct twin *t, double at, double give, bool *loose)
{
    double place = floor(at + 0.5);
    if (t->strict) return (int32_t)place;
    if (at + 0.5 - place < give || place + 1 - (at + 0.5) < give) *loose = true;
    return (int32_t)place;
}

/* A vertex's depth, never nearer than it is: behind the far plane it is the smaller w that steps back. */
static double depth_behind(double z, double w, const struct draw *d)
{
    double least = z - d->error_z;
    return least / (least >= 0 ? w + d->error_w : fmax(w - d->error_w, w / 1024));
}

/* For a mark the other way: never farther, and 1 where that is not known. */
static double depth_ahead(double z, double w, const struct draw *d)
{
    double most = z + d->error_z;
    return most < 0 ? most / (w + d->error_w) : w > 2.0 * (double)d->error_w ? fmin(most / (w - d->error_w), 1) : 1;
}

/* How much wider a mark is at a vertex, in 1/SUBPIXEL pixel. */
static double wide_of(const struct twin *t, const struct draw *d, double x, double y, double w)
{
    double less = fmax(w - d->stray[2], w / 1024);
    double sx = (d->stray[0] + fabs(x / w) * d->stray[2]) / less * t->frame.camera.width, sy = (d->stray[1] + fabs(y / w) * d->stray[2]) / less * t->frame.camera.height;
    return d->wide + fmax(sx, sy) * (0.5 * SUBPIXEL);
}

/* A triangle on the last stretch of its road. */
static void pass_on(struct twin *t, const struct draw *d, const struct twin_vertex v[3], uint32_t index, double wide)
{
    bool both = two_sided(t, index, d->flags);
    if (!t->marking) {
        twin_raster(t, v, both, facing_of(t, d));
        return;
    }
    double give = wide > d->wide ? wide * 0x1p-18 : 0; /* with no deviation there is nothing to round */
    if (wide + give > MARK_WIDE_MOST) t->marked_maybe[d->slot] = true;
    if (wide - give > MARK_WIDE_MOST) t->marked_surely[d->slot] = true;
    if (wide - give > MARK_WIDE_MOST) return;
    twin_mark(t, v, both, facing_of(t, d), d->slot, (const int32_t[2]){(int32_t)ceil(wide - give), (int32_t)ceil(wide + give)});
}

void twin_road_fast(struct twin *t, const struct draw *d, uint32_t triangle)
{
    const uint32_t *index = (const uint32_t *)(uintptr_t)d->indices + (uint64_t)triangle * 3;
    const float *vertices = (const float *)(uintptr_t)d->vertices;
    const float size[2] = {(float)t->frame.camera.width, (float)t->frame.camera.height};
    struct twin_vertex v[3];
    double wide = 0;
    for (int i = 0; i < 3; i++) {
        float clip[4], q[2];
        v[i] = (struct twin_vertex){0};
        twin_project(d, vertices + (uint64_t)(index[i] & INDEX_MASK) * 3, clip);
        int32_t at[2];
        for (int k = 0; k < 2; k++) {
            q[k] = (clip[k] / clip[3] * 0.5f + 0.5f) * size[k];
            at[k] = snap(t, (double)q[k] * SUBPIXEL, (fabs((double)q[k]) + size[k]) * SUBPIXEL * 0x1p-22, &v[i].loose);
        }
        if (clip[3] == 1) v[i].loose = false; /* nothing was divided: every device finds the same */
        v[i].x = at[0];
        v[i].y = at[1];
        v[i].depth = (float)(t->marking ? depth_ahead(clip[2], clip[3], d) : depth_behind(clip[2], clip[3], d));
        wide = fmax(wide, wide_of(t, d, clip[0], clip[1], clip[3]));
    }
    pass_on(t, d, v, index[0], wide);
}

struct corner { double r[3], c[4]; }; /* relative to the eye; clip space */

/* Inside where not negative. 0: near; 1: w; 2-5: guard; then the sections. */
static double distance_to(const struct twin *t, const struct corner *v, uint32_t which, const double guard[2])
{
    const float *plane = t->frame.camera.plane[which < 6 ? 0 : which - 6], *lo = t->frame.camera.plane_lo[which < 6 ? 0 : which - 6];
    switch (which) {
    case 0: return v->c[3] - v->c[2];
    case 1: return v->c[3] - 1e-30;
    case 2: return guard[0] * v->c[3] + v->c[0];
    case 3: return guard[0] * v->c[3] - v->c[0];
    case 4: return guard[1] * v->c[3] + v->c[1];
    case 5: return guard[1] * v->c[3] - v->c[1];
    default: break;
    }
    double distance = (double)plane[3] + lo[3];
    for (int i = 0; i < 3; i++) distance += ((double)plane[i] + lo[i]) * v->r[i];
    return distance;
}

static struct corner corner_of(const struct twin *t, const struct draw *d, const float vertex[3])
{
    const struct view_camera *camera = &t->frame.camera;
    const struct object_bounds *b = &t->scene->bounds[d->slot];
    const struct object_fine *fine = &t->scene->fine[d->slot];
    struct corner p;
    for (int i = 0; i < 3; i++) {
        p.r[i] = (double)b->centre_hi[i] - camera->eye_hi[i] + b->centre_lo[i] - camera->eye_lo[i];
        for (int j = 0; j < 3; j++) p.r[i] += ((double)b->row[i][j] + fine->linear_lo[i][j]) * ((double)vertex[j] - d->local[j]) * (d->flags & DRAW_BOX ? (double)b->row[j][3] : 1);
    }
    for (int k = 0; k < 4; k++) {
        double m[4];
        for (int j = 0; j < 4; j++) m[j] = (double)camera->m[k][j] + camera->m_lo[k][j];
        p.c[k] = m[0] * p.r[0] + m[1] * p.r[1] + m[2] * p.r[2] + m[3];
    }
    return p;
}

static struct corner cut_between(const struct corner *a, double at, const struct corner *b, double then)
{
    struct corner cut;
    for (int i = 0; i < 3; i++) cut.r[i] = (a->r[i] * then - b->r[i] * at) / (then - at);
    for (int k = 0; k < 4; k++) cut.c[k] = (a->c[k] * then - b->c[k] * at) / (then - at);
    return cut;
}

void twin_road_clip(struct twin *t, const struct draw *d, uint32_t triangle)
{
    const uint32_t *index = (const uint32_t *)(uintptr_t)d->indices + (uint64_t)triangle * 3;
    const float *vertices = (const float *)(uintptr_t)d->vertices;
    const struct view_camera *camera = &t->frame.camera;
    const double size[2] = {camera->width, camera->height}, guard[2] = {1 + 2 * GUARD_PIXELS / size[0], 1 + 2 * GUARD_PIXELS / size[1]};
    struct corner polygon[MAX_VERTICES], kept[MAX_VERTICES];
    int count = 3;
    for (int i = 0; i < 3; i++) polygon[i] = corner_of(t, d, vertices + (uint64_t)(index[i] & INDEX_MASK) * 3);
    uint32_t planes = 6 + (d->flags & OBJECT_SECTION_EXEMPT ? 0 : camera->planes);
    for (uint32_t which = 0; which < planes && count > 0; which++) {
        int next = 0;
        for (int i = 0; i < count; i++) {
            const struct corner *here = &polygon[i], *there = &polygon[(i + 1) % count];
            double at = distance_to(t, here, which, guard), then = distance_to(t, there, which, guard);
            assert(next + 2 <= MAX_VERTICES);
            if (at >= 0) kept[next++] = *here;
            if ((at >= 0) != (then >= 0)) kept[next++] = cut_between(here, at, there, then);
        }
        count = next;
        memcpy(polygon, kept, sizeof(polygon));
    }
    struct twin_vertex v[3];
    double wide = 0;
    for (int i = 0; i < count; i++) wide = fmax(wide, wide_of(t, d, polygon[i].c[0], polygon[i].c[1], polygon[i].c[3]));
    for (int i = 0; i < count; i++) {
        const double *c = polygon[i].c;
        struct twin_vertex p = {0};
        double x = (c[0] / c[3] * 0.5 + 0.5) * size[0] * SUBPIXEL, y = (c[1] / c[3] * 0.5 + 0.5) * size[1] * SUBPIXEL;
        p.x = snap(t, x, (fabs(x) + size[0]) * 0x1p-48, &p.loose);
        p.y = snap(t, y, (fabs(y) + size[1]) * 0x1p-48, &p.loose);
        p.depth = (float)(t->marking ? depth_ahead((float)c[2], (float)c[3], d) : depth_behind(c[2], c[3], d));
        if (i < 2) {
            v[i] = p;
            continue;
        }
        v[2] = p;
        pass_on(t, d, v, index[0], wide);
        v[1] = p;
    }
}
