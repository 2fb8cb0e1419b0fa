/* Pictures of what the daemon saw: depth, its pyramid, ids, and boxes, coloured for people, and written as PNG.
 *
 * Depth is canonical: reversed, 1 at the near plane, 0 where nothing is. A picture owns its pixels: three bytes each, row
 * 0 on top. Pure functions; any thread. */
#ifndef VISD_VISCTL_PICTURE_PICTURE_H
#define VISD_VISCTL_PICTURE_PICTURE_H

#include <visd/client.h>

#include "../model/why.h"

struct visd_picture {
    uint32_t width, height;
    uint8_t *rgb;
};

enum visd_err visd_picture_init(struct visd_picture *picture, uint32_t width, uint32_t height, struct visd_why *why); /* background */
void visd_picture_finish(struct visd_picture *picture); /* takes zeroed ones */
enum visd_err visd_picture_write_png(const struct visd_picture *picture, const char *path, struct visd_why *why);

/* How far away what is seen lies, along the view: for one scale of colours over several images. far 0: nothing is seen. */
struct visd_picture_range {
    double near, far;
};
struct visd_picture_range visd_picture_depth_range(const struct visd_client_camera *camera, const float *depth, size_t count);

/* Depth in colours from near (warm) to far (cold), lit as if it were clay. depth has the picture's size and belongs to the camera. */
void visd_picture_depth(struct visd_picture *picture, const struct visd_client_camera *camera, const float *depth);
/* The same colours, unlit, for one level of the pyramid, at a place in the picture; what does not fit is left out. */
void visd_picture_level(struct visd_picture *picture, const struct visd_client_camera *camera, struct visd_picture_range range,
                        const float *depth, uint32_t width, uint32_t height, uint32_t x, uint32_t y);
/* A colour for each id, lit by depth where that is not NULL. ids: all ones is nothing. */
void visd_picture_ids(struct visd_picture *picture, const struct visd_client_camera *camera, const uint64_t *ids, const float *depth);
/* The edges of a box, given by its eight corners in the scene (bit 0 x, bit 1 y, bit 2 z); dimmer where they lie behind
 * depth. */
void visd_picture_box(struct visd_picture *picture, const struct visd_client_camera *camera, const double corners[8][3], const float *depth,
                      const uint8_t colour[3]);
/* The colour by which visd_picture_ids shows an id. */
void visd_picture_id_colour(uint64_t id, uint8_t out[3]);

#endif
