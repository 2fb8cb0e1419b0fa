/* Hi-Z: candidates against the pyramid.
 *
 * Between the phases the rest is tested, so that phase 2 draws what may have come into view; after phase 2 all
 * are tested once more against the finished pyramid, for the answer. That last test records the view's history and counts the list. Methods that
 * mark what passed (box, exact) settle the answer afterwards, by the marks, in the same pass. The method frustum runs the same pass with the test switched off, so that history and list have one road. */
#include "passes.h"

void visd_hiz_record(const struct cull_recording *r, enum cull_test test)
{
    static const enum cull_pipeline pipelines[] = {
        [CULL_TEST_REST] = CULL_HIZ_REST, [CULL_TEST_LAST] = CULL_HIZ_LAST, [CULL_TEST_ALL] = CULL_HIZ_ALL,
        [CULL_TEST_SETTLE] = CULL_SETTLE, [CULL_TEST_PASS_ALL] = CULL_PASS_ALL};
    uint32_t coarse = test < CULL_TEST_SETTLE && r->variant & VISD_FRAME_COARSE ? 1 : 0;
    visd_cull_dispatch_indirect(r, pipelines[test] + coarse, 0, offsetof(struct counters, candidate_groups));
}
