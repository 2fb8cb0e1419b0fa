/* What each window wants: its cameras in canonical form, its frames on their way to the worker, its answers.
 *
 * A frame is submitted with a cookie of the caller's and comes back exactly once as an answer with that cookie.
 *
 *   submit -> waiting (one a view) -> in flight (at most two) -> answer
 *
 * A camera that arrives while another waits takes its place; the older is answered SUPERSEDED at once. So is one whose number
 * is below the newest: it was overtaken on its way, as by a connection that broke. The newest number may come again with its own camera
 * (its answer was lost), and is answered again; never with another camera, because deltas name frames. A frame goes
 * to the worker only when the scene's revision at its submission is there. A camera that waits for change (wait) and
 * whose answer is known stays parked in the waiting place until a commit changes its answer. If that answer was lost, and its number comes
 * again, it is answered at once; if there was none yet, it is parked again.
 *
 * Answers are collected, not called back: after any call here that may have made some (submit, snapshot, next_job, job_done,
 * scene_changed, worker_lost, close, scene_gone), call next_answer until it says false, and give each back with answer_done
 * once it has been encoded.
 *
 * While the worker is away, the scene is loading again or is faulty, frames are answered at once with grade `all`.
 *
 * Ownership: answers point into the segment or the view and are good until answer_done. The scene must outlive the
 * view, or visd_view_scene_gone be called first. Threads: the loop only. */
#ifndef VISD_VIEW_VIEW_H
#define VISD_VIEW_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/scene/scene.h"

#define VISD_VIEW_IN_FLIGHT 2
#define VISD_VIEW_KEEP_DEFAULT 8          /* frames kept as bases for deltas */
#define VISD_VIEW_KEEP_MAX 64
#define VISD_VIEW_KEEP_BYTES (64u << 20)  /* and no more bytes than this for them; the oldest go first */

/* ---- cameras ---- */

enum visd_depth_form { VISD_DEPTH_ZERO_TO_ONE = 0, VISD_DEPTH_REVERSED = 1, VISD_DEPTH_NEG_ONE_TO_ONE = 2 }; /* also the wire's numbers */
enum visd_y_form { VISD_Y_UP = 0, VISD_Y_DOWN = 1 }; /* up: row 0 of the picture is NDC y = +1; also the wire's */

struct visd_camera_spec {
    double view[16], proj[16];  /* column-major: world to eye, eye to clip */
    uint32_t width, height;     /* pixels, 1 to VISD_CAMERA_MAX_SIZE */
    uint32_t depth;             /* enum visd_depth_form */
    uint32_t y;                 /* enum visd_y_form */
    uint32_t samples;           /* 1, 2, 4 or 8; 0: 1 */
    const void *clip_planes;    /* f64 x 4 each, need not be aligned: kept where ax + by + cz + d >= 0, world */
    uint32_t clip_plane_count;  /* at most VISD_CAMERA_MAX_PLANES */
    bool caps;                  /* cuts are filled */
    uint32_t layers;            /* mask; all ones: all */
    double min_pixels;          /* 0: off */
};

/* The canonical form (daemon/segment/camera.h), computed in double and rounded once, exactly so:
 *   R, t      the view matrix's linear part and translation; its last row must be 0 0 0 1; R may hold scale and may
 *             mirror, but not be singular
 *   eye       -R^-1 t, split hi = (float)eye, lo = (float)(eye - hi); positions are relative to hi + lo, and what the
 *             split loses (below 2^-47 of eye) is put back through the constant column
 *   P'        proj with its depth row z replaced: zero_to_one: w - z; reversed: z; neg_one_to_one: (w - z) / 2
 *             and, for y up, its y row negated
 *   m         P' * [R | R*(hi+lo) + t]; then scaled as a whole by the power of two that brings its largest entry to [1,2)
 *             (pixels and depths are ratios; the scale keeps extreme matrices inside float)
 *   orientation  sign(det m): pixel-space area (y down) * orientation * (mirrored ? -1 : 1) > 0 for a face whose
 *             vertices run counter-clockwise seen from the eye in the scene
 *   planes    (a,b,c) scaled to length 1, d + (a,b,c).(hi+lo), rounded once
 * Refuses with BAD_VALUE: NaN or infinite numbers, singular matrices, sizes of 0 or too large, sample counts other than the four,
 * more planes than there is room for, planes without a direction, min_pixels below 0. why gets one line. */
enum visd_err visd_camera_canonical(const struct visd_camera_spec *spec, struct visd_camera *out, char *why, size_t why_size);

/* ---- views ---- */

enum visd_grade { /* also the wire's numbers */
    VISD_GRADE_EXACT = 0,
    VISD_GRADE_CONSERVATIVE = 1,
    VISD_GRADE_GUARDED = 2,
    VISD_GRADE_LAGGED = 3,
    VISD_GRADE_FRUSTUM = 4,
    VISD_GRADE_ALL = 5,
};
const char *visd_method_name(enum visd_method method); /* "frustum"..., "unknown" */

struct visd_view;

struct visd_view_params {
    uint32_t number;            /* below VISD_SEGMENT_MAX_VIEWS; not that of a view which is not yet closed */
    uint32_t method;            /* enum visd_method; NOT_SUPPORTED: query and auto */
    uint32_t keep_frames;       /* bases kept for deltas, at most VISD_VIEW_KEEP_MAX; UINT32_MAX: the default; 0: no deltas */
    bool worker_ready;          /* false: as after worker_lost */
};

enum visd_err visd_view_open(struct visd_view **out, struct visd_segment *segment, struct visd_scene *scene, const struct visd_view_params *params,
    char *why, size_t why_size);
/* Closing: what waits or is parked is answered NOT_FOUND, what is in flight when its result comes; VIEW_CLOSE is queued.
 * When visd_view_closed and all answers have been collected and given back, destroy it. destroy at once is right only when no worker can
 * read the segment. NULL is fine. */
void visd_view_close(struct visd_view *view);
bool visd_view_closed(const struct visd_view *view);
void visd_view_destroy(struct visd_view *view);

/* Another method from the next submitted frame on. */
enum visd_err visd_view_set_method(struct visd_view *view, uint32_t method, char *why, size_t why_size);
uint32_t visd_view_method(const struct visd_view *view);
struct visd_scene *visd_view_scene(const struct visd_view *view); /* NULL once it is gone */
/* Memory it holds: host, segment, and what its frames make the worker hold on the device (history, depth, pyramid). */
size_t visd_view_bytes(const struct visd_view *view);
/* At most, once this camera is submitted, with a prepass or without. */
size_t visd_view_bytes_with(const struct visd_view *view, const struct visd_camera *camera, uint32_t want, bool prepass);
uint64_t visd_view_last_frame(const struct visd_view *view); /* the newest number submitted; 0: none */
uint32_t visd_view_frames_pending(const struct visd_view *view); /* waiting, parked and in flight */

/* ---- frames ---- */

enum visd_frame_want {
    VISD_WANT_PROFILE = 1u << 0,  /* VISD_FRAME_PROFILE */
    VISD_WANT_COVERAGE = 1u << 1, /* VISD_FRAME_COVERAGE */
    VISD_WANT_STEPWISE = 1u << 2, /* VISD_FRAME_STEPWISE */
    VISD_WANT_COARSE = 1u << 3,   /* VISD_FRAME_COARSE */
    VISD_WANT_SAMPLES = 1u << 4,  /* VISD_FRAME_SAMPLES; the list is never sent as a delta then */
};

struct visd_frame_spec {
    uint64_t frame;             /* the client's number; the same number and camera as a pending one's attach to it */
    const struct visd_camera *camera; /* canonical; copied */
    bool fresh;                 /* a cut: no history */
    bool wait;                  /* answer when the answer changes */
    bool has_base;              /* answer as a delta against this frame's list, if it is still kept */
    uint64_t base_frame;
    uint32_t want;              /* enum visd_frame_want */
    const void *prepass;        /* width * height floats, as VISD_FRAME_PREPASS says; copied; NULL: none */
    bool prepass_reversed, prepass_alone;
    uint64_t client_sent_ns;    /* echoed */
    uint64_t received_ns;       /* CLOCK_MONOTONIC, when the request came in */
};

/* The number is that of the newest frame, which had another camera: submit would refuse it. */
bool visd_view_renumbers(const struct visd_view *view, uint64_t frame, const struct visd_camera *camera);
/* OK: it will be answered, with this cookie. *attached is set if the frame attached to a pending one with the same
 * number and camera, whose former cookie is then *replaced and will not be answered. Neither may be NULL.
 * Refuses with CONFLICT (visd_view_renumbers), NOT_FOUND (view closed, scene gone) or NO_MEMORY; then there is no answer. */
enum visd_err visd_view_submit(struct visd_view *view, const struct visd_frame_spec *spec, void *cookie, bool *attached, void **replaced,
    char *why, size_t why_size);
/* Who asked has gone: what carries this cookie is dropped, wherever it is, and will not be among the answers. */
void visd_view_forget(struct visd_view *view, const void *cookie);

/* A picture of the last finished frame: one at a time (BUSY), after a frame (CONFLICT), of at most so many bytes (TOO_BIG; if larger frames
 * finish before its turn, as an answer). Comes as an answer with is_image. */
enum visd_err visd_view_snapshot(struct visd_view *view, uint32_t what, uint32_t level, uint64_t most, void *cookie, char *why, size_t why_size);
/* Bytes that a picture of the last finished frame may have; 0: there is none to show. */
uint64_t visd_view_picture_bytes(const struct visd_view *view, uint32_t what, uint32_t level);

/* ---- jobs and events ---- */

/* The next job to put, as visd_scene_next_job. Ask the scene first, then its views. */
bool visd_view_next_job(struct visd_view *view, uint64_t serial, struct visd_job *out);
bool visd_view_job_done(struct visd_view *view, const struct visd_result *result); /* false: not ours */
void visd_view_scene_changed(struct visd_view *view);  /* after a commit: looks at a parked camera again */
void visd_view_scene_gone(struct visd_view *view);     /* before the scene is closed: as close, but the view stays and refuses new frames */
void visd_view_worker_lost(struct visd_view *view, const char *why); /* frames in flight and waiting are answered `all`; so will new ones be */
void visd_view_worker_ready(struct visd_view *view);   /* a new worker; the scene's reload has been queued */

/* ---- answers ---- */

struct visd_answer {
    void *cookie;
    uint64_t frame;
    enum visd_err err;          /* SUPERSEDED, NOT_FOUND: nothing below but text holds */
    char text[160];             /* err: what and why */
    bool is_image;

    uint32_t method;            /* enum visd_method that was used */
    enum visd_grade grade;
    bool degraded;
    char why[160];              /* degraded: why */
    bool all;                   /* everything that is not hidden is to be taken as listed; no ids follow */
    bool delta;                 /* the lists below are against base_frame; else ids is the full list */
    uint64_t base_frame;
    bool ids32;                 /* the lists are u32 each, else u64 */
    const void *ids;            /* full: the listed ids in slot order */
    const void *added, *removed;/* delta: in rising order */
    uint64_t added_count, removed_count;
    uint64_t count;             /* ids listed (full or delta) */
    const uint32_t *samples;    /* with VISD_WANT_SAMPLES: for each of ids; else NULL */
    uint64_t digest;            /* visd_digest over all that is listed */
    uint64_t revision;
    uint64_t source_frame, source_revision;
    uint32_t lag;
    uint64_t client_sent_ns, received_ns, queued_ns, worker_ns, started_ns, ended_ns; /* CLOCK_MONOTONIC but the first; 0: not known */
    struct visd_frame_stats stats;

    uint32_t width, height;     /* image */
    const void *data;
    uint64_t bytes;

    uint64_t handle;            /* the view's own */
};

bool visd_view_next_answer(struct visd_view *view, struct visd_answer *out);
void visd_view_answer_done(struct visd_view *view, const struct visd_answer *answer);

/* Order-free digest of a list: the sum, wrapping, of splitmix64(id). */
uint64_t visd_digest_id(uint64_t id);
uint64_t visd_digest(const void *ids, uint64_t count, bool ids32);

/* Aborts with a report if an invariant is broken; for tests and assert. Always true. */
bool visd_view_check(const struct visd_view *view);

#endif
