/* Depth: draws what was picked in compute, occluders into depth or survivors into marks, by three roads that share one rule of coverage and depth (shaders/raster.glsl).
 *
 * Meshes that stand clear of the near plane, sections and float's limits take the fast road, a thread a triangle in float; the others
 * take the exact one, clipped in double (where the device has no double occluders are left out, which costs tightness only). Small triangles are
 * drawn on the spot; large ones are listed, binned into the tiles that they touch, and drawn by a work group a tile. */
#include "passes.h"

void visd_depth_record(const struct cull_recording *r, uint32_t mode)
{
    uint32_t bin = CULL_BIN + (r->samples > 1) + (mode == RASTER_MARK ? 2 : 0);
    if (r->samples > 1) mode += RASTER_MODES;
    visd_cull_dispatch_indirect(r, CULL_FAST + mode, 0, offsetof(struct counters, fast_groups));
    if (visd_gpu_info(r->gpu)->float64) visd_cull_dispatch_indirect(r, CULL_CLIP + mode, 0, offsetof(struct counters, clip_groups));
    visd_cull_barrier(r);
    visd_cull_dispatch(r, CULL_TILES, 0, 1);
    visd_cull_barrier(r);
    visd_cull_dispatch_indirect(r, bin, 0, offsetof(struct counters, tile_groups));
    visd_cull_barrier(r);
    visd_cull_dispatch(r, CULL_TILES, 1, 1);
    visd_cull_barrier(r);
    visd_cull_dispatch_indirect(r, CULL_LARGE + mode, 0, offsetof(struct counters, tile_groups));
}

void visd_covered_record(const struct cull_recording *r)
{
    visd_cull_dispatch(r, CULL_COVERED, 0, ((uint64_t)r->width * r->height * r->samples + GROUP - 1) / GROUP);
}
