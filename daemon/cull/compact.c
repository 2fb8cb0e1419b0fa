/* Compaction: the ids of what was seen, packed in slot order.
 *
 * The last test counted each group's share; the scan turns counts into places; each group writes its ids there. There is room for every object
 * of the scene, so the list is never cut. */
#include "passes.h"

void visd_compact_record(const struct cull_recording *r)
{
    visd_cull_dispatch(r, CULL_SCAN_LIST, 0, 1);
    visd_cull_barrier(r);
    visd_cull_dispatch_indirect(r, CULL_LIST, 0, offsetof(struct counters, candidate_groups));
}
