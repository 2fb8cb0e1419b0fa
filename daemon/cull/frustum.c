/* Frustum: every slot of the scene is looked at once, and only here.
 *
 * The pass writes a verdict for each slot and a rectangle for each candidate; a scan of the groups' counts tells where each
 * group's candidates go; a second look at the verdicts packs them, in slot order. All later passes run over candidates alone,
 * by indirect dispatch, so that what is out of sight costs nothing more. */
#include "passes.h"

void visd_frustum_record(const struct cull_recording *r)
{
    uint64_t groups = ((uint64_t)r->slots + GROUP - 1) / GROUP;
    visd_cull_dispatch(r, CULL_FRUSTUM, 0, groups);
    visd_cull_barrier(r);
    visd_cull_dispatch(r, CULL_SCAN_CANDIDATES, (uint32_t)groups, 1);
    visd_cull_barrier(r);
    visd_cull_dispatch(r, CULL_CANDIDATES, 0, groups);
}
