/* A frame: the twins in the order of the recipes (daemon/cull/recipes.c), over one view's history. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "twin.h"

/* Vulkan's standard sample locations in 1/16 pixel. */
static const int one[1][2] = {{8, 8}};
static const int two[2][2] = {{12, 12}, {4, 4}};
static const int four[4][2] = {{6, 2}, {14, 6}, {2, 10}, {10, 14}};
static const int eight[8][2] = {{9, 5}, {7, 11}, {13, 9}, {5, 3}, {3, 13}, {1, 7}, {11, 15}, {15, 1}};

static const int (*locations(uint32_t samples))[2]
{
    return samples == 1 ? one : samples == 2 ? two : samples == 4 ? four : eight;
}

static void *resized(void *old, uint64_t bytes) { return realloc(old, bytes ? bytes : 1); }

void twin_begin(struct twin *t, const struct twin_scene *scene, const struct visd_camera *camera, uint32_t flags, uint64_t budget_triangles,
                uint64_t budget_samples)
{
    t->scene = scene;
    t->footprint = flags & VISD_FRAME_COARSE ? 2 : FOOTPRINT;
    t->frame = (struct frame){.slots = scene->slots, .fresh = flags & VISD_FRAME_FRESH ? 1 : 0,
                              .budget_triangles = (float)(budget_triangles ? budget_triangles : 2000000),
                              .budget_samples = (float)(budget_samples ? budget_samples : UINT64_C(64) << 20),
                              .large_capacity = 1u << 18, .tile_capacity = 1u << 19,
                              .tile_unit_limit = (uint32_t)((budget_samples ? budget_samples : UINT64_C(64) << 20) / 64 * 4),
                              .draw_limit = (uint32_t)((budget_triangles ? budget_triangles : 2000000) / 4)};
    memcpy(&t->frame.camera, camera, sizeof(t->frame.camera));
    for (uint32_t i = 0; i < camera->samples; i++)
        for (int k = 0; k < 2; k++) t->frame.sample_offset[i][k] = locations(camera->samples)[i][k] * (SUBPIXEL / 16);
    t->counters = (struct counters){0};
    t->history = resized(t->history, scene->slots * sizeof(uint32_t));
    for (; t->history_slots < scene->slots; t->history_slots++) t->history[t->history_slots] = 0;
    t->verdicts = resized(t->verdicts, scene->slots * sizeof(uint32_t));
    t->candidates = resized(t->candidates, scene->slots * sizeof(uint32_t));
    t->proxies = resized(t->proxies, scene->slots * sizeof(struct proxy));
    t->inner = resized(t->inner, scene->slots * sizeof(struct proxy));
    t->outer = resized(t->outer, scene->slots * sizeof(struct proxy));
    t->draws = resized(t->draws, scene->slots * sizeof(struct draw));
    t->clip = resized(t->clip, scene->slots * sizeof(bool));
    t->marked_surely = resized(t->marked_surely, scene->slots * sizeof(bool));
    t->marked_maybe = resized(t->marked_maybe, scene->slots * sizeof(bool));
    t->marking = false;
    t->ids = resized(t->ids, scene->slots * sizeof(uint64_t));
    t->draw_count = 0;
    t->open_objects = t->open_tests = 0;
    t->listed = 0;
}

static uint64_t sample_count(const struct twin *t) { return (uint64_t)t->frame.camera.width * t->frame.camera.height * t->frame.camera.samples; }

void twin_clear(struct twin *t)
{
    uint64_t bytes = sample_count(t) * sizeof(float);
    t->depth.least = resized(t->depth.least, bytes);
    t->depth.most = resized(t->depth.most, bytes);
    memset(t->depth.least, 0, bytes);
    memset(t->depth.most, 0, bytes);
    t->samples_least = t->samples_most = 0;
}

void twin_finish(struct twin *t)
{
    void *all[] = {t->history, t->verdicts, t->candidates, t->proxies, t->inner, t->outer, t->draws, t->clip, t->ids, t->marked_surely, t->marked_maybe, t->depth.least, t->depth.most};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) free(all[i]);
    twin_pyramid_free(&t->low);
    twin_pyramid_free(&t->high);
    *t = (struct twin){0};
}

/* What the client drew, stepped back by what it may have been off; its own roundings aside every device finds the same. */
static void draw_prepass(struct twin *t, bool reversed)
{
    for (uint64_t i = 0; i < sample_count(t); i++) {
        float given = t->prepass[i], depth = (reversed ? given : (1 - given) - 0x1p-22f) * (1 - 0x1p-18f);
        if (!(given >= 0 && given <= 1 && depth > 0)) continue;
        t->depth.least[i] = nextafterf(depth, 0);
        t->depth.most[i] = nextafterf(depth, 2);
    }
}

static void make_pyramids(struct twin *t)
{
    const struct view_camera *camera = &t->frame.camera;
    twin_pyramid_make(&t->low, t->depth.least, camera->width, camera->height, camera->samples);
    twin_pyramid_make(&t->high, t->depth.most, camera->width, camera->height, camera->samples);
}

static void draw(struct twin *t, uint32_t which)
{
    twin_select(t, which, false);
    twin_depth(t);
    make_pyramids(t);
}

void twin_frame(struct twin *t, const struct twin_scene *scene, const struct visd_camera *camera, uint32_t method, uint32_t flags,
                uint64_t budget_triangles, uint64_t budget_samples)
{
    twin_begin(t, scene, camera, flags, budget_triangles, budget_samples);
    twin_frustum(t);
    if (method == VISD_METHOD_FRUSTUM) {
        twin_hiz(t, TWIN_PASS_ALL);
    } else {
        twin_clear(t);
        if (flags & VISD_FRAME_PREPASS) draw_prepass(t, flags & VISD_FRAME_PREPASS_REVERSED);
        if (flags & VISD_FRAME_PREPASS_ALONE) {
            make_pyramids(t);
        } else {
            draw(t, SELECT_HISTORY);
            twin_hiz(t, TWIN_TEST_REST);
            draw(t, SELECT_PASSED);
        }
        twin_hiz(t, method == VISD_METHOD_HIZ ? TWIN_TEST_LAST : TWIN_TEST_ALL);
        if (method != VISD_METHOD_HIZ) {
            twin_select(t, SELECT_MARKS | (method == VISD_METHOD_BOX ? SELECT_BOXES : 0), false);
            twin_marks(t);
            twin_hiz(t, TWIN_TEST_SETTLE);
        }
    }
    twin_compact(t);
}

struct visd_frame_stats twin_stats(const struct twin *t)
{
    const struct counters *c = &t->counters;
    return (struct visd_frame_stats){
        .tested = c->tested, .in_frustum = c->in_frustum, .listed = c->listed, .occluded = c->occluded, .forced = c->forced,
        .drawn = {c->drawn[0], c->drawn[1]}, .over_budget = c->over_budget, .dropped_small = c->small_objects, .hidden = c->hidden,
        .triangles = {c->triangles_drawn[0] | (uint64_t)c->triangles_drawn[1] << 32, c->triangles_drawn[2] | (uint64_t)c->triangles_drawn[3] << 32},
        .triangles_in_frustum = c->triangles_in_frustum[0] | (uint64_t)c->triangles_in_frustum[1] << 32,
        .triangles_listed = c->triangles_listed[0] | (uint64_t)c->triangles_listed[1] << 32};
}

void twin_coverage(struct twin *t, uint64_t samples[2], uint64_t covered[2])
{
    twin_clear(t);
    twin_select(t, SELECT_ALL, true);
    twin_depth(t);
    samples[0] = t->samples_least;
    samples[1] = t->samples_most;
    covered[0] = covered[1] = 0;
    for (uint64_t i = 0; i < sample_count(t); i++) {
        covered[0] += t->depth.least[i] > 0;
        covered[1] += t->depth.most[i] > 0;
    }
}
