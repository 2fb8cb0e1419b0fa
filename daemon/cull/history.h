/* History: what a view keeps on the device from frame to frame.
 *
 * One word a slot: the generation of the object that was seen there at the end of the last frame, else 0. A slot's next owner has another
 * generation, so that nothing learned about a deleted object is believed of its successor. Beside it the buffers that the view's frames
 * draw their depth and pyramid into, and the last camera, for pictures. History only ever chooses what is drawn first; no answer depends
 * on it. Thread: the worker's. */
#ifndef VISD_CULL_HISTORY_H
#define VISD_CULL_HISTORY_H

#include <stdbool.h>

#include "daemon/segment/camera.h"
#include "passes.h"

struct visd_history {
    bool open;
    struct visd_gpu_buffer seen; /* generations by slot */
    struct visd_gpu_buffer depth, pyramid;
    uint32_t width, height, samples; /* of depth and pyramid */
    uint32_t levels, level_offset[MAX_LEVELS];
    struct visd_camera camera; /* of the last frame */
    uint32_t method, variant;  /* of the same: VISD_FRAME_STEPWISE, _COARSE */
    bool framed; /* there was a last frame */
};

void visd_history_open(struct visd_history *h);
void visd_history_close(struct visd_history *h, struct visd_gpu *gpu); /* a zeroed one is fine */

/* Makes room for the scene's slots and the camera's size; a change of size drops depth and pyramid, not what was seen. */
enum visd_err visd_history_fit(struct visd_history *h, struct visd_gpu *gpu, uint32_t slot_capacity, const struct visd_camera *camera);

#endif
