#version 460
/* Pyramid: the farthest depth of every block of pixels, by an integer rule; up to PYRAMID_STEP levels a dispatch.
 *
 * Level k has ceil(size / 2^k) texels a side; texel i covers pixels [i * 2^k, (i + 1) * 2^k) that are in the image, exactly, at any size.
 * A texel is the least (reversed depth: the farthest) of its one to four children. With several samples a pixel, level 0 itself is the
 * least over a pixel's samples. A work group takes a square of TILE texels of the base level, to which blocks of all levels up to
 * base + PYRAMID_STEP are aligned, and so makes its part of them without asking any other. argument: the base level. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
layout(local_size_x = GROUP) in;

#define TILE (1u << PYRAMID_STEP)

shared float made[16 * 16 + 8 * 8 + 4 * 4 + 2 * 2]; /* of the tile, levels base + 2 to base + 5, one after the other */

void main()
{
    frame_ref frame = frame_ref(push.frame);
    uint base = push.argument, image_width = frame.f.camera.width, image_height = frame.f.camera.height, samples = frame.f.camera.samples;
    uint levels = frame.f.levels, last_width = level_size(image_width, base) - 1u, last_height = level_size(image_height, base) - 1u;
    address pyramid = frame.f.pyramid;
    float_ref below = float_ref(base == 0u ? frame.f.depth : pyramid + 4ul * uint64_t(frame.f.level_offset[base]));
    float_ref base_made = float_ref(pyramid + 4ul * uint64_t(frame.f.level_offset[base]));
    uint per_texel = base == 0u ? samples : 1u, width = last_width + 1u;
    uint tiles = (width + TILE - 1u) / TILE;
    uvec2 tile = uvec2(group_index() % tiles, group_index() / tiles);
    uint t = gl_LocalInvocationIndex;
    uvec2 place = uvec2(t % 16u, t / 16u);

    /* Four by four texels an invocation. A texel past the edge is the one at the edge, whose parent is the same. */
    float texel[4], least[4];
    for (uint quad = 0u; quad < 4u; quad++) {
        for (uint child = 0u; child < 4u; child++) {
            uvec2 at = tile * TILE + place * 4u + uvec2(quad % 2u, quad / 2u) * 2u + uvec2(child % 2u, child / 2u);
            uint i = min(at.y, last_height) * width + min(at.x, last_width);
            float value = below.v[i * per_texel];
            for (uint s = 1u; s < per_texel; s++) value = min(value, below.v[i * per_texel + s]);
            if (per_texel > 1u && at.x <= last_width && at.y <= last_height) base_made.v[i] = value;
            texel[child] = value;
        }
        least[quad] = min(min(texel[0], texel[1]), min(texel[2], texel[3]));
    }
    float block = min(min(least[0], least[1]), min(least[2], least[3]));
    made[t] = block;
    if (base + 1u < levels) {
        float_ref to = float_ref(pyramid + 4ul * uint64_t(frame.f.level_offset[base + 1u]));
        uvec2 size = uvec2(level_size(image_width, base + 1u), level_size(image_height, base + 1u));
        for (uint quad = 0u; quad < 4u; quad++) {
            uvec2 at = tile * (TILE / 2u) + place * 2u + uvec2(quad % 2u, quad / 2u);
            if (at.x < size.x && at.y < size.y) to.v[at.y * size.x + at.x] = least[quad];
        }
    }

    /* From then on a texel an invocation. */
    uint from = 0u, side = 16u;
    for (uint level = base + 2u; level <= base + PYRAMID_STEP && level < levels; level++) {
        if (level > base + 2u) {
            barrier();
            uvec2 child = uvec2(t % side, t / side) * 2u;
            uint first = from + child.y * side * 2u + child.x;
            from += side * side * 4u;
            if (t < side * side) {
                block = min(min(made[first], made[first + 1u]), min(made[first + side * 2u], made[first + side * 2u + 1u]));
                if (level < base + PYRAMID_STEP) made[from + t] = block;
            }
        }
        float_ref to = float_ref(pyramid + 4ul * uint64_t(frame.f.level_offset[level]));
        uvec2 size = uvec2(level_size(image_width, level), level_size(image_height, level));
        uvec2 at = tile * side + uvec2(t % side, t / side);
        if (t < side * side && at.x < size.x && at.y < size.y) to.v[at.y * size.x + at.x] = block;
        side /= 2u;
    }
}
