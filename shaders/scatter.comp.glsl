#version 460
/* Scatter: the staged changes of one commit take their slots, all at once. A commit names a slot at most once. */
#extension GL_GOOGLE_include_directive : require
#define VISD_OWN_PUSH
#include "layout.glsl"
layout(local_size_x = GROUP) in;

layout(push_constant, scalar) uniform push_block { address bounds, info, fine, changes; uint count; } push;

void main()
{
    uint i = global_index();
    if (i >= push.count) return;
    change c = change_ref(push.changes).v[i];
    bounds_ref(push.bounds).v[c.slot] = c.bounds;
    info_ref(push.info).v[c.slot] = c.info;
    fine_ref(push.fine).v[c.slot] = c.fine;
}
