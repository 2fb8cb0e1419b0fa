/* Marks: a survivor's triangle is drawn wider all round and as near as it may be there; where that is not behind what depth holds, its object
 * is marked. Asked twice: surely, with the least of all that a right device may have found, against the most that depth may hold; and maybe, the
 * other way round. An object whose answers differ is open. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "twin.h"

#define DEPTH_ERROR 9.5367431640625e-7

static int32_t least3(int32_t a, int32_t b, int32_t c) { return a < b ? (a < c ? a : c) : b < c ? b : c; }
static int32_t most3(int32_t a, int32_t b, int32_t c) { return -least3(-a, -b, -c); }
static int64_t reach(const struct twin_vertex *a, const struct twin_vertex *b) { return llabs((int64_t)b->x - a->x) + llabs((int64_t)b->y - a->y); }

/* A large triangle's claim on the lists, as it would be if every tile of its rectangle were its own: enough to know that nothing was left out. */
static void ask(struct twin *t, struct twin_span sx, struct twin_span sy)
{
    int64_t columns = (sx.to >> TILE_SHIFT) - (sx.from >> TILE_SHIFT) + 1, rows = (sy.to >> TILE_SHIFT) - (sy.from >> TILE_SHIFT) + 1;
    t->larges.triangles[1]++;
    t->larges.tiles[1] += (uint64_t)(columns * rows);
    t->larges.units[1] += (uint64_t)(columns * rows) * ((1u << 2 * TILE_SHIFT) * t->frame.camera.samples / 64);
}

void twin_mark(struct twin *t, const struct twin_vertex in[3], bool two_sided, float facing, uint32_t slot, const int32_t wide[2])
{
    const struct view_camera *camera = &t->frame.camera;
    struct twin_vertex v[3] = {in[0], in[1], in[2]};
    bool loose = v[0].loose || v[1].loose || v[2].loose, several = camera->samples > 1;
    int64_t area = twin_cross(&v[0], &v[1], v[2].x, v[2].y);
    int32_t x0 = least3(v[0].x, v[1].x, v[2].x), x1 = most3(v[0].x, v[1].x, v[2].x), y0 = least3(v[0].y, v[1].y, v[2].y), y1 = most3(v[0].y, v[1].y, v[2].y);
    int64_t give = loose ? 3 * ((int64_t)(x1 - x0) + (y1 - y0)) + 8 : 0; /* what moving any corner by one place may do to an edge function */
    double nearest = fmax(v[0].depth, fmax(v[1].depth, v[2].depth)), largest = fmax(fabs(v[0].depth), fmax(fabs(v[1].depth), fabs(v[2].depth)));
    double vertex_give = 16 * largest * 0x1p-24;
    int64_t flat[2]; /* up to these areas it surely, or maybe, has neither side nor plane */
    for (int k = 0; k < 2; k++) flat[k] = 2 * ((int64_t)(x1 - x0) + (y1 - y0) + 4 * wide[k]) + 4;
    bool flat_surely = llabs(area) + give <= flat[0], flat_maybe = llabs(area) - give - (loose ? 8 : 0) <= flat[1];
    bool front = area > 0 ? facing > 0 : facing < 0, either = two_sided || facing == 0;
    bool drawn_surely = (either || flat_surely || (front && llabs(area) > give)) && nearest - vertex_give >= 0;
    if (!(either || flat_maybe || front || llabs(area) <= give) || nearest + vertex_give < 0) return;
    if (area < 0) {
        struct twin_vertex swap = v[1];
        v[1] = v[2];
        v[2] = swap;
        area = -area;
    }
    int32_t more = loose ? 1 : 0;
    struct twin_span sx = twin_span(x0 - wide[1] - more, x1 + wide[1] + more, camera->width, several), sy = twin_span(y0 - wide[1] - more, y1 + wide[1] + more, camera->height, several);
    struct twin_span ax = twin_span(x0 - wide[0] + more, x1 + wide[0] - more, camera->width, several), ay = twin_span(y0 - wide[0] + more, y1 + wide[0] - more, camera->height, several);
    if (sx.from > sx.to || sy.from > sy.to) return;
    bool small = (int64_t)(sx.to - sx.from + 1) * (sy.to - sy.from + 1) <= SMALL_PIXELS && x1 - x0 + 2 * wide[1] < SMALL_SIDE * SUBPIXEL - 2 &&
                 y1 - y0 + 2 * wide[1] < SMALL_SIDE * SUBPIXEL - 2;
    if (t->larges.counting) {
        if (!small) ask(t, sx, sy);
        return;
    }
    if (!small && t->larges.left_out) t->marked_maybe[slot] = true;

    double z1 = v[1].depth - v[0].depth, z2 = v[2].depth - v[0].depth, scale = area ? 1.0 / (double)area : 0;
    double d1x = v[1].x - v[0].x, d1y = v[1].y - v[0].y, d2x = v[2].x - v[0].x, d2y = v[2].y - v[0].y;
    double steep = ((fabs(d2y) + fabs(d2x)) * fabs(z1) + (fabs(d1y) + fabs(d1x)) * fabs(z2)) * scale; /* a place */
    double slope = (fabs(d2y * z1 - d1y * z2) + fabs(d1x * z2 - d2x * z1)) * scale;
    double round = 2 * DEPTH_ERROR * (largest + fmax((double)(x1 - x0 + y1 - y0 + 4 * wide[1]), SUBPIXEL << TILE_SHIFT) * steep);
    double shift = loose ? steep * 8 : 0;
    int64_t reach0 = reach(&v[1], &v[2]), reach1 = reach(&v[2], &v[0]), reach2 = reach(&v[0], &v[1]);
    for (int32_t y = sy.from; y <= sy.to; y++)
        for (int32_t x = sx.from; x <= sx.to && !t->marked_surely[slot]; x++)
            for (uint32_t s = 0; s < camera->samples; s++) {
                int64_t px = x * SUBPIXEL + (several ? t->frame.sample_offset[s][0] : SUBPIXEL / 2);
                int64_t py = y * SUBPIXEL + (several ? t->frame.sample_offset[s][1] : SUBPIXEL / 2);
                int64_t e1 = twin_cross(&v[2], &v[0], px, py), e2 = twin_cross(&v[0], &v[1], px, py), e0 = area - e1 - e2;
                if (e0 < -wide[1] * reach0 - give || e1 < -wide[1] * reach1 - give || e2 < -wide[1] * reach2 - give) continue;
                bool surely = drawn_surely && e0 >= -wide[0] * reach0 + give && e1 >= -wide[0] * reach1 + give && e2 >= -wide[0] * reach2 + give &&
                              x >= ax.from && x <= ax.to && y >= ay.from && y <= ay.to && (small || !t->larges.left_out);
                uint64_t at = ((uint64_t)y * camera->width + (uint64_t)x) * camera->samples + s;
                double value = v[0].depth + ((double)e1 * z1 + (double)e2 * z2) * scale;
                double low = fmin(value + wide[0] * slope * (1 - 1e-5) - shift, nearest), high = fmin(value + wide[1] * slope * (1 + 1e-5) + round + shift, nearest);
                if (flat_surely) low = nearest;
                if (flat_maybe) high = nearest;
                if (high + vertex_give >= t->depth.least[at]) t->marked_maybe[slot] = true;
                if (surely && low - vertex_give >= t->depth.most[at]) t->marked_surely[slot] = true;
            }
}

void twin_marks(struct twin *t)
{
    memset(t->marked_surely, 0, t->scene->slots * sizeof(bool));
    memset(t->marked_maybe, 0, t->scene->slots * sizeof(bool));
    t->marking = true;
    t->larges = (struct twin_larges){.counting = true};
    twin_draw_all(t);
    t->larges.counting = false;
    t->larges.left_out = twin_too_many(t, 1);
    twin_draw_all(t);
    t->marking = false;
}
