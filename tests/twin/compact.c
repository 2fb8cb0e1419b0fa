/* Compaction: the ids of what was seen, in slot order. */
#include "twin.h"

void twin_compact(struct twin *t)
{
    t->listed = 0;
    for (uint32_t i = 0; i < t->counters.candidates; i++) {
        uint32_t slot = t->candidates[i];
        if ((t->verdicts[slot] & (VERDICT_SEEN | VERDICT_UNLISTED)) != VERDICT_SEEN) continue;
        t->ids[t->listed++] = t->scene->info[slot].id_low | (uint64_t)t->scene->info[slot].id_high << 32;
    }
    t->counters.listed = (uint32_t)t->listed;
}
