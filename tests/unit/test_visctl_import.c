/* link: visd_visctl visd_importer visd_proto */
/* What visctl makes of the importer's stream, and how the importer cuts polygons. What is wrong is refused by name, with nothing left behind. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/importer/polygon.h"
#include "client/importer/stream.h"
#include "client/visctl/import/foreign.h"
#include "client/visctl/import/stream_read.h"
#include "client/visctl/model/path.h"

/* ---- a stream, put together ---- */

struct stream {
    unsigned char bytes[16384];
    size_t used, read;
};

static void put(struct stream *s, const void *bytes, size_t size)
{
    assert_true(size <= sizeof(s->bytes) - s->used);
    if (size) memcpy(s->bytes + s->used, bytes, size);
    s->used += size;
}

static void put_record(struct stream *s, uint32_t tag, const void *head, size_t head_bytes, const char *text)
{
    struct visd_stream_record record = {.tag = tag, .bytes = head_bytes + strlen(text)};
    put(s, &record, sizeof(record));
    put(s, head, head_bytes);
    put(s, text, strlen(text));
}

static void put_mesh(struct stream *s, uint32_t last_index)
{
    struct {
        struct visd_stream_mesh head;
        float positions[9];
        uint32_t indices[3];
        struct visd_model_part part;
    } mesh = {{3, 3, 1, 0}, {0, 0, 0, 2, 0, 0, 0, 3, 0}, {0, 1, last_index}, {0, 3, 0, 0}};
    struct visd_stream_record record = {.tag = VISD_STREAM_MESH, .bytes = sizeof(mesh)};
    put(s, &record, sizeof(record));
    put(s, &mesh, sizeof(mesh));
}

static const struct visd_stream_object plain_object = {.group = VISD_STREAM_NONE, .transform = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
static const struct visd_stream_group plain_group = {.parent = VISD_STREAM_NONE, .transform = {1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0}};

static void put_end(struct stream *s, uint32_t meshes, uint32_t groups, uint32_t objects, uint64_t triangles)
{
    struct visd_stream_end end = {meshes, groups, objects, 0, triangles};
    put_record(s, VISD_STREAM_END, &end, sizeof(end), "");
}

static void begin(struct stream *s)
{
    memset(s, 0, sizeof(*s));
    put(s, VISD_STREAM_MAGIC, 8);
}

static size_t read_stream(void *context, void *to, size_t size)
{
    struct stream *s = context;
    size_t n = size < s->used - s->read ? size : s->used - s->read;
    if (n) memcpy(to, s->bytes + s->read, n);
    s->read += n;
    return n;
}

static enum visd_err read_all(struct stream *s, struct visd_model *model, bool *told, struct visd_why *why)
{
    s->read = 0;
    visd_model_init(model);
    return visd_stream_read(model, &(struct visd_stream_source){read_stream, s}, "f.obj", told, why);
}

static void refused(struct stream *s, enum visd_err err, const char *says)
{
    struct visd_model model;
    struct visd_why why = {{0}};
    bool told = true;
    assert_int_equal(read_all(s, &model, &told, &why), err);
    assert_non_null(strstr(why.text, says));
    assert_false(told);
    assert_true(model.mesh_count == 0 && model.object_count == 0 && model.group_count == 0);
}

/* ---- the reader ---- */

static void put_whole(struct stream *s)
{
    struct visd_stream_object inside = plain_object, cloud = plain_object;
    inside.group = 0;
    inside.flags = VISD_MODEL_SEE_THROUGH;
    cloud.mesh = VISD_STREAM_NONE;
    cloud.margin = 1;
    cloud.max[0] = 7;
    begin(s);
    put_mesh(s, 2);
    put_record(s, VISD_STREAM_NOTE, NULL, 0, "a remark\n");
    put_record(s, VISD_STREAM_GROUP, &plain_group, sizeof(plain_group), "a/b");
    put_record(s, VISD_STREAM_OBJECT, &inside, sizeof(inside), "in\xff");
    put_record(s, VISD_STREAM_OBJECT, &cloud, sizeof(cloud), "cloud");
    put_end(s, 1, 1, 2, 1);
}

static void test_whole(void **state)
{
    (void)state;
    struct stream s;
    struct visd_model model;
    struct visd_why why = {{0}};
    bool told = true;
    put_whole(&s);
    assert_int_equal(read_all(&s, &model, &told, &why), VISD_ERR_OK);
    assert_false(told);
    assert_true(model.mesh_count == 1 && model.group_count == 1 && model.object_count == 2 && model.warning_count == 1);
    assert_string_equal(model.warnings[0], "a remark?");
    assert_string_equal(model.groups[0].path, "a\\/b");
    assert_string_equal(model.objects[0].path, "a\\/b/in\xef\xbf\xbd");
    assert_true(model.objects[0].flags == VISD_MODEL_SEE_THROUGH && model.objects[0].id == 0 && model.objects[0].max[1] == 3);
    assert_string_equal(model.objects[1].path, "cloud");
    assert_true(model.objects[1].mesh == VISD_MODEL_NONE && model.objects[1].max[0] == 7 && model.objects[1].margin == 1 && model.objects[1].id == 1);
    visd_model_finish(&model);
}

/* Wherever it ends, it is no model. */
static void test_cut(void **state)
{
    (void)state;
    struct stream s;
    put_whole(&s);
    for (size_t whole = s.used, used = 0; used < whole; used++) {
        s.used = used;
        refused(&s, VISD_ERR_BAD_MESSAGE, "f.obj: the importer's answer makes no sense: it ends too early");
    }
}

static void test_lies(void **state)
{
    (void)state;
    struct stream s;
    struct visd_stream_object object = plain_object;
    begin(&s), put_mesh(&s, 3), put_end(&s, 1, 0, 0, 1);
    refused(&s, VISD_ERR_BAD_MESSAGE, "names vertices that it has not");
    begin(&s), put_record(&s, VISD_STREAM_OBJECT, &object, sizeof(object), "o");
    refused(&s, VISD_ERR_BAD_MESSAGE, "a mesh that has not come yet");
    object.mesh = VISD_STREAM_NONE, object.group = 0;
    begin(&s), put_record(&s, VISD_STREAM_OBJECT, &object, sizeof(object), "o");
    refused(&s, VISD_ERR_BAD_MESSAGE, "a group that has not come yet");
    object.group = VISD_STREAM_NONE, object.min[2] = NAN;
    begin(&s), put_record(&s, VISD_STREAM_OBJECT, &object, sizeof(object), "o");
    refused(&s, VISD_ERR_BAD_MESSAGE, "a box that is none");
    object.min[2] = 0, object.flags = 1;
    begin(&s), put_record(&s, VISD_STREAM_OBJECT, &object, sizeof(object), "o");
    refused(&s, VISD_ERR_BAD_MESSAGE, "flags that are none");
    object.flags = 0, object.transform[3] = INFINITY;
    begin(&s), put_record(&s, VISD_STREAM_OBJECT, &object, sizeof(object), "o");
    refused(&s, VISD_ERR_BAD_VALUE, "the place of \"o\" in the scene is not finite");
    put_whole(&s), put(&s, "x", 1);
    refused(&s, VISD_ERR_BAD_MESSAGE, "something follows its end");
    put_whole(&s), s.used -= sizeof(struct visd_stream_record) + sizeof(struct visd_stream_end), put_end(&s, 1, 1, 3, 1);
    refused(&s, VISD_ERR_BAD_MESSAGE, "its counts are not what came");
    put_whole(&s), s.bytes[7] = 2;
    refused(&s, VISD_ERR_BAD_MESSAGE, "another version");
    begin(&s), put_record(&s, VISD_STREAM_MESH, &(struct visd_stream_mesh){.vertices = 1u << 31, .index_count = 3, .part_count = 1}, 16, "");
    refused(&s, VISD_ERR_TOO_BIG, "vertices in one mesh");
}

static void test_told(void **state)
{
    (void)state;
    struct stream s;
    struct visd_model model;
    struct visd_why why = {{0}};
    bool told = false;
    begin(&s), put_mesh(&s, 2);
    put_record(&s, VISD_STREAM_FAIL, &(struct visd_stream_fail){.err = VISD_ERR_NOT_SUPPORTED}, sizeof(struct visd_stream_fail), "f.obj: not this");
    assert_int_equal(read_all(&s, &model, &told, &why), VISD_ERR_NOT_SUPPORTED);
    assert_true(told && model.mesh_count == 0);
    assert_string_equal(why.text, "f.obj: not this");
}

static void test_endings(void **state)
{
    (void)state;
    assert_string_equal(visd_foreign_format_of("a.b/c.StL"), "stl");
    assert_string_equal(visd_foreign_format_of("x.IFC"), "ifc");
    assert_null(visd_foreign_format_of("x.glb"));
    assert_null(visd_foreign_format_of("obj"));
    assert_null(visd_foreign_format_of("a.obj/b"));
}

/* ---- polygons ---- */

static double area_of(const float *p, const uint32_t *corners, const uint32_t *cut, uint32_t triangles, bool *all_turn)
{
    double sum = 0;
    for (uint32_t t = 0; t < triangles; t++) {
        const float *a = p + corners[cut[t * 3]] * 3, *b = p + corners[cut[t * 3 + 1]] * 3, *c = p + corners[cut[t * 3 + 2]] * 3;
        double size = (double)(b[0] - a[0]) * (double)(c[1] - a[1]) - (double)(b[1] - a[1]) * (double)(c[0] - a[0]);
        *all_turn &= size >= -1e-6;
        sum += size / 2;
    }
    return sum;
}

static void cut(const float *flat, uint32_t count, bool sure, double area)
{
    float positions[64 * 3] = {0};
    uint32_t corners[64] = {0}, out[64 * 3];
    struct polygon_room room = {0};
    bool all_turn = true;
    for (uint32_t i = 0; i < count; i++) {
        corners[i] = count - 1 - i; /* stored the other way round: corners name positions */
        memcpy(positions + (count - 1 - i) * 3, (const float[3]){flat[i * 2], flat[i * 2 + 1], 4}, 12);
    }
    assert_int_equal(polygon_cut(&room, positions, corners, count, out), sure);
    for (uint32_t i = 0; i < (count - 2) * 3; i++) assert_true(out[i] < count);
    double sum = area_of(positions, corners, out, count - 2, &all_turn);
    if (sure) assert_true(fabs(sum - area) < 1e-6 * area && all_turn);
    polygon_room_finish(&room);
}

static void test_polygons(void **state)
{
    (void)state;
    cut((const float[]){0, 0, 2, 0, 2, 2, 0, 2}, 4, true, 4);
    cut((const float[]){0, 0, 2, 0, 0.5f, 0.5f, 0, 2}, 4, true, 1);                                          /* an arrow head */
    cut((const float[]){0, 0, 4, 0, 4, 4, 3, 4, 3, 1, 1, 1, 1, 4, 0, 4}, 8, true, 10);                       /* a U */
    cut((const float[]){0, 0, 1, 0, 2, 0, 3, 0, 3, 1, 0, 1}, 6, true, 3);                                    /* corners on a line */
    cut((const float[]){0, 0, 4, 0, 4, 4, 0, 4, 0, 0, 1, 1, 1, 3, 3, 3, 3, 1, 1, 1}, 10, true, 12);          /* a hole on a seam */
    cut((const float[]){0, 0, 2, 2, 2, 0, 0, 2}, 4, false, 0);                                               /* a bow tie */
    cut((const float[]){0, 3, 2, -3, -3, 1, 3, 1, -2, -3}, 5, false, 0);                                     /* a pentagram */
    cut((const float[]){0, 0, 4, 0, 1, 3, 1.5f, -1}, 4, false, 0);                                           /* a bow tie with one wing larger */
    cut((const float[]){0, 0, 4, 0, 4, 4, 1, 4, 1, -1, 5, -1, 5, 5, 0, 5}, 8, false, 0);                     /* twice round its middle */
    cut((const float[]){0, 0, 1, 1, 2, 2, 3, 3}, 4, false, 0);                                               /* a line */
}

/* Stars whose corners come in the order of their angles are simple, however jagged. */
static void test_stars(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (int round = 0; round < 500; round++) {
        float flat[64 * 2];
        double area = 0;
        uint32_t count = 4 + (uint32_t)round % 60;
        for (uint32_t i = 0; i < count; i++) {
            seed = seed * 1664525u + 1013904223u;
            double angle = 2 * 3.14159265358979 * i / count, radius = 0.1 + (seed >> 8) / 16777216.0;
            flat[i * 2] = (float)(radius * cos(angle)), flat[i * 2 + 1] = (float)(radius * sin(angle));
        }
        for (uint32_t i = 0; i < count; i++) {
            uint32_t j = (i + 1) % count;
            area += ((double)flat[i * 2] * (double)flat[j * 2 + 1] - (double)flat[j * 2] * (double)flat[i * 2 + 1]) / 2;
        }
        cut(flat, count, true, area);
    }
}

static void test_paths(void **state)
{
    (void)state;
    char out[VISD_MODEL_PATH_BYTES], above[1200], name[600];
    memset(above, 'x', sizeof(above) - 1), above[sizeof(above) - 1] = 0;
    memset(name, '/', sizeof(name) - 1), name[sizeof(name) - 1] = 0;
    visd_model_path_join(out, above, name);
    assert_int_equal(strlen(out), 3 + 1 + 2 * 255);
    above[1000] = 0;
    visd_model_path_join(out, above, name);
    assert_int_equal(strlen(out), 1000 + 1 + 2 * 255);
    visd_model_path_join(out, "", "\xc3");
    assert_string_equal(out, "\xef\xbf\xbd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),    cmocka_unit_test(test_cut),      cmocka_unit_test(test_lies),  cmocka_unit_test(test_told),
        cmocka_unit_test(test_endings),  cmocka_unit_test(test_polygons), cmocka_unit_test(test_stars), cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
