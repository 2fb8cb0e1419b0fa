/* link: visd_segment visd_scene visd_proto */
/* The scene's refusals, each by name and with nothing changed, and the corners of what it accepts. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/scene/scene.h"

static struct visd_segment *segment;
static struct visd_scene *scene;
static struct visd_batch *batch;
static struct visd_refusal why;
static struct visd_commit_reply reply;

static const double BOX[6] = { -1, -1, -1, 1, 1, 1 };
static const double IDENTITY[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
static const float TRIANGLE[9] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 };
static const uint32_t ORDER[3] = { 0, 1, 2 };

static int start(void **state)
{
    (void)state;
    struct visd_scene_params params = { .number = 0, .name = "edges", .max_objects = 5000, .max_meshes = 100, .max_groups = 1000 };
    assert_int_equal(visd_segment_create(&segment, 0), VISD_ERR_OK);
    assert_int_equal(visd_scene_create(&scene, segment, &params, &why), VISD_ERR_OK);
    assert_int_equal(visd_batch_create(&batch, segment), VISD_ERR_OK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    assert_true(visd_scene_check(scene));
    visd_batch_destroy(batch);
    visd_scene_destroy(scene);
    assert_int_equal(visd_segment_used(segment), 0);
    visd_segment_destroy(segment);
    return 0;
}

static enum visd_err commit(void)
{
    enum visd_err err = visd_scene_commit(scene, batch, &(struct visd_commit_params){ 0 }, &reply, &why);
    visd_batch_destroy(batch);
    assert_int_equal(visd_batch_create(&batch, segment), VISD_ERR_OK);
    assert_true(visd_scene_check(scene));
    return err;
}

static enum visd_err add(uint64_t id, const double box[6], const double transform[12], uint64_t mesh, uint64_t group)
{
    struct visd_object_columns c = { .count = 1, .ids = &id, .boxes = box, .transforms = transform, .meshes = &mesh, .groups = &group };
    return visd_batch_object_add(batch, &c, &why);
}

static enum visd_err put_mesh(uint64_t id)
{
    struct visd_mesh_columns c = { .positions = TRIANGLE, .vertices = 3, .indices = ORDER, .indices_count = 3 };
    return visd_batch_mesh_put(batch, id, &c, &why);
}

static enum visd_err put_group(uint64_t id, uint64_t parent, const double transform[12])
{
    struct visd_group_columns c = { .count = 1, .groups = &id, .parents = &parent, .transforms = transform };
    return visd_batch_group_put(batch, &c, &why);
}

static struct visd_object_change change_of(uint64_t id)
{
    struct visd_object_change c;
    uint32_t slot = visd_scene_find_object(scene, id);
    assert_int_not_equal(slot, VISD_SLOT_NONE);
    visd_scene_object_change(scene, slot, &c);
    return c;
}

static void says(const char *word)
{
    if (!strstr(why.text, word))
        fail_msg("\"%s\" does not speak of \"%s\"", why.text, word);
}

static void test_all_bad_boxes_are_named(void **state)
{
    (void)state;
    enum { N = 1000 };
    static uint64_t ids[N], good_ids[N];
    static double boxes[N][6], good[N][6];
    size_t n = 0;
    for (int i = 0; i < N; i++) {
        ids[i] = (uint64_t)i;
        memcpy(boxes[i], BOX, sizeof(BOX));
    }
    boxes[17][0] = NAN;
    boxes[400][2] = 5;
    boxes[999][4] = INFINITY;
    struct visd_object_columns c = { .count = N, .ids = ids, .boxes = boxes };
    assert_int_equal(visd_batch_object_add(batch, &c, &why), VISD_ERR_BAD_VALUE);
    assert_int_equal(why.id_count, 3);
    assert_true(why.ids[0] == 17 && why.ids[1] == 400 && why.ids[2] == 999);
    says("17, 400, 999");
    for (int i = 0; i < N; i++)
        if (i != 17 && i != 400 && i != 999) {
            good_ids[n] = ids[i];
            memcpy(good[n++], boxes[i], sizeof(BOX));
        }
    c = (struct visd_object_columns){ .count = n, .ids = good_ids, .boxes = good };
    assert_int_equal(visd_batch_object_add(batch, &c, &why), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    assert_int_equal(visd_scene_objects(scene), 997);
    struct visd_scene_info info;
    visd_scene_info(scene, &info);
    assert_true(info.bounded && info.min[0] <= -1 && info.min[0] > -1.001 && info.max[2] >= 1 && info.max[2] < 1.001);
}

static void test_bad_columns(void **state)
{
    (void)state;
    uint64_t id = 4, two[2] = { 4, 4 };
    double t[12], cost = -1;
    float margin = 4096;
    uint32_t flags = 1u << 11, offsets[3] = { 0, 3, 2 };
    for (int i = 0; i < 12; i++) {
        memcpy(t, IDENTITY, sizeof(t));
        t[i] = i % 2 ? NAN : INFINITY;
        assert_int_equal(add(4, BOX, t, VISD_ID_NONE, VISD_ID_NONE), VISD_ERR_BAD_VALUE);
        says("transform");
        assert_int_equal(put_group(4, VISD_ID_NONE, t), VISD_ERR_BAD_VALUE);
        says("group 4");
    }
    struct visd_object_columns c = { .count = 1, .ids = &id, .flags = &flags };
    assert_int_equal(visd_batch_object_add(batch, &c, &why), VISD_ERR_BAD_VALUE);
    flags = VISD_OBJECT_SINGLE_SIDED | VISD_OBJECT_DOUBLE_SIDED;
    assert_int_equal(visd_batch_object_add(batch, &c, &why), VISD_ERR_BAD_VALUE);
    says("object 4");
    c = (struct visd_object_columns){ .count = 1, .ids = &id, .margins = &margin };
    assert_int_equal(visd_batch_object_add(batch, &c, &why), VISD_ERR_BAD_VALUE);
    margin = NAN;
    assert_int_equal(visd_batch_object_add(batch, &c, &why), VISD_ERR_BAD_VALUE);
    says("margin");
    c = (struct visd_object_columns){ .count = 1, .ids = &id, .costs = &cost };
    assert_int_equal(visd_batch_object_add(batch, &c, &why), VISD_ERR_BAD_VALUE);
    says("cost");
    c = (struct visd_object_columns){ .count = 2, .ids = two, .names = "abc", .name_bytes = 3, .name_offsets = offsets };
    assert_int_equal(visd_batch_object_add(batch, &c, &why), VISD_ERR_BAD_VALUE);
    says("rise");
    offsets[2] = 4;
    assert_int_equal(visd_batch_object_add(batch, &c, &why), VISD_ERR_BAD_VALUE);
    offsets[2] = 3;
    c.names = "\xff\xfe\x80";
    assert_int_equal(visd_batch_object_add(batch, &c, &why), VISD_ERR_BAD_VALUE);
    says("UTF-8");
    c = (struct visd_object_columns){ .count = 2, .ids = two };
    assert_int_equal(visd_batch_object_set(batch, &c, &why), VISD_ERR_BAD_VALUE);
    says("twice");
    assert_int_equal(visd_batch_object_remove(batch, two, 2, &why), VISD_ERR_BAD_VALUE);
    says("twice");
    c.count = 1u << 31;
    assert_int_equal(visd_batch_object_add(batch, &c, &why), VISD_ERR_TOO_BIG);
    assert_int_equal(commit(), VISD_ERR_OK); /* none of it stayed in the batch */
    assert_int_equal(visd_scene_objects(scene), 0);
}

static void test_ids(void **state)
{
    (void)state;
    static const uint64_t ids[] = { 0, 1, UINT32_MAX, (uint64_t)1 << 32, ((uint64_t)1 << 32) + 1, ((uint64_t)1 << 53) + 1, UINT64_MAX - 1, UINT64_MAX };
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(add(ids[i], BOX, NULL, VISD_ID_NONE, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    assert_true(visd_scene_ids32(scene));
    for (size_t i = 3; i < 8; i++)
        assert_int_equal(add(ids[i], BOX, NULL, VISD_ID_NONE, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(add(1, BOX, NULL, VISD_ID_NONE, VISD_ID_NONE), VISD_ERR_OK); /* exists: told at commit */
    assert_int_equal(commit(), VISD_ERR_EXISTS);
    assert_true(why.id_count == 1 && why.ids[0] == 1 && why.item == 5);
    assert_true(visd_scene_ids32(scene) && visd_scene_objects(scene) == 3 && visd_scene_revision(scene) == 1);
    for (size_t i = 3; i < 8; i++)
        assert_int_equal(add(ids[i], BOX, NULL, VISD_ID_NONE, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    assert_false(visd_scene_ids32(scene));
    for (size_t i = 0; i < 8; i++) {
        struct visd_object_change c = change_of(ids[i]);
        assert_int_equal((uint64_t)c.info.id[1] << 32 | c.info.id[0], ids[i]);
        assert_true(c.info.generation != 0);
    }
    assert_int_equal(visd_batch_object_remove(batch, &ids[4], 4, &why), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    assert_false(visd_scene_ids32(scene)); /* sticky */
    uint64_t none = 77;
    assert_int_equal(visd_batch_object_remove(batch, &none, 1, &why), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_NOT_FOUND);
    says("77");
    /* A successor in the slot is told from its predecessor. */
    uint32_t slot = visd_scene_find_object(scene, 0);
    uint32_t generation = change_of(0).info.generation;
    assert_int_equal(visd_batch_object_remove(batch, &ids[0], 1, &why), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    assert_int_equal(add(500, BOX, NULL, VISD_ID_NONE, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    assert_int_equal(visd_scene_find_object(scene, 500), slot);
    assert_true(change_of(500).info.generation > generation);
}

static void test_unbounded(void **state)
{
    (void)state;
    const double max[6] = { -DBL_MAX, -DBL_MAX, -DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX };
    const double flt[6] = { -FLT_MAX, -FLT_MAX, -FLT_MAX, FLT_MAX, FLT_MAX, FLT_MAX }, far[6] = { -1e30, -1e30, -1e30, 1e30, 1e30, 1e30 };
    assert_int_equal(put_mesh(1), VISD_ERR_OK);
    struct visd_mesh_columns empty = { .vertices = 0 };
    assert_int_equal(visd_batch_mesh_put(batch, 2, &empty, &why), VISD_ERR_OK);
    assert_int_equal(add(1, max, NULL, VISD_ID_NONE, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(add(2, flt, NULL, 1, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(add(3, far, NULL, VISD_ID_NONE, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(add(4, NULL, NULL, VISD_ID_NONE, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(add(5, NULL, NULL, 2, VISD_ID_NONE), VISD_ERR_OK); /* an empty mesh bounds nothing */
    assert_int_equal(add(6, BOX, NULL, 2, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(add(7, NULL, NULL, 1, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    for (uint64_t id = 1; id <= 7; id++) {
        struct visd_object_change c = change_of(id);
        assert_int_equal(!!(c.bounds.flags & VISD_OBJECT_UNBOUNDED), id <= 5);
        for (int k = 0; k < 3; k++)
            assert_true(isfinite(c.bounds.centre_hi[k]) && isfinite(c.bounds.row[k].half) && isfinite(c.info.local[k]));
    }
    struct visd_scene_info info;
    visd_scene_info(scene, &info);
    assert_true(info.bounded && info.min[0] >= -1.001 && info.max[0] <= 1.001);
    assert_int_equal(info.triangles, 2);
    /* Bounds become known, then unknown again. */
    uint64_t id = 4;
    uint32_t flags = VISD_OBJECT_UNBOUNDED;
    struct visd_object_columns c = { .count = 1, .ids = &id, .boxes = BOX };
    assert_int_equal(visd_batch_object_set(batch, &c, &why), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    assert_false(change_of(4).bounds.flags & VISD_OBJECT_UNBOUNDED);
    c = (struct visd_object_columns){ .count = 1, .ids = &id, .flags = &flags };
    assert_int_equal(visd_batch_object_set(batch, &c, &why), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    assert_true(change_of(4).bounds.flags & VISD_OBJECT_UNBOUNDED);
}

static void test_too_large(void **state)
{
    (void)state;
    double t[12], big[12];
    memcpy(big, IDENTITY, sizeof(big));
    big[0] = big[5] = big[10] = 1e20;
    assert_int_equal(put_group(1, VISD_ID_NONE, big), VISD_ERR_OK);
    assert_int_equal(add(1, BOX, NULL, VISD_ID_NONE, 1), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    assert_int_equal(put_group(2, 1, big), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_BAD_VALUE);
    says("group 2");
    assert_int_equal(add(2, BOX, big, VISD_ID_NONE, 1), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_BAD_VALUE);
    says("object 2");
    memcpy(t, IDENTITY, sizeof(t));
    t[3] = 9.9e29;
    const double wide[6] = { 0, 0, 0, 9e28, 1, 1 };
    assert_int_equal(add(2, wide, t, VISD_ID_NONE, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_BAD_VALUE);
    assert_int_equal(visd_scene_objects(scene), 1);
    /* moving the group takes its object out of reach: refused, and the group stays where it was */
    big[0] = 9e29;
    big[3] = 5e29;
    assert_int_equal(put_group(1, VISD_ID_NONE, big), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_BAD_VALUE);
    says("object 1");
    struct visd_group_row row;
    visd_scene_group_row(scene, visd_scene_find_group(scene, 1), &row);
    assert_true(row.transform[3] == 0);
}

static void test_mirrored_and_flat(void **state)
{
    (void)state;
    /* move(0,0,-20) * rotY(30 degrees) * scale(-1,1,1), box around (5,0,0) */
    const double c = sqrt(3) / 2, s = 0.5, box[6] = { 4.5, -0.5, -0.5, 5.5, 0.5, 0.5 };
    const double m[12] = { -c, 0, s, 0, 0, 1, 0, 0, s, 0, c, -20 }, flat[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 3 };
    const double twice[12] = { -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0 }, thrice[12] = { -1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0 };
    const double tiny[12] = { 5000, 0, 0, 2000, 0, 5000, 0, 0, 0, 0, 5000, 0 }, tiny_box[6] = { -0.001, -0.001, -0.001, 0.001, 0.001, 0.001 };
    assert_int_equal(add(1, box, m, VISD_ID_NONE, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(add(2, box, twice, VISD_ID_NONE, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(add(3, box, thrice, VISD_ID_NONE, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(add(4, box, flat, VISD_ID_NONE, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(add(5, tiny_box, tiny, VISD_ID_NONE, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    struct visd_object_change a = change_of(1);
    assert_true(fabsf(a.bounds.centre_hi[0] + 4.330127f) < 1e-5f && fabsf(a.bounds.centre_hi[2] + 17.5f) < 1e-5f);
    assert_true(a.bounds.flags & VISD_OBJECT_MIRRORED);
    assert_false(change_of(2).bounds.flags & VISD_OBJECT_MIRRORED);
    assert_true(change_of(3).bounds.flags & VISD_OBJECT_MIRRORED);
    assert_false(change_of(4).bounds.flags & VISD_OBJECT_MIRRORED);
    struct visd_object_row row;
    visd_scene_object_row(scene, visd_scene_find_object(scene, 4), &row);
    assert_true(row.min[2] == 3 && row.max[2] == 3);
    visd_scene_object_row(scene, visd_scene_find_object(scene, 5), &row);
    assert_true(row.min[0] <= 1995 && row.min[0] > 1994.9 && row.max[0] >= 2005 && row.max[0] < 2005.1);
}

static void test_meshes(void **state)
{
    (void)state;
    float nan_v[9] = { 0, 0, 0, 1, NAN, 0, 0, 1, 0 }, far_v[12] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 20, 0, 0 };
    uint32_t bad_index[3] = { 0, 1, 3 }, parts[8] = { 0, 3, 0, 0, 0, 3, 1, 0 };
    struct visd_mesh_columns c = { .positions = nan_v, .vertices = 3, .indices = ORDER, .indices_count = 3 };
    assert_int_equal(visd_batch_mesh_put(batch, 5, &c, &why), VISD_ERR_BAD_VALUE);
    says("vertex 1");
    c.positions = TRIANGLE;
    c.indices = bad_index;
    assert_int_equal(visd_batch_mesh_put(batch, 5, &c, &why), VISD_ERR_BAD_VALUE);
    says("index 3");
    c.indices = ORDER;
    c.indices_count = 2;
    assert_int_equal(visd_batch_mesh_put(batch, 5, &c, &why), VISD_ERR_BAD_VALUE);
    says("multiple of 3");
    c.indices_count = 3;
    assert_int_equal(visd_batch_mesh_put(batch, VISD_ID_NONE, &c, &why), VISD_ERR_BAD_VALUE);
    c.deviation = -1;
    assert_int_equal(visd_batch_mesh_put(batch, 5, &c, &why), VISD_ERR_BAD_VALUE);
    c.deviation = 0;
    c.parts = parts;
    c.parts_count = 2;
    assert_int_equal(visd_batch_mesh_put(batch, 5, &c, &why), VISD_ERR_BAD_VALUE);
    says("overlap");
    parts[4] = 3;
    assert_int_equal(visd_batch_mesh_put(batch, 5, &c, &why), VISD_ERR_BAD_VALUE);
    says("part 1");
    parts[4] = 0;
    parts[5] = 0;
    parts[6] = 3;
    assert_int_equal(visd_batch_mesh_put(batch, 5, &c, &why), VISD_ERR_BAD_VALUE);
    says("sides");
    c.vertices = (uint64_t)1 << 40;
    assert_int_equal(visd_batch_mesh_put(batch, 5, &c, &why), VISD_ERR_TOO_BIG);
    assert_int_equal(visd_segment_used(segment), 0);
    /* A loose vertex counts; replacing a mesh widens its users; using keeps it. */
    assert_int_equal(put_mesh(5), VISD_ERR_OK);
    assert_int_equal(add(1, NULL, NULL, 5, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(add(2, NULL, NULL, 6, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_NOT_FOUND);
    says("mesh 6");
    assert_int_equal(visd_segment_used(segment), 0);
    assert_int_equal(put_mesh(5), VISD_ERR_OK);
    assert_int_equal(add(1, NULL, NULL, 5, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    c = (struct visd_mesh_columns){ .positions = far_v, .vertices = 4, .indices = ORDER, .indices_count = 3 };
    assert_int_equal(visd_batch_mesh_put(batch, 5, &c, &why), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    struct visd_object_row row;
    visd_scene_object_row(scene, visd_scene_find_object(scene, 1), &row);
    assert_true(row.max[0] >= 20 && row.max[0] < 20.1 && row.triangles == 1);
    uint64_t mesh = 5, object = 1;
    assert_int_equal(visd_batch_mesh_remove(batch, &mesh, 1, &why), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_BUSY);
    assert_int_equal(visd_batch_object_remove(batch, &object, 1, &why), VISD_ERR_OK);
    assert_int_equal(visd_batch_mesh_remove(batch, &mesh, 1, &why), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    assert_int_equal(visd_segment_used(segment), 0);
}

static void test_groups(void **state)
{
    (void)state;
    double t[12];
    memcpy(t, IDENTITY, sizeof(t));
    assert_int_equal(put_group(VISD_ID_NONE, VISD_ID_NONE, NULL), VISD_ERR_BAD_VALUE);
    assert_int_equal(put_group(1, 2, NULL), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_NOT_FOUND);
    /* In one item parents may follow. */
    uint64_t ids[3] = { 1, 2, 3 }, parents[3] = { 2, 3, VISD_ID_NONE };
    struct visd_group_columns c = { .count = 3, .groups = ids, .parents = parents };
    assert_int_equal(visd_batch_group_put(batch, &c, &why), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    assert_int_equal(put_group(3, 1, NULL), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_BAD_VALUE);
    says("below itself");
    assert_int_equal(put_group(3, 3, NULL), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_BAD_VALUE);
    /* An empty group takes objects, then moves with them. */
    assert_int_equal(add(1, BOX, NULL, VISD_ID_NONE, 1), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    t[3] = 1000;
    struct visd_group_columns move = { .count = 1, .groups = &ids[2], .transforms = t };
    assert_int_equal(visd_batch_group_put(batch, &move, &why), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    assert_true(change_of(1).bounds.centre_hi[0] == 1000);
    uint32_t hidden = VISD_OBJECT_HIDDEN;
    struct visd_group_columns hide = { .count = 1, .groups = &ids[2], .flags = &hidden };
    assert_int_equal(visd_batch_group_put(batch, &hide, &why), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    assert_true(change_of(1).bounds.flags & VISD_OBJECT_HIDDEN);
    struct visd_scene_info info;
    visd_scene_info(scene, &info);
    assert_false(info.bounded);
    assert_int_equal(visd_batch_group_remove(batch, &ids[2], 1, &why), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_BUSY);
    says("groups below");
    assert_int_equal(visd_batch_group_remove(batch, &ids[0], 1, &why), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_BUSY);
    says("objects below");
    /* Depth: a chain to the limit, one more is refused, and so is hanging the whole chain lower. */
    for (uint64_t i = 0; i < VISD_SCENE_MAX_DEPTH; i++)
        assert_int_equal(put_group(100 + i, i ? 99 + i : VISD_ID_NONE, NULL), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    assert_int_equal(put_group(99, 100 + VISD_SCENE_MAX_DEPTH - 1, NULL), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_TOO_BIG);
    assert_int_equal(put_group(100, 3, NULL), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_TOO_BIG);
}

static void test_limits(void **state)
{
    (void)state;
    static uint64_t ids[5001];
    for (uint64_t i = 0; i <= 5000; i++)
        ids[i] = i;
    struct visd_object_columns c = { .count = 5001, .ids = ids };
    assert_int_equal(visd_batch_object_add(batch, &c, &why), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_TOO_BIG);
    says("5000 objects");
    for (uint64_t i = 0; i <= 100; i++)
        assert_int_equal(put_mesh(i), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_TOO_BIG);
    c.count = 5000;
    assert_int_equal(visd_batch_object_add(batch, &c, &why), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    struct visd_scene *other;
    struct visd_scene_params p = { .name = "" };
    assert_int_equal(visd_scene_create(&other, segment, &p, &why), VISD_ERR_BAD_VALUE);
    p.name = "\xff";
    assert_int_equal(visd_scene_create(&other, segment, &p, &why), VISD_ERR_BAD_VALUE);
    p = (struct visd_scene_params){ .name = "x", .metres_per_unit = NAN };
    assert_int_equal(visd_scene_create(&other, segment, &p, &why), VISD_ERR_BAD_VALUE);
    p = (struct visd_scene_params){ .name = "x", .number = VISD_SEGMENT_MAX_SCENES };
    assert_int_equal(visd_scene_create(&other, segment, &p, &why), VISD_ERR_TOO_BIG);
}

static enum visd_err commit_number(uint8_t who, uint64_t number, const uint64_t *if_revision)
{
    uint8_t client[16] = { who };
    struct visd_commit_params params = { .client = client, .number = number, .has_if_revision = if_revision != NULL,
        .if_revision = if_revision ? *if_revision : 0 };
    enum visd_err err = visd_scene_commit(scene, batch, &params, &reply, &why);
    visd_batch_destroy(batch);
    assert_int_equal(visd_batch_create(&batch, segment), VISD_ERR_OK);
    return err;
}

static void test_numbers(void **state)
{
    (void)state;
    uint64_t at = 0;
    assert_int_equal(commit_number(1, 2, NULL), VISD_ERR_CONFLICT);
    says("next number of this client is 1");
    assert_int_equal(commit_number(1, 1, &at), VISD_ERR_OK);
    assert_true(reply.revision == 1 && !reply.duplicate);
    assert_int_equal(commit_number(2, 1, NULL), VISD_ERR_OK);
    /* The number comes before the revision: a repeat is answered although the revision has moved on. */
    assert_int_equal(commit_number(1, 1, &at), VISD_ERR_OK);
    assert_true(reply.revision == 1 && reply.duplicate);
    assert_int_equal(commit_number(1, 2, &at), VISD_ERR_CONFLICT);
    says("revision 2");
    assert_int_equal(commit_number(1, 4, NULL), VISD_ERR_CONFLICT);
    says("is 2");
    for (uint64_t n = 2; n < 40; n++)
        assert_int_equal(commit_number(1, n, NULL), VISD_ERR_OK);
    assert_int_equal(commit_number(1, 30, NULL), VISD_ERR_OK);
    assert_true(reply.duplicate && reply.revision == 31);
    assert_int_equal(commit_number(1, 3, NULL), VISD_ERR_CONFLICT);
    assert_int_equal(visd_scene_revision(scene), 40);
    /* A refused batch does not use its number up. */
    assert_int_equal(add(1, BOX, NULL, 9, VISD_ID_NONE), VISD_ERR_OK);
    assert_int_equal(commit_number(2, 2, NULL), VISD_ERR_NOT_FOUND);
    assert_int_equal(commit_number(2, 2, NULL), VISD_ERR_OK);
    assert_false(reply.duplicate);
    assert_int_equal(commit_number(2, 2, NULL), VISD_ERR_OK);
    assert_true(reply.duplicate);
    assert_int_equal(commit_number(2, 3, NULL), VISD_ERR_OK);
    assert_false(reply.duplicate);
    struct visd_batch *b = batch;
    assert_int_equal(visd_scene_commit(scene, b, &(struct visd_commit_params){ 0 }, &reply, &why), VISD_ERR_OK);
    assert_int_equal(visd_scene_commit(scene, b, &(struct visd_commit_params){ 0 }, &reply, &why), VISD_ERR_CONFLICT);
}

static void test_names(void **state)
{
    (void)state;
    static char names[2000 * 1000];
    static uint32_t offsets[2001];
    static uint64_t ids[2000];
    struct visd_object_row row;
    memset(names, 'x', sizeof(names));
    for (uint32_t i = 0; i < 2000; i++) {
        ids[i] = i;
        offsets[i + 1] = (i + 1) * 1000;
        names[i * 1000] = (char)('a' + i % 26);
    }
    struct visd_object_columns c = { .count = 2000, .ids = ids, .names = names, .name_bytes = sizeof(names), .name_offsets = offsets };
    assert_int_equal(visd_batch_object_add(batch, &c, &why), VISD_ERR_OK);
    assert_int_equal(commit(), VISD_ERR_OK);
    struct visd_scene_info before, after;
    visd_scene_info(scene, &before);
    for (int round = 0; round < 20; round++) { /* what is replaced is not kept for ever */
        assert_int_equal(visd_batch_object_set(batch, &c, &why), VISD_ERR_OK);
        assert_int_equal(commit(), VISD_ERR_OK);
    }
    visd_scene_info(scene, &after);
    assert_true(after.bytes_host < before.bytes_host + 6 * sizeof(names));
    visd_scene_object_row(scene, visd_scene_find_object(scene, 27), &row);
    assert_true(row.name_bytes == 1000 && row.name[0] == 'b' && row.name[999] == 'x');
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
    const struct CMUnitTest tests[] = {
        TEST(test_all_bad_boxes_are_named), TEST(test_bad_columns), TEST(test_ids), TEST(test_unbounded), TEST(test_too_large),
        TEST(test_mirrored_and_flat), TEST(test_meshes), TEST(test_groups), TEST(test_limits), TEST(test_numbers), TEST(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
