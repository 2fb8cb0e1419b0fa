/* The passes of a frame, and what they work on. Internal to daemon/cull.
 *
 * A pass is a file here, with the idea in its opening comment, and a shader for each of its steps in shaders/. Each records itself into
 * a command buffer and expects the memory barrier before it to have been recorded. All passes of a frame read one block of parameters
 * (struct frame in shaders/layout.h), whose address is their only push constant but for an argument and the device's groups an axis. */
#ifndef VISD_CULL_PASSES_H
#define VISD_CULL_PASSES_H

#include "daemon/gpu/gpu.h"
#include "daemon/segment/job.h"
#include "shaders/layout.h"

enum cull_pipeline {
    CULL_FRUSTUM,
    CULL_SCAN_CANDIDATES,
    CULL_SCAN_DRAWS,
    CULL_SCAN_LIST,
    CULL_CANDIDATES,
    CULL_WEIGH,
    CULL_BUDGET,
    CULL_PICK,
    CULL_EMIT,
    CULL_FAST, /* and variants: + RASTER_… for one sample a pixel, + RASTER_MODES + RASTER_… for several */
    CULL_FAST_LAST = CULL_FAST + 2 * RASTER_MODES - 1,
    CULL_CLIP,
    CULL_CLIP_LAST = CULL_CLIP + 2 * RASTER_MODES - 1,
    CULL_LARGE,
    CULL_LARGE_LAST = CULL_LARGE + 2 * RASTER_MODES - 1,
    CULL_TILES,
    CULL_BIN, /* for one sample a pixel; + 1: for several; + 2: the same, of marks */
    CULL_BIN_LAST = CULL_BIN + 3,
    CULL_PYRAMID,
    CULL_PYRAMID_LEVEL,
    CULL_HIZ_REST, /* of the full footprint; + 1: coarse */
    CULL_HIZ_REST_COARSE,
    CULL_HIZ_LAST,
    CULL_HIZ_LAST_COARSE,
    CULL_HIZ_ALL,
    CULL_HIZ_ALL_COARSE,
    CULL_SETTLE,
    CULL_PASS_ALL,
    CULL_LIST,
    CULL_SCATTER,
    CULL_COVERED,
    CULL_PREPASS,
    CULL_PIPELINES
};

struct cull_pipelines { struct visd_gpu_pipeline all[CULL_PIPELINES]; };

/* chunk: triangles a work group of the depth passes, a power of two. */
enum visd_err visd_cull_pipelines_create(struct visd_gpu *gpu, uint32_t chunk, struct cull_pipelines *out);
void visd_cull_pipelines_destroy(struct visd_gpu *gpu, struct cull_pipelines *pipelines);

/* What a pass needs to record itself. */
struct cull_recording {
    struct visd_gpu *gpu;
    const struct cull_pipelines *pipelines;
    VkCommandBuffer commands;
    VkDeviceAddress frame;                  /* struct frame */
    const struct visd_gpu_buffer *counters; /* struct counters: indirect arguments */
    uint32_t slots, width, height, samples, levels;
    uint32_t variant;                       /* VISD_FRAME_STEPWISE, _COARSE */
};

/* Records one dispatch with the frame's parameters; groups 0: nothing. */
void visd_cull_dispatch(const struct cull_recording *r, enum cull_pipeline pipeline, uint32_t argument, uint64_t groups);
void visd_cull_dispatch_indirect(const struct cull_recording *r, enum cull_pipeline pipeline, uint32_t argument, uint64_t offset);
void visd_cull_barrier(const struct cull_recording *r);

/* frustum.c: verdicts and rectangles of all slots; the candidates, packed. */
void visd_frustum_record(const struct cull_recording *r);

/* select.c: which candidates are drawn (SELECT_…), within the budgets or without. */
void visd_select_record(const struct cull_recording *r, uint32_t which, bool unlimited);

/* depth.c: draws what the newest selection picked: into depth (RASTER_DEPTH), counting (RASTER_COUNT), noting ids (RASTER_IDS), or marking who is
 * seen (RASTER_MARK). */
void visd_depth_record(const struct cull_recording *r, uint32_t mode);
void visd_covered_record(const struct cull_recording *r);

/* prepass.c: depth begins as the client's own, where 1 is near (reversed) or 0 is. */
void visd_prepass_record(const struct cull_recording *r, bool reversed);

/* pyramid.c: the levels above depth. Level offsets are in floats; the count of floats of all levels is returned. */
void visd_pyramid_record(const struct cull_recording *r);
uint64_t visd_pyramid_plan(uint32_t width, uint32_t height, uint32_t samples, uint32_t *levels, uint32_t offsets[MAX_LEVELS]);

/* hiz.c: tests candidates against the pyramid: the rest between the phases, all for the answer or before marks; settles by marks; or passes
 * all (frustum). */
enum cull_test { CULL_TEST_REST, CULL_TEST_LAST, CULL_TEST_ALL, CULL_TEST_SETTLE, CULL_TEST_PASS_ALL };
void visd_hiz_record(const struct cull_recording *r, enum cull_test test);

/* compact.c: the list of ids, in slot order. */
void visd_compact_record(const struct cull_recording *r);

#endif
