#version 460
/* Depth, the exact path: triangles of meshes that touch the near plane, a section, or reach where float is not good enough.
 *
 * Positions are composed and projected in double, from matrices that are split in two floats as positions are. The triangle is clipped as a polygon against the near plane, the section planes and
 * four guard planes around the image, by a formula that gives the same cut from either end of an edge, and drawn as a fan. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
#include "projection.glsl"
#include "raster.glsl"
#include "draws.glsl"
layout(local_size_x_id = 2) in;

#define MAX_VERTICES 17 /* a triangle, and one more for each of 6 + 8 planes */

struct corner { dvec3 r; dvec4 c; }; /* relative to the eye; clip space */

/* Arrays of doubles as pairs of words: lavapipe mixes up indexed private arrays of 64-bit numbers when invocations part ways. */
uvec2 polygon[MAX_VERTICES * 7], kept[MAX_VERTICES * 7];

corner polygon_load(int i)
{
    corner v;
    for (int j = 0; j < 3; j++) v.r[j] = packDouble2x32(polygon[i * 7 + j]);
    for (int j = 0; j < 4; j++) v.c[j] = packDouble2x32(polygon[i * 7 + 3 + j]);
    return v;
}

void kept_store(int i, corner v)
{
    for (int j = 0; j < 3; j++) kept[i * 7 + j] = unpackDouble2x32(v.r[j]);
    for (int j = 0; j < 4; j++) kept[i * 7 + 3 + j] = unpackDouble2x32(v.c[j]);
}

/* Distance to a plane, inside where it is not negative. 0: near; 1: w; 2-5: guard; then the sections. */
double plane_distance(frame_ref frame, corner v, uint which, dvec2 guard)
{
    if (which == 0u) return v.c.w - v.c.z;
    if (which == 1u) return v.c.w - 1.0e-30LF;
    if (which == 2u) return guard.x * v.c.w + v.c.x;
    if (which == 3u) return guard.x * v.c.w - v.c.x;
    if (which == 4u) return guard.y * v.c.w + v.c.y;
    if (which == 5u) return guard.y * v.c.w - v.c.y;
    dvec4 plane = dvec4(frame.f.camera.plane[which - 6u]) + dvec4(frame.f.camera.plane_lo[which - 6u]);
    return dot(plane.xyz, v.r) + plane.w;
}

void main()
{
    frame_ref frame = frame_ref(push.frame);
    target t = raster_target(frame);
    bounds_ref all_bounds = bounds_ref(frame.f.bounds);
    fine_ref all_fine = fine_ref(frame.f.fine);
    work todo;
    if (!draw_work(frame, uint_ref(frame.f.clip_starts), draw_ref(frame.f.clip_draws), t.counters.c.clip_draws, t.counters.c.clip_chunks, todo)) return;
    if (raster_done(t, todo.d.slot)) return;
    draw d = todo.d;
    view_camera camera = frame.f.camera;
    object_bounds b = all_bounds.v[d.slot];
    vec3 linear_lo[3] = all_fine.v[d.slot].linear_lo;

    dvec3 centre = dvec3(b.centre_hi) - dvec3(camera.eye_hi) + dvec3(b.centre_lo) - dvec3(camera.eye_lo);
    for (int i = 0; i < 3; i++) {
        dvec3 v = dvec3(vec3_ref(d.vertices).v[todo.index[i]]) - dvec3(d.local);
        if ((d.flags & DRAW_BOX) != 0u) v *= dvec3(b.row[0].w, b.row[1].w, b.row[2].w);
        corner p;
        for (int j = 0; j < 3; j++) p.r[j] = centre[j] + dot(dvec3(b.row[j].xyz) + dvec3(linear_lo[j]), v);
        for (int k = 0; k < 4; k++) {
            dvec4 m = dvec4(camera.m[k]) + dvec4(camera.m_lo[k]);
            p.c[k] = dot(m.xyz, p.r) + m.w;
        }
        kept_store(i, p);
    }
    polygon = kept;

    dvec2 size = dvec2(t.width, t.height);
    dvec2 guard = 1.0LF + 2.0LF * GUARD_PIXELS / size;
    uint planes = 6u + ((d.flags & OBJECT_SECTION_EXEMPT) != 0u ? 0u : camera.planes);
    /* Most triangles here cross no plane: only those that some vertex is beyond are clipped against. */
    uint beyond = 0u, out_of_all = 0u;
    for (uint which = 0u; which < planes; which++) {
        uint outside = 0u;
        for (int i = 0; i < 3; i++) outside += plane_distance(frame, polygon_load(i), which, guard) < 0.0LF ? 1u : 0u;
        if (outside != 0u) beyond |= 1u << which;
        if (outside == 3u) out_of_all = 1u;
    }
    int count = out_of_all != 0u ? 0 : 3;
    while (beyond != 0u && count > 0) {
        uint which = uint(findLSB(beyond));
        beyond &= beyond - 1u;
        int next = 0;
        for (int i = 0; i < count; i++) {
            corner here = polygon_load(i), there = polygon_load(i + 1 == count ? 0 : i + 1);
            double at = plane_distance(frame, here, which, guard), then = plane_distance(frame, there, which, guard);
            if (at >= 0.0LF) kept_store(next++, here);
            if ((at >= 0.0LF) != (then >= 0.0LF)) {
                corner cut;
                cut.r = (here.r * then - there.r * at) / (then - at);
                cut.c = (here.c * then - there.c * at) / (then - at);
                kept_store(next++, cut);
            }
        }
        count = next;
        for (int i = 0; i < count * 7; i++) polygon[i] = kept[i];
    }

    ivec2 first = ivec2(0), last = ivec2(0);
    float first_depth = 0.0, last_depth = 0.0, wide = 0.0;
    if (MODE == RASTER_MARK)
        for (int i = 0; i < count; i++) wide = max(wide, d.wide + mark_stray(vec4(polygon_load(i).c), d.stray, vec2(size)));
    if (!(wide <= float(MARK_WIDE_MOST))) {
        raster_mark(t, d.slot, true, 0u);
        return;
    }
    for (int i = 0; i < count; i++) {
        dvec4 c = polygon_load(i).c;
        ivec2 p = ivec2(floor((c.xy / c.w * 0.5LF + 0.5LF) * size * double(SUBPIXEL) + 0.5LF));
        double least = c.z - double(d.error_z); /* as depth_behind in projection.glsl */
        float depth = float(least / (least >= 0.0LF ? c.w + double(d.error_w) : max(c.w - double(d.error_w), c.w * 0.0009765625LF)));
        if (MODE == RASTER_MARK) depth = depth_ahead(float(c.z), float(c.w), d.error_z, d.error_w);
        if (i == 0) {
            first = p;
            first_depth = depth;
        } else if (i >= 2) {
            raster_triangle(t, first, last, p, vec3(first_depth, last_depth, depth), todo.two_sided, todo.facing, d.slot, int(ceil(wide)));
        }
        last = p;
        last_depth = depth;
    }
}
