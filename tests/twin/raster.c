/* The raster's one rule: a sample is covered where no edge function of the snapped triangle is negative, edges included; its depth is the
 * plane through the three vertices, stepped back by a bound on what interpolating in float may cost, so that it is never too near.
 *
 * The twin computes the plane in double, and knows the device to be within half of the step back of it. Where a vertex is loose (a device
 * may have snapped it one place further), samples that one place decides are covered maybe: they raise the most, not the least. */
#include <math.h>
#include <stdlib.h>

#include "twin.h"

#define DEPTH_ERROR 9.5367431640625e-7

struct twin_span twin_span(int32_t low, int32_t high, uint32_t size, bool multisampled)
{
    struct twin_span s = multisampled
        ? (struct twin_span){(low - SUBPIXEL * 15 / 16) >> SUBPIXEL_BITS, (high - SUBPIXEL / 16) >> SUBPIXEL_BITS}
        : (struct twin_span){(low + SUBPIXEL / 2 - 1) >> SUBPIXEL_BITS, (high - SUBPIXEL / 2) >> SUBPIXEL_BITS};
    if (s.from < 0) s.from = 0;
    if (s.to > (int32_t)size - 1) s.to = (int32_t)size - 1;
    return s;
}

int64_t twin_cross(const struct twin_vertex *a, const struct twin_vertex *b, int64_t x, int64_t y)
{
    return (int64_t)(b->x - a->x) * (y - a->y) - (x - a->x) * (int64_t)(b->y - a->y);
}

static int32_t least3(int32_t a, int32_t b, int32_t c) { return a < b ? (a < c ? a : c) : b < c ? b : c; }
static int32_t most3(int32_t a, int32_t b, int32_t c) { return -least3(-a, -b, -c); }

static void put(struct twin *t, uint64_t sample, double least, double most)
{
    if (least > 0 && (float)least > t->depth.least[sample]) t->depth.least[sample] = (float)least;
    if (most > 0 && (float)most > t->depth.most[sample]) t->depth.most[sample] = (float)most;
}

/* A large triangle's claim on the lists: the tiles whose best corner is outside of no edge. */
static void ask_tiles(struct twin *t, const struct twin_vertex v[3], struct twin_span sx, struct twin_span sy, bool surely)
{
    struct twin_larges *l = &t->larges;
    l->triangles[0] += surely;
    l->triangles[1]++;
    for (int32_t ty = sy.from >> TILE_SHIFT; ty <= sy.to >> TILE_SHIFT; ty++)
        for (int32_t tx = sx.from >> TILE_SHIFT; tx <= sx.to >> TILE_SHIFT; tx++) {
            int32_t side = 1 << TILE_SHIFT, x0 = tx * side, y0 = ty * side, x1 = x0 + side - 1, y1 = y0 + side - 1;
            bool out = false;
            for (int i = 0; i < 3; i++) {
                const struct twin_vertex *a = &v[i], *b = &v[(i + 1) % 3];
                int64_t x = (int64_t)(b->y > a->y ? x0 : x0 + side) * SUBPIXEL, y = (int64_t)(b->x > a->x ? y0 + side : y0) * SUBPIXEL;
                out = out || twin_cross(a, b, x, y) < 0;
            }
            if (out && surely) continue;
            x0 = x0 > sx.from ? x0 : sx.from;
            y0 = y0 > sy.from ? y0 : sy.from;
            x1 = x1 < sx.to ? x1 : sx.to;
            y1 = y1 < sy.to ? y1 : sy.to;
            uint64_t units = ((uint64_t)(x1 - x0 + 1) * (uint64_t)(y1 - y0 + 1) * t->frame.camera.samples + 63) / 64;
            for (int most = !surely; most < 2; most++) {
                l->tiles[most]++;
                l->units[most] += units;
            }
        }
}

void twin_raster(struct twin *t, const struct twin_vertex in[3], bool two_sided, float facing)
{
    const struct view_camera *camera = &t->frame.camera;
    struct twin_vertex v[3] = {in[0], in[1], in[2]};
    bool loose = v[0].loose || v[1].loose || v[2].loose, several = camera->samples > 1;
    int64_t area = twin_cross(&v[0], &v[1], v[2].x, v[2].y);
    int32_t x0 = least3(v[0].x, v[1].x, v[2].x), x1 = most3(v[0].x, v[1].x, v[2].x);
    int32_t y0 = least3(v[0].y, v[1].y, v[2].y), y1 = most3(v[0].y, v[1].y, v[2].y);
    /* What moving any corner by one place may do to an edge function. */
    int64_t give = loose ? 3 * ((int64_t)(x1 - x0) + (y1 - y0)) + 8 : 0;
    bool sure = llabs(area) > give; /* of its orientation */
    if (sure && !two_sided && !(area > 0 ? facing > 0 : facing < 0)) return;
    if (!loose && area == 0) return;
    double nearest = fmax(v[0].depth, fmax(v[1].depth, v[2].depth));
    if (!(nearest > 0)) return;
    if (area < 0) {
        struct twin_vertex swap = v[1];
        v[1] = v[2];
        v[2] = swap;
        area = -area;
    }
    int32_t wide = loose ? 1 : 0;
    struct twin_span sx = twin_span(x0 - wide, x1 + wide, camera->width, several), sy = twin_span(y0 - wide, y1 + wide, camera->height, several);
    if (sx.from > sx.to || sy.from > sy.to) return;
    bool small = (int64_t)(sx.to - sx.from + 1) * (sy.to - sy.from + 1) <= SMALL_PIXELS && x1 - x0 < SMALL_SIDE * SUBPIXEL && y1 - y0 < SMALL_SIDE * SUBPIXEL;
    if (t->larges.counting) {
        if (!small || loose) ask_tiles(t, v, sx, sy, !small && !loose);
        return;
    }
    bool kept = small && !loose ? true : !t->larges.left_out;

    double z1 = v[1].depth - v[0].depth, z2 = v[2].depth - v[0].depth, scale = area ? 1.0 / (double)area : 0;
    double d1x = v[1].x - v[0].x, d1y = v[1].y - v[0].y, d2x = v[2].x - v[0].x, d2y = v[2].y - v[0].y;
    double steep = ((fabs(d2y) + fabs(d2x)) * fabs(z1) + (fabs(d1y) + fabs(d1x)) * fabs(z2)) * SUBPIXEL * scale; /* a pixel */
    double largest = fmax(fabs(v[0].depth), fmax(fabs(v[1].depth), fabs(v[2].depth)));
    double back_small = largest * DEPTH_ERROR, back_large = 2 * DEPTH_ERROR * (largest + (double)(1u << TILE_SHIFT) * steep);
    double back_least = small && !loose ? back_small : back_large, back_most = small || loose ? back_small : back_large;
    double shift = loose ? steep * 8 / SUBPIXEL : 0, vertex_give = 4 * largest * 0x1p-24;
    for (int32_t y = sy.from; y <= sy.to; y++)
        for (int32_t x = sx.from; x <= sx.to; x++)
            for (uint32_t s = 0; s < camera->samples; s++) {
                int64_t px = x * SUBPIXEL + (several ? t->frame.sample_offset[s][0] : SUBPIXEL / 2);
                int64_t py = y * SUBPIXEL + (several ? t->frame.sample_offset[s][1] : SUBPIXEL / 2);
                int64_t e1 = twin_cross(&v[2], &v[0], px, py), e2 = twin_cross(&v[0], &v[1], px, py), e0 = area - e1 - e2;
                int64_t least = e0 < e1 ? (e0 < e2 ? e0 : e2) : e1 < e2 ? e1 : e2;
                if (least < -give) continue;
                bool surely = kept && sure && least >= give;
                t->samples_most++;
                t->samples_least += surely;
                uint64_t at = ((uint64_t)y * camera->width + (uint64_t)x) * camera->samples + s;
                double value = v[0].depth + ((double)e1 * z1 + (double)e2 * z2) * scale;
                double low = value - shift - 1.5 * back_least - vertex_give, high = value + shift - 0.5 * back_most + vertex_give;
                if (!sure) high = nearest;
                put(t, at, surely ? low : 0, fmin(high, nearest));
            }
}
