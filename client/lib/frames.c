/* Cameras out: a flight is one request for frames, from sending until its results have been taken.
 *
 * Frame numbers rise within a view, so a newer camera supersedes an older one. A frame that asks for deltas names the newest
 * whole list of its view as base, and holds that list until its answer has come. */
#include <stdlib.h>

#include "internal.h"

static void fill_camera(const struct visd_client_camera *in, struct visd_msg_camera *out)
{
    memcpy(out->view, in->view, sizeof(out->view));
    memcpy(out->proj, in->proj, sizeof(out->proj));
    out->width = in->width;
    out->height = in->height;
    out->has_depth = in->depth != VISD_DEPTH_ZERO_TO_ONE;
    out->depth = (uint32_t)in->depth;
    out->has_y = in->y != VISD_Y_UP;
    out->y = (uint32_t)in->y;
    out->has_samples = in->samples != 1;
    out->samples = in->samples;
    out->has_clip_planes = in->planes != 0;
    out->clip_planes = visd_bin_of(in->plane, in->planes);
    out->has_caps = out->caps = in->caps;
    out->has_layers = in->layers != UINT32_MAX;
    out->layers = in->layers;
    out->has_min_pixels = in->min_pixels != 0;
    out->min_pixels = in->min_pixels;
}

static void fill_frame(const struct flight_frame *in, struct visd_msg_frame *out)
{
    const struct visd_client_frame *f = &in->frame;
    out->view = f->view->number;
    out->frame = in->number;
    fill_camera(&f->camera, &out->camera);
    out->has_sent_ns = true;
    out->sent_ns = in->sent;
    out->has_fresh = out->fresh = f->fresh;
    out->has_wait = out->wait = f->wait;
    out->has_base = in->base != NULL;
    if (in->base) out->base = (struct visd_msg_base){.epoch = in->base->epoch, .view = f->view->number, .frame = in->base->frame};
    out->has_want = f->want != 0;
    out->want = f->want;
    out->has_method = f->method >= 0;
    out->method = f->method >= 0 ? (uint32_t)f->method : 0;
    out->has_lag = f->lag != 0;
    out->lag = f->lag;
    out->has_guard_metres = f->guard_metres != 0;
    out->guard_metres = f->guard_metres;
    out->has_guard_degrees = f->guard_degrees != 0;
    out->guard_degrees = f->guard_degrees;
    out->has_prepass = f->prepass != NULL;
    out->has_prepass_alone = out->prepass_alone = f->prepass && f->prepass_alone;
    out->prepass = visd_bin_of(f->prepass, (size_t)f->camera.width * f->camera.height);
}

/* Sends the frames that have no answer yet. */
enum visd_err flight_send(struct flight *flight)
{
    struct visd_client *c = flight->client;
    struct visd_message m = {.type = VISD_MSG_FRAMES, .has_epoch = true};
    struct visd_msg_frame *frames = calloc(flight->count, sizeof(*frames));
    enum visd_err err;
    if (!frames) return client_fail(c, VISD_ERR_NO_MEMORY, "no memory for %u frames", flight->count);
    for (uint32_t i = 0; i < flight->count; i++) {
        struct flight_frame *f = &flight->frames[i];
        if (f->answer || f->closed) continue;
        f->number = f->frame.view->next_frame++;
        f->sent = now_ns();
        m.epoch = f->frame.view->epoch;
        fill_frame(f, &frames[m.frames.frames_count++]);
    }
    m.frames.frames = frames;
    err = call_start(c, &m, LINK_RESEND, flight_handle, flight, &flight->exchange);
    free(frames);
    return err;
}

void flight_free(struct flight *flight)
{
    struct flight **at = &flight->client->flights;
    while (*at && *at != flight) at = &(*at)->next;
    if (*at) *at = flight->next;
    if (flight->client->taken == flight) flight->client->taken = NULL;
    for (uint32_t i = 0; i < flight->count; i++) {
        list_drop(flight->frames[i].base);
        answer_drop(flight->frames[i].answer);
    }
    free(flight);
}

static enum visd_err check_frames(struct visd_client *c, const struct visd_client_frame *frames, size_t count)
{
    unsigned under_way = 0;
    enum visd_err err;
    for (const struct flight *f = c->flights; f; f = f->next) under_way += f->exchange != NULL;
    if (under_way >= VISD_CLIENT_IN_FLIGHT)
        return client_fail(c, VISD_ERR_BUSY, "%u requests for frames are unanswered; take or await results first", under_way);
    if (count == 0 || count > VISD_MAX_FRAMES)
        return client_fail(c, VISD_ERR_BAD_VALUE, "%zu frames in one request; 1 to %d are allowed", count, VISD_MAX_FRAMES);
    for (size_t i = 0; i < count; i++) {
        const struct visd_client_camera *camera = &frames[i].camera;
        if (frames[i].view->client != c) return client_fail(c, VISD_ERR_BAD_VALUE, "frame %zu: its view belongs to another client", i);
        if ((err = client_check_epoch(c, frames[i].view->epoch)) != VISD_ERR_OK) return err;
        if (camera->planes > VISD_CLIP_PLANES)
            return client_fail(c, VISD_ERR_BAD_VALUE, "frame %zu: %u section planes; at most %d are allowed", i, camera->planes,
                               VISD_CLIP_PLANES);
        if (camera->depth < 0 || camera->y < 0) return client_fail(c, VISD_ERR_BAD_VALUE, "frame %zu: no such depth or y convention", i);
        for (size_t j = 0; j < i; j++)
            if (frames[j].view == frames[i].view)
                return client_fail(c, VISD_ERR_BAD_VALUE,
                                   "frames %zu and %zu are of the same view; send them one after the other", j, i);
    }
    return VISD_ERR_OK;
}

enum visd_err visd_client_frames_send(struct visd_client *c, const struct visd_client_frame *frames, size_t count, uint64_t *ticket)
{
    struct flight *flight;
    enum visd_err err;
    visd_client_dispatch(c);
    if ((err = check_frames(c, frames, count)) != VISD_ERR_OK) return err;
    flight = calloc(1, sizeof(*flight) + count * sizeof(flight->frames[0]));
    if (!flight) return client_fail(c, VISD_ERR_NO_MEMORY, "no memory for %zu frames", count);
    flight->client = c;
    flight->count = (uint32_t)count;
    flight->wanted = ticket != NULL;
    flight->ticket = c->next_ticket++;
    for (size_t i = 0; i < count; i++) {
        struct flight_frame *f = &flight->frames[i];
        f->frame = frames[i];
        if (frames[i].delta && (!frames[i].want || (frames[i].want & VISD_GET_IDS))) f->base = list_hold(frames[i].view->base);
    }
    flight->next = c->flights;
    c->flights = flight;
    err = flight_send(flight);
    for (size_t i = 0; i < count; i++) flight->frames[i].frame.prepass = NULL; /* the program's memory */
    if (err != VISD_ERR_OK) {
        flight_free(flight);
        return err;
    }
    if (ticket) *ticket = flight->ticket;
    return VISD_ERR_OK;
}

static struct flight *find(struct visd_client *c, uint64_t ticket)
{
    struct flight *f = c->flights;
    while (f && !(f->wanted && f != c->taken && f->ticket == ticket)) f = f->next;
    return f;
}

enum visd_err visd_client_frames_wait(struct visd_client *c, uint64_t ticket, int timeout_ms, struct visd_client_result *results)
{
    uint64_t deadline = deadline_of(timeout_ms);
    struct flight *flight;
    enum visd_err err;
    if (c->taken) flight_free(c->taken);
    visd_client_dispatch(c);
    flight = find(c, ticket);
    if (!flight) return client_fail(c, VISD_ERR_NOT_FOUND, "no such ticket; it was used up or forgotten");
    while (!flight->complete) {
        err = call_wait(c, deadline);
        if (err == VISD_ERR_TIMEOUT) return err;
        if (err != VISD_ERR_OK) {
            visd_client_frames_forget(c, ticket);
            return err;
        }
    }
    c->taken = flight;
    if (flight->err != VISD_ERR_OK) return client_fail(c, flight->err, "%s", flight->text);
    for (uint32_t i = 0; i < flight->count; i++) {
        if (flight->frames[i].answer) results[i] = flight->frames[i].answer->result;
        else
            results[i] = (struct visd_client_result){.err = VISD_ERR_NOT_FOUND,
                                                     .text = "the view has been closed",
                                                     .why = "",
                                                     .tag = flight->frames[i].frame.tag};
    }
    return VISD_ERR_OK;
}

void visd_client_frames_forget(struct visd_client *c, uint64_t ticket)
{
    struct flight *flight = find(c, ticket);
    if (!flight) return;
    flight->wanted = false;
    if (flight->complete) flight_free(flight);
}

enum visd_err visd_client_cull(struct visd_client *c, const struct visd_client_frame *frame, struct visd_client_result *result)
{
    uint64_t ticket;
    enum visd_err err = visd_client_frames_send(c, frame, 1, &ticket);
    if (err != VISD_ERR_OK) return err;
    err = visd_client_frames_wait(c, ticket, c->request_timeout_ms, result);
    if (err == VISD_ERR_TIMEOUT) visd_client_frames_forget(c, ticket);
    return err;
}
