/* The link to the worker: jobs into the segment's ring, results out of it.
 *
 * The link knows nothing of scenes and views: a source hands it jobs and takes results. Only a few jobs are kept ahead of the
 * worker, so that one client's long upload does not stand in front of everyone else's frames. Loop thread only. */
#ifndef VISD_SERVER_WORKER_LINK_H
#define VISD_SERVER_WORKER_LINK_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/segment/segment.h"

struct visd_link_source {
    void *user;
    bool (*next)(void *user, uint64_t serial, struct visd_job *out); /* the next job; false: none now */
    void (*done)(void *user, const struct visd_result *result);
    void (*idle)(void *user); /* all results that were there have been handed over */
};

struct visd_link {
    struct visd_segment *segment;
    struct visd_link_source source;
    uv_poll_t poll;
    bool open, pumping, holding;
    struct visd_job held;       /* handed out, but the ring was full */
    uint64_t serial;            /* the last one given */
    uint64_t unanswered;        /* jobs put, without a result yet */
    uint64_t moved_ns;          /* when the worker last had something to do, or did something */
    uint64_t jobs, results;     /* counted for ever */
};

enum visd_err visd_link_init(struct visd_link *link, uv_loop_t *loop, struct visd_segment *segment, const struct visd_link_source *source);
void visd_link_pump(struct visd_link *link);  /* puts what can be put; no-op without a worker */
void visd_link_close(struct visd_link *link); /* the loop must run once more; a zeroed one is fine */

#endif
