/* link: visd_visctl */
/* What bench scale reckons with: percentiles, fits, costs, the loop over boxes, hashes, charts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "client/visctl/bench/chart.h"
#include "client/visctl/bench/cost.h"
#include "client/visctl/bench/frustum_loop.h"
#include "client/visctl/bench/scene_hash.h"
#include "client/visctl/bench/spread.h"
#include "client/visctl/camera/cameras.h"
#include "client/visctl/generate/scene.h"

static void test_spread(void **state)
{
    (void)state;
    struct visd_spread s = {0};
    assert_true(visd_spread_at(&s, 0.5) == 0);
    for (int i = 0; i < 101; i++) assert_true(visd_spread_add(&s, (double)(i * 37 % 101)));
    assert_true(visd_spread_at(&s, 0) == 0 && visd_spread_at(&s, 0.5) == 50 && visd_spread_at(&s, 0.95) == 95 && visd_spread_at(&s, 1) == 100);
    assert_true(visd_spread_add(&s, -1));
    assert_true(visd_spread_at(&s, 0) == -1);
    visd_spread_finish(&s);
}

static void test_fit(void **state)
{
    (void)state;
    struct visd_random random = {7};
    for (int round = 0; round < 200; round++) {
        double x[40 * 3], y[40], truth[3], got[3];
        for (int t = 0; t < 3; t++) truth[t] = round % 4 == t + 1 ? 0 : pow(10, visd_random_between(&random, -4, 4));
        for (int r = 0; r < 40; r++) {
            y[r] = 0;
            for (int t = 0; t < 3; t++) {
                x[r * 3 + t] = t ? pow(10, visd_random_between(&random, -3, 3)) : 1;
                y[r] += truth[t] * x[r * 3 + t];
            }
        }
        visd_fit(x, y, 40, 3, got);
        for (int t = 0; t < 3; t++) assert_true(fabs(got[t] - truth[t]) <= 1e-6 * truth[t] + 1e-9);
    }
    /* Falling with x: no price is negative, the constant takes what it can. Rows without a measurement are left out. */
    const double x[] = {1, 1, 1, 2, 1, 3, 1, 4}, y[] = {3, 2, 1, 0};
    double got[2];
    visd_fit(x, y, 4, 2, got);
    assert_true(got[0] > 1 && got[0] < 3 && got[1] == 0);
    visd_fit(x, (const double[4]){0}, 4, 2, got);
    assert_true(got[0] == 0 && got[1] == 0);
}

static void test_costs(void **state)
{
    (void)state;
    struct visd_bench_point points[12];
    struct visd_cost costs[VISD_COSTS];
    struct visd_random random = {3};
    for (int i = 0; i < 12; i++) {
        struct visd_bench_point *p = &points[i];
        *p = (struct visd_bench_point){.kind = "grid", .objects = 1000u << i, .width = 100u << i % 4, .height = 100, .frames = 1};
        p->listed = visd_random_between(&random, 10, 1e6f);
        p->pass_ms[0] = 0.5 + 2 * (double)p->objects / 1e6;
        p->pass_ms[3] = 0.1 + 3 * (double)p->width * p->height / 1e6;
        p->gpu_ms = p->pass_ms[0] + p->pass_ms[3];
        p->p50_ms = p->gpu_ms + 1 + 7 * p->listed / 1e6;
    }
    visd_cost_fit(points, 12, costs);
    assert_string_equal(costs[0].part, "frustum");
    assert_string_equal(costs[0].cause[1], "objects");
    assert_true(fabs(costs[0].ms[0] - 0.5) < 1e-6 && fabs(costs[0].ms[1] - 2) < 1e-6 && costs[0].worst_error < 1e-6);
    assert_string_equal(costs[3].cause[1], "pixels");
    assert_true(fabs(costs[3].ms[0] - 0.1) < 1e-6 && fabs(costs[3].ms[1] - 3) < 1e-6);
    assert_string_equal(costs[VISD_PASSES].part, "the rest");
    assert_true(fabs(costs[VISD_PASSES].ms[0] - 1) < 1e-6 && fabs(costs[VISD_PASSES].ms[1] - 7) < 1e-6);
    assert_true(costs[1].ms[0] == 0 && costs[1].worst_error == 0); /* never measured */
}

/* A box is outside where all its corners are, of one plane: by doubles and the long way. */
static bool outside(const struct visd_client_camera *c, const double box[6])
{
    bool all[6] = {true, true, true, true, true, true};
    for (int corner = 0; corner < 8; corner++) {
        double p[4] = {box[corner & 1 ? 3 : 0], box[corner & 2 ? 4 : 1], box[corner & 4 ? 5 : 2], 1}, eye[4], clip[4];
        for (int r = 0; r < 4; r++) {
            eye[r] = 0;
            for (int k = 0; k < 4; k++) eye[r] += c->view[k * 4 + r] * p[k];
        }
        for (int r = 0; r < 4; r++) {
            clip[r] = 0;
            for (int k = 0; k < 4; k++) clip[r] += c->proj[k * 4 + r] * eye[k];
        }
        const double distance[6] = {clip[3] + clip[0], clip[3] - clip[0], clip[3] + clip[1], clip[3] - clip[1], clip[3] - clip[2], clip[2]};
        for (int i = 0; i < 6; i++) all[i] &= distance[i] < -1e-4;
    }
    for (int i = 0; i < 6; i++)
        if (all[i]) return true;
    return false;
}

static void test_loop(void **state)
{
    (void)state;
    enum { BOXES = 10000 };
    static double boxes[BOXES][6];
    struct visd_frustum_loop loop = {0};
    struct visd_random random = {11};
    for (int i = 0; i < BOXES; i++) {
        for (int k = 0; k < 3; k++) {
            boxes[i][k] = visd_random_between(&random, -50, 50);
            boxes[i][k + 3] = boxes[i][k] + visd_random_between(&random, 0, 3);
        }
        assert_true(visd_frustum_loop_add(&loop, boxes[i]));
    }
    const double everywhere[6] = {-INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY};
    assert_true(visd_frustum_loop_add(&loop, everywhere));
    assert_true(visd_frustum_loop_ready(&loop));
    for (int turn = 0; turn < 8; turn++) {
        struct visd_client_camera camera;
        const double eye[3] = {10 * cos(turn), 5, 10 * sin(turn)}, target[3] = {turn, -turn, 3};
        visd_camera_look(&camera, eye, target, 60, 0.1, 640, 360);
        size_t listed = visd_frustum_loop_run(&loop, &camera), at = 0, surplus = 0;
        assert_in_range(listed, 10, BOXES);
        assert_int_equal(loop.list[listed - 1], BOXES);
        for (uint32_t i = 0; i < BOXES; i++) {
            bool in = at < listed && loop.list[at] == i;
            at += in;
            if (!outside(&camera, boxes[i])) assert_true(in);
            else surplus += in;
        }
        assert_true(surplus <= 2); /* what floats cannot tell */
    }
    visd_frustum_loop_finish(&loop);
}

static uint64_t hash_of(const struct visd_client_mesh *meshes, size_t mesh_count, const struct visd_client_page *pages, size_t page_count)
{
    struct visd_scene_hash hash = {0};
    for (size_t i = 0; i < mesh_count; i++) assert_true(visd_scene_hash_mesh(&hash, &meshes[i]));
    for (size_t i = 0; i < page_count; i++) visd_scene_hash_objects(&hash, &pages[i]);
    uint64_t value = visd_scene_hash_end(&hash);
    visd_scene_hash_finish(&hash);
    return value;
}

static void test_hash(void **state)
{
    (void)state;
    float corners[2][9] = {{0, 0, 0, 1, 0, 0, 0, 1, 0}, {0, 0, 0, 2, 0, 0, 0, 1, 0}};
    const uint32_t triangle[3] = {0, 1, 2};
    struct visd_client_mesh meshes[2], swapped[2];
    for (int i = 0; i < 2; i++) meshes[i] = (struct visd_client_mesh){.id = 5 + (uint64_t)i, .vertices = 3, .triangles = 1, .positions = corners[i], .indices = triangle};
    swapped[0] = meshes[1], swapped[1] = meshes[0];
    uint64_t ids[3] = {1, 2, 3}, back[3] = {3, 2, 1}, mesh_ids[3] = {5, 6, VISD_NO_ID}, mesh_back[3] = {VISD_NO_ID, 6, 5};
    uint32_t flags[3] = {0, 1, 2}, flags_back[3] = {2, 1, 0};
    double boxes[18], boxes_back[18];
    for (int i = 0; i < 18; i++) boxes[i] = i, boxes_back[i] = (2 - i / 6) * 6 + i % 6;
    struct visd_client_page page = {.count = 3, .ids = ids, .meshes = mesh_ids, .flags = flags, .world_boxes = boxes};
    struct visd_client_page turned = {.count = 3, .ids = back, .meshes = mesh_back, .flags = flags_back, .world_boxes = boxes_back};
    uint64_t first = hash_of(meshes, 2, &page, 1);
    assert_int_equal(first, hash_of(swapped, 2, &turned, 1));
    flags[1] = 3;
    assert_int_not_equal(first, hash_of(meshes, 2, &page, 1));
    flags[1] = 1, boxes[7] += 1e-9;
    assert_int_not_equal(first, hash_of(meshes, 2, &page, 1));
    boxes[7] -= 1e-9, boxes[7] = 7, corners[1][4] = 0.5f;
    assert_int_not_equal(first, hash_of(meshes, 2, &page, 1));
    corners[1][4] = 0;
    assert_int_equal(first, hash_of(meshes, 2, &page, 1));
    page.count = 2;
    assert_int_not_equal(first, hash_of(meshes, 2, &page, 1));
}

static void test_chart(void **state)
{
    (void)state;
    char path[] = "/tmp/visd-chart-XXXXXX", *text = calloc(1, 1 << 16);
    static struct visd_chart chart;
    struct visd_why why;
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    chart = (struct visd_chart){.title = "a < b & c", .x_label = "objects", .y_label = "ms"};
    assert_int_equal(visd_chart_write(&chart, path, &why), VISD_ERR_OK); /* empty */
    visd_chart_add(visd_chart_series(&chart, "p50"), 1e6, 3);
    visd_chart_add(visd_chart_series(&chart, "p50"), 1e3, 0.02);
    visd_chart_add(visd_chart_series(&chart, "p50"), 0, 1);
    visd_chart_add(visd_chart_series(&chart, "p50"), 1, NAN);
    assert_int_equal(chart.series_count, 1);
    assert_int_equal(chart.series[0].count, 2);
    assert_true(chart.series[0].x[0] == 1e3);
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof(name), "line %d", i);
        visd_chart_add(visd_chart_series(&chart, name), 1e4, 1);
    }
    assert_int_equal(chart.series_count, VISD_CHART_SERIES);
    assert_int_equal(visd_chart_write(&chart, path, &why), VISD_ERR_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 1000);
    fclose(file);
    assert_non_null(strstr(text, "a &lt; b &amp; c"));
    assert_non_null(strstr(text, ">100k<"));
    assert_non_null(strstr(text, ">0.01<"));
    assert_non_null(strstr(text, "</svg>"));
    assert_null(strstr(text, "nan"));
    unlink(path);
    assert_int_equal(visd_chart_write(&chart, "/nowhere/at/all.svg", &why), VISD_ERR_IO);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spread), cmocka_unit_test(test_fit),  cmocka_unit_test(test_costs),
        cmocka_unit_test(test_loop),   cmocka_unit_test(test_hash), cmocka_unit_test(test_chart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
