/* The table of pipelines: each pass's shader and the constants that tell its variants apart. */
#include "passes.h"

#include "shaders_spirv.h"

struct entry {
    const uint32_t *spirv;
    size_t bytes;
    uint32_t constants[2];
    bool float64; /* not made where shaders have no double */
};

#define SHADER(name) .spirv = name##_comp_spv, .bytes = sizeof(name##_comp_spv)

#define VARIANT(first, shader, mode, multisampled, doubles) \
    [(first) + (multisampled) * RASTER_MODES + (mode)] = {SHADER(shader), .constants = {mode, multisampled}, .float64 = doubles}
#define RASTER_VARIANTS(first, shader, doubles)                                                                                     \
    VARIANT(first, shader, RASTER_DEPTH, 0, doubles), VARIANT(first, shader, RASTER_COUNT, 0, doubles),                             \
        VARIANT(first, shader, RASTER_IDS, 0, doubles), VARIANT(first, shader, RASTER_MARK, 0, doubles),                            \
        VARIANT(first, shader, RASTER_DEPTH, 1, doubles), VARIANT(first, shader, RASTER_COUNT, 1, doubles),                         \
        VARIANT(first, shader, RASTER_IDS, 1, doubles), VARIANT(first, shader, RASTER_MARK, 1, doubles)

static const struct entry table[CULL_PIPELINES] = {
    [CULL_FRUSTUM] = {SHADER(frustum)},
    [CULL_SCAN_CANDIDATES] = {SHADER(scan), .constants = {0}},
    [CULL_SCAN_DRAWS] = {SHADER(scan), .constants = {1}},
    [CULL_SCAN_LIST] = {SHADER(scan), .constants = {2}},
    [CULL_CANDIDATES] = {SHADER(candidates)},
    [CULL_WEIGH] = {SHADER(select_weigh)},
    [CULL_BUDGET] = {SHADER(select_budget)},
    [CULL_PICK] = {SHADER(select_pick)},
    [CULL_EMIT] = {SHADER(select_emit)},
    RASTER_VARIANTS(CULL_FAST, depth_fast, false),
    RASTER_VARIANTS(CULL_CLIP, depth_clip, true),
    RASTER_VARIANTS(CULL_LARGE, depth_large, false),
    [CULL_TILES] = {SHADER(depth_tiles)},
    [CULL_BIN] = {SHADER(depth_bin), .constants = {RASTER_DEPTH, 0}},
    [CULL_BIN + 1] = {SHADER(depth_bin), .constants = {RASTER_DEPTH, 1}},
    [CULL_BIN + 2] = {SHADER(depth_bin), .constants = {RASTER_MARK, 0}},
    [CULL_BIN + 3] = {SHADER(depth_bin), .constants = {RASTER_MARK, 1}},
    [CULL_PYRAMID] = {SHADER(pyramid)},
    [CULL_PYRAMID_LEVEL] = {SHADER(pyramid_level)},
    [CULL_HIZ_REST] = {SHADER(hiz), .constants = {FOOTPRINT, TEST_REST}},
    [CULL_HIZ_REST_COARSE] = {SHADER(hiz), .constants = {2, TEST_REST}},
    [CULL_HIZ_LAST] = {SHADER(hiz), .constants = {FOOTPRINT, TEST_LAST}},
    [CULL_HIZ_LAST_COARSE] = {SHADER(hiz), .constants = {2, TEST_LAST}},
    [CULL_HIZ_ALL] = {SHADER(hiz), .constants = {FOOTPRINT, TEST_ALL}},
    [CULL_HIZ_ALL_COARSE] = {SHADER(hiz), .constants = {2, TEST_ALL}},
    [CULL_SETTLE] = {SHADER(hiz), .constants = {FOOTPRINT, TEST_SETTLE}},
    [CULL_PASS_ALL] = {SHADER(hiz), .constants = {0, TEST_LAST}},
    [CULL_LIST] = {SHADER(list)},
    [CULL_SCATTER] = {SHADER(scatter)},
    [CULL_COVERED] = {SHADER(covered)},
    [CULL_PREPASS] = {SHADER(prepass)},
};

enum visd_err visd_cull_pipelines_create(struct visd_gpu *gpu, uint32_t chunk, struct cull_pipelines *out)
{
    *out = (struct cull_pipelines){0};
    for (int i = 0; i < CULL_PIPELINES; i++) {
        if (table[i].float64 && !visd_gpu_info(gpu)->float64) continue;
        const uint32_t constants[] = {table[i].constants[0], table[i].constants[1], chunk}; /* a shader takes those it declares */
        enum visd_err err = visd_gpu_pipeline_create(gpu, table[i].spirv, table[i].bytes, constants, 3, &out->all[i]);
        if (err != VISD_ERR_OK) {
            visd_cull_pipelines_destroy(gpu, out);
            return err;
        }
    }
    return VISD_ERR_OK;
}

void visd_cull_pipelines_destroy(struct visd_gpu *gpu, struct cull_pipelines *pipelines)
{
    for (int i = 0; i < CULL_PIPELINES; i++) visd_gpu_pipeline_destroy(gpu, &pipelines->all[i]);
}

struct push { uint64_t frame; uint32_t argument, max_groups; }; /* push_block of shaders/layout.glsl */

void visd_cull_dispatch(const struct cull_recording *r, enum cull_pipeline pipeline, uint32_t argument, uint64_t groups)
{
    struct push push = {r->frame, argument, visd_gpu_info(r->gpu)->max_groups};
    visd_gpu_dispatch(r->gpu, r->commands, &r->pipelines->all[pipeline], &push, sizeof(push), groups);
}

void visd_cull_dispatch_indirect(const struct cull_recording *r, enum cull_pipeline pipeline, uint32_t argument, uint64_t offset)
{
    struct push push = {r->frame, argument, visd_gpu_info(r->gpu)->max_groups};
    visd_gpu_dispatch_indirect(r->gpu, r->commands, &r->pipelines->all[pipeline], &push, sizeof(push), r->counters, offset);
}

void visd_cull_barrier(const struct cull_recording *r) { visd_gpu_barrier(r->gpu, r->commands); }
