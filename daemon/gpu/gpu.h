/* The device: one Vulkan device, one queue, its memory, its compute pipelines and its timeline. Knows nothing of scenes.
 *
 * Shaders reach memory by buffer addresses alone: no descriptor sets, no bindings, so no binding limits (lavapipe: 128 MiB)
 * and nothing that could be left unwritten. All work goes to one queue in order; each submission raises one timeline
 * semaphore by one, and everything that must outlive the device's use of it is retired against that timeline.
 *
 * Thread: everything here belongs to the worker's thread. Vulkan is loaded (volk) in visd_gpu_create and nowhere else.
 * A lost device is sticky: every later call that would submit or wait returns VISD_ERR_DEVICE_LOST. */
#ifndef VISD_GPU_GPU_H
#define VISD_GPU_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <volk.h>

#include "proto/err.h"

struct visd_gpu;

struct visd_gpu_params {
    const char *select; /* "auto": a real GPU if there is one, else the CPU device; "cpu"; or a number: its place in Vulkan's list */
    bool validate;      /* the Khronos validation layer, synchronization validation included; NO_DEVICE if it is not installed */
    void (*note)(void *context, bool validation, const char *text); /* a validation message or a device failure; may be NULL; called on this thread */
    void *context;
};

struct visd_gpu_info {
    char name[256];
    char driver[300];
    bool software;       /* a CPU device (lavapipe) */
    bool float64;        /* shaders may use double */
    double timestamp_ns; /* nanoseconds a timestamp tick; 0: no timestamps */
    uint64_t timestamp_mask;
    uint32_t max_groups; /* work groups an axis */
};

/* why receives one line for people when no device can be used: each device seen and what it lacks. */
enum visd_err visd_gpu_create(struct visd_gpu **out, const struct visd_gpu_params *params, char *why, size_t why_size);
void visd_gpu_destroy(struct visd_gpu *gpu); /* settles first; NULL is fine */
const struct visd_gpu_info *visd_gpu_info(const struct visd_gpu *gpu);
bool visd_gpu_is_lost(const struct visd_gpu *gpu);

/* ---- memory (memory.c) ---- */

enum visd_gpu_where {
    VISD_GPU_DEVICE,   /* fastest for shaders; host is NULL unless all memory is host memory */
    VISD_GPU_UPLOAD,   /* host writes, device reads; coherent */
    VISD_GPU_READBACK, /* device writes, host reads; cached and coherent */
};

struct visd_gpu_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceAddress address;
    uint64_t bytes;
    void *host; /* mapped, or NULL */
};

/* A zeroed buffer is an empty one: destroy and retire accept it. Contents start undefined. NO_MEMORY or DEVICE_LOST on failure. */
enum visd_err visd_gpu_buffer_create(struct visd_gpu *gpu, enum visd_gpu_where where, uint64_t bytes, struct visd_gpu_buffer *out);
/* Makes a device buffer at least bytes large: a larger one with the old one's contents, copied on the device behind all work so far; new
 * bytes are zero. An empty buffer may be grown, too. On failure it is as it was. No recording may be open. */
enum visd_err visd_gpu_buffer_grow(struct visd_gpu *gpu, struct visd_gpu_buffer *buffer, uint64_t bytes);
void visd_gpu_buffer_destroy(struct visd_gpu *gpu, struct visd_gpu_buffer *buffer); /* the device must be done with it */
void visd_gpu_buffer_retire(struct visd_gpu *gpu, struct visd_gpu_buffer *buffer);  /* destroyed once the device is done with it */

/* Ranges inside large device buffers, for things too many to have a buffer each. */
struct visd_gpu_arena;
struct visd_gpu_range {
    VkBuffer buffer;
    VkDeviceAddress address;
    uint64_t offset, bytes; /* in buffer */
};
enum visd_err visd_gpu_arena_create(struct visd_gpu *gpu, struct visd_gpu_arena **out);
void visd_gpu_arena_destroy(struct visd_gpu_arena *arena); /* NULL is fine; the device must be done with all of it */
enum visd_err visd_gpu_arena_alloc(struct visd_gpu_arena *arena, uint64_t bytes, struct visd_gpu_range *out); /* 256-byte aligned */
void visd_gpu_arena_free(struct visd_gpu_arena *arena, struct visd_gpu_range *range); /* reused once the device is done with it */
uint64_t visd_gpu_bytes(const struct visd_gpu *gpu); /* device memory allocated now */

/* ---- pipelines (pipeline.c) ---- */

/* A compute pipeline. Entry "main"; push constants up to 128 bytes; constants become specialization constants 0, 1, … */
struct visd_gpu_pipeline { VkPipeline pipeline; };
enum visd_err visd_gpu_pipeline_create(struct visd_gpu *gpu, const uint32_t *spirv, size_t bytes, const uint32_t *constants,
                                       uint32_t constant_count, struct visd_gpu_pipeline *out);
void visd_gpu_pipeline_destroy(struct visd_gpu *gpu, struct visd_gpu_pipeline *pipeline);

/* ---- work (submit.c) ---- */

/* Recording: begin gives a command buffer, submit closes it and sends it, and returns the timeline value that it will reach. One
 * recording at a time. */
enum visd_err visd_gpu_begin(struct visd_gpu *gpu, VkCommandBuffer *out);
enum visd_err visd_gpu_submit(struct visd_gpu *gpu, uint64_t *value);
void visd_gpu_abandon(struct visd_gpu *gpu); /* drops a recording that will not be submitted; no-op without one */
uint64_t visd_gpu_submitted(const struct visd_gpu *gpu); /* the value of the newest submission */
bool visd_gpu_reached(struct visd_gpu *gpu, uint64_t value); /* collects what was retired, too */
enum visd_err visd_gpu_wait(struct visd_gpu *gpu, uint64_t value, uint64_t timeout_ns); /* TIMEOUT, DEVICE_LOST */
void visd_gpu_settle(struct visd_gpu *gpu); /* before anything is destroyed: until the device is done, or if it is lost, for a moment */

/* Everything before is finished and visible to everything after: compute, transfer, indirect arguments, host. */
void visd_gpu_barrier(struct visd_gpu *gpu, VkCommandBuffer commands);
/* Spread over x and y beyond max_groups: group = y * gl_NumWorkGroups.x + x; some may be past the end. */
void visd_gpu_dispatch(struct visd_gpu *gpu, VkCommandBuffer commands, const struct visd_gpu_pipeline *pipeline, const void *push,
                       uint32_t push_bytes, uint64_t groups);
void visd_gpu_dispatch_indirect(struct visd_gpu *gpu, VkCommandBuffer commands, const struct visd_gpu_pipeline *pipeline, const void *push,
                                uint32_t push_bytes, const struct visd_gpu_buffer *arguments, uint64_t offset);

/* ---- time (timing.c) ---- */

struct visd_gpu_stamps { VkQueryPool pool; uint32_t capacity, used; };
enum visd_err visd_gpu_stamps_create(struct visd_gpu *gpu, uint32_t capacity, struct visd_gpu_stamps *out);
void visd_gpu_stamps_destroy(struct visd_gpu *gpu, struct visd_gpu_stamps *stamps);
void visd_gpu_stamps_reset(struct visd_gpu *gpu, VkCommandBuffer commands, struct visd_gpu_stamps *stamps);
void visd_gpu_stamp(struct visd_gpu *gpu, VkCommandBuffer commands, struct visd_gpu_stamps *stamps); /* after all work before; beyond capacity: nothing */
/* Nanoseconds between stamp i and i+1 for all used; a pair that runs backwards or is not available counts as 0. false: no timestamps here. */
bool visd_gpu_stamps_read(struct visd_gpu *gpu, const struct visd_gpu_stamps *stamps, uint64_t *between_ns);

#endif
