#version 460
/* Prepass: the depth image that a client drew for this very camera becomes the depth that occluders are drawn on top of.
 *
 * argument 1: 1 is near, as here; 0: the other way round. Stepped back by what the client's own rasteriser may have been off: a few units of
 * float, and of a 24-bit buffer where near is 0. What is no depth hides nothing. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
layout(local_size_x = GROUP) in;

#define SLACK 3.814697265625e-6      /* 2^-18, relative */
#define SLACK_FORWARD 2.384185791e-7 /* 2^-22: four units of 24 bits */

void main()
{
    frame_ref frame = frame_ref(push.frame);
    uint i = global_index();
    if (i >= frame.f.camera.width * frame.f.camera.height) return;
    float given = float_ref(frame.f.prepass).v[i];
    float depth = push.argument != 0u ? given : (1.0 - given) - SLACK_FORWARD;
    depth = depth * (1.0 - SLACK);
    if (given >= 0.0 && given <= 1.0 && depth > 0.0) float_ref(frame.f.depth).v[i] = depth;
}
