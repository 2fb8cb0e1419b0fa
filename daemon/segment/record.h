/* Plain data that loop and worker (and its shaders) share: object records, mesh blocks, flags.
 *
 * An object takes 144 bytes on the device (bounds 80, info 28, fine 36) plus 4 a view for its history. Positions are split
 * into two floats, hi = (float)x and lo = (float)(x - hi), so that (hi - eye_hi) + (lo - eye_lo) is right to well
 * under a millimetre at 10^7 m. All numbers are little-endian and packed as written here; shaders/layout.h
 * holds the same layout. No pointers: blocks name each other by offsets into the segment. */
#ifndef VISD_SEGMENT_RECORD_H
#define VISD_SEGMENT_RECORD_H

#include <stdint.h>

/* Object flags, on the wire, in the scene and on the device. The low ten and the sides are the client's. */
enum visd_object_flag {
    VISD_OBJECT_HIDDEN = 1u << 0,         /* not listed, occludes nothing */
    VISD_OBJECT_SEE_THROUGH = 1u << 1,    /* listed, occludes nothing */
    VISD_OBJECT_XRAY = 1u << 2,           /* listed, occludes nothing */
    VISD_OBJECT_GHOSTED = 1u << 3,        /* listed, occludes nothing */
    VISD_OBJECT_HELPER = 1u << 4,         /* listed, occludes nothing */
    VISD_OBJECT_OCCLUDER_ONLY = 1u << 5,  /* occludes, is never listed */
    VISD_OBJECT_PINNED = 1u << 6,         /* always listed, with its true state */
    VISD_OBJECT_UNBOUNDED = 1u << 7,      /* always listed, never tested */
    VISD_OBJECT_SECTION_EXEMPT = 1u << 8, /* section planes do not touch it */
    VISD_OBJECT_SINGLE_SIDED = 1u << 9,   /* neither sides bit: unknown; both: refused */
    VISD_OBJECT_DOUBLE_SIDED = 1u << 10,
    VISD_OBJECT_WIRE_MASK = (1u << 11) - 1,
    VISD_OBJECT_FLATTENED = 1u << 13,     /* that determinant is 0 but for rounding: which face is front cannot be told (set by the scene) */
    VISD_OBJECT_MIRRORED = 1u << 14,      /* the world transform's determinant is negative (set by the scene) */
    VISD_OBJECT_LIVE = 1u << 15,          /* the slot holds an object (set by the scene) */
};

#define VISD_OBJECT_MARGIN_SHIFT 16u /* flags' upper half: pixel margin in 1/16 pixel, rounded up, at most 65535 */
#define VISD_MESH_NONE UINT32_MAX

/* What every test reads, 80 bytes. The oriented box is centre + linear * diag(half) * [-1,1]^3; its half extents
 * have been rounded outwards. linear also carries mesh vertices: world = centre + (linear + linear_lo) * (vertex - local). */
struct visd_object_bounds {
    float centre_hi[3]; /* world position of the box's centre, high part */
    uint32_t flags;     /* enum visd_object_flag, margin in the upper half */
    float centre_lo[3];
    uint32_t layers;    /* layer mask */
    struct {
        float linear[3]; /* a row of the world transform's linear part */
        float half;      /* half extent of the local box on this axis */
    } row[3];
};

/* What selection, drawing and listing read, 28 bytes. */
struct visd_object_info {
    float local[3];  /* the local box's centre, subtracted from mesh vertices */
    uint32_t mesh;   /* mesh slot, or VISD_MESH_NONE */
    uint32_t id[2];  /* the client's id, low word first */
    uint32_t generation; /* of the slot: raised each time it is given to another object; never 0 */
};

/* What the exact road alone reads, 36 bytes: apart, so that the passes over all objects do not stride over it. */
struct visd_object_fine {
    float linear_lo[3][3]; /* what rounding took from bounds' linear: far out on a large mesh it is more than a sub-pixel */
};

/* One change of one slot, 160 bytes: the unit that staged uploads carry and a commit's scatter applies. A dead
 * slot is a change whose flags lack VISD_OBJECT_LIVE. */
struct visd_object_change {
    struct visd_object_bounds bounds;
    struct visd_object_info info;
    struct visd_object_fine fine;
    uint32_t slot;
    uint32_t zero[3];
};

/* Sides of a mesh part. */
enum visd_sides { VISD_SIDES_UNKNOWN = 0, VISD_SIDES_SINGLE = 1, VISD_SIDES_DOUBLE = 2 };

struct visd_mesh_part {
    uint32_t first; /* index, a multiple of 3 */
    uint32_t count; /* indices, a multiple of 3 */
    uint32_t sides; /* enum visd_sides; unknown: the object's sides hold */
    uint32_t see_through; /* 0 or 1 */
};

/* A mesh block in the segment: this header, then float positions[3 * vertices], then uint32_t indices[indices],
 * then struct visd_mesh_part[parts]. Written once, never changed; freed when the worker has let go of it. */
struct visd_mesh_block {
    uint32_t vertices, indices, parts;
    float deviation; /* scene units by which the mesh may stray from what the client draws */
    float min[3], max[3]; /* of the referenced and unreferenced vertices alike */
};

_Static_assert(sizeof(struct visd_object_bounds) == 80, "device layout");
_Static_assert(sizeof(struct visd_object_info) == 28, "device layout");
_Static_assert(sizeof(struct visd_object_fine) == 36, "device layout");
_Static_assert(sizeof(struct visd_object_change) == 160, "device layout");

#endif
