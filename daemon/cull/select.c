/* Selection: which candidates are worth drawing, as occluders or for their marks, within the budgets, largest rectangles first.
 *
 * Weigh the eligible by bucket of rectangle area; find the bucket at which a budget ends, and take the nearest of it; mark what is taken and count
 * its work; emit the draws at the places that a scan gives them. A submission's raster work is bounded whatever the scene:
 * what does not fit is not drawn: it hides nothing, or is listed unmarked, which costs tightness only. */
#include "passes.h"

void visd_select_record(const struct cull_recording *r, uint32_t which, bool unlimited)
{
    uint64_t candidates = offsetof(struct counters, candidate_groups), weighing = offsetof(struct counters, weigh_groups);
    visd_cull_dispatch_indirect(r, CULL_WEIGH, which, weighing);
    visd_cull_barrier(r);
    visd_cull_dispatch(r, CULL_BUDGET, which | (unlimited ? SELECT_UNLIMITED : 0), 1);
    if (!unlimited) {
        visd_cull_barrier(r);
        visd_cull_dispatch_indirect(r, CULL_WEIGH, which | SELECT_CUT, weighing);
        visd_cull_barrier(r);
        visd_cull_dispatch(r, CULL_BUDGET, which | SELECT_CUT, 1);
    }
    visd_cull_barrier(r);
    visd_cull_dispatch_indirect(r, CULL_PICK, which, candidates);
    visd_cull_barrier(r);
    visd_cull_dispatch(r, CULL_SCAN_DRAWS, 0, 1);
    visd_cull_barrier(r);
    visd_cull_dispatch_indirect(r, CULL_EMIT, which, candidates);
}
