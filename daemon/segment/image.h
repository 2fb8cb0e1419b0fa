/* What a view's picture takes on the device: depth, and the levels of the pyramid above it. The worker allocates by these rules, and the
 * loop lets the view's owner pay by them, so that neither can hold more than the other reckons. Any thread. */
#ifndef VISD_SEGMENT_IMAGE_H
#define VISD_SEGMENT_IMAGE_H

#include <stdint.h>

#define VISD_IMAGE_LAST_SIDE 8u /* the pyramid ends with the first level that has at most so many texels a side */

static inline uint32_t visd_image_side(uint32_t pixels, uint32_t level)
{
    return (pixels + (1u << level) - 1) >> level;
}

/* Levels of the pyramid, level 0 included. */
static inline uint32_t visd_image_levels(uint32_t width, uint32_t height)
{
    uint32_t level = 0;
    while (visd_image_side(width, level) > VISD_IMAGE_LAST_SIDE || visd_image_side(height, level) > VISD_IMAGE_LAST_SIDE)
        level++;
    return level + 1;
}

/* Texels that the pyramid holds for a level: none for level 0 where a pixel has one sample, for that is the depth itself. */
static inline uint64_t visd_image_level_texels(uint32_t width, uint32_t height, uint32_t samples, uint32_t level)
{
    return level > 0 || samples > 1 ? (uint64_t)visd_image_side(width, level) * visd_image_side(height, level) : 0;
}

/* Bytes of a buffer of 'held' bytes (0: none) once it has been made fit for 'need'. It is shrunk only when much too large, so that a window
 * being dragged does not allocate every frame. */
static inline uint64_t visd_image_fit(uint64_t held, uint64_t need)
{
    uint64_t least = need < 256 ? 256 : need;
    return held >= least && held <= least * 4 ? held : least;
}

#endif
