#version 460
/* Tiles: makes the indirect arguments of the two steps that draw large triangles. argument 0: of binning; 1: of drawing the tiles.
 *
 * Numbers are clamped to what fitted; that something did not fit is counted. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
layout(local_size_x = 1) in;

void main()
{
    frame_ref frame = frame_ref(push.frame);
    counters_ref counters = counters_ref(frame.f.counters);
    if (push.argument == 0u) {
        counters.c.tile_groups = indirect_groups((min(counters.c.larges, frame.f.large_capacity) + CHUNK - 1u) / CHUNK);
        return;
    }
    uint tiles = min(counters.c.tiles, frame.f.tile_capacity);
    bool left_out = counters.c.larges > frame.f.large_capacity || counters.c.tiles > tiles || counters.c.tile_units > frame.f.tile_unit_limit;
    if (left_out) counters.c.over_budget++;
    counters.c.tiles = tiles;
    counters.c.tile_groups = indirect_groups(tiles);
}
