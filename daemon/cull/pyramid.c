/* Pyramid: levels of farthest depth over the finished depth buffer, made one from another by an integer rule (shaders/pyramid.comp.glsl).
 *
 * Level 0 is the depth buffer itself when a pixel has one sample, else the farthest of its samples. Levels are
 * made up to the first at which any rectangle fits the test's footprint. */
#include "passes.h"

static uint32_t level_size(uint32_t size, uint32_t level) { return (size + (1u << level) - 1) >> level; }

uint64_t visd_pyramid_plan(uint32_t width, uint32_t height, uint32_t samples, uint32_t *levels, uint32_t offsets[MAX_LEVELS])
{
    uint64_t at = 0;
    uint32_t level = 0;
    for (;; level++) {
        uint32_t w = level_size(width, level), h = level_size(height, level);
        offsets[level] = (uint32_t)at;
        if (level > 0 || samples > 1) at += (uint64_t)w * h;
        if (w <= FOOTPRINT && h <= FOOTPRINT) break;
    }
    *levels = level + 1;
    return at;
}

void visd_pyramid_record(const struct cull_recording *r)
{
    for (uint32_t level = r->samples > 1 ? 0 : 1; level < r->levels; level++) {
        uint64_t texels = (uint64_t)level_size(r->width, level) * level_size(r->height, level);
        visd_cull_dispatch(r, CULL_PYRAMID, level, (texels + GROUP - 1) / GROUP);
        if (level + 1 < r->levels) visd_cull_barrier(r);
    }
}
