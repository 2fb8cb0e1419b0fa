/* Frames on their way: jobs handed out, results taken, workers that come and go. */
#include <stdio.h>
#include <string.h>

#include "daemon/segment/clock.h"
#include "state.h"

static struct visd_job *start_job(struct visd_view *v, uint32_t kind, uint64_t serial, struct visd_job *job)
{
    memset(job, 0, sizeof(*job));
    job->kind = kind;
    job->scene = v->scene ? visd_scene_number(v->scene) : 0;
    job->view = v->number;
    job->serial = serial;
    return job;
}

static int free_flight(const struct visd_view *v)
{
    for (int i = 0; i < VISD_VIEW_IN_FLIGHT; i++)
        if (!v->flight[i])
            return i;
    return -1;
}

static bool frame_job(struct visd_view *v, uint64_t serial, struct visd_job *job)
{
    struct request *r = v->waiting;
    int place = free_flight(v);
    if (!r || v->parked || place < 0 || !visd_scene_ready(v->scene, r->revision))
        return false;
    v->waiting = NULL;
    r->ids32 = visd_scene_ids32(v->scene);
    uint64_t slots = visd_scene_slots(v->scene), ids = slots * (r->ids32 ? 4 : 8), bytes = ids + (r->want & VISD_WANT_SAMPLES ? slots * 4 : 0);
    r->samples_at = r->want & VISD_WANT_SAMPLES ? ids : 0;
    if (!space_take(v, bytes ? bytes : 8, &r->space)) {
        answer_all(v, r, "no memory for the frame's list");
        return false;
    }
    r->serial = serial;
    r->answer.queued_ns = visd_now_ns();
    v->flight[place] = r;
    v->image = image_after(v, &r->camera);
    start_job(v, VISD_JOB_FRAME, serial, job);
    job->u.frame.camera = r->camera;
    job->u.frame.out = r->space.block;
    job->u.frame.capacity = r->space.bytes;
    job->u.frame.samples_at = r->samples_at;
    job->u.frame.prepass = r->prepass;
    job->u.frame.method = r->method;
    job->u.frame.flags = (r->fresh ? VISD_FRAME_FRESH : 0) | (r->ids32 ? VISD_FRAME_IDS32 : 0) |
        (r->want & VISD_WANT_PROFILE ? VISD_FRAME_PROFILE : 0) | (r->want & VISD_WANT_COVERAGE ? VISD_FRAME_COVERAGE : 0) |
        (r->want & VISD_WANT_STEPWISE ? VISD_FRAME_STEPWISE : 0) | (r->want & VISD_WANT_COARSE ? VISD_FRAME_COARSE : 0) |
        (r->want & VISD_WANT_SAMPLES ? VISD_FRAME_SAMPLES : 0) | (r->prepass ? VISD_FRAME_PREPASS : 0) |
        (r->prepass_reversed ? VISD_FRAME_PREPASS_REVERSED : 0) | (r->prepass_alone ? VISD_FRAME_PREPASS_ALONE : 0);
    return true;
}

static bool picture_job(struct visd_view *v, uint64_t serial, struct visd_job *job)
{
    struct request *r = v->picture;
    if (!r || r->serial)
        return false;
    /* Of the last frame that has finished by then: any of those in flight may be it. */
    uint64_t bytes = picture_bytes(v, r->what, r->level, v->width, v->height);
    for (int i = 0; i < VISD_VIEW_IN_FLIGHT; i++) {
        const struct request *f = v->flight[i];
        uint64_t then = f ? picture_bytes(v, r->what, r->level, f->camera.width, f->camera.height) : 0;
        bytes = then > bytes ? then : bytes;
    }
    bool fits = bytes <= r->most;
    if (!fits || !space_take(v, bytes ? bytes : 8, &r->space)) {
        v->picture = NULL;
        if (fits)
            answer_refuse(v, r, VISD_ERR_NO_MEMORY, "no memory for the picture");
        else
            answer_refuse(v, r, VISD_ERR_TOO_BIG, "the picture is of a newer frame, and too large to be sent; ask for it at a smaller size");
        return false;
    }
    r->serial = serial;
    start_job(v, VISD_JOB_SNAPSHOT, serial, job);
    job->u.snapshot.what = r->what;
    job->u.snapshot.level = r->level;
    job->u.snapshot.out = r->space.block;
    job->u.snapshot.capacity = r->space.bytes;
    return true;
}

/* The worker no longer has the view. */
static void shut(struct visd_view *v)
{
    if (v->open)
        visd_scene_release(v->scene);
    v->open = false;
    if (v->gone)
        v->scene = NULL;
}

bool visd_view_next_job(struct visd_view *v, uint64_t serial, struct visd_job *out)
{
    if (!v->worker)
        return false;
    if (v->closing || v->gone) {
        if (!v->open)
            return false;
        start_job(v, VISD_JOB_VIEW_CLOSE, serial, out);
        v->close_serial = serial;
        shut(v);
        return true;
    }
    const char *trouble = view_trouble(v);
    if (trouble) {
        struct request *r = v->parked ? NULL : v->waiting;
        if (r) {
            v->waiting = NULL;
            answer_all(v, r, trouble);
        }
        return false;
    }
    if (v->last.away)
        v->parked = false; /* who waits with the whole scene is to have its list */
    if (!v->open) {
        start_job(v, VISD_JOB_VIEW_OPEN, serial, out);
        v->open = true;
        v->open_serial = serial;
        visd_scene_hold(v->scene);
        return true;
    }
    return frame_job(v, serial, out) || picture_job(v, serial, out);
}

bool visd_view_job_done(struct visd_view *v, const struct visd_result *result)
{
    uint64_t serial = result->serial;
    if (serial != 0 && serial == v->open_serial) {
        v->open_serial = 0;
        if (result->err != VISD_ERR_OK)
            snprintf(v->fault, sizeof(v->fault), "the device could not open the view: %.110s",
                result->text[0] ? result->text : visd_err_text((enum visd_err)result->err));
        return true;
    }
    if (serial != 0 && serial == v->close_serial) {
        v->close_serial = 0;
        return true;
    }
    if (v->picture && v->picture->serial && v->picture->serial == serial) {
        struct request *r = v->picture;
        v->picture = NULL;
        answer_picture(v, r, result);
        return true;
    }
    for (int i = 0; i < VISD_VIEW_IN_FLIGHT; i++) {
        struct request *r = v->flight[i];
        if (!r || r->serial != serial)
            continue;
        v->flight[i] = NULL;
        answer_result(v, r, result);
        return true;
    }
    return false;
}

void visd_view_worker_lost(struct visd_view *v, const char *why)
{
    v->worker = false;
    snprintf(v->lost, sizeof(v->lost), "%s", why && why[0] ? why : "the device is away");
    shut(v);
    v->open_serial = v->close_serial = 0;
    v->width = v->height = 0;
    v->image = (struct image){ 0, 0 };
    for (int i = 0; i < VISD_VIEW_IN_FLIGHT; i++) {
        struct request *r = v->flight[i];
        v->flight[i] = NULL;
        if (r && !v->gone)
            answer_all(v, r, v->lost);
        else if (r)
            answer_refuse(v, r, VISD_ERR_NOT_FOUND, "the scene was removed");
    }
    if (v->picture) {
        answer_refuse(v, v->picture, VISD_ERR_DEVICE_LOST, v->lost);
        v->picture = NULL;
    }
    if (v->waiting && !v->parked) { /* what is parked has its list, which still holds */
        struct request *r = v->waiting;
        v->waiting = NULL;
        answer_all(v, r, v->lost);
    }
}

void visd_view_worker_ready(struct visd_view *v)
{
    v->worker = true;
    v->fault[0] = 0;
}

void visd_view_scene_changed(struct visd_view *v)
{
    struct request *r = v->waiting;
    if (!v->parked || visd_scene_revision(v->scene) == r->revision)
        return;
    v->parked = false;
    r->revision = visd_scene_revision(v->scene);
    const char *trouble = view_trouble(v);
    if (trouble) {
        v->waiting = NULL;
        answer_all(v, r, trouble);
    }
}

/* What has not started is told that it never will. */
static void stop(struct visd_view *v, const char *why)
{
    if (v->waiting)
        answer_refuse(v, v->waiting, VISD_ERR_NOT_FOUND, why);
    v->waiting = NULL;
    v->parked = false;
    if (v->picture && !v->picture->serial) {
        answer_refuse(v, v->picture, VISD_ERR_NOT_FOUND, why);
        v->picture = NULL;
    }
}

void visd_view_close(struct visd_view *v)
{
    v->closing = true;
    stop(v, "the view was closed");
}

void visd_view_scene_gone(struct visd_view *v)
{
    v->gone = true;
    stop(v, "the scene was removed");
    if (!v->open)
        v->scene = NULL;
}

bool visd_view_closed(const struct visd_view *v)
{
    bool flying = v->picture || v->open_serial || v->close_serial;
    for (int i = 0; i < VISD_VIEW_IN_FLIGHT; i++)
        flying |= v->flight[i] != NULL;
    return v->closing && !v->open && !flying;
}
