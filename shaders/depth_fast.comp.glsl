#version 460
/* Depth, the fast path: a thread a triangle of meshes that stand clear of the near plane, of sections and of float's limits.
 *
 * Each vertex is projected in float, its depth stepped back by the draw's bounds on what that may cost; raster.glsl does the rest. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
#include "projection.glsl"
#include "raster.glsl"
layout(local_size_x_id = 2) in;

void main()
{
    frame_ref frame = frame_ref(push.frame);
    target t = raster_target(frame);
    vec2 size = vec2(t.width, t.height);
    float facing = frame.f.camera.orientation;
    uint_ref starts = uint_ref(frame.f.fast_starts);
    draw_ref draws = draw_ref(frame.f.fast_draws);
    uint chunks = t.counters.c.fast_chunks, chunk = min(group_index(), chunks - 1u);
    uint place = draw_of_chunk(starts, t.counters.c.fast_draws, chunk);
    draw d = draws.v[place]; /* loads before any return stay uniform */
    uint triangle = (chunk - starts.v[place]) * CHUNK + gl_LocalInvocationIndex;
    if (triangle >= d.triangles || group_index() >= chunks) return;
    uvec3 index = uvec3_ref(d.indices).v[triangle];
    bool two_sided = raster_two_sided(index.x, d.flags);
    index.x &= INDEX_MASK;
    ivec2 p[3];
    vec3 depth;
    for (int i = 0; i < 3; i++) {
        vec3 v = vec3_ref(d.vertices).v[index[i]] - d.local;
        vec4 c;
        for (int k = 0; k < 4; k++) c[k] = project_point(d.row[k], v);
        precise vec2 q = (c.xy / c.w * 0.5 + 0.5) * size;
        p[i] = ivec2(floor(q * float(SUBPIXEL) + 0.5));
        depth[i] = depth_behind(c.z, c.w, d.error_z, d.error_w);
    }
    if ((d.flags & OBJECT_MIRRORED) != 0u) facing = -facing;
    raster_triangle(t, p[0], p[1], p[2], depth, two_sided, facing, d.slot);
}
