#version 460
/* Weigh: what the eligible occluders would cost, summed by bucket of rectangle area. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
#include "select.glsl"
layout(local_size_x = GROUP) in;

void main()
{
    frame_ref frame = frame_ref(push.frame);
    counters_ref counters = counters_ref(frame.f.counters);
    uint i = global_index();
    if (i >= counters.c.candidates) return;
    uint slot = uint_ref(frame.f.candidates).v[i];
    if (!select_eligible(uint_ref(frame.f.verdicts).v[slot])) return;
    uint area = proxy_area(proxy_ref(frame.f.proxies).v[slot]);
    uint triangles = mesh_ref(frame.f.meshes).v[info_ref(frame.f.info).v[slot].mesh].triangles;
    uint b = select_bucket(area) * 4u;
    ADD64(counters.c.histogram[b], counters.c.histogram[b + 1u], triangles);
    ADD64(counters.c.histogram[b + 2u], counters.c.histogram[b + 3u], area * frame.f.camera.samples);
}
