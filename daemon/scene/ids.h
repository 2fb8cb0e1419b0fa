/* The index from ids to slots: open addressing, 8 bytes an entry (32 bits of hash, 32 of slot), at most 3/4 full.
 * Internal to daemon/scene.
 *
 * Ids are whatever clients choose, every 64-bit value among them, so no id can mark an empty entry and the ids
 * themselves stay with their owners: a callback reads the id of a slot. The hash is keyed by a secret of each table,
 * so that no client can choose ids that collide. */
#ifndef VISD_SCENE_IDS_H
#define VISD_SCENE_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ids {
    uint64_t (*id_of)(const void *owner, uint32_t slot);
    const void *owner;
    uint64_t *entry;  /* hash << 32 | slot; slot all ones: empty */
    size_t room;      /* a power of two, or 0 */
    size_t count;
    uint64_t secret[2];
};

void ids_init(struct ids *t, uint64_t (*id_of)(const void *, uint32_t), const void *owner);
void ids_finish(struct ids *t);
uint32_t ids_find(const struct ids *t, uint64_t id); /* UINT32_MAX: not in */
/* The id must not be in. Fails only when memory is short, and never if the table has held that many entries before. */
bool ids_insert(struct ids *t, uint64_t id, uint32_t slot);
void ids_remove(struct ids *t, uint64_t id);         /* the id must be in */

#endif
