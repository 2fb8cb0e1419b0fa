/* Keeps a worker at work: starts it, and when its device is lost takes it down and starts another.
 *
 *   at work -> lost -> ending (pool) -> starting (pool) -> at work
 *                         ^                |
 *                         +---- pause <----+   when deaths come too fast (deaths.h)
 *
 * Ending and starting take as long as a driver likes, so libuv's pool does both, and the loop answers meanwhile. A start that fails counts
 * as a death. Deaths that come too fast step down to the CPU device, for as long as the daemon runs; there they make a pause of a
 * minute. Loop thread only. */
#ifndef VISD_DAEMON_KEEPER_H
#define VISD_DAEMON_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/cull/worker.h"

struct visd_keeper;

struct visd_keeper_params {
    uv_loop_t *loop;
    struct visd_worker_params worker;                /* its strings must outlive the keeper */
    void (*ready)(void *user, const char *device);   /* another worker takes jobs; not called for the first */
    void (*away)(void *user, const char *why);       /* there is none for some time, and why */
    void *user;
};

/* Starts the first worker and waits for it; why has a sentence if it cannot be started. */
enum visd_err visd_keeper_create(struct visd_keeper **out, const struct visd_keeper_params *params, char *why, size_t why_size);
/* The worker's device is lost, and every job that it was given has been answered: it touches the segment no more. No jobs may be put
 * and no results taken until ready(). */
void visd_keeper_lost(struct visd_keeper *keeper);
/* A stop has begun: no other worker is started any more. */
void visd_keeper_stop(struct visd_keeper *keeper);
/* Ends the worker. Runs the loop until the pool is done and all handles are closed: whatever else is open in it must be closing. NULL is fine. */
void visd_keeper_destroy(struct visd_keeper *keeper);

const char *visd_keeper_device(const struct visd_keeper *keeper);     /* name for people; empty while there is none */
uint64_t visd_keeper_device_bytes(const struct visd_keeper *keeper);
uint64_t visd_keeper_validation_messages(const struct visd_keeper *keeper); /* of all workers */
bool visd_keeper_healthy(const struct visd_keeper *keeper, uint64_t limit_ms); /* false: the pool has been at it for longer */

#endif
