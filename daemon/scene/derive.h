/* From what clients said of an object to the record that the device tests. Internal to daemon/scene. */
#ifndef VISD_SCENE_DERIVE_H
#define VISD_SCENE_DERIVE_H

#include "store.h"

struct derived {
    struct visd_object_change change;
    double min[3], max[3]; /* world box of the oriented box; zero where unbounded */
    bool unbounded;
    bool counts;           /* towards the scene's bounds: bounded and not hidden */
};

/* False: the world transform takes the object, or its axes, past VISD_SCENE_UNBOUNDED; out is then of no use. A slot
 * without a live object gives a change that says so. */
bool derive(const struct visd_scene *scene, uint32_t slot, struct derived *out);

#endif
