/* link: visd_visctl */
/* Generated scenes: solid shapes are closed and wound outwards, scenes are repeatable, and a GLB file gives the same scene back. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "client/visctl/export/glb.h"
#include "client/visctl/generate/furniture.h"
#include "client/visctl/generate/generate.h"
#include "client/visctl/import/gltf.h"
#include "client/visctl/model/transform.h"

static double volume(const struct visd_model_mesh *mesh)
{
    double sum = 0;
    for (uint32_t i = 0; i < mesh->index_count; i += 3) {
        const float *a = mesh->positions + mesh->indices[i] * 3, *b = mesh->positions + mesh->indices[i + 1] * 3, *c = mesh->positions + mesh->indices[i + 2] * 3;
        sum += a[0] * ((double)b[1] * c[2] - (double)b[2] * c[1]) - a[1] * ((double)b[0] * c[2] - (double)b[2] * c[0]) + a[2] * ((double)b[0] * c[1] - (double)b[1] * c[0]);
    }
    return sum / 6;
}

static void test_shapes(void **state)
{
    (void)state;
    const double pi = acos(-1), exact[4] = {6, 6, 4 * pi / 3 * 6, pi * 6}, low[4] = {6, 5.8, 24.5, 18.5};
    for (int kind = 0; kind < 4; kind++) {
        struct visd_shape s = {0};
        struct visd_model_mesh mesh;
        struct visd_why why;
        if (kind == 0) visd_shape_box(&s, 0, 0, 0, 1, 2, 3);
        if (kind == 1) visd_shape_soft_box(&s, 0, 0, 0, 1, 2, 3, 0.1f);
        if (kind == 2) visd_shape_ball(&s, 5, 5, 5, 1, 2, 3, 40, 60);
        if (kind == 3) visd_shape_bar(&s, (const float[3]){1, 2, 3}, (const float[3]){3, 4, 2.0f + 6}, 1.02f, 60);
        assert_int_equal(visd_shape_take(&s, &mesh, &why), VISD_ERR_OK);
        assert_true(visd_model_mesh_check(&mesh));
        if (kind < 3) assert_true(volume(&mesh) <= exact[kind] + 1e-5 && volume(&mesh) >= low[kind]);
        else assert_true(fabs(volume(&mesh) - pi * 1.02 * 1.02 * sqrt(4 + 4 + 25)) < 0.3);
        visd_model_mesh_free(&mesh);
    }
}

static void test_furniture(void **state)
{
    (void)state;
    for (int piece = 0; piece < VISD_FURNITURE_COUNT; piece++) {
        struct visd_model_mesh mesh;
        struct visd_why why;
        assert_int_equal(visd_furniture_build((enum visd_furniture)piece, &mesh, &why), VISD_ERR_OK);
        assert_true(visd_model_mesh_check(&mesh));
        assert_in_range(mesh.index_count / 3, 200, 5000);
        assert_true(mesh.min[1] > -0.01f);
        visd_model_mesh_free(&mesh);
    }
}

static struct visd_model generated(const char *kind, uint64_t objects, uint64_t seed)
{
    struct visd_model model;
    struct visd_why why = {{0}};
    visd_model_init(&model);
    if (visd_generate(&(struct visd_generate_params){.kind = kind, .seed = seed, .objects = objects}, &model.sink, &why) != VISD_ERR_OK) fail_msg("%s", why.text);
    return model;
}

static void assert_same_objects(const struct visd_model *a, const struct visd_model *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        double x[12], y[12];
        const struct visd_model_object *p = &a->objects[i], *q = &b->objects[i];
        visd_model_group_world(a, p->group, x);
        visd_model_group_world(b, q->group, y);
        visd_transform_compose(x, x, p->transform);
        visd_transform_compose(y, y, q->transform);
        if (p->id != q->id || memcmp(x, y, sizeof(x)) != 0 || strcmp(p->path, q->path) != 0 || p->flags != q->flags) fail_msg("object %u: %s, %s", i, p->path, q->path);
        assert_int_equal(a->meshes[p->mesh].index_count, b->meshes[q->mesh].index_count);
        assert_memory_equal(a->meshes[p->mesh].min, b->meshes[q->mesh].min, sizeof(float) * 3);
    }
}

static void test_repeatable(void **state)
{
    (void)state;
    const struct { const char *kind; uint64_t few, many; } rows[] = {{"office", 5000, 9000}, {"city", 100, 202}, {"mall", 60, 97}, {"random", 1000, 2000}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct visd_model a = generated(rows[i].kind, rows[i].few, 7), b = generated(rows[i].kind, rows[i].many, 7);
        assert_int_equal(a.object_count, rows[i].few);
        assert_int_equal(b.object_count, rows[i].many);
        /* Only the last piece is cut off, and being sorted by mesh it may name its last run differently. */
        for (uint32_t k = 0; k + 1 < a.object_count; k++) assert_memory_equal(a.objects[k].transform, b.objects[k].transform, sizeof(a.objects[k].transform));
        visd_model_finish(&a);
        visd_model_finish(&b);
    }
}

static void test_office(void **state)
{
    (void)state;
    struct visd_model m = generated("office", 0, 1);
    assert_in_range(m.object_count, 38000, 42000);
    assert_in_range(m.mesh_count, 20, 64);
    visd_model_finish(&m);
}

static void test_there_and_back(void **state)
{
    (void)state;
    const struct { const char *kind; uint64_t objects; } rows[] = {{"office", 3000}, {"city", 0}, {"mall", 0}, {"random", 1500}, {"grid", 500}, {"curtain", 500}};
    char path[] = "/tmp/visctl-glb-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct visd_model a = generated(rows[i].kind, rows[i].objects, 3), b;
        struct visd_sink *sink;
        struct visd_why why = {{0}};
        struct visd_generate_params params = {.kind = rows[i].kind, .seed = 3, .objects = rows[i].objects};
        assert_int_equal(visd_glb_create(&sink, path, &why), VISD_ERR_OK);
        assert_int_equal(visd_generate(&params, sink, &why), VISD_ERR_OK);
        visd_glb_destroy(sink);
        visd_model_init(&b);
        if (visd_gltf_read(&b, path, NULL, &why) != VISD_ERR_OK) fail_msg("%s", why.text);
        assert_int_equal(a.object_count, b.object_count);
        assert_same_objects(&a, &b, a.object_count);

        /* A model that was read says the same again. */
        assert_int_equal(visd_glb_create(&sink, path, &why), VISD_ERR_OK);
        assert_int_equal(visd_model_send(&b, sink, 0, NULL, NULL, &why), VISD_ERR_OK);
        visd_glb_destroy(sink);
        visd_model_finish(&b);
        assert_int_equal(visd_gltf_read(&b, path, NULL, &why), VISD_ERR_OK);
        assert_int_equal(a.object_count, b.object_count);
        assert_same_objects(&a, &b, a.object_count);
        visd_model_finish(&a);
        visd_model_finish(&b);
    }
    unlink(path);
}

static void test_unfinished_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/visctl-part-XXXXXX", path[64];
    struct visd_sink *sink;
    struct visd_why why = {{0}};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/x.glb", folder);
    assert_int_equal(visd_glb_create(&sink, path, &why), VISD_ERR_OK);
    struct visd_model_object object = {.mesh = VISD_MODEL_NONE, .group = VISD_MODEL_NONE, .path = ""};
    assert_int_equal(sink->ops->object(sink, &object, &why), VISD_ERR_NOT_SUPPORTED);
    visd_glb_destroy(sink);
    assert_int_equal(rmdir(folder), 0); /* nothing was left in it */
    assert_int_equal(visd_glb_create(&sink, "/nowhere/x.glb", &why), VISD_ERR_IO);
    assert_null(sink);
}

/* No room for a while, and then there is some again: what was lost meanwhile is noticed at the end at the latest. */
static void test_no_room(void **state)
{
    (void)state;
    float corners[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    uint32_t order[3] = {0, 1, 2};
    struct visd_model_part part = {0, 3, VISD_MODEL_SIDES_SINGLE, 0};
    struct visd_model_mesh mesh = {.positions = corners, .indices = order, .parts = &part, .vertices = 3, .index_count = 3, .part_count = 1};
    char folder[] = "/tmp/visctl-room-XXXXXX", path[64];
    struct visd_sink *sink;
    struct visd_why why = {{0}};
    struct rlimit before, tight;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/x.glb", folder);
    assert_int_equal(visd_glb_create(&sink, path, &why), VISD_ERR_OK);
    visd_model_mesh_box(&mesh);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    tight = before;
    tight.rlim_cur = 0;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    for (int i = 0; i < 60; i++) sink->ops->mesh(sink, &mesh, &why); /* more of them described than fits a buffer, but less data */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(sink->ops->finish(sink, &why), VISD_ERR_IO);
    visd_glb_destroy(sink);
    assert_int_equal(rmdir(folder), 0); /* nothing was left in it */
}

static void test_refusals(void **state)
{
    (void)state;
    const struct { const char *kind; uint64_t objects; enum visd_err err; } rows[] = {
        {"castle", 0, VISD_ERR_NOT_FOUND}, {"mall", 3, VISD_ERR_BAD_VALUE}, {"office", 1ull << 40, VISD_ERR_BAD_VALUE}};
    for (size_t i = 0; i < 3; i++) {
        struct visd_model m;
        struct visd_why why;
        struct visd_client_camera *cameras;
        size_t count = 3;
        struct visd_generate_params params = {.kind = rows[i].kind, .objects = rows[i].objects};
        visd_model_init(&m);
        assert_int_equal(visd_generate(&params, &m.sink, &why), rows[i].err);
        assert_int_equal(m.object_count, 0);
        assert_int_equal(visd_generate_cameras(&params, 64, 64, &count, &cameras, &why), rows[i].err);
        assert_null(cameras);
    }
}

static void test_cameras(void **state)
{
    (void)state;
    for (const struct visd_generate_kind *kind = visd_generate_kinds(); kind->name; kind++) {
        struct visd_client_camera *cameras;
        struct visd_why why;
        size_t count = 0;
        assert_int_equal(visd_generate_cameras(&(struct visd_generate_params){.kind = kind->name}, 640, 360, &count, &cameras, &why), VISD_ERR_OK);
        assert_int_equal(count, 300);
        for (size_t i = 0; i < count; i++)
            for (int k = 0; k < 16; k++) assert_true(isfinite(cameras[i].view[k]) && isfinite(cameras[i].proj[k]));
        free(cameras);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),         cmocka_unit_test(test_furniture),       cmocka_unit_test(test_repeatable), cmocka_unit_test(test_office),
        cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_unfinished_file), cmocka_unit_test(test_no_room),    cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_cameras),
    };
    return cmocka_run_group_tests_name("visctl generate", tests, NULL, NULL);
}
