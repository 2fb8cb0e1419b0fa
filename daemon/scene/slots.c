/* Dense slots: two levels of bits; see slots.h. */
#include "slots.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MAX (1u << 30)

static uint32_t roomy_words(uint32_t room)
{
    return (room / 64 + 63) / 64;
}

void slots_finish(struct slots *s)
{
    free(s->used);
    free(s->roomy);
    memset(s, 0, sizeof(*s));
}

static bool slots_grow(struct slots *s)
{
    uint32_t room = s->room ? s->room * 2 : 64;
    if (room > SLOTS_MAX)
        return false;
    uint64_t *used = realloc(s->used, room / 64 * sizeof(*used));
    if (!used)
        return false;
    s->used = used;
    uint64_t *roomy = realloc(s->roomy, roomy_words(room) * sizeof(*roomy));
    if (!roomy)
        return false; /* used is larger than told, which is no harm */
    s->roomy = roomy;
    memset(used + s->room / 64, 0, (room - s->room) / 64 * sizeof(*used));
    uint32_t words = roomy_words(s->room);
    memset(roomy + words, 0, (roomy_words(room) - words) * sizeof(*roomy));
    for (uint32_t w = s->room / 64; w < room / 64; w++)
        roomy[w / 64] |= (uint64_t)1 << (w % 64);
    s->first = s->room / 64 / 64;
    s->room = room;
    return true;
}

uint32_t slots_take(struct slots *s)
{
    uint32_t words = roomy_words(s->room), r = s->first;
    while (r < words && !s->roomy[r])
        r++;
    s->first = r;
    if (r == words) {
        if (!slots_grow(s))
            return UINT32_MAX;
        r = s->first;
    }
    uint32_t w = r * 64 + (uint32_t)__builtin_ctzll(s->roomy[r]);
    uint32_t bit = (uint32_t)__builtin_ctzll(~s->used[w]);
    s->used[w] |= (uint64_t)1 << bit;
    if (s->used[w] == UINT64_MAX)
        s->roomy[r] &= ~((uint64_t)1 << (w % 64));
    uint32_t slot = w * 64 + bit;
    s->count++;
    if (slot >= s->top)
        s->top = slot + 1;
    return slot;
}

void slots_give(struct slots *s, uint32_t slot)
{
    uint32_t w = slot / 64;
    assert(slots_has(s, slot));
    s->used[w] &= ~((uint64_t)1 << (slot % 64));
    s->roomy[w / 64] |= (uint64_t)1 << (w % 64);
    if (w / 64 < s->first)
        s->first = w / 64;
    s->count--;
    if (slot + 1 == s->top) {
        while (s->used[w] == 0 && w > 0)
            w--;
        s->top = s->used[w] ? w * 64 + 64 - (uint32_t)__builtin_clzll(s->used[w]) : 0;
    }
}

bool slots_has(const struct slots *s, uint32_t slot)
{
    return slot < s->room && (s->used[slot / 64] >> (slot % 64) & 1);
}

uint32_t slots_next(const struct slots *s, uint32_t slot)
{
    if (slot >= s->top)
        return UINT32_MAX;
    uint32_t w = slot / 64;
    uint64_t bits = s->used[w] & (UINT64_MAX << (slot % 64));
    while (!bits)
        bits = s->used[++w]; /* ends at the latest in the word of top - 1 */
    return w * 64 + (uint32_t)__builtin_ctzll(bits);
}

size_t slots_bytes(const struct slots *s)
{
    return s->room / 8 + roomy_words(s->room) * sizeof(uint64_t);
}
