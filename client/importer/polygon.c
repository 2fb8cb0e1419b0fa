/* See polygon.h. The polygon is laid flat along its normal, and its ears are cut off one after the other. Triangles that all turn as the polygon does
 * add up to how often it winds round each point, so none covers what lies outside of it; edges are looked at for crossings since programs
 * disagree on what is wound round twice. Corners in the same place are allowed: a hole hangs on such a seam. */
#include "polygon.h"

#include <math.h>
#include <stdlib.h>

#define SLACK 1e-9 /* of the polygon's area */
#define MOST_CORNERS 20000u /* the work grows with their square */

void polygon_room_finish(struct polygon_room *room)
{
    free(room->flat);
    free(room->next);
    *room = (struct polygon_room){0};
}

static bool make_room(struct polygon_room *room, uint32_t corners)
{
    if (corners <= room->corners) return true;
    polygon_room_finish(room);
    room->flat = malloc(corners * 2ull * sizeof(*room->flat));
    room->next = malloc(corners * 2ull * sizeof(*room->next));
    if (room->flat && room->next) room->corners = corners;
    return room->corners == corners;
}

static void fan(uint32_t count, uint32_t *out)
{
    for (uint32_t i = 0; i + 2 < count; i++, out += 3) out[0] = 0, out[1] = i + 1, out[2] = i + 2;
}

/* Lays the corners into the plane that its normal (Newell's) leans on most. False: it has no normal. */
static bool lay_flat(const float *positions, const uint32_t *corners, uint32_t count, double *flat)
{
    double normal[3] = {0};
    const float *o = positions + (size_t)corners[0] * 3;
    for (uint32_t i = 0; i < count; i++) {
        const float *p = positions + (size_t)corners[i] * 3, *q = positions + (size_t)corners[i + 1 < count ? i + 1 : 0] * 3;
        double a[3], b[3];
        for (int k = 0; k < 3; k++) a[k] = (double)p[k] - (double)o[k], b[k] = (double)q[k] - (double)o[k];
        for (int k = 0; k < 3; k++) normal[k] += a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    }
    int k = fabs(normal[0]) > fabs(normal[1]) ? 0 : 1;
    if (fabs(normal[2]) > fabs(normal[k])) k = 2;
    if (!(fabs(normal[k]) > 0) || !isfinite(normal[k])) return false;
    int u = (k + 1) % 3, v = (k + 2) % 3;
    for (uint32_t i = 0; i < count; i++) {
        const float *p = positions + (size_t)corners[i] * 3;
        flat[i * 2] = ((double)p[u] - (double)o[u]) * (normal[k] < 0 ? -1 : 1);
        flat[i * 2 + 1] = (double)p[v] - (double)o[v];
    }
    return true;
}

/* Twice the area of a triangle, positive if it turns left. */
static double turn(const double *a, const double *b, const double *c)
{
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static bool same(const double *a, const double *b)
{
    return a[0] == b[0] && a[1] == b[1];
}

/* No other corner lies inside the triangle of corner b and its neighbours, or on its new edge. */
static bool is_ear(const double *flat, const uint32_t *next, const uint32_t *before, uint32_t b)
{
    uint32_t a = before[b], c = next[b];
    const double *pa = flat + a * 2, *pb = flat + b * 2, *pc = flat + c * 2;
    for (uint32_t i = next[c]; i != a; i = next[i]) {
        const double *p = flat + i * 2;
        if (same(p, pa) || same(p, pb) || same(p, pc)) continue;
        if (turn(pa, pb, p) >= 0 && turn(pb, pc, p) >= 0 && turn(pc, pa, p) >= 0) return false;
    }
    return true;
}

/* Some two edges cross, each well on both sides of the other. */
static bool crosses(const double *flat, uint32_t count, double slack)
{
    for (uint32_t i = 0; i + 2 < count; i++) {
        const double *a = flat + i * 2, *b = a + 2;
        for (uint32_t j = i + 2; j < count; j++) {
            const double *c = flat + j * 2, *d = j + 1 < count ? c + 2 : flat;
            double ac = turn(a, b, c), ad = turn(a, b, d), ca = turn(c, d, a), cb = turn(c, d, b);
            if (((ac > slack && ad < -slack) || (ac < -slack && ad > slack)) && ((ca > slack && cb < -slack) || (ca < -slack && cb > slack))) return true;
        }
    }
    return false;
}

bool polygon_cut(struct polygon_room *room, const float *positions, const uint32_t *corners, uint32_t count, uint32_t *out)
{
    if (count == 3) {
        fan(count, out);
        return true;
    }
    if (!make_room(room, count) || !lay_flat(positions, corners, count, room->flat)) {
        fan(count, out);
        return false;
    }
    const double *flat = room->flat;
    uint32_t *next = room->next, *before = room->next + count;
    double area = 0;
    for (uint32_t i = 0; i < count; i++) {
        next[i] = i + 1 < count ? i + 1 : 0;
        before[i] = i ? i - 1 : count - 1;
        area += turn(flat, flat + i * 2, flat + next[i] * 2);
    }
    double slack = SLACK * area;
    bool sure = count <= MOST_CORNERS && !crosses(flat, count, slack);
    uint32_t left = count, at = 0, tried = 0, *to = out;
    while (sure && left > 3 && tried < 2 * left) {
        double size = turn(flat + before[at] * 2, flat + at * 2, flat + next[at] * 2);
        /* A corner on a straight line goes only once there is no real ear: until then it may hold the edge of one. */
        if (!(size > slack && is_ear(flat, next, before, at)) && !(tried >= left && fabs(size) <= slack)) {
            at = next[at];
            tried++;
            continue;
        }
        to[0] = before[at], to[1] = at, to[2] = next[at];
        to += 3;
        next[before[at]] = next[at];
        before[next[at]] = before[at];
        at = next[next[at]]; /* not always at the same corner: that makes slivers */
        left--;
        tried = 0;
    }
    if (sure && left == 3 && turn(flat + before[at] * 2, flat + at * 2, flat + next[at] * 2) >= -slack) {
        to[0] = before[at], to[1] = at, to[2] = next[at];
        return true;
    }
    fan(count, out);
    return false;
}
