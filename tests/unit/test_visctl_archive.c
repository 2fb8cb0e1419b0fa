/* link: visd_visctl visd_proto */
/* Exported scenes: what is written is read to the bit, glTF readers see it too, and a file that is not whole is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "client/visctl/archive/archive.h"
#include "client/visctl/import/gltf.h"
#include "client/visctl/model/digest.h"
#include "client/visctl/model/file.h"

enum { HEAD = 56, MESH = 40, GROUP = 128, OBJECT = 224 };

static char path[64];
static struct visd_why why;

static const float corners[4][3] = {{0, 0, -0.0f}, {1, 0, 0}, {1, 1, 0.1f}, {0, 1, 0}};
static const uint32_t order[2][3] = {{0, 1, 2}, {0, 2, 3}};
static const struct visd_client_part parts[2] = {{3, 3, VISD_SIDES_TWO, 0}, {0, 3, VISD_SIDES_AS_OBJECT, 1}}, nothing = {0, 0, VISD_SIDES_ONE, 1};
static const struct visd_client_mesh meshes[3] = {
    {.id = UINT64_MAX - 1, .vertices = 4, .triangles = 2, .positions = corners[0], .indices = order[0], .parts = 2, .part = parts, .deviation = 0.1f},
    {.id = 0, .vertices = 3, .triangles = 1, .positions = corners[0], .indices = order[0], .parts = 1, .part = &nothing},
    {.id = 5, .part = &nothing}, /* empty */
};

/* Groups: a child before its parent. */
static const uint64_t group_ids[2] = {7, 1ull << 63}, parents[2] = {1ull << 63, VISD_NO_ID};
static const uint32_t group_flags[2] = {0, VISD_FLAG_XRAY};
static double group_transforms[24];
static const uint32_t group_offsets[3] = {0, 4, 7};

enum { OBJECTS = 4 };
static const uint64_t ids[OBJECTS] = {UINT64_MAX, 3, 0, 1ull << 40}, object_meshes[OBJECTS] = {UINT64_MAX - 1, UINT64_MAX - 1, VISD_NO_ID, VISD_NO_ID};
static const uint64_t groups[OBJECTS] = {7, VISD_NO_ID, 1ull << 63, VISD_NO_ID};
static const uint32_t flags[OBJECTS] = {VISD_FLAG_SINGLE_SIDED, VISD_FLAG_HIDDEN | VISD_FLAG_PINNED, 0, VISD_FLAG_UNBOUNDED};
static const uint32_t layers[OBJECTS] = {1, UINT32_MAX, 0, 2}, keys[OBJECTS] = {0, 9, 0, UINT32_MAX}, offsets[OBJECTS + 1] = {0, 5, 5, 9, 9};
static const float margins[OBJECTS] = {0, 0.1f, 4095, 0};
static const double costs[OBJECTS] = {2, 17.25, 0, 1};
static const uint32_t given[OBJECTS] = {0, VISD_GIVEN_BOX | VISD_GIVEN_COST | VISD_GIVEN_DRAW, VISD_GIVEN_BOX, VISD_GIVEN_COST};
static const uint32_t draws[OBJECTS][5] = {{0}, {1, 2, 3, 4, UINT32_MAX}};
static double transforms[OBJECTS * 12], boxes[OBJECTS * 6];

static struct visd_client_page group_page(void)
{
    return (struct visd_client_page){.count = 2, .ids = group_ids, .parents = parents, .flags = group_flags, .transforms = group_transforms,
        .names = "a/\xc3\xa4top", .name_offsets = group_offsets};
}

static struct visd_client_page object_page(void)
{
    return (struct visd_client_page){.count = OBJECTS, .ids = ids, .meshes = object_meshes, .groups = groups, .flags = flags, .layers = layers,
        .batch_keys = keys, .margins = margins, .costs = costs, .draws = draws[0], .given = given, .transforms = transforms, .boxes = boxes,
        .names = "a/b/c\"\\\n.", .name_offsets = offsets};
}

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < OBJECTS * 12; i++) transforms[i] = 1e7 + i / 3.0;
    for (int i = 0; i < 24; i++) group_transforms[i] = i % 5 ? 0 : 1 - i / 3e9;
    for (int k = 0; k < 6; k++) {
        double own[6] = {0, 0, -0.0, 1, 1, (double)0.1f};
        boxes[k] = own[k];              /* the mesh's: was not given */
        boxes[6 + k] = own[k] * 2;      /* larger: was */
        boxes[12 + k] = k < 3 ? -3 : 3; /* without a mesh */
        boxes[18 + k] = k < 3 ? -INFINITY : INFINITY;
    }
    snprintf(path, sizeof(path), "/tmp/visd-archive-%d.glb", (int)getpid());
    return 0;
}

static void write_it(const char *to)
{
    struct visd_archive_writer *w;
    struct visd_client_page g = group_page(), o = object_page();
    assert_int_equal(visd_archive_create(&w, to, 0.001, &why), VISD_ERR_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(visd_archive_put_mesh(w, &meshes[i], &why), VISD_ERR_OK);
    assert_int_equal(visd_archive_put_groups(w, &g, &why), VISD_ERR_OK);
    assert_int_equal(visd_archive_put_objects(w, &o, &why), VISD_ERR_OK);
    if (visd_archive_finish(w, &why) != VISD_ERR_OK) fail_msg("%s", why.text);
    visd_archive_destroy(w);
}

static void test_round_trip(void **state)
{
    static const char *const names[OBJECTS] = {"a/b/c", "", "\"\\\n.", ""};
    struct visd_archive a;
    struct visd_archive_row row;
    struct visd_client_mesh mesh;
    (void)state;
    write_it(path);
    if (visd_archive_open(&a, path, &why) != VISD_ERR_OK) fail_msg("%s", why.text);
    assert_true(a.metres_per_unit == 0.001 && a.meshes == 3 && a.groups == 2 && a.objects == OBJECTS);
    for (uint64_t i = 0; i < 3; i++) {
        visd_archive_mesh(&a, i, &mesh);
        assert_true(mesh.id == meshes[i].id && mesh.vertices == meshes[i].vertices && mesh.triangles == meshes[i].triangles);
        assert_true(mesh.deviation == meshes[i].deviation);
        if (mesh.vertices) assert_memory_equal(mesh.positions, meshes[i].positions, mesh.vertices * 12);
        if (mesh.triangles) assert_memory_equal(mesh.indices, meshes[i].indices, mesh.triangles * 12);
        assert_int_equal(mesh.parts, meshes[i].parts);
        assert_non_null(mesh.part); /* without parts is not "all of it one part" */
        assert_memory_equal(mesh.part, meshes[i].part, mesh.parts * sizeof(*mesh.part));
    }
    for (uint64_t i = 0; i < 2; i++) {
        visd_archive_group(&a, i, &row);
        assert_true(row.id == group_ids[i] && row.group == parents[i] && row.flags == group_flags[i]);
        assert_memory_equal(row.transform, group_transforms + i * 12, 96);
        assert_string_equal(row.name, i ? "top" : "a/\xc3\xa4");
    }
    for (uint64_t i = 0; i < OBJECTS; i++) {
        visd_archive_object(&a, i, &row);
        assert_true(row.id == ids[i] && row.mesh == object_meshes[i] && row.group == groups[i]);
        assert_int_equal(row.flags, flags[i] & ~(uint32_t)VISD_FLAG_UNBOUNDED); /* concluded, not given */
        assert_true(row.layers == layers[i] && row.batch_key == keys[i] && row.margin == margins[i]);
        assert_memory_equal(row.transform, transforms + i * 12, 96);
        assert_string_equal(row.name, names[i]);
        assert_int_equal(row.given, given[i]);
        if (row.given & VISD_GIVEN_BOX) assert_memory_equal(row.box, boxes + i * 6, 48);
        if (row.given & VISD_GIVEN_COST) assert_true(row.cost == costs[i]);
        if (row.given & VISD_GIVEN_DRAW) assert_memory_equal(row.draw, draws[i], 20);
    }
    visd_archive_close(&a);
    visd_archive_close(&a);
    unlink(path);
}

/* Readers of glTF get what glTF can say. */
static void test_as_gltf(void **state)
{
    struct visd_model model;
    (void)state;
    write_it(path);
    visd_model_init(&model);
    if (visd_gltf_read(&model, path, NULL, &why) != VISD_ERR_OK) fail_msg("%s", why.text);
    assert_int_equal(model.object_count, 2); /* the hidden one and the unbounded one without a box have nothing to show */
    const struct visd_model_object *box = &model.objects[1], *meshed = &model.objects[0];
    if (meshed->mesh == VISD_MODEL_NONE) meshed = box, box = &model.objects[0];
    assert_int_equal(box->mesh, VISD_MODEL_NONE); /* wires hide nothing */
    assert_true(box->max[0] == 1 && box->transform[0] == transforms[24] * 6);
    assert_int_equal(meshed->flags, VISD_MODEL_SEE_THROUGH); /* x-rayed by a group */
    assert_memory_equal(meshed->transform, transforms, 96);
    const struct visd_model_mesh *mesh = &model.meshes[meshed->mesh];
    assert_int_equal(mesh->index_count, 6);
    assert_true(mesh->parts[0].sides == VISD_MODEL_SIDES_DOUBLE && mesh->parts[1].sides == VISD_MODEL_SIDES_SINGLE);
    assert_true(mesh->parts[0].see_through && mesh->parts[1].see_through);
    visd_model_finish(&model);
    unlink(path);
}

static unsigned char *read_back(size_t *size)
{
    unsigned char *bytes;
    assert_int_equal(visd_file_read(path, 1 << 20, &bytes, size, &why), VISD_ERR_OK);
    return bytes;
}

static enum visd_err open_copy(struct visd_archive *a, const unsigned char *bytes, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    why.text[0] = 0;
    enum visd_err err = visd_archive_open_memory(a, copy, size, "x.glb", &why);
    assert_true(err == VISD_ERR_OK || (why.text[0] && !a->file));
    return err;
}

static void put_digest(unsigned char *bytes, size_t size)
{
    struct visd_byte_digest digest = {0};
    visd_byte_digest_add(&digest, bytes, size - 8);
    uint64_t sum = visd_byte_digest_end(&digest);
    memcpy(bytes + size - 8, &sum, 8);
}

/* Every prefix of a file, and every byte of it changed. */
static void test_not_whole(void **state)
{
    struct visd_archive a;
    size_t size;
    (void)state;
    write_it(path);
    unsigned char *bytes = read_back(&size);
    assert_int_equal(open_copy(&a, bytes, size), VISD_ERR_OK);
    visd_archive_close(&a);
    for (size_t n = 0; n < size; n++) assert_int_not_equal(open_copy(&a, bytes, n), VISD_ERR_OK);
    assert_int_equal(open_copy(&a, bytes, size - 1), VISD_ERR_BAD_VALUE);
    assert_non_null(strstr(why.text, "truncated"));
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit += 7) {
            bytes[i] ^= (unsigned char)(1 << bit);
            assert_int_not_equal(open_copy(&a, bytes, size), VISD_ERR_OK);
            bytes[i] ^= (unsigned char)(1 << bit);
        }
    free(bytes);
    unlink(path);
}

/* Where in the file its own chunk begins. */
static unsigned char *own_chunk(unsigned char *bytes, size_t size)
{
    for (size_t at = size - 8; at-- > 8;)
        if (memcmp(bytes + at, "visdscn", 8) == 0) return bytes + at;
    fail();
    return NULL;
}

/* A file that is whole by its digest, and lies. */
static void test_lies(void **state)
{
    static const struct {
        size_t at;
        uint32_t value;
        enum visd_err err;
        const char *says;
    } lies[] = {
        {8, 2, VISD_ERR_NOT_SUPPORTED, "version 2"},
        {16, 0xffffffff, VISD_ERR_OK, NULL}, /* the unit's low half: another length, but one */
        {20, 0x7ff00000, VISD_ERR_BAD_VALUE, "unit"},
        {24, 4, VISD_ERR_BAD_VALUE, "counts"},
        {28, 0xffffffff, VISD_ERR_BAD_VALUE, "counts"},
        {36, 0x10000000, VISD_ERR_BAD_VALUE, "counts"},
        {40, 3, VISD_ERR_BAD_VALUE, "counts"},
        {48, 0, VISD_ERR_BAD_VALUE, "counts"},
        {HEAD + 8, 2, VISD_ERR_BAD_VALUE, "a mesh"},
        {HEAD + 8, 4096, VISD_ERR_BAD_VALUE, "a mesh"},
        {HEAD + 16, 0xffffffff, VISD_ERR_BAD_VALUE, "a mesh"},
        {HEAD + 24, 0xffffffff, VISD_ERR_BAD_VALUE, "a mesh"},
        {HEAD + 3 * MESH + 116, 4096, VISD_ERR_BAD_VALUE, "group"},
        {HEAD + 3 * MESH + 120, 0xffffffff, VISD_ERR_BAD_VALUE, "group"},
        {HEAD + 3 * MESH + 2 * GROUP + 216, 4, VISD_ERR_BAD_VALUE, "object"},
        {HEAD + 3 * MESH + 2 * GROUP + 212, 0xffffffff, VISD_ERR_BAD_VALUE, "object"},
    };
    struct visd_archive a;
    size_t size;
    (void)state;
    write_it(path);
    unsigned char *bytes = read_back(&size), *own = own_chunk(bytes, size);
    for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
        uint32_t truth;
        memcpy(&truth, own + lies[i].at, 4);
        memcpy(own + lies[i].at, &lies[i].value, 4);
        put_digest(bytes, size);
        enum visd_err err = open_copy(&a, bytes, size);
        if (err != lies[i].err || (lies[i].says && !strstr(why.text, lies[i].says)))
            fail_msg("lie %zu: error %d \"%s\"", i, (int)err, why.text);
        visd_archive_close(&a);
        memcpy(own + lies[i].at, &truth, 4);
    }
    free(bytes);
    unlink(path);
}

static void test_writing_refused(void **state)
{
    struct visd_archive_writer *w;
    struct visd_client_page o = object_page(), g = group_page();
    (void)state;
    assert_int_equal(visd_archive_create(&w, "/dev/null", 1, &why), VISD_ERR_IO);
    assert_null(w);
    assert_int_equal(visd_archive_create(&w, "/nowhere/x.glb", 1, &why), VISD_ERR_IO);
    assert_int_equal(visd_archive_create(&w, path, 1, &why), VISD_ERR_OK);
    assert_int_equal(visd_archive_put_groups(w, &g, &why), VISD_ERR_OK);
    assert_int_equal(visd_archive_put_objects(w, &o, &why), VISD_ERR_BAD_VALUE);
    assert_non_null(strstr(why.text, "mesh 18446744073709551614"));
    visd_archive_destroy(w);
    visd_archive_destroy(NULL);
    assert_int_equal(access(path, F_OK), -1); /* not finished: not there */
    assert_int_equal(visd_archive_create(&w, path, 1, &why), VISD_ERR_OK);
    g.count = 1;
    assert_int_equal(visd_archive_put_groups(w, &g, &why), VISD_ERR_OK);
    assert_int_equal(visd_archive_finish(w, &why), VISD_ERR_BAD_VALUE);
    visd_archive_destroy(w);
    assert_int_equal(access(path, F_OK), -1);

    struct visd_archive a; /* a scene with nothing in it */
    assert_int_equal(visd_archive_create(&w, path, 1, &why), VISD_ERR_OK);
    assert_int_equal(visd_archive_finish(w, &why), VISD_ERR_OK);
    visd_archive_destroy(w);
    assert_int_equal(visd_archive_open(&a, path, &why), VISD_ERR_OK);
    assert_true(a.meshes == 0 && a.groups == 0 && a.objects == 0);
    visd_archive_close(&a);
    unlink(path);
    assert_int_equal(visd_archive_open(&a, path, &why), VISD_ERR_IO);
    assert_int_equal(visd_archive_open(&a, "/dev/zero", &why), VISD_ERR_IO);
}

/* Pieces of any size give the sum of the whole. */
static void test_digest(void **state)
{
    unsigned char bytes[100];
    struct visd_byte_digest whole = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++) bytes[i] = (unsigned char)(i * 37);
    visd_byte_digest_add(&whole, bytes, sizeof(bytes));
    for (size_t piece = 1; piece < 20; piece++) {
        struct visd_byte_digest d = {0};
        for (size_t at = 0; at < sizeof(bytes); at += piece) visd_byte_digest_add(&d, bytes + at, sizeof(bytes) - at < piece ? sizeof(bytes) - at : piece);
        assert_true(visd_byte_digest_end(&d) == visd_byte_digest_end(&whole));
    }
    struct visd_byte_digest one = {0}, two = {0};
    visd_byte_digest_add(&one, "\0", 1);
    visd_byte_digest_add(&two, "\0\0", 2);
    assert_true(visd_byte_digest_end(&one) != visd_byte_digest_end(&two));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_as_gltf), cmocka_unit_test(test_not_whole),
        cmocka_unit_test(test_lies), cmocka_unit_test(test_writing_refused), cmocka_unit_test(test_digest),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
