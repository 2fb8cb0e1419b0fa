/* Shared by recipes.c and pictures.c: how a frame's parameters and recordings are made. */
#ifndef VISD_CULL_RECORDING_H
#define VISD_CULL_RECORDING_H

#include "recipes.h"

#define COUNTERS_READ offsetof(struct counters, histogram) /* what is read back of the counters */

enum visd_err visd_recipes_fit(struct visd_recipes *r, uint32_t slot_capacity);
void visd_recipes_parameters(const struct visd_recipes *r, const struct visd_residence *scene, const struct visd_history *view,
                             const struct visd_camera *camera, struct frame *out);
struct cull_recording visd_recipes_recording(const struct visd_recipes *r, const struct visd_residence *scene, const struct visd_history *view,
                                             VkDeviceAddress frame, VkCommandBuffer commands);
void visd_recipes_clear(const struct visd_recipes *r, const struct visd_gpu_buffer *depth, VkCommandBuffer commands, bool with_counters);
/* Records all steps of a method. Times go to the flight: a stamp after each step or, with VISD_FRAME_PROFILE, each is submitted alone and
 * timed by the clock. NULL: no times. */
enum visd_err visd_recipes_record(struct visd_recipes *r, uint32_t method, struct cull_recording *recording, struct cull_flight *flight);

/* pictures.c: records, behind a frame, the count of all samples of all candidates. */
enum visd_err visd_recipes_coverage(struct visd_recipes *r, const struct visd_residence *scene, const struct visd_history *view,
                                    const struct visd_camera *camera, struct cull_recording *recording);

#endif
