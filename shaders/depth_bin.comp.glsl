#version 460
/* Bin: a thread a large triangle lists the tiles that it touches.
 *
 * A tile that lies wholly outside an edge is skipped: its best corner decides. The samples of all listed rectangles are counted, and what
 * exceeds the bound of a submission is left out: it hides nothing, which costs tightness only. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
#include "raster.glsl"
layout(local_size_x_id = 2) in;

void main()
{
    frame_ref frame = frame_ref(push.frame);
    target t = raster_target(frame);
    tile_ref tiles = tile_ref(frame.f.tiles);
    uint capacity = frame.f.tile_capacity, limit = frame.f.tile_unit_limit;
    uint count = min(t.counters.c.larges, t.large_capacity), place = group_index() * CHUNK + gl_LocalInvocationIndex;
    if (place >= count) return;
    large tri = t.larges.v[place];
    ivec2 p0 = tri.p[0], p1 = tri.p[1], p2 = tri.p[2];
    if (raster_done(t, tri.slot)) return;
    ivec2 least = min(p0, min(p1, p2)) - tri.wide, most = max(p0, max(p1, p2)) + tri.wide;
    ivec2 sx = raster_span(least.x, most.x, t.width), sy = raster_span(least.y, most.y, t.height);
    ivec2 d0 = p1 - p0, d1 = p2 - p1, d2 = p0 - p2;
    int64_t wide0 = int64_t(tri.wide) * raster_reach(d0), wide1 = int64_t(tri.wide) * raster_reach(d1), wide2 = int64_t(tri.wide) * raster_reach(d2);
    ivec2 first = ivec2(sx.x, sy.x) >> TILE_SHIFT, last = ivec2(sx.y, sy.y) >> TILE_SHIFT, at = first;
    while (at.y <= last.y) {
        ivec2 a = (at * SUBPIXEL) << TILE_SHIFT, z = a + (SUBPIXEL << TILE_SHIFT);
        bool out0 = raster_cross(p0, p1, ivec2(d0.y > 0 ? a.x : z.x, d0.x > 0 ? z.y : a.y)) < -wide0;
        bool out1 = raster_cross(p1, p2, ivec2(d1.y > 0 ? a.x : z.x, d1.x > 0 ? z.y : a.y)) < -wide1;
        bool out2 = raster_cross(p2, p0, ivec2(d2.y > 0 ? a.x : z.x, d2.x > 0 ? z.y : a.y)) < -wide2;
        if (!(out0 || out1 || out2)) {
            ivec2 from = max(ivec2(sx.x, sy.x), at << TILE_SHIFT), to = min(ivec2(sx.y, sy.y), (at << TILE_SHIFT) + (1 << TILE_SHIFT) - 1);
            uint units = (uint(to.x - from.x + 1) * uint(to.y - from.y + 1) * t.samples + 63u) >> 6;
            /* At the first that does not fit this triangle ends, so that its walk, too, is bounded, and no sum can come round to 0. */
            uint i = capacity;
            if (atomicAdd(t.counters.c.tile_units, units) + units <= limit) i = atomicAdd(t.counters.c.tiles, 1u);
            if (i >= capacity) {
                if (MODE == RASTER_MARK) raster_mark(t, tri.slot, true, 0u);
                return;
            }
            tiles.v[i] = tile(place, uint(at.x) | uint(at.y) << 16);
        }
        bool end = at.x == last.x;
        at = end ? ivec2(first.x, at.y + 1) : ivec2(at.x + 1, at.y);
    }
}
