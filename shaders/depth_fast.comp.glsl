#version 460
/* Depth, the fast path: a thread a triangle of meshes that stand clear of the near plane, of sections and of float's limits.
 *
 * Each vertex is projected in float, its depth stepped back by the draw's bounds on what that may cost; raster.glsl does the rest. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
#include "projection.glsl"
#include "raster.glsl"
layout(local_size_x = CHUNK) in;

void main()
{
    frame_ref frame = frame_ref(push.frame);
    counters_ref counters = counters_ref(frame.f.counters);
    uint chunk = group_index();
    if (chunk >= counters.c.fast_chunks) return;
    uint_ref starts = uint_ref(frame.f.fast_starts);
    uint place = draw_of_chunk(starts, counters.c.fast_draws, chunk);
    draw d = draw_ref(frame.f.fast_draws).v[place];
    uint triangle = (chunk - starts.v[place]) * CHUNK + gl_LocalInvocationIndex;
    if (triangle >= d.triangles) return;
    uvec3 index = uvec3_ref(d.indices).v[triangle];
    bool two_sided = raster_two_sided(index.x, d.flags);
    index.x &= INDEX_MASK;
    vec2 size = vec2(frame.f.camera.width, frame.f.camera.height);
    ivec2 p[3];
    vec3 depth;
    for (int i = 0; i < 3; i++) {
        vec3 v = vec3_ref(d.vertices).v[index[i]] - d.local;
        vec4 c;
        for (int k = 0; k < 4; k++) c[k] = project_point(d.row[k], v);
        precise vec2 q = (c.xy / c.w * 0.5 + 0.5) * size;
        p[i] = ivec2(floor(q * float(SUBPIXEL) + 0.5));
        depth[i] = (c.z - d.error_z) / (c.w + d.error_w);
    }
    float facing = frame.f.camera.orientation * ((d.flags & OBJECT_MIRRORED) != 0u ? -1.0 : 1.0);
    raster_triangle(frame, p[0], p[1], p[2], depth, two_sided, facing, d.slot);
}
