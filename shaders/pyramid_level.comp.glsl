#version 460
/* The pyramid of pyramid.comp.glsl, one level a dispatch, each made from the one below. It suits a software device, which pays more for shared
 * memory and barriers inside a work group than for dispatches; elsewhere it is a peer to measure against. argument: the level made. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
layout(local_size_x = GROUP) in;

void main()
{
    frame_ref frame = frame_ref(push.frame);
    uint level = push.argument;
    uint image_width = frame.f.camera.width, image_height = frame.f.camera.height, samples = frame.f.camera.samples;
    address depth = frame.f.depth, pyramid = frame.f.pyramid;
    uint offset = frame.f.level_offset[level], below_offset = frame.f.level_offset[max(level, 1u) - 1u];
    uint width = level_size(image_width, level), height = level_size(image_height, level);
    uint i = global_index();
    if (i >= width * height) return;
    float_ref to = float_ref(pyramid + 4ul * uint64_t(offset));
    if (level == 0u) {
        float_ref all = float_ref(depth);
        float least = all.v[i * samples];
        for (uint s = 1u; s < samples; s++) least = min(least, all.v[i * samples + s]);
        to.v[i] = least;
        return;
    }
    uint below_width = level_size(image_width, level - 1u), below_height = level_size(image_height, level - 1u);
    address from = pyramid + 4ul * uint64_t(below_offset);
    if (level == 1u && samples == 1u) from = depth;
    float_ref below = float_ref(from);
    uint x0 = (i % width) * 2u, y0 = (i / width) * 2u;
    uint x1 = min(x0 + 1u, below_width - 1u), y1 = min(y0 + 1u, below_height - 1u);
    to.v[i] = min(min(below.v[y0 * below_width + x0], below.v[y0 * below_width + x1]),
                  min(below.v[y1 * below_width + x0], below.v[y1 * below_width + x1]));
}
