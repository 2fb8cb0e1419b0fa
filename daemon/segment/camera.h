/* A camera in canonical form: what the loop makes of any client's camera, and the only form that the worker knows.
 *
 * Reversed Z in [0,1] (1 = near, 0 = far), y down in pixels, relative to an eye: with r = world - eye,
 *   clip = (m + m_lo) * (r, 1);  pixel x = (clip.x / clip.w * 0.5 + 0.5) * width, y likewise with height;
 *   depth = clip.z / clip.w;  in front of the near plane where clip.z <= clip.w and clip.w > 0. */
#ifndef VISD_SEGMENT_CAMERA_H
#define VISD_SEGMENT_CAMERA_H

#include <stdint.h>

#define VISD_CAMERA_MAX_PLANES 8
#define VISD_CAMERA_MAX_SIZE 16384 /* pixels a side */
#define VISD_CAMERA_MAX_SAMPLES (UINT64_C(1) << 28) /* of an image: 1 GiB of depth */

struct visd_camera {
    float m[4][4];      /* rows x, y, z, w; column 3 is the constant part */
    float eye_hi[3];    /* the point that positions are taken relative to, split as in record.h */
    float orientation;  /* +1 or -1: sign of det(m); pixel-space area * orientation * (mirrored ? -1 : 1) > 0: front */
    float eye_lo[3];
    float min_pixels;   /* 0: off */
    uint32_t width, height, samples; /* samples: 1, 2, 4 or 8 */
    uint32_t layers;
    uint32_t planes;    /* section planes in use */
    uint32_t caps;      /* 0 or 1: cuts are filled: a cut object is decided by its whole box, which holds its cap, and never by marks of its mesh */
    uint32_t zero[2];
    float plane[VISD_CAMERA_MAX_PLANES][4]; /* kept where a*r.x + b*r.y + c*r.z + d >= 0, r relative to the eye,
                                               (a,b,c) of length 1 */
    /* What rounding took from m and plane. Tests of boxes need not know, for it is within the bounds that they put on their own
     * arithmetic; what is drawn by the exact road would be off by it, and through a long lens that is more than a sub-pixel. */
    float m_lo[4][4];
    float plane_lo[VISD_CAMERA_MAX_PLANES][4];
};

_Static_assert(sizeof(struct visd_camera) == 448, "device layout");

#endif
