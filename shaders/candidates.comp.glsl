#version 460
/* Candidates: the slots that the frustum pass kept, packed in slot order, so that every later pass touches nothing else. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
#include "prefix.glsl"
layout(local_size_x = GROUP) in;

void main()
{
    frame_ref frame = frame_ref(push.frame);
    uint slot = global_index();
    prefix_begin();
    bool kept = slot < frame.f.slots && (uint_ref(frame.f.verdicts).v[slot] & VERDICT_CANDIDATE) != 0u;
    prefix_set(kept);
    if (kept) uint_ref(frame.f.candidates).v[uvec4_ref(frame.f.blocks).v[group_index()].x + prefix_rank()] = slot;
}
