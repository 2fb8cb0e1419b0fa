/* Prepass: what a client has already drawn for this very camera hides, too, or alone.
 *
 * Its depth image comes with the frame, is brought to the device like any upload, and is what the frame's depth begins with. The meshes, if they are
 * drawn at all, go on top of it. It has one sample a pixel, and so must the camera. */
#include "passes.h"

void visd_prepass_record(const struct cull_recording *r, bool reversed)
{
    visd_cull_dispatch(r, CULL_PREPASS, reversed, ((uint64_t)r->width * r->height + GROUP - 1) / GROUP);
}
