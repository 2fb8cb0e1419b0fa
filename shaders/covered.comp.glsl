#version 460
/* Covered: how many samples hold any depth, the divisor of depth complexity. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
layout(local_size_x = GROUP) in;

shared uint group_covered;

void main()
{
    frame_ref frame = frame_ref(push.frame);
    uint i = global_index(), count = frame.f.camera.width * frame.f.camera.height * frame.f.camera.samples;
    if (gl_LocalInvocationIndex == 0u) group_covered = 0u;
    barrier();
    if (i < count && uint_ref(frame.f.depth).v[i] != 0u) atomicAdd(group_covered, 1u);
    barrier();
    if (gl_LocalInvocationIndex == 0u && group_covered != 0u) atomicAdd(counters_ref(frame.f.counters).c.pixels_covered, group_covered);
}
