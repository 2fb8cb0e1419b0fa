/* Recipes: passes ordered into methods, and the frames in flight that run them.
 *
 * A recipe is a table of steps. A frame records all of its recipe's steps into one submission, a barrier and a timestamp after each; with
 * VISD_FRAME_PROFILE each step is submitted alone and timed by the clock. Scratch is shared by all frames, for the queue runs them one
 * after the other; parameters, counters and lists are each frame's own, so that several can be in flight. Thread: the worker's. */
#ifndef VISD_CULL_RECIPES_H
#define VISD_CULL_RECIPES_H

#include "history.h"
#include "residence.h"

#define CULL_FRAMES 2 /* in flight */

struct cull_limits {
    uint64_t triangles, samples;
    uint32_t draws, larges, tiles, chunk;
    uint32_t variant; /* VISD_FRAME_STEPWISE: of every frame */
};

struct cull_scratch {
    struct visd_gpu_buffer verdicts, proxies, candidates, blocks;
    struct visd_gpu_buffer fast_draws, fast_starts, clip_draws, clip_starts, larges, tiles;
    struct visd_gpu_buffer counters;
    uint32_t slots, draws;
};

struct cull_flight {
    bool busy;
    struct visd_job job;
    uint64_t value;       /* timeline value at which it is done */
    uint64_t received_ns, started_ns;
    uint64_t revision;
    struct visd_gpu_buffer frame, counters, ids, samples; /* parameters (upload), counters and list (read back) */
    struct visd_gpu_stamps stamps;
    uint64_t pass_ns[VISD_PASS_COUNT]; /* measured while recording, with VISD_FRAME_PROFILE */
};

struct visd_recipes {
    struct visd_gpu *gpu;
    struct cull_pipelines pipelines;
    struct cull_limits limits;
    struct cull_scratch scratch;
    struct cull_flight flight[CULL_FRAMES];
    struct visd_gpu_buffer cube;   /* what stands for a box: vertices from -1 to 1, then indices */
    struct visd_gpu_buffer frame2; /* parameters of pictures and of coverage */
    struct visd_gpu_buffer depth2, picture;
    struct visd_gpu_buffer prepass; /* of the newest frame that has one */
};

enum visd_err visd_recipes_init(struct visd_recipes *r, struct visd_gpu *gpu, uint64_t budget_triangles, uint64_t budget_samples);
void visd_recipes_finish(struct visd_recipes *r); /* the device must be done */

/* Starts a frame in a free flight; NULL out: none is free. prepass: with VISD_FRAME_PREPASS, width * height floats, read during the call. On
 * failure nothing is in flight and err and why say so. */
enum visd_err visd_recipes_start(struct visd_recipes *r, struct cull_flight *flight, struct visd_residence *scene, struct visd_history *view,
                                 const struct visd_job *job, const void *prepass, uint64_t received_ns, char *why, size_t size);
/* Reads a finished frame: statistics and times into the result, ids to out. */
void visd_recipes_finish_frame(struct visd_recipes *r, struct cull_flight *flight, void *out, struct visd_result *result);

/* A picture of the view's last camera, computed now; waits for the device. out: capacity bytes. */
enum visd_err visd_recipes_snapshot(struct visd_recipes *r, struct visd_residence *scene, struct visd_history *view, const struct visd_job *job,
                                    void *out, struct visd_result *result);

#endif
