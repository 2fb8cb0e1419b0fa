/* link: visd_segment visd_scene visd_view visd_proto */
/* Views with a made-up worker: what is answered, when, and with what; every frame exactly once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/view/view.h"

static struct visd_segment *segment;
static struct visd_scene *scene;
static struct visd_view *view;
static uint64_t serial, seed;
static char why[200];

/* The worker: jobs taken and not answered, what it lists, the revision it is at. */
static struct visd_job taken[1024];
static size_t taken_count;
static uint64_t device_revision;
static uint64_t list[4096];
static size_t list_count;
static int device_views, device_open;

static uint64_t rnd(uint64_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % n;
}

static int start(void **state)
{
    (void)state;
    struct visd_scene_params sp = { .number = 1, .name = "s" };
    struct visd_view_params vp = { .number = 7, .method = VISD_METHOD_HIZ, .keep_frames = UINT32_MAX, .worker_ready = true };
    serial = taken_count = list_count = 0;
    device_views = device_open = 0;
    device_revision = 0;
    seed = 99991;
    assert_int_equal(visd_segment_create(&segment, 0), VISD_ERR_OK);
    assert_int_equal(visd_scene_create(&scene, segment, &sp, NULL), VISD_ERR_OK);
    assert_int_equal(visd_view_open(&view, segment, scene, &vp, why, sizeof(why)), VISD_ERR_OK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    visd_view_destroy(view);
    visd_scene_destroy(scene);
    assert_int_equal(visd_segment_used(segment), 0);
    visd_segment_destroy(segment);
    view = NULL;
    scene = NULL;
    return 0;
}

static void put(const struct visd_job *job)
{
    if (job->kind == VISD_JOB_SCENE_OPEN)
        device_open++;
    if (job->kind == VISD_JOB_SCENE_CLOSE) {
        assert_int_equal(device_views, 0);
        device_open--;
    }
    if (job->kind == VISD_JOB_APPLY)
        device_revision = job->u.apply.revision;
    if (job->kind == VISD_JOB_VIEW_OPEN)
        device_views++;
    if (job->kind == VISD_JOB_VIEW_CLOSE)
        device_views--;
    if (job->kind == VISD_JOB_FRAME) {
        assert_true(device_open == 1 && device_views == 1);
        assert_int_equal(job->view, 7);
        assert_non_null(visd_segment_at(segment, job->u.frame.out));
    }
    taken[taken_count++] = *job;
}

static void pump(void)
{
    struct visd_job job;
    bool more = true;
    while (more && taken_count < 1000) {
        more = false;
        while (scene && taken_count < 1000 && visd_scene_next_job(scene, serial + 1, &job)) {
            serial++;
            put(&job);
            more = true;
        }
        while (view && taken_count < 1000 && visd_view_next_job(view, serial + 1, &job)) {
            serial++;
            put(&job);
            more = true;
        }
    }
    assert_true(!view || visd_view_check(view));
}

static void answer_job(size_t i, enum visd_err err)
{
    struct visd_job job = taken[i];
    struct visd_result r = { .serial = job.serial, .kind = job.kind, .view = job.view, .err = err, .revision = device_revision, .received_ns = 5, .started_ns = 6, .ended_ns = 7 };
    memmove(&taken[i], &taken[i + 1], (--taken_count - i) * sizeof(taken[0]));
    if (job.kind == VISD_JOB_FRAME && err == VISD_ERR_OK) {
        r.count = list_count;
        for (size_t k = 0; k < list_count; k++) {
            if (job.u.frame.flags & VISD_FRAME_IDS32)
                ((uint32_t *)visd_segment_at(segment, job.u.frame.out))[k] = (uint32_t)list[k];
            else
                ((uint64_t *)visd_segment_at(segment, job.u.frame.out))[k] = list[k];
        }
    }
    if (job.kind == VISD_JOB_SNAPSHOT) {
        r.width = 640;
        r.height = 480;
        r.count = 640 * 480 * 4;
        assert_true(job.u.snapshot.capacity >= r.count);
    }
    bool scenes = visd_scene_job_done(scene, &r), views = view && visd_view_job_done(view, &r);
    assert_true(scenes != views);
}

static void work(void)
{
    for (pump(); taken_count; pump())
        answer_job(0, VISD_ERR_OK);
}

static void commit_objects(uint64_t first, uint64_t count)
{
    struct visd_batch *b;
    struct visd_refusal refusal;
    struct visd_commit_reply reply;
    uint64_t *ids = calloc(count + 1, sizeof(*ids));
    double (*boxes)[6] = calloc(count + 1, sizeof(*boxes));
    for (uint64_t i = 0; i < count; i++) {
        ids[i] = first + i;
        boxes[i][3] = boxes[i][4] = boxes[i][5] = 1;
    }
    struct visd_object_columns c = { .count = count, .ids = ids, .boxes = boxes };
    assert_int_equal(visd_batch_create(&b, segment), VISD_ERR_OK);
    assert_int_equal(visd_batch_object_add(b, &c, &refusal), VISD_ERR_OK);
    assert_int_equal(visd_scene_commit(scene, b, &(struct visd_commit_params){ 0 }, &reply, &refusal), VISD_ERR_OK);
    visd_batch_destroy(b);
    free(ids);
    free(boxes);
    if (view)
        visd_view_scene_changed(view);
}

/* A frame as a client thinks of it. */
struct ask {
    uint64_t frame, base_frame;
    bool wait, has_base;
    struct visd_camera_spec camera;
};

static struct ask frame(uint64_t number, double x)
{
    struct ask s = { .frame = number };
    s.camera = (struct visd_camera_spec){ .width = 640, .height = 480, .layers = UINT32_MAX };
    s.camera.view[0] = s.camera.view[5] = s.camera.view[10] = s.camera.view[15] = 1;
    s.camera.view[12] = x;
    s.camera.proj[0] = s.camera.proj[5] = 1;
    s.camera.proj[10] = s.camera.proj[11] = -1;
    s.camera.proj[14] = -0.1;
    return s;
}

static struct visd_camera canonical(const struct ask *s)
{
    struct visd_camera camera;
    assert_int_equal(visd_camera_canonical(&s->camera, &camera, why, sizeof(why)), VISD_ERR_OK);
    return camera;
}

static enum visd_err send(const struct ask *s, void *cookie, bool *attached, void **replaced)
{
    const struct visd_camera camera = canonical(s);
    const struct visd_frame_spec spec = { .frame = s->frame, .camera = &camera, .wait = s->wait, .has_base = s->has_base, .base_frame = s->base_frame,
        .client_sent_ns = 2, .received_ns = 3 };
    return visd_view_submit(view, &spec, cookie, attached, replaced, why, sizeof(why));
}

static void submit(const struct ask *s, void *cookie)
{
    bool attached;
    void *replaced;
    assert_int_equal(send(s, cookie, &attached, &replaced), VISD_ERR_OK);
    assert_false(attached);
    assert_true(visd_view_check(view));
}

static void give_back(const struct visd_answer *a)
{
    visd_view_answer_done(view, a);
}

static void nothing(void)
{
    struct visd_answer a;
    assert_false(visd_view_next_answer(view, &a));
}

static struct visd_answer get(const void *cookie)
{
    struct visd_answer a;
    assert_true(visd_view_next_answer(view, &a));
    assert_ptr_equal(a.cookie, cookie);
    return a;
}

static void expect_err(const void *cookie, enum visd_err err)
{
    struct visd_answer a = get(cookie);
    assert_int_equal(a.err, err);
    assert_true(err == VISD_ERR_OK || a.text[0]);
    give_back(&a);
}

static void expect_all(const void *cookie)
{
    struct visd_answer a = get(cookie);
    assert_int_equal(a.err, VISD_ERR_OK);
    assert_true(a.all && a.degraded && a.why[0] && !a.ids && a.grade == VISD_GRADE_ALL);
    give_back(&a);
}

static char A, B, C, D, E;

static void test_one_frame(void **state)
{
    (void)state;
    struct ask s = frame(1, 0);
    struct visd_answer a;
    submit(&s, &A); /* the scene is not on the device yet: said at once */
    expect_all(&A);
    commit_objects(10, 5);
    work();
    list[0] = 12;
    list[1] = 14;
    list_count = 2;
    submit(&s, &B);
    work();
    a = get(&B);
    assert_true(!a.all && !a.delta && !a.degraded && a.ids32 && a.err == VISD_ERR_OK);
    assert_int_equal(a.grade, VISD_GRADE_CONSERVATIVE);
    assert_int_equal(a.count, 2);
    assert_int_equal(((const uint32_t *)a.ids)[1], 14);
    assert_int_equal(a.digest, visd_digest_id(12) + visd_digest_id(14));
    assert_int_equal(a.revision, 1);
    assert_int_equal(a.frame, 1);
    assert_true(a.client_sent_ns == 2 && a.received_ns == 3 && a.queued_ns && a.worker_ns == 5 && a.started_ns == 6 && a.ended_ns == 7);
    give_back(&a);
    assert_int_equal(visd_view_set_method(view, VISD_METHOD_QUERY, why, sizeof(why)), VISD_ERR_NOT_SUPPORTED);
    assert_int_equal(visd_view_set_method(view, 99, why, sizeof(why)), VISD_ERR_BAD_VALUE);
    assert_int_equal(visd_view_set_method(view, VISD_METHOD_FRUSTUM, why, sizeof(why)), VISD_ERR_OK);
    submit(&s, &C);
    work();
    a = get(&C);
    assert_int_equal(a.grade, VISD_GRADE_FRUSTUM);
    give_back(&a);
    nothing();
}

static void test_supersede(void **state)
{
    (void)state;
    struct ask s[5];
    work();
    for (int i = 0; i < 5; i++)
        s[i] = frame((uint64_t)i, i);
    submit(&s[0], &A);
    pump();
    submit(&s[1], &B);
    pump();
    submit(&s[2], &C); /* two are in flight: waits */
    pump();
    assert_int_equal(taken_count, 2);
    assert_int_equal(visd_view_frames_pending(view), 3);
    nothing();
    submit(&s[3], &D);
    expect_err(&C, VISD_ERR_SUPERSEDED);
    submit(&s[4], &E);
    expect_err(&D, VISD_ERR_SUPERSEDED);
    work();
    expect_err(&A, VISD_ERR_OK);
    expect_err(&B, VISD_ERR_OK);
    expect_err(&E, VISD_ERR_OK);
    nothing();
}

/* Numbers rise: one that comes too late was overtaken; the newest may come again, but names one camera for ever. */
static void test_numbers(void **state)
{
    (void)state;
    struct ask five = frame(5, 0), four = frame(4, 0), other = frame(5, 1);
    bool attached;
    void *replaced;
    work();
    submit(&five, &A);
    work();
    expect_err(&A, VISD_ERR_OK);
    assert_int_equal(visd_view_last_frame(view), 5);
    submit(&four, &B);
    struct visd_answer a = get(&B);
    assert_int_equal(a.err, VISD_ERR_SUPERSEDED);
    assert_string_equal(a.text, "frame 4 of this view comes after frame 5; numbers must rise");
    give_back(&a);
    struct visd_camera camera = canonical(&other);
    assert_true(visd_view_renumbers(view, 5, &camera));
    assert_false(visd_view_renumbers(view, 6, &camera));
    assert_int_equal(send(&other, &B, &attached, &replaced), VISD_ERR_CONFLICT);
    assert_non_null(strstr(why, "frame 5 was sent with another camera"));
    nothing();
    submit(&five, &C); /* its answer was lost */
    work();
    expect_err(&C, VISD_ERR_OK);
}

static void test_sees_its_commit(void **state)
{
    (void)state;
    struct ask s = frame(1, 0);
    work();
    commit_objects(0, 40000); /* three slices */
    submit(&s, &A);
    struct visd_job job;
    assert_false(visd_view_next_job(view, serial + 1, &job));
    assert_true(visd_scene_next_job(scene, ++serial, &job));
    put(&job);
    assert_int_equal(job.kind, VISD_JOB_STAGE);
    assert_false(visd_view_next_job(view, serial + 1, &job)); /* staged is not applied */
    work();
    struct visd_answer a = get(&A);
    assert_int_equal(a.revision, 1);
    give_back(&a);
}

static void test_waiting(void **state)
{
    (void)state;
    struct ask s = frame(1, 0), other = frame(9, 5);
    s.wait = true;
    list[0] = 3;
    list_count = 1;
    commit_objects(0, 10);
    work();
    submit(&s, &A); /* nothing is known yet: answered */
    work();
    expect_err(&A, VISD_ERR_OK);
    s.frame = 2;
    submit(&s, &B); /* known: parked */
    work();
    nothing();
    commit_objects(20, 1); /* looked at again, and found the same */
    work();
    nothing();
    assert_int_equal(visd_view_frames_pending(view), 1);
    list[1] = 20;
    list_count = 2;
    work();
    nothing(); /* no change, no work */
    commit_objects(30, 1);
    work();
    struct visd_answer a = get(&B);
    assert_int_equal(a.count, 2);
    assert_int_equal(a.frame, 2);
    assert_int_equal(a.revision, 3);
    give_back(&a);
    /* A re-send attaches; the loss of the worker leaves it parked; a newer camera takes its place. */
    s.frame = 3;
    submit(&s, &C);
    bool attached;
    void *replaced;
    assert_int_equal(send(&s, &D, &attached, &replaced), VISD_ERR_OK);
    assert_true(attached);
    assert_ptr_equal(replaced, &C);
    taken_count = 0;
    device_open = device_views = 0;
    visd_view_worker_lost(view, "gone");
    nothing();
    visd_scene_reload(scene);
    visd_view_worker_ready(view);
    work();
    nothing();
    other.frame = 4;
    submit(&other, &E);
    expect_err(&D, VISD_ERR_SUPERSEDED);
    work();
    expect_err(&E, VISD_ERR_OK);
    /* A commit while the worker is away: the list may be wrong, so the answer is given. */
    other.frame = 10;
    other.wait = true;
    submit(&other, &A);
    nothing();
    visd_view_worker_lost(view, "gone");
    visd_scene_reload(scene);
    commit_objects(40, 1);
    expect_all(&A);
}

/* Who was told that all is listed, and waits, hears nothing while that is so, and gets its list as soon as there is one again. */
static void test_waiting_with_all(void **state)
{
    (void)state;
    struct ask s = frame(1, 0);
    list[0] = 3;
    list_count = 1;
    commit_objects(0, 10);
    work();
    submit(&s, &A);
    work();
    expect_err(&A, VISD_ERR_OK);
    taken_count = 0;
    device_open = device_views = 0;
    visd_view_worker_lost(view, "gone");
    s.frame = 2;
    submit(&s, &A);
    expect_all(&A);
    s.frame = 3;
    s.wait = true;
    submit(&s, &B);
    nothing();
    visd_scene_reload(scene);
    work();
    nothing();
    visd_view_worker_ready(view);
    work();
    struct visd_answer a = get(&B);
    assert_true(a.err == VISD_ERR_OK && !a.all && a.count == 1);
    give_back(&a);
    s.frame = 4;
    submit(&s, &B); /* it has the list now */
    work();
    nothing();
    assert_int_equal(visd_view_frames_pending(view), 1);
}

/* A camera that waits is answered again if its answer was lost with its connection, and goes on waiting if there was none. */
static void test_waiting_again(void **state)
{
    (void)state;
    struct ask s = frame(1, 0);
    s.wait = true;
    list[0] = 3;
    list_count = 1;
    commit_objects(0, 10);
    work();
    submit(&s, &A);
    work();
    expect_err(&A, VISD_ERR_OK);
    s.frame = 2;
    submit(&s, &A);
    visd_view_forget(view, &A); /* gone while nothing has changed */
    submit(&s, &B);
    work();
    nothing();
    list_count = 2;
    list[1] = 20;
    commit_objects(20, 1);
    work();
    expect_err(&B, VISD_ERR_OK); /* sent, and lost */
    for (int i = 0; i < 2; i++) {
        submit(&s, &C);
        if (i == 0)
            visd_view_forget(view, &C); /* lost once more, before it has started */
    }
    work();
    struct visd_answer a = get(&C);
    assert_true(a.err == VISD_ERR_OK && a.count == 2);
    give_back(&a);
    s.frame = 3;
    submit(&s, &D);
    list_count = 1;
    commit_objects(30, 1);
    pump();
    visd_view_forget(view, &D); /* gone while the worker is at it: nobody hears of the change */
    work();
    nothing();
    submit(&s, &E);
    work();
    a = get(&E);
    assert_true(a.err == VISD_ERR_OK && a.count == 1);
    give_back(&a);
    s.frame = 4;
    submit(&s, &A);
    commit_objects(40, 1);
    pump();
    visd_view_forget(view, &A); /* the same, and nothing changes: what is forgotten is not parked */
    work();
    assert_int_equal(visd_view_frames_pending(view), 0);
}

static void test_forget(void **state)
{
    (void)state;
    struct ask s[4];
    for (int i = 0; i < 4; i++)
        s[i] = frame((uint64_t)i, i);
    work();
    submit(&s[0], &A);
    pump();
    submit(&s[1], &B);
    pump();
    submit(&s[2], &C);
    visd_view_forget(view, &A); /* in flight */
    visd_view_forget(view, &C); /* waiting */
    work();
    visd_view_forget(view, &B); /* answered, not collected */
    nothing();
    assert_int_equal(visd_view_frames_pending(view), 0);
}

static void test_lost_and_reloaded(void **state)
{
    (void)state;
    struct ask s[3] = { frame(1, 0), frame(2, 1), frame(3, 2) };
    commit_objects(0, 100);
    work();
    submit(&s[0], &A);
    pump();
    submit(&s[1], &B);
    pump();
    submit(&s[2], &C);
    taken_count = 0;
    device_open = device_views = 0;
    visd_view_worker_lost(view, "the device was lost");
    visd_scene_reload(scene);
    expect_all(&A);
    expect_all(&B);
    expect_all(&C);
    submit(&s[2], &D);
    expect_all(&D);
    pump(); /* the scene's jobs would go to the new worker; the view has none to give */
    visd_view_worker_ready(view);
    work();
    submit(&s[2], &E);
    work();
    struct visd_answer a = get(&E);
    assert_false(a.all);
    give_back(&a);
}

static void test_failures(void **state)
{
    (void)state;
    struct ask s = frame(1, 0);
    commit_objects(0, 100);
    work();
    submit(&s, &A);
    pump();
    answer_job(0, VISD_ERR_DEVICE_LOST);
    expect_all(&A);
    list_count = 4000; /* more than there is room for */
    submit(&s, &A);
    pump();
    taken[0].u.frame.flags |= VISD_FRAME_IDS32;
    struct visd_result r = { .serial = taken[0].serial, .kind = VISD_JOB_FRAME, .count = 4000 };
    taken_count = 0;
    assert_true(visd_view_job_done(view, &r));
    expect_all(&A);
    list_count = 0;
    commit_objects(200, 1);
    pump();
    answer_job(0, VISD_ERR_NO_MEMORY); /* its stage */
    submit(&s, &B);
    pump();
    expect_all(&B);
    assert_non_null(visd_scene_fault(scene));
    taken_count = 0;
    device_open = device_views = 0;
    visd_view_worker_lost(view, "restarted");
    visd_scene_reload(scene);
    visd_view_worker_ready(view);
    assert_null(visd_scene_fault(scene));
    pump();
    while (taken_count) {
        answer_job(0, taken[0].kind == VISD_JOB_VIEW_OPEN ? VISD_ERR_NO_MEMORY : VISD_ERR_OK);
        pump();
    }
    submit(&s, &C);
    pump();
    expect_all(&C);
}

static void test_scene_removed(void **state)
{
    (void)state;
    struct ask s[2] = { frame(1, 0), frame(2, 1) };
    bool attached;
    void *replaced;
    commit_objects(0, 100);
    work();
    list[0] = 5;
    list_count = 1;
    submit(&s[0], &A);
    pump();
    submit(&s[1], &B);
    visd_view_scene_gone(view);
    visd_scene_close(scene);
    expect_err(&B, VISD_ERR_NOT_FOUND);
    assert_int_equal(send(&s[1], &C, &attached, &replaced), VISD_ERR_NOT_FOUND);
    work(); /* asserts that SCENE_CLOSE comes after VIEW_CLOSE */
    expect_err(&A, VISD_ERR_OK);
    assert_true(visd_scene_closed(scene));
    assert_null(visd_view_scene(view));
    assert_int_equal(device_open, 0);
    struct visd_batch *b;
    struct visd_refusal refusal;
    struct visd_commit_reply reply;
    assert_int_equal(visd_batch_create(&b, segment), VISD_ERR_OK);
    assert_int_equal(visd_scene_commit(scene, b, &(struct visd_commit_params){ 0 }, &reply, &refusal), VISD_ERR_NOT_FOUND);
    visd_batch_destroy(b);
    visd_view_close(view);
    assert_true(visd_view_closed(view));
}

static void test_close_in_flight(void **state)
{
    (void)state;
    struct ask s[2] = { frame(1, 0), frame(2, 1) };
    work();
    submit(&s[0], &A);
    pump();
    submit(&s[1], &B);
    visd_view_close(view);
    assert_false(visd_view_closed(view));
    expect_err(&B, VISD_ERR_NOT_FOUND);
    pump();
    assert_int_equal(taken_count, 2);
    answer_job(1, VISD_ERR_OK); /* the close's result may come before the frame's */
    assert_false(visd_view_closed(view));
    answer_job(0, VISD_ERR_OK);
    expect_err(&A, VISD_ERR_OK);
    assert_true(visd_view_closed(view));
}

static void test_pictures(void **state)
{
    (void)state;
    struct ask s = frame(1, 0);
    work();
    assert_int_equal(visd_view_snapshot(view, VISD_SNAPSHOT_DEPTH, 0, UINT64_MAX, &A, why, sizeof(why)), VISD_ERR_CONFLICT);
    submit(&s, &A);
    work();
    expect_err(&A, VISD_ERR_OK);
    assert_int_equal(visd_view_snapshot(view, 9, 0, UINT64_MAX, &B, why, sizeof(why)), VISD_ERR_BAD_VALUE);
    assert_int_equal(visd_view_snapshot(view, VISD_SNAPSHOT_DEPTH, 0, UINT64_MAX, &B, why, sizeof(why)), VISD_ERR_OK);
    assert_int_equal(visd_view_snapshot(view, VISD_SNAPSHOT_DEPTH, 0, UINT64_MAX, &C, why, sizeof(why)), VISD_ERR_BUSY);
    work();
    struct visd_answer a = get(&B);
    assert_true(a.is_image && a.width == 640 && a.height == 480 && a.data && a.bytes == 640 * 480 * 4);
    give_back(&a);
}

/* What could not be sent is refused before it is made, also when only a frame that is still in flight makes it so large. */
static void test_large_pictures(void **state)
{
    (void)state;
    const uint64_t most = 640 * 480 * 4;
    struct ask s = frame(1, 0), larger = frame(2, 0);
    work();
    submit(&s, &A);
    work();
    expect_err(&A, VISD_ERR_OK);
    assert_int_equal(visd_view_snapshot(view, VISD_SNAPSHOT_IDS, 0, most, &B, why, sizeof(why)), VISD_ERR_TOO_BIG);
    assert_non_null(strstr(why, "640 x 480 pixels would have 2457600 bytes, and 1228800 are allowed"));
    assert_int_equal(visd_view_snapshot(view, VISD_SNAPSHOT_DEPTH, 0, most - 1, &B, why, sizeof(why)), VISD_ERR_TOO_BIG);
    assert_int_equal(visd_view_snapshot(view, VISD_SNAPSHOT_PYRAMID, 1, most / 4 - 1, &B, why, sizeof(why)), VISD_ERR_TOO_BIG);
    assert_int_equal(visd_view_picture_bytes(view, VISD_SNAPSHOT_PYRAMID, 1), most / 4);
    pump();
    assert_int_equal(taken_count, 0); /* nothing of it reached the worker */
    size_t without = visd_view_bytes(view);
    assert_int_equal(visd_view_snapshot(view, VISD_SNAPSHOT_DEPTH, 0, most, &B, why, sizeof(why)), VISD_ERR_OK);
    assert_true(visd_view_bytes(view) >= without + most); /* paid for from the moment it is asked for */
    pump();
    assert_true(visd_view_bytes(view) >= without + most);
    work();
    expect_err(&B, VISD_ERR_OK);
    assert_in_range(visd_view_bytes(view), without - 4096, without);
    larger.camera.width = 641;
    submit(&larger, &A);
    pump();
    assert_int_equal(visd_view_snapshot(view, VISD_SNAPSHOT_DEPTH, 0, most, &B, why, sizeof(why)), VISD_ERR_OK);
    pump();
    assert_int_equal(taken_count, 1); /* the frame alone */
    expect_err(&B, VISD_ERR_TOO_BIG);
    work();
    expect_err(&A, VISD_ERR_OK);
}

/* ---- size ---- */

/* Depth and pyramid are paid for from the submission on, kept by the worker over a slightly smaller picture, and given back. */
static void test_size(void **state)
{
    (void)state;
    struct ask s = frame(1, 0);
    const size_t full = 4u * 4096 * 4096, pyramid = full / 3;
    work();
    size_t empty = visd_view_bytes(view);
    s.camera.width = s.camera.height = 4096;
    struct visd_camera camera = canonical(&s);
    size_t foretold = visd_view_bytes_with(view, &camera, 0, false);
    assert_in_range(foretold - empty, full + pyramid - 8, full + pyramid + 4096);
    submit(&s, &A);
    assert_in_range(visd_view_bytes(view), empty + full + pyramid - 8, foretold);
    work();
    expect_err(&A, VISD_ERR_OK);
    assert_true(visd_view_bytes(view) > full + pyramid - 8);
    s.frame = 2;
    s.camera.width = 3000; /* the worker keeps what it has */
    submit(&s, &A);
    work();
    expect_err(&A, VISD_ERR_OK);
    assert_true(visd_view_bytes(view) > full + pyramid - 8);
    s.frame = 3;
    s.camera.width = s.camera.height = 64;
    submit(&s, &A);
    assert_true(visd_view_bytes(view) > full); /* it holds the large one until its turn comes */
    work();
    expect_err(&A, VISD_ERR_OK);
    assert_true(visd_view_bytes(view) < empty + (1u << 20));
    s.frame = 4;
    s.camera.width = s.camera.height = 4096;
    s.camera.samples = 8;
    submit(&s, &A);
    work();
    expect_err(&A, VISD_ERR_OK);
    assert_true(visd_view_bytes(view) > 8 * full + full + pyramid - 8); /* of several samples level 0 is a buffer of its own */
    s.frame = 5;
    s.camera.width = s.camera.height = 64;
    s.camera.samples = 1;
    submit(&s, &A);
    work();
    expect_err(&A, VISD_ERR_OK);
    s.frame = 6;
    s.camera.width = s.camera.height = 16384;
    submit(&s, &A);
    work();
    expect_err(&A, VISD_ERR_OK);
    s.frame = 7; /* depth is kept, for it wants more than a quarter of it; the pyramid is not */
    s.camera.width = s.camera.height = 2992;
    s.camera.samples = 8;
    submit(&s, &A);
    work();
    expect_err(&A, VISD_ERR_OK);
    const size_t kept = 16 * full, level_0 = 4u * 2992 * 2992;
    assert_in_range(visd_view_bytes(view) - empty, kept + level_0, kept + level_0 / 2 * 3);
    visd_view_worker_lost(view, "gone"); /* and all of it with it */
    assert_true(visd_view_bytes(view) < empty + (1u << 20));
    device_open = device_views = 0;
    visd_scene_reload(scene);
}

/* ---- deltas ---- */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t at(const void *ids, uint64_t i, bool ids32)
{
    return ids32 ? ((const uint32_t *)ids)[i] : ((const uint64_t *)ids)[i];
}

static void test_deltas(void **state)
{
    (void)state;
    static uint64_t have[4][4096], now[4096];
    static size_t have_count[4];
    int deltas = 0, wide = 0;
    commit_objects(0, 4000);
    work();
    for (uint64_t f = 1; f <= 400; f++) {
        struct ask s = frame(f, (double)f);
        if (f == 200)
            commit_objects((uint64_t)1 << 40, 10); /* from here on the lists are wide */
        list_count = 0;
        for (uint64_t id = 0; id < 4000; id++)
            if ((id * 2654435761u + f / 3) % 1000 > 300 || (id ^ f) % 97 == 0)
                list[list_count++] = id;
        for (size_t i = 0; i < 20 && list_count > 1; i++) { /* slot order need not be id order */
            size_t x = rnd(list_count), y = rnd(list_count);
            uint64_t t = list[x];
            list[x] = list[y];
            list[y] = t;
        }
        if (f > 205)
            list[list_count++] = ((uint64_t)1 << 40) + f % 10;
        uint64_t back = rnd(12) + 1;
        s.has_base = f > back;
        s.base_frame = f - back;
        submit(&s, &A);
        work();
        struct visd_answer a = get(&A);
        assert_int_equal(a.count, list_count);
        if (back > VISD_VIEW_KEEP_DEFAULT)
            assert_false(a.delta);
        size_t n = 0;
        if (a.delta) {
            deltas++;
            wide += !a.ids32;
            assert_int_equal(a.base_frame, s.base_frame);
            if (back <= 4) { /* rebuild from the base */
                const uint64_t *base = have[(f - back) % 4];
                for (size_t i = 0; i < have_count[(f - back) % 4]; i++) {
                    bool gone = false;
                    for (uint64_t k = 0; k < a.removed_count && !gone; k++)
                        gone = at(a.removed, k, a.ids32) == base[i];
                    if (!gone)
                        now[n++] = base[i];
                }
                for (uint64_t k = 0; k < a.added_count; k++)
                    now[n++] = at(a.added, k, a.ids32);
                assert_int_equal(n, list_count);
                assert_int_equal(visd_digest(now, n, false), a.digest);
            }
        }
        memcpy(now, list, list_count * sizeof(*list));
        qsort(now, list_count, sizeof(*now), by_value);
        memcpy(have[f % 4], now, sizeof(now));
        have_count[f % 4] = list_count;
        give_back(&a);
        assert_true(visd_view_check(view));
    }
    assert_true(deltas > 150 && wide > 50);
}

/* ---- a storm ---- */

static void test_storm(void **state)
{
    (void)state;
    enum { FRAMES = 4000 };
    static char cookie[FRAMES];
    static int answered[FRAMES];
    struct visd_answer a;
    memset(answered, 0, sizeof(answered));
    size_t steady = 0;
    for (int i = 0; i < FRAMES; i++) {
        struct ask s = frame((uint64_t)i, (double)rnd(3));
        s.wait = rnd(4) == 0;
        s.has_base = rnd(2);
        s.base_frame = (uint64_t)i - rnd(5);
        submit(&s, &cookie[i]);
        if (rnd(5) == 0)
            commit_objects((uint64_t)i * 3 + 1000, rnd(3));
        if (rnd(3))
            pump();
        list_count = rnd(5);
        while (taken_count && rnd(5))
            answer_job(0, VISD_ERR_OK);
        if (rnd(60) == 0) {
            taken_count = 0;
            device_open = device_views = 0;
            visd_view_worker_lost(view, "lost");
            visd_scene_reload(scene);
            if (rnd(2))
                pump();
            taken_count = 0;
            device_open = 0;
            visd_scene_reload(scene);
            visd_view_worker_ready(view);
        }
        while (rnd(4) && visd_view_next_answer(view, &a)) {
            answered[(char *)a.cookie - cookie]++;
            give_back(&a);
        }
        assert_true(visd_view_check(view));
        if (i == FRAMES / 2)
            steady = visd_view_bytes(view);
    }
    visd_view_close(view);
    work();
    while (visd_view_next_answer(view, &a)) {
        answered[(char *)a.cookie - cookie]++;
        give_back(&a);
    }
    for (int i = 0; i < FRAMES; i++)
        assert_int_equal(answered[i], 1);
    assert_true(visd_view_closed(view));
    assert_true(visd_view_bytes(view) < steady + (1u << 20));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
    const struct CMUnitTest tests[] = {
        TEST(test_one_frame), TEST(test_supersede), TEST(test_numbers), TEST(test_large_pictures), TEST(test_size), TEST(test_sees_its_commit),
        TEST(test_waiting), TEST(test_waiting_again), TEST(test_waiting_with_all), TEST(test_forget), TEST(test_lost_and_reloaded),
        TEST(test_failures), TEST(test_scene_removed), TEST(test_close_in_flight), TEST(test_pictures), TEST(test_deltas), TEST(test_storm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
