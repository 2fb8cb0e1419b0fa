#version 460
/* Pick: notes what the budgets allow to be drawn, and counts them and their chunks for the scan, apart for the two raster paths. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
#include "select.glsl"
#define PREFIX_SUMS
#include "prefix.glsl"
layout(local_size_x = GROUP) in;

shared uint group_triangles[2], group_drawn, group_left;

void main()
{
    frame_ref frame = frame_ref(push.frame);
    counters_ref counters = counters_ref(frame.f.counters);
    uint i = global_index();
    if (gl_LocalInvocationIndex == 0u) {
        group_triangles[0] = 0u;
        group_triangles[1] = 0u;
        group_drawn = 0u;
        group_left = 0u;
    }
    barrier();
    uvec4 cost = uvec4(0u);
    uint triangles = 0u;
    bool left_out = false;
    if (i < counters.c.candidates) {
        uint slot = uint_ref(frame.f.candidates).v[i];
        uint verdict = uint_ref(frame.f.verdicts).v[slot];
        bool picked = false;
        if (select_eligible(verdict, info_ref(frame.f.info).v[slot].mesh, mesh_ref(frame.f.meshes), frame.f.draw_limit, frame.f.camera.caps != 0u, triangles, left_out)) {
            proxy place = proxy_ref(frame.f.proxies).v[slot];
            uint bucket = select_bucket(proxy_area(place)), classes = counters.c.classes;
            picked = bucket > counters.c.cut || (bucket == counters.c.cut && (classes == BUCKETS ||
                     select_class(slot, place.depth, counters.c.cut_near, counters.c.cut_far) < classes));
            left_out = !picked;
        }
        if (picked) {
            uint chunks = chunks_of(triangles);
            bool clip = (verdict & VERDICT_CLIP) != 0u;
            cost = clip ? uvec4(0u, 0u, 1u, chunks) : uvec4(1u, chunks, 0u, 0u);
            verdict |= select_marks() ? VERDICT_PICKED : VERDICT_PICKED | VERDICT_DRAWN;
        } else {
            triangles = 0u;
            verdict &= ~VERDICT_PICKED;
        }
        uint_ref(frame.f.verdicts).v[slot] = verdict;
    }
    uvec4 total;
    prefix_sum(cost, total);
    if (cost.x + cost.z != 0u) atomicAdd(group_drawn, 1u);
    if (left_out) atomicAdd(group_left, 1u);
    ADD64(group_triangles[0], group_triangles[1], triangles);
    barrier();
    if (gl_LocalInvocationIndex != 0u || group_index() * GROUP >= counters.c.candidates) return;
    uvec4_ref(frame.f.blocks).v[group_index()] = total;
    uint phase = push.argument & SELECT_WHICH;
    if (phase == SELECT_MARKS) atomicAdd(counters.c.over_budget, group_left);
    if (phase > SELECT_PASSED) return;
    atomicAdd(counters.c.drawn[phase], group_drawn);
    if (phase == SELECT_PASSED) atomicAdd(counters.c.over_budget, group_left);
    ADD64(counters.c.triangles_drawn[phase * 2u], counters.c.triangles_drawn[phase * 2u + 1u], group_triangles[0]);
    atomicAdd(counters.c.triangles_drawn[phase * 2u + 1u], group_triangles[1]);
}
