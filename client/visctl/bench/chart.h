/* Line charts with logarithmic axes, as SVG. A chart owns its series; names and labels are copied. One thread. */
#ifndef VISD_VISCTL_BENCH_CHART_H
#define VISD_VISCTL_BENCH_CHART_H

#include <stddef.h>

#include "../model/why.h"

#define VISD_CHART_SERIES 32
#define VISD_CHART_POINTS 64

struct visd_chart {
    char title[96], x_label[64], y_label[64];
    struct visd_chart_series {
        char name[48];
        size_t count;
        double x[VISD_CHART_POINTS], y[VISD_CHART_POINTS];
    } series[VISD_CHART_SERIES];
    size_t series_count;
};

/* The series of that name, made if there is none; NULL: there is no room. */
struct visd_chart_series *visd_chart_series(struct visd_chart *chart, const char *name);
/* Values that are not above 0 have no place on a logarithmic axis, and are left out, as is what there is no room for. */
void visd_chart_add(struct visd_chart_series *series, double x, double y);
/* IO. A chart without points is a frame that says so. */
enum visd_err visd_chart_write(const struct visd_chart *chart, const char *path, struct visd_why *why);

#endif
