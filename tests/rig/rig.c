/* See rig.h. */
#include "rig.h"

#include <math.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "place.h"

static void note(void *context, enum visd_worker_note kind, const char *text)
{
    (void)context;
    fprintf(stderr, "%s: %s\n", kind == VISD_WORKER_NOTE_VALIDATION ? "validation" : "device", text);
}

void rig_init(struct rig *rig, uint64_t budget_triangles, uint64_t budget_samples)
{
    char why[1024];
    *rig = (struct rig){0};
    assert_int_equal(visd_segment_create(&rig->segment, 0), VISD_ERR_OK);
    struct visd_worker_params params = {.segment = rig->segment, .device = "cpu", .budget_triangles = budget_triangles, .budget_samples = budget_samples,
                                        .validate = getenv("VISD_TEST_VALIDATE") != NULL, .note = note};
    enum visd_err err = visd_worker_start(&rig->worker, &params, why, sizeof(why));
    if (err != VISD_ERR_OK) fail_msg("worker: %s", why);
    assert_int_equal(rig_do(rig, (struct visd_job){.kind = VISD_JOB_SCENE_OPEN}).err, VISD_ERR_OK);
}

void rig_finish(struct rig *rig)
{
    uint64_t messages = visd_worker_validation_messages(rig->worker);
    visd_worker_stop(rig->worker);
    visd_segment_destroy(rig->segment);
    assert_int_equal(messages, 0);
}

struct visd_result rig_do(struct rig *rig, struct visd_job job)
{
    struct visd_result result;
    job.serial = ++rig->serial;
    assert_int_equal(visd_segment_put_job(rig->segment, &job), VISD_ERR_OK);
    while (!visd_segment_take_result(rig->segment, &result)) {
        struct pollfd fd = {.fd = visd_segment_result_fd(rig->segment), .events = POLLIN};
        poll(&fd, 1, 60000);
    }
    assert_int_equal(result.serial, job.serial);
    if (result.err != VISD_ERR_OK) fprintf(stderr, "job %u: %s\n", job.kind, result.text);
    return result;
}

uint32_t rig_block(struct rig *rig, const struct visd_mesh_block *source, uint64_t bytes)
{
    uint64_t block;
    assert_int_equal(visd_segment_alloc(rig->segment, bytes, &block), VISD_ERR_OK);
    memcpy(visd_segment_at(rig->segment, block), source, bytes);
    struct visd_job job = {.kind = VISD_JOB_MESH_ADD, .u.mesh = {.slot = rig->meshes, .block = block, .bytes = bytes}};
    assert_int_equal(rig_do(rig, job).err, VISD_ERR_OK);
    visd_segment_free(rig->segment, block);
    return rig->meshes++;
}

uint32_t rig_mesh(struct rig *rig, const float *positions, uint32_t vertices, const uint32_t *indices, uint32_t count, enum visd_sides sides)
{
    struct visd_mesh_part part = {.count = count, .sides = sides};
    uint64_t bytes = sizeof(struct visd_mesh_block) + vertices * UINT64_C(12) + count * UINT64_C(4) + sizeof(part);
    struct visd_mesh_block *block = calloc(1, bytes);
    char *at = (char *)(block + 1);
    *block = (struct visd_mesh_block){.vertices = vertices, .indices = count, .parts = 1};
    memcpy(at, positions, vertices * UINT64_C(12));
    memcpy(at + vertices * UINT64_C(12), indices, count * UINT64_C(4));
    memcpy(at + vertices * UINT64_C(12) + count * UINT64_C(4), &part, sizeof(part));
    uint32_t slot = rig_block(rig, block, bytes);
    free(block);
    return slot;
}

uint32_t rig_box_mesh(struct rig *rig, const float half[3], enum visd_sides sides)
{
    static const uint32_t indices[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4, 2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    float positions[24];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 3; j++) positions[i * 3 + j] = (i >> j & 1) ? half[j] : -half[j];
    return rig_mesh(rig, positions, 8, indices, 36, sides);
}

struct visd_object_change rig_object(uint32_t slot, uint64_t id, const double transform[12], const float half[3], uint32_t mesh, uint32_t flags)
{
    static const double identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    struct visd_object_change c = {.slot = slot, .bounds = {.flags = flags | VISD_OBJECT_LIVE, .layers = UINT32_MAX},
                                   .info = {.mesh = mesh, .id = {(uint32_t)id, (uint32_t)(id >> 32)}, .generation = 1}};
    place_object(&c, transform ? transform : identity);
    for (int i = 0; i < 3; i++) c.bounds.row[i].half = half[i];
    return c;
}

void rig_commit(struct rig *rig, const struct visd_object_change *changes, uint32_t count)
{
    uint64_t block;
    for (uint32_t done = 0; done < count;) {
        uint32_t part = count - done < 16384 ? count - done : 16384;
        assert_int_equal(visd_segment_alloc(rig->segment, part * sizeof(*changes), &block), VISD_ERR_OK);
        memcpy(visd_segment_at(rig->segment, block), changes + done, part * sizeof(*changes));
        struct visd_job stage = {.kind = VISD_JOB_STAGE, .u.stage = {.block = block, .count = part}};
        assert_int_equal(rig_do(rig, stage).err, VISD_ERR_OK);
        visd_segment_free(rig->segment, block);
        done += part;
    }
    for (uint32_t i = 0; i < count; i++)
        if (changes[i].slot >= rig->slots) rig->slots = changes[i].slot + 1;
    struct visd_job apply = {.kind = VISD_JOB_APPLY, .u.apply = {.revision = ++rig->revision, .slots = rig->slots}};
    assert_int_equal(rig_do(rig, apply).err, VISD_ERR_OK);
}

void rig_clear(struct rig *rig)
{
    uint32_t count = rig->slots;
    struct visd_object_change *dead = calloc(count + 1, sizeof(*dead));
    for (uint32_t i = 0; i < count; i++) dead[i] = (struct visd_object_change){.slot = i, .info.mesh = VISD_MESH_NONE};
    rig_commit(rig, dead, count);
    free(dead);
    rig->slots = 0;
}

struct visd_camera rig_camera(const double eye[3], double yaw, double pitch, double fov_y, double near, uint32_t width, uint32_t height)
{
    double forward[3] = {-sin(yaw) * cos(pitch), sin(pitch), -cos(yaw) * cos(pitch)};
    double right[3] = {cos(yaw), 0, -sin(yaw)};
    double up[3] = {right[1] * forward[2] - right[2] * forward[1], right[2] * forward[0] - right[0] * forward[2], right[0] * forward[1] - right[1] * forward[0]};
    double sy = 1 / tan(fov_y / 2), sx = sy * height / width;
    struct visd_camera c = {.orientation = -1, .width = width, .height = height, .samples = 1, .layers = UINT32_MAX};
    for (int i = 0; i < 3; i++) {
        c.m[0][i] = (float)(sx * right[i]);
        c.m[1][i] = (float)(-sy * up[i]); /* pixels grow downwards */
        c.m[3][i] = (float)forward[i];
        place_split(eye[i], &c.eye_hi[i], &c.eye_lo[i]);
    }
    c.m[2][3] = (float)near;
    return c;
}

uint32_t rig_view(struct rig *rig)
{
    struct visd_job job = {.kind = VISD_JOB_VIEW_OPEN, .view = rig->views};
    assert_int_equal(rig_do(rig, job).err, VISD_ERR_OK);
    return rig->views++;
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

struct rig_list rig_frame(struct rig *rig, uint32_t view, const struct visd_camera *camera, enum visd_method method, uint32_t flags)
{
    uint64_t bytes = (uint64_t)rig->slots * 8 + 64, depths = (uint64_t)camera->width * camera->height * 4, block, prepass = 0;
    assert_int_equal(visd_segment_alloc(rig->segment, bytes, &block), VISD_ERR_OK);
    if (flags & VISD_FRAME_PREPASS) {
        assert_int_equal(visd_segment_alloc(rig->segment, depths, &prepass), VISD_ERR_OK);
        memcpy(visd_segment_at(rig->segment, prepass), rig->prepass, depths);
    }
    struct visd_job job = {.kind = VISD_JOB_FRAME, .view = view, .u.frame = {.camera = *camera, .out = block, .capacity = bytes, .prepass = prepass, .method = method,
                                                                         .flags = flags}};
    rig->last = rig_do(rig, job);
    visd_segment_free(rig->segment, prepass);
    assert_int_equal(rig->last.err, VISD_ERR_OK);
    struct rig_list list = {.count = rig->last.count, .ids = malloc(rig->last.count * 8 + 8), .in_order = malloc(rig->last.count * 8 + 8)};
    const void *out = visd_segment_at(rig->segment, block);
    for (uint64_t i = 0; i < list.count; i++) list.in_order[i] = flags & VISD_FRAME_IDS32 ? ((const uint32_t *)out)[i] : ((const uint64_t *)out)[i];
    memcpy(list.ids, list.in_order, list.count * 8);
    visd_segment_free(rig->segment, block);
    qsort(list.ids, list.count, 8, by_id);
    return list;
}

void rig_list_free(struct rig_list *list)
{
    free(list->ids);
    free(list->in_order);
    *list = (struct rig_list){0};
}

bool rig_lists(const struct rig_list *list, uint64_t id) { return bsearch(&id, list->ids, list->count, 8, by_id) != NULL; }

bool rig_same_list(const struct rig_list *a, const struct rig_list *b)
{
    return a->count == b->count && memcmp(a->ids, b->ids, a->count * sizeof(a->ids[0])) == 0;
}

struct rig_picture rig_snapshot(struct rig *rig, uint32_t view, uint32_t what, uint32_t level, uint64_t capacity)
{
    uint64_t block;
    assert_int_equal(visd_segment_alloc(rig->segment, capacity, &block), VISD_ERR_OK);
    struct visd_job job = {.kind = VISD_JOB_SNAPSHOT, .view = view, .u.snapshot = {.what = what, .level = level, .out = block, .capacity = capacity}};
    struct visd_result result = rig_do(rig, job);
    assert_int_equal(result.err, VISD_ERR_OK);
    struct rig_picture picture = {.data = malloc(result.count + 8), .count = result.count, .width = result.width, .height = result.height};
    memcpy(picture.data, visd_segment_at(rig->segment, block), result.count);
    visd_segment_free(rig->segment, block);
    return picture;
}
