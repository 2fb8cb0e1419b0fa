/* The cost model: what a frame costs, told as a sum of few causes, each with a price, fitted to what was measured. Pure. */
#ifndef VISD_VISCTL_BENCH_COST_H
#define VISD_VISCTL_BENCH_COST_H

#include "fit.h"
#include "point.h"

/* A price list for one part of the way from a camera to its answer. */
struct visd_cost {
    const char *part;                      /* a pass, or "the rest": all that is not the device's passes */
    int terms;
    const char *cause[VISD_FIT_TERMS];     /* "frame", or what a million of adds its price: "objects", "in_frustum", "listed", "triangles", "pixels" */
    double ms[VISD_FIT_TERMS];             /* for each frame, or for each million */
    double typical_error, worst_error;     /* median and largest |told - measured| / measured */
};

#define VISD_COSTS (VISD_PASSES + 1)

void visd_cost_fit(const struct visd_bench_point *points, size_t count, struct visd_cost out[VISD_COSTS]);

#endif
