#version 460
/* Pyramid: the farthest depth of every block of pixels, by an integer rule.
 *
 * Level k has ceil(size / 2^k) texels a side; texel i covers pixels [i * 2^k, (i + 1) * 2^k) that are in the image, exactly, at any size. Each level is
 * made from the one below: a texel is the least (reversed depth: the farthest) of its two to four children. With several samples a pixel, level 0
 * itself is the least over a pixel's samples. argument: the level made. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
layout(local_size_x = GROUP) in;

void main()
{
    frame_ref frame = frame_ref(push.frame);
    uint level = push.argument;
    uint width = level_size(frame.f.camera.width, level), height = level_size(frame.f.camera.height, level);
    uint i = global_index();
    if (i >= width * height) return;
    float_ref to = float_ref(frame.f.pyramid + 4ul * uint64_t(frame.f.level_offset[level]));
    if (level == 0u) {
        float_ref samples = float_ref(frame.f.depth);
        float least = samples.v[i * frame.f.camera.samples];
        for (uint s = 1u; s < frame.f.camera.samples; s++) least = min(least, samples.v[i * frame.f.camera.samples + s]);
        to.v[i] = least;
        return;
    }
    uint below_width = level_size(frame.f.camera.width, level - 1u), below_height = level_size(frame.f.camera.height, level - 1u);
    address from = frame.f.pyramid + 4ul * uint64_t(frame.f.level_offset[level - 1u]);
    if (level == 1u && frame.f.camera.samples == 1u) from = frame.f.depth;
    float_ref below = float_ref(from);
    uint x0 = (i % width) * 2u, y0 = (i / width) * 2u;
    uint x1 = min(x0 + 1u, below_width - 1u), y1 = min(y0 + 1u, below_height - 1u);
    to.v[i] = min(min(below.v[y0 * below_width + x0], below.v[y0 * below_width + x1]),
                  min(below.v[y1 * below_width + x0], below.v[y1 * below_width + x1]));
}
