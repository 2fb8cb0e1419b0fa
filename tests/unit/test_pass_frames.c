/* link: visd_rig visd_twin */
/* Whole frames of random scenes, on the device and by the twins: verdicts, rectangles, depth, pyramid, lists and counts must agree.
 *
 * Lists, counts and the pyramid agree exactly. So does coverage, and depth to within half of the raster's own step back (8 units of 2^-24
 * of a small triangle's nearest depth), because a device may round a division or reorder a sum that is not declared precise. Where such
 * a rounding could turn a decision the twin says so ("open"), and the scene's remaining frames are not compared: few may be. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/rig/rig.h"
#include "tests/twin/random.h"
#include "tests/twin/twin.h"

static struct rig rig;
static struct random_shape shapes[RANDOM_SHAPES];
static struct twin_scene scene;
static struct { uint64_t seed, frames, skipped, objects, samples, loose; } tally;

#define OBJECTS 220u

static int setup(void **state)
{
    (void)state;
    rig_init(&rig, 0, 0);
    random_shapes_make(shapes);
    twin_scene_init(&scene);
    for (uint32_t i = 0; i < RANDOM_SHAPES; i++) {
        assert_int_equal(rig_block(&rig, shapes[i].block, shapes[i].bytes), i);
        assert_int_equal(twin_scene_mesh(&scene, shapes[i].block), i);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    twin_scene_finish(&scene);
    random_shapes_free(shapes);
    rig_finish(&rig);
    return 0;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void same_lists(const struct rig_list *list, const struct twin *t)
{
    uint64_t *ids = malloc(t->listed * 8 + 8);
    memcpy(ids, t->ids, t->listed * 8);
    qsort(ids, t->listed, 8, by_value);
    assert_int_equal(list->count, t->listed);
    assert_memory_equal(list->ids, ids, t->listed * 8);
    free(ids);
}

static void same_stats(const struct visd_frame_stats *is, const struct visd_frame_stats *twin)
{
    assert_int_equal(is->tested, twin->tested);
    assert_int_equal(is->in_frustum, twin->in_frustum);
    assert_int_equal(is->listed, twin->listed);
    assert_int_equal(is->occluded, twin->occluded);
    assert_int_equal(is->forced, twin->forced);
    assert_int_equal(is->drawn[0], twin->drawn[0]);
    assert_int_equal(is->drawn[1], twin->drawn[1]);
    assert_int_equal(is->over_budget, twin->over_budget);
    assert_int_equal(is->dropped_small, twin->dropped_small);
    assert_int_equal(is->hidden, twin->hidden);
    for (int i = 0; i < 2; i++) assert_int_equal(is->triangles[i], twin->triangles[i]);
    assert_int_equal(is->triangles_in_frustum, twin->triangles_in_frustum);
    assert_int_equal(is->triangles_listed, twin->triangles_listed);
}

/* Every candidate's rectangle, nearest depth and fate. */
static void same_boxes(uint32_t view, const struct twin *t)
{
    struct rig_picture picture = rig_snapshot(&rig, view, VISD_SNAPSHOT_BOXES, 0, OBJECTS * sizeof(struct visd_snapshot_box));
    const struct visd_snapshot_box *box = picture.data;
    assert_int_equal(picture.count, t->counters.candidates * sizeof(*box));
    for (uint32_t i = 0; i < t->counters.candidates; i++, box++) {
        uint32_t slot = t->candidates[i], verdict = t->verdicts[slot];
        const struct proxy *inner = &t->inner[slot], *outer = &t->outer[slot];
        assert_int_equal(box->id, scene.info[slot].id_low | (uint64_t)scene.info[slot].id_high << 32);
        assert_in_range(box->x0, outer->low & 0xffff, inner->low & 0xffff);
        assert_in_range(box->y0, outer->low >> 16, inner->low >> 16);
        assert_in_range(box->x1, inner->high & 0xffff, outer->high & 0xffff);
        assert_in_range(box->y1, inner->high >> 16, outer->high >> 16);
        if (!(box->depth >= inner->depth && box->depth <= outer->depth))
            fail_msg("seed %u, slot %u: depth %.9g is not within %.9g and %.9g", (unsigned)tally.seed, slot,
                     (double)box->depth, (double)inner->depth, (double)outer->depth);
        uint32_t expected = ((verdict & (VERDICT_SEEN | VERDICT_UNLISTED)) == VERDICT_SEEN ? VISD_BOX_LISTED : 0) |
                            (verdict & VERDICT_FORCED ? VISD_BOX_FORCED : 0) | (verdict & VERDICT_DRAWN ? VISD_BOX_DREW : 0);
        assert_int_equal(box->state, expected);
        tally.objects++;
    }
    free(picture.data);
}

static void same_depth(uint32_t view, const struct twin *t, bool with_pyramid)
{
    const struct view_camera *camera = &t->frame.camera;
    uint64_t pixels = (uint64_t)camera->width * camera->height;
    struct rig_picture picture = rig_snapshot(&rig, view, VISD_SNAPSHOT_DEPTH, 0, pixels * 4);
    const float *depth = picture.data;
    assert_int_equal(picture.width, camera->width);
    assert_int_equal(picture.height, camera->height);
    for (uint64_t i = 0; i < pixels; i++) {
        float least = t->low.level[0][i], most = t->high.level[0][i];
        if (!(depth[i] >= least && depth[i] <= most))
            fail_msg("seed %u, pixel %u, %u: depth %.9g is not within %.9g and %.9g", (unsigned)tally.seed,
                     (unsigned)(i % camera->width), (unsigned)(i / camera->width),
                     (double)depth[i], (double)least, (double)most);
        tally.samples++;
        tally.loose += (least > 0) != (most > 0);
    }
    /* Each level from the device's own depth, exactly. */
    struct twin_pyramid pyramid = {0};
    twin_pyramid_make(&pyramid, depth, camera->width, camera->height, 1);
    for (uint32_t level = 0; level < pyramid.levels && with_pyramid; level++) {
        uint64_t bytes = (uint64_t)pyramid.width[level] * pyramid.height[level] * 4;
        struct rig_picture is = rig_snapshot(&rig, view, VISD_SNAPSHOT_PYRAMID, level, bytes);
        assert_int_equal(is.width, pyramid.width[level]);
        assert_int_equal(is.height, pyramid.height[level]);
        assert_memory_equal(is.data, pyramid.level[level], bytes);
        free(is.data);
    }
    twin_pyramid_free(&pyramid);
    free(picture.data);
}

/* One frame by both; false when a rounding may decide. */
static bool same_frame(uint32_t view, struct twin *t, const struct visd_camera *camera, uint32_t method, uint32_t flags)
{
    twin_frame(t, &scene, camera, method, flags, 0, 0);
    struct visd_frame_stats stats = twin_stats(t);
    struct rig_list list = rig_frame(&rig, view, camera, method, flags);
    bool open = t->open_objects || t->open_tests;
    tally.frames++;
    tally.skipped += open;
    if (!open) {
        same_lists(&list, t);
        same_stats(&rig.last.stats, &stats);
    }
    rig_list_free(&list);
    return !open;
}

/* All samples of all that is in view, and how many of them differ. */
static void same_coverage(struct twin *t)
{
    uint64_t samples[2], covered[2];
    twin_coverage(t, samples, covered);
    assert_in_range(rig.last.stats.samples_all, samples[0], samples[1]);
    assert_in_range(rig.last.stats.pixels_covered, covered[0], covered[1]);
}

static bool again(struct twin *t, const struct visd_camera *camera)
{
    twin_frame(t, &scene, camera, VISD_METHOD_HIZ, 0, 0, 0);
    return !t->open_objects && !t->open_tests;
}

/* Random rectangles of depth, some of it none, before or instead of the meshes. */
static bool same_with_prepass(uint32_t view, struct twin *t, const struct visd_camera *camera, struct random *r)
{
    uint64_t pixels = (uint64_t)camera->width * camera->height;
    float *depth = calloc(pixels, sizeof(*depth));
    uint32_t reversed = random_chance(r, 0.5) ? VISD_FRAME_PREPASS_REVERSED : 0, alone = random_chance(r, 0.5) ? VISD_FRAME_PREPASS_ALONE : 0;
    for (uint64_t i = 0; i < pixels; i++) depth[i] = reversed ? 0 : 1;
    for (int n = 0; n < 6; n++) {
        uint32_t x0 = (uint32_t)(random_next(r) % camera->width), y0 = (uint32_t)(random_next(r) % camera->height);
        float value = (float)(random_chance(r, 0.1) ? NAN : random_chance(r, 0.1) ? 2 : random_chance(r, 0.5) ? random_between(r, 0, 1) : random_scale(r, 1e-4, 1));
        for (uint32_t y = y0; y < camera->height && y < y0 + camera->height / 2; y++)
            for (uint32_t x = x0; x < camera->width && x < x0 + camera->width / 2; x++) depth[y * camera->width + x] = value;
    }
    rig.prepass = t->prepass = depth;
    bool same = same_frame(view, t, camera, random_next(r) % 2 ? VISD_METHOD_HIZ : VISD_METHOD_EXACT, VISD_FRAME_PREPASS | reversed | alone);
    rig.prepass = t->prepass = NULL;
    free(depth);
    return same;
}

struct place { uint32_t width, height, samples; enum random_projection projection; double origin; };

static void compare(uint64_t seed, const struct place *at)
{
    tally.seed = seed;
    static struct visd_object_change changes[OBJECTS];
    struct random r = {seed * 7919 + 17};
    double eye[3], forward[3];
    for (int k = 0; k < 3; k++) eye[k] = at->origin * random_between(&r, -1, 1);
    struct visd_camera camera = random_camera(&r, eye, at->projection, at->width, at->height, at->samples, forward);
    if (random_chance(&r, 0.3)) random_planes(&r, &camera, 1 + (uint32_t)(random_next(&r) % 8));
    if (random_chance(&r, 0.2)) camera.min_pixels = (float)random_scale(&r, 0.5, 30);
    if (random_chance(&r, 0.2)) camera.layers = 0x0f;
    random_objects(&r, shapes, eye, forward, changes, OBJECTS);
    rig_commit(&rig, changes, OBJECTS);
    twin_scatter(&scene, changes, OBJECTS, OBJECTS);

    struct twin t = {0};
    uint32_t view = rig_view(&rig);
    bool go_on = same_frame(view, &t, &camera, VISD_METHOD_FRUSTUM, VISD_FRAME_FRESH) && same_frame(view, &t, &camera, VISD_METHOD_HIZ, VISD_FRAME_FRESH);
    if (go_on && seed % 3 == 0 && same_frame(view, &t, &camera, VISD_METHOD_HIZ, VISD_FRAME_COVERAGE)) same_coverage(&t);
    if (go_on && seed % 3 == 1) go_on = same_frame(view, &t, &camera, VISD_METHOD_HIZ, VISD_FRAME_FRESH | VISD_FRAME_COARSE | VISD_FRAME_AT_ONCE);
    if (go_on) go_on = same_frame(view, &t, &camera, VISD_METHOD_EXACT, VISD_FRAME_FRESH) && same_frame(view, &t, &camera, VISD_METHOD_BOX, 0);
    if (go_on && camera.samples == 1 && seed % 2 == 0) go_on = same_with_prepass(view, &t, &camera, &r);
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 3; j++) camera.m[k][3] += camera.m[k][j] * (float)random_between(&r, -0.2, 0.2); /* a step aside, planes with it */
    go_on = go_on && same_frame(view, &t, &camera, seed % 2 ? VISD_METHOD_HIZ : VISD_METHOD_EXACT, 0) && same_frame(view, &t, &camera, VISD_METHOD_HIZ, 0);
    /* A snapshot runs the last frame again, over the history that it left: until that stands still the twin keeps step. */
    if (go_on && again(&t, &camera)) {
        same_boxes(view, &t);
        if (again(&t, &camera)) same_depth(view, &t, seed % 5 == 0);
    }
    twin_finish(&t);
    assert_int_equal(rig_do(&rig, (struct visd_job){.kind = VISD_JOB_VIEW_CLOSE, .view = view}).err, VISD_ERR_OK);
    rig.views--;
}

static void random_frames_agree(void **state)
{
    (void)state;
    static const struct place places[] = {
        {211, 317, 1, RANDOM_INFINITE, 0},   {211, 317, 1, RANDOM_FINITE, 100},          {211, 317, 1, RANDOM_PARALLEL, 0},
        {121, 160, 8, RANDOM_INFINITE, 1e7}, {211, 317, 1, RANDOM_PARALLEL_BEHIND, 1e7}, {70, 70, 1, RANDOM_INFINITE, 0},
        {160, 100, 4, RANDOM_FINITE, 1e3},   {211, 317, 1, RANDOM_INFINITE, 1e7},        {181, 99, 2, RANDOM_PARALLEL, 10},
        {1, 1, 1, RANDOM_INFINITE, 0},       {70, 70, 8, RANDOM_PARALLEL_BEHIND, 0},     {1, 1, 4, RANDOM_FINITE, 0},
        {33, 64, 1, RANDOM_FINITE, 1e7},
    };
    const char *first = getenv("VISD_TEST_SEED"), *many = getenv("VISD_TEST_SEEDS"); /* to look at one, or to try more */
    uint64_t from = first ? strtoull(first, NULL, 10) : 0, count = many ? strtoull(many, NULL, 10) : first ? 1 : getenv("VISD_TEST_FEW") ? 10 : 26;
    for (uint64_t seed = from; seed < from + count; seed++) {
        compare(seed, &places[seed % (sizeof(places) / sizeof(places[0]))]);
    }
    print_message("%u frames, %u not compared for a rounding; %u rectangles; of %u pixels %u covered or not by a rounding\n",
                  (unsigned)tally.frames, (unsigned)tally.skipped, (unsigned)tally.objects, (unsigned)tally.samples, (unsigned)tally.loose);
    assert_true(tally.skipped * 5 <= tally.frames);
    assert_true(tally.loose * 2000 <= tally.samples);
}

static void large_images_agree(void **state)
{
    (void)state;
    static const struct place places[] = {{1919, 1077, 1, RANDOM_INFINITE, 0}, {5003, 61, 1, RANDOM_FINITE, 1e3}, {37, 8190, 2, RANDOM_INFINITE, 0}};
    for (uint64_t i = 0; i < 3; i++) compare(1000 + 5 * i, &places[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_frames_agree), cmocka_unit_test(large_images_agree)}, few[] = {tests[0]};
    if (getenv("VISD_TEST_FEW")) return cmocka_run_group_tests_name("frames against their twins", few, setup, teardown);
    return cmocka_run_group_tests_name("frames against their twins", tests, setup, teardown);
}
