#version 460
/* List: the ids of what was seen, in slot order, as the scene knows them at this frame's revision; on request with their samples. */
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
    uint slot = 0u, verdict = 0u;
    if (i < counters_ref(frame.f.counters).c.candidates) {
        slot = uint_ref(frame.f.candidates).v[i];
        verdict = uint_ref(frame.f.verdicts).v[slot];
        listed = (verdict & (VERDICT_SEEN | VERDICT_UNLISTED)) == VERDICT_SEEN;
    }
    prefix_set(listed);
    if (!listed) return;
    object_info about = info_ref(frame.f.info).v[slot];
    uint at = uvec4_ref(frame.f.blocks).v[group_index()].x + prefix_rank();
    uint_ref ids = uint_ref(frame.f.ids);
    if (frame.f.count_samples != 0u) {
        uint samples = proxy_ref(frame.f.proxies).v[slot].samples & ~MARK_BIT;
        uint_ref(frame.f.samples).v[at] = (verdict & VERDICT_PICKED) != 0u ? samples : SAMPLES_UNKNOWN;
    }
    if (frame.f.ids32 != 0u) {
        ids.v[at] = about.id_low;
    } else {
        ids.v[at * 2u] = about.id_low;
        ids.v[at * 2u + 1u] = about.id_high;
    }
}
