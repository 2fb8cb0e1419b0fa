/* The whole of a view, for the files of daemon/view.
 *
 * A request is one frame or picture that was asked for: allocated when it is submitted, it goes from list to list and
 * is freed when its answer has been given back, so nothing on its way can fail for want of memory.
 *
 * Invariants: at most one request waits, at most VISD_VIEW_IN_FLIGHT are in flight; a request in flight has a serial and
 * its block is the worker's; 'parked' only with a request waiting; the scene is held exactly while the worker has the
 * view open. */
#ifndef VISD_VIEW_STATE_H
#define VISD_VIEW_STATE_H

#include "view.h"

#define SPARES (VISD_VIEW_IN_FLIGHT + 1)
#define PICTURE_MAX_LEVEL 15 /* that may be asked for; how many a pyramid has depends on its size */

struct space {              /* a block for a list or picture */
    uint64_t block, bytes;  /* 0: none */
};

struct request {
    struct request *next;   /* among the answers */
    struct visd_camera camera;
    uint32_t method, want;
    bool fresh, wait, has_base, ids32;
    bool forgotten;         /* nobody wants the answer */
    bool known;             /* wait: the asker has a list of this camera with this count and digest */
    uint64_t known_count, known_digest;
    uint64_t base_frame;
    uint64_t revision;      /* that it must see */
    uint64_t serial;        /* in flight */
    uint64_t samples_at;    /* in its block, with VISD_WANT_SAMPLES */
    uint32_t what, level;   /* picture */
    uint64_t most;          /* bytes that it may have */
    uint64_t room;          /* bytes that its block will have, while it has none and is to get one */
    struct space space;
    uint64_t prepass, prepass_bytes; /* a block; 0: none */
    bool prepass_reversed, prepass_alone;
    void *delta;            /* heap: the lists of a delta */
    struct visd_answer answer;
};

struct kept {               /* a list that deltas may be based on */
    uint64_t frame, count;
    bool ids32, sorted;
    void *ids;
};

struct last {               /* what a camera that waits for change is compared with */
    bool valid;
    bool all;               /* it was answered with the whole scene */
    bool away;              /* all: as there is trouble, and only until that ends */
    uint32_t method;
    struct visd_camera camera;
    uint64_t revision, count, digest;
};

struct image {              /* bytes on the device */
    uint64_t depth, pyramid;
};

struct visd_view {
    struct visd_segment *segment;
    struct visd_scene *scene;       /* NULL: gone, and the worker has been told */
    uint32_t number, method;
    bool worker;                    /* there is one */
    bool open;                      /* VIEW_OPEN handed out to it, VIEW_CLOSE not */
    bool closing;                   /* by whoever opened it */
    bool gone;                      /* its scene is */
    uint64_t open_serial, close_serial; /* 0: not under way */
    char lost[160];                 /* !worker: why */
    char fault[160];                /* the worker could not open the view: why; else empty */
    struct request *waiting;
    bool parked;
    struct request *flight[VISD_VIEW_IN_FLIGHT];
    struct request *picture;        /* waiting, or in flight if it has a serial */
    uint32_t width, height;         /* of the last finished frame; 0: none */
    bool numbered;                  /* a frame has been submitted: the newest is this */
    uint64_t newest;
    bool newest_answered;           /* whoever sends it again has not heard the answer */
    struct visd_camera newest_camera;
    struct image image;             /* that the frames handed out left on the device */
    struct request *first, *tail;   /* answers to be collected */
    uint32_t handed_out;            /* answers collected and not given back */
    struct space spare[SPARES];
    struct kept *kept;              /* a ring of keep entries */
    uint32_t keep, kept_at;
    size_t kept_bytes;
    struct last last;
};

/* ---- answers.c ---- */

/* Puts the request among the answers, or drops it if it is forgotten. */
void answer_push(struct visd_view *v, struct request *r);
void answer_refuse(struct visd_view *v, struct request *r, enum visd_err err, const char *text);
void answer_all(struct visd_view *v, struct request *r, const char *why);
void answer_picture(struct visd_view *v, struct request *r, const struct visd_result *result);
/* Frees it with all that it holds; its block becomes a spare one. */
void request_drop(struct visd_view *v, struct request *r);
/* The worker's list becomes the answer; or the request is parked again, if nothing has changed for it. */
void answer_result(struct visd_view *v, struct request *r, const struct visd_result *result);
/* Why frames cannot go to the worker now, or NULL. */
const char *view_trouble(const struct visd_view *v);

bool space_take(struct visd_view *v, uint64_t bytes, struct space *out);
void space_give(struct visd_view *v, struct space *space);

/* ---- size.c ---- */

/* What the worker holds once it has drawn this camera. */
struct image image_after(const struct visd_view *v, const struct visd_camera *camera);
/* Bytes of a list of the scene as it is, with its room to grow. want: enum visd_frame_want. */
uint64_t list_bytes(const struct visd_view *v, uint32_t want);
uint64_t prepass_bytes(const struct visd_camera *camera);
/* Bytes of a picture of a frame of this size. */
uint64_t picture_bytes(const struct visd_view *v, uint32_t what, uint32_t level, uint32_t width, uint32_t height);

/* ---- history.c ---- */

void history_finish(struct visd_view *v);
/* Keeps a list, and makes the delta that the request asks for if its base is still there. */
void history_put(struct visd_view *v, struct request *r, const void *ids, uint64_t count);
size_t history_bytes(const struct visd_view *v);

#endif
