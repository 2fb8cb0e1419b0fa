/* Dense slots, given out lowest first. Internal to daemon/scene.
 *
 * A bit a slot says "in use", a bit a word of those says "has room". Lowest first keeps what the device looks at
 * short: after much is removed and little added, the slots in use sink back to the front. */
#ifndef VISD_SCENE_SLOTS_H
#define VISD_SCENE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slots {
    uint64_t *used;   /* room / 64 words */
    uint64_t *roomy;  /* a bit a word of used, rounded up to whole words; bits past the room are 0 */
    uint32_t room;    /* slots that the bits stand for; a multiple of 64 */
    uint32_t top;     /* one past the highest slot in use */
    uint32_t count;   /* in use */
    uint32_t first;   /* no word of roomy before this one has a bit */
};

void slots_finish(struct slots *s);
/* Takes the lowest free slot; UINT32_MAX when memory is short or 2^30 slots are in use. */
uint32_t slots_take(struct slots *s);
void slots_give(struct slots *s, uint32_t slot);
bool slots_has(const struct slots *s, uint32_t slot);
/* The first slot in use at or after this one, or UINT32_MAX. */
uint32_t slots_next(const struct slots *s, uint32_t slot);
size_t slots_bytes(const struct slots *s);

#endif
