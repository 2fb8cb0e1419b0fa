#version 460
/* Hi-Z: is a candidate's rectangle everywhere behind what was drawn?
 *
 * The level is the first at which the whole-pixel rectangle, shifted, spans at most SIDE texels a side, or the last. The candidate is hidden only if
 * every texel there, the farthest depth of its pixels, is strictly nearer than the nearest depth that the candidate can have.
 * STEP (TEST_…): run for the rest, after phase 1, and for the answer, which also records the history and counts the list. With the method
 * frustum (SIDE = 0) every candidate passes. Where marks decide (TEST_SETTLE), the answer is what they and the test before them say. */
#extension GL_GOOGLE_include_directive : require
#include "layout.glsl"
#include "prefix.glsl"
layout(local_size_x = GROUP) in;
layout(constant_id = 0) const uint SIDE = FOOTPRINT;
layout(constant_id = 1) const uint STEP = TEST_LAST;
const bool LAST = STEP == TEST_LAST || STEP == TEST_SETTLE;

shared uint group_occluded, group_all[2], group_listed[2];

bool passes(frame_ref frame, float_ref depth, address pyramid, uint levels, uint image_width, uint samples, proxy place)
{
    uvec2 from = uvec2(place.low & 0xffffu, place.low >> 16), to = uvec2(place.high & 0xffffu, place.high >> 16);
    uint level = 0u;
    while (level + 1u < levels && (((to.x >> level) - (from.x >> level)) >= SIDE || ((to.y >> level) - (from.y >> level)) >= SIDE)) level++;
    uint width = level_size(image_width, level);
    float_ref texels = depth;
    if (level != 0u || samples != 1u) texels = float_ref(pyramid + 4ul * uint64_t(frame.f.level_offset[level]));
    from >>= level;
    to >>= level;
    bool hidden = true;
    for (uint y = from.y; y <= to.y && hidden; y++)
        for (uint x = from.x; x <= to.x && hidden; x++) hidden = texels.v[y * width + x] > place.depth;
    return !hidden;
}

void main()
{
    frame_ref frame = frame_ref(push.frame);
    counters_ref counters = counters_ref(frame.f.counters);
    uint i = global_index();
    uint_ref candidates = uint_ref(frame.f.candidates), verdicts = uint_ref(frame.f.verdicts), history = uint_ref(frame.f.history);
    proxy_ref proxies = proxy_ref(frame.f.proxies);
    info_ref all_info = info_ref(frame.f.info);
    mesh_ref meshes = mesh_ref(frame.f.meshes);
    float_ref depth = float_ref(frame.f.depth);
    address pyramid = frame.f.pyramid;
    uint levels = frame.f.levels, width = frame.f.camera.width, samples = frame.f.camera.samples, count = counters.c.candidates;
    if (gl_LocalInvocationIndex == 0u) {
        group_occluded = 0u;
        group_all[0] = 0u;
        group_all[1] = 0u;
        group_listed[0] = 0u;
        group_listed[1] = 0u;
    }
    if (LAST) prefix_begin();
    bool listed = false, seen = false;
    uint triangles = 0u;
    bool valid = i < count;
    if (valid) {
        uint slot = candidates.v[i];
        uint verdict = verdicts.v[slot];
        if (STEP == TEST_SETTLE) {
            seen = (verdict & VERDICT_SEEN) != 0u && ((verdict & VERDICT_PICKED) == 0u || proxies.v[slot].samples != 0u);
        } else {
            seen = SIDE == 0u || (verdict & VERDICT_FORCED) != 0u || (STEP == TEST_REST && (verdict & VERDICT_DRAWN) != 0u);
            if (!seen) seen = passes(frame, depth, pyramid, levels, width, samples, proxies.v[slot]);
        }
        verdict = seen ? verdict | VERDICT_SEEN : verdict & ~VERDICT_SEEN;
        verdicts.v[slot] = verdict;
        if (LAST) {
            object_info about = all_info.v[slot];
            listed = seen && (verdict & VERDICT_UNLISTED) == 0u;
            history.v[slot] = seen ? about.generation : 0u;
            if (about.mesh != MESH_NONE) triangles = meshes.v[about.mesh].all_triangles;
        }
    }
    if (!LAST) return;
    prefix_set(listed);
    if (valid && !seen) atomicAdd(group_occluded, 1u);
    ADD64(group_all[0], group_all[1], triangles);
    if (listed) ADD64(group_listed[0], group_listed[1], triangles);
    barrier();
    if (gl_LocalInvocationIndex != 0u || group_index() * GROUP >= count) return;
    uvec4_ref(frame.f.blocks).v[group_index()] = uvec4(prefix_total(), 0u, 0u, 0u);
    atomicAdd(counters.c.occluded, group_occluded);
    ADD64(counters.c.triangles_in_frustum[0], counters.c.triangles_in_frustum[1], group_all[0]);
    atomicAdd(counters.c.triangles_in_frustum[1], group_all[1]);
    ADD64(counters.c.triangles_listed[0], counters.c.triangles_listed[1], group_listed[0]);
    atomicAdd(counters.c.triangles_listed[1], group_listed[1]);
}
