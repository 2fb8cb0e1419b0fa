/* What the loop asks of the worker, and what comes back: plain data in two rings.
 *
 * Jobs are executed in the order in which they were put, except that the results of frames may come after those of
 * jobs put later; a result names its job's serial. Every job but STOP has exactly one result. A block named by a job belongs to
 * the worker until the job's result has come (a mesh's block: until MESH_REMOVE's or SCENE_CLOSE's result). */
#ifndef VISD_SEGMENT_JOB_H
#define VISD_SEGMENT_JOB_H

#include <stdint.h>

#include "camera.h"

enum visd_job_kind {
    VISD_JOB_PING = 1,
    VISD_JOB_SCENE_OPEN,   /* scene */
    VISD_JOB_SCENE_CLOSE,  /* scene; its meshes and objects go with it */
    VISD_JOB_MESH_ADD,     /* scene, u.mesh */
    VISD_JOB_MESH_REMOVE,  /* scene, u.mesh.slot */
    VISD_JOB_STAGE,        /* scene, u.stage: a slice of changes, kept aside */
    VISD_JOB_APPLY,        /* scene, u.apply: the staged slices are applied by one scatter, the revision is raised */
    VISD_JOB_VIEW_OPEN,    /* scene, view */
    VISD_JOB_VIEW_CLOSE,   /* view */
    VISD_JOB_FRAME,        /* scene, view, u.frame */
    VISD_JOB_SNAPSHOT,     /* scene, view, u.snapshot: a picture of the view's last camera, computed when its turn comes */
    VISD_JOB_STOP,         /* finish what is in flight, then end the worker; no result */
};

enum visd_method { /* also the wire's numbers */
    VISD_METHOD_FRUSTUM = 0,
    VISD_METHOD_HIZ = 1,
    VISD_METHOD_BOX = 2,
    VISD_METHOD_EXACT = 3,
    VISD_METHOD_QUERY = 4,
    VISD_METHOD_AUTO = 5,
};

enum visd_frame_flag {
    VISD_FRAME_FRESH = 1u << 0,    /* a cut: history is not used */
    VISD_FRAME_IDS32 = 1u << 1,    /* ids are written as u32 (all of the scene's fit), else as u64 */
    VISD_FRAME_PROFILE = 1u << 2,  /* each pass is submitted alone and timed by wall clock (lavapipe's timestamps are not times) */
    VISD_FRAME_COVERAGE = 1u << 3, /* also count the samples of all that is in the frustum: stats.samples_all */
    VISD_FRAME_STEPWISE = 1u << 4, /* the pyramid is made by a dispatch a level, as it always is on a software device */
    VISD_FRAME_AT_ONCE = 1u << 5,  /* the pyramid is made several levels a dispatch, on a software device, too */
    VISD_FRAME_COARSE = 1u << 6,   /* the test looks at 2 x 2 texels */
    VISD_FRAME_SAMPLES = 1u << 7,  /* of box and exact: a u32 for each id, at samples_at: how many samples of it are seen, or VISD_SAMPLES_UNKNOWN */
    VISD_FRAME_PREPASS = 1u << 8,  /* depths at u.frame.prepass, one a pixel, row 0 on top, 0 to 1, hide what is behind them */
    VISD_FRAME_PREPASS_REVERSED = 1u << 9, /* 1 is near; else 0 is */
    VISD_FRAME_PREPASS_ALONE = 1u << 10,   /* no meshes are drawn as occluders */
};

#define VISD_SAMPLES_UNKNOWN UINT32_MAX /* listed, and not marked: pinned, unbounded, touching the near plane without a mesh, over budget */

enum visd_snapshot_what {
    VISD_SNAPSHOT_DEPTH = 0,   /* f32 a pixel, reversed: 1 near, 0 nothing; the farthest of a pixel's samples */
    VISD_SNAPSHOT_PYRAMID = 1, /* the same, of one level */
    VISD_SNAPSHOT_IDS = 2,     /* u64 a pixel: the id of what is nearest at its first sample; all ones: nothing that occludes */
    VISD_SNAPSHOT_BOXES = 3,   /* struct visd_snapshot_box of every candidate, in slot order; width and height are the image's */
};

/* Where a candidate stands in the picture and what became of it. */
enum visd_box_state { VISD_BOX_LISTED = 1u << 0, VISD_BOX_FORCED = 1u << 1, VISD_BOX_DREW = 1u << 2 };
struct visd_snapshot_box {
    uint64_t id;
    uint16_t x0, y0, x1, y1; /* pixels, inclusive */
    float depth;             /* the nearest it can have, reversed */
    uint32_t state;          /* enum visd_box_state */
};

struct visd_job {
    uint32_t kind;   /* enum visd_job_kind */
    uint32_t scene;  /* the loop's scene number, at most VISD_SEGMENT_MAX_SCENES - 1 */
    uint32_t view;   /* the loop's view number, at most VISD_SEGMENT_MAX_VIEWS - 1 */
    uint32_t zero;
    uint64_t serial; /* rises by one a job */
    union {
        struct { uint32_t slot, zero; uint64_t block, bytes; } mesh; /* struct visd_mesh_block at block */
        struct { uint64_t block; uint32_t count, zero; } stage;      /* count struct visd_object_change at block */
        struct { uint64_t revision; uint32_t slots, zero; } apply;   /* slots: one past the highest slot in use */
        struct {
            struct visd_camera camera;
            uint64_t out;      /* block for the list: room for at least as many ids (4 bytes with VISD_FRAME_IDS32, else 8) as the last APPLY had slots */
            uint64_t capacity; /* bytes at out: all of them, headroom included */
            uint64_t samples_at; /* with VISD_FRAME_SAMPLES: where in the block, a multiple of 4 past room for the ids; there is room for as many */
            uint64_t prepass;  /* with VISD_FRAME_PREPASS: block of width * height floats */
            uint32_t method, flags;
        } frame;
        struct { uint32_t what, level; uint64_t out, capacity; } snapshot; /* what enum visd_snapshot_what says; row 0 on top */
    } u;
};

/* Times are CLOCK_MONOTONIC nanoseconds; 0: not known. */
enum visd_pass { VISD_PASS_FRUSTUM, VISD_PASS_SELECT, VISD_PASS_DEPTH, VISD_PASS_PYRAMID, VISD_PASS_TEST, VISD_PASS_MARK, VISD_PASS_COMPACT, VISD_PASS_COUNT };

struct visd_frame_stats {
    uint32_t tested;     /* live objects looked at */
    uint32_t in_frustum; /* in the view volume, kept by sections, layers, min_pixels and not hidden */
    uint32_t listed;     /* ids written */
    uint32_t occluded;   /* in_frustum, but hidden by the evidence */
    uint32_t forced;     /* needing no evidence: near plane (of frustum and hiz, and what has no mesh), unbounded, pinned */
    uint32_t drawn[2];   /* objects drawn as occluders in phase 1 and 2 */
    uint32_t over_budget; /* occluders, or survivors to be marked, left out by the budgets or by a full list: costs tightness only */
    uint32_t dropped_small; /* dropped by min_pixels */
    uint32_t hidden;     /* live but hidden (flag or layer) */
    uint64_t triangles[2]; /* drawn in phase 1 and 2 */
    uint64_t triangles_in_frustum, triangles_listed;
    uint64_t samples_all, pixels_covered; /* with VISD_FRAME_COVERAGE, both in samples: depth complexity = their ratio */
    uint64_t pass_ns[VISD_PASS_COUNT];    /* device time by pass; wall time with VISD_FRAME_PROFILE */
};

struct visd_result {
    uint64_t serial; /* of the job */
    uint32_t kind, view;
    uint32_t err;    /* enum visd_err */
    uint32_t source_lag; /* frames; 0: this one's own evidence */
    uint64_t revision;   /* frame: the scene's revision on the device that the answer was computed at */
    uint64_t count;      /* frame: ids at out; snapshot: bytes at out */
    uint32_t width, height; /* snapshot */
    uint64_t received_ns, started_ns, ended_ns; /* frame: taken from the ring, device start, device end */
    struct visd_frame_stats stats; /* frame */
    char text[160];      /* err != OK: what and why, for people; else empty */
};

#endif
