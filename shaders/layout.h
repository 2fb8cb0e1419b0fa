/* Data that host and shaders share, written once for both: C reads it as C, GLSL as GLSL (scalar block layout, so that
 * nothing is padded). The records of scenes and cameras are declared for C in daemon/segment; daemon/cull/layout_check.c holds the two together.
 *
 * Addresses are 64-bit buffer addresses; a shader casts them to a buffer reference of layout.glsl. */
#ifndef VISD_SHADERS_LAYOUT_H
#define VISD_SHADERS_LAYOUT_H

#ifndef VISD_GLSL
#include <stdint.h>
typedef uint32_t uint;
typedef uint32_t uvec3[3];
typedef uint32_t uvec4[4];
typedef int32_t ivec2[2];
typedef float vec3[3];
typedef float vec4[4];
typedef uint64_t address;
#define TYPE(name) struct name
#else
#define TYPE(name) name
#define address uint64_t
#endif

#define GROUP 256u       /* objects, or candidates, a work group of every pass but the depth passes */
#define BUCKETS 256u     /* of rectangle area, eight an octave, in the choice of occluders */
#define WEIGH_GROUPS 128u /* work groups, at most, that share the weighing of candidates */
#define MAX_LEVELS 16u
#define FOOTPRINT 8u     /* the pyramid test looks at up to FOOTPRINT x FOOTPRINT texels */
#define PYRAMID_STEP 6u  /* levels that one dispatch makes */
#define SUBPIXEL_BITS 8
#define SUBPIXEL (1 << SUBPIXEL_BITS) /* vertices are snapped to 1/SUBPIXEL pixel */
#define GUARD_PIXELS 8192.0 /* around the image: triangles that reach further are clipped */
#define TILE_SHIFT 6        /* large triangles are drawn by tiles of 1 << TILE_SHIFT pixels a side: an edge function that crosses one fits 32 bits */
#define SMALL_PIXELS 64  /* a triangle whose rectangle has more pixels goes to the large list */
#define SMALL_SIDE 32    /* and so does one that is this many pixels wide or high: edge functions of small ones fit 32 bits */

/* Object flags, as daemon/segment/record.h. */
#define OBJECT_HIDDEN 0x1u
#define OBJECT_SEE_THROUGH 0x2u
#define OBJECT_XRAY 0x4u
#define OBJECT_GHOSTED 0x8u
#define OBJECT_HELPER 0x10u
#define OBJECT_OCCLUDER_ONLY 0x20u
#define OBJECT_PINNED 0x40u
#define OBJECT_UNBOUNDED 0x80u
#define OBJECT_SECTION_EXEMPT 0x100u
#define OBJECT_SINGLE_SIDED 0x200u
#define OBJECT_DOUBLE_SIDED 0x400u
#define OBJECT_FLATTENED 0x2000u
#define OBJECT_MIRRORED 0x4000u
#define OBJECT_LIVE 0x8000u
#define OBJECT_NO_OCCLUDER (OBJECT_HIDDEN | OBJECT_SEE_THROUGH | OBJECT_XRAY | OBJECT_GHOSTED | OBJECT_HELPER)
#define MESH_NONE 0xffffffffu

/* A triangle's first index carries its sides. */
#define INDEX_DOUBLE 0x80000000u  /* both faces occlude */
#define INDEX_UNKNOWN 0x40000000u /* as the object's sides say */
#define INDEX_MASK 0x3fffffffu

/* Verdict: what a frame has found out about a slot so far. */
#define VERDICT_CANDIDATE 0x1u /* in the frustum, kept by sections, layers and size; or forced */
#define VERDICT_FORCED 0x2u    /* listed whatever the evidence: near plane, unbounded, pinned */
#define VERDICT_UNLISTED 0x4u  /* occludes, is never listed */
#define VERDICT_OCCLUDES 0x8u  /* may be drawn as an occluder */
#define VERDICT_CLIP 0x10u     /* as an occluder it needs the exact path: clipping, or more precision than float has */
#define VERDICT_HISTORY 0x20u  /* seen at the end of the view's last frame */
#define VERDICT_PICKED 0x40u   /* chosen to be drawn in this phase */
#define VERDICT_DRAWN 0x80u    /* drawn as an occluder in this frame */
#define VERDICT_SEEN 0x100u    /* passed the newest test */
#define VERDICT_NEAR 0x200u    /* forced for its place at the near plane alone: its mesh may still decide */
#define VERDICT_CUT 0x400u     /* a section plane goes through its box */

/* Which candidates a selection draws. */
#define SELECT_HISTORY 0u /* phase 1: seen at the end of the last frame */
#define SELECT_PASSED 1u  /* phase 2: passed the test, not yet drawn */
#define SELECT_SEEN 2u    /* a picture of what was listed */
#define SELECT_ALL 3u     /* everything: depth complexity */
#define SELECT_MARKS 4u   /* what passed the pyramid, to be marked sample by sample; a budget of its own */
#define SELECT_WHICH 0xffu
#define SELECT_UNLIMITED 0x100u /* with these: no budget, for pictures and counts */
#define SELECT_CUT 0x200u       /* with these: within the bucket at which a budget ends, by how near they are */
#define SELECT_BOXES 0x400u     /* with SELECT_MARKS: boxes are marked, not meshes */
#define SELECT_NO_CLIP 0x800u   /* with SELECT_MARKS: there is no exact road, and who needs it is listed unmarked */

/* Which test of the candidates it is. */
#define TEST_REST 0u   /* of the rest, between the phases: what has been drawn counts as seen */
#define TEST_LAST 1u   /* of all, for the answer */
#define TEST_ALL 2u    /* of all, before marks */
#define TEST_SETTLE 3u /* for the answer: of those that marks decide about, who has one */

/* What the rasteriser does with a covered sample. */
#define RASTER_DEPTH 0u /* keeps the nearest depth */
#define RASTER_COUNT 1u /* the same, and counts samples */
#define RASTER_IDS 2u   /* where the sample is the one that depth kept: writes slot + 1 */
#define RASTER_MARK 3u  /* where the triangle may be as near as depth: marks its object */
#define RASTER_MODES 4u

/* Marks err towards seen: a triangle is drawn wider by so much all round, and as near as it may be there. It covers what snapping does to both
 * sides (half a unit each), the fast road's float (one), and two units by which a client's own samples may lie elsewhere. */
#define MARK_WIDE 4
#define MARK_WIDE_MOST 4096 /* of a margin and a deviation, too; beyond it an object is marked unseen */
#define SAMPLES_UNKNOWN 0xffffffffu /* of what is listed and was not marked: pinned, unbounded, over budget */
#define MARK_BIT 0x80000000u /* of a proxy's samples: seen, by no sample that is surely its own */
#define BOX_TRIANGLES 12u
#define DRAW_BOX 0x1000u     /* of a draw's flags: the mesh is the unit cube, and stands for the box */

struct object_bounds {
    vec3 centre_hi;
    uint flags;
    vec3 centre_lo;
    uint layers;
    vec4 row[3]; /* xyz: a row of the linear part; w: the half extent on this axis */
};

struct object_info {
    vec3 local;
    uint mesh;
    uint id_low, id_high;
    uint generation;
};

struct object_fine {
    vec3 linear_lo[3];
};

struct change {
    TYPE(object_bounds) bounds;
    TYPE(object_info) info;
    TYPE(object_fine) fine;
    uint slot;
    uint zero[3];
};

struct mesh {
    address vertices; /* vec3 */
    address indices;  /* uint, three a triangle, the first with its sides */
    uint triangles;     /* that can occlude */
    float deviation;
    uint all_triangles; /* after them the others: see-through ones, and those of no part */
    uint mark_triangles; /* all, or 0: there are loose vertices, and only the box stands for all that may be drawn */
};

struct view_camera {
    vec4 m[4];
    vec3 eye_hi;
    float orientation;
    vec3 eye_lo;
    float min_pixels;
    uint width, height, samples, layers;
    uint planes, caps;
    uint zero[2];
    vec4 plane[8];
    vec4 m_lo[4], plane_lo[8]; /* what rounding took from m and plane */
};

/* Where a candidate stands on the screen: its whole-pixel rectangle, widened, and the nearest depth that it can have. */
struct proxy {
    uint low;  /* x0 | y0 << 16 */
    uint high; /* x1 | y1 << 16, inclusive */
    float depth;
    uint samples; /* where it has been marked: how many, and MARK_BIT */
};

/* An occluder to draw: its mesh, and the matrix that takes (vertex - local) to clip space. */
struct draw {
    vec4 row[4];
    vec3 local;
    uint slot;
    address vertices, indices;
    uint triangles;
    uint flags;      /* the object's */
    float error_z, error_w; /* bounds of what float arithmetic and the mesh's deviation may do to clip z and w */
    float wide;  /* of marks: 1/SUBPIXEL pixel all round */
    vec3 stray;  /* of marks: what the deviation may do to clip x, y and w */
};

/* A snapped triangle, counter-clockwise as seen, waiting to be drawn tile by tile. */
struct large {
    ivec2 p[3]; /* 1/SUBPIXEL pixel */
    vec3 depth;
    uint slot;
    int wide; /* of marks: 1/SUBPIXEL pixel all round; else 0 */
};

struct tile {
    uint triangle;
    uint place; /* tile x | y << 16 */
};

/* Zeroed at the start of a frame; all but the histogram is read back at its end. 64-bit sums are pairs of words, low first. */
struct counters {
    uvec3 candidate_groups; /* indirect arguments */
    uvec3 weigh_groups;
    uvec3 fast_groups;
    uvec3 clip_groups;
    uvec3 tile_groups;
    uint candidates, listed;
    uint fast_draws, fast_chunks, clip_draws, clip_chunks; /* of the newest selection */
    uint larges, tiles, tile_units; /* asked for; more than the capacities: the rest was left out */
    uint cut, classes; /* of the newest selection: buckets above cut are drawn, and of cut so many classes, the nearest first */
    uint cut_near, cut_far; /* the depths, as bits, between which the cut bucket's classes lie */
    float used_triangles, used_samples; /* of the budgets, by the selections so far */
    float left_triangles, left_samples; /* of the newest selection's share, for the cut bucket */
    uint tested, in_frustum, hidden, small_objects, forced, occluded, over_budget;
    uint drawn[2];
    uint triangles_drawn[4]; /* phase 1, phase 2 */
    uint triangles_in_frustum[2];
    uint triangles_listed[2];
    uint samples_all[2];
    uint pixels_covered; /* samples that hold any depth */
    uint histogram[4u * BUCKETS]; /* a bucket: triangles low, high, samples low, high */
    uint reach[2u * BUCKETS];     /* a bucket: the nearest depth in it as bits, and of the farthest's bits the complement */
};

struct frame {
    TYPE(view_camera) camera;
    address bounds, info, fine, meshes, history;
    address verdicts, proxies, candidates, blocks;
    address fast_draws, fast_starts, clip_draws, clip_starts;
    address larges, tiles;
    address depth;   /* width * height * samples floats */
    address pyramid; /* its levels, level 0 first; level 0 is depth itself when there is one sample a pixel */
    address ids;     /* the list */
    address samples; /* of each in the list, where they are counted; else 0 */
    address prepass; /* a depth a pixel, as the client drew it */
    address picture; /* slot + 1 a sample, for RASTER_IDS */
    address cube_vertices, cube_indices; /* of BOX_TRIANGLES, -1 to 1 */
    address counters;
    float budget_triangles, budget_samples;
    uint slots;
    uint ids32; /* 1: write u32 */
    uint fresh; /* 1: history is not used */
    uint count_samples; /* 1: marks are counted to the last, for samples; else a mark is enough */
    uint draw_limit; /* triangles that one draw may have: of a larger mesh only so many are drawn */
    uint draw_capacity, chunk_limit, large_capacity, tile_capacity, tile_unit_limit;
    ivec2 sample_offset[8]; /* where a pixel's samples are, 1/SUBPIXEL pixel from its corner */
    uint levels; /* of the pyramid, level 0 included */
    uint level_offset[MAX_LEVELS]; /* in floats from pyramid */
};

#endif
