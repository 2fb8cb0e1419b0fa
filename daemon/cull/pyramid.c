/* Pyramid: levels of farthest depth over the finished depth buffer, made by an integer rule, several a dispatch (shaders/pyramid.comp.glsl).
 *
 * Level 0 is the depth buffer itself when a pixel has one sample, else the farthest of its samples. Levels are
 * made up to the first at which any rectangle fits the test's footprint. */
#include "daemon/segment/image.h"
#include "passes.h"

_Static_assert(FOOTPRINT == VISD_IMAGE_LAST_SIDE, "the test finds a level for every rectangle");

uint64_t visd_pyramid_plan(uint32_t width, uint32_t height, uint32_t samples, uint32_t *levels, uint32_t offsets[MAX_LEVELS])
{
    uint64_t at = 0;
    *levels = visd_image_levels(width, height);
    for (uint32_t level = 0; level < *levels; level++) {
        offsets[level] = (uint32_t)at;
        at += visd_image_level_texels(width, height, samples, level);
    }
    return at;
}

static void record_stepwise(const struct cull_recording *r)
{
    for (uint32_t level = r->samples > 1 ? 0 : 1; level < r->levels; level++) {
        uint64_t texels = visd_image_level_texels(r->width, r->height, r->samples, level);
        visd_cull_dispatch(r, CULL_PYRAMID_LEVEL, level, (texels + GROUP - 1) / GROUP);
        if (level + 1 < r->levels) visd_cull_barrier(r);
    }
}

void visd_pyramid_record(const struct cull_recording *r)
{
    const uint32_t last = r->levels - 1;
    if (last == 0 && r->samples == 1) return;
    if (r->variant & VISD_FRAME_STEPWISE) {
        record_stepwise(r);
        return;
    }
    for (uint32_t base = 0; base == 0 || base < last; base += PYRAMID_STEP) {
        uint64_t wide = visd_image_side(visd_image_side(r->width, base), PYRAMID_STEP), high = visd_image_side(visd_image_side(r->height, base), PYRAMID_STEP);
        if (base) visd_cull_barrier(r);
        visd_cull_dispatch(r, CULL_PYRAMID, base, wide * high);
    }
}
