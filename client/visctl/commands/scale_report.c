/* See scale.h. */
#include <string.h>

#include "../bench/chart.h"
#include "../bench/cost.h"
#include "scale.h"

/* ---- a point ---- */

static void put_head(FILE *file, const struct scale_plan *plan, const char *server)
{
    fputs("{\"bench\": \"scale\", \"device\": ", file);
    cli_put_string(file, plan->device, strlen(plan->device));
    fputs(", \"server\": ", file);
    cli_put_string(file, server, strlen(server));
}

void scale_put_json(FILE *file, const struct visd_bench_point *p, const struct scale_plan *plan, const char *server)
{
    put_head(file, plan, server);
    fprintf(file, ", \"scene\": {\"kind\": \"%s\", \"seed\": %llu, \"objects\": %llu, \"triangles\": %llu, \"hash\": \"%016llx\"", p->kind,
            (unsigned long long)p->seed, (unsigned long long)p->objects, (unsigned long long)p->triangles, (unsigned long long)p->hash);
    if (p->share > 0) fprintf(file, ", \"share_percent\": %g", p->share);
    fprintf(file, "}, \"load\": {\"seconds\": %.3f, \"wire_bytes\": %.1f, \"host_bytes\": %.1f, \"device_bytes\": %.1f, \"view_device_bytes\": %.0f}", p->load_seconds, p->wire_bytes,
            p->host_bytes, p->device_bytes, plan->view_bytes);
    fprintf(file, ", \"width\": %u, \"height\": %u, \"method\": \"%s\", \"frames\": %zu, \"degraded\": %zu, \"in_frustum\": %.0f, \"listed\": %.0f, "
                  "\"triangles_drawn\": %.0f", p->width, p->height, visd_client_method_name(plan->method), p->frames, p->degraded, p->in_frustum, p->listed, p->triangles_drawn);
    fprintf(file, ", \"pass_times\": \"%s\", \"pass_ms\": {", plan->wall ? "wall" : "device");
    for (int i = 0; i < VISD_PASSES; i++) fprintf(file, "%s\"%s\": %.4f", i ? ", " : "", visd_pass_names[i], p->pass_ms[i]);
    fprintf(file, "}, \"passes_ms\": %.4f, \"p50_ms\": %.3f, \"p95_ms\": %.3f, \"p99_ms\": %.3f, \"request_bytes\": %.0f, \"answer_bytes\": %.0f, "
                  "\"delta_bytes\": %.0f", p->gpu_ms, p->p50_ms, p->p95_ms, p->p99_ms, p->request_bytes, p->answer_bytes, p->delta_bytes);
    fprintf(file, ", \"peers\": {\"cpu_frustum\": {\"ms\": %.4f, \"listed\": %.0f}, \"coarse_test\": {\"test_ms\": %.4f, \"listed\": %.0f}", p->cpu_ms,
            p->cpu_listed, p->coarse_test_ms, p->coarse_listed);
    if (!plan->wall) fprintf(file, ", \"stepwise_pyramid\": {\"pyramid_ms\": %.4f, \"p50_ms\": %.3f}", p->stepwise_pyramid_ms, p->stepwise_p50_ms);
    fputs("}}\n", file);
}

void scale_put_lines(FILE *file, const struct visd_bench_point *p)
{
    fprintf(file, "%s", p->kind);
    if (p->share > 0) fprintf(file, " (%g %% seen)", p->share);
    fprintf(file, ", %llu objects, %ux%u, %zu frames, scene %016llx\n", (unsigned long long)p->objects, p->width, p->height, p->frames, (unsigned long long)p->hash);
    fprintf(file, "  in the frustum %.0f, listed %.0f; loaded in %.2f s; bytes an object: wire %.0f, host %.0f, device %.0f\n", p->in_frustum, p->listed,
            p->load_seconds, p->wire_bytes, p->host_bytes, p->device_bytes);
    fputs("  passes, ms:", file);
    for (int i = 0; i < VISD_PASSES; i++) fprintf(file, " %s %.3f%s", visd_pass_names[i], p->pass_ms[i], i + 1 < VISD_PASSES ? "," : "");
    fprintf(file, "; together %.3f\n", p->gpu_ms);
    fprintf(file, "  camera to answer, ms: p50 %.2f, p95 %.2f, p99 %.2f; bytes: camera %.0f, answer %.0f, as a delta %.0f\n", p->p50_ms, p->p95_ms, p->p99_ms,
            p->request_bytes, p->answer_bytes, p->delta_bytes);
    fprintf(file, "  peers: frustum by a loop on a CPU thread %.3f ms; test of 2 x 2 texels %.3f ms, listed %.0f", p->cpu_ms, p->coarse_test_ms, p->coarse_listed);
    if (p->stepwise_pyramid_ms > 0) fprintf(file, "; pyramid by a dispatch a level %.3f ms", p->stepwise_pyramid_ms);
    fputc('\n', file);
    if (p->degraded) fprintf(file, "  degraded: %zu frames were answered with less than was asked for\n", p->degraded);
}

/* ---- the cost model ---- */

void scale_put_costs_json(FILE *file, const struct visd_bench_point *points, size_t count, const struct scale_plan *plan, const char *server)
{
    struct visd_cost costs[VISD_COSTS];
    visd_cost_fit(points, count, costs);
    put_head(file, plan, server);
    fprintf(file, ", \"points\": %zu, \"cost_model_ms\": {", count);
    for (int i = 0; i < VISD_COSTS; i++) {
        const struct visd_cost *c = &costs[i];
        fprintf(file, "%s\"%s\": {", i ? ", " : "", c->part);
        for (int t = 0; t < c->terms; t++) fprintf(file, "\"%s%s\": %.6g, ", t ? "million_" : "", c->cause[t], c->ms[t]);
        fprintf(file, "\"typical_error\": %.3f, \"worst_error\": %.3f}", c->typical_error, c->worst_error);
    }
    fputs("}}\n", file);
}

void scale_put_costs(FILE *file, const struct visd_bench_point *points, size_t count)
{
    static const struct { const char *cause, *words; } words[] = {
        {"objects", "million objects"}, {"in_frustum", "million in the frustum"}, {"listed", "million listed"}, {"triangles", "million triangles drawn"},
        {"pixels", "million pixels"}};
    struct visd_cost costs[VISD_COSTS];
    visd_cost_fit(points, count, costs);
    fprintf(file, "the cost model, fitted to %zu points: ms a frame\n", count);
    for (int i = 0; i < VISD_COSTS; i++) {
        const struct visd_cost *c = &costs[i];
        char sum[160];
        int n = snprintf(sum, sizeof(sum), "%.3g", c->ms[0]);
        for (int t = 1; t < c->terms; t++)
            for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++)
                if (strcmp(words[w].cause, c->cause[t]) == 0)
                    n += snprintf(sum + n, sizeof(sum) - (size_t)n, " + %.3g a %s", c->ms[t], words[w].words);
        fprintf(file, "  %-9s %-64s typically %.0f %% off, at worst %.0f %%\n", c->part, sum, 100 * c->typical_error, 100 * c->worst_error);
    }
}

/* ---- charts ---- */

static double x_objects(const struct visd_bench_point *p) { return (double)p->objects; }
static double x_pixels(const struct visd_bench_point *p) { return (double)p->width * p->height; }
static double x_share(const struct visd_bench_point *p) { return p->share; }
static double y_passes(const struct visd_bench_point *p) { return p->gpu_ms; }
static double y_p50(const struct visd_bench_point *p) { return p->p50_ms; }
static double y_p99(const struct visd_bench_point *p) { return p->p99_ms; }
static double y_frustum(const struct visd_bench_point *p) { return p->pass_ms[0]; }
static double y_select(const struct visd_bench_point *p) { return p->pass_ms[1]; }
static double y_depth(const struct visd_bench_point *p) { return p->pass_ms[2]; }
static double y_pyramid(const struct visd_bench_point *p) { return p->pass_ms[3]; }
static double y_test(const struct visd_bench_point *p) { return p->pass_ms[4]; }
static double y_mark(const struct visd_bench_point *p) { return p->pass_ms[5]; }
static double y_compact(const struct visd_bench_point *p) { return p->pass_ms[6]; }
static double y_cpu(const struct visd_bench_point *p) { return p->cpu_ms; }
static double y_stepwise(const struct visd_bench_point *p) { return p->stepwise_pyramid_ms; }
static double y_coarse(const struct visd_bench_point *p) { return p->coarse_test_ms; }
static double y_answer(const struct visd_bench_point *p) { return p->answer_bytes; }
static double y_delta(const struct visd_bench_point *p) { return p->delta_bytes; }
static double y_listed(const struct visd_bench_point *p) { return p->listed; }
static double y_coarse_listed(const struct visd_bench_point *p) { return p->coarse_listed; }

enum sweep { OBJECTS, SIZES, SHARES };

#define LINES 7
static const struct {
    const char *file, *title, *y_label;
    enum sweep sweep;
    struct { const char *name; double (*of)(const struct visd_bench_point *); } line[LINES + 1];
} charts[] = {
    {"objects-latency", "Camera to answer", "ms", OBJECTS, {{"p50", y_p50}, {"p99", y_p99}, {"all passes", y_passes}}},
    {"objects-passes", "What each pass takes", "ms", OBJECTS,
     {{"frustum", y_frustum}, {"select", y_select}, {"depth", y_depth}, {"pyramid", y_pyramid}, {"test", y_test}, {"mark", y_mark}, {"compact", y_compact}}},
    {"objects-bytes", "Bytes of an answer", "bytes", OBJECTS, {{"list", y_answer}, {"delta", y_delta}}},
    {"objects-frustum", "The frustum pass, and a loop on a CPU thread", "ms", OBJECTS, {{"visd", y_frustum}, {"CPU", y_cpu}}},
    {"objects-test", "The pyramid test, and one of 2 x 2 texels", "ms", OBJECTS, {{"visd", y_test}, {"2 x 2", y_coarse}}},
    {"objects-listed", "Listed, and by a test of 2 x 2 texels", "objects", OBJECTS, {{"visd", y_listed}, {"2 x 2", y_coarse_listed}}},
    {"sizes-latency", "Camera to answer", "ms", SIZES, {{"p50", y_p50}, {"p99", y_p99}, {"all passes", y_passes}}},
    {"sizes-pyramid", "Depth, the pyramid, and a dispatch a level", "ms", SIZES, {{"depth", y_depth}, {"pyramid", y_pyramid}, {"stepwise", y_stepwise}}},
    {"shares-latency", "Camera to answer", "ms", SHARES, {{"p50", y_p50}, {"p99", y_p99}, {"all passes", y_passes}}},
    {"shares-bytes", "Bytes of an answer", "bytes", SHARES, {{"list", y_answer}, {"delta", y_delta}}},
};

static const struct { const char *x_label; double (*of)(const struct visd_bench_point *); } sweeps[] = {
    [OBJECTS] = {"objects", x_objects}, [SIZES] = {"pixels", x_pixels}, [SHARES] = {"percent of the objects that are seen", x_share}};

static bool belongs(const struct visd_bench_point *p, enum sweep sweep, uint64_t objects, uint32_t width, uint32_t height)
{
    if (sweep == SHARES) return p->share > 0;
    return !(p->share > 0) && (sweep == SIZES ? p->objects == objects : p->width == width && p->height == height);
}

int scale_charts(struct cli *cli, const struct visd_bench_point *points, size_t count, uint64_t base_objects, uint32_t base_width, uint32_t base_height,
                 const char *folder)
{
    for (size_t c = 0; c < sizeof(charts) / sizeof(*charts); c++) {
        struct visd_chart chart = {0};
        struct visd_why why = {{0}};
        char path[1024];
        snprintf(chart.x_label, sizeof(chart.x_label), "%s", sweeps[charts[c].sweep].x_label);
        snprintf(chart.y_label, sizeof(chart.y_label), "%s", charts[c].y_label);
        if (charts[c].sweep == OBJECTS) snprintf(chart.title, sizeof(chart.title), "%s, %ux%u", charts[c].title, base_width, base_height);
        if (charts[c].sweep == SIZES) snprintf(chart.title, sizeof(chart.title), "%s, %llu objects", charts[c].title, (unsigned long long)base_objects);
        if (charts[c].sweep == SHARES) snprintf(chart.title, sizeof(chart.title), "%s, by how much is seen", charts[c].title);
        for (size_t i = 0; i < count; i++) {
            if (!belongs(&points[i], charts[c].sweep, base_objects, base_width, base_height)) continue;
            for (size_t l = 0; charts[c].line[l].name && l < LINES; l++) {
                char name[48];
                snprintf(name, sizeof(name), "%s, %s", points[i].kind, charts[c].line[l].name);
                visd_chart_add(visd_chart_series(&chart, name), sweeps[charts[c].sweep].of(&points[i]), charts[c].line[l].of(&points[i]));
            }
        }
        if (!chart.series_count) continue; /* that sweep was not asked for */
        if (snprintf(path, sizeof(path), "%s/%s.svg", folder, charts[c].file) >= (int)sizeof(path)) return cli_fail(cli, "%s: the name is too long", folder);
        if (visd_chart_write(&chart, path, &why) != VISD_ERR_OK) return cli_fail(cli, "%s", why.text);
    }
    return CLI_DONE;
}
