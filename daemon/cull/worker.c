/* The worker's thread: a table of what it does for each kind of job, and the loop that takes them.
 *
 * Up to CULL_FRAMES frames are in flight, so that the device never waits for the next to be recorded. When there is nothing to
 * take, the loop waits for the device if a frame is in flight (a short spin first: waking up costs more than most frames), else for a job. */
#include "worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/segment/clock.h"
#include "recipes.h"

#define SPIN_NS 50000
#define WAIT_NS 500000

struct visd_worker {
    struct visd_worker_params params;
    pthread_t thread;
    bool started;
    atomic_bool stop;
    pthread_mutex_t mutex; /* ready, err and why: from the thread to start() */
    pthread_cond_t changed;
    bool ready;
    enum visd_err err;
    char why[1600];
    char device[600];
    atomic_uint_least64_t validation_messages, device_bytes;

    /* The thread's own. */
    struct visd_segment *segment;
    struct visd_gpu *gpu;
    struct visd_gpu_arena *arena;
    struct visd_upload *upload;
    struct visd_recipes recipes;
    struct visd_residence scenes[VISD_SEGMENT_MAX_SCENES];
    struct visd_history views[VISD_SEGMENT_MAX_VIEWS];
    unsigned next_flight, oldest_flight; /* flights are used in turn */
    bool ended;
};

static void on_note(void *context, bool validation, const char *text)
{
    struct visd_worker *w = context;
    if (validation) atomic_fetch_add(&w->validation_messages, 1);
    if (w->params.note) w->params.note(w->params.context, validation ? VISD_WORKER_NOTE_VALIDATION : VISD_WORKER_NOTE_DEVICE, text);
}

/* ---- jobs ---- */

static struct visd_residence *scene_of(struct visd_worker *w, const struct visd_job *job)
{
    return job->scene < VISD_SEGMENT_MAX_SCENES && w->scenes[job->scene].gpu ? &w->scenes[job->scene] : NULL;
}

static struct visd_history *view_of(struct visd_worker *w, const struct visd_job *job)
{
    return job->view < VISD_SEGMENT_MAX_VIEWS && w->views[job->view].open ? &w->views[job->view] : NULL;
}

static enum visd_err do_ping(struct visd_worker *w, const struct visd_job *job, struct visd_result *result)
{
    (void)w;
    (void)job;
    (void)result;
    return VISD_ERR_OK;
}

static enum visd_err do_scene_open(struct visd_worker *w, const struct visd_job *job, struct visd_result *result)
{
    (void)result;
    if (job->scene >= VISD_SEGMENT_MAX_SCENES || w->scenes[job->scene].gpu) return VISD_ERR_INTERNAL;
    return visd_residence_init(&w->scenes[job->scene], w->gpu, w->arena, w->upload);
}

static enum visd_err do_scene_close(struct visd_worker *w, const struct visd_job *job, struct visd_result *result)
{
    (void)result;
    struct visd_residence *scene = scene_of(w, job);
    if (scene) visd_residence_finish(scene);
    return VISD_ERR_OK;
}

static enum visd_err do_mesh_add(struct visd_worker *w, const struct visd_job *job, struct visd_result *result)
{
    struct visd_residence *scene = scene_of(w, job);
    if (!scene) return VISD_ERR_NOT_FOUND;
    return visd_residence_mesh_add(scene, job->u.mesh.slot, visd_segment_at(w->segment, job->u.mesh.block), job->u.mesh.bytes, result->text,
                                   sizeof(result->text));
}

static enum visd_err do_mesh_remove(struct visd_worker *w, const struct visd_job *job, struct visd_result *result)
{
    (void)result;
    struct visd_residence *scene = scene_of(w, job);
    if (scene) visd_residence_mesh_remove(scene, job->u.mesh.slot);
    return VISD_ERR_OK;
}

static enum visd_err do_stage(struct visd_worker *w, const struct visd_job *job, struct visd_result *result)
{
    (void)result;
    struct visd_residence *scene = scene_of(w, job);
    if (!scene) return VISD_ERR_NOT_FOUND;
    return visd_residence_stage(scene, visd_segment_at(w->segment, job->u.stage.block), job->u.stage.count);
}

static enum visd_err do_apply(struct visd_worker *w, const struct visd_job *job, struct visd_result *result)
{
    (void)result;
    struct visd_residence *scene = scene_of(w, job);
    if (!scene) return VISD_ERR_NOT_FOUND;
    return visd_residence_apply(scene, &w->recipes.pipelines, job->u.apply.revision, job->u.apply.slots);
}

static enum visd_err do_view_open(struct visd_worker *w, const struct visd_job *job, struct visd_result *result)
{
    (void)result;
    if (job->view >= VISD_SEGMENT_MAX_VIEWS || w->views[job->view].open) return VISD_ERR_INTERNAL;
    visd_history_open(&w->views[job->view]);
    return VISD_ERR_OK;
}

static enum visd_err do_view_close(struct visd_worker *w, const struct visd_job *job, struct visd_result *result)
{
    (void)result;
    struct visd_history *view = view_of(w, job);
    if (view) visd_history_close(view, w->gpu);
    return VISD_ERR_OK;
}

static enum visd_err do_snapshot(struct visd_worker *w, const struct visd_job *job, struct visd_result *result)
{
    struct visd_residence *scene = scene_of(w, job);
    struct visd_history *view = view_of(w, job);
    if (!scene || !view) return VISD_ERR_NOT_FOUND;
    return visd_recipes_snapshot(&w->recipes, scene, view, job, visd_segment_at(w->segment, job->u.snapshot.out), result);
}

static enum visd_err (*const doers[])(struct visd_worker *, const struct visd_job *, struct visd_result *) = {
    [VISD_JOB_PING] = do_ping,           [VISD_JOB_SCENE_OPEN] = do_scene_open,   [VISD_JOB_SCENE_CLOSE] = do_scene_close,
    [VISD_JOB_MESH_ADD] = do_mesh_add,   [VISD_JOB_MESH_REMOVE] = do_mesh_remove, [VISD_JOB_STAGE] = do_stage,
    [VISD_JOB_APPLY] = do_apply,         [VISD_JOB_VIEW_OPEN] = do_view_open,     [VISD_JOB_VIEW_CLOSE] = do_view_close,
    [VISD_JOB_SNAPSHOT] = do_snapshot,
};

static struct visd_result result_for(const struct visd_job *job)
{
    return (struct visd_result){.serial = job->serial, .kind = job->kind, .view = job->view, .received_ns = visd_now_ns()};
}

static void answer(struct visd_worker *w, struct visd_result *result, enum visd_err err)
{
    result->err = err;
    if (err != VISD_ERR_OK && !result->text[0]) snprintf(result->text, sizeof(result->text), "%s", visd_err_text(err));
    visd_segment_put_result(w->segment, result);
}

static void finish_oldest(struct visd_worker *w)
{
    struct cull_flight *flight = &w->recipes.flight[w->oldest_flight % CULL_FRAMES];
    struct visd_result result = result_for(&flight->job);
    enum visd_err err = visd_gpu_wait(w->gpu, flight->value, UINT64_MAX);
    if (err == VISD_ERR_OK)
        visd_recipes_finish_frame(&w->recipes, flight, visd_segment_at(w->segment, flight->job.u.frame.out), &result);
    flight->busy = false;
    w->oldest_flight++;
    answer(w, &result, err);
}

static bool in_flight(const struct visd_worker *w) { return w->oldest_flight != w->next_flight; }

static void start_frame(struct visd_worker *w, const struct visd_job *job)
{
    struct visd_result result = result_for(job);
    struct visd_residence *scene = scene_of(w, job);
    struct visd_history *view = view_of(w, job);
    enum visd_err err = VISD_ERR_NOT_FOUND;
    if (w->next_flight - w->oldest_flight == CULL_FRAMES) finish_oldest(w);
    if (scene && view)
        err = visd_recipes_start(&w->recipes, &w->recipes.flight[w->next_flight % CULL_FRAMES], scene, view, job,
                                 job->u.frame.flags & VISD_FRAME_PREPASS ? visd_segment_at(w->segment, job->u.frame.prepass) : NULL, result.received_ns,
                                 result.text, sizeof(result.text));
    if (err == VISD_ERR_OK) w->next_flight++;
    else answer(w, &result, err);
}

static void take(struct visd_worker *w, const struct visd_job *job)
{
    if (job->kind == VISD_JOB_STOP) {
        w->ended = true;
    } else if (job->kind == VISD_JOB_FRAME) {
        start_frame(w, job);
    } else {
        struct visd_result result = result_for(job);
        bool known = job->kind < sizeof(doers) / sizeof(doers[0]) && doers[job->kind];
        enum visd_err err = known ? doers[job->kind](w, job, &result) : VISD_ERR_INTERNAL;
        atomic_store(&w->device_bytes, visd_gpu_bytes(w->gpu));
        answer(w, &result, err);
    }
}

/* Waits for the oldest frame, but not past the arrival of a job that could be started beside it. */
static void wait_for_frame(struct visd_worker *w)
{
    uint64_t value = w->recipes.flight[w->oldest_flight % CULL_FRAMES].value, until = visd_now_ns() + SPIN_NS;
    bool full = w->next_flight - w->oldest_flight == CULL_FRAMES;
    while (visd_now_ns() < until) {
        if (visd_gpu_is_lost(w->gpu) || visd_gpu_reached(w->gpu, value)) {
            finish_oldest(w);
            return;
        }
        if (!full && visd_segment_wait_job(w->segment, 0)) return;
    }
    enum visd_err err = visd_gpu_wait(w->gpu, value, full ? UINT64_MAX : WAIT_NS);
    if (err != VISD_ERR_TIMEOUT) finish_oldest(w);
}

static void run(struct visd_worker *w)
{
    struct visd_job job;
    while (!w->ended && !atomic_load(&w->stop)) {
        if (visd_segment_take_job(w->segment, &job)) {
            take(w, &job);
        } else if (in_flight(w)) {
            wait_for_frame(w);
        } else {
            visd_gpu_reached(w->gpu, 0); /* what was retired goes back before the rest */
            atomic_store(&w->device_bytes, visd_gpu_bytes(w->gpu));
            visd_segment_wait_job(w->segment, -1);
        }
    }
    while (in_flight(w)) finish_oldest(w);
}

/* ---- the thread ---- */

static enum visd_err open_all(struct visd_worker *w, char *why, size_t size)
{
    struct visd_gpu_params params = {.select = w->params.device, .validate = w->params.validate, .note = on_note, .context = w};
    enum visd_err err = visd_gpu_create(&w->gpu, &params, why, size);
    if (err != VISD_ERR_OK) return err;
    err = visd_gpu_arena_create(w->gpu, &w->arena);
    if (err == VISD_ERR_OK) err = visd_upload_create(w->gpu, &w->upload);
    if (err == VISD_ERR_OK) err = visd_recipes_init(&w->recipes, w->gpu, w->params.budget_triangles, w->params.budget_samples);
    if (err == VISD_ERR_OK) err = visd_segment_attach(&w->segment, w->params.segment);
    if (err != VISD_ERR_OK) snprintf(why, size, "%s: %s", visd_gpu_info(w->gpu)->name, visd_err_text(err));
    return err;
}

static void close_all(struct visd_worker *w)
{
    if (w->gpu) {
        visd_gpu_settle(w->gpu);
        for (int i = 0; i < VISD_SEGMENT_MAX_VIEWS; i++) visd_history_close(&w->views[i], w->gpu);
        for (int i = 0; i < VISD_SEGMENT_MAX_SCENES; i++) visd_residence_finish(&w->scenes[i]);
        visd_gpu_settle(w->gpu);
        visd_recipes_finish(&w->recipes);
        visd_upload_destroy(w->upload);
        visd_gpu_arena_destroy(w->arena);
    }
    visd_gpu_destroy(w->gpu);
    visd_segment_destroy(w->segment);
}

static void *thread_main(void *argument)
{
    struct visd_worker *w = argument;
    char why[sizeof(w->why)] = "";
    enum visd_err err = open_all(w, why, sizeof(why));
    pthread_mutex_lock(&w->mutex);
    if (w->gpu && err == VISD_ERR_OK) {
        const struct visd_gpu_info *info = visd_gpu_info(w->gpu);
        snprintf(w->device, sizeof(w->device), "%s (%s)", info->name, info->driver);
    }
    memcpy(w->why, why, sizeof(why));
    w->err = err;
    w->ready = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->mutex);
    if (err == VISD_ERR_OK) run(w);
    close_all(w);
    return NULL;
}

enum visd_err visd_worker_start(struct visd_worker **out, const struct visd_worker_params *params, char *why, size_t why_size)
{
    sigset_t all, before;
    struct visd_worker *w = calloc(1, sizeof(*w));
    if (!w) return VISD_ERR_NO_MEMORY;
    w->params = *params;
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->changed, NULL);
    sigfillset(&all); /* signals are the loop's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    w->started = pthread_create(&w->thread, NULL, thread_main, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    enum visd_err err = VISD_ERR_NO_MEMORY;
    if (w->started) {
        pthread_mutex_lock(&w->mutex);
        while (!w->ready) pthread_cond_wait(&w->changed, &w->mutex);
        err = w->err;
        pthread_mutex_unlock(&w->mutex);
        snprintf(why, why_size, "%s", w->why);
    }
    if (err != VISD_ERR_OK) {
        visd_worker_stop(w);
        return err;
    }
    *out = w;
    return VISD_ERR_OK;
}

void visd_worker_stop(struct visd_worker *w)
{
    if (!w) return;
    if (w->started) {
        atomic_store(&w->stop, true);
        struct visd_job stop = {.kind = VISD_JOB_STOP};
        visd_segment_put_job(w->params.segment, &stop); /* only to wake it: when the ring is full it is awake anyway */
        pthread_join(w->thread, NULL);
    }
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->mutex);
    free(w);
}

const char *visd_worker_device(const struct visd_worker *w) { return w->device; }
uint64_t visd_worker_validation_messages(const struct visd_worker *w) { return atomic_load(&w->validation_messages); }
uint64_t visd_worker_device_bytes(const struct visd_worker *w) { return atomic_load(&w->device_bytes); }
