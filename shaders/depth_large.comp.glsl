#version 460
/* Depth of large triangles: a work group a tile.
 *
 * The triangle's rectangle inside the tile is walked in rows of a power of two of pixels, so that neighbours write neighbours. Edge
 * functions are exact integers; depth is a plane in float, stepped back by a bound that holds anywhere in the tile, extrapolation included. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
#include "raster.glsl"
layout(local_size_x_id = 2) in;

void main()
{
    frame_ref frame = frame_ref(push.frame);
    target t = raster_target(frame);
    uint tiles = counters_ref(frame.f.counters).c.tiles;
    tile which = tile_ref(frame.f.tiles).v[min(group_index(), tiles - 1u)]; /* loads before any return stay uniform */
    large tri = large_ref(frame.f.larges).v[which.triangle];
    if (group_index() >= tiles || raster_done(t, tri.slot)) return;
    ivec2 p0 = tri.p[0], p1 = tri.p[1], p2 = tri.p[2];
    ivec2 least = min(p0, min(p1, p2)) - tri.wide, most = max(p0, max(p1, p2)) + tri.wide;
    ivec2 sx = raster_span(least.x, most.x, t.width);
    ivec2 sy = raster_span(least.y, most.y, t.height);
    ivec2 corner = ivec2(which.place & 0xffffu, which.place >> 16) << TILE_SHIFT;
    ivec2 from = max(ivec2(sx.x, sy.x), corner), to = min(ivec2(sx.y, sy.y), corner + (1 << TILE_SHIFT) - 1);

    ivec2 d1 = p1 - p0, d2 = p2 - p0;
    int64_t whole = raster_cross(p0, p1, p2);
    float scale = 1.0 / float(whole), z1 = tri.depth.y - tri.depth.x, z2 = tri.depth.z - tri.depth.x;
    /* What a pixel's step changes: of the two weights, and of depth; steep is the sum of magnitudes behind the latter. */
    vec2 slope = (vec2(d2.y, -d2.x) * z1 + vec2(-d1.y, d1.x) * z2) * (float(SUBPIXEL) * scale);
    float steep = ((abs(float(d2.y)) + abs(float(d2.x))) * abs(z1) + (abs(float(d1.y)) + abs(float(d1.x))) * abs(z2)) * (float(SUBPIXEL) * scale);
    float nearest = max(tri.depth.x, max(tri.depth.y, tri.depth.z));
    float back = 2.0 * DEPTH_ERROR * (depth_magnitude(tri.depth) + float(1 << TILE_SHIFT) * steep);
    bool has_plane = whole > 2l * int64_t(raster_reach(most - least)) + 4l; /* of a mark: raster.glsl */
    if (MODE == RASTER_MARK) {
        back = -back - float(tri.wide) / float(SUBPIXEL) * (abs(slope.x) + abs(slope.y));
        if (!has_plane) {
            tri.depth.x = nearest;
            z1 = 0.0;
            z2 = 0.0;
            scale = 0.0;
            slope = vec2(0.0);
            back = 0.0;
        }
    }

    uint bits = min(uint(findMSB(CHUNK)), uint(findMSB(uint(to.x - from.x)) + 1));
    int row = 1 << bits, rows = int(CHUNK) >> bits;
    int column = int(gl_LocalInvocationIndex) & (row - 1), line = int(gl_LocalInvocationIndex) >> bits;
    uint covered = 0u;
    bool any = false;
    int64_t wide1 = int64_t(tri.wide) * raster_reach(d2), wide2 = int64_t(tri.wide) * raster_reach(d1), wide3 = int64_t(tri.wide) * raster_reach(p2 - p1);
    /* An edge that the whole tile is inside of needs no test: its function is taken as 0 and stays so. One that crosses the tile is small
     * there; in units of a pixel's step, rounded down, which keeps its sign, it fits 32 bits. */
    ivec2 d3 = p2 - p1, low = corner * SUBPIXEL, high = low + (SUBPIXEL << TILE_SHIFT);
    int inside1 = raster_cross(p2, p0, ivec2(d2.y > 0 ? low.x : high.x, d2.x > 0 ? high.y : low.y)) >= 0l ? 0 : 1;
    int inside2 = raster_cross(p0, p1, ivec2(d1.y > 0 ? high.x : low.x, d1.x > 0 ? low.y : high.y)) >= 0l ? 0 : 1;
    int inside3 = raster_cross(p1, p2, ivec2(d3.y > 0 ? high.x : low.x, d3.x > 0 ? low.y : high.y)) >= 0l ? 0 : 1;
    int step1 = -d2.x * rows * inside1, step2 = d1.x * rows * inside2, step3 = d3.x * rows * inside3;
    for (int x = from.x + column; x <= to.x; x += row)
        for (uint s = 0u; s < t.samples; s++) {
            ivec2 at = (ivec2(x, from.y + line) * SUBPIXEL) + sample_offset(t, s), r = at - p0;
            int64_t weight1 = int64_t(r.x) * int64_t(d2.y) - int64_t(d2.x) * int64_t(r.y);
            int64_t weight2 = int64_t(d1.x) * int64_t(r.y) - int64_t(r.x) * int64_t(d1.y);
            int64_t weight3 = whole - weight1 - weight2;
            int e1 = int((weight1 + wide1) >> SUBPIXEL_BITS) * inside1, e2 = int((weight2 + wide2) >> SUBPIXEL_BITS) * inside2,
                e3 = int((weight3 + wide3) >> SUBPIXEL_BITS) * inside3;
            /* What is surely the triangle's own, of a mark: the same without the widening. */
            int own1 = int((weight1 - raster_own(-d2)) >> SUBPIXEL_BITS) * inside1, own2 = int((weight2 - raster_own(d1)) >> SUBPIXEL_BITS) * inside2,
                own3 = int((weight3 - raster_own(p2 - p1)) >> SUBPIXEL_BITS) * inside3;
            float start = tri.depth.x + (float(weight1) * z1 + float(weight2) * z2) * scale - back;
            float walked = 0.0;
            for (int y = from.y + line; y <= to.y; y += rows) {
                if ((e1 | e2 | e3) >= 0) {
                    precise float value = min(start + walked * slope.y, nearest);
                    uint index = (uint(y) * t.width + uint(x)) * t.samples + s;
                    if (MODE == RASTER_MARK) {
                        any = any || raster_passes(t, index, value);
                        covered += (own1 | own2 | own3) >= 0 && has_plane && raster_passes(t, index, start + walked * slope.y + back) ? 1u : 0u;
                    } else {
                        covered++;
                        raster_sample(t, index, value, tri.slot);
                    }
                }
                e1 += step1;
                e2 += step2;
                e3 += step3;
                own1 += step1;
                own2 += step2;
                own3 += step3;
                walked += float(rows);
            }
        }
    if (MODE == RASTER_MARK) raster_mark(t, tri.slot, any, covered);
    else raster_count(t, covered);
}
