/* link: visd_visctl meshoptimizer */
/* The glTF reader: what it makes of each feature, and that whatever is wrong is refused by name, with nothing left behind. */
#include <math.h>
#include <meshoptimizer.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "client/visctl/import/gltf.h"
#include "client/visctl/model/transform.h"

/* Bytes that the small documents below read: at 0 four corners of a unit square as floats, at 48 indices 0 1 2 0 2 3 as
 * u16, at 60 the same as u8 (padded to 68), at 68 as u32, at 92 three translations, at 128 three rotations, at 176 three scales. */
static unsigned char data[256];
static char data_uri[512];

static void put(size_t at, const void *bytes, size_t count)
{
    memcpy(data + at, bytes, count);
}

static void encode(const unsigned char *bytes, size_t count, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        unsigned v = bytes[i] << 16 | (i + 1 < count ? bytes[i + 1] << 8 : 0) | (i + 2 < count ? bytes[i + 2] : 0);
        *out++ = digits[v >> 18];
        *out++ = digits[v >> 12 & 63];
        *out++ = i + 1 < count ? digits[v >> 6 & 63] : '=';
        *out++ = i + 2 < count ? digits[v & 63] : '=';
    }
    *out = 0;
}

static int setup(void **state)
{
    (void)state;
    put(0, (const float[12]){0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}, 48);
    put(48, (const uint16_t[6]){0, 1, 2, 0, 2, 3}, 12);
    put(60, (const uint8_t[6]){0, 1, 2, 0, 2, 3}, 6);
    put(68, (const uint32_t[6]){0, 1, 2, 0, 2, 3}, 24);
    put(92, (const float[9]){1, 0, 0, 2, 0, 0, 3, 0, 0}, 36);
    put(128, (const float[12]){0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0}, 48);
    put(176, (const float[9]){1, 1, 1, 2, 2, 2, -1, 1, 1}, 36);
    encode(data, 252, data_uri);
    return 0;
}

#define HEAD "{\"asset\":{\"version\":\"2.0\"},"
#define BUFFERS \
    ",\"buffers\":[{\"byteLength\":252,\"uri\":\"data:application/octet-stream;base64,@\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":252}]"
#define POSITIONS "{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"}"
#define INDICES "{\"bufferView\":0,\"byteOffset\":48,\"componentType\":5123,\"count\":6,\"type\":\"SCALAR\"}"
#define ACCESSORS ",\"accessors\":[" POSITIONS "," INDICES "]"
#define MESH ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}]}]"
#define ONE_NODE "\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}]"
#define PLAIN HEAD ONE_NODE MESH ACCESSORS BUFFERS "}"

static char *with_data(const char *text)
{
    const char *at = strchr(text, '@');
    char *out = malloc(strlen(text) + sizeof(data_uri));
    if (!at) return strcpy(out, text);
    sprintf(out, "%.*s%s%s", (int)(at - text), text, data_uri, at + 1);
    return out;
}

static enum visd_err read_text(struct visd_model *model, const char *text, const char *scene, struct visd_why *why)
{
    struct visd_gltf_options options = {.scene = scene};
    char *whole = with_data(text), *exact = malloc(strlen(whole) + 1); /* ends where the text does: over-reads show */
    memcpy(exact, whole, strlen(whole));
    visd_model_init(model);
    enum visd_err err = visd_gltf_read_memory(model, exact, strlen(whole), "t.gltf", NULL, &options, why);
    free(whole);
    free(exact);
    return err;
}

static struct visd_model good(const char *text)
{
    struct visd_model model;
    struct visd_why why = {{0}};
    enum visd_err err = read_text(&model, text, NULL, &why);
    if (err != VISD_ERR_OK) fail_msg("refused: %s", why.text);
    return model;
}

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) < 1e-6)) fail_msg("%.9g is not %.9g", a, b);
}

static void assert_at(const struct visd_model *model, uint32_t object, double x, double y, double z)
{
    double world[12];
    visd_model_group_world(model, model->objects[object].group, world);
    visd_transform_compose(world, world, model->objects[object].transform);
    assert_near(world[3], x);
    assert_near(world[7], y);
    assert_near(world[11], z);
}

/* ---- features ---- */

static void test_plain(void **state)
{
    (void)state;
    struct visd_model m = good(PLAIN);
    assert_int_equal(m.object_count, 1);
    assert_int_equal(m.group_count, 0);
    assert_int_equal(m.mesh_count, 1);
    assert_int_equal(m.meshes[0].index_count, 6);
    assert_int_equal(m.meshes[0].part_count, 1);
    assert_int_equal(m.meshes[0].parts[0].sides, VISD_MODEL_SIDES_SINGLE);
    assert_int_equal(m.meshes[0].parts[0].see_through, 0);
    assert_int_equal(m.objects[0].id, 0);
    assert_int_equal(m.objects[0].flags, 0);
    assert_string_equal(m.objects[0].path, "node 0");
    assert_near(m.objects[0].max[0], 1);
    visd_model_finish(&m);
}

static void test_tree(void **state)
{
    (void)state;
    /* 0 holds 1 and 3; 1 has a mesh and a child 2 with one; 3 draws nothing; 4 is another root. Ids: 1, 2, 4. */
    struct visd_model m = good(HEAD "\"scenes\":[{\"nodes\":[0,4]}],\"nodes\":[{\"name\":\"a/b\",\"children\":[1,3],\"translation\":[10,0,0]},"
                               "{\"mesh\":0,\"children\":[2],\"matrix\":[0,0,-1,0, 0,1,0,0, 1,0,0,0, 0,5,0,1]},{\"mesh\":0,\"name\":\"leaf\",\"translation\":[1,0,0]},"
                               "{\"name\":\"lamp\"},{\"mesh\":0,\"scale\":[-1,1,1],\"rotation\":[0,0,2,0]}]" MESH ACCESSORS BUFFERS "}");
    assert_int_equal(m.object_count, 3);
    assert_int_equal(m.group_count, 2);
    assert_int_equal(m.mesh_count, 1);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(m.objects[i].id, i);
    assert_at(&m, 0, 10, 5, 0);
    assert_at(&m, 1, 10, 5, -1); /* the matrix turns x to -z */
    assert_string_equal(m.groups[0].path, "a\\/b");
    assert_string_equal(m.objects[1].path, "a\\/b/node 1/leaf");
    char name[16];
    visd_model_path_name(m.objects[1].path, name, sizeof(name));
    assert_string_equal(name, "leaf");
    visd_model_path_name(m.groups[0].path, name, sizeof(name));
    assert_string_equal(name, "a/b");
    assert_true(visd_transform_determinant(m.objects[2].transform) < 0);
    assert_near(m.objects[2].transform[0], 1); /* turned about z by 180 degrees, then mirrored: x points to x again */
    visd_model_finish(&m);
}

static void test_scenes(void **state)
{
    (void)state;
    const char *text = HEAD "\"scene\":1,\"scenes\":[{\"nodes\":[0],\"name\":\"one\"},{\"nodes\":[1,2],\"name\":\"two\"}],\"nodes\":[{\"mesh\":0},{\"mesh\":0},{\"mesh\":0}]" MESH
        ACCESSORS BUFFERS "}";
    const struct { const char *scene; uint32_t objects; } rows[] = {{NULL, 2}, {"0", 1}, {"one", 1}, {"two", 2}, {"1", 2}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct visd_model m;
        struct visd_why why;
        assert_int_equal(read_text(&m, text, rows[i].scene, &why), VISD_ERR_OK);
        assert_int_equal(m.object_count, rows[i].objects);
        visd_model_finish(&m);
    }
    struct visd_model m;
    struct visd_why why;
    assert_int_equal(read_text(&m, text, "three", &why), VISD_ERR_NOT_FOUND);
    assert_non_null(strstr(why.text, "\"three\""));
}

static void test_materials(void **state)
{
    (void)state;
    struct visd_model m = good(HEAD "\"scenes\":[{\"nodes\":[0,1]}],\"nodes\":[{\"mesh\":0},{\"mesh\":1}],\"materials\":[{},{\"doubleSided\":true},{\"alphaMode\":\"MASK\"},"
                               "{\"alphaMode\":\"BLEND\",\"doubleSided\":true},{\"extensions\":{\"KHR_materials_transmission\":{\"transmissionFactor\":0.5}}}],"
                               "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1},{\"attributes\":{\"POSITION\":0},\"indices\":1,\"material\":0},"
                               "{\"attributes\":{\"POSITION\":0},\"indices\":1,\"material\":1},{\"attributes\":{\"POSITION\":0},\"indices\":1,\"material\":2},"
                               "{\"attributes\":{\"POSITION\":0},\"indices\":1,\"material\":0,\"extensions\":{\"KHR_materials_variants\":{\"mappings\":[{\"material\":1,\"variants\":[0]}]}}}]},"
                               "{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1,\"material\":3},{\"attributes\":{\"POSITION\":0},\"indices\":1,\"material\":4}]}]"
                               ACCESSORS BUFFERS "}");
    const struct visd_model_part *p = m.meshes[0].parts;
    assert_int_equal(m.meshes[0].part_count, 4); /* the first two look alike and became one */
    assert_int_equal(p[0].count, 12);
    assert_int_equal(p[0].sides, VISD_MODEL_SIDES_SINGLE);
    assert_int_equal(p[1].sides, VISD_MODEL_SIDES_DOUBLE);
    assert_int_equal(p[2].see_through, 1);
    assert_int_equal(p[3].sides, VISD_MODEL_SIDES_UNKNOWN); /* its variants differ */
    assert_int_equal(m.objects[0].flags, 0);
    assert_int_equal(m.meshes[1].part_count, 2);
    assert_int_equal(m.objects[1].flags, VISD_MODEL_SEE_THROUGH);
    visd_model_finish(&m);
}

static void test_modes(void **state)
{
    (void)state;
    const uint32_t triangles[7] = {0, 0, 0, 0, 1, 2, 2}; /* of four vertices; a list leaves one over */
    for (int mode = 0; mode < 7; mode++) {
        char text[1024];
        snprintf(text, sizeof(text), HEAD ONE_NODE ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":%d}]}]" ACCESSORS BUFFERS "}", mode);
        struct visd_model m = good(text);
        assert_int_equal(m.object_count, 1);
        assert_near(m.objects[0].max[1], mode == 4 ? 1 : 1);
        if (triangles[mode]) {
            assert_int_equal(m.meshes[0].index_count, triangles[mode] * 3);
            assert_true(m.objects[0].margin == 0);
        } else {
            assert_int_equal(m.objects[0].mesh, VISD_MODEL_NONE);
            assert_true(m.objects[0].margin > 0);
        }
        assert_int_equal(m.warning_count, mode == 4);
        visd_model_finish(&m);
    }
    struct visd_model m = good(HEAD ONE_NODE ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":5}]}]" ACCESSORS BUFFERS "}");
    assert_memory_equal(m.meshes[0].indices, ((const uint32_t[6]){0, 1, 2, 1, 3, 2}), 24);
    visd_model_finish(&m);
    m = good(HEAD ONE_NODE ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":6}]}]" ACCESSORS BUFFERS "}");
    const float *v = m.meshes[0].positions;
    const uint32_t *i = m.meshes[0].indices; /* each begins behind the hub, as glTF says: 1 2 0, 2 3 0 */
    assert_true(v[i[2] * 3] == 0 && v[i[2] * 3 + 1] == 0 && i[2] == i[5]);
    visd_model_finish(&m);
}

static void test_index_types(void **state)
{
    (void)state;
    const struct { int offset, type; } rows[] = {{48, 5123}, {60, 5121}, {68, 5125}};
    for (int i = 0; i < 3; i++) {
        char text[1024];
        snprintf(text, sizeof(text), HEAD ONE_NODE MESH ",\"accessors\":[" POSITIONS ",{\"bufferView\":0,\"byteOffset\":%d,\"componentType\":%d,\"count\":6,\"type\":\"SCALAR\"}]" BUFFERS "}",
                 rows[i].offset, rows[i].type);
        struct visd_model m = good(text);
        assert_memory_equal(m.meshes[0].indices, ((const uint32_t[6]){0, 1, 2, 0, 2, 3}), 24);
        assert_int_equal(m.meshes[0].vertices, 4);
        visd_model_finish(&m);
    }
}

static void test_only_used_vertices(void **state)
{
    (void)state;
    /* Ten vertices are there, and the later ones are huge; three are used. */
    struct visd_model m = good(HEAD ONE_NODE MESH ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":10,\"type\":\"VEC3\"},"
                               "{\"bufferView\":0,\"byteOffset\":48,\"componentType\":5123,\"count\":3,\"type\":\"SCALAR\"}]" BUFFERS "}");
    assert_int_equal(m.meshes[0].vertices, 3);
    assert_near(m.objects[0].max[0], 1);
    visd_model_finish(&m);
}

static void test_strides_and_quantization(void **state)
{
    (void)state;
    /* u8 positions in every fourth float's bytes would be unreadable; so: shorts over the u32 indices, stride 8. */
    struct visd_model m = good(HEAD "\"extensionsUsed\":[\"KHR_mesh_quantization\"],\"extensionsRequired\":[\"KHR_mesh_quantization\"]," ONE_NODE
                               ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
                               "\"accessors\":[{\"bufferView\":1,\"componentType\":5123,\"count\":3,\"type\":\"VEC3\"}]"
                               ",\"buffers\":[{\"byteLength\":252,\"uri\":\"data:;base64,@\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":252},"
                               "{\"buffer\":0,\"byteOffset\":68,\"byteLength\":24,\"byteStride\":8}]}");
    /* u32 0 1 2 0 2 3 as u16: (0 0 1) (2 0 0) (2 0 3). */
    assert_int_equal(m.meshes[0].vertices, 3);
    assert_memory_equal(m.meshes[0].positions, ((const float[9]){0, 0, 1, 2, 0, 0, 2, 0, 3}), 36);
    visd_model_finish(&m);
    m = good(HEAD "\"extensionsUsed\":[\"KHR_mesh_quantization\"]," ONE_NODE ",\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
             "\"accessors\":[{\"bufferView\":0,\"byteOffset\":60,\"componentType\":5121,\"normalized\":true,\"count\":2,\"type\":\"VEC3\"}]" BUFFERS "}");
    assert_int_equal(m.object_count, 1); /* two vertices are no triangle, but they have a box */
    assert_near(m.objects[0].max[2], 3.0 / 255);
    visd_model_finish(&m);
}

static void test_sparse(void **state)
{
    (void)state;
    /* Element 2 (index data 2 at byte 62) is replaced by the first translation, 1 0 0. */
#define SPARSE "\"sparse\":{\"count\":1,\"indices\":{\"bufferView\":0,\"byteOffset\":62,\"componentType\":5121},\"values\":{\"bufferView\":0,\"byteOffset\":92}}"
    struct visd_model m = good(HEAD ONE_NODE MESH ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"," SPARSE "}," INDICES "]" BUFFERS "}");
    assert_memory_equal(m.meshes[0].positions + 6, ((const float[3]){1, 0, 0}), 12);
    assert_memory_equal(m.meshes[0].positions + 3, ((const float[3]){1, 0, 0}), 12);
    visd_model_finish(&m);
    m = good(HEAD ONE_NODE MESH ",\"accessors\":[{\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"," SPARSE "}," INDICES "]" BUFFERS "}"); /* zeros below */
    assert_memory_equal(m.meshes[0].positions, ((const float[9]){0, 0, 0, 0, 0, 0, 1, 0, 0}), 36);
    visd_model_finish(&m);
}

static void test_instances(void **state)
{
    (void)state;
#define INSTANCES(node) HEAD "\"extensionsRequired\":[\"EXT_mesh_gpu_instancing\"],\"scenes\":[{\"nodes\":[0,1]}],\"nodes\":[{" node "\"name\":\"bolt\",\"mesh\":0,\"extensions\":{\"EXT_mesh_gpu_instancing\":" \
    "{\"attributes\":{\"TRANSLATION\":2,\"ROTATION\":3,\"SCALE\":4}}}},{\"mesh\":0}]" MESH ",\"accessors\":[" POSITIONS "," INDICES \
    ",{\"bufferView\":0,\"byteOffset\":92,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},{\"bufferView\":0,\"byteOffset\":128,\"componentType\":5126,\"count\":3,\"type\":\"VEC4\"}," \
    "{\"bufferView\":0,\"byteOffset\":176,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}]" BUFFERS "}"
    struct visd_model m = good(INSTANCES(""));
    assert_int_equal(m.object_count, 4);
    assert_int_equal(m.mesh_count, 1);
    for (uint32_t i = 0; i < 3; i++) assert_at(&m, i, i + 1, 0, 0);
    assert_at(&m, 3, 0, 0, 0);
    assert_int_equal(m.objects[3].id, 3);
    assert_string_equal(m.objects[1].path, "bolt[1]");
    assert_near(m.objects[1].transform[0], -2); /* half a turn about z, twice the size */
    assert_true(visd_transform_determinant(m.objects[2].transform) < 0);
    assert_non_null(m.objects[0].trs);
    visd_model_finish(&m);
    m = good(INSTANCES("\"translation\":[0,7,0],\"scale\":[2,2,2],"));
    assert_at(&m, 1, 4, 7, 0);
    assert_null(m.objects[1].trs);
    visd_model_finish(&m);
}

static void test_pose_unknown(void **state)
{
    (void)state;
    struct visd_model m = good(HEAD "\"scenes\":[{\"nodes\":[0,1]}],\"nodes\":[{\"mesh\":0,\"skin\":0},{\"mesh\":1}],\"skins\":[{\"joints\":[1]}],\"meshes\":[{\"primitives\":[{\"attributes\":"
                               "{\"POSITION\":0},\"indices\":1}]},{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1,\"targets\":[{\"POSITION\":0}]}]}],"
                               "\"animations\":[{\"channels\":[{\"sampler\":0,\"target\":{\"node\":1,\"path\":\"translation\"}}],\"samplers\":[{}]}]" ACCESSORS BUFFERS "}");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(m.objects[i].flags, VISD_MODEL_UNBOUNDED);
        assert_int_equal(m.objects[i].mesh, VISD_MODEL_NONE);
    }
    assert_int_equal(m.warning_count, 3); /* skin, morph, animation */
    visd_model_finish(&m);
}

static void test_meshopt(void **state)
{
    (void)state;
    static const float square[16] = {0, 0, 0, 9, 1, 0, 0, 9, 1, 1, 0, 9, 0, 1, 0, 9};
    static const uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
    unsigned char packed[512];
    char uri[1024], text[4096];
    size_t n = meshopt_encodeVertexBuffer(packed, 256, square, 4, 16);
    size_t k = meshopt_encodeIndexBuffer(packed + n, 200, indices, 6);
    assert_true(n && k);
    for (int damage = 0; damage < 3; damage++) { /* none, a damaged header, a short source */
        unsigned char copy[512];
        memcpy(copy, packed, n + k);
        if (damage == 1) copy[0] = 0x55;
        encode(copy, n + k, uri);
        snprintf(text, sizeof(text), HEAD "\"extensionsRequired\":[\"EXT_meshopt_compression\"]," ONE_NODE MESH ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},"
                 "{\"bufferView\":1,\"componentType\":5125,\"count\":6,\"type\":\"SCALAR\"}],\"buffers\":[{\"byteLength\":%zu,\"uri\":\"data:;base64,%s\"},{\"byteLength\":88}],\"bufferViews\":["
                 "{\"buffer\":1,\"byteLength\":64,\"byteStride\":16,\"extensions\":{\"EXT_meshopt_compression\":{\"buffer\":0,\"byteLength\":%zu,\"byteStride\":16,\"count\":4,\"mode\":\"ATTRIBUTES\"}}},"
                 "{\"buffer\":1,\"byteOffset\":64,\"byteLength\":24,\"extensions\":{\"EXT_meshopt_compression\":{\"buffer\":0,\"byteOffset\":%zu,\"byteLength\":%zu,\"byteStride\":4,\"count\":6,"
                 "\"mode\":\"TRIANGLES\"}}}]}", n + k, uri, damage == 2 ? n - 3 : n, n, k);
        struct visd_model m;
        struct visd_why why;
        enum visd_err err = read_text(&m, text, NULL, &why);
        if (!damage) {
            assert_int_equal(err, VISD_ERR_OK);
            assert_int_equal(m.meshes[0].vertices, 4);
            assert_int_equal(m.meshes[0].index_count, 6);
            visd_model_finish(&m);
        } else {
            assert_int_equal(err, VISD_ERR_BAD_VALUE);
            assert_non_null(strstr(why.text, "bufferViews[0].extensions.EXT_meshopt_compression"));
        }
    }
}

/* ---- containers and files ---- */

static void put_u32(unsigned char *at, uint32_t v)
{
    memcpy(at, &v, 4);
}

static size_t make_glb(unsigned char *out, const char *json, const void *bin, size_t bin_size)
{
    size_t json_size = (strlen(json) + 3) & ~(size_t)3, size = 20 + json_size + (bin ? 8 + bin_size : 0);
    memset(out, ' ', size);
    memcpy(out + 20, json, strlen(json));
    put_u32(out, 0x46546c67), put_u32(out + 4, 2), put_u32(out + 8, (uint32_t)size), put_u32(out + 12, (uint32_t)json_size), put_u32(out + 16, 0x4e4f534a);
    if (bin) {
        put_u32(out + 20 + json_size, (uint32_t)bin_size), put_u32(out + 24 + json_size, 0x004e4942);
        memcpy(out + 28 + json_size, bin, bin_size);
    }
    return size;
}

static enum visd_err read_bytes(const unsigned char *bytes, size_t size, struct visd_why *why)
{
    struct visd_model m;
    unsigned char *exact = malloc(size ? size : 1);
    memcpy(exact, bytes, size);
    visd_model_init(&m);
    enum visd_err err = visd_gltf_read_memory(&m, exact, size, "t.glb", NULL, NULL, why);
    free(exact);
    if (err != VISD_ERR_OK) assert_true(m.object_count == 0 && m.mesh_count == 0);
    visd_model_finish(&m);
    return err;
}

static void test_glb(void **state)
{
    (void)state;
    unsigned char glb[2048];
    struct visd_why why;
    const char *json = HEAD ONE_NODE MESH ACCESSORS ",\"buffers\":[{\"byteLength\":250}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":250}]}";
    size_t size = make_glb(glb, json, data, 252);
    assert_int_equal(read_bytes(glb, size, &why), VISD_ERR_OK);
    for (size_t cut = 0; cut < size; cut++) assert_int_not_equal(read_bytes(glb, cut, &why), VISD_ERR_OK); /* every truncation */
    assert_int_equal(read_bytes(glb, size - 1, &why), VISD_ERR_BAD_VALUE);
    assert_non_null(strstr(why.text, "truncated"));
    assert_int_equal(read_bytes(glb, size + 4, &why), VISD_ERR_BAD_VALUE); /* more than it says */
    put_u32(glb + 12, 0xfffffff0u);
    assert_int_equal(read_bytes(glb, size, &why), VISD_ERR_BAD_VALUE);
    assert_non_null(strstr(why.text, "GLB chunk 0"));
    size = make_glb(glb, json, data, 252);
    put_u32(glb + 4, 1);
    assert_int_equal(read_bytes(glb, size, &why), VISD_ERR_NOT_SUPPORTED);
    size = make_glb(glb, json, NULL, 0);
    assert_int_equal(read_bytes(glb, size, &why), VISD_ERR_BAD_VALUE);
    assert_non_null(strstr(why.text, "buffers[0]"));
    size = make_glb(glb, json, data, 128);
    assert_int_equal(read_bytes(glb, size, &why), VISD_ERR_BAD_VALUE);
    assert_non_null(strstr(why.text, "says 250 bytes, but has 128"));
    size = make_glb(glb, json, data, 252);
    for (size_t i = 0; i < size; i++) /* no single changed byte may do harm */
        for (int flip = 0; flip < 8; flip += 3) {
            glb[i] ^= (unsigned char)(1 << flip);
            read_bytes(glb, size, &why);
            glb[i] ^= (unsigned char)(1 << flip);
        }
}

static char folder[] = "/tmp/visctl-gltf-XXXXXX";

static enum visd_err read_uri(const char *uri, struct visd_why *why)
{
    char inside[256];
    snprintf(inside, sizeof(inside), "%s/models/t.gltf", folder);
    FILE *file = fopen(inside, "w");
    fprintf(file, HEAD ONE_NODE MESH ACCESSORS ",\"buffers\":[{\"byteLength\":252,\"uri\":\"%s\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":252}]}", uri);
    fclose(file);
    struct visd_model m;
    visd_model_init(&m);
    enum visd_err err = visd_gltf_read(&m, inside, NULL, why);
    assert_int_equal(m.object_count, err == VISD_ERR_OK);
    visd_model_finish(&m);
    return err;
}

static void write_file(const char *name, const void *bytes, size_t size)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void test_files(void **state)
{
    (void)state;
    struct visd_why why;
    char path[256], outside[300];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/models", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/models/sub", folder);
    mkdir(path, 0700);
    write_file("secret.bin", data, 252);
    write_file("models/a b.bin", data, 252);
    write_file("models/sub/c.bin", data, 252);
    write_file("models/short.bin", data, 251);
    snprintf(path, sizeof(path), "%s/models/link.bin", folder);
    snprintf(outside, sizeof(outside), "%s/secret.bin", folder);
    assert_int_equal(symlink(outside, path), 0);
    snprintf(path, sizeof(path), "%s/models/pipe.bin", folder);
    assert_int_equal(mkfifo(path, 0600), 0);

    assert_int_equal(read_uri("a%20b.bin", &why), VISD_ERR_OK);
    assert_int_equal(read_uri("./sub/c.bin", &why), VISD_ERR_OK);
    const struct { const char *uri; enum visd_err err; const char *text; } bad[] = {
        {"../secret.bin", VISD_ERR_DENIED, "leads out"},
        {"sub/../../secret.bin", VISD_ERR_DENIED, "leads out"},
        {"%2e%2e/secret.bin", VISD_ERR_DENIED, "leads out"},
        {"sub/..%2f..%2fsecret.bin", VISD_ERR_DENIED, "leads out"},
        {"/etc/passwd", VISD_ERR_DENIED, "leads out"},
        {"..\\\\secret.bin", VISD_ERR_DENIED, "leads out"},
        {"a%00.bin", VISD_ERR_DENIED, "is no path"},
        {"", VISD_ERR_DENIED, "is no path"},
        {"file:///etc/passwd", VISD_ERR_NOT_SUPPORTED, "is not a file beside the model"},
        {"https://example.org/a.bin", VISD_ERR_NOT_SUPPORTED, "is not a file beside the model"},
        {"link.bin", VISD_ERR_IO, "link.bin"},
        {"pipe.bin", VISD_ERR_BAD_VALUE, "not a plain file"},
        {"sub", VISD_ERR_BAD_VALUE, "not a plain file"},
        {"missing.bin", VISD_ERR_IO, "No such file"},
        {"short.bin", VISD_ERR_BAD_VALUE, "says 252 bytes, but \"short.bin\" has 251"},
        {"data:application/octet-stream,abc", VISD_ERR_NOT_SUPPORTED, "not base64"},
        {"data:;base64,AAA*", VISD_ERR_BAD_VALUE, "bad base64"},
        {"data:;base64,AAAA", VISD_ERR_BAD_VALUE, "says 252 bytes, but has 3"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_int_equal(read_uri(bad[i].uri, &why), bad[i].err);
        if (!strstr(why.text, bad[i].text)) fail_msg("%s: %s", bad[i].uri, why.text);
        assert_non_null(strstr(why.text, "buffers[0]"));
    }
    struct visd_model m;
    visd_model_init(&m);
    assert_int_equal(visd_gltf_read(&m, folder, NULL, &why), VISD_ERR_IO);
    snprintf(path, sizeof(path), "rm -r %s", folder);
    assert_int_equal(system(path), 0);
}

/* ---- refusals ---- */

#define PRIMITIVE(inside) HEAD ONE_NODE ",\"meshes\":[{\"primitives\":[{" inside "}]}]" ACCESSORS BUFFERS "}"
#define NODES(scene, nodes) HEAD "\"scenes\":[{\"nodes\":" scene "}],\"nodes\":" nodes MESH ACCESSORS BUFFERS "}"
#define NODE(inside) NODES("[0]", "[{\"mesh\":0," inside "}]")
#define POSITION(inside) HEAD ONE_NODE MESH ",\"accessors\":[{" inside "}," INDICES "]" BUFFERS "}"
#define VIEW(inside) HEAD ONE_NODE MESH ACCESSORS ",\"buffers\":[{\"byteLength\":252,\"uri\":\"data:;base64,@\"}],\"bufferViews\":[{" inside "}]}"
#define WITH_SPARSE(inside) POSITION("\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\",\"sparse\":" inside)
#define INSTANCED(inside) NODE("\"extensions\":{\"EXT_mesh_gpu_instancing\":" inside "}")

static const struct {
    const char *text;
    enum visd_err err;
    const char *says;
} refusals[] = {
    {"", VISD_ERR_BAD_MESSAGE, "JSON: line 1"},
    {"nonsense", VISD_ERR_BAD_MESSAGE, "this is not glTF"},
    {"[]", VISD_ERR_BAD_MESSAGE, "must be an object"},
    {"{}", VISD_ERR_BAD_MESSAGE, "asset: is missing"},
    {"{\"asset\":{}}", VISD_ERR_BAD_MESSAGE, "version is missing"},
    {"{\"asset\":{\"version\":\"1.0\"}}", VISD_ERR_NOT_SUPPORTED, "glTF 1.0 is not read"},
    {"{\"asset\":{\"version\":\"2.9\",\"minVersion\":\"2.9\"}}", VISD_ERR_NOT_SUPPORTED, "glTF 2.9 is not read"},
    {HEAD "\"scene\":0,\"scene\":0}", VISD_ERR_BAD_MESSAGE, "duplicate"},
    {HEAD "\"scene\":1e999}", VISD_ERR_BAD_MESSAGE, "real number overflow"},
    {HEAD "\"extensionsRequired\":[\"EXT_of_tomorrow\"]}", VISD_ERR_NOT_SUPPORTED, "EXT_of_tomorrow is not read"},
    {HEAD "\"extensionsRequired\":[7]}", VISD_ERR_BAD_VALUE, "must hold strings"},
    {HEAD "\"nodes\":{}}", VISD_ERR_BAD_VALUE, "nodes must be an array"},
    {HEAD "\"nodes\":[7]}", VISD_ERR_BAD_VALUE, "nodes[0]: must be an object"},
    {HEAD "\"nodes\":[]}", VISD_ERR_BAD_VALUE, "scenes: the file has none"},
    {HEAD "\"scene\":2,\"scenes\":[{}]}", VISD_ERR_BAD_VALUE, "scene is 2, but the file has 1 scenes"},
    {HEAD "\"scene\":\"first\",\"scenes\":[{}]}", VISD_ERR_BAD_VALUE, "scene must be a whole number"},
    {HEAD "\"scene\":-1,\"scenes\":[{}]}", VISD_ERR_BAD_VALUE, "scene must be a whole number"},

    {NODES("[1]", "[{\"mesh\":0}]"), VISD_ERR_BAD_VALUE, "scenes[0]: nodes[0] is not one of"},
    {NODES("[0,0]", "[{\"mesh\":0}]"), VISD_ERR_BAD_VALUE, "is named twice"},
    {NODES("[0,1]", "[{\"mesh\":0,\"children\":[1]},{}]"), VISD_ERR_BAD_VALUE, "nodes[1] is no root"},
    {NODES("[0]", "[{\"children\":[2]},{\"children\":[2]},{\"mesh\":0}]"), VISD_ERR_BAD_VALUE, "nodes[1]: children[0]: nodes[2] has a parent already, nodes[0]"},
    {NODES("[0]", "[{\"children\":[1,1]},{\"mesh\":0}]"), VISD_ERR_BAD_VALUE, "has a parent already"},
    {NODES("[0]", "[{\"mesh\":0},{\"children\":[2]},{\"children\":[1]}]"), VISD_ERR_BAD_VALUE, "is its own ancestor"},
    {NODES("[0]", "[{\"children\":[0]}]"), VISD_ERR_BAD_VALUE, "nodes[0]: is its own ancestor"},
    {NODES("[0]", "[{\"children\":[9]}]"), VISD_ERR_BAD_VALUE, "nodes[0]: children[0] is not one of"},
    {NODES("[0]", "[{\"mesh\":5}]"), VISD_ERR_BAD_VALUE, "nodes[0]: mesh is 5, but the file has 1 meshes"},
    {NODE("\"skin\":0"), VISD_ERR_BAD_VALUE, "nodes[0]: skin is 0"},
    {NODE("\"translation\":[1,2]"), VISD_ERR_BAD_VALUE, "translation must be 3 numbers"},
    {NODE("\"translation\":[1,2,\"x\"]"), VISD_ERR_BAD_VALUE, "translation[2] must be a finite number"},
    {NODE("\"rotation\":[0,0,0,0]"), VISD_ERR_BAD_VALUE, "nodes[0]: its rotation has no direction"},
    {NODE("\"matrix\":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1],\"scale\":[1,1,1]"), VISD_ERR_BAD_VALUE, "has both a matrix and"},
    {NODE("\"matrix\":[1,0,0,1,0,1,0,0,0,0,1,0,0,0,0,1]"), VISD_ERR_BAD_VALUE, "the last row of its matrix"},
    {NODE("\"scale\":[1e308,1e308,1],\"translation\":[1e308,0,0]"), VISD_ERR_BAD_VALUE, "its place in the scene is not finite"},
    {NODES("[0]", "[{\"children\":[1],\"scale\":[1e300,1,1]},{\"mesh\":0,\"scale\":[1e300,1,1]}]"), VISD_ERR_BAD_VALUE, "its place in the scene is not finite"},

    {HEAD ONE_NODE ",\"meshes\":[{}]" ACCESSORS BUFFERS "}", VISD_ERR_BAD_VALUE, "meshes[0]: has no primitives"},
    {HEAD ONE_NODE ",\"meshes\":[{\"primitives\":[3]}]" ACCESSORS BUFFERS "}", VISD_ERR_BAD_VALUE, "meshes[0].primitives[0]: must be an object"},
    {PRIMITIVE("\"attributes\":{\"POSITION\":7}"), VISD_ERR_BAD_VALUE, "POSITION is 7, but the file has 2 accessors"},
    {PRIMITIVE("\"attributes\":{\"POSITION\":0},\"mode\":7"), VISD_ERR_BAD_VALUE, "mode is 7, at most 6"},
    {PRIMITIVE("\"attributes\":{\"POSITION\":0},\"material\":0"), VISD_ERR_BAD_VALUE, "material is 0, but the file has 0 materials"},
    {PRIMITIVE("\"attributes\":{\"POSITION\":1}"), VISD_ERR_BAD_VALUE, "POSITION (accessors[1]) must be VEC3"},
    {PRIMITIVE("\"attributes\":{\"POSITION\":0},\"indices\":0"), VISD_ERR_BAD_VALUE, "indices (accessors[0]) must be SCALAR"},
    {HEAD ONE_NODE MESH ",\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}," INDICES "]" BUFFERS "}", VISD_ERR_BAD_VALUE,
     "meshes[0].primitives[0]: index 5 is 3, but there are 3 vertices"},
    {HEAD ONE_NODE ",\"materials\":[{\"alphaMode\":\"GLASS\"}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"material\":0}]}]" ACCESSORS BUFFERS "}", VISD_ERR_BAD_VALUE,
     "materials[0]: alphaMode \"GLASS\""},
    {PRIMITIVE("\"attributes\":{\"POSITION\":0},\"indices\":1,\"extensions\":{\"KHR_draco_mesh_compression\":{\"bufferView\":0,\"attributes\":{\"POSITION\":0}}}"), VISD_ERR_BAD_VALUE,
     "meshes[0].primitives[0]: Draco: "},
    {PRIMITIVE("\"attributes\":{\"POSITION\":0},\"indices\":1,\"extensions\":{\"KHR_draco_mesh_compression\":{}}"), VISD_ERR_BAD_VALUE, "lacks its bufferView"},

    {POSITION("\"bufferView\":0,\"componentType\":5126,\"count\":0,\"type\":\"VEC3\""), VISD_ERR_BAD_VALUE, "accessors[0]: count must be 1 or more"},
    {POSITION("\"bufferView\":0,\"componentType\":5126,\"count\":4.5,\"type\":\"VEC3\""), VISD_ERR_BAD_VALUE, "count must be a whole number"},
    {POSITION("\"bufferView\":0,\"componentType\":5126,\"count\":4000000000,\"type\":\"VEC3\""), VISD_ERR_BAD_VALUE, "count 4000000000 from byte 0 does not fit bufferViews[0]"},
    {POSITION("\"bufferView\":0,\"componentType\":5126,\"count\":22,\"type\":\"VEC3\""), VISD_ERR_BAD_VALUE, "does not fit"},
    {POSITION("\"bufferView\":0,\"byteOffset\":18446744073709551600,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\""), VISD_ERR_BAD_MESSAGE, "too big integer"},
    {POSITION("\"bufferView\":0,\"byteOffset\":9007199254740992,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\""), VISD_ERR_BAD_VALUE, "does not fit"},
    {POSITION("\"componentType\":5126,\"count\":4000000000,\"type\":\"VEC3\""), VISD_ERR_TOO_BIG, "accessors[0]: asks for 48000000000 bytes"},
    {POSITION("\"bufferView\":0,\"componentType\":5124,\"count\":4,\"type\":\"VEC3\""), VISD_ERR_BAD_VALUE, "componentType 5124"},
    {POSITION("\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC5\""), VISD_ERR_BAD_VALUE, "type \"VEC5\""},
    {POSITION("\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"MAT2\""), VISD_ERR_BAD_VALUE, "does not suit its use"},
    {POSITION("\"bufferView\":4,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\""), VISD_ERR_BAD_VALUE, "bufferView is 4"},
    {POSITION("\"bufferView\":0,\"byteOffset\":60,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\",\"normalized\":3"), VISD_ERR_BAD_VALUE, "normalized must be true or false"},
    {WITH_SPARSE("{}"), VISD_ERR_BAD_VALUE, "accessors[0].sparse: count, indices or values are missing"},
    {WITH_SPARSE("{\"count\":5,\"indices\":{\"bufferView\":0,\"componentType\":5121},\"values\":{\"bufferView\":0}}"), VISD_ERR_BAD_VALUE, "count is 5, at most 4"},
    {WITH_SPARSE("{\"count\":2,\"indices\":{\"bufferView\":0,\"componentType\":5121},\"values\":{\"bufferView\":0}}"), VISD_ERR_BAD_VALUE, "indices[1] is 0: it must rise"},
    {WITH_SPARSE("{\"count\":1,\"indices\":{\"bufferView\":0,\"byteOffset\":252,\"componentType\":5121},\"values\":{\"bufferView\":0}}"), VISD_ERR_BAD_VALUE, "does not fit"},
    {WITH_SPARSE("{\"count\":1,\"indices\":{\"bufferView\":0,\"componentType\":5126},\"values\":{\"bufferView\":0}}"), VISD_ERR_BAD_VALUE, "mistyped"},

    {VIEW("\"buffer\":0"), VISD_ERR_BAD_VALUE, "bufferViews[0]: buffer or byteLength is missing"},
    {VIEW("\"buffer\":1,\"byteLength\":252"), VISD_ERR_BAD_VALUE, "buffer is 1"},
    {VIEW("\"buffer\":0,\"byteLength\":253"), VISD_ERR_BAD_VALUE, "bufferViews[0]: bytes 0 to 253 of buffers[0], which has 252"},
    {VIEW("\"buffer\":0,\"byteOffset\":8,\"byteLength\":252"), VISD_ERR_BAD_VALUE, "bytes 8 to 260"},
    {VIEW("\"buffer\":0,\"byteLength\":252,\"byteStride\":4"), VISD_ERR_BAD_VALUE, "byteStride 4 of bufferViews[0] is less"},
    {VIEW("\"buffer\":0,\"byteLength\":252,\"byteStride\":4000"), VISD_ERR_BAD_VALUE, "byteStride is 4000, at most 256"},
    {VIEW("\"buffer\":0,\"byteLength\":252,\"extensions\":{\"EXT_meshopt_compression\":{\"buffer\":0,\"byteLength\":9,\"count\":4,\"byteStride\":12,\"mode\":\"MAGIC\"}}"),
     VISD_ERR_NOT_SUPPORTED, "meshopt mode \"MAGIC\""},
    {VIEW("\"buffer\":0,\"byteLength\":252,\"extensions\":{\"EXT_meshopt_compression\":{\"buffer\":0,\"byteLength\":9,\"count\":4,\"byteStride\":13,\"mode\":\"ATTRIBUTES\"}}"),
     VISD_ERR_BAD_VALUE, "byteStride 13 do not suit"},
    {VIEW("\"buffer\":0,\"byteLength\":252,\"extensions\":{\"EXT_meshopt_compression\":{\"buffer\":0,\"byteLength\":9,\"count\":4000000000,\"byteStride\":256,\"mode\":\"ATTRIBUTES\"}}"),
     VISD_ERR_TOO_BIG, "asks for"},
    {VIEW("\"buffer\":0,\"byteLength\":252,\"extensions\":{\"EXT_meshopt_compression\":{\"buffer\":0,\"byteLength\":9,\"count\":4,\"byteStride\":12,\"mode\":\"ATTRIBUTES\",\"filter\":\"OCTAHEDRAL\"}}"),
     VISD_ERR_NOT_SUPPORTED, "meshopt filter \"OCTAHEDRAL\""},

    {INSTANCED("{}"), VISD_ERR_BAD_VALUE, "has none of TRANSLATION"},
    {INSTANCED("3"), VISD_ERR_BAD_VALUE, "EXT_mesh_gpu_instancing must be an object"},
    {INSTANCED("{\"attributes\":{\"TRANSLATION\":1}}"), VISD_ERR_BAD_VALUE, "TRANSLATION (accessors[1]) must be VEC3 of floats"},
    {INSTANCED("{\"attributes\":{\"ROTATION\":0}}"), VISD_ERR_BAD_VALUE, "ROTATION (accessors[0]) must be VEC4"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
        struct visd_model m;
        struct visd_why why = {{0}};
        enum visd_err err = read_text(&m, refusals[i].text, NULL, &why);
        if (err != refusals[i].err || !strstr(why.text, refusals[i].says)) fail_msg("%s\n  gave %d: %s", refusals[i].text, err, why.text);
        if (err != VISD_ERR_OK) {
            assert_true(m.object_count == 0 && m.mesh_count == 0 && m.group_count == 0 && m.warning_count == 0);
            assert_int_equal(strncmp(why.text, "t.gltf: ", 8), 0);
        }
        visd_model_finish(&m);
    }
}

static void test_not_finite(void **state)
{
    (void)state;
    float kept;
    memcpy(&kept, data + 20, 4);
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        struct visd_model m;
        struct visd_why why;
        put(20, &bad[i], 4);
        encode(data, 252, data_uri);
        assert_int_equal(read_text(&m, PLAIN, NULL, &why), VISD_ERR_BAD_VALUE);
        assert_non_null(strstr(why.text, "meshes[0].primitives[0]: the position of vertex 1 is not finite"));
    }
    put(20, &kept, 4);
    encode(data, 252, data_uri);
    float far = NAN;
    memcpy(&kept, data + 96, 4);
    put(96, &far, 4); /* a translation of an instance */
    encode(data, 252, data_uri);
    struct visd_model m;
    struct visd_why why;
    assert_int_equal(read_text(&m, INSTANCES(""), NULL, &why), VISD_ERR_BAD_VALUE);
    assert_non_null(strstr(why.text, "instance 0"));
    put(96, &kept, 4);
    encode(data, 252, data_uri);
}

static void test_depth(void **state)
{
    (void)state;
    /* 100,000 nodes in a chain: walked without recursion, refused by the limit of nesting, in reasonable time. */
    size_t count = 100000, room = count * 32 + 1000;
    char *text = malloc(room);
    size_t n = (size_t)snprintf(text, room, HEAD "\"scenes\":[{\"nodes\":[0]}],\"nodes\":[");
    for (size_t i = 0; i + 1 < count; i++) n += (size_t)snprintf(text + n, room - n, "{\"children\":[%zu]},", i + 1);
    snprintf(text + n, room - n, "{\"mesh\":0}]" MESH ACCESSORS BUFFERS "}");
    struct visd_model m;
    struct visd_why why;
    assert_int_equal(read_text(&m, text, NULL, &why), VISD_ERR_TOO_BIG);
    assert_non_null(strstr(why.text, "nested more than"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),         cmocka_unit_test(test_tree),           cmocka_unit_test(test_scenes),
        cmocka_unit_test(test_materials),     cmocka_unit_test(test_modes),          cmocka_unit_test(test_index_types),
        cmocka_unit_test(test_only_used_vertices), cmocka_unit_test(test_strides_and_quantization), cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_instances),     cmocka_unit_test(test_pose_unknown),   cmocka_unit_test(test_meshopt),
        cmocka_unit_test(test_glb),           cmocka_unit_test(test_files),          cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_not_finite),    cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests_name("visctl gltf", tests, setup, NULL);
}
