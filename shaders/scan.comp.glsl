#version 460
/* Scan: the sums of all work groups of the pass before become the place where each begins.
 *
 * One work group; each invocation owns a run of blocks, sums it, learns what lies before it from prefix.glsl, and writes the run
 * back as exclusive sums. What the totals mean depends on what was counted; they set the indirect arguments of the passes that follow.
 * argument: how many blocks, where candidates are counted; afterwards there are as many as the candidates have. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
#define PREFIX_SUMS
#include "prefix.glsl"
layout(local_size_x = GROUP) in;
layout(constant_id = 0) const uint WHAT = 0u; /* 0 candidates, 1 draws, 2 the list */

void main()
{
    frame_ref frame = frame_ref(push.frame);
    counters_ref counters = counters_ref(frame.f.counters);
    uvec4_ref blocks = uvec4_ref(frame.f.blocks);
    uint count = push.argument;
    if (WHAT != 0u) count = (counters.c.candidates + GROUP - 1u) / GROUP;
    uint run = (count + GROUP - 1u) / GROUP;
    uint from = min(gl_LocalInvocationIndex * run, count), to = min(from + run, count);
    uvec4 sum = uvec4(0u), total;
    for (uint i = from; i < to; i++) sum += blocks.v[i];
    uvec4 at = prefix_sum(sum, total);
    for (uint i = from; i < to; i++) {
        uvec4 value = blocks.v[i];
        blocks.v[i] = at;
        at += value;
    }
    if (gl_LocalInvocationIndex != 0u) return;
    if (WHAT == 0u) {
        counters.c.candidates = total.x;
        counters.c.candidate_groups = indirect_groups((total.x + GROUP - 1u) / GROUP);
        counters.c.weigh_groups = uvec3(min((total.x + GROUP - 1u) / GROUP, WEIGH_GROUPS), 1u, 1u);
    } else if (WHAT == 1u) {
        counters.c.fast_draws = min(total.x, frame.f.draw_capacity);
        counters.c.clip_draws = min(total.z, frame.f.draw_capacity);
        counters.c.fast_chunks = min(total.y, frame.f.chunk_limit);
        counters.c.clip_chunks = min(total.w, frame.f.chunk_limit);
        counters.c.fast_groups = indirect_groups(counters.c.fast_chunks);
        counters.c.clip_groups = indirect_groups(counters.c.clip_chunks);
        counters.c.larges = 0u;
        counters.c.tiles = 0u;
        counters.c.tile_units = 0u;
    } else {
        counters.c.listed = total.x;
    }
}
