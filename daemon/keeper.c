/* Workers that come and go; see keeper.h. */
#include "daemon/keeper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/deaths.h"
#include "daemon/log.h"

#define PAUSE_MS 60000u

struct visd_keeper {
    struct visd_keeper_params params;
    struct visd_worker *worker;  /* NULL while there is none at work */
    struct visd_worker *other;   /* the pool's, while it is at it: on its way out, or in */
    uv_work_t work;
    uv_timer_t pause;
    uint64_t busy_ns;            /* since when the pool is at it; 0: it is not */
    struct visd_deaths deaths;
    enum visd_err err;           /* of the last start */
    char why[512];
    uint64_t validation_messages; /* of the workers that are gone */
    bool ending;
};

static void end_other(uv_work_t *work) /* the pool */
{
    struct visd_keeper *keeper = work->data;
    visd_worker_stop(keeper->other);
    keeper->other = NULL;
}

static void start_other(uv_work_t *work) /* the pool */
{
    struct visd_keeper *keeper = work->data;
    keeper->err = visd_worker_start(&keeper->other, &keeper->params.worker, keeper->why, sizeof(keeper->why));
}

static void to_pool(struct visd_keeper *keeper, uv_work_cb work, uv_after_work_cb after)
{
    keeper->busy_ns = uv_hrtime();
    uv_queue_work(keeper->params.loop, &keeper->work, work, after); /* fails without a callback only */
}

static void try_again(struct visd_keeper *keeper);

static void started(uv_work_t *work, int status)
{
    struct visd_keeper *keeper = work->data;
    (void)status;
    keeper->busy_ns = 0;
    keeper->worker = keeper->other;
    keeper->other = NULL;
    if (keeper->err != VISD_ERR_OK)
        visd_segment_reset(keeper->params.worker.segment); /* the STOP for it was read by nobody */
    if (keeper->ending)
        return;
    if (keeper->err != VISD_ERR_OK) {
        visd_log(VISD_LOG_ERR, "worker: --device %s: %s", keeper->params.worker.device, keeper->why);
        try_again(keeper);
        return;
    }
    visd_log(VISD_LOG_WARN, "worker: it is back on %s; scenes are being loaded again", visd_worker_device(keeper->worker));
    keeper->params.ready(keeper->params.user, visd_worker_device(keeper->worker));
}

static void start(struct visd_keeper *keeper)
{
    to_pool(keeper, start_other, started);
}

static void paused(uv_timer_t *timer)
{
    start(timer->data);
}

/* After a death: another worker, as often as is sensible. */
static void try_again(struct visd_keeper *keeper)
{
    static const char resting[] = "the device was lost again and again; it is left alone for a minute";
    if (!visd_deaths_add(&keeper->deaths, uv_hrtime())) {
        start(keeper);
    } else if (strcmp(keeper->params.worker.device, "cpu") != 0) {
        visd_log(VISD_LOG_ERR, "worker: it died three times in a short while; from now on the CPU device serves, until the daemon is started again");
        keeper->params.worker.device = "cpu";
        start(keeper);
    } else {
        visd_log(VISD_LOG_ERR, "worker: %s; look at the driver, and at the device with vulkaninfo", resting);
        uv_timer_start(&keeper->pause, paused, PAUSE_MS, 0);
        keeper->params.away(keeper->params.user, resting);
    }
}

static void ended(uv_work_t *work, int status)
{
    struct visd_keeper *keeper = work->data;
    (void)status;
    keeper->busy_ns = 0;
    visd_segment_reset(keeper->params.worker.segment); /* a STOP that it did not read is not the next one's */
    if (!keeper->ending)
        try_again(keeper);
}

void visd_keeper_lost(struct visd_keeper *keeper)
{
    if (!keeper->worker || keeper->ending)
        return;
    visd_log(VISD_LOG_WARN, "worker: %s was lost; answers are of grade all until it is back", visd_worker_device(keeper->worker));
    keeper->validation_messages += visd_worker_validation_messages(keeper->worker);
    keeper->other = keeper->worker;
    keeper->worker = NULL;
    to_pool(keeper, end_other, ended);
}

enum visd_err visd_keeper_create(struct visd_keeper **out, const struct visd_keeper_params *params, char *why, size_t why_size)
{
    struct visd_keeper *keeper = calloc(1, sizeof(*keeper));
    if (!keeper) {
        snprintf(why, why_size, "out of memory");
        return VISD_ERR_NO_MEMORY;
    }
    keeper->params = *params;
    keeper->work.data = keeper;
    enum visd_err err = visd_worker_start(&keeper->worker, &params->worker, why, why_size);
    if (err != VISD_ERR_OK) {
        free(keeper);
        return err;
    }
    uv_timer_init(params->loop, &keeper->pause);
    keeper->pause.data = keeper;
    *out = keeper;
    return VISD_ERR_OK;
}

void visd_keeper_stop(struct visd_keeper *keeper)
{
    keeper->ending = true;
    uv_timer_stop(&keeper->pause);
}

void visd_keeper_destroy(struct visd_keeper *keeper)
{
    if (!keeper)
        return;
    visd_keeper_stop(keeper);
    uv_close((uv_handle_t *)&keeper->pause, NULL);
    uv_run(keeper->params.loop, UV_RUN_DEFAULT);
    visd_worker_stop(keeper->worker);
    free(keeper);
}

const char *visd_keeper_device(const struct visd_keeper *keeper)
{
    return keeper->worker ? visd_worker_device(keeper->worker) : "";
}

uint64_t visd_keeper_device_bytes(const struct visd_keeper *keeper)
{
    return keeper->worker ? visd_worker_device_bytes(keeper->worker) : 0;
}

uint64_t visd_keeper_validation_messages(const struct visd_keeper *keeper)
{
    return keeper->validation_messages + (keeper->worker ? visd_worker_validation_messages(keeper->worker) : 0);
}

bool visd_keeper_healthy(const struct visd_keeper *keeper, uint64_t limit_ms)
{
    return !keeper->busy_ns || uv_hrtime() - keeper->busy_ns < limit_ms * 1000000u;
}
