#version 460
/* Depth, the exact path: triangles of meshes that touch the near plane, a section, or reach where float is not good enough.
 *
 * Positions are composed and projected in double. The triangle is clipped as a polygon against the near plane, the section planes and
 * four guard planes around the image, always from the inner vertex to the outer so that neighbours get the same cut, and drawn as a fan. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
#include "raster.glsl"
layout(local_size_x = CHUNK) in;

#define MAX_VERTICES 17 /* a triangle, and one more for each of 6 + 8 planes */
#define GUARD 8192.0    /* pixels around the image */

struct corner { dvec3 r; dvec4 c; }; /* relative to the eye; clip space */

corner polygon[MAX_VERTICES], kept[MAX_VERTICES];

/* Distance to a plane, inside where it is not negative. 0: near; 1: w; 2-5: guard; then the sections. */
double plane_distance(frame_ref frame, corner v, uint which, dvec2 guard)
{
    if (which == 0u) return v.c.w - v.c.z;
    if (which == 1u) return v.c.w - 1.0e-30LF;
    if (which == 2u) return guard.x * v.c.w + v.c.x;
    if (which == 3u) return guard.x * v.c.w - v.c.x;
    if (which == 4u) return guard.y * v.c.w + v.c.y;
    if (which == 5u) return guard.y * v.c.w - v.c.y;
    vec4 plane = frame.f.camera.plane[which - 6u];
    return dot(dvec3(plane.xyz), v.r) + double(plane.w);
}

void main()
{
    frame_ref frame = frame_ref(push.frame);
    counters_ref counters = counters_ref(frame.f.counters);
    uint chunk = group_index();
    if (chunk >= counters.c.clip_chunks) return;
    uint_ref starts = uint_ref(frame.f.clip_starts);
    uint place = draw_of_chunk(starts, counters.c.clip_draws, chunk);
    draw d = draw_ref(frame.f.clip_draws).v[place];
    uint triangle = (chunk - starts.v[place]) * CHUNK + gl_LocalInvocationIndex;
    if (triangle >= d.triangles) return;
    uvec3 index = uvec3_ref(d.indices).v[triangle];
    bool two_sided = raster_two_sided(index.x, d.flags);
    index.x &= INDEX_MASK;

    object_bounds b = bounds_ref(frame.f.bounds).v[d.slot];
    dvec3 centre = dvec3(b.centre_hi) - dvec3(frame.f.camera.eye_hi) + dvec3(b.centre_lo) - dvec3(frame.f.camera.eye_lo);
    for (int i = 0; i < 3; i++) {
        dvec3 v = dvec3(vec3_ref(d.vertices).v[index[i]]) - dvec3(d.local);
        for (int j = 0; j < 3; j++) polygon[i].r[j] = centre[j] + dot(dvec3(b.row[j].xyz), v);
        for (int k = 0; k < 4; k++) polygon[i].c[k] = dot(dvec3(frame.f.camera.m[k].xyz), polygon[i].r) + double(frame.f.camera.m[k].w);
    }

    dvec2 size = dvec2(frame.f.camera.width, frame.f.camera.height);
    dvec2 guard = 1.0LF + 2.0LF * GUARD / size;
    uint planes = 6u + ((d.flags & OBJECT_SECTION_EXEMPT) != 0u ? 0u : frame.f.camera.planes);
    int count = 3;
    for (uint which = 0u; which < planes && count > 0; which++) {
        int next = 0;
        for (int i = 0; i < count; i++) {
            corner here = polygon[i], there = polygon[i + 1 == count ? 0 : i + 1];
            double at = plane_distance(frame, here, which, guard), then = plane_distance(frame, there, which, guard);
            if (at >= 0.0LF) kept[next++] = here;
            if ((at >= 0.0LF) == (then >= 0.0LF)) continue;
            bool inner = at >= 0.0LF;
            corner a = inner ? here : there, z = inner ? there : here;
            double da = inner ? at : then, dz = inner ? then : at, t = da / (da - dz);
            kept[next].r = a.r + (z.r - a.r) * t;
            kept[next++].c = a.c + (z.c - a.c) * t;
        }
        count = next;
        for (int i = 0; i < count; i++) polygon[i] = kept[i];
    }

    float facing = frame.f.camera.orientation * ((d.flags & OBJECT_MIRRORED) != 0u ? -1.0 : 1.0);
    ivec2 first = ivec2(0), last = ivec2(0);
    float first_depth = 0.0, last_depth = 0.0;
    for (int i = 0; i < count; i++) {
        dvec4 c = polygon[i].c;
        ivec2 p = ivec2(floor((c.xy / c.w * 0.5LF + 0.5LF) * size * double(SUBPIXEL) + 0.5LF));
        float depth = float((c.z - double(d.error_z)) / (c.w + double(d.error_w)));
        if (i == 0) {
            first = p;
            first_depth = depth;
        } else if (i >= 2) {
            raster_triangle(frame, first, last, p, vec3(first_depth, last_depth, depth), two_sided, facing, d.slot);
        }
        last = p;
        last_depth = depth;
    }
}
