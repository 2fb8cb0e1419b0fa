/* link: visd_rig visd_twin */
/* Compaction, scatter and the scan behind them: counts around every limit of a dispatch, wide ids, lists in slot order, commits in slices. */
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
static const float half[3] = {0.1f, 0.1f, 0.1f};

static int setup(void **state)
{
    (void)state;
    rig_init(&rig, 0, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rig_finish(&rig);
    return 0;
}

static struct visd_camera ahead(void)
{
    static const double eye[3] = {0, 0, 0};
    return rig_camera(eye, 0, 0, 1, 0.1, 64, 64);
}

static struct visd_object_change object_at(uint32_t slot, uint64_t id, double z)
{
    const double t[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, z};
    return rig_object(slot, id, t, half, VISD_MESH_NONE, 0);
}

/* The last slot alone is in view. https://github.com/KeKsBoTer/web-splat/issues/8 */
static void last_of(uint32_t count, uint32_t live, enum visd_method first, enum visd_method last)
{
    struct visd_camera camera = ahead();
    uint32_t from = count - live;
    struct visd_object_change *changes = malloc(live * sizeof(*changes));
    for (uint32_t i = 0; i < live; i++) changes[i] = object_at(from + i, 1000 + from + i, from + i + 1 == count ? -10 : 10);
    rig_commit(&rig, changes, live);
    uint32_t view = rig_view(&rig);
    for (enum visd_method method = first; method <= last; method++) {
        struct rig_list list = rig_frame(&rig, view, &camera, method, 0);
        assert_int_equal(rig.last.stats.tested, live);
        assert_int_equal(rig.last.stats.in_frustum, 1);
        assert_int_equal(list.count, 1);
        assert_int_equal(list.ids[0], 1000 + count - 1);
        rig_list_free(&list);
    }
    assert_int_equal(rig_do(&rig, (struct visd_job){.kind = VISD_JOB_VIEW_CLOSE, .view = view}).err, VISD_ERR_OK);
    rig.views--;
    for (uint32_t i = 0; i < live; i++) changes[i].bounds.flags = 0;
    rig_commit(&rig, changes, live);
    free(changes);
}

static void counts_around_dispatch_limits(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 255, 256, 257, 65535, 65536, 65537, 65793};
    rig_clear(&rig);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        last_of(counts[i], counts[i], VISD_METHOD_FRUSTUM, VISD_METHOD_HIZ);
        rig.slots = 0;
    }
}

/* More slots than one axis of a dispatch has work groups for; the objects are at the end of them. */
static void slots_beyond_one_axis(void **state)
{
    (void)state;
    last_of(4194241, 3000, VISD_METHOD_HIZ, VISD_METHOD_HIZ);
}

/* Many objects, seen and unseen, spread over all of them: the list is whole and in slot order. */
static void many_spread_beyond_one_axis(void **state)
{
    (void)state;
    enum { SLOTS = 16776961, LIVE = 399451, STRIDE = 42 }; /* 65,536 work groups and one slot */
    struct visd_object_change *changes = malloc(LIVE * sizeof(*changes));
    uint64_t *expected = malloc(LIVE * sizeof(*expected)), count = 0;
    struct random r = {7};
    for (uint32_t i = 0; i < LIVE; i++) {
        bool seen = random_chance(&r, 0.7);
        changes[i] = object_at(SLOTS - 1 - (LIVE - 1 - i) * STRIDE, random_next(&r), seen ? -10 : 10);
        if (seen) expected[count++] = changes[i].info.id[0] | (uint64_t)changes[i].info.id[1] << 32;
    }
    rig_commit(&rig, changes, LIVE);
    struct visd_camera camera = ahead();
    uint32_t view = rig_view(&rig);
    struct rig_list list = rig_frame(&rig, view, &camera, VISD_METHOD_HIZ, 0);
    assert_int_equal(rig.last.stats.tested, LIVE);
    assert_int_equal(list.count, count);
    assert_memory_equal(list.in_order, expected, count * sizeof(*expected));
    rig_list_free(&list);
    assert_int_equal(rig_do(&rig, (struct visd_job){.kind = VISD_JOB_VIEW_CLOSE, .view = view}).err, VISD_ERR_OK);
    rig.views--;
    for (uint32_t i = 0; i < LIVE; i++) changes[i].bounds.flags = 0;
    rig_commit(&rig, changes, LIVE);
    free(changes);
    free(expected);
}

/* Ids come back bit for bit, in slot order. https://github.com/LTplus-AG/ifc-lite/issues/3395 */
static void wide_ids(void **state)
{
    (void)state;
    static const uint64_t ids[] = {UINT64_MAX, 0, 1, UINT32_MAX, UINT64_C(1) << 32, (UINT64_C(1) << 32) + 1, (UINT64_C(1) << 53) + 1, INT64_MAX,
                                   UINT64_C(1) << 63, UINT32_MAX - 1, 0x8000000000000001u};
    enum { COUNT = sizeof(ids) / sizeof(ids[0]) };
    struct visd_object_change changes[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) changes[i] = object_at(i, ids[i], -10);
    rig_commit(&rig, changes, COUNT);
    struct visd_camera camera = ahead();
    uint32_t view = rig_view(&rig);
    struct rig_list list = rig_frame(&rig, view, &camera, VISD_METHOD_HIZ, 0);
    assert_int_equal(list.count, COUNT);
    assert_memory_equal(list.in_order, ids, sizeof(ids));
    rig_list_free(&list);
    for (uint32_t i = 0; i < COUNT; i++) changes[i] = object_at(i, (uint32_t)ids[i] + i, -10);
    rig_commit(&rig, changes, COUNT);
    list = rig_frame(&rig, view, &camera, VISD_METHOD_HIZ, VISD_FRAME_IDS32);
    assert_int_equal(list.count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) assert_int_equal(list.in_order[i], (uint32_t)ids[i] + i);
    rig_list_free(&list);
}

/* Few are seen, then ten times more than there was ever room for: the list is whole. https://github.com/discosultan/dx12-game-programming/issues/3 */
static void many_after_few(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1023, 1024, 1025, 10240, 51200, 200000};
    struct visd_camera camera = ahead();
    uint32_t view = rig_view(&rig);
    rig_clear(&rig);
    for (size_t n = 0; n < sizeof(counts) / sizeof(counts[0]); n++) {
        uint32_t count = counts[n];
        struct visd_object_change *changes = malloc(count * sizeof(*changes));
        for (uint32_t i = 0; i < count; i++) changes[i] = object_at(i, (uint64_t)i * 3 + 7, -10);
        rig_commit(&rig, changes, count);
        struct rig_list list = rig_frame(&rig, view, &camera, VISD_METHOD_HIZ, 0);
        assert_int_equal(list.count, count);
        for (uint32_t i = 0; i < count; i++)
            if (list.in_order[i] != (uint64_t)i * 3 + 7) fail_msg("of %u: place %u holds %llu", count, i, (unsigned long long)list.in_order[i]);
        rig_list_free(&list);
        free(changes);
    }
}

/* Any pattern of seen and unseen, over any number of groups, keeps its order; and scatter puts every change where it belongs. */
static void random_patterns_against_twins(void **state)
{
    (void)state;
    struct random r = {99};
    struct twin_scene scene;
    struct visd_camera camera = ahead();
    uint32_t view = rig_view(&rig), slots = 0;
    struct visd_object_change *changes = malloc(40000 * sizeof(*changes));
    uint32_t *order = malloc(70000 * sizeof(*order));
    twin_scene_init(&scene);
    rig_clear(&rig);
    for (int round = 0; round < 24; round++) {
        uint32_t wanted = (uint32_t)random_scale(&r, 1, 60000), count = (uint32_t)random_between(&r, 0, wanted < 40000 ? wanted : 40000);
        double seen = random_between(&r, 0, 1);
        if (wanted > slots) slots = wanted;
        for (uint32_t i = 0; i < slots; i++) order[i] = i;
        for (uint32_t i = 0; i < count; i++) { /* each slot at most once, in any order */
            uint32_t j = i + (uint32_t)(random_next(&r) % (slots - i)), swap = order[i];
            order[i] = order[j];
            order[j] = swap;
            changes[i] = object_at(order[i], random_next(&r), random_chance(&r, seen) ? -10 : 10);
            if (random_chance(&r, 0.1)) changes[i].bounds.flags = 0;
        }
        rig.slots = slots;
        rig_commit(&rig, changes, count);
        twin_scatter(&scene, changes, count, slots);
        struct twin t = {0};
        twin_frame(&t, &scene, &camera, VISD_METHOD_FRUSTUM, 0, 0, 0);
        struct rig_list list = rig_frame(&rig, view, &camera, VISD_METHOD_FRUSTUM, 0);
        assert_int_equal(t.open_objects, 0);
        assert_int_equal(list.count, t.listed);
        assert_memory_equal(list.in_order, t.ids, t.listed * 8);
        assert_int_equal(rig.last.stats.tested, t.counters.tested);
        rig_list_free(&list);
        twin_finish(&t);
    }
    free(changes);
    free(order);
    twin_scene_finish(&scene);
}

/* What is staged is not there before it is applied, and then all of it is, under its revision. */
static void commits_arrive_whole(void **state)
{
    (void)state;
    struct visd_camera camera = ahead();
    uint32_t view = rig_view(&rig);
    uint64_t block;
    rig_clear(&rig);
    struct visd_object_change first = object_at(0, 1, -10);
    rig_commit(&rig, &first, 1);
    rig.slots = 3000;
    for (uint32_t slice = 0; slice < 3; slice++) {
        assert_int_equal(visd_segment_alloc(rig.segment, 1000 * sizeof(struct visd_object_change), &block), VISD_ERR_OK);
        struct visd_object_change *changes = visd_segment_at(rig.segment, block);
        for (uint32_t i = 0; i < 1000; i++) changes[i] = object_at(slice * 1000 + i, slice * 1000 + i + 1, -10);
        struct visd_job stage = {.kind = VISD_JOB_STAGE, .u.stage = {.block = block, .count = 1000}};
        assert_int_equal(rig_do(&rig, stage).err, VISD_ERR_OK);
        visd_segment_free(rig.segment, block);
        struct rig_list list = rig_frame(&rig, view, &camera, VISD_METHOD_HIZ, 0);
        assert_int_equal(list.count, 1);
        assert_int_equal(rig.last.revision, rig.revision);
        rig_list_free(&list);
    }
    struct visd_job apply = {.kind = VISD_JOB_APPLY, .u.apply = {.revision = ++rig.revision, .slots = 3000}};
    assert_int_equal(rig_do(&rig, apply).err, VISD_ERR_OK);
    struct rig_list list = rig_frame(&rig, view, &camera, VISD_METHOD_HIZ, 0);
    assert_int_equal(list.count, 3000);
    assert_int_equal(rig.last.revision, rig.revision);
    rig_list_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_ids),
        cmocka_unit_test(commits_arrive_whole),
        cmocka_unit_test(many_after_few),
        cmocka_unit_test(random_patterns_against_twins),
        cmocka_unit_test(counts_around_dispatch_limits),
        cmocka_unit_test(slots_beyond_one_axis),
        cmocka_unit_test(many_spread_beyond_one_axis),
    };
    const struct CMUnitTest few[] = {tests[0], tests[1], tests[2], tests[3]};
    if (getenv("VISD_TEST_FEW")) return cmocka_run_group_tests_name("compaction", few, setup, teardown);
    return cmocka_run_group_tests_name("compaction", tests, setup, teardown);
}
