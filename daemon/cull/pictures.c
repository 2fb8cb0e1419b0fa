/* Pictures of a view, and the count of all samples that its frustum holds: by the same passes.
 *
 * For a picture the view's last frame is run again, in the view's own buffers, history included: no answer depends on that. Depth,
 * pyramid and boxes are read from what it leaves. Ids and the count are drawn outside the budgets into buffers beside (depth2,
 * picture), so that the view's depth stays as the frame left it. */
#include <string.h>

#include "recording.h"

#define PICTURE_TRIANGLES (1u << 26) /* the most that a picture draws */
#define KEEP_BYTES (64u << 20)       /* larger buffers are given back after a picture: most daemons draw few */

/* Parameters that draw into depth2 without a budget. They are shared, so the device must be done with the last use. */
static enum visd_err picture_frame(struct visd_recipes *r, const struct visd_residence *scene, const struct visd_history *view,
                                   const struct visd_camera *camera, struct frame **out)
{
    uint64_t bytes = (uint64_t)view->width * view->height * view->samples * 4;
    enum visd_err err = visd_gpu_wait(r->gpu, visd_gpu_submitted(r->gpu), UINT64_MAX);
    struct visd_gpu_buffer *buffers[] = {&r->depth2, &r->picture};
    for (size_t i = 0; i < 2 && err == VISD_ERR_OK; i++) {
        if (buffers[i]->bytes >= bytes && (buffers[i]->bytes <= KEEP_BYTES || buffers[i]->bytes / 4 <= bytes)) continue;
        visd_gpu_buffer_retire(r->gpu, buffers[i]);
        err = visd_gpu_buffer_create(r->gpu, VISD_GPU_DEVICE, bytes, buffers[i]);
    }
    if (err != VISD_ERR_OK) return err;
    struct frame *frame = r->frame2.host;
    visd_recipes_parameters(r, scene, view, camera, frame);
    frame->depth = r->depth2.address;
    frame->picture = r->picture.address;
    frame->chunk_limit = PICTURE_TRIANGLES / r->limits.chunk;
    frame->tile_unit_limit = UINT32_MAX;
    frame->draw_limit = UINT32_MAX;
    *out = frame;
    return VISD_ERR_OK;
}

enum visd_err visd_recipes_coverage(struct visd_recipes *r, const struct visd_residence *scene, const struct visd_history *view,
                                    const struct visd_camera *camera, struct cull_recording *recording)
{
    struct frame *frame;
    enum visd_err err = picture_frame(r, scene, view, camera, &frame);
    if (err != VISD_ERR_OK) return err;
    VkDeviceAddress own = recording->frame;
    recording->frame = r->frame2.address;
    visd_recipes_clear(r, &r->depth2, recording->commands, false);
    visd_select_record(recording, SELECT_ALL, true);
    visd_cull_barrier(recording);
    visd_depth_record(recording, RASTER_COUNT);
    visd_cull_barrier(recording);
    visd_covered_record(recording);
    visd_cull_barrier(recording);
    recording->frame = own;
    return VISD_ERR_OK;
}

/* Runs the view's last camera again, up to the answer; the verdicts and rectangles of all candidates are then in scratch. */
static enum visd_err run_again(struct visd_recipes *r, const struct visd_residence *scene, const struct visd_history *view,
                               struct visd_gpu_buffer *ids, struct cull_recording *recording)
{
    VkCommandBuffer commands;
    struct frame *frame;
    enum visd_err err = picture_frame(r, scene, view, &view->camera, &frame);
    if (err != VISD_ERR_OK) return err;
    frame->depth = view->depth.address;
    frame->ids = ids->address;
    err = visd_gpu_begin(r->gpu, &commands);
    if (err != VISD_ERR_OK) return err;
    *recording = visd_recipes_recording(r, scene, view, r->frame2.address, commands);
    visd_recipes_clear(r, &view->depth, commands, true);
    return visd_recipes_record(r, view->method, recording, NULL);
}

static enum visd_err finish(struct visd_recipes *r)
{
    uint64_t value;
    enum visd_err err = visd_gpu_submit(r->gpu, &value);
    return err == VISD_ERR_OK ? visd_gpu_wait(r->gpu, value, UINT64_MAX) : err;
}

/* What was listed, drawn twice: once for its depth, once to mark whose it is. */
static enum visd_err draw_ids(struct visd_recipes *r, struct cull_recording *recording)
{
    enum visd_err err = finish(r);
    if (err != VISD_ERR_OK) return err;
    ((struct frame *)r->frame2.host)->depth = r->depth2.address;
    err = visd_gpu_begin(r->gpu, &recording->commands);
    if (err != VISD_ERR_OK) return err;
    visd_recipes_clear(r, &r->depth2, recording->commands, false);
    visd_recipes_clear(r, &r->picture, recording->commands, false);
    visd_select_record(recording, SELECT_SEEN, true);
    for (uint32_t mode = RASTER_DEPTH; mode <= RASTER_IDS; mode += RASTER_IDS - RASTER_DEPTH) {
        visd_cull_barrier(recording);
        visd_depth_record(recording, mode);
    }
    visd_cull_barrier(recording);
    return VISD_ERR_OK;
}

static uint64_t id_of(const struct visd_object_info *info) { return info->id[0] | (uint64_t)info->id[1] << 32; }

/* Of several samples the least. */
static void write_depth(const struct visd_history *view, const float *from, float *to)
{
    for (uint64_t i = 0; i < (uint64_t)view->width * view->height; i++) {
        const float *samples = from + i * view->samples;
        to[i] = samples[0];
        for (uint32_t s = 1; s < view->samples; s++) to[i] = samples[s] < to[i] ? samples[s] : to[i];
    }
}

/* Of several samples the first. */
static void write_ids(const struct visd_history *view, const uint32_t *from, const struct visd_object_info *about, uint64_t *to)
{
    for (uint64_t i = 0; i < (uint64_t)view->width * view->height; i++) {
        uint32_t marked = from[i * view->samples];
        to[i] = marked ? id_of(&about[marked - 1]) : UINT64_MAX;
    }
}

static void write_boxes(const struct cull_scratch *read, const struct visd_gpu_buffer *info, uint32_t count, struct visd_snapshot_box *to)
{
    const uint32_t *candidates = read->candidates.host, *verdicts = read->verdicts.host;
    const struct proxy *proxies = read->proxies.host;
    const struct visd_object_info *about = info->host;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = candidates[i], verdict = verdicts[slot];
        const struct proxy *p = &proxies[slot];
        to[i] = (struct visd_snapshot_box){
            .id = id_of(&about[slot]),
            .x0 = (uint16_t)(p->low & 0xffff), .y0 = (uint16_t)(p->low >> 16), .x1 = (uint16_t)(p->high & 0xffff), .y1 = (uint16_t)(p->high >> 16),
            .depth = p->depth,
            .state = ((verdict & (VERDICT_SEEN | VERDICT_UNLISTED)) == VERDICT_SEEN ? VISD_BOX_LISTED : 0) |
                     (verdict & VERDICT_FORCED ? VISD_BOX_FORCED : 0) | (verdict & VERDICT_DRAWN ? VISD_BOX_DREW : 0)};
    }
}

/* Copies device buffers to the host: read[i] receives from[i]. */
static enum visd_err read_back(struct visd_recipes *r, const struct visd_gpu_buffer *const from[], struct visd_gpu_buffer *const read[], size_t count)
{
    VkCommandBuffer commands;
    enum visd_err err = VISD_ERR_OK;
    for (size_t i = 0; i < count && err == VISD_ERR_OK; i++) err = visd_gpu_buffer_create(r->gpu, VISD_GPU_READBACK, from[i]->bytes, read[i]);
    if (err == VISD_ERR_OK) err = visd_gpu_begin(r->gpu, &commands);
    if (err != VISD_ERR_OK) return err;
    visd_gpu_barrier(r->gpu, commands);
    for (size_t i = 0; i < count; i++) vkCmdCopyBuffer(commands, from[i]->buffer, read[i]->buffer, 1, &(VkBufferCopy){.size = from[i]->bytes});
    visd_gpu_barrier(r->gpu, commands);
    return finish(r);
}

static enum visd_err boxes(struct visd_recipes *r, const struct visd_residence *scene, uint64_t capacity, void *out, struct visd_result *result)
{
    struct cull_scratch read = {0};
    struct visd_gpu_buffer info = {0};
    const struct visd_gpu_buffer *from[] = {&r->scratch.candidates, &r->scratch.verdicts, &r->scratch.proxies, &r->scratch.counters, &scene->info};
    struct visd_gpu_buffer *to[] = {&read.candidates, &read.verdicts, &read.proxies, &read.counters, &info};
    enum visd_err err = read_back(r, from, to, 5);
    if (err == VISD_ERR_OK) {
        uint32_t count = ((const struct counters *)read.counters.host)->candidates;
        result->count = (uint64_t)count * sizeof(struct visd_snapshot_box);
        if (result->count > capacity) err = VISD_ERR_TOO_BIG;
        else write_boxes(&read, &info, count, out);
    }
    for (size_t i = 0; i < 5; i++) visd_gpu_buffer_destroy(r->gpu, to[i]);
    return err;
}

static enum visd_err depth_pixels(struct visd_recipes *r, const struct visd_history *view, const struct visd_job *job, void *out, struct visd_result *result)
{
    struct visd_gpu_buffer read = {0};
    uint32_t level = job->u.snapshot.what == VISD_SNAPSHOT_PYRAMID ? job->u.snapshot.level : 0;
    bool own_buffer = job->u.snapshot.what == VISD_SNAPSHOT_PYRAMID && (level > 0 || view->samples > 1);
    const struct visd_gpu_buffer *from = own_buffer ? &view->pyramid : &view->depth;
    struct visd_gpu_buffer *to = &read;
    result->width = (view->width + (1u << level) - 1) >> level;
    result->height = (view->height + (1u << level) - 1) >> level;
    result->count = (uint64_t)result->width * result->height * sizeof(float);
    if (result->count > job->u.snapshot.capacity) return VISD_ERR_TOO_BIG;
    enum visd_err err = read_back(r, &from, &to, 1);
    if (err == VISD_ERR_OK && own_buffer) memcpy(out, (const float *)read.host + view->level_offset[level], result->count);
    else if (err == VISD_ERR_OK) write_depth(view, read.host, out);
    visd_gpu_buffer_destroy(r->gpu, &read);
    return err;
}

static enum visd_err id_pixels(struct visd_recipes *r, const struct visd_residence *scene, const struct visd_history *view, const struct visd_job *job,
                               void *out, struct visd_result *result)
{
    struct visd_gpu_buffer marks = {0}, info = {0};
    const struct visd_gpu_buffer *from[] = {&r->picture, &scene->info};
    struct visd_gpu_buffer *to[] = {&marks, &info};
    result->count = (uint64_t)view->width * view->height * sizeof(uint64_t);
    if (result->count > job->u.snapshot.capacity) return VISD_ERR_TOO_BIG;
    enum visd_err err = read_back(r, from, to, 2);
    if (err == VISD_ERR_OK) write_ids(view, marks.host, info.host, out);
    for (size_t i = 0; i < 2; i++) visd_gpu_buffer_destroy(r->gpu, to[i]);
    return err;
}

enum visd_err visd_recipes_snapshot(struct visd_recipes *r, struct visd_residence *scene, struct visd_history *view, const struct visd_job *job,
                                    void *out, struct visd_result *result)
{
    struct visd_gpu_buffer ids = {0};
    struct cull_recording recording;
    uint32_t what = job->u.snapshot.what;
    if (!view->framed) return VISD_ERR_NOT_FOUND;
    if (what > VISD_SNAPSHOT_BOXES) return VISD_ERR_NOT_SUPPORTED;
    if (what == VISD_SNAPSHOT_PYRAMID && job->u.snapshot.level >= view->levels) return VISD_ERR_BAD_VALUE;
    enum visd_err err = visd_upload_flush(scene->upload);
    if (err == VISD_ERR_OK) err = visd_recipes_fit(r, scene->slot_capacity);
    if (err == VISD_ERR_OK) err = visd_history_fit(view, r->gpu, scene->slot_capacity, &view->camera);
    if (err == VISD_ERR_OK) err = visd_gpu_buffer_create(r->gpu, VISD_GPU_DEVICE, (uint64_t)scene->slot_capacity * 8, &ids);
    if (err == VISD_ERR_OK) err = run_again(r, scene, view, &ids, &recording);
    if (err == VISD_ERR_OK && what == VISD_SNAPSHOT_IDS) err = draw_ids(r, &recording);
    if (err == VISD_ERR_OK) err = finish(r);
    if (err == VISD_ERR_OK) {
        result->width = view->width;
        result->height = view->height;
        if (what == VISD_SNAPSHOT_BOXES) err = boxes(r, scene, job->u.snapshot.capacity, out, result);
        else if (what == VISD_SNAPSHOT_IDS) err = id_pixels(r, scene, view, job, out, result);
        else err = depth_pixels(r, view, job, out, result);
    }
    visd_gpu_abandon(r->gpu);
    visd_gpu_buffer_retire(r->gpu, &ids);
    if (r->depth2.bytes > KEEP_BYTES) visd_gpu_buffer_retire(r->gpu, &r->depth2);
    if (r->picture.bytes > KEEP_BYTES) visd_gpu_buffer_retire(r->gpu, &r->picture);
    return err;
}
