/* What bench scale measures of one scene at one size: plain figures, and how they are called. */
#ifndef VISD_VISCTL_BENCH_POINT_H
#define VISD_VISCTL_BENCH_POINT_H

#include <stddef.h>
#include <stdint.h>

#define VISD_PASSES 7
extern const char *const visd_pass_names[VISD_PASSES]; /* frustum, select, depth, pyramid, test, mark, compact */

struct visd_bench_point {
    /* what */
    const char *kind;
    uint64_t seed, objects, triangles, hash;
    double share; /* percent that the generator was asked for; 0: the kind has no such thing */
    uint32_t width, height;
    size_t frames;
    /* the way in, once a scene */
    double load_seconds;
    double wire_bytes, host_bytes, device_bytes; /* an object; device: without what a view takes by itself */
    /* medians over the frames */
    double in_frustum, listed, triangles_drawn;
    double pass_ms[VISD_PASSES], gpu_ms; /* gpu: of their sum */
    /* camera to answer, through the socket */
    double p50_ms, p95_ms, p99_ms;
    double request_bytes, answer_bytes, delta_bytes; /* a frame; delta: of an answer that says changes only */
    size_t degraded; /* frames answered with less than was asked for */
    /* peers, in turn with the above over the same cameras */
    double cpu_ms, cpu_listed;                  /* a loop over all boxes here, one thread */
    double stepwise_pyramid_ms, stepwise_p50_ms; /* a dispatch a level; 0: the device always does so */
    double coarse_test_ms, coarse_listed;       /* a test of 2 x 2 texels */
};

#endif
