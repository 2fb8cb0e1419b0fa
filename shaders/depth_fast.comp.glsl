#version 460
/* Depth, the fast path: a thread a triangle of meshes that stand clear of the near plane, of sections and of float's limits.
 *
 * Each vertex is projected in float, its depth stepped back by the draw's bounds on what that may cost; raster.glsl does the rest. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
#include "projection.glsl"
#include "raster.glsl"
#include "draws.glsl"
layout(local_size_x_id = 2) in;

void main()
{
    frame_ref frame = frame_ref(push.frame);
    target t = raster_target(frame);
    vec2 size = vec2(t.width, t.height);
    work w;
    if (!draw_work(frame, uint_ref(frame.f.fast_starts), draw_ref(frame.f.fast_draws), t.counters.c.fast_draws, t.counters.c.fast_chunks, w)) return;
    if (raster_done(t, w.d.slot)) return;
    ivec2 p[3];
    vec3 depth;
    float wide = 0.0;
    for (int i = 0; i < 3; i++) {
        vec3 v = vec3_ref(w.d.vertices).v[w.index[i]] - w.d.local;
        vec4 c;
        for (int k = 0; k < 4; k++) c[k] = project_point(w.d.row[k], v);
        precise vec2 q = (c.xy / c.w * 0.5 + 0.5) * size;
        p[i] = ivec2(floor(q * float(SUBPIXEL) + 0.5));
        if (MODE == RASTER_MARK) {
            depth[i] = depth_ahead(c.z, c.w, w.d.error_z, w.d.error_w);
            wide = max(wide, w.d.wide + mark_stray(c, w.d.stray, size));
        } else {
            depth[i] = depth_behind(c.z, c.w, w.d.error_z, w.d.error_w);
        }
    }
    if (!(wide <= float(MARK_WIDE_MOST))) {
        raster_mark(t, w.d.slot, true, 0u);
        return;
    }
    raster_triangle(t, p[0], p[1], p[2], depth, w.two_sided, w.facing, w.d.slot, int(ceil(wide)));
}
