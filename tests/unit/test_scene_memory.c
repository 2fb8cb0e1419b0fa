/* link: visd_segment visd_scene visd_proto -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc -Wl,--wrap=fallocate */
/* Memory running out at every allocation in turn: a commit is then refused by name, and the scene is as it was. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <cmocka.h>

#include "daemon/scene/scene.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
int __real_fallocate(int fd, int mode, off_t offset, off_t length);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t length);

static long left = -1; /* allocations that still succeed; negative: all */

static bool fails(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return fails() ? NULL : __real_realloc(p, size);
}

int __wrap_fallocate(int fd, int mode, off_t offset, off_t length)
{
    if (mode == 0 && fails()) {
        errno = ENOSPC;
        return -1;
    }
    return __real_fallocate(fd, mode, offset, length);
}

static struct visd_segment *segment;
static struct visd_scene *scene;
static struct visd_refusal why;
static struct visd_commit_reply reply;
static uint64_t serial;

static uint64_t mix(uint64_t sum, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ p[i]) * 0x100000001b3u;
    return sum;
}

/* Everything that can be read of the scene, in one number. */
static uint64_t print_of(void)
{
    uint64_t sum = 14695981039346656037u;
    struct visd_scene_info info;
    visd_scene_info(scene, &info);
    info.bytes_host = info.bytes_segment = 0; /* what is queued for the worker may have grown */
    sum = mix(sum, &info.revision, sizeof(info) - offsetof(struct visd_scene_info, revision));
    for (uint32_t s = visd_scene_next_object(scene, 0); s != VISD_SLOT_NONE; s = visd_scene_next_object(scene, s + 1)) {
        struct visd_object_row row;
        struct visd_object_change change;
        visd_scene_object_row(scene, s, &row);
        visd_scene_object_change(scene, s, &change);
        sum = mix(sum, row.name, row.name_bytes);
        sum = mix(sum, &row.id, sizeof(row.id));
        sum = mix(sum, &row.cost, sizeof(row.cost));
        sum = mix(sum, row.draw, sizeof(row.draw));
        sum = mix(sum, &change, sizeof(change));
    }
    for (uint32_t s = visd_scene_next_group(scene, 0); s != VISD_SLOT_NONE; s = visd_scene_next_group(scene, s + 1)) {
        struct visd_group_row row;
        visd_scene_group_row(scene, s, &row);
        sum = mix(sum, row.name, row.name_bytes);
        sum = mix(sum, &row.id, sizeof(row.id));
        sum = mix(sum, &row.parent, sizeof(row.parent));
        sum = mix(sum, row.transform, sizeof(row.transform));
    }
    return sum;
}

static void pump(void)
{
    struct visd_job job;
    while (visd_scene_next_job(scene, ++serial, &job))
        assert_true(visd_scene_job_done(scene, &(struct visd_result){ .serial = serial, .kind = job.kind }));
}

enum { N = 6000 }; /* two chunks */

static uint64_t ids[N], groups[3], parents[3], meshes[N], in_groups[N];
static double boxes[N][6], transforms[N][12], costs[N];
static uint32_t draws[N][5], offsets[N + 1];
static char names[N * 8];

#define TRY(call) do { enum visd_err err_ = (call); if (err_ != VISD_ERR_OK) return err_; } while (0)

static enum visd_err put_mesh(struct visd_batch *b, uint64_t id, float size)
{
    float v[2000 * 3] = { 0, 0, 0, size, 0, 0, 0, size, 0 };
    uint32_t index[3] = { 0, 1, 2 };
    struct visd_mesh_columns c = { .positions = v, .vertices = 2000, .indices = index, .indices_count = 3 };
    return visd_batch_mesh_put(b, id, &c, &why);
}

static enum visd_err fill(struct visd_batch *b, uint64_t first, size_t count, bool change)
{
    for (size_t i = 0; i < N; i++) {
        ids[i] = first + i;
        meshes[i] = i % 3;
        in_groups[i] = i % 2 ? VISD_ID_NONE : 1 + i / 2 % 3;
        for (int k = 0; k < 3; k++) {
            boxes[i][k] = (double)(i % 17);
            boxes[i][3 + k] = boxes[i][k] + 1;
            transforms[i][5 * k] = change ? 2 : 1;
        }
        transforms[i][3] = (double)i;
        costs[i] = (double)i;
        draws[i][0] = (uint32_t)i;
        offsets[i + 1] = offsets[i] + (uint32_t)snprintf(names + offsets[i], 8, "%c%zu", change ? 'c' : 'n', i % 1000);
    }
    for (uint64_t i = 0; i < 3; i++) {
        groups[i] = i + 1;
        parents[i] = i ? i : VISD_ID_NONE;
        TRY(put_mesh(b, i, change ? 7 : 3));
    }
    struct visd_group_columns g = { .count = 3, .groups = groups, .parents = parents, .transforms = transforms, .names = names,
        .name_bytes = offsets[3], .name_offsets = offsets };
    TRY(visd_batch_group_put(b, &g, &why));
    struct visd_object_columns c = { .count = count, .ids = ids, .boxes = boxes, .transforms = transforms, .meshes = meshes, .groups = in_groups,
        .costs = costs, .draws = draws, .names = names, .name_bytes = offsets[count], .name_offsets = offsets };
    return visd_batch_object_add(b, &c, &why);
}

/* Adds, changes and removes of everything. */
static enum visd_err edit(struct visd_batch *b)
{
    uint64_t some[40], mesh = 9, group = 9, none = VISD_ID_NONE;
    for (uint64_t i = 0; i < 40; i++)
        some[i] = i;
    TRY(fill(b, 100000, 5000, true));
    struct visd_object_columns c = { .count = 40, .ids = some, .boxes = boxes + 7, .transforms = transforms, .costs = costs + 3, .names = names,
        .name_bytes = offsets[40], .name_offsets = offsets };
    TRY(visd_batch_object_set(b, &c, &why));
    TRY(visd_batch_object_remove(b, some + 10, 20, &why));
    TRY(put_mesh(b, 9, 1));
    TRY(put_mesh(b, 9, 2));
    TRY(visd_batch_mesh_remove(b, &mesh, 1, &why));
    struct visd_group_columns g = { .count = 1, .groups = &group, .parents = &none };
    TRY(visd_batch_group_put(b, &g, &why));
    return visd_batch_group_remove(b, &group, 1, &why);
}

static enum visd_err run(bool first)
{
    struct visd_batch *b = NULL;
    uint8_t client[16] = { 7 };
    struct visd_commit_params params = { .client = client, .number = first ? 1 : 2 };
    enum visd_err err = visd_batch_create(&b, segment);
    if (err == VISD_ERR_OK)
        err = first ? fill(b, 0, N, false) : edit(b);
    if (err == VISD_ERR_OK)
        err = visd_scene_commit(scene, b, &params, &reply, &why);
    visd_batch_destroy(b);
    return err;
}

static void each_in_turn(bool on_device, bool half_loaded)
{
    struct visd_scene_params params = { .number = 0, .name = "memory" };
    struct visd_job job;
    int failures = 0;
    assert_int_equal(visd_segment_create(&segment, 0), VISD_ERR_OK);
    assert_int_equal(visd_scene_create(&scene, segment, &params, &why), VISD_ERR_OK);
    assert_int_equal(run(true), VISD_ERR_OK);
    if (on_device)
        pump();
    if (half_loaded) {
        visd_scene_reload(scene);
        for (int i = 0; i < 3; i++)
            assert_true(visd_scene_next_job(scene, ++serial, &job));
    }
    uint64_t before = print_of();
    size_t used = visd_segment_used(segment);
    for (long n = 0;; n++) {
        left = n;
        enum visd_err err = run(false);
        left = -1;
        if (err == VISD_ERR_OK)
            break;
        failures++;
        assert_int_equal(err, VISD_ERR_NO_MEMORY);
        assert_true(visd_scene_check(scene));
        assert_true(print_of() == before);
        if (!half_loaded)
            assert_int_equal(visd_segment_used(segment), used);
    }
    assert_true(failures > 30);
    assert_int_equal(visd_scene_revision(scene), 2);
    assert_int_equal(visd_scene_objects(scene), N + 5000 - 20);
    assert_true(print_of() != before);
    if (on_device)
        pump();
    visd_scene_destroy(scene);
    assert_int_equal(visd_segment_used(segment), 0);
    visd_segment_destroy(segment);
}

static void test_on_device(void **state)
{
    (void)state;
    each_in_turn(true, false);
}

static void test_without_worker(void **state)
{
    (void)state;
    each_in_turn(false, false);
}

static void test_while_loading(void **state)
{
    (void)state;
    each_in_turn(false, true);
}

static void test_creation(void **state)
{
    (void)state;
    struct visd_scene_params params = { .number = 0, .name = "memory" };
    for (left = 0; visd_segment_create(&segment, 0) != VISD_ERR_OK;) {
        static long n;
        left = ++n;
    }
    left = 0;
    assert_int_equal(visd_scene_create(&scene, segment, &params, &why), VISD_ERR_NO_MEMORY);
    left = -1;
    visd_segment_destroy(segment);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_creation),
        cmocka_unit_test(test_on_device),
        cmocka_unit_test(test_without_worker),
        cmocka_unit_test(test_while_loading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
