/* See cost.h. The causes are those that the passes' own loops run over. */
#include "cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spread.h"

const char *const visd_pass_names[VISD_PASSES] = {"frustum", "select", "depth", "pyramid", "test", "mark", "compact"};

static double one(const struct visd_bench_point *p) { return p->frames ? 1 : 0; }
static double objects(const struct visd_bench_point *p) { return (double)p->objects / 1e6; }
static double in_frustum(const struct visd_bench_point *p) { return p->in_frustum / 1e6; }
static double listed(const struct visd_bench_point *p) { return p->listed / 1e6; }
static double triangles(const struct visd_bench_point *p) { return p->triangles_drawn / 1e6; }
static double pixels(const struct visd_bench_point *p) { return (double)p->width * p->height / 1e6; }

struct cause {
    const char *name;
    double (*of)(const struct visd_bench_point *point);
};
static const struct cause frame = {"frame", one}, per_object = {"objects", objects}, per_candidate = {"in_frustum", in_frustum}, per_listed = {"listed", listed},
                          per_triangle = {"triangles", triangles}, per_pixel = {"pixels", pixels};

static const struct cause *const causes[VISD_COSTS][VISD_FIT_TERMS + 1] = {
    {&frame, &per_object},              /* frustum */
    {&frame, &per_candidate},           /* select */
    {&frame, &per_triangle, &per_pixel}, /* depth */
    {&frame, &per_pixel},               /* pyramid */
    {&frame, &per_candidate},           /* test */
    {&frame, &per_triangle, &per_pixel}, /* mark */
    {&frame, &per_object, &per_listed}, /* compact */
    {&frame, &per_listed},              /* the rest */
};

static double measured(const struct visd_bench_point *p, int part)
{
    return part < VISD_PASSES ? p->pass_ms[part] : p->p50_ms - p->gpu_ms;
}

void visd_cost_fit(const struct visd_bench_point *points, size_t count, struct visd_cost out[VISD_COSTS])
{
    double *x = malloc((count * VISD_FIT_TERMS + 1) * sizeof(*x)), *y = malloc((count + 1) * sizeof(*y));
    for (int part = 0; part < VISD_COSTS; part++) {
        struct visd_cost *cost = &out[part];
        struct visd_spread errors = {0};
        *cost = (struct visd_cost){.part = part < VISD_PASSES ? visd_pass_names[part] : "the rest"};
        for (; causes[part][cost->terms]; cost->terms++) cost->cause[cost->terms] = causes[part][cost->terms]->name;
        if (!x || !y) continue;
        for (size_t i = 0; i < count; i++) {
            y[i] = measured(&points[i], part);
            for (int t = 0; t < cost->terms; t++) x[i * (size_t)cost->terms + (size_t)t] = causes[part][t]->of(&points[i]);
        }
        visd_fit(x, y, count, cost->terms, cost->ms);
        for (size_t i = 0; i < count; i++) {
            double told = 0;
            if (!(y[i] > 0)) continue;
            for (int t = 0; t < cost->terms; t++) told += cost->ms[t] * x[i * (size_t)cost->terms + (size_t)t];
            visd_spread_add(&errors, fabs(told - y[i]) / y[i]);
        }
        cost->typical_error = visd_spread_at(&errors, 0.5);
        cost->worst_error = visd_spread_at(&errors, 1);
        visd_spread_finish(&errors);
    }
    free(x);
    free(y);
}
