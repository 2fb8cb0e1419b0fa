/* Twins of the passes, on the CPU: what each shader in shaders/ should have done, in plain C that can be read and stepped through.
 *
 * A twin reads the very structures that its shader reads (shaders/layout.h); the addresses in struct frame are host pointers here. It
 * computes in float, in the shader's order, but a device may round some operations otherwise, so no decision is taken for certain that a few
 * units in the last place could turn: such decisions are "open", and results that depend on rounding are kept as a pair, the least and the
 * most that a right device may have found. Where nothing is open the pair is one value and the device must agree exactly.
 *
 *   scatter -> frustum -> select -> depth -> pyramid -> hiz -> compact      each a file here; frame.c puts them in order
 *
 * Counts of a triangle's samples and levels of the pyramid are integers and minima: those are never open by themselves. */
#ifndef VISD_TESTS_TWIN_H
#define VISD_TESTS_TWIN_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/segment/job.h"
#include "daemon/segment/record.h"
#include "shaders/layout.h"

#define TWIN_LEVELS MAX_LEVELS

/* A scene as the device holds it. */
struct twin_scene {
    struct object_bounds *bounds;
    struct object_info *info;
    struct object_fine *fine;
    struct mesh *meshes; /* addresses: host pointers, owned */
    uint32_t slots, slot_capacity, mesh_count;
};

/* The pyramid of one depth buffer: level[k] has size[k] texels. */
struct twin_pyramid { float *level[TWIN_LEVELS]; uint32_t width[TWIN_LEVELS], height[TWIN_LEVELS], levels; };

/* Large triangles, tiles and units of 64 samples that a drawing asks for: the least and the most. What its lists cannot hold is left out, and
 * which triangles those are depends on the order in which a device comes by them: then every large one is drawn maybe. */
struct twin_larges { bool counting, left_out; uint64_t triangles[2], tiles[2], units[2]; };

/* How far the raster's arithmetic may be from the twin's, and what it found. */
struct twin_depth { float *least, *most; }; /* a value a sample; equal but for rounding where coverage is certain */

struct twin {
    const struct twin_scene *scene;
    struct frame frame;       /* filled by twin_begin */
    uint32_t footprint;       /* texels a side that the test looks at */
    const float *prepass;     /* what a client drew, a depth a pixel, for the frames from now on; NULL: nothing */
    bool strict;              /* the twin's own roundings are taken for the device's: no vertex is loose */
    struct counters counters;
    uint32_t *history;        /* a view's: generations by slot; kept from frame to frame */
    uint32_t history_slots;
    uint32_t *verdicts, *candidates;
    struct proxy *proxies;    /* as the twin computed them */
    struct proxy *inner, *outer; /* the smallest and the largest that a device may have found; depth: the least and the most */
    struct draw *draws;       /* of the newest selection; clip[i]: by the exact road */
    bool *clip;
    uint32_t draw_count;
    bool marking;              /* the newest selection is drawn for its marks */
    bool *marked_surely, *marked_maybe; /* by slot */
    struct twin_larges larges; /* of the newest drawing */
    struct twin_depth depth;
    struct twin_pyramid low, high; /* of depth.least and depth.most */
    uint64_t samples_least, samples_most; /* covered, of all triangles drawn since twin_begin */
    uint32_t open_objects, open_tests;    /* decisions that a device may take either way */
    uint64_t *ids;
    uint64_t listed;
};

/* scene.c */
void twin_scene_init(struct twin_scene *scene);
void twin_scene_finish(struct twin_scene *scene);
/* The mesh in a block of the segment, at the next mesh slot. */
uint32_t twin_scene_mesh(struct twin_scene *scene, const struct visd_mesh_block *block);
/* scatter.c */
void twin_scatter(struct twin_scene *scene, const struct visd_object_change *changes, uint32_t count, uint32_t slots);

/* frame.c: a twin is zeroed before its first twin_begin and after twin_finish. Budgets 0: a software device's own. */
void twin_begin(struct twin *t, const struct twin_scene *scene, const struct visd_camera *camera, uint32_t flags, uint64_t budget_triangles,
                uint64_t budget_samples);
void twin_clear(struct twin *t); /* no depth; needed before twin_depth */
void twin_finish(struct twin *t);
/* A whole frame: passes in the order of the method's recipe; history goes on from the frame before. */
void twin_frame(struct twin *t, const struct twin_scene *scene, const struct visd_camera *camera, uint32_t method, uint32_t flags,
                uint64_t budget_triangles, uint64_t budget_samples);
struct visd_frame_stats twin_stats(const struct twin *t);
/* All samples of all candidates, as VISD_FRAME_COVERAGE counts them: the least and the most; after a frame. */
void twin_coverage(struct twin *t, uint64_t samples[2], uint64_t covered[2]);

/* frustum.c, select.c */
void twin_frustum(struct twin *t);
void twin_select(struct twin *t, uint32_t which, bool unlimited);
/* What a vertex of a draw comes to in clip space, in float as the fast road and emit compute it. */
void twin_project(const struct draw *d, const float vertex[3], float clip[4]);

/* depth.c: draws the newest selection into t->depth. roads.c: a triangle's way to the raster; raster.c: the one rule. */
void twin_depth(struct twin *t);
void twin_draw_all(struct twin *t); /* every triangle of the selection goes its road */
void twin_road_fast(struct twin *t, const struct draw *d, uint32_t triangle);
void twin_road_clip(struct twin *t, const struct draw *d, uint32_t triangle);
struct twin_vertex { int32_t x, y; float depth; bool loose; }; /* loose: a device may have snapped it to a neighbouring place */
void twin_raster(struct twin *t, const struct twin_vertex v[3], bool two_sided, float facing);
/* marks.c: what a triangle drawn wide and near marks; wide: in 1/SUBPIXEL pixel, what a device may have found. twin_marks draws the selection so. */
void twin_mark(struct twin *t, const struct twin_vertex v[3], bool two_sided, float facing, uint32_t slot, const int32_t wide[2]);
void twin_marks(struct twin *t);
bool twin_too_many(const struct twin *t, int most); /* of what lists of large triangles hold: the least, or the most */
struct twin_span { int32_t from, to; };
struct twin_span twin_span(int32_t low, int32_t high, uint32_t size, bool multisampled);
int64_t twin_cross(const struct twin_vertex *a, const struct twin_vertex *b, int64_t x, int64_t y);

/* pyramid.c: straight from the pixels, by the integer rule. */
void twin_pyramid_make(struct twin_pyramid *p, const float *depth, uint32_t width, uint32_t height, uint32_t samples);
void twin_pyramid_free(struct twin_pyramid *p);
/* hiz.c: TWIN_TEST_… */
enum twin_test { TWIN_TEST_REST, TWIN_TEST_LAST, TWIN_TEST_ALL, TWIN_TEST_SETTLE, TWIN_PASS_ALL };
void twin_hiz(struct twin *t, enum twin_test test);
bool twin_hidden(const struct twin_pyramid *p, const struct proxy *place, uint32_t footprint);
/* compact.c */
void twin_compact(struct twin *t);

#endif
