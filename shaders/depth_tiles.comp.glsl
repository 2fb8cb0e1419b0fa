#version 460
/* Tiles: hands the tiles of large triangles to work groups: clamps their number to what fitted and makes the indirect arguments. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
layout(local_size_x = 1) in;

void main()
{
    frame_ref frame = frame_ref(push.frame);
    counters_ref counters = counters_ref(frame.f.counters);
    uint tiles = min(counters.c.tiles, frame.f.tile_capacity);
    if (counters.c.larges > frame.f.large_capacity || counters.c.tiles > tiles || counters.c.tile_units > frame.f.tile_unit_limit) counters.c.over_budget++;
    counters.c.tiles = tiles;
    uint x = min(tiles, push.argument2);
    counters.c.tile_groups = uvec3(x, x == 0u ? 0u : (tiles + x - 1u) / x, 1u);
}
