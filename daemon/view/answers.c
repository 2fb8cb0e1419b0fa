/* From results to answers: what they promise, what they hold, and the memory behind them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

const char *visd_method_name(enum visd_method method)
{
    static const char *const names[] = { "frustum", "hiz", "box", "exact", "query", "auto" };
    return (unsigned)method < sizeof(names) / sizeof(names[0]) ? names[method] : "unknown";
}

/* ---- memory ---- */

bool space_take(struct visd_view *v, uint64_t bytes, struct space *out)
{
    for (int i = 0; i < SPARES; i++)
        if (v->spare[i].block && v->spare[i].bytes >= bytes) {
            *out = v->spare[i];
            v->spare[i] = (struct space){ 0, 0 };
            return true;
        }
    out->bytes = bytes + bytes / 8; /* a scene that grows a little does not need a new one each frame */
    return visd_segment_alloc(v->segment, out->bytes, &out->block) == VISD_ERR_OK;
}

void space_give(struct visd_view *v, struct space *space)
{
    int smallest = 0;
    if (!space->block)
        return;
    for (int i = 1; i < SPARES; i++)
        if (v->spare[i].bytes < v->spare[smallest].bytes)
            smallest = i;
    if (v->spare[smallest].bytes < space->bytes) { /* an empty place has 0 bytes */
        struct space t = v->spare[smallest];
        v->spare[smallest] = *space;
        *space = t;
    }
    visd_segment_free(v->segment, space->block);
    *space = (struct space){ 0, 0 };
}

void request_drop(struct visd_view *v, struct request *r)
{
    if (!r)
        return;
    if (r->answer.is_image && r->space.block) { /* larger than most lists, and seldom: not kept */
        visd_segment_free(v->segment, r->space.block);
        r->space = (struct space){ 0, 0 };
    }
    space_give(v, &r->space);
    visd_segment_free(v->segment, r->prepass);
    free(r->delta);
    free(r);
}

/* ---- the queue ---- */

void answer_push(struct visd_view *v, struct request *r)
{
    if (v->numbered && !r->answer.is_image && r->answer.frame == v->newest)
        v->newest_answered = true; /* also if nobody is there to hear it */
    if (r->forgotten) {
        request_drop(v, r);
        return;
    }
    r->room = 0;
    r->next = NULL;
    if (v->tail)
        v->tail->next = r;
    else
        v->first = r;
    v->tail = r;
}

bool visd_view_next_answer(struct visd_view *v, struct visd_answer *out)
{
    struct request *r = v->first;
    if (!r)
        return false;
    v->first = r->next;
    if (!v->first)
        v->tail = NULL;
    v->handed_out++;
    r->answer.handle = (uint64_t)(uintptr_t)r;
    *out = r->answer;
    return true;
}

void visd_view_answer_done(struct visd_view *v, const struct visd_answer *answer)
{
    v->handed_out--;
    request_drop(v, (struct request *)(uintptr_t)answer->handle);
}

/* ---- the kinds of answers ---- */

void answer_refuse(struct visd_view *v, struct request *r, enum visd_err err, const char *text)
{
    r->answer.err = err;
    snprintf(r->answer.text, sizeof(r->answer.text), "%s", text);
    answer_push(v, r);
}

void answer_all(struct visd_view *v, struct request *r, const char *why)
{
    struct visd_answer *a = &r->answer;
    space_give(v, &r->space);
    a->method = r->method;
    a->grade = VISD_GRADE_ALL;
    a->degraded = a->all = true;
    snprintf(a->why, sizeof(a->why), "%s", why);
    a->count = v->scene ? visd_scene_objects(v->scene) : 0;
    a->revision = a->source_revision = v->scene ? visd_scene_revision(v->scene) : 0;
    a->source_frame = a->frame;
    v->last = (struct last){ .valid = true, .all = true, .away = v->scene && view_trouble(v), .method = r->method, .revision = a->revision };
    memcpy(&v->last.camera, &r->camera, sizeof(r->camera));
    answer_push(v, r);
}

void answer_picture(struct visd_view *v, struct request *r, const struct visd_result *result)
{
    struct visd_answer *a = &r->answer;
    if (result->err != VISD_ERR_OK) {
        answer_refuse(v, r, (enum visd_err)result->err, result->text[0] ? result->text : visd_err_text((enum visd_err)result->err));
        return;
    }
    if (result->count > r->space.bytes) {
        answer_refuse(v, r, VISD_ERR_INTERNAL, "the worker's picture is larger than its room");
        return;
    }
    a->width = result->width;
    a->height = result->height;
    a->data = visd_segment_at(v->segment, r->space.block);
    a->bytes = result->count;
    answer_push(v, r);
}

const char *view_trouble(const struct visd_view *v)
{
    if (!v->worker)
        return v->lost;
    if (v->fault[0])
        return v->fault;
    if (visd_scene_fault(v->scene))
        return visd_scene_fault(v->scene);
    return visd_scene_loading(v->scene) ? "the scene is being loaded onto the device" : NULL;
}

/* A camera that waits goes back to its place if its list is what the asker has. */
static bool park_again(struct visd_view *v, struct request *r, const struct visd_answer *a)
{
    if (!r->wait || !r->known || r->forgotten || v->waiting || v->closing || v->gone || a->count != r->known_count || a->digest != r->known_digest)
        return false;
    v->parked = visd_scene_revision(v->scene) == a->revision;
    v->waiting = r;
    r->serial = 0;
    r->revision = visd_scene_revision(v->scene);
    space_give(v, &r->space);
    r->answer = (struct visd_answer){ .cookie = a->cookie, .frame = a->frame, .client_sent_ns = a->client_sent_ns, .received_ns = a->received_ns };
    return true;
}

/* An exact list is one only if every survivor could be marked, against the depth of every occluder; what fills a cut is no mesh. */
static enum visd_grade grade_of(const struct request *r, const struct visd_frame_stats *stats)
{
    if (r->method == VISD_METHOD_FRUSTUM) return VISD_GRADE_FRUSTUM;
    bool filled = r->camera.caps && r->camera.planes;
    return r->method == VISD_METHOD_EXACT && !stats->over_budget && !filled ? VISD_GRADE_EXACT : VISD_GRADE_CONSERVATIVE;
}

void answer_result(struct visd_view *v, struct request *r, const struct visd_result *result)
{
    struct visd_answer *a = &r->answer;
    uint64_t width = r->ids32 ? 4 : 8;
    char why[160];
    uint64_t room = r->want & VISD_WANT_SAMPLES ? r->samples_at : r->space.bytes;
    if (result->err != VISD_ERR_OK || result->count > room / width) {
        snprintf(why, sizeof(why), "the device failed at this frame: %.110s",
            result->err == VISD_ERR_OK ? "its list is larger than its room" : result->text[0] ? result->text : visd_err_text((enum visd_err)result->err));
        answer_all(v, r, why);
        return;
    }
    const void *ids = visd_segment_at(v->segment, r->space.block);
    a->method = r->method;
    a->grade = grade_of(r, &result->stats);
    a->ids32 = r->ids32;
    a->ids = ids;
    a->count = result->count;
    a->samples = r->want & VISD_WANT_SAMPLES ? (const uint32_t *)(const void *)((const char *)ids + r->samples_at) : NULL;
    a->digest = visd_digest(ids, result->count, r->ids32);
    a->revision = a->source_revision = result->revision;
    a->source_frame = a->frame;
    a->lag = result->source_lag;
    a->worker_ns = result->received_ns;
    a->started_ns = result->started_ns;
    a->ended_ns = result->ended_ns;
    a->stats = result->stats;
    v->width = r->camera.width;
    v->height = r->camera.height;
    v->last = (struct last){ .valid = !r->prepass, .method = r->method, .revision = result->revision, .count = a->count, .digest = a->digest };
    memcpy(&v->last.camera, &r->camera, sizeof(r->camera));
    if (park_again(v, r, a))
        return;
    history_put(v, r, ids, result->count);
    if (a->delta)
        space_give(v, &r->space); /* its lists are on the heap */
    answer_push(v, r);
}
