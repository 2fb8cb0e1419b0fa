/* Frames: cameras in, results out.
 *
 * A request may carry the cameras of several views; it is answered when the last of them has its answer. Until then the answers that
 * have come are held where they are, in the segment, and encoded once, straight into the reply. A request that is sent again (nng
 * does so every minute, and after a reconnect) carries the same frame numbers: each frame attaches to the one that waits, and
 * the older request is let go of without an answer.
 *
 *   frames_wait -> item 0 (a cookie in its view) .. item n      reply when unanswered == 0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server_internal.h"

#define WANT_SERVED                                                                                                                 \
    (VISD_WIRE_WANT_IDS | VISD_WIRE_WANT_STATS | VISD_WIRE_WANT_PROFILE | VISD_WIRE_WANT_COVERAGE | VISD_WIRE_WANT_STEPWISE |          \
     VISD_WIRE_WANT_COARSE | VISD_WIRE_WANT_SAMPLES)
#define WANT_DEFAULT (VISD_WIRE_WANT_IDS | VISD_WIRE_WANT_STATS)

/* ---- ending a wait ---- */

static void give_back(struct visd_server *server, struct wait_item *item)
{
    struct view_slot *slot = &server->views[item->view];
    if (!item->has_answer)
        return;
    item->has_answer = false;
    visd_view_answer_done(slot->view, &item->answer);
    slot->held--;
    view_settle(server, slot);
}

static void unlink_wait(struct frames_wait *wait)
{
    if (wait->prev)
        wait->prev->next = wait->next;
    else if (wait->session)
        wait->session->waits = wait->next;
    if (wait->next)
        wait->next->prev = wait->prev;
    wait->session = NULL;
}

/* Frees it with the answers it holds; its request must have been dealt with. */
static void wait_free(struct visd_server *server, struct frames_wait *wait)
{
    unlink_wait(wait);
    for (uint32_t i = 0; i < wait->count; i++)
        give_back(server, &wait->items[i]);
    free(wait);
}

static void finish(struct visd_server *server, struct frames_wait *wait)
{
    struct visd_msg_result *results = calloc(wait->count, sizeof(*results));
    struct visd_request *request = wait->request;
    wait->request = NULL;
    unlink_wait(wait); /* answering may close the connection, and that must not find it */
    if (results) {
        struct visd_message out;
        memset(&out, 0, sizeof(out));
        out.type = VISD_MSG_RESULTS;
        out.results.results = results;
        out.results.results_count = wait->count;
        for (uint32_t i = 0; i < wait->count; i++)
            result_fill(server, &results[i], &wait->items[i]);
        reply_to(server, request, wait->n, &out);
        free(results);
    } else {
        refuse_to(server, request, wait->n, VISD_ERR_NO_MEMORY, "frames: no memory for the results; send the frames again");
    }
    wait_free(server, wait);
}

static void item_answered(struct visd_server *server, struct wait_item *item)
{
    struct frames_wait *wait = item->frames;
    item->answered = true;
    if (--wait->unanswered == 0)
        finish(server, wait);
}

static void count_answer(struct visd_server *server, const struct visd_answer *answer)
{
    server->counts.answers++;
    server->counts.answers_superseded += answer->err == VISD_ERR_SUPERSEDED;
    if (answer->err != VISD_ERR_OK)
        return;
    server->counts.answers_all += answer->all;
    server->counts.answers_delta += answer->delta;
    server->counts.ids_sent += answer->all ? 0 : answer->delta ? answer->added_count + answer->removed_count : answer->count;
}

void view_collect(struct visd_server *server, struct view_slot *slot)
{
    struct visd_answer answer;
    while (slot->view && visd_view_next_answer(slot->view, &answer)) {
        struct wait_item *item = answer.cookie;
        if (!answer.is_image) {
            count_answer(server, &answer);
            if (answer.err == VISD_ERR_OK)
                slot->last_answered = answer.frame;
        }
        if (!item || item->kind == WAIT_SNAPSHOT) {
            if (item)
                picture_answered(server, slot, item, &answer);
            visd_view_answer_done(slot->view, &answer);
            continue;
        }
        item->answer = answer;
        item->has_answer = true;
        item->err = answer.err;
        if (answer.err != VISD_ERR_OK)
            snprintf(item->text, sizeof(item->text), "%s", answer.text);
        slot->held++;
        item_answered(server, item);
    }
    view_settle(server, slot);
}

/* Whoever asked is gone: what he waits for is forgotten, and what has come is given back. */
void frames_forget(struct visd_server *server, struct session *session)
{
    while (session->waits) {
        struct frames_wait *wait = session->waits;
        for (uint32_t i = 0; i < wait->count; i++)
            if (!wait->items[i].answered)
                visd_view_forget(server->views[wait->items[i].view].view, &wait->items[i]);
        visd_request_drop(wait->request);
        wait_free(server, wait);
    }
}

static void stop_waiting(struct visd_server *server, struct frames_wait *wait)
{
    wait->unanswered++; /* one for this function */
    for (uint32_t i = 0; i < wait->count; i++) {
        struct wait_item *item = &wait->items[i];
        if (item->answered || !item->parks)
            continue;
        visd_view_forget(server->views[item->view].view, item);
        item->err = VISD_ERR_STOPPING;
        snprintf(item->text, sizeof(item->text), "the daemon is stopping");
        item_answered(server, item);
    }
    if (--wait->unanswered == 0)
        finish(server, wait);
}

void frames_stop_waiting(struct visd_server *server)
{
    for (struct visd_conn *conn = visd_conn_next(server->door, NULL); conn; conn = visd_conn_next(server->door, conn)) {
        struct session *session = *visd_conn_owner(conn);
        struct frames_wait *next;
        for (struct frames_wait *wait = session ? session->waits : NULL; wait; wait = next) {
            next = wait->next;
            stop_waiting(server, wait);
        }
    }
}

bool frames_pending(const struct visd_server *server)
{
    for (struct visd_conn *conn = visd_conn_next(server->door, NULL); conn; conn = visd_conn_next(server->door, conn)) {
        const struct session *session = *visd_conn_owner(conn);
        if (session && session->waits)
            return true;
    }
    return false;
}

/* ---- submitting ---- */

static void fill_camera(struct visd_camera_spec *out, const struct visd_msg_camera *in)
{
    *out = (struct visd_camera_spec){
        .width = in->width, .height = in->height, .depth = in->depth, .y = in->y,
        .samples = !in->has_samples ? 1 : in->samples ? in->samples : UINT32_MAX, /* 0 is refused as any other wrong number */
        .caps = in->caps, .layers = in->has_layers ? in->layers : UINT32_MAX, .min_pixels = in->min_pixels,
    };
    memcpy(out->view, in->view, sizeof(out->view));
    memcpy(out->proj, in->proj, sizeof(out->proj));
    if (in->has_clip_planes) {
        out->clip_planes = in->clip_planes.at;
        out->clip_plane_count = in->clip_planes.rows > UINT32_MAX ? UINT32_MAX : (uint32_t)in->clip_planes.rows;
    }
}

static void fill_spec(const struct visd_server *server, struct visd_frame_spec *out, const struct visd_msg_frame *in,
                      const struct visd_camera *camera, uint64_t received_ns)
{
    uint32_t want = in->has_want ? in->want : WANT_DEFAULT;
    *out = (struct visd_frame_spec){
        .frame = in->frame, .camera = camera, .fresh = in->fresh, .wait = in->wait, .client_sent_ns = in->sent_ns, .received_ns = received_ns,
    };
    if (in->has_base && in->base.epoch == server->epoch && in->base.view == in->view) { /* else: a full list */
        out->has_base = true;
        out->base_frame = in->base.frame;
    }
    if (in->has_prepass) {
        out->prepass = in->prepass.at;
        out->prepass_reversed = in->camera.has_depth && in->camera.depth == VISD_WIRE_DEPTH_REVERSED;
        out->prepass_alone = in->has_prepass_alone && in->prepass_alone;
    }
    if (want & VISD_WIRE_WANT_PROFILE)
        out->want |= VISD_WANT_PROFILE;
    if (want & VISD_WIRE_WANT_COVERAGE)
        out->want |= VISD_WANT_COVERAGE;
    if (want & VISD_WIRE_WANT_STEPWISE)
        out->want |= VISD_WANT_STEPWISE;
    if (want & VISD_WIRE_WANT_COARSE)
        out->want |= VISD_WANT_COARSE;
    if (want & VISD_WIRE_WANT_SAMPLES)
        out->want |= VISD_WANT_SAMPLES;
}

static size_t bytes_with(const struct visd_view *view, const struct visd_msg_frame *in, const struct visd_camera *camera)
{
    return visd_view_bytes_with(view, camera, in->has_want && in->want & VISD_WIRE_WANT_SAMPLES ? VISD_WANT_SAMPLES : 0, in->has_prepass);
}

/* Looks at one frame before anything is done; false: refused and answered. */
static bool check_frame(struct call *call, uint32_t index, struct visd_camera *camera)
{
    const struct visd_msg_frames *frames = &call->in->frames;
    const struct visd_msg_frame *in = &frames->frames[index];
    const struct view_slot *slot = view_find(call, in->view);
    struct visd_camera_spec spec;
    char why[200] = "";
    if (!slot) {
        call_refuse(call, VISD_ERR_NOT_FOUND, "frames[%u]: there is no view %u", index, in->view);
        return false;
    }
    for (uint32_t i = 0; i < index; i++)
        if (frames->frames[i].view == in->view) {
            call_refuse(call, VISD_ERR_BAD_VALUE, "frames[%u]: view %u has a frame in this request already; send one for each view", index, in->view);
            return false;
        }
    const char *later = in->has_want && in->want & ~(uint32_t)WANT_SERVED ? "want draws"
                        : in->lag                                          ? "lag"
                        : in->guard_metres != 0 || in->guard_degrees != 0  ? "guard"
                        : in->has_method && in->method > VISD_METHOD_EXACT ? visd_wire_method_name(in->method)
                                                                           : NULL;
    if (later) {
        call_refuse(call, VISD_ERR_NOT_SUPPORTED, "frames[%u]: %s is not supported yet", index, later);
        return false;
    }
    uint32_t method = in->has_method ? in->method : visd_view_method(slot->view);
    if (in->has_want && in->want & VISD_WIRE_WANT_SAMPLES && method != VISD_METHOD_BOX && method != VISD_METHOD_EXACT) {
        call_refuse(call, VISD_ERR_BAD_VALUE, "frames[%u]: want samples: %s counts none; ask with box or exact", index, visd_wire_method_name(method));
        return false;
    }
    const struct visd_msg_camera *c = &in->camera;
    if (in->has_prepass && (in->prepass.rows != (uint64_t)c->width * c->height || (c->has_samples && c->samples != 1))) {
        call_refuse(call, VISD_ERR_BAD_VALUE, "frames[%u].prepass: %llu depths for %u x %u pixels of %u samples; send one a pixel, and a camera of one sample",
                    index, (unsigned long long)in->prepass.rows, c->width, c->height, c->has_samples ? c->samples : 1);
        return false;
    }
    if (in->has_prepass_alone && in->prepass_alone && !in->has_prepass) {
        call_refuse(call, VISD_ERR_BAD_VALUE, "frames[%u].prepass_alone: there is no prepass to hide alone", index);
        return false;
    }
    fill_camera(&spec, &in->camera);
    enum visd_err err = visd_camera_canonical(&spec, camera, why, sizeof(why));
    if (err != VISD_ERR_OK) {
        call_refuse(call, err, "frames[%u].camera: %s", index, why);
        return false;
    }
    if (visd_view_renumbers(slot->view, in->frame, camera)) {
        call_refuse(call, VISD_ERR_CONFLICT, "frames[%u]: frame %llu of view %u was sent with another camera; each camera needs a number of its own",
                    index, (unsigned long long)in->frame, in->view);
        return false;
    }
    return true;
}

static bool check_frames(struct call *call, struct visd_camera *cameras)
{
    for (uint32_t i = 0; i < call->in->frames.frames_count; i++)
        if (!check_frame(call, i, &cameras[i]))
            return false;
    return true;
}

static struct view_slot *slot_of(struct visd_server *server, const struct visd_msg_frame *in) /* of a frame that has been checked */
{
    return &server->views[in->view % VISD_SEGMENT_MAX_VIEWS];
}

/* Takes room for what the frames make their views hold. The first frame for which there is none, and then nothing is taken; or their count. */
static uint32_t take_rooms(struct visd_server *server, const struct visd_msg_frames *in, const struct visd_camera *cameras)
{
    uint32_t i = 0;
    for (; i < in->frames_count; i++) {
        struct view_slot *slot = slot_of(server, &in->frames[i]);
        uint64_t bytes = bytes_with(slot->view, &in->frames[i], &cameras[i]);
        if (visd_charge_set(&slot->bytes, &server->users, slot->client->user, VISD_QUOTA_VIEW_BYTES, bytes) != VISD_ERR_OK)
            break;
    }
    for (uint32_t k = 0; i < in->frames_count && k < i; k++)
        view_settle(server, slot_of(server, &in->frames[k]));
    return i;
}

/* Looks at all frames of a request, and takes room for them; false: refused and answered, and nothing has changed. */
static bool admit(struct call *call, struct visd_camera *cameras)
{
    struct visd_server *server = call->server;
    const struct visd_msg_frames *in = &call->in->frames;
    while (check_frames(call, cameras)) {
        uint32_t i = take_rooms(server, in, cameras);
        if (i == in->frames_count)
            return true;
        const struct view_slot *slot = slot_of(server, &in->frames[i]);
        if (clients_evict(server, slot->client->user)) {
            server_reap(server);
            continue; /* looking again: a view of this request may have gone with its client */
        }
        call_refuse(call, VISD_ERR_QUOTA, "frames[%u]: with %u x %u pixels of %u samples view %u would hold %llu MiB, and user_view_mib (%d) is used up by this "
                    "user's views; make it smaller, or close a view", i, cameras[i].width, cameras[i].height, cameras[i].samples, in->frames[i].view,
                    (unsigned long long)(bytes_with(slot->view, &in->frames[i], &cameras[i]) >> 20), VISD_MAX_USER_VIEW_MIB);
        return false;
    }
    return false;
}

/* The older request of a frame that has been sent again. If it is the same request, nng will not read an answer to it any more. */
static void replaced_by(struct visd_server *server, struct wait_item *old, const struct frames_wait *wait)
{
    struct frames_wait *older = old->frames;
    const struct visd_request *a = older->request, *b = wait->request;
    old->err = VISD_ERR_SUPERSEDED;
    old->answer.frame = 0;
    snprintf(old->text, sizeof(old->text), "the same frame was asked for again, and is answered there");
    old->answered = true;
    if (--older->unanswered)
        return;
    if (a->words == b->words && memcmp(a->backtrace, b->backtrace, a->words) == 0) {
        visd_request_drop(older->request);
        wait_free(server, older);
    } else {
        finish(server, older);
    }
}

static void submit_frame(struct visd_server *server, struct frames_wait *wait, uint32_t index, const struct visd_msg_frame *in,
                         const struct visd_camera *camera)
{
    struct wait_item *item = &wait->items[index];
    struct view_slot *slot = &server->views[item->view];
    struct visd_frame_spec spec;
    bool attached = false;
    void *replaced = NULL;
    char why[200];
    uint32_t method = visd_view_method(slot->view);
    fill_spec(server, &spec, in, camera, wait->request->received_ns);
    if (in->has_method) /* for this frame only; it has been checked */
        visd_view_set_method(slot->view, in->method, why, sizeof(why));
    item->err = visd_view_submit(slot->view, &spec, item, &attached, &replaced, item->text, sizeof(item->text));
    if (in->has_method)
        visd_view_set_method(slot->view, method, why, sizeof(why));
    item->answer.frame = in->frame;
    if (item->err == VISD_ERR_OK) {
        server->counts.frames++;
    } else {
        item->answered = true;
        wait->unanswered--;
    }
    if (attached && replaced)
        replaced_by(server, replaced, wait);
}

void op_frames(struct call *call)
{
    struct visd_server *server = call->server;
    const struct visd_msg_frames *in = &call->in->frames;
    if (in->frames_count == 0) {
        call_refuse(call, VISD_ERR_BAD_VALUE, "frames: there is no camera in it");
        return;
    }
    struct visd_camera *cameras = visd_arena_take(&server->arena, in->frames_count, sizeof(*cameras));
    struct frames_wait *wait = calloc(1, sizeof(*wait) + in->frames_count * sizeof(wait->items[0]));
    if (!cameras || !wait) {
        free(wait);
        call_refuse(call, VISD_ERR_NO_MEMORY, "frames: out of memory");
        return;
    }
    if (!admit(call, cameras)) {
        free(wait);
        return;
    }
    wait->session = call->session;
    wait->next = call->session->waits;
    if (wait->next)
        wait->next->prev = wait;
    call->session->waits = wait;
    wait->request = call->request;
    call->request = NULL;
    wait->n = call->in->n;
    wait->count = in->frames_count;
    wait->unanswered = wait->count + 1; /* one for this function */
    for (uint32_t i = 0; i < wait->count; i++) {
        struct wait_item *item = &wait->items[i];
        item->kind = WAIT_FRAMES;
        item->frames = wait;
        item->view = in->frames[i].view % VISD_SEGMENT_MAX_VIEWS;
        item->wire_view = in->frames[i].view;
        item->parks = in->frames[i].wait;
        item->want = in->frames[i].has_want ? in->frames[i].want : WANT_DEFAULT;
    }
    for (uint32_t i = 0; i < wait->count; i++)
        submit_frame(server, wait, i, &in->frames[i], &cameras[i]);
    uint32_t count = wait->count;
    for (uint32_t i = 0; i < count; i++) /* superseded ones, and all of them while there is no worker */
        view_collect(server, slot_of(server, &in->frames[i]));
    visd_request_shed(wait->request); /* the views have taken what they need */
    if (--wait->unanswered == 0)
        finish(server, wait);
}
