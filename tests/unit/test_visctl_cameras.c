/* link: visd_visctl spng */
/* Camera lines: read and written without loss, refused by name; the tour; and pictures. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <spng.h>

#include "client/visctl/camera/cameras.h"
#include "client/visctl/camera/tour.h"
#include "client/visctl/picture/picture.h"

#define I16 "[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]"
#define PLAIN "\"view\":" I16 ",\"proj\":" I16 ",\"width\":8,\"height\":4"

static void test_parse(void **state)
{
    (void)state;
    struct visd_client_camera c;
    struct visd_why why;
    const char *plain = "{" PLAIN "}";
    assert_int_equal(visd_camera_parse(&c, plain, strlen(plain), "line 1", &why), VISD_ERR_OK);
    assert_true(c.depth == VISD_DEPTH_ZERO_TO_ONE && c.y == VISD_Y_UP && c.samples == 1 && c.layers == UINT32_MAX && !c.caps && !c.planes && c.min_pixels == 0);
    const char *full = "{" PLAIN ",\"depth\":\"neg_one_to_one\",\"y\":\"down\",\"samples\":4,\"clip_planes\":[[1,2,3,4],[0,0,1,-2]],\"caps\":true,\"layers\":7,\"min_pixels\":2.5}";
    assert_int_equal(visd_camera_parse(&c, full, strlen(full), "line 1", &why), VISD_ERR_OK);
    assert_true(c.depth == VISD_DEPTH_NEG_ONE_TO_ONE && c.y == VISD_Y_DOWN && c.samples == 4 && c.layers == 7 && c.caps && c.planes == 2 && c.min_pixels == 2.5);
    assert_true(c.plane[1][3] == -2);
}

static void test_refusals(void **state)
{
    (void)state;
    const struct { const char *line, *says; } rows[] = {
        {"nonsense", "not JSON"},
        {"[]", "a camera is a JSON object"},
        {"{}", "view is missing"},
        {"{\"view\":" I16 ",\"proj\":" I16 ",\"width\":8}", "height is missing"},
        {"{\"view\":[1,2,3]}", "view must be 16 finite numbers"},
        {"{\"view\":[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,\"1\"]}", "view must be 16 finite numbers"},
        {"{" PLAIN ",\"view\":" I16 "}", "duplicate"},
        {"{\"view\":" I16 ",\"proj\":" I16 ",\"width\":8.5,\"height\":4}", "width must be"},
        {"{\"view\":" I16 ",\"proj\":" I16 ",\"width\":-8,\"height\":4}", "width must be"},
        {"{" PLAIN ",\"depth\":\"deep\"}", "depth must be zero_to_one"},
        {"{" PLAIN ",\"y\":1}", "y must be up or down"},
        {"{" PLAIN ",\"samples\":\"4\"}", "samples must be"},
        {"{" PLAIN ",\"clip_planes\":[[1,2,3]]}", "clip_planes must be"},
        {"{" PLAIN ",\"clip_planes\":[[0,0,0,1],[0,0,0,1],[0,0,0,1],[0,0,0,1],[0,0,0,1],[0,0,0,1],[0,0,0,1],[0,0,0,1],[0,0,0,1]]}", "at most 8"},
        {"{" PLAIN ",\"caps\":0}", "caps must be true or false"},
        {"{" PLAIN ",\"layers\":4294967296}", "layers must be"},
        {"{" PLAIN ",\"min_pixels\":-1}", "min_pixels must be"},
        {"{" PLAIN ",\"veiw\":1}", "unknown key \"veiw\""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct visd_client_camera c;
        struct visd_why why = {{0}};
        assert_int_equal(visd_camera_parse(&c, rows[i].line, strlen(rows[i].line), "f line 3", &why), VISD_ERR_BAD_VALUE);
        if (!strstr(why.text, rows[i].says) || strncmp(why.text, "f line 3: ", 10) != 0) fail_msg("%s: %s", rows[i].line, why.text);
    }
    struct visd_client_camera *cameras;
    struct visd_why why;
    size_t count;
    assert_int_equal(visd_cameras_read("/nowhere", &cameras, &count, &why), VISD_ERR_IO);
    assert_int_equal(visd_cameras_read("/dev/null", &cameras, &count, &why), VISD_ERR_BAD_VALUE);
    assert_non_null(strstr(why.text, "holds no camera"));
}

static void test_files(void **state)
{
    (void)state;
    char path[] = "/tmp/visctl-cameras-XXXXXX";
    struct visd_client_camera out[20], *in;
    struct visd_why why;
    size_t count;
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    visd_camera_tour(out, 20, (const double[3]){-1, -2, -3}, (const double[3]){1e7, 5, 3}, 320, 200);
    out[3].planes = 1, out[3].plane[0][1] = 0.1, out[3].samples = 8, out[3].min_pixels = 1.0 / 3, out[3].layers = 5, out[3].caps = true, out[3].y = VISD_Y_DOWN;
    for (int i = 0; i < 20; i++) assert_int_equal(visd_camera_write(file, &out[i], &why), VISD_ERR_OK);
    fputs("\n  \n", file);
    fclose(file);
    assert_int_equal(visd_cameras_read(path, &in, &count, &why), VISD_ERR_OK);
    assert_int_equal(count, 20);
    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 16; k++) assert_true(in[i].view[k] == out[i].view[k] && in[i].proj[k] == out[i].proj[k]);
        assert_memory_equal(in[i].plane, out[i].plane, sizeof(in[i].plane));
        assert_true(in[i].depth == out[i].depth && in[i].y == out[i].y && in[i].samples == out[i].samples && in[i].layers == out[i].layers &&
                    in[i].caps == out[i].caps && in[i].planes == out[i].planes && in[i].min_pixels == out[i].min_pixels && in[i].width == 320);
    }
    free(in);
    unlink(path);
}

static void test_look(void **state)
{
    (void)state;
    struct visd_client_camera c;
    const double eye[3] = {1, 2, 3}, target[3] = {5, 3, -4};
    visd_camera_look(&c, eye, target, 60, 0.1, 200, 100);
    double p[3];
    for (int r = 0; r < 3; r++) p[r] = c.view[r] * target[0] + c.view[4 + r] * target[1] + c.view[8 + r] * target[2] + c.view[12 + r];
    assert_true(fabs(p[0]) < 1e-12 && fabs(p[1]) < 1e-12 && fabs(p[2] + sqrt(16 + 1 + 49)) < 1e-12); /* straight ahead, along -z */
    assert_true(c.view[5] > 0); /* up stays up */
}

/* A ball before nothing, as reversed depth. */
static void test_picture(void **state)
{
    (void)state;
    enum { W = 64, H = 48 };
    static float depth[W * H];
    static uint64_t ids[W * H];
    struct visd_client_camera c;
    struct visd_picture picture;
    struct visd_why why;
    char path[] = "/tmp/visctl-picture-XXXXXX";
    visd_camera_look(&c, (const double[3]){0, 0, 5}, (const double[3]){0, 0, 0}, 40, 0.1, W, H);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            double dx = (x - W / 2) / 16.0, dy = (y - H / 2) / 16.0, r = dx * dx + dy * dy;
            depth[y * W + x] = r < 1 ? (float)(0.1 / (5 - sqrt(1 - r))) : 0;
            ids[y * W + x] = r < 1 ? 7 : UINT64_MAX;
        }
    struct visd_picture_range range = visd_picture_depth_range(&c, depth, W * H);
    assert_true(fabs(range.near - 4) < 0.01 && range.far > 4.5 && range.far < 5.01);
    assert_int_equal(visd_picture_init(&picture, W, H, &why), VISD_ERR_OK);
    uint8_t before[3], after[3];
    memcpy(before, picture.rgb, 3);
    visd_picture_depth(&picture, &c, depth);
    assert_memory_equal(before, picture.rgb, 3); /* the background stays */
    assert_true(picture.rgb[(H / 2 * W + W / 2) * 3] > 150);
    visd_picture_ids(&picture, &c, ids, depth);
    visd_picture_id_colour(7, after);
    const double corners[8][3] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {-1, 1, 1}, {1, 1, 9}}; /* one lies behind the eye */
    visd_picture_box(&picture, &c, corners, depth, after);
    int fd = mkstemp(path);
    close(fd);
    assert_int_equal(visd_picture_write_png(&picture, path, &why), VISD_ERR_OK);

    spng_ctx *png = spng_ctx_new(0);
    FILE *file = fopen(path, "rb");
    size_t size;
    assert_int_equal(spng_set_png_file(png, file), 0);
    assert_int_equal(spng_decoded_image_size(png, SPNG_FMT_RGB8, &size), 0);
    assert_int_equal(size, W * H * 3);
    uint8_t *back = malloc(size);
    assert_int_equal(spng_decode_image(png, back, size, SPNG_FMT_RGB8, 0), 0);
    assert_memory_equal(back, picture.rgb, size);
    free(back);
    spng_ctx_free(png);
    fclose(file);
    unlink(path);
    assert_int_equal(visd_picture_write_png(&picture, "/nowhere/x.png", &why), VISD_ERR_IO);
    visd_picture_finish(&picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parse), cmocka_unit_test(test_refusals), cmocka_unit_test(test_files),
                                       cmocka_unit_test(test_look), cmocka_unit_test(test_picture)};
    return cmocka_run_group_tests_name("visctl cameras", tests, NULL, NULL);
}
