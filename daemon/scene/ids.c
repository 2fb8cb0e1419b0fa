/* The index from ids to slots: linear probing, removal by shifting back, so there are no tombstones. */
#include "ids.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define EMPTY UINT64_MAX
#define ENTRY_SLOT(e) ((uint32_t)(e))
#define ENTRY_HASH(e) ((uint32_t)((e) >> 32))

static uint32_t hash_of(const struct ids *t, uint64_t id)
{
    __uint128_t a = (__uint128_t)(id ^ t->secret[0]) * (t->secret[1] | 1);
    uint64_t h = (uint64_t)a ^ (uint64_t)(a >> 64);
    h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(h >> 32);
}

void ids_init(struct ids *t, uint64_t (*id_of)(const void *, uint32_t), const void *owner)
{
    memset(t, 0, sizeof(*t));
    t->id_of = id_of;
    t->owner = owner;
    if (getrandom(t->secret, sizeof(t->secret), GRND_NONBLOCK) != (ssize_t)sizeof(t->secret)) {
        t->secret[0] = (uint64_t)(uintptr_t)t * 0x9e3779b97f4a7c15u; /* no entropy yet: what the loader shuffled */
        t->secret[1] = (uint64_t)(uintptr_t)&t ^ 0x94d049bb133111ebu;
    }
}

void ids_finish(struct ids *t)
{
    free(t->entry);
    t->entry = NULL;
    t->room = t->count = 0;
}

/* The place of the id, or of the empty entry where it would go. */
static size_t place_of(const struct ids *t, uint64_t id)
{
    uint32_t hash = hash_of(t, id);
    size_t mask = t->room - 1, i = hash & mask;
    while (t->entry[i] != EMPTY) {
        if (ENTRY_HASH(t->entry[i]) == hash && t->id_of(t->owner, ENTRY_SLOT(t->entry[i])) == id)
            break;
        i = (i + 1) & mask;
    }
    return i;
}

uint32_t ids_find(const struct ids *t, uint64_t id)
{
    return t->room ? ENTRY_SLOT(t->entry[place_of(t, id)]) : UINT32_MAX;
}

static bool ids_grow(struct ids *t)
{
    size_t room = t->room ? t->room * 2 : 64;
    uint64_t *entry = malloc(room * sizeof(*entry));
    if (!entry)
        return false;
    memset(entry, 0xff, room * sizeof(*entry));
    for (size_t k = 0; k < t->room; k++) {
        if (t->entry[k] == EMPTY)
            continue;
        size_t i = ENTRY_HASH(t->entry[k]) & (room - 1);
        while (entry[i] != EMPTY)
            i = (i + 1) & (room - 1);
        entry[i] = t->entry[k];
    }
    free(t->entry);
    t->entry = entry;
    t->room = room;
    return true;
}

bool ids_insert(struct ids *t, uint64_t id, uint32_t slot)
{
    if ((t->count + 1) * 4 > t->room * 3 && !ids_grow(t))
        return false;
    size_t i = place_of(t, id);
    assert(t->entry[i] == EMPTY && slot != UINT32_MAX);
    t->entry[i] = (uint64_t)hash_of(t, id) << 32 | slot;
    t->count++;
    return true;
}

void ids_remove(struct ids *t, uint64_t id)
{
    size_t mask = t->room - 1, hole = place_of(t, id);
    assert(t->entry[hole] != EMPTY);
    t->count--;
    /* Whatever follows and would not be found past the hole moves into it. */
    for (size_t i = (hole + 1) & mask; t->entry[i] != EMPTY; i = (i + 1) & mask) {
        size_t home = ENTRY_HASH(t->entry[i]) & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            t->entry[hole] = t->entry[i];
            hole = i;
        }
    }
    t->entry[hole] = EMPTY;
}
