/* The straw peer of the frustum pass: a loop over all boxes on one thread of this machine, as the compiler vectorises it.
 *
 * Boxes are kept as six arrays of floats, rounded outwards. One thread. */
#ifndef VISD_VISCTL_BENCH_FRUSTUM_LOOP_H
#define VISD_VISCTL_BENCH_FRUSTUM_LOOP_H

#include <stdbool.h>
#include <visd/client.h>

struct visd_frustum_loop { /* zeroed: empty */
    size_t count, room;
    float *bounds[6]; /* min x, y, z, max x, y, z */
    uint8_t *inside;
    uint32_t *list;
};

/* world_box: min, max. False: out of memory. */
bool visd_frustum_loop_add(struct visd_frustum_loop *loop, const double world_box[6]);
/* Makes room for the answers, once all have been added. The same. */
bool visd_frustum_loop_ready(struct visd_frustum_loop *loop);
/* Lists the numbers of the boxes that are not wholly outside one of the planes of the camera, in loop->list; how many. */
size_t visd_frustum_loop_run(struct visd_frustum_loop *loop, const struct visd_client_camera *camera);
void visd_frustum_loop_finish(struct visd_frustum_loop *loop);

#endif
