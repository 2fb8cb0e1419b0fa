#version 460
/* List: the ids of what was seen, in slot order, as the scene knows them at this frame's revision. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
#include "prefix.glsl"
layout(local_size_x = GROUP) in;

void main()
{
    frame_ref frame = frame_ref(push.frame);
    uint i = global_index();
    prefix_begin();
    bool listed = false;
    uint slot = 0u;
    if (i < counters_ref(frame.f.counters).c.candidates) {
        slot = uint_ref(frame.f.candidates).v[i];
        listed = (uint_ref(frame.f.verdicts).v[slot] & (VERDICT_SEEN | VERDICT_UNLISTED)) == VERDICT_SEEN;
    }
    prefix_set(listed);
    if (!listed) return;
    object_info about = info_ref(frame.f.info).v[slot];
    uint at = uvec4_ref(frame.f.blocks).v[group_index()].x + prefix_rank();
    uint_ref ids = uint_ref(frame.f.ids);
    if (frame.f.ids32 != 0u) {
        ids.v[at] = about.id_low;
    } else {
        ids.v[at * 2u] = about.id_low;
        ids.v[at * 2u + 1u] = about.id_high;
    }
}
