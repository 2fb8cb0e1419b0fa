/* link: visd_stage visd_scene visd_view */
/* What a view reckons that its frames take on the device, held against what a real worker takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/rig/stage.h"

static struct rig rig;
static struct visd_scene *scene;

/* The loop's part: hands out the jobs of the scene and the view, one at a time, and takes their results. */
static void work(struct visd_view *view)
{
    struct visd_job job;
    while (visd_scene_next_job(scene, rig.serial + 1, &job) || (view && visd_view_next_job(view, rig.serial + 1, &job))) {
        struct visd_result result = rig_do(&rig, job);
        assert_int_equal(result.err, VISD_ERR_OK);
        assert_true(visd_scene_job_done(scene, &result) || (view && visd_view_job_done(view, &result)));
    }
}

static struct visd_view *open_view(uint32_t number)
{
    char why[200];
    struct visd_view *view;
    struct visd_view_params params = {.number = number, .method = VISD_METHOD_HIZ, .worker_ready = true};
    assert_int_equal(visd_view_open(&view, rig.segment, scene, &params, why, sizeof(why)), VISD_ERR_OK);
    return view;
}

static void draw(struct visd_view *view, uint32_t width, uint32_t height, uint32_t samples)
{
    struct visd_camera_spec camera = {.width = width, .height = height, .samples = samples, .layers = UINT32_MAX};
    struct visd_camera canonical;
    struct visd_answer answer;
    bool attached;
    void *replaced;
    char why[200];
    camera.view[0] = camera.view[5] = camera.view[10] = camera.view[15] = 1;
    camera.proj[0] = camera.proj[5] = 1;
    camera.proj[10] = camera.proj[11] = -1;
    camera.proj[14] = -0.1;
    assert_int_equal(visd_camera_canonical(&camera, &canonical, why, sizeof(why)), VISD_ERR_OK);
    struct visd_frame_spec spec = {.frame = visd_view_last_frame(view) + 1, .camera = &canonical};
    assert_int_equal(visd_view_submit(view, &spec, NULL, &attached, &replaced, why, sizeof(why)), VISD_ERR_OK);
    work(view);
    assert_true(visd_view_next_answer(view, &answer));
    assert_true(answer.err == VISD_ERR_OK && !answer.all);
    visd_view_answer_done(view, &answer);
}

/* What the worker holds, once it has freed what it had no more use for. */
static uint64_t held(void)
{
    assert_int_equal(rig_do(&rig, (struct visd_job){.kind = VISD_JOB_PING}).err, VISD_ERR_OK);
    return visd_worker_device_bytes(rig.worker);
}

static void commit_objects(uint32_t count)
{
    struct visd_batch *batch;
    struct visd_refusal why;
    struct visd_commit_reply reply;
    uint64_t *ids = calloc(count, sizeof(*ids));
    double (*boxes)[6] = calloc(count, sizeof(*boxes));
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = i;
        boxes[i][3] = boxes[i][4] = boxes[i][5] = 1;
    }
    struct visd_object_columns columns = {.count = count, .ids = ids, .boxes = boxes};
    assert_int_equal(visd_batch_create(&batch, rig.segment), VISD_ERR_OK);
    assert_int_equal(visd_batch_object_add(batch, &columns, &why), VISD_ERR_OK);
    assert_int_equal(visd_scene_commit(scene, batch, &(struct visd_commit_params){0}, &reply, &why), VISD_ERR_OK);
    visd_batch_destroy(batch);
    free(ids);
    free(boxes);
}

static void reckons_what_the_worker_holds(void **state)
{
    (void)state;
    static const uint32_t sizes[][3] = {
        {4096, 4096, 1}, {748, 748, 8}, /* depth is kept, the pyramid is not */
        {64, 64, 1}, {1, 1, 1}, {33, 1030, 2}, {1030, 33, 1}, {480, 270, 4}, {479, 269, 1}, {960, 540, 1}, {240, 135, 1}, {1, 1, 8},
    };
    struct visd_view *first = open_view(61), *view = open_view(62);
    commit_objects(5000);
    work(NULL);
    for (int i = 0; i < 3; i++) draw(first, 8, 8, 1); /* what all views share is there now */
    uint64_t before = held(), unopened = visd_view_bytes(view);
    draw(view, 8, 8, 1);
    uint64_t others = held() - visd_view_bytes(view);
    assert_true(held() - before <= unopened);
    for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
        const uint32_t *size = sizes[i % (sizeof(sizes) / sizeof(sizes[0]))];
        draw(view, size[0], size[1], size[2]);
        assert_int_equal(held(), others + visd_view_bytes(view));
    }
    visd_view_close(first);
    visd_view_close(view);
    work(first);
    work(view);
    visd_view_destroy(first);
    visd_view_destroy(view);
}

static int start(void **state)
{
    (void)state;
    struct visd_scene_params params = {.number = 1, .name = "s"};
    rig_init(&rig, 0, 0);
    assert_int_equal(visd_scene_create(&scene, rig.segment, &params, NULL), VISD_ERR_OK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    visd_scene_close(scene);
    work(NULL);
    assert_true(visd_scene_closed(scene));
    visd_scene_destroy(scene);
    rig_finish(&rig);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reckons_what_the_worker_holds),
    };
    return cmocka_run_group_tests_name("view and device", tests, start, end);
}
