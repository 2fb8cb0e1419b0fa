/* The methods as tables of steps, and how a frame is started and read; see recipes.h. */
#include "recipes.h"

#include <stdio.h>
#include <string.h>

#include "daemon/segment/clock.h"
#include "recording.h"

static void step_frustum(const struct cull_recording *r) { visd_frustum_record(r); }
static void step_select_history(const struct cull_recording *r) { visd_select_record(r, SELECT_HISTORY, false); }
static void step_select_passed(const struct cull_recording *r) { visd_select_record(r, SELECT_PASSED, false); }
static uint32_t marks(const struct cull_recording *r) { return SELECT_MARKS | (visd_gpu_info(r->gpu)->float64 ? 0 : SELECT_NO_CLIP); }
static void step_select_meshes(const struct cull_recording *r) { visd_select_record(r, marks(r), false); }
static void step_select_boxes(const struct cull_recording *r) { visd_select_record(r, marks(r) | SELECT_BOXES, false); }
static void step_depth(const struct cull_recording *r) { visd_depth_record(r, RASTER_DEPTH); }
static void step_mark(const struct cull_recording *r) { visd_depth_record(r, RASTER_MARK); }
static void step_pyramid(const struct cull_recording *r) { visd_pyramid_record(r); }
static void step_test_rest(const struct cull_recording *r) { visd_hiz_record(r, CULL_TEST_REST); }
static void step_test_last(const struct cull_recording *r) { visd_hiz_record(r, CULL_TEST_LAST); }
static void step_test_all(const struct cull_recording *r) { visd_hiz_record(r, CULL_TEST_ALL); }
static void step_settle(const struct cull_recording *r) { visd_hiz_record(r, CULL_TEST_SETTLE); }
static void step_pass_all(const struct cull_recording *r) { visd_hiz_record(r, CULL_TEST_PASS_ALL); }
static void step_compact(const struct cull_recording *r) { visd_compact_record(r); }

struct step {
    enum visd_pass pass;
    void (*record)(const struct cull_recording *r);
    bool meshes; /* there for the meshes' sake as occluders: left out where a prepass hides alone */
};

static const struct step frustum_steps[] = {
    {VISD_PASS_FRUSTUM, step_frustum, false},
    {VISD_PASS_TEST, step_pass_all, false},
    {VISD_PASS_COMPACT, step_compact, false},
};

/* Two phases in one submission: what was seen last is drawn, the rest is tested against it, what passes is drawn
 * too, and all are tested once more for the answer. */
static const struct step hiz_steps[] = {
    {VISD_PASS_FRUSTUM, step_frustum, false},
    {VISD_PASS_SELECT, step_select_history, true},
    {VISD_PASS_DEPTH, step_depth, true},
    {VISD_PASS_PYRAMID, step_pyramid, true},
    {VISD_PASS_TEST, step_test_rest, true},
    {VISD_PASS_SELECT, step_select_passed, true},
    {VISD_PASS_DEPTH, step_depth, true},
    {VISD_PASS_PYRAMID, step_pyramid, false},
    {VISD_PASS_TEST, step_test_last, false},
    {VISD_PASS_COMPACT, step_compact, false},
};

/* The same, and what passes is held sample by sample against the finished depth: as its box, or as its mesh. */
#define MARKED_STEPS(select)                                                                                                        \
    {VISD_PASS_FRUSTUM, step_frustum, false}, {VISD_PASS_SELECT, step_select_history, true}, {VISD_PASS_DEPTH, step_depth, true},                       \
        {VISD_PASS_PYRAMID, step_pyramid, true}, {VISD_PASS_TEST, step_test_rest, true}, {VISD_PASS_SELECT, step_select_passed, true},                 \
        {VISD_PASS_DEPTH, step_depth, true}, {VISD_PASS_PYRAMID, step_pyramid, false}, {VISD_PASS_TEST, step_test_all, false},                           \
        {VISD_PASS_SELECT, select, false}, {VISD_PASS_MARK, step_mark, false}, {VISD_PASS_TEST, step_settle, false}, {VISD_PASS_COMPACT, step_compact, false}
static const struct step box_steps[] = {MARKED_STEPS(step_select_boxes)};
static const struct step exact_steps[] = {MARKED_STEPS(step_select_meshes)};

static const struct recipe { const struct step *steps; uint32_t count; } recipes[] = {
    [VISD_METHOD_FRUSTUM] = {frustum_steps, sizeof(frustum_steps) / sizeof(frustum_steps[0])},
    [VISD_METHOD_HIZ] = {hiz_steps, sizeof(hiz_steps) / sizeof(hiz_steps[0])},
    [VISD_METHOD_BOX] = {box_steps, sizeof(box_steps) / sizeof(box_steps[0])},
    [VISD_METHOD_EXACT] = {exact_steps, sizeof(exact_steps) / sizeof(exact_steps[0])},
};
#define MAX_STEPS 16

#define CUBE_VERTICES 8

/* Corner i is at -1 or 1 by its bits; two triangles a face, counter-clockwise seen from outside, both faces of each counting. */
static enum visd_err make_cube(struct visd_recipes *r)
{
    static const uint8_t faces[BOX_TRIANGLES * 3] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4, 2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    struct { float vertices[CUBE_VERTICES][3]; uint32_t indices[BOX_TRIANGLES * 3]; } cube;
    VkCommandBuffer commands;
    for (int i = 0; i < CUBE_VERTICES; i++)
        for (int k = 0; k < 3; k++) cube.vertices[i][k] = i >> k & 1 ? 1 : -1;
    for (uint32_t i = 0; i < BOX_TRIANGLES * 3; i++) cube.indices[i] = faces[i] | (i % 3 == 0 ? INDEX_DOUBLE : 0);
    enum visd_err err = visd_gpu_buffer_create(r->gpu, VISD_GPU_DEVICE, sizeof(cube), &r->cube);
    if (err == VISD_ERR_OK) err = visd_gpu_begin(r->gpu, &commands);
    if (err != VISD_ERR_OK) return err;
    vkCmdUpdateBuffer(commands, r->cube.buffer, 0, sizeof(cube), &cube);
    visd_gpu_barrier(r->gpu, commands);
    return visd_gpu_submit(r->gpu, NULL);
}

enum visd_err visd_recipes_init(struct visd_recipes *r, struct visd_gpu *gpu, uint64_t budget_triangles, uint64_t budget_samples)
{
    bool software = visd_gpu_info(gpu)->software;
    *r = (struct visd_recipes){.gpu = gpu};
    r->limits = software ? (struct cull_limits){2000000, UINT64_C(64) << 20, 1u << 18, 1u << 18, 1u << 19, 16, VISD_FRAME_STEPWISE}
                         : (struct cull_limits){64000000, UINT64_C(4096) << 20, 1u << 20, 1u << 21, 1u << 22, 64, 0};
    if (budget_triangles) r->limits.triangles = budget_triangles;
    if (budget_samples) r->limits.samples = budget_samples;
    enum visd_err err = visd_cull_pipelines_create(gpu, r->limits.chunk, &r->pipelines);
    for (int i = 0; i < CULL_FRAMES && err == VISD_ERR_OK; i++) {
        struct cull_flight *flight = &r->flight[i];
        err = visd_gpu_buffer_create(gpu, VISD_GPU_UPLOAD, sizeof(struct frame), &flight->frame);
        if (err == VISD_ERR_OK) err = visd_gpu_buffer_create(gpu, VISD_GPU_READBACK, COUNTERS_READ, &flight->counters);
        if (err == VISD_ERR_OK) err = visd_gpu_stamps_create(gpu, MAX_STEPS + 1, &flight->stamps);
    }
    if (err == VISD_ERR_OK) err = visd_gpu_buffer_create(gpu, VISD_GPU_UPLOAD, sizeof(struct frame), &r->frame2);
    if (err == VISD_ERR_OK) err = visd_gpu_buffer_create(gpu, VISD_GPU_DEVICE, sizeof(struct counters), &r->scratch.counters);
    if (err == VISD_ERR_OK) err = visd_gpu_buffer_create(gpu, VISD_GPU_DEVICE, (uint64_t)r->limits.larges * sizeof(struct large), &r->scratch.larges);
    if (err == VISD_ERR_OK) err = visd_gpu_buffer_create(gpu, VISD_GPU_DEVICE, (uint64_t)r->limits.tiles * sizeof(struct tile), &r->scratch.tiles);
    if (err == VISD_ERR_OK) err = make_cube(r);
    if (err != VISD_ERR_OK) visd_recipes_finish(r);
    return err;
}

void visd_recipes_finish(struct visd_recipes *r)
{
    if (!r->gpu) return;
    struct visd_gpu_buffer *buffers[] = {&r->scratch.verdicts, &r->scratch.proxies, &r->scratch.candidates, &r->scratch.blocks,
                                         &r->scratch.fast_draws, &r->scratch.fast_starts, &r->scratch.clip_draws, &r->scratch.clip_starts,
                                         &r->scratch.larges, &r->scratch.tiles, &r->scratch.counters, &r->cube, &r->frame2, &r->prepass, &r->depth2, &r->picture};
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) visd_gpu_buffer_destroy(r->gpu, buffers[i]);
    for (int i = 0; i < CULL_FRAMES; i++) {
        visd_gpu_buffer_destroy(r->gpu, &r->flight[i].frame);
        visd_gpu_buffer_destroy(r->gpu, &r->flight[i].counters);
        visd_gpu_buffer_destroy(r->gpu, &r->flight[i].ids);
        visd_gpu_buffer_destroy(r->gpu, &r->flight[i].samples);
        visd_gpu_stamps_destroy(r->gpu, &r->flight[i].stamps);
    }
    visd_cull_pipelines_destroy(r->gpu, &r->pipelines);
    *r = (struct visd_recipes){0};
}

/* Replaces a buffer by a larger one; what the device still reads lives on until it is done. */
static enum visd_err enlarge(struct visd_gpu *gpu, enum visd_gpu_where where, struct visd_gpu_buffer *buffer, uint64_t bytes)
{
    if (buffer->bytes >= bytes) return VISD_ERR_OK;
    visd_gpu_buffer_retire(gpu, buffer);
    return visd_gpu_buffer_create(gpu, where, bytes, buffer);
}

enum visd_err visd_recipes_fit(struct visd_recipes *r, uint32_t slot_capacity)
{
    struct cull_scratch *s = &r->scratch;
    if (slot_capacity <= s->slots) return VISD_ERR_OK;
    uint32_t draws = slot_capacity < r->limits.draws ? slot_capacity : r->limits.draws;
    struct { struct visd_gpu_buffer *buffer; uint64_t bytes; } wanted[] = {
        {&s->verdicts, (uint64_t)slot_capacity * 4},
        {&s->proxies, (uint64_t)slot_capacity * sizeof(struct proxy)},
        {&s->candidates, (uint64_t)slot_capacity * 4},
        {&s->blocks, ((uint64_t)slot_capacity + GROUP - 1) / GROUP * sizeof(uvec4)},
        {&s->fast_draws, (uint64_t)draws * sizeof(struct draw)},
        {&s->fast_starts, (uint64_t)draws * 4},
        {&s->clip_draws, (uint64_t)draws * sizeof(struct draw)},
        {&s->clip_starts, (uint64_t)draws * 4},
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        enum visd_err err = enlarge(r->gpu, VISD_GPU_DEVICE, wanted[i].buffer, wanted[i].bytes);
        if (err != VISD_ERR_OK) {
            s->slots = 0;
            return err;
        }
    }
    s->slots = slot_capacity;
    s->draws = draws;
    return VISD_ERR_OK;
}

/* Vulkan's standard sample positions, in 1/16 pixel: of 1, 2, 4 and 8 samples, those of n at place n - 1. */
static const int8_t sample_positions[15][2] = {{8, 8},  {12, 12}, {4, 4},  {6, 2},  {14, 6},  {2, 10}, {10, 14}, {9, 5},
                                               {7, 11}, {13, 9},  {5, 3},  {3, 13}, {1, 7}, {11, 15}, {15, 1}};

void visd_recipes_parameters(const struct visd_recipes *r, const struct visd_residence *scene, const struct visd_history *view,
                             const struct visd_camera *camera, struct frame *out)
{
    const struct cull_scratch *s = &r->scratch;
    *out = (struct frame){
        .bounds = scene->bounds.address, .info = scene->info.address, .fine = scene->fine.address,
        .meshes = scene->meshes.address, .history = view->seen.address,
        .verdicts = s->verdicts.address, .proxies = s->proxies.address, .candidates = s->candidates.address, .blocks = s->blocks.address,
        .fast_draws = s->fast_draws.address, .fast_starts = s->fast_starts.address, .clip_draws = s->clip_draws.address,
        .clip_starts = s->clip_starts.address, .larges = s->larges.address, .tiles = s->tiles.address,
        .cube_vertices = r->cube.address, .cube_indices = r->cube.address + CUBE_VERTICES * 12,
        .depth = view->depth.address, .pyramid = view->pyramid.address, .counters = s->counters.address,
        .budget_triangles = (float)r->limits.triangles, .budget_samples = (float)r->limits.samples,
        .slots = scene->slots, .draw_limit = (uint32_t)(r->limits.triangles / 4 < UINT32_MAX ? r->limits.triangles / 4 : UINT32_MAX),
        .draw_capacity = s->draws,
        .chunk_limit = (uint32_t)(r->limits.triangles / r->limits.chunk) + s->draws,
        .large_capacity = r->limits.larges, .tile_capacity = r->limits.tiles,
        .tile_unit_limit = (uint32_t)(r->limits.samples / 64 * 4 < UINT32_MAX ? r->limits.samples / 64 * 4 : UINT32_MAX)};
    const int8_t(*positions)[2] = &sample_positions[camera->samples - 1];
    for (uint32_t i = 0; i < camera->samples; i++)
        for (int k = 0; k < 2; k++) out->sample_offset[i][k] = positions[i][k] * (SUBPIXEL / 16);
    memcpy(&out->camera, camera, sizeof(out->camera));
    out->levels = view->levels;
    memcpy(out->level_offset, view->level_offset, sizeof(out->level_offset));
}

struct cull_recording visd_recipes_recording(const struct visd_recipes *r, const struct visd_residence *scene, const struct visd_history *view,
                                             VkDeviceAddress frame, VkCommandBuffer commands)
{
    return (struct cull_recording){.gpu = r->gpu, .pipelines = &r->pipelines, .variant = view->variant, .commands = commands, .frame = frame, .counters = &r->scratch.counters,
                                   .slots = scene->slots, .width = view->width, .height = view->height, .samples = view->samples, .levels = view->levels};
}

/* A frame begins with no counts and no depth. */
void visd_recipes_clear(const struct visd_recipes *r, const struct visd_gpu_buffer *depth, VkCommandBuffer commands, bool with_counters)
{
    visd_gpu_barrier(r->gpu, commands);
    if (with_counters) vkCmdFillBuffer(commands, r->scratch.counters.buffer, 0, VK_WHOLE_SIZE, 0);
    vkCmdFillBuffer(commands, depth->buffer, 0, VK_WHOLE_SIZE, 0);
    visd_gpu_barrier(r->gpu, commands);
}

/* What is recorded so far is submitted and waited for, and a new recording begun. */
static enum visd_err split(struct visd_recipes *r, struct cull_recording *recording, uint64_t *took_ns)
{
    uint64_t value, before = visd_now_ns();
    enum visd_err err = visd_gpu_submit(r->gpu, &value);
    if (err == VISD_ERR_OK) err = visd_gpu_wait(r->gpu, value, UINT64_MAX);
    *took_ns = visd_now_ns() - before;
    if (err == VISD_ERR_OK) err = visd_gpu_begin(r->gpu, &recording->commands);
    return err;
}

enum visd_err visd_recipes_record(struct visd_recipes *r, uint32_t method, struct cull_recording *recording, struct cull_flight *flight)
{
    const struct recipe *recipe = &recipes[method];
    bool alone = flight && flight->job.u.frame.flags & VISD_FRAME_PREPASS_ALONE;
    bool profile = flight && flight->job.u.frame.flags & VISD_FRAME_PROFILE;
    enum visd_err err = VISD_ERR_OK;
    uint64_t took;
    if (profile) {
        err = split(r, recording, &took);
    } else if (flight) {
        visd_gpu_stamps_reset(r->gpu, recording->commands, &flight->stamps);
        visd_gpu_stamp(r->gpu, recording->commands, &flight->stamps);
    }
    for (uint32_t i = 0; i < recipe->count && err == VISD_ERR_OK; i++) {
        if (alone && recipe->steps[i].meshes) continue;
        recipe->steps[i].record(recording);
        visd_cull_barrier(recording);
        if (profile) {
            err = split(r, recording, &took);
            flight->pass_ns[recipe->steps[i].pass] += took;
        } else if (flight) {
            visd_gpu_stamp(r->gpu, recording->commands, &flight->stamps);
        }
    }
    return err;
}

static enum visd_err record_frame(struct visd_recipes *r, struct cull_flight *flight, const struct visd_residence *scene, struct visd_history *view)
{
    VkCommandBuffer commands;
    enum visd_err err = visd_gpu_begin(r->gpu, &commands);
    if (err != VISD_ERR_OK) return err;
    struct cull_recording recording = visd_recipes_recording(r, scene, view, flight->frame.address, commands);
    visd_recipes_clear(r, &view->depth, commands, true);
    if (flight->job.u.frame.flags & VISD_FRAME_PREPASS) {
        visd_prepass_record(&recording, flight->job.u.frame.flags & VISD_FRAME_PREPASS_REVERSED);
        visd_cull_barrier(&recording);
    }
    err = visd_recipes_record(r, flight->job.u.frame.method, &recording, flight);
    if (err == VISD_ERR_OK && flight->job.u.frame.flags & VISD_FRAME_COVERAGE)
        err = visd_recipes_coverage(r, scene, view, &flight->job.u.frame.camera, &recording);
    if (err != VISD_ERR_OK) {
        visd_gpu_abandon(r->gpu);
        return err;
    }
    vkCmdCopyBuffer(recording.commands, r->scratch.counters.buffer, flight->counters.buffer, 1, &(VkBufferCopy){.size = COUNTERS_READ});
    visd_gpu_barrier(r->gpu, recording.commands);
    return visd_gpu_submit(r->gpu, &flight->value);
}

/* The client's depth image onto the device, where the frames before may still be reading the last one. */
static enum visd_err take_prepass(struct visd_recipes *r, struct visd_upload *upload, const struct visd_camera *camera, const void *prepass)
{
    uint64_t bytes = (uint64_t)camera->width * camera->height * 4;
    enum visd_err err = VISD_ERR_OK;
    if (r->prepass.bytes < bytes || r->prepass.bytes / 4 > bytes) {
        visd_gpu_buffer_retire(r->gpu, &r->prepass);
        err = visd_gpu_buffer_create(r->gpu, VISD_GPU_DEVICE, bytes, &r->prepass);
    }
    return err == VISD_ERR_OK ? visd_upload_write(upload, r->prepass.buffer, 0, prepass, bytes) : err;
}

enum visd_err visd_recipes_start(struct visd_recipes *r, struct cull_flight *flight, struct visd_residence *scene, struct visd_history *view,
                                 const struct visd_job *job, const void *prepass, uint64_t received_ns, char *why, size_t size)
{
    uint32_t method = job->u.frame.method;
    if (method >= sizeof(recipes) / sizeof(recipes[0]) || !recipes[method].steps) {
        snprintf(why, size, "method %u is not supported yet", method);
        return VISD_ERR_NOT_SUPPORTED;
    }
    uint64_t id_bytes = job->u.frame.flags & VISD_FRAME_IDS32 ? 4 : 8, samples_at = job->u.frame.samples_at;
    bool counted = job->u.frame.flags & VISD_FRAME_SAMPLES;
    if (job->u.frame.capacity < scene->slots * id_bytes ||
        (counted && (samples_at < scene->slots * id_bytes || samples_at % 4 || job->u.frame.capacity < samples_at + scene->slots * UINT64_C(4)))) {
        snprintf(why, size, "the list has room for fewer ids than the scene has objects");
        return VISD_ERR_INTERNAL;
    }
    enum visd_err err = VISD_ERR_OK;
    if (job->u.frame.flags & VISD_FRAME_PREPASS) err = take_prepass(r, scene->upload, &job->u.frame.camera, prepass);
    if (err == VISD_ERR_OK) err = visd_upload_flush(scene->upload);
    if (err == VISD_ERR_OK) err = visd_recipes_fit(r, scene->slot_capacity);
    if (err == VISD_ERR_OK) err = visd_history_fit(view, r->gpu, scene->slot_capacity, &job->u.frame.camera);
    if (err == VISD_ERR_OK) err = enlarge(r->gpu, VISD_GPU_READBACK, &flight->ids, (uint64_t)scene->slot_capacity * 8);
    if (err == VISD_ERR_OK && counted) err = enlarge(r->gpu, VISD_GPU_READBACK, &flight->samples, (uint64_t)scene->slot_capacity * 4);
    if (err != VISD_ERR_OK) goto error;

    struct frame *frame = flight->frame.host;
    visd_recipes_parameters(r, scene, view, &job->u.frame.camera, frame);
    frame->ids = flight->ids.address;
    frame->prepass = r->prepass.address;
    frame->samples = flight->samples.address;
    frame->count_samples = counted;
    frame->ids32 = job->u.frame.flags & VISD_FRAME_IDS32 ? 1 : 0;
    view->variant = (job->u.frame.flags | r->limits.variant) & (VISD_FRAME_STEPWISE | VISD_FRAME_COARSE);
    if (job->u.frame.flags & VISD_FRAME_AT_ONCE) view->variant &= ~(uint32_t)VISD_FRAME_STEPWISE;
    frame->fresh = job->u.frame.flags & VISD_FRAME_FRESH ? 1 : 0;
    flight->job = *job;
    flight->received_ns = received_ns;
    flight->started_ns = visd_now_ns();
    flight->revision = scene->revision;
    memset(flight->pass_ns, 0, sizeof(flight->pass_ns));
    err = record_frame(r, flight, scene, view);
    if (err != VISD_ERR_OK) goto error;
    view->camera = job->u.frame.camera;
    view->method = method;
    view->framed = true;
    flight->busy = true;
    return VISD_ERR_OK;
error:
    snprintf(why, size, "the frame could not be started: %s", visd_err_text(err));
    return err;
}

static uint64_t sum64(const uint32_t pair[2]) { return pair[0] | (uint64_t)pair[1] << 32; }

static void read_times(struct visd_recipes *r, const struct cull_flight *flight, struct visd_result *result)
{
    uint64_t between[MAX_STEPS];
    const struct recipe *recipe = &recipes[flight->job.u.frame.method];
    memcpy(result->stats.pass_ns, flight->pass_ns, sizeof(flight->pass_ns));
    result->ended_ns = visd_now_ns();
    if (flight->job.u.frame.flags & VISD_FRAME_PROFILE || !visd_gpu_stamps_read(r->gpu, &flight->stamps, between)) return;
    bool alone = flight->job.u.frame.flags & VISD_FRAME_PREPASS_ALONE;
    for (uint32_t i = 0, n = 0; i < recipe->count && n + 1 < flight->stamps.used; i++)
        if (!(alone && recipe->steps[i].meshes)) result->stats.pass_ns[recipe->steps[i].pass] += between[n++];
}

void visd_recipes_finish_frame(struct visd_recipes *r, struct cull_flight *flight, void *out, struct visd_result *result)
{
    const struct counters *c = flight->counters.host;
    bool counted = flight->job.u.frame.flags & VISD_FRAME_SAMPLES;
    uint64_t samples_at = flight->job.u.frame.samples_at, ids_end = counted ? samples_at : flight->job.u.frame.capacity;
    uint64_t id_bytes = flight->job.u.frame.flags & VISD_FRAME_IDS32 ? 4 : 8, most = ids_end / id_bytes;
    if (counted && (flight->job.u.frame.capacity - samples_at) / 4 < most) most = (flight->job.u.frame.capacity - samples_at) / 4;
    result->revision = flight->revision;
    result->received_ns = flight->received_ns;
    result->started_ns = flight->started_ns;
    result->count = c->listed;
    /* A count beyond the room is a device's that fails: the loop sees it, and answers all; nothing is written past the room. */
    memcpy(out, flight->ids.host, (c->listed < most ? c->listed : most) * id_bytes);
    if (counted) memcpy((char *)out + samples_at, flight->samples.host, (c->listed < most ? c->listed : most) * 4);
    result->stats = (struct visd_frame_stats){
        .tested = c->tested, .in_frustum = c->in_frustum, .listed = c->listed, .occluded = c->occluded, .forced = c->forced,
        .drawn = {c->drawn[0], c->drawn[1]}, .over_budget = c->over_budget, .dropped_small = c->small_objects, .hidden = c->hidden,
        .triangles = {sum64(c->triangles_drawn), sum64(c->triangles_drawn + 2)},
        .triangles_in_frustum = sum64(c->triangles_in_frustum), .triangles_listed = sum64(c->triangles_listed),
        .samples_all = sum64(c->samples_all), .pixels_covered = c->pixels_covered};
    read_times(r, flight, result);
    flight->busy = false;
}
