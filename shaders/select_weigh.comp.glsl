#version 460
/* Weigh: what the eligible would cost, summed by bucket of rectangle area; or, within the cut bucket (SELECT_CUT), summed by class of nearness.
 *
 * A limited number of work groups share the candidates; each sums in shared memory first, since most candidates fall into few buckets and
 * would otherwise queue up for the same words of global memory. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
#include "select.glsl"
layout(local_size_x = GROUP) in;

shared uint sums[BUCKETS * 4u], reach[BUCKETS * 2u]; /* as in counters */

void main()
{
    frame_ref frame = frame_ref(push.frame);
    counters_ref counters = counters_ref(frame.f.counters);
    uint_ref candidates = uint_ref(frame.f.candidates), verdicts = uint_ref(frame.f.verdicts);
    proxy_ref proxies = proxy_ref(frame.f.proxies);
    info_ref all_info = info_ref(frame.f.info);
    mesh_ref meshes = mesh_ref(frame.f.meshes);
    uint count = counters.c.candidates, samples = frame.f.camera.samples, limit = frame.f.draw_limit, cut = counters.c.cut,
         near = counters.c.cut_near, far = counters.c.cut_far;
    bool caps = frame.f.camera.caps != 0u, left_out;
    bool within = (push.argument & SELECT_CUT) != 0u;
    if (within && counters.c.classes != 0u) count = 0u; /* all was taken: there is no cut */
    for (uint k = gl_LocalInvocationIndex; k < BUCKETS * 4u; k += GROUP) sums[k] = 0u;
    for (uint k = gl_LocalInvocationIndex; k < BUCKETS * 2u; k += GROUP) reach[k] = 0u;
    barrier();
    for (uint i = global_index(); i < count; i += gl_NumWorkGroups.x * GROUP) {
        uint slot = candidates.v[i];
        uint verdict = verdicts.v[slot], triangles;
        if (!select_marks() && !select_occludes(verdict)) continue;
        if (select_eligible(verdict, all_info.v[slot].mesh, meshes, limit, caps, triangles, left_out)) {
            proxy place = proxies.v[slot];
            uint area = proxy_area(place), bucket = select_bucket(area);
            if (!within || bucket == cut) {
                uint b = (within ? select_class(slot, place.depth, near, far) : bucket) * 4u;
                if (!within) {
                    atomicMax(reach[bucket * 2u], floatBitsToUint(place.depth));
                    atomicMax(reach[bucket * 2u + 1u], ~floatBitsToUint(place.depth));
                }
                ADD64(sums[b], sums[b + 1u], triangles);
                ADD64(sums[b + 2u], sums[b + 3u], area * samples);
            }
        }
    }
    barrier();
    for (uint b = gl_LocalInvocationIndex * 4u; b < BUCKETS * 4u; b += GROUP * 4u) {
        if ((sums[b] | sums[b + 1u] | sums[b + 2u] | sums[b + 3u]) != 0u) {
            ADD64(counters.c.histogram[b], counters.c.histogram[b + 1u], sums[b]);
            atomicAdd(counters.c.histogram[b + 1u], sums[b + 1u]);
            ADD64(counters.c.histogram[b + 2u], counters.c.histogram[b + 3u], sums[b + 2u]);
            atomicAdd(counters.c.histogram[b + 3u], sums[b + 3u]);
        }
    }
    for (uint k = gl_LocalInvocationIndex; k < BUCKETS * 2u; k += GROUP)
        if (reach[k] != 0u) atomicMax(counters.c.reach[k], reach[k]);
}
