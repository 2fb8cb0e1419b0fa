/* A flight in two parts: seven tenths round the box, three through it; see tour.h. */
#include "tour.h"

#include <math.h>

#include "cameras.h"

static const double turn = 6.28318530717958647692;

static double ease(double t)
{
    return t * t * (3 - 2 * t);
}

void visd_camera_tour(struct visd_client_camera *out, size_t count, const double min[3], const double max[3], uint32_t width, uint32_t height)
{
    double centre[3], size[3], radius = 0;
    for (int k = 0; k < 3; k++) {
        centre[k] = (min[k] + max[k]) / 2;
        size[k] = (max[k] - min[k]) / 2;
        radius += size[k] * size[k];
    }
    radius = fmax(sqrt(radius), 1e-3);
    for (size_t i = 0; i < count; i++) {
        double t = (double)i / (double)count, eye[3], target[3];
        if (t < 0.7) { /* round it, rising and falling, ever nearer */
            double s = t / 0.7, angle = 1.5 * turn * s + 0.6, reach = radius * (2.3 - 1.15 * ease(s)), lift = 0.35 + 0.3 * sin(turn * s);
            eye[0] = centre[0] + reach * cos(lift) * sin(angle), eye[1] = centre[1] + reach * sin(lift), eye[2] = centre[2] + reach * cos(lift) * cos(angle);
            for (int k = 0; k < 3; k++) target[k] = centre[k];
        } else { /* through it along its longer side, looking ahead and about */
            double s = (t - 0.7) / 0.3, along = 1.2 - 2.4 * ease(s);
            int axis = size[0] > size[2] ? 0 : 2;
            for (int k = 0; k < 3; k++) eye[k] = centre[k];
            eye[axis] += size[axis] * along;
            eye[1] += 0.1 * size[1] * sin(turn * s);
            for (int k = 0; k < 3; k++) target[k] = eye[k];
            target[axis] -= radius * cos(0.9 * sin(turn * s));
            target[2 - axis] += radius * sin(0.9 * sin(turn * s));
        }
        visd_camera_look(&out[i], eye, target, 50, radius * 1e-3, width, height);
    }
}
