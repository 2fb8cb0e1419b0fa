/* Values that were measured, and where they lie: medians and percentiles. One thread. */
#ifndef VISD_VISCTL_BENCH_SPREAD_H
#define VISD_VISCTL_BENCH_SPREAD_H

#include <stdbool.h>
#include <stddef.h>

struct visd_spread { /* zeroed: empty */
    double *values;
    size_t count, room;
    bool sorted;
};

/* False: out of memory. */
bool visd_spread_add(struct visd_spread *spread, double value);
/* The value that a share of all (0 to 1) do not exceed, the nearest one that was measured; 0 of none. Sorts. */
double visd_spread_at(struct visd_spread *spread, double share);
void visd_spread_finish(struct visd_spread *spread);

#endif
