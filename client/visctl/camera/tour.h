/* A flight round a scene and through it, for when nobody says where to look from. */
#ifndef VISD_VISCTL_CAMERA_TOUR_H
#define VISD_VISCTL_CAMERA_TOUR_H

#include <visd/client.h>

/* Fills count cameras: one and a half turns round the box, closing in, then through its middle and out. */
void visd_camera_tour(struct visd_client_camera *out, size_t count, const double min[3], const double max[3], uint32_t width, uint32_t height);

#endif
