/* A view's life, and what is asked of it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

__attribute__((format(printf, 4, 5)))
static enum visd_err refuse(enum visd_err err, char *why, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (why && size)
        vsnprintf(why, size, format, args);
    va_end(args);
    return err;
}

static enum visd_err check_method(uint32_t method, char *why, size_t size)
{
    if (method > VISD_METHOD_AUTO)
        return refuse(VISD_ERR_BAD_VALUE, why, size, "method %u is not known", method);
    if (method > VISD_METHOD_EXACT)
        return refuse(VISD_ERR_NOT_SUPPORTED, why, size, "method %s is not supported yet; frustum, hiz, box and exact are", visd_method_name((enum visd_method)method));
    return VISD_ERR_OK;
}

enum visd_err visd_view_open(struct visd_view **out, struct visd_segment *segment, struct visd_scene *scene, const struct visd_view_params *params,
    char *why, size_t size)
{
    uint32_t keep = params->keep_frames == UINT32_MAX ? VISD_VIEW_KEEP_DEFAULT : params->keep_frames;
    enum visd_err err = check_method(params->method, why, size);
    if (err != VISD_ERR_OK)
        return err;
    if (keep > VISD_VIEW_KEEP_MAX)
        return refuse(VISD_ERR_BAD_VALUE, why, size, "keep_frames %u is too many: at most %d", keep, VISD_VIEW_KEEP_MAX);
    if (params->number >= VISD_SEGMENT_MAX_VIEWS)
        return refuse(VISD_ERR_TOO_BIG, why, size, "there are %d views already; close one first", VISD_SEGMENT_MAX_VIEWS);
    struct visd_view *v = calloc(1, sizeof(*v));
    if (!v)
        goto error;
    v->keep = keep;
    v->kept = keep ? calloc(keep, sizeof(*v->kept)) : NULL;
    if (keep && !v->kept)
        goto error;
    v->segment = segment;
    v->scene = scene;
    v->number = params->number;
    v->method = params->method;
    v->worker = params->worker_ready;
    snprintf(v->lost, sizeof(v->lost), "the device is away");
    *out = v;
    return VISD_ERR_OK;
error:
    visd_view_destroy(v);
    return refuse(VISD_ERR_NO_MEMORY, why, size, "no memory for a view");
}

void visd_view_destroy(struct visd_view *v)
{
    if (!v)
        return;
    request_drop(v, v->waiting);
    request_drop(v, v->picture);
    for (int i = 0; i < VISD_VIEW_IN_FLIGHT; i++)
        request_drop(v, v->flight[i]);
    while (v->first) {
        struct request *r = v->first;
        v->first = r->next;
        request_drop(v, r);
    }
    for (int i = 0; i < SPARES; i++)
        visd_segment_free(v->segment, v->spare[i].block);
    if (v->open)
        visd_scene_release(v->scene);
    history_finish(v);
    free(v);
}

enum visd_err visd_view_set_method(struct visd_view *v, uint32_t method, char *why, size_t size)
{
    enum visd_err err = check_method(method, why, size);
    if (err == VISD_ERR_OK)
        v->method = method;
    return err;
}

uint32_t visd_view_method(const struct visd_view *v)
{
    return v->method;
}

struct visd_scene *visd_view_scene(const struct visd_view *v)
{
    return v->gone ? NULL : v->scene;
}

uint64_t visd_view_last_frame(const struct visd_view *v)
{
    return v->newest;
}

uint32_t visd_view_frames_pending(const struct visd_view *v)
{
    uint32_t n = v->waiting != NULL;
    for (int i = 0; i < VISD_VIEW_IN_FLIGHT; i++)
        n += v->flight[i] != NULL;
    return n;
}

/* ---- asking ---- */

static bool same(const struct request *r, const struct visd_frame_spec *spec)
{
    return r && !r->forgotten && r->answer.frame == spec->frame && r->want == spec->want && memcmp(&r->camera, spec->camera, sizeof(r->camera)) == 0;
}

/* A frame that is asked for again, perhaps over another connection: the answer goes to who asked last. */
static bool attach(struct visd_view *v, const struct visd_frame_spec *spec, void *cookie, void **replaced)
{
    struct request *r = same(v->waiting, spec) ? v->waiting : NULL;
    for (int i = 0; i < VISD_VIEW_IN_FLIGHT && !r; i++)
        r = same(v->flight[i], spec) ? v->flight[i] : NULL;
    if (!r)
        return false;
    *replaced = r->answer.cookie;
    r->answer.cookie = cookie;
    return true;
}

bool visd_view_renumbers(const struct visd_view *v, uint64_t frame, const struct visd_camera *camera)
{
    return v->numbered && frame == v->newest && memcmp(camera, &v->newest_camera, sizeof(*camera)) != 0;
}

/* A camera that waits for change: is the answer known, and still right? Who asks again for what has been answered knows nothing of it. That all
 * of the scene is listed stays right while there is trouble; a frame that failed without any is tried again at the next change. */
static bool may_park(struct visd_view *v, struct request *r, bool again)
{
    const struct last *l = &v->last;
    bool same = r->wait && !again && !r->prepass && !r->fresh && l->valid && l->method == r->method && memcmp(&l->camera, &r->camera, sizeof(r->camera)) == 0;
    r->known = same && !l->all;
    r->known_count = l->count;
    r->known_digest = l->digest;
    return same && l->revision == r->revision && (!l->away || view_trouble(v));
}

static void enter(struct visd_view *v, struct request *r)
{
    char late[160];
    if (v->numbered && r->answer.frame < v->newest) {
        snprintf(late, sizeof(late), "frame %llu of this view comes after frame %llu; numbers must rise", (unsigned long long)r->answer.frame,
            (unsigned long long)v->newest);
        answer_refuse(v, r, VISD_ERR_SUPERSEDED, late);
        return;
    }
    bool again = v->numbered && r->answer.frame == v->newest && v->newest_answered;
    v->numbered = true;
    v->newest_answered = again;
    v->newest = r->answer.frame;
    memcpy(&v->newest_camera, &r->camera, sizeof(r->camera));
    bool park = may_park(v, r, again);
    if (v->waiting)
        answer_refuse(v, v->waiting, VISD_ERR_SUPERSEDED, "a newer camera of this view took its place");
    v->waiting = NULL;
    v->parked = false;
    const char *trouble = park ? NULL : view_trouble(v);
    if (trouble) {
        answer_all(v, r, trouble);
        return;
    }
    v->waiting = r;
    v->parked = park;
}

enum visd_err visd_view_submit(struct visd_view *v, const struct visd_frame_spec *spec, void *cookie, bool *attached, void **replaced,
    char *why, size_t size)
{
    *attached = false;
    *replaced = NULL;
    if (v->closing || v->gone)
        return refuse(VISD_ERR_NOT_FOUND, why, size, v->gone ? "the view's scene was removed" : "the view was closed");
    if (attach(v, spec, cookie, replaced)) {
        *attached = true;
        return VISD_ERR_OK;
    }
    if (visd_view_renumbers(v, spec->frame, spec->camera))
        return refuse(VISD_ERR_CONFLICT, why, size, "frame %llu was sent with another camera; each camera needs a number of its own",
            (unsigned long long)spec->frame);
    struct request *r = calloc(1, sizeof(*r));
    if (!r)
        return refuse(VISD_ERR_NO_MEMORY, why, size, "no memory for a frame");
    memcpy(&r->camera, spec->camera, sizeof(r->camera));
    r->method = v->method;
    r->want = spec->want;
    if (spec->prepass) {
        r->prepass_bytes = prepass_bytes(spec->camera);
        if (visd_segment_alloc(v->segment, r->prepass_bytes, &r->prepass) != VISD_ERR_OK) {
            free(r);
            return refuse(VISD_ERR_NO_MEMORY, why, size, "no memory for a depth image");
        }
        memcpy(visd_segment_at(v->segment, r->prepass), spec->prepass, r->prepass_bytes);
        r->prepass_reversed = spec->prepass_reversed;
        r->prepass_alone = spec->prepass_alone;
    }
    r->fresh = spec->fresh;
    r->wait = spec->wait;
    r->has_base = spec->has_base;
    r->base_frame = spec->base_frame;
    r->revision = visd_scene_revision(v->scene);
    r->room = list_bytes(v, r->want);
    r->answer.cookie = cookie;
    r->answer.frame = spec->frame;
    r->answer.client_sent_ns = spec->client_sent_ns;
    r->answer.received_ns = spec->received_ns;
    enter(v, r);
    return VISD_ERR_OK;
}

enum visd_err visd_view_snapshot(struct visd_view *v, uint32_t what, uint32_t level, uint64_t most, void *cookie, char *why, size_t size)
{
    if (v->closing || v->gone)
        return refuse(VISD_ERR_NOT_FOUND, why, size, v->gone ? "the view's scene was removed" : "the view was closed");
    if (what > VISD_SNAPSHOT_BOXES || level > PICTURE_MAX_LEVEL)
        return refuse(VISD_ERR_BAD_VALUE, why, size, "there is no picture %u, or no level %u of it", what, level);
    if (v->picture)
        return refuse(VISD_ERR_BUSY, why, size, "a picture of this view is under way; wait for it");
    if (v->width == 0)
        return refuse(VISD_ERR_CONFLICT, why, size, "the view has no finished frame to show; send a camera first");
    uint64_t bytes = picture_bytes(v, what, level, v->width, v->height);
    if (bytes > most)
        return refuse(VISD_ERR_TOO_BIG, why, size, "the picture of %u x %u pixels would have %llu bytes, and %llu are allowed; ask for it at a smaller size",
            v->width, v->height, (unsigned long long)bytes, (unsigned long long)most);
    struct request *r = calloc(1, sizeof(*r));
    if (!r)
        return refuse(VISD_ERR_NO_MEMORY, why, size, "no memory for a picture");
    r->what = what;
    r->level = level;
    r->most = most;
    r->room = bytes;
    r->answer.cookie = cookie;
    r->answer.is_image = true;
    v->picture = r;
    return VISD_ERR_OK;
}

static void forget(struct request *r, const void *cookie)
{
    if (r && r->answer.cookie == cookie)
        r->forgotten = true;
}

void visd_view_forget(struct visd_view *v, const void *cookie)
{
    forget(v->waiting, cookie);
    forget(v->picture, cookie);
    for (int i = 0; i < VISD_VIEW_IN_FLIGHT; i++)
        forget(v->flight[i], cookie);
    if (v->waiting && v->waiting->forgotten) {
        request_drop(v, v->waiting);
        v->waiting = NULL;
        v->parked = false;
    }
    if (v->picture && v->picture->forgotten && !v->picture->serial) {
        request_drop(v, v->picture);
        v->picture = NULL;
    }
    struct request *all = v->first;
    v->first = v->tail = NULL;
    while (all) {
        struct request *r = all;
        all = r->next;
        forget(r, cookie);
        answer_push(v, r);
    }
}
