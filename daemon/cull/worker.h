/* The worker: decides visibility. It takes jobs from the segment, keeps the scenes' copies and the views' histories on the
 * device, and puts results. The loop and the worker share nothing but the segment.
 *
 * Threads: start and stop are the loop's; between them one thread of the worker's own runs, and everything in daemon/cull and
 * daemon/gpu is touched by that thread alone. Vulkan is loaded there and nowhere else. */
#ifndef VISD_CULL_WORKER_H
#define VISD_CULL_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/segment/segment.h"

struct visd_worker;

enum visd_worker_note { VISD_WORKER_NOTE_DEVICE, VISD_WORKER_NOTE_VALIDATION };

struct visd_worker_params {
    struct visd_segment *segment;  /* attached to, not owned; must outlive the worker */
    const char *device;            /* "auto", "cpu" or a number */
    uint64_t budget_triangles;     /* a submission may draw as occluders; 0: 2 million on a CPU device, 64 million on a GPU */
    uint64_t budget_samples;       /* rectangle samples of the same; 0: 64 million, 4,096 million */
    bool validate;                 /* validation layers, synchronization validation included */
    /* Device trouble, validation messages; called on the worker's thread; may be NULL. */
    void (*note)(void *context, enum visd_worker_note kind, const char *text);
    void *context;
};

/* Opens the device and starts; returns when the worker is ready to take jobs, or why (one line for people) it is not. */
enum visd_err visd_worker_start(struct visd_worker **out, const struct visd_worker_params *params, char *why, size_t why_size);
/* Puts STOP by itself, waits for what is in flight to end, and frees everything. NULL is fine. */
void visd_worker_stop(struct visd_worker *worker);

const char *visd_worker_device(const struct visd_worker *worker);   /* name for people */
uint64_t visd_worker_validation_messages(const struct visd_worker *worker); /* so far; any thread */
uint64_t visd_worker_device_bytes(const struct visd_worker *worker); /* device memory held; any thread */

#endif
