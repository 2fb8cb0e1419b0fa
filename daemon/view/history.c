/* Lists that clients have, and what changed since.
 *
 * A delta is set arithmetic on ids, not on slots: base and answer may be of different revisions, and slots are reused.
 * Both lists are sorted once (a radix sort, skipped where a list rises already, as ids given out in slot order do) and
 * merged. Where the changes would be longer than the list itself, the list is sent. */
#include <stdlib.h>
#include <string.h>

#include "state.h"

#define DIGIT 11

uint64_t visd_digest_id(uint64_t id)
{
    uint64_t z = id + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t id_at(const void *ids, uint64_t i, bool ids32)
{
    return ids32 ? ((const uint32_t *)ids)[i] : ((const uint64_t *)ids)[i];
}

uint64_t visd_digest(const void *ids, uint64_t count, bool ids32)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += visd_digest_id(id_at(ids, i, ids32));
    return sum;
}

static void drop(struct visd_view *v, struct kept *k)
{
    v->kept_bytes -= k->ids ? k->count * (k->ids32 ? 4 : 8) : 0;
    free(k->ids);
    memset(k, 0, sizeof(*k));
}

void history_finish(struct visd_view *v)
{
    for (uint32_t i = 0; i < v->keep && v->kept; i++)
        drop(v, &v->kept[i]);
    free(v->kept);
    v->kept = NULL;
}

size_t history_bytes(const struct visd_view *v)
{
    return v->kept_bytes + v->keep * sizeof(*v->kept);
}

/* ---- sorting ---- */

static bool rises(const void *ids, uint64_t count, bool ids32)
{
    for (uint64_t i = 1; i < count; i++)
        if (id_at(ids, i, ids32) < id_at(ids, i - 1, ids32))
            return false;
    return true;
}

/* One pass by the digit at shift; false if all have the same there and nothing was moved. */
static bool pass(const void *from, void *to, uint64_t count, bool ids32, unsigned shift)
{
    uint64_t place[1u << DIGIT] = { 0 }, sum = 0;
    const uint64_t mask = (1u << DIGIT) - 1;
    for (uint64_t i = 0; i < count; i++)
        place[id_at(from, i, ids32) >> shift & mask]++;
    if (place[id_at(from, 0, ids32) >> shift & mask] == count)
        return false;
    for (unsigned d = 0; d <= mask; d++) {
        uint64_t n = place[d];
        place[d] = sum;
        sum += n;
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t id = id_at(from, i, ids32), at = place[id >> shift & mask]++;
        if (ids32)
            ((uint32_t *)to)[at] = (uint32_t)id;
        else
            ((uint64_t *)to)[at] = id;
    }
    return true;
}

/* Sorts in place; false: memory is short. */
static bool sort(struct kept *k)
{
    if (k->sorted || rises(k->ids, k->count, k->ids32)) {
        k->sorted = true;
        return true;
    }
    void *other = malloc(k->count * (k->ids32 ? 4 : 8));
    if (!other)
        return false;
    for (unsigned shift = 0; shift < (k->ids32 ? 32 : 64); shift += DIGIT) {
        if (!pass(k->ids, other, k->count, k->ids32, shift))
            continue;
        void *t = k->ids;
        k->ids = other;
        other = t;
    }
    free(other);
    k->sorted = true;
    return true;
}

/* ---- deltas ---- */

/* Walks both lists; where added and removed are given they are filled in the width of 'now'. */
static void compare(const struct kept *base, const struct kept *now, void *added, void *removed, uint64_t *added_count, uint64_t *removed_count)
{
    uint64_t a = 0, r = 0, i = 0, j = 0;
    while (i < base->count || j < now->count) {
        uint64_t b = i < base->count ? id_at(base->ids, i, base->ids32) : 0, n = j < now->count ? id_at(now->ids, j, now->ids32) : 0;
        if (i < base->count && j < now->count && b == n) {
            i++;
            j++;
        } else if (j == now->count || (i < base->count && b < n)) {
            if (removed && now->ids32)
                ((uint32_t *)removed)[r] = (uint32_t)b;
            else if (removed)
                ((uint64_t *)removed)[r] = b;
            r++;
            i++;
        } else {
            if (added && now->ids32)
                ((uint32_t *)added)[a] = (uint32_t)n;
            else if (added)
                ((uint64_t *)added)[a] = n;
            a++;
            j++;
        }
    }
    *added_count = a;
    *removed_count = r;
}

static struct kept *find(struct visd_view *v, uint64_t frame)
{
    for (uint32_t i = 0; i < v->keep; i++)
        if (v->kept[i].ids && v->kept[i].frame == frame)
            return &v->kept[i];
    return NULL;
}

static void make_delta(struct request *r, struct kept *base, struct kept *now)
{
    uint64_t added, removed;
    size_t width = now->ids32 ? 4 : 8;
    if ((!base->ids32 && now->ids32) || !sort(base) || !sort(now))
        return;
    compare(base, now, NULL, NULL, &added, &removed);
    if (added + removed > now->count)
        return;
    r->delta = malloc((added + removed) * width + 1);
    if (!r->delta)
        return; /* the full list will do */
    void *removed_at = (char *)r->delta + added * width;
    compare(base, now, r->delta, removed_at, &added, &removed);
    r->answer.delta = true;
    r->answer.base_frame = base->frame;
    r->answer.ids = NULL;
    r->answer.added = r->delta;
    r->answer.removed = removed_at;
    r->answer.added_count = added;
    r->answer.removed_count = removed;
}

void history_put(struct visd_view *v, struct request *r, const void *ids, uint64_t count)
{
    size_t bytes = count * (r->ids32 ? 4 : 8);
    struct kept now = { .frame = r->answer.frame, .count = count, .ids32 = r->ids32 };
    struct kept *same;
    if (v->keep == 0 || bytes > VISD_VIEW_KEEP_BYTES || !(now.ids = malloc(bytes + 1)))
        return;
    memcpy(now.ids, ids, bytes);
    struct kept *base = r->has_base && !(r->want & VISD_WANT_SAMPLES) ? find(v, r->base_frame) : NULL;
    if (base)
        make_delta(r, base, &now);
    same = find(v, now.frame); /* asked again under the same number: the newest stands */
    if (same)
        drop(v, same);
    for (uint32_t i = 0; i < v->keep && v->kept_bytes + bytes > VISD_VIEW_KEEP_BYTES; i++)
        drop(v, &v->kept[(v->kept_at + i) % v->keep]); /* from the oldest on */
    drop(v, &v->kept[v->kept_at]);
    v->kept[v->kept_at] = now;
    v->kept_at = (v->kept_at + 1) % v->keep;
    v->kept_bytes += bytes;
}
