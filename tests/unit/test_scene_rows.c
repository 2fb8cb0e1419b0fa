/* link: visd_scene visd_segment visd_proto */
/* Reading a scene row by row: meshes come back as they were put, whatever has become of the worker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "daemon/scene/scene.h"

static struct visd_segment *segment;
static struct visd_scene *scene;
static struct visd_batch *batch;
static struct visd_refusal why;

static int setup(void **state)
{
    (void)state;
    assert_int_equal(visd_segment_create(&segment, 1u << 30), VISD_ERR_OK);
    struct visd_scene_params params = { .number = 1, .name = "s" };
    assert_int_equal(visd_scene_create(&scene, segment, &params, &why), VISD_ERR_OK);
    assert_int_equal(visd_batch_create(&batch, segment), VISD_ERR_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    visd_batch_destroy(batch);
    visd_scene_destroy(scene);
    assert_int_equal(visd_segment_used(segment), 0);
    visd_segment_destroy(segment);
    return 0;
}

static void commit(void)
{
    struct visd_commit_params params = { .has_if_revision = false };
    struct visd_commit_reply reply;
    assert_int_equal(visd_scene_commit(scene, batch, &params, &reply, &why), VISD_ERR_OK);
    visd_batch_destroy(batch);
    assert_int_equal(visd_batch_create(&batch, segment), VISD_ERR_OK);
    assert_true(visd_scene_check(scene));
}

static const float square[4][3] = { {0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {-0.0f, 1, 0} };
static const uint32_t order[6] = { 0, 1, 2, 0, 2, 3 };
static const struct visd_mesh_part parts[2] = { { 3, 3, VISD_SIDES_DOUBLE, 1 }, { 0, 3, VISD_SIDES_SINGLE, 0 } };

static void put(uint64_t id, uint64_t vertices, uint64_t indices, uint64_t part_count, double deviation)
{
    struct visd_mesh_columns c = { .positions = square, .vertices = vertices, .indices = order, .indices_count = indices, .parts = part_count ? parts : NULL,
        .parts_count = part_count, .deviation = deviation };
    assert_int_equal(visd_batch_mesh_put(batch, id, &c, &why), VISD_ERR_OK);
}

static struct visd_mesh_row row_of(uint64_t id)
{
    struct visd_mesh_row row;
    uint32_t slot = visd_scene_find_mesh(scene, id);
    assert_int_not_equal(slot, VISD_SLOT_NONE);
    visd_scene_mesh_row(scene, slot, &row);
    assert_int_equal(row.id, id);
    return row;
}

static void is_the_square(uint64_t id, uint32_t objects)
{
    struct visd_mesh_row row = row_of(id);
    assert_int_equal(row.vertices, 4);
    assert_int_equal(row.triangles, 2);
    assert_int_equal(row.parts, 2);
    assert_int_equal(row.objects, objects);
    assert_true(row.deviation == 0.25);
    assert_memory_equal(row.positions, square, sizeof(square));
    assert_memory_equal(row.indices, order, sizeof(order));
    assert_memory_equal(row.part, parts, sizeof(parts));
}

static void hand_out_everything(uint64_t *serial)
{
    struct visd_job job;
    while (visd_scene_next_job(scene, *serial, &job)) {
        struct visd_result result = { .serial = *serial, .kind = job.kind };
        ++*serial;
        visd_scene_job_done(scene, &result);
    }
}

static void test_meshes(void **state)
{
    uint64_t ids[2] = { 5, 6 }, meshes[2] = { 7, 7 }, serial = 1;
    (void)state;
    assert_int_equal(visd_scene_next_mesh(scene, 0), VISD_SLOT_NONE);
    put(7, 4, 6, 2, 0.25);
    put(0, 3, 3, 0, 0.1);
    put(UINT64_MAX - 1, 0, 0, 0, 0);
    struct visd_object_columns c = { .count = 2, .ids = ids, .meshes = meshes };
    assert_int_equal(visd_batch_object_add(batch, &c, &why), VISD_ERR_OK);
    commit();

    is_the_square(7, 2);
    struct visd_mesh_row plain = row_of(0), empty = row_of(UINT64_MAX - 1);
    assert_int_equal(plain.objects, 0);
    assert_int_equal(plain.parts, 1);
    assert_true(plain.part->first == 0 && plain.part->count == 3 && plain.part->sides == VISD_SIDES_UNKNOWN);
    assert_true(plain.deviation >= 0.1 && plain.deviation == (double)(float)plain.deviation);
    assert_true(empty.vertices == 0 && empty.triangles == 0);

    uint32_t slots = 0;
    for (uint32_t s = visd_scene_next_mesh(scene, 0); s != VISD_SLOT_NONE; s = visd_scene_next_mesh(scene, s + 1)) slots++;
    assert_int_equal(slots, 3);
    assert_int_equal(visd_scene_find_mesh(scene, 99), VISD_SLOT_NONE);

    /* The worker has read it all, and is lost: what the next one is given is still there to be read. */
    hand_out_everything(&serial);
    is_the_square(7, 2);
    visd_scene_reload(scene);
    is_the_square(7, 2);
    hand_out_everything(&serial);

    /* Another in its place; one removed. */
    put(7, 3, 3, 0, 0);
    uint64_t gone = 0;
    assert_int_equal(visd_batch_mesh_remove(batch, &gone, 1, &why), VISD_ERR_OK);
    commit();
    assert_int_equal(row_of(7).vertices, 3);
    assert_int_equal(row_of(7).objects, 2);
    assert_int_equal(visd_scene_find_mesh(scene, 0), VISD_SLOT_NONE);
    hand_out_everything(&serial);
}

static struct visd_object_row object_of(uint64_t id)
{
    struct visd_object_row row;
    visd_scene_object_row(scene, visd_scene_find_object(scene, id), &row);
    return row;
}

/* What was given is told from what is made up, though both read alike. */
static void test_given(void **state)
{
    enum { N = 3 };
    uint64_t ids[N] = { 1, 2, 3 }, meshes[N] = { 7, 7, VISD_ID_NONE };
    uint32_t draw[5] = { 0 }, flags = VISD_OBJECT_UNBOUNDED;
    double box[6] = { 0, 0, 0, 0.5, 0.5, 0 }, cost = 2;
    (void)state;
    put(7, 4, 6, 2, 0.25);
    struct visd_object_columns c = { .count = N, .ids = ids, .meshes = meshes };
    assert_int_equal(visd_batch_object_add(batch, &c, &why), VISD_ERR_OK);
    c = (struct visd_object_columns){ .count = 1, .ids = &ids[1], .boxes = box, .costs = &cost, .draws = draw, .flags = &flags };
    assert_int_equal(visd_batch_object_set(batch, &c, &why), VISD_ERR_OK);
    commit();
    struct visd_object_row made = object_of(1), gave = object_of(2), nothing = object_of(3);
    assert_memory_equal(made.box, gave.box, sizeof(made.box)); /* the mesh's, which holds the one that was given */
    assert_true(made.cost == gave.cost);
    assert_true(!made.gave_box && !made.gave_cost && !made.has_draw && !made.gave_unbounded);
    assert_true(gave.gave_box && gave.gave_cost && gave.has_draw && gave.gave_unbounded);
    assert_true(nothing.flags & VISD_OBJECT_UNBOUNDED);
    assert_false(nothing.gave_unbounded);
    box[0] = -2e30;
    assert_int_equal(visd_batch_object_set(batch, &(struct visd_object_columns){ .count = 1, .ids = ids, .boxes = box }, &why), VISD_ERR_OK);
    commit();
    assert_true(object_of(1).gave_box && !object_of(1).gave_unbounded && object_of(1).flags & VISD_OBJECT_UNBOUNDED);
}

/* A zero inside a name would end it early for everyone who keeps names as C strings. */
static void test_names_without_zeros(void **state)
{
    uint64_t id = 1;
    uint32_t offsets[2] = { 0, 3 };
    (void)state;
    struct visd_group_columns c = { .count = 1, .groups = &id, .names = "a\0b", .name_bytes = 3, .name_offsets = offsets };
    assert_int_equal(visd_batch_group_put(batch, &c, &why), VISD_ERR_BAD_VALUE);
    assert_non_null(strstr(why.text, "the name of id 1"));
    c.names = "a/b";
    assert_int_equal(visd_batch_group_put(batch, &c, &why), VISD_ERR_OK);
    commit();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_meshes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_given, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names_without_zeros, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
