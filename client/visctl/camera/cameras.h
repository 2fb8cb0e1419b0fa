/* Cameras as JSON lines: one object a line, as the commands read and write them.
 *
 *   {"view": [16 numbers, column-major], "proj": [16], "width": 640, "height": 360, "depth": "reversed", "y": "up",
 *    "samples": 4, "clip_planes": [[0,1,0,-2]], "caps": true, "layers": 7, "min_pixels": 2}
 *
 * depth, y, samples, clip_planes, caps, layers and min_pixels may be left out. What a line says is checked for type and
 * shape here; whether a camera makes sense is the daemon's to say. Pure functions over files; any thread. */
#ifndef VISD_VISCTL_CAMERA_CAMERAS_H
#define VISD_VISCTL_CAMERA_CAMERAS_H

#include <stdio.h>
#include <visd/client.h>

#include "../model/why.h"

#define VISD_CAMERAS_MAX 10000000u

/* Reads all lines; "-" is standard input. *out is an array for free(). Empty lines are skipped; a file without a camera, an unknown
 * key and every other fault is refused, with the line's number. */
enum visd_err visd_cameras_read(const char *path, struct visd_client_camera **out, size_t *count, struct visd_why *why);
/* One line. where is for the text: "FILE line 3". */
enum visd_err visd_camera_parse(struct visd_client_camera *out, const char *line, size_t length, const char *where, struct visd_why *why);
/* Writes one line, numbers with all their digits. IO when the file takes no more. */
enum visd_err visd_camera_write(FILE *file, const struct visd_client_camera *camera, struct visd_why *why);

/* A perspective camera at eye that looks at target with y up, reversed depth without a far plane, its vertical field
 * of view in degrees. eye and target must not be above one another. */
void visd_camera_look(struct visd_client_camera *out, const double eye[3], const double target[3], double degrees, double near,
                      uint32_t width, uint32_t height);

#endif
