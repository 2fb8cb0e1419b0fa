/* visd: start, readiness, signals, stop.
 *
 * Order of the start: signals are blocked before any library makes a thread, so that all threads inherit the mask and
 * only the loop reads signals; the worker comes up before the doors open, so that "ready" means that answers come. Order of the
 * stop: doors, what is in flight, connections, worker; each bounded, and at the end the process leaves by _exit: a
 * library that hangs in its teardown must not hold up a restart. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/config.h"
#include "daemon/keeper.h"
#include "daemon/log.h"
#include "daemon/segment/segment.h"
#include "daemon/server/server.h"
#include "proto/limits.h"
#include "visd_version.h"

#define STOP_LIMIT_MS 1500u     /* for what is in flight */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define END_LIMIT_MS 7000u      /* for all of the stop, the worker's end with it: leaks are reported at a full end only */
#else
#define END_LIMIT_MS 1900u      /* the same; by then all is answered, and nothing is lost by leaving without the worker */
#endif
#define WORKER_LEAST_MS 300u    /* of that, what the worker has at least */
#define HEALTHY_LIMIT_MS 60000u /* a worker with jobs that has not moved for so long hangs */

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct visd {
    uv_loop_t loop;
    uv_poll_t signals;
    uv_timer_t watchdog;
    int signal_fd;
    bool has_watchdog, unhealthy;
    uint64_t stop_ns; /* when the end began; 0: it has not */
    int code;         /* to leave with */
    struct visd_config config;
    struct visd_segment *segment;
    struct visd_keeper *keeper;
    struct visd_server *server;
};

/* ---- signals ---- */

static bool block_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGHUP);
    signal(SIGPIPE, SIG_IGN);
    return pthread_sigmask(SIG_BLOCK, set, NULL) == 0;
}

static void begin_stop(struct visd *visd, uint64_t limit_ms)
{
    sd_notify(0, "STOPPING=1");
    if (!visd->stop_ns)
        visd->stop_ns = uv_hrtime();
    visd_keeper_stop(visd->keeper);
    visd_server_stop(visd->server, limit_ms);
}

static void on_signal(uv_poll_t *poll, int status, int events)
{
    struct visd *visd = poll->data;
    struct signalfd_siginfo info;
    (void)status;
    (void)events;
    while (read(visd->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGHUP) {
            visd_log(VISD_LOG_INFO, "visd: SIGHUP: there is nothing to read again; restart for another configuration");
            continue;
        }
        visd_log(VISD_LOG_INFO, "visd: %s: stopping", info.ssi_signo == SIGINT ? "SIGINT" : "SIGTERM");
        begin_stop(visd, STOP_LIMIT_MS);
    }
}

/* ---- watchdog ---- */

static void feed_watchdog(uv_timer_t *timer)
{
    struct visd *visd = timer->data;
    bool healthy = visd_server_healthy(visd->server, HEALTHY_LIMIT_MS) && visd_keeper_healthy(visd->keeper, HEALTHY_LIMIT_MS);
    if (healthy)
        sd_notify(0, "WATCHDOG=1");
    else if (!visd->unhealthy)
        visd_log(VISD_LOG_ERR, "visd: the worker has not moved for %u s; the watchdog is no longer fed", HEALTHY_LIMIT_MS / 1000);
    visd->unhealthy = !healthy;
}

static void start_watchdog(struct visd *visd)
{
    uint64_t us = 0;
    visd->has_watchdog = sd_watchdog_enabled(0, &us) > 0;
    if (!visd->has_watchdog)
        return;
    uv_timer_init(&visd->loop, &visd->watchdog);
    visd->watchdog.data = visd;
    uv_timer_start(&visd->watchdog, feed_watchdog, 0, us / 3000 + 1);
}

/* ---- start ---- */

/* Each connection is a descriptor; the default of 1024 is less than the door lets in. */
static void raise_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    rlim_t wanted = limit.rlim_max == RLIM_INFINITY || limit.rlim_max > 65536 ? 65536 : limit.rlim_max;
    if (limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        visd_log(VISD_LOG_WARN, "visd: cannot raise the limit of open files to %llu: %s", (unsigned long long)wanted, strerror(errno));
}

/* Three quarters of the descriptors at most, so that one is always left to serve those who are in. */
static unsigned connection_cap(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return 0;
    unsigned cap = (unsigned)(limit.rlim_cur / 4 * 3);
    return cap < VISD_MAX_CLIENTS ? cap : 0; /* 0: what the limits say */
}

static bool watch_signals(struct visd *visd, const sigset_t *set)
{
    visd->signal_fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (visd->signal_fd < 0 || uv_poll_init(&visd->loop, &visd->signals, visd->signal_fd) != 0) {
        visd_log(VISD_LOG_ERR, "visd: cannot watch for signals: %s", strerror(errno));
        return false;
    }
    visd->signals.data = visd;
    return uv_poll_start(&visd->signals, UV_READABLE, on_signal) == 0;
}

static void on_note(void *context, enum visd_worker_note kind, const char *text) /* the worker's thread */
{
    (void)context;
    visd_log(VISD_LOG_WARN, "worker: %s: %s", kind == VISD_WORKER_NOTE_VALIDATION ? "validation" : "device", text);
}

static const char *urls(const struct visd *visd, char *out, size_t size)
{
    size_t used = 0;
    *out = 0;
    for (unsigned i = 0; i < visd->config.listens && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", visd->config.listen[i]);
    return out;
}

static void say_status(const struct visd *visd, const char *device)
{
    char on[512];
    sd_notifyf(0, "STATUS=Serving on %s with %s", urls(visd, on, sizeof(on)), device);
}

static void on_ready(void *user, const char *device)
{
    struct visd *visd = user;
    visd_server_worker_ready(visd->server, device);
    say_status(visd, device);
}

static void on_away(void *user, const char *why)
{
    struct visd *visd = user;
    visd_server_worker_away(visd->server, why);
    sd_notifyf(0, "STATUS=Answering with grade all: %s", why);
}

static void on_lost(void *user)
{
    struct visd *visd = user;
    visd_keeper_lost(visd->keeper);
}

static bool start_worker(struct visd *visd)
{
    char why[512] = "";
    struct visd_keeper_params params = {
        .loop = &visd->loop,
        .worker = {
            .segment = visd->segment,
            .device = visd->config.device,
            .budget_triangles = visd->config.triangles,
            .budget_samples = visd->config.samples,
            .validate = visd->config.validate,
            .note = on_note,
        },
        .ready = on_ready,
        .away = on_away,
        .user = visd,
    };
    if (visd_keeper_create(&visd->keeper, &params, why, sizeof(why)) == VISD_ERR_OK)
        return true;
    visd_log(VISD_LOG_ERR, "visd: --device %s: %s", visd->config.device, why);
    return false;
}

static void worker_stats(void *user, struct visd_server_worker_stats *out)
{
    struct visd *visd = user;
    out->device_bytes = visd_keeper_device_bytes(visd->keeper);
    out->validation_messages = visd_keeper_validation_messages(visd->keeper);
}

static void on_stopped(void *user)
{
    struct visd *visd = user;
    uv_close((uv_handle_t *)&visd->signals, NULL);
    if (visd->has_watchdog)
        uv_close((uv_handle_t *)&visd->watchdog, NULL);
    uv_stop(&visd->loop); /* even if the keeper waits for a driver: it is given the rest of the time, and no more */
}

static bool start_server(struct visd *visd)
{
    struct visd_server_params params = {
        .loop = &visd->loop,
        .segment = visd->segment,
        .worker = true,
        .device = visd_keeper_device(visd->keeper),
        .worker_kind = "thread",
        .version = VISD_VERSION,
        .socket_mode = visd->config.socket_mode,
        .tls_cert_key = visd->config.tls_cert_key,
        .tls_ca = visd->config.tls_ca,
        .worker_stats = worker_stats,
        .worker_lost = on_lost,
        .stopped = on_stopped,
        .user = visd,
        .connections = connection_cap(),
    };
    if (visd_server_create(&visd->server, &params) == VISD_ERR_OK)
        return true;
    visd_log(VISD_LOG_ERR, "visd: cannot start: out of memory or descriptors");
    return false;
}

static void say_ready(const struct visd *visd)
{
    char on[512];
    const char *device = visd_keeper_device(visd->keeper);
    visd_log(VISD_LOG_INFO, "visd %s: ready on %s; device: %s", VISD_VERSION, urls(visd, on, sizeof(on)), device);
    say_status(visd, device);
    sd_notify(0, "READY=1");
}

/* On all URLs, or it comes to its end: the sockets that were opened by then are taken away again. */
static void listen_or_end(struct visd *visd)
{
    char why[512] = "";
    for (unsigned i = 0; i < visd->config.listens; i++)
        if (visd_server_listen(visd->server, visd->config.listen[i], why, sizeof(why)) != VISD_ERR_OK) {
            visd_log(VISD_LOG_ERR, "visd: %s", why);
            visd->code = EXIT_FAILED;
            begin_stop(visd, 0);
            return;
        }
    start_watchdog(visd);
    say_ready(visd);
}

/* ---- stop ---- */

static void *end_anyway(void *arg)
{
    const struct visd *visd = arg;
    uint64_t gone = (uv_hrtime() - visd->stop_ns) / 1000000u;
    uint64_t left = gone + WORKER_LEAST_MS < END_LIMIT_MS ? END_LIMIT_MS - gone : WORKER_LEAST_MS;
    struct timespec limit = {.tv_sec = (time_t)(left / 1000), .tv_nsec = (long)(left % 1000 * 1000000)};
    nanosleep(&limit, NULL);
    visd_log(VISD_LOG_WARN, "visd: the worker did not end in %u ms; leaving without it", (unsigned)left);
    _exit(visd->code);
}

/* The worker may hang in a driver. A thread of last resort ends the process then. */
static void arm_last_resort(struct visd *visd)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, end_anyway, visd) == 0)
        pthread_detach(thread);
}

__attribute__((noreturn)) static void leave(int code)
{
#if defined(__SANITIZE_ADDRESS__)
    exit(code); /* so that leaks are reported */
#else
    fflush(NULL);
    _exit(code);
#endif
}

static int run(struct visd *visd, const sigset_t *set)
{
    if (visd_segment_create(&visd->segment, 0) != VISD_ERR_OK) {
        visd_log(VISD_LOG_ERR, "visd: cannot make the shared segment: out of memory or address space");
        return EXIT_FAILED;
    }
    if (!start_worker(visd) || !watch_signals(visd, set) || !start_server(visd))
        return EXIT_FAILED; /* what was taken goes with the process */
    listen_or_end(visd);
    uv_run(&visd->loop, UV_RUN_DEFAULT);

    arm_last_resort(visd);
    visd_keeper_destroy(visd->keeper);
    visd_server_destroy(visd->server);
    visd_segment_destroy(visd->segment);
    close(visd->signal_fd);
    uv_loop_close(&visd->loop);
    visd_log(VISD_LOG_INFO, "visd: ended");
    return visd->code;
}

int main(int argc, char **argv)
{
    static struct visd visd;
    char why[1024];
    sigset_t set;
    bool blocked = block_signals(&set);
    switch (visd_config_init(&visd.config, argc, argv, why, sizeof(why))) {
    case VISD_CONFIG_HELP:
        visd_config_help(stdout);
        return EXIT_OK;
    case VISD_CONFIG_VERSION:
        printf("visd %s\n", VISD_VERSION);
        return EXIT_OK;
    case VISD_CONFIG_USAGE:
        fprintf(stderr, "visd: %s; 'visd --help' lists the flags\n", why);
        return EXIT_USAGE;
    case VISD_CONFIG_RUN:
        break;
    }
    visd_log_init(visd.config.log_level);
    if (visd_config_check(&visd.config, why, sizeof(why)) != VISD_ERR_OK) {
        visd_log(VISD_LOG_ERR, "visd: %s", why);
        return EXIT_USAGE;
    }
    if (!blocked || uv_loop_init(&visd.loop) != 0) {
        visd_log(VISD_LOG_ERR, "visd: cannot start: %s", strerror(errno));
        return EXIT_FAILED;
    }
    raise_files();
    int code = run(&visd, &set);
    visd_config_finish(&visd.config);
    leave(code);
}
