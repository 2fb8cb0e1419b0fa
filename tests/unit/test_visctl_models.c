/* link: visd_visctl jansson */
/* Real files: the models that come with the project's shared folder, against their list of figures, and the glTF files of Debian's
 * assimp-testmodels. What is not installed is skipped, and said to be. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "client/visctl/import/gltf.h"
#include "client/visctl/model/transform.h"

#define ASSIMP "/usr/share/assimp/models/glTF2/"

static const char *models(void)
{
    const char *folder = getenv("VISD_MODELS");
    return folder ? folder : VISD_SOURCE_DIR "/../shared/models";
}

static uint64_t number(const json_t *row, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(row, key));
}

static void test_figures(void **state)
{
    (void)state;
    char path[1024];
    snprintf(path, sizeof(path), "%s/stats.json", models());
    json_t *stats = json_load_file(path, 0, NULL);
    if (!stats) {
        print_message("skipped: %s is not there\n", path);
        skip();
    }
    const char *name;
    json_t *row;
    json_object_foreach(stats, name, row)
    {
        struct visd_model m;
        struct visd_model_figures f;
        struct visd_why why = {{0}};
        visd_model_init(&m);
        snprintf(path, sizeof(path), "%s/%s", models(), name);
        if (visd_gltf_read(&m, path, NULL, &why) != VISD_ERR_OK) fail_msg("%s", why.text);
        assert_int_equal(visd_model_figures(&m, &f, &why), VISD_ERR_OK);
        assert_int_equal(m.object_count, number(row, "objects"));
        assert_int_equal(m.mesh_count, number(row, "meshes_used"));
        assert_int_equal(f.meshes_used, number(row, "meshes_used"));
        assert_int_equal(f.triangles_unique, number(row, "tris_unique"));
        assert_int_equal(f.triangles, number(row, "tris"));
        const json_t *bounds = json_object_get(row, "bounds");
        for (int k = 0; k < 3; k++) {
            double low = json_number_value(json_array_get(json_array_get(bounds, 0), k)), high = json_number_value(json_array_get(json_array_get(bounds, 1), k));
            /* The list counts vertices that no triangle uses, of which negative_scale/ has many; our boxes leave them out. */
            bool inside = f.min[k] > low - 1e-3 && f.max[k] < high + 1e-3, same = f.min[k] < low + 1e-3 && f.max[k] > high - 1e-3;
            if (!inside || (!same && strncmp(name, "negative_scale", 14) != 0)) fail_msg("%s axis %d: %g to %g, not %g to %g", name, k, f.min[k], f.max[k], low, high);
        }
        uint32_t mirrored = 0;
        for (uint32_t i = 0; i < m.object_count; i++) {
            double world[12];
            visd_model_group_world(&m, m.objects[i].group, world);
            visd_transform_compose(world, world, m.objects[i].transform);
            mirrored += visd_transform_determinant(world) < 0;
            assert_int_equal(m.objects[i].id, i);
        }
        assert_int_equal(mirrored, number(json_object_get(row, "issues"), "mirrored objects (det<0)"));
        visd_model_finish(&m);
    }
    json_decref(stats);
}

static const struct {
    const char *file;
    enum visd_err err;
    uint32_t objects, meshes;
    uint64_t triangles;
} files[] = {
    {"2CylinderEngine-glTF-Binary/2CylinderEngine.glb", VISD_ERR_OK, 67, 29, 121496},
    {"draco/2CylinderEngine.gltf", VISD_ERR_OK, 67, 29, 110336},
    {"BoxTextured-glTF-Embedded/BoxTextured.gltf", VISD_ERR_OK, 1, 1, 12},
    {"BoxTextured-glTF/BoxTextured.gltf", VISD_ERR_OK, 1, 1, 12},
    {"BoxTexcoords-glTF/boxTexcoords.gltf", VISD_ERR_OK, 1, 1, 12},
    {"ClearCoat-glTF/ClearCoatTest.gltf", VISD_ERR_OK, 27, 27, 37116},
    {"IncorrectVertexArrays/Cube.gltf", VISD_ERR_OK, 8, 4, 46},
    {"textureTransform/TextureTransformTest.gltf", VISD_ERR_OK, 12, 9, 24},
    {"TestNoRootNode/SceneWithoutNodes.gltf", VISD_ERR_OK, 0, 0, 0},
    {"glTF-Sample-Models/AnimatedMorphCube-glTF/AnimatedMorphCube.gltf", VISD_ERR_OK, 1, 1, 0},
    {"simple_skin/simple_skin.gltf", VISD_ERR_OK, 1, 1, 0},
    {"glTF-Asset-Generator/Mesh_PrimitiveMode/Mesh_PrimitiveMode_00.gltf", VISD_ERR_OK, 1, 0, 0},
    {"glTF-Asset-Generator/Mesh_PrimitiveMode/Mesh_PrimitiveMode_04.gltf", VISD_ERR_OK, 1, 1, 2},
    {"glTF-Asset-Generator/Mesh_PrimitiveMode/Mesh_PrimitiveMode_06.gltf", VISD_ERR_OK, 1, 1, 2},
    {"glTF-Asset-Generator/Mesh_PrimitiveMode/Mesh_PrimitiveMode_12.gltf", VISD_ERR_OK, 1, 1, 2},
    {"TestNoRootNode/NoScene.gltf", VISD_ERR_BAD_VALUE, 0, 0, 0},
    {"SchemaFailures/sceneWrongType.gltf", VISD_ERR_BAD_VALUE, 0, 0, 0},
    {"RecursiveNodes/RecursiveNodes.gltf", VISD_ERR_BAD_VALUE, 0, 0, 0},
    {"IndexOutOfRange/IndexOutOfRange.gltf", VISD_ERR_BAD_VALUE, 0, 0, 0},
    {"IndexOutOfRange/AllIndicesOutOfRange.gltf", VISD_ERR_BAD_VALUE, 0, 0, 0},
    {"BoxWithInfinites-glTF-Binary/BoxWithInfinites.glb", VISD_ERR_BAD_VALUE, 0, 0, 0},
    {"MissingBin/BoxTextured.gltf", VISD_ERR_IO, 0, 0, 0},
    {"wrongTypes/badArray.gltf", VISD_ERR_BAD_VALUE, 0, 0, 0},
    {"BoxTextured-glTF-techniqueWebGL/BoxTextured.gltf", VISD_ERR_NOT_SUPPORTED, 0, 0, 0},
};

static void test_assimp(void **state)
{
    (void)state;
    if (access(ASSIMP, R_OK) != 0) {
        print_message("skipped: assimp-testmodels is not installed\n");
        skip();
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        char path[256];
        struct visd_model m;
        struct visd_model_figures f;
        struct visd_why why = {{0}};
        visd_model_init(&m);
        snprintf(path, sizeof(path), ASSIMP "%s", files[i].file);
        enum visd_err err = visd_gltf_read(&m, path, NULL, &why);
        if (err != files[i].err) fail_msg("%s: %d: %s", files[i].file, err, why.text);
        assert_int_equal(visd_model_figures(&m, &f, &why), VISD_ERR_OK);
        assert_int_equal(m.object_count, files[i].objects);
        assert_int_equal(m.mesh_count, files[i].meshes);
        assert_int_equal(f.triangles, files[i].triangles);
        visd_model_finish(&m);
    }
}

static unsigned char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size);
    if (fread(bytes, 1, *size, file) != *size) *size = 0;
    fclose(file);
    return bytes;
}

/* Damaged Draco data ends in a refusal or in some mesh, never in harm. */
static void test_damaged_draco(void **state)
{
    (void)state;
    size_t size = 0, text_size = 0;
    unsigned char *good = read_file(ASSIMP "draco/2CylinderEngine.bin", &size), *text = read_file(ASSIMP "draco/2CylinderEngine.gltf", &text_size);
    char folder[] = "/tmp/visctl-draco-XXXXXX", path[64];
    if (!good || !text) {
        free(good);
        free(text);
        print_message("skipped: assimp-testmodels is not installed\n");
        skip();
    }
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/2CylinderEngine.bin", folder);
    uint64_t random = 12345;
    for (int round = 0; round < 60; round++) {
        unsigned char *bad = malloc(size);
        memcpy(bad, good, size);
        for (int k = 0; k < 40; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            bad[(random >> 20) % (round % 2 ? size : 2000)] ^= (unsigned char)(random >> 56 | 1);
        }
        FILE *file = fopen(path, "wb");
        assert_int_equal(fwrite(bad, 1, size, file), size);
        fclose(file);
        free(bad);
        struct visd_model m;
        struct visd_why why = {{0}};
        visd_model_init(&m);
        enum visd_err err = visd_gltf_read_memory(&m, text, text_size, "damaged.gltf", folder, NULL, &why);
        if (err != VISD_ERR_OK) assert_true(m.object_count == 0 && *why.text);
        visd_model_finish(&m);
    }
    unlink(path);
    rmdir(folder);
    free(good);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_figures), cmocka_unit_test(test_assimp), cmocka_unit_test(test_damaged_draco)};
    return cmocka_run_group_tests_name("visctl models", tests, NULL, NULL);
}
